"""Writes over verbs: on this machine's device, or on those of soft-RoCE in a virtual machine.

`scripts/roce setup` brings the kernel for it; without, these tests are skipped. The machine is
started once.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from campaign import count as times
from test_runtime import ROOT, build, needs_libfabric

PROVIDER = "verbs;ofi_rxm"
#: Of libfabric: short queues, since soft-RoCE has no long ones; and queues of receives that do not
#: belong to a connection, since libfabric 1.17 uses these when the peer has died, and crashes.
WANTED = {"FI_UNIVERSE_SIZE": "16", "FI_OFI_RXM_USE_SRX": "1"}
SKIPPED = 77
ENDED = re.compile(r"roce: ended with (\d+)\n")


class Machine:
    """Where verbs are: one command at a time."""

    def __init__(self, built: Path) -> None:
        self.built = built
        self.process = subprocess.Popen([ROOT / "scripts/roce", "-"], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)

    def run(self, line: str) -> tuple[int, str]:
        """Status of a line for sh, and what it said."""
        assert self.process.stdin and self.process.stdout and self.process.stderr
        told = ""
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        for one in self.process.stdout:
            if ended := ENDED.fullmatch(one):
                return int(ended[1]), told
            told += one
        if self.process.wait() == SKIPPED:
            pytest.skip(self.process.stderr.read().strip())
        raise AssertionError(told + self.process.stderr.read())

    def call(self, *words: object, limit_s: int = 150, **more: str) -> str:
        """What a program of the runtime says, which must end well."""
        settings = {**WANTED, "FLYLOOM_PROVIDER": PROVIDER, **more}
        command = ["env", *(f"{name}={value}" for name, value in settings.items()), "timeout",
                   limit_s, self.built / str(words[0]), *words[1:]]
        code, told = self.run(shlex.join(str(word) for word in command) + " 2>&1")
        assert code == 0, f"{words} {more} ended with {code}\n{told[-4000:]}"
        return told


@pytest.fixture(scope="module")
def machine():
    built = build("release")
    needs_libfabric(built)
    made = Machine(built)
    try:
        made.run("true")  # or it is skipped
        yield made
    finally:
        made.process.stdin.close()
        made.process.wait(30)


@pytest.mark.parametrize("path", ["best", "behind,1", "delivered,1", "message"][:times(3, 4)])
def test_every_path_keeps_the_rules(path, machine):
    """Random programs as the model of the rules says; windows that come and go, tags at the borders
    of what 4 bytes of data carry, order beside packets."""
    more = {"FLYLOOM_OFI_PATH": path}
    machine.call("tests/program_test", "ofi", "processes", times(2, 3), times(1, 20),
                 times(60, 200), **more)
    if path == "best" or times(0, 1):
        machine.call("tests/write_test", "moves", 2, **more)


@pytest.mark.parametrize("words", [
    ("errors_test", "ofi", "processes"),
    ("stress_test", "ofi", "processes", times(2, 4), times(30, 300)),
    ("sync_test", "ofi", "processes", times(2, 3), times(10, 40)),
    ("coll_test", "ofi", "processes", 2, times(2, 4), times(5, 20), 1, 30_000),
    ("neighbour_test", "ofi", "processes", 2, times(2, 3), times(1, 6)),
    ("multicast_test", "ofi", "processes", 3, times(5, 40), 9, 20_000),
    ("leave_test", "ofi", times(3, 4), "finalize"),
    ("write_test", "huge"),
], ids=lambda words: words[0])
def test_conformance(words, machine):
    """The runtime's own tests; what is larger than the device takes at once; the end of some."""
    if words[0] in {"coll_test", "neighbour_test"} and not times(0, 1):
        pytest.skip("long: in a campaign")
    machine.call(f"tests/{words[0]}", *words[1:], limit_s=times(150, 1500))


def test_bytes_land_while_the_target_sleeps(machine):
    """The device writes: the target calls nothing until it has seen the last byte in its memory."""
    machine.call("tests/write_test", "lands")


def test_deaths(machine):
    """A rank that is killed, among writes and among messages."""
    for seed in range(1, times(2, 20)):
        machine.call("tests/write_test", "kill", seed)
        machine.call("tests/stress_test", "ofi", "later", 3, 1, seed)


def test_check_tells_what_was_found(machine):
    """Writes that tell by their data, of 4 bytes, and need nobody at the target."""
    rows = json.loads(machine.call("flyloom-check", "--json"))["transports"]
    (row,) = (row for row in rows if row.get("path", "").startswith(PROVIDER))
    assert row["works"] and row["lands"] == "always" and row["in_order"], row
    assert row["path"] == f"{PROVIDER}: writes that tell the target by their data"


def test_queues_that_the_device_does_not_have(machine):
    """Refused, with what would do: soft-RoCE has room for 32,767 completions."""
    code, told = machine.run(f"env FLYLOOM_PROVIDER='{PROVIDER}' FLYLOOM_TRANSPORTS=ofi "
                             f"{machine.built}/flyloom-perf 2>&1")
    if code == 0:
        pytest.skip("this device has room for more")
    assert "FI_UNIVERSE_SIZE=2 in the environment" in told
