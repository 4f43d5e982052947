"""Commands that simulate: sim flit, sim booksim."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flyloom.cli.common import (
    Json,
    Layers,
    Lmc,
    Options,
    P,
    Tables,
    app,
    check_picture,
    epilog,
    load_tables,
    parsed_options,
    print_table,
    write_picture,
)

if TYPE_CHECKING:
    from flyloom._core import Topology

sims = typer.Typer(
    help="Simulate a network under load: flits, packets or messages.",
    no_args_is_help=True,
    rich_markup_mode=None,
    epilog=epilog("flyloom sim flit slim_fly:q=5,p=4 --load 0.1:0.9:0.2"),
)
app.add_typer(sims, name="sim")

Output = Annotated[
    Path | None,
    typer.Option("-o", "--out", help="file: a chart of latency and accepted load as .svg, .png or"
                                     " .html, or .json for all that is found"),
]
Unverified = Annotated[
    bool, typer.Option("--unverified", help="run also what is not proved free of deadlock")
]
Threads = Annotated[
    int | None, typer.Option(help="processors to use; the result is the same with any number")
]

COLUMNS = (
    ("offered", "offered_load"), ("accepted", "accepted_load"),
    ("latency", "mean_packet_latency_cycles"), ("in network", "mean_network_latency_cycles"),
    ("p99", "p99_packet_latency_cycles"), ("switches visited", "mean_hops"),
)


@sims.command(epilog=epilog(
    "flyloom sim flit slim_fly:q=5,p=4 --selection ugal_l --load 0.1:0.9:0.2",
    "flyloom sim flit slim_fly:q=5,p=4 --engine dfsssp --load 0.5",
    "flyloom sim flit torus:shape=4x4,p=1 --load 0.2 --set router.virtual_channels=8"
    " run.measure_cycles=1000",
))
def flit(
    net: Tables,
    load: Annotated[
        str,
        typer.Option(help="flits an endpoint and cycle: 0.5, 0.1,0.2, 0.1:1.0:0.1 or auto, up to"
                          " saturation"),
    ] = "auto",
    traffic: Annotated[
        str,
        typer.Option(help="traffic: a pattern (flyloom list traffic), or a file (CSV of pairs,"
                          " matrix as text, .npy, .npz or .mtx; packets with their times)"),
    ] = "uniform",
    class_: Annotated[
        list[str] | None,
        typer.Option("--class", metavar="'KEY=VALUE ...'",
                     help="a class of traffic among several: share of the load, traffic, process,"
                          " packet_flits, priority (may be given again)"),
    ] = None,
    selection: Annotated[
        str,
        typer.Option(help="how packets choose: minimal, valiant, ugal_l, ugal_g, par, anca"),
    ] = "minimal",
    engine: Annotated[
        str | None, typer.Option("--engine", "-e", help="over this engine's tables alone")
    ] = None,
    lmc: Lmc = None,
    layers: Layers = None,
    option: Options = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE",
                     help="a parameter of the simulator, such as router.virtual_channels=4;"
                          " more may follow"),
    ] = None,
    unverified: Unverified = False,
    seed: Annotated[int, typer.Option(help="seed of all that is random")] = 0,
    seeds: Annotated[
        int, typer.Option(help="runs of each load, with the seeds that follow: means and intervals")
    ] = 1,
    threads: Threads = None,
    p: P = None,
    output: Output = None,
    as_json: Json = False,
) -> None:
    """Latency and accepted load, cycle by cycle: routers with virtual channels and credits."""
    from flyloom.support.checks import whole
    from flyloom.support.progress import bars
    from flyloom.verbs.packet import room_for
    from flyloom.verbs.settings import nested
    from flyloom.verbs.simulation import simulate

    check_picture(output, ".json")
    whole("--seed", seed, 0, 2**64 - 1)
    if threads is not None:
        whole("--threads", threads, 1, 1024)
    settings = parsed_options(setting, "the simulator", (), "--set")
    classes = [class_of(words) for words in class_ or ()]
    asked = {**settings, "selection": selection, "class": classes, "unverified": unverified}
    with room_for("flit", nested(asked)):
        source = load_tables(net, p)
    with bars() as bar:
        found = simulate(
            source, load=load, traffic=traffic, selection=selection,
            classes=classes, seeds=seeds, engine=engine,
            lmc=lmc, layers=layers, engine_options=parsed_options(option),
            settings=settings, unverified=unverified,
            seed=seed, threads=threads, progress=bar,
        ).to_dict()
    end(found, output, source, as_json)


@sims.command(epilog=epilog(
    "flyloom sim booksim mesh.cfg", "flyloom sim booksim slim_fly.cfg injection_rate=0.5 --json",
))
def booksim(
    given: Annotated[
        list[str],
        typer.Argument(metavar="CONFIG [KEY=VALUE ...]", show_default=False,
                       help="configuration of BookSim, and keys that are different"),
    ],
    unverified: Unverified = False,
    threads: Threads = None,
    output: Output = None,
    as_json: Json = False,
) -> None:
    """Run a configuration of BookSim: the same network, routers, traffic and sampling."""
    from flyloom.support.checks import whole
    from flyloom.support.progress import bars
    from flyloom.verbs.simulation import booksim as simulate

    check_picture(output, ".json")
    if threads is not None:
        whole("--threads", threads, 1, 1024)
    with bars() as bar:
        found = simulate(*given, unverified=unverified, threads=threads, progress=bar).to_dict()
    if not as_json:
        for note in found["notes"]:
            print(f"note: {note['place']}: {note['key']}: {note['why']}")
    end(found, output, None, as_json)


def end(
    found: dict[str, Any], output: Path | None, source: Topology | str | None, as_json: bool
) -> None:
    """Writes what a simulator found where that is asked for, and prints it."""
    if output:
        write(found, output, source)
    show(found, as_json)
    if output and not as_json:
        print(f"written to {output}")


def write(found: dict[str, Any], output: Path, source: Topology | str | None) -> None:
    """Writes what a simulator found as a chart, a page or JSON, by the end of the name.

    The page has heat maps of the links of ``source``, where these were asked for.
    """
    from flyloom.inputs.networks import network
    from flyloom.inputs.tables import holds_tables, tables
    from flyloom.report import flit_page
    from flyloom.support.files import write_whole

    if output.suffix == ".json":
        write_whole(output, json.dumps(found) + "\n")
        return
    drawn = {}
    if output.suffix == ".html" and source is not None and "links" in found["points"][0]:
        topology = tables(source).topology if holds_tables(source) else network(source)
        drawn = flit_page.drawings(found, topology)
    write_picture(
        output, flit_page.spec(found), "flit-", lambda: flit_page.page(found, drawn)
    )


NUMBERS = {
    "share": float, "priority": int, "weight": float, "messages": int, "message_bytes": int,
}
"""Values of a class of traffic that are no text."""


def class_of(words: str) -> dict[str, Any]:
    """A class of traffic as ``--class`` has it: ``share=3 traffic=shift:5``."""
    from flyloom._core import RefusalError

    made: dict[str, Any] = {}
    for word in words.split():
        key, equals, value = word.partition("=")
        if not equals or key in made:
            raise RefusalError(f"--class: '{word}': not KEY=VALUE, once for each key")
        try:
            made[key] = NUMBERS.get(key, str)(value)
        except ValueError:
            raise RefusalError(f"--class: {key}: '{value}' is no number") from None
    return made


ENDED = {
    "max_samples": "ended after max_samples periods: latency or accepted load still changed from"
                   " one to the next",
    "not_warm": "ended after max_samples periods, while it still warmed up: its figures are of the"
                " last of them",
    "latency_thres": "ended early: the mean latency passed latency_thres, as where less arrives"
                     " than is offered; its figures are of the periods until then",
    "deadlock": "ended early: packets wait for one another",
    "not_drained": "not all measured packets have arrived: none of them did for 100,000 cycles",
}
"""Why the periods of a configuration of BookSim ended, but for those that converged."""


def show(found: dict[str, Any], as_json: bool) -> None:
    """Prints what a simulator found."""
    if as_json:
        print(json.dumps(found))
        return
    if not found["verified"]:
        print("not proved free of deadlock")
    rows = []
    for point in found["points"]:
        cells: list[Any] = [
            "-" if point[key] is None else round(point[key], 4) for _, key in COLUMNS
        ]
        notes = [word for word in ("saturated", "deadlocked") if point[word]]
        if point["saturated"] is None and point["accepted_load"] > 0:
            notes.append("not known if saturated")
        rows.append([*cells, ", ".join(notes)])
    print_table([*(heading for heading, _ in COLUMNS), ""], rows)
    for point in found["points"]:
        if point["deadlocked"]:
            print(f"at load {point['offered_load']:g} packets wait for one another in a circle:")
            for packet in point["circle"]:
                print(f"  {packet}")
    if why := ENDED.get(found.get("ended", "")):
        print(why)
    if "saturation_throughput" in found:
        print(f"saturation throughput  {found['saturation_throughput']:.3f}")
