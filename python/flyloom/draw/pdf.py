"""Sheets as the pages of a PDF, written by hand: lines, boxes, words and codes.

Source: ISO 32000-1:2008, Document management, Portable document format, PDF 1.7: 7.3 objects, 7.5
files, 8.5 paths, 8.9.7 inline images, 9.4 text, 9.7.5.2 predefined CMaps, 12.3.3 outlines.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable, Sequence

from flyloom.draw.letters import runs, width_of
from flyloom.draw.sheet import MARGIN, SMALL, DrawingSheet
from flyloom.draw.svg import GREY, number

FONTS = (
    b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
    b"<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UTF16-H "
    b"/DescendantFonts [6 0 R] >>",
    b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /FontDescriptor 7 0 R "
    b"/CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 4 >> /DW 1000 >>",
    b"<< /Type /FontDescriptor /FontName /STSong-Light /Flags 6 /FontBBox [-25 -254 1000 880] "
    b"/ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 880 /StemV 93 >>",
)
"""Fonts that every reader has: objects 3 to 7. The third is for letters outside Windows-1252."""
CATALOG, PAGES, FIRST_FONT = 1, 2, 3


def pdf(
    sheets: Sequence[DrawingSheet], title: str, *, numbered: bool = True,
    progress: Callable[[str, int, int], None] | None = None,
) -> bytes:
    """A PDF with a page of its own size for every sheet; the same sheets give the same bytes.

    Its words are text, in fonts that are not embedded. ``numbered`` adds the page's number to each
    page and an outline. O(marks).
    """
    objects: list[bytes] = [b"", b"", *FONTS]
    pages = []
    for i, sheet in enumerate(sheets):
        if progress and i % 16 == 0:
            progress(title, i, len(sheets))
        marks = _content(sheet, f"Page {i + 1} of {len(sheets)}" if numbered else None)
        objects.append(_stream(marks))
        size = f"{number(sheet.width)} {number(sheet.height)}"
        fonts = " ".join(f"/F{k} {FIRST_FONT + k} 0 R" for k in range(3))
        objects.append(
            f"<< /Type /Page /Parent {PAGES} 0 R /MediaBox [0 0 {size}] /Contents "
            f"{len(objects)} 0 R /Resources << /Font << {fonts} >> >> >>".encode()
        )
        pages.append(len(objects))
    catalog = f"<< /Type /Catalog /Pages {PAGES} 0 R"
    if numbered and pages:
        catalog += f" /PageMode /UseOutlines /Outlines {_outline(objects, sheets, pages)} 0 R"
    objects[CATALOG - 1] = f"{catalog} >>".encode()
    kids = " ".join(f"{page} 0 R" for page in pages)
    objects[PAGES - 1] = f"<< /Type /Pages /Count {len(pages)} /Kids [{kids}] >>".encode()
    objects.append(b"<< /Title " + _string(title) + b" /Producer (flyloom) >>")
    return _file(objects)


def _file(objects: Sequence[bytes]) -> bytes:
    """The objects 1, 2, ... with their table; the first is the catalog, the last the facts."""
    parts = [b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n"]
    at, places = len(parts[0]), []
    for i, body in enumerate(objects):
        places.append(at)
        parts.append(b"%d 0 obj\n%b\nendobj\n" % (i + 1, body))
        at += len(parts[-1])
    parts.append(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    parts += [b"%010d 00000 n \n" % place for place in places]
    facts = (len(objects) + 1, CATALOG, len(objects), at)
    parts.append(b"trailer\n<< /Size %d /Root %d 0 R /Info %d 0 R >>\nstartxref\n%d\n%%%%EOF\n"
                 % facts)
    return b"".join(parts)


def _stream(content: bytes) -> bytes:
    packed = zlib.compress(content, 6)
    return b"<< /Length %d /Filter /FlateDecode >>\nstream\n%b\nendstream" % (len(packed), packed)


def _outline(objects: list[bytes], sheets: Sequence[DrawingSheet], pages: Sequence[int]) -> int:
    """Adds an outline to ``objects``, the entries of every sheet; its number."""
    entries = [(words, i) for i, sheet in enumerate(sheets) for words in sheet.entries]
    root = len(objects) + 1
    first, last = root + 1, root + len(entries)
    objects.append(
        f"<< /Type /Outlines /First {first} 0 R /Last {last} 0 R /Count {len(entries)} >>".encode()
    )
    for k, (words, i) in enumerate(entries):
        around = f" /Prev {first + k - 1} 0 R" if k else ""
        around += f" /Next {first + k + 1} 0 R" if k + 1 < len(entries) else ""
        body = f" /Parent {root} 0 R /Dest [{pages[i]} 0 R /Fit]{around} >>"
        objects.append(b"<< /Title " + _string(words) + body.encode())
    return root


def _string(words: str) -> bytes:
    """A text string outside page contents."""
    return b"<FEFF" + words.encode("utf-16-be", "replace").hex().upper().encode() + b">"


# --- the contents of a page ---


def _content(sheet: DrawingSheet, foot: str | None) -> bytes:
    """The sheet's marks as operators, with y upwards."""
    out: list[str] = []
    for kind, *mark in sheet.marks:
        if kind == "text":
            _text(out, sheet.height, *mark)
        elif kind == "line":
            _line(out, sheet.height, *mark)
        elif kind == "code":
            _code(out, sheet.height, *mark)
        else:
            x, y, width, height, *style = mark
            _box(out, (x, sheet.height - y - height, width, height), *style)
    if foot:
        place = (sheet.width - MARGIN, sheet.height - MARGIN / 2)
        _text(out, sheet.height, *place, foot, SMALL + 1, "end", False, GREY)
    return "".join(out).encode("latin-1")


def _line(
    out: list[str], top: float, points: Sequence[tuple[float, float]], stroke: str, width: float,
    dash: str | None, _hint: str | None,
) -> None:
    path = " l ".join(f"{x:.2f} {top - y:.2f}" for x, y in points).replace(" l ", " m ", 1)
    out.append(f"{_colour(stroke)} RG {width:g} w [{dash or ''}] 0 d {path} l S\n")


def _box(
    out: list[str], place: tuple[float, float, float, float], fill: str, stroke: str | None,
    line: float, dash: str | None, _hint: str | None,
) -> None:
    """A rectangle: its lower left corner, width and height are its place."""
    out.append(f"{_colour(fill)} rg ")
    if stroke:
        out.append(f"{_colour(stroke)} RG {line:g} w [{dash or ''}] 0 d ")
    corner = " ".join(f"{number:.2f}" for number in place)
    out.append(f"{corner} re {'B' if stroke else 'f'}\n")


def _code(
    out: list[str], top: float, x: float, y: float, size: float, rows: Sequence[str]
) -> None:
    """A mask of one bit a module, black where it is set."""
    side = f"{size:.2f}"
    wide = -len(rows) % 8
    data = "".join(f"{int(row + '0' * wide, 2):0{(len(row) + wide) // 4}x}" for row in rows)
    out.append(f"q 0 0 0 rg {side} 0 0 {side} {x:.2f} {top - y - size:.2f} cm BI /W {len(rows)} "
               f"/H {len(rows)} /BPC 1 /IM true /D [1 0] /F /AHx ID {data}> EI Q\n")


def _text(
    out: list[str], top: float, x: float, y: float, words: str, size: float, anchor: str,
    bold: bool, fill: str,
) -> None:
    if anchor != "start":
        x -= width_of(words, size, bold) / (2 if anchor == "middle" else 1)
    shown = "".join(_shown(run, plain, size, bold) for plain, run in runs(words))
    out.append(f"BT {_colour(fill)} rg {x:.2f} {top - y:.2f} Td {shown}ET\n")


def _shown(run: str, plain: bool, size: float, bold: bool) -> str:
    """The operators that show a run of letters of one font."""
    if not plain:
        return f"/F2 {size:g} Tf <{run.encode('utf-16-be', 'replace').hex()}> Tj "
    for mark in "\\()":
        if mark in run:
            run = run.replace(mark, "\\" + mark)
    return f"/F{int(bold)} {size:g} Tf ({run.encode('cp1252').decode('latin-1')}) Tj "


@functools.cache
def _colour(words: str) -> str:
    """``#rrggbb`` as three fractions."""
    return " ".join(f"{int(words[i:i + 2], 16) / 255:.3g}" for i in (1, 3, 5))
