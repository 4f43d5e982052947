"""Rounds of a sparse exchange: the runtime's edge colouring beside the simulator's schedules.

Both were written apart, one in C and one in Rust; each message must be in the same round.
"""

from __future__ import annotations

import random
import re
import subprocess

import pytest
from cli_helpers import command, environment
from test_runtime import LIMIT_S, build


@pytest.fixture(scope="module")
def program():
    return build("release") / "tests/colour_test"


def run(words, **more):
    done = subprocess.run(words, text=True, capture_output=True, timeout=LIMIT_S, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def generated(matrix, ranks, place):
    """What each rank does in each of its rounds, by the generator: {("send", 3), ("recv", 1)}."""
    goal = place / "made.goal"
    run(command("workload", "make", "neighbour_coloured", f"ranks={ranks}", "bytes=8",
                "graph=matrix", f"matrix={matrix}", "-o", goal), env=environment())
    rounds = []
    for text in re.findall(r"rank \d+ \{(.*?)\}", goal.read_text(), flags=re.DOTALL):
        level, does = {}, {}
        for one, kind, peer in re.findall(r"(l\d+): (send|recv) \d+b (?:to|from) (\d+)", text):
            level[one], does[one] = 0, (kind, int(peer))
        for one, other in re.findall(r"(l\d+) requires (l\d+)", text):
            level[one] = max(level[one], level[other] + 1)
        count = max(level.values(), default=-1) + 1
        rounds.append([{does[one] for one in does if level[one] == k} for k in range(count)])
    return rounds


@pytest.mark.parametrize("seed", range(5))
def test_rounds_are_the_generators(seed, program, tmp_path):
    """Operation for operation, for random graphs."""
    draw = random.Random(seed)
    ranks = draw.randint(3, 30)
    pairs = [(a, b) for a in range(ranks) for b in range(ranks) if a != b]
    edges = sorted(draw.sample(pairs, draw.randint(ranks, len(pairs))))
    rows = [[8 * ((a, b) in edges) for b in range(ranks)] for a in range(ranks)]
    matrix = tmp_path / "bytes.csv"
    matrix.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    said = run([program, "rounds", str(ranks)], input="".join(f"{a} {b}\n" for a, b in edges))
    mine = [{} for _ in range(ranks)]
    for (a, b), k in zip(edges, map(int, said.split()), strict=True):
        mine[a].setdefault(k, set()).add(("send", b))
        mine[b].setdefault(k, set()).add(("recv", a))
    assert [[by[k] for k in sorted(by)] for by in mine] == generated(matrix, ranks, tmp_path)
