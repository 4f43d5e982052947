"""verify-cables while people wire, on other ports, from packed files; its findings as short lines.

What is expected is counted from the plan's own cable list and from the cables that were harmed.
"""

import csv
import gzip
import io
import json
import random
import xml.etree.ElementTree as ET
from collections import Counter

import flyloom as fl
import pytest
from cli_helpers import flyloom

PLAN = "slim_fly:q=5,p=4"
COUNTS = ("correct", "degraded", "misplaced", "lost", "unlaid")


def command(*words, cwd, code=0):
    done = flyloom(*words, cwd=cwd)
    assert done.returncode == code, done.stderr + done.stdout
    return done


@pytest.fixture(scope="module")
def plan():
    return fl.network(PLAN)


@pytest.fixture(scope="module")
def steps(plan):
    """The step of every cable, from the list that people wire from."""
    rows = csv.DictReader(io.StringIO(plan.plan()["cables_csv"], newline=""))
    return {row["cable"]: int(row["step"]) for row in rows}


def other_ports(network, switches, seed):
    """The same network with the plugs of these switches in other ports of theirs."""
    rng = random.Random(seed)
    document = json.loads(network.to_text("json"))
    order = {}
    for switch in switches:
        ports = list(range(1, document["switches"][switch]["ports"] + 1))
        order[switch] = dict(zip(ports, rng.sample(ports, len(ports)), strict=True))
    for link in document["links"]:
        for at in (0, 2):
            link[at + 1] = order.get(link[at], {}).get(link[at + 1], link[at + 1])
    for endpoint in document["endpoints"]:
        for rail in endpoint["rails"]:
            rail[1] = order.get(rail[0], {}).get(rail[1], rail[1])
    return fl.Topology.from_text(json.dumps(document), "other ports", None)


def cables_of(network):
    """Each cable as the set of its two (device, port)."""
    document = json.loads(network.to_text("json"))
    names = [switch["name"] for switch in document["switches"]]
    found = {frozenset({(names[a], p), (names[b], q)}) for a, p, b, q, *_ in document["links"]}
    for endpoint in document["endpoints"]:
        for rail, (switch, port, *_) in enumerate(endpoint["rails"], 1):
            found.add(frozenset({(endpoint["name"], rail), (names[switch], port)}))
    return found


# ---- ports that do not matter ----


@pytest.mark.parametrize(("net", "switches"), [
    (PLAN, [7]), (PLAN, range(50)), ("dragonfly:p=4,a=8,h=4", [3, 40]),
    ("fat_tree:leaves=12,spines=6,p=18", range(18)), ("torus:shape=4x4x4,p=2", range(64)),
])
def test_other_ports_are_right_where_they_are_ignored(net, switches):
    plan = fl.network(net)
    found = other_ports(plan, switches, 5)
    elsewhere = len(cables_of(plan) - cables_of(found))
    loose = fl.verify_cables(plan, found, ignore_ports=True)
    assert loose.clean and loose.complete and elsewhere > 0
    assert (loose.correct, loose.on_other_ports) == (loose.planned, elsewhere)
    strict = fl.verify_cables(plan, found)
    assert not strict.clean and strict.on_other_ports == elsewhere


def test_only_wrong_pairs_are_findings_where_ports_are_ignored(plan):
    found = other_ports(plan.with_failures(links=[60]), range(50), 3)
    less = fl.verify_cables(plan, found, ignore_ports=True)
    assert [finding["kind"] for finding in less.findings] == ["missing"]
    ends = {plan.switch_names[i] for i in plan.edges[60]}
    assert all(name in less.findings[0]["what"] for name in ends)
    assert {port["device"] for port in less.findings[0]["moves"][0]["ports"]} == ends
    assert (less.correct, less.lost, less.misplaced) == (374, 1, 0)


def test_the_command_says_when_the_order_of_ports_alone_is_off(plan, tmp_path):
    (tmp_path / "found.txt").write_text(other_ports(plan, [7], 1).to_text("netlist"))
    said = command("verify-cables", PLAN, "found.txt", cwd=tmp_path, code=1).stdout.splitlines()
    assert sum("--ignore-ports" in line for line in said) == 1 and "--ignore" in said[-1]
    loose = command("verify-cables", PLAN, "found.txt", "--ignore-ports", cwd=tmp_path).stdout
    n = len(cables_of(plan) - cables_of(other_ports(plan, [7], 1)))
    assert f"  on other ports   {n}\n" in loose and "--ignore" not in loose
    # a cable that is truly wrong: no such hint, for ports are not all that is off
    document = json.loads(other_ports(plan, [7], 1).to_text("json"))
    one, other = document["links"][0], document["links"][100]
    one[2:4], other[2:4] = other[2:4], one[2:4]
    crossed = fl.Topology.from_text(json.dumps(document), "crossed", None)
    (tmp_path / "found.txt").write_text(crossed.to_text("netlist"))
    said = command("verify-cables", PLAN, "found.txt", cwd=tmp_path, code=1).stdout
    assert "--ignore" not in said


# ---- step by step ----


def test_cables_of_later_steps_are_not_missed(plan, steps, tmp_path):
    links = [i for i in range(plan.links) if steps[f"link-{i}"] >= 2]
    rng = random.Random(4)
    for step in range(4):
        gone = rng.sample(range(plan.links), 20) + (links if step < 2 else [])
        found = fl.verify_cables(plan, plan.with_failures(links=sorted(set(gone))), step=step)
        missing = [f"link-{i}" for i in set(gone) if steps[f"link-{i}"] <= step]
        unlaid = [f"link-{i}" for i in set(gone) if steps[f"link-{i}"] > step]
        expect = dict.fromkeys(missing, "missing") | dict.fromkeys(unlaid, "unlaid")
        assert found.cables == expect
        assert found.planned == sum(found[key] for key in COUNTS) == 375
        assert (found.unlaid, found.lost, found.missing) == (
            len(unlaid), len(missing), len(missing))
        assert len(found.findings) == len(missing)
        assert found.clean == found.complete == (not missing)
        for n, count in enumerate(found.progress["steps"]):
            assert count["unlaid"] == sum(steps[name] == n for name in unlaid)
            assert count["missing"] == sum(steps[name] == n for name in missing)
    (tmp_path / "found.txt").write_text(plan.with_failures(links=links).to_text("netlist"))
    for step in range(4):
        code = int(any(steps[f"link-{i}"] <= step for i in links))
        command("verify-cables", PLAN, "found.txt", "--step", step, cwd=tmp_path, code=code)
    assert "--step" in command("verify-cables", "--help", cwd=tmp_path).stdout


def test_a_wrong_cable_of_a_later_step_is_wrong(plan, steps):
    late = [i for i in range(plan.links) if steps[f"link-{i}"] == 3]
    document = json.loads(plan.to_text("json"))
    one, other = late[0], late[-1]
    document["links"][one][2:4] = document["links"][other][2:4]
    document["links"] = [link for i, link in enumerate(document["links"])
                         if i == one or i not in late]
    found = fl.verify_cables(
        plan, fl.Topology.from_text(json.dumps(document), "x", None), step=1)
    # the plug sits in the port of a cable that is not laid yet either
    assert [f["kind"] for f in found.findings] == ["wrong"] and not found.clean
    assert (found.misplaced, found.unlaid) == (1, len(late) - 1)


def test_one_rack_is_looked_at_alone(plan, steps):
    """Before step 3 no cable leads out of a rack: the others are out of reach, not dead."""
    racks = {s: seat["rack"] for s, seat in enumerate(plan.plan()["switches"])}
    document = json.loads(plan.to_text("json"))
    here = [s for s in range(50) if racks[s] == 2]
    number = {s: i for i, s in enumerate(here)}
    document["switches"] = [document["switches"][s] for s in here]
    document["links"] = [[number[a], p, number[b], q, *more] for a, p, b, q, *more
                         in document["links"] if a in number and b in number]
    document["endpoints"] = [
        e | {"rails": [[number[r[0]], *r[1:]] for r in e["rails"]]}
        for e in document["endpoints"] if e["rails"][0][0] in number
    ]
    document["recipe"] = {"family": "file", "params": {}}
    document.pop("geometry", None)
    seen = fl.Topology.from_text(json.dumps(document), "one rack", None)
    found = fl.verify_cables(plan, seen, step=2)
    assert [f["kind"] for f in found.findings] == ["out_of_reach"]
    assert "45 switches and 180 endpoints" in found.findings[0]["line"]
    # half a column: 5 switches in a ring with 20 servers; 25 + 100 cables between the 10 racks
    assert (found.correct, found.lost, found.unlaid) == (20 + 5, 9 * 25, 125)
    # as the plan says nothing of steps: 45 dead switches
    whole = fl.verify_cables(plan, seen)
    assert Counter(f["kind"] for f in whole.findings) == {"missing_switch": 45}
    assert whole.lost == 375 - 25 and whole.misplaced == 0


def test_an_unplugged_endpoint_is_lost_not_misplaced(plan):
    document = json.loads(plan.to_text("json"))
    del document["endpoints"][17]
    found = fl.verify_cables(plan, fl.Topology.from_text(json.dumps(document), "x", None))
    assert [f["kind"] for f in found.findings] == ["missing_endpoint"]
    assert (found.misplaced, found.lost, found.correct) == (0, 1, 374)
    assert found.cables == {"terminal-17": "lost"}


@pytest.mark.parametrize(("how", "message"), [
    ({"step": 4}, "step"), ({"step": -1}, "step"), ({"step": 1.5}, "step"),
    ({"step": "2"}, "step"), ({"ignore_ports": 1}, "ignore_ports"),
    ({"ignore_ports": True, "identify": "structure"}, "ignore_ports"),
])
def test_refused(plan, how, message):
    with pytest.raises(fl.RefusalError, match=message):
        fl.verify_cables(plan, plan, **how)


def test_the_drawing_has_unlaid_switches_in_grey(plan, steps, tmp_path):
    late = [i for i in range(plan.links) if steps[f"link-{i}"] == 2]
    (tmp_path / "found.txt").write_text(plan.with_failures(links=late).to_text("netlist"))
    command("verify-cables", PLAN, "found.txt", "--step", 1, "-o", "state.svg", cwd=tmp_path)
    root = ET.fromstring((tmp_path / "state.svg").read_text())
    svg = "{http://www.w3.org/2000/svg}"
    ends = {plan.switch_names[s] for i in late for s in plan.edges[i].tolist()}
    reported = {}
    for box in root.iter(f"{svg}rect"):
        hint = box.find(f"{svg}title")
        if hint is not None and ", unit " in hint.text:
            reported[hint.text.split(",")[0]] = (box.get("fill"), hint.text)
    assert set(reported) == set(plan.switch_names)
    for name, (fill, hint) in reported.items():
        red, green, blue = (int(fill[i:i + 2], 16) for i in (1, 3, 5))
        grey = max(red, green, blue) - min(red, green, blue) < 12
        assert grey == (name in ends) == ("not yet laid" in hint)


# ---- short lines ----


def crossed(plan, rng, rings):
    """The plan with the far ends of some links exchanged round rings of these sizes."""
    document = json.loads(plan.to_text("json"))
    free = rng.sample(range(len(document["links"])), sum(rings))
    for size in rings:
        ring = [free.pop() for _ in range(size)]
        ends = [document["links"][i][2:4] for i in ring]
        for i, end in zip(ring, ends[1:] + ends[:1], strict=True):
            document["links"][i][2:4] = end
    return fl.Topology.from_text(json.dumps(document), "crossed", None)


def test_findings_are_short_lines_and_rings_tables(plan, tmp_path):
    found = crossed(plan, random.Random(8), [2, 9, 2]).with_failures(links=[], switches=[])
    (tmp_path / "found.txt").write_text(found.to_text("netlist"))
    document = json.loads(command(
        "verify-cables", PLAN, "found.txt", "--json", cwd=tmp_path, code=1).stdout)
    said = command("verify-cables", PLAN, "found.txt", cwd=tmp_path, code=1).stdout.splitlines()
    assert all(len(line) <= 100 for line in said)
    start = next(i for i, line in enumerate(said) if line.startswith("findings")) + 1
    assert len(said) - start == sum(1 + len(f["table"]) for f in document["findings"])
    for finding in document["findings"]:
        assert finding["line"] in said and finding["kind"] == "swapped"
        assert len(finding["moves"]) == len(finding["table"]) or not finding["table"]
        for move, row in zip(finding["moves"], finding["table"], strict=False):
            for port, label in zip(move["ports"], row, strict=True):
                assert label == f"{port['device']} port {port['port']}"
            assert any(row[0] in line and row[1] in line for line in said)
    whole = command("verify-cables", PLAN, "found.txt", "--verbose", cwd=tmp_path, code=1).stdout
    assert all(f"{f['what']}; {f['mend']}" in whole for f in document["findings"])


# ---- packed files ----


def test_packed_files_are_read_like_plain_ones(plan, tmp_path):
    text = plan.with_failures(links=[5]).to_text("netlist").encode()
    (tmp_path / "found.txt").write_bytes(text)
    (tmp_path / "found.txt.gz").write_bytes(gzip.compress(text))
    half = len(text) // 2
    (tmp_path / "two.gz").write_bytes(gzip.compress(text[:half]) + gzip.compress(text[half:]))
    (tmp_path / "plan.json.gz").write_bytes(gzip.compress(plan.to_text("json").encode()))
    guids = "device,guid\n" + "".join(
        f"{name},0x{guid:x}\n" for name, guid
        in zip(plan.switch_names, plan.addresses()["switch_guid"], strict=True))
    (tmp_path / "guids.csv.gz").write_bytes(gzip.compress(guids.encode()))
    plain = command("verify-cables", PLAN, "found.txt", cwd=tmp_path, code=1).stdout
    for words in (["found.txt.gz"], ["two.gz"], ["found.txt.gz", "--guids", "guids.csv.gz"]):
        assert command("verify-cables", PLAN, *words, cwd=tmp_path, code=1).stdout == plain
    packed = command("verify-cables", "plan.json.gz", "two.gz", cwd=tmp_path, code=1).stdout
    assert packed == plain
    (tmp_path / "net.graphml.gz").write_bytes(gzip.compress(plan.to_text("graphml").encode()))
    (tmp_path / "net.toml.gz").write_bytes(gzip.compress(b'family = "slim_fly"\nq = 5\n'))
    assert fl.network(tmp_path / "net.graphml.gz").links == 175
    assert fl.network(tmp_path / "net.toml.gz").switches == 50


@pytest.mark.parametrize(("name", "harm", "message"), [
    ("cut.gz", lambda packed: packed[:-200], "it is cut off"),
    ("head.gz", lambda packed: packed[:6], "it is cut off"),
    ("sum.gz", lambda packed: packed[:-6] + b"abcdef", "cannot be unpacked"),
    ("inside.gz", lambda packed: packed[:400] + b"\xff" * 40 + packed[440:], "cannot be unpacked"),
    ("plain.gz", lambda packed: gzip.decompress(packed), "no gzip file"),
    ("empty.gz", lambda packed: b"", "no gzip file"),
    ("binary.gz", lambda packed: gzip.compress(b"a\0b"), "byte 1 is zero"),
    ("letters.gz", lambda packed: gzip.compress(b"\xff\xff"), "not UTF-8"),
])
def test_bad_packed_files(plan, tmp_path, name, harm, message):
    packed = gzip.compress(plan.to_text("netlist").encode())
    (tmp_path / name).write_bytes(harm(packed))
    done = command("verify-cables", PLAN, name, cwd=tmp_path, code=2)
    assert f"{name}: " in done.stderr and message in done.stderr
    assert len(done.stderr.splitlines()) == 1 and done.stdout == ""
