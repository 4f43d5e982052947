"""An independent checker of routings: ibdmchk of ibutils, on OpenSM's dumps, SLs and SL2VL tables.

ibdmchk knows one path a pair of endpoints. For LMC > 0 the fabric is therefore unrolled: each
further LID of an endpoint's port becomes an endpoint of its own on a spare port of the same
switch, with the routes of that LID, the SLs of the real endpoint and the SL2VL rows of the real
port. The unrolled fabric has a credit loop exactly when the real one has.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from flyloom.support import process
from flyloom.support.errors import DeployError

from . import tools

NO_LOOP = "no credit loops"
LOOP = "credit loop"
UNDECIDED = "undecided"

_SIDE = (
    r"\{ (SW|CA|CA-SM|Rt|RT|\S+) Ports:([0-9a-fA-F]+) SystemGUID:([0-9a-fA-F]+) "
    r"NodeGUID:([0-9a-fA-F]+) PortGUID:([0-9a-fA-F]+) (.*?) \{(.*?)\} "
    r"LID:([0-9a-fA-F]+) PN:([0-9a-fA-F]+) \}"
)
_CABLE = re.compile(rf"^{_SIDE} {_SIDE} (PHY=.*)$")
_FDB_SWITCH = re.compile(r"^dump_ucast_routes: Switch 0x([0-9a-fA-F]+)")
_FDB_ENTRY = re.compile(r"^0x([0-9a-fA-F]+)\s*: (\d+)(\s.*)$")
_VIRTUAL_GUIDS = 0xF10000 << 40
_PORTS_MAX = 254

Sl2vl = Mapping[tuple[int, int, int], tuple[int, ...]]
"""{(switch GUID, in-port, out-port): the VLs of SL 0..15}"""


@dataclass(frozen=True)
class IbdmchkVerdict:
    """The verdict of ibdmchk."""

    verdict: str
    """NO_LOOP, LOOP, or UNDECIDED (some path does not arrive, so ibdmchk judged none)."""
    connected: bool
    """Every endpoint reaches every LID of every other."""
    loop: list[tuple[int, int, int]]
    """The credit loop: (node GUID, out-port, VL) of its channels in ibdmchk's order; GUIDs and
    ports of virtual endpoints appear as they are in the unrolled fabric. Empty without a loop."""
    text: str
    """ibdmchk's words, without the repetitions beyond the first 200 failed paths."""


@dataclass(frozen=True)
class _CableEnd:
    kind: str
    ports: int
    system: int
    node: int
    port_guid: int
    ids: str
    name: str
    lid: int
    number: int

    def text(self, ports: int | None = None) -> str:
        return (
            f"{{ {self.kind} Ports:{ports or self.ports:02x} SystemGUID:{self.system:016x} "
            f"NodeGUID:{self.node:016x} PortGUID:{self.port_guid:016x} {self.ids} "
            f"{{{self.name}}} LID:{self.lid:04X} PN:{self.number:02X} }}"
        )


@dataclass
class _DumpedCables:
    """The cables of a dump, both directions, and what unrolling added."""

    cables: list[tuple[_CableEnd, _CableEnd, str]]
    twin_of: dict[tuple[int, int], int]
    """(switch GUID, spare port) -> the real port it copies."""
    spare_of: dict[tuple[int, int], int]
    """(switch GUID, virtual LID) -> its spare port."""
    sources: dict[int, tuple[int, int]]
    """endpoint node GUID, virtual ones too -> (real node GUID, own LID)."""


def ibdmchk(
    subnet_lst: str,
    fdbs: str,
    sl_of: Callable[[int, int], int | None] | None = None,
    sl2vl: Sl2vl | None = None,
    lmc: int = 0,
    timeout_s: float = 600.0,
) -> IbdmchkVerdict:
    """Check a routing for missing paths and credit loops.

    ``subnet_lst`` and ``fdbs`` are the texts of OpenSM's opensm-subnet.lst and opensm.fdbs.
    ``sl_of(source endpoint's node GUID, destination LID)`` gives the SL of each path, for all
    LIDs of endpoints; None: SL 0 throughout. ``sl2vl`` must have each switch's rows between all
    cabled ports (readback.sl2vl()); None: the VL is the SL. ``lmc`` is that of OpenSM.

    DeployError for texts that are not such dumps, a path without an SL, or switches with too few
    port numbers to unroll. Time grows with the number of endpoint LIDs squared: 10 s for 800.
    """
    fabric = _unroll(_parse_cables(subnet_lst), lmc)
    _no_second_port(fabric)
    with tempfile.TemporaryDirectory(prefix="flyloom-ibdmchk-") as scratch:
        files = Path(scratch)
        (files / "subnet.lst").write_text(_cables_text(fabric))
        (files / "fdbs").write_text(_fdbs_text(fabric, fdbs))
        (files / "mcfdbs").write_text("")
        args = [tools.path("ibdmchk"), "-s", "subnet.lst", "-f", "fdbs", "-m", "mcfdbs"]
        if sl_of is not None:
            (files / "psl").write_text(_psl_text(fabric, sl_of))
            args += ["-c", "psl"]
        if sl2vl is not None:
            (files / "slvl").write_text(_slvl_text(fabric, sl2vl))
            args += ["-d", "slvl"]
        # its exit code says nothing: it ends with a crash after a good verdict
        text = process.run(args, cwd=files, timeout_s=timeout_s, ok_codes=None)
    return _judge(text)


def _parse_cables(subnet_lst: str) -> list[tuple[_CableEnd, _CableEnd, str]]:
    cables = []
    for number, line in enumerate(subnet_lst.splitlines(), 1):
        found = _CABLE.match(line)
        if not found:
            raise DeployError(f"opensm-subnet.lst:{number}: not a cable: {line[:80]!r}")
        groups = found.groups()
        cables.append((_side(groups[:9]), _side(groups[9:18]), groups[18]))
    if not cables:
        raise DeployError("opensm-subnet.lst is empty: start OpenSM with log flags 0x43")
    return cables


def _side(groups: tuple[str, ...]) -> _CableEnd:
    kind, ports, system, node, port_guid, ids, name, lid, number = groups
    return _CableEnd(
        kind,
        int(ports, 16),
        int(system, 16),
        int(node, 16),
        int(port_guid, 16),
        ids,
        name,
        int(lid, 16),
        int(number, 16),
    )


def _unroll(cables: list[tuple[_CableEnd, _CableEnd, str]], lmc: int) -> _DumpedCables:
    if not 0 <= lmc <= 7:
        raise DeployError(f"LMC is {lmc}, must be 0..7")
    fabric = _DumpedCables(list(cables), {}, {}, {})
    taken: dict[int, int] = {}  # highest port number in use, by switch
    for near, far, _ in cables:
        for side in (near, far):
            if side.kind == "SW":
                taken[side.node] = max(taken.get(side.node, 0), side.number)
    for near, far, rest in cables:
        if near.kind == "SW":
            continue
        fabric.sources[near.node] = (near.node, near.lid)
        if far.kind != "SW":
            raise DeployError(f"endpoint {near.name} is cabled to no switch")
        for offset in range(1, 1 << lmc):
            spare = taken[far.node] = taken[far.node] + 1
            if spare > _PORTS_MAX:
                raise DeployError(
                    f"switch {far.name} needs more than {_PORTS_MAX} ports to unroll LMC {lmc}"
                )
            _add_virtual(fabric, near, far, rest, near.lid + offset, spare)
    return fabric


def _add_virtual(
    fabric: _DumpedCables, real: _CableEnd, switch: _CableEnd, rest: str, lid: int, spare: int
) -> None:
    guid = _VIRTUAL_GUIDS + 2 * lid
    near = _CableEnd("CA", 1, guid, guid, guid + 1, real.ids, f"{real.name}-lid{lid}", lid, 1)
    far = _CableEnd(
        switch.kind,
        switch.ports,
        switch.system,
        switch.node,
        switch.port_guid,
        switch.ids,
        switch.name,
        switch.lid,
        spare,
    )
    fabric.cables += [(near, far, rest), (far, near, rest)]
    fabric.twin_of[switch.node, spare] = switch.number
    fabric.spare_of[switch.node, lid] = spare
    fabric.sources[guid] = (real.node, lid)


def _no_second_port(fabric: _DumpedCables) -> None:
    """The path-SL file names a source by its node, so each endpoint must have one cable."""
    seen: dict[int, int] = {}
    for near, _, _ in fabric.cables:
        if near.kind != "SW" and seen.setdefault(near.node, near.number) != near.number:
            raise DeployError(
                f"endpoint {near.name} has two cabled ports: check each plane by itself"
            )


def _cables_text(fabric: _DumpedCables) -> str:
    ports: dict[int, int] = {}
    for side in (side for near, far, _ in fabric.cables for side in (near, far)):
        ports[side.node] = max(ports.get(side.node, side.ports), side.number)
    return "".join(
        f"{near.text(ports[near.node])} {far.text(ports[far.node])} {rest}\n"
        for near, far, rest in fabric.cables
    )


def _fdbs_text(fabric: _DumpedCables, fdbs: str) -> str:
    lines, switch = [], None
    for line in fdbs.splitlines():
        if found := _FDB_SWITCH.match(line):
            switch = int(found.group(1), 16)
        elif switch is not None and (found := _FDB_ENTRY.match(line)):
            spare = fabric.spare_of.get((switch, int(found.group(1), 16)))
            if spare is not None and fabric.twin_of[switch, spare] == int(found.group(2)):
                line = f"0x{found.group(1)} : {spare:03d} {found.group(3)}"
        lines.append(line)
    if switch is None:
        raise DeployError("opensm.fdbs has no switch: start OpenSM with log flags 0x43")
    return "\n".join(lines) + "\n"


def _psl_text(fabric: _DumpedCables, sl_of: Callable[[int, int], int | None]) -> str:
    lines = []
    for guid, (real, _) in fabric.sources.items():
        for other, (target, lid) in fabric.sources.items():
            if other == guid:
                continue
            sl = sl_of(real, lid) if real != target else 0  # a path to oneself leaves no switch
            if sl is None:
                raise DeployError(
                    f"the path from endpoint 0x{real:016x} to LID {lid} has no SL: ibdmchk "
                    "needs the SL of every path"
                )
            lines.append(f"0x{guid:016x} {lid} {sl}\n")
    return "".join(lines)


def _slvl_text(fabric: _DumpedCables, sl2vl: Sl2vl) -> str:
    ports: dict[int, set[int]] = {}
    for near, far, _ in fabric.cables:
        for side in (near, far):
            if side.kind == "SW":
                ports.setdefault(side.node, set()).add(side.number)
    lines: list[str] = []
    for switch, numbers in ports.items():
        for in_port in sorted(numbers):
            lines.extend(
                _slvl_line(fabric, sl2vl, switch, in_port, out_port)
                for out_port in sorted(numbers)
            )
    return "".join(lines)


def _slvl_line(
    fabric: _DumpedCables, sl2vl: Sl2vl, switch: int, in_port: int, out_port: int
) -> str:
    real_in = fabric.twin_of.get((switch, in_port), in_port)
    real_out = fabric.twin_of.get((switch, out_port), out_port)
    try:
        vls = sl2vl[switch, real_in, real_out]
    except KeyError:
        raise DeployError(
            f"switch 0x{switch:016x} has no SL2VL table from port {real_in} to {real_out}"
        ) from None
    row = " ".join(f"0x{vls[sl]:x}{vls[sl + 1]:x}" for sl in range(0, 16, 2))
    return f"0x{switch:016x} {in_port} {out_port} {row}\n"


def _judge(text: str) -> IbdmchkVerdict:
    failed = re.search(r"-E- Found (\d+) missing paths|-E- Fail to traverse:\s*(\d+)", text)
    scanned = re.search(r"-I- Scanned:\s*(\d+) CA to CA paths", text)
    if "no credit loops found" in text:
        verdict = NO_LOOP
    elif "Found credit loop on" in text:
        verdict = LOOP
    elif failed:
        verdict = UNDECIDED
    else:
        raise DeployError(f"ibdmchk gave no verdict, its last words: {text.strip()[-500:]}")
    loop = [
        (int(guid, 16), int(port), int(vl))
        for guid, port, vl in re.findall(
            r"credit loop (?:on|through): S([0-9a-f]+)/U1/P(\d+) VL: (\d+)", text
        )
    ]
    return IbdmchkVerdict(verdict, bool(scanned) and not failed, loop, _shorten(text))


def _shorten(text: str) -> str:
    kept, failures = [], 0
    for line in text.splitlines():
        failures += line.startswith("-E- Fail to find a path")
        if failures <= 200 or not line.startswith(("-E- Fail to find a path", "-E- SL to")):
            kept.append(line)
    return "\n".join(kept) + "\n"
