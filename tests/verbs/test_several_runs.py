"""Several selections, traffics and seeds in one call, of all three levels."""

from __future__ import annotations

import statistics

import flyloom as fl
import pytest
from cli_helpers import document, flyloom
from flyloom._core import RefusalError
from flyloom.inputs.several import selections, split, traffics, workloads
from scipy import stats

NET = "slim_fly:q=3,p=2"
FLIT = {"run.warmup_cycles": 50, "run.measure_cycles": 200, "switch.virtual_channels": 4}


@pytest.mark.parametrize(("text", "parts"), [
    ("minimal", ["minimal"]), ("minimal, ugal_l", ["minimal", "ugal_l"]),
    ("max(hops, 2),minimal", ["max(hops, 2)", "minimal"]),
    ("a[1,2],{b,c},'d,e'", ["a[1,2]", "{b,c}", "'d,e'"]), ("f((1,2),3)", ["f((1,2),3)"]),
])
def test_commas_part_what_no_bracket_holds(text, parts):
    assert split(text) == selections(text) == parts


@pytest.mark.parametrize(("text", "parts"), [
    ("uniform,worst_case", ["uniform", "worst_case"]),
    ("hotspot:3=2,7=1", ["hotspot:3=2,7=1"]),
    ("hotspot:3=2,7=1,uniform", ["hotspot:3=2,7=1", "uniform"]),
    ("receivers:2,0.5,linear,shift:3", ["receivers:2,0.5,linear", "shift:3"]),
    ("a.csv,uniform", ["a.csv", "uniform"]), ("uniform,unifrm", ["uniform", "unifrm"]),
])
def test_a_comma_of_an_argument_is_its_own(text, parts):
    assert traffics(text) == parts


def test_what_is_one_traffic_stays_one(tmp_path, monkeypatch):
    rows = [(0, 1, 1.0), (1, 0, 1.0)]
    assert traffics(rows) == [rows]
    assert traffics(["uniform", rows]) == ["uniform", rows]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "uniform,mine").write_text("0,1\n")
    assert traffics("uniform,mine") == ["uniform,mine"]
    text = "alltoall_pairwise:bytes=8,ranks=4,allreduce_ring bytes=8"
    assert workloads(text) == ["alltoall_pairwise:bytes=8,ranks=4", "allreduce_ring bytes=8"]


def test_each_curve_is_that_of_a_run_by_itself():
    lists = {"selection": ["minimal", "valiant"], "traffic": ["uniform", "worst_case"]}
    found = fl.flit(NET, load=[0.1, 0.3], settings=FLIT, **lists)
    assert isinstance(found, fl.FlitSimulation) and found.verified
    for curve, (traffic, selection) in zip(found.curves, [
        (traffic, selection) for traffic in lists["traffic"] for selection in lists["selection"]
    ], strict=True):
        alone = fl.flit(NET, load=[0.1, 0.3], selection=selection, traffic=traffic, settings=FLIT)
        assert curve.to_dict() == alone.to_dict()
    rows = found.to_rows()
    assert [(row["traffic"], row["selection"], row["load"]) for row in rows] == [
        (traffic, selection, load) for traffic in lists["traffic"]
        for selection in lists["selection"] for load in (0.1, 0.3)
    ]
    assert {row["seeds"] for row in rows} == {1}
    assert {row["accepted_load_ci95_low"] for row in rows} == {None}


def test_a_selection_of_one_s_own_is_one_of_several():
    own = fl.Selection(score="min(hops, 9) * queue")
    text = "custom score=min(hops, 9) * queue"
    assert selections(own) == [own] and selections(f"{text},minimal") == [text, "minimal"]
    found = fl.flit(NET, load=0.2, selection=[own, "minimal"], settings=FLIT)
    alone = fl.flit(NET, load=0.2, selection=own, settings=FLIT)
    assert found.curves[0].to_dict() == alone.to_dict()
    first, second = found.to_arrow()["selection"].to_pylist()
    assert first.startswith("custom score=min(hops, 9)") and second == "minimal"


def test_packets_take_several_seeds():
    given = {"load": [0.2, 0.6], "messages": 10, "traffic": "uniform"}
    found = fl.packet(NET, seed=3, seeds=3, **given)
    each = [fl.packet(NET, seed=seed, **given) for seed in (3, 4, 5)]
    for at, point in enumerate(found.points):
        for name in ("accepted_gbps", "mean_latency_ns", "mean_hops", "end_ns", "p99_latency_ns"):
            values = [one.points[at][name] for one in each]
            assert len(set(values)) > 1 and point[name] == pytest.approx(statistics.mean(values))
            interval = stats.t.interval(0.95, 2, statistics.mean(values), stats.sem(values))
            row = found.to_rows()[at]
            ends = [row[f"{name}_ci95_{end}"] for end in ("low", "high")]
            assert ends == pytest.approx(interval), name
    assert (found.parameters["seed"], found.parameters["seeds"]) == (3, 3)
    assert fl.packet(NET, seed=3, seeds=3, threads=1, **given).points[0]["digest"] == (
        found.points[0]["digest"])


def test_seeds_that_make_no_difference_are_one_run(tmp_path):
    """A message between neighbours on a ring has one path; ranks at random have others."""
    goal = tmp_path / "one.goal"
    goal.write_text("num_ranks 2\nrank 0 {\na: send 8b to 1 tag 1\n}\n"
                    "rank 1 {\nb: recv 8b from 0 tag 1\n}\n")
    words = ["ring:n=6,p=1", "--workload", goal, "--seeds", 3]
    same = "the seed makes no difference here: figures of one run"
    for level in ("message", "packet"):
        one = flyloom("sim", level, *words[:-1], 1).stdout
        done = flyloom("sim", level, *words).stdout
        assert same in done and "±" not in done and same not in one
        if level == "message":
            assert done.startswith(one)
        drawn = flyloom("sim", level, *words, "--placement", "random").stdout
        assert same not in drawn and "±" in drawn
    both = flyloom("sim", "message", *words[:2], "alltoall_linear ranks=6 bytes=8", *words[3:],
                   "--selection", "one,spread").stdout
    assert f"{same} (spread)" in both and "±" in both


def test_messages_take_several_seeds_and_selections():
    given = {"workload": "alltoall_pairwise bytes=20000", "placement": "random"}
    found = fl.message(NET, seed=7, seeds=4, selection=["one", "spread"], **given)
    for row, selection in zip(found.to_rows(), ("one", "spread"), strict=True):
        each = [fl.message(NET, seed=seed, selection=selection, **given) for seed in range(7, 11)]
        values = [one.finish_ns for one in each]
        assert row["selection"] == selection and (row["seed"], row["seeds"]) == (7, 4)
        assert row["finish_ns"] == pytest.approx(statistics.mean(values))
        interval = stats.t.interval(0.95, 3, statistics.mean(values), stats.sem(values))
        found_ends = [row[f"finish_ns_ci95_{end}"] for end in ("low", "high")]
        assert found_ends == pytest.approx(interval)
        assert row["workload"] == given["workload"]


def test_workloads_are_the_traffics_of_messages():
    names = ["scan_doubling bytes=8", "alltoall_pairwise bytes=8"]
    found = fl.message(NET, workload=names)
    alone = [fl.message(NET, workload=name) for name in names]
    assert [row["finish_ns"] for row in found.to_rows()] == [one.finish_ns for one in alone]
    with pytest.raises(RefusalError, match="selection: of a network, and there is none"):
        fl.message(None, workload=names[0] + " ranks=4", selection=["one", "spread"])


def test_the_table_has_a_row_for_each_and_intervals():
    done = flyloom("sim", "flit", NET, "--selection", "minimal,valiant", "--traffic",
                   "uniform,worst_case", "--seeds", "3", "--load", "0.1,0.2",
                   *(word for key, value in FLIT.items() for word in ("--set", f"{key}={value}")))
    assert done.returncode == 0, done.stderr
    head, *rows = done.stdout.splitlines()
    assert head.split()[:2] == ["traffic", "selection"] and "accepted  " in head
    assert head.split().count("±") == 4  # accepted, latency, in network, hops
    assert [row.split()[:3] for row in rows[:8]] == [
        [traffic, selection, load] for traffic in ("uniform", "worst_case")
        for selection in ("minimal", "valiant") for load in ("0.1", "0.2")
    ]
    done = flyloom("sim", "packet", NET, "--seeds", "2", "--messages", "3", "--traffic",
                   "uniform,worst_case")
    head, *rows = done.stdout.splitlines()
    assert head.split()[0] == "traffic" and "±" in head
    assert [row.split()[0] for row in rows[:2]] == ["uniform", "worst_case"]


@pytest.mark.parametrize("level", ["flit", "packet"])
def test_a_chart_has_a_curve_for_each(tmp_path, level):
    more = {"flit": [w for k, v in FLIT.items() for w in ("--set", f"{k}={v}")],
            "packet": ["--messages", "5", "--set", "switch.virtual_channels=4"]}
    for end in ("svg", "html"):
        file = tmp_path / f"chart.{end}"
        done = flyloom("sim", level, NET, "--selection", "minimal,valiant", "--load", "0.1,0.3",
                       *more[level], "-o", file)
        assert done.returncode == 0, done.stderr
        text = file.read_text()
        assert ">minimal<" in text and ">valiant<" in text


def test_lists_that_cannot_be_are_refused(tmp_path):
    for words, why in (
        (("--selection", "minimal,minimal"), "selection: 'minimal' is there twice"),
        (("--selection", "minimal,"), "selection: an empty value"),
        (("--selection", "minimal,ugall"), "ugall"),
        (("--traffic", "uniform,unifrm"), "unifrm"),
    ):
        done = flyloom("sim", "flit", NET, "--load", "0.1", *words)
        assert done.returncode == 2 and why in done.stderr, done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
    done = flyloom("sim", "message", NET, "--workload", "scan_doubling bytes=8", "--selection",
                   "one,spread", "-o", tmp_path / "t.svg")
    assert done.returncode == 2 and "a timeline is of one run" in done.stderr
    for level in ("packet", "message"):
        with pytest.raises(RefusalError, match="seeds: 0 is out of range; 1 to 1000"):
            fl.simulate(NET, level, workload="scan_doubling bytes=8", seeds=0)


def test_json_of_several_runs_has_each(tmp_path):
    found = document("sim", "packet", NET, "--traffic", "uniform,worst_case", "--messages", "3")
    assert [curve["traffic"] for curve in found["curves"]] == ["uniform", "worst_case"]
