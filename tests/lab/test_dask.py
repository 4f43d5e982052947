"""Points on Dask: a real cluster of processes, workers killed, schedulers that are not there."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import flyloom as fl
import pytest
from cli_helpers import environment, flyloom
from flyloom import RefusalError, report
from flyloom._core import FaultError
from flyloom.lab import dask, sources
from patience import HANG_S
from test_executors import LONG, SHORT, lines_of, start, undisturbed, written

distributed = pytest.importorskip("distributed")
__all__ = ["undisturbed"]


@pytest.fixture(autouse=True)
def no_charts(monkeypatch):
    monkeypatch.setattr(report, "render", lambda _data, **_how: "")


@pytest.fixture
def cluster(monkeypatch):
    """A scheduler with two worker processes that stand alone."""
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True,
                                  dashboard_address=None) as started:
        yield started


def on(cluster) -> str:
    return cluster.scheduler_address.replace("tcp://", "dask://")


@pytest.fixture
def place(tmp_path):
    (tmp_path / "many.toml").write_text(LONG)
    return tmp_path


def test_the_same_bytes_when_a_worker_of_dask_is_killed(undisturbed, place, cluster):
    """The first in its midst; what is computed again is the same."""
    said = []

    def kill_one() -> None:
        while not list(place.rglob("points/*.json")):
            time.sleep(0.01)
        os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
        said.append("killed")

    killer = threading.Thread(target=kill_one)
    killer.start()
    found = fl.run(place / "many.toml", out=place, on=on(cluster))
    killer.join(30)
    assert said == ["killed"] and (found.points, found.reused) == (12, 0)
    assert (written(place / "many"), lines_of(place / "many")) == undisturbed
    assert fl.run(place / "many.toml", out=place, on=on(cluster)).reused == 12


def test_networks_from_files_travel_with_their_points(tmp_path, cluster):
    """The files are gone before the workers could read them; as text they are the same network."""
    (tmp_path / "x.net").write_text(fl.network("torus:shape=3x4,p=2").to_text("json"))
    (tmp_path / "spec.toml").write_text('family = "slim_fly"\nq = 3\n')
    (tmp_path / "many.toml").write_text(SHORT.replace(
        '{ family = "slim_fly", q = 3 }', '{ file = "spec.toml" }').replace(
        '{ family = "torus", shape = [3, 4], p = 2 }', '{ file = "x.net" }'))
    (tmp_path / "plain.toml").write_text(SHORT.replace('"many"', '"plain"'))
    for workers, where in ((2, None), (None, on(cluster))):
        fl.run(tmp_path / "many.toml", out=tmp_path, fresh=True, workers=workers, on=where)
        fl.run(tmp_path / "plain.toml", out=tmp_path, fresh=True, workers=1)
        for name in ("cables-Slim-Fly.csv", "cables-torus.csv"):
            made, plain = (tmp_path / run / name for run in ("many", "plain"))
            assert made.read_bytes() == plain.read_bytes()


def test_packets_at_given_times_travel_with_their_points(tmp_path, cluster):
    """Three cycles a switch and two: over two switches, then over three with a flit more."""
    (tmp_path / "packets.txt").write_text("0 0 1 1\n90 0 2 2\n")
    (tmp_path / "times.toml").write_text(
        'schema = 1\nname = "times"\ntopology = { family = "ring", n = 6, p = 1 }\n'
        '[sim.flit]\ntraffic = "packets.txt"\n[sweep.grid]\n'
        '"sim.flit.switch.buffer_flits" = [8, 16]\n')
    found = fl.run(tmp_path / "times.toml", out=tmp_path, on=on(cluster))
    records = json.loads((tmp_path / "times" / "results.json").read_text())["records"]
    assert found.points == len(records) == 2
    for record in records:
        [point] = record["measures"]["sim.flit"]["points"]
        assert point["latency_histogram"] == [[8, 1], [12, 1]]


def test_ctrl_c_takes_the_points_back(place, cluster):
    child = start(place, "--on", on(cluster))
    limit = time.monotonic() + HANG_S
    while not list(place.rglob("points/*.json")):
        assert child.poll() is None and time.monotonic() < limit
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=HANG_S)
    assert (child.returncode, err) == (130, "interrupted\n")
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
        limit = time.monotonic() + HANG_S
        while any(client.processing().values()):
            assert time.monotonic() < limit, "the scheduler was informed"
            time.sleep(0.05)


def test_no_scheduler_is_a_refusal_within_ten_seconds(place):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        port = silent.getsockname()[1]
        for says in (False, True):  # nobody listens; then connections are taken in silence
            if says:
                silent.listen()
            began = time.monotonic()
            done = flyloom("run", "many.toml", "--on", f"dask://127.0.0.1:{port}", cwd=place)
            assert time.monotonic() - began < HANG_S
            assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
            assert f"no Dask scheduler answers at 127.0.0.1:{port} within 10 s" in done.stderr
            assert not (place / "out").exists()


def test_without_the_package_the_extra_is_named(place):
    code = ("import sys; sys.modules['distributed'] = None\n"
            "from flyloom.cli import main\nsys.argv[0] = 'flyloom'\nmain()")
    done = subprocess.run(
        [sys.executable, "-c", code, "run", "many.toml", "--on", "dask://a:1"], cwd=place,
        env=environment(), capture_output=True, text=True, timeout=60)
    assert done.returncode == 3
    assert done.stderr == ("flyloom: on: Dask's package distributed is not installed; "
                           "pip install 'flyloom[dask]'\n")


def test_a_worker_with_another_flyloom_is_refused(place, cluster, monkeypatch):
    monkeypatch.setattr(dask.sources, "digest_of", lambda *_roots: "0" * 32)
    with pytest.raises(RefusalError, match="another flyloom .*; install the same version"):
        fl.run(place / "many.toml", out=place, on=on(cluster))
    monkeypatch.undo()
    assert sources.digest_of("flyloom.lab.point") != "0" * 32


def test_a_point_that_kills_every_worker_is_named(tmp_path):
    """A cluster that gives a point to one worker only, which is killed as soon as it has it."""
    (tmp_path / "many.toml").write_text(LONG)
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None,
                                  processes=True) as cluster:
        cluster.scheduler.allowed_failures = 0
        stop = threading.Event()

        def kill_all() -> None:
            while not stop.wait(0.05):
                for worker in list(cluster.workers.values()):
                    if list(cluster.scheduler.workers.values()) and any(
                            w.processing for w in cluster.scheduler.workers.values()):
                        os.kill(worker.pid, signal.SIGKILL)

        killer = threading.Thread(target=kill_all)
        killer.start()
        try:
            with pytest.raises(OSError, match=r"point \d+ \(.*: every worker of Dask that took it"):
                fl.run(tmp_path / "many.toml", out=tmp_path, on=on(cluster))
        finally:
            stop.set()
            killer.join(10)


@pytest.mark.parametrize("stuck", [False, True])
def test_a_panic_on_a_worker_of_dask_ends_the_run_or_the_worker(tmp_path, cluster, stuck):
    """What a worker hears of its own fault ends the run; one whose threads never end is lost, and
    another has its point."""
    (tmp_path / "few.toml").write_text(
        'schema = 1\nname = "few"\ntopology = { family = "ring", n = 6, p = 1 }\n'
        '[sim.packet]\nmessages = 2\n[sweep.grid]\n"sim.packet.load" = [0.1, 0.2]\n')
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
        client.run(plant, stuck)
    if stuck:
        assert fl.run(tmp_path / "few.toml", out=tmp_path, on=on(cluster)).points == 2
    else:
        with pytest.raises(FaultError, match="planted in packets"):
            fl.run(tmp_path / "few.toml", out=tmp_path, on=on(cluster))


def plant(stuck: bool) -> None:
    """Makes the next packet run of a worker panic."""
    from flyloom import _core

    _core.plant_fault("packets", 0, stuck)
