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
from flyloom.support.files import write_whole

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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the picture to a file, whole or not at all.

        Raises ``RefusalError`` where the name ends in none of ``ends``, ``ImportError`` without
        the extra ``flyloom[report]``.
        """
        file = Path(path)
        end = file.suffix.lower()
        if end not in self.ends:
            raise RefusalError(
                f"{file}: no picture; a name that ends in {', '.join(self.ends)}")
        write_whole(file, self.content(end))

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
