"""Effective bisection bandwidth in a report: how its patterns are spread, and their mean."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, NotRequired, TypedDict

from flyloom.report.base import ComparedFigure, Found, PageData, PageSection, SectionFields, expect
from flyloom.report.charts import CONFIG, INK, MOST, SCHEMA, network_colour, picked, routing_name
from flyloom.report.figure import HIGHER, RATE, best_proved
from flyloom.report.shape import Count, also, fail
from flyloom.report.words import some

BINS = 24


class EbbBin(TypedDict):
    """A bin of the histogram: how many patterns have values between its ends."""

    bin_low: Annotated[float, "the lower end"]
    bin_high: Annotated[float, "the upper end"]
    count: Annotated[Count, "patterns"]


class EbbDistribution(TypedDict):
    """Fractions of the injection bandwidth that random patterns have."""

    mean: Annotated[float, "the mean over the patterns"]
    ci_low: Annotated[float, "the lower end of its confidence interval"]
    ci_high: Annotated[float, "the upper end"]
    samples: Annotated[Count, "number of patterns"]
    histogram: Annotated[list[EbbBin], "patterns by their values"]


class RoutingBandwidth(TypedDict):
    """The bandwidth measured for a routing."""

    ebb: NotRequired[Annotated[EbbDistribution, "its effective bisection bandwidth"]]


@also(Any)
class SavedBandwidth(TypedDict):
    """Effective bisection bandwidth, as `flyloom ebb` has it, where it was measured."""

    pattern_means: Annotated[list[float], "the value of each pattern"]
    confidence_interval_95: NotRequired[Annotated[list[float], "of the mean; null of one pattern"]]
    samples: Annotated[Count, "number of patterns"]
    effective_bisection_bandwidth: Annotated[float, "their mean"]


def of_routing(record: Mapping[str, Any]) -> dict[str, Any]:
    """The bandwidth measured at a point."""
    return {"ebb": _bandwidth(record["ebb"]) if record.get("ebb") else None}


def _bandwidth(found: Mapping[str, Any]) -> dict[str, Any]:
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
        "ci_high": interval[1], "samples": found["samples"], "histogram": bins,
    }


def border(saved: Mapping[str, Any]) -> None:
    """Checks that there are patterns, and that an interval has two ends."""
    for place, record in enumerate(saved["records"]):
        if ebb := record.get("ebb"):
            where = f"records[{place}].ebb"
            expect(bool(ebb["pattern_means"]), f"{where}.pattern_means", "a mean a pattern")
            ends = ebb.get("confidence_interval_95")
            expect(not ends or len(ends) == 2, f"{where}.confidence_interval_95", "two")


def check(routing: Found, _data: Found, where: str) -> None:
    """The interval holds the mean, and bins go upwards."""
    ebb = routing["ebb"]
    if ebb is None:
        return
    if not ebb["ci_low"] <= ebb["mean"] <= ebb["ci_high"]:
        found = f'{ebb["ci_low"]} to {ebb["ci_high"]} does not hold the mean {ebb["mean"]}'
        raise fail(f"{where}.ebb", found, "give ci_low <= mean <= ci_high")
    for place, bin_ in enumerate(ebb["histogram"]):
        if not bin_["bin_low"] < bin_["bin_high"]:
            found = f'bin from {bin_["bin_low"]} to {bin_["bin_high"]}'
            raise fail(f"{where}.ebb.histogram[{place}]", found, "give bin_low < bin_high")


def view(page: PageData) -> dict[str, Any] | None:
    """The chart, and a table of all routings."""
    chart = page.chart("ebb", ebb_spec(page.routings, page.labels))
    if chart is None:
        return None
    half, rows = MOST // 2, [routing for routing in page.routings if routing["ebb"]]
    return {"chart": chart, "rows": rows, "left_out": some(
        "routings", len(rows), f"the {half} of the lowest and the {half} of the highest mean", MOST,
    )}


def ebb_figure(routing: Found) -> float | None:
    """The figure by which a chart of effective bisection bandwidth picks routings: the mean."""
    return routing["ebb"]["mean"] if routing["ebb"] else None


_ROW_PX = 720


def ebb_spec(
    routings: Sequence[Found], networks: Sequence[str]
) -> dict[str, Any] | None:
    """The distributions of effective bisection bandwidth, one row a routing, on one scale.

    A row shows the density of the patterns' values (scaled to the row's own peak, so that narrow
    and wide ones can both be read), the mean's confidence interval as a band and the mean as a
    line, its value at the right. Routings without ``ebb`` have no row, and of many some
    (:func:`picked`); ``None`` when none has.
    """
    values: list[dict[str, Any]] = []
    keys: list[str] = []
    for routing in picked(routings, ebb_figure):
        ebb = routing["ebb"]
        base = {"routing": routing_name(routing, networks), "network": routing["network"]}
        keys.append(base["routing"])
        total = sum(bin_["count"] for bin_ in ebb["histogram"]) or 1
        for bin_ in ebb["histogram"]:
            width = bin_["bin_high"] - bin_["bin_low"]
            values.append({
                **base, "part": "bin", "low": bin_["bin_low"], "high": bin_["bin_high"],
                "density": bin_["count"] / total / width, "patterns": bin_["count"],
            })
        values.append({
            **base, "part": "mean", "low": ebb["ci_low"], "high": ebb["ci_high"],
            "mean": ebb["mean"], "says": f'{ebb["mean"]:.3f}',
        })
    if not keys:
        return None
    low, high = _domain(values)
    x = {
        "field": "low", "type": "quantitative",
        "title": "effective bisection bandwidth (fraction of the injection bandwidth)",
        "axis": {"labelFlush": False, "labelOverlap": "greedy", "tickCount": 8},
        "scale": {"domain": [low, high], "nice": False},
    }

    def only(part: str) -> list[dict[str, Any]]:
        return [{"filter": f"datum.part === '{part}'"}]

    layers = [
        {"transform": only("bin"), "mark": {"type": "bar", "opacity": 0.6, "binSpacing": 0},
         "encoding": {
             "x": x, "x2": {"field": "high"}, "color": network_colour(networks),
             "y": {"field": "density", "type": "quantitative", "axis": None},
             "y2": {"datum": 0}}},
        {"transform": only("mean"), "mark": {"type": "rect", "color": INK, "opacity": 0.28},
         "encoding": {"x": x, "x2": {"field": "high"}}},
        {"transform": only("mean"), "mark": {"type": "rule", "color": INK, "strokeWidth": 1.6},
         "encoding": {"x": {"field": "mean", "type": "quantitative"}}},
        {"transform": only("mean"),
         "mark": {"type": "text", "align": "left", "dx": 8, "color": INK, "fontSize": 11.5,
                  "fontWeight": 600},
         "encoding": {"x": {"value": _ROW_PX}, "y": {"value": 22},
                      "text": {"field": "says", "type": "nominal"}}},
    ]
    return {
        "$schema": SCHEMA, "config": CONFIG, "data": {"values": values},
        "facet": {"row": {
            "field": "routing", "type": "nominal", "sort": keys,
            "header": {"labelAngle": 0, "labelAlign": "left", "labelOrient": "left",
                       "labelFontWeight": "normal"}}},
        "spec": {"width": _ROW_PX, "height": 38, "layer": layers},
        "spacing": 5,
        "resolve": {"scale": {"y": "independent"}},
    }


def _domain(values: Sequence[Found]) -> tuple[float, float]:
    """Axis ends that hold all bins with patterns and all intervals, to the next twentieth."""
    used = [v for v in values if v["part"] == "mean" or v["patterns"]]
    low = math.floor(20 * min(v["low"] for v in used) + 1e-9) / 20
    high = math.ceil(20 * max(v["high"] for v in used) - 1e-9) / 20
    return max(0.0, low), max(high, low + 0.05)


def tiles(page: PageData) -> list[dict[str, str]]:
    """The highest bandwidth that was measured, that of verified routings where there are some."""
    measured = [r for r in page.routings if r["ebb"]]
    if not measured:
        return []
    sound = [r for r in measured if r["verified"]] or measured
    best = max(sound, key=lambda r: float(r["ebb"]["mean"]))
    ebb = best["ebb"]
    where = f' on {best["network"]}' if page.several else ""
    note = "" if best["verified"] else " (not verified)"
    return [{
        "head": "Random pairs", "mood": "plain", "big": f'{100 * ebb["mean"]:.1f} %',
        "small": f'highest effective bisection bandwidth of a verified routing: {best["label"]}'
                 f'{where}, {100 * ebb["ci_low"]:.1f} to {100 * ebb["ci_high"]:.1f} %'
        if best["verified"] else
        f'highest effective bisection bandwidth: {best["label"]}{where}{note}',
    }]


def figures(page: PageData) -> Iterator[ComparedFigure]:
    """The best of each network."""
    yield best_proved(page.routings, "Effective bisection bandwidth", RATE, HIGHER,
                      lambda routing: 100 * routing["ebb"]["mean"] if routing["ebb"] else None,
                      topic="pairs")


SECTION = PageSection(
    name="ebb", title="Bisection bandwidth", place=70,
    doc="Effective bisection bandwidth of each routing, over random patterns.",
    when="it was measured of a routing",
    saved={("records", "[]", "ebb"): SavedBandwidth}, border=border,
    of_routing=SectionFields(shape=RoutingBandwidth, of=of_routing, check=check),
    view=view, tiles={30: tiles}, figures={50: figures},
)
