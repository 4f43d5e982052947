"""Commands that route and prove: route, verify, ebb."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flyloom.cli import completion
from flyloom.cli.busiest import BusiestCsv, after_figures
from flyloom.cli.common import (
    Engine,
    Found,
    Json,
    Lanes,
    Layers,
    Lmc,
    Net,
    NewLids,
    Options,
    P,
    Tables,
    app,
    emit,
    engine_name,
    epilog,
    load_network,
    make_routing,
    tell_of_netlist,
)
from flyloom.cli.groups import RouteOptions, grouped
from flyloom.cli.parameters import defaults
from flyloom.cli.parameters import option as declared

if TYPE_CHECKING:
    from flyloom._core import Routing, Topology
    from flyloom.support.progress import Progress

VERIFY, EBB = defaults("verify"), defaults("ebb")


@app.command(epilog=epilog(
    "flyloom route slim_fly:q=5,p=4 -e dfsssp --lmc 2 -o tables/",
    "flyloom route slim_fly:q=5,p=4 -e layered --layers 4 --lanes hops:max_lanes=4",
))
def route(
    net: Net,
    engine: Engine = "dfsssp",
    lmc: Lmc = None,
    layers: Layers = None,
    lanes: Lanes = None,
    option: Options = None,
    new_lids: NewLids = False,
    p: P = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="folder for network.json, fabric.net, tables.txt, ...; or"
                                         " a .dot file for ORCS"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compute forwarding tables, prove them, and measure the load they make."""
    from flyloom.support.progress import bars

    topology = load_network(net, p)
    with bars() as bar:
        routing = make_routing(topology, engine, lmc, layers, option, bar, lanes, new_lids)
        lids = lids_kept(topology, routing.topology)
        proof = routing.measure("verify", progress=bar)
        load = routing.measure("edge_load", progress=bar)
        paths = routing.measure("path_diversity", progress=bar)
    if output:
        write_tables(routing.topology, routing, output)
    name = engine_name(routing, engine)
    report_proof(topology, routing, name, proof, load, as_json, paths, lids)
    if output and not as_json:
        print(f"written to {output}" + "/" * output.is_dir())
    raise typer.Exit(0 if proof["complete"]["holds"] else 1)


def lids_kept(before: Topology, now: Topology) -> dict[str, int] | None:
    """How many LIDs of a fabric are ``kept``, and how many ``moved``; None for a network that
    carries none."""
    pairs = [(before.lids[part], now.lids[part]) for part in ("terminal", "switch")]
    kept = sum(int(((old == new) & (old != 0)).sum()) for old, new in pairs)
    carried = sum(int((old != 0).sum()) for old, _ in pairs)
    return {"kept": kept, "moved": carried - kept} if carried else None


def write_tables(topology: Topology, routing: Routing, folder: Path) -> None:
    """Writes tables and their network into a folder, or as a digraph where it ends in .dot."""
    from flyloom.support.files import write_whole
    from flyloom.verbs.routes import write_table_folder

    if folder.suffix == ".dot":
        write_whole(folder, routing.orcs_text())
        return
    write_table_folder(topology, routing, folder)
    tell_of_netlist(topology, folder / "fabric.net")


DISJOINT = ("mean_disjoint_paths", "fraction_pairs_3_disjoint_paths")


def report_proof(
    topology: Topology, routing: Routing, name: str, proof: dict[str, Any],
    load: dict[str, Any] | None, as_json: bool,
    paths: dict[str, Any] | None = None,
    lids: dict[str, int] | None = None,
) -> None:
    """Says what was proved of tables, and what their routes load the channels with."""
    complete, deadlock = proof["complete"], proof["deadlock"]
    document = {
        "network": topology.recipe, "engine": name, "lmc": routing.lmc,
        "layers": routing.layers, "verified": proof["holds"], "lanes": routing.lanes,
        "max_hops": complete.get("max_hops"), "mean_hops": complete.get("mean_hops"),
        "edge_forwarding_index": load["edge_forwarding_index"] if load else None,
        "edge_forwarding_index_lower_bound": load["lower_bound"] if load else None,
        "complete": complete, "deadlock": deadlock, "verdicts": proof["verdicts"],
    }
    if lids:
        document["lids"] = lids
    if paths:
        document |= {key: paths[key] for key in DISJOINT} | {"path_diversity": paths}
    lines = [
        ("network", topology.recipe), ("engine", name),
        ("routes a terminal", routing.layers),
        ("verified", proof["holds"]), ("every route arrives", complete["holds"]),
        ("deadlock-free", deadlock["holds"] if deadlock else None), ("lanes", routing.lanes),
        ("longest route [hops]", complete.get("max_hops")),
        ("mean route [hops]", complete.get("mean_hops")),
    ]
    if lids:
        lines.append(("LIDs", f"{lids['kept']:,} kept, {lids['moved']:,} moved"))
    if load:
        index, bound = load["edge_forwarding_index"], load["lower_bound"]
        lines.append(("edge forwarding index", f"{index:,} (at least {bound:,})"))
    if paths and routing.layers > 1:
        fraction = paths["fraction_pairs_3_disjoint_paths"]
        lines.append(("disjoint paths a pair", paths["mean_disjoint_paths"]))
        lines.append(("pairs with 3 disjoint", fraction))
    emit(document, as_json, lines)
    if as_json:
        return
    for name, verdict in proof["verdicts"].items():
        if name in ("management", "no_deadlock") or verdict["holds"] is not False:
            continue
        times = f" ({verdict['routes']:,} routes)" if "routes" in verdict else ""
        print(f"{name.replace('_', ' ')}: no{times}: {verdict['counterexample']}")
    if not complete["holds"]:
        return
    if not deadlock["holds"]:
        print("packets can wait for one another in a cycle:")
        for line in deadlock["counterexample"]:
            print(f"  {line}")


def tables_of(
    source: str, engine: str | None, lmc: int | None, layers: int | None,
    option: list[str] | None, bar: Progress | None, p: int | None = None, default: str = "dfsssp",
    traffic: str | None = None, new_lids: bool | None = None,
) -> tuple[Topology, Routing, str]:
    """The network, tables and engine of a folder of `route -o`, of a digraph of ORCS when no engine
    is named, or of a network to be routed: by `default` when none is. The engine `application` gets
    ``traffic``, unless its options have one."""
    from flyloom.inputs.tables import read_folder, read_tables

    if os.path.isdir(source):
        refuse_routes_asked(engine, lmc, layers, option)
        topology, routing = read_folder(Path(source))
        return topology, routing, routing.engine
    topology = load_network(source, p)
    if engine is None and topology.recipe.endswith(",format=orcs"):
        routing = read_tables(source)
        return routing.topology, routing, routing.engine
    engine = engine or default
    said = [word.partition("=")[0] for word in option or ()]
    if traffic is not None and engine == "application" and not {"traffic", "flows"} & {*said}:
        option = [*(option or ()), f"traffic={traffic}"]
    routing = make_routing(topology, engine, lmc, layers, option, bar, new_lids=new_lids)
    return routing.topology, routing, engine_name(routing, engine)


def refuse_routes_asked(
    engine: str | None, lmc: int | None, layers: int | None, option: list[str] | None,
) -> None:
    """RefusalError where routes are asked for that tables already have."""
    from flyloom._core import RefusalError

    asked = {"engine": engine, "lmc": lmc, "layers": layers, "option": option or None}
    for name, given in asked.items():
        if given is not None:
            raise RefusalError(f"{name}: these are tables, which have their routes; leave it out")


@dataclass(frozen=True)
class DumpFileOptions:
    """What belongs to a dump_fts file."""

    network_file: Found = None
    levels: Annotated[
        Path | None,
        typer.Option("--path-records",
                     help="path records of that fabric, `slid dlid sl` a line"),
    ] = None
    sl2vl: Annotated[Path | None, typer.Option(help="opensm-sl2vl.dump of that fabric")] = None


@app.command(epilog=epilog(
    "flyloom verify tables/", "flyloom verify slim_fly:q=5,p=4 -e min_hop",
    "flyloom verify lfts.txt --found fabric.txt",
))
@grouped
def verify(
    source: Annotated[
        str,
        typer.Argument(
            metavar="TABLES|NET", autocompletion=completion.tables,
            help="folder of `route -o`, a dump_fts file, a digraph of ORCS, or a network",
        ),
    ],
    *,
    routes: RouteOptions,
    dump: DumpFileOptions,
    hop_limit: Annotated[int, declared("verify", "hop_limit")] = VERIFY["hop_limit"],
    max_lanes: Annotated[int, declared("verify", "max_lanes")] = VERIFY["max_lanes"],
    certificate: Annotated[
        bool,
        typer.Option("--certificate", help="write certificate.txt into the folder of tables"),
    ] = False,
    as_json: Json = False,
) -> None:
    """Prove tables: every route arrives, and no packets can wait in a cycle."""
    from flyloom._core import RefusalError
    from flyloom.inputs.tables import read_dump
    from flyloom.support.checks import whole
    from flyloom.support.progress import bars

    whole("--hop-limit", hop_limit, 0, 2**32 - 1)
    whole("--max-lanes", max_lanes, 1, 15)
    if certificate and (dump.network_file or not os.path.isdir(source)):
        raise RefusalError("--certificate: goes with the tables it is for; give a folder of tables")
    if (dump.levels or dump.sl2vl) and not dump.network_file:
        raise RefusalError("--path-records, --sl2vl: of a dump_fts file; give --found with it")
    if dump.network_file:
        refuse_routes_asked(routes.engine, routes.lmc, routes.layers, routes.option)
        topology, routing = read_dump(Path(source), dump.network_file, dump.levels, dump.sl2vl)
        name = routing.engine
    else:
        with bars() as bar:
            topology, routing, name = tables_of(
                source, routes.engine, routes.lmc, routes.layers, routes.option, bar
            )
    with bars() as bar:
        proof = routing.measure("verify", {"hop_limit": hop_limit, "max_lanes": max_lanes}, bar)
        text = routing.certificate_text(bar) if certificate and proof["holds"] else None
    if text is not None:
        from flyloom.support.files import write_whole

        write_whole(Path(source) / "certificate.txt", text)
    load = routing.measure("edge_load") if proof["complete"]["holds"] else None
    report_proof(topology, routing, name, proof, load, as_json)
    raise typer.Exit(0 if proof["holds"] else 1)


@app.command(epilog=epilog("flyloom ebb slim_fly:q=19 -e dfsssp --samples 1000 --seed 1"))
@grouped
def ebb(
    net: Tables,
    traffic: Annotated[str | None, declared("ebb", "traffic")] = None,
    samples: Annotated[int, declared("ebb", "samples")] = EBB["samples"],
    seed: Annotated[int, declared("ebb", "seed")] = EBB["seed"],
    top: Annotated[int, declared("ebb", "top")] = EBB["top"],
    *,
    routes: RouteOptions,
    p: P = None,
    csv: BusiestCsv = None,
    as_json: Json = False,
) -> None:
    """Effective bisection bandwidth over an engine's tables."""
    from flyloom.inputs.measured import measured
    from flyloom.support.checks import whole
    from flyloom.support.progress import bars

    whole("--samples", samples, 1, 2**32 - 1)
    whole("--seed", seed, 0, 2**64 - 1)
    whole("--top", top, 0, 2**32 - 1)
    with bars() as bar:
        topology, routing, name = tables_of(
            net, routes.engine, routes.lmc, routes.layers, routes.option, bar, p,
            traffic=traffic,
        )
        given = {"samples": samples, "traffic": traffic, "seed": seed, "top": top}
        found = measured(routing, "ebb", given, bar)
    interval = found["confidence_interval_95"]
    lines = [
        ("network", topology.recipe), ("engine", name),
        ("effective bisection bandwidth", found["effective_bisection_bandwidth"]),
        ("95 % confidence interval", interval and f"{interval[0]:.6f} to {interval[1]:.6f}"),
        ("samples", found["samples"]), ("seed", seed),
        ("most congested channel [flows]", found["max_congestion"]),
    ]
    if traffic is not None:
        lines.insert(2, ("traffic", traffic))
    about = {"network": topology.recipe, "engine": name, "lmc": routing.lmc}
    if csv != "-":
        emit({**about, **found}, as_json, lines)
    after_figures(found, csv, as_json)
