"""The verdict of a report in plain words: what is cheaper, carries more, is free of deadlock, and
what was not asked.

Figures come with a topic (:data:`TOPICS`) from the sections that know them; nothing is known here
of any one experiment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flyloom.draw.svg import plural
from flyloom.report.answer import clear_lead, lead, leaders, margin, ranked, verdict
from flyloom.report.base import ComparedFigure, PageData
from flyloom.report.figure import RATE, number
from flyloom.report.words import few
from flyloom.support.amounts import dollars


@dataclass(frozen=True)
class Topic:
    """A question that somebody who chooses a network asks."""

    head: str
    """What stands before its sentences."""
    verb: str
    """What a network does, before the figure."""
    after: str
    """What follows the figure."""
    best: str
    """What is said of the network that is ahead; ``{of}`` is what the figure is of."""
    missing: str
    """What a report without it does not say, and how to ask."""


TOPICS = {
    "price": Topic("Cost", "costs", "an endpoint", "costs least{of}",
                   "what a network costs (cost)"),
    "power": Topic("Power", "draws", "an endpoint", "draws least power{of}", ""),
    "traffic": Topic("Traffic", "carries", "", "carries most{of}", ""),
    "pairs": Topic("Random pairs", "carries", "of the rate when half of the endpoints send to the"
                   " other half at random", "carries most between random pairs", ""),
    "programs": Topic("Programs", "takes", "", "is fastest in {of}",
                      "how long programs take (sim.message, or sim.packet with a workload)"),
    "failures": Topic("Failures", "stays in one piece until", "of its links have failed at random",
                      "survives most failures{of}", "what failed links do (resilience)"),
}
"""The questions, by the ``topic`` of figures, in the order of the page."""
AFTER = {RATE: "of the rate", "Gbit/s": "an endpoint"}
"""What follows a unit, where the question says nothing."""
MOST = 4
"""Sentences on a topic, at most; the table has all figures."""


@dataclass(frozen=True)
class Sentence:
    """A sentence in which the network that it is about is emphasised."""

    before: str
    who: str = ""
    after: str = ""


def lines(page: PageData, figures: Iterable[ComparedFigure]) -> list[dict[str, Any]]:
    """The lines of the verdict: ``head``, ``mood`` (``bad`` where something does not hold) and
    ``sentences``."""
    by_topic: dict[str, list[ComparedFigure]] = {}
    for one in figures:
        if one.topic and one.values and any(any(row) for row in one.values.values()):
            by_topic.setdefault(one.topic, []).append(one)
    out = [
        {"head": topic.head, "mood": "plain",
         "sentences": _few([_sentence(topic, one) for one in by_topic[name]])}
        for name, topic in TOPICS.items() if name in by_topic
    ]
    out += _deadlock(page)
    out += _cautions(page)
    missing = [topic.missing for name, topic in TOPICS.items()
               if topic.missing and name not in by_topic]
    if not {"traffic", "pairs"} & set(by_topic):
        missing.insert(0, "what traffic a network carries (sim.flit, sim.packet, ebb)")
    if not page.routings and not page.data["simulations"] and not page.data["packets"]:
        missing.append("whether its routing is free of deadlock (routing)")
    if missing:
        said = f"This experiment does not say {'; '.join(missing)}."
        out.append({"head": "Not asked", "mood": "plain", "sentences": [Sentence(said)]})
    return out


def _few(sentences: Sequence[Sentence]) -> list[Sentence]:
    more = len(sentences) - MOST
    if more <= 0:
        return list(sentences)
    return [*sentences[:MOST], Sentence(f"{more} more in the table below.")]


TILES = {"price": ("Cheapest", "an endpoint"), "traffic": ("Carries most", "")}
"""Topics with a headline of the page: its head, and what its figure is of."""


def tiles(figures: Iterable[ComparedFigure]) -> list[dict[str, str]]:
    """The headlines of money and performance: the best network of the last figure of each topic,
    which of traffic is the worst case where that was asked for."""
    known = [one for one in figures if one.topic in TILES and one.values]
    last = {one.topic: one for one in known}
    out = []
    for topic in TILES:
        if (one := last.get(topic)) is None:
            continue
        head, after = TILES[topic]
        ahead = {clear_lead(each): _of(each) for each in known
                 if each.topic == topic == "price" and len(each.values) > 1}
        if len(ahead) > 1:
            parts = [f"{who or 'alike'} by {of}" for who, of in ahead.items()]
            out.append({"head": head, "mood": "plain", "big": "it depends",
                        "small": f"on the catalogue: {', '.join(parts)}"})
            continue
        name = ranked(one)[0] if len(one.values) > 1 else next(iter(one.values))
        if len(one.values) == 1:
            head = TOPICS[topic].head
        alike = len(one.values) > 1 and lead(one, 0)[0] is None
        who = "alike" if alike else name
        of = f"by {_of(one)}" if topic == "price" and _of(one) else _of(one)
        small = filter(None, (after or AFTER.get(one.unit), who + _note(one, name), of))
        out.append({"head": head, "mood": "plain", "big": _said(one, name),
                    "small": ", ".join(small)})
    return out


def strengths(network: str, figures: Iterable[ComparedFigure]) -> list[str]:
    """What a network is better in than all others, in words."""
    found: dict[str, list[str]] = {}
    for one in figures:
        if one.topic and len(one.values) > 1 and clear_lead(one) == network:
            found.setdefault(one.topic, []).append(_of(one))
    out = []
    for name, topic in TOPICS.items():
        if not (of := found.get(name)):
            continue
        said = " and ".join(filter(None, of)) if len(of) < 3 else f"{len(of)} of the programs" if (
            name == "programs") else ", ".join(filter(None, of))
        before = " by " if name in ("price", "power") else " "
        put = said if name == "programs" else f"{before}{said}" if said else ""
        out.append(topic.best.replace("{of}", put))
    return out


def _of(one: ComparedFigure) -> str:
    """What a figure is of: a traffic, a catalogue, a program."""
    if one.topic == "traffic":
        first, *besides = one.what.split(":")[0].split(", ")
        rest = f" ({', '.join(besides)})" if besides else ""
        return f"{first[:1].lower()}{first[1:]}{rest}"
    if one.topic in ("price", "power"):
        return ", ".join(one.what.split(", ")[1:])
    if one.topic == "programs":
        return one.what.split(":")[0].split(" (")[0].split(",")[0].replace("_", " ")
    return ""


def _sentence(topic: Topic, one: ComparedFigure) -> Sentence:
    """A sentence on a figure: who is ahead, by how much, and who is last."""
    if len(next(iter(one.values.values()))) > 1 or one.topic == "programs":
        return _along(one)
    before = ""
    if of := _of(one):
        before = f"{of[:1].upper()}{of[1:]}: " if one.topic == "traffic" else f"By {of}, "

    def said(name: str) -> str:
        after = topic.after or AFTER.get(one.unit, "")
        return " ".join(filter(None, (_said(one, name), after))) + _note(one, name)

    if len(one.values) == 1:
        (name, _), = one.values.items()
        return Sentence(before, name, f" {topic.verb} {said(name)}.")
    order = ranked(one)
    first, second = order[:2]
    ahead, factor = lead(one, 0)
    ends = f"; last is {order[-1]} ({_said(one, order[-1])}{_comma_note(one, order[-1])})"
    if ahead is None:
        alike = leaders(one)
        return Sentence(
            before, " and ".join(alike), f" are alike: {first} {topic.verb} {said(first)}"
            + (f"{ends}." if len(alike) < len(order) else "."))
    by = margin(one, factor)
    joined = f"{by} {'than' if by.endswith((' less', ' more')) else 'as'} {second}"
    return Sentence(
        before, first, f" {topic.verb} {said(first)}, {joined}"
        f" ({_said(one, second)}{_comma_note(one, second)})"
        + (f"{ends}." if len(order) > 2 else "."))


def _along(one: ComparedFigure) -> Sentence:
    """A sentence on a figure of a program, at one place or at several."""
    what = (one.what[:1].upper() + one.what[1:]).replace("_", " ")
    if len(one.values) == 1:
        (name, row), = one.values.items()
        ends = list(dict.fromkeys((_value(one, row[0]), _value(one, row[-1]))))
        return Sentence(f"{what}: ", name, f", {' to '.join(ends)}.")
    return Sentence(f"{what}: ", "", f"{verdict(one)}.")


def _said(one: ComparedFigure, name: str) -> str:
    """The figure of a network with its unit."""
    least = "at least " if name in one.at_least else ""
    return least + _value(one, one.values[name][0])


def _note(one: ComparedFigure, name: str) -> str:
    return f" ({one.notes[name]})" if one.notes.get(name) else ""


def _comma_note(one: ComparedFigure, name: str) -> str:
    return f", {one.notes[name]}" if one.notes.get(name) else ""


def _value(one: ComparedFigure, value: float) -> str:
    """A value with its unit."""
    if one.unit == "US$":
        return dollars(float(f"{value:.4g}"))
    if one.unit in (RATE, "%"):
        return f"{number(value)} %"
    return f"{number(value)} {one.unit}".strip()


# --- what is proved, and what to mind ------------------------------------------------------------


def _deadlock(page: PageData) -> list[dict[str, Any]]:
    """A line on the proofs of the tables, where there are any."""
    judged = [routing for routing in page.routings if routing["verdicts"]]
    if not judged:
        return []
    good = [routing for routing in judged if routing["verified"]]
    bad = [routing for routing in judged if not routing["verified"]]
    sentences = []
    if good:
        sentences.append(
            f"Proven: every route arrives and no packets can wait for one another in a cycle, with"
            f" {_listed(page, good)}.")
    for routing in bad[:MOST]:
        on = f" on {routing['network']}" if page.several else ""
        reasons = [f"not {verdict['name']} ({verdict['witness']})" if verdict["witness"]
                   else f"not {verdict['name']}"
                   for verdict in routing["verdicts"] if not verdict["holds"]]
        name = routing["called"] or routing["label"]
        sentences.append(f"Not with {name}{on}: {', '.join(reasons) or 'not proven'}.")
    if len(bad) > MOST:
        sentences.append(f"Not with {len(bad) - MOST} more, in the table of proofs.")
    return [{"head": "Deadlock", "mood": "bad" if bad else "good",
             "sentences": [Sentence(said) for said in sentences]}]


def _listed(page: PageData, routings: Sequence[Mapping[str, Any]]) -> str:
    """Routings by name, with their networks."""
    if not page.several:
        return few(dict.fromkeys(one["called"] or one["label"] for one in routings))
    by_name: dict[str, list[str]] = {}
    for one in routings:
        on = by_name.setdefault(one["called"] or one["label"], [])
        if one["network"] not in on:
            on.append(one["network"])
    return few(
        f"{name} on {'all networks' if len(on) == len(page.labels) > 2 else ' and '.join(on)}"
        for name, on in by_name.items())


def _cautions(page: PageData) -> list[dict[str, Any]]:
    """A line on what a reader must know before trusting a comparison."""
    said = []
    ends = {network["label"]: network["structure"]["endpoints"] for network in page.networks}
    if len(set(ends.values())) > 1 and min(ends.values()) > 0:
        sizes = ", ".join(f"{name} {count:,}" for name, count in ends.items())
        said.append("The networks do not have the same number of endpoints"
                    + (f": {sizes}." if len(ends) <= 6 else "."))
    highest: dict[str, set[float]] = {}
    for row in page.data["rates"]:
        highest.setdefault(row["network"], set()).add(round(row["highest_gbps"], 1))
    apart = [name for name, rates in highest.items() if len(rates) > 1]
    if apart:
        every = sorted(set().union(*highest.values()))
        said.append(f"Prices and simulations are not at one rate of links ("
                    f"{', '.join(f'{rate:g}' for rate in every)} Gbit/s).")
    stuck = sum(point["deadlocked"] for run in [*page.data["simulations"], *page.data["packets"]]
                for point in run["points"])
    if stuck:
        said.append(f"In {plural(stuck, 'simulated point')} packets waited for one another in a"
                    " cycle.")
    if page.data["skipped"]:
        said.append(f"{plural(len(page.data['skipped']), 'part')} of the experiment"
                    f" {'was' if len(page.data['skipped']) == 1 else 'were'} not done; the reasons"
                    " stand below.")
    return [{"head": "Mind", "mood": "plain", "sentences": [Sentence(one) for one in said]}
            ] if said else []
