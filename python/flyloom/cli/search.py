"""The command that looks for graphs: search."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flyloom.cli import completion
from flyloom.cli.common import Json, app, emit, endpoints_of, epilog, print_table, whole_numbers
from flyloom.cli.groups import grouped

if TYPE_CHECKING:
    from flyloom.support.results import Result


@dataclass(frozen=True)
class SearchSizeOptions:
    """The size of the network."""

    order: Annotated[int | None, typer.Option("--order", help="switches")] = None
    degree: Annotated[
        int | None, typer.Option("--degree", "-d", help="most links of a switch")
    ] = None
    endpoints: Annotated[
        str | None,
        typer.Option("--endpoints", "-n", metavar="N",
                     help="endpoints (500, 10k), with --radix: how many switches is found too"),
    ] = None
    radix: Annotated[
        int | None, typer.Option("--radix", "-k", help="ports of a switch, with --endpoints")
    ] = None


@dataclass(frozen=True)
class SearchMethodOptions:
    """The method of the search, and its limits."""

    method: Annotated[
        str,
        typer.Option(help="auto, anneal, or sat: annealing and then proofs",
                     autocompletion=completion.choice("auto", "anneal", "sat")),
    ] = "auto"
    diameter: Annotated[
        int | None, typer.Option(help="diameter asked for: exit code 1 when it is impossible")
    ] = None
    steps: Annotated[int | None, typer.Option(help="exchanges tried in each restart")] = None
    restarts: Annotated[int, typer.Option(help="independent annealings")] = 8
    symmetry: Annotated[
        int | None, typer.Option(help="order of the rotational symmetry, a divisor of the order")
    ] = None
    seed: Annotated[int, typer.Option(help="seed of the random draws")] = 0
    time_limit: Annotated[
        float | None,
        typer.Option(help="seconds for annealing, and for the SAT solver (of it 60 by default)"),
    ] = None
    resume: Annotated[
        Path | None, typer.Option(help="file that keeps a stopped annealing, to go on from it")
    ] = None
    proof: Annotated[
        Path | None, typer.Option(help="write the DRAT proof that nothing is better")
    ] = None


@dataclass(frozen=True)
class SearchTableRange:
    """The orders and degrees that the table has."""

    max_order: Annotated[int, typer.Option(help="of table: the largest order")] = 16
    degrees: Annotated[str, typer.Option(help="of table", metavar="D,D")] = "3,4,5"


@app.command(epilog=epilog(
    "flyloom search --order 256 --degree 16 --seed 1 -o graph.edges",
    "flyloom search --endpoints 128 --radix 24",
    "flyloom search table --max-order 16",
))
@grouped
def search(
    what: Annotated[
        str,
        typer.Argument(metavar="[table]", help="table: the optima of all small orders",
                       autocompletion=completion.choice("table")),
    ] = "",
    *,
    size: SearchSizeOptions,
    how: SearchMethodOptions,
    small: SearchTableRange,
    output: Annotated[
        Path | None, typer.Option("-o", "--out", help="file for the network, an edge list")
    ] = None,
    as_json: Json = False,
) -> None:
    """Look for the network of least diameter and mean distance, with bounds and proofs."""
    from flyloom._core import RefusalError

    if what not in ("", "table"):
        raise RefusalError(f"search: there is no '{what}'; table, or nothing")
    if what:
        return show_table(small.max_order, small.degrees, how.time_limit, how.seed, as_json)
    document = looked_for(size, how).to_dict()
    if output:
        write_edges(output, document)
    show(document, as_json)
    if output and not as_json:
        print(f"written to {output}")
    raise typer.Exit(1 if document.get("holds") is False else 0)


def looked_for(size: SearchSizeOptions, how: SearchMethodOptions) -> Result:
    """The network of that size that is found."""
    from flyloom._core import RefusalError
    from flyloom.solve import search as graphs
    from flyloom.support.progress import bars

    of_both = "search: give --order and --degree, or --endpoints and --radix"
    if (size.order, size.degree, size.endpoints, size.radix).count(None) != 2:
        raise RefusalError(of_both)
    wanted = endpoints_of(size.endpoints)
    limits: dict[str, Any] = {"seed": how.seed, "steps": how.steps, "restarts": how.restarts,
                              "time_limit": how.time_limit}
    with bars() as bar:
        if wanted is not None and size.radix is not None:
            own = (how.method, how.diameter, how.symmetry, how.resume, how.proof)
            if own != ("auto", None, None, None, None):
                raise RefusalError(
                    "--endpoints: is searched by annealing; not with --method, --diameter,"
                    " --symmetry, --resume or --proof"
                )
            return graphs.order_radix(wanted, size.radix, progress=bar, **limits)
        if size.order is None or size.degree is None:
            raise RefusalError(of_both)
        return graphs.search(
            size.order, size.degree, method=how.method, diameter=how.diameter,
            symmetry=how.symmetry, state=how.resume, proof=how.proof, progress=bar, **limits,
        )


def write_edges(path: Path, found: dict[str, Any]) -> None:
    """Writes the graph that was found as an edge list."""
    from flyloom.support.files import write_whole

    carried = found.get("endpoints_of_switch")
    lines = [f"{a} {b}" for a, b in found["edges"]]
    if carried:
        lines += [f"endpoints {s} {count}" for s, count in enumerate(carried)]
    write_whole(path, "\n".join([about(found), *lines]) + "\n")


def about(found: dict[str, Any]) -> str:
    """The first line of an edge list: what it is."""
    asked = ("order", "degree") if "order" in found else ("endpoints", "radix", "switches")
    facts = (*asked, "diameter", "mean_distance", "seed", "steps")
    return "# edge list, flyloom search: " + ", ".join(f"{key} {found[key]}" for key in facts)


def show(found: dict[str, Any], as_json: bool) -> None:
    """Says what was found."""
    head = ("order", "degree") if "order" in found else (
        "endpoints", "radix", "switches", "concentration", "degree",
    )
    keys = (
        *head, "diameter", "diameter_lower_bound", "mean_distance", "mean_distance_lower_bound",
        "gap_percent", "random_mean_distance", "optimal", "proof", "holds", "method", "symmetry",
        "seed", "steps", "restarts", "finished",
    )
    emit(found, as_json, [(key.replace("_", " "), found[key]) for key in keys if key in found])


def show_table(
    max_order: int, degrees: str, time_limit: float | None, seed: int, as_json: bool
) -> None:
    """Says the optimum of each cell as it is found."""
    from flyloom.solve import search as graphs

    chosen = whole_numbers("--degrees", degrees)
    limit = graphs.LIMIT_S if time_limit is None else time_limit
    cells = graphs.table(max_order, chosen, time_limit=limit, seed=seed)
    if as_json:
        print(json.dumps({"cells": [cell.to_dict() for cell in cells]}))
        return
    header = ("order", "degree", "diameter", "mean", "least mean", "optimal", "proof", "seconds")
    print_table(header, [
        (c.order, c.degree, c.diameter, c.mean_distance, c.mean_distance_lower_bound,
         c.optimal is True, c.proof, round(c.seconds, 1))
        for c in cells
    ])
