"""The command record: who sends how much to whom of an MPI program, and the schedule of its
calls."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from flyloom.cli.common import MpiProgram, app, epilog


@app.command(
    "record", context_settings={"allow_interspersed_args": False},
    epilog=epilog(
        "flyloom record -o app.mtx -- mpirun -n 8 ./app input",
        "flyloom record -o app.goal -- mpirun -n 8 ./app input",
        "flyloom record -o app.mtx --goal app.goal --set allreduce=ring -- mpirun -n 8 ./app",
        "flyloom record -o app.mtx --no-collectives -- mpiexec -n 8 ./app",
        "flyloom record --library",
    ),
)
def record(
    program: MpiProgram = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--out", show_default=False,
                     help="file: bytes by pair as Matrix Market, for map --graph; a schedule where"
                          " its end is that of one (.goal, .bin, .dumpi)"),
    ] = None,
    goal: Annotated[
        Path | None,
        typer.Option("--goal", metavar="FILE", show_default=False,
                     help="the schedule, too: what each rank sends, receives and computes, as GOAL,"
                          " for sim message, sim packet and map"),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", show_default=False,
                     help="of the schedule: the algorithm of a collective (allreduce=ring),"
                          " scale_compute, add_ns_per_kib"),
    ] = None,
    messages: Annotated[
        Path | None,
        typer.Option("--message-counts", metavar="FILE", show_default=False,
                     help="numbers of messages by pair, too, as Matrix Market"),
    ] = None,
    no_collectives: Annotated[
        bool, typer.Option("--no-collectives", help="leave out what collectives send")
    ] = False,
    library: Annotated[
        bool,
        typer.Option("--library",
                     help="print the path of the recorder, for LD_PRELOAD in a batch script, and"
                          " run nothing"),
    ] = False,
) -> None:
    """Runs an MPI program as it is, and records who sends how much to whom, or its schedule.

    The program's exit code is passed on; 3 where it is 0 and nothing was recorded. Collectives
    count as the messages of one algorithm each (docs/mapping.md). The recorder is built by the
    mpicc of the MPI that starts the program.
    """
    from flyloom._core import RefusalError
    from flyloom.inputs.workloads import written_as
    from flyloom.ranks import preload, recorder

    words = program or []
    if library:
        print(recorder.built(words))
        return
    if output is None and goal is None:
        raise RefusalError("-o: where is the record to go? flyloom record -o FILE -- PROGRAM")
    matrix = output if output is not None and written_as(output) is None else None
    schedules = [(option, place) for option, place in (("-o", output), ("--goal", goal))
                 if place is not None and place != matrix]
    code = 0
    if schedules:
        code = _scheduled(words, matrix, messages, schedules, settings, not no_collectives)
    elif settings:
        raise RefusalError("--set: of a schedule, and there is none; --goal FILE, or -o FILE.goal")
    else:
        code, written = _counted(words, matrix, messages, not no_collectives)
        code = code or (0 if written else preload.NOTHING_SEEN)
    raise typer.Exit(code)


NOTHING = (
    "nothing was recorded: the program did not come to {}, or is not of the MPI whose mpicc built"
    " the recorder (FLYLOOM_MPICC names another), or is linked statically"
)


def _counted(
    words: list[str], matrix: Path | None, messages: Path | None, collectives: bool,
    calls: Path | None = None,
) -> tuple[int, bool]:
    """Runs the program, and says where its matrix was not written: the program's exit code, and
    whether there is a matrix where one was asked for."""
    from flyloom.cli import say
    from flyloom.ranks import recorder

    before = None if matrix is None else recorder.writing(matrix)
    code = recorder.run(words, matrix, messages, collectives, calls)
    if matrix is not None and recorder.writing(matrix) == before:
        say(f"{matrix}: {NOTHING.format('MPI_Finalize')}")
        return code, False
    return code, True


def _scheduled(
    words: list[str], matrix: Path | None, messages: Path | None,
    schedules: list[tuple[str, Path]], settings: list[str] | None, collectives: bool,
) -> int:
    """Runs the program, and writes the schedules of its calls."""
    from flyloom.cli import say
    from flyloom.cli.common import parsed_options
    from flyloom.ranks import preload
    from flyloom.support.files import scratch
    from flyloom.verbs.recordings import recorded_ranks

    given = parsed_options(settings, "a schedule", flag="--set")
    preload.check_program(words, "flyloom record --goal FILE -- mpirun -n 8 ./program")
    for option, place in schedules:
        _check(option, place, given)
    # beside the schedule, where processes on other hosts find it as well
    with scratch(schedules[0][1].absolute().parent) as folder:
        code, _ = _counted(words, matrix, messages, collectives, folder)
        if recorded_ranks(folder) == 0:
            for _, place in schedules:
                say(f"{place}: {NOTHING.format('the end of MPI_Init')}")
            return code or preload.NOTHING_SEEN
        _write(folder, schedules, given)
    return code


def _check(option: str, place: Path, given: dict[str, Any]) -> None:
    """RefusalError for what can be known before the program runs."""
    from flyloom._core import RefusalError
    from flyloom.inputs.workloads import formats, written_as, written_ends
    from flyloom.ranks import recorder
    from flyloom.support.refused import none_such

    format = written_as(place)
    if format is None:
        raise RefusalError(f"{option} {place}: no schedule has such a name; end it in"
                           f" {written_ends()}")
    if not format["writes"]["folder"]:
        recorder.check(option, place)
    known = next(row for row in formats() if row["name"] == "recorded")["keys"]
    for key in given:
        if key not in (names := [row["name"] for row in known]):
            raise none_such("--set", key, names)


def _write(folder: Path, schedules: list[tuple[str, Path]], given: dict[str, Any]) -> None:
    """Writes the schedules of calls; keeps the calls where there is none."""
    import shutil

    from flyloom._core import RefusalError
    from flyloom.cli import say
    from flyloom.support.progress import bars
    from flyloom.verbs.recordings import recorded_workload
    from flyloom.verbs.workloads import convert_workload

    try:
        with bars() as bar:
            made, remarks = recorded_workload(folder, given, bar)
            for _, place in schedules:
                convert_workload(made, place, progress=bar)
    except RefusalError:
        kept = schedules[0][1].with_name(f"{schedules[0][1].name}.calls")
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(folder, kept)
        say(f"{kept}: the calls are kept; flyloom workload convert {kept} FILE.goal")
        raise
    for _, place in schedules:
        for remark in remarks:
            say(f"{place}: {remark}")
