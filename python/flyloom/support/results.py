"""Results: what every verb returns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any


class Result(Mapping[str, Any]):
    """A read-only record whose fields are attributes and keys alike.

    ``result.holds`` is ``result["holds"]``; dictionaries inside are results too. ``to_dict()``
    gives plain Python objects, ``to_json()`` their text. The verb that returned it documents its
    fields, with their units.
    """

    __slots__ = ("_fields",)
    _fields: dict[str, Any]

    def __init__(self, fields: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_fields", {k: _wrap(v) for k, v in fields.items()})

    def __getattr__(self, name: str) -> Any:
        try:
            return self._fields[name]
        except KeyError:
            fields = ", ".join(self._fields)
            raise AttributeError(f"no field '{name}'; fields: {fields}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("results are read-only")

    def __getitem__(self, key: str) -> Any:
        return self._fields[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __reduce__(self) -> tuple[type[Result], tuple[dict[str, Any]]]:
        return Result, (self.to_dict(),)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._fields]

    def __repr__(self) -> str:
        inside = ", ".join(f"{k}={_short(v)}" for k, v in self._fields.items())
        return f"Result({inside})"

    def to_dict(self) -> dict[str, Any]:
        """The same as plain dictionaries and lists."""
        return {k: _plain(v) for k, v in self._fields.items()}

    def to_json(self, indent: int | None = None) -> str:
        """The same as JSON text."""
        return json.dumps(self.to_dict(), indent=indent)


def _wrap(value: Any) -> Any:
    if isinstance(value, Mapping) and not isinstance(value, Result):
        return Result(value)
    if isinstance(value, list):
        return [_wrap(item) for item in value]
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"<{type(value).__name__} of {len(text)} characters>"
