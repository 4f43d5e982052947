"""A network played by Linux: a namespace for every switch, which forwards by the tables, and for
every endpoint, with links of a given rate between them; and hosts that an MPI starts ranks on."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
from pathlib import Path

import pytest

RATE_MBPS = 20
MTU = 9000
"""Long packets: what headers take of a rate is below 1 %."""
SENT_AT_ONCE = {
    **dict.fromkeys(("btl_tcp_eager_limit", "btl_tcp_rndv_eager_limit", "btl_tcp_max_send_size"),
                    8 << 20),
    "btl_tcp_sndbuf": 0, "btl_tcp_rcvbuf": 0,
}
"""Messages go to TCP whole: in parts, of which each is answered, they leave a slow link idle."""
GATE = "169.254.1.1"
"""A switch, as its endpoints call it."""
AGENT = """#!/bin/sh
# A remote shell: AGENT HOST COMMAND... runs it on a host that is played here.
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
exec ip netns exec "PREFIX-$host" unshare -u sh -c 'hostname "$0" && exec sh -c "$*"' "$host" "$@"
"""


def may() -> bool:
    """Whether this process may make namespaces and shape links."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("ip", "tc", "unshare"))):
        return False
    name = f"fly{os.getpid()}t"
    tried = [
        ["ip", "netns", "add", name],
        ["ip", "-n", name, "link", "add", "name", "fa", "type", "veth", "peer", "name", "fb"],
        ["tc", "-n", name, "qdisc", "add", "dev", "fa", "root", "tbf", "rate", "20mbit", "burst",
         "20kb", "latency", "50ms"],
        ["ip", "-n", name, "link", "add", "name", "fc", "type", "bridge"],
    ]
    done = [subprocess.run(words, capture_output=True).returncode == 0 for words in tried]
    subprocess.run(["ip", "netns", "del", name], capture_output=True)
    return all(done)


class Hosts:
    """The endpoints of a routed network as hosts ``h0``, ``h1``, ...; as a block.

    Every link and every endpoint's cable has ``RATE_MBPS`` in each direction (a token bucket filter
    at its sender). Endpoint e is 10.1.0.e; 10.2.0.e is a network of its own beside, without limits,
    by which a launcher speaks to its daemons.
    """

    def __init__(self, net, routing, folder: Path) -> None:
        self.net, self.routing, self.folder = net, routing, folder
        self.prefix = f"f{os.getpid()}"
        self.agent = folder / "agent"
        self.agent.write_text(AGENT.replace("PREFIX", self.prefix))
        self.agent.chmod(0o755)
        self.names = [f"h{e}" for e in range(net.endpoints)]

    def __enter__(self) -> Hosts:
        try:
            self._build()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        self._remove()

    def _ns(self, name: str) -> str:
        return f"{self.prefix}-{name}"

    def _spaces(self) -> list[str]:
        switches = [f"s{s}" for s in range(self.net.switches)]
        return [self._ns(name) for name in (*self.names, *switches, "beside")]

    def _build(self) -> None:
        for space in self._spaces():
            call("ip", "netns", "add", space)
        lines: dict[str, list[str]] = {space: ["link set lo up"] for space in self._spaces()}
        gates: dict[tuple[int, int], str] = {}  # the far end of a link, by its switches
        for k, (a, b) in enumerate(self.net.edges.tolist()):
            here, there = self._ns(f"s{a}"), self._ns(f"s{b}")
            self._cable(here, f"v{k}", there, f"v{k}")
            near, far = f"10.{100 + k // 250}.{k % 250}.1", f"10.{100 + k // 250}.{k % 250}.2"
            lines[here] += [f"addr add {near}/30 dev v{k}", f"link set v{k} up"]
            lines[there] += [f"addr add {far}/30 dev v{k}", f"link set v{k} up"]
            gates[a, b], gates[b, a] = far, near
        for e, (home, *_) in enumerate(self.net.attachments.tolist()):
            host, switch = self._ns(f"h{e}"), self._ns(f"s{home}")
            self._cable(host, "net0", switch, f"e{e}")
            lines[switch] += [f"addr add {GATE}/32 dev e{e}", f"link set e{e} up",
                              f"route add 10.1.0.{e}/32 dev e{e}"]
            lines[host] += [f"addr add 10.1.0.{e}/32 dev net0", "link set net0 up",
                            f"route add {GATE} dev net0",
                            f"route add 10.1.0.0/24 via {GATE} dev net0 src 10.1.0.{e}"]
        for (s, e), after in self._next().items():
            lines[self._ns(f"s{s}")].append(f"route add 10.1.0.{e}/32 via {gates[s, after]}")
        self._beside(lines)
        for space, todo in lines.items():
            call("ip", "-n", space, "-batch", "-", given="\n".join(todo) + "\n")
        for s in range(self.net.switches):
            call("ip", "netns", "exec", self._ns(f"s{s}"), "sysctl", "-qw",
                 "net.ipv4.ip_forward=1")

    def _cable(self, here: str, name: str, there: str, other: str) -> None:
        """A cable of the rate in both directions."""
        call("ip", "link", "add", "name", name, "netns", here, "mtu", MTU, "type", "veth", "peer",
             "name", other, "mtu", MTU, "netns", there)
        for space, device in ((here, name), (there, other)):
            call("tc", "-n", space, "qdisc", "add", "dev", device, "root", "handle", "1:", "tbf",
                 "rate", f"{RATE_MBPS}mbit", "burst", "20kb", "latency", "50ms")

    def _beside(self, lines: dict[str, list[str]]) -> None:
        """The network beside: a bridge that all hosts have a link to."""
        middle = self._ns("beside")
        lines[middle] += ["link add name mid type bridge", "link set mid up"]
        for e in range(self.net.endpoints):
            host = self._ns(f"h{e}")
            call("ip", "link", "add", "m0", "netns", host, "type", "veth", "peer", "name", f"m{e}",
                 "netns", middle)
            lines[host] += [f"addr add 10.2.0.{e + 1}/24 dev m0", "link set m0 up"]
            lines[middle] += [f"link set m{e} master mid", f"link set m{e} up"]

    def _next(self) -> dict[tuple[int, int], int]:
        """The next hop of each switch's table for each endpoint whose packets come there."""
        found: dict[tuple[int, int], int] = {}
        for source, target in itertools.permutations(range(self.net.endpoints), 2):
            for here, after in itertools.pairwise(self.routing.path(source, target)):
                assert found.setdefault((here, target), after) == after
        return found

    def _remove(self) -> None:
        for space in self._spaces():
            subprocess.run(["ip", "netns", "del", space], capture_output=True)

    def launcher(self) -> list[str]:
        """What starts a rank of Open MPI on each host, whose messages go over the network."""
        (self.folder / "hosts").write_text("".join(f"{name} slots=1\n" for name in self.names))
        only = {"plm_rsh_agent": self.agent, "btl": "tcp,self", "btl_tcp_if_include": "net0",
                "oob_tcp_if_include": "m0", "plm_rsh_no_tree_spawn": 1,
                "mpi_yield_when_idle": 1, **SENT_AT_ONCE, "plm_rsh_num_concurrent": 32}
        words = [word for key, value in only.items() for word in ("--mca", key, str(value))]
        first = ["ip", "netns", "exec", self._ns("h0")]
        (self.folder / "mpirun").write_text(
            f"#!/bin/sh\nexec {' '.join(first)} mpirun.openmpi \"$@\"\n")
        (self.folder / "mpirun").chmod(0o755)
        return [str(self.folder / "mpirun"), "--hostfile", str(self.folder / "hosts"), *words,
                "-n", str(len(self.names))]


def call(*words: object, given: str | None = None) -> str:
    done = subprocess.run([str(word) for word in words], input=given, text=True,
                          capture_output=True, timeout=60)
    if done.returncode != 0:
        pytest.fail(f"{words}: {done.stderr}")
    return done.stdout
