"""Networks for a need: the cheapest member of each family that carries it, within its ports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from flyloom import _core
from flyloom._core import RefusalError, Shop
from flyloom.inputs.networks import network
from flyloom.support.notes import once, silent
from flyloom.support.parallel import in_order
from flyloom.support.progress import Progress
from flyloom.verbs import own_sizing
from flyloom.verbs.prices import priced

BILLED = ("cost_usd", "cost_usd_low", "cost_usd_high", "cost_usd_per_endpoint",
          "cost_usd_per_endpoint_low", "cost_usd_per_endpoint_high", "power_w_per_endpoint",
          "basis", "catalog")
"""What a member has of its bill."""
MOST_ENDPOINTS = 1 << 20
"""The largest member that is priced, and that a budget is spent on."""
DOUBT = (0.04, 0.01)
"""By how much the price of a member may be below its estimate, in the proportion of the members
that are priced: at first, and from the third on, when the spread of these proportions is known and
counts too."""
UNSOLD = 1e18
"""The price [US dollars] of a switch that is not sold, in estimates, above that of any network."""
MOST_CLIMBS = 4
"""Steps of one endpoint towards the most that a budget buys, before the steps get longer."""
DOUBTED = 1.2
"""Where an estimate is above this many times a budget, no price of that kind is within it."""
FAR = 3.0
"""Kinds whose estimated price is this many times that of the cheapest kind are not priced, unless
their family is asked for by name."""


@dataclass(frozen=True, kw_only=True)
class FamilyMemberRequest:
    """The members of families that are asked for, beside the number of endpoints."""

    concentration: str = "ceil"
    oversubscription: float = 1.0
    families: Sequence[str] = ()
    planes: int | None = None


@dataclass(frozen=True, kw_only=True)
class NetworkNeed(FamilyMemberRequest):
    """What a network is needed for: endpoints to carry, within ports and bandwidth."""

    endpoints: int
    radix: int


def kinds(
    need: NetworkNeed, bought: Shop | None, progress: Progress | None = None
) -> list[dict[str, Any]]:
    """The kinds of family that carry the need: dicts with ``family``, ``kind`` and ``members``,
    those that may be the cheapest with their ``estimate`` [US dollars; without a shop a rank by
    switches, then links], least first."""
    names, own = own_sizing.chosen(need.families)
    prices = _rough_prices(bought, need.radix)
    found: list[dict[str, Any]] = []
    if names or not need.families:
        found = _core.carrying({
            "endpoints": need.endpoints, "radix": need.radix,
            "concentration": need.concentration, "oversubscription": need.oversubscription,
            "families": names, "planes": need.planes, **prices,
        }, progress)
    for family in own if need.planes in (None, 1) else ():
        found.append(_own_kind(family, need, prices))
    return [kind for kind in found if kind["members"]]


def _rough_prices(bought: Shop | None, radix: int) -> dict[str, Any]:
    prices = bought.rough_prices(radix) if bought else None
    if prices is None or all(usd is None for usd in prices["switch_price"]):
        # nothing is sold: fewest switches, then fewest links
        return {"switch_price": [1.0] * (radix + 1), "link_price": 1e-7, "endpoint_price": 0.0}
    # members of switches that are not sold come last
    prices["switch_price"] = [UNSOLD if usd is None else usd for usd in prices["switch_price"]]
    return prices


def most_ports_sold(radix: int, bought: Shop | None) -> int:
    """The most ports, up to ``radix``, of a switch on sale; ``radix`` where none is, or no shop."""
    prices = bought.rough_prices(radix)["switch_price"] if bought else []
    return max((ports for ports, usd in enumerate(prices) if usd is not None), default=radix)


def _say_sold(radix: int, bought: Shop | None) -> None:
    """A note where the catalogue sells no switch of as many ports as are admitted."""
    sold = most_ports_sold(radix, bought)
    if bought and sold < radix:
        once(f"{bought.catalog()['name']} has no price of a switch of more than {sold} ports at"
             " this rate: networks of larger ones are not among the cheapest (--catalog with one)")


def _own_kind(
    family: Any, need: NetworkNeed, prices: dict[str, Any]
) -> dict[str, Any]:
    """The members of a user's topology that carry the need, as one kind."""
    found = own_sizing.carrying(
        family, need.endpoints, need.radix, need.concentration, need.oversubscription
    )
    members = []
    for figures in found:
        usd = prices["switch_price"][figures["radix"]]
        estimate = usd * figures["switches"] + prices["link_price"] * figures["links"]
        members.append({
            **{key: figures[key] for key in (
                "network", "params", "endpoints", "switches", "links", "radix")},
            "estimate": estimate, "figures": figures,
        })
    members.sort(key=lambda member: (member["estimate"], member["network"]))
    return {"family": family.name, "kind": "", "members": members}


def cheapest(
    needs: Sequence[NetworkNeed], bought: Shop | None, progress: Progress | None = None
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The cheapest member of each kind for each need, and the kinds that are far dearer.

    Rows have ``switch_ports``, ``oversubscription``, ``family``, ``kind`` and ``cheapest``: the
    figures of the member as in :func:`flyloom.size`, with its bill where there is a shop
    (``unpriced`` says why it has none). Kinds that are far dearer, which are looked for only where
    no family is named, have ``network`` and ``times``, the estimated price over that of the
    cheapest kind.
    """
    work: list[tuple[NetworkNeed, dict[str, Any]]] = []
    far: list[dict[str, Any]] = []
    for need in needs:
        _say_sold(need.radix, bought)
        found = kinds(need, bought, progress)
        least = min((kind["members"][0]["estimate"] for kind in found), default=0.0)
        for kind in found:
            times = kind["members"][0]["estimate"] / least if least else 1.0
            unsold = kind["members"][0]["estimate"] >= UNSOLD
            if times <= FAR or unsold or need.families:
                work.append((need, kind))
            else:
                far.append({
                    "switch_ports": need.radix, "oversubscription": need.oversubscription,
                    "family": kind["family"], "kind": kind["kind"],
                    "network": kind["members"][0]["network"], "times": times,
                })

    def row(item: tuple[NetworkNeed, dict[str, Any]]) -> dict[str, Any]:
        need, kind = item
        member, bill = _least(kind["members"], bought)
        return {
            "switch_ports": need.radix, "oversubscription": need.oversubscription,
            "family": kind["family"], "kind": kind["kind"],
            "cheapest": {**described(kind, member, need.planes), **bill},
        }

    with silent():
        return list(in_order(row, work, "prices", progress)), far


def described(
    kind: dict[str, Any], member: dict[str, Any], planes: int | None
) -> dict[str, Any]:
    """The figures of a member, distances too."""
    if "figures" in member:
        return {**member["figures"], "general_form": member["network"]}
    return _core.described_member(kind["family"], kind["kind"], member["params"], planes)


def _least(
    members: Sequence[dict[str, Any]], bought: Shop | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The member of the least price, and its bill; the one of the least estimate without prices."""
    if bought is None:
        return members[0], {}
    best: tuple[dict[str, Any], dict[str, Any]] | None = None
    ratios: list[float] = []
    for member in members:
        if best and member["estimate"] * _least_ratio(ratios) > best[1]["cost_usd"]:
            break
        bill = bill_of(member, bought)
        usd = bill["cost_usd"]
        if usd is None:
            return best or (member, bill)
        ratios.append(usd / member["estimate"])
        if best is None or usd < best[1]["cost_usd"]:
            best = member, bill
    assert best is not None
    return best


def _least_ratio(ratios: Sequence[float]) -> float:
    """The least price over estimate that a member may have, by those of the members priced."""
    low, high = min(ratios), max(ratios)
    doubt = DOUBT[0] if len(ratios) < 3 else DOUBT[1] + (high / low - 1.0)
    return low * (1.0 - doubt)


def bill_of(member: dict[str, Any], bought: Shop) -> dict[str, Any]:
    """What a member costs and draws, and ``unpriced``: why that is not known where it is not."""
    if member["endpoints"] > MOST_ENDPOINTS:
        return {**dict.fromkeys(BILLED), "unpriced": f"more than {MOST_ENDPOINTS:,} endpoints"}
    try:
        bill, unpriced = priced(network(member["network"]), bought, BILLED)
    except RefusalError as refusal:  # too large for this machine
        bill, unpriced = dict.fromkeys(BILLED), str(refusal)
    return {**bill, "unpriced": unpriced}


def affordable_kinds(
    limit_usd: float, needs: Sequence[NetworkNeed], bought: Shop, progress: Progress | None
) -> tuple[list[tuple[NetworkNeed, str, str]], list[dict[str, Any]]]:
    """Kinds that a budget may buy networks of, each with its need; and, where no family is named,
    those left out because they carry less than a third of the endpoints of the best, by estimates:
    dicts with ``switch_ports``, ``family``, ``kind`` and ``why``."""
    work: list[tuple[NetworkNeed, str, str]] = []
    left_out: list[dict[str, Any]] = []
    for need in needs:
        every: dict[tuple[str, str], int] = {}
        for endpoints in (2**n for n in range(20, -1, -1)):
            for kind in kinds(replace(need, endpoints=endpoints), bought, progress):
                name = (kind["family"], kind["kind"])
                if kind["members"][0]["estimate"] <= DOUBTED * limit_usd:
                    every[name] = every.get(name) or endpoints
                else:
                    every.setdefault(name, 0)
        best = max(every.values(), default=1)
        for (family, kind_name), most in every.items():
            # sizes are powers of two: the kind carries below twice as many
            if need.families or 2 * most > best // 3 or not most:
                work.append((need, family, kind_name))
            else:
                left_out.append({
                    "switch_ports": need.radix, "family": family, "kind": kind_name,
                    "why": f"at most about {2 * most:,} endpoints",
                })
    return work, left_out


def largest(
    limit_usd: float, need: NetworkNeed, family: str, kind: str, bought: Shop
) -> dict[str, Any] | None:
    """The member of a kind that carries the most endpoints for at most ``limit_usd``, with its
    bill: the cheapest for its number of endpoints, where the cheapest for one more costs more.
    None where the smallest costs too much, or has no price.

    The price of the cheapest never falls with the number of endpoints. The search goes by
    estimates, in the proportion of those that are priced, to a number near the answer, and from
    there by prices.
    """
    def offers(endpoints: int) -> list[dict[str, Any]]:
        wanted = replace(need, endpoints=endpoints, families=[family])
        return next((k["members"] for k in kinds(wanted, bought) if k["kind"] == kind), [])

    smallest = offers(1)
    if not smallest or smallest[0]["estimate"] > DOUBTED * limit_usd:
        return None
    best: tuple[dict[str, Any], dict[str, Any]] | None = None
    low, high, ratio, climbs = 0, MOST_ENDPOINTS + 1, 1.0, 0
    guess = _estimated(offers, low, high, limit_usd)
    while high - low > 1:
        guess = min(max(guess, low + 1), high - 1)
        found = offers(guess)
        member, bill = _least(found, bought) if found else ({}, {"cost_usd": None})
        usd = bill["cost_usd"]
        if usd is not None and usd <= limit_usd:
            best, low, climbs = (member, bill), max(guess, member["endpoints"]), climbs + 1
            # one more is soon too dear; where it is not, the search goes on by the price
            if climbs <= MOST_CLIMBS:
                guess = low + 1
            elif high > MOST_ENDPOINTS:
                guess = max(int(low * limit_usd / usd), low + low // 100)
            else:
                guess = (low + high) // 2
        else:
            high = guess
            if best is None:
                ratio = usd / member["estimate"] if usd else ratio
                guess = _estimated(offers, low, high, limit_usd / ratio)
            else:
                guess = (low + high) // 2
    if best is None:
        return None
    member, bill = best
    return {**described({"family": family, "kind": kind}, member, need.planes), **bill}


def _estimated(
    offers: Callable[[int], list[dict[str, Any]]], low: int, high: int, limit: float
) -> int:
    """The largest number of endpoints above ``low`` and below ``high``, or nearly, that some member
    carries for an estimate of at most ``limit``; ``low`` + 1 where none does."""
    guess = min(max(low + 1, int(limit / 3000)), high - 1)
    for _ in range(12):
        if high - low <= 2:
            break
        found = offers(guess)
        least = found[0]["estimate"] if found else None
        if least is not None and least <= limit:
            low = max(guess, found[0]["endpoints"])
            guess = int(low * limit / least)
            guess = guess if guess < high else (low + high) // 2
        else:
            high = guess
            guess = int(guess * limit / least) if least else (low + high) // 2
            guess = guess if guess > low else (low + high) // 2
        guess = min(max(guess, low + 1), max(high - 1, low + 1))
    return max(min(low, high - 1), 1)
