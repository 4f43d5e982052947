"""Programs with messages of MPI and with libflyloom, recorded as one schedule: what is in it
follows from the programs, and is what libflyloom's own record has, which another program writes."""

from __future__ import annotations

import math
import re
import subprocess
from collections import Counter
from itertools import pairwise

import pytest
import test_record_goal
import test_runtime_mpi
from checkout import PROGRAMS, ROOT
from cli_helpers import document
from test_record import LIMIT_S, read
from test_record_goal import COSTS, G, L, O

release, under = test_runtime_mpi.release, test_runtime_mpi.under
mpi, place, env = test_record_goal.mpi, test_record_goal.place, test_record_goal.env
record = test_record_goal.record
BOTH = PROGRAMS / "record_both.c"
OWN = {"FLYLOOM_RECORD_TIME": "none"}
SEND = re.compile(r"(?:\w+: )?send (\d+)b to (\d+)")
LEFT_OUT = "what the program does by libflyloom is left out"


def sends(file, named=lambda rank: rank):
    """(from, to, bytes) of every send of a schedule."""
    found, rank = Counter(), None
    for line in file.read_text().splitlines():
        if line.startswith("rank "):
            rank = int(line.split()[1])
        elif match := SEND.match(line):
            found[named(rank), named(int(match[2])), int(match[1])] += 1
    return found


def ring(ranks, rounds, size, put_size):
    """What the program's calls send: messages of MPI, and what libflyloom sends."""
    messages, puts = Counter(), Counter()
    for rank in range(ranks):
        after, before = (rank + 1) % ranks, (rank - 1) % ranks
        messages[rank, after, size] += rounds
        puts[rank, before, put_size] += rounds
        # the end of the window asks the rank that was put to whether all is there
        puts[rank, before, 1] += 1
        puts[before, rank, 1] += 1
        # the beginning and the end of the window and of the runtime: barriers by dissemination
        for k in range(math.ceil(math.log2(ranks))):
            puts[rank, (rank - 2**k) % ranks, 1] += 4
    return messages, puts


def pairs(sent):
    sizes, counts = Counter(), Counter()
    for (source, target, size), count in sent.items():
        sizes[source, target] += size * count
        counts[source, target] += count
    return sizes, counts


@pytest.mark.parametrize(("ranks", "transports"), [(3, "shm"), (4, "msg"), (2, "msg")])
def test_both_are_in_it(ranks, transports, mpi, under, record, env, monkeypatch, tmp_path):
    """Also where the puts are messages of MPI themselves, which do not count twice, and where the
    runtime's ranks are others than those of MPI."""
    monkeypatch.setitem(env, "FLYLOOM_TRANSPORTS", transports)
    record(ranks, None, "ring", 3, 100, 40, program=under(mpi, BOTH))
    messages, puts = ring(ranks, 3, 100, 40)
    assert sends(tmp_path / "app.goal") == messages + puts
    sizes, counts = pairs(messages + puts)
    assert read(tmp_path / "bytes.mtx") == dict(sizes)
    assert read(tmp_path / "messages.mtx") == dict(counts)
    checked = document("workload", "check", tmp_path / "app.goal")
    assert checked["receives"] == checked["sends"] == counts.total()


def test_times_are_those_of_the_formula(mpi, under, record, tmp_path):
    """A round is a message, for which rank 1 waits, and a put, for which rank 0 waits."""
    took = []
    for rounds in (3, 6, 9):
        record(2, None, "turns", rounds, 65, 33, options=["--set", "scale_compute=0"],
               program=under(mpi, BOTH))
        run = document("sim", "message", "--workload", tmp_path / "app.goal", *COSTS)
        took.append(run["finish_ns"])
    assert [b - a for a, b in pairwise(took)] == [3 * (2 * (L + 2 * O) + (64 + 32) * G)] * 2


def test_computing_is_the_time_between_calls_of_either(mpi, under, record, tmp_path):
    """A rank computes 1 ms a round, and waits as long in a call while the other one computes: were
    that counted, there would be twice as many long calculations."""
    rounds = 40
    record(2, None, "turns", rounds, 8, 8, program=under(mpi, BOTH))
    _, *ranks = (tmp_path / "app.goal").read_text().split("\nrank ")
    for rank in ranks:
        computed = [int(ns) for ns in re.findall(r": calc (\d+)", rank)]
        assert sum(computed) >= rounds * 1e6
        assert rounds <= sum(ns > 0.8e6 for ns in computed) < 1.5 * rounds


@pytest.mark.parametrize(("ranks", "rounds"), [(2, 3), (3, 2), (4, 1)])
def test_all_calls_are_as_in_the_own_record(ranks, rounds, mpi, under, record, env, monkeypatch,
                                            tmp_path):
    """Two records of one run, by different programs: the same messages, in the same time."""
    for name, value in {**OWN, "FLYLOOM_RECORD": str(tmp_path / "own.goal")}.items():
        monkeypatch.setitem(env, name, value)
    said = record(ranks, None, "all", rounds, 0, 40, options=["--set", "scale_compute=0"],
                  program=under(mpi, BOTH))
    assert "messages of MPI are not in" not in said
    same(tmp_path, lambda rank: ranks - 1 - rank)


def same(folder, named=lambda rank: rank):
    own = folder / "own.goal"
    assert sends(folder / "app.goal") == sends(own, named)
    took = [document("sim", "message", "--workload", file, *COSTS)["finish_ns"]
            for file in (own, folder / "app.goal")]
    assert took[0] == took[1] > 0


@pytest.mark.parametrize(("transports", "steps"), [("shm", 100), ("msg", 40)])
def test_random_programs_are_as_in_the_own_record(transports, steps, mpi, under, record, env,
                                                  monkeypatch, tmp_path):
    """All that the own record has is there, and two barriers of MPI a step: of 3 ranks each sends 2
    messages in one."""
    for name, value in {**OWN, "FLYLOOM_RECORD": str(tmp_path / "own.goal")}.items():
        monkeypatch.setitem(env, name, value)
    parts = ("program_mpi.c", "program.c", "rule_model.c")
    program = under(mpi, *(ROOT / "runtime/rt/tests" / part for part in parts))
    record(3, None, transports, 1, steps, program=program)
    found, own = sends(tmp_path / "app.goal"), sends(tmp_path / "own.goal")
    assert own <= found
    assert {(a, b, size): n for (a, b, size), n in (found - own).items()} == {
        (a, b, 0): 2 * steps for a in range(3) for b in range(3) if a != b}


@pytest.mark.parametrize("name", ["halo", "neighbours", "pipeline", "tasks", "sum"])
def test_programs_of_the_page_are_as_in_the_own_record(name, mpi, under, record, env, monkeypatch,
                                                       tmp_path):
    for key, value in {**OWN, "FLYLOOM_RECORD": str(tmp_path / "own.goal")}.items():
        monkeypatch.setitem(env, key, value)
    program = under(mpi, ROOT / "examples" / "from_messages" / f"{name}_after.c")
    record(4 if mpi == "openmpi" else 2, None, program=program,
           options=["--set", "scale_compute=0"])
    same(tmp_path)


def test_collectives_of_libflyloom_can_be_left_out(mpi, under, record, tmp_path):
    """Each call of all has 2 operations of 2 ranks with 1 message of each rank: an allreduce of 16
    bytes, and a barrier, whose message counts as 1 byte."""
    program = under(mpi, BOTH)
    record(2, None, "all", 1, 0, 40, program=program)
    whole = sends(tmp_path / "app.goal")
    record(2, None, "all", 1, 0, 40, options=["--no-collectives"], program=program)
    left = whole - sends(tmp_path / "app.goal")
    assert {(a, b) for a, b, _ in left} == {(0, 1), (1, 0)} and (0, 1, 16) in left
    assert read(tmp_path / "bytes.mtx") == dict(pairs(sends(tmp_path / "app.goal"))[0])


@pytest.mark.parametrize("more", [{"FLYLOOM_THREADS": "multiple"}, {"FLYLOOM_PROGRESS": "thread"}])
def test_what_cannot_be_recorded_is_said(more, mpi, under, record, env, monkeypatch, tmp_path):
    for key, value in more.items():
        monkeypatch.setitem(env, key, value)
    said = record(2, None, "ring", 2, 100, 40, program=under(mpi, BOTH))
    assert said.count(LEFT_OUT) == 1 and next(iter(more)) in said
    assert sends(tmp_path / "app.goal") == ring(2, 2, 100, 40)[0]


def test_the_own_record_says_that_messages_are_missing(mpi, under, env, tmp_path):
    own = tmp_path / "own.goal"
    done = subprocess.run([f"mpiexec.{mpi}", "-n", "2", under(mpi, BOTH), "ring", "2", "9", "7"],
                          env={**env, **OWN, "FLYLOOM_RECORD": str(own)}, text=True,
                          capture_output=True, timeout=LIMIT_S, check=True)
    assert done.stderr.count(f"messages of MPI are not in {own}") == 1
    assert "flyloom record -o" in done.stderr
    assert sends(own, lambda rank: 1 - rank) == ring(2, 2, 9, 7)[1]
