"""The runtime analysed without being run: its pure files by Frama-C's EVA, all C by clang."""

from __future__ import annotations

import subprocess

import pytest
from campaign import count
from checkout import ROOT

RUN = ROOT / "runtime/rt/analysis/run"
LIMIT_S = count(900, 7200)
#: 77: the program that it needs is not installed.
SKIPPED = 77


@pytest.mark.campaign
@pytest.mark.parametrize("part", ["eva", "clang", "faults"])
def test_nothing_is_found(part):
    """No run-time error within the bounds, no finding but those accepted; each seeded fault is."""
    deep = count(0, 1) * ["--deep"]
    done = subprocess.run([RUN, *deep, part], text=True, capture_output=True, timeout=LIMIT_S)
    if done.returncode == SKIPPED:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
