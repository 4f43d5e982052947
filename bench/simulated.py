"""Motifs as they run here, beside what the message level makes of their records."""

from __future__ import annotations

import json
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from measure import ROOT, Absent, Broken, flyloom, median
from motifs import LIMIT_S, VADER, Motif, nanoseconds
from peers import BUILT, build, note, output, regime, ring_ns, there
from rows import Options, Row

NETWORK = ("--net", "slim_fly:q=5,p=4", "--placement", "random")
"""Where the same is simulated again, with the network's own latencies and rates."""


@dataclass(frozen=True)
class Recorded:
    """A motif, run with two numbers of rounds: what a round takes is in the difference."""

    motif: Motif
    rounds: tuple[int, int]
    each: float
    """How many of what its figure is of are in a round."""
    computes: bool = False
    """Whether the time between calls is part of it."""


RECORDED = (
    *(Recorded(Motif("pingpong", (size, "20000"), r"([\d.]+) us half a round", {},
                     of=f", {size} B"), (1000, 3000), 2 * 2 * 1.1)
      for size in ("8", "4096", "65536")),
    Recorded(Motif("reduce", ("10000",), r"([\d.]+) us$", {}), (1000, 3000), 1),
    Recorded(Motif("hash", ("20000",), r"([\d.]+) us a key", {}), (1000, 3000), 1),
    Recorded(Motif("pipeline", ("20", "1000", "200"), r"([\d.]+) MFlop/s", {}), (10, 30),
             2.0 * 19 * 999, computes=True),
    Recorded(Motif("cholesky", ("16", "16", "50"), r"([\d.]+) us$", {}), (10, 30), 1,
             computes=True),
    Recorded(Motif("halo", ("4", "1000"), r"([\d.]+) us a step$", {}, of=", 4^4 sites a rank"),
             (200, 600), 1.1, computes=True),
)


def simulated(options: Options) -> list[Row]:
    """Motifs of two ranks, measured beside simulated with the LogGP parameters measured here."""
    mpi = "openmpi"
    if not there(mpi):
        raise Absent("Open MPI is not installed")
    with tempfile.TemporaryDirectory(prefix="flyloom-bench-") as folder:
        loggp = parameters(options, folder)
        made = {name: build(mpi, [str(ROOT / f"runtime/motifs/{name}.c")], folder)
                for name in {recorded.motif.name for recorded in RECORDED}}
        return [row(options, recorded, made[recorded.motif.name], folder, loggp)
                for recorded in RECORDED]


def parameters(options: Options, folder: str) -> str:
    """The file of LogGP parameters of notified puts on this machine."""
    options.say("simulated: LogGP parameters of notified puts")
    times, loggp = Path(folder, "times.json"), Path(folder, "loggp.json")
    times.write_text(output([str(BUILT / "flyloom-perf"), "--loggp", "1048576"]))
    flyloom("measure", "--times", str(times), "-o", str(loggp))
    return str(loggp)


def row(options: Options, recorded: Recorded, program: str, folder: str, loggp: str) -> Row:
    """A motif's own figure; the baseline is the simulator's."""
    motif = recorded.motif
    options.say(f"simulated: {motif.name}{motif.of}")
    words = ["mpiexec.openmpi", "-n", "2", program]
    own = median(notified(motif, [*words, *motif.words]) for _ in options.times(5))
    here, far = [], []
    for _ in options.times(3):
        goals = [record(recorded, words, rounds, folder) for rounds in recorded.rounds]
        here.append(slope(recorded, goals, ("--loggp", loggp)))
        far.append(slope(recorded, goals, NETWORK))
    each = "an operation" if "MFlop" in motif.form else "a round"
    elsewhere = f"{median(far):.3g} ns on {NETWORK[1]} with default parameters"
    return Row("simulated", f"{motif.name}{motif.of}, 2 ranks, for {each}", own, "ns",
               median(here), "simulated", note=note(elsewhere, regime([ring_ns()], 2)))


def notified(motif: Motif, words: list[str]) -> float:
    """Nanoseconds of the first variant that a run prints, which is the notified one, untouched."""
    said = re.search(motif.form, output(words, VADER, LIMIT_S), re.MULTILINE)
    if said is None:
        raise Broken(f"{motif.name}: no figure")
    return nanoseconds(motif, said)


def record(recorded: Recorded, words: list[str], rounds: int, folder: str) -> str:
    """The file of a run with ``rounds`` rounds, as GOAL."""
    goal = str(Path(folder, f"{rounds}.goal"))
    kept = recorded.motif.words[:-1]
    output([*words, *kept, str(rounds)],
           {**VADER, "FLYLOOM_RECORD": goal,
            "FLYLOOM_RECORD_TIME": "clock" if recorded.computes else "none"}, LIMIT_S)
    if not os.path.exists(goal):
        raise Broken(f"{recorded.motif.name}: no record was written")
    return goal


def slope(recorded: Recorded, goals: list[str], how: tuple[str, ...]) -> float:
    """Nanoseconds that the simulator takes for one of what the motif's figure is of."""
    few, many = (json.loads(flyloom("sim", "message", "--goal", goal, "--S", "4294967295",
                                    *how, "--json").output)["finish_ns"] for goal in goals)
    return (many - few) / ((recorded.rounds[1] - recorded.rounds[0]) * recorded.each)
