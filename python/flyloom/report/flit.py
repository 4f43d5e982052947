"""Charts of simulations of flits: latency and accepted load against offered load, distributions.

A *curve* is a dict with ``label`` and ``points``, as :func:`flyloom.simulate` gives them, and,
where it is known, ``saturation_throughput``. Every ``*_spec`` gives a Vega-Lite specification, or
None when there is nothing to draw. Latencies are in cycles, loads in flits an endpoint and cycle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flyloom.report.charts import GREY, INK
from flyloom.report.comparison import PALETTE, chart, colour
from flyloom.report.figures import round_width

BARS = 40
"""Bars of a distribution of latencies, about."""
#: What is drawn of latency, by its key: name, dashes and opacity of the line.
LATENCIES = {
    "mean_packet_latency_cycles": ("mean", [1, 0], 1.0),
    "p99_packet_latency_cycles": ("99 % take no longer", [5, 3], 0.45),
}
_OFFERED = "offered load (flits an endpoint and cycle)"


def highest_unsaturated(points: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The point of the highest load that is neither saturated nor deadlocked; where there is none
    that of the lowest load of those at which packets arrive; None where none does."""
    arrived = [p for p in points if p["mean_packet_latency_cycles"] is not None]
    good = [p for p in arrived if not p["saturated"] and not p["deadlocked"]]
    if good:
        return max(good, key=lambda p: p["offered_load"])
    return min(arrived, key=lambda p: p["offered_load"], default=None)


def curves_spec(
    curves: Sequence[Mapping[str, Any]], title: str = ""
) -> dict[str, Any] | None:
    """Latency and, beside it, accepted load against offered load, one colour a curve.

    Hollow marks are saturated points, crosses are where packets waited in a cycle; a dashed
    upright line is a curve's saturation throughput.
    """
    values = [value for curve in curves for value in _values(curve)]
    if not values:
        return None
    names = list(dict.fromkeys(value["curve"] for value in values))
    ends = [
        {"curve": curve["label"], "load": curve["saturation_throughput"]}
        for curve in curves if curve.get("saturation_throughput")
    ]
    tint = colour(names, "curve")
    tint["legend"] |= {"columns": 2, "symbolType": "stroke", "labelLimit": 420}
    if len(names) < 2:
        tint["legend"] = None
    top = 1.02 * max(value["offered"] for value in values)
    x = {"field": "offered", "type": "quantitative", "scale": {"domain": [0, top], "nice": False},
         "axis": {"title": _OFFERED, "tickCount": 6}}
    latencies = [value["value"] for value in values if value["is"] != "accepted"]
    parts: dict[str, Any] = {"data": {"values": values}}
    if title:
        parts["title"] = {"text": title, "anchor": "start", "fontSize": 13}
    return chart({
        **parts, "spacing": 34,
        "hconcat": [_latency(x, tint, ends, latencies), _accepted(x, tint, ends, top)],
    })


def ends_of(latencies: Sequence[float]) -> list[float]:
    """The ends of an axis that holds all latencies, with a little room."""
    return [0.85 * min(latencies, default=1), 1.1 * max(latencies, default=10)]


def _values(curve: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What is drawn of a curve: a row for each point's latencies and accepted load."""
    values = []
    for point in sorted(curve["points"], key=lambda p: p["offered_load"]):
        mark = "deadlocked" if point["deadlocked"] else "saturated" if point["saturated"] else "ok"
        base = {"curve": curve["label"], "offered": point["offered_load"], "mark": mark}
        values.append({**base, "is": "accepted", "value": point["accepted_load"]})
        for key, (name, _, _) in LATENCIES.items():
            if point[key] is not None:
                values.append({**base, "is": name, "value": point[key]})
    return values


def only(kind: str) -> list[dict[str, Any]]:
    """The transform that keeps what a layer is of."""
    return [{"filter": f"datum.is === '{kind}'"}]


def _marks(kind: str, encoding: dict[str, Any]) -> dict[str, Any]:
    """Points of one kind: filled, hollow where saturated, a cross where deadlocked."""
    hollow = {"condition": {"test": "datum.mark === 'ok'", "value": 1}, "value": 0}
    shape = {"condition": {"test": "datum.mark === 'deadlocked'", "value": "cross"},
             "value": "circle"}
    return {
        "transform": only(kind),
        "mark": {"type": "point", "filled": False, "size": 34, "strokeWidth": 1.4, "opacity": 1},
        "encoding": {**encoding, "fill": encoding["color"], "fillOpacity": hollow, "shape": shape},
    }


def _ends(ends: list[dict[str, Any]], tint: dict[str, Any]) -> list[dict[str, Any]]:
    """A dashed upright line at the saturation throughput of each curve."""
    if not ends:
        return []
    return [{
        "data": {"values": ends},
        "mark": {"type": "rule", "strokeDash": [2, 3], "strokeWidth": 1.2},
        "encoding": {"x": {"field": "load", "type": "quantitative"}, "color": tint},
    }]


def _latency(
    x: dict[str, Any], tint: dict[str, Any], ends: list[dict[str, Any]], latencies: list[float]
) -> dict[str, Any]:
    """The panel of latencies, on a logarithmic scale: beyond saturation they have no end."""
    y = {"field": "value", "type": "quantitative",
         "scale": {"type": "log", "domain": ends_of(latencies), "nice": False},
         "axis": {"title": "packet latency (cycles)", "format": "~s", "tickCount": 6}}
    names = [name for name, _, _ in LATENCIES.values()]
    dashes = {
        "field": "is", "type": "nominal",
        "scale": {"domain": names, "range": [dash for _, dash, _ in LATENCIES.values()]},
        "legend": {"title": None, "orient": "top-left", "symbolType": "stroke",
                   "symbolStrokeColor": INK, "symbolSize": 300, "fillColor": "#ffffff",
                   "padding": 4},
    }
    lines = latency_lines(LATENCIES, {"x": x, "y": y, "color": tint}, dashes, _marks)
    return {"width": 380, "height": 280, "layer": [*_ends(ends, tint), *lines]}


def latency_lines(
    latencies: Mapping[str, tuple[str, list[int], float]],
    encoding: dict[str, Any],
    dashes: dict[str, Any],
    marks: Callable[[str, dict[str, Any]], dict[str, Any]],
) -> list[dict[str, Any]]:
    """A line for each of ``latencies`` (name, dashes, opacity), with ``marks`` on solid ones."""
    layers: list[dict[str, Any]] = []
    for name, _, opacity in latencies.values():
        layers.append({
            "transform": only(name),
            "mark": {"type": "line", "strokeWidth": 1.8 if opacity == 1 else 1.1,
                     "opacity": opacity},
            "encoding": {**encoding, "strokeDash": dashes},
        })
        if opacity == 1:
            layers.append(marks(name, encoding))
    return layers


def _accepted(
    x: dict[str, Any], tint: dict[str, Any], ends: list[dict[str, Any]], top: float
) -> dict[str, Any]:
    """The panel of accepted load, with the line on which all that is offered arrives."""
    y = {"field": "value", "type": "quantitative", "scale": {"domain": [0, top], "nice": False},
         "axis": {"title": "accepted load", "tickCount": 6}}
    encoding = {"x": x, "y": y, "color": tint}
    same = [{"offered": 0, "value": 0}, {"offered": top, "value": top}]
    return {"width": 300, "height": 280, "layer": [
        {"data": {"values": same},
         "mark": {"type": "line", "color": GREY, "strokeWidth": 0.8, "strokeDash": [1, 2]},
         "encoding": {"x": x, "y": y}},
        *_ends(ends, tint),
        {"transform": only("accepted"), "mark": {"type": "line", "strokeWidth": 1.8},
         "encoding": encoding},
        _marks("accepted", encoding),
    ]}


# --- distributions -------------------------------------------------------------------------------


def quantile(histogram: Sequence[Sequence[int]], share: float) -> int:
    """The least latency of ``histogram`` (latency, packets) that ``share`` of all do not exceed."""
    wanted = share * sum(n for _, n in histogram)
    below = 0
    for latency, n in histogram:
        below += n
        if below >= wanted:
            return latency
    return 0


def distributions_spec(cases: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """A chart for each case (``label``, ``point``): the latencies of its packets, with the median
    and the latency that 99 % do not exceed, and beside them how many switches packets visited."""
    rows = [
        _distribution(case, PALETTE[i % len(PALETTE)], i == len(cases) - 1)
        for i, case in enumerate(cases) if case["point"]["latency_histogram"]
    ]
    return chart({"spacing": 22, "vconcat": rows}) if rows else None


def _distribution(case: Mapping[str, Any], shade: str, last: bool) -> dict[str, Any]:
    point = case["point"]
    counts = point["latency_histogram"]
    packets = sum(n for _, n in counts)
    width = round_width((counts[-1][0] - counts[0][0] + 1) / BARS)
    bars: dict[int, int] = {}
    for latency, n in counts:
        bars[latency // width * width] = bars.get(latency // width * width, 0) + n
    known = [{"low": low, "high": low + width, "share": n / packets} for low, n in bars.items()]
    marked = [
        {"at": quantile(counts, share), "name": name}
        for share, name in ((0.5, "median"), (0.99, "99 %"))
    ]
    share = {"field": "share", "type": "quantitative",
             "axis": {"title": "packets", "format": ".0%", "tickCount": 4}}
    above = {"domain": [0, 1.25 * max(bar["share"] for bar in known)], "nice": False}
    title = "packet latency (cycles)" if width == 1 else f"packet latency (cycles, by {width})"
    x = {"field": "low", "type": "quantitative", "scale": {"zero": False, "nice": True},
         "axis": {"title": title if last else None, "tickMinStep": 1, "tickCount": 8}}
    at = {"field": "at", "type": "quantitative"}
    latencies = {"width": 420, "height": 110, "layer": [
        {"data": {"values": known}, "mark": {"type": "bar", "binSpacing": 0.5, "color": shade},
         "encoding": {"x": x, "x2": {"field": "high"},
                      "y": {**share, "scale": above}, "y2": {"datum": 0}}},
        {"data": {"values": marked}, "mark": {"type": "rule", "color": INK, "strokeDash": [3, 2]},
         "encoding": {"x": at}},
        {"data": {"values": marked},
         "mark": {"type": "text", "align": "left", "dx": 4, "fontSize": 11, "color": INK},
         "encoding": {"x": at, "y": {"value": 8}, "text": {"field": "name"}}},
    ]}
    visited = [{"visited": hops, "share": n / packets}
               for hops, n in enumerate(point["hop_histogram"]) if n]
    hops = {"width": 240, "height": 110, "data": {"values": visited},
            "mark": {"type": "bar", "width": {"band": 0.8}, "color": shade},
            "encoding": {
                "x": {"field": "visited", "type": "ordinal",
                      "axis": {"title": "switches visited" if last else None, "labelAngle": 0}},
                "y": share}}
    load = f"load {point['offered_load']:.4g}"
    name = f"{case['label']}, {load}" if case["label"] else load
    return {"title": {"text": name, "anchor": "start", "fontSize": 12}, "spacing": 34,
            "hconcat": [latencies, hops]}
