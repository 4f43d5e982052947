"""GOAL and its rules once more: a reader, a writer of the binary form, a slow causal simulator.

They share nothing with flyloom, and are as plain as can be.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field
from fractions import Fraction

ANY = 0xFFFFFFFF
KINDS = {"send": 1, "recv": 2, "calc": 3}


@dataclass
class Op:
    """An operation; ``require`` and ``require_start`` are those that wait for it."""

    kind: str
    size: int
    peer: int = 0
    tag: int = 0
    cpu: int = 0
    nic: int = 0
    require: list[int] = field(default_factory=list)
    require_start: list[int] = field(default_factory=list)
    needs: int = 0


def read(text: str) -> list[list[Op]]:
    """The operations of all ranks."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    ranks = []
    for body in re.findall(r"rank\s+\d+\s*\{(.*?)\}", text, re.DOTALL):
        ops: list[Op] = []
        labels: dict[str, int] = {}
        for line in filter(None, map(str.strip, body.splitlines())):
            if edge := re.fullmatch(r"(\w+)\s+(i?)requires\s+(\w+)", line):
                after, before = labels[edge[1]], labels[edge[3]]
                (ops[before].require_start if edge[2] else ops[before].require).append(after)
                ops[after].needs += 1
                continue
            label, _, what = line.rpartition(":")
            words = what.split()
            op = Op(words[0], int(words[1].removesuffix("b")))
            rest = dict(zip(words[2::2], words[3::2], strict=True))
            op.peer = int(rest.get("to", rest.get("from", 0))) & ANY
            op.tag = int(rest.get("tag", 0)) & ANY
            op.cpu, op.nic = int(rest.get("cpu", 0)), int(rest.get("nic", 0))
            labels.setdefault(label.strip(), len(ops))
            ops.append(op)
        ranks.append(ops)
    return ranks


def binary(ranks: list[list[Op]]) -> bytes:
    """The binary form, as LogGOPSim's converter writes it."""
    bodies = []
    for ops in ranks:
        roots = [i for i, op in enumerate(ops) if op.needs == 0]
        body = struct.pack(f"<II{len(roots)}I", len(ops), len(roots), *roots)
        appendix: list[int] = []
        for op in ops:
            ends = len(appendix)
            appendix += op.require
            starts = len(appendix)
            appendix += op.require_start
            body += struct.pack(
                "<IbIQIBBIIII", op.needs, KINDS[op.kind], op.peer, op.size, op.tag, op.cpu, op.nic,
                len(op.require), ends, len(op.require_start), starts,
            )
        bodies.append(body + struct.pack(f"<{len(appendix)}I", *appendix))
    every = [op for ops in ranks for op in ops]
    head = struct.pack(
        "<IBB", len(ranks), max((op.cpu for op in every), default=0),
        max((op.nic for op in every), default=0),
    )
    at = len(head) + 16 * len(ranks)
    table = b""
    for body in bodies:
        table += struct.pack("<QQ", at, at + len(body))
        at += len(body)
    return struct.pack("<Q", 4223) + head + table + b"".join(bodies)


class Causal:
    """The dialect ``causal`` of docs/message.md, by trying at every moment what may happen.

    Times are fractions of a nanosecond. What waits stands in one list, in the order in which it
    came to be; at every moment the first of the list that may happen does.
    """

    def __init__(self, ranks: list[list[Op]], **costs: Fraction | int) -> None:
        self.ranks, self.costs = ranks, costs
        self.cpu: dict[tuple[int, int], Fraction] = {}
        self.sends: dict[tuple[int, int], Fraction] = {}
        self.takes: dict[tuple[int, int], Fraction] = {}
        self.left = {(r, i): op.needs for r, ops in enumerate(ranks) for i, op in enumerate(ops)}
        self.ready: dict[tuple[int, int], Fraction] = {}
        self.end = [Fraction(0)] * len(ranks)
        self.posted: list[tuple[int, int]] = []
        self.unexpected: list[tuple[int, int]] = []
        self.last: dict[tuple[int, int], Fraction] = {}
        self.waiting: list[tuple[Fraction, int, str, tuple]] = []
        self.serial = 0

    def run(self) -> list[Fraction]:
        """The time at which each rank is done."""
        for rank, ops in enumerate(self.ranks):
            self.free([(rank, i) for i, op in enumerate(ops) if op.needs == 0])
        while self.waiting:
            # the earliest moment at which anything may happen, and of what may then the oldest
            moment = min(max(w[0], self.free_at(w[2], w[3])) for w in self.waiting)
            able = [
                w for w in self.waiting if w[0] <= moment and self.free_at(w[2], w[3]) <= moment
            ]
            chosen = min(able, key=lambda w: w[1])
            self.waiting.remove(chosen)
            self.now, self.freed = moment, []
            getattr(self, chosen[2])(*chosen[3])
            for rank in sorted({r for r, _ in self.freed}):
                self.free([op for op in self.freed if op[0] == rank])
        return self.end

    def free(self, ops: list[tuple[int, int]]) -> None:
        """Operations of a rank that wait for nothing any more: by kind, else in their order."""
        for at in sorted(ops, key=lambda at: KINDS[self.ranks[at[0]][at[1]].kind]):
            self.add(self.ready.get(at, Fraction(0)), self.ranks[at[0]][at[1]].kind, (at,))

    def add(self, due: Fraction, what: str, about: tuple) -> None:
        self.waiting.append((due, self.serial, what, about))
        self.serial += 1

    def free_at(self, what: str, about: tuple) -> Fraction:
        """The time at which everything that an event needs is free."""
        rank, i = about[0]
        op = self.ranks[rank][i]
        zero = Fraction(0)
        cpu = self.cpu.get((rank, op.cpu), zero)
        if what in ("send", "data", "answer"):
            return max(cpu, self.sends.get((rank, op.nic), zero))
        if what in ("arrive", "data_arrives"):
            return self.takes.get((op.peer, op.nic), zero)
        return zero if what == "recv" else cpu

    def per_byte(self, letter: str, size: int) -> Fraction:
        return max(size - 1, 0) * Fraction(self.costs[letter])

    def started(self, at: tuple[int, int]) -> None:
        self.lower(at[0], self.ranks[at[0]][at[1]].require_start, self.now)

    def done(self, at: tuple[int, int], time: Fraction) -> None:
        self.end[at[0]] = max(self.end[at[0]], time)
        self.lower(at[0], self.ranks[at[0]][at[1]].require, time)

    def lower(self, rank: int, after: list[int], time: Fraction) -> None:
        for i in after:
            at = (rank, i)
            self.ready[at] = max(self.ready.get(at, Fraction(0)), time)
            self.left[at] -= 1
            if self.left[at] == 0:
                self.freed.append(at)

    def calc(self, at: tuple[int, int]) -> None:
        op = self.ranks[at[0]][at[1]]
        self.cpu[at[0], op.cpu] = self.now + op.size
        self.started(at)
        self.done(at, self.now + op.size)

    def leaves(self, rank: int, op: Op, size: int) -> Fraction:
        c = self.costs
        self.cpu[rank, op.cpu] = self.now + c["o"] + self.per_byte("O", size)
        self.end[rank] = max(self.end[rank], self.cpu[rank, op.cpu])
        self.sends[rank, op.nic] = self.now + c["g"] + self.per_byte("G", size)
        return self.cpu[rank, op.cpu]

    def send(self, at: tuple[int, int]) -> None:
        op = self.ranks[at[0]][at[1]]
        eager = op.size <= self.costs["S"]
        self.started(at)
        end = self.leaves(at[0], op, op.size if eager else 1)
        self.add(self.now + self.costs["o"] + self.costs["L"], "arrive", (at,))
        if eager:
            self.done(at, end)

    def arrive(self, at: tuple[int, int]) -> None:
        op = self.ranks[at[0]][at[1]]
        self.comes(at, op.size if op.size <= self.costs["S"] else 1)
        for receive in self.posted:
            if self.fits(receive, at):
                self.posted.remove(receive)
                self.meet(at, receive)
                return
        self.unexpected.append(at)

    def comes(self, at: tuple[int, int], size: int) -> None:
        op = self.ranks[at[0]][at[1]]
        nic = self.per_byte("G", size)
        self.takes[op.peer, op.nic] = self.now + self.costs["g"] + nic
        self.last[at] = self.now + max(nic, self.per_byte("O", size))

    def fits(self, receive: tuple[int, int], sent: tuple[int, int]) -> bool:
        r, s = self.ranks[receive[0]][receive[1]], self.ranks[sent[0]][sent[1]]
        return s.peer == receive[0] and r.peer in (ANY, sent[0]) and r.tag in (ANY, s.tag)

    def recv(self, at: tuple[int, int]) -> None:
        self.started(at)
        for sent in self.unexpected:
            if self.fits(at, sent):
                self.unexpected.remove(sent)
                self.meet(sent, at)
                return
        self.posted.append(at)

    def meet(self, sent: tuple[int, int], receive: tuple[int, int]) -> None:
        if self.ranks[sent[0]][sent[1]].size <= self.costs["S"]:
            self.come(sent, receive)
        else:
            self.add(self.now, "answer", (receive, sent))

    def come(self, sent: tuple[int, int], receive: tuple[int, int]) -> None:
        work = self.per_byte("O", self.ranks[sent[0]][sent[1]].size)
        self.add(max(self.now, self.last[sent] - work), "take", (receive, sent))

    def answer(self, receive: tuple[int, int], sent: tuple[int, int]) -> None:
        self.leaves(receive[0], self.ranks[receive[0]][receive[1]], 1)
        self.add(self.now + self.costs["o"] + self.costs["L"], "data", (sent, receive))

    def data(self, sent: tuple[int, int], receive: tuple[int, int]) -> None:
        op = self.ranks[sent[0]][sent[1]]
        end = self.leaves(sent[0], op, op.size)
        self.add(self.now + self.costs["o"] + self.costs["L"], "data_arrives", (sent, receive))
        self.done(sent, max(end, self.now + self.costs["o"] + self.per_byte("G", op.size)))

    def data_arrives(self, sent: tuple[int, int], receive: tuple[int, int]) -> None:
        self.comes(sent, self.ranks[sent[0]][sent[1]].size)
        self.come(sent, receive)

    def take(self, receive: tuple[int, int], sent: tuple[int, int]) -> None:
        op = self.ranks[receive[0]][receive[1]]
        work = self.per_byte("O", self.ranks[sent[0]][sent[1]].size)
        end = max(self.now + work, self.last[sent]) + self.costs["o"]
        self.cpu[receive[0], op.cpu] = end
        self.done(receive, end)
