"""Dragonflies of CODES: two binary files, the links within a group and those between groups."""

from __future__ import annotations

import os
from pathlib import Path

from flyloom._core import RefusalError, Topology
from flyloom.support.reading import read_bytes

_WORDS = ("intra", "inter")


def codes(path: Path, p: int | None) -> Topology | None:
    """The network of the files of CODES of which ``path`` is one; ``None`` where it is none.

    They are binary, and their names differ in ``intra`` and ``inter``.

    Raises ``RefusalError`` where the other file is missing, or one is damaged.
    """
    name = path.name
    which = max(_WORDS, key=lambda word: name.lower().rfind(word))
    at = name.lower().rfind(which)
    if at < 0 or not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        if b"\0" not in file.read(64):
            return None
    found = name[at:at + 5]
    middle = "er" if which == "intra" else "ra"
    middle = middle.upper() if found.isupper() else middle
    other = path.with_name(f"{name[:at]}{found[:3]}{middle}{name[at + 5:]}")
    if not os.path.isfile(other):
        what = "within a group" if which == "intra" else "between groups"
        raise RefusalError(f"{path}: the links {what} of CODES, without {other.name} beside it")
    intra, inter = (path, other) if which == "intra" else (other, path)
    return Topology.from_codes((str(intra), read_bytes(intra)), (str(inter), read_bytes(inter)), p)
