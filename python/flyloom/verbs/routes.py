"""Tables for a network: made, repaired, put on other lanes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from flyloom._core import RefusalError, Routing, Topology, routes_asked
from flyloom._measures import Repair
from flyloom.inputs.measured import default_engine
from flyloom.inputs.networks import Source, network
from flyloom.inputs.tables import DEFAULT_ENGINE, Tables, holds_tables, tables
from flyloom.plugins.found import part
from flyloom.support.checks import whole
from flyloom.support.files import write_folder
from flyloom.support.progress import Progress
from flyloom.verbs.engines import lids_for, route_by_ours


def route(
    source: Source,
    engine: str = DEFAULT_ENGINE,
    *,
    lmc: int | None = None,
    layers: int | None = None,
    lanes: str | Mapping[str, Any] | None = None,
    new_lids: bool | None = False,
    progress: Progress | None = None,
    **options: Any,
) -> Routing:
    """Forwarding tables for a network.

    ``engine`` is one of ours (``flyloom list engines``) with its ``options``, or
    ``opensm:<engine>`` for OpenSM's own, run on a simulated fabric (``opensm:nue`` takes
    ``max_lanes``, 1 to 8). ``lmc`` gives ``2**lmc`` routes to every terminal; ``layers`` any number
    of them from 1 to 128, which ``lmc`` must fit where both are given. ``lanes`` says how the
    routes of any of our engines get their lanes: a method (``"hops"``, ``"random:seed=1"``; see
    docs/routing.md), or a dict of ``method``, ``max_lanes``, ``balance`` and ``seed``, the table
    ``[lanes]`` of experiments.
    A fabric that was read in keeps its LIDs. Where they do not fit the LMC ``RefusalError`` says
    how many would move; with ``new_lids`` these move, as few as can be, and ``routing.topology``
    has the new ones. ``new_lids=None``: LIDs are not looked at, for tables that nobody loads.
    The engine ``application`` takes ``traffic``, as ``throughput`` does, in place of its ``flows``;
    ``uniform`` where there is none. Tables that are given as ``source`` stand for their network.
    """
    if lmc is not None:
        lmc = whole("lmc", lmc, 0, 7)
    if layers is not None:
        layers = whole("layers", layers, 1, 128)
    if lanes is not None:
        options["lanes"] = _lanes(lanes)
    of_traffic = ("traffic", "flows") if engine == "application" else ()
    plain = {key: value for key, value in options.items() if key not in of_traffic}
    ours = None if part("engine", engine) else engine
    count = routes_asked(ours, lmc, layers, plain)
    topology = lids_for(network(source), count, new_lids)
    if engine.startswith("opensm:"):
        from flyloom.deploy.fabric import route_with_opensm

        return route_with_opensm(
            topology, engine.removeprefix("opensm:"), lmc=count.bit_length() - 1,
            max_lanes=options.get("max_lanes"),
        )
    return route_by_ours(topology, engine, options, count, lmc, progress)


def write_table_folder(topology: Topology, routing: Routing, folder: Path) -> None:
    """Writes tables and their network into a folder, whole or not at all."""
    about = {"flyloom": 1, "engine": routing.engine, "lmc": routing.lmc, "layers": routing.layers}
    write_folder(folder, {
        "tables.txt": routing.table_text(), "lfts.txt": routing.lft_text(),
        "network.json": topology.to_text("json"),
        "fabric.net": topology.to_text("netlist", routing.lmc),
        "guid2lid": topology.addresses(routing.lmc)["guid2lid"], "routing.json": json.dumps(about),
    }, stale=["certificate.txt"])


def routed_or_not(
    source: Tables,
    engine: str | None,
    *,
    lmc: int | None = None,
    layers: int | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Topology | Routing:
    """Tables, where ``source`` has some or ``engine`` makes some; else the network as it is.

    Raises ``RefusalError`` for tables and an engine, and for an engine's options without one.
    """
    if engine is None and not (lmc is None and layers is None and not options):
        raise RefusalError("engine: none, but lmc, layers or options of one; the name of an engine")
    if holds_tables(source):
        if engine is not None:
            raise RefusalError("engine: these are tables, which have their routes; leave it out")
        return tables(source)
    if engine is None:
        return network(source)
    return route(
        network(source), engine, lmc=lmc, layers=layers, new_lids=None, progress=progress,
        **(options or {}),
    )


def routed_by(
    source: Tables, given: Mapping[str, Any], progress: Progress | None = None
) -> Topology | Routing:
    """As :func:`routed_or_not`, of ``engine``, ``lmc``, ``layers`` and ``engine_options`` among the
    parameters of a stage."""
    return routed_or_not(
        source, given.get("engine"), lmc=given.get("lmc"), layers=given.get("layers"),
        options=given.get("engine_options"), progress=progress,
    )


def repair(
    routing: Tables,
    topology: Source | None = None,
    *,
    links: Iterable[int | str] = (),
    switches: Iterable[int | str] = (),
    random: int = 0,
    seed: int = 0,
    progress: Progress | None = None,
) -> tuple[Routing, Repair]:
    """Tables for a network that has lost links or switches, with as few entries changed as can be.

    Only routes over what failed are looked at; those that remain keep their entries and levels.

    Parameters
    ----------
    routing
        The tables before; every route must arrive. A network is routed by dfsssp.
    topology
        Their network, where it is not the one that they have.
    links, switches
        Those that failed, besides those that had failed before: links by number,
        ``"SWITCH:SWITCH"`` (all cables between) or ``"SWITCH:PORT"``, switches by number or name.
    random, seed
        This number of working links fail, too, drawn by the seed.

    Returns the new tables, which a measure does not, and the record of the measure ``repair``.
    ``steps`` says in which order ``stops``, ``level_changes`` and ``changes`` are carried out, and
    what must have left in between: packets whose service level was set before, also those that
    still wait at their senders.
    Raises ``RefusalError`` where the rest is disconnected or no route fits the lanes in use.
    """
    before = tables(routing, progress=progress)
    whole_network = before.topology if topology is None else network(topology)
    damaged = whole_network.with_failures(list(links), list(switches), random=random, seed=seed)
    repaired, found = before.repair(damaged, progress)
    return repaired, Repair(found)


def spread(
    routing: Tables,
    method: str | Mapping[str, Any] = "online",
    *,
    max_lanes: int = 8,
    balance: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
) -> Routing:
    """Puts the routes on new lanes, service levels and SL2VL tables, free of deadlock.

    Parameters
    ----------
    routing
        Tables of any origin; a network is routed by sssp.
    method
        ``online``, ``lightest``, ``heaviest``, ``random`` or ``hops``, or all of it as ``lanes`` of
        :func:`route`; see docs/routing.md. Routes that need no second lane stay on one, whatever
        the method.
    max_lanes
        Most data lanes, 1 to 15.
    balance
        Deals the paths to all of ``max_lanes`` lanes.
    seed
        Seed of ``random``.

    Raises ``RefusalError`` where the lanes, or 16 service levels, are not enough.
    """
    max_lanes = whole("max_lanes", max_lanes, 1, 15)
    seed = whole("seed", seed, 0, 2**64 - 1)
    asked = {"max_lanes": max_lanes, "balance": bool(balance), "seed": seed}
    usual = {"max_lanes": 8, "balance": False, "seed": 0}
    said = {key: value for key, value in asked.items() if value != usual[key]}
    before = tables(routing, engine=default_engine("lanes_needed"), progress=progress)
    return before.spread({"lanes": _lanes(method), **said}, progress)


def _lanes(chosen: str | Mapping[str, Any]) -> str | dict[str, Any]:
    return dict(chosen) if isinstance(chosen, Mapping) else chosen
