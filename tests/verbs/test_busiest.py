"""The busiest channels by name: in edge_load, ebb, congestion and the packet level."""

import csv
import io
import json

import flyloom as fl
import pytest
from cli_helpers import flyloom

ROW = fl.from_pairs([(0, 1), (1, 2), (2, 3)], p=1)  # four switches in a row, an endpoint on each
TREE = "fat_tree:leaves=4,spines=2,p=4"


def ends(channels) -> list[tuple]:
    return [(c["from"], c["port"], c["to"], c["to_port"]) for c in channels]


def port(topology: fl.Topology, a: int, b: int) -> tuple:
    """The names and ports of the link from switch a to switch b, from the table of links."""
    table, names = topology.link_table, topology.switch_names
    for i in range(topology.links):
        here = (int(table["a_switch"][i]), int(table["a_port"][i]))
        there = (int(table["b_switch"][i]), int(table["b_port"][i]))
        for (s, own), (t, other) in ((here, there), (there, here)):
            if (s, t) == (a, b):
                return names[s], own, names[t], other
    raise AssertionError("no such link")


def test_edge_load_lists_the_channels_with_the_most_routes():
    found = fl.edge_load(ROW, top=2).to_dict()
    # over the middle link go the routes of two endpoints to two others, over the outer ones of one
    # to three
    assert ends(found["busiest_channels"]) == [port(ROW, 1, 2), port(ROW, 2, 1)]
    assert [c["load"] for c in found["busiest_channels"]] == [4, 4]
    every = fl.edge_load(ROW, top=100).busiest_channels
    assert [c.load for c in every] == [4, 4, 3, 3, 3, 3]
    assert fl.edge_load(ROW, top=0).busiest_channels == []


@pytest.mark.parametrize("measure", [fl.ebb, fl.congestion])
def test_traffic_loads_the_channels_of_its_routes(measure):
    names = ROW.endpoint_names
    pairs = [(names[0], names[3], 0.5), (names[1], names[2], 0.75)]
    found = measure(ROW, traffic=pairs, top=1).to_dict()["busiest_channels"]
    assert ends(found) == [port(ROW, 1, 2)] and found[0]["load"] == pytest.approx(1.25)
    assert len(measure(ROW, traffic=pairs).busiest_channels) == (3 if measure is fl.ebb else 7)


def test_cables_of_endpoints_are_named_by_both_ends():
    found = fl.congestion(ROW, traffic=[(0, 1, 1.0)]).to_dict()["busiest_channels"]
    table = ROW.terminal_table
    at = [(ROW.switch_names[s], int(p))
          for s, p in zip(table["switch"], table["port"], strict=True)]
    assert ends(found) == [port(ROW, 0, 1), (ROW.endpoint_names[0], 1, *at[0]),
                           (*at[1], ROW.endpoint_names[1], 1)]


def test_a_slow_cable_is_hot():
    text = fl.network(TREE).to_text("netlist")
    one = fl.network(TREE)
    name, own, other, there = port(one, 0, 4)
    slow = []
    block = ""
    for line in text.splitlines(keepends=True):
        if line.startswith("Switch"):
            block = line.split('# "')[1].split('"')[0]
        for here, at in ((name, own), (other, there)):
            if block == here and line.startswith(f"[{at}]"):
                line = line.replace("4xHDR", "1xHDR")
        slow.append(line)
    text = "".join(slow)
    assert text.count("1xHDR") == 2
    fabric = fl.Topology.from_text(text, "ibnetdiscover")
    found = fl.congestion(fabric, traffic="uniform", top=2).to_dict()["busiest_channels"]
    assert {(c["from"], c["port"]) for c in found} == {(name, own), (other, there)}
    equal = fl.congestion(one, traffic="uniform").to_dict()["busiest_channels"][0]["load"]
    assert found[0]["load"] > 2 * equal


def test_the_busiest_links_of_packets_are_those_of_the_table_of_links():
    point = fl.simulate(TREE, "packet", load=0.4, links=True, top=5).points[0]
    links, names = point["links"], fl.network(TREE).switch_names
    columns = ("use", "from", "port", "to")
    rows = list(zip(*(links[key] for key in columns), strict=True))
    order = sorted(rows, key=lambda row: (-row[0], names.index(row[1]), row[2]))
    found = [tuple(link[key] for key in columns) for link in point["busiest_links"]]
    assert found == order[:5]
    assert point["busiest_link_use"] == found[0][0]
    for link in point["busiest_links"]:
        a, b = names.index(link["from"]), names.index(link["to"])
        assert (link["from"], link["port"], link["to"], link["to_port"]) == port(
            fl.network(TREE), a, b)
    same = fl.simulate(TREE, "packet", load=0.4, top=5, sync="threads", threads=2).points[0]
    assert same["busiest_links"] == point["busiest_links"]


@pytest.mark.parametrize(("command", "key"), [
    (("edge-load", TREE), "busiest_channels"),
    (("ebb", TREE, "--samples", "5"), "busiest_channels"),
    (("congestion", TREE, "--samples", "5"), "busiest_channels"),
    (("sim", "packet", TREE, "--load", "0.2"), "busiest_links"),
])
def test_commands_print_and_write_them(tmp_path, command, key):
    done = flyloom(*command, "--top", "3", "--json")
    document = json.loads(done.stdout)
    wanted = (document["points"][0] if key == "busiest_links" else document)[key]
    assert len(wanted) == 3
    file = tmp_path / "busy.csv"
    printed = flyloom(*command, "--top", "3", "--csv", file).stdout
    assert all(f"{c['from']} " in printed and c["to"] in printed for c in wanted)
    only = flyloom(*command, "--top", "3", "--csv", "-").stdout
    assert only == file.read_text() and len(only.splitlines()) == 4
    rows = list(csv.DictReader(io.StringIO(only)))
    assert [(r["from"], int(r["port"]), r["to"], int(r["to_port"])) for r in rows] == ends(wanted)
