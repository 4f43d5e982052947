"""Mappings in a report, and their chart: methods side by side, against the processes or as bars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, NotRequired, TypedDict

from flyloom.report.base import ComparedFigure, Found, PageData, PageSection, SectionList, found_by
from flyloom.report.comparison import chart, colour
from flyloom.report.figure import LOWER, best_choice
from flyloom.report.shape import Count, also

PANELS = (
    ("average_dilation", "average dilation (hops)", 1.0),
    ("maximum_congestion", "maximum congestion (MB)", 1e-6),
    ("finish_ns", "simulated time (us)", 1e-3),
)
"""What is drawn, by its key: the title of its axis, and its factor."""
MOST = 4
"""This number of kinds of graphs have lines of their own."""
BARS = 60
"""Up to this number of mappings of one size are drawn as bars."""


class MethodMappingFigures(TypedDict):
    """The figures of a mapping found by one method."""

    method: Annotated[str, "its name"]
    graph: NotRequired[Annotated[str, "the communication of the processes; null where it is rows"]]
    processes: Annotated[Count, "processes"]
    average_dilation: Annotated[float, "links that a byte crosses, in the mean"]
    maximum_congestion: Annotated[float, "bytes over the busiest channel"]
    finish_ns: NotRequired[Annotated[float, "how long a round takes, message by message, where it "
                                            "was simulated"]]


class NetworkMapping(MethodMappingFigures):
    """A mapping on the page, found by `map` at a point."""

    network: Annotated[str, "the label of the network"]
    label: Annotated[str, "what the point is called"]


@also(Any)
class SavedMapping(MethodMappingFigures):
    """A mapping in the results of a run, found by `map` at a point."""


def entries(saved: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The mappings found at the points of a run."""
    for record, found in found_by("map", saved):
        if isinstance(found, dict):
            label = record.get("called") or record["label"]
            yield {key: found.get(key) for key in MethodMappingFigures.__annotations__} | {
                "network": record["network"], "label": label}


def view(page: PageData) -> dict[str, Any] | None:
    """The chart, where there is something to put side by side."""
    mapped = page.data["mappings"]
    chart = page.chart("mapping", spec(mapped))
    sizes = {run["processes"] for run in mapped}
    return {"chart": chart, "sizes": len(sizes)} if chart else None


def kind(graph: str | None) -> str:
    """The kind of a graph: the first word of its name."""
    return (graph or "rows").split()[0].partition(":")[0]


def spec(runs: Sequence[Found]) -> dict[str, Any] | None:
    """Dilation, congestion and simulated time against the processes, one colour a method and one
    sort of line a kind of graph; of one size as bars, one colour a network. None where there is one
    bar, or there are too many kinds."""
    kinds = list(dict.fromkeys(kind(run["graph"]) for run in runs))
    if len(kinds) > MOST:
        return None
    if len({run["processes"] for run in runs}) < 2:
        return _bars(runs, kinds)
    methods = list(dict.fromkeys(run["method"] for run in runs))
    values = [
        {"method": run["method"], "kind": kind(run["graph"]), "at": run["processes"],
         **{key: run[key] * factor for key, _, factor in PANELS if run[key] is not None}}
        for run in runs
    ]
    tint = colour(methods, "method")
    tint["legend"] |= {"symbolType": "stroke", "columns": 6}
    x = {"field": "at", "type": "quantitative", "scale": {"type": "log", "nice": False},
         "axis": {"title": "processes", "format": "~s", "tickCount": 5}}
    dashes = {"field": "kind", "type": "nominal", "sort": kinds,
              "legend": {"title": None, "orient": "bottom", "symbolType": "stroke"}}
    shown = [panel for panel in PANELS if any(value.get(panel[0], 0) > 0 for value in values)]
    return chart({
        "hconcat": [
            _panel(key, title, [v for v in values if v.get(key, 0) > 0],
                   {"x": x, "color": tint} | ({"strokeDash": dashes} if len(kinds) > 1 else {}))
            for key, title, _ in shown
        ],
    }) if shown else None


def _bars(
    runs: Sequence[Found], kinds: Sequence[str]
) -> dict[str, Any] | None:
    """A bar for each method and network; of several kinds of graphs for each of these."""
    values = [
        {"network": run["network"], "of": run["method"] if len(kinds) < 2 else
         f"{kind(run['graph'])}, {run['method']}",
         **{key: run[key] * factor for key, _, factor in PANELS if run[key] is not None}}
        for run in runs
    ]
    rows = list(dict.fromkeys(value["of"] for value in values))
    networks = list(dict.fromkeys(value["network"] for value in values))
    if not 1 < len(values) <= BARS:
        return None
    y = {"field": "of", "type": "nominal", "sort": rows, "axis": {"title": None}}
    tint = colour(networks, "network")
    if len(networks) < 2:
        tint["legend"] = None
    offset = {"field": "network", "type": "nominal", "sort": networks}
    shown = [panel for panel in PANELS if any(value.get(panel[0], 0) > 0 for value in values)]
    return chart({"data": {"values": values}, "spacing": 26, "hconcat": [
        {"width": 230, "height": {"step": 13 if len(networks) > 1 else 22},
         "mark": {"type": "bar", "cornerRadius": 2},
         "encoding": {"x": {"field": key, "type": "quantitative",
                            "axis": {"title": title, "tickCount": 5}},
                      "y": y if place == 0 else {**y, "axis": None}, "yOffset": offset,
                      "color": tint}}
        for place, (key, title, _) in enumerate(shown)
    ]}) if shown else None


def _panel(
    key: str, title: str, values: Sequence[Found], encoding: Mapping[str, Any]
) -> dict[str, Any]:
    """The lines of one figure, whose values are above 0."""
    y = {"field": key, "type": "quantitative", "scale": {"type": "log", "nice": False},
         "axis": {"title": title, "format": "~g", "tickCount": 6}}
    points = {name: what for name, what in encoding.items() if name != "strokeDash"}
    return {
        "data": {"values": list(values)}, "width": 250, "height": 260,
        "layer": [
            {"mark": {"type": "line", "strokeWidth": 1.8}, "encoding": {**encoding, "y": y}},
            {"mark": {"type": "point", "filled": True, "size": 24, "opacity": 1},
             "encoding": {**points, "y": y}},
        ],
    }


def figures(page: PageData) -> Iterator[ComparedFigure]:
    """What the best method of each network gives, and its gain over processes in order."""
    groups: dict[tuple[str, int], list[Found]] = {}
    for run in page.data["mappings"]:
        groups.setdefault((run["graph"] or "rows", run["processes"]), []).append(run)
    for (graph, processes), runs in groups.items():
        what = f"{kind(graph)} of {processes:,} processes"
        for key, words, unit, scale in (
            ("maximum_congestion", "busiest channel", "MB", 1e-6), ("finish_ns", "time", "µs", 1e-3)
        ):
            known = [run for run in runs if run[key] is not None]
            yield best_choice(f"{what}, mapped: {words}", unit, LOWER, (
                (run["network"], run["method"], scale * run[key]) for run in known))
            linear = {run["network"]: run[key] for run in known if run["method"] == "linear"}
            gains = {
                name: [linear[name] / least] for name in linear
                if (least := min(run[key] for run in known if run["network"] == name)) > 0
            }
            yield ComparedFigure(f"{what}: {words} in order, over mapped", "times", "", gains)


SECTION = PageSection(
    name="mappings", title="Mappings", place=60,
    doc="How far messages go, and how long they take, by several methods of mapping.",
    when="`map` ran at several points",
    saved={("records", "[]", "measures", "map"): SavedMapping},
    entries=SectionList(key="mappings", shape=NetworkMapping, of=entries),
    view=view, figures={100: figures},
)
