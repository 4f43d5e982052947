"""Which network to buy: candidates for a need, measured alike, ranked with the reasons."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flyloom._core import RefusalError, Shop, Topology
from flyloom.inputs.catalogs import PriceList, shop
from flyloom.inputs.networks import network
from flyloom.plugins.parts import built_in
from flyloom.support.checks import whole
from flyloom.support.notes import silent
from flyloom.support.parallel import in_order
from flyloom.support.progress import Progress
from flyloom.support.refused import none_such
from flyloom.support.verb_results import Choice
from flyloom.verbs import own_sizing
from flyloom.verbs.candidate_lanes import MOST_ROUTED, TREES, lanes_of
from flyloom.verbs.needs import MOST_ENDPOINTS, NetworkNeed, most_ports_sold
from flyloom.verbs.prices import priced
from flyloom.verbs.ranking import ranked
from flyloom.verbs.scoring import CRITERIA, scored, turning_points
from flyloom.verbs.simulation import simulate as run_simulator
from flyloom.verbs.sizing import (
    COLUMNS,
    carrying,
    checked_limit,
    checked_needs,
    checked_ratios,
    scale,
)

#: What a candidate has of its bill.
BILLED = ("cost_usd", "cost_usd_low", "cost_usd_high", "cost_usd_per_endpoint", "power_w",
          "power_w_per_endpoint", "racks", "cables_electric", "cables_optical",
          "endpoint_cables_electric", "endpoint_cables_optical", "switches_usd", "electric_usd",
          "optical_usd", "energy_usd_per_year", "basis", "catalog", "link_gbps")
#: What a candidate has of its traffic limits.
LIMITS = ("uniform_minimal", "worst_case_minimal", "worst_case_adaptive", "allreduce_ns",
          "allreduce_algorithm", "allreduce_adaptive_ns", "allreduce_adaptive_algorithm",
          "alltoall_ns", "zero_load_ns")
FAILED = (0.01, 0.05)
"""The parts of all links that fail."""
LOADED = 0.9
"""The part of a bound that is offered in simulations."""
POINT = ("offered_load", "accepted_load", "saturated", "mean_latency_ns", "p99_latency_ns")
"""What is kept of a point of a simulation."""
SIMULATED = 3
"""The networks that are simulated: the first ones."""
MOST_AT_ONCE = 4
"""The most networks in memory at a time: measuring one uses all processors for much of its time."""


def choose(
    endpoints: int,
    *,
    budget: float | None = None,
    gbps: float | None = None,
    radix: int = 64,
    oversubscription: float | Iterable[float | str] = (1.0, 2.0),
    planes: int | None = None,
    families: Iterable[str] = (),
    catalog: PriceList | None = None,
    include: str | Iterable[str] | None = None,
    weights: Mapping[str, float] | None = None,
    candidates: int = 8,
    seed: int = 0,
    simulate: bool = False,
    progress: Progress | None = None,
) -> Choice:
    """The networks to choose from for a need, the best first, with the reasons.

    The cheapest members of all families (or of ``families``) that carry ``endpoints`` with switches
    of at most ``radix`` ports (:func:`flyloom.size`), at each ratio of ``oversubscription``, for at
    most ``budget`` US dollars; ``planes``, ``catalog``, ``gbps`` and ``include`` as there. Of the
    cheapest of them, with at least one tree at each ratio, as many as one and a half times
    ``candidates`` are laid out, priced and measured, also with 1 % and 5 % of their links failed
    (drawn from ``seed``), and the best ``candidates`` of them kept. The score of a candidate is the
    product over the criteria of (how many times worse it is than the best) to the power of minus
    the weight: 1 for a network that is the best in all. With ``simulate`` the first three run at
    the packet level too, with adaptive routes. ``weights`` by name replace those of
    :data:`flyloom.verbs.scoring.CRITERIA`; they are divided by their sum.

    Fields: ``candidates``, dicts with ``rank``, ``score``, ``shares`` (by criterion, the factor of
    the score), ``network``, ``also``, ``family``, ``kind``, ``oversubscription``, counts as in
    :func:`flyloom.size`, figures of the bill (:func:`flyloom.cost`) and of
    :func:`flyloom.traffic_limits`, ``bisection_low``, ``bisection_high`` and ``relative_bisection``
    (:func:`flyloom.structure`), ``kept_1_percent`` and ``kept_5_percent`` (the uniform traffic that
    is left of the whole network's when these links fail; 0 where it is disconnected), ``engine``,
    ``lane_method``, ``lanes_minimal``, ``lanes_adaptive`` and ``lanes_by``
    (:func:`flyloom.verbs.candidate_lanes.lanes_of`: by routing networks of up to 256 switches, and
    those that are simulated), ``free_ports`` (of a switch) and ``grows_to`` (endpoints of the
    largest member of its kind with such switches); ``left_out`` (as in :func:`flyloom.size`, and
    members that were not measured); ``tree``, the network of the best tree; ``turning_points``
    (:func:`flyloom.verbs.scoring.turning_points`); ``other_rates`` (which is first at half and at
    twice the rate); ``like_for_like``; ``simulated`` (see there; None without ``simulate``);
    ``weights``, ``basis``, ``catalog`` and what was asked for.
    """
    asked = checked(
        endpoints=endpoints, budget=budget, gbps=gbps, radix=radix, planes=planes,
        oversubscription=oversubscription, families=families, catalog=catalog, include=include,
        weights=weights, candidates=candidates, seed=seed, simulate=simulate,
    )
    endpoints, candidates, ports, seed = asked.endpoints, asked.candidates, asked.ports, asked.seed
    ratios, known, bought, limit = asked.ratios, asked.weights, asked.bought, asked.limit
    carried = carrying(asked.needs, limit, bought, progress)
    members, _ = ranked(carried.members, COLUMNS, "cost_usd", None)
    chosen, others = _measured_ones(members, ratios, candidates)
    left_out = [*carried.left_out, *map(_not_measured, others)]
    if not chosen:
        why = left_out[0]["why"] if left_out else "no family has a member"
        raise RefusalError(f"choose: no network carries {endpoints:,} endpoints: {why}")

    def row(member: Mapping[str, Any]) -> dict[str, Any]:
        return _candidate(member, bought, seed)

    with silent():
        rows = list(in_order(row, chosen, "networks", progress, MOST_AT_ONCE))
    _grow(rows, most_ports_sold(ports, bought), planes, progress)
    judged = scored(rows, known)
    kept = judged[:candidates]
    if simulate:
        _route_first(kept)
    tree = next((each["network"] for each in kept if each["family"] in TREES), None)
    if tree is None and (behind := [r for r in judged if r["family"] in TREES]):
        kept.append(behind[0])
        tree = behind[0]["network"]
    return Choice({
        "endpoints": endpoints, "radix": ports, "oversubscription": ratios, "planes": planes,
        "budget_usd": limit, "gbps": kept[0]["link_gbps"], "weights": known,
        "seed": seed, "basis": kept[0]["basis"], "catalog": kept[0]["catalog"],
        "candidates": kept, "tree": tree, "left_out": left_out,
        "turning_points": turning_points(judged, known),
        "other_rates": _other_rates(kept, known, catalog, include),
        "like_for_like": _like_for_like(judged),
        "simulated": simulated(kept[:SIMULATED], seed, progress) if simulate else None,
    })


@dataclass(frozen=True)
class CheckedNeed:
    """A need whose values are checked."""

    endpoints: int
    candidates: int
    ports: int
    """Ports of a switch, at most."""
    ratios: list[float]
    weights: dict[str, float]
    bought: Shop
    limit: float | None
    """US dollars to spend."""
    needs: list[NetworkNeed]
    """A need for each ratio."""
    seed: int


def checked(
    endpoints: int, *, families: Iterable[str] = (), planes: int | None = None, **given: Any
) -> CheckedNeed:
    """What :func:`choose` is asked for; RefusalError, before anything is computed, where it cannot
    be. ``given`` are the other arguments of that."""
    endpoints = whole("endpoints", endpoints, 2, MOST_ENDPOINTS)
    families = [families] if isinstance(families, str) else list(families)
    for name in own_sizing.chosen(families)[0]:
        if name not in built_in("topology"):
            raise none_such("families", name, sorted(built_in("topology")))
    ports = whole("radix", given.get("radix", 64), 2, 4096)
    ratios = checked_ratios(given.get("oversubscription", (1.0, 2.0)))
    return CheckedNeed(
        endpoints, whole("candidates", given.get("candidates", 8), 1, 100), ports, ratios,
        _weights(given.get("weights")),
        shop(given.get("catalog"), gbps=given.get("gbps"), include=given.get("include")),
        checked_limit(given.get("budget")),
        checked_needs(endpoints, [ports], ratios, families=families, planes=planes),
        whole("seed", given.get("seed", 0), 0, 2**64 - 1),
    )


def _weights(given: Mapping[str, float] | None) -> dict[str, float]:
    """The weight of each criterion; their sum is 1."""
    weights = {name: criterion.weight for name, criterion in CRITERIA.items()}
    for name, value in (given or {}).items():
        if name not in weights:
            raise none_such("weights", name, tuple(weights))
        if isinstance(value, bool) or not isinstance(value, int | float) or \
                not (math.isfinite(value) and value >= 0):
            raise RefusalError(f"weights: {name}={value!r} is no weight; 0 or more")
        weights[name] = float(value)
    total = sum(weights.values())
    if total <= 0:
        raise RefusalError("weights: all are 0; at least one above 0")
    return {name: value / total for name, value in weights.items()}


def _measured_ones(
    members: Sequence[Mapping[str, Any]], ratios: Sequence[float], candidates: int
) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """Those of the members that are measured, and the others: the cheapest of each ratio, each
    family at most twice, and the cheapest tree of each ratio."""
    room = math.ceil(1.5 * candidates)
    # one network at two ratios is listed at the lower one
    once = {member["network"]: member for member in sorted(
        members, key=lambda member: -member["oversubscription"])}
    priced = [member for member in members if member["cost_usd"] is not None
              and once[member["network"]] is member]
    chosen: list[Mapping[str, Any]] = []
    for ratio in ratios:
        of_ratio = [member for member in priced if member["oversubscription"] == ratio]
        trees = [member for member in of_ratio if member["family"] in TREES][:1]
        seen: dict[str, int] = {}
        cheap = []
        for member in of_ratio:
            seen[member["family"]] = seen.get(member["family"], 0) + 1
            if seen[member["family"]] <= 2 and member not in trees:
                cheap.append(member)
        chosen += trees + cheap[:max(1, math.ceil(room / len(ratios)) - len(trees))]
    return chosen, [member for member in priced if member not in chosen]


def _not_measured(member: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of a member that is not measured."""
    keys = ("switch_ports", "oversubscription", "family", "kind", "network")
    return {**{key: member[key] for key in keys},
            "why": "not measured: others of its bandwidth are cheaper"}


def _candidate(member: Mapping[str, Any], bought: Shop, seed: int) -> dict[str, Any]:
    """A member with its bill, its structure and what traffic does, whole and with failed links."""
    t = network(member["network"])
    bill = t.cost(None, bought)
    found = t.measure("structure", {"bisection": True, "load": False})
    limits = t.measure("traffic_limits", {"gbps": bill["link_gbps"]})
    cut, half = found["bisection"], found["endpoints"] / 2
    return {
        **{key: member[key] for key in (
            "network", "also", "family", "kind", "oversubscription", "params")},
        **{key: found[key] for key in (
            "endpoints", "switches", "links", "radix", "network_radix", "planes", "diameter",
            "mean_distance")},
        **{key: bill[key] for key in BILLED},
        **{key: limits[key] for key in LIMITS},
        "bisection_low": cut["low"], "bisection_high": cut["high"],
        "relative_bisection": cut["high"] / half,
        **{f"kept_{100 * part:.0f}_percent": _kept(t, part, seed, limits["uniform_minimal"])
           for part in FAILED},
        **lanes_of(t, member["family"], found["diameter"],
                   routed=found["switches"] <= MOST_ROUTED),
    }


def _kept(t: Topology, part: float, seed: int, whole_network: float | None) -> float | None:
    """The uniform traffic that is left when this part of the links fails, over that before; 0 where
    the network is disconnected."""
    if not whole_network:
        return None
    failed = t.with_failures(random=max(1, round(part * len(t.edges))), seed=seed)
    found = failed.measure("structure", {"load": True})
    if found["unreachable"]:
        return 0.0
    left = found["channel_load"]["uniform_saturation"]
    return min(1.0, left / whole_network) if left else 0.0


def _grow(
    rows: Sequence[dict[str, Any]], radix: int, planes: int | None, progress: Progress | None
) -> None:
    """Writes into each row what room it has to grow with switches of this number of ports."""
    families = sorted({row["family"] for row in rows})
    largest = scale([radix], families=families, planes=planes, progress=progress).rows
    grown = {(row["family"], row["kind"]): row["largest"]["endpoints"] for row in largest}
    for row in rows:
        most = grown.get((row["family"], row["kind"]))
        row["grows_to"] = most and max(most, row["endpoints"])
        row["free_ports"] = radix - row["radix"]


def _other_rates(
    rows: Sequence[Mapping[str, Any]], weights: Mapping[str, float], catalog: PriceList | None,
    include: str | Iterable[str] | None,
) -> list[dict[str, Any]]:
    """Which network is first at half and at twice the rate, by its bill at that rate: dicts with
    ``gbps``, ``network`` and ``cost_usd``; rates at which nothing is sold are left out."""
    found = []
    for times in (0.5, 2.0):
        gbps = times * rows[0]["link_gbps"]
        bought = shop(catalog, gbps=gbps, include=include)
        again = []
        for row in rows:
            bill, unpriced = priced(network(row["network"]), bought, ("cost_usd", "power_w"))
            if unpriced is None:
                again.append({**row, **bill})
        if len(again) == len(rows):
            first = scored(again, weights)[0]
            found.append({"gbps": gbps, "network": first["network"],
                          "cost_usd": first["cost_usd"]})
    return found


def _route_first(rows: Sequence[dict[str, Any]]) -> None:
    """Writes into the rows that are simulated the lanes of their routes, which large networks have
    by rule before."""
    for row in rows[:SIMULATED]:
        if row["lanes_by"] == "rule":
            row |= lanes_of(network(row["network"]), row["family"], row["diameter"], routed=True)


def simulated(
    rows: Sequence[Mapping[str, Any]], seed: int, progress: Progress | None
) -> list[dict[str, Any]]:
    """Whether networks carry at the packet level what is said of them by the load of their links.

    Uniform traffic and the worst case, each offered at 0.9 times the bound, over adaptive routes
    (``anca`` in trees, else ``ugal_l`` with a virtual channel a hop) at the rate of the bill.
    Dicts with ``network``, ``traffic``, ``selection``, ``bound``, ``offered_load``,
    ``accepted_load``, ``saturated``, ``mean_latency_ns`` and ``p99_latency_ns``; ``why`` where the
    run is refused, with None in place of what it would have found.
    """
    found = []
    for row in rows:
        tree = row["family"] in TREES
        lanes: dict[str, Any] = {} if tree else {
            "lane_use": "hops", "switch": {"virtual_channels": row["lanes_adaptive"]}}
        for traffic, key in (("uniform", "uniform_minimal"), ("worst_case", "worst_case_adaptive")):
            bound = min(row[key] or 0.0, 1.0)
            asked = {"network": row["network"], "traffic": traffic,
                     "selection": "anca" if tree else "ugal_l", "bound": bound}
            try:
                point = run_simulator(
                    row["network"], "packet", traffic=traffic, selection=asked["selection"],
                    load=round(LOADED * bound, 3), gbps=row["link_gbps"], seed=seed,
                    progress=progress, **lanes,
                ).points[0]
                ended = {**{name: point[name] for name in POINT}, "why": None}
            except RefusalError as refusal:
                ended = {**dict.fromkeys(POINT), "why": str(refusal)}
            found.append({**asked, **ended})
    return found


def _like_for_like(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Beside the best network, of each other family the one nearest to it in three respects.

    ``equal_price``: the highest score at no more than 1.02 times its price; ``equal_bisection`` and
    ``equal_saturation``: the cheapest with at least 0.97 of its bisection, or of the uniform
    traffic that it carries. Dicts with ``network``, ``cost_usd`` and the figure.
    """
    best = rows[0]
    found: dict[str, list[dict[str, Any]]] = {}
    for name, key in (("equal_price", "score"), ("equal_bisection", "relative_bisection"),
                      ("equal_saturation", "uniform_minimal")):
        rivals: dict[str, Mapping[str, Any]] = {}
        for row in rows:
            if row["family"] == best["family"]:
                continue
            price = name == "equal_price"
            fits = row["cost_usd"] <= 1.02 * best["cost_usd"] if price else \
                min(row[key] or 0, 1.0) >= 0.97 * min(best[key] or 0, 1.0)
            order = (-row["score"] if price else row["cost_usd"], row["network"])
            old = rivals.get(row["family"])
            if fits and (old is None or order < (
                    -old["score"] if price else old["cost_usd"], old["network"])):
                rivals[row["family"]] = row
        found[name] = sorted(
            ({"network": row["network"], "cost_usd": row["cost_usd"], key: row[key]}
             for row in rivals.values()), key=lambda rival: (rival["cost_usd"], rival["network"]))
    return found
