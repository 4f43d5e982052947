"""One kind of argument: every verb takes every form of a network, or of tables, and means the same.

Defaults in Python are those of the command line.
"""

from __future__ import annotations

import importlib
import inspect

import flyloom as fl
import pytest
import typer
from cli_helpers import flyloom
from flyloom.cli import GROUPS
from flyloom.cli.common import app

NET = "torus:shape=3x3,p=2"


@pytest.fixture(scope="module")
def forms(tmp_path_factory) -> dict[str, object]:
    """The same network in every form that there is, links and endpoints in the same order."""
    place = tmp_path_factory.mktemp("forms")
    topology = fl.network(NET)
    (place / "net.json").write_text(topology.to_text("json"))
    (place / "net.toml").write_text('family = "torus"\nshape = [3, 3]\np = 2\n')
    folder = place / "tables"
    flyloom("route", NET, "-o", folder).check_returncode()
    return {
        "topology": topology, "inline": NET, "text path": str(place / "net.json"),
        "path": place / "net.json", "spec": place / "net.toml", "routing": fl.route(topology),
        "folder": folder, "graph": fl.to_networkx(topology), "matrix": fl.to_scipy(topology),
    }


GRAPHS = ("graph", "matrix")
"""Forms that do not define the order of links; a matrix does not define endpoints either."""

NETWORK_VERBS = {
    "structure": lambda on: fl.structure(on, paths=True).to_dict(),
    "resilience": lambda on: fl.resilience(on, samples=20).to_dict(),
    "plan": lambda on: fl.plan(on).cables,
    "cost": lambda on: fl.cost(on).cost_usd,
    "network": lambda on: fl.network(on).switches,
    "route": lambda on: fl.route(on).next.tolist(),
    "route nue": lambda on: fl.route(on, "nue").next.tolist(),
    "to_scipy": lambda on: fl.to_scipy(on).toarray().tolist(),
    "to_networkx": lambda on: sorted(fl.to_networkx(on).degree),
    "lost_in": lambda on: fl.lost_in(on, on),
    "verify_cables": lambda on: fl.verify_cables(on, on).clean,
    "compare": lambda on: fl.compare([on], samples=5, curves=False).rows[0]["mean_distance"],
    "compare_routing": lambda on: fl.compare_routing(
        on, engines=["dfsssp"], samples=3).rows[0],
    "measure": lambda on: fl.measure(on, "structure").diameter,
}
ROUTED_VERBS = {
    "verify": lambda on: fl.verify(on).to_dict(),
    "edge_load": lambda on: fl.edge_load(on).to_dict(),
    "path_diversity": lambda on: fl.path_diversity(on).to_dict(),
    "ebb": lambda on: fl.ebb(on, samples=5).to_dict(),
    "congestion": lambda on: fl.congestion(on, "ring", samples=5).to_dict(),
    "repair": lambda on: fl.repair(on, random=1, seed=3)[1].to_dict(),
    "measure": lambda on: fl.measure(on, "ebb", samples=5).to_dict(),
}
LANES_VERBS = {
    "lanes_needed": lambda on: fl.lanes_needed(on).to_dict(),
    "spread": lambda on: fl.spread(on).service_levels.tolist(),
}


def outcome(call, on: object) -> object:
    """What a verb returns, or why it refuses, as a network without endpoints may be."""
    try:
        return call(on)
    except fl.RefusalError as refusal:
        return str(refusal)


@pytest.mark.parametrize("verb", NETWORK_VERBS)
def test_networks(forms, verb):
    call = NETWORK_VERBS[verb]
    wanted = call(forms["topology"])
    for name, form in forms.items():
        if name in GRAPHS:
            assert outcome(call, form) == outcome(call, fl.network(form)), name
        elif isinstance(wanted, dict):
            asked = {k: v for k, v in call(form).items() if k not in ("recipe", "network")}
            assert asked == {k: wanted[k] for k in asked}, name
        else:
            assert call(form) == wanted, name


@pytest.mark.parametrize("verb", ROUTED_VERBS)
def test_tables(forms, verb):
    call = ROUTED_VERBS[verb]
    wanted = call(fl.route(NET, "dfsssp"))
    for name, form in forms.items():
        if name in GRAPHS:
            assert outcome(call, form) == outcome(call, fl.network(form)), name
        else:
            assert call(form) == wanted, name


@pytest.mark.parametrize("verb", LANES_VERBS)
def test_lanes(forms, verb):
    call = LANES_VERBS[verb]
    wanted = call(fl.route(NET, "sssp"))
    for name in ("topology", "inline", "path", "spec"):
        assert call(forms[name]) == wanted, name
    assert call(forms["routing"]) == call(forms["folder"])


def test_throughput_of_tables_is_over_their_routes(forms):
    over = fl.throughput(NET, engine="dfsssp").maximum_achievable_throughput
    free = fl.throughput(NET).maximum_achievable_throughput
    for name in ("routing", "folder"):
        found = fl.throughput(forms[name])
        assert found.maximum_achievable_throughput == over <= free + 1e-9
        assert found.engine == "dfsssp"
        with pytest.raises(fl.RefusalError, match="engine: these are tables"):
            fl.throughput(forms[name], engine="sssp")
    for name in ("inline", "path", "graph"):
        assert fl.throughput(forms[name]).maximum_achievable_throughput == pytest.approx(free)


APART = {
    ("repair", "links"): "of the command line: a number, `random` in Python",
    ("export", "to"): "the command also lists what there is",
    ("export", "source"): "the same",
    ("figure", "networks"): "the command leaves it out, and has that of Python",
    ("size", "prices"): "the command prices what it prints",
    ("size", "endpoints"): "the command also takes a sum",
    **dict.fromkeys((("choose", name) for name in ("radix", "oversubscription", "candidates",
                                                   "seed")), "those of the file count first"),
}
"""What is another thing in Python, and why."""


def as_words(value: object) -> object:
    """A default as the command line writes it."""
    if value in (None, "", (), [], inspect.Parameter.empty):
        return None
    if isinstance(value, (tuple, list)):
        return ",".join(str(getattr(one, "value", one)) for one in value)
    return value if isinstance(value, bool) else str(value)


def test_defaults_are_those_of_the_command_line():
    for group in [*GROUPS, "measures"]:
        importlib.import_module(f"flyloom.cli.{group}")
    compared = 0
    for name, command in typer.main.get_command(app).commands.items():
        function = getattr(fl, name.replace("-", "_"), None)
        if not inspect.isfunction(function):  # none, or a package
            continue
        known = inspect.signature(function).parameters
        for given in command.params:
            if given.name not in known or (name, given.name) in APART or given.required:
                continue
            ours, theirs = as_words(known[given.name].default), as_words(given.default)
            if (name, given.name) == ("cables", "labels"):
                ours = str(ours).replace(",", "x")
            assert ours == theirs, f"{name}: {given.name}: {ours!r} in Python, {theirs!r} there"
            compared += 1
    assert compared > 60
