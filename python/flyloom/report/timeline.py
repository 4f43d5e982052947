"""What every rank of a run of messages does over time, with the critical path drawn through it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flyloom._core import RefusalError
from flyloom.report.comparison import chart
from flyloom.report.timeline_data import DOING, shown_ranks

SPANS = 20_000
"""The most spans of time that a picture has."""
COLOURS = ("#c5ccd6", "#0b5394", "#8e6bb5", "#2a9d8f")


def spec(found: Mapping[str, Any]) -> dict[str, Any]:
    """The chart of a run: a row for each rank, of many those of the critical path first.

    Raises ``RefusalError`` where there are more spans of time than can be seen.
    """
    work, path = found["critical_path"]["work"], found["critical_path"]["path"]
    ranks = set(shown_ranks(found["ranks"], path["rank"]))
    rows = [
        {"rank": int(rank), "does": doing, "begin": float(begin) / 1e3, "end": float(end) / 1e3}
        for rank, doing, begin, end in zip(
            work["rank"], work["doing"], work["begin_ns"], work["end_ns"], strict=True
        )
        if int(rank) in ranks
    ]
    if len(rows) > SPANS:
        raise RefusalError(
            f"picture: {len(rows)} spans of time on {len(ranks)} ranks cannot be seen; at most"
            f" {SPANS}: a shorter schedule, fewer ranks, or a name that ends in .html, where one"
            " can zoom"
        )
    line = []
    for rank, begin, end in zip(path["rank"], path["begin_ns"], path["end_ns"], strict=True):
        if rank in ranks:
            line += [{"rank": rank, "at": begin / 1e3}, {"rank": rank, "at": end / 1e3}]
    order = [{**point, "step": i} for i, point in enumerate(line)]
    y = {"field": "rank", "type": "ordinal", "title": "rank", "sort": sorted(ranks)}
    step = 18 if len(ranks) <= 24 else 11
    bars = {
        "data": {"values": rows},
        "mark": {"type": "bar", "height": {"band": 0.7}},
        "encoding": {
            "x": {"field": "begin", "type": "quantitative", "title": "time, µs"},
            "x2": {"field": "end"},
            "y": y,
            "color": {
                "field": "does", "type": "nominal", "title": None,
                "scale": {"domain": list(DOING), "range": list(COLOURS)},
            },
        },
    }
    through = {
        "data": {"values": order},
        "mark": {"type": "line", "color": "#d1660a", "strokeWidth": 2},
        "encoding": {
            "x": {"field": "at", "type": "quantitative"}, "y": y, "order": {"field": "step"},
        },
    }
    shape = {"width": 760, "height": {"step": step}, "title": title(found)}
    return chart({**shape, "layer": [bars, through]})


def title(found: Mapping[str, Any]) -> str:
    """Describes in words what the run spends its time on."""
    parts = {name: ns for name, ns in found["critical_path"]["parts_ns"].items() if ns}
    whole = sum(parts.values()) or 1.0
    words = ", ".join(f"{name} {ns / whole:.0%}" for name, ns in parts.items())
    return f"{found['finish_ns'] / 1e3:,.6g} µs; on the critical path {words or 'nothing'}"
