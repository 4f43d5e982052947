"""What traffic does, by link loads, against all shortest paths listed by networkx."""

import itertools
import math

import flyloom as fl
import networkx as nx
import pytest


def loads(name, messages):
    """The largest load of a channel when each message is split evenly over all shortest paths, of
    which parallel links make several."""
    net = fl.network(name)
    times = {}
    for a, b in net.edges.tolist():
        key = (min(a, b), max(a, b))
        times[key] = times.get(key, 0) + 1
    graph = nx.Graph(list(times))
    home = net.attachments[:, 0].tolist()
    load = {}
    for source, target in messages:
        a, b = home[source], home[target]
        if a == b:
            continue
        paths = list(nx.all_shortest_paths(graph, a, b))
        number = [math.prod(times[min(u, v), max(u, v)] for u, v in itertools.pairwise(path))
                  for path in paths]
        for path, mine in zip(paths, number, strict=True):
            for u, v in itertools.pairwise(path):
                # each of the parallel links carries its part
                part = mine / sum(number) / times[min(u, v), max(u, v)]
                load[u, v] = load.get((u, v), 0) + part
    return max(load.values(), default=0.0)


def exchange(n, step):
    if 1 << step >= n or step == int(math.log2(n)):
        power = 1 << int(math.log2(n))
        return [(i, i + power) for i in range(n - power)]
    power = 1 << int(math.log2(n))
    return [(i, i ^ (1 << step)) for i in range(power)]


NETWORKS = (
    "hyperx:shape=4x3,p=2", "slim_fly:q=3,p=2", "dragonfly:p=2,a=4,h=2,g=5",
    "torus:shape=4x3x2,p=1", "fat_tree:leaves=4,spines=2,parallel=2,p=4", "fat_tree:levels=3,k=4",
    "jellyfish:n=12,k=4,p=3", "megafly:leaves=2,spines=2,p=2,h=2,g=5", "hyperx:shape=3x3,k=2x1,p=3",
)


@pytest.mark.parametrize("name", NETWORKS)
def test_loads_of_steps_are_those_of_all_shortest_paths(name):
    found = fl.traffic_limits(name)
    n = fl.network(name).endpoints
    steps = int(math.log2(n)) + (n & (n - 1) != 0)
    assert len(found.exchanges) == steps
    for step, of in enumerate(found.exchanges):
        assert of["minimal"] == pytest.approx(loads(name, exchange(n, step))), step
    around = loads(name, [(i, (i + 1) % n) for i in range(n)])
    assert found.ring_load == pytest.approx(around)
    everyone = loads(name, itertools.permutations(range(n), 2)) / (n - 1)
    assert found.uniform_minimal == pytest.approx(1 / everyone)
    for of in found.exchanges:
        assert of["adaptive"] == pytest.approx(min(of["minimal"], 2 * everyone))


@pytest.mark.parametrize(("name", "carried"), [
    # all of a row's p endpoints to one switch of the row
    ("hyperx:shape=6x6,p=3", 1 / 3), ("complete:n=9,p=4", 1 / 4),
    # a full tree carries every permutation, one of 2:1 half of it
    ("fat_tree:levels=3,k=4", 1.0), ("fat_tree:leaves=4,spines=4,p=8", 1 / 2),
])
def test_worst_cases_are_those_of_formulas(name, carried):
    found = fl.traffic_limits(name)
    assert found.worst_case_minimal == pytest.approx(carried)
    valiant = found.uniform_minimal / 2
    assert found.worst_case_adaptive == pytest.approx(max(carried, valiant))


def allreduce(n, size, step_ns, ns_per_byte, steps, ring):
    """The three algorithms by their steps: what each sends, and over which load."""
    def step(part, load):
        return step_ns + part * ns_per_byte * max(1.0, load)

    whole = int(math.log2(n))
    beyond = sum(2 * step(size, load) for load in steps[whole:])
    return min(
        (sum(step(size, load) for load in steps[:whole]) + beyond, "recursive_doubling"),
        (sum(2 * step(size / 2 ** (i + 1), load) for i, load in enumerate(steps[:whole])) + beyond,
         "rabenseifner"),
        (2 * (n - 1) * step(size / n, ring), "ring"),
    )


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("size", [8, 65_536, 10**8])
def test_times_are_those_of_the_steps(name, size):
    found = fl.traffic_limits(name, allreduce_bytes=size, step_ns=1700, gbps=400, alltoall_bytes=50)
    n = fl.network(name).endpoints
    for kind, ns, algorithm, ring in (
        ("minimal", found.allreduce_ns, found.allreduce_algorithm, found.ring_load),
        ("adaptive", found.allreduce_adaptive_ns, found.allreduce_adaptive_algorithm,
         min(found.ring_load, 2 / found.uniform_minimal)),
    ):
        steps = [step[kind] for step in found.exchanges]
        assert (ns, algorithm) == (pytest.approx(
            allreduce(n, size, 1700, 8 / 400, steps, ring)[0]), allreduce(
                n, size, 1700, 8 / 400, steps, ring)[1])
    busiest = max(1.0, 1 / found.uniform_minimal)
    assert found.alltoall_ns == pytest.approx(1700 + (n - 1) * 50 * 8 / 400 * busiest)


@pytest.mark.parametrize("name", NETWORKS)
def test_the_empty_network_takes_a_switch_more_than_hops(name):
    found = fl.traffic_limits(name, switch_delay_ns=200, cable_ns=10)
    hops = fl.structure(name).mean_distance
    assert found.zero_load_ns == pytest.approx(200 * (hops + 1) + 10 * (hops + 2))


def test_planes_share_nothing_and_carry_the_same():
    one = fl.traffic_limits("slim_fly:q=3,p=2")
    two = fl.traffic_limits("multi_plane:planes=2,of=slim_fly:q=3,p=2")
    for key in ("uniform_minimal", "worst_case_minimal", "worst_case_adaptive", "ring_load"):
        assert two[key] == pytest.approx(one[key]), key


def test_bad_sizes_are_refused():
    with pytest.raises(fl.RefusalError, match="allreduce_bytes"):
        fl.traffic_limits("slim_fly:q=3", allreduce_bytes=-1)
    with pytest.raises(fl.RefusalError, match="gbps"):
        fl.traffic_limits("slim_fly:q=3", gbps=0)
