"""From the saved results of a run to the data of its report."""

from __future__ import annotations

from typing import Any

from flyloom import _core

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
        "routings": [_routing(record) for record in saved["records"]],
        "stages": saved["stages"],
        "skipped": saved["skipped"],
    }


def _network(saved: dict, key: str, facts: dict) -> dict[str, Any]:
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


def floor_data(plan: dict, names: list[str]) -> dict[str, Any]:
    """The input of the floor and rack drawings: racks with their switches, and rack pairs."""
    racks = [
        {"name": r["name"], "row": r["row"], "column": r["column"], "switches": [], "endpoints": 0}
        for r in plan["racks"]
    ]
    for switch, seat in enumerate(plan["switches"]):
        place = {"id": switch, "name": names[switch], "unit": seat["unit"]}
        racks[seat["rack"]]["switches"].append(place)
    for seat in plan["endpoints"]:
        if seat is not None:
            racks[seat["rack"]]["endpoints"] += 1
    return {"racks": racks, "rack_pairs": plan["rack_pairs"]}


def _cables(plan: dict) -> dict[str, Any]:
    steps = ("endpoint cables", "inside a group", "inside a rack, between groups", "between racks")
    by_step = [
        {"step": step, "count": count}
        for step, count in zip(steps, plan["by_step"], strict=True)
        if count
    ]
    classes = [
        {
            "kind": c["kind"], "length_m": f"up to {c['stock_m']:g}", "count": c["cables"],
            "cost_usd": c["cost_usd"],
        }
        for c in plan["classes"]
    ]
    return {
        "total": plan["cables"], "by_step": by_step, "classes": _merged(classes),
        "cost_usd": plan["cost_usd"],
        "cost_note": "prices by the linear model of Besta and Hoefler, SC 2014, for the length "
        "needed and the rate of the cable; the cables of endpoints are counted",
    }


def _merged(classes: list[dict]) -> list[dict]:
    """Cables of one kind and length, whether of endpoints or between switches, in one row."""
    merged: dict[tuple, dict] = {}
    for entry in classes:
        row = merged.setdefault(
            (entry["kind"], entry["length_m"]), {**entry, "count": 0, "cost_usd": 0.0}
        )
        row["count"] += entry["count"]
        row["cost_usd"] += entry["cost_usd"]
    return list(merged.values())


def _routing(record: dict) -> dict[str, Any]:
    proof = record["verify"]
    complete, deadlock = proof["complete"], proof["deadlock"]
    load = record["load"] or {}
    histogram = [{"load": n, "channels": c} for n, c in load.get("histogram", [])]
    return {
        "label": record["label"],
        "network": record["network"],
        "engine": record["engine"].removeprefix("opensm:"),
        "source": "opensm" if record["engine"].startswith("opensm:") else "flyloom",
        "lmc": record["lmc"],
        "verified": proof["holds"],
        "lanes": record["lanes"],
        "max_hops": complete.get("max_hops"),
        "mean_hops": complete.get("mean_hops"),
        "edge_forwarding_index": load.get("edge_forwarding_index"),
        "verdicts": _verdicts(complete, deadlock),
        "counterexample": (deadlock or {}).get("counterexample"),
        "load_histogram": histogram or None,
        "ebb": _ebb(record["ebb"]) if record["ebb"] else None,
        "deploy": record.get("deploy"),
    }


def _verdicts(complete: dict, deadlock: dict | None) -> list[dict[str, Any]]:
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


def _ebb(found: dict) -> dict[str, Any]:
    means = found["pattern_means"]
    low, high = min(means), max(means)
    width = (high - low) / BINS or 1.0
    counts = [0] * BINS
    for mean in means:
        counts[min(int((mean - low) / width), BINS - 1)] += 1
    interval = found["confidence_interval_95"] or [low, high]
    bins = [
        {"bin_low": low + i * width, "bin_high": low + (i + 1) * width, "count": count}
        for i, count in enumerate(counts)
    ]
    return {
        "mean": found["effective_bisection_bandwidth"], "ci_low": interval[0],
        "ci_high": interval[1], "patterns": found["patterns"], "histogram": bins,
    }
