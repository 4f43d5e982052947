"""Files for other programs, read by readers that share nothing with flyloom; what is refused."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import checkout
import export_readers as readers
import flyloom as fl
import networkx as nx
import pytest
from cli_helpers import document, flyloom
from flyloom import RefusalError

DATA = checkout.DATA
TREES = [
    "fat_tree:levels=3,k=4", "fat_tree:leaves=4,spines=2,parallel=3,p=5", "star:n=4,p=2",
    "xgft:m=3x2,w=1x2", "k_ary_n_tree:k=3,n=3",
]


def text(source, to, **options) -> str:
    return fl.export(source, to, **options).text


@pytest.mark.parametrize("inline", TREES)
def test_a_tree_of_slurm_has_the_children_of_every_switch(inline):
    topology = fl.network(inline)
    children, reached = readers.reach(topology)
    lines = readers.slurm_lines(text(topology, "slurm-tree"))
    assert {line["SwitchName"] for line in lines} == {s for s in reached if reached[s]}
    for line in lines:
        name = line["SwitchName"]
        if "Nodes" in line:
            assert sorted(readers.expanded(line["Nodes"])) == sorted(reached[name])
            assert set(line) == {"SwitchName", "Nodes"}
        else:
            assert set(readers.expanded(line["Switches"])) == children[name]


@pytest.mark.parametrize("inline", TREES)
def test_distinct_switches_reach_what_all_reach_and_no_two_the_same(inline):
    topology = fl.network(inline)
    _, reached = readers.reach(topology)
    level = dict(zip(topology.switch_names, topology.levels.tolist(), strict=True))
    lines = readers.slurm_lines(text(topology, "slurm-tree", switches="distinct"))
    nodes: dict[str, set[str]] = {}
    for line in lines:
        below = readers.expanded(line.get("Switches", ""))
        nodes[line["SwitchName"]] = set().union(
            readers.expanded(line.get("Nodes", "")), *(nodes[child] for child in below)
        )
    assert all(nodes[name] == reached[name] for name in nodes)
    kinds = [(level[s], frozenset(nodes[s])) for s in nodes]
    assert len(set(kinds)) == len(kinds)
    assert set(kinds) == {(level[s], frozenset(reached[s])) for s in reached if reached[s]}


def test_a_tree_that_was_discovered_has_its_levels_found(tmp_path):
    topology = fl.network("fat_tree:levels=3,k=4")
    (tmp_path / "ft.edges").write_text(topology.to_text("edges"))
    found = fl.network(tmp_path / "ft.edges")
    assert set(found.levels.tolist()) == {0}
    def plain(net):
        return text(net, "slurm-tree").partition("\n")[2]
    assert sorted(plain(found).splitlines()) == sorted(plain(topology).splitlines())
    roots = text(found, "opensm-roots").splitlines()[1:]
    assert len(roots) == 4


def test_any_network_is_leaves_with_one_switch_above_them():
    topology = fl.network("slim_fly:q=5,p=4")
    lines = readers.slurm_lines(text(topology, "slurm-tree", switches="leaves"))
    graph = readers.named(topology)
    for line in lines[:-1]:
        mine = {n for n in graph[line["SwitchName"]] if graph.nodes[n]["kind"] == "endpoint"}
        assert set(readers.expanded(line["Nodes"])) == mine
    assert sorted(readers.expanded(lines[-1]["Switches"])) == sorted(topology.switch_names)


@pytest.mark.parametrize(("inline", "blocks"), [
    ("dragonfly:h=2", "groups"), ("fat_tree:levels=3,k=4", "groups"),
    ("torus:shape=3x4,p=2", "switches"), ("slim_fly:q=5,p=4", "racks"),
])
def test_blocks_of_slurm_are_what_was_asked_for(inline, blocks):
    topology = fl.network(inline)
    place = topology.attachments[:, 0]
    if blocks == "groups":
        block = topology.groups[place].tolist()
    elif blocks == "switches":
        block = place.tolist()
    else:
        block = [seat["rack"] for seat in fl.plan(topology).to_dict()["endpoints"]]
    floor = blocks == "racks" or None
    lines = readers.slurm_lines(text(topology, "slurm-block", blocks=blocks, floor=floor))
    expected = {}
    for name, of in zip(topology.endpoint_names, block, strict=True):
        expected.setdefault(of, set()).add(name)
    found = [set(readers.expanded(line["Nodes"])) for line in lines[:-1]]
    assert all(set(line) == {"BlockName", "Nodes"} for line in lines[:-1])
    assert len({line["BlockName"] for line in lines[:-1]}) == len(found)
    assert sorted(map(sorted, found)) == sorted(map(sorted, expected.values()))
    assert lines[-1] == {"BlockSizes": str(min(map(len, found)))}


def test_sizes_of_blocks_follow_the_manual():
    def sizes(given):
        return text("dragonfly:h=2", "slurm-block", sizes=given).splitlines()[-1]
    assert sizes([4, 8, 32]) == sizes("4,8,32") == "BlockSizes=4,8,32"
    assert sizes(8) == "BlockSizes=8"
    for wrong in ([9], [0], [4, 12], [4, 4], [8, 4], [], "4,x", [2.5]):
        with pytest.raises(RefusalError, match="sizes"):
            sizes(wrong)


def test_an_anynet_file_is_the_one_that_booksim_ran():
    theirs = (DATA / "flit" / "sf_q5.anynet").read_text()
    ours = text("slim_fly:q=5,p=4", "booksim-anynet")
    assert readers.anynet(ours) == readers.anynet(theirs)


@pytest.mark.parametrize("inline", [
    "slim_fly:q=4,p=2", "fat_tree:levels=3,k=4", "dragonfly:h=2", "hyperx:shape=3x4,p=3",
])
def test_an_anynet_file_is_the_network(inline):
    topology = fl.network(inline)
    router_of, channels = readers.anynet(text(topology, "booksim-anynet"))
    assert [router_of[n] for n in range(len(router_of))] == topology.attachments[:, 0].tolist()
    edges = {(a, b) for a, b in topology.edges.tolist()}
    assert set(channels) == edges | {(b, a) for a, b in edges}
    assert set(channels.values()) == {1}


@pytest.mark.parametrize("floor", [True, {"slack_fraction": 0.9}])
def test_latencies_of_anynet_are_those_of_the_cables(floor):
    topology = fl.network("slim_fly:q=5,p=4")
    _, channels = readers.anynet(text(topology, "booksim-anynet", cycle_ns=2, floor=floor))
    csv = fl.plan(topology, None if floor is True else floor).cables_csv.splitlines()
    heads = csv[0].split(",")
    rows = [dict(zip(heads, line.split(","), strict=True)) for line in csv[1:]]
    number = {name: n for n, name in enumerate(topology.switch_names)}
    links = [row for row in rows if row["cable"].startswith("link-")]
    assert len(channels) == 2 * len(links)
    for row in links:
        cycles = max(1, round(float(row["length_m"]) * 5 / 2))  # 5 ns a metre
        pair = number[row["a_device"]], number[row["b_device"]]
        assert abs(channels[pair] - cycles) <= (float(row["length_m"]) * 5 % 2 == 1)  # halves
        assert channels[pair] == channels[pair[::-1]]
    assert len(set(channels.values())) > 1


def test_what_has_failed_is_left_out_and_the_rest_numbered_anew():
    topology = fl.network("slim_fly:q=4,p=2").with_failures([3], ["sf-0-0-1"])
    router_of, channels = readers.anynet(text(topology, "booksim-anynet"))
    names = [name for name in topology.switch_names if name != "sf-0-0-1"]
    edges = {(topology.switch_names[a], topology.switch_names[b]) for a, b in topology.edges}
    assert {(names[a], names[b]) for a, b in channels if a < b} == edges
    assert len(router_of) == 2 * len(names)
    remark = text(topology, "slurm-tree", switches="leaves").splitlines()[1]
    links = topology.links - len(topology.edges)
    assert remark == (
        f"# left out, as they do not work: switches 1, links {links}, endpoints 2"
    )


@pytest.mark.parametrize(("inline", "kinds"), [
    ("ring:n=6,p=1", "Ring"), ("complete:n=5,p=1", "FullyConnected"),
    ("torus:shape=4x3x2,p=1", "FullyConnected, Ring, Ring"),
    ("hyperx:shape=3x4,p=1", "FullyConnected, FullyConnected"),
    ("hypercube:n=3,p=1", "FullyConnected, FullyConnected, FullyConnected"),
    ("torus:shape=1x5,p=1", "Ring"),
])
def test_a_grid_of_astra_sim_joins_the_npus_that_links_join(inline, kinds):
    topology = fl.network(inline)
    entries, graph = readers.astra(text(topology, "astra-sim", switch_latency_ns=100))
    assert ", ".join(entries["topology"]) == kinds
    pairs = {tuple(sorted(edge)) for edge in topology.edges.tolist()}  # one endpoint a switch
    assert {tuple(sorted(edge)) for edge in graph.edges()} == pairs
    dimensions = len(entries["topology"])
    rates = [float(rate) * 2**30 * 8 for rate in entries["bandwidth"]]  # a GB has 2^30 bytes there
    assert rates == pytest.approx([200e9] * dimensions)
    assert entries["latency"] == ["125.0"] * dimensions  # 5 m of cable, and a switch


def test_one_switch_of_astra_sim():
    entries, _ = readers.astra(text("complete:n=1,p=6", "astra-sim", switch_latency_ns=100))
    assert entries["topology"] == ["Switch"]
    assert entries["npus_count"] == ["6"]
    assert entries["latency"] == ["75.0"]  # two of them make a path through the switch


@pytest.mark.parametrize("inline", ["slim_fly:q=5,p=4", "fat_tree:levels=3,k=4"])
def test_graphml_has_places_and_reads_back(inline, tmp_path):
    topology = fl.network(inline)
    path = tmp_path / "net.graphml"
    fl.export(topology, "graphml", path)
    plan = fl.plan(topology).to_dict()
    graph = nx.read_graphml(path)
    assert [graph.nodes[n]["name"] for n in graph] == topology.switch_names
    for node, seat in zip(graph.nodes.values(), plan["switches"], strict=True):
        rack = plan["racks"][seat["rack"]]
        assert (node["rack"], node["unit"]) == (rack["name"], seat["unit"])
        assert (node["x_m"], node["y_m"]) == (rack["x_m"], rack["y_m"])
        millimetres = 1.75 * 25.4 * seat["unit"]
        assert node["z_m"] * 1000 == pytest.approx(millimetres, abs=0.6)
    drawn = [(node["x"], node["y"]) for node in graph.nodes.values()]
    assert len(set(drawn)) == len(drawn)
    assert all(isinstance(value, float) for point in drawn for value in point)
    assert {data["rate_gbps"] for *_, data in graph.edges(data=True)} == {200.0}
    lengths = {row[0]: float(row[3]) for row in
               (line.split(",") for line in plan["cables_csv"].splitlines()[1:])}
    assert {f"link-{data['id']}": data["length_m"] for *_, data in graph.edges(data=True)} == \
        pytest.approx({key: m for key, m in lengths.items() if key.startswith("link")})
    back = fl.network(path)
    assert back.switch_names == topology.switch_names
    assert back.edges.tolist() == topology.edges.tolist()
    assert back.levels.tolist() == topology.levels.tolist()
    assert back.groups.tolist() == topology.groups.tolist()
    assert back.attachments[:, 0].tolist() == topology.attachments[:, 0].tolist()


def test_yed_draws_a_switch_where_gephi_does(tmp_path):
    topology = fl.network("slim_fly:q=5,p=4")
    found = ElementTree.fromstring(text(topology, "graphml"))
    yed = {"y": "http://www.yworks.com/xml/graphml", "g": "http://graphml.graphdrawing.org/xmlns"}
    nodes = found.findall(".//g:node", yed)
    assert len(nodes) == topology.switches
    for node, name in zip(nodes, topology.switch_names, strict=True):
        own = {data.get("key"): data.text for data in node.findall("g:data", yed)}
        shape = node.find(".//y:ShapeNode", yed)
        assert shape.findtext("y:NodeLabel", namespaces=yed) == own["name"] == name
        left, top, width, height = (
            float(shape.find("y:Geometry", yed).get(key)) for key in ("x", "y", "width", "height")
        )
        assert left + width / 2 == pytest.approx(float(own["x"]))
        assert top + height / 2 == pytest.approx(-float(own["y"]))  # its y runs down


def test_graphml_keeps_lengths_that_are_known(tmp_path):
    one = json.loads(fl.network("ring:n=3,p=1").to_text("json"))
    one["links"][0][4] = {"length_m": 7.25}
    (tmp_path / "ring.json").write_text(json.dumps(one))
    found = text(tmp_path / "ring.json", "graphml")
    lengths = re.findall(r'key="length_m">([\d.]+)<', found)
    assert lengths[0] == "7.25"
    assert len(lengths) == 3


def test_planes_are_written_one_by_one():
    topology = fl.network("multi_plane:planes=2,of=slim_fly:q=4,p=2")
    with pytest.raises(RefusalError, match="plane: the network has 2.*0 to 1"):
        text(topology, "booksim-anynet")
    one = text("slim_fly:q=4,p=2", "booksim-anynet")
    for plane in (0, 1):
        assert readers.anynet(text(topology, "booksim-anynet", plane=plane)) == \
            readers.anynet(one)
        guids = text(topology, "opensm-guids", plane=plane).splitlines()
        assert len([line for line in guids if line.startswith("0x")]) == topology.endpoints
    with pytest.raises(RefusalError, match="no plane 2"):
        text(topology, "slurm-tree", plane=2, switches="leaves")


NAMED = '{"flyloom": 1, "recipe": {"family": "file", "params": {}}, "switches": [{"name": "s"}],' \
    ' "links": [], "endpoints": [{"name": "%s", "rails": [[0, 0]]}, {"name": "%s", "rails":' \
    ' [[0, 0]]}]}'


def test_names_that_slurm_cannot_take_are_refused_or_cut(tmp_path):
    path = tmp_path / "n.json"
    path.write_text(NAMED % ("node-1 HCA-1", "node-2 HCA-1"))
    whole = {"names": "whole"}
    with pytest.raises(RefusalError, match='"node-1 HCA-1" has the character \' \'.*first-word'):
        text(path, "slurm-tree", **whole)
    for to in ("slurm-tree", "slurm-block"):
        line = readers.slurm_lines(text(path, to, names="first-word"))[0]
        assert readers.expanded(line["Nodes"]) == ["node-1", "node-2"]
    path.write_text(NAMED % ("node HCA-2", "node HCA-1"))
    assert text(path, "slurm-tree").endswith("SwitchName=s Nodes=node\n"), "adapters of one host"
    path.write_text(NAMED % ("rack 1", "rack 2"))
    with pytest.raises(RefusalError, match="'rack' comes twice"):
        text(path, "slurm-tree")
    path.write_text(NAMED % ("-a", "b"))
    with pytest.raises(RefusalError, match="\"-a\" begins with '-'"):
        text(path, "slurm-tree")
    path.write_text(NAMED % ("a[1]", "b"))
    with pytest.raises(RefusalError, match=r"\"a\[1\]\" has the character '\['"):
        text(path, "slurm-block")


REFUSED = [
    ("slurm-tree", "slim_fly:q=4,p=2", {}, "no tree: a link joins.*switches=leaves"),
    ("slurm-tree", "slim_fly:q=4,p=0", {"switches": "leaves"}, "endpoints: there is none"),
    ("slurm-tree", "star:n=3", {"switches": "some"}, "no 'some', only all, distinct, leaves"),
    ("slurm-block", "torus:shape=3x3,p=1", {}, "all nodes are in one group"),
    ("slurm-block", "torus:shape=3x3,p=1", {"blocks": "racks"}, "floor plan: --floor"),
    ("booksim-anynet", "fat_tree:leaves=4,spines=2,parallel=3,p=5", {}, "parallel ones between"),
    ("booksim-anynet", "ring:n=4,p=1", {"cycle_ns": 0}, "cycle_ns: 0 is out of range"),
    ("booksim-anynet", "ring:n=4,p=1", {"cycle": 1}, "cycle: not an option of.*cycle_ns"),
    ("simgrid", "fat_tree:leaves=4,spines=2,parallel=3,p=5", {}, "parallel ones.*route -o"),
    ("simgrid", "ring:n=4,p=1", {"routes": "tables"}, "there are no tables"),
    ("simgrid", "ring:n=4,p=1", {"host_gflops": -1}, "host_gflops: -1 is out of range"),
    ("opensm-roots", "torus:shape=3x3,p=1", {}, "no tree.*only trees have roots"),
    ("opensm-roots", "complete:n=1,p=4", {}, "all switches are on one level"),
    ("astra-sim", "slim_fly:q=4,p=1", {}, "ASTRA-sim has rings"),
    ("astra-sim", "torus:shape=3x3,p=2", {}, "not every switch has one endpoint"),
    ("astra-sim", "mesh:shape=4x4,p=1", {}, "neither rings nor complete"),
    ("astra-sim", "complete:n=1,p=1", {}, "endpoints: there is one"),
    ("ibsim", "ring:n=4,p=1", {"lmc": 9}, "9 is no LMC"),
    ("graphml", "ring:n=4,p=1", {"plane": 0}, "plane: not an option of graphml"),
    ("visio", "ring:n=4,p=1", {}, "no format 'visio'.*slurm-tree"),
]


@pytest.mark.parametrize(("to", "inline", "options", "why"), REFUSED)
def test_what_a_format_cannot_say_is_refused_with_the_reason(to, inline, options, why):
    with pytest.raises(RefusalError, match=why):
        text(inline, to, **options)


def test_a_ring_that_has_lost_a_link_is_no_ring():
    ring = fl.network("ring:n=5,p=1").with_failures([2])
    with pytest.raises(RefusalError, match="neither rings nor complete"):
        text(ring, "astra-sim")
    with pytest.raises(RefusalError, match="no path leads to"):
        text(ring.with_failures([4]), "booksim-anynet")
    with pytest.raises(RefusalError, match="no path leads to"):
        text(ring.with_failures([4]), "simgrid")


def test_a_tree_without_a_switch_above_all_nodes_is_refused():
    tree = fl.network("fat_tree:leaves=3,spines=2,p=2")
    cut = tree.with_failures([0, 3])  # each spine has lost another leaf
    with pytest.raises(RefusalError, match="no switch is above all nodes"):
        text(cut, "slurm-tree")


def test_rails_are_refused_where_a_format_has_one(tmp_path):
    path = tmp_path / "rails.edges"
    path.write_text("a b\nendpoints a 1\nendpoints b 1\n")
    two = json.loads(fl.network(path).to_text("json"))
    for switch in two["switches"]:
        switch["ports"] = 3
    two["endpoints"][0]["rails"].append([1, 0])
    path = tmp_path / "rails.json"
    path.write_text(json.dumps(two))
    for to in ("booksim-anynet", "simgrid", "astra-sim"):
        with pytest.raises(RefusalError, match="rails: endpoint host-0000 has several"):
            text(path, to)
    written = text(path, "slurm-block", blocks="switches")
    assert "# host-0000 has cables to several switches: the switch of the first" in written
    assert "BlockName=a Nodes=host-0000" in written
    assert text(path, "opensm-guids").count("0x") == 3


def test_the_netlist_is_the_one_of_that_lmc():
    printed = flyloom("export", "ring:n=4,p=2", "--to", "ibsim", "-O", "lmc=2").stdout
    assert printed == fl.network("ring:n=4,p=2").to_text("netlist", 2)
    assert " lmc 2 " in printed


def test_the_command_writes_prints_and_lists(tmp_path):
    done = flyloom("export", "star:n=3,p=2", "--to", "slurm-tree", "-o", "topology.conf",
                   cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "5 lines of slurm-tree written to topology.conf\n"
    printed = flyloom("export", "star:n=3,p=2", "--to", "slurm-tree").stdout
    assert (tmp_path / "topology.conf").read_text() == printed == text("star:n=3,p=2", "slurm-tree")
    found = document("export", "star:n=3,p=2", "--to", "slurm-tree")
    assert found["text"] == printed
    assert (found["bytes"], found["lines"], found["path"]) == (len(printed), 5, None)
    formats = [row["name"] for row in document("export", "--list")["formats"]]
    listed = flyloom("export", "--list").stdout.splitlines()
    assert [line for line in listed if not line.startswith(" ")] == formats


@pytest.mark.parametrize(("words", "why"), [
    (["export"], "NET|TABLES: missing"),
    (["export", "star:n=3"], "--to: missing; astra-sim"),
    (["export", "star:n=3", "--to", "dot"], "no format 'dot'"),
    (["export", "star:n=3", "--list"], "--list: stands alone"),
    (["export", "star:n=3", "--to", "graphml", "-O", "floor=1"], "--option floor=1: not an option"),
    (["export", "star:n=3", "--to", "ibsim", "-O", "source=1"], "not an option of a format"),
    (["export", "star:n=3", "--to", "ibsim", "-O", "lmc=0", "-O", "lmc=1"], "given twice"),
    (["export", "star:n=3", "--to", "ibsim", "-O", "plane=x"], "plane: 'x' is no whole number"),
    (["export", "star:n=3", "--to", "simgrid", "-O", "layer=-1"], "layer: invalid value"),
    (["export", "star:n=3", "--to", "graphml", "-o", "no/such/folder.xml"], "no/such/folder.xml"),
    (["export", "ring:n=3", "--to", "booksim-anynet", "-O", "cycle_ns=x"], "cycle_ns"),
    (["export", "ring:n=3", "--to", "ibsim", "--no-floor", "--rules", "r.toml"], "--rules"),
])
def test_bad_words_end_with_one_line_and_two(words, why, tmp_path):
    done = flyloom(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert why in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("to", ["slurm-tree", "slurm-block"])
def test_full_host_names_are_written_up_to_the_first_dot_where_asked(tmp_path, to):
    edges = tmp_path / "net.json"
    net = json.loads(fl.network("star:n=2").to_text("json"))
    for switch in net["switches"]:
        switch["ports"] = 8
    names = ["n1.site.example HCA-1", "n2.site.example mlx5_0"]
    net["endpoints"] = [{"name": name, "rails": [[1, 0]]} for name in names]
    edges.write_text(json.dumps(net))
    more = {"blocks": "switches"} if to == "slurm-block" else {}
    full = fl.export(fl.network(edges), to, **more)["text"]
    assert "Nodes=n1.site.example,n2.site.example" in full
    assert "names=short" in full and "n1.site.example" in full
    short = fl.export(fl.network(edges), to, names="short", **more)["text"]
    assert "Nodes=n[1-2]\n" in short and "names=short" not in short
    net["endpoints"][1]["name"] = "n1.other.example"
    edges.write_text(json.dumps(net))
    with pytest.raises(RefusalError, match="'n1' comes twice"):
        fl.export(fl.network(edges), to, names="short", **more)
