"""What a fabric reports, and what to ask it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from flyloom._core import Routing, Topology

MAX_RECORDS = 400_000
"""Above this many path records one terminal speaks for its switch: tables are by switch."""


@dataclasses.dataclass(frozen=True)
class FabricSnapshot:
    """What a fabric reports, as text in the formats of the standard tools."""

    topology: Topology
    """The network as found, with the numbers of the planned one."""
    lfts: str
    """Forwarding tables, dump_fts."""
    levels: str | None
    """``slid dlid sl`` a line, from the subnet administration; None where all paths have SL 0."""
    sl2vl: str | None
    """SL2VL tables in OpenSM's dump layout; None where they were not programmed."""
    missing_levels: int
    """Paths that were asked for and of which the subnet administration has no record."""


def imported(found: FabricSnapshot, lmc: int) -> Routing:
    """The tables read from a fabric whose LIDs are those of ``topology.addresses(lmc)``."""
    return found.topology.import_tables(
        found.lfts, "tables read back", found.levels, found.sl2vl, keep_lids=False, lmc=lmc
    )


def path_pairs(
    topology: Topology, addresses: dict[str, Any], by_source: bool = False
) -> Iterator[tuple[int, int]]:
    """(source LID, destination LID) of every path to ask for: each pair of working terminals, every
    LID of the destination; above MAX_RECORDS one source terminal a switch, unless levels are
    ``by_source``."""
    lids, count = addresses["lid"], 1 << addresses["lmc"]
    working = working_terminals(topology)
    sources = _sources(topology, working, addresses["lmc"], by_source)
    for source in sources:
        for destination in working:
            if destination != source:
                lid = lids[destination]
                yield from ((lids[source], lid + offset) for offset in range(count))


def path_count(topology: Topology, lmc: int, by_source: bool = False) -> int:
    """How many pairs :func:`path_pairs` gives."""
    working = working_terminals(topology)
    sources = _sources(topology, working, lmc, by_source)
    return len(sources) * max(0, len(working) - 1) << lmc


def _sources(topology: Topology, working: list[int], lmc: int, by_source: bool) -> list[int]:
    """The terminals that are asked for the paths from them."""
    if len(working) ** 2 << lmc <= MAX_RECORDS or by_source:
        return working
    switches = topology.attachments[:, 0].tolist()
    return list({switches[t]: t for t in reversed(working)}.values())


def working_terminals(topology: Topology) -> list[int]:
    """Numbers of the terminals whose cable and switch work."""
    return [number for number, up in enumerate(topology.terminal_table["up"].tolist()) if up]
