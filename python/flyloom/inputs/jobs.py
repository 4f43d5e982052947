"""Traces that packets are sent for: names of generators with parameters, files, folders."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from flyloom._core import RefusalError, Workload, workload_list
from flyloom.inputs.workloads import is_made, is_trace, traced, travelled, workload
from flyloom.support.progress import Progress
from flyloom.support.reading import is_path, shown
from flyloom.support.refused import hint

Traced = str | os.PathLike[str] | Workload
"""A schedule; or the name of one: ``"amg_like:p=12,..."``, a file of GOAL, a trace."""


def is_generator(name: object) -> bool:
    """Whether ``name`` is that of a generator with its parameters, and no file's."""
    if not isinstance(name, str) or travelled(name) or os.path.exists(name):
        return False
    return is_made(name.partition(":")[0])


def names(traces: Traced | Sequence[Traced]) -> list[Traced]:
    """One trace or several as a list."""
    return [traces] if isinstance(traces, (str, os.PathLike, Workload)) else list(traces)


def called(trace: Traced) -> str:
    """What a trace is called in results."""
    return repr(trace) if isinstance(trace, Workload) else os.fspath(trace)


def jobs(given: Mapping[str, Any], progress: Progress | None = None) -> list[Workload] | None:
    """The schedules of ``trace`` in the parameters of a run; None where the core makes them all.

    Raises ``RefusalError`` for what is neither a generator nor a file.
    """
    asked = names(given["trace"])
    if all(map(is_generator, asked)):
        return None
    codes = given.get("collectives") == "codes"
    return [job(trace, codes=codes, progress=progress) for trace in asked]


def job(trace: Traced, *, codes: bool, progress: Progress | None = None) -> Workload:
    """The schedule that ``trace`` stands for; with ``codes`` collective operations send nothing.

    Raises ``RefusalError`` for what is neither a generator nor a file.
    """
    if isinstance(trace, Workload):
        return trace
    if travelled(trace) is not None:
        return workload(trace, progress)
    if is_generator(trace):
        return _made(str(trace), codes, progress)
    if isinstance(trace, str) and not is_path(trace):
        known = [row["name"] for row in workload_list() if row["kind"] == "application"]
        name = trace.partition(":")[0]
        help_ = f"{hint(name, known)}{', '.join(known)}, or a file"
        raise RefusalError(f"trace: there is no {shown(name)!r}; {help_}")
    if is_trace(trace):
        return traced(trace, {"rules": "codes"} if codes else {}, progress)
    return workload(trace, progress)


def _made(trace: str, codes: bool, progress: Progress | None) -> Workload:
    name, _, words = trace.partition(":")
    given: dict[str, Any] = {}
    for word in filter(None, words.split(",")):
        key, equals, value = word.partition("=")
        if not equals:
            raise RefusalError(f"trace: {trace}: '{word}': not KEY=VALUE")
        given[key] = int(value) if value.isdecimal() else value
    row = next(row for row in workload_list() if row["name"] == name)
    if codes and any(key["name"] == "allreduce" for key in row["keys"]):
        given["allreduce"] = "none"
    return Workload.make(name, given, progress)
