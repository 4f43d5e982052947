"""Who computes the points of an experiment: this process, others on this machine, or Dask.

An executor takes tasks by their numbers, gives their outcomes as they are finished, and stops. What
is computed is the same everywhere (`flyloom.lab.worker`), and so are the bytes of every result.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Protocol

from flyloom._core import RefusalError, point_bytes
from flyloom.lab.point import PointTask, Tell
from flyloom.lab.worker import TaskOutcome, work
from flyloom.support import ending, machine
from flyloom.support.checks import whole
from flyloom.support.progress import Progress

MOST_WORKERS = 1024
ON_DASK = "dask://"


class Executor(Protocol):
    """What every executor can do."""

    aside: frozenset[int]
    """Tasks that mostly wait, which it takes before and beside the others."""

    def room(self, number: int) -> bool:
        """Whether it takes this task now."""

    def submit(self, number: int) -> None:
        """Takes a task."""

    def finished(self) -> list[TaskOutcome]:
        """Outcomes that were not given before; waits for one for half a second at most."""

    def stop(self) -> None:
        """Ends all work; whatever is not finished is lost. May be repeated."""


class SerialExecutor:
    """Runs tasks here, one after the other; reports stages and progress at once."""

    aside: frozenset[int] = frozenset()

    def __init__(
        self, tasks: Mapping[int, PointTask], tell: Tell, progress: Progress | None
    ) -> None:
        self.tasks, self.tell, self.progress = tasks, tell, progress
        self.waiting: int | None = None

    def room(self, _number: int) -> bool:
        """Whether no task waits to be run."""
        return self.waiting is None

    def submit(self, number: int) -> None:
        """Keeps a task until ``finished`` runs it."""
        self.waiting = number

    def finished(self) -> list[TaskOutcome]:
        """Computes the task that waits, if any."""
        number, self.waiting = self.waiting, None
        return [] if number is None else [work(self.tasks[number], self.tell, self.progress)]

    def stop(self) -> None:
        """Drops the task that waits; nothing else runs in this executor."""
        self.waiting = None


def check(workers: int | None, on: str | None) -> int | None:
    """The number of workers, where one is given; RefusalError for a number, or a place to run, that
    cannot be."""
    if workers is not None:
        workers = whole("workers", workers, 1, MOST_WORKERS)
    if on is None:
        return workers
    host, colon, port = on.removeprefix(ON_DASK).rpartition(":")
    if not on.startswith(ON_DASK) or not (host and colon and port.isascii() and port.isdigit()):
        raise RefusalError(f"on: '{on}' is no scheduler; {ON_DASK}HOST:PORT")
    if workers is not None:
        raise RefusalError("workers: Dask has its own; --workers goes without --on")
    return None


@contextlib.contextmanager
def started(
    tasks: Mapping[int, PointTask], workers: int | None, on: str | None, tell: Tell,
    progress: Progress | None,
) -> Iterator[Executor]:
    """The executor for ``tasks``, by their numbers; it is stopped whatever happens.

    ``on`` names a scheduler of Dask; else there are ``workers`` processes, as many as there are
    processors and memory for where that is None, and no more than points.
    """
    count = 1 if on else _workers(tasks, workers)
    if count == 1 and not on:
        yield SerialExecutor(tasks, tell, progress)
        return
    executor: Executor | None = None
    with ending.in_order():
        try:
            if on:
                from flyloom.lab.dask import DaskExecutor

                executor = DaskExecutor(on.removeprefix(ON_DASK), tasks)
            else:
                from flyloom.lab.processes import ProcessExecutor

                executor = ProcessExecutor(tasks, count, max(1, machine.processors() // count))
            yield executor
        finally:
            with ending.undisturbed():
                if executor is not None:
                    executor.stop()


def _workers(tasks: Mapping[int, PointTask], asked: int | None) -> int:
    most = max(1, sum(task.compute for task in tasks.values()))
    if asked is not None or most == 1:
        return min(asked or 1, most)
    largest = max(map(_bytes, tasks.values()), default=0.0)
    room = machine.free()[0] // largest if largest else most
    return int(max(1, min(most, machine.processors(), room)))


def _bytes(task: PointTask) -> float:
    """The memory that a point takes at most, 0 where nothing is known of it."""
    if not task.compute or not task.source.family:
        return 0.0
    asked = task.point.get("routing", {"engine": None, "lmc": 0})
    try:
        layers = asked.get("layers") or 1 << asked["lmc"]
        family, params = task.source.family, task.source.params
        return point_bytes(family, params, asked["engine"], layers, task.point.get("sim", {}))
    except RefusalError:  # the point itself will report it
        return 0.0
