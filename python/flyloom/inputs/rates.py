"""The rate of a network's cables, where it is given beside the network."""

from __future__ import annotations

import math
from typing import Any

from flyloom._core import RefusalError, Topology

asked: list[float] = []
"""The rate for every network that is read, Gbit/s: the command line sets it."""


def rated(topology: Topology, gbps: float | None = None) -> Topology:
    """The network with cables of the rate that is given, Gbit/s, or that the command line gives;
    as it is where neither does. RefusalError where no cable has that rate, and where the network
    says another."""
    rate = gbps if gbps is not None else asked[-1] if asked else None
    return topology if rate is None else topology.with_gbps(number(rate))


def number(gbps: Any) -> float:
    """A rate as a number; RefusalError for what is none."""
    if isinstance(gbps, bool) or not isinstance(gbps, (int, float)) or not math.isfinite(gbps):
        raise RefusalError(f"gbps: {gbps!r} is no number; Gbit/s, as in 400")
    return float(gbps)


def no_rate(name: str) -> None:
    """Refuses a rate of the command line for tables, whose network has its rate with it."""
    if asked:
        help_ = "give it where the network is routed, as in slim_fly:q=5,gbps=400"
        raise RefusalError(f"gbps: {name} holds tables with their network; {help_}")
