"""The command that gives routes their virtual lanes, and tells how many each method needs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from flyloom.cli import completion
from flyloom.cli.common import LANES_HELP, Json, NewLids, Tables, app, emit, epilog, print_table
from flyloom.cli.groups import RouteOptions, grouped
from flyloom.cli.parameters import defaults
from flyloom.cli.parameters import option as declared
from flyloom.cli.routes import report_proof, tables_of, write_tables

NEEDED = defaults("lanes_needed")


@dataclass(frozen=True)
class LaneOptions:
    """The method that gives routes their lanes."""

    method: Annotated[
        str | None,
        typer.Option("--lanes", metavar="METHOD", help=LANES_HELP,
                     autocompletion=completion.lanes),
    ] = None
    max_lanes: Annotated[int, typer.Option(help="most data lanes, 1 to 15")] = 8
    balance: Annotated[
        bool, typer.Option("--balance", help="deal the paths to all lanes allowed")
    ] = False
    seed: Annotated[int, declared("lanes_needed", "seed")] = NEEDED["seed"]


@app.command(epilog=epilog(
    "flyloom lanes slim_fly:q=5,p=4 -e layered --layers 4",
    "flyloom lanes tables/ --lanes hops --max-lanes 8 --balance -o relaned/",
))
@grouped
def lanes(
    source: Tables,
    *,
    routes: RouteOptions,
    laning: LaneOptions,
    new_lids: NewLids = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--out", help="with --lanes: folder, as of `route -o`")
    ] = None,
    as_json: Json = False,
) -> None:
    """How many lanes each method needs for given routes; or the routes on lanes by one method."""
    from flyloom._core import RefusalError
    from flyloom.support.checks import whole
    from flyloom.support.progress import bars
    from flyloom.verbs.routes import spread

    method, seed = laning.method, laning.seed
    whole("--max-lanes", laning.max_lanes, 1, 15)
    if output and method is None:
        raise RefusalError("-o: writes tables with new lanes; give --lanes with it")
    with bars() as bar:
        topology, routing, name = tables_of(
            source, routes.engine, routes.lmc, routes.layers, routes.option, bar, default="sssp",
            new_lids=new_lids or (False if output else None),
        )
        if method is not None:
            routing = spread(
                routing, method, max_lanes=laning.max_lanes, balance=laning.balance, seed=seed,
                progress=bar,
            )
            proof, load = routing.measure("verify", progress=bar), routing.measure("edge_load")
    if method is None:
        with bars() as bar:
            rows = routing.measure("lanes_needed", {"seed": seed}, bar)["methods"]
        document = {
            "network": topology.recipe, "engine": name, "lmc": routing.lmc,
            "layers": routing.layers, "seed": seed, "methods": rows,
        }
        if as_json:
            emit(document, True, [])
            return
        cells = [
            (r["method"], r["lanes"], r["service_levels"], r.get("why", "")) for r in rows
        ]
        print_table(("method", "lanes", "service levels", ""), cells, left=(0, 3))
        return
    if output:
        write_tables(topology, routing, output)
    report_proof(topology, routing, name, proof, load, as_json)
    raise typer.Exit(0 if proof["holds"] else 1)
