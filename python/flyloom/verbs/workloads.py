"""Schedules of processes: what they hold, whether they can come to their end, other formats."""

from __future__ import annotations

import os
from pathlib import Path

from flyloom._core import RefusalError, Workload, workload_list
from flyloom.inputs.workloads import Scheduled, workload
from flyloom.support.files import write_whole
from flyloom.support.progress import Progress
from flyloom.support.results import Result

FORMATS = (".goal", ".bin")
"""Ends of names: GOAL as text, GOAL in binary."""


def workloads() -> list[Result]:
    """What :func:`make_workload` makes: ``name``, ``doc`` and ``keys``, the parameters besides
    ``ranks`` and ``bytes``, each with ``name``, ``doc`` and ``default``."""
    return [Result(row) for row in workload_list()]


def make_workload(
    name: str, *, progress: Progress | None = None, **parameters: int
) -> Workload:
    """The schedule of a collective operation.

    Parameters
    ----------
    name
        The operation and the algorithm: one of :func:`workloads`.
    parameters
        ``ranks``; ``bytes``: of the vector that is broadcast or added, and for operations with a
        block for every rank, of a block; and the algorithm's own.

    Raises
    ------
    RefusalError
        For an algorithm that there is not, and a parameter that cannot be.
    """
    return Workload.make(name, parameters, progress)


def check_workload(source: Scheduled, *, progress: Progress | None = None) -> Result:
    """What a schedule holds, and whether it can come to its end.

    Fields: ``ranks``, ``operations``, ``sends``, ``receives``, ``calculations``, ``dependencies``,
    ``cpus`` and ``nics`` of every rank, ``sent_bytes``, ``calculated_ns``; ``circle``: operations
    that wait for one another, each for the one before and the first for the last, empty where there
    are none; ``complete``, and ``left``: why it cannot come to its end, None where it can. The end
    is tried by a run without cost (all of LogGOPS's parameters 0), which sends nothing before its
    receive is there.
    """
    from flyloom._core import simulate_message

    given = workload(source, progress)
    circle, left = given.circle(), None
    free = {"L": 0, "o": 0, "g": 0, "G": 0, "O": 0, "S": 2**32 - 1}
    try:
        simulate_message(given, {"costs": free}, progress)
    except RefusalError as error:
        left = error.why
    return Result({**given.counts(), "circle": circle, "complete": left is None, "left": left})


def convert_workload(
    source: Scheduled, path: str | os.PathLike[str], *, progress: Progress | None = None
) -> Result:
    """Writes a schedule as GOAL: as text where ``path`` ends in ``.goal``, in binary, as LogGOPSim
    reads it, where it ends in ``.bin``.

    Fields: ``path``, ``ranks``, ``operations``, ``bytes`` written.
    """
    place = Path(path)
    if place.suffix not in FORMATS:
        raise RefusalError(f"{place}: what it is to be is not said; end it in .goal or .bin")
    given = workload(source, progress)
    content = given.text().encode() if place.suffix == ".goal" else given.binary()
    write_whole(place, content)
    counts = given.counts()
    return Result({
        "path": str(place), "ranks": counts["ranks"], "operations": counts["operations"],
        "bytes": len(content),
    })
