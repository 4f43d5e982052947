"""Link-disjoint paths of bounded length against an integer program over all short paths."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import flyloom as fl
import highspy
import networkx as nx
import pytest
from campaign import count
from cli_helpers import flyloom

NETWORKS = [
    ("dragonfly:h=2", 4), ("slim_fly:q=3,p=1", 3), ("jellyfish:n=16,k=4", 4),
    ("torus:shape=4x4,p=1", 4), ("mesh:shape=4x3,p=1", 5), ("hyperx:shape=3x3,p=1", 4),
    ("fat_tree:leaves=4,spines=2,parallel=2,p=4", 4), ("de_bruijn:d=2,n=4,p=1", 5),
    ("folded_hypercube:n=3", 4), ("kautz:d=2,n=2,p=1", 4),
]


def short_paths(graph: nx.MultiGraph, s: int, t: int, hops: int) -> list[list[tuple]]:
    """Every path of at most ``hops`` links, as its links."""
    found = nx.all_simple_edge_paths(graph, s, t, cutoff=hops)
    return [[(min(a, b), max(a, b), key) for a, b, key in path] for path in found]


def most_disjoint(paths: list[list[tuple]]) -> int:
    """The most of ``paths`` of which no two share a link: an integer program, solved by HiGHS."""
    if not paths:
        return 0
    solver = highspy.Highs()
    solver.silent()
    taken = [solver.addBinary() for _ in paths]
    by_link: dict[tuple, list] = {}
    for path, variable in zip(paths, taken, strict=True):
        for link in path:
            by_link.setdefault(link, []).append(variable)
    for variables in by_link.values():
        solver.addConstr(sum(variables) <= 1)
    solver.maximize(sum(taken))
    assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return round(solver.getInfo().objective_function_value)


def agrees(topology: fl.Topology, hops: int) -> None:
    """Fails unless the counts of all pairs are those of the integer program."""
    found = fl.structure(topology, disjoint=True, hops=[hops]).disjoint_paths.bounded[0].to_dict()
    graph = nx.MultiGraph(topology.edges.tolist())
    graph.add_nodes_from(range(topology.switches))
    wanted: Counter = Counter()
    for s, t in itertools.combinations(sorted(set(topology.attachments[:, 0].tolist())), 2):
        wanted[str(most_disjoint(short_paths(graph, s, t, hops)))] += 2
    assert found["counts"]["histogram"] == dict(wanted)
    assert found["exact"] and found["exact_pairs"] == sum(wanted.values())
    assert found["at_most"] == found["counts"]


@pytest.mark.parametrize(("net", "hops"), NETWORKS)
def test_bounded_paths_are_exact_in_every_family(net, hops):
    agrees(fl.network(net), hops)


@pytest.mark.campaign
def test_bounded_paths_are_exact_in_random_multigraphs():
    for seed in range(count(25, 2000)):
        draw = random.Random(seed)
        n = draw.randint(5, 9)
        pairs = [draw.sample(range(n), 2) for _ in range(draw.randint(n, 2 * n + 3))]
        agrees(fl.from_pairs(pairs, p=1), draw.randint(3, 7))


def test_the_command_says_what_is_exact():
    found = flyloom("structure", "dragonfly:h=2", "--disjoint", "--hops", 4).stdout
    line = next(line for line in found.splitlines() if "at most 4 hops" in line)
    # 4512 paths over 1260 pairs, by the integer program above
    assert line.split(maxsplit=5)[-1] == f"2 to 5, mean {4512 / 1260:.6g}"
