"""An experiment has one rate: that of the network, in its bill, its packets and its messages."""

from __future__ import annotations

import re

import polars
import pytest
from cli_helpers import flyloom

STAGES = ("cost", "sim_packet", "sim_message")
TEXT = """
schema = 1
name = "rates"
topology = { family = "complete", n = 2, p = 1GBPS }
cost = {}
[sim.message]
workload = "broadcast_binomial bytes=1000000000"
[sim.packet]
workload = "broadcast_binomial bytes=1000000000"
"""


def ran(tmp_path, text):
    (tmp_path / "rates.toml").write_text(text)
    done = flyloom("run", str(tmp_path / "rates.toml"), "-o", str(tmp_path))
    assert done.returncode == 0, done.stderr
    rows = polars.read_parquet(tmp_path / "rates" / "rows.parquet").to_dicts()
    page = (tmp_path / "rates" / "report.html").read_text()
    section = re.search(r'<section id="rates">(.*?)</section>', page, re.DOTALL)[1]
    return rows, " ".join(re.sub(r"<[^>]+>", " ", section).split())


def test_every_stage_of_a_point_is_at_the_rate_of_its_network(tmp_path):
    """1 GB takes 8e9 bits over the rate, and the bill has the same rate."""
    text = TEXT.replace("GBPS", "") + '[sweep.grid]\n"topology.gbps" = [100, 200, 400]\n'
    rows, section = ran(tmp_path, text)
    assert [row["topology.gbps"] for row in rows] == [100, 200, 400]
    for row in rows:
        gbps = row["topology.gbps"]
        assert row["recipe"] == f"complete:n=2,p=1,gbps={gbps}"
        assert [row[f"{stage}_rate_gbps"] for stage in STAGES] == pytest.approx([gbps] * 3)
        assert [row[f"{stage}_rate_source"] for stage in STAGES] == ["network"] * 3
        for found in ("sim_message_finish_ns", "sim_packet_end_ns"):
            assert 0 < row[found] - 8e9 / gbps < 3000
        assert f"at {gbps} Gbit/s" in row["cost_basis"]
        assert f"at {gbps} Gbit/s" in row["cable_cost_basis"]
    assert section.count("100 Gbit/s the network") == 3 and "Not at one rate" not in section


def test_one_rate_is_one_sentence_and_several_are_named(tmp_path):
    _, section = ran(tmp_path, TEXT.replace("GBPS", ", gbps = 400"))
    assert section == "Rates of links All figures are at 400 Gbit/s. Said by the network."
    rows, section = ran(tmp_path, TEXT.replace("GBPS", ""))
    assert [rows[0][f"{stage}_rate_source"] for stage in STAGES] == ["default"] * 3
    assert "Not at one rate: complete:n=2,p=1." in section
    for words in ("bill 400 Gbit/s", "packets 107.4 Gbit/s", "messages 200 Gbit/s"):
        assert f"{words} nobody: the default" in section


def test_a_file_takes_a_rate_and_keeps_the_parts_of_its_cables(tmp_path):
    (tmp_path / "two.json").write_text(
        '{"flyloom": 1, "recipe": {"family": "file", "params": {}},'
        ' "switches": [{"name": "a"}, {"name": "b"}], "links": [[0, 9, 1, 9, {"width": 1}]],'
        ' "endpoints": [{"name": "x", "rails": [[0, 1]]}, {"name": "y", "rails": [[1, 1]]}]}')
    text = TEXT.replace('family = "complete", n = 2, p = 1GBPS', 'file = "two.json", gbps = 400')
    [row], _ = ran(tmp_path, text)
    assert [row[f"{stage}_rate_gbps"] for stage in STAGES] == pytest.approx([400] * 3)
    assert 0 < row["sim_message_finish_ns"] - 8e9 / 100 < 3000


@pytest.mark.parametrize(("old", "new", "said"), [
    ("GBPS", ", gbps = 56", "topology: complete: gbps: no cable has 56 Gbit/s"),
    ("GBPS", ', gbps = "fast"', 'topology: complete: gbps: "fast" is not a number'),
    ('family = "complete", n = 2, p = 1GBPS', 'file = "missing.json", rate = 400',
     "topology.rate: not a key of a file; file, p, gbps, failures"),
])
def test_what_is_no_rate_is_refused_before_anything_runs(tmp_path, old, new, said):
    (tmp_path / "rates.toml").write_text(TEXT.replace(old, new))
    done = flyloom("run", str(tmp_path / "rates.toml"), "-o", str(tmp_path))
    assert done.returncode == 2 and said in done.stderr and not (tmp_path / "rates").exists()


@pytest.mark.parametrize(("gbps", "agrees"), [(400, True), (200, False)])
def test_a_bill_at_another_rate_is_refused_before_anything_runs(tmp_path, gbps, agrees):
    text = TEXT.replace("GBPS", ", gbps = 400").replace("cost = {}", f"cost = {{ gbps = {gbps} }}")
    (tmp_path / "rates.toml").write_text(text)
    done = flyloom("run", str(tmp_path / "rates.toml"), "--dry-run")
    assert (done.returncode == 0) is agrees
    assert agrees or "cost.gbps: 200 Gbit/s, and [topology] says gbps = 400" in done.stderr


def test_a_family_of_a_user_takes_a_rate(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import flyloom\n\n\n@flyloom.topology\ndef couple() -> list[tuple[int, int]]:\n"
        '    """Two switches."""\n    return [(0, 1)]\n')
    own = TEXT.replace('family = "complete", n = 2, p = 1GBPS', 'family = "couple", gbps = 400')
    rows, section = ran(tmp_path, 'plugins = ["mine.py"]\n' + own)
    assert rows[0]["recipe"] == "couple:gbps=400"
    assert section == "Rates of links All figures are at 400 Gbit/s. Said by the network."
    assert 0 < rows[0]["sim_packet_end_ns"] - 2e7 < 3000
