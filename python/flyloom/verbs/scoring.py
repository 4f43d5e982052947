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
                            "worst-case traffic that it carries with adaptive routes"),
    "allreduce": Criterion("allreduce_adaptive_ns", False, 0.15, "time of a large allreduce"),
    "latency": Criterion("zero_load_ns", False, 0.05, "time of a first bit across it"),
    "failures": Criterion("kept_5_percent", True, 0.10, "traffic that it carries when links fail"),
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
    """What would have to change for another network than the first to win, a dict for each change.

    ``what`` is ``price`` (the second's price as a part of its own), ``switch_price``,
    ``optical_price`` (times today's, for all networks alike), or a criterion (its weight, the
    others in proportion); ``now`` is the value today, ``at`` the nearest at which another network
    has the score of the first, or None where no value does it; ``network``, that other one. Rows
    are those of `scored`, all of them. O(rows).
    """
    if len(rows) < 2:
        return []
    first, others = rows[0], rows[1:]
    weight = weights["cost"]
    ahead = [math.log(first["score"] / row["score"]) for row in others]
    at = math.exp(-ahead[0] / weight) if weight > 0 else None
    found = [_point("price", 1.0, [(others[0]["network"], at)])]
    for what, key in (("switch_price", "switches_usd"), ("optical_price", "optical_usd")):
        found.append(_point(what, 1.0, [
            (row["network"], _factor(first, row, key, by, weight))
            for row, by in zip(others, ahead, strict=True)]))
    for name, now in weights.items():
        if now > 0:
            found.append(_point(name, now, [
                (row["network"], _weight(first, row, name, by, now))
                for row, by in zip(others, ahead, strict=True)]))
    return found


def _point(what: str, now: float, met: Sequence[tuple[str, float | None]]) -> dict[str, Any]:
    """A change, with the network that is met first on the path from today's value."""
    known = [(abs(at - now), place, at, network)
             for place, (network, at) in enumerate(met) if at is not None]
    _, _, at, network = min(known, default=(0.0, 0, None, None))
    return {"what": what, "now": now, "at": at, "network": network}


def _weight(
    first: Mapping[str, Any], row: Mapping[str, Any], name: str, ahead: float, now: float
) -> float | None:
    """The weight of a criterion at which a row has the score of the first, which is ahead by this
    logarithm; the other weights keep their proportions."""
    # the logarithm of the quotient of both shares, over the weight: what the criterion says alone
    own = math.log(first["shares"][name] / row["shares"][name]) / now
    left = 1.0 - now
    if left <= 0:
        return None
    rest = (ahead - now * own) / left
    # w own + (1 - w) rest = 0
    if own == 0.0 or rest == own:
        return None
    at = rest / (rest - own)
    return at if 0.0 <= at < 1.0 else None


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
