"""Which endpoint each process is on, from whatever a user names: a policy, a file, a list."""

from __future__ import annotations

import os
from collections.abc import Sequence

from flyloom._core import RefusalError, Routing, Topology, mapping_of
from flyloom.inputs.tables import topology_of
from flyloom.support.checks import whole
from flyloom.support.reading import is_path, read_text

Placed = str | os.PathLike[str] | Sequence[int]
"""A policy, a file (of any format of mappings), or an endpoint for every process."""


def places(on: Topology | Routing, given: Placed) -> tuple[str, list[int] | None]:
    """The policy that ``given`` names, and the endpoint of every process where it names these.

    Raises ``RefusalError`` for an endpoint that there is not, with the line of a file.
    """
    topology = topology_of(on)
    if isinstance(given, str) and not is_path(given):
        return given, None
    if isinstance(given, (str, os.PathLike)):
        text = read_text(given)
        try:
            return "linear", mapping_of(topology, text)
        except RefusalError as error:
            raise RefusalError(f"{os.fspath(given)}: {error}") from None
    return "linear", [whole("placement", place, 0, 2**32 - 1) for place in given]
