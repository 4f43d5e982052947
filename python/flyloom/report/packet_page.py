"""What ``flyloom sim packet ... -o`` writes: the chart of a simulation, and a page with it."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from flyloom.report.charts import svg
from flyloom.report.comparison import chart

HEADS = (
    ("offered load", "offered_load"), ("accepted, GiB/s", "accepted_gib_per_s"),
    ("mean latency, us", "mean_latency_us"), ("p99, us", "p99_latency_us"),
    ("largest, us", "max_latency_us"), ("routers visited", "mean_hops"),
    ("detours", "nonminimal_packets"), ("packets", "packets"),
)
"""Columns of the table of points."""

LATENCIES = {"mean": "mean_latency_us", "99 % below": "p99_latency_us"}


def title(found: Mapping[str, Any]) -> str:
    """What was simulated, in words."""
    asked = found["parameters"]
    words = [found["traffic"], found["engine"], found["network"], asked["selection"],
             asked["dialect"]]
    return ", ".join(str(word) for word in words if word)


def spec(found: Mapping[str, Any]) -> dict[str, Any]:
    """Latency and, beside it, accepted rate against offered load."""
    points = sorted(found["points"], key=lambda p: p["offered_load"])
    latencies = [
        {"offered": p["offered_load"], "us": p[key], "of packets": name}
        for p in points for name, key in LATENCIES.items() if p[key] is not None
    ]
    accepted = [
        {"offered": p["offered_load"], "rate": p["accepted_gib_per_s"]} for p in points
    ]
    x = {"field": "offered", "type": "quantitative", "scale": {"zero": True},
         "axis": {"title": "offered load, part of the rate of a rail", "tickCount": 6}}
    size: dict[str, Any] = {"width": 330, "height": 230, "mark": {"type": "line", "point": True}}
    y = {"type": "quantitative", "scale": {"zero": True}}
    return chart({
        "title": {"text": title(found), "anchor": "start", "fontSize": 13}, "spacing": 34,
        "hconcat": [
            {**size, "data": {"values": latencies}, "encoding": {
                "x": x, "y": {**y, "field": "us", "axis": {"title": "latency of packets, us"}},
                "color": {"field": "of packets", "type": "nominal",
                          "legend": {"orient": "top", "title": None}},
            }},
            {**size, "data": {"values": accepted}, "encoding": {
                "x": x,
                "y": {**y, "field": "rate", "axis": {"title": "accepted, GiB/s an endpoint"}},
            }},
        ],
    })


def page(found: Mapping[str, Any]) -> str:
    """Chart and table as one HTML page that refers to nothing."""
    css = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    name = escape(title(found))
    parts = [
        "<!DOCTYPE html>", '<html lang="en"><head><meta charset="utf-8">',
        f'<link rel="icon" href="data:,"><title>{name}</title><style>{css}</style></head><body>',
        f"<header><h1>{name}</h1></header>",
        f"<section><figure>{svg(spec(found), prefix='packet-')}</figure></section>",
        '<section><h2>Points</h2><div class="scroll"><table><thead><tr>',
        *(f'<th class="n">{head}</th>' for head, _ in HEADS), "<th></th></tr></thead><tbody>",
    ]
    for point in found["points"]:
        cells = ("–" if point[key] is None else f"{point[key]:.5g}" for _, key in HEADS)
        row = "".join(f'<td class="n">{cell}</td>' for cell in cells)
        parts.append(f"<tr>{row}<td>{'deadlocked' if point['deadlocked'] else ''}</td></tr>")
    parts.append("</tbody></table></div>")
    if not found["verified"]:
        parts.append('<p class="no">The routing is not proved free of deadlock.</p>')
    return "\n".join([*parts, "</section></body></html>", ""])
