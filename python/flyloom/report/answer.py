"""What a report of several networks opens with: which is better for what, and by how much.

Figures of points that ask for the same on several networks are compared; points differ in what
varies on one network (a selection, a size), whatever else the networks were given. Nothing is
known here of any one experiment: which figures there are follows from what its points measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flyloom.report import asked

ALIKE = 0.01
"""Figures that differ by a smaller part are alike: simulations draw at random."""
MOST, COLUMNS, STRONGEST = 30, 5, 4
"""Rows of the short table, networks that have a column each, figures that a sentence names."""
LOWER, HIGHER = "lower", "higher"


@dataclass(frozen=True)
class Figure:
    """A figure of several networks, or the same at several places of an axis."""

    what: str
    unit: str
    better: str
    """``lower``, ``higher``, or empty where neither is."""
    values: Mapping[str, Sequence[float]]
    """By network; as many of each."""
    at: Sequence[Any] = ()
    """The places of the axis, where there are several."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """What is said beside a network's value."""


def answer(
    report: Mapping[str, Any], flits: Sequence[Mapping[str, Any]],
    packets: Sequence[Mapping[str, Any]],
) -> dict[str, Any] | None:
    """The opening of a report: ``heads`` and ``rows`` of the table, ``rest``, the rows that are too
    many, and ``leads``, a sentence for each network that is ahead in something. None where there
    are not two networks with a figure in common. ``flits`` and ``packets`` are the curves of
    simulations against load."""
    networks = [network["label"] for network in report["networks"]]
    if len(networks) < 2:
        return None
    found = [figure for figure in figures(report, flits, packets) if _worth(figure)]
    rows = [_row(figure, networks) for figure in found]
    if not any(figure.better for figure in found):
        return None
    many = len(networks) > COLUMNS
    return {
        "heads": ["Best", "Next", "Last"] if many else networks,
        "rows": rows[:MOST], "rest": rows[MOST:], "leads": _leads(found, networks), "many": many,
    }


def figures(
    report: Mapping[str, Any], flits: Sequence[Mapping[str, Any]],
    packets: Sequence[Mapping[str, Any]],
) -> Iterator[Figure]:
    """All figures that networks have in common."""
    prices = [measure for measure in report["measures"] if measure["name"] == "cost"]
    others = [measure for measure in report["measures"] if measure["name"] != "cost"]
    yield from _sizes(report["networks"])
    yield from _measures(prices)
    yield from _designs(report["networks"])
    yield from _routings(report["routings"])
    yield from _flits(flits)
    yield from _loads(packets)
    yield from _traces(report["packets"])
    yield from _messages(report["messages"])
    yield from _mappings(report["mappings"])
    yield from _measures(others)


def _worth(figure: Figure) -> bool:
    """Whether there is something to compare: two networks, and not nothing everywhere."""
    return len(figure.values) > 1 and any(any(row) for row in figure.values.values())


# --- the table -----------------------------------------------------------------------------------


def _row(figure: Figure, networks: Sequence[str]) -> dict[str, Any]:
    order = ranked(figure)
    best = order[0] if figure.better and _clear(figure, order) else None
    if len(networks) <= COLUMNS:
        cells = [_cell(figure, name) if name in figure.values else "–" for name in networks]
    else:
        shown = list(dict.fromkeys((order[0], order[1], order[-1])))
        cells = [f"{name}: {_cell(figure, name)}" for name in shown]
        cells += ["–"] * (3 - len(cells))
    return {"what": figure.what, "unit": figure.unit, "cells": cells, "best": best,
            "place": None if best is None or len(networks) > COLUMNS else networks.index(best),
            "verdict": verdict(figure)}


def ranked(figure: Figure) -> list[str]:
    """The networks, the best first: by how often, at the places of the axis, none is better, then
    by their figures in the mean."""
    sign = -1 if figure.better == HIGHER else 1
    columns = list(zip(*figure.values.values(), strict=True))
    ends = [min(column, key=lambda value: sign * value) for column in columns]

    def key(name: str) -> tuple[int, float]:
        row = figure.values[name]
        first = [value == end for value, end in zip(row, ends, strict=True)].count(True)
        return -first, sign * sum(row)

    return sorted(figure.values, key=key)


def _clear(figure: Figure, order: Sequence[str]) -> bool:
    """Whether the first is nowhere behind, and somewhere ahead."""
    ahead = [lead(figure, place) for place in range(len(figure.values[order[0]]))]
    return all(name in (order[0], None) for name, _ in ahead) and any(name for name, _ in ahead)


def lead(figure: Figure, place: int) -> tuple[str | None, float]:
    """Who is ahead at a place, None where the best two are alike, and by which factor, from 1."""
    sign = -1 if figure.better == HIGHER else 1
    order = sorted(figure.values, key=lambda name: sign * figure.values[name][place])
    first, second = (figure.values[name][place] for name in order[:2])
    small, large = sorted((first, second))
    factor = large / small if small > 0 else float("inf") if large > 0 else 1.0
    return (order[0] if factor > 1 + ALIKE else None), factor


def margin(figure: Figure, factor: float) -> str:
    """By how much, in words."""
    if figure.better == LOWER:
        return f"{100 - 100 / factor:.0f} % less" if factor < float("inf") else "none at all"
    if factor == float("inf"):
        return "the others have none"
    return f"{100 * (factor - 1):.0f} % more" if factor < 2 else f"{factor:.1f} times as much"


def verdict(figure: Figure) -> str:
    """Which network is better, and by how much."""
    if not figure.better:
        return ""
    found = [lead(figure, place) for place in range(len(next(iter(figure.values.values()))))]
    names = list(dict.fromkeys(name for name, _ in found if name is not None))
    if not names:
        return "alike"
    if len(found) == 1:
        (name, factor), = found
        than = f" than {ranked(figure)[1]}" if len(figure.values) > 2 else ""
        return f"{name}, {margin(figure, factor)}{than}"
    parts = []
    for name in names:
        factors = sorted(factor for other, factor in found if other == name)
        words = margin(figure, factors[-1])
        least = margin(figure, factors[0])
        if words != least:
            unit = " % less" if words.endswith(" % less") else " % more"
            words = f"{least.removesuffix(unit)} to {words}"
        where = "everywhere" if len(factors) == len(found) else f"at {len(factors)} of {len(found)}"
        parts.append(f"{name} {where}, {words}")
    alike = sum(name is None for name, _ in found)
    return "; ".join([*parts, *([f"alike at {alike}"] if alike else [])])


def _leads(found: Sequence[Figure], networks: Sequence[str]) -> list[dict[str, Any]]:
    """For each network the figures in which it is ahead, the clearest first."""
    ahead: dict[str, list[tuple[float, str]]] = {name: [] for name in networks}
    judged = [figure for figure in found if figure.better]
    for figure in judged:
        order = ranked(figure)
        if _clear(figure, order):
            places = range(len(figure.values[order[0]]))
            factor = max(lead(figure, place)[1] for place in places)
            upto = "up to " if len(places) > 1 else ""
            what = figure.what[:1].lower() + figure.what[1:]
            ahead[order[0]].append((factor, f"{what} ({upto}{margin(figure, factor)})"))
    leads = [
        {"network": name, "ahead": len(mine), "of": len(judged),
         "first": [words for _, words in sorted(mine, key=lambda one: -one[0])[:STRONGEST]]}
        for name, mine in ahead.items() if mine
    ]
    return sorted(leads, key=lambda one: len(ahead[str(one["network"])]), reverse=True)[:COLUMNS]


def _cell(figure: Figure, name: str) -> str:
    row = figure.values[name]
    words = number(row[0]) if len(row) == 1 else f"{number(row[0])} to {number(row[-1])}"
    return f"{words} ({figure.notes[name]})" if name in figure.notes else words


def number(value: float) -> str:
    """A figure in as many digits as tell: three, or all of a whole number."""
    if value == int(value):
        return f"{value:,.0f}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


# --- the figures ---------------------------------------------------------------------------------


def _sizes(networks: Sequence[Mapping[str, Any]]) -> Iterator[Figure]:
    for key in ("endpoints", "switches"):
        yield Figure(key.capitalize(), "", "", {
            network["label"]: [network["structure"][key]] for network in networks
        })


def _designs(networks: Sequence[Mapping[str, Any]]) -> Iterator[Figure]:
    for words, unit, key in (
        ("Cables an endpoint", "", "total"), ("Length of cable an endpoint", "m", "length_m"),
    ):
        yield Figure(words, unit, LOWER, {
            network["label"]: [network["cables"][key] / network["structure"]["endpoints"]]
            for network in networks
            if network["cables"] and network["cables"][key] and network["structure"]["endpoints"]
        })
    for words, key in (
        ("Diameter", "diameter"), ("Mean distance of switches with endpoints", "mean_distance"),
    ):
        yield Figure(words, "hops", LOWER, {
            network["label"]: [value] for network in networks
            if (value := network["structure"].get(key)) is not None
        })


OWN = ("map",)
"""Measures that are compared by what they found of processes, below."""
CHOSEN = {
    "cost": {"usd_per_endpoint": "Price an endpoint", "power_w_per_endpoint": "Power an endpoint"},
    "congestion": {"mean_share": "Mean share of the rate that a message gets"},
    "path_diversity": {"mean_disjoint_paths": "Disjoint routes of two switches"},
    "resilience": {
        "removed_until_disconnected": "Links that fail at random until it falls apart",
        "removed_until_diameter": "Links that fail at random until the diameter grows by over 2",
        "removed_until_mean": "Links that fail at random until the mean distance grows by over 1",
    },
}
"""Of measures with many columns those that are compared, and what they are called."""


def _measures(measures: Sequence[Mapping[str, Any]]) -> Iterator[Figure]:
    """The columns of measures that know which direction is better."""
    for measure in measures:
        name = measure["name"]
        if name in OWN or name.startswith("sim."):
            continue
        runs = [{**row, "parameters": row["parameters"] or {}} for row in measure["rows"]]
        for place, column in enumerate(measure["columns"]):
            said = CHOSEN.get(name, {}).get(column["name"])
            if column["better"] not in (LOWER, HIGHER) or (name in CHOSEN and said is None):
                continue
            for same in asked.same(runs):
                values = same.means(_cell_at(place))
                what = said or f"{name}: {column['meaning']}".replace("_", " ")
                yield Figure(", ".join([what, *same.words()]), column["unit"], column["better"],
                             values)


def _cell_at(place: int) -> Callable[[Mapping[str, Any]], Any]:
    return lambda row: row["cells"][place]


def _routings(routings: Sequence[Mapping[str, Any]]) -> Iterator[Figure]:
    """The best of what is proved of each network."""
    proved = [routing for routing in routings if routing["verified"]]

    def best(what: str, unit: str, better: str, value: Callable[[Any], float | None]) -> Figure:
        found: dict[str, tuple[float, str]] = {}
        for routing in proved:
            one, sign = value(routing), -1 if better == HIGHER else 1
            name = routing["network"]
            if one is not None and (name not in found or sign * one < sign * found[name][0]):
                found[name] = one, routing["called"] or routing["label"]
        labels = {label for _, label in found.values()}
        notes = {name: label for name, (_, label) in found.items()} if len(labels) > 1 else {}
        return Figure(what, unit, better, {name: [one] for name, (one, _) in found.items()},
                      notes=notes)

    yield best("Effective bisection bandwidth", "of the injection rate", HIGHER,
               lambda routing: routing["ebb"] and routing["ebb"]["mean"])
    yield best("Mean hops of a route", "hops", LOWER, lambda routing: routing["mean_hops"])
    yield best("Virtual lanes of a proved routing", "", LOWER, lambda routing: routing["lanes"])


def _best_choice(
    what: str, unit: str, better: str, made: Iterable[tuple[str, str, float]]
) -> Figure:
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
    return Figure(what, unit, better, {name: [value] for name, (value, _) in found.items()},
                  notes={name: choice for name, (_, choice) in found.items() if choice})


def _flits(curves: Sequence[Mapping[str, Any]]) -> Iterator[Figure]:
    """Of each traffic the latency at the lowest load that all have, and where each saturates: by
    the best selection, and by each that several networks have."""
    known = all(curve["saturation_throughput"] is not None for curve in curves)

    def most(run: Mapping[str, Any]) -> float:
        """Where a curve saturates; else the most that arrives at any of its loads."""
        curve = run["curve"]
        arrives = (p["accepted_load"] for p in curve["points"] if not p["deadlocked"])
        return float(curve["saturation_throughput"] if known else max(arrives, default=0.0))

    yield from _of_load(curves, "flits a cycle", most,
                        "saturation" if known else "most that arrives",
                        ("cycles", "mean_packet_latency_cycles"))


def _loads(curves: Sequence[Mapping[str, Any]]) -> Iterator[Figure]:
    """The same of packets, of which the most that arrives is known."""
    def most(run: Mapping[str, Any]) -> float:
        return max((p["accepted_gbps"] for p in run["curve"]["points"]
                    if not p["deadlocked"]), default=0.0)

    yield from _of_load(curves, "Gbit/s", most, "most that arrives", ("ns", "mean_latency_ns"))


def _of_load(
    curves: Sequence[Mapping[str, Any]], unit: str, most: Callable[[Mapping[str, Any]], float],
    said: str, latency: tuple[str, str],
) -> Iterator[Figure]:
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
            yield _best_choice(
                f"{what}: latency at load {common[0]:g}", latency[0], LOWER,
                ((run["network"], _selection(run), load[common[0]])
                 for run, load in zip(same.runs, loads, strict=True)),
            )
        groups = asked.same(same.runs, besides=("seed",))
        choices = [{_selection(run) for run in of} for of in same.by_network().values()]
        if any(one != choices[0] for one in choices) and max(map(len, choices)) > 1:
            yield _best_choice(
                f"{what}: {said}, best selection", unit, HIGHER,
                ((run["network"], _selection(run), most(run)) for run in same.runs),
            )
        for one in groups:
            chosen = {run["network"]: _selection(run) for run in one.runs}
            alike = len(set(chosen.values())) == 1
            words = f", {_selection(one.runs[0])}" if alike and any(chosen.values()) else ""
            yield Figure(f"{what}: {said}{words}", unit, HIGHER, one.means(most),
                         notes={} if alike else chosen)


def _selection(run: Mapping[str, Any]) -> str:
    return str(run["parameters"].get("selection", ""))


def _traces(packets: Sequence[Mapping[str, Any]]) -> Iterator[Figure]:
    """The longest time that a process of a trace communicates, along what varies."""
    runs = [
        {"network": run["network"], "label": run["label"], "value": job["max_comm_ns"],
         "parameters": run["parameters"] | {"job": job["name"]}}
        for run in packets if not any(point["deadlocked"] for point in run["points"])
        for job in run["jobs"] or () if job["max_comm_ns"] is not None
    ]
    yield from _along(runs, ("seed",), "us", "{job}: slowest process", 1.0)


def _messages(played: Sequence[Mapping[str, Any]]) -> Iterator[Figure]:
    runs = [{**run, "value": run["finish_ns"]} for run in played]
    yield from _along(runs, ("seed",), "us", "{workload}", 1e-3)


def _along(
    runs: Sequence[Mapping[str, Any]], repeated: Sequence[str], unit: str, what: str, factor: float
) -> Iterator[Figure]:
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
        yield Figure(named, unit, LOWER, values, places)


def _mappings(mappings: Sequence[Mapping[str, Any]]) -> Iterator[Figure]:
    """What the best method of each network gives, and its gain over processes in order."""
    groups: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for run in mappings:
        groups.setdefault((run["graph"] or "rows", run["processes"]), []).append(run)
    for (graph, processes), runs in groups.items():
        what = f"{graph.split()[0].partition(':')[0]} of {processes:,} processes"
        for key, words, unit, scale in (
            ("maximum_congestion", "busiest channel", "MB", 1e-6), ("finish_ns", "time", "us", 1e-3)
        ):
            known = [run for run in runs if run[key] is not None]
            yield _best_choice(f"{what}, mapped: {words}", unit, LOWER, (
                (run["network"], run["method"], scale * run[key]) for run in known))
            linear = {run["network"]: run[key] for run in known if run["method"] == "linear"}
            gains = {
                name: [linear[name] / least] for name in linear
                if (least := min(run[key] for run in known if run["network"] == name)) > 0
            }
            yield Figure(f"{what}: {words} in order, over mapped", "times", "", gains)
