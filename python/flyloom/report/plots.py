"""Pictures of results: what ``.plot()`` gives for each class of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from flyloom import draw
from flyloom._core import RefusalError, Routing, Topology
from flyloom.draw.floor import floor_data, racks_of
from flyloom.report import (
    build,
    check,
    comparison,
    congestion,
    figures,
    flit,
    flit_page,
    packet_page,
    packets,
    routing_comparison,
    simulated,
    timeline_page,
)
from flyloom.report.comparison import PALETTE, chart, wide_labels
from flyloom.report.picture import Picture
from flyloom.support.amounts import figure, heading
from flyloom.verbs import runs

MOST = 24
"""Bars of a chart, at most."""
SMALL, THUMBNAIL = 2000, 600
"""Switches of a network whose picture a notebook shows unasked, at most, and the width of that."""


def plot(result: Any, what: str | None = None) -> Picture:
    """The picture of a result; ``what`` says which, where there are several.

    Raises ``RefusalError`` where there is nothing to plot, and for a picture that it does not have.
    """
    name = type(result).__name__
    known = next((PLOTS[of.__name__] for of in type(result).__mro__ if of.__name__ in PLOTS), None)
    if known is None:
        raise RefusalError(f"plot: a {name} has nothing to plot; what has: {', '.join(PLOTS)}")
    made = known(result)
    if isinstance(made, Picture):
        if what is not None:
            raise RefusalError(f"plot: a {name} has one picture; leave '{what}' out")
        return made
    if not made:
        raise RefusalError(f"plot: this {name} has nothing to plot: it is empty")
    if what is None:
        what = next(iter(made))
    if what not in made:
        raise RefusalError(f"plot: there is no '{what}' of this {name}; {', '.join(made)}")
    return made[what]()


Several = dict[str, Callable[[], Picture]]
"""Pictures by their names, the first one that is shown unasked."""


# --- simulations ---------------------------------------------------------------------------------


def _message(found: Any) -> Picture:
    if found.get("critical_path"):
        return timeline_page.picture(found)
    if curves := found.get("curves"):
        rows = [(run["label"], run["finish_ns"] / 1e3) for run in runs.labelled(curves)]
        return _bars(rows, "finish (µs)", ", ".join(runs.common(curves)))
    ends = sorted(found["rank_finish_ns"])
    step = -(-len(ends) // 400)
    values = [{"part": (at + 1) / len(ends), "us": float(ends[at]) / 1e3}
              for at in range(len(ends)) if at % step == 0 or at + 1 == len(ends)]
    return Picture(chart({
        "title": {"text": found["workload"], "anchor": "start", "fontSize": 13},
        "width": 380, "height": 200, "data": {"values": values},
        "mark": {"type": "line", "interpolate": "step-before", "color": PALETTE[0]},
        "encoding": {
            "x": {"field": "part", "type": "quantitative", "scale": {"domain": [0, 1]},
                  "axis": {"title": "ranks, by their end", "format": ".0%", "tickCount": 5}},
            "y": {"field": "us", "type": "quantitative", "scale": {"zero": False},
                  "axis": {"title": "end of a rank (µs)", "format": ",~r"}}},
    }))


def _run(found: Any) -> Picture:
    """The curves of an experiment, or the times of its traces."""
    saved = json.loads(Path(found.directory, "results.json").read_text(encoding="utf-8"))
    data = check.check(build.data(saved))
    labels = [network["label"] for network in data["networks"]]
    page = Path(found.report).read_text if found.report else None
    for made, spec in (
        (simulated.curves(data["simulations"], labels), flit.curves_spec),
        (packets.curves(data["packets"], labels), packets.curves_spec),
    ):
        if made:
            return Picture(spec(made), spec(made, narrow=True), page,
                           wide=partial(_wide, spec, made))
    if traced := packets.traced_spec(packets.traced(data["packets"], labels)):
        return Picture(traced, page=page)
    raise RefusalError(f"plot: no simulation ran at a point; {found.report} has all charts")


def _wide(spec: Callable[..., Any], made: Any, width_pt: float) -> Any:
    return spec(made, width_pt=width_pt)


# --- bars and histograms -------------------------------------------------------------------------


def _bars(
    rows: Iterable[tuple[str, float | None]], axis: str, title: str = "", at: float | None = None
) -> Picture:
    """A bar for each name, with its value at the end; a line at the value ``at``."""
    known = [(name, value) for name, value in rows if value is not None]
    money = "US$" in axis
    values = [{"name": name, "place": place, "value": value,
               "text": figure(value, unit="US$" if money else "")}
              for place, (name, value) in enumerate(known[:MOST])]
    if not values:
        raise RefusalError("plot: there is no figure to plot")
    y = {"field": "place", "type": "ordinal", "axis": {
        **wide_labels(), "labelExpr": f"{json.dumps([v['name'] for v in values])}[datum.value]"}}
    most = max(at or 0.0, *(value for _, value in known))
    x = {"field": "value", "type": "quantitative", "scale": {"domain": [0, 1.15 * most or 1]},
         "axis": {"title": axis, "format": "~s", "tickCount": 6}}
    layers: list[dict[str, Any]] = [
        {"mark": {"type": "bar", "height": 13, "color": PALETTE[10]}, "encoding": {"x": x, "y": y}},
        {"mark": {"type": "text", "align": "left", "dx": 4, "fontSize": 11},
         "encoding": {"x": x, "y": y, "text": {"field": "text"}}},
    ]
    if at is not None:
        layers.append({"data": {"values": [{"at": at}]},
                       "mark": {"type": "rule", "strokeDash": [4, 3], "color": PALETTE[3]},
                       "encoding": {"x": {"field": "at", "type": "quantitative"}}})
    left = len(known) - len(values)
    said = "; ".join(filter(None, (title, f"{left} more are not drawn" if left else "")))
    heads = {"title": {"text": said, "anchor": "start", "fontSize": 13}} if said else {}
    return Picture(chart({**heads, "width": 380, "height": {"step": 24},
                          "data": {"values": values}, "layer": layers}))


def _histogram(
    bars: Sequence[tuple[float, float, float]], axis: str, counted: str, step: float = 1.0
) -> Picture:
    """Bars from ``low`` to ``high``, as high as ``n``; numbers stand ``step`` apart at least."""
    if not bars:
        raise RefusalError(f"plot: there are no {counted}")
    values = [{"low": low, "high": high, "n": n} for low, high, n in bars]
    return Picture(chart({
        "width": 400, "height": 200, "data": {"values": values},
        "mark": {"type": "bar", "binSpacing": 0.5, "color": PALETTE[0]},
        "encoding": {
            "x": {"field": "low", "type": "quantitative", "scale": {"nice": False, "domain": [
                      min(v["low"] for v in values), max(v["high"] for v in values)]},
                  "axis": {"title": axis, "tickCount": 8, "tickMinStep": step}},
            "x2": {"field": "high"}, "y2": {"datum": 0},
            "y": {"field": "n", "type": "quantitative", "axis": {"title": counted, "tickCount": 5}},
        },
    }))


def _members(found: Any) -> Several:
    """Figures of the members of a sizing, those with prices first."""
    members = found.get("members") or [row["largest"] for row in found["rows"] if row["largest"]]
    out: Several = {}
    for key in ("cost_usd_per_endpoint", "cost_usd", "endpoints", "switches"):
        if any(member.get(key) is not None for member in members):
            rows = [(member["network"], member.get(key)) for member in members]
            out[key] = _bars_of(rows, heading(key))
    return out


def _bars_of(rows: Sequence[tuple[str, float | None]], axis: str) -> Callable[[], Picture]:
    return lambda: _bars(rows, axis)


def _bill(found: Any) -> Picture:
    lines = [(" ".join(filter(None, (line["kind"], str(line["id"] or line["part"])))), line["usd"])
             for line in found.get("lines") or () if line["counted"]]
    whole = f"{found['network']}: {figure(found['cost_usd'], 'usd')}"
    return _bars(lines or [("cost", found["cost_usd"])], "cost (US$)", whole)


def _mapping(found: Any) -> Picture:
    """Each figure over that of processes in order, where that is not 0."""
    rows = [(key.replace("_", " "), found[key] / value)
            for key, value in found["linear"].items() if value and found.get(key) is not None]
    return _bars(rows, "part of that of processes in order", at=1.0)


def _throughput(found: Any) -> Picture:
    rows = [("throughput", found["maximum_achievable_throughput"])]
    if not found["exact"]:
        rows.append(("at most", found["upper_bound"]))
    return _bars(rows, "part of the rate of an endpoint",
                 f"{found['traffic']}, {found['network']}", at=1.0)


def _ebb(found: Any) -> Picture:
    counts = found["flow_histogram"]
    return _histogram([(place / len(counts), (place + 1) / len(counts), n)
                       for place, n in enumerate(counts)], "share of a flow", "flows", 0.1)


def _edge_load(found: Any) -> Picture:
    pairs = found["histogram"]
    width = figures.round_width((pairs[-1][0] - pairs[0][0] + 1) / 40) if pairs else 1
    sums: dict[int, int] = {}
    for routes, channels in pairs:
        sums[routes // width * width] = sums.get(routes // width * width, 0) + channels
    return _histogram([(low, low + width, n) for low, n in sorted(sums.items())],
                      "routes over a channel", "channels")


def _routing(found: Routing) -> Several:
    """How many routes the channels between switches carry."""
    loads = Counter(found.channel_loads().tolist())
    pairs = [[routes, loads[routes]] for routes in sorted(loads)]
    return {"load": lambda: _edge_load({"histogram": pairs})}


def _counts(key: str, axis: str, counted: str) -> Callable[[Any], Picture]:
    """A picture with a bar for each whole number, from a list of how often each number occurs."""
    return lambda found: _histogram(
        [(place - 0.4, place + 0.4, n) for place, n in enumerate(found[key])], axis, counted)


def _resilience(found: Any) -> Picture:
    """The part of the samples that holds, against the part that was removed."""
    values = [
        {"end": end, "removed": place / (len(of["survival"]) - 1), "holds": share}
        for end, of in found["ends"].items() for place, share in enumerate(of["survival"])
    ]
    names = list(dict.fromkeys(value["end"] for value in values))
    tint = comparison.colour(names, "end")
    return Picture(chart({
        "title": {"text": found["network"], "anchor": "start", "fontSize": 13},
        "width": 380, "height": 200, "data": {"values": values},
        "mark": {"type": "line", "strokeWidth": 1.8, "point": {"size": 18}},
        "encoding": {
            "x": {"field": "removed", "type": "quantitative",
                  "axis": {"title": f"{found['remove']} removed at random", "format": ".0%"}},
            "y": {"field": "holds", "type": "quantitative", "scale": {"domain": [0, 1]},
                  "axis": {"title": "samples that still hold", "format": ".0%"}},
            "color": tint},
    }))


def _comparison(found: Any) -> Several:
    charts = comparison.specs(found.rows, found.curves)
    order = [name for name in ("pareto", *comparison.CHARTS) if name in charts]

    def picture(name: str) -> Callable[[], Picture]:
        return lambda: Picture(charts[name], page=lambda: comparison.page(found, charts))

    return {name: picture(name) for name in dict.fromkeys(order)}


def _by(module: Any) -> Callable[[Any], Picture]:
    """The chart and the page of a module that has both."""
    return lambda found: Picture(module.spec(found), page=lambda: module.page(found))


# --- networks ------------------------------------------------------------------------------------


def _floor(found: Mapping[str, Any]) -> Picture:
    names = [str(place) for place in range(len(found["switches"]))]
    return Picture(drawing=draw.floor_svg(floor_data(dict(found), names)))


def _topology(found: Topology) -> Several:
    return {"adjacency": lambda: Picture(drawing=_adjacency(found)),
            "floor": lambda: Picture(
                drawing=draw.floor_svg(floor_data(found.plan(), found.switch_names)))}


def _adjacency(found: Topology) -> str:
    groups = found.groups.tolist() or None
    floor = floor_data(found.plan(), found.switch_names) if found.switches <= SMALL else None
    racks = racks_of(floor, found.switches) if floor and floor["racks"] else None
    return draw.adjacency_svg(
        found.edges.tolist(), found.switches, switch_groups=groups, switch_racks=racks)


def thumbnail(found: Topology) -> str:
    """What a notebook shows of a network: which switches are linked; nothing of a large one."""
    return _adjacency(found) if 0 < found.switches <= THUMBNAIL else ""


PLOTS: dict[str, Callable[[Any], Picture | Several]] = {
    "FlitSimulation": flit_page.picture, "PacketSimulation": packet_page.picture,
    "MessageSimulation": _message, "BookSimRun": flit_page.picture, "Run": _run,
    "Comparison": _comparison,
    "RoutingComparison": _by(routing_comparison), "Sizing": _members, "Budget": _members,
    "Scales": _members, "Bill": _bill, "Congestion": _by(congestion), "Ebb": _ebb,
    "EdgeLoad": _edge_load, "Throughput": _throughput, "ProcessMapping": _mapping,
    "Resilience": _resilience, "Figure": _by(figures), "FloorPlan": _floor,
    "Structure": _counts("histogram", "distance (hops)", "ordered pairs of switches"),
    "PathDiversity": _counts("disjoint_histogram", "link-disjoint paths", "pairs of switches"),
    "Topology": _topology, "Routing": _routing,
}
"""What draws a result, by the name of its class."""
