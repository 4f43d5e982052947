"""Where the devices of a fabric stand, and bad cables in the order in which they are walked to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from flyloom._core import Topology
from flyloom.draw.floor import floor_data


class DevicePlaces:
    """Rack and rack unit of every device of a network; none where its floor is not known."""

    def __init__(self, seats: Mapping[str, tuple[Mapping[str, Any], int | None]],
                 floor: dict[str, Any] | None) -> None:
        self._seats = seats
        self.floor = floor
        """The floor as drawings take it; None where it is not known."""

    @classmethod
    def of_fabric(
        cls, found: Topology, planned: Topology, rules: Mapping[str, Any] | None
    ) -> DevicePlaces:
        """The places of a fabric's devices by its plan: they are identified by GUID, name or
        structure, as ``verify-cables`` does. O(cables log cables)."""
        places = cls.of(planned, rules, is_planned=True)
        known = found.addresses()
        named = {
            **dict(zip(known["node_guid"], found.endpoint_names, strict=True)),
            **dict(zip(known["switch_guid"], found.switch_names, strict=True)),
        }
        checked = planned.check_cables(found, "auto", None, None)
        seats = {
            named[int(guid, 16)]: places._seats[device] for device, guid in checked["guids"]
            if int(guid, 16) in named and device in places._seats
        }
        return cls(seats, places.floor)

    @classmethod
    def of(
        cls, topology: Topology, rules: Mapping[str, Any] | None, *, is_planned: bool
    ) -> DevicePlaces:
        """The places of a network: of a plan, or of a file whose floor is said by rules."""
        if topology.family == "file" and rules is None and not is_planned:
            return cls({}, None)
        plan = topology.plan(None if rules is None else dict(rules))
        racks = plan["racks"]
        named = [(topology.switch_names, plan["switches"]),
                 (topology.endpoint_names, plan["endpoints"])]
        seats = {
            name: (racks[seat["rack"]], seat.get("unit"))
            for names, all_seats in named
            for name, seat in zip(names, all_seats, strict=True) if seat is not None
        }
        return cls(seats, floor_data(plan, topology.switch_names))

    def words(self, device: str) -> str | None:
        """The place in words: ``R04-U02``."""
        if device not in self._seats:
            return None
        rack, unit = self._seats[device]
        return str(rack["name"]) if unit is None else f"{rack['name']}-U{unit:02d}"

    def rack(self, device: str) -> str | None:
        """The name of the rack of a device."""
        return str(self._seats[device][0]["name"]) if device in self._seats else None

    def of_ends(self, a: str, b: str) -> dict[str, str | None]:
        """The places of both ends of a channel."""
        return {"from_place": self.words(a), "to_place": self.words(b)}

    def stop(self, device: str, port: int) -> tuple[object, ...]:
        """What sorts the ports of devices in the order in which one walks by them."""
        if device not in self._seats:
            return (1, 0, 0, 0, device, port)
        rack, unit = self._seats[device]
        return (0, rack["row"], rack["column"], unit or 0, device, port)


def walked(cables: Iterable[Mapping[str, Any]], places: DevicePlaces) -> list[dict[str, Any]]:
    """Bad cables with the places of their ends, in the order of racks, units and ports of the end
    that one comes to first; numbered from 1."""
    rows = []
    for cable in cables:
        ends = sorted(("a", "b"), key=lambda end: places.stop(cable[end], cable[f"{end}_port"]))
        first = ends[0]
        row = {
            **cable, "first": first,
            "a_place": places.words(cable["a"]), "b_place": places.words(cable["b"]),
            "a_rack": places.rack(cable["a"]), "b_rack": places.rack(cable["b"]),
        }
        rows.append((places.stop(cable[first], cable[f"{first}_port"]), row))
    rows.sort(key=lambda pair: pair[0])
    return [{"number": number, **row} for number, (_, row) in enumerate(rows, start=1)]
