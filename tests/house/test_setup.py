"""`make setup` runs its long steps side by side: one line each, and a failure ends all of them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time

import pytest
from checkout import ROOT

FUNCTIONS = "beside", "together", "stop_running", "logged", "begin", "end", "stop"
STEPS = """\
set -euo pipefail
ROOT=$PWD LOG=$PWD/target/setup.log RUNNING=()
. ./functions
quick() { begin "quick"; logged echo "of quick"; end "done"; }
slow() { begin "slow"; logged touch began; logged sleep 60; touch ended; end "done"; }
nothing() { :; }
faulty() { begin "faulty"; logged bash -c 'echo "what went wrong" && exit 3'; end "never"; }
"""


@pytest.fixture
def place(tmp_path):
    """A folder with the functions of the script."""
    script = (ROOT / "scripts" / "setup").read_text()
    bodies = [re.search(rf"^{name}\(\) {{$.*?^}}$", script, re.MULTILINE | re.DOTALL)[0]
              for name in FUNCTIONS]
    (tmp_path / "functions").write_text("\n".join(bodies))
    (tmp_path / "target").mkdir()
    return tmp_path


def started(place, *lines: str) -> subprocess.Popen:
    (place / "script").write_text(STEPS + "\n".join(lines) + "\necho on\n")
    return subprocess.Popen(["bash", "script"], cwd=place, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def still_there(place) -> bool:
    """Whether a process works in this folder, as `sleep` of the slow step does."""
    for process in os.listdir("/proc"):
        try:
            if process.isdigit() and os.readlink(f"/proc/{process}/cwd") == str(place):
                return True
        except OSError:
            continue
    return False


def gone(place) -> bool:
    for _ in range(300):
        if not still_there(place):
            return True
        time.sleep(0.1)
    return False


def test_steps_side_by_side_have_a_line_and_a_log_each(place):
    script = started(place, "beside quick", "beside nothing", "together")
    out, err = script.communicate(timeout=60)
    assert script.returncode == 0, err
    first, last = out.splitlines()
    assert re.fullmatch(r"setup: quick +done  \(\d+\.\d s\)", first) and last == "on"
    assert "of quick" in (place / "target/setup-quick.log").read_text()
    assert (place / "target/setup-nothing.log").read_text() == ""


def test_a_step_that_fails_ends_the_others(place):
    script = started(place, "beside slow", "beside quick",
                     "until [ -e began ]; do sleep 0.1; done", "beside faulty", "together")
    out, err = script.communicate(timeout=55)
    assert script.returncode == 1 and "on\n" not in out and "done" in out
    assert re.search(r"setup: faulty +failed\n", err) and "what went wrong" in err
    assert "`bash` ended with status 3; the whole log is target/setup-faulty.log" in err
    assert gone(place) and not (place / "ended").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_who_stops_it_stops_all_steps(place, number):
    script = started(place, "beside slow", "echo started", "together")
    assert script.stdout.readline() == "started\n"
    while not (place / "began").exists():
        assert script.poll() is None
        time.sleep(0.1)
    script.send_signal(number)
    script.communicate(timeout=55)
    assert script.returncode == 128 + number
    assert gone(place) and not (place / "ended").exists()
