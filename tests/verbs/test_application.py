"""The engine for known traffic: its channels' loads, walked route by route, against SSSP's."""

from __future__ import annotations

import random

import flyloom as fl
import pytest
from campaign import count

NETWORKS = [
    "slim_fly:q=7,p=2", "fat_tree:leaves=6,spines=4,p=4", "torus:shape=4x4,p=2",
    "jellyfish:n=24,k=4,p=2,seed=3", "dragonfly:h=2", "hyperx:shape=4x4,p=2",
]


def most_loaded(routing, topology, flows):
    """The load of the most loaded channel, by following every flow in every layer."""
    t = topology.link_table
    ends = {}
    for i, (a, p, b, q) in enumerate(zip(t["a_switch"], t["a_port"], t["b_switch"], t["b_port"],
                                         strict=True)):
        ends[int(a), int(p)] = (2 * i, int(b))
        ends[int(b), int(q)] = (2 * i + 1, int(a))
    load = {}
    for source, destination, amount in flows:
        for layer in range(routing.layers):
            at = int(topology.attachments[source][0])
            while (at, port := int(routing.next[layer, destination, at])) in ends:
                channel, at = ends[at, port]
                load[channel] = load.get(channel, 0) + amount / routing.layers
    return max(load.values(), default=0)


def matrix(topology, kind, chance):
    n = topology.endpoints
    order = list(range(n))
    chance.shuffle(order)
    if kind == "permutation":
        return [(i, j, 1.0) for i, j in enumerate(order) if i != j]
    return [
        (i, j, chance.choice([0.1, 1, 5])) for i in range(n) for j in chance.sample(order, 4)
        if i != j
    ]


@pytest.mark.campaign
@pytest.mark.parametrize("net", NETWORKS)
@pytest.mark.parametrize("kind", ["permutation", "random"])
def test_the_most_loaded_channel_is_lighter_than_under_sssp(net, kind):
    topology = fl.network(net)
    sums = [0.0, 0.0]
    for seed in range(count(2, 5) if kind == "random" else 5):
        flows = matrix(topology, kind, random.Random(seed))
        for layers in (1, 2):
            ours = fl.route(
                topology, "application", traffic=flows, layers=layers, max_lanes=15
            )
            assert fl.verify(ours).holds
            plain = fl.route(topology, "sssp", layers=layers)
            one, other = (most_loaded(r, topology, flows) for r in (ours, plain))
            assert one <= other + 1e-9
            sums[0] += one
            sums[1] += other
    assert sums[0] < sums[1]


def test_flows_between_two_switches_spread_over_all_paths():
    """Four cables lead from a leaf to the spines: four equal flows take one each."""
    topology = fl.network("fat_tree:leaves=4,spines=4,p=4")
    flows = [(i, 4 + i, 1.0) for i in range(4)]
    assert most_loaded(fl.route(topology, "application", traffic=flows), topology, flows) == 1.0
    # with a flow of four, all others keep off its path
    flows = [(0, 4, 4.0), *((i, 4 + i, 1.0) for i in range(1, 4))]
    assert most_loaded(fl.route(topology, "application", traffic=flows), topology, flows) == 4.0


def test_the_traffic_of_a_measure_is_that_of_the_routes():
    topology = fl.network("slim_fly:q=5,p=2")
    options = {"layers": 1, "traffic": "longest_matching"}
    known = fl.throughput(topology, engine="application", **options)
    blind = fl.throughput(topology, engine="sssp", **options)
    assert known.maximum_achievable_throughput >= blind.maximum_achievable_throughput - 1e-9


def test_the_same_question_has_the_same_answer_and_bad_ones_are_refused(tmp_path):
    topology = fl.network("slim_fly:q=5,p=1")
    file = tmp_path / "t.csv"
    file.write_text("src,dst,demand\n0,7,1\n3,9,0.5\n")
    by_file = fl.route(topology, "application", traffic=file)
    listed = fl.route(topology, "application", traffic=[(0, 7, 1), (3, 9, 0.5)])
    assert (by_file.next == listed.next).all()
    for flows in ([(50, 0, 1.0)], [(0, 50, 1.0)], [(0, 1, -1.0)]):
        with pytest.raises(fl.RefusalError, match="flow 0"):
            fl.route(topology, "application", flows=flows)
    with pytest.raises(fl.RefusalError, match="rounds"):
        fl.route(topology, "application", traffic="uniform", rounds=101)
