"""Simulations as tidy tables: a row for each load, with what was asked for, figures, intervals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from flyloom._core import simulators
from flyloom.support import pictures
from flyloom.support.results import Result, flat, value_at
from flyloom.support.words import selection_name

if TYPE_CHECKING:
    import pyarrow

RAIL_RATE = "rate of a rail"
KEYS = {
    "selection": "string", "traffic": "string", "workload": "string", "load": "double",
    "seed": "uint64", "seeds": "int64",
}
"""Columns that tell rows of simulations apart, and their types: what packets choose paths by, who
sends to whom, what processes do, the load that was asked for, the first seed, and how many."""
TYPES = {"whole": "int64", "real": "double", "truth": "bool", "text": "string"}
"""The types of columns of figures, by what these hold."""
KEY_UNITS = {"load": RAIL_RATE, "seeds": "runs"}

ABOUT = ("network", "engine")
"""Columns of simulations that say what was simulated."""
ENDS = ("low", "high")
PLAIN = ("offered_load", "saturation_throughput")
"""Real figures that are not means over seeds."""


@cache
def _row(level: str) -> dict[str, Any]:
    return next(row for row in simulators() if row["name"] == f"sim.{level}")


def columns(level: str) -> list[dict[str, Any]]:
    """The figures of a simulator that are columns of tables."""
    found: list[dict[str, Any]] = _row(level)["columns"]
    return found


def usual(level: str, name: str) -> Any:
    """The default of a simulator's parameter."""
    return next(row["default"] for row in _row(level)["params"] if row["name"] == name)


def with_intervals(columns: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The columns of a simulator, each mean followed by the ends of its 95 % confidence interval.

    The interval is that of Student's t over the runs with different seeds, see ``OverSeeds`` of
    the core; there is none of a single run. Source: Student, "The probable error of a mean",
    Biometrika 6(1), 1908.
    """
    for column in columns:
        yield dict(column)
        name = column["name"]
        of_points = column["at"].startswith(("/points/", "/jobs/"))
        over = f"{'/points/0' if of_points else ''}/over_seeds/{name}/confidence_interval_95"
        for place, (end, end_name) in enumerate(zip(ENDS, end_names(column), strict=False)):
            yield {
                **column, "name": end_name, "at": f"{over}/{place}",
                "meaning": f"{end} end of the 95 % confidence interval of {name}, over seeds",
            }


def end_names(column: Mapping[str, Any]) -> list[str]:
    """The columns of the ends of a mean's confidence interval; none of what is no mean."""
    if column["kind"] != "real" or column["name"] in PLAIN:
        return []
    return [f"{column['name']}_ci95_{end}" for end in ENDS]


def by_load(found: Any) -> list[Any]:
    """A simulator's record once for each of its points, with that point alone; another record once,
    as it is."""
    points = found.get("points") if isinstance(found, Mapping) else None
    return [{**found, "points": [point]} for point in points] if points else [found]


def keys_by_load(
    found: Mapping[str, Any], given: Mapping[str, Any] | None = None
) -> list[dict[str, Any]]:
    """What each row of a simulator's record was asked for, by ``KEYS``; ``given`` are all its
    parameters, where the record does not have them."""
    said = found.get("parameters") or {}
    asked = said if "seed" in said else (given or {})
    workload, selection = asked.get("workload") or None, asked.get("selection")
    words = {
        "selection": selection and selection_name(selection),
        "traffic": None if workload else found.get("traffic", asked.get("traffic")),
        "workload": found.get("workload", _words(workload)),
        "seed": asked.get("seed", 0), "seeds": asked.get("seeds", 1),
    }
    loads = asked.get("load")
    wanted = loads if isinstance(loads, list) else [loads]
    points = found.get("points")
    if points is None:
        return [{**words, "load": None}]
    if len(wanted) != len(points) or not all(isinstance(load, int | float) for load in wanted):
        wanted = [point["offered_load"] for point in points]
    if workload:
        wanted = [None] * len(points)
    return [
        {**words, "load": None if load is None else float(load)} for load in wanted
    ]


def _words(workload: Any) -> str | None:
    """The workloads of a run in words."""
    if isinstance(workload, list | tuple):
        return ", ".join(map(str, workload))
    return None if workload is None else str(workload)


class Simulation(Result):
    """What a simulator found. As a table it has a row for each load of every selection and traffic:
    what was asked for (``selection``, ``traffic`` or ``workload``, ``load``, ``seed``, ``seeds``),
    the figures of the point, and the ends of their 95 % confidence intervals, such as
    ``accepted_load_ci95_low``, which are null where there is one seed. In Arrow's schema a column
    has its ``unit``. Of several selections or traffics ``curves`` has what was found of each."""

    __slots__ = ()
    LEVEL = ""

    def to_rows(self, of: str | None = None) -> list[dict[str, Any]]:
        """The rows as plain dictionaries; ``of`` names another list, such as ``jobs``."""
        if of is not None:
            return super().to_rows(of)
        rows = []
        for one in self.get("curves", [self]):
            about = {key: one[key] for key in ABOUT if "points" in one}
            points = one.get("points", [one])
            parts = zip(keys_by_load(one, one), points, by_load(one), strict=True)
            for keys, point, alone in parts:
                figures = {column["name"]: value_at(alone, column["at"])
                           for column in with_intervals(columns(self.LEVEL))}
                rows.append({**about, **dict(flat(point)), **keys, **figures})
        return [{name: row[name] for name in (*ABOUT, *KEYS, *row) if name in row} for row in rows]

    def _table(self) -> list[Mapping[str, Any]]:
        rows = self.to_rows()
        varied = {name for row in rows[1:] for name in KEYS if row.get(name) != rows[0].get(name)}
        known = [column["name"] for column in columns(self.LEVEL)]
        kept = [name for name in (*KEYS, *known) if name in varied or name in known]
        return [{name: row.get(name) for name in kept} for row in rows]

    def _picture(self) -> str:
        runs = self.get("curves", [self])
        drawn = len(runs) > 1 or len(self.get("points", ())) > 1
        return pictures.shown(self) if drawn else ""

    def to_arrow(self, of: str | None = None) -> pyarrow.Table:
        """The rows as a table of pyarrow, with the unit of each column in its metadata."""
        table = super().to_arrow(of)
        if of is not None:
            return table
        known = list(with_intervals(columns(self.LEVEL)))
        types = {**{column["name"]: TYPES[column["kind"]] for column in known}, **KEYS}
        units = {**{column["name"]: column["unit"] for column in known}, **KEY_UNITS}
        import pyarrow

        fields = [
            with_unit(
                field.with_type(pyarrow.type_for_alias(types.get(field.name)))
                if field.name in types else field,
                units.get(field.name, ""),
            )
            for field in table.schema
        ]
        return table.cast(pyarrow.schema(fields))


class FlitSimulation(Simulation):
    """What the flit level found (docs/flit.md)."""

    __slots__ = ()
    LEVEL = "flit"


class PacketSimulation(Simulation):
    """What the packet level found (docs/packet.md)."""

    __slots__ = ()
    LEVEL = "packet"


class MessageSimulation(Simulation):
    """What the message level found (docs/message.md)."""

    __slots__ = ()
    LEVEL = "message"


CLASSES = {one.LEVEL: one for one in (FlitSimulation, PacketSimulation, MessageSimulation)}


def intervals(level: str, point: Mapping[str, Any]) -> dict[str, float | None]:
    """The ends of the confidence intervals of a point, by the names of their columns."""
    over = point.get("over_seeds") or {}
    found: dict[str, float | None] = {}
    for column in columns(level):
        if names := end_names(column):
            spread = over.get(column["name"])
            ends = spread["confidence_interval_95"] if spread else (None, None)
            found |= dict(zip(names, ends, strict=True))
    return found


def with_unit(field: pyarrow.Field, unit: str) -> pyarrow.Field:
    """A field of a schema with its unit in its metadata, where it has one."""
    return field.with_metadata({"unit": unit}) if unit else field
