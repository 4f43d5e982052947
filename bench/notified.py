"""The benchmark of the runtime: notified puts beside a ring written by hand and beside MPI."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

from measure import ROOT, Absent, Broken, median
from rows import Options, Row

SOURCE = ROOT / "runtime" / "rt"
BUILT = ROOT / "target" / "rt" / "release"
MPIS = ("openmpi", "mpich")
MOST_OF_RAW = 1.15
MOST_OF_EMPTY = 1.3
LEAST_RATIO = {"send and receive": 1.3, "put, flush, message": 1.5}
MOTIFS = (("halo", ("2", "2000")), ("halo", ("4", "1000")), ("dsde", ("6", "8", "2000")),
          ("fft", ("16", "400")), ("fft", ("32", "80")), ("fft", ("64", "20")))
MAY = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
       "OMPI_MCA_rmaps_base_oversubscribe": "1"}


def notified(options: Options) -> list[Row]:
    """Half a round trip of 8 bytes and 4 KiB; medians of runs of 10,000 repetitions or more."""
    program = BUILT / "flyloom-perf"
    if not program.exists():
        raise Absent("the runtime is not built: make setup, with cmake installed")
    rows = []
    for size in (8, 4096):
        runs = [figures([str(program), "--bytes", str(size), "--json"]) for _ in options.times(9)]
        ours = [run["latency: put_notify"]["of_raw"] for run in runs]
        raw = median(run["latency: raw ring"]["median_ns"] for run in runs)
        rows.append(Row("runtime", f"notified put of {size} B, of a ring by hand", median(ours),
                        "x", most=MOST_OF_RAW, note=f"ring {raw:.0f} ns"))
        if size == 8:
            rows += [laden(what, runs) for what in ("64 posted", "2048 unmatched")]
    for mpi in MPIS:
        rows += beside(mpi, options) + together(mpi, options) + motifs(mpi, options)
    return rows


def laden(what: str, runs: list[dict[str, dict[str, float]]]) -> Row:
    """The same with other requests posted, or with notifications that nobody takes."""
    ratio = median(run[f"latency: {what}"]["median_ns"] / run["latency: put_notify"]["median_ns"]
                   for run in runs)
    return Row("runtime", f"with {what}, of an empty list", ratio, "x", most=MOST_OF_EMPTY)


def beside(mpi: str, options: Options) -> list[Row]:
    """What an MPI takes for the same, in the same run."""
    if not there(mpi):
        return [Row("runtime", f"{mpi}: skipped", None, "ns", note="not installed")]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        words = [f"mpiexec.{mpi}", "-n", "2", tool(mpi, "perf_mpi.c", folder), "shm", "8",
                 "10000"]
        runs = [figures(words) for _ in options.times(9)]
    ours = median(run["put_notify"]["median_ns"] for run in runs)
    for name, least in LEAST_RATIO.items():
        theirs = median(run[name]["median_ns"] for run in runs)
        rows.append(Row("runtime", f"notified put of 8 B, beside {mpi}: {name}", ours, "ns",
                        baseline=theirs, baseline_is="the same run", least_ratio=least))
    return rows


def together(mpi: str, options: Options) -> list[Row]:
    """Collectives of two ranks beside those of an MPI, in the same run."""
    if not there(mpi):
        return []
    with tempfile.TemporaryDirectory() as folder:
        words = [f"mpiexec.{mpi}", "-n", "2", tool(mpi, "perf_coll_mpi.c", folder), "20", "500"]
        runs = [figures(words) for _ in options.times(5)]
    return [Row("runtime", f"{name} of 2 ranks, beside {mpi}",
                median(run[name]["median_ns"] for run in runs), "ns",
                baseline=median(run[f"MPI {name}"]["median_ns"] for run in runs),
                baseline_is="the same run", least_ratio=1.0)
            for name in ("barrier", "ibarrier", "allreduce")]


def motifs(mpi: str, options: Options) -> list[Row]:
    """Patterns of programs beside the fastest way that an MPI has for the same, in the same run.

    A motif tells the median of its rounds, in which the ways take turns. MPICH gives its processors
    to nobody while it waits, so that it is not asked for more processes than there are processors;
    its one-sided calls lost bytes in other motifs and are left out.
    """
    if not there(mpi):
        return []
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        built = {name: motif(mpi, name, folder) for name in sorted({name for name, _ in MOTIFS})}
        for name, words in MOTIFS:
            more = ["mpi"] if mpi == "openmpi" and name == "halo" else []
            for count in (2, 4) if mpi == "openmpi" else (2,):
                options.say(f"runtime: {name} {words[0]}, {count} ranks, {mpi}")
                called = [f"mpiexec.{mpi}", "-n", str(count), built[name], *words, *more]
                runs = [ways(printed(called)) for _ in options.times(5)]
                took = {way: median(run[way] for run in runs) for way in runs[0]}
                ours = took.pop("notified")
                best = min(took, key=lambda way: took[way])
                rows.append(Row("runtime", f"{name} {words[0]}, {count} ranks, beside {mpi}", ours,
                                "us", baseline=took[best], baseline_is=f"the same run, {best}",
                                least_ratio=1.0))
    return rows


def ways(told: str) -> dict[str, float]:
    """Microseconds of each way that a motif takes."""
    found = re.findall(r"^\w+ ([^:]+):.*?, ([0-9.]+) us(?: a step)?$", told, re.MULTILINE)
    if len(found) < 2:
        raise Broken(f"a motif printed {told[-400:]!r}")
    return {way: float(took) for way, took in found}


def tool(mpi: str, source: str, folder: str) -> str:
    """A program of the runtime's tools, built by an MPI into a folder."""
    return program(mpi, [f"{SOURCE}/tools/{source}", f"{SOURCE}/tools/perf.c"], folder, "perf")


def motif(mpi: str, name: str, folder: str) -> str:
    """A motif, built by an MPI into a folder."""
    return program(mpi, [f"{ROOT}/runtime/motifs/{name}.c"], folder, name)


def program(mpi: str, sources: list[str], folder: str, name: str) -> str:
    """A program beside the runtime, built by an MPI; Broken where it is not."""
    made = str(Path(folder) / name)
    built = subprocess.run(
        [f"mpicc.{mpi}", "-std=gnu11", "-O2", "-D_GNU_SOURCE", f"-I{SOURCE}/include",
         f"-I{SOURCE}/tools", *sources, "-o", made, f"-L{BUILT}", "-lflyloom", "-lm",
         f"-Wl,-rpath,{BUILT}"],
        text=True, capture_output=True, timeout=300)
    if built.returncode != 0:
        raise Broken(built.stderr[-400:])
    return made


def there(mpi: str) -> bool:
    """Whether an MPI of Debian's names is installed."""
    return any((Path(folder) / f"mpicc.{mpi}").exists()
               for folder in os.environ.get("PATH", "").split(os.pathsep))


def printed(words: list[str]) -> str:
    """What a run prints; Broken where it fails."""
    done = subprocess.run(words, env={**os.environ, **MAY}, text=True, capture_output=True,
                          timeout=300)
    if done.returncode != 0:
        raise Broken(f"{words[0]}: {done.stderr.strip()[-400:]}")
    return done.stdout


def figures(words: list[str]) -> dict[str, dict[str, float]]:
    """The rows of a run by what they are; Broken where it fails."""
    return {row["what"]: row for row in json.loads(printed(words))}
