"""The benchmark of experiments: many short points in two processes against one."""

from __future__ import annotations

from measure import Broken, median, probe
from rows import Options, Row


def points(options: Options) -> list[Row]:
    """1,000 short points: two worker processes against one; what is not computing."""
    count = 200 if options.quick else 1000
    found: dict[int, list[dict]] = {1: [], 2: []}
    for _ in options.times(3):
        for workers in found:  # in turn, so that a machine that others load does so to both
            options.say(f"points: {count} points, workers: {workers}")
            found[workers].append(probe("points", count, workers)[0])
    if len({one["rows"] for runs in found.values() for one in runs}) != 1:
        raise Broken("the rows differ with the number of workers")
    alone, both = (median(one["wall_s"] for one in runs) for runs in found.values())
    outside = median((one["wall_s"] - one["in_stages_s"]) / count for one in found[1])
    return [
        Row("points", f"{count} short points, two workers", both, "s wall", alone, "one worker",
            least_ratio=1.8, note="without the report; what both have in common, two tables and the"
            " start, is in both"),
        Row("points", "one of them outside of its stages", 1000 * outside, "ms wall"),
    ]
