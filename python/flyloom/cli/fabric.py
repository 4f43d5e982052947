"""Commands that load tables into a fabric: deploy, opensm-plugin."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flyloom.cli import completion
from flyloom.cli.common import (
    NET_HELP,
    DryRun,
    Json,
    NewLids,
    P,
    app,
    emit,
    epilog,
    load_network,
    make_routing,
)
from flyloom.cli.groups import TableOptions, grouped

if TYPE_CHECKING:
    from flyloom._core import Routing
    from flyloom.support.progress import Progress

DEFAULT = "dfsssp"


@dataclass(frozen=True)
class CurrentTableOptions:
    """The tables that are in the fabric now."""

    current: Annotated[
        str | None,
        typer.Option("--current", metavar="TABLES", autocompletion=completion.tables,
                     help="tables in the fabric now: a folder, or a dump_fts file with --found"),
    ] = None
    found: Annotated[
        Path | None,
        typer.Option("--found", autocompletion=completion.found,
                     help="ibnetdiscover output of the fabric of a dump_fts file"),
    ] = None
    levels: Annotated[
        Path | None, typer.Option("--path-records", help="path records of that fabric")
    ] = None
    sl2vl: Annotated[
        Path | None, typer.Option("--sl2vl", help="opensm-sl2vl.dump of that fabric")
    ] = None

    def read(self) -> Any:
        """Reads these tables; None if none are given."""
        from flyloom._core import RefusalError
        from flyloom.deploy.changes import read_current

        if self.current is None:
            if self.found or self.levels or self.sl2vl:
                raise RefusalError("--found, --path-records, --sl2vl: of tables in the fabric; give"
                                   " --current with them")
            return None
        return read_current(self.current, self.found, self.levels, self.sl2vl)


@app.command(epilog=epilog(
    "flyloom deploy slim_fly:q=5,p=4 -e dfsssp --lmc 2",
    "flyloom deploy repaired/ --current tables/ --dry-run",
))
@grouped
def deploy(
    source: Annotated[
        str,
        typer.Argument(metavar="TABLES|NET", show_default=False, autocompletion=completion.tables,
                       help=f"folder of `route -o` or `repair -o`; {NET_HELP}"),
    ],
    engine: Annotated[
        str | None,
        typer.Option("--engine", "-e", show_default=False, autocompletion=completion.engine,
                     help=f"engine for a network (flyloom list engines); default: {DEFAULT}"),
    ] = None,
    *,
    tables: TableOptions,
    new_lids: NewLids = False,
    oracle: Annotated[
        bool, typer.Option("--oracle", help="let ibdmchk judge the tables too")
    ] = False,
    p: P = None,
    dry_run: DryRun = False,
    loaded: CurrentTableOptions,
    as_json: Json = False,
) -> None:
    """Load tables into OpenSM on a simulated fabric, read them back, compare and prove them."""
    from flyloom.deploy.changes import changes, summary
    from flyloom.support.progress import bars

    given = {"engine": engine, "lmc": tables.lmc, "layers": tables.layers, "option": tables.option,
             "new-lids": new_lids or None, "endpoints-per-switch": p}
    now = loaded.read()
    with bars() as bar:
        routing = wanted_tables(source, given, bar)
        if dry_run:
            proof = routing.measure("verify", progress=bar)
    planned = changes(routing, now).to_dict() if dry_run or now else None
    if not dry_run:
        if planned and not as_json:
            emit({}, False, summary(planned))
        raise typer.Exit(load(routing, oracle, as_json, planned))
    holds = proof["holds"]
    about = [("network", routing.topology.recipe), ("engine", routing.engine),
             ("LMC", routing.lmc), ("verified", holds)]
    document = {key.lower(): value for key, value in about}
    emit({**document, **(planned or {})}, as_json, about + summary(planned or {}))
    raise typer.Exit(0 if holds else 1)


@app.command("opensm-plugin", epilog=epilog("flyloom opensm-plugin -o /usr/local/lib"))
def opensm_plugin(
    output: Annotated[Path, typer.Option("-o", "--out", help="folder for the library")],
    as_json: Json = False,
) -> None:
    """Build OpenSM's routing plug-in for the OpenSM whose headers are installed here."""
    from flyloom.deploy import plugin

    found = [("library", str(plugin.build(output))), ("for", plugin.opensm_version())]
    emit(dict(found), as_json, found)


def wanted_tables(source: str, given: dict[str, Any], bar: Progress | None) -> Routing:
    """The tables to load: those of a folder, beside which no other option is allowed, or those that
    an engine makes for a network."""
    from flyloom._core import RefusalError
    from flyloom.deploy.live import check_deployable
    from flyloom.inputs.tables import read_folder

    if os.path.isdir(source):
        options = [f"--{name}" for name, value in given.items() if value is not None]
        if options:
            raise RefusalError(f"{', '.join(options)}: {source} has tables already; give a network"
                               " to route, or the folder alone")
        topology, routing = read_folder(Path(source))
        check_deployable(topology)
        return routing
    if os.path.isfile(source) and is_table_file(source):
        raise RefusalError(f"{source}: a table file alone has no network; give its folder")
    topology = load_network(source, given["endpoints-per-switch"])
    check_deployable(topology)
    lmc = given["lmc"]
    if lmc is not None and 0 <= lmc <= 7:
        topology.with_new_lids(lmc)  # too many LIDs are refused before the work, not after
    return make_routing(
        topology, given["engine"] or DEFAULT, lmc, given["layers"], given["option"], bar,
        new_lids=bool(given["new-lids"]),
    )


def is_table_file(path: str) -> bool:
    """Whether a file begins as those do that the plug-in reads."""
    with open(path, "rb") as file:
        return file.read(len(MARK)) == MARK


MARK = b"flyloom-tables "
PARTS = ("entries", "sl_entries", "sl2vl_entries")


def load(routing: Routing, oracle: bool, as_json: bool, planned: dict[str, Any] | None) -> int:
    """Loads tables, reads them back and prints the result; returns the exit code."""
    from flyloom.deploy.fabric import deploy as load_and_read
    from flyloom.lab.lines import deploy_line
    from flyloom.support.progress import bars

    if remark := routing.topology.netlist_remark:
        print(f"the simulated fabric: {remark}", file=sys.stderr)
    with bars() as bar:
        def say(line: str) -> None:
            bar(line, 0, 1)  # removes the bar of the stage
            print(line, file=sys.stderr)

        found = load_and_read(
            routing, oracle=oracle, say=None if as_json else say, progress=bar
        ).to_dict()
    recipe = routing.topology.recipe
    lines = [("network", recipe), ("engine", routing.engine), ("LMC", routing.lmc)]
    for part in PARTS:
        lines.append((part.replace("_", " "), found[part]))
        lines.append(("  differing", found[f"differing_{part}"]))
    lines += [
        ("verified as sent", found["verified_as_sent"]),
        ("verified as read back", found["verified"]), ("deadlock-free", found["deadlock_free"]),
        ("ibdmchk", found["oracle"]), ("OpenSM", found["opensm_version"]),
        ("seconds", found["seconds"]),
    ]
    document = {"network": recipe, "engine": routing.engine, "lmc": routing.lmc, **found}
    if planned:
        document["planned"] = planned
    emit(document, as_json, lines)
    if not as_json:
        print(deploy_line(found))
        for line in found["differences"] + found["counterexample"]:
            print(f"  {line}")
    same = all(found[f"differing_{part}"] == 0 for part in PARTS)
    return 0 if same and found["verified"] else 1
