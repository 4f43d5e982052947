"""Mapping as a measure: a table of experiments, by an entry point of ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flyloom._core import Communication, RefusalError, Topology, Workload
from flyloom.inputs.communication import named_graph
from flyloom.plugins.measures import measure
from flyloom.verbs.mapping import mapped, routed
from flyloom.verbs.simulation import simulate

FIGURES = (
    ("hop_bytes", "byte hops", "sum over pairs of bytes times hops between their switches"),
    ("average_dilation", "hops", "hop-bytes over all bytes"),
    ("maximum_dilation", "hops", "hops of the pair that has most"),
    ("maximum_congestion", "bytes", "largest load of a channel, on one of the fastest link"),
    ("mean_congestion", "bytes", "mean over all channels between switches"),
)


@measure(columns=[
    {"name": "method", "kind": "text", "meaning": "how it was found"},
    {"name": "graph", "kind": "text", "meaning": "who sends how much to whom, where it has a name"},
    {"name": "processes", "kind": "whole", "meaning": "how many are mapped"},
    *({"name": name, "unit": unit, "meaning": meaning, "better": "lower"}
      for name, unit, meaning in FIGURES),
    {"name": "hop_bytes_bound", "unit": "byte hops", "meaning": "no mapping has less"},
    {"name": "congestion_bound", "unit": "bytes", "meaning": "no mapping has less"},
    {"name": "gain", "better": "higher",
     "meaning": "maximum congestion of processes in the order of the endpoints over this one's"},
    {"name": "finish_ns", "unit": "ns", "better": "lower",
     "meaning": "simulated time of a workload, schedule or trace, message by message"},
], files=["graph"])
def map(  # the table's name
    network: Topology, *, graph: str | list[list[Any]], method: str = "auto",
    objective: str = "congestion", effort: str = "normal", engine: str = "ecmp",
    per_endpoint: int = 1, hops_limit: float = 0.05, seed: int = 0,
) -> dict[str, Any]:
    """Which process goes on which endpoint, and what that is worth.

    Parameters
    ----------
    graph
        Who sends how much to whom: a workload with its parameters, as ``stencil_2d grid=8x8
        bytes=100``, which is simulated too; a stencil or a training, as
        ``stencil:shape=8x8,bytes=100``; a file of a graph, or of a schedule or a trace, which is
        simulated too; or rows of sender, receiver and bytes.
    method
        As of ``flyloom map``: docs/mapping.md#methods.
    objective
        ``congestion`` or ``hops``.
    effort
        ``fast``, ``normal`` or ``best``.
    engine
        Traffic goes by this engine's tables; ``ecmp``: split over all shortest paths.
    per_endpoint
        Processes on each endpoint.
    hops_limit
        For less congestion hop-bytes may grow by this part.
    seed
        Seed of all that is random.
    """
    traffic = _rows(graph) if not isinstance(graph, str) else named_graph(
        graph, None, network.endpoints * per_endpoint, network.endpoint_names, files=False)
    on = routed(network, {"engine": engine}, None)
    found = mapped(on, traffic, {
        "method": method, "objective": objective, "effort": effort, "per_endpoint": per_endpoint,
        "hops_limit": hops_limit, "seed": seed,
    }).to_dict()
    linear, most = found["linear"]["maximum_congestion"], found["maximum_congestion"]
    took = None
    if isinstance(traffic, Workload):
        took = simulate(on, "message", workload=traffic, placement=found["mapping"],
                        per_endpoint=per_endpoint)["finish_ns"]
    left = ("cpu_seconds", "interrupted", "busiest")
    kept = {key: value for key, value in found.items() if key not in left}
    called = graph if isinstance(graph, str) else None
    return {**kept, "graph": called, "gain": linear / most if most > 0 else None,
            "finish_ns": took}


def _rows(graph: Sequence[Any]) -> Communication:
    """The graph of rows of sender, receiver and bytes."""
    for row in graph:
        whole = len(row) == 3 and all(isinstance(part, int) for part in row[:2])
        if not whole or isinstance(row[2], bool) or not isinstance(row[2], (int, float)):
            raise RefusalError(f"graph: {row} is no row; [sender, receiver, bytes]")
        if min(row[:2]) < 0:
            raise RefusalError(f"graph: {row}: ranks are from 0")
    import numpy as np

    ranks = np.array([row[:2] for row in graph], dtype=np.int64).reshape(-1, 2)
    amounts = np.array([row[2] for row in graph], dtype=np.float64)
    count = int(ranks.max()) + 1 if len(ranks) else 0
    return Communication.of_columns(count, ranks[:, 0].copy(), ranks[:, 1].copy(), amounts)
