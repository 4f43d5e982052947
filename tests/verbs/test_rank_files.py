"""Files of mappings under the launchers that they are for: every rank is where the mapping says.

Hosts are namespaces of this one with other names, which launchers come to by a remote shell that
stays here (on_host).
"""

from __future__ import annotations

import os
import shutil
import subprocess

import flyloom as fl
import pytest
from checkout import PROGRAMS
from cli_helpers import command, document
from mpi_helpers import MPIS, compiled, mpi_environment, needs, shared_cache

AGENT = PROGRAMS / "on_host"
LIMIT_S = 120
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
    char name[MPI_MAX_PROCESSOR_NAME] = "", *all;
    int rank, ranks, length, partner, now;
    MPI_Comm on = MPI_COMM_WORLD;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(on, &rank);
    MPI_Comm_size(on, &ranks);
    partner = rank ^ 1;
    if (argc > 1)
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &partner, MPI_UNWEIGHTED, 1, &partner,
                                       MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &on);
    MPI_Comm_rank(on, &now);
    MPI_Get_processor_name(name, &length);
    all = malloc((size_t)ranks * sizeof name);
    MPI_Gather(name, sizeof name, MPI_CHAR, all, sizeof name, MPI_CHAR, 0, on);
    for (int i = 0; now == 0 && i < ranks; i++) puts(all + (size_t)i * sizeof name);
    free(all);
    MPI_Finalize();
    return 0;
}
"""
"""Says the host of each rank in order; with an argument, of a topology of pairs."""


@pytest.fixture(scope="module")
def hosts_may():
    """Skips where this machine may not have a host of another name."""
    tried = subprocess.run([AGENT, "elsewhere", "hostname"], text=True, capture_output=True,
                           check=False, timeout=LIMIT_S) if shutil.which("unshare") else None
    if tried is None or tried.stdout != "elsewhere\n":
        pytest.skip("names of hosts cannot be played: unshare -u is not there or not allowed")


@pytest.fixture(params=MPIS, scope="module")
def mpi(request, hosts_may):
    needs(request.param)
    return request.param


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("rank_files")


@pytest.fixture(scope="module")
def env(tmp_path_factory):
    return mpi_environment(shared_cache(tmp_path_factory), OMPI_MCA_plm_rsh_agent=str(AGENT))


@pytest.fixture(scope="module")
def program(mpi, place):
    source = place / "where.c"
    source.write_text(PROGRAM)
    return compiled(mpi, source, place)


def launcher(mpi, file, ranks, hosts, tmp_path, slots):
    """The words before a program whose ranks a file places, on hosts that a job holds."""
    if mpi == "mpich":
        return ["mpiexec.mpich", "-launcher", "rsh", "-launcher-exec", AGENT, "-f", file,
                "-n", ranks]
    (tmp_path / "job").write_text("".join(f"{host} slots={slots}\n" for host in hosts))
    return ["mpirun.openmpi", "--hostfile", tmp_path / "job", "--rankfile", file, "-np", ranks]


def said(words, env, tmp_path):
    done = subprocess.run(list(map(str, words)), env=env, cwd=tmp_path, text=True,
                          capture_output=True, check=False, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize(("net", "graph", "hosts", "slots"), [
    ("torus:shape=2x3,p=1", "stencil:shape=6,bytes=100,periodic=true", None, 1),
    ("fat_tree:k=4", "stencil:shape=2x4,bytes=10x999", (1, 2, 5, 7), 2),
])
def test_every_rank_is_where_the_mapping_says(mpi, env, program, tmp_path, net, graph, hosts,
                                              slots):
    if slots > (os.cpu_count() or 1) and mpi == "openmpi":
        pytest.skip("a rank file needs as many processors as a host has ranks")
    names = fl.network(net).endpoint_names
    hosts = [names[e] for e in hosts or range(len(names))]
    (tmp_path / "nodes").write_text("\n".join(hosts))
    kind = "rankfile" if mpi == "openmpi" else "hydra"
    found = document("map", net, "--graph", graph, "--hosts", tmp_path / "nodes",
                     "--per-endpoint", slots, "--method", "random", "--seed", 3,
                     "-o", tmp_path / "ranks", "--format", kind)
    wanted = [names[e] for e in found["mapping"]]
    assert wanted != sorted(wanted), "not the launcher's own order"
    words = launcher(mpi, tmp_path / "ranks", len(wanted), hosts, tmp_path, slots)
    assert said([*words, program], env, tmp_path) == wanted


def test_topologies_are_ordered_by_the_names_of_hosts(mpi, env, program, tmp_path):
    """Pairs on hosts two switches apart: they end on neighbours, and nobody says where it is."""
    net = "ring:n=4,p=1"
    names = fl.network(net).endpoint_names
    start = [names[e] for e in (0, 2, 1, 3)]
    file = tmp_path / "ranks"
    file.write_text("".join(
        f"{host}\n" if mpi == "mpich" else f"rank {rank}={host} slot=0\n"
        for rank, host in enumerate(start)))
    words = launcher(mpi, file, 4, start, tmp_path, 1)
    assert said([*words, program], env, tmp_path) == start
    run = command("reorder", "--net", net, "--objective", "hops", "--", *map(str, words), program,
                  "pairs")
    at = [names.index(host) for host in said(run, env, tmp_path)]
    assert sorted(at) == [0, 1, 2, 3]
    assert (at[0] - at[1]) % 2 == 1 and (at[2] - at[3]) % 2 == 1, at
