"""Readers of exported files that share no code with flyloom, and what the network should be."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict

import flyloom as fl
import networkx as nx


def named(topology: fl.Topology) -> nx.MultiGraph:
    """Switches and endpoints by name, and all cables between them."""
    graph = nx.MultiGraph()
    names = topology.switch_names
    graph.add_nodes_from(names, kind="switch")
    graph.add_nodes_from(topology.endpoint_names, kind="endpoint")
    graph.add_edges_from((names[a], names[b]) for a, b in topology.edges.tolist())
    rails = topology.terminal_table
    for e, s, up in zip(rails["endpoint"], rails["switch"], rails["up"], strict=True):
        if up:
            graph.add_edge(topology.endpoint_names[e], names[s])
    return graph


def expanded(hostlist: str) -> list[str]:
    """The names in one of Slurm's hostlists with a bracket at the end of a word."""
    found = []
    for stem, ranges in re.findall(r"([^,\[\]]+)(?:\[([^\]]+)\])?,?", hostlist):
        for part in ranges.split(",") if ranges else [""]:
            if not part:
                found.append(stem)
                continue
            first, _, last = part.partition("-")
            assert not last or len(first) <= len(last)
            numbers = range(int(first), int(last or first) + 1)
            found += [f"{stem}{n:0{len(first)}d}" for n in numbers]
    return found


def slurm_lines(text: str) -> list[dict[str, str]]:
    """The lines of a topology.conf: words KEY=VALUE between blanks, # begins a remark."""
    lines = [line.partition("#")[0].split() for line in text.splitlines()]
    return [dict(word.split("=", 1) for word in line) for line in lines if line]


def anynet(text: str) -> tuple[dict[int, int], dict[tuple[int, int], int]]:
    """Router of each node, and latency of each channel, as BookSim takes an anynet file.

    A link is listed at either of its routers; a direction without a latency of its own has 1.
    """
    router_of: dict[int, int] = {}
    reported: dict[tuple[int, int], int] = {}
    both: set[tuple[int, int]] = set()
    for line in filter(None, text.splitlines()):
        words = [word for word in line.split(" ") if word]
        assert words[0] == "router"
        head, at = int(words[1]), 2
        while at < len(words):
            kind, number = words[at], int(words[at + 1])
            at += 2
            latency = int(words[at]) if at < len(words) and words[at].isdigit() else None
            at += latency is not None
            if kind == "node":
                assert latency is None, "a latency after a node is taken for a router"
                assert number not in router_of
                router_of[number] = head
                continue
            assert kind == "router"
            assert number != head
            assert (head, number) not in reported, "a pair of routers has one link"
            reported[head, number] = latency or 1
            both |= {(head, number), (number, head)}
    assert sorted(router_of) == list(range(len(router_of)))
    return router_of, {pair: reported.get(pair, 1) for pair in both}


def astra(text: str) -> tuple[dict[str, list], nx.Graph]:
    """The entries of an ASTRA-sim network, and which NPUs a link joins (over a switch in
    dimensions of that kind); NPU numbers run along the first dimension first."""
    entries = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        key, values = re.fullmatch(r"(\w+): \[ (.*) \](?:  # .*)?", line).groups()
        entries[key] = values.split(", ")
    sizes = [int(n) for n in entries["npus_count"]]
    graph = nx.Graph()
    places = [place[::-1] for place in itertools.product(*map(range, sizes[::-1]))]
    number = {place: n for n, place in enumerate(places)}
    graph.add_nodes_from(number.values())
    for place, (d, kind) in itertools.product(places, enumerate(entries["topology"])):
        k = sizes[d]
        steps = [1] if kind == "Ring" else range(1, k)
        for step in steps:
            there = (*place[:d], (place[d] + step) % k, *place[d + 1:])
            graph.add_edge(number[place], number[there])
    return entries, graph


def reach(topology: fl.Topology) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """The switches below each switch of a tree and the endpoints that it reaches downwards."""
    graph = named(topology)
    level = dict(zip(topology.switch_names, topology.levels.tolist(), strict=True))
    level |= dict.fromkeys(topology.endpoint_names, -1)
    below = defaultdict(set)
    for a, b in graph.edges():
        low, high = sorted((a, b), key=level.__getitem__)
        below[high].add(low)
    down = nx.DiGraph((high, low) for high in below for low in below[high])
    endpoints = set(topology.endpoint_names)
    reached = {s: nx.descendants(down, s) & endpoints for s in below}
    children = {s: {c for c in below[s] - endpoints if reached.get(c)} for s in below}
    return children, reached
