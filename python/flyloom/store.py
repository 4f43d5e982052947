"""The files of an experiment's results: Parquet tables, cable lists, manifest, report."""

from __future__ import annotations

import io
import json
import re
import time
from importlib import metadata
from pathlib import Path
from typing import Any

from flyloom import _core

ROW_KEYS = (
    "switches", "endpoints", "links", "network_radix", "concentration", "radix", "diameter",
    "mean_distance", "girth", "moore_fraction",
)

ROW_TYPES = {
    "string": ("point", "network", "recipe", "engine", "options"),
    "uint64": ("seed",),
    "int64": (
        "switches", "endpoints", "links", "network_radix", "concentration", "radix", "diameter",
        "girth", "racks", "cables", "lmc", "layers", "lanes", "max_hops", "edge_forwarding_index",
        "ebb_patterns", "deployed_entries", "deployed_differing_entries",
    ),
    "double": (
        "mean_distance", "moore_fraction", "cable_length_m", "cable_cost_usd", "mean_hops",
        "effective_bisection_bandwidth", "ebb_ci95_low", "ebb_ci95_high",
    ),
    "bool": ("verified", "complete", "deadlock_free", "deployed_deadlock_free"),
}
"""The type of each column of ``rows.parquet``: the same whatever was measured."""

SERIES_TYPES = {"string": ("point", "series"), "double": ("x", "y")}
"""The type of each column of ``series.parquet``."""


def write(job: Any, records: list[dict], networks: dict[str, dict]) -> Path:
    """Writes everything of one run into ``job.directory``; the path of the report.

    The manifest goes first and comes last: where it is, all other files are of its run.
    """
    from flyloom.experiment import code_digest, machine, write_whole
    from flyloom.report import build, render

    directory = job.directory
    (directory / "manifest.json").unlink(missing_ok=True)
    rows = [row(record, networks[record["network_key"]], job.seed) for record in records]
    write_whole(directory / "rows.parquet", parquet(rows, ROW_TYPES))
    write_whole(directory / "series.parquet", parquet(series(records), SERIES_TYPES))
    for name, facts in zip(file_names(networks), networks.values(), strict=True):
        write_whole(directory / f"cables-{name}.csv", facts["plan"]["cables_csv"])
    write_whole(directory / "effective.toml", job.effective)
    saved = {
        "experiment": job.experiment, "text": job.path.read_text(encoding="utf-8"),
        "networks": networks, "records": records, "stages": job.stages, "skipped": job.skipped,
        "edges": {key: job.networks[key][0].edges.tolist() for key in networks},
        "switch_names": {key: job.networks[key][0].switch_names for key in networks},
        "groups": {key: job.networks[key][0].groups.tolist() for key in networks},
    }
    write_whole(directory / "results.json", json.dumps(saved))
    manifest = {
        "schema": 1, "name": job.experiment["name"], "seed": job.seed,
        "flyloom": _core.__version__, "code": code_digest(),
        "points": [record["digest"] for record in records],
        "packages": {name: metadata.version(name) for name in ("numpy", "pyarrow")},
        "machine": machine(), "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "stages": job.stages, "skipped": job.skipped,
    }
    write_whole(directory / "report.html", render(build.data(saved)))
    write_whole(directory / "manifest.json", json.dumps(manifest, indent=1))
    return directory / "report.html"


def file_names(networks: dict[str, dict]) -> list[str]:
    """A part of a file's name for each network: its label where that tells it from the others."""
    labels = [re.sub(r"[^A-Za-z0-9.-]+", "-", f["label"]).strip("-") for f in networks.values()]
    return [
        label if label and labels.count(label) == 1 else f"{label}-{key}".strip("-")
        for label, key in zip(labels, networks, strict=True)
    ]


def rebuild(directory: Path) -> Path:
    """Writes ``report.html`` of a finished run anew from its ``results.json``."""
    from flyloom._core import RefusalError
    from flyloom.experiment import write_whole
    from flyloom.report import build, render

    path = directory / "results.json"
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        help_ = "give the folder of a finished run, out/NAME"
        raise RefusalError(f"{path}: cannot be read: {error.strerror}; {help_}") from None
    except ValueError as error:
        raise RefusalError(f"{path}: not the results of a run: {error}") from None
    wanted = {"experiment", "networks", "records", "stages", "skipped", "edges"}
    if not isinstance(saved, dict) or not wanted <= set(saved) or not saved["records"]:
        raise RefusalError(f"{path}: not the results of a run, or of none of its points")
    write_whole(directory / "report.html", render(build.data(saved)))
    return directory / "report.html"


def row(record: dict, facts: dict, seed: int) -> dict[str, Any]:
    """One point as a flat row; units are in the names, None where something was not measured."""
    proof, deploy = record["verify"], record.get("deploy") or {}
    ebb, load = record["ebb"] or {}, record["load"] or {}
    complete = proof["complete"]
    low, high = ebb.get("confidence_interval_95") or (None, None)
    structure = {key: facts["structure"].get(key) for key in ROW_KEYS}
    return {
        "point": record["digest"], "network": record["network"], "recipe": facts["recipe"],
        **structure,
        "racks": len(facts["plan"]["racks"]), "cables": facts["plan"]["cables"],
        "cable_length_m": facts["plan"]["length_m"], "cable_cost_usd": facts["plan"]["cost_usd"],
        "engine": record["engine"], "lmc": record["lmc"], "layers": record["layers"],
        "options": json.dumps(record["options"], sort_keys=True), "seed": seed,
        "lanes": record["lanes"], "verified": proof["holds"], "complete": complete["holds"],
        "deadlock_free": bool(proof["deadlock"] and proof["deadlock"]["holds"]),
        "max_hops": complete.get("max_hops"), "mean_hops": complete.get("mean_hops"),
        "edge_forwarding_index": load.get("edge_forwarding_index"),
        "effective_bisection_bandwidth": ebb.get("effective_bisection_bandwidth"),
        "ebb_ci95_low": low, "ebb_ci95_high": high, "ebb_patterns": ebb.get("patterns"),
        "deployed_entries": deploy.get("entries"),
        "deployed_differing_entries": deploy.get("differing_entries"),
        "deployed_deadlock_free": deploy.get("deadlock_free"),
    }


def series(records: list[dict]) -> list[dict[str, Any]]:
    """Histograms and samples in long form: point, series, x, y."""
    rows = []
    for record in records:
        point = record["digest"]
        for load, channels in (record["load"] or {}).get("histogram", []):
            rows.append({"point": point, "series": "channels_by_routes", "x": load, "y": channels})
        for i, mean in enumerate((record["ebb"] or {}).get("pattern_means", [])):
            rows.append({"point": point, "series": "ebb_by_pattern", "x": i, "y": mean})
        for hops, routes in enumerate(record["verify"]["complete"].get("hop_histogram", [])):
            rows.append({"point": point, "series": "routes_by_hops", "x": hops, "y": routes})
    return [{**r, "x": float(r["x"]), "y": float(r["y"])} for r in rows]


def parquet(rows: list[dict[str, Any]], types: dict[str, tuple[str, ...]]) -> bytes:
    """Rows as the bytes of a Parquet file; the same rows give the same bytes.

    ``types`` lists the columns of each type, which is that of pyarrow by its name.
    """
    import pyarrow
    import pyarrow.parquet

    type_of = {name: alias for alias, names in types.items() for name in names}
    columns = list(rows[0]) if rows else list(type_of)
    schema = pyarrow.schema([(name, pyarrow.type_for_alias(type_of[name])) for name in columns])
    buffer = io.BytesIO()
    table = pyarrow.Table.from_pylist(rows, schema=schema)
    pyarrow.parquet.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()
