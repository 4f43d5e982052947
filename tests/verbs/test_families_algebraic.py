"""The algebraic families against constructions with networkx, galois and numpy, and by formula."""

from __future__ import annotations

import itertools
from collections import Counter

import flyloom as fl
import networkx as nx
import numpy as np
import oracle_graphs as oracle
import pytest


def named(topology: fl.Topology) -> nx.MultiGraph:
    """A flyloom network with its coordinates as names."""
    graph = fl.to_networkx(topology)
    return nx.relabel_nodes(graph, {v: tuple(c) for v, c in graph.nodes(data="coordinates")})


def assert_same(topology: fl.Topology, wanted: nx.Graph, p: int) -> None:
    """Checks switches, links and p endpoints on each; promise and measures fit the oracle."""
    found = named(topology)
    assert dict(found.nodes(data="endpoints")) == dict.fromkeys(wanted, p)
    assert oracle.edge_bag(found) == oracle.edge_bag(wanted)
    hops = oracle.distances(wanted)
    mean = hops.sum() / (len(hops) * (len(hops) - 1))
    said, measured = fl.promise(topology), fl.structure(topology)
    assert (said.switches, said.links) == (len(wanted), wanted.number_of_edges())
    assert said.network_radix == max(d for _, d in wanted.degree())
    assert measured.diameter == hops.max()
    assert said.diameter[0] <= hops.max() <= said.diameter[1]
    low, high = said.mean_distance
    assert low * (1 - 1e-14) <= mean <= high * (1 + 1e-14)


def exact(topology: fl.Topology) -> bool:
    """Whether diameter and mean distance are promised exactly."""
    said = fl.promise(topology)
    ends = (said.diameter, said.mean_distance)
    return all(low == high for low, high in ends)


def ceil(a: int, b: int) -> int:
    return -(-a // b)


@pytest.mark.parametrize("n", range(1, 8))
def test_hypercubes(n):
    cube = nx.hypercube_graph(n) if n > 1 else nx.Graph([((0,), (1,))])
    assert_same(fl.hypercube(n=n), cube, 1)
    if n > 1:
        folded = cube.copy()
        folded.add_edges_from((v, tuple(1 - x for x in v)) for v in cube)
        topology = fl.folded_hypercube(n=n)
        assert_same(topology, folded, ceil(n + 1, ceil(n, 2)))
        assert exact(topology)


def test_simple_graphs():
    for n in (2, 3, 9, 14):
        tuples = {v: (v,) for v in range(n)}
        complete = nx.relabel_nodes(nx.complete_graph(n), tuples)
        assert_same(fl.complete(n=n), complete, n - 1)
        ring = nx.relabel_nodes(nx.cycle_graph(n) if n > 2 else nx.path_graph(n), tuples)
        assert_same(fl.ring(n=n), ring, 1)
        star = nx.Graph(fl.to_networkx(fl.star(n=n)))
        assert nx.is_isomorphic(star, nx.star_graph(n))
    for arity, levels in [(2, 4), (3, 3), (5, 2), (4, 1)]:
        topology = fl.tree(arity=arity, levels=levels)
        tree = nx.Graph(fl.to_networkx(topology))
        assert nx.is_isomorphic(tree, nx.balanced_tree(arity, levels - 1))
        carriers = [v for v, p in tree.nodes(data="endpoints") if p]
        assert len(carriers) == arity ** (levels - 1)
        assert all(tree.degree(v) <= 1 for v in carriers)
        hops = oracle.distances(nx.MultiGraph(tree))
        places = [list(tree).index(v) for v in carriers]
        between = hops[np.ix_(places, places)]
        pairs = max(len(places) * (len(places) - 1), 1)
        assert fl.promise(topology).mean_distance[0] == pytest.approx(between.sum() / pairs)


def polarity(q: int) -> nx.Graph:
    """Points of the projective plane over GF(q); loops mark the quadrics."""
    gf = oracle.field(q)
    points = [(1, y, z) for y in range(q) for z in range(q)]
    points += [(0, 1, z) for z in range(q)] + [(0, 0, 1)]
    vectors = gf(points)
    dots = np.asarray(vectors @ vectors.T)
    graph = nx.Graph()
    graph.add_nodes_from(points)
    graph.add_edges_from((points[i], points[j]) for i, j in np.argwhere(dots == 0))
    return graph


def without_loops(graph: nx.Graph) -> nx.Graph:
    graph = graph.copy()
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    return graph


@pytest.mark.parametrize("q", [2, 3, 4, 5, 7, 8, 9, 11, 13])
def test_polar_fly_is_the_polarity_graph(q):
    plain = without_loops(polarity(q))
    topology = fl.polar_fly(q=q)
    assert_same(topology, plain, ceil(q + 1, 2))
    assert exact(topology)
    # Erdos & Renyi: with loops A^2 = J + q I, so that the other eigenvalues are +- sqrt(q)
    looped = nx.to_numpy_array(polarity(q))
    assert (looped @ looped == np.ones_like(looped) + q * np.eye(len(looped))).all()


def star_product(structure: nx.Graph, order: int) -> nx.Graph:
    """Paley graphs in the place of nodes, which are in order; loops become links along f."""
    gf = oracle.field(order)
    squares = {int(x) for x in gf(np.arange(1, order)) ** 2}
    minus = np.asarray(gf(np.arange(order))[:, None] - gf(np.arange(order))[None, :])
    turned = np.asarray(gf(np.arange(order)) * gf.primitive_element)
    graph = nx.Graph()
    place = {v: i for i, v in enumerate(structure)}
    for v in structure:
        graph.add_nodes_from((*v, x) for x in range(order))
        paley = itertools.combinations(range(order), 2)
        graph.add_edges_from(((*v, x), (*v, y)) for x, y in paley if int(minus[x, y]) in squares)
    for u, v in structure.edges:
        u, v = sorted((u, v), key=place.__getitem__)
        for x in range(order):
            if (*u, x) != (*v, int(turned[x])):
                graph.add_edge((*u, x), (*v, int(turned[x])))
    return graph


@pytest.mark.parametrize(("q", "order"), [(2, 5), (3, 9), (4, 13), (5, 5), (7, 5), (8, 5), (3, 25)])
def test_polarstar_is_the_star_product(q, order):
    topology = fl.polarstar(q=q, paley=order)
    assert_same(topology, star_product(polarity(q), order), ceil(q + 1 + (order - 1) // 2, 3))
    assert exact(topology)
    assert fl.structure(topology).diameter == 3


@pytest.mark.parametrize(("q", "d"), [(2, 3), (3, 4), (4, 3), (5, 7), (7, 4), (3, 8), (4, 11)])
def test_polarstar_with_inductive_quads(q, d):
    """Supernodes joined by one involution along every link and loop of the polarity graph."""
    topology = fl.polarstar(q=q, iq=d)
    graph = nx.Graph(named(topology))
    assert len(graph) == (q * q + q + 1) * (2 * d + 2)
    assert set(dict(graph.degree).values()) == {q + 1 + d}
    between = {frozenset((v[:3], w[:3])) for v, w in graph.edges if v[:3] != w[:3]}
    assert between == {frozenset(e) for e in without_loops(polarity(q)).edges}
    assert {w[3] for v, w in graph.edges if v[:3] != w[:3] and v[3] == 0} == {1}
    hops = oracle.distances(nx.MultiGraph(graph))
    mean = hops.sum() / (len(hops) * (len(hops) - 1))
    said = fl.promise(topology)
    assert hops.max() == 3
    assert tuple(said.diameter) == (3, 3)
    assert said.mean_distance == pytest.approx((mean, mean), rel=1e-14)


@pytest.mark.parametrize(
    ("q", "order"),
    [(3, 5), (4, 5), (5, 5), (4, 9), (5, 9), (7, 5), (8, 5), (9, 5), (5, 13), (11, 9)],
)
def test_bundlefly_is_the_star_product(q, order):
    topology = fl.bundlefly(q=q, paley=order)
    mms = nx.Graph(oracle.slim_fly(q, 0))
    ordered = nx.Graph()
    ordered.add_nodes_from(sorted(mms))
    ordered.add_edges_from(mms.edges)
    radix = (3 * q - oracle.delta(q)) // 2 + (order - 1) // 2
    assert_same(topology, star_product(ordered, order), ceil(radix, 3))
    assert exact(topology)
    assert fl.structure(topology).diameter == 3


@pytest.mark.parametrize("u", [3, 5, 7, 9])
def test_bdf_is_a_star_product_over_the_polarity_graph(u):
    """One perfect matching by one involution for every link of the polarity graph; diameter 3."""
    topology = fl.bdf(u=u)
    graph = nx.Graph(named(topology))
    hops = oracle.distances(nx.MultiGraph(graph))
    k = 3 * (u + 1) // 2
    assert 27 * len(graph) == 8 * k**3 - 12 * k**2 + 18 * k
    assert (fl.promise(topology).network_radix, hops.max()) == (k, 3)
    between = Counter((v[:3], w[:3]) for v, w in graph.edges if v[:3] != w[:3])
    both = {frozenset(pair): 0 for pair in between}
    for pair, count in between.items():
        both[frozenset(pair)] += count
    assert set(both) == {frozenset(e) for e in without_loops(polarity(u)).edges}
    assert set(both.values()) == {u + 1}
    # the involution is the same everywhere, and the graphs inside are the same
    exchanged = {frozenset((v[3], w[3])) for v, w in graph.edges if v[:3] != w[:3]}
    assert len(exchanged) == (u + 1) // 2
    inside = {v[:3]: set() for v in graph}
    for v, w in graph.edges:
        if v[:3] == w[:3]:
            inside[v[:3]].add(frozenset((v[3], w[3])))
    assert len({frozenset(links) for links in inside.values()}) == 1
    mean = hops.sum() / (len(hops) * (len(hops) - 1))
    assert fl.promise(topology).mean_distance == pytest.approx((mean, mean), rel=1e-14)


@pytest.mark.parametrize("q", [2, 8])
def test_delorme_is_a_polarity_graph_of_a_generalized_quadrangle(q):
    """With loops A^2 is the collinearity of GQ(q, q), a strongly regular graph with its numbers."""
    graph = nx.Graph(named(fl.delorme(q=q)))
    a = nx.to_numpy_array(graph)
    a += np.diag((a.sum(axis=1) == q).astype(float))
    assert (a.sum(axis=1) == q + 1).all()
    assert np.trace(a) == q * q + 1
    collinear = a @ a - (q + 1) * np.eye(len(a))
    assert set(np.unique(collinear)) == {0.0, 1.0}
    n = (q + 1) * (q * q + 1)
    assert len(a) == n
    other = np.ones((n, n)) - np.eye(n) - collinear
    expected = q * (q + 1) * np.eye(n) + (q - 1) * collinear + (q + 1) * other
    assert (collinear @ collinear == expected).all()
    assert fl.structure(fl.delorme(q=q)).diameter == 3
    assert exact(fl.delorme(q=q))


def galaxy(n: int, q: int) -> nx.Graph:
    """The galaxy graph; the set X is read off the MMS graph of networkx and galois."""
    gf = oracle.field(q)
    mms = oracle.slim_fly(q, 0)
    graph = nx.Graph()
    graph.add_nodes_from((i, s, 0) for i in range(n) for s in range(q))
    for i in range(n):
        inside = mms.subgraph((0, 0, s) for s in range(q)).edges()
        graph.add_edges_from(((i, a[2], 0), (i, b[2], 0)) for a, b in inside)
    turned = np.asarray(gf(np.arange(q)) * gf.primitive_element)
    for i, j in itertools.combinations(range(n), 2):
        graph.add_edges_from(((i, int(turned[s]), 0), (j, s, 0)) for s in range(q))
    return graph


@pytest.mark.parametrize(
    ("n", "q"),
    [(1, 5), (3, 3), (6, 3), (4, 4), (9, 4), (5, 5), (11, 5), (4, 7), (3, 8), (5, 9), (2, 11)],
)
def test_galaxyfly_is_the_galaxy_graph(n, q):
    topology = fl.galaxyfly(n=n, q=q)
    radix = n - 1 + (q - oracle.delta(q)) // 2
    assert_same(topology, galaxy(n, q), ceil(radix, 2))
    assert exact(topology)
    assert fl.structure(topology).diameter == 2


@pytest.mark.parametrize(
    ("n", "q", "a", "h"), [(3, 5, 2, 2), (4, 3, 3, 2), (2, 4, 4, 1), (6, 5, 4, 4)]
)
def test_groups_of_galaxyfly_are_the_galaxy_graph_with_even_links(n, q, a, h):
    graph = named(fl.galaxyfly(n=n, q=q, a=a, h=h))
    wanted = galaxy(n, q)
    between = Counter(frozenset((v[:2], w[:2])) for v, w in graph.edges() if v[:2] != w[:2])
    assert set(between) == {frozenset((v[:2], w[:2])) for v, w in wanted.edges}
    linked = n - 1 + (q - oracle.delta(q)) // 2
    assert set(between.values()) == {a * h // linked}
    for v in graph:
        outward = [w for w in graph[v] if w[:2] != v[:2]]
        assert sum(graph.number_of_edges(v, w) for w in outward) <= h
        assert {(*v[:2], r) for r in range(a)} - {v} <= set(graph[v])


def words(letters: int, n: int, kautz: bool) -> nx.Graph:
    """Words of n letters, linked when dropping the first and the last letter leaves the same."""
    every = itertools.product(range(letters), repeat=n)
    kept = [w for w in every if not kautz or all(a != b for a, b in itertools.pairwise(w))]
    graph = nx.Graph()
    graph.add_nodes_from(kept)
    pairs = itertools.permutations(kept, 2)
    graph.add_edges_from((u, v) for u, v in pairs if u[1:] == v[:-1])
    return graph


@pytest.mark.parametrize(
    ("d", "n"), [(2, 1), (2, 2), (2, 3), (2, 6), (3, 1), (3, 2), (3, 4), (5, 2)]
)
def test_de_bruijn_and_kautz_are_words(d, n):
    radix = {1: d - 1, 2: 2 * d - 1}.get(n, 2 * d)
    assert_same(fl.de_bruijn(d=d, n=n), words(d, n, kautz=False), max(ceil(radix, n), 1))
    radix = {1: d, 2: 2 * d - 1}.get(n, 2 * d)
    topology = fl.kautz(d=d, n=n)
    assert_same(topology, words(d + 1, n, kautz=True), ceil(radix, n))
    assert fl.structure(topology).diameter == n


LONG_HOPS = [
    (4, "8-4-4"), (4, "15-4-8"), (5, "16-5-8"), (6, "18-6-8"), (7, "15-7-5"), (8, "20-8-8"),
    (8, "29-8-12"), (9, "55-9-22"),
]


@pytest.mark.parametrize(("n", "code"), LONG_HOPS)
def test_long_hop_has_the_bisection_of_its_code(n, code):
    """Eigenvalues of the Cayley graph are m - 2 w over the code words: the second has w = d."""
    m, _, d = map(int, code.split("-"))
    topology = fl.long_hop(n=n, code=code, p=1)
    a = nx.to_numpy_array(nx.Graph(fl.to_networkx(topology)))
    assert (a.sum(axis=1) == m).all()
    assert np.linalg.eigvalsh(a)[-2] == pytest.approx(m - 2 * d)
    # the cut along some coordinate-free half, the least word, attains d 2^(n-1)
    words = np.arange(2**n)
    columns = [v for v in range(2**n) if a[0, v]]
    sides = [np.array([(w & x).bit_count() % 2 for x in words]) for w in range(1, 2**n)]
    cuts = [sum(side[c] for c in columns) * 2 ** (n - 1) for side in sides]
    assert min(cuts) == d * 2 ** (n - 1)
    assert exact(topology)


@pytest.mark.parametrize(
    ("length", "dimension", "n", "code", "extended"),
    [
        (15, 7, 7, "15-7-5", False), (31, 16, 13, "29-13-8", True),
        (31, 11, 9, "30-9-12", True), (63, 18, 9, "55-9-22", True),
        (63, 10, 10, "64-10-28", True), (63, 24, 12, "52-12-16", True),
    ],
)
def test_long_hops_are_columns_of_bch_codes(length, dimension, n, code, extended):
    import galois  # it takes a second, in each process that finds tests

    rows = np.asarray(galois.BCH(length, dimension).G)[dimension - n:, dimension - n:]
    if extended:
        rows = np.hstack([rows, rows.sum(axis=1, keepdims=True) % 2])
    columns = {int("".join(map(str, column)), 2) for column in rows.T}
    topology = fl.long_hop(n=n, code=code, p=0)
    edges = np.asarray(topology.edges)
    found = {int(b) for a, b in edges if a == 0} | {int(a) for a, b in edges if b == 0}
    assert found == columns
