"""Forwarding tables from files: a folder that `flyloom route -o` wrote, or a fabric's own dumps."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from flyloom._core import RefusalError, Routing, Topology
from flyloom.inputs.devices import devices, tell
from flyloom.inputs.names import named
from flyloom.inputs.networks import Source, network
from flyloom.inputs.rates import no_rate
from flyloom.support.checks import whole
from flyloom.support.files import of_one_writing
from flyloom.support.reading import read_text

if TYPE_CHECKING:
    from flyloom.support.progress import Progress

Tables = Source | Routing
"""What stands for tables: see :func:`tables`."""

DEFAULT_ENGINE = "dfsssp"
"""The engine that routes a network if tables are needed and no engine is named."""


def topology_of(on: Topology | Routing) -> Topology:
    """The network itself, or the network of tables."""
    return on.topology if isinstance(on, Routing) else on


def read_folder(folder: Path) -> tuple[Topology, Routing]:
    """The network and tables in a folder of `flyloom route -o`, if they are of one writing."""
    no_rate(str(folder))
    names = ("network.json", "routing.json", "tables.txt")
    network, about, tables = (folder / name for name in names)
    if absent := [name for name in names if not (folder / name).exists()]:
        raise RefusalError(f"{folder / absent[0]}: it is not there, so that {folder} is no folder"
                           " of tables; flyloom route NET -o FOLDER writes one")
    with of_one_writing(folder, names):
        cabling, text = read_text(network), read_text(about)
        # byte for byte, as OpenSM's plug-in reads it: any byte may stand in a comment
        entries = read_text(tables, encoding="latin-1", newline="")
    topology = Topology.from_text(cabling, str(network))
    try:
        known = json.loads(text)
        lmc, engine = whole(f"{about}: lmc", known["lmc"], 0, 7), str(known["engine"])
    except RefusalError:
        raise
    except (ValueError, KeyError, TypeError, RecursionError):
        missing = "not what `flyloom route -o` wrote: no lmc or engine in it"
        raise RefusalError(f"{about}: {missing}") from None
    pinned = folder / "guid2lid"
    if pinned.exists() and read_text(pinned) != topology.addresses(lmc)["guid2lid"]:
        raise RefusalError(
            f"{pinned}: other LIDs than network.json has under LMC {lmc}; write the folder anew"
        )
    return topology, topology.read_tables(entries, str(tables), lmc, engine)


def read_dump(
    lfts: Path, network: Path, levels: Path | None, sl2vl: Path | None
) -> tuple[Topology, Routing]:
    """The tables that dump_fts printed for the fabric that ibnetdiscover printed, with its path
    records and SL2VL dump where lanes are used. RefusalError for an SL2VL dump without path
    records: it has the lanes of service levels, and only path records say which level a path
    has."""
    if sl2vl and not levels:
        raise RefusalError("--sl2vl: of paths that have levels; give --path-records with it")
    found = Topology.from_text(read_text(network), str(network), None, devices())
    topology = tell(named(found), str(network))
    levels_text, sl2vl_text = (read_text(path) if path else None for path in (levels, sl2vl))
    routing = topology.import_tables(read_text(lfts), str(lfts), levels_text, sl2vl_text)
    return topology, routing


def read_tables(source: str | Path) -> Routing:
    """Tables from a folder that ``flyloom route -o`` wrote, or from a digraph as ORCS reads it.

    ``routing.topology`` is the network. In a digraph (docs/routing.md) the edges of a switch are
    its ports, from 1, in the order of the file. RefusalError names file, line and field.
    """
    path = Path(source)
    if os.path.isdir(path):
        return read_folder(path)[1]
    no_rate(str(path))
    return Routing.from_orcs(read_text(path), str(path))


def tables(
    source: Tables, *, engine: str = DEFAULT_ENGINE, progress: Progress | None = None
) -> Routing:
    """The tables that ``source`` stands for.

    Parameters
    ----------
    source
        A ``Routing``; a folder that ``flyloom route -o`` wrote; a digraph of ORCS; or a network, as
        for ``network``, which is routed by ``engine``.
    progress
        Called with ``(what, done, total)``.
    """
    if isinstance(source, Routing):
        return source
    if isinstance(source, (str, os.PathLike)) and os.path.isdir(source):
        return read_folder(Path(source))[1]
    topology = network(source)
    if isinstance(source, (str, os.PathLike)) and topology.recipe.endswith(",format=orcs"):
        return read_tables(Path(source))
    return topology.route(engine, {}, 1, progress)


def holds_tables(source: object) -> bool:
    """Whether ``source`` has tables of its own: a ``Routing``, or a folder."""
    if isinstance(source, Routing):
        return True
    return isinstance(source, (str, os.PathLike)) and os.path.isdir(source)
