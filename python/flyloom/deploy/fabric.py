"""Tables into a fabric and out again: load ours into OpenSM, or take OpenSM's own.

The fabric is simulated by ibsim; OpenSM, its routing engines and the tools that read tables back
are the real ones. What is read back is compared entry for entry with what was computed, and proved
again from the tables read, not from those sent.
"""

from __future__ import annotations

import dataclasses
import re
import time
from collections.abc import Callable

from flyloom._core import RefusalError, Routing, Topology
from flyloom.deploy import oracle as ibutils
from flyloom.deploy import plugin, reach, rehearsed
from flyloom.deploy.live import Live, compared, counterexample
from flyloom.deploy.snapshot import FabricSnapshot
from flyloom.inputs.networks import Source, network
from flyloom.support.checks import whole
from flyloom.support.progress import Progress
from flyloom.support.verb_results import Deployment

Say = Callable[[str], None]

WITH_LANES = ("dfsssp", "lash", "nue", "torus-2QoS")
"""OpenSM's engines that use service levels."""

_LANES_NEEDED = re.compile(r"Lanes needed: (\d+)")


def deploy(
    routing: Routing,
    *,
    topology: Topology | None = None,
    oracle: bool = False,
    say: Say | None = None,
    progress: Progress | None = None,
) -> Deployment:
    """Loads tables into OpenSM on a simulated fabric, reads them back and compares.

    ``topology`` is the network of the tables, known from them where it is left out. ``say`` is
    called when a stage is done, ``progress`` with how far one is.

    The text of the table file is made once: what is read in it is proved, that text is loaded, and
    what the fabric says of it is compared and proved again.

    Fields: ``entries`` and ``differing_entries`` (LFT entries of all switches and LIDs),
    ``sl_entries``/``differing_sl_entries`` (service level of each path, asked of the subnet
    administration), ``sl2vl_entries``/``differing_sl2vl_entries`` (tables of each switch, in-port
    and out-port), ``differences`` (the first few, in words), ``verified_as_sent`` (our proof of the
    text that was loaded), ``deadlock_free`` and ``verified`` (our proof of the tables read back, on
    the cables as found, when that of the text holds too), ``lanes``, ``counterexample``
    (lines of words when they do not hold), ``oracle`` (ibdmchk's verdict when asked for),
    ``opensm_version``, ``seconds``.

    Raises ``DeployError`` when the fabric or OpenSM cannot be run, or is not the planned one (a
    device that does not answer, another LID, a path record that OpenSM lacks though the route
    arrives); ``RefusalError`` when the network does not fit InfiniBand.
    """
    say = say or _silent
    began = time.monotonic()
    topology = (topology or routing.topology).with_new_lids(routing.lmc)
    if oracle and topology.terminals > topology.endpoints:
        raise RefusalError("oracle: ibdmchk knows one cable an endpoint; deploy without it")
    reach.check_routes(routing)
    text = routing.table_text()
    read = topology.read_tables(text, "the table file", routing.lmc)
    sent = read.measure("verify", progress=progress)
    del read  # a second copy of large tables
    say("table file proved" if sent["holds"] else "table file read: its proof fails")
    with Live(topology, routing.lmc, dumps=oracle, progress=progress) as live:
        say("fabric up")
        live.load_text(text)
        say("tables loaded into OpenSM")
        found = live.read(topology, whole=True)
        rehearsed.routed(found, routing.lmc)
        say("tables read back")
        verdict = judge(live, found) if oracle else None
        unheard = live.manager.unheard()
    fields = compared(routing, found, routing.lmc)
    if fields["differences"] or (sent["holds"] and not fields["verified"]):
        rehearsed.check_heard(unheard)
    fields["verified_as_sent"] = sent["holds"]
    if fields["verified"] and not sent["holds"]:
        fields["verified"], fields["counterexample"] = False, counterexample(sent)
    say("tables compared and proved")
    fields["oracle"] = verdict
    fields["opensm_version"] = plugin.opensm_version()
    fields["seconds"] = time.monotonic() - began
    return Deployment(fields)


@dataclasses.dataclass(frozen=True)
class OpenSMRouting:
    """The routing that OpenSM's own engine computed for a network, and its cost."""

    routing: Routing
    """The tables read back from the fabric."""
    lanes_needed: int | None
    """Data lanes that the engine needed, by its own log; None where it does not say."""
    service_levels: int
    """Distinct service levels in the path records; 1 where the engine has none."""
    missing_levels: int
    """Paths without a path record: their lane is not known."""
    cpu_s: float
    """CPU time of OpenSM's first sweep: discovery, routes, tables written to switches and files."""


def route_with_opensm(
    source: Source, engine: str, *, lmc: int = 0, max_lanes: int | None = None,
    say: Say | None = None,
) -> Routing:
    """The tables that OpenSM's own ``engine`` makes for a network, read back from the fabric.

    On networks that declare no levels ``updn`` and ``dnup`` get the roots of our ``up_down``
    (``Topology.root_switches``: of a tree that was read from a file all top switches), for OpenSM
    finds none by itself. ``max_lanes``, 1 to 8, is how
    many lanes ``nue`` may use (OpenSM's default: 1); the other engines take none. Raises as
    :func:`deploy`; an engine that cannot route the network is a ``DeployError`` with OpenSM's
    reason.
    """
    return routed_by_opensm(network(source), engine, lmc, max_lanes, say).routing


def routed_by_opensm(
    topology: Topology, engine: str, lmc: int = 0, max_lanes: int | None = None,
    say: Say | None = None,
) -> OpenSMRouting:
    """As :func:`route_with_opensm`, with the lanes that the engine needed and its CPU time."""
    say = say or _silent
    topology = topology.with_new_lids(lmc)  # nothing but the simulated fabric has them
    with opensm_engine(topology, engine, lmc, max_lanes) as live:
        say("OpenSM has routed")
        cpu_s, log = live.manager.cpu_s, live.manager.log_path.read_text(errors="replace")
        found = live.read(whole=True)
        unheard = live.manager.unheard()
        say("tables read")
    needed = _LANES_NEEDED.findall(log)
    routing = rehearsed.routed(dataclasses.replace(found, topology=topology), lmc)
    if unheard and not routing.measure("verify")["complete"]["holds"]:
        rehearsed.check_heard(unheard)
    return OpenSMRouting(
        routing,
        int(needed[-1]) if needed else None,
        len({line.split()[2] for line in found.levels.splitlines()}) if found.levels else 1,
        found.missing_levels, cpu_s,
    )


def opensm_engine(
    topology: Topology, engine: str, lmc: int = 0, max_lanes: int | None = None
) -> Live:
    """A fabric that OpenSM's own ``engine`` routes, with the options that it needs there."""
    roots, conf = None, {}
    if engine in ("updn", "dnup") and not topology.levels.any():
        guids = topology.addresses(lmc)["switch_guid"]
        roots = [guids[switch] for switch in topology.root_switches()]
    if max_lanes is not None:
        if engine != "nue":
            raise RefusalError(f"max_lanes: OpenSM's {engine} takes none; its nue does, 1 to 8")
        conf["nue_max_num_vls"] = str(whole("max_lanes", max_lanes, 1, 8))
    return Live(
        topology, lmc, engine=engine, root_guids=roots, qos=engine in WITH_LANES, extra_conf=conf
    )


def judge(live: Live, found: FabricSnapshot) -> str:
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
        return level.get((lid, dlid), level.get((spoke.get(switch, -1), dlid)))

    tables = sl2vl_tables(found.sl2vl) if found.sl2vl else None
    opensm = live.manager
    return ibutils.ibdmchk(opensm.subnet_lst, opensm.fdbs, sl_of, tables, live.lmc).verdict


def sl2vl_tables(text: str) -> dict[tuple[int, int, int], tuple[int, ...]]:
    """{(switch GUID, in-port, out-port): VLs of SL 0..15} of text in OpenSM's dump layout."""
    tables: dict[tuple[int, int, int], tuple[int, ...]] = {}
    guid = 0
    for line in text.splitlines():
        if line.startswith("Switch"):
            guid = int(line.split()[1].rstrip(","), 16)
        else:
            ports, lanes = line.split(":")
            came, out = map(int, ports.split())
            tables[guid, came, out] = tuple(map(int, lanes.split()))
    return tables


def _silent(_line: str) -> None:
    pass
