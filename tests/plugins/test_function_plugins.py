"""Patterns, placements, methods of mapping and formats of export that are functions."""

from __future__ import annotations

import json

import flyloom as fl
import pytest
from cli_helpers import flyloom
from plugin_helpers import said

FILE = '''
import flyloom as fl

@fl.pattern
def opposite(network, step: int = 0):
    """Each endpoint to the one half the network further."""
    n = network.endpoints
    return [(i, (i + n // 2 + step) % n, 1.0) for i in range(n)]

@fl.placement
def backwards(network):
    """The last endpoint first."""
    return range(network.endpoints - 1, -1, -1)

@fl.placement
def doubled(network):
    return [0, 0]

@fl.mapping_method
def reverse(network, graph, skip: int = 0):
    """Process i on the i-th last endpoint."""
    return [network.endpoints - 1 - skip - i for i in range(graph.processes)]

@fl.export_format
def degrees(network: fl.Topology, word: str = "links"):
    """A line a switch."""
    return "".join(f"{name} {word}\\n" for name in network.switch_names)
'''


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "own.py").write_text(FILE)
    return tmp_path


@pytest.mark.parametrize(("kind", "line"), [
    ("traffic", "pattern opposite (plug-in, "), ("placements", "placement backwards (plug-in, "),
    ("methods", "method reverse (plug-in, "), ("exports", "export degrees (plug-in, "),
])
def test_they_are_listed(folder, kind, line):
    assert line in said(folder, "list", kind)


def test_a_pattern_is_the_traffic_of_its_rows(folder):
    rows = "".join(f"{i},{(i + 6 + 1) % 12},1\n" for i in range(12))
    (folder / "rows.csv").write_text("src,dst,demand\n" + rows)
    own, file = ([line for line in said(folder, "throughput", "ring:n=6,p=2", "--traffic", asked)
                  .splitlines() if "throughput" in line]
                 for asked in ("opposite step=1", "rows.csv"))
    assert own == file
    assert own
    done = flyloom("throughput", "ring:n=6", "--traffic", "opposite:step=x", "--plugin", "own.py",
                   cwd=folder)
    assert (done.returncode, done.stderr) == (
        2, 'flyloom: opposite: step: "x" is of another type; a whole number\n')


def test_a_placement_is_its_endpoints(folder):
    words = ("sim", "message", "--workload", "alltoall_pairwise ranks=4 bytes=4096", "--net",
             "ring:n=6,p=1", "--engine", "min_hop", "--json")
    (folder / "places").write_text("5\n4\n3\n2\n")
    own, file = (json.loads(said(folder, *words, "--placement", asked))
                 for asked in ("backwards", "./places"))
    assert own["finish_ns"] == file["finish_ns"]
    done = flyloom(*words, "--placement", "doubled", "--plugin", "own.py", cwd=folder)
    assert done.returncode == 2
    assert "endpoint 0 comes twice" in done.stderr


def test_a_method_maps_and_others_go_on_from_it(folder):
    words = ("map", "ring:n=12,p=1", "--graph", "stencil:shape=3x4,bytes=8", "--json", "--method")
    plain = json.loads(said(folder, *words, "reverse"))
    assert plain["mapping"] == list(range(11, -1, -1))
    better = json.loads(said(folder, *words, "reverse+local"))
    assert better["hop_bytes"] <= plain["hop_bytes"]
    done = flyloom(*words, "reverse:skip=4", "--plugin", "own.py", cwd=folder)
    assert done.returncode == 2
    assert "returns no endpoint; 0 to 11" in done.stderr


def test_a_format_writes_its_text(folder):
    words = ("export", "star:n=1", "--to", "degrees", "--option", "word=x")
    assert said(folder, *words) == "star-leaf-0 x\nstar-hub x\n"


def test_an_experiment_takes_them_and_its_key_has_their_file(folder):
    (folder / "own.toml").write_text('''
schema = 1
name = "own"
plugins = ["own.py"]
topology = { family = "ring", n = 12, p = 1 }
[routing]
engine = "min_hop"
[throughput]
traffic = "opposite step=1"
[map]
graph = "stencil:shape=3x4,bytes=8"
method = "reverse"
[sim.message]
workload = "alltoall_pairwise"
workload_options = { bytes = 64 }
placement = "backwards"
''')
    points = folder / "out" / "own" / "points"
    said(folder, "run", "own.toml", "--out", "out")
    (first,) = points.iterdir()
    (folder / "own.py").write_text(FILE + "\n# another file\n")
    said(folder, "run", "own.toml", "--out", "out")
    assert len(set(points.iterdir()) | {first}) == 2


def test_names_of_built_in_parts_are_refused():
    for decorate, name in ((fl.pattern, "ring"), (fl.placement, "stripe"),
                           (fl.mapping_method, "greedy"), (fl.export_format, "simgrid")):
        def function(network, *, unused: int = 0):
            """Nothing."""

        def of_two(network, graph):
            """Nothing."""

        function.__name__ = of_two.__name__ = name
        function = of_two if decorate is fl.mapping_method else function
        with pytest.raises(fl.RefusalError, match="there is a built-in"):
            decorate(function)
