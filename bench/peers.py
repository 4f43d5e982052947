"""The runtime beside MPIs: programs built and run, failures of the peer apart from those of the
runtime, and in which regime it was measured."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from measure import ROOT, Broken
from rows import Options

SOURCE = ROOT / "runtime" / "rt"
BUILT = ROOT / "target" / "rt" / "release"
MPIS = ("openmpi", "mpich")
MAY = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
       "OMPI_MCA_rmaps_base_oversubscribe": "1"}
NEAR_NS = 190
"""A ring by hand takes 80 to 145 ns where the two processors are near, 215 to 290 where far: the
host of a virtual machine moves them, minutes apart."""
FAILURES_MOST = 2
"""A peer that failed so often is not asked again."""
OURS = re.compile(r"flyloom-perf:|perf_mpi:|\bfly_\w+[(:]")
"""What the runtime's programs say on standard error where it is the runtime that failed."""

Figures = dict[str, dict[str, Any]]


class Failed(Broken):
    """A program ended badly, and not by an error of the runtime."""


@dataclass
class Runs:
    """What the runs of a program gave, and why others of them gave nothing."""

    good: list[Any] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def said(self) -> str:
        """How many failed, and why the last did; empty where none did."""
        every = len(self.good) + len(self.failures)
        return (f"{len(self.failures)} of {every} runs failed: {self.failures[-1]}"
                if self.failures else "")


def repeated(options: Options, times: int, run: Any) -> Runs:
    """Runs of a program that may fail: at most FAILURES_MOST failures of it, then no more."""
    runs = Runs()
    for _ in options.times(times):
        try:
            runs.good.append(run())
        except Failed as why:
            runs.failures.append(str(why))
            if len(runs.failures) == FAILURES_MOST:
                break
    return runs


def there(mpi: str) -> bool:
    """Whether an MPI of Debian's names is installed."""
    return any((Path(folder) / f"mpicc.{mpi}").exists()
               for folder in os.environ.get("PATH", "").split(os.pathsep))


def program(mpi: str, source: str, folder: str) -> str:
    """A program of the runtime's tools, built by an MPI into a folder; Broken where it is not."""
    parts = (source, "perf.c", "perf_socket.c")
    return build(mpi, [f"{SOURCE}/tools/{part}" for part in parts], folder)


def build(mpi: str, sources: list[str], folder: str) -> str:
    """A program with libflyloom, built by an MPI into a folder; Broken where it is not."""
    return compiled(f"mpicc.{mpi}", sources, str(Path(folder) / f"{Path(sources[0]).stem}-{mpi}"))


def compiled(compiler: str, sources: list[str], made: str, *more: str) -> str:
    """``made``, with libflyloom, by a compiler; Broken where it is not."""
    built = subprocess.run(
        [compiler, "-std=gnu11", "-O2", "-D_GNU_SOURCE", f"-I{SOURCE}/include",
         f"-I{SOURCE}/tools", *sources, "-o", made, f"-L{BUILT}", "-lflyloom", "-lm",
         *more, f"-Wl,-rpath,{BUILT}"], text=True, capture_output=True, timeout=300)
    if built.returncode != 0:
        raise Broken(built.stderr[-400:])
    return made


def figures(words: Sequence[str], more: Mapping[str, str] | None = None) -> Figures:
    """The rows of a run by what they are; Broken where it fails."""
    return rows_of(output(words, more))


def rows_of(text: str) -> Figures:
    """The rows that a program printed; Failed where they are not whole."""
    try:
        return {row["what"]: row for row in json.loads(text)}
    except ValueError:
        raise Failed(f"no figures: {text[-80:]!r}") from None


def output(words: Sequence[str], more: Mapping[str, str] | None = None,
           limit_s: float = 120) -> str:
    """What a program prints; Broken where the runtime fails, Failed where something else does."""
    with subprocess.Popen(words, env={**os.environ, **MAY, **(more or {})}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          start_new_session=True) as started:
        try:
            out, err = started.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            raise Failed(f"no end after {limit_s:.0f} s") from None
        finally:
            end(started)
    if started.returncode != 0:
        kind = Broken if OURS.search(err) else Failed
        raise kind(f"{Path(words[0]).name}: {reason(err, started.returncode)}")
    return out


def end(started: subprocess.Popen) -> None:
    """Ends what still runs of a program that is the first of its session; launchers clean up."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if started.poll() is not None:
            return
        os.killpg(started.pid, number)
        try:
            started.wait(10)
        except subprocess.TimeoutExpired:
            continue


def reason(err: str, code: int) -> str:
    """The line of what a program said that tells most, or else the code it ended with."""
    lines = [line.strip() for line in err.splitlines() if line.strip(" -*=")]
    forms = (OURS.pattern, r"^(pipeline|hash|cholesky|reduce|halo|dsde|fft)\b",
             r"Assert|assert|Fatal error", r"[Ss]ignal|[Ff]ault|SIG", "rror")
    for form in forms:
        for one in lines:
            if re.search(form, one):
                return one[:160]
    return lines[-1][:160] if lines else f"code {code}"


def regime(rings_ns: Sequence[float], ranks: int = 2) -> str:
    """near or far, by rings written by hand in the same runs; and whether ranks share processors,
    with one another or with what else runs."""
    cores, load = os.cpu_count() or 1, os.getloadavg()[0]
    near = sum(ring < NEAR_NS for ring in rings_ns)
    said = ["near" if near == len(rings_ns) else "far" if near == 0
            else f"near {near}, far {len(rings_ns) - near} of {len(rings_ns)} runs"]
    if ranks > cores:
        said = [f"oversubscribed: {ranks} ranks on {cores} processors"]
    elif load > cores + 0.5:  # two ranks that spin make a load of two
        said.append(f"oversubscribed by others: load {load:.1f}")
    return ", ".join(said)


def ring_ns() -> float:
    """Half a round trip of the ring by hand now, where a program has none in its own run."""
    words = [str(BUILT / "flyloom-perf"), "--bytes", "8", "--repetitions", "2000", "--json"]
    return float(figures(words)["latency: raw ring"]["median_ns"])


def middle(runs: Sequence[Figures], ours: str, theirs: str) -> tuple[dict[str, Any],
                                                                      dict[str, Any]]:
    """The two rows of the run whose ratio is the median one, of two the worse for us: figures of
    different runs, near and far perhaps, are not divided by one another."""
    pairs = sorted(((run[ours], run[theirs]) for run in runs),
                   key=lambda pair: pair[1]["median_ns"] / pair[0]["median_ns"])
    return pairs[(len(pairs) - 1) // 2]


def lost(runs: Sequence[Figures], name: str, *, ours: bool = False) -> str:
    """How many hand-overs of a variant came without their bytes; empty where none did. Broken where
    it is a variant of ours."""
    rows = [run[f"lost: {name}"] for run in runs if f"lost: {name}" in run]
    count, of = sum(row["count"] for row in rows), sum(row["of"] for row in rows)
    if count and ours:
        raise Broken(f"{name}: {count} of {of} hand-overs came without their bytes")
    return f"{count} of {of} hand-overs came without their bytes" if count else ""


def note(*parts: str) -> str:
    """The parts that say something."""
    return "; ".join(part for part in parts if part)
