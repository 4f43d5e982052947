"""Which process goes on which endpoint, what that is worth, and tables that are made for it."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import index
from pathlib import Path
from typing import Any, TypeVar

from flyloom import _core
from flyloom._core import Communication, RefusalError, Routing, Topology, routes_asked
from flyloom.inputs.communication import Graph, communication
from flyloom.inputs.networks import Source, network
from flyloom.inputs.tables import Tables, topology_of
from flyloom.plugins.functions import named, returned, wrong
from flyloom.support import ending, machine
from flyloom.support.checks import whole
from flyloom.support.files import write_whole
from flyloom.support.progress import Progress
from flyloom.support.reading import read_text
from flyloom.support.verb_results import ProcessMapping
from flyloom.verbs.engines import lids_for
from flyloom.verbs.routes import routed_by, write_table_folder

Hosts = str | os.PathLike[str] | Sequence[int | str]
"""A file with a host list, or names or numbers of endpoints."""
Pins = str | os.PathLike[str] | Mapping[int, int | str]
"""A file with lines ``rank endpoint``, or the endpoint of each pinned rank."""
Placed = str | os.PathLike[str] | Sequence[int]
"""A mapping file, or the endpoint of every process."""
MOST_PER_ENDPOINT = 1 << 16
ENGINE = "application"
"""What makes tables for a mapping."""
Found = TypeVar("Found")


def mapped(
    net: Tables, graph: Graph, given: Mapping[str, Any], progress: Progress | None = None
) -> ProcessMapping:
    """The result of :func:`flyloom.map_processes` for these parameters."""
    on = routed(net, given, progress)
    traffic, asked = asked_of(on, graph, given, progress)
    began = time.process_time()
    start = begun(topology_of(on), traffic, asked)
    found = until_stopped(
        lambda: _core.map_processes(on, traffic, asked, progress, start),
        lambda it: it["interrupted"],
    )
    found |= {"method": given.get("method") or "auto", "cpu_seconds": time.process_time() - began}
    files = written(on, traffic, found["mapping"], given, asked["hosts"], progress)
    return ProcessMapping(found | files)


def mapped_with_routing(
    net: Source, graph: Graph, given: Mapping[str, Any], progress: Progress | None = None
) -> tuple[ProcessMapping, Routing]:
    """The result of :func:`flyloom.map_with_routing` for these parameters."""
    options, mapping = dict(given.get("engine_options") or {}), given.get("mapping")
    lmc, layers = given.get("lmc"), given.get("layers")
    if lmc is None and layers is None:
        lmc = 2
    count = routes_asked(ENGINE, lmc, layers, {**options, "flows": []})
    topology = lids_for(network(net), count, given.get("new_lids", False))
    method = given.get("method") or "auto"
    traffic, asked = asked_of(topology, graph, given, progress)
    start = None
    if mapping is not None:
        if method != "auto":
            raise RefusalError("method: the mapping is given; leave the method out")
        start = read_mapping(
            topology, mapping, hosts=asked["hosts"], per_endpoint=asked["per_endpoint"]
        )
    began = time.process_time()
    found, routing = until_stopped(
        lambda: _core.map_with_routing(topology, traffic, asked, count, options, start, progress),
        lambda it: it[0]["interrupted"],
    )
    found |= {
        "method": method if mapping is None else "given",
        "cpu_seconds": time.process_time() - began,
    }
    if (folder := given.get("tables")) is not None:
        write_table_folder(topology, routing, Path(folder))
    found |= written(routing, traffic, found["mapping"], given, asked["hosts"], progress)
    return ProcessMapping(found), routing


def routed(
    net: Tables, given: Mapping[str, Any], progress: Progress | None
) -> Topology | Routing:
    """The tables that traffic follows, or the network where traffic takes all shortest paths."""
    by_none = {"engine": None} if given.get("engine") == "ecmp" else {}
    return routed_by(net, {**given, **by_none}, progress)


def asked_of(
    on: Topology | Routing, graph: Graph, given: Mapping[str, Any], progress: Progress | None
) -> tuple[Communication, dict[str, Any]]:
    """Graph and parameters as the core takes them."""
    limit = given.get("hops_limit")
    if limit is not None and not math.isfinite(limit):
        raise RefusalError(f"hops_limit: {limit} is no part of hop-bytes; 0 or more, as 0.05")
    traffic = graph_of(graph, given, progress, on)
    words = {key: given[key] for key in ("method", "objective", "effort") if given.get(key)}
    each = given.get("per_endpoint")
    return traffic, {
        **words, "hops_limit": None if limit is None else float(limit),
        "seed": whole("seed", given.get("seed") or 0, 0, 2**64 - 1),
        "per_endpoint": None if each is None else whole("per_endpoint", each, 1, MOST_PER_ENDPOINT),
        "hosts": hosts_of(on, given.get("hosts")), "pin": pins_of(on, given.get("pin")),
    }


def begun(
    topology: Topology, graph: Communication, given: dict[str, Any]
) -> list[int] | None:
    """The mapping of a user's method, where that is the first of the methods that ``given`` asks
    for; the others are left in ``given``."""
    head, plus, rest = str(given.get("method")).partition("+")
    if (asked := named("method", head.strip())) is None:
        return None
    part, parameters = asked
    given["method"] = rest if plus else "linear"
    mapped = returned(part, parameters, topology, graph)
    try:
        places = [index(place) for place in mapped]
    except TypeError:
        raise wrong(part, "returns no mapping; the endpoint of each process") from None
    if len(places) != graph.processes:
        raise wrong(part, f"returns {len(places)} endpoints for {graph.processes} processes")
    if any(not 0 <= place < topology.endpoints for place in places):
        raise wrong(part, f"returns no endpoint; 0 to {topology.endpoints - 1}")
    return places


def until_stopped(search: Callable[[], Found], interrupted: Callable[[Found], bool]) -> Found:
    """The result of a search that ran to its end or to Ctrl-C, which is raised where there is none
    yet."""
    found: Found | None = None
    try:
        with ending.in_order(answers=True):
            found = search()
            if interrupted(found):
                raise KeyboardInterrupt  # so that the signal is answered
    except KeyboardInterrupt:
        if found is None:
            raise
    return found


def evaluated(
    net: Tables, graph: Graph, given: Mapping[str, Any], progress: Progress | None = None
) -> ProcessMapping:
    """The result of :func:`flyloom.evaluate_mapping` for these parameters."""
    on = routed(net, given, progress)
    traffic, asked = asked_of(on, graph, given, progress)
    used, slots = asked["hosts"], asked["per_endpoint"]
    places = read_mapping(
        on, given["mapping"], format=given.get("format"), hosts=used, per_endpoint=slots
    )
    began = time.process_time()
    found = _core.evaluate_mapping(on, traffic, places, used, slots, progress)
    return ProcessMapping({**found, "method": "given", "cpu_seconds": time.process_time() - began})


def read_mapping(
    on: Topology | Routing, mapping: Placed, *, format: str | None = None,
    hosts: Hosts | None = None, per_endpoint: int | None = None,
) -> list[int]:
    """The endpoint of each process that a mapping file, or a list, says.

    Raises ``RefusalError`` with the file and the line at fault.
    """
    if not isinstance(mapping, (str, os.PathLike)):
        return [whole("mapping", place, 0, 2**32 - 1) for place in mapping]
    slots = hosts_of(on, hosts)
    return said_by(on, "mapping", mapping, lambda network, text: _core.mapping_of(
        network, text, format, slots, per_endpoint))


def written(
    on: Topology | Routing, traffic: Communication, places: list[int], given: Mapping[str, Any],
    hosts: list[int] | None, progress: Progress | None,
) -> dict[str, Any]:
    """Writes a mapping, whole or not at all, where that is asked for; without a format a list of
    numbers. Hosts with several adapters have one name in the files of launchers, and where such a
    file has the adapters in another order than the mapping: the figures by the file.
    """
    path, format_ = given.get("path"), given.get("format") or "list"
    if path is None:
        return {}
    each = given.get("per_endpoint")
    write_whole(Path(path), _core.mapping_text(topology_of(on), places, format_, hosts, each))
    again = read_mapping(on, path, format=format_, hosts=hosts, per_endpoint=each)
    if again == places:
        return {}
    if machine.tell:
        print(f"note: {os.fspath(path)}: the ranks of a host take its adapters in turn, as"
              f" {format_} cannot say which; figures are of that", file=sys.stderr)
    return _core.evaluate_mapping(on, traffic, again, hosts, each, progress)


def graph_of(
    graph: Graph, given: Mapping[str, Any], progress: Progress | None, on: Topology | Routing
) -> Communication:
    """The communication graph, or that of the halo exchange of the parts of a matrix."""
    each = whole("per_endpoint", given.get("per_endpoint") or 1, 1, MOST_PER_ENDPOINT)
    where = topology_of(on)
    traffic = communication(graph, progress, where.endpoints * each, where.endpoint_names)
    if (count := given.get("partition")) is None:
        return traffic
    return traffic.halo(whole("partition", count, 1, 2**24), given.get("seed") or 0, progress)


def hosts_of(on: Topology | Routing, hosts: Hosts | None) -> list[int] | None:
    """The endpoints of a host list; RefusalError with the file and the line."""
    if hosts is None:
        return None
    if not isinstance(hosts, (str, os.PathLike)) and not any(isinstance(h, str) for h in hosts):
        numbers: Iterable[Any] = hosts
        return [whole("hosts", host, 0, 2**32 - 1) for host in numbers]
    return said_by(on, "hosts", hosts, _core.hosts_of)


def pins_of(on: Topology | Routing, pin: Pins | None) -> list[tuple[int, int]]:
    """Pinned ranks with their endpoints; RefusalError with the file and the line."""
    if pin is None:
        return []
    lines = [f"{r} {host}" for r, host in pin.items()] if isinstance(pin, Mapping) else pin
    return said_by(on, "pin", lines, _core.pins_of)


def said_by(
    on: Topology | Routing, name: str, source: str | os.PathLike[str] | Iterable[Any],
    read: Callable[[Topology, str], Found],
) -> Found:
    """What the lines of a file say, or those of the parameter ``name``."""
    if isinstance(source, (str, os.PathLike)):
        text, name = read_text(source), os.fspath(source)
    else:
        text = "\n".join(map(str, source))
    try:
        return read(topology_of(on), text)
    except RefusalError as error:
        raise RefusalError(f"{name}: {error}") from None
