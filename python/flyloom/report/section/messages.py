"""Runs of messages in a report: the time to the last rank, in a chart and a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, NotRequired, TypedDict

from flyloom.report import axis
from flyloom.report.base import (
    ComparedFigure,
    Found,
    PageData,
    PageRun,
    PageSection,
    SectionList,
    asked_of,
    found_by,
)
from flyloom.report.by_network import by_network, time_unit
from flyloom.report.comparison import chart, colour
from flyloom.report.figure import along, of_level
from flyloom.report.shape import Count, also
from flyloom.report.words import some
from flyloom.verbs.runs import preset_said


class MessageFigures(TypedDict):
    """The times of the ranks, and the messages they sent."""

    ranks: Annotated[Count, "ranks"]
    finish_ns: Annotated[float, "when the last of them was done"]
    mean_finish_ns: Annotated[float, "when a rank was done, in the mean"]
    messages: Annotated[Count, "messages"]
    sent_bytes: Annotated[float, "what they held"]


class MessageSimulationResult(PageRun, MessageFigures):
    """A run of `sim.message` on the page."""

    costs: NotRequired[Annotated[str, "what messages cost, and where that is from"]]
    busiest_link_use: NotRequired[Annotated[float, "the part of its rate that the busiest channel "
                                              "carried"]]


@also(Any)
class ChannelLoadTotals(TypedDict):
    """The load of the network's channels."""

    busiest_link_use: NotRequired[Annotated[float, "the part of its rate that the busiest channel "
                                              "carried"]]


@also(Any)
class MessageCostsOrigin(TypedDict):
    """Where the costs of messages are from."""

    preset: Annotated[str, "the preset"]
    source: Annotated[str, "where its figures are from"]
    given: Annotated[list[str], "the parameters that were given in place of the preset's"]


@also(Any)
class SavedMessageSimulation(MessageFigures):
    """A run of `sim.message` in the results."""

    network: NotRequired[Annotated[ChannelLoadTotals, "what the network carried"]]
    costs: NotRequired[Annotated[MessageCostsOrigin, "where what messages cost is from"]]


def entries(saved: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What was found at the points of a run, with what was asked."""
    for record, found in found_by("sim.message", saved):
        busiest = (found.get("network") or {}).get("busiest_link_use")
        figures = {key: found[key] for key in MessageFigures.__annotations__}
        costs = {}
        if of := found.get("costs"):
            costs = {"costs": f"{preset_said(of)} ({of['source']})"}
        yield {**figures, **costs, "busiest_link_use": busiest, **asked_of(record, "message")}


def view(page: PageData) -> dict[str, Any] | None:
    """The chart and the table of all runs."""
    played = axis.rows(page.data["messages"], page.labels)
    if not played:
        return None
    curves = len({row["curve"] for row in played})
    costs = sorted({row["costs"] for row in played if row.get("costs")})
    unit, length_ns = time_unit([row["finish_ns"] for row in played])
    return {"played": played, "costs": costs, "chart": page.chart("messages", spec(played)),
            "left_out": some("curves", curves, "the first", axis.MOST),
            "unit": unit, "length_ns": length_ns, "networks": page.labels,
            "colours": list(page.colours.values()),
            "table": by_network(played, page.labels, lambda row: (row["rest"], row["at"]),
                                lambda row: float(row["finish_ns"]))}


def spec(made: Sequence[Found]) -> dict[str, Any] | None:
    """The time to the last rank against the axis, one colour a curve; None without an axis."""
    names = list(dict.fromkeys(row["curve"] for row in made))[:axis.MOST]
    values = [
        {"curve": row["curve"], "at": row["at"], "ms": row["finish_ns"] / 1e6} for row in made
        if row["curve"] in names and row["at"] is not None and row["at"] > 0 < row["finish_ns"]
    ]
    if len({value["at"] for value in values}) < 2:
        return None
    tint = colour(names, "curve")
    tint["legend"] |= {"columns": 2, "symbolType": "stroke", "labelLimit": 420}
    ticks = sorted({value["at"] for value in values})
    below: dict[str, Any] = {"title": made[0]["axis"], "format": "~s"}
    if len(ticks) <= 10:
        below |= {"values": ticks, "format": ",~f" if ticks[-1] < 1e5 else ".3~s"}
    log = {"type": "log", "nice": False}
    low, high = min(v["ms"] for v in values), max(v["ms"] for v in values)
    x = {"field": "at", "type": "quantitative", "axis": below,
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


def figures(page: PageData) -> Iterator[ComparedFigure]:
    """The time to the last rank, along what varies."""
    runs = [{**run, "value": run["finish_ns"]} for run in page.data["messages"]]
    what = of_level(page, "{workload}", "message")
    yield from along(runs, ("seed",), "µs", what, 1e-3)


SECTION = PageSection(
    name="messages", title="Messages", place=50,
    doc="How long schedules of processes take, message by message.",
    when="`sim.message` ran at a point",
    saved={("records", "[]", "measures", "sim.message"): SavedMessageSimulation},
    entries=SectionList(key="messages", shape=MessageSimulationResult, of=entries),
    view=view, figures={90: figures},
)
