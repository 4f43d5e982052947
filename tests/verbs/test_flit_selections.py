"""What runs of the flit level observe, and what selections do, against formulae."""

from __future__ import annotations

import re

import flyloom as fl
import networkx
import pytest

NET = "slim_fly:q=5,p=4"
SHORT = {"run.warmup_cycles": 200, "run.measure_cycles": 300}
STUCK = {"lane_use": "any", "switch.virtual_channels": 1, "switch.buffer_flits": 1}


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
        "run.measure_cycles": 5000, "links": True,
    })
    assert point["mean_link_use"] == pytest.approx(0.8, rel=0.03)
    links = point["links"]
    assert sorted(zip(links["from"], links["to"], strict=True)) == [
        ("ring-0", "ring-1"), ("ring-1", "ring-0")]
    assert max(links["use"]) == point["busiest_link_use"] <= 1
    assert sum(links["use"]) / 2 == pytest.approx(point["mean_link_use"])
    assert len(point["busiest_links"]) == 2
    # what is buffered is the same by channel and by virtual channel
    assert sum(links["buffered"]) / 2 == pytest.approx(sum(point["mean_vc_occupancy"]))


def test_traffic_in_one_direction_shows_on_one_side():
    # endpoint 0 of switch 0 sends to endpoint 1 of switch 1 alone
    point = point_of("ring:n=2,p=1", traffic=[(0, 1, 1.0)], load=0.5, settings={
        "run.measure_cycles": 4000, "links": True,
    })
    first, second = point["busiest_links"]
    assert (first["from"], first["to"]) == ("ring-0", "ring-1")
    assert first["use"] == pytest.approx(0.5, rel=0.05)
    assert second["use"] == 0
    # a switch has its endpoint on port 1, the cable to the other on port 2
    assert first["port"] == second["port"] == 2


def test_mean_use_is_flits_times_hops_over_channels():
    point = point_of(NET, load=0.3, settings={"run.measure_cycles": 2000, "links": True})
    links = len(point["links"]["from"])
    # 50 switches of 7 cables; each flit takes one channel fewer than it visits switches
    assert links == 50 * 7
    sent = point["accepted_load"] * 200 * (point["mean_switches"] - 1)
    assert point["mean_link_use"] == pytest.approx(sent / links, rel=0.03)
    busiest = [link["use"] for link in point["busiest_links"]]
    assert busiest == sorted(point["links"]["use"], reverse=True)[:10]


@pytest.mark.parametrize(("speedup", "cycles"), [(2.0, 1), (1.0, 2)])
def test_flits_stay_in_buffers_for_two_stages_at_least(speedup, cycles):
    # routed, given a channel, given the crossbar, so three stages of which the last takes it
    # away: with two stages a cycle it is there at the end of one cycle, with one of two
    point = point_of(NET, load=0.1, settings={
        "run.measure_cycles": 3000, "switch.internal_speedup": speedup,
    })
    held = sum(point["mean_vc_occupancy"]) / point["mean_link_use"]
    assert held == pytest.approx(cycles, rel=0.1)
    assert len(point["mean_vc_occupancy"]) == 4


def test_threads_see_the_same():
    settings = {"links": True}
    one = point_of(NET, load=0.6, threads=1, settings=settings)
    assert point_of(NET, load=0.6, threads=3, settings=settings) == one


def test_no_links_have_no_use():
    point = point_of("ring:n=1,p=2")
    assert point["mean_link_use"] is None and point["busiest_link_use"] is None
    assert point["busiest_links"] == [] and point["mean_vc_occupancy"] == [0, 0, 0, 0]
    assert "links" not in point


def test_a_cycle_names_switches_and_endpoints():
    point = point_of("torus:shape=8,p=4", load=1.0, unverified=True, settings={
        **STUCK, "run.measure_cycles": 2000,
    })
    assert point["deadlocked"]
    graph = fl.network("torus:shape=8,p=4")
    for reported in point["circle"]:
        words = reported.replace(",", "").split()
        assert words[words.index("to") + 1] in graph.endpoint_names, reported
        assert words[words.index("at") + 1] in graph.switch_names, reported


def accepted(
    net: str, selection: str, channels: int = 4, lane_use: str = "auto", **more: object,
) -> float:
    point = point_of(net, selection=selection, **{"load": 0.5, "traffic": "worst_case", **more},
                     settings={"switch.virtual_channels": channels, "run.warmup_cycles": 500,
                               "run.measure_cycles": 1000, "run.drain_cycles": 0,
                               "lane_use": lane_use})
    return float(point["accepted_load"])


# with four channels packets turn to neighbours alone, with more to any switch
@pytest.mark.parametrize(("net", "minimal", "channels"), [
    # both flows of a pair over one cable, 2 p endpoints on it
    (NET, 1 / 8, 4), (NET, 1 / 8, 5),
    # all endpoints of a group over the one link to the next group: a p of them
    ("dragonfly:h=2", 1 / 8, 4), ("dragonfly:h=2", 1 / 8, 5), ("dragonfly:h=2", 1 / 8, 7),
])
def test_par_accepts_what_ugal_l_does_under_the_worst_case(net, minimal, channels):
    # shortest paths of a dragonfly may cross two links between groups: these load others too
    use = "groups" if net.startswith("dragonfly") else "hops"
    assert accepted(net, "minimal", lane_use=use) == pytest.approx(minimal, rel=0.05)
    par, ugal = (accepted(net, selection, channels) for selection in ("par", "ugal_l"))
    assert par > 2 * minimal
    assert par > 0.95 * ugal


@pytest.mark.parametrize("net", [NET, "dragonfly:h=2", "torus:shape=4x4,p=1"])
def test_par_goes_directly_where_nothing_waits(net):
    point = point_of(net, selection="par", load=0.0002, settings={
        "run.measure_cycles": 100000, "switch.virtual_channels": 9,
    })
    structure = fl.structure(fl.network(net))
    # a path has a switch more than hops; now and then two packets do meet
    long = sum(point["hop_histogram"][structure.diameter + 1:])
    assert long < 0.01 * sum(point["hop_histogram"])


@pytest.mark.parametrize(("net", "selection", "channels", "used", "most"), [
    # paths of one leg have one link between groups and a hop before and after it, so 4 switches;
    # a packet that turned took a hop more
    ("dragonfly:h=2", "ugal_l", 4, "groups", 7), ("dragonfly:h=2", "valiant", 5, "groups", 7),
    ("dragonfly:h=2", "ugal_l", 6, "hops", 7), ("dragonfly:h=2", "par", 5, "groups", 8),
    ("dragonfly:h=2", "minimal", 4, "hops", 4), ("dragonfly:h=2", "minimal", 2, "groups", 4),
    ("megafly:leaves=3", "ugal_l", 4, "groups", 7), ("megafly:leaves=3", "par", 4, "groups", 8),
    (NET, "ugal_l", 4, "hops", 5), (NET, "par", 4, "hops", 5), (NET, "par", 5, "hops", 6),
])
def test_lanes_are_known_by_groups_where_hops_are_too_many(net, selection, channels, used, most):
    found = run(net, selection=selection, load=0.4,
                settings={"switch.virtual_channels": channels})
    assert found.verified and found.parameters["lane_use"] == used
    [point] = found.points
    assert not point["deadlocked"]
    assert len(point["hop_histogram"]) - 1 <= most


@pytest.mark.parametrize(("net", "given", "message"), [
    (NET, {"selection": "par", "settings": {"switch.virtual_channels": 3}}, "at least 4 with"),
    ("dragonfly:h=2", {"selection": "ugal_l", "settings": {"switch.virtual_channels": 3}},
     "at least 6 with lane_use hops, 4 with lane_use groups"),
    ("dragonfly:h=2", {"selection": "ugal_l", "settings": {"lane_use": "hops"}}, "lane_use groups"),
    (NET, {"settings": {"lane_use": "groups"}}, "lane_use: its switches have no groups"),
    (NET, {"selection": "par", "engine": "dfsssp"}, "selection: par on tables"),
])
def test_lanes_that_are_too_few_are_refused(net, given, message):
    with pytest.raises(fl.RefusalError) as refused:
        run(net, **given)
    assert message in str(refused.value)


def grids(groups: int, side: int) -> networkx.Graph:
    """Groups that are grids, each pair of them with one link: within one, paths have two hops and
    more, of one class where these are assigned by groups."""
    graph = networkx.Graph()
    for group in range(groups):
        grid = networkx.grid_2d_graph(side, side)
        graph.add_nodes_from(((group, *at) for at in grid), endpoints=1, group=group)
        graph.add_edges_from(((group, *a), (group, *b)) for a, b in grid.edges)
    for a in range(groups):
        for b in range(a):
            graph.add_edge((a, b % side, b // side), (b, a % side, a // side))
    return networkx.convert_node_labels_to_integers(graph)


@pytest.mark.parametrize(("net", "given"), [
    ("grids", {"lane_use": "groups", "switch.virtual_channels": 8}),
    ("grids", {"lane_use": "groups", "switch.virtual_channels": 4}),
    ("grids", {"lane_use": "hops"}), ("grids", {"lane_use": "any"}),
    ("dragonfly:h=2", {"switch.virtual_channels": 3}),
    ("dragonfly:h=2", {"lane_use": "hops", "switch.virtual_channels": 3}),
    ("dragonfly:h=2", {"lane_use": "any"}), ("megafly:leaves=3", {"lane_use": "any"}),
    (NET, {"switch.virtual_channels": 3}),
])
def test_all_that_a_refusal_advises_is_proved_and_new(net, given, tmp_path):
    if net == "grids":
        net = tmp_path / "grids.graphml"
        networkx.write_graphml(grids(3, 3), net)
    with pytest.raises(fl.RefusalError) as refused:
        run(net, selection="ugal_l", load=0.1, settings=given)
    advised = [(int(n), use) for n, use in
               re.findall(r"(\d+) with lane_use (\w+)", str(refused.value))]
    assert advised and advised[0][1] == "hops"
    for channels, use in advised:
        had = given.get("lane_use"), given.get("switch.virtual_channels", 4)
        assert had[0] != use or had[1] < channels
        found = run(net, selection="ugal_l", load=0.1, settings={
            "lane_use": use, "switch.virtual_channels": channels})
        assert found.verified


def test_d_mod_k_carries_shifts_without_contention():
    # the tables of ftree: of a shift of full pods every link up and down has one flow at most
    # (Zahavi, "Fat-tree routing and node ordering providing contention free traffic for MPI
    # global collectives", JPDC 72(11), 2012)
    point = point_of("fat_tree:levels=3,k=4", engine="ftree", traffic="shift:4", load=0.9,
                     settings={"run.warmup_cycles": 1000, "run.measure_cycles": 4000,
                               "links": True})
    assert not point["saturated"]
    used = [use for use in point["links"]["use"] if use > 0]
    assert all(use == pytest.approx(0.9, rel=0.05) for use in used)


def test_ugal_over_layers_goes_around_the_worst_case():
    # layer 0 is minimal: 1 / (2 p) of the link rate, as above
    tables = {"engine": "layered", "layers": 4}
    assert accepted(NET, "minimal", engine="layered", layers=1) == pytest.approx(1 / 8, rel=0.15)
    assert accepted(NET, "ugal_l", **tables) > 1.5 / 8


PLANES = "multi_plane:planes=2,of=ring:n=2,p=4"
ACROSS = [(i, (i + 4) % 8, 1.0) for i in range(8)]


def test_rails_share_the_load_of_an_endpoint():
    found = run(PLANES, traffic=ACROSS, load="auto", settings={"run.measure_cycles": 3000})
    # four endpoints a switch over a cable in each of two planes
    assert found.verified
    assert found.saturation_throughput == pytest.approx(0.5, rel=0.05)
    point = point_of(PLANES, traffic=ACROSS, load=0.3, settings={
        "run.measure_cycles": 4000, "links": True,
    })
    assert point["accepted_load"] == pytest.approx(0.3, rel=0.03)
    assert point["links"]["use"] == pytest.approx([0.6] * 4, rel=0.05)


def test_a_fixed_rail_is_the_number_of_the_endpoint():
    # endpoint 1 alone sends: by its rail 1, so in plane 1 alone
    point = point_of(PLANES, traffic=[(1, 5, 1.0)], load=0.5, settings={
        "run.measure_cycles": 4000, "links": True, "rail": "fixed",
    })
    used = {(a, b): use for a, b, use in zip(
        point["links"]["from"], point["links"]["to"], point["links"]["use"], strict=True)}
    [busy] = [ends for ends, use in used.items() if use > 0]
    assert used[busy] == pytest.approx(0.5, rel=0.05)
    names = fl.network(PLANES).switch_names
    assert {names.index(end) for end in busy} == {2, 3}


def test_a_plane_is_as_the_network_it_is_made_of():
    # one plane of two has half the load, and nothing of the other
    both = point_of("fit_fly:q=5,p=4,map=equal", load=0.6, settings={"run.measure_cycles": 1500})
    one = point_of(NET, load=0.3, settings={"run.measure_cycles": 1500})
    assert both["accepted_load"] == pytest.approx(2 * one["accepted_load"], rel=0.02)
    for name in ("mean_packet_latency_cycles", "mean_switches", "mean_link_use"):
        assert both[name] == pytest.approx(one[name], rel=0.02), name


@pytest.mark.parametrize("given", [
    {"selection": "ugal_l"}, {"selection": "par"}, {"engine": "dfsssp"},
])
def test_planes_run_proved_with_every_choice(given):
    one = run("fit_fly:q=3,p=2", load=1.2, threads=1, **given)
    assert one.verified and not one.points[0]["deadlocked"]
    assert one.to_dict() == run("fit_fly:q=3,p=2", load=1.2, threads=2, **given).to_dict()
    # an endpoint that sends to itself meets one switch, in the plane that it drew
    assert sum(one.points[0]["hop_histogram"]) > 0


def test_a_rail_has_one_flit_a_cycle():
    alone = "multi_plane:planes=2,of=star:n=4"
    point = point_of(alone, traffic="neighbour", load=1.8, settings={"run.measure_cycles": 3000})
    assert point["accepted_load"] == pytest.approx(1.8, rel=0.03)
    with pytest.raises(fl.RefusalError, match="at most 1 for each rail of an endpoint, here 2"):
        run(alone, load=2.1)
    with pytest.raises(fl.RefusalError, match="0 to 1 packets a cycle"):
        run(alone, traffic="neighbour", load=1.8, settings={"rail": "fixed"})
    with pytest.raises(fl.RefusalError, match="above 0, at most 1"):
        run(NET, load=1.5)
    down = fl.network("fit_fly:q=3,p=2")
    with pytest.raises(fl.RefusalError, match="are down, others are not"):
        run(down.with_failures([], [0]))


def test_the_worst_case_of_tables_is_sought_by_their_routes():
    # tables of one path a pair: the busiest channel carries what was sought, in full
    net = "jellyfish:n=12,k=3,p=2,seed=2"
    found = run(net, engine="min_hop", traffic="worst_case:tables", load=0.05, unverified=True,
                settings={"run.measure_cycles": 20000})
    [point] = found.points
    assert found.largest_channel_load > 2
    assert point["busiest_link_use"] == pytest.approx(
        0.05 * found.largest_channel_load, rel=0.1)
    with pytest.raises(fl.RefusalError, match="worst_case"):
        run(net, traffic="worst_case:tables")
