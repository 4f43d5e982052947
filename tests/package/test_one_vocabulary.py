"""The same words in a file, in Python and on the command line make the same tables."""

from __future__ import annotations

import json
import tomllib

import flyloom as fl
import pyarrow.parquet
import pytest
import typer
from cli_helpers import flyloom
from deploy_helpers import needs_fabric
from flyloom import RefusalError
from flyloom._core import expand
from flyloom.cli import load
from flyloom.cli.common import app
from flyloom.lab import fabric
from flyloom.lab.point import routing_of

NETS = {
    "torus:shape=4x4": 'family = "torus"\nshape = [4, 4]',
    "slim_fly:q=3,p=2": 'family = "slim_fly"\nq = 3\np = 2',
}
HEAD = 'schema = 1\nname = "one"\n'

ROUTED = [
    # rest of the file, keywords, words of the command line
    ('engine = "dfsssp"\nmax_lanes = 4', {"max_lanes": 4}, ["-O", "max_lanes=4"]),
    ('engine = "dfsssp"\n[lanes]\nmethod = "hops"', {"lanes": "hops"}, ["--lanes", "hops"]),
    (
        'engine = "min_hop"\n[lanes]\nmethod = "random"\nseed = 3\nmax_lanes = 12',
        {"lanes": {"method": "random", "seed": 3, "max_lanes": 12}},
        ["--lanes", "random:seed=3,max_lanes=12"],
    ),
    (
        'engine = "nue"\n[lanes]\nmax_lanes = 2', {"lanes": {"max_lanes": 2}},
        ["-O", "max_lanes=2"],
    ),
    (
        'engine = "up_down"\nlmc = 1\n[lanes]\nbalance = true\nmax_lanes = 3',
        {"lmc": 1, "balance": True, "max_lanes": 3},
        ["--lmc", "1", "-O", "balance=true", "-O", "max_lanes=3"],
    ),
    ('engine = "ecmp"\nlayers = 3', {"layers": 3}, ["--layers", "3"]),
    ('engine = "sssp"\nlayers = 3\nlmc = 2', {"layers": 3, "lmc": 2}, ["--layers", 3, "--lmc", 2]),
    (
        'engine = "application"\ntraffic = "longest_matching"', {"traffic": "longest_matching"},
        ["-O", "traffic=longest_matching"],
    ),
    (
        'engine = "application"\ntraffic = [[0, 5, 2.0], [1, 3, 1.0]]',
        {"traffic": [[0, 5, 2.0], [1, 3, 1.0]]}, ["-O", "traffic=[[0, 5, 2.0], [1, 3, 1.0]]"],
    ),
    ('engine = "lash"\nlanes = "lightest"', {"lanes": "lightest"}, ["-O", "lanes=lightest"]),
]


@pytest.mark.parametrize("net", NETS)
@pytest.mark.parametrize(("file", "keywords", "words"), ROUTED)
def test_the_three_faces_make_the_same_tables(net, file, keywords, words, tmp_path):
    topology = fl.network(net)
    engine = tomllib.loads(file)["engine"]
    text = fl.route(topology, engine, **keywords).table_text()
    (point,) = expand(f"{HEAD}[topology]\n{NETS[net]}\n[routing]\n{file}\n", "one.toml")["points"]
    assert routing_of(topology, point, None, None).table_text() == text
    done = flyloom("route", net, "-e", engine, *words, "-o", tmp_path / "tables")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "tables" / "tables.txt").read_text() == text


def test_lanes_are_swept_and_named_apart(tmp_path):
    file = tmp_path / "swept.toml"
    file.write_text(f"""{HEAD}[topology]
{NETS["torus:shape=4x4"]}
[routing]
engine = "min_hop"
[lanes]
max_lanes = 15
[ebb]
samples = 0
[sweep.grid]
"lanes.method" = ["online", "hops"]
"lanes.balance" = [false, true]
""")
    found = fl.run(file, out=tmp_path / "out", workers=1)
    assert found.holds
    rows = pyarrow.parquet.read_table(tmp_path / "out/one/rows.parquet").to_pylist()
    lanes = [json.loads(row["options"])["lanes"] for row in rows]
    assert {(one["method"], one["balance"]) for one in lanes} == {
        ("online", False), ("online", True), ("hops", False), ("hops", True),
    }
    for row, asked in zip(rows, lanes, strict=True):
        alone = fl.route("torus:shape=4x4", "min_hop", lanes=asked)
        assert (row["lanes"], row["deadlock_free"]) == (alone.lanes, True)
        assert (row["lanes"] == 15) == asked["balance"]
    records = json.loads((tmp_path / "out/one/results.json").read_text())
    labels = {record["label"] for record in records["records"]}
    assert "min_hop, LMC 0, lanes hops:max_lanes=15,balance=true" in labels and len(labels) == 4


@pytest.mark.parametrize(("file", "why"), [
    ('engine = "dfsssp"\nlanes = "hops"\n[lanes]\nmax_lanes = 3', "lanes: given twice"),
    ('engine = "dfsssp"\nmax_lanes = 3\n[lanes]\nmax_lanes = 3', "max_lanes: given twice"),
    ('engine = "dfsssp"\n[lanes]\nmax_lanes = 16', "max_lanes: 16 lanes; 1 to 15"),
    ('engine = "dfsssp"\n[lanes]\nmethod = "fish"', "fish"),
    ('engine = "dfsssp"\n[lanes]\nmost = 4', "unknown field `most`"),
    ('engine = "opensm:lash"\n[lanes]\nmethod = "hops"', "lanes: OpenSM"),
])
def test_a_file_that_cannot_be_is_refused(file, why):
    with pytest.raises(RefusalError) as refused:
        expand(f"{HEAD}[topology]\n{NETS['torus:shape=4x4']}\n[routing]\n{file}\n", "one.toml")
    assert str(refused.value).startswith("one.toml: ") and why in str(refused.value)


@pytest.mark.parametrize(("engine", "options", "why"), [
    ("opensm:nue", {"traffic": "uniform"}, "traffic: OpenSM's engines take"),
    ("opensm:minhop", {"flows": []}, "flows: OpenSM's engines take"),
    ("opensm:minhop", {"lanes": "hops"}, "lanes: OpenSM's engines take"),
    ("sssp", {"traffic": "uniform"}, "unknown field `traffic`"),
    ("application", {"traffic": "uniform", "flows": []}, "unknown field `traffic`"),
    ("application", {"traffic": "nowhere.csv"}, "nowhere.csv: cannot be read: No such file"),
])
def test_nothing_that_an_engine_does_not_take_is_dropped(engine, options, why):
    with pytest.raises(RefusalError) as refused:
        fl.route("ring:n=5", engine, **options)
    assert why in str(refused.value)


def test_lanes_given_twice_are_refused_on_the_command_line():
    done = flyloom("route", "ring:n=5", "--lanes", "hops", "-O", "lanes=online")
    assert done.returncode == 2 and "--lanes: given twice" in done.stderr


@pytest.mark.parametrize("engine", ["sssp", "opensm:minhop"])
@pytest.mark.parametrize(("lmc", "layers", "fits"), [
    (2, 3, True), (2, 4, True), (3, 3, False), (1, 3, False), (0, 1, True), (0, 2, False),
])
def test_lmc_and_layers_fit_or_are_refused_in_every_face(engine, lmc, layers, fits):
    """OpenSM's engines take powers of two besides; no fabric is needed to tell."""
    fits = fits and (engine == "sssp" or layers != 3)
    text = f'{HEAD}[topology]\nfamily = "ring"\nn = 5\n[routing]\nengine = "{engine}"\n'
    text += f"lmc = {lmc}\nlayers = {layers}\n"
    if fits:
        (point,) = expand(text, "one.toml")["points"]
        assert (point["routing"]["lmc"], point["routing"]["layers"]) == (lmc, layers)
        if engine == "sssp":
            routing = fl.route("ring:n=5", engine, lmc=lmc, layers=layers)
            assert (routing.lmc, routing.layers) == (lmc, layers)
        return
    with pytest.raises(RefusalError) as refused:
        expand(text, "one.toml")
    place, _, why = str(refused.value).partition(": routing: ")
    assert place.startswith("one.toml: line ")
    assert why.startswith("layers: ")
    with pytest.raises(RefusalError) as refused:
        fl.route("ring:n=5", engine, lmc=lmc, layers=layers)
    assert str(refused.value) == why
    done = flyloom("route", "ring:n=5", "-e", engine, "--lmc", lmc, "--layers", layers)
    assert (done.returncode, done.stderr) == (2, f"flyloom: {why}\n")


def test_points_are_distinguished_by_what_was_asked(tmp_path):
    (tmp_path / "who.csv").write_text("src,dst,demand\n0,5,2\n1,3,1\n")
    file = tmp_path / "named.toml"
    file.write_text(f"""{HEAD}[topology]
{NETS["torus:shape=4x4"]}
[ebb]
samples = 0
[[point]]
routing = {{ engine = "ecmp", layers = 3 }}
[[point]]
routing = {{ engine = "ecmp", layers = 4 }}
[[point]]
routing = {{ engine = "application", traffic = "who.csv" }}
[[point]]
routing = {{ engine = "application", traffic = "uniform" }}
""")
    assert fl.run(file, out=tmp_path / "out", workers=1).holds
    records = json.loads((tmp_path / "out/one/results.json").read_text())["records"]
    assert [(record["label"], record["layers"]) for record in records] == [
        ("ecmp, LMC 2, layers 3", 3), ("ecmp, LMC 2", 4),
        ("application, LMC 0, traffic who.csv", 1), ("application, LMC 0, traffic uniform", 1),
    ]
    topology = fl.network("torus:shape=4x4")
    alone = fl.route(topology, "application", traffic=tmp_path / "who.csv")
    assert records[2]["load"] == alone.measure("edge_load")
    # the content of the file is part of what was asked
    assert fl.run(file, out=tmp_path / "out", workers=1).reused == 4
    (tmp_path / "who.csv").write_text("src,dst,demand\n0,5,2\n1,3,7\n")
    assert fl.run(file, out=tmp_path / "out", workers=1).reused == 3
    (tmp_path / "who.csv").unlink()
    with pytest.raises(RefusalError, match=r"routing.traffic: 'who.csv' is neither"):
        fl.run(file, out=tmp_path / "out", workers=1)


def test_failures_are_the_same_in_every_face(tmp_path):
    whole = fl.network("torus:shape=4x4")
    names = whole.switch_names
    failed = {
        "links": [f"{names[0]}:{names[1]}", 9], "switches": [names[15]], "random": 2, "seed": 5,
    }
    damaged = whole.with_failures(**failed)
    table = damaged.link_table
    drawn = whole.failures({"random": 2, "seed": 5})[0]
    assert len(drawn) == 2 and not table["up"][[9, *drawn]].any()
    spec = tmp_path / "net.toml"
    links = json.dumps(failed["links"])
    words = f"links = {links}, switches = {json.dumps(failed['switches'])}, random = 2, seed = 5"
    spec.write_text(f'{NETS["torus:shape=4x4"]}\nfailures = {{ {words} }}\n')
    assert fl.network(spec).to_text("json") == damaged.to_text("json")
    other = words.replace("seed = 5", "seed = 6")
    file = tmp_path / "one.toml"
    file.write_text(f"""{HEAD}[topology]
{NETS["torus:shape=4x4"]}
[routing]
engine = "up_down"
[ebb]
samples = 0
[[point]]
topology = {{ family = "torus", shape = [4, 4] }}
repair = {{ {words} }}
[[point]]
topology = {{ family = "torus", shape = [4, 4], failures = {{ {words} }} }}
[[point]]
topology = {{ family = "torus", shape = [4, 4], failures = {{ {other} }} }}
""")
    assert fl.run(file, out=tmp_path / "out", workers=1).holds
    records = json.loads((tmp_path / "out/one/results.json").read_text())["records"]
    routing = fl.route(whole, "up_down")
    repaired, found = fl.repair(routing, whole, **failed)
    assert records[0]["measures"]["repair"] == found.to_dict()
    assert records[1]["load"] == fl.route(damaged, "up_down").measure("edge_load")
    assert len({record["network"] for record in records}) == 3
    assert "seed=5" in records[1]["network"] and "seed=6" in records[2]["network"]
    link, switch = failed["links"][0], failed["switches"][0]
    end = f"{names[table['a_switch'][9]]}:{table['a_port'][9]}"
    done = flyloom("repair", "torus:shape=4x4", "-e", "up_down", "--link", link, "--link", end,
                   "--switch", switch, "--random", 2, "--seed", 5, "-o", tmp_path / "repaired")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "repaired/tables.txt").read_text() == repaired.table_text()


@pytest.mark.parametrize(("failed", "why"), [
    ({"links": ["nobody:1"]}, "links: there is no switch nobody"),
    ({"switches": ["x"]}, "switches: there is no switch x"),
    ({"switches": [16]}, "switches: there is no switch 16; 0 to 15"),
    ({"random": 99}, "random: 99 random links of 32"), ({"random": -1}, "random"),
    ({"seed": "x"}, "seed"), ({"links": [True]}, "links"), ({"links": 3}, "links"),
])
def test_failures_that_cannot_be_are_refused(failed, why):
    with pytest.raises(RefusalError, match=why):
        fl.network("torus:shape=4x4").with_failures(**failed)


def parameters():
    """(command, visible options of one parameter), for all commands."""
    load([])
    found = []

    def walk(command, path):
        for name, below in getattr(command, "commands", {}).items():
            walk(below, [*path, name])
        for parameter in command.params:
            if getattr(parameter, "hidden", False) or not parameter.opts[0].startswith("-"):
                continue
            found.append((" ".join(path), tuple(parameter.opts)))

    walk(typer.main.get_command(app), [])
    return found


def test_a_short_option_stands_for_one_word_in_all_commands():
    stands = {}
    for name, options in parameters():
        long = [option for option in options if option.startswith("--")]
        assert long, f"{name} {options}: no word for it"
        for short in set(options) - set(long):
            stands.setdefault(short, {}).setdefault(long[0], []).append(name)
    assert all(len(words) == 1 for words in stands.values()), stands
    known = {short: next(iter(words)) for short, words in stands.items()}
    wanted = {"-n": "--endpoints", "-o": "--out", "-k": "--radix", "-e": "--engine"}
    assert known | wanted == known


NET = "ring:n=5"
OLD = [  # as it was written before, and as it is now
    (["figure", "disjoint_paths", "-n", NET], ["figure", "disjoint_paths", "--net", NET]),
    (["search", "-n", "8", "-d", "3"], ["search", "--order", "8", "--degree", "3"]),
    (["structure", NET, "--load"], ["structure", NET, "--channel-load"]),
    (["lanes", "ring:n=5", "--method", "hops"], ["lanes", "ring:n=5", "--lanes", "hops"]),
    (
        ["verify", "t/lfts.txt", "--network", "t/fabric.net", "--levels", "levels.txt"],
        ["verify", "t/lfts.txt", "--found", "t/fabric.net", "--path-records", "levels.txt"],
    ),
    (["design", "ring:n=5", "-o", "x.json"], ["design", "ring:n=5", "--out", "x.json"]),
]


@pytest.mark.parametrize(("old", "new"), OLD, ids=[old[0] for old, _ in OLD])
def test_what_was_written_before_goes_on_working(old, new, tmp_path):
    if old[0] == "verify":
        made = flyloom("route", "ring:n=5", "-e", "up_down", "-o", "t", cwd=tmp_path)
        assert made.returncode == 0, made.stderr
        lids = fl.network(NET).addresses(0)["lid"]
        records = "".join(f"{one} {other} 0\n" for one in lids for other in lids)
        (tmp_path / "levels.txt").write_text(records)
    before, now = (flyloom(*words, "--json", cwd=tmp_path) for words in (old, new))
    assert before.returncode == now.returncode in (0, 1), now.stderr
    assert (before.stdout, before.stderr) == (now.stdout, now.stderr)


def test_cables_are_verified_by_one_name():
    plan = fl.network("ring:n=5")
    hurt = plan.with_failures([2])
    found = fl.verify_cables(plan, hurt).to_dict()
    assert not found["clean"] and found == fl.check_cables(plan, hurt).to_dict()


@needs_fabric
def test_a_file_gives_opensm_s_engines_what_the_verb_gives():
    text = f"""{HEAD}[topology]
{NETS["torus:shape=4x4"]}
[routing]
engine = "opensm:nue"
max_lanes = 4
layers = 2
"""
    (point,) = expand(text, "one.toml")["points"]
    topology = fl.network("torus:shape=4x4")
    in_file = routing_of(topology, point, None, fabric)
    by_verb = fl.route(topology, "opensm:nue", max_lanes=4, lmc=1)
    assert in_file.table_text() == by_verb.table_text()
    assert (in_file.lmc, in_file.lanes) == (1, by_verb.lanes) and 1 < in_file.lanes <= 4
    alone = fl.route(topology, "opensm:nue", lmc=1)
    assert alone.table_text() != in_file.table_text()
