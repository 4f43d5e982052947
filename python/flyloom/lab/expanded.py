"""Expands the text of an experiment to its points, with the user's parts that they use."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flyloom._core import RefusalError, expand, experiment_plugins
from flyloom.lab.measured import KEYS
from flyloom.plugins.found import load_file, load_named
from flyloom.plugins.functions import split
from flyloom.plugins.parts import KNOWN, PluginPart
from flyloom.support import renamed
from flyloom.support.reading import read_text

_WORD = re.compile(r"[a-z][a-z0-9_]*")


def expanded(
    text: str, file: str | os.PathLike[str]
) -> tuple[dict[str, Any], tuple[PluginPart, ...]]:
    """What ``expand`` of the core says of the experiment ``text`` that ``file`` has, and the users'
    parts that its points ask for.

    The files that it names are loaded, and installed parts whose names it has, where without them
    it could not be.
    """
    name = str(file)
    for plugin in experiment_plugins(text, name):
        try:
            load_file(Path(file).parent / plugin)
        except RefusalError as error:
            raise RefusalError(f"{name}: plugins: {error}") from None
    try:
        found = _expand(text, name)
    except RefusalError:
        if not load_named(_WORD.findall(text)):
            raise
        found = _expand(text, name)
    for note in found["notes"]:
        renamed.say(f"{name}: {note}")
    asked = {which: None for point in found["points"] for which in _asked(point)}
    return found, tuple(KNOWN[which] for which in asked if which in KNOWN)


def foreseen(
    text: str, file: str | os.PathLike[str],
) -> tuple[list[Path], dict[str, Any] | None]:
    """The files of parts that an experiment would run, and what ``expand`` says of it, without
    running any file.

    None for the latter where it cannot be known without the parts. RefusalError where the
    experiment is none, or a file cannot be read or is not Python.
    """
    name = str(file)
    files = [Path(file).parent / plugin for plugin in experiment_plugins(text, name)]
    if not files:
        return [], expanded(text, file)[0]
    for path in files:
        try:
            ast.parse(read_text(path))
        except SyntaxError as error:
            raise RefusalError(f"{name}: plugins: {path}, line {error.lineno}: no Python: "
                               f"{error.msg}") from None
        except ValueError as error:  # a zero byte
            raise RefusalError(f"{name}: plugins: {path}: no Python: {error}") from None
        except RefusalError as error:
            raise RefusalError(f"{name}: plugins: {error}") from None
    try:
        return files, expand(text, name, [])
    except RefusalError:
        return files, None


def _expand(text: str, name: str) -> dict[str, Any]:
    return expand(text, name, [part.row for part in KNOWN.values()])


WORDS = {
    "traffic": "pattern", "placement": "placement", "method": "method",
    "workload": "application", "graph": "application",
}
"""The kinds of parts that parameters of any table name."""


def _asked(point: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Kind and name of the parts of a point."""
    tables = [*(table for table in point.values() if isinstance(table, Mapping)),
              *point.get("sim", {}).values()]
    words = [(kind, one) for table in tables for key, kind in WORDS.items() if key in table
             for one in (table[key] if isinstance(table[key], list) else [table[key]])]
    return [
        ("topology", point["topology"].get("family", "")),
        ("engine", point.get("routing", {}).get("engine", "")),
        *(("measure", name) for name in point if name not in KEYS),
        *((kind, split(name)[0]) for kind, text in words if isinstance(text, str)
          for name in (text.split("+") if kind == "method" else [text])),
    ]


def parts_of(point: Mapping[str, Any], parts: tuple[PluginPart, ...]) -> tuple[PluginPart, ...]:
    """The users' parts that a point uses."""
    asked = _asked(point)
    return tuple(part for part in parts if (part.kind, part.name) in asked)
