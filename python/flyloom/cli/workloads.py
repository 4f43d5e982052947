"""Commands about schedules: workload list, make, convert, merge, check, best."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flyloom.cli import completion
from flyloom.cli.common import Json, P, app, emit, epilog, load_tables, parsed_options, print_table
from flyloom.cli.groups import TableOptions, grouped
from flyloom.cli.places import (
    Costs,
    OnNet,
    OverEngine,
    PerEndpoint,
    Placement,
    costs_of,
)

if TYPE_CHECKING:
    from flyloom._core import Topology

workloads = typer.Typer(
    help="Schedules of processes as files: list, make, merge, check, convert, best.",
    no_args_is_help=True,
    rich_markup_mode=None,
    epilog=epilog("flyloom workload check allreduce.goal"),
)
app.add_typer(workloads, name="workload")

Noise = Annotated[
    list[str] | None,
    typer.Option("--noise", metavar="KEY=VALUE",
                 help="noise: kind, percent, mean_ns, ... (docs/workloads.md)"),
]


@workloads.command("list", epilog=epilog("flyloom workload list"))
def listed(as_json: Json = False) -> None:
    """What workload make makes."""
    from flyloom.verbs.workloads import workloads as known

    rows = [row.to_dict() for row in known()]
    if as_json:
        emit({"workloads": rows}, True, [])
        return
    common = {"overlap_ns", "chunks", "overlap_cpu", "add_ns_per_kib"}
    keys = [
        ", ".join(
            key["name"] if key["default"] is None else f"{key['name']}={key['default']}"
            for key in row["keys"] if key["name"] not in common
        )
        for row in rows
    ]
    print_table(
        ["name", "does", "parameters"],
        [[row["name"], row["doc"], words] for row, words in zip(rows, keys, strict=True)],
        left={0, 1, 2},
    )
    print("All collectives also take overlap_ns=0, chunks=1, overlap_cpu=0; those that add up,")
    print("add_ns_per_kib=0. See docs/workloads.md.")


@workloads.command(epilog=epilog(
    "flyloom workload make allreduce_ring ranks=64 bytes=1000000 -o ring.goal",
    "flyloom workload make 'allreduce_ring ranks=64 bytes=1MB' -o ring.goal",
    "flyloom workload make broadcast_pipelined ranks=16 bytes=65536 segments=32 -o chain.bin",
    "flyloom workload make amg_like p=4 levels=2 base_bytes=4096 -o amg.dumpi",
    "flyloom workload make stencil_3d ranks=64 bytes=8000 compute_ns=50000 --noise "
    "kind=exponential -o s.goal",
))
def make(
    name: Annotated[
        str, typer.Argument(show_default=False, autocompletion=completion.workload_name,
                            help="what to make (flyloom workload list)")
    ],
    output: Annotated[
        Path, typer.Option("-o", "--out", metavar="FILE",
                           help="the file, or the folder, whose end says the format: "
                                "flyloom list workload-files")
    ],
    parameters: Annotated[
        list[str] | None, typer.Argument(metavar="KEY=VALUE ...", show_default=False,
                                         help="ranks, bytes, and parameters of its own; also in "
                                              "one word with the name")
    ] = None,
    noise: Noise = None,
    as_json: Json = False,
) -> None:
    """Write the schedule of a collective operation or an application.

    In a trace (.dumpi) without noise collective operations of all ranks are calls of MPI.
    """
    from flyloom.inputs.workloads import apart
    from flyloom.support.progress import bars
    from flyloom.verbs.workloads import convert_workload, keeps_calls, make_trace, make_workload

    given = parsed_options(parameters, "a workload", ("name", "path", "progress"), "")
    name, given = apart(name, given)
    with bars() as bar:
        if keeps_calls(output) and not noise:
            found = make_trace(name, output, progress=bar, **given).to_dict()
            emit(found, as_json, written(found))
            return
        made = disturbed(make_workload(name, progress=bar, **given), noise, bar)
        found = convert_workload(made, output, progress=bar).to_dict()
    emit(found, as_json, written(found))


def disturbed(source: Any, noise: list[str] | None, bar: Any) -> Any:
    """A schedule with the noise that is asked for; itself where none is."""
    from flyloom.verbs.workloads import noisy_workload

    if not noise:
        return source
    asked = parsed_options(noise, "noise", ("source", "progress"), "--noise")
    return noisy_workload(source, progress=bar, **asked)


def written(found: dict[str, Any]) -> list[tuple[str, Any]]:
    """Lines about a file that was written."""
    rows = [
        ("ranks", f"{found['ranks']:,}"), ("operations", f"{found['operations']:,}"),
        ("written", f"{found['bytes']:,} bytes to {found['path']}"),
    ]
    if found.get("at_once"):
        rows.append(("at once", f"{found['at_once']:,} ranks do several things at the same time, "
                                "in the trace one after another"))
    return rows


@workloads.command(epilog=epilog(
    "flyloom workload check allreduce.goal",
    "flyloom workload check runs/amg --json",
))
def check(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", show_default=False,
                             help="a file of a workload, or a folder with a trace: "
                                  "flyloom list workload-files")
    ],
    as_json: Json = False,
) -> None:
    """What a schedule holds, and whether it can come to its end; exit code 1 where it cannot.

    Of a trace of DUMPI: its calls by name, messages and bytes.
    """
    from flyloom.support.progress import bars
    from flyloom.verbs.runs import short_said
    from flyloom.verbs.workloads import check_workload

    with bars() as bar:
        found = check_workload(file, progress=bar).to_dict()
    if "calls" in found:
        counted: list[tuple[str, Any]] = [("version", found["version"])]
        counted += [(name.replace("_", " "), f"{found[name]:,}")
                    for name in ("ranks", "messages", "bytes", "records", "left_out")]
        counted += [(f"MPI_{call}", f"{times:,}") for call, times in found["calls"].items()]
        emit(found, as_json, counted)
        return
    rows: list[tuple[str, Any]] = [
        (name.replace("_", " "), f"{found[name]:,}")
        for name in ("ranks", "operations", "sends", "receives", "calculations", "dependencies",
                     "cpus", "nics")
    ]
    rows.append(("comes to its end", "yes" if found["complete"] else "no"))
    emit(found, as_json, rows)
    if not as_json and (short := found.get("short_receives")):
        print(short_said(short))
    if not as_json and found["left"]:
        print(found["left"])
    if not as_json and found["circle"]:
        print("these wait for one another, each for the one above and the first for the last:")
        for operation in found["circle"]:
            print(f"  {operation}")
    raise typer.Exit(0 if found["complete"] else 1)


@workloads.command(epilog=epilog(
    "flyloom workload convert allreduce.goal allreduce.bin",
    "flyloom workload convert run/app-rank-0.txt app.bin copies=4 allreduce=ring",
    "flyloom workload convert llama/step.0.et step.goal gflops=100000",
    "flyloom workload convert allreduce.goal allreduce.dumpi",
))
def convert(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", show_default=False,
                             help="a file of a workload, or a trace: a folder, the file of rank "
                                  "0, or what stands for the run")
    ],
    out: Annotated[
        Path, typer.Argument(metavar="OUT", show_default=False,
                             help="the file, or the folder, whose end says the format: "
                                  "flyloom list workload-files")
    ],
    options: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY=VALUE ...", show_default=False,
                       help="of a trace: copies, scale_compute, allreduce=ring, mpi=mpich, "
                            "... (docs/traces.md)"),
    ] = None,
    noise: Noise = None,
    as_json: Json = False,
) -> None:
    """Write a schedule, or a trace, in another format: flyloom list workload-files."""
    from flyloom.cli import say
    from flyloom.support.progress import bars
    from flyloom.verbs.recordings import shared_processors
    from flyloom.verbs.workloads import convert_workload, traced_workload

    given = parsed_options(options, "a trace", ("source", "progress"), "")
    source: Any = file
    with bars() as bar:
        if given:
            source = traced_workload(file, progress=bar, **given)
        found = convert_workload(disturbed(source, noise, bar), out, progress=bar).to_dict()
    emit(found, as_json, written(found))
    for sentence in shared_processors(file, given):
        say(f"{out}: {sentence}")


@workloads.command(epilog=epilog("flyloom workload merge fft.goal ring.goal -o both.goal"))
def merge(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE ...", show_default=False,
                                   help="files of workloads; one may come twice")
    ],
    output: Annotated[
        Path, typer.Option("-o", "--out", metavar="FILE",
                           help="the file, or the folder, whose end says the format: "
                                "flyloom list workload-files")
    ],
    as_json: Json = False,
) -> None:
    """Write several schedules as one, their ranks one after another: jobs at the same time."""
    from flyloom.support.progress import bars
    from flyloom.verbs.workloads import convert_workload, merge_workloads

    with bars() as bar:
        made = merge_workloads(files, progress=bar)
        found = convert_workload(made, output, progress=bar).to_dict()
    emit(found, as_json, written(found))


@dataclass(frozen=True)
class NetworkOptions:
    """The network, and its routes."""

    net: OnNet = None
    engine: OverEngine = None


@dataclass(frozen=True)
class CostOptions:
    """What messages cost, and by which rules."""

    dialect: Annotated[
        str, typer.Option(help="rules: causal, or loggops-v1, those of LogGOPSim")
    ] = "causal"
    preset: Costs = None
    parameter: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE",
                     autocompletion=completion.costs_and_tables,
                     help="a parameter of LogGOPS, L, o, g, G, O or S; or of the network, such "
                          "as switch.delay_ns=200"),
    ] = None


@dataclass(frozen=True)
class PlacementOptions:
    """The placement of the ranks."""

    placement: Placement = "linear"
    per_endpoint: PerEndpoint = 1


@workloads.command(epilog=epilog(
    "flyloom workload best allreduce ranks=8,64 bytes=8,65536",
    "flyloom workload best 'allreduce ranks=64 bytes=64KiB' --costs slingshot",
    "flyloom workload best barrier ranks=64 --set L=600 --set o=200 --json",
    "flyloom workload best alltoall ranks=50 bytes=8,65536 --net slim_fly:q=5,p=4 --engine dfsssp",
))
@grouped
def best(
    operation: Annotated[
        str, typer.Argument(show_default=False, autocompletion=completion.operation,
                            help="allreduce, barrier, broadcast, ...")
    ],
    cases: Annotated[
        list[str] | None,
        typer.Argument(metavar="ranks=N,... bytes=N,...", show_default=False,
                       help="numbers of ranks (with --net: default all endpoints) and of bytes (a"
                            " barrier: 1 byte); also in one word with the operation"),
    ] = None,
    *,
    asked: CostOptions,
    over: NetworkOptions,
    tables: TableOptions,
    placed: PlacementOptions,
    seed: Annotated[int, typer.Option(help="seed of all that is random")] = 0,
    p: P = None,
    as_json: Json = False,
) -> None:
    """Which algorithm of a collective operation is quickest, for each number of ranks and bytes.

    With --net over a network, whose latencies and rates take the place of L and G.
    """
    from flyloom.support.checks import whole
    from flyloom.support.progress import bars
    from flyloom.verbs.runs import costs_said, rates_said
    from flyloom.verbs.workloads import best_workload

    operation, cases = operation_of(operation, cases or [])
    given = numbers_of(operation, cases)
    whole("--seed", seed, 0, 2**64 - 1)
    costs, settings = costs_asked(asked)
    on = network_of(over.net, p)
    complete(given, on, placed.per_endpoint)
    with bars() as bar:
        rows = [
            row.to_dict() for row in best_workload(
                operation, ranks=given["ranks"], bytes=given["bytes"], dialect=asked.dialect,
                costs=costs, net=on, engine=over.engine, lmc=tables.lmc,
                layers=tables.layers, engine_options=parsed_options(tables.option),
                placement=placed.placement, per_endpoint=placed.per_endpoint, settings=settings,
                seed=seed, progress=bar,
            )
        ]
    if as_json:
        emit({"operation": operation, "rows": rows}, True, [])
        return
    print_table(
        ["ranks", "bytes", "quickest", "ns", "next", "ns"],
        [
            [f"{row['ranks']:,}", f"{row['bytes']:,}", *(
                word for one in (*row["all"], None, None)[:2]
                for word in (shown(one) if one else ("", ""))
            )]
            for row in rows
        ],
        left={2, 4},
    )
    if over.net is not None:
        print(f"links of {rates_said(rows[0]['rates'])}")
    print(f"costs: {costs_said(rows[0], over.net is not None)}")


def network_of(net: str | None, p: int | None) -> Topology | str | None:
    """The network or the tables of ``--net``, if given; RefusalError for a rate without them."""
    from flyloom._core import RefusalError
    from flyloom.inputs import rates
    from flyloom.verbs.simulation import NO_NETWORK

    if net is None and rates.asked:
        raise RefusalError(f"--{NO_NETWORK}")
    return None if net is None else load_tables(net, p)


def costs_asked(asked: CostOptions) -> tuple[dict[str, Any], dict[str, Any]]:
    """What messages cost, and the parameters of the network."""
    costs = parsed_options(asked.parameter, "LogGOPS", (), "--set")
    settings = {name: costs.pop(name) for name in list(costs) if "." in name}
    return {**({} if asked.preset is None else costs_of(asked.preset)), **costs}, settings


MOST = {"ranks": 1 << 24, "bytes": 1 << 50}
"""The largest numbers of a case."""


def operation_of(operation: str, cases: list[str]) -> tuple[str, list[str]]:
    """The operation, and its cases, of which some may stand in one word with it: ``"allreduce
    ranks=8,64 bytes=8"``, ``allreduce:ranks=8,64,bytes=8``."""
    name, *inside = operation.split()
    name, _, after = name.partition(":")
    more = re.split(r",(?=[a-z]+=)", after) if after else []
    return name, [*more, *inside, *cases]


def complete(given: dict[str, list[int]], on: Any, per_endpoint: int) -> None:
    """Adds the ranks where they are not given and there is a network: one on each place that its
    endpoints have."""
    from flyloom._core import RefusalError
    from flyloom.inputs.networks import network

    if on is not None and "ranks" not in given:
        given["ranks"] = [network(on).endpoints * per_endpoint]
    if missing := [name for name in MOST if name not in given]:
        raise RefusalError(f"{missing[0]}: it is not given; {missing[0]}=16, or several")


def numbers_of(operation: str, cases: list[str]) -> dict[str, list[int]]:
    """The numbers of ranks and of bytes that are asked for."""
    from flyloom._core import RefusalError
    from flyloom.support.checks import count

    given, named = {"bytes": [1]} if operation == "barrier" else {}, set[str]()
    for word in cases:
        name, equals, value = word.partition("=")
        if ":" in name or (not equals and name not in MOST):
            raise RefusalError(f"{word}: ranks=N,... and bytes=N,... are taken; a network by --net")
        if not equals or name not in MOST:
            raise RefusalError(f"{word}: ranks=N,... and bytes=N,... are taken")
        if name in named:
            raise RefusalError(f"{name}: given twice; one list: {name}=16,64")
        named.add(name)
        given[name] = [count(name, one, 0, MOST[name], name == "bytes") for one in value.split(",")]
    return given


def shown(one: dict[str, Any]) -> tuple[str, str]:
    """An algorithm and its time, as a line of the table."""
    return one["algorithm"], f"{one['finish_ns']:,.15g}"
