"""docs/adding-a-topology.md is true: its one file, put into a copy of the sources, is enough.

The copy lies in the target folder, always at the same place, and is brought up to date file by
file, so that cargo builds what changed and shares the libraries that the workspace uses. It has
another version than the workspace: cargo would take crates of one name and version for one.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "adding-a-topology.md"
LIMIT_S = 900

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed"),
    pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a git checkout"),
]


TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a copy of the sources, with output as text."""
    return subprocess.run(command, cwd=folder, text=True, capture_output=True, timeout=LIMIT_S,
                          env={**os.environ, "CARGO_TARGET_DIR": str(TARGET)})


OURS = sorted(f"flyloom-{path.parent.name}" for path in ROOT.glob("crates/*/Cargo.toml"))


def adapted(name: str, text: str) -> str:
    """The workspace's manifest or lock file with its own crates at another version.

    They are not optimised: each is compiled once or twice and runs for seconds.
    """
    ours = r'(\[workspace\.package\]\n|name = "flyloom-\w+"\n)version = "[^"]+"'
    text, count = re.subn(ours, r'\1version = "0.0.1"', text)
    assert count, "no version of ours in it"
    if name == "Cargo.toml":
        text += "".join(f"\n[profile.dev.package.{crate}]\nopt-level = 0\n" for crate in OURS)
    return text


@pytest.fixture(scope="module")
def copy() -> Path:
    """Every file that git tracks or would track, in a repository of its own."""
    folder = TARGET / "adding-a-topology"
    folder.mkdir(parents=True, exist_ok=True)
    listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, text=True, check=True).stdout
    wanted = {name for name in listed.split("\0") if name and (ROOT / name).is_file()}
    for path in [p for p in folder.rglob("*") if p.is_file()]:
        name = path.relative_to(folder)
        if name.parts[0] != ".git" and str(name) not in wanted:
            path.unlink()
    for name in wanted:
        # A file that did not change keeps its time, so that cargo does not build it again.
        content = (ROOT / name).read_bytes()
        if name in ("Cargo.toml", "Cargo.lock"):
            content = adapted(name, content.decode()).encode()
        if not (folder / name).is_file() or (folder / name).read_bytes() != content:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    return folder


def test_one_file_is_a_topology(copy: Path) -> None:
    """The page's file is registered, keeps its promise, and is caught when it does not."""
    page = PAGE.read_text(encoding="utf-8")
    found = re.search(r"^`(crates/\S+\.rs)`:\n\n```rust\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert found, "the page shows no file"
    name, text = found.groups()
    path = copy / name
    assert not path.exists(), f"{name} is in the tree: the page needs another example"
    path.write_text(text, encoding="utf-8")

    stale = run(copy, "cargo", "xtask", "gen", "--check")
    assert stale.returncode == 1, stale.stdout + stale.stderr
    assert "stale crates/families/src/lib.rs" in stale.stderr
    wrote = run(copy, "cargo", "xtask", "gen")
    assert wrote.returncode == 0, wrote.stderr
    shown = re.findall(r"^gen: wrote (\S+)$", page, re.MULTILINE)
    assert wrote.stdout.splitlines() == [f"gen: wrote {file}" for file in shown]
    assert "def star_graph(" in (copy / "python/flyloom/_generated.py").read_text()
    assert "## star_graph" in (copy / "docs/topologies.md").read_text()
    fresh = run(copy, "cargo", "xtask", "gen", "--check")
    assert fresh.returncode == 0, fresh.stderr

    plain = ["test", "-q", "-p", "flyloom-families", "--lib", "tests::"]
    for command in (["fmt", "--all", "--check"], ["xtask", "tidy"], plain):
        done = run(copy, "cargo", *command)
        assert done.returncode == 0, done.stdout + done.stderr

    draft = text.replace("3 * (n - 1) / 2)", "3 * n / 2 - 1)")
    assert draft != text
    path.write_text(draft, encoding="utf-8")
    caught = run(copy, "cargo", *plain)
    assert caught.returncode != 0
    for line in re.findall(r"```text\n(.*?)```", page, re.DOTALL)[0].splitlines():
        assert line in caught.stdout, caught.stdout
