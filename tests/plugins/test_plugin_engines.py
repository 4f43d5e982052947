"""Engines of users: their tables are proved like any other; what are no routes is refused."""

from __future__ import annotations

import json

import flyloom as fl
import numpy as np
import pyarrow.parquet
import pytest
from cli_helpers import document, flyloom
from flyloom import RefusalError
from flyloom.plugins.found import load_file
from plugin_helpers import forgotten, no_charts, written

__all__ = ["forgotten", "no_charts"]

ENGINES = '''\
"""Engines of mine."""
import networkx as nx
import numpy as np
import flyloom as fl


@fl.engine
def clockwise(network, *, layers: int = 1, step: int = 1):
    """Always to the next switch of a ring.

    Parameters
    ----------
    step
        How far on.
    """
    here = np.arange(network.switches)[:, None]
    return np.broadcast_to((here + step) % network.switches,
                           (layers, network.switches, network.terminals))


@fl.engine(gives="ports")
def as_ports(network, *, of: str = "min_hop"):
    """The ports of another engine, as they are."""
    return fl.route(network, of).next[0].T


@fl.engine
def shortest(network):
    """Shortest paths of networkx, towards each switch by breadth first."""
    graph = fl.to_networkx(network)
    for end in graph:
        tree = nx.single_source_shortest_path(graph, end)
        yield from (list(reversed(path)) for path in tree.values() if len(path) > 1)


@fl.engine
def each_its_own(network, *, layers: int = 1):
    """Odd terminals in one direction around a ring, even ones in the other; turned by the layer."""
    n = network.switches
    homes = network.attachments[:, 0]

    def path(layer, first, terminal):
        by, found = (1, -1)[(terminal + layer) % 2], [first]
        while found[-1] != homes[terminal]:
            found.append((found[-1] + by) % n)
        return found

    found = [
        {(s, t): path(layer, s, t) for s in range(n) for t in range(network.terminals)}
        for layer in range(layers)
    ]
    return found if layers > 1 else found[0]


@fl.engine
def wrong(network, *, what: str):
    """Nothing that could be routes."""
    s, t = network.switches, network.terminals
    return {
        "shape": np.zeros((t + 1, s), int), "real": np.zeros((s, t)), "none": None,
        "far": np.full((s, t), 3), "text": ["abc"], "jump": [[0, 2]],
        "part": [[0, 1, 2], [1, 0, 5, 4, 3, 2]],
        "end": {(0, 3): [0, 1]}, "start": {(0, 1): [1]}, "keys": {0: [0, 1]}, "half": [[0, 0.5]],
        "many": np.zeros((2, s, t), int), "less": np.full((s, t), -1),
    }[what]


@fl.engine
def fails(network, *, layers: int = 1):
    """An engine that raises an error."""
    raise RuntimeError("two\\nlines")
'''

EXPERIMENT = """\
schema = 1
name = "mine"
plugins = ["engines.py"]
[topology]
family = "ring"
n = 5
[routing]
engine = "clockwise"
step = 1
[ebb]
samples = 5
[sweep.grid]
"routing.engine" = ["clockwise", "each_its_own", "min_hop"]
"""


@pytest.fixture
def engines(tmp_path):
    path = tmp_path / "engines.py"
    path.write_text(ENGINES)
    return path


@pytest.fixture
def loaded(engines):
    load_file(engines)
    return engines


def test_a_routing_with_a_cycle_is_proved_cyclic(loaded):
    """All go clockwise: each channel of the ring waits for the next, and no other is used."""
    routing = fl.route("ring:n=6,p=2", "clockwise")
    assert (routing.engine, routing.layers, routing.lanes) == ("clockwise", 1, 1)
    proof = fl.verify(routing)
    assert proof.complete.holds and not proof.deadlock.holds and not proof.holds
    assert len(proof.deadlock.cycle) == 6
    assert proof.complete.max_hops == 5
    # hops 1 to 5 to each of the other switches
    assert proof.complete.mean_hops == 3
    assert fl.verify(fl.spread(routing, "online")).holds


def test_ports_of_another_engine_are_its_tables(loaded):
    for name in ("slim_fly:q=5,p=2", "fat_tree:levels=2,k=8", "dragonfly:h=2"):
        mine, theirs = fl.route(name, "as_ports"), fl.route(name, "min_hop")
        assert np.array_equal(mine.next, theirs.next)
        assert fl.verify(mine).complete.to_dict() == fl.verify(theirs).complete.to_dict()


def test_paths_of_networkx_are_minimal(loaded):
    for name in ("slim_fly:q=5,p=2", "torus:shape=4x4", "hyperx:shape=3x3,p=2"):
        network = fl.network(name)
        proof = fl.verify(fl.route(network, "shortest"))
        found = fl.structure(network)
        assert proof.complete.holds
        assert proof.complete.max_hops == found.diameter
        assert proof.complete.mean_hops == pytest.approx(found.mean_distance)


def test_paths_by_terminal_and_layer(loaded):
    network = fl.network("ring:n=5,p=2")
    routing = fl.route(network, "each_its_own", layers=2)
    assert (routing.layers, routing.lmc) == (2, 1)
    for layer in (0, 1):
        for terminal in range(10):
            by = (1, -1)[(terminal + layer) % 2]
            home = terminal // 2
            path = routing.path(0, terminal, layer)
            assert path == [by * i % 5 for i in range((by * home) % 5 + 1)]
    assert fl.verify(routing).complete.holds
    one = fl.route(network, "each_its_own")
    assert np.array_equal(one.next[0], routing.next[0])


@pytest.mark.parametrize(("what", "message"), [
    ("shape", "returns an array of shape (7, 6) and type int64; whole numbers by layer, switch and"
              " terminal, (1, 6, 6)"),
    ("real", "returns an array of shape (6, 6) and type float64; whole numbers"),
    ("many", "returns an array of shape (2, 6, 6) and type int64; whole numbers"),
    ("none", "what it returns are no routes; an array of next hops, lists of switches"),
    ("text", "what it returns are no routes; "), ("half", "what it returns are no routes; "),
    ("keys", "what it returns are no routes; "),
    ("start", "path 1: does not begin at 0"),
])
def test_what_are_no_routes_is_refused_in_one_line(loaded, what, message):
    with pytest.raises(RefusalError) as caught:
        fl.route("ring:n=6", "wrong", what=what)
    line = 1 + ENGINES[:ENGINES.index("@fl.engine\ndef wrong")].count("\n")
    assert str(caught.value).startswith(f"wrong: {loaded}, line {line}: {message}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("what", "message"), [
    ("far", "wrong: switch 0, terminal 1: switch 3 is no neighbour of switch 0; its neighbours are"
            " 1, 5; -1 for no route"),
    ("jump", "wrong: path 0 > 2: switch 2 is no neighbour of switch 0"),
    ("part", "wrong: path 1 > 0 > 5 > 4 > 3 > 2: at switch 1 another path to terminal 2 takes"),
    ("end", "wrong: path 0 > 1: it does not end at terminal 3; that is on switch 3"),
])
def test_routes_that_the_cabling_does_not_have_are_refused(loaded, what, message):
    with pytest.raises(RefusalError) as caught:
        fl.route("ring:n=6", "wrong", what=what)
    assert str(caught.value).startswith(message)


def test_routes_that_are_left_out_are_missing_in_the_proof(loaded):
    proof = fl.verify(fl.route("ring:n=6", "wrong", what="less"))
    assert not proof.holds and not proof.verdicts.no_missing_entry.holds


@pytest.mark.parametrize(("options", "message"), [
    ({"steps": 2}, "clockwise: unknown field `steps`; clockwise takes step"),
    ({"step": "two"}, 'clockwise: step: "two" is of another type; a whole number'),
])
def test_options_are_checked_by_name_and_type(loaded, options, message):
    with pytest.raises(RefusalError, match=message):
        fl.route("ring:n=6", "clockwise", **options)


def test_layers_are_for_engines_that_take_them(loaded):
    with pytest.raises(RefusalError, match="shortest: layers: 2; it gives one route"):
        fl.route("ring:n=6", "shortest", layers=2)
    with pytest.raises(RefusalError, match=r"fails: .*line \d+: RuntimeError: two lines"):
        fl.route("ring:n=6", "fails", layers=2)


@pytest.mark.parametrize(("text", "message"), [
    ("@fl.engine\ndef sssp(network): ...", "sssp: there is a built-in engine of that name"),
    ("@fl.engine\ndef mine(): ...", "its first parameter is the network; it has none"),
    ("@fl.engine\ndef mine(network, lmc: int): ...", "lmc: has a meaning of its own"),
    ('@fl.engine(gives="hops")\ndef mine(network): ...', "gives: 'hops' is neither switches nor"),
])
def test_an_engine_that_cannot_be_is_refused(tmp_path, text, message):
    (tmp_path / "mine.py").write_text(f"import flyloom as fl\n{text}\n")
    with pytest.raises(RefusalError, match=f"@flyloom.engine .*mine.py, line 2: {message}"):
        load_file(tmp_path / "mine.py")


def test_commands_route_by_it(engines, tmp_path):
    said = document("route", "ring:n=6", "-e", "clockwise", "--plugin", engines)
    assert said["engine"] == "clockwise" and not said["verified"] and said["complete"]["holds"]
    done = flyloom("verify", "ring:n=6", "-e", "clockwise", "--plugin", engines)
    assert done.returncode == 1 and "packets can wait for one another in a cycle" in done.stdout
    wrote = flyloom("route", "ring:n=6", "-e", "clockwise", "--plugin", engines,
                    "-o", tmp_path / "t")
    assert wrote.returncode == 0
    assert document("verify", tmp_path / "t", code=1)["engine"] == "clockwise"
    rows = document("compare-routing", "ring:n=6", "--engines", "clockwise:step=1,min_hop",
                    "--samples", 3, "--plugin", engines)["rows"]
    assert [(row["engine"], row["deadlock_free"]) for row in rows] == [
        ("clockwise:step=1", False), ("min_hop", False)]
    done = flyloom("route", "ring:n=6", "-e", "clockwise", "-O", "pace=2", "--plugin", engines)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    listed = flyloom("list", "engines", "--plugin", engines).stdout
    assert f"engine clockwise (plug-in, {engines}): Always to the next switch of a ring." in listed


def test_experiments_route_by_it(engines, tmp_path):
    (tmp_path / "mine.toml").write_text(EXPERIMENT.replace("step = 1\n", ""))
    found = fl.run(tmp_path / "mine.toml", out=tmp_path / "one", workers=1)
    assert (found.points, found.holds) == (3, False)
    rows = pyarrow.parquet.read_table(tmp_path / "one/mine/rows.parquet").to_pylist()
    assert [(row["engine"], row["complete"], row["max_hops"]) for row in rows] == [
        ("clockwise", True, 4), ("each_its_own", True, 4), ("min_hop", True, 2)]
    fl.run(tmp_path / "mine.toml", out=tmp_path / "two", workers=2)
    assert written(tmp_path / "one/mine") == written(tmp_path / "two/mine")
    engines.write_text(ENGINES + "\n# more\n")
    again = fl.run(tmp_path / "mine.toml", out=tmp_path / "one", workers=1)
    assert (again.points, again.reused) == (3, 1)  # ours does not stand on it
    assert json.loads((tmp_path / "one/mine/manifest.json").read_text())["points"] != [
        row["point"] for row in rows]


def test_its_options_are_checked_before_anything_runs(engines, tmp_path):
    (tmp_path / "mine.toml").write_text(EXPERIMENT)
    with pytest.raises(RefusalError, match="routing: each_its_own: unknown field `step`; "):
        fl.run(tmp_path / "mine.toml", out=tmp_path, workers=1)
    assert not (tmp_path / "mine").exists()
