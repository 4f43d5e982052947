"""Charts of a given width, as a text block of a paper has: their letters keep their size, and their
panels take what is left."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import Any

from flyloom._core import RefusalError
from flyloom.report.charts import CONFIG
from flyloom.report.drawing import svg_text

PT_OF_MM = 72 / 25.4
"""Points of a millimetre."""
LEAST_MM, MOST_MM = 40.0, 1000.0
"""The widths that a picture may be given."""
LETTERS = 0.78
"""Sizes of letters beside those of a chart on a page, which are 11 to 13: 8.6 to 10.1 points."""
LEAST_PT = 50.0
"""The least width of a panel."""
PADDING_PT = 1.0
"""What is left free around a picture."""
LETTER_PT = 5.4
"""The width of a letter of the title of an axis, rather more than less."""
NAMES_PT = 90.0
"""Room for names left of several panels beside one another."""
OFF_PT = 0.5
"""How much of its width a picture may leave free besides."""
_SIZES = ("fontSize", "FontSize", "lineHeight")


def check_width(width_mm: float) -> float:
    """The width in points; RefusalError where no picture can have it."""
    if not LEAST_MM <= width_mm <= MOST_MM:
        raise RefusalError(f"width: {width_mm:g} mm; {LEAST_MM:g} to {MOST_MM:g} mm")
    return width_mm * PT_OF_MM


def fitted(spec: Mapping[str, Any], width_pt: float) -> dict[str, Any]:
    """The chart as wide as that, with letters of 8.6 to 10.1 points: panels take what axes and
    legends leave. It is drawn a few times, as its axes depend on its width.

    Raises ``RefusalError`` where there is no room for the panels.
    """
    lettered: dict[str, Any] = _lettered({
        **spec, "config": spec.get("config", CONFIG), "padding": PADDING_PT})
    if isinstance(title := lettered.get("title"), str):
        lettered["title"] = {"text": title, "anchor": "start", "fontSize": round(13 * LETTERS, 2)}
    if title:
        lettered["title"] = _wrapped(lettered["title"], width_pt)
    if len(beside := lettered.get("hconcat", ())) > 1:
        letters = max(10, int((width_pt - NAMES_PT) / (len(beside) * LETTER_PT)))
        lettered["hconcat"] = [_axes_wrapped(panel, letters) for panel in beside]
    panels = list(_widths(lettered))
    if not panels:
        raise RefusalError("width: the width of this picture follows from what it shows")
    least = LEAST_PT / max(panels)
    low, below = least, _drawn(lettered, least)
    if below > width_pt:
        raise RefusalError(f"width: {width_pt / PT_OF_MM:.4g} mm has no room for this picture;"
                           f" {math.ceil(below / PT_OF_MM)} mm or more")
    high, above = 1.0, _drawn(lettered, 1.0)
    while above <= width_pt:
        low, below, high = high, above, 2 * high
        above = _drawn(lettered, high)
    for _ in range(8):
        if width_pt - below <= OFF_PT:
            break
        # nearer to where a straight line has the width, but not so near to an end as not to move
        between = min(max((width_pt - below) / (above - below), 0.1), 0.9)
        part = low + between * (high - low)
        if (drawn := _drawn(lettered, part)) <= width_pt:
            low, below = part, drawn
        else:
            high, above = part, drawn
    room = dict.fromkeys(("left", "top", "bottom"), PADDING_PT)
    room["right"] = PADDING_PT + width_pt - below
    return {**_scaled(lettered, low), "padding": room}


def _lettered(part: Any) -> Any:
    """The specification with letters for paper."""
    if isinstance(part, Mapping):
        return {
            key: round(LETTERS * value, 2)
            if key.endswith(_SIZES) and isinstance(value, (int, float)) else _lettered(value)
            for key, value in part.items()
        }
    return [_lettered(one) for one in part] if isinstance(part, (list, tuple)) else part


def _wrapped(title: Mapping[str, Any], width_pt: float) -> dict[str, Any]:
    """A title whose lines have room."""
    out = dict(title)
    for key, size in (("text", title.get("fontSize", 10.1)),
                      ("subtitle", title.get("subtitleFontSize", 8.6))):
        if text := title.get(key):
            lines = [text] if isinstance(text, str) else text
            # remarks are sentences of their own; the lines of a title are one
            whole = [" ".join(lines)] if key == "text" else lines
            letters = max(20, int(width_pt / (0.64 * size)))
            out[key] = [line for one in whole for line in wrap(one, letters)]
    return out


def _axes_wrapped(part: Any, letters: int) -> Any:
    """The specification with titles of horizontal axes in lines of this number of letters."""
    if isinstance(part, Mapping):
        out = {key: _axes_wrapped(value, letters) for key, value in part.items() if key != "data"}
        if isinstance(x := out.get("x"), dict) and isinstance(axis := x.get("axis"), dict) and \
                isinstance(title := axis.get("title"), str):
            out["x"] = {**x, "axis": {**axis, "title": wrap(title, letters)}}
        return {**part, **out}
    if isinstance(part, (list, tuple)):
        return [_axes_wrapped(one, letters) for one in part]
    return part


def _widths(part: Any) -> Iterator[float]:
    """The widths of the panels of a specification, without those of single marks."""
    if isinstance(part, Mapping):
        width = part.get("width")
        if isinstance(width, (int, float)) and ("layer" in part or "mark" in part):
            yield float(width)
        for key, value in part.items():
            if key not in ("data", "mark", "encoding", "config"):
                yield from _widths(value)
    elif isinstance(part, (list, tuple)):
        for one in part:
            yield from _widths(one)


def _scaled(part: Any, factor: float) -> Any:
    """The specification with panels that are wider by a factor."""
    if isinstance(part, Mapping):
        is_panel = isinstance(part.get("width"), (int, float)) and (
            "layer" in part or "mark" in part)
        return {
            key: factor * value if key == "width" and is_panel
            else value if key in ("data", "mark", "encoding", "config")
            else _scaled(value, factor)
            for key, value in part.items()
        }
    return [_scaled(one, factor) for one in part] if isinstance(part, (list, tuple)) else part


def _drawn(spec: Mapping[str, Any], factor: float) -> float:
    """The width of the whole picture, in points."""
    found = re.search(r'<svg[^>]* width="([\d.]+)"', svg_text(_scaled(spec, factor)))
    assert found is not None, "every picture has a width"
    return float(found[1])


def sized(svg: str, width_pt: float) -> str:
    """The text of an SVG whose sizes are in points, as wide as that on paper."""
    def in_points(match: re.Match[str]) -> str:
        factor = width_pt / float(match[2])
        return (f'{match[1]}width="{width_pt:.3f}pt" height="{factor * float(match[3]):.3f}pt"')

    return re.sub(r'(<svg[^>]*? )width="([\d.]+)" height="([\d.]+)"', in_points, svg, count=1)
