"""Drawings of networks as SVG text: floor plans, rack fronts, adjacency matrices.

Every function here takes plain Python values and returns one ``<svg>`` element as a string. The
element is complete XML on its own (it carries its name space) and can be put inside an HTML page
as it is. All text is escaped; the same input gives the same bytes; nothing refers to a file, a
font file or a network address. Lengths inside a drawing are CSS pixels (``_px``).

Drawings are for people: beyond a size at which nothing could be told apart they fall back to a
coarser picture, and say so in the picture itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

#: Colours of the three kinds of link, from near to far: within a group, between the groups of one
#: rack, between racks. Told apart under the three common colour deficiencies and in grey.
NEAR, MIDDLE, FAR = "#0b5394", "#2a9d8f", "#d1660a"
INK, GREY, PALE, PAPER = "#1c2430", "#66707d", "#dfe4ea", "#ffffff"
#: Tints of the groups of one rack, used in turn.
TINTS = ("#d6e4f2", "#fbe3cf", "#d5ebe8", "#eadcf0")
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"

LABELLED_PAIRS = 15
MATRIX_PX = 420
MATRIX_SWITCHES = 2000
MATRIX_BLOCKS = 160


def number(value: float) -> str:
    """A coordinate as short text: at most two decimals, no trailing zeros, never ``-0``."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def clipped(text: str, width_px: float, size_px: float) -> str:
    """``text`` cut to about ``width_px`` at font size ``size_px``, with an ellipsis when cut."""
    room = max(1, int(width_px / (0.58 * size_px)))
    return text if len(text) <= room else text[: max(1, room - 1)] + "…"


class Svg:
    """A growing SVG drawing of a fixed size.

    Attribute names are Python names: ``stroke_width`` becomes ``stroke-width``. Numbers go through
    :func:`number`, all other values are escaped.
    """

    def __init__(self, width_px: float, height_px: float, title: str) -> None:
        """Start a drawing of this size; ``title`` is what a screen reader says."""
        self._parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{number(width_px)}" '
            f'height="{number(height_px)}" viewBox="0 0 {number(width_px)} {number(height_px)}" '
            f'font-family="{escape(FONT)}"><title>{escape(title)}</title>'
        ]

    @staticmethod
    def _attributes(values: Mapping[str, object]) -> str:
        out = []
        for name, value in values.items():
            if value is None:
                continue
            text = number(value) if isinstance(value, (int, float)) else escape(str(value))
            out.append(f' {name.rstrip("_").replace("_", "-")}="{text}"')
        return "".join(out)

    def add(self, tag: str, *, hint: str | None = None, **attributes: object) -> None:
        """Add one element; ``hint`` becomes its tool tip."""
        body = f"<title>{escape(hint)}</title></{tag}>" if hint else None
        opening = f"<{tag}{self._attributes(attributes)}"
        self._parts.append(f"{opening}>{body}" if body else f"{opening}/>")

    def text(self, x: float, y: float, text: str, size: float = 11, **attributes: object) -> None:
        """Write ``text`` with its base line at ``(x, y)``."""
        values = {"x": x, "y": y, "font_size": size, "fill": INK, **attributes}
        self._parts.append(f"<text{self._attributes(values)}>{escape(text)}</text>")

    def open(self, **attributes: object) -> None:
        """Open a group ``<g>``; every ``open`` needs a :meth:`close`."""
        self._parts.append(f"<g{self._attributes(attributes)}>")

    def close(self) -> None:
        """Close the innermost group."""
        self._parts.append("</g>")

    def render(self) -> str:
        """The whole drawing as text."""
        return "".join(self._parts) + "</svg>"


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _note(title: str, note: str) -> str:
    drawing = Svg(420, 40, title)
    drawing.text(0, 24, note, 12, fill=GREY)
    return drawing.render()


# --- the floor from above ------------------------------------------------------------------------

_TILE_W, _TILE_H, _GAP_X, _GAP_Y = 98, 58, 46, 62


class _Floor:
    """Where each rack stands in the drawing."""

    def __init__(self, racks: Sequence[Mapping]) -> None:
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
        return max((self._bend(span) - _TILE_H / 2 for span in spans if span), default=0)

    def centre(self, name: str) -> tuple[float, float]:
        column, row = self.cell[name]
        x = self.left + _TILE_W / 2 + column * (_TILE_W + _GAP_X)
        return x, self.top + _TILE_H / 2 + row * (_TILE_H + _GAP_Y)

    def size(self) -> tuple[float, float]:
        width = self.left + 10 + self.columns * (_TILE_W + _GAP_X) - _GAP_X
        return width, self.top + 10 + self.rows * (_TILE_H + _GAP_Y) - _GAP_Y

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
        return _TILE_H / 2 + min(12 * (span - 1), _GAP_Y - 8)

    def curve(self, a: str, b: str) -> tuple[tuple[float, float], ...]:
        """Start, control and end point of the line between two racks."""
        (x0, y0), (x1, y1) = self.centre(a), self.centre(b)
        middle = ((x0 + x1) / 2, (y0 + y1) / 2)
        span = self._span(a, b)
        if span:
            # the middle of a quadratic curve lies half way to its control point
            if y0 == y1:
                middle = (middle[0], middle[1] - 2 * self._bend(span))
            else:
                bend = self._bend(span) + (_TILE_W - _TILE_H) / 2
                middle = (middle[0] - 2 * bend, middle[1])
        return (x0, y0), middle, (x1, y1)


def _at(curve: tuple[tuple[float, float], ...], t: float) -> tuple[float, float]:
    (x0, y0), (cx, cy), (x1, y1) = curve
    a, b, c = (1 - t) ** 2, 2 * t * (1 - t), t * t
    return a * x0 + b * cx + c * x1, a * y0 + b * cy + c * y1


def _place_labels(floor: _Floor, curves: Sequence[tuple]) -> list[tuple[float, float]]:
    """A place on each curve that is clear of racks and of the labels placed before it."""
    centres = [floor.centre(name) for name in floor.cell]
    placed: list[tuple[float, float]] = []
    for curve in curves:
        spots = [_at(curve, t) for t in (0.5, 0.4, 0.6, 0.33, 0.67, 0.27, 0.73)]

        def clear(spot: tuple[float, float]) -> bool:
            racks = all(
                abs(spot[0] - x) > _TILE_W / 2 + 13 or abs(spot[1] - y) > _TILE_H / 2 + 9
                for x, y in centres
            )
            return racks and all(
                abs(spot[0] - x) > 28 or abs(spot[1] - y) > 17 for x, y in placed
            )

        placed.append(next((spot for spot in spots if clear(spot)), spots[0]))
    return placed


def floor_svg(floor: Mapping) -> str:
    """The floor seen from above: racks on their grid, a line for every pair of racks with cables.

    ``floor`` has ``racks``: ``{"name", "row", "column", "switches": [...], "endpoints": int}`` and
    ``rack_pairs``: ``{"a": rack name, "b": rack name, "cables": int}`` with each pair once. Line
    widths grow with the number of cables; up to 15 pairs carry their number, and when all pairs
    have the same number it is said once, below. Above 3,000 pairs no line is drawn and a note
    says so. Time O(racks^2 * grid side + pairs). Raises ``KeyError`` for a pair that names a rack
    which is not there.
    """
    racks, pairs = floor["racks"], floor["rack_pairs"]
    if not racks:
        return _note("Floor plan", "No rack is placed on the floor.")
    plan = _Floor(racks)
    width, height = plan.size()
    counts = sorted({pair["cables"] for pair in pairs})
    note = _pairs_note(len(pairs), counts)
    drawing = Svg(max(width, 60 + 6.6 * len(note)), height + (26 if note else 0), "Floor plan")
    if len(pairs) <= 3000:
        _floor_lines(drawing, plan, pairs, counts)
    for rack in racks:
        x, y = plan.centre(rack["name"])
        left, top = x - _TILE_W / 2, y - _TILE_H / 2
        switches, endpoints = len(rack["switches"]), rack["endpoints"]
        words = f'{_plural(switches, "switch").replace("switchs", "switches")}'
        drawing.add(
            "rect", x=left, y=top, width=_TILE_W, height=_TILE_H, rx=3, fill=PAPER, stroke=INK,
            hint=f'{rack["name"]}: {words}, {_plural(endpoints, "endpoint")}',
        )
        drawing.add("rect", x=left, y=top, width=_TILE_W, height=4, fill=INK)
        name = clipped(str(rack["name"]), _TILE_W - 8, 12)
        drawing.text(x, top + 21, name, 12, text_anchor="middle", font_weight="600")
        drawing.text(x, top + 36, words, 10.5, text_anchor="middle", fill=GREY)
        ends = _plural(endpoints, "endpoint")
        drawing.text(x, top + 50, ends, 10.5, text_anchor="middle", fill=GREY)
    if note:
        drawing.text(plan.left, height + 14, note, 11.5, fill=GREY)
    return drawing.render()


def _pairs_note(pairs: int, counts: Sequence[int]) -> str:
    if not counts:
        return ""
    if pairs > 3000:
        return f"{pairs:,} pairs of racks are cabled: too many to draw."
    if len(counts) == 1:
        if pairs == 1:
            return f"The line stands for {_plural(counts[0], 'cable')}."
        return f"Each of the {pairs:,} lines stands for {_plural(counts[0], 'cable')}."
    if pairs > LABELLED_PAIRS:
        return f"{pairs:,} pairs, {counts[0]:,} (thin) to {counts[-1]:,} (thick) cables each."
    return ""


def _floor_lines(
    drawing: Svg, plan: _Floor, pairs: Sequence[Mapping], counts: Sequence[int]
) -> None:
    curves = [plan.curve(pair["a"], pair["b"]) for pair in pairs]
    fade = 0.75 if len(pairs) <= 40 else max(0.12, 0.75 * (40 / len(pairs)) ** 0.5)
    for pair, ((x0, y0), (cx, cy), (x1, y1)) in zip(pairs, curves, strict=True):
        share = pair["cables"] / counts[-1] if counts[-1] else 0
        width = 2.2 if len(counts) == 1 else 0.8 + 4.2 * share
        ends = f'{number(x0)} {number(y0)}Q{number(cx)} {number(cy)} {number(x1)} {number(y1)}'
        drawing.add(
            "path", d=f"M{ends}", fill="none", stroke=FAR, stroke_width=width,
            stroke_opacity=fade,
            hint=f'{pair["a"]} to {pair["b"]}: {_plural(pair["cables"], "cable")}',
        )
    if len(counts) > 1 and len(pairs) <= LABELLED_PAIRS:
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
    floor: Mapping,
    switch_groups: Sequence[object] | None = None,
    *,
    per_row: int = 10,
    max_racks: int = 40,
) -> str:
    """The fronts of the racks with every switch in its rack unit, unit 1 at the bottom.

    ``floor`` as in :func:`floor_svg`; each switch is ``{"id", "name", "unit"}``, ``unit`` counting
    rack units from 1 upwards, or ``None`` to stack the switches in their order from the bottom.
    ``switch_groups[id]`` tints the switches of different groups of one rack in turn. At most
    ``max_racks`` racks are drawn, ``per_row`` beside each other; a note names how many were left
    out. Time and size O(racks drawn * units).
    """
    racks = floor["racks"]
    if not racks:
        return _note("Rack fronts", "No rack is placed on the floor.")
    shown = racks[:max_racks]
    units = [
        [switch["unit"] if switch["unit"] is not None else place + 1
         for place, switch in enumerate(rack["switches"])]
        for rack in shown
    ]
    top_unit = max((unit for of_rack in units for unit in of_rack), default=1)
    slot = 15.0 if top_unit <= 20 else 11.0 if top_unit <= 48 else 528 / top_unit
    body = top_unit * slot
    rows = -(-len(shown) // per_row)
    step_y = body + 62
    left = 22
    note = f"{len(shown)} of {len(racks):,} racks are drawn." if len(shown) < len(racks) else ""
    width = left + min(len(shown), per_row) * (_RACK_W + _RACK_GAP) - _RACK_GAP + 6
    drawing = Svg(max(width, 240), rows * step_y + (18 if note else 0), "Rack fronts")
    for place, (rack, of_rack) in enumerate(zip(shown, units, strict=True)):
        x = left + place % per_row * (_RACK_W + _RACK_GAP)
        y = 22 + place // per_row * step_y
        _rack_front(drawing, x, y, slot, top_unit, rack, of_rack, switch_groups)
        if place % per_row == 0:
            for unit in range(1, top_unit + 1):
                if unit == 1 or unit == top_unit or unit % 5 == 0 and top_unit - unit > 1:
                    base = y + body - (unit - 0.5) * slot + 3
                    drawing.text(left - 6, base, str(unit), 8.5, text_anchor="end", fill=GREY)
    if note:
        drawing.text(left, rows * step_y + 8, note, 11, fill=GREY)
    return drawing.render()


def _rack_front(
    drawing: Svg, x: float, y: float, slot: float, top_unit: int, rack: Mapping,
    units: Sequence[int], groups: Sequence[object] | None,
) -> None:
    body = top_unit * slot
    name = clipped(str(rack["name"]), _RACK_W, 12)
    drawing.text(x + _RACK_W / 2, y - 8, name, 12, text_anchor="middle", font_weight="600")
    drawing.add("rect", x=x, y=y - 2, width=_RACK_W, height=body + 4, rx=2, fill="#f6f7f9",
                stroke=INK, stroke_width=1.2)
    seen: list[object] = []
    for switch, unit in zip(rack["switches"], units, strict=True):
        group = groups[switch["id"]] if groups else None
        if group not in seen:
            seen.append(group)
        top = y + body - unit * slot
        drawing.add(
            "rect", x=x + 5, y=top + 1, width=_RACK_W - 10, height=max(slot - 2, 0.6), rx=1.5,
            fill=TINTS[seen.index(group) % len(TINTS)], stroke="#5b6b7d", stroke_width=0.6,
            hint=f'{switch["name"]}, unit {unit}'
            + ("" if group is None else f", group {_words(group)}"),
        )
        if slot >= 8:
            size = min(9.5, slot - 2.5)
            label = clipped(str(switch["name"]), _RACK_W - 18, size)
            drawing.text(x + 10, top + slot / 2 + size * 0.35, label, size)
    ends = _plural(rack["endpoints"], "endpoint")
    drawing.text(x + _RACK_W / 2, y + body + 18, ends, 10.5, text_anchor="middle", fill=GREY)


def _words(group: object) -> str:
    return "/".join(map(str, group)) if isinstance(group, (list, tuple)) else str(group)


# --- the matrix ----------------------------------------------------------------------------------


def matrix_order(
    switch_count: int,
    groups: Sequence[object] | None = None,
    racks: Sequence[object] | None = None,
) -> list[int]:
    """Switch ids in the order of the matrix: by rack, then by group, then by id.

    Racks and groups come in the order in which ids first show them, so that any kind of name
    sorts. ``None`` means that there are none. Time O(n log n).
    """

    def ranks(values: Sequence[object] | None) -> list[int]:
        if values is None:
            return [0] * switch_count
        seen: dict[str, int] = {}
        return [seen.setdefault(_words(value), len(seen)) for value in values]

    of_rack, of_group = ranks(racks), ranks(groups)
    return sorted(range(switch_count), key=lambda i: (of_rack[i], of_group[i], i))


def link_classes(
    edges: Iterable[Sequence[int]],
    groups: Sequence[object] | None = None,
    racks: Sequence[object] | None = None,
) -> list[int]:
    """The class of each edge, in order: 0 within a group, 1 between groups of a rack, 2 far.

    Far is between racks; without racks it is between groups. Without either all edges are far.
    A link between racks is far even when its group spans both.
    """
    out = []
    for a, b in edges:
        same_group = groups is not None and groups[a] == groups[b]
        same_rack = racks is not None and racks[a] is not None and racks[a] == racks[b]
        near = same_group and (racks is None or same_rack)
        out.append(0 if near else 1 if same_rack else 2)
    return out


def adjacency_svg(
    edges: Sequence[Sequence[int]],
    switch_count: int,
    *,
    switch_groups: Sequence[object] | None = None,
    switch_racks: Sequence[object] | None = None,
    max_links: int = 60_000,
) -> str:
    """The adjacency matrix: a mark at row ``a`` and column ``b`` for a link between ``a`` and ``b``.

    ``edges`` are pairs of switch ids below ``switch_count``; parallel links fall on one mark.
    ``switch_groups`` and ``switch_racks`` hold one value per switch and order the rows
    (:func:`matrix_order`), draw the dividing lines and colour the marks (:func:`link_classes`);
    the legend counts the links of each class. Above 2,000 switches or ``max_links`` links the
    picture is a grid of at most 160 by 160 blocks shaded by how full they are, and says so.
    Time O(n log n + links); size O(links) or O(blocks^2). Raises ``ValueError`` for an id that is
    out of range or for groups or racks of another length.
    """
    for values, what in ((switch_groups, "switch_groups"), (switch_racks, "switch_racks")):
        if values is not None and len(values) != switch_count:
            raise ValueError(f"{what} has {len(values)} values for {switch_count} switches")
    for a, b in edges:
        if not (0 <= a < switch_count and 0 <= b < switch_count):
            raise ValueError(f"edge {a}-{b}: switch ids go from 0 to {switch_count - 1}")
    if switch_count == 0:
        return _note("Adjacency matrix", "The network has no switches.")
    order = matrix_order(switch_count, switch_groups, switch_racks)
    place = [0] * switch_count
    for row, switch in enumerate(order):
        place[switch] = row
    classes = link_classes(edges, switch_groups, switch_racks)
    blocks = switch_count > MATRIX_SWITCHES or len(edges) > max_links
    legend = _legend(edges, classes, switch_groups, switch_racks)
    left, top = 62, 20
    foot = top + MATRIX_PX
    note_lines = 1 if blocks else 0
    drawing = Svg(left + MATRIX_PX + 8, foot + 18 + 18 * (len(legend) + note_lines),
                  "Adjacency matrix")
    drawing.add("rect", x=left, y=top, width=MATRIX_PX, height=MATRIX_PX, fill=PAPER, stroke=GREY)
    scale = MATRIX_PX / switch_count
    drawing.open(transform=f"translate({left} {top})")
    _dividers(drawing, order, scale, switch_groups, switch_racks)
    marks = [(place[a], place[b]) for a, b in edges]
    if blocks:
        _block_marks(drawing, marks, switch_count)
    else:
        _cell_marks(drawing, marks, classes, scale)
    drawing.close()
    for i, (colour, text) in enumerate(legend):
        y = foot + 22 + 18 * i
        drawing.add("rect", x=left, y=y - 9, width=10, height=10,
                    fill=GREY if blocks else colour)
        drawing.text(left + 16, y, text, 11.5)
    if blocks:
        drawing.text(left, foot + 22 + 18 * len(legend), "Too large for single marks: each block "
                     "is shaded by how full it is.", 11.5, fill=GREY)
    return drawing.render()


def _legend(
    edges: Sequence, classes: Sequence[int], groups: Sequence | None, racks: Sequence | None
) -> list[tuple[str, str]]:
    far = "between racks" if racks is not None else "between groups" if groups else "links"
    near = "within a group" + (", in one rack" if racks is not None else "")
    names = (near, "between groups of one rack" if groups else "within a rack", far)
    counts = [classes.count(kind) for kind in range(3)]
    return [
        (colour, f"{name}: {_plural(count, 'link')}")
        for colour, name, count in zip((NEAR, MIDDLE, FAR), names, counts, strict=True)
        if count
    ] or [(GREY, "no links")]


def _runs(order: Sequence[int], values: Sequence[object]) -> list[tuple[int, int, object]]:
    """Stretches of equal value along ``order``: (first row, one past the last, value)."""
    out: list[tuple[int, int, object]] = []
    for row, switch in enumerate(order):
        if out and out[-1][2] == values[switch]:
            out[-1] = (out[-1][0], row + 1, out[-1][2])
        else:
            out.append((row, row + 1, values[switch]))
    return out


def _dividers(
    drawing: Svg, order: Sequence[int], scale: float,
    groups: Sequence[object] | None, racks: Sequence[object] | None,
) -> None:
    drawing.add("path", d=f"M0 0L{MATRIX_PX} {MATRIX_PX}", stroke=PALE)
    for values, colour, width in ((groups, "#d5dbe2", 0.7), (racks, "#8d98a5", 1.0)):
        runs = _runs(order, values) if values is not None else []
        if len(runs) > 120:
            continue
        lines = "".join(
            f"M0 {number(start * scale)}h{MATRIX_PX}M{number(start * scale)} 0v{MATRIX_PX}"
            for start, _, _ in runs[1:]
        )
        if lines:
            drawing.add("path", d=lines, stroke=colour, stroke_width=width)
    named = racks if racks is not None else groups
    runs = _runs(order, named) if named is not None else []
    if len(runs) > 1:
        for start, end, value in runs:
            span = (end - start) * scale
            if span >= 13 and value is not None:
                middle = (start + end) / 2 * scale
                text = clipped(_words(value), 56, 10)
                drawing.text(-6, middle + 3.5, text, 10, text_anchor="end", fill=GREY)
                across = clipped(_words(value), span, 10)
                drawing.text(middle, -6, across, 10, text_anchor="middle", fill=GREY)


def _cell_marks(
    drawing: Svg, marks: Sequence[tuple[int, int]], classes: Sequence[int], scale: float
) -> None:
    """One path per class: short horizontal strokes, written with relative moves to stay small."""
    thick = max(1.0, 0.95 / scale)
    for kind, colour in enumerate((NEAR, MIDDLE, FAR)):
        cells = {
            cell
            for (a, b), of in zip(marks, classes, strict=True) if of == kind
            for cell in ((a, b), (b, a))
        }
        if not cells:
            continue
        path, x, y = [], 0, 0
        for row, column in sorted(cells):
            path.append(f"m{column - x} {row - y}h1")
            x, y = column + 1, row
        drawing.add(
            "path", d="".join(path), fill="none", stroke=colour, stroke_width=thick,
            transform=f"scale({scale:.5f}) translate(0 .5)",
        )


def _block_marks(drawing: Svg, marks: Sequence[tuple[int, int]], switch_count: int) -> None:
    side = min(MATRIX_BLOCKS, switch_count)
    counts: dict[tuple[int, int], int] = {}
    for pair in marks:
        for a, b in (pair, pair[::-1]):
            block = (a * side // switch_count, b * side // switch_count)
            counts[block] = counts.get(block, 0) + 1
    most = max(counts.values(), default=1)
    levels: dict[int, list[str]] = {}
    for (row, column), count in sorted(counts.items()):
        level = -(-5 * count // most)
        levels.setdefault(level, []).append(f"M{column} {row}h1")
    for level, strokes in sorted(levels.items()):
        drawing.add(
            "path", d="".join(strokes), fill="none", stroke=INK, stroke_opacity=level / 5,
            transform=f"scale({MATRIX_PX / side:.5f}) translate(0 .5)",
        )
