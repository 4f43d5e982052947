"""Schedules of processes: what they hold, whether they can come to their end, other formats."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flyloom._core import (
    Communication,
    RefusalError,
    Workload,
    trace_made,
    trace_rewritten,
    trace_written,
    workload_best,
    workload_list,
)
from flyloom.inputs.applications import made, own_application
from flyloom.inputs.communication import communication, is_matrix_of_a_format
from flyloom.inputs.costs import file_of
from flyloom.inputs.tables import Tables
from flyloom.inputs.workloads import (
    Scheduled,
    rank_files,
    recognised,
    traced,
    workload,
    written_as,
    written_ends,
)
from flyloom.plugins.found import users
from flyloom.support.checks import whole
from flyloom.support.files import write_folder, write_whole
from flyloom.support.machine import afford
from flyloom.support.progress import Progress
from flyloom.support.reading import read_text
from flyloom.support.verb_results import (
    RankedWorkload,
    WorkloadCheck,
    WorkloadFilesSummary,
    WorkloadKind,
)
from flyloom.verbs.simulation import SimulationRequest, over_network, short_receives, spec_of


def workloads() -> list[WorkloadKind]:
    """What :func:`make_workload` makes: ``name``, ``kind`` (``collective`` or ``application``),
    ``doc`` and ``keys``, each with ``name``, ``doc`` and ``default``, None where a value must be
    given."""
    own = [
        {"name": row["name"], "kind": row["kind"], "doc": row["doc"], "keys": row["params"]}
        for row in users("application")
    ]
    return [WorkloadKind(row) for row in [*workload_list(), *own]]


def make_workload(
    name: str, *, progress: Progress | None = None, **parameters: Any
) -> Workload:
    """The schedule of a collective operation or an application.

    Parameters
    ----------
    name
        One of :func:`workloads`: an operation and its algorithm, or an application.
    parameters
        ``ranks`` and others by name, as :func:`workloads` lists them (docs/workloads.md).
        ``matrix`` may be rows, an array, or a file of rows with commas or blanks.

    Raises
    ------
    RefusalError
        For a name that there is not, a parameter that cannot be, and more operations than 2^28.
    """
    return made(name, _with_matrix(parameters), progress)


def make_trace(
    name: str, path: str | os.PathLike[str], *, progress: Progress | None = None,
    **parameters: Any,
) -> WorkloadFilesSummary:
    """Writes a collective operation or an application as a trace: a folder, ``path``, which ends in
    ``.dumpi``.

    It is what :func:`convert_workload` writes of :func:`make_workload`, but that collective
    operations of all ranks are calls of MPI, whose algorithm is chosen where the trace is read.
    Fields and refusals: as of these two.
    """
    place = Path(path)
    if not keeps_calls(place):
        help_ = f"end it in {written_ends(calls=True)}"
        raise RefusalError(f"{place}: no trace that keeps calls has such a name; {help_}")
    if own_application(name) is not None:
        return convert_workload(made(name, parameters, progress), place, progress=progress)
    format = _format_of(place)
    given = _with_matrix(parameters)
    return _write(place, format, trace_made(name, given, format["name"], place.stem, progress))


def keeps_calls(path: str | os.PathLike[str]) -> bool:
    """Whether the end of a name asks for a format that :func:`make_trace` writes."""
    return (format := written_as(path)) is not None and bool(format["writes"]["keeps_calls"])


def _format_of(place: Path) -> dict[str, Any]:
    """The format that a name asks for; RefusalError where it asks for none."""
    if (format := written_as(place)) is None:
        help_ = f"end it in {written_ends()}"
        raise RefusalError(f"{place}: what it is to be is not said; {help_}")
    return format


def _with_matrix(parameters: Mapping[str, Any]) -> dict[str, Any]:
    given = dict(parameters)
    if isinstance(given.get("matrix"), str | os.PathLike):
        given["matrix"] = matrix_rows(given["matrix"], given.get("ranks"))
    elif hasattr(given.get("matrix"), "tolist"):
        given["matrix"] = given["matrix"].tolist()
    return given


def matrix_rows(path: str | os.PathLike[str], ranks: object = None) -> list[list[int]]:
    """The rows of a file of whole numbers, a line each, with commas or blanks between them; or
    those of a table of pairs or of another format, with a row for each of ``ranks`` at least.

    Raises ``RefusalError`` with the file and the line at fault.
    """
    name = os.fspath(path)
    if is_matrix_of_a_format(name):
        return _rows_of(communication(name), name, ranks)
    rows = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        words = line.replace(",", " ").split()
        if not words:
            continue
        if strange := next((word for word in words if not word.isdecimal()), None):
            raise RefusalError(
                f"{name}: line {number}: {strange!r} is no whole number; bytes, a "
                f"column for each rank"
            )
        rows.append([int(word) for word in words])
    return rows


def _rows_of(graph: Communication, name: str, ranks: object) -> list[list[int]]:
    count = max(graph.processes, ranks if isinstance(ranks, int) else 0)
    afford(f"the matrix of {name}", 8 * count * count, 0)
    rows = [[0] * count for _ in range(count)]
    sent = graph.columns()
    for a, b, size in zip(sent["from"].tolist(), sent["to"].tolist(), sent["bytes"].tolist(),
                          strict=True):
        if size != int(size):
            raise RefusalError(f"{name}: rank {a} to {b}: {size:g}: no whole number of bytes")
        rows[a][b] = int(size)
    return rows


def traced_workload(
    source: str | os.PathLike[str], *, progress: Progress | None = None, **options: Any
) -> Workload:
    """The schedule of a trace, of any format of ``flyloom list workload-files`` (docs/traces.md).

    Parameters
    ----------
    source
        A folder with a file for every rank, the file of rank 0, or the one that stands for a run.
    options
        Those of the format, as the list has them: of MPI ``scale_compute``, ``copies``, ...; of
        most the algorithm of each collective operation: ``allreduce="ring"``.

    Raises
    ------
    RefusalError
        With file and line, node or byte, for what is no trace and what could not run; for an
        option that cannot be.
    """
    return traced(source, options, progress)


def noisy_workload(
    source: Scheduled, *, progress: Progress | None = None, **noise: Any
) -> Workload:
    """A schedule with noise and stragglers.

    Parameters
    ----------
    source
        A schedule, or a file of one.
    noise
        ``kind`` (``none``, ``fraction``, ``exponential``, ``normal``, ``periodic``), ``percent``,
        ``mean_ns``, ``deviation_ns``, ``period_ns``, ``on`` (``calc``, ``all``), ``seed``,
        ``stragglers`` (ranks), ``slowdown_percent``: docs/workloads.md.

    Raises
    ------
    RefusalError
        For a parameter that cannot be.
    """
    return workload(source, progress).noisy(noise, progress)


def merge_workloads(
    sources: Sequence[Scheduled], *, progress: Progress | None = None
) -> Workload:
    """Several schedules as one, their ranks one after another: jobs at the same time.

    Raises ``RefusalError`` where there is none, and for files that are no schedules.
    """
    return Workload.merge([workload(source, progress) for source in sources], progress)


def best_workload(
    operation: str,
    *,
    ranks: int | str | Sequence[int | str],
    bytes: int | str | Sequence[int | str],
    net: Tables | None = None,
    engine: str | None = None,
    lmc: int | None = None,
    layers: int | None = None,
    engine_options: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    **parameters: Any,
) -> list[RankedWorkload]:
    """Which algorithm of a collective operation is quickest, alone or over a network: each is run
    for every number of ranks and of bytes.

    Parameters
    ----------
    operation
        As the names of its algorithms begin: ``"allreduce"``, ``"barrier"``, ...
    ranks, bytes
        One number or several; also as text with a unit, ``"64KiB"``.
    net
        The network that messages go over, or tables; none: they take ``L`` and ``G`` of ``costs``.
    engine, lmc, layers, engine_options, settings, parameters
        As of :func:`flyloom.simulate` at level ``"message"``: ``costs``, ``placement``, ...
    progress
        Called with ``(what, done, total)``.

    A row has ``ranks``, ``bytes``, ``algorithm`` (with its own parameter where several values are
    tried), ``finish_ns``, ``parameters`` and ``costs`` (the preset, its source, what was given
    besides), over a network ``rates``, and ``all``: the algorithms from the quickest on, each with
    ``algorithm``, ``finish_ns`` and ``model_ns``, what the formula of the n-way barrier says (None
    for others, over a network, and where it does not hold). Raises ``RefusalError`` for an
    operation that there is not and numbers that cannot be.
    """
    spec = spec_of("message", settings, parameters)
    how = {"engine": engine, "lmc": lmc, "layers": layers, "engine_options": engine_options}
    request = SimulationRequest(net, spec, how, progress=progress)
    file = file_of(spec.get("costs"))
    on, where = over_network(net, request, spec)
    asked = {**spec, "operation": operation, "ranks": _numbers("ranks", ranks),
             "bytes": _numbers("bytes", bytes)}
    rows = workload_best(asked, on, where, progress)
    if file is not None:
        rows = [{**row, "costs": {**row["costs"], "file": file}} for row in rows]
    return [RankedWorkload(row) for row in rows]


def _numbers(name: str, given: int | str | Sequence[int | str]) -> list[int]:
    """One number or several, of which some may be text with a unit."""
    several = [given] if isinstance(given, (int, str)) else given
    found = [whole(name, one, 0, 2**63) if isinstance(one, str) else one for one in several]
    if twice := next((one for one in found if found.count(one) > 1), None):
        raise RefusalError(f"{name}: {twice} is there twice; each once")
    return found


def check_workload(source: Scheduled, *, progress: Progress | None = None) -> WorkloadCheck:
    """What a schedule holds, and whether it can come to its end; what a trace of DUMPI holds.

    Fields: ``ranks``, ``operations``, ``sends``, ``receives``, ``calculations``, ``dependencies``,
    ``cpus`` and ``nics`` of every rank, ``sent_bytes``, ``calculated_ns``; ``circle``: operations
    that wait for one another, each for the one before and the first for the last, empty where there
    are none; ``complete``, and ``left``: why it cannot come to its end, None where it can. The end
    is tried by a run without cost (all of LogGOPS's parameters 0), which sends nothing before its
    receive is there. Where receives are smaller than the messages that they take, which MPI would
    truncate, ``short_receives`` has their ``count``, the ``first`` of them and its ``message``.

    Of a trace of DUMPI, named by its folder or its ``.meta``: ``ranks``, ``version`` of the format,
    ``calls`` by name, ``messages`` between two processes and their ``bytes``, ``records`` in the
    files, and ``left_out``, calls that were made and are not in them (docs/traces.md).
    """
    if isinstance(source, Workload):
        given = source
    else:
        run = recognised(source)
        if (found := run.counts(progress)) is not None:
            return WorkloadCheck(found)
        given = run.schedule({}, progress)
    circle, left = given.circle(), None
    short: dict[str, Any] = {}
    try:
        short = short_receives(given, progress)
    except RefusalError as error:
        left = error.why
    return WorkloadCheck({
        **given.counts(), "circle": circle, "complete": left is None, "left": left, **short,
    })


def convert_workload(
    source: Scheduled, path: str | os.PathLike[str], *, progress: Progress | None = None
) -> WorkloadFilesSummary:
    """Writes a schedule in the format that the end of ``path`` asks for (``flyloom list
    workload-files``): GOAL as text for ``.goal``, in binary, as LogGOPSim reads it, for ``.bin``,
    and a folder with a trace for ``.dumpi`` (docs/traces.md). A trace of the same format keeps its
    calls there.

    Fields: ``path``, ``ranks``, ``operations`` (of a trace the calls), ``bytes`` written; of a
    schedule that becomes a trace, ``at_once``: ranks that do several things at the same time, which
    come one after another there, so that the run may end at another time.
    """
    place = Path(path)
    format = _format_of(place)
    if isinstance(source, Workload):
        given = source
    else:
        run = recognised(source)
        if run.format == format and keeps_calls(place):
            return _write(place, format, trace_rewritten(
                run.names, run.contents, format["name"], place.stem, progress))
        given = run.schedule({}, progress)
    return _write(place, format, trace_written(given, format["name"], place.stem, progress))


Written = tuple[list[tuple[str, bytes]], int, int, int, int | None]
"""Files by name, ranks, operations, bytes, and ranks that do several things at the same time."""


def _write(place: Path, format: dict[str, Any], written: Written) -> WorkloadFilesSummary:
    """Writes the file, or the files into a folder.

    Raises ``RefusalError`` for a place that is no folder, and for one with another run in it.
    """
    files, ranks, operations, size, at_once = written
    if format["writes"]["folder"]:
        _write_run(place, format, dict(files))
    else:
        write_whole(place, files[0][1])
    found: dict[str, Any] = {
        "path": str(place), "ranks": ranks, "operations": operations, "bytes": size,
    }
    return WorkloadFilesSummary(found if at_once is None else {**found, "at_once": at_once})


def _write_run(folder: Path, format: dict[str, Any], files: dict[str, bytes]) -> None:
    """Writes the files of a run, and removes files of ranks that an earlier run had beyond
    these."""
    index = format["naming"].get("index")
    if folder.is_dir() and index and (others := {
        file.name for file in folder.glob(f"*{index}")
    } - files.keys()):
        raise RefusalError(f"{folder}: another run is in it, {min(others)}; another folder")
    before = rank_files(format, folder, folder.stem) if folder.is_dir() else []
    stale = [file.name for _, file in before if file.name not in files]
    write_folder(folder, files, stale=stale)
