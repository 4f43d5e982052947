"""Keeps finished runs of packets: `.venv/bin/python docs/pictures/packet_figures.py out/packets_*`.

The folders are those of `flyloom run examples/packets/...`. What the charts of their reports take
goes to packet_figures.json, and make.py draws it; the tables of docs/packet-figures.md are printed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from flyloom.report import build, check, packets

KEPT = Path(__file__).with_name("packet_figures.json")
POINT = ("offered_load", "accepted_gib_per_s", "mean_latency_us", "p99_latency_us", "deadlocked")


def made(folder: Path) -> list[dict[str, Any]]:
    """Curves of load, or times of traces, of a finished experiment."""
    data = check.check(build.data(json.loads((folder / "results.json").read_text())))
    networks = [network["label"] for network in data["networks"]]
    found = packets.traced(data["packets"], networks) or [
        {"label": curve["label"], "points": [{key: point[key] for key in POINT}
                                             for point in curve["points"]]}
        for curve in packets.curves(data["packets"], networks)
    ]
    return [short(row) for row in found]


def short(value: Any) -> Any:
    """Six digits of every number."""
    if isinstance(value, dict):
        return {key: short(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [short(inner) for inner in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def kept() -> dict[str, list[dict[str, Any]]]:
    """All that is kept, by the name of the experiment."""
    return json.loads(KEPT.read_text())


def specs() -> dict[str, dict[str, Any] | None]:
    """The charts, by the name of the experiment."""
    return {name: (packets.curves_spec if "points" in rows[0] else packets.traced_spec)(rows)
            for name, rows in kept().items()}


def table(name: str) -> list[str]:
    """The lines of a table of the page, one a curve.

    Of traces the time of the slowest process in us at each intensity, in the mean of the seeds; at
    the highest also the least and largest, the latency of packets in us and routers visited. Of
    loads the accepted rate in GiB/s at each.
    """
    return [f"| {curve} | {' | '.join(cells)} |" for curve, cells in cells_of(kept()[name])]


def cells_of(rows: list[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    """The name of each curve, and what stands beside it."""
    if "points" in rows[0]:
        return [(row["label"], [f"{point['accepted_gib_per_s']:.2f}" for point in row["points"]])
                for row in rows]
    out = []
    for curve in dict.fromkeys(row["curve"] for row in rows):
        own = sorted((row for row in rows if row["curve"] == curve), key=lambda row: row["at"])
        last = own[-1]
        ends = [f"{last[key]['max_comm_us']:,.0f}" for key in ("low", "high")]
        out.append((curve, [
            *(f"{row['max_comm_us']:,.0f}" for row in own), " to ".join(ends),
            f"{last['mean_latency_us']:,.1f}", f"{last['mean_hops']:.2f}",
        ]))
    return out


if __name__ == "__main__":
    from keeping import keep

    known = {folder.name: made(folder) for folder in map(Path, sys.argv[1:])}
    keep(KEPT, kept() | known)
    for name in sorted(known):
        print(name, *table(name), sep="\n")
