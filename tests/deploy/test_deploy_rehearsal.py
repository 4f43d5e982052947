"""Fabrics whose addresses ibsim makes itself; faults of the rehearsal are none of the routes."""

import dataclasses
import os
import shutil

import flyloom as fl
import pytest
from cli_helpers import flyloom
from deploy_helpers import needs_fabric
from flyloom.deploy import DeployError, readback, rehearsed
from flyloom.deploy.fabric import deploy, opensm_engine
from flyloom.deploy.live import Live
from flyloom.deploy.snapshot import FabricSnapshot

LEAF = {0x2000000000000010: 1, 0x2000000000000020: 2}
"""LIDs of two switches by GUID."""


def discovery(hosts, speed="4xHDR"):
    """ibnetdiscover's text of two switches with two cables between them and these hosts: node GUID,
    first LID, and (port, port GUID, switch number) of each cabled port."""
    a, b = LEAF
    ports = {s: {20: (t, 20), 21: (t, 21)} for s, t in ((a, b), (b, a))}
    lines = {s: [f'[{p}]\t"S-{t:016x}"[{q}]\t\t# "leaf{LEAF[t]}" lid {LEAF[t]} {speed}'
                 for p, (t, q) in ports[s].items()] for s in LEAF}
    cas = []
    for number, (guid, lid, cabled) in enumerate(hosts):
        most = max(port for port, *_ in cabled)
        cas.append(f'\nvendid=0x2c9\ndevid=0x101b\nsysimgguid=0x{guid:x}\ncaguid=0x{guid:x}\n'
                   f'Ca\t{most} "H-{guid:016x}"\t\t# "node{number} HCA-1"')
        for i, (port, port_guid, at) in enumerate(cabled):
            s, plug = (a, b)[at], 2 * number + i + 1
            lines[s].append(f'[{plug}]\t"H-{guid:016x}"[{port}]({port_guid:x}) \t\t'
                            f'# "node{number} HCA-1" lid {lid + i} {speed}')
            cas.append(f'[{port}]({port_guid:x}) \t"S-{s:016x}"[{plug}]\t\t# lid {lid + i} lmc 0 '
                       f'"leaf{LEAF[s]}" lid {LEAF[s]} {speed}')
    switches = [f'vendid=0x2c9\ndevid=0xd2f0\nsysimgguid=0x{s:x}\nswitchguid=0x{s:x}({s:x})\n'
                f'Switch\t24 "S-{s:016x}"\t\t# "leaf{LEAF[s]}" base port 0 lid {LEAF[s]} lmc 0\n'
                + "\n".join(lines[s]) + "\n" for s in LEAF]
    return "\n".join([*switches, *cas, ""])


def one_port(guids, port=1, beside=0):
    """Hosts with one cable, by turns at both switches; port GUIDs are ``beside`` those of nodes."""
    return [(g, 11 + i, [(port, g + beside, i % 2)]) for i, g in enumerate(guids)]


SWITCH = min(LEAF)
FABRICS = {
    "port GUID is node GUID": one_port([0x1000 * (i + 1) for i in range(4)]),
    "functions of a card, one after the other": one_port([0x1000 + i for i in range(4)]),
    "port GUIDs far from node GUIDs": one_port([0x1000 * (i + 1) for i in range(4)], beside=0x777),
    "two ports, node GUIDs one apart": [
        (0x1000 + i, 11 + 2 * i, [(1, 0x9000 + 2 * i, 0), (2, 0x9001 + 2 * i, 1)]) for i in range(3)
    ],
    "the next GUID is a switch's": one_port([SWITCH - 1, 0x1000], beside=0),
    "second port only": one_port([0x1000 * (i + 1) for i in range(4)], port=2, beside=2),
    "the first host has its second port only": [
        (0x1000, 11, [(2, 0x1002, 0)]), (0x2000, 12, [(1, 0x2001, 1), (2, 0x2002, 0)]),
        (0x3000, 14, [(1, 0x3001, 1)]),
    ],
}


@pytest.fixture(params=FABRICS.values(), ids=FABRICS.keys())
def hosts(request):
    return request.param


@needs_fabric
def test_fabrics_of_any_guids_are_rehearsed(hosts, tmp_path):
    """All that is read back is what was sent: every pair of terminals, both directions."""
    path = tmp_path / "found.txt"
    path.write_text(discovery(hosts))
    terminals = sum(len(cabled) for _, _, cabled in hosts)
    found = deploy(fl.route(path, "dfsssp"))
    assert found.verified and found.deadlock_free
    assert (found.differing_entries, found.differing_sl_entries) == (0, 0)
    assert found.differing_sl2vl_entries == 0
    assert found.entries == 2 * (terminals + 2)  # two switches, each a LID of every terminal
    assert found.sl_entries == terminals * (terminals - 1)
    assert fl.verify(fl.route(path, "opensm:minhop")).holds


@needs_fabric
def test_faults_pulled_on_purpose_are_found_by_the_ports_of_the_plan(tmp_path):
    path = tmp_path / "found.txt"
    path.write_text(discovery(FABRICS["two ports, node GUIDs one apart"]))
    topology = fl.network(path)
    with Live(topology) as live:
        live.load(fl.route(topology, "dfsssp"))
        live.ibsim.unlink(live.endpoint_id(1), 2)
        live.settle()
        found = live.as_found()
        with pytest.raises(DeployError, match=r"the cable at port 4 of switch"):
            live.read(whole=True)
    up = found.terminal_table["up"].tolist()
    assert up == [True, True, True, False, True, True]
    assert found.addresses()["port_guid"] == topology.addresses()["port_guid"]


# ---- speeds ----


@needs_fabric
def test_tables_are_written_for_any_speed(tmp_path):
    """NDR stands as HDR in the netlist, and there alone."""
    (tmp_path / "ndr.txt").write_text(discovery(FABRICS["port GUID is node GUID"], "4xNDR"))
    said = "HDR stands for cables of speeds that ibsim 0.10 does not know: 6 NDR"
    for words in (
        ("design", "ndr.txt", "-o", "x.net"), ("route", "ndr.txt", "-o", "tables"),
        ("lanes", "ndr.txt", "--lanes", "online", "-o", "relaned"),
        ("repair", "tables", "--link", "leaf1:20", "-o", "repaired"),
        ("deploy", "tables"),
    ):
        done = flyloom(*words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        count = 5 if words[0] == "repair" else 6
        assert said.replace("6", str(count)) in done.stderr
        assert words[0] != "deploy" or "identical, deadlock-free" in done.stdout
    for folder in ("tables", "relaned", "repaired"):
        netlist = (tmp_path / folder / "fabric.net").read_text()
        assert netlist.splitlines()[1].startswith("# HDR stands for") and "4xNDR" not in netlist
        kept = fl.network(tmp_path / folder)
        assert '"NDR"' in kept.to_text("json")
    assert flyloom("design", "x.net", cwd=tmp_path).returncode == 0
    assert flyloom("design", "slim_fly:q=3", "-o", "y.net", cwd=tmp_path).stderr == ""


# ---- faults of the rehearsal ----


def in_place_of(program, folder, script):
    """A program of the PATH that does ``script`` with the real one as $REAL."""
    real = shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin")
    place = folder / "bin" / program
    place.parent.mkdir(exist_ok=True)
    place.write_text(f"#!/bin/bash\nREAL={real}\n{script}\n")
    place.chmod(0o755)
    return {"PATH": f"{place.parent}:{os.environ['PATH']}"}


WITHOUT_A_HOST = r"""
file="${@: -1}"
sed -i -e '/^caguid=0x3000$/,/^$/d' -e '/"H-0000000000003000"/d' "$file"
exec $REAL "$@"
"""
WITHOUT_A_TABLE = r"""
$REAL "$@" | sed '/ guid 0x2000000000000020 /,/lids dumped/d'
"""
CUT_TABLE = r"""
$REAL "$@" | sed '/ guid 0x2000000000000020 /,$ {/^0x0001/,$d}'
"""


@needs_fabric
@pytest.mark.parametrize(("program", "script", "named"), [
    ("ibsim", WITHOUT_A_HOST, "endpoint node2 HCA-1 did not answer"),
    ("dump_fts", WITHOUT_A_TABLE, "switch leaf2 gave no forwarding table"),
    ("dump_fts", CUT_TABLE, "switches leaf2 and leaf1 gave no forwarding table"),
])
@pytest.mark.parametrize("words", [("deploy",), ("verify", "--engine", "opensm:minhop")])
def test_a_fault_of_the_rehearsal_is_none_of_the_routes(
    program, script, named, words, tmp_path, monkeypatch
):
    path = tmp_path / "found.txt"
    path.write_text(discovery(one_port([0x1000, 0x2000, 0x3000, 0x4000])))
    for name, value in in_place_of(program, tmp_path, script).items():
        monkeypatch.setenv(name, value)
    done = flyloom(words[0], path, *words[1:])
    assert done.returncode == 3, done.stdout
    assert named in done.stderr and "nothing is known of the routes" in done.stderr
    assert "deadlock" not in done.stdout


@pytest.fixture(scope="module")
def routed():
    topology = fl.network("complete:n=3,p=1")
    return topology, fl.route(topology, "sssp")


def test_a_path_record_is_missing_for_a_reason(routed):
    """If the route arrives the subnet administration is at fault; else the tables are."""
    topology, routing = routed
    found = FabricSnapshot(topology, routing.lft_text(), "1 2 0\n", None, 5)
    with pytest.raises(DeployError, match="no path record of 5 paths, whose routes arrive"):
        rehearsed.routed(found, 0)
    lines = found.lfts.splitlines()
    cut = next(i for i, line in enumerate(lines) if line.startswith("0x0002"))
    lines[cut] = "0x0002 255"
    broken = dataclasses.replace(found, lfts="\n".join(lines) + "\n")
    proof = fl.verify(rehearsed.routed(broken, 0))
    assert not proof.complete.holds


def test_other_lids_than_planned_are_no_difference_of_tables():
    text = discovery(FABRICS["port GUID is node GUID"])
    planned = readback.parse_discover(text)
    rehearsed.check_lids(planned, planned)
    for was, now, named in (
        ("# lid 12 lmc", "# lid 15 lmc", "endpoint node1 HCA-1 has LID 15, not 12"),
        ("port 0 lid 2 lmc", "port 0 lid 40 lmc", "switch leaf2 has LID 40, not 2"),
    ):
        with pytest.raises(DeployError, match=named):
            rehearsed.check_lids(planned, readback.parse_discover(text.replace(was, now)))


def test_what_opensm_did_not_hear_is_a_fault_of_the_rehearsal(tmp_path):
    from flyloom.deploy import OpenSM

    line = ("Nov 27 00:00:00 000001 [1] 0x01 -> log_send_error: ERR 5411: DR SMP Send completed"
            " with error (IB_TIMEOUT) -- dropping")
    opensm = OpenSM.__new__(OpenSM)
    opensm.dir = tmp_path
    (tmp_path / "opensm.log").write_text("SUBNET UP\n")
    assert opensm.unheard() is None
    (tmp_path / "opensm.log").write_text(f"a\n{line}\nSUBNET UP\n")
    with pytest.raises(DeployError, match="ERR 5411"):
        rehearsed.check_heard(opensm.unheard())


# ---- tables as every program dumps them ----


@needs_fabric
def test_every_dump_of_a_fabric_is_read_alike(tmp_path):
    """OpenSM's two dumps and those of infiniband-diags: the file that ``dump_fts`` prints is the
    measure, which the readers of other tests check."""
    path = tmp_path / "found.txt"
    path.write_text(discovery(FABRICS["two ports, node GUIDs one apart"]))
    topology = fl.network(path)
    with opensm_engine(topology, "minhop") as live:
        (tmp_path / "found.txt").write_text(live.discover())
        dumps = {
            "dump_fts": readback.dump_fts(live.ibsim), "fdbs": live.manager.fdbs,
            "lfts": live.manager.lfts,
            **{" ".join(words): live.ibsim.run([*words]) for words in (
                ["dump_fts"], ["dump_fts", "-a"], ["/usr/sbin/dump_lfts"],
            ) if shutil.which(words[0], path="/usr/sbin:/usr/bin:/usr/local/sbin")},
        }
    assert len(dumps) >= 4
    found = fl.network(tmp_path / "found.txt")
    first = found.import_tables(dumps["dump_fts"], "dump_fts").next.tolist()
    for name, text in dumps.items():
        assert found.import_tables(text, name).next.tolist() == first, name
    (tmp_path / "opensm.fdbs").write_text(dumps["fdbs"])
    done = flyloom("verify", "opensm.fdbs", "--found", "found.txt", cwd=tmp_path)
    assert done.returncode == 0 and "every route arrives    yes" in done.stdout
    done = flyloom("design", "opensm.fdbs", cwd=tmp_path)
    assert done.returncode == 2 and "a forwarding table says how" in done.stderr


@needs_fabric
def test_the_file_engine_of_opensm_loads_our_tables(tmp_path):
    """Tables of one lane, for an OpenSM without the plug-in."""
    topology = fl.network("fat_tree:levels=2,k=4")
    routing = fl.route(topology, "up_down")
    assert fl.verify(routing).deadlock.holds and routing.lanes == 1
    path = tmp_path / "lfts.txt"
    path.write_text(routing.lft_text())
    with Live(topology, engine="file", extra_conf={"lfts_file": str(path)}) as live:
        found = readback.parse_fts(readback.dump_fts(live.ibsim))
    assert found == readback.parse_fts(routing.lft_text())
