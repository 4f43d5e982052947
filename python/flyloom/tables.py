"""Forwarding tables from files: a folder that `flyloom route -o` wrote, or a fabric's own dumps."""

from __future__ import annotations

import json
from pathlib import Path

from flyloom._core import RefusalError, Routing, Topology


def read_folder(folder: Path) -> tuple[Topology, Routing]:
    """The network and tables in a folder of `flyloom route -o`."""
    topology = Topology.from_text(_text(folder / "network.json"), str(folder / "network.json"))
    about = folder / "routing.json"
    try:
        lmc = int(json.loads(_text(about))["lmc"])
    except (ValueError, KeyError, TypeError) as error:
        raise RefusalError(f"{about}: not what `flyloom route -o` wrote: {error}") from None
    if not 0 <= lmc <= 7:
        raise RefusalError(f"{about}: lmc {lmc}; 0 to 7")
    tables = folder / "tables.txt"
    return topology, topology.read_tables(_text(tables), str(tables), lmc)


def read_dump(
    lfts: Path, network: Path, levels: Path | None, sl2vl: Path | None
) -> tuple[Topology, Routing]:
    """The tables that dump_fts printed for the fabric that ibnetdiscover printed, with its path
    records and SL2VL dump where lanes are used."""
    topology = Topology.from_text(_text(network), str(network))
    routing = topology.import_tables(
        _text(lfts), str(lfts), _text(levels) if levels else None, _text(sl2vl) if sl2vl else None
    )
    return topology, routing


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise RefusalError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise RefusalError(f"{path}: not a text file: byte {error.start} is not UTF-8") from None
