"""Files that an experiment names for measures, users' too: found beside it, and travelling."""

from __future__ import annotations

import pyarrow.parquet
import pytest
from cli_helpers import flyloom
from flyloom import RefusalError, _core

PLUGIN = '''\
"""A measure that hands on what it is given."""
import flyloom as fl


@fl.measure(columns=[{"name": "bytes"}, {"name": "ranks", "kind": "whole"}, {"name": "most"}],
            files=["graph", "workload", "traffic"])
def handed(routing: fl.Routing, *, graph: str, workload: str, traffic: str = "uniform") -> dict:
    """What graph, workload and traffic are."""
    return {"bytes": fl.communication(graph).total_bytes, "ranks": fl.workload(workload).ranks,
            "most": fl.throughput(routing, traffic).maximum_achievable_throughput}
'''
EXPERIMENT = """\
schema = 1
name = "study"
plugins = ["mine.py"]
topology = { family = "complete", n = 3, p = 1 }
routing = { engine = "min_hop" }
handed = { graph = "app.mtx", workload = "two.goal", traffic = "few.csv" }
"""


@pytest.fixture
def folder(tmp_path):
    (place := tmp_path / "files").mkdir()
    (place / "mine.py").write_text(PLUGIN)
    (place / "study.toml").write_text(EXPERIMENT)
    (place / "app.mtx").write_text(
        "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 7\n3 1 2.5\n")
    (place / "two.goal").write_text(
        "num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n")
    (place / "few.csv").write_text("src,dst,demand\n0,1,0.5\n1,2,0.25\n")
    return place


def test_a_users_measure_takes_files_of_the_experiment(folder):
    """From another folder, where none of these names is a file; a file that changes counts anew."""
    for demand in (0.5, 0.25):
        (folder / "few.csv").write_text(f"src,dst,demand\n0,1,{demand}\n1,2,0.25\n")
        done = flyloom("run", "files/study.toml", cwd=folder.parent)
        assert done.returncode == 0, done.stderr
        (row,) = pyarrow.parquet.read_table(folder.parent / "out/study/rows.parquet").to_pylist()
        assert (row["handed_bytes"], row["handed_ranks"]) == (9.5, 2)
        # each has a link of its own to every other: the larger demand fills one
        assert row["handed_most"] == pytest.approx(1 / demand)


@pytest.mark.parametrize(("name", "word"), [
    ("app.mtx", "handed.graph"), ("two.goal", "handed.workload"), ("few.csv", "handed.traffic"),
])
def test_a_file_that_is_missing_is_refused_before_anything_runs(folder, name, word):
    (folder / name).unlink()
    done = flyloom("run", "files/study.toml", cwd=folder.parent)
    assert (done.returncode, done.stdout) == (2, "")
    assert f" {word}: '{name}' is neither " in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("files", ["['where']", "['traffic']"])
def test_what_cannot_name_a_file_is_refused(tmp_path, files):
    from flyloom.plugins.found import load_file

    (tmp_path / "bad.py").write_text(
        'import flyloom as fl\n@fl.measure(columns=[], files=' + files + ')\n'
        'def bad(on: fl.Topology, *, where: str = "") -> dict:\n    """Bad."""\n    return {}\n')
    with pytest.raises(RefusalError, match="files: .*graph, traffic, workload"):
        load_file(tmp_path / "bad.py")


def test_every_parameter_that_may_name_a_file_is_one_of_its_stage():
    rows = [*_core.registry(), *_core.simulators(), *_core.mappings()]
    named = {row["name"]: row["files"] for row in rows if row["files"]}
    assert {"ebb", "congestion", "application", "sim.flit", "sim.packet", "sim.message",
            "map_processes"} <= named.keys()
    for row in rows:
        if row["kind"] != "engine":  # traffic stands in place of the flows of one
            known = {param["name"] for param in row["params"]} | {"mapping", "pin"}
            assert set(row["files"]) <= known, row["name"]
