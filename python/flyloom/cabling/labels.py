"""Labels for both ends of every cable, as a table and as sheets to print."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from flyloom._core import RefusalError
from flyloom.cabling.codes import LEAST_PT, QUIET, code, said
from flyloom.cabling.model import Cable, CableEnd, CablingPlan
from flyloom.draw.letters import width_of, wrapped
from flyloom.draw.sheet import SIZES_PT, SMALL, DrawingSheet
from flyloom.draw.svg import GREY
from flyloom.support.words import amount, csv_text

CUT = 5.0
"""Half the size of the crosses that show where to cut, points."""
EDGE = 11.0
"""Room kept free inside a label, points: 4 mm, which most printers leave at the paper's edge."""
SIZES = (16.0, 14.0, 12.0, 11.0, 10.0, 9.0, 8.0, 7.0, SMALL)
"""Sizes of letters that a label is tried with, points."""
COLUMNS, ROWS = 3, 8
"""Labels beside and above each other on a sheet where nothing else is said: 70 x 37 mm each."""
BOLD = (True, False, False)
"""Which of the three lines of a label are bold."""
HEADER = ("cable", "end", "label", "far_label", "device", "port", "far_device", "far_port", "step",
          "kind", "stock_m")


def labels(cables: Sequence[Cable]) -> list[tuple[Cable, str, CableEnd, CableEnd]]:
    """Cable, side, own and far end of every label, both ends of a cable after each other."""
    return [
        (c, side, own, far)
        for c in cables for side, own, far in (("a", c.a, c.b), ("b", c.b, c.a))
    ]


def labels_csv(cabling: CablingPlan) -> str:
    """Every label as a line of comma-separated values."""
    return csv_text(HEADER, [
        (c.name, side, own.label, far.label, own.device, own.port, far.device, far.port, c.step,
         c.kind, amount(c.stock_m).replace(",", ""))
        for c, side, own, far in labels(cabling.cables)
    ])


def label_sheets(
    cabling: CablingPlan, columns: int = COLUMNS, rows: int = ROWS
) -> tuple[list[DrawingSheet], int]:
    """Sheets of A4 with ``columns`` x ``rows`` labels, row by row; how many have a code.

    A label has its own end in bold, the far end, the cable's name, kind and stock length, and to
    the right a QR code with the cable's name and both ends, where there is room for one beside the
    words. Crosses show where to cut. Letters are as large as fit without breaking a line, 16 points
    at most. Raises ``RefusalError`` where a label cannot hold its words in letters of 6 points.
    O(labels).
    """
    paper = SIZES_PT["a4"]
    wide, high = paper[0] / columns, paper[1] / rows
    all_labels = labels(cabling.cables)
    sheets: list[DrawingSheet] = []
    coded = 0
    for i, (cable, _, own, far) in enumerate(all_labels):
        place = i % (columns * rows)
        if place == 0:
            sheets.append(DrawingSheet(*paper, "Labels"))
            _cuts(sheets[-1], columns, rows)
        words = (own.label, f"to {far.label}",
                 f"{cable.name}  {cable.kind} {amount(cable.stock_m)} m  step {cable.step}")
        x, y = place % columns * wide + EDGE, place // columns * high + EDGE
        room = wide - 2 * EDGE
        dark = code(said(cable))
        side = _side(len(dark), room, high - 2 * EDGE) if dark else 0.0
        quiet = QUIET * side / len(dark) if dark else 0.0
        lines = _laid_out(words, room - side - quiet, high - 2 * EDGE) if side else None
        if dark and lines:
            sheets[-1].code(x + room - side, y, side, dark)
            coded += 1
        else:
            lines = _laid_out(words, room, high - 2 * EDGE)
        if lines is None:
            why = f"{columns}x{rows}: no room for {own.label} to {far.label} in letters of 6 points"
            raise RefusalError(f"labels: {why}; fewer columns or rows, 3x8 is common")
        for dy, line, size, bold in lines:
            sheets[-1].text(x, y + dy, line, size, bold=bold)
    return sheets, coded


def _side(modules: int, room: float, high: float) -> float:
    """The side of a code on a label with so much room, points; 0 where modules are too small."""
    for share in (0.38, 0.6):
        side = min(high, share * room)
        if side >= LEAST_PT * modules:
            return side
    return 0.0


def _cuts(sheet: DrawingSheet, columns: int, rows: int) -> None:
    """A cross at each corner of the labels; at the edges of the sheet what is left of it."""
    for i in range(columns + 1):
        for j in range(rows + 1):
            x, y = i * sheet.width / columns, j * sheet.height / rows
            left, right = max(0.0, x - CUT), min(sheet.width, x + CUT)
            above, below = max(0.0, y - CUT), min(sheet.height, y + CUT)
            if 0 < j < rows:
                sheet.line([(left, y), (right, y)], GREY, 0.3)
            if 0 < i < columns:
                sheet.line([(x, above), (x, below)], GREY, 0.3)


@functools.lru_cache(1 << 12)
def _laid_out(
    words: tuple[str, str, str], wide: float, high: float
) -> list[tuple[float, str, float, bool]] | None:
    """The lines of a label: base line, words, size, bold; None where they do not fit."""
    if wide < 3 * SMALL:
        return None
    widths = [width_of(line, 1.0, bold) for line, bold in zip(words, BOLD, strict=True)]
    for size in SIZES:
        letters = (size, max(0.8 * size, SMALL), max(0.55 * size, SMALL))
        whole = all(w * z <= wide for w, z in zip(widths, letters, strict=True))
        if not whole and size != SMALL:
            continue
        y, lines = 0.0, []
        for text, z, bold in zip(words, letters, BOLD, strict=True):
            for line in wrapped(text, wide, z, bold):
                y += 1.3 * z
                lines.append((y, line, z, bold))
        if y <= high:
            return lines
    return None
