"""The release build, which benchmarks measure: the wheel that users install, unpacked."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

from measure import ROOT, Broken

PLACE = ROOT / "target" / "bench"


def use(say: Callable[[str], None]) -> None:
    """Build the wheel by the profile for releases; this process's children import what is in it."""
    say("the release build (minutes, where something changed)")
    shutil.rmtree(PLACE, ignore_errors=True)
    beside = Path(sys.executable).parent
    words = [str(beside / "maturin"), "build", "--release", "--out", str(PLACE)]
    path = os.pathsep.join([str(beside), os.environ.get("PATH", "")])
    try:
        done = subprocess.run(words, cwd=ROOT, env={**os.environ, "PATH": path}, text=True,
                              capture_output=True)
    except OSError as error:
        raise Broken(f"{words[0]}: {error.strerror}: make setup") from None
    if done.returncode:
        raise Broken(f"{' '.join(words)}: code {done.returncode}: {done.stderr.strip()[-1500:]}")
    (wheel,) = PLACE.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(PLACE / "site")
    first(PLACE / "site")
    if build() != "release":
        raise Broken(f"{PLACE / 'site'}: what is imported there is a {build()} build")


def first(folder: Path) -> None:
    """Children look for modules there before anywhere else."""
    others = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(folder), *([others] if others else [])])


def build() -> str:
    """By which profile the core was built that children import: ``release`` or ``dev``."""
    code = "from flyloom._core import __build__; print(__build__)"
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True)
    return done.stdout.strip() or "broken"
