"""The flow model of the message level against the flit simulator: permutations of long messages."""

from __future__ import annotations

import random

import flyloom as fl
import pytest

FLITS, PACKET = 4000, 4
FAIR = {"switch.priority": "age", "switch.virtual_channels": 8, "switch.buffer_flits": 32}
"""Routers that serve the oldest packet first: flows that meet have even parts, as in the model."""
SAME = {"link.rate_gbps": 8, "switch.delay_ns": 3, "link.latency_ns": 0}
"""A byte of a message is a flit, and takes a nanosecond of a cable, a cycle there."""
FREE = {"L": 0, "o": 0, "g": 0, "S": 1 << 30}


def drawn(endpoints: int, seed: int) -> list[tuple[int, int]]:
    """A permutation: who sends to whom, without those that it leaves where they are."""
    to = list(range(endpoints))
    random.Random(seed).shuffle(to)
    return [(a, b) for a, b in enumerate(to) if a != b]


def cycles(routing, pairs, path, settings) -> float:
    """The cycle in which the last flit arrives, if each packet is ready when it could leave."""
    packets = [(at, a, b) for at in range(0, FLITS, PACKET) for a, b in pairs]
    lines = ["time_cycles source destination size_flits",
             *(f"{at} {a} {b} {PACKET}" for at, a, b in packets)]
    path.write_text("\n".join(lines) + "\n")
    [point] = fl.simulate(routing, "flit", traffic=str(path), settings=settings).points
    return point["cycles"]


def finish_ns(routing, endpoints, pairs, path) -> float:
    to, by = dict(pairs), {b: a for a, b in pairs}
    lines = [f"num_ranks {endpoints}"]
    for rank in range(endpoints):
        sends = [f"send {FLITS}b to {to[rank]}"] if rank in to else []
        takes = [f"recv {FLITS}b from {by[rank]}"] if rank in by else []
        lines += [f"rank {rank} {{", *sends, *takes, "}"]
    path.write_text("\n".join(lines) + "\n")
    return fl.simulate(routing, "message", workload=str(path), costs=FREE,
                       settings=SAME).finish_ns


@pytest.mark.parametrize("net", ["slim_fly:q=5,p=4", "slim_fly:q=5,p=2", "dragonfly:h=2",
                                 "fat_tree:levels=3,k=4", "torus:shape=4x4,p=1"])
def test_permutations_of_long_messages_end_within_five_percent(net, tmp_path):
    topology = fl.network(net)
    routing = topology.route("dfsssp", {}, 1)
    for seed in range(4):
        pairs = drawn(topology.endpoints, seed)
        flits = cycles(routing, pairs, tmp_path / "packets", FAIR)
        flows = finish_ns(routing, topology.endpoints, pairs, tmp_path / "it.goal")
        # the last cycles are counted in steps
        assert 0.995 <= flits / flows <= 1.05, (seed, flits, flows)
