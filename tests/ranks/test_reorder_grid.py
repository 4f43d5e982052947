"""Ranks of MPI's grids and graphs that the network orders, and the line where none was moved.

Processes are on hosts by FLYLOOM_HOST, which a script sets by their rank. A ring of processes on a
ring of hosts can lie so that all neighbours are one hop apart.
"""

from __future__ import annotations

import re
import shutil
import subprocess

import networkx as nx
import pytest
from checkout import PROGRAMS
from cli_helpers import flyloom
from mpi_helpers import MPIS, compiled, mpi_environment, needs, on_hosts, shared_cache

LIMIT_S = 120
HOSTS = (0, 3, 6, 1, 4, 7, 2, 5)


@pytest.fixture(params=MPIS, scope="module")
def mpi(request):
    """Each MPI by its name in Debian."""
    needs(request.param)
    return request.param


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("reorder_grid")


@pytest.fixture(scope="module")
def env(tmp_path_factory):
    return mpi_environment(shared_cache(tmp_path_factory))


@pytest.fixture
def run(mpi, env, place, tmp_path):
    """Runs the program under the command: by the rank in MPI_COMM_WORLD the new one and those of
    its neighbours there; lines of ours."""

    def whole(*words, net="ring:n=8,p=1", hosts=HOSTS, program=None, code=0):
        program = program or compiled(mpi, PROGRAMS / "cart_graph.c", place,
                                      ("-std=gnu11", "-O1", "-Wall"))
        done = flyloom("reorder", "--net", net, "--", f"mpiexec.{mpi}", "-n", len(hosts),
                       on_hosts(hosts, tmp_path), program, *words,
                       env=env, cwd=tmp_path, limit_s=LIMIT_S)
        assert done.returncode == code, done.stdout + done.stderr
        found = {}
        # MPICH's launcher puts the ends of lines of several ranks together
        for world, now, near in re.findall(r"(\d+) is (-?\d+):([^;]*);", done.stdout):
            found[int(world)] = int(now), [int(word) for word in near.split()]
        return found, [line for line in done.stderr.splitlines() if line.startswith("flyloom")]

    return whole


def hops(graph, hosts, found):
    """How far apart the hosts of neighbours are, each pair from both sides."""
    far = dict(nx.all_pairs_shortest_path_length(graph))
    return [far[hosts[world]][hosts[other]] for world, (_, near) in found.items()
            for other in near if other >= 0]


@pytest.mark.parametrize("kind", ["grid", "graph"])
def test_a_ring_goes_around_a_ring_of_hosts(run, kind):
    found, lines = run(kind, 1, 8)
    assert lines == [] and sorted(now for now, _ in found.values()) == list(range(8))
    assert hops(nx.cycle_graph(8), HOSTS, found) == [1] * 16


def test_a_line_of_ranks_has_no_neighbours_beyond_its_ends(run):
    """One of the processes is in no grid: a line of 7 of the 8."""
    found, lines = run("grid", 1, -7)
    assert lines == [] and sorted(now for now, _ in found.values()) == [-1, *range(7)]
    assert hops(nx.cycle_graph(8), HOSTS, found) == [1] * 12
    by_rank = dict(found.values())
    assert by_rank[0][0] < 0 and by_rank[6][1] < 0


def test_two_processes_of_a_host_are_neighbours(run):
    """A grid of pairs: rank 2 i and 2 i + 1 send to each other twice, as both ends of a ring of 2,
    and to other pairs once in each direction."""
    hosts = (0, 1, 2, 3, 0, 1, 2, 3)
    found, _ = run("grid", 1, 4, 2, net="ring:n=4,p=1", hosts=hosts)
    inside = [hosts[world] == hosts[near[2]] for world, (_, near) in found.items()]
    assert all(inside)
    assert sorted(hops(nx.cycle_graph(4), hosts, found)) == [0] * 16 + [1] * 16


@pytest.mark.parametrize("module", ["mpi", "mpi_f08"])
def test_fortran(mpi, place, run, tmp_path, module):
    compiler = f"mpif90.{mpi}"
    if not shutil.which(compiler) or not shutil.which("gfortran"):
        pytest.skip(f"{compiler} is not installed")
    text = (PROGRAMS / "cart_graph.f90").read_text().replace("use MODULE", f"use {module}")
    kind = "integer" if module == "mpi" else "type(mpi_comm)"
    (tmp_path / "ring.f90").write_text(text.replace("  COMM ::", f"  {kind} ::"))
    program = place / f"{module}_{mpi}"
    subprocess.run([compiler, tmp_path / "ring.f90", "-o", program], check=True, timeout=LIMIT_S)
    found, lines = run(program=program)
    assert lines == [] and hops(nx.cycle_graph(8), HOSTS, found) == [1] * 16


NONE = "flyloom: reorder: no rank of the program was moved: "


@pytest.mark.parametrize(("words", "hosts", "why"), [
    (["none", 1, 4], HOSTS, "it called none of MPI_Cart_create, MPI_Graph_create,"
     " MPI_Dist_graph_create and MPI_Dist_graph_create_adjacent"),
    (["grid", 0, 8], HOSTS, "MPI_Cart_create was called 1 time without reorder"),
    (["graph", 0, 8], HOSTS, "MPI_Graph_create was called 1 time without reorder"),
    (["grid", 1, 8], range(8),
     "MPI_Cart_create was called 1 time with reorder whose old order is as good"),
])
def test_a_line_says_why_no_rank_was_moved(run, words, hosts, why):
    found, lines = run(*words, hosts=hosts)
    assert lines == [NONE + why] and len(found) == 8


def test_a_program_without_finalize_is_named(mpi, env, tmp_path):
    done = flyloom("reorder", "--net", "ring:n=4", "--", f"mpiexec.{mpi}", "-n", 1, "true",
                   env=env, cwd=tmp_path, limit_s=LIMIT_S)
    assert done.returncode == 3 and done.stderr.count("\n") == 1
    assert "no rank was moved: the program did not come to MPI_Finalize" in done.stderr
