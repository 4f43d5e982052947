"""The page and the charts of a comparison: Vega-Lite specifications as plain dictionaries.

Every ``*_spec`` takes the rows and curves of :func:`flyloom.compare` and gives a specification, or
None when there is nothing to draw.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from flyloom.report.charts import CONFIG, INK, SCHEMA, svg
from flyloom.report.drawing import png_bytes
from flyloom.report.frame import framed
from flyloom.support.amounts import figure
from flyloom.support.results import Result
from flyloom.verbs.comparison import COLUMNS, DETAILS, ENDS

#: One colour a series: Tableau's twenty, the strong ones first.
PALETTE = (
    "#0b5394", "#d1660a", "#1b8a6b", "#a8201a", "#7b4ea3", "#8c564b", "#c2539d", "#5a6472",
    "#8a8500", "#1296a8", "#7fa8d1", "#f0ab6c", "#84c9b3", "#e08a86", "#bda3d6", "#c2a199",
    "#e8a8d0", "#a9b1ba", "#cfcb6a", "#8fd0da",
)
#: Figures of a front in one word each.
BRIEF = {"cost_usd_per_endpoint": "cost", "power_w_per_endpoint": "power",
         "relative_bisection": "bisection", "mean_distance": "mean",
         "worst_case_adaptive": "worst case", "allreduce_adaptive_ns": "allreduce"}
#: Panels in which the Moore bound is drawn.
BOUNDED = {"diameter 2": 2, "diameter 3": 3, "diameter 4": 4}
_SIZE = {"width": 340, "height": 260}


CHARTS = ("endpoints", "moore", "distance", "bisection", "resilience", "pareto")
"""The file names of all charts."""


def specs(
    rows: Sequence[Mapping[str, Any]], curves: Sequence[Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """All charts of a comparison that have something to show, by file name.

    A series has the same colour in all of them.
    """
    found = (
        endpoints_spec(curves), moore_spec(curves), distance_spec(rows, curves),
        bisection_spec(rows), resilience_spec(rows), pareto_spec(rows),
    )
    return {name: spec for name, spec in zip(CHARTS, found, strict=True) if spec is not None}


def endpoints_spec(curves: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Endpoints of the largest member against the ports of a switch, a panel for each diameter,
    with the Moore bound of direct networks where one port in diameter + 1 carries an endpoint."""
    values = [
        {"series": series(c), "ports": c["switch_ports"], "endpoints": c["endpoints"],
         "diameter": diameter, "network": c["network"]}
        for c in curves if c["figure"] == "scale" and (diameter := panel(c)) is not None
    ]
    if not values:
        return None
    ports = sorted({v["ports"] for v in values})
    drawn = {panel(c) for c in curves if c["moore_fraction"] is not None}
    direct = [d for d in BOUNDED if d in drawn]
    values += [
        {"series": "Moore bound", "ports": k, "endpoints": moore_endpoints(k, BOUNDED[d]),
         "diameter": d, "network": "bound"}
        for d in sorted(direct) for k in ports
    ]
    names = [*series_of(curves), "Moore bound"]
    return panels(values, names, "ports", "ports of a switch", "endpoints", "endpoints", log=True)


def moore_endpoints(ports: int, diameter: int) -> int:
    """The Moore bound in endpoints: of all switches with k' + k'/D <= ports, the best."""
    best = 0
    for k in range(2, ports):
        p = min(ports - k, -(-k // diameter))
        switches, sphere = 1, k
        for _ in range(diameter):
            switches, sphere = switches + sphere, sphere * (k - 1)
        best = max(best, switches * p)
    return best


def moore_spec(curves: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Fraction of the Moore bound against network radix, a panel for each diameter."""
    values = [
        {"series": series(c), "radix": c["network_radix"], "fraction": c["moore_fraction"],
         "diameter": diameter, "network": c["network"]}
        for c in curves
        if c["moore_fraction"] is not None and c["figure"] == "scale"
        and (diameter := panel(c)) in BOUNDED
    ]
    if not values:
        return None
    values.sort(key=lambda v: (v["series"], v["radix"], v["fraction"]))
    return panels(values, series_of(curves), "radix", "network radix", "fraction",
                  "switches / Moore bound", log=False)


def distance_spec(
    rows: Sequence[Mapping[str, Any]], curves: Sequence[Mapping[str, Any]]
) -> dict[str, Any] | None:
    """Mean distance against endpoints: the families' curves, and the networks as marks.

    Where only bounds are known a bar stands from the least to the most; it ends at the edge of the
    chart, which what is known sets.
    """
    values: list[dict[str, Any]] = []
    for c in curves:
        low, high = c["mean_distance"]
        about = {"series": series(c), "endpoints": c["endpoints"], "network": c["network"]}
        if low == high:
            values.append({**about, "hops": low, "kind": "curve"})
        else:
            values.append({**about, "low": low, "high": high, "kind": "bounds"})
    values += [
        {"series": row["network"], "endpoints": row["endpoints"], "hops": row["mean_distance"],
         "network": row["network"], "kind": "network"}
        for row in rows if row["mean_distance"] is not None and row["endpoints"]
    ]
    if not values:
        return None
    names = [*series_of(curves), *(row["network"] for row in rows)]
    bounded = any(v["kind"] == "bounds" for v in values)
    known = [v["hops"] for v in values if "hops" in v]
    known += [v["low"] for v in values if "low" in v]
    top = min(max(known) * 1.1, max([*known, *(v["high"] for v in values if "high" in v)]))
    x = {"field": "endpoints", "type": "quantitative", "scale": {"type": "log"},
         "axis": {"title": "endpoints", "format": "~s", "tickCount": 6}}
    scale = {"domain": [min(known), max(top, min(known) + 0.5)], "nice": False}
    y = {"field": "hops", "type": "quantitative", "scale": scale,
         "axis": {"title": "mean distance between switches with endpoints (hops)"
                           + ("; bars: bounds" if bounded else "")}}
    lines = {
        "transform": [{"filter": "datum.kind == 'curve'"}],
        "mark": {"type": "line", "point": {"size": 18}, "strokeWidth": 1.5},
        "encoding": {"x": x, "y": y, "color": colour(names), "order": {"field": "endpoints"}},
    }
    bars = {
        "transform": [{"filter": "datum.kind == 'bounds'"}],
        "mark": {"type": "rule", "strokeWidth": 5, "opacity": 0.35, "clip": True},
        "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"},
                     "color": colour(names)},
    }
    marks = {
        "transform": [{"filter": "datum.kind == 'network'"}],
        "mark": {"type": "point", "shape": "diamond", "filled": True, "size": 110,
                 "stroke": INK, "strokeWidth": 1},
        "encoding": {"x": x, "y": y, "color": colour(names)},
    }
    layers = [bars, lines, marks] if bounded else [lines, marks]
    return chart({"data": {"values": values}, "layer": layers, "width": 620, "height": 340})


def bisection_spec(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Bisection over half the endpoints: proven at least, found at most. 1 is full."""
    values = [
        {"network": row["network"], "low": 2 * row["bisection_low"] / row["endpoints"],
         "high": 2 * row["bisection_high"] / row["endpoints"]}
        for row in rows if row["endpoints"]
    ]
    if not values:
        return None
    order = [v["network"] for v in values]
    y = {"field": "network", "type": "nominal", "sort": order, "axis": wide_labels()}
    bar = {
        "mark": {"type": "bar", "height": 13, "color": "#7fa8d1", "cornerRadius": 2},
        "encoding": {
            "y": y, "x2": {"field": "high"},
            "x": {"field": "low", "type": "quantitative", "scale": {"domainMin": 0},
                  "axis": {"title": "bisection, links over half of the endpoints"
                                    " (left end proven, right end found)"}},
        },
    }
    ends = [
        {"mark": {"type": "tick", "color": INK, "height": 17, "thickness": 2},
         "encoding": {"y": y, "x": {"field": field, "type": "quantitative"}}}
        for field in ("low", "high")
    ]
    full = {"data": {"values": [{"at": 1}]},
            "mark": {"type": "rule", "strokeDash": [4, 3], "color": "#a8201a"},
            "encoding": {"x": {"field": "at", "type": "quantitative"}}}
    return chart({"data": {"values": values}, "layer": [bar, *ends, full], "width": 520,
                  "height": {"step": 26}})


def resilience_spec(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Mean fraction of links removed at random until each end, with its confidence interval."""
    words = {"disconnected": "disconnected", "diameter": "diameter beyond + 2",
             "mean": "mean distance beyond + 1"}
    values = [
        {"network": row["network"], "end": words[end], "mean": row[key],
         "low": (row[f"{key}_interval"] or [row[key]] * 2)[0],
         "high": (row[f"{key}_interval"] or [row[key]] * 2)[1]}
        for row in rows for end, key in ENDS.items() if row.get(key) is not None
    ]
    if not values:
        return None
    order = list(dict.fromkeys(v["network"] for v in values))
    y = {"field": "network", "type": "nominal", "sort": order, "axis": wide_labels()}
    names = [word for word in words.values() if any(v["end"] == word for v in values)]
    percent = {"title": "links removed at random until the end, mean and 95 % confidence interval",
               "format": ".0%"}
    x = {"type": "quantitative", "scale": {"domain": [0, 1]}, "axis": percent}
    band = {"mark": {"type": "rule", "strokeWidth": 5, "opacity": 0.45},
            "encoding": {"y": y, "x": {"field": "low", **x}, "x2": {"field": "high"},
                         "color": colour(names, "end")}}
    dot = {"mark": {"type": "point", "filled": True, "size": 60},
           "encoding": {"y": y, "x": {"field": "mean", **x}, "color": colour(names, "end")}}
    return chart({"data": {"values": values}, "layer": [band, dot], "width": 520,
                  "height": {"step": 26}})


def pareto_spec(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Cost against bisection, both for each endpoint; the area of a mark is power where it is
    known, its colour diameter. Networks on the front are filled and numbered, and listed below."""
    values = [
        {"network": row["network"], "cost": row["cost_usd_per_endpoint"],
         "power": row["power_w_per_endpoint"], "diameter": str(row["diameter"]),
         "bisection": row["relative_bisection"], "front": row["pareto"]}
        for row in rows if row.get("pareto") is not None
    ]
    if len(values) < 2:
        return None
    values.sort(key=lambda v: (v["cost"], v["network"]))
    places: dict[tuple[Any, ...], list[int]] = {}
    front = [v for v in values if v["front"]]
    for number, value in enumerate(front, 1):
        value["entry"] = f"{number}  {value['network']}"
        places.setdefault((value["bisection"], value["cost"]), []).append(number)
    numbers = [
        {"bisection": at[0], "cost": at[1], "label": ", ".join(map(str, found))}
        for at, found in places.items()
    ]
    diameters = sorted({v["diameter"] for v in values}, key=int)
    x = {"field": "bisection", "type": "quantitative",
         "axis": {"title": "bisection found, links over half of the endpoints"}}
    y = {"field": "cost", "type": "quantitative",
         "scale": {"type": "log", "nice": False, "padding": 24},
         "axis": {"title": "cost of an endpoint ($)", "tickCount": 8, "format": ",.0f"}}
    powers = [v["power"] for v in values if v["power"] is not None]
    area = {"field": "power", "type": "quantitative", "scale": {"range": [40, 320], "zero": False},
            "legend": {"title": "W/endpoint", "orient": "right", "values": spread(powers)},
            } if powers else {"value": 120}
    tint = {**colour(diameters, "diameter"), "legend": {"title": "diameter", "orient": "right"}}
    tips = [{"field": key, "type": "nominal"} for key in ("network", "cost", "power", "bisection")]
    marks = [
        {"transform": [{"filter": "datum.front" if front else "!datum.front"}],
         "mark": {"type": "point", "filled": front, "opacity": 0.9 if front else 0.6},
         "encoding": {"x": x, "y": y, "size": area, "color": tint, "tooltip": tips}}
        for front in (False, True)
    ]
    names = {"data": {"values": numbers},
             "mark": {"type": "text", "align": "center", "dy": -13, "fontSize": 11,
                      "fontWeight": "bold"},
             "encoding": {"x": x, "y": y, "text": {"field": "label"}}}
    picture = {"layer": [*marks, names], "width": 640, "height": 380}
    listed = {
        "transform": [{"filter": "datum.front"}], "width": 640, "height": {"step": 15},
        "title": {"text": "On the front", "anchor": "start", "fontSize": 11},
        "mark": {"type": "text", "align": "left", "fontSize": 11},
        "encoding": {"x": {"value": 0}, "text": {"field": "entry"},
                     "y": {"field": "entry", "type": "nominal", "axis": None,
                           "sort": [v["entry"] for v in front]}},
    }
    return chart({"data": {"values": values}, "vconcat": [picture, listed]})


def spread(values: Sequence[float]) -> list[float]:
    """The least, the middle and the largest, rounded, each once."""
    ends = sorted(values)
    return list(dict.fromkeys(round(v, 1) for v in (ends[0], ends[len(ends) // 2], ends[-1])))


def series(c: Mapping[str, Any]) -> str:
    """The name of a curve: the family, with its kind where it has several."""
    return f"{c['family']} {c['kind']}".strip()


def panel(c: Mapping[str, Any]) -> str | None:
    """The panel of a candidate: its diameter; None where it is not known."""
    low, high = c["diameter"]
    if low != high:
        return None
    return f"diameter {low}" if low < 5 else "diameter 5 and more"


def series_of(curves: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names of all curves, in the order in which they take colours."""
    return list(dict.fromkeys(series(c) for c in curves))


def panels(
    values: list[Any], names: list[str], x: str, x_title: str, y: str, y_title: str, *, log: bool
) -> dict[str, Any]:
    """One small chart for each diameter, with the same axes; a series not in it has no entry."""
    shown = {v["series"] for v in values}
    scale = {"type": "log"} if log else {"zero": True}
    spec = {
        "mark": {"type": "line", "strokeWidth": 1.6, "point": {"size": 16}},
        "encoding": {
            "x": {"field": x, "type": "quantitative", "axis": {"title": x_title}},
            "y": {"field": y, "type": "quantitative", "scale": scale,
                  "axis": {"title": y_title, "format": "~s" if log else ".0%", "tickCount": 6}},
            "color": colour(names, shown=shown),
        },
        **_SIZE,
    }
    columns = sorted({v["diameter"] for v in values})
    return chart({
        "data": {"values": values},
        "facet": {"field": "diameter", "type": "nominal", "sort": columns},
        "columns": 2, "spec": spec,
    })


def colour(
    names: Sequence[str], field: str = "series", shown: set[str] | None = None
) -> dict[str, Any]:
    """The colour of each of `names` by its place, for those that are `shown`; more than twenty
    begin anew."""
    colours = {
        name: INK if name == "Moore bound" else PALETTE[i % len(PALETTE)]
        for i, name in enumerate(names) if shown is None or name in shown
    }
    domain = {"domain": list(colours), "range": list(colours.values())}
    return {"field": field, "type": "nominal", "scale": domain,
            "legend": {"title": None, "orient": "bottom", "columns": 3, "labelLimit": 260,
                       "symbolOpacity": 1}}


def wide_labels() -> dict[str, Any]:
    """An axis without title whose labels are inline forms."""
    return {"title": None, "labelLimit": 420}


def chart(parts: dict[str, Any]) -> dict[str, Any]:
    """A specification of these parts, in the style of all charts."""
    return {"$schema": SCHEMA, "config": CONFIG, **parts}


def png(spec: Mapping[str, Any]) -> bytes:
    """A specification as a PNG picture on white, at twice the size."""
    return png_bytes({**spec, "background": "white"})


#: The tables of the page, which fit a sheet of paper: title and columns beside rank and network.
TABLES = (
    ("What it is, and what it costs", (
        "switch_ports", "oversubscription", "endpoints", "switches", "links",
        "cost_usd_per_endpoint", "cost_usd_per_endpoint_low", "cost_usd_per_endpoint_high",
        "power_w_per_endpoint", "pareto", "best_in")),
    ("What it carries, and what it survives", (
        "diameter", "mean_distance", "relative_bisection", "uniform_saturation",
        "worst_case_minimal", "worst_case_adaptive", "alltoall_ns", "allreduce_adaptive_ns",
        *ENDS.values())),
)
PRINTED = """<style>@page{margin:12mm}@media print{body{padding:0;font-size:10.5px}
h1{font-size:18px}h2{font-size:13px}table{font-size:8.5px}th,td{padding:2px 4px!important}
figure{break-inside:avoid}.legend{font-size:8px}}
.legend{font-size:13px;color:var(--dim);max-width:none}</style>"""


def page(found: Result, charts: Mapping[str, Mapping[str, Any]]) -> str:
    """The answer, the tables and the charts as one HTML page that refers to nothing."""
    titles = {
        "endpoints": "Endpoints against ports of a switch",
        "moore": "How near to the Moore bound",
        "distance": "Mean distance against endpoints",
        "bisection": "Bisection",
        "resilience": "Resilience",
        "pareto": "Cost, power, diameter and bisection: the front",
    }
    parts = [PRINTED]
    if found.rows:
        parts.append('<section id="answer"><h2>The answer</h2><ul>')
        parts += [f"<li>{escape(words)}</li>" for words in answers(found.rows)]
        parts.append("</ul></section>")
        heads = {key: (head, means) for key, head, means in shown(found.rows)}
        parts += [_table(title, [key for key in keys if key in heads], heads, found.rows)
                  for title, keys in TABLES]
        if found.basis:
            parts.append(f'<p class="dim">Prices: {escape(found.basis)}.</p>')
    order = ("pareto", *(name for name in charts if name != "pareto"))
    for name in order:
        if name in charts:
            parts.append(f"<section><h2>{titles[name]}</h2><figure>"
                         f"{svg(charts[name], prefix=f'{name}-')}</figure></section>")
    return framed("Networks compared", parts)


def answers(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Which network is best in what, a sentence each."""
    found = []
    for key, more, words in (
        ("cost_usd_per_endpoint", False, "The cheapest for an endpoint is"),
        ("uniform_saturation", True, "Most uniform traffic is carried by"),
        ("worst_case_adaptive", True, "In the worst case most is carried, adaptively, by"),
        ("allreduce_adaptive_ns", False, "A large allreduce is fastest on"),
        ("power_w_per_endpoint", False, "Least power for an endpoint is drawn by"),
    ):
        known = [row for row in rows if row.get(key) is not None]
        if len(known) < 2:
            continue
        known.sort(key=lambda row: -row[key] if more else row[key])
        best, second = known[0], known[1]
        unit = " W" if key.startswith("power") else ""
        equal = cell(key, best[key]) == cell(key, second[key])
        found.append(f"{words} {best['network']} ({cell(key, best[key])}{unit}),"
                     f" {'as much as' if equal else 'before'} {second['network']}"
                     f" ({cell(key, second[key])}{unit}).")
    front = [row["network"] for row in rows if row.get("pareto")]
    if front:
        found.append(f"No other network beats these in every respect: {', '.join(front)}.")
    return found


def _table(
    title: str, keys: Sequence[str], heads: Mapping[str, tuple[str, str]],
    rows: Sequence[Mapping[str, Any]],
) -> str:
    """A table with rank and network in front, and what its columns mean below."""
    if not keys:
        return ""
    parts = [f'<section><h2>{title}</h2><div class="scroll"><table><thead><tr><th class="n">rank'
             "</th><th>network</th>"]
    parts += [
        f'<th{"" if key == "best_in" else " class=n"} title="{escape(heads[key][1])}">'
        f"{escape(heads[key][0])}</th>" for key in keys
    ]
    parts.append("</tr></thead><tbody>")
    for row in rows:
        cells = "".join(
            f'<td class="{"wrap" if key == "best_in" else "n"}">{cell(key, row.get(key))}</td>'
            for key in keys)
        parts.append(f'<tr><td class="n">{row["rank"]}</td><td class="wrap">'
                     f'{escape(row["network"])}</td>{cells}</tr>')
    parts.append("</tbody></table></div>")
    meanings = "; ".join(f"<b>{escape(heads[key][0])}</b>: {escape(heads[key][1])}" for key in keys)
    parts.append(f'<p class="legend">{meanings}.</p></section>')
    return "".join(parts)


def shown(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    """The columns of a table on a screen or on paper: those with a value, without details."""
    return [c for c in COLUMNS
            if c[0] not in DETAILS and any(row.get(c[0]) is not None for row in rows)]


def cell(key: str, value: Any) -> str:
    """A value of the table as people read it."""
    if value is None:
        return "–"
    if key in ("moore_fraction", *ENDS.values()):
        return f"{100 * value:.3g} %"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if key.endswith("_ns"):
        return f"{figure(value / 1e6)} ms" if value >= 1e5 else f"{figure(value / 1e3)} µs"
    if key == "best_in":
        return ", ".join(BRIEF.get(word, word) for word in value)
    if isinstance(value, float):
        return figure(value, key)
    return f"{value:,}" if isinstance(value, int) else escape(str(value))
