"""What can be built: networks of so many endpoints, the largest of each family."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from flyloom import _core
from flyloom._core import RefusalError, Shop
from flyloom.inputs.catalogs import shop
from flyloom.inputs.networks import network
from flyloom.support.checks import whole
from flyloom.support.progress import Progress
from flyloom.support.results import Result
from flyloom.verbs import own_sizing
from flyloom.verbs.prices import priced

BILLED = ("cost_usd", "cost_usd_per_endpoint", "power_w_per_endpoint")
"""What a member within a budget has of its bill."""
MOST_ENDPOINTS = 1 << 20
"""The largest member that a budget is spent on."""


def size(
    endpoints: int,
    *,
    radix: int = 64,
    concentration: str = "ceil",
    oversubscription: float = 1.0,
    families: Iterable[str] = (),
    progress: Progress | None = None,
) -> Result:
    """The members of each family nearest to a number of endpoints, below and above.

    Only members of full bandwidth (times ``oversubscription``) whose switches need at most
    ``radix`` ports. ``concentration`` says how many endpoints a switch carries: ``ceil`` and
    ``floor`` round the family's own rule (half the network radix in a Slim Fly), ``exact`` is the
    most with which uniform traffic over minimal paths loads the average channel in full, rounded
    down. ``families`` are names; all when empty. Field ``rows``: dicts with ``family``, ``kind``,
    ``below`` and ``above``, each None or a dict with ``network`` (the inline form), ``params``,
    ``endpoints``, ``switches``, ``links``, ``radix``, ``network_radix``, ``concentration``,
    ``full_bandwidth_concentration``, ``diameter`` and ``mean_distance`` (intervals [low, high] in
    hops, between switches that carry endpoints), ``moore_fraction`` and ``measured`` (whether the
    distances were measured because the family has no formula for them).
    """
    whole("endpoints", endpoints, 1, 1 << 40)
    rows = _nearest(endpoints, radix, concentration, oversubscription, families, progress)
    return Result({
        "endpoints": endpoints, "radix": radix, "concentration": concentration,
        "oversubscription": float(oversubscription), "rows": rows,
    })


def budget(
    usd: float,
    *,
    radix: int = 64,
    concentration: str = "ceil",
    oversubscription: float = 1.0,
    families: Iterable[str] = (),
    catalog: str | os.PathLike[str] | None = None,
    gbps: float | None = None,
    include: str | Iterable[str] | None = None,
    progress: Progress | None = None,
) -> Result:
    """The largest member of each family that a budget buys.

    Networks are built, laid out and priced (:func:`flyloom.cost`) by ``catalog`` at ``gbps``, for
    what ``include`` names; the
    other parameters are those of :func:`size`. A member is the answer when it costs at most ``usd``
    and the next larger one of its family costs more, or there is none; :data:`MOST_ENDPOINTS` is
    the most that is tried. Field ``rows``: dicts with
    ``family``, ``kind`` and ``largest`` (as ``below`` of :func:`size`, with ``cost_usd``,
    ``cost_usd_per_endpoint`` and ``power_w_per_endpoint``; None where the smallest costs too much
    or the catalogue has no price for it), most endpoints first.
    """
    try:
        limit = float(usd)
    except (TypeError, ValueError):
        raise RefusalError(f"budget: {usd!r} is no amount of US dollars; above 0") from None
    if not 0.0 < limit <= 1e12:
        raise RefusalError(f"budget: {usd} is out of range; above 0, at most 1e12 US dollars")
    bought = shop(catalog, gbps=gbps, include=include)
    rule = (radix, concentration, oversubscription)
    start = max(2, int(limit / 2000))
    rows = []
    kinds = [(row["family"], row["kind"]) for row in _nearest(start, *rule, families, progress)]
    for number, (family, kind) in enumerate(kinds):
        if progress:
            progress("families", number, len(kinds))

        def near(endpoints: int, family: str = family, kind: str = kind) -> dict[str, Any]:
            found = _nearest(endpoints, *rule, [family], None)
            return next((row for row in found if row["kind"] == kind), {})

        rows.append({"family": family, "kind": kind,
                     "largest": _largest_within(limit, start, near, bought)})
    rows.sort(key=lambda row: -row["largest"]["endpoints"] if row["largest"] else 1)
    return Result({
        "budget_usd": limit, "radix": radix, "concentration": concentration,
        "oversubscription": float(oversubscription), "catalog": bought.catalog()["name"],
        "rows": rows,
    })


def _largest_within(
    limit: float, start: int, near: Callable[[int], dict[str, Any]], bought: Shop
) -> dict[str, Any] | None:
    """The largest affordable member, by members between the best and the least that is too dear:
    in proportion to the cost and halving the gap in turn."""
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
            return best  # nothing is between them
        bill, _ = priced(network(member["network"]), bought, BILLED)
        member = {**member, **bill}  # no price: switches or cables that the catalogue lacks
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
    progress: Progress | None = None,
) -> Result:
    """The largest full-bandwidth member of each family for switches of each number of ports.

    Families without a largest member (random graphs) are left out. Field ``rows``: dicts with
    ``switch_ports``, ``family``, ``kind`` and ``largest`` (as ``below`` of :func:`size`).
    """
    rows = []
    for ports in checked_radixes(radixes):
        found = _nearest(None, ports, concentration, oversubscription, families, progress)
        rows += [
            {"switch_ports": ports, "family": row["family"], "kind": row["kind"],
             "largest": row["below"]}
            for row in found if row["below"]
        ]
    return Result({
        "concentration": concentration, "oversubscription": float(oversubscription), "rows": rows,
    })


def checked_radixes(given: Iterable[int]) -> list[int]:
    """Numbers of ports, or one; RefusalError where one is none, or none is given."""
    if isinstance(given, int):
        given = [given]
    found = [whole("radix", ports, 2, 4096) for ports in given]
    if not found:
        raise RefusalError("radix: no number of ports is given; 2 to 4096")
    return found


def _nearest(
    endpoints: int | None,
    radix: int,
    concentration: str,
    oversubscription: float,
    families: Iterable[str],
    progress: Progress | None,
) -> list[dict[str, Any]]:
    whole("radix", radix, 2, 4096)
    try:
        ratio = float(oversubscription)
    except (TypeError, ValueError):
        raise RefusalError(
            f"oversubscription: {oversubscription!r} is no number; 1 to 64"
        ) from None
    named = [families] if isinstance(families, str) else list(families)
    names, own = own_sizing.chosen(named)
    found: list[dict[str, Any]] = []
    if names or not named:
        found = _core.nearest(endpoints, radix, concentration, ratio, names, progress)
    for family in own:
        found += own_sizing.nearest(family, endpoints, radix, concentration, ratio)
    return found
