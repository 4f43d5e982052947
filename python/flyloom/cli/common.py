"""What all commands share: the application, its common options, how results are printed."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperOption
from typer.main import get_click_type

from flyloom.cli import completion
from flyloom.cli.listing import CommandGroup

if TYPE_CHECKING:
    from flyloom._core import Routing, Topology
    from flyloom.support.progress import Progress

app = typer.Typer(
    name="flyloom",
    help="Design, lay out, route, prove, deploy and compare interconnect networks.",
    cls=CommandGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


PLUGIN_HELP = "Python file with topologies, engines or measures of yours (may be given again)"


def load_plugins(_context: object, _option: object, files: list[str] | None) -> list[str]:
    """Makes the parts of Python files known before anything asks for them; gives the files back,
    as typer 0.18 and older have a list of every option that takes several words."""
    for file in files or ():
        from flyloom.plugins.found import load_file

        load_file(file)
    return list(files or ())


def say_version(wanted: bool) -> None:
    """Prints the version and stops, where it is asked for."""
    if wanted:
        from flyloom._core import __build__, __version__

        print(f"flyloom {__version__}{'' if __build__ == 'release' else f' ({__build__} build)'}")
        raise typer.Exit


@app.callback()
def main(
    _plugin: Annotated[
        list[str] | None,
        typer.Option("--plugin", metavar="FILE.py", help=PLUGIN_HELP, callback=load_plugins),
    ] = None,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=say_version, is_eager=True,
                     help="Show the version and exit."),
    ] = False,
) -> None:
    """Makes the first word a command's name, also where only one command is loaded."""
    from flyloom.support import machine

    machine.tell = True


SETTING = re.compile(r"[a-z_][a-z0-9_.]*=")
"""The start of a setting; an inline form of a network has a colon before its first = instead."""

BEFORE = {
    "structure": {"--load": "--channel-load"},
    "verify": {"--network": "--found", "--levels": "--path-records"},
    "lanes": {"--method": "--lanes"},
    "figure": {"-n": "--net"},
    "search": {"-n": "--order"},
}
"""Former names of options, by command, with the names of today."""
RENAMED = {
    "message": {"--loggp": "--costs", "--channels": "--links"},
    "ebb": {"--patterns": "--samples"},
    "congestion": {
        "--runs": "--samples", "--ranks": "--placement", "--order": "--placement",
    },
    "compare-routing": {"--patterns": "--samples"},
    "measure": {"--rounds": "--samples"},
    "verify-cables": {"--draw": "--out"},
    "figure": {"--network": "--net"},
    "map": {"--page": "--out"},
    "map-eval": {"--page": "--out"},
}
"""The same, of names that are read in this version only, which a note says."""
SAME = {
    name: {"--seeds": "--samples"}
    for name in ("ebb", "congestion", "compare-routing", "resilience", "compare", "published")
}
"""Words of simulators for what these commands have another name for."""
SIMULATORS = ("flit", "packet", "message")
"""Commands of `sim`."""
NOW = {"search": ("-k", "--radix")}
"""Options beside which a word is not an old name: in `search -n 128 -k 24`, -n is endpoints."""


def name_devices(_context: object, _option: object, file: str | None) -> None:
    """Makes every network file that is read use the names of a node name map."""
    if file:
        from flyloom.inputs import names

        names.asked.append(file)


NAMES_HELP = "node name map of OpenSM: names of a network file's devices by node GUID"
DEVICES = {
    "keep": ("KIND|NAME", "devices of a discovered fabric that are endpoints beside its hosts:"
             " router, aggregation, gateway, manager, storage, or names as in oss*"),
    "only": ("KIND|NAME", "the only devices of a discovered fabric that are endpoints"),
    "adapters": ("WORD", "of hosts with several: each (default), joined (one endpoint with rails),"
                 " first, or a name as in mlx5_0"),
}
"""Options of every command that reads networks: the word for the value, and the help."""


def _device_option(key: str) -> TyperOption:
    """The option that says which devices of fabrics are endpoints."""
    metavar, text = DEVICES[key]
    return TyperOption(
        param_decls=[f"--{key}"], metavar=metavar, help=text, multiple=key != "adapters",
        expose_value=False, callback=_choose_devices,
    )


def _choose_devices(_context: object, option: Any, given: Any) -> None:
    """Applies the choice to every fabric that is read."""
    if not given:
        return
    from flyloom.inputs import devices

    if option.name == "adapters":
        devices.asked["adapters"] = given
    else:
        listed = (part.strip() for words in given for part in words.split(","))
        devices.asked[option.name] = [word for word in listed if word]


RATED = ("design", "export", "packet", "message", "best", "measure")
"""Commands whose answer depends on the rate of the network that they read."""


def _rate_networks(_context: object, _option: object, gbps: float | None) -> None:
    """Gives every network that is read cables of this rate."""
    if gbps is not None:
        from flyloom.inputs import rates

        rates.asked.append(rates.number(gbps))


def _rate_option() -> TyperOption:
    """The option that says the rate of the network's cables."""
    return TyperOption(
        param_decls=["--gbps"], metavar="RATE", type=float, expose_value=False,
        help="rate of every link, Gbit/s; slower cables of a file keep their part of it; default:"
             " what the network says, as in slim_fly:q=5,gbps=400", callback=_rate_networks,
    )


def _read_units(param: Any) -> None:
    """Lets an option of whole numbers read units, too: ``10k``, ``64KiB``."""
    if type(param.type).__name__ == "IntParamType":
        from flyloom.support.checks import whole_number

        how = typer.Option(parser=whole_number)
        param.type = get_click_type(annotation=int, parameter_info=how)
        param.metavar = param.metavar or "<int>"


class _Command(TyperCommand):
    """A command that takes ``--plugin``, as the program does, and options by their old names; where
    it reads network files ``--names``, too."""

    def __init__(self, name: str | None, **given: Any) -> None:
        super().__init__(name, **given)
        for param in self.params:
            _read_units(param)
        self.params.append(TyperOption(
            param_decls=["--plugin"], metavar="FILE.py", help=PLUGIN_HELP, multiple=True,
            expose_value=False, is_eager=True, callback=load_plugins,
        ))
        if any("-p" in param.opts or param.name == "fabric" for param in self.params):
            self.params.append(TyperOption(
                param_decls=["--names"], metavar="FILE", help=NAMES_HELP, expose_value=False,
                is_eager=True, callback=name_devices,
            ))
            own = {word for param in self.params for word in param.opts}  # `measure --keep FILE`
            self.params += [_device_option(key) for key in DEVICES if f"--{key}" not in own]
            if self.name in RATED:
                self.params.append(_rate_option())

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Reads the words of the command."""
        before, now = BEFORE.get(self.name or "", {}), NOW.get(self.name or "")
        if now and any(word.startswith(now) for word in args):
            before = {}
        split = [word.partition("=") for word in one_each(args)]
        renames = RENAMED.get(self.name or "", {})
        for old in sorted({word for word, _, _ in split} & renames.keys()):
            from flyloom.support import renamed

            where = f"sim {self.name}" if self.name in SIMULATORS else str(self.name)
            renamed.note(where, old, renames[old])
        before = {**before, **renames, **SAME.get(self.name or "", {})}
        return super().parse_args(ctx, [before.get(k, k) + equals + v for k, equals, v in split])

    def invoke(self, ctx: Any) -> Any:
        """Runs the command where all that it is to write can be written: what a long run has found
        is not lost for a name that is no place."""
        for param in self.params:
            place = ctx.params.get(param.name or "")
            named = OUTPUTS.intersection(param.opts) and param.type.name == "path"
            if place and (named or "--csv" in param.opts):  # --csv takes a word: `-` prints it
                for one in place if isinstance(place, (list, tuple)) else [place]:
                    _check_place(Path(one), param)
        return super().invoke(ctx)


OUTPUTS = {
    "--out", "--ranks", "--tables", "--keep", "--links", "--message-counts",
    "--learn-guids", "--proof", "--resume", "--goal", "--failed-links", "--estimate-file",
}
"""Options of what is written, where they take a path."""


def _check_place(place: Path, param: Any) -> None:
    """RefusalError where ``place``, of an option, cannot be written, as far as can be seen."""
    from flyloom.inputs.workloads import is_run_folder
    from flyloom.support import files

    folder = param.metavar == "DIR" or re.match(r"(with --\w+: )?folder", param.help or "")
    if is_run_folder(place) or (folder and (place.suffix != ".dot" or place.is_dir())):
        files.check_folder(place)
    elif str(place) != "-":
        files.check_file(place)


def one_each(args: Sequence[str]) -> list[str]:
    """The words with a ``--set`` before each of the settings that follow one: ``--set a=1 b=2``.

    What comes after ``--`` is another program's.
    """
    words: list[str] = []
    for at, word in enumerate(args):
        if word == "--":
            return [*words, *args[at:]]
        if words[-2:-1] == ["--set"] and SETTING.match(word):
            words.append("--set")
        words.append(word)
    return words


def take_plugins(commands: typer.Typer = app) -> None:
    """Gives every command that is loaded the option ``--plugin``."""
    for command in commands.registered_commands:
        command.cls = _Command
    for group in commands.registered_groups:
        if group.typer_instance:
            take_plugins(group.typer_instance)


NET_HELP = "inline form (slim_fly:q=5,p=4), spec file (.toml) or network file"
Net = Annotated[
    str,
    typer.Argument(metavar="NET", help=NET_HELP, show_default=False,
                   autocompletion=completion.network),
]
P = Annotated[
    int | None,
    typer.Option("-p", "--endpoints-per-switch", help="for files that have no endpoints"),
]
Json = Annotated[bool, typer.Option("--json", help="one JSON document on standard output")]
Engine = Annotated[
    str,
    typer.Option("--engine", "-e", autocompletion=completion.engine,
                 help="engine (flyloom list engines); opensm:NAME for OpenSM's own"),
]
Found = Annotated[
    Path | None,
    typer.Option("--found", show_default=False, autocompletion=completion.found,
                 help="ibnetdiscover output of the fabric of a dump_fts file"),
]
Objective = Annotated[
    str,
    typer.Option(autocompletion=completion.choice("congestion", "hops"),
                 help="what is to be small: congestion or hops"),
]
MapEffort = Annotated[
    str,
    typer.Option(autocompletion=completion.choice("fast", "normal", "best"),
                 help="how much is tried: fast, normal or best"),
]
MpiProgram = Annotated[
    list[str] | None,
    typer.Argument(metavar="[--] PROGRAM ARGUMENT...", show_default=False,
                   help="what starts the MPI program: mpirun, mpiexec, srun, a script"),
]
Tables = Annotated[
    str,
    typer.Argument(metavar="TABLES|NET", show_default=False, autocompletion=completion.tables,
                   help="folder of `route -o`, a digraph of ORCS, or a network"),
]
AnyEngine = Annotated[
    str | None,
    typer.Option("--engine", "-e", show_default=False, autocompletion=completion.engine,
                 help="engine (flyloom list engines); opensm:NAME for OpenSM's own; default: the"
                      " tables of the file where it has some, else dfsssp (of `lanes`: sssp)"),
]
Lmc = Annotated[
    int | None, typer.Option(help="LID mask control, 0 to 7: 2^LMC routes to every endpoint")
]
Layers = Annotated[int | None, typer.Option(help="routes to every endpoint, 1 to 128")]
NewLids = Annotated[
    bool, typer.Option("--new-lids", help="LIDs of the fabric that do not fit the LMC may move")
]
LANES_HELP = (
    "how routes get their lanes: online, lightest, heaviest, random or hops, also with parameters"
    " (random:seed=1,max_lanes=4)"
)
Lanes = Annotated[
    str | None,
    typer.Option("--lanes", metavar="METHOD", help=LANES_HELP, autocompletion=completion.lanes),
]
Options = Annotated[
    list[str] | None,
    typer.Option("--option", "-O", help="KEY=VALUE, an option of the engine",
                 autocompletion=completion.engine_option),
]

Catalog = Annotated[
    list[str] | None,
    typer.Option("--catalog", metavar="NAME", autocompletion=completion.catalog,
                 help="name (flyloom catalog list) or TOML file; default: the newest"),
]
Include = Annotated[
    str | None,
    typer.Option("--include", metavar="ITEM,ITEM",
                 autocompletion=completion.several("network", "endpoint_cables", "adapters",
                                                   "energy"),
                 help="what totals add up: network, endpoint_cables, adapters, energy (of a year);"
                      " default: network,endpoint_cables"),
]
Gbps = Annotated[
    float | None,
    typer.Option(help="rate of every link, Gbit/s; default: what the network says, else the"
                      " catalogue's"),
]
Server = Annotated[
    str | None,
    typer.Option("--server", metavar="NAME", autocompletion=completion.server,
                 help="the catalogue's server that endpoints are in: its height, adapters and power"
                      " (flyloom catalog show)"),
]
Protocol = Annotated[
    str | None,
    typer.Option("--protocol", metavar="infiniband|ethernet",
                 autocompletion=completion.choice("infiniband", "ethernet"),
                 help="what switches, cables and adapters speak; default: what the cheapest switch"
                      " does"),
]
EnergyYears = Annotated[
    float | None,
    typer.Option("--energy-years", help="years whose energy the total adds up"),
]
UsdPerKwh = Annotated[
    float | None, typer.Option("--usd-per-kwh", help="price of energy; default: the catalogue's")
]
Pue = Annotated[
    float | None,
    typer.Option("--pue", help="power of the whole room over that of its machines (power usage"
                               " effectiveness); default: the catalogue's"),
]
Spare = Annotated[
    float | None,
    typer.Option("--spare", help="parts to buy beyond those needed, as a fraction; default: none"),
]
Quotation = Annotated[
    Path | None,
    typer.Option("--quotation", metavar="FILE.csv", autocompletion=completion.csv,
                 help="a vendor's quotation: its prices in place of the catalogue's"),
]
Limit = Annotated[
    float | None, typer.Option("--electric-limit", help="longest electric cable, metres")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="say what would be done; do nothing")
]
Rules = Annotated[
    Path | None,
    typer.Option("--rules", help="TOML file with rules of the floor",
                 autocompletion=completion.toml),
]


Radixes = Annotated[
    str,
    typer.Option("--radix", "-k", metavar="K,K",
                 help="ports of a switch, at most; of several, networks for each"),
]
Oversubscriptions = Annotated[
    str, typer.Option("--oversubscription", metavar="R,R",
                      help="endpoints for each one that full bandwidth has room for; of several,"
                           " networks for each")
]
Budget = Annotated[
    str | None,
    typer.Option(metavar="USD", help="US dollars to spend (5e6, 1.5M): what costs more is left out;"
                                     " `size` without --endpoints: the most endpoints for it"),
]
Planes = Annotated[
    int | None,
    typer.Option(help="planes, 1 to 64: a rail of every endpoint in each; default: what each family"
                      " has by itself"),
]
Sort = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", autocompletion=completion.column,
                 help="best first by this column (a heading, or a key of"
                      " --json); default: $/endpoint, else diameter"),
]
Top = Annotated[int | None, typer.Option(help="only this number of rows, the first")]
CsvFile = Annotated[
    str | None,
    typer.Option("--csv", metavar="FILE", help="the table as CSV into a file, or - for standard"
                                               " output instead of the table"),
]
MOST_ENDPOINTS = 1 << 40
MOST_USD = 10**12


def endpoints_of(text: str | None) -> int | None:
    """The number that ``--endpoints`` says: ``10000``, ``10k``, ``1.5M``; RefusalError if none."""
    from flyloom.support.checks import count

    return None if text is None else count("--endpoints", text, 1, MOST_ENDPOINTS)


def dollars_of(text: str | None) -> float | None:
    """The amount that ``--budget`` says: ``5e6``, ``1.5M``; RefusalError if none."""
    from flyloom.support.checks import amount

    return None if text is None else float(amount("--budget", text, 1, MOST_USD))


def whole_numbers(option: str, text: str) -> list[int]:
    """Whole numbers between commas; RefusalError naming `option` for anything else."""
    from flyloom._core import RefusalError
    from flyloom.support.checks import whole_number

    try:
        return [whole_number(word.strip()) for word in text.split(",") if word.strip()]
    except ValueError:
        raise RefusalError(
            f"{option}: '{text}' is no list of whole numbers; write 36,48,64"
        ) from None


def separated(text: str) -> list[str]:
    """Words between commas."""
    return [word.strip() for word in text.split(",") if word.strip()]


def write_csv(to: str, text: str) -> None:
    """The text into a file, whole or not at all, or to standard output where ``to`` is ``-``."""
    from flyloom.support.files import write_whole

    if to == "-":
        print(text, end="")
    else:
        write_whole(Path(to), text)


def epilog(*lines: str) -> str:
    """Examples at the end of a command's help, each in a line of its own."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def one_catalog(given: list[str] | None) -> str | None:
    """The catalogue of ``--catalog``; RefusalError where two are given: their prices do not mix."""
    from flyloom._core import RefusalError

    if given and len(given) > 1:
        raise RefusalError(
            f"--catalog: {' and '.join(given)} are given; prices of several catalogues do not "
            "compare, give one"
        )
    return given[0] if given else None


def emit(document: dict[str, Any], as_json: bool, lines: list[tuple[str, Any]]) -> None:
    """Prints the document as JSON, or the lines as an aligned table."""
    if as_json:
        print(json.dumps(document))
        return
    width = max(len(name) for name, _ in lines)
    for name, value in lines:
        print(f"{name:<{width}}  {shown(value)}")


def show_warnings(found: dict[str, Any]) -> None:
    """Prints each warning about a plan on a line, then each hint."""
    for warning in found["warnings"]:
        print(f"warning: {warning}")
    for hint in found["hints"]:
        print(f"hint: {hint}")


def print_table(
    header: Sequence[str], rows: Sequence[Sequence[Any]], left: Collection[int] = ()
) -> None:
    """Prints rows under a header: inline forms and the columns ``left`` to the left."""
    cells = [list(header), *([shown(value) for value in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    words = [i in left or any(":" in str(row[i]) for row in rows) for i in range(len(header))]
    for row in cells:
        columns = zip(row, widths, words, strict=True)
        print("  ".join(f"{c:<{w}}" if word else f"{c:>{w}}" for c, w, word in columns).rstrip())


def shown(value: Any) -> str:
    """A value in readable form."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value + 0:.6g}"  # minus zero is zero
    return f"{value:,}" if isinstance(value, int) else str(value)


def load_network(net: str, p: int | None) -> Topology:
    """The network of the argument NET, with ``p`` endpoints a switch."""
    from flyloom.inputs.networks import network

    return network(net, p)


def tell_of_netlist(topology: Topology, path: Path) -> None:
    """Says on standard error what a netlist at ``path`` has in another form than the network."""
    if topology.netlist_remark:
        print(f"{path}: {topology.netlist_remark}", file=sys.stderr)


def load_tables(net: str, p: int | None) -> Topology | str:
    """What the argument NET|TABLES is: a folder of tables as it is, else the network with ``p``
    endpoints a switch."""
    from flyloom.inputs.tables import holds_tables

    return net if holds_tables(net) else load_network(net, p)


def make_routing(
    topology: Topology, engine: str, lmc: int | None, layers: int | None,
    options: list[str] | None, bar: Progress | None, lanes: str | None = None,
    new_lids: bool | None = None,
) -> Routing:
    """The tables of the engine that the options of a command ask for; ``new_lids`` as of
    :func:`flyloom.route`."""
    from flyloom._core import RefusalError
    from flyloom.verbs.routes import route

    if lmc == 0:
        topology.with_new_lids(0)  # an LMC needs LIDs, of which there may be too few
    asked = parsed_options(options)
    if lanes is not None:
        if "lanes" in asked:
            raise RefusalError("--lanes: given twice; --lanes or --option lanes=")
        asked["lanes"] = lanes
    return route(
        topology, engine, lmc=lmc, layers=layers, new_lids=new_lids, progress=bar, **asked
    )


def engine_name(routing: Routing, asked: str) -> str:
    """The engine to show: tables read back from OpenSM do not know which engine made them."""
    return asked if asked.startswith("opensm:") else routing.engine


ENGINE_TAKEN = ("source", "engine", "lmc", "layers", "progress")
"""Options of commands that route, and so none of an engine."""


def parsed_options(
    options: list[str] | None, of: str = "an engine", taken: Collection[str] = ENGINE_TAKEN,
    flag: str = "--option",
) -> dict[str, Any]:
    """KEY=VALUE words of ``flag`` as a dictionary; values are JSON where they can be, else text.

    RefusalError for a word that is none, for a key that comes twice or is one of ``taken``.
    """
    from flyloom._core import RefusalError

    found = {}
    for word in options or []:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise RefusalError(f"{flag} {word}: not KEY=VALUE")
        if key in taken or key in found:
            raise RefusalError(f"{flag} {word}: not an option of {of}, or given twice")
        found[key] = parsed(value)
    return found


def parsed(text: str) -> Any:
    """What a word on the command line says: JSON or a number with a unit where it can be, else
    text."""
    from flyloom.support.checks import with_unit

    if (number := with_unit(text)) is not None:
        return number
    try:
        value = json.loads(text)
        json.dumps(value, allow_nan=False)
    except ValueError:
        return text
    return value


PICTURES = (".svg", ".png", ".pdf", ".html")


Width = Annotated[
    float | None,
    typer.Option("--width", metavar="MM", show_default=False,
                 help="of -o, a chart of this width with letters of 9 points, as a figure of a"
                      " paper: 89 is a column of many, 180 a page"),
]


def check_picture(output: Path | None, *more: str, width: float | None = None) -> None:
    """RefusalError where the name of the file to draw into ends in none of ``PICTURES``, nor in
    one of ``more``, or the file cannot have the ``width``."""
    from flyloom._core import RefusalError

    ends = (*PICTURES, *more)
    if output and output.suffix not in ends:
        raise RefusalError(f"-o {output}: no picture; a name that ends in {', '.join(ends)}")
    if width is None:
        return
    from flyloom.report.fitted import check_width

    check_width(width)
    if output is None or output.suffix not in PICTURES[:-1]:
        raise RefusalError(f"--width: of charts; -o FILE that ends in {', '.join(PICTURES[:-1])}")


def write_picture(
    path: Path, spec: Mapping[str, Any], page: Callable[[], str], width: float | None = None
) -> None:
    """Writes a chart as a picture, ``width`` mm wide where that is given, or as the page that
    ``page`` gives, by the end of the name."""
    from flyloom.report.picture import Picture

    Picture(spec, page=page).save(path, width_mm=width)
