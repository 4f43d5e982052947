"""The command that writes the folder to wire from: cables."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from flyloom.cli.common import Json, Net, P, app, emit, epilog, load_network


@app.command(epilog=epilog("flyloom cables slim_fly:q=5,p=4 -o wiring/ --paper a3"))
def cables(
    net: Net,
    output: Annotated[Path, typer.Option("-o", help="folder to write")],
    p: P = None,
    paper: Annotated[str, typer.Option(help="a4, or a3 for larger drawings")] = "a4",
    rules: Annotated[
        Path | None,
        typer.Option(help="rules of the floor: TOML, JSON, or plan.json of another folder"),
    ] = None,
    labels: Annotated[
        str, typer.Option(help="labels on a sheet of A4, columns x rows")
    ] = "3x8",
    spare: Annotated[
        float, typer.Option(help="cables to buy beyond those needed, as a fraction")
    ] = 0.02,
    as_json: Json = False,
) -> None:
    """Write the folder to wire from: lists, drawings of racks and pairs, labels, what to buy."""
    from flyloom import verbs
    from flyloom.progress import bars

    grid = label_grid(labels)
    given = None if rules is None else read_rules(rules)
    topology = load_network(net, p)
    with bars() as bar:
        found = verbs.cables(
            topology, output, rules=given, paper=paper, labels=grid, spare=spare, progress=bar
        ).to_dict()
    steps = ("endpoint cables", "inside groups", "inside racks", "between racks")
    lines = [("network", found["network"]), ("racks", found["racks"]), ("cables", found["cables"])]
    lines += [(f"  {name}", n) for name, n in zip(steps, found["by_step"], strict=True)]
    lines += [
        ("pairs of racks", found["rack_pairs"]), ("pages to print", found["pages"]),
        ("sheets of labels", found["label_sheets"]), ("cables to buy", found["buy"]),
        ("cost of these [$]", found["cost_usd"]),
    ]
    emit(found, as_json, lines)
    if as_json:
        return
    if found["pairs_drawn"] < found["rack_pairs"]:
        print(f"{found['rack_pairs']:,} pairs of racks are too many to draw: "
              "cabling.pdf lists their cables pair by pair")
    print(f"written to {output}/")


def label_grid(text: str) -> tuple[int, int]:
    """Columns and rows of ``3x8``."""
    from flyloom._core import RefusalError

    found = re.fullmatch(r"([0-9]{1,3})x([0-9]{1,3})", text)
    if not found:
        raise RefusalError(f"labels: '{text}' is not COLUMNSxROWS; 3x8, 5x13")
    return int(found[1]), int(found[2])


def read_rules(path: Path) -> dict[str, Any]:
    """The rules in a file: a TOML or JSON table of them, or what has one called ``rules``."""
    from flyloom._core import RefusalError
    from flyloom.graph import read_text

    text = read_text(path)
    try:
        rules = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise RefusalError(f"{path}: {error}") from None
    rules = rules.get("rules", rules) if isinstance(rules, dict) else rules
    if not isinstance(rules, dict):
        raise RefusalError(f"{path}: not a table of rules; a line of it is `pitch_m = 1.2`")
    return rules
