"""Runs of messages in a report, and their chart: times are in nanoseconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flyloom.report import axis
from flyloom.report.comparison import chart, colour


def rows(runs: Sequence[Mapping[str, Any]], networks: Sequence[str]) -> list[dict[str, Any]]:
    """A row a run, as :func:`flyloom.report.axis.rows` has them."""
    return axis.rows(runs, networks)


def spec(made: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The time to the last rank against the axis, one colour a curve; None without an axis."""
    names = list(dict.fromkeys(row["curve"] for row in made))[:axis.MOST]
    values = [
        {"curve": row["curve"], "at": row["at"], "ms": row["finish_ns"] / 1e6} for row in made
        if row["curve"] in names and row["at"] is not None and row["at"] > 0 < row["finish_ns"]
    ]
    if len({value["at"] for value in values}) < 2:
        return None
    tint = colour(names, "curve")
    tint["legend"] |= {"columns": 2, "symbolType": "stroke", "labelLimit": 420}
    ticks = sorted({value["at"] for value in values})
    below: dict[str, Any] = {"title": made[0]["axis"], "format": "~s"}
    if len(ticks) <= 10:
        below |= {"values": ticks, "format": ",~f" if ticks[-1] < 1e5 else ".3~s"}
    log = {"type": "log", "nice": False}
    low, high = min(v["ms"] for v in values), max(v["ms"] for v in values)
    x = {"field": "at", "type": "quantitative", "axis": below,
         "scale": {**log, "domain": [0.93 * ticks[0], 1.07 * ticks[-1]]}}
    y = {"field": "ms", "type": "quantitative",
         "scale": {**log, "domain": [0.8 * low, 1.25 * high]},
         "axis": {"title": "time to the last rank (ms)", "format": "~g", "tickCount": 6}}
    encoding = {"x": x, "y": y, "color": tint}
    return chart({
        "data": {"values": values}, "width": 620, "height": 340,
        "layer": [
            {"mark": {"type": "line", "strokeWidth": 1.8}, "encoding": encoding},
            {"mark": {"type": "point", "filled": True, "size": 30, "opacity": 1},
             "encoding": encoding},
        ],
    })
