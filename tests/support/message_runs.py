"""Runs of a workload at the message level, over a network or alone."""

from __future__ import annotations

from typing import Any

import flyloom as fl


def message(workload: Any, *, net: Any = None, **given: Any) -> Any:
    """What `fl.simulate` finds of a workload, over the network ``net`` or without one."""
    if net is None and "workload_options" not in given:
        return fl.simulate(workload, "message", **given)
    return fl.simulate(net, "message", workload=workload, **given)
