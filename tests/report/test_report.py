"""The report page: numbers, escaping, self-containment, errors, and what a browser makes of it."""

from __future__ import annotations

import copy
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import browser
import networkx as nx
import pytest
import report_data

pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")

from flyloom.report import ReportError, page

_VOID = {"meta", "link", "br", "wbr"}


class Page(HTMLParser):
    """Tables as rows of cells, text by section, all attributes; checks that tags nest."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.stack, self.rows, self.attributes, self.text = [], {}, [], {}
        self.tags: set[str] = set()
        self.section = ""
        self.feed(html)
        assert not self.stack, f"not closed: {self.stack}"

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attributes]
        if tag == "section":
            self.section = dict(attributes)["id"]
        if tag == "tr":
            self.rows.setdefault(self.section, []).append([])
        if tag in ("td", "th"):
            self.rows[self.section][-1].append("")
        if tag not in _VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.attributes += [(tag, name, value or "") for name, value in attributes]

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data):
        if "style" in self.stack:
            return
        self.text[self.section] = self.text.get(self.section, "") + data
        if any(tag in self.stack for tag in ("td", "th")):
            self.rows[self.section][-1][-1] += data

    def row(self, section: str, first: str, nth: int = 0) -> list[str]:
        """The nth row of a section whose first cell is ``first``."""
        found = [row for row in self.rows[section] if row and row[0].strip() == first]
        return [" ".join(cell.split()) for cell in found[nth]]


@pytest.fixture(scope="module")
def data() -> dict:
    return report_data.full()


@pytest.fixture(scope="module")
def html(data) -> str:
    return page.render(data)


def drawings(html: str) -> list[str]:
    return re.findall(r"<svg.*?</svg>", html, flags=re.DOTALL)


def test_the_test_network_is_the_hoffman_singleton_graph():
    graph = nx.Graph(report_data.slim_fly_edges())
    assert nx.is_isomorphic(graph, nx.hoffman_singleton_graph())
    assert nx.average_shortest_path_length(graph) == pytest.approx(13 / 7)
    tree = nx.Graph(report_data.fat_tree_edges())
    mean = report_data.fat_tree()["structure"]["mean_distance"]
    assert nx.average_shortest_path_length(tree) == pytest.approx(mean)


def test_structure_table_holds_the_numbers_of_both_networks(html):
    parsed = Page(html)
    assert parsed.row("networks", "Switches")[1:3] == ["50", "18"]
    assert parsed.row("networks", "Endpoints")[1:3] == ["200", "216"]
    assert parsed.row("networks", "Mean distance")[1:3] == ["1.857", "1.529"]  # 13/7, 26/17
    assert parsed.row("networks", "Moore fraction")[1:3] == ["1.000", "–"]
    assert parsed.row("networks", "Recipe")[2] == report_data.fat_tree()["recipe"]


def test_routing_table_has_a_row_for_each_routing_and_its_verdicts(html, data):
    parsed = Page(html)
    assert [row[0] for row in parsed.rows["routing"]].count("dfsssp, LMC 2") >= 2
    # between any two switches of the Slim Fly there is one shortest path; a channel carries the
    # routes of its own pair and of 6 + 6 two-hop pairs, each of 4 x 4 endpoints
    good = parsed.row("routing", "dfsssp")
    assert good[1:] == ["Slim Fly", "flyloom", "0", "3", "2", "1.857", "208",
                        "✓ yes", "✓ yes", "✓ yes", "✓ yes"]
    assert parsed.row("routing", "min_hop")[-2:] == ["✗ no", "✗ no"]
    for line in data["routings"][2]["counterexample"]:
        assert line in parsed.text["routing"]


def test_loads_and_bandwidths(html, data):
    parsed = Page(html)
    assert parsed.row("load", "min_hop")[2:] == ["350", "208", "208.0", "208", "1.00"]
    ebb = data["routings"][0]["ebb"]
    row = parsed.row("ebb", "dfsssp, LMC 2")
    assert row[2] == f"{ebb['mean']:.4f}" and row[4] == "100"
    assert row[3] == f"{ebb['ci_low']:.4f} to {ebb['ci_high']:.4f}"
    assert f"{ebb['mean']:.3f}" in "".join(drawings(html))


def test_what_a_wide_table_has_in_all_rows_is_said_once(data):
    def measure(columns):
        names = [f"column_{i}" for i in range(columns)]
        return {"name": "own", "doc": "Words.", "rows": [
            {"network": "Slim Fly", "label": f"row {row}", "cells": [
                2.5e6 if i == 3 else row + i for i in range(columns)]} for row in range(2)],
            "columns": [{"name": name, "unit": "", "meaning": ""} for name in names]}

    wide = Page(page.render({**data, "measures": [measure(9)]}))
    assert wide.row("measures", "row 1") == ["row 1", "Slim Fly", "1", "2", "3", "5", "6", "7", "8",
                                             "9"]
    assert "Words. In all rows: column 3 2,500,000." in wide.text["measures"]
    narrow = Page(page.render({**data, "measures": [measure(5)]}))
    assert narrow.row("measures", "row 0")[2:] == ["0", "1", "2", "2,500,000", "4"]
    assert "In all rows" not in narrow.text["measures"]


def test_a_fabric_whose_time_is_not_known_has_no_column_for_it(data):
    some = copy.deepcopy(data)
    assert "Time (s)" in Page(page.render(some)).text["fabric"]
    for routing in some["routings"]:
        if routing["deploy"]:
            routing["deploy"].pop("seconds")
    assert "Time (s)" not in Page(page.render(some)).text["fabric"]


def test_cables_and_fabric(html):
    parsed = Page(html)
    assert parsed.row("cables", "copper")[1:] == ["0-1", "75", "43 %", "3,075"]
    assert parsed.row("cables", "All", 1)[1:] == ["175", "", "24,945"]
    # the table of both networks: 75 of copper on the one, 216 links of the other
    assert parsed.row("cables", "copper, 0-1 m")[1] == "75"
    assert parsed.row("cables", "All")[1:] == ["175", "216"]
    assert parsed.row("cables", "Price of all cables")[1] == "24,945 $"
    assert "step 1: 50, step 2: 25, step 3: 100." in " ".join(parsed.text["cables"].split())
    row = parsed.row("fabric", "dfsssp, LMC 2")
    assert row[2:8] == ["42,500", "0", "160,000", "0", "–", "–"]
    assert row[9] == "no credit loops found"


def test_headline(data):
    tiles = {tile["head"]: tile for tile in page.tiles(page.PageData(page.check(data)))}
    assert tiles["Compared"]["small"] == "Slim Fly 200 endpoints, Fat tree 216 endpoints"
    [built] = [tile for tile in page.tiles(page.PageData(page.check(report_data.single())))
               if tile["head"].startswith("Built")]
    assert built["small"] == "50 switches, 175 links, 5 racks, diameter 2"
    assert tiles["Proven"]["big"] == "10 of 16 routings"
    sound = max(r["ebb"]["mean"] for r in data["routings"] if r["verified"])
    assert tiles["Random pairs"]["big"] == f"{100 * sound:.1f} %"
    assert tiles["Loaded and read back"]["big"] == "identical"
    raised = copy.deepcopy(data)
    raised["routings"][2]["ebb"] |= {"mean": 0.99, "ci_low": 0.98, "ci_high": 1.0}  # deadlocks
    tiles = {tile["head"]: tile for tile in page.tiles(page.PageData(page.check(raised)))}
    assert tiles["Random pairs"]["big"] == f"{100 * sound:.1f} %"
    spoilt = copy.deepcopy(data)
    spoilt["routings"][0]["deploy"]["differing_sl_entries"] = 3
    last = page.tiles(page.PageData(page.check(spoilt)))[-1]
    assert (last["big"], last["mood"]) == ("3 differ", "bad")


def test_nothing_outside_is_referred_to(html):
    parsed = Page(html)
    assert "script" not in parsed.tags
    for tag, name, value in parsed.attributes:
        assert not name.startswith("on"), (tag, name)
        if name in ("href", "src", "xlink:href", "srcset", "action"):
            assert value.startswith("#") or value == "data:,", (tag, name, value)
    assert "@import" not in html
    assert all(target.startswith("#") for target in re.findall(r"url\(['\"]?([^)]*)", html))
    rest = re.sub(r'xmlns(:\w+)?="http://www\.w3\.org/[^"]*"', "", html)
    assert not re.search(r"https?://", rest)


def test_drawings_are_xml_and_ids_are_unique(html):
    found = drawings(html)
    assert len(found) == 2 * 3 + 3  # plan, fronts, matrix for each network; three charts
    for drawing in found:
        ElementTree.fromstring(drawing)
    ids = re.findall(r'\sid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    for target in re.findall(r"url\(['\"]?#([^'\")]+)", html) + re.findall(r'href="#([^"]+)', html):
        assert target in ids


def test_same_input_same_bytes(data, html):
    assert page.render(copy.deepcopy(data)) == html
    assert len(html.encode()) < 1_000_000


HOSTILE = "<img src=x onerror=alert(1)> & \"q\" 'r' </style></svg>\x07"


def _hostile(value: object, key: str = "") -> object:
    """Every free text of the data made hostile, references kept in step."""
    if isinstance(value, dict):
        return {k: _hostile(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [_hostile(item, key) for item in value]
    return value + HOSTILE if isinstance(value, str) else value


def test_all_text_is_escaped():
    bad = _hostile(report_data.single())
    bad["skipped"] = [{"what": HOSTILE, "why": HOSTILE}]
    bad["stages"] = [{"name": HOSTILE, "seconds": 1, "line": HOSTILE}]
    html = page.render(bad)
    parsed = Page(html)
    assert "img" not in parsed.tags
    assert "\x07" not in html
    for drawing in drawings(html):
        ElementTree.fromstring(drawing)
    assert '<img src=x onerror=alert(1)> & "q"' in parsed.text["provenance"]


def test_missing_parts_leave_their_section_out_and_say_why():
    data = report_data.single()
    parsed = Page(page.render(data))
    assert "skipped: opensm is not installed" in parsed.text["fabric"]
    for key in ("edges", "floor", "cables", "switch_groups"):
        del data["networks"][0][key]
    del data["routings"]
    data["skipped"] = [{"what": "routing", "why": "the network is disconnected"}]
    html = page.render(data)
    parsed = Page(html)
    assert set(parsed.text) == {"", "networks", "provenance"}
    assert "the network is disconnected" in parsed.text[""]
    assert not drawings(html)


def _set(data: dict, path: str, value: object) -> None:
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    for step in steps:
        data = data[step]
    data[last] = value


@pytest.mark.parametrize(("path", "value", "says"), [
    ("seed", -1, "data.seed: -1 found; give a whole number"),
    ("title", None, "data.title: missing; give a string"),
    ("titel", "x", "data.titel: unknown key; valid are"),
    ("networks.0.edges.3", [7, 50], "edges[3]: switch 50 does not exist; switch ids of this"),
    ("networks.0.edges.3", [7], "edges[3]: 1 values found; give two"),
    ("networks.0.switch_groups", [0, 1], "switch_groups: 2 values for 50 switches"),
    ("networks.0.floor.racks.1.name", "rack 0", "racks[1]: name 'rack 0' is given twice"),
    ("networks.0.floor.racks.1.column", 0, "racks[1]: place (row, column) (0, 0) is given twice"),
    ("networks.0.floor.racks.1.switches.0.id", 0, "switches[0].id: switch 0 is placed twice"),
    ("networks.0.floor.rack_pairs.0.a", "attic", "rack_pairs[0].a: no rack is called 'attic'"),
    ("routings.0.network", "Torus", "no network is labelled 'Torus'; valid are 'Slim Fly'"),
    ("routings.0.mean_hops", float("nan"), "mean_hops: nan found; give a finite number"),
    ("routings.0.verified", 1, "verified: 1 found; give True or False"),
    ("routings.0.ebb.ci_high", 0.0, "does not hold the mean"),
    ("routings.0.ebb.histogram.0.bin_high", 0.0, "histogram[0]: bin from"),
    ("routings", {"a": 1}, "data.routings: dict found; give a list"),
])
def test_wrong_data_gives_one_clear_error(path, value, says):
    data = report_data.single()
    _set(data, path, value)
    with pytest.raises(ReportError) as caught:
        page.render(data)
    assert says in str(caught.value)


def test_write_is_all_or_nothing(tmp_path):
    data = report_data.single()
    target = page.write(data, tmp_path / "report.html")
    before = target.read_bytes()
    data["seed"] = "seven"
    with pytest.raises(ReportError):
        page.write(data, target)
    assert target.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


@browser.NEEDS
def test_a_browser_shows_the_page_without_complaint(html, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(html, encoding="utf-8")
    dom, complaints = browser.dump_dom(path)
    assert complaints == []
    shown = Page(dom)
    assert shown.row("networks", "Endpoints")[1:3] == ["200", "216"]
    assert shown.row("routing", "dfsssp")[7] == "208"
    picture = tmp_path / "report.png"
    browser.screenshot(path, picture, height_px=900)
    assert picture.read_bytes().startswith(b"\x89PNG")


@browser.NEEDS
def test_the_browser_helper_hears_complaints(tmp_path):
    path = tmp_path / "bad.html"
    path.write_text("<script>console.error('a loud complaint')</script>", encoding="utf-8")
    assert any("a loud complaint" in line for line in browser.dump_dom(path)[1])
