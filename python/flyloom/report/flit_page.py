"""What ``flyloom sim ... -o`` writes: the chart of a simulation, and a page with all it found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

from flyloom._core import Topology
from flyloom.report import flit
from flyloom.report.charts import svg
from flyloom.report.comparison import chart
from flyloom.report.frame import framed
from flyloom.report.panels import tints_of
from flyloom.report.picture import Picture
from flyloom.report.simulated import DISTRIBUTIONS, heat_maps, map_rows, picture_of
from flyloom.support.amounts import number
from flyloom.verbs import runs

HEADS = (
    ("offered load", "offered_load"), ("accepted load", "accepted_load"),
    ("mean latency", "mean_packet_latency_cycles"),
    ("in the network", "mean_network_latency_cycles"), ("p99 latency", "p99_packet_latency_cycles"),
    ("hops", "mean_hops"),
)
"""Columns of the table of points."""


def title(found: Mapping[str, Any]) -> str:
    """What was simulated, in words."""
    return ", ".join(runs.common(found.get("curves", [found]))) or "BookSim configuration"


def spec(
    found: Mapping[str, Any], *, narrow: bool = False, width_pt: float | None = None
) -> dict[str, Any]:
    """The curves of a simulation; of a single one also the distributions of its highest unsaturated
    load, unless the chart is to be ``narrow`` or ``width_pt`` wide."""
    curves = runs.labelled(found.get("curves", [found]))
    made = flit.curves_spec(curves, title(found), narrow=narrow, width_pt=width_pt)
    alone = narrow or (width_pt and made) or len(curves) > 1
    below = None if alone else flit.distributions_spec(_shown(found))
    if below is None:
        return made or chart({"vconcat": []})
    if len(found["points"]) == 1:
        return below | {"title": {"text": title(found), "anchor": "start", "fontSize": 13}}
    return chart({
        "spacing": 26, "vconcat": [part for part in (made, below) if part],
        "resolve": {"scale": {"color": "independent", "fill": "independent"}},
    })


def _shown(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    curves = runs.labelled(found.get("curves", [found]))
    return [
        {"label": curve["label"], "point": point, "colour": tint}
        for curve, tint in zip(curves, tints_of(curves), strict=True)
        if (point := flit.highest_unsaturated(curve["points"]))
    ]


def page(found: Mapping[str, Any], drawings: Mapping[str, str]) -> str:
    """Chart, table and ``drawings`` (title and SVG) as one HTML page that refers to nothing."""
    curves = found.get("curves", [found])
    heads, said = runs.apart(curves)
    spread = flit.distributions_spec(_shown(found)[:DISTRIBUTIONS]) if len(curves) > 1 else None
    below = f"<section><figure>{svg(spread, prefix='spread-')}</figure></section>" if spread else ""
    parts = [
        f"<section><figure>{svg(spec(found), prefix='flit-')}</figure>",
        '<p class="dim">Latencies are in cycles, loads in flits an endpoint and cycle. A curve of'
        " latency ends before the first load simulated that saturates, less than 97 % of which"
        " arrives: that has a hollow mark at the upper edge, and in accepted load."
        " The distributions are of the highest load that is not."
        "</p></section>",
        below,
        '<section><h2>Points</h2><div class="scroll"><table><thead><tr>',
        *(f"<th>{head}</th>" for head in heads),
        *(f'<th class="n">{head}</th>' for head, _ in HEADS), "<th></th></tr></thead><tbody>",
    ]
    for words, curve in zip(said, curves, strict=True):
        for point in curve["points"]:
            cells = ("–" if point[key] is None else number(point[key]) for _, key in HEADS)
            note = ", ".join(word for word in ("saturated", "deadlocked") if point[word])
            row = "".join([*(f"<td>{escape(word)}</td>" for word in words),
                           *(f'<td class="n">{cell}</td>' for cell in cells)])
            parts.append(f"<tr>{row}<td>{note}</td></tr>")
    parts.append("</tbody></table></div>")
    for words, curve in zip(said, curves, strict=True):
        if curve.get("saturation_throughput") is not None:
            of = f", {escape(', '.join(words))}" if words else ""
            parts.append(f"<p>Saturation throughput{of}: {curve['saturation_throughput']:.3f}.</p>")
    if not found["verified"]:
        parts.append('<p class="no">The routing is not proved free of deadlock.</p>')
    parts.append("</section>")
    if drawings:
        load = _shown(found)[0]["point"]["offered_load"]
        parts.append(f"<section><h2>Use of links at load {load:.4g}</h2>"
                     '<div class="pair">')
        parts += [f"<figure><figcaption><b>{escape(head)}</b></figcaption>"
                  f'<div class="scroll">{drawing}</div></figure>'
                  for head, drawing in drawings.items()]
        parts.append("</div></section>")
    return framed(title(found), parts)


def picture(
    found: Mapping[str, Any], topology: Callable[[], Topology] | None = None
) -> Picture:
    """The curves, and the page, with heat maps of a single run whose network ``topology`` gives."""
    return picture_of(found, topology, spec, page, drawings)


def drawings(found: Mapping[str, Any], topology: Topology) -> dict[str, str]:
    """Heat maps of the point that the distributions are of, by title; none without ``links``."""
    shown = _shown(found)
    links = shown[0]["point"].get("links") if shown else None
    if not links:
        return {}
    names = topology.switch_names
    return heat_maps(links, names, switches=topology.switches, **map_rows(topology))
