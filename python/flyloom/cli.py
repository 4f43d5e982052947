"""The command line: one command a verb.

Exit codes: 0 everything holds; 1 a check found a fault in the network or its routes; 2 the input
was refused; 3 something else is broken.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(
    name="flyloom",
    help="Design, lay out, route, prove, deploy and compare interconnect networks.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

NET_HELP = "inline form (slim_fly:q=5,p=4), spec file (.toml) or network file"
Net = Annotated[str, typer.Argument(metavar="NET", help=NET_HELP, show_default=False)]
P = Annotated[
    int | None,
    typer.Option("-p", "--endpoints-per-switch", help="for files that have no endpoints"),
]
Json = Annotated[bool, typer.Option("--json", help="one JSON document on standard output")]
Engine = Annotated[
    str, typer.Option("--engine", "-e", help="flyloom list engines; opensm:NAME for OpenSM's own")
]
Lmc = Annotated[
    int | None, typer.Option(help="LID mask control, 0 to 7: 2^LMC routes to every endpoint")
]
Layers = Annotated[int | None, typer.Option(help="routes to every endpoint, 1 to 128")]
Options = Annotated[
    list[str] | None, typer.Option("--option", "-O", help="KEY=VALUE, an option of the engine")
]


def epilog(*lines: str) -> str:
    """Examples at the end of a command's help."""
    return "Example:  " + "   |   ".join(lines)


def emit(document: dict[str, Any], as_json: bool, lines: list[tuple[str, Any]]) -> None:
    """Prints the document as JSON, or the lines as an aligned table."""
    if as_json:
        print(json.dumps(document))
        return
    width = max(len(name) for name, _ in lines)
    for name, value in lines:
        print(f"{name:<{width}}  {shown(value)}")


def shown(value: Any) -> str:
    """A value as people read it."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def load_network(net: str, p: int | None):
    from flyloom.graph import network

    return network(net, p)


def make_routing(topology, engine: str, lmc: int | None, layers: int | None, options, bar):
    from flyloom.verbs import route

    if lmc == 0:
        topology.addresses(0)  # who asks for an LMC means LIDs, and they may not suffice
    return route(
        topology, engine, lmc=lmc, layers=layers, progress=bar, **parsed_options(options)
    )


def engine_name(routing, asked: str) -> str:
    """The engine to show: tables read back from OpenSM do not know which engine made them."""
    return asked if asked.startswith("opensm:") else routing.engine


def parsed_options(options: list[str] | None) -> dict[str, Any]:
    """KEY=VALUE words as a dictionary; values are JSON where they can be, else text."""
    from flyloom._core import RefusalError

    parsed = {}
    for word in options or []:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise RefusalError(f"--option {word}: not KEY=VALUE")
        if key in ("source", "engine", "lmc", "layers", "progress") or key in parsed:
            raise RefusalError(f"--option {word}: not an option of an engine, or given twice")
        try:
            parsed[key] = json.loads(value)
            json.dumps(parsed[key], allow_nan=False)
        except ValueError:
            parsed[key] = value
    return parsed


@app.command(epilog=epilog(
    "flyloom design slim_fly:q=19,p=15", "flyloom design dragonfly:h=4 -o df.json",
))
def design(
    net: Net,
    p: P = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", help="write the network: .json .graphml .edges .dot .net (ibsim)"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Build a network; its size, distances and girth beside the family's promise."""
    from flyloom.progress import bars

    topology = load_network(net, p)
    with bars() as bar:
        found = topology.structure(progress=bar)
    promised = topology.promise()
    if output:
        write_network(topology, output)
    document = {**found, "promise": promised}
    emit(document, as_json, structure_lines(found))
    if output and not as_json:
        print(f"written to {output}")


def structure_lines(found: dict[str, Any]) -> list[tuple[str, Any]]:
    lines = [("network", found["recipe"])]
    keys = (
        "switches", "endpoints", "links", "network_radix", "concentration", "radix", "diameter",
        "mean_distance", "girth", "moore_fraction",
    )
    lines += [(key.replace("_", " "), found[key]) for key in keys]
    if found["terminals"] != found["endpoints"]:
        lines.append(("terminals", found["terminals"]))
    if found["unreachable"]:
        lines.append(("unreachable pairs", found["unreachable"]))
    return lines


def write_network(topology, path: Path) -> None:
    from flyloom._core import RefusalError
    from flyloom.experiment import write_whole

    formats = {
        ".json": "json", ".graphml": "graphml", ".edges": "edges", ".txt": "edges", ".dot": "dot",
        ".net": "netlist",
    }
    if path.suffix not in formats:
        raise RefusalError(f"-o {path}: no format for '{path.suffix}'; use {' '.join(formats)}")
    write_or_refuse(path, lambda: write_whole(path, topology.to_text(formats[path.suffix])))


def write_or_refuse(path: Path, write) -> None:
    from flyloom._core import RefusalError

    try:
        write()
    except OSError as error:
        raise RefusalError(f"{path}: cannot be written: {error.strerror}") from None


@app.command(epilog=epilog("flyloom structure torus:shape=8x8x8 --paths"))
def structure(
    net: Net,
    p: P = None,
    paths: Annotated[
        bool, typer.Option("--paths", help="count minimal paths of all pairs")
    ] = False,
    as_json: Json = False,
) -> None:
    """Measure a network: distances, girth, Moore bound, minimal-path counts."""
    from flyloom.progress import bars

    topology = load_network(net, p)
    with bars() as bar:
        found = topology.structure(paths=paths, progress=bar)
    lines = structure_lines(found)
    pairs = sum(found["histogram"])
    lines += [
        (f"pairs at distance {d}", f"{n:,} ({100 * n / pairs:.2f} %)")
        for d, n in enumerate(found["histogram"]) if n
    ]
    if paths:
        counts = found["minimal_paths"]
        counts["mean"] = counts["sum"] / counts["pairs"] if counts["pairs"] else None
        lines += [(f"minimal paths, {key}", counts[key]) for key in ("min", "mean", "max")]
    emit(found, as_json, lines)


@app.command(epilog=epilog("flyloom plan slim_fly:q=5,p=4 -o plan/"))
def plan(
    net: Net,
    p: P = None,
    output: Annotated[
        Path | None, typer.Option("-o", help="folder for cables.csv, floor.svg and racks.svg")
    ] = None,
    as_json: Json = False,
) -> None:
    """Lay a network out in racks and list its cables."""
    topology = load_network(net, p)
    found = topology.plan()
    if output:
        write_or_refuse(output, lambda: write_plan(topology, found, output))
    document = {key: value for key, value in found.items() if key != "cables_csv"}
    steps = ("endpoint cables", "inside groups", "inside racks", "between racks")
    lines = [
        ("network", topology.recipe), ("racks", len(found["racks"])),
        ("cables", found["cables"]),
    ]
    lines += [(f"  {name}", n) for name, n in zip(steps, found["by_step"], strict=True)]
    lines += [
        (f"  {c['kind']}, up to {c['stock_m']:g} m{', endpoints' if c['endpoint_cables'] else ''}",
         c["cables"])
        for c in found["classes"]
    ]
    lines += [("length [m]", found["length_m"]), ("cost of cables [$]", found["cost_usd"])]
    emit(document, as_json, lines)
    if output and not as_json:
        print(f"written to {output}/")


def write_plan(topology, found: dict[str, Any], folder: Path) -> None:
    from flyloom import draw
    from flyloom.experiment import write_whole
    from flyloom.report.build import floor_data

    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "cables.csv", found["cables_csv"])
    floor = floor_data(found, topology.switch_names)
    write_whole(folder / "floor.svg", draw.floor_svg(floor))
    write_whole(folder / "racks.svg", draw.racks_svg(floor, topology.groups.tolist()))


@app.command(epilog=epilog("flyloom route slim_fly:q=5,p=4 -e dfsssp --lmc 2 -o tables/"))
def route(
    net: Net,
    engine: Engine = "dfsssp",
    lmc: Lmc = None,
    layers: Layers = None,
    option: Options = None,
    p: P = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", help="folder for network.json, tables.txt, lfts.txt, guid2lid"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compute forwarding tables, prove them, and measure the load they make."""
    from flyloom.progress import bars

    topology = load_network(net, p)
    with bars() as bar:
        routing = make_routing(topology, engine, lmc, layers, option, bar)
        proof = routing.verify(progress=bar)
        load = routing.load()
    if output:
        write_or_refuse(output, lambda: write_tables(topology, routing, output))
    report_proof(topology, routing, engine_name(routing, engine), proof, load, as_json)
    if output and not as_json:
        print(f"written to {output}/")
    raise typer.Exit(0 if proof["complete"]["holds"] else 1)


def write_tables(topology, routing, folder: Path) -> None:
    from flyloom.experiment import write_whole

    tables, lfts = routing.table_text(), routing.lft_text()  # may refuse: before the folder
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "network.json", topology.to_text("json"))
    write_whole(folder / "tables.txt", tables)
    write_whole(folder / "lfts.txt", lfts)
    write_whole(folder / "guid2lid", topology.addresses(routing.lmc)["guid2lid"])
    about = {"flyloom": 1, "engine": routing.engine, "lmc": routing.lmc, "layers": routing.layers}
    write_whole(folder / "routing.json", json.dumps(about))


def report_proof(
    topology, routing, name: str, proof: dict, load: dict | None, as_json: bool
) -> None:
    complete, deadlock = proof["complete"], proof["deadlock"]
    document = {
        "network": topology.recipe, "engine": name, "lmc": routing.lmc,
        "layers": routing.layers, "verified": proof["holds"], "lanes": routing.lanes,
        "max_hops": complete.get("max_hops"), "mean_hops": complete.get("mean_hops"),
        "edge_forwarding_index": load["edge_forwarding_index"] if load else None,
        "edge_forwarding_index_lower_bound": load["lower_bound"] if load else None,
        "complete": complete, "deadlock": deadlock,
    }
    lines = [
        ("network", topology.recipe), ("engine", name),
        ("routes a terminal", routing.layers),
        ("verified", proof["holds"]), ("every route arrives", complete["holds"]),
        ("deadlock-free", deadlock["holds"] if deadlock else None), ("lanes", routing.lanes),
        ("longest route [hops]", complete.get("max_hops")),
        ("mean route [hops]", complete.get("mean_hops")),
    ]
    if load:
        index, bound = load["edge_forwarding_index"], load["lower_bound"]
        lines.append(("edge forwarding index", f"{index:,} (at least {bound:,})"))
    emit(document, as_json, lines)
    if as_json:
        return
    if not complete["holds"]:
        print(complete["counterexample"])
    elif not deadlock["holds"]:
        print("packets can wait for one another in a circle:")
        for line in deadlock["counterexample"]:
            print(f"  {line}")


@app.command(epilog=epilog(
    "flyloom verify tables/", "flyloom verify slim_fly:q=5,p=4 -e min_hop",
    "flyloom verify lfts.txt --network fabric.txt",
))
def verify(
    source: Annotated[
        str,
        typer.Argument(
            metavar="TABLES|NET", help="folder of `route -o`, a dump_fts file, or a network"
        ),
    ],
    engine: Engine = "dfsssp",
    lmc: Lmc = None,
    layers: Layers = None,
    option: Options = None,
    network_file: Annotated[
        Path | None,
        typer.Option("--network", help="ibnetdiscover output of the fabric of a dump_fts file"),
    ] = None,
    levels: Annotated[
        Path | None, typer.Option(help="path records of that fabric, `slid dlid sl` a line")
    ] = None,
    sl2vl: Annotated[Path | None, typer.Option(help="opensm-sl2vl.dump of that fabric")] = None,
    hop_limit: Annotated[int, typer.Option(help="most hops a route may take")] = 64,
    as_json: Json = False,
) -> None:
    """Prove tables: every route arrives, and no packets can wait in a circle."""
    from flyloom._core import RefusalError
    from flyloom.progress import bars
    from flyloom.tables import read_dump, read_folder
    from flyloom.verbs import whole

    whole("--hop-limit", hop_limit, 0, 2**32 - 1)
    if (levels or sl2vl) and not network_file:
        raise RefusalError("--levels, --sl2vl: of a dump_fts file; give --network with it")
    if network_file:
        topology, routing = read_dump(Path(source), network_file, levels, sl2vl)
        name = routing.engine
    elif Path(source).is_dir():
        topology, routing = read_folder(Path(source))
        name = routing.engine
    else:
        topology = load_network(source, None)
        with bars() as bar:
            routing = make_routing(topology, engine, lmc, layers, option, bar)
        name = engine_name(routing, engine)
    with bars() as bar:
        proof = routing.verify(hop_limit, bar)
    load = routing.load() if proof["complete"]["holds"] else None
    report_proof(topology, routing, name, proof, load, as_json)
    raise typer.Exit(0 if proof["holds"] else 1)


@app.command(epilog=epilog("flyloom ebb slim_fly:q=19 -e dfsssp --patterns 1000 --seed 1"))
def ebb(
    net: Net,
    engine: Engine = "dfsssp",
    patterns: Annotated[int, typer.Option(help="random bisections")] = 1000,
    seed: Annotated[int, typer.Option(help="of the random draws")] = 0,
    lmc: Lmc = None,
    layers: Layers = None,
    option: Options = None,
    p: P = None,
    as_json: Json = False,
) -> None:
    """Effective bisection bandwidth over an engine's tables."""
    from flyloom.progress import bars
    from flyloom.verbs import whole

    whole("--patterns", patterns, 1, 2**32 - 1)
    whole("--seed", seed, 0, 2**64 - 1)
    topology = load_network(net, p)
    with bars() as bar:
        routing = make_routing(topology, engine, lmc, layers, option, bar)
        found = routing.ebb(patterns, seed, bar)
    interval = found["confidence_interval_95"]
    name = engine_name(routing, engine)
    lines = [
        ("network", topology.recipe), ("engine", name),
        ("effective bisection bandwidth", found["effective_bisection_bandwidth"]),
        ("95 % confidence interval", interval and f"{interval[0]:.6f} to {interval[1]:.6f}"),
        ("patterns", patterns), ("seed", seed),
        ("most congested channel [flows]", found["max_congestion"]),
    ]
    about = {"network": topology.recipe, "engine": name, "lmc": routing.lmc}
    emit({**about, **found}, as_json, lines)


@app.command(epilog=epilog("flyloom deploy slim_fly:q=5,p=4 -e dfsssp --lmc 2"))
def deploy(
    net: Net,
    engine: Engine = "dfsssp",
    lmc: Lmc = None,
    layers: Layers = None,
    option: Options = None,
    oracle: Annotated[
        bool, typer.Option("--oracle", help="let ibdmchk judge the tables too")
    ] = False,
    p: P = None,
    as_json: Json = False,
) -> None:
    """Load tables into OpenSM on a simulated fabric, read them back, compare and prove them."""
    from flyloom.deploy.fabric import deploy as load_and_read
    from flyloom.deploy.live import check_deployable
    from flyloom.experiment import deploy_line
    from flyloom.progress import bars

    topology = load_network(net, p)
    check_deployable(topology)
    if lmc is not None and 0 <= lmc <= 7:
        topology.addresses(lmc)  # too many LIDs are refused before the work, not after
    with bars() as bar:
        routing = make_routing(topology, engine, lmc, layers, option, bar)
        say = None if as_json else lambda line: print(line, file=sys.stderr)
        found = load_and_read(routing, topology=topology, oracle=oracle, say=say).to_dict()
    parts = ("entries", "sl_entries", "sl2vl_entries")
    lines = [("network", topology.recipe), ("engine", routing.engine), ("LMC", routing.lmc)]
    for part in parts:
        lines.append((part.replace("_", " "), found[part]))
        lines.append(("  differing", found[f"differing_{part}"]))
    lines += [
        ("verified as read back", found["verified"]), ("deadlock-free", found["deadlock_free"]),
        ("ibdmchk", found["oracle"]), ("OpenSM", found["opensm_version"]),
        ("seconds", found["seconds"]),
    ]
    document = {"network": topology.recipe, "engine": routing.engine, "lmc": routing.lmc, **found}
    emit(document, as_json, lines)
    if not as_json:
        print(deploy_line(found))
        for line in found["differences"] + found["counterexample"]:
            print(f"  {line}")
    same = all(found[f"differing_{part}"] == 0 for part in parts)
    raise typer.Exit(0 if same and found["verified"] else 1)


@app.command("verify-cables", epilog=epilog(
    "flyloom verify-cables slim_fly:q=5,p=4 discovered.txt", "flyloom verify-cables plan.json",
))
def verify_cables(
    planned: Annotated[str, typer.Argument(metavar="PLAN", help=NET_HELP)],
    fabric: Annotated[
        str | None,
        typer.Argument(
            metavar="FABRIC", help="saved ibnetdiscover output; default: this machine's fabric"
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare a fabric with its plan: wrong, missing, extra and degraded cables, dead switches."""
    from flyloom.verbs import check_cables

    plan = load_network(planned, None)
    found = check_cables(plan, fabric if fabric is not None else this_fabric()).to_dict()
    for finding in found["findings"]:
        finding["kind"], finding["where"] = finding["fault"], finding["what"]
    lines = [(key, found[key]) for key in ("planned", "correct", "degraded", "misplaced", "lost")]
    lines.append(("findings", len(found["findings"])))
    emit(found, as_json, lines)
    if not as_json:
        for finding in found["findings"]:
            print(f"{finding['what']}; {finding['mend']}")
    raise typer.Exit(0 if found["clean"] else 1)


def this_fabric():
    from flyloom._core import Topology
    from flyloom.deploy.readback import discover_here

    return Topology.from_text(discover_here(), "ibnetdiscover", None)


@app.command(epilog=epilog("flyloom run examples/deployed_slim_fly.toml"))
def run(
    experiment: Annotated[Path, typer.Argument(metavar="FILE", help="experiment file (TOML)")],
    out: Annotated[Path, typer.Option("--out", help="folder of all results")] = Path("out"),
    fresh: Annotated[bool, typer.Option("--fresh", help="compute every point anew")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="list the points and stop")] = False,
    as_json: Json = False,
) -> None:
    """Run an experiment: results as Parquet, a manifest and a report."""
    from flyloom import experiment as lab
    from flyloom.progress import bars

    if dry_run:
        return list_points(experiment, as_json)

    def say(stage: str, line: str, seconds: float) -> None:
        if not as_json:
            print(f"{stage:<8} {line}" + (f"  ({seconds:.2f} s)" if seconds else ""), flush=True)

    with bars() as bar:
        result = lab.run(experiment, out=out, fresh=fresh, say=say, progress=bar)
    if as_json:
        print(result.to_json())
    else:
        print(f"{result.report}")
    raise typer.Exit(0)


def list_points(file: Path, as_json: bool) -> None:
    from flyloom._core import expand
    from flyloom.graph import read_text

    points = expand(read_text(file), str(file))["points"]
    if as_json:
        print(json.dumps({"points": points}))
        return
    for i, point in enumerate(points, start=1):
        print(f"{i:>4}  {json.dumps(point)}")


@app.command(epilog=epilog("flyloom report out/deployed_slim_fly"))
def report(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="folder of a finished run")],
    as_json: Json = False,
) -> None:
    """Write the report of a finished run anew."""
    from flyloom.store import rebuild

    path = rebuild(directory)
    print(json.dumps({"report": str(path)}) if as_json else path)


@app.command("list", epilog=epilog("flyloom list topologies", "flyloom list engines"))
def list_parts(
    what: Annotated[str, typer.Argument(metavar="topologies|engines")] = "",
    as_json: Json = False,
) -> None:
    """List the topology families and routing engines with their parameters."""
    from flyloom._core import RefusalError, registry

    kinds = {"topologies": "topology", "engines": "engine"}
    if what and what not in kinds:
        raise RefusalError(f"list: there is no '{what}'; topologies or engines")
    parts = [part for part in registry() if not what or part["kind"] == kinds[what]]
    if as_json:
        print(json.dumps(parts))
        return
    for part in parts:
        print(f"{part['kind']} {part['name']}: {part['doc']}")
        for param in part["params"]:
            need = "required" if param["required"] else "optional"
            print(f"    {param['name']} ({param['type']}, {need}): {param['doc']}")


@app.command(epilog=epilog("flyloom schema > experiment.schema.json"))
def schema() -> None:
    """Print the JSON schema of the experiment file."""
    from flyloom._core import experiment_schema

    print(json.dumps(experiment_schema(), indent=1))


@app.command(epilog=epilog("flyloom doctor"))
def doctor(as_json: Json = False) -> None:
    """Say which optional programs are there, and how to get the rest."""
    from flyloom._core import __version__
    from flyloom.deploy import tools

    found = tools.check()
    if as_json:
        programs = [
            {"name": name, "path": str(path) if path else None, "package": package}
            for name, path, package in found
        ]
        complete = all(path for _, path, _ in found)
        print(json.dumps({"version": __version__, "programs": programs, "complete": complete}))
        return
    print(f"flyloom {__version__}")
    for name, path, package in found:
        word, where = ("ok", path) if path else ("missing", f"apt-get install {package}")
        print(f"{word:<7}  {name:<20} {where}")
    absent = sorted({package for _, path, package in found if not path})
    if absent:
        print(f"for the fabric stage: apt-get install {' '.join(absent)}")


def main() -> None:
    """Runs the command line; never a traceback for what a user can cause."""
    # end in order, as Ctrl-C does: no half-written file, no process left behind
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    try:
        code = 0
        try:
            app(standalone_mode=True)
        except SystemExit as ended:
            code = ended.code
        sys.stdout.flush()
        sys.exit(code)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # whoever read it has gone
        sys.exit(3)
    except Exception as error:
        sys.exit(explain(error))


def explain(error: Exception) -> int:
    """Says on standard error what went wrong; the exit code."""
    from flyloom._core import RefusalError
    from flyloom.deploy import DeployError

    if isinstance(error, RefusalError):
        print(f"flyloom: {error}", file=sys.stderr)
        return 2
    if isinstance(error, (DeployError, OSError)):
        print(f"flyloom: {error}", file=sys.stderr)
        if isinstance(error, OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what it could not print stays unprinted
        return 3
    traceback.print_exc()
    print("flyloom: this is a fault of flyloom; please report it with the lines above",
          file=sys.stderr)
    return 3


if __name__ == "__main__":
    main()
