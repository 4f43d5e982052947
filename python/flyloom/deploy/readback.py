"""Reads a fabric back: cables and LFTs by the standard tools, SL2VL tables and path SLs in bulk."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from flyloom.support import process
from flyloom.support.errors import DeployError
from flyloom.support.files import scratch

from . import plugin, tools
from .ibsim import Ibsim

_WINDOW = 8  # requests in flight: fast, and ibsim's sockets queue no more than 10
_PORTION = 300_000  # requests of one run of the bulk reader
_SLOWEST = 500  # requests a second below which something must be broken
_SWITCH = re.compile(
    r'^Switch\s+(\d+)\s+"S-([0-9a-f]{16})"\s+# "(.*)" .*port 0 lid (\d+) lmc (\d+)'
)
_SWITCH_RECORD = re.compile(r"^Switch\s", re.MULTILINE)
_CA = re.compile(r'^(?:Ca|Rt)\s+(\d+)\s+"H-([0-9a-f]{16})"\s+# "(.*)"')
_PORT = re.compile(r'^\[(\d+)\]\s*(?:\(([0-9a-f]+)\))?\s*"[SH]-([0-9a-f]{16})"\[(\d+)\]')
_CA_LID = re.compile(r"# lid (\d+) lmc (\d+)")
_FTS_SWITCH = re.compile(r"^Unicast lids .* guid 0x([0-9a-f]{16})\b")
_FTS_RANGE = re.compile(
    r"^Unicast lids \[0x[0-9a-f]+-0x([0-9a-f]+)\] of switch .* guid 0x([0-9a-f]{16})\b",
    re.MULTILINE,
)
_FTS_END = re.compile(r"(\d+) valid lids dumped")
LEAST_S, BLOCK_S = 300.0, 0.005
"""How long dump_fts may take, and for each block; under load it was seen to take 0.3 ms."""
_BLOCK = 64  # entries of an LFT that are read at once
_FTS_ENTRY = re.compile(r"^0x([0-9a-f]{4}) (\d{3})\b")


@dataclass(frozen=True)
class DiscoveredPort:
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
class DiscoveredNode:
    """A switch or an endpoint as ibnetdiscover shows it."""

    guid: int
    is_switch: bool
    port_count: int
    name: str
    lid: int | None = None
    """A switch's LID; None for an endpoint."""
    ports: dict[int, DiscoveredPort] = field(default_factory=dict)
    """The cabled ports, by number."""


def discover(ibsim: Ibsim, timeout_s: float = 120.0) -> str:
    """The fabric as text, by ibnetdiscover."""
    return ibsim.run(["ibnetdiscover"], timeout_s=timeout_s)


def discover_here(timeout_s: float = 600.0) -> str:
    """ibnetdiscover's text of the fabric that this machine is part of.

    DeployError when ibnetdiscover is not installed, there is no fabric, or it does not answer.
    """
    program = tools.path("ibnetdiscover")
    help_ = "run this on a machine of the fabric (as root), or give saved ibnetdiscover output"
    with scratch() as cwd:
        try:
            text = process.run([program], cwd=cwd, timeout_s=timeout_s)
        except DeployError as why:
            last = str(why).strip().splitlines()[-1]
            raise DeployError(f"this machine is on no InfiniBand fabric: {last}; {help_}") from why
    if not _SWITCH_RECORD.search(text):
        raise DeployError(f"ibnetdiscover found no switch from here; {help_}")
    return text


def parse_discover(text: str) -> dict[int, DiscoveredNode]:
    """The nodes of ibnetdiscover's text by GUID, in the text's order.

    DeployError when it holds no node, or a port line stands before any node.
    """
    nodes: dict[int, DiscoveredNode] = {}
    node = None
    for number, line in enumerate(text.splitlines(), 1):
        if found := _SWITCH.match(line):
            count, guid, name, lid, _ = found.groups()
            node = DiscoveredNode(int(guid, 16), True, int(count), name, int(lid))
            nodes[node.guid] = node
        elif found := _CA.match(line):
            count, guid, name = found.groups()
            node = DiscoveredNode(int(guid, 16), False, int(count), name)
            nodes[node.guid] = node
        elif found := _PORT.match(line):
            if node is None:
                raise DeployError(f"ibnetdiscover line {number}: a port before any node")
            node.ports[int(found.group(1))] = _port_of(node, line, found)
    if not nodes:
        raise DeployError("ibnetdiscover found no node")
    return nodes


def _port_of(node: DiscoveredNode, line: str, found: re.Match[str]) -> DiscoveredPort:
    far_guid, far_port = int(found.group(3), 16), int(found.group(4))
    lids = None if node.is_switch else _CA_LID.search(line)
    if lids is None:
        return DiscoveredPort(far_guid, far_port)
    guid = int(found.group(2), 16) if found.group(2) else None
    return DiscoveredPort(far_guid, far_port, int(lids.group(1)), int(lids.group(2)), guid)


def dump_fts(ibsim: Ibsim, blocks: int = 0) -> str:
    """All LFTs as text, by ``dump_fts -n``; the header line of each switch has its GUID.

    ``blocks`` of 64 entries are in all of them, roughly: dump_fts asks for one after the other, and
    the time that it may take grows with them. That of infiniband-diags 44 leaves the last LID out
    where it is a multiple of 64: it reads one block of entries too few. That entry is read from the
    switch, and put where it belongs.
    """
    text = ibsim.run(["dump_fts", "-n"], timeout_s=LEAST_S + BLOCK_S * blocks)
    cut = {
        int(guid, 16): int(top, 16) for top, guid in _FTS_RANGE.findall(text)
        if int(top, 16) and int(top, 16) % _BLOCK == 0
    }
    if not cut:
        return text
    nodes = parse_discover(discover(ibsim))
    path = paths_from(nodes, ibsim.at)
    queries = [f"ft {nodes[guid].lid} {top} {path.get(guid, '')}\n" for guid, top in cut.items()]
    port = dict(zip(cut, _ask(ibsim, queries, None), strict=True))
    lines: list[str] = []
    last = None
    for line in text.splitlines():
        if found := _FTS_SWITCH.match(line):
            last = int(found[1], 16)
        elif (
            (count := _FTS_END.match(line)) and last in cut and port[last] != "ff"
            and not lines[-1].startswith(f"0x{cut[last]:04x} ")
        ):
            lines.append(f"0x{cut[last]:04x} {int(port[last], 16):03}")
            line = f"{int(count[1]) + 1} valid lids dumped"
        lines.append(line)
    return "\n".join([*lines, ""])


def tables_reported(text: str) -> Iterator[tuple[int, bool]]:
    """The GUID of each switch that is in the text of dump_fts, and whether its table has an end."""
    guid = None
    for line in text.splitlines():
        if found := _FTS_SWITCH.match(line):
            if guid is not None:
                yield guid, False
            guid = int(found.group(1), 16)
        elif guid is not None and _FTS_END.match(line):
            yield guid, True
            guid = None
    if guid is not None:
        yield guid, False


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
    ibsim: Ibsim, switches: Iterable[int] | None = None, timeout_s: float | None = None
) -> dict[tuple[int, int, int], tuple[int, ...]]:
    """{(switch GUID, in-port, out-port): the 16 VLs} of switches' SL2VL tables, read from them.

    ``switches``: GUIDs; None means all. In-ports are 0 and the cabled ones, out-ports the cabled
    ones. One request each: ports squared a switch. DeployError for a switch not in the fabric.
    """
    nodes = parse_discover(discover(ibsim))
    wanted = list(switches) if switches is not None else switches_of(nodes)
    return {
        key: tuple(int(digit, 16) for digit in answer)
        for key, answer in _sl2vl_answers(ibsim, nodes, wanted, timeout_s)
    }


def sl2vl_text(
    ibsim: Ibsim, nodes: Mapping[int, DiscoveredNode], timeout_s: float | None = None
) -> str:
    """The tables of all switches as sl2vl(), as text in the layout of OpenSM's dump, by GUID."""
    lines: list[str] = []
    last = None
    rows: dict[str, str] = {}  # few tables differ
    for (guid, in_port, out_port), answer in _sl2vl_answers(
        ibsim, nodes, sorted(switches_of(nodes)), timeout_s
    ):
        if guid != last:
            lines.append(f"Switch 0x{guid:016x}, base LID 0\n")
            last = guid
        row = rows.get(answer)
        if row is None:
            row = rows[answer] = " ".join(str(int(digit, 16)) for digit in answer) + "\n"
        lines.append(f"{in_port} {out_port} : {row}")
    return "".join(lines)


def switches_of(nodes: Mapping[int, DiscoveredNode]) -> list[int]:
    """GUIDs of the switches, in the order of ``nodes``."""
    return [node.guid for node in nodes.values() if node.is_switch]


def _sl2vl_answers(
    ibsim: Ibsim, nodes: Mapping[int, DiscoveredNode], wanted: Iterable[int],
    timeout_s: float | None,
) -> Iterator[tuple[tuple[int, int, int], str]]:
    """Each table's key and its answer, 16 hexadecimal digits, in the order of ``wanted``.

    They are asked for along paths of ports, not by LID: ibsim carries a packet to a LID over at
    most 16 switches.
    """
    path = paths_from(nodes, ibsim.at)
    for some in _portions(_sl2vl_keys(nodes, wanted)):
        queries = [
            f"vl {nodes[guid].lid} {i} {o} {path.get(guid, '')}\n" for guid, i, o in some
        ]
        for key, answer in zip(some, _ask(ibsim, queries, timeout_s), strict=True):
            if answer == "-":
                raise DeployError(
                    f"switch 0x{key[0]:016x} refused SL2VL of ports {key[1]}, {key[2]}"
                )
            yield key, answer


def paths_from(nodes: Mapping[int, DiscoveredNode], node_id: str | None) -> dict[int, str]:
    """{GUID: the ports, with commas, by which the shortest path leaves the endpoint ``node_id`` and
    the switches after it} of every switch; empty where no endpoint is known by that id."""
    start = next((n for n in nodes.values() if f"H-{n.guid:016x}" == node_id and n.ports), None)
    if start is None:
        return {}
    first = min(start.ports)
    found, queue = {start.ports[first].far_guid: str(first)}, [start.ports[first].far_guid]
    for guid in queue:
        for port, far in sorted(nodes[guid].ports.items()):
            there = nodes.get(far.far_guid)
            if far.far_guid not in found and there is not None and there.is_switch:
                found[far.far_guid] = f"{found[guid]},{port}"
                queue.append(far.far_guid)
    return found


def _sl2vl_keys(
    nodes: Mapping[int, DiscoveredNode], wanted: Iterable[int]
) -> Iterator[tuple[int, int, int]]:
    for guid in wanted:
        node = nodes.get(guid)
        if node is None or not node.is_switch:
            raise DeployError(f"the fabric has no switch 0x{guid:016x}")
        ports = sorted(node.ports)
        yield from ((guid, i, o) for i in (0, *ports) for o in ports)


def path_records(
    ibsim: Ibsim, pairs: Iterable[tuple[int, int]], timeout_s: float | None = None
) -> dict[tuple[int, int], int | None]:
    """{(source LID, destination LID): SL} by OpenSM's subnet administration; None: no path.

    One PathRecord request a pair, several in flight at once: some 10,000 a second and more.
    """
    answers = _path_answers(ibsim, parse_discover(discover(ibsim)), pairs, timeout_s)
    return {key: None if answer == "-" else int(answer.split()[0]) for key, answer in answers}


def path_levels(
    ibsim: Ibsim,
    nodes: Mapping[int, DiscoveredNode],
    pairs: Iterable[tuple[int, int]],
    timeout_s: float | None = None,
) -> tuple[str, int]:
    """The service levels of paths as text, a line ``slid dlid sl`` for each pair, and how many
    pairs have no path."""
    lines, missing = [], 0
    for (a, b), answer in _path_answers(ibsim, nodes, pairs, timeout_s):
        if answer == "-":
            missing += 1
        else:
            lines.append(f"{a} {b} {answer.partition(' ')[0]}\n")
    return "".join(lines), missing


def _path_answers(
    ibsim: Ibsim,
    nodes: Mapping[int, DiscoveredNode],
    pairs: Iterable[tuple[int, int]],
    timeout_s: float | None,
) -> Iterator[tuple[tuple[int, int], str]]:
    guid_of = {lid: f"{guid:x}" for lid, guid in _port_guids(nodes).items()}
    for some in _portions(pairs):
        queries = [
            f"sl {a} {b} {guid_of[a]} {guid_of[b]}\n"
            if a in guid_of and b in guid_of
            else f"sl {a} {b}\n"
            for a, b in some
        ]
        yield from zip(some, _ask(ibsim, queries, timeout_s), strict=True)


def _portions(items: Iterable[Any]) -> Iterator[list[Any]]:
    """The items, _PORTION of them at a time: memory does not grow with the fabric."""
    items = iter(items)
    while some := list(itertools.islice(items, _PORTION)):
        yield some


def _port_guids(nodes: Mapping[int, DiscoveredNode]) -> dict[int, int]:
    """{LID: GUID of its port}: without it OpenSM looks through all ports for each request."""
    found: dict[int, int] = {}
    for node in nodes.values():
        if node.is_switch and node.lid is not None:
            found[node.lid] = node.guid
        else:
            for port in node.ports.values():
                if port.lid is not None and port.guid is not None:
                    lids = range(port.lid, port.lid + (1 << (port.lmc or 0)))
                    found |= dict.fromkeys(lids, port.guid)
    found.pop(0, None)
    return found


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


def _ask(ibsim: Ibsim, queries: list[str], timeout_s: float | None) -> list[str]:
    if not queries:
        return []
    if timeout_s is None:
        timeout_s = 60 + len(queries) / _SLOWEST
    program = str(plugin.reader_path())
    text = ibsim.run([program, str(_WINDOW)], stdin_text="".join(queries), timeout_s=timeout_s)
    answers = text.splitlines()
    if len(answers) != len(queries):
        raise DeployError(f"asked {len(queries)} questions, got {len(answers)} answers")
    return answers
