"""Pictures: charts and drawings that a notebook shows and that are saved as files."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from flyloom._core import RefusalError
from flyloom.report.charts import svg
from flyloom.report.drawing import pdf_bytes, png_bytes
from flyloom.report.fitted import check_width, fitted, sized
from flyloom.support.files import write_whole

DPI = 300
"""Dots of an inch of a PNG whose width is given."""
ENDS = (".svg", ".png", ".pdf", ".html")
"""Ends of the names of files that pictures are written to."""


Chart = Mapping[str, Any] | Callable[[], Mapping[str, Any]]
"""The specification of a chart, or what makes it when it is needed: a page may do without."""


@dataclass(frozen=True)
class Picture:
    """A picture of a result. A notebook shows it; ``save("a.pdf")`` writes it, by the end of the
    name as SVG, PNG, PDF, or HTML where the result has a page. ``svg`` is its text, and ``spec``
    the specification of a chart, which any Vega-Lite viewer opens."""

    chart: Chart | None = None
    narrow: Chart | None = None
    """What a PDF has in its place, to fit a column of a paper."""
    page: Callable[[], str] | None = None
    """Makes the page of the result."""
    drawing: str = ""
    """The text of an SVG that is no chart."""
    wide: Callable[[float], Mapping[str, Any] | None] | None = None
    """Makes the chart for a width in points, where its panels stand otherwise then."""

    @cached_property
    def spec(self) -> Mapping[str, Any] | None:
        """The specification of the chart; None of a drawing that is no chart.

        Raises ``RefusalError`` where there is more to draw than can be seen.
        """
        return _made(self.chart)

    @cached_property
    def svg(self) -> str:
        """The picture as the text of an SVG; the same picture is the same text."""
        if self.spec is None:
            return self.drawing
        text = json.dumps(self.spec, sort_keys=True)
        return svg(self.spec, prefix=f"p{hashlib.sha256(text.encode()).hexdigest()[:8]}-")

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Picture({', '.join(end[1:] for end in self.ends)})"

    @property
    def ends(self) -> tuple[str, ...]:
        """The ends of names that it can be saved by."""
        return ENDS if self.page else ENDS[:-1]

    def save(
        self, path: str | os.PathLike[str], *, width_mm: float | None = None
    ) -> None:
        """Writes the picture to a file, whole or not at all; ``width_mm`` wide where that is given,
        with letters of 8.6 to 10.1 points, as a figure of a paper: 89 mm is a column of many.

        Raises ``RefusalError`` where the name ends in none of ``ends``, ``ImportError`` without
        the extra ``flyloom[report]``.
        """
        file = Path(path)
        end = file.suffix.lower()
        if end not in self.ends:
            raise RefusalError(
                f"{file}: no picture; a name that ends in {', '.join(self.ends)}")
        write_whole(file, self.content(end) if width_mm is None else
                    self._in_width(end, width_mm))

    def _in_width(self, end: str, width_mm: float) -> str | bytes:
        """What a file has in which the picture is ``width_mm`` wide."""
        width_pt = check_width(width_mm)
        if end == ".html":
            raise RefusalError("width: a page is as wide as its window; of .svg, .png and .pdf")
        chart = self.wide(width_pt) if self.wide else self.spec
        if chart is None:
            raise RefusalError("width: of charts; this drawing has the size of what it shows")
        chart = fitted(chart, width_pt)
        if end == ".pdf":
            return pdf_bytes(chart)
        if end == ".png":
            return png_bytes({**chart, "background": "white"}, scale=DPI / 72)
        return sized(svg(chart, prefix="p-"), width_pt)

    def content(self, end: str) -> str | bytes:
        """What a file has whose name ends in ``end``."""
        if end == ".html" and self.page:
            return self.page()
        if end == ".svg":
            return self.svg
        if end == ".pdf":
            return pdf_bytes(_made(self.narrow) or self.spec or self.drawing)
        return png_bytes(self.drawing if self.spec is None else
                         {**self.spec, "background": "white"})


def _made(chart: Chart | None) -> Mapping[str, Any] | None:
    return chart() if callable(chart) else chart
