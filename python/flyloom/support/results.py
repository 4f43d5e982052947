"""Results: what every verb returns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from flyloom.support import displays
from flyloom.support.pictures import Picture, picture_of

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

SHOWN = 20
"""Fields of a record that its text has."""
TABLES = ("members", "rows", "points", "lines", "findings", "programs", "methods", "classes")
"""Lists of which the first that a result has is the one that a notebook shows."""


class Result(Mapping[str, Any]):
    """A read-only record whose fields are attributes and keys alike.

    ``result.holds`` is ``result["holds"]``; dictionaries inside are results too. ``to_dict()``
    gives plain Python objects, ``to_json()`` their text. The verb that returned it documents its
    fields, with their units.

    As a table (``to_rows()``, ``to_arrow()``, ``to_polars()``, ``to_pandas()``) a record is one
    row, and fields of records inside have a dot in their names: ``complete.max_hops``. Where a
    record has a list of records, these are the rows; where it has several, ``of`` says which one,
    but a list called ``rows`` needs no saying. Lists of numbers stay lists.
    """

    __slots__ = ("_fields",)
    _fields: dict[str, Any]

    def __init__(self, fields: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_fields", {k: _wrap(v) for k, v in fields.items()})

    def __getattr__(self, name: str) -> Any:
        if name == "_fields":  # copy and pickle ask before the fields exist
            raise AttributeError(name)
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
        return type(self), (self.to_dict(),)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._fields]

    def __repr__(self) -> str:
        shown = [f"{k}={_short(v)}" for k, v in list(self._fields.items())[:SHOWN]]
        if len(self._fields) > SHOWN:
            shown.append(f"and {len(self._fields) - SHOWN} more fields")
        return f"{type(self).__name__}({', '.join(shown)})"

    def _repr_html_(self) -> str:
        """What a notebook shows: a picture where that is quick, rows, single values; parameters and
        records inside are folded."""
        return displays.page(type(self).__name__, self._fields, self._table(), self._picture())

    def plot(self, what: str | None = None) -> Picture:
        """A picture of the result, which a notebook shows and ``save("a.pdf")`` writes.

        ``what`` says which, where there are several. Raises ``RefusalError`` where there is nothing
        to plot, ``ImportError`` without the extra ``flyloom[report]``.
        """
        return picture_of(self, what)

    def _table(self) -> list[Mapping[str, Any]]:
        """The rows that a notebook shows."""
        lists = self._lists()
        name = next((name for name in TABLES if name in lists), None)
        return self._fields[name] if name else []

    def _picture(self) -> str:
        """The picture that a notebook shows of it, as SVG; empty where there is none."""
        return ""

    def to_dict(self) -> dict[str, Any]:
        """The result as plain dictionaries and lists."""
        return {k: _plain(v) for k, v in self._fields.items()}

    def to_json(self, indent: int | None = None) -> str:
        """The result as JSON text."""
        return json.dumps(self.to_dict(), indent=indent)

    def to_rows(self, of: str | None = None) -> list[dict[str, Any]]:
        """The rows of the record, or of its list ``of``, as plain dictionaries."""
        name = of or self._list()
        if name is None:
            return [dict(flat(self))]
        found: Any = self
        for word in name.split("."):
            found = found.get(word) if isinstance(found, Result) else None
        if not _are_records(found):
            from flyloom._core import RefusalError

            raise RefusalError(f"of: '{name}' is no list of records; {self._known()}")
        return [dict(flat(record)) for record in found]

    def to_arrow(self, of: str | None = None) -> pyarrow.Table:
        """The rows as a table of pyarrow; values of one column that differ in kind are JSON text.
        A column is missing where no row has it."""
        import pyarrow

        rows = self.to_rows(of)
        names = dict.fromkeys(name for row in rows for name in row)
        columns = {name: _column([row.get(name) for row in rows]) for name in names}
        return pyarrow.table(columns)

    def to_polars(self, of: str | None = None) -> polars.DataFrame:
        """The rows as a data frame of polars, which is an extra: ``flyloom[polars]``."""
        table = self.to_arrow(of)
        frame: polars.DataFrame = _extra("polars").from_arrow(table)
        return frame

    def to_pandas(self, of: str | None = None) -> pandas.DataFrame:
        """The rows as a data frame of pandas, which is an extra: ``flyloom[pandas]``."""
        table = self.to_arrow(of)
        _extra("pandas")
        return table.to_pandas()

    def _lists(self) -> list[str]:
        return [name for name, value in self._fields.items() if _are_records(value)]

    def _list(self) -> str | None:
        """The list whose records are the rows; None where there is none."""
        lists = self._lists()
        if len(lists) < 2 or "rows" in lists:
            return "rows" if "rows" in lists else next(iter(lists), None)
        from flyloom._core import RefusalError

        raise RefusalError(f"of: several lists of records; {self._known()}")

    def _known(self) -> str:
        return f"lists here: {', '.join(self._lists()) or 'none'}"


def flat(record: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The fields of a record and of those inside, by names with dots."""
    for name, value in displays.leaves(record):
        yield name, None if isinstance(value, Mapping) else _plain(value)


def value_at(record: object, pointer: str) -> Any:
    """What stands at a JSON pointer."""
    for word in pointer.split("/")[1:]:
        if isinstance(record, Mapping):
            record = record.get(word)
        elif isinstance(record, list) and int(word) < len(record):
            record = record[int(word)]
        else:
            return None
    return record


def _are_records(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, Result) for v in value)


def _column(values: list[Any]) -> Any:
    """The values as an array of Arrow."""
    import pyarrow

    for kind in (None, pyarrow.uint64()):  # pyarrow does not infer uint64 itself
        try:
            return pyarrow.array(values, kind)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, OverflowError, TypeError):
            continue
    return pyarrow.array([None if v is None else json.dumps(v) for v in values])


def _extra(name: str) -> Any:
    """Imports an optional package; a refusal says how to install it where it is missing."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        from flyloom.support.extras import ExtraError

        help_ = f"pip install 'flyloom[{name}]'"
        raise ExtraError(f"to_{name}: {name} is not installed; {help_}") from None


def _wrap(value: Any) -> Any:
    if isinstance(value, Mapping) and not isinstance(value, Result):
        return Result(value)
    if isinstance(value, list):
        return [_wrap(item) for item in value]
    return 0.0 if isinstance(value, float) and value == 0 else value  # minus zero is zero


def _plain(value: Any) -> Any:
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def _short(value: Any) -> str:
    """A value in the text of a record: what is long is counted."""
    text = repr(value)
    if len(text) <= 60:
        return text
    if isinstance(value, str):
        return f"{text[:40]}…'"
    if isinstance(value, Result):
        return f"{type(value).__name__}({len(value)} fields)"
    if isinstance(value, list):
        return f"[{len(value)} {'records' if _are_records(value) else 'values'}]"
    return f"<{type(value).__name__} of {len(value)}>" if hasattr(value, "__len__") else text[:60]
