"""A copy of the sources, into which pages' files are put: what adding a part takes, to the letter.

The copy lies in the target folder, always at the same place, and is brought up to date file by
file, so that cargo builds what changed and shares the libraries that the workspace uses. It has
another version than the workspace: cargo would take crates of one name and version for one.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from checkout import ROOT

LIMIT_S = 1800

NEEDS = [
    pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed"),
    pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a git checkout"),
]

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()


def run(folder: Path, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a copy of the sources, with output as text."""
    return subprocess.run(command, cwd=folder, text=True, capture_output=True, timeout=LIMIT_S,
                          env={**os.environ, "CARGO_TARGET_DIR": str(TARGET), **more})


OURS = sorted(f"flyloom-{path.parent.name}" for path in ROOT.glob("crates/*/Cargo.toml"))


def adapted(name: str, text: str) -> str:
    """The workspace's manifest or lock file with its own crates at another version.

    They are not optimised: each is compiled once or twice and runs for seconds.
    """
    ours = r'(\[workspace\.package\]\n|name = "flyloom-\w+"\n)version = "[^"]+"'
    text, count = re.subn(ours, r'\1version = "0.0.1"', text)
    assert count, "no version of ours in it"
    if name == "Cargo.toml":
        own = r"\n\[profile\.dev\.package\.flyloom-\w+\]\n(?:[^\[\n].*\n)*"
        text = re.sub(own, "", text) + "".join(
            f"\n[profile.dev.package.{crate}]\nopt-level = 0\ndebug = false\n" for crate in OURS
        )
    return text


@contextmanager
def copied() -> Iterator[Path]:
    """Every file that git tracks or would track, in a repository of its own; for one at a time."""
    folder = TARGET / "adding-a-part"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder.with_suffix(".lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        bring_up_to_date(folder)
        yield folder


def bring_up_to_date(folder: Path) -> None:
    """Copies files that have changed since, and deletes those that the sources no longer have."""
    listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, text=True, check=True).stdout
    wanted = {name for name in listed.split("\0") if name and (ROOT / name).is_file()}
    for path in [p for p in folder.rglob("*") if p.is_file()]:
        name = path.relative_to(folder)
        if name.parts[0] != ".git" and str(name) not in wanted:
            path.unlink()
    for path in sorted((folder / "crates").rglob("*/"), reverse=True):  # no crate without files
        if not any(path.iterdir()):
            path.rmdir()
    for name in wanted:
        # A file that did not change keeps its time, so that cargo does not build it again.
        content = (ROOT / name).read_bytes()
        if name in ("Cargo.toml", "Cargo.lock"):
            content = adapted(name, content.decode()).encode()
        if not (folder / name).is_file() or (folder / name).read_bytes() != content:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)


def shown_file(page: str) -> tuple[str, str]:
    """The name and the text of the file that a page shows."""
    found = re.search(r"^`(crates/\S+\.rs)`:\n\n```rust\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert found, "the page shows no file"
    name, text = found.groups()
    return name, text


def put(copy: Path, page: str) -> None:
    """Writes the file that a page shows into the copy."""
    name, text = shown_file(page)
    path = copy / name
    assert not path.exists(), f"{name} is in the tree: the page needs another example"
    path.write_text(text, encoding="utf-8")


def xtask(copy: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """``cargo xtask`` in the copy, by the workspace's own: no page changes that crate."""
    built = run(ROOT, "cargo", "build", "--quiet", "--package", "flyloom-xtask")
    assert built.returncode == 0, built.stderr
    return run(copy, str(TARGET / "debug/xtask"), *words,
               CARGO_MANIFEST_DIR=str(copy / "crates/xtask"))


def generate(copy: Path, pages: str) -> None:
    """Runs `gen` on the copy; it writes what the pages show, all of which was stale before."""
    shown = set(re.findall(r"^gen: wrote (\S+)$", pages, re.MULTILINE))
    before = xtask(copy, "gen", "--check")
    assert before.returncode == 1, before.stdout + before.stderr
    assert "gen: stale" in before.stderr
    wrote = xtask(copy, "gen")
    assert wrote.returncode == 0, wrote.stderr
    assert sorted(wrote.stdout.splitlines()) == sorted(f"gen: wrote {file}" for file in shown)
    fresh = xtask(copy, "gen", "--check")
    assert fresh.returncode == 0, fresh.stderr
