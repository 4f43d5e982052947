"""Routing engines and verdicts against routes followed one by one in Python and networkx."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
from collections import Counter
from functools import cache

import flyloom as fl
import networkx as nx
import numpy as np
import pytest
from flyloom import RefusalError, Topology
from oracle_routes import Routes, TableFile, Wires

ENGINES = ["dfsssp", "min_hop", "sssp"]


def lopsided() -> Topology:
    """A random multigraph; some switches carry no endpoint, the others one or two."""
    graph = nx.MultiGraph(nx.connected_watts_strogatz_graph(20, 4, 0.4, seed=5))
    graph.add_edges_from(list(graph.edges())[:7])
    nx.set_node_attributes(graph, {v: v % 3 for v in graph}, "endpoints")
    return fl.from_networkx(graph)


NETWORKS = {
    "slim_fly_3": lambda: fl.slim_fly(q=3), "slim_fly_4": lambda: fl.slim_fly(q=4, p=1),
    "slim_fly_5": lambda: fl.slim_fly(q=5, p=2), "fat_tree": lambda: fl.fat_tree(
        leaves=6, spines=3, parallel=2, p=3), "fat_tree_3": lambda: fl.fat_tree(levels=3, k=4),
    "dragonfly": lambda: fl.dragonfly(h=2, p=1), "hyperx": lambda: fl.hyperx(
        shape=[3, 4], k=[2, 1], p=2), "torus": lambda: fl.torus(shape=[4, 5]),
    "mesh": lambda: fl.mesh(shape=[3, 3, 2]), "ring": lambda: fl.torus(shape=[7], p=2),
    "lopsided": lopsided, "two": lambda: fl.mesh(shape=[2], p=3),
}
CASES = [(n, e, lmc) for n in NETWORKS for e in ENGINES for lmc in (0, 1, 2)]


@cache
def routed(name: str, engine: str, lmc: int):
    """Network, routing, followed routes and table file of a case."""
    topology = NETWORKS[name]()
    routing = fl.route(topology, engine, lmc=lmc)
    return topology, routing, Routes(routing, Wires(topology)), TableFile(routing, topology)


@pytest.mark.parametrize(("name", "engine", "lmc"), CASES)
def test_every_route_arrives_by_a_shortest_path(name, engine, lmc):
    topology, routing, routes, table = routed(name, engine, lmc)
    distance = dict(nx.all_pairs_shortest_path_length(routes.wires.graph()))
    hops = Counter()
    for (layer, s, t), channels in routes.all.items():
        home = routes.wires.home[t][0]
        assert len(channels) == distance[s][home]
        if s != home:
            hops[len(channels)] += 1
        names = routing.path(routes.wires.home.index((s, _port(routes, s))), t, layer)
        assert names[0] == s and names[-1] == home and len(names) == len(channels) + 1
    found = fl.verify(routing)
    assert found.complete.holds
    assert found.complete.routes == len(routes.all)
    assert found.complete.hop_histogram == [hops[h] for h in range(max(hops) + 1)]
    mean = sum(h * n for h, n in hops.items()) / sum(hops.values())
    assert found.complete.mean_hops == pytest.approx(mean, rel=1e-12)
    assert found.complete.max_hops == max(hops)

    for layer, t in itertools.product(range(routing.layers), range(topology.terminals)):
        ports = routing.next[layer, t]
        for s in range(topology.switches):
            assert table.lft[s].get(table.lid(t, layer), 65535) == ports[s]
    for s, d in itertools.product(range(topology.switches), repeat=2):
        at, steps, lid = s, 0, table.names["switch_lid"][d]
        while at != d:
            at, steps = routes.wires.to[at, table.lft[at][lid]][0], steps + 1
        assert table.lft[d][lid] == 0 and steps == distance[s][d]


def _port(routes: Routes, switch: int) -> int:
    return next(p for s, p in routes.wires.home if s == switch)


@pytest.mark.parametrize(("name", "engine", "lmc"), CASES)
def test_deadlock_verdict_is_that_of_networkx(name, engine, lmc):
    _, routing, routes, table = routed(name, engine, lmc)
    graph = routes.dependencies(table.lane)
    found = fl.verify(routing).deadlock
    assert found.holds == nx.is_directed_acyclic_graph(graph)
    assert {lane for _, lane in graph} <= set(range(routing.lanes))
    if engine == "dfsssp":
        assert found.holds
    if found.holds:
        assert found.rechecked
        assert found.dependencies == graph.number_of_edges()
    else:
        check_cycle(found.to_dict(), routing, routes, table)


@pytest.mark.parametrize("name", ["slim_fly_3", "slim_fly_5", "hyperx", "dragonfly", "torus"])
@pytest.mark.parametrize("lmc", [0, 2])
def test_layered_routes_arrive_without_deadlock(name, lmc):
    """First layer shortest paths; all layers arrive, and the lanes that are loaded have no
    cycle."""
    topology = NETWORKS[name]()
    routing = fl.route(topology, "layered", lmc=lmc, max_lanes=15)
    routes, table = Routes(routing, Wires(topology)), TableFile(routing, topology)
    distance = dict(nx.all_pairs_shortest_path_length(routes.wires.graph()))
    for (layer, s, t), channels in routes.all.items():
        assert layer or len(channels) == distance[s][routes.wires.home[t][0]]
    graph = routes.dependencies(table.lane)
    found = fl.verify(routing)
    assert found.holds and found.deadlock.dependencies == graph.number_of_edges()
    assert nx.is_directed_acyclic_graph(graph)
    assert {lane for _, lane in graph} <= set(range(routing.lanes))
    np.testing.assert_array_equal(routing.channel_loads(), routes.loads())


def check_cycle(found: dict, routing, routes: Routes, table: TableFile) -> None:
    """Each wait holds its channel and wants the next one, on the route that is named."""
    names = routes.wires.topology.switch_names
    hosts = routes.wires.topology.endpoint_names
    held = []
    for wait in found["cycle"]:
        s = names.index(wait["from"])
        head, channel = routes.wires.to[s, wait["port"]]
        assert names[head] == wait["to"]
        held.append((channel, wait["lane"]))
    assert len(held) >= 2 and len(set(held)) == len(held)
    for wait, (here, wanted) in zip(
        found["cycle"], itertools.pairwise([*held, held[0]]), strict=True
    ):
        reported = re.fullmatch(r"route (\S+) to (\S+?)(?:, layer (\d+))?", wait["route"])
        source, target = hosts.index(reported[1]), hosts.index(reported[2])
        layer = int(reported[3] or 0)
        s = routes.wires.home[source][0]
        lane = table.lane(layer, s, target)
        assert here[1] == wanted[1] == lane
        channels = routes.all[layer, s, target]
        assert (here[0], wanted[0]) in itertools.pairwise(channels)


def test_some_tables_can_deadlock_and_some_cannot():
    """Rings have cycles with one lane (Dally and Seitz), trees never do."""
    for engine in ("min_hop", "sssp"):
        assert not fl.verify(fl.route("torus:shape=7", engine)).holds
        assert not fl.verify(fl.route("slim_fly:q=5,p=4", engine)).holds
        assert fl.verify(fl.route("fat_tree:leaves=6,spines=3,p=2", engine)).holds
        assert fl.verify(fl.route("mesh:shape=9", engine)).holds
    assert fl.route("mesh:shape=9", "dfsssp").lanes == 1
    assert fl.route("slim_fly:q=5,p=4", "dfsssp").lanes == 2


@pytest.mark.parametrize(("name", "engine", "lmc"), [c for c in CASES if c[2] != 1])
def test_loads_are_those_of_a_slow_count(name, engine, lmc):
    _, routing, routes, _ = routed(name, engine, lmc)
    slow = routes.loads()
    np.testing.assert_array_equal(routing.channel_loads(), slow)
    found = fl.edge_load(routing)
    assert found.edge_forwarding_index == slow.max()
    assert found.hops == slow.sum()
    assert found.lower_bound == -(-slow.sum() // len(slow))
    assert dict(found.histogram) == dict(Counter(slow.tolist()))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("lmc", [0, 2])
def test_forwarding_index_of_the_deployed_slim_fly_is_its_formula(engine, lmc):
    """Shortest paths of the Hoffman-Singleton graph are unique: p^2 (3 q - 2) on a channel."""
    found = fl.edge_load(fl.route("slim_fly:q=5,p=4", engine, lmc=lmc))
    assert found.edge_forwarding_index == 2**lmc * 4**2 * (3 * 5 - 2)


@pytest.mark.parametrize("seed", range(12))
def test_failures_are_routed_around_or_refused(seed):
    rng = np.random.default_rng(seed)
    whole = [fl.slim_fly(q=5, p=2), fl.torus(shape=[4, 4]), fl.fat_tree(levels=3, k=4)][seed % 3]
    links = rng.choice(whole.links, size=int(rng.integers(1, 10)), replace=False)
    switches = rng.choice(whole.switches, size=int(rng.integers(0, 4)), replace=False)
    hurt = whole.with_failures(links.tolist(), switches.tolist())
    wires, dead = Wires(hurt), frozenset(switches.tolist())
    graph = wires.graph()
    graph.remove_nodes_from(dead)
    for engine in ENGINES:
        if not nx.is_strongly_connected(graph):
            with pytest.raises(RefusalError, match="disconnected"):
                fl.route(hurt, engine)
            continue
        routing = fl.route(hurt, engine, lmc=1)
        routes = Routes(routing, wires, dead)
        found = fl.verify(routing)
        assert found.complete.holds and found.management.holds
        dag = nx.is_directed_acyclic_graph(routes.dependencies(TableFile(routing, hurt).lane))
        assert found.deadlock.holds == dag
        assert dag or engine != "dfsssp"
        np.testing.assert_array_equal(routing.channel_loads(), routes.loads())


def test_verdicts_on_broken_tables(tmp_path):
    """Tables with one entry changed by hand: each fault is found and named."""
    topology = fl.torus(shape=[3, 3])
    routing = fl.route(topology, "min_hop")
    text = routing.table_text()
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("lft"))
    words = lines[first].split()
    lid_of_9 = 3 + 9 - 1  # words: lft, guid, first lid 1, then a port for each lid
    for port, fault in [("-", "no entry"), ("0", "itself|delivers|dead|somebody"),
                        ("1", "somebody else"), (words[lid_of_9], None)]:
        changed = [*words[:lid_of_9], port, *words[lid_of_9 + 1:]]
        broken = "\n".join([*lines[:first], " ".join(changed), *lines[first + 1:], ""])
        found = fl.verify(topology.read_tables(broken, "broken", 0))
        assert found.complete.holds == (fault is None)
        if fault:
            assert re.search(fault, found.complete.counterexample)
            assert found.deadlock is None and not found.holds


def test_more_lids_than_there_are_is_refused():
    """8 endpoints a switch of 98 with 2^7 LIDs each are more than 49,151."""
    with pytest.raises(RefusalError, match="49151"):
        fl.route("slim_fly:q=7,p=8", "min_hop", lmc=7)
    routing = fl.route("slim_fly:q=7,p=8", "min_hop", layers=128)
    for text in (routing.table_text, routing.lft_text):
        with pytest.raises(RefusalError, match="49151"):
            text()


def test_hop_limit_lanes_and_options_are_heeded():
    torus = fl.torus(shape=[5, 5])
    routing = fl.route(torus, "sssp")
    assert fl.verify(routing, hop_limit=4).complete.holds
    short = fl.verify(routing, hop_limit=3)
    assert not short.holds and "more than 3 hops" in short.complete.counterexample
    with pytest.raises(RefusalError, match="lanes"):
        fl.route(torus, "dfsssp", max_lanes=1)
    for bad in ({"max_lanes": 0}, {"max_lanes": 16}, {"lanes": 4}, {"max_lanes": "many"}):
        with pytest.raises(RefusalError):
            fl.route(torus, "dfsssp", **bad)
    for bad in ({"lmc": 8}, {"lmc": -1}, {"layers": 0}, {"layers": 129}, {"lmc": 1, "layers": 3}):
        with pytest.raises(RefusalError):
            fl.route(torus, "sssp", **bad)
    assert fl.route(torus, "sssp", layers=3).lmc == 2


SCRIPT = """
import hashlib, json, sys
import flyloom as fl
n = fl.slim_fly(q=7, p=3)
digest = hashlib.sha256(json.dumps(fl.structure(n, paths=True).to_dict()).encode())
for engine in ("dfsssp", "min_hop", "sssp"):
    r = fl.route(n, engine, lmc=1)
    digest.update(r.table_text().encode())
    digest.update(r.next.tobytes())
    digest.update(json.dumps(fl.verify(r).to_dict()).encode())
    digest.update(json.dumps(fl.ebb(r, samples=50, seed=3).to_dict()).encode())
    digest.update(r.channel_loads().tobytes())
print(digest.hexdigest())
"""


def test_results_do_not_depend_on_threads():
    digests = set()
    for threads in ("1", "2", "5"):
        environment = {**os.environ, "RAYON_NUM_THREADS": threads}
        done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, text=True,
                              capture_output=True, timeout=120, check=True)
        digests.add(done.stdout)
    assert len(digests) == 1 and len(digests.pop().strip()) == 64


def test_lists_of_failures_are_checked():
    torus = fl.torus(shape=[3, 3])
    for bad in ({"links": [18]}, {"switches": [9]}):
        with pytest.raises(RefusalError, match="0 to"):
            torus.with_failures(**bad)
    same = torus.with_failures()
    assert json.loads(same.to_text("json")) == json.loads(torus.to_text("json"))


def greedy_index(net: str) -> int:
    """The edge forwarding index of P-SSSP as published: each terminal's routes once, one after the
    other, the lightest of the shortest paths, the endpoints behind every hop added to its
    weight."""
    topology = fl.network(net)
    count, home = topology.switches, topology.attachments[:, 0].tolist()
    near: dict[int, list[int]] = {v: [] for v in range(count)}
    for a, b in topology.edges.tolist():
        near[a].append(b)
        near[b].append(a)
    carried = Counter()
    for to in home:
        hops, line = {to: 0}, [to]
        for v in line:
            for w in near[v]:
                if w not in hops:
                    hops[w] = hops[v] + 1
                    line.append(w)
        length, step = {to: 0}, {}
        for v in line[1:]:
            closer = [w for w in near[v] if hops[w] == hops[v] - 1]
            step[v] = min(closer, key=lambda w: (carried[v, w] + length[w], w))
            length[v] = carried[v, step[v]] + length[step[v]]
        behind = Counter(home)
        for v in reversed(line[1:]):
            carried[v, step[v]] += behind[v]
            behind[step[v]] += behind[v]
    return max(carried.values())


@pytest.mark.parametrize("net", ["torus:shape=4x4x4,p=1", "dragonfly:h=2", "slim_fly:q=7,p=2",
                                 "jellyfish:n=40,k=5,seed=1,p=2"])
def test_routes_taken_again_spread_better_than_those_taken_once(net):
    once = greedy_index(net)
    for engine in ("sssp", "dfsssp"):
        load = fl.edge_load(fl.route(net, engine))
        assert load.lower_bound <= load.edge_forwarding_index < once


def test_up_down_uses_every_root_of_a_tree_and_one_where_that_is_not_enough():
    tree = fl.network("fat_tree:leaves=12,spines=6,parallel=3,p=18")
    load = fl.edge_load(fl.route(tree, "up_down"))
    assert load.edge_forwarding_index == load.lower_bound
    # leaf 0 keeps only spine 0's cables, leaf 1 only those of spine 1: no spine has both
    link = tree.link_table
    ends = list(zip(link["a_switch"].tolist(), link["b_switch"].tolist(), strict=True))
    spines = sorted({s for pair in ends for s in pair if tree.levels[s]})
    kept = {0: spines[0], 1: spines[1]}
    gone = [i for i, pair in enumerate(ends)
            for leaf in set(pair) & set(kept) if kept[leaf] not in pair]
    broken = tree.with_failures(links=gone, switches=[])
    proof = fl.verify(fl.route(broken, "up_down"))
    assert proof.holds and proof.complete.max_hops == 4
    three = fl.route("fat_tree:levels=3,k=6", "up_down")
    assert fl.verify(three).holds and fl.verify(three).complete.max_hops == 4
