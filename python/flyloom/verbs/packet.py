"""The packet level: chunks of messages through routers with credits, event by event."""

from __future__ import annotations

import resource
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from flyloom import _core
from flyloom._core import RefusalError, Routing, Topology, Workload
from flyloom.inputs.jobs import Traced
from flyloom.inputs.jobs import called as job_called
from flyloom.inputs.jobs import jobs as schedules
from flyloom.inputs.jobs import names as trace_names
from flyloom.inputs.placements import Placed, places
from flyloom.inputs.tables import topology_of
from flyloom.inputs.traffic import called, demands, is_name
from flyloom.ranks import ALONE, join
from flyloom.support.checks import whole
from flyloom.support.machine import built_for, processors
from flyloom.support.progress import Progress
from flyloom.support.results import Result
from flyloom.verbs.routes import routed_or_not
from flyloom.verbs.settings import nested

if TYPE_CHECKING:
    from flyloom.inputs.tables import Tables
    from flyloom.inputs.traffic import Wanted

OWN = ("dialect", "load", "selection", "rails", "traffic", "class", "messages", "message_bytes",
       "trace", "compute", "collectives", "placement", "background", "sync", "unverified", "seed")
"""Parameters of the simulator that are arguments of ``packet``, and no settings."""


def packet(
    source: Tables,
    *,
    load: float | str | Iterable[float] | None = None,
    traffic: Wanted | None = None,
    classes: Sequence[Mapping[str, Any]] = (),
    selection: str = "minimal",
    dialect: str = "physical",
    messages: int | None = None,
    message_bytes: int | None = None,
    rails: str = "congestion",
    trace: Traced | Sequence[Traced] | None = None,
    compute: str = "off",
    collectives: str = "real",
    placement: Placed = "linear",
    background: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    sync: str = "sequential",
    engine: str | None = None,
    lmc: int | None = None,
    layers: int | None = None,
    engine_options: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    unverified: bool = False,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Result:
    """What a network does with packets: latency, accepted rate, routers visited.

    Parameters
    ----------
    source
        A network, as for ``network``; or tables, a ``Routing`` or a folder of them.
    load
        Parts of the rate of one rail of an endpoint: a number, several, or a range
        ``"0.1:0.9:0.1"``; 0.5 where it is not given. With a trace there is none, nor any of
        ``traffic``, ``messages``, ``message_bytes``.
    traffic
        A pattern (docs/traffic.md), ``uniform`` where none is given; a file, a matrix or rows
        ``(src, dst, amount)``.
    classes
        Several classes of traffic at once: of each ``share`` of the load, ``traffic`` (a pattern),
        ``messages``, ``message_bytes``, and how it shares ports with the others: ``priority``,
        ``weight``; what is left out is as of all. Of traces, whose classes ``trace_class`` of the
        settings has and those of jobs in the background ``class``: ``priority`` and ``weight``.
    selection
        How packets choose: ``minimal``, ``valiant``, ``adaptive`` (which is ``ugal_l``), ``par``,
        ``anca``.
    dialect
        Whose model: ``physical``, ``codes-slimfly-v1``, ``codes-dally-v1``, ``codes-dfplus-v1``.
    messages, message_bytes
        Messages of an endpoint, and how long they are: 30 of 4096 bytes where it is not given.
    rails
        Of endpoints with several: ``congestion``, ``path``, ``dedicated``, ``random``,
        ``striped``.
    trace
        What processes do, in place of ``traffic``: a schedule, a generator with its parameters
        (``"amg_like:p=12,levels=4,cycles=1,base_bytes=16384"``), a file of GOAL, a folder of a
        trace; several are jobs at the same time.
    compute
        Whether calculations of a trace take time: ``off`` or ``on``.
    collectives
        ``real``: collective operations send what their algorithms send; ``codes``: nothing, as in
        CODES, whose rules traces of MPI then follow (docs/packet.md).
    placement
        The endpoint of every process of all jobs: ``linear``, ``random``, ``random_switches``,
        ``random_groups``, ``stripe``, a file with a line for each job, or a list.
    background
        Jobs that send at random until those of traces are done, each ``ranks``, ``intensity`` (or
        ``bytes``), ``interval_us``, ``births``, ``class``.
    sync
        What runs events: ``sequential``, ``threads``, ``optimistic``, or ``mpi``: the ranks of the
        MPI program that this process is one of, which all call this; the result is the same.
    engine
        Routes are those of this engine's tables, with ``lmc``, ``layers`` and ``engine_options``.
    settings
        Other parameters by their dotted names, such as ``{"link.latency_ns": 25}``: docs/packet.md.
    unverified
        Leaves the proof out that routing is free of deadlock; where packets wait in a circle it
        is told.
    seed
        The seed of all that is random.
    threads
        Of a sequential run, points side by side; else of each point. All processors where it is
        not given.
    progress
        Called with ``(what, done, total)``.

    Fields: ``network``, ``engine``, ``traffic``, ``verified``, ``parameters``, ``points`` (each
    ``offered_load``, ``accepted_gib_per_s``, ``mean_latency_us``, ...: docs/packet.md); with
    traces ``jobs`` (each ``name``, ``ranks``, ``max_comm_us``, ``mean_comm_us``, ...). Raises
    ``RefusalError`` for what does not fit and for routing that is not proved free of deadlock.
    """
    team = join() if sync == "mpi" else ALONE
    with team.together():
        refuse_arguments(settings, OWN)
        if trace is not None:
            _refuse_traffic(load=load, traffic=traffic, messages=messages,
                            message_bytes=message_bytes)
        load = 0.5 if load is None else load
        traffic = "uniform" if traffic is None else traffic
        hands = threads_for(threads)
        spec = nested({
            **(settings or {}), "load": loads(load), "selection": selection, "dialect": dialect,
            "messages": 30 if messages is None else messages,
            "message_bytes": 4096 if message_bytes is None else message_bytes,
            "rails": rails, "sync": sync,
            "class": [dict(one) for one in classes], "unverified": unverified, "seed": seed,
        })
        with room_for("packet", spec):
            on = routed_or_not(
                source, engine, lmc=lmc, layers=layers, options=engine_options, progress=progress
            )
        given = on if isinstance(on, Routing) else None
        topology = topology_of(on)
        own = None
        jobs: tuple[list[Workload] | None, list[int] | None] = (None, None)
        if trace is not None:
            jobs = _jobs(spec, on, (trace, compute, collectives, placement, background), progress)
        elif background:
            raise RefusalError("background: there is no trace; it lasts as long as one")
        elif isinstance(traffic, str) and is_name(traffic):
            spec["traffic"] = traffic
        else:
            own = demands(topology, traffic)
    found = _core.simulate_packet(on, spec, (hands, team.core), own, jobs, progress)
    peak_rss_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    for point in found["points"]:
        point["peak_rss_mib"] = peak_rss_mib
    return Result({
        "network": topology.recipe,
        "engine": None if given is None else given.engine,
        "traffic": called(traffic) if trace is None else ", ".join(spec["trace"]),
        **found,
    })


def _jobs(
    spec: dict[str, Any],
    on: Topology | Routing,
    asked: tuple[Any, str, str, Placed, Any],
    progress: Progress | None,
) -> tuple[list[Workload] | None, list[int] | None]:
    """Schedules and endpoints of jobs, where the core does not make them; what it needs for that
    goes into ``spec``."""
    trace, compute, collectives, placement, background = asked
    traces = trace_names(trace)
    if isinstance(background, Mapping):
        background = [background]
    spec |= {
        "trace": [job_called(one) for one in traces], "compute": compute,
        "collectives": collectives, "background": [dict(one) for one in background or ()],
    }
    spec["placement"], where = places(on, placement)
    return schedules({**spec, "trace": traces}, progress), where


def room_for(level: str, spec: Mapping[str, Any]) -> AbstractContextManager[None]:
    """Meanwhile networks are built only where this machine has memory to simulate them, too: of
    such parameters at the level."""
    def needs(family: str, params: dict[str, Any]) -> float:
        return _core.point_bytes(family, params, None, 1, {level: spec})

    return built_for("simulating", needs)


def _refuse_traffic(**given: object) -> None:
    """RefusalError where something says what is sent besides a trace."""
    for name, value in given.items():
        if value is not None:
            raise RefusalError(
                f"{name}: a trace says what is sent; leave out {name}, or the trace"
            )


def refuse_arguments(settings: Mapping[str, Any] | None, names: Iterable[str]) -> None:
    """RefusalError where settings have what is an argument of its own."""
    for name in names:
        if name in (settings or {}):
            raise RefusalError(f"settings: {name} is an argument of its own; give it as {name}")


def threads_for(asked: int | None) -> int:
    """So many threads as are asked for; all processors where none are said."""
    return processors() if asked is None else whole("threads", asked, 1, 1024)


def loads(load: float | str | Iterable[float]) -> float | str | list[float]:
    """Loads as the core takes them."""
    if isinstance(load, (int, float, str)):
        return load
    try:
        return [float(x) for x in load]
    except (TypeError, ValueError):
        raise RefusalError(f"load: {load!r} is no number, nor a list of some") from None
