"""Records of measures by name; of users' what their functions return, a value for every column."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from operator import methodcaller
from typing import TYPE_CHECKING, Any

from flyloom._core import RefusalError, Routing, Topology, plugin_parameters
from flyloom.inputs.measured import measured
from flyloom.inputs.networks import network
from flyloom.inputs.tables import Tables, tables
from flyloom.plugins.found import part
from flyloom.plugins.parts import PluginPart, located

if TYPE_CHECKING:
    from flyloom.support.progress import Progress

HOLDS: dict[str, tuple[type, ...]] = {
    "whole": (int,), "real": (int, float), "truth": (bool,), "text": (str,),
}
"""What a value of a column is, by its kind."""


def record_by(
    on: Tables, name: str, given: Mapping[str, Any], progress: Progress | None,
    parts: Iterable[PluginPart] = (),
) -> dict[str, Any]:
    """The record of the measure ``name`` with the parameters ``given``: a user's, among ``parts``
    or found by its name, or one of ours."""
    own = next((one for one in parts if (one.kind, one.name) == ("measure", name)), None)
    if own := own or part("measure", name):
        return _measured(own, on, given)
    return measured(on, name, given, progress)


def _measured(part: PluginPart, on: Tables, given: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a user's measure with the parameters ``given``, of a network or its tables.

    RefusalError for parameters that cannot be, for what the function raises, and where it returns
    no record with every column; it names the plug-in.
    """
    parameters = plugin_parameters(part.row, dict(given))
    of_network = part.row["input"] == "topology"
    target: Topology | Routing = network(on) if of_network else tables(on)
    with located(part.name, part.file):
        returned = part.function(target, **parameters)
    place = f"{part.name}: {part.file}, line {part.line}"
    if not isinstance(returned, Mapping):
        raise RefusalError(f"{place}: returns no mapping from column to value")
    try:
        text = json.dumps(dict(returned), default=methodcaller("tolist"), allow_nan=False)
    except (AttributeError, TypeError, ValueError, RecursionError) as error:
        help_ = "numbers, text, lists and mappings"
        raise RefusalError(f"{place}: returns what JSON cannot hold: {error}; {help_}") from None
    record: dict[str, Any] = json.loads(text)
    for column in part.row["columns"]:
        name, kind = column["name"], column["kind"]
        if name not in record:
            raise RefusalError(f"{place}: returns no '{name}', which is a column")
        value = record[name]
        whole = isinstance(value, HOLDS[kind]) and isinstance(value, bool) == (kind == "truth")
        if value is not None and not whole:
            raise RefusalError(f"{place}: {name}: {value!r} is no {kind} value")
    return record
