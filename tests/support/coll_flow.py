"""Checks collective schedules that ran: every rank ends with what it must have, from its origins.

A dump (``FLYLOOM_COLL_DUMP``) tells the messages, copies and folds of each rank with their
addresses. Here they run again on symbols: a byte is a tuple of the contributions that were folded
into it, in order, each ``(rank, byte of what that rank gave)``. Nothing is shared with the library.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

#: What was folded together, in order; None where nothing is known.
Symbol = tuple[tuple[int, int], ...] | None

IN_PLACE = 2 ** 64 - 1


@dataclass
class Run:
    """One collective at one rank."""

    operation: str
    algorithm: str
    rank: int
    size: int
    root: int
    bytes: int
    send: int
    receive: int
    rounds: list[list[tuple[str, ...]]] = field(default_factory=list)
    targets: list[Edge] = field(default_factory=list)
    sources: list[Edge] = field(default_factory=list)


@dataclass(frozen=True)
class Edge:
    """A neighbour of a rank, and the blocks that it gets or gives."""

    peer: int
    at: int
    blocks: int
    block_bytes: int
    stride_bytes: int

    def places(self, base: int) -> list[int]:
        """The addresses of its bytes, in order."""
        return [base + self.at + b * self.stride_bytes + i for b in range(self.blocks)
                for i in range(self.block_bytes)]


def number(word: str) -> int:
    """An address or a number; ``(nil)`` is C's NULL."""
    return 0 if word == "(nil)" else int(word, 0)


def read(paths: list[Path]) -> dict[int, list[Run]]:
    """The runs of all ranks, by their number in the team."""
    runs: dict[int, list[Run]] = defaultdict(list)
    for path in paths:
        run = None
        for line in path.read_text().splitlines():
            word, *rest = line.split()
            if word == "run":
                operation, algorithm, which, *numbers = rest
                run = Run(operation, algorithm, *(number(n) for n in numbers))
                runs[int(which)].append(run)
            elif word in ("target", "source"):
                edges = run.targets if word == "target" else run.sources
                edges.append(Edge(*map(int, rest)))
            elif word == "round":
                run.rounds.append([])
            elif word != "done":
                run.rounds[-1].append((word, *rest))
    return runs


class Memory:
    """Bytes of a rank by address, each with its symbol."""

    def __init__(self) -> None:
        self.at: dict[int, Symbol] = {}

    def read(self, address: int, count: int) -> list[Symbol]:
        return [self.at.get(address + i) for i in range(count)]

    def write(self, address: int, symbols: list[Symbol]) -> None:
        self.at.update(zip(range(address, address + len(symbols)), symbols, strict=True))


def folded(left: list[Symbol], right: list[Symbol]) -> list[Symbol]:
    """Two operands, byte by byte; each must be known."""
    assert None not in left and None not in right, "a fold of bytes that nobody wrote"
    return [a + b for a, b in zip(left, right, strict=True)]


def given(run: Run) -> tuple[int, int]:
    """The place and the bytes of a rank's contribution."""
    whole = run.bytes * (run.size if run.operation in ("scatter", "alltoall") else 1)
    if run.operation == "bcast":
        return run.receive, run.bytes if run.rank == run.root else 0
    if run.operation == "scatter":
        return run.send, whole if run.rank == run.root else 0
    if run.send != IN_PLACE:
        return run.send, whole
    shift = run.rank * run.bytes if run.operation in ("gather", "allgather") else 0
    return run.receive + shift, whole


def step(run: Run, memory: Memory, item: tuple[str, ...]) -> None:
    """A copy or fold of a round's beginning."""
    to, source, count = (number(word) for word in item[1:4])
    new = memory.read(source, count)
    if item[0] == "fold":
        old = memory.read(to, count)
        new = folded(new, old) if item[4] == "left" else folded(old, new)
    memory.write(to, new)


def execute(runs: list[Run]) -> tuple[dict[int, Memory], int]:
    """All ranks, a round at a time as their messages allow; bytes that went between ranks."""
    memories = {run.rank: Memory() for run in runs}
    at = dict.fromkeys(memories, 0)
    begun: set[tuple[int, int]] = set()
    wires: dict[tuple[int, int, str], list[Symbol]] = {}
    moved_bytes = 0
    for run in runs:
        memory = memories[run.rank]
        for edge in run.targets:
            for place in edge.places(run.send):
                memory.write(place, [((run.rank, place),)])
        if run.operation.startswith("neighbour_"):
            continue
        address, count = given(run)
        memory.write(address, [((run.rank, i),) for i in range(count)])
    moving = True
    while moving:
        moving = False
        for run in runs:
            if at[run.rank] == len(run.rounds):
                continue
            items, memory = run.rounds[at[run.rank]], memories[run.rank]
            if (run.rank, at[run.rank]) not in begun:
                begun.add((run.rank, at[run.rank]))
                moving = True
                for item in items:
                    if item[0] in ("copy", "fold"):
                        step(run, memory, item)
                for item in items:
                    if item[0] == "send":
                        key = (run.rank, int(item[1]), item[2])
                        assert key not in wires, f"two messages alike: {key}"
                        assert key[1] != run.rank, "a message to itself"
                        wires[key] = memory.read(number(item[3]), int(item[4]))
                        moved_bytes += int(item[4])
            takes = [item for item in items if item[0] in ("receive", "take")]
            keys = [(int(item[1]), run.rank, item[2]) for item in takes]
            if not all(key in wires for key in keys):
                continue
            for item, key in zip(takes, keys, strict=True):
                new, to = wires.pop(key), number(item[3])
                assert len(new) == int(item[4]), "a message of another size"
                if item[0] == "take":
                    old = memory.read(to, len(new))
                    new = folded(new, old) if item[5] == "left" else folded(old, new)
                memory.write(to, new)
            at[run.rank] += 1
            moving = True
    assert all(at[run.rank] == len(run.rounds) for run in runs), "a rank waits without end"
    assert not wires, "messages that nobody takes"
    return memories, moved_bytes


def every(run: Run, i: int, ordered: bool, symbol: Symbol, last: int) -> None:
    """Byte i is folded of those of ranks 0 to `last`, each once."""
    wanted = [(rank, i) for rank in range(last + 1)]
    assert symbol is not None
    assert (list(symbol) if ordered else sorted(symbol)) == wanted, (run.operation, symbol)


def blocks(runs: list[Run], memories: dict[int, Memory], ordered: bool) -> None:
    """Results of all ranks, one behind the other, are all bytes, each folded of all ranks."""
    at = 0
    for run in sorted(runs, key=lambda run: run.rank):
        for symbol in memories[run.rank].read(run.receive, run.bytes - at):
            if symbol is None or len(symbol) != run.size or symbol[0][1] != at:
                break
            every(run, at, ordered, symbol, run.size - 1)
            at += 1
    assert at == runs[0].bytes, "a block is missing"


def neighbours(runs: list[Run], memories: dict[int, Memory]) -> int:
    """The n-th source that is r at s has what the n-th target that is s gives at r; rounds of
    `coloured` have a message in each direction at most, and are no more than the largest degree.
    Bytes that must have gone between ranks."""
    by_rank = {run.rank: run for run in runs}
    moved, degree = 0, 0
    for run in runs:
        for edges in (run.targets, run.sources):
            degree = max(degree, sum(edge.peer != run.rank for edge in edges))
        seen: dict[int, int] = defaultdict(int)
        for edge in run.sources:
            giver = by_rank[edge.peer]
            given_here = [e for e in giver.targets if e.peer == run.rank][seen[edge.peer]]
            seen[edge.peer] += 1
            wanted = [((giver.rank, place),) for place in given_here.places(giver.send)]
            got = [memories[run.rank].at.get(place) for place in edge.places(run.receive)]
            assert got == wanted, (run.operation, run.rank, edge)
            moved += 0 if giver.rank == run.rank else len(wanted)
        assert sum(len([e for e in r.targets if e.peer == run.rank]) for r in runs) == len(
            run.sources)
    for run in runs:
        counts = [[sum(item[0] == word for item in items) for word in ("send", "receive")]
                  for items in run.rounds]
        if run.algorithm == "coloured":
            assert all(max(both) <= 1 for both in counts), counts
            assert sum(max(both) for both in counts) <= degree
    return moved


#: Algorithms that fold in another order than that of ranks: they are for commutative folds.
UNORDERED = {("allreduce", "ring"), ("reduce_scatter", "ring")}


def check(runs: list[Run]) -> int:
    """One collective at all its ranks; bytes that went between them."""
    first = runs[0]
    assert sorted(run.rank for run in runs) == list(range(first.size))
    own = first.operation[-1] in "vw" or first.operation.startswith("neighbour_")
    same = {(r.operation, r.algorithm, r.root, r.size, own or r.bytes) for r in runs}
    assert len(same) == 1, same
    memories, moved = execute(runs)
    if first.operation.startswith("neighbour_"):
        assert moved == neighbours(runs, memories), first
        return moved
    count, ordered = first.bytes, (first.operation, first.algorithm) not in UNORDERED
    if first.operation == "reduce_scatter" and first.size > 1:
        blocks(runs, memories, ordered)
    for run in sorted(runs, key=lambda run: run.rank):
        got = memories[run.rank].read(run.receive, count * first.size)
        operation, rank = run.operation, run.rank
        if operation in ("allreduce", "scan") or (operation == "reduce" and rank == run.root):
            last = rank if operation == "scan" else run.size - 1
            # reduce counts ranks from the root where the fold is commutative
            for i in range(count):
                every(run, i, ordered and (operation != "reduce" or run.root == 0), got[i], last)
        elif operation == "bcast":
            assert got[:count] == [((run.root, i),) for i in range(count)]
        elif operation == "allgather" or (operation == "gather" and rank == run.root):
            assert got == [((r, i),) for r in range(run.size) for i in range(count)]
        elif operation == "scatter" and run.receive != IN_PLACE:
            assert got[:count] == [((run.root, rank * count + i),) for i in range(count)]
        elif operation == "alltoall":
            assert got == [((r, rank * count + i),) for r in range(run.size)
                           for i in range(count)]
    return moved
