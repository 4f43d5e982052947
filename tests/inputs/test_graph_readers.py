"""Networks of other programs' files, through networkx, the command line and slurmctld's rules."""

from __future__ import annotations

import struct

import flyloom as fl
import networkx as nx
import pytest
from cli_helpers import flyloom
from test_export_programs import as_slurm_has_it, needs_slurm


def pairs(network):
    names = network.switch_names
    return sorted(tuple(sorted((names[a], names[b]))) for a, b in network.edges)


@pytest.mark.parametrize("edges", ["links", "edges"])
def test_gml_and_node_link_of_networkx_are_read(tmp_path, edges):
    graph = nx.petersen_graph()
    nx.set_node_attributes(graph, {v: f"s{v}" for v in graph}, "name")
    nx.set_node_attributes(graph, {v: v % 3 for v in graph}, "endpoints")
    expect = sorted(tuple(sorted((f"s{a}", f"s{b}"))) for a, b in graph.edges)
    nx.write_gml(graph, tmp_path / "g.gml")
    data = nx.node_link_data(graph, edges=edges)
    import json

    (tmp_path / "g.json").write_text(json.dumps(data))
    for file in ("g.gml", "g.json"):
        found = fl.network(tmp_path / file)
        assert pairs(found) == expect, file
        assert found.endpoints == sum(v % 3 for v in range(10))
        assert fl.network(tmp_path / file).remarks == []
    strings = nx.relabel_nodes(nx.cycle_graph(5), lambda v: f"leaf {v}")
    nx.write_gml(strings, tmp_path / "s.gml")
    assert fl.network(tmp_path / "s.gml", p=2).switch_names == [f"leaf {v}" for v in range(5)]


def test_files_of_codes_are_found_by_the_name_of_either(tmp_path):
    """A dragonfly of 5 groups of 4 routers, all joined in a group, one link between two groups."""
    inside = [(a, b) for a in range(4) for b in range(4) if a != b]
    between = [(4 * g + (h - g - 1) % 5, 4 * h + (g - h - 1) % 5)
               for g in range(5) for h in range(5) if g != h]
    (tmp_path / "fly-intra").write_bytes(b"".join(struct.pack("<3i", *l, 0) for l in inside))
    (tmp_path / "fly-inter").write_bytes(b"".join(struct.pack("<2i", *l) for l in between))
    for name in ("fly-intra", "fly-inter"):
        found = fl.network(tmp_path / name, p=2)
        assert (found.switches, found.links, found.endpoints) == (20, 5 * 6 + 10, 40)
    (tmp_path / "fly-inter").unlink()
    done = flyloom("design", "fly-intra", cwd=tmp_path)
    assert done.returncode == 2
    assert "the links between groups of CODES should be in fly-inter beside it" in done.stderr


def test_traces_may_end_in_dat_and_matrices_too(tmp_path):
    first = "MPI_Init:-:1:2:100\nMPI_Send:110:9:1000:11,8,8:1:7:0,0,2:120\nMPI_Finalize:170:-\n"
    second = "MPI_Init:-:1:2:100\nMPI_Recv:105:9:1000:11,8,8:0:7:0,1,2:3:125\nMPI_Finalize:170:-\n"
    (tmp_path / "app-0.dat").write_text("# collprof\n" + first)
    (tmp_path / "app-1.dat").write_text("# collprof\n" + second)
    for name in (tmp_path, tmp_path / "app-0.dat"):
        assert fl.communication(name).total_bytes == 1000 * 8
    (tmp_path / "m-0.dat").write_text("0 5\n0 0\n")
    assert fl.communication(tmp_path / "m-0.dat").total_bytes == 5


MANAGED = """vendid=0x2c9
devid=0xd2f0
sysimgguid=0x1{n}
switchguid=0x1{n}(1{n})
Switch\t41 "S-000000000000001{n}"\t\t# "{name}" enhanced port 0 lid {n} lmc 0
[1]\t"H-000000000000002{n}"[1](3{n}) \t\t# "node{n} HCA-1" lid 1{n} 4xHDR
[31]\t"S-000000000000001{m}"[31]\t\t# "x" lid {m} 4xHDR

vendid=0x2c9
devid=0x101b
sysimgguid=0x2{n}
caguid=0x2{n}
Ca\t1 "H-000000000000002{n}"\t\t# "node{n} HCA-1"
[1](3{n}) \t"S-000000000000001{n}"[1]\t\t# lid 1{n} lmc 0 "x" lid {n} 4xHDR

"""


def managed(path, names):
    text = "".join(MANAGED.format(n=n, m=3 - n, name=name) for n, name in enumerate(names, 1))
    path.write_text(text)
    return path


@pytest.mark.parametrize(("given", "options", "expect"), [
    (("MF0;leaf-1:MQM8700/U1", "MF0;leaf-2:MQM8700/U1"), {}, ["leaf-1", "leaf-2"]),
    (("MF0;core:CS7520/L1/U1", "MF0;core:CS7520/S1/U1"), {}, ["core-L1-U1", "core-S1-U1"]),
    (("a b", "a_b"), {}, ["a_b-0000000000000011", "a_b-0000000000000012"]),
    (("MF0;a:M/U1", "MF0;b:M/U1"), {"switch-names": "whole"}, ["MF0;a:M/U1", "MF0;b:M/U1"]),
    (("a one", "b two"), {"switch-names": "first-word"}, ["a", "b"]),
])
def test_switches_have_names_that_slurm_takes(tmp_path, given, options, expect):
    file = managed(tmp_path / "f.txt", given)
    words = {"names": "first-word", "switches": "leaves", **options}
    lines = fl.export(file, "slurm-tree", **words).text.splitlines()[1:]
    assert [line.split()[0].partition("=")[2] for line in lines] == [*expect, "top"]
    lines = fl.export(file, "slurm-block", blocks="switches", **options).text.splitlines()[1:]
    assert [line.split()[0].partition("=") for line in lines[:-1]] == [
        ("BlockName", "=", name) for name in expect]


def test_names_that_slurm_cannot_take_are_refused_with_what_is_valid(tmp_path):
    file = managed(tmp_path / "f.txt", ("a b", "c"))
    with pytest.raises(fl.RefusalError, match="'a b' has the character ' '.*switch-names=short"):
        fl.export(file, "slurm-tree", names="first-word", switches="leaves",
                  **{"switch-names": "whole"})


@needs_slurm
def test_slurmctld_takes_the_names_of_managed_switches(tmp_path):
    given = ("MF0;leaf-1:MQM8700/U1", "a/b;c=d(e)'f")
    file = managed(tmp_path / "f.txt", given)
    text = fl.export(file, "slurm-tree", names="first-word", switches="leaves",
                     **{"switch-names": "whole"}).text
    (tmp_path / "slurm").mkdir()
    found = as_slurm_has_it(text, "node[1-2]", tmp_path / "slurm")
    assert {line["SwitchName"] for line in found} == {*given, "top"}


def test_two_fabrics_have_a_top_each(tmp_path):
    file = tmp_path / "two.edges"
    ends = "".join(f"endpoints l{n} 1\n" for n in range(4))
    file.write_text(f"# edge list\ns1 l0\ns1 l1\ns2 l2\ns2 l3\n{ends}")
    tail = fl.export(file, "slurm-tree", switches="leaves").text.splitlines()[-2:]
    assert tail == ["SwitchName=top-0 Switches=l[0-1]", "SwitchName=top-1 Switches=l[2-3]"]
    tail = fl.export(file, "slurm-tree").text.splitlines()[-2:]
    assert tail == ["SwitchName=s1 Switches=l[0-1]", "SwitchName=s2 Switches=l[2-3]"]


def test_complex_and_negative_matrices_have_the_halo_of_their_pattern():
    import numpy as np
    import scipy.sparse as sp

    plain = sp.diags_array([1.0, 1.0], offsets=[-1, 1], shape=(16, 16))
    expect = fl.communication(plain).halo(4).columns()
    for matrix in (-plain, plain * 1j, (plain * -2).toarray(), (plain * 1j).toarray()):
        found = fl.communication(matrix).halo(4).columns()
        assert all(np.array_equal(found[key], expect[key]) for key in expect)
        with pytest.raises(fl.RefusalError, match="no amount"):
            fl.communication(matrix).total_bytes  # noqa: B018
