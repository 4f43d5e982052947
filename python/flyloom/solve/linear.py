"""Linear programs of throughput: the most of a traffic over any paths, and over given tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flyloom._core import RefusalError, Topology, Traffic

MOST_FLOWS = 50_000
"""The largest linear program over any paths that is solved: source switches times channels."""

MOST_ROUTES = 500_000
"""The largest linear program over given tables that is solved: routes."""

SHORT_OF_LARGEST = 1e-6
"""The fraction of the largest throughput that the flow of fewest hops may stay below."""


@dataclass(frozen=True)
class LargestFlow:
    """The largest throughput, and the loads of channels of a flow that reaches it."""

    value: float
    """The largest multiple of the traffic that fits."""
    loads: np.ndarray
    """What every channel carries over what it can carry, (2 * links,); 0 where it is down."""


def over_any_paths(topology: Topology, wanted: Traffic, *, loads: bool = False) -> LargestFlow:
    """The exact maximum over any paths: one flow a source switch, conserved at every switch.

    The loads, where they are asked for, are those of a flow of fewest hops, so that no flow goes in
    a cycle; they take a second program of the same size. Else they are all 0.
    """
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
    parts = (rows_of[keep], columns[keep], values[keep], low, high)
    cost = np.concatenate([[-1.0], np.zeros(count)])
    value = -_least(cost, np.array([0.0, np.inf]), *parts)[0]
    carried = np.zeros(len(wanted.capacities()))
    if loads:
        fixed = np.array([(1 - SHORT_OF_LARGEST) * value, value])
        flows = _least(np.concatenate([[0.0], ones]), fixed, *parts)[1][1:]
        carried[working] = flows.reshape(len(sources), channels).sum(axis=0) / capacity
    return LargestFlow(value, carried)


def over_tables(wanted: Traffic, found: dict[str, Any]) -> LargestFlow:
    """The exact maximum where each demand may split over its routes only."""
    amount, choice, hops = found["amount"], found["choice"].astype(np.int64), found["hops"]
    capacity, channels = wanted.capacities(), found["channels"].astype(np.int64)
    if (capacity[channels] <= 0).any():
        raise RefusalError("tables: a route crosses a link that is down; route the network again")
    routes = len(choice)
    of_hop = np.repeat(np.arange(routes), hops)
    used = np.zeros(len(capacity))
    if routes == len(amount):  # one route each: nothing to choose
        load = np.bincount(channels, weights=amount[choice][of_hop], minlength=len(capacity))
        np.divide(load, capacity, out=used, where=load > 0)
        return LargestFlow(float(1 / used.max()), used / used.max())
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
    cost = np.concatenate([[-1.0], np.zeros(routes)])
    least, found_values = _least(cost, np.array([0.0, np.inf]), rows, columns, values, low, high)
    load = np.bincount(channels, weights=found_values[1:][of_hop], minlength=len(capacity))
    np.divide(load, capacity, out=used, where=load > 0)
    return LargestFlow(-least, used)


def _least(
    cost: np.ndarray, first: np.ndarray, rows: np.ndarray, columns: np.ndarray,
    values: np.ndarray, low: np.ndarray, high: np.ndarray,
) -> tuple[float, np.ndarray]:
    """The least cost, and the variables: the first within the bounds ``first``, the others >= 0,
    and rows within theirs."""
    try:
        import highspy
    except ImportError:
        from flyloom.support.extras import ExtraError

        raise ExtraError(
            "throughput: linear programs need the package highspy; pip install 'flyloom[lp]', or "
            "give epsilon"
        ) from None
    order, count = np.lexsort((rows, columns)), len(cost)
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = count, len(low)
    program.col_cost_ = cost
    program.col_lower_, program.col_upper_ = (
        np.concatenate([[bound], np.full(count - 1, usual)])
        for bound, usual in zip(first, (0.0, highspy.kHighsInf), strict=True)
    )
    program.row_lower_, program.row_upper_ = low, high
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_ = np.searchsorted(columns[order], np.arange(count + 1))
    program.a_matrix_.index_ = rows[order]
    program.a_matrix_.value_ = values[order]
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
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
    found = np.array(solver.getSolution().col_value)
    return float(solver.getInfo().objective_function_value), found
