"""Small files with large numbers: no reader takes more memory than the bytes of a file pay for."""

from __future__ import annotations

import io
import json
import struct
import subprocess
import sys
import zipfile

import numpy
import pytest
from cli_helpers import environment

FREE = 1 << 24
FACTOR = 1024
"""A byte of a file may become this number of bytes of memory, and a file `FREE` beside
(formats/backed.rs)."""
SLACK = 96 << 20
"""What modules that are imported, threads and the allocator take."""

CHILD = """
import json, resource, sys
import flyloom as fl
from flyloom.inputs.communication import communication
from flyloom.inputs.networks import network
from flyloom.inputs.tables import read_dump
from pathlib import Path

net = network("complete:n=4,p=1")
limit = int(sys.argv[2])
if limit < 1 << 30:  # beyond what is in use
    with open("/proc/self/statm") as file:
        limit += int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

def peak():
    with open("/proc/self/status") as file:
        return next(int(l.split()[1]) for l in file if l.startswith("VmHWM")) << 10

def read(how, path):
    if how == "network":
        return network(path)
    if how == "communication":
        return communication(path)
    if how == "workload":
        return fl.workload(path)
    if how == "booksim":
        return fl.booksim(path)
    if how == "mapping":
        return fl.evaluate_mapping(net, "stencil:shape=4,bytes=10", path)
    if how == "hosts":
        return fl.map_processes(net, "stencil:shape=4,bytes=10", hosts=path)
    if how == "traffic":
        return fl.throughput(net, traffic=path)
    if how == "tables":
        return read_dump(Path(path), Path(path).with_name("netlist"), None, None)
    if how == "orcs":
        return fl.read_tables(path)
    if how == "experiment":
        return fl.run(path, out=path + ".out")
    raise SystemExit("no reader " + how)

for how, path in json.loads(sys.argv[1]):
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = peak()
    try:
        read(how, path)
        why = ""
    except fl.RefusalError as refused:
        why = str(refused)
    print(json.dumps([path, peak() - before, why]), flush=True)
"""


def array(shape):
    """The head of a numpy array, without numbers."""
    said = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    said += " " * ((53 - len(said)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(said)) + said.encode()


def sparse(shape):
    """A matrix of scipy with one entry, of this shape."""
    content = io.BytesIO()
    arrays = {"row": [0], "col": [0], "data": [1.0], "shape": shape, "format": b"coo"}
    numpy.savez(content, **arrays)
    return content.getvalue()


def lying():
    """A packed array that has fewer numbers than it says."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("data.npy", array((200_000, 200_000)))
    return content.getvalue()


def ring(count):
    return "".join(f"s{i} s{(i + 1) % count}\n" for i in range(count))


CHAIN = "".join(f"router {i} node {i} router {i + 1}\n" for i in range(9))
CONFIG = "topology = {}; k = {}; n = {}; routing_function = {}; num_vcs = 2; traffic = uniform;"
SWITCH = ('switchguid=0x{0:x}({0:x})\nSwitch\t254 "S-{0:016x}"\t\t# "s{0}" base port 0 lid {0} '
          'lmc 7\n')
TABLE = "Unicast lids [0x0-0xbfff] of switch Lid {0} guid 0x{0:016x} (s):\n0xbfff 001 : (x)\n"
ORDER = "# MPICH_RANK_ORDER\n0-4294967295\n"
SWEEP = """schema = 1
name = "large"
topology = {{ family = "complete", n = 4, p = 1 }}
[sim.flit]
load = {load}
[sweep.grid]
"sim.flit.seed" = {seeds}
"""
FILES: dict[str, tuple[str, str | bytes]] = {
    "ports.edges": ("network", "endpoints a 65534\na b\nb c\nc a\nendpoints b 65534\n" * 1),
    "names.conf": ("network", f"SwitchName=s1 Nodes=n[{'0' * 3000}-99999]\n"),
    "long.conf": ("network", f"SwitchName=s1 Nodes={'n' * 3000}[0-99999]\n"),
    "product.conf": ("network", "SwitchName=s1 Nodes=n" + "[0-99]" * 9 + "\n"),
    "end.conf": ("network", "SwitchName=s1 Nodes=n[0-18446744073709551615]\n"),
    "wide.topo": ("network", "Nodes 131072\nTiers 2\nTier 0\nRadix_Down 1\nRadix_Up 4000000000\n"),
    "deep.graphml": ("network", "<graphml>" + "<a>" * 50_000),
    "deep.json": ("network", '{"switches": ' + "[" * 50_000),
    "deep.gml": ("network", "graph " + "[ a " * 50_000),
    "number.gml": ("network", "graph [ node [ id 0 endpoints 99999999999999999999 ] ]"),
    "plane.gml": ("network", "graph [ node [ id 0 plane 4294967295 ] node [ id 1 ] ]"),
    "netlist": ("network", "vendid=0x1\n" + "".join(SWITCH.format(i) for i in range(1, 60))),
    "stars.dot": ("network", "digraph {\n" + "".join(
        f'H{i} -> S1 [comment="*"]\nS1 -> H{i} [comment="{"* " * 2000}"]\n' for i in range(60)
    ) + "}\n"),
    "tables.dot": ("orcs", "digraph {\n" + "".join(
        f'H{i} -> S1 [comment="*"]\nS1 -> H{i} [comment="{"* " * 50_000}"]\n' for i in range(60)
    ) + "}\n"),
    "large.mtx": ("communication", "%%MatrixMarket matrix coordinate real general\n"
                                   "4000000000 4000000000 1\n1 1 1\n"),
    "many.mtx": ("communication", "%%MatrixMarket matrix coordinate real general\n"
                                  "9 9 4000000000000\n1 1 1\n"),
    "full.mtx": ("communication", "%%MatrixMarket matrix array real general\n60000 60000\n1\n"),
    "large.graph": ("communication", "4000000000 1\n1\n"),
    "large.grf": ("communication", "0\n4000000000 1\n0 000\n"),
    "rank.prof": ("communication", "E\t0\t4294967295\t1 bytes\t1 msgs sent\t1\n"),
    "ranks.goal": ("workload", "num_ranks 4294967295\nrank 0 {\ncalc 1\n}\n"),
    "fewer.goal": ("workload", "num_ranks 268435456\nrank 0 {\ncalc 1\n}\n"),
    "cpu.goal": ("workload", "num_ranks 1\nrank 0 {\ncalc 1 cpu 4294967295\n}\n"),
    "ranks.bin": ("workload", struct.pack("<QI", 4223, 0xffff_ffff) + bytes(64)),
    "rank.0.et": ("workload", b"\x8f\xff\xff\xff\x0f" + bytes(64)),
    "cube.cfg": ("booksim", CONFIG.format("torus", 2_000_000, 3, "dim_order")),
    "fly.cfg": ("booksim", CONFIG.format("fly", 2, 60, "dest_tag")),
    "classes.cfg": ("booksim", CONFIG.format("mesh", 4, 2, "dor") + "classes = 2000000000;"),
    "size.cfg": ("booksim", CONFIG.format("mesh", 4, 2, "dor") + "packet_size = 2000000000;"),
    "buffers.cfg": ("booksim", CONFIG.format("mesh", 4, 2, "dor") + "vc_buf_size = 2000000000;"),
    "any.cfg": ("booksim", CONFIG.format("anynet", 1, 1, "min") + "network_file = any.net;"),
    "any.net": ("network", CHAIN + "router 4000000 node 4000000\n"),
    "places": ("mapping", "0:1048576 " * 200),
    "order": ("mapping", ORDER),
    "ranks.rank": ("mapping", "rank 4294967295=0 slot=0\n"),
    "slots.hosts": ("hosts", "0:65536\n" * 255),
    "fewer.hosts": ("hosts", "0:16\n" * 255),
    "zeros.hosts": ("hosts", f"n[{'0' * 100_000}-1048575]\n"),
    "ranges.hosts": ("hosts", "n" + "[0-1000000]" * 5),
    "large.npy": ("traffic", array((100_000, 100_000))),
    "range.npy": ("traffic", array((1 << 62, 4))),
    "lines.npz": ("traffic", sparse([4_000_000_000, 4_000_000_000])),
    "lying.npz": ("traffic", lying()),
    "traffic.mtx": ("traffic", "%%MatrixMarket matrix coordinate real general\n"
                               "4000000000 4000000000 1\n1 1 1\n"),
    "entries.mtx": ("traffic", "%%MatrixMarket matrix coordinate real general\n"
                               "4 4 4000000000000\n1 1 1\n"),
    "array.mtx": ("traffic", "%%MatrixMarket matrix array real general\n60000 60000\n1\n"),
    "times.txt": ("traffic", "time_cycles source destination size_flits\n0 0 1 4294967295\n"),
    "lids.lft": ("tables", "".join(TABLE.format(i) for i in range(1, 60))),
    "loads.toml": ("experiment", SWEEP.format(load='"0:1:1e-9"', seeds="[1]")),
    "seeds.toml": ("experiment", SWEEP.format(load="0.1", seeds='"0:1e18:1"')),
}


def run(files, limit=2 << 30):
    done = subprocess.run([sys.executable, "-P", "-c", CHILD, json.dumps(files), str(limit)],
                          env=environment(RAYON_NUM_THREADS="1"), text=True, capture_output=True,
                          timeout=120)
    assert done.returncode == 0, (done.stdout[-300:], done.stderr[-2000:])
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.skipif(sys.platform != "linux", reason="peaks of memory are those of Linux")
def test_what_readers_take_is_paid_for_by_bytes(tmp_path):
    asked = []
    for name, (how, content) in FILES.items():
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        asked.append((how, str(path)))
    for path, grown, why in run(asked):
        if path.endswith("slots.hosts"):  # there is room for the slots asked for, or not
            assert "slots needs about" in why
            continue
        size = (tmp_path / path).stat().st_size
        assert grown < FREE + FACTOR * size + SLACK, (path, grown >> 20, why)
        assert "\n" not in why and len(why) < 2000


@pytest.mark.skipif(sys.platform != "linux", reason="peaks of memory are those of Linux")
def test_networks_that_do_not_fit_are_refused_in_one_line(tmp_path):
    """64 switches of 65,534 endpoints in 1.8 kB of text: at 160 bytes each they are 640 MiB."""
    rings = [(i, (i + 1) % 64) for i in range(64)]
    node = 'node [ id {0} label "s{0}" endpoints 65534 ]\n'
    edge = "edge [ source {} target {} ]\n"
    linked = {"directed": False, "nodes": [{"id": i, "endpoints": 65534} for i in range(64)],
              "links": [{"source": a, "target": b} for a, b in rings]}
    files = {
        "a.edges": "".join(f"endpoints s{i} 65534\n" for i in range(64)) + ring(64),
        "a.gml": "graph [\n" + "".join(node.format(i) for i in range(64))
                 + "".join(edge.format(a, b) for a, b in rings) + "]\n",
        "a.json": json.dumps(linked),
        "a.topo": "Nodes 131072\nTiers 2\nTier 0\nRadix_Down 4096\nRadix_Up 131072\nTier 1\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    found = run([("network", str(tmp_path / name)) for name in files], 400 << 20)
    assert len(found) == len(files)
    for path, grown, why in found:
        assert grown < FREE + SLACK and "MiB are free" in why and "need about" in why, (path, why)
        count = 4_194_304 if path.endswith(".topo") else 64 * 65534
        assert str(count) in why
