"""Notes of the command line: a line each on standard error."""

from __future__ import annotations

import sys

from flyloom.support import machine

_said: set[str] = set()


def once(line: str) -> None:
    """Says once what a user should know beside the result; the command line alone does."""
    if machine.tell and line not in _said:
        _said.add(line)
        print(f"note: {line}", file=sys.stderr)
