"""Records of measures: their classes say what is in them, wherever they are asked for."""

import inspect
import pickle
import typing
from collections.abc import Mapping
from types import UnionType

import flyloom as fl
import pytest
from cli_helpers import document, flyloom
from flyloom import _measures
from flyloom._core import registry
from flyloom.support.records import Record

MEASURES = {part["name"]: part for part in registry() if part["kind"] == "measure"}
SECTIONS = {"paths": True, "disjoint": True, "load": True, "spectrum": True, "bisection": True}
ASKED = [
    ("structure", {}), ("structure", {**SECTIONS, "starts": 2}), ("cost", {}),
    ("resilience", {"samples": 3}), ("resilience", {"samples": 1, "until": ["mean", "diameter"]}),
    ("verify", {}), ("verify", {"hop_limit": 1}), ("verify", {"max_lanes": 1}),
    ("repair", {"random": 2}), ("edge_load", {}), ("path_diversity", {}), ("lanes_needed", {}),
    ("traffic_limits", {}), ("traffic_limits", {"allreduce_bytes": 8}),
    ("ebb", {"samples": 1}), ("ebb", {"samples": 3}),
    ("congestion", {"samples": 1}), ("congestion", {"samples": 2, "pattern": "ring::bisect"}),
]


@pytest.fixture(scope="module", params=["min_hop", "dfsssp"])
def routing(request):
    return fl.route("torus:shape=4x4,p=2", request.param)  # min_hop can wait in a cycle there


def holds(value, kind, place):
    """Asserts that a value is of a type as annotations say it."""
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, UnionType):
        kinds = [one for one in inside if one is not type(None)]
        if value is not None:
            holds(value, kinds[0], place)
        assert len(kinds) == 1 and type(None) in inside, place
    elif origin is list:
        assert isinstance(value, list), place
        for item in value:
            holds(item, inside[0], place)
    elif origin is Mapping:
        assert isinstance(value, Mapping), place
        for item in value.values():
            holds(item, inside[1], place)
    elif isinstance(kind, type) and issubclass(kind, Record):
        assert type(value) is kind, place
        fields(value)
    elif kind is float:
        assert isinstance(value, (int, float)) and not isinstance(value, bool), place
    else:
        assert type(value) is kind, f"{place}: {value!r} is no {kind}"


def fields(record):
    """Asserts that a record has what its class says, and nothing else."""
    kind = type(record)
    reported = typing.get_type_hints(kind)
    reported = {name: what for name, what in reported.items() if not name.startswith("_")}
    sometimes = {name for name in reported if f"{name} : " in kind.__doc__ and
                 "not always there" in kind.__doc__.split(f"\n    {name} : ")[1].split("\n")[0]}
    by_key = {name for name in record if f"\n    {name} : " in kind.__doc__
              and "by its key alone" in kind.__doc__.split(f"\n    {name} : ")[1].split("\n")[0]}
    assert set(record) - by_key <= set(reported), kind
    assert set(reported) - sometimes <= set(record), kind
    for name in set(record) - by_key:
        holds(record[name], reported[name], f"{kind.__name__}.{name}")


@pytest.mark.parametrize(("name", "given"), ASKED)
def test_a_record_has_what_its_class_says(routing, name, given):
    found = fl.measure(routing, name, **given)
    assert type(found) is _measures.RECORDS[name] and type(found).__name__ in fl._measures.__all__
    fields(found)
    again = pickle.loads(pickle.dumps(found))
    assert again == found and type(again) is type(found)


def test_every_measure_is_asked_for_here_and_is_a_function():
    assert {name for name, _ in ASKED} == set(MEASURES) == set(_measures.RECORDS)
    for name, row in MEASURES.items():
        takes = inspect.signature(getattr(_measures, name)).parameters
        assert list(takes) == ["on", *(param["name"] for param in row["params"]), "progress"]
        assert callable(getattr(fl, name))


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_a_verb_by_hand_has_the_same_words_and_defaults(name):
    takes = inspect.signature(getattr(fl, name)).parameters
    shared = [param for param in MEASURES[name]["params"] if param["name"] in takes]
    assert shared or not MEASURES[name]["params"]
    for param in shared:
        default = takes[param["name"]].default
        plain = list(default) if isinstance(default, tuple) else default
        assert plain == param["default"] or default in (None, ()), param["name"]


def test_iterables_of_any_kind_are_lists():
    assert fl.structure("ring:n=5,p=1", disjoint=True, hops=range(2, 4)).disjoint_paths.bounded
    with pytest.raises(fl.RefusalError, match="until"):
        fl.resilience("ring:n=5,p=1", until=(word for word in ["fish"]))


def test_a_command_made_from_the_table():
    found = document("edge-load", "torus:shape=4x4,p=2", "-e", "min_hop")
    routing = fl.route("torus:shape=4x4,p=2", "min_hop")
    wanted = fl.edge_load(routing).to_dict()
    assert {key: found[key] for key in wanted} == wanted
    assert (found["engine"], found["layers"]) == ("min_hop", 1)
    text = flyloom("edge-load", "torus:shape=4x4,p=2", "-e", "min_hop").stdout
    row = next(line for line in text.splitlines() if line.startswith("edge_forwarding_index"))
    assert row.split(None, 2)[2] == "routes  most routes on a channel"
    assert row.split()[1] == f"{wanted['edge_forwarding_index']:,}"
    refused = flyloom("lanes-needed", "ring:n=4,p=1", "--seed", "-1")
    assert refused.returncode == 2 and "seed" in refused.stderr
