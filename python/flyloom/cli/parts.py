"""`flyloom list`: everything that is asked for by its name."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from flyloom.cli.common import Json, app, epilog, print_table

SECTIONS = ("sections", "sections of a report, each where it has something")


CALLED = {
    "families": "topologies", "networks": "topologies", "patterns": "traffic", "presets": "costs",
    "collectives": "workloads", "applications": "workloads", "kinds": "",
}
"""Other words for kinds; all kinds by none."""


def kinds() -> dict[str, str]:
    """Every kind and what it is: those of the core, and the files of the report."""
    from flyloom.plugins import lists

    return {**lists.kinds(), SECTIONS[0]: SECTIONS[1]}


def rows_of(kind: str) -> list[dict[str, Any]]:
    """The parts of a kind; of sections in their order on the page."""
    from flyloom.plugins import lists

    if kind != SECTIONS[0]:
        return lists.rows(kind)
    from flyloom.report import section

    return [{"kind": "section", "name": one.name, "doc": one.doc} for one in section.sections()]


def complete(incomplete: str) -> list[str]:
    """The kinds that a word can become."""
    from flyloom.cli import completion

    return completion.fitting(incomplete, kinds())


@app.command("list", epilog=epilog("flyloom list topologies", "flyloom list traffic"))
def list_parts(
    what: Annotated[
        str,
        typer.Argument(metavar="KIND", autocompletion=complete,
                       help="topologies, engines, measures, traffic, ...; left out, the kinds"),
    ] = "",
    as_json: Json = False,
) -> None:
    """List topologies, engines, measures, traffic and all else that is asked for by its name."""
    from flyloom._core import RefusalError

    known = kinds()
    what = CALLED.get(what, what)
    if what and what not in known:
        from flyloom.support.refused import hint

        near = hint(what, known)
        raise RefusalError(f"list: there is no '{what}'; {near}{', '.join(known)}")
    asked = {kind: rows_of(kind) for kind in known if what in ("", kind)}
    if as_json:
        print(json.dumps([row for rows in asked.values() for row in rows]))
        return
    if not what:
        table = [[kind, str(len(rows)), known[kind]] for kind, rows in asked.items()]
        print_table(["kind", "how many", "what"], table, left={0, 2})
        print("flyloom list KIND lists them, with their parameters.")
        return
    for row in asked[what]:
        print_row(row)


def print_row(row: dict[str, Any]) -> None:
    """A part, its parameters and its columns."""
    whose = f" (plug-in, {row['plugin']})" if "plugin" in row else ""
    takes = row.get("takes", "")
    takes = f" {takes}" if takes[:1].isalpha() else takes
    print(f"{row['kind']} {row['name']}{takes}{whose}: {row['doc'].replace('`', '')}")
    for param in row.get("params", []):
        need = "required" if param["required"] else "optional"
        kind = f"{param['type']}, " if "type" in param else ""
        print(f"    {param['name']} ({kind}{need}): {param['doc']}")
    for column in row.get("columns", []):
        unit = f" [{column['unit']}]" if column["unit"] else ""
        print(f"    column {column['name']}{unit}: {column['meaning']}")
