"""Measures of whatever a user names: what the core finds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from flyloom._core import Routing, Topology, Workload, registry, simulators
from flyloom.inputs.networks import network
from flyloom.inputs.tables import DEFAULT_ENGINE, Tables, tables, topology_of
from flyloom.support.checks import plainly, whole
from flyloom.support.progress import Progress


def measured(
    on: Tables, name: str, given: Mapping[str, object], progress: Progress | None = None
) -> dict[str, Any]:
    """The record of the measure ``name`` of a network or of tables, as the core has it.

    ``given`` are its parameters; those that are None have their defaults. A measure of routes takes
    a network too: routed by ``default_engine``, as on the command line. A simulator (``sim.flit``)
    takes either as it is.
    """
    if isinstance(on, Routing) or name in _of_routes():
        target: Topology | Routing = tables(on, engine=default_engine(name), progress=progress)
    else:
        target = network(on)
    known = {
        key: plainly(key, value)
        for key, value in given.items() if value is not None and key != "traffic"
    }
    if name == "cost":
        from flyloom.inputs.catalogs import purchase_content

        return target.measure(name, known | purchase_content(known), progress)
    if name == "sim.message":
        schedule = scheduled(target, known)
        where = _placed(target, name, known, schedule and [schedule], progress)
        return target.measure(
            name, known, progress, None, schedule and [schedule], None, where
        )
    if name == "sim.packet" and known.get("workload"):
        from flyloom.inputs.jobs import jobs

        own = jobs(known, progress)
        where = _placed(target, name, known, own, progress)
        return target.measure(name, known, progress, None, own, None, where)
    drawn = name in _simulators()
    traffic: Any = given.get("traffic")
    if traffic is None or not (drawn or isinstance(target, Routing)):
        return target.measure(name, known, progress)
    from flyloom.inputs.traffic import called, demands, is_name, packet_times

    known["traffic"] = called(traffic)
    if drawn and isinstance(traffic, str) and is_name(traffic):
        return target.measure(name, known, progress)  # the packet level reads them by its own rule
    topology = target.topology if isinstance(target, Routing) else target
    if name == "sim.flit" and (times := packet_times(topology, traffic)) is not None:
        return target.measure(name, known, progress, None, None, times)
    sent = demands(topology, traffic, seed=_seed(given))
    return target.measure(name, known, progress, sent)


def check_placement(
    target: Topology | Routing, name: str, given: Mapping[str, Any],
    progress: Progress | None = None,
) -> None:
    """RefusalError where a simulator ``name`` cannot put its processes where ``given`` says."""
    from flyloom.inputs.jobs import jobs

    known = dict(given)
    if name == "sim.message":
        schedule = scheduled(target, known)
        _placed(target, name, known, schedule and [schedule], progress)
    elif known.get("workload"):
        _placed(target, name, known, jobs(known, progress), progress)


def _placed(
    target: Topology | Routing, name: str, given: dict[str, Any], own: list[Workload] | None,
    progress: Progress | None,
) -> list[int] | None:
    """The endpoints of processes by a file or a user's placement, where ``given`` names one, for
    the schedules ``own``, or for those that the core makes."""
    from flyloom.inputs.applications import ranks_of
    from flyloom.inputs.jobs import names
    from flyloom.inputs.placements import check_ranks, places
    from flyloom.inputs.workloads import named

    asked = given.get("placement")
    if not isinstance(asked, str):
        return None
    each = whole("per_endpoint", given.get("per_endpoint", 1), 1, 2**32 - 1)
    given["placement"], where = places(target, asked, each)
    if where is None or given.get("background"):
        return where
    room = topology_of(target).endpoints * each
    ranks = sum(one.ranks for one in own) if own else sum(
        ranks_of(*made, room, progress) for one in names(given["workload"])
        if (made := named(one, given.get("workload_options")))
    )
    # packets have no limit of processes on an endpoint
    check_ranks(target, asked, where, ranks, each if name == "sim.message" else None)
    return where


def scheduled(target: Topology | Routing, given: Mapping[str, Any]) -> Workload | None:
    """The schedule of the file or the user's application that ``workload`` names; None where it
    names what the core makes."""
    from flyloom.inputs.applications import made, own_application
    from flyloom.inputs.workloads import named, workload

    if (asked := given.get("workload")) is None:
        return None
    if (known := named(asked, given.get("workload_options"))) is None:
        return workload(asked)
    if own_application(known[0]) is None:
        return None
    topology = target.topology if isinstance(target, Routing) else target
    return made(*known, places=topology.endpoints * whole(
        "per_endpoint", given.get("per_endpoint", 1), 0, 2**32 - 1
    ))


def default_engine(name: str) -> str:
    """The engine that routes a network for a measure; a measure of lanes gets routes without
    them."""
    return "sssp" if name == "lanes_needed" else DEFAULT_ENGINE


@cache
def _of_routes() -> set[str]:
    """The measures that need tables."""
    return {row["name"] for row in registry() if row.get("input") == "routing"}


@cache
def _simulators() -> set[str]:
    return {row["name"] for row in simulators()}


def _seed(given: Mapping[str, Any]) -> int:
    seed = given.get("seed")
    return 0 if seed is None else whole("seed", seed, 0, 2**64 - 1)
