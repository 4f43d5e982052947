"""What a run says of its stages, one line each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def design_line(label: str, structure: dict[str, Any]) -> str:
    """A network in one line."""
    return (
        f"{label}: {structure['switches']} switches, {structure['endpoints']} "
        f"endpoints, {structure['links']} links, diameter {structure['diameter']}"
    )


def plan_line(label: str, plan: dict[str, Any]) -> str:
    """Racks and cables in one line."""
    return (
        f"{label}: {len(plan['racks'])} racks, {plan['cables']} cables, "
        f"{plan['length_m']:.0f} m"
    )


def lanes(count: int) -> str:
    """A number of lanes in words."""
    return "1 lane" if count == 1 else f"{count} lanes"


def verdict_line(proof: dict[str, Any]) -> str:
    """A proof in one line."""
    if not proof["complete"]["holds"]:
        return f"incomplete: {proof['complete']['counterexample']}"
    hops = f"longest {proof['complete']['max_hops']} hops"
    if proof["deadlock"]["holds"]:
        return f"complete, deadlock-free on {lanes(proof['lanes'])}, {hops}"
    waits = len(proof["deadlock"]["cycle"])
    return f"complete, {hops}, but a cycle of {waits} channels can deadlock"


def ebb_line(found: dict[str, Any]) -> str:
    """An effective bisection bandwidth in one line."""
    low, high = found["confidence_interval_95"] or (0, 1)
    mean = found["effective_bisection_bandwidth"]
    return f"eBB {mean:.4f} (95 % {low:.4f} to {high:.4f}, {found['samples']} samples)"


def deploy_line(found: dict[str, Any]) -> str:
    """The outcome of a deployment in one line."""
    wrong = sum(found[f"differing_{k}entries"] for k in ("", "sl_", "sl2vl_"))
    line = (
        f"{found['entries']} LFT entries, {found['sl_entries']} path SLs, "
        f"{found['sl2vl_entries']} SL2VL tables read back, "
    )
    line += "identical" if wrong == 0 else f"{wrong} differ"
    line += ", deadlock-free" if found["deadlock_free"] else ", NOT deadlock-free"
    return line + (f"; ibdmchk: {found['oracle']}" if found.get("oracle") else "")


FIRST = (
    "accepted_load", "mean_packet_latency_cycles", "saturated", "mean_latency_ns",
    "max_comm_ns", "finish_ns",
)
"""The columns of simulators that a line has, the most wanted first."""


def measure_line(found: dict[str, Any]) -> str:
    """The figures of a measure in one line, of a simulator three; of several loads the range of
    each."""
    rows = found["figures"]
    columns = [*rows[0]]
    if found["name"].startswith("sim."):
        columns.sort(key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))
        columns = columns[:3]
    name = found["name"].replace("_", " ").replace(".", " ")
    if len(rows) > 1:
        name += f", {len(rows)} loads"
    words = [
        _figure(column.replace("_", " "), known) for column in columns
        if (known := [row[column] for row in rows if row[column] is not None])
    ]
    return f"{found['label']}: {name}: {', '.join(filter(None, words)) or 'nothing is known'}"


def _figure(name: str, values: list[Any]) -> str:
    """A figure in words; empty where it says nothing."""
    if isinstance(values[0], bool) and len(values) > 1:
        count = sum(values)
        if count in (0, len(values)):
            return f"{name} {values[0]}"
        return f"{name} at {count} of {len(values)}"
    texts = [_digits(value) if isinstance(value, float) else str(value)
             for value in ([min(values), max(values)] if len(values) > 1 else values)]
    return f"{name} {' to '.join(dict.fromkeys(texts))}"


def _digits(value: float) -> str:
    """A number with three digits, above 1000 the nearest whole one."""
    return f"{value:.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.3g}"


RECORD: dict[str, Callable[[dict[str, Any]], str]] = {
    "route": lambda record: f"{record['label']}: {lanes(record['lanes'])}",
    "verify": lambda record: f"{record['label']}: {verdict_line(record['verify'])}",
    "ebb": lambda record: f"{record['label']}: {ebb_line(record['ebb'])}",
    "measure": measure_line,
    "deploy": lambda record: deploy_line(record["deploy"]),
}
"""The line of each stage of a point, by its record."""
