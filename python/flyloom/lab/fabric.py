"""The stages of a point that need a fabric: OpenSM's own engines, and tables read back from it."""

from __future__ import annotations

from typing import Any

from flyloom._core import Routing, Topology
from flyloom.deploy.fabric import deploy, route_with_opensm


def route(topology: Topology, engine: str, lmc: int, max_lanes: int | None) -> Routing:
    """Tables of the engine ``opensm:NAME``; DeployError where it gives none."""
    name = engine.removeprefix("opensm:")
    return route_with_opensm(topology, name, lmc=lmc, max_lanes=max_lanes)


def deployed(routing: Routing, oracle: bool) -> dict[str, Any]:
    """What was found when the tables were loaded and read back, without its wall time."""
    found = deploy(routing, oracle=oracle).to_dict()
    found.pop("seconds")
    return found
