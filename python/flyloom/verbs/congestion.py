"""Congestion of communication patterns over given tables, as the simulator ORCS has it.

Source: Schneider, Hoefler, Lumsdaine, "ORCS: an oblivious routing congestion simulator", Indiana
University, Technical Report 675, 2009.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from flyloom import _measures as measures
from flyloom._core import RefusalError
from flyloom._measures import Congestion
from flyloom.inputs.tables import Tables
from flyloom.support import renamed
from flyloom.support.progress import Progress

if TYPE_CHECKING:
    from flyloom.inputs.traffic import Wanted


@renamed.keywords("congestion", runs="samples", order="placement")
def congestion(
    routing: Tables,
    pattern: str = "bisect",
    argument: int | str | None = None,
    *,
    traffic: Wanted | None = None,
    samples: int = 1000,
    seed: int = 0,
    endpoints: int | None = None,
    first_job: int | None = None,
    placement: str | Iterable[int | str] = "random",
    levels: str | int = "each",
    endpoint_cables: bool = True,
    metric: str = "bandwidth",
    top: int = 10,
    progress: Progress | None = None,
) -> Congestion:
    """What a communication pattern meets over given tables when all its messages go at once.

    The parameters are those of the measure ``congestion``, see docs/measure-reference.md. By hand
    for ``argument``, which ORCS has apart from its pattern, and for the names of ORCS.

    Parameters
    ----------
    routing
        Tables of any origin; a network is routed by dfsssp.
    pattern, argument
        A pattern of docs/traffic.md (names of ORCS are understood), and its argument where it has
        one, which may also stand behind a colon: ``"stencil:4x4"``. ``"ring::bisect"`` is two jobs.
    traffic
        What endpoints send to one another, in place of a pattern: all of it at once and as it is
        said, so that one run is all. See docs/measures.md#own-traffic.
    placement
        Which endpoint each rank is on: ``random``, ``linear`` (as the network has them) or names or
        numbers of endpoints by rank; those that are not named come after them in random order.
    """
    text = str(pattern)
    if text in ("two_jobs", "ptrnvsptrn"):
        if argument is None or "::" not in str(argument):
            raise RefusalError("argument: two jobs; such as ring::bisect")
        text = str(argument)
    elif argument is not None:
        if ":" in text:
            raise RefusalError(f"argument: {argument!r}: {text} has its own; leave one out")
        text = f"{text}:{argument}"
    at = placement
    places = at if isinstance(at, str) else [str(name) for name in at]
    return measures.congestion(
        routing, pattern=text, traffic=traffic, samples=samples, seed=seed, endpoints=endpoints,
        first_job=first_job, placement=places, levels=levels, endpoint_cables=endpoint_cables,
        metric=metric, top=top, progress=progress,
    )
