"""What a program with notified access does, recorded as GOAL: as derived here, call by call."""

from __future__ import annotations

import math
import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from checkout import ROOT
from cli_helpers import document
from mpi_helpers import MPIS, ROOT_MAY, needs
from test_runtime import FLAGS, LIMIT_S, SOURCE, build, call

TAG, ANSWER = 5, 0xC0000000
ISSUED = "~"
PUT, GET, ATOMIC, FLUSH, BARRIER, POST, COMPLETE = range(0x80000001, 0x80000008)


@pytest.fixture(scope="module")
def release():
    return build("release")


def run(program: Path, words: list[object], count: int, folder: Path,
        more: dict[str, str] | None = None, code: int = 0) -> list[str]:
    """A program of `count` processes, recorded into folder/goal; what each said of errors."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("FLYLOOM_")}
    boot = folder / "boot"
    boot.mkdir()
    started = [
        subprocess.Popen([program, *map(str, words)], text=True, stderr=subprocess.PIPE,
                         env={**kept, "FLYLOOM_RANK": str(rank), "FLYLOOM_SIZE": str(count),
                              "FLYLOOM_BOOT": str(boot), "FLYLOOM_RECORD": str(folder / "goal"),
                              "FLYLOOM_RECORD_TIME": "none", **(more or {})})
        for rank in range(count)
    ]
    try:
        printed = [process.communicate(timeout=LIMIT_S)[1] for process in started]
    finally:
        for process in started:
            process.kill()
    assert [process.returncode for process in started] == [code] * count, printed
    assert sorted(path.name for path in folder.iterdir()) == ["boot", "goal"][:1 + (code == 0)]
    return printed


def pattern(release: Path, folder: Path, name: str, count: int, rounds: int = 1,
            size: int = 8) -> str:
    folder.mkdir()
    run(release / "tests/record_program", [name, rounds, size], count, folder)
    return (folder / "goal").read_text()


def shapes(goal: list[dict[str, tuple[str, list[str]]]]) -> list[Counter[int]]:
    """The operations of every rank, each with all that it requires, independent of labels."""
    reported = []
    for rank in goal:
        known: dict[str, int] = {}
        for label, (text, required) in rank.items():
            needed = sorted((known[r.lstrip(ISSUED)], r[0] == ISSUED) for r in required)
            known[label] = hash((text, tuple(needed)))
        reported.append(Counter(known.values()))
    return reported


def read(text: str) -> list[dict[str, tuple[str, list[str]]]]:
    """GOAL: of every rank operations by label, with the labels that they require; of those of which
    they require the begin alone, after ISSUED."""
    ranks: list[dict[str, tuple[str, list[str]]]] = []
    for line in text.splitlines():
        if line.startswith("rank "):
            ranks.append({})
        elif found := re.fullmatch(r"(\w+): (.*)", line):
            ranks[-1][found[1]] = (found[2], [])
        elif found := re.fullmatch(r"(\w+) (i?)requires (\w+)", line):
            ranks[-1][found[1]][1].append(ISSUED * len(found[2]) + found[3])
    return ranks


class Ranks:
    """Derives a schedule: what a program does, in its order, and what that brings to the others."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.ranks: list[dict[str, tuple[str, list[str]]]] = [{} for _ in range(size)]
        self.last: list[list[str]] = [[] for _ in range(size)]
        self.news: list[list[list[str]]] = [[[] for _ in range(size)] for _ in range(size)]
        self.written: list[list[list[str]]] = [[[] for _ in range(size)] for _ in range(size)]
        self.asks = [0] * size

    def new(self, rank: int, text: str, required: list[str]) -> str:
        label = f"l{len(self.ranks[rank])}"
        self.ranks[rank][label] = (text, required)
        return label

    def next(self, rank: int, text: str, required: list[str] | None = None) -> None:
        self.last[rank] = [self.new(rank, text, self.last[rank] + (required or []))]

    def issue(self, rank: int, text: str) -> None:
        """As an MPI_Isend: what comes next requires its begin alone."""
        self.next(rank, text)
        self.last[rank] = [ISSUED + label for label in self.last[rank]]

    def put(self, rank: int, peer: int, size: int, tag: int) -> None:
        self.issue(rank, f"send {size}b to {peer} tag {tag}")
        label = self.new(peer, f"recv {size}b from {rank} tag {tag} cpu 1", [])
        self.news[peer][rank].append(label)
        self.written[peer][rank].append(label)

    def wait(self, rank: int, *peers: int) -> None:
        self.next(rank, "calc 0", [label for peer in peers for label in self.news[rank][peer]])
        for peer in peers:
            self.news[rank][peer] = []

    def ask(self, rank: int, peer: int, tag: int, size: int, answer: int) -> str:
        self.asks[rank] += 1
        mark = ANSWER + self.asks[rank]
        self.issue(rank, f"send {size}b to {peer} tag {tag}")
        needed = [self.new(peer, f"recv {size}b from {rank} tag {tag} cpu 1", [])]
        self.news[peer][rank] += needed
        if tag == FLUSH:
            needed, self.written[peer][rank] = needed + self.written[peer][rank], []
        self.new(peer, f"send {answer}b to {rank} tag {mark} cpu 1", needed)
        return self.new(rank, f"recv {answer}b from {peer} tag {mark} cpu 1", [])

    def flush(self, rank: int) -> None:
        answers = [self.ask(rank, peer, FLUSH, 1, 1) for peer in range(self.size)
                   if self.written[peer][rank]]
        if answers:
            self.next(rank, "calc 0", answers)

    def barrier(self) -> None:
        """Dissemination: in round k rank r sends to r + 2^k, and receives from r - 2^k, after all
        that it sent before."""
        for k in range(math.ceil(math.log2(self.size))):
            for rank in range(self.size):
                to, source = (rank + 2**k) % self.size, (rank - 2**k) % self.size
                news, self.news[rank][source] = self.news[rank][source], []
                self.last[rank] = [
                    self.new(rank, f"send 1b to {to} tag {BARRIER}", self.last[rank]),
                    self.new(rank, f"recv 1b from {source} tag {BARRIER}", self.last[rank] + news)]

    def begin(self) -> None:
        self.barrier()
        self.barrier()

    def end(self) -> str:
        for rank in range(self.size):
            self.flush(rank)
        self.barrier()
        self.barrier()
        return "done"


def same(text: str, derived: Ranks) -> None:
    derived.end()
    assert shapes(read(text)) == shapes(derived.ranks)


@pytest.mark.parametrize("count", [2, 5])
def test_a_ring(count, release, tmp_path):
    """Every rank puts to the next and waits for the one before, three times."""
    derived = Ranks(count)
    derived.begin()
    for _ in range(3):
        for rank in range(count):
            derived.put(rank, (rank + 1) % count, 4096, TAG)
        for rank in range(count):
            derived.wait(rank, (rank - 1) % count)
    same(pattern(release, tmp_path / "a", "ring", count, 3, 4096), derived)


def test_ping_pong(release, tmp_path):
    """One after the other; and twice recorded is the same bytes."""
    derived = Ranks(2)
    derived.begin()
    for _ in range(4):
        for rank in (0, 1):
            derived.put(rank, 1 - rank, 0, TAG)
            derived.wait(1 - rank, rank)
    reported = pattern(release, tmp_path / "a", "pingpong", 2, 4, 0)
    same(reported, derived)
    assert reported == pattern(release, tmp_path / "b", "pingpong", 2, 4, 0)


@pytest.mark.parametrize("count", [2, 3, 5])
def test_fences(count, release, tmp_path):
    """In a window of two ranks a fence needs no question whether a put has arrived."""
    derived = Ranks(count)
    derived.begin()
    for _ in range(3):
        for rank in range(count):
            derived.put(rank, (rank + 1) % count, 8, PUT)
        if count > 2:
            for rank in range(count):
                derived.flush(rank)
        derived.barrier()
    same(pattern(release, tmp_path / "a", "fenced", count, 3), derived)


def test_a_pipeline(release, tmp_path):
    derived = Ranks(4)
    derived.begin()
    for _ in range(5):
        for rank in range(4):
            if rank > 0:
                derived.wait(rank, rank - 1)
            if rank < 3:
                derived.put(rank, rank + 1, 8, TAG)
    same(pattern(release, tmp_path / "a", "pipeline", 4, 5), derived)


def test_one_request_for_all(release, tmp_path):
    """A request that counts requires all that it took, and the puts that came before them."""
    derived = Ranks(4)
    derived.begin()
    for rank in (1, 2, 3):
        derived.put(rank, 0, 100, PUT)
        derived.put(rank, 0, 100, TAG)
    derived.wait(0, 1, 2, 3)
    same(pattern(release, tmp_path / "a", "gather", 4, 1, 100), derived)


def test_puts_overlap_as_isends_do(release, tmp_path):
    """Where a send takes 1 ms and all else next to nothing: two barriers, then both puts and the
    question of the flush at once, its answer, and two barriers: 6 ms. If each put awaited the end
    of the one before, it were 8."""
    goal = tmp_path / "of.goal"
    goal.write_text(pattern(release, tmp_path / "a", "gather", 2))
    found = document("sim", "packet", "ring:n=3,p=1", "--workload", goal,
                     "--set", "mpi.send_ns=1000000", "mpi.send_ns_per_byte=0")
    assert found["jobs"][0]["max_comm_ns"] == pytest.approx(6e6, rel=1e-3)


def test_reads_and_atomics(release, tmp_path):
    """A question, and an answer from the other's interface."""
    derived = Ranks(3)
    derived.begin()
    derived.next(0, "calc 0", [derived.ask(0, 1, GET, 1, 64)])
    derived.next(0, "calc 0", [derived.ask(0, 1, ATOMIC, 8, 8), derived.ask(0, 1, ATOMIC, 16, 8)])
    same(pattern(release, tmp_path / "a", "move", 3, 1, 64), derived)


@pytest.mark.parametrize("count", [3, 5, 8])
def test_what_synchronisation_costs(count, release, tmp_path):
    """Messages of each call by the formulas of Gerstenberger, Besta, Hoefler, 2013, section 2."""
    rounds = math.ceil(math.log2(count))

    def sent(name: str) -> Counter[tuple[int, int]]:
        """(rank, tag) of what is sent by the programs, without the window's making and end."""
        reported: Counter[tuple[int, int]] = Counter()
        for rank, one in enumerate(read(pattern(release, tmp_path / name, name, count))):
            for text, _ in one.values():
                if found := re.fullmatch(r"send \d+b to \d+ tag (\d+)", text):
                    reported[rank, int(found[1])] += 1
            reported[rank, BARRIER] -= 4 * rounds
        return +reported

    assert sent("fence") == Counter({(rank, BARRIER): rounds for rank in range(count)})
    epochs = sent("epochs")
    assert all(epochs[rank, POST] == epochs[rank, COMPLETE] == 2 for rank in range(count))
    assert sent("shared") == {(2, ATOMIC): 1 + 1}
    assert sent("exclusive") == {(2, ATOMIC): 2 + 2}
    assert sent("all") == {(2, ATOMIC): 1 + 1}


def test_epochs_bring_what_was_put(release, tmp_path):
    """The end of an epoch requires the put of the one before."""
    goal = read(pattern(release, tmp_path / "a", "epochs", 3))
    for rank, operations in enumerate(goal):
        ends = [required for text, required in operations.values()
                if text == f"recv 1b from {(rank - 1) % 3} tag {COMPLETE}"]
        assert len(ends) == 1
        assert [operations[label][0] for label in ends[0] if label.startswith("a")] == [
            f"recv 8b from {(rank - 1) % 3} tag {PUT} cpu 1"]


def test_time_between_calls(release, tmp_path):
    """The record has the time by the clock, unless times are left out."""
    run(release / "tests/record_program", ["ring", 2], 2, tmp_path,
        {"FLYLOOM_RECORD_TIME": "clock"})
    times = [int(found) for found in re.findall(r": calc (\d+)", (tmp_path / "goal").read_text())]
    assert any(times) and max(times) < 10**10


@pytest.mark.parametrize(("more", "part"), [
    ({"FLYLOOM_RECORD_TIME": "sometimes"}, '"sometimes" must be clock or none'),
    ({"FLYLOOM_THREADS": "multiple"}, "needs threads serialized"),
    ({"FLYLOOM_RECORD": "/nowhere/goal"}, '"/nowhere/goal" must be a file'),
])
def test_a_record_that_cannot_be(more, part, release, tmp_path):
    """Refused on all ranks when the library starts."""
    assert part in run(release / "tests/record_program", ["ring"], 2, tmp_path, more, 2)[0]


SENT = {
    # 4 steps; 2 x 2 ranks, so 4 faces each of 2^3 sites of 48 bytes.
    "halo": {(384, 0): 2 * 16, (384, 1): 2 * 16},
    # 4 rounds; 2 items each, each after the place it asked for.
    "dsde": {(8, 0): 2 * 8, (8, 1): 2 * 8, (8, ATOMIC): 4 * 8},
    # 4 transforms; of each of 8 planes 2 rows of 8 numbers of 16 bytes to 3 others.
    "fft": {(256, 0): 2 * 24, (256, 1): 2 * 24},
}
"""How many notifications, of which size and tag, 4 ranks send in a motif, by a formula."""


@pytest.mark.parametrize(("name", "words"), [
    ("pipeline", ["20", "12", "2"]), ("reduce", ["5"]), ("hash", ["50"]),
    ("cholesky", ["5", "4", "1"]), ("pingpong", ["8", "5"]), ("overlap", ["8", "5"]),
    ("halo", ["2", "3"]), ("dsde", ["2", "8", "3"]), ("fft", ["8", "2"]),
])
def test_motifs_on_networks(name, words, release, tmp_path):
    """The schedule of each comes to its end on any network."""
    mpi = MPIS[0]
    needs(mpi)
    program = tmp_path / name
    call(f"mpicc.{mpi}", *FLAGS, f"-I{SOURCE / 'include'}", ROOT / f"runtime/motifs/{name}.c", "-o",
         program, f"-L{release}", "-lflyloom", "-lm", f"-Wl,-rpath,{release}")
    goal = tmp_path / "goal"
    call(f"mpiexec.{mpi}", "-n", 4, program, *words,
         more={**ROOT_MAY, "FLYLOOM_RECORD": str(goal), "FLYLOOM_RECORD_TIME": "none"})
    sends = goal.read_text().count(": send ")
    found = Counter((int(size), int(tag)) for size, tag in
                    re.findall(r": send (\d+)b to \d+ tag (\d+)", goal.read_text()))
    assert SENT.get(name, {}).items() <= found.items()
    for net in ("slim_fly:q=5,p=4", "fat_tree:levels=2,k=8"):
        reported = document("sim", "message", "--workload", goal, net)
        assert reported["messages"] == sends
