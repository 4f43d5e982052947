"""A swept seed in a report: one curve with intervals, as `seeds` gives, and a row for each seed."""

from __future__ import annotations

import json
import re
import statistics

import flyloom as fl
import pyarrow.parquet
import pytest
from flyloom.report import build
from scipy import stats

HEAD = """\
schema = 1
name = "seeds"
topology = { family = "slim_fly", q = 3, p = 2 }
"""
FLIT = "load = [0.1, 0.3]\nrun = { warmup_cycles = 50, measure_cycles = 200 }\n"
PACKET = "load = [0.1, 0.3]\nmessages = 5\n"
KEYS = {"flit": ("simulations", "mean_packet_latency_cycles"),
        "packet": ("packets", "mean_latency_ns")}


def made(folder, text):
    """What the report is made from, and the rows."""
    (folder / "x.toml").write_text(HEAD + text)
    fl.run(folder / "x.toml", out=folder / "out", workers=1)
    saved = json.loads((folder / "out/seeds/results.json").read_text())
    return (build.data(saved),
            pyarrow.parquet.read_table(folder / "out/seeds/rows.parquet").to_pylist())


@pytest.mark.parametrize(("level", "asked"), [("flit", FLIT), ("packet", PACKET)])
def test_seeds_that_are_swept_are_one_curve_with_intervals(tmp_path, level, asked):
    place, figure = KEYS[level]
    swept, rows = made(tmp_path, f'[sim.{level}]\n{asked}[sweep.grid]\n'
                                 f'"sim.{level}.seed" = [4, 5, 6]\n'
                                 f'"sim.{level}.selection" = ["minimal", "valiant"]\n')
    assert len(rows) == 3 * 2 * 2, "each seed has rows of its own"
    runs = swept[place]
    assert [(run["parameters"]["seeds"], len(run["points"])) for run in runs] == [(3, 2)] * 2
    for run in runs:
        for point, load in zip(run["points"], (0.1, 0.3), strict=True):
            values = [row[f"sim_{level}_{figure}"] for row in rows
                      if row["load"] == load and row["selection"] == run["parameters"]["selection"]]
            assert len(values) == 3
            assert point[figure] == pytest.approx(statistics.mean(values))
            half = stats.t.ppf(0.975, 2) * statistics.stdev(values) / 3**0.5
            assert point["over_seeds"][figure]["confidence_interval_95"] == pytest.approx(
                [statistics.mean(values) - half, statistics.mean(values) + half])
    page = (tmp_path / "out/seeds/report.html").read_text()
    charts = re.findall("<svg.*?</svg>", page, re.DOTALL)
    assert any("intervals over 3 seeds" in chart for chart in charts)
    assert not any("seed 5" in chart for chart in charts), "tables of measures have each seed"


def test_runs_that_differ_otherwise_or_by_found_loads_stay_apart(tmp_path):
    """Loads that are looked for differ by seed, and buffers of two sizes have no mean in common."""
    auto, _ = made(tmp_path, '[sim.flit]\nload = "auto"\n'
                             "run = { warmup_cycles = 50, measure_cycles = 100 }\n"
                             '[sweep.grid]\n"sim.flit.seed" = [4, 5]\n')
    assert len(auto["simulations"]) == 2
    zipped, _ = made(tmp_path, f'[sim.flit]\n{FLIT}[[sweep.zip]]\n"sim.flit.seed" = [4, 5]\n'
                               '"sim.flit.switch.buffer_flits" = [8, 16]\n')
    assert [run["parameters"]["seed"] for run in zipped["simulations"]] == [4, 5]
