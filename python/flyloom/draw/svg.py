"""A small SVG writer and the colours that the drawings share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape

#: Colours of the three kinds of link, from near to far: within a group, between the groups of one
#: rack, between racks. They differ under the three common colour deficiencies and in grey.
NEAR, MIDDLE, FAR = "#0b5394", "#2a9d8f", "#d1660a"
INK, GREY, PALE, PAPER = "#1c2430", "#66707d", "#dfe4ea", "#ffffff"
#: Tints of the groups of one rack, used in turn.
TINTS = ("#d6e4f2", "#fbe3cf", "#d5ebe8", "#eadcf0")
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"


_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def printable(text: str) -> str:
    """``text`` with every character that XML or UTF-8 cannot carry replaced by U+FFFD."""
    return _NOT_XML.sub("\ufffd", text)


def number(value: float) -> str:
    """A coordinate as short text: at most two decimals, no trailing zeros, never ``-0``."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def clipped(text: str, width_px: float, size_px: float) -> str:
    """``text`` cut to about ``width_px`` at font size ``size_px``, with an ellipsis when cut."""
    room = max(1, int(width_px / (0.58 * size_px)))
    return text if len(text) <= room else text[: max(1, room - 1)] + "…"


def fitting(text: str, width_px: float, size_px: float, least_px: float = 6.0) -> tuple[str, float]:
    """``text`` and the font size, at most ``size_px``, at which about ``width_px`` hold all of it;
    cut where that is less than ``least_px``."""
    fits = min(size_px, width_px / (0.58 * max(1, len(text))))
    if fits >= least_px:
        return text, fits
    return clipped(text, width_px, least_px), least_px


class SvgDrawing:
    """A growing SVG drawing of a fixed size.

    Attribute names are Python names: ``stroke_width`` becomes ``stroke-width``. Numbers go through
    :func:`number`, all other values are escaped.
    """

    def __init__(
        self, width: float, height: float, title: str, *, unit: str = "", font: str = FONT
    ) -> None:
        """Start a drawing of this size; ``title`` is what a screen reader says.

        ``unit`` is that of every length in it: pixels, or ``pt``.
        """
        wide, high = number(width), number(height)
        self._parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{wide}{unit}" '
            f'height="{high}{unit}" viewBox="0 0 {wide} {high}" '
            f'font-family="{escape(font)}"><title>{escape(printable(title))}</title>'
        ]

    @staticmethod
    def _attributes(values: Mapping[str, object]) -> str:
        out = []
        for name, value in values.items():
            if value is None:
                continue
            if isinstance(value, (int, float)):
                text = number(value)
            else:
                text = escape(printable(str(value)))
            out.append(f' {name.rstrip("_").replace("_", "-")}="{text}"')
        return "".join(out)

    def add(self, tag: str, *, hint: str | None = None, **attributes: object) -> None:
        """Add one element; ``hint`` becomes its tool tip."""
        body = f"<title>{escape(printable(hint))}</title></{tag}>" if hint else None
        opening = f"<{tag}{self._attributes(attributes)}"
        self._parts.append(f"{opening}>{body}" if body else f"{opening}/>")

    def text(self, x: float, y: float, text: str, size: float = 11, **attributes: object) -> None:
        """Write ``text`` with its base line at ``(x, y)``."""
        values = {"x": x, "y": y, "font_size": size, "fill": INK, **attributes}
        self._parts.append(f"<text{self._attributes(values)}>{escape(printable(text))}</text>")

    def open(self, **attributes: object) -> None:
        """Open a group ``<g>``; every ``open`` needs a :meth:`close`."""
        self._parts.append(f"<g{self._attributes(attributes)}>")

    def close(self) -> None:
        """Close the innermost group."""
        self._parts.append("</g>")

    def render(self) -> str:
        """The whole drawing as text."""
        return "".join(self._parts) + "</svg>"


def plural(count: int, noun: str, many: str | None = None) -> str:
    """``1 cable``, ``2 cables``; ``many`` is the plural where it is not the noun and an s."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def note_svg(title: str, note: str) -> str:
    """A drawing that holds one line of words in place of a picture."""
    drawing = SvgDrawing(420, 40, title)
    drawing.text(0, 24, note, 12, fill=GREY)
    return drawing.render()


def group_words(group: object) -> str:
    """The name of a group as text: the parts of a tuple or list joined by ``/``."""
    return "/".join(map(str, group)) if isinstance(group, (list, tuple)) else str(group)
