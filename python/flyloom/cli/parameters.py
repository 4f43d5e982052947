"""Options of commands that are parameters of measures: type, words and default from the table."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from typing import Any

import typer

from flyloom._core import registry
from flyloom.cli.completion import OF_MEASURES
from flyloom.plugins.parts import KNOWN

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
