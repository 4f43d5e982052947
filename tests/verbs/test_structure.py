"""Load, spectrum, disjoint paths, bisection and resilience against networkx and numpy."""

from __future__ import annotations

import random
import statistics

import flyloom as fl
import networkx as nx
import numpy as np
import pytest
from cli_helpers import document, flyloom
from flyloom import RefusalError

NETWORKS = ["slim_fly:q=4,p=1", "slim_fly:q=7,p=2", "torus:shape=5x4x3,p=1", "dragonfly:h=2",
            "mesh:shape=7x5,p=1", "hyperx:shape=4x5,p=1"]


def simple(topology: fl.Topology) -> nx.Graph:
    """A network without parallel links as a simple graph."""
    graph = nx.Graph(fl.to_networkx(topology))
    assert graph.number_of_edges() == topology.links
    return graph


def random_graph(seed: int, n: int = 30, links: int = 60) -> nx.Graph:
    graph = nx.gnm_random_graph(n, links, seed=seed)
    nx.set_node_attributes(graph, 1, "endpoints")
    return graph


@pytest.mark.parametrize("net", NETWORKS)
def test_load_is_the_edge_betweenness_of_networkx(net):
    topology = fl.network(net)
    found = fl.structure(topology, load=True).channel_load
    # unordered pairs over links there, ordered pairs over channels here: the same numbers
    wanted = sorted(nx.edge_betweenness_centrality(simple(topology), normalized=False).values())
    assert found.unit.max == pytest.approx(wanted[-1])
    assert found.unit.min == pytest.approx(wanted[0])
    assert found.unit.mean == pytest.approx(statistics.mean(wanted))
    shares = np.ceil(np.array(wanted) / wanted[-1] * 20 - 1e-9).astype(int)
    assert found.unit.histogram == (2 * np.bincount(shares, minlength=21)[1:]).tolist()
    assert found.forwarding_index_high == found.unit.max
    assert found.unit.mean <= found.forwarding_index_low * (1 + 1e-12)
    p = topology.endpoints // topology.switches
    assert found.terminals.max == pytest.approx(p * p * wanted[-1])
    full = (topology.endpoints - 1) / found.terminals.max
    assert found.uniform_saturation == pytest.approx(full)


@pytest.mark.parametrize("net", [*NETWORKS, *range(6)])
def test_spectrum_is_that_of_numpy(net):
    topology = fl.network(random_graph(net) if isinstance(net, int) else net)
    adjacency = fl.to_scipy(topology).toarray().astype(float)
    found = fl.structure(topology, spectrum=True).spectrum
    values = np.linalg.eigvalsh(adjacency)
    assert found.adjacency_largest == pytest.approx(values[-1], abs=1e-7)
    assert found.adjacency_second == pytest.approx(values[-2], abs=1e-7)
    assert found.adjacency_least == pytest.approx(values[0], abs=1e-7)
    laplacian = np.diag(adjacency.sum(axis=1)) - adjacency
    wanted = np.linalg.eigvalsh(laplacian)[1]
    assert found.algebraic_connectivity == pytest.approx(wanted, abs=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_disjoint_paths_are_the_flows_of_networkx(seed):
    graph = random_graph(seed, n=20, links=36)
    found = fl.structure(graph, disjoint=True, hops=[2]).disjoint_paths.any_length
    wanted: dict[str, int] = {}
    for a in graph:
        for b in graph:
            if a != b:
                flow = str(nx.edge_connectivity(graph, a, b))
                wanted[flow] = wanted.get(flow, 0) + 1
    assert found.histogram.to_dict() == wanted
    assert found.pairs == 20 * 19


@pytest.mark.parametrize("net", NETWORKS)
def test_no_cut_of_networkx_is_below_the_bisection(net):
    topology = fl.network(net)
    found, graph = fl.structure(topology, bisection=True).bisection, simple(topology)
    cuts = [
        nx.cut_size(graph, *nx.community.kernighan_lin_bisection(graph, seed=seed))
        for seed in range(10)
    ]
    assert 0 < found.low <= found.high <= min(cuts)


def test_resilience_agrees_with_a_simulation_in_python():
    graph = nx.convert_node_labels_to_integers(nx.grid_graph([4, 4], periodic=True))
    nx.set_node_attributes(graph, 1, "endpoints")
    draw, removed = random.Random(1), []
    for _ in range(1000):
        links = list(graph.edges)
        draw.shuffle(links)
        left, count = nx.Graph(graph), 0
        while nx.is_connected(left):
            left.remove_edge(*links[count])
            count += 1
        removed.append(count / len(links))
    found = fl.resilience(graph, samples=4000).ends.disconnected
    error = statistics.stdev(removed) * (1 / 1000 + 1 / 4000) ** 0.5
    assert abs(found.mean - statistics.mean(removed)) < 5 * error
    sample = np.array(found.removed) / 32
    assert found.median == pytest.approx(np.median(sample))
    assert found.quantiles == pytest.approx(np.quantile(sample, [0.05, 0.25, 0.75, 0.95]))
    half = 1.96 * sample.std(ddof=1) / 4000**0.5
    assert found.confidence_interval_95 == pytest.approx(
        [sample.mean() - half, sample.mean() + half], rel=1e-4,
    )
    held = [float((np.array(found.removed) > 32 * i // 20).mean()) for i in range(21)]
    assert found.survival == pytest.approx(held)


def test_the_commands_say_what_scripts_rely_on():
    found = document("structure", "slim_fly:q=5,p=4", "--all")
    assert found["minimal_paths"]["mean"] == 1 and found["almost_minimal_paths"]["min"] == 1
    three = found["disjoint_paths"]["bounded"][1]
    assert three["hops"] == 3 and three["exact"]
    assert three["counts"]["histogram"] == {"1": 350, "7": 2100}
    assert found["channel_load"]["unit"]["max"] == pytest.approx(13)
    assert found["channel_load"]["uniform_saturation"] == pytest.approx(199 / 16 / 13)
    assert found["spectrum"]["algebraic_connectivity"] == pytest.approx(5)
    assert (found["bisection"]["low"], found["bisection"]["high"]) == (63, 65)
    plain = flyloom("structure", "slim_fly:q=5,p=4", "--all").stdout
    assert "63 to 65" in plain and "1 to 7, mean 6.14286" in plain
    found = document("resilience", "torus:shape=4x4", "--until", "disconnected, mean",
                     "--samples", 20, "--seed", 3)
    assert list(found["ends"]) == ["disconnected", "mean"]
    assert found["items"] == 32 and len(found["ends"]["mean"]["removed"]) == 20
    switches = document("resilience", "torus:shape=4x4", "--remove", "switches")
    assert switches["items"] == 16
    assert "all samples hold at" in flyloom("resilience", "torus:shape=4x4").stdout


@pytest.mark.parametrize(("given", "named"), [
    ({"until": ["never"]}, "until: there is no 'never'"), ({"remove": "racks"}, "remove"),
    ({"until": []}, "until"), ({"samples": 0}, "samples"), ({"samples": 2**32 - 1}, "samples"),
    ({"seed": -1}, "seed"), ({"samples": 1.5}, "samples"),
])
def test_resilience_refuses(given, named):
    with pytest.raises(RefusalError, match=named):
        fl.resilience("torus:shape=4x4", **given)


@pytest.mark.parametrize(("given", "named"), [
    ({"hops": [0]}, "hops"), ({"hops": [2**32]}, "hops"), ({"pairs": 0}, "pairs"),
    ({"starts": 0}, "starts"), ({"seed": 2**64}, "seed"),
])
def test_structure_refuses(given, named):
    with pytest.raises(RefusalError, match=named):
        fl.structure("torus:shape=4x4", disjoint=True, bisection=True, **given)


def test_broken_networks_are_refused():
    apart = fl.from_pairs([(0, 1), (2, 3)], p=1)
    with pytest.raises(RefusalError, match="are not connected before any failure"):
        fl.resilience(apart)
    found = fl.structure(apart, disjoint=True, load=True, spectrum=True, bisection=True)
    assert found.spectrum.algebraic_connectivity == 0
    assert (found.bisection.low, found.bisection.high) == (0, 0)
    assert found.disjoint_paths.any_length.histogram.to_dict() == {"0": 8, "1": 4}


def test_bounds_beyond_64_bits_are_rounded():
    found = fl.structure("mesh:shape=30x17,p=1", paths=True)
    assert found.moore_bound == pytest.approx(1 + 4 * (3**45 - 1) / 2, rel=1e-15)
    assert found.minimal_paths.sum == pytest.approx(sum(
        count * number for count, number in
        ((int(c), n) for c, n in found.minimal_paths.histogram.items())
    ))
