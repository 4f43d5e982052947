"""Experiments: a TOML file in, results and a report out; resumable, the same bytes every time.

Every finished point is kept in ``points/`` under a digest of what it asks for and of the sources it
stands on, so that a run that was interrupted goes on where it stopped and an unchanged point is
never computed twice; what is kept is believed by the digest inside it. Result files are written
whole or not at all. Wall times live in the manifest only.
"""

from __future__ import annotations

import contextlib
import functools
import json
import math
import os
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from flyloom._core import FaultError, RefusalError, experiment_place
from flyloom.inputs.file_pairs import file_pair
from flyloom.inputs.needs import placed
from flyloom.inputs.rows import digest_of
from flyloom.lab import choice, executors, lines, measured, preflight, sources, store
from flyloom.lab.expanded import expanded, parts_of
from flyloom.lab.input_files import ExperimentInputFiles
from flyloom.lab.kept import content_digest, keep, kept, key
from flyloom.lab.point import NetworkSource, PointTask
from flyloom.lab.rows import differing, values
from flyloom.lab.worker import TaskOutcome, keep_record, wants_fabric
from flyloom.plugins.parts import KNOWN
from flyloom.support import machine
from flyloom.support.files import check_folder, remove_leftovers, sha256, sync_folder
from flyloom.support.progress import Progress
from flyloom.support.reading import read_text
from flyloom.support.refused import in_front
from flyloom.support.results import Result

if TYPE_CHECKING:
    import pyarrow

Say = Callable[[str, str, float], None]
"""Called with a stage's name, one line about its outcome, and its seconds."""

TABLES = ("rows", "series")
"""Tables that a run writes, by the names of their files."""

SYNC_S = 1.0
"""A finished point is on the disk no later than this."""


def run(
    file: str | Path,
    *,
    out: str | Path = "out",
    fresh: bool = False,
    workers: int | None = None,
    on: str | None = None,
    say: Say | None = None,
    progress: Progress | None = None,
) -> Run:
    """Runs the experiment in ``file`` and writes ``out/<name>/``.

    Files: ``rows.parquet`` (a row a point, of simulations a row a load), ``series.parquet`` (load
    histograms, eBB of each pattern, curves), ``cables-*.csv`` (a list a network),
    ``effective.toml`` (all defaults spelled out), ``manifest.json`` (versions, seeds, digests,
    times), ``report.html``; the same bytes wherever points are computed. Fields of the result:
    ``directory``, ``report``, ``points``, ``reused``, ``holds`` (every point verified, every
    comparison equal), ``skipped``; ``to_polars()`` and so on give the rows of ``rows.parquet``.

    Parameters
    ----------
    file
        The experiment, TOML.
    out
        Folder of all results.
    fresh
        Computes every point anew.
    workers
        Processes that compute points side by side, 1 for this one alone; as many as there are
        processors, and memory for, where it is None.
    on
        ``dask://HOST:PORT``: a scheduler of Dask, whose workers compute the points.
    say
        Called with a stage, a line about it and its seconds.
    progress
        Called with ``(what, done, total)``.

    Raises
    ------
    RefusalError
        With what cannot be used: of points the first in their order.
    OSError
        Where results cannot be written, or workers are lost.
    """
    workers = executors.check(workers, on)
    path = Path(file)
    text = read_text(path)
    job = _ExperimentRun(path, text, Path(out), fresh, say or _silent, progress)
    return job.run(workers, on)


class Run(Result):
    """What became of a run. As a table it is ``rows.parquet``, a row for each point, of simulations
    one for each load; ``of`` may be ``rows``, ``series`` (of ``series.parquet``) or ``skipped``."""

    __slots__ = ()

    def to_rows(self, of: str | None = None) -> list[dict[str, Any]]:
        """The rows as plain dictionaries."""
        if of in TABLES or of is None:
            rows: list[dict[str, Any]] = self.to_arrow(of).to_pylist()
            return rows
        return super().to_rows(of)

    def to_arrow(self, of: str | None = None) -> pyarrow.Table:
        """The rows as a table of pyarrow."""
        name = of or "rows"
        if name not in TABLES:
            return super().to_arrow(of)
        import pyarrow.parquet

        return pyarrow.parquet.read_table(Path(self.directory, f"{name}.parquet"))

    def _known(self) -> str:
        return f"{super()._known()}, and {', '.join(TABLES)}"


class _ExperimentRun:
    """One run: the networks met so far, the records of finished points, the lines said."""

    def __init__(
        self, path: Path, text: str, out: Path, fresh: bool, say: Say, progress: Progress | None
    ) -> None:
        found, self.parts = expanded(text, path)
        self.path, self.text = path, text
        self.experiment = found["experiment"]
        self.points = found["points"]
        self.swept: list[str] = found["swept"]
        """What sweeps have given each point, in words."""
        self.swept_keys: list[list[str]] = found["swept_keys"]
        """The keys that sweeps have given each point values of, with dots."""
        self.effective = found["effective"]
        self.choice_task = choice.asked(self.experiment, text, path)
        self.choice: dict[str, Any] | None = None
        """What ``[choose]`` found, once that is known."""
        store.row_types(self.parts)
        self.directory: Path = out / self.experiment["name"]
        self.seed = self.experiment["seed"]
        self.fresh = fresh
        self.say = say
        self.progress = progress
        self.stages: list[dict[str, Any]] = []
        self.skipped: list[dict[str, str]] = []
        self.networks: dict[str, dict[str, Any]] = {}
        """The facts of the networks met so far, by their keys; ``label`` tells them apart."""
        self.sources: dict[str, NetworkSource] = {}
        self.finished: list[dict[str, Any]] = []
        """The points of the records, in their order."""
        self.numbers: list[int] = []
        """The numbers of these points."""
        self.files = ExperimentInputFiles(self.path)
        self.refused: dict[int, RefusalError] = {}
        """Why points cannot be run, by their numbers; those have no record."""
        self.digests: list[str] = []
        """The keys of the points; empty where a point has none."""
        self.reused = 0
        self.code = sources.digest_of("flyloom.lab.point")
        self.differ = differing(self.points)
        """The keys in which points differ."""

    def run(self, workers: int | None, on: str | None) -> Run:
        check_folder(self.directory / "points")
        remove_leftovers(self.directory)
        self._choose()
        try:
            records = list(self._records(workers, on))
        finally:
            sync_folder(self.directory / "points")
        if self.refused and not records:
            raise self.refused[min(self.refused)]
        name_apart(records, self.finished)
        began = time.monotonic()
        report = store.write(self, records, self.networks)
        self._told("report", str(report), time.monotonic() - began)
        if self.refused:
            raise self._some_refused(report)
        holds = all(map(_holds, records))
        return Run({
            "directory": str(self.directory), "report": str(report), "points": len(records),
            "reused": self.reused, "holds": holds, "skipped": self.skipped,
        })

    def _choose(self) -> None:
        """Makes the choice that the experiment asks for, or takes the one that is kept, and gives
        points that have a network by its rank that network."""
        if (task := self.choice_task) is None:
            return
        began = time.monotonic()
        place = self._place(task.digest)
        record = None if self.fresh or not os.path.lexists(place) else \
            kept(place, choice.KEPT_KEYS)
        if isinstance(record, str):
            self.say("anew", f"choose: {place}: {record}; computed anew", 0.0)
        is_kept = isinstance(record, dict)
        if not isinstance(record, dict):
            try:
                record = task.record(self.progress)
            except RefusalError as refusal:
                raise placed(refusal, self.text, self.path) from None
            keep(place, record)
        found: dict[str, Any] = record["choice"]
        self.choice = found
        line = choice.choice_line(found)
        self.stages.append({"name": "choose", "line": line,
                            "seconds": round(time.monotonic() - began, 3)})
        self.say("kept" if is_kept else "choose", line, 0.0 if is_kept else
                 time.monotonic() - began)
        for point in self.points:
            # a rank that there is not is refused with its point
            with contextlib.suppress(RefusalError):
                point["topology"] = choice.topology_of(point["topology"], found)
        self.differ = differing(self.points)

    def _records(self, workers: int | None, on: str | None) -> Iterator[dict[str, Any]]:
        """The records of the points, in their order, but for those that were skipped."""
        records: dict[str, dict[str, Any] | None] = {}
        tasks = self._checked(records)
        if len(self.refused) == len(self.points):
            return
        total = sum(task.compute for task in tasks.values())
        progress = self.progress if total < 2 else None
        if total > 1:
            hands = workers or machine.processors()
            wanted = [task.point for task in tasks.values() if task.compute]
            machine.afford(f"{total} points", 0.0, preflight.seconds_of(wanted, hands)[0])

        def tell(stage: str, facts: dict[str, Any], seconds: float) -> None:
            self._stage(number, stage, facts, seconds)

        with executors.started(tasks, workers, on, tell, progress) as executor:
            outcomes = self._in_order(executor, tasks, total)
            for number, digest in enumerate(self.digests):
                computed = False
                if number in tasks:
                    outcome = next(outcomes)
                    for stage in outcome.stages:
                        tell(*stage)
                    if is_refusal(outcome.error):
                        self._refuse(number, outcome.error)
                    elif outcome.error is not None:
                        raise self._failed(tasks[number], outcome.error)
                    elif computed := tasks[number].compute:
                        records[digest] = outcome.record
                self._refuse_the_same()
                record = None if number in self.refused else records[digest]
                if record is None:
                    continue
                source = self._source(self.points[number])
                facts = self.networks.get(source.key, {})
                if "groups" not in facts:  # the reason was reported with an earlier point
                    self._refuse(number, RefusalError("topology: the network was refused before"))
                    continue
                if not computed:
                    self.reused += 1
                    on_network = self.points[number].get("label") or facts["recipe"]
                    line = f"{record['label']} on {on_network}{self._apart(number)}"
                    self.say("kept", line, 0.0)
                self.finished.append(self.points[number])
                self.numbers.append(number)
                yield record | {"network": facts["label"], "network_key": source.key}

    def _checked(self, records: dict[str, dict[str, Any] | None]) -> dict[int, PointTask]:
        """The tasks of all points, once every point was checked; of those that are refused only
        what is known of their networks."""
        tasks: dict[int, PointTask] = {}
        for number, point in enumerate(self.points):
            try:
                self.digests.append(self._plan(number, point, tasks, records))
            except RefusalError as error:
                self.digests.append("")
                self._refuse(number, error)
        for number, why in preflight.checked(tasks, self.progress):
            self._refuse(number, why)
            tasks[number] = replace(tasks[number], compute=False)
        self._refuse_the_same()
        return {number: task for number, task in tasks.items() if task.compute or task.facts}

    def _plan(
        self, number: int, point: dict[str, Any], tasks: dict[int, PointTask],
        records: dict[str, dict[str, Any] | None],
    ) -> str:
        """Adds the task of a point, unless its record is kept or an earlier point has asked for the
        same, and its network is known; returns the digest by which its record is found."""
        met = len(self.sources)
        source = self._source(point)
        missing, roots = "", ["flyloom.lab.point"]
        if wants_fabric(point):
            missing = self.missing
            roots.append("flyloom.lab.fabric")
        parts = parts_of(point, self.parts)
        traffic, workloads = self.files.of(point, parts)
        written = {"plugins": [part.digest for part in parts]} if parts else {}
        roots += [part.module for part in parts if not part.digest]
        digest = key({
            "point": {k: v for k, v in point.items() if k != "label"}, "network": source.key,
            "seed": self.seed, "code": sources.digest_of(*roots), "missing": missing,
            "traffic": {name: digest_of(found) for name, found in traffic.items()}, **written,
            **({"workloads": {name: sha256(text) for name, text in workloads.items()}}
               if workloads else {}),
        })
        place = self._place(digest)
        asked_before = digest in records
        if not asked_before:
            records[digest] = None if self.fresh else self._kept(number, place)
        facts = len(self.sources) > met
        compute = not asked_before and records[digest] is None
        if compute or facts:
            tasks[number] = PointTask(
                number, self._name(number), source, point, compute, facts, self.seed, digest,
                missing, place, parts, traffic, self.experiment.get("floor", {}), workloads,
            )
        return digest

    def _name(self, number: int) -> str:
        """What a point is called in messages: its swept values, else its engine and network."""
        point = self.points[number]
        engine = point["routing"]["engine"] + " on " if "routing" in point else ""
        return f"point {number + 1} ({self.swept[number] or engine + _named(point)})"

    def network_named(self, number: int) -> str:
        """What the network of a point is called in results."""
        try:
            known = self.networks.get(self._source(self.points[number]).key, {})
        except RefusalError:
            known = {}
        return str(known.get("label") or _named(self.points[number]))

    def _apart(self, number: int) -> str:
        """The words that tell a point from the others, to stand behind a message about it."""
        point = self.points[number]
        if "sim" in point and "routing" not in point:
            words = in_short(point, self.differ, self.swept_keys[number])
        else:
            words = self.swept[number] or in_words(point, self.differ)
        return f" ({words})" if words else ""

    def _refuse(self, number: int, error: RefusalError) -> None:
        """Notes that a point cannot be run, and says why."""
        if number in self.refused:
            return
        self.refused[number] = found = self._refused(number, error)
        why = str(found).partition(f"{self._name(number)}: ")[2] or str(found)
        if len(self.points) > 1:
            self.skipped.append({"what": self._name(number), "why": f"refused: {why}"})
            self.say("refused", f"{self._name(number)}: {why}", 0.0)

    def _refuse_the_same(self) -> None:
        """Refuses points that ask for the same as a point that was refused."""
        known = {self.digests[number]: error for number, error in self.refused.items()}
        for number, digest in enumerate(self.digests):
            if digest and digest in known and number not in self.refused:
                self.refused[number] = known[digest]

    def _some_refused(self, report: Path) -> RefusalError:
        """The refusal of a run of which some points were finished: the first, and which others."""
        first = self.refused[min(self.refused)]
        numbers = [str(number + 1) for number in sorted(self.refused)]
        several = " and ".join([", ".join(numbers[:-1]), numbers[-1]] if numbers[1:] else numbers)
        words = f"point{'s' if numbers[1:] else ''} {several} of {len(self.points)} refused"
        found = RefusalError(f"{first} ({words}; results of the others: {report})")
        found.__dict__.update(vars(first))
        return found

    def _refused(self, number: int, error: RefusalError) -> RefusalError:
        """A refusal of a point with the place in the file and the point's name."""
        file = f"{self.path}: "
        said = str(error).removeprefix(file)
        keys = ": ".join(said.split(": ")[:2])
        place = experiment_place(self.text, str(self.path), keys).removesuffix(f": {keys}")
        name = f": {self._name(number)}" if len(self.points) > 1 else ""
        bare = error if said == str(error) else RefusalError(said)
        return in_front(place + name, bare)

    def _failed(self, task: PointTask, error: BaseException) -> BaseException:
        """An error of a point, with the point's name where it has none."""
        if isinstance(error, FaultError | MemoryError) and len(self.points) > 1:
            return type(error)(f"{task.name}: {error or 'memory ran out'}")
        return error

    def _kept(self, number: int, place: Path) -> dict[str, Any] | None:
        """The record of an earlier run, None where there is none to be believed."""
        if not os.path.lexists(place):
            return None
        record = kept(place)
        if isinstance(record, dict):
            return record
        self.say("anew", f"{self._name(number)}: {place}: {record}; computed anew", 0.0)
        return None

    @functools.cached_property
    def missing(self) -> str:
        """Why there are no fabrics here; empty where there are."""
        from flyloom.deploy import tools

        return _why(tools.missing())

    def _in_order(
        self, executor: executors.Executor, tasks: dict[int, PointTask], total: int
    ) -> Iterator[TaskOutcome]:
        """The outcomes of the tasks in their order; they are kept as they come. What the executor
        takes aside begins first; after an error only what comes before it in order does."""
        aside = executor.aside
        waiting = [deque(n for n in tasks if (n in aside) == first) for first in (True, False)]
        synced = time.monotonic()
        done: dict[int, TaskOutcome] = {}
        finished, wrong = 0, math.inf
        for number in tasks:
            while number not in done:
                for queue in waiting:
                    while queue and queue[0] < wrong and executor.room(queue[0]):
                        executor.submit(queue.popleft())
                for outcome in executor.finished():
                    if outcome.record is not None and not outcome.kept:
                        keep_record(self._place(outcome.record["digest"]), outcome.record)
                    done[outcome.number] = outcome
                    finished += tasks[outcome.number].compute
                    if outcome.error is not None and not is_refusal(outcome.error):
                        wrong = min(wrong, outcome.number)
                if self.progress and total > 1:
                    self.progress("points", finished, total)
                if time.monotonic() > synced + SYNC_S:
                    sync_folder(self.directory / "points")
                    synced = time.monotonic()
            yield done.pop(number)

    def _source(self, point: dict[str, Any]) -> NetworkSource:
        """Where the network of a point comes from; files are read once."""
        spec = point["topology"]
        asked = json.dumps([spec, point.get("label")], sort_keys=True)
        if asked not in self.sources:
            self.sources[asked] = self._read(point, spec, point.get("label"))
        return self.sources[asked]

    def _read(
        self, point: dict[str, Any], spec: dict[str, Any], label: str | None
    ) -> NetworkSource:
        spec = choice.topology_of(spec, self.choice)
        if "file" not in spec:
            params = {k: v for k, v in spec.items() if k not in ("family", "failures")}
            failures = spec.get("failures")
            for part in parts_of(point, self.parts):
                if part.kind == "topology":
                    own_key = _network_key(spec, label, part.digest)
                    return NetworkSource(own_key, params=params, part=part, failures=failures)
            network_key = _network_key(spec, label, "")
            return NetworkSource(network_key, spec["family"], params, failures=failures)
        path = self.path.parent / spec["file"]
        if not os.path.isfile(path):  # False, too, for names that no file can have
            raise RefusalError(f"{self.path}: topology.file: {path} is no file")
        read = functools.partial(
            NetworkSource, name=str(path), failures=spec.get("failures"), gbps=spec.get("gbps"))
        if (pair := file_pair(path, spec.get("p"))) is not None:
            text = pair.to_text("json")
            return read(_network_key(spec, label, sha256(text.encode())), text=text)
        text = read_text(path)
        content = sha256(text.encode())
        if path.suffix != ".toml":
            return read(_network_key(spec, label, content), text=text, p=spec.get("p"))
        from flyloom.inputs.networks import network

        built = network(path, spec.get("p"))
        own = KNOWN.get(("topology", built.family))
        digest = _network_key(spec, label, content + (own.digest if own else ""))
        return read(digest, text=built.to_text("json"))

    def _place(self, digest: str) -> Path:
        return self.directory / "points" / f"{digest}.json"

    def _stage(self, number: int, stage: str, known: dict[str, Any], seconds: float) -> None:
        """Says a finished stage of a task, and what is known after it."""
        if stage == "skipped":
            self.skip(known["what"] + self._apart(number), known["why"])
            return
        if stage == "design":
            self._meet(self.points[number], known)
        if stage in ("design", "plan"):
            label = self.networks[self._source(self.points[number]).key]["label"]
            of = {"design": lines.design_line, "plan": lines.plan_line}[stage]
            line = of(label, known["structure" if stage == "design" else "plan"])
        else:
            named = known | {"label": known["label"] + self._apart(number)}
            line = lines.RECORD[stage](named)
        self._told(stage, line, seconds)

    def _meet(self, point: dict[str, Any], facts: dict[str, Any]) -> None:
        """Adds a network that no earlier point has, with a label that no other network has."""
        label = point.get("label") or facts["recipe"] + _failed(point["topology"])
        if label in [other["label"] for other in self.networks.values()]:
            label = f"{label} ({facts['recipe']})"
        facts["label"] = label
        self.networks[self._source(point).key] = facts

    def _told(self, stage: str, line: str, seconds: float) -> None:
        self.stages.append({"name": stage, "seconds": round(seconds, 3), "line": line})
        self.say(stage, line, seconds)

    def skip(self, what: str, why: str) -> None:
        """Records and says that something was left out."""
        if {"what": what, "why": why} not in self.skipped:
            self.skipped.append({"what": what, "why": why})
        self.say("skipped", f"{what}: {why}", 0.0)


def name_apart(records: list[dict[str, Any]], points: list[dict[str, Any]]) -> None:
    """Gives records of one network that would be called the same names that tell them apart: what
    points with the same measures ask for differently, the measures where that is not enough, else
    the number of the point. ``points`` are as many.

    Records keep, for the report, what was asked of their measures, ``parameters``; those of
    simulations what they were ``called`` and what was asked of simulators, ``asked``."""
    for record, point in zip(records, points, strict=True):
        record["parameters"] = {
            name: given for name, given in measured.asked(point).items()
            if not name.startswith("sim.")
        }
        if "sim" in point:
            record |= {"called": record["label"], "asked": point["sim"]}
    kinds = [", ".join(measured.asked(point)) for point in points]
    for places in _grouped(records, range(len(records))):
        for kind in dict.fromkeys(kinds[place] for place in places):
            alike = [place for place in places if kinds[place] == kind]
            asked = [dict(_leaves(points[place])) for place in alike]
            keys = dict.fromkeys(key for one in asked for key in one)
            apart = [key for key in keys if len({one.get(key) for one in asked}) > 1]
            for place, one in zip(alike, asked, strict=True):
                words = [f"{key} {one[key]}" for key in apart if key in one]
                records[place]["label"] = ", ".join([records[place]["label"], *words])
        for again in _grouped(records, places):
            if len({kinds[place] for place in again}) > 1:
                for place in again:
                    records[place]["label"] += f", {kinds[place]}" if kinds[place] else ""
        for again in _grouped(records, places):
            for place in again:
                records[place]["label"] += f" (point {place + 1})"


def _grouped(records: list[dict[str, Any]], places: Iterable[int]) -> list[list[int]]:
    """The places of records of one network with one name, where there are several."""
    same: dict[tuple[str, str], list[int]] = {}
    for place in places:
        same.setdefault((records[place]["network"], records[place]["label"]), []).append(place)
    return [of for of in same.values() if len(of) > 1]


def _leaves(asked: dict[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """What a point asks for besides its network and its routing, by keys with dots."""
    for name, value in asked.items():
        if before or name not in ("label", "topology", "routing"):
            if isinstance(value, dict):
                yield from _leaves(value, f"{before}{name}.")
            else:
                yield before + name, value if isinstance(value, str) else json.dumps(value)


def in_words(point: Mapping[str, Any], differ: Sequence[str]) -> str:
    """What tells a point from the others in words: its network where networks differ, and the
    values that it has at the keys in which points ``differ``."""
    on_network = any(key.partition(".")[0] == "topology" for key in differ)
    words = [_named(point)] if on_network else []
    for name, value in values(point, differ).items():
        if value is not None and name.partition(".")[0] != "topology":
            words.append(f"{name} {value if isinstance(value, str) else json.dumps(value)}")
    return ", ".join(words)


def in_short(point: Mapping[str, Any], differ: Sequence[str], swept: Collection[str]) -> str:
    """As :func:`in_words` for lines of progress of points that are simulated without tables, which
    are called by their selection: the point's label in place of its network's parameters, and
    values without the names of their tables, of the keys ``swept`` alone where there are some."""
    on_network = any(key.partition(".")[0] == "topology" for key in differ)
    words = [str(point["label"])] if point.get("label") else [_named(point)] if on_network else []
    for name, value in values(point, differ).items():
        table, _, key = name.rpartition(".")
        if value is None or name.partition(".")[0] in ("topology", "label"):
            continue
        if key == "selection" or (swept and name not in swept):
            continue  # the point is called by it; or it differs by a default alone
        text = value if isinstance(value, str) else json.dumps(value)
        plain = key in ("traffic", "workload")
        words.append(text if plain else f"{key if table.startswith('sim.') else name} {text}")
    return ", ".join(words)


def is_refusal(error: BaseException | None) -> TypeGuard[RefusalError]:
    """Whether a point was refused; a worker that refuses to work is another matter."""
    return isinstance(error, RefusalError) and not str(error).startswith("on: ")


def _holds(record: dict[str, Any]) -> bool:
    """Whether all routing of a point is proved, and what was deployed is what was computed."""
    simulated = [found for name, found in record["measures"].items() if name.startswith("sim.")]
    proved = record["verify"] is None or record["verify"]["holds"]
    free = all(found.get("verified", True) for found in simulated)
    return proved and free and _equal(record.get("deploy"))


def _equal(found: dict[str, Any] | None) -> bool:
    if not found or "skipped" in found:
        return True
    same = all(found[f"differing_{k}entries"] == 0 for k in ("", "sl_", "sl2vl_"))
    return same and found["deadlock_free"]


def _why(missing: list[tuple[str, str]]) -> str:
    """Names the missing programs in words; empty if none is missing."""
    if not missing:
        return ""
    names = ", ".join(name for name, _ in missing)
    packages = " ".join(sorted({package for _, package in missing}))
    return f"not installed: {names} (apt-get install {packages})"


def _named(point: Mapping[str, Any]) -> str:
    """The network of a point in a few words."""
    spec = point["topology"]
    if choice.CHOSEN in spec:
        return point.get("label") or f"chosen network {spec[choice.CHOSEN]}" + _failed(spec)
    words = ("family", "file", "failures")
    params = ",".join(f"{k}={v}" for k, v in spec.items() if k not in words)
    named = f"{spec.get('family') or spec['file']}:{params}".rstrip(":")
    return point.get("label") or named + _failed(spec)


def _failed(spec: dict[str, Any]) -> str:
    """What has failed of a network, in a few words after its name."""
    parts = (spec.get("failures") or {}).items()
    words = (
        f"{key}={'+'.join(map(str, value)) if isinstance(value, list) else value}"
        for key, value in parts
    )
    return f" without {','.join(words)}" if parts else ""


def _network_key(spec: dict[str, Any], label: str | None, content: str) -> str:
    return content_digest({"topology": spec, "label": label, "content": content})[:16]


def _silent(_stage: str, _line: str, _seconds: float) -> None:
    pass
