"""What a real MPI system does: LogGP parameters, bandwidth of random pairs, beside what a network
gives them."""

from __future__ import annotations

import datetime
import json
import os
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flyloom._core import RefusalError, Workload, hosts_of
from flyloom.inputs.placements import Placed, places
from flyloom.inputs.tables import Tables, topology_of
from flyloom.measuring import loggp, pairs
from flyloom.measuring.program import (
    MeasurementProgram,
    checked,
    need,
    numbers,
    sampler,
    samples_of,
)
from flyloom.support import renamed
from flyloom.support.checks import whole
from flyloom.support.files import write_whole
from flyloom.support.progress import Progress
from flyloom.support.reading import read_json
from flyloom.support.verb_results import MeasuredBandwidth, MeasuredCosts, PredictedBandwidth
from flyloom.verbs.routes import routed_or_not
from flyloom.verbs.simulation import simulate

MOST_BYTES = 1 << 20
_BITS = 8


def measure_loggp(
    launcher: Sequence[str], *, most_bytes: int = MOST_BYTES, messages: int = 16,
    repetitions: int = 31, seed: int = 0, path: str | os.PathLike[str] | None = None,
    keep: str | os.PathLike[str] | None = None, progress: Progress | None = None,
) -> MeasuredCosts:
    """LogGP parameters of the messages between the first and the last rank that a launcher starts.

    Parameters
    ----------
    launcher
        What starts MPI programs: ``["mpirun", "-n", "2"]``.
    most_bytes
        The largest message.
    messages
        How many are sent in a row: n of :mod:`flyloom.measuring.loggp`.
    repetitions
        How often each size is measured.
    seed
        Seed of the bootstrap.
    path
        The parameters are written there, as ``flyloom sim message --loggp`` takes them.
    keep
        The times of all repetitions are written there.

    Fields as of :func:`flyloom.measuring.loggp.parameters`, and ``of``, ``library``, ``hosts``,
    ``regime``, ``date``, ``messages``, ``repetitions``, ``seed`` and ``warnings``. Raises
    ``RefusalError`` where no program can be built, ``DeployError`` where it fails.
    """
    most_bytes = whole("most_bytes", most_bytes, 4, 1 << 28)
    messages = whole("messages", messages, 2, 1024)
    repetitions = whole("repetitions", repetitions, 3, 100_000)
    seed = whole("seed", seed, 0, 2**64 - 1)
    met: list[dict[str, Any]] = []
    found = loggp.parameters(
        sampler(MeasurementProgram(launcher), messages, repetitions, met, progress), most_bytes,
        messages, seed,
    )
    _write({**met[0], "sizes": [row for run in met for row in run["sizes"]]}, keep)
    return _document(found, met[0], seed, path)


def fit_loggp(
    samples: str | os.PathLike[str], *, seed: int = 0, path: str | os.PathLike[str] | None = None
) -> MeasuredCosts:
    """LogGP parameters of times that were taken before: what ``keep`` of :func:`measure_loggp`, or
    ``flyloom-perf loggp``, wrote.

    Raises ``RefusalError`` with the file and the field at fault.
    """
    report = checked(read_json(samples), os.fspath(samples))
    if report["what"] != "loggp":
        raise RefusalError(f"{os.fspath(samples)}: what: {report['what']!r}; loggp")
    known = samples_of(report)
    if len(known) < 4 or 1 not in known:
        raise RefusalError(f"{os.fspath(samples)}: sizes: one of 1 byte, and three more at least")
    found = loggp.parameters(
        lambda sizes: {size: known[size] for size in sorted(known)} if 1 in sizes else {},
        max(known), report["messages"], seed,
        asks=not str(report.get("of")).startswith("put_notify"),
    )
    return _document(found, report, seed, path)


def _document(
    found: dict[str, Any], run: Mapping[str, Any], seed: int, path: str | os.PathLike[str] | None
) -> MeasuredCosts:
    """The parameters with their origin and warnings about them; written where a path is given."""
    warnings = []
    if found["L_ns"] <= 0:
        warnings.append(
            "L is not above 0: the receiver's work is done within the sender's call, or the ranks"
            " share a processor; no simulator takes it"
        )
    below = [name for name in ("o_ns", "g_ns", "G_ns_per_byte", "O_ns_per_byte")
             if found.get(name, 0) < 0]
    if below:
        warnings.append(f"below 0: {', '.join(below)}: the machine did other work meanwhile; no "
                        "simulator takes it")
    regime = _regime(run["hosts"], run["processors"], (0, len(run["hosts"]) - 1))
    if "share" in regime:
        warnings.append("the ranks share processors: times are those of the scheduler, too")
    if found["g_is_bound"]:
        warnings.append("no size shows what the interface needs for a message: g is at most that")
    if found["S_is_doubtful"]:
        low, high = found["S_range_bytes"]
        warnings.append(f"S scatters from {low:,} to {high:,} bytes between repetitions: a "
                        "simulator is better given what the library is configured for (--S)")
    about = {
        "flyloom_measurement": 1, "what": "loggp", "of": run.get("of", "send_recv"),
        "library": run["library"], "hosts": run["hosts"], "regime": regime, "date": _now(),
        "messages": run["messages"], "repetitions": run["repetitions"], "seed": seed,
    }
    document = {**about, **found, "warnings": warnings}
    _write(document, path)
    return MeasuredCosts(document)


def _write(document: Mapping[str, Any], path: str | os.PathLike[str] | None) -> None:
    """A document as JSON, where a file is named."""
    if path is not None:
        write_whole(Path(path), json.dumps(document) + "\n")


def _regime(hosts: Sequence[str], processors: Sequence[int], ranks: Sequence[int]) -> str:
    """Where ranks are to each other."""
    of_host: dict[str, list[int]] = {}
    for rank in ranks:
        of_host.setdefault(hosts[rank], []).append(rank)
    here = {host: sum(name == host for name in hosts) for host in of_host}
    room = {host: max(processors[r] for r in own) for host, own in of_host.items()}
    # bound to one processor each, ranks have as many as they are
    bound = {host: all(processors[r] == 1 for r in own) for host, own in of_host.items()}
    shared = any(here[host] > room[host] and not bound[host] for host in of_host)
    where = "one host" if len(of_host) == 1 else f"{len(of_host)} hosts"
    return f"{where}, ranks share processors" if shared else where


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


@renamed.keywords("measure_ebb", rounds="samples")
def measure_ebb(
    launcher: Sequence[str], *, samples: int = 100, size_bytes: int = MOST_BYTES,
    repetitions: int = 5, same_host: bool = False, seed: int = 0,
    path: str | os.PathLike[str] | None = None,
) -> MeasuredBandwidth:
    """Effective bisection bandwidth of the ranks that a launcher starts: random pairs, in both
    directions at once, all pairs of a round at the same time.

    Parameters
    ----------
    launcher
        What starts MPI programs: ``["mpirun", "-n", "16"]``.
    samples
        Number of random matchings, each a round.
    size_bytes
        Of each message.
    repetitions
        How often each round is measured; the median counts.
    same_host
        Whether ranks of one host may be a pair.
    seed
        Seed of the pairs.
    path
        All of it is written there, for :func:`compare_ebb`.

    Fields: ``mean_gbps`` and ``quantiles_gbps`` (5, 25, 50, 75, 95 %) of the mean of each round;
    ``rounds``: ``pairs``, ``rank_gbps`` (of each rank of the pairs, in their order: what it sends,
    and as much it receives) and ``mean_gbps``; ``library``, ``hosts``, ``regime``, ``date``,
    ``size_bytes``, ``repetitions``, ``seed``.
    """
    samples = whole("samples", samples, 1, 1_000_000)
    size_bytes = whole("size_bytes", size_bytes, 1, 1 << 28)
    repetitions = whole("repetitions", repetitions, 1, 100_000)
    seed = whole("seed", seed, 0, 2**64 - 1)
    program = MeasurementProgram(launcher)
    hosts = program.run("ebb", 1, 1, pairs="")["hosts"]
    made = pairs.rounds(hosts, samples, seed, same_host)
    if not any(made):
        raise RefusalError(
            f"{len(hosts)} ranks on {len(set(hosts))} host: no pair is of two hosts; --same-host"
            " pairs ranks of one"
        )
    run = program.run("ebb", size_bytes, repetitions, pairs=pairs.text(made))
    found: list[dict[str, Any]] = []
    for pairs_of, row in zip(made, run["rounds"], strict=True):
        times_ns = {rank: row["rank_ns"][rank] for pair in pairs_of for rank in pair}
        for rank, time_ns in times_ns.items():
            if time_ns == 0:
                raise RefusalError(
                    f"rank {rank}: its clock has found 0 ns for an exchange of {size_bytes} bytes;"
                    " larger messages by --bytes, or a host with a finer clock"
                )
        rates = [size_bytes * _BITS / time_ns for time_ns in times_ns.values()]
        found.append({"pairs": pairs_of, "rank_gbps": rates, "mean_gbps": _mean(rates)})
    means = [row["mean_gbps"] for row in found if row["pairs"]]
    document = {
        "flyloom_measurement": 1, "what": "ebb", "library": run["library"], "hosts": hosts,
        "regime": _regime(hosts, run["processors"], range(len(hosts))), "date": _now(),
        "size_bytes": size_bytes, "repetitions": repetitions, "seed": seed,
        "mean_gbps": _mean(means), "quantiles_gbps": _quantiles(means), "rounds": found,
    }
    _write(document, path)
    return MeasuredBandwidth(document)


def _mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None


def _quantiles(values: Sequence[float]) -> list[float]:
    import numpy as np

    return [float(v) for v in np.quantile(values, (0.05, 0.25, 0.5, 0.75, 0.95))]


def compare_ebb(
    measured: str | os.PathLike[str], net: Tables, *, engine: str | None = None,
    lmc: int | None = None, layers: int | None = None,
    engine_options: Mapping[str, Any] | None = None, placement: Placed | None = None,
    settings: Mapping[str, Any] | None = None, path: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> PredictedBandwidth:
    """Bandwidth that was measured beside what a network gives the same pairs over its tables.

    Every round is run in the message simulator with messages of the size that was measured, whose
    processors and interfaces take no time.

    Parameters
    ----------
    measured
        A file of :func:`measure_ebb`.
    net, engine, lmc, layers, engine_options, settings
        The network or the tables, as of :func:`flyloom.simulate`.
    placement
        The endpoint of every rank; by default the endpoint of the name of its host.
    path
        All of it is written there.

    Fields: ``measured_gbps`` and ``predicted_gbps``, the means of all rounds, ``ratio``, measured
    over predicted, ``rates`` of links, as of level ``"message"``, and ``rounds`` with the figures
    of each.
    """
    where = os.fspath(measured)
    report = _measured_ebb(read_json(measured), where)
    on = routed_or_not(
        net, engine, lmc=lmc, layers=layers, options=engine_options, progress=progress
    )
    ranks = len(report["hosts"])
    if placement is None:
        listed = "\n".join(report["hosts"])
        try:
            at: Sequence[int] = hosts_of(topology_of(on), listed)
        except RefusalError as error:
            more = "--placement says where ranks are"
            raise RefusalError(f"{where}: hosts: {error}; {more}") from None
    else:
        policy, given = places(on, placement)
        if given is None:
            raise RefusalError(f"placement: {policy!r}; a file, or an endpoint for every rank")
        at = given
    if len(at) < ranks:
        raise RefusalError(f"placement: {len(at)} endpoints for {ranks} ranks; one for each")
    rows: list[dict[str, Any]] = []
    rates: dict[str, Any] = {}
    for i, row in enumerate(report["rounds"]):
        if progress is not None:
            progress("rounds", i, len(report["rounds"]))
        if not row["pairs"]:
            continue
        gbps, rates = _predicted(
            on, row["pairs"], ranks, list(at[:ranks]), report["size_bytes"], settings
        )
        here, there = statistics.fmean(row["rank_gbps"]), statistics.fmean(gbps)
        rows.append({"measured_gbps": here, "predicted_gbps": there, "ratio": here / there,
                     "rank_predicted_gbps": gbps})
    if not rows:
        raise RefusalError(f"{where}: rounds: none has a pair")
    here = statistics.fmean(row["measured_gbps"] for row in rows)
    there = statistics.fmean(row["predicted_gbps"] for row in rows)
    document = {"measured_gbps": here, "predicted_gbps": there, "ratio": here / there,
                "rates": rates, "rounds": rows}
    _write(document, path)
    return PredictedBandwidth(document)


def _predicted(
    on: Any, pairs_of: Sequence[tuple[int, int]], ranks: int, at: list[int], size: int,
    settings: Mapping[str, Any] | None,
) -> tuple[list[float], dict[str, Any]]:
    """What each rank of the pairs sends a second, in Gbit: by when it has sent and received all;
    and the rates of links."""
    other = dict(pairs_of) | {b: a for a, b in pairs_of}
    lines = [f"num_ranks {ranks}"]
    for rank in range(ranks):
        lines.append(f"rank {rank} {{")
        if rank in other:
            peer = other[rank]
            lines += [f"s: send {size}b to {peer}", f"r: recv {size}b from {peer} cpu 1"]
        lines.append("}")
    schedule = Workload.read("\n".join(lines).encode(), None)
    free = {"L": 0, "o": 0, "g": 0, "G": 0, "O": 0, "S": 2**31 - 1}
    run = simulate(
        on, "message", workload=schedule, placement=at, costs=free, settings=settings
    )
    ends: Sequence[float] = run.rank_finish_ns
    gbps = [size * _BITS / float(ends[rank]) for pair in pairs_of for rank in pair]
    return gbps, run.to_dict()["rates"]


def _measured_ebb(report: Any, where: str) -> dict[str, Any]:
    """A file of :func:`measure_ebb`; RefusalError with the field at fault."""
    marks = ("flyloom_measurement", "what")
    if not isinstance(report, dict) or [report.get(mark) for mark in marks] != [1, "ebb"]:
        raise RefusalError(f"{where}: no bandwidth of pairs; what `flyloom measure --ebb` writes")
    need(report, where, {"hosts": list, "size_bytes": int, "rounds": list})
    ranks = len(report["hosts"])
    if not all(isinstance(host, str) for host in report["hosts"]):
        raise RefusalError(f"{where}: hosts: no list of names")
    for i, row in enumerate(report["rounds"]):
        at = f"{where}: rounds[{i}]"
        need(row, at, {"pairs": list, "rank_gbps": list})
        met: set[int] = set()
        for pair in row["pairs"]:
            fits = isinstance(pair, list) and len(pair) == 2 and all(
                isinstance(rank, int) and 0 <= rank < ranks and rank not in met for rank in pair
            ) and pair[0] != pair[1]
            if not fits:
                help_ = f"two ranks from 0 to {ranks - 1}, each once"
                raise RefusalError(f"{at}: pairs: {pair}; {help_}")
            met.update(pair)
        if len(row["rank_gbps"]) != len(met):
            raise RefusalError(f"{at}: rank_gbps: {len(row['rank_gbps'])}; one for each rank")
        if row["pairs"]:
            numbers(row["rank_gbps"], f"{at}.rank_gbps")
    return report
