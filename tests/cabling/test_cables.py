"""The cabling folder against the network itself: lists, drawings, labels, pages."""

from __future__ import annotations

import csv
import io
import json
import math
import random
import re
from collections import Counter
from types import SimpleNamespace
from xml.etree import ElementTree

import flyloom as fl
import pytest
from campaign import count
from cli_helpers import document, flyloom
from flyloom.cabling import folder as folder_module
from flyloom.cabling import lists
from flyloom.draw.letters import width_of, wrapped
from hypothesis import given
from hypothesis import strategies as st

SVG = "{http://www.w3.org/2000/svg}"
DEPLOYED = "slim_fly:q=5,p=4"
BUILT = {"endpoints_per_unit": 2}
"""The floor of the cluster that was built: five racks of 10 switches and 40 servers, 30 units."""
ODD = ['<a & "b">', "é-ü", "日本-switch", "x" * 63, "comma, and 'quote'", "U07 P01"]


def odd_names():
    """Six switches in a ring, two of their links doubled, with names and groups of all kinds."""
    links = [[i, 0, (i + 1) % 6, 0, None] for i in range(6)] + [[0, 0, 1, 0, None], [2, 0, 3, 0,
                                                                                   None]]
    text = json.dumps({
        "flyloom": 1, "recipe": {"family": "file", "params": {}},
        "switches": [{"name": name, "group": i // 2} for i, name in enumerate(ODD)],
        "links": links,
        "endpoints": [{"name": f"{name}'s host", "rails": [[i, 0]]} for i, name in enumerate(ODD)],
    })
    return fl.Topology.from_text(text, "odd", None)


def random_network(seed):
    """Switches in random groups with random links, parallel ones among them, and endpoints."""
    rng = random.Random(seed)
    n = rng.randrange(5, 40)
    pairs = [tuple(sorted(rng.sample(range(n), 2))) for _ in range(3 * n)]
    text = json.dumps({
        "flyloom": 1, "recipe": {"family": "file", "params": {}},
        "switches": [{"name": f"s{i}", "group": rng.randrange(4)} for i in range(n)],
        "links": [[a, 0, b, 0, None] for a, b in pairs],
        "endpoints": [{"name": f"e{i}", "rails": [[rng.randrange(n), 0] for _ in range(1 + i % 3)]}
                      for i in range(2 * n)],
    })
    return fl.Topology.from_text(text, "random", None)


NETWORKS = {
    "random 1": lambda: random_network(1),
    "random 2": lambda: random_network(2),
    "random 3": lambda: random_network(3),
    DEPLOYED: lambda: fl.network(DEPLOYED),
    "fat tree": lambda: fl.fat_tree(leaves=7, spines=3, parallel=2, p=5),
    "pods": lambda: fl.fat_tree(levels=3, k=6),
    "dragonfly": lambda: fl.dragonfly(h=2),
    "planes": lambda: fl.network("multi_plane:planes=2,of=slim_fly:q=3,p=2"),
    "torus": lambda: fl.torus(shape=[6, 5, 4], p=2),
    "hub": lambda: fl.network("star:n=200"),
    "complete": lambda: fl.network("complete:n=30,p=1"),
    "odd": odd_names,
    "odd, beside": odd_names,
    "failed": lambda: fl.network(DEPLOYED).with_failures(links=[3], switches=[7]),
    "one": lambda: fl.from_pairs([(0, 1)]),
}


RULES = {
    "random 2": {"rack_units": 6}, "random 3": {"rack_units": 100},
    "odd, beside": {"rack_units": 2}, "complete": {"rack_units": 14, "switch_units": 2},
}


@pytest.fixture(scope="module", params=list(NETWORKS))
def made(request, tmp_path_factory):
    """A network, its folder, and what the verb returned."""
    network = NETWORKS[request.param]()
    folder = tmp_path_factory.mktemp("wire")
    return network, folder, fl.cables(network, folder, rules=RULES.get(request.param))


@pytest.fixture(scope="module")
def deployed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("deployed")
    fl.cables(DEPLOYED, folder, rules=BUILT)
    return folder


def rows(path):
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))


def ends(row):
    return frozenset((row[f"{s}_device"], int(row[f"{s}_port"]), row["cable"][:4] == "term"
                      and s == "a") for s in "ab")


def cables_of(network):
    """Both ends of every cable as (device, port, is endpoint), from the network alone."""
    names, table = network.switch_names, network.link_table
    keys = ("a_switch", "a_port", "b_switch", "b_port")
    links = zip(*(table[key].tolist() for key in keys), strict=True)
    found = [frozenset({(names[a], p, False), (names[b], q, False)}) for a, p, b, q in links]
    rails = json.loads(network.to_text("json"))["endpoints"]
    for endpoint in rails:
        for rail, plug in enumerate(endpoint["rails"]):
            switch, port = plug[0], plug[1]
            found.append(frozenset({(endpoint["name"], rail + 1, True),
                                    (names[switch], port, False)}))
    return found


def drawn(path):
    """The tool tips of lines and boxes in a drawing, which is XML."""
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    marks = [node for tag in ("path", "rect") for node in root.iter(f"{SVG}{tag}")]
    return [title.text for node in marks for title in node.iter(f"{SVG}title")]


def flat(text):
    return " ".join(text.split())


def test_every_cable_once_in_every_place(made):
    network, folder, found = made
    listed = rows(folder / "cables.csv")
    assert Counter(map(ends, listed)) == Counter(cables_of(network))
    assert found.cables == len(listed)

    steps = [row for path in sorted((folder / "steps").glob("*.csv")) for row in rows(path)]
    assert all(row.pop("done") == "[ ]" for row in steps)
    assert steps == sorted(listed, key=lambda row: int(row["step"]))
    for path in (folder / "steps").glob("*.csv"):
        assert {row["step"] for row in rows(path)} == {path.name[5]}

    tips = [tip for part in ("racks", "pairs") for path in sorted((folder / part).glob("*.svg"))
            for tip in drawn(path)]
    wanted = Counter(frozenset({row["a_label"], row["b_label"]}) for row in listed)
    assert len(tips) == len(listed)
    both = {f"{x} - {y}": frozenset({x, y}) for row in listed
            for x, y in [(row["a_label"], row["b_label"]), (row["b_label"], row["a_label"])]}
    assert Counter(both[tip] for tip in tips) == wanted

    labels = rows(folder / "labels.csv")
    expected = Counter()
    for row in listed:
        for own, far in ("ab", "ba"):
            expected[row[f"{own}_label"], row[f"{far}_label"], row[f"{own}_device"],
                     row[f"{own}_port"]] += 1
    keys = ("label", "far_label", "device", "port")
    assert Counter(tuple(row[key] for key in keys) for row in labels) == expected
    own = [row["label"] for row in labels]
    assert len(set(own)) == len(own)  # a label names one port


def test_labels_are_seats(made):
    """Labels, and which drawing has which cable, follow from the seats of the plan."""
    network, folder, _ = made
    plan = json.loads((folder / "plan.json").read_text())
    names = {False: network.switch_names, True: network.endpoint_names}
    seats = {False: plan["switches"], True: plan["endpoints"]}
    label = {}
    for is_endpoint, devices in names.items():
        for name, seat in zip(devices, seats[is_endpoint], strict=True):
            if seat:
                unit = name if seat["unit"] is None else f"U{seat['unit']:02}"
                label[name, is_endpoint] = (plan["racks"][seat["rack"]]["name"], unit)
    where = {}
    for row in rows(folder / "cables.csv"):
        racks = []
        for side in "ab":
            is_endpoint = side == "a" and row["cable"].startswith("terminal")
            rack, unit = label[row[f"{side}_device"], is_endpoint]
            assert row[f"{side}_label"] == f"{rack}-{unit}-P{int(row[f'{side}_port']):02}"
            racks.append(rack)
        inside = f"racks/{racks[0]}.svg"
        place = inside if racks[0] == racks[1] else f"pairs/{'-'.join(sorted(racks))}.svg"
        where.setdefault(place, []).append({row["a_label"], row["b_label"]})
    made_files = {f"{p.parent.name}/{p.name}" for p in folder.glob("*/*.svg")}
    racks = {f"racks/{rack['name']}.svg" for rack in plan["racks"]}
    assert made_files == racks | set(where)
    for place, cables in where.items():
        tips = drawn(folder / place)
        assert len(tips) == len(cables)
        for pair in cables:
            x, y = pair
            assert f"{x} - {y}" in tips or f"{y} - {x}" in tips


def test_pairs_join_the_ports_they_name(made):
    """In a drawing of two racks each line begins and ends beside the labels of its cable."""
    _, folder, _ = made
    for path in (folder / "pairs").glob("*.svg"):
        root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
        text = [(node.text, float(node.get("x")), float(node.get("y")))
                for node in root.iter(f"{SVG}text")]
        for node in root.iter(f"{SVG}path"):
            first, last = node.find(f"{SVG}title").text.split(" - R", 1)
            points = [tuple(map(float, p.split())) for p in node.get("d")[1:].split("L")]
            for label, (x, y) in ((first, points[0]), (f"R{last}", points[-1])):
                near = [t for t, tx, ty in text if abs(tx - x) < 12 and abs(ty - y) < 14]
                whole = flat(label).replace(" ", "")
                assert any(t and whole.startswith(t.replace(" ", "")) for t in near), (label, near)


def test_a_server_of_several_units_says_all_of_them(tmp_path):
    rules = {"server_units": 2, "endpoints_per_server": 4}
    fl.cables("ring:n=3,p=4", tmp_path / "wire", rules=rules)
    plan = json.loads((tmp_path / "wire/plan.json").read_text())
    lowest = {seat["unit"] for seat in plan["endpoints"]}
    said = set()
    for path in (tmp_path / "wire/racks").glob("*.svg"):
        root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
        said |= {node.text for node in root.iter(f"{SVG}text")}
    assert lowest and {f"U{unit:02} to U{unit + 1:02}" for unit in lowest} <= said


def test_boxes_say_where_cables_go(made):
    """Every box of a rack: the port's number, then the rack, the unit and port, or the endpoint."""
    _, folder, _ = made
    goes = {}
    for row in rows(folder / "cables.csv"):
        for own, far in ("ab", "ba"):
            rack = row[f"{own}_rack"]
            to = row[f"{far}_rack"]
            if to == rack:
                unit = row[f"{far}_unit"]
                to = f"U{int(unit):02}-P{int(row[f'{far}_port']):02}" if unit else (
                    row[f"{far}_device"])
            goes[rack, row[f"{own}_unit"], int(row[f"{own}_port"])] = flat(to)
    plan = json.loads((folder / "plan.json").read_text())
    seats = {(plan["racks"][s["rack"]]["name"], str(s["unit"])) for s in plan["switches"]}
    boxes = {}
    for path in (folder / "racks").glob("*.svg"):
        root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
        unit, port, last = None, None, None
        for node in root.iter(f"{SVG}text"):
            header = re.fullmatch(r"U(\d+)( to U\d+)?", node.text or "")
            x, y = node.get("x"), float(node.get("y"))
            if header and node.get("font-weight") and node.get("text-anchor") is None:
                unit = str(int(header[1]))
            elif last and last[1] == x and 0 < y - last[2] < 7.5:
                boxes[last[0]] += node.text  # goes on below
                last = (last[0], x, y)
            elif node.get("text-anchor") == "middle" and port is None:
                port = int(node.text)
            elif node.get("text-anchor") == "middle" and not node.text.isdecimal():
                last = ((path.stem, unit, port), x, y)
                boxes[last[0]], port = node.text, None
            elif node.get("text-anchor") == "middle":
                port = int(node.text)  # the one before was free
            else:
                port = None
    wanted = {key: to for key, to in goes.items() if key[:2] in seats}
    assert set(boxes) == set(wanted)
    for key, text in boxes.items():
        assert wanted[key].replace(" ", "") == text.replace(" ", "")


def test_letters_are_as_wide_as_their_font_says():
    metrics = pytest.importorskip("pypdf._codecs.core_font_metrics").CORE_FONT_METRICS
    for name, bold in (("Helvetica", False), ("Helvetica-Bold", True)):
        widths = metrics[name].character_widths
        for letter in map(chr, range(32, 127)):
            assert width_of(letter, 1000, bold) == pytest.approx(widths[letter])


@given(st.text(max_size=80), st.floats(1, 400))
def test_wrapping_loses_nothing(words, room):
    lines = wrapped(words, room, 6.0)
    assert "".join(lines).replace(" ", "") == words.replace(" ", "")
    assert all(width_of(line, 6.0) <= room or len(line) == 1 for line in lines)


def test_pages(made):
    pypdf = pytest.importorskip("pypdf")
    _, folder, found = made
    reader = pypdf.PdfReader(folder / "cabling.pdf")
    assert len(reader.pages) == found.pages
    assert {tuple(page.mediabox[2:]) for page in reader.pages} == {(595.28, 841.89)}
    text = [page.extract_text() for page in reader.pages]
    for i, words in enumerate(text):
        assert f"Page {i + 1} of {found.pages}" in words
    everything = re.sub(r"\s", "", "".join(text))
    stuck = pypdf.PdfReader(folder / "labels.pdf")
    assert len(stuck.pages) == found.label_sheets == math.ceil(2 * found.cables / 24)
    on_labels = re.sub(r"\s", "", "".join(page.extract_text() for page in stuck.pages))
    for row in rows(folder / "labels.csv"):
        bare, far = (re.sub(r"\s", "", row[key]) for key in ("label", "far_label"))
        assert bare in everything and f"{bare}to{far}" in on_labels
    for pdf in (reader, stuck):
        for page in pdf.pages:
            content = page.get_contents().get_data().decode("latin-1")
            assert min(map(float, re.findall(r"/F\d ([\d.]+) Tf", content)), default=6) >= 6
            places = re.findall(r"([-\d.]+) ([-\d.]+) Td", content)
            assert all(0 < float(x) < 595.3 and 0 < float(y) < 842 for x, y in places)
    titles = [entry.title for entry in reader.outline]
    racks = [p.stem for p in sorted((folder / "racks").glob("*.svg"))]
    pairs = [p.stem.replace("-", " - ") for p in sorted((folder / "pairs").glob("*.svg"))]
    assert titles[:2] == ["Contents", "Floor plan"]
    assert titles[2:2 + len(racks) + len(pairs)] == [f"Rack {r}" for r in racks] + [
        f"Racks {p}" for p in pairs]


def test_the_deployed_machine(deployed):
    """The numbers of the cluster that was built: 5 racks, 50 + 25 + 100 cables, 10 a pair."""
    names = ["step-0-endpoints", "step-1-inside-groups", "step-2-inside-racks",
             "step-3-between-racks"]
    assert [len(rows(deployed / "steps" / f"{name}.csv")) for name in names] == [200, 50, 25, 100]
    racks = [f"R{i:02}" for i in range(5)]
    assert sorted(p.stem for p in (deployed / "racks").iterdir()) == racks
    pairs = [f"{a}-{b}" for a in racks for b in racks if a < b]
    assert sorted(p.stem for p in (deployed / "pairs").iterdir()) == pairs
    assert all(len(drawn(deployed / "pairs" / f"{pair}.svg")) == 10 for pair in pairs)
    for rack in racks:
        assert len(drawn(deployed / "racks" / f"{rack}.svg")) == 10 + 5 + 40
    plan = json.loads((deployed / "plan.json").read_text())
    assert plan["counts"]["by_step"] == [200, 50, 25, 100]
    again = fl.network(deployed / "network.json")
    assert again.to_text("json") == fl.network(DEPLOYED).to_text("json")
    readme = (deployed / "README.txt").read_text()
    assert re.search(r"R00 to R04, each +40 +10 +5 +40\n", readme)
    assert "175" not in readme.split("Files")[1]


def test_a_port_column_leads_to_one_rack(deployed):
    for rack in range(5):
        root = ElementTree.fromstring((deployed / "racks" / f"R{rack:02}.svg").read_text())
        columns = {}
        for node in root.iter(f"{SVG}text"):
            if re.fullmatch(r"R\d\d", node.text or ""):
                columns.setdefault(node.get("x"), []).append(node.text)
        others = [f"R{other:02}" for other in range(5) if other != rack]
        assert sorted(columns.values()) == [[other] * 10 for other in others]


def shape(path):
    """The drawing without its words."""
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    return [(node.tag, sorted(node.attrib.items())) for node in root.iter()]


@pytest.mark.parametrize(("net", "racks"), [
    ("fat_tree:leaves=12,spines=6,parallel=3,p=18", 6), ("dragonfly:h=2", 9),
])
def test_racks_alike_look_alike(net, racks, tmp_path):
    fl.cables(net, tmp_path)
    shapes = [shape(tmp_path / "racks" / f"R{i:02}.svg") for i in range(racks)]
    assert all(one == shapes[0] for one in shapes[1:])
    assert len(shapes[0]) > 100


def test_columns_of_the_deployed_machine_look_alike(deployed):
    """Step 1 has the same two rings of 5 in every rack: steps of 1 below, steps of 2 above."""
    lines = []
    for rack in range(5):
        root = ElementTree.fromstring((deployed / "racks" / f"R{rack:02}.svg").read_text())
        solid = [node for node in root.iter(f"{SVG}path") if not node.get("stroke-dasharray")]
        lines.append([node.get("d") for node in solid])
        steps = Counter()
        for node in solid:
            a, b = map(int, re.findall(r"-U(\d+)-", node.find(f"{SVG}title").text))
            assert (a - 1) // 5 == (b - 1) // 5
            steps[(a - 1) // 5, min((a - b) % 5, (b - a) % 5)] += 1
        assert steps == {(0, 1): 5, (1, 2): 5}
    assert all(one == lines[0] for one in lines[1:])


def test_same_bytes_twice_and_nothing_left_over(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    fl.cables("slim_fly:q=7,p=2", second)
    (second / "racks" / "mine.svg").write_text("kept")
    (second / "notes.txt").write_text("kept")
    assert (second / "racks" / "R06.svg").exists()
    fl.cables(DEPLOYED, first, rules=BUILT, paper="a3")
    fl.cables(DEPLOYED, second, rules=BUILT, paper="a3")
    one, two = ({str(p.relative_to(f)): p.read_bytes() for p in f.rglob("*") if p.is_file()}
                for f in (first, second))
    assert two.pop("racks/mine.svg") == two.pop("notes.txt") == b"kept"
    assert one == two
    assert sorted(one) == json.loads(one["plan.json"])["files"]


def test_a_foreign_list_of_files_removes_nothing_else(tmp_path):
    outside = tmp_path / "outside.svg"
    outside.write_text("kept")
    folder = tmp_path / "wire"
    folder.mkdir()
    (folder / "plan.json").write_text(json.dumps(
        {"files": ["racks/../../outside.svg", "../outside.svg", str(outside), 3]}))
    fl.cables("slim_fly:q=3", folder)
    assert outside.read_text() == "kept"


def test_large_paper(tmp_path):
    pypdf = pytest.importorskip("pypdf")
    fl.cables(DEPLOYED, tmp_path, rules=BUILT, paper="a3")
    sizes = [tuple(page.mediabox[2:]) for page in pypdf.PdfReader(tmp_path / "cabling.pdf").pages]
    upright, across = (841.89, 1190.55), (1190.55, 841.89)
    assert sizes[:7] == [upright] * 7 and set(sizes) == {upright, across}
    # 10 pairs, three of 255 points or so on a page of 842
    assert sizes.count(across) == 4
    label = pypdf.PdfReader(tmp_path / "labels.pdf").pages[0]
    assert tuple(label.mediabox[2:]) == (595.28, 841.89)


def test_order(tmp_path):
    """Needed cables by kind and length from the list; spares rounded up by hand."""
    found = fl.cables(DEPLOYED, tmp_path, rules=BUILT, spare=0.05, catalog="fdr10-2014")
    listed, ordered = rows(tmp_path / "cables.csv"), rows(tmp_path / "order.csv")
    assert sum(int(row["needed"]) for row in ordered) == 375
    # between racks 3 and 4 m in a row, 4.4, 5.4 and 6.4 m across the aisle: stock of 3, 5 and 10 m
    assert [row["stock_m"] for row in ordered if row["kind"] == "optical"] == ["3.0", "5.0", "10.0"]
    for row in ordered:
        needed, spares, buy = (int(row[key]) for key in ("needed", "spares", "buy"))
        assert spares == -(-5 * needed // 100) and buy == needed + spares
        assert float(row["metres"]) == buy * float(row["stock_m"])
    cost = sum(float(row["cost_usd"]) / int(row["buy"]) * int(row["needed"]) for row in ordered)
    assert cost == pytest.approx(sum(float(row["cost_usd"]) for row in listed), rel=1e-3)
    assert found.buy == sum(int(row["buy"]) for row in ordered)
    nothing = fl.cables(DEPLOYED, tmp_path, spare=0)
    assert nothing.buy == 375


def test_a_whole_number_of_spares_is_not_rounded_up():
    """7 % of 100 are 7, though 100 * 0.07 is a little more in binary."""
    cable = SimpleNamespace(kind="electric", stock_m=2.0, rate_gbps=56.25, cost_usd=1.5)
    (row,) = lists.order([cable] * 100, 0.07)
    assert 100 * 0.07 > 7 and (row["spares"], row["buy"]) == (7, 107)
    (row,) = lists.order([cable] * 101, 0.07)
    assert (row["spares"], row["buy"]) == (8, 109)


def test_too_many_pairs_are_listed(tmp_path, monkeypatch):
    monkeypatch.setattr(folder_module, "PAIRS_DRAWN", 9)
    found = fl.cables(DEPLOYED, tmp_path, rules=BUILT)
    assert (found.pairs_drawn, found.rack_pairs) == (0, 10)
    assert not (tmp_path / "pairs").exists() and len(list((tmp_path / "racks").iterdir())) == 5
    assert "10 pairs are too many to draw" in (tmp_path / "README.txt").read_text()
    assert len(rows(tmp_path / "steps" / "step-3-between-racks.csv")) == 100


def test_label_grid(tmp_path):
    pypdf = pytest.importorskip("pypdf")
    found = fl.cables(DEPLOYED, tmp_path, labels=(5, 13))
    assert found.label_sheets == math.ceil(750 / 65)
    page = pypdf.PdfReader(tmp_path / "labels.pdf").pages[0]
    content = page.get_contents().get_data().decode("latin-1")
    places = [(float(x), 841.89 - float(y), size)
              for x, y, size in re.findall(r"([\d.]+) ([\d.]+) Td /F1 (\d+)", content)]
    assert len(places) == 65
    cells = {(int(x // (595.28 / 5)), int(y // (841.89 / 13))) for x, y, _ in places}
    assert cells == {(i, j) for i in range(5) for j in range(13)}


BAD = [
    (["--paper", "letter"], "paper: 'letter' is not known; a4, a3"),
    (["--labels", "3"], "labels: '3' is not COLUMNSxROWS"),
    (["--labels", "0x8"], "labels: 0 is out of range"),
    (["--labels", "999x1"], "labels: 999 is out of range"),
    (["--labels", "40x60"], "labels: 40x60: no room for"),
    (["--spare", "-0.1"], "spare: -0.1"),
    (["--spare", "nan"], "spare: nan"),
    (["--rules", "absent.toml"], "absent.toml: cannot be read"),
    (["--rules", "bad.toml"], "bad.toml"),
    (["--catalog", "nonsense"], "nonsense"),
    (["--rules", "nonsense.toml"], "nonsense"),
]


@pytest.mark.parametrize(("words", "message"), BAD, ids=lambda v: " ".join(v)[:24])
def test_refused(words, message, tmp_path):
    (tmp_path / "bad.toml").write_text("pitch_m = = 2")
    (tmp_path / "nonsense.toml").write_text("nonsense = 2")
    done = flyloom("cables", "slim_fly:q=3", "-o", "wire", *words, cwd=tmp_path)
    assert done.returncode == 2 and message in done.stderr
    assert len(done.stderr.splitlines()) == 1 and done.stdout == ""
    assert not (tmp_path / "wire").exists()


def test_a_folder_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("kept")
    for place in ("file", "file/below", "/proc/nowhere"):
        done = flyloom("cables", "slim_fly:q=3", "-o", place, cwd=tmp_path)
        assert done.returncode == 2 and f"{place}: cannot be written" in done.stderr
        assert len(done.stderr.splitlines()) == 1
    assert (tmp_path / "file").read_text() == "kept"
    (tmp_path / "wire").mkdir()
    (tmp_path / "wire" / "racks").write_text("a file where a folder goes")
    done = flyloom("cables", "slim_fly:q=3", "-o", "wire", cwd=tmp_path)
    assert done.returncode == 2 and "wire: cannot be written" in done.stderr


def test_command(tmp_path):
    rules = tmp_path / "rules.toml"
    rules.write_text("endpoints_per_unit = 2\n")
    found = document("cables", DEPLOYED, "-o", tmp_path / "wire", "--rules", rules)
    assert (found["racks"], found["rack_pairs"], found["cables"]) == (5, 10, 375)
    rules.write_text("endpoints_per_unit = 2\npitch_m = 3.0\n")
    wide = document("cables", DEPLOYED, "-o", tmp_path / "wide", "--rules", rules)
    metres = sum(row["metres"] for row in wide["order"])
    assert metres > sum(row["metres"] for row in found["order"])
    said = flyloom("cables", DEPLOYED, "-o", tmp_path / "wire")
    assert said.returncode == 0 and said.stdout.endswith(f"written to {tmp_path / 'wire'}/\n")


@pytest.mark.slow
@pytest.mark.campaign
def test_a_machine_whose_pairs_are_too_many_to_draw(tmp_path):
    """A rack holds as many switches with their servers as fit, of one column of 2 q switches."""
    q, p = count(13, 19), count(13, 15)
    built = fl.cables(f"slim_fly:q={q},p={p}", tmp_path)
    fit = 42 // (p + 1)
    assert (built.racks, built.cables) == (q * -(-2 * q // fit), cables_of_slim_fly(q, p))
    assert built.rack_pairs > built.pairs_drawn == 0
    assert len(list((tmp_path / "racks").iterdir())) == built.racks


@pytest.mark.campaign
def test_the_floor_of_the_studies(tmp_path):
    """q racks, 2 q cables a pair; a subgraph of a rack is a Cayley graph of degree (q + 1) / 2."""
    q, p = count(11, 19), count(8, 15)
    found = fl.cables(f"slim_fly:q={q},p={p}", tmp_path, rules={"endpoints": "beside"})
    pairs = q * (q - 1) // 2
    assert (found.racks, found.rack_pairs, found.cables) == (q, pairs, cables_of_slim_fly(q, p))
    drawings = list((tmp_path / "pairs").iterdir())
    assert len(drawings) == pairs and all(len(drawn(path)) == 2 * q for path in drawings)
    inside = q * (q + 1) // 2 + q + 2 * q * p
    assert all(len(drawn(path)) == inside for path in (tmp_path / "racks").iterdir())


def cables_of_slim_fly(q, p):
    """The cables of 2 q^2 switches of network radix (3 q - 1) / 2, or (3 q + 1) / 2 if q is 4 n -
    1."""
    degree = (3 * q + (1 if q % 4 == 3 else -1)) // 2
    return q * q * degree + 2 * q * q * p


def test_equal_racks_are_said_once(tmp_path):
    """81 racks, each a switch with 16 links to other racks and 21 endpoints, a page each."""
    fl.cables("hyperx:shape=9x9,p=21", tmp_path / "w")
    readme = (tmp_path / "w" / "README.txt").read_text()
    assert re.search(r"\n  R00 to R80, each +21 +0 +0 +16\n", readme)
    assert len(re.findall(r"^  R\d\d ", readme, re.MULTILINE)) == 1
    from flyloom.cabling.folder import runs_alike

    assert runs_alike([("a", (1,)), ("b", (1,)), ("c", (2,)), ("d", (1,))]) == [
        ("a to b, each", (1,)), ("c", (2,)), ("d", (1,))]
