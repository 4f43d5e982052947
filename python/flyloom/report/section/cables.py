"""The cables of a report: how many of each length and kind, and what they cost."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, NotRequired, TypedDict

from flyloom.report.base import ComparedFigure, Found, PageData, PageSection, SectionFields, expect
from flyloom.report.by_network import COLUMNS
from flyloom.report.charts import CONFIG, INK, MOST, NETWORK_COLOURS, SCHEMA
from flyloom.report.figure import LOWER
from flyloom.report.shape import Count, Simple, also
from flyloom.report.words import count, some
from flyloom.support.amounts import dollars
from flyloom.support.words import amount

KIND_COLOURS = {"copper": "#b8651b", "electric": "#b8651b", "optical": "#2f7fb5"}
STEPS = ("endpoint cables", "inside a group", "inside a rack, between groups", "between racks")


# --- the shape of the data -----------------------------------------------------------------------


class WiringStepCables(TypedDict):
    """The cables of one step of the wiring."""

    step: Annotated[Simple, "its name or number"]
    count: Annotated[Count, "cables"]


class CableClass(TypedDict):
    """Cables of one kind and length."""

    kind: Annotated[str, "`copper`, `optical` or another"]
    length_m: Annotated[Simple, "their length, or its range"]
    count: Annotated[Count, "cables"]
    cost_usd: NotRequired[Annotated[float, "their price"]]


class CableLengths(TypedDict):
    """All cables of a network."""

    total: Annotated[Count, "cables"]
    length_m: NotRequired[Annotated[float, "the length of all"]]
    by_step: NotRequired[Annotated[list[WiringStepCables], "cables by step of the wiring"]]
    classes: Annotated[list[CableClass], "cables by kind and length"]
    cost_usd: NotRequired[Annotated[float, "the price of all"]]
    cost_note: NotRequired[Annotated[str, "what the price is by"]]


class NetworkCables(TypedDict):
    """The cables of a network of the page."""

    cables: NotRequired[Annotated[CableLengths, "its cables"]]


@also(Any)
class StockCables(TypedDict):
    """Cables of one kind, length and use."""

    kind: Annotated[str, "`copper`, `optical` or another"]
    stock_m: Annotated[float, "the length that they are bought in"]
    cables: Annotated[Count, "cables"]
    cost_usd: Annotated[float, "their price"]


@also(Any)
class CablePurchaseList(TypedDict):
    """The cables to buy, as `flyloom plan` lists them."""

    by_step: Annotated[list[Count], "cables of endpoints, inside a group, between groups of a "
                                    "rack, and between racks"]
    classes: Annotated[list[StockCables], "cables by kind, length and use"]
    cables: Annotated[Count, "all cables"]
    length_m: NotRequired[Annotated[float, "the length of all"]]
    cost_usd: Annotated[float, "the price of all"]
    catalog: Annotated[str, "the catalogue of prices"]


# --- data from the results of a run --------------------------------------------------------------


def of_network(saved: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The cables of the plan of a network."""
    plan = saved["networks"][key]["plan"]
    by_step = [
        {"step": step, "count": count}
        for step, count in zip(STEPS, plan["by_step"], strict=True)
        if count
    ]
    classes = [
        {
            "kind": c["kind"], "length_m": f"up to {amount(c['stock_m']).replace(',', '')}",
            "count": c["cables"],
            "cost_usd": c["cost_usd"],
        }
        for c in plan["classes"]
    ]
    return {"cables": {
        "total": plan["cables"], "length_m": plan.get("length_m"), "by_step": by_step,
        "classes": _merged(classes),
        "cost_usd": plan["cost_usd"],
        "cost_note": f"prices of the catalogue {plan['catalog']}, for the length needed and the "
        "rate of the cable; the cables of endpoints are counted",
    }}


def _merged(classes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Cables of one kind and length, whether of endpoints or between switches, in one row."""
    merged: dict[tuple[Any, ...], dict[str, Any]] = {}
    for entry in classes:
        row = merged.setdefault(
            (entry["kind"], entry["length_m"]), {**entry, "count": 0, "cost_usd": 0.0}
        )
        row["count"] += entry["count"]
        row["cost_usd"] = round(row["cost_usd"] + entry["cost_usd"], 6)
    return list(merged.values())


def border(saved: Mapping[str, Any]) -> None:
    """Checks that every network has a number for each step of the wiring."""
    for key, facts in saved["networks"].items():
        steps = facts["plan"]["by_step"]
        expect(len(steps) == 4, f"networks.{key}.plan.by_step", "a number for each of 4 steps")


# --- the chart and the figures -------------------------------------------------------------------


def view(page: PageData) -> dict[str, Any] | None:
    """The chart, and the networks that have cables."""
    chart = page.chart("cables", cable_spec(page.networks))
    priced = [{**network, "colour": page.colours[network["label"]]}
              for network in page.networks if network["cables"]]
    left_out = some("networks", len(priced), f"the first {MOST}", MOST)
    notes = sorted({note.rstrip(".") for network in priced
                    if (note := network["cables"]["cost_note"])})
    return {"chart": chart, "networks": priced, "left_out": left_out, "notes": notes,
            "table": _table(priced) if len(priced) <= COLUMNS else None} if chart else None


def _table(networks: Sequence[Found]) -> list[dict[str, Any]]:
    """Cables by kind and length, all of them, their length and their price: a column a network."""
    found = [network["cables"] for network in networks]
    kinds = sorted({(row["kind"], length_key(str(row["length_m"])), str(row["length_m"]))
                    for cables in found for row in cables["classes"]})
    rows = []
    for kind, _, length in kinds:
        counts = [sum(row["count"] for row in cables["classes"]
                      if (row["kind"], str(row["length_m"])) == (kind, length))
                  for cables in found]
        rows.append({"what": f"{kind}, {length} m", "cells": [count(n) if n else "–"
                                                              for n in counts]})
    rows.append({"what": "All", "cells": [count(cables["total"]) for cables in found]})
    if any(cables["length_m"] for cables in found):
        rows.append({"what": "Length of all (m)", "cells": [
            "–" if cables["length_m"] is None else f"{cables['length_m']:,.0f}"
            for cables in found]})
    if any(cables["cost_usd"] is not None for cables in found):
        rows.append({"what": "Price of all cables", "cells": [
            "–" if cables["cost_usd"] is None else dollars(round(cables["cost_usd"]))
            for cables in found]})
    return rows


def length_key(length_m: str) -> tuple[float, str]:
    """Sorts length classes such as ``"1-3"``, ``"5"`` or ``">20"`` by their first number."""
    first = re.search(r"\d+(?:\.\d+)?", length_m)
    return (float(first[0]) if first else float("inf"), length_m)


def cable_spec(networks: Sequence[Found]) -> dict[str, Any] | None:
    """Number of cables by length class, stacked by kind, one panel a network, on one scale.

    Networks without cables have no panel, and those after the first :data:`MOST`; ``None`` when
    none has.
    """
    values = [
        {"network": network["label"], "kind": row["kind"], "length": f'{row["length_m"]} m',
         "cables": row["count"]}
        for network in [network for network in networks if network["cables"]][:MOST]
        for row in network["cables"]["classes"]
    ]
    if not values:
        return None
    lengths = sorted({value["length"] for value in values}, key=length_key)
    labels = list(dict.fromkeys(value["network"] for value in values))
    kinds = sorted({value["kind"] for value in values})
    spare = [colour for colour in NETWORK_COLOURS if colour not in KIND_COLOURS.values()]
    colours = [KIND_COLOURS.get(kind, spare[i % len(spare)]) for i, kind in enumerate(kinds)]
    columns = min(3, len(labels))
    x = {"field": "cables", "type": "quantitative", "stack": "zero", "title": "cables",
         "axis": {"tickMinStep": 1, "tickCount": 5}}
    y = {"field": "length", "type": "nominal", "sort": lengths, "title": None}
    return {
        "$schema": SCHEMA, "config": CONFIG, "data": {"values": values},
        "facet": {"field": "network", "type": "nominal", "sort": labels,
                  "header": {"labelAnchor": "start"}},
        "columns": columns, "spacing": {"row": 14, "column": 34},
        "spec": {
            "width": {1: 620, 2: 440, 3: 270}[columns], "height": {"step": 24},
            "layer": [
                {"mark": {"type": "bar", "height": 16},
                 "encoding": {
                     "x": x, "y": y, "order": {"field": "kind"},
                     "color": {"field": "kind", "type": "nominal",
                               "scale": {"domain": kinds, "range": colours},
                               "legend": {"title": None, "orient": "top"}}}},
                {"mark": {"type": "text", "align": "left", "dx": 4, "color": INK},
                 "encoding": {
                     "x": {"aggregate": "sum", "field": "cables", "type": "quantitative"},
                     "y": y,
                     "text": {"aggregate": "sum", "field": "cables", "format": ","}}},
            ],
        },
    }


def figures(page: PageData) -> Iterator[ComparedFigure]:
    """Cables and their length, for each endpoint."""
    for words, unit, key in (
        ("Cables an endpoint", "", "total"), ("Length of cable an endpoint", "m", "length_m"),
    ):
        yield ComparedFigure(words, unit, LOWER, {
            network["label"]: [network["cables"][key] / network["structure"]["endpoints"]]
            for network in page.networks
            if network["cables"] and network["cables"][key] and network["structure"]["endpoints"]
        })


SECTION = PageSection(
    name="cables", title="Cables", place=20,
    doc="How many cables of each length and kind a network needs, and their price.",
    when="a network has cables",
    saved={("networks", "*", "plan"): CablePurchaseList}, border=border,
    of_network=SectionFields(shape=NetworkCables, of=of_network),
    view=view, figures={30: figures},
)
