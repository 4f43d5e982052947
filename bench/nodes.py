"""Two nodes on one machine: network namespaces with a link between them, or else 127.0.0.1."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from peers import MAY, Failed, Figures, end, rows_of

LINK = "fly0"
ADDRESSES = ("10.77.0.1", "10.77.0.2")
NETWORK = "10.77.0.0/24"
CARRIER_S = 20

AGENT = """#!/bin/sh
# Starts a launcher's part on a node, as ssh would: [OPTIONS] ADDRESS COMMAND...
while [ "${{1#-}}" != "$1" ]; do shift; done
case $1 in {first}) node={a} ;; *) node={b} ;; esac
shift
exec ip netns exec $node unshare --uts sh -c "hostname $node; $*"
"""


@dataclass(frozen=True)
class Nodes:
    """Where two ranks run, and how they are started there."""

    said: str
    """What the nodes are, for the notes."""
    names: tuple[str, ...] = ()
    """The namespaces; empty: 127.0.0.1."""
    agent: str = ""

    def mpi(self, mpi: str, words: Sequence[str]) -> list[str]:
        """A program of two ranks under an MPI's launcher, over TCP alone."""
        where = self._inside(0)
        if mpi == "openmpi":
            own = ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "osc", "pt2pt",
                   "--mca", "btl_tcp_if_include", NETWORK if self.names else "lo"]
            if self.names:
                own += ["--host", ",".join(f"{one}:1" for one in ADDRESSES), "--mca",
                        "plm_rsh_agent", self.agent, "--mca", "oob_tcp_if_include", NETWORK]
            return [*where, "mpiexec.openmpi", "-n", "2", "--bind-to", "none", *own, *words]
        own = (["-launcher", "ssh", "-launcher-exec", self.agent, "-hosts", ",".join(ADDRESSES),
                "-localhost", ADDRESSES[0]] if self.names else [])
        return [*where, "mpiexec.mpich", *own, "-n", "2", *words]

    def environment(self) -> dict[str, str]:
        """What makes MPICH use TCP, also between ranks of one machine."""
        return {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": LINK if self.names else "lo",
                "MPIR_CVAR_NOLOCAL": "1"}

    def pair(self, words: Sequence[str]) -> Figures:
        """What rank 0 of a program prints that is started twice, without an MPI."""
        with tempfile.TemporaryDirectory() as folder:
            kept = {k: v for k, v in os.environ.items() if not k.startswith("FLYLOOM_")}
            started = [
                subprocess.Popen([*self._inside(rank), *words], text=True, start_new_session=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 env={**kept, **MAY, "FLYLOOM_RANK": str(rank),
                                      "FLYLOOM_SIZE": "2", "FLYLOOM_BOOT": folder})
                for rank in range(2)
            ]
            try:
                outputs = [one.communicate(timeout=120) for one in started]
            except subprocess.TimeoutExpired:
                raise Failed("no end after 120 s") from None
            finally:
                for one in started:
                    end(one)
        if any(one.returncode != 0 for one in started):
            raise Failed(" ".join(err for _, err in outputs).strip()[-300:])
        return rows_of(outputs[0][0])

    def _inside(self, rank: int) -> list[str]:
        return ["ip", "netns", "exec", self.names[rank]] if self.names else []


@contextlib.contextmanager
def two_nodes() -> Iterator[Nodes]:
    """Two namespaces, removed at the end; or 127.0.0.1, with the reason, where there are none."""
    names = tuple(f"flybench{os.getpid()}{which}" for which in "ab")
    with tempfile.TemporaryDirectory() as folder:
        try:
            try:
                _connect(names)
                agent = Path(folder) / "agent"
                agent.write_text(AGENT.format(first=ADDRESSES[0], a=names[0], b=names[1]))
                agent.chmod(0o755)
                nodes = Nodes("between two network namespaces", names, str(agent))
            except (OSError, Failed) as why:
                nodes = Nodes(f"over 127.0.0.1, for want of network namespaces ({why})")
            yield nodes
        finally:
            for name in names:
                with contextlib.suppress(OSError):
                    subprocess.run(["ip", "netns", "del", name], capture_output=True)


def _connect(names: tuple[str, ...]) -> None:
    for name in names:
        _ip("netns", "add", name)
    _ip("link", "add", LINK, "netns", names[0], "type", "veth", "peer", "name", LINK, "netns",
        names[1])
    for name, address in zip(names, ADDRESSES, strict=True):
        _ip("-n", name, "addr", "add", f"{address}/24", "dev", LINK)
        _ip("-n", name, "link", "set", LINK, "up")
        _ip("-n", name, "link", "set", "lo", "up")
        _ip("netns", "exec", name, "unshare", "--uts", "hostname", name)
    until = time.monotonic() + CARRIER_S
    while any("state UP" not in _ip("-n", name, "link", "show", LINK) for name in names):
        if time.monotonic() > until:
            raise Failed("no carrier")
        time.sleep(0.05)


def _ip(*words: str) -> str:
    done = subprocess.run(["ip", *words], text=True, capture_output=True, timeout=60)
    if done.returncode != 0:
        raise Failed(f"ip {' '.join(words[:2])}: {done.stderr.strip()}")
    return done.stdout
