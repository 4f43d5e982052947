"""Tables by engines of users: what their functions return, as a routing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy

from flyloom._core import (
    RefusalError,
    Routing,
    Topology,
    plugin_parameters,
    tables_of_hops,
    tables_of_paths,
)
from flyloom.plugins.parts import PluginPart, located

_Path = tuple[int, int | None, list[int]]
"""Layer, terminal (None: all of the last switch), switches."""


def routed(part: PluginPart, topology: Topology, given: Mapping[str, Any], layers: int) -> Routing:
    """Tables of ``layers`` layers by a user's engine with the options ``given``, on the ``lanes``
    among them, or on one.

    RefusalError for options that cannot be, for what the function raises, and where what it returns
    is no routing of the network; it names the plug-in.
    """
    lanes = {key: value for key, value in given.items() if key == "lanes"}
    own = {key: value for key, value in given.items() if key not in lanes}
    options = plugin_parameters(part.row, own)
    if layers > 1 and not part.more["layered"]:
        raise RefusalError(f"{part.name}: layers: {layers}; it gives one route to every terminal")
    more = {"layers": layers} if part.more["layered"] else {}
    with located(part.name, part.file):
        returned = part.function(topology, **more, **options)
        array = hasattr(returned, "__array__")
        found = numpy.asarray(returned) if array else _listed(returned, layers)
    if isinstance(found, numpy.ndarray):
        next_ = _hops(part, topology, found, layers)
        made = tables_of_hops(topology, part.name, options, next_, part.more["gives"] == "ports")
        return made.spread(lanes) if lanes else made
    if part.more["gives"] == "ports":
        raise RefusalError(f"{_place(part)}: it says that it gives ports; an array of them")
    paths = _paths(part, found, layers)
    made = tables_of_paths(topology, part.name, options, paths, layers)
    return made.spread(lanes) if lanes else made


def _place(part: PluginPart) -> str:
    return f"{part.name}: {part.file}, line {part.line}"


def _hops(part: PluginPart, topology: Topology, found: numpy.ndarray, layers: int) -> Any:
    """An array of next hops by layer; RefusalError where it has not the shape or type."""
    wanted = (layers, topology.switches, topology.terminals)
    whole = found[None] if found.ndim == 2 else found
    if whole.shape != wanted or whole.dtype.kind not in "iu":
        raise RefusalError(
            f"{_place(part)}: returns an array of shape {found.shape} and type {found.dtype};"
            f" whole numbers by layer, switch and terminal, {wanted}"
        )
    return numpy.ascontiguousarray(whole, dtype=numpy.int64)


def _listed(returned: Any, layers: int) -> list[Any]:
    """Paths by layer; what is computed as it is asked for is computed here."""
    whole = list(returned) if isinstance(returned, Iterator) else returned
    by_layer = [whole] if layers == 1 or not isinstance(whole, Sequence) else whole
    return [list(one) if isinstance(one, Iterator) else one for one in by_layer]


def _paths(part: PluginPart, found: Sequence[Iterable[Any]], layers: int) -> list[_Path]:
    """Paths as the core takes them; RefusalError where some are none."""
    paths: list[_Path] = []
    if len(found) != layers:
        raise RefusalError(f"{_place(part)}: returns {len(found)} layers; {layers} are wanted")
    try:
        for layer, one in enumerate(found):
            if not isinstance(one, Mapping):
                paths += [(layer, None, _switches(path)) for path in one]
                continue
            for (first, terminal), path in one.items():
                switches = _switches(path)
                if switches[:1] != [first]:
                    shown = " > ".join(map(str, switches[:12]))
                    raise RefusalError(f"{_place(part)}: path {shown}: does not begin at {first}")
                paths.append((layer, _number(terminal), switches))
    except (TypeError, ValueError) as error:
        if isinstance(error, RefusalError):
            raise
        help_ = "an array of next hops, lists of switches, or a mapping from (switch, terminal)"
        raise RefusalError(f"{_place(part)}: what it returns are no routes; {help_}") from None
    return paths


def _switches(path: Iterable[Any]) -> list[int]:
    return [_number(switch) for switch in path]


def _number(given: Any) -> int:
    number = int(given)
    if number != given or not 0 <= number < 1 << 32:
        raise ValueError(given)
    return number
