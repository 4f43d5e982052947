"""The pages of a choice as HTML and as PDF, from the same blocks."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from flyloom.draw.letters import width_of, wrapped
from flyloom.draw.pdf import pdf
from flyloom.draw.sheet import SIZES_PT, DrawingSheet, paragraph
from flyloom.draw.svg import GREY, INK
from flyloom.report.choice import NEXT_PAGE, Block, head_lines, one_line, pages, title
from flyloom.report.frame import framed
from flyloom.support.amounts import dollars
from flyloom.verbs.ranking import rows_csv

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


PRINTED = """<style>
section.sheet{border-top:0;margin-top:8px}
td.code{overflow-wrap:anywhere;white-space:normal;min-width:170px}
.sheet table{font-size:12.5px}.sheet th,.sheet td{padding-left:5px!important;padding-right:5px}
.sheet td.say{white-space:normal}
@page{margin:11mm}
@media print{
body{padding:0;font-size:8.6pt;line-height:1.3;max-width:none}
h1{font-size:15pt;margin:0}h2{font-size:10.5pt;margin:0 0 2px}header{margin:0;padding:0}
.sheet p{margin:0 0 3px;max-width:none;break-after:auto!important;break-inside:auto}
.sheet h2{margin-top:8px}.sheet table{font-size:7pt;margin:2px 0 4px}
.sheet th,.sheet td{padding:1px 4px!important}
.sheet figure{margin:0}.sheet figure svg{height:132px;width:auto}
section.sheet{margin:0;padding:0}section.sheet+section.sheet{break-before:page}
}</style>"""


def files(found: Mapping[str, Any]) -> dict[str, str | bytes]:
    """The files of a choice by name: both pages, all that was found, and its candidates."""
    rows = [{key: value for key, value in row.items() if key != "shares"}
            for row in found["candidates"]]
    return {
        "choice.html": html(found), "choice.pdf": pdf_bytes(found),
        "choice.json": json.dumps(found), "choice.csv": rows_csv(rows),
    }


def first_page(found: Mapping[str, Any]) -> str:
    """The blocks of the first page as HTML, to stand in a section of another page."""
    blocks = pages(found)[0]
    for block in blocks:
        block.paragraphs = [words.replace(NEXT_PAGE, f"{NEXT_PAGE} of choice.html")
                            for words in block.paragraphs]
    return "".join(_html_block(block, "h3") for block in blocks)


def html(found: Mapping[str, Any]) -> str:
    """Both pages as one HTML file that refers to nothing; printed, they are two sheets."""
    parts = [PRINTED]
    for page in pages(found):
        parts.append('<section class="sheet">')
        parts += [_html_block(block) for block in page]
        parts.append("</section>")
    return framed(title(found), parts)


def _html_block(block: Block, head: str = "h2") -> str:
    """A block as HTML, its heading in an element ``head``."""
    parts = [f"<{head}>{escape(block.heading)}</{head}>"] if block.heading else []
    parts += [f"<p>{escape(words)}</p>" for words in block.paragraphs]
    if block.points:
        sheet = DrawingSheet(PICTURE_PT[0] + 70.0, PICTURE_PT[1] + 40.0, block.heading)
        _draw_points(sheet, block, 44.0, 10.0)
        parts.append(f"<figure>{sheet.svg()}</figure>")
    if block.rows:
        number = "say" if block.words else "n"
        heads = "".join(
            f'<th{f" class={number}" if i else ""}>{escape(one_line(lines))}</th>'
            for i, lines in enumerate(head_lines(block.head)))
        body = "".join(
            "<tr>" + "".join(
                f'<td class="{number if i else "code"}">{escape(cell)}</td>'
                for i, cell in enumerate(row)) + "</tr>" for row in block.rows)
        parts.append('<div class="scroll"><table><thead><tr>' + heads + "</tr></thead><tbody>"
                     + body + "</tbody></table></div>")
    return "".join(parts)


def pdf_bytes(found: Mapping[str, Any]) -> bytes:
    """Both pages as a PDF on A4, which also fits on letter."""
    return pdf([sheet for sheet, _ in _sheets(found)], title(found))


def ends_of(found: Mapping[str, Any]) -> list[float]:
    """Where the writing of each page ends, in points; above :data:`BOTTOM_PT` it is cut."""
    return [end for _, end in _sheets(found)]


def _sheets(found: Mapping[str, Any]) -> list[tuple[DrawingSheet, float]]:
    """Each page as a sheet, and where its writing ends."""
    sheets = []
    for number, page in enumerate(pages(found), 1):
        sheet, y = DrawingSheet(*PAPER_PT, f"{title(found)}, page {number}"), TOP
        if number == 1:
            sheet.text(LEFT, y - 14, title(found), 15.0, bold=True)
            y += 10
        for block in page:
            y = _draw(sheet, block, y)
        sheets.append((sheet, y))
    return sheets


def _draw(sheet: DrawingSheet, block: Block, y: float) -> float:
    """Draws a block from y on; the y after it."""
    if block.heading:
        sheet.text(LEFT, y, block.heading, 10.5, bold=True)
        y += 13.0
    for words in block.paragraphs:
        y = paragraph(sheet, LEFT, y, words, ROOM_PT, BODY) + 2.0
    if block.points:
        y = _draw_points(sheet, block, LEFT + 44.0, y)
    if block.rows:
        y = _draw_table(sheet, block, y)
    return y + 8.0


def _draw_points(sheet: DrawingSheet, block: Block, left: float, top: float) -> float:
    """Draws price against the part of the rate, a numbered mark each; the y after it."""
    width, height = PICTURE_PT
    prices = [point[1] for point in block.points]
    if block.limit_usd is not None and block.limit_usd < 2 * max(prices):
        prices.append(block.limit_usd)
    step = _round_step(1.15 * max(prices) / 5)
    high, bottom = step * math.ceil(1.02 * max(prices) / step), top + height

    def across(usd: float) -> float:
        return left + usd / high * width

    for part in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = bottom - part * height
        sheet.line([(left, y), (left + width, y)], "#d3d9e0", 0.5)
        sheet.text(left - 4.0, y + 2.3, f"{100 * part:.0f} %", TABLE, anchor="end", fill=GREY)
    for i in range(round(high / step) + 1):
        sheet.line([(across(i * step), bottom), (across(i * step), bottom + 3.0)], INK, 0.5)
        sheet.text(across(i * step), bottom + 10.0, dollars(i * step) if i else "0", TABLE,
                   anchor="middle", fill=GREY)
    sheet.line([(left, bottom), (left + width, bottom)], INK, 0.6)
    if block.limit_usd is not None and block.limit_usd <= high:
        x = across(block.limit_usd)
        sheet.line([(x, top), (x, bottom)], INK, 0.6, dash="3 2")
        sheet.text(x + 3.0, top + 7.0, "budget", TABLE, fill=GREY)
    for label, usd, part in block.points:
        sheet.box(across(usd) - 2.5, bottom - part * height - 2.5, 5.0, 5.0,
                  fill=INK if label == "1" else "#ffffff", stroke=INK)
    for x, y, names in _labels(block.points, across, bottom, height):
        sheet.text(x + 5.0, y - 4.0, ", ".join(names), 7.5, bold="1" in names)
    sheet.text(left, bottom + 20.0, "across: price of the network; up: part of its rate that every"
               " endpoint gets in the worst case; numbers as in the table", TABLE, fill=GREY)
    return bottom + 30.0


def _labels(
    points: Sequence[tuple[str, float, float]], across: Callable[[float], float], bottom: float,
    height: float,
) -> list[tuple[float, float, list[str]]]:
    """Where labels of marks stand; those of marks too near for two labels share one."""
    labels: list[tuple[float, float, list[str]]] = []
    for label, usd, part in points:
        x, y = across(usd), bottom - part * height
        near = next((at for at in labels if abs(at[0] - x) < 14.0 and abs(at[1] - y) < 9.0), None)
        if near:
            near[2].append(label)
        else:
            labels.append((x, y, [label]))
    return labels


def _round_step(least: float) -> float:
    """The least of 1, 2, 5, 10, ... times a power of ten that is no less than this."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(part * power for part in (1.0, 2.0, 5.0, 10.0) if part * power >= least)


def _draw_table(sheet: DrawingSheet, block: Block, y: float) -> float:
    """Draws a table: the first column takes what the others leave, in several lines."""
    if block.words:
        return _draw_words(sheet, block, y)
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
    ends = [LEFT + first + sum(widths[:i + 1]) for i in range(len(widths))]
    tall = max(len(lines) for lines in heads)
    for i, lines in enumerate(heads):
        for k, line in enumerate(lines):
            at = y + (tall - len(lines) + k) * 1.2 * TABLE
            sheet.text(ends[i - 1] if i else LEFT, at, line, TABLE,
                       anchor="end" if i else "start", bold=True, fill=GREY)
    y += (tall - 1) * 1.2 * TABLE + 3.0
    sheet.line([(LEFT, y), (LEFT + first + sum(widths), y)], INK, 0.6)
    y += 1.3 * TABLE
    for row in block.rows:
        for cell, end in zip(row[1:], ends, strict=True):
            sheet.text(end, y, cell, TABLE, anchor="end")
        for line in wrapped(row[0], first - 6.0, TABLE):
            sheet.text(LEFT, y, line, TABLE)
            y += 1.25 * TABLE
        y += 1.5
    return y


def _draw_words(sheet: DrawingSheet, block: Block, y: float) -> float:
    """Draws a table of two columns of words."""
    first = min(200.0, max(width_of(row[0], TABLE, True) for row in block.rows) + 10.0)
    for row in block.rows:
        sheet.text(LEFT, y, row[0], TABLE, bold=True)
        y = paragraph(sheet, LEFT + first, y, row[1], ROOM_PT - first, TABLE) + 1.0
    return y

