"""Tables by engines of ours and of users: what `route` and points of experiments have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flyloom._core import Routing, Topology
from flyloom.plugins.found import part

if TYPE_CHECKING:
    from flyloom.plugins.parts import PluginPart
    from flyloom.support.progress import Progress


def route_by_ours(
    topology: Topology, engine: str, options: dict[str, Any], layers: int, lmc: int | None,
    progress: Progress | None, own: PluginPart | None = None,
) -> Routing:
    """Tables of ``layers`` layers by one of our engines or by a user's, which is ``own`` or found
    by its name; ``application`` has the flows of
    ``traffic`` (uniform where that is not named) in place of those left out. With an LMC above 0
    networks that it leaves no LIDs for are refused before anything is computed."""
    if engine == "application" and "flows" not in options:
        from flyloom.inputs.traffic import demands

        asked = {key: value for key, value in options.items() if key != "traffic"}
        options = {**asked, "flows": demands(topology, options.get("traffic", "uniform")).flows()}
    if lmc:
        topology.with_new_lids(lmc)
    if own := own or part("engine", engine):
        from flyloom.verbs.own_engines import routed

        return routed(own, topology, options, layers)
    return topology.route(engine, options, layers, progress)


def lids_for(topology: Topology, layers: int, new_lids: bool | None) -> Topology:
    """The network with the LIDs under which tables of ``layers`` layers are loaded: those that it
    carries. RefusalError where they do not fit, unless they may move; None: nobody asks."""
    lmc = (layers - 1).bit_length()
    if new_lids is None or not (topology.lids["terminal"].any() or topology.lids["switch"].any()):
        return topology
    if new_lids:
        return topology.with_new_lids(lmc)
    topology.addresses(lmc)
    return topology
