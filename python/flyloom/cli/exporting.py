"""The command that writes files for other programs: export."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flyloom.cli import completion
from flyloom.cli.common import Json, P, Rules, app, emit, epilog, parsed_options

if TYPE_CHECKING:
    from flyloom.support.results import Result


@app.command(epilog=epilog(
    "flyloom export fat_tree:levels=3,k=8 --to slurm-tree -o topology.conf",
    "flyloom export tables/ --to simgrid -o platform.xml",
))
def export(
    source: Annotated[
        str | None,
        typer.Argument(metavar="NET|TABLES", show_default=False, autocompletion=completion.tables,
                       help="a network, a folder of `route -o`, or a digraph of ORCS"),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="FORMAT", show_default=False,
                     autocompletion=completion.export_format,
                     help="flyloom export --list: slurm-tree, simgrid, booksim-anynet, ..."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="the file; without, it is printed"),
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", "-O", help="KEY=VALUE, an option of the format")
    ] = None,
    floor: Annotated[
        bool | None,
        typer.Option("--floor/--no-floor", show_default=False,
                     help="places, and lengths of cables that the network does not know, by the"
                          " floor plan; default: only for graphml"),
    ] = None,
    rules: Rules = None,
    p: P = None,
    listed: Annotated[bool, typer.Option("--list", help="list the formats")] = False,
    as_json: Json = False,
) -> None:
    """Write a network or its routes as a file for a scheduler, a simulator or a manager."""
    from flyloom._core import RefusalError
    from flyloom.verbs.exporting import export as exported
    from flyloom.verbs.exporting import export_formats

    if listed:
        if source is not None or to is not None:
            raise RefusalError("--list: stands alone; without NET and --to")
        show(export_formats(), as_json)
        return
    if source is None:
        raise RefusalError("NET|TABLES: missing; name a network, or see `flyloom export --list`")
    if to is None:
        names = ", ".join(row["name"] for row in export_formats())
        raise RefusalError(f"--to: missing; {names}")
    if rules is not None and floor is False:
        raise RefusalError("--rules: of the floor plan that --no-floor leaves out")
    options = parsed_options(option, "a format", ("source", "to", "path", "floor", "p"))
    done = exported(source, to, output, floor=rules or floor, p=p, **options)
    if as_json:
        emit(done.to_dict(), True, [])
    elif output is None:
        print(done["text"], end="")
    else:
        beside = f", beside it {', '.join(done['beside'])}" if "beside" in done else ""
        print(f"{done['lines']:,} lines of {to} written to {output}{beside}")


def show(formats: Sequence[Result], as_json: bool) -> None:
    """Prints the formats with their options."""
    if as_json:
        emit({"formats": [row.to_dict() for row in formats]}, True, [])
        return
    for row in formats:
        print(f"{row['name']}\n  {row['title']}\n  networks: {row['networks']}")
        for option in row["options"]:
            print(f"  -O {option['name']}=  {option['doc']}")
