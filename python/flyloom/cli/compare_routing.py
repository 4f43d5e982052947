"""The command that puts routing engines side by side: compare-routing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from flyloom.cli.common import (
    Json,
    Layers,
    Lmc,
    Net,
    P,
    app,
    epilog,
    load_network,
    print_table,
    write_or_refuse,
)
from flyloom.cli.figures import FORMATS, words


@app.command("compare-routing", epilog=epilog(
    "flyloom compare-routing slim_fly:q=5,p=4 -o engines.svg",
    "flyloom compare-routing dragonfly:h=2 --engines dfsssp,opensm:dfsssp,nue:max_lanes=1",
))
def compare_routing(
    net: Net,
    engines: Annotated[
        str | None,
        typer.Option(help="engines, with commas, options after colons (nue:max_lanes=1,opensm:lash;"
                          " default: all of ours, and of OpenSM's where it is installed)"),
    ] = None,
    lmc: Lmc = None,
    layers: Layers = None,
    patterns: Annotated[int, typer.Option(help="random bisections")] = 1000,
    seed: Annotated[int, typer.Option(help="of the bisections, and of engines that draw")] = 0,
    p: P = None,
    output: Annotated[
        Path | None, typer.Option("-o", help="file to draw into: .svg, .png or .html")
    ] = None,
    as_json: Json = False,
) -> None:
    """Routing engines side by side: proof, lanes, lengths, load, bandwidth and CPU time."""
    from flyloom import routing_comparison as compared
    from flyloom._core import RefusalError
    from flyloom.progress import bars

    if output and output.suffix not in FORMATS:
        raise RefusalError(f"-o {output}: no picture; a name that ends in {', '.join(FORMATS)}")
    topology = load_network(net, p)
    with bars() as bar:
        found = compared.compare_routing(
            topology, engines=None if engines is None else words(engines), lmc=lmc, layers=layers,
            patterns=patterns, rng=seed, progress=bar,
        )
    if output:
        write_or_refuse(output, lambda: write(found, output))
    if as_json:
        print(json.dumps(found.to_dict()))
        return
    from flyloom.report.routing_comparison import cells, notes

    heads, rows = cells(found)
    print_table(heads, rows, left={0})
    for line in notes(found):
        print(line)
    if output:
        print(f"written to {output}")


def write(found, path: Path) -> None:
    """The chart as a picture, or as a page with its table."""
    from flyloom.experiment import write_whole
    from flyloom.report import routing_comparison
    from flyloom.report.charts import svg
    from flyloom.report.comparison import png

    if path.suffix == ".html":
        write_whole(path, routing_comparison.page(found))
    elif path.suffix == ".svg":
        write_whole(path, svg(routing_comparison.spec(found), prefix="routing-"))
    else:
        write_whole(path, png(routing_comparison.spec(found)))
