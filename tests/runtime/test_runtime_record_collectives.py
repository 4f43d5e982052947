"""Collectives in a record: the messages, and the time, of the workloads of the same algorithm.

Those are made by a program of their own (crates/workloads), which follows the literature and is
tested by the data that goes through it.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from cli_helpers import document
from flyloom import Workload
from flyloom.verbs.workloads import check_workload, make_workload
from message_runs import message
from test_runtime import build
from test_runtime_record import run

BYTES = 20160  # whole blocks for 2 to 9 ranks, and more than a piece
MARK, FIRST, LAST = 1000, 0x80000008, 0xBFFFFFFF
# Where the processor, and where the interface is the bottleneck; no message asks before it is sent
NETS = [{"L": 2500, "o": 1500, "g": 1000, "G": 6, "S": 2**32 - 1},
        {"L": 300, "o": 100, "g": 2000, "G": 0.5, "S": 2**32 - 1}]
STEPS = {"L": 1e6, "o": 1, "g": 1, "G": 0, "S": 2**32 - 1}  # a step is a millisecond


@dataclass(frozen=True)
class Case:
    """An operation by an algorithm, and the workload that is the same."""

    name: str
    algorithm: str
    same: str
    parameters: dict[str, int] = field(default_factory=dict)
    ranks: bool = True  # each rank does what the same rank of the workload does
    timed: frozenset[int] = frozenset(range(2, 10))  # ranks for which the time is the same


# Where P is no power of two the tree hears of its children in whatever order, and halves go to near
# ranks first: the workloads have another order, with the same messages.
POWERS = frozenset({2, 4, 8})
PLAIN = [
    Case("barrier", "dissemination:1", "barrier_dissemination"),
    Case("bcast", "binomial", "broadcast_binomial"),
    Case("reduce", "binomial", "reduce_binomial"),
    Case("allreduce", "doubling", "allreduce_recursive_doubling", ranks=False),
    Case("allgather", "ring", "allgather_ring"),
    Case("gather", "linear", "gather_linear"),
    Case("scatter", "linear", "scatter_linear"),
    Case("reduce_scatter", "ring", "reduce_scatter_ring"),
    Case("alltoall", "linear", "alltoall_linear"),
    Case("alltoallv", "linear", "alltoall_linear"),
    Case("scan", "doubling", "scan_doubling"),
]
SETS = [
    PLAIN,
    [
        Case("barrier", "tree", "barrier_tree", timed=POWERS),
        Case("bcast", "pipeline:2520", "broadcast_pipelined", {"segments": 8}),
        Case("reduce", "pipeline:2520", "reduce_pipelined", {"segments": 8}),
        Case("allreduce", "ring", "allreduce_ring"),
        Case("allgather", "bruck", "allgather_bruck"),
        Case("gather", "binomial", "gather_binomial"),
        Case("scatter", "binomial", "scatter_binomial"),
        Case("alltoall", "pairwise", "alltoall_pairwise"),
        Case("alltoallv", "pairwise", "alltoall_pairwise"),
        Case("reduce_scatter", "linear", "alltoall_linear"),
    ],
    [
        Case("barrier", "dissemination:2", "barrier_dissemination", {"ways": 2}),
        Case("allreduce", "rabenseifner", "allreduce_rabenseifner", ranks=False, timed=POWERS),
        Case("alltoall", "bruck", "alltoall_bruck"),
    ],
    [
        Case("barrier", "dissemination:3", "barrier_dissemination", {"ways": 3}),
        Case("allreduce", "tree", "allreduce_tree"),
    ],
]


@pytest.fixture(scope="module")
def release():
    return build("release")


class Recorded:
    """A record of record_collectives: of every rank operations in their order, and its marks."""

    def __init__(self, program: Path, folder: Path, form: str, count: int,
                 cases: list[tuple[str, str]]) -> None:
        folder.mkdir()
        run(program, [form, BYTES, *(name for name, _ in cases)], count, folder,
            {"FLYLOOM_COLL": ",".join(f"{name}={algorithm}" for name, algorithm in cases)})
        self.text = (folder / "goal").read_text()
        self.ranks: list[dict[str, str]] = []
        self.needs: list[dict[str, list[str]]] = []
        for line in self.text.splitlines():
            if line.startswith("rank "):
                self.ranks.append({})
                self.needs.append({})
            elif found := re.fullmatch(r"(\w+): (.*)", line):
                self.ranks[-1][found[1]] = found[2]
                self.needs[-1][found[1]] = []
            elif found := re.fullmatch(r"(\w+) requires (\w+)", line):
                self.needs[-1][found[1]].append(found[2])

    def marks(self, rank: int) -> list[str]:
        return [label for label, text in self.ranks[rank].items()
                if re.fullmatch(rf"send 1b to \d+ tag {MARK // 100}\d\d", text)]

    def between(self, rank: int, mark: int) -> list[str]:
        """What the program does from a mark to the next one."""
        labels = [label for label in self.ranks[rank] if label.startswith("c")]
        marks = self.marks(rank)
        return labels[labels.index(marks[mark]) + 1:labels.index(marks[mark + 1])]

    def cut(self, mark: int) -> Workload:
        """That of all ranks, alone."""
        lines = [f"num_ranks {len(self.ranks)}"]
        for rank, texts in enumerate(self.ranks):
            labels = self.between(rank, mark)
            lines += [f"rank {rank} {{", *(f"{label}: {texts[label]}" for label in labels)]
            lines += [f"{label} requires {needed}" for label in labels
                      for needed in self.needs[rank][label] if needed in set(labels)]
            lines.append("}")
        return Workload.read(("\n".join(lines) + "\n").encode())

    def before(self, rank: int, label: str) -> set[str]:
        """All that must be done first."""
        done: set[str] = set()
        left = [label]
        while left:
            for needed in self.needs[rank][left.pop()]:
                if needed not in done:
                    done.add(needed)
                    left.append(needed)
        return done


def sent(text: str) -> Counter[tuple[int, int, int]]:
    """Messages of GOAL: from, to, bytes."""
    reported: Counter[tuple[int, int, int]] = Counter()
    rank = -1
    for line in text.splitlines():
        if line.startswith("rank "):
            rank += 1
        elif found := re.search(r": send (\d+)b to (\d+)", line):
            reported[rank, int(found[2]), int(found[1])] += 1
    return reported


def workload(case: Case, ranks: int) -> Workload:
    """Made by the other program."""
    size = {} if case.name == "barrier" else {"bytes": BYTES}
    return make_workload(case.same, ranks=ranks, **size, **case.parameters)


def sizes(messages: Counter[tuple[int, int, int]]) -> Counter[int]:
    reported: Counter[int] = Counter()
    for (_, _, size), count in messages.items():
        reported[size] += count
    return reported


def whole(recorded: Recorded) -> None:
    """Checks that the record ends, and that each message of a collective has a tag of its own."""
    assert check_workload(Workload.read(recorded.text.encode())).complete
    seen: set[tuple[str, int, str]] = set()
    for rank, texts in enumerate(recorded.ranks):
        for text in texts.values():
            found = re.fullmatch(r"(send|recv) \d+b (?:to|from) (\d+) tag (\d+)( cpu 1)?", text)
            if found and FIRST <= int(found[3]) <= LAST:
                assert not found[4]
                ends = (rank, int(found[2])) if found[1] == "send" else (int(found[2]), rank)
                assert (found[1], *ends, found[3]) not in seen
                seen.add((found[1], *ends, found[3]))
    assert {key[1:] for key in seen if key[0] == "send"} == {
        key[1:] for key in seen if key[0] == "recv"}


def pairs(cases: list[Case]) -> list[tuple[str, str]]:
    return [(case.name, case.algorithm) for case in cases]


@pytest.mark.parametrize("ranks", range(2, 10))
@pytest.mark.parametrize("cases", SETS, ids=["plain", "other", "folded", "wide"])
def test_a_collective_is_its_workload(cases, ranks, release, tmp_path):
    recorded = Recorded(release / "tests/record_collectives", tmp_path / "a", "once", ranks,
                        pairs(cases))
    whole(recorded)
    for mark, case in enumerate(cases):
        mine, other = recorded.cut(mark), workload(case, ranks)
        reported, expected = sent(mine.text()), sent(other.text())
        assert sizes(reported) == sizes(expected), case
        assert not case.ranks or reported == expected, case
        for net in NETS if ranks in case.timed else []:
            took = [message(each, costs=net).finish_ns for each in (mine, other)]
            assert took[0] == took[1], (case, net)


@pytest.mark.parametrize("ranks", [2, 5, 8])
def test_those_without_a_workload(ranks, release, tmp_path):
    """A chain: P - 1 messages one after the other. Up a tree, and each block to its owner."""
    recorded = Recorded(release / "tests/record_collectives", tmp_path / "a", "once", ranks,
                        [("scan", "chain"), ("reduce_scatter", "tree")])
    whole(recorded)
    chain, tree = recorded.cut(0), recorded.cut(1)
    assert sent(chain.text()) == Counter({(r, r + 1, BYTES): 1 for r in range(ranks - 1)})
    up = make_workload("reduce_binomial", ranks=ranks, bytes=BYTES * ranks)
    out = make_workload("scatter_linear", ranks=ranks, bytes=BYTES)
    assert sent(tree.text()) == sent(up.text()) + sent(out.text())
    for net in NETS:
        hop = net["L"] + 2 * net["o"] + (BYTES - 1) * net["G"]
        assert message(chain, costs=net).finish_ns == pytest.approx((ranks - 1) * hop)
        assert message(tree, costs=net).finish_ns == pytest.approx(
            sum(message(each, costs=net).finish_ns for each in (up, out)))


@pytest.mark.parametrize("ranks", [4, 7])
@pytest.mark.parametrize("form", ["begun", "tested", "again", "teams"])
def test_several_at_once(form, ranks, release, tmp_path):
    """They take as many steps as the longest, and the program goes on meanwhile."""
    recorded = Recorded(release / "tests/record_collectives", tmp_path / "a", form, ranks,
                        pairs(PLAIN))
    whole(recorded)
    other = [workload(case, ranks) for case in PLAIN]
    expected: Counter[tuple[int, int, int]] = Counter()
    for each in other:
        expected += sent(each.text())
    for first in range(2) if form == "teams" else []:
        size = (ranks + 1 - first) // 2
        for case in PLAIN:
            one = sent(workload(case, size).text())
            expected += Counter({(2 * source + first, 2 * to + first, count): n
                                 for (source, to, count), n in one.items()})
    for turn in range(2 if form == "again" else 1):
        mine = recorded.cut(2 * turn)
        reported = sent(mine.text())
        assert sizes(reported) == sizes(expected)
        steps = [message(each, costs=STEPS).finish_ns // 1e6 for each in [mine, *other]]
        assert steps[0] == max(steps[1:])
        for rank, texts in enumerate(recorded.ranks):
            labels = set(recorded.between(rank, 2 * turn))
            messages = {label for label in labels if "tag" in texts[label]}
            marks = recorded.marks(rank)
            assert not recorded.before(rank, marks[2 * turn + 1]) & messages
            assert recorded.before(rank, marks[2 * turn + 2]) > messages


def test_one_after_the_other(release, tmp_path):
    """Steps add up where every rank takes part to the end; 4 ranks: after a barrier 2, 3, and 1."""
    steps = {}
    cases = [("barrier", "dissemination:1"), ("allreduce", "doubling"), ("allgather", "ring"),
             ("alltoall", "linear")]
    for count in (1, 4):
        recorded = Recorded(release / "tests/record_collectives", tmp_path / str(count), "once", 4,
                            cases[:count])
        steps[count] = message(Workload.read(recorded.text.encode()),
                               costs=STEPS).finish_ns // 1e6
    assert steps[4] - steps[1] == 2 + 3 + 1


def test_twice_the_same(release, tmp_path):
    """Whatever comes first: the same bytes, by waiting or by tests."""
    texts = {Recorded(release / "tests/record_collectives", tmp_path / f"{n}", form, 5,
                      pairs(PLAIN)).text for n, form in enumerate(["begun", "begun", "tested"])}
    assert len(texts) == 1


def test_over_a_network(release, tmp_path):
    """A record takes as long as the workload in which every rank does the same, on any network."""
    recorded = Recorded(release / "tests/record_collectives", tmp_path / "a", "once", 8,
                        pairs(PLAIN))
    for mark, case in enumerate(PLAIN):
        took = [message(each, net="fat_tree:levels=2,k=8", costs=NETS[0]).finish_ns
                for each in (recorded.cut(mark), workload(case, 8))]
        assert took[0] == took[1], case
    (tmp_path / "goal").write_text(recorded.text)
    found = document("sim", "message", "--workload", tmp_path / "goal", "slim_fly:q=5,p=4")
    assert found["messages"] == recorded.text.count(": send ")


def test_alone(release, tmp_path):
    """A rank by itself sends nothing."""
    folder = tmp_path / "a"
    folder.mkdir()
    run(release / "tests/record_collectives",
        ["once", BYTES, *(case.name for case in PLAIN)], 1, folder)
    text = (folder / "goal").read_text()
    assert " tag " not in text
    assert check_workload(Workload.read(text.encode())).complete
