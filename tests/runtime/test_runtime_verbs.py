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
from test_runtime import ROOT, build, call, needs_libfabric

PROVIDER = "verbs;ofi_rxm"
VERBS = {"FLYLOOM_PROVIDER": PROVIDER}
#: Of libfabric: short queues, since soft-RoCE has no long ones.
SHORT = {"FI_UNIVERSE_SIZE": "16"}
#: Receives of no connection: libfabric 1.17 uses those of one that is gone, and crashes.
SHARED = {"FI_OFI_RXM_USE_SRX": "1"}
SKIPPED = 77
pytestmark = pytest.mark.campaign
ENDED = re.compile(r"roce: ended with (\d+)\n")


class Machine:
    """A machine with verbs, which runs one command at a time."""

    def __init__(self, built: Path) -> None:
        self.built = built
        self.process = subprocess.Popen([ROOT / "scripts/roce", "-"], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)

    def run(self, line: str) -> tuple[int, str]:
        """Status of a line for sh, and what it said."""
        assert self.process.stdin and self.process.stdout and self.process.stderr
        reported = ""
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        for one in self.process.stdout:
            if ended := ENDED.fullmatch(one):
                return int(ended[1]), reported
            reported += one
        if self.process.wait() == SKIPPED:
            pytest.skip(self.process.stderr.read().strip())
        raise AssertionError(reported + self.process.stderr.read())

    def call(self, *words: object, limit_s: int = 150, **more: str) -> str:
        """What a program of the runtime says, which must end well."""
        settings = {**SHORT, **more}
        command = ["env", *(f"{name}={value}" for name, value in settings.items()), "timeout",
                   limit_s, self.built / str(words[0]), *words[1:]]
        code, printed = self.run(shlex.join(str(word) for word in command) + " 2>&1")
        assert code == 0, f"{words} {more} ended with {code}\n{printed[-4000:]}"
        return printed


@pytest.fixture(scope="module")
def machine():
    built = build("release")
    needs_libfabric(built)
    made = Machine(built)
    try:
        made.run("true")  # skips if the machine does not work
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
                 times(60, 200), **VERBS, **more)
    if path == "best" or times(0, 1):
        machine.call("tests/write_test", "moves", 2, **VERBS, **more)


@pytest.mark.parametrize("words", [
    ("errors_test", "ofi", "processes"),
    ("stress_test", "ofi", "processes", times(2, 4), times(30, 300)),
    ("sync_test", "ofi", "processes", times(2, 3), times(10, 40)),
    ("multicast_test", "ofi", "processes", 3, times(5, 40), 9, 20_000),
    ("leave_test", "ofi", times(3, 4), "finalize"),
    ("write_test", "huge"),
    ("coll_test", "ofi", "processes", 2, 4, 20, 1, 30_000),
    ("neighbour_test", "ofi", "processes", 2, 3, 6),
][:times(6, 8)], ids=lambda words: words[0])
def test_conformance(words, machine):
    """The runtime's own tests, the two long ones in a campaign alone; what is larger than the
    device takes at once; the end of some."""
    machine.call(f"tests/{words[0]}", *words[1:], limit_s=times(150, 1500), **VERBS)


def test_bytes_land_while_the_target_sleeps(machine):
    """The device writes: the target calls nothing until it has seen the last byte in its memory."""
    machine.call("tests/write_test", "lands", **VERBS)


def test_deaths(machine):
    """A rank that is killed, among writes and among messages."""
    for seed in range(1, times(2, 20)):
        machine.call("tests/write_test", "kill", seed, **VERBS, **SHARED)
        machine.call("tests/stress_test", "ofi", "later", 3, 1, seed, **VERBS, **SHARED)


# It asks every provider of libfabric in turn, in a machine that is emulated: minutes, which the
# suite does not have. What it tells of verbs, the tests of the paths above rest on.
@pytest.mark.skipif(not times(0, 1), reason="long, since it tries all providers: in a campaign")
def test_check_tells_what_was_found(machine):
    """Writes that tell by their data, of 4 bytes, and need nobody at the target."""
    rows = json.loads(machine.call("flyloom-check", "--json"))["transports"]
    row = next(row for row in rows if row.get("path", "").startswith(PROVIDER))
    assert row["works"] and row["lands"] == "always", row
    assert row["path"] == f"{PROVIDER}: writes that tell the target by their data"


def test_queues_that_the_device_does_not_have(machine):
    """Refused, with what would do: soft-RoCE has room for 32,767 completions."""
    code, printed = machine.run(f"env FLYLOOM_PROVIDER='{PROVIDER}' FLYLOOM_TRANSPORTS=ofi "
                                f"{machine.built}/flyloom-perf 2>&1")
    if code == 0:
        pytest.skip("this device has room for more")
    assert "FI_UNIVERSE_SIZE=2 in the environment" in printed


def needs_datagrams(machine):
    """Skips where the library was built without librdmacm."""
    if "rdmacm" not in call("ldd", machine.built / "libflyloom.so"):
        pytest.skip("librdmacm-dev is not installed")


DEVICES = ",".join(f"ud:1%rxe{n}" for n in range(4))


@pytest.mark.parametrize("faults", ["3", "3,1,2,2", "4,5,5,5"])
def test_broadcasts_by_unreliable_datagrams(faults, machine):
    """Four ranks, each with a device of its own: every byte is right, whatever datagrams do."""
    needs_datagrams(machine)
    machine.call("tests/multicast_test", "shm", "processes", 4, times(20, 300), 3, 300_000,
                 FLYLOOM_TEST_PLACES=DEVICES, FLYLOOM_MULTICAST_FAULTS=faults)


def test_repair_of_unreliable_datagrams(machine):
    """Repair costs at most 1.5 times what was lost, or the program fails."""
    needs_datagrams(machine)
    printed = machine.call("tests/multicast_test", "shm", "repair", 4, times(100, 2000), 4, 65536,
                           1, FLYLOOM_TEST_PLACES=DEVICES, FLYLOOM_MULTICAST_FAULTS="4,1")
    assert int(re.search(r"lost (\d+)", printed)[1]) > 20


def test_no_device_for_datagrams(machine):
    """The loopback has none: it is reported, and another algorithm is used."""
    needs_datagrams(machine)
    printed = machine.call("tests/multicast_test", "shm", "refused", 2, 10,
                           FLYLOOM_MULTICAST="ud:1%lo")
    assert re.search(r"^rank 0: ud 239\.19[2-5]\..*: No such device$", printed, re.MULTILINE)
