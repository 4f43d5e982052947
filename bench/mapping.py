"""The benchmark of process mapping: quality, CPU seconds and memory beside other mappers."""

from __future__ import annotations

import csv
import json
import sys

from measure import ROOT, run
from rows import Options, Row

DATA = ROOT / "tests" / "data" / "mapping"
HALO = "bytes=8192,edge_bytes=256,corner_bytes=8"
CASES = {
    name: (net, str(DATA / graph) if graph.endswith(".mtx") else graph)
    for name, (net, graph) in json.loads((DATA / "cases.json").read_text()).items()
}
LARGE = {
    "128 x 256 grid on a 32 x 32 x 32 torus": ("stencil:shape=128x256,bytes=8192x2048", 1.75),
    "16 x 32 x 64 grid on a 32 x 32 x 32 torus": (f"stencil:shape=16x32x64,{HALO}", 1.774),
}
"""Graphs of 32,768 processes, and the dilation to be reached: below Scotch's 1.873 and 3.079."""

JOINT = {"fem_sf5": 840, "st3_sf5": 37026, "fem_df3": 852}
"""Maximum congestion to be reached by mapping with routing, four routes to a terminal."""

PROBE = """
import json, resource, sys
import flyloom as fl
net, graph, objective, effort, *routed = sys.argv[1:]
if routed:
    found, _ = fl.map_with_routing(net, graph, effort=effort)
else:
    found = fl.map_processes(net, graph, objective=objective, effort=effort)
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({"hop_bytes": found.hop_bytes, "dilation": found.average_dilation,
                  "congestion": found.maximum_congestion, "map_s": found.cpu_seconds,
                  "cpu_s": used.ru_utime + used.ru_stime, "mib": used.ru_maxrss / 1024}))
"""


def mapping(options: Options) -> list[Row]:
    """Mappings of seven cases beside the best of other mappers, and two of 32,768 processes."""
    rows = []
    cases = list(CASES)[:2] if options.quick else list(CASES)
    for case in cases:
        hops = probe(options, *CASES[case], "hops", "normal")
        cool = probe(options, *CASES[case], "congestion", "normal")
        fast = probe(options, *CASES[case], "hops", "fast")
        best = "the best of other mappers"
        rows += [
            Row("mapping", f"{case}: hop-bytes", hops["hop_bytes"], "B",
                peers(case, "hop_bytes"), best, least_ratio=1),
            Row("mapping", f"{case}: maximum congestion", cool["congestion"], "B",
                peers(case, "max_congestion"), best, least_ratio=1),
            Row("mapping", f"{case}: CPU with Python's start, the longer", max(
                hops["cpu_s"], cool["cpu_s"]), "s", most=1),
            Row("mapping", f"{case}: CPU of mapping, effort fast", fast["map_s"], "s", most=0.1),
        ]
    for case, target in JOINT.items():
        found = probe(options, *CASES[case], "congestion", "normal", "with_routing")
        name = f"{case}: maximum congestion with tables of its own"
        rows.append(Row("mapping", name, found["congestion"], "B", most=target))
        rows.append(Row("mapping", f"{case}: CPU of mapping with routing", found["map_s"], "s"))
    for name, (graph, target) in () if options.quick else LARGE.items():
        found = probe(options, "torus:shape=32x32x32,p=1", graph, "hops", "normal")
        rows += [
            Row("mapping", f"{name}: dilation", found["dilation"], "hops", most=target),
            Row("mapping", f"{name}: CPU with Python's start", found["cpu_s"], "s", most=6),
            Row("mapping", f"{name}: memory", found["mib"], "MiB", most=500 / 1.048576),
        ]
    return rows


def peers(case: str, column: str) -> float:
    """The least that another mapper reaches."""
    rows = csv.DictReader((DATA / "peers.csv").open())
    return min(float(row[column]) for row in rows if row["case"] == case and row[column]
               and not row["method"].startswith("proto"))


def probe(options: Options, *words: str) -> dict[str, float]:
    """One mapping in a process of its own."""
    options.say(f"mapping: {' '.join(words)}")
    found: dict[str, float] = json.loads(run([sys.executable, "-c", PROBE, *words]).output)
    return found
