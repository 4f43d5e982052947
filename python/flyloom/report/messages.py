"""Runs of messages in a report: which of them are points of one curve, and their chart.

A *run* is a dict with ``network``, ``label``, ``parameters`` by dotted names, ``ranks`` and times
in nanoseconds, as :mod:`flyloom.report.check` describes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flyloom.report.comparison import chart, colour
from flyloom.report.simulated import differing

MOST = 20
"""Curves that are drawn, at most: each has a colour of its own."""


def rows(runs: Sequence[Mapping[str, Any]], networks: Sequence[str]) -> list[dict[str, Any]]:
    """A row a run: ``curve``, what tells it from the others but for what the axis says, ``at``, the
    value there (None where there is no axis), ``axis``, its name, and all of the run.

    The axis is the parameter in which runs differ that has numbers alone, and most of them.
    """
    made = [{"network": run["network"], "of": _text(run)} for run in runs]
    differ = differing(made)
    axis = _axis(runs, differ)
    routings = {run["label"] for run in runs}
    out = []
    for run, texts in zip(runs, made, strict=True):
        words = [run["network"]] if len(networks) > 1 else []
        if len(routings) > 1 or not words:
            words.append(run["label"])
        words += [
            f"{name} {texts['of'].get(key, '–')}".strip() for key, name in differ.items()
            if key != axis
        ]
        at = None if axis is None else run["parameters"].get(axis)
        name = axis and axis.rsplit(".", 1)[-1]
        out.append({**run, "curve": ", ".join(words), "at": at, "axis": name})
    order = {name: i for i, name in enumerate(dict.fromkeys(row["curve"] for row in out))}
    return sorted(out, key=lambda row: (order[row["curve"]], row["at"] or 0))


def spec(made: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The time to the last rank against the axis, one colour a curve; None without an axis."""
    names = list(dict.fromkeys(row["curve"] for row in made))[:MOST]
    values = [
        {"curve": row["curve"], "at": row["at"], "ms": row["finish_ns"] / 1e6} for row in made
        if row["curve"] in names and row["at"] is not None and row["at"] > 0 < row["finish_ns"]
    ]
    if len({value["at"] for value in values}) < 2:
        return None
    tint = colour(names, "curve")
    tint["legend"] |= {"columns": 2, "symbolType": "stroke", "labelLimit": 420}
    ticks = sorted({value["at"] for value in values})
    axis: dict[str, Any] = {"title": made[0]["axis"], "format": "~s"}
    if len(ticks) <= 10:
        axis |= {"values": ticks, "format": ",~f" if ticks[-1] < 1e5 else "~s"}
    log = {"type": "log", "nice": False}
    low, high = min(v["ms"] for v in values), max(v["ms"] for v in values)
    x = {"field": "at", "type": "quantitative", "axis": axis,
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


def _text(run: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(value) for key, value in run["parameters"].items()}


def _axis(runs: Sequence[Mapping[str, Any]], differ: Mapping[str, str]) -> str | None:
    """Of the parameters that differ the one with most values, all of them numbers."""
    best, most = None, 1
    for key in differ:
        values = {run["parameters"].get(key) for run in runs if key in run["parameters"]}
        numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
        if numbers and len(values) > most:
            best, most = key, len(values)
    return best
