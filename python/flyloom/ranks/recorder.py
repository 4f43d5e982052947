"""Runs an MPI program under the recorder of communication."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from flyloom._core import RefusalError

from . import library, preload

FILE = "FLYLOOM_RECORD_FILE"
MESSAGES = "FLYLOOM_RECORD_MESSAGES"
COLLECTIVES = "FLYLOOM_RECORD_COLLECTIVES"
CALLS = "FLYLOOM_RECORD_CALLS"
"""What the recorder reads: where to write bytes, messages and calls, whether collectives are left
out."""


def built(words: Sequence[str] = ()) -> Path:
    """The recorder for the MPI whose launcher `words` begin with, built where it is not kept."""
    return _built(words, preload.family(words))


def _built(words: Sequence[str], name: str | None) -> Path:
    return preload.built("record", library.RECORDER, words, name)


def run(
    words: Sequence[str], path: Path | None, messages: Path | None = None,
    collectives: bool = True, calls: Path | None = None,
) -> int:
    """Runs a program and records it. Returns the code that it exits with, or 128 and the number of
    the signal that killed it.

    Bytes go into `path`, numbers of messages into ``messages``, and into the folder ``calls`` a
    file for each rank with what it called. RefusalError, before anything runs, where these cannot
    be written, or where there is no mpicc for the program's MPI.
    """
    preload.check_program(words, "flyloom record -o FILE -- mpirun -n 8 ./program")
    for option, file in (("-o", path), ("--message-counts", messages)):
        check(option, file)
    name = preload.family(words)
    variables = {COLLECTIVES: str(int(collectives))}
    for variable, file in ((FILE, path), (MESSAGES, messages), (CALLS, calls)):
        if file is not None:
            variables[variable] = str(file.absolute())
    return preload.run(words, name, _built(words, name), variables)


def check(option: str, file: Path | None) -> None:
    """RefusalError where a file cannot be written, as far as is known before."""
    if file is None:
        return
    folder = file.absolute().parent
    if not folder.is_dir():
        raise RefusalError(f"{option} {file}: there is no folder {folder}")
    if file.is_dir():
        raise RefusalError(f"{option} {file}: is a folder; name a file")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise RefusalError(f"{option} {file}: {folder} may not be written into")


def writing(file: Path) -> tuple[int, int] | None:
    """The identity of a written file, which changes when the file is written again; None where
    there is no file."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns
