"""LIDs of a fabric stay, and what loading tables changes is reported first: counted here anew from
the files, without a fabric."""

from __future__ import annotations

import gzip
import json
import re

import flyloom as fl
import pytest
from cli_helpers import flyloom as run
from deploy_helpers import DATA
from flyloom.deploy.changes import CurrentTables, changes

BLOCK = 64


@pytest.fixture(scope="module")
def fabric(tmp_path_factory):
    """What ibnetdiscover printed of a Slim Fly that OpenSM had given LIDs, and a folder."""
    folder = tmp_path_factory.mktemp("fabric")
    with gzip.open(DATA / "ibnetdiscover_base.txt.gz", "rt") as file:
        (folder / "fabric.txt").write_text(file.read())
    return folder / "fabric.txt"


def lids_in(text):
    """{GUID of a port with a LID: its first LID} of ibnetdiscover's text."""
    of_switches = re.findall(r'^Switch\s+\d+ "S-(\w+)".*port 0 lid (\d+)', text, re.MULTILINE)
    of_ports = re.findall(r'^\[\d+\]\((\w+)\) \t.*# lid (\d+) lmc', text, re.MULTILINE)
    return {int(guid, 16): int(lid) for guid, lid in of_switches + of_ports}


def lids_of(folder):
    """{port GUID: (first LID, last LID)} of a folder's guid2lid."""
    rows = (line.split() for line in (folder / "guid2lid").read_text().splitlines() if line)
    return {int(guid, 16): (int(low, 16), int(high, 16)) for guid, low, high in rows}


def tables_in(folder):
    """{switch GUID: {LID: port}}, {(switch GUID or None, LID): level} and {key: lanes} of a table
    file, and its default level."""
    ports, levels, lanes, default = {}, {}, {}, 0
    for line in (folder / "tables.txt").read_text().splitlines():
        kind, *words = line.partition("#")[0].split() or [""]
        if kind == "lft":
            first = int(words[1])
            row = {first + i: int(p) for i, p in enumerate(words[2:]) if p != "-"}
            ports.setdefault(int(words[0], 16), {}).update(row)
        elif kind == "sl" and words[0] == "default":
            default = int(words[1])
        elif kind == "sl":
            for i, digit in enumerate(words[2]):
                if digit != ".":
                    levels[int(words[0], 16), int(words[1]) + i] = int(digit, 16)
        elif kind == "sl2vl":
            lanes[tuple(words[:3])] = words[3:]
    return ports, levels, lanes, default


def least_moves(lids, terminals, lmc):
    """The fewest ports that must move, block by block of aligned LIDs, by another method than the
    core's: a block keeps its first LID's terminal or all its switches."""
    size, moves = 1 << lmc, 0
    for first in range(0, max(lids.values()) + 1, size):
        here = [guid for guid, lid in lids.items() if first <= lid < first + size]
        hosts = [guid for guid in here if guid in terminals]
        switches = len(here) - len(hosts)
        has = any(lids[guid] == first and first for guid in hosts)
        moves += len(here) - max(int(has), switches, 0)
    return moves


@pytest.mark.parametrize("lmc", [0, 1, 2])
def test_lids_stay_or_as_many_move_as_announced(fabric, tmp_path, lmc):
    lids = lids_in(fabric.read_text())
    assert len(lids) == 250
    terminals = {guid for guid in lids if guid >> 32 == 0x2c903}
    assert len(terminals) == 200
    fewest = least_moves(lids, terminals, lmc)
    assert fewest == (0, 101, 151)[lmc]  # by hand: 1 to 200 but each 2nd, 4th; and one beside 200
    done = run("route", fabric, "--lmc", lmc, "-o", tmp_path / "t", "--json")
    if fewest:
        assert (done.returncode, json.loads(done.stdout)["error"]["kind"]) == (2, "refused")
        assert not (tmp_path / "t").exists()
        said = done.stderr.splitlines()
        assert len(said) == 1 and f"lmc: {fewest} of 250 LIDs would move: " in said[0]
        assert "--new-lids" in said[0] and "LMC 0 keeps all" in said[0]
        done = run("route", fabric, "--lmc", lmc, "-o", tmp_path / "t", "--json", "--new-lids")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["lids"] == {"kept": 250 - fewest, "moved": fewest}
    now = lids_of(tmp_path / "t")
    assert now.keys() == lids.keys()
    assert sum(now[guid][0] != lid for guid, lid in lids.items()) == fewest
    for guid, (low, high) in now.items():
        count = 1 << lmc if guid in terminals else 1
        assert high - low + 1 == count and low % count == 0
    taken = [lid for low, high in now.values() for lid in range(low, high + 1)]
    assert len(taken) == len(set(taken)) and min(taken) > 0
    ports = tables_in(tmp_path / "t")[0]
    assert all(ports[guid][now[guid][0]] == 0 for guid in ports)  # a switch's own LID
    assert run("verify", tmp_path / "t").returncode == 0


def test_a_family_has_no_lids_to_keep(tmp_path):
    done = run("route", "ring:n=4,p=1", "--lmc", 2, "-o", tmp_path / "t", "--json")
    assert done.returncode == 0 and "lids" not in json.loads(done.stdout)
    assert sorted(low for low, _ in lids_of(tmp_path / "t").values()) == [
        4, 8, 12, 16, 20, 21, 22, 23]


def test_from_python_and_in_experiments(fabric, tmp_path):
    network = fl.network(fabric)
    with pytest.raises(fl.RefusalError, match="101 of 250 LIDs would move"):
        fl.route(network, "min_hop", lmc=1)
    with pytest.raises(fl.RefusalError, match="151 of 250 LIDs would move"):
        fl.route(network, "min_hop", layers=3)
    routing = fl.route(network, "min_hop", lmc=1, new_lids=True)
    moved = sum((network.lids[k] != routing.topology.lids[k]).sum() for k in network.lids)
    assert moved == 101
    assert fl.route(network, "min_hop", lmc=1, new_lids=None).topology == network
    # what only measures asks for no LIDs
    assert run("ebb", fabric, "--lmc", 1, "--patterns", 2).returncode == 0
    text = (f'schema = 1\nname = "x"\n[topology]\nfile = "{fabric}"\n'
            '[routing]\nengine = "min_hop"\nlmc = 1\n[ebb]\npatterns = 0\n')
    (tmp_path / "x.toml").write_text(text)
    done = run("run", tmp_path / "x.toml", "-o", tmp_path / "out", "--fresh")
    assert done.returncode == 2 and "101 of 250 LIDs would move" in done.stderr, done.stderr
    (tmp_path / "x.toml").write_text(text.replace("lmc = 1", "lmc = 1\nnew_lids = true"))
    done = run("run", tmp_path / "x.toml", "-o", tmp_path / "out", "--fresh")
    assert done.returncode == 0, done.stderr


def counted(before, after):
    """Entries and blocks that differ, and switches with any, of two table files."""
    entries = blocks = switches = 0
    for guid, new in after.items():
        old = before.get(guid, {})
        odd = {lid for lid in old.keys() | new.keys() if old.get(lid) != new.get(lid)}
        entries += len(odd)
        blocks += len({lid // BLOCK for lid in odd})
        switches += bool(odd)
    return entries, blocks, switches


@pytest.mark.parametrize("lmc", [0, 1])
def test_the_plan_of_changes_is_what_the_files_differ_in(fabric, tmp_path, lmc):
    """A repair, then a routing anew, against the tables before: by our own reading of the files."""
    one, two, other = tmp_path / "one", tmp_path / "two", tmp_path / "other"
    more = ["--lmc", lmc, "--new-lids"]
    assert run("route", fabric, *more, "-o", one).returncode == 0
    assert run("repair", one, "--random", 3, "--seed", 5, "-o", two).returncode == 0
    assert lids_of(one) == lids_of(two)
    assert run("route", fabric, *more, "-e", "up_down", "-o", other).returncode == 0
    flags, text = re.DOTALL | re.MULTILINE, fabric.read_text()
    terminals = [
        (int(guid, 16), int(switch, 16)) for switch, block in
        re.findall(r'^Switch\s+\d+ "S-(\w+)"(.*?)\n\n', text, flags)
        for guid in re.findall(r'^\[\d+\]\t"H-\w+"\[1\]\((\w+)\)', block, re.MULTILINE)
    ]
    assert len(terminals) == 200
    first = {guid: low for guid, (low, _) in lids_of(one).items()}
    for new in (two, other):
        done = run("deploy", new, "--current", one, "--dry-run", "--json")
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        was, now = tables_in(one), tables_in(new)
        assert (found["lft_entries"], found["lft_blocks"], found["changed_switches"]) == counted(
            was[0], now[0])
        assert sum(row["blocks"] for row in found["switches"]) == found["lft_blocks"]
        assert found["lids"] == {"kept": 250, "moved": 0, "new": 0} and found["moved_lids"] == []
        changed = sum(
            was[1].get((switch, lid), was[3]) != now[1].get((switch, lid), now[3])
            for a, switch in terminals for b, _ in terminals if a != b
            for lid in range(first[b], first[b] + (1 << lmc))
        )
        paths = 200 * 199 << lmc
        assert found["path_levels"] == {"all": paths, "changed": changed, "new": 0}
        assert was[2].keys() == now[2].keys() == {("*", "*", "*")}
        links = 3 if new == two else 0
        tables = 50 * 11 * 12 - 2 * links * 22  # a switch with a cable less: 12 * 11 - 11 * 10
        other_lanes = was[2] != now[2]
        if found["sl2vl"]["all"] != tables:  # two of the cables that failed share a switch
            assert links and found["sl2vl"]["all"] > tables
        assert found["sl2vl"]["changed"] == (found["sl2vl"]["all"] if other_lanes else 0)
        assert found["sl2vl"]["new"] == 0


def test_into_an_empty_fabric_everything_is_new(tmp_path):
    routing = fl.route("ring:n=5,p=2", "dfsssp")
    found = changes(routing)
    # by hand: 5 switches with 15 LIDs in one block; 10 * 9 paths; 4 ports, 5 with port 0
    assert (found["lft_entries"], found["lft_blocks"]) == (75, 5)
    assert found["path_levels"] == {"all": 90, "changed": 0, "new": 90}
    assert found["sl2vl"] == {"all": 100, "changed": 0, "new": 100}
    assert found["lids"] == {"kept": 0, "moved": 0, "new": 15} and found["current"] is None
    again = changes(routing, CurrentTables("itself", routing))
    assert (again["lft_entries"], again["lft_blocks"], again["changed_switches"]) == (0, 0, 0)
    assert again["path_levels"]["changed"] == again["path_levels"]["new"] == 0


def test_against_what_the_fabric_says(fabric, tmp_path):
    """Saved dumps of a fabric that OpenSM's dfsssp routed: levels and lanes are compared, too."""
    for name in ("dump_fts.txt", "pathrecords.txt", "sl2vl.dump"):
        with gzip.open(DATA / f"sf_q5_dfsssp.{name}.gz", "rt") as file:
            (tmp_path / name).write_text(file.read())
    assert run("route", fabric, "-o", tmp_path / "t").returncode == 0
    dump = (tmp_path / "dump_fts.txt").read_text()
    before, table = {}, {}
    for line in dump.splitlines():
        if line.startswith("Unicast lids"):
            table = before.setdefault(int(re.search(r"guid 0x(\w+)", line)[1], 16), {})
        elif entry := re.match(r"0x(\w{4}) (\d{3})", line):
            table[int(entry[1], 16)] = int(entry[2])
    lfts = tmp_path / "dump_fts.txt"
    words = ["deploy", tmp_path / "t", "--current", lfts, "--dry-run", "--json"]
    done = run(*words)
    assert done.returncode == 2 and "--found" in done.stderr
    words += ["--found", fabric]
    found = json.loads(run(*words).stdout)
    after, levels, _, default = tables_in(tmp_path / "t")
    assert (found["lft_entries"], found["lft_blocks"], found["changed_switches"]) == counted(
        before, after)
    assert found["path_levels"] is None and found["sl2vl"] is None
    assert "not known" in run(*words[:-4], "--found", fabric, "--dry-run").stdout
    records = [tuple(map(int, line.split()[:3]))
               for line in (tmp_path / "pathrecords.txt").read_text().splitlines()
               if line and not line.startswith("#")]
    done = run(*words, "--path-records", tmp_path / "pathrecords.txt")
    assert done.returncode == 2 and "--sl2vl" in done.stderr
    done = run(*words, "--path-records", tmp_path / "pathrecords.txt",
               "--sl2vl", tmp_path / "sl2vl.dump")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    home = {lid: switch for switch, ports in after.items() for lid in ports
            if ports[lid] in range(1, 5) and lid <= 200}
    switch_of = {}
    for switch, text in re.findall(r'^Switch\s+\d+ "S-(\w+)"(.*?)\n\n', fabric.read_text(),
                                   re.DOTALL | re.MULTILINE):
        for lid in re.findall(r'^\[\d+\]\t"H-.*lid (\d+) ', text, re.MULTILINE):
            switch_of[int(lid)] = int(switch, 16)
    assert home and len(switch_of) == 200
    assert len(records) == 200 * 199
    changed = sum(sl != levels.get((switch_of[a], b), default) for a, b, sl in records)
    assert found["path_levels"] == {"all": 39800, "changed": changed, "new": 0}


def test_a_folder_says_all_and_starts_nothing(tmp_path, monkeypatch):
    assert run("route", "ring:n=4,p=1", "-o", tmp_path / "t").returncode == 0
    for words in (["-e", "dfsssp"], ["--lmc", "1"], ["--layers", "2"], ["--new-lids"],
                  ["-O", "max_lanes=2"], ["-p", "1"]):
        done = run("deploy", tmp_path / "t", *words)
        assert done.returncode == 2 and "has tables already" in done.stderr
        assert len(done.stderr.splitlines()) == 1
    done = run("deploy", tmp_path / "t" / "tables.txt")
    assert done.returncode == 2 and "give its folder" in done.stderr
    done = run("deploy", tmp_path / "t", "--found", "x")
    assert done.returncode == 2 and "--current" in done.stderr
    from flyloom.cli.common import app
    from flyloom.support import process
    from typer.testing import CliRunner

    def never(*_words, **_more):
        raise AssertionError("a program was started")

    import flyloom.cli.fabric  # noqa: F401

    monkeypatch.setattr(process, "spawn", never)
    done = CliRunner().invoke(app, ["deploy", str(tmp_path / "t"), "--dry-run"])
    assert done.exit_code == 0 and "everything is new" in done.output


def test_a_folder_of_other_lids_is_refused(fabric, tmp_path):
    """Such a folder was written when tables did not keep the LIDs."""
    assert run("route", fabric, "-o", tmp_path / "t").returncode == 0
    (tmp_path / "t" / "SHA256SUMS").unlink()
    network = tmp_path / "t" / "network.json"
    text = re.sub(r'"lid": ?(\d+)', lambda m: f'"lid": {int(m[1]) + 300}', network.read_text())
    network.write_text(text)
    done = run("verify", tmp_path / "t")
    assert done.returncode == 2 and "guid2lid: other LIDs" in done.stderr
