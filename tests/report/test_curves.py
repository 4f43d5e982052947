"""Curves against load: panels, colours, bands, ends and labels are those of what was put in."""

from __future__ import annotations

import io
import itertools
import math
import re
from xml.etree import ElementTree

import pytest

pytest.importorskip("vl_convert")

from flyloom.report import charts, curves, drawing, flit, packets
from flyloom.report.panels import COLOURS, colours, panels, styles, tints_of

SVG = "{http://www.w3.org/2000/svg}"
LOADS = (0.1, 0.3, 0.5, 0.7, 0.9)
MEAN, P99, ACCEPTED = (row.key for row in flit.ROWS)


def point(load: float, ends: float, base: float = 10.0, **more) -> dict:
    """A point of a network that takes the load ``ends``, with an interval of 5 % over 3 seeds."""
    latency, accepted = base * (1 + load), min(load, ends)
    interval = {MEAN: latency, ACCEPTED: accepted}
    return {
        "offered_load": load, MEAN: latency, P99: 3 * latency, ACCEPTED: accepted,
        "saturated": load > ends, "deadlocked": False,
        "over_seeds": {"seeds": 3} | {
            key: {"confidence_interval_95": [0.95 * value, 1.05 * value]}
            for key, value in interval.items()
        }, **more,
    }


def study(**varied: list[str]) -> list[dict]:
    """A curve for each choice of the words; the nth saturates at the nth load."""
    made = []
    for place, words in enumerate(itertools.product(*varied.values())):
        ends = LOADS[place % len(LOADS)] + 0.05
        made.append({"words": dict(zip(varied, words, strict=True)),
                     "points": [point(load, ends, 10 + place) for load in LOADS]})
    return made


STUDY = study(network=["Slim Fly", "dragonfly"], traffic=["uniform", "shift", "worst_case"],
              selection=["minimal", "valiant", "ugal_l"])
LONG = study(
    network=["slim_fly:q=5,p=4", "dragonfly:p=16,a=32,h=16,g=20,failures=3 of all global links"],
    traffic=["uniform", "what a file of a very long name says.csv"],
    selection=["minimal", "an own score, hops times queue and three more for each detour taken"],
)
ONE = [{"label": "", "points": [point(load, 0.55) for load in LOADS]}]
TWELVE = study(selection=[f"selection {place}" for place in range(12)])
CASES = {"study": STUDY, "long": LONG, "one": ONE, "twelve": TWELVE,
         "many": study(network=["a", "b"], traffic=list("cdefg"), selection=list("hijklmn"))}


# --- panels and colours --------------------------------------------------------------------------


def test_a_panel_is_made_for_each_traffic_and_names_say_the_rest():
    made = panels(STUDY)
    assert [panel.name for panel in made] == ["uniform", "shift", "worst_case"]
    names = [f"{network}, {choice}" for network in ("Slim Fly", "dragonfly")
             for choice in ("minimal", "valiant", "ugal_l")]
    assert all(panel.names == names for panel in made)


@pytest.mark.parametrize(("words", "wanted"), [
    ({"selection": ["a", "b"]}, {"": ["a", "b"]}),
    ({"traffic": ["u", "w"]}, {"": ["u", "w"]}),  # a curve a panel would compare nothing
    ({"network": ["x", "y"], "selection": ["a", "b"]}, {"x": ["a", "b"], "y": ["a", "b"]}),
    ({"traffic": ["u", "w"], "network": ["x", "y"]}, {"u": ["x", "y"], "w": ["x", "y"]}),
    ({"selection": list("abcdefg")}, {"(1 of 2)": list("abcd"), "(2 of 2)": list("efg")}),
    ({"traffic": ["u"], "network": ["x", "y"], "selection": list("abcd")},
     {"x": list("abcd"), "y": list("abcd")}),
])
def test_panels_hold_what_is_to_be_compared(words, wanted):
    made = panels(study(**words))
    names = {panel.name: [", ".join(w for w in n.split(", ") if w != "u") for n in panel.names]
             for panel in made} if words.get("traffic") == ["u"] else {
        panel.name: panel.names for panel in made}
    assert names == wanted


def test_by_traffic_and_network_where_one_alone_leaves_too_many():
    made = panels(study(network=["x", "y"], traffic=["u", "w"], selection=list("abcdef")))
    assert sorted(panel.name for panel in made) == ["u, x", "u, y", "w, x", "w, y"]
    assert all(panel.names == list("abcdef") for panel in made)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_name_keeps_its_colour_and_no_two_of_a_panel_share_one(case):
    made = panels(case)
    known: dict[str, str] = {}
    for panel, tints in zip(made, colours(made), strict=True):
        assert len(panel.curves) <= len(COLOURS) == len(set(COLOURS))
        assert len(set(tints)) == len(tints)
        for name, tint in zip(panel.names, tints, strict=True):
            assert known.setdefault(name, tint) == tint
    assert sum(len(panel.curves) for panel in made) == len(case)


def test_colours_are_far_from_one_another():
    """The distance in CIELAB (CIE 1976) of any two colours is a multiple of the least that is
    seen, 2.3; 30 is what categories want."""
    def lab(colour: str) -> tuple[float, float, float]:
        parts = [int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5)]
        r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505
        y = 0.2126 * r + 0.7152 * g + 0.0722 * b
        z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089
        fx, fy, fz = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
        return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)

    assert min(math.dist(lab(a), lab(b)) for a, b in itertools.combinations(COLOURS, 2)) > 30


# --- what is drawn -------------------------------------------------------------------------------


def layers(spec: dict, kind: str) -> list[list[dict]]:
    """The values of the layers of a kind of mark, panel by panel."""
    return [layer["data"]["values"] for cell in spec["concat"] for layer in cell["layer"]
            if layer["mark"]["type"] == kind]


def test_a_latency_ends_where_it_saturates_and_what_is_accepted_does_not():
    (spec,) = [flit.curves_spec(ONE)]
    wanted = {MEAN: LOADS[:3], P99: LOADS[:3], ACCEPTED: LOADS}
    for cell, key in zip(spec["concat"], wanted, strict=True):
        line = next(layer["data"]["values"] for layer in cell["layer"]
                    if layer["mark"]["type"] == "line" and "strokeDash" in layer["encoding"])
        assert [value["offered"] for value in line] == list(wanted[key])
        for value, of in zip(line, ONE[0]["points"], strict=False):
            assert value["value"] == of[key]
        assert all(value["hollow"] == (value["offered"] > 0.55) for value in line)
        ends = [value for layer in cell["layer"] for value in layer["data"]["values"]
                if layer["mark"].get("size") == 36]
        assert [value["offered"] for value in ends] == ([] if key == ACCEPTED else [0.7])
        domain = cell["layer"][-1]["encoding"]["y"]["scale"]["domain"]
        assert all(domain[0] < value["value"] < domain[1] for value in ends)
    # nothing is drawn between the last load that is not saturated and the first that is
    assert all(value["offered"] <= 0.5 for cell in spec["concat"][:2] for layer in cell["layer"]
               if layer["mark"]["type"] == "line" for value in layer["data"]["values"])


@pytest.mark.parametrize("case", ["study", "twelve"])
def test_marks_of_curves_that_saturate_at_one_load_stand_apart_at_that_load(case):
    height = max(curves.height_of(panel.names) for panel in panels(CASES[case]))
    for block in blocks(flit.curves_spec(CASES[case])):
        for cell in block["concat"]:
            ends = [(value["offered"], value["value"], value["curve"])
                    for layer in cell["layer"] if layer["mark"].get("size") == 36
                    for value in layer["data"]["values"]]
            assert {load for load, *_ in ends} <= set(LOADS)
            if not ends:
                continue
            domain = next(layer["encoding"]["y"]["scale"]["domain"] for layer in cell["layer"]
                          if "scale" in layer["encoding"].get("y", {}))
            whole = math.log(domain[1] / domain[0])
            tops = [(load, height * math.log(domain[1] / value) / whole)
                    for load, value, _ in ends]
            for (load, top), (other, below) in itertools.combinations(tops, 2):
                assert load != other or abs(top - below) > 8
            assert all(0 < top < height / 2 for _, top in tops)


def blocks(spec: dict) -> list[dict]:
    """The blocks of panels of a chart, one or several."""
    return spec.get("vconcat", [spec])


def test_curves_differ_without_colours():
    made = panels(STUDY)
    for looks in styles(made):
        assert len({(look.shape, tuple(look.dash)) for look in looks}) == len(looks)
        dashes = [tuple(look.dash) for look in looks]
        shapes = [look.shape for look in looks]
        assert len(set(dashes[:3])) == len(set(dashes[3:])) == 1 and dashes[0] != dashes[3]
        assert shapes[:3] == shapes[3:] and len(set(shapes)) == 3
    for varied in ("network", "selection"):
        [panel] = made = panels(study(**{varied: ["a", "b", "c"]}))
        assert len({look.shape for look in styles(made)[0]}) == len(panel.names) == 3


@pytest.mark.parametrize("case", ["study", "long", "one"])
def test_the_legend_has_each_name_once_in_the_order_of_the_curves(case):
    spec = flit.curves_spec(CASES[case])
    found = [" ".join(layer["mark"]["text"]) for cell in spec["concat"] for layer in cell["layer"]
             if layer["mark"]["type"] == "text" and "y" in layer["encoding"]
             and layer["mark"]["baseline"] == "middle"]
    wanted = dict.fromkeys(name for panel in panels(CASES[case]) for name in panel.names if name)
    assert found == [" ".join(curves.lines_of(name)) for name in wanted]


def test_histograms_have_the_colours_of_the_curves():
    tints = tints_of(STUDY)
    for panel, of in zip(panels(STUDY), colours(panels(STUDY)), strict=True):
        for curve, tint in zip(panel.curves, of, strict=True):
            assert tints[[id(one) for one in STUDY].index(id(curve))] == tint
    shown = [{"label": "", "colour": tint, "point": {
        "latency_histogram": [[9, 5]], "hop_histogram": [0, 5], "offered_load": 0.1}}
        for tint in tints[:2]]
    rows = flit.distributions_spec(shown)["vconcat"]
    assert [row["hconcat"][1]["mark"]["color"] for row in rows] == tints[:2]


def test_a_deadlock_is_a_cross_and_what_never_arrives_is_cut_at_its_load():
    stuck = point(0.3, 0.9, deadlocked=True) | {MEAN: None, P99: None}
    spec = flit.curves_spec([{"label": "a", "points": [stuck]}])
    assert "crosses" in spec["title"]["text"][0]
    marks = [value for values in layers(spec, "point") for value in values]
    assert [mark["mark"] for mark in marks if mark] == ["cross"] * 3
    charts.svg(spec, prefix="x-")


def test_bands_are_the_intervals_over_seeds():
    spec = flit.curves_spec(ONE)
    mean, p99, accepted = (
        [value for layer in cell["layer"] if layer["mark"]["type"] == "area"
         for value in layer["data"]["values"]] for cell in spec["concat"])
    assert not p99  # there is no interval of it
    for values, key, count in ((mean, MEAN, 3), (accepted, ACCEPTED, 5)):
        assert len(values) == count
        for value, of in zip(values, ONE[0]["points"], strict=False):
            ends = of["over_seeds"][key]["confidence_interval_95"]
            assert [value["low"], value["high"]] == pytest.approx(ends)
    assert "3 seeds" in " ".join(spec["title"]["text"])
    alone = [{"label": "", "points": [{**p, "over_seeds": None} for p in ONE[0]["points"]]}]
    assert not layers(flit.curves_spec(alone), "area")


def test_packets_have_the_same_chart_and_a_rate_where_the_load_is_not_known():
    keys = {MEAN: "mean_latency_ns", P99: "p99_latency_ns", ACCEPTED: "accepted_load"}

    def renamed(point: dict) -> dict:
        return {keys.get(key, key): renamed(value) if isinstance(value, dict) else value
                for key, value in point.items()}

    made = [{**curve, "points": [renamed(p) | {"accepted_gbps": 7.0} for p in curve["points"]]}
            for curve in STUDY]
    spec, wanted = packets.curves_spec(made), flit.curves_spec(STUDY)
    for kind in ("line", "point"):
        assert layers(spec, kind) == layers(wanted, kind)
    for curve in made:
        for p in curve["points"]:
            del p["accepted_load"]
    drawn = layers(packets.curves_spec(made), "line")[-1]
    assert {value["value"] for value in drawn} == {7.0}


def test_curves_that_are_not_drawn_are_counted():
    spec = flit.curves_spec(CASES["many"])
    drawn = {id(p) for p in panels(CASES["many"])[:curves.MOST]}
    assert len(drawn) == curves.MOST
    left = sum(len(panel.curves) for panel in panels(CASES["many"])[curves.MOST:])
    assert left and f"{left} more curves are not drawn" in " ".join(spec["title"]["text"])


# --- labels --------------------------------------------------------------------------------------


def texts(svg: str) -> list[tuple[str, float, float, float, bool]]:
    """The texts of a picture: what they say, the left end, the middle, the width as of letters of
    0.62 of their size (DejaVu Sans has 0.6 in the mean), and whether they stand upright."""
    out = []

    def walk(node: ElementTree.Element, x: float, y: float) -> None:
        moved = re.match(r"translate\(([-\d.]+)[, ]([-\d.]+)\)", node.get("transform") or "")
        if moved:
            x, y = x + float(moved[1]), y + float(moved[2])
        if node.tag == f"{SVG}text":
            size = float(re.sub("px", "", node.get("font-size", "11")))
            lines = [t.text or "" for t in node.iter(f"{SVG}tspan")] or [node.text or ""]
            for place, line in enumerate(lines):
                out.append((line, x, y + place * curves.LINE, 0.62 * size * len(line),
                            "rotate" in (node.get("transform") or "")))
        for child in node:
            walk(child, x, y)

    walk(ElementTree.fromstring(svg), 0.0, 0.0)
    return out


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_picture_holds_all_of_its_text_and_no_two_labels_touch(case):
    svg = charts.svg(flit.curves_spec(case, "What was simulated"), prefix="x-")
    width, height = map(float, re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg).groups())
    found = texts(svg)
    names = {line for panel in panels(case)[:curves.MOST] for name in panel.names
             for line in curves.lines_of(name)}
    labels = [text for text in found if text[0] in names]
    assert {text[0] for text in labels} == names - {""}
    assert all(0 <= x <= width and 0 <= y <= height for _, x, y, *_ in found)
    assert all(x + wide <= width + 30 for _, x, _, wide, _ in labels)
    for one, other in itertools.combinations(labels, 2):
        beside = one[1] + one[3] <= other[1] or other[1] + other[3] <= one[1]
        assert beside or abs(one[2] - other[2]) >= curves.LINE - 0.6


# --- PDF -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("narrow", [False, True])
def test_a_pdf_has_text_with_its_fonts_and_no_image(narrow):
    pypdf = pytest.importorskip("pypdf")
    made = study(selection=["minimal", "valiant", "ugal_l"])
    content = drawing.pdf_bytes(flit.curves_spec(made, "A title", narrow=narrow))
    (page,) = pypdf.PdfReader(io.BytesIO(content)).pages
    said = page.extract_text()
    assert all(word in said for word in ("A title", "minimal", "ugal_l", "accepted load"))
    resources = page["/Resources"]
    assert not list(page.images)
    fonts = [font.get_object() for font in resources["/Font"].values()]
    assert fonts
    for font in fonts:
        inner = font.get("/DescendantFonts", [font])[0].get_object()["/FontDescriptor"]
        assert {"/FontFile", "/FontFile2", "/FontFile3"} & set(inner)
    # a column of a paper is 240 to 250 points wide; letters of 11 px stay readable in it
    assert (page.mediabox.width < 340) == narrow
