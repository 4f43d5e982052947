"""Charts of simulations of flits: latency and accepted load against offered load, distributions.

A *curve* is a dict with ``label`` and ``points``, as :func:`flyloom.simulate` gives them, and,
where it is known, ``saturation_throughput``. Every ``*_spec`` gives a Vega-Lite specification, or
None when there is nothing to draw. Latencies are in cycles, loads in flits an endpoint and cycle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flyloom.report.charts import INK
from flyloom.report.comparison import chart
from flyloom.report.curves import CurvePanelRow, spec
from flyloom.report.figures import round_width
from flyloom.report.panels import COLOURS

BARS = 40
"""Bars of a distribution of latencies, about."""
ROWS = (
    CurvePanelRow("mean_packet_latency_cycles", "mean latency (cycles)"),
    CurvePanelRow("p99_packet_latency_cycles", "p99 latency (cycles)"),
    CurvePanelRow("accepted_load", "accepted load", latency=False),
)
"""What is drawn against the load."""
_OFFERED = "offered load (flits an endpoint and cycle)"


def highest_unsaturated(points: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The point of the highest load that is neither saturated nor deadlocked; where there is none
    that of the lowest load of those at which packets arrive; None where none does."""
    arrived = [p for p in points if p["mean_packet_latency_cycles"] is not None]
    good = [p for p in arrived if not p["saturated"] and not p["deadlocked"]]
    if good:
        return max(good, key=lambda p: p["offered_load"])
    return min(arrived, key=lambda p: p["offered_load"], default=None)


def curves_spec(
    made: Sequence[Mapping[str, Any]], title: str = "", *, narrow: bool = False,
    width_pt: float | None = None, rows: Sequence[CurvePanelRow] = ROWS,
) -> dict[str, Any] | None:
    """Latencies and accepted load against offered load, as :func:`flyloom.report.curves.spec` has
    them."""
    return spec(made, rows, _OFFERED, title, narrow=narrow, width_pt=width_pt)


# --- charts of the distribution of latencies -----------------------------------------------------


def quantile(histogram: Sequence[Sequence[int]], share: float) -> int:
    """The least latency of ``histogram`` (latency, packets) that ``share`` of all do not exceed."""
    wanted = share * sum(n for _, n in histogram)
    below = 0
    for latency, n in histogram:
        below += n
        if below >= wanted:
            return latency
    return 0


def distributions_spec(cases: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """A chart for each case (``label``, ``point``, ``colour`` where it has one in other charts):
    the latencies of its packets, with the median and the 99th percentile, and beside them their
    hops, links between switches."""
    rows = [
        _distribution(case, case.get("colour") or COLOURS[i % len(COLOURS)], i == len(cases) - 1)
        for i, case in enumerate(cases) if case["point"]["latency_histogram"]
    ]
    return chart({"spacing": 22, "vconcat": rows}) if rows else None


def _distribution(case: Mapping[str, Any], shade: str, last: bool) -> dict[str, Any]:
    point = case["point"]
    counts = point["latency_histogram"]
    packets = sum(n for _, n in counts)
    width = round_width((counts[-1][0] - counts[0][0] + 1) / BARS)
    bars: dict[int, int] = {}
    for latency, n in counts:
        bars[latency // width * width] = bars.get(latency // width * width, 0) + n
    known = [{"low": low, "high": low + width, "share": n / packets} for low, n in bars.items()]
    marked = [
        {"at": quantile(counts, share), "name": name}
        for share, name in ((0.5, "median"), (0.99, "p99 latency"))
    ]
    share = {"field": "share", "type": "quantitative",
             "axis": {"title": "packets", "format": ".0%", "tickCount": 4}}
    above = {"domain": [0, 1.25 * max(bar["share"] for bar in known)], "nice": False}
    title = "packet latency (cycles)" if width == 1 else f"packet latency (cycles, by {width})"
    x = {"field": "low", "type": "quantitative", "scale": {"zero": False, "nice": True},
         "axis": {"title": title if last else None, "tickMinStep": 1, "tickCount": 8}}
    at = {"field": "at", "type": "quantitative"}
    latencies = {"width": 420, "height": 110, "layer": [
        {"data": {"values": known}, "mark": {"type": "bar", "binSpacing": 0.5, "color": shade},
         "encoding": {"x": x, "x2": {"field": "high"},
                      "y": {**share, "scale": above}, "y2": {"datum": 0}}},
        {"data": {"values": marked}, "mark": {"type": "rule", "color": INK, "strokeDash": [3, 2]},
         "encoding": {"x": at}},
        {"data": {"values": marked},
         "mark": {"type": "text", "align": "left", "dx": 4, "fontSize": 11, "color": INK},
         "encoding": {"x": at, "y": {"value": 8}, "text": {"field": "name"}}},
    ]}
    travelled = [{"hops": hops, "share": n / packets}
               for hops, n in enumerate(point["hop_histogram"]) if n]
    hops = {"width": 240, "height": 110, "data": {"values": travelled},
            "mark": {"type": "bar", "width": {"band": 0.8}, "color": shade},
            "encoding": {
                "x": {"field": "hops", "type": "ordinal",
                      "axis": {"title": "hops (links between switches)" if last else None,
                               "labelAngle": 0}},
                "y": share}}
    load = f"load {point['offered_load']:.4g}"
    name = f"{case['label']}, {load}" if case["label"] else load
    return {"title": {"text": name, "anchor": "start", "fontSize": 12}, "spacing": 34,
            "hconcat": [latencies, hops]}
