"""Heat maps: how busy every channel is, on the adjacency matrix and on the floor of a machine room.

A channel is ``(from, to, utilisation)``: the switch that sends, the one that receives, and flits a
cycle. Colours go from light to dark in steps of one length, so that they differ in grey
and under the common colour deficiencies; grey channels carried nothing.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from flyloom.draw.floor import DRAWN_PAIRS, TILE_H, TILE_W, RackDrawingPlaces, part_of
from flyloom.draw.matrix import (
    MATRIX_BLOCKS,
    MATRIX_PX,
    MATRIX_SWITCHES,
    dividers,
    lattice,
    matrix_order,
    names_room_px,
    row_names,
)
from flyloom.draw.svg import GREY, INK, PAPER, SvgDrawing, fitting, note_svg, number, plural

Channels = Iterable[tuple[int, int, float]]

IDLE = "#d5dae0"
"""The colour of channels that carried nothing."""
RAMP = ("#f6d746", "#fca50a", "#dd513a", "#932667", "#420a68", "#160b39")
"""Where colours go from the least to the most: the scale inferno of matplotlib, from its light end
that still stands out on paper."""
STEPS = 10
"""Colours, at most."""
MARKS = 120_000
"""Channels that the matrix shows each by itself, at most."""


class HeatScale:
    """Steps of utilisation and their colours: as many as ``STEPS``, or fewer, of 1, 2 or 5 times a
    power of ten, from 0 to the most."""

    def __init__(self, most: float) -> None:
        """A scale up to ``most`` flits a cycle."""
        self.step = 1.0
        if most > 0:
            power = 10.0 ** math.floor(math.log10(most / STEPS))
            widths = (round(digit * power, 12) for digit in (1, 2, 5, 10))
            self.step = next(w for w in widths if w * STEPS >= most * (1 - 1e-9))
        self.count = max(1, math.ceil(most / self.step - 1e-9))
        self.colours = [ramp((i + 0.5) / self.count) for i in range(self.count)]

    def place(self, utilisation: float) -> int:
        """The step of a utilisation, from 0; -1 for a utilisation of 0."""
        if utilisation <= 0:
            return -1
        return min(self.count - 1, math.ceil(utilisation / self.step - 1e-9) - 1)

    def colour(self, utilisation: float) -> str:
        """The colour of a utilisation."""
        place = self.place(utilisation)
        return IDLE if place < 0 else self.colours[place]


def ramp(share: float) -> str:
    """The colour at the fraction ``share`` of :data:`RAMP`, 0 to 1."""
    at = min(max(share, 0.0), 1.0) * (len(RAMP) - 1)
    left = min(int(at), len(RAMP) - 2)
    ends = [[int(c[i:i + 2], 16) for i in (1, 3, 5)] for c in RAMP[left:left + 2]]
    mixed = [round(a + (b - a) * (at - left)) for a, b in zip(*ends, strict=True)]
    return "#" + "".join(f"{part:02x}" for part in mixed)


FLITS = "flits a cycle"
"""What the use of a channel is counted in, where nothing else is said."""


def heat_matrix_svg(
    channels: Channels,
    switch_count: int,
    *,
    switch_groups: Sequence[object] | None = None,
    switch_racks: Sequence[object] | None = None,
    switch_names: Sequence[str] | None = None,
    order: Sequence[int] | None = None,
    unit: str = FLITS,
    title: str = "Use of links",
    most: float | None = None,
) -> str:
    """The adjacency matrix with every channel in the colour of its utilisation: rows send, columns
    receive. Colours go up to ``most``, where that is given, else to the busiest channel.

    Rows are in the ``order`` of these switches, else as in :func:`flyloom.draw.adjacency_svg`, and
    labelled with ``switch_names``
    where these are given, else with racks or groups. Where several channels fall on a mark
    (parallel cables; above 2,000 switches or 120,000 channels blocks of at most 160 by 160) it has
    the colour of the busiest. O(channels + switches log switches).
    """
    known = list(channels)
    if not known:
        return note_svg(title, "There are no links between switches.")
    scale = HeatScale(max(used for _, _, used in known) if most is None else most)
    order = order or matrix_order(switch_count, switch_groups, switch_racks)
    place = [0] * switch_count
    for row, switch in enumerate(order):
        place[switch] = row
    blocks = switch_count > MATRIX_SWITCHES or len(known) > MARKS
    side = min(MATRIX_BLOCKS, switch_count) if blocks else switch_count
    busiest: dict[tuple[int, int], float] = {}
    for a, b, used in known:
        cell = (place[a] * side // switch_count, place[b] * side // switch_count)
        busiest[cell] = max(used, busiest.get(cell, 0.0))
    left, top = 62, 34
    if switch_names:
        left = names_room_px(switch_names)
    note = ""
    if blocks:
        note = "Too large for single marks: each block has the colour of its busiest channel."
    elif len(busiest) < len(known):
        note = "Of parallel links the busiest is shown."
    foot = top + MATRIX_PX
    drawing = SvgDrawing(left + MATRIX_PX + 8, foot + 66 + 18 * bool(note), title)
    drawing.text(left, 12, "rows send, columns receive", 11, fill=GREY)
    drawing.add("rect", x=left, y=top, width=MATRIX_PX, height=MATRIX_PX, fill=PAPER, stroke=GREY)
    drawing.open(transform=f"translate({left} {top})")
    cell_px = MATRIX_PX / side
    _marks(drawing, busiest, scale, cell_px)
    if not blocks and cell_px > 4:
        lattice(drawing, side, cell_px)
    scale_px = MATRIX_PX / switch_count
    dividers(drawing, order, scale_px, switch_groups, switch_racks, beside=not switch_names)
    if switch_names:
        row_names(drawing, order, scale_px, switch_names, left - 6)
    drawing.close()
    _legend(drawing, left, foot + 24, scale, unit)
    if note:
        drawing.text(left, foot + 74, note, 11.5, fill=GREY)
    return drawing.render()


def _marks(
    drawing: SvgDrawing, busiest: Mapping[tuple[int, int], float], scale: HeatScale, cell_px: float
) -> None:
    """A path for each colour, of short strokes with relative moves."""
    cells: dict[int, list[tuple[int, int]]] = {}
    for cell, used in sorted(busiest.items()):
        cells.setdefault(scale.place(used), []).append(cell)
    for place, of_colour in sorted(cells.items()):
        path, x, y = [], 0, 0
        for row, column in of_colour:
            path.append(f"m{column - x} {row - y}h1")
            x, y = column + 1, row
        drawing.add(
            "path", d="".join(path), fill="none", stroke_width=max(1.0, 0.95 / cell_px),
            stroke=IDLE if place < 0 else scale.colours[place],
            transform=f"scale({cell_px:.5f}) translate(0 .5)",
        )


def _legend(drawing: SvgDrawing, x: float, y: float, scale: HeatScale, unit: str) -> None:
    """A box for each colour, with the numbers between them, from ``y`` on; 40 high."""
    wide = min(36.0, 300 / scale.count)
    drawing.add("rect", x=x, y=y, width=16, height=12, fill=IDLE)
    drawing.text(x + 8, y + 25, "idle", 10, text_anchor="middle", fill=GREY)
    start = x + 34
    for i, colour in enumerate(scale.colours):
        drawing.add("rect", x=start + i * wide, y=y, width=wide, height=12, fill=colour)
    every = -(-scale.count // 10)
    for i in range(0, scale.count + 1, every):
        drawing.text(start + i * wide, y + 25, f"{i * scale.step:.4g}", 10, text_anchor="middle",
                     fill=GREY)
    words = unit
    drawing.text(start + scale.count * wide + 16, y + 10.5, words, 11)


# --- on the floor --------------------------------------------------------------------------------


def heat_floor_svg(
    floor: Mapping[str, Any], channels: Channels, *, unit: str = FLITS, most: float | None = None
) -> str:
    """The floor seen from above, with lines between racks in the colour of the busiest channel of
    the pair, in either direction, and a bar in every rack for the channels inside it.

    ``floor`` is that of :func:`flyloom.draw.floor_svg`, and of a large one as much is drawn as
    there. The 600 busiest pairs are drawn, and where there are more a note says so.
    O(racks^2 * grid side + channels).
    """
    racks = floor["racks"]
    if not racks:
        return note_svg("Use of links", "No rack is placed on the floor.")
    home = {switch["id"]: rack["name"] for rack in racks for switch in rack["switches"]}
    used: dict[tuple[str, str], list[float]] = {}
    for a, b, flits in channels:
        first, second = sorted((home[a], home[b]))
        used.setdefault((first, second), []).append(flits)
    busiest = max((max(found) for found in used.values()), default=0.0)
    scale = HeatScale(busiest if most is None else most)
    racks, _, left_out = part_of({"racks": racks, "rack_pairs": floor.get("rack_pairs", ())})
    names = {rack["name"] for rack in racks}
    pairs = [pair for pair in used if pair[0] != pair[1] and names.issuperset(pair)]
    pairs.sort(key=lambda pair: (max(used[pair]), pair))
    shown = pairs[-DRAWN_PAIRS:]
    plan = RackDrawingPlaces(racks)
    width, height = plan.size()
    notes = textwrap.wrap(left_out, max(60, int((width - 20) / 6.8)))
    if len(shown) < len(pairs):
        notes.append(f"The {len(shown)} busiest of {len(pairs):,} pairs of racks are drawn.")
    drawing = SvgDrawing(max(width, 470), height + 44 + 18 * len(notes), "Use of links")
    for pair in shown:
        (x0, y0), (cx, cy), (x1, y1) = plan.curve(*pair)
        ends = f"{number(x0)} {number(y0)}Q{number(cx)} {number(cy)} {number(x1)} {number(y1)}"
        drawing.add(
            "path", d=f"M{ends}", fill="none", stroke=scale.colour(max(used[pair])),
            stroke_width=2.6 if len(shown) <= 60 else 1.4,
            hint=f"{pair[0]} and {pair[1]}: {_said(used[pair], unit)}",
        )
    for rack in racks:
        inside = used.get((rack["name"], rack["name"]), [])
        _rack(drawing, plan, rack, inside, scale, unit)
    _legend(drawing, 10, height + 4, scale, unit)
    for i, note in enumerate(notes):
        drawing.text(10, height + 54 + 18 * i, note, 11.5, fill=GREY)
    return drawing.render()


def _rack(
    drawing: SvgDrawing, plan: RackDrawingPlaces, rack: Mapping[str, Any], inside: Sequence[float],
    scale: HeatScale, unit: str,
) -> None:
    x, y = plan.centre(rack["name"])
    left, top = x - TILE_W / 2, y - TILE_H / 2
    said = _said(inside, unit) if inside else "no channels inside"
    drawing.add("rect", x=left, y=top, width=TILE_W, height=TILE_H, rx=3, fill=PAPER, stroke=INK,
                hint=f'{rack["name"]}: {said}')
    if inside:
        drawing.add("rect", x=left, y=top, width=TILE_W, height=12, fill=scale.colour(max(inside)),
                    stroke=INK)
    name, size = fitting(str(rack["name"]), TILE_W - 8, 12)
    drawing.text(x, top + 29, name, size, text_anchor="middle", font_weight="600")
    words = plural(len(rack["switches"]), "switch", "switches")
    drawing.text(x, top + 45, words, 10.5, text_anchor="middle", fill=GREY)


def _said(used: Sequence[float], unit: str) -> str:
    mean = sum(used) / len(used)
    each = f"busiest {max(used):.3g}, mean {mean:.3g} {unit}"
    return f"{plural(len(used), 'channel')}, {each}"
