"""`make test` runs a stage again exactly when something that it stands on has changed."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import time
from pathlib import Path

import pytest
from checkout import ROOT
from patience import HANG_S

SCRIPT = ROOT / "scripts" / "test"
FUNCTIONS = ("stage", "stage_on", "stage_recorded", "digest", "contents", "beside", "together",
             "stop_running")


@pytest.fixture
def place(tmp_path):
    """A checkout with two folders, and the functions of the script."""
    text = SCRIPT.read_text()
    bodies = [re.search(rf"^{name}\(\) {{$.*?^}}$", text, re.MULTILINE | re.DOTALL)[0]
              for name in FUNCTIONS]
    (tmp_path / "functions").write_text(
        "versions() { cat versions; }\nRUNNING=()\n" + "\n".join(bodies))
    for folder in ("crates", "docs", "tests"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "file").write_text("as it was")
    (tmp_path / "versions").write_text("1")
    (tmp_path / ".gitignore").write_text("target\nran\n")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    return tmp_path


def ran(place: Path, command: str = "touch ran", kind: str = "stage_on", **more: str) -> bool:
    """Whether the stage, which stands on `crates`, ran its command."""
    (place / "ran").unlink(missing_ok=True)
    line = f". ./functions; {kind} 'the stage' crates -- bash -c '{command}'"
    # Those two speak of the stages that this test itself is part of.
    inherited = {name: value for name, value in os.environ.items()
                 if name not in ("ALL", "KEEP_PASSED")}
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", line], cwd=place, text=True,
                          capture_output=True, env={**inherited, **more})
    assert (done.returncode == 0) == (command == "touch ran"), done.stderr
    assert "test: the stage" in done.stdout
    return (place / "ran").exists()


def test_a_stage_runs_when_what_it_stands_on_changed(place):
    assert ran(place) and not ran(place)
    (place / "docs" / "file").write_text("another")  # the stage does not depend on this file
    assert not ran(place)
    for change in ("another", "as it was"):
        (place / "crates" / "file").write_text(change)
        assert ran(place) and not ran(place)
    (place / "crates" / "new").write_text("")
    assert ran(place) and not ran(place)
    (place / "crates" / "file").unlink()
    assert ran(place) and not ran(place)
    (place / "versions").write_text("2")
    assert ran(place) and not ran(place)
    assert ran(place, ALL="1") and not ran(place)


def test_a_stage_that_failed_runs_again(place):
    assert not ran(place, "false")
    assert ran(place) and not ran(place)
    (place / "crates" / "file").write_text("another")
    assert not ran(place, "false")
    assert ran(place)


def test_a_recorded_stage_is_left_out_of_a_fresh_clone_of_the_same_files(place, tmp_path_factory):
    recorded = functools.partial(ran, kind="stage_recorded")
    assert recorded(place) and not recorded(place)
    assert not (place / "tests" / "passed.txt").exists()
    assert recorded(place, ALL="1", KEEP_PASSED="keep")
    kept = (place / "tests" / "passed.txt").read_text()
    assert re.fullmatch(r"[0-9a-f]{64} the stage\n", kept)

    def fresh(name: str) -> Path:
        there = tmp_path_factory.mktemp(name) / "clone"
        subprocess.run(["cp", "-r", place, there], check=True)
        subprocess.run(["rm", "-rf", there / "target"], check=True)
        return there

    same = fresh("same")
    (same / "versions").write_text("of other programs")
    (same / "docs" / "file").write_text("another")
    assert not recorded(same) and recorded(same, ALL="1")
    other = fresh("other")
    (other / "crates" / "file").write_text("another")
    assert recorded(other)
    (other / "crates" / "file").write_text("a third")
    assert not recorded(other, "false", KEEP_PASSED="keep")
    assert (other / "tests" / "passed.txt").read_text() == kept
    assert recorded(other, KEEP_PASSED="keep")
    replaced = (other / "tests" / "passed.txt").read_text()
    assert replaced != kept and replaced.count("\n") == 1


def test_outside_of_a_checkout_every_stage_runs(place):
    subprocess.run(["rm", "-rf", place / ".git"], check=True)
    assert ran(place, GIT_CEILING_DIRECTORIES=str(place.parent))
    assert ran(place, GIT_CEILING_DIRECTORIES=str(place.parent))


def together(place: Path, function: str, stage: str) -> subprocess.CompletedProcess[str]:
    """A function beside a stage, and what comes when both have ended."""
    line = (f". ./functions; others() {{ {function}; }}; beside others; stage two {stage}; "
            "together; echo after")
    return subprocess.run(["bash", "-euo", "pipefail", "-c", line], cwd=place, text=True,
                          capture_output=True)


def test_stages_beside_others_say_what_they_have_to_when_these_have_ended(place):
    done = together(place, "stage one cat versions; stage three true", "true")
    assert done.returncode == 0
    assert re.sub(r"\(\d+ s\)", "", done.stdout).split("\n") == [
        "test: two", "test: two ok ", "test: one", "1test: one ok ", "test: three",
        "test: three ok ", "after", ""]
    done = together(place, "stage one cat nothing; stage three true", "true")
    assert done.returncode == 1 and "test: one FAILED: cat nothing" in done.stdout
    assert "three" not in done.stdout and "after" not in done.stdout


def test_a_stage_that_fails_ends_those_beside_it(place):
    waits = "echo $BASHPID >number; sleep 600"
    done = together(place, waits, "bash -c 'until [ -s number ]; do sleep 0.01; done; false'")
    assert done.returncode == 1 and "after" not in done.stdout
    number, limit = int((place / "number").read_text()), time.monotonic() + HANG_S
    while Path(f"/proc/{number}").exists():
        assert time.monotonic() < limit
        time.sleep(0.01)
