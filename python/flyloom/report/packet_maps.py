"""Heat maps of links under packets: the part of the time that each was busy, plane by plane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flyloom.report import axis, packets, simulated
from flyloom.report.base import cabled

UNIT = "of the time"
"""The unit of utilisation."""


def planes(
    links: Mapping[str, Any],
    names: Sequence[str],
    groups: Sequence[object] | None,
    floor: Mapping[str, Any] | None,
    switches: int,
    *,
    order: Sequence[int] | None = None,
) -> dict[str, dict[str, str]]:
    """The ``links`` of a point on the matrix and, where there are racks, on the floor: SVG by
    title, by the name of the plane, which is empty where there is one plane alone. Rows are in
    this ``order``, else by the groups."""
    numbers = sorted(set(links["plane"]))
    if len(numbers) < 2:
        return {"": simulated.heat_maps(links, names, groups, floor, switches, UNIT,
                                        order=order)}
    out = {}
    for number in numbers:
        inside = [i for i, plane in enumerate(links["plane"]) if plane == number]
        of_it = {key: [links[key][i] for i in inside] for key in ("from", "to", "use")}
        ends = {*of_it["from"], *of_it["to"]}
        kept = [switch for switch, name in enumerate(names) if name in ends]
        out[f"plane {number}"] = simulated.heat_maps(
            of_it, [names[switch] for switch in kept],
            [groups[switch] for switch in kept] if groups else None,
            _floor(floor, kept) if floor else None, len(kept), UNIT,
            order=_kept_order(order, kept) if order else None,
        )
    return out


def _kept_order(order: Sequence[int], kept: Sequence[int]) -> list[int]:
    """The switches ``kept`` in this order, numbered anew."""
    number = {switch: place for place, switch in enumerate(kept)}
    return [number[switch] for switch in order if switch in number]


def _floor(floor: Mapping[str, Any], kept: Sequence[int]) -> dict[str, Any]:
    """The floor with the switches ``kept`` alone, numbered anew; racks stay where they are."""
    number = {switch: place for place, switch in enumerate(kept)}
    racks = [
        {**rack, "switches": [{**switch, "id": number[switch["id"]]}
                              for switch in rack["switches"] if switch["id"] in number]}
        for rack in floor["racks"]
    ]
    return {**floor, "racks": racks}


def heat(
    simulations: Sequence[Mapping[str, Any]], networks: Sequence[Mapping[str, Any]]
) -> tuple[list[dict[str, Any]], int]:
    """Heat maps of curves whose points have ``links``, ``label`` and ``drawings`` each, a plane at
    a time and at most :data:`simulated.MAPS`; and how many there would be without that bound.

    Of a curve the point of the highest load is shown, of traces that of the highest value of the
    axis.
    """
    by_label = {network["label"]: network for network in networks}
    labels = list(by_label)
    out: list[dict[str, Any]] = []
    count = 0
    for label, network, links in [*_loaded(simulations, labels), *_traced(simulations, labels)]:
        of_it = by_label[network]
        count += len(set(links["plane"])) or 1
        if len(out) >= simulated.MAPS:
            continue
        maps = planes(
            links, of_it["switch_names"], of_it["switch_groups"], of_it["floor"], cabled(of_it)
        )
        out += [
            {"label": f"{label}, {plane}" if plane else label, "drawings": drawings}
            for plane, drawings in maps.items()
        ]
    return out[:simulated.MAPS], count


_Found = list[tuple[str, str, Mapping[str, Any]]]
"""Titles of maps, with their networks and links."""


def _loaded(simulations: Sequence[Mapping[str, Any]], labels: Sequence[str]) -> _Found:
    out = []
    for curve in packets.curves(simulations, labels):
        known = [point for point in curve["points"] if point["links"]]
        if known:
            point = shown(known)
            label = f"{curve['label']}, load {point['offered_load']:g}"
            out.append((label, curve["network"], point["links"]))
    return out


def shown(points: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The point of the highest load among those that end; of all points where none ends."""
    good = [point for point in points if not point["deadlocked"]]
    return max(good or points, key=lambda point: point["offered_load"] or 0)


def _traced(simulations: Sequence[Mapping[str, Any]], labels: Sequence[str]) -> _Found:
    traced = [s for s in simulations if s["jobs"]]
    best: dict[str, Mapping[str, Any]] = {}
    for row in axis.rows(traced, labels, packets.REPEATED):
        if not row["points"] or not row["points"][0]["links"]:
            continue
        before = best.get(row["curve"])
        if before is None or (row["at"] or 0) > (before["at"] or 0):
            best[row["curve"]] = row
    return [
        (packets.called(row), row["network"], row["points"][0]["links"]) for row in best.values()
    ]
