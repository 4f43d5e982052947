"""Panics that are planted in the threads of commands: one line, exit code 3, and no wait."""

from __future__ import annotations

import shlex
import subprocess
import sys

import pytest
from cli_helpers import document, environment

PROGRAM = """
import sys
from flyloom import _core
from flyloom.cli import program

_core.plant_fault(sys.argv[1], int(sys.argv[2]))
sys.argv[:] = ["flyloom", *sys.argv[3:]]
program()
"""
LIMIT_S = 60
"""Against hangs: without a fault noticed these commands would wait without end."""

FLIT = "sim flit slim_fly:q=3,p=1 --set router.virtual_channels=16"
PACKET = "sim packet slim_fly:q=3,p=1 --messages 2"
MESSAGE = "sim message --net slim_fly:q=3,p=1 --workload 'alltoall_pairwise bytes=9'"


def planted(what: str, n: int, words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", PROGRAM, what, str(n), *shlex.split(words)],
                          env=environment(RUST_BACKTRACE="1"), capture_output=True, text=True,
                          timeout=LIMIT_S)


@pytest.mark.parametrize(("what", "n", "words"), [
    ("cycles", 0, f"{FLIT} --load 0.1 --threads 1"),
    ("cycles", 2, f"{FLIT} --load 0.1 --threads 3"),
    ("cycles", 3, f"{FLIT} --load 0.1,0.2,0.3 --threads 3"),
    ("cycles of warm-up", 1, f"{FLIT} --load 0.1 --set run.warmup_cycles=auto"),
    ("packets", 0, f"{PACKET} --load 0.1"),
    ("packets", 1, f"{PACKET} --load 0.1,0.2 --threads 2"),
    ("packets", 1, f"{PACKET} --load 0.1 --sync threads --threads 2"),
    ("packets", 1, f"{PACKET} --load 0.1 --sync optimistic --threads 2"),
    ("events", 0, MESSAGE),
    ("ways", 0, f"{FLIT} --load 0.1"),
    ("candidates", 1, f"{FLIT} --load 0.1"),
    ("distances", 0, "map slim_fly:q=3,p=1 --graph stencil:shape=4x4,bytes=9"),
    ("annealing", 0, "map slim_fly:q=3,p=1 --graph stencil:shape=4x4,bytes=9 --method anneal"),
    ("routing", 2, "route slim_fly:q=3,p=1 --engine min_hop"),
    ("routing", 0, "route slim_fly:q=3,p=1 --engine dfsssp"),
    ("completeness", 0, "verify slim_fly:q=3,p=1"),
    ("deadlock", 1, "verify slim_fly:q=3,p=1"),
    ("all-pairs distances", 0, "structure slim_fly:q=3,p=1"),
    ("runs", 1, "ebb slim_fly:q=3,p=1 --patterns 9"),
    ("resilience", 1, "resilience slim_fly:q=3,p=1"),
])
def test_a_planted_panic_ends_the_command(what, n, words):
    done = planted(what, n, words)
    assert (done.returncode, done.stdout) == (3, ""), done.stderr
    said = f"flyloom has a fault: planted in {what} (crates/py/src/enter.rs:"
    assert done.stderr.count("\n") == 1 and said in done.stderr, done.stderr


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
    words = ("sim", "message", "--goal", goal, "--net", net, "--set", "network.link_gbps=100")
    found = [document(*words, *more)["finish_ns"]
             for more in ([], ["--set", "network.rails=interface"])]
    assert found[0] == pytest.approx(found[1]) and found[0] > 99_999 * 8 / 100
