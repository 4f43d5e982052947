"""Keeps the curves of finished figures: `.venv/bin/python docs/pictures/flit_figures.py out/*`.

The folders are those of `flyloom run examples/figures/...`; their curves go to flit_figures.json,
beside those that are there, and make.py draws them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from flyloom.report import build, check, simulated

KEPT = Path(__file__).with_name("flit_figures.json")
FIELDS = (
    "offered_load", "accepted_load", "mean_packet_latency_cycles", "p99_packet_latency_cycles",
    "mean_switches", "saturated", "deadlocked",
)


def curves(folder: Path) -> list[dict]:
    """The curves of a finished experiment, as its report has them."""
    data = check.check(build.data(json.loads((folder / "results.json").read_text())))
    labels = [network["label"] for network in data["networks"]]
    return [
        {"label": curve["label"], "saturation_throughput": curve["saturation_throughput"],
         "points": [[figure(point, field) for field in FIELDS] for point in curve["points"]]}
        for curve in simulated.curves(data["simulations"], labels)
    ]


def figure(point: dict, field: str) -> float | bool | None:
    """A field of a point of a report, which counts the links between the switches visited."""
    if field == "mean_switches":
        return None if point["mean_hops"] is None else point["mean_hops"] + 1
    return point[field]


def kept() -> dict[str, list[dict]]:
    """All that is kept, by the name of the experiment, with points as the charts take them."""
    found = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    for of_figure in found.values():
        for curve in of_figure:
            curve["points"] = [dict(zip(FIELDS, p, strict=True)) for p in curve["points"]]
    return found


if __name__ == "__main__":
    from keeping import keep

    known = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    for folder in map(Path, sys.argv[1:]):
        known[folder.name] = curves(folder)
    keep(KEPT, known)
