"""The check of a fabric against its plan: what it needs from files, and what it writes to them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from flyloom._core import RefusalError, Topology
from flyloom.cabling import model
from flyloom.graph import network, read_text

STEPS = ("endpoint cables", *model.STEPS[1:])
"""The cables of each step, by its number."""
WAYS = ("auto", "guid", "name", "structure")
"""What can tell which device is which."""


def load_plan(planned: str) -> tuple[Topology, dict | None]:
    """The planned network and its floor rules, None for the default ones.

    ``planned`` is a network as elsewhere, or a folder of ``flyloom cables``: its ``network.json``,
    and the ``rules`` of its ``plan.json`` where there is one.
    """
    folder = Path(planned)
    if not folder.is_dir():
        return network(planned), None
    if not (folder / "network.json").is_file():
        raise RefusalError(f"{planned}: no network.json in it; give a folder of flyloom cables")
    topology = network(str(folder / "network.json"))
    path = folder / "plan.json"
    if not path.is_file():
        return topology, None
    try:
        document = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise RefusalError(f"{path}: {error}") from None
    rules = document.get("rules") if isinstance(document, dict) else None
    if rules is not None and not isinstance(rules, dict):
        raise RefusalError(f"{path}: rules: not an object; write it anew with flyloom cables")
    return topology, rules


def read_guids(path: Path) -> dict[str, int]:
    """GUIDs by device name from a file of ``device,guid`` lines (hexadecimal, with a header)."""
    rows = list(csv.reader(io.StringIO(read_text(path))))
    guids: dict[str, int] = {}
    if not rows or [cell.strip() for cell in rows[0]] != ["device", "guid"]:
        raise RefusalError(f"{path}: line 1: expected the header device,guid")
    for line, row in enumerate(rows[1:], 2):
        if not row:
            continue
        try:
            name, text = row
            guid = int(text.strip(), 16)
        except ValueError:
            raise RefusalError(f"{path}: line {line}: expected NAME,0xGUID") from None
        if not 0 < guid < 1 << 64:
            raise RefusalError(f"{path}: line {line}: {text} is no GUID; 64 bits, not 0")
        if name in guids:
            raise RefusalError(f"{path}: line {line}: {name} is there twice")
        guids[name] = guid
    return guids


def guids_text(guids: list[list[str]]) -> str:
    """What ``read_guids`` reads."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([["device", "guid"], *guids])
    return out.getvalue()


def summary(found: dict[str, Any]) -> list[tuple[str, Any]]:
    """The counts of a check as lines of a table."""
    told = found["identified"]
    by = {"guid": "GUIDs", "name": "names", "structure": "cables alone"}[told["by"]]
    lines: list[tuple[str, Any]] = [("devices told by", by)]
    if told["equally_good"] > 1:
        lines.append(("  equally good ways", told["equally_good"]))
    keys = ("planned", "correct", "degraded", "misplaced", "lost")
    lines += [(key, found[key]) for key in keys]
    steps = found["progress"]["steps"] if found["progress"] else []
    for name, step in zip(STEPS, steps, strict=False):
        if step["planned"]:
            lines.append((f"  {name}", f"{step['correct']:,} of {step['planned']:,}"))
    return [*lines, ("findings", len(found["findings"]))]
