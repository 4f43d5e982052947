"""Lengths of routes in a report: how many routes of each routing cross how many links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NotRequired, TypedDict

from flyloom.report.base import Found, PageData, PageSection, SectionFields
from flyloom.report.comparison import chart, colour
from flyloom.report.shape import Count, also


class OfRouting(TypedDict):
    """What each routing of the page has besides."""

    hops: NotRequired[Annotated[list[Count], "routes by the links that they cross, from 0 on"]]


@also(Any)
class Saved(TypedDict):
    """Where that stands in the results of a run; other fields are there too."""

    hop_histogram: NotRequired[Annotated[
        list[Count], "routes by the links that they cross, from 0 on"]]


def of_routing(record: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of ``OfRouting``, from the record of a point."""
    return {"hops": record["verify"]["complete"].get("hop_histogram")}


def view(page: PageData) -> dict[str, Any] | None:
    """What the template takes; None where there is nothing to show."""
    known = [routing for routing in page.routings if routing["hops"]]
    if not known:
        return None
    most = max(len(routing["hops"]) for routing in known)
    return {
        "chart": page.chart("hops", spec(known)), "most": most,
        "rows": [(r, [*r["hops"], *[0] * (most - len(r["hops"]))]) for r in known],
    }


def spec(routings: Sequence[Found]) -> dict[str, Any]:
    """Bars of routes by their links, a colour for each routing."""
    names = list(dict.fromkeys(routing["label"] for routing in routings))
    values = [
        {"routing": routing["label"], "network": routing["network"], "hops": hops, "routes": routes}
        for routing in routings for hops, routes in enumerate(routing["hops"])
    ]
    return chart({
        "data": {"values": values},
        "facet": {"field": "network", "type": "nominal", "title": None}, "columns": 2,
        "spec": {"width": 300, "height": 180, "mark": "bar", "encoding": {
            "x": {"field": "hops", "type": "ordinal", "axis": {"title": "links", "labelAngle": 0}},
            "y": {"field": "routes", "type": "quantitative", "axis": {"title": "routes"}},
            "xOffset": {"field": "routing", "type": "nominal", "sort": names},
            "color": colour(names, "routing"),
        }},
    })


SECTION = PageSection(
    name="hops", title="Lengths of routes", place=95,
    doc="How many routes of each routing cross how many links.",
    when="a point has tables",
    saved={("records", "[]", "verify", "complete"): Saved},
    of_routing=SectionFields(shape=OfRouting, of=of_routing),
    view=view,
)
