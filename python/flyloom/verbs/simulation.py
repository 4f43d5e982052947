"""Simulators: a network or tables under load, cycle by cycle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flyloom import _core
from flyloom._core import RefusalError
from flyloom.inputs.networks import network
from flyloom.inputs.tables import holds_tables, tables
from flyloom.inputs.traffic import called, demands, is_name
from flyloom.support.checks import whole
from flyloom.support.machine import processors as all_processors
from flyloom.support.progress import Progress
from flyloom.support.reading import read_text
from flyloom.support.results import Result
from flyloom.verbs.routes import route

if TYPE_CHECKING:
    from flyloom.inputs.tables import Tables
    from flyloom.inputs.traffic import Wanted

LEVELS = ("flit",)
OWN = ("load", "selection", "traffic", "class", "unverified", "seed", "seeds")
"""Parameters of the simulator that are arguments of ``simulate``, and no settings."""


def simulate(
    source: Tables,
    level: str = "flit",
    *,
    load: float | str | Iterable[float] = "auto",
    traffic: Wanted = "uniform",
    classes: Sequence[Mapping[str, Any]] = (),
    selection: str = "minimal",
    engine: str | None = None,
    lmc: int | None = None,
    layers: int | None = None,
    engine_options: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    unverified: bool = False,
    seed: int = 0,
    seeds: int = 1,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Result:
    """What a network does under load, cycle by cycle: latency, accepted load, saturation.

    Parameters
    ----------
    source
        A network, as for ``network``; or tables, a ``Routing`` or a folder of them.
    level
        ``"flit"``.
    load
        Flits an endpoint and cycle, above 0 and at most 1 (the number of rails, where endpoints
        have several): a number, several, a range ``"0.1:0.9:0.1"``, or ``"auto"``: up to
        saturation, whose throughput is then bisected to 0.005.
    traffic
        A pattern (docs/traffic.md), a file, a matrix or rows ``(src, dst, amount)``.
    classes
        Several classes of traffic at once: of each ``share`` of the load, ``traffic`` (a pattern),
        ``process``, ``packet_flits``, ``priority``; what is left out is as of all.
    selection
        How packets choose: ``minimal``, ``valiant``, ``ugal_l``, ``ugal_g``, ``par``,
        ``anca``.
    engine
        Routes are those of this engine's tables, with ``lmc``, ``layers`` and ``engine_options``.
    settings
        Other parameters by their dotted names, such as ``{"router.virtual_channels": 4}``: see
        docs/flit.md.
    unverified
        Runs also what is not proved free of deadlock; a run stops where packets wait in a circle.
    seed
        The seed of all that is random.
    seeds
        Runs of each load, with ``seed`` and the numbers that follow: points are their means, with
        ``over_seeds``.
    threads
        Points run side by side on so many threads; the result is the same with any number.
    progress
        Called with ``(what, done, total)``.

    Fields: ``network``, ``engine``, ``traffic``, ``verified``, ``parameters``, ``points`` (each
    ``offered_load``, ``accepted_load``, ``mean_packet_latency_cycles``, ...: docs/flit.md), with
    ``"auto"`` also ``saturation_throughput``. Raises ``RefusalError`` for what does not fit and for
    routing that is not proved free of deadlock.
    """
    if level not in LEVELS:
        raise RefusalError(f"level: there is no {level!r}; {', '.join(LEVELS)}")
    for name in OWN:
        if name in (settings or {}):
            raise RefusalError(f"settings: {name} is an argument of its own; give it as {name}")
    if engine is None and not (lmc is None and layers is None and not engine_options):
        raise RefusalError("engine: none, but lmc, layers or options of one; the name of an engine")
    processors = _threads(threads)
    given = tables(source) if holds_tables(source) else None
    topology = network(source) if given is None else given.topology
    if given is not None and engine is not None:
        raise RefusalError("engine: these are tables, which have their routes; leave it out")
    if engine is not None:
        given = route(
            topology, engine, lmc=lmc, layers=layers, new_lids=None, progress=progress,
            **(engine_options or {}),
        )
    spec = nested({
        **(settings or {}), "load": _loads(load), "selection": selection,
        "class": [dict(one) for one in classes], "unverified": unverified, "seed": seed,
        "seeds": seeds,
    })
    own = None
    if isinstance(traffic, str) and is_name(traffic):
        spec["traffic"] = traffic
    else:
        own = demands(topology, traffic)
    found = _core.simulate_flit(
        topology if given is None else given, spec, processors, own, progress
    )
    return Result({
        "network": topology.recipe,
        "engine": None if given is None else given.engine,
        "traffic": called(traffic),
        **found,
    })


def booksim(
    *given: str,
    unverified: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Result:
    """Runs configurations of BookSim: the same network, routers, traffic and sampling.

    Parameters
    ----------
    given
        Files, and ``key=value`` words; in their order, the last value of a key counts. A network
        file is looked for as it is named, then beside the configurations.
    unverified
        Runs also routing that is not proved free of deadlock.
    threads
        The result is the same with any number.
    progress
        Called with ``(what, done, total)``.

    Fields: ``verified``, ``points`` (one, as ``simulate``), ``classes`` (one for each class of
    traffic, where there are several), ``notes`` (what is said and has no effect, even in BookSim).
    """
    sources: list[tuple[str | None, str]] = []
    folders = []
    for word in given:
        if "=" in word and not Path(word).is_file():
            sources.append((None, word))
        else:
            sources.append((word, read_text(word)))
            folders.append(Path(word).parent)
    processors = _threads(threads)
    if not folders:
        raise RefusalError("configuration: there is no file; the path of one")
    named, notes = _core.booksim_names(sources)
    file = None
    if named is not None:
        found = [path for path in (Path(named), *(f / named for f in folders)) if path.is_file()]
        if not found:
            raise RefusalError(
                f"network_file: there is no {named}, nor beside the configuration; the path of one"
            )
        file = (str(found[0]), read_text(found[0]))
    made = _core.simulate_booksim(sources, file, unverified, processors, progress)
    kept = [{"place": place, "key": key, "why": why} for place, key, why in notes]
    return Result({**made, "notes": kept})


def nested(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by dotted names as tables in tables; RefusalError where one is both."""
    made: dict[str, Any] = {}
    for name, value in settings.items():
        *tables, last = name.split(".")
        at = made
        for table in tables:
            at = at.setdefault(table, {})
            if not isinstance(at, dict):
                raise RefusalError(f"{name}: {table} is no table")
        at[last] = value
    return made


def _threads(asked: int | None) -> int:
    """So many threads as are asked for; all processors where none are said."""
    return all_processors() if asked is None else whole("threads", asked, 1, 1024)


def _loads(load: float | str | Iterable[float]) -> float | str | list[float]:
    """Loads as the core takes them."""
    if isinstance(load, (int, float, str)):
        return load
    try:
        return [float(x) for x in load]
    except (TypeError, ValueError):
        raise RefusalError(f"load: {load!r} is no number, nor a list of some") from None
