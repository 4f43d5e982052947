"""The pages of a choice as HTML and as PDF, from the same blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from flyloom.draw.letters import width_of, wrapped
from flyloom.draw.pdf import pdf
from flyloom.draw.sheet import SIZES_PT, DrawingSheet, paragraph
from flyloom.draw.svg import GREY, INK
from flyloom.report.choice import Block, head_lines, one_line, pages, title
from flyloom.report.frame import framed
from flyloom.support.amounts import dollars

PAPER_PT = SIZES_PT["a4"]
LEFT, TOP = 38.0, 66.0
ROOM_PT = 519.0
"""Width of what is written, which fits A4 and letter."""
NARROW = 4
"""Columns up to which a table is as wide as it needs to be."""
BOTTOM_PT = 760.0
"""Where the writing must end: letter is 50 points shorter than A4."""
BODY, TABLE = 8.6, 6.8
PICTURE_PT = (360.0, 150.0)
"""Width and height of the picture."""


def html(found: Mapping[str, Any]) -> str:
    """Both pages as one HTML file that refers to nothing; printed, they are two sheets."""
    parts = ["<style>@page{margin:14mm}section.sheet{border-top:0;margin-top:12px}"
             "@media print{body{padding:0;font-size:10.5px}section.sheet+section.sheet"
             "{break-before:page}h1{font-size:18px}h2{font-size:13px}table{font-size:8.5px}"
             "th,td{padding:2px 3px!important}}</style>"]
    for page in pages(found):
        parts.append('<section class="sheet">')
        parts += [_html_block(block) for block in page]
        parts.append("</section>")
    return framed(title(found), parts)


def _html_block(block: Block) -> str:
    """A block as HTML."""
    parts = [f"<h2>{escape(block.heading)}</h2>"] if block.heading else []
    parts += [f"<p>{escape(words)}</p>" for words in block.paragraphs]
    if block.points:
        sheet = DrawingSheet(PICTURE_PT[0] + 60.0, PICTURE_PT[1] + 34.0, block.heading)
        _draw_points(sheet, block.points, 44.0, 6.0)
        parts.append(f"<figure>{sheet.svg()}</figure>")
    if block.rows:
        heads = "".join(
            f'<th{" class=n" if i else ""}>{escape(one_line(lines))}</th>'
            for i, lines in enumerate(head_lines(block.head)))
        body = "".join(
            "<tr>" + "".join(
                f'<td class="{"n" if i else "wrap"}">{escape(cell)}</td>'
                for i, cell in enumerate(row)) + "</tr>" for row in block.rows)
        parts.append('<div class="scroll"><table><thead><tr>' + heads + "</tr></thead><tbody>"
                     + body + "</tbody></table></div>")
    return "".join(parts)


def pdf_bytes(found: Mapping[str, Any]) -> bytes:
    """Both pages as a PDF on A4, which also fits on letter."""
    sheets = []
    for number, page in enumerate(pages(found)):
        sheet = DrawingSheet(*PAPER_PT, f"{title(found)}, page {number + 1}")
        y = TOP
        if number == 0:
            sheet.text(LEFT, y - 14, title(found), 15.0, bold=True)
            y += 10
        for block in page:
            y = _draw(sheet, block, y)
        sheets.append(sheet)
    return pdf(sheets, title(found))


def _draw(sheet: DrawingSheet, block: Block, y: float) -> float:
    """Draws a block from y on; the y after it."""
    if block.heading:
        sheet.text(LEFT, y, block.heading, 10.5, bold=True)
        y += 13.0
    for words in block.paragraphs:
        y = paragraph(sheet, LEFT, y, words, ROOM_PT, BODY) + 2.0
    if block.points:
        y = _draw_points(sheet, block.points, LEFT + 44.0, y)
    if block.rows:
        y = _draw_table(sheet, block, y)
    return y + 8.0


def _draw_points(
    sheet: DrawingSheet, points: Sequence[tuple[str, float, float]], left: float, top: float
) -> float:
    """Draws price against the part of the rate, a numbered mark each; the y after it."""
    width, height = PICTURE_PT
    least, most = min(p[1] for p in points), max(p[1] for p in points)
    span = max(most - least, 0.05 * most)
    low, high = max(0.0, least - 0.08 * span), most + 0.08 * span
    bottom = top + height
    for part in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = bottom - part * height
        sheet.line([(left, y), (left + width, y)], "#d3d9e0", 0.5)
        sheet.text(left - 4.0, y + 2.3, f"{100 * part:.0f} %", TABLE, anchor="end", fill=GREY)
    for i in range(5):
        x, usd = left + i * width / 4, low + i * (high - low) / 4
        sheet.line([(x, bottom), (x, bottom + 3.0)], INK, 0.5)
        sheet.text(x, bottom + 11.0, dollars(usd), TABLE, anchor="middle", fill=GREY)
    sheet.line([(left, bottom), (left + width, bottom)], INK, 0.6)
    labels: list[tuple[float, float, list[str]]] = []
    for label, usd, part in points:
        x, y = left + (usd - low) / (high - low) * width, bottom - part * height
        sheet.box(x - 2.5, y - 2.5, 5.0, 5.0, fill=INK if label == "1" else "#ffffff", stroke=INK)
        near = next((at for at in labels if abs(at[0] - x) < 14.0 and abs(at[1] - y) < 9.0), None)
        if near:
            near[2].append(label)
        else:
            labels.append((x, y, [label]))
    for x, y, names in labels:
        sheet.text(x + 5.0, y - 4.0, ", ".join(names), 7.5, bold="1" in names)
    sheet.text(left, bottom + 21.0, "price of the network, against the part of their rate that all"
               " endpoints get in the worst case; numbers as in the table", TABLE, fill=GREY)
    return bottom + 30.0


def _draw_table(sheet: DrawingSheet, block: Block, y: float) -> float:
    """Draws a table: the first column takes what the others leave, in several lines."""
    heads = head_lines(block.head)
    columns = list(zip(*block.rows, strict=True))
    widths = [
        max([width_of(cell, TABLE) for cell in column]
            + [width_of(line, TABLE, True) for line in lines]) + 9.0
        for column, lines in zip(columns[1:], heads[1:], strict=True)
    ]
    room = ROOM_PT if len(columns) > NARROW else 0.0
    need = max(width_of(cell, TABLE) for cell in columns[0]) + 40.0
    first = max(need if not room else 80.0, room - sum(widths))
    width = first + sum(widths)
    ends = [LEFT + first + sum(widths[:i + 1]) for i in range(len(widths))]
    tall = max(len(lines) for lines in heads)
    for i, lines in enumerate(heads):
        for k, line in enumerate(lines):
            at = y + (tall - len(lines) + k) * 1.2 * TABLE
            if i:
                sheet.text(ends[i - 1], at, line, TABLE, anchor="end", bold=True, fill=GREY)
            else:
                sheet.text(LEFT, at, line, TABLE, bold=True, fill=GREY)
    y += (tall - 1) * 1.2 * TABLE + 3.0
    sheet.line([(LEFT, y), (LEFT + width, y)], INK, 0.6)
    y += 1.3 * TABLE
    for row in block.rows:
        for cell, end in zip(row[1:], ends, strict=True):
            sheet.text(end, y, cell, TABLE, anchor="end")
        for line in wrapped(row[0], first - 6.0, TABLE):
            sheet.text(LEFT, y, line, TABLE)
            y += 1.25 * TABLE
        y += 1.5
    return y


def ends_of(found: Mapping[str, Any]) -> Sequence[float]:
    """Where the writing of each page ends, in points; above :data:`BOTTOM_PT` it is cut."""
    ends = []
    for number, page in enumerate(pages(found)):
        y = TOP + (10 if number == 0 else 0)
        for block in page:
            y = _draw(DrawingSheet(*PAPER_PT, ""), block, y)
        ends.append(y)
    return ends
