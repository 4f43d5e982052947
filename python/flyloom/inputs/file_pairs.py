"""Networks that are two files side by side, such as the dragonflies of CODES."""

from __future__ import annotations

import os
from pathlib import Path

from flyloom._core import RefusalError, Topology, network_pair
from flyloom.support.reading import read_bytes

START_BYTES = 64
"""The bytes at the start of a file by which its format is recognised."""


def file_pair(path: Path, p: int | None) -> Topology | None:
    """The network of the two files of which ``path`` is one; ``None`` where it is none.

    Raises ``RefusalError`` where the other file is missing, or one is damaged.
    """
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        found = network_pair(path.name, file.read(START_BYTES))
    if found is None:
        return None
    name, is_first, holds = found
    other = path.with_name(name)
    if not os.path.isfile(other):
        raise RefusalError(f"{path}: one of two files: {holds} should be in {other.name} beside it")
    first, second = (other, path) if is_first else (path, other)
    return Topology.from_pair((str(first), read_bytes(first)), (str(second), read_bytes(second)), p)
