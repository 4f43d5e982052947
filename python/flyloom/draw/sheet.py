"""A sheet: lines, boxes, words and codes at places in points, to be an SVG file or a PDF page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from flyloom.draw.letters import width_of, wrapped
from flyloom.draw.svg import INK, PAPER, SvgDrawing, printable

SIZES_PT = {"a4": (595.276, 841.89), "a3": (841.89, 1190.551)}
"""Width and height of the papers, upright; 72 points are an inch."""
MARGIN = 36.0
SMALL, BODY, HEAD = 6.0, 7.0, 13.0
"""Sizes of letters in points; nothing is smaller than the first."""
LONG = 180.0
"""Words longer than this keep their width in points in an SVG file, whatever its font is."""
FONT = "Helvetica, Arial, 'Nimbus Sans', 'Liberation Sans', sans-serif"


class DrawingSheet:
    """Something drawn: a list of marks. The origin is at the top left; lengths are points."""

    def __init__(self, width: float, height: float, name: str) -> None:
        """An empty sheet; ``name`` is its entry in the outline, unless ``entries`` is changed."""
        self.width, self.height, self.name = width, height, name
        self.entries = [name]
        self.marks: list[tuple[Any, ...]] = []

    def line(
        self, points: Sequence[tuple[float, float]], stroke: str = INK, width: float = 0.6,
        *, dash: str | None = None, hint: str | None = None,
    ) -> None:
        """A line through ``points``; ``dash`` as in SVG, ``hint`` its tool tip there."""
        self.marks.append(("line", tuple(points), stroke, width, dash, hint))

    def box(
        self, x: float, y: float, width: float, height: float, *, fill: str = PAPER,
        stroke: str | None = INK, line: float = 0.6, dash: str | None = None,
        hint: str | None = None,
    ) -> None:
        """A filled rectangle."""
        self.marks.append(("box", x, y, width, height, fill, stroke, line, dash, hint))

    def text(
        self, x: float, y: float, words: str, size: float = BODY, *, anchor: str = "start",
        bold: bool = False, fill: str = INK,
    ) -> None:
        """``words`` with their base line at y; ``anchor``: x is their start, middle or end."""
        if not words.isprintable():
            words = printable(" ".join(words.split()))
        self.marks.append(("text", x, y, words, size, anchor, bold, fill))

    def code(self, x: float, y: float, size: float, rows: Sequence[str]) -> None:
        """A square of modules from rows of ``0`` and ``1`` (dark), its top left corner at x, y."""
        self.marks.append(("code", x, y, size, tuple(rows)))

    def svg(self) -> str:
        """The sheet as one SVG element, of its size in points."""
        drawing = SvgDrawing(self.width, self.height, self.name, unit="pt", font=FONT)
        for kind, *mark in self.marks:
            if kind == "line":
                points, stroke, width, dash, hint = mark
                path = "M" + "L".join(f"{x:.2f} {y:.2f}" for x, y in points)
                drawing.add("path", d=path, fill="none", stroke=stroke, stroke_width=width,
                            stroke_dasharray=dash, hint=hint)
            elif kind == "box":
                x, y, width, height, fill, stroke, line, dash, hint = mark
                drawing.add("rect", x=x, y=y, width=width, height=height, fill=fill,
                            stroke=stroke, stroke_width=line if stroke else None,
                            stroke_dasharray=dash, hint=hint)
            elif kind == "code":
                x, y, size, rows = mark
                drawing.add("path", d=_modules(x, y, size / len(rows), rows), fill=INK)
            else:
                x, y, words, size, anchor, bold, fill = mark
                wide = width_of(words, size, bold)
                # a wider font in place of Helvetica must not run out of the sheet
                fixed = {"textLength": wide, "lengthAdjust": "spacingAndGlyphs"}
                drawing.text(x, y, words, size, fill=fill, **(fixed if wide > LONG else {}),
                             text_anchor=None if anchor == "start" else anchor,
                             font_weight="bold" if bold else None)
        return drawing.render()


def _modules(x: float, y: float, module: float, rows: Sequence[str]) -> str:
    """A path around each run of dark modules."""
    parts = []
    for i, row in enumerate(rows):
        for run in re.finditer("1+", row):
            wide = (run.end() - run.start()) * module
            parts.append(f"M{x + run.start() * module:.2f} {y + i * module:.2f}h{wide:.2f}"
                         f"v{module:.2f}h-{wide:.2f}z")
    return "".join(parts)


def paragraph(
    sheet: DrawingSheet, x: float, y: float, words: str, room: float, size: float = BODY,
    *, bold: bool = False, fill: str = INK,
) -> float:
    """Writes ``words`` in as many lines as they need; the y of the line after them."""
    for line in wrapped(words, room, size, bold):
        sheet.text(x, y, line, size, bold=bold, fill=fill)
        y += 1.3 * size
    return y
