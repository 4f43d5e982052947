"""The same words in a file, in Python and on the command line make the same tables."""

from __future__ import annotations

import json
import tomllib

import flyloom as fl
import pyarrow.parquet
import pytest
from cli_helpers import flyloom
from flyloom import RefusalError
from flyloom._core import expand
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
patterns = 0
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


def test_lanes_given_twice_are_refused_on_the_command_line():
    done = flyloom("route", "ring:n=5", "--lanes", "hops", "-O", "lanes=online")
    assert done.returncode == 2 and "--lanes: given twice" in done.stderr
