"""Topology files of ibutils, with the definitions of their systems that lie beside them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from flyloom._core import RefusalError, Topology
from flyloom.inputs.devices import no_fabric
from flyloom.support.reading import read_text

_SYSTEM = re.compile(r"^[ \t]*([^/\s#]+)[ \t]+[^/\s]+[ \t]*(CFG:.*)?$", re.MULTILINE)
_CABLE = re.compile(r"->[ \t]*(\S+)[ \t]+\S+[ \t]+\S+[ \t]*$", re.MULTILINE)
_TOP = re.compile(r"^[ \t]*TOPSYSTEM[ \t]+(.+)$", re.MULTILINE)


def ibutils(
    path: Path, text: str, p: int | None, choice: dict[str, Any] | None
) -> Topology | None:
    """The network of the topology file ``path``, which is ``text``; ``None`` where there are no
    definitions for it: then the text alone says what there is.

    Definitions (``.ibnl``) are taken from the folder of the file, its folder ``ibnl``, and those of
    IBDM_IBNL_PATH, as ibutils takes them; the first of a type is the one.

    Raises ``RefusalError`` with the line at fault, or where ``p`` or a ``choice`` is given.
    """
    if "->" not in text or not (cables := _CABLE.findall(text)) or "TOPSYSTEM" in text:
        return None
    wanted = {*cables, *(kind for kind, _ in _SYSTEM.findall(text))}
    own = os.environ.get("IBDM_IBNL_PATH", "")
    folders = [path.parent, path.parent / "ibnl", *map(Path, re.split("[:, ]+", own.strip(":, ")))]
    found: list[tuple[str, str]] = []
    for folder in folders if own.strip(":, ") else folders[:2]:
        for file in sorted(folder.glob("*.ibnl")) if wanted else ():
            definition = read_text(file)
            names = {
                name for line in _TOP.findall(definition) for name in re.split("[, \t]+", line)
            }
            if names & wanted:
                wanted -= names
                found.append((str(file), definition))
    if not found:
        return None
    if p is not None:
        raise RefusalError(f"{path}: p: the file has its own endpoints; leave p out")
    no_fabric(str(path), choice)
    return Topology.from_ibutils(text, str(path), found)
