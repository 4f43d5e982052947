"""Files that points name besides their networks: traffic, schedules, graphs and placements.

Which parameters may name one, the row of the engine, measure or simulator says; how a file is read
goes by the parameter. What was read travels with the point to whoever computes it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flyloom._core import RefusalError, registry
from flyloom._core import parts as core_parts
from flyloom.inputs.applications import is_made, own_application, parameters
from flyloom.inputs.communication import content_of, is_kind, traffic_of
from flyloom.inputs.jobs import names
from flyloom.inputs.rows import RawTimedPackets, RawTrafficRows
from flyloom.inputs.traffic import is_name
from flyloom.inputs.workloads import named as made_workload
from flyloom.inputs.workloads import recognised
from flyloom.lab import measured
from flyloom.plugins.functions import split
from flyloom.plugins.parts import KNOWN
from flyloom.support.files import as_bytes
from flyloom.support.reading import is_path, read_bytes

if TYPE_CHECKING:
    from flyloom.plugins.parts import PluginPart


@cache
def _rows() -> dict[tuple[str, str], dict[str, Any]]:
    """The rows of the registry by kind and name; an experiment has many points."""
    return {(row["kind"], row["name"]): row for row in registry()}


def named(
    point: Mapping[str, Any], parts: Iterable[PluginPart] = ()
) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """The parameters of a point that may name files: table, parameter, and all of the table."""
    rows = _rows()
    routing = point.get("routing", {})
    engine = rows.get(("engine", routing.get("engine", "")), {})
    tables = {"routing": (engine, routing)}
    if "ebb" in point:
        tables["ebb"] = (rows["measure", "ebb"], point["ebb"])
    measures = measured.known(parts)
    tables |= {name: (measures[name], given) for name, given in measured.asked(point).items()}
    for table, (row, given) in tables.items():
        yield from ((table, name, given) for name in row.get("files", ()) if given.get(name))


@cache
def policies() -> frozenset[str]:
    """The placements that are known by name."""
    return frozenset(row["name"] for row in core_parts("placements"))


class ExperimentInputFiles:
    """The files that the points of an experiment name, each read once."""

    def __init__(self, experiment: Path) -> None:
        self.experiment = experiment
        self._traffic: dict[str, RawTrafficRows | RawTimedPackets] = {}
        self._schedules: dict[tuple[str, Callable[[Path], bytes]], bytes] = {}

    def of(
        self, point: Mapping[str, Any], parts: Iterable[PluginPart] = ()
    ) -> tuple[dict[str, RawTrafficRows | RawTimedPackets], dict[str, bytes]]:
        """The files of a point, by the names that the point has for them: those of traffic, and
        those of schedules, graphs and placements, where a trace is given as its schedule.
        RefusalError where one is missing."""
        traffic: dict[str, RawTrafficRows | RawTimedPackets] = {}
        schedules: dict[str, bytes] = {}
        for table, name, given in named(point, parts):
            place, value = f"{table}.{name}", given[name]
            if name == "traffic":
                if isinstance(value, str) and not is_name(value, own=True):
                    traffic[value] = self._rows(place, value)
            elif name == "placement":
                if (content := self._places(place, value)) is not None:
                    schedules[value] = content
            elif name == "graph":
                words = value.split() if isinstance(value, str) else []
                if words and not is_kind(value) and not is_made(words[0]):
                    schedules[value] = self._content(place, "a graph that is made", value,
                                                     content_of)
            else:
                read = codes_content if given.get("collectives") == "codes" else schedule_content
                for one in map(str, names(value)):
                    if not self._is_made(place, one, given):
                        schedules[one] = self._content(place, "a workload", one, read)
        return traffic, schedules

    def _is_made(self, place: str, workload: str, given: Mapping[str, Any]) -> bool:
        """Whether a workload is made by its name; the parameters of a user's application are
        checked before anything runs."""
        if (asked := made_workload(workload)) is None:
            return False
        name, beside = asked
        if (part := own_application(name)) is not None:
            each_place = {"ranks": 1} if place == "sim.message.workload" else {}
            options = given.get("workload_options") or {}
            try:
                parameters(part, {**each_place, **beside, **options})
            except RefusalError as error:
                raise RefusalError(f"{self.experiment}: {place}: {error}") from None
        return True

    def _places(self, place: str, value: object) -> bytes | None:
        """The content of a file of places; None for a policy, or a user's placement."""
        word = split(value)[0] if isinstance(value, str) else ""
        if not isinstance(value, str) or word in policies() or ("placement", word) in KNOWN:
            return None
        if not os.path.isfile(self.experiment.parent / value) and not is_path(value):
            return None  # the core says which policies there are
        return self._content(place, "a policy", value, read_bytes)

    def _rows(self, place: str, name: str) -> RawTrafficRows | RawTimedPackets:
        """The rows of a file of traffic."""
        if name not in self._traffic:
            path = self._path(place, "a name", name, os.path.isfile)
            self._traffic[name] = traffic_of(path)
        return self._traffic[name]

    def _content(
        self, place: str, what: str, name: str, read: Callable[[Path], bytes]
    ) -> bytes:
        """The content of a file of a schedule or a graph, refused before anything runs."""
        if (name, read) not in self._schedules:
            path = self._path(place, what, name, os.path.exists)
            self._schedules[name, read] = read(path)
        return self._schedules[name, read]

    def _path(self, place: str, what: str, name: str, there: Callable[[Path], bool]) -> Path:
        """The path of a file that stands beside the experiment."""
        path = self.experiment.parent / name
        if not there(path):
            words = f"'{name}' is neither {what} nor a file: there is no {path}"
            raise RefusalError(f"{self.experiment}: {place}: {words}")
        return path


def schedule_content(path: Path, *, codes: bool = False) -> bytes:
    """The content of a file of a schedule; a trace's is its schedule, in binary."""
    found = recognised(path)
    made = found.replayed(codes=codes)
    return made.binary() if found.is_trace else as_bytes(found.contents[0])


def codes_content(path: Path) -> bytes:
    """As ``schedule_content``, for packets: collective operations of a trace send nothing."""
    return schedule_content(path, codes=True)
