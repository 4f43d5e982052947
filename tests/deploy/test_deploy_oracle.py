"""ibdmchk as an independent checker, against a channel dependency graph built here."""

import networkx as nx
import pytest
from deploy_helpers import DATA, make_tables, needs_fabric, read_net
from flyloom.deploy import DeployError, Ibsim, OpenSM, guid2lid_text, oracle, readback

pytestmark = needs_fabric


@pytest.fixture(scope="module")
def net():
    return read_net(DATA / "sf_q5.net")


def dependencies(net, lft, sl_of, sl2vl, lids):
    """The channel dependency graph: from (switch, port, VL) to the next one, over all routes.

    ``lids`` is {LID: its switch}; every switch with endpoints is a source.
    """
    graph = nx.DiGraph()
    sources = {}
    for endpoint in net.endpoints:
        switch, port = net.leaf(endpoint)
        sources.setdefault(switch, []).append(port)
    for lid, target in lids.items():
        for source, entries in sources.items():
            for entry in entries if source != target else []:
                here, port_in, last = source, entry, None
                while here != target:
                    port = lft[here][lid]
                    vl = sl2vl[here, port_in, port][sl_of(source, lid)]
                    if last is not None:
                        graph.add_edge(last, (here, port, vl))
                    last = (here, port, vl)
                    here, port_in = net.far[here, port]
    return graph


def check(net, opensm, tables):
    leaf = {e: net.leaf(e)[0] for e in net.endpoints}
    found = oracle.ibdmchk(
        opensm.subnet_lst,
        opensm.fdbs,
        lambda guid, lid: tables.sl_of(leaf[guid], lid),
        tables.sl2vl,
        tables.lmc,
    )
    lids = {tables.lid[e] + k: leaf[e] for e in leaf for k in range(1 << tables.lmc)}
    graph = dependencies(net, tables.lft, tables.sl_of, tables.sl2vl, lids)
    return found, nx.is_directed_acyclic_graph(graph)


def two_lanes(net, tables):
    """VL 0 on the first hop, VL 1 on every later one: free of cycles for paths of two hops."""
    kin = set(net.switches)
    for s, i, o in tables.sl2vl:
        later = (s, i) in net.far and net.far[s, i][0] in kin
        tables.sl2vl[s, i, o] = (1 if later else 0,) * 16


def all_offsets_alike(net, tables):
    """Every LID of an endpoint has the routes of its first."""
    for table in tables.lft.values():
        for endpoint in net.endpoints:
            for k in range(1 << tables.lmc):
                table[tables.lid[endpoint] + k] = table[tables.lid[endpoint]]


@pytest.mark.parametrize(
    ("shape", "lmc", "free"),
    [
        ("tree", 0, True),
        ("tree", 2, True),
        ("drawn", 0, None),
        ("drawn", 1, False),
        ("drawn", 2, False),
        ("two lanes", 0, True),  # shortest paths have at most two hops here
        ("two lanes", 1, False),  # the second LID has longer paths: only unrolling can tell
        ("two lanes", 2, False),
        ("two lanes, offsets alike", 1, True),
    ],
)
def test_the_verdict_is_that_of_the_dependency_graph(net, tmp_path, shape, lmc, free):
    tables = make_tables(net, lmc, seed=lmc, tree_only=shape == "tree")
    if shape.startswith("two lanes"):
        two_lanes(net, tables)
    if shape.endswith("alike"):
        all_offsets_alike(net, tables)
    (tmp_path / "t").write_text(tables.text())
    pins = guid2lid_text(tables.first_lids(net), tables.lmcs(net))
    with (
        Ibsim(net.text) as ibsim,
        OpenSM(ibsim, lmc=lmc, tables=tmp_path / "t", guid2lid=pins) as opensm,
    ):
        found, acyclic = check(net, opensm, tables)
    assert found.connected
    assert found.verdict == (oracle.NO_LOOP if acyclic else oracle.LOOP)
    assert free in (acyclic, None)
    assert bool(found.loop) == (not acyclic)


def own_engine(net, engine, **options):
    with Ibsim(net.text) as ibsim, OpenSM(ibsim, engine, **options) as opensm:
        nodes = readback.parse_discover(readback.discover(ibsim))
        lid = {e: nodes[e].ports[1].lid for e in net.endpoints}
        width = 1 << options.get("lmc", 0)
        targets = [first + k for first in lid.values() for k in range(width)]
        pairs = [(a, b) for a in lid.values() for b in targets if a != b]
        sls = readback.path_records(ibsim, pairs)
        rows = readback.sl2vl(ibsim) if options.get("qos") else None
        return oracle.ibdmchk(
            opensm.subnet_lst, opensm.fdbs, lambda g, b: sls[lid[g], b], rows, options.get("lmc", 0)
        )


@pytest.mark.parametrize(
    ("engine", "options", "verdict"),
    [
        ("minhop", {}, oracle.LOOP),
        ("sssp", {}, oracle.LOOP),
        ("updn", {"root_guids": [0x0002C90200000010]}, oracle.LOOP),
        ("dfsssp", {"qos": True, "max_op_vls": 2}, oracle.NO_LOOP),
        ("dfsssp", {"qos": True, "max_op_vls": 3, "lmc": 1}, oracle.NO_LOOP),
        ("lash", {"qos": True}, oracle.NO_LOOP),
        ("nue", {}, oracle.NO_LOOP),
    ],
)
def test_known_verdicts_on_engines_of_opensm(net, engine, options, verdict):
    """The verdicts are as published: minimal routing on the Hoffman-Singleton graph deadlocks on
    one lane; dfsssp, lash and nue are free of deadlock by construction."""
    found = own_engine(net, engine, **options)
    assert (found.verdict, found.connected) == (verdict, True)


def test_a_loop_is_a_closed_walk_of_cables(net):
    found = own_engine(net, "minhop")
    kin = set(net.switches)
    assert {vl for _, _, vl in found.loop} == {0}
    steps = [(guid, port) for guid, port, _ in found.loop if guid in kin]
    repeat = next(i for i, step in enumerate(steps) if step in steps[:i])
    first = steps.index(steps[repeat])
    assert repeat - first >= 3  # two channels cannot wait for each other on shortest paths
    ends = [net.far[step][0] for step in steps[first:repeat]]
    starts = [guid for guid, _ in steps[first:repeat]]
    # each channel ends where the next one starts, in the one order or the other
    assert ends == starts[1:] + starts[:1] or starts == ends[1:] + ends[:1]


def test_a_missing_route_is_not_connected(net, tmp_path):
    tables = make_tables(net, 0, seed=0)
    switch, lid = net.switches[9], tables.lid[net.endpoints[3]]
    del tables.lft[switch][lid]
    (tmp_path / "t").write_text(tables.text())
    pins = guid2lid_text(tables.first_lids(net))
    tables_path = tmp_path / "t"
    with Ibsim(net.text) as ibsim, OpenSM(ibsim, tables=tables_path, guid2lid=pins) as opensm:
        found = oracle.ibdmchk(opensm.subnet_lst, opensm.fdbs)
    assert (found.verdict, found.connected) == (oracle.UNDECIDED, False)


def test_bad_inputs_are_reported(net):
    with Ibsim(net.text) as ibsim, OpenSM(ibsim, "minhop") as opensm:
        lst, fdbs = opensm.subnet_lst, opensm.fdbs
    with pytest.raises(DeployError, match=r"opensm-subnet\.lst:1: not a cable"):
        oracle.ibdmchk("x" + lst, fdbs)
    with pytest.raises(DeployError, match="is empty"):
        oracle.ibdmchk("", fdbs)
    with pytest.raises(DeployError, match=r"opensm\.fdbs has no switch"):
        oracle.ibdmchk(lst, "")
    with pytest.raises(DeployError, match="has no SL"):
        oracle.ibdmchk(lst, fdbs, lambda guid, lid: None)
    with pytest.raises(DeployError, match="has no SL2VL table"):
        oracle.ibdmchk(lst, fdbs, lambda guid, lid: 0, {})
    with pytest.raises(DeployError, match="LMC is 8"):
        oracle.ibdmchk(lst, fdbs, lmc=8)
