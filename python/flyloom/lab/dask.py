"""Points on the workers of a Dask scheduler, on this machine or on a cluster.

The workers need this version of flyloom and no files of ours: what a point needs travels with it,
and what is kept is written here. Dask gives the points of a worker that is lost to others.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import pickle
import queue
import socket
import time
import uuid
from collections.abc import Mapping
from typing import Any

from flyloom._core import RefusalError, __version__
from flyloom.lab import sources
from flyloom.lab.point import NetworkSource, PointTask
from flyloom.lab.worker import TaskOutcome, packed, work
from flyloom.support import ending

PATIENCE_S = 10.0
"""How long to wait for the scheduler's answer."""
LOOK_S = 0.5
"""How long to wait for an outcome before the caller has a turn."""
AHEAD = 2
"""Points with the scheduler for every thread of its workers."""
ROOTS = ("flyloom.lab.worker", "flyloom.lab.fabric")
"""What computes a point there."""


NOWHERE = NetworkSource("")
"""Stands in a task for a network that is sent separately."""


class DaskExecutor:
    """The workers of the scheduler at ``address``, HOST:PORT."""

    aside: frozenset[int] = frozenset()

    def __init__(self, address: str, tasks: Mapping[int, PointTask]) -> None:
        self.address, self.tasks = address, tasks
        self.client = _client(address)
        self.run = uuid.uuid4().hex
        self.code = sources.digest_of(*ROOTS)
        self.futures: dict[int, Any] = {}
        self.texts: dict[str, Any] = {}
        self.done: queue.SimpleQueue[int] = queue.SimpleQueue()
        self.most, self.looked = 0, float("-inf")
        self.answered = time.monotonic()

    def room(self, _number: int) -> bool:
        """Whether the scheduler has fewer tasks waiting than are needed to keep its workers
        busy."""
        now = time.monotonic()
        if now > self.looked + 1:
            threads = sum(self.client.nthreads().values())
            self.most, self.looked = AHEAD * max(1, threads), now
        return len(self.futures) < self.most

    def submit(self, number: int) -> None:
        """Sends a task, and its network where that is a file's and did not travel yet."""
        task = self.tasks[number]
        source: Any = task.source
        if source.text:  # travels once
            key = f"flyloom-{self.run}-{source.key}"
            found = self.texts.get(key) or self.client.submit(_itself, source, key=key)
            self.texts[key] = source = found
        self.futures[number] = future = self.client.submit(
            work_there, dataclasses.replace(task, source=NOWHERE, place=None), source, self.code,
            key=f"flyloom-{self.run}-{number}",
        )
        future.add_done_callback(lambda _future: self.done.put(number))

    def finished(self) -> list[TaskOutcome]:
        """What workers have answered; OSError where the scheduler is gone."""
        numbers = []
        with contextlib.suppress(queue.Empty):
            numbers.append(self.done.get(timeout=LOOK_S))
            while True:
                numbers.append(self.done.get_nowait())
        self._check_scheduler()
        return [self._outcome(number, self.futures.pop(number)) for number in numbers]

    def stop(self) -> None:
        """Takes all tasks back."""
        with contextlib.suppress(Exception):  # the scheduler may be gone
            self.client.cancel([*self.futures.values(), *self.texts.values()], force=True)
        self.futures.clear()
        self.client.close(timeout=2)

    def _outcome(self, number: int, future: Any) -> TaskOutcome:
        if future.status == "finished":
            outcome: TaskOutcome = pickle.loads(future.result())
            return outcome
        if future.status != "error":
            return TaskOutcome(number, error=self._gone())
        error = future.exception()
        if type(error).__name__ == "KilledWorker":
            why = f"{self.tasks[number].name}: every worker of Dask that took it was lost"
            error = ChildProcessError(f"{why} ({error.last_worker.address} last)")
        return TaskOutcome(number, error=error)

    def _check_scheduler(self) -> None:
        now = time.monotonic()
        if self.client.status == "running":
            self.answered = now
        elif now > self.answered + PATIENCE_S or self.client.status == "closed":
            raise self._gone()

    def _gone(self) -> ChildProcessError:
        return ChildProcessError(f"the Dask scheduler at {self.address} answers no more")


def _client(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        from flyloom.support.extras import ExtraError

        help_ = "pip install 'flyloom[dask]'"
        raise ExtraError(f"on: Dask's package distributed is not installed; {help_}") from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # we report what matters
    host, port = address.rsplit(":", 1)
    try:
        # a scheduler greets; for one that does not Client would wait without end
        with socket.create_connection((host.strip("[]"), int(port)), PATIENCE_S) as greeting:
            if not greeting.recv(1):
                raise ConnectionError
        return Client(  # type: ignore[no-untyped-call]
            f"tcp://{address}", timeout=PATIENCE_S, set_as_default=False
        )
    except (OSError, OverflowError, ValueError) as error:
        why = f"no Dask scheduler answers at {address} within {PATIENCE_S:.0f} s"
        raise RefusalError(f"on: {why}; start one with `dask scheduler`") from error


def work_there(task: PointTask, source: NetworkSource, code: str) -> bytes:
    """Runs on a worker of Dask: returns the outcome of a task, or why the worker cannot run it."""
    from distributed import get_worker

    worker = get_worker()
    if sources.digest_of(*ROOTS) != code:
        why = f"worker {worker.address} has another flyloom ({__version__} there)"
        error = RefusalError(f"on: {why}; install the same version on all machines")
        return packed(TaskOutcome(task.number, error=error))
    ending.awaited = True  # a fault whose threads do not end ends this worker, too
    # each of its threads computes a point; together they use as many threads of the core
    os.environ.setdefault("RAYON_NUM_THREADS", str(worker.state.nthreads))
    key = worker.get_current_task()

    def wanted(_what: str, _done: int, _total: int) -> None:
        state = worker.state.tasks.get(key)
        if state is None or state.state == "cancelled":
            raise RuntimeError("nobody waits for this point any more")

    return packed(work(dataclasses.replace(task, source=source), progress=wanted))


def _itself(source: NetworkSource) -> NetworkSource:
    return source
