"""The message level over networks: the command, placements, experiments, critical paths."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import flyloom as fl
import pyarrow.parquet
import pytest
from checkout import ROOT
from cli_helpers import document, flyloom
from flyloom._core import RefusalError, message_schema
from message_runs import message

BYTES = 4001
ONE_SEND = "num_ranks 50\n" + "".join(
    "rank {} {{\n{}\n}}\n".format(
        rank, {0: f"send {BYTES}b to 49", 49: f"recv {BYTES}b from 0"}.get(rank, "calc 0")
    )
    for rank in range(50)
)
NET = "slim_fly:q=5,p=1"


@pytest.fixture
def goal(tmp_path):
    path = tmp_path / "one.goal"
    path.write_text(ONE_SEND)
    return path


def switches_visited(a: int, b: int) -> int:
    """The switches on the path, by the network's distances (checked elsewhere); endpoint i is on
    switch i."""
    return int(fl.network(NET).distances(a)[b]) + 1


def test_a_message_alone_takes_what_the_formula_says(goal):
    h = switches_visited(0, 49)
    wanted = 2 * 1500 + 90 * h + 25 * (h + 1) + (BYTES - 1) / 25  # 200 Gbit/s
    for more in ([], ["--engine", "min_hop"]):
        found = document("sim", "message", "--workload", goal, NET, "--o", 1500, *more)
        assert found["finish_ns"] == wanted
        assert found["network"]["switch_bytes"] == (BYTES - 1) * (h - 1)
    settings = ["--set", "switch.delay_ns=10", "link.latency_ns=3", "network.nic_ns=100",
                "link.rate_gbps=8"]
    found = document("sim", "message", "--workload", goal, NET, "--o", 200, *settings)
    assert found["finish_ns"] == 2 * 200 + 2 * 100 + 10 * h + 3 * (h + 1) + BYTES - 1


def test_ranks_are_where_the_placement_says(goal, tmp_path):
    places = tmp_path / "places.txt"
    places.write_text("# rank 0 on endpoint 7, rank 49 on endpoint 8\n7 "
                      + " ".join(str(e) for e in range(10, 50)) + " 0 1 2 3 4 5 6 9 8\n")
    h = switches_visited(7, 8)
    found = fl.simulate(NET, "message", workload=goal, placement=places, costs={"o": 1500})
    assert found.finish_ns == 3000 + 90 * h + 25 * (h + 1) + (BYTES - 1) / 25
    sends = {
        name: [i for i, size in enumerate(found.links["bytes"]) if size]
        for name, found in {
            name: fl.simulate(NET, "message", workload=goal, placement=name, seed=seed)
            for name, seed in [("linear", 0), ("random", 1), ("random_switches", 2), ("stripe", 0)]
        }.items()
    }
    assert sends["linear"] == sends["stripe"] != sends["random"] != sends["random_switches"]
    again = fl.simulate(NET, "message", workload=goal, placement="random", seed=1)
    assert [i for i, size in enumerate(again.links["bytes"]) if size] == sends["random"]


def test_files_of_ranks_and_channels(goal, tmp_path):
    ranks, channels = tmp_path / "r.csv", tmp_path / "c.csv"
    found = document("sim", "message", "--workload", goal, NET, "--ranks", ranks,
                     "--links", channels)
    with ranks.open() as rows:
        times = [float(row["finish_ns"]) for row in csv.DictReader(rows)]
    assert len(times) == 50 and max(times) == found["finish_ns"]
    with channels.open() as rows:
        used = [row for row in csv.DictReader(rows) if float(row["bytes"])]
    names = fl.network(NET).endpoint_names
    # from the endpoint in, over every switch on some path, to the endpoint
    assert {row["from"] for row in used} >= {names[0]} and names[49] in {r["to"] for r in used}
    into = [float(row["bytes"]) for row in used if row["from"] == names[0]]
    assert into == [BYTES - 1]


def test_measured_parameters_come_from_a_file(goal, tmp_path):
    file = tmp_path / "loggp.json"
    file.write_text(json.dumps({
        "L_ns": 700, "o_ns": 120.5, "g_ns": 40, "G_ns_per_byte": 0.25, "host": "a",
        "date": "2026-11-23",
    }))
    found = document("sim", "message", "--workload", goal, "--costs", file)
    assert found["finish_ns"] == 700 + 241 + (BYTES - 1) * 0.25
    found = document("sim", "message", "--workload", goal, "--costs", file, "--L", 50)
    assert found["finish_ns"] == 50 + 241 + (BYTES - 1) * 0.25
    for text, word in [('{"L_ns": 1}', "there is no o_ns"), ("[]", "no table"),
                       ('{"L_ns": "1"}', "is no number"), ("{", "loggp.json")]:
        file.write_text(text)
        refused = flyloom("sim", "message", "--workload", goal, "--costs", file)
        assert refused.returncode == 2 and word in refused.stderr, refused.stderr


def test_an_experiment_sweeps_networks_and_sizes(tmp_path, goal):
    (tmp_path / "e.toml").write_text("""\
schema = 1
name = "e"
seed = 5
[topology]
family = "slim_fly"
q = 5
p = 1
[sim.message]
workload = "alltoall_pairwise"
workload_options = { bytes = 1000 }
[sweep.grid]
"sim.message.workload_options.bytes" = [100, 10000]
"sim.message.placement" = ["linear", "random"]
""")
    done = fl.run(tmp_path / "e.toml", out=tmp_path / "out", workers=1)
    rows = pyarrow.parquet.read_table(Path(done.directory, "rows.parquet")).to_pylist()
    assert len(rows) == 4
    alone = [
        fl.simulate(NET, "message", workload="alltoall_pairwise", workload_options={"bytes": size},
                    placement=how, seed=5).finish_ns
        for size in (100, 10000) for how in ("linear", "random")
    ]
    assert sorted(row["sim_message_finish_ns"] for row in rows) == sorted(alone)
    assert len(set(alone)) == 4
    assert all(row["sim_message_messages"] == 50 * 49 for row in rows)
    (tmp_path / "f.toml").write_text(f"""\
schema = 1
name = "f"
[topology]
family = "slim_fly"
q = 5
p = 1
[sim.message]
workload = "{goal.name}"
""")
    done = fl.run(tmp_path / "f.toml", out=tmp_path / "out2", workers=1)
    [row] = pyarrow.parquet.read_table(Path(done.directory, "rows.parquet")).to_pylist()
    assert row["sim_message_finish_ns"] == message(goal, net=NET).finish_ns
    (tmp_path / "g.toml").write_text((tmp_path / "f.toml").read_text().replace("one.", "no."))
    refused = flyloom("run", tmp_path / "g.toml", "-o", tmp_path / "out3")
    assert refused.returncode == 2 and "neither a workload nor a file" in refused.stderr


def test_the_critical_path_says_what_dominates(goal, tmp_path):
    words = ["--costs", "loggopsim", "--critical-path"]
    reported = document("sim", "message", "--workload", goal, *words)["critical_path"]
    assert reported["derivatives"] == {"L": 1, "o": 2, "g": 0, "G": BYTES - 1, "O": 0}
    assert reported["parts_ns"]["bandwidth"] == (BYTES - 1) * 6
    h = switches_visited(0, 49)
    found = fl.simulate(NET, "message", workload=goal, costs="loggopsim", critical_path=True)
    parts = found.critical_path["parts_ns"]
    assert parts["latency"] == 90 * h + 25 * (h + 1) and parts["sharing"] == 0
    assert sum(parts.values()) == found.finish_ns
    work = found.critical_path["work"]
    busy = [(r, d) for r, d in zip(work["rank"], work["doing"], strict=True) if d != "computes"]
    assert busy == [(0, "sends"), (49, "receives")]
    for end in ("svg", "png", "html"):
        place = tmp_path / f"t.{end}"
        assert flyloom("sim", "message", "--workload", goal, "-o", place).returncode == 0
        assert place.stat().st_size > 2000
    assert "recv 4001b from 0" in (tmp_path / "t.html").read_text()


def test_sharing_is_reported_apart(tmp_path):
    # two senders to one receiver: each has half of its channel
    text = "num_ranks 3\nrank 0 {\nrecv 25001b from 1\nrecv 25001b from 2\n}\n" + "".join(
        f"rank {rank} {{\nsend 25001b to 0\n}}\n" for rank in (1, 2)
    )
    (tmp_path / "in.goal").write_text(text)
    found = message(tmp_path / "in.goal", net="fat_tree:leaves=1,spines=1,p=3",
                    costs={"o": 0}, critical_path=True)
    parts = found.critical_path["parts_ns"]
    assert (parts["bandwidth"], parts["sharing"]) == (1000, 1000)
    assert found.finish_ns == 2000 + 90 + 50


@pytest.mark.parametrize(("words", "said"), [
    (["--placement", "lineer"], "did you mean linear?"),
    (["--placement", "random", "--per-endpoint", "0"], "--per-endpoint: 0 is out of range"),
    (["--set", "network.switch_n=3"], "network.switch_n"),
    (["--set", "switch.delay_ns=-3"], "switch.delay_ns: -3 is out of range"),
    (["--set", "link.rate_gbps=0"], "link.rate_gbps: 0 is out of range"),
    (["--set", "selection=all"], "selection"),
    (["--set", "colour.x=1"], "unknown field `colour`"),
    (["--dialect", "loggops-v1"], "loggops-v1 has no network"),
    (["--lmc", "1"], "engine: none"),
    (["--engine", "min_hops"], "did you mean min_hop?"),
    (["--workload", "x bytes=1"], "--workload"),
])
def test_bad_input_is_refused_by_name(goal, words, said):
    refused = flyloom("sim", "message", "--workload", goal, NET, *words)
    assert refused.returncode == 2 and said in refused.stderr, refused.stderr


def test_the_page_has_every_parameter():
    """The page has those of the network with defaults, those of LogGOPS, and of `[sim.message]`."""
    page = (ROOT / "docs" / "message.md").read_text()
    schema = message_schema()
    network, costs = (schema["$defs"][name]["properties"] for name in ("Network", "CostSpec"))
    for name, one in network.items():
        rows = [line for line in page.splitlines() if f"`network.{name}`" in line and "|" in line]
        default = one.get("default")
        if default is None:
            reported = {"link_ns": "by length", "link_gbps": "the cable's"}[name]
        else:
            reported = default if isinstance(default, str) else f"{default:g}"
        assert len(rows) == 1 and reported in rows[0], name
    for letter in costs.keys() - {"preset"}:
        assert f"| `--{letter}` |" in page, letter
    for name in schema["properties"]:
        assert name in page, name


def test_more_that_is_refused(goal, tmp_path):
    small = flyloom("sim", "message", "--workload", goal, "torus:shape=3x3,p=1")
    assert small.returncode == 2 and "50 processes for 9 endpoints" in small.stderr
    (tmp_path / "p").write_text("0 1\n2 x\n")
    bad = flyloom("sim", "message", "--workload", goal, NET, "--placement", tmp_path / "p")
    assert bad.returncode == 2 and "p: line 2: there is no endpoint \"x\"" in bad.stderr
    (tmp_path / "p").write_text("0 1\n")
    short = flyloom("sim", "message", "--workload", goal, NET, "--placement", tmp_path / "p")
    assert short.returncode == 2 and "2 places for 50 ranks" in short.stderr
    alone = flyloom("sim", "message", "--workload", goal, "--placement", "random")
    assert alone.returncode == 2 and "placement: of a network, and there is none" in alone.stderr
    with pytest.raises(RefusalError, match="unknown field `load`"):
        fl.simulate(NET, "message", workload=goal, load=0.5)
    with pytest.raises(RefusalError, match="workload"):
        fl.simulate(NET, load=0.5, workload=str(goal))
    with pytest.raises(RefusalError, match="workload: what processes do"):
        fl.simulate(NET, "message", workloads=str(goal))


def test_a_cost_that_is_given_twice_is_refused(tmp_path):
    file = tmp_path / "costs.json"
    file.write_text('{"L_ns": 5, "o_ns": 1, "g_ns": 1, "G_ns_per_byte": 1}')
    words = ["sim", "message", "--workload", "alltoall_linear ranks=2 bytes=9"]
    for more in (["--costs", file], ["--L", "7"]):
        done = flyloom(*words, *more, "--set", "costs.L=9")
        assert (done.returncode, "given twice" in done.stderr) == (2, True), done.stderr
