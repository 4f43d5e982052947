"""The flit level by command line and API: promised names, every selection, tables, bad input."""

from __future__ import annotations

import json

import flyloom as fl
import pytest
from checkout import ROOT
from cli_helpers import document, flyloom
from flyloom._core import RefusalError, flit_schema
from parameter_tables import said, shown

NET = "slim_fly:q=5,p=4"
TREE = "fat_tree:levels=3,k=4"
SHORT = {"run.warmup_cycles": 200, "run.measure_cycles": 300}
WORDS = [word for key, value in SHORT.items() for word in ("--set", f"{key}={value}")]
STUCK = {"lane_use": "any", "switch.virtual_channels": 1, "switch.buffer_flits": 1}
NAMES = {
    "offered_load", "accepted_load", "mean_packet_latency_cycles", "mean_network_latency_cycles",
    "p99_packet_latency_cycles", "mean_hops", "mean_switches", "cycles", "switched_flits",
    "saturated", "deadlocked",
}


def run(source: object, **given: object) -> fl.Result:
    """A short run; settings besides its length are given as ``settings``."""
    more = given.pop("settings", {})
    return fl.simulate(source, "flit", settings={**SHORT, **more}, **{"load": 0.1, **given})


def test_the_command_has_the_promised_names():
    found = document("sim", "flit", NET, "--load", "0.1,0.2", *WORDS)
    assert found["verified"] is True
    assert "saturation_throughput" not in found
    assert [point["offered_load"] for point in found["points"]] == [0.1, 0.2]
    for point in found["points"]:
        assert set(point) >= NAMES
        assert point["accepted_load"] == pytest.approx(point["offered_load"], rel=0.05)
        assert point["mean_network_latency_cycles"] <= point["mean_packet_latency_cycles"]
        assert point["mean_packet_latency_cycles"] <= point["p99_packet_latency_cycles"]
        packets = sum(point["hop_histogram"])
        assert packets == sum(count for _, count in point["latency_histogram"])
        links = sum(i * count for i, count in enumerate(point["hop_histogram"]))
        assert point["mean_hops"] == pytest.approx(links / packets)
        assert point["mean_switches"] == pytest.approx(links / packets + 1)
        # diameter 2: three switches at most
        assert len(point["hop_histogram"]) <= 3


def test_auto_finds_what_a_single_channel_carries():
    # two switches of four endpoints that all send across one link: a quarter each
    across = [(i, (i + 4) % 8, 1.0) for i in range(8)]
    found = run("ring:n=2,p=4", traffic=across, load="auto", settings={"run.measure_cycles": 3000})
    assert found.saturation_throughput == pytest.approx(0.25, rel=0.05)
    assert any(point["saturated"] for point in found.points)
    loads = [point["offered_load"] for point in found.points]
    assert loads == sorted(loads)


@pytest.mark.parametrize("more", [[], ["--selection", "ugal_g"], ["--engine", "dfsssp"]])
def test_threads_change_nothing(more):
    words = ["sim", "flit", NET, "--load", "0.2,0.6", "--seed", "5", *WORDS, *more]
    one = document(*words, "--threads", "1")
    assert document(*words, "--threads", "2") == one


def test_a_seed_is_a_result():
    first, same, other = (run(NET, seed=seed).to_dict() for seed in (1, 1, 2))
    assert first == same
    assert first["points"] != other["points"]


@pytest.mark.parametrize("selection", ["minimal", "valiant", "ugal_l", "ugal_g"])
@pytest.mark.parametrize("net", [
    NET, "dragonfly:h=2", "torus:shape=4x4,p=1", "jellyfish:n=20,k=4,p=2",
])
def test_selections_run_proved(net, selection):
    found = run(net, selection=selection, settings={"switch.virtual_channels": 16})
    assert found.verified
    [point] = found.points
    assert not point["deadlocked"]
    # each packet that was created has arrived, since the run drains
    assert sum(point["hop_histogram"]) > 0
    diameter = fl.structure(fl.network(net)).diameter
    legs = 1 if selection == "minimal" else 2
    assert len(point["hop_histogram"]) - 1 <= legs * diameter


def test_anca_runs_on_trees():
    found = run(TREE, selection="anca")
    assert found.verified
    [point] = found.points
    # up to a core and down: 1, 3 or 5 switches
    assert {i for i, n in enumerate(point["hop_histogram"]) if n} == {0, 2, 4}


@pytest.mark.parametrize(("net", "engine", "layers", "lanes"), [
    (NET, "dfsssp", None, 4), (NET, "nue", None, 8), (NET, "layered", 4, 4),
    (TREE, "up_down", None, 4), (TREE, "ftree", None, 4),
])
def test_tables_of_engines_run_verified(net, engine, layers, lanes):
    for selection in ("minimal", "ugal_l"):
        found = run(net, engine=engine, layers=layers, selection=selection,
                    settings={"switch.virtual_channels": lanes})
        assert found.verified
        assert found.engine == engine
        assert not found.points[0]["deadlocked"]


def test_a_routing_and_its_folder_are_the_same(tmp_path):
    assert flyloom("route", NET, "-e", "dfsssp", "-o", tmp_path / "tables").returncode == 0
    here = run(fl.route(NET, "dfsssp")).to_dict()
    there = run(tmp_path / "tables").to_dict()
    assert here["points"] == there["points"]
    assert here["points"] == run(NET, engine="dfsssp").points


@pytest.mark.parametrize(("net", "cycles"), [
    ("hypercube:n=4,p=1", 20000), ("torus:shape=5x5,p=1", 20000), (NET, 4000),
])
def test_an_empty_network_takes_three_cycles_a_switch_and_two(net, cycles):
    # 3 a switch: four stages (route, channel, crossbar, transfer), two in a cycle, and its cable
    found = run(net, load=0.002, settings={
        "run.measure_cycles": cycles, "switch.virtual_channels": 8,
    })
    [point] = found.points
    latency, hops = point["mean_packet_latency_cycles"], point["mean_switches"]
    assert latency == pytest.approx(3 * hops + 2, rel=0.01)
    # uniform traffic to any endpoint, the sender's own included: the mean over all pairs of
    # switches, each with itself too, and the first switch
    graph = fl.network(net)
    mean = fl.structure(graph).mean_distance
    switches = len(graph.switch_names)
    assert hops == pytest.approx(1 + mean * (switches - 1) / switches, rel=0.05)


def test_one_switch_and_two_endpoints():
    [alone] = run("ring:n=1,p=2").points
    assert alone["mean_switches"] == 1
    assert alone["mean_packet_latency_cycles"] == pytest.approx(5, abs=0.5)
    for selection in ("minimal", "valiant", "ugal_l", "ugal_g"):
        [two] = run("ring:n=2,p=1", selection=selection).points
        assert two["mean_switches"] <= 3
        [hub] = run("star:n=4", selection=selection).points
        assert not hub["deadlocked"]


def test_what_has_failed_carries_nothing():
    whole = fl.network(NET)
    cut = whole.with_failures(switches=[0], links=[7])
    lanes = {"switch.virtual_channels": 16}
    for given in ({}, {"engine": "dfsssp"}, {"selection": "ugal_l"}):
        found = run(cut, settings=lanes, **given)
        assert found.verified
        assert not found.points[0]["deadlocked"]
    # traffic of what hangs on the failed switch
    dead = "host-0000"
    with pytest.raises(RefusalError, match="host-0000"):
        run(cut, traffic=[(dead, "host-0100", 1.0)])


def test_a_deadlock_is_found_and_reported():
    found = run("torus:shape=8,p=4", load=1.0, settings=STUCK, unverified=True)
    assert not found.verified
    [point] = found.points
    assert point["deadlocked"] and len(point["circle"]) >= 2
    words = [word for key, value in STUCK.items() for word in ("--set", f"{key}={value}")]
    done = flyloom("sim", "flit", "torus:shape=8,p=4", "--load", "1", "--unverified", *words,
                   *WORDS)
    assert done.returncode == 0
    assert "not proved free of deadlock" in done.stdout
    assert "packets wait for one another in a cycle" in done.stdout


@pytest.mark.parametrize(("words", "message"), [
    ("--load 0", "load: 0 is out of range; above 0"),
    ("--load 1.5", "load: 1.5 is out of range"),
    ("--load abc", "load: invalid load 'abc'; 0.5, 0.1,0.2"),
    ("--load nan", "load: NaN is out of range"),
    ("--load 0.1:0.9:0", "load: invalid load '0.1:0.9:0'"),
    ("--load 0.1:inf:0.1", "load: invalid load '0.1:inf:0.1', which is too many"),
    ("--load 0.1:1:1e-9", "load: invalid load '0.1:1:1e-9', which is too many"),
    ("--set switch.buffer_flits=0", "switch.buffer_flits: 0 is out of range; 1 to"),
    ("--set switch.virtual_channels=0", "switch.virtual_channels: 0 is out of range"),
    ("--set switch.virtual_channels=300", "switch.virtual_channels: invalid value"),
    ("--set switch.virtual_channels=abc", "switch.virtual_channels: 'abc' is no whole number"),
    ("--set switch.foo=1", "switch.foo: unknown field"),
    ("--set switch.vc_allocator=foo", "switch.vc_allocator: there is no 'foo'"),
    ("--set switch=1", "switch: integer `1` where a table should be"),
    ("--set switch=1 --set switch.buffer_flits=8", "switch.buffer_flits: switch is no table"),
    ("--set choosing.candidates=100 --selection ugal_l", "choosing.candidates: 100"),
    ("--set foo=1", "unknown field `foo`"),
    ("--set foo", "--set foo: not KEY=VALUE"),
    ("--set run.measure_cycles=9", "--set run.measure_cycles"),  # a second time
    ("--selection minimal --set selection=valiant", "selection: given twice"),
    ("--set packet_flits=abc", "packet_flits: 'abc'"),
    ("--set packet_flits=0", "packet_flits: 0 flits; sizes in flits and their weights, 1 to"),
    ("--set packet_flits=1=0,3=1", "packet_flits: a weight of 0; "),
    ("--set load=0.3 --set load=0.4", "given twice"),
    ("--set injection=foo", "injection: there is no 'foo'"),
    ("--set link_latency_cycles=0", "link_latency_cycles: 0 is out of range"),
    ("--set lane_use=any", "routing: not proved free of deadlock"),
    ("--set switch.virtual_channels=1", "routing: not proved free of deadlock"),
    ("--selection foo", "selection: there is no 'foo'"),
    ("--selection anca", "selection: anca on a network without levels"),
    ("--traffic bit_reverse", "bit_reverse among 200 endpoints, not a power of two"),
    ("--traffic foo", "traffic: 'foo' is neither a name nor a file"),
    ("--engine foo", "engine: there is no engine 'foo'"),
    ("--engine min_hop", "routing: not proved free of deadlock"),
    ("--engine dfsssp --selection valiant", "selection: valiant on tables"),
    ("--engine nue", "switch.virtual_channels: the tables use 8 lanes, the router has 4"),
    ("--layers 4", "engine: none"),
    ("--threads 0", "--threads: 0 is out of range"),
    ("--seed -1", "--seed: invalid value: integer `-1`"),
])
def test_bad_input_is_refused_in_one_line(words, message):
    done = flyloom("sim", "flit", NET, *WORDS, *words.split())
    assert done.returncode == 2, done.stdout
    assert done.stdout == ""
    assert done.stderr.startswith("flyloom: ") and done.stderr.count("\n") == 1, done.stderr
    assert message in done.stderr


@pytest.mark.parametrize("words", ["min_hop --unverified", "nue --set switch.virtual_channels=8"])
def test_what_was_refused_runs_when_asked(words):
    found = document("sim", "flit", NET, "--load", "0.1", *WORDS, "--engine", *words.split())
    assert found["verified"] is ("nue" in words)


@pytest.mark.parametrize(("given", "message"), [
    ({"load": []}, "load: there is none"), ({"load": object()}, "is no number"),
    ({"load": [0.1, "x"]}, "load: "), ({"threads": 0}, "threads: 0 is out of range"),
    ({"seed": -1}, "seed: "),
    ({"level": "packets"}, "level: there is no 'packets'; did you mean packet? flit"),
    ({"seed": 4, "settings": {"seed": 3}}, "seed: given twice"),
    ({"settings": {"switch": {"foo": 1}}}, "switch.foo: unknown field"),
    ({"traffic": [(0, 0, 1.0)]}, "traffic: nothing is sent"), ({"lmc": 2}, "engine: none"),
])
def test_the_api_refuses_as_the_command_does(given, message):
    with pytest.raises(RefusalError) as refused:
        fl.simulate(NET, **{"load": 0.1, **given})
    assert message in str(refused.value)


MESH = """
topology = mesh; k = 4; n = 2; routing_function = dor; injection_rate = 0.1;
sample_period = 200; warmup_periods = 1; max_samples = 3;
"""


@pytest.fixture
def mesh(tmp_path):
    path = tmp_path / "mesh.cfg"
    path.write_text(MESH)
    return path


def test_a_configuration_runs(mesh):
    found = document("sim", "booksim", mesh, "injection_rate=0.2")
    assert found["verified"] is True and found["classes"] == [] and found["notes"] == []
    [point] = found["points"]
    assert set(point) >= NAMES and point["offered_load"] == 0.2
    again = fl.booksim(str(mesh), "injection_rate=0.2", threads=2)
    assert json.loads(again.to_json())["points"] == found["points"]
    # a 4-ary 2-mesh: a mean of 5/4 hops in each dimension, over all pairs, and the first switch
    assert point["mean_switches"] == pytest.approx(3.5, rel=0.05)


@pytest.mark.parametrize(("more", "message"), [
    (["foo=1"], "foo: there is no such key"), (["injection_rate=abc"], "injection_rate: abc"),
    (["num_vcs=0"], "num_vcs: 0 is too small"), (["vc_buf_size=0"], "vc_buf_size: 0"),
    (["topology=foo"], "topology: foo is not supported"), (["=3"], "argument =3"),
    (["traffic=zz"], "traffic: there is no pattern zz"),
    (["topology=anynet", "network_file=none", "routing_function=min"], "network_file: there is no"),
    (["absent.cfg"], "absent.cfg: cannot be read"), (["bad.cfg"], "bad.cfg: line 2"),
])
def test_bad_configurations_are_refused_in_one_line(mesh, more, message):
    (mesh.parent / "bad.cfg").write_text("k = 4;\nn = ;\n")
    done = flyloom("sim", "booksim", "mesh.cfg", *more, cwd=mesh.parent)
    assert done.returncode == 2, done.stdout
    assert done.stderr.startswith("flyloom: ") and done.stderr.count("\n") == 1, done.stderr
    assert message in done.stderr


def test_a_configuration_that_is_none(mesh):
    done = flyloom("sim", "booksim", "k=4")
    assert done.returncode == 2 and "configuration: there is no file" in done.stderr


def test_the_page_has_every_parameter_with_its_default():
    page = (ROOT / "docs" / "flit.md").read_text()
    arguments = {"load", "selection", "traffic", "traffic_class", "unverified", "seed", "seeds"}
    assert said("flit.md") == shown(flit_schema(), arguments)
    selections = [one["const"] for one in flit_schema()["$defs"]["Selection"]["oneOf"]]
    assert set(selections) >= {"minimal", "valiant", "ugal_l", "ugal_g", "anca"}
    for selection in selections:
        assert f"| `{selection}` |" in page
    for name in NAMES:
        assert f"`{name}`" in page.partition("## What is found")[2]


def test_latencies_of_a_network_file_are_of_one_direction(tmp_path):
    """Two routers, an endpoint each: half of all packets stay, a quarter goes in each direction. A
    channel that is 40 cycles longer makes the mean of all packets 10 longer."""

    def mean(there: str, back: str) -> float:
        (tmp_path / "net").write_text(
            f"router 0 node 0 router 1{there}\nrouter 1 node 1 router 0{back}\n")
        (tmp_path / "cfg").write_text(
            "topology = anynet; routing_function = min; network_file = net;\n"
            "injection_rate = 0.02; sample_period = 20000; num_vcs = 2; vc_buf_size = 64;\n")
        found = document("sim", "booksim", tmp_path / "cfg", cwd=tmp_path)
        return found["points"][0]["mean_packet_latency_cycles"]

    neither, one, both = mean("", ""), mean(" 41", ""), mean(" 41", " 41")
    assert one - neither == pytest.approx(10, abs=0.7)
    assert both - neither == pytest.approx(20, abs=1)
    assert mean("", " 41") - neither == pytest.approx(10, abs=0.7)
    (tmp_path / "net").write_text("router 0 node 0 router 1 41\nrouter 1 node 1\n")
    alone = document("sim", "booksim", tmp_path / "cfg", cwd=tmp_path)
    assert alone["points"][0]["mean_packet_latency_cycles"] == one, "one end alone tells the link"


@pytest.mark.parametrize("level", [
    ("flit", "--load", "0.1"), ("packet", "--load", "0.1", "--messages", "2"),
])
def test_a_name_without_an_ending_is_answered_by_the_endings(level, tmp_path):
    done = flyloom("sim", level[0], "ring:n=4,p=1", *level[1:], "-o", "NAME", cwd=tmp_path)
    assert done.returncode == 2 and not list(tmp_path.iterdir())
    for ending in (".svg", ".png", ".html", ".json"):
        assert ending in done.stderr, done.stderr
