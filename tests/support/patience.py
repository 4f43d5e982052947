"""Time in tests. Others load the machine: a single reading of a clock proves nothing."""

from __future__ import annotations

import time
from collections.abc import Callable

HANG_S = 120
"""The longest wait for what must happen: only what hangs takes so long."""
QUIET_S = 2.0
"""How long OpenSM has to be silent: on a loaded machine it is so before it looks at a change."""
TRIES = 12
"""A promise about time must hold in one of this number of tries."""


def least_s(within_s: float, attempt: Callable[[], float | None]) -> float | None:
    """The least of the seconds that an attempt gives, tried until one is within the limit.

    None as soon as an attempt gives None: there was nothing to be timed.
    """
    took: list[float] = []
    while not took or (took[-1] > within_s and len(took) < TRIES):
        one = attempt()
        if one is None:
            return None
        took.append(one)
    return min(took)


def seconds(work: Callable[[], object]) -> float:
    """How long it takes."""
    began = time.monotonic()
    work()
    return time.monotonic() - began
