"""Keeps finished runs of messages: `.venv/bin/python docs/pictures/message_figures.py out/*`.

The folders are those of `flyloom run examples/messages/...`; their times go to
message_figures.json, and make.py draws those of DRAWN. The table of docs/message-figures.md is
printed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from flyloom.report import axis, build, check

KEPT = Path(__file__).with_name("message_figures.json")
FIELDS = ("curve", "axis", "at", "finish_ns")
DRAWN = ("messages_alltoall", "messages_random_pairs", "messages_resnet_152")
MOST_RANKS = 200


def rows(folder: Path) -> list[list]:
    """The runs of a finished experiment, as its report has them."""
    data = check.check(build.data(json.loads((folder / "results.json").read_text())))
    made = axis.rows(data["messages"], [network["label"] for network in data["networks"]])
    return [[row[field] for field in FIELDS] for row in made]


def kept() -> dict[str, list[dict]]:
    """All that is kept, by the name of the experiment, as the chart takes it."""
    found = json.loads(KEPT.read_text())
    return {name: [dict(zip(FIELDS, row, strict=True)) for row in found[name]] for name in found}


def table() -> list[str]:
    """The lines of the page's table: milliseconds of all ranks."""
    lines = []
    for name, made in kept().items():
        cells = [f"{row['finish_ns'] / 1e6:.4g}" for row in made if row["at"] == MOST_RANKS]
        lines.append(f"| `{name.removeprefix('messages_')}` | {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    from keeping import keep

    known = {folder.name: rows(folder) for folder in map(Path, sys.argv[1:])}
    keep(KEPT, known)
    print("\n".join(table()))
