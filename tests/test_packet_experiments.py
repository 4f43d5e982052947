"""The experiments of examples/packets."""

from __future__ import annotations

import runpy
from pathlib import Path

import polars
from cli_helpers import flyloom

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "packets"


def test_the_committed_files_are_what_their_script_writes():
    written = runpy.run_path(str(FOLDER / "make.py"))["files"]()
    assert written == {path.name: path.read_text() for path in FOLDER.glob("*.toml")}


def test_a_small_file_ends_with_a_report(tmp_path):
    """Eight models and networks, three intensities, two seeds: each has its row and its curve."""
    done = flyloom("run", str(FOLDER / "small_amg.toml"), "-o", str(tmp_path))
    assert done.returncode == 0, done.stderr
    written, = tmp_path.rglob("rows.parquet")
    table = polars.read_parquet(written)
    assert table.height == 8 * 3 * 2
    assert table["sim_packet_max_comm_us"].min() > 0
    page = (tmp_path / "packets_small_amg" / "report.html").read_text()
    for network in ("Slim Fly", "Fit Fly", "dragonfly", "megafly"):
        for model in ("own model", "CODES"):
            assert f"{network}, {model}" in page
