"""The table of a need, of its own file or of an experiment: what a network is chosen for."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flyloom._core import RefusalError, check_choice, experiment_place
from flyloom.inputs.catalogs import shop
from flyloom.support.reading import read_text
from flyloom.support.refused import in_front

TERMS = ("server", "protocol", "energy_years", "usd_per_kwh", "pue", "spare", "quotation")
"""The keys of the table ``[choose]`` that are terms of the purchase."""
FILES = ("catalog", "quotation")
"""Those that may name files."""


def need(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The table ``[choose]`` of a TOML file, whose files are looked for beside it.

    RefusalError where the file is no TOML, has no such table, or has a key that is none or has a
    value of another kind; it names the line.
    """
    text = read_text(path)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as why:
        raise RefusalError(f"{path}: {why}") from None
    if not isinstance(document.get("choose"), dict):
        raise RefusalError(f"{path}: there is no table [choose]; it has endpoints = N at least")
    table: dict[str, Any] = document["choose"]
    try:
        check_choice(table)
    except RefusalError as refusal:
        raise placed(refusal, text, path) from None
    return beside(table, Path(path).parent)


def placed(refusal: RefusalError, text: str, path: str | os.PathLike[str]) -> RefusalError:
    """A refusal of the table ``[choose]`` with the file, the line and the column of its key."""
    said = str(refusal).removeprefix("choose: ")
    unknown = said.partition("unknown field `")[2].partition("`")[0]
    keys = f"choose: {unknown or said.partition(': ')[0]}"
    place = experiment_place(text, str(path), keys).removesuffix(f": {keys}")
    return in_front(f"{place}: choose", RefusalError(said))


def beside(table: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The table with the paths of its files, where they stand in this folder."""
    files = {name: str(folder / table[name]) for name in FILES
             if isinstance(table.get(name), str) and (folder / table[name]).is_file()}
    return {**table, **files}


def arguments(table: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword arguments of :func:`flyloom.choose` that a table ``[choose]`` stands for."""
    found = {key: value for key, value in table.items() if key not in TERMS}
    if terms := {key: table[key] for key in TERMS if key in table}:
        found["catalog"] = shop(table.get("catalog"), **terms)
    return found
