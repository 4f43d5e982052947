"""One rate: what a network says of its cables holds in bills, packets and messages alike."""

from __future__ import annotations

import json

import flyloom as fl
import pytest
from cli_helpers import document, flyloom
from flyloom._core import RefusalError

PAIR = "complete:n=2,p=1"
SEND = "broadcast_binomial bytes=1000000000"
"""One rank sends 1e9 bytes to the other."""
FREE = {"L": 0, "o": 0, "g": 0, "G": 0, "O": 0, "S": 2**32 - 1}
FREE_MPI = {"mpi.eager_bytes": 2**32 - 1, "mpi.send_ns": 0, "mpi.gap_ns": 0,
            "mpi.send_ns_per_byte": 0}
"""Costs of messages at either level, without any time but that of the network."""
SLOW = {"flyloom": 1, "recipe": {"family": "file", "params": {}},
        "switches": [{"name": "a"}, {"name": "b"}],
        "links": [[0, 9, 1, 9, {"width": 1}]],
        "endpoints": [{"name": "x", "rails": [[0, 1]]}, {"name": "y", "rails": [[1, 1]]}]}
"""Two endpoints; the cable between their switches has a quarter of the rate of the others."""


@pytest.fixture
def slow(tmp_path):
    path = tmp_path / "slow.json"
    path.write_text(json.dumps(SLOW))
    return str(path)


@pytest.mark.parametrize("gbps", [25, 100, 200, 400, 800])
def test_1_gb_takes_8_gbit_over_the_rate_at_both_levels(gbps):
    """Besides, two switches of 90 ns and three cables of 25 ns; messages, whose first byte is a
    latency, one byte less. The costs of the preset, with a handshake, are under 3 microseconds."""
    net = f"{PAIR},gbps={gbps}"
    due_ns, path_ns = 8e9 / gbps, 2 * 90 + 3 * 25
    free = fl.simulate(net, "message", workload=SEND, costs=FREE)
    assert free.finish_ns == pytest.approx(due_ns - 8 / gbps + path_ns, abs=0.01)
    free = fl.simulate(net, "packet", workload=SEND, settings=FREE_MPI)
    assert free.points[0]["end_ns"] == pytest.approx(due_ns + path_ns, abs=0.01)
    for level in ("message", "packet"):
        found = fl.simulate(net, level, workload=SEND)
        end_ns = found.finish_ns if level == "message" else found.points[0]["end_ns"]
        assert 0 < end_ns - due_ns < 3000
        assert found.rates["source"] == "network"
        ends = [found.rates["lowest_gbps"], found.rates["highest_gbps"]]
        assert ends == pytest.approx([gbps] * 2)


@pytest.mark.parametrize(("gbps", "catalog"), [
    (100, "edr36-2024"), (200, "hdr40-2024"), (400, "products-2026"),
])
def test_the_bill_is_at_the_rate_of_the_network(gbps, catalog):
    net = f"slim_fly:q=5,p=4,gbps={gbps}"
    bill = fl.cost(net)
    assert (bill.link_gbps, bill.rate_source, bill.catalog) == (gbps, "network", catalog)
    asked = fl.cost("slim_fly:q=5,p=4", gbps=gbps)
    assert (asked.rate_source, asked.basis, asked.lines) == ("parameters", bill.basis, bill.lines)
    rates = {line.split(",")[5] for line in fl.plan(net).cables_csv.splitlines()[1:]}
    assert {float(rate) for rate in rates} == {gbps}


@pytest.mark.parametrize(("gbps", "catalog"), [(100, "edr36-2024"), (400, "products-2026")])
def test_sizes_are_priced_by_what_sells_at_their_rate(gbps, catalog):
    found = document("size", "-n", "500", "--radix", "36", "--families", "slim_fly", "--gbps",
                     str(gbps))
    assert found["basis"].startswith(f"{catalog} at {gbps} Gbit/s")
    row = found["members"][0]
    assert row["cost_usd"] == fl.cost(f"{row['network']},gbps={gbps}").cost_usd


def test_the_study_has_a_rate_of_its_own():
    assert fl.cost("dragonfly:h=7,gbps=40", mode="paper").cost_usd_per_endpoint == (
        fl.cost("dragonfly:h=7", mode="paper").cost_usd_per_endpoint)
    with pytest.raises(RefusalError, match="paper has the rate 40 Gbit/s, and the network says"):
        fl.cost("dragonfly:h=7,gbps=400", mode="paper")


@pytest.mark.parametrize("dialect", ["physical", "codes-slimfly-v1"])
@pytest.mark.parametrize("gbps", [100, 400])
def test_a_rate_of_the_network_is_one_of_the_parameters(dialect, gbps):
    run = {"dialect": dialect, "load": 0.4, "messages": 20, "seed": 3}
    own = fl.simulate(f"slim_fly:q=5,p=4,gbps={gbps}", "packet", **run)
    asked = fl.simulate("slim_fly:q=5,p=4", "packet", settings={"link.rate_gbps": gbps}, **run)
    usual = fl.simulate("slim_fly:q=5,p=4", "packet", **run)
    assert own.points[0]["digest"] == asked.points[0]["digest"] != usual.points[0]["digest"]
    assert [found.rates["source"] for found in (own, asked, usual)] == [
        "network", "parameters", "default"]
    ran = {"workload": "alltoall_pairwise bytes=65536"}
    own = fl.simulate(f"slim_fly:q=5,p=4,gbps={gbps}", "message", **ran)
    asked = fl.simulate("slim_fly:q=5,p=4", "message", settings={"link.rate_gbps": gbps}, **ran)
    assert own.finish_ns == asked.finish_ns


def test_a_parameter_goes_before_the_rate_of_the_network():
    settings = {"link.rate_gbps": 100}
    for level in ("packet", "message"):
        found = fl.simulate(f"{PAIR},gbps=400", level, workload=SEND, settings=settings)
        assert (found.rates["source"], found.rates["highest_gbps"]) == ("parameters", 100)
        end_ns = found.finish_ns if level == "message" else found.points[0]["end_ns"]
        assert 0 < end_ns - 8e7 < 3000


@pytest.mark.parametrize("gbps", [100, 400])
def test_a_slow_cable_keeps_its_part(slow, gbps):
    """The rate of the network is that of its fastest cables; the one of a lane has a quarter."""
    network = fl.network(slow, gbps=gbps)
    assert network.link_table["rate_gbps"].tolist() == [gbps / 4]
    for level in ("message", "packet"):
        found = fl.simulate(network, level, workload=SEND)
        end_ns = found.finish_ns if level == "message" else found.points[0]["end_ns"]
        assert 0 < end_ns - 8e9 / (gbps / 4) < 3000
        assert found.rates["lowest_gbps"] == pytest.approx(gbps / 4)
    plain = fl.simulate(slow, "message", workload=SEND)
    assert (plain.rates["source"], plain.rates["lowest_gbps"]) == ("cables", 50)
    with pytest.raises(RefusalError, match=r"a cable has 0\.2500 of the rate of the fastest"):
        fl.network(slow, gbps=10)


def test_a_rate_may_stand_wherever_a_network_is_named(tmp_path, slow):
    spec = tmp_path / "spec.toml"
    spec.write_text('family = "torus"\nshape = [4, 4]\ngbps = 400\n')
    beside = tmp_path / "beside.toml"
    beside.write_text('file = "slow.json"\ngbps = 400\n')
    inline = fl.network("torus:shape=4x4,gbps=400")
    for network in (fl.torus(shape=[4, 4], gbps=400), fl.network(spec),
                    fl.network("torus:shape=4x4", gbps=400),
                    fl.network("torus shape=4x4 gbps=400"), fl.network(inline, gbps=400)):
        assert network == inline
        assert (network.recipe, network.gbps) == ("torus:shape=4x4,gbps=400", 400.0)
    assert fl.network(beside) == fl.network(slow, gbps=400) != fl.network(slow)
    assert fl.network(f"file:path={slow},gbps=400") == fl.network(beside)
    edges = fl.network(fl.to_networkx(inline), 1, gbps=400)
    assert set(edges.link_table["rate_gbps"]) == {400}
    assert fl.network("torus:shape=4x4").gbps is None


def test_planes_have_the_rate_of_their_network():
    network = fl.network("multi_plane:planes=2,of=slim_fly:q=5,p=4,gbps=400")
    assert network.gbps == 400 and set(network.link_table["rate_gbps"]) == {400}
    assert network == fl.network("multi_plane:planes=2,gbps=400,of=slim_fly:q=5,p=4")
    assert fl.cost(network).rate_source == "network"
    with pytest.raises(RefusalError, match="the network says gbps=400"):
        fl.network("multi_plane:planes=2,gbps=200,of=slim_fly:q=5,p=4,gbps=400")


def test_the_rate_survives_files_and_copies(tmp_path):
    import pickle

    rated = fl.network("slim_fly:q=5,p=4,gbps=400")
    assert flyloom("design", rated.recipe, "-o", str(tmp_path / "a.json")).returncode == 0
    assert flyloom("design", "slim_fly:q=5,p=4", "--gbps", "400", "-o",
                   str(tmp_path / "b.json")).returncode == 0
    for copy in (fl.network(tmp_path / "a.json"), fl.network(tmp_path / "b.json"),
                 pickle.loads(pickle.dumps(rated))):
        assert copy == rated and copy.recipe == rated.recipe and copy.gbps == 400
    broken = rated.with_failures(links=[0])
    assert pickle.loads(pickle.dumps(broken)).gbps == broken.gbps == 400
    assert fl.route(rated, "min_hop").topology.gbps == 400
    edr = fl.network("slim_fly:q=5,p=4,gbps=100")  # ibsim knows no speed above HDR
    (tmp_path / "a.net").write_text(edr.to_text("netlist"))
    found = fl.network(tmp_path / "a.net")  # says its rates cable by cable
    assert found.gbps is None and set(found.link_table["rate_gbps"]) == {100}


def test_two_rates_of_one_network_are_one_error():
    rated = "slim_fly:q=5,p=4,gbps=400"
    said = "gbps: 200 Gbit/s, and the network says gbps=400; say it once, or twice the same"
    for words in (["cost", rated], ["plan", rated], ["cables", rated, "-o", "never"],
                  ["design", rated], ["sim", "packet", rated], ["export", rated, "--to", "simgrid"],
                  ["sim", "message", rated, "--workload", "barrier_tree"],
                  ["workload", "best", "barrier", "ranks=8", "--net", rated]):
        done = flyloom(*words, "--gbps", "200")
        assert (done.returncode, done.stdout) == (2, ""), words
        assert done.stderr == f"flyloom: {said}\n", words
    assert flyloom("cost", rated, "--gbps", "400").returncode == 0
    with pytest.raises(RefusalError, match="the network says gbps=400"):
        fl.compare([rated], samples=0, gbps=200)


@pytest.mark.parametrize(("words", "said"), [
    (["design", "slim_fly:q=5,gbps=fast"], "slim_fly: gbps: \"fast\" is not a number"),
    (["design", "slim_fly:q=5,gbps=56"], "slim_fly: gbps: no cable has 56 Gbit/s; nearest: 54.545"),
    (["design", "slim_fly:q=5", "--gbps", "401"], "gbps: no cable has 401 Gbit/s; nearest: 400"),
    (["sim", "message", "--workload", "barrier_tree ranks=3", "--gbps", "400"],
     "--gbps: of a network, and there is none"),
    (["workload", "best", "barrier", "ranks=3", "--gbps", "400"],
     "--gbps: of a network, and there is none"),
])
def test_what_is_no_rate_is_refused(words, said):
    done = flyloom(*words)
    assert done.returncode == 2 and done.stderr.startswith(f"flyloom: {said}"), done.stderr


def test_tables_have_the_rate_of_their_network(tmp_path):
    folder = str(tmp_path / "tables")
    assert flyloom("route", "slim_fly:q=5,p=4,gbps=400", "-o", folder).returncode == 0
    found = document("sim", "packet", folder, "--messages", "5")
    assert (found["rates"]["source"], found["rates"]["lowest_gbps"]) == ("network", 400)
    done = flyloom("sim", "packet", folder, "--gbps", "400")
    assert done.returncode == 2 and "holds tables with their network" in done.stderr
    with pytest.raises(RefusalError, match="tables have theirs"):
        fl.simulate(folder, "packet", gbps=400)


def test_levels_take_a_rate_from_python_but_for_flits():
    assert fl.packet("slim_fly:q=5,p=4", gbps=400, messages=5).rates["source"] == "network"
    found = fl.message("slim_fly:q=5,p=4", gbps=400, workload="barrier_tree")
    assert found.rates["highest_gbps"] == 400
    with pytest.raises(RefusalError, match="level flit counts in cycles"):
        fl.simulate("slim_fly:q=5,p=4", "flit", gbps=400)
    with pytest.raises(RefusalError, match="of a network, and there is none"):
        fl.simulate(None, "message", gbps=400, workload="barrier_tree ranks=3")
    one = fl.simulate("slim_fly:q=5,p=4,gbps=400", "flit", load=0.2)
    other = fl.simulate("slim_fly:q=5,p=4", "flit", load=0.2)
    assert one.points == other.points


EBB = {"flyloom_measurement": 1, "what": "ebb", "hosts": ["0", "1"], "size_bytes": 1_000_000,
       "rounds": [{"pairs": [[0, 1]], "rank_gbps": [48, 48]}]}
"""Two ranks that sent each other 1e6 bytes at 48 Gbit/s."""


@pytest.mark.parametrize("gbps", [100, 400])
def test_measured_bandwidth_stands_beside_that_of_the_rate(tmp_path, gbps):
    """A pair alone has the rate but for the time of the first byte, 2 x 90 + 3 x 25 ns."""
    (tmp_path / "ebb.json").write_text(json.dumps(EBB))
    words = ("measure", "--compare", str(tmp_path / "ebb.json"), "--net")
    found = document(*words, f"{PAIR},gbps={gbps}")
    due = 8e6 / (8e6 / gbps + 255)
    assert found["predicted_gbps"] == pytest.approx(due, rel=1e-4)
    assert found == document(*words, PAIR, "--gbps", str(gbps))
    assert (found["rates"]["source"], found["rates"]["highest_gbps"]) == ("network", gbps)
    done = flyloom("measure", "--gbps", "400", "--times", "x.json")
    assert done.returncode == 2 and "--gbps: only of --compare" in done.stderr


def test_pages_of_packets_and_messages_have_the_rate(tmp_path):
    ran = [("packet", "--messages", "2"), ("message", "--workload", "barrier_tree")]
    for level, *words in ran:
        page = tmp_path / f"{level}.html"
        done = flyloom("sim", level, f"{PAIR},gbps=400", *words, "-o", str(page))
        assert done.returncode == 0, done.stderr
        assert "inks of 400 Gbit/s" in page.read_text()


def test_each_output_says_the_rate_and_whose_it_is(slow):
    def printed(*words):
        done = flyloom(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    message = ("--workload", "barrier_tree")
    for net, said in [
        (f"{PAIR},gbps=400", "400 Gbit/s, as the network says"),
        (slow, "50 to 200 Gbit/s, as the cables say"),
    ]:
        assert f"links of {said}" in printed("sim", "packet", net, "--messages", "2")
        assert said in printed("sim", "message", net, *message)
    assert "links of 107.4 Gbit/s, the default here" in printed("sim", "packet", PAIR)
    assert "200 Gbit/s, the default here" in printed("sim", "message", PAIR, *message)
    given = ("--set", "link.rate_gbps=100")
    assert "100 Gbit/s, as link.rate_gbps says" in printed("sim", "packet", PAIR, *given)
    assert "100 Gbit/s, as link.rate_gbps says" in printed("sim", "message", PAIR, *message, *given)
    best = printed("workload", "best", "barrier", "--net", f"{PAIR},gbps=400")
    assert "links of 400 Gbit/s, as the network says" in best
    for words, said in [
        ([f"{PAIR},gbps=400"], "400 (the network's)"), ([PAIR], "400 (the catalogue's)"),
        ([PAIR, "--gbps", "200"], "200 (--gbps)"),
    ]:
        [line] = [one for one in printed("cost", *words).splitlines() if "priced at" in one]
        assert line.endswith(f"  {said}")
