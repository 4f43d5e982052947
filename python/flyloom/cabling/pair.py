"""The drawing of two racks that share cables: their fronts face each other."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

from flyloom.cabling.model import CableEnd, CablePlug, CablingPlan, Rack
from flyloom.draw.letters import shortened, width_of, wrapped
from flyloom.draw.sheet import BODY, HEAD, MARGIN, SIZES_PT, SMALL, DrawingSheet, paragraph
from flyloom.draw.svg import FAR, GREY, INK, MIDDLE, NEAR, PALE, PAPER, TINTS, plural
from flyloom.support.words import amount

ROW, LINE, GAP, EMPTY = 13.0, 8.5, 5.0, 8.0
"""Heights: of a cable's row, of a line of words, between devices, of a switch without a cable."""
TOP, FOOT, BETWEEN = 10.0, 16.0, 14.0
NOTE = "Each line is a cable with its stock length; the labels are those of its two ends."
LOOKS = ((INK, None), (NEAR, None), (FAR, None), (MIDDLE, None),
         (INK, "4 2"), (NEAR, "4 2"), (FAR, "4 2"), (MIDDLE, "4 2"))
"""Colour and dash of the cables of one page, in turn."""


def pair_svg(cabling: CablingPlan, pair: tuple[str, str]) -> str:
    """The drawing of the cables between two racks as SVG, as high as needed.

    On both sides the ends stand in the order of the rack, the top unit first, with their labels;
    a line joins the ends of a cable and says its stock length. O(cables log cables).
    """
    drawing = _RackPairDrawing(cabling, pair, SIZES_PT["a4"][0])
    high = drawing.height(drawing.plugs, whole=True)
    sheet = DrawingSheet(drawing.width, high + 2 * MARGIN, f"Racks {' - '.join(pair)}")
    drawing.draw(sheet, MARGIN, drawing.plugs, "", whole=True)
    return sheet.svg()


def pair_sheets(cabling: CablingPlan, size: tuple[float, float]) -> list[DrawingSheet]:
    """The drawings of all pairs on sheets of ``size``, as many on a sheet as fit.

    A pair too large for a sheet goes on on the next one, without its switches that have no cable
    there. O(cables log cables).
    """
    room = size[1] - MARGIN - TOP - FOOT
    sheets: list[DrawingSheet] = []
    y = math.inf
    for pair in cabling.pairs:
        drawing = _RackPairDrawing(cabling, pair, size[0])
        parts, whole = drawing.parts(room)
        for i, part in enumerate(parts):
            high = drawing.height(part, whole)
            if y + high > MARGIN + TOP + room:
                sheets.append(DrawingSheet(*size, "Pairs of racks"))
                sheets[-1].entries = []
                network = shortened(cabling.network, size[0] - 2 * MARGIN, BODY)
                sheets[-1].text(size[0] - MARGIN, MARGIN + 4, network, anchor="end", fill=GREY)
                sheets[-1].text(MARGIN, size[1] - MARGIN - 2, NOTE, SMALL)
                y = MARGIN + TOP
            if i == 0:
                sheets[-1].entries.append(f"Racks {' - '.join(pair)}")
            more = f" ({i + 1} of {len(parts)})" if len(parts) > 1 else ""
            drawing.draw(sheets[-1], y, part, more, whole)
            y += high + BETWEEN
    return sheets


def _order(end: CableEnd) -> tuple[int, str, int]:
    return -end.height, end.device, end.port


class _RackEndPositions:
    """Where the ends of one rack stand on a page, from its top."""

    def __init__(
        self, ends: list[CableEnd], rack: Rack, heights: dict[CableEnd, float], whole: bool,
        least: Callable[[int, str], float], empties: Callable[[int, str], tuple[str, ...]],
    ) -> None:
        self.at: dict[CableEnd, float] = {}
        # unit, name, top, bottom, whether it has no cable here
        self.devices: list[tuple[int, str, float, float, bool]] = []
        by_device: dict[tuple[int, str], list[CableEnd]] = {}
        for end in ends:
            by_device.setdefault((-end.height, end.device), []).append(end)
        empty = {(-s.unit, s.name) for s in rack.switches} - set(by_device) if whole else set()
        y = 0.0
        for key in sorted([*by_device, *empty]):
            top = y
            for end in sorted(by_device.get(key, []), key=_order):
                self.at[end] = y
                y += heights[end]
            y += EMPTY * len(empties(-key[0], key[1])) if key in empty else 0
            y = max(y, top + least(-key[0], key[1])) if key in by_device else y
            self.devices.append((-key[0], key[1], top, y, key in empty))
            y += GAP
        self.height = y


class _RackPairDrawing:
    """Two racks on pages of a width."""

    def __init__(self, cabling: CablingPlan, pair: tuple[str, str], width: float) -> None:
        self.pair, self.width = pair, width
        plugs = self.plugs = sorted(cabling.pairs[pair], key=lambda plug: _order(plug.own))
        self.racks = [cabling.racks[name] for name in pair]
        self.box = 0.36 * (width - 2 * MARGIN)
        labels = [end.label for plug in plugs for end in (plug.own, plug.far)]
        longest = 1.08 * max(width_of(label, BODY, True) for label in labels)
        self.label = min(longest, self.box - 12)
        self.goes_to = {
            end: "to " + other.label.removeprefix(f"{other.rack}-")
            for plug in plugs for end, other in ((plug.own, plug.far), (plug.far, plug.own))
        }
        far = 1.08 * max(width_of(words, SMALL) for words in self.goes_to.values()) + 4
        self.far = far if far + self.label < self.box - 16 else 0.0
        self.heights = {
            end: max(ROW, 4 + LINE * len(self.lines(end)))
            for plug in plugs for end in (plug.own, plug.far)
        }
        groups = {(rack.name, s.unit): s.group for rack in self.racks for s in rack.switches}
        self.tint = {}
        for rack in self.racks:
            seen = list(dict.fromkeys(s.group for s in rack.switches))
            for switch in rack.switches:
                place = seen.index(groups[rack.name, switch.unit])
                self.tint[rack.name, switch.unit] = TINTS[place % len(TINTS)]
        room = width - 2 * MARGIN
        self.head = 20 + 1.3 * BODY * len(wrapped(self.words(), room, BODY)) + 16

    def lines(self, end: CableEnd) -> tuple[str, ...]:
        """The label of an end in as many lines as its column needs."""
        return wrapped(end.label, self.label, BODY, True)

    def names(self, unit: int, name: str) -> tuple[str, ...]:
        """The name of a device in as many lines as there is room for beside its labels; none for
        what stands beside its rack, whose labels have the name, or where there is no room."""
        room = self.box - self.label - self.far - 24
        return wrapped(name, room / 1.05, SMALL) if room > 25 and unit else ()

    def least(self, unit: int, name: str) -> float:
        """How high the box of a device must be for its name."""
        return 4 + LINE * len(self.names(unit, name))

    def empty(self, unit: int, name: str) -> tuple[str, ...]:
        """The words in the box of a device without a cable here."""
        return wrapped(f"U{unit:02}  {name}", self.box - 14, SMALL)

    def words(self) -> str:
        """How many cables of which kind and stock length join the racks."""
        classes = Counter((p.cable.kind, p.cable.stock_m, p.cable.step > 0) for p in self.plugs)
        parts = [
            f"{plural(n, 'cable')}{'' if between else ' of endpoints'}, {kind}, {amount(stock)} m"
            for (kind, stock, between), n in sorted(classes.items())
        ]
        return "; ".join(parts) + "."

    def height(self, plugs: list[CablePlug], whole: bool) -> float:
        """How high the drawing of these cables is; ``whole``: with the other switches too."""
        return self.head + max(side.height for side in self.sides(plugs, whole))

    def parts(self, room: float) -> tuple[list[list[CablePlug]], bool]:
        """The cables in parts of at most ``room``, and whether all switches are shown."""
        if self.height(self.plugs, True) <= room:
            return [self.plugs], True
        parts: list[list[CablePlug]] = []
        high = [room, room]
        devices: list[set[tuple[int, str]]] = [set(), set()]
        for plug in self.plugs:
            ends = (plug.own, plug.far)
            more = [
                self.heights[end] if (end.height, end.device) in seen
                else GAP + max(self.heights[end], self.least(end.height, end.device))
                for end, seen in zip(ends, devices, strict=True)
            ]
            if any(h + m > room - self.head for h, m in zip(high, more, strict=True)):
                parts.append([])
                high, devices = [0.0, 0.0], [set(), set()]
                more = [GAP + max(self.heights[end], self.least(end.height, end.device))
                        for end in ends]
            parts[-1].append(plug)
            for i, end in enumerate(ends):
                high[i] += more[i]
                devices[i].add((end.height, end.device))
        return parts, False

    def sides(self, plugs: list[CablePlug], whole: bool) -> list[_RackEndPositions]:
        """The fronts of both racks."""
        ends = ([plug.own for plug in plugs], [plug.far for plug in plugs])
        return [
            _RackEndPositions(own, rack, self.heights, whole, self.least, self.empty)
            for own, rack in zip(ends, self.racks, strict=True)
        ]

    def draw(
        self, sheet: DrawingSheet, y: float, plugs: list[CablePlug], more: str, whole: bool
    ) -> None:
        """Draws these cables below ``y``; ``more`` is added to the title."""
        title = f"Racks {self.pair[0]} - {self.pair[1]}{more}"
        sheet.text(MARGIN, y + 10, title, HEAD, bold=True)
        paragraph(sheet, MARGIN, y + 22, self.words(), self.width - 2 * MARGIN)
        sides = self.sides(plugs, whole)
        edges = (MARGIN + self.box, self.width - MARGIN - self.box)
        top = y + self.head
        for side, rack, x in zip(sides, self.racks, (MARGIN, edges[1]), strict=True):
            self._front(sheet, top, side, rack, x)
        for k, plug in enumerate(plugs):
            self._cable(sheet, top, plug, edges, sides, k)

    def _front(
        self, sheet: DrawingSheet, top: float, side: _RackEndPositions, rack: Rack, x: float
    ) -> None:
        mirrored = rack is self.racks[1]
        sheet.text(x + self.box / 2, top - 8, rack.name, 10, anchor="middle", bold=True)
        sheet.box(x, top - 3, self.box, side.height + 3, fill="#f6f7f9", line=1.2)
        for unit, name, low, high, empty in side.devices:
            y, tall = top + low, high - low
            tint = self.tint.get((rack.name, unit), PALE)
            sheet.box(x + 3, y, self.box - 6, tall, fill=tint, stroke=None)
            if empty:
                for i, line in enumerate(self.empty(unit, name)):
                    sheet.text(x + self.box / 2, y + 6.2 + EMPTY * i, line, SMALL,
                               anchor="middle", fill=GREY)
                continue
            at = x + self.box - 7 if mirrored else x + 7
            for i, line in enumerate(self.names(unit, name)):
                sheet.text(at, y + min(tall, ROW) / 2 + 2.2 + LINE * i, line, SMALL, fill=GREY,
                           anchor="end" if mirrored else "start")
        inner, anchor = (x + 8, "start") if mirrored else (x + self.box - 8, "end")
        beyond = inner + (self.label + 4) * (1 if mirrored else -1)
        for end, y in side.at.items():
            for k, line in enumerate(self.lines(end)):
                sheet.text(inner, top + y + 9 + LINE * k, line, BODY, bold=True, anchor=anchor)
            if self.far:
                sheet.text(beyond, top + y + 9, self.goes_to[end], SMALL, anchor=anchor)

    def _cable(
        self, sheet: DrawingSheet, top: float, plug: CablePlug, edges: tuple[float, float],
        sides: list[_RackEndPositions], k: int,
    ) -> None:
        y = [top + side.at[end] + self.heights[end] / 2
             for side, end in zip(sides, (plug.own, plug.far), strict=True)]
        colour, dash = LOOKS[k % len(LOOKS)]
        lead = 28.0
        sheet.line(
            [(edges[0], y[0]), (edges[0] + lead, y[0]), (edges[1] - 8, y[1]), (edges[1], y[1])],
            colour, 0.9, dash=dash, hint=plug.words,
        )
        for x, at in zip(edges, y, strict=True):
            sheet.box(x - 2.2, at - 2.2, 4.4, 4.4, fill=colour, stroke=None)
        words = f"{amount(plug.cable.stock_m)} m"
        wide = width_of(words, SMALL) + 3
        sheet.box(edges[0] + 5, y[0] - 3.6, wide, 7.2, fill=PAPER, stroke=None)
        sheet.text(edges[0] + 6.5, y[0] + 2.2, words, SMALL)
