"""``@flyloom.topology``: a function becomes a family of networks."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, overload

from flyloom.plugins import parts
from flyloom.plugins.signature import parameters, words, written

Function = TypeVar("Function", bound=Callable[..., Any])

P = {"name": "p", "type": "int", "required": False, "default": None,
     "doc": "Endpoints per switch; default 1."}
"""The parameter that a topology has besides its function's where that says nothing of endpoints."""


@overload
def topology(function: Function) -> Function: ...
@overload
def topology(
    *, members: Iterable[Mapping[str, Any]] = ()
) -> Callable[[Function], Function]: ...
def topology(
    function: Function | None = None, *, members: Iterable[Mapping[str, Any]] = ()
) -> Function | Callable[[Function], Function]:
    """Makes a function a family of networks, by its name.

    Its parameters are the family's: of type ``int``, ``float``, ``str``, ``bool`` or ``list[int]``,
    required where they have no default. It returns pairs of switch numbers from 0, a networkx graph
    (a node's attribute ``endpoints``: how many it carries) or a ``Topology``. ``p``, endpoints per
    switch, default 1, is a parameter besides, unless the function has one of that name or is
    annotated to return a ``Topology``. The function itself stays as it is.

    Parameters
    ----------
    members
        Those that :func:`flyloom.size` chooses among, by their parameters; they are built and
        measured when it is asked. Where one leaves ``p`` out, it has as many endpoints as full
        bandwidth has room for. None: sizing does not consider the family.

    Raises ``RefusalError`` for a name or a signature that cannot be.
    """
    def known(function: Function) -> Function:
        with parts.decorating("topology", function):
            found = parameters(function, taken=("family", "file"))
            own = any(param["name"] == "p" for param in found)
            whole = written(inspect.signature(function).return_annotation).endswith("Topology")
            row = {"doc": words(function)[0], "params": found if own or whole else [*found, P]}
            more = {"p": own, "members": [dict(member) for member in members]}
            parts.add("topology", function, row, more)
        return function

    return known if function is None else known(function)
