"""Traces at the packet level: commands, Python, experiments; what CODES found of a real trace."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import flyloom as fl
import networkx as nx
import polars
import pytest
from cli_helpers import flyloom
from external import AMG, needs_amg
from flyloom import RefusalError

NET = "slim_fly:q=5,p=4"
LITTLE = "amg_like:p=3,levels=2,base_bytes=20000"
JOB = {"name", "ranks", "max_comm_ns", "mean_comm_ns", "mean_latency_ns", "mean_hops",
       "mean_switches", "messages", "packets", "bytes"}


def found(*words: str) -> dict:
    done = flyloom("sim", "packet", *words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@needs_amg
@pytest.mark.parametrize(("net", "dialect", "selection", "longest", "mean", "hops"), [
    ("slim_fly:q=13,p=9", "codes-slimfly-v1", "adaptive", 371.606, 369.727, 2.687114),
    ("megafly:leaves=18,spines=18,p=18,h=18,g=10,arrangement=codes", "codes-dfplus-v1", "par",
     355.332, 353.296, 1.590492),
])
def test_codes_found_the_same_of_amg(net, dialect, selection, longest, mean, hops):
    """Runs of CODES: packets and messages the same, times within 1.5 %."""
    seen = []
    for seed in range(4):  # detours are drawn: means differ by 0.2 % between seeds
        job, = found(net, "--dialect", dialect, "--selection", selection, "--workload", str(AMG),
                     "--collectives", "codes", "--seed", str(seed))["jobs"]
        assert (job["ranks"], job["messages"], job["packets"]) == (27, 16820, 18764)
        assert job["max_comm_ns"] / 1e3 == pytest.approx(longest, rel=0.015)
        assert job["mean_comm_ns"] / 1e3 == pytest.approx(mean, rel=0.015)
        seen.append(job["mean_switches"])
    assert sum(seen) / len(seen) == pytest.approx(hops, rel=0.005)


def test_jobs_have_all_their_fields():
    whole = found(NET, "--workload", LITTLE, "--workload", "mg_like:p=2,levels=1,base_bytes=300",
                  "--placement", "random",
                  "--background", "ranks=40,intensity=0.2,interval_ns=5000")
    first, second, behind = whole["jobs"]
    assert set(first) == set(behind) >= JOB
    for job in whole["jobs"]:
        assert job["mean_latency_ns"] <= job["p99_latency_ns"] <= job["max_latency_ns"]
        # a message is not there before its last packet
        assert job["max_message_latency_ns"] >= job["max_latency_ns"]
    assert [job["name"] for job in whole["jobs"]] == [
        LITTLE, "mg_like:p=2,levels=1,base_bytes=300", "background",
    ]
    assert behind["max_comm_ns"] is None and behind["ranks"] == 40
    point, = whole["points"]
    assert point["offered_load"] is None
    assert point["packets"] == sum(job["packets"] for job in whole["jobs"])
    # 8 ranks on the corners of a cube, a message to each of three neighbours, and a sum of 8 bytes
    # by recursive doubling: three rounds
    assert second["messages"] == 8 * 3 + 8 * 3


def test_seeds_and_engines(tmp_path):
    words = [NET, "--workload", LITTLE, "--placement", "random", "--background",
             "ranks=40,intensity=0.2,interval_ns=5000"]
    one = found(*words, "--seed", "1")
    assert one["jobs"] != found(*words, "--seed", "2")["jobs"]
    for sync in ("threads", "optimistic"):
        other = found(*words, "--seed", "1", "--sync", sync, "--threads", "2")
        assert other["jobs"] == one["jobs"]
        assert other["points"][0]["digest"] == one["points"][0]["digest"]


def test_a_file_says_where_processes_are(tmp_path):
    goal = tmp_path / "two.goal"
    goal.write_text("num_ranks 2\nrank 0 {\nl1: send 10b to 1 tag 1\n}\n"
                    "rank 1 {\nl1: recv 10b from 0 tag 1\n}\n")
    hops = {}
    for name, text in (("near", "0 1"), ("far", "0 199"), ("same", "7 7")):
        places = tmp_path / name
        places.write_text(text)
        whole = found(NET, "--workload", str(goal), "--placement", str(places))
        hops[name] = whole["jobs"][0]["mean_switches"]
    # rates of one switch, of switches two links apart at most, of one endpoint
    assert hops["near"] == 1 and hops["far"] in (2, 3) and hops["same"] is None
    (tmp_path / "none").write_text("0 555")
    done = flyloom("sim", "packet", NET, "--workload", str(goal), "--placement",
                   str(tmp_path / "none"))
    assert done.returncode == 2 and "line 1" in done.stderr


def test_calculations_take_time_where_that_is_asked_for():
    times = {}
    for compute in ("off", "on"):
        result = fl.simulate(
            NET, "packet", workload="stencil_2d:ranks=16,bytes=64,iterations=3,compute_ns=50000",
            compute=compute, settings={"ranks": True},
        )
        ranks = result.points[0]["ranks"]
        times[compute] = max(ranks["end_ns"]) / 1e3
        assert result.jobs[0]["max_comm_ns"] / 1e3 < 60
    assert times["off"] < 60 and times["on"] > 150


def test_schedules_of_python_are_jobs():
    made = fl.make_workload("alltoall_linear", ranks=4, bytes=100)
    both = fl.simulate(NET, "packet", workload=[made, made], placement=list(range(8)))
    assert [job["ranks"] for job in both.jobs] == [4, 4]
    assert [job["messages"] for job in both.jobs] == [12, 12]


@pytest.mark.parametrize(("words", "why"), [
    ("--workload amg_like:p=9,levels=1,base_bytes=8", "729"),
    ("--workload nothing:p=9", "nothing"),
    ("--workload no_such_file.goal", "no_such_file.goal"),
    ("--workload amg_like:p=2", "levels"),
    (f"--workload {LITTLE} --compute maybe", "compute"),
    (f"--workload {LITTLE} --collectives some", "collectives"),
    (f"--workload {LITTLE} --placement nowhere", "nowhere"),
    (f"--workload {LITTLE} --background ranks", "--background"),
    (f"--workload {LITTLE} --background ranks=40", "intensity"),
    (f"--workload {LITTLE} --background ranks=40,intensity=x", "intensity: 'x' is no number"),
    (f"--workload {LITTLE} --background ranks=40,intensity=0.1,colour=1", "colour"),
    (f"--workload {LITTLE} --background ranks=400,intensity=0.1", "427"),
    ("--background ranks=40,intensity=0.1", "workload"),
])
def test_what_cannot_be_is_refused(words, why):
    done = flyloom("sim", "packet", NET, *words.split())
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("flyloom: ") and done.stderr.count("\n") == 1
    assert why in done.stderr


def test_what_does_not_end_is_refused(tmp_path):
    goal = tmp_path / "alone.goal"
    goal.write_text("num_ranks 2\nrank 0 {\nl1: send 10b to 1 tag 1\n}\n"
                    "rank 1 {\nl1: recv 10b from 0 tag 2\n}\n")
    for more in ([], ["--background", "ranks=9,bytes=100"]):
        done = flyloom("sim", "packet", NET, "--workload", str(goal), *more)
        assert done.returncode == 2
        assert "rank 1, operation 1: recv 10b from 0 tag 2" in done.stderr


@needs_amg
def test_traces_that_are_cut_are_refused(tmp_path):
    for file in AMG.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    last = max(tmp_path.glob("*.bin"))
    whole = last.read_bytes()
    last.write_bytes(whole[:len(whole) // 2])
    done = flyloom("sim", "packet", NET, "--workload", str(tmp_path))
    assert done.returncode == 2 and last.name in done.stderr
    last.unlink()
    done = flyloom("sim", "packet", NET, "--workload", str(tmp_path))
    assert done.returncode == 2 and "26" in done.stderr


EXPERIMENT = '''
schema = 1
name = "traces"
seed = 1
topology = {{ family = "slim_fly", q = 5, p = 4 }}

[sim.packet]
workload = ["{workload}", "mg_like:p=2,levels=1,base_bytes=300"]
background = {{ ranks = 90, intensity = 0.0, interval_ns = 5000.0 }}
placement = "random"
seed = 7
{more}

[sweep.grid]
"sim.packet.background.intensity" = [0.0, 0.4]
"sim.packet.collectives" = ["real", "codes"]
'''


def test_experiments_sweep_jobs(tmp_path):
    goal = tmp_path / "ring.goal"
    fl.convert_workload(fl.make_workload("allreduce_ring", ranks=9, bytes=90000), goal)
    file = tmp_path / "traces.toml"
    file.write_text(EXPERIMENT.format(workload=goal.name, more=""))
    fl.run(file, out=tmp_path / "out")
    written, = (tmp_path / "out").rglob("rows.parquet")
    times = polars.read_parquet(written)["sim_packet_max_comm_ns"].to_list()
    assert len(times) == 4
    alone = fl.simulate(NET, "packet", workload=[goal, "mg_like:p=2,levels=1,base_bytes=300"],
                        placement="random", seed=7)
    # the first trace has no collective operations left: alone it is the same with both rules
    due = alone.jobs[0]["max_comm_ns"]
    assert sum(time == pytest.approx(due, abs=1e-6) for time in times) == 2
    assert all(time > due for time in times if time != pytest.approx(due, abs=1e-6))


def test_experiments_say_what_they_lack(tmp_path):
    file = tmp_path / "traces.toml"
    file.write_text(EXPERIMENT.format(workload="nowhere.goal", more=""))
    with pytest.raises(RefusalError, match="sim.packet.workload"):
        fl.run(file, out=tmp_path / "out")


def test_times_beyond_the_clock_are_refused(tmp_path):
    """2^64 picoseconds are 1.8e16 ns: half of that twice wrapped around."""
    trace = tmp_path / "long.goal"
    trace.write_text("num_ranks 2\nrank 0 {\na: calc 9223372036854775\nb: calc 9223372036854775\n"
                     "b requires a\nc: send 1b to 1\nc requires b\n}\n"
                     "rank 1 {\nc: recv 1b from 0\n}\n")
    done = flyloom("sim", "packet", "complete:n=2,p=1", "--workload", trace, "--compute", "on")
    assert done.returncode == 2 and "rank 0 computes for more than" in done.stderr


RANGE_NS = 2**63 // 1000  # times are whole picoseconds below 2^63


def chained(file, calculations):
    """One calculation a rank, each after a message from the rank before."""
    lines = [f"num_ranks {len(calculations)}"]
    for rank, ns in enumerate(calculations):
        lines += [f"rank {rank} {{", f"c: calc {ns}"]
        if rank > 0:
            lines += [f"r: recv 8b from {rank - 1} tag 1", "c requires r"]
        if rank + 1 < len(calculations):
            lines += [f"s: send 8b to {rank + 1} tag 1", "s requires c"]
        lines.append("}")
    file.write_text("\n".join(lines) + "\n")
    return file


@pytest.mark.parametrize("sync", ["sequential", "threads", "optimistic"])
def test_times_of_chains_over_ranks_are_exact_or_refused(tmp_path, sync):
    """No rank computes for longer than times can say, but all of them one after another do."""
    words = ["complete:n=4,p=1", "--sync", sync, "--threads", "2", "--set", "ranks=true"]
    each = (RANGE_NS - 1_000_000) // 4
    trace = str(chained(tmp_path / "chain.goal", [each] * 4))
    free, = found(*words, "--workload", trace)["points"]
    full, = found(*words, "--workload", trace, "--compute", "on")["points"]
    # everything of a chain comes after everything before it
    ends = zip(full["ranks"]["end_ns"], free["ranks"]["end_ns"], strict=True)
    for rank, (end_ns, free_ns) in enumerate(ends):
        # the last sends of ranks are beside what comes after them
        assert end_ns == pytest.approx((rank + 1) * each + free_ns, rel=4e-16)
    past = str(chained(tmp_path / "past.goal", [each, each, each, each + 1_000_000]))
    for more in ([], ["--background", "ranks=2,bytes=8,interval_ns=1000000000000"]):
        network = ["complete:n=4,p=2", *words[1:]]
        done = flyloom("sim", "packet", *network, "--workload", past, "--compute", "on", *more)
        assert done.returncode == 2 and done.stdout == ""
        assert "107 days" in done.stderr and "out of range" in done.stderr
        assert done.stderr.count("\n") == 1


def test_times_of_dumpi_are_exact_or_refused(tmp_path):
    """Traces of DUMPI are of 65,535 s at most: longer ones are scaled."""
    each_ns = 60_000 * 10**9
    first = chained(tmp_path / "chain.goal", [each_ns] + 2 * [0])
    fl.convert_workload(first, tmp_path / "chain.dumpi")
    for scale, code in ((150, 0), (154, 2)):
        file = tmp_path / f"{scale}.goal"
        done = flyloom("workload", "convert", tmp_path / "chain.dumpi", file,
                       f"scale_compute={scale}")
        assert done.returncode == 0, done.stderr
        done = flyloom("sim", "packet", "complete:n=3,p=1", "--workload", file, "--compute", "on",
                       "--set", "ranks=true", "--json")
        assert done.returncode == code == (2 if scale * each_ns > RANGE_NS else 0), done.stderr
        if code == 0:
            ranks = json.loads(done.stdout)["points"][0]["ranks"]
            assert ranks["compute_ns"][0] == pytest.approx(scale * each_ns, rel=1e-15)
            assert max(ranks["end_ns"]) == pytest.approx(scale * each_ns, abs=1e6)
        else:
            assert "out of range" in done.stderr

def most_over_a_link(schedule: Path, net: str) -> int:
    """The most bytes over a link between switches, by a walk along the one shortest path of each
    message; from 8 KiB on with a question and an answer of 64 bytes."""
    whole = json.loads(fl.network(net).to_text("json"))
    graph = nx.Graph((link[0], link[2]) for link in whole["links"])
    homes = [endpoint["rails"][0][0] for endpoint in whole["endpoints"]]
    over: Counter[tuple[int, int]] = Counter()

    def carry(source: int, to: int, count: int) -> None:
        [path] = nx.all_shortest_paths(graph, homes[source], homes[to])
        over.update(dict.fromkeys(pairwise(path), count))

    rank = 0
    for line in schedule.read_text().splitlines():
        if said := re.match(r"rank (\d+)", line):
            rank = int(said[1])
        if said := re.search(r"send (\d+)b to (\d+)", line):
            size, to = int(said[1]), int(said[2])
            control = 64 if size >= 8192 else 0
            carry(rank, to, size + control)
            carry(to, rank, control)
    return max(over.values())


@pytest.mark.parametrize("words", [
    "amg_like p=3 levels=2 base_bytes=9000", "mg_like p=3 levels=2 cycles=1 base_bytes=4000",
])
def test_the_use_of_the_busiest_link_is_its_bytes_over_the_time_of_the_jobs(tmp_path, words):
    """The rate is 12.5 GiB/s, whatever the background sends afterwards: a few messages of 64
    bytes."""
    net, schedule = "slim_fly:q=5,p=3", tmp_path / "jobs.goal"
    assert flyloom("workload", "make", *words.split(), "-o", schedule).returncode == 0
    busy_us = most_over_a_link(schedule, net) / (12.5 * 2**30) * 1e6
    for interval_ns in (None, 1_000_000, 20_000):
        beside = f"ranks=20,bytes=64,interval_ns={interval_ns}"
        more = [] if interval_ns is None else ["--background", beside]
        # messages cost so much that what the last credit takes is none of the time
        whole = found(net, "--workload", str(schedule), "--costs", "codes",
                      "--set", "links=true", *more)
        [point], end_us = whole["points"], whole["jobs"][0]["max_comm_ns"] / 1e3
        # alone a run ends with its last event, which is a credit
        use = point["busiest_link_use"]
        assert use == pytest.approx(busy_us / end_us, rel=0.01)
        assert use == max(point["links"]["use"])
