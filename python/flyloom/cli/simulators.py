"""Commands of simulators, made from the table: sim flit, sim packet, sim message."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flyloom._core import message_schema, simulators
from flyloom.cli import completion
from flyloom.cli.busiest import BusiestCsv, busiest_csv, of_points
from flyloom.cli.common import (
    NET_HELP,
    Json,
    Layers,
    Lmc,
    Options,
    P,
    Tables,
    Width,
    app,
    check_picture,
    epilog,
    load_tables,
    parsed,
    parsed_options,
)
from flyloom.cli.parameters import TYPES, Taken, flag, options_of, said, several, signed
from flyloom.cli.places import Costs, OverEngine, costs_of
from flyloom.cli.simulated import SHOWN, write_csv

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
    typer.Option("-o", "--out", help="file: charts as .svg, .png, .pdf or .html, or .json for all"
                                     " that is found"),
]
TimelineOutput = Annotated[
    Path | None,
    typer.Option("-o", "--out", help="file: a timeline as .svg, .png, .pdf or .html, trace"
                                     " events for Perfetto as .perfetto.json, or .json for all"
                                     " that is found"),
]
Threads = Annotated[
    int | None, typer.Option(help="processors to use; the result is the same with any number")
]
def settings_of(level: str) -> Any:
    """``--set`` of a simulator, whose parameters are completed."""
    option = typer.Option("--set", metavar="KEY=VALUE",
                          autocompletion=completion.setting(level),
                          help="a parameter of a table, such as switch.virtual_channels=4 or"
                               " link.latency_ns=25; more may follow")
    return Annotated[list[str] | None, option]


EXAMPLES = {
    "flit": (
        "flyloom sim flit slim_fly:q=5,p=4 --selection ugal_l --load 0.1:0.9:0.2",
        "flyloom sim flit slim_fly:q=5,p=4 --selection minimal,ugal_l"
        " --traffic uniform,worst_case --seeds 3 --load 0.1:0.4:0.1"
        " --set switch.virtual_channels=4",
        "flyloom sim flit slim_fly:q=5,p=4 --engine dfsssp --load 0.5",
        "flyloom sim flit torus:shape=4x4,p=1 --load 0.2 --set switch.virtual_channels=8"
        " run.measure_cycles=1000",
    ),
    "packet": (
        "flyloom sim packet slim_fly:q=5,p=4 --selection minimal,valiant --seeds 3"
        " --set switch.virtual_channels=4 --messages 50",
        "flyloom sim packet slim_fly:q=5,p=4 --load 0.1:0.9:0.2 --selection adaptive"
        " --set switch.virtual_channels=8",
        "flyloom sim packet fit_fly:q=13,p=9 --dialect codes-slimfly-v1 --selection adaptive"
        " --load 0.5 --sync threads --threads 2",
        "flyloom sim packet slim_fly:q=5,p=4 --workload 'amg_like p=4 levels=2 base_bytes=16384'"
        " --placement random --background 'ranks=60 intensity=0.1 interval_ns=10000'",
        "flyloom sim packet slim_fly:q=5,p=4 --engine dfsssp --messages 100 --message-bytes 65536"
        " --set link.latency_ns=50",
        "flyloom sim packet slim_fly:q=5,p=4 --load 0.9 --traffic-class 'share=4'"
        " --traffic-class 'share=1 message_bytes=512 priority=1'",
        "mpiexec -n 2 flyloom sim packet slim_fly:q=13,p=9 --sync mpi",
    ),
    "message": (
        "flyloom sim message --workload allreduce.goal",
        "flyloom sim message --workload allreduce.bin --dialect loggops-v1 --L 1500 --o 300"
        " --ranks t.csv",
        "flyloom sim message slim_fly:q=5,p=4 --workload 'alltoall_pairwise bytes=65536'",
        "flyloom sim message fat_tree:levels=3,k=8 --engine ftree --workload a.goal"
        " --placement random --seed 3 --set switch.delay_ns=200",
        "flyloom sim message hyperx:shape=4x4,p=4 --selection spread,ugal_g"
        " --workload 'allreduce_recursive_doubling bytes=100000'",
    ),
}
"""Lines that run each command."""
TRACE = ".perfetto.json"
"""How the name of a file of trace events ends."""
COSTS: dict[str, dict[str, Any]] = {
    letter: row for letter, row in message_schema()["$defs"]["CostSpec"]["properties"].items()
    if letter != "preset"
}
"""Parameters of the message level's table of costs, which are options of their own."""
INTO_FILES = {
    "links": "write what went over every link, both directions: from, to, plane, bytes, use",
    "ranks": "write when every process is done",
}
"""Columns of results that a command writes as CSV."""


def command(level: str, row: dict[str, Any]) -> Callable[..., None]:
    """The command of a simulator: its parameters as options."""
    takes = [*network_options(level), *options_of(listed(level, row))]
    taken = {name for name, _, _ in takes}
    files = ("links", "ranks") if level == "message" else [n for n in INTO_FILES if n in taken]
    takes = [option for option in takes if option[0] not in files]
    if level == "message":  # with letters as options of their own
        takes = [option for option in takes if option[0] != "costs"]
    for name in files:
        kind = Annotated[Path | None, typer.Option(metavar="FILE.csv", help=INTO_FILES[name])]
        takes.append((name, kind, None))
    if level == "message":
        takes += list(message_options())
    if level == "packet":
        takes.append(("csv", BusiestCsv, None))
    takes += [("setting", settings_of(level), None), ("threads", Threads, None), ("p", P, None),
              ("output", TimelineOutput if level == "message" else Output, None),
              ("width", Width, None), ("as_json", Json, False)]
    takes += list(old_options(row, {name for name, _, _ in takes}))

    def run(**given: Any) -> None:
        written = {name: given.pop(name) for name in files}
        simulate_and_show(level, row, written, given)

    return signed(run, takes, " ".join(row["doc"].split("\n\n")[0].split()))


def listed(level: str, row: dict[str, Any]) -> dict[str, Any]:
    """The row of a simulator whose help says which parameters may be several."""
    names = ("selection", "workload" if level == "message" else "traffic")
    params = [
        {**one, "doc": f"{one['doc'].rstrip('.')}; several with commas: each is run"}
        if one["name"] in names else one for one in row["params"]
    ]
    return {**row, "params": params}


def network_options(level: str) -> Taken:
    """The network, and how it is routed."""
    if level == "message":
        source: Any = typer.Argument(metavar="[TABLES|NET]", show_default=False,
                                     help=f"{NET_HELP}; or a folder of `route -o`",
                                     autocompletion=completion.tables)
        yield "source", Annotated[str | None, source], None
        yield "net", Annotated[str | None, typer.Option("--net", hidden=True)], None
    else:
        yield "source", Tables, inspect.Parameter.empty
    yield "engine", OverEngine, None
    yield "lmc", Lmc, None
    yield "layers", Layers, None
    yield "option", Options, None


def cost_name(letter: str) -> str:
    """The option of a cost by a name that no other letter's has, whatever their case."""
    return f"cost_{'of_' if letter.isupper() else ''}{letter.lower()}"


def message_options() -> Taken:
    """Costs as options of their own, and the critical path."""
    yield "costs", Costs, None
    for letter, row in COSTS.items():
        number: Any = int if "integer" in row["type"] else float
        option = typer.Option(f"--{letter}", help=said(row["description"]))
        yield cost_name(letter), Annotated[number | None, option], None
    path = typer.Option("--critical-path", help="what the run spends its time on")
    yield "critical_path", Annotated[bool, path], False


def old_options(row: dict[str, Any], taken: set[str]) -> Taken:
    """Options by the names that parameters had in the version before."""
    for old, new in row["renamed"]:
        if "." in old or "." in new or old in taken:
            continue
        kind = next((p["type"] for p in row["params"] if p["name"] == new), "dict")
        if kind == "dict":
            continue
        type_ = list[str] if several(kind) else TYPES.get(kind, str)
        option = typer.Option(f"--{flag(old)}", hidden=True)
        yield f"old_{old}", Annotated[type_ | None, option], None


def simulate_and_show(
    level: str, row: dict[str, Any], files: dict[str, Path | None], given: dict[str, Any]
) -> None:
    """Runs a simulator, writes what is to be written, prints what it found."""
    from flyloom.ranks import ALONE, join
    from flyloom.support.progress import bars
    from flyloom.verbs.simulation import room_for, simulate, spec_of

    output, width, as_json, p = (
        given.pop(name) for name in ("output", "width", "as_json", "p"))
    csv = given.pop("csv", None)
    check_output(output, level, width)
    check_ranks(files.get("ranks"))
    how = {name: given.pop(name) for name in ("engine", "lmc", "layers", "threads")}
    how["engine_options"] = parsed_options(given.pop("option"))
    settings = parsed_options(given.pop("setting"), "the simulator", (), "--set")
    name = given.pop("source")
    if level == "message":
        name = of_message(name, files, given)
        how["critical_path"] = given.pop("critical_path") or output is not None
    parameters = parameters_of(row, given)
    settings |= {key: True for key, path in files.items() if path and level != "message"}
    with by_options({*parameters, *how}):
        spec = spec_of(level, settings, parameters)
        check_timeline(level, spec, output)
        with join() if spec.get("sync") == "mpi" else ALONE as team:
            with team.together(), room_for(level, spec):
                source = None if name is None else load_tables(name, p)
            with bars() as bar:
                found = simulate(
                    source, level, settings=settings, progress=bar, **how, **parameters,
                ).to_dict()
    if team.rank > 0:
        return  # rank 0 speaks and writes
    for key, path in files.items():
        if path is not None:
            write_csv(found, key, path)
    if csv is not None:
        busiest_csv(of_points(found), "use", csv)
    end(level, found, (output, width), source, as_json, silent=csv == "-")


def check_output(output: Path | None, level: str, width: float | None = None) -> None:
    """Refuses a file that is none of what the simulator of a level writes, by its name's end."""
    from flyloom._core import RefusalError

    if output and output.suffix == ".perfetto" and level == "message":
        raise RefusalError(f"-o {output}: write -o {output}.json for trace events of Perfetto")
    check_picture(output, ".json", width=width)
    if output and is_trace(output) and level != "message":
        raise RefusalError(f"-o {output}: trace events are of sim message; another name")


def check_ranks(file: Path | None) -> None:
    """Refuses the name of a placement where ``--ranks`` takes a file to write."""
    from flyloom._core import RefusalError
    from flyloom.plugins import lists

    if file and str(file) in {row["name"] for row in lists.rows("placements")}:
        raise RefusalError(f"--ranks {file}: a file that is written, when every process is done;"
                           f" which endpoint each is on is --placement {file}")


def check_timeline(level: str, spec: dict[str, Any], output: Path | None) -> None:
    """Refuses the picture of several runs of messages: a timeline is of one."""
    from flyloom._core import RefusalError
    from flyloom.inputs.several import each_of

    if level != "message" or not output or (output.suffix == ".json" and not is_trace(output)):
        return
    if len(each_of(spec, level)) > 1:
        raise RefusalError(f"--out: {output}: a timeline is of one run; give one selection and one"
                           " workload, or a file that ends in .json")


def is_trace(output: Path) -> bool:
    """Whether the name of a file asks for trace events, as Perfetto opens them."""
    return output.name.endswith(TRACE)


@contextmanager
def by_options(asked: Collection[str]) -> Iterator[None]:
    """Within this block a refusal of a parameter that was given as an option names the option."""
    from flyloom._core import RefusalError

    try:
        yield
    except RefusalError as error:
        name, colon, why = str(error).partition(":")
        if name == "pattern" and "traffic" in asked:
            name = "traffic"
        if colon and name in asked:
            raise RefusalError(f"--{flag(name)}:{why}") from None
        raise


def of_message(
    source: str | None, files: dict[str, Path | None], given: dict[str, Any]
) -> str | None:
    """The network of a run of messages; puts costs into ``given``, old options into new ones."""
    from flyloom._core import RefusalError
    from flyloom.inputs import rates
    from flyloom.support import renamed
    from flyloom.verbs.simulation import NO_NETWORK

    if (net := given.pop("net")) is not None:
        renamed.note("sim message", "--net", "NET")
        source = net
    costs = {}
    for letter in COSTS:
        value = given.pop(cost_name(letter))
        if value is not None:
            costs[letter] = value
    if (name := given.pop("costs")) is not None:
        costs = {**costs_of(name), **costs}
    if costs:
        given["costs"] = costs
    if given.get("workload") is None and given.get("old_goal") is None:
        from flyloom.verbs.simulation import NO_WORKLOAD

        raise RefusalError(f"--{NO_WORKLOAD}")
    if files["links"] and source is None:
        raise RefusalError("--links: of a network; give one")
    if source is None and rates.asked:
        raise RefusalError(f"--{NO_NETWORK}")
    return source


def parameters_of(row: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """The parameters that were given, with Python's values; options by old names keep their old
    names."""
    types = {parameter["name"]: parameter["type"] for parameter in row["params"]}
    renames = dict(row["renamed"])
    found = {}
    for name, value in given.items():
        if value is None or value is False or value == []:
            continue
        old = name.removeprefix("old_")
        kind = types.get(renames.get(old, old), "dict") if name != old else types[name]
        if isinstance(value, list) and "dict" in kind:
            value = [table_of(old, words) for words in value]
        elif isinstance(value, list) and kind == "list[int]":
            value = [parsed(word) for words in value for word in words.split(",")]
        elif isinstance(value, str) and kind not in TYPES:
            value = parsed(value)
        found[old] = value
    return found


def table_of(name: str, words: str) -> dict[str, Any]:
    """A table as one word of the command line: ``share=3 traffic=shift:5``, ``ranks=9,bytes=8``."""
    parts = words.split() if len(words.split()) > 1 else re.split(r",(?=[a-z_]+=)", words)
    return parsed_options(parts, "a table", (), f"--{flag(name)}")


def end(
    level: str, found: dict[str, Any], into: tuple[Path | None, float | None],
    source: Topology | str | None, as_json: bool, silent: bool = False,
) -> None:
    """Writes what a simulator found where that is asked for, ``into`` a file with a width of its
    chart, and prints it but where that is to be ``silent``."""
    output, width = into
    shown = without_arrays(found) if level == "message" else found
    if output:
        write(level, found, json.dumps(shown), (output, width), source)
    if silent:
        return
    if as_json:
        print(json.dumps(shown))
        return
    SHOWN[level](shown)
    if output:
        print(f"written to {output}")


def without_arrays(found: dict[str, Any]) -> dict[str, Any]:
    """What messages took, without the columns of ranks, links and the path."""
    if curves := found.get("curves"):
        return {**found, "curves": [without_arrays(curve) for curve in curves]}
    shown = {key: value for key, value in found.items() if key not in ("rank_finish_ns", "links")}
    if path := shown.pop("critical_path", None):
        shown["critical_path"] = {key: path[key] for key in ("parts_ns", "derivatives")}
    return shown


def write(
    level: str, found: dict[str, Any], text: str, into: tuple[Path, float | None],
    source: Topology | str | None,
) -> None:
    """Writes what a simulator found as a picture, a page or JSON (``text``), by the name's end."""
    from flyloom.inputs.tables import topology_of
    from flyloom.report import flit_page, packet_page, timeline_page, trace_events
    from flyloom.support.files import write_whole
    from flyloom.verbs.routes import routed_or_not

    output, width = into
    if is_trace(output):
        write_whole(output, trace_events.text(found))
    elif output.suffix == ".json":
        write_whole(output, text + "\n")
    elif level == "message":
        on = None if source is None else topology_of(routed_or_not(source, None)).recipe
        timeline_page.picture(found, on).save(output, width_mm=width)
    else:
        pages = flit_page if level == "flit" else packet_page
        known = None if source is None else lambda: topology_of(routed_or_not(source, None))
        pages.picture(found, known).save(output, width_mm=width)


for _row in simulators():
    _level = _row["name"].partition(".")[2]
    sims.command(_level, epilog=epilog(*EXAMPLES[_level]))(command(_level, _row))
