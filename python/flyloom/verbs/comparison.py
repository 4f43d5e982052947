"""Networks side by side: one table, and charts like those of the Slim Fly papers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from flyloom import _core
from flyloom._core import RefusalError, Shop, Topology
from flyloom.inputs.catalogs import PriceList, shop
from flyloom.inputs.networks import network
from flyloom.support.checks import whole
from flyloom.support.parallel import in_order
from flyloom.support.progress import Progress
from flyloom.support.results import Result
from flyloom.support.verb_results import Comparison
from flyloom.verbs.own_sizing import sized
from flyloom.verbs.prices import one_basis, priced
from flyloom.verbs.ranking import judge, ranked, rows_csv
from flyloom.verbs.sizing import (
    below,
    carrying,
    checked_limit,
    checked_needs,
    checked_planes,
    checked_radixes,
    checked_ratios,
)

#: Columns of the table: key, heading, what it means.
COLUMNS = (
    ("rank", "rank", "place in the order asked for"),
    ("switch_ports", "switch", "ports of the switches on sale"),
    ("oversubscription", "over", "endpoints for each one that full bandwidth has room for"),
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
    ("worst_case_minimal", "worst minimal", "load of the worst permutation found at which a link is"
     " full, over minimal paths"),
    ("worst_case_adaptive", "worst adaptive", "the same where packets choose among minimal paths"
     " and detours, at least"),
    ("alltoall_ns", "all-to-all", "of 1,000 bytes a pair, all its bytes as uniform traffic"),
    ("allreduce_ns", "allreduce minimal", "of 100 MB by its fastest algorithm, over minimal paths"),
    ("allreduce_adaptive_ns", "allreduce adaptive", "the same where packets choose among minimal"
     " paths and detours"),
    ("spectral_gap", "gap", "largest less second largest eigenvalue of the adjacency matrix"),
    ("disconnected", "cut at", "mean fraction of links, removed at random, that disconnects it"),
    ("diameter_grows", "diameter + 2", "mean fraction that takes the diameter beyond plus two"),
    ("mean_grows", "mean + 1", "mean fraction that takes the mean distance beyond plus one"),
    ("cost_usd_per_endpoint", "$/endpoint", "cost of what is counted, for each endpoint"),
    ("cost_usd_per_endpoint_low", "$ low", "the same at the lowest prices of the catalogue"),
    ("cost_usd_per_endpoint_high", "$ high", "the same at the highest"),
    ("power_w_per_endpoint", "W/endpoint", "power of what is counted, for each endpoint"),
    ("pareto", "front", "no other network here is at least as good in cost, power and bisection for"
     " each endpoint, diameter, worst case and allreduce, and better in one"),
    ("best_in", "best in", "figures of these in which no other is better"),
)
#: Columns that tables on screens and paper leave out; CSV and JSON have them.
DETAILS = frozenset({
    "moore_fraction", "bisection_low", "bisection_high", "spectral_gap", "allreduce_ns", "radix",
})
#: The figures of a front: key, and whether more is better.
FRONT = (("cost_usd_per_endpoint", False), ("power_w_per_endpoint", False), ("diameter", False),
         ("relative_bisection", True), ("worst_case_adaptive", True),
         ("allreduce_adaptive_ns", False))
#: The figures of a row that are those of the network's bill.
BILLED = ("cost_usd", "cost_usd_low", "cost_usd_high", "cost_usd_per_endpoint",
          "cost_usd_per_endpoint_low", "cost_usd_per_endpoint_high", "power_w_per_endpoint",
          "cables_electric", "cables_optical", "basis")
#: The figures of a row that are those of the measure ``traffic_limits``.
TRAFFIC = ("worst_case_minimal", "worst_case_adaptive", "alltoall_ns", "allreduce_ns",
           "allreduce_algorithm", "allreduce_adaptive_ns", "allreduce_adaptive_algorithm")
#: Ends of a resilience study and their columns.
ENDS = {"disconnected": "disconnected", "diameter": "diameter_grows", "mean": "mean_grows"}
#: Numbers of endpoints for which kinds are sized that have too few largest members, by number of
#: ports, for a curve (tori of full bandwidth, random graphs).
SIZES = tuple(int(2 ** (n / 2)) for n in range(14, 37))
ENOUGH = 8


def is_family(source: Any) -> bool:
    """Whether a source is the name of a family, without parameters."""
    known = {part["name"] for part in _core.registry() if part["kind"] == "topology"}
    return isinstance(source, str) and (source in known or bool(sized(source)))


def compare(
    sources: Iterable[Any] = (),
    *,
    endpoints: int | None = None,
    planes: int | None = None,
    budget: float | None = None,
    oversubscription: float | Iterable[float | str] = 1.0,
    catalog: PriceList | None = None,
    gbps: float | None = None,
    include: str | Iterable[str] | None = None,
    radix: int | Iterable[int] = 64,
    samples: int = 100,
    seed: int = 0,
    ends: Sequence[str] = ("disconnected",),
    curves: bool = True,
    sort: str | None = None,
    top: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Measures networks alike, for one table and its charts.

    ``sources`` are networks (anything that :func:`flyloom.network` takes) and names of families; a
    bare name adds the family's curves, not a row. With ``endpoints`` the cheapest member of each
    kind of family that carries this number of endpoints (of the families named, or of all) is a row
    too, for switches of at most ``radix`` ports, of several for each, and for each ratio of
    ``oversubscription``; ``planes`` multiplies these members to this number of planes, and those
    above ``budget`` US dollars are left out, as in :func:`flyloom.size`. Members that this machine
    has not the memory to measure are left out. ``catalog``, ``gbps`` and ``include`` say
    what they are priced by, as for :func:`flyloom.shop`; networks that these leave with different
    bases are refused. ``samples`` random orders of removing links, drawn from seed ``seed``, say
    how much each can lose (``ends``: ``disconnected``, ``diameter``, ``mean``; 0 samples: not
    asked). Curves are those of the families named and of the networks' own, up to switches of
    ``radix`` ports (the most of several). ``sort`` and ``top`` as in :func:`flyloom.size`, by the
    keys of :data:`COLUMNS`; without ``endpoints`` and ``sort`` the rows stand as the networks were
    given.

    Fields: ``rows`` (a dict a network, keys as in :data:`COLUMNS`, with
    ``disconnected_interval`` [low, high] and so on: 95 % confidence intervals of the means;
    ``pareto`` is whether it is on the front of :data:`FRONT`, ``best_in`` the figures of it in
    which no other is better; ``unpriced`` says why a
    catalogue has no price for it, or is None), ``left_out`` (dicts with ``network`` and ``why``),
    ``sorted_by`` (keys of the order), ``catalog`` (its name), ``basis`` (catalogue, rate
    and what is counted, in words; None where nothing has a price),
    ``curves`` (dicts with ``family``, ``kind``, ``figure``: ``scale``, the largest member for each
    number of ports, or ``size``, the largest member with at most this number of endpoints, where
    those would be too few; and the fields of a candidate of :func:`flyloom.size`), ``radix``,
    ``samples``, ``seed``.
    """
    radixes = checked_radixes(radix, 4)
    samples = whole("samples", samples, 0, 1 << 20)
    seed = whole("seed", seed, 0, 2**64 - 1)
    if endpoints is None:
        _of_members_alone(planes, budget, oversubscription)
    ranked([], COLUMNS, sort, top)  # refuses an unknown column before the work
    sources = list(sources)
    families = [source for source in sources if is_family(source)]
    given = [network(source) for source in sources if not is_family(source)]
    bought = shop(catalog, gbps=gbps, include=include)
    table = _NetworkComparisonRows(bought, samples, seed, ends, progress)
    near: Sequence[Mapping[str, Any]] = ()
    if endpoints is not None:
        endpoints = whole("endpoints", endpoints, 1, 1 << 24)
        needs = checked_needs(endpoints, radixes, checked_ratios(oversubscription),
                              families=families, planes=planes)
        carried = carrying(needs, checked_limit(budget), bought, progress)
        near = carried.members
        table.left_out += [{key: each[key] for key in ("network", "why")}
                           for each in carried.left_out]
    if not given and endpoints is None and not families:
        raise RefusalError("compare: no network is given; name networks or families")
    rows = table.of_given(given)
    rows += table.of_members(near)
    if endpoints is not None and not rows:
        raise RefusalError(f"compare: {table.nothing(endpoints, radixes)}")
    judge(rows, FRONT)
    keys: list[str] = []
    if sort is not None or near:
        rows, keys = ranked(rows, COLUMNS, sort, top)
    else:
        rows = [{"rank": place, **row} for place, row in enumerate(rows, 1)][:top]
    families += [row["family"] for row in rows if is_family(row["family"])]
    chosen = list(dict.fromkeys(families))
    return Comparison({
        "rows": rows,
        "curves": _curves(chosen, max(radixes), progress) if curves and chosen else [],
        "left_out": table.left_out, "sorted_by": keys,
        "radix": radixes[0] if len(radixes) == 1 else radixes, "planes": checked_planes(planes),
        "samples": samples, "seed": seed, "basis": table.basis, "catalog": table.catalog(),
    })


def _of_members_alone(planes: int | None, budget: float | None, oversubscription: Any) -> None:
    """RefusalError where what is for members alone is given without a number of endpoints."""
    if planes is not None:
        raise RefusalError("planes: of the members that endpoints asks for; of a network write "
                           "multi_plane:planes=2,of=NETWORK")
    if budget is not None:
        raise RefusalError("budget: of the members that endpoints asks for; give endpoints too")
    if checked_ratios(oversubscription) != [1.0]:
        raise RefusalError(
            "oversubscription: of the members that endpoints asks for; give endpoints too"
        )


MOST_AT_ONCE = 4
"""The most networks in memory at a time: measuring one uses all processors for much of its time."""


class _NetworkComparisonRows:
    """The rows of a comparison as they are measured."""

    def __init__(
        self, bought: Shop, samples: int, seed: int, ends: Sequence[str], progress: Progress | None
    ) -> None:
        self.bought = bought
        self.draws = (samples, seed, ends)
        self.progress = progress
        self.basis: str | None = None
        self.names: set[str] = set()
        self.left_out: list[dict[str, str]] = []

    def catalog(self) -> str:
        """The name of the catalogue that prices are of."""
        return min(self.names) if self.names else str(self.bought.catalog()["name"])

    def nothing(self, endpoints: int, radixes: Sequence[int]) -> str:
        """Why there is no row."""
        if self.left_out:
            return self.left_out[0]["why"]
        ports = ", ".join(map(str, radixes))
        return f"no family carries {endpoints:,} endpoints with switches of {ports} ports"

    def of_given(self, networks: list[Topology]) -> list[dict[str, Any]]:
        """Rows of networks that a user gave; refused before the work where bases differ."""
        bills = [self._bill(t) for t in networks]
        self.basis = one_basis(
            {"network": t.recipe, **bill} for t, bill in zip(networks, bills, strict=True)
        )
        rows = []
        for number, (t, bill) in enumerate(zip(networks, bills, strict=True)):
            if self.progress:
                self.progress("networks", number, len(networks))
            rows.append({**_measure(t, *self.draws, self.progress), **bill})
        return [_without_basis(row) for row in rows]

    def of_members(self, near: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Rows of members of families, each built and measured once; those too large left out."""
        members = {member["network"]: member for member in near}
        found = dict(zip(members, in_order(
            self._of_member, [*members.values()], "networks", self.progress, MOST_AT_ONCE
        ), strict=True))
        rows = {}
        for name, row in found.items():
            if isinstance(row, RefusalError):
                self.left_out.append({"network": name, "why": str(row)})
            else:
                self.basis = one_basis([{"network": "another", "basis": self.basis}, row])
                rows[name] = _without_basis(row)
        several = {
            key for key in ("switch_ports", "oversubscription")
            if len({member[key] for member in near}) > 1
        }
        return [
            {**{key: member[key] for key in member if key in several}, **rows[member["network"]]}
            for member in near if member["network"] in rows
        ]

    def _of_member(self, member: Mapping[str, Any]) -> dict[str, Any] | RefusalError:
        """The row of a network of a family, or why this machine cannot measure it."""
        try:
            t = network(member["network"])
            row = _measure(t, *self.draws, None)
            return {**row, **self._bill_of_member(t, member), "family": member["family"]}
        except RefusalError as refusal:
            return refusal

    def _bill_of_member(self, t: Topology, member: Mapping[str, Any]) -> dict[str, Any]:
        """The bill that the member was found by, where it has one."""
        if member["cost_usd"] is None:
            return self._bill(t)
        self.names.add(str(member["catalog"]))
        return {**{key: member[key] for key in BILLED}, "unpriced": None}

    def _bill(self, t: Topology) -> dict[str, Any]:
        bill, unpriced = priced(t, self.bought, (*BILLED, "catalog"))
        name = bill.pop("catalog")
        if name is not None:
            self.names.add(str(name))
        return {**bill, "unpriced": unpriced}


def _without_basis(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != "basis"}


def _measure(
    t: Topology, samples: int, seed: int, ends: Sequence[str], progress: Progress | None
) -> dict[str, Any]:
    found = t.measure(
        "structure", {"spectrum": True, "bisection": True}, progress
    )
    cut, half = found["bisection"], found["endpoints"] / 2
    direct = found["diameter"] == found["diameter_all_switches"] and \
        found["mean_distance"] == found["mean_distance_all_switches"]
    spectrum = found["spectrum"] or {"spectral_gap": None}
    limits = t.measure("traffic_limits", {}, progress)
    row = {
        "network": found["recipe"], "family": t.family,
        **{key: found[key] for key in (
            "endpoints", "switches", "links", "radix", "network_radix", "concentration",
            "diameter", "mean_distance", "girth",
        )},
        "moore_fraction": found["moore_fraction"] if direct else None,
        "bisection_low": cut["low"], "bisection_high": cut["high"],
        "relative_bisection": cut["high"] / half if half else None,
        "uniform_saturation": limits["uniform_minimal"],
        **{key: limits[key] for key in TRAFFIC},
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
    ports = range(4, radix + 1)
    curves = [
        {"figure": "scale", "switch_ports": each, **row["below"]}
        for each, rows in zip(ports, below([(None, k) for k in ports], families, (), progress),
                              strict=True)
        for row in rows
    ]
    members: dict[tuple[str, str], set[str]] = {}
    for curve in curves:
        members.setdefault((curve["family"], curve["kind"]), set()).add(curve["network"])
    enough = sorted(kind for kind, found in members.items() if len(found) >= ENOUGH)
    seen = set()
    for endpoints, rows in zip(SIZES, below([(n, radix) for n in SIZES], families, enough,
                                            progress), strict=True):
        for row in rows:
            member = row["below"]
            if (row["family"], row["kind"]) in enough or not member:
                continue
            # one far below the size asked for is the family's largest: the curve ends before it
            if member["endpoints"] * 2 >= endpoints and member["network"] not in seen:
                seen.add(member["network"])
                curves.append({"figure": "size", **member})
    return sorted(curves, key=lambda curve: families.index(curve["family"]))


def table_csv(found: Result) -> str:
    """The rows of a comparison as CSV, with a header; intervals as two columns."""
    return rows_csv(found.rows)
