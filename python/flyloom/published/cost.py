"""Published tables of scale and cost, cell by cell: printed, by the study's rules, and true.

What is printed is never used to compute. A cell where the study's rule gives the print is equal;
where a known rule does not, the print has a slip and the cell says which; where no rule is known,
it says that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from flyloom._core import Shop, Topology, study_of_2014
from flyloom.support.progress import Progress
from flyloom.support.verb_results import Bill, PublishedTable
from flyloom.verbs.prices import STUDY_CATALOG, cost

STUDY_FLOOR = {"endpoints": "beside", "row_pitch_m": 1.0}
"""The floor of the studies: servers take no room, a rack holds what its switches leave."""
EQUAL, SLIP, UNKNOWN = "equal", "printed slip", "rule unknown"

STUDY_SOURCE = (
    "Besta and Hoefler, Slim Fly: a cost effective low-diameter network topology, SC 2014: the "
    "case study of five topologies"
)
STUDY_ROWS = (
    "endpoints", "switches", "radix", "cables_electric", "cables_optical",
    "cost_usd_per_endpoint", "power_w_per_endpoint",
)


def _dragonfly(a: int, h: int, g: int) -> dict[str, Any]:
    return {"family": "dragonfly", "a": a, "p": h, "h": h, "g": g}


_SLIM_FLY = {"family": "slim_fly", "q": 19, "p": 15}

STUDY_COLUMNS = (
    # table, column, the study's network, the true one, printed cells in the order of STUDY_ROWS
    ("radix 43", "fat tree", {"family": "fat_tree", "radix": 43}, None,
     ("19876", "2311", "43", "19414", "40215", "2346", "14.0")),
    ("radix 43", "random", {"family": "random", "switches": 4020, "p": 10, "radix": 43},
     "jellyfish:n=4020,k=33,p=10", ("40200", "4020", "43", "32488", "33842", "1743", "12.04")),
    ("radix 43", "flattened butterfly", {"family": "flattened_butterfly", "c": 12},
     "flattened_butterfly:k=12,n=4",
     ("20736", "1728", "43", "9504", "20736", "1570", "10.8")),
    ("radix 43", "dragonfly", _dragonfly(22, 11, 243), "dragonfly:h=11",
     ("58806", "5346", "43", "56133", "29524", "1438", "10.9")),
    ("radix 43", "Slim Fly", _SLIM_FLY, "slim_fly:q=19,p=15",
     ("10830", "722", "43", "6669", "6869", "1033", "8.02")),
    ("10,000 endpoints", "fat tree", {"family": "fat_tree", "radix": 35}, None,
     ("10718", "1531", "35", "7350", "24806", "2315", "14.0")),
    ("10,000 endpoints", "random", {"family": "random", "switches": 1386, "p": 7, "radix": 28},
     "jellyfish:n=1386,k=21,p=7", ("9702", "1386", "28", "6837", "7716", "1566", "11.2")),
    ("10,000 endpoints", "flattened butterfly", {"family": "flattened_butterfly", "c": 10},
     "flattened_butterfly:k=10,n=4",
     ("10000", "1000", "33", "4500", "10000", "1535", "10.8")),
    ("10,000 endpoints", "dragonfly", _dragonfly(14, 7, 99), "dragonfly:h=7",
     ("9702", "1386", "27", "9009", "4900", "1342", "10.8")),
    ("10,000 endpoints", "dragonfly of radix 43", _dragonfly(22, 11, 45),
     "dragonfly:p=11,a=22,h=11,g=45",
     ("10890", "990", "43", "6885", "1012", "1365", "10.9")),
    ("10,000 endpoints", "Slim Fly", _SLIM_FLY, "slim_fly:q=19,p=15",
     ("10830", "722", "43", "6669", "6869", "1033", "8.02")),
)

_NO_SPLIT = "electric and fibre cables add up as printed; the rule that splits them is unknown"
STUDY_WHY = {
    ("fat tree", "endpoints"): "2 p^3 of p = half the radix, cut off: no such network exists",
    ("fat tree", "cables_electric"): "cables of endpoints are counted, here alone",
    ("fat tree", "cost_usd_per_endpoint"): "the rule for the length of its fibres is unknown",
    ("random", "cables_electric"): _NO_SPLIT, ("random", "cables_optical"): _NO_SPLIT,
    ("random", "cost_usd_per_endpoint"): "it needs the rule that splits the cables",
    ("flattened butterfly", "radix"):
        "4 c - 3 ports are used (c - 1 in each of three dimensions, c for endpoints), and the "
        "printed cost has them",
    ("flattened butterfly", "cables_optical"): "c^4 is printed for the c^3 (c - 1) there are",
    ("flattened butterfly", "power_w_per_endpoint"):
        "2.8 W a port give 10.50 and 10.36 with the ports used, less with those printed",
    ("dragonfly", "cables_optical"): "(g^2 - 1) / 2 is printed for g (g - 1) / 2 pairs of groups",
    ("dragonfly", "cost_usd_per_endpoint"):
        "the cables between racks are priced as electric ones",
    ("dragonfly of radix 43", "cables_electric"): "45 groups of 22 switches have 10,395",
    ("dragonfly of radix 43", "cables_optical"):
        "(g^2 - 1) / 2 is printed for g (g - 1) / 2 pairs of groups; the network has five "
        "links a pair",
    ("dragonfly of radix 43", "cost_usd_per_endpoint"): "it needs the rule of its cables",
    ("Slim Fly", "radix"): "19 is 4 w - 1: 29 network ports and 15 endpoints make 44",
    ("Slim Fly", "cables_electric"):
        "(2 q + 1) q (q - 1) / 2; inside the 19 racks there are 3,610 + 361 links",
    ("Slim Fly", "cables_optical"): "ten more than the q^3 = 6,859 links between subgroups",
    ("Slim Fly", "cost_usd_per_endpoint"):
        "the cables between racks are priced as electric ones, and a port is missing",
    ("Slim Fly", "power_w_per_endpoint"): "a port is missing: 44 make 8.21",
}
"""Why a printed cell and the truth differ, or what is unknown of its rule."""

STUDY_UNKNOWN = frozenset({
    ("fat tree", "cost_usd_per_endpoint"), ("random", "cables_electric"),
    ("random", "cables_optical"), ("random", "cost_usd_per_endpoint"),
    ("flattened butterfly", "power_w_per_endpoint"), ("dragonfly of radix 43", "cables_electric"),
    ("dragonfly of radix 43", "cost_usd_per_endpoint"),
})
_SPLIT_OF_35 = (
    "the total of 32,156 is equal; 24 p^2 and 81 p^2 are printed where radix 43 has 34 p^2 and "
    "71 p^2 by (2 p - 1) p^2 and (4 p + 1) p^2"
)


def prints_as(printed: str, value: float) -> bool:
    """Whether ``value``, rounded or cut off to as many decimals, is what is ``printed``."""
    decimals = len(printed.partition(".")[2])
    step = 10**decimals
    return float(printed) in (round(value, decimals), math.floor(value * step + 1e-9) / step)


def _billed(member: str, catalog: str, include: list[str] | None = None) -> Bill:
    """The bill of a published network, which is what it is: without notes on what it could be."""
    network = Topology.from_inline(member)
    return cost(network, catalog, include=include, rules=STUDY_FLOOR)


def cost_table(*, progress: Progress | None = None) -> PublishedTable:
    """The SC 2014 case study: five topologies of radix 43, and near 10,000 endpoints.

    Fields: ``source``, ``rows``: a dict a cell with ``table``, ``column``, ``what`` (endpoints,
    switches, radix, cables_electric, cables_optical, cost_usd_per_endpoint, power_w_per_endpoint),
    ``printed`` (text), ``paper`` (by the study's rules, None where none is known), ``true`` (of the
    network built and laid out with catalogue fdr10-2014, cables of endpoints not counted; None
    where there is no such network), ``network``, ``verdict`` (``equal``: the rule gives the print;
    ``printed slip``: a known rule does not; ``rule unknown``) and ``why`` (None where print, rule
    and truth agree).
    """
    rows = []
    for number, (table, column, study, member, printed) in enumerate(STUDY_COLUMNS):
        if progress:
            progress("columns of the study", number, len(STUDY_COLUMNS))
        paper = study_of_2014(study)
        true = _billed(member, STUDY_CATALOG, include=["network"]) if member else {}
        for what, cell in zip(STUDY_ROWS, printed, strict=True):
            why = STUDY_WHY.get((column, what))
            unknown = (column, what) in STUDY_UNKNOWN
            if column == "fat tree" and table != "radix 43" and what.startswith("cables"):
                unknown, why = True, _SPLIT_OF_35
            rows.append({
                "table": table, "column": column, "what": what, "printed": cell,
                "paper": paper[what], "true": true.get(what), "network": member,
                **_judged(cell, paper[what], true.get(what), unknown, why),
            })
    return PublishedTable({"source": STUDY_SOURCE, "catalog": STUDY_CATALOG, "rows": rows})


def _judged(
    printed: str, paper: float | None, true: float | None, unknown: bool, why: str | None
) -> dict[str, str | None]:
    if paper is None or (unknown and not prints_as(printed, paper)):
        return {"verdict": UNKNOWN, "why": why}
    if not prints_as(printed, paper):
        return {"verdict": SLIP, "why": why}
    agrees = true is not None and prints_as(printed, true)
    return {"verdict": EQUAL, "why": None if agrees else why}


SCALE_SOURCE = (
    "Blach et al., A High-Performance Design, Implementation, Deployment, and Evaluation of The "
    "Slim Fly Network, NSDI 2024, Table 4"
)
SCALE_ROWS = ("endpoints", "switches", "links", "cost_musd", "cost_kusd_per_endpoint")
SCALE_TABLE = {
    "36 ports": {
        "FT2": ("648", "54", "648", "1.5", "2.2"), "FT2-B": ("972", "45", "324", "1.1", "1.2"),
        "FT3": ("11664", "1620", "23328", "45", "3.8"),
        "HX2": ("2028", "169", "2028", "4.5", "2.2"),
        "SF": ("6144", "512", "6144", "13.8", "2.2"),
    },
    "40 ports": {
        "FT2": ("800", "60", "800", "2.4", "3"), "FT2-B": ("1200", "50", "400", "1.7", "1.5"),
        "FT3": ("16000", "2000", "32000", "84.2", "5.2"),
        "HX2": ("2744", "196", "2548", "7.8", "2.8"),
        "SF": ("7514", "578", "7225", "22.4", "2.9"),
    },
    "64 ports": {
        "FT2": ("2048", "96", "2048", "9", "4.4"), "FT2-B": ("3072", "80", "1024", "7.2", "2.3"),
        "FT3": ("65536", "5120", "131072", "491", "7.5"),
        "HX2": ("10648", "484", "10164", "45.5", "4.3"),
        "SF": ("32928", "1568", "32928", "146", "4.4"),
    },
    "2048 nodes": {
        "FT2": ("2048", "96", "2048", "7.5", "3.6"), "FT2-B": ("2048", "59", "344", "2.7", "1.3"),
        "FT3": ("2048", "303", "4320", "8.3", "4"),
        "HX2": ("2197", "169", "2028", "6.4", "3.1"),
        "SF": ("2178", "242", "2057", "5.8", "2.8"),
    },
}
"""Printed cells: endpoints, switches, links between them, M$, k$ for each endpoint."""

SCALE_PORTS = {
    "36 ports": dict.fromkeys(("FT2", "FT2-B", "FT3", "HX2", "SF"), 36),
    "40 ports": dict.fromkeys(("FT2", "FT2-B", "FT3", "HX2", "SF"), 40),
    "64 ports": dict.fromkeys(("FT2", "FT2-B", "FT3", "HX2", "SF"), 64),
    "2048 nodes": {"FT2": 64, "FT2-B": 64, "FT3": 36, "HX2": 40, "SF": 36},
}
"""Ports of the switches of a column; those of 2048 nodes are what its cells come out with."""

SCALE_CATALOGS = {36: "edr36-2024", 40: "hdr40-2024", 64: "ndr64-2024"}

_CHEAP_ENDPOINT_USD = 64.0
SCALE_WHY = {
    ("40 ports", "FT3", "cost_musd"):
        "no one price of switch, endpoint and link gives all 40-port cells; these are near",
    ("64 ports", "SF", "endpoints"): "q = 28 is no prime power: there is no such network",
    ("64 ports", "SF", "switches"): "q = 28 is no prime power: there is no such network",
    ("64 ports", "SF", "links"): "q = 28 is no prime power: there is no such network",
    ("2048 nodes", "FT2-B", "links"): "43 leaves with 16 links up have 688, twice as many",
    ("2048 nodes", "FT2", "cost_musd"):
        "the same network as of 64 ports, there for 9.0 M$: an endpoint cable of 64 $ instead of "
        "827 $ gives the print",
    ("2048 nodes", "FT2-B", "cost_musd"):
        "an endpoint cable of 64 $ instead of 827 $, and 344 links, give the print",
    ("2048 nodes", "HX2", "cost_kusd_per_endpoint"): "the cost over 2,048, not over its endpoints",
    ("2048 nodes", "SF", "cost_kusd_per_endpoint"): "the cost over 2,048, not over its endpoints",
}
for _column in ("FT2", "FT2-B"):
    SCALE_WHY["2048 nodes", _column, "cost_kusd_per_endpoint"] = SCALE_WHY[
        "2048 nodes", _column, "cost_musd"]


def _slim_fly(ports: int) -> dict[str, int]:
    """The largest q whose switches have enough ports; as published, q need not be a prime power."""
    def column(q: int) -> dict[str, int]:
        k = (3 * q - (1 if q % 4 == 1 else -1 if q % 4 == 3 else 0)) // 2
        p = -(-k // 2)
        return {"endpoints": 2 * q * q * p, "switches": 2 * q * q, "links": q * q * k,
                "ports": k + p}

    fits = [q for q in range(2, ports) if q % 4 != 2 and column(q)["ports"] <= ports]
    return column(fits[-1])


def _hyperx(side: int, p: int) -> dict[str, int]:
    return {"endpoints": side * side * p, "switches": side * side,
            "links": side * side * (side - 1)}


def _columns(ports: int) -> dict[str, dict[str, int]]:
    """The largest networks of switches with this number of ports, by their formulae."""
    k, third = ports, ports // 4
    squares = [_hyperx(side, k - 2 * (side - 1)) for side in range(2, k // 2 + 1)]
    return {
        "FT2": {"endpoints": k * k // 2, "switches": 3 * k // 2, "links": k * k // 2},
        "FT2-B": {"endpoints": 3 * k * k // 4, "switches": k + third, "links": k * third},
        "FT3": {"endpoints": k**3 // 4, "switches": 5 * k * k // 4, "links": k**3 // 2},
        "HX2": max(squares, key=lambda square: square["endpoints"]),
        "SF": _slim_fly(ports),
    }


def _of_2048() -> dict[str, dict[str, int]]:
    """The networks for 2,048 nodes."""
    leaves = -(-2048 // 48)  # three quarters of 64 ports down
    edge = -(-2048 // 18)
    middle = -(-edge // 18) * 18  # pods of 18 leaves have 18 switches above them
    return {
        "FT2": _columns(64)["FT2"],
        "FT2-B": {"endpoints": 2048, "switches": leaves + 16, "links": leaves * 16},
        "FT3": {"endpoints": 2048, "switches": edge + middle + middle // 2,
                "links": edge * 18 + middle * 18},
        "HX2": _hyperx(13, 13),
        "SF": {"endpoints": 242 * 9, "switches": 242, "links": 242 * 17 // 2},
    }


SCALE_NETWORKS: dict[int, dict[str, str | None]] = {
    ports: {"FT2": f"fat_tree:levels=2,k={ports}",
            "FT2-B": f"fat_tree:levels=2,k={ports},oversubscription=3",
            "FT3": f"fat_tree:levels=3,k={ports}", "HX2": hyperx, "SF": slim_fly}
    for ports, hyperx, slim_fly in (
        (36, "hyperx:shape=13x13,p=12", "slim_fly:q=16,p=12"),
        (40, "hyperx:shape=14x14,p=14", "slim_fly:q=17,p=13"),
        (64, "hyperx:shape=22x22,p=22", "slim_fly:q=27,p=21"),
    )
}
SCALE_NETWORKS[2048] = {
    "FT2": "fat_tree:levels=2,k=64", "FT2-B": None, "FT3": None,
    "HX2": "hyperx:shape=13x13,p=13", "SF": "slim_fly:q=11,p=9",
}
"""The networks that are built for the true figures; None where only the formula is at hand."""


def scale_table(*, progress: Progress | None = None) -> PublishedTable:
    """Table 4 of the deployment paper: scale and cost by ports of a switch, and for 2,048 nodes.

    Costs are switches, endpoint cables and links at the prices of catalogues edr36-2024, hdr40-2024
    and ndr64-2024, which were derived from this very table: that they give a cell shows that one
    price fits many cells, not that it is right. Fields as for :func:`cost_table`; ``what`` is
    endpoints, switches, links, cost_musd [M$] or cost_kusd_per_endpoint [k$].
    """
    rows: list[dict[str, Any]] = []
    blocks = {name: _columns(int(name.split()[0])) for name in list(SCALE_TABLE)[:3]}
    blocks["2048 nodes"] = _of_2048()
    total = sum(map(len, SCALE_TABLE.values()))
    for table, columns in SCALE_TABLE.items():
        size = int(table.split()[0])
        for column, printed in columns.items():
            if progress:
                progress("columns of the table", len(rows) // len(SCALE_ROWS), total)
            catalog = SCALE_CATALOGS[SCALE_PORTS[table][column]]
            counts, member = blocks[table][column], SCALE_NETWORKS[size][column]
            paper = _priced(table, column, counts, _prices(catalog))
            true = _true(member, catalog) if member else {}
            for what, cell in zip(SCALE_ROWS, printed, strict=True):
                why = SCALE_WHY.get((table, column, what))
                rows.append({
                    "table": table, "column": column, "what": what, "printed": cell,
                    "paper": paper[what], "true": true.get(what), "network": member,
                    **_judged(cell, paper[what], true.get(what),
                              (table, column, what) == ("40 ports", "FT3", "cost_musd"), why),
                })
    return PublishedTable({"source": SCALE_SOURCE, "rows": rows})


def _prices(catalog: str) -> dict[str, float]:
    """Typical prices of a switch, an endpoint's cable and a link."""
    found = Shop(catalog).catalog()
    cable = {one["use"]: one["price"]["typical"] for one in found["cables"]}
    return {"switch": found["switches"][0]["price"]["typical"], "endpoint": cable["endpoint"],
            "link": cable["switch"]}


def _priced(
    table: str, column: str, counts: Mapping[str, int], prices: Mapping[str, float]
) -> dict[str, float]:
    endpoint, links, over = prices["endpoint"], counts["links"], counts["endpoints"]
    if table == "2048 nodes":
        over = 2048
        if column in ("FT2", "FT2-B"):
            endpoint = _CHEAP_ENDPOINT_USD
        if column == "FT2-B":
            links //= 2  # the study prints half of the links
    usd = (prices["switch"] * counts["switches"] + endpoint * counts["endpoints"]
           + prices["link"] * links)
    return {**counts, "cost_musd": usd / 1e6, "cost_kusd_per_endpoint": usd / over / 1e3}


def _true(member: str, catalog: str) -> dict[str, float]:
    found = _billed(member, catalog)
    links = found.cables_electric + found.cables_optical
    return {"endpoints": found.endpoints, "switches": found.switches, "links": links,
            "cost_musd": found.cost_usd / 1e6,
            "cost_kusd_per_endpoint": found.cost_usd_per_endpoint / 1e3}
