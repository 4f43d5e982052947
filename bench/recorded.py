"""MPI programs as they run here, beside the simulated time of the schedules recorded of them."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

from measure import HERE, Absent, Broken, flyloom, median
from peers import MAY, compiled, output, there
from rows import Options, Row

PROGRAMS = tuple((name, part) for part in ("1", "20")
                 for name in ("stencil", "gradients", "transpose"))
"""Each with its work, and with a twentieth of it between the same messages."""
STEPS = "2000"
COSTS = "shared_memory"


def recorded(options: Options) -> list[Row]:
    """Programs of two ranks: their own time, and that of their schedules with a preset of costs."""
    mpi = "openmpi"
    if not there(mpi):
        raise Absent("Open MPI is not installed")
    with tempfile.TemporaryDirectory(prefix="flyloom-bench-") as folder:
        made = compiled(f"mpicc.{mpi}", [str(HERE / "programs.c")], str(Path(folder, "programs")))
        return [row(options, name, [f"mpiexec.{mpi}", "-n", "2", made, name, STEPS, part], folder)
                for name, part in PROGRAMS]


def row(options: Options, name: str, words: list[str], folder: str) -> Row:
    """Runs without the recorder and with it in turn; the baseline is the simulator's."""
    options.say(f"recorded: {name}")
    allowed = [f"{key}={value}" for key, value in MAY.items()]
    alone_ns, simulated_ns, in_calls = [], [], []
    for _ in options.times(9):
        alone_ns.append(printed_ns(output(words)))
        goal = str(Path(folder, f"{name}.goal"))
        flyloom("record", "-o", goal, "--", "env", *allowed, *words)
        result = json.loads(flyloom("sim", "message", "--workload", goal, "--costs", COSTS,
                                    "--critical-path", "--json").output)
        simulated_ns.append(result["finish_ns"])
        in_calls.append(1 - result["critical_path"]["parts_ns"]["computing"]
                        / result["finish_ns"])
    work = "its work" if words[-1] == "1" else f"1/{words[-1]} of its work"
    share = f"{median(in_calls):.1%} of the critical path are messages"
    return Row("recorded", f"{name}, 2 ranks, {work}", median(alone_ns) / 1e6, "ms",
               median(simulated_ns) / 1e6, f"simulated, --costs {COSTS}", note=share)


def printed_ns(said: str) -> float:
    """The nanoseconds that a program prints first."""
    found = re.match(r"(\d+) ns", said)
    if found is None:
        raise Broken(f"{said[:80]!r} has no time")
    return float(found[1])
