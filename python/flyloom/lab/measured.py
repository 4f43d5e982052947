"""Measures that points ask for besides, and simulators: their figures as columns of tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from flyloom._core import registry, simulators
from flyloom.support.results import value_at

if TYPE_CHECKING:
    from flyloom.plugins.parts import PluginPart

KEYS = ("label", "topology", "routing", "lanes", "verify", "ebb", "deploy", "sim")
"""Keys of a point that are not additional measures."""

TYPES = {"whole": "int64", "real": "double", "truth": "bool", "text": "string"}
"""The types of columns in Parquet, by what the columns hold."""


@cache
def _built_in() -> dict[str, dict[str, Any]]:
    rows = [part for part in registry() if part["kind"] == "measure"]
    measures = {part["name"]: part for part in rows if part["name"] not in KEYS}
    return measures | {part["name"]: part for part in simulators()}


def known(parts: Iterable[PluginPart] = ()) -> dict[str, dict[str, Any]]:
    """The rows of the registry of all measures that a point can ask for besides, by name: those
    that are built in, users' among ``parts``, and simulators, such as ``sim.flit``."""
    return _built_in() | {part.name: part.row for part in parts if part.kind == "measure"}


def asked(point: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The measures that a point asks for, with all their parameters."""
    measures = {name: given for name, given in point.items() if name not in KEYS}
    return measures | {f"sim.{level}": given for level, given in point.get("sim", {}).items()}


def figures(name: str, record: object, parts: Iterable[PluginPart] = ()) -> dict[str, Any]:
    """The columns of a measure's record; None where it has no such value. Columns of a simulator's
    points are None where it has several points."""
    several = isinstance(record, Mapping) and len(record.get("points", ())) > 1
    return {
        column["name"]: None if several and column["at"].startswith("/points/")
        else value_at(record, column["at"])
        for column in known(parts)[name]["columns"]
    }


def by_load(name: str, record: Any, parts: Iterable[PluginPart] = ()) -> list[dict[str, Any]]:
    """The columns of a simulator's record for each of its points; of other records there is one."""
    return [figures(name, one, parts) for one in _by_load(record)]


def word(name: str) -> str:
    """What goes before the columns of a measure: ``sim_flit`` of ``sim.flit``."""
    return name.replace(".", "_")


def tables(
    records: Iterable[Mapping[str, Any]], parts: Iterable[PluginPart] = ()
) -> list[dict[str, Any]]:
    """What the report shows: a table for each measure asked for, a row for each point; of a
    simulator one for each of its loads."""
    measures = known(parts)
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in measures}
    for record in records:
        for name, found in record["measures"].items():
            about = {"network": record["network"], "label": record["label"],
                     "parameters": record.get("parameters", {}).get(name, {})}
            for one in _by_load(found):
                rows[name].append({**about, "cells": list(figures(name, one, parts).values())})
    return [
        {
            "name": name, "doc": measures[name]["doc"].split("\n\n")[0].replace("\n", " "),
            "columns": [
                {key: column[key] for key in ("name", "unit", "meaning", "better")}
                for column in measures[name]["columns"]
            ],
            "rows": found,
        }
        for name, found in rows.items() if found
    ]


def _by_load(found: Any) -> list[Any]:
    """A simulator's record once for each of its points, with that point alone; another record once,
    as it is."""
    points = found.get("points") if isinstance(found, Mapping) else None
    return [{**found, "points": [point]} for point in points] if points else [found]
