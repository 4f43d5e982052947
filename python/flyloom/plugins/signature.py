"""What a user's function takes and says: its parameters, with their types, defaults and words."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from flyloom._core import RefusalError

TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,), "float": (float, int), "str": (str,), "bool": (bool,),
    "list[int]": (list, tuple), "str|list[list[Any]]": (str,),
}
"""What a parameter may be annotated with, and what its default may be."""
_ROWS = {"str|list[list[Any]]": "str | list[list]"}
"""What the registry calls those that it does not call as they are written."""

_HEAD = re.compile(r"^(\w+)\s*(?::.*)?$")


def parameters(
    function: Callable[..., Any], skip: int = 0, besides: tuple[str, ...] = (),
    taken: tuple[str, ...] = (),
) -> list[dict[str, Any]]:
    """The parameters of ``function`` as rows of the registry.

    The first ``skip`` are not users' to give, nor are those called as one ``besides``; those called
    as one that is ``taken`` are refused, as is whatever cannot be given by name.
    """
    said = words(function)[1]
    found = []
    for number, given in enumerate(inspect.signature(function).parameters.values()):
        if number < skip or given.name in besides:
            continue
        if given.kind not in (given.POSITIONAL_OR_KEYWORD, given.KEYWORD_ONLY):
            raise RefusalError(f"{given}: parameters have names of their own; name: int = 1")
        if given.name in taken:
            raise RefusalError(f"{given.name}: has a meaning of its own there; another name")
        type_ = written(given.annotation)
        if type_ not in TYPES:
            raise RefusalError(f"{given}: no type of a parameter; {', '.join(TYPES)}")
        required = given.default is given.empty
        if not required and not _fits(given.default, type_):
            raise RefusalError(f"{given}: the default is of another type")
        default = None if required else given.default
        found.append({
            "name": given.name, "type": _ROWS.get(type_, type_), "required": required,
            "default": list(default) if isinstance(default, tuple) else default,
            "doc": said.get(given.name, ""),
        })
    return found


def _fits(value: object, type_: str) -> bool:
    if isinstance(value, bool) and type_ != "bool":
        return False
    if not isinstance(value, TYPES[type_]):
        return False
    return not isinstance(value, (list, tuple)) or all(type(item) is int for item in value)


def written(annotation: object) -> str:
    """An annotation as it is written, whether or not annotations were evaluated."""
    if isinstance(annotation, str):
        return annotation.replace(" ", "").strip("'\"")
    name = getattr(annotation, "__name__", None)
    generic = getattr(annotation, "__args__", None)
    return str(annotation) if generic or name is None else str(name)


def first(function: Callable[..., Any], what: str) -> str:
    """The annotation of the first parameter, which is ``what``; RefusalError without one."""
    for given in inspect.signature(function).parameters.values():
        if given.kind in (given.POSITIONAL_ONLY, given.POSITIONAL_OR_KEYWORD):
            return written(given.annotation)
        break
    raise RefusalError(f"its first parameter is {what}; it has none")


def words(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """What the docstring of ``function`` says before its sections, and of each parameter."""
    text = inspect.getdoc(function) or ""
    about, *sections = re.split(r"\n*^(\w[\w ]*)\n-{3,}\n", text, flags=re.MULTILINE)
    said: dict[str, list[str]] = {}
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        name = ""
        for line in body.splitlines() if title in ("Parameters", "Other Parameters") else ():
            if head := _HEAD.match(line):
                name = head[1]
                said[name] = []
            elif name and line.strip():
                said[name].append(line.strip())
    return about.strip(), {name: " ".join(lines) for name, lines in said.items()}
