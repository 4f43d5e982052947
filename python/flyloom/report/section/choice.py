"""The choice of a network in a report: the answer, and the table of candidates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, NotRequired, TypedDict

from flyloom.report.base import PageData, PageSection, SectionList
from flyloom.report.choice import called, title
from flyloom.report.choice_page import first_page
from flyloom.report.shape import Count, also, fail
from flyloom.support.amounts import dollars


@also(Any)
class ChosenNetwork(TypedDict):
    """A candidate; what more it has, `choose` says in the JSON reference."""

    rank: Annotated[Count, "its place, from 1"]
    network: Annotated[str, "the network, in the inline form"]
    cost_usd: Annotated[float, "its price"]
    score: Annotated[float, "what it is ranked by; 1 is the best in every respect"]


@also(Any)
class SavedChoice(TypedDict):
    """What `[choose]` found."""

    endpoints: Annotated[Count, "endpoints that are needed"]
    candidates: Annotated[list[ChosenNetwork], "the networks, the best first"]
    budget_usd: NotRequired[Annotated[float, "US dollars to spend"]]


class PageChoice(TypedDict):
    """The choice on the page."""

    heading: Annotated[str, "what was to be chosen"]
    called: Annotated[str, "the first network in words"]
    recipe: Annotated[str, "the first network, in the inline form"]
    cost_usd: Annotated[float, "its price"]
    blocks: Annotated[str, "the answer, the table of candidates and the picture, as HTML"]


def entries(saved: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The choice of a run, where it has one."""
    if found := saved.get("choice"):
        best = found["candidates"][0]
        yield {"heading": title(found), "called": called(best), "recipe": best["network"],
               "cost_usd": best["cost_usd"], "blocks": first_page(found)}


def view(page: PageData) -> dict[str, Any] | None:
    """The first page of the choice."""
    from markupsafe import Markup

    if not page.data["choice"]:
        return None
    found = page.data["choice"][0]
    return {"heading": found["heading"], "blocks": Markup(found["blocks"])}


def tiles(page: PageData) -> Iterator[Mapping[str, str]]:
    """The network that was chosen."""
    for found in page.data["choice"]:
        yield {"head": "Chosen", "big": found["called"], "mood": "plain",
               "small": f"{found['recipe']}, {dollars(found['cost_usd'])}"}


def border(saved: Mapping[str, Any]) -> None:
    """ReportError where the pages of the choice cannot be made of it."""
    try:
        list(entries(saved))
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise fail("results.choice", f"not what a choice has: {error!r}",
                   "run the experiment again") from None


SECTION = PageSection(
    name="choice", title="Choice of a network", place=4,
    doc="Which network to choose for a need, and the others that were ranked.",
    when="the experiment has `[choose]`", saved={("choice",): SavedChoice}, border=border,
    entries=SectionList(key="choice", shape=PageChoice, of=entries), view=view, tiles={5: tiles},
)
