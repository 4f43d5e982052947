"""docs/coming-from: the program of the page on foMPI-NA, with the installed library."""

from __future__ import annotations

from checkout import ROOT
from test_docs import blocks, run_console
from test_runtime import build, call

PAGE = ROOT / "docs" / "coming-from" / "fompi.md"


def test_the_program_of_the_page_on_fompi(tmp_path, monkeypatch):
    """It prints the sum of 10, 20 and 30, and its record has a notification of each to rank 0."""
    call("cmake", "--install", build("release"), "--prefix", tmp_path / "installed")
    pkg = next((tmp_path / "installed").rglob("flyloom.pc")).parent
    monkeypatch.setenv("PKG_CONFIG_PATH", str(pkg))
    monkeypatch.setenv("LD_LIBRARY_PATH", str(pkg.parent))
    found = blocks(PAGE.read_text(encoding="utf-8"))
    [program] = [block for block in found if "needs the installed library" in block.above]
    run_console(program, "coming-from/fompi.md", tmp_path)
    schedule = (tmp_path / "tell.goal").read_text(encoding="utf-8")
    assert [schedule.count(f"recv 8b from {rank} ") for rank in range(4)] == [0, 1, 1, 1]
