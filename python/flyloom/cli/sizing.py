"""Commands that say what can be built: size, scale."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flyloom.cli import completion
from flyloom.cli.common import (
    Budget,
    Json,
    Oversubscriptions,
    Planes,
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


@dataclass(frozen=True)
class FamilyMemberOptions:
    """The families and members that are considered."""

    oversubscription: Oversubscriptions = "1.0"
    concentration: Concentration = "ceil"
    families: Families = ""


@app.command(epilog=epilog(
    "flyloom size --endpoints 10000 --radix 64 --top 10",
    "flyloom size -n 10k --budget 30M --oversubscription 1,2",
    "flyloom size -n 2k --radix 36,64 --planes 2 --families slim_fly,fat_tree",
    "flyloom size --budget 5M --radix 64 --catalog ndr64-2024",
    "flyloom size -n 1024 --radix 64 --server dgx_h100",
))
@grouped
def size(
    endpoints: Annotated[
        str | None,
        typer.Option("--endpoints", "-n", metavar="N",
                     help="endpoints to carry: 10000, 10k, 1.5M, 2e6"),
    ] = None,
    budget: Budget = None,
    *,
    priced: PriceOptions,
    prices: Annotated[
        bool, typer.Option(help="what an endpoint costs and draws, by the catalogue; without, the"
                                " cheapest is the network of fewest switches")
    ] = True,
    radix: Radixes = "64",
    members: FamilyMemberOptions,
    listing: ListingOptions,
) -> None:
    """The cheapest networks of each family for a number of endpoints, or the most for a budget."""
    from flyloom._core import RefusalError
    from flyloom.support.progress import bars
    from flyloom.verbs import sizing
    from flyloom.verbs.ranking import rows_csv

    wanted, usd = endpoints_of(endpoints), dollars_of(budget)
    if wanted is None and usd is None:
        raise RefusalError("size: give --endpoints, --budget, or both")
    asking = [*(["--budget"] if usd is not None else []), *priced.given()]
    if not prices and asking:
        raise RefusalError(f"--no-prices: not with {' and '.join(asking)}: these ask for prices")
    ratios: Any = separated(members.oversubscription)
    asked: dict[str, Any] = {
        "radix": whole_numbers("--radix", radix), "concentration": members.concentration,
        "oversubscription": ratios, "families": separated(members.families),
        **priced.asked(), "sort": listing.sort, "top": listing.top,
    }
    found: Result
    with bars() as bar:
        if wanted is not None:
            found = sizing.size(wanted, **asked, budget=usd, prices=prices, progress=bar)
        else:
            if len(ratios) > 1:
                raise RefusalError("--oversubscription: one ratio with --budget alone")
            found = sizing.budget(usd or 0.0, **asked, progress=bar)
    if listing.as_json:
        print(json.dumps(found.to_dict()))
        return
    if listing.csv:
        write_csv(listing.csv, rows_csv(found.members))
        if listing.csv == "-":
            return
    if wanted is None:
        show_budget(found)
    else:
        show_size(found)


def asked_for(found: Result) -> str:
    """What the members of a table were asked to be."""
    several = isinstance(found.radix, list | tuple)
    ports = " and ".join(map(str, found.radix)) if several else found.radix
    planes = "" if found.planes is None else f"{found.planes} planes, "
    ratios = found.oversubscription
    ratios = ratios if isinstance(ratios, list | tuple) else [ratios]
    over = " and ".join(f"{ratio:g}:1" for ratio in ratios)
    return (f"{planes}switches of at most {ports} ports, concentration {found.concentration}, "
            f"oversubscription {over}")


def show_size(found: Result) -> None:
    """The cheapest member of each kind, in their order, and what is left out."""
    within = "" if found.budget_usd is None else f" for at most {found.budget_usd:,.0f} $"
    print(f"{found.endpoints:,} endpoints{within}, {asked_for(found)}")
    show_members(found)
    unpriced: dict[str, list[str]] = {}
    for member in found.members:
        if why := member.get("unpriced"):
            unpriced.setdefault(why, []).append(member["network"])
    for why, networks in unpriced.items():
        print(f"no price: {', '.join(networks)}: {why}")
    if found.basis:
        print(f"prices: {found.basis}")
    show_left_out(found)


def show_left_out(found: Result) -> None:
    """Members above the budget, a line each, and the kinds that are far dearer in one line."""
    far: dict[str, float] = {}
    several = isinstance(found.oversubscription, list | tuple)
    for each in found.left_out:
        if "times" in each:
            name = member_name(each)
            far[name] = min(each["times"], far.get(name, each["times"]))
        else:
            over = f" at {each['oversubscription']:g}:1" if several else ""
            print(f"left out: {each['network']}{over}: {each['why']}")
    if far:
        least = sorted(far.items(), key=lambda kind: kind[1])
        shown = ", ".join(f"{name} ({times:,.1f} times)" for name, times in least[:6])
        more = f" and {len(least) - 6} more" if len(least) > 6 else ""
        print(f"far dearer than the cheapest, by an estimate: {shown}{more}")


def show_members(found: Result) -> None:
    """The table of members: rank, figures, cost and front where they are known."""
    several = isinstance(found.radix, list | tuple)
    ratios = isinstance(found.oversubscription, list | tuple)
    header = ["rank", *(["switch"] if several else []), *(["over"] if ratios else []), "network",
              "endpoints", "switches", "links", "ports", "diameter", "mean distance"]
    total = any(c.get("cost_usd") is not None for c in found.members)
    header += ["cost [$]", "$/endpoint", "$ low", "$ high", "W/endpoint", "front",
               "best in"] if total else []
    rows = []
    for c in found.members:
        cells = [c["rank"], *([c["switch_ports"]] if several else []),
                 *([f"{c['oversubscription']:g}:1"] if ratios else []), *line(c)[:-2]]
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
    for c in found.members:
        if c["also"]:
            print(f"{c['network']} is also {', '.join(c['also'])}")


def best_in(c: dict[str, Any]) -> str:
    """The figures in which a member is the best, in one word each."""
    from flyloom.report.comparison import cell

    return cell("best_in", c["best_in"])


def show_budget(found: Result) -> None:
    """The most endpoints in each family within the budget."""
    print(f"{found.budget_usd:,.0f} $ by {found.catalog}, {asked_for(found)}")
    show_members(found)
    none = [member_name(row) for row in found.rows if not row["largest"]]
    if none:
        print(f"nothing within the budget: {', '.join(dict.fromkeys(none))}")
    if found.left_out:
        names_ = dict.fromkeys(member_name(each) for each in found.left_out)
        print(f"far fewer endpoints, by an estimate: {', '.join(names_)}")


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
    oversubscription: Oversubscriptions = "1.0",
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
    chosen = separated(families)
    ratio, *more = sizing.checked_ratios(separated(oversubscription))
    if more:
        raise RefusalError("--oversubscription: one ratio for `scale`")
    if addresses and (len(chosen) > 1 or ratio != 1.0 or planes is not None):
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
                radixes, concentration=concentration, oversubscription=ratio,
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
