"""What ``flyloom map ... --page`` writes: a mapping beside the linear one, figures and pictures."""

from __future__ import annotations

from html import escape
from typing import Any

from flyloom import draw
from flyloom.draw.floor import racks_of
from flyloom.report.frame import framed
from flyloom.report.simulated import map_rows
from flyloom.support.amounts import number
from flyloom.verbs.mapping_shown import MappingPageContents, Marks, ShownMapping

FIGURES = (
    ("hop-bytes", "hop_bytes", "hop_bytes_bound"), ("average dilation", "average_dilation", None),
    ("maximum dilation", "maximum_dilation", None),
    ("maximum congestion (bytes)", "maximum_congestion", "congestion_bound"),
    ("mean congestion (bytes)", "mean_congestion", None),
    ("endpoint congestion (bytes)", "endpoint_congestion", None),
)
"""Rows of the table: words, key, the key of the bound."""

UNITS = ("bytes", "kB", "MB", "GB", "TB")
SIDES = (("linear", "processes in order"), ("found", "this mapping"))


def page(shown: MappingPageContents) -> str:
    """The page, which refers to nothing. Both mappings have colours of one scale."""
    sides = {"linear": shown["linear"], "found": shown["found"]}
    sent, loads = (_TrafficUnit(sides, key) for key in ("sent", "loads"))
    network = shown["topology"].recipe
    name = f"{sides['found']['figures']['processes']:,} processes on {network}"
    return framed(name, [
        *_table(sides),
        *_pictures("Who sends to whom", "What the endpoint of the row sends to that of the column",
                   {key: [_sent(shown, side["sent"], sent)] for key, side in sides.items()}),
        *_pictures("Load of links", "What goes over each channel, as if on the fastest link",
                   {key: _loads(shown, side["loads"], loads) for key, side in sides.items()}),
    ])


class _TrafficUnit:
    """The unit in which the largest amount of both mappings has at most three digits, and that
    amount."""

    def __init__(self, sides: dict[str, ShownMapping], key: str) -> None:
        marks = [side["sent"] if key == "sent" else side["loads"] for side in sides.values()]
        most = max((amount for of in marks for _, _, amount in of), default=0.0)
        thousands = 0
        while thousands < len(UNITS) - 1 and most >= 1000 ** (thousands + 1):
            thousands += 1
        self.unit, self.factor = UNITS[thousands], 1000.0**-thousands
        self.most = most * self.factor

    def of(self, marks: Marks) -> Marks:
        """Amounts in this unit."""
        return [(a, b, amount * self.factor) for a, b, amount in marks]


def _table(sides: dict[str, ShownMapping]) -> list[str]:
    found = sides["found"]["figures"]
    linear: dict[str, Any] = sides["linear"]["figures"]
    rows = []
    for words, key, bound in FIGURES:
        least = number(found[bound]) if bound else ""
        cells = "".join(f'<td class="n">{cell}</td>' for cell in
                        (number(linear[key]), number(found[key]), least))
        rows.append(f"<tr><th>{words}</th>{cells}</tr>")
    heads = "".join(f'<th class="n">{words}</th>'
                    for words in (*(words for _, words in SIDES), "no mapping has less"))
    return ["<section><table><thead><tr><th></th>" + heads + "</tr></thead><tbody>", *rows,
            "</tbody></table></section>"]


def _pictures(head: str, words: str, drawn: dict[str, list[str]]) -> list[str]:
    parts = [f'<section><h2>{head}</h2><p class="dim">{words}.</p>']
    for drawings in zip(*drawn.values(), strict=True):
        parts.append('<div class="pair">')
        parts += [f"<figure><figcaption><b>{escape(said)}</b></figcaption>"
                  f'<div class="scroll">{drawing}</div></figure>'
                  for (_, said), drawing in zip(SIDES, drawings, strict=True)]
        parts.append("</div>")
    return [*parts, "</section>"]


def _sent(shown: MappingPageContents, sent: Marks, amounts: _TrafficUnit) -> str:
    endpoints = shown["topology"].endpoints
    if not sent:
        return draw.note_svg("Who sends to whom", "Nothing goes from one endpoint to another.")
    groups = shown["groups"] if len(set(shown["groups"])) > 1 else None
    return draw.heat_matrix_svg(amounts.of(sent), endpoints, switch_groups=groups,
                                unit=amounts.unit, title="Who sends to whom", most=amounts.most)


def _loads(shown: MappingPageContents, loads: Marks, amounts: _TrafficUnit) -> list[str]:
    topology, scaled = shown["topology"], amounts.of(loads)
    rows = map_rows(topology)
    placed = rows["floor"] if rows["floor"] and rows["floor"]["racks"] else None
    drawings = [draw.heat_matrix_svg(
        scaled, topology.switches, switch_groups=rows["groups"],
        switch_racks=racks_of(placed, topology.switches) if placed and not rows["order"] else None,
        switch_names=topology.switch_names, order=rows["order"], unit=amounts.unit,
        most=amounts.most,
    )]
    if placed:
        drawings.append(
            draw.heat_floor_svg(placed, scaled, unit=amounts.unit, most=amounts.most)
        )
    return drawings
