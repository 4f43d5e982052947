"""Topologies of users: by decorator, file, package; in Python, commands, experiments."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import flyloom as fl
import networkx as nx
import pyarrow.parquet
import pytest
from cli_helpers import document, environment, flyloom
from flyloom import RefusalError
from flyloom.plugins.found import load_file
from flyloom.plugins.signature import parameters
from plugin_helpers import forgotten, install, no_charts, written

__all__ = ["forgotten", "no_charts"]

NETS = '''\
"""Networks of mine."""
import networkx as nx
import flyloom as fl


@fl.topology
def my_ring(n: int = 8) -> list[tuple[int, int]]:
    """A ring, again.

    Parameters
    ----------
    n
        Number of switches.
    """
    return [(i, (i + 1) % n) for i in range(n)]


@fl.topology
def my_torus(shape: list[int], p: int = 2):
    """A torus by networkx."""
    graph = nx.grid_graph(dim=list(shape), periodic=True)
    return graph


@fl.topology
def of_rings(n: int = 8, wide: bool = False) -> "fl.Topology":
    """A built-in one in other clothes."""
    return fl.ring(n=n, p=3 if wide else 1)


@fl.topology
def by_networkx(n: int):
    """A star, whose hub carries nothing."""
    graph = nx.star_graph(n)
    nx.set_node_attributes(graph, {0: 0}, "endpoints")
    return graph


@fl.topology
def broken(n: int = 3):
    """A topology that raises an error."""
    return [(0, 1 // (n - 3))]


@fl.topology
def odd(what: str = "text"):
    """No network."""
    return {"text": "pairs", "none": None, "loop": [(0, 0)], "low": [(0, -1)]}[what]
'''

EXPERIMENT = """\
schema = 1
name = "mine"
seed = 7
plugins = ["nets.py"]
[topology]
family = "my_ring"
n = 5
p = 2
[routing]
engine = "dfsssp"
[ebb]
samples = 5
[sweep.grid]
"topology.n" = [5, 6]
"routing.engine" = ["min_hop", "dfsssp"]
"""


@pytest.fixture
def nets(tmp_path):
    path = tmp_path / "nets.py"
    path.write_text(NETS)
    return path


@pytest.fixture
def loaded(nets):
    load_file(nets)
    return nets


@pytest.mark.parametrize(("mine", "theirs"), [
    ("my_ring:n=9", "ring:n=9"), ("my_ring:n=5,p=3", "ring:n=5,p=3"),
    ("my_torus:shape=4x5", "torus:shape=4x5,p=2"), ("my_torus:shape=7", "torus:shape=7,p=2"),
    ("of_rings:wide=true", "ring:n=8,p=3"),
])
def test_a_network_of_ours_made_again_is_the_same_one(loaded, mine, theirs):
    """Isomorphic, and every figure of structure but the order that random starts give."""
    one, other = fl.network(mine), fl.network(theirs)
    assert nx.is_isomorphic(fl.to_networkx(one), fl.to_networkx(other))
    figures = [fl.structure(t, paths=True, disjoint=True, load=True).to_dict()
               for t in (one, other)]
    assert figures[0].pop("recipe").startswith(mine.partition(":")[0])
    assert figures[1].pop("recipe") == theirs
    rounded = [json.loads(json.dumps(one), parse_float=lambda x: round(float(x), 9))
               for one in figures]
    assert rounded[0] == rounded[1]


def test_the_recipe_says_every_parameter(loaded):
    assert fl.network("my_ring").recipe == "my_ring:n=8"
    assert fl.network("my_ring:p=2").recipe == "my_ring:n=8,p=2"
    assert fl.network("my_torus:shape=3x3").recipe == "my_torus:shape=3x3,p=2"
    assert fl.network("of_rings").recipe == "of_rings:n=8,wide=false"
    assert fl.network("of_rings").family == "of_rings"
    for text in ("my_ring:n=8,p=2", "my_torus:shape=3x3,p=2", "of_rings:n=8,wide=false"):
        assert fl.network(text).recipe == text
        again = fl.network(text).to_text("json")
        assert json.loads(again)["recipe"]["family"] == text.partition(":")[0]
    assert fl.promise("my_ring:n=8") is None


def test_a_network_of_ours_keeps_its_geometry_and_its_symmetry(loaded):
    routing = fl.route("of_rings:n=8,wide=true", "dor")
    assert (routing.next == fl.route("ring:n=8,p=3", "dor").next).all()


def test_nodes_say_how_many_endpoints_they_carry(loaded):
    star = fl.network("by_networkx:n=5,p=4")
    assert (star.switches, star.endpoints) == (6, 20)
    assert star.attachments[:, 0].min() == 1


@pytest.mark.parametrize(("text", "message"), [
    ("my_ring:m=3", "my_ring: unknown field `m`; my_ring takes n, p"),
    ("my_ring:n=2.5", "my_ring: n: 2.5 is of another type; a whole number"),
    ("my_torus:p=3", "my_torus: missing field `shape`; my_torus takes shape, p"),
    ("of_rings:wide=3", "of_rings: wide: 3 is of another type; true or false"),
    ("of_rings:p=3", "of_rings: unknown field `p`; of_rings takes n, wide"),
    ("of_rings:n=0", "of_rings: {file}, line 28: ring: n: 0 is out of range"),
    ("broken:n=3", "broken: {file}, line 42: ZeroDivisionError: integer division"),
    ("odd:what=blue", "odd: {file}, line 48: KeyError: 'blue'"),
    ("odd:what=none", "odd: {file}, line 45: what it returns is no network"),
    ("odd", "odd: {file}, line 45: what it returns is no network; pairs of switch numbers"),
    ("odd:what=low", "odd: {file}, line 45: pairs: -1 is no switch number"),
    ("odd:what=loop", "odd: {file}, line 45: pairs: links: a cable joins switch s0 to itself"),
    ("my_rong:n=3", "topology: there is no family 'my_rong'"),
])
def test_what_cannot_be_is_refused_in_one_line(loaded, text, message):
    with pytest.raises(RefusalError) as caught:
        fl.network(text)
    assert str(caught.value).startswith(message.format(file=loaded))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("text", "message"), [
    ("def ring(n: int): ...", "@flyloom.topology ring: {file}, line 2: ring: there is a built-in "),
    ("def Net(n: int): ...", "@flyloom.topology Net: {file}, line 2: Net: no name of a part"),
    ("def net(n): ...", "@flyloom.topology net: {file}, line 2: n: no type of a parameter; int, "),
    ("def net(n: complex): ...", "@flyloom.topology net: {file}, line 2: n: complex: no type"),
    ("def net(n: int = 2.5): ...", "@flyloom.topology net: {file}, line 2: n: int = 2.5: the def"),
    ("def net(*n: int): ...", "@flyloom.topology net: {file}, line 2: *n: int: parameters have"),
    ("def net(file: str): ...", "@flyloom.topology net: {file}, line 2: file: has a meaning"),
    ("def net(:", "plug-in: {file}, line 3: "),
    ("def net(): ...\n1 / 0", "plug-in: {file}, line 4: ZeroDivisionError"),
    ("def net(): ...\nraise SystemExit", "plug-in: {file}, line 4: SystemExit"),
    ("class Net: ...", "plug-in: {file}, line 2: @flyloom.topology: <class 'flyloom_plugin_net_"),
])
def test_a_file_that_cannot_be_is_refused_in_one_line(tmp_path, text, message):
    path = tmp_path / "net.py"
    path.write_text(f"import flyloom as fl\n@fl.topology\n{text}\n")
    done = flyloom("design", "net:n=3", "--plugin", path)
    assert done.returncode == 2 and done.stdout == ""
    wanted = message.format(file=path)
    assert done.stderr.startswith(f"flyloom: {wanted}") and done.stderr.count("\n") == 1


def test_files_that_are_none_are_refused(tmp_path):
    (tmp_path / "plain.py").write_text("x = 1\n")
    (tmp_path / "net.txt").write_text(NETS)
    for name, message in (("plain.py", "no part in it; decorate one"),
                          ("net.txt", "no Python file"), ("none.py", "cannot be read")):
        done = flyloom("--plugin", tmp_path / name, "list", "engines")
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr and done.stderr.count("\n") == 1


def test_two_of_one_name_are_refused_and_one_again_takes_its_place(nets, tmp_path):
    load_file(nets)
    other = tmp_path / "other.py"
    other.write_text(NETS)
    with pytest.raises(RefusalError, match="my_ring: two plug-ins are called so: .*nets.py"):
        load_file(other)
    nets.write_text(NETS.replace("(i + 1) % n", "(i + 2) % n"))
    load_file(nets)
    assert fl.structure("my_ring:n=7").diameter == 3
    assert nx.utils.edges_equal(
        fl.to_networkx(fl.network("my_ring:n=7")).edges(),
        nx.circulant_graph(7, [2]).edges())


@pytest.mark.parametrize("words", [
    ["--plugin", "{file}", "design", "my_ring:n=9"],
    ["design", "my_ring:n=9", "--plugin", "{file}"],
    ["design", "--plugin={file}", "my_ring:n=9"],
])
def test_commands_know_it_before_and_after_the_verb(nets, words):
    said = document(*[word.format(file=nets) for word in words])
    assert (said["recipe"], said["switches"], said["diameter"]) == ("my_ring:n=9", 9, 4)


@pytest.mark.parametrize("words", [
    ["plan"], ["route", "-e", "dfsssp"], ["verify"], ["ebb", "--samples", "3"], ["structure"],
    ["resilience", "--samples", "3"], ["cost"], ["throughput"],
    ["congestion", "--pattern", "ring", "--samples", "2"],
])
def test_every_verb_takes_it(nets, words):
    done = flyloom(*words[:1], "my_ring:n=6,p=2", *words[1:], "--plugin", nets)
    assert done.returncode == 0, done.stderr
    assert "my_ring:n=6,p=2" in done.stdout


@pytest.mark.parametrize("words", [["design"], ["run"], ["catalog", "list"], []])
def test_every_command_says_how_to_name_a_file(words):
    assert "--plugin FILE.py" in flyloom(*words, "--help").stdout


def test_a_function_that_remembers_is_a_function(tmp_path):
    (tmp_path / "net.py").write_text(
        "import functools\nimport flyloom as fl\n@fl.topology\n@functools.cache\n"
        "def pair(p: int = 3):\n    return [(0, 1)]\n")
    load_file(tmp_path / "net.py")
    assert fl.network("pair").endpoints == 6


def test_a_comparison_shows_its_recipe(nets):
    said = document("compare", "my_ring:n=9,p=1", "ring:n=9", "--plugin", nets, "--samples", 0)
    mine, theirs = said["rows"]
    assert mine["network"] == "my_ring:n=9,p=1" and mine["family"] == "my_ring"
    # their racks differ: a ring's stand by its geometry
    for key in ("endpoints", "switches", "links", "diameter", "mean_distance", "bisection_low",
                "bisection_high", "uniform_saturation", "spectral_gap"):
        assert mine[key] == pytest.approx(theirs[key]), key


def test_spec_files_name_it(loaded, tmp_path):
    (tmp_path / "net.toml").write_text('family = "my_ring"\nn = 7\n')
    assert fl.network(tmp_path / "net.toml").recipe == "my_ring:n=7"
    (tmp_path / "net.toml").write_text('family = "my_ring"\nm = 7\n')
    with pytest.raises(RefusalError, match="net.toml: my_ring: unknown field `m`"):
        fl.network(tmp_path / "net.toml")


def test_lists_say_whose_it_is(nets):
    done = flyloom("list", "topologies", "--plugin", nets)
    assert f"topology my_ring (plug-in, {nets}): A ring, again.\n" in done.stdout
    assert "    n (int, optional): Number of switches.\n" in done.stdout
    listed = document("list", "topologies", "--plugin", nets)
    rows = {row["name"]: row for row in listed}
    assert rows["my_ring"]["plugin"] == str(nets) and "plugin" not in rows["ring"]
    assert [p["name"] for p in rows["my_torus"]["params"]] == ["shape", "p"]
    assert rows["my_torus"]["params"][0]["required"]


def test_experiments_build_it_sweep_it_and_keep_its_points(nets, tmp_path):
    (tmp_path / "mine.toml").write_text(EXPERIMENT)
    found = fl.run(tmp_path / "mine.toml", out=tmp_path, workers=1)
    assert (found.points, found.reused, found.holds) == (4, 0, False)
    rows = pyarrow.parquet.read_table(tmp_path / "mine/rows.parquet").to_pylist()
    run = {(row["recipe"], row["engine"], row["diameter"], row["deadlock_free"]) for row in rows}
    assert run == {(f"my_ring:n={n},p=2", engine, n // 2, engine == "dfsssp")
                   for n in (5, 6) for engine in ("min_hop", "dfsssp")}
    assert 'plugins = ["nets.py"]' in (tmp_path / "mine/effective.toml").read_text()
    assert fl.run(tmp_path / "mine.toml", out=tmp_path, workers=1).reused == 4
    nets.write_text(NETS.replace("A ring, again.", "A ring, once more."))
    assert fl.run(tmp_path / "mine.toml", out=tmp_path, workers=1).reused == 0


def test_a_spec_file_of_it_is_computed_anew_when_it_changes(nets, tmp_path):
    (tmp_path / "net.toml").write_text('family = "my_ring"\nn = 5\n')
    text = EXPERIMENT.replace('family = "my_ring"\nn = 5\np = 2', 'file = "net.toml"')
    (tmp_path / "mine.toml").write_text(text.replace('"topology.n" = [5, 6]\n', ""))
    runs = []
    for body in (NETS, NETS, NETS.replace("(i + 1) % n", "(i + 2) % n")):
        nets.write_text(body)
        runs.append(fl.run(tmp_path / "mine.toml", out=tmp_path, workers=None).reused)
    assert runs == [0, 2, 0]


def test_two_workers_give_the_same_bytes(nets, tmp_path):
    (tmp_path / "mine.toml").write_text(EXPERIMENT)
    one = fl.run(tmp_path / "mine.toml", out=tmp_path / "one", workers=1)
    two = fl.run(tmp_path / "mine.toml", out=tmp_path / "two", workers=2)
    assert written(tmp_path / "one/mine") == written(tmp_path / "two/mine")
    assert (one.points, two.points) == (4, 4)


def test_workers_of_dask_have_it_without_its_file(nets, tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    (tmp_path / "mine.toml").write_text(EXPERIMENT)
    fl.run(tmp_path / "mine.toml", out=tmp_path / "one", workers=1)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True,
                                  dashboard_address=None) as cluster:
        address = cluster.scheduler_address.replace("tcp://", "dask://")
        fl.run(tmp_path / "mine.toml", out=tmp_path / "two", on=address)
        # a script of its own process, whose parts stand in no module that a worker could load
        (tmp_path / "plain.toml").write_text(EXPERIMENT.replace('plugins = ["nets.py"]\n', ""))
        script = tmp_path / "script.py"
        run = f"fl.run('plain.toml', out='three', on='{address}')"
        script.write_text(f"{NETS}\n\nif __name__ == '__main__':\n    {run}\n")
        subprocess.run([sys.executable, script], env=environment(), cwd=tmp_path, timeout=300,
                       check=True, capture_output=True)
    assert written(tmp_path / "one/mine") == written(tmp_path / "two/mine")
    one, three = (pyarrow.parquet.read_table(tmp_path / run / "mine/rows.parquet")
                  for run in ("one", "three"))
    assert one.drop_columns("point") == three.drop_columns("point")


@pytest.mark.parametrize(("old", "new", "message"), [
    ("n = 5", "m = 5", "point 1 (topology.n 5, routing.engine min_hop): topology: my_ring: unknown"
     " field `m`; my_ring takes n, p"),
    ("[5, 6]", "[5, 6.5]", "topology: my_ring: n: 6.5 is of another type"),
    ('"my_ring"', '"my_rong"', "there is no family 'my_rong'; families: bcube"),
    ('"nets.py"', '"no.py"', "mine.toml: plugins: "),
    ('["nets.py"]', '"nets.py"', "mine.toml: line 4, column 11: plugins: invalid type: string"),
])
def test_an_experiment_that_cannot_be_is_refused_before_anything_runs(
    nets, tmp_path, old, new, message
):
    (tmp_path / "mine.toml").write_text(EXPERIMENT.replace(old, new))
    with pytest.raises(RefusalError) as caught:
        fl.run(tmp_path / "mine.toml", out=tmp_path, workers=1)
    assert message in str(caught.value)
    assert not (tmp_path / "mine").exists()


def test_the_list_of_families_in_a_refusal_has_it(nets, tmp_path):
    (tmp_path / "mine.toml").write_text(EXPERIMENT.replace('family = "my_ring"', 'family = "my"'))
    with pytest.raises(RefusalError, match="families: bcube, .*, my_ring, my_torus"):
        fl.run(tmp_path / "mine.toml", out=tmp_path, workers=1)


def test_a_script_decorates_and_runs(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import flyloom as fl\n\n\n@fl.topology\ndef line(n: int) -> list[tuple[int, int]]:\n"
        "    return [(i, i + 1) for i in range(n - 1)]\n\n\n"
        "print(fl.network('line:n=4'), len(line(5)))\n")
    done = subprocess.run([sys.executable, script], env=environment(), text=True,
                          capture_output=True, timeout=120, check=True)
    assert done.stdout == "<Topology line:n=4: 4 switches, 4 endpoints, 3 links> 4\n"


def test_nothing_is_looked_for_where_a_name_is_built_in():
    """Reading what is installed takes as long as a short command."""
    code = ("import sys, flyloom as fl\nfl.network('ring:n=4')\n"
            "sys.exit('importlib.metadata' in sys.modules)")
    subprocess.run([sys.executable, "-c", code], env=environment(), timeout=120, check=True)


def test_installed_ones_are_found_by_their_entry_points(tmp_path):
    install(tmp_path, "mynets", "1.2", NETS, {
        "my_ring": "mynets:my_ring", "odd": "mynets:odd", "gone": "mynets:nothing",
        "lost": "nowhere:lost", "other": "mynets:my_ring",
    })
    words = [sys.executable, "-m", "flyloom.cli"]

    def run(*more):
        where = environment()
        where["PYTHONPATH"] += f":{tmp_path}"
        return subprocess.run([*words, *more], env=where, text=True, capture_output=True,
                              timeout=120)

    said = run("design", "my_ring:n=5", "--json")
    assert said.returncode == 0 and json.loads(said.stdout)["recipe"] == "my_ring:n=5"
    for name, message in (
        ("gone", "plug-in gone of mynets 1.2: "), ("lost", "plug-in lost of mynets 1.2: "),
        ("other", "plug-in other of mynets 1.2: mynets:my_ring is no part of that name"),
        ("none", "topology: there is no family 'none'"),
    ):
        done = run("design", f"{name}:n=5")
        assert done.returncode == 2 and done.stderr.startswith(f"flyloom: {message}"), done.stderr
        assert done.stderr.count("\n") == 1
    (tmp_path / "mine.toml").write_text(EXPERIMENT.replace('plugins = ["nets.py"]\n', ""))
    done = run("run", str(tmp_path / "mine.toml"), "--dry-run", "--json")
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["points"]) == 4


@pytest.mark.parametrize(("topology", "known"), [
    ('family = "slim_fly", q = 3, p = 2', True), ('family = "wheel", n = 8', False),
])
def test_a_dry_run_names_files_of_parts_and_runs_none(tmp_path, topology, known):
    (tmp_path / "parts.py").write_text('open("ran", "w")\n')
    experiment = tmp_path / "dry.toml"
    experiment.write_text(f'schema = 1\nname = "dry"\nplugins = ["parts.py"]\n'
                          f'topology = {{ {topology} }}\n[routing]\nengine = "sssp"\n')
    done = flyloom("run", experiment, "--dry-run", cwd=tmp_path)
    assert done.returncode == 0 and f"{tmp_path / 'parts.py'}: would be run" in done.stdout
    found = document("run", experiment, "--dry-run", cwd=tmp_path)
    assert found["plugins"] == [str(tmp_path / "parts.py")]
    assert (found["points"] is not None) == known
    assert not (tmp_path / "ran").exists()
    (tmp_path / "parts.py").write_text("def (:\n")
    refused = flyloom("run", experiment, "--dry-run", cwd=tmp_path)
    assert refused.returncode == 2 and "parts.py, line 1: no Python" in refused.stderr


def test_modules_of_the_working_folder_are_not_run(tmp_path):
    for name in ("json.py", "flyloom.py", "base64.py"):
        (tmp_path / name).write_text('open("ran", "w"); raise SystemExit("was run")\n')
    done = subprocess.run([Path(sys.executable).with_name("flyloom"), "sim", "flit",
                           "slim_fly:q=3,p=1", "--load", "0.1", "-o", "a.svg"], cwd=tmp_path,
                          env=environment(), text=True, capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.svg").read_text().startswith("<svg")
    assert not (tmp_path / "ran").exists()


def test_a_default_is_of_its_parameters_type():
    """True is an int to Python, and none to a user."""
    def good(flag: bool = True, n: int = 1, x: float = 2, many: list[int] = (3, 4)): ...
    def truth(n: int = True): ...
    def part(n: int = 1.5): ...
    def one(many: list[int] = (True,)): ...

    assert [row["default"] for row in parameters(good)] == [True, 1, 2, [3, 4]]
    for bad in (truth, part, one):
        with pytest.raises(RefusalError, match="the default is of another type"):
            parameters(bad)
