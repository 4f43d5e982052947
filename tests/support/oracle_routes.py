"""Routes followed one by one, dependencies and bandwidth counted slowly, without flyloom.

Only arrays and texts that flyloom hands out are used: ports, plugs, forwarding entries, and the
table file that a subnet manager loads. Nothing here knows how an engine works.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import dataclass, field

import networkx as nx
import numpy as np

NO_ROUTE = 65535


@dataclass
class Wires:
    """The other end of each switch port; channel 2 l runs from end a of link l to end b."""

    topology: object
    to: dict = field(default_factory=dict)  # (switch, port) -> (switch, channel)
    up: list = field(default_factory=list)  # switches
    home: list = field(default_factory=list)  # terminal -> (switch, port)
    rate: dict = field(default_factory=dict)  # channel -> Gb/s

    def __post_init__(self) -> None:
        t = {k: v.tolist() for k, v in self.topology.link_table.items()}
        for l in range(self.topology.links):
            a, b = (t["a_switch"][l], t["a_port"][l]), (t["b_switch"][l], t["b_port"][l])
            self.rate[2 * l] = self.rate[2 * l + 1] = t["rate_gbps"][l]
            if t["up"][l]:
                self.to[a] = (b[0], 2 * l)
                self.to[b] = (a[0], 2 * l + 1)
        self.home = [tuple(x) for x in self.topology.attachments.tolist()]

    def graph(self) -> nx.DiGraph:
        """Switches and working channels."""
        graph = nx.DiGraph()
        graph.add_nodes_from(range(self.topology.switches))
        graph.add_edges_from((s, head) for (s, _), (head, _) in self.to.items())
        return graph


def follow(wires: Wires, ports: list[int], start: int, home: tuple[int, int]) -> list[int]:
    """The channels from ``start`` to ``home`` by the ports of every switch; fails on any fault."""
    at, channels = start, []
    while at != home[0]:
        assert len(channels) <= wires.topology.switches, f"a loop from {start} to {home}"
        at, channel = wires.to[at, ports[at]]
        channels.append(channel)
    assert ports[at] == home[1], "the last switch delivers to somebody else"
    return channels


@dataclass
class Routes:
    """All routes of a routing: (layer, source switch, terminal) -> channels."""

    routing: object
    wires: Wires
    dead: frozenset = frozenset()  # switches
    all: dict = field(default_factory=dict)

    def __post_init__(self) -> None:
        terminals = [t for t, (s, _) in enumerate(self.wires.home) if s not in self.dead]
        self.terminals = terminals
        self.sources = sorted({self.wires.home[t][0] for t in terminals})
        table = self.routing.next.tolist()
        for layer, t in itertools.product(range(self.routing.layers), terminals):
            for s in self.sources:
                route = follow(self.wires, table[layer][t], s, self.wires.home[t])
                self.all[layer, s, t] = route

    def loads(self) -> np.ndarray:
        """Ordered pairs of terminals over each channel, one pair at a time."""
        loads = np.zeros(2 * self.wires.topology.links, dtype=np.int64)
        for layer, a, b in itertools.product(
            range(self.routing.layers), self.terminals, self.terminals
        ):
            loads[self.all[layer, self.wires.home[a][0], b]] += 1
        return loads

    def dependencies(self, lane_of) -> nx.DiGraph:
        """The channel dependency graph; vertices are (channel, lane)."""
        graph = nx.DiGraph()
        for (layer, s, t), channels in self.all.items():
            lane = lane_of(layer, s, t)
            graph.add_nodes_from((c, lane) for c in channels)
            graph.add_edges_from(
                ((c, lane), (d, lane)) for c, d in itertools.pairwise(channels)
            )
        return graph

    def dependencies_by_port(self, table: TableFile) -> nx.DiGraph:
        """The dependencies, hop by hop, if lanes depend on ports: for all endpoints of a switch.
        """
        ends = {channel: (s, port) for (s, port), (_, channel) in self.wires.to.items()}
        graph = nx.DiGraph()
        for (layer, s, t), channels in self.all.items():
            level = table.service_level(layer, s, t)
            for came in [port for home, port in self.wires.home if home == s]:
                held = []
                for channel in channels:
                    at, leaves = ends[channel]
                    held.append((channel, table.lane_at(at, came, leaves, level)))
                    came = ends[channel ^ 1][1]
                graph.add_nodes_from(held)
                graph.add_edges_from(itertools.pairwise(held))
        return graph


class TableFile:
    """What the table file for the subnet manager says: LFTs, service levels, SL2VL."""

    def __init__(self, routing, topology) -> None:
        self.lft: dict = defaultdict(dict)
        self.level: dict = defaultdict(dict)
        self.default = 0
        self.rules: dict = {}  # (switch, in-port, out-port), None for any -> lane by level
        self.forms: list = []  # which parts keys name, in the order of the file: the last wins
        self.names = topology.addresses(routing.lmc)
        number = {self._guid(g): s for s, g in enumerate(self.names["switch_guid"])}
        for line in routing.table_text().splitlines():
            word, *rest = line.split()
            if word == "lft":
                entries = self.lft[number[int(rest[0], 16)]]
                for lid, port in enumerate(rest[2:], start=int(rest[1])):
                    if port != "-":
                        entries[lid] = int(port)
            elif word == "sl" and rest[0] == "default":
                self.default = int(rest[1])
            elif word == "sl":
                levels = self.level[number[int(rest[0], 16)]]
                for lid, digit in enumerate(rest[2], start=int(rest[1])):
                    if digit != ".":
                        levels[lid] = int(digit, 16)
            elif word == "sl2vl":
                switch = None if rest[0] == "*" else number[int(rest[0], 16)]
                ports = [None if port == "*" else int(port) for port in rest[1:3]]
                key = (switch, *ports)
                form = tuple(part is not None for part in key)
                if form not in self.forms:
                    self.forms.append(form)
                self.rules[key] = [int(x) for x in rest[3:]]

    @staticmethod
    def _guid(given) -> int:
        return int(given, 16) if isinstance(given, str) else given

    def lid(self, terminal: int, layer: int) -> int:
        return self.names["lid"][terminal] + layer

    def service_level(self, layer: int, source: int, terminal: int) -> int:
        """The service level of a path from a switch to a terminal."""
        return self.level[source].get(self.lid(terminal, layer), self.default)

    def lane(self, layer: int, source: int, terminal: int) -> int:
        """The lane of a path from a switch to a terminal, where lanes depend on levels alone."""
        assert list(self.rules) == [(None, None, None)], "one table everywhere"
        return self.rules[None, None, None][self.service_level(layer, source, terminal)]

    def lane_at(self, switch: int, came: int, leaves: int, level: int) -> int:
        """The lane that a packet of this level leaves a switch on."""
        for form in reversed(self.forms):
            parts = zip(form, (switch, came, leaves), strict=True)
            key = tuple(part if named else None for named, part in parts)
            if key in self.rules:
                return self.rules[key][level]
        raise AssertionError("the file must have `sl2vl * * *`")


def fnv1a64(text: str) -> int:
    """The hash of draft-eastlake-fnv, 64 bits, variant 1a."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def shuffled(items: list, seed: int, name: str, index: int) -> list:
    """Fisher and Yates with Lemire's bounded integers on numpy's Philox stream."""
    key = np.array([seed, fnv1a64(name)], dtype=np.uint64)
    counter = np.array([0, 0, index, 0], dtype=np.uint64)
    stream = np.random.Philox(key=key, counter=counter)

    def below(bound: int) -> int:
        while True:
            product = int(stream.random_raw()) * bound
            if product % 2**64 >= (2**64 - bound) % bound:
                return product >> 64

    items = list(items)
    for i in range(len(items) - 1, 0, -1):
        j = below(i + 1)
        items[i], items[j] = items[j], items[i]
    return items


def bandwidths(routes: Routes, pairs: list[tuple[list[int], list[int]]], injection: float):
    """What every flow of a pattern gets: 1 over the worst congestion, mean over its routes.

    A flow is the terminals of its source and of its destination; planes are those of terminals
    that have a route between them.
    """
    wires, layers = routes.wires, routes.routing.layers
    flows = []
    for sources, targets in pairs:
        paths = [
            routes.all[layer, wires.home[a][0], b]
            for a in sources for b in targets for layer in range(layers)
            if (layer, wires.home[a][0], b) in routes.all
        ]
        flows.append(paths)
    load: dict = defaultdict(float)
    for paths in flows:
        for channel in itertools.chain.from_iterable(paths):
            load[channel] += injection / wires.rate[channel] / len(paths)
    return [
        sum(1 / max([1.0, *(load[c] for c in path)]) for path in paths) / len(paths)
        for paths in flows
    ]
