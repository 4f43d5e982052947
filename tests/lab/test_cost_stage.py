"""The stage `cost` of experiments takes what the command takes, and finds the same bill."""

from __future__ import annotations

import csv
import inspect
import json
import tomllib

import flyloom as fl
import pyarrow.parquet
import pytest
from cli_helpers import document, flyloom
from flyloom import _core
from flyloom.cli.groups import FloorOptions, PurchaseOptions
from test_cost import QUOTED

NET = "slim_fly:q=5,p=4"
APART = {
    "net": "the network of the point", "p": "of the network", "as_json": "how it is printed",
    "mode": "the study's bill has other fields",
}
"""Parameters of the command that the stage does not have, and why."""
CALLED = {"electric_limit": "electric_limit_m"}
"""Names of options that say no unit."""


def keys_of_stage():
    row = next(row for row in _core.registry() if (row["kind"], row["name"]) == ("measure", "cost"))
    return {param["name"] for param in row["params"]}


def test_the_stage_takes_what_the_command_takes():
    from flyloom.cli.cost import cost

    options = {name for name in inspect.signature(cost).parameters if name not in APART}
    assert {CALLED.get(name, name) for name in options} == keys_of_stage()
    assert set(PurchaseOptions.__dataclass_fields__) <= options


def test_the_verb_takes_it_by_its_shop():
    taken = {*inspect.signature(fl.cost).parameters, *inspect.signature(fl.shop).parameters}
    assert keys_of_stage() <= taken


def test_plan_and_cables_take_what_changes_prices_of_cables():
    """All that the bill takes but what is not of cables."""
    not_of_cables = {"include", "energy_years", "usd_per_kwh", "pue", "spare"}
    options = {CALLED.get(name, name) for name in FloorOptions.__dataclass_fields__}
    assert options == keys_of_stage() - not_of_cables


TABLES = {
    "energy": ("energy_years = 5\nusd_per_kwh = 0.12\npue = 1.2",
               ["--energy-years", "5", "--usd-per-kwh", "0.12", "--pue", "1.2"]),
    "spare": ("spare = 0.02\ninclude = [\"network\", \"adapters\"]",
              ["--spare", "0.02", "--include", "network,adapters"]),
    "protocol": ("protocol = \"ethernet\"\nelectric_limit_m = 0.5\ngbps = 800",
                 ["--protocol", "ethernet", "--electric-limit", "0.5", "--gbps", "800"]),
    "server": ("server = \"2u4n\"", ["--server", "2u4n"]),
    "quotation": ("quotation = \"offers/q.csv\"", ["--quotation", "offers/q.csv"]),
    "catalog": ("catalog = \"mine.toml\"\nspare = 0.1",
                ["--catalog", "mine.toml", "--spare", "0.1"]),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a quotation and a catalogue beside the experiment."""
    (tmp_path / "offers").mkdir()
    (tmp_path / "offers" / "q.csv").write_text(QUOTED)
    text = _core.Shop.text_of("products-2026").replace("products-2026", "mine-2027", 1)
    (tmp_path / "mine.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def experiment(folder, table, name="e"):
    file = folder / f"{name}.toml"
    file.write_text(f'schema = 1\nname = "{name}"\n[topology]\nfamily = "slim_fly"\nq = 5\np = 4\n'
                    f"[cost]\n{table}\n")
    return file


@pytest.mark.parametrize("kind", TABLES)
def test_the_bill_is_that_of_the_command(kind, folder):
    table, options = TABLES[kind]
    bill = document("cost", NET, *options, cwd=folder)
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    # files are seen from the experiment, wherever it is run
    done = flyloom("run", str(experiment(folder, table)), "--out", str(folder), "--workers", "1",
                   cwd=elsewhere)
    assert done.returncode == 0, done.stderr
    saved = json.loads((folder / "e" / "results.json").read_text())
    found = saved["records"][0]["measures"]["cost"]
    for key in found:
        assert found[key] == bill[key], key
    plain = document("cost", NET, cwd=folder)
    differs = {"server": "racks"}.get(kind, "cost_usd")
    assert found[differs] != plain[differs]
    row = pyarrow.parquet.read_table(folder / "e" / "rows.parquet").to_pylist()[0]
    assert row["cost_usd"] == bill["cost_usd"] and row["cost_basis"] == bill["basis"]
    given = tomllib.loads(table)
    measured = fl.measure(NET, "cost", **given)
    assert measured.cost_usd == bill["cost_usd"]


def test_a_changed_quotation_is_computed_anew(folder):
    file = experiment(folder, 'quotation = "offers/q.csv"')
    first = fl.run(file, out=folder, workers=1)
    assert fl.run(file, out=folder, workers=1).reused == 1
    quotation = folder / "offers" / "q.csv"
    quotation.write_text(QUOTED.replace("24,500.00", "25,500.00"))
    again = fl.run(file, out=folder, workers=1)
    assert again.reused == 0
    usd = pyarrow.parquet.read_table(folder / "e" / "rows.parquet")["cost_usd"][0].as_py()
    quotation.write_text(QUOTED)
    fl.run(file, out=folder, workers=1)
    before = pyarrow.parquet.read_table(folder / "e" / "rows.parquet")["cost_usd"][0].as_py()
    assert usd - before == pytest.approx(50 * 1000) and first.points == 1


@pytest.mark.parametrize(("table", "said"), [
    ('quotation = "none.csv"', "line 8, column 1: cost.quotation: 'none.csv' is neither a table nor"
                               " a file"),
    ('catalog = "none.toml"', "line 8, column 1: cost.catalog: 'none.toml' is neither a catalogue"),
    ("spare = 2", "line 8, column 1: cost: spare: 2 is out of range"),
    ("energy_year = 2", "line 8, column 1: cost: unknown field `energy_year`"),
    ('protocol = "token"', "line 8, column 1: cost: protocol: there is no 'token'"),
    ('quotation = "empty.csv"', "empty.csv: it has no line below its headings"),
    ('server = "none"', "server"),
])
def test_faults_name_file_line_and_key(table, said, folder):
    (folder / "empty.csv").write_text("part,unit_price\n")
    done = flyloom("run", str(experiment(folder, table)), "--out", str(folder), "--workers", "1")
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert said in done.stderr, done.stderr
    assert "e.toml" in done.stderr or "empty.csv" in done.stderr


def cables_usd(bill):
    return sum(line["usd"] for line in bill["lines"]
               if line["part"] in ("switch_cables", "endpoint_cables"))


@pytest.mark.parametrize("options", [
    ["--quotation", "offers/q.csv"], ["--protocol", "ethernet", "--gbps", "800"],
    ["--electric-limit", "0.5"],
])
def test_plan_and_cables_have_the_prices_of_the_bill(options, folder):
    bill = document("cost", NET, *options, cwd=folder)
    plan = document("plan", NET, *options, cwd=folder)
    assert plan["cost_usd"] == pytest.approx(cables_usd(bill))
    plain = document("plan", NET, cwd=folder)
    assert plan["cost_usd"] != pytest.approx(plain["cost_usd"])
    cables = document("cables", NET, "-o", "wiring", "--spare", "0", *options, cwd=folder)
    assert cables["cost_usd"] == pytest.approx(cables_usd(bill))
    if "--quotation" in options:
        # by hand: 50 links of 1 m, 125 longer ones, 200 endpoints 1 m away
        assert plan["cost_usd"] == pytest.approx(250 * 200 / 2 + 125 * (2 * 900 / 2 + 80))
        rows = csv.DictReader((folder / "wiring" / "order.csv").read_text().splitlines())
        usd = {"electric": 100, "optical": 980}
        assert all(float(row["cost_usd"]) == usd[row["kind"]] * int(row["buy"]) for row in rows)
