"""Charts of :func:`flyloom.compare_routing`: Vega-Lite specifications as plain dictionaries."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from flyloom.report.charts import INK, svg
from flyloom.report.comparison import PALETTE, chart
from flyloom.report.frame import framed
from flyloom.support.results import Result
from flyloom.verbs.routing_comparison import COLUMNS

#: Colours of marks, by whose the engine is and whether its tables may deadlock.
KINDS = {
    "ours, no deadlock": PALETTE[0], "OpenSM's, no deadlock": PALETTE[1],
    "ours, may deadlock": PALETTE[10], "OpenSM's, may deadlock": PALETTE[11],
}
_HEIGHT, _WIDTH = 21, 150


def spec(found: Result) -> dict[str, Any]:
    """Panels beside each other, a line an engine: bandwidth with its interval, hops, most routes on
    a channel over the least possible, lanes, and CPU time."""
    values = [
        {**row, "kind": _kind(row), "cpu_s": found.cpu_s[row["engine"]],
         "low": (row["confidence_interval_95"] or [None] * 2)[0],
         "high": (row["confidence_interval_95"] or [None] * 2)[1],
         "load": row["edge_forwarding_index"] / row["lower_bound"] if row["lower_bound"] else None}
        for row in found.to_dict()["rows"]
    ]
    kinds = [kind for kind in KINDS if any(v["kind"] == kind for v in values)]
    tint = {"field": "kind", "type": "nominal",
            "scale": {"domain": kinds, "range": [KINDS[kind] for kind in kinds]},
            "legend": {"title": None, "orient": "bottom", "columns": 4, "labelLimit": 260,
                       "symbolOpacity": 1}}
    panels = [
        _panel(values, "effective_bisection_bandwidth", "eBB, 95 % interval", tint,
               [_rule("low", "high")], first=True),
        _panel(values, "mean_hops", "hops, mean and longest", tint, [_tick("max_hops")]),
        _panel(values, "load", "most routes over the least", tint, []),
        _panel(values, "lanes", "lanes", tint, []),
        _panel(values, "cpu_s", "CPU [s]", tint, [], log=True),
    ]
    return chart({
        "title": {"text": found.network, "anchor": "start", "fontSize": 13},
        "data": {"values": values}, "hconcat": panels, "spacing": 14,
    })


def _kind(row: Mapping[str, Any]) -> str:
    whose = "OpenSM's" if row["engine"].startswith("opensm:") else "ours"
    return f"{whose}, {'no' if row['deadlock_free'] else 'may'} deadlock"


def _panel(
    values: list[dict[str, Any]], field: str, title: str, tint: dict[str, Any],
    more: list[dict[str, Any]], *, first: bool = False, log: bool = False,
) -> dict[str, Any]:
    """Dots of one measure; engine names on the first panel alone."""
    order = [v["engine"] for v in values]
    names = {"title": None, "labelLimit": 260} if first else None
    y = {"field": "engine", "type": "nominal", "sort": order, "axis": names}
    scale = {"type": "log"} if log else {"zero": field == "lanes"}
    axis = {"title": title, "tickCount": 4}
    if field == "lanes":
        axis |= {"tickMinStep": 1, "format": "d"}
    if log:
        axis |= {"format": "~g"}
    x = {"field": field, "type": "quantitative", "scale": scale, "axis": axis}
    dots = {"mark": {"type": "point", "filled": True, "size": 62, "opacity": 1},
            "encoding": {"x": x, "y": y, "color": tint}}
    lines = [{**layer, "encoding": {"y": y, "color": tint, **layer["encoding"]}} for layer in more]
    grid = {"mark": {"type": "rule", "strokeWidth": 0.4, "color": INK, "opacity": 0.18},
            "encoding": {"y": y}}
    return {"width": _WIDTH, "height": {"step": _HEIGHT}, "layer": [grid, *lines, dots]}


def _rule(low: str, high: str) -> dict[str, Any]:
    return {"mark": {"type": "rule", "strokeWidth": 5, "opacity": 0.45},
            "encoding": {"x": {"field": low, "type": "quantitative"}, "x2": {"field": high}}}


def _tick(field: str) -> dict[str, Any]:
    return {"mark": {"type": "tick", "thickness": 2.5, "height": 11},
            "encoding": {"x": {"field": field, "type": "quantitative"}}}


def cells(found: Result) -> tuple[list[str], list[list[Any]]]:
    """The table: headings, and a list of values an engine."""
    rows = []
    for row in found.rows:
        ends = row["confidence_interval_95"]
        more = {"half_width_95": (ends[1] - ends[0]) / 2 if ends else None,
                "cpu_s": found.cpu_s[row["engine"]]}
        rows.append([_short({**row, **more}[key]) for key, _, _ in COLUMNS])
    return [head for _, head, _ in COLUMNS], rows


def _short(value: Any) -> Any:
    """A fraction with four digits, which are enough to compare."""
    return float(f"{value:.4g}") if isinstance(value, float) else value


def notes(found: Result) -> list[str]:
    """Sentences on what the table has no room for: why tables do not hold, and which engines made
    none."""
    said = [f"{row['engine']}: {row['why'][0]}" for row in found.rows if row["why"]]
    return said + [f"without {one['engine']}: {one['why']}" for one in found.refused]


def page(found: Result) -> str:
    """The chart and the table as one HTML page that refers to nothing."""
    heads, rows = cells(found)
    parts = [
        f"<section><figure>{svg(spec(found), prefix='routing-')}</figure></section>",
        '<section><h2>Table</h2><div class="scroll"><table><thead><tr>',
        *(f'<th title="{escape(what)}">{head}</th>'
          for (_, _, what), head in zip(COLUMNS, map(escape, heads), strict=True)),
        "</tr></thead><tbody>",
    ]
    for row in rows:
        shown = (escape("-" if v is None else str(v)) for v in row)
        parts.append("<tr>" + "".join(f'<td class="n">{cell}</td>' for cell in shown) + "</tr>")
    parts.append("</tbody></table></div>")
    parts += [f'<p class="dim">{escape(line)}</p>' for line in notes(found)]
    return framed(f"Routing engines on {found.network}", [*parts, "</section>"])
