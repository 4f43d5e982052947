"""Files from outside: pipes, devices, odd bytes, huge figures, mutated text; never a traceback."""

import json
import os
import random
import subprocess
import threading
import time

import flyloom as fl
import pytest
from campaign import count
from cli_helpers import command, environment, flyloom
from flyloom.cabling import checked
from flyloom.inputs import catalogs, traffic
from flyloom.inputs.networks import network
from flyloom.lab import store
from flyloom.support import reading
from patience import HANG_S
from test_docs import ROOT

RefusalError = fl.RefusalError


def refused(done, *words):
    """One line, exit code 2, and the words in it."""
    assert done.returncode == 2, done.stderr
    assert done.stdout == "" and done.stderr.count("\n") == 1, done.stderr
    for word in words:
        assert word in done.stderr


# --- pipes and devices ---

@pytest.fixture
def fifo(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    return tmp_path / "fifo"


def test_a_pipe_that_nobody_writes_to_is_refused(fifo, monkeypatch):
    monkeypatch.setattr(reading, "NO_WRITER_S", 0.3)
    began = time.monotonic()
    with pytest.raises(RefusalError, match=r"fifo: cannot be read: nobody wrote to this pipe"):
        reading.read_text(fifo)
    assert 0.2 < time.monotonic() - began < HANG_S


def test_a_pipe_whose_writer_says_nothing_is_refused(fifo, monkeypatch):
    monkeypatch.setattr(reading, "SILENT_S", 0.3)
    both = os.open(fifo, os.O_RDWR)
    try:
        with pytest.raises(RefusalError, match="nothing came through this pipe in 0.3 s"):
            reading.read_text(fifo)
    finally:
        os.close(both)


@pytest.mark.parametrize("parts", [["a b\n"], ["a ", "b\n", "", "b c\n"], [], ["a b\n" * 90_000]])
def test_a_pipe_is_read_to_its_end(fifo, parts):
    """However late its writer comes, and in however many pieces it writes."""
    def write():
        time.sleep(0.1)
        with open(fifo, "w") as pipe:
            for part in parts:
                pipe.write(part)
                pipe.flush()
                time.sleep(0.05)

    writer = threading.Thread(target=write)
    writer.start()
    assert reading.read_text(fifo) == "".join(parts)
    writer.join()


SLOTS = {
    "network": ["design", "{}"], "rules": ["plan", "ring:n=4,p=1", "--rules", "{}"],
    "catalogue": ["cost", "ring:n=4,p=1", "--catalog", "{}"], "experiment": ["run", "{}"],
    "GUIDs": ["verify-cables", "ring:n=4,p=1", "x.edges", "--guids", "{}"],
    "fabric": ["verify-cables", "ring:n=4,p=1", "{}"], "tables": ["verify", "{}"],
    "levels": ["verify", "{}", "--found", "x.edges", "--path-records", "x.edges"],
    "traffic": ["throughput", "ring:n=4,p=1", "--traffic", "{}"], "dump": ["lanes", "{}"],
    "order": ["congestion", "ring:n=4,p=1", "--placement", "{}"],
    "catalog": ["catalog", "check", "{}"],
}


def place(words, file):
    return [word.format(file) for word in words]


@pytest.mark.parametrize("file", ["/dev/zero", "fifo"])
def test_devices_and_pipes_are_refused_wherever_a_file_is_named(file, tmp_path):
    """All at once: a device without end, and a pipe that nobody writes to."""
    (tmp_path / "x.edges").write_text("a b\n")
    os.mkfifo(tmp_path / "fifo")
    runs = {slot: subprocess.Popen(
        command(*place(words, file)), cwd=tmp_path, env=environment(), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE) for slot, words in SLOTS.items()}
    for slot, run in runs.items():
        out, err = run.communicate(timeout=90)
        assert (run.returncode, out) == (2, ""), (slot, err)
        assert err.count("\n") == 1 and file in err, (slot, err)


def test_a_network_may_come_out_of_a_command(tmp_path):
    done = subprocess.run(
        ["bash", "-c", f"{' '.join(command())} design <(sleep 0.5; echo a b) -p 1 --json"],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=60, check=False)
    assert json.loads(done.stdout)["switches"] == 2, done.stderr


def test_an_endless_pipe_is_refused(monkeypatch):
    monkeypatch.setattr(reading, "MOST_BYTES", 1 << 20)
    for text, words in (("y", "more than 1,048,576 bytes"), ("\0", "byte 0 is zero")):
        read, write = os.pipe()
        writer = subprocess.Popen(
            ["python3", "-c", f"while True: print({text!r} * 4096)"], stdout=write,
            stderr=subprocess.DEVNULL)
        os.close(write)
        try:
            with pytest.raises(RefusalError, match=words):
                reading.read_text(f"/dev/fd/{read}")
        finally:
            os.close(read)
            writer.kill()
            writer.wait()


def test_a_file_that_is_too_long_is_refused_unread(tmp_path, monkeypatch):
    with open(tmp_path / "big.edges", "wb") as big:
        big.truncate(reading.MOST_BYTES + 1)  # takes no room
    def unread(*_args):
        raise AssertionError("its bytes are read")

    monkeypatch.setattr(os, "read", unread)
    with pytest.raises(RefusalError, match="more than 1,073,741,824 bytes"):
        reading.read_text(tmp_path / "big.edges")


# --- bytes and figures ---

@pytest.mark.parametrize(("content", "words"), [
    ("a b\n".encode("utf-16"), "UTF-16"), ("a b\n".encode("utf-16-be"), "byte 0 is zero"),
    (b"\xfe\xff\x61", "UTF-16"), (b"a b\0\n", "byte 3 is zero"),
    (b"a \xff\n", "byte 2 is not UTF-8"), (b"a \xed\xa0\x80\n", "not UTF-8"),
])
def test_what_is_not_text_is_refused(tmp_path, content, words):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(RefusalError, match=words):
        reading.read_text(tmp_path / "x")


def test_a_byte_order_mark_and_line_ends_of_others_are_taken(tmp_path):
    (tmp_path / "x.toml").write_bytes(b'\xef\xbb\xbffamily = "ring"\r\nn = 4\r\np = 1\r\n')
    assert network(tmp_path / "x.toml").switches == 4
    (tmp_path / "x").write_bytes(b"\xef\xbb\xbfa\r\nb\rc\n")
    assert reading.read_text(tmp_path / "x") == "a\nb\nc\n"
    assert reading.read_text(tmp_path / "x", newline="") == "\ufeffa\r\nb\rc\n"


LONG = "9" * 5000
FLOWS = ["throughput", "ring:n=4,p=1", "--traffic"]


@pytest.mark.parametrize(("name", "text", "words"), [
    ("x.toml", f'family = "ring"\nn = {LONG}\n', ["design", "x.toml"]),
    ("x.toml", f"pitch_m = {LONG}\n", ["plan", "ring:n=4,p=1", "--rules", "x.toml"]),
    ("x.toml", f"name = {LONG}\n", ["cost", "ring:n=4,p=1", "--catalog", "x.toml"]),
    ("x.toml", f"schema = {LONG}\n", ["run", "x.toml"]),
    ("x.json", f'{{"flyloom": {LONG}}}', ["design", "x.json"]),
    ("x.json", "[" * 100_000, ["design", "x.json"]),
    ("x.edges", f"endpoints a {LONG}\n", ["design", "x.edges"]),
    ("x.csv", f"src,dst,demand\n{LONG},1,1\n", [*FLOWS, "x.csv"]),
    ("x.csv", f"src,dst,demand\n0,1,{LONG}\n", [*FLOWS, "x.csv"]),
    ("x.csv", "src,dst,demand\n" + "a" * 200_000 + ",1,1\n",
     [*FLOWS, "x.csv"]),
    ("x.csv", f"device,guid\nring-0,0x{'9' * 140_000}\n",
     ["verify-cables", "ring:n=4,p=1", "x.csv", "--guids", "x.csv"]),
    ("x.csv", f"device,guid\nring-0,0x{LONG}\n",
     ["verify-cables", "ring:n=4,p=1", "x.csv", "--guids", "x.csv"]),
    ("x.toml", 'schema = 1\nname = "x"\nseed = 1\n[routing]\nengine = "sssp"\n[topology]\n'
     f'file = "{"n" * 300}"\n', ["run", "x.toml"]),
    ("x.toml", f'schema = 1\nname = "{"n" * 300}"\nseed = 1\n[routing]\nengine = "sssp"\n'
     '[topology]\nfamily = "ring"\nn = 4\n', ["run", "x.toml"]),
])
def test_huge_figures_fields_and_names_are_refused(tmp_path, name, text, words):
    (tmp_path / name).write_text(text)
    done = flyloom(*words, cwd=tmp_path)
    refused(done, "x." if "run" not in words else "")
    assert len(done.stderr) < 1000


@pytest.mark.parametrize("words", [
    ["design", "n" * 300], ["design", "n" * 300 + ".edges"], ["design", f"file:{'n' * 300}/x"],
    ["verify", "n" * 300], ["verify-cables", "n" * 300, "x"], ["run", "n" * 300],
    ["report", "n" * 300], ["throughput", "ring:n=4,p=1", "--traffic", "n" * 300],
    ["congestion", "ring:n=4,p=1", "--placement", "n" * 300],
    ["cost", "ring:n=4", "--catalog", "n" * 300],
])
def test_names_that_no_file_can_have_are_refused(tmp_path, words):
    refused(flyloom(*words, cwd=tmp_path))


@pytest.mark.parametrize("value", ["1e308", "1e-320", "nan", "inf", "-inf", "-1", "0", "1e9"])
@pytest.mark.parametrize("verb", [
    ["cost", "ring:n=4,p=1", "--gbps"], ["plan", "ring:n=4,p=1", "--gbps"],
    ["cables", "ring:n=4,p=1", "-o", "w", "--gbps"], ["cost", "ring:n=4,p=1", "--electric-limit"],
])
def test_rates_out_of_range_are_refused(tmp_path, verb, value):
    with pytest.raises(RefusalError, match="out of range"):
        option = "gbps" if "--gbps" in verb else "electric_limit_m"
        catalogs.shop(**{option: float(value)})
    if value == "1e308":
        refused(flyloom(*verb, value, cwd=tmp_path))
        assert list(tmp_path.iterdir()) == []


# --- mutated files ---

PIECES = ["", "\0", "\ufeff", "é", '"', "'", ",", ",,", "\n", "\r", "[", "]", "{", "}", "=",
          "#", "null", "true", "-1", "1e999", "nan", LONG, "0x", "-", "\x1b[31m",
          "\u202e", "\ud7ff", " "]


def mutated(text, rng):
    """``text`` with some places cut, doubled, swapped or written over."""
    for _ in range(rng.randint(1, 4)):
        a, b = sorted(rng.choices(range(len(text) + 1), k=2))
        b = min(b, a + rng.choice([0, 1, 1, 3, 20]))
        piece = rng.choice([*PIECES, text[b:b + 20], text[a:b] * 2])
        text = text[:a] + piece + text[b:]
    return text


GUIDS = "device,guid\n" + "".join(f"ring-{i},0x{i + 1:016x}\n" for i in range(4))
TRAFFIC = "src,dst,demand\n0,1,1.5\nhost-0002,3,2\n"
RULES = 'rack_units = 42\npitch_m = 1.5\nstock_m = [1.0, 2.0]\nendpoints = "fit"\n'


def readers(tmp_path):
    """The functions that read files, each with a text that it accepts."""
    ring = fl.network("ring:n=4,p=1")
    good = tmp_path / "wire"
    fl.cables(ring, good)
    folder = tmp_path / "folder"
    folder.mkdir()

    def planned(text):
        (folder / "network.json").write_text(ring.to_text("json"))
        (folder / "plan.json").write_text(text)
        topology, rules = checked.load_plan(str(folder))
        topology.check_cables(topology, "auto", None, rules)

    def file(read, name):
        def of(text):
            (tmp_path / name).write_bytes(text.encode())
            read(tmp_path / name)
        return of

    yield GUIDS, file(checked.read_guids, "x.csv")
    yield RULES, file(lambda path: fl.plan(ring, path), "x.toml")
    yield fl._core.Shop.text_of("edr36-2024"), file(lambda p: fl.cost(ring, p), "c.toml")
    yield TRAFFIC, file(lambda path: traffic.demands(ring, path), "t.csv")
    yield (good / "plan.json").read_text(), planned
    yield (good / "network.json").read_text(), file(network, "x.json")
    example = (ROOT / "examples" / "deployed_slim_fly.toml").read_text()
    yield example, file(lambda p: fl._core.expand(reading.read_text(p), str(p)), "e.toml")


@pytest.mark.campaign
def test_mutated_files_are_read_or_refused(tmp_path):
    """Anything but a RefusalError would end in a traceback."""
    reported = 0
    for number, (text, read) in enumerate(readers(tmp_path)):
        read(text)
        for k in range(count(60, 3000)):
            rng = random.Random(f"{number} {k}")
            try:
                read(mutated(text, rng))
            except RefusalError as error:
                assert str(error)
                reported += 1
    assert reported > count(60, 3000)


SMALL = """schema = 1
name = "small"
seed = 3
[topology]
family = "slim_fly"
q = 3
p = 1
[routing]
engine = "min_hop"
[ebb]
samples = 3
"""
WRONG = [None, True, -1, 0, 3, 1e308, "", "x", [], [[]], [None], {}, {"a": 1}, [1, "a"], "LONG"]


def places(value, path=()):
    """Every place of a document."""
    yield path
    inside = value.items() if isinstance(value, dict) else enumerate(
        value[:2]) if isinstance(value, list) else ()
    for key, part in inside:
        yield from places(part, (*path, key))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    (folder / "small.toml").write_text(SMALL)
    done = flyloom("run", "small.toml", "--out", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    (folder / "out" / "small" / "manifest.json").unlink()  # it has the digests of the other files
    return folder / "out" / "small"


@pytest.mark.campaign
def test_edited_results_are_refused_or_drawn(results, monkeypatch):
    """Every field of `results.json` of every wrong kind, or gone; drawn or refused by name."""
    from flyloom import report

    monkeypatch.setattr(report, "render", lambda data, **_how: report.check.check(data) and "page")
    text = (results / "results.json").read_text()
    spots = [spot for spot in places(json.loads(text)) if spot]
    rng = random.Random(0)
    trials = [(spot, value) for spot in spots for value in [*WRONG, "gone"]]
    refusals = 0
    for spot, value in rng.sample(trials, min(len(trials), count(400, 100_000))):
        saved = json.loads(text)
        inside = saved
        for key in spot[:-1]:
            inside = inside[key]
        if value == "gone":
            del inside[spot[-1]]
        else:
            inside[spot[-1]] = value
        written = json.dumps(saved).replace('"LONG"', LONG)
        (results / "results.json").write_text(written)
        try:
            store.rebuild(results)
        except RefusalError as error:
            assert "results.json: " in str(error), (spot, value)
            refusals += 1
    (results / "results.json").write_text(text)
    assert refusals > 100


def test_a_results_file_of_another_kind_is_refused_by_its_field(results):
    text = (results / "results.json").read_text()
    saved = json.loads(text)
    saved["records"][0]["verify"]["complete"] = "yes"
    (results / "results.json").write_text(json.dumps(saved))
    try:
        refused(flyloom("report", results), "results.json: ", "records[0].verify.complete")
    finally:
        (results / "results.json").write_text(text)
    assert flyloom("report", results).returncode == 0
