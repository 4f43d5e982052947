"""The input of a report: its shape, its checks, one clear error.

:func:`check` is the border: behind it every key exists (``None`` when it was left out), numbers are
plain finite Python numbers, text holds only characters that a page can carry and references
resolve, so that the page and the charts need no checks.

The shape, in the notation of :data:`SHAPE`: a key with ``?`` may be missing or ``None``; ``[x]`` is
a list of ``x``; a dictionary takes exactly the keys shown, or others too where ``"*"`` stands
(any number, string, truth value or ``None``), and others that are not looked at where ``"**"``
stands.

Units: lengths in metres, costs in US dollars, times in seconds, loads in routes per channel,
effective bisection bandwidth as a fraction of the injection bandwidth, ``count`` in patterns.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

from flyloom.draw.svg import printable


class ReportError(ValueError):
    """The report's data is not as described; the message names the field and what is valid."""


#: Kinds of leaf: ``count`` is an integer >= 0, ``number`` a finite number, ``any`` a simple value.
COUNT, NUMBER, TEXT, TRUTH, ANY = "count", "number", "text", "truth", "any"
_SAYS = {
    COUNT: "a whole number, 0 or more", NUMBER: "a finite number", TEXT: "a string",
    TRUTH: "True or False", ANY: "a number, a string, a list of them, or None",
}

_SWITCH = {"id": COUNT, "name": TEXT, "unit?": COUNT}
_FLOOR = {
    "racks": [{"name": TEXT, "row": NUMBER, "column": NUMBER, "switches": [_SWITCH],
               "endpoints": COUNT,
               "servers?": [{"unit": COUNT, "height": COUNT, "endpoints": COUNT}]}],
    "switch_units?": COUNT,
    "rack_pairs": [{"a": TEXT, "b": TEXT, "cables": COUNT}],
}
_CABLES = {
    "total": COUNT,
    "length_m?": NUMBER,
    "by_step?": [{"step": ANY, "count": COUNT}],
    "classes": [{"kind": TEXT, "length_m": ANY, "count": COUNT, "cost_usd?": NUMBER}],
    "cost_usd?": NUMBER,
    "cost_note?": TEXT,
}
_NETWORK = {
    "label": TEXT,
    "recipe": TEXT,
    "structure": {"switches": COUNT, "endpoints": COUNT, "links": COUNT, "*": ANY},
    "edges?": [[COUNT]],
    "switch_names?": [TEXT],
    "switch_groups?": [ANY],
    "floor?": _FLOOR,
    "cables?": _CABLES,
}
_DEPLOY = {
    "skipped?": TEXT,
    "entries?": COUNT, "differing_entries?": COUNT,
    "sl_entries?": COUNT, "differing_sl_entries?": COUNT,
    "sl2vl_entries?": COUNT, "differing_sl2vl_entries?": COUNT,
    "deadlock_free?": TRUTH, "oracle?": TEXT, "opensm_version?": TEXT, "seconds?": NUMBER,
    "*": ANY,
}
_ROUTING = {
    "label": TEXT,
    "called?": TEXT,
    "network": TEXT,
    "engine": TEXT,
    "source": TEXT,
    "lmc": COUNT,
    "verified": TRUTH,
    "lanes?": COUNT,
    "max_hops?": COUNT,
    "mean_hops?": NUMBER,
    "edge_forwarding_index?": NUMBER,
    "verdicts?": [{"name": TEXT, "holds": TRUTH, "witness?": TEXT}],
    "counterexample?": [TEXT],
    "load_histogram?": [{"load": COUNT, "channels": COUNT}],
    "ebb?": {"mean": NUMBER, "ci_low": NUMBER, "ci_high": NUMBER, "patterns": COUNT,
             "histogram": [{"bin_low": NUMBER, "bin_high": NUMBER, "count": COUNT}]},
    "deploy?": _DEPLOY,
}
_POINT = {
    "offered_load": NUMBER, "accepted_load": NUMBER, "mean_packet_latency_cycles?": NUMBER,
    "mean_network_latency_cycles?": NUMBER, "p99_packet_latency_cycles?": NUMBER,
    "mean_hops?": NUMBER, "saturated?": TRUTH, "deadlocked": TRUTH, "latency_histogram": [[COUNT]],
    "hop_histogram": [COUNT],
    "links?": {"from": [TEXT], "to": [TEXT], "use": [NUMBER], "**": ANY}, "**": ANY,
}
_SIMULATION = {
    "network": TEXT, "label": TEXT, "parameters": {"*": ANY}, "points": [_POINT],
    "saturation_throughput?": NUMBER, "**": ANY,
}
_PACKET_POINT = {
    "offered_load?": NUMBER, "accepted_gbps": NUMBER, "packets": COUNT,
    "mean_hops?": NUMBER, "mean_latency_ns?": NUMBER, "p50_latency_ns?": NUMBER,
    "p99_latency_ns?": NUMBER, "max_latency_ns?": NUMBER, "nonminimal_packets": COUNT,
    "end_ns": NUMBER, "deadlocked": TRUTH,
    "links?": {"from": [TEXT], "to": [TEXT], "plane": [COUNT], "use": [NUMBER], "**": ANY},
    "**": ANY,
}
_JOB = {
    "name": TEXT, "ranks": COUNT, "max_comm_ns?": NUMBER, "mean_comm_ns?": NUMBER,
    "mean_latency_ns?": NUMBER, "mean_hops?": NUMBER, "messages": COUNT, "packets": COUNT,
    "bytes": COUNT, "**": ANY,
}
_PACKETS = {
    "network": TEXT, "label": TEXT, "parameters": {"*": ANY}, "points": [_PACKET_POINT],
    "jobs?": [_JOB],
}
_PLAYED = {
    "network": TEXT, "label": TEXT, "parameters": {"*": ANY}, "ranks": COUNT,
    "finish_ns": NUMBER, "mean_finish_ns": NUMBER, "messages": COUNT, "sent_bytes": NUMBER,
    "busiest_link_use?": NUMBER,
}
_MAPPED = {
    "network": TEXT, "label": TEXT, "method": TEXT, "graph?": TEXT, "processes": COUNT,
    "average_dilation": NUMBER, "maximum_congestion": NUMBER, "finish_ns?": NUMBER,
}
_MEASURE = {
    "name": TEXT,
    "doc": TEXT,
    "columns": [{"name": TEXT, "unit": TEXT, "meaning": TEXT, "better?": TEXT}],
    "rows": [{"network": TEXT, "label": TEXT, "cells": [ANY], "parameters?": {"*": ANY}}],
}
#: The shape of the whole input.
SHAPE = {
    "title": TEXT,
    "summary?": TEXT,
    "flyloom_version": TEXT,
    "seed": COUNT,
    "experiment_toml": TEXT,
    "networks": [_NETWORK],
    "routings?": [_ROUTING],
    "simulations?": [_SIMULATION],
    "packets?": [_PACKETS],
    "messages?": [_PLAYED],
    "mappings?": [_MAPPED],
    "measures?": [_MEASURE],
    "stages?": [{"name": TEXT, "seconds?": NUMBER, "line?": TEXT}],
    "skipped?": [{"what": TEXT, "why": TEXT}],
}


def check(data: Mapping[str, Any]) -> dict[str, Any]:
    """A checked deep copy of a report's input, every optional key present.

    Missing optional lists of the top level become empty lists, other missing optional values
    ``None``. Raises :class:`ReportError` at the first field that is missing, unknown, of the wrong
    kind, or that refers to something that is not there. Time O(size of the data).
    """
    checked = _walk_mapping(data, SHAPE, "data")
    for key in ("routings", "simulations", "packets", "messages", "mappings", "measures", "stages",
                "skipped"):
        checked[key] = checked[key] or []
    _unique((network["label"] for network in checked["networks"]), "data.networks", "label")
    for place, network in enumerate(checked["networks"]):
        _check_network(network, f"data.networks[{place}]")
    labels = [network["label"] for network in checked["networks"]]
    for place, routing in enumerate(checked["routings"]):
        _check_routing(routing, labels, f"data.routings[{place}]")
    for place, simulation in enumerate(checked["simulations"]):
        _check_simulation(simulation, checked["networks"], f"data.simulations[{place}]")
    for place, run in enumerate(checked["packets"]):
        _check_packets(run, checked["networks"], f"data.packets[{place}]")
    for place, run in enumerate(checked["messages"]):
        _check_label(run, labels, f"data.messages[{place}]")
    for place, run in enumerate(checked["mappings"]):
        _check_label(run, labels, f"data.mappings[{place}]")
    pairs = (f'{routing["network"]} / {routing["label"]}' for routing in checked["routings"])
    _unique(pairs, "data.routings", "network and label")
    return checked


def _fail(where: str, found: str, help_: str) -> ReportError:
    return ReportError(f"report: {where}: {found}; {help_}")


def walk(value: object, shape: object, where: str) -> object:
    """A checked copy of ``value``, which has the shape ``shape``; ReportError names the field
    ``where`` it has not."""
    if isinstance(shape, dict):
        return _walk_mapping(value, shape, where)
    if isinstance(shape, list):
        items = enumerate(_list(value, where))
        return [walk(item, shape[0], f"{where}[{i}]") for i, item in items]
    return _leaf(value, str(shape), where)


def _walk_mapping(value: object, shape: Mapping[str, Any], where: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise _fail(where, f"{_kind(value)} found", "give a dictionary")
    known = {key.rstrip("?"): key for key in shape if not key.startswith("*")}
    out: dict[str, Any] = {}
    for name, key in known.items():
        if value.get(name) is not None:
            out[name] = walk(value[name], shape[key], f"{where}.{name}")
        elif key.endswith("?"):
            out[name] = None
        else:
            raise _fail(f"{where}.{name}", "missing", f"give {_expected(shape[key])}")
    for name in value:
        if name in known or "**" in shape:
            continue
        if "*" not in shape:
            raise _fail(f"{where}.{name}", "unknown key", "valid are " + ", ".join(sorted(known)))
        out[str(name)] = walk(value[name], shape["*"], f"{where}.{name}")
    return out


def _list(value: object, where: str) -> list[Any]:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Sequence):
        raise _fail(where, f"{_kind(value)} found", "give a list")
    return list(value)


def _leaf(value: object, shape: str, where: str) -> object:
    if shape == TEXT and isinstance(value, str):
        return printable(value)
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):
        value = value.item()
    if isinstance(value, bool):
        if shape in (TRUTH, ANY):
            return value
    elif isinstance(value, Integral):
        if shape in (NUMBER, ANY) or (shape == COUNT and int(value) >= 0):
            return int(value)
    elif isinstance(value, Real):
        if shape in (NUMBER, ANY) and math.isfinite(value):
            return float(value)
    elif shape == ANY and (value is None or isinstance(value, str)):
        return printable(value) if value else value
    elif shape == ANY and isinstance(value, (list, tuple)):
        return tuple(_leaf(item, ANY, f"{where}[{i}]") for i, item in enumerate(value))
    raise _fail(where, f"{value!r:.60} found", f"give {_SAYS[shape]}")


def _expected(shape: object) -> str:
    if isinstance(shape, dict):
        return "a dictionary"
    return "a list" if isinstance(shape, list) else _SAYS[str(shape)]


def _kind(value: object) -> str:
    return "None" if value is None else type(value).__name__


def _unique(values: Iterable[object], where: str, what: str) -> None:
    seen: set[object] = set()
    for place, value in enumerate(values):
        if value in seen:
            raise _fail(f"{where}[{place}]", f"{what} {value!r} is given twice", "make it unique")
        seen.add(value)


def cabled(network: Mapping[str, Any]) -> int:
    """The switches of a network, those that have failed, which no structure counts, among them."""
    working: int = network["structure"]["switches"]
    return max(working, len(network["switch_names"] or ()))


def _check_network(network: Mapping[str, Any], where: str) -> None:
    count = cabled(network)
    valid = f"switch ids of this network go from 0 to {count - 1}"
    for key in ("switch_names", "switch_groups"):
        if network[key] is not None and len(network[key]) != count:
            found = f"{len(network[key])} values for {count} switches"
            raise _fail(f"{where}.{key}", found, "give one for each switch")
    for place, edge in enumerate(network["edges"] or []):
        at = f"{where}.edges[{place}]"
        if len(edge) != 2:
            raise _fail(at, f"{len(edge)} values found", "give two switch ids")
        if max(edge) >= count:
            raise _fail(at, f"switch {max(edge)} does not exist", valid)
    if network["floor"] is not None:
        _check_floor(network["floor"], count, f"{where}.floor")


def _check_floor(floor: Mapping[str, Any], count: int, where: str) -> None:
    valid = f"switch ids of this network go from 0 to {count - 1}"
    _unique((rack["name"] for rack in floor["racks"]), f"{where}.racks", "name")
    cells = ((rack["row"], rack["column"]) for rack in floor["racks"])
    _unique(cells, f"{where}.racks", "place (row, column)")
    placed: set[int] = set()
    for i, rack in enumerate(floor["racks"]):
        for j, switch in enumerate(rack["switches"]):
            at = f"{where}.racks[{i}].switches[{j}]"
            if switch["id"] >= count:
                raise _fail(f"{at}.id", f'switch {switch["id"]} does not exist', valid)
            if switch["id"] in placed:
                raise _fail(f"{at}.id", f'switch {switch["id"]} is placed twice', "place it once")
            if switch["unit"] == 0:
                raise _fail(f"{at}.unit", "0 found", "rack units count from 1")
            placed.add(switch["id"])
    names = {rack["name"] for rack in floor["racks"]}
    for i, pair in enumerate(floor["rack_pairs"]):
        for end in "ab":
            if pair[end] not in names:
                found = f"no rack is called {pair[end]!r}"
                raise _fail(f"{where}.rack_pairs[{i}].{end}", found, "name one of floor.racks")


def _check_simulation(
    simulation: Mapping[str, Any], networks: Sequence[Mapping[str, Any]], where: str
) -> None:
    _check_label(simulation, [network["label"] for network in networks], where)
    names = _names(networks, simulation["network"])
    for i, point in enumerate(simulation["points"]):
        at = f"{where}.points[{i}]"
        if any(len(pair) != 2 for pair in point["latency_histogram"]):
            raise _fail(f"{at}.latency_histogram", "no pair found", "give latency and packets")
        _check_links(point, ("from", "to", "use"), names, at)


def _check_packets(
    run: Mapping[str, Any], networks: Sequence[Mapping[str, Any]], where: str
) -> None:
    _check_label(run, [network["label"] for network in networks], where)
    names, load = _names(networks, run["network"]), not run["jobs"]
    if not load and len(run["points"]) != 1:
        raise _fail(f"{where}.points", f"{len(run['points'])} of jobs", "give the one of their run")
    for i, point in enumerate(run["points"]):
        at = f"{where}.points[{i}]"
        if load and point["offered_load"] is None:
            raise _fail(f"{at}.offered_load", "missing", "give a number, or jobs of traces")
        _check_links(point, ("from", "to", "plane", "use"), names, at)


def _names(networks: Sequence[Mapping[str, Any]], label: str) -> Sequence[str]:
    """The names of the switches of a network."""
    return next(n["switch_names"] for n in networks if n["label"] == label) or ()


def _check_links(
    point: Mapping[str, Any], columns: Sequence[str], names: Sequence[str], where: str
) -> None:
    if not (links := point["links"]):
        return
    if len({len(links[key]) for key in columns}) > 1:
        raise _fail(f"{where}.links", "columns of several lengths", "give one value for each link")
    unknown = {*links["from"], *links["to"]} - set(names)
    if unknown:
        found = f"there is no switch {min(unknown)!r}"
        raise _fail(f"{where}.links", found, "give names of networks[].switch_names")


def _check_label(found: Mapping[str, Any], networks: Sequence[str], where: str) -> None:
    if found["network"] not in networks:
        wrong = f'no network is labelled {found["network"]!r}'
        raise _fail(f"{where}.network", wrong, "valid are " + ", ".join(map(repr, networks)))


def _check_routing(routing: Mapping[str, Any], networks: Sequence[str], where: str) -> None:
    _check_label(routing, networks, where)
    ebb = routing["ebb"]
    if ebb is None:
        return
    if not ebb["ci_low"] <= ebb["mean"] <= ebb["ci_high"]:
        found = f'{ebb["ci_low"]} to {ebb["ci_high"]} does not hold the mean {ebb["mean"]}'
        raise _fail(f"{where}.ebb", found, "give ci_low <= mean <= ci_high")
    for place, bin_ in enumerate(ebb["histogram"]):
        if not bin_["bin_low"] < bin_["bin_high"]:
            found = f'bin from {bin_["bin_low"]} to {bin_["bin_high"]}'
            raise _fail(f"{where}.ebb.histogram[{place}]", found, "give bin_low < bin_high")
