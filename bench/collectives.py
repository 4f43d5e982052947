"""The benchmark of long messages of the runtime's collectives, beside those of MPIs."""

from __future__ import annotations

import os
import tempfile

from measure import Absent
from peers import BUILT, MPIS, middle, note, program, regime, repeated, ring_ns, there
from peers import figures as figures_of
from rows import Options, Row

OPERATIONS = ("bcast", "reduce", "allreduce", "allgather", "alltoall")
BYTES = tuple(16384 * 4**i for i in range(5))
"""Those that a rank has at the end."""
RANKS = (2, 4, 8, 16)
LEAST = 1.0
"""Times as fast as the MPI, from 64 KiB on."""


def collectives(options: Options) -> list[Row]:
    """Collectives of 16 KiB to 4 MiB on a node beside an MPI's: medians of the slowest rank."""
    if not (BUILT / "flyloom-perf").exists():
        raise Absent("the runtime is not built: make setup, with cmake installed")
    mpis = [mpi for mpi in MPIS if there(mpi)]
    if not mpis:
        raise Absent("no MPI is installed")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        mpi = mpis[0]
        made = program(mpi, "perf_coll_long.c", folder)
        processors = os.cpu_count() or 1
        for ranks in RANKS:
            if ranks <= max(4, processors):
                rows += _beside(mpi, made, ranks, options)
    return rows


def _beside(mpi: str, made: str, ranks: int, options: Options) -> list[Row]:
    options.say(f"collectives: {ranks} ranks beside {mpi}")
    words = [f"mpiexec.{mpi}", "-n", str(ranks), made, "10" if options.quick else "40"]
    runs = repeated(options, 3, lambda: figures_of(words))
    if not runs.good:
        return [Row("collectives", f"{ranks} ranks beside {mpi}: skipped", None, "us",
                    note=runs.said)]
    where, rows = regime([ring_ns()], ranks), []
    for name in OPERATIONS:
        for size in BYTES:
            what = f"{name} of {size} B"
            ours, theirs = middle(runs.good, what, f"MPI {what}")
            rows.append(Row(
                "collectives", f"{what}, {ranks} ranks, beside {mpi}", ours["median_ns"] / 1e3,
                "us", baseline=theirs["median_ns"] / 1e3, baseline_is="the same run",
                least_ratio=LEAST if size > BYTES[0] else None, note=note(where, runs.said)))
    return rows
