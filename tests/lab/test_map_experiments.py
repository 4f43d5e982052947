"""The table [map] of experiments, and the experiments of examples/mapping."""

from __future__ import annotations

import ast
import runpy
from math import prod

import flyloom as fl
import networkx as nx
import pyarrow.parquet
import pytest
from checkout import ROOT
from cli_helpers import document, flyloom
from flyloom.report.section import mappings

FOLDER = ROOT / "examples" / "mapping"
FILES = sorted(FOLDER.glob("*.toml"))

EXPERIMENT = """
schema = 1
name = "study"
[topology]
family = "torus"
shape = [3, 4]
p = 1
[map]
graph = "stencil:shape=12,bytes=10"
seed = 3
[sweep.grid]
"map.graph" = ["stencil:shape=12,bytes=10", [[0, 5, 7], [5, 0, 2.5], [1, 4, 1]]]
"map.method" = ["linear", "random", "auto"]
"""


def rows_of(folder):
    return pyarrow.parquet.read_table(folder / "rows.parquet").to_pylist()


def test_the_committed_files_are_what_their_script_writes():
    written = runpy.run_path(str(FOLDER / "make.py"))["files"]()
    assert written == {path.name: path.read_text() for path in FILES}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_grid_of_the_study_fills_its_network(path):
    points = document("run", path, "--dry-run")["points"]
    for topology, graph in {(str(p["topology"]), p["map"]["graph"]): p for p in points}:
        given = dict(ast.literal_eval(topology))
        family = given.pop("family")
        words = (f"{k}={'x'.join(map(str, v)) if isinstance(v, list) else v}"
                 for k, v in given.items())
        sides = graph.partition("grid=")[2].split()[0].split("x")
        assert graph.startswith(f"stencil_{len(sides)}d ")
        assert prod(map(int, sides)) == fl.network(f"{family}:{','.join(words)}").endpoints, graph
    assert {p["map"]["method"] for p in points} >= {"linear", "random", "auto"}


def test_a_study_finds_what_its_definitions_say(tmp_path):
    """Hop-bytes from the mapping that is kept, by networkx."""
    (tmp_path / "study.toml").write_text(EXPERIMENT)
    done = flyloom("run", "study.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    net = fl.network("torus:shape=3x4,p=1")
    far = dict(nx.all_pairs_shortest_path_length(nx.Graph(net.edges.tolist())))
    line = [(i, i + step, 10) for i in range(12) for step in (-1, 1) if 0 <= i + step < 12]
    few = [(0, 5, 7), (5, 0, 2.5), (1, 4, 1)]
    found = {(row["map_graph"], row["map_method"]): row for row in rows_of(tmp_path / "out/study")}
    assert len(found) == 6
    for name, edges in (("stencil:shape=12,bytes=10", line), (None, few)):
        linear = found[name, "linear"]
        assert linear["map_hop_bytes"] == sum(w * far[a][b] for a, b, w in edges)
        assert linear["map_processes"] == 1 + max(max(a, b) for a, b, _ in edges)
        assert linear["map_gain"] == 1
        best = found[name, "auto"]
        assert best["map_maximum_congestion"] <= linear["map_maximum_congestion"]
        assert best["map_gain"] == linear["map_maximum_congestion"] / best["map_maximum_congestion"]
    line_best = found["stencil:shape=12,bytes=10", "auto"]
    assert line_best["map_average_dilation"] == 1, "a line goes along a cycle through all switches"
    assert "auto" in (tmp_path / "out/study/report.html").read_text()


def test_a_workload_is_simulated_as_it_is_mapped(tmp_path):
    text = EXPERIMENT.replace("stencil:shape=12,bytes=10", "stencil_2d grid=2x6 bytes=5000")
    (tmp_path / "study.toml").write_text(text)
    done = flyloom("run", "study.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    net = "torus:shape=3x4,p=1"
    schedule = fl.make_workload("stencil_2d", ranks=12, grid="2x6", bytes=5000)
    rows = [row for row in rows_of(tmp_path / "out/study") if row["map_graph"]]
    assert len(rows) == 3
    for row in rows:
        found = fl.map_processes(net, schedule, method=row["map_method"], seed=3)
        run = fl.simulate(net, "message", workload=schedule, placement=found.mapping)
        assert row["map_finish_ns"] == run.finish_ns
        assert row["map_hop_bytes"] == found.hop_bytes
    others = [row for row in rows_of(tmp_path / "out/study") if not row["map_graph"]]
    assert {row["map_finish_ns"] for row in others} == {None}


def test_files_of_graphs_and_schedules_are_mapped(tmp_path):
    """Each as what it holds, found beside the experiment; a file that changes is mapped anew."""
    folder = tmp_path / "files"
    folder.mkdir()
    schedule = fl.make_workload("stencil_2d", ranks=12, grid="2x6", bytes=5000)
    (folder / "halo.goal").write_text(schedule.text())
    market = "%%MatrixMarket matrix coordinate real general\n12 12 2\n1 6 7\n6 1 {}\n"
    (folder / "app.mtx").write_text(market.format(2.5))
    text = EXPERIMENT.replace(
        '["stencil:shape=12,bytes=10", [[0, 5, 7], [5, 0, 2.5], [1, 4, 1]]]',
        '["halo.goal", "app.mtx"]',
    )
    (folder / "study.toml").write_text(text)
    net = fl.network("torus:shape=3x4,p=1")
    for back in (2.5, 4):
        (folder / "app.mtx").write_text(market.format(back))
        done = flyloom("run", "files/study.toml", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        rows = rows_of(tmp_path / "out/study")
        found = {(row["map_graph"], row["map_method"]): row for row in rows}
        assert len(found) == 6
        for method in ("linear", "random", "auto"):
            mapped = fl.map_processes(net, schedule, method=method, seed=3)
            run = fl.simulate(net, "message", workload=schedule, placement=mapped.mapping)
            row = found["halo.goal", method]
            assert (row["map_hop_bytes"], row["map_finish_ns"]) == (mapped.hop_bytes, run.finish_ns)
        far = nx.shortest_path_length(nx.Graph(net.edges.tolist()), 0, 5)
        row = found["app.mtx", "linear"]
        assert (row["map_hop_bytes"], row["map_finish_ns"]) == ((7 + back) * far, None)


def test_the_report_draws_methods_against_sizes(tmp_path):
    """A mark for every mapping, at its figures; bars where all mappings are of one size."""
    text = (FOLDER / "torus.toml").read_text()
    _, zipped, grid = text.partition("[sweep.grid]")
    small = EXPERIMENT.split("[sweep.grid]")[0] + """
[[sweep.zip]]
"topology.shape" = [[3, 4], [4, 5]]
"map.graph" = ["stencil_2d grid=3x4 bytes=5000", "stencil_2d grid=4x5 bytes=5000"]
""" + zipped + grid
    (tmp_path / "study.toml").write_text(small)
    done = flyloom("run", "study.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = rows_of(tmp_path / "out/study")
    report = (tmp_path / "out/study/report.html").read_text()
    assert "Methods against the size" in report and "simulated time (us)" in report
    runs = [{key: row[f"map_{key}"] for key in ("method", "graph", "processes", "average_dilation",
                                                "maximum_congestion", "finish_ns")} for row in rows]
    drawn = mappings.spec(runs)
    panels = {panel["layer"][0]["encoding"]["y"]["field"]: panel["data"]["values"]
              for panel in drawn["hconcat"]}
    for key, factor in (("average_dilation", 1), ("maximum_congestion", 1e-6), ("finish_ns", 1e-3)):
        marks = sorted((v["method"], v["at"], v[key]) for v in panels[key])
        assert marks == sorted(
            (run["method"], run["processes"], run[key] * factor) for run in runs)
    one = [{**run, "network": "torus"} for run in runs if run["processes"] == 12]
    bars = mappings.spec(one)
    shown = [panel["encoding"]["x"]["field"] for panel in bars["hconcat"]]
    assert shown == ["average_dilation", "maximum_congestion", "finish_ns"]
    assert [(v["of"], v["finish_ns"]) for v in bars["data"]["values"]] == [
        (run["method"], run["finish_ns"] * 1e-3) for run in one]
    assert mappings.spec(one[:1]) is None


@pytest.mark.parametrize(("old", "new", "says"), [
    ("stencil:shape=12,bytes=10\", [[", "stencil_2d grid=5x5 bytes=1\", [[", "graph: "),
    ("stencil:shape=12,bytes=10\", [[", "stencil_2d grid\", [[", "'grid' is no parameter"),
    ("stencil:shape=12,bytes=10\", [[", "app.mtx\", [[",
     "map.graph: 'app.mtx' is neither a graph that is made nor a file: there is no "),
    ("stencil:shape=12,bytes=10\", [[", "alltoallv_linear matrix=a.txt\", [[",
     "graph: matrix: no file in an experiment"),
    ("seed = 3", 'efort = "best"', "unknown field `efort`"),
    ("shape=12,bytes=10\", [[", "shape=13,bytes=10\", [[", "13 processes for 12 slots"),
    ("[0, 5, 7]", "[0, 5]", "[0, 5] is no row; [sender, receiver, bytes]"),
    ("[0, 5, 7]", "[0, -5, 7]", "[0, -5, 7]: ranks are from 0"),
    ('"auto"', '"otto"', "method"),
])
def test_what_cannot_be_mapped_is_refused(tmp_path, old, new, says):
    (tmp_path / "study.toml").write_text(EXPERIMENT.replace(old, new))
    done = flyloom("run", "study.toml", cwd=tmp_path)
    assert done.returncode == 2 and says in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
