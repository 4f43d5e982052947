"""The drawing of one rack: its front with every port, and the cables that stay inside it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from flyloom.cabling.model import Cable, CablePlug, CablingPlan, Rack, Switch
from flyloom.draw.letters import shortened, width_of, wrapped
from flyloom.draw.sheet import BODY, HEAD, MARGIN, SMALL, DrawingSheet, paragraph
from flyloom.draw.svg import FAR, GREY, INK, MIDDLE, NEAR, PALE, PAPER, TINTS, plural

COLOURS = (GREY, NEAR, MIDDLE, FAR)
"""The colour of the cables of each step."""
DASHES = (None, None, "3 1.5", None)
CELL, HEADER, GAP = 16.0, 11.0, 4.0
WIDEST, LINE = 60.0, 7.0
"""Most width of a port's box that its words ask for; they go on on more lines of this height."""
STUB = 11.0
"""Room beside a row of ports where the numbers of those with a drawn cable stand."""
LEGEND = 30.0
ALL_PORTS = 128
"""Up to this port number the free ports are drawn too."""


@dataclass
class RackDrawingStrip:
    """A part of the rack that no page break divides."""

    height: float
    draw: Callable[[DrawingSheet, float], None]
    plugs: list[CablePlug] = field(default_factory=list)
    beside: bool = False


def rack_sheets(
    cabling: CablingPlan, rack: Rack, size: tuple[float, float] | None
) -> list[DrawingSheet]:
    """The drawing of ``rack`` on sheets of ``size``, or on one as high as needed where it is None.

    From the top unit down: endpoints, and switches with their ports in rows, a column a port
    number. A port says where its cable goes: the unit and port in this rack, the endpoint, or the
    other rack. Cables between switches of the rack are drawn beside the front: those of step 1
    to the left, those of step 2 to the right. O(ports + cables * tracks).
    """
    front = _RackFrontDrawing(cabling, rack, (size or (595.276, 0.0))[0])
    first, blocks = front.heading_height(), front.blocks()
    room = math.inf if size is None else size[1] - MARGIN - LEGEND - 14
    pages: list[list[RackDrawingStrip]] = [[]]
    y = MARGIN + first
    for block in blocks:
        whole = y + sum(strip.height for strip in block) <= room
        for i, strip in enumerate(block):
            if pages[-1] and ((not whole and i == 0) or y + strip.height > room):
                pages.append([block[0]] if i else [])
                y = MARGIN + front.short_heading + (block[0].height if i else 0)
            pages[-1].append(strip)
            y += strip.height
    tops = [MARGIN + (front.short_heading if i else first) for i in range(len(pages))]
    height = size[1] if size else y + LEGEND + 14
    return [
        front.page(page, top, height, i, len(pages))
        for i, (page, top) in enumerate(zip(pages, tops, strict=True))
    ]


def units(lowest: int, height: int) -> str:
    """The rack units of a device: ``U03``, ``U03 to U04``."""
    last = lowest + height - 1
    return f"U{lowest:02}" + (f" to U{last:02}" if height > 1 else "")


class _RackFrontDrawing:
    """The front of one rack, laid out for sheets of a width."""

    short_heading = 26.0

    def __init__(self, cabling: CablingPlan, rack: Rack, width: float) -> None:
        self.cabling, self.rack, self.width = cabling, rack, width
        self.height_of_switch = int(cabling.plan["rules"].get("switch_units", 1))
        self.height_of_server = int(cabling.plan["rules"].get("server_units") or 1)
        self.gutter = {1: self._gutter(1), 2: self._gutter(2)}
        self.x = MARGIN + self.gutter[1]
        self.room = width - MARGIN - self.gutter[2] - self.x
        groups = list(dict.fromkeys(switch.group for switch in rack.switches))
        self.tint = {group: TINTS[i % len(TINTS)] for i, group in enumerate(groups)}
        used = {port for switch in rack.switches for port in switch.plugs}
        top = max(used, default=0)
        self.ports = list(range(1, top + 1)) if top <= ALL_PORTS else sorted(used)
        self.texts = {
            self.far_words(plug) for s in rack.switches for plug in s.plugs.values()
        }
        need = max([24.0, *(min(WIDEST, 1.1 * width_of(t, SMALL) + 4) for t in self.texts)])
        rows = max(1, math.ceil(len(self.ports) / max(1, int((self.room - 8) / need))))
        self.per_row = max(1, math.ceil(len(self.ports) / rows))
        self.cell = max(need, min(46.0, (self.room - 8) / self.per_row))

    def _gutter(self, step: int) -> float:
        """Room for the cables of a step: 5 points for each of those beside each other."""
        place = {switch.unit: i for i, switch in enumerate(self.rack.switches)}
        edges: Counter[int] = Counter()
        for cable in self._drawn(step):
            low, high = sorted((place[cable.a.height], place[cable.b.height]))
            edges[low] += 1
            edges[high] -= 1
        deep = most = 0
        for unit in sorted(edges):
            deep += edges[unit]
            most = max(most, deep)
        return STUB + 5 + min(72.0, 5.0 * most) if most else 6.0

    def _drawn(self, step: int) -> list[Cable]:
        """The cables of a step between switches of this rack."""
        return [c for c in self.rack.cables if c.step == step and c.a.is_switch]

    def far_words(self, plug: CablePlug) -> str:
        """Where a cable goes, in the fewest words that are clear within this rack."""
        if plug.far.rack != self.rack.name:
            return plug.far.rack
        if plug.far.unit is None:
            return plug.far.device
        return plug.far.label.removeprefix(f"{self.rack.name}-")

    def heading(self) -> list[str]:
        """What is in the rack, and how many cables: the numbers to check."""
        steps = Counter(cable.step for cable in self.rack.cables)
        leaving = Counter((min(p.cable.step, 1), p.far.rack) for p in self.rack.leaving)
        order = {name: i for i, name in enumerate(self.cabling.racks)}
        switches = plural(len(self.rack.switches), "switch", "switches")
        seated = sum(unit > 0 for unit, _ in self.rack.endpoints)
        beside = len(self.rack.endpoints) - seated
        lines = [
            f"{switches}, {plural(seated, 'endpoint')} in units, {beside:,} beside the rack. "
            f"Cables that stay here: {steps[1]:,} in step 1, {steps[2]:,} in step 2, "
            f"{steps[0]:,} of endpoints."
        ]
        for step, words in ((1, "cable"), (0, "cable of endpoints")):
            to = sorted((order[r], r, n) for (s, r), n in leaving.items() if s == step)
            if to:
                total = sum(n for _, _, n in to)
                many = words.replace("cable", "cables", 1)
                racks = ", ".join(f"{rack} {n:,}" for _, rack, n in to)
                lines.append(f"{plural(total, words, many)} to other racks: {racks}.")
        return lines

    def heading_height(self) -> float:
        """How much of the first page the heading takes."""
        room = self.width - 2 * MARGIN
        lines = sum(len(wrapped(line, room, BODY)) for line in self.heading())
        return self.short_heading + 1.3 * BODY * lines + 4

    # --- strips of the front ---

    def blocks(self) -> list[list[RackDrawingStrip]]:
        """The rack from the top unit down, a block a device, then what stands beside it."""
        by_unit: dict[int, list[tuple[str, list[CablePlug]]]] = {}
        for (unit, name), plugs in self.rack.endpoints.items():
            by_unit.setdefault(unit, []).append((name, plugs))
        switches = {switch.unit: switch for switch in self.rack.switches}
        blocks: list[list[RackDrawingStrip]] = []
        for unit in sorted({*by_unit, *switches} - {0}, reverse=True):
            if unit in switches:
                blocks.append(self._switch(switches[unit]))
            if unit in by_unit:
                words = units(unit, self.height_of_server)
                blocks.append([self._endpoints(words, by_unit[unit])])
        if 0 in by_unit:
            blocks.append(self._beside([plug for _, plugs in by_unit[0] for plug in plugs]))
        if not blocks:
            blocks.append([RackDrawingStrip(HEADER, lambda sheet, y: sheet.text(
                self.x, y + 8, "This rack is empty.", fill=GREY))])
        return blocks

    def _beside(self, plugs: list[CablePlug]) -> list[RackDrawingStrip]:
        """The endpoints beside the rack, as runs of ports and names, in columns."""
        def title(sheet: DrawingSheet, y: float) -> None:
            sheet.text(self.x, y + HEADER, "Beside the rack", BODY, bold=True)

        strips = [RackDrawingStrip(HEADER + GAP, title, beside=True)]
        words = [self._run_words(run) for run in _runs(plugs)]
        widest = 1.1 * max(width_of(line, SMALL) for line in words) + 12
        columns = max(1, int(self.room / widest))
        for start in range(0, len(words), columns):
            row = words[start:start + columns]
            cells = [wrapped(line, self.room / columns - 4, SMALL) for line in row]

            def draw(sheet: DrawingSheet, y: float, cells: list[tuple[str, ...]] = cells) -> None:
                for i, cell in enumerate(cells):
                    for k, line in enumerate(cell):
                        x = self.x + i * self.room / columns
                        sheet.text(x, y + 7 + 8 * k, line, SMALL)

            strips.append(RackDrawingStrip(8.0 * max(map(len, cells)) + 1, draw, beside=True))
        return strips

    def _run_words(self, run: list[CablePlug]) -> str:
        first, last = run[0], run[-1]
        to = first.far.label
        if first.far.rack == self.rack.name:
            to = self.far_words(first)
        if len(run) == 1:
            return f"{to}: {first.own.device} P{first.own.port:02}"
        names = f"{first.own.device} to {last.own.device}"
        return f"{to} to P{last.far.port:02}: {names}, P{first.own.port:02}"

    def _words(self, name: str, plugs: list[CablePlug]) -> str:
        to = ", ".join(
            f"P{plug.own.port:02} to "
            + (plug.far.label if plug.far.rack != self.rack.name else self.far_words(plug))
            for plug in sorted(plugs, key=lambda plug: plug.own.port)
        )
        return f"{name}: {to}"

    def _endpoints(self, unit: str, devices: list[tuple[str, list[CablePlug]]]) -> RackDrawingStrip:
        words = "; ".join(self._words(name, plugs) for name, plugs in sorted(devices))
        at = max(30.0, 12 + width_of(unit, SMALL, True))
        lines = wrapped(words, self.room - at - 4, SMALL)

        def draw(sheet: DrawingSheet, y: float) -> None:
            sheet.box(self.x, y, self.room, 8.0 * len(lines) + 1, fill="#f0f1f3", stroke=PALE)
            sheet.text(self.x + 4, y + 7, unit, SMALL, bold=True)
            for i, line in enumerate(lines):
                sheet.text(self.x + at, y + 7 + 8 * i, line, SMALL)

        return RackDrawingStrip(8.0 * len(lines) + 1, draw)

    def _switch(self, switch: Switch) -> list[RackDrawingStrip]:
        unit = units(switch.unit, self.height_of_switch)
        tint = self.tint[switch.group]
        at = self.x + 14 + width_of(unit, BODY, True)
        names = wrapped(switch.name, self.room - (at - self.x) - 4, BODY)
        head = HEADER + 8.0 * (len(names) - 1)

        def header(sheet: DrawingSheet, y: float) -> None:
            sheet.box(self.x, y, self.room, head, fill=tint, stroke=None)
            sheet.text(self.x + 4, y + 8, unit, BODY, bold=True)
            for i, line in enumerate(names):
                sheet.text(at, y + 8 + 8 * i, line, BODY)

        strips = [RackDrawingStrip(head, header)]
        for start in range(0, len(self.ports), self.per_row):
            ports = self.ports[start:start + self.per_row]
            plugs = [switch.plugs[port] for port in ports if port in switch.plugs]
            lines = max((len(self._lines(plug)) for plug in plugs), default=1)
            high = CELL + LINE * (lines - 1)

            def row(
                sheet: DrawingSheet, y: float, ports: list[int] = ports, high: float = high
            ) -> None:
                sheet.box(self.x, y, self.room, high + 2, fill=tint, stroke=None)
                for i, port in enumerate(ports):
                    self._cell(sheet, self.x + 4 + i * self.cell, y, port, switch, high)

            strips.append(RackDrawingStrip(high + 2, row, plugs))
        strips[-1].height += GAP
        return strips

    def _lines(self, plug: CablePlug) -> tuple[str, ...]:
        """Where a cable goes, in lines that its box holds."""
        bold = plug.far.rack != self.rack.name
        return wrapped(self.far_words(plug), (self.cell - 3) / 1.05, SMALL, bold)

    def _cell(
        self, sheet: DrawingSheet, x: float, y: float, port: int, switch: Switch, high: float
    ) -> None:
        plug = switch.plugs.get(port)
        if plug is None:
            sheet.box(x + 0.8, y, self.cell - 1.6, high, fill=PAPER, stroke=PALE, dash="1 1")
            sheet.text(x + self.cell / 2, y + 6.6, str(port), SMALL, anchor="middle", fill=GREY)
            return
        step, leaves = plug.cable.step, plug.far.rack != self.rack.name
        colour = COLOURS[step]
        listed = not leaves and not plug.far.is_switch
        sheet.box(
            x + 0.8, y, self.cell - 1.6, high, fill="#f0f1f3" if step == 0 else PAPER,
            stroke=colour, line=0.5 if step == 0 else 1.0, dash=DASHES[step],
            hint=plug.words if listed else None,
        )
        sheet.text(x + self.cell / 2, y + 6.6, str(port), SMALL, anchor="middle", fill=GREY)
        for i, words in enumerate(self._lines(plug)):
            sheet.text(x + self.cell / 2, y + 13.6 + LINE * i, words, SMALL, anchor="middle",
                       bold=leaves)

    # --- pages of the drawing ---

    def page(
        self, strips: list[RackDrawingStrip], top: float, height: float, i: int, n: int
    ) -> DrawingSheet:
        """One page of the drawing: its part of the front, and the cables beside it."""
        part = f" ({i + 1} of {n})" if n > 1 else ""
        sheet = DrawingSheet(self.width, height, f"Rack {self.rack.name}")
        sheet.entries = sheet.entries if i == 0 else []
        sheet.text(MARGIN, MARGIN + 8, f"Rack {self.rack.name}{part}", HEAD, bold=True)
        sheet.text(
            self.width - MARGIN, MARGIN + 8,
            shortened(self.cabling.network, self.width - 2 * MARGIN - 130, BODY), BODY,
            anchor="end", fill=GREY,
        )
        if i == 0:
            y = MARGIN + self.short_heading - 2
            for line in self.heading():
                y = paragraph(sheet, MARGIN, y, line, self.width - 2 * MARGIN)
        inside = sum(strip.height for strip in strips if not strip.beside)
        if inside:
            sheet.box(self.x - 2, top - 2, self.room + 4, inside + 2, fill="#f6f7f9", line=1.2)
        y = top
        for strip in strips:
            strip.draw(sheet, y)
            y += strip.height
        for step in (1, 2):
            self._wires(sheet, strips, top, step)
        self._legend(sheet, height - LEGEND - 6)
        return sheet

    def _wires(
        self, sheet: DrawingSheet, strips: list[RackDrawingStrip], top: float, step: int
    ) -> None:
        """The cables of a step on this page, each on a track of its own beside the front."""
        side = -1 if step == 1 else 1
        edge = self.x - 2 if step == 1 else self.x + self.room + 2
        at: dict[tuple[str, int, int], tuple[float, float]] = {}
        y = top
        for strip in strips:
            plugs = [
                p for p in strip.plugs
                if p.cable.step == step and p.far.is_switch and p.far.rack == self.rack.name
            ]
            pitch = CELL / max(1, len(plugs))
            for i, plug in enumerate(plugs):
                port, place = str(plug.own.port), y + (i + 0.5) * pitch
                named = pitch >= 5.5 and len(port) < 4
                if named:
                    anchor = "end" if side < 0 else "start"
                    sheet.text(edge + side * 2, place + 2, port, SMALL, anchor=anchor,
                               fill=COLOURS[step])
                lead = edge + side * (STUB if named else 0)
                at[plug.cable.name, plug.own.height, plug.own.port] = (lead, place)
            y += strip.height
        self._tracks(sheet, at, (top, y), step, edge, side)

    def _tracks(
        self, sheet: DrawingSheet, at: dict[tuple[str, int, int], tuple[float, float]],
        page: tuple[float, float], step: int, edge: float, side: int,
    ) -> None:
        spans = []
        for cable in self._drawn(step):
            ends = sorted((cable.a, cable.b), key=lambda end: (-end.height, end.port))
            places = [at.get((cable.name, end.height, end.port)) for end in ends]
            if places[0] or places[1]:  # otherwise it is on other pages
                upper = places[0][1] if places[0] else page[0]
                lower = places[1][1] if places[1] else page[1]
                spans.append((upper, lower, cable, places))
        room = self.gutter[step] - STUB - 2
        tracks = _pack(spans, int(room / 1.2))
        for (upper, lower, cable, places), track in zip(spans, tracks, strict=True):
            x = edge + side * (STUB + track * room)
            points = [(x, upper), (x, lower)]
            if places[0]:
                points.insert(0, places[0])
            if places[1]:
                points.append(places[1])
            words = f"{cable.a.label} - {cable.b.label}"
            sheet.line(points, COLOURS[step], 0.8, dash=DASHES[step], hint=words)

    def _legend(self, sheet: DrawingSheet, y: float) -> None:
        words = ("endpoint", "step 1: inside a group", "step 2: between groups of the rack",
                 "step 3: to the rack named")
        x = MARGIN
        for step, text in enumerate(words):
            sheet.box(x, y, 10, 8, fill="#f0f1f3" if step == 0 else PAPER, stroke=COLOURS[step],
                      line=0.5 if step == 0 else 1.0, dash=DASHES[step])
            sheet.text(x + 14, y + 6.5, text, SMALL)
            x += 30 + width_of(text, SMALL)
        sheet.text(x, y + 6.5, "A box is a port: its number, and below it where its cable goes.",
                   SMALL, fill=INK)


def _runs(plugs: list[CablePlug]) -> list[list[CablePlug]]:
    """Plugs of endpoints as runs of which ports and names both go up by one."""
    runs: list[list[CablePlug]] = []
    for plug in sorted(plugs, key=lambda p: (p.far.rack, -p.far.height, p.far.port)):
        if runs and _follows(runs[-1][-1], plug):
            runs[-1].append(plug)
        else:
            runs.append([plug])
    return runs


def _follows(one: CablePlug, other: CablePlug) -> bool:
    same = (one.far.rack, one.far.unit, one.own.port) == (
        other.far.rack, other.far.unit, other.own.port
    )
    head, number = _numbered(one.own.device)
    next_name = f"{head}{int(number) + 1:0{len(number)}}" if number else None
    return same and other.far.port == one.far.port + 1 and other.own.device == next_name


def _numbered(name: str) -> tuple[str, str]:
    """The part of a name before the digits at its end, and these digits."""
    digits = re.search(r"[0-9]{0,18}$", name)
    cut = digits.start() if digits else len(name)
    return name[:cut], name[cut:]


def _pack(spans: list[tuple[Any, ...]], most: int) -> list[float]:
    """A track from 0 (near) to 1 (far) for each span, so that no two on a track overlap.

    Short spans go nearest. Where more than ``most`` tracks are needed, spans stand at their length
    instead and may overlap. O(spans * tracks).
    """
    order = sorted(range(len(spans)), key=lambda i: (spans[i][1] - spans[i][0], spans[i][0]))
    tracks: list[list[tuple[float, float]]] = []
    place = [0] * len(spans)
    for i in order:
        low, high = spans[i][:2]
        free = (
            k for k, taken in enumerate(tracks)
            if all(high + 1 < a or low - 1 > b for a, b in taken)
        )
        k = next(free, len(tracks))
        if k == len(tracks):
            tracks.append([])
        if k >= most:
            longest = max(span[1] - span[0] for span in spans) or 1.0
            return [(span[1] - span[0]) / longest for span in spans]
        tracks[k].append((low, high))
        place[i] = k
    return [(k + 1) / len(tracks) for k in place]
