"""examples/plugin, built and installed: its topology, engine and measure are there by their names.

It is built by setuptools alone, as `pip install examples/plugin` has it built, and without network.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pyarrow.parquet
import pytest
from checkout import shared
from cli_helpers import PACKAGE, environment

pytest.importorskip("setuptools")
SOURCE = PACKAGE.parent / "examples/plugin"
BUILD = "import setuptools; setuptools.setup()"


def build(source: Path, into: Path) -> None:
    """Puts the modules and what is known of the distribution into a folder."""
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir()
    words = [sys.executable, "-c", BUILD, "-q", "egg_info", "-e", into, "build", "--build-lib",
             into, "--build-base", into.with_name("scratch")]
    done = subprocess.run(words, cwd=source, text=True, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder that stands for site-packages, and the sources it was built from."""
    folder = tmp_path_factory.mktemp("package")
    source = folder / "source"
    shutil.copytree(SOURCE, source)
    build(source, folder / "site")
    return folder / "site", source


def run(site: Path, *words: object) -> subprocess.CompletedProcess[str]:
    where = environment()
    where["PYTHONPATH"] += f":{site}"
    return subprocess.run([sys.executable, *map(str, words)], env=where, text=True,
                          capture_output=True, timeout=120)


def document(site: Path, *words: object) -> dict:
    done = run(site, "-m", "flyloom.cli", *words, "--json")
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def test_its_topology_is_the_circulant_graph(installed):
    site, _ = installed
    said = document(site, "design", "circulant:n=13,offsets=1x5,p=2")
    graph = nx.circulant_graph(13, [1, 5])
    assert said["recipe"] == "circulant:n=13,offsets=1x5,p=2"
    assert (said["switches"], said["links"], said["endpoints"]) == (13, 26, 26)
    assert said["diameter"] == nx.diameter(graph)
    assert said["mean_distance"] == pytest.approx(nx.average_shortest_path_length(graph))
    done = run(site, "-m", "flyloom.cli", "design", "circulant:n=8,offsets=1x5")
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "networks.py, line 22: offsets: [1, 5]: each from 1 to 4" in done.stderr


def test_its_engine_is_proved_and_its_layers_differ(installed):
    site, _ = installed
    said = document(site, "route", "circulant:n=13,offsets=1x5", "-e", "by_number", "--lmc", 1)
    assert said["complete"]["holds"] and said["layers"] == 2
    graph = nx.circulant_graph(13, [1, 5])
    assert said["mean_hops"] == pytest.approx(nx.average_shortest_path_length(graph))
    assert said["path_diversity"]["mean_distinct_paths"] > 1
    assert document(site, "verify", "torus:shape=3x3", "-e", "by_number")["complete"]["holds"]


def test_lists_and_sizing_find_what_is_installed(installed):
    site, _ = installed
    for kind, name in (("topologies", "circulant"), ("engines", "by_number"),
                       ("measures", "round_trips")):
        rows = {row["name"]: row for row in document(site, "list", kind)}
        assert rows[name]["plugin"] == "flyloom-circulant 1.0"
    row, = document(site, "size", "--endpoints", 60, "--families", "circulant")["rows"]
    assert row["below"]["network"].startswith("circulant:n=")


def test_its_measure_is_a_command(installed):
    site, _ = installed
    said = document(site, "round-trips", "circulant:n=13,offsets=1x5,p=2", "--samples", 10)
    assert said["engine"] == "dfsssp" and 2 <= said["mean_hops"] <= 2 * 13


def test_the_experiment_runs_and_another_version_is_computed_anew(installed, tmp_path):
    site, source = installed
    words = ("run", source / "experiment.toml", "--out", tmp_path, "--workers", 2)
    said = document(site, *words)
    assert (said["points"], said["reused"]) == (4, 0)
    rows = pyarrow.parquet.read_table(tmp_path / "circulants/rows.parquet").to_pylist()
    assert sorted((row["switches"], row["engine"]) for row in rows) == [
        (13, "by_number"), (13, "dfsssp"), (16, "by_number"), (16, "dfsssp")]
    for row in rows:
        assert 0 <= row["round_trips_same_path"] <= 1
        assert 0 < row["round_trips_mean_hops"] <= 2 * row["max_hops"]
    page = (tmp_path / "circulants/report.html").read_text()
    assert "Whether packets return by the forward path" in page
    assert document(site, *words)["reused"] == 4
    text = (source / "pyproject.toml").read_text()
    try:
        (source / "pyproject.toml").write_text(text.replace('"1.0"', '"1.1"'))
        build(source, site)
        assert document(site, *words)["reused"] == 0
    finally:
        (source / "pyproject.toml").write_text(text)
        build(source, site)


TRAVELS = """\
import pickle
import flyloom as fl
from flyloom.plugins import found, parts
part = found.part("topology", "circulant")
packed = pickle.dumps(part)
assert pickle.loads(packed) is part
assert b"networks" in packed and b"min(link)" not in packed
object.__setattr__(part, "digest", "another")
try:
    pickle.loads(packed)
except fl.RefusalError as refusal:
    print(refusal)
"""


def test_between_machines_it_travels_by_name_and_has_to_be_the_same(installed):
    site, _ = installed
    done = run(site, "-c", TRAVELS)
    reported = "circulant: another version of flyloom_circulant.networks is installed here\n"
    assert (done.stdout, done.stderr) == (reported, "")


def test_its_types_are_accepted(installed, tmp_path_factory):
    pytest.importorskip("mypy")
    _, source = installed
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir",
         shared(tmp_path_factory, "mypy"), "flyloom_circulant"],
        cwd=source, text=True, capture_output=True, timeout=300)
    assert "Success: no issues found in 4 source files" in done.stdout + done.stderr
