"""Published tables: as they were printed, and what flyloom computes beside them.

What is printed is never used to compute. A cell where the two differ says so; none is forced.
"""

from __future__ import annotations

import numpy as np

from flyloom._core import Topology
from flyloom._measures import resilience
from flyloom.support.progress import Progress
from flyloom.support.verb_results import PublishedTable

FIT_FLY_SOURCE = (
    "McGlohon et al., Fit Fly: a case study on interconnect innovation through parallel simulation"
)
FIT_FLY_NETWORKS = {
    "Slim Fly": "slim_fly:q=13,p=9",
    "Fit Fly": "fit_fly:q=13,p=9,planes=2",
    "dragonfly 1D": "dragonfly:p=9,a=18,h=9,g=19",
    "megafly": "megafly:leaves=18,spines=18,p=18,h=18,g=10",
}
FIT_FLY_TABLE = {
    "router_radix": (28, 28, 36, 36),
    "planes": (1, 2, 1, 1),
    "groups": (26, 52, 19, 10),
    "nodes": (3042, 3042, 3078, 3240),
    "routers": (338, 676, 342, 360),
    "global_ports": (4732, 9464, 3078, 3240),
    "nodes_per_group_and_rail": (117, 117, 162, 324),
    "global_ports_per_group": (169, 169, 162, 324),
    "nodes_per_router": (9, 9, 9, 18),
}
"""Printed configurations, by row, in the order of :data:`FIT_FLY_NETWORKS`."""


def fit_fly_table() -> PublishedTable:
    """The configurations of the Fit Fly study: measured on the built networks, beside the print.

    Fields: ``source``, ``rows``: a dict for each row and network with ``what``, ``network`` (the
    printed name), ``recipe``, ``computed``, ``printed`` and ``equal``. ``router_radix`` is the most
    ports that a router uses, ``global_ports`` the ports of links between groups, both ends counted.
    """
    rows = []
    for column, (name, recipe) in enumerate(FIT_FLY_NETWORKS.items()):
        for what, computed in _configuration(Topology.from_inline(recipe)).items():
            printed = FIT_FLY_TABLE[what][column]
            rows.append({
                "what": what, "network": name, "recipe": recipe, "computed": computed,
                "printed": printed, "equal": computed == printed,
            })
    return PublishedTable({"source": FIT_FLY_SOURCE, "rows": rows})


def _configuration(t: Topology) -> dict[str, int]:
    table, groups = t.link_table, t.groups
    crossing = groups[table["a_switch"]] != groups[table["b_switch"]]
    count, planes = len(set(groups.tolist())), t.measure("structure")["planes"]
    global_ports = 2 * int(np.count_nonzero(crossing))
    return {
        "router_radix": t.radix, "planes": planes, "groups": count, "nodes": t.endpoints,
        "routers": t.switches, "global_ports": global_ports,
        "nodes_per_group_and_rail": t.terminals // count,
        "global_ports_per_group": global_ports // count,
        "nodes_per_router": t.concentration,
    }


RESILIENCE_SOURCE = (
    "Besta and Hoefler, Slim Fly: a cost effective low-diameter network topology, SC 2014: the"
    " largest share of links removed at random before a network is disconnected, in steps of 5 %"
)
RESILIENCE_SIZES = (512, 1024, 2048, 4096, 8192)
RESILIENCE_TABLE = {
    "torus 3D": (30, 25, 20, 15, 10),
    "torus 5D": (None, 40, None, None, 35),
    "hypercube": (40, 40, 40, 45, 45),
    "long hop": (55, 55, 55, 55, 55),
    "fat tree": (35, 40, 40, 55, 60),
    "dragonfly": (None, 50, 55, 60, 65),
    "flattened butterfly": (55, 60, 65, 70, None),
    "random": (60, None, 65, 70, 75),
    "Slim Fly": (60, None, 65, 70, 75),
}
"""Printed percent of links, by family and about how many endpoints."""

RESILIENCE_NETWORKS = {
    "torus 3D": tuple(f"torus:shape={s},p=1" for s in
                      ("8x8x8", "8x8x16", "8x16x16", "16x16x16", "16x16x32")),
    "torus 5D": (None, "torus:shape=4x4x4x4x4,p=1", None, None, "torus:shape=4x4x8x8x8,p=1"),
    "hypercube": tuple(f"hypercube:n={n},p=1" for n in range(9, 14)),
    "long hop": tuple(f"long_hop:n={n},code={m}-{n}-4,p=1" for n, m in
                      ((9, 14), (10, 15), (11, 16), (12, 18), (13, 19))),
    "fat tree": tuple(f"fat_tree:levels=3,k={k}" for k in (12, 16, 20, 26, 32)),
    "dragonfly": (None, *(f"dragonfly:h={h}" for h in (4, 5, 6, 7))),
    "flattened butterfly": (*(f"flattened_butterfly:k={k},n=4" for k in (5, 6, 7, 8)), None),
    "random": tuple(n and f"jellyfish:n={n[0]},k={n[1]},seed=0,p={n[2]}" for n in
                    ((98, 11, 6), None, (242, 17, 9), (338, 19, 10), (578, 25, 13))),
    "Slim Fly": ("slim_fly:q=7", None, "slim_fly:q=11", "slim_fly:q=13", "slim_fly:q=17"),
}
"""The study names families and about how many endpoints, not members: these are the nearest.
Long hop: the even codes of least distance 4. Random: as many switches and ports as the Slim Fly."""


def resilience_table(
    *, samples: int = 1000, seed: int = 0, progress: Progress | None = None
) -> PublishedTable:
    """The resilience of the study's families and sizes, measured, beside the printed steps.

    Fields: ``source``, ``samples``, ``seed``, ``rows``: dicts with ``family``, ``about`` (endpoints
    as the study says), ``network``, ``endpoints``, ``printed_percent``, ``half_hold_percent`` (the
    largest step of 5 % at which at least half of the samples are still connected), ``mean`` and
    ``confidence_interval_95`` (of the fraction removed when it is disconnected). The study does not
    say which step it prints: ``half_hold_percent`` is our reading.
    """
    rows = []
    for family, printed in RESILIENCE_TABLE.items():
        networks = RESILIENCE_NETWORKS[family]
        for about, step, member in zip(RESILIENCE_SIZES, printed, networks, strict=True):
            if member is None or step is None:
                continue
            built = Topology.from_inline(member)
            found = resilience(built, samples=samples, seed=seed, progress=progress)
            lost = found.ends.disconnected
            rows.append({
                "family": family, "about": about, "network": member,
                "endpoints": built.endpoints, "printed_percent": step,
                "half_hold_percent": 100 * lost.half_hold, "mean": lost.mean,
                "confidence_interval_95": lost.confidence_interval_95 or [lost.mean, lost.mean],
            })
    return PublishedTable({
        "source": RESILIENCE_SOURCE, "samples": samples, "seed": seed, "rows": rows,
    })
