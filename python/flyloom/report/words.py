"""Words and numbers of a report's page: the filters of its templates."""

from __future__ import annotations

from collections.abc import Iterable


def count(value: float | None) -> str:
    """A whole number with thousands separators; ``–`` for ``None``; other numbers to 2 decimals."""
    if value is None:
        return "–"
    return f"{int(value):,}" if value == int(value) else f"{value:,.2f}"


def fixed(value: float | None, decimals: int = 3) -> str:
    """A number with a fixed number of decimals and thousands separators; ``–`` for ``None``."""
    return "–" if value is None else f"{value:,.{decimals}f}"


def share(part: float, whole: float) -> str:
    """``part / whole`` in per cent, without decimals; ``–`` when there is no whole."""
    return "–" if not whole else f"{100 * part / whole:.0f} %"


def words(name: str) -> str:
    """A field's name as words: ``deadlock_free`` becomes ``deadlock free``."""
    return name.replace("_", " ")


def few(names: Iterable[str]) -> str:
    """The first five names, and how many more there are."""
    known = list(names)
    more = f" and {len(known) - 5:,} more" if len(known) > 5 else ""
    return ", ".join(known[:5]) + more


def some(what: str, all_: int, which: str, most: int) -> str:
    """A sentence that says how many are shown, where that is not all."""
    return f"Shown are {most} of {all_:,} {what}: {which}." if all_ > most else ""
