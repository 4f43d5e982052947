"""Notes that a word has another name now: one line for people, a warning for programs."""

from __future__ import annotations

import warnings

from flyloom.support import machine
from flyloom.support.notes import once


def note(where: str, old: str, new: str) -> None:
    """Says that ``old`` is now ``new`` at ``where``, see :func:`say`."""
    say(f"{where}: {old} is now {new}; the old name is read in this version only")


def say(text: str) -> None:
    """Says a note: of a command on standard error, once; else as a ``FutureWarning``."""
    if machine.tell:
        once(text)
    else:
        warnings.warn(text, FutureWarning, stacklevel=5)
