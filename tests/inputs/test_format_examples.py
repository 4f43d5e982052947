"""Every format of files that the core's tables have: its example is read, damaged ones are refused.

The tables name the formats and bring an example of each, so that a new one is tried without a line
here.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_helpers import flyloom
from flyloom._core import RefusalError, format_examples, parts
from flyloom.inputs import workloads
from flyloom.inputs.communication import communication
from flyloom.inputs.networks import network

EXAMPLES = format_examples()
NAMES = [f"{kind} {name}" for kind, name, _ in EXAMPLES]
READ: dict[str, Callable[[Path], object]] = {
    "workload-file": workloads.workload, "network-file": network, "graph-file": communication,
}
COMMAND = {
    "workload-file": ["workload", "check"], "network-file": ["design"],
    "graph-file": ["map", "complete:n=16,p=1", "--graph"],
}
EACH = 40
"""Damaged runs of each format."""

Files = list[tuple[str, bytes]]


def put(kind: str, folder: Path, files: Files) -> Path:
    """Writes a run; returns what names it: the folder, or the first file, beside which the other
    is found where a network is two files."""
    folder.mkdir(exist_ok=True)
    for name, content in files:
        (folder / name).write_bytes(content)
    return folder if len(files) > 1 and kind == "workload-file" else folder / files[0][0]


def damaged(content: bytes, draw: random.Random) -> bytes:
    """The content with one thing done to it."""
    at = draw.randrange(len(content))
    end = min(len(content), at + draw.randint(1, 30))
    digits = [i for i, byte in enumerate(content) if chr(byte).isdigit()] or [at]
    digit = draw.choice(digits)
    return draw.choice([
        content[:at], content[:at] + content[end:], content[:end] + content[at:],
        content[:at] + bytes([draw.randrange(256)]) + content[at + 1:],
        content[:digit] + str(draw.randrange(10)).encode() + content[digit + 1:],
        content[:digit] + b"18446744073709551615" + content[digit + 1:],
        content[:at] + "\u00e9\0\n".encode() + content[at:],
    ])


def tried(kind: str, files: Files, folder: Path, each: int) -> int:
    """Reads damaged runs; returns how many were refused, in one line that names a file of theirs.

    What is no refusal comes through.
    """
    refused = 0
    for seed in range(each):
        draw = random.Random(seed)
        at = draw.randrange(len(files))
        changed = [(name, damaged(content, draw) if i == at else content)
                   for i, (name, content) in enumerate(files)]
        place = put(kind, folder, changed)
        try:
            READ[kind](place)
        except RefusalError as error:
            refused += 1
            assert "\n" not in str(error).strip() and str(folder) in str(error), seed
    return refused


def test_every_kind_of_files_has_formats():
    assert {kind for kind, _, _ in EXAMPLES} == READ.keys()
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("kind", READ)
def test_every_format_that_is_listed_has_an_example_that_is_read(kind):
    """`flyloom list` and the readers know the same formats: the examples below are read."""
    listed = [row["name"] for row in parts(f"{kind}s")]
    assert listed == [name for of, name, _ in EXAMPLES if of == kind]


@pytest.mark.parametrize(("kind", "name", "files"), EXAMPLES, ids=NAMES)
def test_an_example_is_read_and_damaged_ones_are_refused(kind, name, files, tmp_path):
    READ[kind](put(kind, tmp_path / "good", files))
    assert tried(kind, files, tmp_path / "bad", EACH) > 0


@pytest.mark.parametrize(("kind", "name", "files"), EXAMPLES, ids=NAMES)
def test_a_file_that_was_cut_ends_no_command_in_a_traceback(kind, name, files, tmp_path):
    first, content = files[0]
    place = put(kind, tmp_path, [(first, content[:len(content) // 2]), *files[1:]])
    done = flyloom(*COMMAND[kind], place)
    assert done.returncode in (0, 1, 2) and "Traceback" not in done.stderr
    assert done.returncode != 2 or len(done.stderr.splitlines()) == 1


def test_a_planted_fault_is_found(tmp_path, monkeypatch):
    """A reader that is wrong about one digit breaks in the same trials."""
    read = workloads.trace_read

    def wrong(format, names, contents, given, progress):
        if format == "liballprof" and "MPI_Barrier:15000" not in contents[0]:
            raise IndexError("a fault that was planted")
        return read(format, names, contents, given, progress)

    monkeypatch.setattr(workloads, "trace_read", wrong)
    (files,) = [files for _, name, files in EXAMPLES if name == "liballprof"]
    with pytest.raises(IndexError, match="planted"):
        tried("workload-file", files, tmp_path / "bad", EACH)
