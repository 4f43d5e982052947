"""The check of a fabric against its plan: what it needs from files, and what it writes to them."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from flyloom._core import RefusalError, Topology, identify
from flyloom.cabling import model
from flyloom.inputs.networks import network
from flyloom.support.files import of_one_writing
from flyloom.support.reading import parsed_json, read_rows, read_text, shown
from flyloom.support.words import csv_text, uncell

STEPS = ("endpoint cables", *model.STEPS[1:])
"""The cables of each step, by its number."""
METHODS = ("auto", "guid", "name", "structure")
"""The methods that can identify the devices."""


def load_plan(planned: str) -> tuple[Topology, dict[str, Any] | None]:
    """The planned network and its floor rules, None where it has no floor of its own.

    ``planned`` is a network as elsewhere, or a folder of ``flyloom cables``: its ``network.json``,
    and the ``rules`` of its ``plan.json``, the default ones where there is none.
    """
    folder = Path(planned)
    if not os.path.isdir(folder):  # False, too, for names that no folder can have
        return network(planned), None
    if not os.path.exists(folder / "network.json"):
        raise RefusalError(f"{planned}: no network.json in it; give a folder of flyloom cables")
    path = folder / "plan.json"
    if not os.path.exists(path):
        return network(str(folder / "network.json")), {}
    # only these two: people write into the lists
    with of_one_writing(folder, ("network.json", "plan.json"), others=False):
        topology, text = network(str(folder / "network.json")), read_text(path)
    document = parsed_json(text, path, "a plan of flyloom cables")
    rules = document.get("rules", {}) if isinstance(document, dict) else None
    if not isinstance(rules, dict):
        raise RefusalError(f"{path}: rules: not an object; write it anew with flyloom cables")
    return topology, rules


LARGE = 20_000
"""Links of a fabric above which nobody waits for the network that it is."""


def what_fits(plan: Topology, found: Topology, error: RefusalError) -> str:
    """A clause on the network that a fabric is, where it was refused as that of another plan; else
    empty. Where it is the planned network with its cables in other ports, the clause says so."""
    if not str(error).startswith("found: ") or not (named := _named(found)):
        return ""
    planned = re.sub(r",gbps=[^,]*", "", plan.recipe)
    if (member := _member(found)) is None or planned != member["network"]:
        return f"; {named}"
    return (f"; {named}: the planned network, with its cables in other ports than the plan's, and"
            " flyloom identify lists what differs from it")


def misfit(found: Topology, document: dict[str, Any]) -> list[str]:
    """A line on the network that a fabric is, where most cables are not as planned; else none."""
    if document["unlaid"] or 2 * document["correct"] >= document["planned"]:
        return []
    named = _named(found)
    return [f"most cables are not as planned: {named}"] if named else []


def _named(found: Topology) -> str:
    """Which network a fabric is, in words; empty where it is none, or large."""
    member = _member(found)
    return f"this is {member['words']}" if member else ""


@lru_cache(maxsize=1)
def _member(found: Topology) -> dict[str, Any] | None:
    """The network of a family that a fabric is; None where it is none, or large."""
    members = identify(found, 1) if found.links <= LARGE else []
    return members[0] if members else None


def read_guids(path: Path) -> dict[str, int]:
    """GUIDs by device name from a file of ``device,guid`` lines (hexadecimal, with a header)."""
    rows = read_rows(path)
    guids: dict[str, int] = {}
    if not rows or [cell.strip() for cell in rows[0][1]] != ["device", "guid"]:
        raise RefusalError(f"{path}: line 1: expected the header device,guid")
    for line, row in rows[1:]:
        if len(row) != 2 or not re.fullmatch(r"\s*(0[xX])?[0-9a-fA-F]+\s*", row[1]):
            raise RefusalError(f"{path}: line {line}: expected NAME,0xGUID")
        name, guid = uncell(row[0]), int(row[1], 16)
        if not 0 < guid < 1 << 64:
            raise RefusalError(f"{path}: line {line}: {shown(row[1])} is no GUID; 64 bits, not 0")
        if name in guids:
            raise RefusalError(f"{path}: line {line}: {shown(name)} is there twice")
        guids[name] = guid
    return guids


def guids_text(guids: list[list[str]]) -> str:
    """GUIDs as the text that ``read_guids`` reads."""
    return csv_text(["device", "guid"], guids)


def all_cables(plan: Topology) -> set[str]:
    """The names of all cables of a plan, as a check names them."""
    links = {f"link-{i}" for i in range(len(plan.link_table["a_switch"]))}
    return links | {f"terminal-{i}" for i in range(len(plan.attachments))}


LAID = ("correct", "degraded")
"""The states of a cable that is in its place."""


def laid(plan: Topology, found: dict[str, Any]) -> set[str]:
    """The names of the cables that a check found in their places."""
    return all_cables(plan) - {name for name, is_ in found["cables"].items() if is_ not in LAID}


def words(finding: dict[str, Any], verbose: bool = False) -> list[str]:
    """A finding as lines of text: a short one, with a table where it takes several moves, or with
    ``verbose`` the whole sentence."""
    if verbose:
        return [f"{finding['what']}; {finding['mend']}"]
    table = [(f"{i}", *row) for i, row in enumerate(finding["table"], 1)]
    wide = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [finding["line"], *(
        "  " + "  ".join(f"{cell:<{w}}" for cell, w in zip(row, wide, strict=True)).rstrip()
        for row in table
    )]


def hint(found: dict[str, Any], ignore_ports: bool) -> list[str]:
    """A line of advice where nothing but the order of ports differs from the plan; else no line."""
    n = found["on_other_ports"]
    if ignore_ports or not n or n < found["misplaced"]:
        return []
    return [f"{n:,} cables join the right devices on other ports than planned: --ignore-ports "
            "takes them as right"]


def _steps(found: dict[str, Any]) -> list[tuple[str, dict[str, int]]]:
    """The cables by step, with its name. Where the plan has no racks of its own and nothing is left
    to be laid, cables of one rack are counted with those between racks."""
    progress = found["progress"]
    if not progress:
        return []
    steps = list(zip(STEPS, progress["steps"], strict=True))
    if progress["racks"] or found["unlaid"]:
        return steps
    (_, one), (_, other) = steps[2:]
    return [*steps[:2], ("between groups", {key: one[key] + other[key] for key in one})]


def summary(found: dict[str, Any], ignore_ports: bool = False) -> list[tuple[str, Any]]:
    """The counts of a check as lines of a table."""
    identified = found["identified"]
    by = {"guid": "GUIDs", "name": "names", "structure": "cables alone"}[identified["by"]]
    lines: list[tuple[str, Any]] = [("identified by", by)]
    if identified["equally_good"] > 1:
        lines.append(("  equally good", identified["equally_good"]))
    lines += [("planned", found["planned"]), ("correct", found["correct"])]
    if ignore_ports:
        lines.append(("  on other ports", found["on_other_ports"]))
    lines += [(key, found[key]) for key in ("degraded", "misplaced", "lost")]
    if found["missing"]:
        lines.append(("  unplugged", found["missing"]))
    if found["unlaid"]:
        lines.append(("not yet laid", found["unlaid"]))
    for name, step in _steps(found):
        if step["planned"]:
            lines.append((f"  {name}", f"{step['correct']:,} of {step['planned']:,}"))
    return [*lines, ("findings", len(found["findings"]))]
