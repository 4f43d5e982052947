"""Tables of ours and of OpenSM's own engines, through a real OpenSM and back, judged twice.

What must come out is known from elsewhere: the numbers of entries by counting, the deadlock
verdicts from the literature and from ibdmchk, the tables by an independent reader.
"""

import json
import re
from pathlib import Path

import flyloom as fl
import pytest
from campaign import count
from cli_helpers import flyloom
from deploy_helpers import needs_fabric
from flyloom.deploy import oracle, readback
from flyloom.deploy.fabric import judge, opensm_engine
from flyloom.deploy.live import Live, compared
from patience import QUIET_S

pytestmark = [pytest.mark.ib, needs_fabric]

SLIM_FLY = "slim_fly:q=5,p=4"
FAT_TREE = "fat_tree:leaves=12,spines=6,parallel=3,p=18"
FEWER = {SLIM_FLY: "slim_fly:q=5,p=2", FAT_TREE: "fat_tree:leaves=6,spines=3,parallel=2,p=6"}
"""Networks with fewer endpoints, used with several addresses of each: pairs take the time."""
SIZES = {  # switches, endpoints, ports in use
    SLIM_FLY: (50, 200, 7 + 4), FEWER[SLIM_FLY]: (50, 100, 7 + 2),
    FAT_TREE: (18, 216, 36), FEWER[FAT_TREE]: (9, 36, 12),
}
PARTS = ("entries", "sl_entries", "sl2vl_entries")


def differing(found):
    return [found[f"differing_{part}"] for part in PARTS]


def may_deadlock(net, engine):
    """Shortest paths on one lane: they deadlock on the Hoffman-Singleton graph, whose shortest
    paths are unique and wind around its pentagons, and cannot on a tree (up, then down). dfsssp and
    layered take as many lanes as they need."""
    return net.startswith("slim_fly") and engine in ("min_hop", "sssp")


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("net", "lmc", "engines", "judged"),
    [
        (SLIM_FLY, 0, ["min_hop", "dfsssp", "sssp"], ["min_hop", "dfsssp", "sssp"]),
        (SLIM_FLY, 1, ["min_hop", "dfsssp", "sssp"], ["dfsssp"]),
        (SLIM_FLY, 2, ["sssp", "layered"], []),
        (FAT_TREE, 0, ["min_hop", "dfsssp", "sssp"], ["min_hop", "dfsssp"]),
        (FAT_TREE, 1, ["sssp"], []),
        (FAT_TREE, 2, ["dfsssp"], []),
    ],
)
def test_our_tables_read_back_identical(net, lmc, engines, judged):
    """Engines one after the other in one running OpenSM."""
    net = FEWER[net] if lmc and count(1, 0) else net
    topology = fl.network(net)
    switches, endpoints, ports = SIZES[net]
    with Live(topology, lmc) as live:
        for engine in engines:
            routing = fl.route(topology, engine, lmc=lmc)
            live.load(routing)
            snapshot = live.read(topology)
            found = compared(routing, snapshot, lmc)
            assert differing(found) == [0, 0, 0], found["differences"]
            assert [found[part] for part in PARTS] == [
                switches * (endpoints * 2**lmc + switches),
                endpoints * (endpoints - 1) * 2**lmc,
                switches * (ports + 1) * ports,
            ]
            free = not may_deadlock(net, engine)
            assert (found["deadlock_free"], found["verified"]) == (free, free)
            assert bool(found["counterexample"]) == (not free)
            if engine in judged:
                assert judge(live, snapshot) == (oracle.NO_LOOP if free else oracle.LOOP)


def test_what_is_read_is_what_was_computed_by_another_reader():
    """LFTs by a reader in Python against the routing's array, SLs by saquery."""
    topology = fl.network(SLIM_FLY)
    routing = fl.route(topology, "dfsssp", lmc=1)
    addresses = topology.addresses(1)
    with Live(topology, 1) as live:
        live.load(routing)
        tables = readback.parse_fts(readback.dump_fts(live.ibsim))
        asked = [(t, u, layer) for t, u, layer in ((0, 199, 0), (7, 90, 1), (133, 12, 1))]
        levels = []
        for t, u, layer in asked:
            pair = f"{addresses['lid'][t]}:{addresses['lid'][u] + layer}"
            text = live.ibsim.run(["saquery", "--src-to-dst", pair])
            levels.append(int(re.search(r"\bsl\.+0x([0-9A-Fa-f]+)", text)[1], 16))
    for layer in range(2):
        for t, lid in enumerate(addresses["lid"]):
            column = [tables[guid][lid + layer] for guid in addresses["switch_guid"]]
            assert column == routing.next[layer, t].tolist()
    home = topology.attachments[:, 0]
    wanted = [int(routing.service_levels[layer, u, home[t]]) for t, u, layer in asked]
    assert levels == wanted


def test_tables_are_loaded_and_read_without_dumps_of_opensm():
    with Live(fl.network("ring:n=4,p=1"), dumps=False) as live:
        live.load(routing := fl.route(live.topology, "dfsssp"))
        found = live.check(routing, live.topology)
        assert found.entries == 32 and found.verified
        assert not list(live.manager.dumps.glob("*lfts*"))


@pytest.mark.parametrize("net", ["dragonfly:h=2", "torus:shape=4x4", "hyperx:shape=4x4"])
def test_other_families(net):
    topology = fl.network(net)
    found = fl.deploy(fl.route(topology, "dfsssp"), topology=topology, oracle=True)
    assert differing(found) == [0, 0, 0]
    assert found.deadlock_free and found.verified
    assert found.oracle == oracle.NO_LOOP


# ---- comparisons that must fail ----


def changed_port(text):
    """The entry of the first terminal in the last lft record goes to another cabled port."""
    lines = text.split("\n")
    at = max(i for i, line in enumerate(lines) if line.startswith("lft "))
    words = lines[at].split(" ")
    words[4] = str(5 + (int(words[4]) - 5 + 1) % 7)  # ports 5 to 11 lead to switches
    lines[at] = " ".join(words)
    return "\n".join(lines)


def changed_level(text):
    lines = text.split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith("sl 0x"))
    head, digits = lines[at].rsplit(" ", 1)
    place = len(digits) // 2 - 60
    other = "1" if digits[place] == "0" else "0"
    lines[at] = f"{head} {digits[:place]}{other}{digits[place + 1:]}"
    return "\n".join(lines)


def changed_lanes(text):
    topology = fl.network(SLIM_FLY)
    guid = topology.addresses()["switch_guid"][31]
    row = f"sl2vl 0x{guid:016x} 6 9 {' '.join(['1', '0'] * 8)}\n"
    return text.removesuffix("end\n") + row + "end\n"


def test_a_changed_entry_is_found():
    """One entry of each kind is changed in the file that OpenSM gets; then in what is read."""
    topology = fl.network(SLIM_FLY)
    routing = fl.route(topology, "dfsssp")
    text = routing.table_text()
    with Live(topology) as live:
        live.load(routing)
        clean = live.read(topology)
        for change, one in ((changed_port, 0), (changed_level, 1), (changed_lanes, 2)):
            live.load_text(change(text))
            found = live.check(routing, topology)
            assert found[f"differing_{PARTS[one]}"] >= 1
            assert len(found.differences) >= 1
            others = [n for i, n in enumerate(differing(found)) if i != one]
            # a changed LFT entry may loop, and paths that loop have no path record
            assert others == [0, 0] or change is changed_port
            if change is changed_port:
                assert found.differing_entries == 1
                assert re.fullmatch(
                    r"switch 0x[0-9a-f]{16} LID 2: port \d+ computed, \d+ found",
                    found.differences[0],
                )
            if change is changed_level:
                # asked once for each of the switch's four endpoints
                assert found.differing_sl_entries == 4
            if change is changed_lanes:
                assert found.differing_sl2vl_entries == 1
        live.load(routing)
        assert differing(live.check(routing, topology)) == [0, 0, 0]

    lfts = re.sub(r"(?m)^(0x0009) (\d{3})", lambda m: f"{m[1]} 036", clean.lfts, count=1)
    levels = re.sub(r"(?m)^(\d+ \d+) (\d+)$", lambda m: f"{m[1]} 9", clean.levels, count=1)
    assert lfts != clean.lfts and levels != clean.levels
    parts = routing.compare(lfts, levels, clean.sl2vl)
    assert [parts[k]["differing"] for k in ("lft", "sl", "sl2vl")] == [1, 1, 0]
    cut = re.sub(r"^0x0009 .*\n", "", clean.lfts, count=1, flags=re.MULTILINE)
    with pytest.raises(fl.RefusalError, match="damaged or cut"):
        routing.compare(cut, clean.levels, clean.sl2vl)


def test_a_missing_path_record_is_a_difference():
    topology = fl.network("hyperx:shape=4x4")
    routing = fl.route(topology, "dfsssp")
    with Live(topology) as live:
        live.load(routing)
        switch = 9
        live.ibsim.unlink(live.switch_id(switch))  # its endpoints are gone, their paths too
        live.settle(QUIET_S)
        found = live.check(routing, topology)
    hosts = topology.endpoints // topology.switches
    lost = hosts * (hosts - 1) + 2 * hosts * (topology.endpoints - hosts)
    assert found.differing_sl_entries >= lost
    assert not found.verified and not found.deadlock_free
    assert "no path record" in found.counterexample[-1]


# ---- OpenSM's own engines ----


@pytest.mark.parametrize(
    ("engine", "free"),
    [
        ("minhop", False), ("sssp", False), ("updn", False),
        ("dfsssp", True), ("lash", True), ("nue", True),
    ],
)
def test_opensm_engines_on_the_slim_fly(engine, free):
    """One verdict by our proof and by ibdmchk; updn has a root given, and a cycle all the same."""
    topology = fl.network(SLIM_FLY)
    with opensm_engine(topology, engine) as live:
        snapshot = live.read()
        judged = judge(live, snapshot)
        routing = live.tables()
    proof = fl.verify(routing)
    assert proof.complete.holds and proof.complete.routes == 50 * 200
    assert proof.deadlock.holds == free
    assert judged == (oracle.NO_LOOP if free else oracle.LOOP)
    if free:
        assert proof.deadlock.rechecked
    else:
        closed_walk(topology, proof.deadlock.cycle)


@pytest.mark.parametrize(
    ("net", "engines"),
    [
        ("torus:shape=4x3,p=1", ["minhop", "dor", "lash", "nue"]),
        ("dragonfly:h=2", ["updn", "dnup", "dfsssp"]),
        ("fat_tree:leaves=4,spines=2,p=2", ["ftree", "updn", "minhop"]),
        ("hyperx:shape=4x3,p=1", ["dor", "sssp", "lash"]),
    ],
)
def test_verdicts_on_tables_of_opensm_are_those_of_ibdmchk(net, engines):
    topology = fl.network(net)
    for engine in engines:
        with opensm_engine(topology, engine) as live:
            judged = judge(live, live.read())
            routing = live.tables()
        assert judged in (oracle.LOOP, oracle.NO_LOOP), engine
        deadlock = fl.verify(routing).deadlock
        assert deadlock.holds == (judged == oracle.NO_LOOP), engine
        if not deadlock.holds:
            closed_walk(topology, deadlock.cycle)


def closed_walk(topology, cycle):
    """The cycle shown is one of cables: each channel ends where the next one starts."""
    table = topology.link_table
    names = topology.switch_names
    cables = {}
    for a, p, b, q in zip(
        *(table[key].tolist() for key in ("a_switch", "a_port", "b_switch", "b_port")), strict=True
    ):
        cables |= {(names[a], p): names[b], (names[b], q): names[a]}
    assert len(cycle) >= 3
    for wait, after in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
        assert cables[wait["from"], wait["port"]] == wait["to"]
        assert wait["to"] == after["from"]
        assert wait["lane"] == 0


# ---- the command line ----


def test_a_routing_that_can_deadlock_fails_the_command():
    done = flyloom("deploy", SLIM_FLY, "-e", "min_hop", "--oracle", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 1, done.stderr
    assert differing(found) == [0, 0, 0]
    assert (found["verified"], found["deadlock_free"]) == (False, False)
    assert found["oracle"] == oracle.LOOP
    assert len(found["counterexample"]) >= 3

    done = flyloom("deploy", SLIM_FLY, "-e", "dfsssp", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["deadlock_free"] is True


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((SLIM_FLY, "--lmc", "8"), "lmc: 8 is out of range; 0 to 7"),
        (("slim_fly:q=19,p=15", "--lmc", "3"), "the largest LMC that fits is 2"),
        (("hyperx:shape=4x4,p=0",), "the network has none; OpenSM runs on an endpoint"),
    ],
)
def test_what_cannot_be_deployed_is_refused(words, message):
    done = flyloom("deploy", *words, "--json")
    assert (done.returncode, json.loads(done.stdout)["error"]["kind"]) == (2, "refused")
    assert message in done.stderr and "Traceback" not in done.stderr


# ---- odd networks ----


def document(switches, links, endpoints):
    return json.dumps({
        "flyloom": 1, "recipe": {"family": "file", "params": {}},
        "switches": switches, "links": links,
        "endpoints": [{"name": f"h{i}", "rails": rails} for i, rails in enumerate(endpoints)],
    })


def ring_with_extras(rails):
    """Four switches in a ring with one doubled cable, and a fifth without endpoints between two of
    them, on the first and the last of 36 ports."""
    switches = [{"name": f"s{i}", "ports": 36} for i in range(5)]
    links = [[i, 0, (i + 1) % 4, 0, None] for i in range(4)]
    links += [[0, 0, 1, 0, None], [0, 36, 4, 36, None], [2, 35, 4, 1, None]]
    return document(switches, links, [rails(e) for e in range(8)])


@pytest.mark.parametrize(
    ("rails", "terminals"),
    [(lambda e: [[e % 4, 0]], 8), (lambda e: [[e % 4, 0], [(e + 1) % 4, 0]], 16)],
)
def test_parallel_cables_bare_switches_and_rails(tmp_path, rails, terminals):
    file = tmp_path / "odd.json"
    file.write_text(ring_with_extras(rails))
    topology = fl.network(str(file))
    assert topology.terminals == terminals
    assert fl.structure(topology).links == 7
    routing = fl.route(topology, "dfsssp", lmc=1)
    proof = fl.verify(routing)
    assert proof.holds
    assert proof.complete.routes == 4 * terminals * 2  # switches that carry endpoints
    assert 0 < fl.ebb(routing, samples=50).effective_bisection_bandwidth <= 1
    oracle_too = terminals == topology.endpoints
    found = fl.deploy(routing, topology=topology, oracle=oracle_too)
    assert differing(found) == [0, 0, 0] and found.verified
    assert found.entries == 5 * (terminals * 2 + 5)
    assert found.oracle == (oracle.NO_LOOP if oracle_too else None)
    if not oracle_too:
        with pytest.raises(fl.RefusalError, match="one cable an endpoint"):
            fl.deploy(routing, topology=topology, oracle=True)


def test_two_planes_are_routed_apart_and_not_deployed_together(tmp_path):
    switches = [{"name": f"p{p}-s{i}", "plane": p} for p in (0, 1) for i in range(4)]
    links = [[4 * p + i, 0, 4 * p + (i + 1) % 4, 0, None] for p in (0, 1) for i in range(4)]
    file = Path(tmp_path / "planes.json")
    file.write_text(document(switches, links, [[[e % 4, 0], [4 + e % 4, 0]] for e in range(8)]))
    topology = fl.network(str(file))
    found = fl.structure(topology)
    assert (found.planes, found.switches, found.endpoints, found.terminals) == (2, 8, 8, 16)
    # a ring of four: two neighbours and one switch at distance 2; no pair across planes
    assert (found.diameter, found.unreachable) == (2, 0)
    assert found.mean_distance == pytest.approx((1 + 1 + 2) / 3)
    assert found.histogram == [0, 16, 8]
    routing = fl.route(topology, "dfsssp")
    proof = fl.verify(routing)
    assert proof.holds and proof.complete.routes == 2 * 4 * 8
    assert 0 < fl.ebb(routing, samples=50).effective_bisection_bandwidth <= 1
    with pytest.raises(fl.RefusalError, match="planes: the network has 2"):
        fl.deploy(routing, topology=topology)
