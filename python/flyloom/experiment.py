"""Experiments: a TOML file in, results and a report out; resumable, the same bytes every time.

Every finished point is kept in ``points/`` under a digest of what it asks for and of the code that
answers, so that a run that was interrupted goes on where it stopped and an unchanged point is never
computed twice. Result files are written whole or not at all. Wall times live in the manifest only.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import platform
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from flyloom import _core, verbs
from flyloom._core import RefusalError, Topology, expand
from flyloom.deploy import DeployError, tools
from flyloom.graph import network, read_text
from flyloom.results import Result

Say = Callable[[str, str, float], None]
"""Called with a stage's name, one line about its outcome, and its seconds."""


def run(
    file: str | Path,
    *,
    out: str | Path = "out",
    fresh: bool = False,
    say: Say | None = None,
    progress: verbs.Progress | None = None,
) -> Result:
    """Runs the experiment in ``file`` and writes ``out/<name>/``.

    Files: ``rows.parquet`` (a row a point), ``series.parquet`` (load histograms and eBB of each
    pattern), ``cables-*.csv`` (a list a network), ``effective.toml`` (all defaults spelled out),
    ``manifest.json`` (versions, seeds, digests, times), ``report.html``. ``fresh`` computes every
    point anew. Fields of the result: ``directory``, ``report``, ``points``, ``reused``, ``holds``
    (every point verified, every comparison equal), ``skipped``.
    """
    path = Path(file)
    expanded = expand(read_text(path), str(path))
    job = _Job(path, expanded, Path(out), fresh, say or _silent, progress)
    return job.run()


class _Job:
    """One run: the networks met so far, the records of finished points, the lines said."""

    def __init__(self, path, expanded, out, fresh, say, progress) -> None:
        self.path = path
        self.experiment = expanded["experiment"]
        self.points = expanded["points"]
        self.effective = expanded["effective"]
        self.directory = out / self.experiment["name"]
        self.seed = self.experiment["seed"]
        self.fresh = fresh
        self.say = say
        self.progress = progress
        self.stages: list[dict[str, Any]] = []
        self.skipped: list[dict[str, str]] = []
        self.networks: dict[str, tuple[Topology, dict]] = {}
        self.reused = 0

    def run(self) -> Result:
        remove_leftovers(self.directory)
        records = []
        for number, point in enumerate(self.points):
            key, (topology, facts) = self._network(point)
            record = self._point(number, point, key, topology)
            if record is not None:
                records.append(record | {"network": facts["label"], "network_key": key})
        name_apart(records)
        from flyloom import store

        self.make_folders()
        with self.stage("report") as done:
            networks = {key: facts for key, (_, facts) in self.networks.items()}
            report = store.write(self, records, networks)
            done(str(report))
        holds = all(r["verify"]["holds"] and _equal(r.get("deploy")) for r in records)
        return Result({
            "directory": str(self.directory), "report": str(report), "points": len(records),
            "reused": self.reused, "holds": holds, "skipped": self.skipped,
        })

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[Callable[[str], None]]:
        """Times a stage; the function it yields takes the line to say."""
        began = time.monotonic()
        line = ""

        def done(text: str) -> None:
            nonlocal line
            line = text

        yield done
        seconds = time.monotonic() - began
        self.stages.append({"name": name, "seconds": round(seconds, 3), "line": line})
        self.say(name, line, seconds)

    def _network(self, point: dict) -> tuple[str, tuple[Topology, dict]]:
        spec = point["topology"]
        source = None
        if "file" in spec:
            source = self.path.parent / spec["file"]
            if not source.is_file():
                raise RefusalError(f"{self.path}: topology.file: {source} does not exist")
        content = hashlib.sha256(source.read_bytes()).hexdigest() if source else ""
        key = _digest({"topology": spec, "label": point.get("label"), "content": content})[:16]
        if key not in self.networks:
            with self.stage("design") as done:
                if source:
                    topology = network(source, spec.get("p"))
                else:
                    params = {k: v for k, v in spec.items() if k != "family"}
                    topology = Topology.from_spec(spec["family"], params)
                structure = topology.structure(progress=self.progress)
                label = point.get("label") or topology.recipe
                if label in [facts["label"] for _, facts in self.networks.values()]:
                    label = f"{label} ({topology.recipe})"
                done(
                    f"{label}: {structure['switches']} switches, {structure['endpoints']} "
                    f"endpoints, {structure['links']} links, diameter {structure['diameter']}"
                )
            with self.stage("plan") as done:
                plan = topology.plan()
                done(
                    f"{label}: {len(plan['racks'])} racks, {plan['cables']} cables, "
                    f"{plan['length_m']:.0f} m"
                )
            facts = {
                "label": label, "recipe": topology.recipe, "structure": structure, "plan": plan,
            }
            self.networks[key] = (topology, facts)
        return key, self.networks[key]

    def _point(self, number: int, point: dict, key: str, topology: Topology) -> dict | None:
        wants_fabric = point.get("deploy") or point["routing"]["engine"].startswith("opensm:")
        missing = tools.missing() if wants_fabric else []
        digest = _digest({
            "point": {k: v for k, v in point.items() if k != "label"}, "network": key,
            "seed": self.seed, "code": code_digest(), "missing": missing,
        })
        kept = self.directory / "points" / f"{digest}.json"
        if kept.is_file() and not self.fresh:
            record = json.loads(kept.read_text())
            self.reused += 1
            self.say("kept", f"{record['label']} on {point.get('label') or topology.recipe}", 0.0)
            return record
        record = self._compute(point, topology, missing)
        if record is not None:
            record["digest"] = digest
            self.make_folders()
            write_whole(kept, json.dumps(record))
        return record

    def make_folders(self) -> None:
        """Makes the folders of the results, not before there is one: a refusal leaves nothing."""
        try:
            (self.directory / "points").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RefusalError(f"{self.directory}: cannot be written: {error.strerror}") from None

    def _compute(self, point: dict, topology: Topology, missing: list) -> dict | None:
        spec = point["routing"]
        engine, lmc = spec["engine"], spec["lmc"]
        options = {k: v for k, v in spec.items() if k not in ("engine", "lmc")}
        extra = "".join(f", {key} {value}" for key, value in options.items())
        label = f"{engine}, LMC {lmc}{extra}"
        if engine.startswith("opensm:"):
            verbs.known_to_opensm(engine)
        if engine.startswith("opensm:") and missing:
            self.skip(label, _why(missing))
            return None
        try:
            with self.stage("route") as done:
                routing = verbs.route(
                    topology, engine, lmc=lmc, progress=self.progress, **options
                )
                done(f"{label}: {lanes(routing.lanes)}")
        except DeployError as error:
            self.skip(label, str(error))
            return None
        with self.stage("verify") as done:
            proof = routing.verify(point["verify"]["hop_limit"], self.progress)
            done(f"{label}: {verdict_line(proof)}")
        record = {
            "label": label, "engine": engine, "lmc": lmc, "layers": routing.layers,
            "options": options, "lanes": routing.lanes, "verify": proof, "load": None, "ebb": None,
        }
        if proof["complete"]["holds"]:
            record["load"] = routing.load()
            if point["ebb"]["patterns"]:
                with self.stage("ebb") as done:
                    record["ebb"] = routing.ebb(point["ebb"]["patterns"], self.seed, self.progress)
                    done(f"{label}: {ebb_line(record['ebb'])}")
        if point.get("deploy") and not engine.startswith("opensm:"):
            record["deploy"] = self._deploy(point["deploy"], routing, topology, missing)
        return record

    def _deploy(self, spec: dict, routing, topology: Topology, missing: list) -> dict:
        if missing:
            self.skip("fabric stage", _why(missing))
            return {"skipped": _why(missing)}
        from flyloom.deploy.fabric import deploy

        with self.stage("deploy") as done:
            found = deploy(routing, topology=topology, oracle=spec["oracle"]).to_dict()
            found.pop("seconds")
            done(deploy_line(found))
        return found

    def skip(self, what: str, why: str) -> None:
        """Records and says that something was left out."""
        if {"what": what, "why": why} not in self.skipped:
            self.skipped.append({"what": what, "why": why})
        self.say("skipped", f"{what}: {why}", 0.0)


def lanes(count: int) -> str:
    """A number of lanes in words."""
    return "1 lane" if count == 1 else f"{count} lanes"


def name_apart(records: list[dict]) -> None:
    """Gives points of one network that would be called the same names that tell them apart."""
    names = Counter((r["network"], r["label"]) for r in records)
    for number, record in enumerate(records, start=1):
        if names[record["network"], record["label"]] > 1:
            patterns = record["ebb"]["patterns"] if record["ebb"] else 0
            record["label"] += f", {patterns} patterns (point {number})"


def verdict_line(proof: dict) -> str:
    """A proof in one line."""
    if not proof["complete"]["holds"]:
        return f"incomplete: {proof['complete']['counterexample']}"
    hops = f"longest {proof['complete']['max_hops']} hops"
    if proof["deadlock"]["holds"]:
        return f"complete, deadlock-free on {lanes(proof['lanes'])}, {hops}"
    waits = len(proof["deadlock"]["cycle"])
    return f"complete, {hops}, but a cycle of {waits} channels can deadlock"


def ebb_line(found: dict) -> str:
    """An effective bisection bandwidth in one line."""
    low, high = found["confidence_interval_95"] or (0, 1)
    mean = found["effective_bisection_bandwidth"]
    return f"eBB {mean:.4f} (95 % {low:.4f} to {high:.4f}, {found['patterns']} patterns)"


def deploy_line(found: dict) -> str:
    """The outcome of a deployment in one line."""
    wrong = sum(found[f"differing_{k}entries"] for k in ("", "sl_", "sl2vl_"))
    line = (
        f"{found['entries']} LFT entries, {found['sl_entries']} path SLs, "
        f"{found['sl2vl_entries']} SL2VL tables read back, "
    )
    line += "identical" if wrong == 0 else f"{wrong} differ"
    line += ", deadlock-free" if found["deadlock_free"] else ", NOT deadlock-free"
    return line + (f"; ibdmchk: {found['oracle']}" if found.get("oracle") else "")


def _equal(found: dict | None) -> bool:
    if not found or "skipped" in found:
        return True
    same = all(found[f"differing_{k}entries"] == 0 for k in ("", "sl_", "sl2vl_"))
    return same and found["deadlock_free"]


def _why(missing: list[tuple[str, str]]) -> str:
    names = ", ".join(name for name, _ in missing)
    packages = " ".join(sorted({package for _, package in missing}))
    return f"not installed: {names} (apt-get install {packages})"


def write_whole(path: Path, content: str | bytes) -> None:
    """Writes a file so that it is there whole or not at all."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content.encode() if isinstance(content, str) else content)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def remove_leftovers(directory: Path) -> None:
    """Removes what ``write_whole`` had begun in processes that were killed since."""
    for part in directory.rglob(".*.part"):
        pid = part.name.split(".")[-2]
        try:
            os.kill(int(pid), 0)
        except (ProcessLookupError, ValueError):
            part.unlink(missing_ok=True)
        except PermissionError:
            continue  # somebody else's, and alive


@functools.cache
def code_digest() -> str:
    """A digest of the code that computes: the compiled core and the Python that drives it."""
    here = Path(__file__).parent
    sources = [Path(_core.__file__), *sorted(here.glob("*.py")), *sorted(here.glob("deploy/*.py"))]
    digest = hashlib.sha256()
    for source in sources:
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def machine() -> dict[str, Any]:
    """What the manifest says of the machine."""
    return {
        "system": platform.platform(), "python": platform.python_version(),
        "processors": os.cpu_count(),
    }


def _digest(value: Any) -> str:
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:32]


def _silent(_stage: str, _line: str, _seconds: float) -> None:
    pass
