"""Several runs of a simulator beside each other: what tells them apart, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flyloom.support.words import selection_name

VARIED = ("traffic", "workload", "selection")
"""What runs of one call differ in."""


def said(run: Mapping[str, Any], name: str) -> str:
    """What a run was asked for, in a word; empty where it was not."""
    value = run.get(name)
    if value is None and name == "selection":
        value = (run.get("parameters") or {}).get(name)
    if value is not None and name == "selection":
        return selection_name(value)
    return "" if value is None else str(value)


def apart(runs: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """The parameters in which runs differ, and their values in each run; none of a single run."""
    names = [name for name in VARIED if len({said(run, name) for run in runs}) > 1]
    return names, [[said(run, name) for name in names] for run in runs]


def labelled(runs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The runs as curves: each with a ``label`` that tells it from the others, and its ``words`` by
    the parameters that they are of."""
    names, said = apart(runs)
    return [
        {**run, "label": ", ".join(words), "words": dict(zip(names, words, strict=True))}
        for run, words in zip(runs, said, strict=True)
    ]


def common(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """What all runs have in common, in words: traffic, engine, network, selection."""
    first = runs[0]
    varied = apart(runs)[0]
    words = [said(first, name) for name in ("traffic", "workload", "engine", "network", "selection")
             if name not in varied]
    return [word for word in words if word]


USUAL = "hdr"
"""The preset of a run of messages that names none."""


def costs_said(found: Mapping[str, Any], over_network: bool) -> str:
    """What messages cost in a run of messages, and where that is from, in words."""
    values, costs = found["parameters"], found["costs"]
    own = {letter: value for letter, value in values.items()
           if not (over_network and letter in "LG")}
    shown = ", ".join(f"{letter}={value:.15g}" for letter, value in own.items())
    if over_network:
        shown += "; L and G are the network's"
        own_rate = (found.get("rates") or {}).get("source", "default") != "default"
        if costs["preset"] != USUAL and "G" not in costs["given"] and not own_rate:
            rate = f"--set link.rate_gbps={8 / values['G']:.4g}"
            shown += f", not those of {costs['preset']} (for its rate {rate})"
    if file := costs.get("file"):
        rest = [letter for letter in own if letter not in costs["given"]]
        of = f"; {' and '.join(rest)} of {costs['preset']}" if rest else ""
        return f"{file}{of} ({shown})"
    return f"{preset_said(costs)} ({shown}); source: {costs['source']}"


RATE_SOURCES = {
    "parameters": "as link.rate_gbps says", "network": "as the network says",
    "cables": "as the cables say",
    "default": "the default here, as the network says none (gbps=400) and no --gbps",
}
"""Whose rate links have, in words."""


def rates_said(rates: Mapping[str, Any]) -> str:
    """The rates of links in words, and whose they are."""
    return f"{rate_said(rates)}, {RATE_SOURCES[rates['source']]}"


def rate_said(rates: Mapping[str, Any]) -> str:
    """The rates of links in words."""
    low, high = (f"{rates[f'{end}_gbps']:.4g}" for end in ("lowest", "highest"))
    return f"{low} Gbit/s" if low == high else f"{low} to {high} Gbit/s"


def packet_costs_said(asked: Mapping[str, Any]) -> str:
    """What messages of a workload cost in a run of packets with these parameters, in words."""
    mpi = asked["mpi"]
    shown = ", ".join(f"{name}={mpi[name]:.15g}" for name in MPI)
    hint = "" if asked["costs"] == USUAL else f"; --costs {USUAL} is the default of sim message"
    return f"{asked['costs']} (mpi: {shown}; rates and latencies are the network's){hint}"


def short_said(short: Mapping[str, Any]) -> str:
    """A sentence on receives that are smaller than the messages that they take."""
    count = short["count"]
    which = ("1 receive is smaller than its message" if count == 1 else
             f"{count:,} receives are smaller than their messages")
    return f"{which}, which MPI would truncate: {short['first']} takes {short['message']}"


MPI = ("send_ns", "send_ns_per_byte", "gap_ns", "eager_bytes")
"""The costs of MPI at the packet level that presets differ in."""


def preset_said(costs: Mapping[str, Any]) -> str:
    """The preset of a run of messages, and what was given in place of its parameters."""
    given = ", ".join(costs["given"])
    return f"{costs['preset']} but for {given}" if given else str(costs["preset"])
