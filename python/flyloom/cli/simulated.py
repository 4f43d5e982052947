"""What simulators found, as people read it: tables on the screen, rows of CSV files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flyloom.cli.common import emit, print_table

FLIT = (
    ("offered", "offered_load"), ("accepted", "accepted_load"),
    ("latency", "mean_packet_latency_cycles"), ("in network", "mean_network_latency_cycles"),
    ("p99", "p99_packet_latency_cycles"), ("hops", "mean_hops"),
)
PACKET = (
    ("offered", "offered_load"), ("accepted", "accepted_load"),
    ("accepted Gbit/s", "accepted_gbps"),
    ("latency ns", "mean_latency_ns"), ("p99 ns", "p99_latency_ns"),
    ("message ns", "mean_message_latency_ns"),
    ("hops", "mean_hops"), ("detours", "nonminimal_packets"),
    ("packets", "packets"), ("end ns", "end_ns"), ("wall s", "wall_s"),
)
"""Columns of the tables of points."""

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


def cells_of(one: dict[str, Any], columns: tuple[tuple[str, str], ...]) -> list[Any]:
    """The cells of a row; a dash where nothing is known."""
    found = [one.get(key) for _, key in columns]
    return ["-" if value is None else round(value, 4) if isinstance(value, float) else value
            for value in found]


def say_proved(found: dict[str, Any]) -> None:
    """Says it where packets may wait for one another."""
    if not found["verified"]:
        print("not proved free of deadlock")


def say_deadlocks(found: dict[str, Any]) -> None:
    """Says which packets wait for one another, where some do."""
    for point in found["points"]:
        if point["deadlocked"]:
            load = point["offered_load"]
            at = "" if load is None else f"at load {load:g} "
            print(f"{at}packets wait for one another in a cycle:")
            for step in point.get("circle", ()):
                print(f"  {step}")


def notes_of(point: dict[str, Any], in_window: bool) -> list[str]:
    """What a row says of a point beside its figures; it may be saturated where a window of time
    was measured."""
    notes = [word for word in ("saturated", "deadlocked") if point.get(word)]
    if in_window and point["saturated"] is None and point["accepted_load"]:
        notes.append("not known if saturated")
    return notes


def show_flit(found: dict[str, Any]) -> None:
    """Prints what the flit level found."""
    say_proved(found)
    rows = [[*cells_of(point, FLIT), ", ".join(notes_of(point, True))]
            for point in found["points"]]
    print_table([*(heading for heading, _ in FLIT), ""], rows)
    say_deadlocks(found)
    if why := ENDED.get(found.get("ended", "")):
        print(why)
    if "saturation_throughput" in found:
        print(f"saturation throughput  {found['saturation_throughput']:.3f}")


JOBS = (
    ("job", "name"), ("ranks", "ranks"), ("longest ns", "max_comm_ns"),
    ("mean ns", "mean_comm_ns"), ("latency ns", "mean_latency_ns"),
    ("hops", "mean_hops"), ("messages", "messages"), ("packets", "packets"),
    ("bytes", "bytes"),
)
"""Columns of the table of jobs: times are those of communication."""


def rates_of(rates: dict[str, Any]) -> str:
    """The rates of links in words, and whose they are."""
    low, high = (f"{rates[f'{end}_gbps']:.4g}" for end in ("lowest", "highest"))
    said = f"links of {low} Gbit/s" if low == high else f"links of {low} to {high} Gbit/s"
    whose = "as the cables say" if rates["of_cables"] else "as no cable says another rate"
    return f"{said}, {whose}, or --set link.rate_gbps"


def show_packet(found: dict[str, Any]) -> None:
    """Prints what the packet level found."""
    say_proved(found)
    if jobs := found.get("jobs"):
        print_table([name for name, _ in JOBS], [cells_of(job, JOBS) for job in jobs], left={0})
        print()
    asked = found["parameters"]
    in_window = not found.get("jobs") and asked["messages"] is None and asked["end_ns"] is None
    rows = []
    for point in found["points"]:
        rows.append([*cells_of(point, PACKET), ", ".join(notes_of(point, in_window))])
        rows += [[*cells_of(one, PACKET), ", ".join((f"class {number}", *notes_of(one, in_window)))]
                 for number, one in enumerate(point.get("classes", ()), 1)]
    print_table([*(heading for heading, _ in PACKET), ""], rows)
    print(rates_of(found["rates"]))
    say_deadlocks(found)


def show_message(found: dict[str, Any]) -> None:
    """Prints what the message level found."""
    rows = [
        ("finish", f"{found['finish_ns']:,.15g} ns"),
        ("events", f"{found['events']:,}"),
        ("messages", f"{found['messages']:,}"),
    ]
    if network := found.get("network"):
        rows += [
            ("busiest link",
             f"{network['busiest_link'] or 'none'}, {network['busiest_link_use']:.1%}"),
            ("links between switches", f"{network['mean_link_use']:.1%} in the mean"),
            ("busiest endpoint", f"{network['endpoint_use']:.1%}"),
        ]
    if path := found.get("critical_path"):
        parts = [(name, ns) for name, ns in path["parts_ns"].items() if ns]
        whole = sum(ns for _, ns in parts) or 1.0
        words = ", ".join(f"{name} {ns / whole:.1%}" for name, ns in parts)
        rows.append(("critical path", words or "nothing"))
        longer = ", ".join(f"{n} {letter}" for letter, n in path["derivatives"].items() if n)
        rows.append(("on it", longer or "no message"))
    emit(found, False, rows)


SHOWN = {"flit": show_flit, "packet": show_packet, "message": show_message}


def write_csv(found: dict[str, Any], name: str, path: Path) -> None:
    """Writes columns that a simulator found, of all points where there are several."""
    from flyloom.support.files import write_whole
    from flyloom.support.words import csv_text

    points = found.get("points", [found])
    tables = [({"offered_load": point["offered_load"]} if len(points) > 1 else {},
               columns_of(point, name)) for point in points]
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
