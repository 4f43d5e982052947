"""Commands that say what can be built: size, scale."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flyloom.cli.common import (
    Catalog,
    Gbps,
    Include,
    Json,
    app,
    epilog,
    one_catalog,
    print_table,
)

if TYPE_CHECKING:
    from flyloom.support.results import Result

Families = Annotated[
    str, typer.Option(help="families, comma between; all by default", metavar="NAME,NAME")
]
Concentration = Annotated[
    str,
    typer.Option(help="endpoints per switch: ceil or floor of the family's rule, or exact (the"
                      " most with which uniform traffic loads the average channel in full)"),
]
Oversubscription = Annotated[
    float, typer.Option(help="endpoints for each one that full bandwidth has room for")
]


@app.command(epilog=epilog(
    "flyloom size --endpoints 10000 --radix 64",
    "flyloom size --endpoints 2000 --radix 36 --families slim_fly,fat_tree --oversubscription 2",
    "flyloom size --budget 5e6 --radix 64 --catalog ndr64-2024",
))
def size(
    endpoints: Annotated[
        int | None, typer.Option("--endpoints", "-n", help="endpoints wanted")
    ] = None,
    budget: Annotated[
        float | None, typer.Option(help="or US dollars to spend: the largest network they buy")
    ] = None,
    catalog: Catalog = None,
    gbps: Gbps = None,
    include: Include = None,
    radix: Annotated[int, typer.Option("--radix", "-k", help="most ports of a switch")] = 64,
    oversubscription: Oversubscription = 1.0,
    concentration: Concentration = "ceil",
    families: Families = "",
    as_json: Json = False,
) -> None:
    """The networks of each family nearest to a number of endpoints, or the largest for a budget."""
    from flyloom._core import RefusalError
    from flyloom.support.progress import bars
    from flyloom.verbs import sizing

    one = "size: give --endpoints or --budget, one of them"
    if endpoints is not None and budget is not None:
        raise RefusalError(one)
    if endpoints is not None and (catalog or gbps or include):
        raise RefusalError("--catalog: prices are for --budget; `flyloom cost` prices a network")
    with bars() as bar:
        if budget is not None:
            show_budget(sizing.budget(
                budget, radix=radix, concentration=concentration,
                oversubscription=oversubscription, families=names(families),
                catalog=one_catalog(catalog), gbps=gbps, include=include, progress=bar,
            ), as_json)
            return
        if endpoints is None:
            raise RefusalError(one)
        found = sizing.size(
            endpoints, radix=radix, concentration=concentration,
            oversubscription=oversubscription, families=names(families), progress=bar,
        )
    if as_json:
        print(json.dumps(found.to_dict()))
        return
    members, far = [], []
    for row in found.rows:
        both = [c for c in (row["below"], row["above"]) if c]
        near = [c for c in both if endpoints <= 2 * c["endpoints"] <= 4 * endpoints]
        members += near[:1] if row["below"] == row["above"] else near
        if not near:
            sizes = " and ".join(f"{c['endpoints']:,}" for c in both)
            far.append(f"{member_name(row)} ({sizes})")
    header = ("network", "endpoints", "switches", "links", "ports", "diameter", "mean distance",
              "Moore", "full p")
    print(f"{endpoints:,} endpoints, switches of at most {radix} ports, concentration "
          f"{concentration}, oversubscription {oversubscription:g}:1")
    members.sort(key=lambda c: (c["diameter"], c["mean_distance"], c["network"]))
    print_table(header, [line(c) for c in members])
    if far:
        print(f"nearest, but not within a factor of two: {', '.join(far)}")


def show_budget(found: Result, as_json: bool) -> None:
    """The largest member of each family that is within the budget."""
    if as_json:
        print(json.dumps(found.to_dict()))
        return
    print(f"{found.budget_usd:,.0f} $ by {found.catalog}, switches of at most {found.radix} ports, "
          f"concentration {found.concentration}, oversubscription {found.oversubscription:g}:1")
    members = [row["largest"] for row in found.rows if row["largest"]]
    header = ("network", "endpoints", "switches", "links", "ports", "diameter", "mean distance",
              "Moore", "full p", "cost [$]", "$/endpoint", "W/endpoint")
    print_table(header, [
        (*line(c), round(c["cost_usd"]), round(c["cost_usd_per_endpoint"]),
         f"{c['power_w_per_endpoint']:.2f}") for c in members
    ])
    none = [member_name(row) for row in found.rows if not row["largest"]]
    if none:
        print(f"nothing within the budget: {', '.join(none)}")


@app.command(epilog=epilog(
    "flyloom scale --radix 36,48,64", "flyloom scale --radix 36,48,64 --addresses",
))
def scale(
    radix: Annotated[
        str, typer.Option("--radix", "-k", help="ports of a switch", metavar="K,K")
    ] = "36,48,64",
    addresses: Annotated[
        bool,
        typer.Option("--addresses", help="the largest network for each LMC instead: what LIDs"
                                         " allow, beside the published table"),
    ] = False,
    oversubscription: Oversubscription = 1.0,
    concentration: Concentration = "ceil",
    families: Families = "",
    as_json: Json = False,
) -> None:
    """The largest network of each family for switches of so many ports."""
    from flyloom._core import RefusalError
    from flyloom.published.addresses import address_table
    from flyloom.support.progress import bars
    from flyloom.verbs import sizing

    radixes = whole_numbers("--radix", radix)
    chosen = names(families)
    if addresses and (len(chosen) > 1 or oversubscription != 1.0):
        raise RefusalError("--addresses: of one family, without oversubscription")
    with bars() as bar:
        if addresses:
            found = address_table(
                radixes, family=chosen[0] if chosen else "slim_fly",
                concentration=concentration, progress=bar,
            )
        else:
            found = sizing.scale(
                radixes, concentration=concentration, oversubscription=oversubscription,
                families=chosen, progress=bar,
            )
    if as_json:
        print(json.dumps(found.to_dict()))
    elif addresses:
        show_addresses(found)
    else:
        header = ("switch", "network", "endpoints", "switches", "links", "ports", "diameter",
                  "mean distance", "Moore", "full p")
        print_table(header, [(row["switch_ports"], *line(row["largest"])) for row in found.rows])


def show_addresses(found: Result) -> None:
    """The address table: what can be built, beside the published rule and the printed cell."""
    def cell(c: dict[str, Any] | None) -> str:
        parts = ("switches", "endpoints", "network_radix", "concentration")
        return "-" if c is None else " ".join(f"{c[part]:.0f}" for part in parts)

    def verdict(row: dict[str, Any]) -> str:
        if row["published"] is None:
            return ""
        paper = {key: row["paper"][key] for key in row["published"]}
        if paper != row["published"]:
            return "rule and print differ"
        return "as printed" if row["paper"]["exists"] else f"no q = {row['paper']['q']} exists"

    slim = found.family == "slim_fly"
    header = ["switch", "LMC", "LIDs", "largest that can be built", "Nr N k' p"]
    header += ["published rule", "print", ""] if slim else []
    rows = []
    for row in found.rows:
        built = row["buildable"]
        cells = [row["switch_ports"], row["lmc"], row["addresses"],
                 built["network"] if built else "-", cell(built)]
        if slim:
            cells += [cell(row["paper"]), cell(row["published"]), verdict(row)]
        rows.append(cells)
    print_table(header, rows)
    if slim:
        print(f"print: {found.source}")


def names(text: str) -> list[str]:
    """Words between commas."""
    return [word.strip() for word in text.split(",") if word.strip()]


def whole_numbers(option: str, text: str) -> list[int]:
    """Whole numbers between commas; RefusalError naming `option` for anything else."""
    from flyloom._core import RefusalError

    try:
        return [int(word) for word in names(text)]
    except ValueError:
        raise RefusalError(
            f"{option}: '{text}' is no list of whole numbers; write 36,48,64"
        ) from None


def member_name(row: dict[str, Any]) -> str:
    """A family, and which kind of its members."""
    return f"{row['family']} {row['kind']}".strip()


def line(c: dict[str, Any]) -> tuple[Any, ...]:
    """A candidate as a row of the table; a star marks distances that were measured."""
    def interval(pair: list[float], text: Callable[[float], str]) -> str:
        low, high = pair
        joined = text(low) if low == high else f"{text(low)} to {text(high)}"
        return joined + ("*" if c["measured"] else "")

    moore, full = c["moore_fraction"], c["full_bandwidth_concentration"]
    return (
        c["network"], c["endpoints"], c["switches"], c["links"], c["radix"],
        interval(c["diameter"], str), interval(c["mean_distance"], "{:.4f}".format),
        "-" if moore is None else f"{100 * moore:.3g} %", "-" if full is None else f"{full:.2f}",
    )
