"""What a network is: structure, resilience, and what its family promises."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, overload

from flyloom._core import Routing
from flyloom.inputs.networks import Source, network
from flyloom.plugins.measures import Function
from flyloom.plugins.measures import measure as as_measure
from flyloom.support.checks import whole
from flyloom.support.progress import Progress
from flyloom.support.results import Result
from flyloom.verbs.own_measures import record_by


@overload
def measure(*, columns: Sequence[Mapping[str, str]]) -> Callable[[Function], Function]: ...
@overload
def measure(
    on: Source | Routing, name: str, *, progress: Progress | None = None, **parameters: Any
) -> Result: ...
def measure(
    on: Source | Routing | None = None, name: str = "", *, progress: Progress | None = None,
    **parameters: Any,
) -> Result | Callable[[Function], Function]:
    """The record of a measure by name, with its ``parameters``: see docs/measure-reference.md.

    ``on`` is a network, as for ``network``, or tables (a :class:`Routing`), which measures of
    routes need. A measure gives the same figures here and in an experiment.

    As a decorator, ``@measure(columns=[...])``, it makes a function a measure: see
    :func:`flyloom.plugins.measures.measure`.
    """
    if on is None:
        return as_measure(**parameters)
    target = on if isinstance(on, Routing) else network(on)
    return Result(record_by(target, name, parameters, progress))


def structure(
    source: Source,
    *,
    paths: bool = False,
    disjoint: bool = False,
    load: bool = False,
    spectrum: bool = False,
    bisection: bool = False,
    hops: Iterable[int] | None = None,
    pairs: int = 100_000,
    starts: int = 16,
    rng: int = 0,
    progress: Progress | None = None,
) -> Result:
    """Counts, distances, girth and Moore bound of a network, and the sections asked for.

    Fields: ``switches``, ``endpoints``, ``terminals``, ``links`` (working ones), ``network_radix``,
    ``concentration``, ``radix``, ``planes``, ``diameter`` and ``mean_distance`` [hops] between
    switches that carry endpoints (ordered pairs of distinct ones), ``histogram`` (pairs by
    distance), ``unreachable`` pairs, ``mean_distance_endpoints`` (over ordered pairs of endpoints,
    0 hops apart on one switch), the same over all switches (``..._all_switches``), ``girth``
    (None: no cycle), ``moore_bound`` and ``moore_fraction`` (switches over the bound for this
    radix and diameter).

    Parameters
    ----------
    source
        A network, as for ``network``.
    paths
        Adds ``minimal_paths`` and ``almost_minimal_paths`` (at most one hop longer): ``pairs``,
        ``sum``, ``min``, ``mean``, ``max`` and ``histogram`` of their numbers.
    disjoint
        Adds ``disjoint_paths``, numbers of link-disjoint paths: ``any_length`` for all pairs, and
        ``bounded``, a list with one entry for each of ``hops``: ``counts`` found, ``at_most``.
    load
        Adds ``channel_load``: what traffic between all switches (``unit``) or terminals, split
        evenly over minimal paths, loads the channels with; ``uniform_saturation``.
    spectrum
        Adds ``spectrum``: eigenvalues of the adjacency matrix and of the Laplacian.
    bisection
        Adds ``bisection``: at least ``low`` and at most ``high`` links.
    hops
        Bounds on the length of disjoint paths; the diameter and one more where it is None.
    pairs
        Bounded disjoint paths are counted for all pairs, or for a sample of so many.
    starts
        Runs of the search for a small cut.
    rng
        Seed of the sample and of the search.
    progress
        Called with ``(what, done, total)`` ten times a second.
    """
    whole("pairs", pairs, 1, 2**64 - 1)
    whole("starts", starts, 1, 2**20)
    whole("rng", rng, 0, 2**64 - 1)
    bounds = None if hops is None else [whole("hops", h, 1, 2**32 - 1) for h in hops]
    return Result(network(source).structure(
        paths=paths, disjoint=disjoint, load=load, spectrum=spectrum, bisection=bisection,
        hops=bounds, pairs=pairs, starts=starts, seed=rng, progress=progress,
    ))


def resilience(
    source: Source,
    *,
    remove: str = "links",
    until: Iterable[str] = ("disconnected",),
    samples: int = 1000,
    rng: int = 0,
    progress: Progress | None = None,
) -> Result:
    """How much of a network can fail at random before it breaks or grows long.

    Links (or ``remove="switches"``, with their endpoints) are removed one by one in random order,
    until the switches with endpoints are ``disconnected``, their ``diameter`` exceeds that of the
    intact network by more than 2 hops, or their ``mean`` distance by more than 1 hop. ``rng`` is
    the seed. Fields: ``network``, ``remove``, ``items`` (links or switches there are),
    ``samples``, ``seed``, and ``ends`` with, for each of ``until``: ``removed`` (by sample: how
    many were gone when the end came), ``mean`` fraction, ``confidence_interval_95``, ``median``,
    ``quantiles`` (5, 25, 75, 95 %), ``survival`` (share of samples that hold with 0, 5, ..., 100 %
    removed), ``all_hold`` and ``half_hold`` (the largest of these steps at which all, or at least
    half, of the samples hold).
    """
    whole("samples", samples, 1, 2**20)
    whole("rng", rng, 0, 2**64 - 1)
    ends = [until] if isinstance(until, str) else [str(end) for end in until]
    found = network(source).resilience(remove, ends, samples, rng, progress)
    return Result(found)


def promise(source: Source) -> Result | None:
    """What the family's formulae say of the network, None for files. ``diameter`` and
    ``mean_distance`` are intervals [low, high], of width 0 where the formula is exact."""
    found = network(source).promise()
    return None if found is None else Result(found)
