"""Runs of traces over packets: how long they take is said before, how far they are meanwhile."""

from __future__ import annotations

import io
import re
import subprocess
import sys

import flyloom as fl
import pytest
from cli_helpers import environment, flyloom
from flyloom.support import machine, progress

NET = "complete:n=8,p=1"
PROGRAM = """
import sys
from flyloom.cli import program
from flyloom.support import machine

machine.PATIENCE_S = 1e-9
sys.argv[:] = ["flyloom", *sys.argv[1:]]
program()
"""


def packets(ranks: int, bytes_: int) -> int:
    """The packets of an all-to-all exchange: each message has packets of 4,096 bytes, and from 8
    KiB on, with the costs of CODES, a question and an answer."""
    return ranks * (ranks - 1) * (-(-bytes_ // 4096) + (2 if bytes_ >= 8192 else 0))


def asked(monkeypatch, ranks: int, bytes_: int, **more) -> tuple[float, float]:
    """Bytes and seconds that a run is expected to take, and that it has as many packets as due."""
    seen: list[tuple[float, float]] = []
    with monkeypatch.context() as patched:
        patched.setattr(machine, "afford", lambda _, needs, seconds: seen.append((needs, seconds)))
        found = fl.simulate(NET, "packet", workload=f"alltoall_linear:ranks={ranks},bytes={bytes_}",
                            collectives="real", costs="codes", **more)
    assert found.points[0]["packets"] == packets(ranks, bytes_)
    return seen[-1]


def test_the_estimate_of_a_trace_is_that_of_its_packets(monkeypatch):
    """Seconds in proportion to packets, by the network's depth, shared among threads."""
    bytes_, seconds = asked(monkeypatch, 4, 100, threads=1)
    assert bytes_ > 0 and seconds > 0
    for ranks, size in ((4, 40_960), (6, 1000), (8, 123_456)):
        due = seconds * packets(ranks, size) / packets(4, 100)
        assert asked(monkeypatch, ranks, size, threads=1)[1] == pytest.approx(due)
        assert asked(monkeypatch, ranks, size, threads=2)[1] == pytest.approx(due / 2)


def test_the_estimate_of_a_trace_is_said_off_a_terminal():
    words = ("sim", "packet", NET, "--workload", "alltoall_linear:ranks=8,bytes=50000")
    done = subprocess.run([sys.executable, "-c", PROGRAM, *words], env=environment(),
                          capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stderr.splitlines() if line.startswith(f"simulating {NET}")]
    assert said == [f"simulating {NET}: about 2 seconds; Ctrl-C stops"]
    assert "about" not in done.stdout


def test_a_trace_tells_how_much_is_left(monkeypatch):
    """Off a terminal: lines, each with the number of packets done, that rise up to what is due."""
    reported = io.StringIO()
    monkeypatch.setattr(progress.sys, "stderr", reported)
    monkeypatch.setattr(progress, "LINES_S", -1.0)
    monkeypatch.setattr(progress, "FIRST_LINE_S", -1.0)
    due = packets(8, 20_000_000)
    with progress.bars() as bar:
        fl.simulate(NET, "packet", workload="alltoall_linear:ranks=8,bytes=20000000",
                    collectives="real", progress=bar, threads=1)
    lines = [line for line in reported.getvalue().splitlines()
             if line.startswith("flyloom: packets: ")]
    assert lines, reported.getvalue()
    done = []
    for line in lines:
        count, rest = line.removeprefix("flyloom: packets: ").split(" of ")
        done.append(int(count.replace(",", "")))
        assert re.fullmatch(rf"{due:,}, {done[-1] / due:.0%}, about \d+ \w+ left", rest), line
    assert done == sorted(done) and done[0] >= 0 and done[-1] <= due


TWO = """num_ranks 2
rank 0 {
a: calc 3000000
b: send 1000000b to 1
c: recv 1000000b from 1
b requires a
c requires b
}
rank 1 {
a: recv 1000000b from 0
b: calc 3000000
c: send 1000000b to 0
b requires a
c requires b
}
"""


@pytest.mark.parametrize("compute", ["on", "off"])
def test_the_estimate_has_the_background_as_long_as_the_traces_take(
    monkeypatch, tmp_path, compute,
):
    """Two messages of 1 MB, one after the other, each after 3 ms of computing: at 12.5 GiB/s no
    less than their bytes take, and what is computed where that counts. Meanwhile six processes send
    two packets each in every interval."""
    (tmp_path / "two.goal").write_text(TWO)
    seen: list[float] = []
    found: list[float] = []
    with monkeypatch.context() as patched:
        patched.setattr(machine, "afford", lambda what, _needs, seconds:
                        seen.append(seconds) if what == f"simulating {NET}" else None)
        for background in (None, {"ranks": 6, "bytes": 5000, "interval_ns": 500}):
            more = {} if background is None else {"background": background}
            fl.simulate(NET, "packet", workload=str(tmp_path / "two.goal"), compute=compute,
                        threads=1, **more)
            found.append(seen[-1])
    own = 2 * (-(-1_000_000 // 4096) + 2)
    least_us = 2 * 1_000_000 / (12.5 * 2**30) * 1e6 + (6000 if compute == "on" else 0)
    due = found[0] * (own + 6 * 2 * least_us / 0.5) / own
    assert found[1] == pytest.approx(due, rel=0.01)


def test_a_trace_without_ranks_beside_a_background_is_refused(tmp_path):
    """Such a run would not end, since nothing reports that the trace is done."""
    (tmp_path / "none.goal").write_text("num_ranks 0\n")
    (tmp_path / "two.goal").write_text(TWO)
    words = ["sim", "packet", NET, "--workload", "two.goal", "--workload", "none.goal"]
    done = flyloom(*words, "--background", "ranks=2,bytes=10", cwd=tmp_path)
    assert done.returncode == 2 and "workload: " in done.stderr, done.stderr
    assert "none.goal has no ranks" in done.stderr and done.stderr.count("\n") == 1
