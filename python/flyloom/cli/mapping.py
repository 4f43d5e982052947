"""The commands map and map-eval, made from the table: which process goes where, and its worth."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flyloom._core import mappings
from flyloom.cli.common import (
    PICTURES,
    Found,
    Json,
    Options,
    P,
    Tables,
    app,
    emit,
    epilog,
    load_network,
    load_tables,
    parsed_options,
)
from flyloom.cli.parameters import options_of, signed

if TYPE_CHECKING:
    from flyloom._core import Routing, Topology
    from flyloom.support.results import Result

PAGE = "a page of figures, who sends to whom, and load of links, beside the linear one"
Out = Annotated[
    list[Path] | None,
    typer.Option("-o", "--out", metavar="FILE", show_default=False,
                 help="file that the mapping is written to; or, where its name ends in .html,"
                      f" {PAGE}; given twice, both"),
]
Page = Annotated[
    Path | None,
    typer.Option("-o", "--out", metavar="FILE.html", show_default=False,
                 help=f"file (.html): {PAGE}"),
]
WithRouting = Annotated[
    bool,
    typer.Option("--with-routing",
                 help="tables for the traffic, too: proven, LMC 2 unless another is given"),
]
FLAGS = {"graph": ("--graph", "-g"), "mapping": ("--mapping", "-m"),
         "engine": ("--engine", "-e")}
"""Options that have other names than their parameters, or short ones besides."""
FILES = {"hosts": "FILE", "mapping": "FILE", "pin": "FILE", "path": "FILE", "tables": "DIR"}
"""Parameters that are files, or folders, on the command line."""
OF_ROUTING = ("mapping", "tables")
"""Options of `map` that only --with-routing has."""
EXAMPLES = {
    "map": (
        "flyloom map slim_fly:q=5,p=4 --graph app.mtx -o ranks --format rankfile",
        "flyloom map slim_fly:q=5,p=4 --graph 'stencil_3d ranks=64 bytes=8k' -o map.html",
        "flyloom map dragonfly:h=4 --graph app.mtx --objective hops --effort best",
        "flyloom map tables/ --graph app.mtx --hosts nodes.txt --per-endpoint 2 --json",
        "flyloom map lfts.txt --found fabric.txt --graph app.mtx -o ranks",
        "flyloom map slim_fly:q=5,p=4 --graph app.mtx --with-routing --tables tables/ -o ranks",
    ),
    "map-eval": ("flyloom map-eval slim_fly:q=5,p=4 --graph app.mtx --mapping ranks",),
}


def command(name: str, row: dict[str, Any], *more: tuple[str, Any, Any]) -> Callable[..., None]:
    """A command of mappings: the parameters of a task, and ``more`` options."""
    own = [(key, Out if key == "path" else kind, usual)
           for key, kind, usual in options_of(row, FLAGS, FILES)]
    page = [] if name == "map" else [("page", Page, None)]
    takes = [
        ("net", Tables, inspect.Parameter.empty), *own,
        ("option", Options, None), ("found", Found, None), *more, *page,
        ("p", P, None), ("as_json", Json, False),
    ]

    def run(**given: Any) -> None:
        map_and_show(name, given)

    return signed(run, takes, f"{row['doc']}.")


def map_and_show(name: str, given: dict[str, Any]) -> None:
    """Maps, or finds what a mapping is worth; writes what is to be written, prints the figures."""
    from flyloom.support.progress import bars
    from flyloom.verbs.mapping import evaluated, graph_of, mapped, mapped_with_routing, routed
    from flyloom.verbs.mapping_shown import shown

    take_files(name, given)
    with_routing = check(name, given)
    net, p, as_json, found, page = (
        given.pop(key) for key in ("net", "p", "as_json", "found", "page")
    )
    how = {key: given.pop(key) for key in ("engine", "lmc", "layers")}
    how["engine_options"] = parsed_options(given.pop("option"))
    graph, parts = given.pop("graph"), {
        "partition": given.pop("partition"), "seed": given["seed"],
        "per_endpoint": given["per_endpoint"],
    }
    before: Topology | Routing
    on: Topology | Routing
    with bars() as bar:
        if with_routing:
            before = network = load_network(net, p)
            traffic = graph_of(graph, parts, bar, network)
            result, on = mapped_with_routing(network, traffic, how | given, bar)
        else:
            on = before = routed(tables_or_network(net, p, found), how, bar)
            traffic = graph_of(graph, parts, bar, on)
            find = mapped if name == "map" else evaluated
            result = find(on, traffic, given, bar)
        if page is not None:
            from flyloom.report import mapping_page
            from flyloom.support.files import write_whole

            drawn = shown(on, traffic, result, given, linear_on=before, progress=bar)
            write_whole(page, mapping_page.page(drawn))
    show(result, as_json)
    for path in (given.get("path"), given.get("tables"), page):
        if path is not None and not as_json:
            print(f"written to {path}" + "/" * path.is_dir())


def take_files(name: str, given: dict[str, Any]) -> None:
    """Puts what `-o` names into ``path``, the file of the mapping, and ``page``, by the end of each
    name; RefusalError where there are two of a kind."""
    from flyloom._core import RefusalError

    if name != "map":
        page = given["page"]
        if page is not None and page.suffix != ".html":
            raise RefusalError(f"-o {page}: a page of HTML; a name that ends in .html")
        return
    files = given.get("path") or []
    pages = [path for path in files if path.suffix == ".html"]
    mappings_ = [path for path in files if path.suffix != ".html"]
    for what, several in (("pages", pages), ("mappings", mappings_)):
        if len(several) > 1:
            raise RefusalError(f"-o {several[1]}: -o {several[0]} is given, too, and two {what} are"
                               " one too many; one of both")
    for path in mappings_:
        if path.suffix in PICTURES:
            raise RefusalError(f"-o {path}: of a mapping there is no such picture; a name that ends"
                               " in .html is its page")
    given["page"] = pages[0] if pages else None
    given["path"] = mappings_[0] if mappings_ else None


def check(name: str, given: dict[str, Any]) -> bool:
    """Whether tables are made, too; RefusalError for options that make no sense beside others."""
    from flyloom._core import RefusalError
    from flyloom.verbs.mapping import ENGINE

    with_routing = bool(given.pop("with_routing", False))
    if name == "map" and given["format"] is not None and given["path"] is None:
        raise RefusalError("--format: of the file that -o names; name one")
    if not with_routing:
        for key in OF_ROUTING:
            if name == "map" and given[key] is not None:
                raise RefusalError(f"--{key}: only of --with-routing")
        return False
    engine, objective = given["engine"] or ENGINE, given["objective"] or "congestion"
    if given["found"] is not None:
        raise RefusalError("--found: of tables that are there; leave out --with-routing")
    if engine not in ("ecmp", ENGINE):
        raise RefusalError(
            f"--engine {engine}: the tables of --with-routing are those of {ENGINE}; its options"
            " are given by --option"
        )
    if objective != "congestion":
        raise RefusalError(f"--objective {objective}: with --with-routing it is congestion")
    return True


def routing_rows(result: dict[str, Any]) -> list[tuple[str, Any]]:
    """Rows on tables that were made with the mapping."""
    words = "proven" if result["verified"] else "NOT PROVEN"
    rows: list[tuple[str, Any]] = [
        ("tables", f"{words}; lanes {result['lanes']}, routes to a terminal {result['layers']}")
    ]
    if result["routing_bound"] is not None:
        rows.append(("any routing of it", f"at least {four(result['routing_bound'])}"))
    for step in result["steps"]:
        most, hops = step["maximum_congestion"], step["hop_bytes"]
        rows.append((step["step"], f"congestion {four(most)}, hop-bytes {four(hops)}"))
    return rows


def four(number: float) -> str:
    """A figure with four digits, or all digits of its whole part: ``1.312``, ``27,454``."""
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"


def show(found: Result, as_json: bool) -> None:
    """Prints the figures beside those of the linear mapping and the bounds."""
    result = found.to_dict()
    if as_json:
        emit(result, True, [])
        return
    linear = result["linear"] or {}
    rows: list[tuple[str, Any]] = [("processes", result["processes"])]
    for name, key, bound in (
        ("hop-bytes", "hop_bytes", "hop_bytes_bound"),
        ("average dilation", "average_dilation", None),
        ("maximum dilation", "maximum_dilation", None),
        ("maximum congestion", "maximum_congestion", "congestion_bound"),
        ("mean congestion", "mean_congestion", None),
        ("endpoint congestion", "endpoint_congestion", None),
    ):
        words = four(result[key])
        if key in linear:
            words += f"; processes in order {four(linear[key])}"
        if bound is not None:
            words += f"; at least {four(result[bound])}"
        rows.append((name, words))
    if "steps" in result:
        rows += routing_rows(result)
    for busy in result["busiest"][:3]:
        pairs = ", ".join(f"{a}>{b}" for a, b, _ in busy["pairs"][:4])
        words = f"{busy['from']} to {busy['to']}: {four(busy['load'])}"
        rows.append(("busiest channel", words + (f" (ranks {pairs})" if pairs else "")))
    if result.get("interrupted"):
        rows.append(("interrupted", "the best so far"))
    emit(result, False, rows)


def tables_or_network(net: str, p: int | None, found: Path | None) -> Topology | Routing | str:
    """What NET|TABLES is; with ``found`` a file of dump_fts, of the fabric of that file."""
    from flyloom.inputs.tables import read_dump

    return load_tables(net, p) if found is None else read_dump(Path(net), found, None, None)[1]


_rows = {row["name"]: row for row in mappings()}
_joint = [p for p in _rows["map_with_routing"]["params"] if p["name"] in OF_ROUTING]
_map = {**_rows["map_processes"], "params": _rows["map_processes"]["params"] + _joint}
for _name, _command in (
    ("map", command("map", _map, ("with_routing", WithRouting, False))),
    ("map-eval", command("map-eval", _rows["evaluate_mapping"])),
):
    app.command(_name, epilog=epilog(*EXAMPLES[_name]))(_command)
