"""An option has one meaning: the same kind of value and the same subject on every command."""

from __future__ import annotations

import importlib
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from cli_helpers import flyloom
from flyloom.cli import GROUPS
from flyloom.cli.common import BEFORE, OUTPUTS, app

SHARED = {
    # option: the kind of its value, what the help of each says
    "--catalog": ("text, repeated", "name .* or TOML file"),
    "--concentration": ("text", "^endpoints per switch"),
    "--csv": ("text", "table as CSV"),
    "--dialect": ("text", "^rules|^by which rules|^the model"),
    "--dry-run": ("flag", "^say what would be done; do nothing$"),
    "--effort": ("text", "^how much is tried"),
    "--endpoints": ("text", r"\bendpoints\b"),
    "--endpoints-per-switch": ("whole number", "for files that have no endpoints"),
    "--energy-years": ("number", "^years whose energy"),
    "--engine": ("text", r"\bengine\b"),
    "--engines": ("text", "^engines, with commas"),
    "--families": ("text", "^families"),
    "--found": ("file", "^ibnetdiscover output"),
    "--format": ("text", "^of the mapping"),
    "--gbps": ("number", "^rate of every link"),
    "--graph": ("text", "^who sends how much to whom"),
    "--hosts": ("file", "^the endpoints of the job"),
    "--include": ("text", "^what totals add up"),
    "--json": ("flag", "^one JSON document"),
    "--lanes": ("text", "^how routes get their lanes"),
    "--layers": ("whole number", "^routes to every endpoint, 1 to 128"),
    "--library": ("flag", "^print the path of the"),
    "--injection": ("text", "^when (packets|messages|endpoints) "),
    "--lane-use": ("text", "lanes|virtual channels"),
    "--links": ("file", "^write what went over every link"),
    "--rail": ("text", r"\brails?\b"),
    "--traffic-class": ("text, repeated", "^several classes of traffic"),
    "--workload": ("text", "^what processes do"),
    "--lmc": ("whole number", "^LID mask control"),
    "--max-lanes": ("whole number", r"\bdata lanes\b.*1 to 15"),
    "--method": ("text", "^auto, "),
    "--net": ("text", "^the network"),
    "--new-lids": ("flag", "^LIDs of the fabric"),
    "--objective": ("text", "^what is to be small"),
    "--costs": ("text", "^what messages cost: a name of `flyloom list costs`"),
    "--option": ("text, repeated", "^KEY=VALUE, an option of the (engine|format)"),
    "--out": ("file", r"\b(file|folder)\b"),
    "--width": ("number", r"chart of this width"),
    "--noise": ("text, repeated", "^noise"),
    "--budget": ("text", "^US dollars to spend"),
    "--oversubscription": ("text", "^endpoints for each one"),
    "--mapping": ("file", "^the mapping"),
    "--partition": ("whole number", "^the graph is a sparse matrix"),
    "--path-records": ("file", "^path records"),
    "--per-endpoint": ("whole number", "^(ranks|processes) on each endpoint"),
    "--electric-limit": ("number", "^longest electric cable, metres$"),
    "--placement": (
        "text", "^which endpoints? (ranks are|processes are|each rank is|each process is) on"),
    "--planes": ("whole number", "^planes, 1 to 64"),
    "--plugin": ("text, repeated", "^Python file"),
    "--protocol": ("text", "^what switches, cables and adapters speak"),
    "--pue": ("number", "^power of the whole room"),
    "--quotation": ("file", "^a vendor's quotation"),
    "--radix": ("whole number", "^ports of a switch"),
    "--ranks": ("text", "^which endpoint is which rank"),
    "--rules": ("file", "rules of the floor"),
    "--samples": (
        "whole number", "random (orders|bisections|matchings)|^number of runs, each with ranks"),
    "--threads": ("whole number", "^processors to use"),
    "--unverified": ("flag", "^run also what is not proved"),
    "--load": ("text", r"0\.1:(0\.9|1\.0):0\.1"),
    "--selection": ("text", "^how packets choose|^which of the routes between two endpoints"),
    "--seed": ("whole number", "^(the )?seed of"),
    "--seeds": ("whole number", "^runs"),
    "--server": ("text", "^the catalogue's server"),
    "--set": ("text, repeated", "^a parameter of|^of the schedule: "),
    "--sl2vl": ("file", "opensm-sl2vl.dump"),
    "--spare": ("number", "^(parts|cables) to buy beyond those needed, as a fraction"),
    "--sort": ("text", "^best first"),
    "--top": ("whole number", "^[Oo]nly this number of (rows|the busiest)"),
    "--traffic": ("text", "^traffic|^who sends to whom"),
    "--usd-per-kwh": ("number", "^price of energy"),
    "--verbose": ("flag", "in whole sentences$"),
    "--until": ("text", "ends to "),
}
"""Every option that more than one command has, and its one meaning."""

OTHERWISE = {
    ("--ranks", "sim message"), ("--ranks", "sim packet"),
    ("--workload", "sim packet"),  # several are jobs at the same time
    ("--net", "figure"),  # several are drawn
    ("--out", "map"),  # the mapping, and its page
}
"""Names that other simulators gave, and that scripts rely on."""

SHORT = {
    "-e": "--engine", "-k": "--radix", "-n": "--endpoints", "-o": "--out", "-O": "--option",
    "-p": "--endpoints-per-switch", "-d": "--degree", "-g": "--graph", "-m": "--mapping",
}
SEVERAL = {
    ("--layers", "figure"), ("--radix", "size"), ("--radix", "scale"), ("--radix", "compare"),
}
"""The options that take several whole numbers with commas, by command."""

KINDS = {
    "BoolParamType": "flag", "StringParamType": "text", "IntParamType": "whole number",
    "FloatParamType": "number", "TyperPath": "file",
    "FuncParamType": "whole number",  # with a unit, perhaps
}


def walk(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """The words of every command, and its parameters."""
    yield from ((" ".join(path), param) for param in command.params)
    for name, inner in getattr(command, "commands", {}).items():
        yield from walk(inner, (*path, name))


@pytest.fixture(scope="module")
def uses() -> dict[str, list[tuple[str, Any]]]:
    """The command and parameter of each option string."""
    for group in [*GROUPS, "measures"]:
        importlib.import_module(f"flyloom.cli.{group}")
    found = defaultdict(list)
    for command, param in walk(typer.main.get_command(app)):
        for name in (*param.opts, *param.secondary_opts):
            # those of discovered fabrics are added alike to every command once it reads its words
            added = name in ("--names", "--keep", "--only", "--adapters") and not param.expose_value
            if name.startswith("-") and not added and not param.hidden:
                found[name].append((command, param))
    return found


READ = {
    "--compare", "--costs", "--experiment", "--found", "--graph", "--guids", "--hosts",
    "--host-endpoints", "--mapping", "--path-records", "--pin", "--quotation", "--rules", "--sl2vl",
    "--times",
}
"""Options of files that are read."""


def test_the_place_of_every_file_that_is_written_is_looked_at_before_the_work(uses):
    taken = {name for name, places in uses.items() if name.startswith("--")
             and any(type(param.type).__name__ == "TyperPath" for _, param in places)}
    assert taken == taken & (READ | OUTPUTS), taken - READ - OUTPUTS


def kind(option: str, command: str, param: Any) -> str:
    """The kind of value that users write after an option."""
    if (option, command) in SEVERAL:
        assert KINDS[type(param.type).__name__] == "text" and "," in param.metavar
        return "whole number"
    of = KINDS[type(param.type).__name__]
    return f"{of}, repeated" if param.multiple else of


def test_an_option_that_commands_share_means_one_thing(uses):
    wrong = []
    for option, places in uses.items():
        if not option.startswith("--") or len(places) < 2:
            continue
        if option not in SHARED:
            wrong.append(f"{option}: on {[command for command, _ in places]}; say what it means")
            continue
        of, subject = SHARED[option]
        for command, param in places:
            if (option, command) in OTHERWISE:
                continue
            found, words = kind(option, command, param), param.help or ""
            if found != of or not re.search(subject, words, re.IGNORECASE):
                wrong.append(f"{option} of {command}: {found}, '{words}'; elsewhere: {of}")
    assert not wrong, "\n".join(wrong)


def test_the_table_of_shared_options_has_no_other(uses):
    once = {option for option, places in uses.items() if len(places) < 2}
    assert not {*SHARED} & once - {"--plugin"} and {*SHARED} <= {*uses}


def test_a_short_option_is_of_one_long_one(uses):
    short = {option: places for option, places in uses.items() if len(option) == 2}
    assert set(short) == set(SHORT)
    for option, places in short.items():
        for command, param in places:
            assert SHORT[option] in param.opts, f"{option} of {command}"
            assert not param.hidden
    for option, long in SHORT.items():  # a command that has the long option also has the short one
        bare = {command for command, param in uses[long] if option not in param.opts}
        assert not bare, f"{long} without {option}: {bare}"


def test_what_docs_named_before_is_understood(tmp_path):
    (tmp_path / "order").write_text("0\n1\n2\n")
    net = "torus:shape=2x2,p=1"
    new = flyloom("congestion", net, "--ranks", "linear", "--pattern", "ring", "--samples", 1)
    assert new.returncode == 0
    for words in (["--order", "linear"], ["--order=linear"]):
        old = flyloom("congestion", net, *words, "--pattern", "ring", "--samples", 1)
        assert (old.returncode, old.stdout) == (0, new.stdout)
    lanes = flyloom("lanes", net, "--lanes", "hops")
    assert flyloom("lanes", net, "--method", "hops").stdout == lanes.stdout != ""
    gone = flyloom("verify", "empty.txt", "--network", tmp_path / "gone")
    assert gone.returncode == 2 and "gone: cannot be read" in gone.stderr
    assert "--found" in flyloom("verify", net, "--levels", tmp_path / "order").stderr
    for command, names in BEFORE.items():
        shown = flyloom(command, "--help").stdout
        for old, new in names.items():
            assert f"{new} " in shown and (old == "-n" or f"{old} " not in shown)


def test_search_takes_endpoints_by_their_short_name():
    words = ("--steps", 50, "--json")
    long = flyloom("search", "--endpoints", 32, "--radix", 8, *words)
    assert long.returncode == 0
    assert flyloom("search", "-n", 32, "-k", 8, *words).stdout == long.stdout
    assert flyloom("search", "-k8", "-n", "0.032k", *words).stdout == long.stdout
