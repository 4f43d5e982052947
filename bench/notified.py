"""The benchmark of the runtime: notified puts beside what is written by hand, and beside MPIs."""

from __future__ import annotations

import os
import re
import tempfile

from measure import Absent, Broken
from motifs import motifs
from nodes import Nodes, two_nodes
from peers import (
    BUILT,
    MPIS,
    NEAR_NS,
    SOURCE,
    Figures,
    Runs,
    compiled,
    figures,
    lost,
    middle,
    note,
    output,
    program,
    regime,
    repeated,
    ring_ns,
    there,
)
from rows import Options, Row

MOST_OF_RAW = 1.15
MOST_OF_RAW_USED = 1.1
MOST_OF_SOCKETS = 1.25
MOST_OF_EMPTY = 1.3
LEAST_NEAR, LEAST_FAR = 1.7, 1.3
"""How many times as fast as send and receive of a node; which depends on the processors' place."""
LEAST_PUTS = {"openmpi": 1.5, "mpich": 5.0}
LEAST_PUTS_TCP = {"openmpi": 3.5, "mpich": 4.5}
LEAST_MESSAGES_TCP = 0.909
LEAST_HOST = 0.87
"""At most 1.1 and 1.15 times as long as send and receive."""
LEAST_EPOCHS = 1.3
LEAST_STEPS = 2.7
MOST_OF_LOSSLESS = 2.0
REPETITIONS = "10000"
MOST_BARRIER_NS, MOST_START_NS, MOST_BEGUN = 150, 100, 1.3
LEAST_TOGETHER = {2: 1.0, 4: 2.0, 8: 2.0}
"""By ranks: how many times as fast as the MPI's collectives."""


def notified(options: Options) -> list[Row]:
    """Latencies, epochs, collectives, motifs and memory of the runtime, beside both MPIs."""
    if not (BUILT / "flyloom-perf").exists():
        raise Absent("the runtime is not built: make setup, with cmake installed")
    mpis = [mpi for mpi in MPIS if there(mpi)]
    rows = node(options) + started(options)
    rows += [Row("runtime", f"{mpi}: skipped", None, "ns", note="not installed")
             for mpi in MPIS if mpi not in mpis]
    with tempfile.TemporaryDirectory() as folder:
        programs = {mpi: program(mpi, "perf_mpi.c", folder) for mpi in mpis}
        rows += beside_on_node(programs, options)
        for mpi in mpis:
            rows += together(mpi, folder, options) + motifs(mpi, folder, options)
        rows += between_nodes(programs, options)
    return rows + multicast(options) + memory()


def node(options: Options) -> list[Row]:
    """Half a round trip beside a ring by hand; and with other requests or notifications there."""
    rows = []
    for size in (8, 4096, 65536, 1 << 20):
        words = [str(BUILT / "flyloom-perf"), "--bytes", str(size), "--json", "--repetitions",
                 REPETITIONS]
        options.say(f"runtime: {size} B beside a ring by hand")
        runs = [figures(words) for _ in options.times(9 if size <= 4096 else 3)]
        put, ring = middle(runs, "latency: put_notify", "latency: raw ring")
        where = regime([run["latency: raw ring"]["median_ns"] for run in runs]
                       if size == 8 else [ring_ns()])
        rows.append(Row("runtime", f"notified put of {size} B, of a ring by hand",
                        put["median_ns"] / ring["median_ns"], "x", most=MOST_OF_RAW,
                        note=note(where, took(put, "ours"), took(ring, "ring"))))
        if size == 8:
            rows.append(used(where, runs))
            rows += [laden(what, where, runs) for what in ("64 posted", "2048 unmatched")]
    return rows


def took(row: dict[str, float], whose: str) -> str:
    """Median and 99th percentile, for the notes."""
    return f"{whose} {row['median_ns']:.0f} ns, p99 {row['p99_ns']:.0f}"


def used(where: str, runs: list[Figures]) -> Row:
    """A notified put that is written by its user and read by the other, beside a ring likewise."""
    put, ring = middle(runs, *(f"latency: {name}, written and read"
                               for name in ("put_notify", "raw ring")))
    return Row("runtime", "notified put of 8 B, written and read, of a ring by hand",
               put["median_ns"] / ring["median_ns"], "x", most=MOST_OF_RAW_USED,
               note=note(where, took(put, "ours"), took(ring, "ring")))


def laden(what: str, where: str, runs: list[Figures]) -> Row:
    """The same with other requests posted, or with notifications that nobody takes."""
    empty, full = middle(runs, "latency: put_notify", f"latency: {what}")
    return Row("runtime", f"with {what}, of an empty list", full["median_ns"] / empty["median_ns"],
               "x", most=MOST_OF_EMPTY,
               note=note(where, took(full, "with"), took(empty, "without")))


def beside_on_node(programs: dict[str, str], options: Options) -> list[Row]:
    """What MPIs take for the same on one node, in the same runs."""
    rows = []
    epochs = {}
    for mpi, made in programs.items():
        runs = {}
        for which in ("messages", "puts", "epochs"):
            options.say(f"runtime: beside {mpi}'s {which}")
            words = [f"mpiexec.{mpi}", "-n", "2", made, "shm", "8", REPETITIONS, which]
            runs[which] = (Runs([figures(words) for _ in options.times(9)])
                           if which == "messages" else
                           repeated(options, 9, lambda words=words: figures(words)))
        rows.append(beside(mpi, "send and receive", runs["messages"], None))
        rows.append(beside(mpi, "put, flush, message", runs["puts"], LEAST_PUTS[mpi]))
        epochs[mpi] = runs["epochs"]
    return rows + epoch_rows("", epochs)


def where_of(runs: Runs) -> str:
    """The regime of runs that had a ring beside them; empty where none did."""
    rings = [run["raw ring"]["median_ns"] for run in runs.good if "raw ring" in run]
    return regime(rings) if rings else ""


def beside(mpi: str, name: str, runs: Runs, least: float | None, how: str = "",
           where: str = "") -> Row:
    """A notified put beside one variant by an MPI; without a figure where the MPI never got there.
    ``least`` None: as near or far as the run was."""
    what = f"notified put of 8 B{how}, beside {mpi}: {name}"
    if not runs.good:
        return Row("runtime", what, None, "ns", least_ratio=least or LEAST_FAR,
                   note=note(where, runs.said))
    ours, theirs = middle(runs.good, "put_notify", name)
    if least is None:
        ring_took_ns = ours["median_ns"] / ours["of_raw"]
        least = LEAST_NEAR if ring_took_ns < NEAR_NS else LEAST_FAR
    return Row("runtime", what, ours["median_ns"], "ns", baseline=theirs["median_ns"],
               baseline_is="the same run", least_ratio=least,
               note=note(where or where_of(runs), took(ours, "ours"), took(theirs, mpi),
                         lost(runs.good, name), runs.said))


def epoch_rows(how: str, by_mpi: dict[str, Runs], where: str = "") -> list[Row]:
    """Fence and PSCW beside those of the faster MPI, by how many of the reference they take."""
    rows = []
    for name in ("fence", "PSCW"):
        found, others = [], []
        for mpi, runs in by_mpi.items():
            if runs.said:
                others.append(f"{mpi}: {runs.said}")
            if not runs.good:
                continue
            lost(runs.good, name, ours=True)
            ours, theirs = middle(runs.good, name, f"MPI {name}")
            found.append((theirs.get("of_raw", theirs["median_ns"]), mpi, ours, theirs))
            others += [f"{mpi}: {bad}" for bad in [lost(runs.good, f"MPI {name}")] if bad]
        what = f"put and {name}{how}"
        if not found:
            rows.append(Row("runtime", what, None, "ns", least_ratio=LEAST_EPOCHS,
                            note=note(where, *others, "" if by_mpi else "no MPI")))
            continue
        found.sort(key=lambda one: one[0])
        (_, mpi, ours, theirs), slower = found[0], found[1:]
        others += [f"beside {one[1]} {one[3]['median_ns'] / one[2]['median_ns']:.2f}"
                   for one in slower]
        rows.append(Row("runtime", f"{what}, beside the faster MPI: {mpi}", ours["median_ns"],
                        "ns", baseline=theirs["median_ns"], baseline_is="the same run",
                        least_ratio=LEAST_EPOCHS,
                        note=note(where or where_of(by_mpi[mpi]), took(ours, "ours"),
                                  took(theirs, mpi), *others)))
    return rows


def between_nodes(programs: dict[str, str], options: Options) -> list[Row]:
    """The same over TCP, beside a connection by hand."""
    with two_nodes() as nodes:
        rows = [sockets(nodes, options)]
        if rows[0].figure is None:
            return rows
        rows.append(steps(nodes, options))
        epochs, where = {}, nodes.said
        for mpi, made in programs.items():
            runs = {}
            for transport, which in (("ofi", "messages"), ("msg", "messages"), ("ofi", "puts"),
                                     ("ofi", "epochs")):
                options.say(f"runtime: over TCP by {transport} beside {mpi}'s {which}")
                words = nodes.mpi(mpi, [made, transport, "8", REPETITIONS, which])
                more = nodes.environment()
                runs[transport, which] = repeated(
                    options, 5, lambda words=words, more=more: figures(words, more))
            where = note(nodes.said, regime([ring_ns()]))
            rows += [
                beside(mpi, "send and receive", runs["ofi", "messages"], LEAST_MESSAGES_TCP,
                       " over TCP", where),
                beside(mpi, "send and receive", runs["msg", "messages"], LEAST_HOST,
                       " by its messages over TCP", where),
                beside(mpi, "put, flush, message", runs["ofi", "puts"], LEAST_PUTS_TCP[mpi],
                       " over TCP", where),
            ]
            epochs[mpi] = runs["ofi", "epochs"]
        return rows + epoch_rows(" over TCP", epochs, where)


def sockets(nodes: Nodes, options: Options) -> Row:
    """A notified put over libfabric, of a TCP connection by hand; without an MPI."""
    options.say(f"runtime: over TCP, {nodes.said}")
    words = [str(BUILT / "flyloom-perf"), "--transports", "ofi", "--bytes", "8", "--repetitions",
             REPETITIONS, "--json"]
    what = "notified put of 8 B over TCP, of raw sockets"
    runs = repeated(options, 5, lambda: nodes.pair(words))
    good = [run for run in runs.good if "latency: raw sockets" in run]
    where = note(nodes.said, regime([ring_ns()]))
    if not good:
        why = runs.said or "no connection by hand came about"
        return Row("runtime", what, None, "x", most=MOST_OF_SOCKETS, note=note(where, why))
    put, raw = middle(good, "latency: put_notify", "latency: raw sockets")
    return Row("runtime", what, put["median_ns"] / raw["median_ns"], "x", most=MOST_OF_SOCKETS,
               note=note(where, took(put, "ours"), took(raw, "sockets"), runs.said))


def steps(nodes: Nodes, options: Options) -> Row:
    """A notified put over libfabric, beside its write, completion and message."""
    what = "notified put of 8 B over TCP, beside libfabric: write, completion, message"
    options.say(f"runtime: {what}")
    with tempfile.TemporaryDirectory() as folder:
        try:
            made = compiled("cc", [f"{SOURCE}/tools/{name}.c" for name in
                                   ("perf_ofi", "perf", "perf_socket")],
                            f"{folder}/perf_ofi", "-lfabric")
        except (Broken, OSError) as why:
            return Row("runtime", what, None, "ns", least_ratio=LEAST_STEPS,
                       note=note("not built", str(why)[-200:]))
        runs = repeated(options, 5, lambda: nodes.pair([made, REPETITIONS]))
    where = note(nodes.said, regime([ring_ns()]))
    return beside("libfabric", "write, completion, message", runs, LEAST_STEPS, " over TCP", where)


def together(mpi: str, folder: str, options: Options) -> list[Row]:
    """Collectives beside those of an MPI, in the same run: of two ranks, and of more than there
    are processors."""
    made = program(mpi, "perf_coll_mpi.c", folder)
    rows = []
    for ranks, least in LEAST_TOGETHER.items():
        options.say(f"runtime: collectives of {ranks} ranks beside {mpi}")
        crowded = ranks > (os.cpu_count() or 1)
        blocks = ("20", "500") if not crowded else ("40", "50") if mpi == "openmpi" else ("5", "4")
        words = [f"mpiexec.{mpi}", "-n", str(ranks), made, *blocks]
        runs = [figures(words) for _ in options.times(3 if crowded else 5)]
        where = regime([ring_ns()], ranks)
        for name in ("barrier", "ibarrier", "allreduce", "neighbours"):
            ours, theirs = middle(runs, name, f"MPI {name}")
            rows.append(Row("runtime", f"{name} of {ranks} ranks, beside {mpi}",
                            ours["median_ns"], "ns", baseline=theirs["median_ns"],
                            baseline_is="the same run", least_ratio=least, note=where))
    return rows


def started(options: Options) -> list[Row]:
    """The start of a collective that is kept; ibarrier and wait beside the barrier."""
    options.say("runtime: starts of collectives")
    words = [str(BUILT / "flyloom-perf"), "--collectives", "2", "--repetitions", REPETITIONS,
             "--json"]
    runs = [figures(words) for _ in options.times(5)]
    where = regime([ring_ns()])
    start, barrier = middle(runs, "start of a kept barrier", "barrier")
    again = middle(runs, "ibarrier and wait", "barrier")
    return [
        Row("runtime", "barrier of 2 ranks", barrier["median_ns"], "ns", most=MOST_BARRIER_NS,
            note=note(where, took(barrier, "ours"), "the target is for near processors")),
        Row("runtime", "start of a kept barrier of 2 ranks", start["median_ns"], "ns",
            most=MOST_START_NS, note=note(where, took(start, "ours"))),
        Row("runtime", "ibarrier and wait of 2 ranks, of a barrier",
            again[0]["median_ns"] / again[1]["median_ns"], "x", most=MOST_BEGUN, note=where),
    ]


def multicast(options: Options) -> list[Row]:
    """Broadcasts by multicast where datagrams are lost, beside the same without loss."""
    options.say("runtime: broadcasts by multicast")
    words = [str(BUILT / "flyloom-perf"), "multicast", "--json"]
    runs = repeated(options, 5, lambda: figures(words, {"FLYLOOM_MULTICAST": "1%lo"}))
    if not runs.good:
        return [Row("runtime", "multicast: skipped", None, "us", note=runs.said)]
    rows = []
    for how in ("ring", "tree"):
        lossy, whole = middle(runs.good, f"multicast, {how}, lossy", "multicast, ring")
        rows.append(Row("runtime", f"multicast of 64 KiB to 4 ranks, {how}, 1 of 100 lost, of the "
                        "time without loss", lossy["median_ns"] / whole["median_ns"], "x",
                        most=MOST_OF_LOSSLESS,
                        note=note(f"{lossy['median_ns'] / 1e3:.0f} us",
                                  f"without loss {whole['median_ns'] / 1e3:.0f} us", runs.said)))
    return rows


def memory() -> list[Row]:
    """Memory of 8 ranks on a node, as a test of the runtime finds it."""
    test = BUILT / "tests" / "memory_test"
    if not test.exists():
        return [Row("runtime", "memory: skipped", None, "KiB", note="tests are not built")]
    ranks = 8
    found = re.search(r"(\d+) KiB shared a rank; a window (\d+) bytes a node and (\d+) a rank",
                     output([str(test), str(ranks)]))
    shared_kib, tables, own = map(int, found.groups())
    return [
        Row("runtime", f"shared memory of a rank beside windows, {ranks} ranks", shared_kib, "KiB",
            most=300),
        Row("runtime", f"a window of {ranks} ranks on a node, with what each has",
            (tables + own * ranks) / 1024, "KiB", most=ranks * (64 + 4096) / 1024,
            note=f"{tables} bytes a node and {own} a rank; 64 B a rank and node, 4 KiB a rank"),
    ]

