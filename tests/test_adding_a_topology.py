"""docs/adding-a-topology.md is true: its one file, put into a copy of the sources, is enough.

The copy is built in a target folder of its own, kept between runs.
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


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a copy of the sources, with output as text."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "adding-a-topology"
    return subprocess.run(command, cwd=folder, text=True, capture_output=True, timeout=LIMIT_S,
                          env={**os.environ, "CARGO_TARGET_DIR": str(target)})


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every file that git tracks or would track, in a repository of its own."""
    folder = tmp_path_factory.mktemp("sources")
    listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    return folder


def test_one_file_is_a_topology(copy: Path) -> None:
    """The page's file is registered, keeps its promise, and is caught when it does not."""
    page = PAGE.read_text(encoding="utf-8")
    found = re.search(r"^`(crates/\S+\.rs)`:\n\n```rust\n(.*?)^```", page, re.DOTALL | re.M)
    assert found, "the page shows no file"
    name, text = found.groups()
    path = copy / name
    assert not path.exists(), f"{name} is in the tree: the page needs another example"
    path.write_text(text, encoding="utf-8")

    stale = run(copy, "cargo", "xtask", "gen", "--check")
    assert stale.returncode == 1, stale.stdout + stale.stderr
    assert "stale crates/net/src/topology/mod.rs" in stale.stderr
    wrote = run(copy, "cargo", "xtask", "gen")
    assert wrote.returncode == 0, wrote.stderr
    shown = re.findall(r"^gen: wrote (\S+)$", page, re.M)
    assert wrote.stdout.splitlines() == [f"gen: wrote {file}" for file in shown]
    assert "def polar_fly(" in (copy / "python/flyloom/_generated.py").read_text()
    assert "## polar_fly" in (copy / "docs/topologies.md").read_text()
    fresh = run(copy, "cargo", "xtask", "gen", "--check")
    assert fresh.returncode == 0, fresh.stderr

    for command in (["fmt", "--all", "--check"], ["xtask", "tidy"],
                    ["test", "-q", "-p", "flyloom-net", "topology::tests"]):
        done = run(copy, "cargo", *command)
        assert done.returncode == 0, done.stdout + done.stderr

    draft = text.replace("map(SwitchId::from), self.concentration()",
                         "map(SwitchId::from), self.p.unwrap_or(q.div_ceil(2))")
    assert draft != text
    path.write_text(draft, encoding="utf-8")
    caught = run(copy, "cargo", "test", "-q", "-p", "flyloom-net", "topology::tests")
    assert caught.returncode != 0
    for line in re.findall(r"```text\n(.*?)```", page, re.DOTALL)[0].splitlines():
        assert line in caught.stdout, caught.stdout
