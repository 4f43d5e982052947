"""The place where points are computed changes no byte: serial, processes, killed ones, stopped
ones, Dask."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import threading
import time
from collections import Counter
from pathlib import Path

import flyloom as fl
import pytest
from campaign import count
from cli_helpers import command, environment, flyloom
from flyloom import RefusalError, report
from flyloom.lab import executors, processes
from flyloom.support import machine
from patience import HANG_S

MANY = """\
schema = 1
name = "many"
seed = 7
[topology]
family = "slim_fly"
q = 3
[routing]
engine = "sssp"
[sweep.grid]
"routing.engine" = ["min_hop", "dfsssp"]
"ebb.samples" = [{patterns}]
[[sweep.zip]]
label = ["Slim Fly", "torus"]
topology = [{{ family = "slim_fly", q = 3 }}, {{ family = "torus", shape = [3, 4], p = 2 }}]
"""
SHORT = MANY.format(patterns="5, 6, 7")
LONG = MANY.format(patterns="5, 60000, 60001")
"""The longer points take some tenths of a second."""

SAME_BYTES = ("rows.parquet", "series.parquet", "effective.toml", "cables-Slim-Fly.csv",
              "cables-torus.csv")


@pytest.fixture(autouse=True)
def no_charts(monkeypatch):
    """Charts take longest, and are not asked for here."""
    monkeypatch.setattr(report, "render", lambda _data, **_how: "")


def written(directory: Path) -> dict[str, bytes]:
    """The files of a run that have no times in them, its kept points too."""
    kept = {path.name: path.read_bytes() for path in (directory / "points").iterdir()}
    return kept | {name: (directory / name).read_bytes() for name in SAME_BYTES}


def lines_of(directory: Path) -> list[tuple[str, str]]:
    """The stages in the manifest, without their times and the report's place."""
    stages = json.loads((directory / "manifest.json").read_text())["stages"]
    return [(stage["name"], stage["line"]) for stage in stages if stage["name"] != "report"]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """What one process writes of the long points, and what it says."""
    folder = tmp_path_factory.mktemp("serial")
    (folder / "many.toml").write_text(LONG)
    fl.run(folder / "many.toml", out=folder, workers=1)
    return written(folder / "many"), lines_of(folder / "many")


@pytest.fixture
def place(tmp_path):
    (tmp_path / "many.toml").write_text(LONG)
    return tmp_path


def workers_of(pid: int) -> list[int]:
    """The processes that another has forked and not yet lost."""
    try:
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except FileNotFoundError:
        return []
    return [int(number) for number in found.split()]


def start(place: Path, *more: str) -> subprocess.Popen:
    return subprocess.Popen(
        command("run", "many.toml", "--out", ".", *more), cwd=place, env=environment(), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )


def nobody_is_left(child: subprocess.Popen) -> bool:
    """Whether the whole group of a command's processes is gone, in the end."""
    limit = time.monotonic() + HANG_S
    while time.monotonic() < limit:
        try:
            os.killpg(child.pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize("workers", [2, 3])
def test_the_same_bytes_and_lines_whatever_the_number_of_workers(undisturbed, place, workers):
    said = []
    found = fl.run(place / "many.toml", out=place, workers=workers,
                   say=lambda stage, line, _seconds: said.append((stage, line)))
    assert (found.points, found.reused) == (12, 0)
    assert (written(place / "many"), lines_of(place / "many")) == undisturbed
    assert said[:-1] == undisturbed[1] and said[-1][0] == "report"


def test_points_that_ask_for_the_same_are_computed_once(tmp_path):
    """A number may be text; the order of a table's keys does not matter either."""
    (tmp_path / "many.toml").write_text(SHORT.replace("5, 6, 7", '5, 6, "5e0"').replace(
        '{ family = "slim_fly", q = 3 }, {', '{ q = 3, family = "slim_fly" }, {'))
    for workers in (1, 3):
        found = fl.run(tmp_path / "many.toml", out=tmp_path / str(workers), workers=workers)
        assert (found.points, found.reused) == (12, 4)
    assert written(tmp_path / "1/many") == written(tmp_path / "3/many")


def test_progress_counts_all_points_together(tmp_path):
    (tmp_path / "many.toml").write_text(SHORT)
    for workers in (1, 2):
        reported: list[tuple[str, int, int]] = []

        def progress(*what, reported=reported):
            reported.append(what)

        fl.run(tmp_path / "many.toml", out=tmp_path, fresh=True, workers=workers,
               progress=progress)
        stages = dict.fromkeys((what, total) for what, _, total in reported)
        assert list(stages) == [("points checked", 12), ("points", 12)]
        done = [count for what, count, _ in reported if what == "points"]
        assert done == sorted(done) and done[-1] == 12


def kill_a_worker(child: subprocess.Popen, seen: set[int], chance: random.Random) -> None:
    """Kills one that was not killed before, a little after it began."""
    limit = time.monotonic() + HANG_S
    while not (fresh := [pid for pid in workers_of(child.pid) if pid not in seen]):
        if child.poll() is not None or time.monotonic() > limit:
            return
        time.sleep(0.002)
    time.sleep(chance.random() * 0.2)
    seen.add(victim := chance.choice(fresh))
    with contextlib.suppress(ProcessLookupError):
        os.kill(victim, signal.SIGKILL)


@pytest.mark.campaign
def test_a_killed_worker_costs_nothing_but_time(undisturbed, place):
    chance = random.Random("killed")
    for _ in range(count(2, 50)):
        child = start(place, "--workers", "2", "--fresh")
        kill_a_worker(child, set(), chance)
        _, err = child.communicate(timeout=HANG_S)
        assert (child.returncode, err) == (0, "")
        assert nobody_is_left(child)
        assert (written(place / "many"), lines_of(place / "many")) == undisturbed
        assert not list(place.rglob("*.part"))


def test_a_point_that_loses_its_worker_twice_ends_the_run_and_names_itself(undisturbed, place):
    child = start(place, "--workers", "2")
    seen: set[int] = set()
    while child.poll() is None:
        kill_a_worker(child, seen, random.Random(len(seen)))
    _, err = child.communicate(timeout=HANG_S)
    assert child.returncode == 3
    assert err.startswith("flyloom: point ") and len(err.splitlines()) == 1
    assert "its worker process ended 2 times (killed by SIGKILL); where memory is short" in err
    assert nobody_is_left(child)
    kept = len(list((place / "many").glob("points/*.json")))
    found = fl.run(place / "many.toml", out=place, workers=2)
    assert found.reused == kept and written(place / "many") == undisturbed[0]


SIGNALS = {signal.SIGINT: (130, "interrupted\n"), signal.SIGTERM: (143, "terminated\n"),
           signal.SIGKILL: (-signal.SIGKILL, "")}


@pytest.mark.campaign
@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("all_of_them", [False, True], ids=["parent", "group"])
def test_a_stopped_run_leaves_nobody_and_goes_on(undisturbed, place, number, all_of_them):
    """A run is stopped at seeded moments, as Ctrl-C in a terminal does; resumed, it gives the same
    bytes."""
    chance = random.Random(f"{number} {all_of_them}")
    for _ in range(count(2, 40)):
        child = start(place, "--workers", "2")
        while len(workers_of(child.pid)) < 2 and child.poll() is None:
            time.sleep(0.002)
        time.sleep(chance.random() * 0.8)
        ended_before = child.poll() is not None
        try:
            (os.killpg if all_of_them else os.kill)(child.pid, number)
        except ProcessLookupError:
            ended_before = True
        _, err = child.communicate(timeout=HANG_S)
        code, line = SIGNALS[number]
        assert ended_before or (child.returncode, err) in ((code, line), (0, "")), err
        assert nobody_is_left(child)
        parts = list(place.rglob("*.part"))
        assert parts == [] or number == signal.SIGKILL
        for path in (place / "many").glob("points/*.json"):
            assert json.loads(path.read_text())["digest"] == path.stem
    before = len(list((place / "many").glob("points/*.json")))
    found = fl.run(place / "many.toml", out=place, workers=2)
    assert (found.points, found.reused) == (12, before)
    assert written(place / "many") == undisturbed[0]
    assert list(place.rglob("*.part")) == []


REFUSED = """\
schema = 1
name = "refused"
topology = { family = "slim_fly", q = 3 }
[[point]]
routing = { engine = "sssp" }
ebb = { samples = 60000 }
[[point]]
routing = { engine = "dor" }
[[point]]
routing = { engine = "ftree" }
[[point]]
topology = { file = "missing.net" }
routing = { engine = "sssp" }
"""


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_the_first_refused_point_is_named_whatever_ends_first(tmp_path, workers):
    (tmp_path / "x.toml").write_text(REFUSED)
    done = flyloom("run", "x.toml", "--workers", workers, cwd=tmp_path)
    asked = fl.network("slim_fly:q=3")
    with pytest.raises(RefusalError) as first:
        fl.route(asked, "dor")
    with pytest.raises(RefusalError) as second:
        fl.route(asked, "ftree")
    assert str(first.value) != str(second.value)
    line = REFUSED.splitlines().index("routing = { engine = \"sssp\" }") + 1
    point = f"x.toml: line {line}, column 1: point 2 (dor on slim_fly:q=3)"
    others = "points 2, 3 and 4 of 4 refused; results of the others: out/refused/report.html"
    says = f"flyloom: {point}: routing: {first.value} ({others})\n"
    assert (done.returncode, done.stderr) == (2, says)
    records = [json.loads(p.read_text()) for p in (tmp_path / "out/refused/points").iterdir()]
    assert [record["engine"] for record in records] == ["sssp"], "what is no fault is finished"
    assert (tmp_path / "out/refused/manifest.json").exists()


def test_a_refusal_from_a_worker_has_its_fields(tmp_path):
    (tmp_path / "x.toml").write_text(REFUSED)
    with pytest.raises(RefusalError) as alone:
        fl.run(tmp_path / "x.toml", out=tmp_path, workers=1)
    with pytest.raises(RefusalError) as found:
        fl.run(tmp_path / "x.toml", out=tmp_path, fresh=True, workers=2)
    assert vars(found.value) == vars(alone.value) and found.value.help


def test_a_fault_in_a_worker_is_reported_with_its_place(tmp_path, monkeypatch):
    def broken(*_asked):
        raise ZeroDivisionError("seeded")

    (tmp_path / "many.toml").write_text(SHORT)
    monkeypatch.setattr(processes, "work", lambda task: processes.TaskOutcome(
        task.number, error=_caught(broken)))
    with pytest.raises(ZeroDivisionError, match="seeded") as found:
        fl.run(tmp_path / "many.toml", out=tmp_path, workers=2)
    assert "in broken" in found.value.__notes__[0]


def test_a_point_is_begun_no_more_often_than_it_may_lose_its_worker(tmp_path, monkeypatch):
    """Each worker ends as it begins the point: the second one is the last."""
    def dies(task):
        with (tmp_path / "begun").open("a") as begun:
            begun.write(f"{task.number}\n")
        os.kill(os.getpid(), signal.SIGKILL)

    (tmp_path / "many.toml").write_text(SHORT)
    monkeypatch.setattr(processes, "work", dies)
    with pytest.raises(ChildProcessError, match="its worker process ended 2 times"):
        fl.run(tmp_path / "many.toml", out=tmp_path, workers=2)
    assert max(Counter((tmp_path / "begun").read_text().split()).values()) == 2


def _caught(function) -> BaseException:
    try:
        function()
    except BaseException as error:
        return error


@pytest.mark.parametrize(("words", "why"), [
    (["--workers", "0"], "workers: 0 is out of range"),
    (["--workers", "2", "--on", "dask://a:1"], "workers: Dask has its own"),
    (["--on", "spark://a:1"], "on: 'spark://a:1' is no scheduler; dask://HOST:PORT"),
    (["--on", "dask://a"], "on: 'dask://a' is no scheduler"),
    (["--on", "dask://:1"], "on: 'dask://:1' is no scheduler"),
])
def test_places_to_run_that_cannot_be_are_refused(place, words, why):
    for more in ([], ["--dry-run"]):
        done = flyloom("run", "many.toml", *words, *more, cwd=place)
        assert done.returncode == 2 and done.stderr.startswith(f"flyloom: {why}"), done.stderr
    assert [path.name for path in place.iterdir()] == ["many.toml"]


LOADED = SHORT.split("[sweep.grid]")[0] + """\
[[point]]
ebb = { samples = 5 }
[[point]]
ebb = { samples = 6 }
[[point]]
ebb = { samples = 7 }
deploy = { fabric = "ibsim" }
"""
"""Two plain points and, last, one that is loaded into a fabric."""


def test_what_waits_for_a_fabric_takes_no_worker(tmp_path, monkeypatch):
    """With two workers three points are at work at once: none ends before all have begun."""
    from flyloom.deploy import tools
    from flyloom.lab import fabric, point

    found = {f"{of}{kind}entries": 0 for of in ("", "differing_") for kind in ("", "sl_", "sl2vl_")}
    original = point.record_of

    def record_of(task, *more):
        (tmp_path / f"begun-{task.number}").touch()
        limit = time.monotonic() + HANG_S
        while len(list(tmp_path.glob("begun-*"))) < 3:
            assert time.monotonic() < limit, "the others wait for this one"
            time.sleep(0.005)
        return original(task, *more)

    monkeypatch.setattr(point, "record_of", record_of)
    monkeypatch.setattr(tools, "missing", list)
    monkeypatch.setattr(fabric, "deployed", lambda *_: {**found, "deadlock_free": True})
    (tmp_path / "many.toml").write_text(LOADED)
    said = []
    done = fl.run(tmp_path / "many.toml", out=tmp_path, workers=2,
                  say=lambda stage, line, _seconds: said.append(stage))
    assert (done.points, done.holds) == (3, False), "sssp can deadlock"
    assert said[-2:] == ["deploy", "report"], "in the order of the points"


def test_what_begins_first_and_is_refused_leaves_the_points_before_it(tmp_path, monkeypatch):
    from flyloom.deploy import tools
    from flyloom.lab import fabric

    def refused(*_):
        raise RefusalError("no such fabric")

    monkeypatch.setattr(tools, "missing", list)
    monkeypatch.setattr(fabric, "deployed", refused)
    (tmp_path / "many.toml").write_text(LOADED)
    with pytest.raises(RefusalError, match="no such fabric"):
        fl.run(tmp_path / "many.toml", out=tmp_path, workers=2)
    assert len(list((tmp_path / "many/points").iterdir())) == 2, "both that come before it"


def test_by_default_there_are_workers_for_processors_memory_and_points(tmp_path, monkeypatch):
    """The estimate is asked of the core: a border on each side of what is free."""
    from flyloom._core import point_bytes

    started = []

    class Spy(processes.ProcessExecutor):
        def __init__(self, tasks, workers, threads):
            started.append((workers, threads))
            super().__init__(tasks, workers, threads)

    monkeypatch.setattr(processes, "ProcessExecutor", Spy)
    (tmp_path / "many.toml").write_text(SHORT)
    largest = max(point_bytes(family, params, engine, 1, {}) for engine in ("min_hop", "dfsssp")
                  for family, params in (("slim_fly", {"q": 3}),
                                         ("torus", {"shape": [3, 4], "p": 2})))

    def run_with(cores: int, free: float) -> list[tuple[int, int]]:
        started.clear()
        monkeypatch.setattr(executors.machine, "processors", lambda: cores)
        monkeypatch.setattr(executors.machine, "free", lambda: (free, "a test"))
        with executors.started(tasks, None, None, lambda *_: None, None):
            return list(started)

    from flyloom.lab.experiment import _ExperimentRun

    job = _ExperimentRun(tmp_path / "many.toml", SHORT, tmp_path, True, lambda *_: None, None)
    tasks: dict = {}
    for number, point in enumerate(job.points):
        job._plan(number, point, tasks, {})
    assert run_with(3, 1e12) == [(3, 1)]
    assert run_with(32, 1e12) == [(12, 2)], "no more than points"
    assert run_with(1, 1e12) == [], "in this process"
    assert run_with(3, 2 * largest) == [(2, 1)]
    assert run_with(3, 2 * largest - 1) == []


def test_processors_are_no_more_than_was_asked_for(monkeypatch):
    allowed = len(os.sched_getaffinity(0))
    monkeypatch.setenv("RAYON_NUM_THREADS", "1")
    assert machine.processors() == 1
    monkeypatch.setenv("RAYON_NUM_THREADS", "4096")
    assert 1 <= machine.processors() <= allowed


@pytest.mark.parametrize(("quota", "processors"), [
    ("400000 100000", 4), ("100000 50000", 2), ("20000 100000", 1), ("max 100000", 32),
])
def test_processors_are_no_more_than_the_quota_of_the_control_group(
    quota, processors, tmp_path, monkeypatch
):
    """cpu.max has the time that may be taken in each period, and the period."""
    (tmp_path / "cpu.max").write_text(f"{quota}\n")
    monkeypatch.delenv("RAYON_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(32)))
    monkeypatch.setattr(machine, "_groups", lambda: [(tmp_path, ())])
    assert machine.processors() == processors


def test_each_worker_has_its_share_of_the_threads(place, monkeypatch):
    """Two workers have 16 of 32 processors each: threads that compute, and few that do not."""
    monkeypatch.setattr(machine, "processors", lambda: 32)
    counts = []
    stop = threading.Event()

    def look() -> None:
        while not stop.wait(0.005):
            for pid in workers_of(os.getpid()):
                with contextlib.suppress(OSError):
                    counts.append(len(os.listdir(f"/proc/{pid}/task")))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        fl.run(place / "many.toml", out=place, workers=2)
    finally:
        stop.set()
        watcher.join()
    # on a busy machine a worker may be seen mostly before it has begun its threads
    usual = Counter(count for count in counts if count > 5).most_common(1)[0][0]
    assert 16 < usual <= 16 + 3, Counter(counts)
