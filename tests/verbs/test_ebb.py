"""Effective bisection bandwidth against slow counts, exact enumeration and other random draws."""

from __future__ import annotations

import itertools
import json
from statistics import fmean, stdev

import flyloom as fl
import numpy as np
import pytest
from flyloom import RefusalError, Topology
from oracle_routes import Routes, Wires, bandwidths, shuffled

PATTERNS = 8


def document(switches: int, links: list, endpoints: list) -> str:
    """The JSON text of a network: links (a, b, cable), endpoints as lists of (switch, cable)."""
    return json.dumps({
        "flyloom": 1, "recipe": {"family": "file", "params": {}},
        "switches": [{"name": f"s{i}"} for i in range(switches)],
        "links": [[a, 0, b, 0, cable] for a, b, cable in links],
        "endpoints": [
            {"name": f"e{i}", "rails": [[s, 0, cable] for s, cable in rails]}
            for i, rails in enumerate(endpoints)
        ],
    })


HDR, EDR, HDR100 = ({"speed": "HDR", "width": 4}, {"speed": "EDR", "width": 4},
                    {"speed": "HDR", "width": 2})


def uneven() -> Topology:
    """A ring of seven with chords; three kinds of cable, endpoints at 100 and 200 Gb/s."""
    kinds = [HDR, EDR, HDR100]
    pairs = [(i, (i + 1) % 7) for i in range(7)] + [(0, 3), (2, 5), (0, 3)]
    links = [(a, b, kinds[i % 3]) for i, (a, b) in enumerate(pairs)]
    return Topology.from_text(
        document(7, links, [[(i % 7, kinds[i % 2])] for i in range(17)]), "uneven"
    )


def two_rails() -> Topology:
    """Endpoints with two rails on one ring of five: four paths between two of them."""
    links = [(i, (i + 1) % 5, HDR) for i in range(5)]
    rails = [[(i % 5, HDR), ((i + 2) % 5, HDR)] for i in range(9)]
    return Topology.from_text(document(5, links, rails), "rails")


CASES = {
    "slim fly": (lambda: fl.slim_fly(q=5, p=4), 200), "odd": (lambda: fl.slim_fly(q=3, p=1), 200),
    "fat tree": (lambda: fl.fat_tree(leaves=6, spines=3, parallel=2, p=5), 200),
    "uneven": (uneven, 200), "two rails": (two_rails, 200),
    "odd endpoints": (lambda: fl.mesh(shape=[3], p=3), 200),
}


def terminals_of(topology: Topology) -> list[list[int]]:
    """Terminals by endpoint, as the network's own file numbers them."""
    found, n = [], 0
    for endpoint in json.loads(topology.to_text("json"))["endpoints"]:
        found.append(list(range(n, n + len(endpoint["rails"]))))
        n += len(endpoint["rails"])
    return found


def flows(order: list[int], terminals: list[list[int]]):
    """First half to second half, in order."""
    half = len(order) // 2
    return [(terminals[a], terminals[b]) for a, b in zip(order[:half], order[half:], strict=False)]


@pytest.mark.parametrize("engine", ["dfsssp", "min_hop"])
@pytest.mark.parametrize("lmc", [0, 2])
@pytest.mark.parametrize("name", CASES)
def test_every_pattern_is_that_of_a_slow_count(name, lmc, engine):
    """A slow count draws the same random stream by numpy, and counts congestion flow by flow."""
    make, injection = CASES[name]
    topology = make()
    routing = fl.route(topology, engine, lmc=lmc)
    routes, terminals = Routes(routing, Wires(topology)), terminals_of(topology)
    seed = 2**63 + 11
    found = fl.ebb(routing, samples=PATTERNS, seed=seed)
    bins = np.zeros(20, dtype=int)
    means = []
    for i in range(PATTERNS):
        order = shuffled(list(range(len(terminals))), seed, "bisection", i)
        got = bandwidths(routes, flows(order, terminals), injection)
        means.append(fmean(got))
        for share in got:
            bins[min(19, int(np.floor(share * 20 - 1e-9)))] += 1
    assert found.pattern_means == pytest.approx(means, rel=1e-12, abs=0)
    assert found.effective_bisection_bandwidth == pytest.approx(fmean(means), rel=1e-12)
    half = 1.959963984540054 * stdev(means) / PATTERNS**0.5
    low, high = found.confidence_interval_95
    assert (high - low) / 2 == pytest.approx(half, rel=1e-9)
    assert (high + low) / 2 == pytest.approx(fmean(means), rel=1e-12)
    assert found.flow_histogram == bins.tolist()


def exact(routes: Routes, terminals: list[list[int]], injection: float) -> float:
    """The mean over every order of the endpoints."""
    orders = itertools.permutations(range(len(terminals)))
    return fmean(fmean(bandwidths(routes, flows(o, terminals), injection)) for o in orders)


@pytest.mark.parametrize("make", [
    lambda: fl.mesh(shape=[2], p=3), lambda: fl.torus(shape=[3], p=2),
    lambda: fl.mesh(shape=[3], p=2),
])
def test_the_mean_is_that_of_all_orders(make):
    """Six endpoints have 720 orders; a long sample comes within four standard errors."""
    topology = make()
    routing = fl.route(topology, "sssp")
    wanted = exact(Routes(routing, Wires(topology)), terminals_of(topology), 200)
    found = fl.ebb(routing, samples=20_000, seed=5)
    error = stdev(found.pattern_means) / 20_000**0.5
    assert abs(found.effective_bisection_bandwidth - wanted) < 4 * error
    assert 0 < wanted < 1


def test_an_independent_sample_agrees():
    """Orders drawn by another generator: means within four standard errors of one another."""
    topology = fl.slim_fly(q=5, p=4)
    routing = fl.route(topology, "dfsssp")
    routes, terminals = Routes(routing, Wires(topology)), terminals_of(topology)
    rng = np.random.default_rng(12345)
    mine = [
        fmean(bandwidths(routes, flows(rng.permutation(200).tolist(), terminals), 200))
        for _ in range(150)
    ]
    found = fl.ebb(routing, samples=1000, seed=8)
    error = (stdev(mine) ** 2 / len(mine) + stdev(found.pattern_means) ** 2 / 1000) ** 0.5
    assert abs(found.effective_bisection_bandwidth - fmean(mine)) < 4 * error


def test_full_bandwidth_where_nothing_is_shared():
    """One switch never congests; neither does a link that is as wide as all its endpoints."""
    single = fl.ebb(fl.route("fat_tree:leaves=1,spines=1,p=8", "min_hop"), samples=20)
    assert single.effective_bisection_bandwidth == 1 and single.max_congestion == 1
    wide = fl.from_pairs([(0, 1)], p=1)
    assert fl.ebb(fl.route(wide, "sssp"), samples=5).pattern_means == [1.0] * 5


def test_seeds_patterns_and_their_limits():
    routing = fl.route("slim_fly:q=3,p=2", "sssp")
    long, short = fl.ebb(routing, samples=30, seed=1), fl.ebb(routing, samples=10, seed=1)
    assert long.pattern_means[:10] == short.pattern_means
    assert fl.ebb(routing, samples=10, seed=2).pattern_means != short.pattern_means
    assert fl.ebb(routing, samples=1, seed=1).confidence_interval_95 is None
    with pytest.raises(RefusalError, match="samples: 0"):
        fl.ebb(routing, samples=0)
    with pytest.raises(RefusalError, match="two endpoints"):
        fl.ebb(fl.route("fat_tree:leaves=1,spines=1,p=1", "sssp"))
