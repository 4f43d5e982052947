"""The experiments of examples/figures: what is committed is what is written, and they can run."""

from __future__ import annotations

import json
import re
import runpy
import tomllib

import flyloom as fl
import pytest
from checkout import ROOT
from flyloom._core import expand

FOLDER = ROOT / "examples" / "figures"
FILES = sorted(FOLDER.glob("*.toml"))
PICTURES = ROOT / "docs" / "pictures"


def test_the_committed_files_are_what_their_script_writes():
    written = runpy.run_path(str(FOLDER / "make.py"))["files"]()
    assert written == {path.name: path.read_text() for path in FILES}
    assert len(written) == 3 * (6 + 2)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_point_fits_its_network(path):
    """Six curves of three networks of about as many endpoints, or a sweep of one network."""
    points = expand(path.read_text(), path.name)["points"]
    nets = {json.dumps(p["topology"]): fl.network(inline(p["topology"])) for p in points}
    if "buffers" in path.stem or "oversubscription" in path.stem:
        assert len(points) >= 4 and {t.family for t in nets.values()} == {"slim_fly"}
        return
    each = len({json.dumps(p["sim"]["flit"].get("load")) for p in points})
    assert each == (11 if path.stem.startswith("full") else 1)
    assert [p["sim"]["flit"]["selection"] for p in points[::each]] == [
        "minimal", "valiant", "ugal_l", "ugal_g", "ugal_l", "anca"]
    assert [t.family for t in nets.values()] == ["slim_fly", "dragonfly", "fat_tree"]
    sizes = [t.endpoints for t in nets.values()]
    assert max(sizes) <= 1.4 * min(sizes)
    if path.stem.startswith("full"):
        # 2 q^2 p; (a h + 1) a p of a = 2 h, p = h; k^3 / 4
        assert sizes == [2 * 19**2 * 15, (14 * 7 + 1) * 14 * 7, 34**3 // 4]
    for p in points:
        active = re.search(r"active=(\d+)", p["sim"]["flit"]["traffic"])
        assert active is None or min(sizes) / 2 < int(active[1]) <= min(sizes)


def inline(topology: dict) -> str:
    params = ",".join(f"{key}={value}" for key, value in topology.items() if key != "family")
    return f"{topology['family']}:{params}"


def test_the_pages_table_is_that_of_the_kept_curves():
    """Saturation throughput and latency at load 0.1 of the page are those that pictures draw."""
    kept = json.loads((PICTURES / "flit_figures.json").read_text())
    page = (ROOT / "docs" / "flit-figures.md").read_text()
    seen = 0
    for size, pattern in re.findall(r"^\| (q5|q7|full) \| `?(\w+)`? \|", page, re.MULTILINE):
        (line,) = re.findall(rf"^\| {size} \| `?{pattern}`? \|(.*)\|$", page, re.MULTILINE)
        shown = [cell.strip() for cell in line.split("|")]
        curves = kept[f"flit_{size}_{pattern}"]
        if size == "full":  # loads are given: the largest that was accepted
            points = [{p[0]: p for p in curve["points"]} for curve in curves]
            largest = [max(p[1] for p in of.values()) for of in points]
            pairs = zip(largest, points, strict=True)
            assert shown == [f"{most:.3f}, {of[0.1][2]:.1f}" for most, of in pairs]
            seen += 1
            continue
        wanted = [
            f"{curve['saturation_throughput']:.3f}, {curve['points'][0][2]:.1f}"
            if curve["points"][0][0] == 0.1 else f"{curve['saturation_throughput']:.3f}"
            for curve in curves
        ]
        assert shown == wanted, (size, pattern)
        seen += 1
    assert seen >= 6


def test_the_page_has_the_kept_study_of_detours():
    """By it the default takes no detours in an empty network and loses nothing in a full one."""
    study = runpy.run_path(str(PICTURES / "adaptive_thresholds.py"))
    known = json.loads((PICTURES / "adaptive_thresholds.json").read_text())
    rows = list(study["page"](known))
    assert len(rows) > 20 and all(row in (ROOT / "docs" / "flit-figures.md").read_text()
                                  for row in rows)
    for row in rows:
        cells = [[float(x) for x in cell.split(",")] for cell in row.split("|")[3:-1]]
        (minimal, _), (without, before), *_, (switches, accepted) = cells
        assert without > 1.04 * minimal, row
        assert switches < (1.06 if "ugal_g" in row else 1.015) * minimal, row
        assert accepted > 0.98 * before, row


def test_descriptions_name_their_traffic():
    for path in FILES:
        said = tomllib.loads(path.read_text())
        assert said["name"] == f"flit_{path.stem}"
