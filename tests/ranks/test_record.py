"""The recorder's account of who sends how much to whom, under real MPI libraries, by formulas.

What is sent is in record_calls.c and record_collectives.c. Expected pairs are counted here, those
of collectives by walking through the algorithm that docs/mapping.md names, step by step.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter

import pytest
from checkout import PROGRAMS
from cli_helpers import command, document, flyloom
from mpi_helpers import MPIS, compiled, mpi_environment, needs, shared_cache

LIMIT_S = 120
# windows of Open MPI 4.1.4 crash without it where processes may not read one another
WINDOWS_MAY = {"OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
FLAGS = ["-std=gnu11", "-O1", "-Wall", "-Wno-stringop-overflow", "-Wno-stringop-overread",
         "-pthread"]


@pytest.fixture(params=MPIS, scope="module")
def mpi(request):
    """Each MPI by its name in Debian."""
    needs(request.param)
    return request.param


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("record")


@pytest.fixture(scope="module")
def env(tmp_path_factory):
    return mpi_environment(shared_cache(tmp_path_factory), **WINDOWS_MAY)


def built(mpi, place, name):
    """One of the programs, compiled by the mpicc of an MPI."""
    return compiled(mpi, PROGRAMS / f"{name}.c", place, FLAGS)


@pytest.fixture
def record(mpi, place, env, tmp_path):
    """Records a program: the pairs with their bytes, and those with their messages."""

    def whole(ranks, *words, options=(), code=0, name="record_calls"):
        files = [tmp_path / "bytes.mtx", tmp_path / "messages.mtx"]
        launcher = ["-n", ranks, built(mpi, place, name), *words]
        if isinstance(ranks, str):  # several programs
            launcher = [part.replace("PROGRAM", str(built(mpi, place, name)))
                        for part in ranks.split()]
        done = flyloom("record", "-o", files[0], "--message-counts", files[1], *options, "--",
                       f"mpiexec.{mpi}", *launcher, env=env, cwd=tmp_path, limit_s=LIMIT_S)
        assert done.returncode == code, done.stderr
        whole.said = done
        return [read(file) if file.exists() else None for file in files]

    return whole


def read(file):
    """The entries of a Matrix Market file, from 0."""
    head, about, sizes, *rows = file.read_text().splitlines()
    assert head == "%%MatrixMarket matrix coordinate real general" and about.startswith("% ")
    assert int(sizes.split()[2]) == len(rows)
    found = {(int(a) - 1, int(b) - 1): int(c) for a, b, c in map(str.split, rows)}
    assert len(found) == len(rows) and list(found) == sorted(found)
    return found


def summed(pairs):
    """Pairs with amounts, added up; without nothing."""
    found = Counter()
    for a, b, amount in pairs:
        found[a, b] += amount
    return {pair: amount for pair, amount in found.items() if amount}


def test_a_ring_is_exact_and_goes_into_map(record, tmp_path):
    found, messages = record(5, "ring")
    assert found == {(r, (r + 1) % 5): 3 * (10 + r) for r in range(5)}
    assert messages == {(r, (r + 1) % 5): 3 for r in range(5)}
    reported = document("map", "torus:shape=5,p=1", "--graph", tmp_path / "bytes.mtx")
    assert reported["processes"] == 5 and reported["average_dilation"] == 1
    assert reported["hop_bytes"] == sum(found.values())


def test_every_kind_of_send_counts(record):
    found, messages = record(3, "kinds", options=["--no-collectives"])
    one = (1 + 64 + 2 * 64 + 64**2 + 3 * 64**2 + 64**3 + 2 * 64**3  # Send to Irsend
           + 5 + 3 * 80)  # Ssend; three of a type with 80 bytes
    assert found == {(r, (r + 1) % 3): one for r in range(3)}
    assert set(messages.values()) == {9}


@pytest.mark.parametrize(("ranks", "shape"), [(6, (3, 2)), (7, (7, 1))])
def test_a_stencil_on_a_grid(record, ranks, shape):
    """100 bytes to both sides in rows, which end; 7 in columns, which are rings; 8 to neighbours
    by a collective of the neighbourhood, which --no-collectives keeps."""
    rows, columns = shape
    wanted = []
    for r in range(ranks):
        x, y = divmod(r, columns)
        for step in (-1, 1):
            if 0 <= x + step < rows:
                wanted.append((r, r + step * columns, 108))
            wanted.append((r, x * columns + (y + step) % columns, 15))
    assert record(ranks, "halo", options=["--no-collectives"])[0] == summed(wanted)


def test_persistent_requests_count_when_they_start(record):
    found, messages = record(4, "persistent")
    wanted = [(r, (r + 1) % 4, 7 * 11 + 100) for r in range(4)]
    wanted += [(r, (r + 2) % 4, 3 * 13) for r in range(4)]
    assert found == summed(wanted)
    assert sum(messages.values()) == 4 * (7 + 3 + 100)


def test_split_communicators_have_ranks_of_the_world(record):
    wanted = []
    for half in (range(0, 7, 2), range(1, 7, 2)):
        backwards = list(reversed(half))
        wanted += [(a, b, 2001) for a, b in
                   zip(backwards, backwards[1:] + backwards[:1], strict=True)]
    assert record(7, "split")[0] == summed(wanted)


def test_communicators_that_come_and_go_leave_nothing(record):
    found, _ = record(2, "loop", options=["--no-collectives"])
    assert found == {(0, 1): 400, (1, 0): 400}
    grown = int(re.search(r"grown (\d+)", record.said.stdout)[1])
    assert grown < 2_000, "tables of the 100 communicators that send would be 10 KB"


def test_sendrecv_replace_and_nobody(record):
    assert record(3, "replace")[0] == {(r, (r + 1) % 3): 21 for r in range(3)}
    found, messages = record(3, "nobody")
    assert found == messages == {}


def test_windows(record):
    """The window's ranks run backwards. A put goes to the next, what is got comes from the one
    after it."""
    wanted = []
    for rank in range(4):
        me, to, more = ((3 - (rank + step) % 4) for step in range(3))
        wanted.append((me, to, 1 + 64 + 64**2 + 64**3 + 8 + 2 * 8))
        wanted.append((to, me, 8 + 8))
        wanted.append((more, me, 2 + 3 * 64 + 3 * 64**2))
    assert record(4, "windows", options=["--no-collectives"])[0] == summed(wanted)


def test_neighbourhoods_of_a_graph(record):
    wanted = []
    for r in range(6):
        wanted.append((r, (r + 1) % 6, 5 + 100 + 1000))
        if r % 2 == 0:
            wanted.append((r, (r + 3) % 6, 5 + 200 + 1000))
    assert record(6, "neighbours", options=["--no-collectives"])[0] == summed(wanted)


def test_communicators_between_groups(record):
    """Rank i of the lower half is process 1 - i; it sends to the last process."""
    found, _ = record(5, "between")
    wanted = [(1, 4, 10), (0, 4, 11)] + [(0, r, 100) for r in (2, 3, 4)]
    assert {k: v for k, v in found.items() if v > 8} == summed(wanted)


def test_threads(record):
    found, messages = record(3, "threads")
    assert found == {(r, (r + 1) % 3): 2 * 2 * 100 * 3 for r in range(3)}
    assert set(messages.values()) == {2 * 2 * 100}


def test_several_programs_of_one_run(record):
    found, _ = record("-n 2 PROGRAM ring : -n 1 PROGRAM ring")
    assert found == {(r, (r + 1) % 3): 3 * (10 + r) for r in range(3)}


def parent(r):
    """The parent in a binomial tree rooted at 0: without the lowest bit that is set."""
    return r & (r - 1)


def subtree(r, size):
    """The ranks whose path to the root goes through r."""
    found = 0
    for x in range(size):
        while x > r:
            x = parent(x)
        found += x == r
    return found


def doubling(size):
    """Recursive doubling: who sends to whom, one after the other."""
    power = 1 << (size.bit_length() - 1)
    rest = size - power
    pairs = [(2 * i, 2 * i + 1) for i in range(rest)]
    active = [2 * i + 1 for i in range(rest)] + list(range(2 * rest, size))
    sums, step = {r: {r} for r in active}, 1
    for even, odd in pairs:
        sums[odd] |= {even}
    sent = list(pairs)
    while step < power:
        before = {r: set(sums[r]) for r in active}
        for i, r in enumerate(active):
            other = active[i ^ step]
            sums[other] |= before[r]
            sent.append((r, other))
        step *= 2
    assert all(sums[r] == set(range(size)) for r in active), "all know all"
    return sent + [(odd, even) for even, odd in pairs]


def expected(which, size, root=2):
    """Pairs and blocks of a collective."""
    around, others = range(size), [(a, b) for a in range(size) for b in range(size) if a != b]
    tree = [((parent(r) + root) % size, (r + root) % size, subtree(r, size))
            for r in range(1, size)]
    ring = [(r, (r + 1) % size, (r - step) % size) for r in around for step in range(size - 1)]
    return {
        "Bcast": [(a, b, 1) for a, b, _ in tree],
        "Reduce": [(b, a, 1) for a, b, _ in tree],
        "Allreduce": [(a, b, 1) for a, b in doubling(size)],
        "Gather": [(b, a, blocks) for a, b, blocks in tree],
        "Scatter": tree,
        "Allgather": [(a, b, 1) for a, b, _ in ring],
        "Alltoall": [(a, b, 1) for a, b in others],
        "Reduce_scatter_block": [(a, b, 1) for a, b in others],
        "Scan": [(r, r + 1, 1) for r in range(size - 1)],
        "Exscan": [(r, r + 1, 1) for r in range(size - 1)],
        "Gatherv": [(r, root, r + 1) for r in around if r != root],
        "Scatterv": [(root, r, r + 1) for r in around if r != root],
        "Allgatherv": [(a, b, of + 1) for a, b, of in ring],
        "Alltoallv": [(a, b, b + 1) for a, b in others],
        "Alltoallw": [(a, b, b + 1) for a, b in others],
        "Reduce_scatter": [(a, b, b + 1) for a, b in others],
        "Allgather in place": [(a, b, 1) for a, b, _ in ring],
        "Alltoall in place": [(a, b, 1) for a, b in others],
    }[which]


COLLECTIVES = (
    "Bcast", "Reduce", "Allreduce", "Gather", "Scatter", "Allgather", "Alltoall",
    "Reduce_scatter_block", "Scan", "Exscan", "Gatherv", "Scatterv", "Allgatherv", "Alltoallv",
    "Alltoallw", "Reduce_scatter", "Allgather in place", "Alltoall in place",
)
"""The collectives in the order of their numbers in record_collectives.c."""


def digits(found, count):
    """What the digits to the base 32 say, a collective each."""
    return [{pair: v >> 5 * k & 31 for pair, v in found.items() if v >> 5 * k & 31}
            for k in range(count)]


@pytest.mark.parametrize(("size", "form"), [(7, 0), (4, 1), (3, 2)])
def test_collectives_are_the_pairs_of_their_algorithms(mpi, record, size, form):
    if form == 2 and mpi == "openmpi":
        pytest.skip("this MPI has no persistent collectives")
    left = list(enumerate(COLLECTIVES))
    if form == 2:
        left.remove((4, "Scatter"))  # MPICH 4.0.2 fails at its second start
    while left:
        numbers, names = zip(*left[:4], strict=True)
        left = left[4:]
        found, _ = record(size, form, *numbers, name="record_collectives")
        times = 2 if form == 2 else 1
        for name, digit in zip(names, digits(found, len(names)), strict=True):
            wanted = {k: v * times for k, v in summed(expected(name, size)).items()}
            assert digit == wanted, name


def test_collectives_can_be_left_out(record):
    found, messages = record(4, 0, 0, 1, 2, 6, name="record_collectives",
                             options=["--no-collectives"])
    assert found == messages == {}


def test_a_barrier_is_messages_without_bytes(record):
    """Dissemination: to the rank 1, 2 and 4 further."""
    found, messages = record(6, 0, name="record_collectives")
    assert found == {}
    assert messages == summed([(r, (r + s) % 6, 1) for r in range(6) for s in (1, 2, 4)])


@pytest.mark.parametrize("module", ["mpi", "mpi_f08"])
def test_fortran(mpi, place, record, module, tmp_path):
    compiler = f"mpif90.{mpi}"
    if not shutil.which(compiler) or not shutil.which("gfortran"):
        pytest.skip(f"{compiler} is not installed")
    source = tmp_path / "ring.f90"
    source.write_text((PROGRAMS / "record.f90").read_text().replace("MODULE", module, 2)
                      .replace(f"that {module} names", "that is used"))
    subprocess.run([compiler, source, "-o", place / f"{module}_{mpi}"], check=True,
                   timeout=LIMIT_S)
    found, _ = record(3, name=module)
    assert found == summed([*((r, (r + 1) % 3, 20) for r in range(3)), (0, 1, 12), (0, 2, 12)])


def test_the_exit_code_is_the_program_s(record):
    assert record(2, "ring", "7", code=7)[0] == {(0, 1): 30, (1, 0): 33}


def test_the_words_of_the_program_are_its_own(mpi, env, tmp_path):
    words = ["--set", "a=1", "b=2", "--json", "--", "-o", "x"]
    done = flyloom("record", "-o", "a.mtx", "--", f"mpiexec.{mpi}", "-n", "1", "echo", *words,
                   env=env, cwd=tmp_path, limit_s=LIMIT_S)
    # the program ended well, and a script stops
    assert done.returncode == 3 and done.stdout.split() == words, done.stderr
    assert done.stderr.count("\n") == 1 and "nothing was recorded" in done.stderr


def test_a_program_that_leaves_without_finalize(mpi, record, tmp_path):
    """The launcher may call that a fault; the file of an earlier run stays as it was."""
    kept = tmp_path / "bytes.mtx"
    kept.write_text("%%MatrixMarket matrix coordinate real general\n% old\n1 1 0\n")
    found, _ = record(2, "ring", "left", code=3 if mpi == "mpich" else 1)
    assert found == {}
    assert "nothing was recorded" in record.said.stderr
    assert "MPI_Finalize" in record.said.stderr


def test_a_file_that_cannot_be_written(mpi, place, env, tmp_path):
    """In a batch script there is one line of error, and the program's own exit code."""
    words = command("record", "--library", "--", f"mpiexec.{mpi}")
    library = subprocess.run(words, env=env, text=True, capture_output=True, check=True,
                             timeout=LIMIT_S).stdout.strip()
    file = tmp_path / "absent" / "app.mtx"
    more = {"LD_PRELOAD": library, "FLYLOOM_RECORD_FILE": str(file)}
    passed = [part for k, v in more.items()
              for part in (("-x", f"{k}={v}") if mpi == "openmpi" else ("-genv", k, v))]
    done = subprocess.run(
        [f"mpiexec.{mpi}", *passed, "-n", "2", built(mpi, place, "record_calls"), "ring", "5"],
        env=env, text=True, capture_output=True, timeout=LIMIT_S)
    assert done.returncode == 5
    lines = [line for line in done.stderr.splitlines() if line.startswith("flyloom:")]
    assert lines == [f"flyloom: record: {file}: cannot be written: No such file or directory"]


def test_no_link_is_written_through(record, tmp_path):
    """A part has a name that nobody foresees; the file's own, where it is a link, is replaced."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    for name in ("bytes.mtx.part", "messages.mtx"):
        (tmp_path / name).symlink_to("victim")
    record(2, "ring")
    assert victim.read_text() == "precious" and not (tmp_path / "messages.mtx").is_symlink()
    assert not [path.name for path in tmp_path.glob(".*")]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_a_library_that_another_user_may_have_built_is_not_run(tmp_path):
    cache = tmp_path / "cache"
    (cache / "flyloom").mkdir(parents=True)
    os.chown(cache / "flyloom", 12345, 12345)
    needs(MPIS[0])
    words = command("record", "-o", tmp_path / "a.mtx", "--", f"mpiexec.{MPIS[0]}", "true")
    done = subprocess.run(words, env=mpi_environment(cache), text=True, capture_output=True,
                          timeout=LIMIT_S)
    assert done.returncode == 2
    assert f"{cache / 'flyloom'}: belongs to another user (number 12345)" in done.stderr


@pytest.mark.parametrize(("words", "why"), [
    (["-o", "absent/a.mtx", "--", "true"], "absent/a.mtx: cannot be written: No such file"),
    (["-o", ".", "--", "true"], ".: cannot be written: Is a directory"),
    (["-o", "a.mtx", "--message-counts", "absent/b.mtx", "--", "true"],
     "absent/b.mtx: cannot be written: No such file"),
    (["-o", "a.mtx"], "no program"),
    (["--", "true"], "-o: where"),
    (["-o", "a.mtx", "--", "no-such-program"], "no-such-program"),
])
def test_refusals_come_before_the_program_runs(env, tmp_path, words, why):
    done = flyloom("record", *words, env=env, cwd=tmp_path, limit_s=LIMIT_S)
    assert done.returncode == 2 and why in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1 and not os.listdir(tmp_path)
