"""Tables that were loaded into OpenSM in a report: what was read back, and who judged it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired, TypedDict

from flyloom.draw.svg import plural
from flyloom.report.base import PageData, PageSection, SectionFields
from flyloom.report.shape import Count, Simple, also


@also(Simple)
class DeployResult(TypedDict):
    """The result of `flyloom deploy`, if it was asked for."""

    skipped: NotRequired[Annotated[str, "why it was not done"]]
    entries: NotRequired[Annotated[Count, "entries of forwarding tables that were compared"]]
    differing_entries: NotRequired[Annotated[Count, "those that differ"]]
    sl_entries: NotRequired[Annotated[Count, "service levels of paths that were compared"]]
    differing_sl_entries: NotRequired[Annotated[Count, "those that differ"]]
    sl2vl_entries: NotRequired[Annotated[Count, "entries of SL2VL tables that were compared"]]
    differing_sl2vl_entries: NotRequired[Annotated[Count, "those that differ"]]
    deadlock_free: NotRequired[Annotated[bool, "whether what was read back is free of deadlock"]]
    oracle: NotRequired[Annotated[str, "what another program says of it"]]
    opensm_version: NotRequired[Annotated[str, "the version of OpenSM"]]
    seconds: NotRequired[Annotated[float, "how long it took"]]


class RoutingDeployResult(TypedDict):
    """The result of deploying a routing."""

    deploy: NotRequired[Annotated[DeployResult, "what was loaded and read back"]]


def of_routing(record: Mapping[str, Any]) -> dict[str, Any]:
    """The result of deploying the tables of a point."""
    return {"deploy": record.get("deploy")}


def view(page: PageData) -> dict[str, Any] | None:
    """The routings that were to be loaded."""
    deployed = [routing for routing in page.routings if routing["deploy"] is not None]
    return {"deployed": deployed} if deployed else None


def tiles(page: PageData) -> list[dict[str, str]]:
    """Whether all that was read back is what was loaded."""
    stages = [r["deploy"] for r in page.routings if r["deploy"]]
    run = [deploy for deploy in stages if deploy["skipped"] is None]
    if not stages:
        return []
    if not run:
        return [{"head": "Loaded and read back", "big": "skipped", "mood": "plain",
                 "small": stages[0]["skipped"]}]
    kinds = ("entries", "sl_entries", "sl2vl_entries")
    total = sum(deploy[kind] or 0 for deploy in run for kind in kinds)
    differing = sum(deploy[f"differing_{kind}"] or 0 for deploy in run for kind in kinds)
    small = f"{total:,} table entries of {plural(len(run), 'routing')} compared with OpenSM's"
    return [{"head": "Loaded and read back", "mood": "bad" if differing else "good",
             "big": f"{differing:,} differ" if differing else "identical", "small": small}]


SECTION = PageSection(
    name="fabric", title="Loaded and read back", place=100,
    doc="What OpenSM made of the tables of each routing, entry by entry.",
    when="tables were to be loaded into OpenSM",
    saved={("records", "[]", "deploy"): DeployResult},
    of_routing=SectionFields(shape=RoutingDeployResult, of=of_routing), view=view,
    tiles={40: tiles},
)
