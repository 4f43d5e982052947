"""Tables for a network, and all that is asked of them: route, verify, repair, lanes, loads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from flyloom._core import Routing, routes_asked
from flyloom.inputs.networks import Source, network
from flyloom.plugins.found import part
from flyloom.support.checks import whole
from flyloom.support.progress import Progress
from flyloom.support.results import Result
from flyloom.verbs.engines import route_by_ours


def route(
    source: Source,
    engine: str,
    *,
    lmc: int | None = None,
    layers: int | None = None,
    lanes: str | Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Routing:
    """Forwarding tables for a network.

    ``engine`` is one of ours (``flyloom list engines``) with its ``options``, or
    ``opensm:<engine>`` for OpenSM's own, run on a simulated fabric (``opensm:nue`` takes
    ``max_lanes``, 1 to 8). ``lmc`` gives ``2**lmc`` routes to every terminal; ``layers`` any number
    of them from 1 to 128. ``lanes`` says how the routes of any of our engines get their lanes: a
    method (``"hops"``, ``"random:seed=1"``; see docs/routing.md), or a dict of ``method``,
    ``max_lanes``, ``balance`` and ``seed``, the table ``[lanes]`` of experiments.
    The engine ``application`` takes ``traffic``, as ``throughput`` does, in place of its ``flows``.
    """
    if lmc is not None:
        whole("lmc", lmc, 0, 7)
    if layers is not None:
        whole("layers", layers, 1, 128)
    if lanes is not None:
        options["lanes"] = _lanes(lanes)
    plain = {key: value for key, value in options.items() if key not in ("traffic", "flows")}
    ours = None if part("engine", engine) else engine
    count = routes_asked(ours, lmc, layers, plain)
    if engine.startswith("opensm:"):
        from flyloom.deploy.fabric import route_with_opensm

        return route_with_opensm(
            source, engine.removeprefix("opensm:"), lmc=count.bit_length() - 1,
            max_lanes=options.get("max_lanes"),
        )
    return route_by_ours(network(source), engine, options, count, lmc, progress)


def verify(
    routing: Routing, *, hop_limit: int = 64, max_lanes: int = 15,
    progress: Progress | None = None,
) -> Result:
    """Proof that tables are right, with evidence.

    Fields: ``holds`` (everything does), ``lanes``, ``complete`` (``holds``; ``routes``,
    ``max_hops``, ``mean_hops`` and ``hop_histogram`` over all layers and ordered pairs of a switch
    with endpoints and a terminal on another switch; or ``counterexample``), ``management`` (the
    same for routes from switches without endpoints and to switches, which do not count for
    ``holds``), ``deadlock`` (``holds``; ``dependencies`` of the channel dependency graph and
    ``rechecked``, whether the separate checker accepts the numbering of channels; or the ``cycle``
    and its ``counterexample``; None when routes are not complete).

    ``verdicts`` has every question by name, ``no_missing_entry``, ``no_dead_port``,
    ``no_wrong_delivery``, ``no_loop``, ``no_over_the_hop_limit`` (more than ``hop_limit`` hops),
    ``management``, ``no_deadlock`` and ``within_lanes`` (no route on a lane from ``max_lanes``
    on), each with ``holds`` (None: not judged) and its ``witness``, or the ``counterexample`` and
    the number of ``routes`` that end so.
    """
    whole("hop_limit", hop_limit, 0, 2**32 - 1)
    whole("max_lanes", max_lanes, 1, 15)
    return Result(routing.verify(hop_limit=hop_limit, progress=progress, max_lanes=max_lanes))


def repair(
    routing: Routing,
    topology: Source,
    *,
    links: Iterable[int | str] = (),
    switches: Iterable[int | str] = (),
    random: int = 0,
    seed: int = 0,
    progress: Progress | None = None,
) -> tuple[Routing, Result]:
    """Tables for a network that has lost links or switches, with as few entries changed as can be.

    Only routes over what failed are looked at; those that remain keep their entries and levels.

    Parameters
    ----------
    routing
        The tables before; every route must arrive.
    topology
        Their network.
    links, switches
        Those that failed, besides those that had failed before: links by number,
        ``"SWITCH:SWITCH"`` (all cables between) or ``"SWITCH:PORT"``, switches by number or name.
    random, seed
        So many working links fail, too, drawn by the seed.

    Returns the new tables and what it took. Fields: ``changed_entries`` towards endpoints and
    ``least_changed_entries`` (no repair can change fewer), ``changed_switches``, the same towards
    switches (``..._to_switches``), ``changed_service_levels`` (paths), ``stopped_entries``,
    ``safe`` ("in any order", "in the order given", "in steps", "after draining", "unknown":
    whether the entries can change under traffic without deadlock; unknown where the old tables
    could deadlock), ``why``, and ``changes``: in a safe order, each with ``switch``,
    ``endpoint``, ``terminal``, ``layer``, ``was`` and ``port``. In steps: first the entries of
    ``stops`` drop packets; when those sent before have left, paths change their levels
    (``level_changes``, each with ``was`` and ``level``, ``switch`` being where they start); when
    those sent before have left, entries change in the order of ``changes``.
    Raises ``RefusalError`` where the rest is disconnected or no way fits the lanes in use.
    """
    damaged = network(topology).with_failures(
        list(links), list(switches), random=random, seed=seed
    )
    mended, found = routing.repair(damaged, progress)
    return mended, Result(found)


def lanes_needed(
    routing: Routing, *, rng: int = 0, progress: Progress | None = None
) -> Result:
    """How many virtual lanes each method needs to make given routes free of deadlock.

    Field ``methods``: a list with ``method`` (``online``, ``lightest``, ``heaviest``, ``random``,
    ``hops``; see docs/routing.md), ``lanes`` and ``service_levels``, both None where 15 lanes or
    16 levels are not enough, and ``why`` then. ``rng`` is the seed of ``random``.
    """
    whole("rng", rng, 0, 2**64 - 1)
    return Result(routing.measure("lanes_needed", {"seed": rng}, progress))


def spread(
    routing: Routing,
    method: str | Mapping[str, Any] = "online",
    *,
    max_lanes: int = 8,
    balance: bool = False,
    rng: int = 0,
    progress: Progress | None = None,
) -> Routing:
    """The same routes on new lanes, service levels and SL2VL tables, free of deadlock.

    Parameters
    ----------
    routing
        Tables of any origin.
    method
        ``online``, ``lightest``, ``heaviest``, ``random`` or ``hops``, or all of it as ``lanes`` of
        :func:`route`; see docs/routing.md. Routes that need no second lane stay on one, whatever
        the method.
    max_lanes
        Most data lanes, 1 to 15.
    balance
        Deals the paths to all of ``max_lanes`` lanes.
    rng
        Seed of ``random``.

    Raises ``RefusalError`` where the lanes, or 16 service levels, are not enough.
    """
    whole("max_lanes", max_lanes, 1, 15)
    whole("rng", rng, 0, 2**64 - 1)
    asked = {"max_lanes": max_lanes, "balance": bool(balance), "seed": rng}
    usual = {"max_lanes": 8, "balance": False, "seed": 0}
    said = {key: value for key, value in asked.items() if value != usual[key]}
    return routing.spread({"lanes": _lanes(method), **said}, progress)


def _lanes(chosen: str | Mapping[str, Any]) -> str | dict[str, Any]:
    return dict(chosen) if isinstance(chosen, Mapping) else chosen


def edge_load(routing: Routing) -> Result:
    """Routes over each channel when every terminal sends to every other, all layers together.

    Fields: ``edge_forwarding_index`` (most routes on a channel), ``lower_bound`` (total hops over
    channels, rounded up: no routing with these path lengths has a lower index), ``hops``,
    ``histogram`` ([routes, channels] pairs).
    """
    return Result(routing.load())


def path_diversity(routing: Routing, *, progress: Progress | None = None) -> Result:
    """Distinct and link-disjoint paths that the layers give each ordered pair of edge switches.

    A pair's paths are the distinct routes of all layers to one terminal on its second switch; where
    the terminals there differ, the pair counts with the fewest. Paths are disjoint when they share
    no link in either direction; the most disjoint ones are found exactly. Fields: ``pairs``,
    ``mean_disjoint_paths``, ``fraction_pairs_3_disjoint_paths`` (pairs with at least three),
    ``mean_distinct_paths`` (None without pairs), ``disjoint_histogram`` and ``distinct_histogram``
    (entry n: pairs with n paths), ``hop_histograms`` (a list a layer; entry h: routes of h hops,
    one for every pair and terminal), ``longest_histogram`` (entry h: pairs whose longest route over
    all layers and terminals has h hops), ``mean_hops`` ([mean hops of a pair's routes, pairs]).
    """
    return Result(routing.path_diversity(progress=progress))


def ebb(
    routing: Routing,
    *,
    patterns: int = 1000,
    rng: int = 0,
    progress: Progress | None = None,
) -> Result:
    """Effective bisection bandwidth over given tables, as a fraction of the injection rate.

    Random halves, random perfect matchings; a flow's share is one over the largest congestion on
    its route (the mean over its routes when there are several). ``rng`` is the seed. Fields:
    ``effective_bisection_bandwidth`` (mean over patterns), ``confidence_interval_95``,
    ``pattern_means``, ``flow_histogram`` (flows by share, 20 bins of 0.05), ``max_congestion``,
    ``patterns``, ``seed``.
    """
    whole("patterns", patterns, 1, 2**32 - 1)
    whole("rng", rng, 0, 2**64 - 1)
    return Result(routing.ebb(patterns=patterns, seed=rng, progress=progress))
