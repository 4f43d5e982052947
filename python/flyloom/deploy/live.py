"""A fabric that runs: faults come and go, tables are loaded, read back and proved meanwhile.

The LIDs are those of the planned network throughout, whatever fails: one that a fault takes
away comes back with the device, and tables for the damaged fabric fit the healthy one's LIDs. GUIDs
and ports of adapters are those that ibsim gives them (``Topology.rehearsal``).
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy  # noqa: F401  the core loads it else, at a moment at which Ctrl-C is a panic

from flyloom._core import RefusalError, Routing, Topology
from flyloom.deploy import plugin, reach, readback, rehearsed
from flyloom.deploy.ibsim import Ibsim
from flyloom.deploy.opensm import OpenSM
from flyloom.deploy.snapshot import FabricSnapshot, imported, path_count, path_pairs
from flyloom.support.errors import DeployError
from flyloom.support.verb_results import Deployment

if TYPE_CHECKING:
    from flyloom.support.progress import Progress

_TRIES = 3
_A_PORT = 10.4  # requests of OpenSM's first sweep for a port, besides tables: measured


class Live:
    """A network on ibsim under OpenSM. Use as a context manager: nothing survives the block.

    ``engine`` is "flyloom" (tables of ours: give them to :meth:`load`, which starts OpenSM) or one
    of OpenSM's own (which starts at once); ``root_guids``, ``qos``, ``dumps`` and ``extra_conf``
    are as for OpenSM. ``progress`` gets how far OpenSM and reading are. ``ibsim`` pulls, plugs
    and swaps cables; ``opensm`` is the running subnet manager, None before the first :meth:`load`.
    Methods raise ``DeployError``.

        with Live(network) as live:
            live.load(routing)
            live.ibsim.unlink(live.switch_id(7))
            damaged = live.as_found()
            live.load(flyloom.route(damaged, "dfsssp"))
    """

    def __init__(
        self,
        topology: Topology,
        lmc: int = 0,
        *,
        engine: str = plugin.ENGINE,
        root_guids: list[int] | None = None,
        qos: bool = False,
        dumps: bool = True,
        extra_conf: Mapping[str, str] | None = None,
        progress: Progress | None = None,
    ) -> None:
        endpoint, far = check_deployable(topology)
        self.topology = topology
        self.lmc = lmc
        simulated = topology.rehearsal(lmc)
        self.addresses = simulated.addresses(lmc)
        self._ports = ports_of(simulated)
        netlist = simulated.to_text("netlist", lmc)
        self._planned = readback.parse_discover(netlist)
        self.ibsim = Ibsim(netlist, at=self.endpoint_id(endpoint))
        self.ibsim.progress = progress
        self._deaf = far >= reach.LID_HOPS
        self.opensm: OpenSM | None = None
        self._options: dict[str, Any] = {
            "engine": engine, "root_guids": root_guids, "qos": qos, "dumps": dumps,
            "extra_conf": extra_conf,
        }
        self._lanes = qos or engine == plugin.ENGINE
        self._by_source = False  # levels differ between the terminals of a switch

    # ---- start and end ----

    def __enter__(self) -> Live:
        try:
            self.ibsim.__enter__()
            if self._options["engine"] != plugin.ENGINE:
                self._start(None)
        except BaseException as why:
            self.ibsim.__exit__(type(why))
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *why: object) -> None:
        self.ibsim.__exit__(kind, *why)  # stops OpenSM first

    def _start(self, tables: Path | None) -> None:
        opensm = OpenSM(
            self.ibsim, lmc=self.lmc, tables=tables, guid2lid=self.addresses["guid2lid"],
            **self._options,
        )
        size, lids = self.ibsim.size, max(self.addresses["lid"] + self.addresses["switch_lid"])
        blocks = size.switches * (1 + lids // 64)
        pairs = size.pairs if self._lanes else 0
        self.ibsim.expect("OpenSM's sweep", int(_A_PORT * size.ports) + blocks + pairs)
        opensm.start()
        self.opensm = opensm

    @property
    def manager(self) -> OpenSM:
        """The running OpenSM; DeployError before the first :meth:`load`."""
        if self.opensm is None:
            raise DeployError("OpenSM does not run yet: load tables first")
        return self.opensm

    # ---- tables ----

    def load(self, routing: Routing) -> None:
        """Puts tables into the fabric: starts OpenSM with them, or replaces those that it has.

        Returns when OpenSM has read this very file and written the tables into the switches.
        """
        if self._options["engine"] != plugin.ENGINE:
            raise DeployError(f"OpenSM routes by {self._options['engine']}: it takes no tables")
        if routing.lmc != self.lmc:
            raise DeployError(f"tables of LMC {routing.lmc} for a fabric of LMC {self.lmc}")
        self.load_text(routing.table_text())

    def load_text(self, text: str) -> None:
        """As :meth:`load`, from the text of a table file (``Routing.table_text``)."""
        tables = self.ibsim.workdir / "flyloom-tables.txt"
        fresh = tables.with_suffix(".fresh")
        fresh.write_bytes(text.encode())
        self._by_source = "\nsl from " in text
        file_number = fresh.stat().st_ino
        os.replace(fresh, tables)
        if self.opensm is None:
            self._start(tables)
            return
        installed = f"tables of {text.count(chr(10) + 'lft ')} switches installed"
        if not self._reloaded(rf"{installed}, inode {file_number}\b"):
            raise DeployError(f"OpenSM did not take the new tables:\n{self.opensm.err_lines()}")

    def _reloaded(self, installed: str) -> bool:
        """Whether OpenSM came to install the new file. A sweep that a fault started may still
        use the old one, and may fail with it, so one sweep is not always enough."""
        opensm = self.manager
        for attempt in range(_TRIES):
            after = opensm.mark()
            try:
                opensm.resweep()
            except DeployError:
                if attempt == _TRIES - 1:
                    raise
                continue
            if opensm.logged(installed, after):
                return True
        return False

    def settle(self, quiet_s: float = 0.5, timeout_s: float = 60.0) -> None:
        """Waits until OpenSM has handled every change of the fabric."""
        opensm, after = self._running(), None
        if self._deaf:  # no device reports far changes to it: it has to look
            after = opensm.mark()
            opensm.look_again()
        opensm.wait_quiet(quiet_s, timeout_s, after)

    # ---- what is there ----

    def switch_id(self, switch: int) -> str:
        """The name under which ibsim's console knows switch number ``switch``."""
        return f"S-{self.addresses['switch_guid'][switch]:016x}"

    def endpoint_id(self, endpoint: int) -> str:
        """The name under which ibsim's console knows endpoint number ``endpoint``."""
        return f"H-{self.addresses['node_guid'][endpoint]:016x}"

    def discover(self) -> str:
        """ibnetdiscover's text of the fabric as it is now."""
        return readback.discover(self.ibsim)

    def as_found(self, nodes: Mapping[int, readback.DiscoveredNode] | None = None) -> Topology:
        """The network as it is cabled now, with the planned one's numbers and addresses.

        Switches that do not answer are failed; cables are those found, wherever they lead.
        """
        nodes = nodes if nodes is not None else readback.parse_discover(self.discover())
        return as_found(self.topology, self.addresses, self._ports, nodes)

    def read(self, topology: Topology | None = None, *, whole: bool = False) -> FabricSnapshot:
        """All tables from the fabric: LFTs, and SL2VL and path records where lanes are used.

        Path records are asked for between the working terminals of ``topology`` (default: those of
        the network as found). ``whole``: nobody pulled anything. DeployError where the simulated
        fabric is then not the planned one, or a device has not the planned LID, or a switch does
        not answer: nothing is said of tables that could not be read.
        """
        size, expect = self.ibsim.size, self.ibsim.expect
        expect("discovering the fabric", 2 * size.ports)
        nodes = readback.parse_discover(self.discover())
        rehearsed.check_lids(self._planned, nodes)
        if whole:
            rehearsed.check_whole(self._planned, nodes)
        found = self.as_found(nodes)
        top = max(self.addresses["lid"] + self.addresses["switch_lid"])
        blocks = size.switches * (1 + top // 64)
        expect("reading forwarding tables", 2 * size.ports + blocks)
        lfts = readback.dump_fts(self.ibsim, blocks)
        rehearsed.check_tables(lfts, nodes)
        if not self._lanes:
            return FabricSnapshot(found, lfts, None, None, 0)
        expect("reading SL2VL tables", size.pairs)
        sl2vl = readback.sl2vl_text(self.ibsim, nodes)
        asked = topology if topology is not None else found
        pairs = path_pairs(asked, self.addresses, self._by_source)
        count = path_count(asked, self.lmc, self._by_source)
        expect("asking for path records", 2 * count)  # OpenSM is asked, and answers
        levels, missing = readback.path_levels(self.ibsim, nodes, pairs)
        return FabricSnapshot(found, lfts, levels, sl2vl, missing)

    def tables(self) -> Routing:
        """The tables in the fabric, as a routing of the network as found."""
        return imported(self.read(), self.lmc)

    def check(self, routing: Routing, topology: Topology) -> Deployment:
        """Compares the fabric's tables with ``routing`` of ``topology``, and proves those read.

        Fields as of :func:`flyloom.deploy.fabric.deploy`, as far as they concern tables.
        """
        return Deployment(compared(routing, self.read(topology), self.lmc))

    def _running(self) -> OpenSM:
        if self.opensm is None:
            raise DeployError("OpenSM does not run yet: load tables first")
        return self.opensm


def compared(routing: Routing, found: FabricSnapshot, lmc: int) -> dict[str, Any]:
    """What was read against what was computed, entry for entry, and the proof of what was read."""
    parts = routing.compare(found.lfts, found.levels or "", found.sl2vl or "")
    if found.missing_levels:
        parts["sl"]["entries"] += found.missing_levels
        parts["sl"]["differing"] += found.missing_levels
        parts["sl"]["first"].append(f"{found.missing_levels} paths have no path record")
    fields: dict[str, Any] = {}
    for part, name in (("lft", "entries"), ("sl", "sl_entries"), ("sl2vl", "sl2vl_entries")):
        fields[name] = parts[part]["entries"]
        fields[f"differing_{name}"] = parts[part]["differing"]
    fields["differences"] = [line for part in parts.values() for line in part["first"]]
    return fields | proved(found, lmc)


def proved(found: FabricSnapshot, lmc: int) -> dict[str, Any]:
    """Whether the tables read hold: ``verified``, ``deadlock_free``, ``lanes``,
    ``counterexample``. Paths without a path record have no lane, so nothing is proved then."""
    if found.missing_levels:
        alone = dataclasses.replace(found, levels=None, sl2vl=None, missing_levels=0)
        lines = counterexample(imported(alone, lmc).measure("verify"))
        lines.append(f"{found.missing_levels} paths have no path record")
        return {"deadlock_free": False, "verified": False, "lanes": None, "counterexample": lines}
    proof = imported(found, lmc).measure("verify")
    return {
        "deadlock_free": bool(proof["deadlock"] and proof["deadlock"]["holds"]),
        "verified": proof["holds"], "lanes": proof["lanes"],
        "counterexample": counterexample(proof),
    }


def counterexample(proof: Mapping[str, Any]) -> list[str]:
    """What a proof found wrong, in lines; empty when everything holds."""
    if not proof["complete"]["holds"]:
        return [proof["complete"]["counterexample"]]
    if not proof["deadlock"]["holds"]:
        return list(proof["deadlock"]["counterexample"])
    return []


def check_deployable(topology: Topology) -> tuple[int, int]:
    """Refuses networks that are not one subnet with an endpoint to run OpenSM on, and those too
    long for it; else what :func:`reach.stand` says."""
    if topology.endpoints == 0:
        raise RefusalError("endpoints: the network has none; OpenSM runs on an endpoint")
    if topology.planes > 1:
        raise RefusalError(
            f"planes: the network has {topology.planes}, each a subnet with an OpenSM of its own; "
            "deploy each plane as a network by itself"
        )
    return reach.stand(topology)


# ---- the network as found ----


def ports_of(simulated: Topology) -> list[list[int]]:
    """The port of each rail at its adapter, by the numbers of endpoint and rail."""
    rails = simulated.terminal_table
    ports: list[list[int]] = [[] for _ in range(simulated.endpoints)]
    for endpoint, rail in zip(rails["endpoint"].tolist(), rails["rail"].tolist(), strict=True):
        ports[endpoint].append(rail + 1)
    return ports


def as_found(
    topology: Topology, addresses: dict[str, Any], ports: list[list[int]],
    nodes: Mapping[int, readback.DiscoveredNode],
) -> Topology:
    """``topology`` with the cables that ibnetdiscover found; numbers and addresses stay.

    ``addresses`` and ``ports`` are those of the simulated fabric. DeployError for a node that the
    plan lacks.
    """
    switch = {guid: i for i, guid in enumerate(addresses["switch_guid"])}
    endpoint = {guid: i for i, guid in enumerate(addresses["node_guid"])}
    for guid in nodes.keys() - switch.keys() - endpoint.keys():
        raise DeployError(
            f"0x{guid:016x} ({nodes[guid].name}) is not in the plan: it has no address there"
        )
    plan = json.loads(topology.to_text("json"))
    for guid, i in switch.items():
        plan["switches"][i]["up"] = guid in nodes
    cable = {tuple(link[:4]): link[4] for link in plan["links"]}
    plan["links"] = [
        [*ends, _working(cable.get(ends, cable.get(ends[2:] + ends[:2])))]
        for ends in _links(nodes, switch)
    ]
    taken = {end for a, p, b, q, _ in plan["links"] for end in ((a, p), (b, q))}
    plugs = dict(_plugs(nodes, endpoint, switch))
    taken.update(plugs.values())
    lost = []
    for i, entry in enumerate(plan["endpoints"]):
        for port, rail in zip(ports[i], entry["rails"], strict=True):
            plug = plugs.get((i, port))
            if plug is not None:
                rail[:3] = [*plug, _working(rail[2])]
            else:
                lost.append(rail)
    _park(lost, plan["switches"], taken)
    return Topology.from_text(json.dumps(plan), "the fabric as found")


def _park(
    rails: list[list[Any]], switches: list[dict[str, Any]], taken: set[tuple[int, int]]
) -> None:
    """Gives rails that were not found a dead cable: in their planned port, or in any free one."""
    homeless = []
    for rail in rails:
        rail[2] = {**(rail[2] or {}), "up": False}
        if (rail[0], rail[1]) in taken:
            homeless.append(rail)
        taken.add((rail[0], rail[1]))
    free = (
        (s, p)
        for s, switch in enumerate(switches)
        for p in range(1, switch["ports"] + 1)
        if (s, p) not in taken
    )
    for rail, plug in zip(homeless, free, strict=False):
        rail[:2] = plug


def _working(cable: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if cable is None else {**cable, "up": True}


def _links(
    nodes: Mapping[int, readback.DiscoveredNode], switch: Mapping[int, int]
) -> Iterator[tuple[int, int, int, int]]:
    """Switch, port, switch, port of every cable between switches, once each, in order."""
    for guid in sorted(nodes.keys() & switch.keys(), key=switch.__getitem__):
        for port, far in sorted(nodes[guid].ports.items()):
            other = switch.get(far.far_guid)
            if other is not None and (switch[guid], port) < (other, far.far_port):
                yield switch[guid], port, other, far.far_port


def _plugs(
    nodes: Mapping[int, readback.DiscoveredNode], endpoint: Mapping[int, int],
    switch: Mapping[int, int],
) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """(endpoint, its port) and the switch and port where it was found."""
    for guid in nodes.keys() & endpoint.keys():
        for port, far in nodes[guid].ports.items():
            with contextlib.suppress(KeyError):
                yield (endpoint[guid], port), (switch[far.far_guid], far.far_port)
