"""docs/adding-a-topology.md is true: its one file, put into a copy of the sources, is enough."""

from __future__ import annotations

from pathlib import Path

from source_copy import MARKS, ROOT, caught, copy, generate, passes, put

__all__ = ["copy"]

PAGE = ROOT / "docs" / "adding-a-topology.md"
PLAIN = ("test", "-q", "-p", "flyloom-families", "--lib", "tests::")

pytestmark = MARKS


def test_one_file_is_a_topology(copy: Path) -> None:
    """The page's file is registered, keeps its promise, and is caught when it does not."""
    page = PAGE.read_text(encoding="utf-8")
    path, text = put(copy, page)
    generate(copy, page, "crates/families/src/lib.rs")
    assert "def star_graph(" in (copy / "python/flyloom/_generated.py").read_text()
    assert "## star_graph" in (copy / "docs/topologies.md").read_text()
    passes(copy, *PLAIN)
    draft = text.replace("3 * (n - 1) / 2)", "3 * n / 2 - 1)")
    assert draft != text
    caught(copy, path, draft, page, *PLAIN)
