"""Hostile input: one clear line on standard error, exit code 2, no traceback, nothing written."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys

import flyloom as fl
import pytest
from cli_helpers import command, environment, flyloom
from deploy_helpers import DATA
from flyloom import RefusalError, Topology
from flyloom._core import expand
from flyloom.cli import main
from flyloom.inputs.tables import read_folder
from hypothesis import example, given, settings
from hypothesis import strategies as st

GOOD = """\
schema = 1
name = "good"
[topology]
family = "slim_fly"
q = 3
[routing]
engine = "sssp"
[ebb]
samples = 5
"""

FILES = {
    "binary.txt": b"\x00\x01\xff\xfe", "empty.txt": b"", "blank.txt": b"\n \n# only a remark\n",
    "words.txt": b"hello big world\n", "loop.edges": b"a b\nb b\n",
    "parts.edges": b"a b\nc d\n", "bad.toml": b"q = [[[", "number.toml": b"topology = 5\n",
    "nofamily.toml": b"q = 5\n", "date.toml": b'family = "slim_fly"\nq = 2020-01-01\n',
    "nan.toml": b'family = "slim_fly"\nq = nan\n', "self.toml": b'file = "self.toml"\n',
    "path.toml": b"file = 3\n", "p.toml": b'file = "parts.edges"\np = "x"\n',
    "key.toml": b'file = "parts.edges"\nq = 3\n', "cut.json": b'{"flyloom": 1, "sw',
    "other.json": b'{"nodes": []}', "cut.graphml": b"<graphml><graph>",
    "bomb.graphml": b'<!DOCTYPE x [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><graphml>&b;</graphml>',
    "crowded.graphml": b'<graphml><node a=">" ' + b" ".join(
        b'a%d="1"' % i for i in range(60_000)) + b"/></graphml>",
    "future.json": b'{"flyloom": 2, "recipe": {}, "switches": [], "links": [], "endpoints": []}',
    "cycle.edges": b"0 1\n1 2\n2 0\n", "good.toml": GOOD.encode(),
    "six.toml": GOOD.replace("q = 3", "q = 6").encode(),
    "engine.toml": GOOD.replace("sssp", "ssssp").encode(),
    "opensm.toml": GOOD.replace("sssp", "opensm:nothing").encode(),
    "lmc.toml": GOOD.replace('"sssp"', '"sssp"\nlmc = 8').encode(),
    "many.toml": GOOD.replace("q = 3", "q = 7\np = 8").replace(
        '"sssp"', '"sssp"\nlmc = 7').encode(),
    "unknown.toml": GOOD.replace("[ebb]", "[ebbb]").encode(),
    "gone.toml": GOOD.replace('family = "slim_fly"\nq = 3', 'file = "gone.edges"').encode(),
    "split.toml": GOOD.replace('family = "slim_fly"\nq = 3',
                               'file = "parts.edges"\np = 1').encode(),
    "results.json": b"{}",
}

TABLE = [
    (["design", "slim_fly:q=6"], r"q: 6 .*nearest: 5, 7"),
    (["design", "slim_fly:q=2"], r"q: 2 .*nearest: 3"),
    (["design", "slim_fly:q=1000000000000"], "slim_fly: q: .*1000000000000.*whole number"),
    (["design", "slim_fly:q=-5"], "q: .*-5"), (["design", "slim_fly:q="], "slim_fly: q: "),
    (["design", "slim_fly:q=5,p=x"], "p: 'x' is no whole number"),
    (["design", "torus:shape=2,p=1.5"], "p: .*1.5"),
    (["design", "slim_fly"], "missing field `q`"), (["design", "slim_fly:q=5,q=7"], "twice"),
    (["design", "slim_fly:z=3"], "z.*q, p"), (["design", "slimfly:q=5"], "slimfly.*slim_fly"),
    (["design", ""], "families"), (["design", "nosuch"], "'nosuch'.*families"),
    (["design", "nosuch.net"], "nosuch.net: cannot be read"), (["design", "folder"], "directory"),
    (["design", "torus:shape=0x4"], "shape.*size 0"), (["design", "torus:shape=4xx4"], "4xx4"),
    (["design", "torus:shape=100000x100000"], "too many switches"),
    (["design", "fat_tree:levels=4,k=4"], "2 or 3"), (["design", "dragonfly:h=2,g=99"], "1 to 9"),
    (["design", "dragonfly:h=2,arrangement=odd"], "absolute"),
    (["design", "mesh:shape=3,p=1000000000"], "p: 1000000000"),
    (["design", "slim_fly:q=5", "-p", "3"], "p:"), (["design", "cycle.edges", "-p", "-1"], "p: -1"),
    (["design", "cycle.edges", "-p", "99999999999"], "p: 99999999999"),
    (["design", "slim_fly:q=3", "-o", "out.xyz"], r"\.json \.graphml"),
    (["design", "slim_fly:q=3", "-o", "no/such/folder.json"], "cannot be written"),
    (["design", "cycle.edges", "-o", "folder.json"], "cannot be written.*directory"),
    (["structure", "binary.txt"], "binary.txt: not a text file: byte 0 is zero"),
    (["structure", "empty.txt"], "empty.txt: .*empty"), (["design", "blank.txt"], "blank.txt"),
    (["design", "words.txt"], "words.txt: line 1"), (["design", "loop.edges"], "line 2|itself"),
    (["design", "bad.toml"], "bad.toml: "), (["design", "number.toml"], "number.toml: topology"),
    (["design", "nofamily.toml"], "nofamily.toml: family"), (["design", "date.toml"], "q: 2020"),
    (["design", "nan.toml"], "q: nan"), (["design", "self.toml"], "self.toml: file"),
    (["design", "path.toml"], "path.toml: file: 3"), (["design", "p.toml"], "p.toml: p: 'x'"),
    (["design", "key.toml"], "key.toml: q"), (["design", "cut.json"], "cut.json: line 1"),
    (["design", "other.json"], "other.json"), (["design", "future.json"], "version"),
    (["design", "cut.graphml"], "cut.graphml: line 1"),
    (["design", "bomb.graphml"], "bomb.graphml"),
    (["design", "crowded.graphml"], "crowded.graphml: line 1: .*more than 1000 attributes"),
    (["design", "port.net"], r"port.net: line \d+.*37"),
    (["route", "slim_fly:q=3", "--lmc", "8"], "lmc: 8.*0 to 7"),
    (["route", "slim_fly:q=3", "--lmc", "-1"], "0 to 7"),
    (["route", "slim_fly:q=7,p=8", "--lmc", "7", "-o", "t"], "49151"),
    (["route", "slim_fly:q=7,p=8", "--layers", "128", "-o", "t"], "49151"),
    (["route", "slim_fly:q=3", "--layers", "0"], "1 to 128"),
    (["route", "slim_fly:q=3", "--layers", "99999999999"], "1 to 128"),
    (["route", "parts.edges"], "disconnected.*switch a.*switch c"),
    (["route", "slim_fly:q=3", "-e", "best"], "'best'.*dfsssp.*min_hop.*sssp"),
    (["route", "slim_fly:q=3", "-e", "opensm:best"], "opensm:best.*opensm:minhop"),
    (["route", "slim_fly:q=3", "-O", "x"], "KEY=VALUE"),
    (["route", "slim_fly:q=3", "-O", "x=1"], "x.*max_lanes"),
    (["route", "slim_fly:q=3", "-O", "engine=x"], "engine=x"),
    (["route", "slim_fly:q=3", "-O", "max_lanes=NaN"], "max_lanes: .*NaN"),
    (["route", "slim_fly:q=3", "-O", "max_lanes=99"], "1 to 15|99"),
    (["route", "slim_fly:q=3", "-o", "empty.txt"], "empty.txt: cannot be written"),
    (["ebb", "slim_fly:q=3", "--samples", "0"], "--samples: 0"),
    (["ebb", "slim_fly:q=3", "--samples", "1000000000000"], "--samples: 1000000000000"),
    (["ebb", "slim_fly:q=3", "--seed", "-1"], "seed: -1"),
    (["ebb", "slim_fly:q=3", "--seed", str(2**64)], "seed: 1844"),
    (["ebb", "slim_fly:q=3,p=0"], "two endpoints"), (["ebb", "parts.edges", "-p", "1"], "disconn"),
    (["verify", "folder"], "folder/network.json: it is not there, so that folder is no folder"),
    (["verify", "slim_fly:q=3", "--hop-limit", "-1"], "hop-limit: -1"),
    (["verify", "slim_fly:q=3", "--path-records", "empty.txt"], "--found"),
    (["verify", "empty.txt", "--found", "cycle.edges", "--sl2vl", "empty.txt"], "--path-records"),
    (["deploy", "cycle.edges", "--dry-run", "--current", "empty.txt", "--found", "cycle.edges",
      "--sl2vl", "empty.txt"], "--path-records"),
    (["verify", "cycle.edges", "--found", "cycle.edges"], "no LID"),
    (["verify", "empty.txt", "--found", "gone.txt"], "gone.txt: cannot be read"),
    (["plan", "slim_fly:q=3", "-o", "empty.txt"], "empty.txt: cannot be written"),
    (["verify-cables", "slim_fly:q=3", "empty.txt"], "empty.txt"),
    (["verify-cables", "slim_fly:q=3", "parts.edges"], "none of the plan's"),
    (["deploy", "parts.edges", "-p", "1"], "disconnected"),
    (["deploy", "slim_fly:q=3", "--lmc", "9"], "lmc"),
    (["report", "folder"], "results.json: cannot be read"),
    (["report", "."], "not the results of a run"),
    (["list", "cats"], "topologies, engines, "),
    (["run", "gone.txt"], "gone.txt: cannot be read"), (["run", "bad.toml"], "bad.toml: line 1"),
    (["run", "binary.txt"], "not a text file"), (["run", "empty.txt"], "schema"),
    (["run", "six.toml"], "six.toml: .*nearest: 5, 7"),
    (["run", "engine.toml"], "did you mean sssp"),
    (["run", "opensm.toml"], "opensm:nothing"), (["run", "lmc.toml"], "0 to 7"),
    (["run", "many.toml"], "49151"), (["run", "unknown.toml"], "ebbb"),
    (["run", "gone.toml"], "gone.edges"), (["run", "split.toml"], "disconnected"),
    (["run", "good.toml", "--out", "empty.txt"], "empty.txt.*cannot be written"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of every bad kind."""
    folder = tmp_path_factory.mktemp("bad")
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    (folder / "folder").mkdir()
    (folder / "folder.json").mkdir()
    net = (DATA / "sf_q5.net").read_text()
    (folder / "port.net").write_text(net.replace("\n[8]", "\n[37]", 1))  # switches of 36 ports
    return folder


def listing(folder) -> list:
    """Every file below a folder with its size."""
    return sorted((str(p), p.stat().st_size) for p in folder.rglob("*"))


@pytest.mark.parametrize(("words", "said"), TABLE, ids=[" ".join(words) for words, _ in TABLE])
def test_refused_in_one_line(folder, words, said, monkeypatch, capfd):
    before = listing(folder)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["flyloom", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capfd.readouterr()
    assert ended.value.code == 2, err
    assert len(err.splitlines()) == 1 and err.startswith("flyloom: "), err
    assert re.search(said, err), err
    assert listing(folder) == before, "nothing may be written"
    if words[0] != "run":
        assert out == ""


def test_a_refusal_ends_the_process_with_2(folder):
    done = flyloom("design", "slim_fly:q=6", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("words", [
    ["design"], ["design", "a", "b"], ["design", "slim_fly:q=3", "--nonsense"], ["nonsense"],
    ["route", "slim_fly:q=3", "--lmc", "many"], ["ebb", "slim_fly:q=3", "--samples", "1.5"],
])
def test_misuse_is_explained(words):
    done = flyloom(*words)
    assert done.returncode == 2 and done.stdout == ""
    assert "Traceback" not in done.stderr
    assert re.match(r"(Error: |flyloom: )", done.stderr.splitlines()[-1])


@pytest.mark.parametrize("words", [["schema"], ["plan", "slim_fly:q=5", "--json"]])
def test_closed_pipes_and_full_disks_are_no_tracebacks(words):
    with open("/dev/full", "w") as full:
        done = subprocess.run(command(*words), stdout=full, stderr=subprocess.PIPE, text=True,
                              env=environment(), timeout=60)
    assert done.returncode == 3
    assert re.fullmatch("flyloom: .*No space left on device\n", done.stderr)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command(*words), stdout=writer, stderr=subprocess.PIPE, text=True,
                          env=environment(), timeout=60)
    os.close(writer)
    assert done.stderr == ""


SAMPLES = [
    fl.slim_fly(q=3, p=1).to_text(f) for f in ("json", "graphml", "edges", "netlist")
] + [GOOD, "\n".join((DATA / "sf_q5.net").read_text().splitlines()[:60])]


@st.composite
def mutated(draw):
    """A good file with a few characters cut, doubled, or replaced."""
    text = draw(st.sampled_from(SAMPLES))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        length = draw(st.integers(0, 40))
        piece = draw(st.sampled_from([
            "", text[at:at + length] * 2, "-1", "99999999999999999999", "\x00", '"', "[", "}", "é",
            "nan", "1e999", "<", "&", "\n", "null", "0", "65535", "4294967295",
        ]))
        text = text[:at] + piece + text[at + length:]
    return text


@settings(max_examples=500, deadline=None)
@given(st.one_of(mutated(), st.text(max_size=80), st.from_regex(r"[\[\]{}<>\"=,a-z0-9 \n]{0,60}")))
@example("[" * 5000)
@example("{" * 5000)
@example('{"a":' * 5000)
@example("<a>" * 5000)
def test_readers_refuse_or_read_but_never_break(text):
    with contextlib.suppress(RefusalError):
        Topology.from_text(text, "fuzz", None)
    with contextlib.suppress(RefusalError):
        expand(text, "fuzz")
    with contextlib.suppress(RefusalError):
        Topology.from_inline(text.replace("\n", ""))


@settings(max_examples=80, deadline=None)
@given(st.dictionaries(st.sampled_from(["q", "p", "a", "h", "g", "shape", "k", "levels", "leaves",
                                        "spines", "parallel", "arrangement", "zzz"]),
                       st.one_of(st.integers(-3, 9), st.integers(), st.floats(0, 9), st.booleans(),
                                 st.none(), st.text(max_size=5), st.lists(st.integers(-1, 6)))),
       st.sampled_from(["slim_fly", "dragonfly", "hyperx", "torus", "mesh", "fat_tree", "x"]))
def test_families_refuse_or_build_whatever_the_parameters(params, family):
    with contextlib.suppress(RefusalError):
        topology = Topology.from_spec(family, params)
        assert topology.switches > 0


def test_damaged_table_files_are_refused_or_judged(tmp_path):
    """Every line of a small table file cut, doubled or emptied."""
    topology = fl.mesh(shape=[2], p=1)
    routing = fl.route(topology, "dfsssp")
    text = routing.table_text()
    (tmp_path / "network.json").write_text(topology.to_text("json"))
    (tmp_path / "routing.json").write_text('{"lmc": 0}')
    lines = text.splitlines()
    for i in range(len(lines)):
        for changed in ([], [lines[i]] * 2, [lines[i][: len(lines[i]) // 2]], [lines[i] + " 7"],
                        [re.sub(r"\d", "9", lines[i])], [re.sub(r"\S+$", "-", lines[i])]):
            damaged = "\n".join([*lines[:i], *changed, *lines[i + 1:], ""])
            (tmp_path / "tables.txt").write_text(damaged)
            with contextlib.suppress(RefusalError):
                _, found = read_folder(tmp_path)
                fl.verify(found)
                fl.edge_load(found)
