"""One word for one thing on all commands, in files and in Python; names of before are read with a
note."""

import importlib
import inspect
import json
import re

import flyloom as fl
import pytest
import typer
from checkout import ROOT
from cli_helpers import document, flyloom
from flyloom import _core
from flyloom._core import RefusalError
from flyloom.cli import GROUPS
from flyloom.cli.common import app
from flyloom.support import machine
from flyloom.verbs.measuring import measure_ebb

NET = "slim_fly:q=3,p=2"
DRAWN = {
    # command: the name of before of its option
    "ebb": "--patterns",
    "congestion": "--runs",
    "resilience": None,
    "compare": None,
}


@pytest.mark.parametrize("command", DRAWN)
def test_random_draws_are_counted_by_one_word(command):
    before = DRAWN[command]
    assert document(command, NET, "--samples", 3)["samples"] == 3
    # the word of the simulators is understood
    assert document(command, NET, "--seeds", 3)["samples"] == 3
    if before is not None:
        noted = flyloom(command, NET, f"{before}=3", "--json")
        assert '"samples": 3' in noted.stdout
        note = f"note: {command}: {before} is now --samples; the old name is read in this version"
        assert note in noted.stderr
        assert before not in flyloom(command, "--help").stdout


def test_engines_are_compared_over_samples_too():
    words = ["compare-routing", NET, "--engines", "dfsssp"]
    new, old = (flyloom(*words, name, 3, "--json") for name in ("--samples", "--patterns"))
    fields = re.compile(r'"cpu_s": [^,}]*')
    assert fields.sub("", new.stdout) == fields.sub("", old.stdout) != ""
    assert "--patterns is now --samples" in old.stderr and "note" not in new.stderr


@pytest.mark.parametrize(("old", "call"), [
    ("patterns", lambda **how: fl.ebb(NET, **how)),
    ("patterns", lambda **how: fl.measure(NET, "ebb", **how)),
    ("patterns", lambda **how: fl.compare_routing(NET, engines=["min_hop"], **how).rows),
    ("runs", lambda **how: fl.congestion(NET, "bisect", **how)),
    ("runs", lambda **how: fl.measure(NET, "congestion", **how)),
    ("rounds", lambda **how: measure_ebb(["true"], **{key: -n for key, n in how.items()})),
], ids=["ebb", "measure ebb", "compare_routing", "congestion", "measure congestion", "measure_ebb"])
def test_python_reads_old_names_of_the_number_of_samples(old, call, monkeypatch):
    monkeypatch.setattr(machine, "tell", False)  # which commands that ran here have set

    def found(**how):
        try:
            return call(**how)
        except RefusalError as error:
            return str(error)

    with pytest.warns(FutureWarning, match=f": {old} is now samples; the old name is") as noted:
        before = found(**{old: 3})
    assert before == found(samples=3) != found(samples=4)
    assert len(noted) == 1
    assert found(**{old: 3, "samples": 3}) == (
        f"samples: given besides {old}, which is its old name (one of both)"
    )


def test_no_file_function_or_command_has_another_word_for_samples():
    """Numbers of random draws are samples wherever they are given and in what is found; a name of
    before is no parameter of anything."""
    before = {"patterns", "runs", "rounds", "trials"}
    functions = {name: getattr(fl, name) for name in dir(fl) if not name.startswith("_")}
    taken = {
        name: {*inspect.signature(one).parameters} for name, one in functions.items()
        if inspect.isfunction(one)
    }
    assert {"ebb", "congestion", "resilience", "compare", "compare_routing"} <= {
        name for name, words in taken.items() if "samples" in words
    }
    assert not {name for name, words in taken.items() if words & before}
    stages = [row for row in _core.registry() if row["kind"] == "measure"]
    # the rounds of the search of `throughput` are what it has found, not drawn
    fields = {
        (row["name"], field["name"]) for row in stages
        for field in [*row["params"], *row["records"][0]["fields"], *row["columns"]]
    } - {("throughput", "rounds")}
    assert {("ebb", "samples"), ("congestion", "samples"), ("resilience", "samples")} <= fields
    assert not {(name, field) for name, field in fields if field in before}
    schema = json.dumps(_core.experiment_schema())
    assert '"samples"' in schema and not {word for word in before if f'"{word}":' in schema}


def test_an_experiment_reads_old_names_with_a_note(tmp_path):
    text = """schema = 1
name = "one"
[topology]
family = "slim_fly"
q = 3
[routing]
engine = "dfsssp"
[ebb]
{ebb} = 4
[congestion]
{congestion} = 5
"""
    rows = {}
    for name, words in (("new", ("samples", "samples")), ("old", ("patterns", "runs"))):
        file = tmp_path / f"{name}.toml"
        file.write_text(text.format(ebb=words[0], congestion=words[1]))
        ran = flyloom("run", file.name, "--out", name, cwd=tmp_path)
        assert ran.returncode == 0, ran.stderr
        assert ran.stderr.count("is now samples") == (2 if name == "old" else 0)
        rows[name] = json.loads((tmp_path / name / "one/results.json").read_text())["records"]
    assert "note: old.toml: ebb: patterns is now samples" in ran.stderr
    assert rows["old"] == rows["new"]
    assert rows["old"][0]["ebb"]["samples"] == 4
    assert rows["old"][0]["measures"]["congestion"]["samples"] == 5


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
    assert "note: map: --page is now --out; the old name is read in this version" in twice.stderr
    assert flyloom("design", NET, "-o", "found.net", cwd=tmp_path).returncode == 0
    words = ["verify-cables", NET, "found.net"]
    new = flyloom(*words, "-o", "a.svg", cwd=tmp_path)
    old = flyloom(*words, "--draw", "b.svg", cwd=tmp_path)
    assert "verify-cables: --draw is now --out" in old.stderr and "note" not in new.stderr
    assert (tmp_path / "a.svg").read_text() == (tmp_path / "b.svg").read_text() != ""


def test_kinds_are_listed_by_their_other_names_too():
    for other, word in (
        ("families", "topologies"), ("networks", "topologies"), ("patterns", "traffic"),
        ("presets", "costs"), ("collectives", "workloads"), ("applications", "workloads"),
    ):
        listed = flyloom("list", other)
        assert listed.returncode == 0 and listed.stdout == flyloom("list", word).stdout != ""


@pytest.mark.parametrize("heading", ["source,destination,amount", "src,dst,rate", '"from","to"'])
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


def test_the_network_is_the_first_word_or_net(tmp_path):
    """The rule of docs/cli.md holds on all commands; --network of before is read with a note."""
    by_option = set()
    for command, param in every_parameter():
        if {"--net", "--network"} & {*param.opts} and not param.hidden:
            assert param.opts == ["--net"], command
            by_option.add(command)
    rule = re.search(r"it is `--net NET`: of (.*?)\. ", " ".join(PAGE.split()))[1]
    assert by_option == {*re.findall(r"`(.*?)`", rule)}
    words = ["figure", "path_lengths", "--engines", "dfsssp", "--layers", "1"]
    new, old = (flyloom(*words, f"--{name}", NET) for name in ("net", "network"))
    assert new.stdout == old.stdout != "" and new.stderr == ""
    assert "note: figure: --network is now --net; the old name is read" in old.stderr


def every_parameter():
    """Every command with each of its parameters."""
    for group in [*GROUPS, "measures"]:
        importlib.import_module(f"flyloom.cli.{group}")

    def walk(command, path):
        yield from ((" ".join(path), param) for param in command.params)
        for name, inner in getattr(command, "commands", {}).items():
            yield from walk(inner, (*path, name))

    return walk(typer.main.get_command(app), ())


PAGE = (ROOT / "docs/cli.md").read_text()
PICTURES = {
    "congestion": [NET, "--samples", "2"],
    "compare-routing": [NET, "--engines", "dfsssp", "--samples", "2"],
    "figure": ["path_lengths", "--net", NET, "--engines", "dfsssp", "--layers", "1"],
    "sim flit": [NET, "--load", "0.1"],
    "sim packet": [NET, "--load", "0.1", "--messages", "2"],
    "sim booksim": ["booksim.cfg"],
    "sim message": [NET, "--workload", "alltoall_pairwise ranks=4 bytes=8"],
    "map": [NET, "--graph", "stencil:shape=3x3,bytes=8"],
    "map-eval": [NET, "--graph", "stencil:shape=3x3,bytes=8", "--mapping", "linear"],
    "verify-cables": [NET, "found.net"],
    "observe": [NET, "counters.txt"],
}
"""A short run of every command whose -o is a picture."""
STARTS = {".svg": b"<svg", ".png": b"\x89PNG", ".pdf": b"%PDF", ".html": b"<!"}


def pictures_of_docs():
    """The commands of the table in docs/cli.md, with the ends of names of each."""
    rows = re.findall(r"^\| (`.*?`) \| .* \| (\..*?) \|$", PAGE, re.MULTILINE)
    return {command: ends.split() for names, ends in rows
            for command in re.findall(r"`(.*?)`", names)}


@pytest.mark.parametrize("command", PICTURES)
def test_pictures_are_what_the_list_says(command, tmp_path):
    """Each end that docs/cli.md lists makes a file of its kind, and no other is one."""
    ends = pictures_of_docs()[command]
    assert flyloom("design", NET, "-o", "found.net", cwd=tmp_path).returncode == 0
    (tmp_path / "linear").write_text("\n".join(map(str, range(9))))
    (tmp_path / "counters.txt").write_text("# Port counters: Lid 1 port 1\nPortXmitData:..1\n")
    (tmp_path / "booksim.cfg").write_text(
        "topology = torus;\nk = 3;\nn = 1;\nrouting_function = dim_order;\n"
        "injection_rate = 0.05;\nwarmup_periods = 1;\nsample_period = 100;\nmax_samples = 2;\n")
    words = [*command.split(), *PICTURES[command]]
    for end in (*STARTS, ".json", ".perfetto.json", ".gif"):
        made = flyloom(*words, "-o", f"a{end}", cwd=tmp_path)
        file = tmp_path / f"a{end}"
        if end in ends:
            assert made.returncode in (0, 1), made.stderr
            assert file.read_bytes().lstrip().startswith(STARTS.get(end, b"{")), end
        elif command == "map" and end not in STARTS:
            assert made.returncode == 0  # the mapping
        else:
            assert made.returncode == 2 and not file.exists(), (end, made.stderr)


def test_every_command_with_a_picture_is_in_the_list():
    pictures = {
        command for command, param in every_parameter()
        if "--out" in param.opts and re.search(r"\.(svg|html)\b", param.help or "")
    }
    assert pictures - {"plan", "compare", "choose"} == {*pictures_of_docs()} == {*PICTURES}


def test_an_operation_may_have_its_cases_in_one_word():
    words = ["workload", "best"]
    apart = document(*words, "allreduce", "ranks=4,8", "bytes=8,1k")
    for word in ("allreduce ranks=4,8 bytes=8,1k", "allreduce:ranks=4,8,bytes=8,1k"):
        assert document(*words, word) == apart
    assert document(*words, "allreduce ranks=4,8", "bytes=8,1k") == apart
    # over a network as many ranks as it has endpoints, unless they are given
    net = ["--net", NET]
    assert document(*words, "allreduce", "bytes=8", *net) == document(
        *words, "allreduce", "ranks=36", "bytes=8", *net)


def test_an_argument_of_a_pattern_stands_with_it():
    new = flyloom("congestion", NET, "--pattern", "shift:3", "--samples", 2)
    old = flyloom("congestion", NET, "--pattern", "shift", "--pattern-argument", 3, "--samples", 2)
    assert new.stdout == old.stdout != "" and new.stderr == ""
    assert "--pattern-argument ARGUMENT is now --pattern PATTERN:ARGUMENT" in old.stderr
    assert "--pattern-argument" not in flyloom("congestion", "--help").stdout


def test_networks_have_the_two_forms_of_workloads():
    colon, blanks = flyloom("design", "slim_fly:q=5,p=4"), flyloom("design", "slim_fly q=5 p=4")
    assert blanks.stdout == colon.stdout != "" and blanks.returncode == 0
    assert fl.network("torus shape=3x3 p=2").recipe == fl.network("torus:shape=3x3,p=2").recipe
    refused = flyloom("design", "slim_fli q=5 p=4")
    assert refused.returncode == 2 and "did you mean slim_fly?" in refused.stderr
