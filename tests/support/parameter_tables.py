"""Parameters of simulators, as their schemas have them and as pages of the documentation say."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import Any

from checkout import ROOT


def parameters(schema: dict[str, Any], whole: bool) -> Iterator[tuple[str, Any]]:
    """Every parameter of a schema by its dotted name, with its default. A table that may be absent
    is one parameter where it is ``whole``."""
    yield from _below(schema, schema["$defs"], "", whole)


def _below(
    of: dict[str, Any], parts: dict[str, Any], at: str, whole: bool
) -> Iterator[tuple[str, Any]]:
    for name, field in of["properties"].items():
        forms = (field, *(() if whole else field.get("anyOf", ())))
        refs = [form["$ref"] for form in forms if "$ref" in form]
        inner = parts[refs[0].rpartition("/")[2]] if refs else {}
        if "properties" in inner:
            yield from _below(inner, parts, f"{at}{name}.", whole)
        else:
            yield at + name, field["default"]


def shown(
    schema: dict[str, Any], besides: Collection[str], whole: bool = False
) -> dict[str, str]:
    """The parameters but for those ``besides``, with their defaults as pages write them."""
    known = {name: default for name, default in parameters(schema, whole)
             if name not in besides}
    return {name: "-" if default is None else default if isinstance(default, str)
            else json.dumps(default) for name, default in known.items()}


def said(page: str) -> dict[str, str]:
    """The parameters in the table of a page, with the defaults that it says."""
    text = (ROOT / "docs" / page).read_text()
    table = text.partition("## Parameters")[2].partition("## What is found")[0]
    return dict(re.findall(r"^\| `([a-z_.]+)` \| (\S+) \|", table, re.MULTILINE))
