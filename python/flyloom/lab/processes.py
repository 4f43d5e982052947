"""Points in several processes of this machine, forked from this one.

Networks that several points share are built before, and their memory is shared. A worker that ends
on its own (killed, out of memory) is replaced, and its point tried once more. Workers die with this
process, however it ends.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import selectors
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Mapping
from multiprocessing.connection import Connection, Pipe

from flyloom._core import FaultError
from flyloom.lab import point
from flyloom.lab.worker import TaskOutcome, packed, wants_fabric, work
from flyloom.support import ending, machine
from flyloom.support.files import remove_leftovers
from flyloom.support.process import die_with

LOOK_S = 0.5
"""How long to wait for an outcome before the caller has a turn."""
PATIENCE_S = 10.0
"""How long workers may take to end in order."""
TRIES = 2
"""How often a point may lose its worker before the run ends."""


class _Worker:
    def __init__(self, pid: int, pipe: Connection) -> None:
        self.pid, self.pipe = pid, pipe
        self.number: int | None = None
        """The task in hand."""


class ProcessExecutor:
    """``workers`` workers, each with ``threads`` threads, and up to as many more for the tasks
    ``aside``, which run OpenSM: they mostly wait for a fabric, and need no processor meanwhile."""

    def __init__(self, tasks: Mapping[int, point.PointTask], workers: int, threads: int) -> None:
        import numpy  # noqa: F401, once for all workers, and for the tables that are written here

        self.tasks, self.threads = tasks, threads
        self.aside = frozenset(
            number for number, task in tasks.items()
            if task.compute and not task.missing and wants_fabric(task.point)
        )
        self.most = workers
        """Tasks in hand, of those aside and of the others each."""
        self.lost: Counter[int | None] = Counter()
        self.workers: list[_Worker] = []
        self.answers = selectors.PollSelector()
        asked = Counter(task.source.key for task in tasks.values() if task.compute)
        point.forget()
        for source in {task.source.key: task.source for task in tasks.values()}.values():
            if asked[source.key] > 1:
                with contextlib.suppress(Exception):  # its point raises the error again
                    point.share(source)
        beside = len(self.aside)
        for _ in range(min(workers, beside) + min(workers, len(tasks) - beside)):
            self._add()

    def room(self, number: int) -> bool:
        """Whether a worker is idle, of those for such tasks."""
        alike = [
            worker for worker in self.workers
            if worker.number is not None and (worker.number in self.aside) == (number in self.aside)
        ]
        return len(alike) < self.most and any(worker.number is None for worker in self.workers)

    def submit(self, number: int) -> None:
        """Gives a task to an idle worker."""
        worker = next(worker for worker in self.workers if worker.number is None)
        self._give(worker, number)

    def finished(self) -> list[TaskOutcome]:
        """What workers have answered; where one has ended, another has its task."""
        found = []
        for worker in [key.data for key, _ in self.answers.select(LOOK_S)]:
            try:
                found.append(pickle.loads(worker.pipe.recv_bytes()))
                worker.number = None
            except (EOFError, OSError):
                found += self._replaced(worker)
        return found

    def stop(self) -> None:
        """Ends all workers: in order, where that takes long by force."""
        workers, self.workers = self.workers, []
        for worker in workers:
            _signal(worker, signal.SIGTERM)
        limit = time.monotonic() + PATIENCE_S
        while any(map(_runs, workers)) and time.monotonic() < limit:
            time.sleep(0.002)
        for worker in workers:
            if _runs(worker):
                _signal(worker, signal.SIGKILL)
                os.waitpid(worker.pid, 0)
            worker.pipe.close()
        self.answers.close()
        point.forget()

    def _give(self, worker: _Worker, number: int) -> None:
        worker.number = number
        with contextlib.suppress(OSError):  # the worker is gone: `finished` sees that, too
            worker.pipe.send(number)

    def _add(self) -> _Worker:
        ours, theirs = Pipe()
        parent = os.getpid()
        sys.stdout.flush()
        sys.stderr.flush()
        with ending.undisturbed(), warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # warns of forks beside threads
            pid = os.fork()
            if pid == 0:
                _live(parent, theirs, self.tasks, self.threads)
            worker = _Worker(pid, ours)
            self.workers.append(worker)
            self.answers.register(ours, selectors.EVENT_READ, worker)
        theirs.close()
        return worker

    def _replaced(self, worker: _Worker) -> list[TaskOutcome]:
        """Another worker in the place of one that ended, with its task where that is tried again;
        else the outcome of that task."""
        self.workers.remove(worker)
        self.answers.unregister(worker.pipe)
        worker.pipe.close()
        _signal(worker, signal.SIGKILL)  # in case it has only closed its pipe
        code = os.waitstatus_to_exitcode(os.waitpid(worker.pid, 0)[1])
        number, how = worker.number, f"killed by {_name(-code)}" if code < 0 else f"code {code}"
        self.lost[number] += 1
        if number is None and self.lost[None] > len(self.workers) + TRIES:
            raise ChildProcessError(f"worker processes end before they have begun ({how})")
        another = self._add()
        if number is None:
            return []
        task = self.tasks[number]
        if task.place:
            remove_leftovers(task.place.parent)
        if self.lost[number] < TRIES:
            self._give(another, number)
            return []
        why = f"{task.name}: its worker process ended {TRIES} times ({how})"
        help_ = "where memory is short, --workers 1 takes least"
        return [TaskOutcome(number, error=ChildProcessError(f"{why}; {help_}"))]


def _live(
    parent: int, pipe: Connection, tasks: Mapping[int, point.PointTask], threads: int
) -> None:
    """The life of a worker; does not return."""
    try:
        ending.follow()
        die_with(parent)
        number: list[int] = []

        def tell_fault(line: str) -> None:
            pipe.send_bytes(packed(TaskOutcome(number[-1], error=FaultError(line))))

        ending.before_broken = tell_fault
        machine.tell = False
        os.environ["RAYON_NUM_THREADS"] = str(threads)
        while True:
            number.append(pipe.recv())
            pipe.send_bytes(packed(_done(tasks[number[-1]])))
    except EOFError:  # our parent wants no more
        os._exit(0)
    finally:
        os._exit(1)


def _done(task: point.PointTask) -> TaskOutcome:
    try:
        return work(task)
    except KeyboardInterrupt as error:  # raised by the computation, not by a terminal
        return TaskOutcome(task.number, error=RuntimeError(str(error)))


def _signal(worker: _Worker, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(worker.pid, number)


def _runs(worker: _Worker) -> bool:
    """Whether a worker has not ended; one that has is reaped."""
    try:
        return os.waitpid(worker.pid, os.WNOHANG)[0] == 0
    except ChildProcessError:
        return False


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
