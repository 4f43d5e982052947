"""Which endpoint each process is on, from whatever a user names: a policy, a file, a list."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from operator import index
from typing import Any

from flyloom._core import RefusalError, Routing, Topology, mapping_of
from flyloom.inputs.tables import topology_of
from flyloom.plugins.functions import named, returned, wrong
from flyloom.plugins.parts import PluginPart
from flyloom.support.checks import whole
from flyloom.support.reading import is_path, read_text

Placed = str | os.PathLike[str] | Sequence[int]
"""A policy, a file (of any format of mappings), or an endpoint for every process."""


def places(
    on: Topology | Routing, given: Placed, per_endpoint: int = 1
) -> tuple[str, list[int] | None]:
    """The policy that ``given`` names, and the endpoint of every process where it names these, or
    where a user's placement fills endpoints with ``per_endpoint`` each.

    Raises ``RefusalError`` for an endpoint that there is not, with the line of a file.
    """
    topology = topology_of(on)
    if isinstance(given, str) and not is_path(given):
        if asked := named("placement", given):
            return "linear", _filled(topology, *asked, per_endpoint)
        return given, None
    if isinstance(given, (str, os.PathLike)):
        text = read_text(given)
        try:
            return "linear", mapping_of(topology, text)
        except RefusalError as error:
            raise RefusalError(f"{os.fspath(given)}: {error}") from None
    return "linear", [whole("placement", place, 0, 2**32 - 1) for place in given]


def _filled(
    topology: Topology, part: PluginPart, given: dict[str, Any], per_endpoint: int
) -> list[int]:
    """The endpoint of every process, in the order of a user's placement."""
    order = returned(part, given, topology)
    if isinstance(order, (str, bytes)) or not isinstance(order, Iterable):
        raise wrong(part, "returns no endpoints; their numbers, in order")
    try:
        found = [index(endpoint) for endpoint in order]
    except TypeError:
        raise wrong(part, "returns what is no number of an endpoint") from None
    seen: set[int] = set()
    for endpoint in found:
        if not 0 <= endpoint < topology.endpoints:
            last = topology.endpoints - 1
            raise wrong(part, f"there is no endpoint {endpoint}; 0 to {last}")
        if endpoint in seen:
            raise wrong(part, f"endpoint {endpoint} comes twice")
        seen.add(endpoint)
    return [endpoint for endpoint in found for _ in range(per_endpoint)]
