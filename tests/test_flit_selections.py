"""What runs of the flit level observe, and what selections do, against formulae."""

from __future__ import annotations

import flyloom as fl
import pytest

NET = "slim_fly:q=5,p=4"
SHORT = {"run.warmup_cycles": 200, "run.measure_cycles": 300}
STUCK = {"lane_use": "any", "router.virtual_channels": 1, "router.buffer_flits": 1}


def run(source: object, **given: object) -> fl.Result:
    """A short run; settings besides its length are given as ``settings``."""
    more = given.pop("settings", {})
    return fl.simulate(source, "flit", settings={**SHORT, **more}, **{"load": 0.1, **given})


def point_of(source: object, **given: object) -> dict:
    [point] = run(source, **given).to_dict()["points"]
    return point


def test_links_carry_what_is_sent_across_them():
    # two switches of four endpoints that all send across one cable: 4 x 0.2 in each direction
    across = [(i, (i + 4) % 8, 1.0) for i in range(8)]
    point = point_of("ring:n=2,p=4", traffic=across, load=0.2, settings={
        "run.measure_cycles": 5000, "run.links": True,
    })
    assert point["mean_link_utilisation"] == pytest.approx(0.8, rel=0.03)
    links = point["links"]
    assert sorted(zip(links["from"], links["to"], strict=True)) == [
        ("ring-0", "ring-1"), ("ring-1", "ring-0")]
    assert max(links["utilisation"]) == point["max_link_utilisation"] <= 1
    assert sum(links["utilisation"]) / 2 == pytest.approx(point["mean_link_utilisation"])
    assert len(point["busiest_links"]) == 2
    # what is buffered is the same by channel and by virtual channel
    assert sum(links["buffered"]) / 2 == pytest.approx(sum(point["mean_vc_occupancy"]))


def test_one_way_traffic_shows_on_one_side():
    # endpoint 0 of switch 0 sends to endpoint 1 of switch 1 alone
    point = point_of("ring:n=2,p=1", traffic=[(0, 1, 1.0)], load=0.5, settings={
        "run.measure_cycles": 4000, "run.links": True,
    })
    first, second = point["busiest_links"]
    assert (first["from"], first["to"]) == ("ring-0", "ring-1")
    assert first["utilisation"] == pytest.approx(0.5, rel=0.05)
    assert second["utilisation"] == 0
    # a switch has its endpoint on port 1, the cable to the other on port 2
    assert first["port"] == second["port"] == 2


def test_mean_use_is_flits_times_hops_over_channels():
    point = point_of(NET, load=0.3, settings={"run.measure_cycles": 2000, "run.links": True})
    links = len(point["links"]["from"])
    # 50 switches of 7 cables; each flit takes one channel fewer than it visits switches
    assert links == 50 * 7
    sent = point["accepted_load"] * 200 * (point["mean_hops"] - 1)
    assert point["mean_link_utilisation"] == pytest.approx(sent / links, rel=0.03)
    busiest = [link["utilisation"] for link in point["busiest_links"]]
    assert busiest == sorted(point["links"]["utilisation"], reverse=True)[:10]


@pytest.mark.parametrize(("speedup", "cycles"), [(2.0, 1), (1.0, 2)])
def test_flits_stay_in_buffers_for_two_stages_at_least(speedup, cycles):
    # routed, given a channel, given the crossbar, so three stages of which the last takes it
    # away: with two stages a cycle it is there at the end of one cycle, with one of two
    point = point_of(NET, load=0.1, settings={
        "run.measure_cycles": 3000, "router.internal_speedup": speedup,
    })
    held = sum(point["mean_vc_occupancy"]) / point["mean_link_utilisation"]
    assert held == pytest.approx(cycles, rel=0.1)
    assert len(point["mean_vc_occupancy"]) == 4


def test_threads_see_the_same():
    settings = {"run.links": True}
    one = point_of(NET, load=0.6, threads=1, settings=settings)
    assert point_of(NET, load=0.6, threads=3, settings=settings) == one


def test_no_links_have_no_use():
    point = point_of("ring:n=1,p=2")
    assert point["mean_link_utilisation"] is None and point["max_link_utilisation"] is None
    assert point["busiest_links"] == [] and point["mean_vc_occupancy"] == [0, 0, 0, 0]
    assert "links" not in point


def test_a_circle_names_switches_and_endpoints():
    point = point_of("torus:shape=8,p=4", load=1.0, unverified=True, settings={
        **STUCK, "run.measure_cycles": 2000,
    })
    assert point["deadlocked"]
    graph = fl.network("torus:shape=8,p=4")
    for told in point["circle"]:
        words = told.replace(",", "").split()
        assert words[words.index("to") + 1] in graph.endpoint_names, told
        assert words[words.index("at") + 1] in graph.switch_names, told
