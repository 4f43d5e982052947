"""Rows and series of an experiment say what each row is of: swept keys, loads, intervals, units."""

from __future__ import annotations

import re
import statistics
from pathlib import Path

import flyloom as fl
import pyarrow.parquet
import pytest
from checkout import ROOT
from flyloom.lab import store
from scipy import stats

FILE = """\
schema = 1
name = "tidy"
seed = 5
topology = { family = "slim_fly", q = 3, p = 2 }
[sim.flit]
load = [0.1, 0.3]
seeds = 3
run = { warmup_cycles = 50, measure_cycles = 200 }
switch = { virtual_channels = 4 }
[sweep.grid]
"sim.flit.selection" = ["minimal", "valiant"]
"sim.flit.traffic" = ["uniform", "worst_case"]
"sim.flit.switch.buffer_flits" = [8, 16]
"""
CYCLES = {"run.warmup_cycles": 50, "run.measure_cycles": 200, "switch.virtual_channels": 4}


def run(folder: Path, text: str) -> fl.Result:
    (folder / "tidy.toml").write_text(text)
    return fl.run(folder / "tidy.toml", out=folder / "out", workers=1)


def tables(folder: Path, text: str) -> tuple[pyarrow.Table, pyarrow.Table]:
    done = Path(run(folder, text).directory)
    rows, series = (pyarrow.parquet.read_table(done / f"{name}.parquet")
                    for name in ("rows", "series"))
    return rows, series


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    return tables(tmp_path_factory.mktemp("tidy"), FILE)


def test_each_row_says_what_it_is_of(swept):
    rows = swept[0].to_pylist()
    asked = [(row["selection"], row["traffic"], row["sim.flit.switch.buffer_flits"], row["load"])
             for row in rows]
    assert asked == [(selection, traffic, buffer, load) for selection in ("minimal", "valiant")
                     for traffic in ("uniform", "worst_case") for buffer in (8, 16)
                     for load in (0.1, 0.3)]
    for row in rows:
        assert (row["seed"], row["seeds"]) == (5, 3)
        assert not {"sim.flit.selection", "sim.flit.traffic", "sim.flit.seed"} & row.keys()
        assert row["sim_flit_offered_load"] == pytest.approx(row["load"])
        assert None not in (row["sim_flit_accepted_load"], row["sim_flit_mean_hops"])
    # what is the same everywhere is no column
    assert not {"sim.flit.seeds", "topology.q", "sim.flit.load"} & set(rows[0])


def test_the_interval_is_student_s_over_the_seeds(swept):
    row = swept[0].to_pylist()[1]
    each = [
        fl.simulate("slim_fly:q=3,p=2", load=0.3, seed=seed, selection="minimal",
                    settings={**CYCLES, "switch.buffer_flits": 8}).points[0]
        for seed in (5, 6, 7)
    ]
    for name in ("accepted_load", "mean_packet_latency_cycles", "mean_network_latency_cycles",
                 "mean_hops"):
        values = [one[name] for one in each]
        interval = stats.t.interval(0.95, 2, statistics.mean(values), stats.sem(values))
        found = [row[f"sim_flit_{name}_ci95_{end}"] for end in ("low", "high")]
        assert found == pytest.approx(interval), name
        assert row[f"sim_flit_{name}"] == pytest.approx(statistics.mean(values))


def test_series_have_the_same_keys(swept):
    rows, series = (table.to_pylist() for table in swept)
    curve = [one for one in series if one["series"] == "sim_flit_accepted_load"]
    assert len(curve) == len(rows)
    keys = ("point", "network", "selection", "traffic", "load", "seed", "seeds",
            "sim.flit.switch.buffer_flits")
    for one, row in zip(curve, rows, strict=True):
        assert [one[key] for key in keys] == [row[key] for key in keys]
        assert one["y"] == row["sim_flit_accepted_load"]
        assert one["y_ci95_low"] == row["sim_flit_accepted_load_ci95_low"]
        assert one["y_ci95_high"] == row["sim_flit_accepted_load_ci95_high"]
        assert (one["x_unit"], one["y_unit"]) == ("flits/cycle", "flits/cycle")


def test_columns_without_a_value_are_left_out_and_documented_ones_are_always_there(swept, tmp_path):
    """Docs of experiments name the columns that are always there; a run of which every point is
    skipped has these, too."""
    rows = swept[0]
    empty = {name for name in rows.column_names if rows[name].null_count == len(rows)}
    assert empty <= store.ALWAYS <= {*rows.column_names}
    assert {"engine", "verified", "workload", "refused"} <= empty
    assert not [name for name in rows.column_names if name.startswith(("sim_packet", "deployed"))]
    text = (ROOT / "docs/experiments.md").read_text()
    always = text.partition("| always there | are |")[2].partition("\n\n")[0]
    assert {*re.findall(r"`(\w+)`", always)} == store.ALWAYS
    simple = """\
schema = 1
name = "tidy"
topology = { family = "ring", n = 4, p = 1 }
sim.message = { workload = "allreduce_ring bytes=1000" }
[sweep.grid]
"sim.message.costs.L" = [900, 1000]
"""
    rows, _ = tables(tmp_path, simple)
    assert len(rows) == 2 and rows["sim_message_finish_ns"].null_count == 0
    assert "sim.message.costs.L" in rows.column_names


def test_a_refused_point_has_what_it_asked_for(tmp_path):
    (tmp_path / "tidy.toml").write_text("""\
schema = 1
name = "tidy"
topology = { family = "fat_tree", levels = 3, k = 4 }
[sim.flit]
load = 0.1
seed = 8
run = { warmup_cycles = 50, measure_cycles = 100 }
[sweep.grid]
"sim.flit.selection" = ["minimal", "ugal_l"]
""")
    with pytest.raises(fl.RefusalError, match="point 2 of 2 refused"):
        fl.run(tmp_path / "tidy.toml", out=tmp_path / "out", workers=1)
    rows = pyarrow.parquet.read_table(tmp_path / "out/tidy/rows.parquet").to_pylist()
    assert [(row["selection"], row["seed"], row["refused"] is None) for row in rows] == [
        ("minimal", 8, True), ("ugal_l", 8, False)]


def test_units_stand_in_the_schema(swept):
    rows = swept[0].schema

    def unit(name: str) -> str | None:
        found = (rows.field(name).metadata or {}).get(b"unit")
        return found and found.decode()

    wanted = {
        "sim_flit_mean_packet_latency_cycles": "cycles", "cable_length_m": "m",
        "sim_flit_mean_packet_latency_cycles_ci95_low": "cycles", "cable_cost_usd": "USD",
        "diameter": "hops",
        "load": "rate of a rail", "engine": None,
    }
    assert {name: unit(name) for name in wanted} == wanted
    # a column without a unit in its metadata is a name, a truth, a number of something named
    for field in rows:
        if field.name.startswith("sim_") and field.type == pyarrow.float64():
            words = ("load", "use", "sent_bytes", "accepted_fraction")
            assert unit(field.name) or any(word in field.name for word in words), field.name


def test_simulate_has_the_same_columns(swept):
    rows = swept[0].to_pylist()
    found = fl.simulate(
        "slim_fly:q=3,p=2", load=[0.1, 0.3], seeds=3, seed=5, selection=["minimal", "valiant"],
        traffic=["uniform", "worst_case"], settings={**CYCLES, "switch.buffer_flits": 8},
    )
    mine = {(row["selection"], row["traffic"], row["load"]): row for row in found.to_rows()}
    assert len(mine) == 8
    for row in rows:
        if row["sim.flit.switch.buffer_flits"] == 16:
            continue
        one = mine[row["selection"], row["traffic"], row["load"]]
        for name, value in row.items():
            if name.startswith("sim_flit_") and name.removeprefix("sim_flit_") in one:
                assert one[name.removeprefix("sim_flit_")] == value, name
        assert (one["seed"], one["seeds"]) == (row["seed"], row["seeds"])
    table = found.to_arrow()
    assert table.schema.field("accepted_load_ci95_low").metadata[b"unit"] == b"flits/cycle"
    assert table.schema.field("load").type == pyarrow.float64()


def test_levels_of_one_point_share_rows_by_load(tmp_path):
    rows, _ = tables(tmp_path, """\
schema = 1
name = "tidy"
topology = { family = "slim_fly", q = 3, p = 2 }
[sim.flit]
load = [0.1, 0.2]
run = { warmup_cycles = 50, measure_cycles = 100 }
[sim.packet]
load = [0.2, 0.4]
messages = 3
traffic = "worst_case"
seeds = 2
[sim.message]
workload = "allreduce_ring bytes=1000"
""")
    rows = rows.to_pylist()
    assert [row["load"] for row in rows] == [0.1, 0.2, 0.4]
    assert [row["sim_flit_accepted_load"] is None for row in rows] == [False, False, True]
    assert [row["sim_packet_accepted_gbps"] is None for row in rows] == [True, False, False]
    # a simulator without loads has its figures in every row
    assert len({row["sim_message_finish_ns"] for row in rows}) == 1
    assert rows[1]["sim_message_finish_ns"] > 0
    # where levels differ, columns with the whole key say so
    assert {row["sim.flit.traffic"] for row in rows} == {"uniform"}
    assert {row["sim.packet.traffic"] for row in rows} == {"worst_case"}
    low, mean, high = (rows[1][f"sim_packet_accepted_gbps{end}"]
                       for end in ("_ci95_low", "", "_ci95_high"))
    assert low < mean < high


def test_swept_values_have_the_type_that_all_of_them_have(tmp_path):
    rows, _ = tables(tmp_path, """\
schema = 1
name = "tidy"
[[sweep.zip]]
topology = [{ family = "ring", n = 5, p = 1 }, { family = "torus", shape = [3, 3], p = 1 }]
[sim.message]
workload = "allreduce_ring bytes=1000"
[sweep.grid]
"sim.message.seed" = [3, 4]
"sim.message.link" = [{ rate_gbps = 100 }, { rate_gbps = 50.5 }]
""")
    assert rows.schema.field("sim.message.link.rate_gbps").type == pyarrow.float64()
    assert rows["sim.message.link.rate_gbps"].to_pylist() == [100, 50.5] * 4
    assert rows["seed"].to_pylist() == [3, 3, 4, 4] * 2
    assert rows["topology.n"].to_pylist() == [5] * 4 + [None] * 4
    assert rows["topology.shape"].to_pylist() == [None] * 4 + ["[3, 3]"] * 4
    assert rows["workload"].to_pylist() == ["allreduce_ring bytes=1000"] * 8
