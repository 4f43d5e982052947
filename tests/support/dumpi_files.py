"""Traces of DUMPI written from the description of the format alone; the Rust reader reads them."""

from __future__ import annotations

import struct
from pathlib import Path

MAGIC = bytes.fromhex("ffaadd44554d5049")
SEND, WAIT, VECTOR = 0, 13, 36


def send(count: int, datatype: int, dest: int) -> bytes:
    return struct.pack(">ihiih", count, datatype, dest, 9, 2)


def rank_file(
    records: list[tuple[int, bytes]],
    left_out: dict[int, int] | None = None,
    times_ns: list[tuple[int, int]] | None = None,
) -> bytes:
    """A file of version 1.1.0 without a table of sizes; ``left_out``: calls by number."""
    out = MAGIC + struct.pack(">ii", 0, 100)
    made, ignored = [0] * 291, [0] * 291
    for place, (call, arguments) in enumerate(records):
        begin, end = times_ns[place] if times_ns else (place * 10**9 + 5, place * 10**9 + 6)
        out += struct.pack(">HBH", call, 0x4F, 0)
        out += struct.pack(">HIHI", *divmod(begin, 10**9), *divmod(end, 10**9)) * 2 + arguments
        made[call] += 1
    for call, times in (left_out or {}).items():
        made[call] += times
        ignored[call] += times
    made[290], ignored[290] = sum(made), sum(ignored)
    out += struct.pack(">HB", 293, 0)
    header = len(out)
    out += bytes([1, 1, 0]) + struct.pack(">Q", 1_700_000_000)
    footer = len(out)
    out += struct.pack(">Q", 0xF007FEE7) + struct.pack(">582I", *made, *ignored)
    return out + MAGIC + struct.pack(">7Q", 0, 0, 0, header, 8, footer, 0)


def run(folder: Path, ranks: list[bytes], name: str = "app") -> Path:
    """The folder of a run, its files written."""
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.meta").write_text(f"hostname=here\nnumprocs={len(ranks)}\nversion=1\n")
    for rank, content in enumerate(ranks):
        (folder / f"{name}-{rank:04}.bin").write_bytes(content)
    return folder


def pair(folder: Path) -> Path:
    """Two processes: 3 MPI_DOUBLE in one direction, 5 vectors of 2 blocks of 4 MPI_INT back."""
    vector = struct.pack(">iiihh", 2, 4, 100, 9, 28)
    return run(folder, [
        rank_file([(SEND, send(3, 14, 1))], {14: 70}),
        rank_file([(VECTOR, vector), (SEND, send(5, 28, 0)), (SEND, send(8, 14, -1))]),
    ])


def i16(*numbers: int) -> bytes:
    return struct.pack(f">{len(numbers)}h", *numbers)


def i32(*numbers: int) -> bytes:
    return struct.pack(f">{len(numbers)}i", *numbers)


def listed(numbers: list[int]) -> bytes:
    return i32(len(numbers), *numbers)


def numbers(said: str) -> bytes:
    return listed([int(word) for word in said.split(",")])


DOUBLE = i16(14)
SUM = bytes([3])
NO_STATUS = i32(0)


class FromLiballprof:
    """A process of a run, its calls given as liballprof writes them, written as DUMPI."""

    def __init__(self, rank: int) -> None:
        self.rank = rank
        self.requests: dict[str, int] = {}
        self.comms = {"0": 2}
        self.records: list[tuple[int, bytes]] = []
        self.times: list[tuple[int, int]] = []

    def request(self, address: str) -> bytes:
        return i32(self.requests.setdefault(address, 2 + len(self.requests)))

    def comm(self, said: str) -> bytes:
        """The bytes of a communicator: a handle, or handle, rank and size."""
        return i16(self.comms.setdefault(said.split(",")[0], 3 + len(self.comms)))

    def line(self, text: str) -> None:
        name, start, *words, end = text.split(":")
        call, arguments = getattr(self, name.removeprefix("MPI_").lower())(*words)
        first = end if name == "MPI_Init" else start
        last = start if name == "MPI_Finalize" else end
        self.times.append(tuple(round(float(us) * 1000) for us in (first, last)))
        self.records.append((call, arguments))

    def file(self) -> bytes:
        return rank_file(self.records, times_ns=self.times)

    def init(self, *_: str) -> tuple[int, bytes]:
        return 124, i32(0)

    def finalize(self, *_: str) -> tuple[int, bytes]:
        return 125, b""

    def comm_rank(self, comm: str, _: str) -> tuple[int, bytes]:
        return 82, self.comm(comm) + i32(0)

    def comm_size(self, comm: str, _: str) -> tuple[int, bytes]:
        return 81, self.comm(comm) + i32(0)

    def comm_dup(self, comm: str, new: str) -> tuple[int, bytes]:
        return 84, self.comm(comm) + self.comm(new)

    def comm_split(self, comm: str, colour: str, key: str, new: str) -> tuple[int, bytes]:
        made = i16(1) if int(colour) < 0 else self.comm(new)
        return 86, self.comm(comm) + i32(int(colour), int(key)) + made

    def _message(self, count: str, peer: str, tag: str, comm: str) -> bytes:
        return i32(int(count)) + DOUBLE + i32(int(peer), int(tag)) + self.comm(comm)

    def send(self, _: str, count: str, __: str, *rest: str) -> tuple[int, bytes]:
        return 0, self._message(count, *rest)

    def bsend(self, _: str, count: str, __: str, *rest: str) -> tuple[int, bytes]:
        return 3, self._message(count, *rest)

    def isend(self, _: str, count: str, __: str, *rest: str) -> tuple[int, bytes]:
        return 8, self._message(count, *rest[:-1]) + self.request(rest[-1])

    def irecv(self, _: str, count: str, __: str, *rest: str) -> tuple[int, bytes]:
        return 12, self._message(count, *rest[:-1]) + self.request(rest[-1])

    def send_init(self, _: str, count: str, __: str, *rest: str) -> tuple[int, bytes]:
        return 26, self._message(count, *rest[:-1]) + self.request(rest[-1])

    def recv_init(self, _: str, count: str, __: str, *rest: str) -> tuple[int, bytes]:
        return 30, self._message(count, *rest[:-1]) + self.request(rest[-1])

    def start(self, request: str) -> tuple[int, bytes]:
        return 31, self.request(request)

    def array(self, count: str, first: str) -> bytes:
        """Requests whose variables stand one behind another."""
        return i32(int(count)) + b"".join(
            self.request(str(int(first) + 8 * at)) for at in range(int(count)))

    def startall(self, count: str, first: str) -> tuple[int, bytes]:
        return 32, i32(int(count)) + self.array(count, first)

    def testall(self, count: str, first: str, *_: str) -> tuple[int, bytes]:
        return 19, i32(int(count)) + self.array(count, first) + i32(1) + NO_STATUS

    def waitsome(self, count: str, first: str, *_: str) -> tuple[int, bytes]:
        every = i32(int(count)) + self.array(count, first)
        return 20, every + i32(int(count)) + listed(list(range(int(count)))) + NO_STATUS

    def sendrecv(self, *words: str) -> tuple[int, bytes]:
        _, count, _, to, tag, _, back, _, source, back_tag, comm, _ = words
        sent = i32(int(count)) + DOUBLE + i32(int(to), int(tag))
        received = i32(int(back)) + DOUBLE + i32(int(source), int(back_tag))
        return 33, sent + received + self.comm(comm) + NO_STATUS

    def wait(self, request: str, _: str) -> tuple[int, bytes]:
        return 13, self.request(request) + NO_STATUS

    def test(self, request: str, *_: str) -> tuple[int, bytes]:
        return 14, self.request(request) + i32(1) + NO_STATUS

    def waitall(self, count: str, request: str, __: str) -> tuple[int, bytes]:
        if count != "1":
            return 18, i32(int(count)) + self.array(count, request) + NO_STATUS
        # MPI_REQUEST_NULL beside it
        return 18, i32(2) + i32(2, 1) + self.request(request) + NO_STATUS

    def waitany(self, _: str, request: str, *__: str) -> tuple[int, bytes]:
        return 16, i32(2) + i32(2, 1) + self.request(request) + i32(1) + NO_STATUS

    def barrier(self, comm: str) -> tuple[int, bytes]:
        return 52, self.comm(comm)

    def bcast(self, _: str, count: str, __: str, root: str, comm: str) -> tuple[int, bytes]:
        return 53, i32(int(count)) + DOUBLE + i32(int(root)) + self.comm(comm)

    def reduce(self, _: str, __: str, count: str, ___: str, *rest: str) -> tuple[int, bytes]:
        _, root, comm = rest
        return 62, i32(int(count)) + DOUBLE + SUM + i32(int(root)) + self.comm(comm)

    def allreduce(self, _: str, __: str, count: str, *rest: str) -> tuple[int, bytes]:
        return 65, i32(int(count)) + DOUBLE + SUM + self.comm(rest[-1])

    def scan(self, _: str, __: str, count: str, *rest: str) -> tuple[int, bytes]:
        return 67, i32(int(count)) + DOUBLE + SUM + self.comm(rest[-1])

    def alltoall(self, _: str, count: str, *rest: str) -> tuple[int, bytes]:
        return 60, (i32(int(count)) + DOUBLE) * 2 + self.comm(rest[-1])

    def gather(self, _: str, count: str, *rest: str) -> tuple[int, bytes]:
        root, comm = rest[-2:]
        me = comm.split(",")[1]
        at_root = i32(int(count)) + DOUBLE if me == root else b""
        sent = i32(int(me), int(count)) + DOUBLE
        return 54, sent + i32(int(root)) + self.comm(comm) + at_root

    def gatherv(self, *words: str) -> tuple[int, bytes]:
        _, count, _, _, _, counts, _, places, _, root, comm = words
        _, me, size = comm.split(",")
        sent = i32(int(me), int(size), int(count)) + DOUBLE + i32(int(root)) + self.comm(comm)
        return 55, sent + (numbers(counts) + numbers(places) if me == root else b"") + DOUBLE

    def scatterv(self, *words: str) -> tuple[int, bytes]:
        _, _, counts, _, places, _, _, count, _, root, comm = words
        _, me, size = comm.split(",")
        received = DOUBLE + i32(int(count)) + DOUBLE + i32(int(root)) + self.comm(comm)
        at_root = numbers(counts) + numbers(places) if me == root else b""
        return 57, i32(int(me), int(size)) + received + at_root

    def allgatherv(self, *words: str) -> tuple[int, bytes]:
        _, count, _, _, _, counts, _, places, _, comm = words
        size = i32(int(comm.split(",")[2]), int(count))
        return 59, size + DOUBLE + numbers(counts) + numbers(places) + DOUBLE + self.comm(comm)

    def alltoallv(self, *words: str) -> tuple[int, bytes]:
        _, _, counts, _, places, _, _, _, back, _, back_places, _, comm = words
        sent = numbers(counts) + numbers(places) + DOUBLE
        received = numbers(back) + numbers(back_places) + DOUBLE
        return 61, i32(int(comm.split(",")[2])) + sent + received + self.comm(comm)
