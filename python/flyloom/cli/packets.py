"""The command sim packet: a network or tables under load, packet by packet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from flyloom.cli.common import (
    Json,
    Layers,
    Lmc,
    Options,
    P,
    Tables,
    check_picture,
    epilog,
    load_tables,
    parsed_options,
    print_table,
    write_picture,
)
from flyloom.cli.simulation import Threads, Unverified, class_of, sims

COLUMNS = (
    ("offered", "offered_load"), ("accepted GiB/s", "accepted_gib_per_s"),
    ("latency us", "mean_latency_us"), ("p99 us", "p99_latency_us"),
    ("message us", "mean_message_latency_us"),
    ("routers visited", "mean_hops"), ("detours", "nonminimal_packets"),
    ("packets", "packets"), ("end us", "end_us"), ("wall s", "wall_s"),
)


@sims.command(epilog=epilog(
    "flyloom sim packet slim_fly:q=5,p=4 --load 0.1:0.9:0.2 --selection adaptive"
    " --set router.virtual_channels=8",
    "flyloom sim packet fit_fly:q=13,p=9 --dialect codes-slimfly-v1 --selection adaptive"
    " --load 0.5 --sync threads --threads 2",
    "flyloom sim packet slim_fly:q=5,p=4 --trace amg_like:p=4,levels=2,base_bytes=16384"
    " --placement random --background ranks=60,intensity=0.1,interval_us=10",
    "flyloom sim packet slim_fly:q=5,p=4 --engine dfsssp --messages 100 --bytes 65536"
    " --set link.latency_ns=50",
    "flyloom sim packet slim_fly:q=5,p=4 --load 0.9 --class 'share=4'"
    " --class 'share=1 message_bytes=512 priority=1'",
    "mpiexec -n 2 flyloom sim packet slim_fly:q=13,p=9 --sync mpi",
))
def packet(
    net: Tables,
    load: Annotated[
        str | None,
        typer.Option(show_default="0.5",
                     help="part of the rate of one rail: 0.5, 0.1,0.2 or 0.1:1.0:0.1")
    ] = None,
    traffic: Annotated[
        str | None,
        typer.Option(show_default="uniform",
                     help="traffic: a pattern (flyloom list traffic), or a file (CSV of pairs,"
                          " matrix as text, .npy, .npz or .mtx)"),
    ] = None,
    class_: Annotated[
        list[str] | None,
        typer.Option("--class", metavar="'KEY=VALUE ...'", show_default=False,
                     help="a class of traffic among several: share of the load, traffic, messages,"
                          " message_bytes; priority and weight at ports (may be given again)"),
    ] = None,
    messages: Annotated[
        int | None, typer.Option(show_default="30", help="messages of an endpoint")
    ] = None,
    bytes_: Annotated[
        int | None, typer.Option("--bytes", show_default="4096", help="length of a message")
    ] = None,
    dialect: Annotated[
        str,
        typer.Option(help="rules of routers: physical, codes-slimfly-v1, codes-dally-v1,"
                          " codes-dfplus-v1"),
    ] = "physical",
    selection: Annotated[
        str, typer.Option(help="how packets choose: minimal, valiant, adaptive, ugal_l, par, anca")
    ] = "minimal",
    rails: Annotated[
        str,
        typer.Option(help="the rail of a packet: congestion, path, dedicated, random, striped"),
    ] = "congestion",
    trace: Annotated[
        list[str] | None,
        typer.Option("--trace", metavar="NAME:KEY=VALUE,...|FILE|DIR", show_default=False,
                     help="what processes do, in place of traffic: amg_like:p=12,..., GOAL, or a"
                          " trace; several are jobs at the same time"),
    ] = None,
    compute: Annotated[
        str, typer.Option(help="whether calculations of a trace take time: off or on")
    ] = "off",
    collectives: Annotated[
        str,
        typer.Option(help="collective operations of a trace: real, or codes: they send nothing"),
    ] = "real",
    placement: Annotated[
        str,
        typer.Option(help="which endpoints processes are on: linear, random, random_switches,"
                          " random_groups, stripe, or a file with a line for each job"),
    ] = "linear",
    background: Annotated[
        list[str] | None,
        typer.Option("--background", metavar="KEY=VALUE,...", show_default=False,
                     help="a job that sends at random as long as traces run: ranks, intensity or"
                          " bytes, interval_us, births, class (may be given again)"),
    ] = None,
    sync: Annotated[
        str,
        typer.Option(help="what runs events: sequential, threads, optimistic, or mpi: the ranks"
                          " that mpiexec started; the result is the same"),
    ] = "sequential",
    engine: Annotated[
        str | None, typer.Option("--engine", "-e", help="over this engine's tables alone")
    ] = None,
    lmc: Lmc = None,
    layers: Layers = None,
    option: Options = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE",
                     help="a parameter of the simulator, such as link.latency_ns=25; more may"
                          " follow"),
    ] = None,
    unverified: Unverified = False,
    seed: Annotated[int, typer.Option(help="seed of all that is random")] = 0,
    threads: Threads = None,
    p: P = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="file: charts of latency and rate, of traces of times, as"
                                         " .svg, .png or .html, or .json for all that is found"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Latency and accepted rate, packet by packet: routers with buffers and credits."""
    from flyloom.inputs.networks import network
    from flyloom.ranks import ALONE, join
    from flyloom.report import packet_page
    from flyloom.support.checks import whole
    from flyloom.support.files import write_whole
    from flyloom.support.progress import bars
    from flyloom.verbs.packet import packet as simulate
    from flyloom.verbs.packet import room_for
    from flyloom.verbs.settings import nested

    check_picture(output, ".json")
    whole("--seed", seed, 0, 2**64 - 1)
    if messages is not None:
        whole("--messages", messages, 1, 2**30)
    if bytes_ is not None:
        whole("--bytes", bytes_, 1, 2**30)
    if threads is not None:
        whole("--threads", threads, 1, 1024)
    settings = parsed_options(setting, "the simulator", (), "--set")
    spec = nested({
        **settings, "selection": selection, "dialect": dialect, "sync": sync,
        "class": [class_of(words) for words in class_ or ()], "unverified": unverified,
        **({} if messages is None else {"messages": messages}),
        **({} if bytes_ is None else {"message_bytes": bytes_}),
    })
    with join() if sync == "mpi" else ALONE as team:
        with team.together(), room_for("packet", spec):
            source = load_tables(net, p)
        with bars(lines=True) as bar:
            found = simulate(
                source, load=load, traffic=traffic,
                classes=spec["class"],
                selection=selection, dialect=dialect,
                messages=messages, message_bytes=bytes_, rails=rails, trace=trace or None,
                compute=compute, collectives=collectives, placement=placement,
                background=[background_of(words) for words in background or ()], sync=sync,
                engine=engine,
                lmc=lmc, layers=layers, engine_options=parsed_options(option),
                settings=settings,
                unverified=unverified, seed=seed, threads=threads, progress=bar,
            ).to_dict()
    if team.rank > 0:
        return  # rank 0 speaks and writes
    if output and output.suffix == ".json":
        write_whole(output, json.dumps(found) + "\n")
    elif output:
        write_picture(output, packet_page.spec(found), "packet-", lambda: packet_page.page(
            found, packet_page.drawings(found, network(source))))
    show(found, as_json)
    if output and not as_json:
        print(f"written to {output}")


def background_of(words: str) -> dict[str, Any]:
    """A job in the background as ``--background`` has it: ``ranks=1000,intensity=0.15``."""
    from flyloom._core import RefusalError

    given: dict[str, Any] = {}
    for word in words.split(","):
        key, equals, value = word.partition("=")
        if not equals or key in given:
            raise RefusalError(f"--background: '{word}': not KEY=VALUE, once for each key")
        if key == "births":
            given[key] = value
            continue
        try:
            given[key] = int(value) if value.isdecimal() else float(value)
        except ValueError:
            raise RefusalError(f"--background: {key}: '{value}' is no number") from None
    return given


JOBS = (
    ("job", "name"), ("ranks", "ranks"), ("longest us", "max_comm_us"),
    ("mean us", "mean_comm_us"), ("latency us", "mean_latency_us"),
    ("routers visited", "mean_hops"), ("messages", "messages"), ("packets", "chunks"),
    ("bytes", "bytes"),
)
"""Columns of the table of jobs: times are those of communication."""


def rates_of(rates: dict[str, Any]) -> str:
    """The rates of links in words, and whose they are."""
    low, high = (f"{rates[f'{end}_gib_per_s']:.4g}" for end in ("lowest", "highest"))
    said = f"links of {low} GiB/s" if low == high else f"links of {low} to {high} GiB/s"
    whose = "as the cables say" if rates["of_cables"] else "as no cable says another rate"
    return f"{said}, {whose}, or --set link.local_gib_per_s and others"


def show(found: dict[str, Any], as_json: bool) -> None:
    """Prints what a simulator found."""
    if as_json:
        print(json.dumps(found))
        return
    if not found["verified"]:
        print("not proved free of deadlock")
    if jobs := found.get("jobs"):
        print_table(
            [heading for heading, _ in JOBS],
            [["-" if (value := job[key]) is None else
              round(value, 4) if isinstance(value, float) else value for _, key in JOBS]
             for job in jobs],
            left={0},
        )
        print()
    rows = []
    for point in found["points"]:
        cells: list[Any] = [
            "-" if point[key] is None else round(point[key], 4) for _, key in COLUMNS
        ]
        rows.append([*cells, "deadlocked" if point["deadlocked"] else ""])
        for number, one in enumerate(point.get("classes", ()), 1):
            cells = ["-" if one.get(key) is None else round(one[key], 4) for _, key in COLUMNS]
            rows.append([*cells, f"class {number}"])
    print_table([*(heading for heading, _ in COLUMNS), ""], rows)
    print(rates_of(found["rates"]))
    for point in found["points"]:
        if point["deadlocked"]:
            load = point["offered_load"]
            at = "" if load is None else f"at load {load:g} "
            print(f"{at}packets wait for one another in a circle:")
            for step in point.get("circle", ()):
                print(f"  {step}")
