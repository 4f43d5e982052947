"""What can be built: the cheapest networks for a need, the largest for a budget or for switches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from flyloom import _core
from flyloom._core import RefusalError, Shop
from flyloom.inputs.catalogs import PriceList, shop
from flyloom.inputs.networks import network
from flyloom.support.amounts import dollars
from flyloom.support.checks import amount, whole
from flyloom.support.notes import silent
from flyloom.support.parallel import in_order
from flyloom.support.progress import Progress
from flyloom.support.verb_results import Budget, Scales, Sizing
from flyloom.verbs import own_sizing
from flyloom.verbs.needs import (
    NOT_SHOWN,
    FamilyMemberRequest,
    NetworkNeed,
    affordable_kinds,
    cheapest,
    largest,
)
from flyloom.verbs.ranking import judge, ranked

MOST_PLANES = 64
WELL_KNOWN = ("fat_tree", "torus", "hypercube", "complete", "flattened_butterfly")
"""Families under whose names a network is listed that others have too."""

#: Columns of the table of sizes: key, heading, what it means.
COLUMNS = (
    ("rank", "rank", "place in the order asked for"),
    ("switch_ports", "switch", "ports of the switches on sale"),
    ("oversubscription", "over", "endpoints for each one that full bandwidth has room for"),
    ("network", "network", "inline form"),
    ("endpoints", "endpoints", "computers"),
    ("switches", "switches", "switches of all planes"),
    ("links", "links", "cables between switches, of all planes"),
    ("radix", "ports", "most ports that a switch uses"),
    ("diameter", "diameter", "longest distance between switches with endpoints, hops"),
    ("mean_distance", "mean distance", "between switches with endpoints, hops"),
    ("moore_fraction", "Moore", "switches over the most possible; direct networks only"),
    ("full_bandwidth_concentration", "full p", "endpoints a switch at which uniform traffic over"
     " minimal paths loads the average channel in full"),
    ("cost_usd", "cost [$]", "the basis's total"),
    ("cost_usd_per_endpoint", "$/endpoint", "the basis's total, for each endpoint"),
    ("cost_usd_per_endpoint_low", "$ low", "the same at the lowest prices of the catalogue"),
    ("cost_usd_per_endpoint_high", "$ high", "the same at the highest"),
    ("power_w_per_endpoint", "W/endpoint", "power, for each endpoint"),
    ("pareto", "front", "no other network here is at least as good in cost and power for each"
     " endpoint, diameter and mean distance, and better in one"),
    ("best_in", "best in", "figures of these in which no other is better"),
)
#: The figures of the front of sizes: key, and whether more is better.
FRONT = (("cost_usd_per_endpoint", False), ("power_w_per_endpoint", False), ("diameter", False),
         ("mean_distance", False))


@dataclass(frozen=True)
class CarryingMembers:
    """The members that carry a number of endpoints, and what is left out."""

    found: list[dict[str, Any]]
    """Rows of :func:`flyloom.verbs.needs.cheapest`."""
    members: list[dict[str, Any]]
    """Each network once, as ``members`` of :func:`size` before they are ranked."""
    left_out: list[dict[str, Any]]


def carrying(
    needs: Sequence[NetworkNeed], limit_usd: float | None, bought: Shop | None,
    progress: Progress | None,
) -> CarryingMembers:
    """The cheapest member of each kind that carries a need, within a limit of US dollars."""
    found, far = cheapest(needs, bought, progress)
    members = _members(found)
    left_out = [
        {**kind, "why": f"about {kind['times']:,.0f} times the price of the cheapest"}
        for kind in far
    ]
    if limit_usd is not None:
        dear = [member for member in members if not _within(member, limit_usd)]
        dear.sort(key=lambda member: member["cost_usd"] or float("inf"))
        left_out += [_dearer(member, limit_usd) for member in dear]
        members = [member for member in members if _within(member, limit_usd)]
    return CarryingMembers(found, members, left_out)


def checked_needs(
    endpoints: int, radixes: Iterable[int], ratios: Iterable[float], *,
    families: Iterable[str], planes: int | None, concentration: str = "ceil",
) -> list[NetworkNeed]:
    """A need for each number of ports and each ratio; RefusalError for families or planes that
    there are not."""
    planes = checked_planes(planes)
    named = checked_families(families, planes)
    return [
        NetworkNeed(endpoints=endpoints, radix=ports, concentration=concentration,
                    oversubscription=ratio, families=named, planes=planes)
        for ports in radixes for ratio in ratios
    ]


def size(
    endpoints: int,
    *,
    radix: int | Iterable[int] = 64,
    concentration: str = "ceil",
    oversubscription: float | Iterable[float | str] = 1.0,
    families: Iterable[str] = (),
    planes: int | None = None,
    budget: float | None = None,
    prices: bool = True,
    catalog: PriceList | None = None,
    gbps: float | None = None,
    include: str | Iterable[str] | None = None,
    sort: str | None = None,
    top: int | None = None,
    progress: Progress | None = None,
) -> Sizing:
    """The cheapest member of each family that carries a number of endpoints.

    Only members that the family's rule of full bandwidth (times ``oversubscription``) admits and
    whose switches need at most ``radix`` ports; of several numbers of ports, or ratios, members for
    each. ``concentration`` says how the rule becomes a whole number of endpoints a switch: ``ceil``
    and ``floor`` round it (half the network radix in a Slim Fly), ``exact`` is the most with which
    uniform traffic over minimal paths loads the average channel in full, rounded down; a member
    carries no more endpoints on a switch than the need takes. ``families`` are names; all when
    empty. ``planes`` multiplies each member to this number of planes, a rail of every endpoint in
    each; when None families have what they have by themselves. Members are priced
    (:func:`flyloom.cost`) by ``catalog``, ``gbps`` and ``include`` as for :func:`flyloom.shop`;
    where ``prices`` is False, the cheapest is the one of fewest switches, then links. Those that
    cost more than ``budget`` US dollars are left out.

    Field ``members``: dicts with ``rank`` (:func:`flyloom.verbs.ranking.ranked` by ``sort``, a key
    of :data:`COLUMNS`, ``cost_usd`` by default; the ``top`` first), ``switch_ports``,
    ``oversubscription``, ``family``, ``kind``, ``network`` (the inline form), ``also`` (other names
    of the same network among the members), ``params``, ``planes``, ``endpoints``, ``switches``,
    ``links`` (of all planes), ``radix``, ``network_radix``, ``concentration``,
    ``full_bandwidth_concentration``, ``diameter`` and ``mean_distance`` (intervals [low, high] in
    hops, between switches that carry endpoints), ``moore_fraction``, ``measured`` (whether the
    distances were measured because the family has no formula for them), ``general_form`` (equal
    for one network under two names), ``pareto``, ``best_in`` and, with prices, ``cost_usd`` and
    ``cost_usd_per_endpoint``, both also with ``_low`` and ``_high`` (at the lowest and highest
    prices), ``power_w_per_endpoint`` and ``unpriced`` (why there is no price, or None).

    Field ``left_out``: dicts with ``switch_ports``, ``oversubscription``, ``family``, ``kind``,
    ``network`` and ``why``: kinds that are far dearer by an estimate
    (:data:`flyloom.verbs.needs.FAR`), which are not looked for where families are named, and
    members above the budget. Field ``rows``: a dict for each kind, ``cheapest`` the name of its
    member, ``below`` and ``above`` the members nearest in endpoints that have as many endpoints on
    a switch as the rule says, each None or as above without prices; of the first ratio alone.
    ``sorted_by`` has the keys of the order; ``basis`` and ``catalog`` say what prices are, None
    without.
    """
    endpoints = whole("endpoints", endpoints, 1, 1 << 40)
    radixes, ratios = checked_radixes(radix), checked_ratios(oversubscription)
    limit = checked_limit(budget)
    ranked([], COLUMNS, sort, top)  # refuses an unknown column before the work
    asked = [given for given in (catalog, gbps, include, budget) if given is not None]
    if not prices and asked:
        raise RefusalError(
            "prices: False, beside catalog, gbps, include or budget, which ask for prices"
        )
    bought = shop(catalog, gbps=gbps, include=include) if prices else None
    needs = checked_needs(endpoints, radixes, ratios, families=families, planes=planes,
                          concentration=concentration)
    near = _nearest([(endpoints, ports) for ports in radixes], needs[0], progress)
    found = carrying(needs, limit, bought, progress)
    members = found.members
    basis, name = _basis(members, bought)
    judge(members, FRONT)
    members, keys = ranked(members, COLUMNS, sort or ("cost_usd" if prices else None), top)
    return Sizing({
        "endpoints": endpoints, "radix": radixes[0] if len(radixes) == 1 else radixes,
        "concentration": concentration,
        "oversubscription": ratios[0] if len(ratios) == 1 else ratios,
        "planes": needs[0].planes, "budget_usd": limit, "catalog": name, "basis": basis,
        "sorted_by": keys,
        "rows": _rows(radixes, near, found.found), "members": members, "left_out": found.left_out,
    })


def _members(found: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The cheapest of each kind, each network once: under the first of its names, or under the one
    by whose layout it is cheaper."""
    members: dict[tuple[int, float, str], dict[str, Any]] = {}
    for row in found:
        member = {
            "switch_ports": row["switch_ports"], "oversubscription": row["oversubscription"],
            **row["cheapest"], "also": [],
        }
        same = (row["switch_ports"], row["oversubscription"], member["general_form"])
        known = members.get(same)
        if known and _before(member, known):
            member, known = known, member
            members[same] = known
        if known is None:
            members[same] = member
        elif member["network"] != known["network"]:
            known["also"] = list(dict.fromkeys([*known["also"], *member["also"],
                                                member["network"]]))
    return list(members.values())


def _before(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether the first of two names of a network is listed: the cheaper, or better known."""
    def order(member: dict[str, Any]) -> tuple[float, int]:
        known = member["family"] in WELL_KNOWN
        return member.get("cost_usd") or 0.0, 0 if known else 1

    return order(one) < order(other)


def _within(member: dict[str, Any], limit_usd: float) -> bool:
    return member["cost_usd"] is not None and member["cost_usd"] <= limit_usd


def _dearer(member: dict[str, Any], limit_usd: float) -> dict[str, Any]:
    """A member above the budget, and by how much."""
    usd = member["cost_usd"]
    why = member["unpriced"] if usd is None else \
        f"{dollars(usd)} is {dollars(usd - limit_usd)} above the budget"
    keys = ("switch_ports", "oversubscription", "family", "kind", "network")
    return {**{key: member[key] for key in keys}, "why": why}


def _basis(
    members: Iterable[dict[str, Any]], bought: Shop | None
) -> tuple[str | None, str | None]:
    """What prices of the members are, which lose them: the basis, and the catalogue's name."""
    if bought is None:
        return None, None
    bases, names = set(), set()
    for member in members:
        basis, name, *_ = [member.pop(key) for key in NOT_SHOWN]
        if name is not None:
            bases.add(str(basis))
            names.add(str(name))
    return min(bases, default=None), min(names, default=str(bought.catalog()["name"]))


def _rows(
    radixes: Sequence[int], near: Sequence[list[dict[str, Any]]], found: Iterable[dict[str, Any]],
) -> list[dict[str, Any]]:
    """A row for each kind that has a member: its cheapest, and the nearest below and above."""
    rows: dict[tuple[int, str, str], dict[str, Any]] = {}
    for ports, kinds in zip(radixes, near, strict=True):
        for kind in kinds:
            rows[ports, kind["family"], kind["kind"]] = {
                "switch_ports": ports, **kind, "cheapest": None,
            }
    for row in found:
        key = (row["switch_ports"], row["family"], row["kind"])
        known = rows.setdefault(key, {
            "switch_ports": row["switch_ports"], "family": row["family"], "kind": row["kind"],
            "below": None, "above": None, "cheapest": None,
        })
        if known["cheapest"] is None:
            known["cheapest"] = row["cheapest"]["network"]
    return list(rows.values())


def budget(
    usd: float,
    *,
    radix: int | Iterable[int] = 64,
    concentration: str = "ceil",
    oversubscription: float = 1.0,
    families: Iterable[str] = (),
    planes: int | None = None,
    catalog: PriceList | None = None,
    gbps: float | None = None,
    include: str | Iterable[str] | None = None,
    sort: str | None = None,
    top: int | None = None,
    progress: Progress | None = None,
) -> Budget:
    """The most endpoints that a budget buys, in each family.

    For each kind the member with the most endpoints such that it costs at most ``usd`` and the
    cheapest member (:func:`size`) for one endpoint more costs more: never fewer endpoints for more
    money. Networks are built, laid out and priced (:func:`flyloom.cost`) by ``catalog`` at
    ``gbps``, for what ``include`` names; the other parameters are those of :func:`size`.
    :data:`flyloom.verbs.needs.MOST_ENDPOINTS` is the most that is tried.

    Field ``rows``: dicts with ``switch_ports``, ``family``, ``kind`` and ``largest`` (as a member
    of :func:`size`; None where the smallest costs too much or the catalogue has no price for it),
    most endpoints first; ``members``, those that there are, as in :func:`size`, by ``sort``, or
    most endpoints first. ``left_out``, where no family is named: kinds that carry less than a
    third of the endpoints of the best, by an estimate.
    """
    limit = checked_budget(usd)
    ranked([], COLUMNS, sort, top)  # refuses an unknown column before the work
    bought = shop(catalog, gbps=gbps, include=include)
    planes = checked_planes(planes)
    radixes, ratio = checked_radixes(radix), checked_ratios(oversubscription)[0]
    named = checked_families(families, planes)
    needs = [
        NetworkNeed(endpoints=1, radix=ports, concentration=concentration,
                    oversubscription=ratio, families=named, planes=planes)
        for ports in radixes
    ]
    work, left_out = affordable_kinds(limit, needs, bought, progress)

    def row(of: tuple[NetworkNeed, str, str]) -> dict[str, Any]:
        need, family, kind = of
        return {"switch_ports": need.radix, "oversubscription": ratio, "family": family,
                "kind": kind, "cheapest": largest(limit, need, family, kind, bought)}

    with silent():
        rows = list(in_order(row, work, "families", progress))
    basis, name = _basis([row["cheapest"] for row in rows if row["cheapest"]], bought)
    members = _members(row for row in rows if row["cheapest"])
    for each in rows:
        each["largest"] = each.pop("cheapest")
        del each["oversubscription"]
    rows.sort(key=lambda row: -row["largest"]["endpoints"] if row["largest"] else 1)
    for member in members:
        network(member["network"])  # says its notes
    judge(members, FRONT)
    members, keys = ranked(members, COLUMNS, sort or "endpoints", top)
    return Budget({
        "budget_usd": limit, "radix": radixes[0] if len(radixes) == 1 else radixes,
        "concentration": concentration, "planes": planes, "oversubscription": ratio,
        "catalog": name, "basis": basis, "sorted_by": keys, "rows": rows, "members": members,
        "left_out": left_out,
    })


def checked_budget(usd: float | str) -> float:
    """An amount of US dollars, also as text such as ``30M``; RefusalError where it is none."""
    try:
        limit = float(amount("budget", usd, 1, 10**12) if isinstance(usd, str) else usd)
    except (TypeError, ValueError):
        raise RefusalError(f"budget: {usd!r} is no amount of US dollars; above 0") from None
    if not 0.0 < limit <= 1e12:
        raise RefusalError(f"budget: {usd} is out of range; above 0, at most 1e12 US dollars")
    return limit


def checked_limit(budget: float | str | None) -> float | None:
    """A budget, where one is given; RefusalError where it is none."""
    return None if budget is None else checked_budget(budget)


def checked_ratios(given: float | str | Iterable[float | str]) -> list[float]:
    """Ratios of oversubscription, or one, each once; RefusalError where one is none."""
    several = [given] if isinstance(given, int | float | str) else list(given)
    found = []
    for each in several:
        try:
            ratio = float(each)
        except (TypeError, ValueError):
            raise RefusalError(f"oversubscription: {each!r} is no number; 1 to 64") from None
        if not 1.0 <= ratio <= 64.0:
            raise RefusalError(f"oversubscription: {ratio:g} is out of range; 1 to 64")
        found.append(ratio)
    if not found:
        raise RefusalError("oversubscription: no ratio is given; 1 to 64")
    return list(dict.fromkeys(found))


def checked_families(given: Iterable[str], planes: int | None) -> list[str]:
    """Names of families; RefusalError where one is none that is sized, or has no planes."""
    named = [given] if isinstance(given, str) else list(given)
    _, own = own_sizing.chosen(named)
    if own and named and planes not in (None, 1):
        raise RefusalError(
            f"planes: {own[0].name} is a topology of yours, which has no planes; families of"
            " flyloom, or planes in its own code"
        )
    return named


def scale(
    radixes: Iterable[int],
    *,
    concentration: str = "ceil",
    oversubscription: float = 1.0,
    families: Iterable[str] = (),
    planes: int | None = None,
    progress: Progress | None = None,
) -> Scales:
    """The largest full-bandwidth member of each family for switches of each number of ports.

    Families without a largest member (random graphs) are left out. ``planes`` multiplies them, as
    in :func:`size`. Field ``rows``: dicts with
    ``switch_ports``, ``family``, ``kind`` and ``largest`` (as ``below`` of :func:`size`).
    """
    ports = checked_radixes(radixes)
    planes = checked_planes(planes)
    rule = FamilyMemberRequest(
        concentration=concentration, oversubscription=oversubscription,
        families=checked_families(families, planes), planes=planes,
    )
    found = _nearest([(None, each) for each in ports], rule, progress)
    rows = [
        {"switch_ports": each, "family": row["family"], "kind": row["kind"],
         "largest": row["below"]}
        for each, members in zip(ports, found, strict=True) for row in members if row["below"]
    ]
    return Scales({
        "concentration": concentration, "oversubscription": float(oversubscription),
        "planes": planes, "rows": rows,
    })


def checked_radixes(given: int | str | Iterable[int], least: int = 2) -> list[int]:
    """Numbers of ports, or one, each once; RefusalError where one is none, or none is given."""
    several: Iterable[int | str] = [given] if isinstance(given, int | str) else given
    found = [whole("radix", ports, least, 4096) for ports in several]
    if not found:
        raise RefusalError(f"radix: no number of ports is given; {least} to 4096")
    return list(dict.fromkeys(found))


def checked_planes(given: int | None) -> int | None:
    """A number of planes, where one is given; RefusalError where it is none."""
    return None if given is None else whole("planes", given, 1, MOST_PLANES)


def below(
    wishes: Sequence[tuple[int | None, int]],
    families: Iterable[str],
    skipped: Iterable[tuple[str, str]],
    progress: Progress | None,
) -> list[list[dict[str, Any]]]:
    """For each of the wishes, endpoints (None: the most) and ports of a switch, the largest member
    of each kind of family with at most this number: dicts as in ``rows`` of :func:`size`, without
    those of the kinds ``skipped`` (family, kind)."""
    request = FamilyMemberRequest(families=checked_families(families, None))
    return _nearest(wishes, request, progress, skipped)


def _nearest(
    wishes: Sequence[tuple[int | None, int]],
    rule: FamilyMemberRequest,
    progress: Progress | None,
    skipped: Iterable[tuple[str, str]] | None = None,
) -> list[list[dict[str, Any]]]:
    """The rows of each wish; those below alone where kinds are skipped."""
    wishes = [(endpoints, whole("radix", radix, 2, 4096)) for endpoints, radix in wishes]
    ratio = checked_ratios(rule.oversubscription)[0]
    named = rule.families
    names, own = own_sizing.chosen(named)
    found: list[list[dict[str, Any]]] = [[] for _ in wishes]
    if names or not named:
        found = _core.nearest({
            "wishes": wishes, "concentration": rule.concentration, "oversubscription": ratio,
            "families": names, "planes": rule.planes, "below_only": skipped is not None,
            "skipped": list(skipped or ()),
        }, progress)
    for family in own if rule.planes in (None, 1) else ():
        for rows, (endpoints, radix) in zip(found, wishes, strict=True):
            rows += own_sizing.nearest(family, endpoints, radix, rule.concentration, ratio)
    return found
