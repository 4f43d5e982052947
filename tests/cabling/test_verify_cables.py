"""verify-cables on saved discoveries: identification, folders, GUID files, watching, drawing."""

import csv
import io
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import flyloom as fl
import pytest
from cli_helpers import flyloom
from flyloom.cabling.watch import FabricCheckHistory
from flyloom.support.errors import DeployError
from patience import HANG_S

PLAN = "slim_fly:q=5,p=4"


@pytest.fixture(scope="module")
def plan():
    return fl.network(PLAN)


def command(*words, cwd, code=0):
    done = flyloom("verify-cables", *words, cwd=cwd)
    assert done.returncode == code, done.stderr + done.stdout
    return done


def document(*words, cwd, code=0):
    return json.loads(command(*words, "--json", cwd=cwd, code=code).stdout)


def masked(text, seed):
    """A discovery in which every GUID is a random one and every name says nothing."""
    rng = random.Random(seed)
    known = {}

    def guid(match):
        old = int(match[0], 16)
        if old not in known:
            known[old] = f"{rng.getrandbits(60) | 1 << 59:016x}"
        return known[old]

    text = re.sub(r'(?<=[SH]-)[0-9a-f]{16}(?=")|(?<=guid=0x)[0-9a-f]+', guid, text)
    text = re.sub(r"\([0-9a-f]+\)", "", text)
    return re.sub(r'(# |lmc 0 )"[^"]*"', r'\1"box"', text)


def without_port(text, switch_id, port):
    """The discovery without one cable, both ends taken out of the text."""
    lines, node, far = [], "", None
    for line in text.splitlines():
        node = line.split('"')[1] if re.match("Switch|Ca", line) else node
        if node == switch_id and line.startswith(f"[{port}]\t"):
            far = re.search(r'"([SH]-\w+)"\[(\d+)\]', line).groups()
            continue
        lines.append((node, line))
    assert far is not None
    return "\n".join(
        line for node, line in lines
        if not (node == far[0] and re.match(rf"\[{far[1]}\][(\s]", line))
    )


def exchanged(plan, one, other):
    """A discovery in which two switches have each other's GUIDs."""
    a, b = (f"{plan.addresses()['switch_guid'][i]:016x}" for i in (one, other))
    text = plan.to_text("netlist")
    for old, new in ((a, "@"), (b, a), ("@", b)):
        text = text.replace(f"S-{old}", f"S-{new}").replace(
            old.lstrip("0") + "(", new.lstrip("0") + "(")
        text = text.replace(f"({old.lstrip('0')})", f"({new.lstrip('0')})")
    return text


def test_permuted_guids_are_moved_switches(plan, tmp_path):
    """Two switches whose GUIDs are exchanged in the text stand in each other's places."""
    (tmp_path / "found.txt").write_text(exchanged(plan, 7, 33))
    found = document(PLAN, "found.txt", cwd=tmp_path, code=1)
    (finding,) = found["findings"]
    assert finding["kind"] == finding["fault"] == "moved_switch"
    names = {plan.switch_names[7], plan.switch_names[33]}
    assert set(finding["moves"][0]["devices"]) == names
    assert finding["moves"][0]["do"] == "exchange"
    assert all(name in finding["where"] for name in names)
    assert found["correct"] == found["planned"] == 375


def test_withheld_guids_and_names(plan, tmp_path):
    for seed in range(3):
        text = masked(plan.to_text("netlist"), seed)
        (tmp_path / "found.txt").write_text(text)
        found = document(PLAN, "found.txt", cwd=tmp_path)
        assert found["identified"] == {
            "by": "structure", "switches": 50, "endpoints": 200,
            "equally_good": found["identified"]["equally_good"],
        }
        switch = re.search(r'Switch\t\d+ "(S-\w+)"', text)[1]
        for port, kind in ((6, "missing"), (2, "missing_endpoint")):
            (tmp_path / "less.txt").write_text(without_port(text, switch, port))
            less = document(PLAN, "less.txt", cwd=tmp_path, code=1)
            if kind == "missing":
                assert [f["kind"] for f in less["findings"]] == [kind]
                assert less["correct"] == 374
    for method in ("guid", "name"):
        refused = command(
            PLAN, "found.txt", "--identify", method, cwd=tmp_path, code=2).stderr
        assert "none of the plan's 50 switches" in refused


def test_hosts_that_are_known_tell_which_rack_is_which(plan, tmp_path):
    """GUIDs and names of switches withheld: several matches of the cables fit, one of the hosts."""
    links = plan.link_table
    names = plan.switch_names
    for seed in range(3):
        rng = random.Random(seed)
        pulled = rng.sample(range(plan.links), 2)
        text = masked(plan.with_failures(links=pulled).to_text("netlist"), seed)
        # the masked text has the planned one's lines: hosts get their names back, block by block
        hosts = iter(re.findall(r'^Ca.*"(host-\d+)"$', plan.to_text("netlist"), re.MULTILINE))
        def named(match, hosts=hosts):
            return f'{match[1]}"{next(hosts)}"'

        text = re.sub(r'(?m)^(Ca.*)"box"$', named, text)
        head, *blocks = text.split("\n\n")
        rng.shuffle(blocks)
        (tmp_path / "found.txt").write_text("\n\n".join([head, *blocks]))
        found = document(PLAN, "found.txt", cwd=tmp_path, code=1)
        assert found["identified"]["by"] == "structure"
        assert found["identified"]["equally_good"] == 1
        assert {f["kind"] for f in found["findings"]} == {"missing"}
        said = {frozenset(re.findall(r"sf-\d-\d-\d", f["what"])) for f in found["findings"]}
        assert said == {frozenset((names[links["a_switch"][i]], names[links["b_switch"][i]]))
                        for i in pulled}


def test_learnt_guids_tell_the_fabric(plan, tmp_path):
    (tmp_path / "found.txt").write_text(masked(plan.to_text("netlist"), 5))
    document(PLAN, "found.txt", "--learn-guids", "guids.csv", cwd=tmp_path)
    rows = list(csv.reader(io.StringIO((tmp_path / "guids.csv").read_text())))
    assert rows[0] == ["device", "guid"] and len(rows) == 1 + 250
    found = document(
        PLAN, "found.txt", "--guids", "guids.csv", "--identify", "guid", cwd=tmp_path)
    assert found["clean"] and found["identified"]["by"] == "guid"
    # exchanged in the file: moved in the fabric
    rows[1][1], rows[9][1] = rows[9][1], rows[1][1]
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    (tmp_path / "guids.csv").write_text(text.getvalue())
    found = document(PLAN, "found.txt", "--guids", "guids.csv", cwd=tmp_path, code=1)
    assert [f["kind"] for f in found["findings"]] == ["moved_switch"]


@pytest.mark.parametrize(("text", "words"), [
    ("", "line 1: expected the header"),
    ("device,guid\nsf-0-0-0\n", "line 2: expected NAME,0xGUID"),
    ("device,guid\nsf-0-0-0,0xzz\n", "line 2: expected NAME,0xGUID"),
    ("device,guid\nsf-0-0-0,0x1\nsf-0-0-0,0x2\n", "line 3: sf-0-0-0 is there twice"),
    ("device,guid\nsf-0-0-0,0\n", "line 2: 0 is no GUID"),
    ("device,guid\nsf-0-0-0,0x10000000000000000\n", "no GUID"),
    ("device,guid\nsf-9-9-9,0x1\n", "the plan has no device 'sf-9-9-9'"),
    ("device,guid\nsf-0-0-0,0x1\nsf-0-0-1,0x1\n", "is given to sf-0-0-0 and to sf-0-0-1"),
])
def test_bad_guid_files(plan, tmp_path, text, words):
    (tmp_path / "guids.csv").write_text(text)
    (tmp_path / "found.txt").write_text(plan.to_text("netlist"))
    done = command(PLAN, "found.txt", "--guids", "guids.csv", cwd=tmp_path, code=2)
    assert words in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("words", [
    ["--identify", "face"], ["--every", "0"], ["--every", "nan"], ["-o", "state.gif"],
    ["--guids", "absent.csv"], ["--watch", "--identify", "face"],
    ["--step", "4"], ["--step", "-1"],
    ["--ignore-ports", "--identify", "structure"], ["--watch", "--step", "9"],
    ["--watch", "-o", "absent/state.svg"], ["--watch", "--learn-guids", "absent/guids.csv"],
])
def test_bad_options(plan, tmp_path, words):
    (tmp_path / "found.txt").write_text(plan.to_text("netlist"))
    done = command(PLAN, "found.txt", *words, cwd=tmp_path, code=2)
    assert done.stdout == "" and len(done.stderr.splitlines()) == 1


def test_a_folder_is_a_plan(plan, tmp_path):
    folder = tmp_path / "cabling"
    folder.mkdir()
    (tmp_path / "found.txt").write_text(plan.with_failures(links=[0]).to_text("netlist"))
    assert "no network.json" in command("cabling", "found.txt", cwd=tmp_path, code=2).stderr
    (folder / "network.json").write_text(plan.to_text("json"))
    found = document("cabling", "found.txt", cwd=tmp_path, code=1)
    assert "(R00-U01-P05)" in found["findings"][0]["where"]
    # floor rules of the folder: switches of two units
    (folder / "plan.json").write_text(json.dumps({"rules": {"switch_units": 2}}))
    found = document("cabling", "found.txt", cwd=tmp_path, code=1)
    assert "(R00-U03-P06)" in found["findings"][0]["where"]
    for bad in ("{", "[" * 100_000, '{"rules": 3}', '{"rules": {"switch_units": -1}}'):
        (folder / "plan.json").write_text(bad)
        command("cabling", "found.txt", cwd=tmp_path, code=2)


def test_progress_counts_every_cable_of_every_rack(plan):
    """Against the cable list itself, row by row."""
    gone = [3, 60, 61, 174]
    harmed = plan.with_failures(links=gone)
    found = fl.check_cables(plan, harmed, rules={}).to_dict()
    rows = list(csv.DictReader(io.StringIO(plan.plan()["cables_csv"])))
    racks = {rack["rack"]: rack["steps"] for rack in found["progress"]["racks"]}
    for step in range(4):
        of_step = [r for r in rows if int(r["step"]) == step]
        lost = [r for r in of_step if r["cable"] in {f"link-{i}" for i in gone}]
        count = found["progress"]["steps"][step]
        assert (count["planned"], count["wrong"], count["degraded"]) == (len(of_step), 0, 0)
        assert count["laid"] == count["correct"] == len(of_step) - len(lost)
        for name, steps in racks.items():
            mine = [r for r in of_step if r["a_label"].startswith(name + "-")
                    or r["b_label"].startswith(name + "-")]
            assert steps[step]["planned"] == len(mine)
            assert steps[step]["correct"] == len([r for r in mine if r not in lost])
    assert found["cables"] == {f"link-{i}": "missing" for i in gone}
    # a plan without rules has no racks: nobody knows where its switches stand
    bare = fl.check_cables(plan, harmed).to_dict()
    assert bare["progress"] == {"steps": found["progress"]["steps"], "racks": []}
    assert "(R" in found["findings"][0]["line"] and "(R" not in json.dumps(bare["findings"])


def test_findings_name_the_fabrics_devices_first(plan, tmp_path):
    gone = plan.with_failures(links=[3], switches=[9])
    text = gone.to_text("netlist").replace('"sf-', '"leaf-').replace('"host-', '"nid-')
    (tmp_path / "found.txt").write_text(text)
    for words, racks in ((PLAN, False), ("cabling", True)):
        if racks:
            (tmp_path / "cabling").mkdir()
            (tmp_path / "cabling" / "network.json").write_text(plan.to_text("json"))
        found = document(words, "found.txt", cwd=tmp_path, code=1)["findings"]
        lines = {f["kind"]: f["line"] for f in found}
        table, names = plan.link_table, plan.switch_names
        ends = [(names[table[f"{e}_switch"][3]], table[f"{e}_port"][3]) for e in "ab"]
        for name, at in ends:
            own = name.replace("sf-", "leaf-")
            label = r"R\d\d-U\d\d-P\d\d"
            wanted = rf"{own} \({label}\)" if racks else rf"{own} port {at} \({name}\)"
            assert re.search(wanted, lines["missing"]), lines["missing"]
        # what does not answer has no name but the plan's
        assert lines["missing_switch"].startswith(f"switch {names[9]} ")
        assert ("(R" in lines["missing_switch"]) == racks
        for finding in found:  # for programs: the plan's names
            for move in finding["moves"]:
                assert {p["device"] for p in move["ports"]} == {name for name, _ in ends}


def test_the_drawing_has_every_switch_in_its_colour(plan, tmp_path):
    harmed = plan.with_failures(links=[0], switches=[30])
    (tmp_path / "found.txt").write_text(harmed.to_text("netlist"))
    command(PLAN, "found.txt", "-o", "state.svg", cwd=tmp_path, code=1)
    text = (tmp_path / "state.svg").read_text()
    root = ET.fromstring(text)
    hints = [e.text for e in root.iter("{http://www.w3.org/2000/svg}title")]
    reported = {h.split(",")[0]: h for h in hints if ", unit " in h}
    assert set(reported) == set(plan.switch_names)
    ends = {plan.switch_names[i] for i in plan.edges[0]}
    for name, hint in reported.items():
        words = ("does not answer" if name == plan.switch_names[30]
                 else "wrong or missing" if name in ends else "as planned")
        assert words in hint


# ---- watching ----


def watching(tmp_path, *words):
    return subprocess.Popen(
        [sys.executable, "-m", "flyloom.cli", "verify-cables", PLAN, "found.txt", "--watch",
         "--every", "0.1", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
    )


def put(path: Path, text: str):
    fresh = path.with_suffix(".fresh")
    fresh.write_text(text)
    os.replace(fresh, path)


def lines_until(child, wanted):
    """The JSON lines up to the first for which ``wanted`` holds."""
    limit = time.monotonic() + HANG_S
    seen = []
    while time.monotonic() < limit:
        line = child.stdout.readline()
        if not line:
            break
        seen.append(json.loads(line))
        if wanted(seen[-1]):
            return seen
    raise AssertionError(seen[-1:])


def test_a_look_without_an_answer_leaves_what_was_known():
    found = {"complete": False, "findings": [{"what": "one"}]}
    answers = [found, fl.RefusalError("a"), DeployError("b"), OSError("c"), found]

    def look():
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    looks = FabricCheckHistory(look, lambda document: None)
    assert not looks.again() and looks.document()["new"] == ["one"]
    for words in "abc":
        assert not looks.again() and looks.document()["error"] == words
        assert looks.found is found
    assert not looks.again() and looks.document() == {"look": 5, **found, "new": [], "mended": []}


def test_watching_ends_when_all_is_right(plan, tmp_path):
    file = tmp_path / "found.txt"
    good = plan.to_text("netlist")
    put(file, plan.with_failures(links=[0, 9]).to_text("netlist"))
    child = watching(tmp_path, "--json")
    try:
        first = lines_until(child, lambda look: True)[0]
        assert first["look"] == 1 and first["new"] == first["mended"] == first["findings"] == []
        assert (first["clean"], first["complete"], first["unlaid"]) == (True, False, 2)
        assert set(first["cables"].values()) == {"unlaid"}
        put(file, plan.with_failures(links=[9]).to_text("netlist"))
        look = lines_until(child, lambda look: look.get("unlaid") == 1)[-1]
        assert look["findings"] == []
        # what was laid before and has gone is missing
        put(file, plan.with_failures(links=[0, 9, 40]).to_text("netlist"))
        look = lines_until(child, lambda look: look.get("new"))[-1]
        assert len(look["new"]) == 2 and (look["missing"], look["unlaid"]) == (2, 1)
        put(file, plan.with_failures(links=[9, 40]).to_text("netlist"))
        look = lines_until(child, lambda look: look.get("mended"))[-1]
        assert len(look["mended"]) == 1 and look["new"] == [] and len(look["findings"]) == 1
        put(file, good[: len(good) // 2])
        look = lines_until(child, lambda look: "error" in look)[-1]
        assert "found.txt: line" in look["error"]
        put(file, good)
        look = lines_until(child, lambda look: look.get("clean"))[-1]
        assert len(look["mended"]) == 1
        assert child.wait(10) == 0
    finally:
        child.kill()
        child.communicate()


def test_watching_ends_at_ctrl_c(plan, tmp_path):
    less = plan.with_failures(links=[0])
    put(tmp_path / "found.txt", exchanged(less, 7, 33))
    child = watching(tmp_path)
    try:
        out = [child.stdout.readline()]
        while not out[-1].startswith("new: "):
            out.append(child.stdout.readline())
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=HANG_S)
        assert (child.returncode, err) == (1, "")
        words = "look 1: 374 of 375 cables as planned, 1 not yet laid, 1 finding\n"
        assert out[0] == words
        assert re.match(r"all +200/200 +49/50 +125/125\n", out[-2])
        # by the fabric's names: those of the places in which the boxes with these GUIDs stand
        one, other = (plan.switch_names[i] for i in (7, 33))
        said = f"new: switches {other} ({one}) and {one} ({other}) are exchanged"
        assert out[-1].startswith(said)
    finally:
        child.kill()
        child.communicate()
