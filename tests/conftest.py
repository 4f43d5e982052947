"""The order of the files, and the record of what every test takes.

Files are given to the processes of pytest-xdist one at a time, those that take longest first: a
long one that comes last keeps one process at work while the others have ended. What they take is
read from tests/times.json, which a run with KEEP_TIMES=keep writes, and for files that are in it
from the record of the last run in target/.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from checkout import ROOT
from cli_server import Server

KEPT = ROOT / "tests" / "times.json"
"""The record in the repository: seconds by file."""
UNKNOWN_S = 60.0
"""What a file that no record has is taken to last: one that is long must not come last."""
DEADLINE = float(os.environ.get("CHECK_DEADLINE", 0))
"""When no further test is begun, in seconds since 1970; 0 for never."""
OVER = "the time of make check is over; make test runs them"
LAST = ROOT / "target" / "test-times.json"
"""That of the last run, test by test: seconds on the clock, and of processors."""


@pytest.fixture(autouse=True)
def _as_in_python() -> Iterator[None]:
    """What the command line sets for its process ends with the test that ran it in this one."""
    from flyloom.support import machine

    before = machine.tell
    yield
    machine.tell = before


def pytest_collection_modifyitems(items: list) -> None:
    """The longest files first; the others, and the tests of a file, in their order."""
    if DEADLINE:  # in the order in which they are named
        return
    took = recorded()
    items.sort(key=lambda item: -took.get(item.path.name, UNKNOWN_S))


def recorded() -> dict[str, float]:
    """Seconds by file, of the last record that has it."""
    took: dict[str, float] = {}
    for path in (KEPT, LAST):
        with contextlib.suppress(OSError, ValueError, KeyError):
            took |= json.loads(path.read_text())["files"]
    return took


class Times:
    """What the tests of this run took; in the process that tells the others what to do."""

    def __init__(self) -> None:
        self.tests: dict[str, list[float]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Takes what a phase of a test took."""
        seconds = self.tests.setdefault(report.nodeid, [0.0, 0.0])
        seconds[0] += report.duration
        seconds[1] += sum(value for name, value in report.user_properties if name == "processor_s")

    def pytest_sessionfinish(self) -> None:
        """Writes the record where this was no run of a few tests."""
        files: dict[str, float] = defaultdict(float)
        for name, seconds in self.tests.items():
            files[Path(name.partition("::")[0]).name] += seconds[0]
        if len(files) < 50:
            return
        LAST.parent.mkdir(exist_ok=True)
        by_file = {name: round(files[name], 1) for name in sorted(files)}
        tests = {name: [round(s, 3) for s in self.tests[name]] for name in sorted(self.tests)}
        LAST.write_text(json.dumps({"files": by_file, "tests": tests}, indent=0) + "\n")
        if os.environ.get("KEEP_TIMES") == "keep":
            KEPT.write_text(json.dumps({"files": by_file}, indent=0) + "\n")


def pytest_configure(config: pytest.Config) -> None:
    """Records only where the reports of all tests arrive.

    Programs that tests start hear Ctrl-C also where the tests run in the background of a shell,
    which has its children ignore it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Times())


def processor_s() -> float:
    """Seconds of processors that this process, its ended children and its commands took."""
    spent = os.times()
    own = spent.user + spent.system + spent.children_user + spent.children_system
    return own + Server.processor_s


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item):
    """Remembers what was spent before a test."""
    item.stash[BEGAN] = processor_s()
    return (yield)


def pytest_runtest_setup() -> None:
    """No test is begun when the time is over."""
    if DEADLINE and time.time() > DEADLINE:
        pytest.skip(OVER)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How many tests were not begun."""
    skipped = terminalreporter.stats.get("skipped", [])
    if left := sum(OVER in str(report.longrepr) for report in skipped):
        terminalreporter.write_line(f"{left} tests were not begun: {OVER}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    """What the processors spent on a test goes with the report of its last phase."""
    report = yield
    if call.when == "teardown":
        report.user_properties.append(("processor_s", processor_s() - item.stash[BEGAN]))
    return report


BEGAN = pytest.StashKey[float]()
