"""Repair of tables: against minimum arborescences, brute-force cycles and a live fabric."""

from __future__ import annotations

import json
import random
import re

import flyloom as fl
import networkx as nx
import numpy as np
import pytest
from cli_helpers import flyloom
from deploy_helpers import needs_fabric
from patience import QUIET_S

CASES = [
    ("slim_fly:q=5,p=2", "dfsssp", 1, {}),
    ("slim_fly:q=5,p=1", "layered", 3, {"max_lanes": 15}),
    ("slim_fly:q=4,p=1", "nue", 1, {"max_lanes": 3}),
    ("torus:shape=4x4,p=1", "dfsssp", 2, {}),
    ("torus:shape=5x3,p=2", "up_down", 1, {}),
    ("dragonfly:h=2", "dfsssp", 1, {"lanes": "hops"}),
    ("jellyfish:n=24,k=4,p=1,seed=2", "lash", 1, {}),
    ("fat_tree:leaves=6,spines=3,parallel=2,p=2", "ftree", 2, {}),
    ("mesh:shape=4x4,p=1", "dor", 1, {}),
]


def cabling(topology):
    """{(switch, port): (switch, port)} of working links."""
    t = topology.link_table
    ends = {}
    columns = (t[k] for k in ("a_switch", "a_port", "b_switch", "b_port", "up"))
    for a, p, b, q, up in zip(*columns, strict=True):
        if up:
            ends[int(a), int(p)] = (int(b), int(q))
            ends[int(b), int(q)] = (int(a), int(p))
    return ends


def least_changes(before, after, entries, home):
    """The fewest entries to change so that every switch that reached ``home`` does again: a
    minimum arborescence in which hops that the table has cost nothing, others one."""
    reached = set()
    for s in range(len(entries)):
        at, seen = s, set()
        while at != home and at not in seen and (at, int(entries[at])) in before:
            seen.add(at)
            at = before[at, int(entries[at])][0]
        if at == home:
            reached.add(s)
    arcs = [
        (w, s, int(port != entries[s])) for (s, port), (w, _) in after.items()
        if s in reached and w in reached and s != home
    ]
    return arborescence(reached, arcs, home)


def arborescence(nodes, arcs, root):
    """The cost of the cheapest tree of ``arcs`` (from, to, cost) away from ``root`` to all
    ``nodes`` (Chu and Liu 1965, Edmonds 1967)."""
    cheapest = {}
    for a, b, cost in arcs:
        if b != root and a != b and (b not in cheapest or cost < cheapest[b][1]):
            cheapest[b] = (a, cost)
    assert set(cheapest) == set(nodes) - {root}
    total = sum(cost for _, cost in cheapest.values())
    for start in nodes:
        walk = []
        at = start
        while at != root and at not in walk:
            walk.append(at)
            at = cheapest[at][0]
        if at == root:
            continue
        cycle = set(walk[walk.index(at):])
        merged = min(cycle)
        name = {v: merged if v in cycle else v for v in nodes}
        inner = [
            (name[a], name[b], cost - (cheapest[b][1] if b in cycle else 0))
            for a, b, cost in arcs if name[a] != name[b]
        ]
        return sum(cheapest[v][1] for v in cycle) + arborescence(set(name.values()), inner, root)
    return total


def turns(routing, tables, ends, edge):
    """All (port, lane) pairs that routes of ``tables`` hold one after the other, and whether all
    routes end; those that meet a dead port end there."""
    found = set()
    levels = routing.service_levels
    lanes = routing.lanes
    for layer in range(tables.shape[0]):
        for t in range(tables.shape[1]):
            for s in edge:
                at, held, steps = s, None, 0
                lane = 0 if levels is None else int(levels[layer, t, s]) % lanes
                while (at, int(tables[layer, t, at])) in ends:
                    out = (at, int(tables[layer, t, at]), lane)
                    if held is not None:
                        found.add((held, out))
                    held, at, steps = out, ends[out[:2]][0], steps + 1
                    if steps > tables.shape[2]:
                        return found, False
    return found, True


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[0]}-{c[1]}")
def test_few_entries_change_and_what_is_left_holds(case, seed):
    net, engine, layers, options = case
    topology = fl.network(net)
    routing = fl.route(topology, engine, layers=layers, **options)
    chance = random.Random(seed)
    count = [1, 1, 2, 4][seed]
    links = chance.sample(range(topology.links), count)
    damaged = topology.with_failures(links, [])
    try:
        repaired, done = fl.repair(routing, topology, links=links)
    except fl.RefusalError as refusal:
        assert count > 1 and "disconnected" in str(refusal), refusal
        return
    proof = fl.verify(repaired)
    assert proof.holds and proof.management.holds, (case, seed)
    old, new = routing.next, repaired.next
    assert done.changed_entries == int(np.sum(old != new)) == len(done.changes)
    before, after = cabling(topology), cabling(damaged)
    optimum = sum(
        least_changes(before, after, old[layer, t], int(home))
        for layer in range(layers) for t, (home, _) in enumerate(topology.attachments)
    )
    assert done.least_changed_entries <= optimum <= done.changed_entries
    if count == 1:
        assert done.least_changed_entries == optimum
    # entries that did not lose their port stay, unless they lie on the only new route that fits
    assert done.changed_entries <= 3 * optimum + 2

    if done.safe in ("in any order", "in the order given") and options.get("lanes") != "hops":
        edge = sorted({int(s) for s, _ in topology.attachments})
        held, ended = turns(routing, old, after, edge)
        assert ended
        order = list(done.changes)
        if done.safe == "in any order":
            chance.shuffle(order)
        tables = old.copy()
        names = {name: i for i, name in enumerate(topology.switch_names)}
        stops = sorted({0, len(order), *(chance.randrange(len(order) + 1) for _ in range(3))})
        at = 0
        for stop in stops:
            for c in order[at:stop]:
                assert tables[c.layer, c.terminal, names[c.switch]] == c.was
                tables[c.layer, c.terminal, names[c.switch]] = c.port
            at = stop
            now, ended = turns(repaired, tables, after, edge)
            assert ended, "a packet meets a loop while tables change"
            held |= now
        assert nx.is_directed_acyclic_graph(nx.DiGraph(held))
        assert (tables == new).all()


def test_a_single_link_of_a_slim_fly_changes_the_least_and_keeps_all_levels():
    """The entries over the dead cable must change. For the endpoints at either end of it one more
    must: a Moore graph has one path of two hops between two switches, so all neighbours of the
    other end come over it, and one of them must find another route first."""
    topology = fl.network("slim_fly:q=5,p=4")
    routing = fl.route(topology, "dfsssp")
    repaired, done = fl.repair(routing, topology, links=[17])
    table = topology.link_table
    dead = [(int(table[f"{x}_switch"][17]), int(table[f"{x}_port"][17])) for x in "ab"]
    over = sum(int(np.sum(routing.next[0, :, s] == port)) for s, port in dead)
    assert done.changed_entries == done.least_changed_entries == over + 2 * 4
    assert done.safe == "in the order given" and done.changed_service_levels == 0
    assert fl.verify(repaired).holds and repaired.lanes == 2


def test_switches_that_fail_take_their_endpoints_along():
    topology = fl.network("slim_fly:q=5,p=2")
    routing = fl.route(topology, "dfsssp", max_lanes=8)
    repaired, done = fl.repair(routing, topology, switches=[7])
    assert fl.verify(repaired).holds
    gone = {t for t, (s, _) in enumerate(topology.attachments) if s == 7}
    assert not any(c.terminal in gone for c in done.changes)
    assert done.changed_entries >= done.least_changed_entries > 0


def test_what_cannot_be_repaired_is_refused():
    ring = fl.network("torus:shape=5,p=1")
    routing = fl.route(ring, "dfsssp")
    with pytest.raises(fl.RefusalError, match="disconnected"):
        fl.repair(routing, ring, links=[0, 2])
    with pytest.raises(fl.RefusalError, match="no link"):
        fl.repair(routing, ring, links=[5])
    with pytest.raises(fl.RefusalError, match="not cabled as"):
        fl.repair(routing, fl.network("torus:shape=6,p=1"), links=[0])
    broken = ring.with_failures([1], [])
    with pytest.raises(fl.RefusalError, match="work that did not before"):
        fl.repair(fl.route(broken, "up_down"), ring)


def test_tables_that_could_deadlock_are_repaired_all_the_same():
    topology = fl.network("slim_fly:q=5,p=1")
    repaired, done = fl.repair(fl.route(topology, "min_hop"), topology, links=[3])
    assert done.safe == "unknown" and fl.verify(repaired).complete.holds
    assert done.changed_entries == done.least_changed_entries


def test_the_command_reads_and_writes_folders(tmp_path):
    assert flyloom("route", "slim_fly:q=5,p=1", "-o", str(tmp_path / "a")).returncode == 0
    words = ("repair", str(tmp_path / "a"), "--link", "sf-0-0-0:sf-0-0-1", "--json")
    done = flyloom(*words, "-o", str(tmp_path / "b"))
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["verified"] and document["failed_links"] == 1
    assert flyloom("verify", str(tmp_path / "b")).returncode == 0
    by_port = flyloom("repair", str(tmp_path / "a"), "--link", "sf-0-0-0:2", "--json")
    assert json.loads(by_port.stdout)["failed_links"] == 1
    found = flyloom("repair", str(tmp_path / "a"), "--found", str(tmp_path / "b/fabric.net"),
                    "--json")
    assert json.loads(found.stdout)["changes"] == document["changes"]
    for wrong, why in [
        (("--link", "nobody:sf-0-0-1"), "no switch nobody"),
        (("--link", "sf-0-0-0"), "SWITCH:PORT"),
        (("--link", "sf-0-0-0:99"), "no working cable"),
        (("--switch", "x"), "no switch x"),
        (("--random", "100000"), "100000 random links of"),
    ]:
        done = flyloom("repair", "slim_fly:q=5,p=1", *wrong)
        assert done.returncode == 2 and why in done.stderr, done.stderr


def test_digraphs_of_orcs_keep_their_own_tables(tmp_path):
    """Their routes are up*/down*: on one lane, which those of the default engines are not."""
    file = str(tmp_path / "x.dot")
    assert flyloom("route", "slim_fly:q=5,p=1", "-e", "up_down", "-o", file).returncode == 0
    needs = json.loads(flyloom("lanes", file, "--json").stdout)
    assert {row["lanes"] for row in needs["methods"]} == {1}
    named = json.loads(flyloom("lanes", file, "-e", "sssp", "--json").stdout)
    assert {row["lanes"] for row in named["methods"]} != {1}
    tree = str(tmp_path / "tree.dot")
    assert flyloom("route", CASES[7][0], "-e", "ftree", "-o", tree).returncode == 0
    repaired = json.loads(flyloom("repair", tree, "--random", "1", "--json").stdout)
    assert repaired["verified"] and repaired["engine"] == needs["engine"] != "dfsssp"


@needs_fabric
def test_a_cable_is_pulled_and_the_repaired_tables_are_read_back():
    from flyloom.deploy.live import Live

    topology = fl.network("slim_fly:q=5,p=1")
    routing = fl.route(topology, "dfsssp", lmc=1)
    with Live(topology, 1) as live:
        live.load(routing)
        table = topology.link_table
        end = live.switch_id(int(table["a_switch"][40]))
        live.ibsim.unlink(end, int(table["a_port"][40]))
        live.settle(QUIET_S)
        links, switches = fl.lost_in(topology, live.as_found())
        assert (links, switches) == ([40], [])
        repaired, done = fl.repair(routing, topology, links=links, switches=switches)
        damaged = topology.with_failures(links, switches)
        live.load(repaired)
        result = live.check(repaired, damaged)
        wrong = (result.differing_entries, result.differing_sl_entries,
                 result.differing_sl2vl_entries)
        assert wrong == (0, 0, 0), result.differences
        assert result.verified and result.deadlock_free
        assert done.safe in ("in the order given", "in steps")


def hops_of(routing, topology):
    """{(switch, terminal, layer): hops} of the routes between switches that work, walked one by
    one from a terminal of each switch."""
    rails = topology.terminal_table
    home, up = rails["switch"].tolist(), rails["up"].tolist()
    speaker = {home[t]: t for t in range(len(home)) if up[t]}
    return {
        (s, t, layer): len(routing.path(speaker[s], t, layer)) - 1
        for s in speaker for t in range(len(home)) if up[t] and home[t] != s
        for layer in range(routing.layers)
    }


@pytest.mark.parametrize(("net", "engine", "failed"), [
    ("ring:n=7,p=2", "dfsssp", {"links": [0]}),
    ("slim_fly:q=5,p=2", "layered", {"random": 9, "seed": 4}),
    ("torus:shape=4x4,p=2", "dfsssp", {"switches": [3], "links": [1]}),
    ("fat_tree:leaves=6,spines=3,parallel=2,p=2", "ftree", {"switches": ["spine-0"]}),
])
def test_lengths_before_and_after(net, engine, failed):
    topology = fl.network(net)
    routing = fl.route(topology, engine, layers=2 if engine == "layered" else 1)
    if "spine-0" in failed.get("switches", ()):
        failed = {"switches": [topology.switch_names[-1]]}
    repaired, found = fl.repair(routing, topology, **failed)
    after = hops_of(repaired, repaired.topology)
    before = hops_of(routing, repaired.topology)
    assert before.keys() == after.keys() and before
    assert found.mean_hops_before == pytest.approx(sum(before.values()) / len(before), rel=1e-12)
    assert found.mean_hops_after == pytest.approx(sum(after.values()) / len(after), rel=1e-12)
    assert found.max_hops_before == max(before.values())
    assert found.max_hops_after == max(after.values())
    changes = {}
    for route, was in before.items():
        if after[route] != was:
            changes[was, after[route]] = changes.get((was, after[route]), 0) + 1
    assert {(c["was"], c["hops"]): c["routes"] for c in found["hops_changes"]} == changes
    assert found.longer_routes == sum(n for (was, hops), n in changes.items() if hops > was)
    assert found.shorter_routes == sum(n for (was, hops), n in changes.items() if hops < was)
    assert found.longer_routes > 0 or "spine" in str(failed) or engine == "ftree"
    proof = fl.verify(repaired)
    assert found.mean_hops_after == pytest.approx(proof.complete.mean_hops, rel=1e-12)
    assert found.max_hops_after == proof.complete.max_hops


def test_the_command_tells_the_lengths():
    named = fl.network("ring:n=4,p=1").switch_names
    done = flyloom("repair", "ring:n=4,p=1", "-e", "up_down", "--link", f"{named[0]}:{named[1]}")
    assert done.returncode == 0, done.stderr
    # by hand: a ring of 4 without a cable is a row: mean (3 * 1 + 2 * 2 + 1 * 3) / 6, from 4 / 3
    assert "mean route [hops]       1.33333, now 1.66667" in done.stdout
    assert "longest route [hops]    2, now 3" in done.stdout
    assert "2 routes went from 1 to 3 hops" in done.stdout


def test_the_steps_say_what_must_have_left_before_each():
    """Three links cut one after the other, as where a change of the third deadlocked when packets
    with the levels of before were not waited for."""
    network = fl.network("torus:shape=4x4,p=1")
    tables = fl.route(network, "fatpaths", max_lanes=2)
    waits = "every packet has left whose service level was set before "
    seen = set()
    for link in (29, 12, 10):
        tables, done = fl.repair(tables, links=[link])
        seen.add((done.safe, done.stopped_entries > 0, done.changed_service_levels > 0))
        steps, due = list(done.steps), []
        if done.safe == "in steps":
            before = "the failures"
            for what, count in (("(`stops`)", done.stopped_entries),
                                ("(`level_changes`)", done.changed_service_levels)):
                if count:
                    due.append(what)
                    before = f"step {len(due)} was done"
                if count or what == "(`stops`)":
                    due.append(waits + before)
        due.append("(`changes`)")
        # the repair is over, and the next may begin
        due.append(f"before the next repair, wait until {waits}step {len(due)} was done")
        assert len(steps) == len(due)
        assert all(words in step for words, step in zip(due, steps, strict=True)), steps
        assert all("wait at their senders" in step for step in steps if waits in step)
        assert "nobody sends to what has failed, now or earlier" in steps[-1]
        for count, words in ((done.stopped_entries, "(`stops`)"),
                             (done.changed_entries, "(`changes`)")):
            said = [step for step in steps if step.endswith(words)]
            assert not count or said[0].split()[0] == str(count)
    assert ("in steps", True, True) in seen


@pytest.mark.parametrize("failed", [
    {"links": [0, 7]}, {"switches": [1]}, {"random": 2, "seed": 3}, {"switches": [-1], "random": 1},
], ids=["links", "a leaf", "random links", "a spine and a link"])
@pytest.mark.parametrize(("net", "engine", "lmc"), [
    ("fat_tree:leaves=6,spines=3,parallel=2,p=2", "ftree", 1), ("slim_fly:q=5,p=2", "dfsssp", 0),
])
def test_a_repair_counts_the_entries_that_loading_it_changes(net, engine, lmc, failed):
    """Entries towards endpoints, towards switches and cleared ones are together what differs
    between the forwarding tables that the fabric is given, counted from their texts."""
    before = fl.route(net, engine, lmc=lmc)
    on = before.topology
    asked = {**failed, "switches": [s % on.switches for s in failed.get("switches", [])]}
    repaired, done = fl.repair(before, **asked)
    was, now = (forwarding(tables) for tables in (before, repaired))
    differing = {guid: sum(was[guid].get(lid) != now[guid].get(lid)
                           for lid in was[guid].keys() | now[guid].keys()) for guid in now}
    assert done.changed_entries + done.changed_entries_to_switches + done.cleared_entries == sum(
        differing.values())
    assert done.changed_switches == sum(count > 0 for count in differing.values())
    assert (done.cleared_entries > 0) == bool(failed.get("switches"))


def forwarding(tables):
    """{switch GUID: {LID: port}} of tables as dump_fts would print them."""
    found, at = {}, None
    for line in tables.lft_text().splitlines():
        if words := re.match(r"Unicast lids .* guid 0x(\w+)", line):
            at = found.setdefault(words[1], {})
        elif entry := re.match(r"(0x\w+) (\d+)", line):
            at[int(entry[1], 16)] = int(entry[2])
    return found
