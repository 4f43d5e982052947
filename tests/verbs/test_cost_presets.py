"""Presets of what messages cost: where their figures are from, and that every output names them."""

import json
import math
import re
from pathlib import Path
from statistics import median

import flyloom as fl
import pyarrow.parquet
import pytest
from cli_helpers import document, flyloom
from flyloom._core import RefusalError, parts
from message_runs import message

# Zambre, Grodowitz, Chandramowlishwaran, Shamis: Breaking Band, ICPP 2019 (arXiv 2002.02563): a
# message of 8 bytes over ConnectX-4, ns; the parts add up to the latency that the paper models
POST = 26.56 + 175.42
PROGRESS = 61.63 + 224.66
PCIE, WIRE, SWITCH, INTO_MEMORY = 137.49, 274.81, 108.0, 240.96
LATENCY, INJECTION = 1387.02, 264.97
O_BAND = (POST + PROGRESS) / 2
# Azure's pages of virtual machines: half a round trip of a byte, ns, and Gbit/s by OSU's tests
HDR_NS, HDR_GBPS, EDR_GBPS, NDR_GBPS = 1200.0, 192.0, 96.8, 400.0
ROCE_MORE_NS, ROCE_GBPS = 200.0, 196.08  # ib_iface.c of UCX; ib_write_bw over 200 Gbit/s
EAGER = 65535  # of LogGOPSim
# three runs of `flyloom measure` on one host
MEASURED = {
    "L": (107.133, 162.233, 127.5), "o": (90.684, 93.813, 91.687), "g": (106.93, 108.24, 103.2),
    "G": (0.028365, 0.024794, 0.035692), "O": (0.08296, 0.075827, 0.082647),
}
BAND = {"o": O_BAND, "g": INJECTION, "O": 0, "S": EAGER}
DERIVED = {
    "hdr": {**BAND, "L": HDR_NS - 2 * O_BAND, "G": 8 / HDR_GBPS},
    "ndr": {**BAND, "L": HDR_NS - 2 * O_BAND, "G": 8 / NDR_GBPS},
    "edr": {**BAND, "L": 2 * PCIE + WIRE + SWITCH + INTO_MEMORY, "G": 8 / EDR_GBPS},
    "roce": {**BAND, "L": HDR_NS - 2 * O_BAND + ROCE_MORE_NS, "G": 8 / ROCE_GBPS},
    # demo/hpc/03_run_loggopsim.sh of github.com/spcl/atlahs
    "slingshot": {"L": 3700, "o": 200, "g": 5, "G": 0.04, "O": 0, "S": 0},
    # btl_vader_eager_limit of Open MPI 4.1.4
    "shared_memory": {**{letter: median(runs) for letter, runs in MEASURED.items()}, "S": 4096},
    "loggopsim": {"L": 2500, "o": 1500, "g": 1000, "G": 6, "O": 0, "S": 65535},
}
RING = "allreduce_ring ranks=8 bytes=1000"


def test_the_parts_of_a_latency_add_up():
    assert 2 * O_BAND + DERIVED["edr"]["L"] == pytest.approx(LATENCY)


def test_every_parameter_follows_from_the_figures_that_are_cited():
    rows = {row["name"]: row for row in parts("costs")}
    codes = rows.pop("codes")
    assert rows.keys() == DERIVED.keys()
    for name, wanted in DERIVED.items():
        found = {param["name"]: param["default"] for param in rows[name]["params"]}
        assert found.keys() == wanted.keys()
        for letter, value in wanted.items():
            # times to a picosecond, those of a byte to a femtosecond
            digits = 6 if letter in "GO" else 3
            assert found[letter] == pytest.approx(value, abs=0.51 * 10.0**-digits), (name, letter)
        assert rows[name]["source"] and all(";" in one["doc"] for one in rows[name]["params"])
        run = message(fl.make_workload("barrier_dissemination", ranks=4), costs=name)
        assert run.parameters.to_dict() == found and run.costs.preset == name
    found = {param["name"]: param["default"] for param in codes["params"]}
    assert found == {"mpi.send_ns": 3510, "mpi.send_ns_per_byte": 0.55, "mpi.gap_ns": 10,
                     "mpi.eager_bytes": 8192}


def doubling(costs, p, n):
    """Recursive doubling: every round all send and receive the whole vector."""
    return math.log2(p) * (costs["L"] + 2 * costs["o"] + (n - 1) * costs["G"])


def rabenseifner(costs, p, n):
    """Halving, then doubling: rounds of n/2, n/4, ..., n/p bytes, and back."""
    rounds = [n >> k for k in range(1, int(math.log2(p)) + 1)]
    return 2 * sum(costs["L"] + 2 * costs["o"] + (m - 1) * costs["G"] for m in rounds)


@pytest.mark.parametrize("name", ["hdr", "loggopsim"])
def test_the_quickest_allreduce_is_that_of_the_closed_forms(name):
    costs = {param["name"]: param["default"] for row in parts("costs") if row["name"] == name
             for param in row["params"]}
    [row] = fl.best_workload("allreduce", ranks=64, bytes=65536, costs={"preset": name, "S": 2**20})
    took = {one.algorithm: one.finish_ns for one in row.all}
    assert took["allreduce_recursive_doubling"] == pytest.approx(doubling(costs, 64, 65536))
    assert took["allreduce_rabenseifner"] == pytest.approx(rabenseifner(costs, 64, 65536))
    assert row.algorithm == "allreduce_rabenseifner"
    assert row.costs.preset == name and list(row.costs.given) == ["S"]


def test_outputs_name_the_preset_its_source_and_what_was_given():
    words = ["sim", "message", "--workload", RING]
    usual = flyloom(*words)
    assert re.search(r"^costs +hdr \(L=711.73, .*source: Breaking Band", usual.stdout, re.MULTILINE)
    given = flyloom(*words, "--costs", "ndr", "--o", 100, "--S", 7)
    assert re.search(r"^costs +ndr but for o, S \(L=711.73, o=100, ", given.stdout, re.MULTILINE)
    net = flyloom(*words, "slim_fly:q=3,p=2", "--selection", "one,spread")
    assert "costs: hdr (o=244.135, g=264.97, O=0, S=65535; L and G are the network's)" in net.stdout
    other = flyloom(*words, "slim_fly:q=3,p=2", "--costs", "ndr").stdout
    # the rate of InfiniBand NDR is 400 Gbit/s
    assert "L and G are the network's, not those of ndr (for its rate --set link.rate_gbps=400)" \
        in other
    best = flyloom("workload", "best", "barrier", "ranks=4", "--costs", "slingshot")
    assert "costs: slingshot (L=3700, o=200, g=5, " in best.stdout
    found = document(*words, "--costs", "edr", "--g", 3)
    assert found["parameters"] == {"L": 898.75, "o": 244.135, "g": 3, "G": 0.082645, "O": 0,
                                   "S": 65535}
    assert found["costs"]["preset"] == "edr" and found["costs"]["given"] == ["g"]
    assert "2002.02563" in found["costs"]["source"]


def test_the_dialect_of_whole_nanoseconds_has_the_defaults_of_its_simulator():
    words = ["sim", "message", "--workload", RING, "--dialect", "loggops-v1"]
    found = document(*words)
    assert found["parameters"] == DERIVED["loggopsim"] and found["costs"]["preset"] == "loggopsim"
    refused = flyloom(*words, "--costs", "hdr")
    assert refused.returncode == 2 and "no whole number" in refused.stderr


def test_a_file_is_named_with_what_it_does_not_have(tmp_path):
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"L_ns": 5, "o_ns": 1, "g_ns": 1, "G_ns_per_byte": 1}))
    done = flyloom("sim", "message", "--workload", RING, "--costs", file)
    assert f"{file}; O and S of hdr (L=5, o=1, g=1, G=1, O=0, S=65535)" in done.stdout
    found = message(fl.make_workload("barrier_dissemination", ranks=4), costs=file)
    assert found.costs.file == str(file) and found.parameters.L == 5


def test_names_that_there_are_not_are_refused_with_the_list(tmp_path):
    names = ", ".join(DERIVED)
    refused = flyloom("sim", "message", "--workload", RING, "--costs", "codes")
    assert refused.returncode == 2 and "is of the packet level alone; hdr, " in refused.stderr
    best = ["workload", "best", "barrier", "ranks=4"]
    for words in (["sim", "message", "--workload", RING], best):
        refused = flyloom(*words, "--costs", "hrd")
        assert refused.returncode == 2, refused.stderr
        assert f"there is no preset 'hrd'; did you mean hdr? {names}" in refused.stderr
    with pytest.raises(RefusalError, match="there is no preset 'x'"):
        fl.simulate(None, "message", workload=RING, costs={"preset": "x"})
    (tmp_path / "x.toml").write_text(EXPERIMENT.replace('"hdr", "ndr"', '"hdr", "nrd"'))
    refused = flyloom("run", tmp_path / "x.toml", "-o", tmp_path / "out")
    assert refused.returncode == 2 and "did you mean ndr?" in refused.stderr


EXPERIMENT = """\
schema = 1
name = "x"
[topology]
family = "slim_fly"
q = 3
p = 1
[sim.message]
workload = "alltoall_pairwise"
workload_options = { bytes = 100 }
[sweep.grid]
"sim.message.costs" = ["hdr", "ndr"]
"""


def test_an_experiment_sweeps_presets_and_its_report_names_them(tmp_path):
    (tmp_path / "x.toml").write_text(EXPERIMENT)
    done = fl.run(tmp_path / "x.toml", out=tmp_path / "out", workers=1)
    rows = pyarrow.parquet.read_table(f"{done.directory}/rows.parquet").to_pylist()
    assert [row["sim_message_costs"] for row in rows] == ["hdr", "ndr"]
    page = Path(done.directory, "report.html").read_text("utf-8")
    assert "Costs of messages: hdr (Breaking Band" in page
    assert "Costs of messages: ndr (Breaking Band" in page


def test_the_packet_level_takes_presets(tmp_path):
    """A message of 8 bytes takes the o of both its ends besides the network, at both levels; CODES
    3,510 ns and 0.55 ns a byte."""
    goal = tmp_path / "one.goal"
    goal.write_text("num_ranks 2\nrank 0 {\na: send 8b to 1 tag 1\n}\n"
                    "rank 1 {\nb: recv 8b from 0 tag 1\n}\n")
    words = ["ring:n=3,p=1", "--workload", goal]

    def took(*more: object) -> float:
        found = document("sim", "packet", *words, *more)
        return max(job["max_comm_ns"] for job in found["jobs"])

    over = took("--set", "mpi.send_ns=0", "mpi.send_ns_per_byte=0")
    assert took("--costs", "codes") == pytest.approx(over + 3510 + 8 * 0.55, abs=0.01)
    assert took() == took("--costs", "hdr")
    for name, o in (("hdr", 244.135), ("loggopsim", 1500.0)):
        assert took("--costs", name) == pytest.approx(over + 2 * o, abs=0.01)
    slower = [document("sim", "message", *words, "--costs", name)["finish_ns"]
              for name in ("hdr", "loggopsim")]
    assert took("--costs", "loggopsim") - took("--costs", "hdr") == pytest.approx(
        slower[1] - slower[0], abs=0.01)
    # a number of one's own goes before the preset's
    assert took("--costs", "hdr", "--set", "mpi.send_ns=10") == pytest.approx(over + 10, abs=0.01)


def test_the_packet_level_names_its_costs():
    words = ["sim", "packet", "ring:n=3,p=1", "--workload", "allreduce_ring bytes=8 ranks=3"]
    assert re.search(r"^costs: codes \(mpi: send_ns=3510, .*--costs hdr is the default of sim "
                     "message$",
                     flyloom(*words, "--costs", "codes").stdout, re.MULTILINE)
    assert re.search(r"^costs: hdr \(mpi: send_ns=488.27, send_ns_per_byte=0, gap_ns=264.97, "
                     r"eager_bytes=65536;", flyloom(*words).stdout, re.MULTILINE)
    of_codes = document("sim", "packet", "slim_fly:q=5,p=1", "--workload", words[-1],
                        "--dialect", "codes-slimfly-v1")["parameters"]
    assert of_codes["costs"] == "codes" and of_codes["mpi"]["send_ns"] == 3510
    asked = document(*words, "--costs", "ndr")["parameters"]
    assert asked["costs"] == "ndr" and asked["mpi"]["gap_ns"] == 264.97
    refused = flyloom(*words, "--costs", "hdrr")
    assert refused.returncode == 2
    assert "there is no preset 'hdrr'" in refused.stderr and "codes" in refused.stderr
