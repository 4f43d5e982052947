"""Ranks of distributed graphs that the network orders, under real MPI libraries: optima that are
known, neighbours by what a program gave, and the old order wherever something is missing.

Processes are on hosts by FLYLOOM_HOST, which a script sets by their rank.
"""

from __future__ import annotations

import random
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import flyloom as fl
import networkx as nx
import pytest
from campaign import count
from checkout import PROGRAMS
from cli_helpers import command, flyloom
from mpi_helpers import MPIS, compiled, mpi_environment, needs, on_hosts, shared_cache

LIMIT_S = 120
UNMOVED = "flyloom: reorder: no rank of the program was moved:"
FORMS = ("adjacent", "own", "next", "one")


@pytest.fixture(params=MPIS, scope="module")
def mpi(request):
    """Each MPI by its name in Debian."""
    needs(request.param)
    return request.param


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("dist_graph")


@pytest.fixture(scope="module")
def env(tmp_path_factory):
    return mpi_environment(shared_cache(tmp_path_factory))


@pytest.fixture(scope="module")
def program(mpi, place):
    return compiled(mpi, PROGRAMS / "dist_graph.c", place, ("-std=gnu11", "-O1", "-Wall"))


@pytest.fixture(scope="module")
def library(mpi, env):
    return subprocess.run(command("reorder", "--library", "--", f"mpiexec.{mpi}"), env=env,
                          text=True, capture_output=True, check=True, timeout=LIMIT_S,
                          ).stdout.strip()


class Outcome:
    """What a run said, by the rank in MPI_COMM_WORLD."""

    def __init__(self, done):
        assert done.returncode == 0, done.stdout + done.stderr
        self.lines = [line for line in done.stderr.splitlines() if line.startswith("flyloom")]
        self.failed = done.stdout.count("failed")
        self.old, self.new, self.colour, self.weighted = {}, {}, {}, {}
        self.sources, self.destinations, self.got = {}, {}, {}
        for line in done.stdout.splitlines():
            if " in" not in line:
                continue
            head, rest = line.split(" in", 1)
            sources, rest = rest.split(" out", 1)
            destinations, got = rest.split(" got", 1)
            world, colour, old, new, weighted = map(int, head.split())
            pairs = [[tuple(map(int, p.split(":"))) for p in text.split()]
                     for text in (sources, destinations)]
            self.old[world], self.new[world], self.colour[world] = old, new, colour
            self.sources[colour, new], self.destinations[colour, new] = pairs
            self.got[colour, new] = [int(value) for value in got.split()]
            self.weighted[world] = weighted

    def ranks(self, colour=0):
        """The new rank by the old one."""
        found = {self.old[w]: self.new[w] for w in self.old if self.colour[w] == colour}
        assert sorted(found.values()) == sorted(found), "a permutation"
        return [found[old] for old in sorted(found)]


@pytest.fixture
def run(mpi, env, program, library, tmp_path):
    """Runs the program: ranks on hosts, a graph as (from, to, weight)."""

    def whole(hosts, edges, form="adjacent", *, weighted=1, reorder=1, times=1, colours=1,
              through=(), using=None, **variables):
        (tmp_path / "graph").write_text("".join(f"{a} {b} {w}\n" for a, b, w in edges))
        script = on_hosts(hosts, tmp_path)
        words = ["-n", len(hosts), script, using or program, tmp_path / "graph", form, weighted,
                 reorder, times, colours]
        if through:
            words = [*command("reorder", *through, "--", f"mpiexec.{mpi}"), *words]
        else:
            more = {"LD_PRELOAD": library, **variables}
            passed = [part for k, v in more.items()
                      for part in (("-x", f"{k}={v}") if mpi == "openmpi" else ("-genv", k, v))]
            words = [f"mpiexec.{mpi}", *passed, *words]
        done = subprocess.run(list(map(str, words)), env=env, cwd=tmp_path, text=True,
                              capture_output=True, timeout=LIMIT_S)
        return Outcome(done)

    return whole


def hop_bytes(net, hosts, edges, ranks):
    """Weights times hops between switches, where rank `ranks[p]` is on the host of process p."""
    net = fl.network(net)
    graph = nx.Graph(net.edges.tolist())
    graph.add_nodes_from(range(net.switches))
    number = {name: e for e, name in enumerate(net.endpoint_names)}
    on = net.attachments[:, 0].tolist()  # by endpoint, which has one rail
    at = {rank: on[number[host] if host in number else int(host)]
          for rank, host in zip(ranks, hosts, strict=True)}
    far = dict(nx.all_pairs_shortest_path_length(graph))
    return sum(w * far[at[a]][at[b]] for a, b, w in edges)


def check_neighbours(reported, edges, size, *, in_order, weighted=True, colour=0):
    """Rank r has what was given for r, whoever it is now, and hears from its sources."""
    edges = [(a, b, w if weighted else 1) for a, b, w in edges]
    for r in range(size):
        sources, destinations = reported.sources[colour, r], reported.destinations[colour, r]
        wanted = ([(a, w) for a, b, w in edges if b == r], [(b, w) for a, b, w in edges if a == r])
        if in_order:
            assert (sources, destinations) == wanted, r
        else:
            assert [Counter(sources), Counter(destinations)] == [Counter(x) for x in wanted], r
        seen = Counter()
        for (source, _), value in zip(sources, reported.got[colour, r], strict=True):
            to = [i for i, (d, _) in enumerate(reported.destinations[colour, source]) if d == r]
            assert value == 1000 * source + to[seen[source]], (r, source)
            seen[source] += 1


def ring(n, weight):
    return [(r, (r + step) % n, weight) for r in range(n) for step in (1, n - 1)]


@pytest.mark.parametrize("form", FORMS)
def test_a_ring_of_ranks_goes_around_a_ring_of_switches(run, form):
    """Every neighbour is one hop away in the end: the least there is."""
    net, hosts = "ring:n=8,p=1", [0, 3, 6, 1, 4, 7, 2, 5]
    printed = run(hosts, ring(8, 5), form, FLYLOOM_NETWORK=net, FLYLOOM_VERBOSE="1")
    ranks = printed.ranks()
    before = hop_bytes(net, hosts, ring(8, 5), range(8))
    assert before == 16 * 5 * 3 and hop_bytes(net, hosts, ring(8, 5), ranks) == 16 * 5
    (line,) = printed.lines
    assert f"hop-bytes {before} to {16 * 5}," in line and "8 processes on 8 hosts" in line
    check_neighbours(printed, ring(8, 5), 8, in_order=form == "adjacent")


@pytest.mark.parametrize("weighted", [0, 1])
def test_pairs_come_together_where_two_processes_are_on_a_host(run, weighted):
    """2 k and 2 k + 1 talk; the launcher has put them on different hosts."""
    hosts = [r % 4 for r in range(8)]
    pairs = [(r, r ^ 1, 1 + r // 2) for r in range(8)]
    printed = run(hosts, pairs, weighted=weighted, FLYLOOM_NETWORK="ring:n=4,p=1")
    ranks = printed.ranks()
    on = {rank: hosts[p] for p, rank in enumerate(ranks)}
    assert all(on[r] == on[r ^ 1] for r in range(8)), on
    check_neighbours(printed, pairs, 8, in_order=True, weighted=weighted)
    assert set(printed.weighted.values()) == {weighted} and printed.lines == []


def test_heavy_edges_are_what_weights_say(run):
    """The edges are on two hosts: without weights one pair is as good as another; the heavy ones
    must win."""
    hosts = [0, 0, 2, 2]
    light = [(0, 1, 1), (1, 0, 1), (2, 3, 1), (3, 2, 1)]
    heavy = [(0, 2, 9), (2, 0, 9), (1, 3, 9), (3, 1, 9)]
    for form in ("adjacent", "next"):
        printed = run(hosts, light + heavy, form, FLYLOOM_NETWORK="ring:n=4,p=1")
        ranks = printed.ranks()
        assert {ranks[0], ranks[1]} in ({0, 2}, {1, 3})
        check_neighbours(printed, light + heavy, 4, in_order=form == "adjacent")


def irregular(size, seed):
    """Edges at random, some twice, some to oneself; the last rank has none."""
    draw = random.Random(seed)
    edges = [(draw.randrange(size - 1), draw.randrange(size - 1), draw.randrange(1, 50))
             for _ in range(3 * size)]
    return edges + edges[:2]


@pytest.mark.campaign
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weighted", count([0], [0, 1]))  # with weights: the tests before this one
def test_neighbours_of_graphs_without_order(run, tmp_path, form, weighted):
    """Hosts have unlike numbers of processes, and other names than their endpoints."""
    net, edges = "torus:shape=3x3,p=1", irregular(10, 7)
    hosts = ["n3", "n0.site", "n3", "n1", "n2", "n0.site", "n3", "n1", "n2", "n4"]
    where = {"n0": 0, "n1": 4, "n2": 8, "n3": 2, "n4": 6}
    (tmp_path / "table").write_text("# host, endpoint\n"
                                    + "".join(f"{h} {e}\n" for h, e in where.items()))
    printed = run(hosts, edges, form, weighted=weighted, FLYLOOM_NETWORK=net,
                  FLYLOOM_HOST_ENDPOINTS=tmp_path / "table", FLYLOOM_OBJECTIVE="hops")
    ranks = printed.ranks()
    assert ranks != sorted(ranks) and printed.lines == []
    check_neighbours(printed, edges, 10, in_order=form == "adjacent", weighted=weighted)
    known = [where[host.split(".")[0]] for host in hosts]
    counted = [(a, b, w if weighted else 1) for a, b, w in edges]
    assert hop_bytes(net, known, counted, ranks) < hop_bytes(net, known, counted, range(10))


@pytest.mark.campaign
@pytest.mark.parametrize("form", ["adjacent", "next"])
def test_communicators_that_are_split_and_made_again(run, form):
    """Two of five and four processes, each a ring of its own; the same ranks every time."""
    hosts = [0, 1, 2, 4, 6, 7, 1, 5, 3]
    edges = [(0, 3, 7), (3, 0, 7), (1, 2, 2), (2, 3, 1)]
    asked = {"FLYLOOM_NETWORK": "ring:n=8,p=1", "FLYLOOM_OBJECTIVE": "hops"}
    printed = run(hosts, edges, form, times=count(2, 5), colours=2, **asked)
    for colour in (0, 1):
        own, ranks = hosts[colour::2], printed.ranks(colour)
        assert ranks != sorted(ranks)
        check_neighbours(printed, edges, len(own), in_order=form == "adjacent", colour=colour)
        better = hop_bytes("ring:n=8,p=1", own, edges, ranks)
        assert better < hop_bytes("ring:n=8,p=1", own, edges, range(len(own)))
    again = run(hosts, edges, form, colours=2, **asked)
    assert again.new == printed.new


def test_who_may_not_reorder_is_left_alone(run):
    printed = run([0, 3, 6, 1], ring(4, 5), reorder=0, FLYLOOM_NETWORK="ring:n=8,p=1",
                  FLYLOOM_VERBOSE="1")
    fixed = f"{UNMOVED} MPI_Dist_graph_create_adjacent was called 1 time without reorder"
    assert printed.ranks() == [0, 1, 2, 3] and printed.lines == [fixed]
    printed = run([0, 3, 6, 1], ring(4, 5), reorder=0)
    assert printed.ranks() == [0, 1, 2, 3] and printed.lines == [fixed]


def test_an_order_that_cannot_be_better_stays(run):
    printed = run(range(6), ring(6, 3), FLYLOOM_NETWORK="ring:n=6,p=1")
    as_good = "was called 1 time with reorder whose old order is as good"
    assert printed.ranks() == list(range(6))
    assert printed.lines == [f"{UNMOVED} MPI_Dist_graph_create_adjacent {as_good}"]
    printed = run([3, 1, 0, 2], [], "own", FLYLOOM_NETWORK="ring:n=6,p=1")
    assert printed.ranks() == list(range(4))
    assert printed.lines == [f"{UNMOVED} MPI_Dist_graph_create {as_good}"]


@pytest.mark.parametrize(("form", "hosts", "variables", "says"), [
    ("adjacent", [0, 3, 6, 1], {}, "there is no network; FLYLOOM_NETWORK names a file"),
    ("one", [0, 3, 6, 1], {}, "there is no network; FLYLOOM_NETWORK names a file"),
    ("adjacent", [0, "gone", 6, 1], {"FLYLOOM_NETWORK": "ring:n=8,p=1"},
     "host gone of rank 1: there is no endpoint"),
    ("one", [0, 3, 6, "gone"], {"FLYLOOM_NETWORK": "ring:n=8,p=1"},
     "host gone of rank 3: there is no endpoint"),
    ("own", [0, 3, 6, 1], {"FLYLOOM_NETWORK": "rong:n=8"}, "rong:n=8: "),
    ("next", [0, 3, 6, 1], {"FLYLOOM_NETWORK": "no/such.json"},
     "no/such.json: cannot be read: No such"),
    ("own", [0, 3, 6, 1], {"FLYLOOM_NETWORK": "/bin/sh"}, "/bin/sh: is no text"),
    ("adjacent", [0, 3, 6, 1], {"FLYLOOM_NETWORK": "/"}, "/: cannot be read: Is a directory"),
    ("adjacent", [0, 3, 6, 1], {"FLYLOOM_NETWORK": "ring:n=8", "FLYLOOM_MAP_LIBRARY": "/dev/null"},
     "/dev/null: "),
    ("own", [0, 3, 6, 1], {"FLYLOOM_NETWORK": "ring:n=8", "FLYLOOM_EFFORT": "all"},
     'FLYLOOM_EFFORT: there is no "all"; fast, normal, best'),
    ("one", [0, 3, 6, 1], {"FLYLOOM_NETWORK": "ring:n=8", "FLYLOOM_HOST_ENDPOINTS": "hosts"},
     "hosts: line 1: "),
])
def test_the_old_order_with_one_warning(run, form, hosts, variables, says):
    printed = run(hosts, ring(4, 5), form, times=3, **variables)
    assert printed.ranks() == [0, 1, 2, 3]
    check_neighbours(printed, ring(4, 5), 4, in_order=form == "adjacent")
    (line,) = printed.lines
    assert line.startswith(f"flyloom: reorder: ranks stay as they are: {says}"), line


def test_what_is_wrong_is_the_library_s_to_tell(run):
    """A negative number of sources: an error, not a hang."""
    printed = run([0, 3, 6, 1], [], "bad", FLYLOOM_NETWORK="ring:n=8,p=1")
    wrong = "MPI_Dist_graph_create was called 1 time with arguments that are wrong"
    assert printed.failed == 4 and printed.lines == [f"{UNMOVED} {wrong}"]


def test_the_command_knows_networks_of_all_kinds(run, tmp_path):
    """A spec file, endpoints by their names, options as variables."""
    (tmp_path / "net.toml").write_text('family = "torus"\nshape = [2, 4]\np = 1\n')
    net = fl.network(str(tmp_path / "net.toml"))
    hosts = [net.endpoint_names[e] for e in (0, 5, 2, 7, 4, 1, 6, 3)]
    through = ["--net", tmp_path / "net.toml", "--verbose", "--objective", "hops", "--effort",
               "fast", "--seed", "5"]
    printed = run(hosts, ring(8, 4), through=through)
    (line,) = printed.lines
    assert hop_bytes(net, hosts, ring(8, 4), printed.ranks()) == 64 and "to 64," in line


def test_the_command_s_program_has_its_own_exit_code(mpi, env, tmp_path):
    done = flyloom("reorder", "--net", "ring:n=4", "--", f"mpiexec.{mpi}", "-n", "1", "sh", "-c",
                   "exit 6", env=env, cwd=tmp_path, limit_s=LIMIT_S)
    assert done.returncode == 6


@pytest.mark.parametrize(("words", "why"), [
    (["--net", "ring:n=4"], "no program; flyloom reorder --net NET --"),
    (["--", "true"], "--net: on which network?"),
    (["--net", "rong:n=4", "--", "true"], "rong"),
    (["--net", "ring:n=4", "--", "no-such-program"], "no-such-program"),
    (["--net", "ring:n=4", "--effort", "all", "--", "true"], "--effort: there is no 'all'"),
    (["--net", "ring:n=4", "--objective", "x", "--", "true"], "--objective: there is no 'x'"),
    (["--net", "ring:n=4", "--host-endpoints", "absent", "--", "true"],
     "--host-endpoints absent"),
])
def test_refusals_come_before_the_program_runs(env, tmp_path, words, why):
    done = flyloom("reorder", *words, env=env, cwd=tmp_path, limit_s=LIMIT_S)
    assert done.returncode == 2 and why in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("module", ["mpi", "mpi_f08"])
def test_fortran(mpi, run, module, tmp_path, program):
    """Ranks 0 and 1 are on hosts far apart, and 2 and 3; who is 1 sits beside 0 in the end."""
    compiler = f"mpif90.{mpi}"
    if not shutil.which(compiler) or not shutil.which("gfortran"):
        pytest.skip(f"{compiler} is not installed")
    source = tmp_path / "graph.f90"
    handle = "integer" if module == "mpi" else "type(mpi_comm)"
    text = (PROGRAMS / "dist_graph.f90").read_text().replace("MODULE", module)
    source.write_text(text.replace("INTEGER_OR_COMM", handle))
    subprocess.run([compiler, source, "-o", program.with_name("fortran")], check=True,
                   timeout=LIMIT_S)
    printed = run([0, 4, 1, 5], [], using=program.with_name("fortran"),
                  FLYLOOM_NETWORK="ring:n=8,p=1")
    for form in (0, 1):
        assert sorted(printed.ranks(form)[:3:2]) in ([0, 1], [2, 3]), "on hosts 0 and 1"


def test_a_program_can_be_linked_with_the_library(mpi, run, library, program):
    linked = program.with_name(f"linked_{mpi}")
    words = [f"mpicc.{mpi}", "-std=gnu11", PROGRAMS / "dist_graph.c", library, "-o", linked,
             f"-Wl,-rpath,{Path(library).parent}"]
    subprocess.run(words, check=True, timeout=LIMIT_S)
    printed = run([0, 3, 6, 1, 4, 7, 2, 5], ring(8, 5), using=linked, LD_PRELOAD="",
                  FLYLOOM_NETWORK="ring:n=8,p=1")
    assert hop_bytes("ring:n=8,p=1", [0, 3, 6, 1, 4, 7, 2, 5], ring(8, 5), printed.ranks()) == 80


def test_the_recorder_and_this_together(mpi, run, env, library, tmp_path):
    words = command("record", "--library", "--", f"mpiexec.{mpi}")
    recorder = subprocess.run(words, env=env, text=True, capture_output=True, check=True,
                              timeout=LIMIT_S).stdout.strip()
    printed = run([0, 3, 6, 1, 4, 7, 2, 5], ring(8, 5), FLYLOOM_NETWORK="ring:n=8,p=1",
                  LD_PRELOAD=f"{library}:{recorder}", FLYLOOM_RECORD_FILE=tmp_path / "sent.mtx",
                  FLYLOOM_RECORD_COLLECTIVES="0")
    ranks, sent = printed.ranks(), Counter()
    world = {rank: p for p, rank in enumerate(ranks)}
    for line in (tmp_path / "sent.mtx").read_text().splitlines()[3:]:
        a, b, bytes_ = map(int, line.split())
        sent[a - 1, b - 1] += bytes_
    for a, b, _ in ring(8, 5):
        assert sent[world[a], world[b]] >= 4, "an integer to each neighbour"
