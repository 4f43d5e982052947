"""The command that puts published tables beside what flyloom computes: published."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flyloom.cli import completion
from flyloom.cli.common import Json, app, epilog, print_table
from flyloom.cli.sizing import show_addresses

if TYPE_CHECKING:
    from flyloom.support.results import Result

TABLES = {
    "cost": "cost and power of five topologies (SC 2014)",
    "scale": "scale and cost by ports of a switch (NSDI 2024, Table 4)",
    "addresses": "Slim Flies by ports and LMC (NSDI 2024, Table 2)",
    "fit-fly": "configurations of the Fit Fly study",
    "resilience": "links removed at random before disconnection (SC 2014)",
}


@app.command(epilog=epilog(
    "flyloom published", "flyloom published fit-fly", "flyloom published resilience --samples 200",
))
def published(
    table: Annotated[
        str,
        typer.Argument(metavar="cost|scale|addresses|fit-fly|resilience",
                       autocompletion=completion.choice(*TABLES),
                       help="which; none lists them"),
    ] = "",
    samples: Annotated[
        int, typer.Option(help="random orders of removal a network, for resilience")
    ] = 1000,
    seed: Annotated[int, typer.Option(help="seed of the random draws, for resilience")] = 0,
    as_json: Json = False,
) -> None:
    """Published tables: what was printed, beside what is computed here."""
    from flyloom._core import RefusalError
    from flyloom.support.progress import bars

    if table and table not in TABLES:
        from flyloom.support.refused import hint

        known = hint(table, TABLES) + ", ".join(TABLES)
        raise RefusalError(f"published: there is no table '{table}'; {known}")
    if not table:
        print(json.dumps(TABLES) if as_json else
              "\n".join(f"{name:<12} {what}" for name, what in TABLES.items()))
        return
    from flyloom.published import cost as costs
    from flyloom.published import tables
    from flyloom.published.addresses import address_table

    with bars() as bar:
        made: dict[str, Callable[[], Result]] = {
            "cost": lambda: costs.cost_table(progress=bar),
            "scale": lambda: costs.scale_table(progress=bar),
            "addresses": lambda: address_table(progress=bar),
            "fit-fly": tables.fit_fly_table,
            "resilience": lambda: tables.resilience_table(samples=samples, seed=seed, progress=bar),
        }
        found = made[table]()
    if as_json:
        print(json.dumps(found.to_dict()))
        return
    {"cost": show_cells, "scale": show_cells, "addresses": show_addresses,
     "fit-fly": show_fit_fly, "resilience": show_resilience}[table](found)


def show_cells(found: Result) -> None:
    """A row a cell: printed, by the study's rule, true, and the verdict; then how many of each."""
    def figure(value: float | None) -> str:
        if value is None:
            return "-"
        return f"{value:,}" if isinstance(value, int) else f"{value:,.3f}"

    reasons = list(dict.fromkeys(row["why"] for row in found.rows if row["why"]))
    print_table(("table", "network", "figure", "printed", "by rule", "true", "verdict", "note"), [
        [row["table"], row["column"], row["what"].replace("_", " "), row["printed"],
         figure(row["paper"]), figure(row["true"]), row["verdict"],
         str(reasons.index(row["why"]) + 1) if row["why"] else ""]
        for row in found.rows
    ], left=(0, 1, 2, 6))
    for number, reason in enumerate(reasons, 1):
        print(f"{number:>2}: {reason}")
    verdicts = [row["verdict"] for row in found.rows]
    counts = ", ".join(f"{verdicts.count(v)} {v}" for v in dict.fromkeys(verdicts))
    print(f"{len(verdicts)} cells: {counts}")
    print(f"print: {found.source}")


def show_fit_fly(found: Result) -> None:
    """A row a figure, a column a network; what differs from the print shows both."""
    names = list(dict.fromkeys(row["network"] for row in found.rows))
    figures = list(dict.fromkeys(row["what"] for row in found.rows))
    cells = {(row["what"], row["network"]): row for row in found.rows}

    def cell(row: dict[str, Any]) -> str:
        equal = row["equal"]
        return f"{row['computed']:,}" + ("" if equal else f" (printed {row['printed']:,})")

    print_table(["", *names], [
        [figure.replace("_", " "), *(cell(cells[figure, name]) for name in names)]
        for figure in figures
    ])
    print(f"print: {found.source}")


def show_resilience(found: Result) -> None:
    """A row a network: the printed step, ours, the mean with its interval."""
    rows = []
    for row in found.rows:
        low, high = row["confidence_interval_95"]
        rows.append([
            row["network"], row["family"], row["about"], row["endpoints"],
            f"{row['printed_percent']} %", f"{row['half_hold_percent']:.0f} %",
            f"{100 * row['mean']:.2f} %", f"{100 * low:.2f} to {100 * high:.2f} %",
        ])
    print_table(("network", "family", "about", "endpoints", "printed", "half hold", "mean",
                 "95 % confidence"), rows)
    print(f"print: {found.source}")
