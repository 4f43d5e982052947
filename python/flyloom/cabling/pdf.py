"""Sheets as the pages of a PDF."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

from flyloom._svg import GREY
from flyloom.cabling.sheet import MARGIN, SMALL, Sheet, font_of

ANCHORS = {"start": "drawString", "middle": "drawCentredString", "end": "drawRightString"}


def pdf(
    sheets: Sequence[Sheet], title: str, *, numbered: bool = True,
    progress: Callable[[str, int, int], None] | None = None,
) -> bytes:
    """A PDF with a page of its own size for every sheet; the same sheets give the same bytes.

    Its words are text in the fonts that every reader has (Helvetica; STSong-Light, a Chinese font,
    for names with letters outside Windows-1252). ``numbered`` adds the page's number and an outline
    of the sheets' titles. O(marks).
    """
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont
    from reportlab.pdfbase.pdfmetrics import registerFont
    from reportlab.pdfgen.canvas import Canvas

    registerFont(UnicodeCIDFont("STSong-Light"))
    buffer = io.BytesIO()
    canvas = Canvas(buffer, invariant=1, pageCompression=1)
    canvas.setTitle(title)
    canvas.setAuthor("flyloom")
    for i, sheet in enumerate(sheets):
        canvas.setPageSize((sheet.width, sheet.height))
        _Pen(canvas, sheet.height).draw(sheet)
        if numbered:
            canvas.setFillColor(GREY)
            canvas.setFont("Helvetica", SMALL + 1)
            words = f"Page {i + 1} of {len(sheets)}"
            canvas.drawRightString(sheet.width - MARGIN, MARGIN / 2, words)
            canvas.bookmarkPage(f"page-{i}")
            canvas.addOutlineEntry(sheet.title, f"page-{i}")
        canvas.showPage()
        if progress and i % 16 == 0:
            progress(title, i, len(sheets))
    canvas.save()
    return buffer.getvalue()


class _Pen:
    """Draws on one page; colours, widths and fonts are set only where they change."""

    def __init__(self, canvas: object, height: float) -> None:
        self.canvas, self.height = canvas, height
        self.now: dict[str, object] = {}

    def set(self, what: str, *value: object) -> None:
        """Calls the canvas's setter ``what`` unless that is how it stands already."""
        if self.now.get(what) != value:
            self.now[what] = value
            getattr(self.canvas, what)(*value)

    def draw(self, sheet: Sheet) -> None:
        """Everything on the sheet, in its order."""
        for kind, *mark in sheet.marks:
            getattr(self, kind)(*mark)

    def line(
        self, points: Sequence[tuple[float, float]], stroke: str, width: float, dash: str | None,
        _hint: str | None,
    ) -> None:
        self.set("setStrokeColor", stroke)
        self.set("setLineWidth", width)
        self.set("setDash", [float(part) for part in (dash or "").split()])
        path = self.canvas.beginPath()
        path.moveTo(points[0][0], self.height - points[0][1])
        for x, y in points[1:]:
            path.lineTo(x, self.height - y)
        self.canvas.drawPath(path)

    def box(
        self, x: float, y: float, width: float, height: float, fill: str, stroke: str | None,
        line: float, dash: str | None, _hint: str | None,
    ) -> None:
        self.set("setFillColor", fill)
        if stroke:
            self.set("setStrokeColor", stroke)
            self.set("setLineWidth", line)
            self.set("setDash", [float(part) for part in (dash or "").split()])
        self.canvas.rect(
            x, self.height - y - height, width, height, stroke=1 if stroke else 0, fill=1
        )

    def text(
        self, x: float, y: float, words: str, size: float, anchor: str, bold: bool, fill: str
    ) -> None:
        self.set("setFillColor", fill)
        self.set("setFont", font_of(words, bold), size)
        getattr(self.canvas, ANCHORS[anchor])(x, self.height - y, words)
