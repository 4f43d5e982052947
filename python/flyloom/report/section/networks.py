"""The networks of a report: their counts and distances, and the data of their drawings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, NotRequired, TypedDict

from flyloom.draw.floor import floor_data
from flyloom.draw.svg import plural
from flyloom.report.base import (
    ComparedFigure,
    Found,
    NetworkStructure,
    PageData,
    PageSection,
    SectionFields,
    cabled,
    expect,
)
from flyloom.report.figure import LOWER
from flyloom.report.shape import Count, Simple, also, fail, shape, unique, walk
from flyloom.report.words import count, few, fixed, words

#: Rows of the structure table: key, words, unit or explanation, decimals.
STRUCTURE = (
    ("switches", "Switches", "", 0),
    ("endpoints", "Endpoints", "", 0),
    ("links", "Links between switches", "cables", 0),
    ("network_radix", "Network radix", "ports of a switch that lead to switches", 0),
    ("concentration", "Concentration", "endpoints on a switch", 0),
    ("radix", "Radix", "ports used on a switch", 0),
    ("diameter", "Diameter", "hops", 0),
    ("mean_distance", "Mean distance", "hops, over ordered pairs of switches", 3),
    ("girth", "Girth", "length of the shortest cycle", 0),
    ("moore_fraction", "Moore fraction", "switches / most possible at this degree and diameter", 3),
)


# --- the shape of the data -----------------------------------------------------------------------


class RackSwitch(TypedDict):
    """A switch in a rack."""

    id: Annotated[Count, "its number in the network"]
    name: Annotated[str, "its name"]
    unit: NotRequired[Annotated[Count, "its rack unit, from 1 at the floor"]]


class RackServers(TypedDict):
    """The servers at one place in a rack."""

    unit: Annotated[Count, "their lowest rack unit"]
    height: Annotated[Count, "rack units"]
    endpoints: Annotated[Count, "endpoints there"]


class FloorRack(TypedDict):
    """A rack of the floor."""

    name: Annotated[str, "its name, which no other has"]
    row: Annotated[float, "its row on the floor"]
    column: Annotated[float, "its place in the row"]
    switches: Annotated[list[RackSwitch], "its switches"]
    endpoints: Annotated[Count, "endpoints in it"]
    servers: NotRequired[Annotated[list[RackServers], "where they are"]]


class CabledRackPair(TypedDict):
    """A pair of racks with cables between them."""

    a: Annotated[str, "the name of one"]
    b: Annotated[str, "the name of the other"]
    cables: Annotated[Count, "cables between them"]


class FloorData(TypedDict):
    """The floor: the places of racks and their contents."""

    racks: Annotated[list[FloorRack], "the racks"]
    switch_units: NotRequired[Annotated[Count, "rack units of a switch"]]
    rack_pairs: Annotated[list[CabledRackPair], "racks that have cables between them"]


class NetworkDrawings(TypedDict):
    """The drawings of a network."""

    edges: NotRequired[Annotated[list[list[Count]], "links, as pairs of switches"]]
    switch_names: NotRequired[Annotated[list[str], "the name of each switch"]]
    switch_groups: NotRequired[Annotated[list[Simple], "the group of each switch"]]
    floor: NotRequired[Annotated[FloorData, "its racks"]]


@also(Any)
class DeviceRackPlace(TypedDict):
    """The place of a switch or an endpoint."""

    rack: Annotated[Count, "the number of the rack, from 0"]
    unit: NotRequired[Annotated[Count, "the rack unit"]]


@also(Any)
class PlannedRack(TypedDict):
    """A rack."""

    name: Annotated[str, "its name"]
    row: Annotated[float, "its row on the floor"]
    column: Annotated[float, "its place in the row"]


@also(Any)
class FloorRules(TypedDict):
    """The rules by which racks are filled."""

    switch_units: NotRequired[Annotated[Count, "rack units of a switch"]]
    server_units: NotRequired[Annotated[Count, "rack units of a server"]]


@also(Any)
class FloorPlan(TypedDict):
    """The racks, as `flyloom plan` describes them."""

    racks: Annotated[list[PlannedRack], "the racks"]
    switches: Annotated[list[DeviceRackPlace], "where each switch is"]
    rack_pairs: Annotated[list[CabledRackPair], "racks that have cables between them"]
    rules: Annotated[FloorRules, "what racks are filled by"]


@also(Any)
class NetworkCounts(NetworkStructure):
    """The counts of a network, as `flyloom structure` has them."""


@also(Any)
class SavedNetwork(TypedDict):
    """A network in the results of a run."""

    label: Annotated[str, "its name in the report"]
    recipe: Annotated[str, "how it is built again"]
    structure: Annotated[NetworkCounts, "its counts and distances"]
    plan: Annotated[FloorPlan, "its racks and cables"]


@also(Any)
class NetworkFacts(TypedDict):
    """Further facts about each network, by its key."""

    edges: Annotated[dict[str, Any], "the links of each network by its key, as pairs of switches"]
    switch_names: Annotated[dict[str, Any], "the name of each switch, by the key of the network"]
    groups: Annotated[dict[str, Any], "the group of each switch, by the key of the network"]


# --- data from the results of a run --------------------------------------------------------------


def of_network(saved: Mapping[str, Any], key: str) -> dict[str, Any]:
    """What is drawn of a network of a run."""
    return {
        "edges": saved["edges"][key],
        "switch_names": saved["switch_names"][key],
        "switch_groups": saved["groups"][key],
        "floor": floor_data(saved["networks"][key]["plan"], saved["switch_names"][key]),
    }


def border(saved: Mapping[str, Any]) -> None:
    """Checks that every network has its links, names and groups, and every switch and endpoint a
    seat."""
    for key, facts in saved["networks"].items():
        for part, kind in (("edges", [[Count]]), ("switch_names", [str]), ("groups", [Simple])):
            walk(saved[part].get(key), kind, f"{part}.{key}")
        _seats(facts["plan"], len(saved["switch_names"][key]), f"networks.{key}.plan")


def _seats(plan: Mapping[str, Any], switches: int, where: str) -> None:
    expect(len(plan["switches"]) == switches, f"{where}.switches", "a seat for each switch")
    seats = plan.get("endpoints")
    expect(isinstance(seats, list), f"{where}.endpoints", "a list")
    for i, seat in enumerate(seats or ()):
        if seat is not None:
            walk(seat, shape(DeviceRackPlace), f"{where}.endpoints[{i}]")
    racks = len(plan["racks"])
    for seat in [*plan["switches"], *filter(None, seats or ())]:
        expect(seat["rack"] < racks, f"{where}: rack {seat['rack']}", f"racks below {racks}")


def check(network: Found, _data: Found, where: str) -> None:
    """Checks that each switch has a name and a group, and that links and racks have only known
    switches."""
    size = cabled(network)
    valid = f"switch ids of this network go from 0 to {size - 1}"
    for key in ("switch_names", "switch_groups"):
        if network[key] is not None and len(network[key]) != size:
            found = f"{len(network[key])} values for {size} switches"
            raise fail(f"{where}.{key}", found, "give one for each switch")
    for place, edge in enumerate(network["edges"] or []):
        at = f"{where}.edges[{place}]"
        if len(edge) != 2:
            raise fail(at, f"{len(edge)} values found", "give two switch ids")
        if max(edge) >= size:
            raise fail(at, f"switch {max(edge)} does not exist", valid)
    if network["floor"] is not None:
        _check_floor(network["floor"], size, f"{where}.floor")


def _check_floor(floor: Found, size: int, where: str) -> None:
    valid = f"switch ids of this network go from 0 to {size - 1}"
    unique((rack["name"] for rack in floor["racks"]), f"{where}.racks", "name")
    cells = ((rack["row"], rack["column"]) for rack in floor["racks"])
    unique(cells, f"{where}.racks", "place (row, column)")
    placed: set[int] = set()
    for i, rack in enumerate(floor["racks"]):
        for j, switch in enumerate(rack["switches"]):
            at = f"{where}.racks[{i}].switches[{j}]"
            if switch["id"] >= size:
                raise fail(f"{at}.id", f'switch {switch["id"]} does not exist', valid)
            if switch["id"] in placed:
                raise fail(f"{at}.id", f'switch {switch["id"]} is placed twice', "place it once")
            if switch["unit"] == 0:
                raise fail(f"{at}.unit", "0 found", "rack units count from 1")
            placed.add(switch["id"])
    names = {rack["name"] for rack in floor["racks"]}
    for i, pair in enumerate(floor["rack_pairs"]):
        for end in "ab":
            if pair[end] not in names:
                found = f"no rack is called {pair[end]!r}"
                raise fail(f"{where}.rack_pairs[{i}].{end}", found, "name one of floor.racks")


# --- the table and the drawings ------------------------------------------------------------------


def view(page: PageData) -> dict[str, Any] | None:
    """The table of counts; None where there are no networks."""
    if not page.networks:
        return None
    return {
        "networks": [{**network, "colour": page.colours[network["label"]]}
                     for network in page.networks],
        "structure": [*structure_rows(page.networks), *_racks(page.networks)],
    }


def _racks(networks: Sequence[Found]) -> list[dict[str, Any]]:
    """The row of the racks, where a network has a floor."""
    counts = [len(network["floor"]["racks"]) if network["floor"] else None for network in networks]
    if not any(counts):
        return []
    return [{"name": "Racks", "unit": "with the computers",
             "values": [count(value) for value in counts]}]


def structure_rows(networks: Sequence[Found]) -> list[dict[str, Any]]:
    """Rows of the structure table: ``{"name", "unit", "values"}``, one value a network.

    The known measures come first (:data:`STRUCTURE`), then all others by name. A measure that no
    network has is left out; a girth of ``None`` says that there is no cycle.
    """
    known = {key for key, *_ in STRUCTURE}
    rest = sorted({key for network in networks for key in network["structure"]} - known)
    extra = tuple((key, words(key).capitalize(), "", 3) for key in rest)
    rows = []
    for key, name, unit, decimals in STRUCTURE + extra:
        if not any(key in network["structure"] for network in networks):
            continue
        cells = [network["structure"].get(key) for network in networks]
        values = [_cell(cell, decimals) for cell in cells]
        if key == "girth":
            has = [key in network["structure"] for network in networks]
            values = [
                "no cycle" if there and cell is None else value
                for there, cell, value in zip(has, cells, values, strict=True)
            ]
        if any(value != "–" for value in values):
            rows.append({"name": name, "unit": unit, "values": values})
    return rows


def _cell(value: object, decimals: int) -> str:
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return count(value)
    if isinstance(value, float):
        return fixed(value, decimals) if decimals else count(value)
    if isinstance(value, tuple):
        return ", ".join(_cell(item, decimals) for item in value)
    return str(value)


def tiles(page: PageData) -> list[dict[str, str]]:
    """A headline with the network, or the number of networks and their sizes."""
    if not page.several:
        return [_built(network) for network in page.networks]
    ends = [f'{network["label"]} {plural(network["structure"]["endpoints"], "endpoint")}'
            for network in page.networks]
    return [{"head": "Compared", "big": plural(len(page.networks), "network"), "small": few(ends),
             "mood": "plain"}]


def _built(network: Found) -> dict[str, str]:
    facts = network["structure"]
    small = [plural(facts["switches"], "switch", "switches"), plural(facts["links"], "link")]
    if network["floor"] and network["floor"]["racks"]:
        small.append(plural(len(network["floor"]["racks"]), "rack"))
    if facts.get("diameter") is not None:
        small.append(f'diameter {facts["diameter"]}')
    return {"head": f'Built: {network["label"]}', "big": plural(facts["endpoints"], "endpoint"),
            "small": ", ".join(small), "mood": "plain"}


def sizes(page: PageData) -> Iterator[ComparedFigure]:
    """Figures of endpoints and switches."""
    for key in ("endpoints", "switches"):
        yield ComparedFigure(key.capitalize(), "", "", {
            network["label"]: [network["structure"][key]] for network in page.networks
        })


def distances(page: PageData) -> Iterator[ComparedFigure]:
    """Figures of diameter and mean distance."""
    for said, key in (
        ("Diameter", "diameter"), ("Mean distance of switches with endpoints", "mean_distance"),
    ):
        yield ComparedFigure(said, "hops", LOWER, {
            network["label"]: [value] for network in page.networks
            if (value := network["structure"].get(key)) is not None
        })


SECTION = PageSection(
    name="networks", title="Networks", place=10,
    doc="Counts and distances of each network.",
    when="the experiment has points",
    saved={("networks", "*"): SavedNetwork, (): NetworkFacts}, border=border,
    of_network=SectionFields(shape=NetworkDrawings, of=of_network, check=check),
    view=view, tiles={10: tiles}, figures={10: sizes, 40: distances},
)
