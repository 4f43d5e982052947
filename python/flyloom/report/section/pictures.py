"""The pictures of a report, after all that is said in words: floors, racks, links and their use.

Only what can be read is drawn: floors of a few racks, one rack for all that are filled alike, and
matrices whose marks are wider than a point.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flyloom import draw
from flyloom.draw.floor import DRAWN_COLUMNS, DRAWN_ROWS
from flyloom.draw.matrix import MATRIX_PX
from flyloom.report import packet_maps, simulated
from flyloom.report.base import Found, PageData, PageSection, cabled, shown
from flyloom.report.charts import MOST
from flyloom.report.words import some

MATRIX_LINKS = 60_000
"""Links of all matrices of a page that may be drawn one by one; it bounds the page's size."""
FRONTS = 3
"""Kinds of racks that are drawn, at most."""
FLOOR_RACKS = DRAWN_COLUMNS * DRAWN_ROWS
"""Racks of a floor that is drawn, at most."""


def view(page: PageData) -> dict[str, Any] | None:
    """The drawings of the first networks, the use of links, and what is left out."""
    many = len(page.networks)
    budget = MATRIX_LINKS // max(1, min(MOST, many))
    networks = [_pictures(network, page.colours, budget) for network in page.networks[:MOST]]
    heat, left_out = _heat(page)
    if not heat and not any(n["plan"] or n["matrix"] or n["omitted"] for n in networks):
        return None
    return {
        "networks": [n for n in networks if n["plan"] or n["fronts"] or n["matrix"]],
        "omitted": "; ".join(f"of {n['label']} {' and '.join(n['omitted'])}"
                             for n in networks if n["omitted"]),
        "left_out": some("networks", many, f"the first {MOST}, as drawings", MOST),
        "heat": shown(heat), "heat_left_out": left_out,
    }


def _heat(page: PageData) -> tuple[list[dict[str, Any]], str]:
    """The heat maps of links, and which are left out."""
    curves = simulated.curves(page.data["simulations"], page.labels)
    flits = [{**one, "label": f"{one['label']}, load {one['load']:g}"}
             for one in simulated.heat(curves, page.networks)]
    mapped = sum(any(point["links"] for point in curve["points"]) for curve in curves)
    packets, count = packet_maps.heat(page.data["packets"], page.networks)
    return [*flits, *packets], " ".join(filter(None, (
        some("curves with links", mapped, "the first", simulated.MAPS),
        some("maps of links", count, "the first", simulated.MAPS))))


def _pictures(network: Found, colours: Mapping[str, str], max_links: int) -> dict[str, Any]:
    """A network with its drawings, and sentences on those that would not be readable."""
    from markupsafe import Markup

    floor, size = network["floor"], cabled(network)
    out = {**network, "colour": colours[network["label"]], "matrix": None, "plan": None,
           "fronts": None, "omitted": [], "wide": False}
    racks = floor["racks"] if floor else ()
    if racks:
        out["fronts"] = Markup(draw.racks_svg(floor, network["switch_groups"], max_racks=FRONTS))
    if racks and len(racks) <= FLOOR_RACKS:
        out["plan"] = Markup(draw.floor_svg(floor))
        out["wide"] = len({rack["column"] for rack in racks}) > 5
    elif racks:
        out["omitted"].append(f"the floor ({len(racks):,} racks)")
    if network["edges"] and size <= MATRIX_PX:
        out["matrix"] = Markup(draw.adjacency_svg(
            network["edges"], size, switch_groups=network["switch_groups"],
            switch_names=network["switch_names"], max_links=max_links,
        ))
    elif network["edges"]:
        out["omitted"].append(f"the matrix of links ({size:,} switches)")
    return out


SECTION = PageSection(
    name="pictures", title="Pictures", place=900,
    doc="Floors, racks, who is linked to whom, and the use of links, as far as they can be read.",
    when="a network has racks or links to draw", view=view,
)
