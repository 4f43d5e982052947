"""docs/trust.md names what exists, and has the figures that agreement.py prints."""

from __future__ import annotations

import re
import runpy

import pytest
from checkout import ROOT

PAGE = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
PRINTED = runpy.run_path(str(ROOT / "docs" / "pictures" / "agreement.py"))


def test_every_test_that_is_named_exists():
    named = re.findall(r"(?:tests|crates)/[\w/-]+\.(?:py|rs)", PAGE)
    assert len(named) > 20
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_schedules_are_as_exact_as_the_page_says():
    lines = list(PRINTED["schedules"]())
    runs = [re.findall(r"\d[\d,]*", line) for line in lines]
    assert all(exact == ranks for _, exact, ranks in runs), lines
    counts = [int(count) for count, _, _ in runs]
    ends = sum(int(ranks) for _, _, ranks in runs)
    assert f"{counts[0]} and {counts[1]} runs, {ends:,} ends of ranks" in PAGE, lines


@pytest.mark.parametrize(("subject", "says"), [
    ("hop-bytes", "ours {least} to {most} % fewer"),
    ("congestion", "ours {least} to {most} % less"),
])
def test_mappings_are_as_far_below_others_as_the_page_says(subject, says, mappings):
    [line] = [line for line in mappings if line.startswith(f"mapping {subject}")]
    most, least = (abs(float(part)) for part in re.findall(r"([+-][\d.]+)", line)[:2])
    short = {"least": f"{least:.1f}".removesuffix(".0"), "most": f"{most:.1f}"}
    assert says.format(**short) in PAGE, line


@pytest.fixture(scope="module")
def mappings():
    lines = list(PRINTED["mapping"]())
    assert lines[0].endswith("-0.00 to +0.00 %, median 0.00 %"), lines
    return lines


def test_points_of_codes_are_within_what_the_page_says(monkeypatch):
    """A few of the 39 points, with the seeds of the page."""
    rows = PRINTED["rows"]
    # run_path has the functions' globals in the dictionary that they use
    space = PRINTED["packet"].__globals__
    monkeypatch.setitem(space, "rows", lambda path: rows(path)[4::13])
    said = {}
    for line in PRINTED["packet"]():
        if line.startswith("packet all"):
            what = line.split()[2].rstrip(":")
            said[what] = [float(part) for part in re.findall(r"([+-][\d.]+)", line)[:2]]
    for what, name in (("routers", "routers visited"), ("latency", "mean latency"),
                       ("detours", "packets that take detours")):
        [row] = [row for row in PAGE.splitlines() if f"CODES: {name} |" in row]
        low, high = (float(part) for part in re.findall(r"([+-][\d.]+)", row)[:2])
        assert low <= said[what][0] <= said[what][1] <= high, (what, said)
