"""The verbs of the static floor: structure, plan, route, verify, ebb, and their relatives."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from flyloom._core import RefusalError, Routing, Topology
from flyloom.prices import floor_rules, shop
from flyloom.graph import network
from flyloom.results import Result

Progress = Callable[[str, int, int], None]

OPENSM_ENGINES = (
    "minhop", "updn", "dnup", "ftree", "lash", "dor", "torus-2QoS", "nue", "dfsssp", "sssp",
)
"""OpenSM's engines that need no file, by its manual page."""


def whole(name: str, given: Any, low: int, high: int) -> int:
    """``given`` as a whole number from ``low`` to ``high``; RefusalError naming it otherwise."""
    try:
        value = operator.index(given)
    except TypeError:
        raise RefusalError(f"{name}: {given!r} is no whole number; {low} to {high}") from None
    if not low <= value <= high:
        raise RefusalError(f"{name}: {value} is out of range; {low} to {high}")
    return value


def known_to_opensm(engine: str) -> None:
    """RefusalError where OpenSM has no engine of the name ``opensm:NAME``."""
    if engine.removeprefix("opensm:") not in OPENSM_ENGINES:
        known = ", ".join(f"opensm:{name}" for name in OPENSM_ENGINES)
        raise RefusalError(f"engine: OpenSM has no '{engine}'; {known}")


def structure(
    source: Any,
    *,
    paths: bool = False,
    disjoint: bool = False,
    load: bool = False,
    spectrum: bool = False,
    bisection: bool = False,
    hops: Iterable[int] | None = None,
    pairs: int = 100_000,
    starts: int = 16,
    rng: int = 0,
    progress: Progress | None = None,
) -> Result:
    """Counts, distances, girth and Moore bound of a network, and the sections asked for.

    Fields: ``switches``, ``endpoints``, ``terminals``, ``links`` (working ones), ``network_radix``,
    ``concentration``, ``radix``, ``planes``, ``diameter`` and ``mean_distance`` [hops] between
    switches that carry endpoints (ordered pairs of distinct ones), ``histogram`` (pairs by
    distance), ``unreachable`` pairs, ``mean_distance_endpoints`` (over ordered pairs of endpoints,
    0 hops apart on one switch), the same over all switches (``..._all_switches``), ``girth``
    (None: no cycle), ``moore_bound`` and ``moore_fraction`` (switches over the bound for this
    radix and diameter).

    Parameters
    ----------
    source
        A network, as for ``network``.
    paths
        Adds ``minimal_paths`` and ``almost_minimal_paths`` (at most one hop longer): ``pairs``,
        ``sum``, ``min``, ``mean``, ``max`` and ``histogram`` of their numbers.
    disjoint
        Adds ``disjoint_paths``, numbers of link-disjoint paths: ``any_length`` for all pairs, and
        ``bounded``, a list with one entry for each of ``hops``.
    load
        Adds ``channel_load``: what traffic between all switches (``unit``) or terminals, split
        evenly over minimal paths, loads the channels with; ``uniform_saturation``.
    spectrum
        Adds ``spectrum``: eigenvalues of the adjacency matrix and of the Laplacian.
    bisection
        Adds ``bisection``: at least ``low`` and at most ``high`` links.
    hops
        Bounds on the length of disjoint paths; the diameter and one more where it is None.
    pairs
        Bounded disjoint paths are counted for all pairs, or for a sample of so many.
    starts
        Runs of the search for a small cut.
    rng
        Seed of the sample and of the search.
    progress
        Called with ``(what, done, total)`` ten times a second.
    """
    whole("pairs", pairs, 1, 2**64 - 1)
    whole("starts", starts, 1, 2**20)
    whole("rng", rng, 0, 2**64 - 1)
    bounds = None if hops is None else [whole("hops", h, 1, 2**32 - 1) for h in hops]
    return Result(network(source).structure(
        paths=paths, disjoint=disjoint, load=load, spectrum=spectrum, bisection=bisection,
        hops=bounds, pairs=pairs, starts=starts, seed=rng, progress=progress,
    ))


def resilience(
    source: Any,
    *,
    remove: str = "links",
    until: Iterable[str] = ("disconnected",),
    samples: int = 1000,
    rng: int = 0,
    progress: Progress | None = None,
) -> Result:
    """How much of a network can fail at random before it breaks or grows long.

    Links (or ``remove="switches"``, with their endpoints) are removed one by one in random order,
    until the switches with endpoints are ``disconnected``, their ``diameter`` exceeds that of the
    intact network by more than 2 hops, or their ``mean`` distance by more than 1 hop. ``rng`` is
    the seed. Fields: ``network``, ``remove``, ``items`` (links or switches there are),
    ``samples``, ``seed``, and ``ends`` with, for each of ``until``: ``removed`` (by sample: how
    many were gone when the end came), ``mean`` fraction, ``confidence_interval_95``, ``median``,
    ``quantiles`` (5, 25, 75, 95 %), ``survival`` (share of samples that hold with 0, 5, ..., 100 %
    removed), ``all_hold`` and ``half_hold`` (the largest of these steps at which all, or at least
    half, of the samples hold).
    """
    whole("samples", samples, 1, 2**20)
    whole("rng", rng, 0, 2**64 - 1)
    ends = [until] if isinstance(until, str) else [str(end) for end in until]
    found = network(source).resilience(remove, ends, samples, rng, progress)
    return Result(found)


def promise(source: Any) -> Result | None:
    """What the family's formulae say of the network, None for files. ``diameter`` and
    ``mean_distance`` are intervals [low, high], of width 0 where the formula is exact."""
    found = network(source).promise()
    return None if found is None else Result(found)


def plan(
    source: Any,
    rules: Mapping[str, Any] | str | os.PathLike | None = None,
    *,
    catalog: str | os.PathLike | None = None,
    gbps: float | None = None,
) -> Result:
    """Racks and cables of a network.

    ``rules`` changes sizes and distances (see ``result.rules`` for all with their defaults), as a
    dict or a TOML file; ``catalog`` and ``gbps`` are what cables are bought from and at which rate,
    as for :func:`flyloom.shop`. Fields: ``racks`` (name, row, column, position [m], units taken,
    watts), ``switches`` and ``endpoints`` (seats: rack index and unit), ``cables`` (number),
    ``cables_csv`` (the port-to-port list), ``by_step`` (cables of endpoints, inside groups, inside
    racks, between racks), ``rack_pairs``, ``classes`` (by kind and stock length: count, metres,
    cost), ``cost_usd`` of all cables, ``length_m``, ``rules``, ``catalog``.
    """
    return Result(network(source).plan(floor_rules(rules), shop(catalog, gbps=gbps)))


def cables(
    source: Any,
    folder: str | os.PathLike,
    *,
    rules: Mapping[str, Any] | str | os.PathLike | None = None,
    catalog: str | os.PathLike | None = None,
    gbps: float | None = None,
    paper: str = "a4",
    labels: tuple[int, int] = (3, 8),
    spare: float = 0.02,
    progress: Progress | None = None,
) -> Result:
    """Writes the folder that people wire a network from; see docs/cabling.md for its files.

    Parameters
    ----------
    source
        A network, as for ``network``.
    folder
        Where to write; made where it is missing. Files of an earlier run are replaced.
    rules, catalog, gbps
        As for ``plan``.
    paper
        ``a4``, or ``a3`` (pairs of racks across); labels are always on A4.
    labels
        Labels beside and above each other on a sheet.
    spare
        Cables to buy beyond those needed, as a fraction of these, 0 to 1; rounded up for each kind,
        stock length and rate.
    progress
        Called with ``(what, done, total)``.

    Fields: ``folder``, ``network``, ``racks``, ``rack_pairs`` (those with a cable between them),
    ``pairs_drawn`` (all, or none where they are more than 2000), ``cables``, ``by_step``, ``pages``
    of cabling.pdf, ``label_sheets``, ``spare``, ``buy`` (cables to buy), ``cost_usd`` of these,
    ``order`` (rows of order.csv), ``files``. Raises ``RefusalError`` where the folder cannot be
    written or the labels are too small for their words. O(cables).
    """
    from flyloom.cabling.folder import check_folder, write_folder

    if paper not in ("a4", "a3"):
        raise RefusalError(f"paper: {paper!r} is not known; a4, a3")
    try:
        columns, rows = labels
    except (TypeError, ValueError):
        raise RefusalError(f"labels: {labels!r} is not (columns, rows); (3, 8)") from None
    grid = (whole("labels", columns, 1, 100), whole("labels", rows, 1, 100))
    if isinstance(spare, bool) or not isinstance(spare, (int, float)) or not 0 <= spare <= 1:
        raise RefusalError(f"spare: {spare!r} is no fraction of the cables; 0 to 1")
    place = Path(folder)
    check_folder(place)
    topology = network(source)
    return Result(write_folder(
        topology, plan(topology, rules, catalog=catalog, gbps=gbps).to_dict(), place, paper=paper,
        labels=grid, spare=float(spare), progress=progress,
    ))


def route(
    source: Any,
    engine: str,
    *,
    lmc: int | None = None,
    layers: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Routing:
    """Forwarding tables for a network.

    ``engine`` is one of ours (``flyloom list engines``) with its ``options``, or
    ``opensm:<engine>`` for OpenSM's own, run on a simulated fabric (``opensm:nue`` takes
    ``max_lanes``, 1 to 8). ``lmc`` gives ``2**lmc`` routes to every terminal; ``layers`` any number
    of them from 1 to 128.
    The engine ``application`` takes ``traffic``, as ``throughput`` does, in place of its ``flows``.
    """
    if lmc is not None:
        whole("lmc", lmc, 0, 7)
    if layers is not None:
        whole("layers", layers, 1, 128)
    if layers is not None and lmc is not None and layers > 1 << lmc:
        raise RefusalError(f"layers: {layers} routes do not fit LMC {lmc}; at most {1 << lmc}")
    if engine.startswith("opensm:"):
        from flyloom.deploy.fabric import route_with_opensm

        known_to_opensm(engine)
        lanes = options.pop("max_lanes", None)
        if options or layers not in (None, 1 << (lmc or 0)):
            raise RefusalError(
                f"{engine}: OpenSM's engines take an LMC and no options; nue takes max_lanes"
            )
        return route_with_opensm(
            source, engine.removeprefix("opensm:"), lmc=lmc or 0, max_lanes=lanes
        )
    count = layers if layers is not None else 1 << (lmc or 0)
    topology = network(source)
    if engine == "application" and "flows" not in options:
        from flyloom._throughput import demands

        options["flows"] = demands(topology, options.pop("traffic", "uniform")).flows()
    if lmc:
        topology.addresses(lmc)  # refuses what no LIDs are left for, before anything is computed
    return topology.route(engine, options, count, progress)


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
    topology: Any,
    *,
    links: Iterable[int] = (),
    switches: Iterable[int] = (),
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
        Numbers of those that failed, besides those that had failed before.

    Returns the new tables and what it took. Fields: ``changed_entries`` towards endpoints and
    ``least_changed_entries`` (no repair can change fewer), ``changed_switches``, the same towards
    switches (``..._to_switches``), ``changed_service_levels`` (paths), ``safe`` ("in any order",
    "in the order given", "after draining", "unknown": whether the entries can change under traffic
    without deadlock; unknown where the old tables could deadlock), ``why``, and ``changes``: in a
    safe order, each with ``switch``, ``endpoint``, ``terminal``, ``layer``, ``was`` and ``port``.
    Raises ``RefusalError`` where the rest is disconnected or no way fits the lanes in use.
    """
    damaged = network(topology).with_failures(list(links), list(switches))
    mended, found = routing.repair(damaged, progress)
    return mended, Result(found)


def lost_in(topology: Any, found: Any) -> tuple[list[int], list[int]]:
    """The numbers of the links and switches of a network that a fabric as found does not have.

    Switches are matched by name, links by switch and port at both ends. A link of a lost switch
    is not named apart.
    """
    planned, there = network(topology), network(found)
    keys = ("a_switch", "a_port", "b_switch", "b_port", "up")

    def cables(of: Topology) -> Iterable[tuple[int, frozenset]]:
        names = of.switch_names
        for i, (a, p, b, q, up) in enumerate(zip(*(of.link_table[k] for k in keys), strict=True)):
            if up:
                yield i, frozenset({(names[a], int(p)), (names[b], int(q))})

    known, left = set(there.switch_names), {cable for _, cable in cables(there)}
    switches = [i for i, name in enumerate(planned.switch_names) if name not in known]
    links = [
        i for i, cable in cables(planned)
        if cable not in left and all(name in known for name, _ in cable)
    ]
    return links, switches


def lanes_needed(
    routing: Routing, *, rng: int = 0, progress: Progress | None = None
) -> Result:
    """How many virtual lanes each method needs to make given routes free of deadlock.

    Field ``methods``: a list with ``method`` (``online``, ``lightest``, ``heaviest``, ``random``,
    ``hops``; see docs/routing.md), ``lanes`` and ``service_levels``, both None where 15 lanes or
    16 levels are not enough, and ``why`` then. ``rng`` is the seed of ``random``.
    """
    whole("rng", rng, 0, 2**64 - 1)
    return Result({"methods": routing.lanes_needed(rng, progress)})


def spread(
    routing: Routing,
    method: str = "online",
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
        ``online``, ``lightest``, ``heaviest``, ``random`` or ``hops``; see docs/routing.md. Routes
        that need no second lane stay on one, whatever the method.
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
    return routing.spread(method, max_lanes, bool(balance), rng, progress)


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


def check_cables(
    planned: Any,
    found: Any,
    *,
    identify: str = "auto",
    guids: Mapping[str, int] | None = None,
    rules: dict | None = None,
) -> Result:
    """Compares a fabric that was found (a network, or ibnetdiscover output) with the plan.

    Fields: ``clean``, ``planned``, ``correct``, ``degraded``, ``misplaced``, ``lost`` (numbers of
    cables); ``findings``, each with ``kind`` (also as ``fault``), ``where``, ``what``, ``mend``,
    ``planned``, ``found`` and ``moves`` (what to do, for a program, to be done in order);
    ``progress`` (cables ``planned``, ``laid``, ``correct``, ``degraded`` and ``wrong`` by step and
    by rack; None without a floor); ``identified`` (``by``, numbers of ``switches`` and
    ``endpoints``, and how many ways are ``equally_good``); ``switch_states`` (by switch);
    ``cables`` (states of the cables that are not correct); ``guids`` (GUIDs found, by device).

    Parameters
    ----------
    identify
        What tells which device is which: "guid", "name", "structure" (the cables alone), or "auto",
        GUIDs, then names, and the structure where these tell of fewer than half of the switches.
    guids
        GUIDs by device name, in place of the plan's own.
    rules
        The floor rules that labels, racks and steps come from.
    """
    known = None if guids is None else {str(k): whole("guids", v, 1, 2**64 - 1)
                                        for k, v in guids.items()}
    return Result(network(planned).check_cables(network(found), identify, known, rules))
