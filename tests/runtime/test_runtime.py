"""The runtime: its own tests under ctest, installed, and through its examples.

The C tests compare with a model of the rules (tests/rule_model.c of the runtime) and with formulas.
"""

from __future__ import annotations

import copy
import fcntl
import json
import math
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import coll_flow
import pytest
from campaign import count as times
from checkout import ROOT
from cli_helpers import command, document, environment
from flyloom.measuring.loggp import sizes_asked
from mpi_helpers import ROOT_MAY, needs
from patience import HANG_S

SOURCE = ROOT / "runtime" / "rt"
BUILT = ROOT / "target" / "rt"
LIMIT_S = 5 * HANG_S  # above that of tests/ranks.h, which says what hangs
FLAGS = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE"]


def call(*words: object, more: dict[str, str] | None = None, code: int = 0,
         folder: Path | None = None, limit_s: int = LIMIT_S) -> str:
    """Standard output of a program; what it said where it ends otherwise than it should."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("FLYLOOM_")}
    done = subprocess.run([str(word) for word in words], env={**kept, **ROOT_MAY, **(more or {})},
                          cwd=folder, text=True, capture_output=True, timeout=limit_s)
    reported = f"{words} ended with {done.returncode}\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
    assert done.returncode == code, reported
    return done.stdout


def build(preset: str) -> Path:
    """A preset, built: its folder. One process builds, the tests of other files wait for it."""
    if not shutil.which("cmake"):
        pytest.skip("cmake is not installed")
    BUILT.mkdir(parents=True, exist_ok=True)
    with open(BUILT / f"{preset}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        call("cmake", "--preset", preset, folder=SOURCE)
        call("cmake", "--build", "--preset", preset, "--parallel", "2", folder=SOURCE)
    return BUILT / preset


def needs_libfabric(built: Path) -> None:
    """Skips where the library was built without it: machines without its headers build the rest."""
    if "libfabric" not in call("ldd", built / "libflyloom.so"):
        pytest.skip("libfabric is not installed")


@pytest.fixture(scope="module")
def release():
    return build("release")


@pytest.fixture(scope="module")
def installed(release, tmp_path_factory):
    place = tmp_path_factory.mktemp("installed")
    call("cmake", "--install", release, "--prefix", place)
    return place


def with_pmix(source: str, release: Path, folder: Path) -> Path:
    """A program under PMIx; skips where there is none, or no launcher that speaks it."""
    needs("openmpi")
    if subprocess.run(["pkg-config", "--exists", "pmix"], check=False).returncode != 0:
        pytest.skip("libpmix-dev is not installed")
    program = folder / "program"
    flags = call("pkg-config", "--cflags", "--libs", "pmix").split()
    call("gcc", *FLAGS, f"-I{SOURCE / 'include'}", SOURCE / source, "-o", program,
         f"-L{release}", "-lflyloom", *flags, f"-Wl,-rpath,{release}")
    return program


def test_an_example_with_pmix(release, tmp_path):
    program = with_pmix("examples/pmix_boot.c", release, tmp_path)
    printed = call("mpiexec.openmpi", "-n", 3, program).splitlines()
    assert sorted(printed) == [f"rank {r} of 3 is behind rank {(r - 1) % 3}" for r in range(3)]


@pytest.mark.parametrize("transports", ["shm", "ofi"])
def test_under_a_launcher_with_pmix(transports, release, tmp_path):
    """Open MPI's launcher gives PMIx also to programs without MPI; without one, it is said."""
    program = with_pmix("tests/boot_pmix.c", release, tmp_path)
    if transports == "ofi":
        needs_libfabric(release)
    printed = call("mpiexec.openmpi", "-n", 3, program, more={"FLYLOOM_TRANSPORTS": transports})
    assert printed == "3 ranks, all squares\n" * 2
    assert call(program, "none") == ""


@pytest.mark.campaign
def test_a_million_notifications(release):
    """All to all among 8 processes, a credit each, 4 unexpected: none lost, doubled or torn."""
    each = times(300, 15_625)  # 8 * 8 * 15,625
    printed = call(release / "tests/stress_test", "shm", "processes", 8, each, 5, 1, 4)
    assert "8 ranks, seed 5" in printed


def ranks(program: Path, count: int, folder: Path, nodes: list[str] | None = None) -> list[str]:
    """What each process of a program printed, started without an MPI, each on a node if given."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("FLYLOOM_")}
    folder.mkdir()
    started = [
        subprocess.Popen([*(["ip", "netns", "exec", nodes[rank]] if nodes else []), program],
                         text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         env={**kept, "FLYLOOM_RANK": str(rank), "FLYLOOM_SIZE": str(count),
                              "FLYLOOM_BOOT": str(folder)})
        for rank in range(count)
    ]
    try:
        reported = [process.communicate(timeout=LIMIT_S) for process in started]
    finally:
        for process in started:
            process.kill()
    assert [process.returncode for process in started] == [0] * count, reported
    assert not list(folder.iterdir()), "nothing stays in the folder"
    return [out for out, _ in reported]


@pytest.fixture
def nodes():
    """Two network namespaces with a link between them: what shared memory does not cross."""
    names = [f"fly{os.getpid()}{end}" for end in "ab"]
    if not shutil.which("ip") or os.geteuid() != 0:
        pytest.skip("network namespaces need root and ip")
    if subprocess.run(["ip", "netns", "add", names[0]], capture_output=True).returncode != 0:
        pytest.skip("network namespaces cannot be made here")
    try:
        call("ip", "netns", "add", names[1])
        call("ip", "link", "add", "v0", "netns", names[0], "type", "veth", "peer", "name", "v1",
             "netns", names[1])
        for at, name in enumerate(names):
            call("ip", "-n", name, "addr", "add", f"10.77.0.{at + 1}/24", "dev", f"v{at}")
            call("ip", "-n", name, "link", "set", f"v{at}", "up")
            call("ip", "-n", name, "link", "set", "lo", "up")
        until = time.monotonic() + HANG_S  # the link has a carrier when both ends are up
        while any("state UP" not in call("ip", "-n", name, "link", "show", f"v{at}")
                  for at, name in enumerate(names)):
            assert time.monotonic() < until, "no carrier"
            time.sleep(0.05)
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


#: What each example prints at two ranks, by what it does.
PRINTED = {
    "first": ["", f"rank 1 got ten squares; their sum is {sum(i * i for i in range(10))}\n"],
    "requests": ["", "rank 1: the last test says 0, the cancelled request had 0\n"],
    "moves": ["rank 0: 2 in the corner\n", "rank 1 sees 4 0 1 0\n"],
    "epochs": ["rank 0: counted to 200\n", "rank 1 has 7\n"],
    "collectives": [f"dot product: {sum(range(1001)) * 3}\nrank 0 has 100\n", "rank 1 has 101\n"],
    "neighbours": [f"rank {r} got {10 * (1 - r)} from before and {10 * (1 - r) + 1} from behind\n"
                   f"rank {r} has 1 source, 0, with 100\n"
                   f"rank {r} has {100 * (1 - r) + 34} and {100 * (1 - r) + 31} beside its last "
                   "row\n" for r in range(2)],
    "multicast": [f"rank {r} has 7; multicast not open: not asked for: FLYLOOM_MULTICAST\n"
                  for r in range(2)],
    "teams": ["half 0 adds up to 0\n", "half 1 adds up to 1\n"],
    "mapped": ["ranks stay as they are: there is no network, or nobody who maps to it\n"] * 2,
}


@pytest.mark.parametrize("name", sorted(PRINTED))
def test_examples(name, installed, tmp_path):
    """Each example, built against the installed library by what pkg-config says."""
    config = next(installed.rglob("flyloom.pc")).parent
    flags = call("pkg-config", "--cflags", "--libs", "flyloom",
                 more={"PKG_CONFIG_PATH": str(config)}).split()
    program = tmp_path / name
    call("gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", SOURCE / "examples" / f"{name}.c",
         "-o", program, *flags, f"-Wl,-rpath,{config.parent}")
    assert ranks(program, 2, tmp_path / "boot") == PRINTED[name]
    there = {path.stem for path in (SOURCE / "examples").glob("*.c")}
    assert {name for name in there if not name.startswith(("mpi_", "pmix_"))} == set(PRINTED)


@pytest.mark.parametrize("name", ["first", "requests", "moves", "epochs", "collectives",
                                  "neighbours"])
def test_two_nodes(name, nodes, release, tmp_path):
    """The tests of the runtime pass between two nodes, over libfabric and TCP."""
    needs_libfabric(release)
    program = tmp_path / name
    call("gcc", "-std=gnu11", SOURCE / "examples" / f"{name}.c", "-o", program,
         f"-I{SOURCE / 'include'}", f"-L{release}", "-lflyloom", f"-Wl,-rpath,{release}")
    assert ranks(program, 2, tmp_path / "boot", nodes) == PRINTED[name]


@pytest.mark.parametrize("provider", ["net", "tcp;ofi_rxm"])
def test_large_puts_do_not_stand_still(provider, release):
    """Puts of many pieces, to and fro and many at once: with ofi_rxm they once hung."""
    needs_libfabric(release)
    printed = call(release / "flyloom-perf", "--transports", "ofi", "--bytes", "65536",
                   "--repetitions", 200, "--json", more={"FLYLOOM_PROVIDER": provider})
    rows = {row["what"]: row for row in json.loads(printed)}
    assert set(rows) > {"bandwidth: a message", "latency: raw sockets"}
    assert rows["latency: raw sockets"]["bytes"] == 65536


def lose(node, percent):
    """Makes a node lose this share of the packets that come; skips where the kernel cannot."""
    link = call("ip", "-n", node, "-o", "link", "show", "type", "veth").split()[1].split("@")[0]
    why = ["no tc", "no nft"]
    if shutil.which("tc"):
        done = subprocess.run(["tc", "-n", node, "qdisc", "add", "dev", link, "root", "netem",
                               "loss", f"{percent}%"], capture_output=True, text=True)
        if done.returncode == 0:
            return
        why[0] = f"netem: {done.stderr.strip()}"
    if shutil.which("nft"):
        rules = ("add table ip loss; "
                 "add chain ip loss in { type filter hook input priority 0; }; "
                 f"add rule ip loss in numgen random mod 100 < {percent} counter drop")
        done = subprocess.run(["ip", "netns", "exec", node, "nft", rules], capture_output=True,
                              text=True)
        if done.returncode == 0:
            return
        why[1] = f"nftables: {done.stderr.strip()}"
    pytest.skip(f"packets cannot be lost here: {'; '.join(why)}")


def lost(node):
    """How many packets a node has lost since ``lose``."""
    printed = call("tc", "-s", "-n", node, "qdisc", "show") if shutil.which("tc") else ""
    if "netem" in printed:
        return sum(int(n) for n in re.findall(r"dropped (\d+)", printed))
    printed = call("ip", "netns", "exec", node, "nft", "list", "table", "ip", "loss")
    return int(re.search(r"packets (\d+)", printed).group(1))


@pytest.mark.parametrize("loss_percent", [0, 1])
@pytest.mark.parametrize("provider", ["net", "tcp;ofi_rxm"])
def test_two_nodes_keep_the_rules(provider, loss_percent, nodes, release):
    """Random programs as the model of the rules says, epochs, and all to all, over TCP between
    nodes, also where packets are lost: ranks are on the two in turn."""
    needs_libfabric(release)
    if loss_percent:
        for node in nodes:
            lose(node, loss_percent)
    more = {"FLYLOOM_TEST_NODES": ",".join(nodes), "FLYLOOM_PROVIDER": provider}
    tests = release / "tests"
    call(tests / "program_test", "ofi", "processes", 2, times(1, 20), times(80, 300), more=more)
    call(tests / "program_test", "ofi", "processes", 3, times(1, 20), 50, 9, "create", more=more)
    call(tests / "sync_test", "ofi", "processes", 3, times(20, 200), more=more)
    call(tests / "stress_test", "ofi", "processes", 4, times(15, 1000), 3, more=more)
    if loss_percent:
        assert sum(lost(node) for node in nodes) > 0
    else:
        call(tests / "stress_test", "ofi", "kill", 3, 1, 4, more=more)


def test_a_cmake_project_finds_it(installed, tmp_path):
    """find_package(flyloom) gives a target to link with."""
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(one C)\n"
        "find_package(flyloom 1 REQUIRED)\n"
        f"add_executable(one {SOURCE}/examples/first.c)\n"
        "target_link_libraries(one flyloom::flyloom)\n")
    call("cmake", "-S", tmp_path, "-B", tmp_path / "b", f"-DCMAKE_PREFIX_PATH={installed}")
    call("cmake", "--build", tmp_path / "b")
    assert ranks(tmp_path / "b" / "one", 2, tmp_path / "boot") == PRINTED["first"]


def test_the_header_and_the_library_agree(release, installed, tmp_path):
    """Exactly the functions of the headers are seen, each has a page, and C++ takes the header;
    those for MPIs are in test_runtime_mapped."""
    header = "".join((SOURCE / "include" / name).read_text()
                     for name in ("flyloom.h", "flyloom_coll.h"))
    declared = set(re.findall(r"^FLY_API [^;]*?\b(fly_\w+)\(", header, flags=re.MULTILINE))
    symbols = call("nm", "-D", "--defined-only", release / "libflyloom.so")
    assert {line.split()[2] for line in symbols.splitlines()} == declared
    pages = {path.stem for path in installed.rglob("*.3")}
    pmix = re.findall(r"^FLY_PMIX .*\b(fly_\w+)\(",
                      (SOURCE / "include/flyloom_pmix.h").read_text(), flags=re.MULTILINE)
    assert len(pmix) == 2
    assert {name for name in pages if not name.startswith("fly_mpi_")} == declared | set(pmix)
    source = tmp_path / "one.cpp"
    source.write_text('#include "flyloom_coll.h"\n'
                      "int main() { return fly_world(nullptr) ? 1 : 0; }\n")
    call("g++", "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only",
         f"-I{SOURCE / 'include'}", source)


#: Bytes between ranks of an algorithm that sends each byte where it must go, and no more, by P and
#: the bytes of each.
MOVED = {
    ("bcast", "binomial"): lambda p, b: (p - 1) * b,
    ("bcast", "pipeline"): lambda p, b: (p - 1) * b,
    ("allgather", "ring"): lambda p, b: p * (p - 1) * b,
    ("allgather", "bruck"): lambda p, b: p * (p - 1) * b,
    ("gather", "linear"): lambda p, b: (p - 1) * b,
    ("scatter", "linear"): lambda p, b: (p - 1) * b,
    ("alltoall", "linear"): lambda p, b: p * (p - 1) * b,
    ("alltoall", "pairwise"): lambda p, b: p * (p - 1) * b,
    ("allreduce", "ring"): lambda p, b: 2 * (p - 1) * b,
    ("allreduce", "linear"): lambda p, b: p * (p - 1) * b,
    ("scan", "chain"): lambda p, b: (p - 1) * b,
}


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 13])
def test_schedules_that_ran_are_right(count, release, tmp_path):
    """What ranks did is run again on symbols: every byte comes from its origins, each once."""
    call(release / "tests" / "coll_test", "loop", "threads", count, count, 6, count, 300,
         more={"FLYLOOM_COLL_DUMP": str(tmp_path / "ran")})
    paths, seen = sorted(tmp_path.glob("ran.*")), set()
    assert len(paths) == count
    for run in _teams(paths):
        moved = coll_flow.check(run)
        first = run[0]
        seen.add((first.operation, first.algorithm))
        rule = MOVED.get((first.operation, first.algorithm))
        if rule is not None:
            assert moved == rule(count, first.bytes), first
    assert len(seen) > 15, seen


@pytest.mark.parametrize("count", [1, 2, 4, 7])
def test_neighbour_schedules_that_ran_are_right(count, release, tmp_path):
    """Likewise along the edges of random graphs, with shapes: each byte from the other end."""
    call(release / "tests" / "neighbour_test", "loop", "threads", count, count, 5, count, 60,
         more={"FLYLOOM_COLL_DUMP": str(tmp_path / "ran")})
    paths, seen, moved = sorted(tmp_path.glob("ran.*")), set(), 0
    assert len(paths) == count
    for run in _teams(paths):
        moved += coll_flow.check(run)
        seen.add((run[0].operation, run[0].algorithm))
    names = ["allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"]
    assert {operation for operation, _ in seen} == {f"neighbour_{name}" for name in names}
    assert {algorithm for _, algorithm in seen} == {"coloured", "at_once"}
    assert (moved > 0) == (count > 1)


def test_a_wrong_neighbour_schedule_is_found(release, tmp_path):
    """A message that is lost, brought elsewhere, or sent in another's round."""
    call(release / "tests" / "neighbour_test", "loop", "threads", 5, 5, 2, 1, 60,
         more={"FLYLOOM_COLL_DUMP": str(tmp_path / "ran")})
    runs = [run for run in _teams(sorted(tmp_path.glob("ran.*"))) if run[0].algorithm == "coloured"
            and run[0].operation == "neighbour_alltoallv"
            and any(item[0] == "receive" for items in run[0].rounds for item in items)]
    assert runs

    def received(one):
        return sum(item[0] == "receive" for items in one.rounds for item in items)

    def elsewhere(rounds):
        for items in rounds:
            for i, item in enumerate(items):
                if item[0] == "receive":
                    items[i] = (*item[:3], hex(int(item[3], 0) + 1), item[4])

    def together(rounds):
        rounds[:] = [[item for items in rounds for item in items]]

    for fault, least in ((list.clear, len(runs)), (elsewhere, len(runs)), (together, 1)):
        found = 0
        for run in copy.deepcopy(runs):
            fault(max(run, key=received).rounds)
            try:
                coll_flow.check(run)
            except AssertionError:
                found += 1
        assert found >= least, fault


def test_a_wrong_schedule_is_found(release, tmp_path):
    """Each kind of fault in what ran is found: a lost round, another place, a fold turned round."""
    call(release / "tests" / "coll_test", "loop", "threads", 4, 4, 20, 1, 60, "allreduce=doubling",
         more={"FLYLOOM_COLL_DUMP": str(tmp_path / "ran")})
    runs = [run for run in _teams(sorted(tmp_path.glob("ran.*")))
            if run[0].operation == "allreduce" and run[0].bytes > 0]
    assert runs
    turned = {"left": "right", "right": "left"}
    faults = [
        lambda items: items.clear(),
        lambda items: items.__setitem__(slice(None), [
            (*one[:3], one[3], turned[one[4]]) if one[0] == "fold" else one for one in items]),
        lambda items: items.__setitem__(slice(None), [
            (*one[:3], hex(int(one[3], 0) + 1), *one[4:]) if one[0] == "receive" else one
            for one in items]),
    ]
    for fault in faults:
        found = 0
        for run in copy.deepcopy(runs):
            for one in run[0].rounds[1:]:
                fault(one)
            try:
                coll_flow.check(run)
            except AssertionError:
                found += 1
        assert found == len(runs)


def _teams(paths):
    """The collectives of a dump: the k-th run of each rank, whatever number it has."""
    by_rank = [[run for runs in sorted(coll_flow.read([path]).items()) for run in runs[1]]
               for path in paths]
    return [list(runs) for runs in zip(*by_rank, strict=True)]


def test_clang_finds_nothing(tmp_path):
    """Clean under another compiler's warnings, and its analysis of the files without I/O."""
    if not shutil.which("clang"):
        pytest.skip("clang is not installed")
    warnings = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-D_GNU_SOURCE",
                f"-I{SOURCE / 'include'}", f"-I{SOURCE / 'src'}"]
    for path in sorted((SOURCE / "src").rglob("*.c")):
        call("clang", *warnings, "-fsyntax-only", path)
    for name in ("match.c", "pending.c", "objects.c", "coll/schedule.c", "coll/model.c"):
        done = subprocess.run(["clang", "--analyze", *warnings[:-2], *warnings[-2:], "-o",
                               tmp_path / "report", SOURCE / "src" / name], text=True,
                              capture_output=True, timeout=LIMIT_S)
        assert done.returncode == 0 and "warning" not in done.stderr, done.stderr


@pytest.mark.parametrize(("words", "part"), [
    (["--bytes", "x"], "1 to 16 numbers"), (["--bytes", "99999999"], "4194304"),
    (["--repetitions", "0"], "1 to 100000000"), (["--often"], "is no option"),
    (["--transports", "pigeons"], "pigeons"), (["--loggp", "3"], "4 to 4194304"),
    (["--loggp"], "4 to 4194304"),
    (["--collectives", "65"], "1 to 64"),
    (["explain"], "such as allreduce"), (["explain", "sort"], "one of barrier"),
    (["explain", "scan"], "--ranks"), (["explain", "scan", "--ranks", "0"], "1 to 1048576"),
    (["explain", "scan", "--ranks", "4", "--loggp", "/no/file"], "/no/file: No such file"),
    (["explain", "scan", "--ranks", "4", "--fast"], "--ordered"),
    (["overlap", "--bytes", "8,"], "1 to 16 numbers"), (["overlap", "--twice"], "--transports"),
    (["overlap", "--transports", "pigeons"], "pigeons"), (["overlap", "--transports"], "shm,ofi"),
    (["model", "--ranks", "1"], "2 to 64"), (["model", "--ask", "4,4,8"], "RANKS - 1 neighbours"),
    (["model", "--ask", "4"], "RANKS,NEIGHBOURS,BYTES"), (["model", "--fast"], "--ask"),
    (["model", "--transports", "pigeons"], "pigeons"),
])
def test_perf_refuses(words, part, release):
    """One clear error, exit code 2."""
    done = subprocess.run([release / "flyloom-perf", *words], text=True, capture_output=True,
                          timeout=LIMIT_S)
    assert done.returncode == 2 and part in done.stderr


@pytest.mark.campaign
@pytest.mark.parametrize("transport", times(["shm"], ["shm", "ofi"]))
def test_perf_takes_times_for_loggp(transport, release, tmp_path):
    """`flyloom measure` finds parameters of what it prints: o and O of the copy, no question. Few
    sizes: on a busy machine each takes a second."""
    done = subprocess.run([release / "flyloom-perf", "--loggp", "16", "--transports", transport],
                          text=True, capture_output=True, timeout=LIMIT_S)
    if transport == "ofi" and done.returncode == 2:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    (tmp_path / "times.json").write_text(done.stdout)
    reported = json.loads(done.stdout)
    assert reported["of"] == f"put_notify, {transport}" and len(set(reported["hosts"])) == 1
    sizes = [row["bytes"] for row in reported["sizes"]]
    assert sizes == sizes_asked(16)
    found = document("measure", "--times", tmp_path / "times.json")
    assert found["S_bytes"] == 16 and found["of"] == reported["of"]
    assert "handshake" not in [s["limit"] for s in found["segments"]]
    assert transport == "ofi" or found["o_s_ns"] > 0  # a busy machine: libfabric's vary by more


def checked(release, tmp_path):
    """What the doctor says of the runtime."""
    done = subprocess.run(
        command("doctor", "--json"), text=True, capture_output=True, timeout=LIMIT_S,
        env=environment(PATH=f"{release}:{os.environ['PATH']}", TMPDIR=str(tmp_path)))
    return json.loads(done.stdout)["runtime"]


def test_check_says_what_works(release, tmp_path):
    """Shared memory works in full; another transport works, or the reason is there. The doctor
    gives what it says, which is the same in words."""
    program = release / "flyloom-check"
    found = checked(release, tmp_path)
    assert found["program"] == str(program) and found["why"] is None
    assert not list(tmp_path.iterdir()), "nothing stays"
    rows = found["transports"]
    first = rows[0]
    assert (first["transport"], first["works"], first["ordered"]) == ("shm", True, True)
    assert first["lands"] == "always" and first["tag_ub"] == 2**31 - 1
    assert first["inline_bytes"] == 40 and first["credits"] == 64 and first["latency_ns"] > 0
    for row in rows[1:]:
        assert row["transport"] == "ofi"
        if row["works"]:
            tries = [row["lands"]]
            while tries[-1] == "no" and len(tries) < 4:  # too late, as on a busy machine
                again = checked(release, tmp_path)["transports"]
                tries += [one["lands"] for one in again if one["provider"] == row["provider"]]
            assert row["ordered"] and tries[-1] in ("always", "with a progress thread")
            assert row["latency_ns"] > 0
        else:
            assert "ofi" in row["why"] or "end" in row["why"], row
    reported = re.findall(r"^(shm|ofi)(?: by (\S+))?: (works|no)\b", call(program), re.MULTILINE)
    # Another check: on a busy machine a provider that worked before may not answer in time.
    assert reported[0] == ("shm", "", "works")
    assert [said[:2] for said in reported] == [(row["transport"], row["provider"] or "")
                                               for row in rows]
    assert subprocess.run([program, "--loud"], capture_output=True).returncode == 2


def test_perf_measures(release):
    """Rows as JSON, positive, and of the kinds that were asked for."""
    rows = json.loads(call(release / "flyloom-perf", "--bytes", "8,4096", "--repetitions", 500,
                           "--json"))
    kinds = {(row["what"], row["bytes"]) for row in rows}
    assert {("latency: put_notify", 8), ("latency: raw ring", 4096),
            ("latency: 64 posted", 8), ("latency: 2048 unmatched", 8),
            ("rate: a message", 8), ("bandwidth: a message", 4096)} <= kinds
    assert all(0 < row["median_ns"] <= row["p99_ns"] for row in rows)


def test_instructions_of_a_message(release, tmp_path):
    """A matched message of 8 bytes, both sides: they do not creep back up. Counted by valgrind."""
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    counts = {}
    for messages in (1000, 3000):
        boot = tmp_path / str(messages)
        boot.mkdir()
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "--toggle-collect=exchange",
             f"--callgrind-out-file={tmp_path}/out",
             release / "tests" / "message_cost", str(messages)],
            env={**os.environ, "FLYLOOM_RANK": "0", "FLYLOOM_SIZE": "1",
                 "FLYLOOM_BOOT": str(boot)}, text=True, capture_output=True, timeout=LIMIT_S)
        assert done.returncode == 0, done.stderr
        counts[messages] = int(re.search(r"Collected : (\d+)", done.stderr).group(1))
    each = (counts[3000] - counts[1000]) / 2000
    assert 100 < each < 270


def test_perf_measures_overlap(release):
    """Each operation by calls and by a thread; the share follows from the three times."""
    rows = json.loads(call(release / "flyloom-perf", "overlap", "--bytes", "8,4096",
                           "--repetitions", 20, "--json"))
    assert {(row["transport"], row["progress"], row["bytes"]) for row in rows} == {
        ("shm", progress, size) for progress in ("calls", "thread") for size in (8, 4096)}
    assert len(rows) == 4 * 2 * 2
    for row in rows:
        share = (row["alone_ns"] + row["computation_ns"] - row["both_ns"]) / row["alone_ns"]
        assert row["hidden_fraction"] == pytest.approx(share, abs=2e-3 + 0.5 / row["alone_ns"])


def test_perf_fits_costs(release):
    """Every call has a fit; the published crossing is that of its formula, and the answer the
    cheaper one of what is predicted."""
    found = json.loads(call(release / "flyloom-perf", "model", "--ranks", "2,3", "--repetitions",
                            50, "--ask", "1024,6,64", "--json"))
    calls = {fit["call"] for fit in found["fits"]}
    assert {"put, flush", "get, flush_local", "put_notify, matched", "fetch_add", "win_post",
            "lock, exclusive", "epoch of fence", "epoch of post to wait"} <= calls
    assert len(calls) == 22
    for fit in found["fits"]:
        assert fit["points"] > 0 and fit["from"] <= fit["to"]
        assert 0 <= fit["residual_rms_fraction"] <= fit["residual_worst_fraction"] + 1e-4
    answer, = found["answers"]
    crossing = (2900 * math.log2(1024) - 2500) / 700  # Gerstenberger, Besta, Hoefler 2013
    assert answer["published_neighbours_at_equal_cost"] == pytest.approx(crossing, abs=0.01)
    cheaper = "fence" if answer["fence_ns"] <= answer["pscw_ns"] else "PSCW"
    assert answer["best"] == cheaper


def test_perf_measures_collectives(release):
    """Rows as JSON, positive."""
    rows = json.loads(call(release / "flyloom-perf", "--collectives", 3, "--repetitions", 300,
                           "--json"))
    assert {row["what"] for row in rows} == {"barrier", "ibarrier and wait", "allreduce",
                                             "start of a kept barrier"}
    assert all(0 < row["median_ns"] <= row["p99_ns"] for row in rows)


def test_perf_explains(release, tmp_path):
    """The published times of the n-way barrier, and a sum whose order matters."""
    network = tmp_path / "network.json"
    network.write_text(json.dumps({"host": ["a", {"b": None}], "L_ns": 1020, "o_s_ns": 290,
                                   "o_r_ns": 50, "g_ns": 290.0, "G_ns_per_byte": 1e-1}))
    for ranks, best, time_ns in ((8, 7, 3100), (64, 3, 5820), (722, 3, 9700), (10830, 4, 13380)):
        printed = call(release / "flyloom-perf", "explain", "barrier", "--ranks", ranks,
                       more={"FLYLOOM_LOGGP": str(network)})
        assert re.search(rf"^dissemination:{best} +{time_ns}\.0 ns  chosen$", printed, re.MULTILINE)
    # Four ranks a processor: L is four switches of 2,000 ns, all else four times 60, 100, 0.1.
    printed = call(release / "flyloom-perf", "explain", "barrier", "--ranks", 8, "--crowd", 4)
    assert re.search(rf"^dissemination:7 +{240 + 6 * 400 + 8000 + 240}\.0 ns  chosen$", printed,
                     re.MULTILINE)
    printed = call(release / "flyloom-perf", "explain", "allreduce", "--ranks", 8, "--crowd", 4)
    message_ns, byte_ns, move_ns = 240 + 8000 + 240 + 8 * 0.4, 8 * 0.4, 8 * 0.12
    assert re.search(rf"^linear +{message_ns + 6 * (480 + byte_ns) + 10 * move_ns:.1f} ns  chosen$",
                     printed, re.MULTILINE)
    assert re.search(rf"^doubling +{3 * message_ns + 4 * move_ns:.1f} ns$", printed, re.MULTILINE)
    # A long message is read where it is: 800 ns more, and 0.035 ns a byte in place of 0.1.
    printed = call(release / "flyloom-perf", "explain", "bcast", "--ranks", 4, "--bytes", 65536)
    assert re.search(rf"^binomial +{2 * (220 + 800 + 65536 * 0.035):.1f} ns", printed, re.MULTILINE)
    printed = call(release / "flyloom-perf", "explain", "neighbour_alltoallv", "--ranks", 6,
                   # a message takes 1020 + 290 + 50 + 100 ns, a gap 440
                   "--bytes", 1000, "--loggp", network)
    assert "neighbour_alltoallv of 1000 bytes, 6 neighbours" in printed
    assert re.search(rf"^coloured +{6 * 1460}\.0 ns$", printed, re.MULTILINE)
    assert re.search(rf"^at_once +{1460 + 5 * 440}\.0 ns  chosen$", printed, re.MULTILINE)
    printed = call(release / "flyloom-perf", "explain", "allreduce", "--ranks", 12, "--bytes",
                   10_000_000, "--loggp", network)
    assert re.search(r"^ring .* chosen$", printed, re.MULTILINE)
    printed = call(release / "flyloom-perf", "explain", "allreduce", "--ranks", 12, "--bytes",
                   10_000_000, "--loggp", network, "--ordered")
    assert re.search(r"^rabenseifner .* chosen$", printed, re.MULTILINE)
