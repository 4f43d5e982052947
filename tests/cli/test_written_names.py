"""Names of networks in files that other programs open: spreadsheets."""

from __future__ import annotations

import csv
import json

from cli_helpers import flyloom
from flyloom.support.words import uncell

NAMES = ["=cmd|' /C calc'!A0", "@SUM(1)", "+1+1", "a,b"]


def test_channels_of_switches_named_as_formulas_are_text(tmp_path):
    (tmp_path / "net.json").write_text(json.dumps({
        "flyloom": 1, "recipe": {"family": "file", "params": {}},
        "switches": [{"name": name} for name in NAMES],
        "links": [[i, 1, (i + 1) % 4, 2, None] for i in range(4)],
        "endpoints": [{"name": f"h{i}", "rails": [[i, 0]]} for i in range(4)],
    }))
    done = flyloom("sim", "message", "--workload", "alltoall_linear ranks=4 bytes=10",
                   "net.json", "--links", "c.csv", "--ranks", "r.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "c.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    ends = {row[end] for row in rows for end in ("from", "to")}
    assert not any(end.startswith(("=", "@", "+", "-")) for end in ends)
    assert {uncell(end) for end in ends} >= set(NAMES)
    assert all(float(row["bytes"]) >= 0 and float(row["use"]) >= 0 for row in rows)
    assert (tmp_path / "r.csv").read_text().startswith("rank,finish_ns\n0,")
