"""Runs an MPI program, with a library before that of MPI where one is named, whichever MPI starts
it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from flyloom._core import RefusalError
from flyloom.support import ending, process
from flyloom.support.errors import DeployError

from . import library
from .launched import LaunchedProcess

PRELOAD = "LD_PRELOAD"
NOTHING_SEEN = 3
"""The exit code of a command whose program ended well, but without a call that the library saw."""
PATIENCE_S = 10.0
"""How long a launcher that is asked to end may take to end its ranks."""

_LAUNCHERS = ("mpirun", "mpiexec", "orterun", "prterun", "prun")
_MARKS = {
    "Open MPI": ("Open MPI", "OpenRTE", "PRTE", "PRRTE"), "MPICH": ("HYDRA", "MPICH", "Intel"),
}


def family(words: Sequence[str]) -> str | None:
    """``Open MPI`` or ``MPICH``, by what the launcher that `words` begin with says of itself; None
    where they begin with something else (srun, a script, the program itself)."""
    if not words or not Path(words[0]).name.startswith(_LAUNCHERS):
        return None
    try:
        said = process.run([words[0], "--version"], cwd=Path.cwd(), timeout_s=60)
    except DeployError as error:
        raise RefusalError(f"{words[0]}: {error}") from None
    found = (name for name, marks in _MARKS.items() if any(mark in said for mark in marks))
    return next(found, None)


def compiler(words: Sequence[str], name: str | None) -> str:
    """The mpicc of the MPI `name` whose launcher `words` begin with: that of FLYLOOM_MPICC, else
    the one beside the launcher, else one in PATH that is of it. RefusalError where none is."""
    if name is None or os.environ.get(library.VARIABLE):
        return library.compiler()
    for place in _beside(Path(shutil.which(words[0]) or words[0])):
        if os.access(place, os.X_OK) and library.family(str(place)) == name:
            return str(place)
    found = library.compiler(LaunchedProcess(name, 1, 0, 0))
    if library.family(found) != name:
        raise RefusalError(
            f"{words[0]}: of {name}, and {found} is another's; {library.VARIABLE}=PATH names the"
            f" mpicc of {name}, {library.PACKAGES}"
        )
    return found


def _beside(launcher: Path) -> list[Path]:
    """Where the mpicc of a launcher is by custom: in its folder, with what its name ends in."""
    names = [launcher.name.replace(start, "mpicc", 1) for start in _LAUNCHERS
             if launcher.name.startswith(start)]
    real = launcher.resolve()
    return [launcher.with_name(name) for name in names] + [real.with_name("mpicc")]


def built(verb: str, which: library.LibrarySources, words: Sequence[str], name: str | None) -> Path:
    """A library for the MPI `name` whose launcher `words` begin with, built where it is not kept.

    RefusalError where it cannot be loaded before that of MPI; ``verb`` is the command that asks.
    """
    if not sys.platform.startswith("linux"):
        raise RefusalError(f"{verb}: {PRELOAD} is Linux's; {verb} the program on Linux")
    found = library.path(compiler(words, name), which)
    if any(mark in str(found) for mark in " :;"):
        raise RefusalError(
            f"{found}: {PRELOAD} takes no path with blanks, colons or semicolons;"
            " XDG_CACHE_HOME=FOLDER names another cache"
        )
    return found


def given(words: Sequence[str], name: str | None, variables: Mapping[str, str]) -> list[str]:
    """The words of a launcher of the MPI `name`, with options that give variables to the processes
    that it starts; the words of another program stay as they are."""
    if name == "Open MPI":  # each of several programs, between colons, gets them
        more = [word for key, value in variables.items() for word in ("-x", f"{key}={value}")]
        found = [words[0], *more]
        for word in words[1:]:
            found += [word, *more] if word == ":" else [word]
        return found
    if name == "MPICH":
        more = [word for key, value in variables.items() for word in ("-genv", key, value)]
        return [words[0], *more, *words[1:]]
    return list(words)


def check_program(words: Sequence[str], example: str) -> None:
    """RefusalError where no program is named, or one that is not there."""
    if not words:
        raise RefusalError(f"no program; {example}")
    if shutil.which(words[0]) is None:
        raise RefusalError(f"{words[0]}: no program of this name in PATH, or not to be run")


def run(
    words: Sequence[str], name: str | None, library: Path | None, variables: Mapping[str, str]
) -> int:
    """Runs the launcher of a program of the MPI `name`, with a library before that of MPI where one
    is named. Returns the code that it exits with, or 128 and the number of the signal that killed
    it."""
    passed = dict(variables)
    if library is not None:
        passed[PRELOAD] = ":".join(filter(None, [str(library), os.environ.get(PRELOAD, "")]))
    env = dict(os.environ) if name else {**os.environ, **passed}
    with ending.in_order():
        child = process.spawn(
            given(words, name, passed), cwd=Path.cwd(), env=env, stdin=0, stdout=1, stderr=2
        )
        try:
            code = child.wait()
        except KeyboardInterrupt:
            _end(child, signal.SIGINT)
            raise
        except BaseException:
            _end(child, signal.SIGTERM)
            raise
    return code if code >= 0 else 128 - code


def _end(child: subprocess.Popen[bytes], number: int) -> None:
    """Hands a signal on to a launcher, which ends its ranks, and waits for it."""
    process.end(child, lambda: child.send_signal(number), PATIENCE_S)
