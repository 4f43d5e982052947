"""Drawings of machine rooms: the floor from above, and the fronts of racks."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from flyloom.draw.svg import (
    FAR,
    GREY,
    INK,
    PAPER,
    TINTS,
    SvgDrawing,
    fitting,
    group_words,
    note_svg,
    number,
    plural,
)

LABELLED_PAIRS = 15
DRAWN_PAIRS, PART_PAIRS = 600, 100
"""Pairs of racks that have a line, at most: of a whole floor, and of a part of one, where lines go
over racks that others lead past."""
DRAWN_COLUMNS, DRAWN_ROWS = 10, 6
"""The columns and rows of a floor of which racks are drawn: 60 at most."""
SERVERS = "#e4e8ec"
"""The colour of servers, and of racks that have nothing else."""

# --- the floor from above ------------------------------------------------------------------------

TILE_W, TILE_H = 98, 58
"""A rack in the drawing."""
_GAP_X, _GAP_Y = 46, 62


class RackDrawingPlaces:
    """Where each rack stands in the drawing."""

    def __init__(self, racks: Sequence[Mapping[str, Any]]) -> None:
        rows = sorted({rack["row"] for rack in racks})
        columns = sorted({rack["column"] for rack in racks})
        self.cell = {
            rack["name"]: (columns.index(rack["column"]), rows.index(rack["row"])) for rack in racks
        }
        self.taken = set(self.cell.values())
        self.columns, self.rows = len(columns), len(rows)
        # only racks of the first row or column can push a curve over the edge
        top = [name for name, (_, row) in self.cell.items() if row == 0]
        side = [name for name, (column, _) in self.cell.items() if column == 0]
        self.left, self.top = 10 + self._most_bend(side), 10 + self._most_bend(top)

    def _most_bend(self, names: Sequence[str]) -> float:
        spans = [self._span(a, b) for a in names for b in names if a < b]
        return max((self._bend(span) - TILE_H / 2 for span in spans if span), default=0)

    def centre(self, name: str) -> tuple[float, float]:
        """The middle of a rack."""
        column, row = self.cell[name]
        x = self.left + TILE_W / 2 + column * (TILE_W + _GAP_X)
        return x, self.top + TILE_H / 2 + row * (TILE_H + _GAP_Y)

    def size(self) -> tuple[float, float]:
        """Width and height of all of it."""
        width = self.left + 10 + self.columns * (TILE_W + _GAP_X) - _GAP_X
        return width, self.top + 10 + self.rows * (TILE_H + _GAP_Y) - _GAP_Y

    def _span(self, a: str, b: str) -> int:
        """Cells between two racks of one row or column when a rack stands between them, else 0."""
        (ax, ay), (bx, by) = self.cell[a], self.cell[b]
        if ax != bx and ay != by:
            return 0
        steps = max(abs(ax - bx), abs(ay - by))
        dx, dy = (bx > ax) - (bx < ax), (by > ay) - (by < ay)
        inside = any((ax + dx * i, ay + dy * i) in self.taken for i in range(1, steps))
        return steps if inside else 0

    @staticmethod
    def _bend(span: int) -> float:
        return TILE_H / 2 + min(12 * (span - 1), _GAP_Y - 8)

    def curve(self, a: str, b: str) -> tuple[tuple[float, float], ...]:
        """Start, control and end point of the line between two racks."""
        (x0, y0), (x1, y1) = self.centre(a), self.centre(b)
        middle = ((x0 + x1) / 2, (y0 + y1) / 2)
        span = self._span(a, b)
        if span:
            # the middle of a quadratic curve is halfway to its control point
            if y0 == y1:
                middle = (middle[0], middle[1] - 2 * self._bend(span))
            else:
                bend = self._bend(span) + (TILE_W - TILE_H) / 2
                middle = (middle[0] - 2 * bend, middle[1])
        elif x0 != x1 and y0 != y1:
            middle = self._aside(a, b, middle)
        return (x0, y0), middle, (x1, y1)

    def _aside(self, a: str, b: str, middle: tuple[float, float]) -> tuple[float, float]:
        """The control point nearest to ``middle`` with which a curve between racks of two rows and
        two columns is behind no third rack; the one that is behind least where all are."""
        (x0, y0), (x1, y1) = self.centre(a), self.centre(b)
        length = math.hypot(x1 - x0, y1 - y0)
        across = ((y0 - y1) / length, (x1 - x0) / length)
        best, least = middle, math.inf
        for bend in sorted(range(-240, 241, 40), key=abs):
            point = middle[0] + bend * across[0], middle[1] + bend * across[1]
            hidden = self.hidden(a, b, ((x0, y0), point, (x1, y1)))
            if hidden < least:
                best, least = point, hidden
            if not hidden:
                break
        return best

    def hidden(self, a: str, b: str, curve: tuple[tuple[float, float], ...]) -> int:
        """How much of a curve is behind other racks than its own, or outside of the drawing."""
        width, height = self.size()
        hidden = 0
        for i in range(1, 40):
            x, y = _at(curve, i / 40)
            column = round((x - self.left - TILE_W / 2) / (TILE_W + _GAP_X))
            row = round((y - self.top - TILE_H / 2) / (TILE_H + _GAP_Y))
            middle = (self.left + TILE_W / 2 + column * (TILE_W + _GAP_X),
                      self.top + TILE_H / 2 + row * (TILE_H + _GAP_Y))
            behind = abs(x - middle[0]) < TILE_W / 2 + 4 and abs(y - middle[1]) < TILE_H / 2 + 4
            own = (column, row) in (self.cell[a], self.cell[b])
            outside = not (2 < x < width - 2 and 2 < y < height - 2)
            hidden += outside or (behind and not own and (column, row) in self.taken)
        return hidden


    def outside(
        self, a: str, b: str, curve: tuple[tuple[float, float], ...]
    ) -> tuple[tuple[float, float], ...]:
        """The part of a curve between two racks that is outside of both."""
        def border(name: str, inside: float, beyond: float) -> float:
            middle = self.centre(name)
            for _ in range(30):
                half = (inside + beyond) / 2
                x, y = _at(curve, half)
                within = abs(x - middle[0]) < TILE_W / 2 and abs(y - middle[1]) < TILE_H / 2
                inside, beyond = (half, beyond) if within else (inside, half)
            return beyond

        first, last = border(a, 0.0, 0.5), border(b, 1.0, 0.5)
        middle = tuple(
            (1 - first) * ((1 - last) * p + last * q) + first * ((1 - last) * q + last * r)
            for p, q, r in zip(*curve, strict=True)
        )
        return _at(curve, first), (middle[0], middle[1]), _at(curve, last)


def _at(curve: tuple[tuple[float, float], ...], t: float) -> tuple[float, float]:
    (x0, y0), (cx, cy), (x1, y1) = curve
    a, b, c = (1 - t) ** 2, 2 * t * (1 - t), t * t
    return a * x0 + b * cx + c * x1, a * y0 + b * cy + c * y1


def _place_labels(
    floor: RackDrawingPlaces, curves: Sequence[tuple[Any, ...]]
) -> list[tuple[float, float]]:
    """A place on each curve that is clear of racks and of the labels placed before it."""
    centres = [floor.centre(name) for name in floor.cell]
    placed: list[tuple[float, float]] = []
    for curve in curves:
        spots = [_at(curve, t) for t in (0.5, 0.4, 0.6, 0.33, 0.67, 0.27, 0.73)]

        def clear(spot: tuple[float, float]) -> bool:
            racks = all(
                abs(spot[0] - x) > TILE_W / 2 + 13 or abs(spot[1] - y) > TILE_H / 2 + 9
                for x, y in centres
            )
            return racks and all(
                abs(spot[0] - x) > 28 or abs(spot[1] - y) > 17 for x, y in placed
            )

        placed.append(next((spot for spot in spots if clear(spot)), spots[0]))
    return placed


def floor_svg(floor: Mapping[str, Any]) -> str:
    """The floor seen from above: racks on their grid, a line for every pair of racks with cables.

    ``floor`` has ``racks``: ``{"name", "row", "column", "switches": [...], "endpoints": int}`` and
    ``rack_pairs``: ``{"a": rack name, "b": rack name, "cables": int}`` with each pair once. Line
    widths grow with the number of cables; up to 15 pairs carry their number, and when all pairs
    have the same number it is said once, below. Above 600 pairs no line is drawn and a note
    says so. Of a floor of more than 60 racks the first 6 rows and 10 columns are drawn, with the
    pairs among these if they are up to 100. Time O(racks^2 * grid side + pairs). Raises
    ``KeyError`` for a pair that names a rack which is not there.
    """
    if not floor["racks"]:
        return note_svg("Floor plan", "No rack is placed on the floor.")
    racks, pairs, left_out = part_of(floor)
    plan = RackDrawingPlaces(racks)
    width, height = plan.size()
    counts = sorted({pair["cables"] for pair in pairs})
    most = PART_PAIRS if left_out else DRAWN_PAIRS
    notes = [words for words in (left_out, _pairs_note(len(pairs), counts, most)) if words]
    lines = [line for words in notes
             for line in textwrap.wrap(words, max(40, int((width - plan.left - 10) / 6.8)))]
    drawing = SvgDrawing(
        max([width, *(plan.left + 20 + 6.8 * len(line) for line in lines)]),
        height + 16 * len(lines) + (10 if lines else 0), "Floor plan",
    )
    drawn = pairs if len(pairs) <= most else []
    curves = [plan.curve(pair["a"], pair["b"]) for pair in drawn]
    clear = [not plan.hidden(pair["a"], pair["b"], curve)
             for pair, curve in zip(drawn, curves, strict=True)]
    _floor_lines(drawing, drawn, curves, clear, counts)
    for rack in racks:
        x, y = plan.centre(rack["name"])
        left, top = x - TILE_W / 2, y - TILE_H / 2
        switches, endpoints = len(rack["switches"]), rack["endpoints"]
        words = plural(switches, "switch", "switches") if switches else "servers alone"
        drawing.add(
            "rect", x=left, y=top, width=TILE_W, height=TILE_H, rx=3,
            fill=PAPER if switches else SERVERS, stroke=INK,
            hint=f'{rack["name"]}: {words}, {plural(endpoints, "endpoint")}',
        )
        if switches:
            drawing.add("rect", x=left, y=top, width=TILE_W, height=4, fill=INK)
        name, size = fitting(str(rack["name"]), TILE_W - 8, 12)
        drawing.text(x, top + 21, name, size, text_anchor="middle", font_weight="600")
        drawing.text(x, top + 36, words, 10.5, text_anchor="middle", fill=GREY)
        ends = plural(endpoints, "endpoint")
        drawing.text(x, top + 50, ends, 10.5, text_anchor="middle", fill=GREY)
    # a line behind a third rack would read as two shorter ones: it runs in front
    before = [plan.outside(pair["a"], pair["b"], curve)
              for pair, curve in zip(drawn, curves, strict=True)]
    _floor_lines(drawing, drawn, before, [not behind for behind in clear], counts)
    if len(counts) > 1 and len(drawn) <= LABELLED_PAIRS:
        _floor_labels(drawing, plan, drawn, curves)
    for i, line in enumerate(lines):
        drawing.text(plan.left, height + 14 + 16 * i, line, 11.5, fill=GREY)
    return drawing.render()


def part_of(
    floor: Mapping[str, Any]
) -> tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]], str]:
    """The racks and pairs that are drawn, and which these are, in words, where some are not."""
    racks, pairs = floor["racks"], floor["rack_pairs"]
    if len(racks) <= DRAWN_COLUMNS * DRAWN_ROWS:
        return racks, pairs, ""
    rows = sorted({rack["row"] for rack in racks})[:DRAWN_ROWS]
    columns = sorted({rack["column"] for rack in racks if rack["row"] in rows})[:DRAWN_COLUMNS]
    shown = [rack for rack in racks if rack["row"] in rows and rack["column"] in columns]
    names = {rack["name"] for rack in shown}
    inside = [pair for pair in pairs if pair["a"] in names and pair["b"] in names]
    kinds = {(len(rack["switches"]), rack["endpoints"]) for rack in racks}
    alike = "all others are filled alike" if len(kinds) == 1 else "more would be too small to read"
    words = (f"{len(shown)} of {len(racks):,} racks are drawn, those of the first {len(rows)} rows "
             f"and {len(columns)} columns: {alike}. {len(pairs):,} pairs of racks share cables, "
             f"{len(inside):,} of them here.")
    return shown, inside, words


def _pairs_note(pairs: int, counts: Sequence[int], most: int) -> str:
    if not counts:
        return ""
    if pairs > most:
        each = f"{counts[0]:,} to {counts[-1]:,}" if len(counts) > 1 else f"{counts[0]:,}"
        return f"{pairs:,} pairs of racks have {each} cables each: too many lines to draw."
    if len(counts) == 1:
        if pairs == 1:
            return f"The line stands for {plural(counts[0], 'cable')}."
        return f"Each of the {pairs:,} lines stands for {plural(counts[0], 'cable')}."
    if pairs > LABELLED_PAIRS:
        return f"{pairs:,} pairs, {counts[0]:,} (thin) to {counts[-1]:,} (thick) cables each."
    return ""


def _floor_lines(
    drawing: SvgDrawing, pairs: Sequence[Mapping[str, Any]], curves: Sequence[tuple[Any, ...]],
    wanted: Sequence[bool], counts: Sequence[int],
) -> None:
    """Draws the lines of the pairs that are ``wanted``."""
    fade = 0.75 if len(pairs) <= 40 else max(0.12, 0.75 * (40 / len(pairs)) ** 0.5)
    for pair, curve, here in zip(pairs, curves, wanted, strict=True):
        if not here:
            continue
        (x0, y0), (cx, cy), (x1, y1) = curve
        share = pair["cables"] / counts[-1] if counts[-1] else 0
        width = 2.2 if len(counts) == 1 else 0.8 + 4.2 * share
        ends = f'{number(x0)} {number(y0)}Q{number(cx)} {number(cy)} {number(x1)} {number(y1)}'
        drawing.add(
            "path", d=f"M{ends}", fill="none", stroke=FAR, stroke_width=width,
            stroke_opacity=fade,
            hint=f'{pair["a"]} to {pair["b"]}: {plural(pair["cables"], "cable")}',
        )


def _floor_labels(
    drawing: SvgDrawing, plan: RackDrawingPlaces, pairs: Sequence[Mapping[str, Any]],
    curves: Sequence[tuple[Any, ...]],
) -> None:
    """Writes the number of cables on each line."""
    spots = _place_labels(plan, curves)
    for pair, (x, y) in zip(pairs, spots, strict=True):
        text = f'{pair["cables"]:,}'
        w = 8 + 6.6 * len(text)
        drawing.add("rect", x=x - w / 2, y=y - 8, width=w, height=16, rx=8, fill=PAPER,
                    stroke=FAR, stroke_width=0.8)
        drawing.text(x, y + 4, text, 11, text_anchor="middle")


# --- the racks from the front --------------------------------------------------------------------

_RACK_W, _RACK_GAP = 90, 13


def racks_svg(
    floor: Mapping[str, Any],
    switch_groups: Sequence[object] | None = None,
    *,
    per_row: int = 10,
    max_racks: int = 20,
) -> str:
    """The fronts of the racks with every switch and server in its rack units, unit 1 at the bottom.

    ``floor`` as in :func:`floor_svg`; each switch is ``{"id", "name", "unit"}``, ``unit`` counting
    rack units from 1 upwards, or ``None`` to stack the switches in their order from the bottom;
    ``floor["switch_units"]``, 1 where it is missing, is their height. A rack's ``servers``, where
    it has some, are ``{"unit", "height", "endpoints"}`` each.
    ``switch_groups[id]`` tints the switches of different groups of one rack in turn. Of racks that
    are filled alike the first is drawn, and below it stands how many there are. At most
    ``max_racks`` are drawn, ``per_row`` beside each other; a note names how many kinds were left
    out. Time and size O(racks * units).
    """
    if not floor["racks"]:
        return note_svg("Rack fronts", "No rack is placed on the floor.")
    kinds: dict[Any, list[Mapping[str, Any]]] = {}
    for rack in floor["racks"]:
        kinds.setdefault(_filling(rack, switch_groups), []).append(rack)
    alike = list(kinds.values())
    shown = [of_kind[0] for of_kind in alike[:max_racks]]
    units = [
        [switch["unit"] if switch["unit"] is not None else place + 1
         for place, switch in enumerate(rack["switches"])]
        for rack in shown
    ]
    height = floor.get("switch_units") or 1
    tops = [unit + height - 1 for of_rack in units for unit in of_rack]
    tops += [s["unit"] + s["height"] - 1 for rack in shown for s in rack.get("servers") or ()]
    top_unit = max(tops, default=1)
    slot = 15.0 if top_unit <= 20 else 11.0 if top_unit <= 48 else 528 / top_unit
    body = top_unit * slot
    rows = -(-len(shown) // per_row)
    several = len(alike) < len(floor["racks"])
    step_y = body + (78 if several else 62)
    left = 22
    note = ""
    if len(shown) < len(alike):
        note = f"{len(shown)} of {len(alike):,} kinds of racks are drawn."
    width = left + min(len(shown), per_row) * (_RACK_W + _RACK_GAP) - _RACK_GAP + 6
    drawing = SvgDrawing(max(width, 240), rows * step_y + (18 if note else 0), "Rack fronts")
    for place, (rack, of_rack) in enumerate(zip(shown, units, strict=True)):
        x = left + place % per_row * (_RACK_W + _RACK_GAP)
        y = 22 + place // per_row * step_y
        _rack_front(drawing, x, y, slot, top_unit, rack, of_rack, switch_groups, height)
        if len(alike[place]) > 1:
            words = f"{len(alike[place]):,} like this"
            said, size = fitting(words, _RACK_W + 8, 10.5)
            drawing.text(x + _RACK_W / 2, y + body + 33, said, size, text_anchor="middle",
                         fill=GREY)
        if place % per_row == 0:
            for unit in range(1, top_unit + 1):
                if unit == 1 or unit == top_unit or (unit % 5 == 0 and top_unit - unit > 1):
                    base = y + body - (unit - 0.5) * slot + 3
                    drawing.text(left - 6, base, str(unit), 8.5, text_anchor="end", fill=GREY)
    if note:
        drawing.text(left, rows * step_y + 8, note, 11, fill=GREY)
    return drawing.render()


def _filling(rack: Mapping[str, Any], groups: Sequence[object] | None) -> Any:
    """What racks that are filled alike have in common."""
    seen: dict[str, int] = {}
    switches = tuple(
        (switch["unit"], seen.setdefault(str(groups[switch["id"]]), len(seen)) if groups else 0)
        for switch in rack["switches"])
    servers = tuple((server["unit"], server["height"], server["endpoints"])
                    for server in rack.get("servers") or ())
    return switches, servers, rack["endpoints"]


def _rack_front(
    drawing: SvgDrawing, x: float, y: float, slot: float, top_unit: int, rack: Mapping[str, Any],
    units: Sequence[int], groups: Sequence[object] | None, height: int,
) -> None:
    body = top_unit * slot
    name, size = fitting(str(rack["name"]), _RACK_W, 12)
    drawing.text(x + _RACK_W / 2, y - 8, name, size, text_anchor="middle", font_weight="600")
    drawing.add("rect", x=x, y=y - 2, width=_RACK_W, height=body + 4, rx=2, fill="#f6f7f9",
                stroke=INK, stroke_width=1.2)
    for server in rack.get("servers") or ():
        top = y + body - (server["unit"] + server["height"] - 1) * slot
        ends = plural(server["endpoints"], "endpoint")
        drawing.add(
            "rect", x=x + 5, y=top + 1, width=_RACK_W - 10,
            height=max(server["height"] * slot - 2, 0.6), rx=1.5, fill=SERVERS, stroke="#aab3be",
            stroke_width=0.6, hint=f'server of {ends}, unit {server["unit"]}',
        )
    seen: list[object] = []
    for switch, unit in zip(rack["switches"], units, strict=True):
        group = groups[switch["id"]] if groups else None
        if group not in seen:
            seen.append(group)
        top = y + body - (unit + height - 1) * slot
        drawing.add(
            "rect", x=x + 5, y=top + 1, width=_RACK_W - 10, height=max(height * slot - 2, 0.6),
            rx=1.5, fill=TINTS[seen.index(group) % len(TINTS)], stroke="#5b6b7d", stroke_width=0.6,
            hint=f'{switch["name"]}, unit {unit}'
            + ("" if group is None else f", group {group_words(group)}"),
        )
        if slot >= 8:
            most = min(9.5, slot - 2.5)
            label, size = fitting(str(switch["name"]), _RACK_W - 18, most, min(5.0, most))
            drawing.text(x + 10, top + slot / 2 + size * 0.35, label, size)
    ends = plural(rack["endpoints"], "endpoint")
    drawing.text(x + _RACK_W / 2, y + body + 18, ends, 10.5, text_anchor="middle", fill=GREY)


def racks_of(floor: Mapping[str, Any], switch_count: int) -> list[str | None]:
    """The rack of each switch, by id; None of those that stand in none."""
    racks: list[str | None] = [None] * switch_count
    for rack in floor["racks"]:
        for switch in rack["switches"]:
            racks[switch["id"]] = rack["name"]
    return racks


def floor_data(plan: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """The input of the floor and rack drawings: racks with their switches and servers, and pairs
    of racks."""
    racks: list[dict[str, Any]] = [
        {"name": r["name"], "row": r["row"], "column": r["column"], "switches": [], "endpoints": 0,
         "servers": []}
        for r in plan["racks"]
    ]
    servers: list[dict[int, int]] = [{} for _ in racks]
    rules = plan["rules"]
    height = rules.get("server_units") or 1  # older plans say nothing
    for switch, seat in enumerate(plan["switches"]):
        place = {"id": switch, "name": names[switch], "unit": seat.get("unit")}
        racks[seat["rack"]]["switches"].append(place)
    for seat in plan["endpoints"]:
        if seat is not None:
            racks[seat["rack"]]["endpoints"] += 1
            if seat.get("unit") is not None:
                inside = servers[seat["rack"]]
                inside[seat["unit"]] = inside.get(seat["unit"], 0) + 1
    for rack, inside in zip(racks, servers, strict=True):
        rack["servers"] = [
            {"unit": unit, "height": height, "endpoints": ends}
            for unit, ends in sorted(inside.items())
        ]
    return {"racks": racks, "rack_pairs": plan["rack_pairs"],
            "switch_units": rules.get("switch_units") or 1}
