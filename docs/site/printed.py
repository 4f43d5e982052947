"""What the blocks of the documentation printed when they were run: kept, and found again.

tests/docs/test_docs.py runs every page and keeps a file for each in `target/docs-printed`. A file
is of use as long as the page and the program are those that printed it: `stands_on` is the digest
of both. scripts/site shows what is kept below the blocks.
"""

from __future__ import annotations

import functools
import hashlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from page_blocks import Block

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "target" / "docs-printed"
PROGRAM = "python/flyloom", "data", "examples", "runtime", "docs/parts", "tests/docs/test_docs.py"
"""What examples run, besides the compiled core, which is in python/flyloom."""


def block_digest(block: Block) -> str:
    """The digest of a block at its place in a page."""
    text = f"{block.line} {block.language}\n{block.text}"
    return hashlib.sha256(text.encode()).hexdigest()


@functools.cache
def program_digest() -> str:
    """The digest of all files that examples run, of this checkout as it is."""
    found = hashlib.sha256(sys.version.encode())
    for place in PROGRAM:
        files = [ROOT / place] if (ROOT / place).is_file() else sorted((ROOT / place).rglob("*"))
        for path in files:
            if path.is_file() and "__pycache__" not in path.parts:
                found.update(f"{path.relative_to(ROOT)}\0".encode())
                found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


def stands_on(page: str) -> str:
    """The digest of a page's text and of the program that its examples run."""
    return hashlib.sha256(f"{program_digest()}\n{page}".encode()).hexdigest()


def without_places(text: str, folder: Path) -> str:
    """What was printed, with the folders of this machine by the names of a user's."""
    for place, name in ((folder, "/home/user/work"), (Path(sys.prefix), "/home/user/flyloom/.venv"),
                        (ROOT, "/home/user/flyloom"), (Path.home(), "/home/user")):
        if place != Path(place.root):
            text = text.replace(str(place), name)
    return text


def keep(name: str, page: str, printed: dict[str, list[str]], folder: Path) -> None:
    """Keep what blocks of a page printed, beside what is known of its other blocks: a list a block,
    by its digest; of a console block a text for each command."""
    texts = {digest: [without_places(text, folder) for text in texts]
             for digest, texts in printed.items()}
    record = {"stands_on": stands_on(page), "printed": {**(found(name, page) or {}), **texts}}
    path = KEPT / f"{name.replace('/', '-')}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".new")
    beside.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    beside.replace(path)


def found(name: str, page: str) -> dict[str, list[str]] | None:
    """What the blocks of a page printed, by their digests; none where that is not known of the page
    and the program as they are."""
    try:
        record = json.loads((KEPT / f"{name.replace('/', '-')}.json").read_text(encoding="utf-8"))
        return record["printed"] if record["stands_on"] == stands_on(page) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
