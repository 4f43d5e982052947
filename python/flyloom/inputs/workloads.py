"""Schedules of processes, from whatever a user names: files of any format, or a schedule."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from flyloom._core import (
    RefusalError,
    Workload,
    parse_inline,
    trace_counts,
    trace_format_of,
    trace_formats,
    trace_looks,
    trace_ranks,
    trace_read,
)
from flyloom.inputs.applications import is_made
from flyloom.support.progress import Progress
from flyloom.support.reading import as_text, read_bytes, read_text, standing_in

Scheduled = Workload | str | os.PathLike[str]
"""A schedule, or a file of one, or a trace: a folder of files, or the file of rank 0."""

_travelled: dict[str, bytes] = {}


def travelling_workloads(files: Mapping[str, bytes]) -> AbstractContextManager[None]:
    """While the context lasts, these file names stand for contents read before elsewhere."""
    return standing_in(_travelled, files)


def travelled(name: object) -> bytes | None:
    """The contents of this file, if they were read elsewhere: :func:`travelling_workloads`."""
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
    return apart(source, options)


def apart(
    word: str, options: Mapping[str, Any] | None = None
) -> tuple[str, dict[str, Any]]:
    """A name and its parameters, of which some are in the same word.

    Raises ``RefusalError`` where one is given twice.
    """
    name, beside = parse_inline(word)
    if twice := sorted(set(beside) & set(options or {})):
        raise RefusalError(f"workload: {twice[0]} is given twice; give each parameter once")
    return name, {**beside, **(options or {})}


@cache
def formats() -> tuple[dict[str, Any], ...]:
    """The table of formats of workloads: names, names of files, parameters, how each is written."""
    return tuple(trace_formats())


def _of(files: str) -> list[dict[str, Any]]:
    """The formats with files of this kind: ``one`` for all ranks, one for each of the ``ranks``, or
    an ``index`` besides those."""
    return [format for format in formats() if format["naming"]["files"] == files]


@dataclass(frozen=True)
class WorkloadFiles:
    """The files of a workload, rank by rank, with their format."""

    format: dict[str, Any]
    names: list[str]
    contents: list[str | bytes]

    @property
    def is_trace(self) -> bool:
        """Whether parameters say how it becomes a schedule, or it has several files."""
        return bool(self.format["keys"]) or self.format["naming"]["files"] != "one"

    def schedule(
        self, given: Mapping[str, Any] | None = None, progress: Progress | None = None
    ) -> Workload:
        """What the files say, with these parameters of the format.

        Raises ``RefusalError`` with the file and the line, node or byte at fault, and for a
        parameter that cannot be.
        """
        return trace_read(
            self.format["name"], self.names, self.contents, dict(given or {}), progress)

    def replayed(self, *, codes: bool, progress: Progress | None = None) -> Workload:
        """As :meth:`schedule`; with ``codes`` the collectives of a trace send nothing."""
        return self.schedule({"rules": "codes"} if codes and self.is_trace else {}, progress)

    def counts(self, progress: Progress | None = None) -> dict[str, Any] | None:
        """What the files hold that a schedule does not say; None where it says all."""
        return trace_counts(self.format["name"], self.names, self.contents, progress)


def workload(source: Scheduled, progress: Progress | None = None) -> Workload:
    """The schedule that ``source`` stands for: itself, or what a file or a folder says, with the
    defaults of its format.

    Raises ``RefusalError`` with the file and the line, or the byte, at fault.
    """
    return source if isinstance(source, Workload) else recognised(source).schedule({}, progress)


def traced(
    source: str | os.PathLike[str], given: Mapping[str, Any], progress: Progress | None = None
) -> Workload:
    """The schedule of a trace, with these parameters of its format: a folder with a file a rank,
    the file of rank 0, or the file that stands for the run.

    Raises ``RefusalError`` with the file and the line, node or byte at fault, and where the files
    of ranks are missing.
    """
    return recognised(source).schedule(given, progress)


def recognised(source: str | os.PathLike[str]) -> WorkloadFiles:
    """The files that ``source`` names, with their format.

    A folder holds one run. The file of rank 0, and one that stands for a run, have the files of
    all ranks beside them. Of a file that has all ranks the content says the format, else the end
    of its name. What is called ``.gz`` is unpacked.

    Raises ``RefusalError`` where files are missing or cannot be read.
    """
    name = os.fspath(source)
    if (content := travelled(name)) is not None:
        return _one(name, content)
    path = Path(name)
    for format in _of("index"):
        if (index := _index(format, path)) is not None:
            return _read(format, indexed_files(format, index))
    if path.is_dir() or _is_first(path):
        return _read(*_ranked_files(path))
    return _one(name, read_bytes(path))


def is_workload(path: Path) -> bool:
    """Whether a folder or a file is a workload, by its name, else by its first bytes."""
    name = path.name.removesuffix(".gz")
    if path.is_dir() or name.endswith(stands_for_all()) or _is_first(path):
        return True
    head = read_bytes(path)[:4096]
    return any(trace_looks(format["name"], head) for format in _of("one"))


def stands_for_all() -> tuple[str, ...]:
    """The ends of the names of files that stand for a whole workload whatever is in them."""
    return (
        *(end for format in _of("one") for end in format["naming"]["ends"]),
        *(format["naming"]["index"] for format in _of("index")),
    )


def stands_for_ranks() -> tuple[str, ...]:
    """The ends of the names of files of rank 0, which stand for those of all ranks."""
    return tuple(
        f"{naming['before']}0{end}"
        for naming in (format["naming"] for format in _of("ranks"))
        for end in (*naming["ends"], *naming["shared"])
    )


def _one(name: str, content: bytes) -> WorkloadFiles:
    """A file that has all ranks."""
    try:
        known = trace_format_of(name, content)
    except RefusalError as error:
        raise RefusalError(f"{name}: {error}") from None
    format = next(format for format in formats() if format["name"] == known)
    return WorkloadFiles(format, [name], [as_text(name, content) if format["text"] else content])


def _read(format: dict[str, Any], files: list[Path]) -> WorkloadFiles:
    read = read_text if format["text"] else read_bytes
    return WorkloadFiles(format, [str(file) for file in files], [read(file) for file in files])


def _is_first(path: Path) -> bool:
    """Whether a file is that of rank 0."""
    return (found := _of_rank(path)) is not None and found[2] == 0


def _of_rank(file: Path) -> tuple[dict[str, Any], tuple[str, str], int] | None:
    """The format of a file of one rank, its run as what its name is around the rank, and the rank;
    None for other files. The content decides where files of other programs have such names."""
    fitting = [
        (format, found) for format in _of("ranks")
        if (found := _rank_pattern(format["naming"], r"(.*)").fullmatch(file.name))
    ]
    if not fitting:
        return None
    sure = [one for one in fitting
            if one[1][3].removesuffix(".gz") in one[0]["naming"]["ends"]]
    if len(fitting) > 1 or not sure:
        with suppress(RefusalError):
            content = read_bytes(file)
            sure = [one for one in fitting if trace_looks(one[0]["name"], content)] or sure
    if not sure:
        return None
    format, found = sure[0]
    return format, (found[1], found[3]), int(found[2])


def _rank_pattern(naming: Mapping[str, Any], run: str) -> re.Pattern[str]:
    """Names of files of one rank: of runs whose names this pattern fits."""
    ends = "|".join(re.escape(end) for end in (*naming["ends"], *naming["shared"]))
    packed = "" if naming["files"] == "index" else r"(?:\.gz)?"
    return re.compile(rf"{run}{re.escape(naming['before'])}(\d+)((?:{ends}){packed})")


def _ranked_files(source: Path) -> tuple[dict[str, Any], list[Path]]:
    """The format and the files of a run by rank: those of a folder, or those beside the file of
    rank 0."""
    folder = source if source.is_dir() else source.parent
    wanted = None if source.is_dir() else _of_rank(source)
    found_runs: dict[tuple[str, tuple[str, str]], list[tuple[int, Path]]] = {}
    by_name = {format["name"]: format for format in formats()}
    for file in sorted(folder.iterdir()):
        if (found := _of_rank(file)) is None:
            continue
        format, run, rank = found
        if wanted is None or (format, run) == wanted[:2]:
            found_runs.setdefault((format["name"], run), []).append((rank, file))
    runs = {run: _one_each(files) for run, files in found_runs.items()}
    if len(runs) != 1:
        what = "no trace" if not runs else f"the traces of {len(runs)} runs"
        raise RefusalError(f"{folder}: there is {what} in it; files {_names()}, from rank 0 on")
    ((name, _), found_ranks), = runs.items()
    if missing := [rank for rank in range(len(found_ranks)) if rank not in found_ranks]:
        what = f"the file of rank {missing[0]} is missing"
        raise RefusalError(f"{folder}: {what}; one for every rank")
    return by_name[name], [found_ranks[rank] for rank in range(len(found_ranks))]


def _names() -> str:
    """The names of files that a folder with a run has, in words."""
    all_ = [
        f"NAME{naming['before']}RANK{end}"
        for naming in (format["naming"] for format in _of("ranks"))
        for end in (*naming["ends"], *naming["shared"])
    ]
    all_ += [f"NAME{format['naming']['index']}" for format in _of("index")]
    return _either(all_)


def _either(words: list[str]) -> str:
    """One or more words as a choice: ``a, b or c``."""
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _index(format: dict[str, Any], source: Path) -> Path | None:
    """The file that stands for a run, where ``source`` is it or its folder.

    Raises ``RefusalError`` for a folder with several.
    """
    end = format["naming"]["index"]
    if source.name.endswith(end):
        return source
    found = sorted(source.glob(f"*{end}")) if source.is_dir() else []
    if len(found) > 1:
        names = ", ".join(file.name for file in found[:3])
        raise RefusalError(f"{source}: {len(found)} runs, as {names}; name the file of one")
    return found[0] if found else None


def indexed_files(format: dict[str, Any], index: Path) -> list[Path]:
    """The files of a run by rank, beside the file that stands for it.

    Raises ``RefusalError`` where the number of processes is not said or a rank has no file.
    """
    naming = format["naming"]
    try:
        count = trace_ranks(format["name"], read_text(index))
    except RefusalError as error:
        raise RefusalError(f"{index}: {error}") from None
    run = index.name.removesuffix(naming["index"])
    ranks = _one_each(rank_files(format, index.parent, run))
    for rank in range(count):
        if rank not in ranks:
            missing = f"the file of rank {rank} is missing"
            name = f"{run}{naming['before']}{rank:0{naming['digits']}}{naming['ends'][0]}"
            raise RefusalError(f"{index}: {missing}; {name} beside it")
    return [ranks[rank] for rank in range(count)]


def _one_each(files: Iterable[tuple[int, Path]]) -> dict[int, Path]:
    """The file of every rank; RefusalError where a rank has two."""
    ranks: dict[int, Path] = {}
    for rank, file in files:
        if rank in ranks:
            raise RefusalError(f"{file}: rank {rank} has two files; one a rank")
        ranks[rank] = file
    return ranks


def rank_files(format: dict[str, Any], folder: Path, run: str) -> list[tuple[int, Path]]:
    """The files of the ranks of a run that a folder has, each with its rank."""
    pattern = _rank_pattern(format["naming"], re.escape(run))
    files = sorted(folder.iterdir())
    return [(int(found[1]), file) for file in files if (found := pattern.fullmatch(file.name))]


def written_as(place: str | os.PathLike[str]) -> dict[str, Any] | None:
    """The format that the end of a name asks for; None where it asks for none."""
    path = Path(place)
    return next((format for format in _written() if path.suffix == format["writes"]["end"]), None)


def is_run_folder(place: str | os.PathLike[str]) -> bool:
    """Whether what is written at ``place`` is a folder of files."""
    format = written_as(place)
    return format is not None and bool(format["writes"]["folder"])


def written_ends(*, calls: bool = False) -> str:
    """The ends of names that ask for a format, or, with ``calls``, for one that keeps the calls of
    a generator, in words."""
    ends = [format["writes"]["end"] for format in _written()
            if format["writes"]["keeps_calls"] or not calls]
    return _either(ends)


def _written() -> list[dict[str, Any]]:
    """The formats that are written, those of one file first."""
    return sorted((format for format in formats() if format["writes"]),
                  key=lambda format: format["writes"]["folder"])
