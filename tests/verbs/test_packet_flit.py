"""The packet level against the flit level, where both model the same: load by load, at 0.7 of
saturation.

A packet is a flit here, and a link moves one a cycle: with packets of several flits the levels
differ, since flits of packets on different virtual channels share a link by turns and those of a
packet then come apart, while at the packet level packets go one after the other. With one virtual
channel there are no turns, and packets of 16 flits take as long at both.

Packets are created by a draw a cycle at the flit level, at any time at the packet level. So the
wait at the source is of two kinds, (S - 1) load / 2 (1 - load) and S load / 2 (1 - load) for S
flits; what comes later behind it is less uneven, and the sum is compared. """

from __future__ import annotations

import flyloom as fl
import pytest

T_NS = 4096e9 / (12.5 * 2**30)
"""The time of a packet on a link."""
CHANNELS = 8


def at_both(net: str, load: float, *, flits: int = 1, channels: int = CHANNELS, packets: int = 16,
            cycles: int = 20_000, **more: object) -> tuple[dict, dict]:
    """A point of the flit level, and one of the packet level with its latency in cycles.

    Routers take a cycle more than a cable of one, and one to send: two cycles, and one a cable;
    buffers of each virtual channel have room for this number of ``packets``.
    """
    cycle_ns = T_NS / flits
    [ours] = fl.simulate(net, "flit", load=load, settings={
        "packet_flits": str(flits), "run.warmup_cycles": 4000, "run.measure_cycles": cycles,
        "switch.virtual_channels": channels, "switch.buffer_flits": packets * flits,
    }, threads=1, **more).points
    room = {f"link.{kind}_buffer_bytes": packets * 4096 for kind in ("local", "global", "endpoint")}
    [theirs] = fl.simulate(net, "packet", load=load, messages=int(cycles * load / flits), settings={
        "link.latency_ns": cycle_ns, "switch.delay_ns": 2 * cycle_ns,
        "switch.credit_ns": 2 * cycle_ns, "switch.virtual_channels": channels, **room,
    }, threads=1, **more).points
    return ours, {**theirs, "cycles": theirs["mean_latency_ns"] / cycle_ns}


# 0.7 of the saturation throughput with these routers: 0.978, 1, 0.875, 1
@pytest.mark.parametrize(("net", "load"), [
    ("slim_fly:q=5,p=4", 0.68), ("torus:shape=4x4,p=1", 0.7), ("dragonfly:h=2", 0.61),
    ("fat_tree:levels=3,k=4", 0.7),
])
def test_shortest_paths_take_as_long_at_both_levels(net, load):
    flit, packet = at_both(net, load)
    assert not flit["saturated"]
    assert packet["cycles"] == pytest.approx(flit["mean_packet_latency_cycles"], rel=0.05)
    # a flit may go to its own endpoint, over one switch; such a packet never enters the network
    endpoints = fl.network(net).endpoints
    hops = (endpoints * flit["mean_switches"] - 1) / (endpoints - 1)
    assert packet["mean_switches"] == pytest.approx(hops, rel=0.01)


def test_paths_over_a_switch_take_as_long_at_both_levels():
    flit, packet = at_both("slim_fly:q=5,p=4", 0.33, selection="valiant")
    assert packet["cycles"] == pytest.approx(flit["mean_packet_latency_cycles"], rel=0.05)
    assert packet["mean_switches"] == pytest.approx(flit["mean_switches"], rel=0.01)


@pytest.mark.parametrize(("net", "load"), [
    ("slim_fly:q=5,p=4", 0.68), ("torus:shape=4x4,p=1", 0.7), ("dragonfly:h=2", 0.64),
])
def test_adaptive_paths_are_nearly_as_long(net, load):
    """UGAL-L looks at other queues: flits in the next buffer, where packets that wait here for the
    crossbar do not count and those routed in the last cycle are not seen yet; at the packet level
    all that wait for the port. So the flit level chooses worse, by up to 12 % of the latency."""
    flit, packet = at_both(net, load, selection="ugal_l")
    assert not flit["saturated"]
    ratio = packet["cycles"] / flit["mean_packet_latency_cycles"]
    assert 0.88 < ratio < 1.05
    assert packet["mean_switches"] == pytest.approx(flit["mean_switches"], rel=0.04)


def test_without_turns_packets_of_many_flits_take_as_long():
    """Four endpoints of a switch send over one link to four others, 0.64 of what it carries."""
    given = {"flits": 16, "traffic": "shift:4", "cycles": 1_500_000, "packets": 4}
    latency = {}
    for channels in (1, 8):
        flit, packet = at_both("complete:n=2,p=4", 0.16, channels=channels, **given)
        latency[channels] = flit["mean_packet_latency_cycles"] / packet["cycles"]
    assert latency[1] == pytest.approx(1, rel=0.05)
    # with turns a packet's last flit comes later
    assert latency[8] > 1.05
