"""Options of commands that are parameters of stages: type, words and default from the table."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer

from flyloom._core import registry
from flyloom.cli.completion import OF_MEASURES, choice
from flyloom.plugins.parts import KNOWN
from flyloom.support.checks import whole_number

TYPES: dict[str, Any] = {
    "int": int, "float": float, "bool": bool, "str": str,
    "list[int]": list[int], "list[float]": list[float], "list[str]": list[str],
}
"""The Python type of an option, by the type of its parameter; all other types are JSON."""


@cache
def _built_in() -> dict[str, dict[str, Any]]:
    return {part["name"]: part for part in registry() if part["kind"] == "measure"}


def rows() -> dict[str, dict[str, Any]]:
    """The rows of the table of measures, by name; those of users that are known after ours."""
    own = {name: part.row for (kind, name), part in KNOWN.items() if kind == "measure"}
    return {**_built_in(), **own}


def made(groups: Mapping[str, Collection[str]]) -> dict[str, str]:
    """The measures without a command in ``groups``, by the commands that are made for them."""
    by_hand = {name for names in groups.values() for name in names}
    names = {name.replace("_", "-"): name for name in rows()}
    return {command: name for command, name in names.items() if command not in by_hand}


Taken = Iterator[tuple[str, Any, Any]]
"""Options: the name of each, its type for typer, and its default."""


def options_of(
    row: Mapping[str, Any], flags: Mapping[str, tuple[str, ...]] | None = None,
    paths: Mapping[str, str] | None = None,
) -> Taken:
    """The parameters of a stage that are no tables: what is not given is None, and the stage's own
    default. Some have other ``flags`` than their names, and some are ``paths``, by what help shows
    of these."""
    for parameter in row["params"]:
        name, kind = parameter["name"], parameter["type"]
        if kind == "dict":
            continue
        words = (flags or {}).get(name) or (f"--{flag(name)}",)
        text, default = said(parameter["doc"]), parameter["default"]
        if choices := parameter["choices"]:
            text = f"{text}: {', '.join(choices)}"
        if kind == "bool":
            yield name, Annotated[bool, typer.Option(*words, help=text)], False
            continue
        if default not in (None, [], {}, ""):
            text += f" [default: {default}]"
        known = choice(*choices) if choices else OF_MEASURES.get(name)
        metavar = (paths or {}).get(name)
        type_: Any = Path if metavar else TYPES.get(kind, str)
        parser = None
        if kind == "int":
            metavar, parser = "<int>", whole_number
        if several(kind) and not metavar:
            type_, metavar = list[str], "'KEY=VALUE ...'" if "dict" in kind else None
        one: Any = typer.Option(*words, metavar=metavar, help=text, show_default=False,
                                autocompletion=known, parser=parser)
        if parameter["required"]:
            yield name, Annotated[type_, one], inspect.Parameter.empty
        else:
            yield name, Annotated[type_ | None, one], None


def said(doc: str) -> str:
    """A sentence of a table as help says it: without its capital, unless it begins with a name in
    capitals, and without its full stop."""
    text = " ".join(doc.split())
    first = text[:1] if text[:2].isupper() else text[:1].lower()
    return first + text[1:].removesuffix(".")


def several(kind: str) -> bool:
    """Whether a parameter of this type is given once for each of its values."""
    return "list[" in kind and "float" not in kind


def signed(
    run: Callable[..., None], takes: Iterable[tuple[str, Any, Any]], doc: str
) -> Callable[..., None]:
    """``run`` as typer reads a command: its options, each with name, annotation and default."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter(name, keyword, annotation=kind, default=usual)
        for name, kind, usual in takes
    ]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__doc__ = doc
    return run


def flag(name: str) -> str:
    """A parameter as the command line has it."""
    return name.replace("_", "-")


def option(measure: str, parameter: str, *names: str, **more: Any) -> Any:
    """The option of a measure's parameter, in its own words."""
    row = next(row for row in rows()[measure]["params"] if row["name"] == parameter)
    word = flag(parameter)
    usual = f"--{word}/--no-{word}" if row["type"] == "bool" else f"--{word}"
    more.setdefault("autocompletion", OF_MEASURES.get(parameter))
    return typer.Option(*(names or (usual,)), help=" ".join(row["doc"].split()), **more)


def defaults(measure: str) -> dict[str, Any]:
    """What the parameters of a measure are where they are not given; None for an empty list."""
    found = {}
    for row in rows()[measure]["params"]:
        default = None if row["default"] in (None, [], {}) else row["default"]
        plain = row["type"] in TYPES or isinstance(default, (str, type(None)))
        found[row["name"]] = default if plain else json.dumps(default)
    return found
