"""When adaptive selections leave the minimal path, and what that costs and brings.

    .venv/bin/python docs/pictures/adaptive_thresholds.py

Short runs of small networks: mean switches and latency at a low load, where hardly a packet should
leave its minimal path, and what is accepted at a load of 1. Two rules are compared: a detour must
be better by a threshold (`choosing.threshold`), or more than a number of flits must be queued for
the minimal path (`choosing.least_queue`). What is found goes to adaptive_thresholds.json, and what
is there is not run again. Prints the table of docs/flit-figures.md; with --full all numbers and
traffics. Some minutes of one processor.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import flyloom

KEPT = Path(__file__).with_name("adaptive_thresholds.json")
NETWORKS: dict[str, tuple[str, dict[str, Any]]] = {
    "Slim Fly q=5": ("slim_fly:q=5,p=4", {}),
    "the same, cables of 20 cycles": (
        "slim_fly:q=5,p=4", {"link_latency_cycles": 20, "switch.buffer_flits": 64}),
    "the same, packets of 8 flits": ("slim_fly:q=5,p=4", {"packet_flits": "8"}),
    "Slim Fly q=7": ("slim_fly:q=7,p=5", {}),
    "dragonfly h=2": ("dragonfly:h=2", {}),
    "HyperX 4x4": ("hyperx:shape=4x4,p=4", {}),
    "megafly": ("megafly:leaves=3,spines=3,p=3,h=3,g=10", {}),
}
"""Networks, and parameters of the flit level; the first of each family are those of packets."""
PACKETS = ("Slim Fly q=5", "dragonfly h=2", "HyperX 4x4", "megafly")
TRAFFICS = ("uniform", "worst_case", "permutation", "shift")
SELECTIONS = ("ugal_l", "par", "ugal_g")
RULES = {"threshold": (0, 2, 4, 8, 12, 16, 24, 32, 64), "least_queue": (2, 4, 6, 8, None)}
"""The rules, and their numbers; none is the default."""
LENGTH = {"run.warmup_cycles": 800, "run.measure_cycles": 1200}
WINDOW = {"run.warmup_ns": 10_000, "run.measure_ns": 40_000}


def found(net: str, traffic: str, selection: str, choosing: dict[str, int]) -> list[float]:
    """Switches and latency in cycles at a load of 0.1, accepted load at 1."""
    inline, more = NETWORKS[net]
    settings = {**LENGTH, **more, "switch.virtual_channels": 10, **choosing}
    low, high = flyloom.simulate(
        inline, "flit", load=[0.1, 1.0], traffic=named(inline, traffic), selection=selection,
        settings=settings,
    ).points
    return [round(value, 4) for value in (
        low["mean_switches"], low["mean_packet_latency_cycles"], high["accepted_load"])]


def found_of_packets(
    net: str, traffic: str, selection: str, choosing: dict[str, int]
) -> list[float]:
    """The same of packets: switches and latency in ns at a load of 0.2, accepted load at 1."""
    inline = NETWORKS[net][0]
    settings = {**WINDOW, "switch.virtual_channels": 10, **choosing}
    low, high = flyloom.simulate(
        inline, "packet", load=[0.2, 1.0], traffic=named(inline, traffic), selection=selection,
        settings=settings,
    ).points
    return [round(value, 4) for value in (
        low["mean_switches"], low["mean_latency_ns"], high["accepted_load"])]


def named(inline: str, traffic: str) -> str:
    """The pattern; a shift is one by half of the endpoints."""
    return f"shift:{flyloom.network(inline).endpoints // 2}" if traffic == "shift" else traffic


def wanted() -> list[tuple[str, str, str, str, int | None]]:
    """What is run: minimal selection, and each of the others by each rule."""
    alone = [(net, traffic, "minimal", "", None) for net in NETWORKS for traffic in TRAFFICS]
    return alone + [
        (net, traffic, selection, rule, number)
        for rule, numbers in RULES.items() for selection in SELECTIONS
        for net in NETWORKS for traffic in TRAFFICS for number in numbers
    ]


def name_of(net: str, traffic: str, selection: str, rule: str, number: int | None) -> str:
    """What a run is kept by."""
    how = f", {rule} {'default' if number is None else number}" if rule else ""
    return f"{net}, {traffic}, {selection}{how}"


def run() -> dict[str, list[list[float]]]:
    """All that is wanted, with what is kept of earlier runs."""
    from keeping import keep

    known = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    for net, traffic, selection, rule, number in wanted():
        choosing: dict[str, int] = {}
        if number is not None:
            choosing = {f"choosing.{rule}": number}
        if rule == "threshold":
            choosing["choosing.least_queue"] = 0
        name = name_of(net, traffic, selection, rule, number)
        if name not in known:
            known[name] = [found(net, traffic, selection, choosing)]
            keep(KEPT, known)
        name = f"packets: {name}"
        if is_of_packets(net, selection, rule, number) and name not in known:
            known[name] = [found_of_packets(net, traffic, selection, choosing)]
            keep(KEPT, known)
    return known


def is_of_packets(net: str, selection: str, rule: str, number: int | None) -> bool:
    """Whether it is run of packets too: there is no UGAL-G, and some thresholds will do."""
    return (net in PACKETS and selection != "ugal_g"
            and (rule != "threshold" or number in (0, 4, 12)))


COLUMNS = (("threshold", 0), ("threshold", 4), ("threshold", 12), ("least_queue", None))
"""What the page shows of the rules."""


def page(known: dict[str, list[list[float]]]) -> Iterator[str]:
    """The rows of the page: switches under a low uniform load, and what is accepted of a full load
    under the worst case."""
    for level in ("", "packets: "):
        for net in PACKETS if level else NETWORKS:
            for selection in SELECTIONS[:2] if level else SELECTIONS:
                cells = []
                for one, *column in (("minimal", "", None), *((selection, *c) for c in COLUMNS)):
                    low, high = (known[level + name_of(net, traffic, one, *column)][0]
                                 for traffic in ("uniform", "worst_case"))
                    cells.append(f"{low[0]:.2f}, {high[2]:.3f}")
                yield f"| {level}{net} | `{selection}` | {' | '.join(cells)} |"


def tables(known: dict[str, list[list[float]]]) -> Iterator[str]:
    """All that is kept: a row for each traffic, network and selection, by the numbers of the
    rules."""
    columns = [(rule, number) for rule, numbers in RULES.items() for number in numbers]
    for level in ("", "packets: "):
        for traffic in TRAFFICS:
            for net in PACKETS if level else NETWORKS:
                for selection in SELECTIONS[:2] if level else SELECTIONS:
                    names = [name_of(net, traffic, "minimal", "", None)]
                    names += [name_of(net, traffic, selection, *column) for column in columns]
                    cells = [cell(known.get(level + name)) for name in names]
                    yield f"| {level}{net} | {traffic} | {selection} | {' | '.join(cells)} |"


def cell(kept: list[list[float]] | None) -> str:
    """The figures of a run."""
    if kept is None:
        return "-"
    [(switches, latency, accepted)] = kept
    return f"{switches:.2f}, {latency:,.1f}, {accepted:.3f}"


if __name__ == "__main__":
    print("\n".join((tables if "--full" in sys.argv else page)(run())))
