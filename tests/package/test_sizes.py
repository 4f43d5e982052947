"""Estimates of memory and time against what work takes, and what happens where memory is short."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from campaign import count
from cli_helpers import LIMIT_S, command, environment, flyloom
from flyloom import RefusalError
from flyloom.support import machine

GIB = 1 << 30

PEAK = """
import json, pathlib, sys
import flyloom as fl
from flyloom.support import machine

def resident(which):
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(which + ":"))

def peak(work):
    needed = []
    machine.afford = lambda what, needs, seconds: needed.append(needs)
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before, read = resident("VmRSS"), resident("RssFile")
    kept = work()
    # pages of the program itself, read when they are first run, are not the work's
    return max(needed), resident("VmHWM") - before - (resident("RssFile") - read)

LEVELS = ("packet", "flit")
net, verb, *more = sys.argv[1:]
settings = {"settings": {"switch.virtual_channels": int(more[0])}} if verb in LEVELS else {}
if verb == "build":
    found = peak(lambda: fl.network(net))
else:
    topology = fl.network(net)
    work = {
        "plan": lambda: topology.plan(),
        "cost": lambda: topology.cost(),
        "route": lambda: topology.route(more[0], {}, int(more[1])),
        "text": lambda: topology.to_text(more[0]),
        "bisection": lambda: topology.measure("structure", {"bisection": True}),
        "spectrum": lambda: topology.measure("structure", {"spectrum": True}),
        "structure": lambda: topology.measure("structure"),
        "packet": lambda: fl.simulate(topology, "packet", messages=1, threads=1, **settings),
        "flit": lambda: fl.simulate(topology, "flit", load=0.01, threads=1, **settings),
    }[verb]
    found = peak(work)
print(json.dumps(found))
"""


def limited(words: list[str], limit: int, **more) -> subprocess.CompletedProcess[str]:
    """Runs a command in an address space of ``limit`` bytes, without a core file; every thread of a
    library would take a stack of it."""

    def shrink() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    return subprocess.run(words, preexec_fn=shrink, text=True, capture_output=True,
                          env=environment(OPENBLAS_NUM_THREADS="1"), timeout=LIMIT_S, **more)


MEASURED = [
    ("torus:shape=300x300,p=4", "build"), ("complete:n=1000,p=1", "build"),
    ("megafly:leaves=8,spines=9,h=60", "build"), ("jellyfish:n=8000,k=24,p=12", "build"),
    ("slim_fly:q=19,p=60", "build"), ("k_ary_n_tree:k=16,n=4", "build"),
    ("torus:shape=100x100,p=10", "plan"), ("complete:n=600,p=1", "plan"),
    ("slim_fly:q=19,p=14", "route", "dfsssp", 1), ("slim_fly:q=19,p=14", "route", "min_hop", 4),
    ("torus:shape=40x40,p=1", "route", "dor", 1), ("slim_fly:q=25,p=1", "route", "up_down", 1),
    ("slim_fly:q=25,p=1", "route", "lash", 1), ("slim_fly:q=13,p=9", "route", "layered", 4),
    ("torus:shape=100x100,p=10", "text", "json"), ("hypercube:n=10,p=1", "bisection"),
    ("slim_fly:q=25,p=1", "packet", 8),
]


@pytest.mark.parametrize("case", MEASURED, ids=lambda case: " ".join(map(str, case)))
def test_an_estimate_is_within_a_factor_of_two_of_the_peak(case):
    done = subprocess.run([sys.executable, "-c", PEAK, *map(str, case)], env=environment(),
                          text=True, capture_output=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr
    reported, took = json.loads(done.stdout)
    noise = 4 << 20  # what the interpreter and the first thread take beside the work
    assert reported / 2.2 - noise <= took <= 2 * reported + noise, (
        f"{reported / 1e6} {took / 1e6} MB")


@pytest.mark.parametrize("net", [
    "torus:shape=1000x1000,p=60", "megafly:leaves=8,spines=9,h=1000", "de_bruijn:d=7,n=8,p=9",
    "jellyfish:n=1000000,k=64,p=10", "hypercube:n=22",
])
def test_what_exceeds_the_memory_is_refused_with_the_figure(net):
    done = limited(command("design", net), 4 * GIB)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1 and f"building {net} needs about" in done.stderr
    assert "GiB of memory, this machine has 3." in done.stderr and "(ulimit -v)" in done.stderr


@pytest.mark.parametrize("words", [
    "packet slim_fly:q=251 --load 0.1 --messages 1", "flit slim_fly:q=251 --load 0.1",
    "packet slim_fly:q=251,p=9 --workload alltoall_linear:ranks=9,bytes=9",
    "packet slim_fly:q=251,p=9 --unverified", "packet slim_fly:q=211,p=1 --engine min_hop",
])
def test_what_cannot_be_simulated_is_not_built_before(words):
    """The network alone would fit, and take long: that is not said, for it is not begun. Tables of
    all pairs of 126,002 routers take 4 bytes a pair, 59 GiB, at the least."""
    net = words.split()[1]
    done = limited(command("sim", *words.split()), 12 * GIB)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    said = f"flyloom: simulating {net} needs about "
    assert done.stderr.count("\n") == 1 and done.stderr.startswith(said), done.stderr
    assert float(done.stderr.removeprefix(said).split()[0]) >= (59 if "251" in net else 29)
    assert "this machine has" in done.stderr and "a smaller network, or more memory" in done.stderr


@pytest.mark.parametrize("words", [
    ["route", "torus:shape=200x200,p=1"], ["structure", "torus:shape=600x600", "--paths"],
    ["plan", "torus:shape=300x300,p=9"], ["run", "big.toml"], ["cost", "torus:shape=500x500,p=9"],
    ["compare", "torus:shape=500x500,p=9", "ring:n=8"], ["ebb", "torus:shape=100x100,p=5"],
    ["lanes", "torus:shape=100x100,p=5"], ["structure", "edges.txt"],
])
def test_every_verb_asks_before_it_begins(words, tmp_path):
    (tmp_path / "big.toml").write_text(EXPERIMENT.replace("q = 5\np = 4", "q = 47\np = 30"))
    (tmp_path / "edges.txt").write_text("".join(f"{i} {i + 1}\n" for i in range(2_000_000)))
    done = limited(command(*words), 400 << 20, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "of memory, this machine has" in done.stderr and done.stderr.count("\n") == 1


EXPERIMENT = """schema = 1
name = "small"
seed = 1

[topology]
family = "slim_fly"
q = 5
p = 4

[routing]
engine = "dfsssp"

[ebb]
samples = 10
"""


def test_what_is_long_says_how_long_before_it_begins(tmp_path):
    for words in (["structure", "hypercube:n=17"], ["plan", "torus:shape=730x730,p=1"]):
        with subprocess.Popen(command(*words), env=environment(), stderr=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, text=True) as child:
            line = child.stderr.readline()
            while "Ctrl-C stops" not in line or (words[0] == "plan" and "laying out" not in line):
                assert line, "it ended without a word"
                line = child.stderr.readline()
            assert f"{words[1]}: about " in line
            time.sleep(0.5)
            child.send_signal(signal.SIGINT)
            assert child.wait(60) == 130


def test_short_work_says_nothing():
    assert flyloom("structure", "slim_fly:q=5,p=4", "--all").stderr == ""


def test_the_least_limit_counts(monkeypatch):
    monkeypatch.setattr(machine, "_limits", lambda: iter([(900.0, "a"), (5.0 * GIB, "b")]))
    assert machine.free() == (900.0, "a")
    with pytest.raises(RefusalError, match=r"work needs about 2 KiB of memory, .* 1 KiB free"):
        machine.afford("work", 2048, 0)


def test_limits_are_those_of_the_kernel():
    left, where = machine.free()
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert 0 < left <= total and where in ("MemAvailable", "control group")
    code = "from flyloom.support import machine; print(*machine.free(), machine.threads())"
    done = limited([sys.executable, "-c", code], 2 * GIB)
    left, *where, threads = done.stdout.split()
    assert where == ["(ulimit", "-v)"] or where == ["ulimit", "-v"]
    assert GIB < float(left) < 2 * GIB and int(threads) in (3, 4)


@pytest.mark.parametrize(("form", "limit", "used", "spare", "left"), [
    ("0::/user/one", 1 << 30, 400 << 20, 100 << 20, 724 << 20),
    ("0::/", 1 << 30, 1 << 30, 0, 0), ("4:cpu,memory:/job", 3 << 30, 1 << 30, 0, 2 << 30),
])
def test_control_groups_limit(form, limit, used, spare, left, tmp_path, monkeypatch):
    """The files of both kinds of control groups, made here."""
    two = form.startswith("0::")
    names = ("memory.max", "memory.current", "inactive_file") if two else (
        "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
    folder = tmp_path / form.rpartition(":")[2].lstrip("/")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / names[0]).write_text(f"{limit}\n")
    (folder / names[1]).write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"anon 1\n{names[2]} {spare}\n")
    (tmp_path / "groups").write_text(form + "\n")
    real = Path

    def moved(path: str) -> Path:
        places = {"/proc/self/cgroup": "groups", "/sys/fs/cgroup": "", "/sys/fs/cgroup/memory": ""}
        return tmp_path / places[path] if path in places else real(path)

    monkeypatch.setattr(machine, "Path", moved)
    assert (left, "control group") in list(machine._limits())


@pytest.mark.parametrize(("count", "words"), [
    (41.2 * GIB, "41 GiB"), (2.5 * GIB, "2.5 GiB"), (3 << 20, "3.0 MiB"), (5000, "5 KiB"),
])
def test_sizes_in_words(count, words):
    assert machine.size(count) == words


@pytest.mark.parametrize(("seconds", "words"), [
    (12, "12 seconds"), (720, "12 minutes"), (7200, "2 hours"), (9e5, "10 days"),
    (1e9, "32 years"),
])
def test_durations_in_words(seconds, words):
    assert machine.duration(seconds) == words


def test_a_run_without_room_to_draw_writes_everything_but_the_charts(tmp_path):
    (tmp_path / "small.toml").write_text(EXPERIMENT)
    done = limited(command("run", "small.toml"), 9_000_000 << 10, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "out" / "small"
    assert "charts cannot be drawn" in done.stdout + done.stderr
    for name in ("rows.parquet", "series.parquet", "results.json", "manifest.json"):
        assert (folder / name).stat().st_size > 0
    page = (folder / "report.html").read_text()
    assert "charts cannot be drawn: the program that draws ended" in page and "ulimit -v" in page
    assert "SIG" in page and 'id="ebb"' not in page
    again = flyloom("report", folder)
    assert again.returncode == 0 and 'id="ebb"' in (folder / "report.html").read_text()
    done = limited(command("figure", "path_lengths", "-n", "slim_fly:q=3,p=1", "-o", "a.svg"),
                   9_000_000 << 10, cwd=tmp_path)
    assert done.returncode == 3 and done.stderr.count("\n") == 1, done.stderr
    assert "charts cannot be drawn" in done.stderr and not (tmp_path / "a.svg").exists()


def drawn_case(draw: random.Random, folder: Path) -> list:
    """Words of a command that takes some memory."""
    net = draw.choice(["slim_fly:q=17,p=13", "torus:shape=40x40,p=2", "torus:shape=150x150,p=20",
                       "hypercube:n=13", "complete:n=900,p=2", "dragonfly:h=6"])
    return draw.choice([
        ["design", net], ["design", net, "-o", folder / "x.json"], ["structure", net, "--paths"],
        ["structure", "slim_fly:q=19,p=2", "--all", "--pairs", 500], ["plan", net],
        ["plan", net, "-o", folder / "plan"], ["cost", net], ["route", "slim_fly:q=17,p=13"],
        ["route", "slim_fly:q=11,p=8", "-o", folder / "tables"], ["verify", "slim_fly:q=13,p=9"],
        ["run", folder / "small.toml", "--out", folder / "out", "--fresh"],
    ])


@pytest.mark.campaign
def test_short_memory_is_refused_or_said_never_crashed_on(tmp_path):
    """Limits from hardly more than Python itself to enough: success, the figure, or one line."""
    (tmp_path / "small.toml").write_text(EXPERIMENT)
    codes = set()
    for seed in range(count(12, 400)):
        draw = random.Random(seed)
        limit = int(150e6 * 20 ** draw.random())
        words = drawn_case(draw, tmp_path)
        done = limited(command(*words), limit)
        reported = [line for line in done.stderr.splitlines() if "Ctrl-C stops" not in line]
        case = f"seed {seed}: {words} in {limit >> 20} MiB: {done.stderr}"
        assert done.returncode in (0, 2, 3), case
        assert done.returncode == 0 or len(reported) == 1, case
        assert done.returncode != 2 or "of memory, this machine has" in reported[0], case
        codes.add(done.returncode)
    assert {0, 2} <= codes
