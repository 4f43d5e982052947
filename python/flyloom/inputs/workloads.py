"""Schedules of processes, from whatever a user names: a file of GOAL, or a schedule."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from flyloom._core import RefusalError, Workload, workload_list
from flyloom.support.progress import Progress
from flyloom.support.reading import read_bytes

Scheduled = Workload | str | os.PathLike[str]
"""A schedule, or a file of one."""


_travelled: dict[str, bytes] = {}


@contextmanager
def travelling_workloads(files: Mapping[str, bytes]) -> Iterator[None]:
    """While it lasts, these names of files stand for what was read of them before, elsewhere."""
    _travelled.update(files)
    try:
        yield
    finally:
        for name in files:
            _travelled.pop(name, None)


def is_made(name: object) -> bool:
    """Whether ``name`` is that of a schedule that can be made, and no file's."""
    return name in {row["name"] for row in workload_list()}


def workload(source: Scheduled, progress: Progress | None = None) -> Workload:
    """The schedule that ``source`` stands for: itself, or what a file of GOAL says.

    The content says whether a file is text or binary; what is called ``.gz`` is unpacked. Raises
    ``RefusalError`` with the file and the line, or the byte, at fault.
    """
    if isinstance(source, Workload):
        return source
    content = _travelled.get(os.fspath(source)) or read_bytes(source)
    try:
        return Workload.read(content, progress)
    except RefusalError as error:
        raise RefusalError(f"{os.fspath(source)}: {error}") from None
