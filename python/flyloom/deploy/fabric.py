"""Tables into a fabric and out again: load ours into OpenSM, or take OpenSM's own.

The fabric is simulated by ibsim; OpenSM, its routing engines and the tools that read tables back
are the real ones. What is read back is compared entry for entry with what was computed, and proved
again from the tables read, not from those sent.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from typing import Any

from flyloom._core import RefusalError, Routing, Topology
from flyloom.deploy import oracle as ibutils
from flyloom.deploy import plugin
from flyloom.deploy.live import Live, compared
from flyloom.deploy.snapshot import Snapshot, imported
from flyloom.graph import network
from flyloom.results import Result

Say = Callable[[str], None]

WITH_LANES = ("dfsssp", "lash", "nue", "torus-2QoS")
"""OpenSM's engines that use service levels."""


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
    (our proof of the tables read back, on the cables as found), ``lanes``, ``counterexample``
    (lines of words when they do not hold), ``oracle`` (ibdmchk's verdict when asked for),
    ``opensm_version``, ``seconds``.

    Raises ``DeployError`` when the fabric or OpenSM cannot be run, ``RefusalError`` when the
    network does not fit InfiniBand.
    """
    say = say or _silent
    began = time.monotonic()
    if oracle and topology.terminals > topology.endpoints:
        raise RefusalError("oracle: ibdmchk knows one cable an endpoint; deploy without it")
    with Live(topology, routing.lmc) as live:
        say("fabric up")
        live.load(routing)
        say("tables loaded into OpenSM")
        found = live.read(topology)
        say("tables read back")
        verdict = judge(live, found) if oracle else None
    fields = compared(routing, found, routing.lmc)
    say("tables compared and proved")
    fields["oracle"] = verdict
    fields["opensm_version"] = plugin.opensm_version()
    fields["seconds"] = time.monotonic() - began
    return Result(fields)


def route_with_opensm(source: Any, engine: str, *, lmc: int = 0, say: Say | None = None) -> Routing:
    """The tables that OpenSM's own ``engine`` makes for a network, read back from the fabric.

    On networks without levels ``updn`` and ``dnup`` get switch 0 as their root, for OpenSM finds
    none by itself. Raises as :func:`deploy`; an engine that cannot route the network is a
    ``DeployError`` with OpenSM's reason.
    """
    topology = network(source)
    say = say or _silent
    with opensm_engine(topology, engine, lmc) as live:
        say("OpenSM has routed")
        found = live.read()
        say("tables read")
    return imported(dataclasses.replace(found, topology=topology), lmc)


def opensm_engine(topology: Topology, engine: str, lmc: int = 0) -> Live:
    """A fabric that OpenSM's own ``engine`` routes, with the options that it needs there."""
    roots = None
    if engine in ("updn", "dnup") and not topology.levels.any():
        roots = [topology.addresses(lmc)["switch_guid"][0]]
    return Live(topology, lmc, engine=engine, root_guids=roots, qos=engine in WITH_LANES)


def judge(live: Live, found: Snapshot) -> str:
    """ibdmchk's verdict on the tables in a running fabric: NO_LOOP, LOOP or UNDECIDED of
    :mod:`flyloom.deploy.oracle`. ``found`` is what :meth:`Live.read` gave."""
    rows = (line.split() for line in (found.levels or "").splitlines())
    level = {(int(a), int(b)): int(sl) for a, b, sl in rows}
    asked = {a for a, _ in level}
    switches, lids = found.topology.attachments[:, 0].tolist(), live.addresses["lid"]
    spoke = {s: lid for s, lid in zip(switches, lids, strict=True) if lid in asked}
    source = dict(zip(live.addresses["node_guid"], zip(lids, switches, strict=True), strict=False))

    def sl_of(guid: int, dlid: int) -> int | None:
        if found.levels is None:
            return 0
        lid, switch = source[guid]
        return level.get((lid, dlid), level.get((spoke.get(switch), dlid)))

    tables = sl2vl_tables(found.sl2vl) if found.sl2vl else None
    opensm = live.opensm
    return ibutils.ibdmchk(opensm.subnet_lst, opensm.fdbs, sl_of, tables, live.lmc).verdict


def sl2vl_tables(text: str) -> dict[tuple[int, int, int], tuple[int, ...]]:
    """{(switch GUID, in-port, out-port): VLs of SL 0..15} of text in OpenSM's dump layout."""
    tables, guid = {}, 0
    for line in text.splitlines():
        if line.startswith("Switch"):
            guid = int(line.split()[1].rstrip(","), 16)
        else:
            ports, lanes = line.split(":")
            tables[(guid, *map(int, ports.split()))] = tuple(map(int, lanes.split()))
    return tables


def _silent(_line: str) -> None:
    pass
