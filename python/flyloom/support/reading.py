"""Text from outside: every file that a user names is read here, with limits and plain refusals.

A file is UTF-8 text of at most MOST_BYTES. A pipe (a FIFO, ``<(command)`` of a shell) is read to
its end, with patience; devices and folders are refused. What is called ``.gz`` is unpacked.

Source of the packed form: RFC 1952, GZIP file format specification version 4.3.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import select
import stat
import time
import tomllib
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from flyloom._core import RefusalError
from flyloom.support.machine import afford

MOST_BYTES = 1 << 30
"""The most bytes that a file may have."""
NO_WRITER_S = 5.0
"""How long a pipe is waited for that nobody has opened for writing."""
SILENT_S = 300.0
"""How long a pipe is waited for that somebody has opened and writes nothing into."""
SHOWN = 60
"""The most letters of a file's content that a refusal shows."""

_CHUNK = 1 << 18
_STEP = 1 << 24
"""For larger files it is checked whether there is enough memory."""
_TEXTS = 3
"""The memory that a file needs while it becomes text, as a multiple of its bytes."""
_Read = TypeVar("_Read")
_NAMED_AS_FILES = re.compile(r"\.[A-Za-z][A-Za-z0-9]*$")


def is_path(word: str | os.PathLike[str]) -> bool:
    """Whether a word that may be a name is that of a file or a folder: there is one, or it is
    written as such, with a slash or an ending. What reads it then says that there is none."""
    text = os.fspath(word)
    if "\0" in text or "\n" in text:
        return False
    written = "/" in text.partition(":")[0] or _NAMED_AS_FILES.search(text) is not None
    return (written and (":" not in text or "/" in text)) or os.path.exists(text)


def read_text(
    path: str | os.PathLike[str], *, encoding: str = "utf-8", newline: str | None = None
) -> str:
    """The text of a file; RefusalError saying why it cannot be read.

    A byte order mark in front is left out and every line ends in a line feed, but with
    ``newline=""`` all stays as it is.
    """
    return as_text(path, _bytes_of(path), encoding=encoding, newline=newline)


def as_text(
    path: str | os.PathLike[str], content: bytes, *, encoding: str = "utf-8",
    newline: str | None = None,
) -> str:
    """As :func:`read_text`, from what was read of the file at ``path``."""
    if (place := content.find(b"\0")) >= 0:
        _refuse_utf16(path, content)
        raise RefusalError(f"{path}: not a text file: byte {place} is zero")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        _refuse_utf16(path, content)
        raise RefusalError(f"{path}: not a text file: byte {error.start} is not UTF-8") from None
    if newline == "":
        return text
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a TOML file says; RefusalError saying what is wrong with it."""
    text = read_text(path)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        why, _, place = str(error).removesuffix(")").rpartition(" (at ")
        raise RefusalError(f"{path}: {place}: {why}") from None
    except (ValueError, RecursionError) as error:
        raise RefusalError(f"{path}: {_plain(error)}") from None


def read_json(path: str | os.PathLike[str], what: str = "JSON") -> Any:
    """What a JSON file says; RefusalError saying what is wrong with it, and that it is not ``what``
    was expected."""
    return parsed_json(read_text(path), path, what)


def parsed_json(text: str, path: str | os.PathLike[str], what: str = "JSON") -> Any:
    """Reads JSON as :func:`read_json`, from the text of the file at ``path``."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise RefusalError(f"{path}: {place}: {error.msg}; expected {what}") from None
    except (ValueError, RecursionError) as error:
        raise RefusalError(f"{path}: {_plain(error)}; expected {what}") from None


def read_rows(
    path: str | os.PathLike[str], *, skip_blanks: bool = False
) -> list[tuple[int, list[str]]]:
    """The rows of a file of comma-separated values that are not empty, each with the number of the
    line where it ends; RefusalError saying what is wrong with it. ``skip_blanks``: those after a
    comma are not part of the value."""
    return parsed_rows(read_text(path), path, skip_blanks=skip_blanks)


def parsed_rows(
    text: str, path: str | os.PathLike[str], *, skip_blanks: bool = False
) -> list[tuple[int, list[str]]]:
    """Reads rows as :func:`read_rows`, from the text of the file at ``path``."""
    reader = csv.reader(io.StringIO(text), skipinitialspace=skip_blanks)
    try:
        return [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise RefusalError(f"{path}: line {reader.line_num}: {error}") from None


def shown(text: object) -> str:
    """The beginning of what a file says, short enough for a refusal."""
    words = str(text)
    return words if len(words) <= SHOWN else f"{words[:SHOWN]}..."


def _plain(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if "integer string conversion" in str(error):
        return "a number in it has more than 4,300 digits"
    return str(error)


def is_packed(path: str | os.PathLike[str]) -> bool:
    """Whether a file is unpacked where it is read: its name ends in ``.gz``."""
    return os.fspath(path).endswith(".gz")


def _unpacked(path: str | os.PathLike[str], packed: bytes) -> bytes:
    """The content that gzip packed into these bytes."""
    import gzip

    if packed[:2] != b"\x1f\x8b":
        why = "its name ends in .gz, but it is no gzip file; rename it"
        raise RefusalError(f"{path}: cannot be read: {why}")
    parts: list[bytes] = []
    size = 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
            while size <= MOST_BYTES and (part := file.read(_STEP)):
                parts.append(part)
                size += len(part)
                afford(f"unpacking {path}", _TEXTS * size, 0)
    except EOFError:
        raise RefusalError(f"{path}: cannot be unpacked: it is cut off; copy it again") from None
    except (OSError, zlib.error) as error:
        raise RefusalError(f"{path}: cannot be unpacked: {error}; copy it again") from None
    if size > MOST_BYTES:
        raise _too_long(path)
    return b"".join(parts)


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """What is in a file that need not be text; RefusalError saying why it cannot be read."""
    return _bytes_of(path, text=False)


@contextmanager
def standing_in(known: dict[str, _Read], files: Mapping[str, _Read]) -> Iterator[None]:
    """While the context lasts, ``known`` holds the contents of these files, read before
    elsewhere."""
    known.update(files)
    try:
        yield
    finally:
        for name in files:
            known.pop(name, None)


def _bytes_of(path: str | os.PathLike[str], *, text: bool = True) -> bytes:
    """What is in a file. Opened without waiting: a FIFO has no end before a writer comes."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError as error:
        raise RefusalError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:  # a name with a zero byte
        raise RefusalError(f"{path}: cannot be read: {error}") from None
    try:
        about = os.fstat(handle)
        if stat.S_ISDIR(about.st_mode):
            raise RefusalError(f"{path}: cannot be read: Is a directory")
        if stat.S_ISCHR(about.st_mode) or stat.S_ISBLK(about.st_mode):
            raise RefusalError(f"{path}: cannot be read: it is a device; name a file or a pipe")
        if about.st_size > MOST_BYTES:
            raise _too_long(path)
        if about.st_size > _STEP:
            afford(f"reading {path}", _TEXTS * about.st_size, 0)
        content = _read(handle, path, stat.S_ISREG(about.st_mode), text)
    except OSError as error:
        raise RefusalError(f"{path}: cannot be read: {error.strerror}") from None
    finally:
        os.close(handle)
    if is_packed(path):
        content = _unpacked(path, content)
    return content


def _read(handle: int, path: str | os.PathLike[str], regular: bool, text: bool) -> bytes:
    """All bytes of an open file; waits for those of a pipe."""
    parts: list[bytes] = []
    size, opened = 0, time.monotonic()
    while True:
        try:
            part = os.read(handle, _CHUNK)
        except BlockingIOError:
            if not _wait(handle, SILENT_S):
                why = f"nothing came through this pipe in {SILENT_S:g} s"
                raise RefusalError(f"{path}: cannot be read: {why}") from None
            continue
        if part:
            if text and b"\0" in part and not is_packed(path):
                return b"".join([*parts, part])  # it is no text: the rest need not be read
            parts.append(part)
            size += len(part)
            if size > MOST_BYTES:
                raise _too_long(path)
        elif regular or size or _closed(handle):
            return b"".join(parts)
        elif not _wait(handle, opened + NO_WRITER_S - time.monotonic()):
            why = f"nobody wrote to this pipe in {NO_WRITER_S:g} s"
            raise RefusalError(f"{path}: cannot be read: {why}")


def _refuse_utf16(path: str | os.PathLike[str], content: bytes) -> None:
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise RefusalError(f"{path}: not a text file: it is UTF-16; save it as UTF-8")


def _too_long(path: str | os.PathLike[str]) -> RefusalError:
    return RefusalError(f"{path}: cannot be read: it has more than {MOST_BYTES:,} bytes")


def _wait(handle: int, patience_s: float) -> bool:
    """Waits until a pipe can be read or its last writer has gone; False if neither happens in
    time."""
    watched = select.poll()
    watched.register(handle, select.POLLIN)
    return bool(watched.poll(1000 * max(patience_s, 0.0)))


def _closed(handle: int) -> bool:
    """Whether a writer of a pipe came and went."""
    watched = select.poll()
    watched.register(handle, 0)
    return any(event & select.POLLHUP for _, event in watched.poll(0))
