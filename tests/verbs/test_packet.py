"""The packet level: the command, Python and experiments; the model itself is tested in Rust."""

import json
import re

import flyloom as fl
import pytest
from checkout import ROOT
from cli_helpers import document, flyloom
from flyloom._core import RefusalError, packet_schema
from flyloom.support.machine import processors
from parameter_tables import said, shown

NET = "slim_fly:q=5,p=4"
GBPS_OF_GIB = 2**33 / 1e9
"""Gbit/s of a GiB/s, the unit that CODES has rates in."""
NAMES = {
    "offered_load", "accepted_load", "saturated", "accepted_gbps", "packets",
    "messages", "mean_hops", "mean_switches",
    "mean_latency_ns",
    "p50_latency_ns", "p99_latency_ns", "max_latency_ns", "nonminimal_packets", "end_ns", "events",
    "windows", "rollbacks", "efficiency", "wall_s", "peak_rss_mib", "digest", "overtaken_packets",
}
T_NS = 4096e9 / (12.5 * 2**30)
"""Time of a packet on a link."""
ARGUMENTS = {"load", "selection", "traffic", "unverified", "seed", "seeds", "dialect", "messages",
             "message_bytes", "rail", "sync", "workload", "compute", "collectives", "placement",
             "background", "traffic_class", "top"}


def run(source: object, **given: object) -> fl.Result:
    return fl.simulate(source, "packet", **given)


def test_the_command_has_the_promised_names():
    words = ["--traffic", "uniform", "--messages", "5", "--message-bytes", "10000",
             "--load", "0.1,0.3"]
    found = document("sim", "packet", NET, *words, "--set", "link.latency_ns=25")
    assert found["verified"] is True
    assert [point["offered_load"] for point in found["points"]] == [0.1, 0.3]
    for point in found["points"]:
        assert set(point) >= NAMES
        # three packets a message, of 4096, 4096 and 1808 bytes; about one in 200 is to oneself
        assert point["packets"] == 3 * point["messages"] and 970 < point["messages"] <= 1000
        assert point["p50_latency_ns"] <= point["p99_latency_ns"]
        assert point["p99_latency_ns"] <= point["max_latency_ns"] * 1.02
    asked = found["parameters"]
    assert (asked["message_bytes"], asked["link"]["latency_ns"]) == (10000, 25)


def test_the_page_has_every_parameter_with_its_default():
    page = (ROOT / "docs" / "packet.md").read_text()
    assert said("packet.md") == shown(packet_schema(), ARGUMENTS, whole=True)
    for name in NAMES:
        assert f"`{name}`" in page.partition("## What is found")[2]
    for dialect in packet_schema()["$defs"]["Dialect"]["oneOf"]:
        assert f"`{dialect['const']}`" in page


@pytest.mark.parametrize("words", [
    "--sync threads --threads 2", "--sync threads --threads 3", "--sync optimistic --threads 2",
    "--sync optimistic --threads 3 --set undo=forced", "--threads 4",
    "--sync optimistic --threads 2 --set undo=hostile ahead_ns=400",
])
def test_engines_find_the_same(words):
    given = ["sim", "packet", "fit_fly:q=5,p=3", "--load", "0.4,0.8", "--selection", "adaptive",
             "--set", "switch.virtual_channels=8", "--seed", "3"]
    changes = ("wall_s", "peak_rss_mib", "windows", "rollbacks", "efficiency")

    def points(more: list[str]) -> list[dict]:
        return [{key: value for key, value in point.items() if key not in changes}
                for point in document(*given, *more)["points"]]

    assert points(words.split()) == points(["--threads", "1"])


@pytest.mark.parametrize(("net", "pay"), [
    ("complete:n=4,p=1", 1),  # 20 ports with those of endpoints
    ("slim_fly:q=4,p=3", 1),  # 32 routers of 6 links and 3 endpoints: 384 ports
    (NET, 2),  # 50 routers of 7 links and 4 endpoints: 750 ports
])
def test_threads_are_no_more_than_ports_pay_for(net, pay):
    """One thread has one window, which ends with the run; several meet as often as links allow."""
    def windows(threads: int) -> int:
        found = run(net, load=0.1, messages=20, sync="threads", threads=threads)
        return found.points[0]["windows"]

    assert windows(1) < 10
    assert (windows(64) > 100) is (min(pay, processors()) > 1)


def test_rates_follow_from_what_is_offered():
    # a permutation that no link between routers limits: all of the load is accepted
    [point] = run("complete:n=4,p=1", load=0.6, messages=2000, traffic="shift:1").points
    assert point["accepted_gbps"] / GBPS_OF_GIB == pytest.approx(0.6 * 12.5, rel=0.05)
    # two rails of one rate
    net = "multi_plane:planes=2,of=complete:n=4,p=1"
    [point] = run(net, load=1.6, messages=2000, traffic="shift:1").points
    assert point["accepted_gbps"] / GBPS_OF_GIB == pytest.approx(1.6 * 12.5, rel=0.05)
    # four endpoints of a router share one link: each gets a quarter of its rate
    [point] = run("complete:n=2,p=4", load=1.0, messages=2000, traffic="shift:4").points
    assert point["accepted_gbps"] / GBPS_OF_GIB == pytest.approx(12.5 / 4, rel=0.02)
    assert point["busiest_link_use"] > 0.97


def test_two_flows_share_an_endpoint(tmp_path):
    """Each wants 0.8 of a link and gets half of it; alone it gets all that it wants."""
    rows = tmp_path / "pairs.csv"
    rows.write_text("0,2,1\n1,2,1\n")
    words = ["sim", "packet", "complete:n=3,p=1", "--traffic", str(rows), "--load", "0.4,0.8"]
    few, many = document(*words)["points"]
    assert (few["saturated"], many["saturated"]) == (False, True)
    # 40,000 packets at the lower load: three standard deviations of a Poisson number
    assert few["accepted_load"] == pytest.approx(0.4, rel=0.015)
    assert many["accepted_load"] == pytest.approx(0.5, rel=1e-3)
    # rates are for each of three endpoints, of which two send
    assert many["accepted_gbps"] / GBPS_OF_GIB == pytest.approx(12.5 / 3, rel=1e-3)
    heads, first, second, *_ = flyloom(*words).stdout.splitlines()
    assert heads.split()[:2] == ["offered", "accepted"] and "saturated" not in first
    assert second.split()[:2] == ["0.8", "0.5"] and second.endswith("saturated")


def test_what_is_accepted_stands_beside_what_is_offered():
    """A run of a few messages an endpoint has the slowest endpoint's time in its rate."""
    [point] = run(NET, load=0.3).points
    assert point["accepted_load"] == pytest.approx(0.3, rel=0.02)
    assert point["accepted_gbps"] / GBPS_OF_GIB == pytest.approx(0.3 * 12.5, rel=0.02)
    assert point["saturated"] is False
    [whole] = run(NET, load=0.3, messages=30).points
    assert whole["accepted_load"] < 0.25 and whole["saturated"] is None
    found = run(NET, load=0.3, settings={"run.warmup_ns": 5000, "run.measure_ns": 20000})
    assert found.parameters["run"] == {"warmup_ns": 5000, "measure_ns": 20000, "drain_ns": 25000}
    assert found.parameters["messages"] is None
    # packets that 200 links carry in that time at 0.3 of their rate
    assert found.points[0]["packets"] == pytest.approx(0.3 * 200 * 20000 / T_NS, rel=0.05)


def test_without_load_it_is_the_flit_level():
    """A packet of 8 flits, with a cycle for every flit, has the same latency at both levels."""
    for net in ("torus:shape=6x4,p=1", NET, "dragonfly:h=2"):
        flit_ns = T_NS / 8
        [flits] = fl.simulate(net, "flit", load=0.002, traffic="shift:1", settings={
            "packet_flits": "8", "run.measure_cycles": 50_000, "switch.virtual_channels": 8,
        }).points
        # a router of the flit level takes as many cycles as two paths differ by
        [[near], [far]] = (
            fl.simulate("ring:n=9,p=1", "flit", load=0.002, traffic=f"shift:{step}", settings={
                "packet_flits": "8", "run.measure_cycles": 50_000, "switch.virtual_channels": 8,
            }).points for step in (1, 2))
        a_hop = far["mean_network_latency_cycles"] - near["mean_network_latency_cycles"]
        rest = near["mean_network_latency_cycles"] - 2 * a_hop
        due = rest + a_hop * flits["mean_switches"]
        assert flits["mean_network_latency_cycles"] == pytest.approx(due, rel=0.01)
        # with such routers a packet takes the same, but for the link into the first one
        [point] = run(net, load=0.002, traffic="shift:1", messages=200, settings={
            "link.latency_ns": 0, "switch.delay_ns": a_hop * flit_ns,
            "switch.virtual_channels": 8}).points
        due_ns = T_NS + a_hop * flit_ns * point["mean_switches"]
        assert point["mean_latency_ns"] == pytest.approx(due_ns, rel=0.002)
        assert point["mean_switches"] == pytest.approx(flits["mean_switches"], rel=0.03)


def test_classes_share_an_endpoint_by_their_weights():
    """Both want more than they get: shares are as weights; in Python the same as by the command."""
    words = ["sim", "packet", "complete:n=2,p=1", "--load", "3", "--traffic", "shift:1",
             "--set", "end_ns=1e+06"]
    found = document(*words, "--traffic-class", "weight=1",
                     "--traffic-class", "weight=4 message_bytes=1000")
    shares = [one["accepted_gbps"] / GBPS_OF_GIB / 12.5 for one in found["points"][0]["classes"]]
    assert shares == pytest.approx([0.2, 0.8], abs=0.01)
    [point] = run("complete:n=2,p=1", load=3, traffic="shift:1", settings={"end_ns": 1e+06},
                  traffic_class=[{"weight": 1}, {"weight": 4, "message_bytes": 1000}]).points
    assert point["digest"] == found["points"][0]["digest"]
    assert point["classes"] == found["points"][0]["classes"]


def test_traffic_of_the_users_own(tmp_path):
    rows = tmp_path / "pairs.csv"
    rows.write_text("0,5,1\n7,2,1\n")
    [point] = document("sim", "packet", NET, "--traffic", str(rows), "--messages", "9",
                       "--load", "0.2")["points"]
    assert point["messages"] == 18


def test_an_experiment_has_its_columns(tmp_path):
    file = tmp_path / "packets.toml"
    file.write_text("""
schema = 1
name = "packets"
[topology]
family = "slim_fly"
q = 5
p = 3
[sim.packet]
load = 0.4
messages = 5
traffic_class = [{share = 3}, {share = 1, priority = 1}]
[sweep.grid]
"sim.packet.selection" = ["minimal", "valiant"]
""")
    done = flyloom("run", str(file), "-o", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    import pyarrow.parquet as parquet

    [table] = (tmp_path / "out").rglob("rows.parquet")
    rows = parquet.read_table(table).to_pylist()
    assert [row["sim_packet_offered_load"] for row in rows] == [0.4, 0.4]
    hops = [row["sim_packet_mean_hops"] for row in rows]
    assert 1 < hops[0] < 2 < hops[1]
    assert rows[0]["sim_packet_nonminimal_packets"] == 0 < rows[1]["sim_packet_nonminimal_packets"]


@pytest.mark.parametrize(("words", "why"), [
    ("--load auto", "load: auto is of the flit level"),
    ("--load 1.5e-9", "load:"),
    ("--load 0", "load:"),
    ("--dialect codes", "dialect"),
    ("--dialect codes-dally-v1", "a dragonfly"),
    ("--dialect codes-slimfly-v1 --selection par", "minimal, valiant, ugal_l"),
    ("--dialect codes-slimfly-v1 --engine dfsssp", "tables"),
    ("--selection ugal_g --set switch.virtual_channels=8", "ugal_l"),
    ("--selection valiant --set switch.virtual_channels=2", "not proved free of deadlock"),
    ("--rail none", "rail"),
    ("--messages 0", "--messages"),
    ("--messages 5 --set run.measure_ns=1000", "run.measure_ns: messages says how long"),
    ("--set run.measure_ns=0", "run.measure_ns"),
    ("--message-bytes 0", "--message-bytes"),
    ("--set link.latency_ns=-1", "link.latency_ns"),
    ("--set link.local_buffer_bytes=100", "link.local_buffer_bytes"),
    ("--set switch.colour=1", "switch.colour"),
        ("--traffic shift:x", "shift"),
    ("--set switch.arbitration=youngest", "arbitration"),
    ("--dialect codes-slimfly-v1 --set switch.arbitration=oldest", "switch.arbitration"),
    ("--traffic-class share=1 --traffic-class weight=0", "traffic_class 2: weight"),
    ("--traffic-class share", "--traffic-class"),
    ("--traffic-class weight=x", "traffic_class 1: weight: 'x' is no number"),
    ("--traffic-class process=bernoulli", "process"),
    ("--dialect codes-slimfly-v1 --traffic-class share=1", "codes-slimfly-v1 has no"),
    ("--set workload_class=[1]", "workload_class"),
    pytest.param("--set link.latency_ns=0 switch.delay_ns=0 switch.credit_ns=0 --sync threads"
                 " --threads 2", "lookahead", marks=pytest.mark.skipif(
                     processors() < 2, reason="one thread needs no lookahead")),
])
def test_what_cannot_be_is_refused(words, why):
    done = flyloom("sim", "packet", NET, *words.split())
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("flyloom: ") and done.stderr.count("\n") == 1
    assert why in done.stderr


def test_arguments_of_other_levels_are_refused():
    for given in ({"critical_path": True}, {"workload": "x"}, {"places": 3}):
        with pytest.raises(RefusalError):
            run(NET, **given)
    with pytest.raises(RefusalError, match="dialect"):
        fl.simulate(NET, "flit", dialect="physical")


def test_it_is_drawn(tmp_path):
    words = ["sim", "packet", NET, "--load", "0.2,0.6", "--messages", "5"]
    for name in ("a.svg", "a.html", "a.png", "a.json"):
        done = flyloom(*words, "-o", str(tmp_path / name))
        assert done.returncode == 0 and f"written to {tmp_path / name}" in done.stdout
    assert "mean latency (ns)" in (tmp_path / "a.svg").read_text()
    page = (tmp_path / "a.html").read_text()
    assert "<svg" in page and "http" not in re.sub(r"http://www.w3.org/\S+", "", page)
    assert len(json.loads((tmp_path / "a.json").read_text())["points"]) == 2
    assert flyloom(*words, "-o", str(tmp_path / "a.txt")).returncode == 2


@pytest.mark.parametrize("level", ["flit", "packet"])
def test_traffic_of_a_file_is_called_alike_wherever_it_is(level, tmp_path):
    file = tmp_path / "asked.csv"
    file.write_text("src,dst,amount\n0,5,1\n1,6,1\n")
    found = document("sim", level, "slim_fly:q=3,p=1", "--traffic", file, "--load", 0.1)
    assert found["traffic"] == found["parameters"]["traffic"] == str(file)
