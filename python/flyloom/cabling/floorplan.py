"""The floor plan: the machine room from above, its rows of racks with aisles between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from flyloom.cabling.model import CablingPlan
from flyloom.draw.letters import width_of, wrapped
from flyloom.draw.sheet import BODY, HEAD, MARGIN, SIZES_PT, SMALL, DrawingSheet, paragraph
from flyloom.draw.svg import GREY, INK, PALE, PAPER, plural
from flyloom.support.words import amount

MOST_W, GAP, SIDE = 64.0, 2.5, 34.0
"""Widest box of a rack, room between racks, room for row numbers."""
NOTE = ("A box is a rack: its name, the cables that stay in it, and those that lead to other "
        "racks. Racks without a switch are grey.")


@dataclass(frozen=True)
class FloorScale:
    """Sizes in points: letters of names, a line, an aisle, the margins of a box around its
    lines."""

    name: float
    line: float
    aisle: float
    beyond: float


ROOMY = FloorScale(BODY, 8.0, 15.0, 5.0)
DENSE = FloorScale(SMALL, 7.0, 8.5, 3.0)
"""Used where a floor does not fit a page otherwise."""


@dataclass(frozen=True)
class RackTile:
    """A rack on the floor, with what stands in its box."""

    name: str
    row: int
    column: int
    lines: tuple[str, ...]
    inside: int
    leaving: int
    switches: int


def floor_sheet(cabling: CablingPlan) -> DrawingSheet:
    """The whole floor as one sheet, as large as needed. O(racks + cables)."""
    floor = _RackGridLayout(cabling, ROOMY)
    columns, rows = floor.columns, floor.rows
    width = max(floor.width(len(columns)), 320.0)
    sheet = DrawingSheet(width, floor.head(width) + floor.height(rows) + MARGIN, "Floor plan")
    floor.draw(sheet, columns, rows, "")
    return sheet


def floor_sheets(cabling: CablingPlan, size: tuple[float, float]) -> list[DrawingSheet]:
    """The floor on pages of ``size``, in parts where it is larger. O(racks + cables)."""
    for scale in (ROOMY, DENSE):
        floor = _RackGridLayout(cabling, scale)
        most = max(1, int((size[0] - 2 * MARGIN - SIDE + GAP) / (floor.wide + GAP)))
        room = size[1] - MARGIN - floor.head(size[0])
        if len(floor.columns) <= most and floor.height(floor.rows) <= room:
            break
    # spreads the columns evenly over the pages
    per_row = -(-len(floor.columns) // -(-len(floor.columns) // most))
    parts: list[tuple[Sequence[int], Sequence[int]]] = []
    for i in range(0, len(floor.columns), per_row):
        rows: list[int] = []
        for row in floor.rows:
            if rows and floor.height([*rows, row]) > room:
                parts.append((floor.columns[i:i + per_row], rows))
                rows = []
            rows.append(row)
        parts.append((floor.columns[i:i + per_row], rows))
    sheets = []
    for k, (columns, rows_here) in enumerate(parts):
        sheets.append(DrawingSheet(*size, "Floor plan"))
        more = f" ({k + 1} of {len(parts)})" if len(parts) > 1 else ""
        floor.draw(sheets[-1], columns, rows_here, more)
    for sheet in sheets[1:]:
        sheet.entries = []
    return sheets


class _RackGridLayout:
    """Racks on their grid, all boxes of one width; those of a row are of one height."""

    def __init__(self, cabling: CablingPlan, scale: FloorScale) -> None:
        self.cabling, self.scale = cabling, scale
        inside = {name: len(rack.cables) for name, rack in cabling.racks.items()}
        leaving: Counter[str] = Counter()
        for pair, plugs in cabling.pairs.items():
            for name in pair:
                leaving[name] += len(plugs)
        names = [str(rack["name"]) for rack in cabling.plan["racks"]]
        numbers = [f"{n:,}" for n in (*inside.values(), *leaving.values())]
        need = max([*(width_of(n, scale.name, True) for n in names),
                    *(width_of(n, SMALL) for n in numbers)], default=0.0)
        columns = len({rack["column"] for rack in cabling.plan["racks"]})
        room = (SIZES_PT["a4"][0] - 2 * MARGIN - SIDE) / max(1, columns) - GAP
        self.wide = min(MOST_W, max(need + scale.beyond, room))
        self.tiles = [
            RackTile(name, rack["row"], rack["column"],
                     wrapped(name, self.wide - 2, scale.name, True),
                     inside[name], leaving[name], len(cabling.racks[name].switches))
            for name, rack in zip(names, cabling.plan["racks"], strict=True)
        ]
        self.rows = sorted({tile.row for tile in self.tiles})
        self.columns = sorted({tile.column for tile in self.tiles})
        high: dict[int, int] = {}
        for tile in self.tiles:
            high[tile.row] = max(high.get(tile.row, 0), len(tile.lines))
        self.high = {row: scale.line * (n + 2) + 4 for row, n in high.items()}

    def words(self) -> str:
        """What the drawing shows, and how far racks are apart."""
        rules = self.cabling.plan["rules"]
        pitch = float(rules["pitch_m"])
        rows = float(rules.get("row_pitch_m") or pitch)
        apart = f"Racks of a row are {amount(pitch)} m apart, rows {amount(rows)} m, " \
                "centre to centre."
        racks = plural(len(self.tiles), "rack")
        return f"{racks} in {plural(len(self.rows), 'row')}. {apart} {NOTE}"

    def head(self, width: float) -> float:
        """Where the first row begins on a sheet of this width."""
        lines = len(wrapped(self.words(), width - 2 * MARGIN, BODY))
        return MARGIN + 26 + 1.3 * BODY * lines

    def width(self, columns: int) -> float:
        """How wide a sheet with this number of columns is."""
        return 2 * MARGIN + SIDE + columns * (self.wide + GAP)

    def height(self, rows: Sequence[int]) -> float:
        """How high these rows are, aisles included."""
        return sum(self.high[row] + self.scale.aisle for row in rows)

    def draw(
        self, sheet: DrawingSheet, columns: Sequence[int], rows: Sequence[int], more: str
    ) -> None:
        """Draws the racks of these columns and rows."""
        sheet.text(MARGIN, MARGIN + 8, f"Floor plan{more}", HEAD, bold=True)
        paragraph(sheet, MARGIN, MARGIN + 22, self.words(), sheet.width - 2 * MARGIN)
        place = {column: i for i, column in enumerate(columns)}
        left = MARGIN + SIDE
        right = left + len(columns) * (self.wide + GAP) - GAP
        y, top = self.head(sheet.width), {}
        for i, row in enumerate(rows):
            top[row] = y
            sheet.text(MARGIN, y + self.high[row] / 2 + 2, f"row {row}", SMALL, fill=GREY)
            y += self.high[row]
            if i + 1 < len(rows):
                middle = y + self.scale.aisle / 2
                sheet.line([(left, middle), (right, middle)], PALE, 0.6, dash="4 3")
                sheet.text(MARGIN, middle + 2, "aisle", SMALL, fill=GREY)
            y += self.scale.aisle
        for tile in self.tiles:
            if tile.row in top and tile.column in place:
                x = left + place[tile.column] * (self.wide + GAP)
                self._tile(sheet, tile, x, top[tile.row])

    def _tile(self, sheet: DrawingSheet, tile: RackTile, x: float, y: float) -> None:
        high = self.high[tile.row]
        stay = plural(tile.inside, "cable stays", "cables stay")
        hint = f"{tile.name}: {stay}, {tile.leaving:,} to other racks"
        sheet.box(x, y, self.wide, high, fill=PAPER if tile.switches else PALE, line=0.8,
                  hint=hint)
        high_line = self.scale.line
        at, middle = y + high_line, x + self.wide / 2
        for line in tile.lines:
            sheet.text(middle, at, line, self.scale.name, anchor="middle", bold=True)
            at += high_line
        for n in (tile.inside, tile.leaving):
            sheet.text(middle, at, f"{n:,}", SMALL, anchor="middle", fill=INK)
            at += high_line
