"""Packets at given times, and rails that packets are assigned to: against counts by hand."""

from __future__ import annotations

import random

import flyloom as fl
import networkx as nx
import pytest
from cli_helpers import document, flyloom

NET = "slim_fly:q=5,p=4"
SIZES = (1, 2, 5, 9)


def written(path, packets):
    rows = [("time_cycles", "source", "destination", "size_flits"), *packets]
    path.write_text("".join(f"{' '.join(map(str, row))}\n" for row in rows))
    return str(path)


def play(path, net=NET, **given):
    [point] = fl.simulate(net, "flit", traffic=path, **given).points
    return point


def switches(net=NET):
    """Switches on a shortest path between endpoints, by an independent search."""
    graph = nx.Graph(map(tuple, fl.network(net).edges.tolist()))
    far = dict(nx.all_pairs_shortest_path_length(graph))
    # four endpoints a switch, in order
    return lambda a, b: far[a // 4][b // 4] + 1


def latency(visited, flits):
    """Cycles of a packet that is alone: three a switch, two, and one for each further flit."""
    return 3 * visited + 2 + flits - 1


def test_packets_that_are_alone_take_the_time_of_the_formula(tmp_path):
    draw, visited = random.Random(1), switches()
    packets = [(200 * i, draw.randrange(200), draw.randrange(200), draw.choice(SIZES))
               for i in range(120)]
    point = play(written(tmp_path / "alone", packets))
    wanted = [latency(visited(a, b), flits) for _, a, b, flits in packets]
    histogram = {cycles: wanted.count(cycles) for cycles in sorted(set(wanted))}
    assert dict(point["latency_histogram"]) == histogram
    assert point["mean_packet_latency_cycles"] == point["mean_network_latency_cycles"]
    assert point["switched_flits"] == sum(visited(a, b) * flits for _, a, b, flits in packets)
    senders = len({a for _, a, _, _ in packets})
    flits = sum(packet[3] for packet in packets)
    assert point["offered_load"] == pytest.approx(flits / senders / (200 * 119 + 1))
    assert point["warmup_cycles"] == 0


def test_a_source_sends_one_flit_after_the_other(tmp_path):
    """Packets of one source to its neighbour switch wait for those before: counted one by one."""
    draw = random.Random(2)
    packets = sorted(
        (draw.randrange(60), 0, 1, draw.choice((1, 2, 3))) for _ in range(40)
    )
    point = play(written(tmp_path / "queue", packets))
    free, wanted = 0, []
    for created, _, _, flits in packets:
        begins = max(created, free)
        free = begins + flits
        wanted.append(begins - created + latency(1, flits))
    assert point["mean_packet_latency_cycles"] == pytest.approx(sum(wanted) / len(wanted))
    assert dict(point["latency_histogram"]) == {w: wanted.count(w) for w in wanted}


@pytest.mark.parametrize("given", [
    {}, {"engine": "dfsssp"}, {"selection": "minimal", "settings": {"switch.routing_delay": 0}},
])
def test_nothing_is_lost_however_much_there_is(tmp_path, given):
    draw, visited = random.Random(3), switches()
    packets = [(draw.randrange(300), draw.randrange(200), draw.randrange(200), draw.choice(SIZES))
               for _ in range(6000)]
    path = written(tmp_path / "many", packets)
    point = play(path, **given)
    assert sum(n for _, n in point["latency_histogram"]) == len(packets)
    by_hops = [0] * 4
    for _, a, b, _ in packets:
        by_hops[visited(a, b)] += 1
    assert point["hop_histogram"] == by_hops[1:3 + (by_hops[3] > 0)]
    assert point["switched_flits"] == sum(visited(a, b) * flits for _, a, b, flits in packets)
    assert point == play(path, threads=2, **given) == play(path, threads=1, **given)


def test_a_load_stretches_the_times(tmp_path):
    draw = random.Random(4)
    packets = [(draw.randrange(1000), draw.randrange(200), draw.randrange(200), draw.choice(SIZES))
               for _ in range(2000)]
    path = written(tmp_path / "stretched", packets)
    flits, senders = sum(p[3] for p in packets), len({p[1] for p in packets})
    last = max(p[0] for p in packets)
    own = flits / senders / (last + 1)
    assert play(path)["offered_load"] == pytest.approx(own)
    for load in (own / 3, own * 4):
        point = play(path, load=load)
        cycles = int(last * own / load) + 1
        assert point["offered_load"] == pytest.approx(flits / senders / cycles)
        assert sum(n for _, n in point["latency_histogram"]) == len(packets)
    # where some cycles are measured, the offered load counts the packets created in them
    part = play(path, settings={"run.warmup_cycles": 200, "run.measure_cycles": 300})
    created = [p for p in packets if 200 <= p[0] < 500]
    assert part["offered_load"] == pytest.approx(sum(p[3] for p in created) / senders / 300)
    assert part["warmup_cycles"] == 200


@pytest.mark.parametrize(("text", "message"), [
    ("time_cycles source destination size_flits\n1 2 3\n", "line 2: 3 values"),
    ("1 2 3 4\n1 2 200 4\n", "line 2: destination: there is no endpoint '200'"),
    ("1 2 3 4\n\nx 2 3 4\n", "line 3: time_cycles: 'x'"),
    ("1,2,3,0\n", "line 1: size_flits: '0'"),
    ("time_cycles,source,destination,size_flits\n", "times: there is no packet"),
    (f"{1 << 40} 2 3 1\n", f"the last packet is created in cycle {1 << 40}"),
])
def test_a_bad_file_is_refused_with_its_line(tmp_path, text, message):
    path = tmp_path / "bad"
    path.write_text(text)
    found = flyloom("sim", "flit", NET, "--traffic", str(path))
    assert found.returncode == 2
    assert message in found.stderr
    if "line" in message:
        assert str(path) in found.stderr


@pytest.mark.parametrize("settings", [
    {"injection": "on_off:0.1,0.1"}, {"packet_flits": 4},
])
def test_what_the_file_says_is_not_said_twice(tmp_path, settings):
    path = written(tmp_path / "packets", [(0, 1, 2, 1)])
    with pytest.raises(fl.RefusalError, match="with packets of given times"):
        play(path, settings=settings)
    with pytest.raises(fl.RefusalError, match="class: with packets of given times"):
        play(path, traffic_class=[{"share": 1}])


PLANES = "multi_plane:planes=3,of=ring:n=4,p=1"


def flits_by_plane(point, net, cycles):
    """Flits over links of each plane, by the names of its switches."""
    topology = fl.network(net)
    plane = dict(zip(topology.switch_names, (i // 4 for i in range(12)), strict=True))
    sent = [0.0] * 3
    for name, use in zip(point["links"]["from"], point["links"]["use"], strict=True):
        sent[plane[name]] += use * cycles
    return sent


@pytest.mark.parametrize("rail", ["round_robin", "fixed", "random", "least_used", "shortest"])
def test_packets_of_a_file_take_the_rail_that_is_said(tmp_path, rail):
    # each endpoint sends 30 packets to the next, one link away, long apart
    packets = [(40 * i + e, e, (e + 1) % 4, 2) for i in range(30) for e in range(4)]
    path = written(tmp_path / "rails", packets)
    settings = {"rail": rail, "run.warmup_cycles": 0, "run.measure_cycles": 1400, "links": True}
    point = play(path, PLANES, settings=settings)
    sent = flits_by_plane(point, PLANES, 1400)
    assert sum(sent) == pytest.approx(240)
    # endpoint e is on rail e modulo 3 where that is fixed: plane 0 has endpoints 0 and 3
    wanted = {"fixed": [120, 60, 60], "round_robin": [80] * 3, "least_used": [80] * 3,
              "shortest": [80] * 3}
    if rail in wanted:
        assert sent == pytest.approx(wanted[rail])
    else:
        assert min(sent) > 40 and sent != pytest.approx([80] * 3)


@pytest.mark.parametrize("rail", ["round_robin", "least_used", "shortest"])
def test_drawn_packets_are_assigned_evenly(rail):
    given = {"traffic": "neighbour", "load": 1.5, "settings": {
        "rail": rail, "run.measure_cycles": 4000, "links": True}}
    found = fl.simulate(PLANES, threads=1, **given)
    [point] = found.points
    sent = flits_by_plane(point, PLANES, 4000)
    assert sum(sent) == pytest.approx(4 * 1.5 * 4000, rel=0.03)
    if rail == "round_robin":
        # each endpoint's packets differ by one at most, and some are in flight at the ends
        assert max(sent) - min(sent) < 4 * 8
    assert found.to_dict() == fl.simulate(PLANES, threads=3, **given).to_dict()


def of_two_planes():
    """Five switches, all joined in plane 1; of plane 0 the ring 0 2 4 1 3 is left: to a neighbour
    it is two links, so half a flit a cycle each."""
    topology = fl.network("multi_plane:planes=2,of=hyperx:shape=5,p=1")
    kept = {(0, 2), (2, 4), (1, 4), (1, 3), (0, 3)}
    cut = [i for i, (a, b) in enumerate(topology.edges.tolist())
           if b < 5 and (min(a, b), max(a, b)) not in kept]
    return topology.with_failures(cut, [])


@pytest.mark.parametrize("given", [
    {"traffic": "neighbour", "load": 0.7}, {"traffic": "shift:2", "load": 0.7},
    {"traffic": "uniform", "load": 0.7},
])
def test_the_shorter_path_is_taken(given):
    """Only plane 1 has the shorter path to a neighbour; at distance two both have it, and take
    turns."""
    settings = {"rail": "shortest", "run.measure_cycles": 3000, "links": True,
                "switch.virtual_channels": 4}
    found = fl.simulate(of_two_planes(), settings=settings, threads=1, **given)
    [point] = found.points
    assert not point["saturated"]
    # shortest paths: one link, and to oneself none
    assert len(point["hop_histogram"]) == 2
    sent = [0.0, 0.0]
    names = fl.network("multi_plane:planes=2,of=hyperx:shape=5,p=1").switch_names
    for name, use in zip(point["links"]["from"], point["links"]["use"], strict=True):
        sent[names.index(name) // 5] += use
    wanted = {"neighbour": [0, 3.5], "shift:2": [1.75, 1.75]}.get(given["traffic"])
    if wanted is None:
        # two of four others are neighbours; packets to the other two take turns, or plane 0 more
        # often, as less waits there
        assert 0.24 * sum(sent) < sent[0] < 0.5 * sum(sent)
    else:
        assert sent == pytest.approx(wanted, rel=0.05)
    assert found.to_dict() == fl.simulate(of_two_planes(), settings=settings, threads=2,
                                          **given).to_dict()


def test_the_shorter_path_is_taken_by_packets_of_a_file(tmp_path):
    packets = [(30 * i, i % 5, (i + 1 + i // 5 % 4) % 5, 1 + i % 3) for i in range(60)]
    short = written(tmp_path / "short", packets)
    point = play(short, of_two_planes(), settings={"rail": "shortest"})
    assert point["hop_histogram"] == [0, 60]
    # longer paths occur where rails take turns
    turns = {"rail": "round_robin"}
    point = play(written(tmp_path / "turns", packets), of_two_planes(), settings=turns)
    assert len(point["hop_histogram"]) > 2


def test_a_plane_that_is_slow_is_avoided():
    """A plane has lost half of its links: who looks at what waits carries what others cannot."""
    hot = of_two_planes()
    found = {}
    for rail in ("random", "round_robin", "least_used"):
        [found[rail]] = fl.simulate(hot, load=1.2, traffic="neighbour", settings={
            "rail": rail, "run.measure_cycles": 3000, "switch.virtual_channels": 4}).points
    least = found.pop("least_used")
    assert not least["saturated"]
    for other in found.values():
        assert other["saturated"]
        assert least["accepted_load"] > other["accepted_load"]
        assert least["mean_packet_latency_cycles"] < other["mean_packet_latency_cycles"]


def test_the_program_plays_a_file(tmp_path):
    path = written(tmp_path / "packets", [(0, 0, 1, 1), (50, 0, 1, 3)])
    [point] = document("sim", "flit", NET, "--traffic", path)["points"]
    # one switch between endpoints 0 and 1
    assert dict(map(tuple, point["latency_histogram"])) == {5: 1, 7: 1}
