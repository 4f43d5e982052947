"""Whole numbers have units wherever one is given: options, KEY=VALUE, texts of workloads and
networks, tables of experiments and keywords of Python."""

from __future__ import annotations

import ast
import importlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import flyloom as fl
import pytest
import typer
from cli_helpers import document, flyloom
from flyloom import _core
from flyloom import search as graphs
from flyloom._core import RefusalError, expand, registry, simulators
from flyloom.cli import GROUPS
from flyloom.cli.common import app, parsed, take_plugins
from flyloom.solve import sat
from flyloom.support.checks import count, whole, with_unit

NET = "slim_fly:q=3,p=2"
AMOUNTS = {
    "2k": 2_000, "2K": 2_000, "0.25M": 250_000, "3MB": 3_000_000, "2e3": 2_000, "1.5e3": 1_500,
    "64KiB": 65_536, "2Ki": 2_048, "1.5Mi": 1_572_864, "1G": 10**9, "4GiB": 4 * 2**30,
}
NONE = ("k", "B", "4B", "1.0005k", "4kk", "4Mb", "-4k", "4 k", "2e-3", "nan", "1e30", "9e18k", "")


def options() -> Iterator[tuple[str, Any]]:
    """Every option and argument of every command, as it is when words are read."""
    for group in [*GROUPS, "measures"]:
        importlib.import_module(f"flyloom.cli.{group}")
    take_plugins()

    def walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        yield from ((" ".join(path), param) for param in command.params)
        for name, inner in getattr(command, "commands", {}).items():
            yield from walk(inner, (*path, name))

    return walk(typer.main.get_command(app), ())


def test_every_option_of_whole_numbers_reads_units():
    read = set()
    for command, param in options():
        kind = type(param.type).__name__
        assert kind != "IntParamType", f"{param.opts} of {command}"
        if kind == "FuncParamType":
            assert param.type.convert("64KiB", param, None) == 65_536, param.opts
            assert param.type.convert(7, param, None) == param.type.convert("7", param, None) == 7
            read.add((command, max(param.opts, key=len)))
    assert {
        ("ebb", "--samples"), ("sim packet", "--message-bytes"), ("sim message", "--S"),
        ("measure", "--bytes"), ("congestion", "--first-job"), ("search", "--order"),
        ("resilience", "--samples"), ("lanes-needed", "--seed"),
    } <= read and len(read) > 90


def test_an_amount_is_the_same_number_in_all_readers():
    for text, number in AMOUNTS.items():
        assert with_unit(text) == parsed(text) == whole("x", text, 0, 2**40) == number
        assert _core.parse_inline(f"a:b={text}") == _core.parse_inline(f"a b={number}")
        assert count("x", text, 0, 2**40, of_bytes=True) == number
    for text in NONE:
        assert with_unit(text) is None and parsed(text) != 0
        with pytest.raises(RefusalError, match=r"^x: "):
            whole("x", text, 0, 2**62)


HEAD = """schema = 1
name = "one"
[topology]
family = "slim_fly"
q = 3
[routing]
engine = "dfsssp"
"""


def outcome(call: Callable[[], Any]) -> str:
    """What a call gives, or how it refuses, as text; a refusal's list of all parameters aside."""
    try:
        return json.dumps(call(), default=repr, sort_keys=True)
    except RefusalError as error:
        return str(error).partition("(")[0]


def tables() -> Iterator[tuple[str, str]]:
    """The tables of experiments with their keys that are whole numbers."""
    schema = _core.experiment_schema()

    def resolved(one: dict[str, Any], root: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for each in (one, *one.get("anyOf", ())):
            place = each.get("$ref", "").removeprefix("#/$defs/")
            yield root["$defs"][place] if place else each

    for name, about in schema["properties"].items():
        for table in resolved(about, schema):
            for key, value in table.get("properties", {}).items():
                if any(one.get("type") in ("integer", ["integer", "null"]) for one in (
                        value, *value.get("anyOf", ()))):
                    yield name, key
    for row in simulators():
        root = getattr(_core, f"{row['name'].removeprefix('sim.')}_schema")()
        for key, value in root["properties"].items():
            for one in resolved(value, root):
                if one.get("type") in ("integer", ["integer", "null"]):
                    yield row["name"], key
                for inner, deep in one.get("properties", {}).items():
                    if deep.get("type") in ("integer", ["integer", "null"]):
                        yield f"{row['name']}.{key}", inner


TABLES = sorted(set(tables()))


def test_every_whole_number_of_an_experiment_has_units():
    assert {
        ("ebb", "samples"), ("congestion", "samples"), ("resilience", "samples"),
        ("sim.packet", "message_bytes"), ("sim.packet", "messages"),
        ("sim.message.costs", "S"), ("sim.flit.switch", "virtual_channels"),
        ("sim.packet.link", "local_buffer_bytes"),
    } <= {*TABLES} and len(TABLES) > 40
    for table, key in TABLES:
        def point(value: str, table: str = table, key: str = key) -> str:
            head = HEAD.replace("[routing]", "[routing]\n") if table != "routing" else HEAD
            text = f"{head}{'' if table == 'routing' else f'[{table}]'}\n{key} = {value}\n"
            return outcome(lambda: expand(text, "one.toml")["points"])

        # small enough for most, and too large for some: both are read alike
        for text, number in (("0.002k", 2), ("2k", 2000), ("5G", 5 * 10**9)):
            assert point(f'"{text}"') == point(str(number)), (table, key)
        assert point('"2kk"') != point("2000"), (table, key)


@pytest.mark.parametrize("row", [row for row in registry() if row["kind"] == "topology"],
                         ids=lambda row: row["name"])
def test_every_whole_number_of_a_family_has_units(row):
    whole_ = [key["name"] for key in row["params"] if key["type"] == "int"]
    usual = {key["name"]: 2 if key["type"] == "int" else [2, 2]
             for key in row["params"] if key["required"] and key["type"] in ("int", "list[int]")}
    usual |= {"of": NET} if row["name"] == "multi_plane" else {}
    for name in whole_:
        def made(value: Any, name: str = name) -> str:
            return outcome(lambda: getattr(fl, row["name"])(**{**usual, name: value}).recipe)

        assert made("0.003k") == made(3), name


@pytest.mark.parametrize("row", _core.parts("workloads"), ids=lambda row: row["name"])
def test_every_whole_number_of_a_workload_has_units(row):
    usual = {key["name"]: 4 for key in row["params"] if key["required"] and key["type"] == "int"}
    names = [key["name"] for key in row["params"] if key["type"] == "int"]
    assert {"ranks", "p", "procs"} & {*names}
    for name in names:
        def made(value: Any, name: str = name) -> str:
            return outcome(lambda: fl.make_workload(row["name"], **{**usual, name: value}).counts())

        for text, number in (("0.004k", 4), ("9e18", 9 * 10**18)):
            assert made(text) == made(number), name


@pytest.mark.parametrize("call", [
    lambda n: fl.size(endpoints=n, radix=16).rows,
    lambda n: fl.compare(["fat_tree"], endpoints=n, samples=0).rows,
    lambda n: fl.resilience(NET, samples=n).to_dict(),
    lambda n: fl.ebb(NET, samples=n).to_dict(),
    lambda n: fl.congestion(NET, "ring", samples=n).to_dict(),
    lambda n: fl.packet(NET, load=0.1, messages=2, message_bytes=n).points[0]["mean_latency_ns"],
    lambda n: fl.packet(NET, load=0.1, messages=2, traffic_class=[
        {"share": 1, "message_bytes": n}, {"share": 1}]).points[0]["mean_latency_ns"],
    lambda n: fl.message(None, workload="allreduce_ring ranks=4",
                         workload_options={"bytes": n}).finish_ns,
    lambda n: fl.message(None, workload=f"allreduce_ring ranks=4 bytes={n}").finish_ns,
    lambda n: fl.best_workload("allreduce", ranks=4, bytes=n)[0].finish_ns,
    lambda n: fl.best_workload("allreduce", ranks=4, bytes=[8, n])[1].finish_ns,
    lambda n: graphs.search(order=n, degree=3, steps=1, restarts=1, method="anneal").to_dict(),
    lambda n: graphs.search(20, 3, steps=n, restarts=1, method="anneal", seed=n).to_dict(),
    lambda n: graphs.order_radix(n, 24, steps=1, restarts=1).to_dict(),
    lambda n: graphs.bounds(n, 3).to_dict(),
    lambda n: fl.size(endpoints=500, radix=n, families=["fat_tree"]).to_dict(),
    lambda n: fl.map_processes(NET, f"stencil:shape=3x3,bytes={n}").hop_bytes,
])
def test_keywords_of_python_have_units(call):
    def found(number: Any) -> str:
        return outcome(lambda: call(number))

    assert found("1k") == found(1000) != found(1300)


def test_no_verb_checks_a_number_and_goes_on_with_the_text():
    """What ``whole`` reads of a keyword is used, not the keyword itself, which may be ``"1k"``."""
    root = Path(fl.__file__).parent
    for file in sorted(root.rglob("*.py")):
        if file.parent.name == "cli":  # there the words were read before
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            dropped = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
            called = ast.unparse(node.value.func) if dropped else ""
            assert called != "whole", f"{file.name}, line {node.lineno}: its value is not used"


def test_numbers_of_the_command_line_have_units():
    packet = ("sim", "packet", NET, "--load", "0.1", "--messages", "2")
    for words in (("--message-bytes", "1.5k"), ("--set", "message_bytes=1.5k"),
                  ("--set", "message_bytes=1.5e3")):
        assert document(*packet, *words)["parameters"]["message_bytes"] == 1500
    assert document("ebb", NET, "--samples", "0.02k")["samples"] == 20
    best = document("workload", "best", "allreduce", "ranks=0.004k", "bytes=1.5KiB")
    assert [(row["ranks"], row["bytes"]) for row in best["rows"]] == [(4, 1536)]
    words = ("search", "table", "--max-order", "0.005k", "--time-limit", "60")
    if sat.has_solver():
        of_text = document(*words, "--degrees", "0.003k,0.004k")["cells"]
        assert [(cell["order"], cell["degree"]) for cell in of_text] == [(4, 3), (5, 3), (5, 4)]
    refused = flyloom("ebb", NET, "--samples", "2kk")
    assert refused.returncode == 2 and "--samples: '2kk' is no whole number" in refused.stderr
