"""One word for one thing on all commands; names of before are read with a note."""

import re

import pytest
from cli_helpers import document, flyloom

NET = "slim_fly:q=3,p=2"
DRAWN = {
    # command: its words, the field of its document, the name of before
    "ebb": ([NET], "patterns", "--patterns"),
    "congestion": ([NET], "runs", "--runs"),
    "resilience": ([NET], "samples", None),
    "compare": ([NET], "samples", None),
}


@pytest.mark.parametrize("command", DRAWN)
def test_random_draws_are_counted_by_one_word(command):
    words, field, before = DRAWN[command]
    assert document(command, *words, "--samples", 3)[field] == 3
    # the word of the simulators is understood
    assert document(command, *words, "--seeds", 3)[field] == 3
    if before is not None:
        noted = flyloom(command, *words, f"{before}=3", "--json")
        assert f'"{field}": 3' in noted.stdout
        note = f"note: {command}: {before} is now --samples; the old name is read in this version"
        assert note in noted.stderr
        assert before not in flyloom(command, "--help").stdout


def test_engines_are_compared_over_samples_too():
    words = ["compare-routing", NET, "--engines", "dfsssp"]
    new, old = (flyloom(*words, name, 3, "--json") for name in ("--samples", "--patterns"))
    fields = re.compile(r'"cpu_s": [^,}]*')
    assert fields.sub("", new.stdout) == fields.sub("", old.stdout) != ""
    assert "--patterns is now --samples" in old.stderr and "note" not in new.stderr


@pytest.mark.parametrize(("words", "near"), [
    (["design", "slimfly:q=5"], "slim_fly"),
    (["route", NET, "-e", "dfssp"], "dfsssp"),
    (["sim", "flit", NET, "--load", "0.1", "--traffic", "unifrm"], "uniform"),
    (["workload", "make", "allreduce_rng ranks=8 bytes=1k", "-o", "x.goal"], "allreduce_ring"),
])
def test_a_long_list_is_not_shown_beside_what_was_meant(words, near, tmp_path):
    refused = flyloom(*words, cwd=tmp_path)
    assert refused.returncode == 2 and f"did you mean {near}?" in refused.stderr.replace("'", "")
    assert refused.stderr.count(",") < 4, refused.stderr


def test_a_short_list_is_shown_and_a_long_one_where_nothing_is_near():
    short = flyloom("ebb", NET, "-e", "qqqqqqqqq")
    assert short.returncode == 2 and short.stderr.count(",") > 8
    placed = flyloom("sim", "message", NET, "--workload", "barrier_tree", "--placement", "lineer")
    assert "did you mean linear? linear, random, " in placed.stderr


def test_a_picture_is_what_o_names(tmp_path):
    made = flyloom("map", NET, "--graph", "stencil shape=3x3 bytes=8", "-o", "m.html", cwd=tmp_path)
    assert made.returncode == 0 and "written to m.html" in made.stdout
    assert (tmp_path / "m.html").read_text().startswith("<!")
    twice = flyloom("map", NET, "--graph", "stencil shape=3x3 bytes=8", "-o", "m.html", "--page",
                    "n.html", cwd=tmp_path)
    assert twice.returncode == 2 and "one of both" in twice.stderr
    assert flyloom("design", NET, "-o", "found.net", cwd=tmp_path).returncode == 0
    words = ["verify-cables", NET, "found.net"]
    new = flyloom(*words, "-o", "a.svg", cwd=tmp_path)
    old = flyloom(*words, "--draw", "b.svg", cwd=tmp_path)
    assert "verify-cables: --draw is now --out" in old.stderr and "note" not in new.stderr
    assert (tmp_path / "a.svg").read_text() == (tmp_path / "b.svg").read_text() != ""


def test_kinds_are_listed_by_their_other_names_too():
    for other, word in (("families", "topologies"), ("patterns", "traffic"), ("presets", "costs")):
        listed = flyloom("list", other)
        assert listed.returncode == 0 and listed.stdout == flyloom("list", word).stdout != ""


@pytest.mark.parametrize("heading", ["source,destination,amount", "src,dst,bytes", '"from","to"'])
def test_headings_of_a_table_of_pairs_are_no_pair(heading, tmp_path):
    rows = "0,5,1\n3,7,1\n" if heading.count(",") == 2 else "0,5\n3,7\n"
    for name, text in (("plain.csv", rows), ("headed.csv", f"{heading}\n{rows}")):
        (tmp_path / name).write_text(text)
    plain, headed = (
        document("ebb", NET, "--traffic", tmp_path / name)["effective_bisection_bandwidth"]
        for name in ("plain.csv", "headed.csv")
    )
    assert plain == headed
    (tmp_path / "odd.csv").write_text(f"source,5,1\n{rows}")
    refused = flyloom("ebb", NET, "--traffic", tmp_path / "odd.csv")
    assert refused.returncode == 2 and "line 1: there is no endpoint" in refused.stderr
