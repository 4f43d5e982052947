"""Measurement of a real MPI system, and what is measured beside what a network gives."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import flyloom as fl
import pytest
from checkout import PROGRAMS
from cli_helpers import document, flyloom
from flyloom.measuring import pairs
from flyloom.verbs import measuring
from mpi_helpers import MPIS, ROOT_MAY, needs, shared_cache
from times_kept import TIMES


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return shared_cache(tmp_path_factory)


@pytest.fixture
def launcher(cache, monkeypatch):
    """The command that starts this number of ranks of an MPI."""
    for name, value in {**ROOT_MAY, "XDG_CACHE_HOME": str(cache)}.items():
        monkeypatch.setenv(name, value)

    def words(mpi, ranks):
        needs(mpi)
        more = ["--oversubscribe"] if mpi == "openmpi" else []
        return [shutil.which(f"mpiexec.{mpi}"), *more, "-n", str(ranks)]

    return words


def measured(*words):
    """The JSON of a measurement: what follows ``--`` is the launcher's."""
    done = flyloom("measure", "--json", *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("mpi", MPIS)
def test_parameters_of_a_real_system(mpi, launcher, tmp_path):
    """The file has all parameters, as the simulator takes them; the kept times give the same
    ones."""
    out, kept = tmp_path / "loggp.json", tmp_path / "times.json"
    result = measured("-o", out, "--bytes", 4096, "--repetitions", 9, "--keep", kept, "--",
                      *launcher(mpi, 2))
    assert result == json.loads(out.read_text())
    assert result["hosts"][0] == result["hosts"][1] and result["regime"].startswith("one host")
    assert {"openmpi": "Open MPI", "mpich": "MPICH"}[mpi] in result["library"]
    assert 0 < result["o_s_ns"] < 1e6 and 0 < result["o_r_ns"] < 1e6
    assert 1 <= result["S_bytes"] <= 4096
    assert result["o_ns"] == pytest.approx((result["o_s_ns"] + result["o_r_ns"]) / 2)
    ends = [(row["from_bytes"], row["to_bytes"]) for row in result["segments"]]
    assert ends[0][0] == 1 and ends[-1][1] == 4096 and ends == sorted(ends)
    sizes = [row["bytes"] for row in result["samples"]]
    assert sizes == sorted(sizes) and {1, 64, 65, 1024, 4096} <= set(sizes)
    for low, high in result["intervals_95"].values():
        assert low <= high
    raw = json.loads(kept.read_text())
    assert {len(row["one_ns"]) for row in raw["sizes"]} == {9}
    again = document("measure", "--times", kept)
    assert {k: v for k, v in again.items() if k != "date"} == {
        k: v for k, v in result.items() if k != "date"}
    goal = tmp_path / "one.goal"
    goal.write_text("num_ranks 2\nrank 0 {\nsend 1b to 1\n}\nrank 1 {\nrecv 1b from 0\n}\n")
    run = flyloom("sim", "message", "--workload", goal, "--costs", out, "--json")
    bad = [name for name in ("L_ns", "o_ns", "g_ns", "G_ns_per_byte", "O_ns_per_byte")
           if result.get(name, 0) < 0 or (name == "L_ns" and result[name] == 0)]
    if not bad:
        ends_ns = json.loads(run.stdout)["finish_ns"]
        assert ends_ns == pytest.approx(result["L_ns"] + 2 * result["o_ns"], abs=0.01)
    else:  # the machine is busy
        assert run.returncode == 2 and bad[0] in run.stderr and result["warnings"]


@pytest.mark.parametrize("mpi", MPIS)
def test_bandwidth_of_random_pairs(mpi, launcher, tmp_path):
    out = tmp_path / "ebb.json"
    result = measured("--ebb", "--same-host", "--samples", 4, "--bytes", 20000,
                      "--repetitions", 3, "--seed", 7, "-o", out, "--", *launcher(mpi, 4))
    assert result == json.loads(out.read_text())
    assert [sorted(rank for pair in row["pairs"] for rank in pair) for row in result["rounds"]] == [
        [0, 1, 2, 3]] * 4
    assert [row["pairs"] for row in result["rounds"]] == [
        [list(pair) for pair in row] for row in pairs.rounds(["here"] * 4, 4, 7, True)]
    for row in result["rounds"]:
        assert len(row["rank_gbps"]) == 4 and min(row["rank_gbps"]) > 0
        assert row["mean_gbps"] == pytest.approx(sum(row["rank_gbps"]) / 4)
    assert result["mean_gbps"] == pytest.approx(sum(r["mean_gbps"] for r in result["rounds"]) / 4)
    assert result["quantiles_gbps"] == sorted(result["quantiles_gbps"])
    alone = flyloom("measure", "--ebb", "--", *launcher(mpi, 2))
    assert alone.returncode == 2 and "--same-host" in alone.stderr


def test_the_bandwidth_of_a_pair_is_by_the_median_of_its_times(launcher, tmp_path):
    """The clock of the test steps: the first exchange has no end, and of 50, 30, 90, 20 and 10 us
    the median is 30; 20,000 bytes in 30 us are 16/3 Gbit/s. A clock that stands still is
    refused."""
    words = launcher("openmpi", 4)
    clock = tmp_path / "clock.so"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", PROGRAMS / "stepping_clock.c", "-o", clock,
                    "-ldl"], check=True)
    given = ["--ebb", "--same-host", "--samples", 3, "--bytes", 20000, "--repetitions", 5, "--",
             *words, "env", f"LD_PRELOAD={clock}"]
    refused = flyloom("measure", *given, "STEPS_NS=0")
    assert refused.returncode == 2 and "0 ns for an exchange of 20000 bytes" in refused.stderr
    result = measured(*given, "STEPS_NS=1,1,50000,1,30000,1,90000,1,20000,1,10000")
    assert len(result["rounds"]) == 3
    for row in result["rounds"]:
        assert row["rank_gbps"] == pytest.approx([16 / 3] * 4)


@pytest.mark.parametrize(("hosts", "most"), [
    ("aabb", 2), ("abcdefg", 3), ("aaabbbcc", 4), ("aaaab", 1), ("aaaaabbb", 3), ("aabbccddee", 5),
])
def test_random_matchings_are_of_two_hosts_and_as_large_as_can_be(hosts, most):
    """Sizes from the counts of hosts: half of all, or all that are not of the largest host."""
    most_of_one = max(Counter(hosts).values())
    assert most == min(len(hosts) // 2, len(hosts) - most_of_one)
    made = pairs.rounds(list(hosts), 300, 1, False)
    for row in made:
        met = [rank for pair in row for rank in pair]
        assert len(met) == len(set(met)) and all(hosts[a] != hosts[b] for a, b in row)
        assert len(row) == most
    seen = Counter(tuple(sorted(pair)) for row in made for pair in row)
    all_pairs = {(a, b) for a in range(len(hosts)) for b in range(a) if hosts[a] != hosts[b]}
    assert {(b, a) for a, b in all_pairs} == set(seen), "every pair comes"
    again, other = (pairs.rounds(list(hosts), 300, seed, False) for seed in (1, 2))
    assert made == again != other


def ebb_file(path: Path, rounds, hosts, size, gbps) -> Path:
    """What --ebb writes, where every rank has sent so much a second."""
    rows = [{"pairs": row, "rank_gbps": [gbps] * (2 * len(row)), "mean_gbps": gbps}
            for row in rounds]
    path.write_text(json.dumps({
        "flyloom_measurement": 1, "what": "ebb", "hosts": hosts, "size_bytes": size,
        "rounds": rows}))
    return path


def test_what_a_network_gives_the_same_pairs(tmp_path):
    """Two switches with one cable and two endpoints each: what crosses shares it, by formula."""
    net, size, gbps = "complete:n=2,p=2", 1_000_000, 40.0
    names = fl.network(net).endpoint_names
    rounds = [[[0, 2]], [[0, 2], [1, 3]], [[0, 1], [2, 3]], [[3, 0], [2, 1]]]
    file = ebb_file(tmp_path / "ebb.json", rounds, list(names), size, 30.0)
    result = document("measure", "--compare", file, "--net", net, "--set",
                    f"link.rate_gbps={gbps}", "switch.delay_ns=100", "link.latency_ns=10")

    def rate(switches: int, share: float) -> float:
        """The rate of a message alone: latencies, then all bytes after the first at its share."""
        latency = 100 * switches + 10 * (switches + 1)
        return 8 * size / (latency + 8 * (size - 1) / (gbps * share))

    expected = [rate(2, 1), rate(2, 0.5), rate(1, 1), rate(2, 0.5)]
    for row, one in zip(result["rounds"], expected, strict=True):
        assert row["rank_predicted_gbps"] == pytest.approx([one] * len(row["rank_predicted_gbps"]))
        assert row["predicted_gbps"] == pytest.approx(one)
        assert row["ratio"] == pytest.approx(30.0 / one)
    mean = sum(expected) / 4
    assert result["predicted_gbps"] == pytest.approx(mean)
    assert result["ratio"] == pytest.approx(30.0 / mean)
    # the routes of tables; other places of ranks, from a file
    (tmp_path / "at").write_text("0\n2\n1\n3\n")
    moved = measuring.compare_ebb(file, net, engine="min_hop", placement=str(tmp_path / "at"),
                                  settings={"link.rate_gbps": gbps, "switch.delay_ns": 100,
                                            "link.latency_ns": 10})
    assert [row["predicted_gbps"] for row in moved.rounds] == pytest.approx(
        [rate(1, 1), rate(1, 1), rate(2, 0.5), rate(2, 0.5)])


@pytest.mark.parametrize(("change", "says"), [
    ({"flyloom_samples": 2}, "flyloom_samples"), ({"what": "ebb"}, "bytes"),
    ({"messages": 1}, "2 or"),
    ({"messages": "x"}, "messages: x is not a whole number"), ({"sizes": []}, "sizes"),
    ({"sizes": [{}]}, "sizes[0]: bytes"), ({"hosts": None}, "hosts"),
    ({"sizes": [{**TIMES["sizes"][0], "one_ns": [-1]}]}, "sizes[0].one_ns: -1"),
    ({"sizes": [{**TIMES["sizes"][0], "one_ns": []}]}, "one_ns: it is empty"),
    ({"sizes": [{**TIMES["sizes"][0], "served_ns": ["x"]}]}, "served_ns: 'x'"),
    ({"sizes": TIMES["sizes"][1:]}, "one of 1 byte"),
])
def test_times_that_are_none_are_refused(change, says, tmp_path):
    file = tmp_path / "times.json"
    file.write_text(json.dumps(TIMES))
    assert flyloom("measure", "--times", file).returncode == 0
    file.write_text(json.dumps({**TIMES, **change}))
    refused = flyloom("measure", "--times", file)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert str(file) in refused.stderr and says in refused.stderr, refused.stderr
    assert refused.stderr.count("\n") == 1


@pytest.mark.parametrize(("words", "says"), [
    ([], "no program"), (["--", "no-such-mpirun"], "no-such-mpirun"),
    (["--ebb", "--compare", "x"], "one of them"), (["--compare", "e.json"], "--net"),
    (["--times", "x", "--", "mpirun"], "leave out"), (["--net", "ring:n=4"], "only of --compare"),
    (["--keep", "x", "--ebb"], "--keep"), (["--compare", "e.json", "--net", "ring:n=4"], "hosts"),
    (["--compare", "t.json", "--net", "ring:n=4"], "no bandwidth"),
    (["--compare", "twice.json", "--net", "ring:n=4,p=1"], "each once"),
    (["--bytes", "3", "--", "true"], "most_bytes"), (["--repetitions", "2", "--", "true"], "3"),
])
def test_what_cannot_be_measured_is_refused(words, says, tmp_path):
    ebb_file(tmp_path / "e.json", [[[0, 1]]], ["nowhere", "else"], 10, 1.0)
    ebb_file(tmp_path / "twice.json", [[[0, 1], [1, 2]]], ["0", "1", "2"], 10, 1.0)
    (tmp_path / "t.json").write_text(json.dumps(TIMES))
    refused = flyloom("measure", *words, cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, ""), refused.stderr
    assert says in refused.stderr and refused.stderr.count("\n") == 1, refused.stderr


def test_a_program_that_fails_ends_the_measurement(tmp_path):
    """The launcher runs, and says no."""
    failed = flyloom("measure", "--", "false", cwd=tmp_path)
    if failed.returncode == 2:  # no MPI: nothing could be built
        assert "mpicc" in failed.stderr
        return
    assert failed.returncode == 3 and "exit code 1" in failed.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("said", "says"), [
    ({"L_ns": -3.0}, "L_ns: -3"), ({"L_ns": 0}, "within the sender's call"),
    ({"g_ns": -0.5}, "g_ns: -0.5"), ({"G_ns_per_byte": -1}, "G_ns_per_byte: -1: below 0"),
    ({"L": 5.0}, "L: a number without a unit; L_ns"), ({"G_ns_per_byte": None}, "no G_ns_per_byte"),
])
def test_parameters_that_mean_nothing_are_refused_by_the_simulator(said, says, tmp_path):
    good = {"L_ns": 1000, "o_ns": 100, "g_ns": 100, "G_ns_per_byte": 0.1}
    goal, file = tmp_path / "g.goal", tmp_path / "p.json"
    goal.write_text("num_ranks 1\nrank 0 {\ncalc 5\n}\n")
    file.write_text(json.dumps({**good, **said}))
    refused = flyloom("sim", "message", "--workload", goal, "--costs", file)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert str(file) in refused.stderr and says in refused.stderr
