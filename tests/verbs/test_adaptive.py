"""Adaptive selections against minimal ones: the same paths in a network that is nearly empty, and
as much as without a least queue where minimal paths are full."""

from __future__ import annotations

import flyloom as fl
import pytest

NETS = ("slim_fly:q=5,p=4", "dragonfly:h=2", "hyperx:shape=4x4,p=4",
        "megafly:leaves=3,spines=3,p=3,h=3,g=10")
ROOM = {"switch.virtual_channels": 10}


def flits(net: str, selection: str, load: float, traffic: str = "uniform", **more: object) -> dict:
    settings = {**ROOM, "run.warmup_cycles": 500, "run.measure_cycles": 1000, **more}
    [point] = fl.simulate(
        net, "flit", load=load, traffic=traffic, selection=selection, settings=settings).points
    return point


def packets(
    net: str, selection: str, load: float, traffic: str = "uniform", **more: object
) -> dict:
    settings = {**ROOM, "run.warmup_ns": 10_000, "run.measure_ns": 30_000, **more}
    [point] = fl.simulate(
        net, "packet", load=load, traffic=traffic, selection=selection, settings=settings).points
    return point


@pytest.mark.parametrize("net", NETS)
@pytest.mark.parametrize("selection", ["ugal_l", "par", "ugal_g"])
def test_flits_take_no_detour_in_an_empty_network(net, selection):
    """With a queue that counts from its first flit on they visit a quarter more switches."""
    minimal, found = (flits(net, one, 0.1) for one in ("minimal", selection))
    most = 0.06 if selection == "ugal_g" else 0.01
    assert found["mean_switches"] < (1 + most) * minimal["mean_switches"]
    bound = (1 + 1.5 * most) * minimal["mean_packet_latency_cycles"]
    assert found["mean_packet_latency_cycles"] < bound
    always = flits(net, selection, 0.1, **{"choosing.least_queue": 0})
    assert always["mean_switches"] > 1.12 * minimal["mean_switches"]


@pytest.mark.parametrize("more", [
    {"packet_flits": "8"}, {"link_latency_cycles": 20, "switch.buffer_flits": 64},
    {"cycle_ns": 1.0, "switch.buffer_flits": 64},
])
def test_packets_of_several_flits_and_long_cables_are_no_load(more):
    minimal, found = (flits(NETS[0], one, 0.1, **more) for one in ("minimal", "ugal_l"))
    assert found["mean_switches"] < 1.01 * minimal["mean_switches"]


@pytest.mark.parametrize("net", NETS)
@pytest.mark.parametrize("selection", ["ugal_l", "par"])
def test_packets_take_hardly_a_detour_in_an_empty_network(net, selection):
    found = packets(net, selection, 0.2)
    assert found["nonminimal_packets"] < 0.03 * found["packets"]
    always = packets(net, selection, 0.2, **{"choosing.least_queue": 0})
    assert always["nonminimal_packets"] > 0.2 * always["packets"]


def test_short_packets_on_long_cables_are_no_load():
    """Sixty of them are in flight on a cable at its full rate, until their credits return."""
    settings = {"link.latency_ns": 100}
    found = packets(NETS[0], "ugal_l", 0.1, **settings, message_bytes=64)
    assert found["nonminimal_packets"] < 0.03 * found["packets"]


@pytest.mark.parametrize("net", NETS)
@pytest.mark.parametrize("level", [flits, packets])
def test_full_paths_are_left_as_before(net, level):
    """Under the worst case as much is accepted as without a least queue, more than minimally."""
    minimal = level(net, "minimal", 1.0, "worst_case")["accepted_load"]
    for selection in ("ugal_l", "par"):
        found = level(net, selection, 1.0, "worst_case")["accepted_load"]
        before = level(net, selection, 1.0, "worst_case", **{"choosing.least_queue": 0})
        assert found > 0.97 * before["accepted_load"] and found > 1.05 * minimal


def test_codes_keeps_its_own_rule():
    """Its adaptive Slim Fly has no threshold."""
    [found] = fl.simulate(
        NETS[0], "packet", load=0.2, selection="adaptive", dialect="codes-slimfly-v1").points
    assert found["nonminimal_packets"] > 0.1 * found["packets"]
