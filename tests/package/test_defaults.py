"""The keywords of Python's verbs have the defaults of the command line's options."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import flyloom as fl
import pytest
import typer
from flyloom import search
from flyloom.cli import GROUPS
from flyloom.cli.common import app, take_plugins

VERBS: dict[str, Callable[..., Any]] = {
    "map": fl.map_processes, "map-eval": fl.evaluate_mapping, "search": search.search,
    "workload best": fl.best_workload, "workload list": fl.workloads,
    "workload make": fl.make_workload, "workload check": fl.check_workload,
    "workload convert": fl.convert_workload, "workload merge": fl.merge_workloads,
    "catalog list": fl.catalog, "catalog show": fl.catalog, "catalog check": fl.catalog,
    "lanes": fl.spread,
}
"""Verbs that are not called as their commands are."""
WITHOUT = {
    "design", "published", "record", "reorder", "opensm-plugin", "report", "schema",
    "list", "example", "help",
}
"""Commands that have no verb of their own: others do what they do, or nothing in Python does."""
OTHER_MEANING = {
    ("repair", "links"): "how many of them are drawn is --links N, which Python calls random",
}
"""Options that share a name with a keyword of another meaning."""


def commands() -> Iterator[tuple[str, Any]]:
    """Every command that can be run, by its words."""
    for group in [*GROUPS, "measures"]:
        importlib.import_module(f"flyloom.cli.{group}")
    take_plugins()

    def walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        inner = getattr(command, "commands", {})
        if not inner:
            yield " ".join(path), command
        for name, one in inner.items():
            yield from walk(one, (*path, name))

    return walk(typer.main.get_command(app), ())


def verb(words: str) -> Callable[..., Any] | None:
    """The verb of a command."""
    found = VERBS.get(words) or getattr(fl, words.split()[-1].replace("-", "_"), None)
    return found if callable(found) else None


def plain(value: Any) -> str:
    """A default as one word: lists have commas on the command line, a grid an x."""
    if value is None or value is False or value == () or value == "":
        return ""
    if isinstance(value, tuple | list):
        return ",".join(map(str, value))
    return str(value)


COMMANDS = dict(commands())


def test_every_command_has_a_verb_or_is_known_to_have_none():
    assert {words for words in COMMANDS if verb(words) is None} == WITHOUT


@pytest.mark.parametrize("words", sorted(COMMANDS.keys() - WITHOUT))
def test_keywords_have_the_defaults_of_options(words):
    """An option that is None by default leaves the choice to the verb, whose default then holds."""
    options = {
        word.lstrip("-").replace("-", "_"): param for param in COMMANDS[words].params
        for word in (param.name, *param.opts) if word
    }
    asked = verb(words)
    assert asked is not None
    compared = 0
    for name, keyword in inspect.signature(asked).parameters.items():
        option = options.get(name)
        if option is None or (words, name) in OTHER_MEANING or option.default is None:
            continue
        if keyword.default is not inspect.Parameter.empty:
            ours, theirs = plain(keyword.default), plain(option.default)
            assert theirs in (ours, ours.replace(",", "x")), f"{words}: {name}"
            compared += 1
    if words in ("size", "compare", "ebb", "congestion", "structure"):
        assert compared >= 2, "the names of options and keywords were compared"


def test_prices_are_asked_for_unless_they_are_left_out():
    found = fl.size(100, radix=16, families=["hypercube"])
    assert found.basis and all(member.cost_usd_per_endpoint > 0 for member in found.members)
    bare = fl.size(100, radix=16, families=["hypercube"], prices=False)
    assert bare.basis is None and "cost_usd" not in bare.members[0].to_dict()
    with pytest.raises(fl.RefusalError, match="prices: False, beside catalog"):
        fl.size(100, prices=False, catalog="fdr10-2014")
