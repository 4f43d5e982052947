"""The report on paper and in windows of several widths: the answer first, few sheets, no column cut
off."""

from __future__ import annotations

import copy
import json
import re

import browser
import pypdf
import pytest
import report_data

pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")

from flyloom.report import page
from test_answer import curve, point

WIDE = """<script>addEventListener("load", () => {
 const cut = [...document.querySelectorAll(".scroll")].filter(
   box => box.offsetParent && box.scrollWidth > box.clientWidth + 1)
 const out = document.documentElement.scrollWidth - innerWidth
 document.title = JSON.stringify({
   cut: cut.map(box => box.closest("section, div[id]").id), out})
})</script>"""
"""Puts into the title of a page which of its tables and drawings are cut off, and by how much the
page is wider than the window."""
A4_PX, LETTER_PX = 703, 725
"""What is between margins of 12 mm, in pixels of 1/96 inch."""


@pytest.fixture(scope="module")
def html() -> str:
    """The report of five networks with all that an experiment asks for."""
    data = report_data.full()
    slim, tree = data["networks"]
    data["networks"] = []
    routings = {r["network"]: r for r in data["routings"] if r["verified"]}
    data["routings"] = []
    for place, name in enumerate(("fat tree of 12 leaves", "fat tree 2:1", "dragonfly", "HyperX",
                                  "Slim Fly")):
        of = slim if place > 2 else tree
        data["networks"].append({**copy.deepcopy(of), "label": name})
        data["routings"].append({**copy.deepcopy(routings[of["label"]]), "network": name})
    names = [network["label"] for network in data["networks"]]
    data["measures"] = [{
        "name": "cost", "doc": "Prices.", "columns": [
            {"name": name, "unit": unit, "meaning": "", "better": "lower"}
            for name, unit in (("catalog", ""), ("usd", "US$"), ("usd_low", "US$"),
                               ("usd_high", "US$"), ("usd_per_endpoint", "US$"), ("power_w", "W"),
                               ("power_w_per_endpoint", "W"), ("racks", ""), ("rate_gbps", ""),
                               ("basis", ""))],
        "rows": [{"network": name, "label": "no routing", "parameters": {}, "cells": [
            "products-2026", 2.4e6 + i, 1.1e6, 3.3e6, 4560.0 + i, 81e3, 196.0, 12, 400.0,
            "products-2026 at 400 Gbit/s: network, endpoint_cables"]}
            for i, name in enumerate(names)]}]
    data["simulations"] = [
        curve(name, selection, traffic, [
            point(load, min(load, 0.9 - 0.1 * i), 10.0 + i + 30 * load, load > 0.9 - 0.1 * i)
            for load in (0.1, 0.5, 0.9)])
        for i, name in enumerate(names) for traffic in ("uniform", "worst_case")
        for selection in ("minimal", "ugal_l")]
    data["messages"] = [
        {"network": name, "label": "messages spread", "ranks": 4, "finish_ns": 900.0 * size + i,
         "mean_finish_ns": 9.0, "messages": 4, "sent_bytes": 10.0, "busiest_link_use": None,
         "parameters": {"workload": workload, "with.bytes": size, "seed": 0}}
        for i, name in enumerate(names) for size in (64, 4096, 262144)
        for workload in ("alltoall_pairwise", "allreduce_recursive_doubling")]
    return page.render(data)


@browser.NEEDS
@pytest.mark.parametrize("paper", ["A4", "letter"])
def test_five_networks_print_on_eight_sheets(html, tmp_path, paper):
    (tmp_path / "report.html").write_text(html.replace("@page {", f"@page {{ size: {paper};"))
    browser.printed(tmp_path / "report.html", tmp_path / "report.pdf")
    sheets = [sheet.extract_text() for sheet in pypdf.PdfReader(tmp_path / "report.pdf").pages]
    assert len(sheets) <= 8
    assert "The answer" in sheets[0] and "Money and performance" in sheets[0]
    order = [place for word in ("The answer", "What it costs", "Simulated under load", "Pictures",
                                "Provenance")
             for place, sheet in enumerate(sheets) if word in sheet]
    assert order == sorted(order) and len(order) == 5
    assert "[[network]]" not in "".join(sheets), "the file of the experiment is folded"


def measured(html: str, tmp_path, width_px: int) -> dict:
    """What is cut off in a window of this width."""
    file = tmp_path / "wide.html"
    file.write_text(html.replace("</head>", WIDE + "</head>"))
    dom, complaints = browser.dump_dom(file, width_px=width_px)
    assert not complaints
    return json.loads(re.search(r"<title>(.*?)</title>", dom)[1].replace("&quot;", '"'))


@browser.NEEDS
@pytest.mark.parametrize(("width_px", "on_paper"), [
    (1400, False), (1280, False), (A4_PX, True), (LETTER_PX, True)])
def test_no_column_is_cut_off(html, tmp_path, width_px, on_paper):
    shown = html.replace("@media print", "@media all") if on_paper else html
    for tag in ("<details>", "<details open>"):
        found = measured(shown.replace("<details>", tag), tmp_path, width_px)
        assert found["cut"] == [] and found["out"] <= 0, tag
    long = html.replace("<th>Better</th>", f"<th><nobr>{'better ' * 200}</nobr></th>", 1)
    assert "figures" in measured(long, tmp_path, width_px)["cut"], "the check sees a wide table"
