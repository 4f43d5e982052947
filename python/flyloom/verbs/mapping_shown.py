"""What a mapping looks like beside the linear one: who sends to whom by places, load of links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import numpy as np

from flyloom import _core
from flyloom._core import Routing, Topology
from flyloom.inputs.communication import Graph
from flyloom.inputs.tables import Tables, topology_of
from flyloom.support.progress import Progress
from flyloom.support.results import Result
from flyloom.verbs.mapping import graph_of, mapped, routed
from flyloom.verbs.routes import routed_or_not

Marks = list[tuple[int, int, float]]
"""Who, to whom, how much."""


class ShownMapping(TypedDict):
    """One mapping: its figures, bytes between endpoints, loads of channels by their switches."""

    figures: dict[str, Any]
    sent: Marks
    loads: Marks


class MappingPageContents(TypedDict):
    """What a page shows: the network, the linear mapping and the one that was found."""

    topology: Topology
    groups: list[int]
    linear: ShownMapping
    found: ShownMapping


def shown(
    net: Tables, graph: Graph, found: Result, given: Mapping[str, Any], *,
    linear_on: Tables | None = None, progress: Progress | None = None,
) -> MappingPageContents:
    """What ``map_processes`` or ``evaluate_mapping`` has found of the same parameters, and the
    linear mapping, as pictures take it. ``groups`` has the group of each endpoint's switch. The
    linear mapping's traffic takes the paths of ``linear_on``, where these are others."""
    on = routed(net, given, progress)
    traffic = graph_of(graph, given, progress, on)
    before = on if linear_on is None else routed_or_not(linear_on, None)
    slots = {key: given.get(key) for key in ("hosts", "per_endpoint")}
    linear = mapped(before, traffic, {"method": "linear", **slots})
    topology = topology_of(on)
    table = topology.terminal_table
    groups = np.zeros(topology.endpoints, dtype=int)
    # the first rail of an endpoint counts, so that it comes last
    groups[table["endpoint"][::-1]] = topology.groups[table["switch"][::-1]]

    def side(of: Result, by: Topology | Routing) -> ShownMapping:
        places = of["mapping"]
        loads = _core.mapping_loads(by, traffic, places, progress)
        columns = (loads[name].tolist() for name in ("from", "to", "load"))
        return {
            "figures": of.to_dict(), "sent": _between(traffic.columns(), places),
            "loads": list(zip(*columns, strict=True)),
        }

    return {
        "topology": topology, "groups": groups.tolist(),
        "linear": side(linear, before), "found": side(found, on),
    }


def _between(columns: Mapping[str, Any], places: Sequence[int]) -> Marks:
    """Bytes between different endpoints, of all their processes."""
    sums: dict[tuple[int, int], float] = {}
    names = ("from", "to", "bytes")
    for a, b, amount in zip(*(columns[name].tolist() for name in names), strict=True):
        ends = (places[a], places[b])
        if ends[0] != ends[1] and amount > 0:
            sums[ends] = sums.get(ends, 0.0) + amount
    return [(a, b, amount) for (a, b), amount in sorted(sums.items())]
