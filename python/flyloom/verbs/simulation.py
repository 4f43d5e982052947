"""Simulators: a network or tables under load, by flits, packets or messages."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flyloom import _core
from flyloom._core import RefusalError, Routing
from flyloom.inputs.tables import topology_of
from flyloom.inputs.traffic import called, demands, is_name, packet_times
from flyloom.support.progress import Progress
from flyloom.support.reading import read_text
from flyloom.support.refused import none_such
from flyloom.support.results import Result
from flyloom.verbs.message import message
from flyloom.verbs.packet import (
    loads,
    packet,
    refuse_arguments,
    room_for,
    threads_for,
)
from flyloom.verbs.routes import routed_or_not
from flyloom.verbs.settings import nested

if TYPE_CHECKING:
    from flyloom.inputs.tables import Tables
    from flyloom.inputs.traffic import Wanted
    from flyloom.inputs.workloads import Scheduled

LEVELS = ("flit", "message", "packet")
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
    **of_level: Any,
) -> Result:
    """What a network does: under load, by flits or packets, or with messages of a schedule.

    Parameters
    ----------
    source
        A network, as for ``network``; or tables, a ``Routing`` or a folder of them.
    level
        ``"flit"``: cycle by cycle; latency, accepted load, saturation. ``"packet"``,
        ``"message"``: see ``of_level``.
    load
        Flits an endpoint and cycle, above 0 and at most 1 (the number of rails, where endpoints
        have several): a number, several, a range ``"0.1:0.9:0.1"``, or ``"auto"``: up to
        saturation, whose throughput is then bisected to 0.005.
    traffic
        A pattern (docs/traffic.md), a file, a matrix or rows ``(src, dst, amount)``. A file of
        packets with their times, ``time_cycles source destination size_flits`` in every line, is
        played whole; a ``load`` stretches its times (docs/flit.md).
    classes
        Several classes of traffic at once: of each ``share`` of the load, ``traffic`` (a pattern),
        ``process``, ``packet_flits``, ``priority``; what is left out is as of all. Of level
        ``"packet"``: see :func:`flyloom.verbs.packet.packet`.
    selection
        How packets choose: ``minimal``, ``valiant``, ``ugal_l``, ``ugal_g``, ``par``,
        ``anca``.
    engine
        Routes are those of this engine's tables, with ``lmc``, ``layers`` and ``engine_options``.
    settings
        Other parameters by their dotted names, such as ``{"router.virtual_channels": 4}``: see
        docs/flit.md.
    unverified
        Leaves the proof out that routing is free of deadlock; a run stops where packets wait in a
        circle.
    seed
        The seed of all that is random.
    seeds
        Runs of each load, with ``seed`` and the numbers that follow: points are their means, with
        ``over_seeds``.
    threads
        Points run side by side on so many threads; the result is the same with any number.
    progress
        Called with ``(what, done, total)``.
    of_level
        Of level ``"packet"``, whose default load is 0.5 and which has no ``seeds``: ``dialect``,
        ``messages``, ``message_bytes``, ``rails``, ``sync``; see
        :func:`flyloom.verbs.packet.packet`, whose fields are found. Of level ``"message"``, which
        takes besides these ``engine``, ``lmc``, ``layers``, ``engine_options``, ``settings``,
        ``seed`` and ``progress``: ``workload``, a schedule, a file of one, or with ``make`` a
        name; and the other arguments of :func:`flyloom.verbs.message.message`, whose fields are
        found. ``source`` may be the schedule itself, which then runs without a network.

    Fields: ``network``, ``engine``, ``traffic``, ``verified``, ``parameters``, ``points`` (each
    ``offered_load``, ``accepted_load``, ``mean_packet_latency_cycles``, ...: docs/flit.md), with
    ``"auto"`` also ``saturation_throughput``. Raises ``RefusalError`` for what does not fit and for
    routing that is not proved free of deadlock.
    """
    if level not in LEVELS:
        raise none_such("level", level, LEVELS)
    if level == "message":
        given_flit = (load, traffic, tuple(classes), selection, unverified, seeds, threads)
        if given_flit != ("auto", "uniform", (), "minimal", False, 1, None):
            raise RefusalError(
                "level: load, traffic, classes, selection, unverified, seeds and threads are of "
                "level flit; of level message: workload, make, placement, parameters, ..."
            )
        return _of_messages(
            source, engine=engine, lmc=lmc, layers=layers, engine_options=engine_options,
            settings=settings, seed=seed, progress=progress, **of_level,
        )
    if level == "packet":
        if seeds != 1:
            raise RefusalError("level: seeds are of level flit; leave them out")
        _known(of_level, packet, level)
        return packet(
            source, load=None if isinstance(load, str) and load == "auto" else load,
            traffic=None if isinstance(traffic, str) and traffic == "uniform" else traffic,
            classes=classes,
            selection=selection, engine=engine, lmc=lmc, layers=layers,
            engine_options=engine_options, settings=settings, unverified=unverified, seed=seed,
            threads=threads, progress=progress, **of_level,
        )
    if of_level:
        name = min(of_level)
        raise RefusalError(f"{name}: an argument of another level; leave it out")
    refuse_arguments(settings, OWN)
    processors = threads_for(threads)
    spec = nested({
        **(settings or {}), "load": loads(load), "selection": selection,
        "class": [dict(one) for one in classes], "unverified": unverified, "seed": seed,
        "seeds": seeds,
    })
    with room_for("flit", spec):
        on = routed_or_not(
            source, engine, lmc=lmc, layers=layers, options=engine_options, progress=progress
        )
    given = on if isinstance(on, Routing) else None
    topology = topology_of(on)
    own, times = None, None
    if isinstance(traffic, str) and is_name(traffic):
        spec["traffic"] = traffic
    elif (times := packet_times(topology, traffic)) is None:
        own = demands(topology, traffic)
    found = _core.simulate_flit(on, spec, processors, own, times, progress)
    return Result({
        "network": topology.recipe,
        "engine": None if given is None else given.engine,
        "traffic": called(traffic),
        **found,
    })


def _of_messages(source: Any, workload: Scheduled | None = None, **given: Any) -> Result:
    """A schedule over the network ``source``; or ``source`` itself, a schedule, without one."""
    _known(given, message, "message")
    if workload is None:
        return message(source, **given)
    return message(workload, net=source, **given)


def _known(given: Mapping[str, Any], verb: Callable[..., Result], level: str) -> None:
    """Refuses arguments that the verb of a level has not."""
    known = inspect.signature(verb).parameters
    if strange := sorted(set(given) - set(known)):
        names = [name for name in known if name not in ("source", "net")]
        raise RefusalError(f"{strange[0]}: no argument of level {level}; {', '.join(names)}")


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
    processors = threads_for(threads)
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
