"""A reader of DUMPI from the description of the format alone, which believes nothing: what a file
says twice must agree. It shares no code with what writes such files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checkout import ROOT

MAGIC = b"\xff\xaa\xddDUMPI"
WIDTHS = {"i8": 1, "i16": 2, "i32": 4, "i64": 8}


def layouts() -> dict[int, tuple[str, list[tuple[str, str]]]]:
    """The name of each call, with the names and types of its arguments."""
    found = {}
    text = (ROOT / "crates/formats/src/trace/dumpi/calls.csv").read_text()
    for row in text.splitlines()[1:]:
        number, name, arguments = row.split(",", 2)
        pairs = [tuple(word.split(":")) for word in arguments.split()]
        found[int(number)] = (name, pairs)
    return found


LAYOUTS = layouts()


@dataclass
class Call:
    """A record: the call, when it began and ended in ns, its arguments by name."""

    name: str
    start: int
    end: int
    arguments: dict[str, Any]


@dataclass
class Run:
    """A file: its version, all records, what its footer counts, sizes of types."""

    version: tuple[int, ...]
    calls: list[Call]
    made: list[int]
    ignored: list[int]
    sizes: list[int]


class Cursor:
    """A place in a file."""

    def __init__(self, content: bytes, at: int) -> None:
        self.content, self.at = content, at

    def bytes(self, length: int) -> bytes:
        assert self.at + length <= len(self.content), "the file ends"
        self.at += length
        return self.content[self.at - length:self.at]

    def number(self, kind: str) -> int:
        return int.from_bytes(self.bytes(WIDTHS[kind]), "big", signed=True)

    def count(self, width: int = 4) -> int:
        return int.from_bytes(self.bytes(width), "big")

    def value(self, kind: str) -> Any:
        if kind.endswith("[]"):
            return [self.value(kind[:-2]) for _ in range(self.count())]
        if kind == "str":
            return self.bytes(self.count()).decode()
        if kind == "status":
            return [
                {"bytes": self.number("i32"), "source": self.number("i32"),
                 "cancelled": self.number("i8"), "error": self.number("i8"),
                 "tag": self.number("i32")}
                for _ in range(self.count())
            ]
        return self.number(kind)

    def time(self) -> int:
        seconds, ns = self.count(2), self.count()
        assert ns < 10**9, "nanoseconds of a second"
        return seconds * 10**9 + ns


def read(content: bytes) -> Run:
    """The file of a rank in the form that is written: biases 0, mask 0x4f, all seven sections."""
    assert content.startswith(MAGIC)
    index = content.rfind(MAGIC)
    assert index > 0 and len(content) - index == 8 + 7 * 8
    places = Cursor(content, index + 8)
    sizes, addresses, counters, header, body, footer, pairs = (places.count(8) for _ in range(7))
    assert (addresses, counters, body) == (0, 0, 8)
    assert body < header < footer < index

    cursor = Cursor(content, body)
    assert (cursor.number("i32"), cursor.number("i32")) == (0, 0), "biases"
    calls = records(cursor)
    assert cursor.bytes(1) == b"\0"
    assert cursor.at == header

    version = tuple(cursor.bytes(3))
    cursor.bytes(8)
    for _ in "host", "user":
        cursor.bytes(cursor.count(2)).decode()
    mesh, sides = cursor.value("i32[]"), cursor.value("i32[]")
    assert len(mesh) == len(sides)
    assert cursor.at == footer

    assert cursor.count(8) == 0xF007FEE7
    made = [cursor.count() for _ in range(291)]
    ignored = [cursor.count() for _ in range(291)]
    assert made[290] == sum(made[:290]) and ignored[290] == sum(ignored[:290])
    for number, (name, _) in LAYOUTS.items():
        times = sum(call.name == name for call in calls)
        assert made[number] - ignored[number] == times, f"MPI_{name}"
    assert cursor.at == pairs
    assert cursor.count() == 0, "there are no pairs"
    assert cursor.at == sizes
    table = [cursor.count() for _ in range(cursor.count())]
    assert cursor.at == index
    return Run(version, calls, made, ignored, table)


def records(cursor: Cursor) -> list[Call]:
    """All records, to the mark behind them."""
    calls = []
    while (number := cursor.count(2)) != 293:
        name, pairs = LAYOUTS[number]
        assert name != "Pcontrol"
        mask = cursor.count(1)
        assert mask == 0x4F, f"the mask of MPI_{name}"
        cursor.bytes(2)
        cpu = cursor.time(), cursor.time()
        wall = cursor.time(), cursor.time()
        assert cpu == wall
        arguments: dict[str, Any] = {}
        for key, kind in pairs:
            if key.startswith("root?"):
                key = key.removeprefix("root?")
                rank = arguments.get("commrank", arguments.get("oldcommrank"))
                if rank != arguments["root"]:
                    continue
            if kind == "str*argc":
                arguments[key] = [cursor.value("str") for _ in range(arguments["argc"])]
            else:
                arguments[key] = cursor.value(kind)
        calls.append(Call(name, *wall, arguments))
    return calls


def folder(path: Path) -> list[Run]:
    """All files of a run, as its ``.meta`` names them."""
    (meta,) = path.glob("*.meta")
    said = dict(line.split("=", 1) for line in meta.read_text().splitlines())
    assert set(said) == {"hostname", "numprocs", "username", "startime", "fileprefix", "version",
                         "subversion", "subsubversion"}
    assert said["fileprefix"] == meta.stem
    files = sorted(path.glob("*.bin"))
    assert [file.name for file in files] == [
        f"{meta.stem}-{rank:04}.bin" for rank in range(int(said["numprocs"]))]
    runs = [read(file.read_bytes()) for file in files]
    version = tuple(int(said[key]) for key in ("version", "subversion", "subsubversion"))
    assert all(run.version == version for run in runs)
    return runs
