"""Measures as tables of an experiment: the figures of the verbs, columns, report, errors."""

from __future__ import annotations

import json
from pathlib import Path

import flyloom as fl
import pyarrow.parquet
import pytest
from cli_helpers import flyloom

FILE = """\
schema = 1
name = "m"
seed = 5
[topology]
family = "slim_fly"
q = 3
p = 2
[routing]
engine = "dfsssp"
[ebb]
samples = 4
[congestion]
pattern = "ring"
[resilience]
samples = 8
until = ["disconnected", "diameter"]
[lanes_needed]
[path_diversity]
[edge_load]
[structure]
paths = true
[repair]
links = [0, 3]
[cost]
catalog = "ndr64-2024"
[sweep.grid]
"congestion.samples" = [3, 6]
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory) -> Path:
    """The folder of the results."""
    folder = tmp_path_factory.mktemp("measures")
    (folder / "m.toml").write_text(FILE)
    return Path(fl.run(folder / "m.toml", out=folder, workers=1).directory)


def test_columns_are_what_the_verbs_say(done):
    rows = pyarrow.parquet.read_table(done / "rows.parquet").to_pylist()
    network = fl.slim_fly(q=3, p=2)
    routing = fl.route(network, "dfsssp")
    lanes = {m.method: m.lanes for m in fl.lanes_needed(routing, seed=5).methods}
    cut = fl.resilience(network, samples=8, seed=5, until=["disconnected", "diameter"]).ends
    _, repaired = fl.repair(routing, network, links=[0, 3])
    bill = fl.cost(network, "ndr64-2024")
    for row, runs in zip(rows, (3, 6), strict=True):
        met = fl.congestion(routing, "ring", samples=runs, seed=5)
        assert row["congestion_mean_share"] == met.mean_share
        assert row["congestion_max_congestion"] == met.max_congestion
        assert [row["congestion_ci95_low"], row["congestion_ci95_high"]] == (
            met.confidence_interval_95)
        assert {name: row[f"lanes_needed_{name}"] for name in lanes} == lanes
        assert row["resilience_removed_until_disconnected"] == cut.disconnected.mean
        assert row["resilience_removed_until_diameter"] == cut.diameter.mean
        assert "resilience_removed_until_mean" not in row
        assert row["repair_changed_entries"] == repaired.changed_entries
        assert row["repair_safe"] == repaired.safe
        assert (row["cost_usd"], row["cost_power_w"]) == (bill.cost_usd, bill.power_w)
        assert row["edge_load_edge_forwarding_index"] == row["edge_forwarding_index"]
        paths = fl.structure(network, paths=True).minimal_paths
        assert row["structure_mean_minimal_paths"] == paths.mean
        assert "structure_bisection_high" not in row


def test_a_measure_by_name_is_the_verb():
    routing = fl.route("slim_fly:q=3", "dfsssp")
    assert fl.measure(routing, "ebb", samples=5, seed=2) == fl.ebb(routing, samples=5, seed=2)
    by_name = fl.measure("slim_fly:q=3", "structure", bisection=True)
    assert by_name == fl.structure("slim_fly:q=3", bisection=True)
    by_network = fl.measure("slim_fly:q=3,p=2", "ebb", samples=5)
    assert by_network == fl.ebb(fl.route("slim_fly:q=3,p=2", "dfsssp"), samples=5)
    with pytest.raises(fl.RefusalError, match="there is no measure 'fish'; measures: "):
        fl.measure(routing, "fish")
    with pytest.raises(fl.RefusalError, match="unknown field `run`.*; congestion takes pattern"):
        fl.measure(routing, "congestion", run=3)


def test_the_report_has_a_table_for_each(done):
    page = (done / "report.html").read_text()
    section = page[page.index('<section id="measures">'):]
    section = section[:section.index("</section>")]
    for name in ("congestion", "resilience", "lanes needed", "path diversity", "repair"):
        assert f"<h3>{name}</h3>" in section
    assert section.count("<tbody>") == 7
    money = page[page.index('<section id="money">'):]
    [bill] = [record["measures"]["cost"] for record in
              json.loads((done / "results.json").read_text())["records"]
              if "cost" in record["measures"]][:1]
    assert f'>{round(bill["cost_usd"]):,} $<' in money[:money.index("</section>")]
    saved = json.loads((done / "results.json").read_text())
    assert [table["name"] for table in saved["measures"]] == [
        "lanes_needed", "repair", "path_diversity", "edge_load", "congestion", "resilience",
        "structure", "cost",
    ]


def test_the_effective_file_has_the_defaults(done):
    text = (done / "effective.toml").read_text()
    assert 'metric = "bandwidth"' in text and "samples = 8" in text and "seed = 5" in text


@pytest.mark.parametrize(("more", "why"), [
    ("[kongestion]\n", "kongestion: not a key of a point"),
    ("[congestion]\nrun = 1\n", "unknown field `run`"),
    ("[resilience]\nremove = 'racks'\n", "racks"),
    ("[congestion]\nlevels = 'some'\n", "levels: there is no 'some'"),
    ("[cost]\ncatalog = 'none'\n", "none"),
])
def test_bad_tables_are_refused(tmp_path, more, why):
    head = FILE.split("[ebb]")[0]
    (tmp_path / "b.toml").write_text(head + more)
    out = flyloom("run", "b.toml", cwd=tmp_path)
    assert out.returncode == 2 and why in out.stderr and "Traceback" not in out.stderr
