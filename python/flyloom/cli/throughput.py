"""The command throughput: the most of a traffic that a network, or an engine's tables, carry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from flyloom.cli import completion
from flyloom.cli.busiest import BusiestCsv, after_figures
from flyloom.cli.common import Json, P, Tables, app, emit, epilog, load_tables, parsed_options
from flyloom.cli.groups import TableOptions, grouped
from flyloom.cli.parameters import defaults
from flyloom.cli.parameters import option as declared

EBB = defaults("ebb")


@dataclass(frozen=True)
class FlowOptions:
    """How the largest flow is found, and what is listed of it."""

    epsilon: Annotated[
        float | None,
        typer.Option(help="bounds so far apart at most, 0.005 to 1, in place of a linear program"),
    ] = None
    elephants: Annotated[float, typer.Option(help="fraction of the flows that is large")] = 0.1
    seed: Annotated[int, typer.Option(help="seed of the draw of the large flows")] = 0
    top: Annotated[int, declared("ebb", "top")] = EBB["top"]


@app.command(epilog=epilog(
    "flyloom throughput slim_fly:q=5,p=4",
    "flyloom throughput slim_fly:q=19 --traffic longest_matching --epsilon 0.05",
    "flyloom throughput slim_fly:q=7 --engine layered --layers 4 --epsilon 0.05",
))
@grouped
def throughput(
    net: Tables,
    traffic: Annotated[
        str,
        typer.Option(autocompletion=completion.traffic,
                     help="traffic: uniform, longest_matching, elephant, a pattern, or a file (CSV"
                          " of pairs, matrix as text, .npy, .npz or .mtx)"),
    ] = "uniform",
    engine: Annotated[
        str | None,
        typer.Option("--engine", "-e", help="over this engine's tables alone",
                     autocompletion=completion.engine),
    ] = None,
    *,
    how: FlowOptions,
    tables: TableOptions,
    p: P = None,
    csv: BusiestCsv = None,
    as_json: Json = False,
) -> None:
    """Maximum achievable throughput: the largest multiple of the traffic that can be routed."""
    from flyloom.support.checks import whole
    from flyloom.support.progress import bars
    from flyloom.verbs.throughput import throughput as measure

    whole("--seed", how.seed, 0, 2**64 - 1)
    whole("--top", how.top, 0, 2**32 - 1)
    source = load_tables(net, p)
    with bars() as bar:
        found = measure(
            source, traffic, engine=engine, epsilon=how.epsilon, elephants=how.elephants,
            seed=how.seed, lmc=tables.lmc, layers=tables.layers,
            engine_options=parsed_options(tables.option), top=how.top, progress=bar,
        ).to_dict()
    lines = [
        ("network", found["network"]), ("traffic", found["traffic"]),
        ("routes", found["engine"] or "any"),
        ("maximum achievable throughput", found["maximum_achievable_throughput"]),
        ("at most", found["upper_bound"]), ("exact", found["exact"]),
    ]
    if csv != "-":
        emit(found, as_json, lines)
    after_figures(found, csv, as_json)
