"""Schedules of processes, from whatever a user names: a file of GOAL, or a schedule."""

from __future__ import annotations

import os

from flyloom._core import RefusalError, Workload
from flyloom.support.progress import Progress
from flyloom.support.reading import read_bytes

Scheduled = Workload | str | os.PathLike[str]
"""A schedule, or a file of one."""


def workload(source: Scheduled, progress: Progress | None = None) -> Workload:
    """The schedule that ``source`` stands for: itself, or what a file of GOAL says.

    The content says whether a file is text or binary; what is called ``.gz`` is unpacked. Raises
    ``RefusalError`` with the file and the line, or the byte, at fault.
    """
    if isinstance(source, Workload):
        return source
    content = read_bytes(source)
    try:
        return Workload.read(content, progress)
    except RefusalError as error:
        raise RefusalError(f"{os.fspath(source)}: {error}") from None
