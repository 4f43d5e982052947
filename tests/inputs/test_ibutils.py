"""Topology files of ibutils: read with definitions of systems and without, written and read back,
and counted by ibutils itself."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import flyloom as fl
import pytest
from cli_helpers import flyloom

BOARD = "NODE SW 4 DEV4 U1\n   1 -4x-10G-> P1\n   2 -4x-10G-> P2\n   3 -> P3\n   4 -> P4\n"
CHASSIS = f"""
SYSTEM LEAF,LEAF:4x
{BOARD}
SYSTEM LEAF:one
NODE SW 4 DEV4 U1
   1 -> P1
   3 -> P3

SYSTEM SPINE
{BOARD}
TOPSYSTEM BOX,BOX2

SUBSYSTEM LEAF leaf1
   P1 -> L1/P1
   P2 -> L1/P2
   P3 -4x-5G-> spine1 P1
   P4 -> spine2 P1

SUBSYSTEM LEAF leaf2
   P1 -> L2/P1
   P2 -> L2/P2
   P3 -> spine1 P2
   P4 -> spine2 P2

SUBSYSTEM SPINE spine1
   P1 -> leaf1 P3
SUBSYSTEM SPINE spine2
"""
ADAPTER = "TOPSYSTEM CARD\n\nU1=attribute=1\n\nNODE CA 2 MT1 U1\n   1 -> P1\n   2 -> P2\n"
TOPO = """# two boxes, one of them with a spine less
BOX first
   L1/P1 -4x-5G-> CARD h1 P1
   L1/P2 -> CARD h2 P1
   L2/P1 -> CARD h1 P2

BOX second CFG: spine2=R, leaf2=one
   L1/P1 -12x-2.5G-> BOX first L2/P2
   L2/P1 -> CARD h3 P1

CARD h1
   P1 -4x-5G-> BOX first L1/P1
"""


def folder(path: Path, topo: str = TOPO, **definitions: str) -> Path:
    for name, text in definitions.items():
        (path / f"{name}.ibnl").write_text(text)
    (path / "net.topo").write_text(topo)
    return path / "net.topo"


def cables(net: fl.Topology) -> tuple[Counter, Counter]:
    """Links and rails by names and ports, with their rates."""
    links, rails = net.link_table, net.terminal_table
    names, hosts = net.switch_names, net.endpoint_names
    found = Counter(
        frozenset([(names[links["a_switch"][i]], int(links["a_port"][i])),
                   (names[links["b_switch"][i]], int(links["b_port"][i]))])
        for i in range(net.links)
    )
    return found, Counter(
        (hosts[e], names[s], int(p))
        for e, s, p in zip(rails["endpoint"], rails["switch"], rails["port"], strict=True)
    )


def rates(net: fl.Topology) -> list[str]:
    """Speeds and widths in the network's own form."""
    return sorted(re.findall(r'"speed":"\w+"|"width":\d+', net.to_text("json").replace(" ", "")))


def test_boards_and_variants_are_what_their_definitions_say(tmp_path):
    net = fl.network(folder(tmp_path, box=CHASSIS, card=ADAPTER))
    assert net.switch_names == [
        "first/leaf1/U1", "first/leaf2/U1", "first/spine1/U1", "first/spine2/U1",
        "second/leaf1/U1", "second/leaf2/U1", "second/spine1/U1",
    ]
    assert net.endpoint_names == ["h1", "h2", "h3"]
    links, rails = cables(net)
    one = "first/{}/U1".format
    two = "second/{}/U1".format
    assert links == Counter(map(frozenset, [
        [(one("leaf1"), 3), (one("spine1"), 1)], [(one("leaf1"), 4), (one("spine2"), 1)],
        [(one("leaf2"), 3), (one("spine1"), 2)], [(one("leaf2"), 4), (one("spine2"), 2)],
        [(two("leaf1"), 3), (two("spine1"), 1)], [(two("leaf2"), 3), (two("spine1"), 2)],
        [(two("leaf1"), 1), (one("leaf2"), 2)],
    ]))
    assert rails == Counter([
        ("h1", one("leaf1"), 1), ("h1", one("leaf2"), 1), ("h2", one("leaf1"), 2),
        ("h3", two("leaf2"), 1),
    ])


def test_definitions_are_found_beside_the_file_and_where_ibutils_looks(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    path = folder(tmp_path / "a")
    folder(tmp_path / "b", box=CHASSIS, card=ADAPTER)
    done = flyloom("design", path)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert "BOX" in done.stderr and "IBDM_IBNL_PATH" in done.stderr
    monkeypatch.setenv("IBDM_IBNL_PATH", f"{tmp_path / 'none'}:{tmp_path / 'b'}")
    assert fl.network(path).switches == 7
    with pytest.raises(fl.RefusalError, match="leave p out"):
        fl.network(path, 2)
    monkeypatch.delenv("IBDM_IBNL_PATH")
    shutil.copytree(tmp_path / "b", tmp_path / "a" / "ibnl")
    assert fl.network(path).switches == 7


def test_types_without_definition_are_known_by_their_ports(tmp_path):
    topo = "SX6036 s1\n   P1 -> X4 h1 P1\n   P2 -> X4 h2 P1\n   P36 -> SX6036 s2 P36\n\n" \
           "SX6036 s2\n   P1 -> X4 h1 P2\n"
    net = fl.network(folder(tmp_path, topo))
    assert (net.switches, net.endpoints, net.links) == (2, 2, 1)
    assert any("SX6036 as switch, X4 as adapter" in line for line in net.remarks)
    # no cable says a rate: the cables are those of files that say none
    assert set(rates(net)) == set(rates(fl.network("ring:n=3,p=1")))


@pytest.mark.parametrize(("topo", "message"), [
    ("SX a\n   P3 -> Y b P1\n   P4 -> Y c P1\n\nY b\n   P2 -> Y c P2\n",
     "Y, a switch or an adapter"),
    ("SX a\n   L1/P3 -> SX b L2/P1\n", "more than one device"),
    ("SX a\n   P3 -> SX b P1\n   P3 -> SX c P1\n", "line 3: port P3 of a is already in line 2"),
    ("SX a\n   P3 -> SX b P1\n\n   P4 -> SX b P2\n", "line 4: a cable of no system"),
    ("SX a\n   P3 -4y-> SX b P1\n   P4 -> SX b P2\n", "line 2: '4y' is no width"),
    ("SX a\n   P3 -> SX b P1\n   P4 -> SX b\n", "line 3: behind the arrow"),
    ("SX a\n   P3 -> SX b P1\nwhat is this line\n", "line 3: it is neither"),
    ("SX a\n   P3 -> SX b P1\n\nSY a\n", "line 4: a is a SY here, but a SX in line 1"),
    ("HCA a\n   P1 -> HCA b P1\n", "there is no switch"),
    (TOPO.replace("L2/P1 -> CARD h3", "L2/P2 -> CARD h3"), "second, a BOX, has no connector L2/P2"),
    (TOPO.replace("leaf2=one", "leaf2=two"), "there is no SYSTEM LEAF:two for leaf2"),
])
def test_what_is_wrong_is_reported_with_its_line(tmp_path, topo, message):
    definitions = {"box": CHASSIS, "card": ADAPTER} if "BOX" in topo else {}
    with pytest.raises(fl.RefusalError) as refused:
        fl.network(folder(tmp_path, topo, **definitions))
    assert message in str(refused.value) and "\n" not in str(refused.value)


def test_faults_of_definitions_name_their_file(tmp_path):
    within = CHASSIS.replace(BOARD, BOARD + "SUBSYSTEM LEAF again\n", 1)
    for text, message in [
        (CHASSIS.replace("4 -> P4", "5 -> P4"), "box.ibnl: leaf1/U1 has no port 5"),
        (CHASSIS.replace("NODE SW 4", "NODE SW 400"), "box.ibnl: line 3"),
        (CHASSIS.replace("1 -4x-10G-> P1", "1 => P1"), "box.ibnl: line 4"),
        (within, "box.ibnl: boards within boards"),
    ]:
        with pytest.raises(fl.RefusalError, match=re.escape(message)):
            fl.network(folder(tmp_path, box=text, card=ADAPTER))


NETS = [
    "fat_tree:levels=3,k=4", "dragonfly:h=2", "multi_plane:planes=2,of=ring:n=3,p=2",
    "torus:shape=2x3,p=1", "slim_fly:q=5,p=4",
]


@pytest.mark.parametrize("net", NETS)
def test_what_is_written_reads_back(tmp_path, net):
    ours = fl.network(net)
    for speeds in ("known", "all"):
        done = fl.export(net, "ibutils-topo", tmp_path / "net.topo", speeds=speeds)
        assert sorted(done["beside"]) == sorted(p.name for p in tmp_path.glob("*.ibnl"))
        back = fl.network(tmp_path / "net.topo")
        assert back.switch_names == ours.switch_names
        assert back.endpoint_names == ours.endpoint_names
        assert cables(back) == cables(ours)
        assert set(rates(back)) == {'"speed":"QDR"', '"width":4'} or speeds == "all"
    assert rates(back) == rates(ours)


def test_what_has_failed_is_not_written_and_names_are_those_of_the_format(tmp_path):
    ring = fl.network("ring:n=4,p=1").with_failures([0], [2])
    text = fl.export(ring, "ibutils-topo")["text"]
    assert "ring-2" not in text and text.count("->") == 3 + 1
    done = flyloom("export", "ring:n=3,p=1", "--to", "ibutils-topo", "-O", "speeds=none")
    assert done.returncode == 2 and "speeds" in done.stderr


@pytest.mark.skipif(shutil.which("ibdmchk") is None, reason="ibutils is not installed")
@pytest.mark.parametrize("net", NETS)
def test_ibutils_reads_as_many_systems_and_cables(tmp_path, net):
    fl.export(net, "ibutils-topo", tmp_path / "net.topo")
    ours = fl.network(net)
    said = counted(tmp_path / "net.topo", tmp_path)
    devices = ours.switches + ours.endpoints
    assert f"Defined {devices}/{devices} systems/nodes" in said
    assert "Ignoring" not in said and "Fail to make" not in said


@pytest.mark.skipif(shutil.which("ibdmchk") is None, reason="ibutils is not installed")
def test_files_of_ibutils_have_as_many_devices_as_it_says():
    shipped = sorted(Path("/usr/lib").glob("*/ibdm*/ibnl/*.topo"))
    if not shipped:
        pytest.skip("ibutils came without examples")
    for path in shipped:
        found = re.search(r"Defined (\d+)/(\d+) systems/nodes", counted(path, path.parent))
        net = fl.network(path)
        assert found and net.switches + net.endpoints == int(found[2]), path


def counted(path: Path, definitions: Path) -> str:
    """What ibutils says as it reads a topology."""
    done = subprocess.run(
        ["ibdmchk", "-t", path, "-n", "none/U1", "-p", "1"], capture_output=True, text=True,
        errors="replace", timeout=60, cwd=definitions,
        env={**os.environ, "IBDM_IBNL_PATH": str(definitions)},
    )
    return done.stdout + done.stderr


def test_a_cable_of_a_switch_to_itself_is_left_out_and_said(tmp_path):
    (tmp_path / "loop.topo").write_text(
        "SX36 left\n P1 -4x-10G-> SX36 left P2\n P3 -4x-10G-> CX4 h1 P1\n"
    )
    done = flyloom("design", "loop.topo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "note: loop.topo: 1 cable of a switch to itself left out" in done.stderr
