"""The tables of measures in a report: a row for each point that a measure was asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, NotRequired, TypedDict

from flyloom.report import asked
from flyloom.report.base import ComparedFigure, Found, PageData, PageSection, SectionList, dotted
from flyloom.report.figure import HIGHER, LOWER
from flyloom.report.shape import Simple, also
from flyloom.support.amounts import figure, heading

#: In tables with more columns than this, values that all rows share stand beside the table.
WIDE = 8
#: Tables with more rows are folded; so are those of simulations, which have sections of their own.
SHOWN = 12


class MeasureColumn(TypedDict):
    """A figure of a measure."""

    name: Annotated[str, "its name"]
    unit: Annotated[str, "its unit, or nothing"]
    meaning: Annotated[str, "what it is"]
    better: NotRequired[Annotated[str, "`lower`, `higher` or nothing"]]


class MeasureFigures(TypedDict):
    """The columns that a measure found at a point."""

    network: Annotated[str, "the label of the network"]
    label: Annotated[str, "what the point is called"]
    cells: Annotated[list[Simple], "the figures, in the order of the columns"]


class MeasureDescription(TypedDict):
    """A measure."""

    name: Annotated[str, "its name"]
    doc: Annotated[str, "what it is, in a sentence"]
    columns: Annotated[list[MeasureColumn], "its figures"]


class MeasuredPointRow(MeasureFigures):
    """A row of a table on the page: a point and its figures."""

    parameters: NotRequired[Annotated[dict[str, Simple], "what was asked, by dotted names"]]


class MeasureTable(MeasureDescription):
    """The table of a measure."""

    rows: Annotated[list[MeasuredPointRow], "what was found at each point"]


class SavedMeasuredPointRow(MeasureFigures):
    """A row in the results of a run: a point and its figures."""

    parameters: NotRequired[Annotated[dict[str, Any], "what was asked, by tables"]]


class SavedMeasure(MeasureDescription):
    """The table of a measure, of a run."""

    rows: Annotated[list[SavedMeasuredPointRow], "what was found at each point"]


@also(Any)
class MeasureTables(TypedDict):
    """The tables of all measures."""

    measures: NotRequired[Annotated[list[SavedMeasure], "a table for each measure asked for"]]


def entries(saved: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The tables of a run, with the parameters of its points by dotted names."""
    for measure in saved.get("measures") or []:
        yield {**measure, "rows": [{**row, "parameters": dotted(row.get("parameters") or {})}
                                   for row in measure["rows"]]}


def view(page: PageData) -> dict[str, Any] | None:
    """The tables of all measures, for the template."""
    tables = measure_tables([m for m in page.data["measures"] if m["name"] != "cost"])
    return {"measures": tables} if tables else None


def measure_tables(measures: Sequence[Found]) -> list[dict[str, Any]]:
    """The tables of measures. In a wide table the columns with one value in all rows are left out,
    and ``same`` states their values in words."""
    out = []
    for measure in measures:
        columns, rows = measure["columns"], measure["rows"]
        same = [
            place for place in range(len(columns))
            if len(columns) > WIDE and len(rows) > 1
            and len({str(row["cells"][place]) for row in rows}) == 1
        ]
        said = [
            f"{heading(columns[place]['name'])}"
            f" {figure(value, columns[place]['name'], columns[place]['unit'])}"
            for place in same if (value := rows[0]["cells"][place]) is not None
        ]
        kept = [place for place in range(len(columns)) if place not in same]
        out.append({
            **measure, "same": ", ".join(said),
            "folded": len(rows) > SHOWN or measure["name"].startswith(("sim.", *OWN)),
            "columns": [columns[place] for place in kept],
            "rows": [{**row, "cells": [row["cells"][place] for place in kept]} for row in rows],
        })
    return out


TOPICS = {
    ("cost", "usd_per_endpoint"): "price", ("cost", "power_w_per_endpoint"): "power",
    ("resilience", "removed_until_disconnected"): "failures",
}
"""What columns of measures say in the verdict at the top."""
OWN = ("map",)
"""Measures that are compared by what they found of processes, in their own section."""
CHOSEN = {
    "cost": {"usd_per_endpoint": "Price an endpoint", "power_w_per_endpoint": "Power an endpoint"},
    "congestion": {"mean_share": "Mean share of the rate that a message gets"},
    "path_diversity": {"mean_disjoint_paths": "Disjoint routes of two switches"},
    "resilience": {
        "removed_until_disconnected": "Links that fail at random until it falls apart",
        "removed_until_diameter": "Links that fail at random until the diameter grows by over 2",
        "removed_until_mean": "Links that fail at random until the mean distance grows by over 1",
    },
}
"""For measures with many columns, the columns that are compared, and their titles."""


def prices(page: PageData) -> Iterator[ComparedFigure]:
    """The costs of the networks."""
    yield from _compared(m for m in page.data["measures"] if m["name"] == "cost")


def figures(page: PageData) -> Iterator[ComparedFigure]:
    """The figures of all other measures."""
    yield from _compared(m for m in page.data["measures"] if m["name"] != "cost")


def _compared(measures: Iterator[Found]) -> Iterator[ComparedFigure]:
    """The columns of measures that know which direction is better."""
    for measure in measures:
        name = measure["name"]
        if name in OWN or name.startswith("sim."):
            continue
        runs = [{**row, "parameters": row["parameters"] or {}} for row in measure["rows"]]
        for place, column in enumerate(measure["columns"]):
            said = CHOSEN.get(name, {}).get(column["name"])
            if column["better"] not in (LOWER, HIGHER) or (name in CHOSEN and said is None):
                continue
            for same in asked.same(_once_each(runs, place)):
                values = same.means(_cell_at(place))
                what = said or f"{name}: {column['meaning']}".replace("_", " ")
                unit = column["unit"]
                if unit == "fraction":
                    unit, values = "%", {of: [100 * value for value in row]
                                         for of, row in values.items()}
                yield ComparedFigure(", ".join([what, *same.words()]), unit, column["better"],
                                     values, topic=TOPICS.get((name, column["name"]), ""))


def _once_each(runs: Sequence[Found], place: int) -> Sequence[Found]:
    """A run for each network and parameters where all those of a network have one value, as prices
    have it whatever is simulated on the network; else all runs."""
    found: dict[tuple[str, str], list[Found]] = {}
    for run in runs:
        key = (run["network"], json.dumps(run["parameters"], sort_keys=True))
        found.setdefault(key, []).append(run)
    equal = all(
        len({run["cells"][place] for run in of}) == 1 for of in found.values()
    )
    return [of[0] for of in found.values()] if equal else runs


def _cell_at(place: int) -> Callable[[Found], Any]:
    return lambda row: row["cells"][place]


SECTION = PageSection(
    name="measures", title="Measures", place=110,
    doc="A table for each measure, with a row for each point.",
    when="a measure was asked for",
    saved={(): MeasureTables}, entries=SectionList(key="measures", shape=MeasureTable, of=entries),
    view=view, figures={20: prices, 110: figures},
)
