"""Fresh child processes, and what the kernel says they used.

Standard library only: a child's peak memory starts from its parent's, so the parent stays small.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


class Broken(Exception):
    """A child failed, hung or said something that is no figure."""


class Absent(Exception):
    """A program that a figure needs is not installed."""


@dataclass(frozen=True)
class Usage:
    """What one child process used, with those of its own children that it waited for."""

    cpu_s: float
    """User and system time."""
    wall_s: float
    """From start to end, as seen from outside."""
    rss_mib: float
    """Largest resident set of any one process."""
    output: str
    """Its standard output."""


def run(args: Sequence[str], *, timeout_s: float = 300.0) -> Usage:
    """Run a program to its end.

    Raises Broken with its last words when it exits with another code than 0 or takes longer than
    ``timeout_s``. On Ctrl-C it is asked to end, and killed 10 s later.
    """
    with tempfile.TemporaryFile() as err:
        began = time.perf_counter()
        child = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=err, cwd=ROOT)
        late = threading.Timer(timeout_s, child.kill)
        late.start()
        try:
            output = child.stdout.read().decode(errors="replace")
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        except BaseException:
            _end(child)
            raise
        finally:
            late.cancel()
            child.stdout.close()
        wall_s = time.perf_counter() - began
        if child.returncode != 0:
            err.seek(0)
            words = err.read().decode(errors="replace").strip()[-1500:]
            raise Broken(f"{' '.join(args)}: code {child.returncode} after {wall_s:.1f} s: {words}")
    return Usage(used.ru_utime + used.ru_stime, wall_s, used.ru_maxrss / 1024, output)


def probe(name: str, *args: object, timeout_s: float = 300.0) -> tuple[dict[str, Any], Usage]:
    """Run one function of probes.py in a fresh Python: what it reports, and what it all used.

    Raises Absent when a program that it needs is missing, Broken as :func:`run`.
    """
    command = [sys.executable, str(HERE / "probes.py"), name, *map(str, args)]
    usage = run(command, timeout_s=timeout_s)
    try:
        found = json.loads(usage.output.splitlines()[-1])
    except (IndexError, ValueError):
        raise Broken(f"probe {name} reported no figures: {usage.output[-300:]!r}") from None
    if "absent" in found:
        raise Absent(found["absent"])
    return found, usage


def flyloom(*args: str, timeout_s: float = 300.0) -> Usage:
    """Run the installed ``flyloom`` command."""
    command = Path(sys.executable).parent / "flyloom"
    if not command.exists():
        raise Absent(f"{command} is not there: make setup")
    return run([str(command), *args], timeout_s=timeout_s)


def median(values: Iterable[float]) -> float:
    """The middle value; of an even number of them, the mean of the two in the middle."""
    return statistics.median(values)


def _end(child: subprocess.Popen) -> None:
    child.terminate()
    try:
        child.wait(10.0)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
