"""The demo, shortened: all of its parts run, and its opening is what its rows say."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import browser
import flyloom as fl
import pypdf
import pytest
from checkout import ROOT
from cli_helpers import document
from test_report import Page

pytest.importorskip("vl_convert")

DEMO = ROOT / "examples" / "demo.toml"
SHORTER = (
    ('deploy = { fabric = "ibsim", oracle = true }\n', ""),
    ("{ samples = 1000 }", "{ samples = 50 }"), ("{ samples = 200 }", "{ samples = 20 }"),
    ("sim.flit.run = { warmup_cycles = 500, measure_cycles = 1500 }",
     "sim.flit.load = [0.1, 0.6]\nsim.flit.run = { warmup_cycles = 100, measure_cycles = 300 }"),
    ("[64, 1024, 16384, 262144, 4194304]", "[64, 262144]"), ("[64, 1024, 16384, 262144]", "[64]"),
    ("p=4,levels=2,cycles=2,base_bytes=65536", "p=2,levels=1,cycles=1,base_bytes=65536"),
    ("[0.0, 0.3, 0.6]", "[0.0, 0.6]"), ('["random", "linear", "auto"]', '["linear", "greedy"]'),
)
"""Lines of the demo, and what the test has in their place."""


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The rows of a run of the shortened demo, and the table of its report's opening."""
    folder = tmp_path_factory.mktemp("demo")
    text = DEMO.read_text()
    for line, instead in SHORTER:
        assert text.count(line) == 1, line
        text = text.replace(line, instead)
    (folder / "demo.toml").write_text(text)
    run = fl.run(folder / "demo.toml", out=folder)
    assert run.holds and not run.skipped
    page = Page(Path(run.report).read_text())
    table = {row[0].strip(): [" ".join(cell.split()) for cell in row[1:]]
             for row in page.rows[""] if len(row) > 3}
    saved = json.loads(Path(run.directory, "results.json").read_text())
    return run.to_rows(), table, page, saved, Path(run.report)


def test_the_demo_is_every_part_on_both_networks():
    points = document("run", DEMO, "--dry-run")["points"]
    assert {point["label"] for point in points} == {"Slim Fly", "fat tree"}
    for label in ("Slim Fly", "fat tree"):
        mine = [point for point in points if point["label"] == label]
        [routed] = [point for point in mine if "routing" in point]
        assert routed["deploy"] == {"fabric": "ibsim", "oracle": True}
        flit = [(p["sim"]["flit"]["traffic"], p["sim"]["flit"]["selection"]) for p in mine
                if "flit" in p.get("sim", {})]
        assert flit == [("uniform", "minimal"), ("uniform", "ugal_l"), ("worst_case", "minimal"),
                        ("worst_case", "ugal_l")]
        message = {p["sim"]["message"]["workload"].split("_")[0] for p in mine
                   if "message" in p.get("sim", {})}
        assert message == {"allreduce", "alltoall"}
        assert any(p["sim"]["packet"]["background"]["intensity"] > 0 for p in mine
                   if "packet" in p.get("sim", {}))
        assert any("cost" in p for p in mine) and any("map" in p for p in mine)


def figure(cell: str) -> float:
    """The number that a cell begins with."""
    return float(cell.removeprefix("at least ").split()[0].replace(",", ""))


def close(cell: str, value: float) -> bool:
    """Whether a cell has a value in the digits that it shows."""
    return figure(cell) == pytest.approx(value, rel=6e-3)


def both(rows: list[dict], column: str, **given: object) -> list[float]:
    """The mean of a column on the Slim Fly and on the fat tree, of the rows that have it."""
    out = []
    for label in ("Slim Fly", "fat tree"):
        known = [row[column] for row in rows if row["network"] == label and row[column] is not None
                 and all(row[key] == value for key, value in given.items())]
        out.append(sum(known) / len(known))
    return out


def test_the_opening_says_what_the_rows_have(done):
    rows, table, *_ = done
    for what, column, given in (
        ("Effective bisection bandwidth", "effective_bisection_bandwidth", {}),
        ("Mean hops of a route", "mean_hops", {}),
        ("Virtual lanes of a proved routing", "lanes", {}),
        ("Price an endpoint, fdr10-2014", "cost_usd_per_endpoint", {"cost_catalog": "fdr10-2014"}),
        ("Price an endpoint, edr36-2024", "cost_usd_per_endpoint", {"cost_catalog": "edr36-2024"}),
        ("Power an endpoint, fdr10-2014", "cost_power_w_per_endpoint",
         {"cost_catalog": "fdr10-2014"}),
        ("Diameter", "diameter", {}),
        ("Mean distance of switches with endpoints", "mean_distance", {}),
        ("Links that fail at random until it falls apart", "resilience_removed_until_disconnected",
         {}),
    ):
        parts = ("effective_bisection_bandwidth", "resilience_removed_until_disconnected")
        values = [(100 if column in parts else 1) * value for value in both(rows, column, **given)]
        assert all(map(close, table[what], values)), what
        higher = what.startswith(("Effective", "Links"))
        order = sorted(("Slim Fly", "fat tree"), reverse=higher,
                       key=dict(zip(("Slim Fly", "fat tree"), values, strict=True)).get)
        if max(values) > 1.01 * min(values):
            assert table[what][3].startswith(f"{order[0]}, "), what
        else:
            assert table[what][3] == "alike", what
    ends, cables = both(rows, "endpoints"), both(rows, "cables")
    lengths = both(rows, "cable_length_m")
    assert all(map(close, table["Cables an endpoint"],
                   (a / b for a, b in zip(cables, ends, strict=True))))
    assert all(map(close, table["Length of cable an endpoint"],
                   (a / b for a, b in zip(lengths, ends, strict=True))))


def test_the_opening_says_what_was_simulated(done):
    rows, table, _, saved, _ = done
    labels = ("Slim Fly", "fat tree")

    def found(name: str, label: str, **asked: object) -> list[dict]:
        level = name.removeprefix("sim.")
        return [
            record["measures"][name] for record in saved["records"]
            if record["network"] == label and name in record["measures"]
            and all(record["asked"][level][key] == value for key, value in asked.items())
        ]

    for traffic in ("uniform", "worst_case"):
        for selection in ("minimal", "ugal_l"):
            asked = {"traffic": traffic, "selection": selection}
            most = [
                100 * max(point["accepted_load"] for point in of[0]["points"])
                for of in (found("sim.flit", label, **asked) for label in labels)
            ]
            name = f"{traffic.replace('_', ' ').capitalize()} traffic"
            assert all(map(close, table[f"{name}: most that arrives, {selection}"], most))
    for selection in ("minimal", "ugal_l"):
        cells = table[f"amg_like: slowest process (packet level), {selection}, intensity 0 to 0.6"]
        for cell, label in zip(cells, labels, strict=False):
            for number, intensity in zip(cell.split(" to "), (0.0, 0.6), strict=True):
                times = [
                    record["measures"]["sim.packet"]["jobs"][0]["max_comm_ns"] / 1000
                    for record in saved["records"]
                    if record["network"] == label and "sim.packet" in record["measures"]
                    and record["asked"]["packet"]["selection"] == selection
                    and record["asked"]["packet"]["background"]["intensity"] == intensity
                ]
                assert len(times) == 2 and close(number, sum(times) / 2)
    reduce = table["allreduce_recursive_doubling (message level), bytes 64 to 262,144"]
    for cell, label in zip(reduce, labels, strict=False):
        times = [found("sim.message", label, workload="allreduce_recursive_doubling",
                       workload_options={"ranks": 200, "bytes": size})[0]["finish_ns"]
                 for size in (64, 262144)]
        assert all(map(close, cell.split(" to "), (time / 1000 for time in times)))
    gains = table["stencil_3d of 200 processes: busiest channel in order, over mapped"]
    mapped = both(rows, "map_gain", map_method="greedy")
    assert all(map(close, gains, (max(1.0, gain) for gain in mapped))), "else the order is best"


def test_the_page_has_a_chart_of_each_level_and_the_experiment_last(done):
    _, _, page, saved, _ = done
    order = list(page.text)
    assert order.index("networks") < order.index("simulation") < order.index("provenance")
    assert order[-1] == "provenance"
    for section in ("cables", "simulation", "packets", "messages", "mappings", "load", "ebb"):
        assert "svg" in page.tags and section in order
    assert tomllib.loads(saved["text"])["name"] == "demo"
    labels = [record["label"] for record in saved["records"] if record["network"] == "Slim Fly"]
    assert len(labels) == len(set(labels)) and max(map(len, labels)) < 110, labels


@browser.NEEDS
@pytest.mark.parametrize("paper", ["A4", "letter"])
def test_the_report_prints_on_eight_sheets_with_the_answer_first(done, tmp_path, paper):
    html = done[-1].read_text()
    assert html.count("@page {") == 1
    (tmp_path / "demo.html").write_text(html.replace("@page {", f"@page {{ size: {paper};"))
    browser.printed(tmp_path / "demo.html", tmp_path / "demo.pdf")
    sheets = [sheet.extract_text() for sheet in pypdf.PdfReader(tmp_path / "demo.pdf").pages]
    assert len(sheets) <= 8
    assert "The answer" in sheets[0] and "Not asked" not in sheets[0]
    assert "What it costs" in "".join(sheets[1:3]) and "Pictures" in "".join(sheets[-2:])
