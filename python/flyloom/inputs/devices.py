"""Which devices of a discovered fabric are endpoints, and what is said of those left out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flyloom._core import RefusalError, Topology
from flyloom.support import machine
from flyloom.support.notes import once
from flyloom.support.reading import shown

KEYS = ("keep", "only", "adapters")

asked: dict[str, Any] = {}
"""The default choice for every fabric; the command line sets it."""



def devices(
    keep: str | Iterable[str] | None = None, only: str | Iterable[str] | None = None,
    adapters: str | None = None,
) -> dict[str, Any] | None:
    """The choice in the form of the core; the one of the command line if none is given."""
    given = {"keep": _patterns("keep", keep), "only": _patterns("only", only)}
    found: dict[str, Any] = {key: patterns for key, patterns in given.items() if patterns}
    if adapters is not None:
        found["adapters"] = _word("adapters", adapters)
    return found or ({**asked, "of_all": True} if asked else None)


def _patterns(key: str, given: Any) -> list[str]:
    """Kinds and patterns: words between commas, or a list of them."""
    if given is None:
        return []
    listed = given.split(",") if isinstance(given, str) else given
    if not isinstance(listed, (list, tuple, set, frozenset)) and not hasattr(listed, "__iter__"):
        raise RefusalError(f"{key}: {shown(repr(given))} is no list of kinds and patterns")
    return [word for word in (_word(key, word).strip() for word in listed) if word]


def _word(key: str, word: Any) -> str:
    if not isinstance(word, str):
        raise RefusalError(f"{key}: {shown(repr(word))} is no kind or pattern")
    return word


def no_fabric(name: str, choice: dict[str, Any] | None) -> None:
    """Refuses a choice for a source that is no discovered fabric; a choice for all networks only
    gets a note that it has no effect there."""
    if not choice:
        return
    why = "keep, only and adapters choose devices of discovered fabrics, which this is not"
    if "of_all" not in choice:
        raise RefusalError(f"{name}: {why}; leave them out")
    once(f"{name}: {why}")


def tell(topology: Topology, name: str) -> Topology:
    """The network; the command line says on standard error what was left out of its file, once."""
    for remark in topology.remarks if machine.tell else ():
        once(f"{name}: {remark}")
    return topology
