"""One function per simulator; written by `cargo xtask gen`, never edited."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from flyloom.support.progress import Progress
from flyloom.verbs.simulation import simulate
from flyloom.verbs.tidy import Simulation

if TYPE_CHECKING:
    from flyloom.inputs.placements import Placed
    from flyloom.inputs.tables import Tables
    from flyloom.inputs.traffic import Wanted
    from flyloom.inputs.workloads import Scheduled

__all__ = [
    "flit",
    "message",
    "packet",
]


def flit(
    source: Tables,
    *,
    load: float | Sequence[float] | str | None = None,
    selection: str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]] | None = None,
    choosing: Mapping[str, Any] | None = None,
    lane_use: str | None = None,
    rail: str | None = None,
    traffic: Wanted | None = None,
    injection: str | None = None,
    packet_flits: int | str | None = None,
    traffic_class: Sequence[Mapping[str, Any]] | None = None,
    switch: Mapping[str, Any] | None = None,
    link_latency_cycles: int | None = None,
    cycle_ns: float | None = None,
    run: Mapping[str, Any] | None = None,
    links: bool | None = None,
    unverified: bool | None = None,
    seed: int | None = None,
    seeds: int | None = None,
    engine: str | None = None,
    lmc: int | None = None,
    layers: int | None = None,
    engine_options: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Simulation:
    """Latency and accepted load, cycle by cycle: switches with channels and credits.

    Parameters
    ----------
    source : Tables
        A network, as for ``network``, or tables.
    load : float | Sequence[float] | str, optional
        Loads in flits an endpoint and cycle: a number, several, a range ``0.1:0.9:0.1`` or
        ``auto``, up to where it saturates. Default: "auto".
    selection : str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]], optional
        How packets choose among the paths that there are: by name, where ``adaptive`` means
        ``ugal_l``, or by a score of one's own. Of several, each is run. Default: "minimal".
    choosing : Mapping[str, Any], optional
        What selections look at; their usual numbers where it is not given.
    lane_use : str, optional
        The lanes of packets that choose. Default: "auto".
    rail : str, optional
        The rail of its endpoint that a packet takes, where there are several. Default:
        "random".
    traffic : Wanted, optional
        Who sends to whom: a pattern with its argument. Of several, each is run. Default:
        "uniform".
    injection : str, optional
        When packets enter the network: ``bernoulli`` or ``on_off:ALPHA,BETA``. Default:
        "bernoulli".
    packet_flits : int | str, optional
        Flits of a packet, or several with weights: ``1=3,5=1``. Default: "1".
    traffic_class : Sequence[Mapping[str, Any]], optional
        Several classes of traffic at once, each a table; none: one class, by the keys above.
    switch : Mapping[str, Any], optional
        The switches: virtual channels, buffers, pipeline, allocators.
    link_latency_cycles : int, optional
        Latency of all cables, cycles. Default: 1.
    cycle_ns : float, optional
        How long a cycle is, where latencies follow from lengths of cables; they are
        ``link_latency_cycles`` where it is not given.
    run : Mapping[str, Any], optional
        Warm-up, measurement, drain.
    links : bool, optional
        Whether points have ``links``: what every channel between switches carried. Default:
        False.
    unverified : bool, optional
        Run also what is not proved free of deadlock. Default: False.
    seed : int, optional
        The seed of all that is random. Default: 0.
    seeds : int, optional
        Runs of each load, with ``seed`` and the numbers that follow: means of them, and how far
        these can be trusted. Default: 1.
    engine : str | None, optional
        Routes are those of this engine's tables.
    lmc : int | None, optional
        LID mask control of these, 0 to 7.
    layers : int | None, optional
        Routes of these to every endpoint.
    engine_options : Mapping[str, Any] | None, optional
        Options of the engine.
    settings : Mapping[str, Any] | None, optional
        Parameters of tables by their dotted names.
    threads : int | None, optional
        Processors to use; the result is the same with any number.
    progress : callable, optional
        Called with ``(what, done, total)`` ten times a second.

    Returns
    -------
    Simulation
        As of :func:`flyloom.simulate`, see docs/flit.md.

    Raises
    ------
    RefusalError
        For parameters that do not fit, and for routing that is not proved free of
        deadlock.
    """
    return simulate(
        source, "flit", engine=engine, lmc=lmc, layers=layers, engine_options=engine_options,
        settings=settings, threads=threads, progress=progress,
        load=load,
        selection=selection,
        choosing=choosing,
        lane_use=lane_use,
        rail=rail,
        traffic=traffic,
        injection=injection,
        packet_flits=packet_flits,
        traffic_class=traffic_class,
        switch=switch,
        link_latency_cycles=link_latency_cycles,
        cycle_ns=cycle_ns,
        run=run,
        links=links,
        unverified=unverified,
        seed=seed,
        seeds=seeds,
    )


def message(
    source: Tables | None,
    *,
    workload: Scheduled | Sequence[Scheduled] | None = None,
    workload_options: Mapping[str, Any] | None = None,
    dialect: str | None = None,
    costs: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    link: Mapping[str, Any] | None = None,
    switch: Mapping[str, Any] | None = None,
    selection: str | Sequence[str] | None = None,
    choosing: Mapping[str, Any] | None = None,
    rail: str | None = None,
    network: Mapping[str, Any] | None = None,
    placement: Placed | None = None,
    per_endpoint: int | None = None,
    seed: int | None = None,
    seeds: int | None = None,
    engine: str | None = None,
    lmc: int | None = None,
    layers: int | None = None,
    engine_options: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    threads: int | None = None,
    gbps: float | None = None,
    critical_path: bool = False,
    progress: Progress | None = None,
) -> Simulation:
    """How long a workload of processes takes: LogGOPS, message by message, over a network where
    there is one.

    Parameters
    ----------
    source : Tables | None
        A network or tables that messages go over; None: they take ``L`` and ``G`` of ``costs``.
    workload : Scheduled | Sequence[Scheduled], optional
        What processes do: a name of ``flyloom workload list`` with its parameters, such as
        ``alltoall_pairwise bytes=65536``, or a file. Of several, each is run. Default:
        "alltoall_pairwise".
    workload_options : Mapping[str, Any], optional
        Parameters of a workload that is made, besides those beside its name; where ``ranks`` is
        not among them, a rank for every place on the endpoints.
    dialect : str, optional
        By which rules the schedule is run. Default: "causal".
    costs : Mapping[str, Any] | str | os.PathLike[str], optional
        What messages cost: the name of a preset (``flyloom list costs``), or a table with
        ``preset`` and parameters in place of the preset's; a network takes the place of ``L``
        and ``G``.
    link : Mapping[str, Any], optional
        Cables of the network.
    switch : Mapping[str, Any], optional
        Switches of the network.
    selection : str | Sequence[str], optional
        Which of the routes between two endpoints a message takes. Of several, each is run.
        Default: "spread".
    choosing : Mapping[str, Any], optional
        Parameters of selections with detours.
    rail : str, optional
        Which rails of its endpoints a message takes, where these have several. Default:
        "spread".
    network : Mapping[str, Any], optional
        Adapters, processes of one endpoint, and how closely rates are followed.
    placement : Placed, optional
        Which endpoint each rank is on: a name of ``flyloom list placements``, or a file.
        Default: "linear".
    per_endpoint : int, optional
        Ranks on each endpoint. Default: 1.
    seed : int, optional
        The seed of all that is random. Default: 0.
    seeds : int, optional
        Runs, with ``seed`` and the numbers that follow: means of them, and how far these can be
        trusted. Default: 1.
    engine : str | None, optional
        Routes are those of this engine's tables.
    lmc : int | None, optional
        LID mask control of these, 0 to 7.
    layers : int | None, optional
        Routes of these to every endpoint.
    engine_options : Mapping[str, Any] | None, optional
        Options of the engine.
    settings : Mapping[str, Any] | None, optional
        Parameters of tables by their dotted names.
    threads : int | None, optional
        Processors to use; the result is the same with any number.
    gbps : float | None, optional
        Rate of the network's cables, Gbit/s: the fastest have it, slower ones keep their part
        of it.
    critical_path : bool, optional
        Finds, too, what the end of the run waited for.
    progress : callable, optional
        Called with ``(what, done, total)`` ten times a second.

    Returns
    -------
    Simulation
        As of :func:`flyloom.simulate`, see docs/message.md.

    Raises
    ------
    RefusalError
        For parameters that do not fit, and for routing that is not proved free of
        deadlock.
    """
    return simulate(
        source, "message", engine=engine, lmc=lmc, layers=layers, engine_options=engine_options,
        settings=settings, threads=threads, progress=progress,
        critical_path=critical_path, gbps=gbps,
        workload=workload,
        workload_options=workload_options,
        dialect=dialect,
        costs=costs,
        link=link,
        switch=switch,
        selection=selection,
        choosing=choosing,
        rail=rail,
        network=network,
        placement=placement,
        per_endpoint=per_endpoint,
        seed=seed,
        seeds=seeds,
    )


def packet(
    source: Tables,
    *,
    dialect: str | None = None,
    load: float | Sequence[float] | str | None = None,
    selection: str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]] | None = None,
    choosing: Mapping[str, Any] | None = None,
    lane_use: str | None = None,
    rail: str | None = None,
    traffic: Wanted | None = None,
    traffic_class: Sequence[Mapping[str, Any]] | None = None,
    injection: str | None = None,
    messages: int | None = None,
    message_bytes: int | None = None,
    end_ns: float | None = None,
    run: Mapping[str, Any] | None = None,
    workload: Scheduled | Sequence[Scheduled] | None = None,
    workload_class: Sequence[int] | None = None,
    compute: str | None = None,
    collectives: str | None = None,
    placement: Placed | None = None,
    background: Sequence[Mapping[str, Any]] | Mapping[str, Any] | None = None,
    costs: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    mpi: Mapping[str, Any] | None = None,
    links: bool | None = None,
    top: int | None = None,
    overtaken: bool | None = None,
    ranks: bool | None = None,
    series_ns: float | None = None,
    packet_bytes: int | None = None,
    link: Mapping[str, Any] | None = None,
    switch: Mapping[str, Any] | None = None,
    sync: str | None = None,
    ahead_ns: float | None = None,
    undo: str | None = None,
    unverified: bool | None = None,
    seed: int | None = None,
    seeds: int | None = None,
    engine: str | None = None,
    lmc: int | None = None,
    layers: int | None = None,
    engine_options: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    threads: int | None = None,
    gbps: float | None = None,
    progress: Progress | None = None,
) -> Simulation:
    """Latency and accepted rate, packet by packet: switches with buffers and credits.

    Parameters
    ----------
    source : Tables
        A network, as for ``network``, or tables.
    dialect : str, optional
        The model of routers and endpoints. Default: "physical".
    load : float | Sequence[float] | str, optional
        Loads as part of the rate of one rail of an endpoint: a number, several, or a range
        ``0.1:0.9:0.1``; 0.5 where it is not given. Not beside a workload, nor are ``traffic``,
        ``messages`` and ``message_bytes``.
    selection : str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]], optional
        How packets choose among the paths that exist: by name, where ``adaptive`` means
        ``ugal_l``, or by a score of one's own, in ``physical`` only. Of several, each is run.
        Default: "minimal".
    choosing : Mapping[str, Any], optional
        The numbers that the selection is tuned by; its defaults where they are not given;
        ``physical`` only.
    lane_use : str, optional
        The virtual channels of packets that choose their paths; ``physical`` only. Default:
        "auto".
    rail : str, optional
        The rail of its endpoint that a packet takes, where there are several. Default:
        "least_used".
    traffic : Wanted, optional
        Who sends to whom: a pattern with its argument; ``uniform`` where it is not given. Of
        several, each is run.
    traffic_class : Sequence[Mapping[str, Any]], optional
        Several classes of traffic at once, each a table; none: one class with the parameters of
        the run. ``physical`` only.
    injection : str, optional
        When endpoints create messages; as in the dialect where it is not given.
    messages : int, optional
        Messages that each endpoint sends: the run is measured from its beginning until the last
        has arrived, not in a steady state. 30 in the dialects of CODES where no ``run`` is
        given.
    message_bytes : int, optional
        Length of a message; 4096 where it is not given.
    end_ns : float, optional
        Endpoints create messages until this time, whatever ``messages`` says, and what has not
        arrived by then does not count, ns.
    run : Mapping[str, Any], optional
        Warm-up, measured time and drain of a run in a steady state.
    workload : Scheduled | Sequence[Scheduled], optional
        What processes do, in place of ``traffic``: a name of ``flyloom workload list`` with its
        parameters, such as ``amg_like p=12 levels=4 cycles=1 base_bytes=16384``, or a file or a
        folder of a trace; several of them are jobs at the same time.
    workload_class : Sequence[int], optional
        The class of traffic of each workload, where there are several classes: the first is 1,
        which is that of workloads for which there is no number.
    compute : str, optional
        Whether calculations of a workload take time. Default: "off".
    collectives : str, optional
        What collective operations of a workload send. Default: "real".
    placement : Placed, optional
        Which endpoint each process is on: a name of ``flyloom list placements``, or a file; of
        all jobs together, those of the background last. Default: "linear".
    background : Sequence[Mapping[str, Any]] | Mapping[str, Any], optional
        Background jobs: they send to random endpoints as long as the workloads run.
    costs : Mapping[str, Any] | str | os.PathLike[str], optional
        What messages cost: a name of ``flyloom list costs``, where ``mpi`` does not say it;
        default ``hdr``, as at the message level, in the dialects of CODES ``codes``; the rate
        and the latency are the network's.
    mpi : Mapping[str, Any], optional
        The costs of MPI in place of those of ``costs``.
    links : bool, optional
        Reports bytes, use and the longest queue of every link. Default: False.
    top : int, optional
        Only this number of the busiest links between switches, by name. Default: 10.
    overtaken : bool, optional
        Counts packets that arrive behind one that the same endpoint sent after them. Default:
        False.
    ranks : bool, optional
        Reports the times of every process of a workload. Default: False.
    series_ns : float, optional
        Reports what arrived in every span of this length, ns.
    packet_bytes : int, optional
        Longest packet; longer messages are cut into several. Default: 4096.
    link : Mapping[str, Any], optional
        Rates, buffers and latencies of links.
    switch : Mapping[str, Any], optional
        Delays and arbitration of switches.
    sync : str, optional
        The engine that runs the events. Default: "sequential".
    ahead_ns : float, optional
        How far the optimistic engine goes ahead, ns. Default: 100.0.
    undo : str, optional
        What the optimistic engine undoes. Default: "needed".
    unverified : bool, optional
        Run also what is not proved free of deadlock. Default: False.
    seed : int, optional
        The seed of all random numbers. Default: 0.
    seeds : int, optional
        Runs of each load or workload, with ``seed`` and the numbers that follow: means of them,
        and how far these can be trusted. Default: 1.
    engine : str | None, optional
        Routes are those of this engine's tables.
    lmc : int | None, optional
        LID mask control of these, 0 to 7.
    layers : int | None, optional
        Routes of these to every endpoint.
    engine_options : Mapping[str, Any] | None, optional
        Options of the engine.
    settings : Mapping[str, Any] | None, optional
        Parameters of tables by their dotted names.
    threads : int | None, optional
        Processors to use; the result is the same with any number.
    gbps : float | None, optional
        Rate of the network's cables, Gbit/s: the fastest have it, slower ones keep their part
        of it.
    progress : callable, optional
        Called with ``(what, done, total)`` ten times a second.

    Returns
    -------
    Simulation
        As of :func:`flyloom.simulate`, see docs/packet.md.

    Raises
    ------
    RefusalError
        For parameters that do not fit, and for routing that is not proved free of
        deadlock.
    """
    return simulate(
        source, "packet", engine=engine, lmc=lmc, layers=layers, engine_options=engine_options,
        settings=settings, threads=threads, progress=progress, gbps=gbps,
        dialect=dialect,
        load=load,
        selection=selection,
        choosing=choosing,
        lane_use=lane_use,
        rail=rail,
        traffic=traffic,
        traffic_class=traffic_class,
        injection=injection,
        messages=messages,
        message_bytes=message_bytes,
        end_ns=end_ns,
        run=run,
        workload=workload,
        workload_class=workload_class,
        compute=compute,
        collectives=collectives,
        placement=placement,
        background=background,
        costs=costs,
        mpi=mpi,
        links=links,
        top=top,
        overtaken=overtaken,
        ranks=ranks,
        series_ns=series_ns,
        packet_bytes=packet_bytes,
        link=link,
        switch=switch,
        sync=sync,
        ahead_ns=ahead_ns,
        undo=undo,
        unverified=unverified,
        seed=seed,
        seeds=seeds,
    )
