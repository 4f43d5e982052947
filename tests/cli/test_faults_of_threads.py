"""Panics that are planted in the threads of commands: one line, exit code 3, and no wait."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from cli_helpers import document, environment
from mpi_helpers import MPIS, mpi_environment, needs, shared_cache
from patience import HANG_S

PROGRAM = """
import os, sys
from flyloom import _core
from flyloom.cli import program

what, n, stuck, at = sys.argv[1:5]
rank = os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK", "0"))
if at in ("", rank):
    _core.plant_fault(what, int(n), stuck == "stuck")
sys.argv[:] = ["flyloom", *sys.argv[5:]]
program()
"""
LIMIT_S = 3 * HANG_S
"""Against hangs: without a fault noticed these commands would wait without end."""
PROMPT_S = HANG_S
"""The longest time from the line of a fault to the end of all processes; usually 0.1 s."""

FLIT = "sim flit slim_fly:q=3,p=1 --set switch.virtual_channels=16"
PACKET = "sim packet slim_fly:q=3,p=1 --messages 2"
LARGE = "sim packet slim_fly:q=5,p=4"
MESSAGE = "sim message slim_fly:q=3,p=1 --workload 'alltoall_pairwise bytes=9'"


def left(token: str) -> list[str]:
    """The processes that a command has left behind, by a variable that all of them have."""
    found = []
    for place in Path("/proc").glob("[0-9]*/environ"):
        try:
            if token.encode() in place.read_bytes():
                found.append(place.parent.name)
        except OSError:  # it has ended, or is another's
            continue
    return found


def ends(what: str, n: int, words: str, how: str = "", at: str = "", launcher: Sequence[str] = (),
         env: Mapping[str, str] | None = None, cwd: Path | None = None,
         codes: Sequence[int] = (3,)) -> tuple[str, list[str]]:
    """Runs a command in which a thread panics (of the rank ``at``; ``stuck``: others never end).

    It ends with one of the exit codes and one line of ours, promptly after that; no process is left
    behind. What it printed, and what it said.
    """
    token = f"PLANTED={uuid.uuid4()}"
    name, _, value = token.partition("=")
    said: list[tuple[float, str]] = []
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen(
            [*launcher, sys.executable, "-c", PROGRAM, what, str(n), how, at, *shlex.split(words)],
            env={**(env or environment(RUST_BACKTRACE="1")), name: value}, cwd=cwd, stdout=out,
            stderr=subprocess.PIPE, text=True)
        reader = threading.Thread(
            target=lambda: said.extend((time.monotonic(), line) for line in child.stderr))
        reader.start()
        try:
            code = child.wait(LIMIT_S)
            ended_s = time.monotonic()
            while (there := left(token)) and time.monotonic() < ended_s + PROMPT_S:
                time.sleep(0.02)
        finally:
            for pid in left(token):
                os.kill(int(pid), signal.SIGKILL)
            child.wait()
            reader.join()
        out.seek(0)
        printed = out.read()
    lines = [line for _, line in said]
    text = "".join(lines)
    ours = [at for at, line in enumerate(lines)
            if re.match(r"(point \d+ \([^)]*\): )?flyloom|terminated", line)]
    fault = f"flyloom has a fault: planted in {what} (crates/py/src/enter.rs:"
    assert code in codes and len(ours) == 1 and fault in lines[ours[0]], f"{code}: {text}"
    assert not there, f"left behind: {there}"
    prompt_s = ended_s - said[ours[0]][0]
    print(f"{what} {how} {at}: {prompt_s:.3f} s from the line to the end")
    assert prompt_s < PROMPT_S
    return printed, lines


@pytest.mark.parametrize(("what", "n", "words"), [
    ("cycles", 0, f"{FLIT} --load 0.1 --threads 1"),
    ("cycles", 2, f"{FLIT} --load 0.1 --threads 3"),
    ("cycles", 3, f"{FLIT} --load 0.1,0.2,0.3 --threads 3"),
    ("cycles of warm-up", 1, f"{FLIT} --load 0.1 --set run.warmup_cycles=auto"),
    ("packets", 0, f"{PACKET} --load 0.1"),
    ("packets", 1, f"{PACKET} --load 0.1,0.2 --threads 2"),
    ("packets", 1, f"{LARGE} --messages 9 --load 0.1 --sync threads --threads 2"),
    ("packets", 1, f"{PACKET} --load 0.1 --sync optimistic --threads 2"),
    ("events", 0, MESSAGE),
    ("choices of ports", 0, f"{FLIT} --load 0.1"),
    ("candidates", 1, f"{FLIT} --load 0.1"),
    ("distances", 0, "map slim_fly:q=3,p=1 --graph stencil:shape=4x4,bytes=9"),
    ("annealing", 0, "map slim_fly:q=3,p=1 --graph stencil:shape=4x4,bytes=9 --method anneal"),
    ("routing", 2, "route slim_fly:q=3,p=1 --engine min_hop"),
    ("routing", 0, "route slim_fly:q=3,p=1 --engine dfsssp"),
    ("completeness", 0, "verify slim_fly:q=3,p=1"),
    ("deadlock", 1, "verify slim_fly:q=3,p=1"),
    ("all-pairs distances", 0, "structure slim_fly:q=3,p=1"),
    ("runs", 1, "ebb slim_fly:q=3,p=1 --samples 9"),
    ("resilience", 1, "resilience slim_fly:q=3,p=1"),
])
def test_a_planted_panic_ends_the_command(what, n, words):
    printed, lines = ends(what, n, words)
    assert (printed, len(lines)) == ("", 1)


@pytest.mark.parametrize(("what", "n", "words"), [
    ("cycles", 2, f"{FLIT} --load 0.1,0.2,0.3 --threads 3"),
    ("packets", 1, f"{PACKET} --load 0.1,0.2 --threads 2"),
    ("candidates", 1, f"{FLIT} --load 0.1"),
    ("routing", 2, "route slim_fly:q=3,p=1 --engine min_hop"),
    ("annealing", 0, "map slim_fly:q=3,p=1 --graph stencil:shape=4x4,bytes=9 --method anneal"),
    ("deadlock", 1, "verify slim_fly:q=3,p=1"),
])
def test_threads_that_never_end_are_not_waited_for(what, n, words):
    printed, lines = ends(what, n, words, "stuck")
    assert (printed, len(lines)) == ("", 1)


RUN = """
schema = 1
name = "panics"
[topology]
family = "slim_fly"
q = 3
p = 1
[sim.packet]
messages = 2
[sweep.grid]
"sim.packet.load" = [0.1, 0.2, 0.3, 0.4]
"""


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("how", ["", "stuck"])
def test_a_panic_in_a_worker_of_an_experiment_ends_it(tmp_path, workers, how):
    """Each worker has the fault at its third point, or the run itself."""
    (tmp_path / "panics.toml").write_text(RUN)
    _, lines = ends("packets", 1, f"run panics.toml --workers {workers}", how, cwd=tmp_path)
    assert sum("fault" in line for line in lines) == 1


def test_what_a_run_that_is_broken_off_has_of_temporary_folders_is_removed(tmp_path):
    script = tmp_path / "scratch.py"
    script.write_text(
        "import os\nfrom flyloom.support import ending\nfrom flyloom.support.files import scratch\n"
        "from pathlib import Path\nending.listen()\n"
        "with scratch(Path('.')) as kept, scratch(Path('.')):\n"
        "    with scratch(Path('.')):\n        pass\n"
        "    assert len(list(Path('.').glob('flyloom-*'))) == 2\n"
        "    ending.break_off('flyloom has a fault: x')\n")
    done = subprocess.run([sys.executable, script], cwd=tmp_path, env=environment(),
                          capture_output=True, text=True, timeout=LIMIT_S)
    assert (done.returncode, done.stderr) == (3, "flyloom has a fault: x\n")
    assert [path.name for path in tmp_path.iterdir()] == ["scratch.py"]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """For the library around MPI, which is built once."""
    return shared_cache(tmp_path_factory)


def exit_codes(mpi: str, stuck: bool) -> tuple[int, ...]:
    """The exit codes that a launcher may return when a rank ended with 3.

    A rank whose threads do not end cannot ask MPI to end the others, it just ends. MPICH's launcher
    has 1 for that where the connection to its proxy closes before the exit codes have come by it;
    where a rank asks MPI to end all, or its end makes the proxy end the others, it has 9 when it
    hears of a rank that its proxy killed first.
    """
    return ((3, 1, 9) if stuck else (3, 9)) if mpi == "mpich" else (3,)


@pytest.mark.parametrize("mpi", MPIS)
@pytest.mark.parametrize(("what", "how", "at"), [
    ("packets", "", "0"), ("packets", "", "1"), ("packets", "stuck", "0"),
    ("packets", "stuck", "1"), ("candidates", "", "1"), ("candidates", "stuck", "0"),
])
def test_a_panic_of_a_rank_ends_all_ranks(cache, tmp_path, mpi, what, how, at):
    needs(mpi)
    launcher = [shutil.which(f"mpiexec.{mpi}"), "-n", "2"]
    env = mpi_environment(cache, FLYLOOM_MPICC=f"mpicc.{mpi}", RUST_BACKTRACE="1")
    ends(what, 0, "sim packet slim_fly:q=3,p=1 --messages 9999 --sync mpi", how, at, launcher, env,
         tmp_path, exit_codes(mpi, how == "stuck"))


RANK = """
import os
import flyloom as fl
from flyloom import _core

if os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK")) == "1":
    _core.plant_fault("packets", 0, {stuck})
fl.simulate("slim_fly:q=3,p=1", "packet", sync="mpi", messages=9999)
"""


@pytest.mark.parametrize("mpi", MPIS)
@pytest.mark.parametrize("stuck", [False, True])
def test_a_panic_of_a_rank_of_a_script_ends_all_ranks(cache, tmp_path, mpi, stuck):
    needs(mpi)
    done = subprocess.run(
        [shutil.which(f"mpiexec.{mpi}"), "-n", "2", sys.executable, "-c", RANK.format(stuck=stuck)],
        env=mpi_environment(cache, FLYLOOM_MPICC=f"mpicc.{mpi}"), cwd=tmp_path,
        capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode in exit_codes(mpi, stuck), done.stderr
    assert "flyloom has a fault: planted in packets" in done.stderr


def test_a_channel_that_a_message_crosses_twice_carries_both_parts(tmp_path):
    """Two rails of each end in one plane: both halves go over the one cable between the switches,
    so that it takes as long as by one rail, (s - 1) / rate."""
    net, goal = tmp_path / "net.json", tmp_path / "one.goal"
    net.write_text('{"flyloom": 1, "recipe": {"family": "file", "params": {}},'
                   ' "switches": [{"name": "a"}, {"name": "b"}], "links": [[0, 0, 1, 0, null]],'
                   ' "endpoints": [{"name": "x", "rails": [[0, 0], [0, 0]]},'
                   ' {"name": "y", "rails": [[1, 0], [1, 0]]}]}')
    goal.write_text("num_ranks 2\nrank 0 {\nsend 100000b to 1\n}\n"
                    "rank 1 {\nrecv 100000b from 0\n}\n")
    words = ("sim", "message", net, "--workload", goal, "--set", "link.rate_gbps=100")
    found = [document(*words, *more)["finish_ns"]
             for more in ([], ["--set", "rail=by_interface"])]
    assert found[0] == pytest.approx(found[1]) and found[0] > 99_999 * 8 / 100
