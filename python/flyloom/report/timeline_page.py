"""The timeline of a run of messages as a page: rows of ranks, messages, collectives, zoom."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from flyloom.report import timeline
from flyloom.report.frame import framed
from flyloom.report.on_path import on_path
from flyloom.report.picture import Picture
from flyloom.report.timeline import COLOURS, title
from flyloom.report.timeline_data import DOING, Numbers, TimelineContents, row_name, shown
from flyloom.verbs.runs import costs_said, rates_said

STEPS = 1_000
"""The most steps of the critical path that are listed."""
STYLE = """
#time { width: 100%; display: block; cursor: crosshair; touch-action: none; outline-offset: 2px; }
#time:active { cursor: grabbing; }
#bar { display: flex; flex-wrap: wrap; gap: 4px 14px; align-items: center; margin: 0 0 8px;
  font-size: 13.5px; }
#bar button { font: inherit; padding: 2px 10px; }
#state { font-variant-numeric: tabular-nums; }
#tip { position: fixed; display: none; pointer-events: none; background: #fff; padding: 6px 10px;
  border: 1px solid #59636f; border-radius: 3px; font-size: 13px; line-height: 1.4; z-index: 9;
  white-space: pre-line; max-width: 420px; }
"""
KINDS = {"i": {1: "Int8Array", 2: "Int16Array", 4: "Int32Array"},
         "u": {1: "Uint8Array", 2: "Uint16Array", 4: "Uint32Array"},
         "f": {8: "Float64Array"}}


def page(found: Mapping[str, Any], network: str | None = None) -> str:
    """The timeline and the critical path as one HTML page that refers to nothing; ``network`` is
    what messages went over."""
    what = shown(found)
    path = found["critical_path"]["path"]
    costs = escape(costs_said(found, "network" in found))
    links = f" Links of {escape(rates_said(rates))}." if (rates := found.get("rates")) else ""
    keys = "".join(
        f'<span><span class="key" style="background:{colour}"></span>{doing}</span>'
        for doing, colour in zip(DOING, COLOURS, strict=True)
    )
    script = Path(__file__).with_name("timeline.js").read_text(encoding="utf-8")
    held = json.dumps(data(found, what), separators=(",", ":")).replace("<", "\\u003c")
    left_out = f'<p class="skipped">{escape(what.left_out)}.</p>' if what.left_out else ""
    parts = [
        f"<style>{STYLE}</style>",
        f'<p class="lead">{escape(title(found))}</p>', left_out,
        f'<div id="bar">{keys}'
        '<span><span class="key" style="background:#d1660a"></span>critical path</span>'
        '<button id="in">zoom in</button><button id="out">zoom out</button>'
        '<button id="reset">reset</button><span id="state"></span></div>',
        '<canvas id="time" tabindex="0" role="img" aria-label="what every rank does over time">'
        '</canvas><div id="tip"></div>',
        '<noscript><p class="skipped">The timeline needs JavaScript; it loads nothing.</p>'
        "</noscript>",
        '<p class="dim">A bar is the work of a processor; between bars it waits. A line from bar to'
        " bar is a message. The thick line is the critical path: what the end of the run waited"
        " for, back to its beginning. Zoom with the mouse wheel or + and -, move by dragging or"
        " with the arrow keys, and see all again by a double click or 0. The pointer over a bar"
        " shows what it is.</p>",
        f'<p class="dim">Costs of messages: {costs}.{links}</p>',
        *critical(found, path),
        f'<script type="application/json" id="data">{held}</script>',
        f"<script>{script}</script>",
    ]
    about = " on ".join(filter(None, (found.get("workload"), network)))
    heading = "What every rank does" + (f": {about}" if about else "")
    return framed(f"Timeline: {about}" if about else "Timeline", parts, heading=heading)


def critical(found: Mapping[str, Any], path: Mapping[str, Any]) -> list[str]:
    """The section of the critical path: its steps as a table."""
    count = len(path["operation"])
    less = f" The table has the first {STEPS:,} of {count:,} steps." if count > STEPS else ""
    parts = [
        "<section><h2>Critical path</h2>",
        f"<p>On it: {escape(on_path(found['critical_path']['derivatives']))}. The run is longer by"
        " these numbers for each nanosecond that the parameter is more, as long as no other path"
        f" is longer.{less}</p>",
        '<div class="scroll"><table><thead><tr><th class="n">from, ns</th>'
        '<th class="n">to, ns</th><th>operation</th></tr></thead><tbody>',
    ]
    steps = zip(path["begin_ns"], path["end_ns"], path["operation"], strict=True)
    for (begin, end, operation), _ in zip(steps, range(STEPS), strict=False):
        parts.append(
            f'<tr><td class="n">{begin:,.15g}</td><td class="n">{end:,.15g}</td>'
            f"<td>{escape(operation)}</td></tr>"
        )
    return [*parts, "</tbody></table></div></section>"]


def picture(found: Mapping[str, Any], network: str | None = None) -> Picture:
    """The timeline as a chart, and the page, which shows more than a chart has room for and names
    the ``network``."""
    return Picture(lambda: timeline.spec(found), page=lambda: page(found, network))


def data(found: Mapping[str, Any], what: TimelineContents) -> dict[str, Any]:
    """What the page's script draws."""
    traced = found["critical_path"]
    rows = {key: at for at, key in enumerate(what.rows)}
    columns = what.columns
    path = traced["path"]
    steps = set(zip(path["rank"], path["number"], strict=True))
    on = [pair in steps for pair in
          zip(columns["rank"].tolist(), columns["number"].tolist(), strict=True)]
    collectives = [
        [rows[rank, cpu], begin, end, name]
        for rank, cpu, begin, end, name in zip(
            *(traced["collectives"][key] for key in ("rank", "cpu", "begin_ns", "end_ns", "name")),
            strict=True,
        ) if (rank, cpu) in rows
    ]
    through = [
        [rows[rank, cpu], begin, end]
        for rank, cpu, begin, end in zip(
            *(path[key] for key in ("rank", "cpu", "begin_ns", "end_ns")), strict=True
        ) if (rank, cpu) in rows
    ]
    return {
        "finish": found["finish_ns"],
        "rows": [row_name(*row) for row in what.rows],
        "first": packed(np.searchsorted(what.row, np.arange(len(what.rows) + 1))),
        "doing": list(DOING), "colours": list(COLOURS),
        "spans": {
            "on": packed(np.array(on, dtype=np.uint8)),
            **{name: packed(columns[name]) for name in (
                "begin_ns", "end_ns", "doing", "number", "bytes", "tag", "peer")},
        },
        "send": packed(what.messages[:, 0]), "receive": packed(what.messages[:, 1]),
        "collectives": sorted(collectives), "path": through,
    }


def packed(numbers: Numbers) -> list[str]:
    """Numbers as a kind of array of JavaScript, the smallest that holds them, and their bytes."""
    if numbers.dtype.kind in "iu":
        ends = (int(numbers.min()), int(numbers.max())) if numbers.size else (0, 0)
        small = np.result_type(*(np.min_scalar_type(end) for end in ends))
        numbers = numbers.astype(small if small.itemsize <= 4 else np.float64)
    else:
        numbers = numbers.astype(np.float64)
    kind = KINDS[numbers.dtype.kind][numbers.dtype.itemsize]
    little = numbers.astype(numbers.dtype.newbyteorder("<"))
    return [kind, base64.b64encode(little.tobytes()).decode()]
