"""What the deploy tests share: a netlist reader and table maker independent of the product's."""

from __future__ import annotations

import random
import re
from collections import deque
from dataclasses import dataclass
from pathlib import Path

import checkout
import pytest
from checkout import ROOT
from flyloom.deploy import plugin, tools

DATA = checkout.DATA / "ib"
ABSENT = tools.missing()
needs_fabric = pytest.mark.skipif(
    bool(ABSENT), reason="not here: " + ", ".join(f"{n} ({p})" for n, p in ABSENT)
)


needs_compiler = pytest.mark.skipif(
    tools.check_one("cc")[0][1] is None, reason="no C compiler: apt-get install gcc"
)


TABLES_TEST = ROOT / "runtime" / "opensm" / "tables_test.c"


def tables_program(folder: Path) -> Path:
    """runtime/opensm/tables_test.c, with the address and undefined-behaviour sanitizers."""
    flags = ["-std=c11", "-g", "-O1", "-Wall", "-Wextra", "-Werror"]
    return plugin.compile_c(
        [str(TABLES_TEST), "tables.c", "tables_store.c"], folder / "tables_test",
        [*flags, "-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
    )


@dataclass
class Net:
    """A netlist: cables by switch port, and where each endpoint is."""

    text: str
    far: dict[tuple[int, int], tuple[int, int]]  # (node guid, port) -> (node guid, port)
    switches: list[int]
    endpoints: list[int]
    port_guid: dict[int, int]  # endpoint -> its port's guid

    def leaf(self, endpoint: int) -> tuple[int, int]:
        """The switch and switch port of an endpoint."""
        return self.far[endpoint, 1]

    def neighbours(self, switch: int) -> list[tuple[int, int]]:
        """(port, switch at the other end), by port."""
        kin = set(self.switches)
        return sorted((p, f[0]) for (n, p), f in self.far.items() if n == switch and f[0] in kin)


def read_net(path: Path) -> Net:
    """Reads an ibsim netlist with a few expressions, only as far as the samples need."""
    text = path.read_text()
    net = Net(text, {}, [], [], {})
    node = 0
    for line in text.splitlines():
        if found := re.match(r'(Switch|Ca)\s+\d+ "[SH]-(\w+)"', line):
            node = int(found[2], 16)
            (net.switches if found[1] == "Switch" else net.endpoints).append(node)
        elif found := re.match(r'\[(\d+)\](?:\((\w+)\))?\s+"[SH]-(\w+)"\[(\d+)\]', line):
            net.far[node, int(found[1])] = (int(found[3], 16), int(found[4]))
            if found[2]:
                net.port_guid[node] = int(found[2], 16)
    return net


@dataclass
class Tables:
    """Tables made by hand: what the fabric must say after loading them."""

    lmc: int
    lid: dict[int, int]  # endpoint or switch guid -> first lid
    lft: dict[int, dict[int, int]]  # switch -> lid -> port
    sl: dict[tuple[int, int], int]  # (source switch, lid) -> sl
    default_sl: int
    sl2vl: dict[tuple[int, int, int], tuple[int, ...]]
    endpoint_vls: tuple[int, ...]

    def sl_of(self, switch: int, lid: int) -> int:
        return self.sl.get((switch, lid), self.default_sl)

    def text(self) -> str:
        lines = ["# made by a test", "flyloom-tables 1", f"lmc {self.lmc}"]
        last = max(lid for table in self.lft.values() for lid in table)
        for switch, table in self.lft.items():
            for first in range(1, last + 1, 100):  # several lines a switch
                lids = range(first, min(first + 100, last + 1))
                ports = " ".join(str(table.get(lid, "-")) for lid in lids)
                lines.append(f"lft 0x{switch:016x} {first} {ports}")
            digits = (self.sl.get((switch, lid)) for lid in range(1, last + 1))
            text = "".join("." if sl is None else f"{sl:x}" for sl in digits)
            lines.append(f"sl 0x{switch:016x} 1 {text}")
        lines.append(f"sl default {self.default_sl}")
        lines.append("sl2vl * * * " + " ".join(map(str, self.endpoint_vls)))
        for (switch, i, o), vls in self.sl2vl.items():
            lines.append(f"sl2vl 0x{switch:016x} {i} {o} " + " ".join(map(str, vls)))
        return "\n".join([*lines, "end", ""])

    def first_lids(self, net: Net) -> dict[int, int]:
        """The first LID by port GUID, as guid2lid needs it."""
        return {net.port_guid.get(node, node): lid for node, lid in self.lid.items()}

    def lmcs(self, net: Net) -> dict[int, int]:
        return {net.port_guid[node]: self.lmc for node in net.endpoints}


def towards(net: Net, target: int, cables: set[tuple[int, int]]) -> dict[int, int]:
    """{switch: out-port} by breadth-first search from `target` over some (switch, port)s."""
    out, queue = {target: 0}, deque([target])
    while queue:
        here = queue.popleft()
        for port, near in net.neighbours(here):
            if near not in out and (here, port) in cables:
                out[near] = net.far[here, port][1]
                queue.append(near)
    return out


def spanning_tree(net: Net) -> set[tuple[int, int]]:
    """The (switch, port)s, both ends, of a breadth-first tree from the first switch."""
    both = {(s, p) for s in net.switches for p, _ in net.neighbours(s)}
    up = towards(net, net.switches[0], both)
    tree = {(s, p) for s, p in up.items() if p}
    return tree | {net.far[end] for end in tree}


def make_tables(net: Net, lmc: int, seed: int, tree_only: bool = False) -> Tables:
    """Routes for each LID: shortest over the cables that a seeded draw of its offset leaves.

    Offset 0 uses all cables; other offsets lack a third of those off a spanning tree;
    ``tree_only`` uses the tree alone, which cannot deadlock. SLs are drawn, 0..15, and VLs, 0..7.
    """
    rng = random.Random(seed)
    width = 1 << lmc
    lid = {node: width * (i + 1) for i, node in enumerate(net.endpoints)}
    base = width * (len(net.endpoints) + 1)
    lid |= {node: base + i for i, node in enumerate(net.switches)}
    tree = spanning_tree(net)
    whole = {(s, p) for s in net.switches for p, _ in net.neighbours(s)}
    lft: dict[int, dict[int, int]] = {s: {lid[s]: 0} for s in net.switches}
    for offset in range(width):
        cables = (
            tree
            if tree_only
            else {
                end
                for end in whole
                if offset == 0
                or end in tree
                or random.Random(f"{seed} {offset} {sorted([end, net.far[end]])}").random() > 1 / 3
            }
        )
        for target in net.switches:
            out = towards(net, target, cables)
            here = [e for e in net.endpoints if net.leaf(e)[0] == target]
            for switch, port in out.items():
                for endpoint in here:
                    lft[switch][lid[endpoint] + offset] = port or net.leaf(endpoint)[1]
                if offset == 0 and port:
                    lft[switch][lid[target]] = port
    lids = sorted({x for table in lft.values() for x in table})
    sl = {(s, x): rng.randrange(16) for s in net.switches for x in lids if rng.random() < 0.9}
    sl2vl = {}
    for s in net.switches:
        ports = sorted(p for n, p in net.far if n == s)
        for i in [0, *ports]:
            for o in ports:
                sl2vl[s, i, o] = tuple(rng.randrange(8) for _ in range(16))
    return Tables(lmc, lid, lft, sl, 5, sl2vl, tuple(rng.randrange(8) for _ in range(16)))
