"""Several values where one may stand: lists, or words of a text with commas between them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from flyloom._core import RefusalError
from flyloom.inputs.applications import is_made
from flyloom.inputs.traffic import is_name
from flyloom.support.reading import is_path
from flyloom.support.words import selection_name

_OPENS, _CLOSES, _QUOTES = "([{", ")]}", "'\""


def split(text: str) -> list[str]:
    """The parts of a text between its commas, without blanks around them. A comma inside brackets
    or quotes is of the part that it stands in, as in the expression of a selection."""
    parts, depth, quote = [""], 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in _QUOTES:
            quote = letter
        elif letter in _OPENS:
            depth += 1
        elif letter in _CLOSES:
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append("")
            continue
        parts[-1] += letter
    return [part.strip() for part in parts]


def selections(given: Any) -> list[Any]:
    """The selections of a run, at least one: of a list, or of a text such as
    ``minimal,ugal_l``. A table is one selection of a user's."""
    is_one = isinstance(given, str | Mapping) or not isinstance(given, Iterable)
    each = [given] if is_one else list(given)
    found = [part for one in each for part in (split(one) if isinstance(one, str) else [one])]
    _some("selection", [selection_name(one) for one in found])  # what columns call them
    return _some("selection", found)


def traffics(given: Any) -> list[Any]:
    """The traffics of a run, at least one: of a list with names or files, of a text such as
    ``uniform,worst_case``; rows, a matrix or a mapping are one traffic."""
    if isinstance(given, str):
        return _some("traffic", _named(given, lambda word: is_name(word, own=True)))
    if isinstance(given, (list, tuple)) and any(
        isinstance(one, (str, os.PathLike)) for one in given
    ):
        return _some("traffic", list(given))
    return [given]


def workloads(given: Any) -> list[Any]:
    """The workloads of a run of messages, one after the other; at least one."""
    if isinstance(given, str):
        def begins(word: str) -> bool:
            return is_made(re.split(r"[:\s]", word, maxsplit=1)[0])

        return _some("workload", _named(given, begins))
    if isinstance(given, (list, tuple)):
        return _some("workload", list(given))
    return [given]


def _some(name: str, found: list[Any]) -> list[Any]:
    """The values of a list, which must have at least one, none of them empty and none twice."""
    if not found or "" in (one for one in found if isinstance(one, str)):
        raise RefusalError(f"{name}: an empty value in the list; a name, or several with commas")
    words = [one for one in found if isinstance(one, str)]
    if twice := next((one for one in words if words.count(one) > 1), None):
        raise RefusalError(f"{name}: '{twice}' is there twice; each once")
    return found


def _named(text: str, is_known: Callable[[str], bool]) -> list[str]:
    """The names in a text. The word after a comma belongs to the name before it where that name has
    an argument and the word itself is no name and no file: ``hotspot:3=2,7=1``."""
    if os.path.exists(text) or "," not in text:
        return [text]
    found: list[str] = []
    for part in split(text):
        names_one = is_known(part) or is_path(part) or (
            bool(found) and not re.search(r"[:\s]", found[-1]) and part[:1].isalpha()
            and "=" not in part
        )
        if found and not names_one:
            found[-1] += f",{part}"
        else:
            found.append(part)
    return found


def each_of(spec: Mapping[str, Any], level: str) -> list[dict[str, Any]]:
    """The parameters of each run that ``spec`` stands for: one for every selection of every
    traffic, those of a traffic together; of messages every workload in place of the traffic."""
    of, values = "traffic", traffics
    if level == "message":
        of, values = "workload", workloads
    sent = values(spec[of]) if of in spec else [None]
    chosen = selections(spec["selection"]) if "selection" in spec else [None]
    return [
        {
            **spec,
            **({} if one is None else {of: one}),
            **({} if selection is None else {"selection": selection}),
        }
        for one in sent for selection in chosen
    ]
