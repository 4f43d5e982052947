"""Traces of MPI as schedules: a measured run, programs drawn at random, and what is refused."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import flyloom as fl
import pytest
from checkout import ROOT
from cli_helpers import document, flyloom
from flyloom._core import RefusalError, trace_formats
from flyloom.verbs.workloads import traced_workload
from message_runs import message

SWEEP = ROOT.parent / "shared/data/external/sweep3d-2x2"
WORLD = 0
DOUBLE = "11,8,8"


class Rank:
    """One process that writes its trace."""

    def __init__(self, rank: int) -> None:
        self.rank, self.now, self.lines = rank, 1000, []
        self.lines.append(f"MPI_Init:-:1:2:{self.now}.000000")

    def call(self, name: str, *arguments: object, compute: int = 3) -> None:
        start = self.now + compute
        self.now = start + 5
        words = ":".join(str(argument) for argument in arguments)
        middle = f":{words}" if arguments else ""
        self.lines.append(f"MPI_{name}:{start}.000000{middle}:{self.now}.000000")

    def text(self) -> str:
        return "\n".join([*self.lines, f"MPI_Finalize:{self.now}.000000:-", ""])


def written(ranks: list[Rank], folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    for rank in ranks:
        (folder / f"trace-rank-{rank.rank}.txt").write_text(rank.text())
    return folder


def lines(folder: Path, *of_ranks: str) -> Path:
    folder.mkdir(exist_ok=True)
    for rank, text in enumerate(of_ranks):
        (folder / f"t-{rank}.txt").write_text("MPI_Init:-:1:2:0\n" + text.replace(" ", "\n"))
    return folder


def sent(text: str, scale: int = 1) -> Counter[tuple[int, int, int]]:
    """How often each rank sends each size to each other, in GOAL."""
    found: Counter[tuple[int, int, int]] = Counter()
    rank = -1
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["rank"]:
            rank = int(words[1])
        elif "send" in words:
            at = words.index("send")
            found[rank, int(words[at + 3]), int(words[at + 1][:-1])] += 1
    return found


ALGORITHMS = {"gather": "linear", "scatter": "linear", "allgather": "ring"}
"""What the messages of drawn operations with blocks of their own are by."""


class Drawn:
    """A program of MPI drawn at random, and the messages that it must send."""

    later = 0.4
    """How likely a collective operation is nonblocking."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.size = self.dice.choice([2, 3, 4, 6])
        self.ranks = [Rank(rank) for rank in range(self.size)]
        self.comms: dict[int, list[int]] = {WORLD: list(range(self.size))}
        self.requests = 1 << 20
        self.kinds: dict[int, list[str]] = {}
        self.sent: Counter[tuple[int, int, int]] = Counter()
        for rank in self.ranks:
            rank.call("Comm_rank", self.comm(WORLD, rank.rank), 77)
        for _ in range(self.dice.randrange(3, 9)):
            self.dice.choice([
                self.split, self.messages, self.messages, self.joint, self.joint, self.around,
                self.prepared, self.blocks,
            ])()

    def comm(self, comm: int, rank: int) -> str:
        members = self.comms[comm]
        return f"{comm},{members.index(rank)},{len(members)}"

    def split(self) -> None:
        parent = self.dice.choice(list(self.comms))
        members = self.comms[parent]
        groups: dict[int, list[tuple[int, int, int]]] = {}
        for place, rank in enumerate(members):
            colour, key = self.dice.choice([-32766, 0, 1]), self.dice.randrange(-3, 3)
            handle = 100 + len(self.comms) + max(colour, 0)
            self.ranks[rank].call(
                "Comm_split", self.comm(parent, rank), colour, key, handle
            )
            if colour >= 0:
                groups.setdefault(handle, []).append((key, place, rank))
        for handle, group in groups.items():
            self.comms[handle] = [rank for _, _, rank in sorted(group)]
            for rank in self.comms[handle]:
                self.ranks[rank].call("Comm_size", self.comm(handle, rank), 5)
        self.comms[99 - len(self.comms)] = list(members)
        last = list(self.comms)[-1]
        for rank in members:
            self.ranks[rank].call("Comm_dup", self.comm(parent, rank), last % 2**32)

    def messages(self) -> None:
        """Receives first, nonblocking or prepared; then sends of all kinds; then the waits."""
        comm = self.dice.choice(list(self.comms))
        members = self.comms[comm]
        # a receive of any source beside one that names it could take the other's message
        kinds = [["named", "any tag"], ["any source"], ["any source, any tag"]]
        how = self.dice.choice(self.kinds.setdefault(comm, self.dice.choice(kinds)))
        pairs = [
            (*self.dice.choices(members, k=2), self.dice.randrange(1, 9), self.dice.randrange(3))
            for _ in range(self.dice.randrange(1, 7))
        ]
        waits: dict[int, list[int]] = {rank: [] for rank in members}
        for source, to, count, tag in pairs:
            self.requests += 8
            said = -1 if "any source" in how else members.index(source)
            named = -1 if "any tag" in how else tag
            prepared = self.dice.random() < 0.3
            self.ranks[to].call(
                "Recv_init" if prepared else "Irecv", 9, count, DOUBLE, said, named,
                self.comm(comm, to), self.requests,
            )
            if prepared:
                self.ranks[to].call("Start", self.requests)
            waits[to].append(self.requests)
        for source, to, count, tag in pairs:
            self.sent[source, to, 8 * count] += 1
            kind = self.dice.choice(["Send", "Bsend", "Isend", "Send_init"])
            arguments = [9, count, DOUBLE, members.index(to), tag, self.comm(comm, source)]
            if kind == "Send" and source == to:
                kind = "Isend"
            if kind in ("Send", "Bsend"):
                self.ranks[source].call(kind, *arguments)
                continue
            self.requests += 8
            self.ranks[source].call(kind, *arguments, self.requests)
            if kind == "Send_init":
                self.ranks[source].call("Start", self.requests)
            waits[source].append(self.requests)
        self.ranks[members[0]].call("Send", 9, 1, DOUBLE, -2, 0, self.comm(comm, members[0]))
        for rank, requests in waits.items():
            self.dice.shuffle(requests)
            for request in requests:
                calls = [("Wait", request, 0), ("Waitall", 1, request, 0),
                         ("Waitany", 1, request, 7, 0), ("Test", request, 7, 0)]
                self.ranks[rank].call(*self.dice.choice(calls))

    def named(self) -> tuple[int, list[int]]:
        """A communicator in which receives name their sources, and its ranks."""
        comm = self.dice.choice(list(self.comms))
        if "named" not in self.kinds.setdefault(comm, ["named"]):
            comm = 5000 + len(self.comms)
            self.comms[comm] = list(self.comms[WORLD])
            self.kinds[comm] = ["named"]
            for rank in self.ranks:
                rank.call("Comm_dup", self.comm(WORLD, rank.rank), comm)
        return comm, self.comms[comm]

    def around(self) -> None:
        """Everybody sends to the rank at this distance, and receives from the one as far back."""
        comm, members = self.named()
        size, shift = len(members), self.dice.randrange(9)
        counts = [self.dice.randrange(1, 9) for _ in members]
        for me, rank in enumerate(members):
            to, source = (me + shift) % size, (me - shift) % size
            self.sent[rank, members[to], 8 * counts[me]] += 1
            self.ranks[rank].call(
                "Sendrecv", 9, counts[me], DOUBLE, to, 4, 9, counts[source], DOUBLE, source, 4,
                self.comm(comm, rank), 0,
            )

    def prepared(self) -> None:
        """Arrays of prepared requests, begun and waited for together."""
        comm, members = self.named()
        source, to = self.dice.choices(members, k=2)
        counts = [self.dice.randrange(1, 9) for _ in range(self.dice.randrange(1, 5))]
        first = self.requests + 8
        starts: list[tuple[Rank, int]] = []
        for rank, call, peer in ((to, "Recv_init", source), (source, "Send_init", to)):
            starts.append((self.ranks[rank], self.requests + 8))
            for count in counts:
                self.requests += 8
                self.ranks[rank].call(call, 9, count, DOUBLE, members.index(peer), 5,
                                      self.comm(comm, rank), self.requests)
        for _ in range(self.dice.randrange(1, 3)):
            for rank, first in starts:
                rank.call("Startall", len(counts), first)
            for count in counts:
                self.sent[source, to, 8 * count] += 1
            for rank, first in starts:
                rank.call(*self.dice.choice([
                    ("Waitall", len(counts), first, 0),
                    ("Waitsome", len(counts), first, 7, 7, 0),
                    ("Testall", len(counts), first, 7, 0),
                ]))

    def blocks(self) -> None:
        """Collective operations of blocks of their own."""
        comm = self.dice.choice(list(self.comms))
        members = self.comms[comm]
        size, root = len(members), self.dice.randrange(len(members))
        counts = [self.dice.randrange(1, 9) for _ in members]
        table = [[self.dice.randrange(4) for _ in members] for _ in members]

        def listed(numbers: list[int]) -> str:
            return ",".join(map(str, numbers))

        name = self.dice.choice(["Gatherv", "Scatterv", "Allgatherv", "Alltoallv"])
        whole = [9, listed(counts), 9, listed([0] * size), DOUBLE]
        for me, rank in enumerate(members):
            own = [9, counts[me], DOUBLE]
            column = [row[me] for row in table]
            self.ranks[rank].call(name, *{
                "Gatherv": [*own, 9, *whole, root],
                "Scatterv": [9, *whole, *own, root],
                "Allgatherv": [*own, 9, *whole],
                "Alltoallv": [9, 9, listed(table[me]), 9, listed([0] * size), DOUBLE,
                              9, 9, listed(column), 9, listed([0] * size), DOUBLE],
            }[name], self.comm(comm, rank))
            after = members[(me + 1) % size]
            if name == "Gatherv" and me != root:
                self.sent[rank, members[root], 8 * counts[me]] += 1
            if name == "Scatterv" and me != root:
                self.sent[members[root], rank, 8 * counts[me]] += 1
            for turn in range(size - 1 if name == "Allgatherv" else 0):
                self.sent[rank, after, 8 * counts[(me - turn) % size]] += 1
            for other in range(size if name == "Alltoallv" else 0):
                if other != me and table[me][other]:
                    self.sent[rank, members[other], 8 * table[me][other]] += 1

    def joint(self) -> None:
        comm = self.dice.choice(list(self.comms))
        members = self.comms[comm]
        size, count, root = len(members), self.dice.randrange(1, 9), self.dice.randrange(9)
        root %= size
        name, words, made, given = self.dice.choice([
            ("Barrier", [], "barrier_dissemination", {"bytes": 0}),
            ("Bcast", [9, count, DOUBLE, root], "broadcast_binomial", {"root": root}),
            ("Reduce", [9, 9, count, DOUBLE, 3, root], "reduce_binomial", {"root": root}),
            ("Allreduce", [9, 9, count, DOUBLE, 3], "allreduce_recursive_doubling", {}),
            ("Alltoall", [9, count, DOUBLE, 9, count, DOUBLE], "alltoall_linear", {}),
            ("Gather", [9, count, DOUBLE, 9, count, DOUBLE, root], "gather_linear",
             {"root": root}),
            ("Scan", [9, 9, count, DOUBLE, 3], "scan_doubling", {}),
        ])
        later = self.dice.random() < self.later
        self.requests += 8
        for rank in members:
            arguments = [*words, self.comm(comm, rank)]
            if later:
                self.ranks[rank].call("I" + name.lower(), *arguments, self.requests)
            else:
                self.ranks[rank].call(name, *arguments)
        if later:
            for rank in members:
                self.ranks[rank].call("Wait", self.requests, 0)
        alone = fl.make_workload(made, **{"ranks": size, "bytes": 8 * count, **given})
        for (source, to, size_bytes), times in sent(alone.text()).items():
            self.sent[members[source], members[to], size_bytes] += times


@pytest.mark.parametrize("seed", range(60))
def test_programs_come_to_their_end_with_all_their_messages(seed, tmp_path):
    drawn = Drawn(seed)
    made = traced_workload(written(drawn.ranks, tmp_path / "t"), **ALGORITHMS)
    assert sent(made.text()) == drawn.sent
    checked = fl.check_workload(made)
    assert checked.complete, checked.left
    # what was computed lies between the calls
    assert checked.calculated_ns <= sum(rank.now for rank in drawn.ranks) * 1000


def test_sweep3d_takes_as_long_as_it_was_measured(tmp_path):
    if not SWEEP.is_dir():
        pytest.skip(f"the trace, which may not be copied here, is not at {SWEEP}")
    out = tmp_path / "sweep.bin"
    found = document("workload", "convert", SWEEP, out)
    assert found["ranks"] == 4
    run = message(out, dialect="loggops-v1")
    assert run.finish_ns == pytest.approx(42.5395e9, rel=0.01)
    assert message(SWEEP, dialect="loggops-v1").finish_ns == run.finish_ns
    # each copy is the job, and the collective operations are of all
    twice = traced_workload(SWEEP / "pmpi-trace-rank-0.txt", copies=2)
    assert twice.ranks == 8
    assert fl.check_workload(twice).complete


def test_computing_is_scaled(tmp_path):
    one = lines(tmp_path / "t", "MPI_Barrier:10:0,0,2:20 MPI_Finalize:50:-",
                "MPI_Barrier:10:0,1,2:20 MPI_Finalize:50:-")
    assert fl.check_workload(one).calculated_ns == 2 * (10 + 30) * 1000
    half = traced_workload(one, scale_compute=0.5)
    assert fl.check_workload(half).calculated_ns == 2 * (5 + 15) * 1000


ISEND = "MPI_Isend:1:9:1:11,8,8:1:0:0,0,2:800:2"
RECV = "MPI_Recv:1:9:1:11,8,8:0:0:0,1,2:7:2"


@pytest.mark.parametrize(("first", "second", "said"), [
    ("MPI_Bcast:1:9:1:11,8,8:0:0,0,2:2", "MPI_Barrier:1:0,1,2:2",
     "t-1.txt: line 2: it has barrier, where .*t-0.txt: line 2 has broadcast of root 0"),
    ("MPI_Bcast:1:9:1:11,8,8:0:0,0,2:2", "MPI_Bcast:1:9:1:11,8,8:1:0,1,2:2", "root 1.*root 0"),
    ("MPI_Bcast:1:9:1:11,8,8:0:0,0,2:2", "MPI_Bcast:1:9:2:11,8,8:0:0,1,2:2", "16 bytes.*8 bytes"),
    ("MPI_Barrier:1:0,0,2:2", "", "t-1.txt does not"),
    ("MPI_Start:1:800:2", "", "t-0.txt: line 2: request 800 .* not prepared"),
    ("MPI_Wait:1:800:0:2", "", "request 800 was never begun"),
    (f"{ISEND} {ISEND.replace(':1:9', ':2:9').replace(':800:2', ':800:3')}", RECV, "in flight"),
    ("MPI_Barrier:1:5,0,3:2", "", "communicator 5, rank 0 of 3, is unknown"),
    (ISEND.replace(":1:0:0,0,2", ":2:0:0,0,2"), "", "no rank 2"),
    ("MPI_Barrier:5:0,0,2:4", "MPI_Barrier:5:0,1,2:6", "go forward"),
    ("MPI_Win_create:5:0,0,2:6", "", "MPI_Win_create cannot"),
    ("MPI_Barrier:5:0,0,2", "", "t-0.txt: line 2"),
    ("nonsense", "", "'nonsense' is no call"),
])
def test_what_mpi_would_not_run_is_refused(first, second, said, tmp_path):
    folder = lines(tmp_path / "t", first + " ", second + " ")
    with pytest.raises(RefusalError, match=said):
        traced_workload(folder)


def test_files_and_options_are_refused_by_name(tmp_path):
    folder = lines(tmp_path / "t", "", "", "")
    (folder / "t-1.txt").unlink()
    with pytest.raises(RefusalError, match="rank 1 is missing"):
        traced_workload(folder)
    (tmp_path / "empty").mkdir()
    with pytest.raises(RefusalError, match="no trace"):
        traced_workload(tmp_path / "empty")
    one = lines(tmp_path / "one", "MPI_Barrier:1:0,0,1:2")
    (keys,) = [row["keys"] for row in trace_formats() if row["name"] == "liballprof"]
    for key in keys:
        with pytest.raises(RefusalError, match=key["name"]):
            traced_workload(one, **{key["name"]: "nothing"})
    done = flyloom("workload", "convert", one, tmp_path / "o.goal", "allreduce=rign")
    assert done.returncode == 2
    assert "ring" in done.stderr
