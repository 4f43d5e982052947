"""Charts of :func:`flyloom.figure`: Vega-Lite specifications as plain dictionaries."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from flyloom.report.charts import svg
from flyloom.report.comparison import PALETTE, chart, colour
from flyloom.report.frame import framed
from flyloom.support.amounts import figure
from flyloom.support.results import Result

#: What each figure is called.
TITLES = {
    "path_lengths": "Lengths of the paths of switch pairs",
    "path_distribution": "Routes that cross a channel",
    "disjoint_paths": "Link-disjoint paths of switch pairs",
    "throughput": "Maximum achievable throughput",
}
#: The approximate number of bars of a histogram of loads.
BARS = 40
#: Mean lengths are drawn in classes of this number of hops, around multiples of it.
CLASS = 0.25


def spec(found: Result) -> dict[str, Any]:
    """The chart of a figure: for each network a panel for every engine and number of layers, or,
    of throughput, one panel with a line for every engine."""
    networks = list(dict.fromkeys(row["network"] for row in found.rows))
    if found.figure == "throughput":
        return _lines(found.rows, networks)
    values = {"path_lengths": _length_values, "path_distribution": _load_values,
              "disjoint_paths": _path_values}[found.figure]
    return chart({"spacing": 26, "vconcat": [
        _grid([row for row in found.rows if row["network"] == name], name, found.figure, values)
        for name in networks
    ]})


def _length_values(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Wide bars of the longest routes of a pair, and before them narrow ones of the mean."""
    shares: dict[tuple[Any, ...], float] = {}
    for row in rows:
        middle = math.floor(row["hops"] / CLASS + 0.5) * CLASS
        key = (row["statistic"], row["engine"], row["layers"], middle)
        shares[key] = shares.get(key, 0.0) + row["share"]
    half = {"longest": 0.4, "mean": 0.4 * CLASS}
    return [
        {"engine": engine, "layers": layers, "series": statistic, "share": share,
         "low": middle - half[statistic], "high": middle + half[statistic]}
        for (statistic, engine, layers, middle), share in sorted(shares.items())
    ]


def _load_values(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Bars of the routes for each layer, so that all panels have one scale."""
    width = round_width(max(row["routes"] / row["layers"] for row in rows) / BARS)
    bars: dict[tuple[Any, ...], float] = {}
    for row in rows:
        low = row["routes"] // (row["layers"] * width) * width
        key = (row["engine"], row["layers"], low)
        bars[key] = bars.get(key, 0.0) + row["share"]
    return [
        {"engine": engine, "layers": layers, "series": "channels", "share": share, "low": low,
         "high": low + width}
        for (engine, layers, low), share in sorted(bars.items())
    ]


def round_width(least: float) -> int:
    """The smallest of 1, 2, 5, 10, 20, 50, ... that is not below ``least``."""
    power = 1
    while True:
        for digit in (1, 2, 5):
            if digit * power >= least:
                return digit * power
        power *= 10


def _path_values(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A bar around every number of paths."""
    return [
        {"engine": row["engine"], "layers": row["layers"], "series": "pairs",
         "share": row["share"], "low": row["paths"] - 0.4, "high": row["paths"] + 0.4}
        for row in rows
    ]


def _grid(
    rows: Sequence[Mapping[str, Any]], name: str, kind: str,
    values: Callable[[Sequence[Mapping[str, Any]]], list[dict[str, Any]]],
) -> dict[str, Any]:
    """Panels of one network: a row an engine, a column a number of layers."""
    titles = {"path_lengths": "hops", "path_distribution": "routes per layer across a channel",
              "disjoint_paths": "disjoint paths"}
    drawn = values(rows)
    tint: dict[str, Any] = {"value": PALETTE[0]}
    if kind == "path_lengths":
        tint = colour(["mean", "longest"])
        tint["scale"]["range"] = [PALETTE[0], PALETTE[11]]
    return {
        "title": {"text": name, "anchor": "start", "fontSize": 13},
        "data": {"values": drawn},
        "facet": {
            "row": {"field": "engine", "type": "nominal", "title": None,
                    "sort": list(dict.fromkeys(row["engine"] for row in rows)),
                    "header": {"labelAngle": 0, "labelAlign": "left"}},
            "column": {"field": "layers", "type": "quantitative", "title": None,
                       "header": {"labelExpr": "datum.value + (datum.value == 1 ?"
                                               " ' layer' : ' layers')"}},
        },
        "spec": {
            "width": 190, "height": 84, "mark": {"type": "bar", "binSpacing": 0},
            "encoding": {
                "x": {"field": "low", "type": "quantitative", "scale": {"zero": False},
                      "axis": {"title": titles[kind], "tickCount": 6, "tickMinStep": 1}},
                "x2": {"field": "high"},
                "y": {"field": "share", "type": "quantitative",
                      "axis": {"title": "share", "format": ".0%", "tickCount": 3}},
                "y2": {"datum": 0}, "color": tint,
            },
        },
        "spacing": 16,
    }


def _lines(rows: Sequence[Mapping[str, Any]], networks: Sequence[str]) -> dict[str, Any]:
    """Throughput against layers, a panel a network."""
    names = list(dict.fromkeys(row["engine"] for row in rows))
    return chart({
        "data": {"values": [dict(row) for row in rows]},
        "facet": {"field": "network", "type": "nominal", "sort": list(networks), "title": None},
        "columns": 2,
        "resolve": {"scale": {"y": "independent"}},
        "spec": {
            "width": 320, "height": 220,
            "mark": {"type": "line", "strokeWidth": 1.8, "point": {"size": 36}},
            "encoding": {
                "x": {"field": "layers", "type": "quantitative",
                      "scale": {"type": "log", "base": 2},
                      "axis": {"title": "layers",
                               "values": sorted({row["layers"] for row in rows})}},
                "y": {"field": "throughput", "type": "quantitative", "scale": {"zero": True},
                      "axis": {"title": "maximum achievable throughput"}},
                "color": colour(names, "engine"),
            },
        },
    })


def page(found: Result) -> str:
    """The chart and its summary as one HTML page that refers to nothing."""
    heads = list(found.summary[0])
    parts = [
        f"<section><figure>{svg(spec(found), prefix='figure-')}</figure></section>",
        '<section><h2>Table</h2><div class="scroll"><table><thead><tr>',
        *(f"<th>{head.replace('_', ' ')}</th>" for head in heads), "</tr></thead><tbody>",
    ]
    for row in found.summary:
        cells = (escape(figure(value, key)) for key, value in row.items())
        parts.append("<tr>" + "".join(f'<td class="n">{c}</td>' for c in cells) + "</tr>")
    parts.append("</tbody></table></div>")
    parts += [f'<p class="dim">{escape(left_out(row))}</p>' for row in found.skipped]
    return framed(TITLES[found.figure], [*parts, "</section>"])


def left_out(row: Mapping[str, Any]) -> str:
    """A line that says what a figure does not have, and why."""
    return (f"without {row['engine']} with {row['layers']} layers on {row['network']}:"
            f" {row['why']}")
