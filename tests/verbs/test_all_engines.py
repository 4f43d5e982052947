"""Every engine on many networks, judged by routes followed one by one in Python and networkx.

The walker shares no code with the proof; what an engine promises is read from the registry.
"""

from __future__ import annotations

import flyloom as fl
import networkx as nx
import pytest
from flyloom import RefusalError, _core
from oracle_routes import Routes, TableFile, Wires
from test_routing import NETWORKS

ENGINES = {part["name"]: part["promise"] for part in _core.registry() if part["kind"] == "engine"}
SMALL = ["slim_fly_3", "fat_tree", "fat_tree_3", "dragonfly", "hyperx", "torus", "mesh", "lopsided"]
CASES = [(net, engine, layers) for net in SMALL for engine in ENGINES for layers in (1, 3)]
ROUTED: dict[str, int] = {}


@pytest.mark.parametrize(("net", "engine", "layers"), CASES)
def test_the_walker_agrees(net, engine, layers):
    topology = NETWORKS[net]()
    try:
        routing = fl.route(topology, engine, layers=layers)
    except RefusalError:
        assert engine in ("dor", "ftree"), "only these refuse healthy networks of this size"
        return
    ROUTED[engine] = ROUTED.get(engine, 0) + 1
    wires = Wires(topology)
    routes = Routes(routing, wires)  # fails where a route does not arrive
    found = fl.verify(routing)
    assert found.complete.holds and found.complete.routes == len(routes.all)
    assert found.complete.max_hops == max(map(len, routes.all.values()))
    distance = dict(nx.all_pairs_shortest_path_length(wires.graph()))
    detours = [
        key for key, channels in routes.all.items()
        if len(channels) != distance[key[1]][wires.home[key[2]][0]]
    ]
    assert not (ENGINES[engine]["minimal"] and detours)
    graph = routes.dependencies_by_port(TableFile(routing, topology))
    free = nx.is_directed_acyclic_graph(graph)
    assert found.deadlock.holds == free
    assert free or not ENGINES[engine]["deadlock_free"]
    assert found.deadlock.holds is False or found.deadlock.dependencies == graph.number_of_edges()


def test_every_engine_has_been_judged():
    """After the cases above, in the same process."""
    if ROUTED:
        assert set(ROUTED) == set(ENGINES)
