"""`flyloom deploy` and `flyloom run` ended at any moment leave no process and no torn result; and a
machine without the InfiniBand programs does all the rest."""

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pyarrow.parquet
import pytest
from checkout import ROOT
from deploy_helpers import needs_fabric
from patience import HANG_S

MARK = "FLYLOOM_TEST_MARK"
EXAMPLE = ROOT / "examples" / "deployed_slim_fly.toml"
COMMAND = [sys.executable, "-m", "flyloom.cli"]
# without the programs of a fabric, wherever this machine has them
BARE = [
    sys.executable, "-c",
    "from flyloom.deploy import tools\n"
    "tools._find_program = tools._find_file = lambda name: None\n"
    "from flyloom.cli import main; main()",
]


@pytest.fixture
def scratch(tmp_path):
    """The folder for temporary files of the commands started."""
    (tmp_path / "scratch").mkdir()
    return tmp_path / "scratch"


def start(words, cwd, scratch):
    """The command in an environment that all its descendants inherit; (process, its mark)."""
    mark = uuid.uuid4().hex
    child = subprocess.Popen(
        words, cwd=cwd, env=dict(os.environ, TMPDIR=str(scratch), **{MARK: mark}), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )
    return child, f"{MARK}={mark}".encode()


def marked(mark):
    """{pid: command line} of living processes with this mark."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    found[int(entry.name)] = (entry / "cmdline").read_bytes()
            except OSError:
                continue
    return found


def wait_for_none(mark, timeout_s=HANG_S):
    limit = time.monotonic() + timeout_s
    while (left := marked(mark)) and time.monotonic() < limit:
        time.sleep(0.02)
    return left


def wait_for_program(child, mark, name, timeout_s=HANG_S):
    """Until a descendant runs this program."""
    limit = time.monotonic() + timeout_s
    while not any(name.encode() in line.split(b"\0")[0] for line in marked(mark).values()):
        assert child.poll() is None, child.communicate()
        assert time.monotonic() < limit
        time.sleep(0.005)


def ending(child):
    """What the command said; it is killed when it does not end."""
    try:
        return child.communicate(timeout=HANG_S)
    finally:
        child.kill()


SIGNALS = [
    (signal.SIGINT, 130), (signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGKILL, -signal.SIGKILL),
]


@pytest.mark.ib
@needs_fabric
@pytest.mark.parametrize("moment", ["ibsim", "opensm", "flyloom-readback", 0.9])
@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_an_ended_deploy_leaves_nothing(tmp_path, scratch, moment, number, code):
    """While ibsim starts, OpenSM sweeps, the reader reads; and some time after the start."""
    child, mark = start([*COMMAND, "deploy", "slim_fly:q=7", "--json"], tmp_path, scratch)
    if isinstance(moment, str):
        wait_for_program(child, mark, moment)
    else:
        time.sleep(moment)
    child.send_signal(number)
    out, err = ending(child)
    assert wait_for_none(mark) == {}
    assert child.returncode == code, err
    assert out == "" and "Traceback" not in err
    assert list(tmp_path.iterdir()) == [scratch]
    if number != signal.SIGKILL:
        assert list(scratch.iterdir()) == []


def complete(folder):
    """Reads every result file there is: none may be torn. The names that were found."""
    names = set()
    for path in folder.rglob("*"):
        if path.is_dir() or path.name.endswith(".part"):
            continue
        names.add(path.name)
        if path.suffix == ".json":
            json.loads(path.read_text())
        elif path.suffix == ".parquet":
            assert pyarrow.parquet.read_table(path).num_rows > 0
        elif path.suffix == ".html":
            assert path.read_text().rstrip().endswith("</html>")
        elif path.suffix == ".csv":
            assert path.read_text().endswith("\n")
    if "manifest.json" in names:  # written last: it vouches for all others
        assert {"rows.parquet", "series.parquet", "report.html", "effective.toml"} <= names
    return names


def small(tmp_path, patterns=1000):
    """The main job, smaller: LMC 0, no oracle."""
    text = EXAMPLE.read_text().replace("lmc = 2", "lmc = 0").replace("oracle = true\n", "")
    file = tmp_path / "small.toml"
    file.write_text(text.replace("samples = 1000", f"samples = {patterns}"))
    return file


@pytest.mark.ib
@needs_fabric
@pytest.mark.parametrize("moment", ["opensm", "flyloom-readback", 0.7])
@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_an_ended_run_leaves_no_torn_result_and_goes_on(tmp_path, scratch, moment, number, code):
    file = small(tmp_path)
    words = [*COMMAND, "run", str(file), "--out", "out"]
    child, mark = start(words, tmp_path, scratch)
    if isinstance(moment, str):
        wait_for_program(child, mark, moment)
    else:
        time.sleep(moment)
    child.send_signal(number)
    _, err = ending(child)
    assert wait_for_none(mark) == {}
    assert child.returncode == code, err
    assert "Traceback" not in err
    folder = tmp_path / "out" / "deployed_slim_fly"
    names = complete(folder)
    assert "manifest.json" not in names and "report.html" not in names
    if number != signal.SIGKILL:
        assert not list(tmp_path.rglob("*.part"))
        assert list(scratch.iterdir()) == []

    done = subprocess.run(
        words, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "manifest.json" in complete(folder)
    assert not list(tmp_path.rglob("*.part"))


def test_a_run_ended_while_it_writes_keeps_or_replaces_whole_files(tmp_path):
    """The files of an earlier run, overwritten by one that is killed at each write in turn."""
    words = ["run", str(small(tmp_path, patterns=0)), "--out", "out"]
    first = subprocess.run(
        [*BARE, *words], cwd=tmp_path, capture_output=True, timeout=120, check=False
    )
    assert first.returncode == 0, first.stderr
    folder = tmp_path / "out" / "deployed_slim_fly"
    whole = complete(folder)
    assert "manifest.json" in whole
    killed = 0
    for count in range(1, 20):
        code = (
            "import os, flyloom.lab.experiment\n"
            "from flyloom.deploy import tools\n"
            "tools._find_program = tools._find_file = lambda name: None\n"
            f"replace, left = os.replace, [{count}]\n"
            "def dying(a, b):\n"
            "    left[0] -= 1\n"
            "    if left[0] == 0: os.kill(os.getpid(), 9)\n"
            "    replace(a, b)\n"
            "os.replace = dying\n"
            "from flyloom.cli import main; main()"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, *words, "--fresh"],
            cwd=tmp_path, capture_output=True, timeout=120, check=False,
        )
        names = complete(folder)
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL
        killed += 1
        # what is there may be of two runs, so nothing vouches for it
        assert count == 1 or "manifest.json" not in names
    assert killed >= 6
    assert complete(folder) == whole
    assert not list(tmp_path.rglob("*.part"))


def test_without_the_programs_a_run_does_the_rest_and_says_so(tmp_path):
    done = subprocess.run(
        [*BARE, "run", str(EXAMPLE), "--out", "out"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
        env=dict(os.environ, PATH="/nowhere"),
    )
    assert done.returncode == 0, done.stderr
    stages = [line.split()[0] for line in done.stdout.splitlines()]
    assert stages[:4] == ["design", "plan", "route", "verify"] and "ebb" in stages
    (skipped,) = [line for line in done.stdout.splitlines() if line.startswith("skipped")]
    assert "fabric stage: not installed: " in skipped
    for word in ("ibsim", "opensm", "apt-get install", "infiniband-diags"):
        assert word in skipped
    folder = tmp_path / "out" / "deployed_slim_fly"
    assert "manifest.json" in complete(folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["skipped"][0]["what"] == "fabric stage"
    row = pyarrow.parquet.read_table(folder / "rows.parquet").to_pylist()[0]
    assert row["verified"] and row["switches"] == 50
    assert "deployed_entries" not in row and row["effective_bisection_bandwidth"] > 0
    assert "not installed" in (folder / "report.html").read_text()


def test_without_the_programs_deploy_names_the_package(tmp_path):
    for words in (["deploy", "slim_fly:q=5,p=4"], ["route", "slim_fly:q=5", "-e", "opensm:minhop"]):
        done = subprocess.run(
            [*BARE, *words], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
        )
        assert (done.returncode, done.stdout) == (3, "")
        assert "is not here: apt-get install ibsim-utils" in done.stderr
        assert "Traceback" not in done.stderr
