"""Networks side by side: one table, and charts like those of the Slim Fly papers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from flyloom import _core
from flyloom._core import RefusalError, Topology
from flyloom.inputs.catalogs import shop
from flyloom.inputs.networks import network
from flyloom.support.checks import whole
from flyloom.support.progress import Progress
from flyloom.support.results import Result
from flyloom.support.words import csv_text
from flyloom.verbs.own_sizing import sized
from flyloom.verbs.prices import one_basis, priced
from flyloom.verbs.sizing import scale, size

#: Columns of the table: key, heading, what it means.
COLUMNS = (
    ("network", "network", "inline form or file"),
    ("endpoints", "endpoints", "computers"),
    ("switches", "switches", "switches of all planes"),
    ("links", "links", "cables between switches"),
    ("radix", "ports", "most ports that a switch uses"),
    ("diameter", "diameter", "longest distance between switches with endpoints, hops"),
    ("mean_distance", "mean distance", "between switches with endpoints, hops"),
    ("moore_fraction", "Moore", "switches over the most possible; direct networks only"),
    ("bisection_low", "bisection >=", "links that every halving of the endpoints cuts, at least"),
    ("bisection_high", "<=", "links that the best halving found cuts"),
    ("relative_bisection", "per half", "of the best halving: links over half the endpoints"),
    ("uniform_saturation", "saturation", "load of uniform traffic over minimal paths at which the"
     " busiest link is full, of the rate of an endpoint"),
    ("spectral_gap", "gap", "largest less second largest eigenvalue of the adjacency matrix"),
    ("disconnected", "cut at", "mean fraction of links, removed at random, that disconnects it"),
    ("diameter_grows", "diameter + 2", "mean fraction that takes the diameter beyond plus two"),
    ("mean_grows", "mean + 1", "mean fraction that takes the mean distance beyond plus one"),
    ("cost_usd_per_endpoint", "$/endpoint", "cost of what is counted, for each endpoint"),
    ("power_w_per_endpoint", "W/endpoint", "power of what is counted, for each endpoint"),
    ("pareto", "front", "no other network here is at least as good in cost, power, diameter and"
     " bisection for each endpoint, and better in one"),
)
#: What a front is made of: key, and whether more is better.
FRONT = (("cost_usd_per_endpoint", False), ("power_w_per_endpoint", False), ("diameter", False),
         ("relative_bisection", True))
#: What a row has of the network's bill.
BILLED = ("cost_usd", "cost_usd_per_endpoint", "power_w_per_endpoint", "cables_electric",
          "cables_optical", "basis")
#: How far from the endpoints asked for a member may be, as a factor.
NEAR = 1.25
#: Ends of a resilience study and their columns.
ENDS = {"disconnected": "disconnected", "diameter": "diameter_grows", "mean": "mean_grows"}
#: Endpoints at which kinds are sized whose largest members for each number of ports are too few
#: for a curve (tori of full bandwidth, random graphs).
SIZES = tuple(int(2 ** (n / 2)) for n in range(14, 37))
ENOUGH = 8


def compare(
    sources: Iterable[Any] = (),
    *,
    endpoints: int | None = None,
    catalog: str | os.PathLike[str] | None = None,
    gbps: float | None = None,
    include: str | Iterable[str] | None = None,
    radix: int = 64,
    samples: int = 100,
    seed: int = 0,
    ends: Sequence[str] = ("disconnected",),
    curves: bool = True,
    progress: Progress | None = None,
) -> Result:
    """Measures networks alike, for one table and its charts.

    ``sources`` are networks (anything that :func:`flyloom.network` takes) and names of families; a
    bare name adds the family's curves, not a row. With ``endpoints`` the member of each kind of
    family nearest to so many endpoints (within a quarter; of the families named, or of all) is a
    row too. ``catalog``, ``gbps`` and ``include`` say what they are priced by, as for
    :func:`flyloom.shop`; networks that these leave with different bases are refused.
    ``samples`` random orders of removing links,
    drawn from seed ``seed``, say how much each can lose (``ends``: ``disconnected``, ``diameter``,
    ``mean``; 0 samples: not asked). Curves are those of the families named and of the networks'
    own, up to switches of ``radix`` ports.

    Fields: ``rows`` (a dict a network, keys as in :data:`COLUMNS`, with
    ``disconnected_interval`` [low, high] and so on: 95 % confidence intervals of the means;
    ``pareto`` is whether it is on the front of :func:`pareto_front`; ``unpriced`` says why a
    catalogue has no price for it, or is None), ``catalog`` (its name), ``basis`` (catalogue, rate
    and what is counted, in words; None where nothing has a price),
    ``curves`` (dicts with ``family``, ``kind``, ``figure``: ``scale``, the largest member for each
    number of ports, or ``size``, the largest member with at most so many endpoints, where those
    would be too few; and the fields of a candidate of :func:`flyloom.size`), ``radix``,
    ``samples``, ``seed``.
    """
    whole("radix", radix, 4, 4096)
    whole("samples", samples, 0, 1 << 20)
    whole("seed", seed, 0, 2**64 - 1)
    known = {part["name"] for part in _core.registry() if part["kind"] == "topology"}
    families, networks = [], []
    for source in sources:
        if isinstance(source, str) and (source in known or sized(source)):
            families.append(source)
        else:
            networks.append(network(source))
    if endpoints is not None:
        networks += _members_near(whole("endpoints", endpoints, 1, 1 << 24), radix, families,
                                  progress)
    if not networks and not families:
        raise RefusalError("compare: no network is given; name networks or families")
    bought = shop(catalog, gbps=gbps, include=include)
    bills = [priced(t, bought, (*BILLED, "catalog")) for t in networks]
    basis = one_basis(
        {"network": t.recipe, **bill} for t, (bill, _) in zip(networks, bills, strict=True)
    )
    names = {bill.pop("catalog") for bill, _ in bills} - {None}
    rows = []
    for number, (t, (bill, unpriced)) in enumerate(zip(networks, bills, strict=True)):
        if progress:
            progress("networks", number, len(networks))
        rows.append({
            **_measure(t, samples, seed, ends, None if endpoints else progress),
            **bill, "unpriced": unpriced,
        })
    on_front = pareto_front(rows)
    for row, front in zip(rows, on_front, strict=True):
        row["pareto"] = front
    families += [t.family for t in networks if t.family in known or sized(t.family)]
    chosen = list(dict.fromkeys(families))
    return Result({
        "rows": rows, "curves": _curves(chosen, radix, progress) if curves and chosen else [],
        "radix": radix, "samples": samples, "seed": seed, "basis": basis,
        "catalog": names.pop() if names else bought.catalog()["name"],
    })


def _members_near(
    endpoints: int, radix: int, families: list[str], progress: Progress | None
) -> list[Topology]:
    """The member of each kind that is nearest to so many endpoints, where that is near enough."""
    found = []
    for row in size(endpoints, radix=radix, families=families, progress=progress).rows:
        both = [c for c in (row["below"], row["above"]) if c]
        near = [c for c in both if endpoints <= NEAR * c["endpoints"] <= NEAR**2 * endpoints]
        if near:
            best = min(near, key=lambda c: abs(c["endpoints"] - endpoints))
            found.append(network(best["network"]))
    if not found:
        raise RefusalError(
            f"endpoints: no family has a member within a quarter of {endpoints} with switches of "
            f"{radix} ports; other endpoints, or a larger radix"
        )
    return found


def pareto_front(rows: Sequence[Mapping[str, Any]]) -> list[bool | None]:
    """Which rows no other row dominates; None for rows that lack one of the figures.

    A row dominates another when it is at least as good in each figure of :data:`FRONT` (cost and
    power for each endpoint, diameter, relative bisection) and better in one. O(rows^2).
    """
    marks: list[list[float] | None] = []
    for row in rows:
        values = [row.get(key) for key, _ in FRONT]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            marks.append(None)
            continue
        marks.append([-v if more else v for v, (_, more) in zip(known, FRONT, strict=True)])

    def dominated(mine: list[float]) -> bool:
        return any(
            other is not None and other != mine
            and all(a <= b for a, b in zip(other, mine, strict=True))
            for other in marks
        )

    return [None if mine is None else not dominated(mine) for mine in marks]


def _measure(
    t: Topology, samples: int, seed: int, ends: Sequence[str], progress: Progress | None
) -> dict[str, Any]:
    found = t.measure(
        "structure", {"load": True, "spectrum": True, "bisection": True}, progress
    )
    cut, half = found["bisection"], found["endpoints"] / 2
    direct = found["diameter"] == found["diameter_all_switches"] and \
        found["mean_distance"] == found["mean_distance_all_switches"]
    spectrum = found["spectrum"] or {"spectral_gap": None}
    row = {
        "network": found["recipe"], "family": t.family,
        **{key: found[key] for key in (
            "endpoints", "switches", "links", "radix", "network_radix", "concentration",
            "diameter", "mean_distance", "girth",
        )},
        "moore_fraction": found["moore_fraction"] if direct else None,
        "bisection_low": cut["low"], "bisection_high": cut["high"],
        "relative_bisection": cut["high"] / half if half else None,
        "uniform_saturation": found["channel_load"]["uniform_saturation"],
        "spectral_gap": spectrum["spectral_gap"],
    }
    if samples and ends:
        lost = t.measure(
            "resilience", {"until": list(ends), "samples": samples, "seed": seed}, progress
        )["ends"]
        for end in ends:
            row[ENDS[end]] = lost[end]["mean"]
            row[f"{ENDS[end]}_interval"] = lost[end]["confidence_interval_95"]
    return row


def _curves(
    families: list[str], radix: int, progress: Progress | None
) -> list[dict[str, Any]]:
    found = scale(range(4, radix + 1), families=families, progress=progress)
    curves = [
        {"figure": "scale", "switch_ports": row["switch_ports"], **row["largest"]}
        for row in found.rows
    ]
    members: dict[tuple[str, str], set[str]] = {}
    for curve in curves:
        members.setdefault((curve["family"], curve["kind"]), set()).add(curve["network"])
    seen = set()
    for endpoints in SIZES:
        for row in size(endpoints, radix=radix, families=families, progress=progress).rows:
            member = row["below"]
            if len(members.get((row["family"], row["kind"]), ())) >= ENOUGH or not member:
                continue
            # one far below the size asked for is the family's largest: the curve ends before it
            if member["endpoints"] * 2 >= endpoints and member["network"] not in seen:
                seen.add(member["network"])
                curves.append({"figure": "size", **member})
    return sorted(curves, key=lambda curve: families.index(curve["family"]))


def table_csv(found: Result) -> str:
    """The rows of a comparison as CSV, with a header; intervals as two columns."""
    keys = list(dict.fromkeys(key for row in found.rows for key in row))
    flat = []
    for row in found.rows:
        line = {}
        for key in keys:
            if key.endswith("_interval"):
                line[f"{key}_low"], line[f"{key}_high"] = row.get(key) or (None, None)
            else:
                line[key] = row.get(key)
        flat.append(line)
    header = list(flat[0]) if flat else ["network"]
    return csv_text(header, [list(line.values()) for line in flat])
