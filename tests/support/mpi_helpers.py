"""Programs under the MPI libraries of Debian, both of which may be installed."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from checkout import shared
from cli_helpers import environment

LIMIT_S = 120
MPIS = ("openmpi", "mpich")
ROOT_MAY = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
}
"""Open MPI starts programs of root, and more ranks than cores."""


def absent(mpi: str) -> str | None:
    """The first program of an MPI that is not installed."""
    programs = (f"mpicc.{mpi}", f"mpiexec.{mpi}")
    return next((program for program in programs if not shutil.which(program)), None)


def needs(mpi: str) -> None:
    """Skips a test where an MPI is not installed: `make setup` installs both where it may."""
    if program := absent(mpi):
        pytest.skip(f"{program} is not installed")


def compiled(mpi: str, source: Path, place: Path, flags: Iterable[str] = ()) -> Path:
    """A program of one file, compiled by the mpicc of an MPI into a folder where it is not yet."""
    program = place / f"{source.stem}_{mpi}"
    if not program.exists():
        words = [f"mpicc.{mpi}", *flags, source, "-o", program]
        subprocess.run(words, check=True, timeout=LIMIT_S)
    return program


def shared_cache(factory: pytest.TempPathFactory) -> Path:
    """A cache for what is built around MPI libraries, one for all processes of a run of tests:
    what is in it is named by all that it was made from."""
    return shared(factory, "mpi_cache")


def on_hosts(hosts: Iterable[object], folder: Path) -> Path:
    """A script for a launcher to start: what follows it, each rank on a host by FLYLOOM_HOST."""
    (folder / "hosts").write_text("".join(f"{host}\n" for host in hosts))
    script = folder / "on_host"
    script.write_text("#!/bin/sh\nrank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\n"
                      f"FLYLOOM_HOST=$(sed -n $((rank + 1))p '{folder}/hosts')\n"
                      'export FLYLOOM_HOST\nexec "$@"\n')
    script.chmod(0o755)
    return script


def mpi_environment(cache: Path, **more: str) -> dict[str, str]:
    """The environment of MPI programs of a test, without settings of ours, with a cache for what
    is built for them."""
    kept = {k: v for k, v in environment().items() if not k.startswith("FLYLOOM_")}
    return {**kept, **ROOT_MAY, "XDG_CACHE_HOME": str(cache), **more}
