"""The command sim booksim: configurations of BookSim, run by the flit level."""

from __future__ import annotations

from typing import Annotated

import typer

from flyloom.cli.common import Json, Width, epilog
from flyloom.cli.simulators import Output, Threads, by_options, check_output, end, sims


@sims.command(epilog=epilog(
    "flyloom sim booksim mesh.cfg", "flyloom sim booksim slim_fly.cfg injection_rate=0.5 --json",
))
def booksim(
    given: Annotated[
        list[str],
        typer.Argument(metavar="CONFIG [KEY=VALUE ...]", show_default=False,
                       help="configuration of BookSim, and keys that are different"),
    ],
    unverified: Annotated[
        bool, typer.Option("--unverified", help="run also what is not proved free of deadlock")
    ] = False,
    threads: Threads = None,
    output: Output = None,
    width: Width = None,
    as_json: Json = False,
) -> None:
    """Run a configuration of BookSim: the same network, routers, traffic and sampling."""
    from flyloom.support.progress import bars
    from flyloom.verbs.booksim import booksim as simulate

    check_output(output, "flit", width)
    with bars() as bar, by_options({"threads"}):
        found = simulate(*given, unverified=unverified, threads=threads, progress=bar).to_dict()
    if not as_json:
        for note in found["notes"]:
            print(f"note: {note['place']}: {note['key']}: {note['why']}")
    end("flit", found, (output, width), None, as_json)
