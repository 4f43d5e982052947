"""Charts of a report: Vega-Lite specifications as plain dictionaries, and their rendering to SVG.

The functions ``*_spec`` take the checked report data (:mod:`flyloom.report.check`) and return a
specification that any Vega-Lite viewer can open; :func:`svg` renders one to an inline ``<svg>``
with ``vl-convert-python``, in a child process and without network access. Same specification, same
bytes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flyloom.report.drawing import svg_text

FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
INK, GREY, GRID = "#1c2430", "#59636f", "#e3e7ec"
#: One colour a network, in turn: Okabe and Ito's palette, darkened to stand out on white.
NETWORK_COLOURS = ("#0b5394", "#d1660a", "#1b8a6b", "#9a3d86", "#6b5b00", "#5a6472")
#: Rows or panels of a chart: of more nobody reads each, and each takes a twentieth of a second.
MOST = 24
KIND_COLOURS = {"copper": "#b8651b", "electric": "#b8651b", "optical": "#2f7fb5"}
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"

CONFIG = {
    "font": FONT,
    "aria": False,
    "background": "transparent",
    "view": {"stroke": None},
    "axis": {
        "labelColor": INK, "titleColor": GREY, "titleFontWeight": "normal", "labelFontSize": 11,
        "titleFontSize": 11.5, "gridColor": GRID, "domainColor": "#9aa4b0", "tickColor": "#9aa4b0",
    },
    "header": {
        "labelColor": INK, "labelFontSize": 12, "labelFontWeight": 600, "title": None,
        "labelLimit": 260,
    },
    "legend": {"labelColor": INK, "titleColor": GREY, "labelFontSize": 11.5, "labelLimit": 300},
}


def svg(spec: Mapping[str, Any], *, prefix: str) -> str:
    """Render a Vega-Lite specification to one inline ``<svg>`` element.

    ``prefix`` starts every ``id`` inside, so that several charts can stand in one page; ids are
    numbered in order of appearance, so the bytes depend on the specification alone. Raises
    ``ValueError`` when the specification is not valid Vega-Lite, ``ImportError`` without
    ``vl-convert-python``, ``DrawingError`` where there is no room to draw in.
    """
    text = svg_text(spec)
    names = list(dict.fromkeys(re.findall(r'\bid="([^"]+)"', text)))
    fresh = {name: f"{prefix}{place}" for place, name in enumerate(names)}

    def rename(match: re.Match[str]) -> str:
        return match[1] + fresh.get(match[2], match[2]) + match[3]

    for pattern in (r'(\bid=")([^"]+)(")', r"(url\(['\"]?#)([^'\")]+)(['\"]?\))",
                    r'(href="#)([^"]+)(")'):
        text = re.sub(pattern, rename, text)
    return text.replace(' xmlns:xlink="http://www.w3.org/1999/xlink" version="1.1"', "", 1)


def network_colours(labels: Sequence[str]) -> dict[str, str]:
    """The colour of each network, by label, in their order; colours repeat after six."""
    return {
        label: NETWORK_COLOURS[place % len(NETWORK_COLOURS)] for place, label in enumerate(labels)
    }


def ebb_figure(routing: Mapping[str, Any]) -> float | None:
    """What a chart of effective bisection bandwidth picks routings by: the mean."""
    return routing["ebb"]["mean"] if routing["ebb"] else None


def load_figure(routing: Mapping[str, Any]) -> float | None:
    """What a chart of loads picks routings by: the highest load over the mean."""
    ratio: float | None = load_summary(routing["load_histogram"] or [])["ratio"]
    return ratio


def picked(
    routings: Sequence[Mapping[str, Any]], figure: Callable[[Mapping[str, Any]], float | None]
) -> list[Mapping[str, Any]]:
    """The routings that a chart shows, in their order: those that have the ``figure``, and where
    these are more than :data:`MOST` half of that of the lowest, half of the highest."""
    known = [(routing, value) for routing in routings if (value := figure(routing)) is not None]
    if len(known) <= MOST:
        return [routing for routing, _ in known]
    ranked = sorted(range(len(known)), key=lambda place: known[place][1])
    places = sorted(ranked[:MOST // 2] + ranked[-(MOST // 2):])
    return [known[place][0] for place in places]


def _key(routing: Mapping[str, Any], networks: Sequence[str]) -> str:
    """What names a routing in a chart: its label, with its network's when there are several."""
    return routing["label"] if len(networks) < 2 else f'{routing["label"]} · {routing["network"]}'


def _colour(networks: Sequence[str]) -> dict[str, Any]:
    colours = network_colours(networks)
    many = len(networks) > len(NETWORK_COLOURS)  # colours repeat, and each panel is named anyway
    return {
        "field": "network",
        "type": "nominal",
        "scale": {"domain": list(colours), "range": list(colours.values())},
        "legend": None if len(networks) < 2 or many else {
            "title": None, "orient": "top", "symbolType": "square",
        },
    }


# --- effective bisection bandwidth ---------------------------------------------------------------


_ROW_PX = 720


def ebb_spec(
    routings: Sequence[Mapping[str, Any]], networks: Sequence[str]
) -> dict[str, Any] | None:
    """The distributions of effective bisection bandwidth, one row a routing, on one scale.

    A row shows the density of the patterns' values (scaled to the row's own peak, so that narrow
    and wide ones can both be read), the mean's confidence interval as a band and the mean as a
    line, its value at the right. Routings without ``ebb`` have no row, and of many some
    (:func:`picked`); ``None`` when none has.
    """
    values: list[dict[str, Any]] = []
    keys: list[str] = []
    for routing in picked(routings, ebb_figure):
        ebb = routing["ebb"]
        base = {"routing": _key(routing, networks), "network": routing["network"]}
        keys.append(base["routing"])
        total = sum(bin_["count"] for bin_ in ebb["histogram"]) or 1
        for bin_ in ebb["histogram"]:
            width = bin_["bin_high"] - bin_["bin_low"]
            values.append({
                **base, "part": "bin", "low": bin_["bin_low"], "high": bin_["bin_high"],
                "density": bin_["count"] / total / width, "patterns": bin_["count"],
            })
        values.append({
            **base, "part": "mean", "low": ebb["ci_low"], "high": ebb["ci_high"],
            "mean": ebb["mean"], "says": f'{ebb["mean"]:.3f}',
        })
    if not keys:
        return None
    low, high = _domain(values)
    x = {
        "field": "low", "type": "quantitative",
        "title": "effective bisection bandwidth (fraction of the injection bandwidth)",
        "axis": {"labelFlush": False, "labelOverlap": "greedy", "tickCount": 8},
        "scale": {"domain": [low, high], "nice": False},
    }

    def only(part: str) -> list[dict[str, Any]]:
        return [{"filter": f"datum.part === '{part}'"}]

    layers = [
        {"transform": only("bin"), "mark": {"type": "bar", "opacity": 0.6, "binSpacing": 0},
         "encoding": {
             "x": x, "x2": {"field": "high"}, "color": _colour(networks),
             "y": {"field": "density", "type": "quantitative", "axis": None},
             "y2": {"datum": 0}}},
        {"transform": only("mean"), "mark": {"type": "rect", "color": INK, "opacity": 0.28},
         "encoding": {"x": x, "x2": {"field": "high"}}},
        {"transform": only("mean"), "mark": {"type": "rule", "color": INK, "strokeWidth": 1.6},
         "encoding": {"x": {"field": "mean", "type": "quantitative"}}},
        {"transform": only("mean"),
         "mark": {"type": "text", "align": "left", "dx": 8, "color": INK, "fontSize": 11.5,
                  "fontWeight": 600},
         "encoding": {"x": {"value": _ROW_PX}, "y": {"value": 22},
                      "text": {"field": "says", "type": "nominal"}}},
    ]
    return {
        "$schema": SCHEMA, "config": CONFIG, "data": {"values": values},
        "facet": {"row": {
            "field": "routing", "type": "nominal", "sort": keys,
            "header": {"labelAngle": 0, "labelAlign": "left", "labelOrient": "left",
                       "labelFontWeight": "normal"}}},
        "spec": {"width": _ROW_PX, "height": 38, "layer": layers},
        "spacing": 5,
        "resolve": {"scale": {"y": "independent"}},
    }


def _domain(values: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """Axis ends that hold all bins with patterns and all intervals, to the next twentieth."""
    used = [v for v in values if v["part"] == "mean" or v["patterns"]]
    low = math.floor(20 * min(v["low"] for v in used) + 1e-9) / 20
    high = math.ceil(20 * max(v["high"] for v in used) - 1e-9) / 20
    return max(0.0, low), max(high, low + 0.05)


# --- load per channel ----------------------------------------------------------------------------


def load_summary(histogram: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Channels, lowest, mean and highest load, and highest over mean, of a load histogram.

    Loads are in routes, the ratio is ``None`` when no channel carries anything.
    """
    channels = sum(row["channels"] for row in histogram)
    routes = sum(row["load"] * row["channels"] for row in histogram)
    loads = [row["load"] for row in histogram if row["channels"]]
    mean = routes / channels if channels else 0.0
    return {
        "channels": channels, "low": min(loads, default=0), "mean": mean,
        "high": max(loads, default=0), "ratio": max(loads, default=0) / mean if mean else None,
    }


def load_spec(
    routings: Sequence[Mapping[str, Any]], networks: Sequence[str]
) -> dict[str, Any] | None:
    """Load of the channels relative to each routing's mean, one small panel a routing.

    Bars are a tenth of the mean wide; all panels share the horizontal scale, and the vertical one
    is the share of channels. Routings without a histogram, or without load, have no panel, and of
    many some (:func:`picked`); ``None`` when none has.
    """
    values: list[dict[str, Any]] = []
    keys: list[str] = []
    for routing in picked(routings, load_figure):
        histogram = routing["load_histogram"]
        summary = load_summary(histogram)
        base = {"routing": _key(routing, networks), "network": routing["network"]}
        keys.append(base["routing"])
        bins: dict[int, int] = {}
        for row in histogram:
            place = int(10 * row["load"] / summary["mean"] + 0.5)
            bins[place] = bins.get(place, 0) + row["channels"]
        for place, channels in sorted(bins.items()):
            values.append({
                **base, "low": (place - 0.5) / 10, "high": (place + 0.5) / 10,
                "share": channels / summary["channels"], "channels": channels,
            })
    if not keys:
        return None
    columns = min(4, len(keys))
    end = max(2.0, max(value["high"] for value in values) + 0.05)
    return {
        "$schema": SCHEMA, "config": CONFIG, "data": {"values": values},
        "facet": {"field": "routing", "type": "nominal", "sort": keys,
                  "header": {"labelAnchor": "start", "labelFontSize": 11.5, "labelLimit": 235}},
        "columns": columns, "spacing": {"row": 14, "column": 22},
        "spec": {
            "width": 620 if columns == 1 else {2: 470, 3: 300, 4: 222}[columns], "height": 92,
            "layer": [
                {"mark": {"type": "bar", "binSpacing": 0.5, "opacity": 0.8},
                 "encoding": {
                     "x": {"field": "low", "type": "quantitative", "title": "load / mean load",
                           "axis": {"labelFlush": False, "tickCount": 5},
                           "scale": {"domain": [-0.05, end], "nice": False}},
                     "x2": {"field": "high"},
                     "y": {"field": "share", "type": "quantitative", "title": "channels",
                           "axis": {"format": "%", "tickCount": 3}, "scale": {"zero": True}},
                     "y2": {"datum": 0},
                     "color": _colour(networks)}},
                {"mark": {"type": "rule", "color": INK, "strokeDash": [3, 3]},
                 "encoding": {"x": {"datum": 1}}},
            ],
        },
    }


# --- cables --------------------------------------------------------------------------------------


def length_key(length_m: str) -> tuple[float, str]:
    """Sorts length classes such as ``"1-3"``, ``"5"`` or ``">20"`` by their first number."""
    first = re.search(r"\d+(?:\.\d+)?", length_m)
    return (float(first[0]) if first else float("inf"), length_m)


def cable_spec(networks: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
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
