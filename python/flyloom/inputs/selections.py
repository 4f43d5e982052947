"""Selections of one's own: how packets choose among the paths that there are, by a score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Selection(Mapping[str, Any]):
    """A selection of one's own: of the candidates that it draws, the one with the lowest score.

    It stands where the name of a selection may stand: ``fl.simulate(net, selection=fl.Selection(
    score="hops * queue + 3 * (1 - is_minimal)"))``; docs/adding-a-selection.md.

    Parameters
    ----------
    score
        The score of a candidate, an expression of ``hops``, ``queue``, ``is_minimal``,
        ``minimal_hops``, ``minimal_queue``, ``via_hops``, ``travelled`` and numbers, with
        ``+ - * /``, comparisons, ``and``, ``or``, ``not``, ``min``, ``max``, ``abs`` and
        ``if(condition, one, other)``. Of equal scores the minimal path is taken, then the candidate
        that was drawn first.
    detours
        Detours that are drawn and compared, each over an intermediate switch: 0 to 64.
    minimal
        Minimal paths that are drawn and compared: 0 to 64.
    decide
        ``"source"``: at the switch of the source. ``"progressive"``: again behind the first hop.
        ``"every"``: at the source, and at every further switch between the ports that lead on.
    name
        What tables and charts call it: letters, digits, ``-`` and ``_``. Empty: its text.
    """

    score: str
    detours: int = 4
    minimal: int = 1
    decide: str = "source"
    name: str = ""

    def __getitem__(self, key: str) -> Any:
        if key not in tuple(self):
            raise KeyError(key)
        return getattr(self, key)

    def __iter__(self) -> Iterator[str]:
        return (field.name for field in fields(self) if field.name != "name" or self.name)

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __str__(self) -> str:
        return said(self)


def said(selection: Any) -> str:
    """A selection as one text, which is the one that results have of it."""
    if not isinstance(selection, Mapping):
        return str(selection)
    usual = {field.name: field.default for field in fields(Selection)}
    values = {name: value for name, value in selection.items() if value != usual.get(name)}
    values["score"] = " ".join(str(values["score"]).split())
    names = [name for name in (*usual, *(n for n in values if n not in usual)) if name in values]
    return " ".join(["custom", *(f"{name}={values[name]}" for name in names)])
