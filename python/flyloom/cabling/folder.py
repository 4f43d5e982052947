"""Writes the cabling folder: lists, drawings, labels, and the plan they belong to."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from flyloom._core import RefusalError, Topology, __version__
from flyloom.cabling import lists
from flyloom.cabling.contents import contents_sheets
from flyloom.cabling.floorplan import floor_sheet, floor_sheets
from flyloom.cabling.labels import label_sheets, labels_csv
from flyloom.cabling.model import STEPS, CablingPlan
from flyloom.cabling.pair import pair_sheets, pair_svg
from flyloom.cabling.rack import rack_sheets
from flyloom.draw.pdf import pdf
from flyloom.draw.sheet import SIZES_PT, DrawingSheet
from flyloom.draw.svg import plural
from flyloom.support import files as writing
from flyloom.support.reading import read_json
from flyloom.support.words import csv_text

PAIRS_DRAWN = 2000
"""Above this number of pairs of racks, pairs are not drawn; the list of step 3 has them all."""
OURS = re.compile(r"(racks|pairs|steps)/[^/\\]+\.(svg|csv)")
"""What an earlier run may have left."""

Progress = Callable[[str, int, int], None] | None


def write_folder(
    topology: Topology, plan: Mapping[str, Any], folder: Path, *, paper: str,
    labels: tuple[int, int], spare: float, progress: Progress = None,
) -> dict[str, Any]:
    """Writes everything for ``topology`` and its ``plan`` into ``folder``; counts, file names.

    What an earlier run wrote and this one does not is removed: the old plan.json lists it. All
    are written as one. O(cables) time and memory.
    """
    say = progress or (lambda _what, _done, _total: None)
    cabling = CablingPlan(topology.recipe, plan, topology.switch_names, topology.groups.tolist())
    files: dict[str, str | bytes] = {
        "network.json": topology.to_text("json"), "cables.csv": plan["cables_csv"],
    }
    present = sorted({cable.step for cable in cabling.cables})
    files |= {lists.step_file(s): lists.step_csv(plan["cables_csv"], s) for s in present}
    drawn = len(cabling.pairs) <= PAIRS_DRAWN
    sheets = floor_sheets(cabling, SIZES_PT[paper])
    files["floor.svg"] = floor_sheet(cabling).svg()
    sheets += drawings(cabling, paper, drawn, files, say)
    buy = lists.order(cabling.cables, spare)
    files["order.csv"] = csv_text(lists.ORDER, [list(row.values()) for row in buy])
    for step in present:
        sheets += lists.list_sheets(cabling, step, SIZES_PT[paper])
    sheets += lists.order_sheets(cabling, buy, SIZES_PT[paper])
    files["labels.csv"] = labels_csv(cabling)
    stuck, coded = label_sheets(cabling, *labels)
    on_sheet = (labels[0] * labels[1], len(stuck))
    sheets = contents_sheets(cabling, sheets, SIZES_PT[paper], on_sheet) + sheets
    files["cabling.pdf"] = pdf(sheets, f"Cabling of {cabling.network}", progress=progress)
    files["labels.pdf"] = pdf(stuck, "Labels", numbered=False, progress=progress)
    files["README.txt"] = readme(cabling, drawn)
    counts = {
        "racks": len(cabling.racks), "rack_pairs": len(cabling.pairs),
        "pairs_drawn": len(cabling.pairs) if drawn else 0, "cables": len(cabling.cables),
        "by_step": plan["by_step"], "pages": len(sheets), "label_sheets": len(stuck),
        "labels_with_code": coded,
        "spare": spare, "buy": sum(row["buy"] for row in buy),
        "cost_usd": lists.total_of(row["cost_usd"] for row in buy),
    }
    document = {
        "flyloom": __version__, "network": cabling.network, "rules": plan["rules"],
        "catalog": plan["catalog"],
        "racks": plan["racks"], "switches": plan["switches"], "endpoints": plan["endpoints"],
        "counts": counts, "files": sorted([*files, "plan.json", writing.RECORD]),
    }
    files["plan.json"] = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    writing.write_folder(folder, files, stale=stale(folder, set(files)), say=say)
    return {"folder": str(folder), "network": cabling.network, **counts, "order": buy,
            "files": document["files"]}


def drawings(
    cabling: CablingPlan, paper: str, drawn: bool, files: dict[str, str | bytes],
    say: Callable[[str, int, int], None],
) -> list[DrawingSheet]:
    """Adds the drawings of racks, and of pairs if ``drawn``, to ``files``; their pages."""
    upright = SIZES_PT[paper]
    flat = (upright[1], upright[0]) if paper == "a3" else upright
    sheets: list[DrawingSheet] = []
    for i, rack in enumerate(cabling.racks.values()):
        say("racks", i, len(cabling.racks))
        files[f"racks/{rack.name}.svg"] = rack_sheets(cabling, rack, None)[0].svg()
        sheets += rack_sheets(cabling, rack, upright)
    for i, pair in enumerate(cabling.pairs if drawn else ()):
        say("pairs of racks", i, len(cabling.pairs))
        files[f"pairs/{pair[0]}-{pair[1]}.svg"] = pair_svg(cabling, pair)
    if drawn:
        sheets += pair_sheets(cabling, flat)
    return sheets


def stale(folder: Path, keep: set[str]) -> list[str]:
    """Files in ``folder`` that an earlier run wrote, by its plan.json, and that are not kept."""
    try:
        before = read_json(folder / "plan.json")["files"]
        names = [name for name in before if OURS.fullmatch(name)]
    except (RefusalError, KeyError, TypeError):
        return []
    return sorted(set(names) - keep)


README = """\
Cabling of {network}

{racks}, {cables}. Two people, one at each end, one step after the other.

Labels
  A label is rack, unit and port: R03-U12-P07 is port 7 of the device whose lowest unit is 12 in
  rack R03; units count from 1 at the bottom. What stands beside its rack has its name in place of
  the unit. Both ends of a cable carry a label with its own end in bold and the far end below
  (labels.pdf); its code says the cable's name and both ends, a line each. Print all pages at
  100 %, not fitted to the page. Crosses show where to cut plain paper.

What to do
  Buy by order.csv. Label both ends of every cable. Then lay the cables step by step: read one
  from its list, plug in both ends, tick it. After a step count the cables of each rack, below.
{steps}
  The port of a switch says where its cable goes (racks/): in a regular network the boxes under
  each other name the same rack. Whatever breaks the pattern of a drawing is most likely a mistake.

How many there must be
{counts}
Check
  When the switches are up, `flyloom verify-cables` compares the fabric with this folder and names
  every cable that is missing, swapped or in a wrong port, and how to repair it:

      flyloom verify-cables FOLDER

Files
  cabling.pdf   everything to print: contents, floor plan, racks, pairs of racks, work lists, order
  labels.pdf    labels for both ends of every cable; labels.csv is the same as a table
  cables.csv    every cable with both ports, kind, length and price; steps/ has it step by step
  floor.svg     the room from above, with the cables of each rack
  racks/        a drawing of each rack with all its ports
  pairs/        {pairs}
  order.csv     what to buy
  network.json, plan.json   the network and its floor, for verify-cables
"""

def runs_alike(racks: Sequence[tuple[str, tuple[int, ...]]]) -> list[tuple[str, tuple[int, ...]]]:
    """Names of racks with their numbers, one after the other; racks of the same numbers in one."""
    found = []
    for numbers, run in groupby(racks, lambda rack: rack[1]):
        names = [name for name, _ in run]
        words = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}, each"
        found.append((words, numbers))
    return found


HOW = (
    "from endpoints to switches. The ports of racks/ name the endpoints.",
    "inside the groups of a rack: the lines to the left of a front in racks/.",
    "between the groups of a rack: the dashed lines to the right of a front.",
    "between racks, a bundle for each pair of racks: pairs/.",
)


def readme(cabling: CablingPlan, drawn: bool) -> str:
    """What two people need to know, as text."""
    steps = Counter(cable.step for cable in cabling.cables)
    lines = [
        f"  [ ] Step {s}: {plural(n, 'cable')} {HOW[s]}\n      List: {lists.step_file(s)}"
        for s, n in sorted(steps.items())
    ]
    inside = {name: Counter(c.step for c in rack.cables) for name, rack in cabling.racks.items()}
    of_endpoints = Counter(c.a.rack for c in cabling.cables if c.step == 0)
    between = Counter(
        rack for pair, plugs in cabling.pairs.items() for p in plugs if p.cable.step
        for rack in pair
    )
    alike = runs_alike([
        (name, (of_endpoints[name], by[1], by[2], between[name])) for name, by in inside.items()
    ])
    wide = max([4, *(len(name) for name, _ in alike)])
    counts = [f"  {'rack':<{wide}}" + "".join(f"{word:>15}" for word in STEPS)]
    counts += [
        f"  {name:<{wide}}" + "".join(f"{n:>15,}" for n in numbers) for name, numbers in alike
    ]
    pairs = "a drawing of each pair of racks with cables between them"
    if not drawn:
        pairs = (f"none: {len(cabling.pairs):,} pairs are too many to draw; "
                 "step 3 of cabling.pdf lists them pair by pair")
    return README.format(
        network=" ".join(cabling.network.split()), steps="\n".join(lines) + "\n",
        racks=plural(len(cabling.racks), "rack"), cables=plural(len(cabling.cables), "cable"),
        counts="\n".join(counts) + "\n", pairs=pairs,
    )
