"""The command that says which network a file is: identify."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from flyloom.cli.common import Json, Net, P, app, emit, epilog, load_network

SHOWN = 20
"""Lines of differences that are printed, at most."""


@app.command("identify", epilog=epilog(
    "flyloom identify fabric.txt",
    "flyloom identify fabric.txt --top 5 --json",
))
def identify(
    source: Net,
    top: Annotated[
        int, typer.Option(help="only this number of rows: members of families, the nearest first")
    ] = 3,
    p: P = None,
    as_json: Json = False,
) -> None:
    """Say which family with which parameters a fabric is, and what is missing or extra."""
    from flyloom.support.progress import bars
    from flyloom.verbs.identifying import identify as ask

    with bars() as bar:
        found = ask(load_network(source, p), top=top, progress=bar).to_dict()
    emit(found, as_json, [(key, found[key]) for key in
                          ("network", "switches", "endpoints", "links")])
    if not as_json:
        for line in lines(found["members"]):
            print(line)
    raise typer.Exit(0 if found["members"] else 1)


def lines(members: list[dict[str, Any]]) -> list[str]:
    """What the members nearest to a network say of it."""
    if not members:
        return ["no family has a member that is near"]
    first, *others = members
    said = [f"this is {first['words']}"]
    if first["also"]:
        said.append(f"the same as {', '.join(first['also'])}")
    listed = list(different(first))
    said += listed[:SHOWN]
    if len(listed) > SHOWN:
        said.append(f"and {len(listed) - SHOWN:,} more (--json has all)")
    said += [f"or {one['words']} ({one['differences']:,} differences)" for one in others]
    return said


def different(member: dict[str, Any]) -> list[str]:
    """A line for each difference."""
    def cable(ends: list[str]) -> str:
        return " - ".join(ends)

    return [
        *(f"missing switch, {name} of the plan" for name in member["missing_switches"]),
        *(f"extra switch {name}" for name in member["extra_switches"]),
        *(f"swapped cables {cable(a)} and {cable(b)}" for a, b in member["swapped_cables"]),
        *(f"wrong cable {cable(is_)}: should be {cable(should)}"
          for is_, should in member["moved_cables"]),
        *(f"missing cable {cable(ends)}" for ends in member["missing_cables"]),
        *(f"extra cable {cable(ends)}" for ends in member["extra_cables"]),
        *(f"missing endpoints at {name}: {n}" for name, n in member["missing_endpoints"]),
        *(f"extra endpoints at {name}: {n}" for name, n in member["extra_endpoints"]),
    ]
