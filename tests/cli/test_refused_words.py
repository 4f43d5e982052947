"""Words that commands cannot use: what looks like a file is said to be none, what is near a name is
that name, and what is valid is listed once."""

from __future__ import annotations

import pytest
from cli_helpers import flyloom

NET = "ring:n=4,p=1"
GRAPH = ("--graph", "stencil:shape=2x2,bytes=8")
MESSAGE = ("sim", "message", NET)
LOAD = ("--load", "0.1")


@pytest.mark.parametrize("words", [
    ("verify", "no/such"), ("deploy", "no/such"), ("design", "no/such"), ("repair", "no/such"),
    ("export", "no/such", "--to", "graphml"), ("verify-cables", "no/such", NET),
    ("verify-cables", NET, "no/such"), ("map", NET, "--graph", "no/such"),
    ("map", NET, *GRAPH, "--hosts", "no/such"), ("map-eval", NET, *GRAPH, "--mapping", "no/such"),
    (*MESSAGE, "--workload", "no/such"), ("sim", "packet", NET, "--workload", "no/such"),
    (*MESSAGE, "--workload", "barrier_tree", "--placement", "no/such"),
    ("sim", "flit", NET, *LOAD, "--traffic", "no/such"),
    ("throughput", NET, "--traffic", "no/such"),
    ("congestion", NET, "--placement", "no/such"), ("cost", NET, "--catalog", "no/such"),
], ids=lambda words: " ".join(words[:2]))
def test_a_path_of_nothing_is_no_unknown_name(words):
    done = flyloom(*words)
    assert done.returncode == 2
    assert done.stderr == "flyloom: no/such: cannot be read: No such file or directory\n"


@pytest.mark.parametrize("command", ["verify", "deploy", "design", "repair"])
def test_a_folder_that_there_is_not_is_said(command):
    done = flyloom(command, "nosuchdir")
    assert done.returncode == 2 and "there is no such file or folder" in done.stderr


@pytest.mark.parametrize(("words", "meant"), [
    (("sim", "flit", NET, *LOAD, "--selection", "valliant"), "valiant"),
    (("sim", "packet", NET, *LOAD, "--selection", "valliant"), "valiant"),
    (("sim", "packet", NET, "--workload", "stencl_2d"), "stencil_2d"),
    (("map", NET, "--graph", "stencl:shape=2x2"), "stencil"),
    (("map", NET, *GRAPH, "--method", "gredy"), "greedy"),
    ((*MESSAGE, "--workload", "barrier_tree", "--placement", "liner"), "linear"),
    (("congestion", NET, "--metric", "bandwith"), "bandwidth"),
    (("congestion", NET, "--placement", "liner"), "linear"),
    (("cost", NET, "--include", "netwrk"), "network"),
    (("export", NET, "--to", "slurm-tree", "-O", "names=firstword"), "first-word"),
    (("throughput", NET, "--traffic", "elefant"), "elephant"),
    (("route", NET, "-e", "dfsspp"), "dfsssp"), (("design", "torsu:shape=4x4"), "torus"),
], ids=lambda value: " ".join(value) if isinstance(value, tuple) else value)
def test_the_nearest_word_comes_first_and_each_choice_once(words, meant):
    done = flyloom(*words)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    _, said, choices = done.stderr.partition("did you mean ")
    assert said and choices.replace("'", "").startswith(f"{meant}?"), done.stderr
    names = [name.strip(" ();\n") for name in choices.partition("?")[2].split(",")]
    listed = [name for name in names if name and " " not in name]
    assert len(listed) == len(set(listed)), done.stderr
