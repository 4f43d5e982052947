"""The command record: who sends how much to whom of an MPI program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flyloom.cli.common import MpiProgram, app, epilog


@app.command(
    "record", context_settings={"allow_interspersed_args": False},
    epilog=epilog(
        "flyloom record -o app.mtx -- mpirun -n 8 ./app input",
        "flyloom record -o app.mtx --no-collectives -- mpiexec -n 8 ./app",
        "flyloom record --library",
    ),
)
def record(
    program: MpiProgram = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--out", show_default=False,
                     help="file: bytes by pair as Matrix Market, for map --graph"),
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
    """Runs an MPI program as it is, and records who sends how much to whom.

    The program's exit code is passed on. Collectives count as the messages of one algorithm each
    (docs/mapping.md). The recorder is built by the mpicc of the MPI that starts the program.
    """
    from flyloom._core import RefusalError
    from flyloom.cli import say
    from flyloom.ranks import recorder

    words = program or []
    if library:
        print(recorder.built(words))
        return
    if output is None:
        raise RefusalError("-o: where is the record to go? flyloom record -o FILE -- PROGRAM")
    before = recorder.writing(output)
    code = recorder.run(words, output, messages, not no_collectives)
    if recorder.writing(output) == before:
        say(f"{output}: nothing was recorded: the program did not come to MPI_Finalize, or is not"
            " of the MPI whose mpicc built the recorder (FLYLOOM_MPICC names another), or is"
            " linked statically")
    raise typer.Exit(code)
