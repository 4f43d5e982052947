"""Networks and tables as values: they pickle, compare, hash, and lend their arrays."""

from __future__ import annotations

import gc
import json
import os
import pickle
import re
import subprocess
import sys

import cloudpickle
import flyloom as fl
import networkx as nx
import numpy as np
import pytest
from cli_helpers import environment
from flyloom import RefusalError, _core
from test_routing import NETWORKS

ROWS = _core.registry()
EXAMPLES = [text for row in ROWS if row["kind"] == "topology" for text in row["examples"]]
ENGINES = sorted(row["name"] for row in ROWS if row["kind"] == "engine")


def again(value, dumps=pickle.dumps):
    """A value after its journey."""
    return pickle.loads(dumps(value))


def the_same(one, other) -> bool:
    return one == other and (one != other) is False and hash(one) == hash(other)


def changed(network, change):
    """A network whose JSON was changed by hand."""
    document = json.loads(network.to_text("json"))
    change(document)
    return fl.Topology.from_text(json.dumps(document), "changed")


@pytest.mark.parametrize("inline", EXAMPLES)
def test_every_family_travels(inline):
    network = fl.network(inline)
    for back in (again(network), again(network, cloudpickle.dumps)):
        assert the_same(back, network)
        assert back.to_text("json") == network.to_text("json")
    assert len(pickle.dumps(network)) < 1000, "by its recipe"
    read = fl.Topology.from_text(network.to_text("json"), "file")
    assert the_same(read, network)


@pytest.mark.parametrize("make", [
    lambda: fl.slim_fly(q=5).with_failures([3, 80], [7]),
    lambda: fl.from_pairs([(0, 1), (1, 2), (0, 1)], 2),
    lambda: fl.Topology.from_text("0 1\n1 2\n", "edges", 3),
    lambda: changed(fl.slim_fly(q=3), lambda d: d["switches"][2].update(name="<b>&ü</b>")),
    lambda: changed(fl.slim_fly(q=3), lambda d: d["links"].reverse()),
    lambda: changed(fl.torus(shape=[3, 3]), lambda d: d["links"][0][4:].append(None)),
])
def test_what_was_changed_travels_too(make):
    network = make()
    back = again(network)
    assert the_same(back, network)
    assert back.to_text("json") == network.to_text("json")


CHANGES = {
    "name": lambda d: d["switches"][0].update(name="other"),
    "guid": lambda d: d["switches"][0].update(guid="0x0000000000000001"),
    "lid": lambda d: d["switches"][0].update(lid=9),
    "ports": lambda d: d["switches"][0].update(ports=60),
    "group": lambda d: d["switches"][0].update(group=77),
    "switch down": lambda d: d["switches"][0].update(up=False),
    "cable": lambda d: d["links"][0].__setitem__(4, {"speed": "EDR"}),
    "length": lambda d: d["links"][0].__setitem__(4, {"length_m": 2.5}),
    "link down": lambda d: d["links"][0].__setitem__(4, {"up": False}),
    "order of links": lambda d: d["links"].reverse(),
    "a link less": lambda d: d["links"].pop(),
    "endpoint's name": lambda d: d["endpoints"][0].update(name="other"),
    "an endpoint less": lambda d: d["endpoints"].pop(),
    "endpoint's lid": lambda d: d["endpoints"][0]["rails"][0].__setitem__(3, {"lid": 3}),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_network_with_one_change_is_another(what):
    network = fl.slim_fly(q=3)
    other = changed(network, CHANGES[what])
    assert network != other and other != network
    assert hash(network) != hash(other)
    assert len({network, other, fl.slim_fly(q=3)}) == 2


def test_other_values_are_unequal_and_no_error():
    network = fl.slim_fly(q=3)
    routing = fl.route(network, "min_hop")
    assert network != "slim_fly:q=3" and network != routing and routing != None  # noqa: E711
    assert {network: 1, routing: 2}[fl.slim_fly(q=3)] == 1


def routings():
    """Tables of every engine, and with lanes of every kind."""
    for engine in ENGINES:
        network = NETWORKS["mesh" if engine == "dor" else "fat_tree_3"]()
        options = {"flows": [[0, 1, 1.0]]} if engine == "application" else {}
        yield engine, lambda n=network, e=engine, o=options: fl.route(n, e, lmc=1, **o)
    hops = fl.route("slim_fly:q=3", "min_hop", layers=3)
    for method in ("online", "hops", "random"):
        yield method, lambda m=method: fl.spread(hops, m)


@pytest.mark.parametrize(("name", "make"), list(routings()))
def test_tables_travel(name, make):
    routing = make()
    for back in (again(routing), again(routing, cloudpickle.dumps)):
        assert the_same(back, routing)
        assert back.table_text() == routing.table_text()
        assert back.lft_text() == routing.lft_text()
        assert np.array_equal(back.next, routing.next)
        assert (back.engine, back.lanes, back.lmc) == (
            routing.engine, routing.lanes, routing.lmc)
        assert repr(back) == repr(routing) and back.topology == routing.topology
        assert back.measure("verify") == routing.measure("verify")


def test_tables_read_from_a_fabric_keep_their_addresses():
    network = fl.slim_fly(q=3)
    made = network.addresses()

    def elsewhere(document):
        for switch, lid in zip(document["switches"], made["switch_lid"], strict=True):
            switch["lid"] = lid + 1000
        for endpoint, lid in zip(document["endpoints"], made["lid"], strict=True):
            endpoint["rails"][0][3] = {"lid": lid + 1000}

    def later(found):
        return f"{found[1]}0x{int(found[2], 16) + 1000:04x}"

    text = re.sub(r"(^|Lid )0x([0-9a-f]{4})", later, fl.route(network, "min_hop").lft_text(),
                  flags=re.MULTILINE)
    text = re.sub(r"(Lid )(\d+)\b", lambda f: f"{f[1]}{int(f[2]) + 1000}", text)
    routing = changed(network, elsewhere).import_tables(text, "found")
    back = again(routing)
    assert the_same(back, routing)
    assert back.lft_text() == routing.lft_text() and "0x03e9" in back.lft_text()
    other = fl.route(routing.topology, "min_hop")
    assert np.array_equal(other.next, routing.next)
    assert other != routing, "its addresses are made"


def test_tables_with_one_change_are_others():
    network = fl.slim_fly(q=3)
    routing = fl.route(network, "min_hop")
    assert routing != fl.route(network, "min_hop", lmc=1)
    assert routing != fl.spread(routing, "hops"), "lanes differ"
    assert routing != fl.route(fl.slim_fly(q=3).with_failures([0]), "min_hop")
    text = routing.table_text()
    same = network.read_tables(text, "tables", 0)
    assert same == routing and hash(same) == hash(routing), "whoever made them"
    assert same.engine != routing.engine
    other = fl.route(network, "sssp")
    assert (other == routing) == (other.table_text() == text)


def test_another_process_agrees():
    network = fl.slim_fly(q=5).with_failures([2])
    routing = fl.route(network, "dfsssp")
    code = (
        "import pickle, sys, flyloom as fl\n"
        "network, routing = pickle.load(sys.stdin.buffer)\n"
        "same = fl.slim_fly(q=5).with_failures([2])\n"
        "assert network == same and hash(network) == hash(same)\n"
        "assert routing == fl.route(same, 'dfsssp')\n"
        "sys.stdout.buffer.write(pickle.dumps((routing, hash(routing))))"
    )
    done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps((network, routing)),
                          env=environment(), capture_output=True, timeout=120, check=True)
    back, number = pickle.loads(done.stdout)
    assert back == routing and number == hash(routing)


def test_a_pickle_that_is_none_of_ours_is_refused():
    function, arguments = fl.slim_fly(q=3).__reduce__()
    recipe, *rest = arguments
    with pytest.raises(RefusalError, match="unpickle with the version of flyloom"):
        function(recipe.replace("3", "4"), *rest)
    function, (network, tables, addresses) = fl.route("slim_fly:q=3", "min_hop").__reduce__()
    with pytest.raises(RefusalError, match="tables: the bytes are none of these tables"):
        function(network, tables[:-1], addresses)
    with pytest.raises(RefusalError, match="the bytes are none of these tables"):
        function(fl.slim_fly(q=4), tables, addresses)


def resident() -> int:
    """Bytes of memory of this process."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("name", ["to_switch", "service_levels"])
def test_a_view_is_of_the_tables_own_memory(name):
    routing = fl.route("slim_fly:q=5", "dfsssp", lmc=1)
    one, two = getattr(routing, name), getattr(routing, name)
    assert one is not two and np.shares_memory(one, two)
    assert not one.flags.writeable and not one.flags.owndata and one.base is routing
    with pytest.raises(ValueError, match="read-only"):
        one[0] = 1
    with pytest.raises(ValueError, match="cannot set WRITEABLE"):
        one.flags.writeable = True
    content = one.copy()
    spread = fl.spread(routing, "hops")  # shares the tables, has other lanes
    assert np.shares_memory(routing.to_switch, spread.to_switch)
    del two, spread
    before = sys.getrefcount(routing)
    another = getattr(routing, name)
    assert sys.getrefcount(routing) == before + 1, "a view holds its owner"
    del another
    assert sys.getrefcount(routing) == before
    del routing
    gc.collect()
    others = [fl.route("slim_fly:q=5", "min_hop", lmc=1).to_switch for _ in range(20)]
    assert np.array_equal(one, content) and len(others) == 20


def test_views_cost_no_memory():
    routing = fl.route("slim_fly:q=19", "min_hop")
    before = resident()
    views = [routing.to_switch for _ in range(200)]
    size = views[0].nbytes
    assert resident() - before < 20 * size, "200 copies would take ten times that"
    assert size == 2 * 722 * 722


def test_ports_to_switches_lead_there():
    network = fl.slim_fly(q=3)
    routing = fl.route(network, "min_hop")
    table = network.link_table
    ahead = {}
    columns = [table[k].tolist() for k in ("a_switch", "a_port", "b_switch", "b_port")]
    for a, p, b, q in zip(*columns, strict=True):
        ahead[a, p], ahead[b, q] = b, a
    ports = routing.to_switch
    for to in range(network.switches):
        for at in range(network.switches):
            steps = 0
            while at != to:
                at, steps = ahead[at, int(ports[to, at])], steps + 1
                assert steps <= 2
            assert ports[to, to] == 0


def test_notebooks_see_a_table():
    network = changed(fl.slim_fly(q=3).with_failures([4]), lambda d: d["recipe"].update(
        family="<script>alert(1)</script>", params={}))
    routing = fl.route(network, "dfsssp")
    cells = {"switches": 18, "endpoints": 54, "links": 45, "links that do not work": 1}
    for value, message in ((network, cells), (routing, {"lanes": 2, "table entries": 54 * 18})):
        text = value._repr_html_()
        rows = dict(re.findall(r"<tr><th[^>]*>([^<]*)</th><td[^>]*>([^<]*)</td></tr>", text))
        assert rows.items() >= {name: str(count) for name, count in message.items()}.items()
        assert "<script" not in text and "&lt;script&gt;alert(1)" in text


def test_what_networks_say_of_themselves_is_what_their_file_says():
    """Distances against networkx, terminals and planes against the JSON."""
    network = fl.network("multi_plane:planes=2,of=slim_fly:q=3").with_failures([0, 7], [3])
    document = json.loads(network.to_text("json"))
    assert network.planes == 2 == 1 + max(s["plane"] for s in document["switches"])
    table = {name: column.tolist() for name, column in network.terminal_table.items()}
    reported = [
        (number, rail, switch, port, document["switches"][switch]["up"])
        for number, endpoint in enumerate(document["endpoints"])
        for rail, (switch, port, *_) in enumerate(endpoint["rails"])
    ]
    assert list(zip(*table.values(), strict=True)) == reported
    assert list(table) == ["endpoint", "rail", "switch", "port", "up"]
    graph = fl.to_networkx(network)
    for switch in range(network.switches):
        away = nx.single_source_shortest_path_length(graph, switch)
        expected = [away.get(other, 2**32 - 1) for other in range(network.switches)]
        assert network.distances(switch).tolist() == expected
    with pytest.raises(RefusalError, match=r"there is no switch 36; switches below 36"):
        network.distances(36)


@pytest.mark.parametrize("what", [
    "fl.slim_fly(q=3).edges", "fl.slim_fly(q=3).link_table", "fl.slim_fly(q=3).distances(0)",
    "fl.route('slim_fly:q=3', 'min_hop').next", "fl.route('slim_fly:q=3', 'min_hop').to_switch",
    "fl.route('slim_fly:q=3', 'min_hop').channel_loads()",
])
def test_ctrl_c_while_numpy_is_loaded_is_no_panic(what):
    code = f"""
import sys
import flyloom as fl

class Interrupt:
    def find_spec(self, name, *rest):
        if name == "numpy":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
try:
    {what}
except KeyboardInterrupt:
    sys.meta_path.pop(0)
    print(len({what}))
"""
    done = subprocess.run([sys.executable, "-c", code], env=environment(), text=True,
                          capture_output=True, timeout=120, check=True)
    assert int(done.stdout) > 0 and done.stderr == ""
