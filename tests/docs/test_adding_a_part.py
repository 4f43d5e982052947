"""docs/adding-*.md are true: the file that each shows is the one in docs/parts, and is enough.

The crates' own tests compile those files and hold them against what every part promises. Here the
files of all pages are put into one copy of the sources, which is built once, and the examples of
the pages are run with what was built.
"""

from __future__ import annotations

import doctest
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from source_copy import NEEDS, ROOT, TARGET, copied, generate, put, run, shown_file, xtask
from test_docs import blocks, commands

PAGES = {
    path.stem: text for path in (ROOT / "docs").glob("adding-*.md")
    if "```rust" in (text := path.read_text(encoding="utf-8"))
}
USES = {
    "adding-a-pattern": "pairwise:2", "adding-an-application": "ping_pong",
    "adding-a-collective": "allgather_spread",
    "adding-a-mapping-method": "heavy_first", "adding-a-placement": "stripe_groups",
    "adding-an-export-format": "links.txt", "adding-a-trace-format": "flows.cm",
    "adding-a-packet-model": "ecube", "adding-a-selection-in-rust": "short_detours",
}
"""Pages whose examples are run as they stand, and a word that the report then has."""
COMPLETED = {
    "congestion ring:n=4 --traffic pair": "pairwise", "workload make ping": "ping_pong",
    "workload make allgather_s": "allgather_spread",
    "map ring:n=4 --method greedy+heavy": "greedy+heavy_first",
    "sim message ring:n=4 --placement stripe_": "stripe_groups",
    "export ring:n=4 --to edge": "edge-list", "sim packet ring:n=4 --dialect ecu": "ecube",
    "sim flit ring:n=4 --selection sho": "short_detours",
}
"""What the shell makes of words."""
CORE = ("cargo", "build", "-q", "-p", "flyloom-py", "--features", "extension-module")

pytestmark = NEEDS


def test_the_pages_show_the_files_that_are_compiled() -> None:
    shown = [shown_file(page) for page in PAGES.values()]
    kept = {path.name: path.read_text(encoding="utf-8")
            for path in (ROOT / "docs" / "parts").glob("*.rs")}
    assert {Path(name).name: text for name, text in shown} == kept
    crates = "".join(path.read_text() for path in (ROOT / "crates").rglob("*.rs"))
    assert all(f'docs/parts/{name}"]' in crates for name in kept)


@pytest.mark.parametrize("name", ["parts/d_mod_k.rs", "adding-an-engine.md"])
def test_make_check_runs_what_a_part_reaches(name: str) -> None:
    asked = run(ROOT, sys.executable, "scripts/affected.py", f"docs/{name}")
    steps = [line.split(": ", 1) for line in asked.stdout.splitlines()]
    said = [words for kind, words in steps if kind == "tests"]
    assert "tests/docs/test_adding_a_part.py" in said[0].split(), asked.stderr
    compiled = any(kind == "rust" and words.startswith("conformance") for kind, words in steps)
    assert compiled == name.startswith("parts/")


@pytest.fixture(scope="module")
def copy() -> Iterator[Path]:
    """A copy of the sources with the files of all pages, registered as the pages say."""
    with copied() as folder:
        for page in PAGES.values():
            put(folder, page)
        generate(folder, "\n".join(PAGES.values()))
        yield folder


@pytest.mark.apart
@pytest.mark.slow
def test_the_parts_are_in_the_generated_files(copy: Path) -> None:
    for file, words in [
        ("python/flyloom/_generated.py", "def star_graph("),
        ("docs/topologies.md", "## star_graph"),
        ("docs/engines.md", "## d_mod_k"), ("python/flyloom/_measures.py", "def reach("),
        ("docs/measure-reference.md", "## reach"),
    ]:
        assert words in (copy / file).read_text(encoding="utf-8"), file
    for done in (xtask(copy, "tidy"), run(copy, "cargo", "fmt", "--all", "--check"),
                 run(copy, sys.executable, "-m", "ruff", "check", "python")):
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def built(copy: Path) -> Path:
    """The copy with its compiled core."""
    done = run(copy, *CORE)
    assert done.returncode == 0, done.stderr
    shutil.copy(TARGET / "debug/lib_core.so", copy / "python/flyloom/_core.abi3.so")
    return copy


@pytest.mark.apart
@pytest.mark.slow
@pytest.mark.parametrize("name", USES)
def test_a_page_does_what_it_shows(built: Path, name: str, tmp_path: Path) -> None:
    """The part is used from the command line, Python and an experiment with its report."""
    env = with_program(built, tmp_path)
    uses = blocks("## " + PAGES[name].split("\n## ")[3])
    assert {"console", "python"} <= {block.language for block in uses}
    (folder := tmp_path / "work").mkdir()
    for block in uses:
        steps = commands(block.text) if block.language == "console" else []
        for command, status, shown_ in steps:
            done = run(folder, "bash", "-c", command, **env)
            assert done.returncode == status, f"{command}\n{done.stdout}{done.stderr}"
            flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
            alike = doctest.OutputChecker().check_output(shown_, done.stdout, flags)
            assert alike or not shown_.strip(), f"{command}\n{done.stdout}"
        if not steps:
            done = run(folder, sys.executable, "-c", block.text, **env)
            assert done.returncode == 0, block.text + done.stderr
    (report,) = folder.glob("out/*/report.html")
    assert USES[name] in report.read_text(encoding="utf-8")


@pytest.mark.apart
@pytest.mark.slow
def test_the_reference_page_has_the_parts(built: Path) -> None:
    """`make gen` writes it from the compiled tables."""
    done = run(built, sys.executable, "scripts/parts-reference", PYTHONPATH=str(built / "python"))
    assert done.returncode == 0, done.stderr
    page = (built / "docs/parts-reference.md").read_text(encoding="utf-8")
    for row in ["pairwise", "ping_pong", "allgather_spread", "heavy_first", "stripe_groups",
                "edge-list", "ecube", "short_detours", "htsim-flows` `unit_ns=1000"]:
        assert f"\n| `{row}`" in page, row


@pytest.mark.apart
@pytest.mark.slow
def test_the_shell_completes_the_parts(built: Path, tmp_path: Path) -> None:
    env = with_program(built, tmp_path)
    for line, name in COMPLETED.items():
        words = ["flyloom", *line.split()]
        done = run(tmp_path, "flyloom", **env, _FLYLOOM_COMPLETE="complete_bash",
                   COMP_WORDS="\n".join(words), COMP_CWORD=str(len(words) - 1))
        assert done.stdout.split() == [name], line


def with_program(built: Path, folder: Path) -> dict[str, str]:
    """The environment in which the copy's program is found."""
    program = folder / "bin" / "flyloom"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m flyloom.cli "$@"\n')
    program.chmod(0o755)
    return {"PYTHONPATH": str(built / "python"), "NO_COLOR": "1", "COLUMNS": "100",
            "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}


@pytest.mark.apart
@pytest.mark.slow
def test_the_parts_are_in_the_three_faces(built: Path, tmp_path: Path) -> None:
    """The measure is a command, a function with its record, a table of files and reports; the
    network and the engine have their names in all of them."""
    page = PAGES["adding-a-measure"]

    def python(*words: str) -> subprocess.CompletedProcess[str]:
        done = run(tmp_path, sys.executable, *words, PYTHONPATH=str(built / "python"),
                   NO_COLOR="1", COLUMNS="100")
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    lines = shown(page, "console", "flyloom reach").splitlines()
    words = lines[0].removeprefix("$ flyloom ").split()
    said = python("-m", "flyloom.cli", *words).stdout.splitlines()
    assert [line.split() for line in said] == [line.split() for line in lines[1:]]
    found = json.loads(python("-m", "flyloom.cli", *words, "--json").stdout)
    assert found == {"network": "slim_fly:q=5", "hops": 1, "mean": 7.0, "least": 7}
    assert "flyloom reach" in python("-m", "flyloom.cli", "reach", "--help").stdout
    python("-c", shown(page, "python", "fl.reach"))
    routed = python("-m", "flyloom.cli", "route", "star_graph:n=4", "-e", "d_mod_k", "-O",
                    "shift=1", "--json")
    assert json.loads(routed.stdout)["engine"] == "d_mod_k"
    python("-c", "import flyloom as fl; n = fl.star_graph(n=4); fl.route(n, 'd_mod_k', shift=1)\n"
                 "assert fl.structure(n)['switches'] == 24")

    (tmp_path / "reach.toml").write_text(shown(page, "toml", "[reach]"))
    done = python("-m", "flyloom.cli", "run", "reach.toml", "--json")
    folder = tmp_path / json.loads(done.stdout)["directory"]
    rows = pq.read_table(folder / "rows.parquet").to_pylist()
    assert [(row["reach_mean"], row["reach_least"]) for row in rows] == [(7, 7), (49, 49)]
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert "mean number of switches within the given hops" in report


def shown(page: str, language: str, having: str) -> str:
    """The first block of a language that has these words."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    return next(block for block in blocks if having in block)
