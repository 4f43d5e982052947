"""The floor from above with the bad cables of a running fabric, as SVG."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from flyloom.draw.floor import SERVERS, TILE_H, TILE_W, RackDrawingPlaces
from flyloom.draw.svg import GREY, INK, PAPER, SvgDrawing, fitting, note_svg, number, plural

GRADES = {
    "dead": ("#1c2430", "8 4", "dead: carries nothing"),
    "flapping": ("#b3261e", "", "flapping: went down meanwhile"),
    "degraded": ("#d1860a", "2 3", "degraded: fewer lanes or lower speed"),
    "marginal": ("#6a4fb3", "", "marginal: too many errors"),
}
"""Colour, dashes and words of every grade, the worst first; they differ in grey, too."""

MOST_RACKS = 400
"""The most racks that are all drawn; beyond it those with a bad cable are."""
MOST_NUMBERS = 60
"""Up to this number of lines carry the numbers of their cables."""


def bad_cables_svg(floor: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    """The racks on their grid, those with ends of bad cables marked, and a line for every pair of
    racks with bad cables, with their numbers in the list of :func:`flyloom.observe`.

    Numbers of cables within a rack stand in it. O(racks^2 + bad cables).
    """
    racks, cables = list(floor["racks"]), list(found["bad_cables"])
    ends = Counter(
        rack for cable in cables for rack in {cable["a_rack"], cable["b_rack"]} if rack is not None
    )
    drawn = len(racks)
    if len(racks) > MOST_RACKS:
        racks = [rack for rack in racks if ends[rack["name"]]][:MOST_RACKS]
    if not racks:
        return note_svg("Bad cables", "No bad cable stands in a rack.")
    plan = RackDrawingPlaces(racks)
    width, height = plan.size()
    lines = _notes(found, cables, len(racks), drawn)
    legend = [(grade, sum(c["grade"] == grade for c in cables)) for grade in GRADES]
    rows = len(GRADES) + len(lines)
    drawing = SvgDrawing(max(width + 24, 480, *(7.0 * len(line) for line in lines)),
                         height + 24 + 20 * rows, "Bad cables on the floor")
    known = [c for c in cables if c["a_rack"] in plan.cell and c["b_rack"] in plan.cell]
    pairs = _by_pair(known)
    labels = _lines(drawing, plan, pairs)
    for rack in racks:
        _rack(drawing, plan, rack, ends[rack["name"]])
    _inside(drawing, plan, pairs)
    _numbers(drawing, labels if len(labels) <= MOST_NUMBERS else [])
    top = height + 20.0
    for grade, count in legend:
        colour, dashes, words = GRADES[grade]
        drawing.add("path", d=f"M12 {number(top - 4)}H44", fill="none", stroke=colour,
                    stroke_width=3, stroke_dasharray=dashes or None)
        drawing.text(52, top, f"{words} ({count:,})", 11.5)
        top += 20
    for line in lines:
        drawing.text(12, top, line, 11.5, fill=GREY)
        top += 20
    return drawing.render()


def _rack(
    drawing: SvgDrawing, plan: RackDrawingPlaces, rack: Mapping[str, Any], bad: int
) -> None:
    x, y = plan.centre(rack["name"])
    left, top = x - TILE_W / 2, y - TILE_H / 2
    fill = "#fdeceb" if bad else PAPER if rack["switches"] else SERVERS
    words = plural(bad, "bad cable") if bad else ""
    drawing.add("rect", x=left, y=top, width=TILE_W, height=TILE_H, rx=3, fill=fill,
                stroke=INK if bad else "#aab3be", stroke_width=1.6 if bad else 1.0,
                hint=f"{rack['name']}: {words or 'no bad cable'}")
    name, size = fitting(str(rack["name"]), TILE_W - 8, 12)
    drawing.text(x, top + 17, name, size, text_anchor="middle",
                 font_weight="600" if bad else "400", fill=INK if bad else GREY)
    if words:
        drawing.text(x, top + TILE_H - 6, words, 10.5, text_anchor="middle")


Pair = tuple[str, str]
Label = tuple[float, float, str, str]
"""Where numbers stand, the numbers, and their colour."""


def _by_pair(cables: Sequence[Mapping[str, Any]]) -> dict[Pair, list[Mapping[str, Any]]]:
    """The cables of every pair of racks, or within a rack, the worst first."""
    pairs: dict[Pair, list[Mapping[str, Any]]] = {}
    for cable in cables:
        a, b = sorted((cable["a_rack"], cable["b_rack"]))
        pairs.setdefault((a, b), []).append(cable)
    worst = list(GRADES)
    return {pair: sorted(of, key=lambda c: worst.index(c["grade"])) for pair, of in pairs.items()}


def _lines(
    drawing: SvgDrawing, plan: RackDrawingPlaces, pairs: Mapping[Pair, list[Mapping[str, Any]]]
) -> list[Label]:
    """Draws a line for every pair of racks, in the colour of its worst cable; returns where the
    numbers of its cables stand."""
    curves = {pair: plan.curve(*pair) for pair in pairs if pair[0] != pair[1]}
    labels: list[Label] = []

    def length(pair: Pair) -> float:
        (x0, y0), _, (x1, y1) = curves[pair]
        return abs(x1 - x0) + abs(y1 - y0)

    # short lines have the least room for their numbers
    for pair in sorted(curves, key=length):
        (x0, y0), (cx, cy), (x1, y1) = curves[pair]
        colour, dashes, _ = GRADES[pairs[pair][0]["grade"]]
        ends = f"{number(x0)} {number(y0)}Q{number(cx)} {number(cy)} {number(x1)} {number(y1)}"
        drawing.add("path", d=f"M{ends}", fill="none", stroke=colour, stroke_width=3,
                    stroke_dasharray=dashes or None, hint=_hint(pairs[pair]))
        text = _numbered(pairs[pair])
        spots = [
            ((1 - t) ** 2 * x0 + 2 * t * (1 - t) * cx + t * t * x1,
             (1 - t) ** 2 * y0 + 2 * t * (1 - t) * cy + t * t * y1) for t in PLACES
        ]
        clear = (spot for spot in spots if _is_clear(plan, spot, text, labels))
        labels.append((*next(clear, spots[0]), text, colour))
    return labels


PLACES = (0.5, 0.45, 0.55, 0.4, 0.6, 0.35, 0.65, 0.3, 0.7, 0.25, 0.75, 0.2, 0.8, 0.15, 0.85)
"""Where numbers may stand along a line, the best first."""
MOST_LISTED = 4
"""The most numbers of a line; of more it says how many there are besides."""


def _numbered(cables: Sequence[Mapping[str, Any]]) -> str:
    numbers = sorted(cable["number"] for cable in cables)
    text = ", ".join(map(str, numbers[:MOST_LISTED]))
    return text if len(numbers) <= MOST_LISTED else f"{text} +{len(numbers) - MOST_LISTED}"


def _wide(text: str) -> float:
    return 10 + 6.2 * len(text)


def _is_clear(
    plan: RackDrawingPlaces, spot: tuple[float, float], text: str, labels: Sequence[Label]
) -> bool:
    """Whether numbers stand on no rack and on no others."""
    half = _wide(text) / 2
    centres = (plan.centre(name) for name in plan.cell)
    on_rack = any(abs(spot[0] - x) < TILE_W / 2 + half and abs(spot[1] - y) < TILE_H / 2 + 8
                  for x, y in centres)
    return not on_rack and all(
        abs(spot[0] - x) > half + _wide(other) / 2 or abs(spot[1] - y) > 17
        for x, y, other, _ in labels
    )


def _hint(cables: Sequence[Mapping[str, Any]]) -> str:
    return "; ".join(
        f"{cable['number']}: {cable['a']} port {cable['a_port']} to {cable['b']} port"
        f" {cable['b_port']}, {cable['grade']}" for cable in cables
    )


def _inside(
    drawing: SvgDrawing, plan: RackDrawingPlaces, pairs: Mapping[Pair, list[Mapping[str, Any]]]
) -> None:
    """The numbers of cables within racks, in the colour of the worst one."""
    for (rack, other), cables in pairs.items():
        if rack == other:
            x, y = plan.centre(rack)
            colour = GRADES[cables[0]["grade"]][0]
            text, size = fitting(_numbered(cables), TILE_W - 26, 11)
            wide = 12 + 0.6 * size * len(text)
            drawing.add("rect", x=x - wide / 2, y=y - 8, width=wide, height=16, rx=3, fill=PAPER,
                        stroke=colour, stroke_width=2, hint=_hint(cables))
            drawing.text(x, y + 4, text, size, text_anchor="middle", font_weight="600")


def _numbers(drawing: SvgDrawing, labels: Sequence[Label]) -> None:
    """The numbers of cables between racks, on a ground of their own."""
    for x, y, text, colour in labels:
        wide = _wide(text)
        x = max(x, wide / 2 + 4)
        drawing.add("rect", x=x - wide / 2, y=y - 8, width=wide, height=16, rx=8, fill=PAPER,
                    stroke=colour, stroke_width=1.2)
        drawing.text(x, y + 4, text, 10.5, text_anchor="middle", font_weight="600")


def _notes(
    found: Mapping[str, Any], cables: Sequence[Mapping[str, Any]], shown: int, racks: int
) -> list[str]:
    """What the picture does not show, in words."""
    notes = []
    if cables:
        notes.append("Numbers are those of the list; in a rack, of cables within it.")
        notes.append("A line has the colour of its worst cable.")
    else:
        notes.append("No bad cable.")
    if shown < racks:
        notes.append(f"{shown:,} of {racks:,} racks are drawn: those with a bad cable.")
    if nowhere := sum(c["a_rack"] is None or c["b_rack"] is None for c in cables):
        notes.append(f"{plural(nowhere, 'bad cable')} with an end in no rack: only in the list.")
    if found["lost_switches"]:
        notes.append(f"Reported no more: {', '.join(found['lost_switches'][:8])}")
    return notes
