"""Finds what changes in a fabric when tables are loaded, before anything is touched."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from flyloom._core import RefusalError, Routing, Topology
from flyloom.inputs.tables import read_dump, read_folder
from flyloom.support.reading import read_text
from flyloom.support.verb_results import TableChanges


@dataclasses.dataclass(frozen=True)
class CurrentTables:
    """The tables that a fabric has now."""

    name: str
    """The source that the tables were read from."""
    routing: Routing
    """The tables, with the LIDs that the fabric has."""
    lfts: str | None = None
    """The fabric's own words of its forwarding tables, dump_fts; None: those of ``routing``."""
    levels: bool = True
    """Whether service levels are known, and with them SL2VL tables."""


def read_current(
    source: str, found: Path | None, levels: Path | None, sl2vl: Path | None
) -> CurrentTables:
    """The tables of a fabric: from a folder of ``route -o``, or from what dump_fts printed, with
    ibnetdiscover's output ``found``, path records ``levels`` and OpenSM's SL2VL dump.

    RefusalError names the file that cannot be used, or is missing.
    """
    if os.path.isdir(source):
        if found or levels or sl2vl:
            raise RefusalError(f"--current {source}: the folder has all of it; give no other files")
        return CurrentTables(source, read_folder(Path(source))[1])
    if found is None:
        raise RefusalError(f"--current {source}: give --found, ibnetdiscover's output, with it")
    if (levels is None) != (sl2vl is None):
        raise RefusalError("--path-records, --sl2vl: levels and lanes belong together; give both")
    _, routing = read_dump(Path(source), found, levels, sl2vl)
    return CurrentTables(source, routing, read_text(Path(source)), levels is not None)


def changes(routing: Routing, current: CurrentTables | None = None) -> TableChanges:
    """What loading ``routing`` changes in a fabric with the tables ``current``; None: it has none.

    Fields: ``lids`` (``kept``, ``moved`` and ``new`` LIDs of ports, identified by GUID) and
    ``moved_lids`` (``device``, ``was``, ``lid``); ``changed_switches``, ``lft_entries`` and
    ``lft_blocks`` (entries of forwarding tables that change, and the blocks of 64 LIDs that a
    subnet manager writes for them);
    ``path_levels`` (service levels of paths, each identified by two LIDs) and ``sl2vl`` (tables of
    a switch for two of its ports), both with ``all``, ``changed`` and ``new``, None where nothing
    is known of them; ``switches``, a row for each with ``switch``, ``guid``, ``entries``,
    ``blocks``,
    ``sl2vl``.
    """
    topology = routing.topology
    addresses = topology.addresses(routing.lmc)
    found = routing.changes(current.routing if current else None, current.lfts if current else None)
    name = dict(zip(addresses["switch_guid"], topology.switch_names, strict=True))
    known = current is None or current.levels
    rows = [
        {"switch": name[row["guid"]], "guid": f"0x{row['guid']:016x}", "entries": row["entries"],
         "blocks": row["blocks"], "sl2vl": row["sl2vl"] if known else None}
        for row in found["switches"]
    ]
    moved: list[dict[str, Any]] = []
    lids = {"kept": 0, "moved": 0, "new": 0}
    was = dict(_lids(current.routing.topology, current.routing.lmc)) if current else {}
    device = dict(_devices(topology, addresses))
    for guid, lid in _lids(topology, routing.lmc):
        state = "new" if guid not in was else "kept" if was[guid] == lid else "moved"
        lids[state] += 1
        if state == "moved":
            moved.append({"device": device[guid], "was": was[guid], "lid": lid})
    return TableChanges({
        "current": current.name if current else None, "lids": lids, "moved_lids": moved,
        "changed_switches": sum(row["entries"] > 0 for row in rows),
        "lft_entries": sum(row["entries"] for row in rows),
        "lft_blocks": sum(row["blocks"] for row in rows),
        "path_levels": found["path_levels"] if known else None,
        "sl2vl": found["sl2vl"] if known else None, "switches": rows,
    })


def summary(planned: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """A summary of :func:`changes` as lines of a table."""
    lids, levels, sl2vl = planned["lids"], planned["path_levels"], planned["sl2vl"]
    changed, switches = planned["changed_switches"], len(planned["switches"])
    return [
        ("tables now", planned["current"] or "none: everything is new"),
        ("LIDs", f"{lids['kept']:,} kept, {lids['moved']:,} moved, {lids['new']:,} new"),
        ("switches with changes", f"{changed:,} of {switches:,}"),
        ("LFT entries", planned["lft_entries"]),
        ("LFT blocks of 64 LIDs", planned["lft_blocks"]),
        ("path SLs", _counted(levels)), ("SL2VL tables", _counted(sl2vl)),
    ]


def _counted(count: dict[str, int] | None) -> str:
    if count is None:
        return "not known: give --path-records and --sl2vl"
    return f"{count['changed']:,} changed, {count['new']:,} new, of {count['all']:,}"


def _lids(topology: Topology, lmc: int) -> Iterator[tuple[int, int]]:
    """The GUID of every port that has a LID, and its first LID."""
    addresses = topology.addresses(lmc)
    yield from zip(addresses["port_guid"], addresses["lid"], strict=True)
    yield from zip(addresses["switch_guid"], addresses["switch_lid"], strict=True)


def _devices(topology: Topology, addresses: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """The GUID of every port that has a LID, and the name of its device."""
    names = topology.endpoint_names
    owners = (names[endpoint] for endpoint in topology.terminal_table["endpoint"].tolist())
    yield from zip(addresses["port_guid"], owners, strict=True)
    yield from zip(addresses["switch_guid"], topology.switch_names, strict=True)
