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
FILES = {"graph", "traffic", "workload"}
"""Parameters that may name files."""
TAKEN = ("label", "topology", "routing", "lanes", "verify", "ebb", "deploy", "schema", "name",
         "title", "summary", "seed", "sweep", "point", "plugins")
"""Keys of an experiment that no measure can have."""


def measure(
    *, columns: Sequence[Mapping[str, str]], files: Sequence[str] = ()
) -> Callable[[Function], Function]:
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
    files
        Parameters that may name files of an experiment, of those called ``traffic``, ``workload``
        and ``graph``. They are looked for beside the experiment and travel with every point; what
        the function hands on, as ``throughput(on, traffic)``, is then what was read.

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
            own = parameters(function, 1)
            row = {"doc": words(function)[0], "params": own, "input": on.lower(),
                   "columns": _columns(columns), "files": _files(files, own)}
            parts.add("measure", function, row, {})
        return function

    return known


def _files(given: Sequence[str], own: Sequence[Mapping[str, Any]]) -> list[str]:
    """The parameters that may name files."""
    for name in given:
        if name not in FILES or name not in [parameter["name"] for parameter in own]:
            help_ = f"a parameter that is called {', '.join(sorted(FILES))}"
            raise RefusalError(f"files: '{name}'; {help_}")
    return list(given)


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
