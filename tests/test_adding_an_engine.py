"""docs/adding-an-engine.md is true: its one file, put into a copy of the sources, is enough."""

from __future__ import annotations

from pathlib import Path

from source_copy import MARKS, ROOT, caught, copy, generate, passes, put

__all__ = ["copy"]

PAGE = ROOT / "docs" / "adding-an-engine.md"
PLAIN = ("test", "-q", "-p", "flyloom-conformance", "--test", "all", "promises::")

pytestmark = MARKS


def test_one_file_is_an_engine(copy: Path) -> None:
    """The page's file is registered, keeps its promise, and is caught when it does not."""
    page = PAGE.read_text(encoding="utf-8")
    path, text = put(copy, page)
    generate(copy, page, "crates/engines/src/lib.rs")
    assert "## d_mod_k" in (copy / "docs/engines.md").read_text()
    passes(copy, *PLAIN)
    draft = text.replace("deadlock_free: false", "deadlock_free: true")
    assert draft != text
    caught(copy, path, draft, page, *PLAIN)
