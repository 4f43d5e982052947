"""Names of devices from a node name map of OpenSM, read together with a network file."""

from __future__ import annotations

import os
import sys

from flyloom._core import RefusalError, Topology
from flyloom.support import machine
from flyloom.support.notes import once
from flyloom.support.reading import read_text

asked: list[str] = []
"""The map for every network file that is given none: the command line sets it."""


def named(topology: Topology, names: str | os.PathLike[str] | None = None) -> Topology:
    """The network with the names that the map at ``names`` has for its node GUIDs; RefusalError
    names the line of the map that cannot be used. The command line says on standard error which
    names were not given."""
    path = names if names is not None else asked[-1] if asked else None
    if path is None:
        return topology
    renamed, remarks = topology.with_node_names(read_text(path), str(path))
    for remark in remarks if machine.tell else ():
        print(f"note: {path}: {remark}", file=sys.stderr)
    return renamed


def no_names(name: str, names: str | os.PathLike[str] | None) -> None:
    """Refuses a map for a source that is no network file; a map for all networks only gets a note
    that it has no effect there."""
    why = "names: of a network file; this network has names of its own"
    if names is not None:
        raise RefusalError(f"{name}: {why}")
    if asked:
        once(f"{name}: {why}")
