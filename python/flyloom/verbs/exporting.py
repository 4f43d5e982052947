"""Networks and tables as files that other programs take: schedulers, simulators, managers."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flyloom import _core
from flyloom._core import RefusalError, Routing, Topology
from flyloom.inputs.networks import Source, network
from flyloom.inputs.tables import read_folder, read_tables
from flyloom.plugins import found
from flyloom.plugins.functions import returned, wrong
from flyloom.plugins.parts import PluginPart
from flyloom.support.files import write_whole
from flyloom.support.refused import hint
from flyloom.support.verb_results import Export, ExportFormat
from flyloom.verbs.layout import plan

Floor = bool | Mapping[str, Any] | str | os.PathLike[str] | None


def export_formats() -> list[ExportFormat]:
    """The formats of :func:`export`: ``name``, ``title`` (what it is, and for which program),
    ``networks`` (which it can say), ``options`` (``name`` and ``doc`` of each) and ``placed``
    (whether the floor plan belongs in it)."""
    return [ExportFormat(row) for row in _core.export_formats()]


def export(
    source: Source | Routing,
    to: str,
    path: str | os.PathLike[str] | None = None,
    *,
    floor: Floor = None,
    p: int | None = None,
    **options: Any,
) -> Export:
    """A network, or the routes on it, as a file that another program takes; docs/exporting.md.

    Parameters
    ----------
    source
        A network, as for ``network``; tables; or the path of a folder of ``flyloom route -o`` or of
        a digraph of ORCS. Formats with routes take those of the tables, the others the network.
    to
        The format: the ``name`` of one of :func:`export_formats`.
    path
        Where to write; when None the text is in the result.
    floor
        Places of devices, and lengths of cables that the network does not know, by the floor plan:
        True, or rules of the floor as for ``plan``. When None only for a format that is ``placed``.
    p
        Endpoints a switch, for files that have none.
    options
        Of the format.

    Fields: ``to``, ``network``, ``path``, ``lines``, ``bytes``, ``text`` where there is no path,
    and of a format with further files ``beside``: their names, without a path also their texts.
    Nothing that has failed is written, but cables where the format tells their state. The same
    source, options and version give the same bytes. O(network), but ``simgrid`` with tables:
    O(pairs of endpoints).

    Raises
    ------
    RefusalError
        With what the format cannot say of this network, the option at fault, or a path that
        cannot be written. Nothing is written then.
    """
    known = {row["name"]: row for row in _core.export_formats()}
    own = found.part("export", to) if isinstance(to, str) and to not in known else None
    if own is not None:
        return _by_plugin(own, source, to, path, p, options)
    if not isinstance(to, str) or to not in known:
        raise RefusalError(f"to: there is no format {to!r}; {hint(to, known)}{', '.join(known)}")
    topology, routing = _opened(source, p)
    wanted = known[to]["placed"] if floor is None else floor is not False
    laid = None
    if wanted:
        try:
            laid = _laid(topology, None if isinstance(floor, bool) else floor)
        except RefusalError as error:
            without = "" if floor is not None else "; floor=False (--no-floor) leaves places out"
            raise RefusalError(f"floor: {error}{without}") from None
    text = _core.export_text(topology, to, options, routing, laid)
    beside = _core.export_beside(topology, to, options)
    return _written(to, topology, path, text, beside)


def _written(
    to: str, topology: Topology, path: str | os.PathLike[str] | None, text: str,
    beside: list[tuple[str, str]],
) -> Export:
    """The result of an export, after its files were written where there is a path."""
    if path is not None:
        for name, content in beside:
            write_whole(Path(path).parent / name, content)
        write_whole(Path(path), text)
    more = {"beside": [name for name, _ in beside] if path is not None else dict(beside)}
    return Export({
        "to": to, "network": topology.recipe, "path": None if path is None else str(path),
        "lines": text.count("\n"), "bytes": len(text.encode()),
        "text": text if path is None else None, **(more if beside else {}),
    })


def _by_plugin(
    part: PluginPart, source: Source | Routing, to: str, path: str | os.PathLike[str] | None,
    p: int | None, options: Mapping[str, Any],
) -> Export:
    """The text of a user's format."""
    topology, routing = _opened(source, p)
    given = _core.plugin_parameters(part.row, dict(options))
    if part.more["on"] == "Routing" and routing is None:
        raise RefusalError(f"{to}: it writes tables, and there are none; a Routing, or its folder")
    text = returned(part, given, routing if part.more["on"] == "Routing" else topology)
    if not isinstance(text, str):
        raise wrong(part, "returns no text")
    return _written(to, topology, path, text, [])


def _opened(source: Source | Routing, p: int | None) -> tuple[Topology, Routing | None]:
    """The network that ``source`` stands for, and its tables where it has some."""
    if isinstance(source, Routing):
        return source.topology, source
    if isinstance(source, (str, os.PathLike)) and os.path.isdir(source):
        if p is not None:
            raise RefusalError(f"p: the network in {os.fspath(source)} has its own endpoints")
        return read_folder(Path(source))
    topology = network(source, p)
    if isinstance(source, (str, os.PathLike)) and topology.recipe.endswith(",format=orcs"):
        routing = read_tables(Path(source))
        return routing.topology, routing
    return topology, None


def _laid(
    topology: Topology, rules: Mapping[str, Any] | str | os.PathLike[str] | None
) -> dict[str, Any]:
    """Seats of all devices and lengths of all cables, by the floor plan."""
    found = plan(topology, rules).to_dict()
    lengths_m = {
        row["cable"]: float(row["length_m"])
        for row in csv.DictReader(io.StringIO(found["cables_csv"]))
    }
    return {
        "racks": found["racks"], "switches": found["switches"], "endpoints": found["endpoints"],
        "links_m": [lengths_m[f"link-{n}"] for n in range(topology.links)],
        "terminals_m": [lengths_m[f"terminal-{n}"] for n in range(topology.terminals)],
    }
