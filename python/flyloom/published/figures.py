"""The figures by which layered routings are judged, for any networks, engines and layers.

Source: Blach et al., "A high-performance design, implementation, deployment, and evaluation of the
Slim Fly network", NSDI 2024 (theoretical analysis): lengths of the paths of switch
pairs, paths that cross a link, disjoint paths, and maximum achievable throughput against layers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from flyloom._core import RefusalError, Routing, Topology
from flyloom._measures import edge_load, path_diversity
from flyloom.inputs.networks import network
from flyloom.plugins.found import parameters_of
from flyloom.support.checks import whole
from flyloom.support.progress import Progress
from flyloom.support.refused import hint
from flyloom.support.verb_results import Figure
from flyloom.verbs.routes import route
from flyloom.verbs.throughput import throughput

#: What is drawn by default: the deployed network, engines with several paths and one without,
#: and numbers of layers.
NETWORKS = ("slim_fly:q=5,p=4",)
ENGINES = ("layered", "fatpaths", "rues", "dfsssp")
LAYERS = (1, 2, 4, 8)
#: Data lanes that an engine may use: all there are, since the figures are not about lanes.
LANES = 15


def figure(
    kind: str,
    networks: Iterable[Any] = NETWORKS,
    *,
    engines: Iterable[str] = ENGINES,
    layers: Iterable[int] = LAYERS,
    seed: int = 0,
    progress: Progress | None = None,
) -> Figure:
    """What a figure shows of each network, engine and number of layers.

    ``kind`` is ``path_lengths``, ``path_distribution``, ``disjoint_paths`` or ``throughput``;
    ``networks`` are anything that :func:`flyloom.network` takes; ``seed`` is the seed of engines
    and traffic. Engines may use up to 15 data lanes. What an engine or a measure refuses is left
    out and listed; when nothing is left the first refusal is raised.

    Fields: ``figure``, ``seed``; ``rows``, what is drawn, and ``summary``, a dict a case, each with
    ``network``, ``engine``, ``layers``; ``skipped`` (these, and ``why``). Further keys of ``rows``:

    ``path_lengths``
        ``statistic`` (``mean`` or ``longest`` of a pair's routes over layers and terminals),
        ``hops``, ``pairs`` of switches of which this is so, ``share`` of all pairs.
    ``path_distribution``
        ``routes`` that cross a channel when every terminal sends to every other in every layer,
        ``channels`` that this number crosses, ``share`` of all working channels.
    ``disjoint_paths``
        ``paths``, the most link-disjoint ones of a pair; ``pairs``, ``share``.
    ``throughput``
        ``throughput``, the maximum achievable of elephant traffic over the engine's tables.
    """
    if kind not in MEASURES:
        near = f"{hint(kind, MEASURES)}figures: {', '.join(MEASURES)}"
        raise RefusalError(f"figure: there is no figure '{kind}'; {near}")
    seed = whole("seed", seed, 0, 2**64 - 1)
    engines = list(dict.fromkeys(engines))
    params = parameters_of("engine", engines)
    for name in engines:
        if name not in params:
            ours = f"{hint(name, params)}engines: {', '.join(params)}"
            raise RefusalError(f"engines: there is no engine '{name}'; {ours}")
    counts = sorted({whole("layers", count, 1, 128) for count in layers})
    cases = [(t, e, n) for t in map(network, networks) for e in engines for n in counts]
    if not cases:
        raise RefusalError("figure: nothing to draw; name networks, engines and layers")
    rows, summary, skipped = [], [], []
    for number, (topology, engine, count) in enumerate(cases):
        if progress:
            progress("figure", number, len(cases))
        case = {"network": topology.recipe, "engine": engine, "layers": count}
        known = {"seed": seed, "max_lanes": LANES}
        options = {key: value for key, value in known.items() if key in params[engine]}
        try:
            found, said = MEASURES[kind](topology, engine, count, options, seed)
        except RefusalError as refusal:
            skipped.append({**case, "why": str(refusal)})
            continue
        rows += [{**case, **row} for row in found]
        summary.append({**case, **said})
    if not summary:
        raise RefusalError(skipped[0]["why"])
    return Figure({"figure": kind, "rows": rows, "summary": summary, "skipped": skipped,
                   "seed": seed})


Measured = tuple[list[dict[str, Any]], dict[str, Any]]
"""Values to draw, and what a row says of them."""
Case = tuple[Topology, str, int, dict[str, Any], int]
"""A network, an engine, layers, options and a seed."""
Measure = Callable[[*Case], Measured]


def _routed(
    topology: Topology, engine: str, layers: int, options: dict[str, Any], _seed: int
) -> Routing:
    return route(topology, engine, layers=layers, new_lids=None, **options)


def _path_lengths(*case: *Case) -> Measured:
    found = path_diversity(_routed(*case))
    longest = [(h, n) for h, n in enumerate(found.longest_histogram) if n]
    rows = [
        {"statistic": statistic, "hops": hops, "pairs": pairs, "share": pairs / found.pairs}
        for statistic, counted in (("mean", found.mean_hops), ("longest", longest))
        for hops, pairs in counted
    ]
    mean = sum(hops * pairs for hops, pairs in found.mean_hops) / max(1, found.pairs)
    return rows, {"mean_hops": mean, "longest_hops": max((h for h, _ in longest), default=None)}


def _path_distribution(*case: *Case) -> Measured:
    histogram = edge_load(_routed(*case)).histogram
    channels = sum(n for _, n in histogram)
    rows = [{"routes": r, "channels": n, "share": n / channels} for r, n in histogram]
    loads = [r for r, n in histogram if n]
    mean = sum(r * n for r, n in histogram) / max(1, channels)
    return rows, {"least_routes": min(loads, default=None), "mean_routes": mean,
                  "most_routes": max(loads, default=None)}


def _disjoint_paths(*case: *Case) -> Measured:
    found = path_diversity(_routed(*case))
    rows = [
        {"paths": paths, "pairs": pairs, "share": pairs / found.pairs}
        for paths, pairs in enumerate(found.disjoint_histogram) if pairs
    ]
    return rows, {key: found[key]
                  for key in ("mean_disjoint_paths", "fraction_pairs_3_disjoint_paths")}


def _throughput(
    topology: Topology, engine: str, layers: int, options: dict[str, Any], seed: int
) -> Measured:
    found = throughput(
        topology, "elephant", engine=engine, layers=layers, seed=seed, engine_options=options,
        top=0,
    )
    said = {"throughput": found.maximum_achievable_throughput}
    return [said], said


MEASURES: dict[str, Measure] = {
    "path_lengths": _path_lengths,
    "path_distribution": _path_distribution,
    "disjoint_paths": _disjoint_paths,
    "throughput": _throughput,
}
