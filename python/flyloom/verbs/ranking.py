"""Ranks of networks in a table: in the order of a column, with what speaks for each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from flyloom._core import RefusalError
from flyloom.support.checks import whole
from flyloom.support.refused import hint
from flyloom.support.words import csv_text

Figures = Sequence[tuple[str, bool]]
"""Keys of figures, and whether more is better."""

MORE_IS_BETTER = frozenset({
    "endpoints", "moore_fraction", "bisection_low", "bisection_high", "relative_bisection",
    "uniform_saturation", "spectral_gap", "disconnected", "diameter_grows", "mean_grows", "pareto",
    "full_bandwidth_concentration", "best_in",
})
"""Columns of which the largest value comes first."""


def ranked(
    rows: list[dict[str, Any]],
    columns: Sequence[tuple[str, str, str]],
    sort: str | None,
    top: int | None,
) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows in the order of a column, the best first, each with its ``rank``, from 1.

    ``sort`` is the key or the heading of one of the ``columns`` (key, heading, meaning); when None
    ``cost_usd_per_endpoint`` where some row has one, else ``diameter``, then ``endpoints``, most
    first. Rows without the figure come last; ties go by endpoints, most first, ports of the switch
    and name. Only the ``top`` first are kept where that is given. Also the keys that they are
    sorted by. RefusalError for a column that is none, or ``top`` below 1.
    """
    if top is not None:
        top = whole("top", top, 1, 1 << 40)
    keys = ["cost_usd_per_endpoint"]
    if sort is not None:
        named = [key for key, heading, _ in columns if sort.casefold() in (key, heading.casefold())]
        if not named:
            there = [key for key, _, _ in columns]
            names = hint(sort, there) + ", ".join(there)
            raise RefusalError(f"sort: there is no column '{sort}'; {names}")
        keys = [named[0]]
    elif all(row.get(keys[0]) is None for row in rows):
        keys = ["diameter", "endpoints"]
    # each sort keeps the order of the one before: the last one counts most
    found = sorted(rows, key=lambda row: (str(row["network"]), row.get("switch_ports") or 0))
    for key in ["endpoints", *reversed(keys)]:
        known = [row for row in found if row.get(key) is not None]
        known.sort(key=lambda row: _value(row[key]), reverse=key in MORE_IS_BETTER)
        found = known + [row for row in found if row.get(key) is None]
    found = [{"rank": place, **row} for place, row in enumerate(found, 1)]
    return found[:top], keys


def _value(value: Any) -> Any:
    """What a cell is sorted by: an interval by its far end, then its near end."""
    return tuple(reversed(value)) if isinstance(value, list | tuple) else value


def marks(row: Mapping[str, Any], figures: Figures) -> list[float] | None:
    """The figures of a row, less being better in each; None where it lacks one."""
    found = []
    for key, more in figures:
        value = row.get(key)
        if isinstance(value, list | tuple):
            value = value[1]
        if value is None:
            return None
        found.append(-value if more else value)
    return found


def front(rows: Sequence[Mapping[str, Any]], figures: Figures) -> list[bool | None]:
    """Which rows no other row dominates; None for rows that lack one of the figures.

    A row dominates another when it is at least as good in each figure and better in one; an
    interval counts as its far end. O(rows^2).
    """
    all_marks = [marks(row, figures) for row in rows]

    def dominated(mine: list[float]) -> bool:
        return any(
            other is not None and other != mine
            and all(a <= b for a, b in zip(other, mine, strict=True))
            for other in all_marks
        )

    return [None if mine is None else not dominated(mine) for mine in all_marks]


def judge(rows: Sequence[dict[str, Any]], figures: Figures) -> None:
    """Gives each row ``pareto``, whether it is on the :func:`front`, and ``best_in``: the figures
    in which no other row is better, as keys. Where there are prices, a figure that no row has, as
    the power by a catalogue without it, is left out."""
    has = {figure: any(marks(row, [figure]) for row in rows) for figure in figures}
    if figures and has[figures[0]]:
        figures = [figure for figure in figures if has[figure]]
    best: dict[str, float] = {}
    for figure in figures:
        known = [found[0] for row in rows if (found := marks(row, [figure]))]
        if known:
            best[figure[0]] = min(known)
    for row, on_front in zip(rows, front(rows, figures), strict=True):
        row["pareto"] = on_front
        row["best_in"] = [
            figure[0] for figure in figures
            if (found := marks(row, [figure])) and found[0] == best[figure[0]]
        ]


def rows_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as CSV with a header, a column a key; intervals as two, with ``_low`` and ``_high`` at
    the end of their names, words of a list with spaces between, parameters as JSON."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    pairs = {key for key in keys if any(_is_interval(row.get(key)) for row in rows)}
    pairs |= {key for key in keys if key.endswith("_interval")}
    flat = []
    for row in rows:
        line: dict[str, Any] = {}
        for key in keys:
            value = row.get(key)
            if key in pairs:
                line[f"{key}_low"], line[f"{key}_high"] = value or (None, None)
            elif isinstance(value, Mapping):
                line[key] = json.dumps(dict(value))
            else:
                line[key] = " ".join(value) if isinstance(value, list | tuple) else value
        flat.append(line)
    header = list(flat[0]) if flat else ["network"]
    return csv_text(header, [list(line.values()) for line in flat])


def _is_interval(value: Any) -> bool:
    return (isinstance(value, list | tuple) and len(value) == 2
            and all(isinstance(end, int | float) for end in value))
