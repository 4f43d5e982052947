"""Messages name the place of a fault in a file wherever the documentation promises it."""

from __future__ import annotations

import pytest
from cli_helpers import flyloom

EXPERIMENT = """schema = 1
name = "x"
[topology]
family = "ring"
n = 4
[routing]
engine = "dfsssp"
"""

UNKNOWN = [
    ("colour = 3\n", "line 8, column 1: routing: dfsssp: unknown field `colour`"),
    ("[ebb]\n  pattern = 3\n", "line 9, column 3: ebb: unknown field `pattern`"),
    ("[kongestion]\n", "line 8, column 2: kongestion: not a key of a point"),
    ("[congestion]\nruns = 3\nrun = 3\n", "line 10, column 1: congestion: unknown field `run`"),
    ("[ebb]\nsamples = 'x'\n", "line 9, column 1: ebb: samples: 'x' is no whole number"),
    ("[sweep]\ngridd = 1\n", "line 9, column 1: unknown field `gridd`"),
    ("[sweep.grid]\n\"routing.colour\" = [1]\n", "line 9, column 1: "),
    ("[sweep.grid]\nlabel = []\n", "line 9, column 1: sweep.grid.label: an empty list"),
    ("x = = 3\n", "line 8, column 5: "),
]


@pytest.mark.parametrize(("more", "says"), UNKNOWN)
def test_experiments_name_line_and_column(tmp_path, more, says):
    (tmp_path / "e.toml").write_text(EXPERIMENT + more)
    done = flyloom("run", "e.toml", cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.startswith(f"flyloom: e.toml: {says}"), done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_keys_before_the_tables_and_of_points_have_their_places(tmp_path):
    (tmp_path / "e.toml").write_text("sced = 3\n" + EXPERIMENT)
    done = flyloom("run", "e.toml", cwd=tmp_path)
    assert "e.toml: line 1, column 1: sced: not a key" in done.stderr
    point = '[[point]]\nrouting = { engine = "dfsssp", colour = 1 }\n'
    (tmp_path / "e.toml").write_text(EXPERIMENT + '[[point]]\nlabel = "a"\n' + point)
    done = flyloom("run", "e.toml", cwd=tmp_path)
    assert "e.toml: line 11, column 32: point 2: routing" in done.stderr, done.stderr


FILES = [
    ("n.json", '{"flyloom": 1,\n "switches": [}', "n.json: line 2: column 15: "),
    ("n.graphml", '<graphml><graph>\n<node id="a"</graph>', "n.graphml: line 2: not well-formed"),
    ("n.edges", "0 1\n1 x y z\n", "n.edges: line 2: '1 x y z'"),
    ("n.dot", "digraph g {\n H0 -> S0;\n S0 => S1\n}", "n.dot: line 3: "),
    ("n.ib", 'Switch\t24 "S-1"\t# "a"\n[1]\t"H-2"[1]\n[x]\t"H-2"[1]\n', "n.ib: line 3: "),
    ("s.toml", 'family = "ring"\nn = = 4\n', "s.toml: line 2, column 5: "),
]


@pytest.mark.parametrize(("name", "text", "says"), FILES)
def test_networks_name_the_line(tmp_path, name, text, says):
    (tmp_path / name).write_text(text)
    done = flyloom("design", name, cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.startswith(f"flyloom: {says}"), done.stderr


def test_catalogues_name_line_and_field(tmp_path):
    (tmp_path / "c.toml").write_text('name = "x"\n[[switches]]\nid = 3\n')
    done = flyloom("catalog", "check", "c.toml", cwd=tmp_path)
    assert done.returncode == 2 and "c.toml: line 2: unknown field `switches`" in done.stderr


def test_tables_name_the_line(tmp_path):
    assert flyloom("route", "ring:n=4,p=1", "-o", "t", cwd=tmp_path).returncode == 0
    (tmp_path / "t" / "SHA256SUMS").unlink()
    file = tmp_path / "t" / "tables.txt"
    lines = file.read_text().splitlines()
    at = next(i for i, line in enumerate(lines) if line and not line.startswith("#")) + 3
    lines[at] = "junk here"
    file.write_text("\n".join(lines) + "\n")
    done = flyloom("verify", "t", cwd=tmp_path)
    assert done.returncode == 2 and f"tables.txt: line {at + 1}" in done.stderr, done.stderr
