"""The busiest channels of a result, as commands print them and write them as CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from flyloom.cli.common import print_table, write_csv

COLUMNS = (("from", "from"), ("port", "port"), ("to", "to"), ("port", "to_port"))
"""The columns of the ends of a channel: the heading of each, and its key."""

BusiestCsv = Annotated[
    str | None,
    typer.Option("--csv", metavar="FILE", help="the busiest channels in a table as CSV into a file,"
                                               " or - for standard output instead of what is"
                                               " printed"),
]


def show_busiest(channels: Sequence[Mapping[str, Any]], figure: str, title: str) -> None:
    """Prints a table of channels, the busiest first, with their ``figure`` (its key and heading);
    nothing where there are none."""
    if not channels:
        return
    print(f"\n{title}")
    heads = [*(heading for heading, _ in COLUMNS), figure]
    keys = [*(key for _, key in COLUMNS), figure]
    print_table(heads, [[_plain(channel[key]) for key in keys] for channel in channels],
                left=(0, 2))


def _plain(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value


def busiest_csv(rows: Sequence[Mapping[str, Any]], figure: str, to: str) -> None:
    """Writes channels as CSV into a file, or to standard output where ``to`` is ``-``; what a row
    has besides the ends of its channel and their ``figure`` comes first."""
    from flyloom.support.words import csv_text

    ends = [key for _, key in COLUMNS]
    beside = [key for key in (rows[0] if rows else ()) if key not in (*ends, figure)]
    keys = [*beside, *ends, figure]
    write_csv(to, csv_text(keys, [
        [f"{row[key]:.15g}" if isinstance(row[key], float) else row[key] for key in keys]
        for row in rows
    ]))


def of_points(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The busiest links of all points of a simulation, each with what tells its run and point from
    the others."""
    from flyloom.verbs.runs import apart

    runs = found.get("curves", [found])
    heads, words = apart(runs)
    return [
        {**dict(zip(heads, said, strict=True)),
         **({"offered_load": point["offered_load"]} if len(run["points"]) > 1 else {}), **link}
        for said, run in zip(words, runs, strict=True) for point in run["points"]
        for link in point["busiest_links"]
    ]


def after_points(found: Mapping[str, Any]) -> None:
    """Prints the busiest links of the last point of a simulation of one run."""
    if "curves" in found or not found["points"]:
        return
    last = found["points"][-1]
    load = last["offered_load"]
    at = f" at load {load:g}" if len(found["points"]) > 1 and load is not None else ""
    show_busiest(last["busiest_links"], "use", f"busiest links{at}")


def after_figures(found: Mapping[str, Any], csv: str | None, as_json: bool) -> None:
    """Writes the busiest channels of a measure's record where ``csv`` asks for it, and prints them
    below its figures, but for ``--json``."""
    channels = found["busiest_channels"]
    if csv is not None:
        busiest_csv(channels, "load", csv)
    if not as_json and csv != "-":
        show_busiest(channels, "load", "busiest channels")
        if csv is not None:
            print(f"written to {csv}")
