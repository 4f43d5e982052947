"""What lists and drawings are made from: the plan's cables, racks and pairs of racks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from flyloom.support.words import csv_rows

STEPS = ("endpoints", "inside groups", "inside racks", "between racks")
"""What is laid in each step, by its number."""


@dataclass(frozen=True, slots=True)
class CableEnd:
    """One end of a cable; ``unit`` is None where the device stands beside its rack."""

    rack: str
    unit: int | None
    device: str
    port: int
    label: str
    is_switch: bool

    @property
    def height(self) -> int:
        """The unit, 0 for what stands beside the rack: a key for sorting."""
        return self.unit or 0


@dataclass(frozen=True, slots=True)
class Cable:
    """A cable to lay, from end ``a`` to end ``b``; metres, Gbit/s and US dollars."""

    name: str
    step: int
    kind: str
    length_m: float
    stock_m: float
    rate_gbps: float
    cost_usd: float
    a: CableEnd
    b: CableEnd


@dataclass(frozen=True, slots=True)
class CablePlug:
    """A cable as one of its ends sees it."""

    cable: Cable
    own: CableEnd
    far: CableEnd

    @property
    def words(self) -> str:
        """Both labels, as a tool tip has them."""
        return f"{self.own.label} - {self.far.label}"


@dataclass(slots=True)
class Switch:
    """A switch in its rack, with what is in its ports."""

    name: str
    unit: int
    group: int
    plugs: dict[int, CablePlug] = field(default_factory=dict)


@dataclass(slots=True)
class Rack:
    """A rack with its switches from the bottom up, and the plugs of the endpoints in it."""

    name: str
    switches: list[Switch] = field(default_factory=list)
    endpoints: dict[tuple[int, str], list[CablePlug]] = field(default_factory=dict)
    cables: list[Cable] = field(default_factory=list)

    @property
    def leaving(self) -> list[CablePlug]:
        """The plugs in this rack whose cable ends in another one."""
        of_switches = [p for s in self.switches for p in s.plugs.values()]
        of_endpoints = [p for plugs in self.endpoints.values() for p in plugs]
        return [p for p in of_switches + of_endpoints if p.far.rack != self.name]


@dataclass(frozen=True)
class CablingPlan:
    """A network with its plan, as the verb ``plan`` returns it, and the groups of its switches."""

    network: str
    plan: Mapping[str, Any]
    switch_names: list[str]
    groups: list[int]

    @cached_property
    def cables(self) -> list[Cable]:
        """Every cable in the order of laying. O(cables)."""
        return read_cables(self.plan["cables_csv"])

    @cached_property
    def racks(self) -> dict[str, Rack]:
        """The racks by name, in the floor's order, filled. O(switches + cables)."""
        racks = {rack["name"]: Rack(rack["name"]) for rack in self.plan["racks"]}
        names = list(racks)
        seats: dict[tuple[str, int | None], Switch] = {}
        for i, seat in enumerate(self.plan["switches"]):
            switch = Switch(self.switch_names[i], seat["unit"], self.groups[i])
            rack = racks[names[seat["rack"]]]
            rack.switches.append(switch)
            seats[rack.name, switch.unit] = switch
        for rack in racks.values():
            rack.switches.sort(key=lambda s: s.unit)
        for cable in self.cables:
            if cable.a.rack == cable.b.rack:
                racks[cable.a.rack].cables.append(cable)
            for own, far in ((cable.a, cable.b), (cable.b, cable.a)):
                plug = CablePlug(cable, own, far)
                if own.is_switch:
                    seats[own.rack, own.unit].plugs[own.port] = plug
                else:
                    key = (own.height, own.device)
                    racks[own.rack].endpoints.setdefault(key, []).append(plug)
        return racks

    @cached_property
    def pairs(self) -> dict[tuple[str, str], list[CablePlug]]:
        """For every pair of racks with a cable between them, the plugs in the first of the two.

        Racks are in the floor's order, in the pairs and among them.
        """
        place = {name: i for i, name in enumerate(self.racks)}
        pairs: dict[tuple[str, str], list[CablePlug]] = {}
        for c in self.cables:
            if c.a.rack == c.b.rack:
                continue
            ends = (c.a, c.b) if place[c.a.rack] < place[c.b.rack] else (c.b, c.a)
            plug = CablePlug(c, *ends)
            pairs.setdefault((plug.own.rack, plug.far.rack), []).append(plug)
        ordered = sorted(pairs, key=lambda pair: (place[pair[0]], place[pair[1]]))
        return {pair: pairs[pair] for pair in ordered}


def read_cables(text: str) -> list[Cable]:
    """The cables of the list ``text``, the CSV of the verb ``plan``."""
    return [
        Cable(
            row["cable"], int(row["step"]), row["kind"], float(row["length_m"]),
            float(row["stock_m"]), float(row["rate_gbps"]), float(row["cost_usd"]),
            _end(row, "a"), _end(row, "b"),
        )
        for row in csv_rows(text)
    ]


def _end(row: Mapping[str, str], side: str) -> CableEnd:
    unit = row[f"{side}_unit"]
    return CableEnd(
        row[f"{side}_rack"], int(unit) if unit else None, row[f"{side}_device"],
        int(row[f"{side}_port"]), row[f"{side}_label"],
        is_switch=side == "b" or row["cable"].startswith("link-"),
    )
