"""The engine that routes a candidate of a choice, and the virtual lanes that its routes take."""

from __future__ import annotations

from typing import Any

from flyloom._core import RefusalError, Topology
from flyloom.verbs.engines import route_by_ours

TREES = ("fat_tree", "xgft", "k_ary_n_tree", "clos")
"""Families that most people know, one of which stands beside the others."""
MOST_ROUTED = 256
"""The most switches of a network that is routed to count its lanes: that takes less than a second.
"""
MOST_HOPS = 8
"""The longest paths that the engine ``layered`` makes."""


def lanes_of(t: Topology, family: str, diameter: int, *, routed: bool) -> dict[str, Any]:
    """How a candidate is routed: ``engine``, ``lane_method`` (None: the engine's own),
    ``lanes_minimal`` (virtual lanes that keep minimal routes free of deadlock), ``lanes_adaptive``
    (the same of adaptive routes) and ``lanes_by``.

    ``lanes_by`` is ``routes`` where the network was routed: by ``ftree`` where it is a tree, else
    by ``layered`` with the method of lanes that takes fewer, ``online`` or ``hops``, else by the
    first of ``dor`` and ``up_down`` that can. It is ``rule`` where ``routed`` is false: a tree
    takes one lane, any other network at most one for each hop (``hops``); whether the 16 service
    levels of InfiniBand can tell the hops of paths of more than two apart, only routing shows.
    Adaptive routes have a lane for each of their hops, twice the diameter, by rule.
    """
    tree = family in TREES
    found = _routed(t, tree, diameter) if routed else _by_rule(t, tree, diameter)
    return {**found, "lanes_adaptive": 1 if tree else max(1, 2 * diameter)}


def _by_rule(t: Topology, tree: bool, diameter: int) -> dict[str, Any]:
    """The engine and the lanes of minimal routes without routing, where there is a rule."""
    if tree:
        return _answer("ftree", None, 1, "rule")
    if diameter > MOST_HOPS:
        return _routed(t, tree, diameter)
    return _answer("layered", "hops", max(1, diameter), "rule")


def _routed(t: Topology, tree: bool, diameter: int) -> dict[str, Any]:
    """The engine and the lanes of minimal routes, by routing the network."""
    tries: list[tuple[str, str | None]] = []
    if tree:
        tries = [("ftree", None)]
    elif diameter <= MOST_HOPS:
        tries = [("layered", "online"), ("layered", "hops")]
    best: dict[str, Any] | None = None
    for engine, method in [*tries, ("dor", None), ("up_down", None)]:
        if best is not None and (best["engine"] != engine or best["lanes_minimal"] <= diameter):
            break
        options: dict[str, Any] = {} if method is None else {"lanes": method}
        try:
            lanes = route_by_ours(t, engine, options, 1, 0, None).lanes
        except RefusalError:
            continue
        if best is None or lanes < best["lanes_minimal"]:
            best = _answer(engine, method, lanes, "routes")
    if best is None:
        raise RefusalError(f"choose: no engine routes {t.recipe}")
    return best


def _answer(engine: str, method: str | None, lanes: int, by: str) -> dict[str, Any]:
    return {"engine": engine, "lane_method": method, "lanes_minimal": lanes, "lanes_by": by}
