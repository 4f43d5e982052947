"""docs/adding-*.md are true: the file that each shows, put into a copy of the sources, is enough.

The files of all pages are in one copy, which is built once.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from source_copy import MARKS, ROOT, TARGET, caught, copied, generate, passes, put, run

PAGES = {
    kind: (ROOT / "docs" / f"adding-{kind}.md").read_text(encoding="utf-8")
    for kind in ("a-topology", "an-engine", "a-measure")
}
FAMILIES = ("test", "-q", "-p", "flyloom-families", "--lib", "tests::")
ENGINES = ("test", "-q", "-p", "flyloom-conformance", "--test", "all", "promises::")
MEASURE = ("test", "-q", "-p", "flyloom-measure", "--lib", "reach::")
CORE = ("build", "-q", "-p", "flyloom-py", "--features", "extension-module")

pytestmark = MARKS


@pytest.fixture(scope="module")
def copy() -> Iterator[Path]:
    """A copy of the sources with the files of all pages, registered as the pages say."""
    with copied() as folder:
        for page in PAGES.values():
            put(folder, page)
        generate(folder, "\n".join(PAGES.values()))
        yield folder


def test_the_parts_are_in_the_generated_files(copy: Path) -> None:
    for file, words in [
        ("python/flyloom/_generated.py", "def star_graph("),
        ("docs/topologies.md", "## star_graph"),
        ("docs/engines.md", "## d_mod_k"), ("python/flyloom/_measures.py", "def reach("),
        ("docs/measure-reference.md", "## reach"),
    ]:
        assert words in (copy / file).read_text(encoding="utf-8"), file
    checked = run(copy, sys.executable, "-m", "ruff", "check", "python")
    assert checked.returncode == 0, checked.stdout


def test_what_the_pages_run_passes(copy: Path) -> None:
    passes(copy, ("fmt", "--all", "--check"), ("xtask", "tidy"), FAMILIES, ENGINES, MEASURE, CORE)


def test_the_measure_is_in_the_three_faces(copy: Path, tmp_path: Path) -> None:
    """It is a command, a function with its record, a table of files and reports."""
    page = PAGES["a-measure"]
    shutil.copy(TARGET / "debug/lib_core.so", copy / "python/flyloom/_core.abi3.so")

    def python(*words: str) -> subprocess.CompletedProcess[str]:
        done = run(tmp_path, sys.executable, *words, PYTHONPATH=str(copy / "python"),
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

    (tmp_path / "reach.toml").write_text(shown(page, "toml", "[reach]"))
    done = python("-m", "flyloom.cli", "run", "reach.toml", "--json")
    folder = tmp_path / json.loads(done.stdout)["directory"]
    rows = pq.read_table(folder / "rows.parquet").to_pylist()
    assert [(row["reach_mean"], row["reach_least"]) for row in rows] == [(7, 7), (49, 49)]
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert "mean number of switches within so many hops" in report


def shown(page: str, language: str, having: str) -> str:
    """The first block of a language that has these words."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    return next(block for block in blocks if having in block)


@pytest.mark.parametrize(("kind", "right", "wrong", "test"), [
    ("a-topology", "3 * (n - 1) / 2)", "3 * n / 2 - 1)", FAMILIES),
    ("an-engine", "deadlock_free: false", "deadlock_free: true", ENGINES),
])
def test_a_promise_that_is_not_kept_is_caught(copy: Path, kind, right, wrong, test) -> None:
    caught(copy, PAGES[kind], right, wrong, *test)
