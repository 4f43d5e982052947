#!/usr/bin/env python3
"""Speed and memory, as ratios measured in one run: ``make bench``, or ``bench/run.py --help``."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import datetime
import json
import os
import platform
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import release
from collectives import collectives
from executors import points
from flit import flit
from mapping import mapping
from measure import HERE, ROOT, Absent, Broken
from messages import messages
from notified import notified
from packets import packets
from record import record
from recorded import recorded
from routing import growth, million, routing
from rows import BENCHMARKS as OTHERS
from rows import Options, Row
from simulated import simulated

BENCHMARKS = {**OTHERS, "routing": routing, "growth": growth, "points": points,
              "messages": messages, "packets": packets, "flit": flit, "mapping": mapping,
              "record": record, "recorded": recorded, "runtime": notified,
              "collectives": collectives, "simulated": simulated}
NAMED = {"million": million}
"""Those that run only when they are named."""

HISTORY = HERE / "out" / "history.jsonl"
HEADER = ("what", "figure", "baseline", "ratio", "target", "met")


def main() -> int:
    """Measure, print the table, append to the history. 0, or 3 when something broke."""
    choice = arguments()
    options = Options(quick=choice.quick, full=choice.full, say=say)
    if not choice.installed:
        try:
            release.use(say)
        except Broken as why:
            say(f"broken: {why}")
            return 3
    load_before, began = os.getloadavg()[0], time.monotonic()
    rows: list[Row] = []
    broken: list[str] = []
    for name in choice.names or BENCHMARKS:
        try:
            rows += (BENCHMARKS | NAMED)[name](options)
        except Absent as why:
            rows.append(Row(name, f"{name}: skipped", None, "s", note=str(why)))
        except Broken as why:
            broken.append(f"{name}: {why}")
            say(f"broken: {broken[-1]}")
    took_s = time.monotonic() - began
    if rows:
        print(table(rows, machine(load_before), took_s))
    record = {
        **machine(load_before), "quick": choice.quick, "full": choice.full,
        "seconds": round(took_s, 1), "rows": [as_json(row) for row in rows], "broken": broken,
    }
    write(record, choice.json)
    return 3 if broken else 0


def say(line: str) -> None:
    """A line of progress, on standard error."""
    print(f"bench: {line}", file=sys.stderr, flush=True)


def arguments() -> argparse.Namespace:
    """The command line."""
    every = BENCHMARKS | NAMED
    known = "\n".join(f"  {name:<10} {f.__doc__.splitlines()[0]}" for name, f in every.items())
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        epilog=f"benchmarks:\n{known}\n\nNothing is asserted: a target that is missed says so.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help=f"benchmarks to run (default: all but {', '.join(NAMED)})")
    parser.add_argument("--quick", action="store_true", help="fewer runs, smaller sizes")
    parser.add_argument("--full", action="store_true", help="also what takes minutes: OpenSM at "
                        "q=19 (about 6 minutes), builds of q=128")
    parser.add_argument("--installed", action="store_true", help="measure the core that is "
                        "installed here, of the build for tests, instead of a release build")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there, too")
    choice = parser.parse_args()
    for name in choice.names:
        if name not in every:
            parser.error(f"NAME: no benchmark is called {name!r}; {', '.join(every)}")
    if choice.json and not choice.json.resolve().parent.is_dir():
        parser.error(f"--json: {choice.json.resolve().parent} is no folder")
    return choice


def machine(load: float) -> dict[str, Any]:
    """Where and on what these figures were measured."""
    model, commit = platform.processor() or platform.machine(), ""
    with contextlib.suppress(OSError):
        named = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
        model = named[1] if named else model
    with contextlib.suppress(OSError):
        commit = subprocess.run(
            ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True
        ).stdout.strip()
    return {
        "date": datetime.date.today().isoformat(),
        "commit": commit or "unknown",
        "build": release.build(),
        "processor": model,
        "cores": os.cpu_count(),
        "load_at_start": round(load, 1),
    }


def table(rows: list[Row], where: dict[str, Any], took_s: float) -> str:
    """The table and its notes, as Markdown that reads well in a terminal."""
    cells = [HEADER, *(line(row, number) for number, row in enumerate(rows, 1))]
    widths = [max(len(cell[i]) for cell in cells) for i in range(len(HEADER))]
    rule = tuple("-" * width for width in widths)
    shown = [
        "| " + " | ".join(map(str.ljust, cell, widths)) + " |"
        for cell in [cells[0], rule, *cells[1:]]
    ]
    notes = []
    for number, row in enumerate(rows, 1):
        said = [f"baseline: {row.baseline_is}"] if row.baseline_is else []
        said += [row.note] if row.note else []
        if said:
            note = f"{number}. {'; '.join(said)}"
            notes.append(textwrap.fill(note, 100, subsequent_indent="   "))
    judged = [row.met for row in rows if row.target]
    end = (
        f"{judged.count(True)} of {len(judged)} targets met. {where['date']}, {where['commit']}, "
        f"{where['build']} build, {where['cores']} x {where['processor']}, "
        f"load {where['load_at_start']} at the start, {took_s:.0f} s."
    )
    return "\n".join([*shown, "", *notes, "", end])


def line(row: Row, number: int) -> tuple[str, ...]:
    """The cells of one row."""
    met = {True: "yes", False: "NO", None: "unclear" if row.target else ""}[row.met]
    figure = f"{amount(row.figure)} {row.unit}" if row.figure is not None else "skipped"
    ratio = f"{row.ratio:.3g}" if row.ratio else ""
    ratio = f"{row.ratio:.0f}" if row.ratio and row.ratio >= 100 else ratio
    return (f"{number}. {row.what}", figure, amount(row.baseline), ratio, row.target, met)


def amount(value: float | None) -> str:
    """Three digits that mean something."""
    if value is None:
        return ""
    return f"{value:.0f}" if value >= 100 else f"{value:#.3g}".rstrip(".")


def as_json(row: Row) -> dict[str, Any]:
    """A row with what is derived from it."""
    return dataclasses.asdict(row) | {"ratio": row.ratio, "target": row.target, "met": row.met}


def write(record: dict[str, Any], also: Path | None) -> None:
    """Append the record to the history, and write it to a file of its own when asked."""
    HISTORY.parent.mkdir(parents=True, exist_ok=True)
    with HISTORY.open("a") as history:
        history.write(json.dumps(record) + "\n")
    if also is not None:
        also.write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
