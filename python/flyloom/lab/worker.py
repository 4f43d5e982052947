"""What every executor has done for a task, here or elsewhere: compute it, keep it, tell of it."""

from __future__ import annotations

import pickle
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flyloom._core import FaultError, RefusalError
from flyloom.lab import point
from flyloom.lab.kept import keep
from flyloom.support.errors import DeployError, fault_of
from flyloom.support.progress import Progress


@dataclass
class TaskOutcome:
    """The outcome of a task. It is sent between processes."""

    number: int
    facts: dict[str, Any] | None = None
    record: dict[str, Any] | None = None
    stages: list[tuple[str, dict[str, Any], float]] = field(default_factory=list)
    """The finished stages, as `flyloom.lab.point.Tell` takes them."""
    kept: bool = False
    """Whether the record is on the disk."""
    error: BaseException | None = None
    """Why there is no record."""


def work(
    task: point.PointTask, tell: point.Tell | None = None, progress: Progress | None = None
) -> TaskOutcome:
    """The outcome of a task. Stages go to ``tell`` at once, or else into the outcome; an error
    does too, but for one that stops the process."""
    outcome = TaskOutcome(task.number)
    tell = tell or (lambda *stage: outcome.stages.append(stage))
    try:
        if task.facts:
            outcome.facts = point.facts_of(task.source, tell, progress, task.floor)
        if task.compute:
            outcome.record = point.record_of(task, tell, progress, _fabric(task))
        if outcome.record is not None and task.place is not None:
            keep_record(task.place, outcome.record)
            outcome.kept = True
    except Exception as error:
        outcome.error = error
    except BaseException as error:
        if (fault := fault_of(error)) is None:
            raise
        outcome.error = fault
    return outcome


def packed(outcome: TaskOutcome) -> bytes:
    """An outcome for another process. An error that nobody expects has a note on where it arose."""
    error = outcome.error
    said = (RefusalError, DeployError, FaultError, OSError, MemoryError)
    if error and not isinstance(error, said):
        error.add_note("in the worker:\n" + "".join(traceback.format_exception(error)))
    try:
        return pickle.dumps(outcome, pickle.HIGHEST_PROTOCOL)
    except Exception:
        reason = "\n".join([repr(error), *getattr(error, "__notes__", ())])
        return pickle.dumps(TaskOutcome(outcome.number, error=RuntimeError(reason)))


def keep_record(place: Path, record: dict[str, Any]) -> None:
    """Keeps the record of a finished point for runs to come."""
    if place.is_file() or not place.exists():  # a folder of that name is somebody else's: it stays
        keep(place, record)


def _fabric(task: point.PointTask) -> Any:
    if not wants_fabric(task.point):
        return None
    from flyloom.lab import fabric

    return fabric


def wants_fabric(asked: dict[str, Any]) -> bool:
    """Whether a point runs OpenSM."""
    engine: str = asked.get("routing", {}).get("engine", "")
    return bool(asked.get("deploy")) or engine.startswith("opensm:")
