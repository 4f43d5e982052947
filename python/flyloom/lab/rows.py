"""Rows of points: one for each load, with what tells them apart, all figures, types and units."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from flyloom.lab.measured import TYPES, known, word
from flyloom.support.results import value_at
from flyloom.verbs import tidy

if TYPE_CHECKING:
    from flyloom.plugins.parts import PluginPart

SIM = "sim."
"""What the names of simulators begin with."""


def _tidy(name: str, part: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """The columns of a measure in `rows.parquet`; those of a simulator with their intervals."""
    columns: Iterable[Mapping[str, Any]] = part["columns"]
    return tidy.with_intervals(columns) if name.startswith(SIM) else columns


def column_types(parts: Iterable[PluginPart] = ()) -> dict[str, str]:
    """The type of every column of every measure in `rows.parquet`."""
    return {
        f"{word(name)}_{column['name']}": TYPES[column["kind"]]
        for name, part in known(parts).items() for column in _tidy(name, part)
    }


def column_units(parts: Iterable[PluginPart] = ()) -> dict[str, str]:
    """The unit of every column of every measure that has one."""
    return {
        f"{word(name)}_{column['name']}": column["unit"]
        for name, part in known(parts).items() for column in _tidy(name, part) if column["unit"]
    }


def rows(
    measures: Mapping[str, Any], point: Mapping[str, Any], parts: Iterable[PluginPart] = ()
) -> list[dict[str, Any]]:
    """The rows of a point in `rows.parquet`: one for each load of what was simulated, with what was
    asked of simulators and all columns of all measures; None for what was not.

    A simulator without loads has its figures in every row, as other measures have. Where those of a
    row were asked for different things, the key is None.
    """
    found = known(parts)
    simulated = {name: by_load(name, measures[name], point) for name in found
                 if name.startswith(SIM) and measures.get(name) is not None}
    made = []
    for at in dict.fromkeys(at for of in simulated.values() for at in of if at[0] is not None) or [
        (None, 0)
    ]:
        here = {name: of.get(at) or of.get((None, 0)) for name, of in simulated.items()}
        values: dict[str, Any] = {}
        for name, part in found.items():
            record = measures.get(name)
            if name.startswith(SIM):
                record = one[1] if (one := here.get(name)) else None
            values |= {f"{word(name)}_{column['name']}": value_at(record, column["at"])
                       for column in _tidy(name, part)}
        made.append({**_common([one[0] for one in here.values() if one]), "load": at[0], **values})
    return made


Load = tuple[float | None, int]
"""A load, and which of the points at this load."""


def by_load(
    name: str, found: Mapping[str, Any], point: Mapping[str, Any]
) -> dict[Load, tuple[dict[str, Any], Any]]:
    """What a simulator was asked for and its record with one of its points, for each load."""
    given = point["sim"][name.removeprefix(SIM)]
    made: dict[Load, tuple[dict[str, Any], Any]] = {}
    for keys, one in zip(tidy.keys_by_load(found, given), tidy.by_load(found), strict=True):
        again = sum(load == keys["load"] for load, _ in made)
        made[keys["load"], again] = (keys, one)
    return made


def _common(keys: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Each of ``tidy.KEYS`` with the value that all simulators were asked for, None where they
    differ."""
    return {
        key: keys[0][key] if keys and len({one[key] for one in keys}) == 1 else None
        for key in tidy.KEYS
    }


def asked(point: Mapping[str, Any]) -> dict[str, Any]:
    """What a point asks its simulators for, by those of ``tidy.KEYS`` that need no run."""
    given = [tidy.keys_by_load({}, one)[0] for one in point.get("sim", {}).values()]
    return {name: value for name, value in _common(given).items() if name != "load"}


def twice(columns: Mapping[str, Sequence[Any]]) -> set[str]:
    """The columns of whole keys, such as ``sim.flit.selection``, whose values the columns of
    ``tidy.KEYS`` have, too."""
    found = set()
    for name, values in columns.items():
        key = name.rpartition(".")[2]
        if name.startswith(SIM) and name.count(".") == 2 and key in tidy.KEYS and all(
            value is None or value == same
            for value, same in zip(values, columns[key], strict=True)
        ):
            found.add(name)
    return found


def differing(points: Sequence[Mapping[str, Any]]) -> list[str]:
    """The keys, with dots, in which points differ, and those that tell the simulators of one point
    apart; but for the label, which is a column of its own."""
    leaves = [dict(_leaves(point)) for point in points]
    differ = [name for name in dict.fromkeys(name for one in leaves for name in one)
              if len({_same(one.get(name)) for one in leaves}) > 1]
    for one, point in zip(leaves, points, strict=True):
        for key in tidy.KEYS:
            of = [f"{SIM}{level}.{key}" for level in point.get("sim", {})]
            if key != "load" and len({_same(one.get(name)) for name in of}) > 1:
                differ += [name for name in of if name not in differ]
    return [name for name in differ if name != "label"]


def values(point: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """What a point has at these keys; None where it has no such key."""
    leaves = dict(_leaves(point))
    return {name: leaves.get(name) for name in names}


def column(found: Sequence[Any]) -> tuple[str, list[Any]]:
    """The type of a column of values that users gave, and the values; those that have no common
    type are JSON text."""
    kinds = {type(value) for value in found if value is not None}
    if kinds <= {bool}:
        return "bool", list(found)
    if kinds <= {int}:
        fits = all(value is None or -2**63 <= value < 2**63 for value in found)
        return "int64" if fits else "uint64", list(found)
    if kinds <= {int, float}:
        return "double", [None if value is None else float(value) for value in found]
    return "string", [
        value if value is None or isinstance(value, str) else json.dumps(value) for value in found
    ]


def _same(value: Any) -> Any:
    """A key that is the same for equal values."""
    return json.dumps(value) if isinstance(value, list | dict) else (type(value), value)


def _leaves(asked: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """What a point asks for, by keys with dots."""
    for name, value in asked.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value
