"""Mapping and routing found together: a mapping, and tables that are made for its traffic."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flyloom import _core
from flyloom._core import RefusalError, Routing, routes_asked
from flyloom.inputs.communication import Graph
from flyloom.inputs.networks import Source, network
from flyloom.support.progress import Progress
from flyloom.support.results import Result
from flyloom.verbs.engines import lids_for
from flyloom.verbs.mapping import (
    Hosts,
    Pins,
    Placed,
    asked_of,
    read_mapping,
    slots_each,
    until_told,
    written,
)
from flyloom.verbs.routes import write_table_folder

ENGINE = "application"


def map_with_routing(
    net: Source,
    graph: Graph,
    *,
    lmc: int | None = None,
    layers: int | None = None,
    engine_options: Mapping[str, Any] | None = None,
    mapping: Placed | None = None,
    method: str = "auto",
    hops_limit: float = 0.3,
    hosts: Hosts | None = None,
    per_endpoint: int | None = None,
    pin: Pins | None = None,
    partition: int | None = None,
    effort: str = "normal",
    seed: int = 0,
    new_lids: bool | None = False,
    path: str | os.PathLike[str] | None = None,
    format: str | None = None,
    tables: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> tuple[Result, Routing]:
    """A mapping and forwarding tables for its traffic, so that the busiest channel carries little.

    Parameters
    ----------
    net, graph, hosts, per_endpoint, pin, partition, effort, seed, path, format
        As for ``map_processes``; ``net`` is a network, not tables.
    lmc, layers
        Routes to each terminal, 2 to the power of ``lmc`` or any number of ``layers``; LMC 2
        where neither is given. A pair's traffic is split evenly over them.
    engine_options
        Options of the engine ``application`` (docs/routing.md): ``slack``, how many hops ways may
        be longer than the shortest (1 where it is left out), ``max_lanes``, and others.
    mapping
        A mapping that is kept: the endpoint of each process, or a file. Only tables are made.
    method
        ``auto`` tries several mappings; by another method there is one, and it is kept.
    hops_limit
        For less congestion hop-bytes over shortest ways may grow by this part.
    new_lids
        As for ``route``.
    tables
        The tables are written there, as ``flyloom route -o`` does.

    Returns
    -------
    tuple of Result and Routing
        The figures of ``map_processes`` under the new tables, with ``linear`` over all shortest
        ways, ``verified``, ``lanes``, ``layers``, ``routing_bound`` (no routing of this mapping
        has a lower maximum congestion) and ``steps`` (what each step brought:
        docs/mapping.md#mapping-and-routing-together); and the tables.
    """
    options = dict(engine_options or {})
    if lmc is None and layers is None:
        lmc = 2
    count = routes_asked(ENGINE, lmc, layers, {**options, "flows": []})
    topology = lids_for(network(net), count, new_lids)
    traffic, given, used = asked_of(
        topology, graph, method=method, objective="congestion", hops_limit=hops_limit, hosts=hosts,
        per_endpoint=per_endpoint, pin=pin, partition=partition, effort=effort, seed=seed,
        progress=progress,
    )
    start = None
    if mapping is not None:
        if method != "auto":
            raise RefusalError("method: the mapping is given; leave the method out")
        slots = slots_each(per_endpoint)
        start = read_mapping(topology, mapping, hosts=used, per_endpoint=slots)
    began = time.process_time()
    told, routing = until_told(
        lambda: _core.map_with_routing(topology, traffic, given, count, options, start, progress),
        lambda found: found[0]["interrupted"],
    )
    told |= {
        "method": method if mapping is None else "given",
        "cpu_seconds": time.process_time() - began,
    }
    if tables is not None:
        write_table_folder(topology, routing, Path(tables))
    if path is not None:
        told |= written(routing, traffic, told["mapping"], path, format=format, hosts=used,
                        per_endpoint=per_endpoint, progress=progress)
    return Result(told), routing
