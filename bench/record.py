"""The benchmark of the recorder: what it adds to a message of an MPI program."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from flyloom.ranks import library
from measure import HERE, Absent, Broken, median
from rows import Options, Row

KINDS = ("a send", "sends on three communicators in turn", "a persistent send")
MOST_NS = 40


def record(options: Options) -> list[Row]:
    """What a message to itself takes a process, without the recorder and with it, of every MPI."""
    compilers = library.compilers()
    if not compilers:
        raise Absent("no mpicc in PATH")
    rows = []
    for mpicc in compilers:
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "record"
            call([mpicc, "-O2", str(HERE / "record.c"), "-o", str(program)], {})
            preload = {"LD_PRELOAD": str(library.path(mpicc, library.RECORDER)),
                       "FLYLOOM_RECORD_FILE": f"{folder}/out.mtx"}
            pairs = [(figures(program, {}), figures(program, preload)) for _ in options.times(9)]
        for at, kind in enumerate(KINDS):
            bare = median(without[at] for without, _ in pairs)
            added = median(under[at] - without[at] for without, under in pairs)
            rows.append(Row("record", f"{library.family(mpicc)}: added to {kind}", added, "ns",
                            most=MOST_NS, note=f"{bare:.0f} ns without"))
    return rows


def figures(program: Path, more: dict[str, str]) -> list[float]:
    """Nanoseconds of each kind."""
    return [float(line) for line in call([str(program)], more).split()]


def call(words: list[str], more: dict[str, str]) -> str:
    """Standard output of a program; Broken where it fails."""
    done = subprocess.run(words, env={**os.environ, **more}, text=True, capture_output=True,
                          timeout=300)
    if done.returncode != 0:
        raise Broken(f"{words[0]}: {done.stderr.strip()[-400:]}")
    return done.stdout
