"""Work lists: what is laid in each step, with boxes to tick; what to buy."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from itertools import groupby
from typing import Any

from flyloom.cabling.model import STEPS, Cable, CablingPlan
from flyloom.draw.letters import shortened, width_of, wrapped
from flyloom.draw.sheet import BODY, HEAD, MARGIN, SMALL, DrawingSheet
from flyloom.draw.svg import GREY, PALE, plural
from flyloom.support.words import amount, csv_text, uncell

ROW, LINE, HEADER = 10.5, 8.0, 20.0


def step_file(step: int) -> str:
    """The name of the work list of a step."""
    return f"steps/step-{step}-{STEPS[step].replace(' ', '-')}.csv"


def step_csv(plan_csv: str, step: int) -> str:
    """The lines of the plan's cable list that belong to ``step``, after a column to tick."""
    rows = list(csv.reader(io.StringIO(plan_csv, newline="")))
    at = rows[0].index("step")
    chosen = [["[ ]", *map(uncell, row)] for row in rows[1:] if row[at] == str(step)]
    return csv_text(["done", *rows[0]], chosen)


ORDER = ("kind", "stock_m", "rate_gbps", "needed", "spares", "buy", "metres", "cost_usd")


def order(cables: Sequence[Cable], spare: float) -> list[dict[str, Any]]:
    """What to buy: a row for each kind, stock length and rate, in this order.

    ``spare`` is a fraction of the cables needed, rounded up for each row; ``metres`` is the sum of
    the stock lengths, ``cost_usd`` the price of all, spares at the mean price of their row.
    O(cables log cables).
    """
    def key(cable: Cable) -> tuple[str, float, float]:
        return cable.kind, cable.stock_m, cable.rate_gbps

    rows = []
    for (kind, stock_m, rate), group in groupby(sorted(cables, key=key), key):
        prices = [cable.cost_usd for cable in group]
        needed = len(prices)
        spares = math.ceil(round(needed * spare, 6))
        buy = needed + spares
        cost = round(math.fsum(prices) / needed * buy, 2)
        metres = float(buy * Decimal(repr(stock_m)))
        row = (kind, stock_m, rate, needed, spares, buy, metres, cost)
        rows.append(dict(zip(ORDER, row, strict=True)))
    return rows


def total_of(values: Iterable[float]) -> float:
    """The sum of figures as they are printed."""
    return float(sum((Decimal(repr(value)) for value in values), Decimal(0)))


# --- the lists on paper ---


def order_sheets(
    cabling: CablingPlan, rows: Sequence[dict[str, Any]], size: tuple[float, float]
) -> list[DrawingSheet]:
    """The order as pages."""
    flow = _PagedTable(cabling, size, "To order")
    head = ("kind", "stock [m]", "rate [Gbit/s]", "needed", "spares", "buy", "metres", "cost [$]")
    places = [i * flow.room / len(head) for i in range(len(head))]

    def line(words: Sequence[str], bold: bool) -> None:
        def write(sheet: DrawingSheet, y: float) -> None:
            for x, word in zip(places, words, strict=True):
                sheet.text(MARGIN + x, y + 8, word, BODY, bold=bold)

        flow.row(ROW, write)

    line(head, True)
    for row in rows:
        line([v if isinstance(v, str) else amount(v) for v in row.values()], False)
    total = [total_of(row[key] for row in rows) for key in ORDER[3:]]
    line(["all", "", "", *map(amount, total)], True)
    return flow.sheets


def list_sheets(cabling: CablingPlan, step: int, size: tuple[float, float]) -> list[DrawingSheet]:
    """The work list of a step as pages: bundles in the order of laying, a box to tick a cable.

    Between switches a row a cable with both labels and devices; endpoints in columns. O(cables).
    """
    cables = [cable for cable in cabling.cables if cable.step == step]
    flow = _PagedTable(cabling, size, f"Step {step}: {STEPS[step]}")
    for racks, bundle in groupby(cables, lambda c: (c.a.rack, c.b.rack)):
        part = list(bundle)
        name = racks[0] if racks[0] == racks[1] else " - ".join(racks)
        kinds = sorted({(c.kind, c.stock_m) for c in part})
        what = ", ".join(f"{kind} {amount(stock)} m" for kind, stock in kinds)
        flow.heading(f"{name}: {plural(len(part), 'cable')}", f"{what}")
        if step:
            _rows(flow, part)
        else:
            _columns(flow, part)
    return flow.sheets


def _rows(flow: _PagedTable, cables: Sequence[Cable]) -> None:
    """A row a cable: number, both ends, kind and stock length."""
    first, last = 62.0, 58.0
    half = (flow.room - first - last) / 2
    wide = max(width_of(end.label, BODY, True) for c in cables for end in (c.a, c.b)) + 6
    for c in cables:
        labels = [wrapped(end.label, half - 6, BODY, True) for end in (c.a, c.b)]
        beside = wide < 0.6 * half
        names = [wrapped(end.device, half - wide - 6, SMALL) if beside else ()
                 for end in (c.a, c.b)]

        def draw(
            sheet: DrawingSheet, y: float, c: Cable = c, labels: list[tuple[str, ...]] = labels,
            names: Sequence[tuple[str, ...]] = names,
        ) -> None:
            _tick(sheet, MARGIN, y)
            sheet.text(MARGIN + 11, y + 8, c.name, SMALL, fill=GREY)
            for x, lines, device in zip((first, first + half), labels, names, strict=True):
                for k, line in enumerate(lines):
                    sheet.text(MARGIN + x, y + 8 + LINE * k, line, BODY, bold=True)
                for k, line in enumerate(device):
                    sheet.text(MARGIN + x + wide, y + 8 + LINE * k, line, SMALL, fill=GREY)
            what = f"{c.kind} {amount(c.stock_m)} m"
            sheet.text(MARGIN + flow.room, y + 8, what, SMALL, anchor="end")

        flow.row(ROW + LINE * (max(map(len, [*labels, *names])) - 1), draw)


def _columns(flow: _PagedTable, cables: Sequence[Cable]) -> None:
    """Endpoints' cables beside each other, as many as there is room for."""
    words = [f"{c.a.label} to {c.b.label}" for c in cables]
    widest = max(width_of(line, SMALL) for line in words) + 22
    columns = max(1, int(flow.room / widest))
    room = flow.room / columns
    high = -(-len(words) // columns)
    for i in range(high):
        cells = [wrapped(line, room - 16, SMALL) for line in words[i::high]]

        def draw(sheet: DrawingSheet, y: float, cells: list[tuple[str, ...]] = cells) -> None:
            for k, cell in enumerate(cells):
                _tick(sheet, MARGIN + k * room, y)
                for j, line in enumerate(cell):
                    sheet.text(MARGIN + k * room + 11, y + 8 + LINE * j, line, SMALL)

        flow.row(ROW + LINE * (max(map(len, cells)) - 1), draw)


def _tick(sheet: DrawingSheet, x: float, y: float) -> None:
    sheet.box(x, y + 2, 6.5, 6.5, line=0.6)


class _PagedTable:
    """Rows under each other on as many pages as they need."""

    def __init__(self, cabling: CablingPlan, size: tuple[float, float], title: str) -> None:
        self.cabling, self.size, self.title = cabling, size, title
        self.room = size[0] - 2 * MARGIN
        self.sheets: list[DrawingSheet] = []
        self.again: Callable[[DrawingSheet, float], None] | None = None
        self.y = math.inf

    def row(self, height: float, draw: Callable[[DrawingSheet, float], None]) -> None:
        """Draws a row of this height, on a new page when it does not fit."""
        if self.y + height > self.size[1] - MARGIN:
            self._page()
        draw(self.sheets[-1], self.y)
        self.y += height

    def heading(self, words: str, more: str) -> None:
        """Begins a part, named again where it goes on on another page."""
        def draw(sheet: DrawingSheet, y: float) -> None:
            sheet.line([(MARGIN, y + 6), (MARGIN + self.room, y + 6)], PALE)
            sheet.text(MARGIN, y + 16, words, BODY + 1, bold=True)
            wide = width_of(words, BODY + 1, True) + 10
            sheet.text(MARGIN + wide, y + 16, shortened(more, self.room - wide, BODY), BODY)

        self.again = None
        if self.y + HEADER + 3 * ROW > self.size[1] - MARGIN:
            self._page()
        self.row(HEADER, draw)
        self.again = draw

    def _page(self) -> None:
        sheet = DrawingSheet(*self.size, self.title)
        sheet.text(MARGIN, MARGIN + 8, self.title, HEAD, bold=True)
        room = self.room - width_of(self.title, HEAD, True) - 20
        sheet.text(MARGIN + self.room, MARGIN + 8, shortened(self.cabling.network, room, BODY),
                   BODY, anchor="end", fill=GREY)
        sheet.entries = [] if self.sheets else [self.title]
        self.sheets.append(sheet)
        self.y = MARGIN + 16
        if self.again:
            self.again(sheet, self.y)
            self.y += HEADER
