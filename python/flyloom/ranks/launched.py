"""What started this process as one of several, by the variables that each launcher sets."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

LAUNCHERS = (
    ("Open MPI", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK"),
    ("MPICH", "PMI_SIZE", "PMI_RANK", "MPI_LOCALRANKID"),
    ("Slurm", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_LOCALID"),
)
"""Names, and their variables of how many there are, which one this is, and which on its host."""


class LaunchedProcess(NamedTuple):
    """What a launcher states: its name, how many processes it started, which of them this process
    is, and which of those on its host."""

    name: str
    size: int
    rank: int
    here: int


def launched() -> LaunchedProcess | None:
    """The launcher that started this process as one of several; None if none did."""
    for name, size, rank, here in LAUNCHERS:
        found = [_number(variable) for variable in (size, rank)]
        if found[0] is not None and found[1] is not None:
            return LaunchedProcess(name, found[0], found[1], _number(here) or 0)
    return None


def _number(variable: str) -> int | None:
    text = os.environ.get(variable, "")
    return int(text) if text.isascii() and text.isdigit() else None


def is_silent(words: Sequence[str]) -> bool:
    """Whether words of the command line are a run over MPI, and this is not its rank 0."""
    here = launched()
    asked = "--sync=mpi" in words or ("--sync", "mpi") in pairwise(words)
    return asked and here is not None and here.rank > 0
