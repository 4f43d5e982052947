"""Routings in a report: one row a set of tables, with its verdicts and their proofs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, NotRequired, TypedDict

from flyloom.draw.svg import plural
from flyloom.report.base import ComparedFigure, Found, PageData, PageSection, SectionFields, expect
from flyloom.report.figure import LOWER, best_proved
from flyloom.report.shape import Count, also
from flyloom.report.words import few

SOURCES = {"flyloom": "flyloom", "opensm": "OpenSM", "file": "read from file"}


# --- the shape of the data -----------------------------------------------------------------------


class RoutingVerdict(TypedDict):
    """A verdict: whether a property was proved, and the witness."""

    name: Annotated[str, "what was to be proved"]
    holds: Annotated[bool, "whether it holds"]
    witness: NotRequired[Annotated[str, "what proves it, or the contrary"]]


class RoutingProof(TypedDict):
    """The proof about a set of tables."""

    lanes: NotRequired[Annotated[Count, "virtual lanes that they take"]]
    max_hops: NotRequired[Annotated[Count, "links of the longest route"]]
    mean_hops: NotRequired[Annotated[float, "links of a route, in the mean"]]
    verdicts: NotRequired[Annotated[list[RoutingVerdict], "what was proved"]]
    counterexample: NotRequired[Annotated[list[str], "the cycle of channels, a line for each"]]


@also(Any)
class CompletenessVerdict(TypedDict):
    """Whether every route arrives."""

    holds: Annotated[bool, "whether every route arrives"]
    routes: NotRequired[Annotated[Count, "routes that were followed"]]
    counterexample: NotRequired[Annotated[str, "one that does not arrive"]]
    max_hops: NotRequired[Annotated[Count, "links of the longest"]]
    mean_hops: NotRequired[Annotated[float, "links of a route, in the mean"]]


@also(Any)
class DeadlockVerdict(TypedDict):
    """Whether packets can wait for each other in a cycle."""

    holds: Annotated[bool, "whether they cannot"]
    dependencies: NotRequired[Annotated[Count, "dependencies of channels"]]
    rechecked: NotRequired[Annotated[bool, "whether the separate checker says so, too"]]
    cycle: NotRequired[Annotated[list[dict[str, Any]], "a cycle of channels, where there is one"]]
    counterexample: NotRequired[Annotated[list[str], "it in words, a line for each channel"]]


@also(Any)
class SavedRoutingProof(TypedDict):
    """The proof in the results, as `flyloom verify` has it, if the point has tables."""

    holds: Annotated[bool, "whether every verdict holds"]
    complete: Annotated[CompletenessVerdict, "whether every route arrives"]
    deadlock: NotRequired[Annotated[DeadlockVerdict, "whether packets can wait in a cycle"]]


# --- data from the results of a run --------------------------------------------------------------


def of_routing(record: Mapping[str, Any]) -> dict[str, Any]:
    """The proof about the tables of a point."""
    complete, deadlock = record["verify"]["complete"], record["verify"].get("deadlock")
    return {
        "lanes": record.get("lanes"),
        "max_hops": complete.get("max_hops"),
        "mean_hops": complete.get("mean_hops"),
        "verdicts": _verdicts(complete, deadlock),
        "counterexample": (deadlock or {}).get("counterexample"),
    }


def _verdicts(
    complete: Mapping[str, Any], deadlock: Mapping[str, Any] | None
) -> list[dict[str, Any]]:
    arrived = complete.get("counterexample") or f"{complete.get('routes')} routes followed"
    verdicts = [{"name": "every route arrives", "holds": complete["holds"], "witness": arrived}]
    if deadlock is None:
        return verdicts
    if deadlock["holds"]:
        witness = f"channels numbered so that {deadlock['dependencies']} dependencies rise"
        verdicts.append({"name": "deadlock-free", "holds": True, "witness": witness})
        again = "every path walked, numbers rise" if deadlock["rechecked"] else "refused"
        verdicts.append(
            {"name": "separate checker", "holds": deadlock["rechecked"], "witness": again}
        )
    else:
        witness = f"a cycle of {len(deadlock['cycle'])} channels"
        verdicts.append({"name": "deadlock-free", "holds": False, "witness": witness})
    return verdicts


def border(saved: Mapping[str, Any]) -> None:
    """Checks that tables name their source, and that each verdict has its proof."""
    for place, record in enumerate(saved["records"]):
        proof, where = record.get("verify") or {}, f"records[{place}]"
        if proof:
            for key in ("engine", "lmc"):
                expect(record.get(key) is not None, f"{where}.{key}", "what tables are of")
        if deadlock := proof.get("deadlock"):
            wanted = ("dependencies", "rechecked") if deadlock["holds"] else ("cycle",)
            for key in wanted:
                known = deadlock.get(key) is not None
                expect(known, f"{where}.verify.deadlock.{key}", "a value")


# --- the tables and the figures ------------------------------------------------------------------


def view(page: PageData) -> dict[str, Any] | None:
    """All routings, what was not proved of them, and the witnesses of what was."""
    if not page.routings:
        return None
    return {
        "routings": page.routings, "sources": SOURCES,
        "verdict_names": verdict_names(page.routings),
        "broken": [routing for routing in page.routings if _failed(routing)],
    }


def verdict_names(routings: Sequence[Found]) -> list[str]:
    """The names of all verdicts in order of first appearance: the columns of the proof table."""
    return list(dict.fromkeys(v["name"] for r in routings for v in r["verdicts"] or []))


def _failed(routing: Found) -> bool:
    return bool(routing["counterexample"]) or any(
        not verdict["holds"] for verdict in routing["verdicts"] or []
    )


def tiles(page: PageData) -> list[dict[str, str]]:
    """A headline: for how many of the judged routings every verdict holds."""
    judged = [r for r in page.routings if r["verdicts"] or not r["verified"]]
    if not judged:
        return []
    good = [r for r in judged if r["verified"]]
    bad = [r for r in judged if not r["verified"]]
    small = "every verdict holds, with its witness below"
    if bad:
        names = few(dict.fromkeys(r["label"] for r in bad))
        small = f"hold every verdict; not verified, with the reason below: {names}"
    mood = "good" if not bad else "plain" if good else "bad"
    return [{"head": "Proven", "mood": mood, "small": small,
             "big": f"{len(good)} of {plural(len(judged), 'routing')}"}]


def figures(page: PageData) -> Iterator[ComparedFigure]:
    """Figures of the best verified routing of each network."""
    yield best_proved(page.routings, "Mean hops of a route", "hops", LOWER,
                      lambda routing: routing["mean_hops"])
    yield best_proved(page.routings, "Virtual lanes of a proved routing", "", LOWER,
                      lambda routing: routing["lanes"])


SECTION = PageSection(
    name="routing", title="Routing and proof", place=90,
    doc="The tables of each routing, and what was proved of them.",
    when="a point has tables",
    saved={("records", "[]", "verify"): SavedRoutingProof}, border=border,
    of_routing=SectionFields(shape=RoutingProof, of=of_routing),
    view=view, tiles={20: tiles}, figures={51: figures},
)
