"""Detours of the message level against a linear program, the flit simulator, and shortest paths."""

from __future__ import annotations

import random
import runpy
from pathlib import Path

import flyloom as fl
import numpy as np
import pytest
import scipy.sparse as sparse
from checkout import ROOT
from cli_helpers import document, flyloom
from scipy.optimize import linprog

BYTES = 1_000_001
FREE = {"L": 0, "o": 0, "g": 0, "S": 1 << 30}
SAME = {"link.rate_gbps": 8, "switch.delay_ns": 0, "link.latency_ns": 0}
"""A byte takes a nanosecond of a cable, and nothing else takes time."""

Pairs = list[tuple[int, int]]
Net = str | fl.Topology


def least_time(net: Net, pairs: Pairs) -> float:
    """The least time for a message of each pair, in units of one alone: of all flows that bytes
    could take, those whose fullest channel is least full."""
    topology = fl.network(net)
    at, edges = topology.attachments[:, 0], topology.edges
    arcs = np.vstack([edges, edges[:, ::-1]])
    count, switches = len(arcs), topology.switches
    wanted: dict[int, np.ndarray] = {}
    for a, b in pairs:
        if at[a] != at[b]:
            wanted.setdefault(at[a], np.zeros(switches))[at[b]] += 1
    ends = max(np.bincount(side).max() for side in zip(*pairs, strict=True))
    rows, columns = arcs.T.ravel(), np.tile(np.arange(count), 2)
    leaves = sparse.csr_matrix((np.repeat([1.0, -1.0], count), (rows, columns)),
                               shape=(switches, count))
    sources = []
    for source, to in wanted.items():
        own = -to
        own[source] = to.sum()
        sources.append(own)
    flows = sparse.block_diag([leaves] * len(sources))
    kept = sparse.hstack([flows, sparse.csr_matrix((flows.shape[0], 1))])
    loads = sparse.hstack([sparse.identity(count)] * len(sources)
                          + [sparse.csr_matrix(-np.ones((count, 1)))])
    cost = np.zeros(kept.shape[1])
    cost[-1] = 1
    found = linprog(cost, A_ub=loads, b_ub=np.zeros(count), A_eq=kept,
                    b_eq=np.concatenate(sources), method="highs")
    assert found.status == 0, found.message
    return max(float(ends), found.fun)


def written(path: Path, endpoints: int, lists: list[list[int]], in_turn: bool = False) -> Path:
    """A schedule: each endpoint sends to those of its list, at once or one after the other."""
    lines = [f"num_ranks {endpoints}"]
    for rank, to in enumerate(lists):
        lines.append(f"rank {rank} {{")
        for tag, b in enumerate(to):
            lines.append(f"s{tag}: send {BYTES}b to {b} tag {tag}")
            if in_turn and tag:
                lines.append(f"s{tag} requires s{tag - 1}")
        lines += [f"recv {BYTES}b from {a} tag {tag}" for a, of in enumerate(lists)
                  for tag, b in enumerate(of) if b == rank]
        lines.append("}")
    path.write_text("\n".join(lines) + "\n")
    return path


def one_each(endpoints: int, pairs: Pairs) -> list[list[int]]:
    to = dict(pairs)
    return [[to[a]] if a in to else [] for a in range(endpoints)]


def finish(net: Net, path: Path, selection: str, eager: int = 1 << 30) -> float:
    """The time until the last message has arrived, in units of one alone."""
    found = fl.simulate(net, "message", workload=path, costs={**FREE, "S": eager},
                        selection=selection, settings=SAME)
    return found.finish_ns / (BYTES - 1)


def permutation(endpoints: int, seed: int) -> Pairs:
    to = list(range(endpoints))
    random.Random(seed).shuffle(to)
    return [(a, b) for a, b in enumerate(to) if a != b]


def shift(endpoints: int, by: int) -> Pairs:
    return [(a, (a + by) % endpoints) for a in range(endpoints)]


NETS = ["jellyfish:n=14,k=4,p=3,seed=1", "jellyfish:n=14,k=4,p=3,seed=2", "slim_fly:q=3,p=3",
        "hyperx:shape=4x4,p=4", "complete:n=8,p=4", "torus:shape=4x4,p=2", "dragonfly:h=2",
        "fat_tree:levels=3,k=4"]


@pytest.mark.parametrize("net", NETS)
def test_times_are_near_the_bound_of_a_linear_program_and_never_below(net, tmp_path):
    topology = fl.network(net)
    endpoints = topology.endpoints
    # by the endpoints of a switch, and of a group of the dragonfly
    cases = [permutation(endpoints, seed) for seed in range(3)]
    cases += [shift(endpoints, topology.concentration), shift(endpoints, 8)]
    for pairs in cases:
        path = written(tmp_path / "one.goal", endpoints, one_each(endpoints, pairs))
        bound = least_time(net, pairs)
        for selection, most in (("ugal_g", 2.25), ("valiant", 4.0)):
            found = finish(net, path, selection)
            assert bound * (1 - 1e-6) <= found <= most * bound, (pairs[:3], selection, bound)


def groups(count: int, size: int) -> str:
    """Edges of groups: a switch for each with a link to that of every other group, and switches
    behind it."""
    gates = [f"g{a} g{b}" for a in range(count) for b in range(a)]
    return "\n".join([*gates, *(f"g{a} s{a}_{i}" for a in range(count) for i in range(size))])


def test_a_group_that_sends_all_to_another_one_uses_the_others(tmp_path):
    count, size = 8, 7
    file = tmp_path / "groups.edges"
    file.write_text(groups(count, size) + "\n")
    net = fl.network(file, 1)
    at = [net.switch_names[s] for s in net.attachments[:, 0]]
    pairs = [(at.index(f"s0_{i}"), at.index(f"s1_{i}")) for i in range(size)]
    path = written(tmp_path / "two.goal", len(at), one_each(len(at), pairs))
    # one link leads from group to group, and one over each of the others
    assert least_time(net, pairs) == pytest.approx(1)
    for selection in ("spread", "adaptive"):
        assert finish(net, path, selection) == pytest.approx(size)
    assert finish(net, path, "ugal_g") <= 1.5


def test_each_of_two_planes_carries_half_of_every_message(tmp_path):
    net = "multi_plane:planes=2,of=complete:n=6,p=5"
    pairs = [(i, 5 + i) for i in range(5)]
    path = written(tmp_path / "planes.goal", 30, one_each(30, pairs))
    assert finish(net, path, "spread") == pytest.approx(5 / 2)
    # five disjoint paths in each plane
    assert 0.5 - 1e-6 <= finish(net, path, "ugal_g") <= 0.7


@pytest.mark.parametrize("net", [*NETS, "hyperx:shape=4x4,p=10", "complete:n=8,p=12",
                                 "fat_tree:leaves=8,spines=4,p=8"])
def test_balanced_traffic_is_not_later_than_on_shortest_paths(net, tmp_path):
    endpoints = fl.network(net).endpoints
    draw = random.Random(7)
    lists: list[list[int]] = [[] for _ in range(endpoints)]
    for _ in range(8):
        for a, b in permutation(endpoints, draw.randrange(1 << 30)):
            lists[a].append(b)
    for in_turn in (False, True):
        path = written(tmp_path / "many.goal", endpoints, lists, in_turn)
        # a send above S is done when its last byte has left, so that the next one waits for it
        found = {s: finish(net, path, s, 1 if in_turn else 1 << 30)
                 for s in ("spread", "adaptive", "ugal_g")}
        most = 1.1 if in_turn else 1.2
        assert found["ugal_g"] <= most * min(found.values()), (in_turn, found)


FLITS, PACKET = 4000, 4


def cycles(net: str, pairs: Pairs, selection: str, path: Path) -> float:
    """The cycle in which the last flit of a long message of each pair arrives, in units of one
    alone, if each packet is ready when it could leave."""
    lines = ["time_cycles source destination size_flits",
             *(f"{at} {a} {b} {PACKET}" for at in range(0, FLITS, PACKET) for a, b in pairs)]
    path.write_text("\n".join(lines) + "\n")
    fair = {"switch.priority": "age", "switch.virtual_channels": 8, "switch.buffer_flits": 32}
    [point] = fl.simulate(net, "flit", traffic=str(path), settings=fair,
                          selection=selection).points
    return float(point["cycles"] / FLITS)


@pytest.mark.parametrize(("net", "pairs"), [
    ("complete:n=8,p=4", shift(32, 4)), ("complete:n=8,p=4", permutation(32, 0)),
    ("hyperx:shape=4x4,p=4", shift(64, 4)), ("slim_fly:q=5,p=4", permutation(200, 0)),
    ("dragonfly:h=2", permutation(72, 0)), ("dragonfly:h=2", shift(72, 8)),
], ids=str)
def test_long_messages_end_about_when_the_flits_of_ugal_g_do(net, pairs, tmp_path):
    endpoints = fl.network(net).endpoints
    path = written(tmp_path / "one.goal", endpoints, one_each(endpoints, pairs))
    flits = {s: cycles(net, pairs, s, tmp_path / "packets") for s in ("minimal", "ugal_g")}
    flows = {s: finish(net, path, s) for s in ("spread", "ugal_g")}
    assert flits["minimal"] == pytest.approx(flows["spread"], rel=0.05)
    # a message keeps the parts that it began with, while each packet chooses anew
    assert flits["ugal_g"] <= flows["ugal_g"] <= 1.4 * flits["ugal_g"]
    assert flows["ugal_g"] <= 0.76 * flows["spread"]


def test_threads_change_nothing_and_seeds_do():
    words = ["sim", "message", "hyperx:shape=4x4,p=4", "--workload",
             "alltoall_pairwise bytes=65536", "--selection", "ugal_g", "--seeds", "3"]
    one = document(*words, "--threads", "1")
    assert document(*words, "--threads", "2") == one
    assert document(*words, "--threads", "2", "--seed", "5")["finish_ns"] != one["finish_ns"]
    assert one["over_seeds"]


def test_on_tables_detours_are_refused():
    done = flyloom("sim", "message", "slim_fly:q=3,p=2", "--engine", "dfsssp", "--workload",
                   "alltoall_pairwise bytes=100", "--selection", "ugal_g")
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1
    assert "selection: ugal_g on tables, whose paths are given" in done.stderr
    assert "adaptive (the layer with most room)" in done.stderr


@pytest.mark.parametrize("word", ["choosing.candidates", "choosing.parts"])
def test_numbers_out_of_range_are_refused(word):
    for count in (0, 65):
        done = flyloom("sim", "message", "slim_fly:q=3,p=2", "--set", f"{word}={count}",
                       "--workload", "alltoall_pairwise bytes=100")
        assert done.returncode == 2
        assert f"{word}: {count} is out of range" in done.stderr


def test_the_table_of_the_page_is_what_its_script_prints():
    page = (ROOT / "docs/message.md").read_text()
    table = runpy.run_path(str(ROOT / "docs/pictures/message_detours.py"))["table"]()
    assert len(table) == 14
    assert "\n".join(table) in page
