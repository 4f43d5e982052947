"""Throughput over given tables as a measure: a table of experiments, by an entry point of ours."""

from __future__ import annotations

from typing import Any

from flyloom._core import RefusalError, Routing
from flyloom.inputs.traffic import called, demands
from flyloom.plugins.measures import measure
from flyloom.solve.linear import over_any_paths, over_tables


@measure(columns=[
    {"name": "maximum_achievable_throughput", "unit": "injection rate", "better": "higher",
     "meaning": "largest multiple of the traffic that fits; with epsilon a lower bound"},
    {"name": "upper_bound", "unit": "injection rate", "better": "higher",
     "meaning": "what it cannot exceed"},
], files=["traffic"])
def throughput(
    routing: Routing, *, traffic: str | list[list[Any]] = "uniform", epsilon: float = 0.0,
    any_paths: bool = False, elephants: float = 0.1, seed: int = 0,
) -> dict[str, Any]:
    """Maximum achievable throughput: the largest multiple of traffic that the routes can carry.

    Parameters
    ----------
    traffic
        A name, as ``uniform``, a file, or rows of source, destination and amount; see
        docs/measures.md.
    epsilon
        Bounds at most this fraction apart, 0.005 to 1, in place of a linear program, which 0 asks
        for.
    any_paths
        Over any paths of the network, not those of the tables.
    elephants
        Fraction of the flows of ``elephant`` that is large.
    seed
        Seed of the draw of these.
    """
    if epsilon and not 0.005 <= epsilon <= 1:
        raise RefusalError(f"epsilon: {epsilon} is out of range; 0, or 0.005 to 1")
    topology = routing.topology
    wanted = demands(topology, traffic, elephants=elephants, seed=seed)
    if epsilon:
        found = wanted.bounds(epsilon, None if any_paths else routing, None)
        low, high = found["lower"], found["upper"]
    elif any_paths:
        low = high = over_any_paths(topology, wanted).value
    else:
        low = high = over_tables(wanted, wanted.routes(routing, None)).value
    return {
        "maximum_achievable_throughput": low, "upper_bound": high, "exact": not epsilon,
        "traffic": called(traffic), "exact_matching": wanted.exact_matching,
    }
