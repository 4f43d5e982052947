"""Points are checked before any runs; a refused one leaves the results of the others."""

from __future__ import annotations

import json
import re

import flyloom as fl
import pyarrow.parquet
import pytest
from cli_helpers import flyloom
from flyloom._core import RefusalError, point_need

HEAD = 'schema = 1\nname = "some"\n'
SHORT = "[sim.flit]\nload = [0.1, 0.2]\nrun = { warmup_cycles = 50, measure_cycles = 100 }\n"
FLY = 'topology = { family = "slim_fly", q = 3, p = 2 }\n'


def rows(folder):
    return pyarrow.parquet.read_table(folder / "out/some/rows.parquet").to_pylist()


def test_a_refused_point_leaves_the_others_their_results(tmp_path):
    """A detour on a fat tree of three levels takes 8 links, and as many classes of lanes."""
    text = HEAD + SHORT + """selection = "ugal_l"
[[sweep.zip]]
label = ["fly", "tree", "ring"]
topology = [
  { family = "slim_fly", q = 3, p = 2 }, { family = "fat_tree", levels = 3, k = 4 },
  { family = "ring", n = 4, p = 1 },
]
"""
    (tmp_path / "x.toml").write_text(text)
    done = flyloom("run", "x.toml", "--workers", 1, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "point 2 (label tree" in done.stderr
    assert "at least 8" in done.stderr and "point 2 of 3 refused" in done.stderr
    assert "results of the others: out/some/report.html" in done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("refused  point 2 (label tree"), "before anything runs"
    found = rows(tmp_path)
    assert [(row["network"], row["load"], row["refused"] is None) for row in found] == [
        ("fly", 0.1, True), ("fly", 0.2, True), ("tree", None, False),
        ("ring", 0.1, True), ("ring", 0.2, True),
    ]
    assert "at least 8" in found[2]["refused"] and found[2]["topology.family"] == "fat_tree"
    assert found[2]["sim_flit_accepted_load"] is None
    page = (tmp_path / "out/some/report.html").read_text()
    assert "point 2 (label tree" in page and "at least 8" in page
    # what was finished is kept
    again = flyloom("run", "x.toml", "--workers", 2, cwd=tmp_path)
    assert again.returncode == 2 and again.stdout.count("kept ") == 2
    assert rows(tmp_path) == found


@pytest.mark.parametrize("workers", [1, 2])
def test_all_kinds_of_refusals_are_of_their_points(tmp_path, workers):
    (tmp_path / "x.toml").write_text(HEAD + FLY + """
[[point]]
routing = { engine = "sssp" }
ebb = { samples = 5 }
[[point]]
routing = { engine = "ftree" }
[[point]]
sim.flit = { traffic = "nowhere.csv", load = 0.1 }
[[point]]
sim.flit = { load = 1.5 }
[[point]]
sim.flit = { load = 0.1, traffic = "bit_reverse" }
[[point]]
sim.packet = { selection = "valiant", switch = { virtual_channels = 2 } }
[[point]]
topology = { file = "missing.net" }
routing = { engine = "sssp" }
[[point]]
sim.message = { workload = "scan_doubling bytes=8" }
""")
    with pytest.raises(RefusalError) as found:
        fl.run(tmp_path / "x.toml", out=tmp_path / "out", workers=workers)
    assert "points 2, 3, 4, 5, 6 and 7 of 8 refused" in str(found.value)
    whys = [row["refused"] for row in rows(tmp_path)]
    assert [why is None for why in whys] == [True, *[False] * 6, True]
    for why, words in zip(whys[1:7], ("ftree", "nowhere.csv", "1.5", "bit_reverse",
                                      "virtual_channels", "missing.net"), strict=True):
        assert words in why
    manifest = json.loads((tmp_path / "out/some/manifest.json").read_text())
    assert len(manifest["skipped"]) == 6 and len(manifest["points"]) == 2


def test_tables_that_need_more_lanes_are_named_and_the_other_points_are_kept(tmp_path):
    """A torus has cycles of channels in both dimensions: one lane cannot be free of deadlock."""
    (tmp_path / "x.toml").write_text(HEAD + """
topology = { family = "torus", shape = [4, 4], p = 1 }
routing = { engine = "dfsssp" }
ebb = { samples = 5 }
sim.flit = { load = 0.1, run = { warmup_cycles = 50, measure_cycles = 100 } }
[[point]]
[[point]]
sim.flit.switch.virtual_channels = 1
[[point]]
sim.flit.switch.virtual_channels = 3
""")
    for kept in (0, 2):
        done = flyloom("run", "x.toml", "--workers", 1, cwd=tmp_path)
        assert done.returncode == 2 and done.stdout.count("kept ") == kept
        assert "point 2 (dfsssp on torus" in done.stderr and "the router has 1" in done.stderr
        assert "point 2 of 3 refused; results of the others: " in done.stderr
        found = rows(tmp_path)
        assert [row["refused"] is None for row in found] == [True, False, True]
        assert all(row["sim_flit_accepted_load"] > 0 for row in found[::2])


def test_points_that_ask_for_the_same_are_refused_alike(tmp_path):
    (tmp_path / "x.toml").write_text(HEAD + FLY + """
[[point]]
sim.packet = { selection = "valiant", switch = { virtual_channels = 2 } }
[[point]]
sim.packet = { selection = "valiant", switch = { virtual_channels = 2 }, lane_use = "auto" }
[[point]]
sim.packet = { messages = 2 }
""")
    with pytest.raises(RefusalError, match="points 1 and 2 of 3 refused"):
        fl.run(tmp_path / "x.toml", out=tmp_path / "out", workers=1)


def test_nothing_is_written_where_all_are_refused(tmp_path):
    (tmp_path / "x.toml").write_text(
        HEAD + FLY + 'sim.packet = { selection = "valiant", switch = { virtual_channels = 2 } }\n')
    with pytest.raises(RefusalError, match=r"^.*x.toml: .*sim.packet"):
        fl.run(tmp_path / "x.toml", out=tmp_path / "out", workers=1)
    assert not list(tmp_path.rglob("*.parquet"))


def test_tables_of_a_point_are_laid_over_those_of_the_file(tmp_path):
    (tmp_path / "x.toml").write_text(HEAD + FLY + """
sim.packet = { load = 0.2, messages = 3, traffic = "worst_case" }
[[point]]
[[point]]
sim = { packet = { seed = 9 } }
[[point]]
sim.packet.messages = 4
""")
    fl.run(tmp_path / "x.toml", out=tmp_path / "out", workers=1)
    found = rows(tmp_path)
    assert [(row["load"], row["traffic"], row["seed"]) for row in found] == [
        (0.2, "worst_case", 0), (0.2, "worst_case", 9), (0.2, "worst_case", 0)]
    assert [row["sim.packet.messages"] for row in found] == [3, 3, 4]


def test_a_dry_run_says_what_differs_how_many_and_how_long(tmp_path):
    text = HEAD + FLY + SHORT + """
[sweep.grid]
"sim.flit.selection" = ["minimal", "valiant"]
"sim.flit.seed" = [1, 2]
"""
    (tmp_path / "x.toml").write_text(text)
    done = flyloom("run", "x.toml", "--dry-run", "--workers", 1, cwd=tmp_path)
    head, *lines = done.stdout.splitlines()
    assert head.startswith("4 points, about ") and head.endswith(" on 1 processor")
    assert [line.split(maxsplit=1)[1] for line in lines] == [
        f"sim.flit.selection {selection}, sim.flit.seed {seed}"
        for selection in ("minimal", "valiant") for seed in (1, 2)
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["x.toml"]
    long = text.replace("measure_cycles = 100", "measure_cycles = 100000000")
    (tmp_path / "x.toml").write_text(long)
    done = flyloom("run", "x.toml", "--dry-run", "--workers", 2, cwd=tmp_path)
    assert re.match(r"4 points, about \d+ (minutes|hours) on 2 processors", done.stdout)
    # a schedule's length is not known before it is made
    (tmp_path / "x.toml").write_text(HEAD + FLY + "sim.message.workload = 'alltoall_pairwise'\n")
    done = flyloom("run", "x.toml", "--dry-run", cwd=tmp_path)
    head, point = done.stdout.splitlines()
    assert head.startswith("1 point, at least ") and point.split() == ["1", "slim_fly:q=3,p=2"]


def test_the_estimate_grows_with_what_is_asked_for():
    """Cycles and seeds are proportional to time, but for what the network itself takes."""
    def seconds(**given):
        sim = {"flit": {"load": [0.5], "unverified": True, **given}}
        return point_need("slim_fly", {"q": 5}, None, 1, sim)[1]

    whole = seconds(run={"measure_cycles": 10**6})
    assert seconds(run={"measure_cycles": 2 * 10**6}) / whole == pytest.approx(2, rel=0.02)
    assert seconds(run={"measure_cycles": 10**6}, seeds=3) / whole == pytest.approx(3, rel=0.02)


def test_progress_lines_say_what_they_are_of(tmp_path):
    (tmp_path / "x.toml").write_text(HEAD + FLY + """
[[point]]
sim.flit = { load = [0.1, 0.2], run = { warmup_cycles = 50, measure_cycles = 100 } }
[[point]]
sim.flit = { load = 0.1, traffic = "worst_case", run.warmup_cycles = 50, run.measure_cycles = 100 }
[[point]]
sim.packet = { load = [0.1, 0.3], messages = 3 }
[[point]]
sim.packet = { load = 0.1, messages = 3, traffic = "tornado" }
""")
    said = []
    fl.run(tmp_path / "x.toml", out=tmp_path / "out", workers=1,
           say=lambda stage, line, _seconds: said.append(line) if stage == "measure" else None)
    assert len(said) == len(set(said)) == 4
    assert "(load [0.1, 0.2]" in said[0] and "sim flit, 2 loads: " in said[0]
    assert "load 0.1, " in said[1] and "worst_case" in said[1]
    assert "sim packet, 2 loads: " in said[2] and "accepted" in said[2]
    assert "tornado" in said[3]
