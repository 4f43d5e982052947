"""Networks from anywhere: inline forms, files, pairs, networkx; and to networkx and scipy."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from flyloom._core import RefusalError, Topology, registry
from flyloom.support.machine import afford
from flyloom.support.reading import read_text, read_toml, shown

if TYPE_CHECKING:
    import networkx
    import scipy.sparse

MAX_SWITCHES = 1 << 22
"""The most switches that a list of pairs may have."""


@runtime_checkable
class GraphLike(Protocol):
    """What a networkx graph has."""

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
    """What a scipy sparse matrix has."""

    def tocoo(self) -> Any:
        """The matrix by its entries."""


Source = Topology | str | os.PathLike[str] | GraphLike | MatrixLike
"""What stands for a network: see :func:`network`."""


def network(source: Source, p: int | None = None) -> Topology:
    """The network that ``source`` stands for.

    Parameters
    ----------
    source
        A ``Topology``; an inline form such as ``"slim_fly:q=5,p=4"``; the path of a spec file
        (TOML with ``family`` and its parameters, at top level or in ``[topology]``) or of a network
        file (ibnetdiscover output, ibsim netlist, GraphML, JSON, edge list); a networkx graph; a
        scipy sparse matrix.
    p
        Endpoints a switch, for files that have none.

    Raises
    ------
    RefusalError
        With the file, line and field at fault.
    """
    if isinstance(source, Topology):
        return source
    if isinstance(source, GraphLike):
        return from_networkx(source, p or 0)
    if isinstance(source, MatrixLike):
        return from_scipy(source, p or 0)
    p = None if p is None else _count("p", p)
    text = str(source)
    family = text.partition(":")[0].strip()
    known = {entry["name"] for entry in registry() if entry["kind"] == "topology"}
    path = Path(text)
    is_file = os.path.isfile(text)  # False, not an error, for names that no file can have
    if not is_file and (family in known or (":" in text and "/" not in family)):
        if p is not None:
            raise RefusalError(f"p: {text} has its own endpoints; write {family}:p={p},...")
        return Topology.from_inline(text)  # where there is no such family it says which there are
    if not text or (not os.path.exists(text) and ":" not in text and not path.suffix):
        hint = f"families: {', '.join(sorted(known))}"
        raise RefusalError(f"'{text}' is neither a family nor a file; {hint}")
    return _from_file(path, p)


def _from_file(path: Path, p: int | None) -> Topology:
    if path.suffix != ".toml":
        if os.path.isfile(path):  # false where no file can have that name
            afford(f"reading {path}", 10 * path.stat().st_size, 0)
        return Topology.from_text(read_text(path), str(path), p)
    spec = read_toml(path)
    spec = spec.get("topology", spec)
    if not isinstance(spec, dict):
        raise RefusalError(f"{path}: topology: not a table; write [topology]")
    if "file" in spec:
        return _from_named_file(path, spec, p)
    if not isinstance(spec.get("family"), str):
        help_ = "write family = \"slim_fly\" and its parameters"
        raise RefusalError(f"{path}: family: missing; {help_}")
    if p is not None:
        raise RefusalError(f"{path}: p: say it in the file, as a parameter of the family")
    params = {key: value for key, value in spec.items() if key != "family"}
    for key, value in params.items():
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            raise RefusalError(
                f"{path}: {key}: {shown(value)} is no parameter of a family"
            ) from None
    try:
        return Topology.from_spec(spec["family"], params)
    except RefusalError as error:
        raise RefusalError(f"{path}: {error}") from None


def _from_named_file(path: Path, spec: dict[str, Any], p: int | None) -> Topology:
    """The network file that the spec at ``path`` names."""
    if extra := next((key for key in spec if key not in ("file", "p")), None):
        raise RefusalError(f"{path}: {extra}: not a key of a file; file, p")
    if not isinstance(spec["file"], str):
        raise RefusalError(f"{path}: file: {shown(repr(spec['file']))} is no path")
    if spec["file"].endswith(".toml"):
        raise RefusalError(f"{path}: file: {spec['file']} is a spec; name a network file")
    if "p" in spec:
        p = _count(f"{path}: p", spec["p"])
    return _from_file(path.parent / spec["file"], p)


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
    return _from_lists(names, links, [_count("p", p)] * count)


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
    endpoints = [_count(f"node {name}", graph.nodes[name].get("endpoints", p)) for name in names]
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
    return _from_lists(names, links, [_count("p", p)] * coo.shape[0])


def _count(name: str, given: Any) -> int:
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


def to_networkx(topology: Topology) -> networkx.MultiGraph:
    """The working switches and links as a ``networkx.MultiGraph``.

    Nodes are switch numbers with ``name``, ``group``, ``level``, ``coordinates`` and
    ``endpoints``; parallel links are parallel edges.
    """
    import networkx
    import numpy

    graph = networkx.MultiGraph(name=topology.recipe)
    carried = numpy.bincount(topology.attachments[:, 0], minlength=topology.switches)
    columns = zip(
        topology.switch_names, topology.groups, topology.levels, topology.coordinates, carried,
        strict=True,
    )
    for i, (name, group, level, coordinates, endpoints) in enumerate(columns):
        graph.add_node(
            i, name=name, group=int(group), level=int(level), coordinates=tuple(coordinates),
            endpoints=int(endpoints),
        )
    graph.add_edges_from(topology.edges.tolist())
    return graph


def to_scipy(topology: Topology) -> scipy.sparse.csr_array:
    """The symmetric adjacency matrix as ``scipy.sparse.csr_array``, (switches, switches) int32;
    an entry counts parallel links."""
    import numpy
    import scipy.sparse

    a, b = topology.edges.T
    ones = numpy.ones(2 * len(a), dtype=numpy.int32)
    ends = (numpy.concatenate([a, b]), numpy.concatenate([b, a]))
    shape = (topology.switches, topology.switches)
    return scipy.sparse.coo_array((ones, ends), shape=shape).tocsr()
