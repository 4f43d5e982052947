"""Writes over libfabric: every path of a put, by every provider that this machine has, between
nodes that lose packets, and with ranks that die."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest
from campaign import count as times
from test_runtime import build, call, lose, lost, needs_libfabric, nodes

__all__ = ["nodes"]  # a fixture

PROVIDERS = ["net", "tcp;ofi_rxm", "udp;ofi_rxd", "shm", "sockets"]
PATHS = ["best", "data,1", "narrow,1", "behind,1", "delivered,1", "message"]
#: Provider and path: in a campaign each with each; ctest has every path of the first provider.
PAIRS = [(provider, path) for provider in PROVIDERS for path in PATHS
         if times(0, 1) or path == "best" or (provider == "shm" and path != "message")]


@pytest.fixture(scope="module")
def tests():
    built = build("release")
    needs_libfabric(built)
    return built / "tests"


def needs_provider(name: str) -> None:
    """Skips where this machine's libfabric does not have it."""
    if not shutil.which("fi_info"):
        pytest.skip("fi_info is not installed")
    done = subprocess.run(["fi_info", "-p", name, "-t", "FI_EP_RDM"], capture_output=True,
                          text=True)
    if f"provider: {name}\n" not in done.stdout:
        pytest.skip(f"libfabric has no provider {name} here")


def cannot(provider: str, path: str) -> bool:
    """Messages of shm may overtake writes: it says so itself."""
    return provider == "shm" and path.startswith("behind")


@pytest.mark.parametrize(("provider", "path"), PAIRS)
def test_every_path_keeps_the_rules(provider, path, tests):
    """Random programs as the model of the rules says; windows that come and go, tags at the borders
    of what writes carry, order beside packets. A path that a provider cannot take is refused."""
    needs_provider(provider)
    more = {"FLYLOOM_PROVIDER": provider, "FLYLOOM_OFI_PATH": path}
    if cannot(provider, path):
        call(tests / "write_test", "refused", path, "messages may overtake writes",
             more={"FLYLOOM_PROVIDER": provider})
        return
    call(tests / "program_test", "ofi", "processes", 3, times(1, 10), times(60, 200), more=more)
    call(tests / "write_test", "moves", 2, more=more)


@pytest.mark.parametrize("provider", [name for name in PROVIDERS if name != "shm"])
def test_deaths_among_writes(provider, tests):
    """A rank that is killed while large puts and gets go to it and from it. Not by shm: libfabric
    leaves the segments of killed processes in /dev/shm."""
    needs_provider(provider)
    for seed in range(times(1, 30)):
        call(tests / "write_test", "kill", seed, more={"FLYLOOM_PROVIDER": provider})


@pytest.mark.parametrize("path", PATHS if times(0, 1) else ["best", "behind,1"])
@pytest.mark.parametrize("loss_percent", [0, 1])
@pytest.mark.parametrize("provider", ["net", "tcp;ofi_rxm"][:times(1, 2)])
def test_between_nodes(provider, loss_percent, path, nodes, tests):
    """Writes are right between two nodes, also while packets are lost."""
    if loss_percent:
        for node in nodes:
            lose(node, loss_percent)
    more = {"FLYLOOM_TEST_NODES": ",".join(nodes), "FLYLOOM_PROVIDER": provider,
            "FLYLOOM_OFI_PATH": path}
    call(tests / "program_test", "ofi", "processes", 2, times(1, 10), times(40, 200), more=more)
    if path == "best":
        call(tests / "write_test", "moves", 2, more=more)
    if loss_percent and path == "best":
        assert sum(lost(node) for node in nodes) > 0


@pytest.mark.parametrize(("provider", "progress", "what"), [
    ("net", "calls", "stays"), ("net", "thread", "lands"),
    ("tcp;ofi_rxm", "thread", "lands"), ("shm", "calls", "stays"), ("sockets", "calls", "lands"),
])
def test_bytes_land_while_the_target_is_elsewhere(provider, progress, what, tests):
    """Bytes land if the provider has progress of its own, or with a thread; else they do not,
    whatever the provider claims."""
    needs_provider(provider)
    call(tests / "write_test", what,
         more={"FLYLOOM_PROVIDER": provider, "FLYLOOM_PROGRESS": progress})


def test_check_tells_the_path(tests):
    """The output names the path of puts, and why a better one is not used."""
    rows = json.loads(call(tests.parent / "flyloom-check", "--json"))["transports"]
    for row in rows:
        if not row["works"]:
            continue
        if row["transport"] == "shm":
            assert row["path"] == "shm: loads and stores"
        else:
            assert re.match(r".+: (writes|messages)", row["path"]), row
            reported = "only while the target calls the library" in row["path"]
            assert reported == (row["lands"] != "always"), row


@pytest.mark.parametrize("value", ["sideways", "data,", "data,x", "data,-1", ",5", ""])
def test_a_path_that_is_none(value, tests):
    """Refused, with what is valid."""
    call(tests / "write_test", "refused", value, "must be best, message, data, behind,")
