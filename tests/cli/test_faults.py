"""Disks that fail, commands that are killed while they write, streams that are closed or full."""

from __future__ import annotations

import errno
import json
import os
import random
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from campaign import count
from cli_helpers import command, environment, flyloom
from cli_server import Server
from flyloom import RefusalError
from flyloom.cli import GROUPS
from flyloom.inputs import tables
from flyloom.lab import store
from flyloom.lab.kept import kept
from flyloom.support import files
from times_kept import TIMES

pytest.importorskip("altair")

NETS = "torus:shape=3x3,p=1", "slim_fly:q=3,p=1"
"""The networks of the old file and of the new one."""
EXPERIMENT = """\
schema = 1
name = "x"
label = "{label}"
topology = {{ family = "mesh", shape = [{size}], p = 1 }}
routing = {{ engine = "sssp" }}
ebb = {{ samples = 4 }}
"""


def words(verb: str, new: bool) -> list[str]:
    """The command that writes the folder ``out``."""
    if verb == "run":
        return ["run", "new.toml" if new else "old.toml"]
    return [verb, NETS[new], "-o", "out"]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder; kept points that are whole are left out, for they may come."""
    found = {}
    for path in folder.rglob("*") if folder.exists() else ():
        if path.is_file():
            assert path.parent.name != "points" or isinstance(kept(path), dict), path
            if path.parent.name != "points":
                found[str(path.relative_to(folder))] = path.read_bytes()
    return found


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(environment(), tmp_path_factory.mktemp("server")) as started:
        yield started


@pytest.fixture(scope="module")
def prepared(tmp_path_factory, server):
    """Folders with an old writing for each verb, and how many changes the new one takes, without
    it and over it."""
    base = tmp_path_factory.mktemp("faults")
    counts = {}
    for verb in ("route", "cables", "run"):
        folder = base / verb
        folder.mkdir()
        for i, name in enumerate(("old", "new")):
            (folder / f"{name}.toml").write_text(EXPERIMENT.format(label=name, size=i + 3))
        for older in (False, True):
            trial = shutil.copytree(folder, base / f"{verb}-count-{older}")
            made = server.run(*words(verb, True), cwd=trial)
            assert made["code"] == 0, made
            counts[verb, older] = made["count"]
            if not older:
                assert server.run(*words(verb, False), cwd=folder)["code"] == 0
                if verb == "route":
                    assert flyloom("verify", "out", "--certificate", cwd=folder).returncode == 0
                (folder / "out" / "mine.txt").write_text("mine")
    return base, counts


def moments(counts: dict, verbs: tuple[str, ...], seed: str, trials: int) -> list:
    """Seeded (verb, over an older writing, k), or all of them."""
    every = [(verb, older, k) for (verb, older), n in counts.items() if verb in verbs
             for k in range(1, n + 1)]
    chance = random.Random(seed)
    return every if trials >= len(every) else chance.sample(every, trials)


def scene(prepared: Path, tmp_path: Path, verb: str, older: bool) -> Path:
    """A folder to work in; an older writing is in it, or nothing."""
    place = tmp_path / "scene"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(prepared / verb, place)
    if not older:
        shutil.rmtree(place / "out")
    return place


@pytest.mark.campaign
def test_the_kth_write_rename_or_sync_fails(prepared, server, tmp_path):
    """The command ends with 3 and a line that names the file; the older files stay whole."""
    base, counts = prepared
    chance = random.Random("errors")
    for verb, older, k in moments(counts, ("route", "cables", "run"), "kth", count(40, 10**9)):
        error = chance.choice((errno.ENOSPC, errno.EIO))
        place = scene(base, tmp_path, verb, older)
        before = contents(place)
        said = server.run(*words(verb, True), cwd=place, k=k, error=error)
        about = (verb, older, k, said)
        assert said["code"] == 3 and said["count"] >= k, about
        why = f"cannot be written: {os.strerror(error)}"
        assert re.fullmatch(rf"flyloom: out\S*: {why}\n", said["err"]), about
        assert contents(place) == before, about
        if not older and verb != "run":
            assert not (place / "out").exists(), about


@pytest.mark.campaign
def test_a_killed_command_leaves_one_writing_or_one_that_is_refused(prepared, server, tmp_path):
    """Killed in place of the k-th change; what a reader takes is all old or all new."""
    base, counts = prepared
    taken = {"old": 0, "new": 0, "refused": 0}
    place = scene(base, tmp_path, "route", True)
    old = contents(place / "out")
    assert server.run(*words("route", True), cwd=place)["code"] == 0
    new = contents(place / "out")
    assert "certificate.txt" in old and "certificate.txt" not in new and new["mine.txt"] == b"mine"
    for _, older, k in moments(counts, ("route",), "killed", count(40, 10**9)):
        place = scene(base, tmp_path, "route", older)
        said = server.run(*words("route", True), cwd=place, k=k, error=0)
        assert said["code"] == -signal.SIGKILL
        left = {name: text for name, text in contents(place / "out").items()
                if not name.endswith(".part")}
        try:
            tables.read_folder(place / "out")
        except RefusalError as error:
            assert not older or "was not finished" in str(error)
            taken["refused"] += 1
            continue
        if not older:
            left["mine.txt"] = b"mine"
        taken["old" if left == old else "new"] += 1
        assert left in (old, new), (older, k)
    assert all(taken.values()), taken
    assert server.run(*words("route", True), cwd=place)["code"] == 0
    assert not list(place.rglob("*.part")), "the next writing tidies up"


def test_a_killed_run_has_no_manifest_or_all_its_files(prepared, server, tmp_path):
    base, counts = prepared
    for _, _, k in moments({("run", True): counts["run", True]}, ("run",), "run", 6):
        place = scene(base, tmp_path, "run", True)
        assert server.run(*words("run", True), cwd=place, k=k, error=0)["code"] == -signal.SIGKILL
        manifest = place / "out" / "x" / "manifest.json"
        if manifest.exists():
            recorded = store.recorded(manifest.parent)
            assert recorded.items() <= {
                name: files.digest_of(manifest.parent / name) for name in recorded}.items()
            assert len(recorded) == 5

def test_what_a_run_no_longer_has_goes_and_what_is_foreign_stays(prepared, tmp_path):
    place = scene(prepared[0], tmp_path, "run", True) / "out"
    (place / "x" / "cables-mine.csv").write_text("mine")
    assert (place / "x" / "cables-old.csv").exists()
    assert flyloom("run", "new.toml", cwd=place.parent).returncode == 0
    lists = {path.name for path in (place / "x").glob("cables-*.csv")}
    assert lists == {"cables-new.csv", "cables-mine.csv"}


@pytest.fixture
def tiny(tmp_path):
    """A disk of 32 KiB."""
    place = tmp_path / "tiny"
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32k", "none", place],
                          capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no small disk can be mounted: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", place], check=True)


def test_a_full_disk_is_3_and_nothing_is_left(tiny, tmp_path):
    (tmp_path / "x.toml").write_text(EXPERIMENT.format(label="x", size=3))
    for asked in (["route", "slim_fly:q=5,p=4", "-o", tiny / "t"],
                  ["cables", NETS[0], "-o", tiny / "c"],
                  ["run", tmp_path / "x.toml", "--out", tiny],
                  ["plan", "slim_fly:q=5,p=4", "-o", tiny],
                  ["design", "slim_fly:q=9", "-o", tiny / "x.json"]):
        done = flyloom(*asked)
        assert done.returncode == 3, done
        assert re.fullmatch(rf"flyloom: {tiny}\S*: cannot be written: No space left on device\n",
                            done.stderr), done
        assert contents(tiny) == {}, asked
        shutil.rmtree(tiny / "x", ignore_errors=True)  # kept points
        assert not list(tiny.iterdir()), asked


def test_places_that_cannot_be_written_are_refused(tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder" / "tables.txt").mkdir(parents=True)
    os.mkfifo(tmp_path / "pipe")
    net = NETS[0]
    for asked, said in (
        (["route", net, "-o", "file"], "file: cannot be written: .*"),
        (["route", net, "-o", "file/x"], "file/x: cannot be written: .*"),
        (["route", net, "-o", "folder"],
         "folder: cannot be written: folder/tables.txt: Is a directory"),
        (["route", net, "-o", "x" * 300], "x{300}: cannot be written: File name too long"),
        (["design", net, "-o", "no/such.json"], "no/such.json: cannot be written: No such file.*"),
        (["search", "-n", "6", "-d", "3", "-o", "pipe"], "pipe: .*is no regular file"),
        (["search", "-n", "6", "-d", "3", "-o", "/dev/full"], "/dev/full: .*is no regular file"),
        (["run", "x.toml", "--out", "file"], "file.*: cannot be written: .*"),
    ):
        (tmp_path / "x.toml").write_text(EXPERIMENT.format(label="x", size=3))
        done = flyloom(*asked, cwd=tmp_path)
        assert done.returncode == 2, done
        assert re.fullmatch(f"flyloom: {said}\n", done.stderr), done
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"file", "folder", "pipe", "x.toml"}
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["tables.txt"]


NET = "torus:shape=3x3,p=1"
GRAPH = "stencil:shape=3x3,bytes=1"
SHORT = {
    "design": [NET], "structure": [NET], "resilience": [NET, "--samples", "2"],
    "size": ["--endpoints", "20", "--radix", "8"], "scale": ["--radix", "8"],
    "compare": [NET], "choose": ["-n", "20", "--radix", "8"], "identify": [NET],
    "search": ["-n", "6", "-d", "3", "--method", "anneal", "--steps", "10"], "published": ["cost"],
    "plan": [NET], "cables": [NET, "-o", "cables"], "route": [NET], "verify": [NET],
    "ebb": [NET, "--samples", "2"], "lanes": [NET], "repair": [NET, "--random", "1"],
    "throughput": [NET, "-e", "sssp"], "figure": ["path_lengths", "-n", NET], "deploy": [NET],
    "observe": [NET, "counters.txt"],
    "verify-cables": ["{net}", "{net}"], "run": ["x.toml"], "report": ["out/x"], "list": [],
    "schema": [], "doctor": [], "cite": ["dfsssp"], "cost": [NET], "catalog": ["list"],
    "compare-routing": [NET, "--engines", "sssp", "--samples", "2"], "congestion": [NET],
    "export": [NET, "--to", "graphml"], "opensm-plugin": ["-o", "plug-in"], "example": [],
    "help": [], "sim": ["flit", NET, "--load", "0.1", "--set", "run.measure_cycles=100"],
    "workload": ["list"], "map": [NET, "--graph", GRAPH], "record": ["--library", "--", "mpirun"],
    "map-eval": [NET, "--graph", GRAPH, "--mapping", "order"],
    "reorder": ["--library", "--", "mpirun"], "measure": ["--times", "times.json"],
}
"""The quickest use of every command."""


@pytest.mark.campaign
def test_streams_that_are_closed_or_full_are_said_in_one_line(server, tmp_path):
    assert set(SHORT) == {name for names in GROUPS.values() for name in names}
    (tmp_path / "x.toml").write_text(EXPERIMENT.format(label="x", size=3))
    (tmp_path / "order").write_text("".join(f"{endpoint}\n" for endpoint in range(9)))
    (tmp_path / "times.json").write_text(json.dumps(TIMES))
    (tmp_path / "counters.txt").write_text("# Port counters: Lid 1 port 1\nPortXmitData:..1\n")
    assert server.run("design", NET, "-o", "n.json", cwd=tmp_path)["code"] == 0
    assert server.run("run", "x.toml", cwd=tmp_path)["code"] == 0
    for verb, more in SHORT.items():
        if verb in ("record", "reorder") and shutil.which("mpicc") is None:
            continue
        asked = [verb, *(word.format(net="n.json") for word in more)]
        full = server.run(*asked, cwd=tmp_path, stdout="full")
        said = [line for line in full["err"].splitlines() if not line.startswith("note: ")]
        if verb == "deploy":
            said = said[-1:]  # what it does is reported before
        assert full["code"] == 3 and len(said) == 1, (asked, full)
        if verb != "deploy" or "apt-get" not in said[0]:
            assert said == ["flyloom: standard output: No space left on device"], (asked, full)
        shut = server.run(*asked, cwd=tmp_path, stdout="closed")
        assert shut["code"] == 3 and len(shut["err"].splitlines()) == 1, (asked, shut)
        assert "standard output: closed" in shut["err"]
        if verb in ("list", "route", "cables", "schema") or (count(0, 1) and verb != "deploy"):
            mute = server.run(*asked, cwd=tmp_path, stderr="closed")
            assert mute["code"] in (0, 1) and mute["out"], (asked, mute)
        bad = server.run(verb, "--nonsense", cwd=tmp_path, stderr="full")
        assert bad["code"] in (2, 3) and bad["out"] == bad["err"] == "", (verb, bad)


@pytest.mark.parametrize(("shut", "code"), [(">&-", 3), (">/dev/full", 3), ("2>&-", 0),
                                            ("<&-", 0), ("<&- >&- 2>&-", 3)])
def test_streams_shut_by_the_shell(shut, code):
    line = " ".join(command("list", "topologies")) + " " + shut
    done = subprocess.run(["bash", "-c", line], env=environment(), text=True, capture_output=True)
    assert done.returncode == code
    assert len(done.stderr.splitlines()) == (code == 3 and "2>" not in shut), done
    refused = subprocess.run(
        ["bash", "-c", " ".join(command("list", "cats")) + " 2>&-"], env=environment(), text=True,
        capture_output=True)
    assert (refused.returncode, refused.stdout) == (2, ""), "not on standard output"


def test_a_reader_that_goes_is_no_fault_of_the_network():
    """Not 1, which means that a check found a fault."""
    line = "set -o pipefail; " + " ".join(command("route", "slim_fly:q=9", "--json")) + " | true"
    done = subprocess.run(["bash", "-c", line], env=environment(), text=True, capture_output=True)
    assert (done.returncode, done.stderr) in ((3, ""), (0, ""))
