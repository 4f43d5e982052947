"""The drawing of two racks that share cables: their fronts face each other."""

from __future__ import annotations

import math
from collections import Counter

from flyloom._svg import FAR, GREY, INK, MIDDLE, NEAR, PALE, PAPER, TINTS, plural
from flyloom.cabling.letters import shortened, width_of, wrapped
from flyloom.cabling.model import Cabling, End, Plug, Rack
from flyloom.cabling.sheet import BODY, HEAD, MARGIN, SMALL, Sheet, paragraph

ROW, LINE, GAP, EMPTY = 13.0, 8.5, 5.0, 8.0
"""Heights: of a cable's row, of a line of words, between devices, of a switch without a cable."""
FOOT = 22.0
LOOKS = ((INK, None), (NEAR, None), (FAR, None), (MIDDLE, None),
         (INK, "4 2"), (NEAR, "4 2"), (FAR, "4 2"), (MIDDLE, "4 2"))
"""Colour and dash of the cables of one page, in turn."""


def pair_sheets(
    cabling: Cabling, pair: tuple[str, str], size: tuple[float, float] | None
) -> list[Sheet]:
    """The drawing of the cables between two racks on sheets of ``size``, or on one as high as
    needed where it is None.

    On both sides the ends stand in the order of the rack, the top unit first, with their labels;
    a line joins the ends of a cable and says its stock length. O(cables log cables).
    """
    plugs = sorted(cabling.pairs[pair], key=lambda plug: _order(plug.own))
    drawing = _Pair(cabling, pair, plugs, (size or (595.276, 0.0))[0])
    top = drawing.top
    room = math.inf if size is None else size[1] - MARGIN - FOOT - top
    pages: list[list[Plug]] = [[]]
    for plug in plugs:
        if pages[-1] and not drawing.fits([*pages[-1], plug], room):
            pages.append([])
        pages[-1].append(plug)
    height = size[1] if size else top + drawing.height(plugs) + MARGIN + FOOT
    return [drawing.page(part, height, room, i, len(pages)) for i, part in enumerate(pages)]


def _order(end: End) -> tuple[int, str, int]:
    return -end.height, end.device, end.port


class _Side:
    """Where the ends of one rack stand on a page, from its top."""

    def __init__(self, ends: list[End], rack: Rack, heights: dict[End, float], whole: bool) -> None:
        self.at: dict[End, float] = {}
        self.devices: list[tuple[int, str, float, float]] = []  # unit, name, top, bottom
        by_device: dict[tuple[int, str], list[End]] = {}
        for end in ends:
            by_device.setdefault((-end.height, end.device), []).append(end)
        empty = {(-s.unit, s.name) for s in rack.switches} - set(by_device) if whole else set()
        y = 0.0
        for key in sorted([*by_device, *empty]):
            top = y
            for end in sorted(by_device.get(key, []), key=_order):
                self.at[end] = y
                y += heights[end]
            y += EMPTY if key in empty else 0
            self.devices.append((-key[0], key[1], top, y))
            y += GAP
        self.height = y


class _Pair:
    """Two racks on pages of a width."""

    def __init__(
        self, cabling: Cabling, pair: tuple[str, str], plugs: list[Plug], width: float
    ) -> None:
        self.cabling, self.pair, self.plugs, self.width = cabling, pair, plugs, width
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
        self.top = MARGIN + 26 + 1.3 * BODY * len(wrapped(self.words(), room, BODY)) + 22

    def lines(self, end: End) -> tuple[str, ...]:
        """The label of an end in as many lines as its column needs."""
        return wrapped(end.label, self.label, BODY, True)

    def words(self) -> str:
        """How many cables of which kind and stock length join the racks."""
        classes = Counter((p.cable.kind, p.cable.stock_m, p.cable.step > 0) for p in self.plugs)
        parts = [
            f"{plural(n, 'cable')}{'' if between else ' of endpoints'}, {kind}, {stock:g} m"
            for (kind, stock, between), n in sorted(classes.items())
        ]
        return "; ".join(parts) + "."

    def height(self, plugs: list[Plug], whole: bool = True) -> float:
        """How high the fronts are with these cables; ``whole``: with the other switches too."""
        return max(side.height for side in self.sides(plugs, whole))

    def sides(self, plugs: list[Plug], whole: bool) -> list[_Side]:
        """Both fronts."""
        ends = ([plug.own for plug in plugs], [plug.far for plug in plugs])
        return [
            _Side(own, rack, self.heights, whole)
            for own, rack in zip(ends, self.racks, strict=True)
        ]

    def fits(self, plugs: list[Plug], room: float) -> bool:
        """Whether these cables fit a page, without the switches that have none of them."""
        if room == math.inf:
            return True
        for ends in ([plug.own for plug in plugs], [plug.far for plug in plugs]):
            devices = {(end.height, end.device) for end in ends}
            if sum(self.heights[end] for end in ends) + GAP * len(devices) > room:
                return False
        return True

    def page(self, plugs: list[Plug], height: float, room: float, i: int, n: int) -> Sheet:
        """One page with these cables."""
        sheet = Sheet(self.width, height, f"Racks {self.pair[0]} - {self.pair[1]}")
        part = f" ({i + 1} of {n})" if n > 1 else ""
        sheet.text(MARGIN, MARGIN + 8, sheet.name + part, HEAD, bold=True)
        network = shortened(self.cabling.network, self.width - 2 * MARGIN - 190, BODY)
        sheet.text(self.width - MARGIN, MARGIN + 8, network, BODY, anchor="end", fill=GREY)
        paragraph(sheet, MARGIN, MARGIN + 24, self.words(), self.width - 2 * MARGIN)
        whole = n == 1 and self.height(plugs) <= room
        left, right = self.sides(plugs, whole)
        edges = (MARGIN + self.box, self.width - MARGIN - self.box)
        for side, rack, x in ((left, self.racks[0], MARGIN), (right, self.racks[1], edges[1])):
            self._front(sheet, side, rack, x)
        for k, plug in enumerate(plugs):
            self._cable(sheet, plug, edges, left, right, k)
        words = "Each line is a cable with its stock length; the labels are those of its two ends."
        sheet.text(MARGIN, height - MARGIN - 2, words, SMALL)
        return sheet

    def _front(self, sheet: Sheet, side: _Side, rack: Rack, x: float) -> None:
        mirrored = rack is self.racks[1]
        sheet.text(x + self.box / 2, self.top - 8, rack.name, 10, anchor="middle", bold=True)
        sheet.box(x, self.top - 3, self.box, side.height + 3, fill="#f6f7f9", line=1.2)
        for unit, name, low, high in side.devices:
            y, tall = self.top + low, high - low
            tint = self.tint.get((rack.name, unit), PALE)
            sheet.box(x + 3, y, self.box - 6, tall, fill=tint, stroke=None)
            if tall == EMPTY:
                words = shortened(f"U{unit:02}  {name}", self.box - 14, SMALL)
                sheet.text(x + self.box / 2, y + 6.2, words, SMALL, anchor="middle", fill=GREY)
                continue
            room = self.box - self.label - self.far - 24
            words = shortened(name, room / 1.05, SMALL) if room > 25 and unit else ""
            at = x + self.box - 7 if mirrored else x + 7
            sheet.text(at, y + min(tall, ROW) / 2 + 2.2, words, SMALL, fill=GREY,
                       anchor="end" if mirrored else "start")
        inner, anchor = (x + 8, "start") if mirrored else (x + self.box - 8, "end")
        beyond = inner + (self.label + 4) * (1 if mirrored else -1)
        for end, y in side.at.items():
            for k, line in enumerate(self.lines(end)):
                sheet.text(inner, self.top + y + 9 + LINE * k, line, BODY, bold=True, anchor=anchor)
            if self.far:
                sheet.text(beyond, self.top + y + 9, self.goes_to[end], SMALL, anchor=anchor)

    def _cable(
        self, sheet: Sheet, plug: Plug, edges: tuple[float, float], left: _Side, right: _Side,
        k: int,
    ) -> None:
        y = [self.top + side.at[end] + self.heights[end] / 2
             for side, end in ((left, plug.own), (right, plug.far))]
        colour, dash = LOOKS[k % len(LOOKS)]
        lead = 28.0
        sheet.line(
            [(edges[0], y[0]), (edges[0] + lead, y[0]), (edges[1] - 8, y[1]), (edges[1], y[1])],
            colour, 0.9, dash=dash, hint=plug.cable.words,
        )
        for x, at in zip(edges, y, strict=True):
            sheet.box(x - 2.2, at - 2.2, 4.4, 4.4, fill=colour, stroke=None)
        words = f"{plug.cable.stock_m:g} m"
        wide = width_of(words, SMALL) + 3
        sheet.box(edges[0] + 5, y[0] - 3.6, wide, 7.2, fill=PAPER, stroke=None)
        sheet.text(edges[0] + 6.5, y[0] + 2.2, words, SMALL)
