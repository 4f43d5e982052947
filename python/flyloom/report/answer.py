"""What a report of several networks opens with: which is better for what, and by how much.

Figures of points that ask for the same on several networks are compared; points differ in what
varies on one network (a selection, a size), whatever else the networks were given. Nothing is
known here of any one experiment: which figures there are follows from what its points measured,
and each section of the report knows its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from flyloom.report.base import ComparedFigure
from flyloom.report.figure import HIGHER, LOWER, number
from flyloom.support.amounts import dollars

ALIKE = 0.01
"""Figures that differ by a smaller part are alike: simulations draw at random."""
MOST, COLUMNS, STRONGEST = 30, 5, 4
"""Rows of the short table, networks that have a column each, figures that a sentence names."""


def answer(networks: Sequence[str], figures: Iterable[ComparedFigure]) -> dict[str, Any] | None:
    """The opening of a report: ``heads`` and ``rows`` of the table, ``rest``, the rows that are too
    many, and ``leads``, which network is ahead in how many of the figures. None where there is no
    figure to judge by, in common to two networks where there are several."""
    several = len(networks) > 1
    found = [figure for figure in figures if _worth(figure, 2 if several else 1)]
    if not any(figure.better for figure in found):
        return None
    rows = [_row(figure, networks) if several else _single(figure) for figure in found]
    many = len(networks) > COLUMNS
    return {
        "heads": ["Best", "Next", "Last"] if many else networks,
        "rows": rows[:MOST], "rest": rows[MOST:], "many": many,
        "leads": _leads(found, networks) if several else [],
    }


def _worth(figure: ComparedFigure, least: int) -> bool:
    """Whether there is something to show: of this number of networks, and not only zeros."""
    return len(figure.values) >= least and any(any(row) for row in figure.values.values())


# --- the table -----------------------------------------------------------------------------------


def _row(figure: ComparedFigure, networks: Sequence[str]) -> dict[str, Any]:
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


def _single(figure: ComparedFigure) -> dict[str, Any]:
    """A row of the table of a single network."""
    (name, _), = figure.values.items()
    return {"what": figure.what, "unit": figure.unit, "cells": [_cell(figure, name)], "best": None,
            "place": None, "verdict": ""}


def ranked(figure: ComparedFigure) -> list[str]:
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


def _clear(figure: ComparedFigure, order: Sequence[str]) -> bool:
    """Whether the first network is nowhere behind another, and somewhere ahead."""
    ahead = [lead(figure, place) for place in range(len(figure.values[order[0]]))]
    return all(name in (order[0], None) for name, _ in ahead) and any(name for name, _ in ahead)


def clear_lead(figure: ComparedFigure) -> str | None:
    """The network that is nowhere behind another and somewhere ahead, if there is one."""
    order = ranked(figure) if figure.better else []
    return order[0] if order and _clear(figure, order) else None


def lead(figure: ComparedFigure, place: int) -> tuple[str | None, float]:
    """The best network at a place (None if the best two are alike), and by which factor it
    leads."""
    sign = -1 if figure.better == HIGHER else 1
    order = sorted(figure.values, key=lambda name: sign * figure.values[name][place])
    first, second = (figure.values[name][place] for name in order[:2])
    small, large = sorted((first, second))
    factor = large / small if small > 0 else float("inf") if large > 0 else 1.0
    return (order[0] if factor > 1 + ALIKE else None), factor


def margin(figure: ComparedFigure, factor: float) -> str:
    """In words, by how much the best network is better."""
    if figure.better == LOWER:
        return f"{100 - 100 / factor:.0f} % less" if factor < float("inf") else "none at all"
    if factor == float("inf"):
        return "the others have none"
    return f"{100 * (factor - 1):.0f} % more" if factor < 2 else f"{factor:.1f} times as much"


def leaders(figure: ComparedFigure) -> list[str]:
    """The networks that are alike with the best at the first place, the best first."""
    order = ranked(figure)
    best = figure.values[order[0]]
    return [name for name in order if name == order[0] or lead(ComparedFigure(
        figure.what, figure.unit, figure.better, {"best": best, "other": figure.values[name]},
    ), 0)[0] is None]


def verdict(figure: ComparedFigure) -> str:
    """Which network is better, and by how much."""
    if not figure.better:
        return ""
    found = [lead(figure, place) for place in range(len(next(iter(figure.values.values()))))]
    names = list(dict.fromkeys(name for name, _ in found if name is not None))
    if not names:
        first = leaders(figure)
        if len(found) > 1 or len(first) == len(figure.values):
            return "alike"
        return f"{', '.join(first[:-1])} and {first[-1]}, alike"
    if len(found) == 1:
        (name, factor), = found
        than = f" than {ranked(figure)[1]}" if len(figure.values) > 2 else ""
        least = "at least " if name in figure.at_least else ""
        return f"{name}, {least}{margin(figure, factor)}{than}"
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


def _leads(found: Sequence[ComparedFigure], networks: Sequence[str]) -> list[dict[str, Any]]:
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


def _cell(figure: ComparedFigure, name: str) -> str:
    row = figure.values[name]
    said = dollars if figure.unit == "US$" and max(row) >= 1e6 else number
    words = said(row[0]) if len(row) == 1 else f"{said(row[0])} to {said(row[-1])}"
    words = f"at least {words}" if name in figure.at_least else words
    return f"{words} ({figure.notes[name]})" if name in figure.notes else words
