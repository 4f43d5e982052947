"""Shapes of data, declared as typed dictionaries, and the one check that holds data against them.

A shape is a ``TypedDict`` whose fields are annotated with their meanings. :func:`walk` gives a
checked copy of a value: behind it every key exists (``None`` when it was left out), numbers are
plain finite Python numbers, and text holds only characters that a page can carry. Fields are
``Count``, ``float``, ``str``, ``bool``, ``Simple``, lists of these, other shapes,
``dict[str, Simple]``, or ``dict[str, Any]``, whose keys are not looked at.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import (
    Annotated,
    Any,
    NewType,
    NotRequired,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from flyloom.draw.svg import printable


class ReportError(ValueError):
    """The report's data is not as described; the message names the field and what is valid."""


Count = NewType("Count", int)
"""A whole number, 0 or more."""
Simple = NewType("Simple", object)
"""A number, a string, a truth value, a list of these, or None."""

SAYS: dict[Any, str] = {
    Count: "a whole number, 0 or more", float: "a finite number", str: "a string",
    bool: "True or False", Simple: "a number, a string, a list of them, or None",
}


@dataclass(frozen=True)
class DictionaryField:
    """A field of a shape."""

    kind: Any
    """A key of :data:`SAYS`, a :class:`DictionaryShape`, or a list of one kind."""
    required: bool
    words: str
    """The meaning of the field."""


@dataclass(frozen=True)
class DictionaryShape:
    """The fields of a dictionary."""

    fields: Mapping[str, DictionaryField]
    more: Any = None
    """The kind of other keys: None if there are none, ``Simple``, or ``Any`` (not checked)."""
    doc: str = ""

    def __or__(self, other: DictionaryShape) -> DictionaryShape:
        """A shape with the fields of both."""
        return DictionaryShape({**self.fields, **other.fields}, self.more or other.more, self.doc)


_MORE: dict[Any, Any] = {}
_Declared = TypeVar("_Declared")


def also(kind: Any) -> Callable[[_Declared], _Declared]:
    """Marks a typed dictionary that has other keys too, with ``kind`` behind them."""
    def marked(declared: _Declared) -> _Declared:
        _MORE[declared] = kind
        return declared

    return marked


@functools.cache
def shape(declared: Any) -> DictionaryShape:
    """The shape that a typed dictionary declares."""
    fields = {}
    for name, hint in get_type_hints(declared, include_extras=True).items():
        required, words = True, ""
        while get_origin(hint) in (NotRequired, Annotated):
            required = required and get_origin(hint) is not NotRequired
            hint, *said = get_args(hint)
            words = said[0] if said else words
        fields[name] = DictionaryField(_kind_of(hint), required, words)
    return DictionaryShape(fields, _MORE.get(declared), (declared.__doc__ or "").split("\n\n")[0])


def _kind_of(hint: Any) -> Any:
    if get_origin(hint) is list:
        return [_kind_of(get_args(hint)[0])]
    if get_origin(hint) is dict:
        return DictionaryShape({}, get_args(hint)[1])
    return hint if hint in SAYS else shape(hint)


def fail(where: str, found: str, valid: str) -> ReportError:
    """The error of a field: what was found there, and what would be valid."""
    return ReportError(f"report: {where}: {found}; {valid}")


def walk(value: object, kind: Any, where: str) -> Any:
    """A checked copy of ``value``, which is of ``kind``; ReportError names the field ``where`` it
    is not. O(size of the value)."""
    if isinstance(kind, DictionaryShape):
        return _walk_mapping(value, kind, where)
    if isinstance(kind, list):
        items = enumerate(_list(value, where))
        return [walk(item, kind[0], f"{where}[{i}]") for i, item in items]
    return _leaf(value, kind, where)


def _walk_mapping(value: object, kind: DictionaryShape, where: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise fail(where, f"{_name(value)} found", "give a dictionary")
    out: dict[str, Any] = {}
    for name, field in kind.fields.items():
        if value.get(name) is not None:
            out[name] = walk(value[name], field.kind, f"{where}.{name}")
        elif not field.required:
            out[name] = None
        else:
            raise fail(f"{where}.{name}", "missing", f"give {_expected(field.kind)}")
    for name in value:
        if name in kind.fields or kind.more is Any:
            continue
        if kind.more is None:
            valid = "valid are " + ", ".join(sorted(kind.fields))
            raise fail(f"{where}.{name}", "unknown key", valid)
        out[str(name)] = walk(value[name], kind.more, f"{where}.{name}")
    return out


def _list(value: object, where: str) -> list[Any]:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Sequence):
        raise fail(where, f"{_name(value)} found", "give a list")
    return list(value)


def _leaf(value: object, kind: Any, where: str) -> object:
    if kind is str and isinstance(value, str):
        return printable(value)
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):
        value = value.item()
    if isinstance(value, bool):
        if kind in (bool, Simple):
            return value
    elif isinstance(value, Integral):
        if kind in (float, Simple) or (kind is Count and int(value) >= 0):
            return int(value)
    elif isinstance(value, Real):
        if kind in (float, Simple) and math.isfinite(value):
            return float(value)
    elif kind is Simple and (value is None or isinstance(value, str)):
        return printable(value) if value else value
    elif kind is Simple and isinstance(value, (list, tuple)):
        return tuple(_leaf(item, Simple, f"{where}[{i}]") for i, item in enumerate(value))
    raise fail(where, f"{value!r:.60} found", f"give {SAYS[kind]}")


def _expected(kind: Any) -> str:
    if isinstance(kind, DictionaryShape):
        return "a dictionary"
    return "a list" if isinstance(kind, list) else SAYS[kind]


def _name(value: object) -> str:
    return "None" if value is None else type(value).__name__


def unique(values: Iterable[object], where: str, what: str) -> None:
    """ReportError where two of ``values``, the ``what`` of the list ``where``, are equal."""
    seen: set[object] = set()
    for place, value in enumerate(values):
        if value in seen:
            raise fail(f"{where}[{place}]", f"{what} {value!r} is given twice", "make it unique")
        seen.add(value)
