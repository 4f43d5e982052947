"""The command that reads counters of a running fabric: observe."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flyloom.cli import completion
from flyloom.cli.common import (
    NET_HELP,
    CsvFile,
    Json,
    Rules,
    app,
    emit,
    epilog,
    print_table,
    write_csv,
)
from flyloom.cli.groups import grouped

if TYPE_CHECKING:
    from flyloom.support.verb_results import FabricObservation

DRAWN = (".svg", ".png", ".pdf")
"""How names of pictures of the floor end."""


@dataclass(frozen=True)
class CounterOptions:
    """How counters are read."""

    seconds: Annotated[
        float | None,
        typer.Option("--seconds", help="time between samples of files that have no times"),
    ] = None
    wraps: Annotated[
        bool,
        typer.Option("--wraps", help="counters of 32 bits begin again at 0; by default they stay"
                                     " at their maximum"),
    ] = False
    bit_error_rate: Annotated[
        float,
        typer.Option("--bit-error-rate", help="largest share of wrong bits of a good link"),
    ] = 1e-12


@dataclass(frozen=True)
class PredictionOptions:
    """Tables and traffic that measured loads are held against."""

    routes: Annotated[
        str | None,
        typer.Option("--routes", metavar="TABLES", autocompletion=completion.tables,
                     help="the fabric's tables: folder of `route -o`, dump_fts file, or an engine"),
    ] = None
    traffic: Annotated[
        str | None,
        typer.Option("--traffic", autocompletion=completion.traffic,
                     help="traffic, a pattern, matrix or file: with --routes its loads stand"
                          " beside those measured"),
    ] = None
    estimate: Annotated[
        bool,
        typer.Option("--estimate", help="with --routes: the traffic that explains the loads, by"
                                        " least squares"),
    ] = False
    estimate_file: Annotated[
        Path | None,
        typer.Option("--estimate-file", metavar="FILE",
                     help="the estimate as a traffic file (.csv) for --traffic of other commands"),
    ] = None


@dataclass(frozen=True)
class PlaceOptions:
    """Where a fabric from a file stands."""

    plan: Annotated[
        str | None,
        typer.Option("--plan", metavar="PLAN", autocompletion=completion.network,
                     help="plan of the fabric, a network or a folder of flyloom cables: racks and"
                          " units are its"),
    ] = None
    rules: Rules = None

    def of(self) -> Any:
        """The floor as ``observe`` takes it; RefusalError where it is said twice."""
        from flyloom._core import RefusalError
        from flyloom.cabling.checked import load_plan
        from flyloom.inputs.catalogs import floor_rules

        if self.plan is None:
            return self.rules
        planned, rules = load_plan(self.plan)
        if self.rules is not None and rules is not None:
            raise RefusalError(f"--rules: {self.plan} has rules of its own; leave them out")
        return planned, rules if self.rules is None else floor_rules(self.rules)


@dataclass(frozen=True)
class ObservationOutputs:
    """What is shown and written."""

    top: Annotated[int, typer.Option("--top", help="only this number of rows of each table")] \
        = 10
    walk: Annotated[
        str | None,
        typer.Option("--walk", metavar="FILE",
                     help="bad cables as CSV by rack, unit and port; - for standard output"),
    ] = None
    failed_links: Annotated[
        Path | None,
        typer.Option("--failed-links", metavar="FILE",
                     help="bad cables as options of `repair`: xargs -a FILE flyloom repair TABLES"),
    ] = None
    grades: Annotated[
        str,
        typer.Option("--grades", autocompletion=completion.several(
            "dead", "flapping", "degraded", "marginal"),
            help="grades of the cables in --failed-links"),
    ] = "dead,flapping"
    output: Annotated[
        Path | None,
        typer.Option("-o", "--out",
                     help="file for a picture of the floor with bad cables: .svg, .png or .pdf"),
    ] = None


@app.command(epilog=epilog(
    "flyloom observe fabric.txt before.pm after.pm --plan cabling/ -o floor.svg",
    "flyloom observe cabling/ errors.txt --walk walk.csv --failed-links bad.txt",
    "flyloom observe fabric.txt a.csv b.csv --routes lfts.txt --traffic uniform --estimate",
))
@grouped
def observe(
    net: Annotated[
        str,
        typer.Argument(metavar="PLAN|FABRIC", autocompletion=completion.network,
                       help=f"{NET_HELP}, ibnetdiscover output, or a folder of flyloom cables"),
    ],
    counters: Annotated[
        list[str],
        typer.Argument(metavar="COUNTERS...",
                       help="files of counters in the order of time (flyloom list counter-files)"),
    ],
    *,
    read: CounterOptions,
    predicted: PredictionOptions,
    places: PlaceOptions,
    outputs: ObservationOutputs,
    csv: CsvFile = None,
    as_json: Json = False,
) -> None:
    """Hot links, waits and bad cables by the counters of a running fabric, and its traffic."""
    from flyloom.support.progress import bars
    from flyloom.verbs import observing

    grades = check_outputs(outputs)
    floor = places.of()
    wanted = predicted.estimate or predicted.estimate_file is not None
    with bars() as bar:
        found = observing.observe(
            net, counters, routes=predicted.routes, traffic=predicted.traffic, estimate=wanted,
            seconds=read.seconds, wraps=read.wraps, bit_error_rate=read.bit_error_rate,
            floor=floor, progress=bar,
        )
    write_files(net, found, outputs, predicted.estimate_file, floor, grades)
    prints = csv == "-" or outputs.walk == "-"
    if csv is not None:
        write_csv(csv, rows_csv(CHANNEL_COLUMNS, found.to_dict()["channels"]))
    if not prints:
        emit(found.to_dict(), as_json, summary(found))
        if not as_json:
            for line in report(found, max(0, outputs.top)):
                print(line)
            print_tables(found, max(0, outputs.top))
    raise typer.Exit(1 if found.bad_cables or found.lost_switches else 0)


def check_outputs(outputs: ObservationOutputs) -> list[str]:
    """The grades that are asked for; RefusalError for what options cannot be."""
    from flyloom._core import RefusalError
    from flyloom.cabling.bad_cables import GRADES

    place = outputs.output
    if place is not None and place.suffix not in DRAWN:
        raise RefusalError(f"-o {place}: no picture; a name that ends in {', '.join(DRAWN)}")
    grades = [word.strip() for word in outputs.grades.split(",") if word.strip()]
    for grade in grades:
        if grade not in GRADES:
            raise RefusalError(f"--grades: there is no '{grade}'; {', '.join(GRADES)}")
    return grades


def write_files(
    net: str, found: FabricObservation, outputs: ObservationOutputs, estimate_file: Path | None,
    floor: Any, grades: list[str],
) -> None:
    """Writes the files that are asked for."""
    from flyloom.support.files import write_whole
    from flyloom.verbs import observing

    if outputs.output is not None:
        drawing = observing.observed_floor(net, found, floor)
        if outputs.output.suffix == ".svg":
            write_whole(outputs.output, drawing)
        else:
            from flyloom.report.picture import Picture

            Picture(drawing=drawing).save(outputs.output)
    if outputs.walk is not None:
        write_csv(outputs.walk, rows_csv(WALK_COLUMNS, walk_rows(found)))
    if outputs.failed_links is not None:
        write_whole(outputs.failed_links, failed_links(found, grades))
    if estimate_file is not None:
        rows = observing.traffic_rows(found)
        lines = ["src,dst,demand", *(f"{a},{b},{amount:.6g}" for a, b, amount in rows)]
        write_whole(estimate_file, "\n".join(lines) + "\n")


CHANNEL_COLUMNS = (
    "from", "from_port", "from_place", "to", "to_port", "to_place", "is_endpoint_cable", "gbps",
    "rate_gbps", "use_fraction", "bytes", "waits_per_s", "waits_per_packet", "discards",
    "is_saturated", "is_reset",
)
WALK_COLUMNS = (
    "number", "place", "device", "port", "grade", "reasons", "other_place", "other_device",
    "other_port",
)


def rows_csv(columns: tuple[str, ...], rows: list[dict[str, Any]]) -> str:
    """Rows as a table with commas."""
    from flyloom.support.words import csv_text

    return csv_text(columns, [[row.get(column) for column in columns] for row in rows])


def walk_rows(found: FabricObservation) -> list[dict[str, Any]]:
    """Bad cables as the list to walk along: the end that one comes to first, then the other."""
    rows = []
    for cable in found.bad_cables:
        one, other = cable.first, "b" if cable.first == "a" else "a"
        rows.append({
            "number": cable.number, "grade": cable.grade, "reasons": "; ".join(cable.reasons),
            "place": cable[f"{one}_place"], "device": cable[one], "port": cable[f"{one}_port"],
            "other_place": cable[f"{other}_place"], "other_device": cable[other],
            "other_port": cable[f"{other}_port"],
        })
    return rows


def failed_links(found: FabricObservation, grades: list[str]) -> str:
    """Bad links and lost switches as options of ``repair``, a line each, quoted for a shell."""
    import shlex

    bad = [c for c in found.bad_cables if c.grade in grades and not c.is_endpoint_cable]
    ends = [f"{cable[cable.first]}:{cable[f'{cable.first}_port']}" for cable in bad]
    lines = [f"--link {shlex.quote(end)}" for end in ends]
    lines += [f"--switch {shlex.quote(name)}" for name in found.lost_switches]
    return "".join(f"{line}\n" for line in lines)


def summary(found: FabricObservation) -> list[tuple[str, Any]]:
    """The figures of an observation."""
    grades = [cable.grade for cable in found.bad_cables]
    counts = [f"{grades.count(grade)} {grade}" for grade in dict.fromkeys(sorted(grades))]
    lines = [
        ("network", found.network), ("samples", found.samples), ("seconds", found.seconds),
        ("cables with counters", f"{found.observed_cables:,} of {found.cables:,}"),
        ("bad cables", f"{len(grades)} ({', '.join(counts)})" if grades else 0),
    ]
    if found.prediction is not None:
        lines += [
            ("correlation with the prediction", found.prediction.correlation),
            ("share on other channels", found.prediction.misplaced_share),
        ]
    if found.estimate is not None:
        lines += [
            ("estimated traffic [Gbit/s]", found.estimate.gbps),
            ("unexplained by it", found.estimate.residual),
        ]
    return lines


def report(found: FabricObservation, top: int) -> list[str]:
    """What was left out, what could not be matched, and what cannot be said, in words."""
    lines = list(found.remarks)
    for file in found.files:
        if file.left_out:
            word = "line is" if file.left_out == 1 else "lines are"
            lines.append(f"{file.file}: {file.left_out:,} {word} left out, not understood:"
                         f" {file.first_left_out}")
    for one in found.unmatched[:top]:
        ports = ", ".join(str(port) for port in one.ports[:8])
        more = f" and {len(one.ports) - 8} more" if len(one.ports) > 8 else ""
        lines.append(f"{one.device} port {ports}{more}: {one.why}")
    if len(found.unmatched) > top:
        lines.append(f"and {len(found.unmatched) - top:,} more devices without a place in the"
                     " network (--json)")
    for one in found.saturated[:top]:
        name = one.counter.replace("_", " ")
        lines.append(f"{one.device} port {one.port}: {name} are at their maximum, saturated: clear"
                     " the counters to see new ones")
    stuck = [row for row in found.channels if row.is_saturated]
    if stuck:
        lines.append(f"{len(stuck):,} channels have saturated counters of data, so no rate: read"
                     " the extended counters (perfquery -x)")
    if cleared := sum(row.is_reset for row in found.channels):
        lines.append(f"{cleared:,} channels had their counters cleared meanwhile: that interval has"
                     " no rate")
    if found.samples < 2:
        lines.append("one sample: counts since the counters were cleared; two give rates")
    elif found.seconds is None:
        lines.append("the files have no times: --seconds gives the time between samples")
    lines += [f"switch {name} is reported no more" for name in found.lost_switches]
    return lines


def print_tables(found: FabricObservation, top: int) -> None:
    """Hot links, waits, bad cables, deviations and estimated pairs."""
    def end(row: Any, side: str) -> str:
        place = row.get(f"{side}_place")
        return f"{row[side]} port {row[f'{side}_port']}" + (f" ({place})" if place else "")

    timed = any(row.gbps is not None for row in found.channels)
    hot = [row for row in found.channels if (row.gbps if timed else row.bytes)][:top]
    if hot:
        print("\nhottest channels" if timed else "\nmost data since the counters were cleared")
        if timed:
            print_table(
                ("from", "to", "Gbit/s", "use"),
                [(end(row, "from"), end(row, "to"), f"{row.gbps:.1f}", percent(row.use_fraction))
                 for row in hot], left={0, 1},
            )
        else:
            print_table(("from", "to", "GB"), [
                (end(row, "from"), end(row, "to"), gigabytes(row.bytes)) for row in hot
            ], left={0, 1})
    waiting = sorted((row for row in found.channels if row.waits_per_s),
                     key=lambda row: -row.waits_per_s)[:top]
    if waiting:
        print("\nlongest waits: behind these channels there was no room")
        print_table(("from", "to", "ticks/s", "ticks/packet"), [
            (end(row, "from"), end(row, "to"), f"{row.waits_per_s:,.0f}",
             "-" if row.waits_per_packet is None else f"{row.waits_per_packet:.3g}")
            for row in waiting
        ], left={0, 1})
    if found.bad_cables:
        print("\nbad cables, in the order of racks, units and ports")
        for cable in found.bad_cables:
            one, other = cable.first, "b" if cable.first == "a" else "a"
            print(f"{cable.number}. {cable.grade}: {end(cable, one)} - {end(cable, other)}")
            print(f"   {'; '.join(cable.reasons)}")
    if found.prediction is not None:
        print(f"\nlargest deviations from {found.prediction.traffic} over"
              f" {found.prediction.engine}")
        print_table(("from", "to", "Gbit/s", "predicted", "deviation of the share"), [
            (end(row, "from"), end(row, "to"), f"{row.gbps:.1f}", f"{row.predicted_gbps:.1f}",
             f"{100 * row.deviation:+.2f} %") for row in found.prediction.channels[:top]
        ], left={0, 1})
    if found.estimate is not None:
        print_estimate(found.estimate, top)


def print_estimate(estimate: Any, top: int) -> None:
    """The pairs of an estimate, with what it is worth."""
    print(f"\nlikely traffic, an estimate: {estimate.unknowns:,} unknowns by"
          f" {estimate.equations:,} loads, {percent(estimate.residual)} unexplained"
          f" ({percent(estimate.gravity_residual)} by the gravity model)")
    if estimate.unknowns > estimate.equations:
        print("other traffic explains the loads equally well: pairs are likely, not measured")
    print_table(("from", "to", "Gbit/s"), [
        (row["from"], row.to, f"{row.gbps:.2f}") for row in estimate.pairs[:top]
    ], left={0, 1})


def gigabytes(count: int) -> str:
    """A number of bytes in GB, with three figures or one behind the point."""
    return f"{count / 1e9:,.1f}" if count >= 1e9 else f"{count / 1e9:.3g}"


def percent(fraction: float | None) -> str:
    """A fraction in percent."""
    return "-" if fraction is None else f"{100 * fraction:.1f} %"
