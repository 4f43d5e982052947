"""One function per task of mapping; written by `cargo xtask gen`, never edited."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from typing import Any

    from flyloom._core import Routing
    from flyloom.inputs.communication import Graph
    from flyloom.inputs.networks import Source
    from flyloom.inputs.tables import Tables
    from flyloom.support.progress import Progress
    from flyloom.support.verb_results import ProcessMapping
    from flyloom.verbs.mapping import Hosts, Pins, Placed

__all__ = [
    "evaluate_mapping",
    "map_processes",
    "map_with_routing",
]


def map_processes(
    net: Tables,
    graph: Graph,
    *,
    engine: str = "ecmp",
    lmc: int | None = None,
    layers: int | None = None,
    engine_options: Mapping[str, Any] | None = None,
    method: str = "auto",
    objective: str = "congestion",
    hops_limit: float | None = None,
    hosts: Hosts | None = None,
    per_endpoint: int | None = None,
    pin: Pins | None = None,
    partition: int | None = None,
    effort: str = "normal",
    seed: int = 0,
    path: str | os.PathLike[str] | None = None,
    format: str | None = None,
    progress: Progress | None = None,
) -> ProcessMapping:
    """Which process goes on which endpoint, so that little traffic goes far or meets.

    Parameters
    ----------
    net : Tables
        A network, as for ``network``, with ``engine`` or without; or tables.
    graph : Graph
        Who sends how much to whom: a file (.mtx, Open MPI's monitoring (.prof), a dense matrix,
        METIS, Scotch, GOAL, a trace), or a graph that is made, as
        ``stencil:shape=8x8,bytes=100``; see docs/mapping.md#communication-graphs.
    engine : str, optional
        Traffic goes by this engine's tables; ``ecmp``: split over all shortest paths.
    lmc : int, optional
        LID mask control, 0 to 7: 2^LMC routes to every endpoint; where tables are made for a
        mapping 2, unless there are ``layers``.
    layers : int, optional
        Routes to every endpoint, 1 to 128; a pair's traffic is split evenly over them.
    engine_options : Mapping[str, Any], optional
        Options of the engine; where tables are made for a mapping those of ``application``, as
        ``slack``, by how many hops a path may be longer than the shortest.
    method : str, optional
        auto, or steps of ``flyloom list methods`` joined by ``+``: one that makes a mapping,
        then those that improve it.
    objective : str, optional
        What is to be small.
    hops_limit : float, optional
        For less congestion hop-bytes may grow by this part over the least that were found; only
        the linear mapping may have more. 0.05 where it is not given, and 0.3 where tables are
        made.
    hosts : Hosts, optional
        The endpoints of the job, in the order in which they are filled; all where it is not
        given.
    per_endpoint : int, optional
        Processes on each endpoint; where it is not given as many as the host list names it, or
        1.
    pin : Pins, optional
        Processes whose endpoint is given, as lines ``RANK ENDPOINT``.
    partition : int, optional
        The graph is a sparse matrix: what is mapped is the halo exchange of this number of
        equal parts of it.
    effort : str, optional
        How much is tried.
    seed : int, optional
        Seed of all that is random.
    path : str | os.PathLike[str], optional
        File that the mapping is written to.
    format : str, optional
        Of the mapping, as a file: list, rankfile, hydra, slurm, cray, pbs or json.
    progress : callable, optional
        Called with ``(what, done, total)`` ten times a second.

    Returns
    -------
    ProcessMapping
        Figures of the mapping and of the linear one, lower bounds, the busiest channels, and
        ``mapping``, the endpoint of each process: docs/mapping.md#figures. After Ctrl-C the
        best so far, with ``interrupted`` true.

    Raises
    ------
    RefusalError
        For what does not fit, with the file and the line at fault.
    """
    from flyloom.verbs.mapping import mapped

    given = {
        "engine": engine,
        "lmc": lmc,
        "layers": layers,
        "engine_options": engine_options,
        "method": method,
        "objective": objective,
        "hops_limit": hops_limit,
        "hosts": hosts,
        "per_endpoint": per_endpoint,
        "pin": pin,
        "partition": partition,
        "effort": effort,
        "seed": seed,
        "path": path,
        "format": format,
    }
    return mapped(net, graph, given, progress)


def evaluate_mapping(
    net: Tables,
    graph: Graph,
    mapping: Placed,
    *,
    engine: str = "ecmp",
    lmc: int | None = None,
    layers: int | None = None,
    engine_options: Mapping[str, Any] | None = None,
    hosts: Hosts | None = None,
    per_endpoint: int | None = None,
    partition: int | None = None,
    seed: int = 0,
    format: str | None = None,
    progress: Progress | None = None,
) -> ProcessMapping:
    """What a mapping is worth: hop-bytes, dilation and congestion, beside the linear one.

    Parameters
    ----------
    net : Tables
        A network, as for ``network``, with ``engine`` or without; or tables.
    graph : Graph
        Who sends how much to whom: a file (.mtx, Open MPI's monitoring (.prof), a dense matrix,
        METIS, Scotch, GOAL, a trace), or a graph that is made, as
        ``stencil:shape=8x8,bytes=100``; see docs/mapping.md#communication-graphs.
    mapping : Placed
        The mapping, an endpoint for each process; a file is of the format that it shows where
        none is given. Where tables are made, they are made for this mapping, and it is kept.
    engine : str, optional
        Traffic goes by this engine's tables; ``ecmp``: split over all shortest paths.
    lmc : int, optional
        LID mask control, 0 to 7: 2^LMC routes to every endpoint; where tables are made for a
        mapping 2, unless there are ``layers``.
    layers : int, optional
        Routes to every endpoint, 1 to 128; a pair's traffic is split evenly over them.
    engine_options : Mapping[str, Any], optional
        Options of the engine; where tables are made for a mapping those of ``application``, as
        ``slack``, by how many hops a path may be longer than the shortest.
    hosts : Hosts, optional
        The endpoints of the job, in the order in which they are filled; all where it is not
        given.
    per_endpoint : int, optional
        Processes on each endpoint; where it is not given as many as the host list names it, or
        1.
    partition : int, optional
        The graph is a sparse matrix: what is mapped is the halo exchange of this number of
        equal parts of it.
    seed : int, optional
        Seed of all that is random.
    format : str, optional
        Of the mapping, as a file: list, rankfile, hydra, slurm, cray, pbs or json.
    progress : callable, optional
        Called with ``(what, done, total)`` ten times a second.

    Returns
    -------
    ProcessMapping
        Figures of the mapping and of the linear one, lower bounds, the busiest channels, and
        ``mapping``, the endpoint of each process: docs/mapping.md#figures.

    Raises
    ------
    RefusalError
        For what does not fit, with the file and the line at fault.
    """
    from flyloom.verbs.mapping import evaluated

    given = {
        "mapping": mapping,
        "engine": engine,
        "lmc": lmc,
        "layers": layers,
        "engine_options": engine_options,
        "hosts": hosts,
        "per_endpoint": per_endpoint,
        "partition": partition,
        "seed": seed,
        "format": format,
    }
    return evaluated(net, graph, given, progress)


def map_with_routing(
    net: Source,
    graph: Graph,
    *,
    mapping: Placed | None = None,
    lmc: int | None = None,
    layers: int | None = None,
    engine_options: Mapping[str, Any] | None = None,
    method: str = "auto",
    hops_limit: float | None = None,
    hosts: Hosts | None = None,
    per_endpoint: int | None = None,
    pin: Pins | None = None,
    partition: int | None = None,
    effort: str = "normal",
    seed: int = 0,
    new_lids: bool | None = False,
    path: str | os.PathLike[str] | None = None,
    format: str | None = None,
    tables: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> tuple[ProcessMapping, Routing]:
    """A mapping and forwarding tables for its traffic, so that the busiest channel carries
    little.

    Parameters
    ----------
    net : Source
        A network, as for ``network``.
    graph : Graph
        Who sends how much to whom: a file (.mtx, Open MPI's monitoring (.prof), a dense matrix,
        METIS, Scotch, GOAL, a trace), or a graph that is made, as
        ``stencil:shape=8x8,bytes=100``; see docs/mapping.md#communication-graphs.
    mapping : Placed, optional
        The mapping, an endpoint for each process; a file is of the format that it shows where
        none is given. Where tables are made, they are made for this mapping, and it is kept.
    lmc : int, optional
        LID mask control, 0 to 7: 2^LMC routes to every endpoint; where tables are made for a
        mapping 2, unless there are ``layers``.
    layers : int, optional
        Routes to every endpoint, 1 to 128; a pair's traffic is split evenly over them.
    engine_options : Mapping[str, Any], optional
        Options of the engine; where tables are made for a mapping those of ``application``, as
        ``slack``, by how many hops a path may be longer than the shortest.
    method : str, optional
        auto, or steps of ``flyloom list methods`` joined by ``+``: one that makes a mapping,
        then those that improve it.
    hops_limit : float, optional
        For less congestion hop-bytes may grow by this part over the least that were found; only
        the linear mapping may have more. 0.05 where it is not given, and 0.3 where tables are
        made.
    hosts : Hosts, optional
        The endpoints of the job, in the order in which they are filled; all where it is not
        given.
    per_endpoint : int, optional
        Processes on each endpoint; where it is not given as many as the host list names it, or
        1.
    pin : Pins, optional
        Processes whose endpoint is given, as lines ``RANK ENDPOINT``.
    partition : int, optional
        The graph is a sparse matrix: what is mapped is the halo exchange of this number of
        equal parts of it.
    effort : str, optional
        How much is tried.
    seed : int, optional
        Seed of all that is random.
    new_lids : bool, optional
        LIDs of the fabric that do not fit the LMC may move, as of ``route``.
    path : str | os.PathLike[str], optional
        File that the mapping is written to.
    format : str, optional
        Of the mapping, as a file: list, rankfile, hydra, slurm, cray, pbs or json.
    tables : str | os.PathLike[str], optional
        Folder that the tables are written to, as ``route -o`` writes them.
    progress : callable, optional
        Called with ``(what, done, total)`` ten times a second.

    Returns
    -------
    tuple[ProcessMapping, Routing]
        Figures of the mapping and of the linear one, lower bounds, the busiest channels, and
        ``mapping``, the endpoint of each process: docs/mapping.md#figures. They are under the
        new tables, with ``linear`` over all shortest paths, ``verified``, ``lanes``,
        ``layers``, ``routing_bound`` (no routing of this mapping has a lower maximum
        congestion) and ``steps`` (what each step brought:
        docs/mapping.md#mapping-and-routing-together). And the tables.

    Raises
    ------
    RefusalError
        For what does not fit, with the file and the line at fault.
    """
    from flyloom.verbs.mapping import mapped_with_routing

    given = {
        "mapping": mapping,
        "lmc": lmc,
        "layers": layers,
        "engine_options": engine_options,
        "method": method,
        "hops_limit": hops_limit,
        "hosts": hosts,
        "per_endpoint": per_endpoint,
        "pin": pin,
        "partition": partition,
        "effort": effort,
        "seed": seed,
        "new_lids": new_lids,
        "path": path,
        "format": format,
        "tables": tables,
    }
    return mapped_with_routing(net, graph, given, progress)
