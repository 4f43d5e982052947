"""What notebooks show of results: HTML that holds all of it, all text escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from flyloom.support.amounts import figure, heading

ROWS, COLUMNS, FIELDS, CELL = 20, 16, 14, 60
"""Rows and columns of a table, single values beside it, and letters of a cell, at most."""
LEFT = " style='text-align:left'"


def page(
    name: str, fields: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], picture: str = ""
) -> str:
    """A picture, rows, single values; below them, folded, what else there is."""
    single = {key: value for key, value in fields.items()
              if _is_single(value) and value is not None}
    folded = {key: value for key, value in fields.items()
              if not _is_single(value) and value is not rows and len(value) > 0}
    single = {name: single[name] for name in _prices_first(list(single), 1)}
    shown = dict(list(single.items())[:FIELDS])
    rest = {key: value for key, value in single.items() if key not in shown}
    parts = [f"<div>{picture}</div>"] if picture else []
    if rows:
        parts.append(rows_table(rows))
    if shown:
        parts.append(values_table(shown.items()))
    parts += [_fold("more", values_table(rest.items()))] if rest else []
    parts += [_fold(key, _inside(key, value)) for key, value in folded.items()]
    return f"<div><b>{escape(name)}</b>{''.join(parts)}</div>"


def values_table(fields: Iterable[tuple[str, object]], title: str = "") -> str:
    """Names and values below one another."""
    lines = [f"<tr><th{LEFT}>{escape(heading(name))}</th><td{LEFT}>{_cell(value, name)}</td></tr>"
             for name, value in fields]
    head = f"<caption{LEFT}><b>{escape(title)}</b></caption>" if title else ""
    return f"<table>{head}<tbody>{''.join(lines)}</tbody></table>"


def rows_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The first ``ROWS`` rows under the headings of their single values, with the number of rows
    and columns that are left out."""
    flat = [dict(_flat(row)) for row in rows[:ROWS]]
    names = dict.fromkeys(name for row in flat for name in row)
    kept = [name for name in names if any(row.get(name) is not None for row in flat)]
    kept = [name for name in kept if not (name.startswith("params.") and "network" in kept)]
    kept = _prices_first(kept, 4)
    heads = "".join(f"<th{LEFT}>{escape(heading(name))}</th>" for name in kept[:COLUMNS])
    body = "".join(
        "<tr>" + "".join(f"<td{_aligned(row.get(name))}>{_cell(row.get(name), name)}</td>"
                         for name in kept[:COLUMNS]) + "</tr>" for row in flat)
    said = []
    if len(rows) > ROWS:
        said.append(f"{len(rows) - ROWS:,} more rows")
    if len(kept) > COLUMNS:
        said.append(f"{len(kept) - COLUMNS} more columns")
    more = f"<p>and {' and '.join(said)}: to_rows(), to_polars()</p>" if said else ""
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{more}"


def _prices_first(names: list[str], after: int) -> list[str]:
    """Names with those of prices behind the first few."""
    prices = [name for name in names[after:] if "usd" in name.split("_")]
    return [*names[:after], *prices, *[name for name in names[after:] if name not in prices]]


def _aligned(value: object) -> str:
    """The style of a cell: numbers stand right."""
    right = isinstance(value, (int, float)) and not isinstance(value, bool)
    return " style='text-align:right;white-space:nowrap'" if right else LEFT


def _is_single(value: object) -> bool:
    return value is None or isinstance(value, (str, int, float)) or not hasattr(value, "__len__")


def _flat(row: Mapping[str, Any], before: str = "") -> Iterable[tuple[str, Any]]:
    """The single values of a row and of the records in it, by names with dots."""
    for name, value in row.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        elif _is_single(value) or (len(value) <= 4 and all(map(_is_single, value))):
            yield before + name, value


def _inside(name: str, value: Any) -> str:
    """The HTML of what is folded: a record, rows, or a list in a few words."""
    if isinstance(value, Mapping):
        return values_table(leaves(value))
    if isinstance(value, list) and all(isinstance(item, Mapping) for item in value):
        return rows_table(value)
    return f"<p>{_cell(value, name)}</p>"


def leaves(record: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """All values of a record and of those inside, by names with dots; an empty record is one."""
    for name, value in record.items():
        if isinstance(value, Mapping) and value:
            yield from leaves(value, f"{before}{name}.")
        else:
            yield before + name, value


def _fold(name: str, inside: str) -> str:
    return f"<details><summary>{escape(name.replace('_', ' '))}</summary>{inside}</details>"


def _cell(value: Any, name: str) -> str:
    """A value in a few words, as HTML."""
    if isinstance(value, (list, tuple)) or (hasattr(value, "tolist") and hasattr(value, "shape")):
        items = list(value)
        text = ", ".join(figure(item, name) for item in items[:8] if _is_single(item))
        if len(items) > 8 or not all(map(_is_single, items[:8])):
            text = f"{len(items):,} {'values' if all(map(_is_single, items[:8])) else 'records'}"
        return escape(text)
    text = figure(value, name) if value is not None and not isinstance(value, Mapping) else (
        "" if value is None else f"{len(value)} fields")
    return escape(text if len(text) <= 2 * CELL else f"{text[:2 * CELL]}…")
