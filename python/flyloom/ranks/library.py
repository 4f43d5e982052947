"""Builds the small C library around MPI by the user's mpicc, and keeps it in the user's cache."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from pathlib import Path

from flyloom._core import RefusalError
from flyloom.support import process
from flyloom.support.errors import DeployError
from flyloom.support.files import scratch

from .launched import Launched

VARIABLE = "FLYLOOM_MPICC"
"""Names the mpicc to use, in place of those that are found."""

PACKAGES = "apt-get install libopenmpi-dev openmpi-bin, or libmpich-dev mpich"

_FLAGS = ["-std=c11", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC", "-fvisibility=hidden"]
_NAMES = {"Open MPI": ("mpicc.openmpi", "mpicc"), "MPICH": ("mpicc.mpich", "mpicc")}
_ANY = ("mpicc", "mpicc.openmpi", "mpicc.mpich")


def source() -> Path:
    """The C source: inside the package, or beside it in the repository."""
    here = Path(__file__).resolve()
    for place in (here.parent / "_c", here.parents[3] / "runtime" / "ranks"):
        if (place / "ranks.c").is_file():
            return place / "ranks.c"
    raise RefusalError(f"the C source of the library around MPI is missing: {here.parent / '_c'}")


def compiler(launched: Launched | None = None) -> str:
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


def build(mpicc: str) -> Path:
    """Builds the library into the user's cache, in place of one that is there; its path.

    RefusalError with the compiler's words. Several may do so at once.
    """
    place = kept(mpicc)
    place.parent.mkdir(parents=True, exist_ok=True)
    with scratch(place.parent) as folder:
        fresh = folder / place.name
        try:
            process.run(
                [mpicc, *_FLAGS, str(source()), "-o", str(fresh)], cwd=folder, timeout_s=300
            )
        except DeployError as error:
            raise RefusalError(
                f"{mpicc} cannot build the library around MPI: {error}; {PACKAGES},"
                f" or {VARIABLE}=PATH names another mpicc"
            ) from None
        os.replace(fresh, place)
    return place


def kept(mpicc: str) -> Path:
    """Where the library of an mpicc is kept: by its source and all that mpicc would call."""
    digest = hashlib.sha256(source().read_bytes())
    for text in (mpicc, words(mpicc), *_FLAGS):
        digest.update(b"\0" + text.encode())
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "flyloom" / f"mpi-{digest.hexdigest()[:16]}" / "libflyloom_ranks.so"


def path(mpicc: str) -> Path:
    """The library of an mpicc, built where it is not kept yet."""
    place = kept(mpicc)
    return place if place.is_file() else build(mpicc)


def main() -> int:
    """Builds the library of every MPI there is; 1 where there is none, or one fails."""
    failed = 0
    found = compilers()
    for mpicc in found:
        try:
            print(build(mpicc))
        except RefusalError as error:
            print(error, file=sys.stderr)
            failed = 1
    if not found:
        print(f"no MPI: there is no mpicc in PATH; {PACKAGES}", file=sys.stderr)
    return failed or int(not found)


if __name__ == "__main__":
    sys.exit(main())
