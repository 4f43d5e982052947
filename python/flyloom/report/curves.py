"""Curves against load, of any simulator: a panel for each traffic or network, with shared axes.

A *curve* is a dict with ``points``, as :func:`flyloom.simulate` gives them, the ``words`` by which
it differs from the others (or a ``label``) and, where it is known, ``saturation_throughput``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from flyloom.report.charts import CONFIG, GREY, INK, SCHEMA
from flyloom.report.panels import MOST, CurvePanel, CurveStyle, colours, panels, styles

WIDTH, HEIGHT = 210, 150
"""The size of a panel in pixels; it is higher where its labels need that."""
COLUMNS = 3
"""Panels beside one another, at most; one more where a panel would be alone in the last row."""
LINE, GAP = 12.5, 3.0
"""The height of a line of a label, and the least room between labels, in pixels."""
LONGEST, LINES = 26, 4
"""Letters of a line of a label, and lines of it, at most."""
FAINT = 0.16
STACKED = 9.0
"""Pixels from a mark at the upper edge to the next one below it."""
SAMPLE = 20
"""The length of the piece of line in a legend, in pixels."""
CELL_PT, LOW = 165, 105
"""In a chart whose width is given: the least width of a panel with its axis, and its height."""
WRAPPED = 24
"""Letters of a line of the title of an axis in such a chart."""
LETTER = 4.8
"""The width of a letter of a legend in such a chart, in pixels, rather more than less."""


@dataclass(frozen=True)
class CurvePanelRow:
    """A figure that is drawn against the load: a row of panels."""

    key: str
    title: str
    latency: bool = True
    """Whether it grows without end where the network saturates; else it is what is accepted."""


@dataclass
class _DrawnCurve:
    """A curve in a panel of a row: what is drawn of it, in units of the axes."""

    name: str
    colour: str
    style: CurveStyle
    line: list[dict[str, Any]]
    """The points up to where it saturates, of what is accepted all points."""
    cut: dict[str, Any] | None = None
    """The first load at which it is saturated or deadlocked."""


@dataclass
class LegendEntry:
    """The name of a curve in a legend: its lines, and its look."""

    lines: list[str]
    colour: str
    style: CurveStyle

    @property
    def height(self) -> float:
        """Its height in pixels."""
        return LINE * len(self.lines)


def spec(
    curves: Sequence[Mapping[str, Any]], rows: Sequence[CurvePanelRow], offered: str,
    title: str = "", *, narrow: bool = False, width_pt: float | None = None,
) -> dict[str, Any] | None:
    """Each of ``rows`` against the ``offered`` load, in panels; None where there is no point.

    A latency is drawn up to the last load that does not saturate. The first load simulated that
    does has the curve's mark at the upper edge, hollow, or a cross where packets waited for one
    another in a cycle; hollow marks of what is accepted are saturated points. Curves differ by
    colour, by marks, and those of several networks by dashes; a legend names each once. Bands are
    the 95 % confidence intervals over seeds. Of one panel the figures stand side by side,
    or below one another where that is to be ``narrow``, as wide as a column of a paper. Of a chart
    that is to be ``width_pt`` wide there are as many beside one another as have room, and the
    legend is below; :func:`flyloom.report.fitted.fitted` gives it that width.
    """
    curves = [curve for curve in curves if curve["points"]]
    made = panels(curves)
    left, made = made[MOST:], made[:MOST]
    if not made:
        return None
    looks = [list(zip(*of, strict=True)) for of in zip(colours(made), styles(made), strict=True)]
    top = 1.02 * max(p["offered_load"] for panel in made for c in panel.curves for p in c["points"])
    parts = []
    most = COLUMNS + 1 if len(made) % COLUMNS == 1 < len(made) <= 2 * (COLUMNS + 1) else COLUMNS
    room = most if width_pt is None else max(1, min(COLUMNS, int(width_pt / CELL_PT)))
    beside = room if len(made) == 1 and not narrow else 0
    for start in range(0, len(made), room):
        block = slice(start, start + room)
        parts.append(_block(
            list(zip(made[block], looks[block], strict=True)), rows, (offered, top),
            _limits(made, rows), beside=beside, legend=width_pt is None,
        ))
    if width_pt is not None and (entries := _entries(zip(made, looks, strict=True))):
        parts.append(_below(entries, width_pt))
    out: dict[str, Any] = {"$schema": SCHEMA, "config": CONFIG, "spacing": 22}
    out |= {"vconcat": parts} if len(parts) > 1 else parts[0]
    if heads := _heads(title, _remarks(made, left), 46 if narrow else 100):
        out["title"] = heads
    return out


def _heads(title: str, remarks: list[str], letters: int) -> dict[str, Any]:
    """The title of a chart, with remarks in small letters below it."""
    remarks = [line for remark in remarks for line in wrap(remark, round(1.2 * letters))]
    small = {"color": GREY, "fontSize": 11, "fontWeight": "normal"}
    about: dict[str, Any] = {"anchor": "start", "offset": 12}
    if not title:
        return {**about, **small, "text": remarks} if remarks else {}
    return {**about, "text": wrap(title, letters), "fontSize": 13, "subtitle": remarks,
            "subtitlePadding": 5,
            **{f"subtitle{key[0].upper()}{key[1:]}": value for key, value in small.items()}}


def _remarks(made: Sequence[CurvePanel], left: Sequence[CurvePanel]) -> list[str]:
    """What marks and bands mean, where there are some, and what is left out."""
    points = [p for panel in made for curve in panel.curves for p in curve["points"]]
    said = []
    seeds = {p["over_seeds"]["seeds"] for p in points if p.get("over_seeds")}
    if seeds:
        said.append(f"bands: 95 % intervals over {' or '.join(map(str, sorted(seeds)))} seeds")
    if any(p.get("saturated") and not p["deadlocked"] for p in points):
        said.append("hollow marks at the upper edge: first load simulated that is saturated")
    if any(p["deadlocked"] for p in points):
        said.append("crosses: packets wait for one another in a cycle")
    lines = ["; ".join(said)] if said else []
    if left:
        lines.append(f"{sum(len(panel.curves) for panel in left)} more curves are not drawn")
    return lines


# --- values of curves ----------------------------------------------------------------------------


def _ends(point: Mapping[str, Any], key: str) -> tuple[float, float] | None:
    """The 95 % confidence interval of a figure over seeds; None where there is none."""
    spread = (point.get("over_seeds") or {}).get(key)
    return tuple(spread["confidence_interval_95"]) if spread else None


def _fine(point: Mapping[str, Any], row: CurvePanelRow) -> bool:
    return not point.get("saturated") and not point["deadlocked"] and point[row.key] is not None


def _limits(
    made: Sequence[CurvePanel], rows: Sequence[CurvePanelRow]
) -> dict[str, tuple[float, float]]:
    """The ends of the vertical axis of each row, the same in all panels. Latencies: those that are
    not saturated, with room above; accepted loads: all of them."""
    out = {}
    for row in rows:
        points = [p for panel in made for curve in panel.curves for p in curve["points"]
                  if p.get(row.key) is not None]
        if not row.latency:
            most = max((p[row.key] for p in points), default=0.0)
            out[row.key] = (0.0, 1.04 * max([most, *(p["offered_load"] for p in points)]
                                            if row.key == "accepted_load" else [most, 1e-9]))
            continue
        known = [p for p in points if _fine(p, row)] or points
        values = [p[row.key] for p in known if p[row.key] > 0] or [1.0]
        for p in known:
            if ends := _ends(p, row.key):  # a wider interval is cut at the edge of the panel
                values += [max(ends[0], p[row.key] / 2), min(ends[1], p[row.key] * 2)]
        low = 0.85 * min(value for value in values if value > 0)
        out[row.key] = low, max(1.25 * max(values), 3 * low)
    return out


def _drawn(
    panel: CurvePanel, looks: Sequence[tuple[str, CurveStyle]], row: CurvePanelRow, axis: _PanelAxes
) -> list[_DrawnCurve]:
    """What a panel of a row shows of each curve."""
    out = []
    for curve, name, (colour, style) in zip(panel.curves, panel.names, looks, strict=True):
        points = sorted(curve["points"], key=lambda p: p["offered_load"])
        drawn = _DrawnCurve(name, colour, style, [])
        for point in points:
            if row.latency and not _fine(point, row):
                mark = "cross" if point["deadlocked"] else style.shape
                drawn.cut = {"offered": point["offered_load"], "mark": mark}
                break
            drawn.line.append(_value(point, row, (axis.low, axis.high), drawn))
        out.append(drawn)
    _stacked(out, axis)
    return out


def _value(
    point: Mapping[str, Any], row: CurvePanelRow, limits: tuple[float, float], drawn: _DrawnCurve
) -> dict[str, Any]:
    """A point of a line, with its band inside the panel."""
    low, high = _ends(point, row.key) or (point[row.key],) * 2
    mark = "cross" if point["deadlocked"] else drawn.style.shape
    return {
        "curve": drawn.name, "colour": drawn.colour, "offered": point["offered_load"],
        "value": point[row.key], "low": min(max(low, limits[0]), limits[1]),
        "high": min(max(high, limits[0]), limits[1]), "mark": mark,
        "hollow": bool(point["deadlocked"] or point.get("saturated")),
    }


def _stacked(drawn: Sequence[_DrawnCurve], axis: _PanelAxes) -> None:
    """Puts the marks of curves that saturate at the same load below one another, so that each can
    be seen, in the order of the legend."""
    same: dict[float, int] = {}
    for one in drawn:
        if one.cut:
            place = same.get(one.cut["offered"], 0)
            same[one.cut["offered"]] = place + 1
            one.cut["value"] = axis.value(STACKED * (place + 0.5))


# --- the legend ----------------------------------------------------------------------------------


def height_of(names: Sequence[str]) -> float:
    """The height of a panel whose curves have these names: a legend of them has room beside it."""
    heights = (LINE * len(lines_of(name)) + GAP for name in names if name)
    return max(float(HEIGHT), sum(heights))


def lines_of(name: str) -> list[str]:
    """A name in lines; the last one ends in dots where it is too long for a label."""
    lines = wrap(name, LONGEST)
    if len(lines) > LINES:
        lines = [*lines[:LINES - 1], f"{lines[LINES - 1][:LONGEST - 1]}…"]
    return lines


@dataclass(frozen=True)
class _PanelAxes:
    """The axes of a panel: what is above, below and right of it, in units of what is drawn."""

    low: float
    high: float
    right: float
    height: float
    log: bool

    def pixels(self, value: float) -> float:
        """How far below the top of the panel a value is."""
        value = min(max(value, self.low), self.high)
        part = (value - self.low) / (self.high - self.low) if not self.log else (
            math.log(value / self.low) / math.log(self.high / self.low))
        return self.height * (1 - part)

    def value(self, pixels: float) -> float:
        """The value that is this far below the top."""
        part = 1 - pixels / self.height
        if self.log:
            return self.low * math.pow(self.high / self.low, part)
        return self.low + part * (self.high - self.low)


def ticks(low: float, high: float) -> list[float]:
    """Round numbers of a logarithmic axis: 1, 2 and 5 of each power of ten, or more of them where
    these are fewer than three."""
    found: list[float] = []
    for digits in ((1, 2, 5), (1, 1.5, 2, 3, 5, 7), tuple(n / 10 for n in range(10, 100))):
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        found = [float(f"{digit * 10.0**power:.6g}") for power in powers for digit in digits]
        found = [value for value in found if low <= value <= high]
        if len(found) > 2:
            break
    return found[::-(-len(found) // 8)]


# --- panels of the chart -------------------------------------------------------------------------


def _block(
    made: Sequence[tuple[CurvePanel, Sequence[tuple[str, CurveStyle]]]],
    rows: Sequence[CurvePanelRow], along: tuple[str, float],
    limits: Mapping[str, tuple[float, float]], *, beside: int, legend: bool,
) -> dict[str, Any]:
    """Panels, with the looks of their curves, beside one another, a row a figure; of a single one
    as many figures as ``beside`` says, where it is not 0. The name of a curve stands once, right
    of the last panel that has it, where a ``legend`` is wanted there."""
    height = max(height_of(panel.names) for panel, _ in made) if legend else LOW
    words = along[0] if legend else wrap(along[0], WRAPPED)
    cells = []
    for number, row in enumerate(rows):
        last = number == len(rows) - 1
        axis = _PanelAxes(*limits[row.key], along[1], height, row.latency)
        for place, (panel, looks) in enumerate(made):
            later = {name for other, _ in made[place + 1:] for name in other.names}
            x = {"field": "offered", "type": "quantitative",
                 "scale": {"domain": [0, along[1]], "nice": False},
                 "axis": {"title": words if last or beside > 1 else None, "tickCount": 5,
                          "labelFlush": False}}
            y = _upright(row, axis, beside > 0 or not place)
            cell: dict[str, Any] = {
                "width": WIDTH, "height": height,
                "layer": _layers(_drawn(panel, looks, row, axis), x, y, row, axis),
            }
            if legend and (last if beside else not number):
                cell["layer"] += _legend([
                    LegendEntry(lines_of(name), colour, style)
                    for name, (colour, style) in zip(panel.names, looks, strict=True)
                    if name and name not in later
                ])
            if panel.name and not number:
                cell["layer"].append(_head(panel.name))
            cells.append(cell)
    return {"concat": cells, "columns": min(beside, len(rows)) if beside else len(made),
            "spacing": {"row": 14, "column": 32 if legend else 14}}


def _entries(
    made: Iterable[tuple[CurvePanel, Sequence[tuple[str, CurveStyle]]]]
) -> list[LegendEntry]:
    """The curves of all panels, each name once, in a line."""
    known: dict[str, LegendEntry] = {}
    for panel, looks in made:
        for name, (colour, style) in zip(panel.names, looks, strict=True):
            if name:
                known.setdefault(name, LegendEntry([name], colour, style))
    return list(known.values())


def _below(entries: Sequence[LegendEntry], width_pt: float) -> dict[str, Any]:
    """A legend below all panels, in columns that have room for the longest name."""
    longest = max(len(line) for entry in entries for line in entry.lines)
    room = SAMPLE + 17 + LETTER * longest
    columns = max(1, min(len(entries), int(width_pt / room)))
    rows = -(-len(entries) // columns)
    layers = [layer for place, entry in enumerate(entries) for layer in _entry(
        entry, room * (place // rows), (LINE + GAP) * (place % rows))]
    return {"width": 1, "height": (LINE + GAP) * rows, "view": {"fill": None}, "layer": layers}


def _head(name: str) -> dict[str, Any]:
    """The name of a panel above it: at the same height in all, whatever marks stand at the top."""
    lines = wrap(name, 34)
    return {
        "data": {"values": [{}]},
        "mark": {"type": "text", "align": "left", "baseline": "bottom", "fontSize": 12,
                 "fontWeight": 600, "lineHeight": 14, "text": lines},
        "encoding": {"x": {"value": 0}, "y": {"value": 4 - 14 * len(lines)}},
    }


def _upright(row: CurvePanelRow, axis: _PanelAxes, first: bool) -> dict[str, Any]:
    """The upright axis of a panel, with numbers and a title at the first of a row."""
    scale: dict[str, Any] = {"domain": [axis.low, axis.high], "nice": False}
    about: dict[str, Any] = {"title": row.title if first else None, "labels": first,
                             "format": ",~r", "tickCount": 5}
    if row.latency:
        scale["type"] = "log"
        about["values"] = ticks(axis.low, axis.high)
    return {"field": "value", "type": "quantitative", "scale": scale, "axis": about}


def _layers(
    drawn: Sequence[_DrawnCurve], x: dict[str, Any], y: dict[str, Any], row: CurvePanelRow,
    axis: _PanelAxes,
) -> list[dict[str, Any]]:
    """Bands, lines, marks and ends of the curves of a panel."""
    tint = {"field": "colour", "type": "nominal", "scale": None}
    by = {"field": "curve", "type": "nominal"}
    values = [value for one in drawn for value in one.line]
    layers: list[dict[str, Any]] = []
    if row.key == "accepted_load":
        end = min(axis.right, axis.high)
        layers.append({
            "data": {"values": [{"offered": 0, "value": 0}, {"offered": end, "value": end}]},
            "mark": {"type": "line", "color": GREY, "strokeWidth": 0.8, "strokeDash": [1, 2]},
            "encoding": {"x": x, "y": y}})
    banded = [value for value in values if value["low"] < value["high"]]
    if banded:
        layers.append({
            "data": {"values": banded}, "mark": {"type": "area", "opacity": FAINT},
            "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"},
                         "color": tint, "detail": by}})

    def dashes(scale: float) -> dict[str, Any]:
        lengths = [[scale * part for part in one.style.dash] for one in drawn]
        return {"field": "curve", "type": "nominal", "legend": None,
                "scale": {"domain": [one.name for one in drawn], "range": lengths}}

    inside = {"condition": {"test": "datum.hollow", "value": "white"}, **tint}
    shape = {"field": "mark", "type": "nominal", "scale": None}
    cuts = [{"curve": one.name, "colour": one.colour, "hollow": True, **one.cut}
            for one in drawn if one.cut]
    layers.append(
        {"data": {"values": values}, "mark": {"type": "line", "strokeWidth": 1.5},
         "encoding": {"x": x, "y": y, "color": tint, "detail": by, "strokeDash": dashes(1)}})
    mark = {"type": "point", "filled": False, "strokeWidth": 1.3, "opacity": 1}
    layers.append(
        {"data": {"values": values}, "mark": {**mark, "size": 26},
         "encoding": {"x": x, "y": y, "color": tint, "fill": inside, "shape": shape}})
    if cuts:
        layers.append(
            {"data": {"values": cuts}, "mark": {**mark, "size": 36},
             "encoding": {"x": x, "y": y, "color": tint, "fill": {"value": "white"},
                          "shape": shape, "strokeDash": dashes(0.4)}})
    return layers


def _legend(entries: Sequence[LegendEntry]) -> list[dict[str, Any]]:
    """A legend right of a panel: a piece of each line with its mark, and its name."""
    layers: list[dict[str, Any]] = []
    top = 0.0
    for entry in entries:
        layers += _entry(entry, WIDTH + 8, top)
        top += entry.height + GAP
    return layers


def _entry(entry: LegendEntry, left: float, top: float) -> list[dict[str, Any]]:
    """One name of a legend, at this place."""
    y, colour = {"value": top + LINE / 2}, entry.colour
    one: dict[str, Any] = {"data": {"values": [{}]}}
    return [
        {**one, "mark": {"type": "rule", "color": colour, "strokeWidth": 1.5,
                         "strokeDash": [*entry.style.dash]},
         "encoding": {"x": {"value": left}, "x2": {"value": left + SAMPLE}, "y": y}},
        {**one, "mark": {"type": "point", "filled": True, "color": colour, "size": 26,
                         "opacity": 1, "shape": entry.style.shape},
         "encoding": {"x": {"value": left + SAMPLE / 2}, "y": y}},
        {**one, "mark": {"type": "text", "align": "left", "baseline": "middle", "fontSize": 11,
                         "lineHeight": LINE, "color": INK, "text": entry.lines},
         "encoding": {"x": {"value": left + SAMPLE + 5}, "y": y}},
    ]
