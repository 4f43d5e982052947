"""Simulators: a network or tables under load, by flits, packets or messages."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from flyloom import _core
from flyloom._core import RefusalError, Routing, Topology, Workload, parse_inline
from flyloom.inputs.applications import made, own_application, ranks_of
from flyloom.inputs.costs import asked as asked_costs
from flyloom.inputs.costs import file_of
from flyloom.inputs.jobs import called as job_called
from flyloom.inputs.jobs import job, jobs, names
from flyloom.inputs.networks import is_network, network
from flyloom.inputs.placements import check_ranks, places
from flyloom.inputs.selections import said
from flyloom.inputs.several import each_of
from flyloom.inputs.tables import holds_tables, topology_of
from flyloom.inputs.traffic import called, demands, is_name, packet_times
from flyloom.inputs.workloads import named
from flyloom.ranks import ALONE, join
from flyloom.support import machine, renamed
from flyloom.support.checks import plainly, whole
from flyloom.support.machine import built_for, threads_for
from flyloom.support.progress import Progress
from flyloom.support.refused import none_such
from flyloom.verbs.runs import VARIED
from flyloom.verbs.settings import nested
from flyloom.verbs.tidy import ABOUT, CLASSES, Simulation, usual

if TYPE_CHECKING:
    from flyloom.inputs.tables import Tables

OF_PYTHON = ("traffic", "workload", "placement", "costs", "trace", "goal", "parameters")
"""Parameters that may be values that JSON does not have, by their names of today and before."""


def simulate(
    source: Tables | Workload | None,
    level: str = "flit",
    *,
    engine: str | None = None,
    lmc: int | None = None,
    layers: int | None = None,
    engine_options: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    threads: int | None = None,
    critical_path: bool = False,
    progress: Progress | None = None,
    **parameters: Any,
) -> Simulation:
    """What a network does: under load, by flits or packets, or with the messages of a workload.

    Parameters
    ----------
    source
        A network, as for ``network``; or tables, a ``Routing`` or a folder of them. Of level
        ``"message"`` it may be None, or a workload: that runs without a network then.
    level
        ``"flit"``: cycle by cycle; latency, accepted load, saturation (docs/flit.md).
        ``"packet"``: packets through switches with buffers and credits (docs/packet.md).
        ``"message"``: a schedule of processes under LogGOPS, over the network (docs/message.md).
    engine, lmc, layers, engine_options, settings, threads, critical_path, progress
        As of :func:`flyloom.message`; ``critical_path`` of that level alone.
    parameters
        ``gbps``, the rate of the network's cables, and those of the simulator, by the names that
        files and commands have: :func:`flyloom.flit`, :func:`flyloom.packet` and
        :func:`flyloom.message` list them. What is None is not given.
        ``selection`` and ``traffic`` may be lists, of messages ``workload``: each is run with every
        other.
        ``traffic`` is a pattern (docs/traffic.md), a file, a matrix or rows ``(src, dst, amount)``;
        ``workload`` a schedule, a name with parameters (``"alltoall_pairwise bytes=65536"``), a
        file of GOAL, or a trace; ``placement`` a policy, a file, or an endpoint for every process;
        ``costs`` a preset (``"hdr"``), a table, or a file of measured ones.

    Fields: ``network``, ``engine``, ``traffic`` or ``workload``, ``verified``, ``parameters``,
    ``points`` and what the page of the level says; of lists ``curves`` with these fields each. As a
    table (``to_polars()`` and so on) it has a row a load, see :class:`Simulation`. Raises
    ``RefusalError`` for what does not fit and for routing that is not proved free of deadlock.
    """
    if level not in LEVELS:
        raise none_such("level", level, LEVELS)
    if critical_path and level != "message":
        raise RefusalError(f"critical_path: of level message; leave it out of level {level}")
    if isinstance(source, (list, tuple)):
        raise RefusalError(SEVERAL_NETWORKS)
    how = {"engine": engine, "lmc": lmc, "layers": layers, "engine_options": engine_options}
    source = at_rate(source, level, parameters.pop("gbps", None))
    spec = spec_of(level, settings, parameters)
    request = SimulationRequest(source, spec, how, threads, critical_path, progress)
    runs = each_of(spec, level)
    return LEVELS[level](replace(request, spec=runs[0])) if len(runs) == 1 else _several(
        level, request, runs
    )


def at_rate(source: Any, level: str, gbps: float | None) -> Any:
    """The network with cables of this rate, where one is given."""
    if gbps is None:
        return source
    if level == "flit":
        raise RefusalError("gbps: of levels packet and message; level flit counts in cycles")
    if holds_tables(source):
        raise RefusalError("gbps: of a network; tables have theirs with its rate")
    if source is None or isinstance(source, Workload):
        raise RefusalError(NO_NETWORK)
    return network(source, gbps=gbps)


def _several(
    level: str, asked: SimulationRequest, runs: Sequence[dict[str, Any]]
) -> Simulation:
    """What is found with each of these parameters, over one network or its tables."""
    source, how = asked.source, asked.how
    if level == "message" and source is None:
        chosen = [run["selection"] for run in runs if "selection" in run]
        if len(set(chosen)) > 1:
            raise RefusalError("selection: of a network, and there is none; give one")
    elif asked.spec.get("sync") != "mpi":
        with room_for(level, asked.spec):
            source, how = asked.on(source), {}
    _say_seconds(level, source, runs, asked.threads)
    curves = []
    for run in runs:
        words = [said(run[name]) for name in VARIED if isinstance(run.get(name), str | Mapping)]
        with in_words(", ".join(words)):
            curves.append(LEVELS[level](replace(asked, source=source, how=how, spec=run)).to_dict())
    about: dict[str, Any] = {}
    if level != "message":
        about = {key: curves[0][key] for key in ABOUT}
        about["verified"] = all(curve["verified"] for curve in curves)
    return CLASSES[level]({**about, "curves": curves})


def _say_seconds(
    level: str, source: Any, runs: Sequence[dict[str, Any]], threads: int | None
) -> None:
    """Says how long several runs take together, where that is long: each may be short. Networks of
    files, and workloads, are not counted."""
    if not isinstance(source, (Topology, Routing)):
        return
    seconds = 0.0
    try:
        family, params = parse_inline(topology_of(source).recipe)
        for run in runs:
            known = {key: value for key, value in run.items() if key not in OF_PYTHON}
            seconds += _core.point_need(family, params, None, 1, {level: known})[1]
    except RefusalError:  # a network of a file or of a user, or what the run itself will report
        return
    machine.afford(f"{len(runs)} runs", 0.0, seconds / threads_for(threads))


@contextmanager
def in_words(run: str) -> Iterator[None]:
    """Within this block a refusal names the one of several runs that it is about."""
    try:
        yield
    except RefusalError as error:
        found = RefusalError(f"{error} ({run})" if run else str(error))
        found.__dict__.update(vars(error))
        raise found from None


@dataclass(frozen=True)
class SimulationRequest:
    """A simulation that is asked for."""

    source: Any
    spec: dict[str, Any]
    how: Mapping[str, Any] = field(default_factory=dict)
    """What is given of an engine that routes the network before it is simulated."""
    threads: int | None = None
    critical_path: bool = False
    progress: Progress | None = None

    def on(self, source: Tables) -> Topology | Routing:
        """The network, or its tables where ``source`` has some or an engine makes some."""
        from flyloom.verbs.routes import routed_by

        return routed_by(source, self.how, self.progress)


def spec_of(
    level: str, settings: Mapping[str, Any] | None, parameters: Mapping[str, Any]
) -> dict[str, Any]:
    """All parameters as tables in tables, by their names of today; notes those given by an old
    name."""
    given = {key: value for key, value in parameters.items() if value is not None}
    for name in settings or {}:
        table = name.partition(".")[0]
        if name in given or (table in given and table in OF_PYTHON):
            raise RefusalError(f"{name}: given twice; as an argument or in settings")
    plain = {key: plainly(key, value) for key, value in given.items() if key not in OF_PYTHON}
    spec = nested({**plain, **(settings or {})})
    aside = {f"\0{key}": value for key, value in given.items() if key in OF_PYTHON}
    spec |= {key[1:]: key for key in aside}
    name = f"sim.{level}"
    spec, notes = _core.renewed(name, spec)
    for old, new in notes:
        renamed.note(name, old, new)
    return {
        key: aside.get(value, value) if isinstance(value, str) else value
        for key, value in spec.items()
    }


def room_for(level: str, spec: Mapping[str, Any]) -> AbstractContextManager[None]:
    """Within this block networks are built only where this machine has memory to simulate them as
    well."""
    known = {key: value for key, value in each_of(spec, level)[0].items() if key not in OF_PYTHON}

    def needs(family: str, params: dict[str, Any]) -> float:
        return _core.point_bytes(family, params, None, 1, {level: known})

    return built_for("simulating", needs)


def _found(
    level: str, on: Topology | Routing, what: Mapping[str, Any], found: Mapping[str, Any]
) -> Simulation:
    """A result: the network and what was run on it before what was found."""
    engine = on.engine if isinstance(on, Routing) else None
    return CLASSES[level]({"network": topology_of(on).recipe, "engine": engine, **what, **found})


def _flit(asked: SimulationRequest) -> Simulation:
    spec = dict(asked.spec)
    traffic = spec.pop("traffic", "uniform")
    hands = threads_for(asked.threads)
    with room_for("flit", spec):
        on = asked.on(asked.source)
    own, times = None, None
    if isinstance(traffic, str) and is_name(traffic):
        spec["traffic"] = traffic
    elif (times := packet_times(topology_of(on), traffic)) is None:
        own = demands(topology_of(on), traffic)
    found = _core.simulate_flit(on, spec, hands, own, times, asked.progress)
    if not (isinstance(traffic, str) and is_name(traffic)):
        found["parameters"]["traffic"] = called(traffic)
    return _found("flit", on, {"traffic": called(traffic)}, found)


def _packet(asked: SimulationRequest) -> Simulation:
    spec, progress = dict(asked.spec), asked.progress
    team = join() if spec.get("sync") == "mpi" else ALONE
    with team.together():
        traffic = spec.pop("traffic", None)
        if "workload" in spec and traffic is not None:
            raise RefusalError("traffic: a workload says what is sent; leave out one of both")
        if not isinstance(spec.get("costs", ""), str):
            raise RefusalError("costs: of level packet a preset's name; others are settings mpi.*")
        hands = threads_for(asked.threads)
        with room_for("packet", spec):
            on = asked.on(asked.source)
        own = None
        schedules: tuple[list[Workload] | None, list[int] | None] = (None, None)
        if "workload" in spec:
            asked_for = names(spec["workload"])
            spec["workload"] = [job_called(one) for one in asked_for]
            spec["placement"], where = places(on, spec.get("placement"))
            own_jobs = jobs({**spec, "workload": asked_for}, progress, topology_of(on).endpoints)
            schedules = (own_jobs, where)
            if where is not None and not spec.get("background"):
                ranks = sum(one.ranks for one in own_jobs) if own_jobs else sum(
                    ranks_of(*asked_name, topology_of(on).endpoints, progress)
                    for one in asked_for if (asked_name := named(one))
                )
                check_ranks(on, asked.spec["placement"], where, ranks, None)
        elif traffic is None or (isinstance(traffic, str) and is_name(traffic)):
            spec |= {} if traffic is None else {"traffic": traffic}
        else:
            own = demands(topology_of(on), traffic)
    found = _core.simulate_packet(on, spec, (hands, team.core), own, schedules, progress)
    found |= _short_jobs(schedules[0] or (), progress)
    peak_rss_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    for point in found["points"]:
        point["peak_rss_mib"] = peak_rss_mib
    if "workload" in spec:
        return _found("packet", on, {"workload": ", ".join(spec["workload"])}, found)
    words = {"traffic": called("uniform" if traffic is None else traffic)}
    if own is not None:
        found["parameters"]["traffic"] = words["traffic"]
    return _found("packet", on, words, found)


def short_receives(schedule: Workload, progress: Progress | None = None) -> dict[str, Any]:
    """Receives of a schedule that are smaller than the messages that they take, as
    ``short_receives`` where there are some: found by a run without cost.

    Raises ``RefusalError`` where the schedule cannot come to its end.
    """
    free = {"L": 0, "o": 0, "g": 0, "G": 0, "O": 0, "S": 2**32 - 1}
    ran = _core.simulate_message(schedule, {"costs": free}, progress=progress)[0]
    return {name: ran[name] for name in ("short_receives",) if name in ran}


def _short_jobs(jobs: Sequence[Workload], progress: Progress | None) -> dict[str, Any]:
    """Receives that are smaller than their messages, of the first job that has some."""
    for one in jobs:
        try:
            found = short_receives(one, progress)
        except RefusalError:  # it waits for other jobs, or runs by other rules
            continue
        if found:
            return found
    return {}


def _message(asked: SimulationRequest) -> Simulation:
    spec, progress = dict(asked.spec), asked.progress
    source = asked.source
    if "workload" not in spec:
        if spec.get("workload_options"):
            spec["workload"] = usual("message", "workload")
        elif source is None or is_network(source):
            raise RefusalError(NO_WORKLOAD)
        else:
            source, spec["workload"] = None, source
    file = file_of(spec.get("costs"))
    on, where = over_network(source, asked, spec)
    words = {
        "workload": job_called(spec["workload"]),
        "selection": None if on is None else spec.get("selection", usual("message", "selection")),
        **{name: spec.get(name, usual("message", name)) for name in ("seed", "seeds")},
    }
    own = None
    known = named(spec["workload"], spec.get("workload_options"))
    if known is None:
        if spec.pop("workload_options", None):
            raise RefusalError("workload_options: of a workload by name; this one is a file")
        own = job(spec.pop("workload"), codes=False, progress=progress)
    elif own_application(known[0]) is not None:
        each = whole("per_endpoint", spec.get("per_endpoint", 1), 0, 2**32 - 1)
        count = None if on is None else topology_of(on).endpoints * each
        own = made(*known, progress, count)
        spec = {key: value for key, value in spec.items() if not key.startswith("workload")}
    if on is not None and where is not None:
        each = whole("per_endpoint", spec.get("per_endpoint", 1), 1, 2**32 - 1)
        if own is not None:
            ranks = own.ranks
        else:
            assert known is not None  # else it is a file, which was read
            ranks = ranks_of(*known, topology_of(on).endpoints * each, progress)
        check_ranks(on, asked.spec["placement"], where, ranks, each)
    found, finish, links, path = _core.simulate_message(
        own, spec, on, where, asked.critical_path, progress
    )
    if file is not None:
        found["costs"]["file"] = file
    more: dict[str, Any] = {} if links is None else {"links": links}
    if path is not None:
        more["critical_path"] = path
    return CLASSES["message"]({**found, **words, "rank_finish_ns": finish, **more})


def over_network(
    source: Tables | None, asked: SimulationRequest, spec: dict[str, Any]
) -> tuple[Topology | Routing | None, list[int] | None]:
    """The network or tables that messages go over, if any, and the endpoint of every rank where
    given.

    Puts the costs and the policy of the placement into ``spec``.
    """
    if "costs" in spec:
        spec["costs"] = asked_costs(spec["costs"])
    if source is not None:
        on = asked.on(source)
        spec["placement"], where = places(
            on, spec.get("placement"), spec.get("per_endpoint", 1)
        )
        return on, where
    for name, is_given in (
        ("engine", asked.how.get("engine") is not None),
        ("placement", spec.get("placement", "linear") != "linear"),
        ("per_endpoint", spec.get("per_endpoint", 1) != 1),
    ):
        if is_given:
            raise RefusalError(f"{name}: of a network, and there is none; give one")
    return None, None


SEVERAL_NETWORKS = (
    "network: one a call; several, each with its label, in an experiment: flyloom run FILE.toml"
    " with a [[point]] or an entry of [[sweep.zip]] for each (docs/experiments.md)"
)
"""The refusal of several networks."""

NO_NETWORK = "gbps: of a network, and there is none; give one"
"""The refusal of a rate without a network."""

NO_WORKLOAD = (
    "workload: what processes do; a name (flyloom workload list) with its parameters, a file of"
    " one, or a trace"
)
"""The refusal of a run of messages without a workload."""

LEVELS: dict[str, Callable[[SimulationRequest], Simulation]] = {
    "flit": _flit, "message": _message, "packet": _packet,
}
"""The simulators, by level."""
