"""The contents page: on which page each rack, pair of racks, list and label is."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from flyloom.cabling.model import STEPS, CablingPlan
from flyloom.draw.letters import width_of, wrapped
from flyloom.draw.sheet import BODY, HEAD, MARGIN, DrawingSheet, paragraph
from flyloom.draw.svg import GREY, plural

if TYPE_CHECKING:
    from collections.abc import Iterator

LINE, GAP, MOST_COLUMNS = 9.5, 16.0, 5
"""Height of a line, room between columns, and the most columns of a page."""
RUN = 10
"""More equal racks in a row than this are one line."""
Entry = tuple[str, str]
"""What is there, and its page; a heading has none."""


def contents_sheets(
    cabling: CablingPlan, sheets: Sequence[DrawingSheet], size: tuple[float, float],
    labels: tuple[int, int] | None = None,
) -> list[DrawingSheet]:
    """The pages that go before ``sheets`` and say where everything is.

    A line for every entry of the sheets, with the page it is on once these pages stand before
    them; ``labels`` is how many labels a sheet of labels.pdf has and how many of these there are.
    O(entries).
    """
    count = 1
    while True:  # the pages that the contents take move the rest
        made = _laid_out(cabling, list(_entries(sheets, count, cabling, labels)), size)
        if len(made) <= count:
            break
        count = len(made)
    while len(made) < count:
        made.append(DrawingSheet(*size, "Contents"))
    for sheet in made[1:]:
        sheet.entries = []
    return made


def _entries(
    sheets: Sequence[DrawingSheet], before: int, cabling: CablingPlan,
    labels: tuple[int, int] | None,
) -> Iterator[Entry]:
    """Every line of the contents, in parts."""
    parts: dict[str, list[Entry]] = {}
    for i, sheet in enumerate(sheets):
        for words in sheet.entries:
            part = {"Rack ": "Racks", "Racks": "Pairs of racks"}.get(words[:5], "Room and lists")
            parts.setdefault(part, []).append((words, f"{before + i + 1:,}"))
    if "Racks" in parts:
        parts["Racks"] = _racks_alike(parts["Racks"], cabling)
    for part in ("Room and lists", "Racks", "Pairs of racks"):
        if part in parts:
            yield part, ""
            yield from parts[part]
    if labels and labels[1]:
        yield "Sheets of labels.pdf", ""
        first = 0
        for step, words in enumerate(STEPS):
            ends = 2 * sum(cable.step == step for cable in cabling.cables)
            if ends:
                pages = first // labels[0] + 1, (first + ends - 1) // labels[0] + 1
                yield f"Step {step}: {words}", " - ".join(f"{p:,}" for p in sorted(set(pages)))
                first += ends


def _racks_alike(entries: list[Entry], cabling: CablingPlan) -> list[Entry]:
    """The entries of racks; those of more than :data:`RUN` equal racks in a row are one."""
    def filled(entry: Entry) -> tuple[int, ...]:
        rack = cabling.racks.get(entry[0].removeprefix("Rack "))
        if rack is None:
            return ()
        return len(rack.switches), len(rack.endpoints), len(rack.cables), len(rack.leaving)

    found = []
    for _, group in groupby(entries, filled):
        run = list(group)
        if len(run) <= RUN:
            found += run
        else:
            first, last = run[0][0].removeprefix("Rack "), run[-1][0].removeprefix("Rack ")
            found.append((f"Racks {first} to {last}, equal", f"{run[0][1]} - {run[-1][1]}"))
    return found


def _laid_out(
    cabling: CablingPlan, entries: Sequence[Entry], size: tuple[float, float]
) -> list[DrawingSheet]:
    room = size[0] - 2 * MARGIN
    widest = max((width_of(a, BODY, True) + width_of(b, BODY) + 14 for a, b in entries), default=1)
    columns = max(1, min(MOST_COLUMNS, int((room + GAP) / (widest + GAP))))
    wide = (room + GAP) / columns - GAP
    sheets: list[DrawingSheet] = []
    column, y, bottom = columns, 0.0, size[1] - MARGIN - 10
    top = MARGIN
    for words, page in entries:
        lines = wrapped(words, wide - width_of(page, BODY) - 10, BODY, not page)
        need = LINE * len(lines) + (LINE * 1.6 if not page else 0)
        if column == columns or y + need > bottom:
            column, y = column + 1, top
            if column >= columns:
                sheets.append(DrawingSheet(*size, "Contents"))
                top = _head(sheets[-1], cabling, size, first=len(sheets) == 1)
                column, y = 0, top
        y += LINE * 0.6 if not page and y > top else 0
        x = MARGIN + column * (wide + GAP)
        for line in lines:
            sheets[-1].text(x, y + 8, line, BODY, bold=not page)
            y += LINE
        if page:
            sheets[-1].text(x + wide, y - LINE + 8, page, BODY, anchor="end")
            _dots(sheets[-1], x + width_of(lines[-1], BODY), x + wide - width_of(page, BODY), y)
    return sheets


def _dots(sheet: DrawingSheet, left: float, right: float, y: float) -> None:
    if right - left > 12:
        at = y - LINE + 7.5
        sheet.line([(left + 4, at), (right - 4, at)], GREY, 0.4, dash="0.5 2.5")


def _head(
    sheet: DrawingSheet, cabling: CablingPlan, size: tuple[float, float], *, first: bool
) -> float:
    """Draws the title, and on the first page facts of the network; returns where the entries
    begin."""
    sheet.text(MARGIN, MARGIN + 8, "Contents", HEAD, bold=True)
    if not first:
        return MARGIN + 18
    y = paragraph(sheet, MARGIN, MARGIN + 24, cabling.network, size[0] - 2 * MARGIN, BODY + 1)
    racks, cables = plural(len(cabling.racks), "rack"), plural(len(cabling.cables), "cable")
    sheet.text(MARGIN, y, f"{racks}, {cables}.", BODY, fill=GREY)
    return y + 12
