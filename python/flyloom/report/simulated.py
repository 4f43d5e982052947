"""The simulations of a report: which of them are points of one curve, and what it is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flyloom import draw
from flyloom._core import Topology
from flyloom.draw.floor import DRAWN_COLUMNS, DRAWN_ROWS, floor_data
from flyloom.draw.heat import FLITS
from flyloom.report import flit
from flyloom.report.base import cabled
from flyloom.report.panels import tints_of
from flyloom.report.picture import Picture
from flyloom.support.words import selection_name

DISTRIBUTIONS = 12
"""Curves whose distributions are drawn, at most."""
MAPS = 6
"""Curves that have heat maps, at most."""
APART = ("load",)
"""Parameters in which the points of a curve differ."""


def curves(
    simulations: Sequence[Mapping[str, Any]], networks: Sequence[str]
) -> list[dict[str, Any]]:
    """Curves of simulations that differ in load alone: ``label``, ``words`` (what the label says,
    by what it is of), ``network``, ``points`` by load, and ``saturation_throughput`` where one of
    them knows it.

    A label says what differs between curves: the network where there are several ``networks``, the
    routing, traffic, and parameters that differ on one network, by the last part of their names
    where that is enough.
    """
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for simulation in simulations:
        of = {key: selection_name(v) if key == "selection" else str(v)
              for key, v in simulation["parameters"].items() if key not in APART}
        key = (simulation["network"], simulation["label"], tuple(sorted(of.items())))
        curve = found.setdefault(key, {
            "network": simulation["network"], "routing": simulation["label"], "of": of,
            "points": [], "saturation_throughput": None,
        })
        curve["points"] += simulation["points"]
        if simulation.get("saturation_throughput") is not None:
            curve["saturation_throughput"] = simulation["saturation_throughput"]
    made = list(found.values())
    differ = differing(made)
    routings = {curve["routing"] for curve in made}
    for curve in made:
        curve["points"].sort(key=lambda point: point["offered_load"])
        words = {"network": curve["network"]} if len(networks) > 1 else {}
        if len(routings) > 1 or not (words or differ):
            words["routing"] = curve["routing"]
        words |= {
            key: f"{name} {curve['of'].get(key, '–')}".strip() for key, name in differ.items()
            if curve["of"].get(key) != curve["routing"]
        }
        curve["words"], curve["label"] = words, ", ".join(words.values())
    return made


SAID = ("selection", "traffic", "workload", "job")
"""Parameters whose values say by themselves what they are."""


def differing(made: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The parameters that tell curves of one network apart: their names, each with the word for it
    in a label. That is empty where the value says it all, else the last part of the name where no
    other name ends in it."""
    keys = list(dict.fromkeys(key for curve in made for key in curve["of"]))

    def values(key: str, network: str) -> set[str | None]:
        of_it = [curve["of"] for curve in made if key in SAID or curve["network"] == network]
        return {of.get(key) for of in of_it}

    networks = dict.fromkeys(curve["network"] for curve in made)
    differ = [key for key in keys if any(len(values(key, name)) > 1 for name in networks)]
    ends = [key.rsplit(".", 1)[-1] for key in differ]
    return {
        key: "" if key in SAID else end if ends.count(end) == 1 else key
        for key, end in zip(differ, ends, strict=True)
    }


def rows(made: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A row a curve: ``label``, ``low`` (its lowest load), ``high`` (the highest that is neither
    saturated nor deadlocked, or None), ``saturation_throughput`` and all ``points``."""
    out = []
    for curve in made:
        good = [p for p in curve["points"] if not p["saturated"] and not p["deadlocked"]]
        out.append({
            "label": curve["label"], "low": curve["points"][0] if curve["points"] else None,
            "high": good[-1] if good else None, "points": curve["points"],
            "saturation_throughput": curve["saturation_throughput"],
        })
    return out


def distributions(made: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The chart of latencies and hops, at each curve's highest unsaturated load."""
    shown = [
        {"label": curve["label"], "point": point, "colour": tint}
        for curve, tint in zip(made[:DISTRIBUTIONS], tints_of(made), strict=False)
        if (point := flit.highest_unsaturated(curve["points"]))
    ]
    return flit.distributions_spec(shown)


def heat(
    made: Sequence[Mapping[str, Any]], networks: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Heat maps of curves whose points have ``links``: ``label``, ``load``, ``drawings``."""
    by_label = {network["label"]: network for network in networks}
    out: list[dict[str, Any]] = []
    for curve in made:
        known = [point for point in curve["points"] if point["links"]]
        point = flit.highest_unsaturated(known)
        if point is None or len(out) == MAPS:
            continue
        network = by_label[curve["network"]]
        drawings = heat_maps(
            point["links"], network["switch_names"], network["switch_groups"], network["floor"],
            cabled(network),
        )
        out.append({"label": curve["label"], "load": point["offered_load"], "drawings": drawings})
    return out


MATRIX = "From switch to switch"
FLOOR = "Between racks, and inside them (bars): the busiest channel"


def picture_of(
    found: Mapping[str, Any], topology: Callable[[], Topology] | None,
    spec: Callable[..., Mapping[str, Any]],
    page: Callable[[Mapping[str, Any], Any], str],
    drawings: Callable[[Mapping[str, Any], Topology], Mapping[str, Any]],
) -> Picture:
    """The picture of a simulation: its chart, ``spec``, which is ``narrow`` in a PDF, and its
    ``page``, with the ``drawings`` of a single run that says how busy its links were on the network
    that ``topology`` gives."""
    busy = any(point.get("links") for point in found.get("points", ()))
    return Picture(
        lambda: spec(found), lambda: spec(found, narrow=True),
        lambda: page(found, drawings(found, topology()) if topology and busy else {}),
        wide=lambda width_pt: spec(found, width_pt=width_pt),
    )


def map_rows(topology: Topology) -> dict[str, Any]:
    """What orders the rows of a heat map of a network: ``groups``, the ``floor``, and of a tree the
    ``order`` by its levels, which are the groups then.

    A network that was read from a file has no floor: where its switches stand is not known.
    """
    levels, names = topology.tree_levels(), topology.switch_names
    floor = None if topology.promise() is None else floor_data(topology.plan(), names)
    groups: list[Any] = topology.groups.tolist()
    if levels is None:
        return {"groups": groups or None, "floor": floor, "order": None}
    order = sorted(range(len(levels)), key=lambda s: (levels[s], groups[s] if groups else 0, s))
    return {"groups": [f"level {level}" for level in levels], "floor": floor, "order": order}


def heat_maps(
    links: Mapping[str, Any],
    names: Sequence[str],
    groups: Sequence[object] | None,
    floor: Mapping[str, Any] | None,
    switches: int,
    unit: str = FLITS,
    *,
    order: Sequence[int] | None = None,
) -> dict[str, str]:
    """The ``links`` of a point on the matrix and, where there are racks, on the floor: SVG by
    title. Rows are in this ``order``, else by the groups. A floor of more racks than can be read
    is not drawn."""
    known = channels(links, names)
    placed = floor if floor and floor["racks"] else None
    drawings = {MATRIX: draw.heat_matrix_svg(
        known, switches, switch_groups=groups, switch_names=names, order=order, unit=unit,
    )}
    if placed and len(placed["racks"]) <= DRAWN_COLUMNS * DRAWN_ROWS:
        drawings[FLOOR] = draw.heat_floor_svg(placed, known, unit=unit)
    return drawings


def channels(links: Mapping[str, Any], names: Sequence[str]) -> list[tuple[int, int, float]]:
    """The ``links`` of a point as the heat maps of :mod:`flyloom.draw` take them."""
    number = {name: i for i, name in enumerate(names)}
    columns = (links["from"], links["to"], links["use"])
    return [(number[a], number[b], used) for a, b, used in zip(*columns, strict=True)]
