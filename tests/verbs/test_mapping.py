"""Mappings against an independent evaluation, against other mappers' results, and bad input."""

from __future__ import annotations

import csv
import gzip
import itertools
import json
import os
import re
import signal
import subprocess
import time
from collections import deque
from fractions import Fraction
from pathlib import Path

import checkout
import flyloom as fl
import networkx as nx
import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from cli_helpers import command, document, environment, flyloom
from oracle_routes import Wires, follow
from patience import HANG_S

DATA = checkout.DATA / "mapping"
HEAD = "%%MatrixMarket matrix coordinate real general"
CASES = {
    name: (net, str(DATA / graph) if graph.endswith(".mtx") else graph)
    for name, (net, graph) in json.loads((DATA / "cases.json").read_text()).items()
}


def peers(case: str, prefix: str | None = None) -> list[dict[str, str]]:
    """The rows of other mappers, or those whose method begins with ``prefix``."""
    rows = [row for row in csv.DictReader((DATA / "peers.csv").open()) if row["case"] == case]
    if prefix is not None:
        return [row for row in rows if row["method"].startswith(prefix)]
    return [row for row in rows if not row["method"].startswith("proto")]


def least(rows: list[dict[str, str]], column: str) -> float:
    """The least value of a column that not all rows have."""
    return min(float(row[column]) for row in rows if row[column])


def independent(net: fl.Topology, graph: object, places: list[int]) -> dict[str, Fraction]:
    """Hop-bytes and congestion from their definitions, in fractions, pair by pair."""
    near: dict[int, list[tuple[int, int]]] = {}
    for link, (a, b) in enumerate(net.edges):
        near.setdefault(int(a), []).append((int(b), 2 * link))
        near.setdefault(int(b), []).append((int(a), 2 * link + 1))
    home = [int(s) for s in net.attachments[:, 0]]
    far: dict[int, dict[int, int]] = {}
    load: dict[int, Fraction] = {}
    hops, longest = Fraction(0), 0
    columns = fl.communication(graph).columns()
    total = Fraction(0)
    for u, v, amount in zip(columns["from"], columns["to"], columns["bytes"], strict=True):
        weight = Fraction(float(amount))
        total += weight
        s, t = home[places[u]], home[places[v]]
        if t not in far:
            far[t] = distances(near, t)
        hops += weight * far[t][s]
        longest = max(longest, far[t][s])
        here = {s: weight}
        while t not in here:
            there: dict[int, Fraction] = {}
            for at, part in here.items():
                ahead = [(w, c) for w, c in near[at] if far[t][w] == far[t][at] - 1]
                for w, c in ahead:
                    share = part / len(ahead)
                    load[c] = load.get(c, Fraction(0)) + share
                    there[w] = there.get(w, Fraction(0)) + share
            here = there
    channels = 2 * len(net.edges)
    return {
        "hop_bytes": hops, "average_dilation": hops / total, "maximum_dilation": Fraction(longest),
        "maximum_congestion": max(load.values(), default=Fraction(0)),
        "mean_congestion": sum(load.values(), Fraction(0)) / channels,
    }


def distances(near: dict[int, list[tuple[int, int]]], source: int) -> dict[int, int]:
    """Hops to every switch."""
    far, queue = {source: 0}, deque([source])
    while queue:
        at = queue.popleft()
        for w, _ in near[at]:
            if w not in far:
                far[w] = far[at] + 1
                queue.append(w)
    return far


@pytest.mark.parametrize("net", ["slim_fly:q=5,p=4", "dragonfly:h=2", "fat_tree:levels=3,k=4",
                                 "torus:shape=4x3,p=3"])
def test_evaluations_are_those_of_the_definitions(net: str) -> None:
    network = fl.network(net)
    rng = np.random.default_rng(7)
    count = network.endpoints
    for processes in (count, count // 2):
        matrix = rng.integers(0, 50, (processes, processes)) * (rng.random((processes,) * 2) < 0.1)
        np.fill_diagonal(matrix, 0)
        places = rng.permutation(count)[:processes].tolist()
        found = fl.evaluate_mapping(network, matrix, places)
        for key, value in independent(network, matrix, places).items():
            assert found[key] == pytest.approx(float(value), rel=1e-9), key


@pytest.mark.parametrize("case", CASES)
def test_linear_is_worth_what_others_measured(case: str) -> None:
    net, graph = CASES[case]
    processes = fl.communication(graph).processes
    found = fl.evaluate_mapping(net, graph, range(processes))
    (row,) = peers(case, "linear")
    assert found.hop_bytes == pytest.approx(float(row["hop_bytes"]), rel=1e-6)
    assert found.maximum_congestion == pytest.approx(float(row["max_congestion"]), abs=0.01)
    assert found.mean_congestion == pytest.approx(float(row["mean_congestion"]), abs=0.01)
    assert found.linear == {key: found[key] for key in found.linear}


@pytest.mark.parametrize("case", CASES)
def test_no_other_mapper_is_better(case: str) -> None:
    net, graph = CASES[case]
    rows = peers(case)
    short = fl.map_processes(net, graph, objective="hops")
    assert short.hop_bytes <= least(rows, "hop_bytes") * (1 + 1e-9)
    assert short.average_dilation <= least(rows, "dilation") + 5e-5
    cool = fl.map_processes(net, graph)
    assert cool.maximum_congestion <= least(rows, "max_congestion") + 0.005
    assert cool.hop_bytes >= cool.hop_bytes_bound
    assert cool.maximum_congestion >= cool.congestion_bound
    for found in (short, cool):
        assert len(set(found.mapping)) == found.processes  # one process an endpoint
        again = fl.evaluate_mapping(net, graph, found.mapping)
        assert again.maximum_congestion == found.maximum_congestion
    quick = fl.map_processes(net, graph, objective="hops", effort="fast")
    one_run = [row for row in peers(case, "scotch") if row["hop_bytes"]]
    assert quick.hop_bytes <= float(one_run[0]["hop_bytes"]) * 1.01


def test_a_mapping_is_the_same_every_time(tmp_path: Path) -> None:
    words = ["map", "slim_fly:q=5,p=4", "--graph", DATA / "fem_sf5.mtx", "--effort", "fast"]
    first, second = document(*words, "--seed", 3), document(*words, "--seed", 3)
    for found in (first, second):
        assert found.pop("cpu_seconds") > 0
    assert first == second
    assert document(*words, "--seed", 4)["mapping"] != first["mapping"]


def test_the_keys_of_json() -> None:
    found = document("map", "slim_fly:q=5,p=4", "--graph", DATA / "fem_sf5.mtx", "--effort", "fast")
    figures = {"hop_bytes", "average_dilation", "maximum_dilation", "maximum_congestion",
               "mean_congestion", "endpoint_congestion"}
    keys = figures | {"processes", "hop_bytes_bound", "congestion_bound", "linear", "method",
                      "cpu_seconds", "mapping", "busiest", "interrupted"}
    assert set(found) == keys
    assert set(found["linear"]) == figures
    busy = found["busiest"][0]
    assert busy["load"] == pytest.approx(found["maximum_congestion"])
    # what is on the busiest channel is what its pairs bring, where all of them are listed
    assert sum(load for _, _, load in busy["pairs"]) <= busy["load"] * (1 + 1e-6)


@pytest.mark.parametrize("format", ["list", "rankfile", "hydra", "slurm", "cray", "pbs", "json"])
def test_a_file_is_evaluated_and_placed_as_it_was_found(format: str, tmp_path: Path) -> None:
    net, graph = CASES["fem_sf5"]
    file = tmp_path / "ranks"
    found = document("map", net, "--graph", graph, "--effort", "fast", "-o", file,
                     "--format", format)
    again = document("map-eval", net, "--graph", graph, "--mapping", file)
    assert again["mapping"] == found["mapping"]
    assert again["maximum_congestion"] == found["maximum_congestion"]
    run = document("sim", "message", "--workload", "alltoall_linear bytes=100", net,
                   "--placement", file)
    listed = tmp_path / "list"
    listed.write_text("".join(f"{e}\n" for e in found["mapping"]))
    same = document("sim", "message", "--workload", "alltoall_linear bytes=100", net,
                    "--placement", listed)
    assert run["finish_ns"] == same["finish_ns"]


def test_matrices_graphs_and_schedules_are_communication_graphs(tmp_path: Path) -> None:
    dense = np.array([[0, 5, 0], [0, 0, 7], [2, 0, 0]])
    graph = nx.DiGraph()
    graph.add_nodes_from(range(3))
    graph.add_weighted_edges_from([(0, 1, 5), (1, 2, 7), (2, 0, 2)])
    goal = tmp_path / "a.goal"
    goal.write_text("num_ranks 3\nrank 0 {\nsend 5b to 1\nrecv 2b from 2\n}\nrank 1 {\nrecv 5b from"
                    " 0\nsend 7b to 2\n}\nrank 2 {\nrecv 7b from 1\nsend 2b to 0\n}\n")
    expect = [(0, 1, 5), (1, 2, 7), (2, 0, 2)]
    for source in (dense, dense.tolist(), sp.csr_matrix(dense), graph, goal, fl.workload(goal)):
        rows = fl.communication(source).columns()
        columns = (rows[key].tolist() for key in ("from", "to", "bytes"))
        assert list(zip(*columns, strict=True)) == expect
    undirected = nx.path_graph(3)
    assert fl.communication(undirected).total_bytes == 4


def test_monitoring_of_all_ranks_is_one_graph(tmp_path: Path) -> None:
    for rank in range(3):
        line = f"E\t{rank}\t{(rank + 1) % 3}\t{10 + rank} bytes\t1 msgs sent\t0,1\n"
        (tmp_path / f"run.{rank}.prof").write_text("# POINT TO POINT\n" + line)
    for source in (tmp_path, tmp_path / "run.0.prof"):
        assert fl.communication(source).columns()["bytes"].tolist() == [10, 11, 12]
    (tmp_path / "run.1.prof").unlink()
    with pytest.raises(fl.RefusalError, match="rank 1"):
        fl.communication(tmp_path)


def test_the_halo_of_a_partitioned_matrix() -> None:
    # the definition, on the parts that were found: see what arrives where
    matrix = sp.random(120, 120, 0.05, random_state=4, format="csr")
    graph = fl.communication(abs(matrix)).halo(6)
    assert graph.processes == 6
    whole = fl.communication(abs(matrix)).halo(120).columns()
    # with a row a part: 8 bytes from every column's owner to every row with an entry there
    entries = {(c, r) for r, c in zip(*matrix.nonzero(), strict=True) if r != c}
    assert len(whole["from"]) == len(entries) and set(whole["bytes"].tolist()) == {8.0}
    assert graph.total_bytes < 8 * len(entries)


def test_tables_are_followed() -> None:
    net = fl.network("torus:shape=4x4,p=1")
    tables = fl.route(net, "dor")
    ring = sp.coo_matrix((np.full(16, 3.0), (range(16), [(i + 5) % 16 for i in range(16)])))
    ring = sp.coo_matrix(ring, shape=(16, 16))
    places = np.random.default_rng(1).permutation(16).tolist()
    found = fl.evaluate_mapping(tables, ring, places)
    load: dict[tuple[int, int], float] = {}
    for u in range(16):
        path = tables.path(places[u], places[(u + 5) % 16])
        for a, b in itertools.pairwise(path):
            load[a, b] = load.get((a, b), 0) + 3.0
    assert found.maximum_congestion == max(load.values())
    assert found.hop_bytes == sum(load.values())
    mapped = fl.map_processes(tables, ring, objective="congestion")
    assert mapped.maximum_congestion <= found.maximum_congestion


@pytest.mark.parametrize("spec", ["torus:shape=3x3,p=1", "ring:n=8,p=1"])
def test_routes_that_are_longer_there_than_back_count_both(spec: str) -> None:
    """The least hop-bytes of all placements of four processes, routes followed port by port."""
    net = fl.network(spec)
    tables, wires, hosts = fl.route(net, "valiant_static"), Wires(net), range(net.endpoints)
    assert tables.layers == 1
    far = {(a, b): len(follow(wires, tables.next[0, b].tolist(), wires.home[a][0], wires.home[b]))
           for a, b in itertools.permutations(hosts, 2)}
    assert sum(far[a, b] != far[b, a] for a, b in far) > 10
    for seed in range(3):
        sent = np.triu(np.random.default_rng(seed).integers(0, 40, (4, 4)), 1)
        sent += sent.T
        pairs = list(itertools.permutations(range(4), 2))
        least = min(sum(sent[u, v] * far[at[u], at[v]] for u, v in pairs)
                    for at in itertools.permutations(hosts, 4))
        found = fl.map_processes(tables, sent.tolist(), objective="hops", effort="best")
        assert found.hop_bytes == least


def test_hosts_pins_and_slots_are_kept(tmp_path: Path) -> None:
    net = fl.network("dragonfly:h=2")
    hosts, pins = tmp_path / "hosts", tmp_path / "pins"
    names = net.endpoint_names
    hosts.write_text("\n".join(names[i] for i in range(10, 30)) + "\n")
    pins.write_text(f"0 {names[29]}\n7 12\n")
    graph = "stencil:shape=5x8,bytes=9"
    found = document("map", "dragonfly:h=2", "--graph", graph, "--hosts", hosts,
                     "--per-endpoint", 2, "--pin", pins)
    assert found["mapping"][0] == 29 and found["mapping"][7] == 12
    counts = np.bincount(found["mapping"], minlength=72)
    assert counts[10:30].tolist() == [2] * 20
    assert found["linear"]["hop_bytes"] == fl.evaluate_mapping(
        net, graph, [10 + i // 2 for i in range(40)]).hop_bytes


def test_processes_are_mapped_under_the_tables_of_a_fabric(tmp_path: Path) -> None:
    """Congestion under a dump of OpenSM's tables, by following its lines pair by pair."""
    for name in ("ibnetdiscover_base.txt", "sf_q5_minhop.dump_fts.txt"):
        packed = (DATA.parent / "ib" / f"{name}.gz").read_bytes()
        (tmp_path / name).write_bytes(gzip.decompress(packed))
    fabric, dump = sorted(tmp_path.iterdir())
    far: dict[tuple[str, str], str] = {}
    leaf: dict[str, str] = {}
    node = ""
    for line in fabric.read_text().splitlines():
        if begins := re.match(r'(?:Switch|Ca)\s+\d+ "(\S+)"\s+# "(\S+)"', line):
            node = begins[1] if begins[1][0] == "S" else begins[2]
        elif cable := re.match(r'\[(\d+)\](?:\(\w+\))?\s+"(\S+)"\[\d+\]', line):
            far[node, cable[1]] = cable[2]
            if node[:2] != "S-":
                leaf[node] = cable[2]
    ports: dict[tuple[str, str], str] = {}
    for line in dump.read_text().splitlines():
        if begins := re.match(r"Unicast lids .* guid 0x(\w+)", line):
            node = f"S-{begins[1]}"
        elif entry := re.match(r"0x\w+ 0*(\d+) : \(Channel Adapter .*: '(\S+)'", line):
            ports[node, entry[2]] = entry[1]
    rng = np.random.default_rng(3)
    sent = rng.integers(1, 90, (30, 30)) * (rng.random((30, 30)) < 0.2)
    np.fill_diagonal(sent, 0)
    scipy.io.mmwrite(tmp_path / "app.mtx", sp.csr_matrix(sent))
    words = (dump, "--found", fabric, "--graph", tmp_path / "app.mtx")
    mapped = document("map", *words, "-o", tmp_path / "hosts", "--format", "slurm")
    given = document("map-eval", *words, "--mapping", tmp_path / "hosts")
    hosts = (tmp_path / "hosts").read_text().split()
    loads: dict[tuple[str, str], int] = {}
    hops = 0
    for a, b in itertools.product(range(30), repeat=2):
        at = leaf[hosts[a]]
        while sent[a, b] and at != leaf[hosts[b]]:
            out = ports[at, hosts[b]]
            loads[at, out] = loads.get((at, out), 0) + int(sent[a, b])
            hops += int(sent[a, b])
            at = far[at, out]
    assert len(hosts) == 30 and len(set(hosts)) == 30
    for message in (mapped, given):
        assert message["maximum_congestion"] == max(loads.values())
        assert message["hop_bytes"] == hops
    assert mapped["maximum_congestion"] < mapped["linear"]["maximum_congestion"]
    refused = flyloom("map", *words, "--with-routing")
    assert (refused.returncode, refused.stdout) == (2, "") and "--found" in refused.stderr
    refused = flyloom("map", *words, "-e", "dfsssp")
    assert refused.returncode == 2 and "these are tables" in refused.stderr


@pytest.mark.parametrize("text", [
    "0 slots=3 max_slots=9\n2\n5 slots=2\n", "0:3,2:1,5:2\n", "0\n2\n0\n5\n0\n5\n",
    [0, 0, 0, 2, 5, 5],
], ids=["openmpi", "hydra", "pbs", "numbers"])
def test_hosts_with_slots_that_differ(text: str | list[int], tmp_path: Path) -> None:
    """The least hop-bytes of all arrangements, on hosts as launchers list them."""
    rng = np.random.default_rng(5)
    sent = rng.integers(0, 20, (6, 6)) * (rng.random((6, 6)) < 0.5)
    np.fill_diagonal(sent, 0)

    def cost(places: tuple[int, ...]) -> int:
        far = [[min((a - b) % 7, (b - a) % 7) for b in places] for a in places]
        return int((sent * far).sum())

    costs = {cost(places) for places in itertools.permutations((0, 0, 0, 2, 5, 5))}
    hosts: list[int] | Path = tmp_path / "hosts"
    if isinstance(text, str):
        Path(tmp_path / "hosts").write_text(text)
    else:
        hosts = text
    found = fl.map_processes("ring:n=7,p=1", sent, objective="hops", hosts=hosts)
    assert sorted(found.mapping) == [0, 0, 0, 2, 5, 5]
    assert found.hop_bytes == cost(tuple(found.mapping)) == min(costs) < max(costs)
    assert found.hop_bytes_bound <= min(costs)
    assert found.linear["hop_bytes"] == cost((0, 0, 0, 2, 5, 5))
    each = fl.map_processes("ring:n=7,p=1", sent, hosts=hosts, per_endpoint=2)
    assert sorted(each.mapping) == [0, 0, 2, 2, 5, 5], "the number stands above the list's"


@pytest.mark.parametrize(("text", "says"), [
    (f"{HEAD}\n300 300 1\n1 2 3\n", "300 processes for 200"),
    (f"{HEAD}\n3 3 1\n1 4 3\n", "line 3"),
    (f"{HEAD}\n3 3 1\n1 2 -3\n", "line 3"),
    (f"{HEAD}\n3 3 1\n1 2 nan\n", "line 3"),
    (f"{HEAD}\n999999999999 999999999999 1\n1 2 3\n", "line 2"),
    ("hello\n", "known format"),
])
def test_bad_graphs_are_refused(text: str, says: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.mtx" if text.startswith("%") else tmp_path / "bad"
    file.write_text(text)
    done = flyloom("map", "slim_fly:q=5,p=4", "--graph", file)
    assert done.returncode == 2 and says in done.stderr and "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1


def test_bad_words_are_refused(tmp_path: Path) -> None:
    graph = "stencil:shape=4x4,bytes=1"
    hosts, pins, mapping = tmp_path / "h", tmp_path / "p", tmp_path / "m"
    hosts.write_text("0\nnobody\n")
    pins.write_text("0 0\nx 1\n")
    mapping.write_text("0\n1\n")
    for words, says in [
        (["--hosts", hosts], "line 2"), (["--pin", pins], "line 2"),
        (["--method", "gredy"], "greedy"), (["--objective", "hop"], "hops"),
        (["--effort", "worst"], "best"), (["--hops-limit", "-1"], "hops_limit"),
        (["--per-endpoint", "0"], "per_endpoint"), (["--format", "slurm"], "-o"),
        (["--format", "x", "-o", tmp_path / "o"], "rankfile"), (["--engine", "dfssp"], "dfsssp"),
        (["--method", "fold"], "grids"), (["--partition", "0"], "partition"),
    ]:
        done = flyloom("map", "slim_fly:q=5,p=4", "--graph", graph, "--effort", "fast", *words)
        assert done.returncode == 2 and says in done.stderr, (words, done.stderr)
        assert "Traceback" not in done.stderr
    assert not (tmp_path / "o").exists()
    done = flyloom("map-eval", "slim_fly:q=5,p=4", "--graph", graph, "--mapping", mapping)
    assert done.returncode == 2 and "2 places for 16 processes" in done.stderr
    with pytest.raises(fl.RefusalError, match="square"):
        fl.communication(np.ones((2, 3)))
    matrix = fl.communication(-np.ones((2, 2)))  # no bytes: only its pattern counts
    assert matrix.halo(2).pairs == 2
    with pytest.raises(fl.RefusalError, match="-1 is no amount"):
        matrix.columns()
    with pytest.raises(fl.RefusalError, match="no communication graph"):
        fl.communication(object())


def test_ctrl_c_gives_the_best_so_far() -> None:
    net, graph = CASES["dnn_df4"]
    words = command("map", net, "--graph", graph, "--effort", "best", "--json")
    for wait_s in (3, 12, 48):  # on a busy machine it may not have begun yet
        started = subprocess.Popen(words, env=environment(), stdout=subprocess.PIPE, text=True,
                                   stderr=subprocess.PIPE)
        try:
            time.sleep(wait_s)
            os.kill(started.pid, signal.SIGINT)
            out, _ = started.communicate(timeout=HANG_S)
        finally:
            started.kill()
        if out:
            break
    assert started.returncode == 0
    found = json.loads(out)
    assert found["interrupted"]
    assert found["average_dilation"] <= found["linear"]["average_dilation"]


def test_what_is_zero_has_no_sign():
    """The bounds of a graph without traffic are 0, and are printed without a sign."""
    found = fl.map_processes("ring:n=3,p=1", fl.communication([[0] * 3] * 3))
    assert "-0" not in json.dumps([found.hop_bytes_bound, found.congestion_bound])
    assert found.hop_bytes_bound == found.hop_bytes == 0
