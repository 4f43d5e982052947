"""Builds the small C libraries around MPI by the user's mpicc, and keeps them in the user's cache:
the one that a run loads, the recorder of what a program sends, what reorders its ranks, and the
program that measures."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

from flyloom import _core
from flyloom._core import RefusalError
from flyloom.support import process
from flyloom.support.errors import DeployError
from flyloom.support.files import scratch, write_whole

from .launched import LaunchedProcess

VARIABLE = "FLYLOOM_MPICC"
"""Names the mpicc to use, in place of those that are found."""

PACKAGES = "apt-get install libopenmpi-dev openmpi-bin, or libmpich-dev mpich"

_FLAGS = ["-std=c11", "-O2", "-Wall", "-Wextra"]
_SHARED = ["-shared", "-fPIC", "-fvisibility=hidden"]
_NAMES = {"Open MPI": ("mpicc.openmpi", "mpicc"), "MPICH": ("mpicc.mpich", "mpicc")}
_ANY = ("mpicc", "mpicc.openmpi", "mpicc.mpich")


class LibrarySources(NamedTuple):
    """A library: its file's name, its folder in the repository, its sources, what they include,
    what it is linked with, whether it finds the core for C beside it, and whether it is a program
    instead."""

    name: str
    folder: str
    sources: tuple[str, ...]
    headers: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()
    has_core: bool = False
    program: bool = False

    def flags(self) -> list[str]:
        """The options for the compiler."""
        return _FLAGS if self.program else [*_FLAGS, *_SHARED]

    def files(self) -> list[Path]:
        """The C sources, then what they include: inside the package, or beside it in the
        repository."""
        here = Path(__file__).resolve()
        for place in (here.parent / "_c", here.parents[3] / "runtime" / self.folder):
            found = [place / name for name in (*self.sources, *self.headers)]
            if all(path.is_file() for path in found):
                return found
        raise RefusalError(
            f"the C source of the library around MPI is missing: {here.parent / '_c'}"
        )


RANKS = LibrarySources("libflyloom_ranks.so", "ranks", ("ranks.c",))
"""What the ranks of a run send each other by."""
RECORDER = LibrarySources(
    "libflyloom_record.so", "mpi",
    ("record.c", "record_peers.c", "record_send.c", "record_receive.c", "record_requests.c",
     "record_collective.c", "record_comms.c", "record_calls.c", "record_library.c",
     "record_write.c", "part_file.c"),
    ("record.h", "record_calls.h", "record_requests.h", "record_hooks.h", "part_file.h",
     "file_limit.h", "wrap.h", "record_send.inc", "record_receive.inc", "record_collective.inc"),
    ("-pthread", "-ldl"),
)
"""Records who sends how much to whom of a program, and its calls."""
REORDERER = LibrarySources(
    "libflyloom_reorder.so", "mpi",
    ("reorder.c", "reorder_count.c", "reorder_map.c", "map_ask.c"),
    ("reorder.h", "map.h", "map_ask.h", "wrap.h"), ("-pthread", "-ldl"), has_core=True,
)
"""Gives the ranks of topologies of a program new processes."""
MEASURER = LibrarySources(
    "flyloom_measure", "mpi", ("measure.c", "measure_loggp.c", "measure_ebb.c"),
    ("measure.h", "prtt.h"),
    ("-D_GNU_SOURCE",), program=True,
)
"""Measures messages between ranks."""
CORE = "libflyloom_map.so"
"""The core for C."""


def compiler(launched: LaunchedProcess | None = None) -> str:
    """The mpicc of the MPI that started this process, as far as names tell; that of FLYLOOM_MPICC
    where it is set. RefusalError where there is none."""
    if asked := os.environ.get(VARIABLE):
        if found := shutil.which(asked):
            return found
        raise RefusalError(f"{VARIABLE}: {asked} is no program; the path of an mpicc, or unset it")
    for name in _NAMES.get(launched.name, _ANY) if launched else _ANY:
        if found := shutil.which(name):
            return found
    raise RefusalError(f"no MPI: there is no mpicc in PATH; {PACKAGES}, or {VARIABLE}=PATH")


def compilers() -> list[str]:
    """Every mpicc that could be used, one of each MPI; empty where there is none."""
    asked = os.environ.get(VARIABLE)
    found = (shutil.which(name) for name in ((asked,) if asked else _ANY))
    by_words: dict[str, str] = {}
    for path in found:
        if path is not None:
            by_words.setdefault(words(path), path)
    return list(by_words.values())


def words(mpicc: str) -> str:
    """What mpicc would call: the compiler with the folders and libraries of its MPI."""
    try:
        return process.run([mpicc, "-show"], cwd=Path.cwd(), timeout_s=60).strip()
    except DeployError as error:
        raise RefusalError(f"{mpicc}: {error}; {VARIABLE}=PATH names another mpicc") from None


def build(mpicc: str, which: LibrarySources = RANKS) -> Path:
    """Builds a library into the user's cache, in place of one that is there; its path.

    RefusalError with the compiler's words. Several may do so at once.
    """
    place = kept(mpicc, which)
    sources = map(str, which.files()[: len(which.sources)])
    place.parent.mkdir(parents=True, exist_ok=True)
    if which.has_core:
        write_whole(place.with_name(CORE), _core_for_c())
    with scratch(place.parent) as folder:
        fresh = folder / place.name
        try:
            process.run(
                [mpicc, *which.flags(), *sources, "-o", str(fresh), *which.linked], cwd=folder,
                timeout_s=300,
            )
        except DeployError as error:
            raise RefusalError(
                f"{mpicc} cannot build the library around MPI: {error}; {PACKAGES},"
                f" or {VARIABLE}=PATH names another mpicc"
            ) from None
        os.replace(fresh, place)
    return place


def kept(mpicc: str, which: LibrarySources = RANKS) -> Path:
    """Where a library of an mpicc is kept: by its sources and all that mpicc would call."""
    digest = hashlib.sha256()
    for file in which.files():
        digest.update(file.read_bytes())
    for text in (mpicc, words(mpicc), *which.flags(), *which.linked):
        digest.update(b"\0" + text.encode())
    if which.has_core:
        digest.update(_core_for_c())
    return cache() / f"mpi-{digest.hexdigest()[:16]}" / which.name


def cache() -> Path:
    """The folder of the user's cache that is flyloom's."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "flyloom"


def _core_for_c() -> bytes:
    if found := _core.map_library():
        return found
    raise RefusalError("this flyloom has no core for C, which is Linux's; install it by its wheel")


def path(mpicc: str, which: LibrarySources = RANKS) -> Path:
    """A library of an mpicc, built where it is not kept yet.

    What is kept is loaded into the user's programs, under a name that anybody can work out:
    RefusalError where another user could have put it there.
    """
    place = kept(mpicc, which)
    _check_owner(place.parent)
    return place if place.is_file() else build(mpicc, which)


def _check_owner(folder: Path) -> None:
    """Checks that a folder belongs to this user, to root, or to the owner of the folder of all
    caches."""
    base = cache().parent
    trusted = {os.geteuid(), 0, *([base.stat().st_uid] if base.is_dir() else [])}
    for place in (cache(), folder):
        if os.path.lexists(place) and place.lstat().st_uid not in trusted:
            raise RefusalError(f"{place}: belongs to another user (number {place.lstat().st_uid}),"
                               " whose library would be run; XDG_CACHE_HOME=FOLDER names another"
                               " place for what is built")


def family(mpicc: str) -> str | None:
    """``Open MPI`` or ``MPICH`` (and what is made from it), by the mpi.h of an mpicc; None for
    another, or where it is not known."""
    asked = [mpicc, "-E", "-dM", "-include", "mpi.h", "-x", "c", os.devnull]
    try:
        defined = process.run(asked, cwd=Path.cwd(), timeout_s=60)
    except DeployError:
        return None
    marks = {"OPEN_MPI": "Open MPI", "MPICH_VERSION": "MPICH", "I_MPI_VERSION": "MPICH"}
    return next((name for mark, name in marks.items() if f"#define {mark} " in defined), None)


def main() -> int:
    """Builds the libraries of every MPI there is; 1 where there is none, or one fails."""
    failed = 0
    found = compilers()
    for mpicc in found:
        try:
            for which in (RANKS, RECORDER, REORDERER, MEASURER):
                print(build(mpicc, which))
        except RefusalError as error:
            print(error, file=sys.stderr)
            failed = 1
    if not found:
        print(f"no MPI: there is no mpicc in PATH; {PACKAGES}", file=sys.stderr)
    return failed or int(not found)


if __name__ == "__main__":
    sys.exit(main())
