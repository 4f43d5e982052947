"""Tables of runs with a column for each network, where the runs of the networks correspond."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

COLUMNS = 6
"""Networks that have a column each, at most: more do not fit a sheet of paper."""


def by_network(
    rows: Sequence[Mapping[str, Any]], networks: Sequence[str],
    key: Callable[[Mapping[str, Any]], tuple[Any, ...]],
    value: Callable[[Mapping[str, Any]], float | None],
) -> list[dict[str, Any]] | None:
    """A row for each key: ``keys``, ``cells``, a row of ``rows`` or None for each network, and
    ``best``, the place of the least ``value``, None where there is none or all are alike.

    None where there are too many networks, or two rows of a network have one key.
    """
    if not 1 < len(networks) <= COLUMNS:
        return None
    found: dict[tuple[Any, ...], dict[str, Mapping[str, Any]]] = {}
    for row in rows:
        of = found.setdefault(key(row), {})
        if row["network"] in of:
            return None
        of[row["network"]] = row
    out = []
    for keys, of in found.items():
        values = [value(of[name]) if name in of else None for name in networks]
        known = sorted(one for one in values if one is not None)
        clear = len(known) > 1 and known[1] > 1.01 * known[0]
        out.append({"keys": keys, "cells": [of.get(name) for name in networks],
                    "best": values.index(known[0]) if clear else None})
    return out


def time_unit(times_ns: Sequence[float | None]) -> tuple[str, float]:
    """The unit in which times are read best, and its length in ns: that of the median."""
    known = sorted(time for time in times_ns if time)
    middle = known[len(known) // 2] if known else 0.0
    if middle < 1e4:
        return "ns", 1.0
    return ("µs", 1e3) if middle < 1e7 else ("ms", 1e6)
