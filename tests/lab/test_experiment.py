"""Experiments: the same bytes every time, resumed after any interruption, nothing half-written."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
import tomllib
from pathlib import Path

import flyloom as fl
import jsonschema
import pyarrow.parquet
import pytest
from checkout import ROOT
from cli_helpers import command, document, environment, flyloom
from flyloom import RefusalError, _core
from flyloom._core import expand, experiment_schema
from flyloom.lab import experiment
from flyloom.lab.expanded import expanded
from patience import HANG_S

EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))

SMALL = """\
schema = 1
name = "small"
seed = 7
[topology]
family = "slim_fly"
q = 3
[routing]
engine = "sssp"
[ebb]
samples = 40
[sweep.grid]
"routing.engine" = ["min_hop", "sssp", "dfsssp"]
"routing.lmc" = { from = 0, to = 1, step = 1 }
[[sweep.zip]]
label = ["Slim Fly", "torus"]
topology = [{ family = "slim_fly", q = 3 }, { family = "torus", shape = [3, 4], p = 2 }]
"""

SAME_BYTES = ("rows.parquet", "series.parquet", "effective.toml", "cables-Slim-Fly.csv",
              "cables-torus.csv")


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The folder of a finished run and what the run said."""
    folder = tmp_path_factory.mktemp("done")
    (folder / "small.toml").write_text(SMALL)
    said = document("run", folder / "small.toml", "--out", folder / "out")
    return folder, said


def contents(directory: Path) -> dict[str, bytes]:
    return {name: (directory / name).read_bytes() for name in SAME_BYTES}


def test_a_run_writes_its_files_and_rows(done):
    folder, said = done
    directory = folder / "out" / "small"
    assert (said["points"], said["reused"], said["skipped"]) == (12, 0, [])
    assert said["holds"] is False, "min_hop and sssp can deadlock"
    names = {p.name for p in directory.iterdir()}
    assert names == {*SAME_BYTES, "manifest.json", "report.html", "results.json", "points"}
    assert len(list((directory / "points").iterdir())) == 12

    rows = pyarrow.parquet.read_table(directory / "rows.parquet").to_pylist()
    points = [(r["network"], r["engine"], r["lmc"]) for r in rows]
    assert points == [(n, e, m) for n in ("Slim Fly", "torus")
                      for e in ("min_hop", "sssp", "dfsssp") for m in (0, 1)]
    for r in rows:
        small = fl.network("slim_fly:q=3" if r["network"] == "Slim Fly" else "torus:shape=3x4,p=2")
        routing = fl.route(small, r["engine"], lmc=r["lmc"])
        assert r["switches"] == small.switches and r["links"] == small.links
        assert r["mean_distance"] == fl.structure(small).mean_distance
        assert r["edge_forwarding_index"] == fl.edge_load(routing).edge_forwarding_index
        ebb = fl.ebb(routing, samples=40, seed=7)
        assert r["effective_bisection_bandwidth"] == ebb.effective_bisection_bandwidth
        assert [r["ebb_ci95_low"], r["ebb_ci95_high"]] == ebb.confidence_interval_95
        assert r["verified"] == fl.verify(routing).holds == r["deadlock_free"]
        assert "deployed_entries" not in r
    series = pyarrow.parquet.read_table(directory / "series.parquet")
    assert {"point", "series", "x", "y", "x_unit", "y_unit"} < set(series.column_names)
    swept = {"topology.family", "routing.engine", "routing.lmc"}
    assert swept < set(series.column_names) and swept < set(rows[0])
    assert [r["routing.engine"] for r in rows] == [r["engine"] for r in rows]
    assert set(series["series"].to_pylist()) == {"channels_by_routes", "ebb_by_pattern",
                                                 "routes_by_hops"}
    means = [s["y"] for s in series.to_pylist() if s["series"] == "ebb_by_pattern"]
    assert len(means) == 12 * 40
    manifest = json.loads((directory / "manifest.json").read_text())
    assert manifest["seed"] == 7 and manifest["flyloom"] == fl.__version__
    assert manifest["points"] == [r["point"] for r in rows]


def test_columns_have_the_same_types_whatever_was_measured(done, tmp_path):
    plain = SMALL.split("[sweep.grid]")[0].replace("samples = 40", "samples = 0")
    (tmp_path / "plain.toml").write_text(plain)
    fl.run(tmp_path / "plain.toml", out=tmp_path)
    for name in ("rows.parquet", "series.parquet"):
        one = pyarrow.parquet.read_schema(done[0] / "out" / "small" / name)
        kept = [field for field in one if "." not in field.name]  # what is swept has a dot
        plain = pyarrow.parquet.read_schema(tmp_path / "small" / name)
        assert plain.equals(pyarrow.schema(kept), check_metadata=True)


def test_the_price_of_the_cables_says_what_it_is_by(done):
    rows = pyarrow.parquet.read_table(done[0] / "out" / "small" / "rows.parquet").to_pylist()
    bases = {row["cable_cost_basis"] for row in rows}
    assert bases == {"products-2026 at 400 Gbit/s: all cables"}  # the newest catalogue, at its rate


@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_second_run_gives_the_same_bytes(done, tmp_path, threads):
    folder, _ = done
    again = subprocess.run(command("run", folder / "small.toml", "--out", tmp_path), text=True,
                           env=environment(RAYON_NUM_THREADS=threads), capture_output=True,
                           timeout=120, check=True)
    assert "kept" not in again.stdout
    assert contents(tmp_path / "small") == contents(folder / "out" / "small")


def test_a_finished_run_is_reused_unless_fresh(done):
    folder, _ = done
    before = contents(folder / "out" / "small")
    words = ("run", folder / "small.toml", "--out", folder / "out")
    assert document(*words)["reused"] == 12
    assert contents(folder / "out" / "small") == before
    assert document(*words, "--fresh")["reused"] == 0
    assert contents(folder / "out" / "small") == before
    more = folder / "more.toml"
    more.write_text(SMALL.replace("to = 1", "to = 2"))
    assert document("run", more, "--out", folder / "out")["reused"] == 12
    other = folder / "other.toml"
    other.write_text(SMALL.replace("seed = 7", "seed = 8"))
    assert document("run", other, "--out", folder / "out")["reused"] == 0
    assert document(*words)["reused"] == 12


LONG = SMALL.replace('name = "small"', 'name = "long"').replace(
    "[sweep.grid]", '[sweep.grid]\n"ebb.samples" = [40, 3000000]')
SHORT = LONG.replace("[40, 3000000]", "[40, 41]")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """What a run of SHORT that nothing stops writes."""
    folder = tmp_path_factory.mktemp("undisturbed")
    (folder / "long.toml").write_text(SHORT)
    assert document("run", folder / "long.toml", "--out", folder)["reused"] == 0
    return contents(folder / "long")


@pytest.mark.parametrize("with_signal", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path, undisturbed, with_signal):
    """Stopped after its third point: no half-written file, no process; then the same bytes."""
    (tmp_path / "long.toml").write_text(LONG)
    out = tmp_path / "out"
    child = subprocess.Popen(command("run", tmp_path / "long.toml", "--out", out),
                             env=environment(), start_new_session=True, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    kept = out / "long" / "points"
    limit = time.monotonic() + HANG_S
    while not kept.is_dir() or len(list(kept.glob("*.json"))) < 3:
        assert time.monotonic() < limit and child.poll() is None
        time.sleep(0.01)
    child.send_signal(with_signal)
    _, err = child.communicate(timeout=HANG_S)
    assert child.returncode in (130, 143, -with_signal)
    assert "Traceback" not in err
    limit = time.monotonic() + HANG_S
    with pytest.raises(ProcessLookupError):  # raised as soon as the last of them is gone
        while time.monotonic() < limit:
            os.killpg(child.pid, 0)
            time.sleep(0.05)

    parts = list(tmp_path.rglob("*.part"))
    # who is killed while it writes cannot clear up: the next run does
    assert parts == [] or with_signal == signal.SIGKILL, "no half-written file"
    assert not (out / "long" / "rows.parquet").exists()
    points = [point for point in kept.iterdir() if point not in parts]
    for point in points:
        assert json.loads(point.read_text())["digest"] == point.stem
    stopped = len(points)

    (tmp_path / "long.toml").write_text(SHORT)
    assert document("run", tmp_path / "long.toml", "--out", out)["reused"] == stopped
    assert list(tmp_path.rglob("*.part")) == []
    assert contents(out / "long") == undisturbed


def test_any_sweep_has_names_that_tell_its_points_apart(tmp_path):
    """Patterns, options and sizes swept under one label: every point and network has a name."""
    text = SMALL.split("[sweep.grid]")[0].replace("sssp", "dfsssp") + """
label = "one name"
[sweep.grid]
"ebb.samples" = [5, 6]
"routing.max_lanes" = [4, 8]
"topology.q" = [3, 4]
"""
    (tmp_path / "x.toml").write_text(text.replace("[topology]", 'label = "net"\n[topology]')
                                     .replace('\nlabel = "one name"', ""))
    assert fl.run(tmp_path / "x.toml", out=tmp_path)["points"] == 8
    saved = json.loads((tmp_path / "small" / "results.json").read_text())
    assert len({(r["network"], r["label"]) for r in saved["records"]}) == 8
    assert len(list((tmp_path / "small").glob("cables-*.csv"))) == 2


def test_names_say_what_differs():
    def point(hops, patterns, runs=None):
        more = {} if runs is None else {"congestion": {"samples": runs, "pattern": "shift"}}
        return {"topology": {"q": hops}, "routing": {"engine": "x"}, "label": "l",
                "verify": {"hop_limit": hops}, "ebb": {"samples": patterns}, **more}

    def named(*points, networks="aaaaaa"):
        records = [{"network": net, "label": "x"} for net, _ in zip(networks, points, strict=False)]
        experiment.name_apart(records, list(points))
        return [record["label"] for record in records]

    assert named(point(8, 5)) == ["x"]
    assert named(point(8, 5), point(9, 5), networks="ab") == ["x", "x"]
    assert named(point(8, 5), point(9, 5)) == ["x, verify.hop_limit 8", "x, verify.hop_limit 9"]
    assert named(point(8, 5, 1), point(8, 6, 1), point(8, 6, 2)) == [
        "x, ebb.samples 5, congestion.samples 1", "x, ebb.samples 6, congestion.samples 1",
        "x, ebb.samples 6, congestion.samples 2"]
    assert named(point(8, 5), point(8, 5, 3)) == ["x", "x, congestion"], "other measures"
    assert named(point(8, 5), point(8, 5, 3), point(8, 5, 4)) == [
        "x", "x, congestion.samples 3", "x, congestion.samples 4"]
    assert named(point(8, 5), point(8, 5)) == ["x (point 1)", "x (point 2)"]


def test_reports_are_rebuilt_from_results(done):
    folder, _ = done
    page = folder / "out" / "small" / "report.html"
    page.unlink()
    assert document("report", folder / "out" / "small") == {"report": str(page)}
    text = page.read_text()
    assert "<script src=" not in text and "http-equiv" not in text
    assert not re.search(r'(src|href)="https?://', text), "self-contained"


def test_a_dry_run_lists_points_and_writes_nothing(tmp_path):
    (tmp_path / "small.toml").write_text(SMALL)
    points = document("run", tmp_path / "small.toml", "--dry-run", cwd=tmp_path)["points"]
    assert len(points) == 12
    assert points[0]["routing"] == {"engine": "min_hop", "lmc": 0}
    assert points[-1]["topology"] == {"family": "torus", "shape": [3, 4], "p": 2}
    assert [p.name for p in tmp_path.iterdir()] == ["small.toml"]
    plain = flyloom("run", tmp_path / "small.toml", "--dry-run")
    assert len(plain.stdout.splitlines()) == 1 + 12


@pytest.mark.parametrize("level", ["flit", "packet", "message"])
def test_a_simulator_has_its_own_definitions_in_the_schema(level):
    """Also where another simulator has a table of the same name: of `run` one has cycles, the
    other ns."""

    def resolved(value, root, inside=()):
        if isinstance(value, dict):
            name = value.get("$ref", "").removeprefix("#/$defs/")
            if name in inside:
                return "as above"
            if name:
                return resolved(root["$defs"][name], root, (*inside, name))
            return {key: resolved(inner, root, inside) for key, inner in value.items()}
        return [resolved(one, root, inside) for one in value] if isinstance(value, list) else value

    whole, alone = experiment_schema(), getattr(_core, f"{level}_schema")()
    found = whole["properties"]["sim"]["properties"][level]["properties"]
    assert {name: resolved(part, whole) for name, part in found.items()} == {
        name: resolved(part, alone) for name, part in alone["properties"].items()}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_examples_parse_and_fit_the_schema(path):
    jsonschema.validate(tomllib.loads(path.read_text()), experiment_schema())
    found, _parts = expanded(path.read_text(), path)
    assert document("run", path, "--dry-run")["points"] == found["points"]


POINT = {"topology": {"family": "slim_fly", "q": 3}, "routing": {"engine": "sssp"}}
BASE = {"schema": 1, "name": "x", **POINT}


def changed(**more) -> dict:
    return {**BASE, **more}


PARITY = [
    (BASE, True), (changed(seed=5, title="t", summary="s", label="l"), True),
    (changed(ebb={"samples": 3}, verify={"hop_limit": 9}), True),
    (changed(deploy={"fabric": "ibsim", "oracle": True}), True),
    (changed(topology={"file": "x.net", "p": 2}), True),
    (changed(sweep={"grid": {"routing.lmc": [0, 1]}}), True),
    (changed(sweep={"zip": [{"label": ["a", "b"]}]}), True),
    (changed(routing={"engine": "dfsssp", "lmc": 2, "max_lanes": 4}), True),
    ({k: v for k, v in changed(sweep={"grid": {"routing.engine": ["sssp"]}}).items()
      if k != "routing"} | {"routing": {"lmc": 1}}, True),
    ({k: v for k, v in BASE.items() if k != "topology"}, False),
    ({k: v for k, v in BASE.items() if k != "routing"}, True),
    (changed(sim={"flit": {"load": [0.1, 0.2], "switch": {"buffer_flits": 8}}}), True),
    (changed(sim={"flit": {"colour": 1}}), False), (changed(sim={"fleet": {}}), False),
    (changed(sim={"flit": 3}), False), (changed(sim={"flit": {"router": {"x": 1}}}), False),
    (changed(schema=2), False), (changed(name=""), False), (changed(name="../x"), False),
    (changed(routing={"engine": "sssp", "lmc": 8}), False),
    (changed(colour="red"), False), (changed(seed=-1), False), (changed(seed="x"), False),
    (changed(name=3), False), (changed(title=3), False), (changed(schema="1"), False),
    ({k: v for k, v in BASE.items() if k != "name"}, False),
    ({k: v for k, v in BASE.items() if k != "schema"}, False),
    (changed(ebb={"samples": -1}), False), (changed(ebb={"pattern": 1}), False),
    (changed(verify={"hop_limit": "many"}), False), (changed(verify={"hops": 3}), False),
    (changed(deploy={"fabric": "steel"}), False), (changed(deploy={}), False),
    (changed(deploy={"fabric": "ibsim", "oracle": "yes"}), False),
    (changed(routing={"lmc": 1}), False), (changed(routing={"engine": 3}), False),
    (changed(routing={"engine": "sssp", "lmc": -1}), False), (changed(routing="sssp"), False),
    (changed(topology="slim_fly:q=3"), False), (changed(sweep={"grids": {}}), False),
    (changed(sweep={"zip": {}}), False), (changed(label=3), False),
]


def toml(value) -> str:
    """A value as inline TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


@pytest.mark.parametrize(("tree", "good"), PARITY, ids=lambda x: json.dumps(x)[-60:])
def test_schema_and_parser_agree(tree, good):
    text = "".join(f"{key} = {toml(value)}\n" for key, value in tree.items())
    assert tomllib.loads(text) == tree
    validator = jsonschema.Draft202012Validator(experiment_schema())
    assert validator.is_valid(tree) == good
    if good:
        expand(text, "x.toml")
    else:
        with pytest.raises(RefusalError, match=r"x\.toml"):
            expand(text, "x.toml")


def test_the_effective_file_spells_out_every_default(done):
    text = (done[0] / "out" / "small" / "effective.toml").read_text()
    tree = tomllib.loads(text)
    assert (tree["schema"], tree["name"], tree["seed"], len(tree["point"])) == (1, "small", 7, 12)
    assert all(p["verify"]["hop_limit"] == 64 and p["ebb"]["samples"] == 40 for p in tree["point"])


SWEPT = """
schema = 1
name = "swept"
topology = { family = "torus", shape = [3, 3], p = 1 }
[routing]
engine = "dor"
[sweep.grid]
"routing.lmc" = [0, 1]
"routing.engine" = ["dor", "ftree"]
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_every_line_about_a_point_has_its_swept_values(tmp_path, workers):
    """The lines are about points that are computed, kept, altered and refused."""
    (tmp_path / "x.toml").write_text(SWEPT)
    options = ("--workers", str(workers))
    fails = flyloom("run", "x.toml", *options, cwd=tmp_path)
    line = SWEPT.splitlines().index("[routing]") + 1
    place = f"x.toml: line {line}, column 2: point 2 (routing.lmc 0, routing.engine ftree)"
    assert fails.returncode == 2
    assert fails.stderr.startswith(f"flyloom: {place}: routing: ftree: not a tree"), fails.stderr
    (tmp_path / "x.toml").write_text(SWEPT.replace("ftree", "min_hop"))
    first = flyloom("run", "x.toml", *options, cwd=tmp_path).stdout.splitlines()
    again = flyloom("run", "x.toml", *options, cwd=tmp_path).stdout.splitlines()
    of = [f"(routing.lmc {lmc}, routing.engine {engine})"
          for lmc in (0, 1) for engine in ("dor", "min_hop")]
    stages = [out for out in first if out.split()[0] in ("kept", "route", "verify", "ebb")]
    assert [next(words for words in of if words in out) for out in stages] == \
        [of[0], *[of[1]] * 3, of[2], *[of[3]] * 3], "all but the refused ones were finished"
    kept = [out for out in again if out.startswith("kept ")]
    assert [next(words for words in of if out.endswith(words)) for out in kept] == of
    path = next((tmp_path / "out/swept/points").iterdir())
    path.write_text(path.read_text()[:-9])
    third = flyloom("run", "x.toml", *options, cwd=tmp_path).stdout.splitlines()
    anew = next(out for out in third if out.startswith("anew "))
    assert any(f"point {i} {words}: " in anew for i, words in enumerate(of, 1)), anew


def test_a_point_that_names_no_file_is_refused_by_its_swept_values(tmp_path):
    text = SWEPT.replace('"routing.lmc" = [0, 1]', '"map.graph" = ["ring.mtx"]')
    (tmp_path / "x.toml").write_text(text.replace('"ftree"', '"min_hop"'))
    fails = flyloom("run", "x.toml", cwd=tmp_path)
    line = text.splitlines().index('"map.graph" = ["ring.mtx"]') + 1
    says = (f"flyloom: x.toml: line {line}, column 1: point 1 (map.graph ring.mtx, routing.engine "
            "dor): map.graph: 'ring.mtx' is neither")
    assert fails.returncode == 2 and fails.stderr.startswith(says), fails.stderr
