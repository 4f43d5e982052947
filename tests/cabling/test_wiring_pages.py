"""Contents, floor plan, codes and cut marks of the wiring folder, read back from the PDFs."""

import csv
import io
import json
import re
from collections import Counter
from xml.etree import ElementTree

import flyloom as fl
import pytest
from cli_helpers import flyloom
from flyloom.cabling.floorplan import floor_sheets
from flyloom.cabling.model import CablingPlan
from flyloom.draw.sheet import SIZES_PT

pypdf = pytest.importorskip("pypdf")

NETS = {
    "slim fly": lambda: fl.network("slim_fly:q=5,p=4"),
    "dragonfly": lambda: fl.dragonfly(h=2),
    "fat tree": lambda: fl.fat_tree(levels=3, k=6),
    "names": lambda: named("a-switch-of-the-third-row-in-hall-7", "日本-é"),
    "one": lambda: fl.from_pairs([(0, 1)]),
}


def named(stem, end):
    """A ring of four switches with long names, an endpoint each."""
    return fl.Topology.from_text(json.dumps({
        "flyloom": 1, "recipe": {"family": "file", "params": {}},
        "switches": [{"name": f"{stem}-{i}", "group": i // 2} for i in range(4)],
        "links": [[i, 0, (i + 1) % 4, 0, None] for i in range(4)],
        "endpoints": [{"name": f"{stem}-{end}-{i}", "rails": [[i, 0]]} for i in range(4)],
    }), "named", None)


@pytest.fixture(scope="module", params=list(NETS))
def made(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    return folder, fl.cables(NETS[request.param](), folder)


def rows(path):
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))


def streams(path):
    return [page.get_contents().get_data().decode("latin-1")
            for page in pypdf.PdfReader(path).pages]


CODE = re.compile(r"q 0 0 0 rg ([\d.]+) 0 0 [\d.]+ ([\d.]+) ([\d.]+) cm BI /W (\d+) /H \d+ /BPC 1 "
                  r"/IM true /D \[1 0\] /F /AHx ID ([0-9a-f]+)> EI Q")


def codes(content):
    """Side, place and rows of modules of every code on a page."""
    for side, x, y, n, data in CODE.findall(content):
        n = int(n)
        digits = -(-n // 8) * 2
        dark = [f"{int(data[i:i + digits], 16):0{4 * digits}b}"[:n]
                for i in range(0, len(data), digits)]
        assert len(dark) == n
        yield float(side), float(x), float(y), dark


def test_every_label_has_the_code_of_its_cable(made):
    """A decoder that shares no code with the encoder reads the code."""
    zxingcpp = pytest.importorskip("zxingcpp")
    numpy = pytest.importorskip("numpy")
    folder, found = made
    said = Counter()
    for content in streams(folder / "labels.pdf"):
        for side, x, y, dark in codes(content):
            module = side / len(dark)
            assert module >= 0.7  # 0.25 mm
            assert x >= 11 and x + side <= 595.276 - 10.9 and 11 <= y + side <= 841.89 - 10.9
            image = numpy.array([[255 * (m == "0") for m in row] for row in dark], numpy.uint8)
            image = numpy.kron(numpy.pad(image, 4, constant_values=255),
                               numpy.ones((3, 3), numpy.uint8))
            (read,) = zxingcpp.read_barcodes(image)
            said[read.text] += 1
    listed = rows(folder / "cables.csv")
    expect = Counter(f"{row['cable']}\n{row['a_label']}\n{row['b_label']}" for row in listed)
    assert said == Counter({words: 2 * n for words, n in expect.items()})
    assert found.labels_with_code == 2 * len(listed)


def test_codes_stand_beside_the_words_of_their_label(made):
    folder, _ = made
    wide, high = 595.276 / 3, 841.89 / 8
    for content in streams(folder / "labels.pdf"):
        boxes = [(x, y, side, 4 * side / len(dark)) for side, x, y, dark in codes(content)]
        words = re.findall(r"BT [\d. ]+ rg ([\d.]+) ([\d.]+) Td (.*?) ?ET", content)
        assert boxes and len({(int(x // wide), int(y // high)) for x, y, *_ in boxes}) == len(boxes)
        for x, y, _ in words:
            place = (int(float(x) // wide), int(float(y) // high))
            mine = [b for b in boxes if (int(b[0] // wide), int(b[1] // high)) == place]
            assert len(mine) == 1 and float(x) < mine[0][0] - mine[0][3]


def test_cut_marks_cross_at_the_corners_of_labels(made):
    folder, _ = made
    for content in streams(folder / "labels.pdf"):
        lines = re.findall(r"0 d ([\d.]+) ([\d.]+) m ([\d.]+) ([\d.]+) l S", content)
        lines = [tuple(map(float, line)) for line in lines]
        across = {(round((a + c) / 2), round(b)) for a, b, c, d in lines if b == d}
        inner = {(round(595.276 / 3 * i), round(841.89 / 8 * j))
                 for i in (1, 2) for j in range(1, 8)}
        assert inner <= across
        upright = {(round(a), round((b + d) / 2)) for a, b, c, d in lines if a == c}
        assert inner <= upright and len(lines) == 7 * 4 + 2 * 9


def test_labels_without_room_have_no_code_and_it_is_said(tmp_path):
    done = flyloom("cables", "slim_fly:q=3", "-o", "wire", "--labels", "12x5", cwd=tmp_path)
    cables = len(rows(tmp_path / "wire" / "cables.csv"))
    assert done.returncode == 0
    assert f"{2 * cables} labels have no room for a code" in done.stdout
    assert not CODE.search("".join(streams(tmp_path / "wire" / "labels.pdf")))
    done = flyloom("cables", "slim_fly:q=3", "-o", "wire", cwd=tmp_path)
    assert "no room for a code" not in done.stdout


def pages_of(contents):
    """Parts of the contents, from what is drawn: for each the words and the page of every line."""
    parts, words = {}, []
    for content in contents:
        for bold, text in re.findall(r"Td /F(\d) 7 Tf \((.*?)\) Tj ET", content):
            if bold == "1":
                part = parts.setdefault(text, {})
            elif words and re.fullmatch(r"[\d,]+( - [\d,]+)?", text):
                part[" ".join(words)] = text.replace(",", "")
                words = []
            elif parts:
                words.append(text)
    return parts


def test_contents_name_the_page_of_everything(made):
    folder, _ = made
    text = [page.extract_text() for page in pypdf.PdfReader(folder / "cabling.pdf").pages]
    count = next(i for i, words in enumerate(text) if words.startswith("Floor plan"))
    assert all(words.startswith("Contents") for words in text[:count])
    parts = pages_of(streams(folder / "cabling.pdf")[:count])
    del parts["Sheets of labels.pdf"]
    reported = {name: int(page) for part in parts.values() for name, page in part.items()}
    plan = json.loads((folder / "plan.json").read_text())
    names = [f"Rack {rack['name']}" for rack in plan["racks"]]
    pairs = [f"Racks {p.stem.replace('-', ' - ')}" for p in (folder / "pairs").glob("*.svg")]
    for name in ("Floor plan", *names, *pairs, "To order"):
        assert name in text[reported[name] - 1], name
        before = [i for i in range(count, reported[name] - 1) if re.search(rf"{name}\b", text[i])]
        # a rack is named on floor and pair pages too, but its own drawing has it as the title
        assert not any(text[i].startswith(name + "\n") for i in before)
    for step in {row["step"] for row in rows(folder / "cables.csv")}:
        name = next(n for n in reported if n.startswith(f"Step {step}: "))
        assert text[reported[name] - 1].startswith(name)
    outline = [(e.title, pypdf.PdfReader(folder / "cabling.pdf").get_destination_page_number(e))
               for e in pypdf.PdfReader(folder / "cabling.pdf").outline]
    assert {t: n + 1 for t, n in outline if t != "Contents"} == reported


def test_contents_name_the_sheets_of_labels(tmp_path):
    fl.cables("slim_fly:q=5,p=4", tmp_path, rules={"endpoints_per_unit": 2})  # five racks
    # 24 labels a sheet: 400, 100, 50 and 200 of them after each other
    assert pages_of(streams(tmp_path / "cabling.pdf")[:1])["Sheets of labels.pdf"] == {
        "Step 0: endpoints": "1 - 17", "Step 1: inside groups": "17 - 21",
        "Step 2: inside racks": "21 - 23", "Step 3: between racks": "23 - 32",
    }


def test_the_floor_plan_has_every_rack_in_its_row_with_its_cables(made):
    folder, _ = made
    plan = json.loads((folder / "plan.json").read_text())
    inside, leaving = Counter(), Counter()
    for row in rows(folder / "cables.csv"):
        if row["a_rack"] == row["b_rack"]:
            inside[row["a_rack"]] += 1
        else:
            leaving.update([row["a_rack"], row["b_rack"]])
    svg = "{http://www.w3.org/2000/svg}"
    root = ElementTree.fromstring((folder / "floor.svg").read_text(encoding="utf-8"))
    at = {}
    for box in root.iter(f"{svg}rect"):
        name, words = box.find(f"{svg}title").text.split(": ")
        numbers = [int(n.replace(",", "")) for n in re.findall(r"[\d,]*\d", words)]
        assert numbers == [inside[name], leaving[name]]
        at[name] = float(box.get("x")), float(box.get("y"))
    assert set(at) == {rack["name"] for rack in plan["racks"]}
    for a in plan["racks"]:
        for b in plan["racks"]:
            (x, y), (u, v) = at[a["name"]], at[b["name"]]
            assert (a["row"] < b["row"]) == (y < v) and (a["column"] < b["column"]) == (x < u)
    rows_drawn = len({rack["row"] for rack in plan["racks"]})
    aisles = [t for t in root.iter(f"{svg}text") if t.text == "aisle"]
    assert len(aisles) == rows_drawn - 1


def test_a_large_floor_goes_on_on_more_pages(tmp_path):
    fl.cables("ring:n=700,p=0", tmp_path, rules={"rack_units": 1, "racks_per_row": 700})
    text = [page.extract_text() for page in pypdf.PdfReader(tmp_path / "cabling.pdf").pages]
    floor = [words for words in text if words.startswith("Floor plan")]
    parts = [re.match(r"Floor plan \((\d+) of (\d+)\)", words).groups() for words in floor]
    assert len(floor) > 1 and parts == [(str(i + 1), str(len(floor))) for i in range(len(floor))]
    named_racks = [name for words in floor for name in re.findall(r"^R\d+$", words, re.MULTILINE)]
    assert sorted(named_racks) == sorted(
        rack["name"] for rack in json.loads((tmp_path / "plan.json").read_text())["racks"])


def drawn_words(path):
    """Everything that a drawing says, without blanks; its smallest letters."""
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    texts = list(root.iter("{http://www.w3.org/2000/svg}text"))
    sizes = [float(node.get("font-size")) for node in texts]
    return "".join(re.sub(r"\s", "", node.text or "") for node in texts), min(sizes, default=6)


def test_names_are_whole_in_drawings_and_lists(made):
    folder, _ = made
    plan = json.loads((folder / "plan.json").read_text())
    network = fl.network(folder / "network.json")
    listed = rows(folder / "cables.csv")
    for rack in plan["racks"]:
        words, size = drawn_words(folder / "racks" / f"{rack['name']}.svg")
        assert "\u2026" not in words and size >= 6
        for name, seat in zip(network.switch_names, plan["switches"], strict=True):
            if plan["racks"][seat["rack"]]["name"] == rack["name"]:
                assert re.sub(r"\s", "", name) in words
        for row in listed:  # endpoints of the rack's switches by name or by where they are
            if row["b_rack"] == rack["name"] == row["a_rack"] and not row["a_unit"]:
                assert row["a_device"] in words
    for path in (folder / "pairs").glob("*.svg"):
        words, size = drawn_words(path)
        assert "\u2026" not in words and size >= 6
        for row in listed:
            if {row["a_rack"], row["b_rack"]} == set(path.stem.split("-")) and row["step"] != "0":
                assert row["a_label"] in words and row["b_label"] in words
    pages = [p for p in streams(folder / "cabling.pdf") if "(Step " in p]
    text = "".join(re.findall(r"\((.*?)\) Tj", "".join(pages))).replace(" ", "")
    for row in listed:
        for side in "ab":
            if row[f"{side}_device"].isascii() and row["step"] != "0":
                assert row[f"{side}_device"] in text


def test_names_are_whole_in_the_drawing_of_states(tmp_path):
    plan = named("a-switch-of-the-third-row-in-hall-7-of-the-new-building", "x")
    (tmp_path / "plan.json").write_text(plan.to_text("json"))
    (tmp_path / "found.txt").write_text(plan.with_failures(links=[0]).to_text("netlist"))
    done = flyloom("verify-cables", "plan.json", "found.txt", "-o", "s.svg", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    words, size = drawn_words(tmp_path / "s.svg")
    assert "\u2026" not in words and size >= 8  # pixels: 6 points
    assert all(name in words for name in plan.switch_names)


def test_a_floor_of_361_racks_is_one_page():
    """19 rows of 19 racks, as q = 19 has them with its servers in racks."""
    plan = fl.network("ring:n=361,p=0").plan({"rack_units": 1, "racks_per_row": 19})
    network = fl.network("ring:n=361,p=0")
    cabling = CablingPlan(network.recipe, plan, network.switch_names, network.groups.tolist())
    (sheet,) = floor_sheets(cabling, SIZES_PT["a4"])
    assert {(r["row"], r["column"]) for r in plan["racks"]} == {
        (i, j) for i in range(19) for j in range(19)}
    for kind, x, y, *more in sheet.marks:
        if kind == "box":
            assert x >= 36 and x + more[0] <= 595.3 - 36 and y + more[1] <= 841.9 - 36
        elif kind == "text":
            assert more[1] >= 6


def test_equal_racks_are_one_line_of_the_contents(tmp_path):
    """81 racks, a page each; the five of the deployed Slim Fly have a line each."""
    fl.cables("hyperx:shape=9x9,p=21", tmp_path / "w")
    pages = streams(tmp_path / "w" / "cabling.pdf")
    first, last = (next(i for i, page in enumerate(pages, 1) if f"(Rack {name}) Tj" in page)
                   for name in ("R00", "R80"))
    assert last - first == 80
    (words, where), = pages_of(pages[:1])["Racks"].items()
    assert words.startswith("Racks R00 to R80, equal") and where == f"{first} - {last}"
    fl.cables("slim_fly:q=5,p=4", tmp_path / "five", rules={"endpoints_per_unit": 2})
    assert len(pages_of(streams(tmp_path / "five" / "cabling.pdf")[:1])["Racks"]) == 5
