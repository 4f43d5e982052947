"""Lines through times against sizes, piece by piece: where a protocol changes, and how each goes.

A piece is a straight line over a range of sizes. Which sizes begin a new piece is found by dynamic
programming over all partitions (Bellman, Roth: Curve fitting by segmented straight lines, J. Amer.
Statist. Assoc. 64, 1969), with a loss that grows no further for outliers (Huber, Ronchetti: Robust
Statistics, 2009, section 4.8) and a price for each piece as of the Bayesian information criterion
(Schwarz, Ann. Statist. 6, 1978; three parameters: a line and its beginning).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LEAST = 3
"""The fewest sizes of a piece."""
MOST = 8
"""The most pieces."""
OUTLIER = 3.0
"""Residuals count up to this number of standard deviations."""
FLOOR = 1e-4
"""The smallest relative deviation that is assumed, since a simulator's samples have none."""
LEAST_VALUE = 1e-3
"""Used for a value that noise has brought to 0 or below; in standard deviations."""
ROUNDS = 12
"""Rounds of reweighting; an L1 fit of lines converges in fewer."""

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class LineSegment:
    """A line over sizes: ``base + slope (size - 1)``, for sizes of places ``begin`` to ``end``."""

    begin: int
    end: int
    base: float
    slope: float

    def at(self, size: float) -> float:
        """The line's value at a size."""
        return self.base + self.slope * (size - 1)


def deviation(sizes: Numbers, values: Numbers) -> float:
    """The relative standard deviation of one value: from how far each is from the line through its
    neighbours, of which the median is taken. At least ``FLOOR``."""
    if len(values) < LEAST + 1:
        return FLOOR
    left, mid, right = sizes[:-2], sizes[1:-1], sizes[2:]
    share = (right - mid) / (right - left)
    between = share * values[:-2] + (1 - share) * values[2:]
    off = np.abs(values[1:-1] - between) / np.maximum(np.abs(values[1:-1]), LEAST_VALUE)
    spread = np.sqrt(1 + share**2 + (1 - share) ** 2)  # how far three values spread
    return max(FLOOR, 1.4826 * float(np.median(off / spread)))


def sigma(sizes: Numbers, values: Numbers) -> Numbers:
    """The standard deviation of each value."""
    return deviation(sizes, values) * np.maximum(np.abs(values), LEAST_VALUE)


def line(sizes: Numbers, values: Numbers, spread: Numbers) -> tuple[float, float]:
    """The line that values lie about, whatever a minority of them does: least absolute residuals
    over ``spread``, by reweighting. A slope below 0 is taken as 0."""
    x = sizes - 1
    weights = 1 / spread**2
    base = slope = 0.0
    for _ in range(ROUNDS):
        total = weights.sum()
        mean_x, mean_y = (weights * x).sum() / total, (weights * values).sum() / total
        over = (weights * (x - mean_x) ** 2).sum()
        before = base, slope
        slope = max(0.0, (weights * (x - mean_x) * (values - mean_y)).sum() / over) if over else 0.0
        base = mean_y - slope * mean_x
        if all(abs(a - b) <= 1e-6 * abs(b) for a, b in zip(before, (base, slope), strict=True)):
            break
        off = np.abs(values - base - slope * x) / spread
        weights = 1 / (spread**2 * np.maximum(off, 1e-6))
    return float(base), float(slope)


def loss(sizes: Numbers, values: Numbers, spread: Numbers, fitted: tuple[float, float]) -> float:
    """Half the sum of squared residuals over ``spread``, each at most that of an outlier."""
    off = (values - fitted[0] - fitted[1] * (sizes - 1)) / spread
    return float(np.minimum(off**2, OUTLIER**2).sum() / 2)


def pieces(
    sizes: Sequence[float] | Numbers, values: Sequence[float] | Numbers
) -> list[LineSegment]:
    """The pieces of a curve. ``sizes`` rise; O(n^2) lines are fitted.

    Raises ``ValueError`` for fewer than ``LEAST`` sizes.
    """
    x, y = np.asarray(sizes, float), np.asarray(values, float)
    count = len(x)
    if count < LEAST:
        raise ValueError(f"{count} sizes; at least {LEAST}")
    spread = sigma(x, y)
    price = 1.5 * np.log(count)
    fits: dict[tuple[int, int], tuple[float, float]] = {}
    cost = np.full((count, count + 1), np.inf)
    for i in range(count):
        for j in range(i + LEAST, count + 1):
            fits[i, j] = line(x[i:j], y[i:j], spread[i:j])
            cost[i, j] = loss(x[i:j], y[i:j], spread[i:j], fits[i, j])
    best = np.full((MOST + 1, count + 1), np.inf)
    best[0, 0] = 0.0
    came = np.zeros((MOST + 1, count + 1), dtype=int)
    for k in range(1, MOST + 1):
        for j in range(LEAST, count + 1):
            found = best[k - 1, :j] + cost[:j, j]
            came[k, j] = int(np.argmin(found))
            best[k, j] = found[came[k, j]]
    k = int(np.argmin(best[1:, count] + price * np.arange(1, MOST + 1))) + 1
    out: list[LineSegment] = []
    j = count
    while k:
        i = int(came[k, j])
        out.append(LineSegment(i, j, *fits[i, j]))
        j, k = i, k - 1
    return out[::-1]
