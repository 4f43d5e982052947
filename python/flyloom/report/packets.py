"""Runs of packets in a report: curves of latency and rate against load, and times of traces.

A *simulation* is what ``sim.packet`` found at a point of an experiment: ``network``, ``label``,
``parameters`` by dotted names, ``points`` and, of traces, ``jobs``. Every ``*_spec`` gives a
Vega-Lite specification, or None when there is nothing to draw. Latencies and times are in ns, rates
in Gbit/s an endpoint.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from flyloom.report import axis, simulated
from flyloom.report.charts import GREY, INK
from flyloom.report.comparison import PALETTE, chart, colour
from flyloom.report.curves import CurvePanelRow, spec

ROWS = (
    CurvePanelRow("mean_latency_ns", "mean latency (ns)"),
    CurvePanelRow("p99_latency_ns", "p99 latency (ns)"),
    CurvePanelRow("accepted_load", "accepted load", latency=False),
)
"""What is drawn against the load."""
RATE = CurvePanelRow("accepted_gbps", "accepted (Gbit/s an endpoint)", latency=False)
"""What is drawn of points for which the accepted load is not known."""
#: Figures of a job: their keys, and what their axes are called.
FIGURES = {
    "max_comm_ns": "communication of the slowest process (ns)",
    "mean_comm_ns": "in the mean of the processes (ns)",
    "mean_latency_ns": "packet latency (ns)",
    "mean_hops": "hops",
}
REPEATED = ("seed",)
"""Parameters in which runs of the same thing differ."""
PLAIN = {"labelExpr": "format(datum.value, ',~r')"}
"""Numbers at an axis without powers of ten."""
FAR = 8
"""An axis is logarithmic if its largest value is at least this multiple of its least."""
_OFFERED = "offered load (part of the rate of a rail)"


# --- latency and rate against load ---------------------------------------------------------------


def curves(
    simulations: Sequence[Mapping[str, Any]], networks: Sequence[str]
) -> list[dict[str, Any]]:
    """The curves of what was simulated without traces, as :func:`simulated.curves` has them."""
    return simulated.curves([s for s in simulations if not s["jobs"]], networks)


def curves_spec(
    made: Sequence[Mapping[str, Any]], title: str = "", *, narrow: bool = False,
    width_pt: float | None = None,
) -> dict[str, Any] | None:
    """Latencies and what is accepted against offered load, as :func:`flyloom.report.curves.spec`
    has them."""
    known = all(point.get("accepted_load") is not None for c in made for point in c["points"])
    rows = ROWS if known else (*ROWS[:-1], RATE)
    return spec(made, rows, _OFFERED, title, narrow=narrow, width_pt=width_pt)


def tints(names: Sequence[str], field: str = "curve") -> dict[str, Any]:
    """The colours of curves, with a legend below where there are several."""
    tint = paired(names, colour(names, field))
    tint["legend"] |= {"columns": 2, "symbolType": "stroke", "labelLimit": 420}
    if len(names) < 2:
        tint["legend"] = None
    return tint


PAIRED = {", own model": 0.0, ", CODES": 0.5}
"""Words of a name that tell two models of a network apart, and how much white its colour has."""


def paired(names: Sequence[str], tint: dict[str, Any]) -> dict[str, Any]:
    """The colours with one hue for the two models of a network, the other one paler."""
    plain = [next((name.replace(word, "") for word in PAIRED if word in name), name)
             for name in names]
    if len(set(plain)) == len(plain):
        return tint
    hues = dict(zip(dict.fromkeys(plain), itertools.cycle(PALETTE), strict=False))
    white = [next((part for word, part in PAIRED.items() if word in name), 0.0) for name in names]
    tint["scale"] = {"domain": list(names), "range": [
        _paler(hues[one], part) for one, part in zip(plain, white, strict=True)
    ]}
    return tint


def _paler(hue: str, white: float) -> str:
    """A colour with a part of white in it."""
    parts = (int(hue[at:at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(part + (255 - part) * white):02x}" for part in parts)


# --- times of traces -----------------------------------------------------------------------------


def traced(
    simulations: Sequence[Mapping[str, Any]], networks: Sequence[str]
) -> list[dict[str, Any]]:
    """A row for each curve of jobs of traces and value of its axis: ``curve``, ``at``, ``axis`` (as
    :func:`axis.rows` has them), ``runs``, how many there are that differ in :data:`REPEATED` alone,
    the mean over them of each of :data:`FIGURES`, its least and largest value as ``low`` and
    ``high``, ``ranks``, and ``deadlocked``, how many of the runs did not end: figures are of the
    others."""
    found: dict[tuple[str, Any], list[dict[str, Any]]] = {}
    for row in axis.rows([job for s in simulations for job in _jobs(s)], networks, REPEATED):
        found.setdefault((row["curve"], row["at"]), []).append(row)
    return [_together(same) for same in found.values()]


def _jobs(simulation: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The jobs of traces of a run, each as a run of :mod:`axis`; of several their names are among
    the parameters."""
    jobs = [job for job in simulation["jobs"] or () if job["max_comm_ns"] is not None]
    about: dict[str, Any] = {key: simulation[key] for key in ("network", "label")}
    about["deadlocked"] = any(point["deadlocked"] for point in simulation["points"])
    if about["deadlocked"]:
        about |= dict.fromkeys(FIGURES)
    many = len(jobs) > 1
    return [
        {**job, **about, "parameters": simulation["parameters"] | ({"job": name} if many else {})}
        for job, name in zip(jobs, names_of(jobs), strict=True)
    ]


def names_of(jobs: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names of jobs; those that others have too get their number."""
    names = [job["name"] for job in jobs]
    return [
        f"{name} ({place + 1})" if names.count(name) > 1 else name
        for place, name in enumerate(names)
    ]


def _together(same: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    first = same[0]
    out: dict[str, Any] = {key: first[key] for key in ("curve", "rest", "network", "at", "axis",
                                                      "ranks")}
    out |= {"runs": len(same), "deadlocked": sum(row["deadlocked"] for row in same),
            "low": {}, "high": {}}
    for key in FIGURES:
        known = [row[key] for row in same if row[key] is not None]
        out[key] = sum(known) / len(known) if known else None
        out["low"][key], out["high"][key] = min(known, default=None), max(known, default=None)
    return out


def traced_spec(made: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Time of communication against the axis, and beside it latency and routers visited, one colour
    a curve; as bars where there is no axis. Wide bars go from the least to the largest of several
    runs."""
    made = [row for row in made if row["max_comm_ns"] is not None]
    names = list(dict.fromkeys(row["curve"] for row in made))[:axis.MOST]
    shown = [row for row in made if row["curve"] in names]
    if not shown:
        return None
    if len({row["at"] for row in shown if row["at"] is not None}) < 2:
        return times_spec([{**row, "name": called(row)} for row in shown])
    shown = [row for row in shown if row["at"] is not None]
    tint, x = tints(names), _along(shown)
    small = {"width": 300, "height": 112}
    beside = [
        {**small, "layer": _lines(shown, [key], x, tint)}
        for key in ("mean_latency_ns", "mean_hops")
    ]
    return chart({"spacing": 34, "hconcat": [
        {"width": 430, "height": 290,
         "layer": _lines(shown, ["max_comm_ns", "mean_comm_ns"], x, tint)},
        {"spacing": 18, "vconcat": beside},
    ]})


def called(row: Mapping[str, Any]) -> str:
    """The name of the curve that a row is a point of, and the row's place on the axis."""
    words = [row["curve"]]
    if row["at"] is not None:
        words.append(f"{axis_words(row)} {row['at']:g}")
    return ", ".join(words)


def axis_words(row: Mapping[str, Any]) -> str:
    """The name of the axis of a row, in words."""
    return str(row["axis"]).replace("_", " ")


def off_axis(made: Sequence[Mapping[str, Any]]) -> str:
    """A sentence on the rows that have no place on the axis, where there are some."""
    without = sum(row["at"] is None for row in made)
    if not without or without == len(made):
        return ""
    name = next(axis_words(row) for row in made if row["at"] is not None)
    return f"Runs without a number as {name} are in the table alone."


def ends_of(values: Sequence[float]) -> list[float]:
    """The ends of an axis that holds all values, with a little room."""
    return [0.85 * min(values, default=1), 1.1 * max(values, default=10)]


def _along(shown: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The axis of runs: in equal steps, or logarithmic where it goes far."""
    ticks = sorted({row["at"] for row in shown})
    below: dict[str, Any] = {"title": axis_words(shown[0]), **PLAIN}
    wide = ticks[0] > 0 and ticks[-1] / ticks[0] > 20
    scale: dict[str, Any] = {"type": "log" if wide else "linear", "nice": False, "padding": 12}
    scale |= {"domain": [ticks[0], ticks[-1]], "zero": False}
    if wide:
        del scale["zero"]
    if len(ticks) <= 8:
        below |= {"values": ticks, "labelOverlap": "greedy", "labelSeparation": 8}
    return {"field": "at", "type": "quantitative", "axis": below, "scale": scale}


def _lines(
    shown: Sequence[Mapping[str, Any]], keys: Sequence[str], x: dict[str, Any],
    tint: dict[str, Any],
) -> list[dict[str, Any]]:
    """The layers of a panel: a line for each of the figures ``keys``, those after the first
    lighter, with the range of several runs of the first."""
    title = FIGURES[keys[0]]
    if len(keys) > 1:
        title = "communication of a process (ns)"
    # the axis begins at 0, unless that hides the differences
    highs = [row["high"][key] for row in shown for key in keys if row[key] is not None]
    lows = [row["low"][key] for row in shown for key in keys if row[key] is not None]
    zero = bool(lows) and min(lows) < 0.4 * max(highs)
    scale: dict[str, Any] = {"zero": zero}
    if lows and min(lows) > 0 and max(highs) > FAR * min(lows):
        scale = {"type": "log", "domain": ends_of([*lows, *highs]), "nice": False}
    y = {"field": "value", "type": "quantitative", "scale": scale,
         "axis": {"title": title, "tickCount": 6 if len(keys) > 1 else 4, **PLAIN}}
    names = ["longest", "mean"]
    dashes: dict[str, Any] = {
        "field": "is", "type": "nominal", "scale": {"domain": names, "range": [[1, 0], [5, 3]]},
        "legend": {"title": None, "orient": "top", "symbolType": "stroke",
                   "symbolStrokeColor": INK, "symbolSize": 300} if len(keys) > 1 else None,
    }
    layers: list[dict[str, Any]] = []
    for place, key in enumerate(keys):
        values = [
            {"curve": row["curve"], "at": row["at"], "value": row[key], "is": names[place],
             "low": row["low"][key], "high": row["high"][key]}
            for row in shown if row[key] is not None
        ]
        encoding = {"x": x, "y": y, "color": tint}
        data = {"data": {"values": values}}
        if place == 0 and any(value["low"] != value["high"] for value in values):
            layers.append({**data, "mark": {"type": "rule", "strokeWidth": 5, "opacity": 0.35},
                           "encoding": {**encoding, "y": {**y, "field": "low"},
                                        "y2": {"field": "high"}}})
        layers.append({**data, "mark": {"type": "line", "strokeWidth": 1.8 if place == 0 else 1.1,
                                        "opacity": 1 if place == 0 else 0.45},
                       "encoding": {**encoding, "strokeDash": dashes}})
        if place == 0:
            layers.append({**data, "mark": {"type": "point", "filled": True, "size": 30,
                                            "opacity": 1}, "encoding": encoding})
    return layers


def times_spec(
    rows: Sequence[Mapping[str, Any]], width: int = 620, tint: dict[str, Any] | None = None
) -> dict[str, Any] | None:
    """A bar for each of ``rows``, called ``name``: the longest time of communication, and by a line
    across it the mean; of several runs the range of the longest."""
    values = [
        {"name": row["name"], "longest": row["max_comm_ns"], "mean": row["mean_comm_ns"],
         "low": row.get("low", {}).get("max_comm_ns"),
         "high": row.get("high", {}).get("max_comm_ns")}
        for row in rows if row["max_comm_ns"] is not None
    ]
    if not values:
        return None
    order = list(dict.fromkeys(value["name"] for value in values))
    y = {"field": "name", "type": "nominal", "sort": order, "axis": None}
    x = {"type": "quantitative", "axis": {"tickCount": 6, "grid": True, "title":
                                          "communication of a process (ns): longest, line: mean"}}
    layers: list[dict[str, Any]] = [
        {"mark": {"type": "bar", "height": 13, "yOffset": 6, "cornerRadius": 2},
         "encoding": {"y": y, "x": {**x, "field": "longest"},
                      "color": tint or {"value": "#7fa8d1"}}},
        {"mark": {"type": "tick", "color": INK, "height": 17, "thickness": 2, "yOffset": 6},
         "encoding": {"y": y, "x": {**x, "field": "mean"}}},
        {"mark": {"type": "text", "align": "left", "dy": -8, "dx": 2, "fontSize": 11.5,
                  "color": INK, "limit": width},
         "encoding": {"y": y, "x": {"value": 0}, "text": {"field": "name"}}},
    ]
    if any(value["low"] != value["high"] for value in values):
        layers.append({"mark": {"type": "rule", "color": GREY, "strokeWidth": 1.5,
                                "yOffset": 6},
                       "encoding": {"y": y, "x": {**x, "field": "low"}, "x2": {"field": "high"}}})
    return chart({"data": {"values": values}, "width": width, "height": {"step": 38},
                  "layer": layers})
