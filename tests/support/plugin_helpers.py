"""What the tests of users' parts share: forgetting, comparing runs, making packages."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from cli_helpers import flyloom
from flyloom import report
from flyloom.plugins.parts import KNOWN

SAME_BYTES = ("rows.parquet", "series.parquet", "effective.toml")


@pytest.fixture(autouse=True)
def no_charts(monkeypatch):
    """Charts take longest, and are not asked for here."""
    monkeypatch.setattr(report, "render", lambda _data, **_how: "")


@pytest.fixture(autouse=True)
def forgotten():
    """What a test makes known is known in that test only; what flyloom itself brings stays."""
    before, modules = dict(KNOWN), set(sys.modules)
    yield
    ours = {which: part for which, part in KNOWN.items() if part.module.startswith("flyloom.")}
    KNOWN.clear()
    KNOWN.update(before | ours)
    for name in set(sys.modules) - modules:
        if name.startswith("flyloom_plugin_"):
            del sys.modules[name]


def said(folder: Path, *words: object) -> str:
    """What a command prints that has the parts in ``own.py`` of this folder."""
    done = flyloom(*words, "--plugin", "own.py", cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def written(directory: Path) -> dict[str, bytes]:
    """The files of a run that have no times in them, its kept points too."""
    kept = {path.name: path.read_bytes() for path in (directory / "points").iterdir()}
    return kept | {name: (directory / name).read_bytes() for name in SAME_BYTES}


def install(folder, name, version, body, entries):
    """What pip leaves of a distribution of one module."""
    (folder / f"{name}.py").write_text(body)
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = "".join(f"{entry} = {value}\n" for entry, value in entries.items())
    (info / "entry_points.txt").write_text(f"[flyloom]\n{lines}")
