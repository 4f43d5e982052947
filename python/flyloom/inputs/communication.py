"""Communication graphs, from whatever a user names: files, traces, schedules, matrices, kinds."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flyloom._core import Communication, RefusalError, Workload, mapping_names, workload_list
from flyloom.inputs.applications import made, own_application
from flyloom.inputs.graphs import GraphLike, MatrixLike
from flyloom.inputs.rows import (
    MATRICES,
    RawTimedPackets,
    RawTrafficRows,
    found_in,
    is_table_of_pairs,
    pairs_of_text,
    read,
)
from flyloom.inputs.workloads import is_workload, named, travelled, workload
from flyloom.support.progress import Progress
from flyloom.support.reading import is_path, read_text, shown
from flyloom.support.refused import hint

Graph = Communication | Workload | str | os.PathLike[str] | Any
"""A graph; a file of one, of pairs, of a schedule or of a trace; an inline form such as
``stencil:shape=8x8,bytes=100``; a workload by its name, ``"alltoall_pairwise bytes=100"``; a
schedule; a NumPy or SciPy matrix; a networkx graph."""

_PROFILE = re.compile(r"^(.*)\.(\d+)\.prof(?:\.gz)?$")
_MARKET = b"%%MatrixMarket"
_PAIRS = b"flyloom pairs\n"
"""What a table of pairs begins with where its content travels without its file."""
_GRAPHS = (".graph", ".metis", ".chaco", ".grf", ".src")
"""The ends of names of graphs of METIS and Scotch, which might look like rows of numbers."""
MOST_DIGITS = 9
"""The number of a process has fewer digits."""


def communication(
    source: Graph, progress: Progress | None = None, places: int | None = None,
    names: Sequence[str] = (),
) -> Communication:
    """The communication graph that ``source`` stands for; of a workload by its name, without a
    number of ranks, that of a rank for each of ``places``.

    A table of pairs may have the ``names`` of endpoints in place of numbers: process i is then the
    one of endpoint i.

    Of a matrix whose values are no bytes, as negative ones, only the pattern is known: what its
    parts exchange (``halo``).

    Raises ``RefusalError`` with the file and the line at fault.
    """
    if isinstance(source, (str, os.PathLike)):
        source = named_graph(os.fspath(source), progress, places, names)
    if isinstance(source, Workload):
        return Communication.of_workload(source)
    if isinstance(source, Communication):
        return source
    if isinstance(source, MatrixLike):
        return _of_scipy(source)
    if isinstance(source, GraphLike):
        return _of_networkx(source)
    return _of_matrix(source)


def is_kind(text: str) -> bool:
    """Whether a text is the inline form of a graph that is made."""
    kinds = {row["name"] for row in mapping_names()["kinds"]}
    return re.split(r"[:\s]", text.strip(), maxsplit=1)[0] in kinds and not os.path.exists(text)


def named_graph(
    name: str, progress: Progress | None = None, places: int | None = None,
    names: Sequence[str] = (), *, files: bool = True,
) -> Communication | Workload:
    """The graph, or the workload that has one, of a text; without ``files`` parameters of a
    workload may name none."""
    if is_kind(name):
        from flyloom._core import parse_inline

        kind, params = parse_inline(name)
        return Communication.make(kind, params)
    try:
        if asked := named(name):
            if not files and "matrix" in asked[1]:
                raise RefusalError("matrix: no file in an experiment; rows as the graph itself")
            return in_places(*asked, places, progress)
    except RefusalError as error:
        raise RefusalError(f"graph: {error}") from None
    if travelled(name) is None and not is_path(name):
        kinds = [row["name"] for row in mapping_names()["kinds"]]
        known = [*kinds, *(row["name"] for row in workload_list())]
        near = hint(re.split(r"[:\s]", name.strip(), maxsplit=1)[0], known)
        why = f"'{shown(name)}' is neither a graph that is made nor a file"
        raise RefusalError(
            f"graph: {why}; {near}{', '.join(kinds)}, a workload (flyloom list workloads), or a"
            " file"
        )
    return schedule_or_graph(name, progress, names)


def in_places(
    name: str, given: Mapping[str, Any], places: int | None, progress: Progress | None = None
) -> Workload:
    """A workload by its name, with a rank for every place where no other number is given."""
    if own_application(name) is not None or places is None:
        return made(name, given, progress, places)
    keys = next(row["keys"] for row in workload_list() if row["name"] == name)
    ranks = {"ranks": places} if any(key["name"] == "ranks" for key in keys) else {}
    return made(name, {**ranks, **given}, progress)


def schedule_or_graph(
    name: str, progress: Progress | None = None, names: Sequence[str] = ()
) -> Workload | Communication:
    """What a file, or a folder of files, holds.

    Raises ``RefusalError`` with the file and the line at fault.
    """
    if (content := travelled(name)) is not None:
        if content.startswith(_MARKET):
            return Communication.read([(name, content.decode())])
        if content.startswith(_PAIRS):
            return _of_pairs(pairs_of_text(name, content.removeprefix(_PAIRS).decode()), names)
        return workload(name, progress)
    path = Path(name)
    if profiles := _profiles(path):
        return Communication.read([(str(file), read_text(file)) for file in profiles])
    if is_workload(path):
        return workload(name, progress)
    if name.endswith((".npy", ".npz")):
        return _of_pairs(read(path), names)
    text = read_text(path)
    if is_table_of_pairs(text):
        return _of_pairs(pairs_of_text(name, text), names)
    return Communication.read([(name, text)])


def content_of(path: Path) -> bytes:
    """What a file or a folder holds, as the content of a single file: GOAL in binary, Matrix
    Market, or a table of pairs behind a mark, as names of endpoints need the network."""
    if path.is_file() and not is_workload(path) and not _profiles(path) and (
        not path.name.endswith((".npy", ".npz"))
    ):
        text = read_text(path)
        if is_table_of_pairs(text):
            return _PAIRS + text.encode()
    found = schedule_or_graph(str(path))
    return found.binary() if isinstance(found, Workload) else found.text().encode()


def is_matrix_of_a_format(name: str) -> bool:
    """Whether a file is a table of pairs, or by its name a matrix or a graph of a format, rather
    than plain rows of numbers."""
    plain = name.removesuffix(".gz")
    if plain.endswith((*_GRAPHS, ".npy", ".npz", ".mtx", ".prof")):
        return True
    return os.path.isfile(name) and is_table_of_pairs(read_text(name))


def traffic_of(path: Path) -> RawTrafficRows | RawTimedPackets:
    """Who sends how much to whom by a file of any kind: rows or a matrix, as :func:`found_in`; or
    a schedule, a trace or a communication graph, whose process i is endpoint i.

    Raises ``RefusalError`` with the file and the line at fault.
    """
    name = path.name.removesuffix(".gz")
    if not name.endswith(_GRAPHS) and not _profiles(path) and (
        name.endswith(MATRICES) or not is_workload(path)
    ):
        return found_in(path)
    graph = communication(str(path)).columns()
    ends = zip(graph["from"].tolist(), graph["to"].tolist(), graph["bytes"].tolist(), strict=True)
    rows = [(f"{path}: process {a} to {b}", (a, b, size)) for a, b, size in ends]
    return RawTrafficRows(str(path), rows, in_bytes=True)


def _profiles(path: Path) -> list[Path]:
    """The files of Open MPI's monitoring by rank: of a folder, or beside that of rank 0."""
    wanted = None
    if not path.is_dir():
        if (found := _PROFILE.match(path.name)) is None or int(found[2]) != 0:
            return []
        wanted = found[1]
    folder = path if path.is_dir() else path.parent
    ranks: dict[int, Path] = {}
    for file in sorted(folder.iterdir()):
        found = _PROFILE.match(file.name)
        if found is None or (wanted is not None and found[1] != wanted):
            continue
        rank = int(found[2])
        if rank in ranks:
            raise RefusalError(f"{file}: rank {rank} has two files; one a rank, of one run")
        ranks[rank] = file
    missing = [rank for rank in range(len(ranks)) if rank not in ranks]
    if missing:
        what = f"the file of rank {missing[0]} is missing"
        raise RefusalError(f"{folder}: {what}; one for every rank")
    return [ranks[rank] for rank in range(len(ranks))]


def _of_columns(processes: int, rows: Any, columns: Any, values: Any) -> Communication:
    import numpy as np

    if np.iscomplexobj(values):  # no bytes: only the pattern counts, as where one is negative
        values = np.full(len(values), np.nan)
    amounts = np.ascontiguousarray(values, dtype=np.float64)
    return Communication.of_columns(
        processes, np.ascontiguousarray(rows, dtype=np.int64),
        np.ascontiguousarray(columns, dtype=np.int64), amounts,
    )


def _of_pairs(found: RawTrafficRows, names: Sequence[str]) -> Communication:
    """The graph of rows of sender, receiver and bytes, or of the matrix of an array."""
    if found.shape is not None:
        return _of_columns(_square(found.shape), *found.entries)
    numbers = {name: i for i, name in enumerate(names)}
    rows: list[int] = []
    columns: list[int] = []
    values = []
    named, processes = False, 0
    for at, row in found.rows:
        cells = [str(cell).strip() for cell in row]
        if len(cells) not in (2, 3) or len(cells) != len(found.rows[0][1]):
            raise RefusalError(f"{at}: {len(cells)} values; source,destination,bytes in every row,"
                               " or source,destination in every one")
        for cell, to in zip(cells, (rows, columns), strict=False):
            named = named or cell in numbers
            to.append(numbers[cell] if cell in numbers else _process(at, cell, names))
            processes = max(processes, to[-1] + 1)
        values.append(_bytes(at, cells[2]) if len(cells) == 3 else 1.0)
    if not rows:
        raise RefusalError(f"{found.where}: no pairs; lines source,destination,bytes")
    return _of_columns(len(names) if named else processes, rows, columns, values)


def _process(at: str, cell: str, names: Sequence[str]) -> int:
    if cell.isascii() and cell.isdigit() and len(cell) < MOST_DIGITS:
        return int(cell)
    if names:
        raise RefusalError(f"{at}: there is no endpoint '{shown(cell)}'; {hint(cell, names)}"
                           "names of endpoints, or numbers of processes from 0")
    raise RefusalError(f"{at}: '{shown(cell)}' is no process; a number from 0, or where there is a"
                       " network the name of an endpoint")


def _bytes(at: str, cell: str) -> float:
    try:
        amount = float(cell)
    except ValueError:
        amount = math.nan
    if not 0 <= amount < math.inf:
        raise RefusalError(f"{at}: {shown(cell)}: no amount; a number of bytes from 0, finite")
    return amount


def _square(shape: tuple[int, ...]) -> int:
    if len(shape) != 2 or shape[0] != shape[1]:
        raise RefusalError(f"graph: a matrix of shape {shape}; a square one, row = sender")
    return int(shape[0])


def _of_scipy(matrix: MatrixLike) -> Communication:
    entries = matrix.tocoo()
    return _of_columns(_square(entries.shape), entries.row, entries.col, entries.data)


def _of_matrix(matrix: Any) -> Communication:
    import numpy as np

    try:
        dense = np.asarray(matrix)
        dense = dense.astype(np.complex128 if np.iscomplexobj(dense) else np.float64)
    except (TypeError, ValueError):
        kind = type(matrix).__name__
        help_ = "a file, a matrix, a networkx graph, or a schedule"
        raise RefusalError(f"graph: {kind} is no communication graph; {help_}") from None
    count = _square(dense.shape)
    rows, columns = np.nonzero(dense)
    return _of_columns(count, rows, columns, dense[rows, columns])


def _of_networkx(graph: GraphLike) -> Communication:
    """Nodes in order are the ranks; an edge's ``bytes``, else ``weight``, else 1 is sent."""
    rank = {node: i for i, node in enumerate(graph.nodes)}
    rows, columns, values = [], [], []
    for a, b, data in graph.edges(data=True):
        amount = _amount(data)
        rows.append(rank[a])
        columns.append(rank[b])
        values.append(amount)
        if not graph.is_directed() and a != b:
            rows.append(rank[b])
            columns.append(rank[a])
            values.append(amount)
    return _of_columns(len(rank), rows, columns, values)


def _amount(data: Mapping[str, Any]) -> float:
    value = data.get("bytes", data.get("weight", 1))
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise RefusalError(f"graph: bytes: {value!r} is no number; 0 or more")
    return float(value)
