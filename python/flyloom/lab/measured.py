"""Measures that points ask for besides: their figures as columns of tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from flyloom._core import registry

if TYPE_CHECKING:
    from flyloom.plugins.parts import Part

KEYS = ("label", "topology", "routing", "lanes", "verify", "ebb", "deploy")
"""Keys of a point that are no measures asked for besides."""

TYPES = {"whole": "int64", "real": "double", "truth": "bool", "text": "string"}
"""Of the columns in Parquet, by what they hold."""


@cache
def _built_in() -> dict[str, dict[str, Any]]:
    rows = [part for part in registry() if part["kind"] == "measure"]
    return {part["name"]: part for part in rows if part["name"] not in KEYS}


def known(parts: Iterable[Part] = ()) -> dict[str, dict[str, Any]]:
    """The rows of the registry of all measures that a point can ask for besides, by name: those
    that are built in, and users' among ``parts``."""
    return _built_in() | {part.name: part.row for part in parts if part.kind == "measure"}


def asked(point: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The measures that a point asks for, with all their parameters."""
    return {name: given for name, given in point.items() if name not in KEYS}


def figures(name: str, record: object, parts: Iterable[Part] = ()) -> dict[str, Any]:
    """The columns of a measure's record; None where it has none."""
    return {column["name"]: _at(record, column["at"]) for column in known(parts)[name]["columns"]}


def _at(record: object, pointer: str) -> Any:
    """What stands at a JSON pointer."""
    for word in pointer.split("/")[1:]:
        if isinstance(record, Mapping):
            record = record.get(word)
        elif isinstance(record, list) and int(word) < len(record):
            record = record[int(word)]
        else:
            return None
    return record


def column_types(parts: Iterable[Part] = ()) -> dict[str, str]:
    """The type of every column of every measure in `rows.parquet`."""
    return {
        f"{name}_{column['name']}": TYPES[column["kind"]]
        for name, part in known(parts).items() for column in part["columns"]
    }


def columns(measures: Mapping[str, object], parts: Iterable[Part] = ()) -> dict[str, Any]:
    """All columns of all measures of a point; None for those that it did not ask for."""
    return {
        f"{name}_{column}": value
        for name in known(parts)
        for column, value in figures(name, measures.get(name), parts).items()
    }


def tables(
    records: Iterable[Mapping[str, Any]], parts: Iterable[Part] = ()
) -> list[dict[str, Any]]:
    """What the report shows: a table for each measure asked for, a row for each point."""
    measures = known(parts)
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in measures}
    for record in records:
        for name, found in record["measures"].items():
            cells = list(figures(name, found, parts).values())
            about = {"network": record["network"], "label": record["label"]}
            rows[name].append({**about, "cells": cells})
    return [
        {
            "name": name, "doc": measures[name]["doc"].split("\n\n")[0].replace("\n", " "),
            "columns": [
                {key: column[key] for key in ("name", "unit", "meaning")}
                for column in measures[name]["columns"]
            ],
            "rows": found,
        }
        for name, found in rows.items() if found
    ]
