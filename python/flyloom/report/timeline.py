"""What every rank of a run of messages does over time, with the critical path drawn through it."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from flyloom._core import RefusalError
from flyloom.report.charts import svg
from flyloom.report.comparison import chart
from flyloom.report.frame import framed
from flyloom.verbs.runs import costs_said

RANKS, SPANS = 64, 20_000
"""The most ranks that are shown, and spans of time of these that are drawn."""
DOING = ("computes", "sends", "answers", "receives")
COLOURS = ("#c5ccd6", "#0b5394", "#8e6bb5", "#2a9d8f")


def spec(found: Mapping[str, Any]) -> dict[str, Any]:
    """The chart of a run: a row for each rank, of many those of the critical path first.

    Raises ``RefusalError`` where there are more spans of time than can be seen.
    """
    work, path = found["critical_path"]["work"], found["critical_path"]["path"]
    ranks = shown_ranks(found["ranks"], path["rank"])
    rows = [
        {"rank": int(rank), "does": doing, "begin": float(begin) / 1e3, "end": float(end) / 1e3}
        for rank, doing, begin, end in zip(
            work["rank"], work["doing"], work["begin_ns"], work["end_ns"], strict=True
        )
        if int(rank) in ranks
    ]
    if len(rows) > SPANS:
        raise RefusalError(
            f"-o: {len(rows)} spans of time on {len(ranks)} ranks cannot be seen; at most {SPANS}: "
            "a shorter schedule, or fewer ranks"
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


def shown_ranks(count: int, path: list[int]) -> set[int]:
    """The ranks that are shown: all, or those of the path, and others between them evenly."""
    if count <= RANKS:
        return set(range(count))
    first = list(dict.fromkeys(path))[:RANKS]
    more = (RANKS - len(first)) or 1
    return set(first) | set(range(0, count, -(-count // more)))


def title(found: Mapping[str, Any]) -> str:
    """Describes in words what the run spends its time on."""
    parts = {name: ns for name, ns in found["critical_path"]["parts_ns"].items() if ns}
    whole = sum(parts.values()) or 1.0
    words = ", ".join(f"{name} {ns / whole:.0%}" for name, ns in parts.items())
    return f"{found['finish_ns'] / 1e3:,.6g} µs; on the critical path {words or 'nothing'}"


def page(found: Mapping[str, Any]) -> str:
    """The chart and the critical path as one HTML page that refers to nothing."""
    path = found["critical_path"]["path"]
    costs = costs_said(found, "network" in found)
    parts = [
        f"<section><figure>{svg(spec(found), prefix='time-')}</figure>",
        '<p class="dim">Bars are the work of processors; between them they wait. The line is the'
        " critical path: what the end of the run waited for, back to its beginning.</p>",
        f'<p class="dim">Costs of messages: {escape(costs)}.</p></section>',
        '<section><h2>Critical path</h2><div class="scroll"><table><thead><tr><th class="n">from,'
        ' ns</th><th class="n">to, ns</th><th>operation</th></tr></thead><tbody>',
    ]
    for begin, end, operation in zip(
        path["begin_ns"], path["end_ns"], path["operation"], strict=True
    ):
        parts.append(
            f'<tr><td class="n">{begin:,.15g}</td><td class="n">{end:,.15g}</td>'
            f"<td>{escape(operation)}</td></tr>"
        )
    parts.append("</tbody></table></div></section>")
    return framed("Timeline", parts, heading="What every rank does")
