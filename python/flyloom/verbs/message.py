"""The message level: how long a schedule of processes takes under LogGOPS."""

from __future__ import annotations

from collections.abc import Mapping

from flyloom import _core
from flyloom._core import RefusalError
from flyloom.inputs.workloads import Scheduled, workload
from flyloom.support.progress import Progress
from flyloom.support.results import Result

DIALECTS = ("causal", "loggops-v1")
LETTERS = ("L", "o", "g", "G", "O", "S")
"""The parameters, as LogGOPSim names them."""


def message(
    source: Scheduled,
    *,
    dialect: str = "causal",
    parameters: Mapping[str, float] | None = None,
    progress: Progress | None = None,
) -> Result:
    """How long a schedule takes on a network without contention.

    Parameters
    ----------
    source
        A schedule, or a file of GOAL.
    dialect
        ``"causal"``: an operation begins when what it waits for has ended; or ``"loggops-v1"``: as
        LogGOPSim does (docs/message.md).
    parameters
        ``L``, ``o``, ``g`` in nanoseconds, ``G``, ``O`` in nanoseconds a byte, ``S`` in bytes;
        those of LogGOPSim where one is not given.
    progress
        Called with ``(what, done, total)``.

    Fields: ``dialect``, ``parameters``, ``finish_ns`` (of the last rank), ``events``, ``messages``,
    ``rank_finish_ns`` (an array: of every rank). Raises ``RefusalError`` for a schedule that cannot
    come to its end: it says which operations are left, and what they wait for.
    """
    if dialect not in DIALECTS:
        raise RefusalError(f"dialect: there is no {dialect!r}; {', '.join(DIALECTS)}")
    costs = dict(parameters or {})
    if strange := sorted(set(costs) - set(LETTERS)):
        raise RefusalError(f"parameters: there is no {strange[0]!r}; {', '.join(LETTERS)}")
    given = workload(source, progress)
    found, finish = _core.simulate_message(
        given, {"dialect": dialect, "costs": costs}, progress
    )
    return Result({**found, "rank_finish_ns": finish})
