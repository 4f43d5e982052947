"""Pairs and matrices from files and from Python: numpy, scipy, Matrix Market, CSV, plain lists."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np

from flyloom._core import RefusalError
from flyloom.inputs.graphs import MatrixLike
from flyloom.support.machine import afford
from flyloom.support.reading import parsed_rows, read_bytes, read_text, shown

HEADERS = (
    ("src", "dst", "demand"), ("src_switch", "dst_switch", "demand"), ("src", "dst"),
    ("src_switch", "dst_switch"),
)
"""The first line that a file of pairs may have; under names of switches, numbers mean switches."""

MOST_LINES = 1 << 24
"""The most lines of a matrix: it is summed line by line."""
MATRICES = (".npy", ".npz", ".mtx", ".mtx.gz")
"""The endings of names of matrix files."""


@dataclass(frozen=True)
class RawTrafficRows:
    """Rows, or the entries of a matrix, as they were found, not yet checked against a network."""

    where: str
    """The file, or the name of the argument."""
    rows: Sequence[tuple[str, Sequence[Any]]] = field(default_factory=list)
    """The rows, each with its place in the source, for refusals."""
    shape: tuple[int, int] | None = None
    """The rows and columns of a matrix; None for plain rows."""
    entries: tuple[Any, Any, Any] = ((), (), ())
    """A matrix's entries: arrays of row, column and value."""
    lines: tuple[int, ...] = ()
    """The line of every row, for a matrix that is text."""
    in_bytes: bool = False
    """Whether the heading of the amounts says that they are bytes."""

    def place(self, row: int, column: int) -> str:
        """Where an entry of the matrix stands, for refusals."""
        if self.lines:
            return f"{self.where}: line {self.lines[row]}, column {column + 1}"
        return f"{self.where}[{row}, {column}]"


@dataclass(frozen=True)
class RawTimedPackets:
    """A file of packets with their times, or one that might be, as it was found: not yet checked
    against a network."""

    where: str
    """The file."""
    text: str
    says_so: bool
    """Whether the first line declares times; else its rows only have four values each."""

    def rows(self) -> RawTrafficRows:
        """The file read as plain rows (as :func:`read`), if it is no file of packets."""
        return _of_text(self.where, self.text)


TIMES = ("time_cycles", "source", "destination", "size_flits")
"""The first line of a file of packets with their times."""


def found_in(path: Path) -> RawTrafficRows | RawTimedPackets:
    """As :func:`read`; of a file whose first line has the words of ``TIMES``, or four values, its
    text."""
    if str(path).endswith(MATRICES):
        return read(path)
    text = read_text(path)
    lines = (line.strip() for line in text.split("\n"))
    first = next((line for line in lines if line and not line.startswith("#")), "")
    words = tuple(first.replace(",", " ").split())
    if len(words) == len(TIMES):
        return RawTimedPackets(str(path), text, words == TIMES)
    return _of_text(str(path), text)


def read(path: Path) -> RawTrafficRows:
    """What a file has: a matrix (``.npy``, ``.npz`` and ``.mtx`` of numpy and scipy, or rows of as
    many numbers as there are rows, more than three), or rows of values between commas or blanks.

    Raises ``RefusalError`` with the file, and the line where it has lines.
    """
    name = str(path)
    if name.endswith(MATRICES):
        return _matrix_of(path)
    return _of_text(name, read_text(path))


def _of_text(name: str, text: str) -> RawTrafficRows:
    """The rows in the text of the file ``name``."""
    if "," in text:
        numbered = parsed_rows(text, name, skip_blanks=True)
    else:
        numbered = [(i, line.split()) for i, line in enumerate(text.split("\n"), 1) if line.strip()]
    numbered = [(line, row) for line, row in numbered if not row[0].lstrip().startswith("#")]
    in_bytes = False
    if numbered and (heading := _heading(numbered[0][1])):
        in_bytes = len(heading) == 3 and heading[2] in BYTES
        first = len(numbered[0][1]) - len(heading)  # pandas writes the number of the row before
        numbered = [(line, row[first:]) for line, row in numbered[1:]]
    dense = _dense([row for _, row in numbered])
    if dense is not None:
        return _whole(name, dense, tuple(line for line, _ in numbered))
    n = len(numbered)
    if n > 3 and all(len(row) == n for _, row in numbered):  # the file was meant to be one
        for line, row in numbered:
            for column, cell in enumerate(row, 1):
                if not _is_number(cell):
                    place = f"{name}: line {line}, column {column}"
                    raise RefusalError(f"{place}: {shown(cell)} is no number")
    rows = [(f"{name}: line {line}", row) for line, row in numbered]
    return RawTrafficRows(name, rows, in_bytes=in_bytes)


def is_table_of_pairs(text: str) -> bool:
    """Whether a text is a table of pairs, rather than a matrix or a graph of some format: its first
    line has the headings of one, or it has two or three values between commas in every line, and
    not as many lines."""
    lines = [line for line in map(str.strip, text.split("\n")) if line and line[0] != "#"]
    if not lines:
        return False
    cells = lines[0].split(",") if "," in lines[0] else lines[0].split()
    if _heading(cells) or tuple(cell.strip() for cell in cells) in HEADERS:
        return True
    width = len(cells)
    return (width in (2, 3) and "," in lines[0] and len(lines) != width
            and all(line.count(",") == width - 1 for line in lines))


def pairs_of_text(name: str, text: str) -> RawTrafficRows:
    """The rows of a table of pairs of processes in the text of the file ``name``."""
    found = _of_text(name, text)
    if found.shape is not None or not found.rows:
        return found
    at, first = found.rows[0]
    head = tuple(str(cell).strip() for cell in first)
    if head[0] == "src_switch" and head in HEADERS:
        raise RefusalError(f"{at}: switches are no processes; source,destination,bytes")
    rows = found.rows[1:] if head in HEADERS else found.rows
    return RawTrafficRows(name, rows, in_bytes=found.in_bytes)


HEADINGS = (
    {"source", "src", "sender", "from"},
    {"destination", "dest", "dst", "receiver", "target", "to"},
)
"""Headings of the first two columns of a table of pairs, as programs write them."""


BYTES = {"bytes", "bytes_sent", "size_bytes"}
"""Headings of the third column that say that its amounts are bytes."""


def _heading(row: Sequence[str]) -> list[str]:
    """The headings of the columns of pairs, in small letters, of a row that has them; else none.

    The column that pandas has for the numbers of rows has an empty heading, and is left out.
    """
    words = [cell.strip().strip('"').lower() for cell in row]
    if words and not words[0]:
        words = words[1:]
    known = 2 <= len(words) <= 3 and all(
        word in known for word, known in zip(words, HEADINGS, strict=False)
    )
    return words if known else []


def said(given: Any) -> RawTrafficRows:
    """The rows of a Python argument, as :func:`read` for a file."""
    if isinstance(given, MatrixLike):
        return _sparse("traffic", given.tocoo())
    if isinstance(given, Mapping):
        rows = [
            (f"traffic[{shown(repr(pair))}]", [*_pair(pair), amount])
            for pair, amount in given.items()
        ]
        return RawTrafficRows("traffic", rows)
    if hasattr(given, "__array__"):
        array = np.asarray(given)
        if array.ndim != 2:
            raise RefusalError(f"traffic: an array of shape {array.shape}; a matrix, or rows")
        if array.shape[0] == array.shape[1] or array.shape[1] > 3:
            return _whole("traffic", array)
        given = array.tolist()
    listed = list(given)
    dense = _dense(listed)
    if dense is not None:
        return _whole("traffic", dense)
    return RawTrafficRows("traffic", [(f"traffic: row {i}", row) for i, row in enumerate(listed)])


def _pair(pair: object) -> Sequence[Any]:
    if isinstance(pair, (tuple, list)) and len(pair) == 2:
        return pair
    raise RefusalError(f"traffic[{shown(repr(pair))}]: not a pair; (source, destination): amount")


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _dense(rows: list[Any]) -> Any:
    """Rows as an array where they are a matrix: more than three, each as long as there are rows,
    and all of them numbers."""
    n = len(rows)
    if n <= 3 or any(isinstance(row, str) or not hasattr(row, "__len__") for row in rows):
        return None
    if any(len(row) != len(rows[0]) for row in rows) or len(rows[0]) <= 3:
        return None
    try:
        return np.array(rows, dtype=np.float64)
    except (TypeError, ValueError):
        return None


def _whole(where: str, array: Any, lines: tuple[int, ...] = ()) -> RawTrafficRows:
    """A dense matrix by its entries that are not 0."""
    if array.dtype.kind not in "biuf":
        raise RefusalError(f"{where}: a matrix of type {array.dtype}; of numbers")
    source, destination = np.nonzero(array)  # a NaN is not 0
    entries = (source, destination, array[source, destination].astype(np.float64))
    return RawTrafficRows(where, shape=array.shape, entries=entries, lines=lines)


def _sparse(where: str, coo: Any) -> RawTrafficRows:
    if len(coo.shape) != 2 or coo.data.dtype.kind not in "biuf":
        raise RefusalError(f"{where}: {coo.shape} of {coo.data.dtype}; a matrix of numbers")
    if max(coo.shape) > MOST_LINES:
        raise RefusalError(f"{where}: a matrix of {coo.shape}; {MOST_LINES:,} lines at most")
    csr = coo.tocsr()  # entries that are there twice are summed
    coo = csr.tocoo()
    entries = (coo.row, coo.col, coo.data.astype(np.float64))
    return RawTrafficRows(where, shape=coo.shape, entries=entries)


def _matrix_of(path: Path) -> RawTrafficRows:
    """The matrix of a file of numpy or scipy."""
    name = str(path)
    if not path.is_file():
        raise RefusalError(f"{path}: no regular file; matrices are not read from pipes")
    afford(f"reading {path}", 4 * path.stat().st_size, 0)
    try:
        if name.endswith(".npy"):
            with path.open("rb") as file:
                _check_shape(name, file, path.stat().st_size)
            array = np.load(path, allow_pickle=False)
            if array.ndim != 2:
                raise RefusalError(f"{path}: an array of shape {array.shape}; a matrix")
            return _whole(name, array)
        import scipy.io
        import scipy.sparse

        if name.endswith(".npz"):
            _check_npz(path)
            return _sparse(name, scipy.sparse.load_npz(path))
        _check_market(path)
        found = scipy.io.mmread(path)
    except RefusalError:
        raise
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, OverflowError) as error:
        kind = {"y": "numpy's .npy", "z": "scipy's .npz"}.get(name[-1], "Matrix Market")
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise RefusalError(f"{path}: no matrix of {kind}: {shown(why)}") from None
    return _sparse(name, found) if isinstance(found, MatrixLike) else _whole(name, found)


def _check_npz(path: Path) -> None:
    """Refuses arrays that have fewer numbers than they say, and more than there is memory for."""
    with zipfile.ZipFile(path) as packed:
        afford(f"reading {path}", 4 * sum(about.file_size for about in packed.infolist()), 0)
        for about in packed.infolist():
            with packed.open(about) as file:
                _check_shape(f"{path}: {about.filename}", file, about.file_size)


def _check_shape(name: str, file: IO[bytes], size: int) -> None:
    """Refuses an array of numpy that has fewer numbers than its head says."""
    major, _ = np.lib.format.read_magic(file)
    read = getattr(np.lib.format, f"read_array_header_{min(major, 2)}_0")
    shape, _, kind = read(file)
    if math.prod(shape) * kind.itemsize > size:
        raise RefusalError(f"{name}: fewer numbers than a shape of {shown(shape)}")


def _check_market(path: Path) -> None:
    """Refuses a matrix of more entries than its bytes can be."""
    content = read_bytes(path)
    lines = io.BytesIO(content)
    head = lines.readline().lower().split()
    size = next((line.split() for line in lines if line.strip() and not line.startswith(b"%")), [])
    if not all(word.isdigit() and len(word) < 20 for word in size):
        return  # the reader reports what is wrong
    sizes = [int(word) for word in size]
    if b"array" in head:
        least = math.prod(sizes)  # an entry takes a digit and a blank; half may be left out
    else:
        least = sizes[2] * len(b"1 1\n") if len(sizes) > 2 else 0
    if least > len(content):
        said = " ".join(map(str, sizes))
        raise RefusalError(f"{path}: sizes {said} in a file of {len(content)} bytes; fewer entries")


def digest_of(found: RawTrafficRows | RawTimedPackets) -> list[Any]:
    """The contents as JSON values: for the keys of results that depend on them."""
    if isinstance(found, RawTimedPackets):
        return ["times", found.text]
    entries = [np.asarray(column).tolist() for column in found.entries]
    unit = ["bytes"] if found.in_bytes else []
    return [[list(map(str, row)) for _, row in found.rows], found.shape, entries, *unit]
