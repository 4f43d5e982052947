"""Keeps finished runs of packets: `.venv/bin/python docs/pictures/packet_figures.py out/packets_*`.

The folders are those of `flyloom run examples/packets/...`. What the charts of their reports take
goes to packet_figures.json, and make.py draws it; the tables of docs/packet-figures.md are printed.
Of traces, folders of one name, say of different seeds, are taken together; with `--add` what is
kept of that name, too. It is for you to see that no seed is among them twice.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from flyloom.report import build, check, packets

KEPT = Path(__file__).with_name("packet_figures.json")
GBPS_OF_GIB = 2**33 / 1e9
"""Gbit/s of a GiB/s."""
POINT = ("offered_load", "accepted_gbps", "mean_latency_ns", "p99_latency_ns", "deadlocked")


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


def together(
    rows: list[dict[str, Any]], more: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Times of traces from both: means over all runs that ended, the least and largest of all."""
    found = {(row["curve"], row["at"]): row for row in rows}
    for row in more:
        place = row["curve"], row["at"]
        found[place] = _both(found[place], row) if place in found else row
    return [short(row) for row in found.values()]


def _both(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    out = one | {key: one[key] + other[key] for key in ("runs", "deadlocked")}
    for key in packets.FIGURES:
        known = [row for row in (one, other) if row[key] is not None]
        ended = [row["runs"] - row["deadlocked"] for row in known]
        weighed = sum(row[key] * runs for row, runs in zip(known, ended, strict=True))
        out[key] = weighed / sum(ended) if known else None
        for end, pick in (("low", min), ("high", max)):
            out[end] = out[end] | {key: pick((row[end][key] for row in known), default=None)}
    return out


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
    return {name: (packets.curves_spec if "points" in rows[0] else packets.traced_spec)(
                of_all_rails(rows))
            for name, rows in kept().items()}


def of_all_rails(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with intensities that are parts of the rate of all rails together, where networks of
    one and of two rails are compared at rates of theirs: those of two were asked for twice."""
    if not all(" x " in row.get("curve", "") for row in rows):
        return rows
    rails = [int(row["curve"].partition(" x ")[0].rpartition(" ")[2]) for row in rows]
    return [{**row, "at": short(row["at"] / many), "axis": "intensity (of all rails together)"}
            for row, many in zip(rows, rails, strict=True)]


def table(name: str) -> list[str]:
    """The lines of a table of the page, one a curve.

    Of traces the time of the slowest process in us at each intensity, in the mean of the seeds; at
    the highest also the least and largest, the latency of packets in us and switches visited. Of
    loads the accepted rate in GiB/s at each.
    """
    return [f"| {curve} | {' | '.join(cells)} |" for curve, cells in cells_of(kept()[name])]


def cells_of(rows: list[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    """The name of each curve, and what stands beside it."""
    if "points" in rows[0]:
        return [
            (row["label"],
             [f"{point['accepted_gbps'] / GBPS_OF_GIB:.2f}" for point in row["points"]])
            for row in rows
        ]
    out = []
    for curve in dict.fromkeys(row["curve"] for row in rows):
        own = sorted((row for row in rows if row["curve"] == curve), key=lambda row: row["at"])
        last = own[-1]
        ends = [f"{last[key]['max_comm_ns'] / 1e3:,.0f}" for key in ("low", "high")]
        out.append((curve, [
            *(f"{row['max_comm_ns'] / 1e3:,.0f}" for row in own), " to ".join(ends),
            f"{last['mean_latency_ns'] / 1e3:,.1f}", f"{last['mean_hops'] + 1:.2f}",
        ]))
    return out


if __name__ == "__main__":
    from keeping import keep

    folders = [Path(given) for given in sys.argv[1:] if given != "--add"]
    names = sorted({folder.name for folder in folders})
    old = kept()
    known = {name: old[name] for name in names if name in old and "--add" in sys.argv}
    for folder in folders:
        rows = made(folder)
        known[folder.name] = together(known[folder.name], rows) if folder.name in known else rows
    keep(KEPT, old | known)
    for name in names:
        print(name, *table(name), sep="\n")
