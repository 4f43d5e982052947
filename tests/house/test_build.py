"""One build of the crates serves `make setup`, the tests of all crates and those of one."""

from __future__ import annotations

import re
import subprocess

import pytest
from checkout import ROOT

OF_TESTS_ALONE = {"libc", "num-traits"}
"""Packages that a crate alone has through proptest: what it runs with is built without them."""


def features(*words: str) -> dict[str, set[str]]:
    """The features of every package, as cargo resolves them for this choice of packages."""
    asked = ["cargo", "tree", "--offline", "--prefix", "none", "--format", "{p}|{f}", *words]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    found: dict[str, set[str]] = {}
    for line in filter(None, done.stdout.splitlines()):
        package, named = line.removesuffix(" (*)").split("|")
        found.setdefault(package.split()[0], set()).add(named)
    return found


@pytest.fixture(scope="module")
def module() -> dict[str, set[str]]:
    """The sources that the compiled module is made from."""
    return features("--package", "flyloom-py", "--features", "extension-module",
                    "--edges", "normal,build")


def differing(one: dict[str, set[str]], other: dict[str, set[str]]) -> dict[str, object]:
    return {name: (one[name], other[name]) for name in one.keys() & other.keys()
            if not other[name] <= one[name] and name not in OF_TESTS_ALONE}


def test_the_module_has_the_features_that_all_crates_have_without_it(module):
    others = features("--workspace", "--exclude", "flyloom-py", "--exclude", "flyloom-xtask",
                      "--edges", "normal,build")
    assert "serde_derive" in others and "flyloom-flit" in others
    assert not differing(module, others)


@pytest.mark.parametrize("crate", sorted(
    path.name for path in (ROOT / "crates").iterdir() if path.name not in ("py", "xtask")))
def test_the_tests_of_one_crate_have_those_of_the_module(module, crate):
    assert not differing(module, features("--package", f"flyloom-{crate}"))


def test_no_crate_is_left_out_of_the_tests_of_all():
    """If a crate is left out the features of the rest may differ: all crates are compiled again."""
    for name in ("test", "campaign"):
        (line,) = re.findall(r"cargo test .*--workspace.*", (ROOT / "scripts" / name).read_text())
        assert "--exclude" not in line and "--release" not in line
