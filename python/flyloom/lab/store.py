"""The files of an experiment's results: Parquet tables, cable lists, manifest, report."""

from __future__ import annotations

import functools
import io
import json
import os
import platform
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flyloom import _core
from flyloom._core import RefusalError
from flyloom.lab import measured, rows
from flyloom.lab.kept import KEY_SCHEME
from flyloom.support.files import as_bytes, replace, sha256, write_whole
from flyloom.verbs import tidy

if TYPE_CHECKING:
    from flyloom.plugins.parts import PluginPart

PARTS = ("edges", "switch_names", "groups")
"""Facts of a network that stand apart in ``results.json``."""

LISTS = re.compile(r"cables-[A-Za-z0-9.-]+\.csv|choice\.(html|pdf|json|csv)")
"""What an earlier run may have left."""

ROW_KEYS = (
    "switches", "endpoints", "links", "network_radix", "concentration", "radix", "diameter",
    "mean_distance", "girth", "moore_fraction",
)

ROW_TYPES = {
    "string": (
        "point", "network", "recipe", "selection", "traffic", "workload", "cable_cost_basis",
        "engine", "options", "refused",
    ),
    "uint64": ("seed",),
    "int64": (
        "seeds",
        "switches", "endpoints", "links", "network_radix", "concentration", "radix", "diameter",
        "girth", "racks", "cables", "lmc", "layers", "lanes", "max_hops", "edge_forwarding_index",
        "ebb_samples", "deployed_entries", "deployed_differing_entries",
    ),
    "double": (
        "load", "mean_distance", "moore_fraction", "cable_length_m", "cable_cost_usd", "mean_hops",
        "effective_bisection_bandwidth", "ebb_ci95_low", "ebb_ci95_high",
    ),
    "bool": ("verified", "complete", "deadlock_free", "deployed_deadlock_free"),
}
"""The type of each column of ``rows.parquet`` but those of measures and of what was swept."""

ALWAYS = frozenset(
    name for names in ROW_TYPES.values() for name in names if not name.startswith("deployed_")
)
"""The columns of ``rows.parquet`` that are there whatever a run asks for: of networks, of what was
asked for, of tables. Others are there where a point has a value."""

ROW_UNITS = {
    **tidy.KEY_UNITS, "network_radix": "ports", "concentration": "endpoints", "radix": "ports",
    "switches": "switches", "endpoints": "endpoints", "links": "links", "diameter": "hops",
    "mean_distance": "hops", "girth": "hops", "moore_fraction": "1", "racks": "racks",
    "cables": "cables", "cable_length_m": "m", "cable_cost_usd": "USD", "layers": "routes",
    "lanes": "lanes", "max_hops": "hops", "mean_hops": "hops", "edge_forwarding_index": "routes",
    "effective_bisection_bandwidth": "1", "ebb_ci95_low": "1", "ebb_ci95_high": "1",
    "ebb_samples": "patterns", "deployed_entries": "entries",
    "deployed_differing_entries": "entries",
}
"""The units of these columns."""

SERIES_TYPES = {
    "string": ("point", "network", "series", "selection", "traffic", "workload", "x_unit",
               "y_unit"),
    "uint64": ("seed",), "int64": ("seeds",),
    "double": ("x", "y", "load", "y_ci95_low", "y_ci95_high"),
}
"""The type of each column of ``series.parquet`` but those of what was swept."""


def row_types(parts: Sequence[PluginPart] = ()) -> dict[str, tuple[str, ...]]:
    """The columns of ``rows.parquet`` by type, the same whatever was measured; users' measures are
    those among ``parts``. RefusalError where two columns would have one name."""
    more = rows.column_types(parts)
    for part in parts:
        taken = {*rows.column_types(other for other in parts if other is not part),
                 *(name for names in ROW_TYPES.values() for name in names)}
        for name in rows.column_types([part]).keys() & taken - rows.column_types().keys():
            raise RefusalError(f"{part.name}: there is a column '{name}' already; another name")
    return {
        kind: (*names, *(name for name, other in more.items() if other == kind))
        for kind, names in ROW_TYPES.items()
    }


def write(job: Any, records: list[dict[str, Any]], networks: dict[str, dict[str, Any]]) -> Path:
    """Writes everything of one run into ``job.directory``; the path of the report.

    ``networks`` has the facts of each by its key, in the order of the points.

    The manifest, which has their digests, goes first and comes last: where it is, all other files
    are of its run. Cable lists of an earlier run that this one does not have are removed.
    """
    from flyloom.report import build, choice_page, render

    directory: Path = job.directory
    apart = {part: {key: facts[part] for key, facts in networks.items()} for part in PARTS}
    networks = {
        key: {name: fact for name, fact in facts.items() if name not in PARTS}
        for key, facts in networks.items()
    }
    tables = tables_of(job, records, networks)
    files: dict[str, str | bytes] = {
        **{f"{name}.parquet": table for name, table in tables.items()},
        "effective.toml": job.effective,
    }
    for name, facts in zip(file_names(networks), networks.values(), strict=True):
        files[f"cables-{name}.csv"] = facts["plan"]["cables_csv"]
    saved = {
        "experiment": job.experiment, "text": job.text,
        "networks": networks, "records": records, "measures": measured.tables(records, job.parts),
        "stages": job.stages, "skipped": job.skipped, **apart,
    }
    if job.choice:
        saved["choice"] = job.choice
        files |= choice_page.files(job.choice)
    files["results.json"] = json.dumps(saved)

    def lost(why: str) -> None:
        job.skip("charts of the report", why)

    manifest = {
        "schema": 1, "name": job.experiment["name"], "seed": job.seed,
        "flyloom": _core.__version__, "keys": KEY_SCHEME, "code": job.code,
        "points": [record["digest"] for record in records],
        "packages": {name: metadata.version(name) for name in ("numpy", "pyarrow")},
        "machine": machine(), "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "stages": job.stages, "skipped": job.skipped,
        "sha256": {name: sha256(as_bytes(content)) for name, content in files.items()},
    }
    # has no digest in the manifest, which therefore stays true when the report is made anew
    files["report.html"] = render(build.data(saved), lost=lost)
    stale = [name for name in recorded(directory) if LISTS.fullmatch(name) and name not in files]
    place = directory / "manifest.json"
    replace([
        (place, None), *((directory / name, content) for name, content in files.items()),
        *((directory / name, None) for name in stale), (place, json.dumps(manifest, indent=1)),
    ], directory)
    return directory / "report.html"


def tables_of(
    job: Any, records: Sequence[dict[str, Any]], networks: Mapping[str, Mapping[str, Any]]
) -> dict[str, bytes]:
    """The tables of a run as Parquet files, by name: rows and series, both with the keys in which
    points differ, but for those that the columns of all runs have, and rows without the columns
    that no row has a value of (:data:`ALWAYS` aside)."""
    differ = rows.differing(job.points)
    keys = [rows.values(point, differ) for point in job.finished]
    made: list[tuple[int, dict[str, Any]]] = []
    for number, record, point, own in zip(job.numbers, records, job.finished, keys, strict=True):
        facts = networks[record["network_key"]]
        made += [(number, {**one, "refused": None, **own})
                 for one in rows_of(record, facts, job.seed, point, job.parts)]
    for number, error in job.refused.items():
        point = job.points[number]
        made.append((number, {
            **dict.fromkeys(made[0][1]), **rows.values(point, differ), **rows.asked(point),
            "refused": str(error),
            "point": job.digests[number] or None, "network": job.network_named(number),
            **({} if "sim" in point else {"seed": job.seed}),
        }))
    made.sort(key=lambda one: one[0])
    types = row_types(job.parts)
    names = made[0][1] if made else [name for of in types.values() for name in of]
    columns = {name: [one[name] for _, one in made] for name in names}
    twice = rows.twice(columns)
    columns = {
        name: values for name, values in columns.items()
        if name in ALWAYS or (name not in twice and any(value is not None for value in values))
    }
    keys = [{name: own[name] for name in own if name not in twice} for own in keys]
    units = {**ROW_UNITS, **rows.column_units(job.parts)}
    long = series(records, job.finished, keys, job.seed)
    return {
        "rows": parquet(columns, types, units),
        "series": parquet(long, SERIES_TYPES, tidy.KEY_UNITS),
    }


def machine() -> dict[str, Any]:
    """What the manifest says of the machine."""
    return {
        "system": platform.platform(), "python": platform.python_version(),
        "processors": os.cpu_count(),
    }


def recorded(directory: Path) -> dict[str, Any]:
    """The digests of a run's files by its manifest; empty where that is missing, older or none."""
    try:
        found = json.loads((directory / "manifest.json").read_bytes())["sha256"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def file_names(networks: dict[str, dict[str, Any]]) -> list[str]:
    """A part of a file's name for each network: its label where that tells it from the others."""
    labels = [re.sub(r"[^A-Za-z0-9.-]+", "-", f["label"]).strip("-") for f in networks.values()]
    return [
        label if label and labels.count(label) == 1 and len(label) <= 100
        else f"{label[:100]}-{key}".strip("-")
        for label, key in zip(labels, networks, strict=True)
    ]


def rebuild(directory: Path) -> Path:
    """Writes ``report.html`` of a finished run anew from its ``results.json``."""
    from flyloom.report import build, render
    from flyloom.report.check import ReportError
    from flyloom.report.results import results
    from flyloom.support.reading import parsed_json, read_text

    path = directory / "results.json"
    if not os.path.exists(path):
        help_ = "give the folder of a finished run, out/NAME"
        raise RefusalError(f"{path}: cannot be read: No such file or directory; {help_}")
    digest = recorded(directory).get(path.name)
    content = read_text(path, newline="")
    if digest is not None and sha256(content.encode()) != digest:
        raise RefusalError(f"{path}: not what manifest.json says: altered, or of another run; "
                           "run the experiment again, it keeps what is computed")
    saved = parsed_json(content, path, "the results of a run")

    def lost(why: str) -> None:
        print(f"skipped  charts of the report: {why}", file=sys.stderr)

    try:
        results(saved)
        page = render(build.data(saved), lost=lost)
    except ReportError as error:
        raise RefusalError(f"{path}: not the results of a run: {error}") from None
    write_whole(directory / "report.html", page)
    return directory / "report.html"


def rows_of(
    record: dict[str, Any], facts: Mapping[str, Any], seed: int, point: Mapping[str, Any],
    parts: Sequence[PluginPart] = (),
) -> list[dict[str, Any]]:
    """A point as flat rows, one for each load; None where something was not measured."""
    proof, deploy = record["verify"] or {}, record.get("deploy") or {}
    ebb, load = record["ebb"] or {}, record["load"] or {}
    complete, deadlock = proof.get("complete") or {}, proof.get("deadlock") or {}
    low, high = ebb.get("confidence_interval_95") or (None, None)
    structure = {key: facts["structure"].get(key) for key in ROW_KEYS}
    about = {
        "point": record["digest"], "network": record["network"], "recipe": facts["recipe"],
        **dict.fromkeys(tidy.KEYS), "seed": seed, **structure,
        "racks": len(facts["plan"]["racks"]), "cables": facts["plan"]["cables"],
        "cable_length_m": facts["plan"]["length_m"], "cable_cost_usd": facts["plan"]["cost_usd"],
        "cable_cost_basis": cable_basis(
            facts["plan"]["catalog"], facts["plan"]["cables_csv"]
        ),
        "engine": record["engine"], "lmc": record["lmc"], "layers": record["layers"],
        "options": json.dumps(record["options"], sort_keys=True),
        "lanes": record["lanes"], "verified": proof.get("holds"),
        "complete": complete.get("holds"),
        "deadlock_free": bool(deadlock.get("holds")) if proof else None,
        "max_hops": complete.get("max_hops"), "mean_hops": complete.get("mean_hops"),
        "edge_forwarding_index": load.get("edge_forwarding_index"),
        "effective_bisection_bandwidth": ebb.get("effective_bisection_bandwidth"),
        "ebb_ci95_low": low, "ebb_ci95_high": high, "ebb_samples": ebb.get("samples"),
        "deployed_entries": deploy.get("entries"),
        "deployed_differing_entries": deploy.get("differing_entries"),
        "deployed_deadlock_free": deploy.get("deadlock_free"),
    }
    made = rows.rows(record["measures"], point, parts)
    return [{**about, **one, "seed": seed if one["seed"] is None else one["seed"]} for one in made]


@functools.lru_cache(maxsize=16)
def cable_basis(catalog: str, cables_csv: str) -> str:
    """What the price of all cables is by, in the words of `cost`'s basis: catalogue and rates."""
    rates = {float(line.split(",", 6)[5]) for line in cables_csv.splitlines()[1:]}
    at = f" at {' and '.join(f'{rate:g}' for rate in sorted(rates))} Gbit/s" if rates else ""
    return f"{catalog}{at}: all cables"


def series(
    records: Sequence[Mapping[str, Any]], points: Sequence[Mapping[str, Any]],
    keys: Sequence[Mapping[str, Any]], seed: int,
) -> dict[str, Any]:
    """Histograms, samples and curves in long form, as columns: those of ``SERIES_TYPES``, and the
    ``keys`` in which points differ."""
    import pyarrow

    texts = ("point", "network", "series", "x_unit", "y_unit")
    same: dict[str, list[Any]] = {name: [] for name in (*texts, *tidy.KEYS, *(keys or [{}])[0])}
    del same["load"]
    lengths: list[int] = []
    numbers: dict[str, list[Any]] = {name: [] for name in SERIES_TYPES["double"]}
    for record, point, own in zip(records, points, keys, strict=True):
        for curve in _curves(record, point):
            count = len(curve["x"])
            about = {**dict.fromkeys(same), **own, "point": record["digest"],
                     "network": record["network"], "seed": seed}
            for name, values in same.items():
                values.append(curve.get(name, about[name]))
            lengths.append(count)
            for name, column in numbers.items():
                column.extend(curve.get(name) or [None] * count)
    which = numpy_repeat(lengths)
    kinds = {name: kind for kind, names in SERIES_TYPES.items() for name in names}
    made: dict[str, Any] = {}
    for name, values in same.items():
        kind, found = (kinds[name], values) if name in kinds else rows.column(values)
        made[name] = pyarrow.array(found, pyarrow.type_for_alias(kind)).take(which)
    for name, column in numbers.items():
        made[name] = pyarrow.array(column, pyarrow.float64())
    return made


def numpy_repeat(lengths: Sequence[int]) -> Any:
    """The number of each curve, once for every value of it."""
    import numpy
    import pyarrow

    return pyarrow.array(numpy.repeat(numpy.arange(len(lengths)), lengths))


CURVES = {
    "sim.flit": ("accepted_load", "mean_packet_latency_cycles"),
    "sim.packet": ("accepted_gbps", "mean_latency_ns"),
}
"""Figures of simulators' points that stand in ``series.parquet``, by offered load."""


def _curves(record: Mapping[str, Any], point: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The series of a point: histograms and samples, and curves of what was simulated."""
    ebb, proof = record["ebb"] or {}, record["verify"] or {"complete": {}}
    hops = proof["complete"].get("hop_histogram", [])
    means, loads = ebb.get("pattern_means", []), (record["load"] or {}).get("histogram", [])
    for name, (x, x_unit), (y, y_unit) in (
        ("channels_by_routes", ([load[0] for load in loads], "routes"),
         ([load[1] for load in loads], "channels")),
        ("ebb_by_pattern", (range(len(means)), "1"), (means, "1")),
        ("routes_by_hops", (range(len(hops)), "hops"), (hops, "routes")),
    ):
        yield {"series": name, "x": x, "y": y, "x_unit": x_unit, "y_unit": y_unit}
    for name, found in record["measures"].items():
        if name in CURVES:
            yield from _by_load(name, found, point)


def _by_load(
    name: str, found: Mapping[str, Any], point: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """The curves of a simulator: figures by offered load, with their intervals."""
    units = {column["name"]: column["unit"] for column in tidy.columns(name.partition(".")[2])}
    simulated = list(rows.by_load(name, found, point).items())
    for figure in CURVES[name]:
        known = [(at, keys, one["points"][0]) for (at, _), (keys, one) in simulated
                 if one["points"][0][figure] is not None]
        if not known:
            continue
        ends = [tidy.intervals(name.partition(".")[2], one) for _, _, one in known]
        about = {key: known[0][1][key] for key in tidy.KEYS if key != "load"}
        yield {
            **about, "series": f"{measured.word(name)}_{figure}", "x_unit": units["offered_load"],
            "y_unit": units[figure], "load": [at for at, _, _ in known],
            "x": [one["offered_load"] for _, _, one in known],
            "y": [one[figure] for _, _, one in known],
            **{f"y_{end}": [one[f"{figure}_{end}"] for one in ends]
               for end in ("ci95_low", "ci95_high")},
        }


def parquet(
    columns: Mapping[str, Any], types: Mapping[str, tuple[str, ...]], units: Mapping[str, str]
) -> bytes:
    """Columns as the bytes of a Parquet file; the same columns give the same bytes.

    ``types`` lists the columns of each type, which is that of pyarrow by its name, and ``units``
    has what a column's metadata says. A column that ``types``
    does not have is one of values that users gave.
    """
    import pyarrow
    import pyarrow.parquet

    type_of = {name: alias for alias, names in types.items() for name in names}
    whole = dict(columns)
    for name, values in whole.items():
        if name not in type_of and isinstance(values, list):
            type_of[name], whole[name] = rows.column(values)
    fields = [
        tidy.with_unit(pyarrow.field(
            name, pyarrow.type_for_alias(type_of[name]) if name in type_of else values.type
        ), units.get(name, ""))
        for name, values in whole.items()
    ]
    schema = pyarrow.schema(fields)
    buffer = io.BytesIO()
    table = pyarrow.Table.from_pydict(whole, schema=schema)
    pyarrow.parquet.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()
