"""Forwarding tables from files: a folder that `flyloom route -o` wrote, or a fabric's own dumps."""

from __future__ import annotations

import json
from pathlib import Path

from flyloom._core import RefusalError, Routing, Topology
from flyloom.graph import read_text
from flyloom.verbs import whole


def read_folder(folder: Path) -> tuple[Topology, Routing]:
    """The network and tables in a folder of `flyloom route -o`."""
    topology = Topology.from_text(read_text(folder / "network.json"), str(folder / "network.json"))
    about = folder / "routing.json"
    text = read_text(about)
    try:
        known = json.loads(text)
        lmc, engine = whole(f"{about}: lmc", known["lmc"], 0, 7), str(known["engine"])
    except RefusalError:
        raise
    except (ValueError, KeyError, TypeError, RecursionError):
        missing = "not what `flyloom route -o` wrote: no lmc or engine in it"
        raise RefusalError(f"{about}: {missing}") from None
    tables = folder / "tables.txt"
    return topology, topology.read_tables(read_text(tables), str(tables), lmc, engine)


def read_dump(
    lfts: Path, network: Path, levels: Path | None, sl2vl: Path | None
) -> tuple[Topology, Routing]:
    """The tables that dump_fts printed for the fabric that ibnetdiscover printed, with its path
    records and SL2VL dump where lanes are used."""
    topology = Topology.from_text(read_text(network), str(network))
    more = [read_text(path) if path else None for path in (levels, sl2vl)]
    routing = topology.import_tables(read_text(lfts), str(lfts), *more)
    return topology, routing


def read_tables(source: str | Path) -> Routing:
    """Tables from a folder that ``flyloom route -o`` wrote, or from a digraph as ORCS reads it.

    ``routing.topology`` is the network. In a digraph (docs/routing.md) the edges of a switch are
    its ports, from 1, in the order of the file. RefusalError names file, line and field.
    """
    path = Path(source)
    if path.is_dir():
        return read_folder(path)[1]
    return Routing.from_orcs(read_text(path), str(path))
