"""Own traffic: every verb that takes some, every kind of it, against loads counted by hand here."""

from __future__ import annotations

import itertools
import json
import random
from collections import defaultdict

import flyloom as fl
import numpy as np
import pytest
import scipy.io
import scipy.sparse
from cli_helpers import document, flyloom
from flyloom import RefusalError
from test_application import most_loaded
from test_throughput import brute, graph_of

NET = "torus:shape=3x3,p=2"
TOPOLOGY = fl.network(NET)
N = TOPOLOGY.endpoints
NAMES = TOPOLOGY.endpoint_names


def pairs() -> dict[tuple[int, int], float]:
    """A few pairs, among them two on one switch, with amounts below and above 1."""
    draw = random.Random(5)
    chosen = draw.sample(list(itertools.permutations(range(N), 2)), 14)
    return {(0, 1): 2.0, **{pair: draw.choice([0.25, 1.0, 1.5]) for pair in chosen}}


PAIRS = pairs()


def matrix() -> np.ndarray:
    dense = np.zeros((N, N))
    for pair, amount in PAIRS.items():
        dense[pair] = amount
    np.fill_diagonal(dense, 3.0)  # what an endpoint sends to itself never leaves it
    return dense


def lines(cells) -> str:
    return "".join(",".join(map(str, row)) + "\n" for row in cells)


def kinds(folder) -> dict[str, object]:
    """The same traffic in every form that there is."""
    rows = [(a, b, x) for (a, b), x in PAIRS.items()]
    np.save(folder / "t.npy", matrix())
    scipy.sparse.save_npz(folder / "t.npz", scipy.sparse.csr_array(matrix()))
    scipy.io.mmwrite(folder / "t.mtx", scipy.sparse.coo_array(matrix()))
    (folder / "numbers.csv").write_text("src,dst,demand\n# three columns\n" + lines(rows))
    named = [(NAMES[a], NAMES[b], x) for a, b, x in rows]
    (folder / "names.csv").write_text(lines(named))
    (folder / "blanks.txt").write_text(lines(named).replace(",", "  "))
    (folder / "dense.txt").write_text(lines(matrix()).replace(",", " "))
    (folder / "dense.csv").write_text(lines(matrix()))
    python = {
        "array": matrix(), "csr": scipy.sparse.csr_array(matrix()),
        "coo matrix": scipy.sparse.coo_matrix(matrix()), "nested lists": matrix().tolist(),
        "rows": rows, "named rows": named, "array of rows": np.array(rows),
        "a mapping": PAIRS, "a generator": (row for row in rows),
    }
    files = ("t.npy", "t.npz", "t.mtx", "numbers.csv", "names.csv", "blanks.txt", "dense.txt",
             "dense.csv")
    return python | {name: folder / name for name in files}


def counted(routing, sent: dict, endpoint_cables: bool) -> tuple[float, float]:
    """The largest load that a message meets, and the mean share weighed by amounts: every message
    followed by itself. All cables are alike, and an endpoint has one."""
    load: dict = defaultdict(float)
    routes_of = {}
    for (a, b), amount in sent.items():
        for layer in range(routing.layers):
            path = routing.path(a, b, layer)
            route = list(itertools.pairwise(path))
            if endpoint_cables:
                route += [("out", a), ("in", b)]
            routes_of[a, b, layer] = route
            for channel in route:
                load[channel] += amount / routing.layers
    worst = {key: max((load[c] for c in route), default=0.0) for key, route in routes_of.items()}
    largest = max(max(x, min(1, sent[key[:2]])) for key, x in worst.items())
    got = sum(sent[a, b] / routing.layers / max(1, x) for (a, b, _), x in worst.items())
    return largest, got / sum(sent.values())


def between_switches() -> dict[tuple[int, int], float]:
    at = TOPOLOGY.attachments[:, 0]
    found: dict = defaultdict(float)
    for (a, b), amount in PAIRS.items():
        if at[a] != at[b]:
            found[int(at[a]), int(at[b])] += amount
    return dict(found)


@pytest.mark.parametrize("layers", [1, 2])
def test_every_kind_means_the_same_to_every_verb(tmp_path, layers):
    routing = fl.route(NET, "layered" if layers > 1 else "dfsssp", layers=layers)
    with_cables, without = (counted(routing, PAIRS, which) for which in (True, False))
    most = brute(graph_of(TOPOLOGY), between_switches()) if layers == 1 else None
    flows = [(a, b, x) for (a, b), x in PAIRS.items()]
    tables = fl.route(NET, "application", traffic=flows, layers=layers)
    assert most_loaded(tables, TOPOLOGY, flows) <= most_loaded(
        fl.route(NET, "sssp", layers=layers), TOPOLOGY, flows)
    for name in kinds(tmp_path):
        def traffic(name: str = name) -> object:
            return kinds(tmp_path)[name]  # a generator is used up

        met = fl.congestion(routing, traffic=traffic())
        assert (met.max_congestion, met.mean_share) == pytest.approx(with_cables), name
        assert (met.samples, met.levels) == (1, 1)
        alone = fl.ebb(routing, traffic=traffic())
        assert (alone.max_congestion, alone.effective_bisection_bandwidth) == pytest.approx(
            without), name
        assert alone.samples == 1 and alone.confidence_interval_95 is None
        if most is not None:
            found = fl.throughput(NET, traffic()).maximum_achievable_throughput
            assert found == pytest.approx(most, rel=1e-6), name
        again = fl.route(NET, "application", traffic=traffic(), layers=layers)
        assert (again.next == tables.next).all(), name


def test_files_mean_the_same_on_the_command_line_and_in_experiments(tmp_path):
    kinds(tmp_path)
    routing = fl.route(NET)
    largest, share = counted(routing, PAIRS, True)
    bandwidth = counted(routing, PAIRS, False)[1]
    over_tables = fl.throughput(routing, PAIRS).maximum_achievable_throughput
    load: dict = defaultdict(float)
    for (a, b), x in PAIRS.items():
        for channel in itertools.pairwise(routing.path(a, b)):
            load[channel] += x
    assert over_tables == pytest.approx(1 / max(load.values()))
    for name in ("t.npy", "t.mtx", "names.csv", "dense.txt"):
        file = str(tmp_path / name)
        met = document("congestion", NET, "--traffic", file)
        assert (met["max_congestion"], met["mean_share"]) == pytest.approx((largest, share))
        assert met["pattern"] == file
        found = document("ebb", NET, "--traffic", file)
        assert found["effective_bisection_bandwidth"] == pytest.approx(bandwidth)
    found = document("throughput", NET, "-e", "dfsssp", "--traffic", file)
    assert found["maximum_achievable_throughput"] == pytest.approx(over_tables)
    text = """
schema = 1
name = "own"
[topology]
family = "torus"
shape = [3, 3]
p = 2
[routing]
engine = "dfsssp"
[ebb]
traffic = "t.npy"
[congestion]
traffic = "names.csv"
[throughput]
traffic = "dense.txt"
"""
    (tmp_path / "own.toml").write_text(text)
    fl.run(tmp_path / "own.toml", out=tmp_path / "out")
    point = next((tmp_path / "out" / "own" / "points").glob("*.json"))
    record = json.loads(point.read_text())
    assert record["ebb"]["effective_bisection_bandwidth"] == pytest.approx(bandwidth)
    assert record["measures"]["congestion"]["mean_share"] == pytest.approx(share)
    assert record["measures"]["throughput"]["maximum_achievable_throughput"] == pytest.approx(
        over_tables)
    # other content is another point
    np.save(tmp_path / "t.npy", 2 * matrix())
    fl.run(tmp_path / "own.toml", out=tmp_path / "out")
    assert len(list((tmp_path / "out" / "own" / "points").glob("*.json"))) == 2
    inline = text.replace('traffic = "names.csv"', f'traffic = [["{NAMES[0]}", 5, 2.0]]')
    two = f'traffic = [["{NAMES[0]}", 5, 2.0], [1, 6, 1.0]]'
    inline = inline.replace('traffic = "dense.txt"', two)
    (tmp_path / "own.toml").write_text(inline.replace('"own"', '"inline"'))
    fl.run(tmp_path / "own.toml", out=tmp_path / "out")
    point = next((tmp_path / "out" / "inline" / "points").glob("*.json"))
    found = json.loads(point.read_text())["measures"]
    assert found["congestion"]["mean_share"] == 0.5
    assert found["throughput"]["maximum_achievable_throughput"] == pytest.approx(0.5)
    assert found["throughput"]["traffic"] == "given"
    (tmp_path / "own.toml").write_text(inline.replace("[1, 6, 1.0]]", "7]"))
    with pytest.raises(fl.RefusalError, match="throughput: traffic: .* text, or a list of lists"):
        fl.run(tmp_path / "own.toml", out=tmp_path / "out")


def test_all_to_all_is_every_ordered_pair():
    everyone = dict.fromkeys(itertools.permutations(range(N), 2), 1.0)
    routing = fl.route(NET)
    whole = fl.congestion(routing, "all_to_all", samples=2)
    assert (whole.max_congestion, whole.mean_share) == pytest.approx(
        counted(routing, everyone, True))
    rate = dict.fromkeys(everyone, 1 / (N - 1))
    for name in ("all_to_all", "uniform"):
        met = fl.congestion(routing, traffic=name)
        assert (met.max_congestion, met.mean_share) == pytest.approx(counted(routing, rate, True))
        alone = fl.ebb(routing, traffic=name).effective_bisection_bandwidth
        assert alone == pytest.approx(counted(routing, rate, False)[1])
        assert fl.throughput(NET, name).maximum_achievable_throughput == pytest.approx(
            fl.throughput(NET, rate).maximum_achievable_throughput)
        assert fl.route(NET, "application", traffic=name) == fl.route(NET, "application")


def test_a_pattern_is_traffic_of_the_endpoints_in_their_order():
    ring = {(i, (i + 1) % N): 1.0 for i in range(N)}
    routing = fl.route(NET)
    assert fl.ebb(routing, traffic="ring").to_dict() == {
        **fl.ebb(routing, traffic=ring).to_dict(), "traffic": "ring"}
    wanted = fl.throughput(NET, ring).maximum_achievable_throughput
    assert fl.throughput(NET, "ring").maximum_achievable_throughput == wanted
    alone = fl.congestion(routing, "ring", placement="linear", samples=1)
    assert alone.mean_share == fl.congestion(routing, traffic="ring").mean_share
    one, other = (fl.ebb(routing, traffic="permutation", seed=s).to_dict() for s in (1, 2))
    assert one != other
    large = [fl.throughput(NET, "elephant", elephants=0.5, seed=1), fl.throughput(
        NET, "elephant:0.5", seed=1)]
    assert large[0].upper_bound == large[1].upper_bound


def test_traffic_of_a_switch_is_that_of_its_endpoints():
    at = TOPOLOGY.attachments[:, 0]
    mine, theirs = (np.flatnonzero(at == s) for s in (0, 4))
    spread = {(int(a), int(b)): 3.0 / 4 for a in mine for b in theirs}
    names = TOPOLOGY.switch_names
    routing = fl.route(NET)
    one, other = (fl.congestion(routing, traffic=t) for t in (
        [(names[0], names[4], 3.0)], spread))
    assert one.mean_share == other.mean_share and one.series == other.series


BAD = [
    (np.zeros((3, 4)), "3 x 4; the network has 18 endpoints: 18 x 18"),
    (np.full((N, N), np.nan), r"traffic\[0, 0\]: nan is no amount"),
    (-np.eye(N), r"traffic\[0, 0\]: -1 is no amount"),
    (np.full((N, N), 1e31), "1e\\+31 is no amount of traffic; 0, or 0.000001 to 1000000, .* bytes"),
    (np.zeros((2, N, N)), "an array of shape"),
    ([(0, 1), (0, 2, 1.0)], "row 1: 3 values; src,dst,demand in every row"),
    (np.array([["a"] * N] * N), "of type"),
    (scipy.sparse.csr_array((5, 5)), "5 x 5; the network has 18"),
    (scipy.sparse.csr_array(np.diag([0.0] * (N - 1) + [np.inf])), r"traffic\[17, 17\]: inf"),
    ([(0, 99, 1.0)], "row 0: 99 is no endpoint; 0 to 17"),
    ([(0, 1, 1.0), (NAMES[3] + "x", 1, 1.0)], f"row 1: .*did you mean '{NAMES[3]}'"),
    ([(0, 1, "much")], "row 0: much is no amount"),
    ([(0, 1, 1, 1)], "row 0: 4 values; src,dst,demand"),
    ([5], "row 0: 1 values"),
    ({(0, 1, 2): 1.0}, "not a pair"),
    ([], "no demands"),
    ("ringg", "neither a name nor a file .did you mean 'ring'"),
    ("uniform:3", "uniform alone"),
    ("elephant:7", "elephants"),
    (7, "7 is no traffic; a name, a file, a matrix"),
]


@pytest.mark.parametrize(("traffic", "words"), BAD)
def test_bad_traffic_is_refused_alike(traffic, words):
    for asked in (
        lambda: fl.throughput(NET, traffic), lambda: fl.ebb(NET, traffic=traffic),
        lambda: fl.congestion(NET, traffic=traffic),
        lambda: fl.route(NET, "application", traffic=traffic),
    ):
        with pytest.raises(RefusalError, match=words) as found:
            asked()
        assert "\n" not in str(found.value)


@pytest.mark.parametrize("text", [
    "source,destination,amount\n{0},{1},8e9\n{0},{2},4e9\n{3},{1},3e9\n",
    ",source,destination,amount\n0,{0},{1},8e9\n1,{0},{2},4e9\n2,{3},{1},3e9\n",
    "src,dst,bytes\n{0},{1},8\n{0},{2},4\n{3},{1},3\n",
    "{0} {1} 8e9\n{0} {2} 4e9\n{3} {1} 3e9\n",
])
def test_bytes_are_divided_by_what_the_busiest_sender_sends(tmp_path, text):
    file = tmp_path / "sent.csv"
    file.write_text(text.format(*(NAMES[i] for i in (0, 9, 13, 5))))
    shares = [(0, 9, 8 / 12), (0, 13, 4 / 12), (5, 9, 3 / 12)]
    most = r"1.2e\+10" if "8e9" in text else "12"
    with pytest.warns(UserWarning, match=rf"sent.csv: amounts .* as bytes: 1 is {most} bytes"):
        found = fl.congestion(NET, traffic=file)
    assert found.max_congestion == pytest.approx(fl.congestion(NET, traffic=shares).max_congestion)
    done = flyloom("ebb", NET, "--traffic", str(file))
    assert done.returncode == 0 and done.stderr.count("amounts are taken as bytes") == 1


def test_bytes_of_a_matrix_and_of_switches():
    names = TOPOLOGY.switch_names
    matrix = np.zeros((N, N))
    matrix[0, 9], matrix[0, 13], matrix[5, 9], matrix[7, 1] = 8e9, 4e9, 3e9, 1.0
    with pytest.warns(UserWarning, match="1 of less than a millionth"):
        found = fl.ebb(NET, traffic=matrix)
    matrix[7, 1] = 0
    wanted = fl.ebb(NET, traffic=matrix / 12e9)
    assert found.pattern_means == pytest.approx(wanted.pattern_means)
    each = TOPOLOGY.endpoints // TOPOLOGY.switches
    with pytest.warns(UserWarning, match="bytes"):
        found = fl.ebb(NET, traffic=[(names[0], names[4], 6e9)])
    wanted = fl.ebb(NET, traffic=[(names[0], names[4], float(each))])
    assert found.pattern_means == pytest.approx(wanted.pattern_means)


def test_what_goes_with_patterns_alone_is_refused_with_traffic():
    for more in ({"pattern": "ring"}, {"placement": "linear"}, {"endpoints": 4}, {"levels": "all"}):
        with pytest.raises(RefusalError, match=f"{next(iter(more))}: traffic says itself"):
            fl.congestion(NET, traffic=PAIRS, **more)
    for nothing in ({(0, 0): 1.0}, {(0, 1): 0.0}, np.zeros((N, N))):
        with pytest.raises(RefusalError, match="nothing is sent"):
            fl.congestion(NET, traffic=nothing)


BROKEN = [
    ("t.csv", b"0,1,1\n0,nobody,1\n", "t.csv: line 2: there is no endpoint"),
    ("t.csv", b"src,dst,demand\n\n0,1,-1\n", "t.csv: line 3: -1 is no amount"),
    ("t.txt", b"0 1 1\n0 1 1 1\n", "t.txt: line 2: 4 values"),
    ("t.txt", "".join("0 " * 17 + ("x\n" if i == 4 else "0\n") for i in range(18)).encode(),
     "t.txt: line 5, column 18: x is no number"),
    ("t.txt", "".join("0 " * 17 + ("-3\n" if i == 4 else "0\n") for i in range(18)).encode(),
     "t.txt: line 5, column 18: -3 is no amount"),
    ("t.npy", b"not numpy's", "t.npy: no matrix of numpy's .npy"),
    ("t.npz", b"PK not scipy's", "t.npz: no matrix of scipy's .npz"),
    ("t.mtx", b"%%MatrixMarket nonsense\n", "t.mtx: no matrix of Matrix Market"),
    ("t.mtx", b"%%MatrixMarket matrix coordinate real general\n18 18 1\n1 x 1\n",
     "t.mtx: no matrix of Matrix Market: Line 3"),
]


@pytest.mark.parametrize(("name", "content", "words"), BROKEN)
def test_broken_files_are_refused_with_their_line(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(RefusalError, match=words):
        fl.ebb(NET, traffic=tmp_path / name)
    done = flyloom("throughput", NET, "--traffic", str(tmp_path / name))
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
