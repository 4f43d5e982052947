"""The benchmark of the packet level: CPU time a packet, threads, memory, whole machines."""

from __future__ import annotations

import functools
import json
import sys

import flyloom as fl
from measure import median, run
from rows import Options, Row

CASES = (
    ("slim_fly:q=13,p=9", "minimal", 1000), ("slim_fly:q=13,p=9", "adaptive", 1429),
    ("fit_fly:q=13,p=9", "adaptive", 2000),
)
"""Networks, selections, and the most nanoseconds a packet: 1.0, 0.7 and 0.5 million a second."""
CODES_NS = 1e9 / 50e3
"""A packet of CODES on one core, its best of 28 to 50 thousand a second (EPYC, 3.2 GHz)."""

PROBE = """
import json, os, resource, sys, time
import flyloom as fl
net, given, settings, threads = sys.argv[1:]
given = json.loads(given)
fl.network(net)
used = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
before, begin = used(), time.perf_counter()
[point] = fl.packet(net, **given, settings=json.loads(settings), threads=int(threads)).points
rank = os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK", "0"))
found = {"packets": point["packets"], "wall_s": point["wall_s"], "digest": point["digest"],
         "mib": used(), "grown_mib": used() - before,
         "start_s": time.perf_counter() - begin - point["wall_s"]}
rank == "0" and print(json.dumps(found))
"""
MACHINE = "slim_fly:q=89,p=63"
"""998,046 endpoints."""


def packets(options: Options) -> list[Row]:
    """Packets as discrete events: CPU time a packet, threads, memory."""
    rows = []
    for net, selection, most_ns in CASES:
        given = {"dialect": "codes-slimfly-v1", "selection": selection, "messages": 120}
        found = [_found(options, net, given, {}, 1) for _ in options.times(5)]
        each_ns = median(one["wall_s"] / one["packets"] * 1e9 for one in found)
        rows.append(Row(
            "packets", f"{net}, {selection}, load 0.5, codes-slimfly-v1", each_ns, "ns a packet",
            CODES_NS, "CODES' best on another processor", most=most_ns,
            note=f"{1e3 / each_ns:.2f} million packets a second",
        ))
        if selection == "minimal":
            rows += [
                Row("packets", f"{net}, memory of the run",
                    median(one["grown_mib"] for one in found), "MiB", most=50 / 1.048576),
                Row("packets", f"{net}, from the network to the first event",
                    median(one["start_s"] for one in found), "s", most=0.05),
            ]
    rows += _engines(options)
    if options.full:
        given = {"messages": 5, "load": 0.3}
        found = [_found(options, MACHINE, given, {"switch.virtual_channels": 2}, 1)]
        rows += [
            Row("packets", f"{MACHINE}, 998,046 endpoints, 5 messages each",
                found[0]["wall_s"] + found[0]["start_s"], "s", most=180),
            Row("packets", "the same: memory, all of the process", found[0]["mib"], "MiB",
                most=4000 / 1.048576),
        ]
    return rows


def _engines(options: Options) -> list[Row]:
    """Two threads, and two ranks of MPI, against one: links of 25 ns, 120 messages an endpoint."""
    net, settings = "slim_fly:q=13,p=9", {"link.latency_ns": 25}
    engines = [("sequential", 1), ("threads", 2), ("optimistic", 1), ("optimistic", 2)]
    engines += [("mpi", 2)] if _mpiexec() else []
    took: dict[tuple[str, int], list[float]] = {engine: [] for engine in engines}
    digests = set()
    for _ in options.times(5):
        for sync, threads in engines:
            given = {"messages": 120, "sync": sync}
            one = _found(options, net, given, settings, threads)
            took[sync, threads].append(one["wall_s"])
            digests.add(one["digest"])
    assert len(digests) == 1, "engines differ"
    base = median(took["sequential", 1])
    least = {"threads": 1.7, "optimistic": 0.8, "mpi": 1.5}
    of = {"mpi": "ranks"}
    return [
        Row("packets", f"{net}, physical, {sync} on {threads} {of.get(sync, 'threads')}",
            median(took[sync, threads]), "s", base, "sequential, same run",
            least_ratio=least[sync] if threads > 1 else None)
        for sync, threads in engines[1:]
    ]


@functools.cache
def _mpiexec() -> str | None:
    """What starts ranks of an MPI that works; None where there is none."""
    return next((row["mpiexec"] for row in fl.doctor().mpi if row["works"]), None)


def _found(options: Options, net: str, given: dict, settings: dict, threads: int) -> dict:
    options.say(f"packets: {net} {json.dumps(given)}")
    words = (net, json.dumps(given), json.dumps(settings), str(threads))
    launcher = []
    if given.get("sync") == "mpi":
        launcher = [_mpiexec(), "-n", str(threads)]
    return json.loads(run([*launcher, sys.executable, "-c", PROBE, *words]).output)
