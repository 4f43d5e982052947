"""Runs over the ranks of real MPI libraries: the same result, one voice, and one end for all."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from mpi_helpers import MPIS, ROOT_MAY, absent, needs, shared_cache
from patience import HANG_S

LIMIT_S = 240
IN_ITS_MIDST_S = 0.7
"""The CPU seconds of a rank after its MPI has started at which it is in the midst of a run."""
FLYLOOM = Path(sys.executable).with_name("flyloom")
NET = "slim_fly:q=5,p=4"
ENGINE_S_OWN = ("windows", "wall_s", "peak_rss_mib")


@pytest.fixture(params=MPIS)
def mpi(request):
    """Each MPI by its name in Debian."""
    needs(request.param)
    return request.param


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return shared_cache(tmp_path_factory)


@pytest.fixture
def start(cache, tmp_path):
    """Starts a program, under an mpiexec where one is named; the caller waits for it."""
    running = []

    def begin(words, mpi=None, ranks=2, **more):
        launcher = [shutil.which(f"mpiexec.{mpi}"), "-n", str(ranks)] if mpi else []
        env = {name: text for name, text in os.environ.items() if name != "FLYLOOM_MPICC"}
        child = subprocess.Popen(
            [*launcher, *map(str, words)], cwd=tmp_path, text=True, start_new_session=True,
            env={**env, **ROOT_MAY, "XDG_CACHE_HOME": str(cache), **more},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        running.append(child)
        return child

    yield begin
    for child in running:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()


@pytest.fixture
def run(start):
    def whole(words, mpi=None, ranks=2, **more):
        child = start(words, mpi, ranks, **more)
        out, err = child.communicate(timeout=LIMIT_S)
        return child.returncode, out, err

    return whole


def packet(*words):
    return [FLYLOOM, "sim", "packet", *words]


def alike(document):
    """What is found, without what an engine may do differently."""
    found = json.loads(document)
    found["parameters"]["sync"] = None
    for point in found["points"]:
        for name in ENGINE_S_OWN:
            del point[name]
    return found


def ours(err):
    """The lines on standard error that are not the launcher's."""
    return [line for line in err.splitlines() if line.startswith(("flyloom:", "interrupted"))]


@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_find_what_one_process_finds(mpi, run, ranks):
    for words in (
        (NET, "--load", "0.3,0.7", "--messages", "8", "--message-bytes", "10000"),
        (NET, "--dialect", "codes-slimfly-v1", "--selection", "adaptive", "--messages", "2"),
    ):
        code, alone, err = run(packet(*words, "--json"))
        assert code == 0, err
        code, found, err = run(packet(*words, "--json", "--sync", "mpi"), mpi, ranks)
        assert code == 0 and not ours(err), err
        assert alike(found) == alike(alone)
        assert all(point["windows"] > 0 for point in json.loads(found)["points"])


def test_one_rank_alone_is_a_run_too(mpi, run):
    words = (NET, "--messages", "5", "--json")
    code, found, err = run(packet(*words, "--sync", "mpi"), FLYLOOM_MPICC=f"mpicc.{mpi}")
    assert code == 0, err
    assert alike(found) == alike(run(packet(*words))[1])


def test_long_messages_between_ranks_arrive(mpi, run):
    """Windows of more than the first message of an exchange holds: 64 KiB."""
    words = ("slim_fly:q=13,p=9", "--messages", "4", "--load", "0.9", "--json",
             "--set", "link.latency_ns=5000", "--set", "link.local_buffer_bytes=4194304",
             "--set", "link.global_buffer_bytes=4194304")
    code, found, err = run(packet(*words, "--sync", "mpi"), mpi)
    assert code == 0, err
    point = json.loads(found)["points"][0]
    # 36 bytes an event that leaves, a fifth of all at least, are more than that in a window
    assert point["events"] / point["windows"] / 5 * 36 > 2 * 65536
    assert alike(found) == alike(run(packet(*words))[1])


def test_rank_0_speaks_and_writes(mpi, run, tmp_path):
    code, out, err = run(packet(NET, "--messages", "5", "--sync", "mpi", "-o", "found.json"), mpi)
    assert code == 0, err
    assert out.count("offered") == 1 and out.count("written to") == 1
    assert json.loads((tmp_path / "found.json").read_text())["points"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["found.json"]


@pytest.mark.parametrize(("words", "why"), [
    (("nowhere.json",), "nowhere.json"),
    ((NET, "--load", "2000000000"), "load"),
    ((NET, "--set", "link.latency_ns=0", "--set", "switch.credit_ns=0"), "lookahead"),
    ((NET, "--no-such-option"), "no-such-option"),
    ((NET, "--messages", "0"), "--messages"),
])
def test_a_refusal_is_reported_once(mpi, run, words, why):
    code, out, err = run(packet(*words, "--sync", "mpi", "--json"), mpi)
    assert code == 2, err
    assert json.loads(out)["exit_code"] == 2 and why in json.loads(out)["error"]["message"]
    assert "Traceback" not in err and len(ours(err)) <= 1, err
    assert err.count(json.loads(out)["error"]["message"][:40]) <= 1


SCRIPT = """
import json, os, signal, sys, threading, time
import flyloom as fl
rank = int(os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK")))
{before}
found = fl.simulate("slim_fly:q=5,p=4", "packet", sync="mpi", messages={messages}, seed={seed})
open(f"rank-{{rank}}", "w").write(found.points[0]["digest"])
"""


def script(before="", messages="5", seed="0"):
    return [sys.executable, "-c", SCRIPT.format(before=before, messages=messages, seed=seed)]


def test_every_rank_of_a_script_has_the_result(mpi, run, tmp_path):
    code, _, err = run(script(), mpi, 3)
    assert code == 0, err
    reported = [path.read_text() for path in tmp_path.glob("rank-*")]
    assert len(reported) == 3 and len(set(reported)) == 1 and reported[0]


def test_ranks_with_other_parameters_are_refused(mpi, run, tmp_path):
    code, _, err = run(script(seed="rank"), mpi)
    assert code != 0 and not list(tmp_path.iterdir())
    assert "rank 1 has other parameters than rank 0" in err


def test_a_rank_that_dies_ends_all(mpi, run, tmp_path):
    die = f"""
def die():
    while "libflyloom_ranks.so" not in open("/proc/self/maps").read(): time.sleep(0.01)
    before = time.process_time()
    while time.process_time() < before + {IN_ITS_MIDST_S}: time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGKILL)
rank == 1 and threading.Thread(target=die).start()"""
    code, _, _ = run(script(die, messages="2**30"), mpi)
    assert code != 0 and not list(tmp_path.iterdir())


def test_a_rank_that_breaks_off_ends_all(mpi, run, tmp_path):
    """An exception at one rank while the other waits for it."""
    fault = "if rank == 1: fl.simulate('slim_fly:q=5,p=4', 'packet', sync='mpi', messages=0)"
    code, _, err = run(script(fault + "\n"), mpi)
    assert code == 3 and not list(tmp_path.iterdir())
    assert "messages" in err or "rank" in err


def at_work(folder):
    """What processors spent on each process in a folder that has its MPI, by its number."""
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # the process has ended
            if ((place / "cwd").readlink() == folder
                    and "libflyloom_ranks.so" in (place / "maps").read_text()):
                fields = (place / "stat").read_text().rpartition(")")[2].split()
                found[place.name] = int(fields[11]) / os.sysconf("SC_CLK_TCK")
    return found


def test_ctrl_c_ends_all(mpi, start, tmp_path):
    child = start(packet(NET, "--messages", str(2**30), "--sync", "mpi"), mpi)
    limit, first = time.monotonic() + HANG_S, {}
    while sum(s > first[pid] + IN_ITS_MIDST_S for pid, s in at_work(tmp_path).items()
              if pid in first) < 2:
        assert child.poll() is None and time.monotonic() < limit
        first = {**at_work(tmp_path), **first}
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert child.returncode != 0 or mpi == "mpich"  # MPICH's launcher returns 0
    assert "offered" not in out and "Traceback" not in err and len(ours(err)) <= 1


@pytest.mark.parametrize(("launcher", "other"), [MPIS, MPIS[::-1]])
def test_the_mpi_of_another_launcher_is_refused(run, launcher, other):
    for mpi in MPIS:
        needs(mpi)
    words = packet(NET, "--messages", "2", "--sync", "mpi")
    code, out, err = run(words, launcher, FLYLOOM_MPICC=f"mpicc.{other}")
    assert code == 2 and not out
    assert "started 2 processes" in err and "FLYLOOM_MPICC" in err
    assert len(ours(err)) == 1, err


def test_without_mpi_it_is_refused(run, tmp_path):
    words = packet(NET, "--sync", "mpi")
    broken = tmp_path / "mpicc"
    broken.write_text("#!/bin/sh\n"
                      'case "$1" in -show) echo gcc;; *) echo no mpi.h >&2; exit 1;; esac\n')
    broken.chmod(0o755)
    for more, why in (
        ({"PATH": str(tmp_path / "empty")}, "no mpicc in PATH"),
        ({"FLYLOOM_MPICC": "nowhere"}, "FLYLOOM_MPICC: nowhere"),
        ({"FLYLOOM_MPICC": str(broken)}, "no mpi.h"),
    ):
        code, out, err = run(words, **more)
        assert (code, out) == (2, ""), err
        assert len(err.splitlines()) == 1 and why in err, err


def test_doctor_tries_each_mpi(run):
    code, out, err = run([FLYLOOM, "doctor", "--json"])
    assert code == 0, err
    rows = json.loads(out)["mpi"]
    there = [mpi for mpi in MPIS if not absent(mpi)]
    assert len(rows) >= max(1, len(there))
    for row in rows:
        assert row["works"] == (row["why"] is None), row
        if there:
            assert row["works"] and row["library"], row
    code, out, err = run([FLYLOOM, "doctor", "--json"], PATH="/nowhere")
    (row,) = json.loads(out)["mpi"]
    assert not row["works"] and row["why"] and row["remedy"]
