"""Networks to and from networkx, scipy and files, each read by somebody else's reader too."""

from __future__ import annotations

import io
import json
from collections import Counter

import flyloom as fl
import networkx as nx
import numpy as np
import pytest
from deploy_helpers import DATA, read_net
from flyloom import RefusalError, Topology
from hypothesis import given, settings
from hypothesis import strategies as st

MEMBERS = [
    "slim_fly:q=5,p=4", "dragonfly:h=2", "hyperx:shape=3x4,k=1x2,p=3", "torus:shape=3x4",
    "mesh:shape=5", "fat_tree:leaves=4,spines=2,parallel=3,p=5", "fat_tree:levels=3,k=4",
]


def bag(edges) -> Counter:
    """Undirected edges with multiplicities."""
    return Counter(tuple(sorted((int(a), int(b)))) for a, b in edges)


def carried(topology: Topology) -> list[int]:
    """Endpoints on each switch."""
    return np.bincount(topology.attachments[:, 0], minlength=topology.switches).tolist()


def assert_equal(one: Topology, two: Topology) -> None:
    """The same switches, links and endpoints in the same order."""
    assert one.switches == two.switches
    assert bag(one.edges) == bag(two.edges)
    assert carried(one) == carried(two)


@pytest.mark.parametrize("inline", MEMBERS)
def test_networkx_round_trip(inline):
    topology = fl.network(inline)
    graph = fl.to_networkx(topology)
    assert [n for _, n in graph.nodes(data="name")] == topology.switch_names
    assert graph.number_of_edges() == topology.links
    assert_equal(fl.from_networkx(graph), topology)
    assert_equal(fl.network(graph), topology)


@pytest.mark.parametrize("inline", MEMBERS)
def test_scipy_matrix_is_that_of_networkx(inline):
    topology = fl.network(inline)
    ours = fl.to_scipy(topology)
    theirs = nx.to_scipy_sparse_array(fl.to_networkx(topology), weight=None)
    assert (ours != theirs).nnz == 0
    assert (ours != ours.T).nnz == 0
    assert ours.sum() == 2 * topology.links


@pytest.mark.parametrize("inline", MEMBERS)
@pytest.mark.parametrize("format", ["json", "graphml", "edges", "netlist"])
def test_files_read_back_equal(inline, format, tmp_path):
    topology = fl.network(inline)
    text = topology.to_text(format)
    path = tmp_path / f"network.{format}"
    path.write_text(text)
    back = fl.network(str(path))
    assert_equal(back, topology)
    assert back.switch_names == topology.switch_names
    assert back.endpoint_names == topology.endpoint_names
    for column, values in topology.link_table.items():
        if format in ("json", "netlist") and column.endswith(("switch", "port")):
            continue  # compared as wires below; a netlist may list links in another order
        if format == "json":
            np.testing.assert_array_equal(back.link_table[column], values)
    if format in ("json", "netlist"):
        assert wires(back) == wires(topology)
        assert back.attachments.tolist() == topology.attachments.tolist()


def test_a_link_takes_5_ns_a_metre():
    document = json.loads(fl.network("complete:n=4,p=1").to_text("json"))
    cables = [{"length_m": 1.5}, {"length_m": 0.0}, {"length_m": 20.0, "up": False}, None]
    for link, cable in zip(document["links"], [*cables, None, None], strict=True):
        link[4] = cable and {"speed": "HDR", "width": 4, "up": True} | cable
    latency = Topology.from_text(json.dumps(document), "n.json").link_latency_ns
    assert latency.dtype == np.float64
    assert latency.tolist() == [7.5, 0.0, 100.0, 25.0, 25.0, 25.0]


def wires(topology: Topology) -> set:
    """Every link as its two plugs, whichever comes first."""
    t = topology.link_table
    a = zip(t["a_switch"].tolist(), t["a_port"].tolist(), strict=True)
    b = zip(t["b_switch"].tolist(), t["b_port"].tolist(), strict=True)
    return {frozenset(pair) for pair in zip(a, b, strict=True)}


@pytest.mark.parametrize("inline", MEMBERS)
def test_networkx_reads_our_graphml_and_edges(inline):
    topology = fl.network(inline)
    graph = nx.parse_graphml(topology.to_text("graphml"), node_type=int, force_multigraph=True)
    assert bag(graph.edges()) == bag(topology.edges)
    assert [graph.nodes[i]["name"] for i in range(len(graph))] == topology.switch_names
    assert [graph.nodes[i]["endpoints"] for i in range(len(graph))] == carried(topology)

    lines = [x for x in topology.to_text("edges").splitlines() if not x.startswith("endpoints")]
    graph = nx.parse_edgelist(lines, create_using=nx.MultiGraph)
    number = {name: i for i, name in enumerate(topology.switch_names)}
    assert bag((number[a], number[b]) for a, b in graph.edges()) == bag(topology.edges)


@pytest.mark.parametrize("inline", MEMBERS)
def test_our_netlist_says_the_same_to_another_reader(inline, tmp_path):
    topology = fl.network(inline)
    path = tmp_path / "fabric.net"
    path.write_text(topology.to_text("netlist"))
    net = read_net(path)
    guids = topology.addresses()["switch_guid"]
    number = {(int(g, 16) if isinstance(g, str) else g): i for i, g in enumerate(guids)}
    assert set(net.switches) == set(number)
    assert len(net.endpoints) == topology.endpoints
    found = {
        frozenset([(number[a], p), (number[b], q)])
        for (a, p), (b, q) in net.far.items() if a in number and b in number
    }
    assert found == wires(topology)
    plugs = Counter((number[net.leaf(e)[0]], net.leaf(e)[1]) for e in net.endpoints)
    assert plugs == Counter(map(tuple, topology.attachments.tolist()))


def test_graphml_and_edge_lists_of_networkx_are_read(tmp_path):
    """Files that networkx wrote, with names, attributes and parallel links of its own."""
    graphs = [
        nx.hoffman_singleton_graph(), nx.petersen_graph(), nx.karate_club_graph(),
        nx.MultiGraph([("a", "b"), ("b", "a"), ("b", "c d")]),
        nx.relabel_nodes(nx.cycle_graph(7), lambda v: f"switch & <{v}>"),
    ]
    for i, graph in enumerate(graphs):
        path = tmp_path / f"{i}.graphml"
        nx.write_graphml(graph, path)
        found = fl.network(str(path), p=2)
        names = [str(v) for v in graph]
        number = {name: i for i, name in enumerate(names)}
        assert found.switch_names == names
        assert bag(found.edges) == bag((number[str(a)], number[str(b)]) for a, b in graph.edges())
        assert found.endpoints == 2 * len(graph)
    for data in (True, False):
        buffer = io.BytesIO()
        nx.write_edgelist(nx.petersen_graph(), buffer, data=data)
        path = tmp_path / "petersen.txt"
        path.write_bytes(buffer.getvalue())
        found = nx.Graph(fl.to_networkx(fl.network(str(path))))
        assert nx.is_isomorphic(found, nx.petersen_graph())


def test_directed_and_self_loop_graphs_are_refused():
    with pytest.raises(RefusalError, match="both directions"):
        fl.from_networkx(nx.DiGraph([(0, 1)]))
    both = fl.from_networkx(nx.DiGraph([(0, 1), (1, 0)]))
    assert both.links == 1
    with pytest.raises(RefusalError, match="itself"):
        fl.from_networkx(nx.Graph([(0, 0)]))
    with pytest.raises(RefusalError):
        fl.from_networkx(nx.path_graph(3), p=-1)


def test_pairs_make_a_network_and_bad_ones_are_refused():
    ring = fl.from_pairs([(0, 1), (1, 2), (2, 0), (2, 0)], p=3)
    assert (ring.switches, ring.links, ring.endpoints) == (3, 4, 9)
    for bad in ([(0, 0)], [(-1, 2)], [(0, 2**40)]):
        with pytest.raises(RefusalError):
            fl.from_pairs(bad)


def named_edges(topology: Topology) -> set:
    """Working links by the names of their switches."""
    names = topology.switch_names
    return {frozenset(names[s] for s in pair) for pair in topology.edges}


def test_failed_links_survive_a_file(tmp_path):
    """A network with a failed link and a failed switch reads back with them failed."""
    whole = fl.slim_fly(q=3, p=1)
    hurt = whole.with_failures([3], [7])
    assert whole.link_table["up"].all()
    for format in ("json", "graphml"):
        path = tmp_path / f"hurt.{format}"
        path.write_text(hurt.to_text(format))
        back = fl.network(str(path))
        assert named_edges(back) == named_edges(hurt), format
    a, b = whole.link_table["a_switch"], whole.link_table["b_switch"]
    up = [i != 3 and 7 not in (a[i], b[i]) for i in range(whole.links)]
    assert hurt.link_table["up"].tolist() == up
    assert len(hurt.edges) == sum(up)


def test_the_slim_fly_of_another_generator_is_ours():
    """A netlist written by another program: the Hoffman-Singleton graph with 4 endpoints each."""
    found = fl.network(str(DATA / "sf_q5.net"))
    assert (found.switches, found.endpoints, found.links) == (50, 200, 175)
    assert set(carried(found)) == {4}
    assert nx.is_isomorphic(nx.Graph(fl.to_networkx(found)), nx.hoffman_singleton_graph())
    assert bag(found.edges) == bag(map(sorted, from_netlist()))


def from_netlist():
    net = read_net(DATA / "sf_q5.net")
    number = {guid: i for i, guid in enumerate(net.switches)}
    return [(number[s], number[far]) for s in net.switches for _, far in net.neighbours(s)
            if s < far]


edges = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda e: e[0] != e[1]),
                 min_size=1, max_size=30)


@settings(max_examples=60, deadline=None)
@given(edges, st.integers(0, 3))
def test_any_multigraph_survives_every_format(pairs, p):
    topology = fl.from_pairs(pairs, p=p)
    assert bag(topology.edges) == bag(pairs)
    for format in ("json", "graphml", "edges"):
        back = Topology.from_text(topology.to_text(format), "x", None)
        assert_equal(back, topology)
    again = Topology.from_text(topology.to_text("json"), "x", None)
    assert json.loads(again.to_text("json")) == json.loads(topology.to_text("json"))


@pytest.mark.parametrize("which", ["switches", "endpoints"])
def test_two_of_one_name_in_our_json_are_refused_with_both(which):
    whole = json.loads(fl.network("ring:n=4,p=1").to_text("json"))
    whole[which][3]["name"] = whole[which][1]["name"]
    with pytest.raises(RefusalError) as refused:
        Topology.from_text(json.dumps(whole), "net.json")
    said = str(refused.value)
    assert f"{which}[3].name" in said and f"{which}[1]" in said and "must differ" in said, said
