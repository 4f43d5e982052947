"""The commands map and map-eval: which process goes where, and what a mapping is worth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flyloom.cli import completion
from flyloom.cli.common import (
    NET_HELP,
    Found,
    Json,
    Layers,
    Lmc,
    MapEffort,
    Objective,
    Options,
    P,
    app,
    emit,
    epilog,
    load_network,
    load_tables,
    parsed_options,
)

if TYPE_CHECKING:
    from flyloom._core import Routing, Topology
    from flyloom.support.results import Result
    from flyloom.verbs.mapping_shown import Shown

NetOrTables = Annotated[
    str,
    typer.Argument(metavar="NET|TABLES", show_default=False, autocompletion=completion.tables,
                   help=f"{NET_HELP}; or a folder of `route -o`"),
]
GraphFile = Annotated[
    str,
    typer.Option("--graph", "-g", metavar="FILE", show_default=False,
                 help="who sends how much to whom: .mtx, Open MPI's monitoring (.prof), a dense"
                      " matrix, METIS, Scotch, a workload; or stencil:shape=8x8,bytes=100"),
]
MapEngine = Annotated[
    str,
    typer.Option("--engine", "-e", autocompletion=completion.engine,
                 help="traffic by this engine's tables; ecmp: split over all shortest ways"),
]
HostFile = Annotated[
    Path | None,
    typer.Option("--hosts", metavar="FILE", show_default=False,
                 help="the endpoints of the job, in the order in which they are filled"),
]
PerEndpoint = Annotated[
    int | None,
    typer.Option(show_default="as the host list says, or 1", help="processes on each endpoint"),
]
Partition = Annotated[
    int | None,
    typer.Option(metavar="N", show_default=False,
                 help="the graph is a sparse matrix: map the halo exchange of N parts of it"),
]
Format = Annotated[
    str | None,
    typer.Option("--format", show_default=False,
                 autocompletion=completion.choice("list", "rankfile", "hydra", "slurm", "cray",
                                                  "pbs", "json"),
                 help="of the mapping: list, rankfile, hydra, slurm, cray, pbs or json"),
]


Page = Annotated[
    Path | None,
    typer.Option(metavar="FILE", show_default=False,
                 help="HTML: figures, who sends to whom, and load of links, beside the linear one"),
]


Method = Annotated[
    str,
    typer.Option(autocompletion=completion.method,
                 help="auto, or steps of `flyloom list methods` joined by +: one that makes a"
                      " mapping, then those that improve it"),
]


@app.command("map", epilog=epilog(
    "flyloom map slim_fly:q=5,p=4 --graph app.mtx -o ranks --format rankfile",
    "flyloom map dragonfly:h=4 --graph app.mtx --objective hops --effort best",
    "flyloom map tables/ --graph app.mtx --hosts nodes.txt --per-endpoint 2 --json",
    "flyloom map lfts.txt --found fabric.txt --graph app.mtx -o ranks",
    "flyloom map slim_fly:q=5,p=4 --graph app.mtx --with-routing --tables tables/ -o ranks",
))
def map_(
    net: NetOrTables,
    graph: GraphFile,
    engine: MapEngine = "ecmp",
    found: Found = None,
    method: Method = "auto",
    objective: Objective = "congestion",
    hops_limit: Annotated[
        float | None,
        typer.Option(show_default="0.05; with routing 0.3",
                     help="for less congestion hop-bytes may grow by this part"),
    ] = None,
    hosts: HostFile = None,
    per_endpoint: PerEndpoint = None,
    pin: Annotated[
        Path | None,
        typer.Option(metavar="FILE", show_default=False, help="lines 'RANK ENDPOINT'"),
    ] = None,
    partition: Partition = None,
    effort: MapEffort = "normal",
    with_routing: Annotated[
        bool,
        typer.Option("--with-routing",
                     help="tables for the traffic, too: proven, LMC 2 unless told otherwise"),
    ] = False,
    tables: Annotated[
        Path | None,
        typer.Option("--tables", metavar="DIR", show_default=False,
                     help="of --with-routing: the tables, as `route -o` writes them"),
    ] = None,
    mapping: Annotated[
        Path | None,
        typer.Option("--mapping", "-m", metavar="FILE", show_default=False,
                     help="the mapping that --with-routing makes tables for, and keeps"),
    ] = None,
    lmc: Lmc = None,
    layers: Layers = None,
    option: Options = None,
    seed: Annotated[int, typer.Option(help="seed of all that is random")] = 0,
    output: Annotated[
        Path | None, typer.Option("-o", "--out", help="file: the mapping")
    ] = None,
    format_: Format = None,
    page: Page = None,
    p: P = None,
    as_json: Json = False,
) -> None:
    """Which process goes on which endpoint, so that little traffic goes far or meets."""
    from flyloom._core import RefusalError
    from flyloom.support.progress import bars
    from flyloom.verbs.joint import map_with_routing
    from flyloom.verbs.mapping import graph_of, map_processes
    from flyloom.verbs.mapping_shown import shown
    from flyloom.verbs.routes import routed_or_not

    if format_ is not None and output is None:
        raise RefusalError("--format: of the file that -o names; name one")
    for name, given in (("tables", tables), ("mapping", mapping)):
        if given is not None and not with_routing:
            raise RefusalError(f"--{name}: only of --with-routing")
    if found is not None and with_routing:
        raise RefusalError("--found: of tables that are there; leave out --with-routing")
    shared: dict[str, Any] = {
        "method": method, "hosts": hosts, "per_endpoint": per_endpoint, "pin": pin,
        "effort": effort, "seed": seed, "path": output, "format": format_,
    }
    if hops_limit is not None:
        shared["hops_limit"] = hops_limit
    routed: dict[str, Any] = {"lmc": lmc, "layers": layers}
    options = parsed_options(option)
    check_page(page)
    with bars() as bar:
        if with_routing:
            check_joint(engine, objective)
            network = load_network(net, p)
            traffic = graph_of(graph, partition, seed, bar)
            on: Routing | Topology
            told, on = map_with_routing(
                network, traffic, mapping=mapping, tables=tables, engine_options=options,
                progress=bar, **routed, **shared,
            )
        else:
            on = routed_or_not(
                tables_or_network(net, p, found), None if engine == "ecmp" else engine,
                options=options, progress=bar, **routed,
            )
            traffic = graph_of(graph, partition, seed, bar)
            told = map_processes(on, traffic, objective=objective, progress=bar, **shared)
        if page is not None:
            write_page(page, shown(
                on, traffic, told, hosts=hosts, per_endpoint=per_endpoint,
                linear_on=network if with_routing else None, progress=bar,
            ))
    show(told, as_json)
    for path in (output, tables, page):
        if path is not None and not as_json:
            print(f"written to {path}" + "/" * path.is_dir())


def check_joint(engine: str, objective: str) -> None:
    """RefusalError for what makes no sense beside --with-routing."""
    from flyloom._core import RefusalError
    from flyloom.verbs.joint import ENGINE

    if engine not in ("ecmp", ENGINE):
        raise RefusalError(
            f"--engine {engine}: the tables of --with-routing are those of {ENGINE}; its options"
            " are given by --option"
        )
    if objective != "congestion":
        raise RefusalError(f"--objective {objective}: with --with-routing it is congestion")


@app.command("map-eval", epilog=epilog(
    "flyloom map-eval slim_fly:q=5,p=4 --graph app.mtx --mapping ranks",
))
def map_eval(
    net: NetOrTables,
    graph: GraphFile,
    mapping: Annotated[
        Path,
        typer.Option("--mapping", "-m", metavar="FILE", show_default=False,
                     help="the mapping: an endpoint's number a line, or any --format of map"),
    ],
    engine: MapEngine = "ecmp",
    found: Found = None,
    hosts: HostFile = None,
    per_endpoint: PerEndpoint = None,
    partition: Partition = None,
    lmc: Lmc = None,
    layers: Layers = None,
    option: Options = None,
    seed: Annotated[int, typer.Option(help="seed of the partition")] = 0,
    format_: Format = None,
    page: Page = None,
    p: P = None,
    as_json: Json = False,
) -> None:
    """What a mapping is worth: hop-bytes, dilation and congestion, beside the linear one."""
    from flyloom.support.progress import bars
    from flyloom.verbs.mapping import evaluate_mapping, graph_of
    from flyloom.verbs.mapping_shown import shown
    from flyloom.verbs.routes import routed_or_not

    check_page(page)
    with bars() as bar:
        on = routed_or_not(
            tables_or_network(net, p, found), None if engine == "ecmp" else engine,
            lmc=lmc, layers=layers, options=parsed_options(option), progress=bar,
        )
        traffic = graph_of(graph, partition, seed, bar)
        told = evaluate_mapping(
            on, traffic, mapping, hosts=hosts, per_endpoint=per_endpoint, format=format_,
            progress=bar,
        )
        if page is not None:
            write_page(page, shown(
                on, traffic, told, hosts=hosts, per_endpoint=per_endpoint, progress=bar,
            ))
    show(told, as_json)
    if page is not None and not as_json:
        print(f"written to {page}")


def routing_rows(told: dict[str, Any]) -> list[tuple[str, Any]]:
    """Rows on tables that were made with the mapping."""
    words = "proven" if told["verified"] else "NOT PROVEN"
    rows: list[tuple[str, Any]] = [
        ("tables", f"{words}; lanes {told['lanes']}, routes to a terminal {told['layers']}")
    ]
    if told["routing_bound"] is not None:
        rows.append(("any routing of it", f"at least {told['routing_bound']:,.10g}"))
    for step in told["steps"]:
        most, hops = step["maximum_congestion"], step["hop_bytes"]
        rows.append((step["step"], f"congestion {most:,.10g}, hop-bytes {hops:,.10g}"))
    return rows


def show(found: Result, as_json: bool) -> None:
    """Prints the figures beside those of the linear mapping and the bounds."""
    told = found.to_dict()
    if as_json:
        emit(told, True, [])
        return
    linear = told["linear"] or {}
    rows: list[tuple[str, Any]] = [("processes", told["processes"])]
    for name, key, bound in (
        ("hop-bytes", "hop_bytes", "hop_bytes_bound"),
        ("average dilation", "average_dilation", None),
        ("maximum dilation", "maximum_dilation", None),
        ("maximum congestion", "maximum_congestion", "congestion_bound"),
        ("mean congestion", "mean_congestion", None),
        ("endpoint congestion", "endpoint_congestion", None),
    ):
        words = f"{told[key]:,.10g}"
        if key in linear:
            words += f"; linear {linear[key]:,.10g}"
        if bound is not None:
            words += f"; at least {told[bound]:,.10g}"
        rows.append((name, words))
    if "steps" in told:
        rows += routing_rows(told)
    for busy in told["busiest"][:3]:
        pairs = ", ".join(f"{a}>{b}" for a, b, _ in busy["pairs"][:4])
        words = f"{busy['from']} to {busy['to']}: {busy['load']:,.10g}"
        rows.append(("busiest channel", words + (f" (ranks {pairs})" if pairs else "")))
    if told.get("interrupted"):
        rows.append(("interrupted", "the best so far"))
    emit(told, False, rows)


def tables_or_network(net: str, p: int | None, found: Path | None) -> Topology | Routing | str:
    """What NET|TABLES is; with ``found`` a file of dump_fts, of the fabric of that file."""
    from flyloom.inputs.tables import read_dump

    return load_tables(net, p) if found is None else read_dump(Path(net), found, None, None)[1]


def check_page(page: Path | None) -> None:
    """RefusalError where the name of the page ends otherwise."""
    from flyloom._core import RefusalError

    if page is not None and page.suffix != ".html":
        raise RefusalError(f"--page {page}: a page of HTML; a name that ends in .html")


def write_page(path: Path, found: Shown) -> None:
    """Writes the page of a mapping, whole or not at all."""
    from flyloom.report import mapping_page
    from flyloom.support.files import write_whole

    write_whole(path, mapping_page.page(found))
