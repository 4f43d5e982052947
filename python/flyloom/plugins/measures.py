"""``@flyloom.measure``: a function becomes a measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from flyloom._core import RefusalError
from flyloom.plugins import parts
from flyloom.plugins.signature import first, parameters, words

Function = TypeVar("Function", bound=Callable[..., Any])

KINDS = {"whole", "real", "truth", "text"}
"""What a column holds."""
BETTER = {"higher", "lower", "neither"}
"""Which of its values are the better ones."""
TAKEN = ("label", "topology", "routing", "lanes", "verify", "ebb", "deploy", "schema", "name",
         "title", "summary", "seed", "sweep", "point", "plugins")
"""Keys of an experiment that no measure can have."""


def measure(*, columns: Sequence[Mapping[str, str]]) -> Callable[[Function], Function]:
    """Makes a function a measure, by its name.

    Its first parameter is annotated ``Topology`` or ``Routing``: what it is run on; the others are
    its parameters by name, of the types that :func:`topology` has. It returns a mapping that JSON
    can hold, with a value, or None, for every column. One called ``seed`` is the experiment's where
    that says no other.

    Parameters
    ----------
    columns
        What of the record goes into tables: a mapping each with ``name`` and, where that says
        more, ``unit``, ``meaning`` (a clause), ``better`` (``higher``, ``lower`` or ``neither``,
        the default) and ``kind`` (``real``, the default, ``whole``, ``truth`` or ``text``).

    Raises ``RefusalError`` for a name, a signature or a column that cannot be.
    """
    def known(function: Function) -> Function:
        name = function.__name__
        with parts.decorating("measure", function):
            if name in TAKEN:
                raise RefusalError(f"{name}: a key of experiments; another name")
            on = first(function, "a Topology or a Routing").rpartition(".")[2]
            if on not in ("Topology", "Routing"):
                raise RefusalError("the first parameter: annotate it Topology or Routing")
            row = {"doc": words(function)[0], "params": parameters(function, 1),
                   "input": on.lower(), "columns": _columns(columns)}
            parts.add("measure", function, row, {})
        return function

    return known


def _columns(given: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """The columns as the registry has them."""
    found: list[dict[str, str]] = []
    usual = {"unit": "", "meaning": "", "better": "neither", "kind": "real"}
    for column in given:
        row = {**usual, **column}
        name = row.get("name", "")
        if extra := [key for key in column if key not in ("name", *usual)]:
            raise RefusalError(f"columns: {extra[0]}: no key of a column; name, {', '.join(usual)}")
        if not parts.NAME.fullmatch(name) or any(other["name"] == name for other in found):
            raise RefusalError(f"columns: '{name}': no name of one; small letters, digits and _")
        for key, known in (("better", BETTER), ("kind", KINDS)):
            if row[key] not in known:
                help_ = ", ".join(sorted(known))
                raise RefusalError(f"columns: {name}: {key}: '{row[key]}'; {help_}")
        found.append({**row, "at": f"/{name}"})
    return found
