"""Rates of links in a report: which one bills and simulators used, and whose it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, NotRequired, TypedDict

from flyloom.report.base import (
    PageData,
    PageSection,
    SectionList,
    check_label,
    found_by,
)
from flyloom.report.shape import also
from flyloom.report.words import few
from flyloom.verbs.runs import rate_said


class UsedRate(TypedDict):
    """A rate that something used on a network of the page."""

    network: Annotated[str, "the label of the network"]
    by: Annotated[str, "what used it: bill, packets or messages"]
    lowest_gbps: Annotated[float, "the lowest rate of a link"]
    highest_gbps: Annotated[float, "the highest"]
    source: Annotated[str, "whose it is: parameters, network, cables or default"]


@also(Any)
class SavedRates(TypedDict):
    """The rates of links in the record of a simulator."""

    lowest_gbps: NotRequired[Annotated[float, "the lowest rate of a link"]]
    highest_gbps: NotRequired[Annotated[float, "the highest"]]
    source: NotRequired[Annotated[str, "whose they are"]]


@also(Any)
class SavedSimulation(TypedDict):
    """A run of a simulator that has rates."""

    rates: NotRequired[Annotated[SavedRates, "the rates of its links"]]


@also(Any)
class SavedBill(TypedDict):
    """A bill."""

    link_gbps: NotRequired[Annotated[float, "the rate at which links are bought"]]
    rate_source: NotRequired[Annotated[str, "whose it is"]]


SIMULATORS = {"sim.packet": "packets", "sim.message": "messages"}
"""The simulators with rates, and what they are called here."""
WORDS = {"parameters": "a parameter", "network": "the network", "cables": "its cables",
         "default": "nobody: the default"}
"""Who says a rate, in words."""


def entries(saved: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Each rate that something used on a network, once."""
    known = []
    for record, bill in found_by("cost", saved):
        if "rate_source" in bill:
            rate = bill["link_gbps"]
            known.append({"network": record["network"], "by": "bill", "lowest_gbps": rate,
                          "highest_gbps": rate, "source": bill["rate_source"]})
    for name, by in SIMULATORS.items():
        for record, found in found_by(name, saved):
            if "source" in (rates := found.get("rates") or {}):
                ends = {key: rates[key] for key in ("lowest_gbps", "highest_gbps", "source")}
                known.append({"network": record["network"], "by": by, **ends})
    yield from (row for place, row in enumerate(known) if row not in known[:place])


def view(page: PageData) -> dict[str, Any] | None:
    """The rates by network, and whether each network has one alone."""
    rows = sorted(page.data["rates"], key=lambda row: page.labels.index(row["network"]))
    if not rows:
        return None
    highest: dict[str, set[float]] = {}
    for row in rows:
        highest.setdefault(row["network"], set()).add(round(row["highest_gbps"], 6))
    several = [network for network, rates in highest.items() if len(rates) > 1]
    shown = [{**row, "rate": rate_said(row), "whose": WORDS.get(row["source"], row["source"])}
             for row in rows]
    is_one = len({(row["rate"], row["whose"]) for row in shown}) == 1
    together: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in shown:
        of = together.setdefault((row["by"], row["rate"], row["whose"]), {**row, "networks": []})
        of["networks"].append(row["network"])
    rows = [{**row, "network": _named(row["networks"], page.labels)} for row in together.values()]
    return {"rows": rows, "apart": few(several), "is_one": is_one}


def _named(networks: Sequence[str], labels: Sequence[str]) -> str:
    """Networks by name, or that these are all of several."""
    return "all" if len(networks) == len(labels) > 1 else few(networks)


SECTION = PageSection(
    name="rates", title="Rates of links", place=105,
    doc="Which rate of links bills and simulators used, and who says it.",
    when="a point has a bill, or packets or messages over its network",
    saved={
        ("records", "[]", "measures", "cost"): SavedBill,
        **{("records", "[]", "measures", name): SavedSimulation for name in SIMULATORS},
    },
    entries=SectionList(key="rates", shape=UsedRate, of=entries, check=check_label), view=view,
)
