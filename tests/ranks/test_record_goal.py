"""Schedules of MPI programs: messages are those of the recorder's matrix, and runs take what
formulas say."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from collections import Counter

import pytest
import test_runtime_mpi
from checkout import PROGRAMS, ROOT
from cli_helpers import command, document, flyloom
from mpi_helpers import MPIS, compiled, mpi_environment, needs, shared_cache
from test_record import FLAGS, LIMIT_S, WINDOWS_MAY, read

L, O, G = 1000, 100, 2
COSTS = ("--L", L, "--o", O, "--g", 0, "--G", G, "--O", 0)
release, under = test_runtime_mpi.release, test_runtime_mpi.under
SEND = re.compile(r"(?:\w+: )?send (\d+)b to (\d+)")
RECV = re.compile(r"(?:\w+: )?recv (\d+)b from (-?\d+)")


@pytest.fixture(params=MPIS, scope="module")
def mpi(request):
    """Each MPI by its name in Debian."""
    needs(request.param)
    return request.param


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("record_goal")


@pytest.fixture(scope="module")
def env(tmp_path_factory):
    return mpi_environment(shared_cache(tmp_path_factory), **WINDOWS_MAY)


@pytest.fixture
def record(mpi, place, env, tmp_path):
    """Records a program as matrices and as a schedule: what was printed."""

    def whole(ranks, name, *words, options=(), code=0, program=None):
        program = program or compiled(mpi, PROGRAMS / f"{name}.c", place, FLAGS)
        launcher = [f"mpiexec.{mpi}", "-n", ranks, program, *words]
        done = flyloom("record", "-o", tmp_path / "bytes.mtx", "--message-counts",
                       tmp_path / "messages.mtx", "--goal", tmp_path / "app.goal", *options, "--",
                       *launcher, env=env, cwd=tmp_path, limit_s=LIMIT_S)
        assert done.returncode == code, done.stderr
        return done.stderr

    return whole


def pairs(file):
    """Bytes and messages of every pair by the sends of a schedule, and by its receives."""
    found = {kind: (Counter(), Counter()) for kind in ("send", "recv")}
    rank = None
    for line in file.read_text().splitlines():
        if line.startswith("rank "):
            rank = int(line.split()[1])
        for kind, pattern in (("send", SEND), ("recv", RECV)):
            if match := pattern.match(line):
                size, other = map(int, match.groups())
                assert other >= 0, "sources are known"
                pair = (rank, other) if kind == "send" else (other, rank)
                found[kind][0][pair] += size
                found[kind][1][pair] += 1
    return found


def agrees(folder):
    """The schedule has the messages of the matrices, and comes to its end."""
    found = pairs(folder / "app.goal")
    assert found["send"] == found["recv"]
    sizes, counts = found["send"]
    assert {pair: size for pair, size in sizes.items() if size} == read(folder / "bytes.mtx")
    assert dict(counts) == read(folder / "messages.mtx")
    return document("sim", "message", "--workload", folder / "app.goal")


@pytest.mark.parametrize(("ranks", "name"), [
    (5, "ring"), (3, "kinds"), (6, "halo"), (4, "persistent"), (7, "split"), (3, "replace"),
    (4, "windows"), (6, "neighbours"), (5, "between"), (3, "threads"), (3, "nobody"),
])
def test_messages_are_those_of_the_matrix(record, tmp_path, ranks, name):
    record(ranks, "record_calls", name)
    assert agrees(tmp_path)["messages"] == sum(read(tmp_path / "messages.mtx").values())


@pytest.mark.parametrize(("size", "form"), [(5, 0), (4, 1), (3, 2)])
def test_collectives_are_those_of_the_matrix(mpi, record, tmp_path, size, form):
    if form == 2 and mpi == "openmpi":
        pytest.skip("this MPI has no persistent collectives")
    numbers = [n for n in range(18) if not (form == 2 and n == 4)]
    for some in (numbers[:4], numbers[4:8], numbers[8:12], numbers[12:]):
        record(size, "record_collectives", form, *some[:4])
        agrees(tmp_path)
    record(size, "record_collectives", form, *numbers[-2:])
    agrees(tmp_path)


def test_receives_that_are_tested_probed_and_cancelled(record, tmp_path):
    """Every receive that completes has the source and the tag of its message, whichever call
    completes it; what is cancelled or given back is not waited for."""
    record(4, "record_receives")
    agrees(tmp_path)


def test_times_are_those_of_the_formula(record, tmp_path):
    """Without computing, rounds of a message there and back take two times L + 2 o + (s - 1) G
    each; with computing they take that much longer at least."""
    said = record(2, "record_rounds", 3, 65, options=["--set", "scale_compute=0"])
    assert re.search(r"2 ranks, [\d,]+ ns from the end of MPI_Init", said)
    run = document("sim", "message", "--workload", tmp_path / "app.goal", *COSTS)
    rounds = 3 * 2 * (L + 2 * O + 64 * G)
    assert run["finish_ns"] == rounds
    record(2, "record_rounds", 3, 65)
    run = document("sim", "message", "--workload", tmp_path / "app.goal", *COSTS)
    assert run["finish_ns"] >= rounds + 3 * 1_000_000, "the program computes 1 ms a round"


def test_ranks_that_share_a_processor_are_named(mpi, record, place, tmp_path):
    """taskset says how many processors ranks have; without computations it does not matter."""
    program = compiled(mpi, PROGRAMS / "record_calls.c", place, FLAGS)
    one = ("-c", min(os.sched_getaffinity(0)), program, "ring")
    shared = f"3 ranks shared 1 processor of {socket.gethostname()}: computations are wall time"
    assert shared in record(3, "record_calls", *one, program="taskset")
    free = ("--set", "scale_compute=0")
    assert "shared" not in record(3, "record_calls", *one, program="taskset", options=free)
    assert "shared" not in record(1, "record_calls", *one, program="taskset")


def test_the_algorithm_is_a_choice(record, tmp_path):
    """An allreduce around a ring: each sends 2 (P - 1) times a part of 1 / P."""
    record(4, "record_collectives", 0, 2, options=["--set", "allreduce=ring"])
    sizes, counts = pairs(tmp_path / "app.goal")["send"]
    ring = {(r, (r + 1) % 4) for r in range(4)}
    assert sum(sizes.values()) == 2 * 3 * 1 and sizes.keys() >= ring
    assert all(counts[pair] >= 2 * 3 for pair in ring)


def test_a_program_that_ends_early_keeps_what_it_did(mpi, record, tmp_path):
    said = record(2, "record_calls", "ring", "left", code=0 if mpi == "mpich" else 1)
    assert "app.goal: it ends early: ranks 0, 1 of 2 did not come to MPI_Finalize" in said
    found = pairs(tmp_path / "app.goal")["send"][0]
    # who leaves first may end the other within its last round of three
    assert found[0, 1] in (20, 30) and found[1, 0] in (22, 33)


def test_a_program_that_aborts_keeps_what_it_did(record, tmp_path):
    said = record(2, "record_rounds", 2, 9, "abort", code=9)
    assert "did not come to MPI_Finalize (rank 1 called MPI_Abort with 9)" in said
    found = pairs(tmp_path / "app.goal")["send"][1]
    assert found[0, 1] == 2 and found[1, 0] in (1, 2), "rank 0 may not have got the last one"


@pytest.mark.parametrize("module", ["mpi", "mpi_f08"])
def test_fortran(mpi, place, record, module, tmp_path):
    compiler = f"mpif90.{mpi}"
    if not shutil.which(compiler) or not shutil.which("gfortran"):
        pytest.skip(f"{compiler} is not installed")
    source = tmp_path / "receives.f90"
    kinds = {"mpi": ("integer", "integer :: status(mpi_status_size)"),
             "mpi_f08": ("type(mpi_request)", "type(mpi_status) :: status")}[module]
    text = (PROGRAMS / "record_receives.f90").read_text()
    for word, given in (("use MODULE", f"use {module}"), ("  REQUEST", f"  {kinds[0]}"),
                        ("  STATUS", f"  {kinds[1]}")):
        text = text.replace(word, given)
    source.write_text(text)
    program = place / f"{module}_{mpi}"
    subprocess.run([compiler, source, "-o", program], check=True, timeout=LIMIT_S)
    record(3, None, program=program)
    agrees(tmp_path)
    # integers of 4 bytes: rings of 5 and of 7, and a broadcast of 3 by a tree from rank 0
    expected = Counter({(r, (r + 1) % 3): 48 for r in range(3)}) + Counter({(0, 1): 12, (0, 2): 12})
    assert pairs(tmp_path / "app.goal")["send"][0] == expected


@pytest.mark.parametrize(("name", "words", "ranks"), [
    ("halo", ["3", "20"], 4), ("dsde", ["6", "16", "4"], 3), ("fft", ["12", "1"], 3),
    ("pingpong", ["64", "10"], 2), ("reduce", ["30"], 3),
])
def test_motifs(record, tmp_path, mpi, name, words, ranks, under):
    """Those of the runtime, with their form by MPI's own calls."""
    if mpi == "mpich":
        pytest.skip("the form with MPI runs under Open MPI, where it can be relied on")
    program = under(mpi, ROOT / "runtime" / "motifs" / f"{name}.c")
    record(ranks, None, *words, "mpi", program=program)
    agrees(tmp_path)


def test_the_end_of_the_name_asks_for_a_schedule(env, mpi, place, tmp_path):
    program = compiled(mpi, PROGRAMS / "record_calls.c", place, FLAGS)
    done = flyloom("record", "-o", "app.bin", "--", f"mpiexec.{mpi}", "-n", "3", program, "ring",
                   env=env, cwd=tmp_path, limit_s=LIMIT_S)
    assert done.returncode == 0, done.stderr
    assert document("workload", "check", tmp_path / "app.bin")["sends"] == 9
    assert [file.name for file in tmp_path.iterdir()] == ["app.bin"]


def test_calls_of_a_batch_script_become_a_schedule(mpi, place, env, tmp_path):
    """A folder of calls is a workload itself, and takes the algorithms of collectives."""
    words = command("record", "--library", "--", f"mpiexec.{mpi}")
    library = subprocess.run(words, env=env, text=True, capture_output=True, check=True,
                             timeout=LIMIT_S).stdout.strip()
    more = {"LD_PRELOAD": library, "FLYLOOM_RECORD_CALLS": str(tmp_path / "calls")}
    passed = [part for k, v in more.items()
              for part in (("-x", f"{k}={v}") if mpi == "openmpi" else ("-genv", k, v))]
    program = compiled(mpi, PROGRAMS / "record_collectives.c", place, FLAGS)
    subprocess.run([f"mpiexec.{mpi}", *passed, "-n", "4", program, "0", "1"], env=env,
                   cwd=tmp_path, check=True, timeout=LIMIT_S)
    assert [path.name for path in tmp_path.iterdir()] == ["calls"], "there is no matrix"
    made = flyloom("workload", "convert", tmp_path / "calls", tmp_path / "app.goal",
                   "reduce=linear", "--json")
    assert made.returncode == 0, made.stderr
    shared = len(os.sched_getaffinity(0)) < 4  # a line says that the ranks shared processors
    assert len(made.stderr.splitlines()) == shared, made.stderr
    sizes, counts = pairs(tmp_path / "app.goal")["send"]
    assert {pair for pair, size in sizes.items() if size} == {(0, 2), (1, 2), (3, 2)}
    # besides there is a barrier of two rounds
    assert sum(counts.values()) == 3 + 4 * 2


def test_collectives_can_be_left_out(record, tmp_path):
    record(4, "record_collectives", 0, 0, 1, 2, 6, options=["--no-collectives"])
    assert agrees(tmp_path)["messages"] == 0


@pytest.mark.parametrize(("words", "why"), [
    (["--goal", "app.mtx", "--", "true"], "--goal app.mtx: no schedule has such a name"),
    (["--goal", "absent/app.goal", "--", "true"], "absent"),
    (["--goal", "a.goal", "--set", "allreduc=ring", "--", "true"], "allreduce"),
    (["-o", "a.mtx", "--set", "allreduce=ring", "--", "true"], "--goal FILE"),
])
def test_refusals_come_before_the_program_runs(env, tmp_path, words, why):
    done = flyloom("record", *words, env=env, cwd=tmp_path, limit_s=LIMIT_S)
    assert done.returncode == 2 and why in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1 and not list(tmp_path.iterdir())


def test_a_matrix_is_no_schedule(tmp_path):
    """Neither by its content nor by its name."""
    head = "%%MatrixMarket matrix coordinate real general\n% bytes\n2 2 1\n1 2 8\n"
    (tmp_path / "app.mtx").write_text(head)
    (tmp_path / "app.goal").write_text(head)
    (tmp_path / "bare.mtx").write_text("2 2 1\n1 2 8\n")
    for name in ("app.mtx", "app.goal", "bare.mtx"):
        for verb in (("sim", "message", "--workload"), ("workload", "check")):
            done = subprocess.run(command(*verb, tmp_path / name), text=True, capture_output=True,
                                  timeout=LIMIT_S)
            assert done.returncode == 2 and done.stderr.count("\n") == 1
            for words in (name, "matrix", "flyloom record -o app.goal"):
                assert words in done.stderr, done.stderr
