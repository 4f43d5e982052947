"""Maximum achievable throughput against closed forms, scipy's linear programs and hand counts."""

from __future__ import annotations

import itertools
import json
import random
from types import SimpleNamespace

import flyloom as fl
import networkx as nx
import numpy as np
import pytest
from cli_helpers import document, flyloom
from flyloom.solve.linear import over_tables
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment, linprog
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

pytest.importorskip("highspy", reason="linear programs need highspy")


def graph_of(network: fl.Topology) -> nx.MultiGraph:
    graph = nx.MultiGraph()
    graph.add_nodes_from(range(network.switches))
    graph.add_edges_from(network.edges.tolist())
    return graph


def endpoints_on(network: fl.Topology) -> list[int]:
    return np.bincount(network.attachments[:, 0], minlength=network.switches).tolist()


def uniform(network: fl.Topology) -> dict[tuple[int, int], float]:
    on, all_ = endpoints_on(network), network.endpoints
    pairs = itertools.permutations(range(network.switches), 2)
    return {(a, b): on[a] * on[b] / (all_ - 1) for a, b in pairs if on[a] * on[b]}


def brute(graph: nx.MultiGraph, demand: dict[tuple[int, int], float]) -> float:
    """One flow a pair and a channel, by scipy: t, then the flows, pair by pair."""
    arcs = [arc for a, b in graph.edges() for arc in ((a, b), (b, a))]
    nodes, m = graph.number_of_nodes(), len(arcs)
    count = 1 + m * len(demand)
    equal = np.zeros((nodes * len(demand), count))
    for k, ((s, d), amount) in enumerate(demand.items()):
        for i, (a, b) in enumerate(arcs):
            equal[k * nodes + a, 1 + k * m + i] += 1
            equal[k * nodes + b, 1 + k * m + i] -= 1
        equal[k * nodes + s, 0] -= amount
        equal[k * nodes + d, 0] += amount
    below = np.hstack([np.zeros((m, 1)), *[np.eye(m)] * len(demand)])
    goal = np.zeros(count)
    goal[0] = -1
    done = linprog(goal, A_ub=below, b_ub=np.ones(m), A_eq=equal, b_eq=np.zeros(len(equal)))
    assert done.status == 0
    return -done.fun


SYMMETRIC = ["slim_fly:q=5,p=4", "complete:n=7,p=3", "ring:n=8,p=2", "torus:shape=4x4,p=3",
             "hypercube:n=4,p=2"]


@pytest.mark.parametrize("name", SYMMETRIC)
def test_uniform_traffic_fills_every_channel_of_a_symmetric_network(name):
    # all channels alike: minimal paths, split evenly, load all of them with the mean load
    network = fl.network(name)
    far = dict(nx.all_pairs_shortest_path_length(graph_of(network)))
    hops = sum(amount * far[a][b] for (a, b), amount in uniform(network).items())
    wanted = 2 * network.links / hops
    found = fl.throughput(network)
    assert found.maximum_achievable_throughput == pytest.approx(wanted, rel=1e-6)
    assert found.exact and found.upper_bound == found.maximum_achievable_throughput
    near = fl.throughput(network, epsilon=0.01)
    assert near.maximum_achievable_throughput <= wanted * (1 + 1e-9)
    assert wanted * (1 - 1e-9) <= near.upper_bound
    assert near.upper_bound <= 1.01 * near.maximum_achievable_throughput
    assert not near.exact


def test_slim_fly_of_50_switches():
    # 7 neighbours at one hop and 42 switches at two, 16/199 for each pair of switches
    wanted = 350 / (50 * (7 + 2 * 42) * 16 / 199)
    found = fl.throughput("slim_fly:q=5,p=4").maximum_achievable_throughput
    assert found == pytest.approx(wanted, rel=1e-6) == pytest.approx(0.95673, abs=1e-5)


@pytest.mark.parametrize("seed", range(8))
def test_random_networks_and_demands_against_scipy(seed):
    draw = random.Random(seed)
    graph = nx.MultiGraph(nx.gnm_random_graph(6, 9, seed=seed))
    nx.add_path(graph, range(6))  # connected, with parallel links
    network = fl.from_networkx(graph, p=2)
    pairs = draw.sample(list(itertools.permutations(range(6), 2)), 7)
    demand = {pair: draw.choice([0.25, 1.0, 3.0]) for pair in pairs}
    rows = [(2 * a, 2 * b + 1, amount) for (a, b), amount in demand.items()]
    wanted = brute(graph, demand)
    found = fl.throughput(network, rows)
    assert found.maximum_achievable_throughput == pytest.approx(wanted, rel=1e-6)
    near = fl.throughput(network, rows, epsilon=0.03)
    low, high = near.maximum_achievable_throughput, near.upper_bound
    assert low * (1 - 1e-9) <= wanted <= high * (1 + 1e-9) and high <= 1.03 * low


@pytest.mark.parametrize("traffic", ["uniform", "longest_matching", "elephant"])
@pytest.mark.parametrize("name", ["dragonfly:h=1", "jellyfish:n=16,k=4,p=3", "mesh:shape=3x3,p=2",
                                  "xgft:m=3x2,w=1x2"])
def test_bounds_enclose_the_linear_program(name, traffic):
    exact = fl.throughput(name, traffic, seed=3).maximum_achievable_throughput
    near = fl.throughput(name, traffic, seed=3, epsilon=0.05)
    low, high = near.maximum_achievable_throughput, near.upper_bound
    assert low * (1 - 1e-6) <= exact <= high * (1 + 1e-6)
    assert high <= 1.05 * low
    assert fl.throughput(name, traffic, seed=3, epsilon=0.05).to_dict() == near.to_dict()


def recheck(network: fl.Topology, wanted: fl._core.Traffic, found: dict, free: bool) -> None:
    """Both bounds, counted anew by scipy from the flow and the lengths that prove them."""
    table, rows, capacity = network.link_table, wanted.by_switch(), wanted.capacities()
    ends = np.stack([table["a_switch"], table["b_switch"]]).astype(np.int64)
    tail, head = np.ravel(ends, "F"), np.ravel(ends[::-1], "F")
    channels, hops = found["channels"].astype(np.int64), found["hops"].astype(np.int64)
    # every route is a path; the shares of a demand sum to it; loads fit the channels
    last = np.cumsum(hops) - 1
    inside = np.setdiff1d(np.arange(len(channels)), last)
    assert (head[channels[inside]] == tail[channels[inside + 1]]).all()
    assert np.bincount(found["choice"], found["share"]) == pytest.approx(found["amount"])
    assert (found["share"] >= 0).all()
    sent = np.zeros((network.switches, network.switches))
    np.add.at(sent, (tail[channels[last - hops + 1]], head[channels[last]]), found["share"])
    asked = np.zeros_like(sent)
    np.add.at(asked, (rows["source"], rows["destination"]), rows["amount"])
    assert sent == pytest.approx(asked)
    load = np.bincount(channels, np.repeat(found["share"], hops), minlength=len(capacity))
    assert (found["lower"] * load <= capacity * (1 + 1e-9)).all()
    # weak duality: capacity times length over demand times distance
    length = found["lengths"]
    if free:
        up = capacity > 0
        order = np.argsort(-length[up])  # of parallel channels the shortest stays
        near = np.zeros_like(sent)
        near[tail[up][order], head[up][order]] = length[up][order]
        # sparse: of a dense matrix scipy takes lengths below 1e-8 for none
        far = dijkstra(csr_array(near))[rows["source"], rows["destination"]]
        weighed = (rows["amount"] * far).sum()
    else:
        cost = np.bincount(np.repeat(np.arange(len(hops)), hops), length[channels])
        least = np.full(len(found["amount"]), np.inf)
        np.minimum.at(least, found["choice"], cost)
        weighed = (found["amount"] * least).sum()
    assert (capacity * length).sum() / weighed == pytest.approx(found["upper"], rel=1e-9)


@pytest.mark.parametrize("traffic", ["uniform", "longest_matching", "elephant"])
@pytest.mark.parametrize("name", ["slim_fly:q=7,p=5", "multi_plane:planes=2,of=mesh:shape=3x4,p=2",
                                  "torus:shape=2x5,p=2"])
def test_what_proves_the_bounds_is_counted_anew(name, traffic):
    from flyloom.inputs.traffic import demands

    network = fl.network(name)
    if network.links > 40:
        network = network.with_failures(links=[1, 7, 30])
    wanted = demands(network, traffic, seed=5)
    for epsilon in (0.3, 0.03):
        found = wanted.bounds(epsilon)
        assert found["lower"] <= found["upper"] <= (1 + epsilon) * found["lower"]
        recheck(network, wanted, found, True)
    routing = fl.route(network, "ecmp", layers=3)
    found = wanted.bounds(0.03, routing)
    recheck(network, wanted, found, False)
    known = wanted.routes(routing)
    assert all((found[k] == known[k]).all() for k in known)


@pytest.mark.parametrize("traffic", ["uniform", "longest_matching", "elephant"])
@pytest.mark.parametrize(("name", "layers"), [("slim_fly:q=5,p=4", 4), ("hyperx:shape=3x4,p=2", 2),
                                              ("slim_fly:q=5,p=2", 1)])
def test_bounds_over_tables_enclose_the_linear_program(name, layers, traffic):
    words = {"engine": "layered", "layers": layers, "seed": 2}
    exact = fl.throughput(name, traffic, **words).maximum_achievable_throughput
    near = fl.throughput(name, traffic, epsilon=0.02, **words)
    low, high = near.maximum_achievable_throughput, near.upper_bound
    assert low * (1 - 1e-6) <= exact <= high * (1 + 1e-6) and high <= 1.02 * low


def test_links_of_unequal_rates(tmp_path):
    # endpoints and one link of 4 lanes; one link of 1 lane, one of 8: 1 + 1/4 + 2 for 2 endpoints
    cables = [None, {"speed": "HDR", "width": 1}, {"speed": "HDR", "width": 8}]
    links = [[0, 0, 1, 0, cable] for cable in cables]
    ends = [{"name": f"h{i}", "rails": [[i % 2, 0, None]]} for i in range(4)]
    path = tmp_path / "net.json"
    path.write_text(json.dumps({
        "flyloom": 1, "recipe": {"family": "custom", "params": {}},
        "switches": [{"name": "a"}, {"name": "b"}], "links": links, "endpoints": ends,
    }), encoding="utf-8")
    network = fl.network(str(path))
    exact = fl.throughput(network, "longest_matching").maximum_achievable_throughput
    assert exact == pytest.approx(3.25 / 2, rel=1e-6)
    near = fl.throughput(network, "longest_matching", epsilon=0.01)
    low, high = near.maximum_achievable_throughput, near.upper_bound
    assert low * (1 - 1e-9) <= 3.25 / 2 <= high * (1 + 1e-9) and high <= 1.01 * low


@settings(max_examples=60, deadline=None)
@given(n=st.integers(2, 8), extra=st.integers(0, 10), seed=st.integers(0, 2**32),
       epsilon=st.floats(0, 1.2), elephants=st.floats(-0.2, 1.2))
def test_bounds_hold_or_are_refused(n, extra, seed, epsilon, elephants):
    draw = random.Random(seed)
    edges = [(i, draw.randrange(i)) for i in range(1, n)]
    edges += [tuple(draw.sample(range(n), 2)) for _ in range(extra)]
    network = fl.from_pairs(edges, p=draw.randint(1, 3))
    allowed = 0.005 <= epsilon <= 1 and 0 <= elephants <= 1
    try:
        near = fl.throughput(network, "elephant", epsilon=epsilon, elephants=elephants)
    except fl.RefusalError as error:
        assert not allowed and str(error).startswith(("epsilon", "elephants"))
        return
    assert allowed
    exact = fl.throughput(network, "elephant", elephants=elephants).maximum_achievable_throughput
    low, high = near.maximum_achievable_throughput, near.upper_bound
    assert low * (1 - 1e-6) <= exact <= high * (1 + 1e-6) and high <= (1 + epsilon) * low


@pytest.mark.parametrize("name", ["ring:n=7,p=2", "mesh:shape=3x4,p=1", "slim_fly:q=5,p=4"])
def test_longest_matching_is_as_long_as_scipy_says(name):
    from flyloom.inputs.traffic import demands

    network = fl.network(name)
    far = nx.floyd_warshall_numpy(graph_of(network))
    on = np.repeat(np.arange(network.switches), endpoints_on(network))
    table = far[np.ix_(on, on)]
    wanted = table[linear_sum_assignment(-table)].sum()
    found = demands(network, "longest_matching")
    rows = found.by_switch()
    assert found.exact_matching
    hops = far[rows["source"], rows["destination"]]
    assert (rows["amount"] * hops).sum() == pytest.approx(wanted)
    for end in ("source", "destination"):
        sums = np.bincount(rows[end], weights=rows["amount"], minlength=network.switches)
        assert (sums <= np.array(endpoints_on(network)) + 1e-9).all()


def test_elephants_are_ten_times_the_rest():
    from flyloom.inputs.traffic import demands

    network = fl.network("ring:n=20,p=1")
    of = {f: demands(network, "elephant", elephants=f, seed=1).by_switch()["amount"]
          for f in (0, 0.25, 1)}
    assert sorted(of[0.25]) == pytest.approx([0.1] * 15 + [1.0] * 5)
    assert of[0] == pytest.approx(0.1) and of[1] == pytest.approx(1)


def test_one_route_a_pair_leaves_nothing_to_choose():
    network = fl.network("torus:shape=3x4,p=1")
    routing = fl.route(network, "dfsssp")
    # by hand: unit traffic between all endpoints loads a channel with its routes
    wanted = (network.endpoints - 1) / fl.edge_load(routing).edge_forwarding_index
    found = fl.throughput(network, engine="dfsssp")
    assert found.maximum_achievable_throughput == pytest.approx(wanted, rel=1e-9)
    assert wanted <= fl.throughput(network).maximum_achievable_throughput + 1e-9


def test_more_layers_split_at_will():
    # a ring of 4: opposite switches send over both paths where both paths are routes
    network = fl.network("slim_fly:q=5,p=4")
    one = fl.throughput(network, "longest_matching", engine="dfsssp")
    four = fl.throughput(network, "longest_matching", engine="layered", layers=4)
    free = fl.throughput(network, "longest_matching")
    values = [x.maximum_achievable_throughput for x in (one, four, free)]
    assert values == sorted(values) and values[0] < values[1] < values[2]
    routing = fl.route(network, "layered", layers=4)
    assert values[1] == pytest.approx(by_paths(network, routing), rel=1e-6)


def by_paths(network: fl.Topology, routing: fl.Routing) -> float:
    """The longest matching over the routes of every pair of endpoints, by scipy's simplex."""
    from flyloom.inputs.traffic import demands

    rows = demands(network, "longest_matching").by_switch()
    on = network.attachments[:, 0]
    # all 4 endpoints of a switch send to those of one other, in order
    pairs = [(int(a), int(b)) for s, d in zip(rows["source"], rows["destination"], strict=True)
             for a, b in zip(np.flatnonzero(on == s), np.flatnonzero(on == d), strict=True)]
    arcs: dict[tuple[int, int], int] = {}
    for a, b in network.edges.tolist():
        arcs[a, b], arcs[b, a] = len(arcs), len(arcs) + 1
    count = 1 + len(pairs) * routing.layers
    equal, below = np.zeros((len(pairs), count)), np.zeros((len(arcs), count))
    for k, (a, b) in enumerate(pairs):
        equal[k, 0] = -1
        for layer in range(routing.layers):
            column = 1 + k * routing.layers + layer
            equal[k, column] = 1
            for arc in itertools.pairwise(routing.path(a, b, layer)):
                below[arcs[arc], column] += 1
    goal = np.zeros(count)
    goal[0] = -1
    done = linprog(goal, A_ub=below, b_ub=np.ones(len(arcs)), A_eq=equal,
                   b_eq=np.zeros(len(pairs)))
    return -done.fun


def test_failed_links_carry_nothing():
    network = fl.network("mesh:shape=3x3,p=1").with_failures(links=[0, 5])
    wanted = brute(graph_of(network), uniform(network))
    found = fl.throughput(network).maximum_achievable_throughput
    assert found == pytest.approx(wanted, rel=1e-6)


def test_tables_over_a_link_that_is_down_are_refused():
    """One route, over channel 1, whose link carries nothing."""
    wanted = SimpleNamespace(capacities=lambda: np.array([1.0, 0.0]))
    found = {"amount": np.ones(1), "choice": np.zeros(1, np.uint32), "hops": np.ones(1, np.int64),
             "channels": np.ones(1, np.uint32)}
    with pytest.raises(fl.RefusalError, match="a route crosses a link that is down"):
        over_tables(wanted, found)
    found["channels"] = np.zeros(1, np.uint32)
    assert over_tables(wanted, found).value == 1.0


def test_planes_share_the_traffic():
    one = fl.throughput("hyperx:shape=4x4,p=2").maximum_achievable_throughput
    two = fl.throughput("multi_plane:planes=2,of=hyperx:shape=4x4,p=2")
    assert two.maximum_achievable_throughput == pytest.approx(2 * one, rel=1e-6)


def test_traffic_from_a_file(tmp_path):
    path = tmp_path / "traffic.csv"
    path.write_text("# two flows\nsrc,dst,demand\n0,1,1\n\n1,0,0.5\n", encoding="utf-8")
    # one link between the two switches: the larger flow fills its channel
    found = document("throughput", "complete:n=2,p=1", "--traffic", path)
    assert found["maximum_achievable_throughput"] == pytest.approx(1)
    names = fl.network("complete:n=2,p=1")
    first, _second = names.switch_names
    path.write_text(f"{first},{names.endpoint_names[1]},4\n", encoding="utf-8")
    found = document("throughput", "complete:n=2,p=1", "--traffic", path, "--epsilon", 0.05)
    assert found["maximum_achievable_throughput"] == pytest.approx(0.25)
    path.write_text("src_switch,dst_switch,demand\n0,1,2\n", encoding="utf-8")
    found = document("throughput", "complete:n=2,p=3", "--traffic", path)
    assert found["maximum_achievable_throughput"] == pytest.approx(0.5)
    assert found["exact"] is True and found["upper_bound"] == pytest.approx(0.5)


@pytest.mark.parametrize(("text", "says"), [
    ("0,1,1\n0,1", "line 2: 2 values"), ("0,1,1\n0,9,1", "line 2: 9 is no endpoint; 0 to 1"),
    ("0,1,nan", "line 1: nan is no amount"), ("0,1,-1", "line 1: -1 is no amount"),
    ("0,1,1e-7", "line 1: 1e-7 is no amount of traffic; 0, or 0.000001 to 1000000"),
    ("0,1,1e31", "line 1: 1e31 is no amount"), ("0,1,", "line 1:  is no amount"),
    ("0,nobody,1", "no endpoint and no switch 'nobody'"), ("", "no demands"),
    ("0,0,1", "nothing leaves its switch"), ("0,1,0", "nothing leaves its switch"),
])
def test_a_bad_file_is_refused_with_its_line(tmp_path, text, says):
    path = tmp_path / "traffic.csv"
    path.write_text(text, encoding="utf-8")
    done = flyloom("throughput", "complete:n=2,p=1", "--traffic", path)
    assert done.returncode == 2 and says in done.stderr


@pytest.mark.parametrize(("words", "says"), [
    (("--traffic", "nowhere"), "traffic: 'nowhere' is neither a name nor a file"),
    (("--epsilon", "0"), "epsilon: 0.0 is out of range; 0.005 to 1"),
    (("--epsilon", "nan"), "epsilon: nan is out of range"),
    (("--layers", "2"), "engine: lmc, layers and options"),
    (("--traffic", "elephant", "--elephants", "1.5"), "elephants: 1.5 is no fraction"),
    (("--seed", "-1"), "--seed"),
])
def test_bad_parameters_are_refused(words, says):
    done = flyloom("throughput", "complete:n=3,p=1", *words)
    assert done.returncode == 2 and says in done.stderr and "Traceback" not in done.stderr


def test_what_cannot_be_routed_is_refused():
    apart = fl.from_pairs([(0, 1), (2, 3)], p=1)
    for epsilon in (None, 0.1):
        with pytest.raises(fl.RefusalError, match="no path from"):
            fl.throughput(apart, epsilon=epsilon)
    with pytest.raises(fl.RefusalError, match="fewer than two working endpoints"):
        fl.throughput(fl.from_pairs([(0, 1)]))
    with pytest.raises(fl.RefusalError, match="or give epsilon"):
        fl.throughput("slim_fly:q=19")


IN_A_FILE = """\
schema = 1
name = "much"
seed = 4
topology = { family = "slim_fly", q = 3, p = 2 }
routing = { engine = "dfsssp" }
ebb = { samples = 0 }
[throughput]
traffic = "elephant"
[sweep.grid]
"throughput.any_paths" = [false, true]
"throughput.epsilon" = [0, 0.2]
"""


def test_in_an_experiment_it_is_what_the_verb_finds(tmp_path):
    (tmp_path / "much.toml").write_text(IN_A_FILE)
    rows = fl.run(tmp_path / "much.toml", out=tmp_path, workers=2).to_rows()
    found = [(row["throughput_maximum_achievable_throughput"], row["throughput_upper_bound"])
             for row in rows]
    want = []
    for engine in ("dfsssp", None):
        for epsilon in (None, 0.2):
            verb = fl.throughput("slim_fly:q=3,p=2", "elephant", engine=engine, epsilon=epsilon,
                                 seed=4)
            want.append((verb.maximum_achievable_throughput, verb.upper_bound))
    assert found == want and len(set(found)) == 4
    assert fl.run(tmp_path / "much.toml", out=tmp_path, workers=1).reused == 4


@pytest.mark.parametrize(("old", "new", "message"), [
    ("traffic =", "trafic =", "throughput: unknown field `trafic`; throughput takes traffic, "),
    ("[0, 0.2]", "[0, 2]", "throughput: epsilon: 2.0 is out of range; 0, or 0.005 to 1"),
    ('"elephant"', '"much"', "throughput.traffic: 'much' is neither a name nor a file"),
])
def test_in_an_experiment_bad_parameters_are_refused(tmp_path, old, new, message):
    (tmp_path / "much.toml").write_text(IN_A_FILE.replace(old, new))
    done = flyloom("run", "much.toml", cwd=tmp_path)
    assert done.returncode == 2 and message in done.stderr
    assert done.stderr.count("\n") == 1 and "measured_throughput.py" not in done.stderr


@pytest.mark.parametrize("how", [{}, {"epsilon": 0.005}, {"engine": "sssp"}])
def test_the_busiest_channels_are_those_that_limit_the_traffic(how):
    """Three switches in a row: both flows need the channel from 1 to 2, which is full at 2/3 of
    them; the first alone, 0.75 of 2/3, is on the channel before."""
    row = fl.from_pairs([(0, 1), (1, 2)], p=1)
    found = fl.throughput(row, [(0, 2, 0.75), (1, 2, 0.75)], **how)
    rows = [(c["from"], c["to"], c["load"]) for c in found.busiest_channels]
    names = row.switch_names
    assert [r[:2] for r in rows] == [(names[1], names[2]), (names[0], names[1])]
    assert [r[2] for r in rows] == pytest.approx([1, 0.5], rel=1e-3)
    assert fl.throughput(row, [(0, 2, 0.75)], top=0, **how).busiest_channels == []


def test_no_channel_is_loaded_by_flow_in_cycles():
    """A ring of four, one flow to the next switch: half of what fits goes each way round, so that
    every channel is used in one direction alone."""
    ring = fl.network("ring:n=4,p=1")
    found = fl.throughput(ring, [(0, 1, 1.0)])
    assert found.maximum_achievable_throughput == pytest.approx(2)
    assert [c["load"] for c in found.busiest_channels] == pytest.approx([1] * 4, abs=1e-3)


def test_the_command_lists_the_busiest_channels(tmp_path):
    said = flyloom("throughput", "ring:n=4,p=1", "--traffic", "shift:1", "--csv",
                   tmp_path / "hot.csv", "--top", 3)
    assert said.returncode == 0, said.stderr
    assert "busiest channels" in said.stdout and "written to" in said.stdout
    lines = (tmp_path / "hot.csv").read_text().splitlines()
    assert lines[0] == "from,port,to,to_port,load" and len(lines) == 4
    known = document("throughput", "ring:n=4,p=1", "--traffic", "shift:1", "--top", 3)
    assert [c["from"] for c in known["busiest_channels"]] == [
        line.split(",")[0] for line in lines[1:]]
