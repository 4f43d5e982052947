"""Maximum achievable throughput of traffic on a network.

Source: Jyothi, Singla, Godfrey, Kolla, "Measuring and understanding throughput of network
topologies", SC 2016.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from flyloom._core import RefusalError, Traffic
from flyloom.inputs.networks import network
from flyloom.inputs.tables import Tables, holds_tables, tables
from flyloom.inputs.traffic import Wanted, called, demands
from flyloom.solve.linear import over_any_paths, over_tables
from flyloom.support.checks import whole
from flyloom.support.progress import Progress
from flyloom.support.verb_results import Throughput
from flyloom.verbs.routes import route


def throughput(
    source: Tables,
    traffic: Wanted = "uniform",
    *,
    engine: str | None = None,
    epsilon: float | None = None,
    elephants: float = 0.1,
    seed: int = 0,
    lmc: int | None = None,
    layers: int | None = None,
    engine_options: Mapping[str, Any] | None = None,
    top: int = 10,
    progress: Progress | None = None,
    **options: Any,
) -> Throughput:
    """The largest t such that t times the traffic can be routed within every channel's capacity.

    A channel's capacity is the rate of its link over that of the fastest endpoint cable; cables of
    endpoints are no limit, so t can be above 1. Traffic splits over paths at will. See
    docs/measures.md for the definitions and the cost.

    Parameters
    ----------
    source
        A network, as for ``network``; or tables, a ``Routing`` or a folder of them, whose routes
        are then those that there are.
    traffic
        A name (``"uniform"``, ``"longest_matching"``, ``"elephant"``, a pattern), a file, a matrix
        or rows ``(src, dst, demand)``: see docs/measures.md#own-traffic.
    engine
        Routes are those of this engine's tables, with ``lmc``, ``layers`` and its ``options`` as
        for ``route``; any path where it is None.
    epsilon
        Bounds that are at most this fraction apart, 0.005 to 1, in place of a linear program.
    elephants
        Fraction of the flows of ``"elephant"`` that is large.
    seed
        Seed of the draw of these.
    engine_options
        Options of the engine that have the name of a parameter here, such as its ``seed``.
    top
        The most channels in ``busiest_channels``; with 0 none are sought, which for a linear
        program over any paths takes half the time.
    progress
        Called with ``(what, done, total)``.

    Fields: ``maximum_achievable_throughput`` (with ``epsilon`` the lower bound, which a flow
    reaches), ``upper_bound``, ``exact``, ``network``, ``traffic``, ``exact_matching`` (whether no
    matching is longer; None for other traffic), ``engine``, ``epsilon``, ``rounds`` (None unless
    ``epsilon``), ``busiest_channels`` (rows ``from``, ``port``, ``to``, ``to_port`` and ``load``:
    what the channel carries of its capacity at the largest t, in the flow that was found; others
    may reach t, too). Raises ``RefusalError`` for traffic between parts without a path and for
    linear programs that are too large.
    """
    given = tables(source) if holds_tables(source) else None
    topology = network(source) if given is None else given.topology
    if given is not None and engine is not None:
        raise RefusalError("engine: these are tables, which have their routes; leave it out")
    options = {**(engine_options or {}), **options}
    if epsilon is not None:
        if isinstance(epsilon, bool) or not isinstance(epsilon, (int, float)):
            raise RefusalError(f"epsilon: {epsilon!r} is no number; 0.005 to 1")
        if not 0.005 <= epsilon <= 1:
            raise RefusalError(f"epsilon: {epsilon} is out of range; 0.005 to 1")
    if engine is None and (options or layers is not None or lmc is not None):
        raise RefusalError("engine: lmc, layers and options are an engine's; name one")
    top = whole("top", top, 0, 2**32 - 1)
    wanted = demands(topology, traffic, elephants=elephants, seed=seed)
    routing = given
    if engine == "application" and not options.keys() & {"flows", "traffic"}:
        options["flows"] = wanted.flows()
    if engine is not None:
        routing = route(
            topology, engine, lmc=lmc, layers=layers, new_lids=None, progress=progress, **options
        )
    rounds = None
    if epsilon is not None:
        bounds = wanted.bounds(float(epsilon), routing, progress)
        value, upper, rounds = bounds["lower"], bounds["upper"], bounds["rounds"]
        loads = _loads(wanted, bounds)
    else:
        largest = over_any_paths(topology, wanted, loads=top > 0) if routing is None else (
            over_tables(wanted, wanted.routes(routing, progress)))
        upper = value = largest.value
        loads = largest.loads
    return Throughput({
        "maximum_achievable_throughput": value,
        "upper_bound": upper,
        "exact": epsilon is None, "network": topology.recipe,
        "traffic": called(traffic), "exact_matching": wanted.exact_matching,
        "engine": engine if given is None else given.engine, "epsilon": epsilon,
        "rounds": rounds, "busiest_channels": wanted.busiest(loads, top),
    })


def _loads(wanted: Traffic, bounds: Mapping[str, Any]) -> np.ndarray:
    """The loads of all channels under the flow that proves the lower of two bounds."""
    capacity = wanted.capacities()
    carried = np.bincount(
        bounds["channels"].astype(np.int64), weights=np.repeat(bounds["share"], bounds["hops"]),
        minlength=len(capacity),
    )
    loads = np.zeros(len(capacity))
    np.divide(bounds["lower"] * carried, capacity, out=loads, where=carried > 0)
    return loads
