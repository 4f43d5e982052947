"""Runs of messages in reports, and the experiments of examples/messages."""

from __future__ import annotations

import re
import runpy

import flyloom as fl
import pytest
from checkout import ROOT
from cli_helpers import flyloom
from flyloom._core import Workload
from flyloom.report import axis, timeline, timeline_page
from flyloom.report.section import messages
from message_runs import message

FOLDER = ROOT / "examples" / "messages"
FILES = sorted(FOLDER.glob("*.toml"))
KEPT = runpy.run_path(str(ROOT / "docs" / "pictures" / "message_figures.py"))

EXPERIMENT = """
schema = 1
name = "three"
[sim.message]
workload = "alltoall_linear"
workload_options = { bytes = 5000 }
[[sweep.zip]]
label = ["ring", "all"]
topology = [{ family = "torus", shape = [6], p = 1 }, { family = "complete", n = 6, p = 1 }]
[sweep.grid]
"sim.message.workload_options.ranks" = [2, 4, 6]
"""


def run(network="one", label="min_hop", at=10.0, finish_ns=2e6, **parameters):
    return {"network": network, "label": label, "ranks": 4, "finish_ns": finish_ns,
            "parameters": {"with.bytes": at, "placement": "linear", **parameters}}


def test_the_axis_is_the_number_with_most_values():
    runs = [run(at=at, placement=where, seed=seed)
            for where, seed in (("random", 3), ("linear", 5)) for at in (100, 10, 1000)]
    found = axis.rows(runs, ["one"])
    assert {row["axis"] for row in found} == {"bytes"}
    curves = ["min_hop, placement random, seed 3", "min_hop, placement linear, seed 5"]
    wanted = [(curve, at) for curve in curves for at in (10, 100, 1000)]
    assert [(row["curve"], row["at"]) for row in found] == wanted


def test_without_a_number_that_differs_there_is_no_chart():
    found = axis.rows([run(placement="linear"), run(placement="random")], ["one"])
    assert [(row["axis"], row["at"]) for row in found] == [(None, None)] * 2
    assert messages.spec(found) is None
    assert messages.spec([]) is None


def test_a_report_has_the_times_of_all_points(tmp_path):
    (tmp_path / "three.toml").write_text(EXPERIMENT)
    done = flyloom("run", "three.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "out/three/report.html").read_text()
    section = page[page.index('<section id="messages">'):]
    section = section[: section.index("</section>")]
    section, folded = section.split("<details>")
    assert "<svg" in section and "time to the last rank (ms)" in section
    rows = re.findall(r"<tr><th>([^<]*)</th>(<td.*?)</tr>", folded)
    cells = {}
    for curve, rest in rows:
        at, sent, last = re.findall(r'<td class="n">(.*?)</td>', rest)[:3]
        cells[curve.split(",")[0], int(at)] = (int(sent), float(last))
    for net, spec in (("ring", "torus:shape=6,p=1"), ("all", "complete:n=6,p=1")):
        for ranks in (2, 4, 6):
            made = fl.make_workload("alltoall_linear", ranks=ranks, bytes=5000)
            took = fl.simulate(spec, "message", workload=made).finish_ns
            assert cells[net, ranks] == (ranks * (ranks - 1), pytest.approx(took / 1e6, abs=6e-5))
    assert len(cells) == 6
    # the table of all networks has the same times, in the unit of its heading
    unit_ms = {"µs": 1e3, "ms": 1.0, "ns": 1e6}[re.search(r"Last rank \((..)\)", section)[1]]
    aside = re.findall(r'<td class="n">(\d)</td>' + 2 * r'<td class="n[^"]*">(.*?)</td>', section)
    assert len(aside) == 3
    for ranks, *times in aside:
        for net, time in zip(("ring", "all"), times, strict=True):
            assert float(time.replace(",", "")) / unit_ms == pytest.approx(
                cells[net, int(ranks)][1], abs=6e-5)


def test_a_timeline_shows_names_as_text():
    made = fl.make_workload("alltoall_linear", ranks=2, bytes=8)
    found = fl.simulate("complete:n=2,p=1", "message", workload=made, critical_path=True)
    found = found.to_dict()
    path = found["critical_path"]["path"]
    path["operation"] = ["<b>&" for _ in path["operation"]]
    page = timeline_page.page(found)
    assert "<b>" not in page and page.count("<td>&lt;b&gt;&amp;</td>") == len(path["operation"]) > 0


def test_a_timeline_is_in_microseconds_and_its_path_runs_through_what_ranks_do():
    """5 us of work, o to send and to receive, L between: 5 + 0.3 + 1 + 0.3 us."""
    made = Workload.read(b"num_ranks 2\nrank 0 {\nl0: calc 5000\nl1: send 1b to 1\n"
                         b"l1 requires l0\n}\nrank 1 {\nl0: recv 1b from 0\n}\n", None)
    found = message(made, costs={"L": 1000, "o": 300, "g": 0, "G": 0, "O": 0, "S": 100},
                    critical_path=True)
    bars, path = timeline.spec(found.to_dict())["layer"]
    spans = [(row["rank"], row["begin"], row["end"]) for row in bars["data"]["values"]]
    assert {(0, 0.0, 5.0), (0, 5.0, 5.3), (1, 6.3, 6.6)} <= {
        (rank, round(begin, 6), round(end, 6)) for rank, begin, end in spans}
    points = sorted((at["step"], at["rank"], round(at["at"], 6)) for at in path["data"]["values"])
    # a message is on the path from its send to where it arrives
    assert [(rank, at) for _, rank, at in points] == [
        (0, 0.0), (0, 5.0), (0, 5.0), (0, 6.3), (1, 6.3), (1, 6.6)]


def test_the_committed_files_are_what_their_script_writes():
    written = runpy.run_path(str(FOLDER / "make.py"))["files"]()
    assert written == {path.name: path.read_text() for path in FILES}
    assert set(KEPT["kept"]()) == {f"messages_{path.stem}" for path in FILES}


def test_the_table_of_the_page_is_of_what_is_kept():
    page = (ROOT / "docs" / "message-figures.md").read_text()
    assert "\n".join(KEPT["table"]()) in page


def test_what_is_kept_is_what_a_run_finds():
    """The largest run of the collective operations, over tables made anew."""
    tree = fl.network("fat_tree:leaves=12,spines=6,parallel=3,p=18").route("dfsssp", {}, 4)
    for name, workload, given in [
        ("alltoall", "alltoall_pairwise", {"bytes": 65536}),
        ("broadcast", "broadcast_scatter_allgather", {"bytes": 4194304}),
    ]:
        made = fl.make_workload(workload, ranks=200, **given)
        took = fl.simulate(tree, "message", workload=made,
                           costs={"o": 300, "g": 200, "S": 8192}).finish_ns
        rows = KEPT["kept"]()[f"messages_{name}"]
        reported = [row["finish_ns"] for row in rows
                    if row["at"] == 200 and "fat tree" in row["curve"] and "linear" in row["curve"]]
        assert reported == [pytest.approx(took, rel=1e-9)]
