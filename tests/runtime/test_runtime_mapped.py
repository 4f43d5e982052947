"""The runtime beside an MPI: communicators whose ranks the network orders, examples, the manual."""

from __future__ import annotations

import os
import random
import re
import subprocess

import flyloom as fl
import networkx as nx
import pytest
from campaign import count
from cli_helpers import command, environment
from mpi_helpers import MPIS, mpi_environment, needs, on_hosts, shared_cache
from test_runtime import FLAGS, LIMIT_S, SOURCE, build, call

ARG, UNSUPPORTED = 1, 10  # of flyloom.h


@pytest.fixture(scope="module")
def release():
    return build("release")


@pytest.fixture(params=MPIS, scope="module")
def mpi(request):
    needs(request.param)
    return request.param


@pytest.fixture(scope="module")
def core(mpi, tmp_path_factory):
    """What maps: `flyloom reorder --library` has it beside the library that it prints."""
    env = mpi_environment(shared_cache(tmp_path_factory))
    done = subprocess.run(command("reorder", "--library", "--", f"mpiexec.{mpi}"), env=env,
                          text=True, capture_output=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr
    return os.path.join(os.path.dirname(done.stdout.strip()), "libflyloom_map.so")


def built(mpi, source, release, folder):
    program = folder / f"{source.stem}_{mpi}"
    call(f"mpicc.{mpi}", *FLAGS, f"-I{SOURCE / 'include'}", source, "-o", program, f"-L{release}",
         "-lflyloom", f"-Wl,-rpath,{release}")
    return program


@pytest.fixture(scope="module")
def program(mpi, release, tmp_path_factory):
    return built(mpi, SOURCE / "tests" / "comm_mapped.c", release, tmp_path_factory.mktemp(mpi))


@pytest.fixture
def mapped(mpi, core, program, tmp_path):
    """Runs comm_mapped with processes on hosts; the lines that it printed."""

    def run(hosts, edges, **variables):
        (tmp_path / "graph").write_text("".join(f"{a} {b} {w}\n" for a, b, w in edges))
        script = on_hosts(hosts, tmp_path)
        more = {"FLYLOOM_MAP_LIBRARY": core, **variables}
        reported = call(f"mpiexec.{mpi}", "-n", len(hosts), script, program, tmp_path / "graph",
                        more={k: str(v) for k, v in more.items()}, folder=tmp_path)
        return reported.splitlines()

    return run


def placed(lines):
    """The rank of each process."""
    pairs = sorted(tuple(map(int, re.findall(r"\d+", line))) for line in lines)
    found = [rank for _, rank in pairs]
    assert sorted(found) == list(range(len(lines))), "a permutation"
    return found


def hop_bytes(net, endpoints, edges, ranks):
    """Weights times hops between switches, by networkx; ranks[p] is where process p is."""
    graph = nx.Graph(net.edges.tolist())
    graph.add_nodes_from(range(net.switches))
    at = {rank: net.attachments[:, 0].tolist()[e] for rank, e in zip(ranks, endpoints, strict=True)}
    far = dict(nx.all_pairs_shortest_path_length(graph))
    return sum(w * far[at[a]][at[b]] for a, b, w in edges)


def by_map(name, endpoints, edges, folder):
    """The endpoint on which `flyloom map` places each rank."""
    size = len(endpoints)
    rows = "".join(f"{a + 1} {b + 1} {w}\n" for a, b, w in edges)
    (folder / "graph.mtx").write_text(
        f"%%MatrixMarket matrix coordinate real general\n{size} {size} {len(edges)}\n{rows}")
    (folder / "used").write_text("".join(f"{e}\n" for e in endpoints))
    done = subprocess.run(
        command("map", name, "--graph", folder / "graph.mtx", "--hosts", folder / "used",
                "--objective", "hops", "--format", "list", "-o", folder / "mapping"),
        env=environment(), text=True, capture_output=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr
    lines = (folder / "mapping").read_text().splitlines()
    return [int(line.split()[-1]) for line in lines if line and not line.startswith("#")]


@pytest.mark.campaign
@pytest.mark.parametrize("kind", ["recipe", "file"])
def test_neighbours_come_as_near_as_map_brings_them(mapped, mpi, kind, tmp_path):
    """Rings and random graphs: never farther than before, and no farther than by `flyloom map`."""
    if (mpi, kind) == ("mpich", "file") and count(1, 0):
        pytest.skip("both kinds under both MPIs: in `make campaign`")
    recipe = "torus:shape=3x4,p=1"
    net = fl.network(recipe)
    name = recipe
    if kind == "file":
        name = tmp_path / "net.json"
        name.write_text(net.to_text("json"))
    draw = random.Random(3)
    endpoints = draw.sample(range(12), 8)
    graphs = [[(r, (r + step) % 8, 5) for r in range(8) for step in (1, 7)]]
    pairs = [(a, b) for a in range(8) for b in range(8) if a != b]
    graphs += [[(a, b, draw.randint(1, 40)) for a, b in sorted(draw.sample(pairs, 16))]]
    for edges in graphs:
        found = placed(mapped(endpoints, edges, FLYLOOM_NETWORK=name, FLYLOOM_OBJECTIVE="hops"))
        got = hop_bytes(net, endpoints, edges, found)
        assert got <= hop_bytes(net, endpoints, edges, range(8))
        wanted = by_map(name, endpoints, edges, tmp_path)  # rank r is on endpoint wanted[r]
        assert got == hop_bytes(net, wanted, edges, range(8))


def test_a_ring_that_is_known(mapped):
    """Eight neighbours of a ring of switches: each edge one hop, which is the least there is."""
    net, hosts = fl.network("ring:n=8,p=1"), [0, 3, 6, 1, 4, 7, 2, 5]
    edges = [(r, (r + step) % 8, 2) for r in range(8) for step in (1, 7)]
    found = placed(mapped(hosts, edges, FLYLOOM_NETWORK="ring:n=8,p=1"))
    assert hop_bytes(net, hosts, edges, found) == 32


@pytest.mark.parametrize(("hosts", "variables", "code", "says"), [
    ([0, 1], {}, UNSUPPORTED, "there is no network; FLYLOOM_NETWORK names a file"),
    ([0, 1], {"FLYLOOM_NETWORK": "rong:n=8"}, ARG, "rong"),
    ([0, "gone"], {"FLYLOOM_NETWORK": "ring:n=8,p=1"}, ARG, "host gone of rank 1"),
    ([0, 1], {"FLYLOOM_NETWORK": "no/such.json"}, ARG, "no/such.json: cannot be read"),
    ([0, 1], {"FLYLOOM_NETWORK": "ring:n=8", "FLYLOOM_MAP_LIBRARY": "/dev/null"}, UNSUPPORTED,
     "/dev/null"),
])
def test_all_hear_why_not(mapped, hosts, variables, code, says):
    """Every rank gets the same error, with its text."""
    lines = mapped(hosts, [(0, 1, 5), (1, 0, 5)], **variables)
    assert len(lines) == 2
    for line in lines:
        assert re.match(rf"refused {code} fly_map: ", line) and says in line, line


#: What two ranks print that an MPI starts, by example.
PRINTED = {
    "mpi_types": [f"rank {r} has the sum 1\nrank {r} has {100 * (1 - r) + 10} in its last row\n"
                  for r in range(2)],
    "mpi_collectives": [f"rank {r} has {10 + r} of the last\n" for r in range(2)],
    "mpi_mapped": ["as they are: fly_map: there is no network; FLYLOOM_NETWORK names a file, or "
                   "family:key=value,...\nprocess 0 has rank 0; 2, then 2 edges on a host\n",
                   "process 1 has rank 1; 2, then 2 edges on a host\n"],
}


@pytest.mark.parametrize("name", sorted(PRINTED))
def test_examples_beside_an_mpi(name, mpi, release, tmp_path):
    """Each is built by the MPI's compiler and started by its launcher."""
    program = built(mpi, SOURCE / "examples" / f"{name}.c", release, tmp_path)
    printed = call(f"mpiexec.{mpi}", "-n", 2, program)
    assert sorted(printed.splitlines()) == sorted("".join(PRINTED[name]).splitlines())
    assert {path.stem for path in (SOURCE / "examples").glob("mpi_*.c")} == set(PRINTED)


def test_the_example_of_a_mapping(core, release, tmp_path):
    """Without an MPI, processes that exchange much data get ranks on one host."""
    program = tmp_path / "mapped"
    call("gcc", *FLAGS, SOURCE / "examples/mapped.c", "-o", program, f"-I{SOURCE / 'include'}",
         f"-L{release}", "-lflyloom", f"-Wl,-rpath,{release}")
    (tmp_path / "hosts").write_text("a 0\nb 1\n")
    printed = call(program, more={"FLYLOOM_NETWORK": "ring:n=2,p=1", "FLYLOOM_MAP_LIBRARY": core,
                                  "FLYLOOM_HOST_ENDPOINTS": str(tmp_path / "hosts")})
    where = [int(rank) for rank in re.findall(r"has rank (\d)", printed)]
    assert {where[0], where[1]} in ({0, 2}, {1, 3})


def test_every_call_has_a_page_with_an_example(release):
    """The calls of the headers for MPIs have pages, too; and there is no other page."""
    named = set()
    for path in (SOURCE / "include").glob("*.h"):
        text = re.sub(r"#define.*?[^\\]\n", "", path.read_text(), flags=re.DOTALL)
        named |= set(re.findall(r"\nFLY_API [^;]*?\b(fly_\w+)\(", text))
        named |= set(re.findall(r"\nFLY_(?:MPI|PMIX) \w+ (fly_\w+)\(", text))
    pages = {path.stem: path.read_text() for path in (release / "man").glob("*.3")}
    assert set(pages) == named and "fly_mpi_ineighbour_alltoallw" in named
    for name, page in pages.items():
        example = page.split(".SH EXAMPLE")[1].replace("\\-", "-")
        assert re.search(rf"\b{name}\(", example), name
        assert ".SH DESCRIPTION" in page
        if name.startswith("fly_mpi"):
            assert "#include <flyloom_mpi.h>" in page
