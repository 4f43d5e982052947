"""Schedules of processes: what they hold, whether they can come to their end, other formats."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flyloom._core import (
    RefusalError,
    Workload,
    dumpi_counts,
    dumpi_meta_text,
    dumpi_rewritten,
    workload_best,
    workload_dumpi,
    workload_list,
)
from flyloom.inputs.applications import made, own_application
from flyloom.inputs.tables import Tables
from flyloom.inputs.workloads import Scheduled, dumpi_files, dumpi_meta, traced, workload
from flyloom.plugins.found import users
from flyloom.support.files import write_folder, write_whole
from flyloom.support.progress import Progress
from flyloom.support.reading import read_bytes, read_text
from flyloom.support.results import Result
from flyloom.verbs.simulation import Routed, over_network, spec_of

FORMATS = (".goal", ".bin", ".dumpi")
"""Ends of names: GOAL as text, GOAL in binary, a folder with a trace of DUMPI."""


def workloads() -> list[Result]:
    """What :func:`make_workload` makes: ``name``, ``kind`` (``collective`` or ``application``),
    ``doc`` and ``keys``, each with ``name``, ``doc`` and ``default``, None where a value must be
    given."""
    own = [
        {"name": row["name"], "kind": row["kind"], "doc": row["doc"], "keys": row["params"]}
        for row in users("application")
    ]
    return [Result(row) for row in [*workload_list(), *own]]


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
) -> Result:
    """Writes a collective operation or an application as a trace of DUMPI: a folder, ``path``,
    which ends in ``.dumpi``.

    It is what :func:`convert_workload` writes of :func:`make_workload`, but that collective
    operations of all ranks are calls of MPI, whose algorithm is chosen where the trace is read.
    Fields and refusals: as of these two.
    """
    place = Path(path)
    if place.suffix != ".dumpi":
        raise RefusalError(f"{place}: a trace is a folder of DUMPI; end it in .dumpi")
    if own_application(name) is not None:
        return convert_workload(made(name, parameters, progress), place, progress=progress)
    return _write_dumpi(place, *workload_dumpi(name, _with_matrix(parameters), progress))


def _with_matrix(parameters: Mapping[str, Any]) -> dict[str, Any]:
    given = dict(parameters)
    if isinstance(given.get("matrix"), str | os.PathLike):
        given["matrix"] = matrix_rows(given["matrix"])
    elif hasattr(given.get("matrix"), "tolist"):
        given["matrix"] = given["matrix"].tolist()
    return given


def matrix_rows(path: str | os.PathLike[str]) -> list[list[int]]:
    """The rows of a file of whole numbers, a line each, with commas or blanks between them.

    Raises ``RefusalError`` with the file and the line at fault.
    """
    rows = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        words = line.replace(",", " ").split()
        if not words:
            continue
        if strange := next((word for word in words if not word.isdecimal()), None):
            raise RefusalError(
                f"{os.fspath(path)}: line {number}: {strange!r} is no whole number; bytes, a "
                f"column for each rank"
            )
        rows.append([int(word) for word in words])
    return rows


def traced_workload(
    source: str | os.PathLike[str], *, progress: Progress | None = None, **options: Any
) -> Workload:
    """The schedule of a trace: of MPI by liballprof or DUMPI, or of Chakra (docs/traces.md).

    Parameters
    ----------
    source
        A folder with a file for every rank, the file of rank 0, or the ``.meta`` of DUMPI.
    options
        Of MPI ``scale_compute``, ``copies``, ``unknown_requests``, ``add_ns_per_kib``, of
        liballprof ``mpi`` and ``request_bytes``; of Chakra ``gflops``, ``compute_percent``,
        ``overlap``; of all the algorithm of each collective operation: ``allreduce="ring"``.

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
        A schedule, or a file of GOAL.
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
    ranks: int | Sequence[int],
    bytes: int | Sequence[int],
    net: Tables | None = None,
    engine: str | None = None,
    lmc: int | None = None,
    layers: int | None = None,
    engine_options: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    **parameters: Any,
) -> list[Result]:
    """Which algorithm of a collective operation is quickest, alone or over a network: each is run
    for every number of ranks and of bytes.

    Parameters
    ----------
    operation
        As the names of its algorithms begin: ``"allreduce"``, ``"barrier"``, ...
    ranks, bytes
        One number or several.
    net
        The network that messages go over, or tables; none: they take ``L`` and ``G`` of ``costs``.
    engine, lmc, layers, engine_options, settings, parameters
        As of :func:`flyloom.simulate` at level ``"message"``: ``costs``, ``placement``, ...
    progress
        Called with ``(what, done, total)``.

    A row has ``ranks``, ``bytes``, ``algorithm`` (with its own parameter where several values are
    tried), ``finish_ns``, and ``all``: the algorithms from the quickest on, each with
    ``algorithm``, ``finish_ns`` and ``model_ns``, what the formula of the n-way barrier says (None
    for others, over a network, and where it does not hold). Raises ``RefusalError`` for an
    operation that there is not and numbers that cannot be.
    """
    spec = spec_of("message", settings, parameters)
    routed = Routed(engine, lmc, layers, engine_options, progress)
    on, where = over_network(net, routed, spec)
    asked = {**spec, "operation": operation, "ranks": _numbers(ranks), "bytes": _numbers(bytes)}
    return [Result(row) for row in workload_best(asked, on, where, progress)]


def _numbers(given: int | Sequence[int]) -> list[int]:
    return [given] if isinstance(given, int) else list(given)


def check_workload(source: Scheduled, *, progress: Progress | None = None) -> Result:
    """What a schedule holds, and whether it can come to its end; what a trace of DUMPI holds.

    Fields: ``ranks``, ``operations``, ``sends``, ``receives``, ``calculations``, ``dependencies``,
    ``cpus`` and ``nics`` of every rank, ``sent_bytes``, ``calculated_ns``; ``circle``: operations
    that wait for one another, each for the one before and the first for the last, empty where there
    are none; ``complete``, and ``left``: why it cannot come to its end, None where it can. The end
    is tried by a run without cost (all of LogGOPS's parameters 0), which sends nothing before its
    receive is there.

    Of a trace of DUMPI, named by its folder or its ``.meta``: ``ranks``, ``version`` of the format,
    ``calls`` by name, ``messages`` between two processes and their ``bytes``, ``records`` in the
    files, and ``left_out``, calls that were made and are not in them (docs/traces.md).
    """
    from flyloom._core import simulate_message

    if not isinstance(source, Workload) and (meta := dumpi_meta(Path(source))) is not None:
        files = dumpi_files(meta)
        contents = [read_bytes(file) for file in files]
        return Result(dumpi_counts([str(file) for file in files], contents, progress))

    given = workload(source, progress)
    circle, left = given.circle(), None
    free = {"L": 0, "o": 0, "g": 0, "G": 0, "O": 0, "S": 2**32 - 1}
    try:
        simulate_message(given, {"costs": free}, progress=progress)
    except RefusalError as error:
        left = error.why
    return Result({**given.counts(), "circle": circle, "complete": left is None, "left": left})


def convert_workload(
    source: Scheduled, path: str | os.PathLike[str], *, progress: Progress | None = None
) -> Result:
    """Writes a schedule: as GOAL in text where ``path`` ends in ``.goal``, in binary, as LogGOPSim
    reads it, where it ends in ``.bin``, and as a trace of DUMPI, a folder, where it ends in
    ``.dumpi`` (docs/traces.md). A trace of DUMPI that is named keeps its calls there.

    Fields: ``path``, ``ranks``, ``operations`` (of a trace the calls), ``bytes`` written; of a
    schedule that becomes a trace, ``at_once``: ranks that do several things at the same time, which
    come one after another there, so that the run may end at another time.
    """
    place = Path(path)
    if place.suffix not in FORMATS:
        help_ = "end it in .goal, .bin or .dumpi"
        raise RefusalError(f"{place}: what it is to be is not said; {help_}")
    if place.suffix == ".dumpi" and not isinstance(source, Workload) and (
        meta := dumpi_meta(Path(source))
    ) is not None:
        ranks = dumpi_files(meta)
        contents = [read_bytes(file) for file in ranks]
        return _write_dumpi(
            place, *dumpi_rewritten([str(file) for file in ranks], contents, progress))
    given = workload(source, progress)
    if place.suffix == ".dumpi":
        return _write_dumpi(place, *given.dumpi_files(progress))
    content = given.text().encode() if place.suffix == ".goal" else given.binary()
    write_whole(place, content)
    counts = given.counts()
    return Result({
        "path": str(place), "ranks": counts["ranks"], "operations": counts["operations"],
        "bytes": len(content),
    })


def _write_dumpi(folder: Path, contents: list[bytes], calls: int, at_once: int) -> Result:
    """Writes the files of a trace, ``NAME.meta`` and one for each rank, into NAME.dumpi.

    Raises ``RefusalError`` for a place that is no folder, and for one with another run in it.
    """
    prefix = folder.stem
    if folder.is_dir() and (others := {
        file.name for file in folder.glob("*.meta")
    } - {f"{prefix}.meta"}):
        raise RefusalError(f"{folder}: another run is in it, {min(others)}; another folder")
    files: dict[str, str | bytes] = {
        f"{prefix}-{rank:04}.bin": content for rank, content in enumerate(contents)
    }
    size = sum(map(len, contents))
    files[f"{prefix}.meta"] = dumpi_meta_text(prefix, len(contents))
    stale = [
        file.name for file in sorted(folder.glob("*.bin"))
        if re.fullmatch(re.escape(prefix) + r"-\d+\.bin", file.name) and file.name not in files
    ] if folder.is_dir() else []
    write_folder(folder, files, stale=stale)
    return Result({
        "path": str(folder), "ranks": len(contents), "operations": calls, "bytes": size,
        "at_once": at_once,
    })
