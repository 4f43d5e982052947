"""The command that puts networks side by side: compare."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flyloom.cli import completion
from flyloom.cli.common import (
    Budget,
    Oversubscriptions,
    Radixes,
    app,
    dollars_of,
    endpoints_of,
    epilog,
    print_table,
    separated,
    whole_numbers,
    write_csv,
)
from flyloom.cli.groups import ListingOptions, PriceOptions, grouped

if TYPE_CHECKING:
    from flyloom.support.results import Result


@dataclass(frozen=True)
class RemovalOptions:
    """The random removal of links, and its end."""

    samples: Annotated[
        int, typer.Option(help="random orders of removal, 0 for no resilience")
    ] = 100
    until: Annotated[
        str,
        typer.Option(help="ends to remove links until: disconnected, diameter (+2), mean (+1)",
                     autocompletion=completion.several("disconnected", "diameter", "mean")),
    ] = "disconnected"
    seed: Annotated[int, typer.Option(help="seed of the random draws")] = 0


@app.command(epilog=epilog(
    "flyloom compare slim_fly:q=5 dragonfly:h=3 fat_tree:levels=3,k=10 torus:shape=6x6x6 -o out/",
    "flyloom compare slim_fly dragonfly hyperx fat_tree -o curves/",
    "flyloom compare --endpoints 10k --radix 64 --samples 0 --top 10 -o near/",
    "flyloom compare -n 10k --budget 30M --oversubscription 1,2 --samples 0",
))
@grouped
def compare(
    nets: Annotated[
        list[str] | None,
        typer.Argument(metavar="NET...", autocompletion=completion.network,
                       help="networks (inline forms, files), and names of families, which add"
                            " their curves"),
    ] = None,
    endpoints: Annotated[
        str | None,
        typer.Option("--endpoints", "-n", metavar="N",
                     help="adds the cheapest member that carries this number of endpoints (10000,"
                          " 10k, 2e6), of the families named or of all"),
    ] = None,
    *,
    budget: Budget = None,
    oversubscription: Oversubscriptions = "1.0",
    prices: PriceOptions,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="folder for compare.csv, compare.json, compare.html and"
                                         " the charts as SVG, PNG and PDF"),
    ] = None,
    removal: RemovalOptions,
    radix: Radixes = "64",
    listing: ListingOptions,
) -> None:
    """Measure networks alike: one table, and charts with the curves of their families."""
    from flyloom.support.progress import bars
    from flyloom.verbs import comparison as compared

    check_shown(nets or [], endpoints is not None, bool(output) or listing.as_json)
    ends = [word.strip() for word in removal.until.split(",") if word.strip()]
    with bars() as bar:
        found = compared.compare(
            nets or [], endpoints=endpoints_of(endpoints), budget=dollars_of(budget),
            oversubscription=separated(oversubscription), **prices.asked(),
            radix=whole_numbers("--radix", radix), samples=removal.samples, seed=removal.seed,
            ends=ends, curves=bool(output or (listing.as_json and nets)), sort=listing.sort,
            top=listing.top, progress=bar,
        )
    if output:
        write(found, output)
    if listing.as_json:
        print(json.dumps(found.to_dict()))
        return
    if listing.csv:
        write_csv(listing.csv, compared.table_csv(found))
        if listing.csv == "-":
            return
    show(found)
    if output:
        print(f"written to {output}/")


def show(found: Result) -> None:
    """The table, what prices are, and what is left out."""
    from flyloom.report.comparison import cell, shown

    heads = shown(found.rows)
    if found.rows:
        rows = [[cell(key, row.get(key)) for key, _, _ in heads] for row in found.rows]
        print_table([head for _, head, _ in heads], rows)
        for row in found.rows:
            if row["unpriced"]:
                print(f"{row['network']} has no price: {row['unpriced']}")
        if found.basis:
            print(f"prices: {found.basis}")
    for why, networks in reasons(found.left_out).items():
        print(f"left out: {networks}: {why}")


def reasons(left_out: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Networks that are left out, by the reason; those far dearer by one reason."""
    found: dict[str, list[str]] = {}
    for each in left_out:
        why = "far dearer than the cheapest, by an estimate" if "times" in each["why"] else \
            each["why"]
        found.setdefault(why, []).append(each["network"].partition(":")[0] if "times" in each["why"]
                                         else each["network"])
    return {why: ", ".join(dict.fromkeys(networks)) for why, networks in found.items()}


def check_shown(nets: list[str], of_a_size: bool, with_curves: bool) -> None:
    """RefusalError where there is nothing to show: names of families alone have curves alone."""
    from flyloom._core import RefusalError
    from flyloom.verbs.comparison import is_family

    if nets and not of_a_size and not with_curves and all(map(is_family, nets)):
        raise RefusalError(
            f"{', '.join(nets)}: without parameters a family has curves and no row; -o FOLDER draws"
            " them, --endpoints N takes its member of that size, and parameters make a network")


def write(found: Result, folder: Path) -> None:
    """Table, page and charts into `folder`."""
    from flyloom.report import comparison
    from flyloom.report.charts import svg
    from flyloom.report.drawing import pdf_bytes
    from flyloom.support.files import write_folder
    from flyloom.verbs import comparison as compared

    charts = comparison.specs(found.rows, found.curves)
    files: dict[str, str | bytes] = {
        "compare.csv": compared.table_csv(found), "compare.json": json.dumps(found.to_dict()),
        "compare.html": comparison.page(found, charts),
    }
    for name, spec in charts.items():
        files |= {f"{name}.svg": svg(spec, prefix=f"{name}-"), f"{name}.png": comparison.png(spec),
                  f"{name}.pdf": pdf_bytes(spec)}
    drawn = [f"{name}.{kind}" for name in comparison.CHARTS for kind in ("svg", "png", "pdf")]
    write_folder(folder, files, stale=[name for name in drawn if name not in files])
