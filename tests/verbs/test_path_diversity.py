"""Path diversity and the engines that make it, against routes followed and subsets tried here."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import subprocess
import sys
from collections import Counter
from fractions import Fraction

import flyloom as fl
import networkx as nx
import pytest
from flyloom import RefusalError
from oracle_routes import Routes, Wires

NETWORKS = {
    "slim fly": lambda: fl.slim_fly(q=3, p=2), "fat tree": lambda: fl.fat_tree(
        leaves=4, spines=2, parallel=2, p=2), "torus": lambda: fl.torus(shape=[3, 4], p=2),
    "hyperx": lambda: fl.hyperx(shape=[3, 3], k=[2, 1], p=1), "ring": lambda: fl.torus(shape=[5]),
}
ENGINES = ["sssp", "min_hop", "layered", "rues", "fatpaths"]


def most_disjoint(paths: list[frozenset[int]]) -> int:
    """The most of the paths of which no two share a link, over all subsets."""
    for size in range(len(paths), 0, -1):
        for chosen in itertools.combinations(paths, size):
            if len(frozenset().union(*chosen)) == sum(map(len, chosen)):
                return size
    return 0


def histogram(values) -> list[int]:
    """How often each whole number from 0 to the largest is there."""
    count = Counter(values)
    return [count[n] for n in range(max(count) + 1)]


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("layers", [1, 3, 6])
def test_every_number_is_that_of_routes_followed_here(name, engine, layers):
    topology = NETWORKS[name]()
    options = {} if engine in ("sssp", "min_hop") else {"max_lanes": 15}
    routing = fl.route(topology, engine, layers=layers, **options)
    routes = Routes(routing, Wires(topology))
    lengths = [Counter() for _ in range(layers)]
    hops: dict[tuple[int, int], list[int]] = {}
    pairs: dict[tuple[int, int], list[tuple[int, int]]] = {}
    sets: dict[tuple[int, int], set] = {}
    for (layer, s, t), channels in routes.all.items():
        if s != routes.wires.home[t][0]:
            lengths[layer][len(channels)] += 1
            hops.setdefault((s, routes.wires.home[t][0]), []).append(len(channels))
            sets.setdefault((s, t), set()).add(tuple(c // 2 for c in channels))
    for (s, t), paths in sets.items():
        disjoint = most_disjoint([frozenset(p) for p in paths])
        pairs.setdefault((s, routes.wires.home[t][0]), []).append((disjoint, len(paths)))
    disjoint = [min(d for d, _ in found) for found in pairs.values()]
    distinct = [min(n for _, n in found) for found in pairs.values()]
    found = fl.path_diversity(routing)
    assert found.pairs == len(pairs)
    assert found.disjoint_histogram == histogram(disjoint)
    assert found.distinct_histogram == histogram(distinct)
    assert found.mean_disjoint_paths == pytest.approx(sum(disjoint) / len(pairs), rel=1e-12)
    assert found.mean_distinct_paths == pytest.approx(sum(distinct) / len(pairs), rel=1e-12)
    rich = sum(d >= 3 for d in disjoint) / len(pairs)
    assert found.fraction_pairs_3_disjoint_paths == pytest.approx(rich, rel=1e-12)
    assert found.longest_histogram == histogram(max(lengths) for lengths in hops.values())
    means = Counter(Fraction(sum(lengths), len(lengths)) for lengths in hops.values())
    assert [n for _, n in found.mean_hops] == [n for _, n in sorted(means.items())]
    assert [m for m, _ in found.mean_hops] == pytest.approx([float(m) for m in sorted(means)])
    for layer, count in enumerate(lengths):
        assert found.hop_histograms[layer] == histogram(count.elements())


def test_no_pair_has_more_than_the_network():
    """Menger: the links that part two switches bound the disjoint paths between them."""
    topology = fl.torus(shape=[4, 4], p=1)
    found = fl.path_diversity(fl.route(topology, "layered", layers=5, max_lanes=15))
    graph = nx.Graph((a, b) for a, b in Wires(topology).graph().edges)
    assert len(found.disjoint_histogram) - 1 <= nx.edge_connectivity(graph) == 4
    assert found.mean_disjoint_paths > 1


@pytest.mark.parametrize(("engine", "layers", "low", "high"), [
    ("layered", 4, 0.55, 6 / 7), ("layered", 8, 0.85, 6 / 7), ("rues", 8, 0.96, 1),
])
@pytest.mark.parametrize("seed", [0, 1, 7])
def test_the_deployed_slim_fly_has_the_published_diversity(engine, layers, low, high, seed):
    """NSDI 2024: over half of the pairs have three disjoint paths with 4 layers, 85 % with 8.

    Neighbours have no second path of three hops (girth 5): with ``layered`` at most 6 of 7 pairs.
    """
    routing = fl.route("slim_fly:q=5,p=4", engine, layers=layers, seed=seed, max_lanes=15)
    found = fl.path_diversity(routing)
    assert found.pairs == 50 * 49
    assert low <= found.fraction_pairs_3_disjoint_paths <= high
    if engine == "layered":
        assert fl.verify(routing).complete.max_hops == 3
        # 4 layers: at most 3 detours; neighbours have one path and no other
        assert found.disjoint_histogram[1] >= 50 * 7


def test_a_layer_that_keeps_everything_is_the_shortest():
    all_links = fl.route("slim_fly:q=5,p=2", "rues", layers=3, keep=1.0)
    none = fl.route("slim_fly:q=5,p=2", "fatpaths", layers=3, keep=0)
    for routing in (all_links, none):
        found = fl.path_diversity(routing)
        assert found.disjoint_histogram == [0, 50 * 49], "the shortest path is the only one"
    assert (none.next[0] == none.next[2]).all(), "with no links every route is the first layer's"


@pytest.mark.parametrize("keep", [0.32, 0.6])
def test_layers_go_over_kept_links_wherever_these_lead(keep):
    """A rues layer uses at most its part of the links, but for the paths of the first layer."""
    topology = fl.slim_fly(q=5, p=1)
    wires = Wires(topology)
    routing = fl.route(topology, "rues", layers=4, keep=keep, seed=3)
    for layer in range(1, 4):
        own = set()
        for t in range(topology.terminals):
            for s in range(topology.switches):
                if s != wires.home[t][0] and routing.next[layer, t, s] != routing.next[0, t, s]:
                    own.add(wires.to[s, int(routing.next[layer, t, s])][1] // 2)
        assert 0 < len(own) <= round(keep * topology.links)


@pytest.mark.parametrize(("engine", "options", "message"), [
    ("rues", {"keep": 1.5}, "keep: 1.5 is no part of the links; 0 to 1; nearest: 1"),
    ("fatpaths", {"keep": -0.1}, "nearest: 0"), ("rues", {"keep": "much"}, "keep"),
    ("layered", {"min_hops": 4}, "1 to 3, the most hops; nearest: 3"),
    ("layered", {"min_hops": 0}, "nearest: 1"), ("layered", {"hops": 2**32 - 1}, "1 to 8"),
    ("rues", {"max_lanes": 0}, "1 to 15"), ("fatpaths", {"seed": -1}, "seed"),
])
def test_options_that_mean_nothing_are_refused(engine, options, message):
    with pytest.raises(RefusalError, match="(?s).*" + message.replace(".", r"\.")):
        fl.route("slim_fly:q=3,p=1", engine, layers=2, **options)


@pytest.mark.parametrize("engine", ["layered", "rues", "fatpaths"])
def test_seeds_change_the_layers_and_threads_nothing(engine):
    code = (
        "import flyloom as fl, hashlib, json\n"
        f"r = fl.route('slim_fly:q=5,p=1', '{engine}', layers=3, seed=5)\n"
        "print(hashlib.sha256(r.next.tobytes()).hexdigest(),"
        " json.dumps(fl.path_diversity(r).to_dict()))\n"
    )
    said = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                       timeout=300, env={**os.environ, "RAYON_NUM_THREADS": threads}).stdout
        for threads in ("1", "3")
    }
    assert len(said) == 1
    digest, numbers = said.pop().split(" ", 1)
    other = fl.route("slim_fly:q=5,p=1", engine, layers=3, seed=6)
    assert hashlib.sha256(other.next.tobytes()).hexdigest() != digest
    assert json.loads(numbers)["pairs"] == 50 * 49


NETS = [
    "slim_fly:q=4,p=2", "slim_fly:q=7,p=1", "dragonfly:h=2,p=1", "torus:shape=3x3x3",
    "fat_tree:levels=3,k=4", "hyperx:shape=4x4", "mesh:shape=3x4", "polar_fly:q=3",
]


@pytest.mark.parametrize("net", NETS)
@pytest.mark.parametrize("engine", ["layered", "rues", "fatpaths"])
def test_layers_arrive_without_deadlock_healthy_and_damaged(net, engine):
    whole = fl.network(net)
    for topology in (whole, whole.with_failures(links=[1, 5])):
        routing = fl.route(topology, engine, layers=4, seed=2, max_lanes=15)
        proof = fl.verify(routing)
        assert proof.holds and proof.management.holds
        if engine == "layered":
            assert proof.complete.max_hops <= fl.structure(topology).diameter + 1


@pytest.mark.parametrize("q", [7, 9, 11])
def test_layered_routes_more_than_256_endpoints_in_three_hops(q):
    routing = fl.route(f"slim_fly:q={q}", "layered", layers=4, max_lanes=15)
    proof = fl.verify(routing)
    assert proof.holds and proof.complete.max_hops == 3
