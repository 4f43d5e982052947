"""All ranks of a run, seen by one: an error at one is known to all, and reported once."""

from __future__ import annotations

import atexit
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from flyloom import _core
from flyloom._core import RefusalError
from flyloom.support import ending

from . import library
from .launched import LaunchedProcess, launched

PATIENCE_S = 3.0
"""How long ranks of other hosts delay the reason why they cannot join. If rank 0 cannot either, the
launcher ends them meanwhile."""
LAST_WORDS_S = 0.5
"""How long a rank that stops with an error waits before it ends the others: MPICH's launcher drops
what it has not read by then, of this rank and of others that stop with it."""


class RankTeam:
    """The ranks of a run; without ``core`` one process alone.

    As a block: at its end MPI ends, unless something went wrong that other ranks do not know of.
    """

    def __init__(self, core: _core.Ranks | None = None) -> None:
        self.core = core
        self.rank = core.rank if core else 0
        self.size = core.size if core else 1

    @contextmanager
    def together(self) -> Iterator[None]:
        """A block that all ranks come to: where one raises something, all raise the refusal of the
        first of them at its end, and what is no refusal is raised as it is."""
        if self.core is None:
            yield
            return
        try:
            yield
        except Exception as error:
            try:
                self.core.agree(error)
            except RefusalError:
                if isinstance(error, RefusalError):
                    raise
            raise
        self.core.agree()

    def leave(self) -> None:
        """The end of MPI in this process, for all ranks at the same place."""
        if self.core is not None:
            self.core.close()

    def __enter__(self) -> RankTeam:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _error: object, _trace: TracebackType | None
    ) -> None:
        if kind is None or issubclass(kind, RefusalError):
            self.leave()


ALONE = RankTeam()
_joined: list[RankTeam] = []


def join() -> RankTeam:
    """The ranks that this process is one of; MPI begins at the first call.

    RefusalError where there is no MPI, or where it is not that of the launcher.
    """
    if not _joined:
        here = launched()
        try:
            team = _join(here)
        except RefusalError as error:
            if here and here.rank > 0 and here.here == 0:  # one rank of each host is enough
                time.sleep(PATIENCE_S)
                os.write(2, f"flyloom: rank {here.rank} of {here.size}: {error}\n".encode())
                error.spoken = True  # type: ignore[attr-defined]
            raise
        atexit.register(_leave)
        ending.awaited = team.size > 1
        _joined.append(team)
    return _joined[0]


def _join(here: LaunchedProcess | None) -> RankTeam:
    mpicc = library.compiler(here)
    core = _core.Ranks(str(library.path(mpicc)))
    if here and here.size > 1 and core.size == 1:
        core.close()
        raise RefusalError(
            f"{here.name} started {here.size} processes, but each is alone in {core.library},"
            f" the MPI of {mpicc}: {library.VARIABLE}=PATH names the mpicc of {here.name}'s MPI,"
            f" or start with that MPI's own mpiexec"
        )
    return RankTeam(core)


def _leave() -> None:
    """Ends the ranks at the end of a program: all at once if one stopped with an error, else in
    order."""
    core = _joined[0].core
    if core is None:
        return
    if hasattr(sys, "last_value"):
        time.sleep(LAST_WORDS_S)
        core.abort(3)
    core.close()
