"""Simulations flit by flit in a report: latency and accepted load against offered load."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, NotRequired, TypedDict

from flyloom.report import flit, simulated
from flyloom.report.base import (
    ChannelEnds,
    ComparedFigure,
    Found,
    PageData,
    PageRun,
    PageSection,
    SectionList,
    SeedSpread,
    asked_of,
    check_links,
    found_by,
)
from flyloom.report.figure import RATE, of_load
from flyloom.report.over_seeds import pooled
from flyloom.report.shape import Count, also, fail
from flyloom.report.words import some


@also(Any)
class FlitChannelUseColumns(ChannelEnds):
    """The use of channels, as columns."""

    use: Annotated[list[float], "the share of the measured cycles in which it carried a flit"]


@also(Any)
class FlitSeedStatistics(TypedDict):
    """What runs of a point with different seeds say of its means."""

    seeds: Annotated[Count, "runs"]
    accepted_load: NotRequired[Annotated[SeedSpread, "of the accepted load"]]
    mean_packet_latency_cycles: NotRequired[Annotated[SeedSpread, "of the mean latency"]]


@also(Any)
class FlitLoadResult(TypedDict):
    """The results at one load."""

    offered_load: Annotated[float, "flits that an endpoint offers a cycle"]
    accepted_load: Annotated[float, "flits that arrive, by endpoint and cycle"]
    mean_packet_latency_cycles: NotRequired[Annotated[
        float, "mean latency of a packet, from its injection on; null where none arrived"]]
    mean_network_latency_cycles: NotRequired[Annotated[
        float, "mean time of a packet in the network; null where none arrived"]]
    p99_packet_latency_cycles: NotRequired[Annotated[
        float, "latency that 99 % of packets do not exceed; null where none arrived"]]
    mean_hops: NotRequired[Annotated[float, "hops of a packet in the mean: links between switches"]]
    saturated: NotRequired[Annotated[bool, "whether less than 97 % of the load arrives"]]
    deadlocked: Annotated[bool, "whether packets waited for each other in a cycle"]
    latency_histogram: Annotated[list[list[Count]], "latencies, each with its packets"]
    hop_histogram: Annotated[
        list[Count], "packets by hops, the links between switches that they traversed, from 0"]
    over_seeds: NotRequired[Annotated[FlitSeedStatistics, "intervals of means, of several seeds"]]
    links: NotRequired[Annotated[FlitChannelUseColumns, "use of each channel, if asked for"]]


@also(Any)
class FlitSimulationResult(PageRun):
    """A run of `sim.flit` at a point."""

    points: Annotated[list[FlitLoadResult], "what was found at each load"]
    saturation_throughput: NotRequired[Annotated[
        float, "the load above which less arrives, where it was asked for"]]


def entries(saved: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The runs of `sim.flit` at the points, with their parameters; those that differ in their seeds
    alone are one."""
    runs = ({**found, **asked_of(record, "flit")} for record, found in found_by("sim.flit", saved))
    yield from pooled(runs, "flit")


def check(run: Found, data: Found, where: str) -> None:
    """Checks that latencies are pairs, and that links are the network's."""
    for i, point in enumerate(run["points"]):
        at = f"{where}.points[{i}]"
        if any(len(pair) != 2 for pair in point["latency_histogram"]):
            raise fail(f"{at}.latency_histogram", "no pair found", "give latency and packets")
        check_links(point, ("from", "to", "use"), data, run["network"], at)


def view(page: PageData) -> dict[str, Any] | None:
    """Curves and tables of all loads, and distributions of some."""
    curves = simulated.curves(page.data["simulations"], page.labels)
    if not curves:
        return None
    drawn = sum(bool(curve["points"]) for curve in curves)
    return {
        "chart": page.chart("flit", flit.curves_spec(curves)),
        "distributions": page.chart("packets", simulated.distributions(curves)),
        "left_out": some("curves", drawn, "the first", simulated.DISTRIBUTIONS),
        "curves": simulated.rows(curves),
        "saturations": any(c["saturation_throughput"] is not None for c in curves),
    }


def figures(page: PageData) -> Iterator[ComparedFigure]:
    """For each traffic, the latency at the lowest load that all have, and where each saturates:
    with the best path selection, and with each one that several networks have."""
    curves = simulated.curves(page.data["simulations"], page.labels)
    known = all(curve["saturation_throughput"] is not None for curve in curves)

    def most(run: Found) -> float:
        """The saturation throughput of a curve in per cent of the rate of an endpoint; where that
        is not known, the highest accepted load."""
        curve = run["curve"]
        arrives = (p["accepted_load"] for p in curve["points"] if not p["deadlocked"])
        return 100 * (curve["saturation_throughput"] if known else max(arrives, default=0.0))

    yield from of_load(curves, RATE, most,
                       "saturation" if known else "most that arrives",
                       ("cycles", "mean_packet_latency_cycles"))


SECTION = PageSection(
    name="simulation", title="Simulation", place=30,
    doc="Latency and accepted load of simulations flit by flit, and the use of links.",
    when="`sim.flit` ran at a point",
    entries=SectionList(
        key="simulations", shape=FlitSimulationResult, of=entries, measure="sim.flit", check=check,
    ),
    view=view, figures={60: figures},
)
