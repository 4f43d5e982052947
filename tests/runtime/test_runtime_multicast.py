"""Broadcast by multicast: right whatever datagrams do, repaired at the cost of what was lost, and
another algorithm where multicast is not available.

The C program (tests/multicast_test.c of the runtime) checks every byte by a formula.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess

import coll_flow
import pytest
from campaign import count as times
from test_runtime import (  # noqa: F401
    LIMIT_S,
    _teams,
    build,
    call,
    lose,
    needs_libfabric,
    nodes,
)

SKIPPED = 77


@pytest.fixture(scope="module")
def program():
    return build("release") / "tests/multicast_test"


def run(program, *words, **more):
    """What the program says; skips where the machine has no multicast."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("FLYLOOM_")}
    done = subprocess.run([str(word) for word in (program, *words)], env={**kept, **more},
                          text=True, capture_output=True, timeout=LIMIT_S)
    if done.returncode == SKIPPED:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("arity", [1, 3])
@pytest.mark.parametrize("lost_percent", [0, 1, 5, 20])
def test_every_byte_is_right(lost_percent, arity, program):
    """Sizes of 0 B to 1 MiB, any root, in all forms, several at once on two teams; datagrams are
    lost, doubled and change places."""
    run(program, "shm", "processes", 4, times(100, 10_000), lost_percent + arity, 1 << 20, arity,
        FLYLOOM_MULTICAST_FAULTS=f"{lost_percent},{lost_percent},2,5")


@pytest.mark.parametrize("arity", [1, 2])
def test_repair_costs_what_was_lost(arity, program):
    """Repair costs at most 1.5 times what was lost, or the program fails; something was lost."""
    printed = run(program, "shm", "repair", 4, times(150, 5000), arity, 1 << 18, arity,
                  FLYLOOM_MULTICAST_FAULTS=f"{arity},1")
    lost, asked, repaired = (int(re.search(rf"{name} (\d+)", printed)[1])
                             for name in ("lost", "asked", "repaired"))
    assert lost > 50
    assert asked == repaired >= lost - 9  # 9 probes of the group may be lost


@pytest.mark.parametrize("faults", ["1", "1,1", "2,5,2,2"])
def test_between_nodes(faults, nodes, program):  # noqa: F811
    """Between two namespaces with a link, where the kernel routes the group, over libfabric."""
    needs_libfabric(program.parent.parent)
    for at, node in enumerate(nodes):
        call("ip", "-n", node, "route", "add", "224.0.0.0/4", "dev", f"v{at}")
    run(program, "ofi", "processes", 3, times(20, 1000), 4, 200_000, FLYLOOM_MULTICAST="1",
        FLYLOOM_TEST_NODES=",".join(nodes), FLYLOOM_MULTICAST_FAULTS=faults)


def test_where_the_network_loses(nodes, program):  # noqa: F811
    """Broadcasts are right while the kernel loses one packet of twenty, of all traffic."""
    needs_libfabric(program.parent.parent)
    for at, node in enumerate(nodes):
        call("ip", "-n", node, "route", "add", "224.0.0.0/4", "dev", f"v{at}")
        lose(node, 5)
    run(program, "ofi", "processes", 2, times(10, 200), 5, 50_000, FLYLOOM_MULTICAST="1",
        FLYLOOM_TEST_NODES=",".join(nodes))


def test_datagrams_that_do_not_come(nodes, program):  # noqa: F811
    """Each node has the group on its own loopback: all can join, none hears the other."""
    needs_libfabric(program.parent.parent)
    printed = run(program, "ofi", "refused", 2, 10, FLYLOOM_MULTICAST="1%lo",
                  FLYLOOM_TEST_NODES=",".join(nodes))
    assert len(re.findall(r"^rank \d: udp .*: datagrams do not come to rank \d from all$", printed,
                          re.MULTILINE)) == 2


def alone(script):
    """What runs a program in a namespace that has a loopback and nothing else."""
    if not shutil.which("unshare"):
        pytest.skip("unshare is not installed")
    words = ["unshare", "-rn", "sh", "-c", f"ip link set lo up; {script}", "sh"]
    if subprocess.run([*words, "true"], capture_output=True).returncode not in {0, SKIPPED}:
        pytest.skip("network namespaces cannot be made here")
    return words


@pytest.mark.parametrize("hook", ["input", "output"])
def test_multicast_that_ends(hook, program):
    """If no datagram arrives any more in the middle of a run, or none can be sent, all is
    repaired."""
    words = alone(f"""
        nft 'add table ip end; add chain ip end one {{ type filter hook {hook} priority 0; }};
             add rule ip end one ip daddr 224.0.0.0/4 quota over 5 mbytes counter drop' ||
            {{ echo nftables cannot; exit {SKIPPED}; }}
        "$@" && nft list table ip end""")
    printed = run(*words, program, "shm", "processes", 4, times(30, 1000), 6, 1 << 20)
    assert int(re.search(r"counter packets (\d+)", printed)[1]) > 100


def test_no_multicast_route(program):
    """With a loopback alone there is no route to a group: reported, and another algorithm runs."""
    words = alone('exec "$@"')
    printed = run(*words, program, "shm", "refused", 3, 20, FLYLOOM_MULTICAST="1")
    assert re.search(r"^rank 0: udp 239\.19[2-5]\..*: .*(device|unreachable)$", printed,
                     re.MULTILINE)
    assert "rank 1: rank 0 could not" in printed
    printed = run(*words, program.parent.parent / "flyloom-perf", "explain", "bcast", "--ranks", 8,
                  FLYLOOM_MULTICAST="1")
    assert "\nmulticast:" not in printed
    assert re.search(r"^multicast here: udp .*(device|unreachable)$", printed, re.MULTILINE)


@pytest.mark.parametrize("asked", ["0", "239.1.2.3%no_such_link"])
def test_said_where_it_is_not_open(asked, program):
    """Not wanted, or an interface that is not there; FLYLOOM_COLL asks for it all the same."""
    printed = run(program, "shm", "refused", 2, 20, FLYLOOM_MULTICAST=asked)
    assert ("rank 0: not asked for" if asked == "0" else "no_such_link: No such device") in printed


def test_a_record_has_no_multicast(program, tmp_path):
    """A record has messages between two ranks only, so broadcasts use another algorithm."""
    printed = run(program, "shm", "refused", 3, 20, FLYLOOM_MULTICAST="1%lo",
                  FLYLOOM_RECORD=str(tmp_path / "goal"), FLYLOOM_RECORD_TIME="none")
    assert "rank 0: a record has messages between two ranks only" in printed
    goal = (tmp_path / "goal").read_text()
    assert goal.count("send ") == goal.count("recv ") > 20 * 2


def test_what_ran_is_a_broadcast(program, tmp_path):
    """Dumped for a checker as a message from the root to each; beside every other operation."""
    run(program, "loop", "threads", 3, 5)  # skips where there is none
    call(program.parent / "coll_test", "loop", "threads", 4, 4, 30, 3, 3000, "bcast=multicast:1",
         more={"FLYLOOM_COLL_DUMP": str(tmp_path / "ran"), "FLYLOOM_MULTICAST": "1%lo",
               "FLYLOOM_MULTICAST_FAULTS": "3,10,5,5"})
    seen = 0
    for one in _teams(sorted(tmp_path.glob("ran.*"))):
        coll_flow.check(one)
        seen += one[0].algorithm == "multicast" and one[0].bytes > 0
    assert seen > 2


@pytest.mark.parametrize(("o_ns", "chosen"), [(100, True), (30_000, False)])
def test_the_model_chooses(o_ns, chosen, program, tmp_path):
    """If no algorithm is set, the choice follows from the cost of a datagram in the network's
    file."""
    network = tmp_path / "network.json"
    network.write_text('{"L_ns": 20000, "o_ns": 3000, "g_ns": 3000, "G_ns_per_byte": 0.8, '
                       f'"datagram_o_ns": {o_ns}}}')
    printed = run(program, "shm", "repair", 4, 20, 1, 1000, FLYLOOM_LOGGP=network,
                  FLYLOOM_COLL="barrier=tree", FLYLOOM_MULTICAST_FAULTS="1")
    assert int(re.search(r"sent (\d+)", printed)[1]) == (20 if chosen else 0)


def test_perf_measures(program):
    """All algorithms are there, with positive times; and what it refuses."""
    run(program, "loop", "threads", 2, 1)  # skips where there is none
    perf = program.parent.parent / "flyloom-perf"
    rows = json.loads(call(perf, "multicast", "--ranks", 3, "--repetitions", 30, "--bytes", 9000,
                           "--lost", 20, "--json", more={"FLYLOOM_MULTICAST": "1%lo"}))
    assert {row["what"] for row in rows} == {
        "multicast, ring", "multicast, ring, lossy", "multicast, tree, lossy", "binomial",
        "pipeline"}
    assert all(0 < row["median_ns"] <= row["p99_ns"] and row["bytes"] == 9000 for row in rows)
    for words, part in ((["--lost", "91"], "0 to 90"), (["--ranks", "1"], "2 to 64"),
                        (["--often"], "--repetitions")):
        done = subprocess.run([perf, "multicast", *words], text=True, capture_output=True,
                              timeout=LIMIT_S)
        assert done.returncode == 2 and part in done.stderr
    done = subprocess.run([perf, "multicast", "--ranks", "2"], text=True, capture_output=True,
                          timeout=LIMIT_S, env={**os.environ, "FLYLOOM_MULTICAST": "1%no_link"})
    assert done.returncode == 2 and "not open: udp" in done.stderr


@pytest.mark.parametrize(("ranks", "size", "o_ns"), [
    (8, 2, 3000), (722, 2, 290), (722, 30_000, 100), (722, 1_000_000, 5000),
])
def test_the_model(ranks, size, o_ns, program, tmp_path):
    """What explain predicts is the formula of docs/collectives.md, with the best arity."""
    network = tmp_path / "network.json"
    network.write_text(f'{{"L_ns": 1020, "o_s_ns": 290, "o_r_ns": 50, "g_ns": 290, '
                       f'"G_ns_per_byte": 0.1, "datagram_o_ns": {o_ns}}}')
    run(program, "loop", "threads", 2, 1)  # skips where there is none
    printed = call(program.parent.parent / "flyloom-perf", "explain", "bcast", "--ranks", ranks,
                   "--bytes", size, "--loggp", network, more={"FLYLOOM_MULTICAST": "239.7.7.7%lo"})
    most = int(re.search(r"^multicast here: udp 239\.7\.7\.7:\d+, (\d+) bytes a datagram", printed,
                         re.MULTILINE)[1])

    def time_ns(arity):
        piece, count = min(size, most), math.ceil(size / most)
        sent = (2 * o_ns + 1020 + 0.1 * piece + (count - 1) * (max(290, o_ns) + 0.1 * piece))
        up, levels = arity, 1
        if count > 32768 // most:  # the root hears of all
            up = 8 if arity == 1 else arity
            levels = next(k for k in range(99) if sum(up ** i for i in range(k + 1)) >= ranks)
        return sent + levels * (290 + 1020 + 50 + (min(up, ranks - 1) - 1) * 290)

    best = min((1, 2, 4, 8, 16, 32, 64), key=time_ns)
    shown = re.search(r"^multicast:(\d+) +([\d.]+) ns", printed, re.MULTILINE)
    assert int(shown[1]) == best
    assert float(shown[2]) == pytest.approx(time_ns(best), abs=0.1)
