"""Parameters by their dotted names, as tables in tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flyloom._core import RefusalError


def nested(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by dotted names as tables in tables; RefusalError where one is both."""
    made: dict[str, Any] = {}
    for name, value in settings.items():
        *tables, last = name.split(".")
        at = made
        for table in tables:
            at = at.setdefault(table, {})
            if not isinstance(at, dict):
                raise RefusalError(f"{name}: {table} is no table")
        if last in at:
            raise RefusalError(f"{name}: given twice")
        at[last] = value
    return made
