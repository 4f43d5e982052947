"""The style of a report's charts, and their rendering to SVG.

A section makes the specifications of its charts, plain dictionaries that any Vega-Lite viewer can
open; :func:`svg` renders one to an inline ``<svg>`` with ``vl-convert-python``, in a child process
and without network access. Same specification, same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flyloom.report.drawing import svg_text

FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
INK, GREY, GRID = "#1c2430", "#59636f", "#e3e7ec"
#: One colour a network, in turn: Okabe and Ito's palette, darkened to stand out on white.
NETWORK_COLOURS = ("#0b5394", "#d1660a", "#1b8a6b", "#9a3d86", "#6b5b00", "#5a6472")
#: The most rows or panels of a chart: nobody reads more, and each takes 1/20 s to draw.
MOST = 24
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"

CONFIG = {
    "font": FONT,
    "aria": False,
    "background": "transparent",
    "view": {"stroke": None},
    "axis": {
        "labelColor": INK, "titleColor": GREY, "titleFontWeight": "normal", "labelFontSize": 11,
        "titleFontSize": 11.5, "gridColor": GRID, "domainColor": "#9aa4b0", "tickColor": "#9aa4b0",
    },
    "header": {
        "labelColor": INK, "labelFontSize": 12, "labelFontWeight": 600, "title": None,
        "labelLimit": 260,
    },
    "legend": {"labelColor": INK, "titleColor": GREY, "labelFontSize": 11.5, "labelLimit": 300},
}


def svg(spec: Mapping[str, Any], *, prefix: str) -> str:
    """Render a Vega-Lite specification to one inline ``<svg>`` element.

    ``prefix`` starts every ``id`` inside, so that several charts can stand in one page; ids are
    numbered in order of appearance, so the bytes depend on the specification alone. Raises
    ``ValueError`` when the specification is not valid Vega-Lite, ``ImportError`` without
    ``vl-convert-python``, ``DrawingError`` where there is no room to draw in.
    """
    text = svg_text(spec)
    names = list(dict.fromkeys(re.findall(r'\bid="([^"]+)"', text)))
    fresh = {name: f"{prefix}{place}" for place, name in enumerate(names)}

    def rename(match: re.Match[str]) -> str:
        return match[1] + fresh.get(match[2], match[2]) + match[3]

    for pattern in (r'(\bid=")([^"]+)(")', r"(url\(['\"]?#)([^'\")]+)(['\"]?\))",
                    r'(href="#)([^"]+)(")'):
        text = re.sub(pattern, rename, text)
    return text.replace(' xmlns:xlink="http://www.w3.org/1999/xlink" version="1.1"', "", 1)


def network_colours(labels: Sequence[str]) -> dict[str, str]:
    """The colour of each network, by label, in their order; colours repeat after six."""
    return {
        label: NETWORK_COLOURS[place % len(NETWORK_COLOURS)] for place, label in enumerate(labels)
    }


def picked(
    routings: Sequence[Mapping[str, Any]], figure: Callable[[Mapping[str, Any]], float | None]
) -> list[Mapping[str, Any]]:
    """The routings that a chart shows, in their order: those that have the ``figure``, and where
    these are more than :data:`MOST` half of that of the lowest, half of the highest."""
    known = [(routing, value) for routing in routings if (value := figure(routing)) is not None]
    if len(known) <= MOST:
        return [routing for routing, _ in known]
    ranked = sorted(range(len(known)), key=lambda place: known[place][1])
    places = sorted(ranked[:MOST // 2] + ranked[-(MOST // 2):])
    return [known[place][0] for place in places]


def routing_name(routing: Mapping[str, Any], networks: Sequence[str]) -> str:
    """The name of a routing in a chart: its label, with its network's when there are several."""
    return routing["label"] if len(networks) < 2 else f'{routing["label"]} · {routing["network"]}'


def network_colour(networks: Sequence[str]) -> dict[str, Any]:
    """The colours of networks as an encoding, with a legend where it is needed."""
    colours = network_colours(networks)
    many = len(networks) > len(NETWORK_COLOURS)  # colours repeat, and each panel is named anyway
    return {
        "field": "network",
        "type": "nominal",
        "scale": {"domain": list(colours), "range": list(colours.values())},
        "legend": None if len(networks) < 2 or many else {
            "title": None, "orient": "top", "symbolType": "square",
        },
    }
