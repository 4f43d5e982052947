"""What can be built: networks of a number of endpoints, the largest of each family."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from flyloom import _core
from flyloom._core import RefusalError, Shop
from flyloom.inputs.catalogs import PriceList, shop
from flyloom.inputs.networks import network
from flyloom.support.checks import amount, whole
from flyloom.support.notes import silent
from flyloom.support.parallel import in_order
from flyloom.support.progress import Progress
from flyloom.support.verb_results import Budget, Scales, Sizing
from flyloom.verbs import own_sizing
from flyloom.verbs.prices import priced
from flyloom.verbs.ranking import judge, ranked

BILLED = ("cost_usd", "cost_usd_low", "cost_usd_high", "cost_usd_per_endpoint",
          "cost_usd_per_endpoint_low", "cost_usd_per_endpoint_high", "power_w_per_endpoint")
"""What a member within a budget has of its bill."""
MOST_ENDPOINTS = 1 << 20
"""The largest member that a budget is spent on, or that is priced."""
MOST_PLANES = 64

#: Columns of the table of sizes: key, heading, what it means.
COLUMNS = (
    ("rank", "rank", "place in the order asked for"),
    ("switch_ports", "switch", "ports of the switches on sale"),
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


@dataclass(frozen=True, kw_only=True)
class FamilyMemberRequest:
    """The members of families that are asked for, beside the number of endpoints."""

    concentration: str = "ceil"
    oversubscription: float = 1.0
    families: Iterable[str] = ()
    planes: int | None = None


def size(
    endpoints: int,
    *,
    radix: int | Iterable[int] = 64,
    concentration: str = "ceil",
    oversubscription: float = 1.0,
    families: Iterable[str] = (),
    planes: int | None = None,
    prices: bool = True,
    catalog: PriceList | None = None,
    gbps: float | None = None,
    include: str | Iterable[str] | None = None,
    sort: str | None = None,
    top: int | None = None,
    progress: Progress | None = None,
) -> Sizing:
    """The members of each family nearest to a number of endpoints, below and above.

    Only members of full bandwidth (times ``oversubscription``) whose switches need at most
    ``radix`` ports; of several numbers of ports, members for each. ``concentration`` says how many
    endpoints a switch carries: ``ceil`` and ``floor`` round the family's own rule (half the network
    radix in a Slim Fly), ``exact`` is the most with which uniform traffic over minimal paths loads
    the average channel in full, rounded down. ``families`` are names; all when empty. ``planes``
    multiplies each member to this number of planes, a rail of every endpoint in each; when None
    families have what they have by themselves.

    Field ``rows``: dicts with ``switch_ports``, ``family``, ``kind``, ``below`` and ``above``, each
    None or a dict with ``network`` (the inline form), ``params``, ``planes``, ``endpoints``,
    ``switches``, ``links`` (of all planes), ``radix``, ``network_radix``, ``concentration``,
    ``full_bandwidth_concentration``, ``diameter`` and ``mean_distance`` (intervals [low, high] in
    hops, between switches that carry endpoints), ``moore_fraction`` and ``measured`` (whether the
    distances were measured because the family has no formula for them).

    Field ``members``: those within a factor of two, each once for each number of ports, with
    ``rank`` (:func:`flyloom.verbs.ranking.ranked` by ``sort``, a key of :data:`COLUMNS`; the
    ``top`` first), ``switch_ports``, ``pareto`` and ``best_in``, and, unless ``prices`` is False,
    their ``cost_usd`` and ``cost_usd_per_endpoint``, both also with ``_low`` and ``_high`` (at the
    lowest and highest prices), ``power_w_per_endpoint`` and ``unpriced`` (why
    there is no price, or None), by ``catalog``, ``gbps`` and ``include`` as for
    :func:`flyloom.shop`. ``sorted_by`` has the keys of the order; ``basis`` and ``catalog`` say
    what prices are, None without.
    """
    endpoints = whole("endpoints", endpoints, 1, 1 << 40)
    planes = checked_planes(planes)
    rule = FamilyMemberRequest(
        concentration=concentration, oversubscription=oversubscription, families=families,
        planes=planes,
    )
    radixes = checked_radixes(radix)
    ranked([], COLUMNS, sort, top)  # refuses an unknown column before the work
    if not prices and any(given is not None for given in (catalog, gbps, include)):
        raise RefusalError("prices: False, beside catalog, gbps or include, which ask for prices")
    bought = shop(catalog, gbps=gbps, include=include) if prices else None
    wishes = [(endpoints, ports) for ports in radixes]
    rows = [
        {"switch_ports": ports, **row}
        for ports, found in zip(radixes, _nearest(wishes, rule, progress), strict=True)
        for row in found
    ]
    members = []
    names: set[str] = set()
    for row in rows:
        near = _within(endpoints, 2.0, row)
        members += [{"switch_ports": row["switch_ports"], **member} for member in near]
    basis = None
    if bought:
        known = _bills(members, bought, progress)
        for member in members:
            member.update(known[member["network"]])
            basis = basis or member["basis"]
            if of := member.pop("catalog"):
                names.add(of)
            member.pop("basis")
    judge(members, FRONT)
    members, keys = ranked(members, COLUMNS, sort, top)
    name = bought.catalog()["name"] if bought else None
    return Sizing({
        "endpoints": endpoints, "radix": radixes[0] if len(radixes) == 1 else radixes,
        "concentration": concentration, "oversubscription": float(oversubscription),
        "planes": planes, "catalog": min(names, default=name), "basis": basis, "sorted_by": keys,
        "rows": rows, "members": members,
    })


def _within(endpoints: int, factor: float, row: dict[str, Any]) -> list[dict[str, Any]]:
    """The members of a row within a factor of this number of endpoints, each once."""
    both = [row["below"], *([row["above"]] if row["above"] != row["below"] else [])]
    low, high = endpoints / factor, endpoints * factor
    return [member for member in both if member and low <= member["endpoints"] <= high]


def _bills(
    members: Iterable[dict[str, Any]], bought: Shop, progress: Progress | None
) -> dict[str, dict[str, Any]]:
    """:func:`_bill` of each network among the members."""
    networks = {member["network"]: member for member in members}
    bills = in_order(lambda member: _bill(member, bought), [*networks.values()], "prices", progress)
    return dict(zip(networks, bills, strict=True))


def _bill(member: dict[str, Any], bought: Shop) -> dict[str, Any]:
    """What a member costs and draws, and why that is not known where it is not."""
    keys = (*BILLED, "basis", "catalog")
    if member["endpoints"] > MOST_ENDPOINTS:
        return {**dict.fromkeys(keys), "unpriced": f"more than {MOST_ENDPOINTS:,} endpoints"}
    try:
        bill, unpriced = priced(network(member["network"]), bought, keys)
    except RefusalError as refusal:  # too large for this machine
        bill, unpriced = dict.fromkeys(keys), str(refusal)
    return {**bill, "unpriced": unpriced}


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
    """The largest member of each family that a budget buys.

    Networks are built, laid out and priced (:func:`flyloom.cost`) by ``catalog`` at ``gbps``, for
    what ``include`` names; the
    other parameters are those of :func:`size`. A member is the answer when it costs at most ``usd``
    and the next larger one of its family costs more, or there is none; :data:`MOST_ENDPOINTS` is
    the most that is tried. Field ``rows``: dicts with
    ``switch_ports``, ``family``, ``kind`` and ``largest`` (as ``below`` of :func:`size`, with
    ``cost_usd``, ``cost_usd_per_endpoint`` and ``power_w_per_endpoint`` and the lowest and highest
    of the costs, as there; None where the smallest
    costs too much or the catalogue has no price for it), most endpoints first; and ``members``,
    those that there are, as in :func:`size`, by ``sort``, or most endpoints first.
    """
    limit = checked_budget(usd)
    ranked([], COLUMNS, sort, top)  # refuses an unknown column before the work
    bought = shop(catalog, gbps=gbps, include=include)
    planes = checked_planes(planes)
    rule = FamilyMemberRequest(
        concentration=concentration, oversubscription=oversubscription, families=families,
        planes=planes,
    )
    radixes = checked_radixes(radix)
    start = max(2, int(limit / 2000))
    first = _nearest([(start, ports) for ports in radixes], rule, progress)
    kinds = [
        (ports, row["family"], row["kind"])
        for ports, found in zip(radixes, first, strict=True) for row in found
    ]

    def row(of: tuple[int, str, str]) -> dict[str, Any]:
        ports, family, kind = of

        def near(endpoints: int) -> dict[str, Any]:
            found = _nearest([(endpoints, ports)], replace(rule, families=[family]), None)[0]
            return next((row for row in found if row["kind"] == kind), {})

        return {"switch_ports": ports, "family": family, "kind": kind,
                "largest": _largest_within(limit, start, near, bought)}

    with silent():
        rows = list(in_order(row, kinds, "families", progress))
    rows.sort(key=lambda row: -row["largest"]["endpoints"] if row["largest"] else 1)
    members = [
        {"switch_ports": row["switch_ports"], **row["largest"]} for row in rows if row["largest"]
    ]
    for member in members:
        network(member["network"])  # says its notes
    judge(members, FRONT)
    members, keys = ranked(members, COLUMNS, sort or "endpoints", top)
    return Budget({
        "budget_usd": limit, "radix": radixes[0] if len(radixes) == 1 else radixes,
        "concentration": concentration, "planes": planes,
        "oversubscription": float(oversubscription), "catalog": bought.catalog()["name"],
        "sorted_by": keys, "rows": rows, "members": members,
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


def _largest_within(
    limit: float, start: int, near: Callable[[int], dict[str, Any]], bought: Shop
) -> dict[str, Any] | None:
    """The largest affordable member, found between the best so far and the least that is too
    expensive: the next try is in proportion to the cost, or halves the gap, in turn."""
    best: dict[str, Any] | None = None
    dear: dict[str, Any] | None = None
    turn = 0
    while True:
        low = best["endpoints"] if best else 0
        high = dear["endpoints"] if dear else MOST_ENDPOINTS + 1
        known = best or dear
        guess = start
        if known and known["cost_usd"]:
            guess = int(known["endpoints"] * limit / known["cost_usd"])
        if turn % 2 and dear:
            guess = (low + high) // 2
        turn += 1
        if high - low < 2:
            return best
        both = near(min(max(guess, low + 1), high - 1))
        members = (both.get("below"), both.get("above"))
        member = next((m for m in members if m and low < m["endpoints"] < high), None)
        if member is None:
            return best  # no member is between them
        bill, _ = priced(network(member["network"]), bought, BILLED)
        member = {**member, **bill}  # no price: the catalogue lacks switches or cables for it
        if member["cost_usd"] is None or member["cost_usd"] > limit:
            dear = member
        else:
            best = member


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
        concentration=concentration, oversubscription=oversubscription, families=families,
        planes=planes,
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
    return _nearest(wishes, FamilyMemberRequest(families=families), progress, skipped)


def _nearest(
    wishes: Sequence[tuple[int | None, int]],
    rule: FamilyMemberRequest,
    progress: Progress | None,
    skipped: Iterable[tuple[str, str]] | None = None,
) -> list[list[dict[str, Any]]]:
    """The rows of each wish; those below alone where kinds are skipped."""
    wishes = [(endpoints, whole("radix", radix, 2, 4096)) for endpoints, radix in wishes]
    try:
        ratio = float(rule.oversubscription)
    except (TypeError, ValueError):
        raise RefusalError(
            f"oversubscription: {rule.oversubscription!r} is no number; 1 to 64"
        ) from None
    if not 1.0 <= ratio <= 64.0:
        raise RefusalError(f"oversubscription: {ratio:g} is out of range; 1 to 64")
    named = [rule.families] if isinstance(rule.families, str) else list(rule.families)
    names, own = own_sizing.chosen(named)
    if own and named and rule.planes not in (None, 1):
        raise RefusalError(
            f"planes: {own[0].name} is a topology of yours, which has no planes; families of"
            " flyloom, or planes in its own code"
        )
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
