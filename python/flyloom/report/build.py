"""From the saved results of a run to the data of its report."""

from __future__ import annotations

import json
from typing import Any

from flyloom import _core
from flyloom.draw.floor import floor_data
from flyloom.support.words import amount

BINS = 24


def data(saved: dict[str, Any]) -> dict[str, Any]:
    """The input of :func:`flyloom.report.page.render` for the ``results.json`` of a run."""
    experiment = saved["experiment"]
    networks = [_network(saved, key, facts) for key, facts in saved["networks"].items()]
    return {
        "title": experiment.get("title") or experiment["name"],
        "summary": experiment.get("summary"),
        "flyloom_version": _core.__version__,
        "seed": experiment["seed"],
        "experiment_toml": saved["text"],
        "networks": networks,
        "routings": [_routing(record) for record in saved["records"] if record["verify"]],
        "simulations": [found for record in saved["records"] for found in _simulated(record)],
        "packets": [found for record in saved["records"] for found in _packets(record)],
        "messages": [run for record in saved["records"] for run in _played(record)],
        "mappings": [run for record in saved["records"] for run in _mapped(record)],
        "measures": [_measure(measure) for measure in saved.get("measures") or []],
        "stages": saved["stages"],
        "skipped": saved["skipped"],
    }


def _network(saved: dict[str, Any], key: str, facts: dict[str, Any]) -> dict[str, Any]:
    structure, plan = facts["structure"], facts["plan"]
    keys = (
        "switches", "endpoints", "links", "network_radix", "concentration", "radix", "diameter",
        "mean_distance", "girth", "moore_bound", "moore_fraction",
    )
    return {
        "label": facts["label"],
        "recipe": facts["recipe"],
        "structure": {key: structure.get(key) for key in keys},
        "edges": saved["edges"][key],
        "switch_names": saved["switch_names"][key],
        "switch_groups": saved["groups"][key],
        "floor": floor_data(plan, saved["switch_names"][key]),
        "cables": _cables(plan),
    }


def _cables(plan: dict[str, Any]) -> dict[str, Any]:
    steps = ("endpoint cables", "inside a group", "inside a rack, between groups", "between racks")
    by_step = [
        {"step": step, "count": count}
        for step, count in zip(steps, plan["by_step"], strict=True)
        if count
    ]
    classes = [
        {
            "kind": c["kind"], "length_m": f"up to {amount(c['stock_m']).replace(',', '')}",
            "count": c["cables"],
            "cost_usd": c["cost_usd"],
        }
        for c in plan["classes"]
    ]
    return {
        "total": plan["cables"], "length_m": plan.get("length_m"), "by_step": by_step,
        "classes": _merged(classes),
        "cost_usd": plan["cost_usd"],
        "cost_note": f"prices of the catalogue {plan['catalog']}, for the length needed and the "
        "rate of the cable; the cables of endpoints are counted",
    }


def _merged(classes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Cables of one kind and length, whether of endpoints or between switches, in one row."""
    merged: dict[tuple[Any, ...], dict[str, Any]] = {}
    for entry in classes:
        row = merged.setdefault(
            (entry["kind"], entry["length_m"]), {**entry, "count": 0, "cost_usd": 0.0}
        )
        row["count"] += entry["count"]
        row["cost_usd"] = round(row["cost_usd"] + entry["cost_usd"], 6)
    return list(merged.values())


def _routing(record: dict[str, Any]) -> dict[str, Any]:
    proof = record["verify"]
    complete, deadlock = proof["complete"], proof.get("deadlock")
    load = record.get("load") or {}
    histogram = [{"load": n, "channels": c} for n, c in load.get("histogram", [])]
    return {
        "label": record["label"],
        "called": record.get("called"),
        "network": record["network"],
        "engine": record["engine"].removeprefix("opensm:"),
        "source": "opensm" if record["engine"].startswith("opensm:") else "flyloom",
        "lmc": record["lmc"],
        "verified": proof["holds"],
        "lanes": record.get("lanes"),
        "max_hops": complete.get("max_hops"),
        "mean_hops": complete.get("mean_hops"),
        "edge_forwarding_index": load.get("edge_forwarding_index"),
        "verdicts": _verdicts(complete, deadlock),
        "counterexample": (deadlock or {}).get("counterexample"),
        "load_histogram": histogram or None,
        "ebb": _ebb(record["ebb"]) if record.get("ebb") else None,
        "deploy": record.get("deploy"),
    }


def _measure(measure: dict[str, Any]) -> dict[str, Any]:
    """The table of a measure, with what was asked by dotted names."""
    rows = [{**row, "parameters": _dotted(row.get("parameters") or {})} for row in measure["rows"]]
    return {**measure, "rows": rows}


def _simulated(record: dict[str, Any]) -> list[dict[str, Any]]:
    """What simulators found at a point, with what was asked of them by dotted names."""
    asked, label = record.get("asked") or {}, record.get("called") or record["label"]
    return [
        {**found, "network": record["network"], "label": label,
         "parameters": _dotted(asked.get(name.removeprefix("sim.")) or {})}
        for name, found in (record.get("measures") or {}).items() if name == "sim.flit"
    ]


def _packets(record: dict[str, Any]) -> list[dict[str, Any]]:
    """What the packet level found at a point, as :func:`_simulated`; what only its own page shows
    stays behind."""
    label, out = record.get("called") or record["label"], []
    for name, found in (record.get("measures") or {}).items():
        if name != "sim.packet":
            continue
        points = found.get("points")
        if isinstance(points, list):
            points = [_without(point, ("ranks", "series")) for point in points]
        asked = dict((record.get("asked") or {}).get("packet") or {})
        if isinstance(asked.get("workload"), list):
            asked["workload"] = " + ".join(map(str, asked["workload"]))
        behind = asked.get("background")
        if isinstance(behind, list):
            asked["background"] = behind[0] if len(behind) == 1 else {
                str(place + 1): one for place, one in enumerate(behind)}
        out.append({"network": record["network"], "label": label, "parameters": _dotted(asked),
                    "jobs": found.get("jobs"), "points": points})
    return out


def _without(point: Any, names: tuple[str, ...]) -> Any:
    """A point without these of its fields."""
    if not isinstance(point, dict):
        return point  # which the report refuses
    return {key: value for key, value in point.items() if key not in names}


def _played(record: dict[str, Any]) -> list[dict[str, Any]]:
    """What a run of messages found at a point, as :func:`_simulated`."""
    asked, label = record.get("asked") or {}, record.get("called") or record["label"]
    return [
        {key: found[key] for key in ("ranks", "finish_ns", "mean_finish_ns", "messages",
                                     "sent_bytes")}
        | {"busiest_link_use": (found.get("network") or {}).get("busiest_link_use"),
           "network": record["network"], "label": label,
           "parameters": _dotted(asked.get("message") or {})}
        for name, found in (record.get("measures") or {}).items() if name == "sim.message"
    ]


def _mapped(record: dict[str, Any]) -> list[dict[str, Any]]:
    """What a mapping found at a point."""
    found = (record.get("measures") or {}).get("map")
    if not isinstance(found, dict):
        return []
    keys = ("method", "graph", "processes", "average_dilation", "maximum_congestion", "finish_ns")
    label = record.get("called") or record["label"]
    return [{key: found.get(key) for key in keys} | {"network": record["network"], "label": label}]


def _dotted(tables: dict[str, Any]) -> dict[str, Any]:
    """Tables in tables as one, with dots between the names; lists of tables as text."""
    out: dict[str, Any] = {}
    for key, value in tables.items():
        if isinstance(value, dict):
            out |= {f"{key}.{name}": inner for name, inner in _dotted(value).items()}
        elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
            out[key] = json.dumps(value)
        else:
            out[key] = value
    return out


def _verdicts(complete: dict[str, Any], deadlock: dict[str, Any] | None) -> list[dict[str, Any]]:
    arrived = complete.get("counterexample") or f"{complete.get('routes')} routes followed"
    verdicts = [{"name": "every route arrives", "holds": complete["holds"], "witness": arrived}]
    if deadlock is None:
        return verdicts
    if deadlock["holds"]:
        witness = f"channels numbered so that {deadlock['dependencies']} dependencies rise"
        verdicts.append({"name": "deadlock-free", "holds": True, "witness": witness})
        again = "every path walked, numbers rise" if deadlock["rechecked"] else "refused"
        verdicts.append(
            {"name": "separate checker", "holds": deadlock["rechecked"], "witness": again}
        )
    else:
        witness = f"a cycle of {len(deadlock['cycle'])} channels"
        verdicts.append({"name": "deadlock-free", "holds": False, "witness": witness})
    return verdicts


def _ebb(found: dict[str, Any]) -> dict[str, Any]:
    import numpy

    means = numpy.array(found["pattern_means"])
    low, high = float(means.min()), float(means.max())
    width = (high - low) / BINS or 1.0
    place = numpy.minimum(((means - low) / width).astype(int), BINS - 1)
    counts = numpy.bincount(place, minlength=BINS).tolist()
    interval = found.get("confidence_interval_95") or [low, high]
    bins = [
        {"bin_low": low + i * width, "bin_high": low + (i + 1) * width, "count": count}
        for i, count in enumerate(counts)
    ]
    return {
        "mean": found["effective_bisection_bandwidth"], "ci_low": interval[0],
        "ci_high": interval[1], "patterns": found["patterns"], "histogram": bins,
    }
