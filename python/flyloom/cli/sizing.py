"""Commands that say what can be built: size, scale."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flyloom.cli import completion
from flyloom.cli.common import (
    Json,
    Planes,
    Radixes,
    app,
    dollars_of,
    endpoints_of,
    epilog,
    print_table,
    whole_numbers,
    write_csv,
)
from flyloom.cli.groups import ListingOptions, PriceOptions, grouped

if TYPE_CHECKING:
    from flyloom.support.results import Result

Families = Annotated[
    str,
    typer.Option(help="families, comma between; all by default", metavar="NAME,NAME",
                 autocompletion=completion.families),
]
Concentration = Annotated[
    str,
    typer.Option(autocompletion=completion.choice("ceil", "floor", "exact"),
                 help="endpoints per switch: ceil or floor of the family's rule, or exact (the"
                      " most with which uniform traffic loads the average channel in full)"),
]
Oversubscription = Annotated[
    float, typer.Option(help="endpoints for each one that full bandwidth has room for")
]


@dataclass(frozen=True)
class FamilyMemberOptions:
    """The families and members that are considered."""

    oversubscription: Oversubscription = 1.0
    concentration: Concentration = "ceil"
    families: Families = ""


@app.command(epilog=epilog(
    "flyloom size --endpoints 10000 --radix 64 --top 10",
    "flyloom size -n 2k --radix 36,64 --planes 2 --families slim_fly,fat_tree",
    "flyloom size --budget 5M --radix 64 --catalog ndr64-2024",
    "flyloom size -n 1024 --radix 64 --server dgx_h100",
))
@grouped
def size(
    endpoints: Annotated[
        str | None,
        typer.Option("--endpoints", "-n", metavar="N",
                     help="endpoints wanted: 10000, 10k, 1.5M, 2e6"),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(metavar="USD", help="or US dollars to spend (5e6, 1.5M): the largest network"
                                         " they buy"),
    ] = None,
    *,
    priced: PriceOptions,
    prices: Annotated[
        bool, typer.Option(help="what an endpoint costs and draws, by the catalogue")
    ] = True,
    radix: Radixes = "64",
    members: FamilyMemberOptions,
    listing: ListingOptions,
) -> None:
    """The networks of each family nearest to a number of endpoints, or the largest for a budget."""
    from flyloom._core import RefusalError
    from flyloom.support.progress import bars
    from flyloom.verbs import sizing
    from flyloom.verbs.ranking import rows_csv

    wanted, usd = endpoints_of(endpoints), dollars_of(budget)
    if (wanted is None) == (usd is None):
        raise RefusalError("size: give --endpoints or --budget, one of them")
    asking = [*(["--budget"] if usd is not None else []), *priced.given()]
    if not prices and asking:
        raise RefusalError(f"--no-prices: not with {' and '.join(asking)}: these ask for prices")
    asked: dict[str, Any] = {
        "radix": whole_numbers("--radix", radix), "concentration": members.concentration,
        "oversubscription": members.oversubscription, "families": names(members.families),
        **priced.asked(), "sort": listing.sort, "top": listing.top,
    }
    found: Result
    with bars() as bar:
        if usd is not None:
            found = sizing.budget(usd, **asked, progress=bar)
        elif wanted is not None:
            found = sizing.size(wanted, **asked, prices=prices, progress=bar)
    if listing.as_json:
        print(json.dumps(found.to_dict()))
        return
    if listing.csv:
        write_csv(listing.csv, rows_csv(found.members))
        if listing.csv == "-":
            return
    if usd is not None:
        show_budget(found)
    else:
        show_size(found)


def asked_for(found: Result) -> str:
    """What the members of a table were asked to be."""
    several = isinstance(found.radix, list | tuple)
    ports = " and ".join(map(str, found.radix)) if several else found.radix
    planes = "" if found.planes is None else f"{found.planes} planes, "
    return (f"{planes}switches of at most {ports} ports, concentration {found.concentration}, "
            f"oversubscription {found.oversubscription:g}:1")


def show_size(found: Result) -> None:
    """The members near the number of endpoints, in their order, and which kinds have none."""
    print(f"{found.endpoints:,} endpoints, {asked_for(found)}")
    show_members(found)
    kinds: dict[str, list[int]] = {}
    for row in found.rows:
        both = [c["endpoints"] for c in (row["below"], row["above"]) if c]
        kinds.setdefault(member_name(row), []).extend(both)
    far = [
        f"{kind} ({' and '.join(f'{n:,}' for n in sorted(set(sizes)))})"
        for kind, sizes in kinds.items()
        if not any(found.endpoints <= 2 * n <= 4 * found.endpoints for n in sizes)
    ]
    unpriced: dict[str, list[str]] = {}
    for member in found.members:
        if why := member.get("unpriced"):
            unpriced.setdefault(why, []).append(member["network"])
    for why, networks in unpriced.items():
        print(f"no price: {', '.join(networks)}: {why}")
    if found.basis:
        print(f"prices: {found.basis}")
    if far:
        print(f"nearest, but not within a factor of two: {', '.join(far)}")


def show_members(found: Result) -> None:
    """The table of members: rank, figures, cost and front where they are known."""
    several = isinstance(found.radix, list | tuple)
    header = ["rank", *(["switch"] if several else []), "network", "endpoints", "switches", "links",
              "ports", "diameter", "mean distance", "Moore", "full p"]
    total = any(c.get("cost_usd") is not None for c in found.members)
    header += ["cost [$]", "$/endpoint", "$ low", "$ high", "W/endpoint", "front",
               "best in"] if total else []
    rows = []
    for c in found.members:
        cells = [c["rank"], *([c["switch_ports"]] if several else []), *line(c)]
        if total:
            watts, each = c["power_w_per_endpoint"], c["cost_usd_per_endpoint"]
            cells += [
                None if each is None else round(c["cost_usd"]),
                *(None if each is None else round(c[f"cost_usd_per_endpoint{end}"])
                  for end in ("", "_low", "_high")),
                None if watts is None else f"{watts:.2f}", c["pareto"], best_in(c),
            ]
        rows.append(cells)
    print_table(header, rows)


def best_in(c: dict[str, Any]) -> str:
    """The figures in which a member is the best, in one word each."""
    from flyloom.report.comparison import cell

    return cell("best_in", c["best_in"])


def show_budget(found: Result) -> None:
    """The largest member of each family that is within the budget."""
    print(f"{found.budget_usd:,.0f} $ by {found.catalog}, {asked_for(found)}")
    show_members(found)
    none = [member_name(row) for row in found.rows if not row["largest"]]
    if none:
        print(f"nothing within the budget: {', '.join(dict.fromkeys(none))}")


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
    planes: Planes = None,
    as_json: Json = False,
) -> None:
    """The largest network of each family for switches of this number of ports."""
    from flyloom._core import RefusalError
    from flyloom.published.addresses import address_table
    from flyloom.support.progress import bars
    from flyloom.verbs import sizing

    radixes = whole_numbers("--radix", radix)
    chosen = names(families)
    if addresses and (len(chosen) > 1 or oversubscription != 1.0 or planes is not None):
        raise RefusalError("--addresses: of one family, without oversubscription and planes")
    found: Result
    with bars() as bar:
        if addresses:
            found = address_table(
                radixes, family=chosen[0] if chosen else "slim_fly",
                concentration=concentration, progress=bar,
            )
        else:
            found = sizing.scale(
                radixes, concentration=concentration, oversubscription=oversubscription,
                families=chosen, planes=planes, progress=bar,
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
