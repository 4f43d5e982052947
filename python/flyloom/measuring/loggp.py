"""LogGP parameters from times of back and forth, by the parametrised round trip time.

PRTT(n, d, s) is how long a client takes to send n messages of s bytes, with a delay d between them,
until one byte comes back that a server sends once it has all. Then

    gap(s)  = (PRTT(n, 0, s) - PRTT(1, 0, s)) / (n - 1)         g + (s - 1) G, where that is longer
                                                                than what a processor needs
    o_s(s)  = (PRTT(n, d, s) - PRTT(1, 0, s)) / (n - 1) - d     with d at least PRTT(1, 0, s)
    o_r(s)  = (elapsed - (n - 1) d) / (n - 1)                   at the server, which waits d before
                                                                it receives, so that all is there
    L       = PRTT(1, 0, 1) / 2 - o_s - o_r

Source: Hoefler, Lichei, Rehm: Low-overhead LogGP parameter assessment for modern interconnection
networks, IPDPS 2007. What differs: pieces are found by :mod:`flyloom.measuring.fit`, and L is
without the overheads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from flyloom.measuring.fit import LineSegment, Numbers, line, pieces, sigma

DRAWS = 200
"""How many draws the bootstrap makes."""
PARTS = 5
"""The parts, in order of time, of the repetitions; each gives an estimate of S."""
SCATTER = 1.5
"""S is doubtful if the ends of its range differ by more than this factor."""
BRACKET = 1.01
"""A change of protocol is looked for until it is between sizes with at most this ratio."""
PASSES = 4
"""The most times that sizes are added between others."""
INSIDE = 8
"""How many sizes are added at a time."""
PROCESSOR = 1.03
"""A gap of up to this multiple of a processor's time is due to the processor."""


@dataclass(frozen=True)
class MessageSizeTimes:
    """The times of one size, of each repetition, in nanoseconds."""

    delay_ns: float
    one_ns: Sequence[float]
    """PRTT(1, 0, s)."""
    many_ns: Sequence[float]
    """PRTT(n, 0, s)."""
    spaced_ns: Sequence[float]
    """PRTT(n, d, s)."""
    served_ns: Sequence[float]
    """What the server takes for the last n - 1 messages, with a delay before each."""


TIMES = ("one_ns", "many_ns", "spaced_ns", "served_ns")
"""The lists of a size, in the order of :class:`MessageSizeTimes`."""
Sampler = Callable[[Sequence[int]], Mapping[int, MessageSizeTimes]]
"""Measures sizes, which rise."""


@dataclass(frozen=True)
class _GapOverheadCurves:
    """Gaps and overheads of the sizes, of one choice of repetitions."""

    sizes: Numbers
    one: Numbers
    gap: Numbers
    o_s: Numbers
    o_r: Numbers


def sizes_asked(most: int) -> list[int]:
    """Sizes up to ``most`` bytes: four in each doubling, and those just above powers of two, where
    protocols change."""
    steps = {round(2 ** (k / 4)) for k in range(int(4 * np.log2(most)) + 1)}
    above = {(1 << k) + 1 for k in range(6, most.bit_length())}
    return sorted(size for size in steps | above | {most} if size <= most)


def parameters(
    sample: Sampler, most: int, n: int, seed: int = 0, *, asks: bool = True
) -> dict[str, Any]:
    """LogGP parameters of what a sampler measures, for sizes up to ``most`` bytes; ``asks`` says
    whether a large message may be one that is asked for.

    Fields: ``L_ns``, ``o_ns`` (the mean of ``o_s_ns`` and ``o_r_ns``), ``g_ns``, ``G_ns_per_byte``
    (of the segment over most bytes), ``O_ns_per_byte``, ``S_bytes`` (the largest message that is
    sent unasked; ``most`` where no change to asking is seen), ``segments`` (pieces of gap(s):
    ``from_bytes``, ``to_bytes``, ``g_ns``, ``G_ns_per_byte``, and ``limit``: ``interface``,
    ``processor`` or ``handshake``),
    ``intervals_95`` of the parameters, by bootstrap over the repetitions (Efron, Ann. Statist. 7,
    1979), ``g_is_bound`` (no size below ``S_bytes`` shows the interface: g is at most that),
    ``S_range_bytes`` (the least and the largest S of the repetitions in ``PARTS`` parts, one after
    the other in time), ``S_is_doubtful`` (they differ by a factor of more than ``SCATTER``), and
    ``samples``. Raises ``ValueError`` where there are fewer than three sizes.
    """
    samples = dict(sample(sizes_asked(most)))
    for _ in range(PASSES):  # locates the change to rendezvous more closely
        curves = _curves(samples, sorted(samples), n)
        low = _switch(curves) if asks else None
        if low is None:
            break
        high = int(curves.sizes[np.searchsorted(curves.sizes, low) + 1])
        step = (high - low) / (INSIDE + 1)
        between = {round(low + step * (i + 1)) for i in range(INSIDE)} - {low, high}
        if high <= BRACKET * low or not between:
            break
        more = sample(sorted(between))
        if not more:
            break
        samples |= more
    places = sorted(samples)
    whole = _curves(samples, places, n)
    switch = _switch(whole) if asks else None
    parts = pieces(whole.sizes, whole.gap)
    found = _found(whole, parts, switch, most)
    drawn: dict[str, list[float]] = {name: [] for name in _NAMES}
    for again in _drawn(samples, places, n, np.random.default_rng(seed)):
        estimate = _found(again, _again(again, parts), switch, most)
        for name in _NAMES:
            drawn[name].append(estimate[name])
    found["intervals_95"] = {
        name: [float(v) for v in np.quantile(values, (0.025, 0.975))]
        for name, values in drawn.items()
    }
    seen = [found["S_bytes"]]
    if asks:
        seen += [_switch(part) or most for part in _parts(samples, places, n)]
    found["S_range_bytes"] = [min(seen), max(seen)]
    found["S_is_doubtful"] = max(seen) > SCATTER * min(seen)
    found["samples"] = [
        {"bytes": int(size), "prtt_1_ns": float(one), "gap_ns": float(gap), "o_s_ns": float(o_s),
         "o_r_ns": float(o_r)}
        for size, one, gap, o_s, o_r in zip(
            whole.sizes, whole.one, whole.gap, whole.o_s, whole.o_r, strict=True)
    ]
    return found


_NAMES = ("L_ns", "o_s_ns", "o_r_ns", "g_ns", "G_ns_per_byte", "O_ns_per_byte")


def _curves(
    samples: Mapping[int, MessageSizeTimes], places: Sequence[int], n: int
) -> _GapOverheadCurves:
    """Gaps and overheads, by the medians of the repetitions."""
    middle = np.array([
        [np.median(times) for times in _lists(samples[size])] for size in places
    ])
    return _of_medians(samples, places, middle, n)


def _drawn(
    samples: Mapping[int, MessageSizeTimes], places: Sequence[int], n: int, rng: np.random.Generator
) -> Iterator[_GapOverheadCurves]:
    """Curves of repetitions that are drawn with replacement, ``DRAWS`` times (bootstrap)."""
    middle = np.empty((DRAWS, len(places), len(TIMES)))
    for i, size in enumerate(places):
        for k, times in enumerate(_lists(samples[size])):
            values = np.asarray(times, float)
            chosen = rng.integers(0, len(values), (DRAWS, len(values)))
            middle[:, i, k] = np.median(values[chosen], axis=1)
    for one in middle:
        yield _of_medians(samples, places, one, n)


def _parts(
    samples: Mapping[int, MessageSizeTimes], places: Sequence[int], n: int
) -> Iterator[_GapOverheadCurves]:
    """Curves of each of ``PARTS`` parts of the repetitions, in order of time: a machine that was
    busy for a while shows in some parts, while drawing at random would hide it."""
    for part in range(PARTS):
        middle = np.array([
            [np.median(_part(times, part)) for times in _lists(samples[size])] for size in places
        ])
        yield _of_medians(samples, places, middle, n)


def _part(times: Sequence[float], part: int) -> Sequence[float]:
    """One part of the times, which has at least one of them."""
    count = len(times)
    begin = part * count // PARTS
    return times[begin:max((part + 1) * count // PARTS, begin + 1)]


def _lists(of: MessageSizeTimes) -> tuple[Sequence[float], ...]:
    return tuple(getattr(of, name) for name in TIMES)


def _of_medians(
    samples: Mapping[int, MessageSizeTimes], places: Sequence[int], middle: Numbers, n: int
) -> _GapOverheadCurves:
    one, many, spaced, served = middle.T
    delay = np.array([samples[size].delay_ns for size in places])
    return _GapOverheadCurves(
        np.array(places, float), one, (many - one) / (n - 1), (spaced - one) / (n - 1) - delay,
        served / (n - 1) - delay,
    )


def _switch(curves: _GapOverheadCurves) -> int | None:
    """The largest size that is sent unasked: behind it a round trip is longer by a question and its
    answer, that is by 2 (L + o), of which at least the half must be there. None without one."""
    parts = pieces(curves.sizes, curves.one)
    asked = curves.one[0] / 2 - curves.o_r[0]  # L + o_s
    for before, after in pairwise(parts):
        size = float(curves.sizes[after.begin])
        if after.at(size) - before.at(size) > asked:
            return int(curves.sizes[before.end - 1])
    return None


def _again(curves: _GapOverheadCurves, parts: Sequence[LineSegment]) -> list[LineSegment]:
    """Pieces with the same borders, fitted to other values."""
    spread = sigma(curves.sizes, curves.gap)
    return [
        LineSegment(p.begin, p.end, *line(curves.sizes[p.begin:p.end], curves.gap[p.begin:p.end],
                                    spread[p.begin:p.end]))
        for p in parts
    ]


def _found(
    curves: _GapOverheadCurves, parts: Sequence[LineSegment], switch: int | None, most: int
) -> dict[str, Any]:
    """The parameters of curves with these pieces."""
    eager = curves.sizes <= (switch or most)
    o_s, big_s = _overhead(curves.sizes[eager], curves.o_s[eager])
    o_r, big_r = _overhead(curves.sizes[eager], curves.o_r[eager])
    per_byte = (big_s + big_r) / 2
    segments: list[dict[str, Any]] = []
    for part in parts:
        first, last = int(curves.sizes[part.begin]), int(curves.sizes[part.end - 1])
        middle = (first + last) / 2
        if switch is not None and first > switch:
            limit = "handshake"
        elif part.at(middle) > PROCESSOR * (max(o_s, o_r) + max(big_s, big_r) * (middle - 1)):
            limit = "interface"
        else:
            limit = "processor"
        segments.append({"from_bytes": first, "to_bytes": last, "g_ns": part.base,
                         "G_ns_per_byte": part.slope, "limit": limit})
    free = [row for row in segments if row["limit"] == "interface"]
    sent = [row for row in segments if row["limit"] != "processor"] or segments
    longest = max(sent, key=lambda row: int(row["to_bytes"] - row["from_bytes"]))
    gap = free[0]["g_ns"] if free else min(segments[0]["g_ns"], max(o_s, o_r))
    return {
        "L_ns": float(curves.one[0]) / 2 - float(curves.o_s[0]) - float(curves.o_r[0]),
        "o_ns": (o_s + o_r) / 2, "o_s_ns": o_s, "o_r_ns": o_r, "g_ns": gap,
        "g_is_bound": not free, "G_ns_per_byte": longest["G_ns_per_byte"],
        "O_ns_per_byte": per_byte, "S_bytes": switch or most, "segments": segments,
    }


def _overhead(sizes: Numbers, values: Numbers) -> tuple[float, float]:
    """A processor's time for a message, and for each byte after the first, at least 0: medians of
    the slopes between all pairs, then of what is left (Theil 1950, Sen 1968)."""
    if len(sizes) < 2:
        return float(np.median(values)), 0.0
    i, j = np.triu_indices(len(sizes), 1)
    slope = max(0.0, float(np.median((values[j] - values[i]) / (sizes[j] - sizes[i]))))
    return float(np.median(values - slope * (sizes - 1))), slope
