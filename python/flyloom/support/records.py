"""Records: results whose fields have names and types that a type checker knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from flyloom.support.results import Result


class Record(Result):
    """A result with the fields of its class; a record inside another has a class of its own."""

    __slots__ = ()
    _parts: ClassVar[Mapping[str, type[Record]]] = {}
    """The classes of the records inside, by field."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        parts = self._parts
        super().__init__({
            name: _of(parts[name], value) if name in parts else value
            for name, value in fields.items()
        })

    def __reduce__(self) -> tuple[type[Record], tuple[dict[str, Any]]]:
        return type(self), (self.to_dict(),)


def _of(part: type[Record], value: Any) -> Any:
    """The records that a field holds: one, a list of them, or none."""
    if isinstance(value, list):
        return [_of(part, item) for item in value]
    return part(value) if isinstance(value, Mapping) else value
