"""Commands that make a network and lay it out: design, plan."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flyloom.cli.common import (
    Json,
    Net,
    P,
    app,
    emit,
    epilog,
    load_network,
    show_warnings,
    tell_of_netlist,
)
from flyloom.cli.groups import FloorOptions, grouped

if TYPE_CHECKING:
    from flyloom._core import Topology


@app.command(epilog=epilog(
    "flyloom design slim_fly:q=19,p=15", "flyloom design dragonfly:h=4 -o df.json",
))
def design(
    net: Net,
    p: P = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--out",
                     help="file for the network: .json .graphml .edges .dot .net (ibsim)"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Build a network; its size, distances and girth beside the family's promise."""
    from flyloom.support.progress import bars

    topology = load_network(net, p)
    with bars() as bar:
        found = topology.measure("structure", progress=bar)
    promised = topology.promise()
    if output:
        write_network(topology, output)
    document = {**found, "promise": promised}
    emit(document, as_json, structure_lines(found))
    if output and not as_json:
        print(f"written to {output}")


def structure_lines(found: dict[str, Any]) -> list[tuple[str, Any]]:
    """The first lines of the output of `design` and `structure`."""
    lines = [("network", found["recipe"])]
    keys = (
        "switches", "endpoints", "links", "network_radix", "concentration", "radix", "diameter",
        "mean_distance", "girth", "moore_fraction",
    )
    lines += [(key.replace("_", " "), found[key]) for key in keys]
    if found["terminals"] != found["endpoints"]:
        lines.append(("terminals", found["terminals"]))
    if found["unreachable"]:
        lines.append(("unreachable pairs", found["unreachable"]))
    return lines


def write_network(topology: Topology, path: Path) -> None:
    """Writes a network in the format that the name of the file asks for."""
    from flyloom._core import RefusalError
    from flyloom.support.files import write_whole

    formats = {
        ".json": "json", ".graphml": "graphml", ".edges": "edges", ".txt": "edges", ".dot": "dot",
        ".net": "netlist",
    }
    if path.suffix not in formats:
        raise RefusalError(f"-o {path}: no format for '{path.suffix}'; use {' '.join(formats)}")
    write_whole(path, topology.to_text(formats[path.suffix]))
    if formats[path.suffix] == "netlist":
        tell_of_netlist(topology, path)


@app.command(epilog=epilog(
    "flyloom plan slim_fly:q=5,p=4 -o plan/", "flyloom plan dragonfly:h=4 --server 2u4n",
))
@grouped
def plan(
    net: Net,
    p: P = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="folder for cables.csv, floor.svg and racks.svg"),
    ] = None,
    *,
    floor: FloorOptions,
    as_json: Json = False,
) -> None:
    """Lay a network out in racks and list its cables."""
    from flyloom.cabling.checked import STEPS
    from flyloom.support.words import amount
    from flyloom.verbs.layout import plan as lay_out

    topology = load_network(net, p)
    found = lay_out(topology, **floor.asked()).to_dict()
    if output:
        write_plan(topology, found, output)
    document = {key: value for key, value in found.items() if key != "cables_csv"}
    lines = [
        ("network", topology.recipe), ("racks", len(found["racks"])),
        ("cables", found["cables"]),
    ]
    lines += [(f"  {name}", n) for name, n in zip(STEPS, found["by_step"], strict=True)]
    lines += [
        (f"  {c['kind']}, up to {amount(c['stock_m'])} m"
         f"{', endpoints' if c['endpoint_cables'] else ''}", c["cables"])
        for c in found["classes"]
    ]
    lines += [
        ("length [m]", amount(found["length_m"])),
        ("cost of cables [$]", amount(found["cost_usd"])),
    ]
    emit(document, as_json, lines)
    if as_json:
        return
    show_warnings(found)
    if output:
        print(f"written to {output}/")


def write_plan(topology: Topology, found: dict[str, Any], folder: Path) -> None:
    """Writes the cables and the drawings of a plan."""
    from flyloom import draw
    from flyloom.draw.floor import floor_data
    from flyloom.support.files import write_folder

    floor = floor_data(found, topology.switch_names)
    write_folder(folder, {
        "cables.csv": found["cables_csv"], "floor.svg": draw.floor_svg(floor),
        "racks.svg": draw.racks_svg(floor, topology.groups.tolist()),
    })
