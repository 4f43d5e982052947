"""What cannot be used is heard before the work: places that cannot be written, and numbers that
JSON has no word for, which would pass for what is not given."""

from __future__ import annotations

import hashlib

import flyloom as fl
import pytest
from cli_helpers import flyloom
from flyloom import RefusalError

LONG = ["--load", "0.5", "--set", "run.measure_cycles=1000000000"]
"""Options of a simulation that takes days."""
UNWRITABLE = [
    (["sim", "flit", "torus:shape=4x4", *LONG, "-o", "gone/x.svg"], "gone/x.svg"),
    (["sim", "flit", "torus:shape=4x4", *LONG, "-o", "folder.svg"], "folder.svg"),
    (["sim", "packet", "torus:shape=4x4", "--messages", "1000000000", "-o", "file/x.html"],
     "file/x.html"),
    (["sim", "message", "--workload", "alltoall_linear ranks=16000 bytes=1", "--ranks",
      "gone/x.csv"], "gone/x.csv"),
    (["search", "--order", "4000", "--degree", "9", "-o", "gone/x.edges"], "gone/x.edges"),
    (["size", "-n", "1000", "--csv", "gone/x"], "gone/x"),
    (["compare", "ring:n=4", "ring:n=5", "-o", "file"], "file"),
    (["route", "ring:n=4", "-o", "gone/x.dot"], "gone/x.dot"),
    (["plan", "ring:n=4", "-o", "file/x"], "file/x"),
    (["workload", "make", "alltoall_linear", "ranks=16000", "bytes=1", "-o", "gone/x.goal"],
     "gone/x.goal"),
    (["measure", "--keep", "gone/x.json", "--", "sleep", "1000"], "gone/x.json"),
]


@pytest.mark.parametrize(("words", "named"), UNWRITABLE)
def test_a_place_that_cannot_be_written_is_refused_before_the_work(tmp_path, words, named):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder.svg").mkdir()
    done = flyloom(*words, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith(f"flyloom: {named}: cannot be written: "), done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert (tmp_path / "file").read_text() == "mine"


def test_routes_and_a_plan_may_be_in_one_folder(tmp_path):
    for verb in ("route", "plan"):
        assert flyloom(verb, "torus:shape=3x3,p=1", "-o", "both", cwd=tmp_path).returncode == 0
    done = flyloom("verify", "both", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    named = dict(line.split("  ")[::-1] for line in
                 (tmp_path / "both" / "SHA256SUMS").read_text().splitlines())
    assert {"tables.txt", "cables.csv"} <= set(named)
    for name, digest in named.items():
        assert hashlib.sha256((tmp_path / "both" / name).read_bytes()).hexdigest() == digest
    (tmp_path / "both" / "floor.svg").unlink()
    assert flyloom("route", "torus:shape=3x3,p=1", "-o", "both", cwd=tmp_path).returncode == 0
    assert flyloom("verify", "both", cwd=tmp_path).returncode == 0


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A folder of tables."""
    folder = tmp_path_factory.mktemp("tables") / "t"
    assert flyloom("route", "torus:shape=3x3,p=1", "-o", folder).returncode == 0
    return folder


@pytest.mark.parametrize("words", [
    ["ebb", "--samples", "2"], ["congestion", "--samples", "2"], ["verify"], ["lanes"],
    ["edge-load"], ["throughput"], ["repair", "--link", "torus-0-0:torus-0-1"],
])
@pytest.mark.parametrize("option", [["-e", "sssp"], ["--lmc", "1"]])
def test_routes_are_not_asked_of_tables_in_vain(tables, words, option):
    done = flyloom(*words, tables, *option)
    assert done.returncode == 2 and not done.stdout
    assert done.stderr.startswith(("flyloom: engine: ", "flyloom: lmc: these are tables")), words


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "NaN", "infinity"])
@pytest.mark.parametrize("form", [
    "complete:n=8,p={}", "jellyfish:n=50,k=7,seed={}", "hyperx:shape=4x6,k={}",
    "dragonfly:p=2,h=2,a={}", "fat_tree:leaves=4,spines=2,parallel={}", "galaxyfly:n=4,q=5,h={}",
])
def test_parameters_of_no_finite_number_are_not_left_out(form, value):
    key = form.rpartition("=")[0].rpartition(",")[2]
    with pytest.raises(RefusalError, match=rf"\b{key}: .*{value}"):
        fl.network(form.format(value))


EXPERIMENT = """schema = 1
name = "x"
[topology]
family = "complete"
n = 8
p = 1
"""


@pytest.mark.parametrize(("more", "says"), [
    ("q = nan\n", "line 7, column 5: topology.q: nan is no finite number"),
    ("[sim.packet]\nload = 0.1\nlink.latency_ns = nan\n",
     "line 9, column 19: sim.packet.link.latency_ns: nan is no finite number"),
    ("[sim.flit]\nload = [0.1, +inf]\n", "line 8, column 14: sim.flit.load: +inf is no finite"),
    ("[sim.flit]\ncycle_ns = 2026-11-27\n", "line 8, column 12: sim.flit.cycle_ns: 2026-11-27 is"),
    ("[sim.packet]\n[sweep.grid]\n\"sim.packet.end_us\" = [5, nan]\n",
     "line 9, column 27: sweep.grid.sim.packet.end_us: nan is no finite number"),
])
def test_experiments_with_no_finite_number_are_refused(tmp_path, more, says):
    (tmp_path / "e.toml").write_text(EXPERIMENT + more)
    done = flyloom("run", "e.toml", "--dry-run", cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.startswith(f"flyloom: e.toml: {says}"), done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(("words", "says"), [
    (["sim", "flit", "ring:n=4", "--traffic-class", "share=nan"],
     "traffic_class 1: share: 'nan' is no number"),
    (["sim", "flit", "ring:n=4", "--traffic-class", "share=1", "--traffic-class",
      "priority=-1"], "traffic_class 2: priority: "),
    (["map", "ring:n=4", "--graph", "stencil:shape=2x2,bytes=1", "--hops-limit", "inf"],
     "hops_limit: inf is no part of hop-bytes; 0 or more"),
    (["sim", "flit", "ring:n=4", "--set", "choosing.candidates=18446744073709551616"],
     "choosing.candidates: 1.8446744073709552e+19 is out of range"),
    (["sim", "message", "--workload", "alltoall_linear ranks=2 bytes=1", "--S", "-1"], "S: "),
    (["lanes", "ring:n=4", "--max-lanes", "0"], "--max-lanes: 0 is out of range; 1 to 15"),
    (["design", "hyperx:shape=4x6,k=-1"], "hyperx: k: '-1' is no shape"),
])
def test_the_parameter_is_named_by_its_own_name(words, says):
    done = flyloom(*words)
    assert done.returncode == 2 and done.stderr.startswith(f"flyloom: {says}"), done.stderr


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A folder with a topology.conf of four nodes under two switches, and one of other nodes."""
    folder = tmp_path_factory.mktemp("tree")
    text = "SwitchName=s0 Nodes=n[0-1]\nSwitchName=s1 Nodes=n[2-3]\nSwitchName=t Switches=s[0-1]\n"
    (folder / "a.conf").write_text(text)
    (folder / "b.conf").write_text(text.replace("n[2-3]", "n[2,9]"))
    return folder


def test_files_named_inline_are_the_ones_that_are_read(tree):
    for form in ("file:path=", "file:planes=", "file:planes=a.conf+", "file:planes=+a.conf"):
        done = flyloom("design", form, cwd=tree)
        assert done.returncode == 2 and "a file without a name" in done.stderr, done.stderr
    done = flyloom("design", "file:path=a.conf,format=gml", cwd=tree)
    assert done.returncode == 2 and "format: a.conf is slurm_tree" in done.stderr, done.stderr
    done = flyloom("design", "file:path=a.conf,format=slurm_tree", cwd=tree)
    assert done.returncode == 0 and not done.stderr


def test_hosts_that_not_every_plane_has_are_counted(tree):
    done = flyloom("design", "file:planes=a.conf+a.conf", cwd=tree)
    assert done.returncode == 0 and not done.stderr
    done = flyloom("design", "file:planes=a.conf+b.conf", cwd=tree)
    assert "note: planes: 2 of 5 hosts are not in every plane, as n3;" in done.stderr, done.stderr


def test_a_map_of_names_for_no_file_is_said_to_be_of_no_use(tree):
    done = flyloom("design", "ring:n=4", "--names", "gone.txt")
    assert done.returncode == 0 and "note: ring:n=4: names: of a network file" in done.stderr
    (tree / "r.toml").write_text('family = "ring"\nn = 4\n')
    with pytest.raises(RefusalError, match="names: of a network file"):
        fl.network(tree / "r.toml", names="gone.txt")
    with pytest.raises(RefusalError, match="keep, only and adapters choose devices"):
        fl.network(tree / "r.toml", keep="router")
