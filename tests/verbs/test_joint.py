"""Mapping with routing: the tables written are followed by code of their own, and proven."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import checkout
import flyloom as fl
import networkx as nx
import pytest
from campaign import count
from cli_helpers import document, flyloom
from deploy_helpers import needs_fabric
from flyloom.inputs.tables import read_folder
from oracle_routes import Wires, follow

DATA = checkout.DATA / "mapping"
CASES = {
    name: (net, str(DATA / graph) if graph.endswith(".mtx") else graph)
    for name, (net, graph) in json.loads((DATA / "cases.json").read_text()).items()
}
TARGETS = {"fem_sf5": (2000, 840), "st3_sf5": (112184, 37026), "fem_df3": (2836, 852)}
"""Maximum congestion of the linear mapping over all shortest paths, and what is to be reached."""


def walked(topology: fl.Topology, routing: fl.Routing, graph: object, places: list[int],
           slack: int) -> tuple[Fraction, Fraction]:
    """Maximum congestion and hop-bytes, pair by pair and layer by layer, in fractions; no route is
    longer than the shortest path by more than ``slack``."""
    wires = Wires(topology)
    far = dict(nx.all_pairs_shortest_path_length(wires.graph()))
    load: dict[int, Fraction] = {}
    hops = Fraction(0)
    columns = fl.communication(graph).columns()
    for u, v, amount in zip(columns["from"], columns["to"], columns["bytes"], strict=True):
        (start, _), home = wires.home[places[u]], wires.home[places[v]]
        if places[u] == places[v]:
            continue
        part = Fraction(float(amount)) / routing.layers
        for layer in range(routing.layers):
            ports = routing.next[layer, places[v]].tolist()
            channels = follow(wires, ports, start, home)
            assert len(channels) <= far[start][home[0]] + slack
            hops += part * len(channels)
            for channel in channels:
                load[channel] = load.get(channel, Fraction(0)) + part
    return max(load.values(), default=Fraction(0)), hops


@pytest.mark.campaign
@pytest.mark.parametrize("case", count(["fem_sf5", "st3_sf5"], list(TARGETS)))
def test_mapping_and_tables_are_better_than_either(case: str, tmp_path: Path) -> None:
    (net, graph), (before, target) = CASES[case], TARGETS[case]
    folder, file = tmp_path / "tables", tmp_path / "ranks"
    found = document("map", net, "--graph", graph, "--with-routing", "--tables", folder,
                     "-o", file)
    assert round(found["linear"]["maximum_congestion"]) == before
    assert found["maximum_congestion"] <= target
    assert (found["verified"], found["layers"]) == (True, 4)
    assert found["lanes"] <= 8
    assert found["routing_bound"] <= found["maximum_congestion"] * (1 + 1e-9)
    assert found["maximum_congestion"] <= min(s["maximum_congestion"] for s in found["steps"])
    _, routing = read_folder(folder)
    assert fl.verify(routing).holds
    topology = fl.network(net)
    places = [int(line) for line in file.read_text().split()]
    assert places == found["mapping"]
    assert len(set(places)) == len(places)
    congestion, hops = walked(topology, routing, graph, places, slack=1)
    assert float(congestion) == pytest.approx(found["maximum_congestion"])
    assert float(hops) == pytest.approx(found["hop_bytes"])
    again = document("map-eval", folder, "--graph", graph, "--mapping", file)
    assert again["maximum_congestion"] == pytest.approx(found["maximum_congestion"])


def test_routes_for_a_mapping_that_is_kept(tmp_path: Path) -> None:
    net, graph = CASES["fem_sf5"]
    linear = list(range(200))
    file = tmp_path / "linear"
    file.write_text("\n".join(map(str, linear)))
    found = document("map", net, "--graph", graph, "--with-routing", "--mapping", file)
    assert found["mapping"] == linear
    assert found["method"] == "given"
    # routing alone gains about as much as mapping alone (1256 and 2000 over shortest paths)
    assert found["routing_bound"] <= found["maximum_congestion"] <= 1144
    by_method = document("map", net, "--graph", graph, "--with-routing", "--method", "linear")
    assert by_method["mapping"] == linear
    assert by_method["maximum_congestion"] == found["maximum_congestion"]
    reported, routing = fl.map_with_routing(net, graph, mapping=linear, layers=1,
                                            engine_options={"slack": 0})
    assert routing.layers == 1
    congestion, _ = walked(fl.network(net), routing, graph, linear, slack=0)
    assert float(congestion) == pytest.approx(reported.maximum_congestion)
    # on this Slim Fly shortest paths are unique: nothing can be gained without detours
    assert reported.maximum_congestion == pytest.approx(2000)
    assert reported.routing_bound == pytest.approx(2000, rel=5e-3)


def test_a_ring_of_processes_on_two_paths() -> None:
    """Two processes on opposite switches of a square: with two addresses each path carries half."""
    graph = [[0, 100], [100, 0]]
    reported, _ = fl.map_with_routing("ring:n=4,p=1", graph, mapping=[0, 2], lmc=1)
    assert reported.maximum_congestion == pytest.approx(50)
    assert reported.routing_bound == pytest.approx(50, rel=0.02)
    alone, _ = fl.map_with_routing("ring:n=4,p=1", graph, lmc=0)
    assert alone.maximum_congestion == pytest.approx(100)


def test_the_same_question_has_the_same_answer() -> None:
    words = ("map", "torus:shape=4x4,p=2", "--graph", "stencil:shape=4x8,bytes=100",
             "--with-routing", "--seed", "7")
    first, second = document(*words), document(*words)
    for found in (first, second):
        found.pop("cpu_seconds")
    assert first == second


@pytest.mark.parametrize(("words", "says"), [
    (["--tables", "x"], "--tables: only of --with-routing"),
    (["--mapping", "x"], "--mapping: only of --with-routing"),
    (["--with-routing", "--engine", "dfsssp"], "--engine dfsssp"),
    (["--with-routing", "--objective", "hops"], "--objective hops"),
    (["--with-routing", "--option", "slack=-1"], "slack"),
    (["--with-routing", "--option", "flows=3"], "flows"),
    (["--with-routing", "--option", "nonsense=3"], "nonsense"),
    (["--with-routing", "--lmc", "8"], "lmc"),
    (["--with-routing", "--hops-limit", "-1"], "hops_limit"),
    (["--with-routing", "--mapping", "missing"], "missing"),
])
def test_bad_requests_are_refused(words: list[str], says: str) -> None:
    done = flyloom("map", "ring:n=4,p=1", "--graph", "stencil:shape=4,bytes=10", *words)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_a_mapping_that_does_not_fit_is_refused() -> None:
    graph = [[0, 100], [100, 0]]
    for places, says in (([0], "1 places for 2"), ([0, 9], "9"), ([1, 1], "no free slot")):
        with pytest.raises(fl.RefusalError, match=says):
            fl.map_with_routing("ring:n=4,p=1", graph, mapping=places)


@needs_fabric
def test_the_tables_are_loaded_and_read_back() -> None:
    net, graph = "hyperx:shape=4x4,p=4", "stencil:shape=8x8,bytes=100"
    _, routing = fl.map_with_routing(net, graph, effort="fast")
    assert routing.layers > 1
    found = fl.deploy(routing, topology=fl.network(net), oracle=True)
    wrong = (found.differing_entries, found.differing_sl_entries, found.differing_sl2vl_entries)
    assert wrong == (0, 0, 0), found.differences
    assert found.deadlock_free
