"""``@flyloom.engine``: a function becomes a routing engine."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar, overload

from flyloom._core import RefusalError
from flyloom.plugins import parts
from flyloom.plugins.signature import first, parameters, words

Function = TypeVar("Function", bound=Callable[..., Any])


@overload
def engine(function: Function) -> Function: ...
@overload
def engine(*, gives: str = "switches") -> Callable[[Function], Function]: ...
def engine(
    function: Function | None = None, *, gives: str = "switches"
) -> Function | Callable[[Function], Function]:
    """Makes a function a routing engine, by its name.

    It takes the network first, as a ``Topology``, then options by name, of the types that
    :func:`topology` has; ``layers``, where it takes that, is how many routes to every terminal are
    wanted (else there is one). It returns next hops or paths; what it does not say is no route.

    Next hops are an array [switch, terminal] or [layer, switch, terminal] of the next switches, or,
    with ``gives="ports"``, of the switch's ports; negative numbers are no route. Paths are an
    iterable of lists of switches, each for all terminals of its last switch, or a mapping from
    (first switch, terminal) to the list; with several layers a list with one of these for each.
    Tables go by destination: paths to one terminal that meet go on as one.

    Raises ``RefusalError`` for a name or a signature that cannot be.
    """
    def known(function: Function) -> Function:
        with parts.decorating("engine", function):
            if gives not in ("switches", "ports"):
                raise RefusalError(f"gives: '{gives}' is neither switches nor ports")
            first(function, "the network")
            found = parameters(
                function, 1, ("layers",), ("engine", "lmc", "lanes", "source", "progress")
            )
            row = {"doc": words(function)[0], "params": found,
                   "promise": {"minimal": False, "deadlock_free": False}}
            layered = "layers" in inspect.signature(function).parameters
            parts.add("engine", function, row, {"gives": gives, "layered": layered})
        return function

    return known if function is None else known(function)
