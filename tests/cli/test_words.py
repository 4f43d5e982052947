"""What people read: columns that add up, cells that are no formulas, screens that no name moves."""

import csv
import io
import json
import random
import re
import subprocess
import xml.etree.ElementTree
from decimal import Decimal

import flyloom as fl
import pytest
from campaign import count
from cli_helpers import command, environment, flyloom
from flyloom.cabling import checked, lists, model
from flyloom.support import words
from flyloom.verbs import comparison

RULES = [
    {"pitch_m": 1.25}, {"pitch_m": 0.7, "slack_fraction": 0.1, "slack_m": 0.05},
    {"pitch_m": 1.1, "overhead_m": 0.3048, "inside_m": 0.333, "stock_m": [0.3048, 1.524, 7.1]},
    {"pitch_m": 0.6096, "row_pitch_m": 1.8288, "slack_fraction": 0.07}, {},
]


def column(text, name):
    return [Decimal(row[name]) for row in csv.DictReader(io.StringIO(text, newline=""))]


def exact(value):
    """A figure of a JSON document, as it is written there."""
    return Decimal(json.dumps(value))


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("catalog", [None, "products-2026", "edr36-2024"])
@pytest.mark.parametrize("net", ["slim_fly:q=5,p=4", "dragonfly:h=2"])
def test_columns_add_up_to_what_the_plan_says(net, rules, catalog):
    """Added again as decimals; no length below that of the rules."""
    plan = fl.plan(net, rules, catalog=catalog)
    text = plan["cables_csv"]
    assert sum(column(text, "length_m")) == exact(plan["length_m"])
    assert sum(column(text, "cost_usd")) == exact(plan["cost_usd"])
    assert sum(exact(c["total_m"]) for c in plan["classes"]) == exact(plan["length_m"])
    assert sum(exact(c["cost_usd"]) for c in plan["classes"]) == exact(plan["cost_usd"])
    place = {rack["name"]: (rack["x_m"], rack["y_m"]) for rack in plan["racks"]}
    for row in csv.DictReader(io.StringIO(text, newline="")):
        (ax, ay), (bx, by) = place[row["a_rack"]], place[row["b_rack"]]
        run = abs(ax - bx) + abs(ay - by) + plan["rules"]["overhead_m"]
        needed = run * (1 + plan["rules"]["slack_fraction"]) + plan["rules"]["slack_m"]
        if row["a_rack"] == row["b_rack"] and row["a_unit"] and row["b_unit"]:
            needed = plan["rules"]["inside_m"]
        assert -1e-9 <= float(row["length_m"]) - needed < 0.001 + 1e-9
        assert float(row["stock_m"]) >= float(row["length_m"])


def test_a_length_is_not_rounded_down():
    plan = fl.plan("slim_fly:q=5,p=4", {"pitch_m": 1.25})
    assert "3.25" in {row["length_m"] for row in csv.DictReader(io.StringIO(plan["cables_csv"]))}


@pytest.mark.parametrize("catalog", ["fdr10-2014", "products-2026"])
def test_a_bill_adds_up(catalog):
    bill = fl.cost("slim_fly:q=5,p=4", catalog, rules={"pitch_m": 1.1})
    counted = [line for line in bill["lines"] if line["counted"]]
    assert sum(exact(line["usd"]) for line in counted) == exact(bill["cost_usd"])
    assert sum(exact(line["usd_low"]) for line in counted) == exact(bill["cost_usd_low"])
    assert sum(exact(line["watts"] or 0) for line in counted) == exact(bill["power_w"])
    said = flyloom("cost", "slim_fly:q=5,p=4", "--catalog", catalog).stdout
    lines = re.findall(r"^  .* for ([0-9,.]+) \$$", said, re.MULTILINE)
    total = re.search(r"^cost \[\$\] +([0-9,.]+)$", said, re.MULTILINE)[1]
    assert lines and sum(Decimal(x.replace(",", "")) for x in lines) == Decimal(
        total.replace(",", ""))


def test_the_table_of_a_plan_says_what_its_list_adds_up_to(tmp_path):
    (tmp_path / "r.toml").write_text("pitch_m = 1.37\nslack_m = 0.213\n")
    said = flyloom("plan", "slim_fly:q=7,p=5", "--rules", "r.toml", "-o", "plan", cwd=tmp_path)
    text = (tmp_path / "plan" / "cables.csv").read_text()
    for name, words_ in (("length_m", "length [m]"), ("cost_usd", "cost of cables [$]")):
        line = next(x for x in said.stdout.splitlines() if x.startswith(words_))
        assert Decimal(line.split()[-1].replace(",", "")) == sum(column(text, name))


@pytest.mark.campaign
def test_an_order_adds_up():
    rng = random.Random(5)
    for _ in range(count(200, 20_000)):
        end = model.CableEnd("R0", 1, "s", 1, "l", True)
        cables = [
            model.Cable(f"link-{i}", 1, "electric", 1.0, rng.choice([0.3048, 1.1, 7.0, 98765.432]),
                        40.0, rng.choice([0.1, 33.333333, 1e6]), end, end)
            for i in range(rng.randint(1, 30))
        ]
        rows = lists.order(cables, rng.choice([0.0, 0.02, 0.5]))
        for row in rows:
            assert exact(row["metres"]) == row["buy"] * exact(row["stock_m"])
        for key in ("metres", "cost_usd"):
            total = lists.total_of(row[key] for row in rows)
            shown = Decimal(words.amount(total).replace(",", ""))
            assert shown == sum(Decimal(words.amount(r[key]).replace(",", "")) for r in rows)


@pytest.mark.parametrize(("value", "text"), [
    (3.25, "3.25"), (1e6, "1,000,000"), (0.1, "0.1"), (123456789.01, "123,456,789.01"), (0.0, "0"),
    (1e-6, "0.000001"), (1234.5, "1,234.5"), (7, "7"),
])
def test_amounts_have_all_their_decimals(value, text):
    assert words.amount(value) == text


# --- cells ---

NASTY = [
    "=1+1", "+1", "-1", "@x", "=cmd|' /C calc'!A0", "'", "'=x", "''=x", "'a", "a", "=", "＝1",
    "－x",
    'a"b', "a,b", "a;b", " =1", "x=1", "#N/A", "-", "--x", "é", "\u200f", "=\"\"", "'+'",
]


def named(names):
    """A network with two cables between switches and endpoints of such names."""
    half = len(names) // 2
    return fl.Topology.from_text(json.dumps({
        "flyloom": 1, "recipe": {"family": "file", "params": {}},
        "switches": [{"name": name} for name in names[:half]],
        "links": [[i, 0, i + 1, 0, None] for i in range(half - 1)],
        "endpoints": [{"name": name, "rails": [[0, 0]]} for name in names[half:]],
    }), "named", None)


def formula(cell):
    """OWASP, "CSV Injection": what a cell must not begin with."""
    return cell[:1] in tuple("=+-@\t\r\n＝＋－＠")


def test_no_cell_of_any_list_is_a_formula(tmp_path):
    network = named(NASTY)
    fl.cables(network, tmp_path / "wire")
    files = [*(tmp_path / "wire").rglob("*.csv")]
    assert len(files) >= 4
    for file in files:
        rows = list(csv.reader(io.StringIO(file.read_text(), newline="")))
        assert len({len(row) for row in rows}) == 1
        assert not [cell for row in rows for cell in row if formula(cell)], file


def test_our_readers_take_the_marks_away(tmp_path):
    """Names come back as they were: from the list of cables, and from a file of GUIDs."""
    network = named(NASTY)
    cables = model.read_cables(network.plan(None)["cables_csv"])
    seen = {end.device for cable in cables for end in (cable.a, cable.b)}
    assert seen == set(NASTY)
    file = tmp_path / "guids.csv"
    wanted = {name: i + 1 for i, name in enumerate(NASTY)}
    text = checked.guids_text([[name, f"0x{guid:016x}"] for name, guid in wanted.items()])
    assert not [c for row in csv.reader(io.StringIO(text)) for c in row if formula(c)]
    file.write_text(text)
    guids = checked.read_guids(file)
    assert guids == wanted
    assert network.check_cables(network, "auto", guids, None)["clean"]


@pytest.mark.campaign
def test_cells_come_back(tmp_path):
    rng = random.Random(7)
    for _ in range(count(3000, 300_000)):
        text = "".join(rng.choices("=+-@'\t\r\na ,\"＝", k=rng.randint(0, 5)))
        cell = words.cell(text)
        assert words.uncell(cell) == text and not formula(cell)
        (row,) = words.csv_rows(words.csv_text(["x", "y"], [["k", text]]))
        assert row == {"x": "k", "y": text}


def test_a_comparison_has_no_formulas():
    row = {"network": "=x", "label": "@y", "cost_usd": -1.5}
    text = comparison.table_csv(fl.Result({"rows": [row]}))
    assert text.splitlines()[1] == "'=x,'@y,-1.5"


# --- screens, drawings and pages ---

HIDDEN = ["\x1b[31mred", "\x9b31m", "a\rb", "a\tb", "a\nb", "\x07", "\x7f", "\u202ex", "\u2066x",
          "\u2028", "\x00", "\ufffe"]


@pytest.mark.parametrize("name", HIDDEN)
def test_names_that_cannot_be_shown_are_refused(name):
    for good, bad in ((["x", "y", "z", "h"], 1), (["x", "y", "h", "k"], 3)):
        names = list(good)
        names[bad] = name
        what = r"named: (switches|endpoints)\[\d+\].name: the name .* has the character U\+"
        with pytest.raises(fl.RefusalError, match=what):
            named(names)


SHOWING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff]")


@pytest.mark.parametrize("make", [
    lambda evil: ["design", f"{evil}.edges"], lambda evil: ["design", f"{evil}:q=1"],
    lambda evil: [evil], lambda evil: ["design", f"--{evil}"], lambda evil: ["run", evil],
    lambda evil: ["cost", "ring:n=4", "--catalog", evil], lambda evil: ["verify", evil],
    lambda evil: ["route", "ring:n=4", "-O", f"{evil}=1"],
    lambda evil: ["route", "ring:n=4", "-e", evil],
    lambda evil: ["cables", "ring:n=4", "-o", "x", "--labels", evil],
    lambda evil: ["design", "evil.edges"], lambda evil: ["design", "evil.toml"],
    lambda evil: ["design", "evil.graphml"], lambda evil: ["design", "evil.json"],
    lambda evil: ["design", "evil.net"], lambda evil: ["design", "evil.dot"],
    lambda evil: ["cost", "ring:n=4,p=1", "--catalog", "evil.toml"],
    lambda evil: ["cost", "ring:n=4,p=1", "--catalog", "catalog.toml"],
    lambda evil: ["plan", "ring:n=4,p=1", "--rules", "evil.toml"],
    lambda evil: ["design", "recipe.json"], lambda evil: ["run", "evil.toml"],
])
def test_nothing_from_outside_moves_the_cursor(tmp_path, make):
    evil = "a\x1b]0;x\x07\x1b[31m\x9b2J\u202eb\r"
    (tmp_path / "evil.edges").write_text(f"{evil} {evil} {evil} {evil}\n")
    (tmp_path / "evil.toml").write_text(f'"{evil}" = "{evil}"\n')
    (tmp_path / "evil.graphml").write_text(f"<graphml><{evil}></graphml>")
    (tmp_path / "evil.json").write_text(f'{{"{evil}": 1}}')
    (tmp_path / "evil.net").write_text(f'Switch 36 "S-1" # "{evil}" lid 1\n{evil}\n')
    (tmp_path / "evil.dot").write_text(f'digraph {{ "{evil}" -> {evil} ]\n')
    plain = json.loads(fl.network("ring:n=4,p=1").to_text("json"))
    plain["recipe"] = {"family": evil, "params": {evil: evil}}
    (tmp_path / "recipe.json").write_text(json.dumps(plain))
    name = f'name = "{json.dumps(evil)[1:-1]}'
    text = fl._core.Shop.text_of("fdr10-2014").replace('name = "', name, 1)
    (tmp_path / "catalog.toml").write_text(text)
    done = flyloom(*make(evil), cwd=tmp_path)
    assert "Traceback" not in done.stderr and done.returncode in (0, 2)
    said = done.stdout + done.stderr
    assert said and not SHOWING.search(said.replace("\r\n", "\n")), repr(said)


def test_a_terminal_gets_the_same(tmp_path):
    """Under `script`, which gives the command a terminal of its own."""
    line = " ".join([*command("design"), "$'x\\x1b[31m\\x07.edges'"])
    done = subprocess.run(
        ["script", "-qec", f"bash -c {json.dumps(line)}", "/dev/null"], cwd=tmp_path,
        env=environment(), capture_output=True, text=True, timeout=60, check=False)
    assert "x\\x1b[31m\\x07.edges" in done.stdout and "\x1b[31m" not in done.stdout


def test_drawings_of_nasty_names_are_well_formed(tmp_path):
    odd = ["]]>", "-->", "<!--", "\u200f", "é", "中"]
    names = [f"{c}<b>&\"'\\({i})" for i, c in enumerate(odd)]
    network = named(names)
    fl.cables(network, tmp_path / "wire")
    drawn = "".join(p.read_text() for p in (tmp_path / "wire").rglob("*.svg"))
    for file in (tmp_path / "wire").rglob("*.svg"):
        xml.etree.ElementTree.fromstring(file.read_text())
    assert drawn and "<b>" not in drawn


@pytest.mark.parametrize(("value", "text"), [
    (-0.0, "0"), (0.0, "0"), (1e300, "1e+300"), (-2.5e200, "-2.5e+200"), (1e-300, "1e-300"),
    (1234567.25, "1,234,567.25"),
])
def test_figures_have_no_minus_zero_and_no_hundreds_of_digits(value, text):
    assert words.amount(value) == text


def test_results_have_no_minus_zero():
    """On one switch no channel has a load: the mean of none is 0."""
    reported = flyloom("map", "complete:n=1,p=4", "--graph", "stencil:shape=2x2,bytes=8")
    assert reported.returncode == 0 and "-0" not in reported.stdout, reported.stdout
    found = flyloom("map", "complete:n=1,p=4", "--graph", "stencil:shape=2x2,bytes=8", "--json")
    assert "-0.0" not in found.stdout, found.stdout


@pytest.mark.parametrize(("asked", "says"), [
    (("export", "ring:n=4,p=1", "--to", "booksim-anynet", "-O", "cycle_ns=1e-300"), "1e-300"),
    (("sim", "packet", "ring:n=4,p=1", "--load", "1e308"),
     "load: 1e308 is out of range; 0.0001 to 64"),
    (("sim", "message", "--workload", "barrier_tree ranks=4", "--L", "nan"),
     "L: nan is no finite number; 0 to 2147483647 ns"),
    (("sim", "message", "--workload", "barrier_tree ranks=4", "--L", "inf"),
     "L: inf is no finite number; 0 to 2147483647 ns"),
    (("sim", "message", "--workload", "barrier_tree ranks=4", "--L", "1e308"),
     "L: 1e308 is out of range; 0 to 2147483647 ns"),
])
def test_numbers_in_refusals_are_short(asked, says):
    done = flyloom(*asked)
    assert done.returncode == 2 and says in done.stderr and len(done.stderr) < 200, done.stderr
