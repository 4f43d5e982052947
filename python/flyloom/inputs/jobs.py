"""Workloads that packets are sent for: names of generators with parameters, files, folders."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from flyloom._core import RefusalError, Workload, workload_list
from flyloom.inputs.applications import made, own_application
from flyloom.inputs.workloads import Scheduled, named, recognised, travelled, workload
from flyloom.plugins.found import users
from flyloom.support.progress import Progress
from flyloom.support.reading import is_path, shown
from flyloom.support.refused import hint


def names(given: Scheduled | Sequence[Scheduled]) -> list[Scheduled]:
    """One workload or several as a list."""
    return [given] if isinstance(given, (str, os.PathLike, Workload)) else list(given)


def called(given: Scheduled) -> str:
    """The name of a workload in results."""
    return repr(given) if isinstance(given, Workload) else os.fspath(given)


def jobs(
    given: Mapping[str, Any], progress: Progress | None = None, places: int | None = None
) -> list[Workload] | None:
    """The schedules of ``workload`` in the parameters of a run; None where the core makes them all.
    A user's application alone, of which nothing says the number of ranks, has one for each of the
    ``places``.

    Raises ``RefusalError`` for what is neither a generator nor a file.
    """
    asked = names(given["workload"])
    if all(map(_is_of_core, asked)):
        return None
    codes = given.get("collectives") == "codes"
    if len(asked) == 1 and (alone := named(asked[0])) and not given.get("background"):
        return [_made(*alone, codes, progress, places)]
    return [job(one, codes=codes, progress=progress) for one in asked]


def job(given: Scheduled, *, codes: bool, progress: Progress | None = None) -> Workload:
    """The schedule that ``given`` stands for; with ``codes`` collective operations send nothing.

    Raises ``RefusalError`` for what is neither a generator nor a file.
    """
    if isinstance(given, Workload):
        return given
    if travelled(given) is not None:
        return workload(given, progress)
    if asked := named(given):
        return _made(*asked, codes, progress)
    if isinstance(given, str) and not is_path(given):
        name = re.split(r"[:\s]", given.strip(), maxsplit=1)[0]
        rows = [*workload_list(), *users("application")]
        near = hint(name, [row["name"] for row in rows])
        known = [row["name"] for row in rows if row["kind"] == "application"]
        help_ = f"{near}{', '.join(known)}, a collective (flyloom workload list), or a file"
        raise RefusalError(f"workload: there is no {shown(name)!r}; {help_}")
    return recognised(given).replayed(codes=codes, progress=progress)


def _is_of_core(given: object) -> bool:
    """Whether the core makes the schedule."""
    return (asked := named(given)) is not None and own_application(asked[0]) is None


def _made(
    name: str, given: dict[str, Any], codes: bool, progress: Progress | None,
    places: int | None = None,
) -> Workload:
    row: dict[str, Any] = next((row for row in workload_list() if row["name"] == name), {})
    if codes and any(key["name"] == "allreduce" for key in row.get("keys", ())):
        given["allreduce"] = "none"
    return made(name, given, progress, places)
