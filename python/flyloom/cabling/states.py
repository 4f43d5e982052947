"""Rack fronts coloured by what a check says of every switch, as SVG."""

from __future__ import annotations

from collections import Counter
from typing import Any

from flyloom._core import Topology
from flyloom.draw.svg import GREY, INK, PAPER, SvgDrawing, note_svg, plural
from flyloom.support.words import csv_rows

#: Fill, text colour and words of every state, in the order of the legend. Dark is gone, pale is
#: well; in grey they still differ.
STATES = {
    "correct": ("#d7ede4", INK, "as planned"),
    "unlaid": ("#d5d8dd", INK, "cables not yet laid"),
    "degraded": ("#fbe08a", INK, "slow or narrow cable"),
    "wrong": ("#f0a27c", INK, "wrong or missing cable"),
    "replaced": ("#a9c8ec", INK, "replaced hardware"),
    "moved": ("#b79ad6", INK, "in another's place"),
    "missing": ("#4a5361", PAPER, "does not answer"),
}
_RACK_W, _GAP, _WIDTH, _MOST = 112, 14, 1008, 400
"""Least width of a rack, room between racks, most width of racks in a row, most racks drawn."""


def states_svg(topology: Topology, rules: dict[str, Any] | None, found: dict[str, Any]) -> str:
    """The fronts of the racks, each switch in the colour of its state, with a legend.

    ``found`` is what ``Topology.check_cables`` returned for this plan and these floor rules. The
    number beside a name says how many of the switch's cables are not as planned. Beyond 400 racks
    only those with a fault are drawn. O(switches + cables).
    """
    from flyloom.draw.floor import floor_data

    plan = topology.plan(rules)
    floor = floor_data(plan, topology.switch_names)
    odd = _odd_cables(plan["cables_csv"], found["cables"])
    states = found["switch_states"]
    racks = [rack for rack in floor["racks"] if rack["switches"]]
    if len(racks) > _MOST:
        fine = ("correct", "unlaid")
        bad = [r for r in racks if any(states[s["id"]] not in fine for s in r["switches"])]
        racks = bad[:_MOST]
    if not racks:
        return note_svg("State of the racks", "No rack has anything to show.")
    units = [[s["unit"] or i + 1 for i, s in enumerate(r["switches"])] for r in racks]
    top = max(max(of_rack) for of_rack in units)
    slot = 15.0 if top <= 24 else 12.0
    done = {r["rack"]: r["steps"] for r in found["progress"]["racks"]} if found["progress"] else {}
    wide = _rack_width(racks, slot)
    per_row = max(1, int(_WIDTH / (wide + _GAP)))
    columns = min(len(racks), per_row)
    step = top * slot + 60
    rows = -(-len(racks) // per_row)
    notes = _notes(found, len(racks), len(floor["racks"]))
    width = max(24 + columns * (wide + _GAP), 24 + max(6.3 * len(n) for n in notes), 560)
    head = 74
    drawing = SvgDrawing(width, head + rows * step + 20 * len(notes), "State of the racks")
    _legend(drawing, width, Counter(states))
    for place, (rack, of_rack) in enumerate(zip(racks, units, strict=True)):
        x = 24 + place % per_row * (wide + _GAP)
        y = head + 20 + place // per_row * step
        body = top * slot
        drawing.text(x + wide / 2, y - 8, str(rack["name"]), 12, text_anchor="middle",
                     font_weight="600")
        drawing.add("rect", x=x, y=y - 2, width=wide, height=body + 4, rx=2, fill="#f6f7f9",
                    stroke=INK, stroke_width=1.2)
        for switch, unit in zip(rack["switches"], of_rack, strict=True):
            _switch(drawing, x, y + body - unit * slot, slot, switch, states, odd, wide)
        steps = done.get(rack["name"], [])
        words = f"{sum(s['correct'] for s in steps):,} of {sum(s['planned'] for s in steps):,}"
        drawing.text(x + wide / 2, y + body + 17, words, 10.5, text_anchor="middle", fill=GREY)
    for i, note in enumerate(notes):
        drawing.text(24, head + rows * step + 8 + 20 * i, note, 11.5, fill=GREY)
    return drawing.render()


def _rack_width(racks: list[dict[str, Any]], slot: float) -> float:
    """The width of a rack: what the longest name needs, with the number beside it."""
    size = min(9.5, slot - 3)
    switches = max((0.58 * size * len(str(s["name"])) for r in racks for s in r["switches"]),
                   default=0.0)
    names = max((0.62 * 12 * len(str(r["name"])) for r in racks), default=0.0)
    return max(_RACK_W, switches + 40, names + 4)


def _switch(
    drawing: SvgDrawing, x: float, top: float, slot: float, switch: dict[str, Any],
    states: list[str], odd: Counter[str], wide: float,
) -> None:
    fill, ink, words = STATES[states[switch["id"]]]
    count = odd[switch["name"]]
    hint = f"{switch['name']}, unit {switch['unit']}: {words}"
    hint += f", {plural(count, 'cable')} not as planned" if count else ""
    drawing.add("rect", x=x + 4, y=top + 1, width=wide - 8, height=slot - 2, rx=1.5, fill=fill,
                stroke="#5b6b7d", stroke_width=0.6, hint=hint)
    size = min(9.5, slot - 3)
    base = top + slot / 2 + size * 0.35
    drawing.text(x + 8, base, str(switch["name"]), size, fill=ink)
    if count:
        drawing.text(x + wide - 8, base, f"{count:,}", size, fill=ink, text_anchor="end",
                     font_weight="700")


def _legend(drawing: SvgDrawing, width: float, counts: Counter[Any]) -> None:
    x, y = 24.0, 14.0
    for state, (fill, _, words) in STATES.items():
        text = f"{words}: {counts[state]:,}"
        room = 26 + 6.6 * len(text)
        if x + room > width:
            x, y = 24.0, y + 22
        drawing.add("rect", x=x, y=y, width=14, height=12, rx=1.5, fill=fill, stroke="#5b6b7d",
                    stroke_width=0.6)
        drawing.text(x + 19, y + 10, text, 11)
        x += room


def _notes(found: dict[str, Any], drawn: int, racks: int) -> list[str]:
    notes = ["Beside a name: its cables not as planned. Below a rack: its cables that are."]
    unknown = sum(finding["kind"] == "unknown" for finding in found["findings"])
    if unknown:
        notes.append(f"{plural(unknown, 'device')} that the plan does not know: not drawn.")
    if drawn < racks:
        notes.append(f"{drawn:,} of {racks:,} racks are drawn.")
    return notes


def _odd_cables(cables_csv: str, states: dict[str, str]) -> Counter[Any]:
    """Cables that are laid or due and not as planned, by the device at either end."""
    odd: Counter[Any] = Counter()
    for row in csv_rows(cables_csv):
        if states.get(row["cable"], "unlaid") != "unlaid":
            odd.update([row["a_device"], row["b_device"]])
    return odd
