"""Programs before and after, of docs/from-send-recv.md: they print the same, and what is right."""

from __future__ import annotations

import dataclasses
import re

import flyloom as fl
import pytest
from campaign import count
from checkout import ROOT
from mpi_helpers import needs
from test_docs import blocks, run_console
from test_runtime import FLAGS, SOURCE, build, call

FOLDER = ROOT / "examples" / "from_messages"
PAGE = ROOT / "docs" / "from-send-recv.md"
PATTERNS = sorted(path.stem.removesuffix("_before") for path in FOLDER.glob("*_before.c"))


@pytest.fixture(scope="module")
def release():
    return build("release")


def halo(ranks):
    """The outer cells of each rank after 50 means over three on a ring."""
    cells = [float((i + 1) % 17) for i in range(100 * ranks)]
    for _ in range(50):
        cells = [(before + own + after) / 3 for before, own, after in
                 zip(cells[-1:] + cells[:-1], cells, cells[1:] + cells[:1], strict=True)]
    return {f"rank {r}": cells[100 * r: 100 * r + 100: 99] for r in range(ranks)}


def neighbours(ranks):
    own = [[10 * r + i for i in range(8)] for r in range(ranks)]
    for _ in range(20):
        own = [[(own[r][i] + sum((n + 1) * own[(r - far) % ranks][i]
                                 for n, far in enumerate((1, -1, 2, -2)))) % 1000003
                for i in range(8)] for r in range(ranks)]
    return {f"rank {r}": [own[r][0], own[r][7]] for r in range(ranks)}


def pipeline(ranks):
    grid, corner = [[r + row for row in range(40)] for r in range(ranks)], 0
    for _ in range(3):
        for row in range(40):
            before = corner
            for r in range(ranks):
                above = grid[r][row - 1] if row > 0 else 0
                before = grid[r][row] = (grid[r][row] + above + before) % 1000003
        corner = grid[-1][-1]
    return {f"rank {r}": [grid[r][-1]] for r in range(ranks)}


def tasks(ranks):
    return {f"task {t}": [t * t + 7, (t + 9) ** 2 + 7] for t in (0, 10, 20)}


def sums(ranks):
    values = [r + 1 for r in range(ranks)]
    for _ in range(20):
        values = [(3 * value + sum(values)) % 1000003 for value in values]
    return {f"rank {r}": [value] for r, value in enumerate(values)}


EXPECTED = {"halo": halo, "neighbours": neighbours, "pipeline": pipeline, "tasks": tasks,
            "sum": sums}


def printed(mpi, name, release, folder, ranks):
    """What a program prints, by what stands before the colon of each line."""
    program = folder / name
    # gcc takes MPICH's MPI_STATUSES_IGNORE, an address of nothing, for room that is too small
    flags = [*FLAGS, "-Wno-stringop-overflow"]
    call(f"mpicc.{mpi}", *flags, f"-I{SOURCE / 'include'}", FOLDER / f"{name}.c", "-o", program,
         f"-L{release}", "-lflyloom", f"-Wl,-rpath,{release}")
    lines = call(f"mpiexec.{mpi}", "-n", ranks, program).splitlines()
    found = {}
    for line in lines:
        what, _, numbers = line.partition(": ")
        found[what] = [float(number) for number in re.split(r",? ", numbers)]
    assert len(found) == len(lines)
    return found


@pytest.mark.campaign
@pytest.mark.parametrize(("mpi", "name"), [
    *(("openmpi", name) for name in PATTERNS),
    *(("mpich", name) for name in count(["halo"], PATTERNS)),
])
def test_both_print_what_is_right(mpi, name, release, tmp_path):
    """Open MPI with four ranks; MPICH, whose ranks hold their processors when they wait, two."""
    needs(mpi)
    ranks = 4 if mpi == "openmpi" else 2
    before, after = (printed(mpi, f"{name}_{when}", release, tmp_path, ranks)
                     for when in ("before", "after"))
    assert before == after
    expected = EXPECTED[name](ranks)
    assert before.keys() == expected.keys()
    for what, numbers in expected.items():
        assert before[what] == pytest.approx(numbers, abs=1e-9)


def test_the_page_shows_lines_of_the_programs():
    """Every line of a block in C stands in the program that is named last before it, in order."""
    text = PAGE.read_text()
    assert {f"{name}_{when}" for name in PATTERNS for when in ("before", "after")} == set(
        re.findall(r"from_messages/(\w+_(?:before|after))\.c", text))
    seen = 0
    for block in blocks(text):
        above = "\n".join(text.splitlines()[: block.line - 1])
        programs = re.findall(r"from_messages/(\w+)\.c", above)
        if block.language != "c" or not programs:
            continue
        lines = [line.strip() for line in (FOLDER / f"{programs[-1]}.c").read_text().splitlines()]
        place = 0
        for line in map(str.strip, block.text.splitlines()):
            assert any(line in other for other in lines[place:]), (programs[-1], line)
            place = next(i for i in range(place, len(lines)) if line in lines[i]) + 1
            seen += 1
    assert seen > 20


def test_the_end_of_the_programmers_page(release, tmp_path, monkeypatch):
    """The block of docs/job-programmer.md that needs the installed library."""
    needs("openmpi")
    call("cmake", "--install", release, "--prefix", tmp_path / "installed")
    pkg = next((tmp_path / "installed").rglob("flyloom.pc")).parent
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.setenv("PKG_CONFIG_PATH", str(pkg))
    monkeypatch.setenv("LD_LIBRARY_PATH", str(pkg.parent))
    text = (ROOT / "docs" / "job-programmer.md").read_text()
    [last] = [block for block in blocks(text) if "needs the installed library" in block.above]
    first = ("$ mpicc -O2 examples/from_messages/halo_before.c -o halo\n"
             "$ mpirun -n 8 ./halo 200 > printed\n")
    for block in (dataclasses.replace(last, text=first), last):
        run_console(block, "job-programmer.md", tmp_path)
    goal = (tmp_path / "after.goal").read_text()
    # two puts of 8 bytes a step and rank; what else is sent is the start and the end
    assert goal.count(": send 8b") >= 8 * 200 * 2
    run = fl.simulate("slim_fly:q=3,p=1", "message", workload=str(tmp_path / "after.goal"),
                      costs={"o": 1000}, critical_path=True)
    # a step has two puts, and what the second one brings to a neighbour; the start is beside that
    assert 3 * 200 <= run.critical_path["derivatives"]["o"] < 3.5 * 200
