"""Networks from lists and graphs of other programs: pairs, networkx, scipy."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any, Protocol, runtime_checkable

from flyloom._core import RefusalError, Topology
from flyloom.support.reading import shown

MAX_SWITCHES = 1 << 22
"""The most switches that a list of pairs may have."""


@runtime_checkable
class GraphLike(Protocol):
    """A graph with the methods of networkx that are used here."""

    @property
    def nodes(self) -> Any:
        """The nodes and, by node, their attributes."""

    @property
    def edges(self) -> Any:
        """The pairs of nodes, when called."""

    def is_directed(self) -> bool:
        """Whether an edge has a direction."""


@runtime_checkable
class MatrixLike(Protocol):
    """A matrix with the methods of scipy's sparse ones that are used here."""

    def tocoo(self) -> Any:
        """The matrix by its entries."""


def from_pairs(pairs: Iterable[tuple[int, int]], p: int = 0) -> Topology:
    """A network of the switch pairs ``pairs`` (numbers from 0, repeats are parallel links), with
    ``p`` endpoints on every switch."""
    known = [(int(a), int(b)) for a, b in pairs]
    ends = [end for pair in known for end in pair]
    count = 1 + max(ends, default=-1)
    if count > MAX_SWITCHES or min(ends, default=0) < 0:
        worst = min(ends) if min(ends) < 0 else count - 1
        raise RefusalError(f"pairs: {worst} is no switch number; 0 to {MAX_SWITCHES - 1}")
    names, links = [f"s{i}" for i in range(count)], [_link(a, b) for a, b in known]
    return _from_lists(names, links, [endpoint_count("p", p)] * count)


def from_networkx(graph: GraphLike, p: int = 0) -> Topology:
    """A networkx graph or multigraph as a network: one switch a node, in the graph's order.

    A node's attribute ``endpoints`` says how many endpoints it carries, ``p`` where it is absent.
    A directed graph must have each link in both directions.
    """
    names = list(graph.nodes)
    number = {name: i for i, name in enumerate(names)}
    pairs = [(number[a], number[b]) for a, b in graph.edges()]
    if graph.is_directed():
        times = Counter(pairs)
        lone = next(((a, b) for a, b in pairs if times[a, b] != times[b, a]), None)
        if lone:
            edge = f"{names[lone[0]]} > {names[lone[1]]}"
            help_ = "use an undirected graph"
            raise RefusalError(f"edge {edge}: a link needs both directions; {help_}")
        pairs = [(a, b) for a, b in pairs if a <= b]
    endpoints = [
        endpoint_count(f"node {name}", graph.nodes[name].get("endpoints", p)) for name in names
    ]
    links = [_link(a, b) for a, b in pairs]
    return _from_lists([str(name) for name in names], links, endpoints)


def from_scipy(matrix: MatrixLike, p: int = 0) -> Topology:
    """A symmetric sparse matrix as a network of as many switches as it has rows.

    Entry (i, j) is the number of parallel links between switches i and j; ``p`` endpoints go on
    every switch. Raises ``RefusalError`` for a matrix that is no such thing.
    """
    coo = matrix.tocoo()
    if coo.shape[0] != coo.shape[1] or (coo != coo.T).nnz:
        raise RefusalError(f"matrix: {coo.shape}, not symmetric; an adjacency matrix is square")
    links: list[_Link] = []
    for a, b, count in zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist(), strict=True):
        if not (0 <= count <= 65_534 and count == int(count)):
            raise RefusalError(f"matrix[{a}, {b}]: {count} is no number of links; 0 to 65534")
        if a == b and count:
            raise RefusalError(f"matrix[{a}, {a}]: a switch has no link to itself")
        if a < b:
            links += [_link(a, b)] * int(count)
    names = [f"s{i}" for i in range(coo.shape[0])]
    return _from_lists(names, links, [endpoint_count("p", p)] * coo.shape[0])


def endpoint_count(name: str, given: Any) -> int:
    """A number of endpoints; a whole number as text or float will do (GraphML gives both)."""
    try:
        count = int(given)
        if 0 <= count <= 65_534 and float(given) == count:
            return count
    except (TypeError, ValueError, OverflowError):
        pass
    raise RefusalError(f"{name}: {shown(repr(given))} is no number of endpoints; 0 to 65534")


_Link = tuple[int, int, int, int, None]
"""Switch and port at both ends, 0 for any port; None: nothing is known of the cable."""


def _link(a: int, b: int) -> _Link:
    return (a, 0, b, 0, None)


def _from_lists(names: list[str], links: list[_Link], endpoints: list[int]) -> Topology:
    hosts = [s for s, count in enumerate(endpoints) for _ in range(count)]
    document = {
        "flyloom": 1,
        "recipe": {"family": "file", "params": {}},
        "switches": [{"name": name} for name in names],
        "links": links,
        "endpoints": [
            {"name": f"host-{i:04}", "rails": [[s, 0]]} for i, s in enumerate(hosts)
        ],
    }
    return Topology.from_text(json.dumps(document), "pairs", None)
