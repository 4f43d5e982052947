"""The load of the channels in a report: how evenly the routes of each routing are spread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NotRequired, TypedDict

from flyloom.report.base import Found, PageData, PageSection, SectionFields, expect
from flyloom.report.charts import CONFIG, INK, MOST, SCHEMA, network_colour, picked, routing_name
from flyloom.report.shape import Count, also
from flyloom.report.words import some


class LoadBin(TypedDict):
    """A bin of the histogram: how many channels have this load."""

    load: Annotated[Count, "routes over each"]
    channels: Annotated[Count, "channels"]


class LoadDistribution(TypedDict):
    """The loads of a routing."""

    edge_forwarding_index: NotRequired[Annotated[float, "most routes over a channel"]]
    load_histogram: NotRequired[Annotated[list[LoadBin], "channels by the routes over them"]]


@also(Any)
class SavedChannelLoads(TypedDict):
    """The load of channels as saved, if the point has tables."""

    histogram: Annotated[list[list[Count]], "numbers of routes, each with its channels"]
    edge_forwarding_index: NotRequired[Annotated[float, "most routes over a channel"]]


def of_routing(record: Mapping[str, Any]) -> dict[str, Any]:
    """The loads of a point."""
    load = record.get("load") or {}
    histogram = [{"load": n, "channels": c} for n, c in load.get("histogram", [])]
    return {"edge_forwarding_index": load.get("edge_forwarding_index"),
            "load_histogram": histogram or None}


def border(saved: Mapping[str, Any]) -> None:
    """Checks that histograms consist of pairs."""
    for place, record in enumerate(saved["records"]):
        for i, pair in enumerate((record.get("load") or {}).get("histogram", ())):
            where = f"records[{place}].load.histogram[{i}]"
            expect(len(pair) == 2, where, "routes and channels")


def view(page: PageData) -> dict[str, Any] | None:
    """The chart, and a table of all routings."""
    chart = page.chart("load", load_spec(page.routings, page.labels))
    if chart is None:
        return None
    half, known = MOST // 2, sum(load_figure(routing) is not None for routing in page.routings)
    rows = [{**routing, "load": load_summary(routing["load_histogram"])}
            for routing in page.routings if routing["load_histogram"]]
    return {"chart": chart, "rows": rows, "left_out": some(
        "routings", known,
        f"the {half} of the lowest and the {half} of the highest load over the mean", MOST,
    )}


def load_figure(routing: Found) -> float | None:
    """The figure by which a chart of loads picks routings: the highest load over the mean."""
    ratio: float | None = load_summary(routing["load_histogram"] or [])["ratio"]
    return ratio


def load_summary(histogram: Sequence[Found]) -> dict[str, Any]:
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
    routings: Sequence[Found], networks: Sequence[str]
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
        base = {"routing": routing_name(routing, networks), "network": routing["network"]}
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
                     "color": network_colour(networks)}},
                {"mark": {"type": "rule", "color": INK, "strokeDash": [3, 3]},
                 "encoding": {"x": {"datum": 1}}},
            ],
        },
    }


SECTION = PageSection(
    name="load", title="Load", place=95,
    doc="How evenly the routes of each routing are spread over the channels.",
    when="a routing has loads",
    saved={("records", "[]", "load"): SavedChannelLoads}, border=border,
    of_routing=SectionFields(shape=LoadDistribution, of=of_routing), view=view,
)
