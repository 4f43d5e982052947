"""Our tables in a real OpenSM on a simulated fabric: loaded, read back, refused, swept again."""

import random
import re

import networkx as nx
import pytest
from deploy_helpers import DATA, make_tables, needs_fabric, read_net
from flyloom.deploy import DeployError, Ibsim, OpenSM, guid2lid_text, readback
from patience import HANG_S

pytestmark = needs_fabric


@pytest.fixture(scope="module")
def net():
    return read_net(DATA / "sf_q5.net")


def opensm_with(ibsim, net, tables, path, **more):
    """An OpenSM that is to load hand-made tables, with the LIDs they were made for."""
    path.write_text(tables.text())
    pins = guid2lid_text(tables.first_lids(net), tables.lmcs(net))
    return OpenSM(ibsim, tables=path, guid2lid=pins, **{"lmc": tables.lmc, **more})


def lids_of(net, tables):
    """(lid, its switch) of all endpoints' LIDs."""
    return [
        (tables.lid[e] + k, net.leaf(e)[0]) for e in net.endpoints for k in range(1 << tables.lmc)
    ]


@pytest.mark.parametrize("lmc", [0, 1])
def test_tables_read_back_entry_for_entry(net, tmp_path, lmc):
    tables = make_tables(net, lmc, seed=lmc)
    with Ibsim(net.text) as ibsim, opensm_with(ibsim, net, tables, tmp_path / "t") as opensm:
        assert readback.parse_fts(readback.dump_fts(ibsim)) == tables.lft
        assert readback.parse_fts(opensm.lfts) == tables.lft

        assert readback.sl2vl(ibsim) == tables.sl2vl

        ends = lids_of(net, tables)
        pairs = [(a, b) for a, _ in ends for b, _ in ends if a != b]
        wanted = {(a, b): tables.sl_of(s, b) for a, s in ends for b, _ in ends if a != b}
        assert len(pairs) in (39800, 159600)
        assert readback.path_records(ibsim, pairs) == wanted
        assert set(wanted.values()) == set(range(16))

        switch = net.switches[7]  # a switch's own paths have its SLs
        mine = [(tables.lid[switch], b) for b, _ in ends]
        found = readback.path_records(ibsim, mine)
        assert found == {(a, b): tables.sl_of(switch, b) for a, b in mine}

        nodes = readback.parse_discover(readback.discover(ibsim))
        assert {n.guid: n.lid for n in nodes.values() if n.is_switch} == {
            s: tables.lid[s] for s in net.switches
        }
        assert {n.guid: n.ports[1].lid for n in nodes.values() if not n.is_switch} == {
            e: tables.lid[e] for e in net.endpoints
        }
        assert {n.ports[1].lmc for n in nodes.values() if not n.is_switch} == {lmc}


def test_bulk_readers_say_what_the_standard_tools_say(net, tmp_path):
    tables = make_tables(net, 1, seed=9)
    rng = random.Random(4)
    with Ibsim(net.text) as ibsim, opensm_with(ibsim, net, tables, tmp_path / "t"):
        switch = rng.choice(net.switches)
        bulk = readback.sl2vl(ibsim, [switch])
        assert {key[0] for key in bulk} == {switch}
        checked = 0
        for out in range(1, 12):
            text = ibsim.run(["smpquery", "sl2vl", str(tables.lid[switch]), str(out)])
            for i, o, row in re.findall(r"in +(\d+), out +(\d+): \|(.*)\|", text):
                if (switch, int(i), int(o)) in bulk:
                    vls = tuple(int(vl) for vl in row.split("|"))
                    assert bulk[switch, int(i), int(o)] == vls
                    checked += 1
        assert checked == 12 * 11
        port = rng.choice(net.endpoints)  # an endpoint has the uniform table
        text = ibsim.run(["smpquery", "sl2vl", str(tables.lid[port]), "1"])
        row = re.search(r"in +0, out +0: \|(.*)\|", text)[1]
        assert tuple(int(vl) for vl in row.split("|")) == tables.endpoint_vls

        lids = [lid for lid, _ in lids_of(net, tables)]
        for a, b in [rng.sample(lids, 2) for _ in range(8)]:
            text = ibsim.run(["saquery", "--src-to-dst", f"{a}:{b}"])
            sl = int(re.search(r"\bsl\.+0x([0-9A-Fa-f]+)", text)[1], 16)
            assert readback.path_records(ibsim, [(a, b)]) == {(a, b): sl}


def test_an_edited_file_changes_exactly_its_entries(net, tmp_path):
    tables = make_tables(net, 0, seed=2)
    path = tmp_path / "t"
    with Ibsim(net.text) as ibsim, opensm_with(ibsim, net, tables, path) as opensm:
        before = readback.parse_fts(readback.dump_fts(ibsim))
        switch, victim = net.switches[3], tables.lid[net.endpoints[150]]
        old = tables.lft[switch][victim]
        new = next(p for p, _ in net.neighbours(switch) if p != old)
        tables.lft[switch][victim] = new
        tables.sl[switch, victim] = 7
        key = (switch, 1, 6)
        tables.sl2vl[key] = tuple(7 - vl for vl in tables.sl2vl[key])
        path.write_text(tables.text())
        opensm.resweep()
        after = readback.parse_fts(readback.dump_fts(ibsim))
        assert readback.differing(before, after) == [(switch, victim, old, new)]
        assert readback.sl2vl(ibsim) == tables.sl2vl
        source = next(tables.lid[e] for e in net.endpoints if net.leaf(e)[0] == switch)
        assert readback.path_records(ibsim, [(source, victim)]) == {(source, victim): 7}


def test_a_bad_file_keeps_what_was_installed(net, tmp_path):
    tables = make_tables(net, 0, seed=2)
    path = tmp_path / "t"
    with Ibsim(net.text) as ibsim, opensm_with(ibsim, net, tables, path) as opensm:
        good = path.read_text()
        path.write_text(good[: len(good) // 2])
        with pytest.raises(DeployError, match=rf"{path}:\d+: "):
            opensm.resweep()
        assert readback.parse_fts(readback.dump_fts(ibsim)) == tables.lft
        a, b = (tables.lid[e] for e in (net.endpoints[0], net.endpoints[99]))
        sl = tables.sl_of(net.leaf(net.endpoints[0])[0], b)
        assert readback.path_records(ibsim, [(a, b)]) == {(a, b): None}  # not a wrong SL
        path.write_text(good)
        opensm.resweep()
        assert readback.path_records(ibsim, [(a, b)]) == {(a, b): sl}


def without(tables, switch):
    del tables.lft[switch]
    tables.sl = {key: sl for key, sl in tables.sl.items() if key[0] != switch}
    tables.sl2vl = {key: vl for key, vl in tables.sl2vl.items() if key[0] != switch}


def port_36(tables, switch):
    tables.lft[switch][1] = 37


def own_lid_elsewhere(tables, switch):
    tables.lft[switch][tables.lid[switch]] = 1


def nine_lanes(tables, switch):
    tables.sl2vl[switch, 5, 6] = (8,) * 16


@pytest.mark.parametrize(
    ("spoil", "more", "words"),
    [
        (without, {}, "the fabric has switch 0x{:016x}, the file has no lft record of it"),
        (port_36, {}, "switch 0x{:016x} LID 1 goes to port 37, must be 0..36"),
        (own_lid_elsewhere, {}, "its port to itself must be 0"),
        (nine_lanes, {}, "switch 0x{:016x} sends SL 0 from port 5 to port 6 on a VL that the link"),
        (lambda tables, switch: None, {"max_op_vls": 2}, "it has VL0..VL1"),
        (lambda tables, switch: None, {"lmc": 1}, "made for LMC 0, OpenSM runs with LMC 1"),
        (
            lambda tables, switch: None,
            {"extra_conf": {"qos": "FALSE"}},
            "OpenSM installs them only with QoS on",
        ),
        (
            lambda tables, switch: None,
            {"guid2lid": None},
            "pin the LIDs of the file with guid2lid",
        ),
    ],
)
def test_tables_that_do_not_fit_are_refused(net, tmp_path, spoil, more, words):
    tables = make_tables(net, 0, seed=5)
    switch = net.switches[20]
    spoil(tables, switch)
    path = tmp_path / "t"
    path.write_text(tables.text())
    options = {"guid2lid": guid2lid_text(tables.first_lids(net)), **more}
    with Ibsim(net.text) as ibsim:
        with pytest.raises(DeployError) as why, OpenSM(ibsim, tables=path, **options):
            pass
        assert words.format(switch) in str(why.value)
        assert "engine flyloom failed" in str(why.value)


def test_a_switch_of_the_file_may_be_dead(net, tmp_path):
    tables = make_tables(net, 0, seed=2)
    dead = net.switches[11]
    with Ibsim(net.text) as ibsim:
        ibsim.unlink(f"S-{dead:016x}")
        with opensm_with(ibsim, net, tables, tmp_path / "t") as opensm:
            found = readback.parse_fts(readback.dump_fts(ibsim))
            assert set(found) == set(net.switches) - {dead}
            assert f"0x{dead:016x} of the file is not in the fabric" in opensm.log_path.read_text()
            live = {lid for guid, lid in tables.lid.items() if guid != dead}
            live -= {tables.lid[e] for e in net.endpoints if net.leaf(e)[0] == dead}
            for switch, table in found.items():
                wanted = {k: v for k, v in tables.lft[switch].items() if k in live}
                assert {k: v for k, v in table.items() if k in live} == wanted


def walk(net, lft, source, target, lid):
    """Switch hops from switch to switch by the tables; fails the test on a loop or dead end."""
    here, hops = source, 0
    while here != target:
        here = net.far[here, lft[here][lid]][0]
        hops += 1
        assert hops <= len(net.switches)
    return hops


@pytest.mark.parametrize("engine", ["minhop", "dfsssp"])
def test_engines_of_opensm_route_shortest_paths(net, engine):
    graph = nx.Graph((s, n) for s in net.switches for _, n in net.neighbours(s))
    far = dict(nx.all_pairs_shortest_path_length(graph))
    with Ibsim(net.text) as ibsim, OpenSM(ibsim, engine) as opensm:
        lft = readback.parse_fts(readback.dump_fts(ibsim))
        nodes = readback.parse_discover(readback.discover(ibsim))
        assert readback.differing(lft, readback.parse_fts(opensm.lfts)) == []
        assert opensm.cpu_s > 0
    for endpoint in net.endpoints:
        lid, leaf = nodes[endpoint].ports[1].lid, net.leaf(endpoint)
        for source in net.switches:
            assert walk(net, lft, source, leaf[0], lid) == far[source][leaf[0]]
        assert lft[leaf[0]][lid] == leaf[1]


@pytest.mark.parametrize(
    ("engine", "words"),
    [("ftree", "more than one root"), ("best", "Failed to setup routing engine 'best'")],
)
def test_an_engine_that_cannot_route_is_an_error(net, engine, words):
    with (
        Ibsim(net.text) as ibsim,
        pytest.raises(DeployError, match=f"(?s)engine {engine} failed.*{words}"),
        OpenSM(ibsim, engine, timeout_s=HANG_S),
    ):
        pass


def test_a_pulled_cable_changes_the_tables(net):
    with Ibsim(net.text) as ibsim, OpenSM(ibsim, "minhop") as opensm:
        before = readback.parse_fts(readback.dump_fts(ibsim))
        switch = net.switches[0]
        port, far = next(iter(net.neighbours(switch)))
        mark = opensm.mark()
        ibsim.unlink(f"S-{switch:016x}", port)
        opensm.wait_sweep(after=mark)
        pulled = readback.parse_fts(readback.dump_fts(ibsim))
        assert port in before[switch].values()
        assert port not in pulled[switch].values()
        assert net.far[switch, port][1] not in pulled[far].values()
        nodes = readback.parse_discover(readback.discover(ibsim))
        assert port not in nodes[switch].ports
        mark = opensm.mark()
        ibsim.relink(f"S-{switch:016x}", port)
        opensm.wait_sweep(after=mark)
        assert readback.parse_fts(readback.dump_fts(ibsim)) == before


def test_a_dead_route_is_reported_and_has_no_path_record(net, tmp_path):
    tables = make_tables(net, 0, seed=2)
    with Ibsim(net.text) as ibsim, opensm_with(ibsim, net, tables, tmp_path / "t") as opensm:
        switch = net.switches[0]
        source, target = (
            next(e for e in net.endpoints if net.leaf(e)[0] == s)
            for s in (switch, net.neighbours(switch)[0][1])
        )
        port = tables.lft[switch][tables.lid[target]]
        mark = opensm.mark()
        ibsim.unlink(f"S-{switch:016x}", port)
        opensm.wait_sweep(after=mark)
        assert "the route's port has no working cable" in opensm.err_lines(mark)
        pair = (tables.lid[source], tables.lid[target])
        assert readback.path_records(ibsim, [pair]) == {pair: None}


@pytest.mark.parametrize(
    ("lids", "lmc", "words"),
    [
        ({1: 3}, 1, "LID 3 of 0x0000000000000001 must be a multiple of 2"),
        ({1: 0}, 0, "1..49151"),
        ({1: 49152}, 0, "1..49151"),
        ({1: 2, 2: 2}, 0, "LID 2 belongs to two ports"),
        ({1: 2, 2: 3}, {1: 1}, "LID 3 belongs to two ports"),
    ],
)
def test_guid2lid_refuses(lids, lmc, words):
    with pytest.raises(DeployError, match=words):
        guid2lid_text(lids, lmc)


def test_wrong_arguments_are_refused(net, tmp_path):
    ibsim = Ibsim(net.text)
    for options in ({"lmc": 8}, {"engine": "minhop", "max_op_vls": 6}, {"engine": "flyloom"}):
        with pytest.raises(DeployError):
            OpenSM(ibsim, **{"tables": None, **options})
    with pytest.raises(DeployError, match="engine flyloom needs tables"):
        OpenSM(ibsim, "minhop", tables=tmp_path / "t")
