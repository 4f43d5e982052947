"""``@flyloom.pattern``, ``placement``, ``mapping_method`` and ``export_format``: functions of a
network that give traffic, an order of endpoints, a mapping, or a text; ``@flyloom.application``: a
function of a number of ranks that gives a schedule."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from flyloom._core import RefusalError, parse_inline, plugin_parameters
from flyloom.plugins import found, parts
from flyloom.plugins.parts import PluginPart, located
from flyloom.plugins.signature import first, parameters, words

Function = TypeVar("Function", bound=Callable[..., Any])


def pattern(function: Function) -> Function:
    """Makes a function a pattern of traffic, by its name.

    It takes the network first, as a ``Topology``, then parameters by name, of the types that
    :func:`topology` has. It returns who sends how much to whom, as :func:`throughput` takes it: a
    matrix, rows of source, destination and amount, or a mapping from pairs of endpoints to amounts.

    Raises ``RefusalError`` for a name or a signature that cannot be.
    """
    return _known("pattern", function, 1)


def placement(function: Function) -> Function:
    """Makes a function a placement, by its name.

    It takes the network first, as a ``Topology``, then parameters by name. It returns endpoints in
    the order in which processes take them, each once.

    Raises ``RefusalError`` for a name or a signature that cannot be.
    """
    return _known("placement", function, 1)


def mapping_method(function: Function) -> Function:
    """Makes a function a method of mapping, by its name.

    It takes the network first, as a ``Topology``, and the communication graph, then parameters by
    name. It returns the endpoint of each process. Built-in methods that improve a mapping can
    follow: ``mine+local``.

    Raises ``RefusalError`` for a name or a signature that cannot be.
    """
    return _known("method", function, 2)


def export_format(function: Function) -> Function:
    """Makes a function a format of :func:`export`, by its name.

    It takes what it writes first, annotated ``Topology``, or ``Routing`` where it needs tables,
    then options by name. It returns the text.

    Raises ``RefusalError`` for a name or a signature that cannot be.
    """
    return _known("export", function, 1)


def application(function: Function) -> Function:
    """Makes a function an application, by its name: a workload beside those that are built in.

    Its first parameter is ``ranks``, how many processes there are; the others are given by name. It
    returns a schedule: a ``Workload``, GOAL as text, or a list with the steps of each rank. A step
    is an operation or a list of operations that begin together: ``("send", bytes, to)``,
    ``("recv", bytes, from)``, both with a tag last where it is not 0, or ``("calc", ns)``. It
    begins when all of the step before have ended.

    Raises ``RefusalError`` for a name or a signature that cannot be.
    """
    with parts.decorating("application", function):
        if next(iter(inspect.signature(function).parameters), "") != "ranks":
            raise RefusalError("its first parameter is ranks, how many processes there are")
        about, said = words(function)
        ranks = {"name": "ranks", "type": "int", "required": True, "default": None,
                 "doc": said.get("ranks", "Processes.")}
        row = {"doc": about, "params": [ranks, *parameters(function, 1)]}
        parts.add("application", function, row, {})
    return function


def _known(kind: str, function: Function, skip: int) -> Function:
    shown = {"method": "mapping_method", "export": "export_format"}.get(kind, kind)
    with parts.decorating(shown, function):
        on = first(function, "the network").rpartition(".")[2]
        row = {"doc": words(function)[0], "params": parameters(function, skip)}
        parts.add(kind, function, row, {"on": "Routing" if on == "Routing" else "Topology"})
    return function


def named(kind: str, text: str) -> tuple[PluginPart, dict[str, Any]] | None:
    """The user's part that a text asks for, ``NAME key=value ...`` or ``NAME:key=value,...``, with
    its parameters; None where there is none of that name."""
    name, rest = split(text)
    if not parts.NAME.fullmatch(name) or (part := found.part(kind, name)) is None:
        return None
    given = parse_inline(f"{name}:{rest}" if rest else name)[1]
    return part, plugin_parameters(part.row, given)


def split(text: str) -> tuple[str, str]:
    """The name of a part in a text, and its parameters with commas between them."""
    words_ = text.split()
    if len(words_) > 1:
        return words_[0], ",".join(words_[1:])
    name, _, rest = text.strip().partition(":")
    return name, rest


def returned(part: PluginPart, given: dict[str, Any], *what: Any) -> Any:
    """What a part's function returns for ``what`` and its parameters; RefusalError where it
    fails."""
    with located(part.name, part.file):
        return part.function(*what, **given)


def wrong(part: PluginPart, why: str) -> RefusalError:
    """The refusal of what a part's function returned."""
    return RefusalError(f"{part.name}: {part.file}, line {part.line}: {why}")
