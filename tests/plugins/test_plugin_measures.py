"""Measures of users: in Python, and in experiments with columns, types, seeds and the report."""

from __future__ import annotations

import json
import math
import tomllib

import flyloom as fl
import jsonschema
import pyarrow.parquet
import pytest
from cli_helpers import flyloom
from flyloom import RefusalError
from flyloom.plugins.found import load_file
from plugin_helpers import forgotten, no_charts, written

__all__ = ["forgotten", "no_charts"]

MEASURES = '''\
"""Measures of mine."""
import random
import numpy as np
import flyloom as fl


@fl.measure(columns=[
    {"name": "mean_hops", "unit": "hops", "meaning": "mean over samples", "better": "lower"},
    {"name": "seen", "kind": "whole"}, {"name": "all", "kind": "truth"},
    {"name": "word", "kind": "text"},
])
def sampled_hops(routing: fl.Routing, *, samples: int = 100, seed: int = 0) -> dict:
    """Hops between terminals drawn at random.

    Parameters
    ----------
    samples
        Pairs.
    """
    draw = random.Random(seed)
    count = routing.topology.terminals
    pairs = [draw.sample(range(count), 2) for _ in range(samples)]
    hops = [len(routing.path(a, b)) - 1 for a, b in pairs]
    return {"mean_hops": np.mean(hops), "seen": len(hops), "all": True, "word": "x",
            "hops": np.array(hops)}


@fl.measure(columns=[{"name": "triangles", "kind": "whole", "meaning": "cycles of three links"}])
def triangles(network: "fl.Topology"):
    """Cycles of three links."""
    import networkx as nx

    found = nx.triangles(nx.Graph(fl.to_networkx(network)))
    return {"triangles": sum(found.values()) // 3}


@fl.measure(columns=[{"name": "x", "kind": "whole"}])
def wrong(network: fl.Topology, *, what: str):
    """No record."""
    return {"none": None, "list": [1], "less": {"y": 1}, "real": {"x": 1.5}, "truth": {"x": True},
            "nan": {"x": 1, "y": float("nan")}, "object": {"x": 1, "y": object()},
            "empty": {"x": None}, "fails": {"x": 1 // (len(what) - 5) if what == "fails" else 1},
            }[what]
'''

EXPERIMENT = """\
schema = 1
name = "mine"
seed = 7
plugins = ["measures.py"]
[topology]
family = "complete"
n = 5
p = 1
[routing]
engine = "min_hop"
[ebb]
samples = 5
[triangles]
[sampled_hops]
samples = 10
[sweep.grid]
"sampled_hops.samples" = [10, 20]
"topology.n" = [5, 6]
"""


@pytest.fixture
def measures(tmp_path):
    path = tmp_path / "measures.py"
    path.write_text(MEASURES)
    return path


@pytest.fixture
def loaded(measures):
    load_file(measures)
    return measures


def test_a_measure_of_a_network_and_of_its_tables(loaded):
    for n in (3, 6):
        assert fl.measure(f"complete:n={n}", "triangles").triangles == math.comb(n, 3)
    routing = fl.route("complete:n=6,p=2", "min_hop")
    assert fl.measure(routing, "triangles").triangles == math.comb(6, 3)
    found = fl.measure(routing, "sampled_hops", samples=200, seed=1)
    assert (found.seen, found["all"], len(found.hops)) == (200, True, 200)
    assert set(found.hops) == {0, 1}  # two terminals on each switch
    assert found.mean_hops == sum(found.hops) / 200
    assert fl.measure(routing, "sampled_hops", samples=200, seed=1) == found


@pytest.mark.parametrize(("name", "given", "message"), [
    ("triangles", {"n": 3}, "triangles: unknown field `n`; triangles takes no parameters"),
    ("wrong", {}, "wrong: missing field `what`; wrong takes what"),
    ("wrong", {"what": 3}, "wrong: what: 3 is of another type; text"),
    ("wrong", {"what": "none"}, "wrong: {place}: returns no mapping from column to value"),
    ("wrong", {"what": "list"}, "wrong: {place}: returns no mapping from column to value"),
    ("wrong", {"what": "less"}, "wrong: {place}: returns no 'x', which is a column"),
    ("wrong", {"what": "real"}, "wrong: {place}: x: 1.5 is no whole value"),
    ("wrong", {"what": "truth"}, "wrong: {place}: x: True is no whole value"),
    ("wrong", {"what": "nan"}, "wrong: {place}: returns what JSON cannot hold: "),
    ("wrong", {"what": "object"}, "wrong: {place}: returns what JSON cannot hold: "),
    ("wrong", {"what": "blue"}, "wrong: {file}, line 40: KeyError: 'blue'"),
    ("wrong", {"what": "fails"}, "wrong: {file}, line 42: ZeroDivisionError: "),
    ("rong", {}, "measure: there is no measure 'rong'; measures: "),
])
def test_what_cannot_be_is_refused_in_one_line(loaded, name, given, message):
    line = 1 + MEASURES[:MEASURES.index('@fl.measure(columns=[{"name": "x"')].count("\n")
    with pytest.raises(RefusalError) as caught:
        fl.measure("ring:n=4", name, **given)
    wanted = message.format(file=loaded, place=f"{loaded}, line {line}")
    assert str(caught.value).startswith(wanted) and "\n" not in str(caught.value)
    assert fl.measure("ring:n=4", "wrong", what="empty").x is None


@pytest.mark.parametrize(("text", "message"), [
    ("@fl.measure(columns=[])\ndef cost(on: fl.Routing): ...", "cost: there is a built-in measure"),
    ("@fl.measure(columns=[])\ndef sweep(routing: fl.Routing): ...", "sweep: a key of experiments"),
    ("@fl.measure(columns=[])\ndef mine(routing): ...", "annotate it Topology or Routing"),
    ("@fl.measure(columns=[])\ndef mine(*, n: int = 1): ...", "is a Topology or a Routing; it has"),
    ("@fl.measure(columns=[{'unit': 's'}])\ndef mine(on: fl.Routing): ...", "columns: '': no name"),
    ("@fl.measure(columns=[{'name': 'a'}, {'name': 'a'}])\ndef mine(on: fl.Routing): ...",
     "columns: 'a': no name of one"),
    ("@fl.measure(columns=[{'name': 'a', 'type': 'x'}])\ndef mine(on: fl.Routing): ...",
     "columns: type: no key of a column; name, unit, meaning, better, kind"),
    ("@fl.measure(columns=[{'name': 'a', 'better': 'more'}])\ndef mine(on: fl.Routing): ...",
     "columns: a: better: 'more'; higher, lower, neither"),
])
def test_a_measure_that_cannot_be_is_refused(tmp_path, text, message):
    (tmp_path / "mine.py").write_text(f"import flyloom as fl\n{text}\n")
    with pytest.raises(RefusalError) as caught:
        load_file(tmp_path / "mine.py")
    assert "mine.py, line 2: " in str(caught.value) and message in str(caught.value)


def test_experiments_have_its_columns_its_seed_and_its_section(measures, tmp_path):
    (tmp_path / "mine.toml").write_text(EXPERIMENT)
    found = fl.run(tmp_path / "mine.toml", out=tmp_path / "one", workers=1)
    table = pyarrow.parquet.read_table(tmp_path / "one/mine/rows.parquet")
    types = {field.name: str(field.type) for field in table.schema}
    assert {name: types[name] for name in types if name.startswith(("sampled", "triang"))} == {
        "sampled_hops.samples": "int64",  # in which the points differ
        "sampled_hops_mean_hops": "double", "sampled_hops_seen": "int64",
        "sampled_hops_all": "bool", "sampled_hops_word": "string", "triangles_triangles": "int64",
    }
    rows = table.to_pylist()
    assert sorted((row["switches"], row["sampled_hops_seen"]) for row in rows) == [
        (5, 10), (5, 20), (6, 10), (6, 20)]
    for row in rows:
        assert row["triangles_triangles"] == math.comb(row["switches"], 3)
        assert row["sampled_hops_mean_hops"] == 1
    saved = json.loads((tmp_path / "one/mine/results.json").read_text())
    sections = {section["name"]: section for section in saved["measures"]}
    assert sections["sampled_hops"]["doc"] == "Hops between terminals drawn at random."
    assert sections["sampled_hops"]["columns"][0] == {
        "name": "mean_hops", "unit": "hops", "meaning": "mean over samples", "better": "lower"}
    assert len(sections["triangles"]["rows"]) == 4
    effective = (tmp_path / "one/mine/effective.toml").read_text()
    assert effective.count("[point.sampled_hops]") == 4 and effective.count("seed = 7") >= 4
    two = fl.run(tmp_path / "mine.toml", out=tmp_path / "two", workers=2)
    assert (found.points, two.points) == (4, 4)
    assert written(tmp_path / "one/mine") == written(tmp_path / "two/mine")
    assert fl.run(tmp_path / "mine.toml", out=tmp_path / "one", workers=1).reused == 4
    measures.write_text(MEASURES.replace("drawn at random", "drawn by chance"))
    assert fl.run(tmp_path / "mine.toml", out=tmp_path / "one", workers=1).reused == 0


def test_the_report_shows_it_and_needs_no_file_of_it(measures, tmp_path, monkeypatch):
    monkeypatch.undo()
    (tmp_path / "mine.toml").write_text(EXPERIMENT)
    done = flyloom("run", tmp_path / "mine.toml", "--out", tmp_path, "--workers", 1)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "mine/report.html").read_text()
    assert "sampled_hops" in page and "Hops between terminals drawn at random." in page
    assert "mean over samples" in page
    measures.unlink()
    assert flyloom("report", tmp_path / "mine").returncode == 0
    assert (tmp_path / "mine/report.html").read_text() == page


@pytest.mark.parametrize(("old", "new", "message"), [
    ("samples = 10", "sample = 10", "sampled_hops: unknown field `sample`; sampled_hops takes"),
    ("[triangles]", "[triangle]",
     "triangle: not a key of a point; did you mean triangles? a point has label, "),
    ("[10, 20]", "[10, 2.5]", "sampled_hops: samples: 2.5 is of another type; a whole number"),
])
def test_its_table_is_checked_before_anything_runs(measures, tmp_path, old, new, message):
    (tmp_path / "mine.toml").write_text(EXPERIMENT.replace(old, new))
    with pytest.raises(RefusalError) as caught:
        fl.run(tmp_path / "mine.toml", out=tmp_path, workers=1)
    assert message in str(caught.value)
    assert not (tmp_path / "mine").exists()


def test_a_column_of_another_ones_name_is_refused(measures, tmp_path):
    measures.write_text('import flyloom as fl\n\n\n@fl.measure(columns=[{"name": "hops"}])\n'
                        'def mean(routing: fl.Routing):\n    return {"hops": 1.0}\n')
    text = EXPERIMENT.replace("[triangles]\n[sampled_hops]\nsamples = 10", "[mean]")
    (tmp_path / "mine.toml").write_text(text.replace('"sampled_hops.samples" = [10, 20]\n', ""))
    with pytest.raises(RefusalError, match="mean: there is a column 'mean_hops' already"):
        fl.run(tmp_path / "mine.toml", out=tmp_path, workers=1)


def test_the_schema_has_its_table(measures, tmp_path):
    schema = json.loads(flyloom("schema", "--plugin", measures).stdout)
    plain = json.loads(flyloom("schema").stdout)
    experiment = tomllib.loads(EXPERIMENT)
    jsonschema.validate(experiment, schema)
    with pytest.raises(jsonschema.ValidationError, match="sampled_hops"):
        jsonschema.validate(experiment, plain)
    experiment["sampled_hops"]["sample"] = 3
    with pytest.raises(jsonschema.ValidationError, match="sample"):
        jsonschema.validate(experiment, schema)


def test_lists_show_its_columns(measures):
    said = flyloom("list", "measures", "--plugin", measures).stdout
    assert f"measure sampled_hops (plug-in, {measures}): Hops between terminals" in said
    assert "    column mean_hops [hops]: mean over samples\n" in said


@pytest.mark.parametrize("order", [
    lambda verb, file: (verb, "torus:shape=3x3", "--plugin", file),
    lambda verb, file: ("--plugin", file, verb, "torus:shape=3x3"),
    lambda verb, file: (f"--plugin={file}", verb, "torus:shape=3x3"),
])
def test_it_is_a_command(measures, order):
    made = fl.route("torus:shape=3x3", "dfsssp")
    words = order("sampled-hops", measures)
    said = json.loads(flyloom(*words, "--samples", 20, "--seed", 3, "--json").stdout)
    load_file(measures)
    found = fl.measure(made, "sampled_hops", samples=20, seed=3).to_dict()
    assert {key: said[key] for key in found} == found
    assert (said["network"], said["engine"]) == ("torus:shape=3x3", "dfsssp")
    lines = [line.split() for line in flyloom(*order("triangles", measures)).stdout.splitlines()]
    assert ["triangles", "6", "cycles", "of", "three", "links"] in lines
    shown = flyloom(*words, "--help").stdout
    assert "--samples" in shown and "Pairs." in shown and "flyloom sampled-hops" in shown


def test_without_its_file_there_is_no_such_command(measures):
    done = flyloom("sampled-hops", "torus:shape=3x3")
    assert done.returncode == 2 and "sampled-hops: there is no such command" in done.stderr
    done = flyloom("wrong", "ring:n=4", "--plugin", measures)
    assert done.returncode == 2 and "--what" in done.stderr
