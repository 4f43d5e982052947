"""Simulations packet by packet in a report: curves against load, times of traces, use of links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, NotRequired, TypedDict

from flyloom.report import axis, packets, simulated
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
    dotted,
    found_by,
)
from flyloom.report.by_network import by_network, time_unit
from flyloom.report.figure import along, of_level, of_load
from flyloom.report.over_seeds import pooled
from flyloom.report.shape import Count, also, fail
from flyloom.report.words import some


@also(Any)
class PacketChannelUseColumns(ChannelEnds):
    """The use of channels, as columns."""

    plane: Annotated[list[Count], "the plane that it is of"]
    use: Annotated[list[float], "the part of the time that it was busy"]


@also(Any)
class PacketSeedStatistics(TypedDict):
    """What runs of a point with different seeds say of its means."""

    seeds: Annotated[Count, "runs"]
    accepted_load: NotRequired[Annotated[SeedSpread, "of the accepted load"]]
    mean_latency_ns: NotRequired[Annotated[SeedSpread, "of the mean latency"]]
    p99_latency_ns: NotRequired[Annotated[SeedSpread, "of the latency that 99 % do not exceed"]]


@also(Any)
class PacketLoadResult(TypedDict):
    """The results at one load, or for all jobs."""

    offered_load: NotRequired[Annotated[
        float, "the part of the rate of a rail that an endpoint offers; null of workloads"]]
    accepted_load: NotRequired[Annotated[
        float, "what of that arrives, by endpoint that sends; null of workloads"]]
    accepted_gbps: Annotated[float, "what arrives at an endpoint"]
    saturated: NotRequired[Annotated[
        bool, "whether less arrives than is offered; null where that is not known"]]
    packets: Annotated[Count, "packets that arrived"]
    mean_hops: NotRequired[Annotated[float, "switches that a packet visits in the mean"]]
    mean_latency_ns: NotRequired[Annotated[float, "mean latency of a packet"]]
    p50_latency_ns: NotRequired[Annotated[float, "latency that half of the packets do not exceed"]]
    p99_latency_ns: NotRequired[Annotated[float, "latency that 99 % of packets do not exceed"]]
    max_latency_ns: NotRequired[Annotated[float, "the longest latency"]]
    nonminimal_packets: Annotated[Count, "packets that took a path that is not minimal"]
    end_ns: Annotated[float, "when the last packet arrived"]
    deadlocked: Annotated[bool, "whether packets waited for each other in a cycle"]
    over_seeds: NotRequired[Annotated[PacketSeedStatistics, "intervals of means, of several seeds"]]
    links: NotRequired[Annotated[PacketChannelUseColumns, "use of each channel, if asked for"]]


@also(Any)
class PacketJobResult(TypedDict):
    """The results of a job."""

    name: Annotated[str, "its trace"]
    ranks: Annotated[Count, "its processes"]
    max_comm_ns: NotRequired[Annotated[float, "how long the slowest process communicates"]]
    mean_comm_ns: NotRequired[Annotated[float, "how long a process communicates in the mean"]]
    mean_latency_ns: NotRequired[Annotated[float, "mean latency of its packets"]]
    mean_hops: NotRequired[Annotated[float, "switches that its packets visit in the mean"]]
    messages: Annotated[Count, "its messages"]
    packets: Annotated[Count, "its packets"]
    bytes: Annotated[Count, "what its messages hold"]


class PacketSimulationResult(PageRun):
    """A run of `sim.packet` at a point."""

    points: Annotated[
        list[PacketLoadResult], "what was found at each load; of jobs the one of their run"]
    jobs: NotRequired[Annotated[list[PacketJobResult], "what was found of each job"]]


def entries(saved: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What was found at the points of a run, with what was asked; those of loads that differ in
    their seeds alone are one."""
    yield from pooled(_runs(saved), "packet")


def _runs(saved: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The runs at the points; what only the page of a simulation shows stays behind."""
    for record, found in found_by("sim.packet", saved):
        points = found.get("points")
        if isinstance(points, list):
            points = [_without(point, ("ranks", "series")) for point in points]
        asked = dict((record.get("asked") or {}).get("packet") or {})
        if isinstance(asked.get("workload"), list):
            asked["workload"] = " + ".join(map(str, asked["workload"]))
        behind = asked.get("background")
        if isinstance(behind, list):
            asked["background"] = behind[0] if len(behind) == 1 else {
                str(place + 1): one for place, one in enumerate(behind)}
        yield {**asked_of(record, "packet"), "parameters": dotted(asked),
               "jobs": found.get("jobs"), "points": points}


def _without(point: Any, names: tuple[str, ...]) -> Any:
    """A point without these of its fields."""
    if not isinstance(point, dict):
        return point  # the check of the report refuses such a value
    return {key: value for key, value in point.items() if key not in names}


def check(run: Found, data: Found, where: str) -> None:
    """Checks that points have loads or are of jobs, and that links are the network's."""
    load = not run["jobs"]
    if not load and len(run["points"]) != 1:
        raise fail(f"{where}.points", f"{len(run['points'])} of jobs", "give the one of their run")
    for i, point in enumerate(run["points"]):
        at = f"{where}.points[{i}]"
        if load and point["offered_load"] is None:
            raise fail(f"{at}.offered_load", "missing", "give a number, or jobs of traces")
        check_links(point, ("from", "to", "plane", "use"), data, run["network"], at)


def view(page: PageData) -> dict[str, Any] | None:
    """Curves and tables of loads, and times of traces."""
    runs = page.data["packets"]
    driven, traced = packets.curves(runs, page.labels), packets.traced(runs, page.labels)
    if not (driven or traced):
        return None
    unit, length_ns = time_unit([row["max_comm_ns"] for row in traced])
    curves = len({row["curve"] for row in traced})
    return {
        "driven": driven, "chart": page.chart("packet-load", packets.curves_spec(driven)),
        "summary": simulated.rows(driven), "networks": page.labels,
        "colours": list(page.colours.values()), "unit": unit, "length_ns": length_ns,
        "table": by_network(traced, page.labels, lambda row: (row["rest"], row["at"]),
                            lambda row: row["max_comm_ns"]),
        "traced": traced, "trace_chart": page.chart("packet-trace", packets.traced_spec(traced)),
        "left_out": " ".join(filter(None, (
            some("curves", curves, "the first", axis.MOST), packets.off_axis(traced),
        ))),
    }


def loads(page: PageData) -> Iterator[ComparedFigure]:
    """For each traffic, the latency at the lowest load that all have, and the most that arrives."""
    def most(run: Found) -> float:
        return max((p["accepted_gbps"] for p in run["curve"]["points"]
                    if not p["deadlocked"]), default=0.0)

    curves = packets.curves(page.data["packets"], page.labels)
    yield from of_load(curves, "Gbit/s", most, "most that arrives", ("ns", "mean_latency_ns"))


def traces(page: PageData) -> Iterator[ComparedFigure]:
    """The longest time that a process of a trace communicates, along what varies."""
    runs = [
        {"network": run["network"], "label": run["label"], "value": job["max_comm_ns"],
         "parameters": run["parameters"] | {"job": job["name"]}}
        for run in page.data["packets"] if not any(point["deadlocked"] for point in run["points"])
        for job in run["jobs"] or () if job["max_comm_ns"] is not None
    ]
    what = of_level(page, "{job}: slowest process", "packet")
    yield from along(runs, ("seed",), "µs", what, 1e-3)


SECTION = PageSection(
    name="packets", title="Packets", place=40,
    doc="Latency and rate of simulations packet by packet, times of traces, and the use of links.",
    when="`sim.packet` ran at a point",
    entries=SectionList(key="packets", shape=PacketSimulationResult, of=entries,
                        measure="sim.packet", check=check),
    view=view, figures={70: loads, 80: traces},
)
