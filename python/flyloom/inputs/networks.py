"""Networks from anywhere: inline forms, spec files, network files; and to networkx and scipy."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flyloom._core import RefusalError, Routing, Topology, meant, parse_inline
from flyloom.inputs.devices import KEYS, devices, no_fabric, tell
from flyloom.inputs.file_pairs import file_pair
from flyloom.inputs.graphs import (
    GraphLike,
    MatrixLike,
    endpoint_count,
    from_networkx,
    from_scipy,
)
from flyloom.inputs.ibutils import ibutils
from flyloom.inputs.names import named, no_names
from flyloom.inputs.own_topologies import made
from flyloom.inputs.planes import as_planes
from flyloom.inputs.rates import rated
from flyloom.plugins.found import part
from flyloom.plugins.parts import built_in
from flyloom.support.machine import afford
from flyloom.support.notes import once
from flyloom.support.reading import is_path, read_text, read_toml, shown

if TYPE_CHECKING:
    import networkx
    import scipy.sparse

Source = Topology | Routing | str | os.PathLike[str] | GraphLike | MatrixLike
"""What stands for a network: see :func:`network`."""


def network(
    source: Source, p: int | None = None, *, names: str | os.PathLike[str] | None = None,
    keep: str | Iterable[str] | None = None, only: str | Iterable[str] | None = None,
    adapters: str | None = None, gbps: float | None = None,
) -> Topology:
    """The network that ``source`` stands for.

    Parameters
    ----------
    source
        A ``Topology``, or tables (a ``Routing``) for it; an inline form such as
        ``"slim_fly:q=5,p=4"``; the path of a spec file (TOML with ``family`` and its parameters, at
        top level or in ``[topology]``; ``failures`` as of :meth:`Topology.with_failures`), of a
        network file (ibnetdiscover or iblinkinfo output, ibsim netlist, GraphML, JSON, edge list),
        packed by gzip where its name ends in ``.gz``, or of a folder that ``flyloom route -o``
        wrote; a networkx graph; a scipy sparse matrix.
    p
        Endpoints a switch, for files that have none.
    names
        Of a network file, a node name map of OpenSM and the diagnostics: names by node GUID.
    keep, only
        Which devices of a discovered fabric are endpoints: kinds (``host``, ``router``,
        ``aggregation``, ``gateway``, ``manager``, ``storage``, ``unknown``) and patterns for
        their names (``"oss*"``); ``keep`` beside hosts, ``only`` in place of them. What is left
        out is counted in ``remarks`` of the network.
    adapters
        Of hosts with several: ``"each"`` is an endpoint, ``"joined"`` they are one endpoint with
        several rails, ``"first"`` one port of the first, or a pattern for the adapter's name.
    gbps
        The rate of the cables, Gbit/s: the fastest have it, and slower ones keep their part of it.
        Where it is left out, cables have the rate that the network or its file says.

    Raises
    ------
    RefusalError
        With the file, line and field at fault; for a rate that contradicts that of the network.
    """
    if names is not None and not isinstance(source, (str, os.PathLike)):
        raise RefusalError("names: of a network file; this network has its names")
    if isinstance(source, (Topology, Routing)):
        known = source.topology if isinstance(source, Routing) else source
        return known if gbps is None else rated(known, gbps)
    if isinstance(source, GraphLike):
        return rated(from_networkx(source, p or 0), gbps)
    if isinstance(source, MatrixLike):
        return rated(from_scipy(source, p or 0), gbps)
    return rated(_named(source, p, names, devices(keep, only, adapters)), gbps)


def _named(
    source: str | os.PathLike[str], p: int | None, names: str | os.PathLike[str] | None,
    choice: dict[str, Any] | None,
) -> Topology:
    """The network of an inline form or of a file."""
    p = None if p is None else endpoint_count("p", p)
    text = str(source)
    family = re.split(r"[:\s]", text.strip(), maxsplit=1)[0]
    path = Path(text)
    if os.path.isfile(path / "network.json"):  # a folder of tables
        path, text = path / "network.json", str(path / "network.json")
    is_file = os.path.isfile(text)  # False, not an error, for names that no file can have
    own = None if is_file else part("topology", family)
    known = built_in("topology")
    if not is_file and not own and text.startswith("file:"):
        return _from_inline_file(text, p, choice, names)
    if not is_file and (own or family in known or (":" in text and "/" not in family)):
        if p is not None:
            raise RefusalError(f"p: {text} has its own endpoints; write {family}:p={p},...")
        no_names(text, names)
        no_fabric(text, choice)
        if own:
            return made(own, parse_inline(text)[1])
        network = Topology.from_inline(text)  # an unknown family: the error lists all
        for note in network.notes():
            once(f"{network.recipe}: {note}")
        return network
    if not text or not (is_file or ":" in text or is_path(text)):
        near = meant(family if "=" in text else text, sorted(known))
        hint = f"{f'did you mean {near}? ' if near else ''}families: {', '.join(sorted(known))}"
        why = f"'{text}' is neither a family nor a file: there is no such file or folder"
        raise RefusalError(f"{why}; {hint}")
    return _from_file(path, p, choice, names)


def is_network(source: object) -> bool:
    """Whether ``source`` is a network, tables, or the inline form of a family, rather than anything
    that has a network's name or none."""
    if not isinstance(source, str):
        return isinstance(source, (Topology, Routing, GraphLike, MatrixLike))
    family = re.split(r"[:\s]", source.strip(), maxsplit=1)[0]
    is_family = family in built_in("topology") or part("topology", family) is not None
    return is_family and not os.path.exists(source)


def _from_inline_file(
    text: str, p: int | None, choice: dict[str, Any] | None,
    names: str | os.PathLike[str] | None,
) -> Topology:
    """The network of ``file:path=FILE,keep=A+B,only=C,adapters=joined``, as recipes say it."""
    _, params = parse_inline(text)
    known = ("path", "planes", "p", "format", "lmc", "gbps", *KEYS)
    if extra := next((key for key in params if key not in known), None):
        raise RefusalError(f"{text}: {extra}: not a key of a file; {', '.join(known)}")
    if ("path" in params) == ("planes" in params):
        raise RefusalError(f"{text}: write file:path=FILE, or file:planes=FILE+FILE")
    if "p" in params:
        p = endpoint_count(f"{text}: p", params["p"])
    own = {key: str(params[key]) for key in KEYS if key in params}
    if own:
        lists = {key: own[key].split("+") for key in ("keep", "only") if key in own}
        choice = devices(**lists, adapters=own.get("adapters"))
    words = str(params.get("path", params.get("planes"))).split("+" if "planes" in params else "\n")
    if not all(words):
        raise RefusalError(f"{text}: a file without a name; file:path=FILE, or file:planes=A+B")
    parts = [(Path(word), _from_file(Path(word), p, choice, names)) for word in words]
    for path, read in parts:
        found = parse_inline(read.recipe)[1].get("format")
        if params.get("format", found) != found:
            raise RefusalError(f"{text}: format: {path} is {found}; leave it out")
    return rated(as_planes(parts) if "planes" in params else parts[0][1], params.get("gbps"))


def _from_file(
    path: Path, p: int | None, choice: dict[str, Any] | None,
    names: str | os.PathLike[str] | None = None,
) -> Topology:
    if not str(path).endswith((".toml", ".toml.gz")):
        if os.path.isfile(path):  # false where no file can have that name
            afford(f"reading {path}", 10 * path.stat().st_size, 0)
        if (found := file_pair(path, p)) is not None:
            return found
        text = read_text(path)
        found = ibutils(path, text, p, choice) or Topology.from_text(text, str(path), p, choice)
        return tell(named(found, names), str(path))
    spec = read_toml(path)
    spec = spec.get("topology", spec)
    if not isinstance(spec, dict):
        raise RefusalError(f"{path}: topology: not a table; write [topology]")
    failures = spec.pop("failures", None)
    if "file" in spec:
        whole = _from_named_file(path, spec, p, choice, names)
    else:
        no_names(str(path), names)
        no_fabric(str(path), choice)
        whole = _from_family(path, spec, p)
    if failures is None:
        return whole
    try:
        return whole.with_failures(*whole.failures(failures))
    except RefusalError as error:
        raise RefusalError(f"{path}: failures: {error}") from None


def _from_family(path: Path, spec: dict[str, Any], p: int | None) -> Topology:
    """The member of a family that the spec at ``path`` names."""
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
            help_ = "finite numbers, text, true, false and lists"
            raise RefusalError(
                f"{path}: {key}: {shown(value)} is no parameter of a family; {help_}"
            ) from None
    try:
        if own := part("topology", spec["family"]):
            return made(own, params)
        return Topology.from_spec(spec["family"], params)
    except RefusalError as error:
        raise RefusalError(f"{path}: {error}") from None


def _from_named_file(
    path: Path, spec: dict[str, Any], p: int | None, choice: dict[str, Any] | None,
    names: str | os.PathLike[str] | None,
) -> Topology:
    """The network file that the spec at ``path`` names."""
    if extra := next((k for k in spec if k not in ("file", "p", "names", "gbps", *KEYS)), None):
        known = f"file, p, names, gbps, {', '.join(KEYS)}, failures"
        raise RefusalError(f"{path}: {extra}: not a key of a file; {known}")
    if not isinstance(spec["file"], str):
        raise RefusalError(f"{path}: file: {shown(repr(spec['file']))} is no path")
    if spec["file"].endswith((".toml", ".toml.gz")):
        raise RefusalError(f"{path}: file: {spec['file']} is a spec; name a network file")
    if "p" in spec:
        p = endpoint_count(f"{path}: p", spec["p"])
    if "names" in spec:
        if not isinstance(spec["names"], str):
            raise RefusalError(f"{path}: names: {shown(repr(spec['names']))} is no path")
        names = path.parent / spec["names"]
    if any(key in spec for key in KEYS):
        choice = devices(*(spec.get(key) for key in KEYS))
    read = _from_file(path.parent / spec["file"], p, choice, names)
    try:
        return rated(read, spec.get("gbps"))
    except RefusalError as error:
        raise RefusalError(f"{path}: {error}") from None


def to_networkx(topology: Source) -> networkx.MultiGraph:
    """The working switches and links as a ``networkx.MultiGraph``.

    Nodes are switch numbers with ``name``, ``group``, ``level``, ``coordinates`` and
    ``endpoints``; parallel links are parallel edges.
    """
    import networkx
    import numpy

    topology = network(topology)
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


def to_scipy(topology: Source) -> scipy.sparse.csr_array:
    """The symmetric adjacency matrix as ``scipy.sparse.csr_array``, (switches, switches) int32;
    an entry counts parallel links."""
    import numpy
    import scipy.sparse

    topology = network(topology)
    a, b = topology.edges.T
    ones = numpy.ones(2 * len(a), dtype=numpy.int32)
    ends = (numpy.concatenate([a, b]), numpy.concatenate([b, a]))
    shape = (topology.switches, topology.switches)
    return scipy.sparse.coo_array((ones, ends), shape=shape).tocsr()
