"""Notes that a word has another name now: one line for people, a warning for programs."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

from flyloom._core import RefusalError
from flyloom.support import machine
from flyloom.support.notes import once

Given = ParamSpec("Given")
Returned = TypeVar("Returned")


def note(where: str, old: str, new: str) -> None:
    """Says that ``old`` is now ``new`` at ``where``, see :func:`say`."""
    say(f"{where}: {old} is now {new}; the old name is read in this version only")


def say(text: str) -> None:
    """Says a note: of a command on standard error, once; else as a ``FutureWarning``."""
    if machine.tell:
        once(text)
    else:
        warnings.warn(text, FutureWarning, stacklevel=5)


def renew(where: str, names: Mapping[str, str], given: dict[str, Any]) -> None:
    """Gives the parameters in ``given`` that have old ``names`` those of today, with a note.

    RefusalError where a parameter is given by both its names.
    """
    for old in [name for name in given if name in names]:
        new = names[old]
        if new in given:
            raise RefusalError(f"{new}: given besides {old}, which is its old name (one of both)")
        note(where, old, new)
        given[new] = given.pop(old)


def keywords(
    where: str, **names: str
) -> Callable[[Callable[Given, Returned]], Callable[Given, Returned]]:
    """Makes a function read keywords by their old ``names``, with a note, as those of today.

    Types and signature of the function stay those of today.
    """

    def reading(function: Callable[Given, Returned]) -> Callable[Given, Returned]:
        @functools.wraps(function)
        def read(*args: Given.args, **given: Given.kwargs) -> Returned:
            renew(where, names, given)
            return function(*args, **given)

        return read

    return reading
