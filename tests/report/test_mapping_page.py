"""The page of a mapping: what it draws are the bytes and loads of both mappings."""

from __future__ import annotations

import re

import browser
import flyloom as fl
import networkx as nx
import pytest
from cli_helpers import flyloom
from flyloom import draw
from flyloom.draw.heat import HeatScale
from flyloom.verbs.mapping_shown import shown

CASES = [
    ("torus:shape=3x4,p=1", "stencil:shape=2x6,bytes=1000", {}),
    ("slim_fly:q=3,p=2", "stencil:shape=6x9,bytes=70", {"per_endpoint": 2}),
    ("dragonfly:h=2", "stencil:shape=5x4,bytes=3", {"engine": "dfsssp", "hosts": range(40, 60)}),
]


@pytest.mark.parametrize(("net", "graph", "more"), CASES)
def test_what_is_shown_adds_up(net, graph, more):
    """Loads add up to hop-bytes and their largest is the congestion; bytes are those of pairs."""
    network = fl.network(net)
    far = dict(nx.all_pairs_shortest_path_length(nx.Graph(network.edges.tolist())))
    home = network.attachments[:, 0].tolist()
    found = fl.map_processes(net, graph, method="random", seed=5, **more)
    seen = shown(net, graph, found, more)
    columns = fl.communication(graph).columns()
    sent = list(zip(*(columns[name].tolist() for name in ("from", "to", "bytes")), strict=True))
    first = list(more.get("hosts", range(network.endpoints)))
    linear = [first[p // more.get("per_endpoint", 1)] for p in range(found.processes)]
    for side, places in ((seen["linear"], linear), (seen["found"], found.mapping)):
        wanted: dict = {}
        for a, b, amount in sent:
            ends = (places[a], places[b])
            if ends[0] != ends[1]:
                wanted[ends] = wanted.get(ends, 0) + amount
        assert {(a, b): amount for a, b, amount in side["sent"]} == wanted
        hops = sum(w * far[home[a]][home[b]] for (a, b), w in wanted.items())
        assert sum(load for *_, load in side["loads"]) == pytest.approx(hops, rel=1e-12)
        most = max(load for *_, load in side["loads"])
        assert most == pytest.approx(side["figures"]["maximum_congestion"], rel=1e-12)
        assert len(side["loads"]) == 2 * network.links
    assert seen["groups"] == [network.groups[s] for s in home]


def test_beside_tables_of_its_own_the_linear_one_takes_the_shortest_paths():
    net, graph = "slim_fly:q=3,p=2", "stencil:shape=6x6,bytes=100"
    found, routing = fl.map_with_routing(net, graph, effort="fast", lmc=1)
    seen = shown(routing, graph, found, {}, linear_on=net)
    assert seen["linear"]["figures"]["hop_bytes"] == found.linear.hop_bytes
    for side in (seen["linear"], seen["found"]):
        most = max(load for *_, load in side["loads"])
        assert most == pytest.approx(side["figures"]["maximum_congestion"], rel=1e-12)
    assert seen["found"]["figures"]["maximum_congestion"] == found.maximum_congestion


def test_two_matrices_can_have_one_scale():
    one, other = [(0, 1, 4.0)], [(0, 1, 1.0)]
    colours = [set(re.findall(r'stroke="(#[0-9a-f]{6})" transform', drawing)) for drawing in (
        draw.heat_matrix_svg(one, 2), draw.heat_matrix_svg(other, 2),
        draw.heat_matrix_svg(other, 2, most=4.0))]
    assert colours[:2] == [{HeatScale(most).colour(most)} for most in (4.0, 1.0)]
    assert colours[2] == {HeatScale(4.0).colour(1.0)}
    assert "Who sends" in draw.heat_matrix_svg(one, 2, title="Who sends")


def test_the_command_writes_a_page_of_its_own(tmp_path):
    words = ["torus:shape=3x4,p=1", "--graph", "stencil:shape=2x6,bytes=1000"]
    done = flyloom("map", *words, "-o", "ranks", "-o", "a.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2:] == ["written to ranks", "written to a.html"]
    page = (tmp_path / "a.html").read_text()
    assert page.count("<svg") == 6 and not re.search(r"(src|href)=.(?!data:)", page)
    reported = fl.map_processes(words[0], words[2])
    for value in (reported.hop_bytes, reported.linear.hop_bytes, reported.hop_bytes_bound):
        four = float(f"{value:.4g}") if value % 1 else value
        assert f'<td class="n">{four:,.10g}</td>' in page
    again = flyloom("map-eval", *words, "--mapping", "ranks", "-o", "b.html", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "b.html").read_text() == page
    if browser.find():
        document, complaints = browser.dump_dom(tmp_path / "a.html")
        assert complaints == [] and "Who sends to whom" in document


def test_a_page_with_nothing_to_send(tmp_path):
    (tmp_path / "none.mtx").write_text("%%MatrixMarket matrix coordinate real general\n3 3 0\n")
    done = flyloom("map", "torus:shape=3,p=1", "--graph", "none.mtx", "-o", "a.html",
                   cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Nothing goes from one endpoint to another." in (tmp_path / "a.html").read_text()


def test_a_page_has_the_ending_of_one(tmp_path):
    done = flyloom("map", "torus:shape=3,p=1", "--graph", "stencil:shape=3,bytes=1", "-o",
                   "a.svg", cwd=tmp_path)
    assert done.returncode == 2 and "-o a.svg" in done.stderr
