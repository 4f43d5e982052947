"""What messages cost: a preset, parameters of LogGOPS as a table, or a file of measured ones."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any

from flyloom._core import RefusalError
from flyloom.plugins import lists
from flyloom.support.reading import read_json
from flyloom.support.refused import hint

LETTERS = {
    "L": "L_ns", "o": "o_ns", "g": "g_ns", "G": "G_ns_per_byte", "O": "O_ns_per_byte",
    "S": "S_bytes",
}
"""The parameters, as LogGOPSim names them, and with their units, as files of measurements do."""


PACKETS_ALONE = "codes"
"""The preset that the packet level alone has: it is no set of parameters of LogGOPS."""


def presets() -> list[str]:
    """The names of presets of LogGOPS."""
    names = [row["name"] for row in lists.rows("costs", installed=False)]
    return [name for name in names if name != PACKETS_ALONE]


def file_of(costs: Mapping[str, Any] | str | os.PathLike[str] | None) -> str | None:
    """The file of measured parameters that is asked for, if one is."""
    if isinstance(costs, Mapping):
        costs = costs.get("file")
    return None if costs is None or costs in presets() else os.fspath(costs)


def asked(costs: Mapping[str, Any] | str | os.PathLike[str]) -> dict[str, Any]:
    """What a preset, a table or a JSON file says, as the core takes it.

    Raises ``RefusalError`` for a name that is neither a preset nor a file, and for parameters that
    cannot be.
    """
    if isinstance(costs, (str, os.PathLike)):
        return in_file(costs) if file_of(costs) else {"preset": costs}
    known = dict(costs)
    if file := known.pop("file", None):
        known = {**in_file(file), **known}
    preset = known.pop("preset", None)
    name = {} if preset is None else {"preset": preset}
    if strange := sorted(set(known) - set(LETTERS)):
        words = ", ".join(("preset", *LETTERS))
        raise RefusalError(f"costs: there is no {strange[0]!r}; {words}")
    for letter, value in known.items():
        if isinstance(value, float) and not math.isfinite(value):
            most = 2**32 - 1 if letter == "S" else 2**31 - 1
            unit = "bytes" if letter == "S" else "ns"
            raise RefusalError(f"{letter}: {value} is no finite number; 0 to {most} {unit}")
    return {**name, **known}


def in_file(path: str | os.PathLike[str]) -> dict[str, float]:
    """The parameters in a file of measurements."""
    word = os.fspath(path)
    if not os.path.splitext(word)[1] and os.sep not in word and not os.path.exists(word):
        names = presets()
        why = f"there is no preset '{word}'; {hint(word, names)}"
        if word == PACKETS_ALONE:
            why = f"'{word}' is of the packet level alone; "
        raise RefusalError(f"costs: {why}{', '.join(names)}, or a file of flyloom measure")
    said = read_json(path)
    if not isinstance(said, dict):
        raise RefusalError(f"{path}: no table; {', '.join(LETTERS.values())} with their values")
    found: dict[str, float] = {}
    for letter, name in LETTERS.items():
        if letter in said:
            raise RefusalError(f"{path}: {letter}: a number without a unit; {name}")
        value = said.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise RefusalError(f"{path}: {name}: {value!r} is no number")
        found[letter] = value
    if missing := [LETTERS[letter] for letter in "LogG" if letter not in found]:
        raise RefusalError(f"{path}: there is no {missing[0]}; {', '.join(LETTERS.values())}")
    if found["L"] <= 0:
        why = "of a latency that is not above 0, as measured where the receiver's work is done"
        help_ = "measure ranks that have processors of their own, or two hosts"
        raise RefusalError(f"{path}: L_ns: {found['L']:g}: {why} within the sender's call; {help_}")
    for letter, value in found.items():
        if value < 0:
            why = "below 0, as measured on a machine that did other work; measure again"
            raise RefusalError(f"{path}: {LETTERS[letter]}: {value:g}: {why}")
    return found
