"""Maximum achievable throughput of traffic on a network: linear programs, and certified bounds.

Source: Jyothi, Singla, Godfrey, Kolla, "Measuring and understanding throughput of network
topologies", SC 2016.
"""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from flyloom._core import RefusalError, Topology, Traffic
from flyloom.graph import network, read_text
from flyloom.results import Result
from flyloom.verbs import Progress, route, whole

NAMED = ("uniform", "longest_matching", "elephant")
"""The traffic matrices that need no file."""

HEADERS = (("src", "dst", "demand"), ("src_switch", "dst_switch", "demand"))
"""First lines of a file of traffic; under the second, numbers are those of switches."""

MOST_FLOWS = 50_000
"""The largest linear program over any paths that is solved: source switches times channels."""

MOST_ROUTES = 500_000
"""The largest linear program over given tables that is solved: routes."""


def throughput(
    source: Any,
    traffic: Any = "uniform",
    *,
    engine: str | None = None,
    epsilon: float | None = None,
    elephants: float = 0.1,
    rng: int = 0,
    lmc: int | None = None,
    layers: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Result:
    """The largest t such that t times the traffic can be routed within every channel's capacity.

    A channel's capacity is the rate of its link over that of the fastest endpoint cable; cables of
    endpoints are no limit, so t can be above 1. Traffic splits over paths at will. See
    docs/measures.md for the definitions and the cost.

    Parameters
    ----------
    source
        A network, as for ``network``.
    traffic
        ``"uniform"``, ``"longest_matching"``, ``"elephant"``; the path of a CSV file with lines
        ``src,dst,demand``; or such triples.
    engine
        Routes are those of this engine's tables, with ``lmc``, ``layers`` and its ``options`` as
        for ``route``; any path where it is None.
    epsilon
        Bounds that are at most this fraction apart, 0.005 to 1, in place of a linear program.
    elephants
        Fraction of the flows of ``"elephant"`` that is large.
    rng
        Seed of the draw of these.
    progress
        Called with ``(what, done, total)``.

    Fields: ``maximum_achievable_throughput`` (with ``epsilon`` the lower bound, which a flow
    reaches), ``upper_bound``, ``exact``, ``network``, ``traffic``, ``exact_matching`` (whether no
    matching is longer; None for other traffic), ``engine``, ``epsilon``, ``rounds`` (None unless
    ``epsilon``). Raises ``RefusalError`` for traffic between parts without a path and for linear
    programs that are too large.
    """
    topology = network(source)
    if epsilon is not None:
        if isinstance(epsilon, bool) or not isinstance(epsilon, (int, float)):
            raise RefusalError(f"epsilon: {epsilon!r} is no number; 0.005 to 1")
        if not 0.005 <= epsilon <= 1:
            raise RefusalError(f"epsilon: {epsilon} is out of range; 0.005 to 1")
    if engine is None and (options or layers is not None or lmc is not None):
        raise RefusalError("engine: lmc, layers and options are an engine's; name one")
    wanted = demands(topology, traffic, elephants=elephants, rng=rng)
    routing = None
    if engine == "application" and not options.keys() & {"flows", "traffic"}:
        options["flows"] = wanted.flows()
    if engine is not None:
        routing = route(topology, engine, lmc=lmc, layers=layers, progress=progress, **options)
    rounds = None
    if epsilon is not None:
        found = wanted.bounds(float(epsilon), routing, progress)
        value, upper, rounds = found["lower"], found["upper"], found["rounds"]
    elif routing is None:
        upper = value = over_any_paths(topology, wanted)
    else:
        upper = value = over_tables(wanted, wanted.routes(routing, progress))
    return Result({
        "maximum_achievable_throughput": value,
        "upper_bound": upper,
        "exact": epsilon is None, "network": topology.recipe,
        "traffic": str(traffic) if isinstance(traffic, (str, os.PathLike)) else "given",
        "exact_matching": wanted.exact_matching, "engine": engine, "epsilon": epsilon,
        "rounds": rounds,
    })


def demands(topology: Topology, traffic: Any, *, elephants: float = 0.1, rng: int = 0) -> Traffic:
    """The traffic that ``traffic`` stands for, as for ``throughput``."""
    whole("rng", rng, 0, 2**64 - 1)
    try:
        fraction = float(elephants)
    except (TypeError, ValueError):
        raise RefusalError(f"elephants: {elephants!r} is no fraction; 0 to 1") from None
    if not 0 <= fraction <= 1:
        raise RefusalError(f"elephants: {elephants} is no fraction of the flows; 0 to 1")
    if isinstance(traffic, str) and traffic in NAMED:
        return Traffic.named(topology, traffic, fraction, rng)
    if isinstance(traffic, (str, os.PathLike)):
        path = Path(traffic)
        if not os.path.isfile(path):
            known = ", ".join(NAMED)
            raise RefusalError(f"traffic: '{traffic}' is no file; {known}, or a CSV file")
        lines = csv.reader(read_text(path).splitlines(), skipinitialspace=True)
        rows = ((f"{path}: line {lines.line_num}", row) for row in lines)
        where = str(path)
    elif isinstance(traffic, Iterable):
        rows = ((f"traffic: row {i}", row) for i, row in enumerate(traffic))
        where = "traffic"
    else:
        raise RefusalError(f"traffic: {traffic!r} is neither a name nor rows src, dst, demand")
    listed = _parties(topology, where, rows)
    try:
        return Traffic.listed(topology, listed)
    except RefusalError as error:
        raise RefusalError(f"{where}: {error}") from None


def _parties(
    topology: Topology, where: str, rows: Iterable[tuple[str, Any]]
) -> list[tuple[bool, int, bool, int, float]]:
    endpoints = {name: i for i, name in enumerate(topology.endpoint_names)}
    switches = {name: i for i, name in enumerate(topology.switch_names)}
    numbers_are_switches = False

    def party(at: str, given: Any) -> tuple[bool, int]:
        word = str(given).strip()
        if word.isascii() and word.isdigit():
            number = int(word)
            known = len(switches) if numbers_are_switches else len(endpoints)
            if number < known:
                return numbers_are_switches, number
            kind = "switch" if numbers_are_switches else "endpoint"
            raise RefusalError(f"{at}: {word} is no {kind}; 0 to {known - 1}")
        if word in endpoints:
            return False, endpoints[word]
        if word in switches:
            return True, switches[word]
        raise RefusalError(f"{at}: there is no endpoint and no switch '{word}'")

    found = []
    for at, row in rows:
        cells = [str(cell).strip() for cell in row] if isinstance(row, Iterable) else []
        if not any(cells) or cells[0].startswith("#"):
            continue
        if not found and tuple(cells) in HEADERS:
            numbers_are_switches = cells[0] == "src_switch"
            continue
        if len(cells) != 3:
            raise RefusalError(f"{at}: {len(cells)} values; write src,dst,demand")
        try:
            amount = float(cells[2])
        except ValueError:
            amount = math.nan
        if amount != 0 and not 1e-6 <= amount <= 1e6:
            raise RefusalError(
                f"{at}: {cells[2]} is no amount of traffic; 0, or 0.000001 to 1000000"
            )
        found.append((*party(at, cells[0]), *party(at, cells[1]), amount))
    if not found:
        raise RefusalError(f"{where}: no demands; lines src,dst,demand")
    return found


def over_any_paths(topology: Topology, wanted: Traffic) -> float:
    """The exact maximum over any paths: one flow a source switch, conserved at every switch."""
    rows = wanted.by_switch()
    source, destination, amount = (rows[k] for k in ("source", "destination", "amount"))
    capacity = wanted.capacities()
    table = topology.link_table
    tail = np.ravel(np.column_stack([table["a_switch"], table["b_switch"]])).astype(np.int64)
    head = np.ravel(np.column_stack([table["b_switch"], table["a_switch"]])).astype(np.int64)
    working = np.flatnonzero(capacity > 0)
    tail, head, capacity = tail[working], head[working], capacity[working]
    sources, of_row = np.unique(source, return_inverse=True)
    switches, channels = topology.switches, len(working)
    count = len(sources) * channels
    if count > MOST_FLOWS:
        raise RefusalError(
            f"traffic: {len(sources)} source switches times {channels} channels are too many for a "
            f"linear program; at most {MOST_FLOWS} together, or give epsilon"
        )
    # variable 0 is t; a row for every (source, switch) but the source itself: in - out = t demand
    row_of = (np.arange(len(sources)) * switches)[:, None]
    variables = 1 + np.arange(count).reshape(len(sources), channels)
    rows_of = np.concatenate([
        (row_of + head).ravel(), (row_of + tail).ravel(),
        of_row * switches + destination.astype(np.int64),
        len(sources) * switches + np.tile(np.arange(channels), len(sources)),
    ])
    columns = np.concatenate([
        variables.ravel(), variables.ravel(), np.zeros(len(amount), np.int64), variables.ravel(),
    ])
    ones = np.ones(count)
    values = np.concatenate([ones, -ones, -amount, ones])
    balance = np.arange(len(sources)) * switches + sources
    keep = ~np.isin(rows_of, balance)
    low = np.concatenate([np.zeros(len(sources) * switches), np.full(channels, -np.inf)])
    high = np.concatenate([np.zeros(len(sources) * switches), capacity])
    return _largest(count + 1, rows_of[keep], columns[keep], values[keep], low, high)


def over_tables(wanted: Traffic, found: dict[str, Any]) -> float:
    """The exact maximum where each demand may split over its routes only."""
    amount, choice, hops = found["amount"], found["choice"].astype(np.int64), found["hops"]
    capacity, channels = wanted.capacities(), found["channels"].astype(np.int64)
    if (capacity[channels] <= 0).any():
        raise RefusalError("tables: a route crosses a link that is down; route the network again")
    routes = len(choice)
    of_hop = np.repeat(np.arange(routes), hops)
    if routes == len(amount):  # one route each: nothing to choose
        load = np.bincount(channels, weights=amount[choice][of_hop], minlength=len(capacity))
        return float(1 / (load[load > 0] / capacity[load > 0]).max())
    if routes > MOST_ROUTES:
        raise RefusalError(
            f"traffic: {routes} routes are too many for a linear program; at most {MOST_ROUTES}: "
            "fewer layers, a smaller network, or give epsilon"
        )
    demand_rows = np.arange(len(amount))
    rows = np.concatenate([choice, demand_rows, len(amount) + channels])
    columns = np.concatenate([1 + np.arange(routes), np.zeros(len(amount), np.int64), 1 + of_hop])
    values = np.concatenate([np.ones(routes), -amount, np.ones(len(channels))])
    low = np.concatenate([np.zeros(len(amount)), np.full(len(capacity), -np.inf)])
    high = np.concatenate([np.zeros(len(amount)), capacity])
    return _largest(routes + 1, rows, columns, values, low, high)


def _largest(
    count: int, rows: np.ndarray, columns: np.ndarray, values: np.ndarray,
    low: np.ndarray, high: np.ndarray,
) -> float:
    """The largest variable 0 with all ``count`` variables >= 0 and rows within their bounds."""
    try:
        import highspy
    except ImportError:
        raise RefusalError(
            "throughput: linear programs need the package highspy; pip install 'flyloom[lp]', or "
            "give epsilon"
        ) from None
    order = np.lexsort((rows, columns))
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = count, len(low)
    program.col_cost_ = np.concatenate([[-1.0], np.zeros(count - 1)])
    program.col_lower_, program.col_upper_ = np.zeros(count), np.full(count, highspy.kHighsInf)
    program.row_lower_, program.row_upper_ = low, high
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_ = np.searchsorted(columns[order], np.arange(count + 1))
    program.a_matrix_.index_ = rows[order]
    program.a_matrix_.value_ = values[order]
    solver = highspy.Highs()
    for name, value in (("output_flag", False), ("threads", 1), ("solver", "ipm"),
                        ("run_crossover", "off")):
        solver.setOptionValue(name, value)
    solver.passModel(program)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        # rarely, the interior point stops short of its tolerance; the simplex method ends it
        solver.setOptionValue("solver", "simplex")
        solver.run()
    status = solver.getModelStatus()
    if status != highspy.HighsModelStatus.kOptimal:
        raise RuntimeError(f"HiGHS: {solver.modelStatusToString(status)}")
    return -float(solver.getInfo().objective_function_value)
