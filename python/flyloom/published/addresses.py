"""The published table of addresses and sizes: printed, and what can be built."""

from __future__ import annotations

from collections.abc import Iterable

from flyloom import _core
from flyloom.support.progress import Progress
from flyloom.support.verb_results import PublishedTable
from flyloom.verbs.sizing import checked_radixes

ADDRESS_TABLE_SOURCE = (
    "Blach et al., A High-Performance Design, Implementation, Deployment, and Evaluation of The "
    "Slim Fly Network, NSDI 2024, Table 2"
)

ADDRESS_TABLE = {
    36: {
        1: (512, 6144, 24, 12), 2: (512, 6144, 24, 12), 4: (512, 6144, 24, 12),
        8: (450, 5400, 23, 12), 16: (288, 2592, 18, 9), 32: (162, 1134, 13, 7),
        64: (98, 588, 11, 6), 128: (72, 360, 9, 5),
    },
    48: {
        1: (882, 14112, 31, 16), 2: (882, 14112, 31, 16), 4: (800, 12000, 30, 15),
        8: (450, 5400, 23, 12), 16: (288, 2592, 18, 9), 32: (162, 1134, 13, 7),
        64: (98, 588, 11, 6), 128: (72, 360, 9, 5),
    },
    64: {
        1: (1568, 32928, 42, 21), 2: (1250, 23750, 37, 19), 4: (800, 12000, 30, 15),
        8: (450, 5400, 23, 12), 16: (288, 2592, 18, 9), 32: (162, 1134, 13, 7),
        64: (98, 588, 11, 6), 128: (72, 360, 9, 5),
    },
}
"""Slim Flies by ports of a switch and addresses of an endpoint: switches, endpoints, network radix,
endpoints per switch. Fourteen of the 24 cells name networks that do not exist: their q (6, 12, 15,
20, 21, 28) is no prime power."""


def address_table(
    radixes: Iterable[int] = (36, 48, 64),
    *,
    family: str = "slim_fly",
    concentration: str = "ceil",
    progress: Progress | None = None,
) -> PublishedTable:
    """The largest network for each LMC: LIDs are what limits multipath networks.

    An endpoint has 2^LMC LIDs, a switch one, and a subnet 49,151. Field ``rows``: dicts with
    ``switch_ports``, ``lmc``, ``addresses``, ``buildable`` (the largest member, as ``below`` of
    :func:`flyloom.size`, or None), and for Slim Fly ``paper`` (the published rule's answer, for
    which q may be any whole number: ``exists`` says whether there is such a network) and
    ``published`` (the printed cell: switches, endpoints, network_radix, concentration; None where
    none is printed).
    """
    names = ("switches", "endpoints", "network_radix", "concentration")
    rows = []
    for row in _core.address_table(family, checked_radixes(radixes), concentration, progress):
        printed = ADDRESS_TABLE.get(row["radix"], {}).get(row["addresses"])
        rows.append({
            "switch_ports": row["radix"], "lmc": row["lmc"], "addresses": row["addresses"],
            "buildable": row["network"], "paper": row["published_rule"],
            "published": (
                dict(zip(names, printed, strict=True))
                if printed and family == "slim_fly" else None
            ),
        })
    return PublishedTable({"family": family, "source": ADDRESS_TABLE_SOURCE, "rows": rows})
