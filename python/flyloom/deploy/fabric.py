"""Tables into a fabric and out again: load ours into OpenSM, or take OpenSM's own.

The fabric is simulated by ibsim; OpenSM, its routing engines and the tools that read tables back
are the real ones. What is read back is compared entry for entry with what was computed, and proved
again from the tables read, not from those sent.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from flyloom._core import RefusalError, Routing, Topology
from flyloom.deploy import oracle as ibutils
from flyloom.deploy import plugin, readback
from flyloom.deploy.ibsim import Ibsim
from flyloom.deploy.opensm import OpenSM
from flyloom.graph import network
from flyloom.results import Result

Say = Callable[[str], None]

MAX_RECORDS = 400_000
"""Above this many path records one terminal speaks for its switch: tables are by switch."""

WITH_LANES = ("dfsssp", "lash", "nue", "torus-2QoS")
"""OpenSM's engines that use service levels."""


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """What a fabric reports, as text in the formats of the standard tools."""

    lfts: str
    """Forwarding tables, dump_fts."""
    levels: str | None
    """``slid dlid sl`` a line, from the subnet administration; None where all paths have SL 0."""
    sl2vl: str | None
    """SL2VL tables in OpenSM's dump layout; None where they were not programmed."""


def deploy(
    routing: Routing,
    *,
    topology: Topology,
    oracle: bool = False,
    say: Say | None = None,
) -> Result:
    """Loads tables into OpenSM on a simulated fabric, reads them back and compares.

    Fields: ``entries`` and ``differing_entries`` (LFT entries of all switches and LIDs),
    ``sl_entries``/``differing_sl_entries`` (service level of each path, asked of the subnet
    administration), ``sl2vl_entries``/``differing_sl2vl_entries`` (tables of each switch, in-port
    and out-port), ``differences`` (the first few, in words), ``deadlock_free`` and ``verified``
    (our proof of the tables read back), ``oracle`` (ibdmchk's verdict when asked for),
    ``opensm_version``, ``seconds``.

    Raises ``DeployError`` when the fabric or OpenSM cannot be run, ``RefusalError`` when the
    network does not fit InfiniBand.
    """
    say = say or _silent
    began = time.monotonic()
    addresses = topology.addresses(routing.lmc)
    with _fabric(topology, routing.lmc) as ibsim:
        say("fabric up")
        tables = ibsim.workdir / "flyloom-tables.txt"
        tables.write_text(routing.table_text())
        with OpenSM(
            ibsim, plugin.ENGINE, lmc=routing.lmc, tables=tables, guid2lid=addresses["guid2lid"]
        ) as opensm:
            say("tables loaded into OpenSM")
            found = snapshot(ibsim, topology, addresses, lanes=True)
            say("tables read back")
            verdict = _judge(opensm, topology, addresses, found) if oracle else None
    compared = routing.compare(found.lfts, found.levels, found.sl2vl)
    say("tables compared")
    proof = imported(topology, found, routing.lmc).verify()
    deadlock = proof["deadlock"]
    fields: dict[str, Any] = {
        "entries": compared["lft"]["entries"],
        "differing_entries": compared["lft"]["differing"],
        "sl_entries": compared["sl"]["entries"],
        "differing_sl_entries": compared["sl"]["differing"],
        "sl2vl_entries": compared["sl2vl"]["entries"],
        "differing_sl2vl_entries": compared["sl2vl"]["differing"],
        "differences": [line for part in compared.values() for line in part["first"]],
        "deadlock_free": bool(deadlock and deadlock["holds"]),
        "verified": proof["holds"],
        "lanes": proof["lanes"],
        "oracle": verdict,
        "opensm_version": plugin.opensm_version(),
        "seconds": time.monotonic() - began,
    }
    return Result(fields)


def route_with_opensm(source: Any, engine: str, *, lmc: int = 0, say: Say | None = None) -> Routing:
    """The tables that OpenSM's own ``engine`` makes for a network, read back from the fabric.

    On networks without levels ``updn`` and ``dnup`` get switch 0 as their root, for OpenSM finds
    none by itself. Raises as :func:`deploy`; an engine that cannot route the network is a
    ``DeployError`` with OpenSM's reason.
    """
    topology = network(source)
    say = say or _silent
    addresses = topology.addresses(lmc)
    lanes = engine in WITH_LANES
    roots = None
    if engine in ("updn", "dnup") and not topology.levels.any():
        roots = [addresses["switch_guid"][0]]
    with _fabric(topology, lmc) as ibsim:
        say("fabric up")
        with OpenSM(
            ibsim, engine, lmc=lmc, guid2lid=addresses["guid2lid"], root_guids=roots, qos=lanes
        ):
            say("OpenSM has routed")
            found = snapshot(ibsim, topology, addresses, lanes=lanes)
            say("tables read")
    return imported(topology, found, lmc)


@contextmanager
def _fabric(topology: Topology, lmc: int) -> Iterator[Ibsim]:
    if topology.endpoints == 0:
        raise RefusalError("endpoints: the network has none; OpenSM runs on an endpoint")
    with Ibsim(topology.to_text("netlist", lmc)) as ibsim:
        yield ibsim


def snapshot(ibsim: Ibsim, topology: Topology, addresses: dict, *, lanes: bool) -> Snapshot:
    """Reads a running fabric: forwarding tables, and with ``lanes`` levels and SL2VL tables."""
    lfts = readback.dump_fts(ibsim)
    if not lanes:
        return Snapshot(lfts, None, None)
    sl2vl = readback.sl2vl(ibsim)
    records = readback.path_records(ibsim, list(path_pairs(topology, addresses)))
    levels = "".join(f"{a} {b} {sl}\n" for (a, b), sl in records.items() if sl is not None)
    return Snapshot(lfts, levels, _sl2vl_text(sl2vl))


def path_pairs(topology: Topology, addresses: dict) -> Iterator[tuple[int, int]]:
    """(source LID, destination LID) of every path to ask for: each pair of terminals, every LID of
    the destination; above MAX_RECORDS one source terminal a switch."""
    lids, count = addresses["lid"], 1 << addresses["lmc"]
    switches = topology.attachments[:, 0].tolist()
    sources = list(range(len(lids)))
    if len(lids) ** 2 * count > MAX_RECORDS:
        sources = list({switch: t for t, switch in reversed(list(enumerate(switches)))}.values())
    for source in sources:
        for destination, lid in enumerate(lids):
            if destination != source:
                yield from ((lids[source], lid + offset) for offset in range(count))


def _sl2vl_text(tables: dict[tuple[int, int, int], tuple[int, ...]]) -> str:
    lines, last = [], None
    for (guid, in_port, out_port), lanes in sorted(tables.items()):
        if guid != last:
            lines.append(f"Switch 0x{guid:016x}, base LID 0")
            last = guid
        lines.append(f"{in_port} {out_port} : {' '.join(map(str, lanes))}")
    return "\n".join(lines) + "\n"


def imported(topology: Topology, found: Snapshot, lmc: int) -> Routing:
    """The tables read from a fabric whose LIDs are those of ``topology.addresses(lmc)``."""
    return topology.import_tables(
        found.lfts, "tables read back", found.levels, found.sl2vl, keep_lids=False, lmc=lmc
    )


def _judge(opensm: OpenSM, topology: Topology, addresses: dict, found: Snapshot) -> str:
    """ibdmchk's verdict on the tables of a running OpenSM."""
    level = {
        (int(a), int(b)): int(sl)
        for a, b, sl in (line.split() for line in (found.levels or "").splitlines())
    }
    tables = {}
    for line in (found.sl2vl or "").splitlines():
        if line.startswith("Switch"):
            guid = int(line.split()[1].rstrip(","), 16)
        else:
            ports, lanes = line.split(":")
            tables[(guid, *map(int, ports.split()))] = tuple(map(int, lanes.split()))
    first_lid = dict(zip(addresses["node_guid"], addresses["lid"], strict=False))
    verdict = ibutils.ibdmchk(
        opensm.subnet_lst, opensm.fdbs,
        lambda guid, dlid: level.get((first_lid[guid], dlid), 0), tables or None, addresses["lmc"],
    )
    return verdict.verdict


def _silent(_line: str) -> None:
    pass
