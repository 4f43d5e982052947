"""Scores of networks by weighted criteria, and what would have to change for another to win."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Criterion:
    """A figure that counts: its key, whether more of it is better, its weight, and what it is."""

    key: str
    more: bool
    weight: float
    words: str


CRITERIA = {
    "cost": Criterion("cost_usd", False, 0.40, "price of the whole network"),
    "power": Criterion("power_w", False, 0.05, "power that it draws"),
    "uniform": Criterion("uniform_minimal", True, 0.15, "uniform traffic that it carries"),
    "worst_case": Criterion("worst_case_adaptive", True, 0.10,
                            "worst-case traffic that it carries, with adaptive routes"),
    "allreduce": Criterion("allreduce_adaptive_ns", False, 0.15, "time of a large allreduce"),
    "latency": Criterion("zero_load_ns", False, 0.05, "time of a first bit across it"),
    "failures": Criterion("kept_5_percent", True, 0.10, "what it carries when links fail"),
}
"""What a network is judged by."""
ALONE = {True: 1.0, False: 230.0}
"""Figures of one switch alone, where there are none: all of a rate; a switch and two cables, ns."""
CAPPED = ("uniform_minimal", "worst_case_adaptive")
"""Figures of which no more than 1, an endpoint's whole rate, is of use."""


def value(row: Mapping[str, Any], criterion: Criterion) -> float | None:
    """The figure of a row that a criterion judges."""
    found = row.get(criterion.key)
    if found is None:
        # a switch alone has no link that could be full, and none that fails
        return ALONE[criterion.more] if row.get("links") == 0 else None
    return min(float(found), 1.0) if criterion.key in CAPPED else float(found)


def scored(
    rows: Sequence[Mapping[str, Any]], weights: Mapping[str, float]
) -> list[dict[str, Any]]:
    """The rows with ``rank``, ``score`` and ``shares``, the best first; of equal ones the cheaper.

    The share of a criterion is (best over the row's figure, or the other quotient where more is
    better) to the power of its weight; a row without the figure, or with 0 of what should be much,
    has the share of one a thousand times worse. A criterion of which no row has a figure, as the
    power by a catalogue without it, has the share 1. The score is the product of the shares.
    """
    shares: list[dict[str, float]] = [{} for _ in rows]
    for name, criterion in CRITERIA.items():
        figures = [value(row, criterion) for row in rows]
        known = [figure for figure in figures if figure is not None and figure > 0]
        best = (max if criterion.more else min)(known, default=1.0)
        for share, figure in zip(shares, figures, strict=True):
            times = 1e-3 if known else 1.0
            if figure is not None and figure > 0:
                times = max(1e-3, figure / best if criterion.more else best / figure)
            share[name] = times ** weights[name]
    found = [
        {"score": math.prod(share.values()), "shares": share, **row}
        for row, share in zip(rows, shares, strict=True)
    ]
    found.sort(key=lambda row: (-row["score"], row["cost_usd"], row["network"]))
    return [{"rank": place, **row} for place, row in enumerate(found, 1)]


def turning_points(
    rows: Sequence[Mapping[str, Any]], weights: Mapping[str, float]
) -> list[dict[str, Any]]:
    """What would have to change for the second to win over the first, a dict for each change.

    ``what`` is ``price`` (the second's price as a part of its own), ``switch_price``,
    ``optical_price`` (times today's, for all networks alike), or a criterion (its weight, the
    others in proportion); ``now`` is the value today, ``at`` that at which both have equal scores,
    or None where no value does it.
    """
    if len(rows) < 2:
        return []
    first, second = rows[0], rows[1]
    ahead = math.log(first["score"] / second["score"])
    found: list[dict[str, Any]] = []
    weight = weights["cost"]
    at = math.exp(-ahead / weight) if weight > 0 else None
    found.append({"what": "price", "now": 1.0, "at": at})
    for what, key in (("switch_price", "switches_usd"), ("optical_price", "optical_usd")):
        found.append({"what": what, "now": 1.0, "at": _factor(first, second, key, ahead, weight)})
    # logarithms of the shares, over the weights: what each criterion says without its weight
    apart = {
        name: math.log(first["shares"][name] / second["shares"][name]) / weights[name]
        for name in weights if weights[name] > 0
    }
    for name, own in apart.items():
        rest = ahead - weights[name] * own
        left = 1.0 - weights[name]
        # w own + (1 - w) rest / left = 0
        slope = own - (rest / left if left > 0 else 0.0)
        at = -(rest / left) / slope if left > 0 and slope else None
        at = at if at is not None and 0.0 <= at <= 1.0 else None
        found.append({"what": name, "now": weights[name], "at": at})
    return found


def _factor(
    first: Mapping[str, Any], second: Mapping[str, Any], key: str, ahead: float, weight: float
) -> float | None:
    """The factor on the prices of one part at which both networks have equal scores: prices p1 and
    p2 with (p1 / p2) ** weight changed by as much as the first is ahead."""
    if weight <= 0:
        return None
    aim = math.exp(ahead / weight) * first["cost_usd"] / second["cost_usd"]
    (a, b), (c, d) = (
        (row["cost_usd"] - row[key], row[key]) for row in (first, second)
    )
    # (a + f b) = aim (c + f d)
    slope = b - aim * d
    factor = (aim * c - a) / slope if slope else None
    return factor if factor is not None and factor > 0 else None
