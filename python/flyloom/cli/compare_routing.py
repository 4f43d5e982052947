"""The command that puts routing engines side by side: compare-routing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from flyloom.cli import completion
from flyloom.cli.common import (
    Json,
    Layers,
    Lmc,
    Net,
    P,
    Width,
    app,
    check_picture,
    epilog,
    load_network,
    print_table,
    write_picture,
)
from flyloom.cli.figures import words


@app.command("compare-routing", epilog=epilog(
    "flyloom compare-routing slim_fly:q=5,p=4 -o engines.svg",
    "flyloom compare-routing dragonfly:h=2 --engines dfsssp,opensm:dfsssp,nue:max_lanes=1",
))
def compare_routing(
    net: Net,
    engines: Annotated[
        str | None,
        typer.Option(autocompletion=completion.engines,
                     help="engines, with commas, options after colons (nue:max_lanes=1,opensm:lash;"
                          " default: all of ours, and of OpenSM's where it is installed)"),
    ] = None,
    lmc: Lmc = None,
    layers: Layers = None,
    samples: Annotated[int, typer.Option(help="random bisections")] = 1000,
    seed: Annotated[int, typer.Option(help="seed of the bisections, and of engines that draw")] = 0,
    p: P = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="file to draw into: .svg, .png, .pdf or .html"),
    ] = None,
    width: Width = None,
    as_json: Json = False,
) -> None:
    """Routing engines side by side: proof, lanes, lengths, load, bandwidth and CPU time."""
    from flyloom.report import routing_comparison as report
    from flyloom.support.progress import bars
    from flyloom.verbs import routing_comparison as compared

    check_picture(output, width=width)
    topology = load_network(net, p)
    with bars() as bar:
        found = compared.compare_routing(
            topology, engines=None if engines is None else words(engines), lmc=lmc, layers=layers,
            samples=samples, seed=seed, progress=bar,
        )
    if output:
        spec = report.spec(found)
        write_picture(output, spec, lambda: report.page(found), width)
    if as_json:
        print(json.dumps(found.to_dict()))
        return
    heads, rows = report.cells(found)
    print_table(heads, rows, left={0})
    for line in report.notes(found):
        print(line)
    if output:
        print(f"written to {output}")
