"""The experiments of examples/packets."""

from __future__ import annotations

import runpy

import polars
import pytest
from checkout import ROOT
from cli_helpers import flyloom
from flyloom.report import packets

FOLDER = ROOT / "examples" / "packets"
KEPT = runpy.run_path(str(ROOT / "docs" / "pictures" / "packet_figures.py"))


def test_the_committed_files_are_what_their_script_writes():
    written = runpy.run_path(str(FOLDER / "make.py"))["files"]()
    assert written == {path.name: path.read_text() for path in FOLDER.glob("*.toml")}


def test_a_small_file_ends_with_a_report(tmp_path):
    """Four networks in two models, four intensities, four seeds: each has its row and its curve;
    what the pages keep is what is found."""
    done = flyloom("run", str(FOLDER / "small_amg.toml"), "-o", str(tmp_path))
    assert done.returncode == 0, done.stderr
    written, = tmp_path.rglob("rows.parquet")
    table = polars.read_parquet(written)
    assert table.height == 8 * 4 * 4
    assert table["sim_packet_max_comm_ns"].min() > 0
    page = (tmp_path / "packets_small_amg" / "report.html").read_text()
    for network in ("Slim Fly", "Fit Fly", "dragonfly", "megafly"):
        for model in ("own model", "CODES"):
            assert f"{network}, {model}" in page
    kept = {(row["curve"], row["at"]): row for row in KEPT["kept"]()["packets_small_amg"]}
    found = KEPT["made"](tmp_path / "packets_small_amg")
    assert len(found) == len(kept) == 8 * 4
    for row in found:
        same = kept[row["curve"], row["at"]]
        assert row["max_comm_ns"] == pytest.approx(same["max_comm_ns"], rel=1e-5)


def test_seeds_of_several_runs_are_taken_together():
    """What is kept of runs apart is what is kept of them at once; runs that did not end have no
    figures."""
    times = [11.0, 17.0, 29.0, None, 5.0]
    jobs = [
        {"network": 0, "label": "a", "parameters": {"seed": seed, "intensity": 0.5},
         "points": [{"deadlocked": time is None}],
         "jobs": [{"name": "job", "ranks": 2, "max_comm_ns": time or 1.0, "mean_comm_ns": time,
                   "mean_latency_ns": 2.0 * (time or 1.0), "mean_hops": seed}]}
        for seed, time in enumerate(times)
    ]
    every = packets.traced(jobs, ["a"])
    for cut in range(1, len(jobs)):
        parts = [packets.traced(part, ["a"]) for part in (jobs[:cut], jobs[cut:])]
        assert KEPT["together"](*parts) == every
    assert every[0]["max_comm_ns"] == (11 + 17 + 29 + 5) / 4
    assert (every[0]["runs"], every[0]["deadlocked"]) == (5, 1)
    parts = [packets.traced(part, ["a"]) for part in (jobs[:1], jobs[3:4])]
    assert KEPT["together"](*parts)[0]["max_comm_ns"] == 11


def test_the_tables_of_the_page_are_of_what_is_kept():
    page = (ROOT / "docs" / "packet-figures.md").read_text()
    for name in ("packets_small_amg", "packets_small_amg_rates"):
        assert "\n".join(KEPT["table"](name)) in page


def test_two_models_of_a_network_have_one_hue():
    names = ["Slim Fly, own model", "Slim Fly, CODES", "Fit Fly, own model", "Fit Fly, CODES"]
    scale = packets.tints(names)["scale"]
    assert scale["domain"] == names
    own, codes, other, other_codes = (
        [int(hue[at:at + 2], 16) for at in (1, 3, 5)] for hue in scale["range"])
    for plain, pale in ((own, codes), (other, other_codes)):
        assert all(abs(2 * p - c - 255) <= 1 for p, c in zip(pale, plain, strict=True))
    assert own != other
    # with one model the colours do not change
    assert packets.tints(["a, CODES", "b"]) == packets.tints(["a, CODES", "b"])


def test_times_that_go_far_are_on_a_logarithmic_axis():
    def scale_of(last: float) -> dict:
        rows = [{"curve": "a", "at": at, "axis": "intensity", "ranks": 2, "runs": 1,
                 "deadlocked": 0, **(figures := dict.fromkeys(packets.FIGURES, us)),
                 "low": figures, "high": figures} for at, us in ((0.0, 100.0), (0.5, last))]
        [left, _] = packets.traced_spec(rows)["hconcat"]
        return left["layer"][0]["encoding"]["y"]["scale"]

    assert scale_of(50_000.0)["type"] == "log" and "type" not in scale_of(300.0)


def test_networks_of_one_and_two_rails_have_one_axis():
    rows = [{"curve": f"N, {rails} x 7.0 GiB/s", "at": 0.15 * rails} for rails in (1, 2)]
    made = KEPT["of_all_rails"](rows)
    assert [row["at"] for row in made] == [0.15, 0.15]
    assert len({row["axis"] for row in made}) == 1
    plain = [{"curve": "N, own model", "at": 0.3}]
    assert KEPT["of_all_rails"](plain) == plain
