"""Every family against networkx and galois: the same graphs, distances, girths and formulae."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import flyloom as fl
import networkx as nx
import numpy as np
import oracle_graphs as oracle
import pytest
from flyloom import RefusalError

SLIM_FLIES = oracle.prime_powers(3, 27)


def named(topology: fl.Topology) -> nx.MultiGraph:
    """A flyloom network with its coordinates as names."""
    graph = fl.to_networkx(topology)
    return nx.relabel_nodes(graph, {v: tuple(c) for v, c in graph.nodes(data="coordinates")})


def assert_same(topology: fl.Topology, wanted: nx.MultiGraph) -> None:
    """The same switches, endpoints and links, switch for switch."""
    found = named(topology)
    assert dict(found.nodes(data="endpoints")) == dict(wanted.nodes(data="endpoints"))
    assert oracle.edge_bag(found) == oracle.edge_bag(wanted)


def test_endpoints_are_weighed_where_switches_carry_different_numbers():
    graph = nx.random_regular_graph(3, 14, seed=5)
    for node in graph:
        graph.nodes[node]["endpoints"] = node % 4
    found = fl.structure(fl.from_networkx(graph))
    hosts = [node for node in graph for _ in range(node % 4)]
    hops = dict(nx.all_pairs_shortest_path_length(graph))
    pairs = [hops[a][b] for i, a in enumerate(hosts) for j, b in enumerate(hosts) if i != j]
    assert found.mean_distance_endpoints == pytest.approx(sum(pairs) / len(pairs), rel=1e-14)
    assert found.mean_distance != pytest.approx(found.mean_distance_endpoints, rel=1e-3)


def assert_measured(topology: fl.Topology, wanted: nx.MultiGraph, girth: bool = True) -> None:
    """What `structure` measures is what scipy and networkx measure on the oracle's graph."""
    found = fl.structure(topology)
    hops = oracle.distances(wanted)
    ends = oracle.carriers(wanted)
    between = hops[np.ix_(ends, ends)][~np.eye(len(ends), dtype=bool)]
    assert found.switches == len(wanted)
    assert found.links == wanted.number_of_edges()
    assert found.endpoints == sum(n for _, n in wanted.nodes(data="endpoints"))
    assert found.network_radix == max(d for _, d in wanted.degree())
    assert found.diameter == between.max()
    assert found.mean_distance == pytest.approx(between.mean(), rel=1e-14)
    carried = np.array([n for _, n in wanted.nodes(data="endpoints")], dtype=float)
    pairs = carried.sum() * (carried.sum() - 1)
    if pairs:
        assert found.mean_distance_endpoints == pytest.approx(
            carried @ hops @ carried / pairs, rel=1e-13)
    else:
        assert found.mean_distance_endpoints is None
    assert found.histogram == np.bincount(between.astype(int)).tolist()
    assert found.diameter_all_switches == hops.max()
    everyone = hops.sum() / (len(hops) * (len(hops) - 1))
    assert found.mean_distance_all_switches == pytest.approx(everyone, rel=1e-14)
    assert found.unreachable == found.unreachable_all_switches == 0
    if girth:
        assert found.girth == oracle.girth(wanted)
    said = fl.promise(topology)
    assert (said.switches, said.endpoints, said.links) == (
        found.switches, found.endpoints, found.links,
    )
    assert said.network_radix == found.network_radix
    assert said.diameter[0] <= found.diameter <= said.diameter[1]
    low, high = said.mean_distance
    assert low * (1 - 1e-14) <= found.mean_distance <= high * (1 + 1e-14)


@pytest.mark.parametrize("q", SLIM_FLIES)
def test_slim_fly_is_the_mms_graph(q):
    p = -(-(3 * q - oracle.delta(q)) // 4)
    topology, wanted = fl.slim_fly(q=q), oracle.slim_fly(q, p)
    assert_same(topology, wanted)
    assert_measured(topology, wanted, girth=q <= 7)


@pytest.mark.parametrize("q", SLIM_FLIES)
def test_slim_fly_has_the_published_measures(q):
    """Counts, distances, girth and the second eigenvalue, by formula and from the papers."""
    found, d = fl.structure(fl.slim_fly(q=q, p=1)), oracle.delta(q)
    radix = (3 * q - d) // 2
    assert (found.switches, found.links) == (2 * q * q, q * q * radix)
    assert (found.network_radix, found.diameter) == (radix, 2)
    assert found.mean_distance == pytest.approx(2 - radix / (2 * q * q - 1), rel=1e-14)
    assert found.moore_fraction == pytest.approx(2 * q * q / (1 + radix**2), rel=1e-14)
    assert found.girth == {4: 4, 5: 5}.get(q, 3)  # q = 3: the groups are triangles
    if q <= 13:
        values = np.linalg.eigvalsh(fl.to_scipy(fl.slim_fly(q=q, p=1)).toarray().astype(float))
        assert values[-1] == pytest.approx(radix)
        assert values[-2] == pytest.approx((q - d) / 2)


def test_slim_fly_exists_for_every_prime_power_and_nothing_else():
    every = oracle.prime_powers(3, 128)
    assert len(every) == 43
    for q in range(65):
        if q not in every:
            with pytest.raises(RefusalError, match="nearest"):
                fl.slim_fly(q=q)
            continue
        topology = fl.slim_fly(q=q, p=1)
        radix = (3 * q - oracle.delta(q)) // 2
        assert topology.switches == topology.endpoints == 2 * q * q
        degrees = np.bincount(topology.edges.ravel(), minlength=2 * q * q)
        assert (degrees == radix).all(), q
        low, high = topology.edges.min(axis=1), topology.edges.max(axis=1)
        pairs = low.astype(np.int64) * (2 * q * q) + high
        assert len(np.unique(pairs)) == len(pairs) == q * q * radix, "no parallel links"
    largest = fl.slim_fly(q=128, p=1)
    assert (largest.switches, largest.links, largest.network_radix) == (32768, 3145728, 192)


def test_the_deployed_slim_fly_is_the_hoffman_singleton_graph():
    graph = nx.Graph(fl.to_networkx(fl.slim_fly(q=5, p=4)))
    assert nx.is_isomorphic(graph, nx.hoffman_singleton_graph())


DRAGONFLIES = [
    *[(h, 2 * h, h, 2 * h * h + 1, name) for h in (1, 2, 3)
      for name in ("absolute", "relative", "palmtree", "circulant")],
    (1, 3, 2, 4, "absolute"), (2, 4, 2, 5, "relative"), (1, 5, 3, 7, "circulant"),
    (3, 6, 2, 6, "palmtree"), (2, 4, 1, 2, "absolute"), (2, 3, 1, 1, "absolute"),
    (1, 1, 6, 7, "circulant"), (0, 4, 3, 10, "absolute"),
]


@pytest.mark.parametrize("given", DRAGONFLIES, ids=str)
def test_dragonfly_is_the_published_arrangement(given):
    p, a, h, g, arrangement = given
    topology = fl.dragonfly(p=p, a=a, h=h, g=g, arrangement=arrangement)
    wanted = oracle.dragonfly(*given)
    assert_same(topology, wanted)
    assert_measured(topology, wanted)


def test_dragonfly_has_the_published_mean_distances():
    """Exact mean distances of the four arrangements with h = 4, and of h = 2."""
    published = {
        "absolute": Fraction(7793, 2893), "relative": Fraction(1413, 526),
        "palmtree": Fraction(1413, 526), "circulant": Fraction(704, 263),
    }
    for name, mean in published.items():
        found = fl.structure(fl.dragonfly(h=4, arrangement=name))
        assert found.mean_distance == pytest.approx(float(mean), rel=1e-14), name
        assert (found.switches, found.endpoints, found.diameter) == (264, 1056, 3)
    found = fl.structure(fl.dragonfly(h=2))
    assert found.mean_distance == pytest.approx(247 / 105, rel=1e-14)


@pytest.mark.parametrize(("shape", "k", "p"), [
    ([4], [1], 4), ([3, 4], [1, 1], 3), ([2, 3, 4], [1, 1, 1], 2), ([4, 4], [1, 2], 4),
    ([2, 2, 2, 2], [3, 3, 3, 3], 1), ([5, 3], [2, 1], 0), ([1, 4], [1, 1], 2),
])
def test_hyperx_is_a_product_of_complete_graphs(shape, k, p):
    topology, wanted = fl.hyperx(shape=shape, k=k, p=p), oracle.hyperx(shape, k, p)
    assert_same(topology, wanted)
    assert_measured(topology, wanted)
    switches = int(np.prod(shape))
    mean = sum(1 - 1 / s for s in shape) * switches / (switches - 1)  # Ahn et al.
    assert fl.structure(topology).mean_distance == pytest.approx(mean, rel=1e-14)


@pytest.mark.parametrize("shape", [[5], [4, 4], [3, 5], [2, 3, 4], [2, 2, 2, 2], [1, 6], [3, 3, 3]])
@pytest.mark.parametrize("periodic", [True, False])
def test_torus_and_mesh_are_the_grids_of_networkx(shape, periodic):
    family = fl.torus if periodic else fl.mesh
    topology, wanted = family(shape=shape, p=2), oracle.grid(shape, 2, periodic)
    assert_same(topology, wanted)
    assert_measured(topology, wanted)
    n = int(np.prod(shape))
    if periodic:
        per_row = [(s * s - s % 2) / (4 * s) for s in shape]
    else:
        per_row = [(s * s - 1) / (3 * s) for s in shape]
    mean = sum(per_row) * n / (n - 1)
    assert fl.structure(topology).mean_distance == pytest.approx(mean, rel=1e-14)


@pytest.mark.parametrize("given", [(12, 6, 3, 18), (2, 1, 1, 1), (3, 5, 1, 4), (4, 2, 2, 8)])
def test_two_level_fat_tree_is_complete_bipartite(given):
    leaves, spines, parallel, p = given
    topology = fl.fat_tree(leaves=leaves, spines=spines, parallel=parallel, p=p)
    wanted = oracle.fat_tree_2(*given)
    assert_same(topology, wanted)
    assert_measured(topology, wanted)
    assert topology.levels.tolist() == [0] * leaves + [1] * spines


@pytest.mark.parametrize("k", [4, 6, 8, 12])
def test_three_level_fat_tree_is_that_of_al_fares(k):
    topology, wanted = fl.fat_tree(levels=3, k=k), oracle.fat_tree_3(k)
    assert_same(topology, wanted)
    assert_measured(topology, wanted)
    found = fl.structure(topology)
    assert (found.switches, found.endpoints) == (5 * k * k // 4, k**3 // 4)
    assert (found.links, found.diameter) == (k**3 // 2, 4)
    if k == 8:
        assert found.mean_distance == pytest.approx(118 / 31, rel=1e-14)


def test_two_levels_of_k_port_switches_and_oversubscription():
    """k leaves, k/2 spines; r:1 has r k/(r+1) down and k/(r+1) up."""
    plain = fl.fat_tree(k=8)
    assert (plain.switches, plain.endpoints, plain.links) == (8 + 4, 32, 32)
    tapered = fl.fat_tree(k=12, oversubscription=3)
    assert (tapered.switches, tapered.endpoints, tapered.links) == (12 + 3, 12 * 9, 36)


@pytest.mark.parametrize("inline", [
    "slim_fly:q=4,p=1", "slim_fly:q=7,p=1", "hyperx:shape=3x3,k=2,p=1", "torus:shape=4x4",
    "mesh:shape=3x4", "fat_tree:leaves=4,spines=3,parallel=2,p=2", "fat_tree:levels=3,k=4",
    "dragonfly:h=2",
])
def test_minimal_paths_are_counted_as_walks(inline):
    topology = fl.network(inline)
    found = fl.structure(topology, paths=True).minimal_paths
    counts = oracle.path_counts(fl.to_networkx(topology))
    assert {int(c): n for c, n in found.histogram.to_dict().items()} == dict(counts)
    assert (found.min, found.max) == (min(counts), max(counts))
    assert found.pairs == sum(counts.values())


def test_small_members_are_isomorphic_whatever_they_are_called():
    """Networks that are the same graph under different names."""
    def graph(inline):
        return nx.Graph(fl.to_networkx(fl.network(inline)))

    same = [
        ("hyperx:shape=2x2x2", nx.hypercube_graph(3)), ("torus:shape=2x2x2", nx.hypercube_graph(3)),
        ("mesh:shape=2x2x2", nx.hypercube_graph(3)), ("torus:shape=4x4", nx.hypercube_graph(4)),
        ("dragonfly:p=1,a=4,h=1,g=1", nx.complete_graph(4)), ("torus:shape=9", nx.cycle_graph(9)),
        ("mesh:shape=9", nx.path_graph(9)), ("dragonfly:a=1,h=6", nx.complete_graph(7)),
        ("fat_tree:leaves=3,spines=4,p=1", nx.complete_bipartite_graph(3, 4)),
    ]
    for inline, wanted in same:
        assert nx.is_isomorphic(graph(inline), wanted), inline
    pairs = itertools.combinations(["relative", "palmtree"], 2)
    for a, b in pairs:
        x, y = (graph(f"dragonfly:h=2,arrangement={name}") for name in (a, b))
        assert nx.is_isomorphic(x, y)


@pytest.mark.parametrize("seed", range(6))
def test_structure_of_any_graph_is_that_of_networkx(seed):
    """Random multigraphs, some disconnected, some switches without endpoints."""
    rng = np.random.default_rng(seed)
    graph = nx.MultiGraph(nx.gnm_random_graph(30, int(rng.integers(15, 80)), seed=seed))
    graph.add_edges_from(list(graph.edges())[: seed % 3])
    nx.set_node_attributes(graph, {v: int(rng.integers(0, 3)) for v in graph}, "endpoints")
    found = fl.structure(graph)
    hops, ends = oracle.distances(graph), oracle.carriers(graph)
    between = hops[np.ix_(ends, ends)][~np.eye(len(ends), dtype=bool)]
    reached = between[np.isfinite(between)]
    assert found.histogram == np.bincount(reached.astype(int)).tolist()
    assert found.unreachable == len(between) - len(reached)
    assert found.diameter == reached.max()
    assert found.girth == oracle.girth(graph)
    assert found.mean_distance == pytest.approx(reached.mean())
    assert Counter(d for _, d in graph.degree()) == Counter(
        np.bincount(fl.network(graph).edges.ravel(), minlength=30).tolist()
    )
