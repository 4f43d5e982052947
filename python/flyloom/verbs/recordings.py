"""Schedules of the calls that the recorder kept of an MPI program."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flyloom._core import RefusalError, Workload, recorded_schedule
from flyloom.support.progress import Progress
from flyloom.support.reading import read_bytes

_HEAD = struct.Struct("<3Q")
"""What a file begins with: a magic number, the rank, the number of ranks."""


def recorded_ranks(folder: Path) -> int:
    """The number of ranks whose calls a folder has; 0 where it has none."""
    for file in sorted(folder.glob("*.calls")):
        head = read_bytes(file)[:_HEAD.size]
        if len(head) == _HEAD.size:
            return int(_HEAD.unpack(head)[2])
    return 0


def recorded_workload(
    folder: Path, given: Mapping[str, Any], progress: Progress | None = None
) -> tuple[Workload, list[str]]:
    """The schedule of the calls in a folder, and sentences about what is not in it.

    ``given`` are the parameters of the format ``recorded`` (``flyloom list workload-files``). A
    rank that has not begun has no operations. Raises ``RefusalError`` where there are no calls, the
    ranks of a communicator call different collectives, or a parameter cannot be.
    """
    ranks = recorded_ranks(folder)
    if ranks == 0:
        raise RefusalError(f"{folder}: there are no calls in it; a folder of flyloom record")
    names, contents = [], []
    for rank in range(ranks):
        file = folder / f"run-{rank}.calls"
        names.append(str(file))
        contents.append(read_bytes(file) if file.exists() else b"")
    magic = next(content[:8] for content in contents if len(content) >= _HEAD.size)
    contents = [
        content if len(content) >= _HEAD.size else magic + struct.pack("<2Q", rank, ranks)
        for rank, content in enumerate(contents)
    ]
    schedule, remarks = recorded_schedule(names, contents, dict(given), progress)
    return schedule, _sentences(remarks, ranks)


def _sentences(remarks: Mapping[str, Any], ranks: int) -> list[str]:
    """What users have to know of a schedule besides what is in it."""
    found = [
        f"{ranks:,} ranks, {remarks['measured_ns']:,} ns from the end of MPI_Init to the beginning"
        " of MPI_Finalize where that took longest"
    ]
    if cut := remarks["cut"]:
        why = ""
        if aborted := remarks["aborted"]:
            why = f" (rank {aborted[0]} called MPI_Abort with {aborted[1]})"
        found.append(f"it ends early: {_ranks(cut)} of {ranks:,} did not come to MPI_Finalize{why};"
                     " what they did before is kept")
    lost = [
        f"{remarks[name]:,} {words if remarks[name] != 1 else word}"
        for name, word, words in (
            ("sends", "message that no rank received", "messages that no rank received"),
            ("receives", "receive that got no message", "receives that got no message"),
            ("collectives", "collective to which not all its ranks came",
             "collectives to which not all their ranks came"),
        ) if remarks[name]
    ]
    if lost:
        found.append(f"left out: {', '.join(lost)}")
    if moved := remarks["transfers"]:
        found.append(f"{moved:,} one-sided calls are transfers beside the target's program, which"
                     " waits for them at fences alone")
    if puts := remarks["puts"]:
        found.append(f"{puts:,} puts and questions of libflyloom are transfers beside the target's"
                     " program, which waits where it takes their notifications")
    return found


def _ranks(some: list[int]) -> str:
    if len(some) == 1:
        return f"rank {some[0]}"
    words = ", ".join(map(str, some[:8]))
    return f"ranks {words}" + (f" and {len(some) - 8:,} more" if len(some) > 8 else "")
