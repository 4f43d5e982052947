"""Mapping as a measure: a table of experiments, by an entry point of ours."""

from __future__ import annotations

from typing import Any

from flyloom._core import Communication, RefusalError, Topology
from flyloom.inputs.communication import communication, is_kind
from flyloom.plugins.measures import measure
from flyloom.verbs.mapping import map_processes

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
])
def map(  # the table's name
    network: Topology, *, graph: str | list[list[Any]], method: str = "auto",
    objective: str = "congestion", effort: str = "normal", engine: str = "ecmp",
    per_endpoint: int = 1, hops_limit: float = 0.05, seed: int = 0,
) -> dict[str, Any]:
    """Which process goes on which endpoint, and what that is worth.

    Parameters
    ----------
    graph
        Who sends how much to whom: a stencil or a training with its parameters, as
        ``stencil:shape=8x8,bytes=100``, or rows of sender, receiver and bytes.
    method
        As of ``flyloom map``: docs/mapping.md#methods.
    objective
        ``congestion`` or ``hops``.
    effort
        ``fast``, ``normal`` or ``best``.
    engine
        Traffic goes by this engine's tables; ``ecmp``: split over all shortest ways.
    per_endpoint
        Processes on each endpoint.
    hops_limit
        For less congestion hop-bytes may grow by this part.
    seed
        Seed of all that is random.
    """
    found = map_processes(
        network, _graph(graph), engine=engine, method=method, objective=objective, effort=effort,
        per_endpoint=per_endpoint, hops_limit=hops_limit, seed=seed,
    ).to_dict()
    linear = found["linear"]["maximum_congestion"]
    gain = linear / found["maximum_congestion"] if found["maximum_congestion"] > 0 else None
    left = ("cpu_seconds", "interrupted", "busiest")
    named = graph if isinstance(graph, str) else None
    kept = {key: value for key, value in found.items() if key not in left}
    return {**kept, "graph": named, "gain": gain}


def _graph(graph: str | list[list[Any]]) -> Communication:
    """The graph; a file's is not taken, since a point that is kept does not know its content."""
    if isinstance(graph, str):
        if not is_kind(graph):
            raise RefusalError(
                f"graph: '{graph}' is no graph that is made; stencil:shape=AxB,bytes=N,"
                " training:..., or rows of sender, receiver and bytes; `flyloom map` takes files"
            )
        return communication(graph)
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
