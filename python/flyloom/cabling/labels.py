"""Labels for both ends of every cable, as a table and as sheets to print."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from flyloom._core import RefusalError
from flyloom.cabling.letters import wrapped
from flyloom.cabling.model import Cable, Cabling, End
from flyloom.cabling.sheet import SIZES_PT, SMALL, Sheet
from flyloom.support.words import amount, csv_text

EDGE = 11.0
"""Room kept free inside a label, points: 4 mm, which most printers leave at the paper's edge."""
SIZES = (16.0, 14.0, 12.0, 11.0, 10.0, 9.0, 8.0, 7.0, SMALL)
"""Sizes of letters that a label is tried with, points."""
COLUMNS, ROWS = 3, 8
"""Labels beside and above each other on a sheet where nothing else is said: 70 x 37 mm each."""
HEADER = ("cable", "end", "label", "far_label", "device", "port", "far_device", "far_port", "step",
          "kind", "stock_m")


def labels(cables: Sequence[Cable]) -> list[tuple[Cable, str, End, End]]:
    """Cable, side, own and far end of every label, both ends of a cable after each other."""
    return [
        (c, side, own, far)
        for c in cables for side, own, far in (("a", c.a, c.b), ("b", c.b, c.a))
    ]


def labels_csv(cabling: Cabling) -> str:
    """Every label as a line of comma-separated values."""
    return csv_text(HEADER, [
        (c.name, side, own.label, far.label, own.device, own.port, far.device, far.port, c.step,
         c.kind, amount(c.stock_m).replace(",", ""))
        for c, side, own, far in labels(cabling.cables)
    ])


def label_sheets(cabling: Cabling, columns: int = COLUMNS, rows: int = ROWS) -> list[Sheet]:
    """Sheets of A4 with ``columns`` x ``rows`` labels, row by row.

    A label has its own end in bold, the far end, and the cable's name, kind and stock length.
    Letters are as large as fit without breaking a line, 16 points at most. Raises
    ``RefusalError`` where a label cannot hold its words in letters of 6 points. O(labels).
    """
    paper = SIZES_PT["a4"]
    wide, high = paper[0] / columns, paper[1] / rows
    all_labels = labels(cabling.cables)
    sheets: list[Sheet] = []
    for i, (cable, _, own, far) in enumerate(all_labels):
        place = i % (columns * rows)
        if place == 0:
            sheets.append(Sheet(*paper, "Labels"))
        words = (own.label, f"to {far.label}",
                 f"{cable.name}  {cable.kind} {amount(cable.stock_m)} m  step {cable.step}")
        lines = _laid_out(words, wide - 2 * EDGE, high - 2 * EDGE)
        if lines is None:
            why = f"{columns}x{rows}: no room for {own.label} to {far.label} in letters of 6 points"
            raise RefusalError(f"labels: {why}; fewer columns or rows, 3x8 is common")
        x, y = place % columns * wide + EDGE, place // columns * high + EDGE
        for dy, line, size, bold in lines:
            sheets[-1].text(x, y + dy, line, size, bold=bold)
    return sheets


@functools.lru_cache(1 << 12)
def _laid_out(
    words: tuple[str, str, str], wide: float, high: float
) -> list[tuple[float, str, float, bool]] | None:
    """The lines of a label: base line, words, size, bold; None where they do not fit."""
    if wide < 3 * SMALL:
        return None
    for size in SIZES:
        parts = ((words[0], size, True), (words[1], max(0.8 * size, SMALL), False),
                 (words[2], max(0.55 * size, SMALL), False))
        y, lines, broken = 0.0, [], False
        for text, letters, bold in parts:
            split = wrapped(text, wide, letters, bold)
            broken |= len(split) > 1
            for line in split:
                y += 1.3 * letters
                lines.append((y, line, letters, bold))
        if y <= high and (size == SMALL or not broken):
            return lines
    return None
