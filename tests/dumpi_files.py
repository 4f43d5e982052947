"""Traces of DUMPI written from the description of the format alone; the Rust reader reads them."""

from __future__ import annotations

import struct
from pathlib import Path

MAGIC = bytes.fromhex("ffaadd44554d5049")
SEND, WAIT, VECTOR = 0, 13, 36


def send(count: int, datatype: int, dest: int) -> bytes:
    return struct.pack(">ihiih", count, datatype, dest, 9, 2)


def rank_file(records: list[tuple[int, bytes]], left_out: dict[int, int] | None = None) -> bytes:
    """A file of version 1.1.0 without a table of sizes; ``left_out``: calls by number."""
    out = MAGIC + struct.pack(">ii", 0, 100)
    made, ignored = [0] * 291, [0] * 291
    for second, (call, arguments) in enumerate(records):
        out += struct.pack(">HBH", call, 0x4F, 0)
        out += struct.pack(">HIHI", second, 5, second, 6) * 2 + arguments
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
    """Two processes: 3 MPI_DOUBLE one way, 5 vectors of 2 blocks of 4 MPI_INT back."""
    vector = struct.pack(">iiihh", 2, 4, 100, 9, 28)
    return run(folder, [
        rank_file([(SEND, send(3, 14, 1))], {14: 70}),
        rank_file([(VECTOR, vector), (SEND, send(5, 28, 0)), (SEND, send(8, 14, -1))]),
    ])
