"""Which process goes on which endpoint, and what a mapping is worth."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from operator import index
from pathlib import Path
from typing import Any, TypeVar

from flyloom import _core
from flyloom._core import Communication, RefusalError, Routing, Topology
from flyloom.inputs.communication import Graph, communication
from flyloom.inputs.tables import Tables, topology_of
from flyloom.plugins.functions import named, returned, wrong
from flyloom.support import ending, machine
from flyloom.support.checks import whole
from flyloom.support.files import write_whole
from flyloom.support.progress import Progress
from flyloom.support.reading import read_text
from flyloom.support.results import Result
from flyloom.verbs.routes import routed_or_not

Hosts = str | os.PathLike[str] | Sequence[int | str]
"""A file with a host list, or names or numbers of endpoints."""
Pins = str | os.PathLike[str] | Mapping[int, int | str]
"""A file with lines ``rank endpoint``, or the endpoint of each pinned rank."""
Placed = str | os.PathLike[str] | Sequence[int]
"""A mapping file, or the endpoint of every process."""
MOST_PER_ENDPOINT = 1 << 16
Found = TypeVar("Found")


def map_processes(
    net: Tables,
    graph: Graph,
    *,
    engine: str | None = None,
    lmc: int | None = None,
    layers: int | None = None,
    engine_options: Mapping[str, Any] | None = None,
    method: str = "auto",
    objective: str = "congestion",
    hops_limit: float = 0.05,
    hosts: Hosts | None = None,
    per_endpoint: int | None = None,
    pin: Pins | None = None,
    partition: int | None = None,
    effort: str = "normal",
    seed: int = 0,
    path: str | os.PathLike[str] | None = None,
    format: str | None = None,
    progress: Progress | None = None,
) -> Result:
    """Which process goes on which endpoint, so that little traffic goes far or meets.

    Parameters
    ----------
    net
        A network, as for ``network``, whose traffic is split over all shortest ways (ECMP); or
        tables.
    graph
        Who sends how many bytes to whom: see docs/mapping.md#communication-graphs.
    engine
        Traffic goes by this engine's tables (``ecmp``: by none), with ``lmc``, ``layers`` and
        ``engine_options``.
    method
        ``auto``, or a method, or several joined by ``+``: docs/mapping.md#methods.
    objective
        ``congestion`` or ``hops``.
    hops_limit
        For less congestion hop-bytes may grow by this part over the least that were found; only
        the linear mapping may have more.
    hosts
        The endpoints that may be used, in the order in which they are filled; all by default.
    per_endpoint
        How many processes an endpoint takes; by default as often as ``hosts`` names it, or one.
    pin
        Processes whose endpoint is given.
    partition
        ``graph`` is a sparse matrix: what its halo exchange in so many equal parts sends is mapped.
    effort
        ``fast``, ``normal`` or ``best``.
    path, format
        The mapping is written there, as ``list``, ``rankfile``, ``hydra``, ``slurm``, ``cray``,
        ``pbs`` or ``json``.

    Returns
    -------
    Result
        Figures of the mapping and of the linear one, lower bounds, the busiest channels, and
        ``mapping``, the endpoint of each process: docs/mapping.md#figures. After Ctrl-C the best
        so far, with ``interrupted`` true.
    """
    on = _on(net, engine, lmc, layers, engine_options, progress)
    traffic, given, used = asked_of(
        on, graph, method=method, objective=objective, hops_limit=hops_limit, hosts=hosts,
        per_endpoint=per_endpoint, pin=pin, partition=partition, effort=effort, seed=seed,
        progress=progress,
    )
    began = time.process_time()
    start = begun(topology_of(on), traffic, given)
    found = until_told(
        lambda: _core.map_processes(on, traffic, given, progress, start),
        lambda it: it["interrupted"],
    )
    found |= {"method": method, "cpu_seconds": time.process_time() - began}
    if path is not None:
        found |= written(on, traffic, found["mapping"], path, format=format, hosts=used,
                         per_endpoint=per_endpoint, progress=progress)
    return Result(found)


def asked_of(
    on: Topology | Routing, graph: Graph, *, method: str, objective: str, hops_limit: float,
    hosts: Hosts | None, per_endpoint: int | None, pin: Pins | None, partition: int | None,
    effort: str, seed: int, progress: Progress | None,
) -> tuple[Communication, dict[str, Any], list[int] | None]:
    """Graph, parameters and hosts as the core takes them."""
    if not math.isfinite(hops_limit):
        raise RefusalError(f"hops_limit: {hops_limit} is no part of hop-bytes; 0 or more, as 0.05")
    traffic = graph_of(graph, partition, seed, progress)
    used = _hosts(on, hosts)
    given = {
        "method": method, "objective": objective, "hops_limit": float(hops_limit),
        "effort": effort, "seed": whole("seed", seed, 0, 2**64 - 1),
        "per_endpoint": slots_each(per_endpoint),
        "hosts": used, "pins": _pins(on, pin),
    }
    return traffic, given, used


def begun(
    topology: Topology, graph: Communication, given: dict[str, Any]
) -> list[int] | None:
    """The mapping of a user's method, where that is the first of the methods that ``given`` asks
    for; the others are left in ``given``."""
    head, plus, rest = str(given["method"]).partition("+")
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


def slots_each(per_endpoint: int | None) -> int | None:
    """A number of slots on every endpoint, checked; None where the host list says them."""
    if per_endpoint is None:
        return None
    return whole("per_endpoint", per_endpoint, 1, MOST_PER_ENDPOINT)


def until_told(search: Callable[[], Found], interrupted: Callable[[Found], bool]) -> Found:
    """What a search finds, to its end or to Ctrl-C, which is raised where nothing is found yet."""
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


def evaluate_mapping(
    net: Tables,
    graph: Graph,
    mapping: Placed,
    *,
    engine: str | None = None,
    lmc: int | None = None,
    layers: int | None = None,
    engine_options: Mapping[str, Any] | None = None,
    hosts: Hosts | None = None,
    per_endpoint: int | None = None,
    partition: int | None = None,
    seed: int = 0,
    format: str | None = None,
    progress: Progress | None = None,
) -> Result:
    """What a mapping is worth: hop-bytes, dilation, congestion, beside the linear one and bounds.

    Parameters
    ----------
    net, graph, engine, lmc, layers, engine_options, hosts, per_endpoint, partition, seed
        As for ``map_processes``; hosts and slots an endpoint are for the bounds and ``linear``.
    mapping
        The endpoint of each process; or a file, of the ``format`` that it shows where none is said.
    """
    on = _on(net, engine, lmc, layers, engine_options, progress)
    traffic = graph_of(graph, partition, seed, progress)
    slots = slots_each(per_endpoint)
    used = _hosts(on, hosts)
    places = read_mapping(on, mapping, format=format, hosts=used, per_endpoint=slots)
    began = time.process_time()
    found = _core.evaluate_mapping(on, traffic, places, used, slots, progress)
    return Result({**found, "method": "given", "cpu_seconds": time.process_time() - began})


def read_mapping(
    on: Topology | Routing, mapping: Placed, *, format: str | None = None,
    hosts: Hosts | None = None, per_endpoint: int | None = None,
) -> list[int]:
    """The endpoint of each process that a mapping file, or a list, says.

    Raises ``RefusalError`` with the file and the line at fault.
    """
    if not isinstance(mapping, (str, os.PathLike)):
        return [whole("mapping", place, 0, 2**32 - 1) for place in mapping]
    text, slots = read_text(mapping), _hosts(on, hosts)
    try:
        return _core.mapping_of(topology_of(on), text, format, slots, per_endpoint)
    except RefusalError as error:
        raise RefusalError(f"{os.fspath(mapping)}: {error}") from None


def write_mapping(
    on: Topology | Routing, places: Sequence[int], path: str | os.PathLike[str], *,
    format: str | None = None, hosts: Hosts | None = None, per_endpoint: int | None = None,
) -> None:
    """Writes a mapping, whole or not at all; without a format a list of numbers."""
    text = _core.mapping_text(
        topology_of(on), list(places), format or "list", _hosts(on, hosts), per_endpoint
    )
    write_whole(Path(path), text)


def written(
    on: Topology | Routing, traffic: Communication, places: list[int],
    path: str | os.PathLike[str], *, format: str | None, hosts: list[int] | None,
    per_endpoint: int | None, progress: Progress | None,
) -> dict[str, Any]:
    """Writes a mapping. Hosts with several adapters have one name in the files of launchers, and
    where such a file has the adapters in another order than the mapping: the figures by the file.
    """
    write_mapping(on, places, path, format=format, hosts=hosts, per_endpoint=per_endpoint)
    again = read_mapping(on, path, format=format or "list", hosts=hosts, per_endpoint=per_endpoint)
    if again == places:
        return {}
    if machine.tell:
        print(f"note: {os.fspath(path)}: the ranks of a host take its adapters in turn, as"
              f" {format} cannot say which; figures are of that", file=sys.stderr)
    return _core.evaluate_mapping(on, traffic, again, hosts, per_endpoint, progress)


def _on(
    net: Tables, engine: str | None, lmc: int | None, layers: int | None,
    options: Mapping[str, Any] | None, progress: Progress | None,
) -> Topology | Routing:
    return routed_or_not(
        net, None if engine == "ecmp" else engine, lmc=lmc, layers=layers, options=options,
        progress=progress,
    )


def graph_of(
    graph: Graph, partition: int | None, seed: int, progress: Progress | None
) -> Communication:
    """The communication graph, or that of the halo exchange of a matrix in so many parts."""
    traffic = communication(graph, progress)
    if partition is None:
        return traffic
    parts = whole("partition", partition, 1, 2**24)
    return traffic.halo(parts, seed, progress)


def _hosts(on: Topology | Routing, hosts: Hosts | None) -> list[int] | None:
    """The endpoints of a host list; RefusalError with the file and the line."""
    if hosts is None:
        return None
    if isinstance(hosts, (str, os.PathLike)):
        text, name = read_text(hosts), os.fspath(hosts)
    elif not any(isinstance(host, str) for host in hosts):
        numbers: Sequence[Any] = hosts
        return [whole("hosts", host, 0, 2**32 - 1) for host in numbers]
    else:
        text, name = "\n".join(str(host) for host in hosts), "hosts"
    try:
        return _core.hosts_of(topology_of(on), text)
    except RefusalError as error:
        raise RefusalError(f"{name}: {error}") from None


def _pins(on: Topology | Routing, pin: Pins | None) -> list[tuple[int, int]]:
    """Pinned ranks with their endpoints; RefusalError with the file and the line."""
    if pin is None:
        return []
    if isinstance(pin, Mapping):
        text, name = "\n".join(f"{rank} {host}" for rank, host in pin.items()), "pin"
    else:
        text, name = read_text(pin), os.fspath(pin)
    try:
        return _core.pins_of(topology_of(on), text)
    except RefusalError as error:
        raise RefusalError(f"{name}: {error}") from None
