"""Links to a heading of a page lead to one that is there."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from checkout import ROOT

PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def prose(path: Path) -> str:
    """A page without what stands between fences."""
    text = path.read_text(encoding="utf-8")
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors(path: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them; of equal ones the second has -1."""
    found: set[str] = set()
    seen: Counter[str] = Counter()
    for heading in re.findall(r"^#+ (.*)$", prose(path), flags=re.MULTILINE):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", text.casefold()).replace(" ", "-")
        found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return found


def dead(path: Path) -> list[str]:
    """The links of a page to headings that there are not."""
    links = re.findall(r"\]\(([^)#:\s]*)#([^)\s]+)\)", prose(path))
    targets = [(path.parent / name if name else path, anchor) for name, anchor in links]
    return [f"{target.name}#{anchor}" for target, anchor in targets
            if target.suffix == ".md" and target.is_file() and anchor not in anchors(target)]


@pytest.mark.parametrize("path", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_headings_that_are_linked_are_there(path):
    assert dead(path) == []


def test_a_heading_that_is_not_there_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A page\n\n[one](#a-page), [two](#no-page), [other](page.md#gone)\n")
    assert dead(page) == ["page.md#no-page", "page.md#gone"]
