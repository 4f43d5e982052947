"""Notes that a word has another name now: one line for people, a warning for programs."""

from __future__ import annotations

import sys
import warnings

from flyloom.support import machine

_said: set[str] = set()


def note(where: str, old: str, new: str) -> None:
    """Says once that ``old`` is now ``new`` at ``where``: on standard error where commands speak, else
    as a ``FutureWarning``."""
    text = f"{where}: {old} is now {new}; the old name is read in this version only"
    say(text)


def say(text: str) -> None:
    """Says a note once."""
    if text in _said:
        return
    if machine.tell:
        _said.add(text)
        print(f"note: {text}", file=sys.stderr)
    else:
        warnings.warn(text, FutureWarning, stacklevel=5)
