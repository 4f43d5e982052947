"""One word for one thing: in files, flags, Python and columns, of all simulators and measures."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from typing import Any

import flyloom as fl
import pytest
from cli_helpers import flyloom
from flyloom import _core
from flyloom.cli import GROUPS
from flyloom.cli.common import app
from typer.main import get_command

GONE = {
    "router": "switch", "routers": "switches", "rails": "rail", "births": "injection",
    "process": "injection", "trace": "workload", "trace_class": "workload_class",
    "goal": "workload", "paths": "selection", "link_ns": "link.latency_ns",
    "link_gbps": "link.rate_gbps", "switch_ns": "switch.delay_ns", "loggp": "costs",
    "channels": "links", "utilisation": "use", "chunks": "packets", "class": "traffic_class",
    "classes": "traffic_class",
}
"""Words that things were called by in some simulator, and what they are called in all."""
UNITS = {"us": "ns", "ms": "ns", "gib_per_s": "gbps", "mib_per_s": "gbps", "gb_per_s": "gbps"}
"""Units that no name ends in, and what it ends in."""
OTHERS = {
    # in a record: the classes of traffic that were found, not a parameter
    ("sim.flit", "classes"), ("sim.packet", "classes"),
    # the measure of paths between switches and its parameter
    ("structure", "paths"), ("path_diversity", "paths"),
    # loads of one measure: how many routes a channel of the network has
    ("edge_load", "channels"), ("congestion", "channels"), ("ebb", "channels"),
    # the ports of a switch that a catalogue sells; rates that it sells at
    ("cost", "link_gbps"), ("cost", "routers"),
    # the format of what the recorder writes beside a matrix, not a workload that is read
    ("record", "goal"),
}
"""Words with another meaning at this place: (stage, word)."""

STAGES = {row["name"]: row for row in [*_core.registry(), *_core.simulators()]
          if row["kind"] in ("measure", "simulator")}
SCHEMAS = {"sim.flit": _core.flit_schema, "sim.packet": _core.packet_schema,
           "sim.message": _core.message_schema}


def fault(word: str) -> str | None:
    """What is wrong with a name, if anything."""
    for part in word.split("."):
        if part in GONE:
            return f"{word}: say {GONE[part]}"
        unit = next((unit for unit in UNITS if part.endswith(f"_{unit}")), None)
        if unit:
            return f"{word}: the unit is {UNITS[unit]}"
    return None


def properties(schema: Any, at: str = "") -> Iterator[str]:
    """The dotted names of all properties of a JSON schema."""
    root = schema

    def walk(node: Any, at: str, seen: tuple[str, ...]) -> Iterator[str]:
        if not isinstance(node, dict):
            return
        if ref := node.get("$ref"):
            if ref in seen:
                return
            target = root
            for key in ref.removeprefix("#/").split("/"):
                target = target[key]
            yield from walk(target, at, (*seen, ref))
        for name, inner in node.get("properties", {}).items():
            here = f"{at}.{name}" if at else name
            yield here
            yield from walk(inner, here, seen)
        for part in ("anyOf", "oneOf", "allOf"):
            for inner in node.get(part, ()):
                yield from walk(inner, at, seen)
        yield from walk(node.get("items"), at, seen)

    yield from walk(schema, at, ())


def of_records(row: dict[str, Any]) -> Iterator[str]:
    for record in row["records"]:
        yield from (field["name"] for field in record["fields"])


@pytest.mark.parametrize("stage", sorted(STAGES))
def test_parameters_columns_and_records_of_a_stage(stage):
    row = STAGES[stage]
    words = [p["name"] for p in row["params"]] + [c["name"] for c in row["columns"]]
    words += list(of_records(row))
    if stage in SCHEMAS:
        words += list(properties(SCHEMAS[stage]()))
    assert words
    known = {word for where, word in OTHERS if where == stage}
    assert not [found for word in words if word not in known and (found := fault(word))]


def commands() -> Iterator[tuple[str, Any]]:
    for group in GROUPS:
        importlib.import_module(f"flyloom.cli.{group}")

    def walk(command: Any, at: str) -> Iterator[tuple[str, Any]]:
        for name, inner in getattr(command, "commands", {}).items():
            yield from walk(inner, f"{at} {name}".strip())
        if not hasattr(command, "commands"):
            yield at, command

    yield from walk(get_command(app), "")


def test_options_of_every_command():
    wrong = []
    for name, command in commands():
        for option in command.params:
            if getattr(option, "hidden", False):
                continue
            for word in option.opts:
                bare = word.lstrip("-").replace("-", "_")
                at = (name.replace("-", "_"), bare)
                if len(bare) > 1 and at not in OTHERS and (found := fault(bare)):
                    wrong.append(f"{name} {found}")
    assert not wrong


def test_keywords_of_every_public_function():
    wrong = []
    for name in dir(fl):
        value = getattr(fl, name)
        if not inspect.isfunction(value):
            continue
        wrong += [f"{name} {found}" for word in inspect.signature(value).parameters
                  if (name, word) not in OTHERS and (found := fault(word))]
    assert not wrong


@pytest.mark.parametrize("level", ["flit", "packet", "message"])
def test_a_parameter_has_its_name_in_file_flag_and_python(level):
    row = STAGES[f"sim.{level}"]
    names = {p["name"]: p["type"] for p in row["params"]}
    table = _core.experiment_schema()["properties"]["sim"]["properties"][level]
    assert set(table["properties"]) == set(names)
    assert set(names) <= set(inspect.signature(getattr(fl, level)).parameters)
    command = dict(commands())[f"sim {level}"]
    flags = {word for option in command.params for word in option.opts
             if not getattr(option, "hidden", False)}
    for name, kind in names.items():
        flag = "--" + name.replace("_", "-")
        assert flag in flags or (kind == "dict" and "--set" in flags), flag


@pytest.mark.parametrize(("level", "shared"), [
    ("flit", {"load", "traffic", "traffic_class", "injection", "selection", "rail", "links",
              "switch", "seed", "unverified"}),
    ("packet", {"load", "traffic", "traffic_class", "injection", "selection", "rail", "links",
                "link", "switch", "seed", "unverified", "workload", "placement"}),
    ("message", {"workload", "selection", "rail", "link", "switch", "placement", "per_endpoint",
                 "seed"}),
])
def test_simulators_share_their_words(level, shared):
    assert shared <= {p["name"] for p in STAGES[f"sim.{level}"]["params"]}


@pytest.mark.parametrize("level", ["flit", "packet"])
def test_hops_are_links_and_switches_one_more(level):
    found = fl.simulate("slim_fly:q=5,p=2", level, load=0.1, seed=3).points[0]
    assert found.mean_switches == pytest.approx(found.mean_hops + 1)
    # of 50 switches a packet's destination is on its own, next to it (7) or two links away
    pairs = 2 * 50 * 2 * 49 + 100  # of different switches, and of one switch
    due = (2 * 50 * 2 * (7 + 2 * 42)) / pairs
    assert found.mean_hops == pytest.approx(due, rel=0.03)


def test_old_words_of_an_experiment_are_read_with_a_note(tmp_path):
    file = tmp_path / "old.toml"
    file.write_text("""
schema = 1
name = "old"
[topology]
family = "slim_fly"
q = 5
p = 2
[sim.packet]
trace = "amg_like:p=3,levels=1,base_bytes=500"
router = { virtual_channels = 4 }
[sweep.grid]
"sim.packet.rails" = ["congestion", "dedicated"]
""")
    done = flyloom("run", file, "--dry-run")
    assert done.returncode == 0, done.stderr
    for old, new in (("trace", "workload"), ("router", "switch"), ("rails", "rail")):
        note = f"sim.packet: {old} is now {new}; the old name is read in this version only"
        assert done.stderr.count(note) == 1
    both = file.read_text().replace("[sweep.grid]", 'rail = "fixed"\n[sweep.grid]')
    file.write_text(both)
    done = flyloom("run", file, "--dry-run")
    assert done.returncode == 2 and "rail: given besides rails" in done.stderr


OLD = [
    ("flit", {"router.virtual_channels": 4}, {"switch": {"virtual_channels": 4}}),
    ("flit", {"process": "on_off:0.1,0.2"}, {"injection": "on_off:0.1,0.2"}),
    ("flit", {"run.links": True}, {"links": True}),
    ("flit", {"rail": "path"}, {"rail": "shortest"}),
    ("flit", {"class": [{"share": 2, "process": "bernoulli"}]},
     {"traffic_class": [{"share": 2, "injection": "bernoulli"}]}),
    ("packet", {"rails": "dedicated"}, {"rail": "fixed"}),
    ("packet", {"births": "jittered"}, {"injection": "jittered"}),
    ("packet", {"router.delay_ns": 50}, {"switch": {"delay_ns": 50}}),
    ("packet", {"end_us": 2.5}, {"end_ns": 2500.0}),
    ("packet", {"trace": "amg_like:p=4"}, {"workload": "amg_like:p=4"}),
    ("packet", {"background": {"ranks": 9, "interval_us": 2, "class": 2}},
     {"background": {"ranks": 9, "interval_ns": 2000.0, "traffic_class": 2}}),
    ("packet", {"link.local_gib_per_s": 2}, {"link": {"local_rate_gbps": 2 * 2**33 / 1e9}}),
    ("message", {"network.switch_ns": 3, "network.link_ns": 4, "network.link_gbps": 5},
     {"switch": {"delay_ns": 3}, "link": {"latency_ns": 4, "rate_gbps": 5}}),
    ("message", {"network.paths": "one", "network.rails": "interface"},
     {"selection": "one", "rail": "by_interface"}),
    ("message", {"with": {"bytes": 9}}, {"workload_options": {"bytes": 9}}),
]


@pytest.mark.parametrize(("level", "old", "new"), OLD)
def test_old_words_are_read_with_a_note(level, old, new, monkeypatch):
    from flyloom.support import machine
    from flyloom.verbs.simulation import spec_of

    monkeypatch.setattr(machine, "tell", False)  # a command that ran in this process has set it
    with pytest.warns(FutureWarning, match="is now .*; the old name is read in this version only"):
        assert spec_of(level, old, {}) == new
    assert spec_of(level, {}, new) == new
