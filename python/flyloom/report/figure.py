"""Figures that several networks have in common, and how sections of a report find them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from flyloom.report import asked
from flyloom.report.base import ComparedFigure, PageData

LOWER, HIGHER = "lower", "higher"
RATE = "% of rate"
"""The unit of what arrives, as a part of what the link of an endpoint carries."""


def number(value: float) -> str:
    """A figure with three digits, or with all digits of a whole number."""
    if value == int(value):
        return f"{value:,.0f}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def best_choice(
    what: str, unit: str, better: str, made: Iterable[tuple[str, str, float]], topic: str = ""
) -> ComparedFigure:
    """A figure by the best selection of each network: of each network, selection and value, the
    mean of those that have both in common."""
    values: dict[tuple[str, str], list[float]] = {}
    for network, selection, value in made:
        values.setdefault((network, selection), []).append(value)
    sign, found = (-1 if better == HIGHER else 1), dict[str, tuple[float, str]]()
    for (network, selection), of in values.items():
        mean = sum(of) / len(of)
        if network not in found or sign * mean < sign * found[network][0]:
            found[network] = mean, selection
    return ComparedFigure(what, unit, better, {name: [value] for name, (value, _) in found.items()},
                          notes={name: choice for name, (_, choice) in found.items() if choice},
                          topic=topic)


def of_load(
    curves: Sequence[Mapping[str, Any]], unit: str, most: Callable[[Mapping[str, Any]], float],
    said: str, latency: tuple[str, str],
) -> Iterator[ComparedFigure]:
    """For each traffic of ``curves``, the ``latency`` (unit and key) at the lowest load that all
    networks have, and the ``most`` that arrives (``said`` in words): with the best path selection,
    and with each one that several networks have."""
    runs = [
        {"network": curve["network"], "label": curve["routing"], "parameters": curve["of"],
         "curve": curve}
        for curve in curves if curve["points"]
    ]
    for same in asked.same(runs, besides=("selection", "seed")):
        traffic = f"{same.value('traffic')} traffic".strip().capitalize()
        what = ", ".join([traffic, *same.words(("traffic",))])
        loads = [
            {point["offered_load"]: point[latency[1]] for point in run["curve"]["points"]
             if point[latency[1]] is not None}
            for run in same.runs
        ]
        common = sorted(set.intersection(*map(set, loads)))
        if common:
            yield best_choice(
                f"{what}: latency at load {common[0]:g}", latency[0], LOWER,
                ((run["network"], _selection(run), load[common[0]])
                 for run, load in zip(same.runs, loads, strict=True)),
            )
        groups = asked.same(same.runs, besides=("seed",))
        choices = [{_selection(run) for run in of} for of in same.by_network().values()]
        several = max(map(len, choices)) > 1
        if several:
            best = best_choice(
                f"{what}: {said}, best selection", unit, HIGHER,
                ((run["network"], _selection(run), most(run)) for run in same.runs), "traffic",
            )
            yield replace(best, at_least=[
                run["network"] for run in same.runs
                if _is_open(run) and best.notes.get(run["network"]) == _selection(run)
            ])
        for one in groups:
            chosen = {run["network"]: _selection(run) for run in one.runs}
            alike = len(set(chosen.values())) == 1
            words = f", {_selection(one.runs[0])}" if alike and any(chosen.values()) else ""
            yield ComparedFigure(f"{what}: {said}{words}", unit, HIGHER, one.means(most),
                                 notes={} if alike else chosen,
                                 at_least=[run["network"] for run in one.runs if _is_open(run)],
                                 topic="" if several else "traffic")


def _is_open(run: Mapping[str, Any]) -> bool:
    """Whether the highest load simulated is not saturated, so that more might arrive at others."""
    curve = run["curve"]
    last = max(curve["points"], key=lambda point: point["offered_load"])
    ended = last["deadlocked"] or last.get("saturated") is not False
    return not ended and curve.get("saturation_throughput") is None


def _selection(run: Mapping[str, Any]) -> str:
    return str(run["parameters"].get("selection", ""))


def along(
    runs: Sequence[Mapping[str, Any]], repeated: Sequence[str], unit: str, what: str, factor: float
) -> Iterator[ComparedFigure]:
    """Times, lower better, at the places of the axis that all networks of a figure have."""
    axis = asked.axis(runs, repeated)
    for same in asked.same(runs, besides=(*repeated, *([axis] if axis else []))):
        named = same.called(what)
        places = same.places(axis)
        values = {
            name: [factor * sum(found) / len(found) for found in row]
            for name, row in same.at(axis, places).items()
        }
        if axis and len(places) > 1:
            said = axis.rsplit(".", 1)[-1].replace("_", " ")
            named += f", {said} {number(places[0])} to {number(places[-1])}"
        yield ComparedFigure(named, unit, LOWER, values, places, topic="programs")


def of_level(page: PageData, what: str, level: str) -> str:
    """The words of a figure, with its level where several levels ran workloads."""
    ran = [page.data["messages"], [run for run in page.data["packets"] if run["jobs"]]]
    return f"{what} ({level} level)" if all(ran) else what


def best_proved(
    routings: Sequence[Mapping[str, Any]], what: str, unit: str, better: str,
    value: Callable[[Any], float | None], topic: str = "",
) -> ComparedFigure:
    """A figure by the best verified routing of each network."""
    found: dict[str, tuple[float, str]] = {}
    sign = -1 if better == HIGHER else 1
    for routing in routings:
        one, name = value(routing) if routing["verified"] else None, routing["network"]
        if one is not None and (name not in found or sign * one < sign * found[name][0]):
            found[name] = one, routing["called"] or routing["label"]
    labels = {label for _, label in found.values()}
    notes = {name: label for name, (_, label) in found.items()} if len(labels) > 1 else {}
    return ComparedFigure(what, unit, better, {name: [one] for name, (one, _) in found.items()},
                          notes=notes, topic=topic)
