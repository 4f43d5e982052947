"""Drawings and chart specifications: what they show is what was put in."""

from __future__ import annotations

import re
from collections import Counter
from xml.etree import ElementTree

import networkx as nx
import pytest
import report_data
from flyloom import draw
from flyloom.report import charts, check, page, words
from flyloom.report.section import cables, ebb, load

_SVG = "{http://www.w3.org/2000/svg}"


def texts(drawing: str) -> list[str]:
    return [node.text for node in ElementTree.fromstring(drawing).iter(f"{_SVG}text")]


def marks(drawing: str) -> list[set[tuple[int, int]]]:
    """The cells (row, column) of each class of marks, by following the path's relative moves."""
    out = []
    for node in ElementTree.fromstring(drawing).iter(f"{_SVG}path"):
        if not node.get("d").startswith("m"):
            continue
        cells, x, y = set(), 0, 0
        for dx, dy in re.findall(r"m(-?\d+) (-?\d+)h1", node.get("d")):
            x, y = x + int(dx), y + int(dy)
            cells.add((y, x))
            x += 1
        out.append(cells)
    return out


def slim_fly_matrix() -> tuple[dict, list[str], str]:
    network = report_data.slim_fly()
    racks = [f"rack {s % 25 // 5}" for s in range(50)]
    drawing = draw.adjacency_svg(
        network["edges"], 50, switch_groups=network["switch_groups"], switch_racks=racks
    )
    return network, racks, drawing


def test_matrix_marks_are_the_graph():
    _network, _racks, drawing = slim_fly_matrix()
    classes = marks(drawing)
    # both directions of: 50 links in groups, 25 between the groups of a rack, 100 between racks
    assert [len(cells) for cells in classes] == [100, 50, 200]
    drawn = nx.Graph(cell for cells in classes for cell in cells)
    assert nx.is_isomorphic(drawn, nx.hoffman_singleton_graph())
    assert {"within a group, in one rack: 50 links", "between groups of one rack: 25 links",
            "between racks: 100 links"} <= set(texts(drawing))
    # rows go rack by rack: marks of the first two classes stay in diagonal blocks of ten
    assert all(row // 10 == column // 10 for cells in classes[:2] for row, column in cells)
    assert all(row // 10 != column // 10 for row, column in classes[2])


def test_matrix_of_parallel_links_has_one_mark_a_pair():
    drawing = draw.adjacency_svg(report_data.fat_tree_edges(), 18)
    assert [len(cells) for cells in marks(drawing)] == [2 * 12 * 6]
    assert "A mark stands for up to 3 parallel links." in texts(drawing)
    assert "links: 216 links" in texts(drawing)


def test_large_matrix_falls_back_to_blocks_and_says_so():
    ring = [(i, (i + 1) % 2500) for i in range(2500)]
    drawing = draw.adjacency_svg(ring, 2500)
    assert any("Too large" in text for text in texts(drawing))
    assert len(drawing) < 40_000
    strokes = re.findall(r"M(\d+) (\d+)h1", drawing)
    # a ring touches the diagonal blocks, their neighbours, and the two far corners
    assert {(int(x), int(y)) for x, y in strokes} == {
        (x, y) for x in range(160) for y in range(160) if (x - y) % 160 in (0, 1, 159)
    }


@pytest.mark.parametrize(("arguments", "says"), [
    ({"edges": [(0, 3)], "switch_count": 3}, "edge 0-3: switch ids go from 0 to 2"),
    ({"edges": [(-1, 1)], "switch_count": 3}, "edge -1-1"),
    ({"edges": [], "switch_count": 3, "switch_groups": [1]}, "switch_groups has 1 values for 3"),
])
def test_matrix_refuses_what_does_not_fit(arguments, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        draw.adjacency_svg(**arguments)


def test_matrix_order_keeps_racks_and_groups_together():
    order = draw.matrix_order(6, ["b", "a", "b", "a", "b", "a"], [9, 8, 9, 8, 8, 9])
    assert order == [0, 2, 5, 4, 1, 3]


def test_floor_draws_every_rack_and_pair():
    floor = report_data.slim_fly()["floor"]
    drawing = draw.floor_svg(floor)
    assert [text for text in texts(drawing) if text.startswith("rack")] == [
        f"rack {i}" for i in range(5)
    ]
    assert drawing.count("<path") == 10
    assert "Each of the 10 lines stands for 10 cables." in texts(drawing)


def test_names_of_racks_are_shrunk_before_they_are_cut():
    names = ["row-12-cage-7-rack-03", "r" * 200]
    racks = [{"name": name, "row": 0, "column": i, "endpoints": 0,
              "switches": [{"id": i, "name": "a-switch-of-a-long-name", "unit": i + 1}]}
             for i, name in enumerate(names)]
    floor = {"racks": racks, "rack_pairs": []}
    for drawing in (draw.floor_svg(floor), draw.racks_svg(floor)):
        shown = texts(drawing)
        assert names[0] in shown and any(word.startswith("rrr") and "…" in word for word in shown)
    assert "a-switch-of-a-long-name" in texts(draw.racks_svg(floor))


def test_floor_labels_pairs_that_differ():
    floor = report_data.fat_tree()["floor"]
    shown = Counter(texts(draw.floor_svg(floor)))
    for wires, times in Counter(str(pair["cables"]) for pair in floor["rack_pairs"]).items():
        assert shown[wires] == times


def test_floor_lines_do_not_hide_behind_a_rack_between():
    floor = report_data.fat_tree()["floor"]  # four racks in one row
    for start, control, end in re.findall(r'd="M([^Q]+)Q(\S+ \S+) (\S+ \S+)"',
                                          draw.floor_svg(floor)):
        (x0, y0), (_, cy), (x1, y1) = (map(float, p.split()) for p in (start, control, end))
        peak = (y0 + 2 * cy + y1) / 4
        far = abs(x1 - x0) > 200
        assert (y0 - peak > 29) == far  # half a rack's height


def test_every_drawing_fits_its_view():
    for network in (report_data.slim_fly(), report_data.fat_tree()):
        for drawing in (draw.floor_svg(network["floor"]), draw.racks_svg(network["floor"])):
            root = ElementTree.fromstring(drawing)
            _, _, width, height = map(float, root.get("viewBox").split())
            for node in root.iter(f"{_SVG}rect"):
                x, y, w, h = (float(node.get(k)) for k in ("x", "y", "width", "height"))
                assert x >= 0 and x + w <= width and y >= 0 and y + h <= height
            for node in root.iter(f"{_SVG}text"):
                assert 0 <= float(node.get("x")) <= width
                assert 0 <= float(node.get("y")) <= height


def test_rack_fronts_put_switches_in_their_units():
    network = report_data.slim_fly()
    root = ElementTree.fromstring(draw.racks_svg(network["floor"], network["switch_groups"]))
    tops, fills = {}, {}
    for node in root.iter(f"{_SVG}rect"):
        title = node.find(f"{_SVG}title")
        if title is not None:
            name = title.text.split(",")[0]
            tops[name], fills[name] = float(node.get("y")), node.get("fill")
    assert set(tops) == {f"sf-0-{k}" for k in range(10)}  # the others are filled alike
    # higher units are higher up, by the same step; one tint a group
    steps = {round(tops[f"sf-0-{k}"] - tops[f"sf-0-{k + 1}"], 2) for k in range(9)}
    assert len(steps) == 1 and steps.pop() > 0
    tints = [fills[f"sf-0-{k}"] for k in range(10)]
    assert len(set(tints[:5])) == len(set(tints[5:])) == 1 and tints[0] != tints[5]


def test_too_many_kinds_of_racks_are_counted():
    racks = [{"name": f"r{i}", "row": 0, "column": i, "switches": [], "endpoints": i}
             for i in range(30)]
    drawing = draw.racks_svg({"racks": racks, "rack_pairs": []})
    assert "20 of 30 kinds of racks are drawn." in texts(drawing)


@pytest.mark.parametrize(("change", "kinds"), [
    ({}, 1), ({"endpoints": 5}, 2), ({"switches": [{"id": 2, "name": "s2", "unit": 3}]}, 2),
    ({"servers": [{"unit": 1, "height": 1, "endpoints": 4}]}, 2),
])
def test_of_racks_that_are_filled_alike_one_is_drawn(change, kinds):
    """Three racks with a switch and four endpoints each; the last one may differ."""
    racks = [{"name": f"r{i}", "row": 0, "column": i, "endpoints": 4,
              "switches": [{"id": i, "name": f"s{i}", "unit": 2}]} for i in range(3)]
    racks[2] |= change
    shown = texts(draw.racks_svg({"racks": racks, "rack_pairs": []}, ["a", "b", "c"]))
    drawn = [text for text in shown if re.fullmatch(r"r\d", text)]
    assert drawn == ["r0", "r2"][:kinds]
    assert f"{4 - kinds} like this" in shown
    assert sum("like this" in text for text in shown) == 1


def test_no_racks_and_no_switches_are_notes():
    empty = {"racks": [], "rack_pairs": []}
    for drawing in (draw.floor_svg(empty), draw.racks_svg(empty), draw.adjacency_svg([], 0)):
        assert len(texts(drawing)) == 1


def test_text_is_escaped_and_cleaned():
    rack = {"name": "<b>&\x00", "row": 0, "column": 0, "switches": [], "endpoints": 1}
    assert "<b>&\ufffd" in texts(draw.floor_svg({"racks": [rack], "rack_pairs": []}))


def test_load_summary_against_plain_sums():
    loads = [0, 3, 3, 7, 12]
    histogram = [{"load": k, "channels": n} for k, n in Counter(loads).items()]
    assert load.load_summary(histogram) == {
        "channels": 5, "low": 0, "mean": 5.0, "high": 12, "ratio": 2.4,
    }


def test_chart_data_keeps_every_pattern_channel_and_cable():
    data = check.check(report_data.full())
    labels = [network["label"] for network in data["networks"]]
    spec = ebb.ebb_spec(data["routings"], labels)
    bins = [v for v in spec["data"]["values"] if v["part"] == "bin"]
    assert sum(v["patterns"] for v in bins) == 16 * 100
    (low, high), = {tuple(layer["encoding"]["x"]["scale"]["domain"])
                    for layer in spec["spec"]["layer"] if "scale" in layer["encoding"]["x"]}
    assert all(low <= v["low"] and v["high"] <= high for v in spec["data"]["values"])
    # the area of each row is one
    for key in {v["routing"] for v in bins}:
        area = sum(v["density"] * (v["high"] - v["low"]) for v in bins if v["routing"] == key)
        assert area == pytest.approx(1)
    loads = load.load_spec(data["routings"], labels)["data"]["values"]
    assert sum(v["channels"] for v in loads) == 8 * (2 * 175) + 8 * (2 * 72)
    bars = cables.cable_spec(data["networks"])["data"]["values"]
    assert sum(v["cables"] for v in bars) == 175 + 216


def many(count: int) -> dict:
    """Report data with this number of routings of the first network, of rising means and ratios."""
    data = report_data.full()
    routing = data["routings"][0]
    data["networks"] = data["networks"][:1]
    data["measures"], data["routings"] = [], []
    for place in range(count):
        bandwidth = {**routing["ebb"], "mean": 0.2 + place / 1000, "ci_low": 0.1, "ci_high": 0.9}
        loads = [{"load": 1, "channels": 100}, {"load": 2 + place, "channels": 1}]
        data["routings"].append({
            **routing, "label": f"number {place}", "network": data["networks"][0]["label"],
            "ebb": bandwidth, "load_histogram": loads,
        })
    return data


@pytest.mark.parametrize("count", [charts.MOST, charts.MOST + 1, 300])
def test_of_many_routings_the_outermost_are_drawn(count):
    data = check.check(many(count))
    labels = [network["label"] for network in data["networks"]]
    half = charts.MOST // 2
    outermost = [f"number {i}" for i in (*range(half), *range(count - half, count))]
    for spec in (ebb.ebb_spec(data["routings"], labels),
                 load.load_spec(data["routings"], labels)):
        assert list(dict.fromkeys(v["routing"] for v in spec["data"]["values"])) == outermost
    data["routings"].insert(0, {**data["routings"][0], "ebb": None, "load_histogram": None})
    assert charts.picked(data["routings"], ebb.ebb_figure) == [
        r for r in data["routings"] if r["label"] in outermost and r["ebb"]]


@pytest.mark.parametrize("count", [charts.MOST, charts.MOST + 1])
def test_the_page_says_what_charts_leave_out(monkeypatch, count):
    monkeypatch.setattr(charts, "svg", lambda spec, prefix: "<svg></svg>")
    text = page.render(many(count))
    says = f"Shown are {charts.MOST} of {count} routings: the 12 of the lowest and the 12"
    assert text.count(says) == (2 if count > charts.MOST else 0)
    assert text.count("<b>number ") + text.count(">number ") >= count, "the table has all"


def test_of_many_networks_the_first_are_drawn(monkeypatch):
    monkeypatch.setattr(charts, "svg", lambda spec, prefix: "<svg></svg>")
    data = report_data.full()
    data["routings"], data["measures"] = [], []
    data["networks"] = [{**data["networks"][0], "label": f"net {i}"} for i in range(30)]
    text = page.render(data)
    assert text.count("<figcaption>Who is linked to whom") == charts.MOST
    assert f"Shown are {charts.MOST} of 30 networks: the first {charts.MOST}, as drawings." in text
    assert f"Shown are {charts.MOST} of 30 networks: the first {charts.MOST}." in text
    names = [f"net {i}" for i in range(30)]
    legends = [ebb.ebb_spec(check.check(many(2))["routings"], names[:n])["spec"]["layer"][0]
               ["encoding"]["color"]["legend"] for n in (1, 2, 6, 7, 30)]
    assert [legend is not None for legend in legends] == [False, True, True, False, False]
    spec = cables.cable_spec(check.check(data)["networks"])
    assert {v["network"] for v in spec["data"]["values"]} == {f"net {i}" for i in range(24)}


def test_names_in_tiles_are_few():
    assert words.few("abcde") == "a, b, c, d, e"
    assert words.few(map(str, range(1007))) == "0, 1, 2, 3, 4 and 1,002 more"


def test_length_classes_sort_by_length():
    lengths = ["10-20", "1-3", ">20", "0-1", "5"]
    assert sorted(lengths, key=cables.length_key) == ["0-1", "1-3", "5", "10-20", ">20"]


def test_charts_of_nothing_are_none():
    assert ebb.ebb_spec([], []) is None
    assert load.load_spec([], []) is None
    assert cables.cable_spec([]) is None


def test_chart_ids_are_prefixed_and_the_same_each_time():
    pytest.importorskip("vl_convert")
    spec = {
        "$schema": charts.SCHEMA, "data": {"values": [{"a": 1, "b": 2}, {"a": 3, "b": 4}]},
        "mark": {"type": "bar", "clip": True},
        "encoding": {"x": {"field": "a", "type": "quantitative"},
                     "y": {"field": "b", "type": "quantitative"}},
    }
    first, second = (charts.svg(spec, prefix=prefix) for prefix in ("one-", "two-"))
    names = re.findall(r'\bid="([^"]+)"', first)
    assert names and all(name.startswith("one-") for name in names)
    assert set(re.findall(r"url\(#([^)]+)\)", first)) <= set(names)
    assert first.replace("one-", "two-") == second
    assert charts.svg(spec, prefix="one-") == first
    ElementTree.fromstring(first)


def grid(rows: int, columns: int, pairs: list[tuple[str, str]] = (), odd: str = "") -> dict:
    """A floor of racks, all with a switch and two endpoints but for ``odd``, which has three."""
    racks = [{"name": f"R{row}-{column}", "row": row, "column": column, "endpoints": 2,
              "switches": [{"id": row * columns + column, "name": "s", "unit": 1}]}
             for row in range(rows) for column in range(columns)]
    for rack in racks:
        rack["endpoints"] += rack["name"] == odd
    return {"racks": racks, "rack_pairs": [{"a": a, "b": b, "cables": 1} for a, b in pairs]}


@pytest.mark.parametrize(("rows", "columns", "drawn"), [
    (6, 10, 60), (1, 60, 60), (1, 61, 10), (22, 22, 60), (61, 1, 6), (7, 9, 54),
])
def test_no_floor_is_drawn_with_more_than_sixty_racks(rows, columns, drawn):
    floor = grid(rows, columns, [("R0-0", f"R{rows - 1}-{columns - 1}")])
    shown = texts(draw.floor_svg(floor))
    assert sum(text == "1 switch" for text in shown) == drawn
    said = " ".join(shown)
    assert (f"{drawn} of {rows * columns} racks are drawn" in said) == (drawn < rows * columns)
    if drawn < rows * columns:
        assert "all others are filled alike" in said
        assert "1 pairs of racks share cables, 0 of them here" in said
        other = " ".join(texts(draw.floor_svg(grid(rows, columns, odd="R0-0"))))
        assert "filled alike" not in other and "too small to read" in other


@pytest.mark.parametrize(("rows", "pairs", "lines"), [(6, 101, 101), (7, 100, 100), (7, 101, 0)])
def test_a_part_of_a_floor_has_a_hundred_lines_at_most(rows, pairs, lines):
    names = [f"R{row}-{column}" for row in range(6) for column in range(10)]
    of = [(a, b) for a in names for b in names if a < b][:pairs]
    drawing = draw.floor_svg(grid(rows, 10, of))
    assert len(set(re.findall(r"<title>(R\S+ to R\S+):", drawing))) == lines
    assert ("too many lines" in " ".join(texts(drawing))) == (not lines)


def test_lines_and_words_of_a_floor_stay_in_view_and_behind_no_other_rack():
    """Points of every curve, worked out again, against the boxes of all racks."""
    names = [f"R{row}-{column}" for row in range(5) for column in range(5)]
    pairs = [(a, b) for a in names for b in names if a < b]
    drawing = draw.floor_svg(grid(5, 5, pairs))
    root = ElementTree.fromstring(drawing)
    _, _, width, height = map(float, root.get("viewBox").split())
    boxes = [tuple(float(node.get(k)) for k in ("x", "y", "width", "height"))
             for node in root.iter(f"{_SVG}rect") if float(node.get("height")) > 5]
    last = drawing.rindex("<rect")
    curves = list(re.finditer(r'd="M(\S+) (\S+)Q(\S+) (\S+) (\S+) (\S+)"', drawing))
    assert (len(boxes), len(curves)) == (25, len(pairs))

    def held(x: float, y: float, beyond: float = 0.0) -> set[tuple[float, ...]]:
        return {box for box in boxes if box[0] - beyond < x < box[0] + box[2] + beyond
                and box[1] - beyond < y < box[1] + box[3] + beyond}

    over = 0
    for curve in curves:
        x0, y0, cx, cy, x1, y1 = map(float, curve.groups())
        ends = held(x0, y0, 0.5) | held(x1, y1, 0.5)
        assert len(ends) == 2, "every line begins and ends at a rack"
        behind = set()
        for t in (i / 100 for i in range(101)):
            x = (1 - t) ** 2 * x0 + 2 * t * (1 - t) * cx + t * t * x1
            y = (1 - t) ** 2 * y0 + 2 * t * (1 - t) * cy + t * t * y1
            assert 0 <= x <= width and 0 <= y <= height
            behind |= held(x, y) - ends
        assert not behind or curve.start() > last, "in front of the racks that it passes"
        over += curve.start() > last
    assert 0 < over < len(pairs) / 2
    narrow = grid(1, 2, [("R0-0", "R0-1")])
    narrow["rack_pairs"][0]["cables"] = 12_345_678
    root = ElementTree.fromstring(draw.floor_svg(narrow))
    for node in root.iter(f"{_SVG}text"):
        if node.get("text-anchor") is None:
            end = float(node.get("x")) + 0.58 * float(node.get("font-size")) * len(node.text)
            assert end <= float(root.get("width"))


def test_the_use_of_links_is_drawn_on_sixty_racks_at_most():
    floor = grid(22, 22)
    channels = [(0, 1, 5.0), (1, 0, 2.0), (0, 22 * 22 - 1, 9.0), (23, 24, 1.0)]
    drawing = draw.heat_floor_svg(floor, channels)
    assert texts(drawing).count("1 switch") == 60
    assert "60 of 484 racks are drawn" in " ".join(texts(drawing))
    assert drawing.count("<path") == 2, "the pairs of racks that are both there"
    small = draw.heat_floor_svg(grid(2, 2), [(0, 3, 9.0)])
    assert "racks are drawn" not in small and small.count("<path") == 1
