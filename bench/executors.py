"""The benchmark of experiments: many short points in two processes against one."""

from __future__ import annotations

from measure import Broken, median, probe
from rows import Options, Row


def points(options: Options) -> list[Row]:
    """1,000 short points: two worker processes against one; what is not computing.

    The core has one thread a worker in both: else one worker computes on all processors, too.
    """
    count = 200 if options.quick else 1000
    found: dict[int, list[dict]] = {1: [], 2: []}
    for _ in options.times(3):
        for workers in found:  # in turn, so that a machine that others load does so to both
            options.say(f"points: {count} points, workers: {workers}")
            found[workers].append(probe("points", count, workers)[0])
    if len({one["rows"] for runs in found.values() for one in runs}) != 1:
        raise Broken("the rows differ with the number of workers")
    alone, both = (median(one["wall_s"] for one in runs) for runs in found.values())
    pairs = [one["wall_s"] / two["wall_s"] for one, two in zip(*found.values(), strict=True)]
    cpu = median(one["here_cpu_s"] for one in found[1])
    here = median(one["here_cpu_s"] for one in found[2])
    workers = median(one["workers_cpu_s"] for one in found[2])
    outside = median((one["wall_s"] - one["in_stages_s"]) / count for one in found[1])
    return [
        Row("points", f"{count} short points, two workers", both, "s wall", alone, "one worker",
            least_ratio=1.8, note=f"a thread each; pairs {min(pairs):.2f} to {max(pairs):.2f};"
            f" CPU {cpu:.2f} s in one, {workers:.2f} s in two and {here:.2f} s in the command;"
            " without the report; what both have in common, two tables and the start, is in both"),
        Row("points", "one of them outside of its stages", 1000 * outside, "ms wall"),
    ]
