"""Checks of numbers and other values that a user gives."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, SupportsIndex

from flyloom._core import RefusalError, whole_amount


def whole(name: str, given: SupportsIndex | str, low: int, high: int) -> int:
    """``given`` as a whole number from ``low`` to ``high``, also as text with a unit: ``"10k"``;
    RefusalError naming it otherwise."""
    try:
        number = with_unit(given) if isinstance(given, str) else None
        value = operator.index(given) if number is None else number  # type: ignore[arg-type]
    except TypeError:
        raise RefusalError(f"{name}: {given!r} is no whole number; {low} to {high}") from None
    if not low <= value <= high:
        raise RefusalError(f"{name}: {value} is out of range; {low} to {high}")
    return value


_NUMBER = re.compile(r"\+?(\d+(?:_\d+)*)(\.\d+)?(?:[eE]\+?(\d{1,3}))?([kKMG]?)")
_BYTES = re.compile(_NUMBER.pattern.replace("[kKMG]?", "(?:[kKMG]|[KMG]i)?") + "B?")
_TIMES = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9,
          "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}


def amount(name: str, text: str, low: int, high: int, of_bytes: bool = False) -> Decimal:
    """A number as people write it: ``10000``, ``10_000``, ``10k``, ``1.5M``, ``2e6``.

    ``k``, ``M`` and ``G`` are thousands, millions and milliards; of bytes, ``Ki``, ``Mi`` and
    ``Gi`` are powers of 1,024, and ``B`` may follow: ``64KiB``. RefusalError naming ``name`` for
    what is no such number, or not from ``low`` to ``high``.
    """
    match = (_BYTES if of_bytes else _NUMBER).fullmatch(text.strip())
    if not match:
        best = "65536, 64KiB, 1.5MB or 2e6" if of_bytes else "10000, 10k, 1.5M or 2e6"
        raise RefusalError(f"{name}: '{text}' is no number; write {best}")
    whole_part, fraction, exponent, times = match.groups()
    digits = Decimal(whole_part.replace("_", "") + (fraction or ""))
    value = digits.scaleb(int(exponent or 0)) * _TIMES[times]
    if not low <= value <= high:
        raise RefusalError(f"{name}: {text} is out of range; {low} to {high}")
    return value


def count(name: str, text: str, low: int, high: int, of_bytes: bool = False) -> int:
    """Reads an amount as :func:`amount`, which must be whole: ``1.5M`` but not ``1.5``."""
    value = amount(name, text, low, high, of_bytes)
    if value != value.to_integral_value():
        raise RefusalError(f"{name}: {text} is no whole number; {low} to {high}")
    return int(value)


def with_unit(text: str) -> int | None:
    """The whole number that digits with a unit or an exponent are, ``64k``, ``64KiB``, ``1.5MB`` or
    ``2e6``; None for anything else."""
    return whole_amount(text)


def whole_number(text: str | int) -> int:
    """A whole number as digits, or with a unit: ``64KiB``. ValueError for anything else."""
    number = with_unit(text) if isinstance(text, str) else None
    return int(text) if number is None else number


def plainly(name: str, value: Any) -> Any:
    """A value as JSON has it: tables and lists of any kind, and numbers of numpy; RefusalError
    naming ``name`` for anything else.
    """
    if isinstance(value, Mapping):
        return {key: plainly(name, inner) for key, inner in value.items()}
    if isinstance(value, (str, bool, int, float)) or value is None:
        return value
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        return value.item()
    if isinstance(value, Iterable):
        return [plainly(name, inner) for inner in value]
    raise RefusalError(f"{name}: {value!r} is no number, word, table or list of some")
