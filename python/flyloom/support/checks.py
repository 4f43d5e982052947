"""What is checked of numbers that a user gives."""

from __future__ import annotations

import operator
from typing import SupportsIndex

from flyloom._core import RefusalError


def whole(name: str, given: SupportsIndex, low: int, high: int) -> int:
    """``given`` as a whole number from ``low`` to ``high``; RefusalError naming it otherwise."""
    try:
        value = operator.index(given)
    except TypeError:
        raise RefusalError(f"{name}: {given!r} is no whole number; {low} to {high}") from None
    if not low <= value <= high:
        raise RefusalError(f"{name}: {value} is out of range; {low} to {high}")
    return value
