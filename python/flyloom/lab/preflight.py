"""What is checked of the points of an experiment before the first runs: networks, memory, lanes,
proofs and traffic of simulators, and about how long all take."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from flyloom._core import RefusalError, point_need, simulation_fits, traffic_fits
from flyloom.inputs.measured import check_placement
from flyloom.inputs.traffic import is_name
from flyloom.inputs.workloads import travelling_workloads
from flyloom.lab.point import PointTask, network_of, within
from flyloom.support import machine
from flyloom.support.files import sha256
from flyloom.support.progress import Progress

IRRELEVANT = {
    "traffic", "seed", "seeds", "run", "links", "injection", "packet_flits", "link_latency_cycles",
    "cycle_ns", "messages", "message_bytes", "end_ns", "overtaken", "ranks", "series_ns", "sync",
    "ahead_ns", "undo", "load", "workload", "workload_class", "background", "placement", "mpi",
    "compute", "collectives",
}
"""Parameters of simulators that say nothing of lanes and proofs."""


class PointPrecheck:
    """Checks points one after the other; what several have in common is checked once."""

    def __init__(self) -> None:
        self.known: dict[str, RefusalError | None] = {}

    def check(self, task: PointTask) -> None:
        """RefusalError where a point cannot be run; names the table that is at fault."""
        needs, _ = need_of(task.point) or (0.0, 0.0)
        machine.afford("the point", needs, 0.0)
        with within("topology"):
            self._once(["network", task.source.key], lambda: network_of(task.source))
        for level, given in task.point.get("sim", {}).items():
            with within(f"sim.{level}"):
                self._placement(task, level, given)
        if "routing" in task.point:  # its lanes are known with its tables
            return
        for level, given in task.point.get("sim", {}).items():
            with within(f"sim.{level}"):
                self._simulated(task, level, given)

    def _placement(self, task: PointTask, level: str, given: Mapping[str, Any]) -> None:
        """A file of places is read for the network and the processes that it is for."""
        if given.get("placement") not in task.workloads:
            return
        keys = ("placement", "per_endpoint", "workload", "workload_options", "collectives",
                "background")
        relevant = {key: given[key] for key in keys if key in given}
        contents = {name: sha256(content) for name, content in task.workloads.items()}
        with travelling_workloads(task.workloads):
            self._once(
                [task.source.key, level, relevant, contents],
                lambda: check_placement(network_of(task.source), f"sim.{level}", relevant),
            )

    def _simulated(self, task: PointTask, level: str, given: Mapping[str, Any]) -> None:
        relevant = {key: value for key, value in given.items() if key not in IRRELEVANT}
        if classes := relevant.get("traffic_class"):
            relevant["traffic_class"] = [
                {key: value for key, value in one.items() if key != "traffic"} for one in classes
            ]
        most = max(_loads(given), default=0.0)
        if level == "flit":
            relevant["load"] = [most] if most > 1 else [0.5]
        self._once(
            [task.source.key, level, relevant],
            lambda: simulation_fits(network_of(task.source), level, relevant),
        )
        for traffic in _named(given):
            asked = [task.source.key, "traffic", traffic, given.get("seed", 0)]
            self._once(asked, lambda traffic=traffic: traffic_fits(  # type: ignore[misc]
                network_of(task.source), traffic, given.get("seed", 0)))

    def _once(self, asked: Any, check: Callable[[], Any]) -> None:
        key = json.dumps(asked, sort_keys=True)
        if key not in self.known:
            try:
                check()
                self.known[key] = None
            except RefusalError as error:
                self.known[key] = error
        if (found := self.known[key]) is not None:
            raise found


def _loads(given: Mapping[str, Any]) -> list[float]:
    loads = given.get("load")
    found = loads if isinstance(loads, list) else [loads]
    return [load for load in found if isinstance(load, int | float)]


def _named(given: Mapping[str, Any]) -> Iterator[str]:
    """The traffics of a simulation that are names, and no files."""
    classes = given.get("traffic_class") or []
    for table in (given, *classes):
        traffic = table.get("traffic")
        if isinstance(traffic, str) and is_name(traffic):
            yield traffic


def need_of(point: Mapping[str, Any]) -> tuple[float, float] | None:
    """Bytes and seconds that a point takes, on one processor; None where nothing is known."""
    spec = {key: value for key, value in point["topology"].items() if key != "failures"}
    family = spec.pop("family", None)
    asked = point.get("routing", {"engine": None, "lmc": 0})
    if family is None:
        return None
    try:
        layers = asked.get("layers") or 1 << asked["lmc"]
        return point_need(family, spec, asked["engine"], layers, point.get("sim", {}))
    except RefusalError:  # a user's part, or the point itself will report it
        return None


def checked(
    tasks: Mapping[int, PointTask], progress: Progress | None
) -> Iterator[tuple[int, RefusalError]]:
    """The tasks that cannot be run, by their numbers, and why."""
    preflight = PointPrecheck()
    total = sum(task.compute for task in tasks.values())
    done = 0
    for number, task in list(tasks.items()):
        if not task.compute:
            continue
        try:
            preflight.check(task)
        except RefusalError as error:
            yield number, error
        done += 1
        if progress and total > 1:
            progress("points checked", done, total)


def seconds_of(points: Iterable[Mapping[str, Any]], workers: int) -> tuple[float, bool]:
    """About how long points take with this number of processors, and whether that is all of it:
    networks of files, and workloads, are not counted."""
    needs = [(point, need_of(point)) for point in points]
    whole = all(
        need and not any(given.get("workload") for given in point.get("sim", {}).values())
        for point, need in needs
    )
    return math.fsum(need[1] for _, need in needs if need) / max(1, workers), whole
