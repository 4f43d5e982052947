"""The benchmark of experiments: many short points in two processes against one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from measure import Broken, median, probe
from rows import Options, Row

KINDS = {100: "1000 points of few milliseconds", 1000: "1000 points with the default patterns"}
"""Patterns of traffic a point, and what such points are called."""


def points(options: Options) -> list[Row]:
    """1,000 short points: two worker processes against one; what the machine gives at most.

    The core has one thread a worker in both: else one worker computes on all processors, too.
    """
    count = 200 if options.quick else 1000
    rows: list[Row] = []
    for patterns, what in KINDS.items():
        found: dict[int, list[dict]] = {1: [], 2: []}
        for _ in options.times(3):
            for workers in found:  # in turn, so that a machine that others load does so to both
                options.say(f"points: {count} points of {patterns} patterns, workers: {workers}")
                found[workers].append(probe("points", count, patterns, workers)[0])
        if len({one["rows"] for runs in found.values() for one in runs}) != 1:
            raise Broken("the rows differ with the number of workers")
        rows.append(_row(what.replace("1000", str(count)), found))
    rows.append(_side_by_side(options, count, median(one["wall_s"] for one in found[1])))
    return rows


def _row(what: str, found: dict[int, list[dict]]) -> Row:
    alone, both = (median(one["wall_s"] for one in runs) for runs in found.values())
    pairs = [one["wall_s"] / two["wall_s"] for one, two in zip(*found.values(), strict=True)]
    cpu = median(one["here_cpu_s"] for one in found[1])
    here = median(one["here_cpu_s"] for one in found[2])
    workers = median(one["workers_cpu_s"] for one in found[2])
    return Row(
        "points", f"{what}, two workers", both, "s wall", alone, "one worker", least_ratio=1.8,
        note=f"a thread each; pairs {min(pairs):.2f} to {max(pairs):.2f}; CPU {cpu:.2f} s in one,"
        f" {workers:.2f} s in two and {here:.2f} s in the command; without the report; what both"
        " have in common, two tables and the start, is in both",
    )


def _side_by_side(options: Options, count: int, alone: float) -> Row:
    """Two commands that know nothing of one another: no number of workers does better."""
    options.say("points: two commands side by side")
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(probe, "points", count, max(KINDS), 1) for _ in range(2)]
        slower = max(each.result()[0]["wall_s"] for each in both)
    return Row(
        "points", "one of two commands side by side, a run of one worker", slower / 2, "s wall",
        alone, "alone", note="half of its wall: what two processors of this machine give at most",
    )
