"""The command line: names in its JSON, exit codes, inputs of every kind, files it writes."""

from __future__ import annotations

import gzip
import json
import re
import shutil

import flyloom as fl
import networkx as nx
import pytest
from cli_helpers import PACKAGE, document, flyloom
from deploy_helpers import DATA
from flyloom._core import registry
from flyloom.cli import GROUPS
from flyloom.cli.listing import PANELS

COMMANDS = ["design", "export", "structure", "resilience", "size", "scale", "choose", "compare",
            "search",
            "published", "map", "map-eval", "plan", "cables", "route",
            "verify", "ebb", "identify", "lanes", "repair", "throughput", "figure", "deploy",
            "verify-cables", "run", "report", "list", "schema", "doctor", "cost", "catalog",
            "compare-routing", "congestion", "example", "help", "opensm-plugin", "sim",
            "workload", "record", "reorder", "measure", "observe", "cite"]
MADE = [part["name"].replace("_", "-") for part in registry() if part["kind"] == "measure"]
"""Commands made from the table of measures, besides those by hand."""
UNLISTED = {"lanes-needed"}
"""`lanes` says the same and more."""


@pytest.mark.parametrize("name", sorted({*COMMANDS, *MADE, "sim flit", "sim booksim", "sim message",
                                         "sim packet",
                                         "workload list", "workload make", "workload check",
                                         "workload merge", "workload best",
                                         "workload convert"}))
def test_help_explains_and_shows_an_example(name):
    done = flyloom(*name.split(), "--help")
    assert done.returncode == 0 and done.stderr == ""
    assert f"flyloom {name}" in done.stdout.split("Examples:")[1]
    assert len(done.stdout.splitlines()) > 5
    assert flyloom(*name.split(), "-h").stdout == done.stdout


def test_help_lists_every_command():
    done = flyloom("--help")
    assert done.returncode == 0
    groups = done.stdout.split("\nNetworks:")[1]
    listed = re.findall(r"^  ([a-z-]+)  +\S", groups, re.MULTILINE)
    assert sorted(listed) == sorted({*COMMANDS, *MADE} - UNLISTED)
    assert "..." not in groups and flyloom("help").stdout == done.stdout
    panels = [name for names in PANELS.values() for name in names]
    assert sorted(panels) == sorted(COMMANDS), "a new command has its place in a group"
    assert {name for names in GROUPS.values() for name in names} == set(COMMANDS)


def test_design_says_what_scripts_rely_on():
    found = document("design", "slim_fly:q=5,p=4")
    wanted = {"switches": 50, "endpoints": 200, "links": 175, "network_radix": 7,
              "concentration": 4, "diameter": 2, "girth": 5, "moore_fraction": 1.0}
    assert {key: found[key] for key in wanted} == wanted
    assert found["mean_distance"] == pytest.approx(2 - 7 / 49)
    assert found["promise"]["switches"] == 50
    plain = flyloom("design", "slim_fly:q=5,p=4").stdout
    assert re.search(r"^switches +50$", plain, re.MULTILINE)
    tree = document("design", "mesh:shape=4,p=2")
    assert tree["girth"] is None and tree["mean_distance"] == pytest.approx(5 / 3)


def test_route_says_what_scripts_rely_on():
    found = document("route", "slim_fly:q=5,p=4", "--engine", "dfsssp", "--lmc", 2)
    assert found["verified"] is True
    assert (found["max_hops"], found["edge_forwarding_index"]) == (2, 4 * 16 * 13)
    assert found["mean_hops"] == pytest.approx(2 - 7 / 49)
    assert found["lanes"] == fl.route("slim_fly:q=5,p=4", "dfsssp", lmc=2).lanes
    cyclic = document("route", "slim_fly:q=5,p=4", "--engine", "min_hop")
    assert cyclic["verified"] is False and cyclic["deadlock"]["cycle"]
    assert document("route", "mesh:shape=3", "--layers", 3)["layers"] == 3


def test_ebb_says_what_scripts_rely_on():
    words = ("ebb", "slim_fly:q=5,p=4", "--engine", "dfsssp", "--samples", 50, "--seed", 9)
    found = document(*words)
    low, high = found["confidence_interval_95"]
    assert low < found["effective_bisection_bandwidth"] < high
    assert (found["samples"], found["seed"], len(found["pattern_means"])) == (50, 9, 50)
    assert found == document(*words)
    same = fl.ebb(fl.route("slim_fly:q=5,p=4", "dfsssp"), samples=50, seed=9)
    assert found["pattern_means"] == same.pattern_means


def test_the_other_commands_print_one_document(tmp_path):
    found = document("structure", "torus:shape=4x4", "--paths")
    assert found["minimal_paths"]["max"] == 24, "4! orders of four steps, both directions in a row"
    assert "minimal paths, mean" in flyloom("structure", "torus:shape=4x4", "--paths").stdout
    assert flyloom("structure", "torus:shape=1", "--paths").returncode == 0
    # a column's 10 switches, and 40 servers of half a unit, take 30 units: one rack
    (tmp_path / "rules.toml").write_text("endpoints_per_unit = 2\n")
    plan = document("plan", "slim_fly:q=5,p=4", "--rules", str(tmp_path / "rules.toml"))
    assert (len(plan["racks"]), plan["cables"], sum(plan["by_step"])) == (5, 375, 375)
    assert {p["cables"] for p in plan["rack_pairs"]} == {10} and len(plan["rack_pairs"]) == 10
    assert document("verify", "slim_fly:q=3", "-e", "dfsssp")["verified"] is True
    assert document("verify", "torus:shape=5", "-e", "sssp", code=1)["verified"] is False
    assert document("doctor")["programs"]
    names = {part["name"] for part in document("list", "topologies")}
    sources = (PACKAGE.parent / "crates" / "families" / "src").glob("*.rs")
    written = [re.findall(r'const NAME: &.static str = "(\w+)"', s.read_text()) for s in sources]
    assert names == {name for found in written for name in found} and len(names) > 30
    assert {part["name"] for part in document("list", "engines")} >= {"dfsssp", "min_hop", "sssp"}
    measures = document("list", "measures")
    assert {part["name"] for part in measures} >= {"ebb", "congestion", "resilience", "cost"}
    assert "ebb_effective_bisection_bandwidth" not in flyloom("list", "measures").stdout
    assert "effective_bisection_bandwidth [fraction]" in flyloom("list", "measures").stdout
    schema = flyloom("schema")
    assert json.loads(schema.stdout)["properties"]["topology"] and schema.stderr == ""


def test_every_kind_of_part_is_listed_and_what_is_listed_is_taken():
    kinds = {line.split()[0]: int(line.split()[1]) for line in flyloom("list").stdout.splitlines()
             if len(line.split()) > 1 and line.split()[1].isdigit()}
    listed = {kind: document("list", kind) for kind in kinds}
    assert {kind: len(rows) for kind, rows in listed.items()} == kinds
    assert document("list") == [row for rows in listed.values() for row in rows]
    assert all(row["name"] and row["doc"] for rows in listed.values() for row in rows)
    net = "torus:shape=4x4,p=1"
    for row in listed["traffic"]:
        if row["name"] in ("longest_matching", "elephant"):  # no patterns
            assert fl.throughput(net, row["name"]).traffic == row["name"]
            assert document("sim", "flit", net, "--traffic", row["name"], "--load", "0.01")
            continue
        needed = any(param["required"] for param in row["params"])
        takes = row["name"] + (":2" if needed else "")
        assert fl.congestion(fl.route(net, "dor"), takes, samples=1).pattern == takes
    for row in listed["placements"]:
        document("sim", "message", "--workload", "allreduce_ring ranks=4 bytes=8", net,
                 "--placement", row["name"])
    graphs = {"stencil": "stencil:shape=4x4,bytes=8",
              "training": "training:tensor=2,pipeline=2,data=2,tensor_bytes=8,pipeline_bytes=8,"
                          "data_bytes=8"}
    for row in listed["graphs"]:
        assert document("map", net, "--graph", graphs[row["name"]])
    for row in listed["exports"]:
        assert row["name"] in flyloom("export", net, "--to", "no-such").stderr
    assert {"minimal", "valiant", "ugal_l"} <= {row["name"] for row in listed["selections"]}



def test_a_network_is_an_inline_form_a_spec_or_a_file(tmp_path):
    spec, nested = tmp_path / "net.toml", tmp_path / "nested.toml"
    spec.write_text('family = "torus"\nshape = [3, 4]\np = 2\n')
    nested.write_text('[topology]\nfamily = "torus"\nshape = "3x4"\np = 2\n')
    wanted = document("design", "torus:shape=3x4,p=2")
    assert (wanted["switches"], wanted["links"]) == (12, 24)
    for source in (spec, nested):
        assert document("design", source) == wanted
    for suffix in ("json", "graphml", "edges", "net"):
        path = tmp_path / f"net.{suffix}"
        assert flyloom("design", spec, "-o", path).returncode == 0
        back = document("design", path)
        for key in ("switches", "endpoints", "links", "diameter", "mean_distance", "girth"):
            assert back[key] == wanted[key], (suffix, key)
    pointer = tmp_path / "pointer.toml"
    pointer.write_text('file = "ring.edges"\np = 3\n')
    (tmp_path / "ring.edges").write_text("a b\nb c\nc a\n")
    assert document("design", pointer)["endpoints"] == 9
    assert document("design", tmp_path / "ring.edges", "-p", 3)["endpoints"] == 9
    assert document("design", DATA / "sf_q5.net")["moore_fraction"] == 1.0


def test_design_writes_dot_that_has_every_link(tmp_path):
    assert flyloom("design", "hyperx:shape=3x3", "-o", tmp_path / "x.dot").returncode == 0
    text = (tmp_path / "x.dot").read_text()
    edges = re.findall(r"^ *(\d+) -- (\d+)", text, re.MULTILINE)
    found = nx.Graph((int(a), int(b)) for a, b in edges)
    assert nx.utils.edges_equal(found.edges(), fl.to_networkx(fl.hyperx(shape=[3, 3])).edges())


def test_written_tables_verify_and_damaged_ones_do_not(tmp_path):
    folder = tmp_path / "tables"
    wrote = flyloom("route", "slim_fly:q=5,p=2", "-e", "dfsssp", "--lmc", 1, "-o", folder)
    assert wrote.returncode == 0
    names = sorted(p.name for p in folder.iterdir())
    assert names == [
        "SHA256SUMS", "fabric.net", "guid2lid", "lfts.txt", "network.json", "routing.json",
        "tables.txt",
    ]
    found = document("verify", folder)
    assert found["verified"] is True and (found["lmc"], found["lanes"]) == (1, 2)

    (folder / "SHA256SUMS").unlink()  # it would be refused as altered
    tables = folder / "tables.txt"
    whole = tables.read_text()
    lines = whole.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("lft"))
    words = lines[at].split()
    words[-60] = "-"
    tables.write_text("\n".join([*lines[:at], " ".join(words), *lines[at + 1:], ""]))
    broken = document("verify", folder, code=1)
    assert broken["verified"] is False and "no entry" in broken["complete"]["counterexample"]

    levels = [re.sub(r"^(sl \S+ \d+) .*", lambda m: m[1] + " .", x) for x in lines]
    tables.write_text("\n".join([*levels, ""]))
    cyclic = document("verify", folder, code=1)
    assert cyclic["complete"]["holds"] and cyclic["deadlock"]["holds"] is False

    for damage in ("", "flyloom-tables 2\n", whole[: len(whole) // 2], whole.replace("lft", "lfs"),
                   whole.replace("sl2vl * * * 0", "sl2vl * * * 99"), "\x00\x01", whole + whole):
        tables.write_text(damage)
        refused = flyloom("verify", folder)
        assert refused.returncode == 2, damage[:40]
        assert refused.stdout == "" and "tables.txt" in refused.stderr
        assert len(refused.stderr.splitlines()) == 1


def test_dumps_of_a_fabric_are_verified(tmp_path):
    """OpenSM's own tables on the Slim Fly: minhop can deadlock, dfsssp with its lanes cannot."""
    for name in DATA.glob("*.gz"):
        with gzip.open(name) as packed, open(tmp_path / name.stem, "wb") as plain:
            shutil.copyfileobj(packed, plain)
    fabric = tmp_path / "ibnetdiscover_base.txt"
    minhop = document("verify", tmp_path / "sf_q5_minhop.dump_fts.txt", "--found", fabric, code=1)
    assert minhop["complete"]["holds"] and minhop["deadlock"]["holds"] is False
    assert minhop["edge_forwarding_index"] == 16 * 13
    words = (tmp_path / "sf_q5_dfsssp.dump_fts.txt", "--found", fabric,
             "--path-records", tmp_path / "sf_q5_dfsssp.pathrecords.txt",
             "--sl2vl", tmp_path / "sf_q5_dfsssp.sl2vl.dump")
    dfsssp = document("verify", *words)
    assert dfsssp["verified"] is True and dfsssp["lanes"] > 1
    flat = document("verify", *words[:3], code=1)
    assert flat["deadlock"]["holds"] is False, "without its lanes it can"

    text = words[0].read_text()
    damaged = tmp_path / "damaged.txt"
    damaged.write_text(re.sub("0x0005 0(..) ", "0x0005 036 ", text, count=1))  # an empty port
    wrong = document("verify", damaged, "--found", fabric, code=1)
    assert wrong["complete"]["holds"] is False and "port 36" in wrong["complete"]["counterexample"]
    damaged.write_text(text[: len(text) // 2])
    cut = document("verify", damaged, "--found", fabric, code=1)
    assert "no entry" in cut["complete"]["counterexample"]
    start = text.index("0x0005 ")
    for bad in (text[:start] + text[text.index("\n", start) + 1:], "",
                text.replace("0x0005 ", "0xzzzz ", 1), text.replace("0002c9", "00ffff", 1)):
        damaged.write_text(bad)
        refused = flyloom("verify", damaged, "--found", fabric)
        assert (refused.returncode, len(refused.stderr.splitlines())) == (2, 1), refused.stderr


def test_cables_of_a_fabric_are_compared_with_the_plan(tmp_path):
    whole = fl.slim_fly(q=3, p=1)
    plan, found = tmp_path / "plan.net", tmp_path / "found.net"
    plan.write_text(whole.to_text("netlist"))
    same = document("verify-cables", "slim_fly:q=3,p=1", plan)
    assert same["clean"] and (same["planned"], same["correct"]) == (45 + 18, 45 + 18)
    found.write_text(whole.with_failures([7]).to_text("netlist"))
    lost = document("verify-cables", "slim_fly:q=3,p=1", found, code=1)
    assert lost["correct"] == 62 and [f["fault"] for f in lost["findings"]] == ["missing"]
    t, names = whole.link_table, whole.switch_names
    for end in (t["a_switch"][7], t["b_switch"][7]):
        assert names[end] in lost["findings"][0]["what"]


def test_plan_writes_cables_and_pictures(tmp_path):
    assert flyloom("plan", "slim_fly:q=5,p=4", "-o", tmp_path / "plan").returncode == 0
    lines = (tmp_path / "plan" / "cables.csv").read_text().splitlines()
    assert len([x for x in lines if not x.startswith("#")]) == 1 + 375
    for name in ("floor.svg", "racks.svg"):
        assert (tmp_path / "plan" / name).read_text().startswith("<svg")


def test_the_program_is_a_module_and_says_its_version():
    import subprocess
    import sys

    from cli_helpers import environment

    words = [sys.executable, "-m", "flyloom", "--version"]
    done = subprocess.run(words, env=environment(), capture_output=True, text=True, timeout=60)
    from flyloom._core import __build__

    build = {"release": "", "dev": " (dev build)"}[__build__]
    assert (done.returncode, done.stdout) == (0, f"flyloom {fl.__version__}{build}\n")


def test_help_of_a_command_is_asked_for_in_either_order():
    assert flyloom("help", "route").stdout == flyloom("route", "--help").stdout
    assert "flyloom catalog show" in flyloom("help", "catalog", "show").stdout


@pytest.mark.parametrize(("words", "near"), [
    (("routee", "ring:n=5"), "route"), (("compare_routing",), "compare-routing"),
    (("design", "SlimFly:q=5"), "slim_fly"), (("design", "slim-fly"), "slim_fly"),
    (("route", "ring:n=5", "-e", "dfssp"), "dfsssp"),
    (("route", "ring:n=5", "-e", "opensm:MinHop"), "opensm:minhop"),
    (("route", "ring:n=5", "-e", "dfsssp", "-O", "max-lanes=3"), "max_lanes"),
    (("cost", "ring:n=5,p=1", "--catalog", "FDR10_2014"), "fdr10-2014"),
    (("catalog", "show", "product-2026"), "products-2026"),
    (("congestion", "ring:n=5,p=1", "--pattern", "stencill"), "stencil"),
    (("export", "ring:n=5", "--to", "slurmtree"), "slurm-tree"), (("list", "engine"), "engines"),
    (("published", "fitfly"), "fit-fly"), (("figure", "path-lengths"), "path_lengths"),
    (("compare-routing", "ring:n=5,p=1", "--engines", "dfssp"), "dfsssp"),
    (("size", "-n", "9", "--families", "ring", "--sort", "linkz"), "links"),
    (("design", "slim_fly:Q=5"), "q"), (("example", "deployed-slim-fly"), "deployed_slim_fly"),
])
def test_what_was_meant_is_said(words, near):
    done = flyloom(*words)
    assert done.returncode == 2 and f"did you mean {near}?" in done.stderr, done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(("net", "why"), [
    ("slim_fly:q=five", "slim_fly: q: 'five' is no whole number"),
    ("dragonfly:h=2.5", "h: 2.5 is no whole number"),
    ("torus:shape=4,4", "torus: shape: '4,4': commas part parameters; write shape=4x4"),
    ("hyperx:p=2,shape=4x4,2", "hyperx: shape: '4x4,2': commas part parameters; write shape=4x4x2"),
])
def test_a_parameter_of_the_wrong_kind_says_how_it_is_written(net, why):
    done = flyloom("design", net)
    assert done.returncode == 2 and why in done.stderr, done.stderr


@pytest.mark.parametrize("content", [
    "deb-host-3\n", "root:x:0:0:root:/root:/bin/bash\nbin:x:2:2:bin:/bin:/usr/sbin/nologin\n",
    "# A title\n\nSome words of prose that are no network.\n",
    "import os\n\n\ndef ends(of, text):\n    return of + text\n",
    "name,degree\na,3\nb,4\n", "", "\n\n", "# remarks only\n", "one\ntwo\nthree\n",
    "2026-11-02 10:00:01 service started\n",
])
def test_a_text_file_that_is_no_network_is_refused(content, tmp_path):
    file = tmp_path / "some.txt"
    file.write_text(content)
    done = flyloom("design", file)
    assert done.returncode == 2 and str(file) in done.stderr and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(("words", "code", "kind"), [
    (("design", "nothing"), 2, "refused"), (("design", "ring:n=5", "--no-such"), 2, "refused"),
    (("design",), 2, "refused"),
])
def test_an_error_is_a_document_under_json(words, code, kind):
    done = flyloom(*words, "--json")
    assert done.returncode == code and done.stdout.count("\n") == 1
    found = json.loads(done.stdout)
    assert found["exit_code"] == code and found["error"]["kind"] == kind
    assert found["error"]["message"] in done.stderr


@pytest.mark.parametrize(("words", "param", "help_"), [
    (["design", "ring:n=0"], "ring: n", None), (["design", "ring:m=5"], "ring", None),
    (["design", "nothing"], None, "families: "), (["design", "ring:n=5", "--nope"], "--nope", ""),
    (["design"], "NET", ""), (["route", "ring:n=5", "--lmc", "x"], "--lmc", ""),
    (["compare", "-n", "10x"], "--endpoints", None),
    (["design", "gone.toml"], "gone.toml", None), (["run", "bad.toml"], "bad.toml", None),
    (["cables", "ring:n=5", "-o", "w", "--labels", "0x0"], "labels", None),
    (["congestion", "ring:n=5", "-o", "x.gif"], "-o", "a name that ends in .svg"),
    (["route", "ring:n=5", "-O", "x"], "--option", ""), (["search"], "search", ""),
])
def test_an_error_says_what_it_is_about_and_what_is_valid(words, param, help_, tmp_path):
    (tmp_path / "bad.toml").write_text("schema = 2\nname = 'x'\n")
    done = flyloom(*words, "--json", cwd=tmp_path)
    error = json.loads(done.stdout)["error"]
    assert {*error} == {"kind", "message", "param", "help"}
    if param is None:
        assert error["param"] is None
    else:
        assert error["param"] and param in error["param"]
        assert error["param"] in error["message"] or param in ("NET", "-o", "--lmc")
    if help_ == "":
        assert error["help"] is None or error["help"] in error["message"]
    elif help_:
        assert help_ in error["help"] and error["help"] in error["message"]
