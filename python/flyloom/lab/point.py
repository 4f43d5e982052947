"""One point of an experiment: its network built and measured, its tables made, proved, loaded.

A point without ``routing`` has no tables: its measures are of the network alone.

The key of a kept point has a digest of all that this file imports (`flyloom.lab.sources`): what
does not change the figures of a point has no place here.
"""

from __future__ import annotations

import contextlib
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flyloom._core import RefusalError, Routing, Topology
from flyloom.inputs.measured import measured
from flyloom.inputs.own_topologies import made
from flyloom.inputs.rates import rated
from flyloom.inputs.rows import RawTimedPackets, RawTrafficRows
from flyloom.inputs.selections import said
from flyloom.inputs.traffic import travelling
from flyloom.inputs.workloads import travelling_workloads
from flyloom.lab.measured import asked, by_load, known
from flyloom.plugins.parts import KNOWN
from flyloom.support.errors import DeployError
from flyloom.support.refused import in_front
from flyloom.support.words import selection_name
from flyloom.verbs.engines import lids_for, route_by_ours
from flyloom.verbs.own_measures import record_by

if TYPE_CHECKING:
    from flyloom.plugins.parts import PluginPart
    from flyloom.support.progress import Progress

Tell = Callable[[str, dict[str, Any], float], None]
"""Called with a finished stage, what is known after it, and its seconds."""

REMEMBERED = 4
"""Networks that a process keeps besides those that are shared."""


@dataclass(frozen=True)
class NetworkSource:
    """Where a network comes from: a family, built in or a user's, with its parameters, or the text
    of a file."""

    key: str
    """Digest of all of it."""
    family: str = ""
    params: dict[str, Any] = field(default_factory=dict)
    text: str = ""
    name: str = ""
    """The name of the file."""
    p: int | None = None
    """Endpoints a switch, for files that have none."""
    part: PluginPart | None = None
    """The user's topology, where it is one."""
    failures: dict[str, Any] | None = None
    """Which links and switches have failed."""
    gbps: float | None = None
    """The rate of the cables that is given beside a file, Gbit/s."""

    def build(self) -> Topology:
        """The network; RefusalError where there is none."""
        if self.part is not None:
            whole = made(self.part, self.params)
        elif self.family:
            whole = Topology.from_spec(self.family, self.params)
        else:
            whole = rated(Topology.from_text(self.text, self.name, self.p), self.gbps)
        return whole.with_failures(*whole.failures(self.failures)) if self.failures else whole


@dataclass(frozen=True)
class PointTask:
    """What is asked of a worker: a point, the facts of its network, or both."""

    number: int
    """The number of the point, from 0 in their order."""
    name: str
    """The name of the point, for errors."""
    source: NetworkSource
    point: dict[str, Any]
    compute: bool
    """False where the point itself is kept from an earlier run."""
    facts: bool
    """Whether it is the first of its network."""
    seed: int
    digest: str
    """The key that its record is kept under."""
    missing: str
    """Why there is no fabric; empty where there is one, or none is wanted."""
    place: Path | None
    """The file that the record is kept in; None where that is not the worker's to write."""
    parts: tuple[PluginPart, ...] = ()
    """The users' parts that the point asks for."""
    traffic: dict[str, RawTrafficRows | RawTimedPackets] = field(default_factory=dict)
    """The files of traffic that the point names, as they were read."""
    floor: dict[str, Any] = field(default_factory=dict)
    """Rules of the floor that its network is laid out on."""
    workloads: dict[str, bytes] = field(default_factory=dict)
    """The files of schedules that the point names, as they were read."""


_shared: dict[str, Topology] = {}
_latest: OrderedDict[str, Topology] = OrderedDict()


def share(source: NetworkSource) -> None:
    """Builds a network for all points of this process and of those forked from it."""
    _shared[source.key] = source.build()


def forget() -> None:
    """Gives back the memory of all networks that were built."""
    _shared.clear()
    _latest.clear()


def network_of(source: NetworkSource) -> Topology:
    """The network, built where this process does not have it."""
    found = _shared.get(source.key) or _latest.get(source.key)
    if found is None:
        found = _latest[source.key] = source.build()
        while len(_latest) > REMEMBERED:
            _latest.popitem(last=False)
    return found


def facts_of(
    source: NetworkSource, tell: Tell, progress: Progress | None,
    floor: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """What results and report say of a network, whatever its routing; ``floor`` has the rules that
    it is laid out by."""
    clock = _StageClock(tell)
    with within("topology"):
        topology = network_of(source)
    facts: dict[str, Any] = {
        "recipe": topology.recipe, "structure": topology.measure("structure", progress=progress),
    }
    clock.report("design", facts)
    facts["plan"] = topology.plan(floor or None)
    clock.report("plan", facts)
    facts["edges"] = topology.edges.tolist()
    facts["switch_names"] = topology.switch_names
    levels = topology.tree_levels()
    facts["groups"] = topology.groups.tolist() if levels is None else [
        f"level {level}" for level in levels]
    return facts


def options_of(point: dict[str, Any]) -> dict[str, Any]:
    """The options of the engine of a point, ``[lanes]`` among them."""
    asked = ("engine", "lmc", "layers", "new_lids")
    options = {key: value for key, value in point["routing"].items() if key not in asked}
    return options | {key: point[key] for key in ("lanes",) if key in point}


def routing_of(
    topology: Topology, point: dict[str, Any], progress: Progress | None, fabric: Any,
    parts: tuple[PluginPart, ...] = (),
) -> Routing:
    """The tables that a point asks for; DeployError where OpenSM gives none."""
    spec, options = point["routing"], options_of(point)
    engine, lmc = spec["engine"], spec["lmc"]
    layers = spec.get("layers") or 1 << lmc
    topology = lids_for(topology, layers, spec.get("new_lids", False))
    if engine.startswith("opensm:"):
        theirs: Routing = fabric.route(topology, engine, lmc, options.get("max_lanes"))
        return theirs
    own = next((part for part in parts if part.kind == "engine"), None)
    return route_by_ours(topology, engine, options, layers, lmc, progress, own)


def record_of(
    task: PointTask, tell: Tell, progress: Progress | None, fabric: Any
) -> dict[str, Any] | None:
    """The record of a point, which is what is kept of it; None where the point was skipped.
    ``fabric`` is the module `flyloom.lab.fabric`, for points that need it."""
    for part in task.parts:  # a worker of Dask has them from here
        KNOWN.setdefault((part.kind, part.name), part)
    with travelling(task.traffic), travelling_workloads(task.workloads):
        return _record_of(task, tell, progress, fabric)


def _record_of(
    task: PointTask, tell: Tell, progress: Progress | None, fabric: Any
) -> dict[str, Any] | None:
    with within("topology"):
        topology = network_of(task.source)
    spec = task.point.get("routing")
    if spec is None:
        record: dict[str, Any] = {**NO_TABLES, "label": _selections(task.point), "measures": {}}
        _measure(topology, task, record, progress, _StageClock(tell))
        return record | {"digest": task.digest}
    engine, lmc, options = spec["engine"], spec["lmc"], options_of(task.point)
    record = {"label": _label(spec, options)}
    opensm = engine.startswith("opensm:")
    if opensm and task.missing:
        tell("skipped", {"what": record["label"], "why": task.missing}, 0.0)
        return None
    clock = _StageClock(tell)
    try:
        with within("routing"):
            routing = routing_of(topology, task.point, progress, fabric, task.parts)
    except DeployError as error:
        tell("skipped", {"what": record["label"], "why": str(error)}, 0.0)
        return None
    record |= {
        "engine": engine, "lmc": lmc, "layers": routing.layers, "options": options,
        "lanes": routing.lanes,
    }
    clock.report("route", record)
    with within("verify"):
        proof = routing.measure("verify", task.point["verify"], progress)
    record |= {"verify": proof, "load": None, "ebb": None, "measures": {}}
    clock.report("verify", record)
    if proof["complete"]["holds"]:
        record["load"] = routing.measure("edge_load", progress=progress)
        if task.point["ebb"]["samples"]:
            clock.again()
            given = {**task.point["ebb"], "seed": task.seed}
            with within("ebb"):
                record["ebb"] = measured(routing, "ebb", given, progress)
            clock.report("ebb", record)
    _measure(routing, task, record, progress, clock)
    if (wanted := task.point.get("deploy")) and not opensm:
        if task.missing:
            tell("skipped", {"what": "fabric stage", "why": task.missing}, 0.0)
            record["deploy"] = {"skipped": task.missing}
        else:
            clock.again()
            record["deploy"] = fabric.deployed(routing, wanted["oracle"])
            clock.report("deploy", record)
    record["digest"] = task.digest
    return record


@contextlib.contextmanager
def within(table: str) -> Iterator[None]:
    """Says of a refusal which table of the point it is of."""
    try:
        yield
    except RefusalError as error:
        if str(error).startswith(f"{table}: "):
            raise
        raise in_front(table, error) from None


NO_TABLES: dict[str, Any] = {
    "engine": None, "lmc": None, "layers": None, "options": {}, "lanes": None, "verify": None,
    "load": None, "ebb": None,
}
"""What the record of a point says of tables where it has none."""


def _measure(
    on: Topology | Routing, task: PointTask, record: dict[str, Any], progress: Progress | None,
    clock: _StageClock,
) -> None:
    """Adds what a point asks for besides to its record: of tables, where all routes arrive."""
    arrives = record["verify"] is None or record["verify"]["complete"]["holds"]
    for name, given in asked(task.point).items():
        if arrives or known(task.parts)[name]["input"] == "topology":
            clock.again()
            with within(name):
                found = record_by(on, name, given, progress, task.parts)
            record["measures"][name] = found
            clock.report("measure", {
                "label": record["label"], "name": name,
                "figures": by_load(name, found, task.parts),
            })


def _selections(point: dict[str, Any]) -> str:
    """What a point without tables is called: how packets choose their paths."""
    chosen = [
        selection_name(said(asked.get("selection") or f"messages {asked['network']['paths']}"))
        for asked in point.get("sim", {}).values()
    ]
    return ", ".join(dict.fromkeys(chosen)) or "no routing"


def _label(spec: dict[str, Any], options: dict[str, Any]) -> str:
    """What a point is called among those of its network."""
    layers = spec.get("layers")
    more = {"layers": layers} if layers not in (None, 1 << spec["lmc"]) else {}
    words = "".join(f", {key} {_said(value)}" for key, value in {**more, **options}.items())
    return f"{spec['engine']}, LMC {spec['lmc']}{words}"


def _said(value: Any) -> Any:
    """The value of an option in a few words: a table of lanes as the command line has it."""
    if isinstance(value, dict):
        table = dict(value)
        method, rest = table.pop("method", ""), ",".join(f"{k}={v}" for k, v in table.items())
        return f"{method}:{rest}".strip(":").lower()
    return f"of {len(value)}" if isinstance(value, list) else value


class _StageClock:
    def __init__(self, tell: Tell) -> None:
        self.tell = tell
        self.again()

    def again(self) -> None:
        self.began = time.monotonic()

    def report(self, stage: str, known: dict[str, Any]) -> None:
        """Reports a stage with the seconds since the one before."""
        self.tell(stage, known, time.monotonic() - self.began)
        self.again()
