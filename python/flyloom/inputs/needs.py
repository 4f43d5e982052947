"""The file of a need: what a network is to be chosen for."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from flyloom._core import RefusalError
from flyloom.support.reading import read_text
from flyloom.support.refused import hint

KEYS = ("endpoints", "budget", "gbps", "radix", "oversubscription", "planes", "families", "catalog",
        "include", "weights", "candidates", "seed", "simulate")
"""The keys of the table ``[choose]``: the parameters of :func:`flyloom.choose`."""


def need(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The table ``[choose]`` of a TOML file, as keyword arguments of :func:`flyloom.choose`.

    A catalogue that is a file is looked for beside the file of the need. RefusalError where the
    file is no TOML, has no such table, or has a key that is none.
    """
    text = read_text(path)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as why:
        raise RefusalError(f"{path}: {why}") from None
    table = document.get("choose")
    if not isinstance(table, dict):
        raise RefusalError(f"{path}: there is no table [choose]; it has {', '.join(KEYS)}")
    for key in table:
        if key not in KEYS:
            raise RefusalError(
                f"{path}: choose.{key}: there is no such key; {hint(key, KEYS)}{', '.join(KEYS)}"
            )
    if "endpoints" not in table:
        raise RefusalError(f"{path}: choose.endpoints is missing; the number of endpoints needed")
    if isinstance(catalog := table.get("catalog"), str):
        beside = Path(path).parent / catalog
        if beside.is_file():
            table["catalog"] = str(beside)
    return table
