"""Schedules of processes, from whatever a user names: a file of GOAL, a trace, or a schedule."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from flyloom._core import RefusalError, Workload, parse_inline
from flyloom.inputs.applications import is_made
from flyloom.support.progress import Progress
from flyloom.support.reading import read_bytes, read_text, standing_in

Scheduled = Workload | str | os.PathLike[str]
"""A schedule, or a file of one, or a trace: a folder of files, or the file of rank 0."""

_OF_RANK = re.compile(r"^(.*-)(\d+)(\.(?:txt|dat)(?:\.gz)?)$|^(.*\.)(\d+)(\.et(?:\.gz)?)$")


_travelled: dict[str, bytes] = {}


def travelling_workloads(files: Mapping[str, bytes]) -> AbstractContextManager[None]:
    """While it lasts, these names of files stand for what was read of them before, elsewhere."""
    return standing_in(_travelled, files)


def travelled(name: object) -> bytes | None:
    """What was read elsewhere of the file of this name: :func:`travelling_workloads`."""
    return _travelled.get(name) if isinstance(name, str) else None


def named(
    source: object, options: Mapping[str, Any] | None = None
) -> tuple[str, dict[str, Any]] | None:
    """The name of a schedule that can be made, and its parameters; None for anything else.

    ``source`` is the name alone, or with parameters: ``"alltoall_pairwise bytes=65536"`` or
    ``"alltoall_pairwise:bytes=65536"``; ``options`` are more of them. Raises ``RefusalError`` where
    one is given twice.
    """
    if not isinstance(source, str) or travelled(source) or os.path.exists(source):
        return None
    if not is_made(re.split(r"[:\s]", source.strip(), maxsplit=1)[0]):
        return None
    name, beside = parse_inline(source)
    if twice := sorted(set(beside) & set(options or {})):
        raise RefusalError(f"workload: {twice[0]} is given twice; give each parameter once")
    return name, {**beside, **(options or {})}


def workload(source: Scheduled, progress: Progress | None = None) -> Workload:
    """The schedule that ``source`` stands for: itself, or what a file of GOAL says.

    The content says whether a file is text or binary; what is called ``.gz`` is unpacked. A folder,
    the file of rank 0 (``-0.txt``, ``-0.dat``, ``.0.et``), or a ``.meta``, is a trace, with its
    defaults.

    Raises ``RefusalError`` with the file and the line, or the byte, at fault.
    """
    if isinstance(source, Workload):
        return source
    if is_trace(source):
        return traced(source, {}, progress)
    content = _travelled.get(os.fspath(source)) or read_bytes(source)
    try:
        return Workload.read(content, progress)
    except RefusalError as error:
        raise RefusalError(f"{os.fspath(source)}: {error}") from None


def is_trace(source: str | os.PathLike[str]) -> bool:
    """Whether a path is that of a trace: a folder, or rank 0's file, ``-0.txt``, ``-0.dat`` or
    ``.0.et``, or a ``.meta`` of DUMPI."""
    name = os.fspath(source)
    return name not in _travelled and (os.path.isdir(name) or name.endswith(".meta") or (
        (found := _of_rank(Path(name))) is not None and found[1] == 0
    ))


def _of_rank(file: Path) -> tuple[tuple[str, str], int] | None:
    """Of a file of a trace the run, as what its name is around the rank, and the rank."""
    if (found := _OF_RANK.match(file.name)) is None:
        return None
    if file.name.endswith((".dat", ".dat.gz")) and not _says_calls(file):
        return None  # many things are called so
    before, rank, behind = filter(None, found.groups())
    return (before, behind), int(rank)


def _says_calls(file: Path) -> bool:
    """Whether the first line that is no comment is a call of MPI."""
    try:
        lines = read_bytes(file).splitlines()
    except RefusalError:
        return False
    first = next((line for line in lines if line.strip() and not line.startswith(b"#")), b"")
    return first.lstrip().startswith(b"MPI_")


def traced(
    source: str | os.PathLike[str], given: Mapping[str, Any], progress: Progress | None = None
) -> Workload:
    """The schedule of a trace: a folder with a file a rank, the file of rank 0, or a ``.meta``.

    The files of a run have one name but for the rank, ``NAME-RANK.txt`` or ``.dat`` of liballprof,
    ``NAME.RANK.et`` of Chakra, and of DUMPI ``NAME-RANK.bin`` beside ``NAME.meta``.

    Raises ``RefusalError`` with the file and the line, node or byte at fault, and where the files
    of ranks are missing.
    """
    if (meta := dumpi_meta(Path(source))) is not None:
        files = dumpi_files(meta)
        contents = [read_bytes(file) for file in files]
        return Workload.dumpi([str(file) for file in files], contents, dict(given), progress)
    files = trace_files(Path(source))
    names = [str(file) for file in files]
    if files[0].name.endswith((".et", ".et.gz")):
        return Workload.chakra(names, [read_bytes(file) for file in files], dict(given), progress)
    return Workload.trace(names, [read_text(file) for file in files], dict(given), progress)


def trace_files(source: Path) -> list[Path]:
    """The files of a trace by rank: those of a folder, or those beside the file of rank 0."""
    folder = source if source.is_dir() else source.parent
    wanted = None if source.is_dir() else _of_rank(source)
    runs: dict[tuple[str, str], dict[int, Path]] = {}
    for file in sorted(folder.iterdir()):
        if (found := _of_rank(file)) is None:
            continue
        run, rank = found
        if wanted is None or run == wanted[0]:
            ranks = runs.setdefault(run, {})
            if rank in ranks:
                raise RefusalError(f"{file}: rank {rank} has two files; one a rank")
            ranks[rank] = file
    if len(runs) != 1:
        what = "no trace" if not runs else f"the traces of {len(runs)} runs"
        help_ = "files NAME-RANK.txt, NAME-RANK.dat or NAME.RANK.et, from rank 0 on"
        raise RefusalError(f"{folder}: there is {what} in it; {help_}")
    (found_ranks,) = runs.values()
    if missing := [rank for rank in range(len(found_ranks)) if rank not in found_ranks]:
        what = f"the file of rank {missing[0]} is missing"
        raise RefusalError(f"{folder}: {what}; one for every rank")
    return [found_ranks[rank] for rank in range(len(found_ranks))]


def dumpi_meta(source: Path) -> Path | None:
    """The file ``PREFIX.meta`` of a trace of DUMPI, where ``source`` is it or its folder.

    Raises ``RefusalError`` for a folder with several.
    """
    if source.suffix == ".meta":
        return source
    found = sorted(source.glob("*.meta")) if source.is_dir() else []
    if len(found) > 1:
        names = ", ".join(file.name for file in found[:3])
        raise RefusalError(f"{source}: {len(found)} runs, as {names}; name the file of one")
    return found[0] if found else None


def dumpi_files(meta: Path) -> list[Path]:
    """The files of a trace of DUMPI by rank, ``PREFIX-0000.bin`` and so on, beside its ``.meta``.

    Raises ``RefusalError`` where the number of processes is not said or a rank has no file.
    """
    said = dict(line.split("=", 1) for line in read_text(meta).splitlines() if "=" in line)
    count = said.get("numprocs", "").strip()
    if not (count.isascii() and count.isdecimal()) or not 1 <= int(count) <= 2**24:
        raise RefusalError(f"{meta}: numprocs: {count!r}; the number of processes, 1 to 2^24")
    pattern = re.compile(re.escape(meta.stem) + r"-(\d+)\.bin")
    ranks: dict[int, Path] = {}
    for file in sorted(meta.parent.iterdir()):
        if (found := pattern.fullmatch(file.name)) is not None:
            rank = int(found[1])
            if rank in ranks:
                raise RefusalError(f"{file}: rank {rank} has two files; one a rank")
            ranks[rank] = file
    for rank in range(int(count)):
        if rank not in ranks:
            missing = f"the file of rank {rank} is missing"
            raise RefusalError(f"{meta}: {missing}; {meta.stem}-{rank:04}.bin beside it")
    return [ranks[rank] for rank in range(int(count))]
