"""Exported files in the programs that they are for: Slurm, SimGrid, OpenSM and ibsim."""

from __future__ import annotations

import getpass
import json
import os
import re
import shutil
import socket
import subprocess
import time
from pathlib import Path

import export_readers as readers
import flyloom as fl
import networkx as nx
import pytest
from checkout import PROGRAMS
from deploy_helpers import needs_fabric
from patience import HANG_S

SLURM = [name for name in ("slurmctld", "scontrol") if not shutil.which(name)]
AUTH_NONE = list(Path("/usr/lib").glob("*/slurm*/auth_none.so"))
needs_slurm = pytest.mark.skipif(
    bool(SLURM) or not AUTH_NONE, reason=f"not here: {' '.join(SLURM) or 'auth_none of Slurm'}"
)
SIMGRID = Path("/usr/include/simgrid/engine.h")
needs_simgrid = pytest.mark.skipif(
    not (SIMGRID.exists() and shutil.which("cc")), reason="not here: libsimgrid-dev, or a compiler"
)

CONF = """ClusterName=test
SlurmctldHost=localhost
AuthType=auth/none
CredType=cred/none
SlurmUser={user}
SlurmctldPort={port}
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
MpiDefault=none
ProctrackType=proctrack/pgid
SwitchType=switch/none
TaskPlugin=task/none
SelectType=select/cons_tres
TopologyPlugin=topology/tree
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
NodeName={nodes} NodeAddr=127.0.0.1 CPUs=1
PartitionName=all Nodes=ALL Default=YES State=UP
"""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def as_slurm_has_it(topology: str, nodes: str, folder: Path) -> list[dict[str, str]]:
    """The switches that slurmctld has found in a topology.conf, as scontrol shows them."""
    (folder / "state").mkdir()
    (folder / "topology.conf").write_text(topology)
    (folder / "slurm.conf").write_text(CONF.format(
        user=getpass.getuser(), port=free_port(), folder=folder, nodes=nodes))
    env = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
    with open(folder / "log", "wb") as log:
        words = ["slurmctld", "-D", "-c", "-f", env["SLURM_CONF"]]
        child = subprocess.Popen(words, env=env, stdout=log, stderr=log)
    try:
        until = time.monotonic() + HANG_S
        while time.monotonic() < until:
            assert child.poll() is None, (folder / "log").read_text()
            shown = subprocess.run(["scontrol", "show", "topology"], env=env, text=True,
                                   capture_output=True, timeout=HANG_S)
            if shown.returncode == 0 and shown.stdout:
                log = (folder / "log").read_text()
                assert not re.search(r"(?i)switch.*(error|warning)|topo.*(error|warning)", log)
                return readers.slurm_lines(shown.stdout)
            time.sleep(0.1)
        raise AssertionError("slurmctld does not answer")
    finally:
        child.terminate()
        try:
            child.wait(20)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


@needs_slurm
@pytest.mark.parametrize(("inline", "switches"), [
    ("fat_tree:levels=3,k=4", "all"), ("fat_tree:levels=3,k=4", "distinct"),
    ("fat_tree:leaves=4,spines=2,parallel=3,p=5", "all"), ("slim_fly:q=5,p=4", "leaves"),
])
def test_slurm_reads_the_tree_of_the_network(inline, switches, tmp_path):
    topology = fl.network(inline)
    text = fl.export(topology, "slurm-tree", switches=switches).text
    given = {line["SwitchName"]: line for line in readers.slurm_lines(text)}
    nodes = f"host-[0000-{topology.endpoints - 1:04d}]"
    found = {line["SwitchName"]: line for line in as_slurm_has_it(text, nodes, tmp_path)}
    assert set(found) == set(given)
    if switches == "leaves":
        graph = readers.named(topology)
        reached = {s: {n for n in graph[s] if n.startswith("host-")} for s in topology.switch_names}
        level = dict.fromkeys(topology.switch_names, 0)
        reached["top"], level["top"] = set(topology.endpoint_names), 1
    else:
        children, reached = readers.reach(topology)
        level = dict(zip(topology.switch_names, topology.levels.tolist(), strict=True))
    for name, line in found.items():
        assert set(readers.expanded(line["Nodes"])) == reached[name]
        assert int(line["Level"]) == level[name]
        if switches == "all" and level[name]:
            assert set(readers.expanded(line["Switches"])) == children[name]


@needs_slurm
def test_slurm_has_nodes_of_upper_switches_below_all_tops(tmp_path):
    """A node on a spine and one on a core: a switch has nodes or switches, and every node that is
    connected to others must be below one switch with them."""
    path = tmp_path / "tree.json"
    tree = json.loads(fl.network("fat_tree:levels=3,k=4").to_text("json"))
    spine, core = (next(n for n, s in enumerate(tree["switches"]) if s.get("level") == level)
                   for level in (1, 2))
    for switch in tree["switches"]:
        switch["ports"] = 5
    more = [("more1", spine), ("more2", core)]
    tree["endpoints"] += [{"name": name, "rails": [[s, 0]]} for name, s in more]
    path.write_text(json.dumps(tree))
    text = fl.export(path, "slurm-tree").text
    (tmp_path / "slurm").mkdir()
    lines = as_slurm_has_it(text, "host-[0000-0015],more[1-2]", tmp_path / "slurm")
    found = {line["SwitchName"]: line for line in lines}
    own = [f"{tree['switches'][s]['name']}-nodes" for s in (spine, core)]
    assert [found[name]["Nodes"] for name in own] == ["more1", "more2"]
    everything = {f"host-{n:04d}" for n in range(16)} | {"more1", "more2"}
    tops = [s["name"] for s in tree["switches"] if s.get("level") == 2]
    for top in tops:
        assert set(readers.expanded(found[top]["Nodes"])) == everything
        assert int(found[top]["Level"]) == 2


@pytest.fixture(scope="module")
def routes(tmp_path_factory):
    """A function from a platform to its routes, by SimGrid: links, latency [s] and bandwidth."""
    program = tmp_path_factory.mktemp("simgrid") / "routes"
    source = PROGRAMS / "export_routes.c"
    subprocess.run(["cc", "-Wall", "-o", program, source, "-lsimgrid"], check=True)

    def read(platform: Path) -> dict[tuple[str, str], tuple[list[str], float, float]]:
        quiet = ["--log=root.thres:warning", "--cfg=network/model:CM02"]
        done = subprocess.run([program, platform, *quiet], text=True, capture_output=True,
                              timeout=HANG_S)
        assert (done.returncode, done.stderr) == (0, "")
        rows = [line.split() for line in done.stdout.splitlines()]
        return {(a, b): (links, float(s), float(rate)) for a, b, s, rate, *links in rows}

    return read


def cables(topology: fl.Topology) -> dict[tuple[int, int], tuple[str, int]]:
    """The direction that leaves a switch by a port, as SimGrid names it, and the switch there."""
    table = topology.link_table
    found = {}
    ends = [table[key].tolist() for key in ("a_switch", "a_port", "b_switch", "b_port")]
    for n, (a, a_port, b, b_port) in enumerate(zip(*ends, strict=True)):
        found[a, a_port] = (f"link-{n}_UP", b)
        found[b, b_port] = (f"link-{n}_DOWN", a)
    return found


@needs_simgrid
@pytest.mark.parametrize(("inline", "engine", "layers"), [
    ("torus:shape=3x4,p=2", "dfsssp", 1), ("slim_fly:q=4,p=1", "layered", 3),
    ("fat_tree:leaves=4,spines=2,parallel=3,p=5", "ftree", 1),
])
def test_simgrid_takes_the_routes_of_the_tables(inline, engine, layers, routes, tmp_path):
    routing = fl.route(inline, engine, layers=layers)
    topology = routing.topology
    path = tmp_path / "platform.xml"
    fl.export(routing, "simgrid", path, floor=True, layer=layers - 1, switch_latency_ns=90)
    found = routes(path)
    names = topology.endpoint_names
    where = topology.attachments.tolist()
    leads = cables(topology)
    ports = routing.next[layers - 1]
    length_m = {row[0]: float(row[3]) for row in
                (line.split(",") for line in fl.plan(topology).cables_csv.splitlines()[1:])}
    assert len(found) == len(names) * (len(names) - 1)
    for i, (at, _) in enumerate(where):
        for j, (goal, _) in enumerate(where):
            if i == j:
                continue
            expected, here = [f"terminal-{i}_UP"], at
            while here != goal:
                link, here = leads[here, int(ports[j][here])]
                expected.append(link)
            expected.append(f"terminal-{j}_DOWN")
            links, latency_s, bandwidth = found[names[i], names[j]]
            assert links == expected
            metres = sum(length_m[link.rpartition("_")[0]] for link in links)
            switches = len(links) - 1
            assert latency_s * 1e9 == pytest.approx(5 * metres + 90 * switches, abs=0.01)
            assert bandwidth == 25e9  # 200 Gbit/s


@needs_simgrid
def test_simgrid_routes_a_network_without_tables_by_the_fewest_links(routes, tmp_path):
    topology = fl.network("slim_fly:q=4,p=2").with_failures([0], [])
    path = tmp_path / "platform.xml"
    fl.export(topology, "simgrid", path)
    graph = readers.named(topology)
    hops = dict(nx.all_pairs_shortest_path_length(graph))
    found = routes(path)
    assert len(found) == topology.endpoints * (topology.endpoints - 1)
    assert all(len(links) == hops[a][b] for (a, b), (links, _, _) in found.items())
    assert all(s * 1e9 == pytest.approx(25 * hops[a][b]) for (a, b), (_, s, _) in found.items())


@needs_fabric
def test_opensm_and_ibsim_take_roots_guids_and_names(tmp_path):
    from flyloom.deploy.ibsim import Ibsim
    from flyloom.deploy.opensm import OpenSM

    topology = fl.network("fat_tree:levels=3,k=4")
    for to in ("ibsim", "opensm-roots", "opensm-guids", "opensm-names"):
        fl.export(topology, to, tmp_path / to)
    names = tmp_path / "opensm-names"
    names.write_text(names.read_text().replace('"ft-', '"tree-'))  # else ibsim says the same
    compute = tmp_path / "opensm-guids"
    compute.write_text("".join(compute.read_text().splitlines(keepends=True)[:-3]))
    files = {"root_guid_file": str(tmp_path / "opensm-roots"), "cn_guid_file": str(compute)}
    with Ibsim((tmp_path / "ibsim").read_text()) as sim:
        with OpenSM(sim, "ftree", extra_conf={**files, "log_flags": "0x47"}) as manager:
            log = manager.log_path.read_text()
        listed = sim.run(["ibnetdiscover", "--node-name-map", str(names)])
    cores = sum(level == 2 for level in topology.levels.tolist())
    assert f"Ranked {cores} valid root switches" in log
    assert f"Fabric has {cores} switches at rank 0" in log
    hosts = topology.endpoints
    assert f"{hosts} CAs, {hosts} CA ports ({hosts - 3} of them CNs)" in log
    (tmp_path / "found.txt").write_text(listed)
    found = fl.network(tmp_path / "found.txt")
    # ibnetdiscover asks the map for switches
    whole = nx.relabel_nodes(readers.named(topology), lambda name: name.replace("ft-", "tree-"))
    assert set(readers.named(found)) == set(whole)
    assert nx.utils.edges_equal(readers.named(found).edges(), whole.edges())
