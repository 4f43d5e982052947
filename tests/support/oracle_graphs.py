"""Networks built from their published definitions with networkx and galois, without flyloom.

Nodes are switches; a node's name is its coordinates, which flyloom's switches carry too, so that
graphs can be compared edge for edge as well as up to isomorphism. ``endpoints`` is a node
attribute; parallel links are parallel edges.
"""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
import scipy.sparse.csgraph

if TYPE_CHECKING:
    import galois


def prime_powers(low: int, high: int) -> list[int]:
    """Orders of Slim Flies from ``low`` to ``high``: prime powers but 2."""
    primes = [p for p in range(2, high + 1) if all(p % d for d in range(2, p))]
    return [q for q in range(max(low, 3), high + 1) if sum(q % p == 0 for p in primes) == 1]


def delta(q: int) -> int:
    """The d of q = 4 w + d."""
    return {0: 0, 1: 1, 3: -1}[q % 4]


def field(q: int) -> type[galois.FieldArray]:
    """GF(q) by its least irreducible polynomial and least primitive element."""
    import galois  # importing it takes a second

    ((p, n),) = zip(*galois.factors(q), strict=True)
    slow = {"compile": "python-calculate"}  # quicker than compiling for a few thousand products
    if n == 1:
        return galois.GF(p, primitive_element=galois.primitive_root(p, method="min"), **slow)
    polynomial = galois.irreducible_poly(p, n, method="min")
    least = galois.primitive_element(polynomial, method="min")
    return galois.GF(p, n, irreducible_poly=polynomial, primitive_element=least, **slow)


def slim_fly(q: int, p: int) -> nx.MultiGraph:
    """The MMS graph of McKay, Miller and Siran with the generator sets of Hafner (2004)."""
    gf = field(q)
    powers = [int(x) for x in gf.primitive_element ** np.arange(q - 1)]
    w, d = (q - delta(q)) // 4, delta(q)
    if d == -1:
        even = [*range(0, 2 * w - 1, 2), *range(2 * w - 1, 4 * w - 2, 2)]
        odd = [*range(1, 2 * w, 2), *range(2 * w, 4 * w - 1, 2)]
    else:
        even = list(range(0, q - 1, 2))
        odd = list(range(1, q if d == 0 else q - 1, 2))
    generators = [{powers[e % (q - 1)] for e in exponents} for exponents in (even, odd)]
    graph = nx.MultiGraph()
    everything = gf(np.arange(q))
    minus = np.asarray(everything[:, None] - everything[None, :])
    times = np.asarray(everything[:, None] * everything[None, :])
    plus = np.asarray(everything[:, None] + everything[None, :])
    for s, a, b in itertools.product(range(2), range(q), range(q)):
        graph.add_node((s, a, b), endpoints=p)
    for s, a in itertools.product(range(2), range(q)):
        for b, c in itertools.combinations(range(q), 2):
            if int(minus[b, c]) in generators[s]:
                graph.add_edge((s, a, b), (s, a, c))
    for x, m, c in itertools.product(range(q), repeat=3):
        graph.add_edge((0, x, int(plus[times[m, x], c])), (1, m, c))
    return graph


def dragonfly(p: int, a: int, h: int, g: int, arrangement: str = "absolute") -> nx.MultiGraph:
    """Kim et al. (2008), global links arranged as in Hastings et al. (2015).

    Port l of a group is on router l // h; with g groups the ports lead round after round to the
    other groups, and ports of rounds that are not full stay empty.
    """
    target = {
        "absolute": lambda group, l: l if l < group else l + 1,
        "relative": lambda group, l: (group + l + 1) % g,
        "palmtree": lambda group, l: (group - l - 1) % g,
        "circulant": lambda group, l: (group + (l // 2 + 1) * (1 if l % 2 == 0 else -1)) % g,
    }[arrangement]
    graph = nx.MultiGraph()
    graph.add_nodes_from(itertools.product(range(g), range(a)), endpoints=p)
    for group in range(g):
        graph.add_edges_from(itertools.combinations([(group, i) for i in range(a)], 2))
    rounds = a * h // (g - 1) if g > 1 else 0
    router = {
        (group, target(group, l % (g - 1)), l // (g - 1)): (group, l // h)
        for group in range(g)
        for l in range(rounds * (g - 1))
    }
    for (here, there, number), end in router.items():
        if here < there:
            graph.add_edge(end, router[there, here, number])
    return graph


def _product(graphs: list[nx.MultiGraph], p: int) -> nx.MultiGraph:
    """Cartesian product with flat tuples as names."""
    whole = nx.relabel_nodes(graphs[0], {v: (v,) for v in graphs[0]})
    for graph in graphs[1:]:
        whole = nx.cartesian_product(whole, graph)
        whole = nx.relabel_nodes(whole, {(left, v): (*left, v) for left, v in whole})
    nx.set_node_attributes(whole, p, "endpoints")
    return whole


def hyperx(shape: list[int], k: list[int], p: int) -> nx.MultiGraph:
    """Ahn et al. (2009): the cartesian product of complete graphs, k links a pair."""
    dimensions = []
    for size, parallel in zip(shape, k, strict=True):
        graph = nx.MultiGraph()
        graph.add_nodes_from(range(size))
        graph.add_edges_from(list(itertools.combinations(range(size), 2)) * parallel)
        dimensions.append(graph)
    return _product(dimensions, p)


def grid(shape: list[int], p: int, periodic: bool) -> nx.MultiGraph:
    """networkx's own grid: a torus where rows are closed; a ring of two is one link."""
    simple = nx.grid_graph(dim=shape[::-1], periodic=periodic)
    flat = nx.MultiGraph()
    flat.add_nodes_from(((v,) if isinstance(v, int) else v for v in simple), endpoints=p)
    for u, v in simple.edges:
        if u != v:
            flat.add_edge(*((x,) if isinstance(x, int) else x for x in (u, v)))
    return flat


def fat_tree_2(leaves: int, spines: int, parallel: int, p: int) -> nx.MultiGraph:
    """Every leaf (0, i) has ``parallel`` links to every spine (1, j)."""
    graph = nx.MultiGraph()
    graph.add_nodes_from(((0, i) for i in range(leaves)), endpoints=p)
    graph.add_nodes_from(((1, j) for j in range(spines)), endpoints=0)
    for i, j in itertools.product(range(leaves), range(spines)):
        graph.add_edges_from([((0, i), (1, j))] * parallel)
    return graph


def fat_tree_3(k: int) -> nx.MultiGraph:
    """Al-Fares et al. (2008), section 3: k pods; core j, i is linked to switch j of every pod."""
    half = k // 2
    graph = nx.MultiGraph()
    for pod, i in itertools.product(range(k), range(half)):
        graph.add_node((0, pod, i), endpoints=half)
        graph.add_node((1, pod, i), endpoints=0)
    for j, i in itertools.product(range(half), repeat=2):
        graph.add_node((2, j, i), endpoints=0)
    for pod, j, i in itertools.product(range(k), range(half), range(half)):
        graph.add_edge((0, pod, i), (1, pod, j))
        graph.add_edge((1, pod, j), (2, j, i))
    return graph


def edge_bag(graph: nx.Graph) -> Counter:
    """The edges with their multiplicities, ends in order."""
    return Counter(tuple(sorted(edge)) for edge in graph.edges())


def distances(graph: nx.Graph) -> np.ndarray:
    """Hops between all pairs, in the order of the nodes, by scipy's breadth-first search."""
    matrix = nx.to_scipy_sparse_array(nx.Graph(graph), dtype=np.int8)
    return scipy.sparse.csgraph.shortest_path(matrix, unweighted=True)


def carriers(graph: nx.Graph) -> list[int]:
    """Positions of the nodes that carry endpoints; all when none does."""
    found = [i for i, (_, n) in enumerate(graph.nodes(data="endpoints")) if n]
    return found or list(range(len(graph)))


def girth(graph: nx.MultiGraph) -> int | None:
    """networkx's girth, 2 where links are parallel, None for a forest."""
    simple = nx.Graph(graph)
    if simple.number_of_edges() < graph.number_of_edges():
        return 2
    found = nx.girth(simple)
    return None if found == float("inf") else found


def path_counts(graph: nx.MultiGraph) -> Counter:
    """Ordered pairs of switches with endpoints by their number of shortest paths.

    Entry (i, j) of the d-th power of the adjacency matrix counts walks of d links; with d the
    distance these are the shortest paths.
    """
    a = nx.to_scipy_sparse_array(graph, weight=None, dtype=np.int64).toarray().astype(object)
    hops, ends = distances(graph), carriers(graph)
    walks, counts = np.identity(len(a), dtype=object), Counter()
    for d in range(1, int(hops[np.isfinite(hops)].max()) + 1):
        walks = walks @ a
        counts.update(int(walks[i, j]) for i in ends for j in ends if hops[i, j] == d)
    return counts
