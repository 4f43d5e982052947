"""The command that draws how layered routings are judged: figure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from flyloom.cli import completion
from flyloom.cli.common import (
    Json,
    Width,
    app,
    check_picture,
    epilog,
    print_table,
    write_picture,
)


@app.command(epilog=epilog(
    "flyloom figure disjoint_paths -o disjoint.svg",
    "flyloom figure path_lengths --net polar_fly:q=7 --net hyperx:shape=7x7 -o"
    " lengths.html",
))
def figure(
    kind: Annotated[
        str,
        typer.Argument(metavar="FIGURE", show_default=False,
                       autocompletion=completion.choice("path_lengths", "path_distribution",
                                                        "disjoint_paths", "throughput"),
                       help="path_lengths, path_distribution, disjoint_paths or throughput"),
    ],
    networks: Annotated[
        list[str] | None,
        typer.Option("--net", metavar="NET", autocompletion=completion.network,
                     help="the network: inline form or file; repeat for more (default:"
                          " slim_fly:q=5,p=4)"),
    ] = None,
    engines: Annotated[
        str,
        typer.Option(help="engines, with commas (flyloom list engines)",
                     autocompletion=completion.engines),
    ] = "layered,fatpaths,rues,dfsssp",
    layers: Annotated[
        str,
        typer.Option(metavar="L,L", help="routes to every endpoint, 1 to 128; several are drawn"),
    ] = "1,2,4,8",
    seed: Annotated[int, typer.Option(help="seed of engines and traffic")] = 0,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="file to draw into: .svg, .png, .pdf or .html"),
    ] = None,
    width: Width = None,
    as_json: Json = False,
) -> None:
    """Draw path lengths, load, disjoint paths or throughput against the number of layers."""
    from flyloom._core import RefusalError
    from flyloom.published.figures import NETWORKS
    from flyloom.published.figures import figure as measured
    from flyloom.report import figures
    from flyloom.support.progress import bars

    check_picture(output, width=width)
    counts = []
    for word in words(layers):
        if not (word.isascii() and word.isdigit() and len(word) < 10):
            raise RefusalError(f"--layers: '{word}' is no number of layers; 1 to 128, with commas")
        counts.append(int(word))
    named = networks or NETWORKS
    with bars() as bar:
        found = measured(kind, named, engines=words(engines), layers=counts,
                         seed=seed, progress=bar)
    if output:
        write_picture(output, figures.spec(found), lambda: figures.page(found), width)
    if as_json:
        print(json.dumps(found.to_dict()))
        return
    heads = list(found.summary[0])
    print_table([head.replace("_", " ") for head in heads],
                [list(row.values()) for row in found.summary], left={0, 1})
    for row in found.skipped:
        print(figures.left_out(row))
    if output:
        print(f"written to {output}")


def words(given: str) -> list[str]:
    """Words between commas."""
    return [word.strip() for word in given.split(",") if word.strip()]
