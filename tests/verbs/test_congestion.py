"""Congestion of patterns: closed forms, and messages sent one by one over routes followed here."""

from __future__ import annotations

import itertools
import json
import math
import os
import subprocess
import sys
from collections import Counter, defaultdict
from statistics import fmean, variance

import flyloom as fl
import numpy as np
import pytest
from flyloom import RefusalError
from oracle_routes import Routes, Wires, fnv1a64
from test_ebb import terminals_of, two_rails, uneven


class Stream:
    """Numpy's Philox under our names, with Lemire's bounded integers."""

    def __init__(self, seed: int, name: str, index: int) -> None:
        key = np.array([seed, fnv1a64(name)], dtype=np.uint64)
        self.raw = np.random.Philox(
            key=key, counter=np.array([0, 0, index, 0], dtype=np.uint64)).random_raw

    def below(self, bound: int) -> int:
        while True:
            product = int(self.raw()) * bound
            if product % 2**64 >= (2**64 - bound) % bound:
                return product >> 64

    def shuffled(self, items: list) -> list:
        items = list(items)
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]
        return items

    def happens(self, chance: float) -> bool:
        return (int(self.raw()) >> 11) / 2**53 < chance


def neighbours(n: int, k: int) -> list:
    """Slots are filled from the left, each with the next rank that has one free."""
    joined: list[set] = [set() for _ in range(n)]
    for i in range(n):
        for j in range(i + 1, n):
            if len(joined[i]) < k and len(joined[j]) < k:
                joined[i].add(j)
                joined[j].add(i)
    return [(i, j) for i in range(n) for j in sorted(joined[i])]


def grid_of(n: int, shape: str) -> list[int]:
    if "x" in shape:
        return [int(side) for side in shape.split("x")]
    sides, left = [], n
    for d in range(int(shape), 0, -1):
        side = next(x for x in itertools.count(1) if x**d >= left)
        sides.append(side)
        left = -(-left // side)
    return sides


def stencil(n: int, shape: str) -> list:
    sides = grid_of(n, shape)
    places = list(itertools.product(*(range(side) for side in reversed(sides))))
    rank = {tuple(reversed(place)): i for i, place in enumerate(places) if i < n}
    found = set()
    for place, i in rank.items():
        for d, sign in itertools.product(range(len(sides)), (1, -1)):
            other = list(place)
            while True:
                other[d] = (other[d] + sign) % sides[d]
                if tuple(other) in rank:
                    break
            found.add((i, rank[tuple(other)]))
    return sorted(pair for pair in found if pair[0] != pair[1])


def receivers(n: int, argument: str, draw: Stream, one: bool) -> list:
    words = argument.split(",")
    linear = words[-1] == "linear"
    numbers = [float(word) for word in words if word[0].isdigit()]
    count, chance, idle = int(numbers[0]), *([*numbers[1:], 1.0, 0.0][:2] if len(numbers) == 1
                                             else [*numbers[1:], 0.0][:2])
    senders = list(range(count, n))
    senders = senders if linear else draw.shuffled(senders)
    senders = senders[:count] if one else senders
    messages, others = [], []
    for i, sender in enumerate(senders):
        if draw.happens(chance):
            messages.append((sender, i % count))
        elif not draw.happens(idle):
            others.append(sender)
    if len(others) > 1:
        messages += list(zip(others, others[1:] + others[:1], strict=True))
    return messages


def levels_of(name: str, argument: str, n: int, draw: Stream) -> list[list]:
    """The messages of all levels, as they are defined."""
    h = n // 2
    if name == "bisect":
        return [[(i, h + i) for i in range(h)]]
    if name == "bisect_symmetric":
        return [[p for i in range(h) for p in ((i, h + i), (h + i, i))]]
    if name == "permutation":
        to = list(range(n))
        while any(a == b for a, b in enumerate(to)):
            to = draw.shuffled(to)
        return [list(enumerate(to))]
    if name in ("shift", "ring"):
        return [[(i, (i + int(argument or 1)) % n) for i in range(n)]]
    if name == "token_ring":
        return [[(i, (i + 1) % n)] for i in range(n)]
    if name in ("tree", "binomial"):
        arity, have, levels = int(argument or 2), 1, []
        while have < n:
            levels.append([(i, i + j * have) for i in range(have) for j in range(1, arity)
                           if i + j * have < n])
            have *= arity
        return levels
    if name == "bruck":
        return [[(i, (i + 2**l) % n) for i in range(n)] for l in range(math.ceil(math.log2(n)))]
    if name == "recursive_doubling":
        power = 1 << (n.bit_length() - 1)
        levels = [[(i, i ^ (1 << l)) for i in range(power)] for l in range(n.bit_length() - 1)]
        return levels + ([[(i, i + power) for i in range(n - power)]] if n > power else [])
    if name == "gather":
        return [[(i, 0) for i in range(1, n)]]
    if name == "scatter":
        return [[(0, i) for i in range(1, n)]]
    if name == "stencil":
        return [stencil(n, argument or "2")]
    if name == "neighbours":
        return [neighbours(n, int(argument))]
    if name == "null":
        return []
    return [receivers(n, argument, draw, name == "receivers_one")]


PATTERNS = [
    "bisect", "bisect_symmetric", "permutation", "shift", "shift:3", "ring", "token_ring", "tree",
    "tree:3", "binomial", "bruck", "recursive_doubling", "gather", "scatter", "stencil",
    "stencil:1", "stencil:3", "neighbours:3", "receivers:2", "receivers:2,linear",
    "receivers:3,0.5,0.25", "receivers_one:3", "receivers_one:3,0.5",
]
NETWORKS = {
    "slim fly": (lambda: fl.slim_fly(q=3, p=1), 200),
    "fat tree": (lambda: fl.fat_tree(leaves=4, spines=2, parallel=2, p=3), 200),
    "uneven": (uneven, 200), "two rails": (two_rails, 200),
}


class Oracle:
    """A run of a pattern, message by message."""

    def __init__(self, topology, routing, injection: float, cables: bool) -> None:
        self.routes, self.injection = Routes(routing, Wires(topology)), injection
        self.terminals, self.cables = terminals_of(topology), cables
        document = json.loads(topology.to_text("json"))
        rate = {"HDR": 50, "EDR": 25}
        rails = [rail for e in document["endpoints"] for rail in e["rails"]]
        cables = [rail[2] or {"speed": "HDR", "width": 4} for rail in rails]
        self.rates = [rate[cable["speed"]] * cable["width"] for cable in cables]

    def paths(self, a: int, b: int) -> list[list]:
        wires, layers = self.routes.wires, self.routes.routing.layers
        return [
            ([("out", s)] if self.cables else [])
            + list(self.routes.all[layer, wires.home[s][0], t])
            + ([("in", t)] if self.cables else [])
            for s in self.terminals[a] for t in self.terminals[b] for layer in range(layers)
        ]

    def level(self, pairs: list) -> tuple[list[float], list[float], dict]:
        """Share and congestion of each message, and the loads."""
        load: dict = defaultdict(float)
        flows = [self.paths(a, b) for a, b in pairs]
        for paths in flows:
            for channel in itertools.chain.from_iterable(paths):
                rate = (self.rates[channel[1]] if isinstance(channel, tuple)
                        else self.routes.wires.rate[channel])
                load[channel] += self.injection / rate / len(paths)
        worst = [[max([1.0, *(load[c] for c in path)]) for path in paths] for paths in flows]
        return [fmean(1 / w for w in ws) for ws in worst], [max(ws) for ws in worst], load


def ranks_of(seed: int, run: int, n: int, used: int, given: list[int]) -> list[int]:
    others = [e for e in range(n) if e not in given]
    return (given + Stream(seed, "bisection", run).shuffled(others))[:used]


def up(value: float) -> int:
    return math.ceil(value - 1e-9)


def judge(oracle: Oracle, pattern: str, seed: int, runs: int, found, order, used=None, part=None,
          levels="each") -> None:
    """Every figure of a result against a run of every message."""
    n = len(oracle.terminals)
    given = list(range(n)) if order == "linear" else [] if order == "random" else order
    used = used or (len(given) or n)
    jobs = [(word.partition(":")[0], word.partition(":")[2]) for word in pattern.split("::")]
    sizes = [used] if len(jobs) == 1 else [part, used - part]
    values = {key: [] for key in ("bandwidth", "congestion", "time", "delay")}
    shares_all, congestions, job_shares = [], Counter(), ([], [])
    carried: dict = defaultdict(float)
    for run in range(runs):
        ranks = ranks_of(seed, run, n, used, given)
        draws = [Stream(seed, "pattern", 2 * run + job) for job in (0, 1)]
        all_levels = [levels_of(*job, size, draw)
                      for job, size, draw in zip(jobs, sizes, draws, strict=False)]
        if levels == "all":
            all_levels = [[[m for level in job for m in level]] for job in all_levels]
        count = len(all_levels[0])
        if len(jobs) == 2 and all_levels[1]:
            count = -(-max(count, 1) // len(all_levels[1])) * len(all_levels[1])
        arrival = [0.0] * sizes[0]
        shares, per_job, time, largest = [], ([], []), 0.0, 0.0
        for l in range(count) if levels in ("each", "all") else [levels]:
            first = all_levels[0][l] if l < len(all_levels[0]) else []
            second = []
            if len(jobs) == 2 and all_levels[1]:
                if l and l % len(all_levels[1]) == 0:  # it starts again, with draws of its own
                    all_levels[1] = levels_of(*jobs[1], sizes[1], draws[1])
                second = all_levels[1][l % len(all_levels[1])]
            pairs = first + [(a + sizes[0], b + sizes[0]) for a, b in second]
            share, congestion, load = oracle.level([(ranks[a], ranks[b]) for a, b in pairs])
            for channel, value in load.items():
                carried[channel] += value
            shares += share
            per_job[0].extend(share[:len(first)])
            per_job[1].extend(share[len(first):])
            congestions.update(map(up, congestion))
            time += max(congestion, default=0)
            largest = max([largest, *congestion])
            at = [arrival[a] + c for (a, _), c in zip(first, congestion, strict=False)]
            for (_, b), t in zip(first, at, strict=True):
                arrival[b] = max(arrival[b], t)
        shares_all += shares
        for kept, new in zip(job_shares, per_job, strict=True):
            kept.append(fmean(new) if new else 1.0)
        for key, value in (("bandwidth", fmean(shares) if shares else 1.0), ("time", time),
                           ("congestion", largest), ("delay", max(arrival))):
            values[key].append(value)
    close = lambda x: pytest.approx(x, rel=1e-9, abs=1e-12)  # noqa: E731
    if found.metric == "channels":
        links = 2 * oracle.routes.wires.topology.links
        for channel, value in enumerate(found.series):
            name = channel if channel < links else (
                ("out", "in")[channel % 2], (channel - links) // 2)
            assert value == close(carried[name] / runs)
        return
    wanted = values[found.metric]
    assert found.series == close(wanted)
    assert (found.mean, found.min, found.max) == close((fmean(wanted), min(wanted), max(wanted)))
    assert found.variance == close(variance(wanted))
    assert found.mean_share == close(fmean(values["bandwidth"]))
    assert (found.min_share, found.max_share) == close((min(shares_all), max(shares_all)))
    assert found.max_congestion == close(max(values["congestion"]))
    assert (found.mean_time, found.mean_delay) == close(
        (fmean(values["time"]), fmean(values["delay"])))
    assert found.congestion_histogram == [list(x) for x in sorted(congestions.items())]
    bins = Counter(min(19, math.floor(s * 20 - 1e-9)) for s in shares_all)
    assert found.share_histogram == [bins[i] for i in range(20)]
    if found.metric == "bandwidth":
        bins = Counter(min(19, math.floor(s * 20 - 1e-9)) for s in wanted)
        assert [n for _, _, n in found.histogram] == [bins[i] for i in range(20)]
    else:
        counted = congestions if found.metric == "congestion" else Counter(map(up, wanted))
        assert [[high, n] for _, high, n in found.histogram] == [
            list(x) for x in sorted(counted.items())]
    if len(jobs) == 2:
        assert found.first_job_share == close(fmean(job_shares[0]))
        assert found.second_job_share == close(fmean(job_shares[1]))
    else:
        assert found.first_job_share is found.second_job_share is None


METRICS = ["bandwidth", "congestion", "time", "delay", "channels"]


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("name", NETWORKS)
def test_every_figure_is_that_of_every_message_sent_here(name, pattern):
    make, injection = NETWORKS[name]
    topology = make()
    place = PATTERNS.index(pattern) + list(NETWORKS).index(name)
    routing = fl.route(topology, "sssp", layers=1 + place % 3)
    cables, levels = place % 4 != 0, ("each", "all")[place % 2]
    oracle = Oracle(topology, routing, injection, cables)
    for order in ("random", "linear", [5, 2, 7, 1, 0, 3]):
        used = [None, len(oracle.terminals) - 1][place % 2]
        found = fl.congestion(
            routing, pattern, samples=4, seed=place, placement=order, endpoints=used, levels=levels,
            endpoint_cables=cables, metric=METRICS[place % 5],
        )
        if used is None and isinstance(order, list):
            assert found.endpoints == 6
        judge(oracle, pattern, place, 4, found, order, used, levels=levels)


@pytest.mark.parametrize("pattern", [
    "ring::bisect", "tree::permutation", "null::gather", "bruck::null", "bisect::tree",
    "token_ring::recursive_doubling", "receivers:2::stencil:2x4",
])
@pytest.mark.parametrize("metric", METRICS)
def test_two_jobs_share_the_network(pattern, metric):
    topology = fl.slim_fly(q=3, p=1)
    routing = fl.route(topology, "sssp")
    part = 10
    found = fl.congestion(routing, pattern, samples=5, seed=3, first_job=part, metric=metric)
    assert found.first_job == part
    judge(Oracle(topology, routing, 200, True), pattern, 3, 5, found, "random", part=part)
    more = {"samples": 5, "seed": 3, "first_job": part, "metric": metric}
    assert fl.congestion(routing, "two_jobs", pattern, **more) == found


def test_one_level_alone():
    topology = fl.slim_fly(q=3, p=1)
    routing = fl.route(topology, "sssp")
    for level in range(5):  # 18 ranks: 5 levels
        found = fl.congestion(routing, "bruck", samples=3, levels=level)
        judge(Oracle(topology, routing, 200, True), "bruck", 0, 3, found, "random", levels=level)
    with pytest.raises(RefusalError, match="level: there is no level 5; 0 to 4"):
        fl.congestion(routing, "bruck", levels=5)


def test_bisect_without_endpoint_cables_is_the_effective_bisection_bandwidth():
    routing = fl.route("slim_fly:q=5,p=3", "dfsssp", lmc=1)
    found = fl.congestion(routing, "bisect", samples=40, seed=7, endpoint_cables=False)
    wanted = fl.ebb(routing, samples=40, seed=7)
    assert found.series == wanted.pattern_means
    assert found.mean_share == wanted.effective_bisection_bandwidth
    assert found.share_histogram == wanted.flow_histogram
    assert found.max_congestion == wanted.max_congestion
    # full endpoint cables carry one flow each, so they take nothing away
    assert fl.congestion(routing, "bisect", samples=40, seed=7).series == wanted.pattern_means


def test_closed_forms():
    def run(source, engine, pattern, **more):
        return fl.congestion(fl.route(source, engine), pattern, samples=3, **more)

    # neighbours on a ring are one hop apart: every channel of a direction carries one message
    ring = run("torus:shape=9", "dor", "ring", placement="linear")
    assert (ring.max_congestion, ring.mean_share) == (1, 1)
    # a shift by k on a ring of n > 2 k: every channel forward carries k
    for k in (2, 3, 4):
        shifted = run("torus:shape=9", "dor", f"shift:{k}", placement="linear", metric="channels")
        assert sorted(set(shifted.series[:18])) == [0, k] and shifted.max_congestion == k
    # a grid on itself: one message a channel of the network, four on the cable of an endpoint
    torus = run("torus:shape=4x4", "dor", "stencil:4x4", placement="linear", metric="channels")
    assert torus.series == [1.0] * 64 + [4.0] * 32
    assert run("torus:shape=4x4", "dor", "stencil:4x4", placement="linear",
               endpoint_cables=False).max_congestion == 1
    # all but one send to one: its cable carries n - 1
    for source in ("slim_fly:q=5,p=2", "fat_tree:leaves=4,spines=4,p=4"):
        n = fl.network(source).endpoints
        for pattern in ("gather", "scatter"):
            found = run(source, "sssp", pattern)
            assert found.max_congestion == n - 1
            assert found.mean_share == pytest.approx(1 / (n - 1))
    # r receivers of s senders each
    many = run("fat_tree:leaves=1,spines=1,p=12", "sssp", "receivers:3")
    assert many.congestion_histogram == [[3, 27]]
    # one switch never blocks a permutation
    for pattern in ("permutation", "bisect_symmetric", "shift:5", "bruck", "recursive_doubling"):
        assert run("fat_tree:leaves=1,spines=1,p=12", "sssp", pattern).max_congestion == 1
    # shifts on a fat tree of full bisection, destination modulo spines: nobody waits
    for k in range(1, 16):
        found = run("fat_tree:leaves=4,spines=4,p=4", "ftree", f"shift:{k}", placement="linear")
        assert found.max_congestion == 1, k
    # times: a level each of congestion 1
    tree = run("fat_tree:leaves=1,spines=1,p=16", "sssp", "binomial", metric="time")
    assert tree.series == [4, 4, 4] and tree.mean_delay == 4
    token = run("fat_tree:leaves=1,spines=1,p=7", "sssp", "token_ring", metric="delay")
    assert token.series == [7, 7, 7] and token.levels == 7


def test_names_of_orcs_are_understood():
    routing = fl.route("slim_fly:q=3,p=1", "sssp")
    for theirs, ours in [("rand", "permutation"), ("bisect_fb_sym", "bisect_symmetric"),
                         ("recdbl", "recursive_doubling"), ("neighbor:3", "neighbours:3"),
                         ("neighbor2d", "stencil:2"), ("recvs_all_src:2", "receivers:2")]:
        for metric, name in [("hist_max_cong", "congestion"), ("dep_max_delay", "delay")]:
            a = fl.congestion(routing, theirs, samples=5, metric=metric)
            b = fl.congestion(routing, ours, samples=5, metric=name)
            assert a.series == b.series and a.metric == name


def test_given_orders_go_by_name_and_number():
    topology = fl.slim_fly(q=3, p=1)
    routing = fl.route(topology, "sssp")
    names = [e["name"] for e in json.loads(topology.to_text("json"))["endpoints"]]
    by_name = fl.congestion(routing, "gather", samples=3, placement=[names[4], names[2], names[9]])
    by_number = fl.congestion(routing, "gather", samples=3, placement=[4, 2, 9])
    assert by_name == by_number and by_name.endpoints == 3
    more = fl.congestion(routing, "gather", samples=3, placement=[4, 2], endpoints=6)
    assert more.endpoints == 6 and more.max_congestion == 5


SCRIPT = """
import flyloom as fl
r = fl.route("slim_fly:q=5,p=2", "sssp", layers=2)
for p in ("permutation::receivers:5", "bruck", "stencil:3"):
    for m in ("bandwidth", "channels"):
        print(fl.congestion(r, p, samples=130, seed=5, metric=m))
"""


def test_threads_change_nothing():
    outs = {
        subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, check=True, timeout=300,
                       env={**os.environ, "RAYON_NUM_THREADS": threads}).stdout
        for threads in ("1", "3")
    }
    assert len(outs) == 1 and len(outs.pop()) > 1000


def test_longer_runs_repeat_shorter_ones():
    routing = fl.route("slim_fly:q=3,p=2", "sssp")
    long = fl.congestion(routing, "permutation", samples=200, seed=1)
    assert fl.congestion(routing, "permutation", samples=70, seed=1).series == long.series[:70]
    assert fl.congestion(routing, "permutation", samples=70, seed=2).series != long.series[:70]


@pytest.mark.parametrize(("more", "message"), [
    ({"pattern": "circle"}, "pattern: there is no 'circle'; all_to_all, "),
    ({"pattern": "null"}, "pattern: null sends nothing"),
    ({"pattern": "gather:1"}, "pattern: '1' for gather; gather takes none"),
    ({"pattern": "shift:18"}, "pattern: '18' for shift; by: 1 to 17"),
    ({"pattern": "shift", "argument": 2**32 - 1}, "by: 1 to 17"),
    ({"pattern": "tree:1"}, "arity: 2 to 18"),
    ({"pattern": "neighbours"},
     "none for neighbours; count: it is not given; a whole number from 1"),
    ({"pattern": "stencil:4x4"}, "'4x4' for stencil; 1 to 16 dimensions, or sides, such as 6x3"),
    ({"pattern": "stencil:0"}, "1 to 16 dimensions"),
    ({"pattern": "stencil:4294967295x4294967295"}, "such as 6x3"),
    ({"pattern": "stencil:17"}, "1 to 16 dimensions"),
    ({"pattern": "receivers"}, "none for receivers; count: it is not given"),
    ({"pattern": "receivers:10"}, "count: 1 to 9"),
    ({"pattern": "receivers:2,1.5"}, "chance: 1.5 is out of range; a number from 0 to 1"),
    ({"pattern": "receivers:2,nan"}, "'nan': receivers takes count, chance, idle, order"),
    ({"pattern": "receivers:2,0.1,0.1,0.1"}, "'0.1': receivers takes count, chance"),
    ({"endpoints": 19}, "endpoints: 19 of 18 working endpoints; 2 to 18"),
    ({"endpoints": 1}, "endpoints: 1 is out of range; 2"),
    ({"samples": 0}, "samples: 0 is out of range; 1 to"),
    ({"first_job": 4}, "first_job: 'bisect' is one job"),
    ({"pattern": "ring::ring", "first_job": 17}, "first_job: 17 of 18 .*; 2 to 16"),
    ({"pattern": "ring::ring", "endpoints": 3}, "endpoints: .* two jobs need at least 4"),
    ({"pattern": "two_jobs"}, "argument: two jobs; such as"),
    ({"placement": "sorted"}, "placement: there is no 'sorted'; random, linear"),
    ({"placement": ["nobody"]},
     "placement: 'nobody' is no working endpoint; names, or numbers 0 to 17"),
    ({"placement": [3, 3]}, "placement: '3' is there twice"),
    ({"placement": []}, "placement: no endpoints"),
    ({"levels": "some"}, "levels: there is no 'some'; each, all"),
    ({"levels": 1}, "level: there is no level 1; 0 to 0"),
    ({"metric": "speed"}, "metric: there is no 'speed'; bandwidth, congestion, time"),
])
def test_bad_input_is_refused_with_what_is_valid(more, message):
    with pytest.raises(RefusalError, match=message):
        fl.congestion(fl.route("slim_fly:q=3,p=1", "sssp"), **more)
