"""Motifs of programs, notified, beside the best that the same program gets from an MPI."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from measure import ROOT, Broken
from peers import Failed, Runs, build, note, output, regime, repeated, ring_ns
from rows import Options, Row


@dataclass(frozen=True)
class Motif:
    """A motif as it is run here."""

    name: str
    words: tuple[str, ...]
    form: str
    """What its figure looks like."""
    least: dict[str, float]
    """How many times as fast it is to be as each MPI."""
    beside: str = ""
    """The variant by the MPI that the target is about; empty: the fastest."""
    ranks: int = 2
    has_puts: bool = True
    """Whether it also goes by the MPI's puts, where they are asked for."""
    of: str = ""
    """What it is run on, where there are several sizes."""


EVEN = {"openmpi": 1.0, "mpich": 1.0}
#: The target of the tree is of two ranks, each on a processor; more show what a scheduler makes.
MOTIFS = (
    Motif("pipeline", ("20", "1000", "200"), r"([\d.]+) MFlop/s", {"openmpi": 4, "mpich": 4},
          "by messages"),
    Motif("hash", ("20000",), r"([\d.]+) us a key", EVEN),
    Motif("cholesky", ("16", "16", "50"), r"([\d.]+) us$", EVEN),
    Motif("reduce", ("10000",), r"([\d.]+) us$", {"openmpi": 2.2, "mpich": 3.4}),
    Motif("reduce", ("20",), r"([\d.]+) us$", {}, ranks=17),
    *(Motif("halo", (side, steps), r"([\d.]+) us a step$", EVEN, of=f", {side}^4 sites a rank")
      for side, steps in (("2", "2000"), ("4", "1000"))),
    Motif("dsde", ("6", "8", "2000"), r"([\d.]+) us$", EVEN, has_puts=False, of=", 8 B"),
    Motif("dsde", ("6", "8", "60"), r"([\d.]+) us$", EVEN, ranks=8, has_puts=False, of=", 8 B"),
    *(Motif("fft", (side, rounds), r"([\d.]+) us$", EVEN, has_puts=False, of=f", {side}^3")
      for side, rounds in (("16", "400"), ("32", "80"), ("64", "20"))),
)
LIMIT_S = 40
"""Each takes seconds; MPICH 4.0.2's one-sided variants were seen not to end."""
VADER = {"OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
"""Open MPI 4.1.4's windows fail without it where processes may not read one another's memory."""


def motifs(mpi: str, folder: str, options: Options) -> list[Row]:
    """Each motif beside its variants by the MPI: messages, puts, and for the tree MPI_Reduce."""
    rows = []
    made = {name: build(mpi, [str(ROOT / f"runtime/motifs/{name}.c")], folder)
            for name in {motif.name for motif in MOTIFS}}
    for motif in MOTIFS:
        options.say(f"runtime: {motif.name} of {motif.ranks} ranks beside {mpi}")
        words = [f"mpiexec.{mpi}", "-n", str(motif.ranks), made[motif.name], *motif.words]
        times = 5 if motif.ranks <= (os.cpu_count() or 1) else 3
        puts = Runs()
        if motif.has_puts:
            puts = repeated(options, times,
                            lambda motif=motif, words=words: times_of(motif, [*words, "mpi"]))
        runs = puts if puts.good else Runs([times_of(motif, words) for _ in options.times(times)])
        rows.append(row(mpi, motif, runs, puts))
    return rows


def times_of(motif: Motif, words: list[str]) -> dict[str, float]:
    """Nanoseconds of each variant in one run; ours is under the empty name."""
    found = {}
    for line in output(words, VADER, LIMIT_S).splitlines():
        said, figure = re.match(r"\w+ ([^:]*):", line), re.search(motif.form, line)
        if said is None or figure is None:
            raise Broken(f"{motif.name}: {line[:80]!r} has no figure")
        name = said[1] if said[1].startswith("by ") else ""
        found[name] = nanoseconds(motif, figure)
    if "" not in found or len(found) < 2:
        raise Failed(f"{motif.name}: no two variants in what it printed")
    return found


def nanoseconds(motif: Motif, figure: re.Match[str]) -> float:
    """What was found of a motif's form, for one of what it is of."""
    value = float(figure[1])
    return 1e3 / value if "MFlop" in motif.form else value * 1e3


def row(mpi: str, motif: Motif, runs: Runs, puts: Runs) -> Row:
    """Ours beside the best of the MPI, in the run of the median ratio."""
    what = f"{motif.name}{motif.of}, {motif.ranks} ranks, beside {mpi}"
    failed = f"with puts, {puts.said}" if puts.said else ""
    where = regime([ring_ns()], motif.ranks)
    least = motif.least.get(mpi)

    def best(run: dict[str, float]) -> str:
        """The variant that is compared, one of all but our own."""
        return motif.beside or min((name for name in run if name), key=lambda name: run[name])

    middle = sorted(runs.good, key=lambda run: run[best(run)] / run[""])[(len(runs.good) - 1) // 2]
    others = ", ".join(f"{name} {middle[name]:.0f} ns" for name in middle
                       if name not in ("", best(middle)))
    return Row("runtime", f"{what} {best(middle)}", middle[""], "ns", baseline=middle[best(middle)],
               baseline_is="the same run", least_ratio=least,
               note=note("for an operation" if motif.name == "pipeline" else "",
                         "means of a run, no p99", where, others, failed))
