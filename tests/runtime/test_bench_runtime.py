"""The benchmark of the runtime: whose failure it was, which run is shown, and where nodes are."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from checkout import ROOT
from mpi_helpers import MPIS, needs
from patience import HANG_S
from test_runtime import build, call, needs_libfabric

sys.path.insert(0, str(ROOT / "bench"))

import nodes
import notified
import peers
from measure import Broken
from motifs import VADER
from rows import Options

QUICK = Options(quick=False, full=False, say=lambda line: None)


@pytest.mark.parametrize(("transport", "raw", "which", "methods"), [
    ("shm", "raw ring", "messages", {"put_notify", "send and receive"}),
    ("shm", "raw ring", "epochs", {"fence", "MPI fence", "PSCW", "MPI PSCW"}),
    ("ofi", "raw sockets", "epochs", {"fence", "MPI fence", "PSCW", "MPI PSCW"}),
])
@pytest.mark.parametrize("mpi", MPIS)
def test_methods_beside_an_mpi(mpi, transport, raw, which, methods, tmp_path):
    """All methods of a run have a row, and the numbers that ours hand over have arrived."""
    needs(mpi)
    release = build("release")
    if transport == "ofi":
        needs_libfabric(release)
    made = peers.program(mpi, "perf_mpi.c", str(tmp_path))
    rows = peers.rows_of(call(f"mpiexec.{mpi}", "-n", 2, made, transport, 8, 300, which,
                              more=VADER))
    assert {name for name in rows if not name.startswith("lost")} == methods | {raw}
    for name in methods & {"fence", "PSCW"}:
        assert rows[f"lost: {name}"]["count"] == 0
    assert all(rows[name]["median_ns"] > 0 for name in methods)


def shell(text, **more):
    return peers.output(["sh", "-c", text], **more)


@pytest.mark.parametrize("said", [
    "flyloom-perf: -5: fly_put: target: 7 must be below 2", "perf_mpi: no transport",
    "fly_fence(p->win): FLY_ERR_PEER: rank 1 has ended",
])
def test_a_failure_of_the_runtime_is_no_failure_of_the_peer(said):
    """If the runtime reports an error, the benchmark is broken."""
    with pytest.raises(Broken, match="fly_|perf_mpi") as seen:
        shell(f"echo '{said}' >&2; exit 3")
    assert not isinstance(seen.value, peers.Failed)


@pytest.mark.parametrize(("text", "reported"), [
    ("echo 'mpiexec noticed something' >&2; echo 'Signal: Segmentation fault (11)' >&2; exit 139",
     "Segmentation fault"),
    ("echo 'Abort(1) on node 1' >&2; echo \"hash by MPI: other keys are found\" >&2; exit 1",
     "other keys"),
    ("exit 7", "code 7"),
])
def test_a_peer_that_fails_is_said(text, reported):
    """What it died of stands in its row, which has no figure and is not met."""
    runs = peers.repeated(QUICK, 9, lambda: shell(text))
    assert not runs.good and len(runs.failures) == peers.FAILURES_MOST
    row = notified.beside("mpich", "put, flush, message", runs, 5.0)
    assert row.figure is None and row.met is None and reported in row.note


def test_a_peer_that_hangs_leaves_nothing(tmp_path):
    """The peer is killed together with the processes that it started."""
    limit_s = 1
    while not (tmp_path / "pid").exists() and limit_s < HANG_S:  # its child needs time
        with pytest.raises(peers.Failed, match="no end"):
            shell(f"sleep 1000 & echo $! > {tmp_path}/pid; wait", limit_s=limit_s)
        limit_s *= 4
    until = time.monotonic() + HANG_S
    pid = int((tmp_path / "pid").read_text())
    while alive(pid):
        assert time.monotonic() < until
        time.sleep(0.05)


def alive(pid):
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def run(ours, theirs, lost=0):
    return {"put_notify": {"median_ns": ours, "p99_ns": 0, "of_raw": 1.0},
            "peer": {"median_ns": theirs, "p99_ns": 0},
            "lost: peer": {"count": lost, "of": 10}}


def test_figures_of_one_run_are_compared():
    """Near and far runs are not mixed: medians of each would give 300 / 100."""
    runs = peers.Runs([run(100, 200), run(100, 150), run(300, 900), run(310, 300)])
    row = notified.beside("mpich", "peer", runs, None)
    assert (row.figure, row.baseline) == (100, 150)  # the lower one of the two in the middle
    assert row.least_ratio == notified.LEAST_NEAR and row.met is False
    far = notified.beside("mpich", "peer", peers.Runs([run(300, 450, lost=3)]), None)
    assert far.least_ratio == notified.LEAST_FAR and far.met
    assert "3 of 10 hand-overs" in far.note


def test_regimes():
    """The regime follows from the times of the ring; more ranks than processors are reported."""
    assert peers.regime([80, 120]).startswith("near")
    assert peers.regime([280]).startswith("far")
    assert peers.regime([80, 280, 80]).startswith("near 2, far 1 of 3 runs")
    assert peers.regime([80], 10_000).startswith("oversubscribed: 10000 ranks")


def test_without_namespaces_it_is_said(monkeypatch):
    """Then both ranks are on 127.0.0.1."""
    def refused(names):
        raise peers.Failed("not permitted")
    monkeypatch.setattr(nodes, "_connect", refused)
    with nodes.two_nodes() as both:
        assert "127.0.0.1" in both.said and "not permitted" in both.said
        assert both.mpi("mpich", ["program"]) == ["mpiexec.mpich", "-n", "2", "program"]


def test_namespaces_are_removed():
    """They are removed also if the measurement fails."""
    with pytest.raises(ZeroDivisionError), nodes.two_nodes() as both:
        if not both.names:
            pytest.skip(both.said)
        for name in both.names:
            assert "10.77.0." in subprocess.run(["ip", "-n", name, "addr"], text=True,
                                                capture_output=True).stdout
        raise ZeroDivisionError
    assert not [name for name in os.listdir("/run/netns") if f"flybench{os.getpid()}" in name]
