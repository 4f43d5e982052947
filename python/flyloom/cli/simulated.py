"""What simulators found, as people read it: tables on the screen, rows of CSV files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from flyloom.cli.busiest import after_points
from flyloom.cli.common import emit, print_table
from flyloom.report.on_path import on_path
from flyloom.verbs.runs import (
    apart,
    costs_said,
    packet_costs_said,
    rates_said,
    short_said,
)

FLIT = (
    ("offered", "offered_load"), ("accepted", "accepted_load"),
    ("latency", "mean_packet_latency_cycles"), ("in network", "mean_network_latency_cycles"),
    ("p99 latency", "p99_packet_latency_cycles"), ("hops", "mean_hops"),
)
PACKET = (
    ("offered", "offered_load"), ("accepted", "accepted_load"),
    ("accepted Gbit/s", "accepted_gbps"),
    ("latency ns", "mean_latency_ns"), ("p99 latency ns", "p99_latency_ns"),
    ("message ns", "mean_message_latency_ns"),
    ("hops", "mean_hops"), ("detours", "nonminimal_packets"),
    ("packets", "packets"), ("end ns", "end_ns"), ("wall s", "wall_s"),
)
"""Columns of the tables of points."""

Columns = tuple[tuple[str, str], ...]
"""Columns of a table: the heading of each, and the figure in it."""

ENDED = {
    "max_samples": "ended after max_samples periods: latency or accepted load still changed from"
                   " one to the next",
    "not_warm": "ended after max_samples periods, while it still warmed up: its figures are of the"
                " last of them",
    "latency_thres": "ended early: the mean latency passed latency_thres, as where less arrives"
                     " than is offered; its figures are of the periods until then",
    "deadlock": "ended early: packets wait for one another",
    "not_drained": "not all measured packets have arrived: none of them did for 100,000 cycles",
}
"""Why the periods of a configuration of BookSim ended, but for those that converged."""


def cells_of(one: dict[str, Any], columns: Columns) -> list[Any]:
    """The cells of a row; a dash where nothing is known."""
    found = [one.get(key) for _, key in columns]
    return ["-" if value is None else round(value, 4) if isinstance(value, float) else value
            for value in found]


def say_deadlocks(found: dict[str, Any]) -> None:
    """Prints which packets wait for one another, where some do."""
    for point in found["points"]:
        if point["deadlocked"]:
            load = point["offered_load"]
            at = "" if load is None else f"at load {load:g} "
            print(f"{at}packets wait for one another in a cycle:")
            for step in point.get("circle", ()):
                print(f"  {step}")


def runs_of(found: dict[str, Any]) -> list[tuple[list[str], dict[str, Any]]]:
    """What was found, by run: what tells it from the others, and its record."""
    runs = found.get("curves", [found])
    return list(zip(apart(runs)[1], runs, strict=True))


def over_seeds(points: list[dict[str, Any]], columns: Columns) -> Columns:
    """The columns of a table of points, each with half the 95 % confidence interval behind it where
    it has one."""
    known = {name for point in points for name in point.get("over_seeds") or {}}
    return tuple(one for heading, name in columns for one in (
        (heading, name), *([("±", f"{name}_half")] if name in known else [])
    ))


def with_halves(point: dict[str, Any]) -> dict[str, Any]:
    """A point with half the width of its confidence intervals, as :func:`over_seeds` names them."""
    spreads = {name: spread["confidence_interval_95"]
               for name, spread in (point.get("over_seeds") or {}).items()
               if isinstance(spread, dict)}
    return {**point, **{f"{name}_half": (high - low) / 2 for name, (low, high) in spreads.items()}}


def say_short(runs: list[dict[str, Any]]) -> None:
    """Prints that receives are smaller than their messages, of the first run in which some are."""
    if known := next((short for run in runs if (short := run.get("short_receives"))), None):
        print(short_said(known))


SAME = "the seed makes no difference here: figures of one run"
"""What is printed below figures where all seeds that were asked for give the same."""


def say_undefined(runs: list[tuple[list[str], dict[str, Any]]]) -> None:
    """Prints in how many decisions of each run a score was not a number, where it was in some."""
    for words, run in runs:
        if count := run.get("undefined_decisions"):
            of = f" ({', '.join(words)})" if words else ""
            print(f"in {count:,} decisions a score was not a number, such as 0 / 0, which is never"
                  f" better than another{of}")


def say_same(runs: list[tuple[list[str], dict[str, Any]]]) -> None:
    """Prints of which runs the seed makes no difference, where several seeds were asked for."""
    same = []
    for words, run in runs:
        asked = run.get("parameters", {}).get("seeds", run.get("seeds", 1))
        if asked > 1 and not any(one.get("over_seeds") for one in run.get("points", [run])):
            same.append(", ".join(words))
    if same:
        print(SAME if len(same) == len(runs) else f"{SAME} ({'; '.join(same)})")


def notes_of(point: dict[str, Any], in_window: bool) -> list[str]:
    """What a row says of a point beside its figures; it may be saturated where a window of time
    was measured."""
    notes = [word for word in ("saturated", "deadlocked") if point.get(word)]
    if in_window and point["saturated"] is None and point["accepted_load"]:
        notes.append("not known if saturated")
    return notes


Row = tuple[list[str], dict[str, Any], list[str]]
"""A row of a table: what tells its run from the others, its figures, and notes on them."""


def print_rows(found: dict[str, Any], rows: list[Row], columns: Columns, *heads: str) -> None:
    """Prints a table; ``heads`` are of the words that rows have besides those on their run."""
    columns = over_seeds([figures for _, figures, _ in rows], columns)
    heads = (*apart(found.get("curves", [found]))[0], *heads)
    cells = [[*words, *cells_of(with_halves(figures), columns), ", ".join(notes)]
             for words, figures, notes in rows]
    print_table([*heads, *(heading for heading, _ in columns), ""], cells,
                left=set(range(len(heads))))


def rows_of(words: list[str], run: dict[str, Any]) -> Iterator[Row]:
    """The points of a run, each with its classes of traffic behind it."""
    asked = run.get("parameters", {})
    ended_by_count = any(asked.get(name) is not None for name in ("messages", "end_ns"))
    in_window = not run.get("jobs") and not ended_by_count
    for point in run["points"]:
        yield words, point, notes_of(point, in_window)
        for number, one in enumerate(point.get("classes", ()), 1):
            yield words, one, [f"class {number}", *notes_of(one, in_window)]


def show_points(found: dict[str, Any], columns: Columns) -> None:
    """Prints what the flit level or the packet level found."""
    if not found["verified"]:
        print("not proved free of deadlock")
    runs = runs_of(found)
    jobs: list[Row] = [([*words, job["name"]], job, []) for words, run in runs
                       for job in run.get("jobs", ())]
    if jobs:
        print_rows(found, jobs, JOBS, "job")
        print()
    print_rows(found, [row for words, run in runs for row in rows_of(words, run)], columns)
    if rates := runs[0][1].get("rates"):
        print(f"links of {rates_said(rates)}")
    if jobs:
        print(f"costs: {packet_costs_said(runs[0][1]['parameters'])}")
    say_short([run for _, run in runs])
    say_undefined(runs)
    say_same(runs)
    for words, run in runs:
        say_deadlocks(run)
        if why := ENDED.get(run.get("ended", "")):
            print(why)
        if "saturation_throughput" in run:
            of = f"  {', '.join(words)}" if words else ""
            print(f"saturation throughput  {run['saturation_throughput']:.3f}{of}")


def show_packets(found: dict[str, Any]) -> None:
    """Prints what the packet level found, and the busiest links of one run."""
    show_points(found, PACKET)
    after_points(found)


JOBS = (
    ("ranks", "ranks"), ("longest ns", "max_comm_ns"),
    ("mean ns", "mean_comm_ns"), ("latency ns", "mean_latency_ns"),
    ("hops", "mean_hops"), ("messages", "messages"), ("packets", "packets"),
    ("bytes", "bytes"),
)
"""Columns of the table of jobs: times are those of communication."""


MESSAGE = (
    ("finish ns", "finish_ns"), ("mean finish ns", "mean_finish_ns"), ("messages", "messages"),
    ("busiest link", "busiest_link_use"), ("links in the mean", "mean_link_use"),
)
"""Columns of the table of several runs of messages."""


def show_message(found: dict[str, Any]) -> None:
    """Prints what the message level found."""
    if "curves" in found or found.get("over_seeds"):
        runs = runs_of(found)
        rows: list[Row] = [
            (words, {**(run.get("network") or {}), **run}, []) for words, run in runs
        ]
        print_rows(found, rows, MESSAGE)
        first = runs[0][1]
        if rates := first.get("rates"):
            print(f"links of {rates_said(rates)}")
        print(f"costs: {costs_said(first, 'network' in first)}")
        say_short([run for _, run in runs])
        say_same(runs)
        return
    said = [
        ("finish", f"{found['finish_ns']:,.15g} ns"),
        ("events", f"{found['events']:,}"),
        ("messages", f"{found['messages']:,}"),
    ]
    if network := found.get("network"):
        said += [
            ("busiest link",
             f"{network['busiest_link'] or 'none'}, {network['busiest_link_use']:.1%}"),
            ("links between switches", f"{network['mean_link_use']:.1%} in the mean"),
            ("busiest endpoint", f"{network['endpoint_use']:.1%}"),
            ("rate of links", rates_said(found["rates"])),
        ]
    if path := found.get("critical_path"):
        parts = [(name, ns) for name, ns in path["parts_ns"].items() if ns]
        whole = sum(ns for _, ns in parts) or 1.0
        words = ", ".join(f"{name} {ns / whole:.1%}" for name, ns in parts)
        said.append(("critical path", words or "nothing"))
        said.append(("on it", on_path(path["derivatives"])))
    said.append(("costs", costs_said(found, "network" in found)))
    emit(found, False, said)
    say_short([found])
    say_same([([], found)])


SHOWN: dict[str, Callable[[dict[str, Any]], None]] = {
    "flit": partial(show_points, columns=FLIT), "packet": show_packets,
    "message": show_message,
}
"""What prints that which a simulator found, by its level."""


def write_csv(found: dict[str, Any], name: str, path: Path) -> None:
    """Writes columns that a simulator found, of all points where there are several."""
    from flyloom.support.files import write_whole
    from flyloom.support.words import csv_text

    runs = found.get("curves", [found])
    heads, words = apart(runs)
    tables = []
    for said, run in zip(words, runs, strict=True):
        points = run.get("points", [run])
        for point in points:
            load = {"offered_load": point["offered_load"]} if len(points) > 1 else {}
            about = {**dict(zip(heads, said, strict=True)), **load}
            tables.append((about, columns_of(point, name)))
    columns = [*tables[0][0], *tables[0][1]]
    rows = [
        [*beside.values(), *(shortest(cell) for cell in cells)]
        for beside, table in tables for cells in zip(*table.values(), strict=True)
    ]
    write_whole(path, csv_text(columns, rows))


def columns_of(found: dict[str, Any], name: str) -> dict[str, Any]:
    """The columns of that name; of messages the ends of ranks are a list alone."""
    if name == "ranks" and (ends := found.get("rank_finish_ns")) is not None:
        return {"rank": range(len(ends)), "finish_ns": ends}
    return dict(found[name])


def shortest(cell: Any) -> Any:
    """A real number with the digits that it has, whatever array it comes from."""
    return f"{cell:.15g}" if isinstance(cell, float) else cell
