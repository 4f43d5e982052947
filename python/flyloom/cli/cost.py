"""Commands about money and watts: cost, catalog."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from flyloom.cli import completion
from flyloom.cli.common import (
    Json,
    Limit,
    Net,
    P,
    Rules,
    app,
    emit,
    epilog,
    load_network,
    print_table,
    show_warnings,
    shown,
)
from flyloom.cli.groups import PurchaseOptions, grouped


@app.command(epilog=epilog(
    "flyloom cost slim_fly:q=19,p=15", "flyloom cost dragonfly:h=7 --mode paper",
    "flyloom cost fat_tree:levels=2,k=64 --include network,endpoint_cables,adapters,energy",
    "flyloom cost multi_plane:planes=8,of=fat_tree:leaves=4,spines=2,parallel=16,p=32 "
    "--server dgx_h100",
    "flyloom cost slim_fly:q=5,p=4 --energy-years 5 --usd-per-kwh 0.12 --pue 1.2 --spare 0.02",
))
@grouped
def cost(
    net: Net,
    *,
    purchase: PurchaseOptions,
    mode: Annotated[
        str,
        typer.Option(metavar="true|paper", autocompletion=completion.choice("true", "paper"),
                     help="paper: the 2014 study's rules, slips included"),
    ] = "true",
    electric_limit: Limit = None,
    rules: Rules = None,
    p: P = None,
    as_json: Json = False,
) -> None:
    """What a network costs and draws: the bill by a catalogue of prices."""
    from flyloom.verbs.prices import cost as reckon

    found = reckon(
        load_network(net, p), mode=mode, rules=rules, electric_limit_m=electric_limit,
        **purchase.asked(),
    ).to_dict()
    lines: list[tuple[str, Any]] = [
        ("network", found["network"]),
        ("catalogue", f"{found['catalog']} ({found['currency']}, {found['year']})"),
        ("priced at [Gbit/s]", rate_said(found)),
        ("endpoints", found["endpoints"]), ("switches", found["switches"]),
        ("ports of a switch", found["radix"]),
    ]
    if mode == "true":
        lines.append(("racks", found["racks"]))
    lines += [
        ("electric cables between switches", found["cables_electric"]),
        ("optical cables between switches", found["cables_optical"]),
    ]
    if mode == "true":
        lines += bill_lines(found)
        lines += [
            (name, shown) for item, name in SUBTOTALS.items()
            if (shown := shown_subtotal(found, item)) is not None or item != "spares"
        ]
    lines += [
        ("cost [$]", shown_cost(found)),
        ("cost per endpoint [$]", rounded(found["cost_usd_per_endpoint"])),
        ("power per endpoint [W]", found["power_w_per_endpoint"]),
    ]
    if mode == "true":
        for name, key in (("lowest to highest prices [$]", "cost_usd"),
                          ("the same per endpoint [$]", "cost_usd_per_endpoint")):
            low, high = rounded(found[f"{key}_low"]), rounded(found[f"{key}_high"])
            if low != high:
                lines.append((name, f"{low:,} to {high:,}"))
    emit(found, as_json, lines)
    if as_json:
        return
    if mode == "true" and found["power_unknown"]:
        print(f"without the power of: {', '.join(found['power_unknown'])}")
    show_warnings({"warnings": found.get("warnings", ()), "hints": found.get("hints", ())})
    for note in found.get("notes", ()):
        print(f"note: {note}")


RATE_SOURCES = {
    "parameters": " (--gbps)", "network": " (the network's)",
    "cables": " (the cables' of its file)", "default": " (the catalogue's)",
}
"""Where the rate of a bill comes from, in words."""


def rate_said(found: dict[str, Any]) -> str:
    """The rate at which links are bought, and where it comes from."""
    return f"{shown(found['link_gbps'])}{RATE_SOURCES.get(found.get('rate_source', ''), '')}"


def bill_lines(found: dict[str, Any]) -> list[tuple[str, Any]]:
    """A line for each thing that is bought, with as many decimals as the total has."""
    from flyloom.support.words import amount

    lines = []
    for line in found["lines"]:
        counted = "" if line["counted"] else " (not counted)"
        name = f"  {line['part'].replace('_', ' ')}: {line['id']}"
        many = f"{line['count']:,}"
        if line["part"] == "energy":
            many = f"{rounded(found['energy_kwh_per_year'] * found['energy_years']):,} kWh"
        lines.append((name, f"{many} for {amount(line['usd'])} ${counted}"))
    return lines


SUBTOTALS = {
    "network": "network [$]", "endpoint_cables": "endpoint cables [$]",
    "adapters": "adapters [$]", "spares": "spares [$]", "energy": "energy per year [$]",
}
"""Items of the bill, and what their sums are called."""


def shown_subtotal(found: dict[str, Any], item: str) -> str | None:
    """The sum of an item; whether the total counts it."""
    from flyloom.support.words import amount

    usd = found["energy_usd_per_year" if item == "energy" else f"{item}_usd"]
    if usd is None or (item == "spares" and not usd):
        return None
    return amount(usd) + ("" if item in (*found["include"], "spares") else " (not counted)")


def shown_cost(found: dict[str, Any]) -> str | int | None:
    """The total cost, with all decimals of the lines above it where there are lines."""
    from flyloom.support.words import amount

    return amount(found["cost_usd"]) if "lines" in found else rounded(found["cost_usd"])


def rounded(value: float | None) -> int | None:
    """Whole dollars."""
    return None if value is None else round(value)


catalogs = typer.Typer(
    help="Catalogues of prices: list, show, check.", no_args_is_help=True, rich_markup_mode=None,
    epilog=epilog(
        "flyloom catalog show products-2026 > mine.toml", "flyloom catalog check mine.toml",
    ),
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(catalogs, name="catalog")


@catalogs.command("list", epilog=epilog("flyloom catalog list"))
def list_catalogs(as_json: Json = False) -> None:
    """The catalogues that come with flyloom."""
    from flyloom._core import Shop

    found = [Shop(name).catalog() for name in Shop.built_in()]
    if as_json:
        print(json.dumps(found))
        return
    print_table(["name", "currency", "year", "Gbit/s", "what"], [
        [c["name"], c["currency"], str(c["year"]), c["link_gbps"], c["title"]] for c in found
    ], left=(0, 4))


@catalogs.command(epilog=epilog("flyloom catalog show products-2026 > mine.toml"))
def show(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="flyloom catalog list",
                       autocompletion=completion.catalog_name),
    ],
) -> None:
    """The text of a catalogue: copy it, edit it, use it."""
    from flyloom._core import Shop

    print(Shop.text_of(name), end="")


@catalogs.command(epilog=epilog("flyloom catalog check mine.toml"))
def check(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="a catalogue, TOML", autocompletion=completion.toml),
    ],
    as_json: Json = False,
) -> None:
    """Whether a catalogue can be used; the first fault by file, line and field."""
    from flyloom._core import Shop
    from flyloom.support.reading import read_text

    found = Shop(str(file), read_text(file)).catalog()
    kinds = ("switches", "cables", "transceivers", "fibres", "nics")
    priced = {
        kind: sum(1 for one in found[kind] if one["price"] or one.get("linear")) for kind in kinds
    }
    lines = [("catalogue", found["name"]), ("prices", f"{found['currency']}, {found['year']}"),
             ("has prices of", ", ".join(found["items"]))]
    lines += [
        (kind, f"{len(found[kind])}, {priced[kind]} with a price") for kind in kinds if found[kind]
    ]
    emit(found, as_json, lines)
