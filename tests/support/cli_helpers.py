"""Runs the command line as a user does: in a process of its own, or in a fork that is quicker."""

from __future__ import annotations

import atexit
import functools
import json
import os
import subprocess
import sys
from pathlib import Path

from checkout import ROOT
from cli_server import Server

PACKAGE = ROOT / "python"
LIMIT_S = 120


def environment(**more: str) -> dict[str, str]:
    """This process's environment, with this checkout's package first and no colours."""
    paths = os.pathsep.join(filter(None, [str(PACKAGE), os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, "PYTHONPATH": paths, "NO_COLOR": "1", "COLUMNS": "100", **more}


def command(*words: object) -> list[str]:
    """The command line of ``flyloom words...``."""
    return [sys.executable, "-m", "flyloom.cli", *map(str, words)]


@functools.cache
def server() -> Server:
    """The one that runs the commands of this process of tests."""
    started = Server(environment())
    atexit.register(started.close)
    return started


def flyloom(*words: object, cwd: Path | None = None, env: dict[str, str] | None = None,
            limit_s: float = LIMIT_S) -> subprocess.CompletedProcess[str]:
    """Run ``flyloom words...`` to its end, in a fork of a process that has everything loaded.

    What is seen of a command from outside alone (signals, limits, what it loads) takes a process
    of its own: `command`.
    """
    done = server().run(*words, cwd=cwd or Path.cwd(), env=env or environment(), limit_s=limit_s)
    if done["code"] is None:
        raise subprocess.TimeoutExpired(command(*words), limit_s, done["out"], done["err"])
    return subprocess.CompletedProcess(command(*words), done["code"], done["out"], done["err"])


def document(*words: object, code: int = 0, cwd: Path | None = None) -> dict:
    """The one JSON document that ``flyloom words... --json`` prints."""
    done = flyloom(*words, "--json", cwd=cwd)
    assert done.returncode == code, done.stderr
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1
    return json.loads(done.stdout, parse_constant=_no_constant)


def _no_constant(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")
