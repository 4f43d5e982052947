"""Charts and heat maps of simulations: what they show is what was put in."""

from __future__ import annotations

import itertools
import json
import re
from xml.etree import ElementTree

import flyloom as fl
import pytest
from cli_helpers import document, flyloom
from flyloom import draw
from flyloom.draw.floor import floor_data
from flyloom.draw.heat import IDLE, HeatScale, ramp
from flyloom.report import charts, flit, flit_page, simulated
from flyloom.report.simulated import map_rows

SVG = "{http://www.w3.org/2000/svg}"


def point(load: float, accepted: float, latency: float | None, **more) -> dict:
    """A point as the simulator gives it; of latencies one packet at each, 10 cycles apart."""
    bins = [] if latency is None else [[int(latency) - 10, 30], [int(latency), 60],
                                       [int(latency) + 300, 10]]
    return {
        "offered_load": load, "accepted_load": accepted, "mean_packet_latency_cycles": latency,
        "mean_network_latency_cycles": latency, "mean_hops": latency and 2.5,
        "p99_packet_latency_cycles": latency and latency + 300, "saturated": accepted < 0.97 * load,
        "deadlocked": False, "latency_histogram": bins,
        "hop_histogram": [0, 0, 50, 50] if latency else [], "cycles": 10,
        "switched_flits": 10, **more,
    }


CURVES = [
    {"label": "up", "points": [point(0.4, 0.4, 20.0), point(0.2, 0.2, 15.5)],
     "saturation_throughput": 0.45},
    {"label": "down", "points": [point(0.3, 0.3, 30.0), point(0.6, 0.5, 90.0),
                                 point(0.7, 0.0, None, deadlocked=True)]},
]


def test_nothing_to_draw_is_no_chart():
    assert flit.curves_spec([]) is None and flit.curves_spec([{"label": "", "points": []}]) is None
    assert flit.distributions_spec([]) is None
    stuck = point(0.5, 0.0, None, deadlocked=True)
    assert flit.distributions_spec([{"label": "", "point": stuck}]) is None
    charts.svg(flit.curves_spec([{"label": "a", "points": [stuck]}]), prefix="x-")


def test_the_point_that_is_shown_is_the_highest_unsaturated():
    points = [point(0.1, 0.1, 9.0), point(0.5, 0.5, 12.0), point(0.6, 0.5, 90.0),
              point(0.55, 0.55, 13.0, deadlocked=True)]
    assert flit.highest_unsaturated(points)["offered_load"] == 0.5
    assert flit.highest_unsaturated(points[2:])["offered_load"] == 0.55
    assert flit.highest_unsaturated([point(0.6, 0.0, None)]) is None


@pytest.mark.parametrize("share", [0.01, 0.3, 0.5, 0.9, 0.99, 1.0])
def test_quantiles_are_those_of_the_packets_in_order(share):
    counts = [[5, 3], [6, 40], [9, 50], [12, 7]]
    packets = sorted(latency for latency, n in counts for _ in range(n))
    wanted = next(x for i, x in enumerate(packets, 1) if i >= share * len(packets))
    assert flit.quantile(counts, share) == wanted


def test_distributions_hold_all_packets_in_classes():
    shown = point(0.4, 0.4, 20.0)
    row = flit.distributions_spec([{"label": "case", "point": shown}])["vconcat"][0]
    latencies, hops = row["hconcat"]
    bars = latencies["layer"][0]["data"]["values"]
    assert sum(bar["share"] for bar in bars) == pytest.approx(1)
    width = bars[0]["high"] - bars[0]["low"]
    for bar in bars:
        inside = sum(n for at, n in shown["latency_histogram"] if bar["low"] <= at < bar["high"])
        assert bar["share"] == pytest.approx(inside / 100) and bar["low"] % width == 0
    marked = {v["name"]: v["at"] for v in latencies["layer"][1]["data"]["values"]}
    assert marked == {"median": 20, "p99 latency": 320}
    assert hops["data"]["values"] == [{"hops": 2, "share": 0.5}, {"hops": 3, "share": 0.5}]


# --- heat maps -----------------------------------------------------------------------------------


def lightness(colour: str) -> float:
    """Relative luminance (WCAG 2.2) of a colour."""
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


#: What people see who lack one kind of cone, as matrices on linear RGB (Machado et al. 2009).
DEFICIENCIES = {
    "red": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
            (-0.003882, -0.048116, 1.051998)),
    "green": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
              (-0.011820, 0.042940, 0.968881)),
    "blue": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
             (0.004733, 0.691367, 0.303900)),
}


@pytest.mark.parametrize("matrix", DEFICIENCIES.values(), ids=DEFICIENCIES)
@pytest.mark.parametrize("most", [0.07, 0.35, 1.0])
def test_colours_go_from_light_to_dark_for_everybody(most, matrix):
    def seen(colour: str) -> float:
        parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        r, g, b = (min(1, max(0, sum(m * x for m, x in zip(row, linear, strict=True))))
                   for row in matrix)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    for light in (lightness, seen):
        steps = [light(colour) for colour in HeatScale(most).colours]
        # 1.1: what neighbours differ by in contrast, at least
        assert all((a + 0.05) / (b + 0.05) > 1.1 for a, b in itertools.pairwise(steps))
    assert ramp(0) != ramp(1)


@pytest.mark.parametrize("most", [1e-6, 0.031, 0.1, 0.5, 0.999, 1.0])
def test_a_scale_reaches_from_nothing_to_the_most(most):
    scale = HeatScale(most)
    assert 1 <= len(scale.colours) <= 10
    assert (scale.count - 1) * scale.step < most <= scale.count * scale.step * (1 + 1e-9)
    digits = f"{scale.step:.6e}"
    assert digits[0] in "125" and float(digits[:8]) == int(digits[0])
    assert scale.colour(0) == IDLE and scale.colour(most) == scale.colours[-1]
    for i in range(scale.count):
        inside = min(most, (i + 0.5) * scale.step)
        assert scale.place(inside) == i or inside == most


def marks(drawing: str) -> dict[tuple[int, int], str]:
    """The colour of each cell of a matrix, by following the relative moves of its paths."""
    out = {}
    for node in ElementTree.fromstring(drawing).iter(f"{SVG}path"):
        if node.get("d").startswith("m"):
            x = y = 0
            for dx, dy in re.findall(r"m(-?\d+) (-?\d+)h1", node.get("d")):
                x, y = x + int(dx), y + int(dy)
                out[y, x] = node.get("stroke")
                x += 1
    return out


def test_the_matrix_shows_every_channel_in_its_colour():
    # switch 0 and 2 stand in the rack that is drawn second
    channels = [(0, 1, 0.5), (1, 0, 0.0), (1, 2, 0.05), (1, 2, 0.25), (2, 1, 0.41)]
    drawing = draw.heat_matrix_svg(channels, 3, switch_racks=["b", "a", "b"])
    scale = HeatScale(0.5)
    order = [0, 2, 1]  # racks in the order in which switches show them
    wanted: dict = {}
    for a, b, used in channels:
        cell = (order.index(a), order.index(b))
        wanted[cell] = max(used, wanted.get(cell, 0.0))
    assert marks(drawing) == {cell: scale.colour(used) for cell, used in wanted.items()}
    assert "Of parallel links the busiest is shown." in drawing


def test_rows_have_the_names_of_switches_in_the_order_asked_for():
    names = ["spine", "leaf a", "leaf b"]
    drawing = draw.heat_matrix_svg([(1, 0, 0.5), (2, 0, 0.25)], 3, switch_names=names,
                                   switch_groups=["level 1", "level 0", "level 0"],
                                   order=[1, 2, 0])
    assert set(marks(drawing)) == {(0, 2), (1, 2)}
    texts = re.findall(r">([^<>]+)</text>", drawing)
    assert [text for text in texts if text in names] == ["leaf a", "leaf b", "spine"]
    assert "level 0" in texts
    many = [f"s{i}" for i in range(200)]  # rows of 2.1 px: every 6th has a name
    drawing = draw.heat_matrix_svg([(i, i - 1, 0.5) for i in range(1, 200)], 200, switch_names=many)
    named = [text for text in re.findall(r">([^<>]+)</text>", drawing) if text in many]
    assert named == many[::6]


@pytest.mark.parametrize("form", ["netlist", "inline"])
def test_a_fat_tree_is_drawn_level_by_level_and_a_fabric_without_racks(form):
    tree = fl.network("fat_tree:leaves=4,spines=2,p=4")
    if form == "netlist":
        tree = fl.Topology.from_text(tree.to_text("netlist"), "ibnetdiscover")
    rows = map_rows(tree)
    assert rows["groups"] == ["level 0"] * 4 + ["level 1"] * 2
    assert rows["order"] == list(range(6))
    assert (rows["floor"] is None) == (form == "netlist")
    torus = fl.network("torus:shape=4x4,p=1")
    assert map_rows(torus)["order"] is None and map_rows(torus)["floor"]["racks"]


def test_a_large_matrix_has_blocks_of_the_busiest():
    n = 2400
    ring = [(i, (i + 1) % n, 0.9 if i == 700 else 0.2) for i in range(n)]
    cells = marks(draw.heat_matrix_svg(ring, n))
    block = n // 160
    hot = (700 // block, 701 // block)
    assert cells[hot] == HeatScale(0.9).colour(0.9)
    assert {colour for cell, colour in cells.items() if cell != hot} == {HeatScale(0.9).colour(0.2)}


def test_the_floor_shows_the_busiest_channel_of_each_pair_of_racks():
    t = fl.slim_fly(q=5, p=4)
    plan = t.plan({"endpoints_per_unit": 2})
    rack = [seat["rack"] for seat in plan["switches"]]
    ends = [pair for x, y in t.edges.tolist() for pair in ((x, y), (y, x))]
    channels = [(a, b, ((7 * a + 3 * b) % 50) / 50) for a, b in ends]
    drawing = ElementTree.fromstring(
        draw.heat_floor_svg(floor_data(plan, t.switch_names), channels))
    scale = HeatScale(max(used for *_, used in channels))
    names = [r["name"] for r in plan["racks"]]
    lines = {}
    for node in drawing.iter(f"{SVG}path"):
        hint = node.find(f"{SVG}title").text
        lines[tuple(hint.split(":")[0].split(" and "))] = (node.get("stroke"), hint)
    for i, a in enumerate(names):
        for j, b in enumerate(names[:i]):
            between = [used for x, y, used in channels if {rack[x], rack[y]} == {i, j}]
            colour, hint = lines.pop((b, a))
            assert colour == scale.colour(max(between)) and f"{len(between)} channels" in hint
    assert not lines
    bars = [node.get("fill") for node in drawing.iter(f"{SVG}rect") if node.get("height") == "12"
            and node.get("stroke")]
    inside = [
        max(used for x, y, used in channels if rack[x] == rack[y] == i) for i in range(len(names))
    ]
    assert bars == [scale.colour(used) for used in inside]


def test_of_many_pairs_of_racks_the_busiest_are_drawn():
    racks = [{"name": f"R{i:02}", "row": i // 10, "column": i % 10, "endpoints": 0,
              "switches": [{"id": i, "name": f"s{i}", "unit": 1}]} for i in range(40)]
    channels = [(a, b, (a * 40 + b + 1) / 1600) for a in range(40) for b in range(a)]
    drawing = draw.heat_floor_svg({"racks": racks, "rack_pairs": []}, channels)
    assert f"The 600 busiest of {len(channels)} pairs of racks are drawn." in drawing
    shown = {node.find(f"{SVG}title").text.split(":")[0]
             for node in ElementTree.fromstring(drawing).iter(f"{SVG}path")}
    busiest = sorted(channels, key=lambda c: c[2])[-600:]
    assert shown == {f"R{b:02} and R{a:02}" for a, b, _ in busiest}


def test_networks_without_links_or_racks_say_so():
    assert "no links" in draw.heat_matrix_svg([], 3)
    assert "No rack" in draw.heat_floor_svg({"racks": [], "rack_pairs": []}, [])


# --- the command ---------------------------------------------------------------------------------

SHORT = ["--set", "run.warmup_cycles=100", "run.measure_cycles=200"]


def test_the_command_writes_pictures_a_page_and_all_it_found(tmp_path):
    words = ["sim", "flit", "slim_fly:q=3,p=2", "--load", "0.2,0.9", *SHORT]
    found = document(*words, "-o", tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text()) == found
    for end in ("svg", "png", "pdf", "html"):
        done = flyloom(*words, "-o", str(tmp_path / f"a.{end}"))
        assert done.returncode == 0 and f"written to {tmp_path}/a.{end}" in done.stdout
    assert ElementTree.parse(tmp_path / "a.svg").getroot().tag == f"{SVG}svg"
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    page = (tmp_path / "a.html").read_text()
    for p in found["points"]:
        assert f'<td class="n">{p["mean_packet_latency_cycles"]:,.4g}</td>' in page
    assert "Use of links" not in page


def test_a_name_that_is_no_picture_is_refused_before_the_work(tmp_path):
    done = flyloom("sim", "flit", "slim_fly:q=19", "--load", "0.5", "-o", str(tmp_path / "a.txt"))
    assert done.returncode == 2 and "a.txt" in done.stderr and ".json" in done.stderr


def test_links_of_a_point_become_heat_maps():
    t = fl.slim_fly(q=3, p=2)
    ends = [(a, b) for x, y in t.edges.tolist() for a, b in ((x, y), (y, x))]
    names = t.switch_names
    links = {"from": [names[a] for a, _ in ends], "to": [names[b] for _, b in ends],
             "port": [1] * len(ends), "use": [i / 100 for i in range(len(ends))]}
    found = {"network": t.recipe, "points": [point(0.2, 0.2, 9.0, links=links)],
             "verified": True, "traffic": "uniform", "engine": None}
    assert simulated.channels(links, names) == [(a, b, i / 100) for i, (a, b) in enumerate(ends)]
    drawn = flit_page.drawings(found, t)
    assert set(drawn) == {simulated.MATRIX, simulated.FLOOR}
    page = flit_page.page(found, drawn)
    assert "Use of links at load 0.2" in page and all(d in page for d in drawn.values())
    assert not flit_page.drawings({**found, "points": [point(0.2, 0.2, 9.0)]}, t)
