"""Runs of the flit level: several seeds, a warm-up that is found, several classes of traffic."""

from __future__ import annotations

import statistics

import flyloom as fl
import pytest
from cli_helpers import document, flyloom
from scipy import stats

NET = "slim_fly:q=3,p=2"
SHORT = {"run.warmup_cycles": 200, "run.measure_cycles": 400}


def run(net: str = NET, **given: object) -> fl.Result:
    more = given.pop("settings", {})
    return fl.simulate(net, "flit", settings={**SHORT, **more}, **{"load": 0.4, **given})


@pytest.mark.parametrize("traffic", ["uniform", "permutation"])
def test_several_seeds_are_the_mean_of_their_runs(traffic):
    [point] = run(seed=5, seeds=4, traffic=traffic).points
    each = [run(seed=seed, traffic=traffic).points[0] for seed in range(5, 9)]
    assert point["over_seeds"]["seeds"] == 4
    for name in ("accepted_load", "mean_packet_latency_cycles"):
        values = [one[name] for one in each]
        assert len(set(values)) > 1
        assert point[name] == pytest.approx(statistics.mean(values))
        spread = point["over_seeds"][name]
        assert spread["standard_deviation"] == pytest.approx(statistics.stdev(values))
        low, high = stats.t.interval(0.95, 3, statistics.mean(values), stats.sem(values))
        assert spread["confidence_interval_95"] == pytest.approx([low, high])
    for name in ("mean_hops", "mean_switches"):
        assert point[name] == pytest.approx(statistics.mean(one[name] for one in each))
    for name in ("cycles", "switched_flits"):
        assert point[name] == sum(one[name] for one in each)
    for name in ("latency_histogram", "hop_histogram"):
        counts = sum(sum(c[1] if isinstance(c, list) else c for c in one[name]) for one in each)
        assert sum(c[1] if isinstance(c, list) else c for c in point[name]) == counts
    assert "over_seeds" not in each[0]


def test_seeds_and_threads_change_nothing_of_it():
    words = ["sim", "flit", NET, "--load", "0.2,0.5", "--seeds", "3", "--seed", "9",
             "--set", "run.warmup_cycles=auto", "run.measure_cycles=300"]
    one = document(*words, "--threads", "1")
    assert document(*words, "--threads", "2") == one
    assert [point["over_seeds"]["seeds"] for point in one["points"]] == [3, 3]


def test_a_warm_up_is_found():
    found = run(load=[0.1, 0.5], settings={"run.warmup_cycles": "auto"})
    for point in found.points:
        # looks are 500 cycles apart, the first at 1000
        assert 1000 <= point["warmup_cycles"] < 20_000 and point["warmup_cycles"] % 500 == 0
        long = run(load=point["offered_load"], settings={
            "run.warmup_cycles": 10_000, "run.measure_cycles": 10_000}).points[0]
        short = run(load=point["offered_load"], settings={
            "run.warmup_cycles": "auto", "run.measure_cycles": 10_000}).points[0]
        latency = "mean_packet_latency_cycles"
        assert short[latency] == pytest.approx(long[latency], rel=0.02)
        same = run(load=point["offered_load"], settings={
            "run.warmup_cycles": point["warmup_cycles"]}).points[0]
        assert same == point
    # beyond saturation latency has no end: what arrives is enough
    [beyond] = run("ring:n=2,p=4", load=1, traffic=[(i, (i + 4) % 8, 1.0) for i in range(8)],
                   settings={"run.warmup_cycles": "auto"}).points
    assert beyond["saturated"] and beyond["warmup_cycles"] < 20_000


def test_a_fixed_warm_up_is_said_too():
    assert run().points[0]["warmup_cycles"] == 200


def test_classes_share_the_load():
    plain = run().points
    assert run(traffic_class=[{}]).points == plain
    [point] = run("torus:shape=4x4,p=1", load=0.4, traffic_class=[
        {"share": 3}, {"traffic": "neighbour", "packet_flits": 4},
    ], settings={"run.measure_cycles": 4000, "switch.virtual_channels": 8}).points
    uniform, near = point["classes"]
    assert uniform["offered_load"] == pytest.approx(0.3)
    assert near["offered_load"] == pytest.approx(0.1)
    assert point["offered_load"] == pytest.approx(0.4)
    for row in (uniform, near, point):
        assert row["accepted_load"] == pytest.approx(row["offered_load"], rel=0.05)
    packets = [sum(row["hop_histogram"]) for row in (uniform, near, point)]
    assert packets[2] == packets[0] + packets[1]
    # 0.3 packets of a flit against 0.1 / 4 of four
    assert packets[0] / packets[1] == pytest.approx(12, rel=0.15)
    # a neighbour is two switches away at most: the diagonal
    assert len(near["hop_histogram"]) <= 3
    assert "classes" not in plain[0]


def test_a_class_goes_first_where_the_router_says_so():
    across = [(i, (i + 4) % 8, 1.0) for i in range(8)]
    accepted = {}
    for priority in ("class", "round_robin"):
        # a link that carries a quarter, and each class wants 0.2
        [point] = run("ring:n=2,p=4", load=0.4, traffic=across, settings={
            "switch.priority": priority, "run.warmup_cycles": 1000, "run.measure_cycles": 4000,
        }, traffic_class=[{"priority": 0}, {"priority": 1}]).points
        accepted[priority] = [row["accepted_load"] for row in point["classes"]]
        assert sum(accepted[priority]) == pytest.approx(0.25, rel=0.02)
    late, first = accepted["class"]
    assert first > 2 * late
    assert accepted["round_robin"] == pytest.approx([0.125, 0.125], rel=0.03)


def test_a_process_that_cannot_make_a_load_ends_the_curve():
    # on a quarter of the time, a packet in each of these cycles
    found = run(load="auto", settings={"injection": "on_off:0.1,0.3", "run.measure_cycles": 2000})
    assert [point["offered_load"] for point in found.points] == [0.1, 0.2]
    assert found.saturation_throughput == 0.2
    with pytest.raises(fl.RefusalError, match="load: 0.3 packets a cycle"):
        run(load=0.3, settings={"injection": "on_off:0.1,0.3"})


@pytest.mark.parametrize(("words", "message"), [
    ("--seeds 0", "seeds: 0 is out of range; 1 to 1000"),
    ("--seeds 3 --set seeds=2", "seeds: given twice"),
    ("--set run.warmup_cycles=soon", "run.warmup_cycles: invalid warm-up"),
    ("--traffic-class share=0", "traffic_class 1: share: 0 is out of range"),
    ("--traffic-class share=x", "traffic_class 1: share: 'x' is no number"),
    ("--traffic-class share", "--traffic-class share: not KEY=VALUE"),
    ("--traffic-class colour=1", "traffic_class 1: colour: unknown field"),
    ("--traffic-class packet_flits=0", "traffic_class 1: packet_flits: 0 flits"),
    ("--traffic-class injection=foo", "traffic_class 1: injection: there is no 'foo'"),
    ("--traffic-class traffic=bit_reverse", "not a power of two"),
])
def test_bad_input_is_refused_in_one_line(words, message):
    done = flyloom("sim", "flit", NET, "--load", "0.1", *words.split())
    assert done.returncode == 2, done.stdout
    assert done.stderr.startswith("flyloom: ") and done.stderr.count("\n") == 1, done.stderr
    assert message in done.stderr


def test_classes_by_command_line_are_those_of_python():
    found = document("sim", "flit", NET, "--load", "0.3",
                     "--traffic-class", "share=2 traffic=shift:5", "--traffic-class",
                     "packet_flits=1=3,5=1", "--set", "run.warmup_cycles=200",
                     "run.measure_cycles=400")
    here = run(load=0.3, traffic_class=[
        {"share": 2.0, "traffic": "shift:5"}, {"packet_flits": "1=3,5=1"}])
    assert found["points"] == here.points


def test_classes_are_printed_under_their_load():
    """A class of three quarters offers 0.225 where the load is 0.3."""
    done = flyloom("sim", "flit", NET, "--load", "0.3", "--traffic-class", "share=3",
                   "--traffic-class", "share=1", "--set", "run.measure_cycles=200")
    rows = [line.split() for line in done.stdout.splitlines()[1:4]]
    assert [(row[0], " ".join(row[6:])) for row in rows] == [
        ("0.3", ""), ("0.225", "class 1"), ("0.075", "class 2")]


def test_where_nothing_is_sent_nothing_is_saturated(tmp_path):
    """A load of which no packet comes in a few cycles is not known to be too much; one flit is."""
    few = ("--set", "run.warmup_cycles=1", "run.measure_cycles=10")
    words = ("sim", "flit", NET, "--load", "0.00001", *few)
    [point] = document(*words)["points"]
    assert (point["accepted_load"], point["saturated"], point["deadlocked"]) == (0, None, False)
    assert "saturated" not in flyloom(*words).stdout
    [point] = document("sim", "flit", NET, "--load", "0.9", *few)["points"]
    assert point["saturated"] is True
    silent, mesh = tmp_path / "silent.cfg", "topology = mesh; k = 2; n = 2; traffic = uniform;\n"
    silent.write_text(f"{mesh}routing_function = dor; injection_rate = 0.0;\n")
    [point] = document("sim", "booksim", silent)["points"]
    assert (point["accepted_load"], point["saturated"]) == (0, None)
    assert "saturated" not in flyloom("sim", "booksim", silent).stdout


def test_a_load_that_sends_nothing_ends_no_search_for_saturation():
    """At low loads no packet of 9,999 flits enters in ten cycles: the search goes on."""
    found = document("sim", "flit", NET, "--set", "run.warmup_cycles=1", "run.measure_cycles=10",
                     "run.drain_cycles=0", "packet_flits=9999")
    silent = [point for point in found["points"] if point["saturated"] is None]
    assert silent and all(point["accepted_load"] == 0 for point in silent)
    loads = [point["offered_load"] for point in silent]
    assert "saturation_throughput" not in found or found["saturation_throughput"] >= min(loads)


def test_few_packets_are_no_evidence_of_saturation(tmp_path):
    """A twentieth of 200 packets may be missing by chance, but not of 20,000: nothing blocks any of
    them."""
    known = {}
    for measured in (1000, 100_000):
        for seed in range(12):
            [point] = run("ring:n=2,p=1", load=0.1, seed=seed, settings={
                "run.measure_cycles": measured, "switch.virtual_channels": 4}).points
            short = point["accepted_load"] < 0.97 * 0.1
            assert point["saturated"] is (None if short else False)
            known.setdefault(measured, set()).add(point["saturated"])
    assert known == {1000: {None, False}, 100_000: {False}}
    words = ("sim", "flit", "ring:n=2,p=1", "--load", "0.001", "--set", "run.measure_cycles=2000",
             "switch.virtual_channels=4", "run.warmup_cycles=0")
    for seed in range(9):
        shown = flyloom(*words, "--seed", seed).stdout
        [point] = document(*words, "--seed", seed)["points"]
        assert ("not known if saturated" in shown) == (
            point["saturated"] is None and point["accepted_load"] > 0)


@pytest.mark.parametrize("seed", [1, 4, 5])
def test_packets_that_come_once_in_a_while_do_not_wait_for_one_another(seed):
    """A packet that has just come, thousands of cycles after the last, has not stood since."""
    [point] = fl.simulate("ring:n=2,p=1", load=0.0003, seed=seed, threads=1, settings={
        "run.measure_cycles": 1_000_000, "switch.virtual_channels": 4}).points
    assert not point["deadlocked"] and sum(point["hop_histogram"]) > 500


@pytest.mark.parametrize("load", ["0", "-1", "1.5", "64.5", "nan", "0.5,2"])
def test_every_load_out_of_range_is_refused_with_the_same_range(load):
    first = next(x for x in load.split(",") if not 0 < float(x) <= 1)
    shown = "NaN" if first == "nan" else first
    done = flyloom("sim", "flit", NET, "--load", load)
    says = "is out of range; above 0, at most 1 for each rail of an endpoint, or auto"
    assert (done.returncode, done.stderr) == (2, f"flyloom: --load: {shown} {says}\n")


def test_the_range_of_loads_has_the_rails_of_the_network():
    done = flyloom("sim", "flit", "multi_plane:planes=2,of=ring:n=3,p=1", "--load", "2.5",
                   "--set", "switch.virtual_channels=4")
    says = "above 0, at most 1 for each rail of an endpoint, here 2, or auto"
    assert (done.returncode, done.stderr) == (2, f"flyloom: --load: 2.5 is out of range; {says}\n")


@pytest.mark.parametrize("load", ["0", "0.00001", "64.5", "nan"])
def test_every_load_of_packets_out_of_range_is_refused_with_the_same_range(load):
    done = flyloom("sim", "packet", NET, "--load", load)
    assert done.returncode == 2 and done.stderr.endswith("is out of range; 0.0001 to 64\n")


MESH = ("topology = mesh; k = 4; n = 2; routing_function = dor; traffic = uniform;\n"
        "sample_period = 300; num_vcs = 2; vc_buf_size = 4;\n")


@pytest.mark.parametrize(("more", "ended", "says"), [
    ("injection_rate = 0.1;", "converged", None),
    ("injection_rate = 0.9; latency_thres = 60.0;", "latency_thres", "passed latency_thres"),
    ("injection_rate = 0.3; max_samples = 3; warmup_periods = 2;", "max_samples",
     "ended after max_samples periods: latency or accepted load"),
    ("injection_rate = 0.3; max_samples = 1;", "not_warm", "while it still warmed up"),
])
def test_a_configuration_of_booksim_says_why_it_ended(tmp_path, more, ended, says):
    """The run reports what BookSim does: it aborts, or does not converge."""
    config = tmp_path / "mesh.cfg"
    config.write_text(MESH + more + "\n")
    assert document("sim", "booksim", config)["ended"] == ended
    lines = flyloom("sim", "booksim", config).stdout.splitlines()[2:]
    if says is None:
        assert lines == []
    else:
        assert len(lines) == 1 and says in lines[0]
