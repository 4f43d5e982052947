"""Commands of measures, made from the table: all that have none by hand, users' too."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from flyloom.cli import GROUPS
from flyloom.cli.busiest import BusiestCsv, after_figures
from flyloom.cli.common import (
    AnyEngine,
    Json,
    Layers,
    Lmc,
    Net,
    Options,
    P,
    Tables,
    app,
    emit,
    epilog,
    load_network,
    parsed,
    print_table,
)
from flyloom.cli.parameters import TYPES, defaults, flag, made, option, rows, signed
from flyloom.plugins.parts import KNOWN


def command(row: dict[str, Any]) -> Callable[..., None]:
    """The command of a measure: its parameters as options, its columns as what is printed."""
    on_tables = row["input"] == "routing"
    routed = {"engine": AnyEngine, "lmc": Lmc, "layers": Layers, "option": Options}
    options = {"p": P, **(routed if on_tables else {})}
    source = Tables if on_tables else Net
    takes: list[tuple[str, Any, Any]] = [("source", source, inspect.Parameter.empty)]
    takes += [(key, kind, None) for key, kind in options.items()]
    known = defaults(row["name"])
    for parameter in row["params"]:
        name, kind = parameter["name"], TYPES.get(parameter["type"], str)
        usual = inspect.Parameter.empty if parameter["required"] else known[name]
        if usual is None:
            kind |= None
        takes.append((name, Annotated[kind, option(row["name"], name)], usual))
    if lists_channels(row):
        takes.append(("csv", BusiestCsv, None))
    takes.append(("as_json", Json, False))

    def run(source: str, as_json: bool, csv: str | None = None, **given: Any) -> None:
        how = {key: given.pop(key) for key in options}
        run_measure(row, source, how, given, (as_json, csv))

    return signed(run, takes, row["doc"].split("\n\n")[0].replace("\n", " "))


def lists_channels(row: dict[str, Any]) -> bool:
    """Whether a measure lists the busiest channels: one with a parameter that says how many."""
    return any(param["name"] == "top" for param in row["params"])


def run_measure(
    row: dict[str, Any], source: str, how: dict[str, Any], given: dict[str, Any],
    into: tuple[bool, str | None],
) -> None:
    """Measures, prints, and ends with 1 where the record says that something does not hold.

    ``into`` says whether JSON is printed, and into which file the busiest channels are written.
    """
    from flyloom.cli.routes import tables_of
    from flyloom.support.progress import bars
    from flyloom.verbs.measures import measure

    for param in row["params"]:
        value = given[param["name"]]
        if param["type"] not in TYPES and value is not None:
            given[param["name"]] = parsed(value)
    with bars() as bar:
        if row["input"] == "routing":
            topology, on, name = tables_of(
                source, how["engine"], how["lmc"], how["layers"], how["option"], bar, how["p"]
            )
            about = {"network": topology.recipe, "engine": name, "lmc": on.lmc, "layers": on.layers}
            found = measure(on, row["name"], progress=bar, **given).to_dict()
        else:
            topology = load_network(source, how["p"])
            about = {"network": topology.recipe}
            found = measure(topology, row["name"], progress=bar, **given).to_dict()
    as_json, csv = into
    if csv != "-":
        emit({**about, **found}, as_json, list(about.items()))
    if not as_json and csv != "-":
        from flyloom.lab.measured import figures

        cells = figures(row["name"], found, tuple(KNOWN.values()))
        print_table(("", "value", "unit", "meaning"), [
            (column["name"], cells[column["name"]], column["unit"], column["meaning"])
            for column in row["columns"]
        ], left=(0, 2, 3))
    if lists_channels(row):
        after_figures(found, csv, as_json)
    raise typer.Exit(0 if found.get("holds", True) else 1)


def example(command: str, row: dict[str, Any]) -> str:
    """A line that runs the command."""
    words = ["flyloom", command, "slim_fly:q=5,p=4"]
    if row["input"] == "routing":
        words += ["--engine", "dfsssp"]
    for param in row["params"]:
        if param["type"] == "int" and isinstance(param["default"], int):
            words += [f"--{flag(param['name'])}", str(param["default"])]
    return " ".join(words)


IN_OTHERS = {"lanes-needed": "lanes"}
"""Commands that another one does the work of: `--help` does not list them."""

for _command, _name in made(GROUPS).items():
    _row = rows()[_name]
    _line = epilog(example(_command, _row))
    app.command(_command, epilog=_line, hidden=_command in IN_OTHERS)(command(_row))
