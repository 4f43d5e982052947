"""The command that writes the folder to wire from: cables."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from flyloom.cli import completion
from flyloom.cli.common import (
    Json,
    Net,
    P,
    app,
    emit,
    epilog,
    load_network,
)
from flyloom.cli.groups import FloorOptions, grouped


@app.command(epilog=epilog("flyloom cables slim_fly:q=5,p=4 -o wiring/ --paper a3"))
@grouped
def cables(
    net: Net,
    output: Annotated[Path, typer.Option("-o", "--out", help="folder to write")],
    p: P = None,
    paper: Annotated[
        str,
        typer.Option(help="a4, or a3 for larger drawings",
                     autocompletion=completion.choice("a4", "a3")),
    ] = "a4",
    *,
    floor: FloorOptions,
    labels: Annotated[
        str, typer.Option(help="labels on a sheet of A4, columns x rows")
    ] = "3x8",
    spare: Annotated[
        float, typer.Option(help="cables to buy beyond those needed, as a fraction")
    ] = 0.02,
    as_json: Json = False,
) -> None:
    """Write the folder to wire from: lists, drawings of racks and pairs, labels, what to buy."""
    from flyloom.cabling.checked import STEPS
    from flyloom.support.progress import bars
    from flyloom.support.words import amount
    from flyloom.verbs import layout

    grid = label_grid(labels)
    topology = load_network(net, p)
    with bars() as bar:
        found = layout.cables(
            topology, output, **floor.asked(), paper=paper, labels=grid, spare=spare, progress=bar,
        ).to_dict()
    lines = [("network", found["network"]), ("racks", found["racks"]), ("cables", found["cables"])]
    lines += [(f"  {name}", n) for name, n in zip(STEPS, found["by_step"], strict=True)]
    lines += [
        ("pairs of racks", found["rack_pairs"]), ("pages to print", found["pages"]),
        ("sheets of labels", found["label_sheets"]), ("cables to buy", found["buy"]),
        ("cost of these [$]", amount(found["cost_usd"])),
    ]
    emit(found, as_json, lines)
    if as_json:
        return
    if found["pairs_drawn"] < found["rack_pairs"]:
        print(f"{found['rack_pairs']:,} pairs of racks are too many to draw: "
              "cabling.pdf lists their cables pair by pair")
    bare = 2 * found["cables"] - found["labels_with_code"]
    if bare:
        print(f"{bare:,} labels have no room for a code; fewer columns or rows of --labels do")
    print(f"written to {output}/")


def label_grid(text: str) -> tuple[int, int]:
    """Columns and rows of ``3x8``."""
    from flyloom._core import RefusalError

    found = re.fullmatch(r"([0-9]{1,3})x([0-9]{1,3})", text)
    if not found:
        raise RefusalError(f"labels: '{text}' is not COLUMNSxROWS; 3x8, 5x13")
    return int(found[1]), int(found[2])
