"""Notes of the command line: a line each on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from flyloom.support import machine

_said: set[str] = set()
_is_silent: ContextVar[bool] = ContextVar("_is_silent", default=False)


def once(line: str) -> None:
    """Says once what a user should know beside the result; the command line alone does."""
    if machine.tell and line not in _said and not _is_silent.get():
        _said.add(line)
        print(f"note: {line}", file=sys.stderr)


@contextmanager
def silent() -> Iterator[None]:
    """Leaves out notes, while networks are built that the user neither names nor gets."""
    before = _is_silent.set(True)
    try:
        yield
    finally:
        _is_silent.reset(before)
