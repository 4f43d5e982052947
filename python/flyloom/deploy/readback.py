"""Reads a fabric back: cables and LFTs by the standard tools, SL2VL tables and path SLs in bulk."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from . import plugin
from .errors import DeployError
from .ibsim import Ibsim

_WINDOW = 8  # requests under way: fast, and ibsim's sockets queue no more than 10
_SWITCH = re.compile(r'^Switch\s+(\d+)\s+"S-([0-9a-f]{16})"\s+# "(.*)" .*port 0 lid (\d+) lmc (\d+)')
_CA = re.compile(r'^(?:Ca|Rt)\s+(\d+)\s+"H-([0-9a-f]{16})"\s+# "(.*)"')
_PORT = re.compile(r'^\[(\d+)\]\s*(?:\(([0-9a-f]+)\))?\s*"[SH]-([0-9a-f]{16})"\[(\d+)\]')
_CA_LID = re.compile(r"# lid (\d+) lmc (\d+)")
_FTS_SWITCH = re.compile(r"^Unicast lids .* guid 0x([0-9a-f]{16})\b")
_FTS_ENTRY = re.compile(r"^0x([0-9a-f]{4}) (\d{3})\b")


@dataclass(frozen=True)
class Port:
    """A cabled port of a node as ibnetdiscover shows it."""

    far_guid: int
    """GUID of the node at the other end."""
    far_port: int
    lid: int | None = None
    """First LID; None on a switch's ports (the switch itself has the LID)."""
    lmc: int | None = None
    guid: int | None = None
    """GUID of an endpoint's port; None on a switch's ports."""


@dataclass(frozen=True)
class Node:
    """A switch or an endpoint as ibnetdiscover shows it."""

    guid: int
    is_switch: bool
    port_count: int
    name: str
    lid: int | None = None
    """A switch's LID; None for an endpoint."""
    ports: dict[int, Port] = field(default_factory=dict)
    """The cabled ports, by number."""


def discover(ibsim: Ibsim, timeout_s: float = 120.0) -> str:
    """The fabric as text, by ibnetdiscover."""
    return ibsim.run(["ibnetdiscover"], timeout_s=timeout_s)


def parse_discover(text: str) -> dict[int, Node]:
    """The nodes of ibnetdiscover's text by GUID, in the text's order.

    DeployError when it holds no node, or a port line stands before any node.
    """
    nodes: dict[int, Node] = {}
    node = None
    for number, line in enumerate(text.splitlines(), 1):
        if found := _SWITCH.match(line):
            count, guid, name, lid, _ = found.groups()
            node = Node(int(guid, 16), True, int(count), name, int(lid))
            nodes[node.guid] = node
        elif found := _CA.match(line):
            count, guid, name = found.groups()
            node = Node(int(guid, 16), False, int(count), name)
            nodes[node.guid] = node
        elif found := _PORT.match(line):
            if node is None:
                raise DeployError(f"ibnetdiscover line {number}: a port before any node")
            node.ports[int(found.group(1))] = _port_of(node, line, found)
    if not nodes:
        raise DeployError("ibnetdiscover found no node")
    return nodes


def _port_of(node: Node, line: str, found: re.Match) -> Port:
    far_guid, far_port = int(found.group(3), 16), int(found.group(4))
    lids = None if node.is_switch else _CA_LID.search(line)
    if lids is None:
        return Port(far_guid, far_port)
    guid = int(found.group(2), 16) if found.group(2) else None
    return Port(far_guid, far_port, int(lids.group(1)), int(lids.group(2)), guid)


def dump_fts(ibsim: Ibsim, timeout_s: float = 300.0) -> str:
    """All LFTs as text, by ``dump_fts -n``; the header line of each switch has its GUID."""
    return ibsim.run(["dump_fts", "-n"], timeout_s=timeout_s)


def parse_fts(text: str) -> dict[int, dict[int, int]]:
    """{switch GUID: {LID: out-port}} of the text of dump_fts or of opensm-lfts.dump.

    LIDs without a route are absent. DeployError when an entry stands before any switch.
    """
    tables: dict[int, dict[int, int]] = {}
    table = None
    for number, line in enumerate(text.splitlines(), 1):
        if found := _FTS_ENTRY.match(line):
            if table is None:
                raise DeployError(f"dump_fts line {number}: an entry before any switch")
            port = int(found.group(2))
            if port != 255:
                table[int(found.group(1), 16)] = port
        elif found := _FTS_SWITCH.match(line):
            table = tables.setdefault(int(found.group(1), 16), {})
    return tables


def sl2vl(
    ibsim: Ibsim, switches: Iterable[int] | None = None, timeout_s: float = 300.0
) -> dict[tuple[int, int, int], tuple[int, ...]]:
    """{(switch GUID, in-port, out-port): the 16 VLs} of switches' SL2VL tables, read from them.

    ``switches``: GUIDs; None means all. In-ports are 0 and the cabled ones, out-ports the cabled
    ones. One request each: ports squared a switch. DeployError for a switch not in the fabric.
    """
    nodes = parse_discover(discover(ibsim))
    wanted = list(switches) if switches is not None else [
        node.guid for node in nodes.values() if node.is_switch
    ]
    keys, queries = [], []
    for guid in wanted:
        node = nodes.get(guid)
        if node is None or not node.is_switch:
            raise DeployError(f"the fabric has no switch 0x{guid:016x}")
        for in_port in (0, *sorted(node.ports)):
            for out_port in sorted(node.ports):
                keys.append((guid, in_port, out_port))
                queries.append(f"vl {node.lid} {in_port} {out_port}\n")
    answers = _ask(ibsim, queries, timeout_s)
    for key, answer in zip(keys, answers, strict=True):
        if answer == "-":
            raise DeployError(f"switch 0x{key[0]:016x} refused SL2VL of ports {key[1]}, {key[2]}")
    return {
        key: tuple(int(digit, 16) for digit in answer)
        for key, answer in zip(keys, answers, strict=True)
    }


def path_records(
    ibsim: Ibsim, pairs: Iterable[tuple[int, int]], timeout_s: float = 300.0
) -> dict[tuple[int, int], int | None]:
    """{(source LID, destination LID): SL} by OpenSM's subnet administration; None: no path.

    One PathRecord request a pair, several under way at once: some 10,000 a second and more.
    """
    keys = list(pairs)
    answers = _ask(ibsim, [f"sl {a} {b}\n" for a, b in keys], timeout_s)
    return {
        key: None if answer == "-" else int(answer.split()[0])
        for key, answer in zip(keys, answers, strict=True)
    }


def differing(
    wanted: Mapping[int, Mapping[int, int]], found: Mapping[int, Mapping[int, int]]
) -> list[tuple[int, int, int | None, int | None]]:
    """(switch GUID, LID, wanted port, found port) of each LFT entry that differs, sorted.

    None means no route; a switch that one side lacks differs in all its routes.
    """
    odd = []
    for guid in sorted(wanted.keys() | found.keys()):
        a, b = wanted.get(guid, {}), found.get(guid, {})
        odd += [
            (guid, lid, a.get(lid), b.get(lid))
            for lid in sorted(a.keys() | b.keys())
            if a.get(lid) != b.get(lid)
        ]
    return odd


def _ask(ibsim: Ibsim, queries: list[str], timeout_s: float) -> list[str]:
    if not queries:
        return []
    program = str(plugin.reader_path())
    text = ibsim.run([program, str(_WINDOW)], stdin_text="".join(queries), timeout_s=timeout_s)
    answers = text.splitlines()
    if len(answers) != len(queries):
        raise DeployError(f"asked {len(queries)} questions, got {len(answers)} answers")
    return answers
