"""Congestion of communication patterns over given tables, as the simulator ORCS has it.

Source: Schneider, Hoefler, Lumsdaine, "ORCS: an oblivious routing congestion simulator", Indiana
University, Technical Report 675, 2009.
"""

from __future__ import annotations

from collections.abc import Iterable

from flyloom._core import RefusalError, Routing
from flyloom.support.checks import whole
from flyloom.support.progress import Progress
from flyloom.support.results import Result


def congestion(
    routing: Routing,
    pattern: str = "bisect",
    argument: int | str | None = None,
    *,
    runs: int = 1000,
    rng: int = 0,
    endpoints: int | None = None,
    first_job: int | None = None,
    order: str | Iterable[int | str] = "random",
    levels: str | int = "each",
    endpoint_cables: bool = True,
    metric: str = "bandwidth",
    progress: Progress | None = None,
) -> Result:
    """What a communication pattern meets over given tables when all its messages go at once.

    Parameters
    ----------
    routing
        Tables of any origin.
    pattern, argument
        A pattern of docs/measures.md (names of ORCS are understood), and its argument where it has
        one, which may also stand behind a colon: ``"stencil:4x4"``. ``"ring::bisect"`` is two jobs.
    runs
        How often, each time with ranks put on endpoints anew.
    rng
        The seed; run i depends on it and on i alone.
    endpoints
        How many endpoints take part; all, or as many as the order has, unless told.
    first_job
        Of two jobs, the endpoints of the first; half unless told.
    order
        ``random``, ``linear`` (as the network has them) or names or numbers of endpoints by rank;
        those that are not named come after them in random order.
    levels
        ``each`` (one after the other), ``all`` (at once) or the number of one, from 0.
    endpoint_cables
        Whether the cables of endpoints count. Without them, ``bisect`` is what ``ebb`` measures.
    metric
        ``bandwidth``, ``congestion``, ``time``, ``delay`` or ``channels``; see docs/measures.md.

    Fields: ``metric``, ``series`` (values, one a run or one a channel), ``mean``, ``min``, ``max``,
    ``variance``, ``histogram`` ([low, high, n]: n values above low and at most high; of all
    messages where the metric is ``congestion``). Whatever the metric: ``mean_share`` (mean over
    runs of the mean share of their messages), ``confidence_interval_95``, ``min_share`` and
    ``max_share`` of a message, ``share_histogram`` (messages in 20 bins of 0.05),
    ``max_congestion``, ``congestion_histogram`` ([congestion, messages]), ``mean_time``,
    ``mean_delay``, ``first_job_share`` and ``second_job_share`` (means, None with one job),
    ``pattern``, ``levels`` (of a run), ``runs``, ``seed``, ``endpoints``, ``first_job``.
    """
    text = str(pattern)
    if text in ("two_jobs", "ptrnvsptrn"):
        if argument is None or "::" not in str(argument):
            raise RefusalError("pattern_argument: two jobs; such as ring::bisect")
        text = str(argument)
    elif argument is not None:
        if ":" in text:
            raise RefusalError(f"pattern_argument: {argument!r}: {text} has its own; leave one out")
        text = f"{text}:{argument}"
    whole("runs", runs, 1, 2**32 - 1)
    whole("rng", rng, 0, 2**64 - 1)
    for name, number in (("endpoints", endpoints), ("first_job", first_job)):
        if number is not None:
            whole(name, number, 2, 2**32 - 1)
    given = {
        "pattern": text, "runs": runs, "seed": rng, "endpoints": endpoints,
        "first_job": first_job,
        "order": order if isinstance(order, str) else [str(name) for name in order],
        "levels": levels, "endpoint_cables": bool(endpoint_cables), "metric": metric,
    }
    return Result(routing.measure("congestion", given, progress))
