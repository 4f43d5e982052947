"""What the shell completes words with: names that are known, and files of the right kind.

A function for each kind of word takes what is typed of it and gives what it can become.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from typing import Any

import typer

NETWORKS = (".toml", ".json", ".graphml", ".edges", ".net", ".dot", ".txt")
TRAFFIC = (".csv", ".txt", ".npy", ".npz", ".mtx")
PLACES = (".txt", ".list")
GRAPHS = (".mtx", ".graph", ".grf", ".prof")
BREAKS = {":", "="}
"""Where bash breaks words, besides at blanks."""

_before: list[str] = [""]
"""What stands before the part that the shell replaces: bash has ``a:b`` as three words."""


def words(asked: str, environ: MutableMapping[str, str]) -> list[str]:
    """The words before the one that is completed, as ``environ`` says them.

    ``asked`` is which shell asks for what.

    Words that bash broke are put together in ``environ``, but for the last part of the last one:
    this part is what bash replaces.
    """
    if asked != "complete_bash":
        typed = environ.get("_TYPER_COMPLETE_ARGS", "").split()[1:]
        return typed if environ.get("_TYPER_COMPLETE_ARGS", "").endswith(" ") else typed[:-1]
    given = environ.get("COMP_WORDS", "")
    parts = given.split("\n") if "\n" in given else given.split()
    count = environ.get("COMP_CWORD", "")
    at = int(count) if count.isdigit() else 0
    parts = [*parts[:at + 1], *[""] * (at + 1 - len(parts))]
    whole: list[str] = []
    for i, part in enumerate(parts):
        broken = bool(part) and {*part} <= BREAKS
        follows = i > 0 and bool(parts[i - 1]) and {*parts[i - 1]} <= BREAKS
        if len(whole) > 1 and (broken or follows):
            whole[-1] += part
        else:
            whole.append(part)
    *outer, last = whole or [""]
    part = "" if {*parts[-1]} <= BREAKS else parts[-1]
    if last.startswith("--") and "=" in last:
        name, _, last = last.partition("=")
        outer.append(name)
    _before[0] = last.removesuffix(part) if part else last
    environ["COMP_WORDS"] = "\n".join([*outer, part])
    environ["COMP_CWORD"] = str(len(outer))
    return outer[1:]


def fitting(typed: str, names: Iterable[str]) -> list[str]:
    """The ``names`` that begin with what is typed, without the part that the shell keeps."""
    before = _before[0]
    return [name.removeprefix(before) for name in names if name.startswith(before + typed)]


def choice(*names: str) -> Callable[[str], list[str]]:
    """A function that completes one of these names."""
    def one(incomplete: str) -> list[str]:
        return fitting(incomplete, names)

    return one


def several(*names: str) -> Callable[[str], list[str]]:
    """A function that completes several of these names, with commas between them."""
    def some(incomplete: str) -> list[str]:
        return listed(incomplete, names)

    return some


def listed(typed: str, names: Iterable[str]) -> list[str]:
    """The last name of a list with commas."""
    head, comma, _ = (_before[0] + typed).rpartition(",")
    said = head.split(",")
    return fitting(typed, [head + comma + name for name in names if name not in said])


def parts(kind: str) -> dict[str, list[str]]:
    """Parts of the kind that a word lists, with the names of their parameters; users' too, as far
    as they are known: no package is looked into."""
    from flyloom.plugins.lists import rows

    return {row["name"]: [param["name"] for param in row["params"]]
            for row in rows(kind, installed=False)}


def files(typed: str, endings: tuple[str, ...], folder: str = "") -> list[str]:
    """The files with one of these endings, also packed, and folders that have a file ``folder``.

    Nothing where there are other folders alone: the shell knows better how to walk through them.
    """
    text = _before[0] + typed
    place, stem = os.path.split(text)
    try:
        found = sorted(os.scandir(place or "."), key=lambda entry: entry.name)
    except (OSError, ValueError):
        return []
    names: list[str] = []
    folders: list[str] = []
    for entry in found:
        path = os.path.join(place, entry.name)
        if not entry.name.startswith(stem) or entry.name.startswith(".") > stem.startswith("."):
            continue
        if entry.is_dir():
            holds = folder and os.path.exists(os.path.join(path, folder))
            (names if holds else folders).append(path if holds else f"{path}/")
        elif entry.name.removesuffix(".gz").endswith(endings):
            names.append(path)
    return fitting(typed, [*names, *folders]) if names else []


def families_in(typed: str) -> list[str]:
    """An inline form: a family, or its parameters where only one family fits."""
    known = parts("topologies")
    text = _before[0] + typed
    name, colon, _ = text.partition(":")
    begun = [one for one in known if one.startswith(name)] if not colon else [name]
    if len(begun) != 1:
        return fitting(typed, begun)
    return parameters_in(typed, begun[0], {k: [*own, "gbps"] for k, own in known.items()})


def parameters_in(typed: str, name: str, known: dict[str, list[str]]) -> list[str]:
    """The parameters of a part in ``NAME:key=value,...`` that are not given yet."""
    text = _before[0] + typed
    rest = text.partition(":")[2]
    said = {word.partition("=")[0] for word in rest.split(",")[:-1]}
    head = f"{text.rpartition(',')[0]}," if "," in rest else f"{name}:"
    return keys(typed, [f"{head}{key}=" for key in known.get(name, ()) if key not in said])


def keys(typed: str, names: list[str]) -> list[str]:
    """Names with ``=`` behind them; not one alone, after which the shell would put a blank."""
    found = fitting(typed, names)
    return found if len(found) > 1 else []


def network(incomplete: str) -> list[str]:
    """NET: a family, or a file of a network."""
    return families_in(incomplete) + files(incomplete, NETWORKS)


def tables(incomplete: str) -> list[str]:
    """TABLES or NET: a folder of tables too."""
    return families_in(incomplete) + files(incomplete, NETWORKS, "tables.txt")


def engine(incomplete: str) -> list[str]:
    """An engine, ours or OpenSM's."""
    return fitting(incomplete, engine_names())


def engines(incomplete: str) -> list[str]:
    """Engines, with commas."""
    return listed(incomplete, engine_names())


def engine_names() -> list[str]:
    """Every engine."""
    return [*parts("engines"), *chosen("opensm-engines")]


def engine_option(ctx: typer.Context, incomplete: str) -> list[str]:
    """KEY= of the engine that is named before it."""
    known = parts("engines").get(ctx.params.get("engine") or "dfsssp", [])
    return keys(incomplete, [f"{key}=" for key in known])


def lanes(incomplete: str) -> list[str]:
    """A method of giving lanes."""
    return fitting(incomplete, chosen("lane-methods"))


def families(incomplete: str) -> list[str]:
    """Families, with commas."""
    return listed(incomplete, parts("topologies"))


def pattern(incomplete: str) -> list[str]:
    """A pattern of communication, or its parameters."""
    name, colon, _ = (_before[0] + incomplete).partition(":")
    if colon:
        return parameters_in(incomplete, name, parts("traffic"))
    from flyloom.plugins.lists import rows

    patterns = [row["name"] for row in rows("traffic", installed=False) if "takes" not in row]
    return fitting(incomplete, patterns)


def traffic(incomplete: str) -> list[str]:
    """A traffic by name, or a file of it."""
    from flyloom._core import Traffic

    if ":" in _before[0] + incomplete and (known := pattern(incomplete)):
        return known
    named = [name for names in Traffic.names() for name in names]
    return fitting(incomplete, dict.fromkeys(named)) + files(incomplete, TRAFFIC)


def chosen(kind: str, installed: bool = False) -> list[str]:
    """The names of the parts of a kind, built in and users'; those of packages only where that is
    asked for, as they take their time to load."""
    from flyloom.plugins.lists import rows

    return [row["name"] for row in rows(kind, installed)]


def placement(incomplete: str) -> list[str]:
    """A placement, or a file with endpoints."""
    return fitting(incomplete, chosen("placements", installed=True)) + files(incomplete, PLACES)


def method(incomplete: str) -> list[str]:
    """Steps of a mapping, joined by +."""
    head, plus, _ = (_before[0] + incomplete).rpartition("+")
    return fitting(incomplete, [head + plus + name for name in chosen("methods", True)])


def mapping_format(incomplete: str) -> list[str]:
    """A format of mappings."""
    return fitting(incomplete, chosen("mapping-files"))


def workload_name(incomplete: str) -> list[str]:
    """A collective operation or an application."""
    return fitting(incomplete, chosen("workloads"))


def operation(incomplete: str) -> list[str]:
    """A collective operation, as the names of its algorithms begin."""
    from flyloom._core import workload_list

    names = [row["name"] for row in workload_list() if row["kind"] == "collective"]
    return fitting(incomplete, dict.fromkeys(operation_of(name) for name in names))


def operation_of(algorithm: str) -> str:
    """The operation of an algorithm: what its name begins with."""
    return "reduce_scatter" if algorithm.startswith("reduce_scatter_") else (
        algorithm.partition("_")[0])


def graph(incomplete: str) -> list[str]:
    """A communication graph that is made, a workload by its name, or a file of either."""
    return [*fitting(incomplete, chosen("graphs")), *workload(incomplete),
            *files(incomplete, GRAPHS)]


def setting(level: str) -> Callable[[str], list[str]]:
    """KEY= of ``--set`` of a simulator, by its dotted name."""
    def one(incomplete: str) -> list[str]:
        return keys(incomplete, [f"{name}=" for name in settings(level)])

    return one


def settings(level: str) -> list[str]:
    """The parameters of a simulator by their dotted names."""
    from flyloom import _core

    schema = getattr(_core, f"{level}_schema")()
    return dotted(schema, schema)


def costs_and_tables(incomplete: str) -> list[str]:
    """KEY= of ``--set`` of `workload best`: a letter of LogGOPS, or a parameter of the network."""
    names = [name.removeprefix("costs.") for name in settings("message") if "." in name]
    return keys(incomplete, [f"{name}=" for name in names if name != "preset"])


def column(ctx: typer.Context, incomplete: str) -> list[str]:
    """A column of the table that the command prints, to sort by."""
    from flyloom.verbs import comparison, sizing

    columns = comparison.COLUMNS if ctx.info_name == "compare" else sizing.COLUMNS
    return fitting(incomplete, [key for key, _, _ in columns])


def dotted(table: Mapping[str, Any], schema: Mapping[str, Any], depth: int = 3) -> list[str]:
    """The parameters of a table of a schema by their dotted names, those in its tables too."""
    found: list[str] = []
    for name, one in table.get("properties", {}).items():
        inner = [
            f"{name}.{key}" for part in (one, *one.get("anyOf", ()), *one.get("allOf", ()))
            if depth and "$ref" in part
            for key in dotted(schema["$defs"][part["$ref"].split("/")[-1]], schema, depth - 1)
        ]
        found += inner or [name]
    return found


def workload(incomplete: str) -> list[str]:
    """A workload by its name, or a file of one."""
    from flyloom.inputs.workloads import stands_for_all, stands_for_ranks

    return workload_name(incomplete) + files(
        incomplete, (*stands_for_all(), *stands_for_ranks()))


def costs(incomplete: str) -> list[str]:
    """A preset of what messages cost, or a file of measured ones."""
    from flyloom.inputs.costs import presets

    return fitting(incomplete, presets()) + files(incomplete, (".json",))


def packet_costs(incomplete: str) -> list[str]:
    """A preset of what messages cost at the packet level, where no file is one."""
    return fitting(incomplete, chosen("costs"))


def catalog_name(incomplete: str) -> list[str]:
    """A catalogue that comes with flyloom."""
    return fitting(incomplete, chosen("catalogs"))


def catalog(incomplete: str) -> list[str]:
    """A catalogue, or a file that is one."""
    return catalog_name(incomplete) + toml(incomplete)


def server(incomplete: str) -> list[str]:
    """A server of the newest catalogue."""
    from flyloom._core import Shop

    return fitting(incomplete, [str(one["id"]) for one in Shop().catalog()["servers"]])


def toml(incomplete: str) -> list[str]:
    """A TOML file."""
    return files(incomplete, (".toml",))


def csv(incomplete: str) -> list[str]:
    """A CSV file."""
    return files(incomplete, (".csv",))


def found(incomplete: str) -> list[str]:
    """Saved output of ibnetdiscover."""
    return files(incomplete, (".txt", ".net", ".topo"))


def export_format(incomplete: str) -> list[str]:
    """A format of `export`."""
    return fitting(incomplete, chosen("exports"))


def example(incomplete: str) -> list[str]:
    """An experiment that comes with flyloom."""
    from pathlib import Path

    folder = Path(__file__).parents[1] / "examples"
    return fitting(incomplete, sorted(path.stem for path in folder.glob("*.toml")))


def citable(incomplete: str) -> list[str]:
    """A part that has been published."""
    from flyloom.verbs.citing import citable as names

    return fitting(incomplete, names())


def command(ctx: typer.Context, incomplete: str) -> list[str]:
    """A command."""
    program = ctx.find_root()
    known = getattr(program.command, "commands", {})
    return fitting(incomplete, [name for name, one in known.items() if not one.hidden])


OF_MEASURES = {
    "catalog": catalog, "costs": packet_costs,
    "metric": choice("bandwidth", "congestion", "time", "delay", "channels"),
    "engine": engine, "format": mapping_format, "method": method,
    "graph": graph, "levels": choice("each", "all"), "pattern": pattern,
    "remove": choice("links", "switches"), "placement": placement, "traffic": traffic,
    "until": choice("disconnected", "diameter", "mean"), "workload": workload,
}
"""The kinds of words that parameters of measures are."""
