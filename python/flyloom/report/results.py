"""The border of `results.json`: what the report takes from it is there, and of its kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from flyloom.report.base import RunResults, expect
from flyloom.report.section import sections
from flyloom.report.shape import ReportError, shape, walk

EACH, VALUES = "[]", "*"
"""Steps of a path: each of a list, each value of a dictionary."""


def results(saved: Any) -> None:
    """Raises :class:`ReportError` at the first field of the results of a run that is missing or of
    another kind than a run writes. O(size of the results)."""
    walk(saved, shape(RunResults), "results")
    if not saved["records"] and not saved.get("choice"):
        raise ReportError("records: there is none; run the experiment first")
    for i, record in enumerate(saved["records"]):
        _record(record, f"records[{i}]")
    known = sections()
    for section in known:
        for path, declared in section.saved.items():
            for found, where in at(saved, path):
                walk(found, shape(declared), where or "results")
    for section in known:
        section.border(saved)


def at(inside: Any, path: Sequence[str], where: str = "") -> Iterator[tuple[Any, str]]:
    """What stands at a path in ``inside``, each with its place; nothing where a name of the path is
    missing."""
    if not path:
        yield inside, where
        return
    step, *rest = path
    if step == EACH:
        for i, item in enumerate(inside):
            yield from at(item, rest, f"{where}[{i}]")
    elif step == VALUES:
        for key, item in inside.items():
            yield from at(item, rest, f"{where}.{key}")
    elif inside.get(step) is not None:
        yield from at(inside[step], rest, f"{where}.{step}" if where else step)


def _record(record: dict[str, Any], where: str) -> None:
    for name, found in (record.get("measures") or {}).items():
        simulated = name.startswith("sim.")
        expect(not simulated or isinstance(found, dict), f"{where}.measures.{name}", "a record")
    for name, asked in (record.get("asked") or {}).items():
        expect(isinstance(asked, dict), f"{where}.asked.{name}", "what was asked")
