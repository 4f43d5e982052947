"""Patterns of simulators in the static measures: by definition, formulae and all permutations."""

from __future__ import annotations

import itertools

import flyloom as fl
import pytest
from flyloom import RefusalError
from oracle_routes import Routes, Wires
from test_congestion import Stream


def rotated(rank: int, bits: int, by: int) -> int:
    text = format(rank, f"0{bits}b")
    return int(text[by:] + text[:by], 2)


BITS = {
    "bit_reverse": lambda rank, bits: int(format(rank, f"0{bits}b")[::-1], 2),
    "bit_complement": lambda rank, bits: 2**bits - 1 - rank,
    "shuffle": lambda rank, bits: rotated(rank, bits, 1),
    "transpose": lambda rank, bits: rotated(rank, bits, bits // 2),
}


def same(found, expected) -> None:
    """Both met the same."""
    assert found.max_congestion == expected.max_congestion
    assert found.congestion_histogram == expected.congestion_histogram
    assert found.mean_share == pytest.approx(expected.mean_share, rel=1e-12)


@pytest.mark.parametrize("name", BITS)
def test_bits_of_ranks(name):
    routing = fl.route("torus:shape=4x4,p=2", "dor")
    whole = name != "transpose"  # 32 has an odd number of bits
    bits, text = (5, name) if whole else (4, f"{name}:active=16")
    rows = [(i, BITS[name](i, bits), 1) for i in range(2**bits)]
    expected = fl.congestion(routing, traffic=[row for row in rows if row[0] != row[1]])
    same(fl.congestion(routing, text, placement="linear", samples=1), expected)
    same(fl.congestion(routing, traffic=text), expected)
    if not whole:
        with pytest.raises(RefusalError, match="not an even power of two; .*active=16"):
            fl.congestion(routing, name)


@pytest.mark.parametrize(("name", "by"), [("tornado", (2, 1)), ("neighbour", (1, 1))])
def test_places_are_those_of_the_network(name, by):
    routing = fl.route("torus:shape=5x4,p=2", "dor")
    coordinates = [c for c in routing.topology.coordinates for _ in range(2)]
    rank = {(tuple(c), e % 2): e for e, c in enumerate(coordinates)}
    rows = [
        (e, rank[tuple((x + d) % side for x, d, side in zip(c, by, (5, 4), strict=True)), e % 2], 1)
        for e, c in enumerate(coordinates)
    ]
    expected = fl.congestion(routing, traffic=rows)
    same(fl.congestion(routing, name, samples=1), expected)  # whatever the order is by default
    same(fl.congestion(routing, traffic=name), expected)
    # among fewer endpoints, or in a job, ranks are a ring
    few = fl.congestion(routing, name, endpoints=7, placement="linear", samples=1)
    step = {"tornado": 3, "neighbour": 1}[name]
    same(few, fl.congestion(routing, traffic=[(i, (i + step) % 7, 1) for i in range(7)]))


def test_uniform_and_hotspot_draw_a_receiver_for_everybody():
    routing = fl.route("slim_fly:q=3,p=2", "sssp")
    for run in range(3):
        draw = Stream(9, "pattern", 2 * run)
        rows = [(i, draw.below(36), 1) for i in range(36)]
        expected = fl.congestion(routing, traffic=[row for row in rows if row[0] != row[1]])
        found = fl.congestion(routing, "uniform", placement="linear", samples=3, seed=9)
        assert found.series[run] == pytest.approx(expected.mean_share, rel=1e-12)
        draw = Stream(9, "pattern", 2 * run)
        hot = [4, 4, 4, 0]
        rows = [(i, hot[draw.below(4)], 1) for i in range(36)]
        expected = fl.congestion(routing, traffic=[row for row in rows if row[0] != row[1]])
        found = fl.congestion(routing, "hotspot:4=3,0", placement="linear", samples=3, seed=9)
        assert found.series[run] == pytest.approx(expected.mean_share, rel=1e-12)
    rows = [(i, e, x) for i in range(36) for e, x in ((4, 0.75), (0, 0.25)) if i != e]
    same(fl.congestion(routing, traffic="hotspot:4=3,0"), fl.congestion(routing, traffic=rows))


@pytest.mark.parametrize(("network", "engine", "options"), [
    ("torus:shape=6,p=1", "dor", {}), ("torus:shape=3x2,p=1", "sssp", {}),
    ("complete:n=5,p=1", "sssp", {}), ("torus:shape=3,p=2", "sssp", {"lmc": 1}),
    ("fat_tree:leaves=3,spines=2,p=2", "ftree", {}),
])
def test_no_permutation_is_worse_over_the_tables(network, engine, options):
    routing = fl.route(network, engine, **options)
    topology = routing.topology
    wires = Wires(topology)
    routes, n, layers = Routes(routing, wires).all, topology.endpoints, routing.layers
    put: dict = {(s, d): {} for s, d in itertools.product(range(n), repeat=2)}
    for (s, d), load in put.items():
        for layer in range(layers) if s != d else ():
            for channel in routes[layer, wires.home[s][0], d]:
                load[channel] = load.get(channel, 0) + 1 / layers
    worst = 0.0
    for to in itertools.permutations(range(n)):
        load: dict = {}
        for pair in enumerate(to):
            for channel, x in put[pair].items():
                load[channel] = load.get(channel, 0) + x
        worst = max([worst, *load.values()])
    found = fl.congestion(routing, "worst_case:tables", samples=1, endpoint_cables=False)
    assert found.max_congestion == pytest.approx(worst, rel=1e-9)


@pytest.mark.parametrize(("a", "p"), [(2, 3), (4, 2), (6, 1)])
def test_the_worst_case_of_dragonflies_fills_the_links_between_groups(a, p):
    # two groups, a h = a links between them: a p endpoints of a group all send over these
    routing = fl.route(f"dragonfly:h=1,a={a},p={p},g=2", "dfsssp")
    found = fl.congestion(routing, "worst_case", samples=1, endpoint_cables=False)
    assert found.max_congestion == a * p / a


@pytest.mark.parametrize(("q", "p"), [(5, 4), (7, 2)])
def test_the_worst_case_of_slim_flies_shares_a_link_between_two_pairs(q, p):
    # 2 p flows share the worst links under minimal routes: each gets 1 / (2 p)
    routing = fl.route(f"slim_fly:q={q},p={p}", "dfsssp")
    found = fl.congestion(routing, "worst_case", samples=1, endpoint_cables=False)
    assert found.max_congestion == 2 * p
    tables = fl.congestion(routing, "worst_case:tables", samples=1, endpoint_cables=False)
    assert tables.max_congestion >= found.max_congestion


def test_all_verbs_take_the_names():
    network = "torus:shape=4x4,p=1"
    for name in ("uniform", *BITS, "tornado", "neighbour", "hotspot", "worst_case"):
        laid = fl.route(network, "application", traffic=name)
        assert 0 < fl.ebb(laid, traffic=name).effective_bisection_bandwidth <= 1
        assert fl.throughput(network, name).maximum_achievable_throughput > 0
    with pytest.raises(RefusalError, match="did you mean 'tornado'"):
        fl.ebb(laid, traffic="tornadoo")
    with pytest.raises(RefusalError, match="there is no 'tornadoo'; did you mean tornado"):
        fl.congestion(laid, "tornadoo")
    with pytest.raises(RefusalError, match="worst_case of ranks that are on no network"):
        fl.congestion(laid, "worst_case", endpoints=8)
