"""Packets in reports and pictures: curves of loads, times of traces, maps of links by plane."""

from __future__ import annotations

import copy
import json
import math
import re
from collections import Counter
from xml.etree import ElementTree

import flyloom as fl
import pytest
import report_data
from cli_helpers import document, flyloom
from test_report import Page

pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")

from flyloom.report import (
    ReportError,
    build,
    check,
    packet_maps,
    packet_page,
    packets,
    page,
    simulated,
)
from flyloom.report.section import packets as section

TRACE = "amg_like:p=2,levels=2,base_bytes=4096"
EXPERIMENT = f"""
schema = 1
name = "beside"
[sim.packet]
workload = "{TRACE}"
placement = "random"
background = {{ ranks = 20, intensity = 0.1, interval_ns = 2000.0 }}
links = true
[[sweep.zip]]
label = ["two planes", "one"]
topology = [{{ family = "fit_fly", q = 5, p = 2 }}, {{ family = "slim_fly", q = 5, p = 2 }}]
[sweep.grid]
"sim.packet.background.intensity" = [0.2, 0.7]
"""
FIGURES = ("max_comm_ns", "mean_comm_ns", "mean_latency_ns", "mean_hops")


def values_of(spec: dict) -> list[dict]:
    """All values of all parts of a chart."""
    parts = [part for key in ("layer", "hconcat", "vconcat") for part in spec.get(key, ())]
    own = spec.get("data", {}).get("values", [])
    return [*own, *(value for part in parts for value in values_of(part))]


def four(value: float) -> str:
    """Four digits that count, of whole numbers all, with commas."""
    return f"{float(f'{value:.4g}') if value % 1 else value:,.10g}"


def refers_to_nothing(html: str) -> bool:
    rest = re.sub(r'xmlns(:\w+)?="http://www\.w3\.org/[^"]*"', "", html)
    shown = Page(re.sub(r"<section>", '<section id="x">', html))
    links = [value for _, name, value in shown.attributes if name in ("href", "src")]
    inside = all(value.startswith("#") or value == "data:," for value in links)
    return inside and "script" not in shown.tags and not re.search(r"https?://|@import", rest)


# --- an experiment -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Runs four points: gives the folder of the results and the rows of ``rows.parquet``."""
    import pyarrow.parquet as parquet

    folder = tmp_path_factory.mktemp("beside")
    (folder / "beside.toml").write_text(EXPERIMENT)
    done = flyloom("run", "beside.toml", cwd=folder)
    assert done.returncode == 0, done.stderr
    out = folder / "out" / "beside"
    return out, parquet.read_table(out / "rows.parquet").to_pylist()


@pytest.fixture(scope="module")
def saved(ran) -> dict:
    return check.check(build.data(json.loads((ran[0] / "results.json").read_text())))


def test_the_page_has_the_times_of_all_points(ran):
    html = (ran[0] / "report.html").read_text()
    assert 'href="#packets"' in html and refers_to_nothing(html)
    shown = Page(html)
    assert "communication of a process (ns)" in shown.text["packets"]
    for place, network in enumerate(("two planes", "one")):
        for nth, intensity in enumerate((0.2, 0.7)):
            row = ran[1][2 * place + nth]
            assert shown.row("packets", network, nth)[1:] == [
                str(intensity), "8", four(row["sim_packet_max_comm_ns"]),
                four(row["sim_packet_mean_comm_ns"]),
                *shown.row("packets", network, nth)[5:7], ""]


def test_the_chart_has_the_values_of_the_rows(ran, saved):
    spec = packets.traced_spec(packets.traced(saved["packets"], ["two planes", "one"]))
    drawn = {(v["curve"], v["at"], v["is"]): v["value"] for v in values_of(spec["hconcat"][0])}
    wanted = {
        (network, at, words): ran[1][2 * place + nth][f"sim_packet_{name}"]
        for place, network in enumerate(("two planes", "one")) for nth, at in enumerate((0.2, 0.7))
        for words, name in (("longest", "max_comm_ns"), ("mean", "mean_comm_ns"))
    }
    assert drawn == wanted
    # latency and routers visited are those of the job, not of the packets beside it
    beside = [values_of(part) for part in spec["hconcat"][1]["vconcat"]]
    for found, key in zip(beside, ("mean_latency_ns", "mean_hops"), strict=True):
        reported = {(v["curve"], v["at"]): v["value"] for v in found}
        assert reported == {
            (run["network"], run["parameters"]["background.intensity"]): run["jobs"][0][key]
            for run in saved["packets"]}
    axes = json.dumps(spec)
    assert '"title": "intensity"' in axes and '"title": "packet latency (ns)"' in axes


def test_every_plane_has_its_map(ran, saved):
    shown = Page((ran[0] / "report.html").read_text()).text["pictures"]
    heads = re.findall(r"Use of links: (.*)", shown)
    assert heads == ["two planes, intensity 0.7, plane 0", "two planes, intensity 0.7, plane 1",
                     "one, intensity 0.7"]
    assert "flits" not in shown and "of the time" in shown
    maps, count = packet_maps.heat(saved["packets"], saved["networks"])
    assert (len(maps), count) == (3, 3)
    run = next(run for run in saved["packets"]
               if (run["network"], run["parameters"]["background.intensity"])
               == ("two planes", 0.7))
    links = run["points"][0]["links"]
    channels = Counter(links["plane"])
    assert set(channels) == {0, 1}
    for plane, found in zip((0, 1), maps, strict=False):
        matrix = found["drawings"][simulated.MATRIX]
        ElementTree.fromstring(matrix)
        assert "scale(8.40000)" in matrix  # 420 px for the 50 switches of a plane
        # a mark is a stroke of one cell; no two links of a plane join the same switches
        assert matrix.count("h1") == channels[plane] == 350
        idle = sum(1 for p, used in zip(links["plane"], links["use"], strict=True)
                   if p == plane and used == 0)
        grey = re.search(r'd="([^"]*)"[^>]*stroke="#d5dae0"', matrix)
        assert (grey[1].count("h1") if grey else 0) == idle
        assert found["drawings"][simulated.FLOOR].count("10 switches") == 5


# --- made-up runs --------------------------------------------------------------------------------


def job(us: float, name: str = "amg", **more) -> dict:
    return {"name": name, "ranks": 8, "max_comm_ns": us, "mean_comm_ns": us / 2,
            "mean_latency_ns": us / 10, "mean_hops": 2.5, "messages": 3, "packets": 4,
            "bytes": 5, **more}


BEHIND = job(0, "background", max_comm_ns=None, mean_comm_ns=None)


def point(load: float | None, latency: float | None = 1.0, **more) -> dict:
    return {
        "offered_load": load, "accepted_load": load and load - 0.1,
        "saturated": load and load > 0.3,
        "accepted_gbps": 10 * (load or 0), "packets": 7, "messages": 7,
        "mean_hops": 2.25, "mean_latency_ns": latency,
        "p50_latency_ns": latency and 0.9 * latency,
        "p99_latency_ns": latency and 3 * latency, "max_latency_ns": latency and 4 * latency,
        "nonminimal_packets": 1, "end_ns": 9000, "deadlocked": False, **more,
    }


def run(at: float | None, us: float, label: str = "minimal", **more) -> dict:
    """A run of a trace beside traffic of intensity ``at``; ``more`` are parameters, and ``jobs`` or
    ``points`` in place of its own."""
    jobs = more.pop("jobs", [job(us), BEHIND])
    points = more.pop("points", [point(None)])
    known = {"seed": 1, "workload": "amg"} | ({} if at is None else {"background.intensity": at})
    return {"network": more.pop("network", "Slim Fly"), "label": label, "points": points,
            "jobs": jobs, "parameters": {**known, **more}}


def load(at: float, label: str = "minimal", **more) -> dict:
    """A run of one load; ``points`` may be given in place of its own."""
    return {"network": "Slim Fly", "label": label, "parameters": {"load": at, "selection": label},
            "points": [point(at, 1 + at)], **more}


def with_runs(runs: list[dict]) -> dict:
    return {**report_data.single(), "packets": runs}


def checked(runs: list[dict]) -> list[dict]:
    return check.check(with_runs(runs))["packets"]


def test_of_several_seeds_the_mean_and_the_range_are_shown():
    took = {0.0: (10.0, 13.0, 16.0), 0.5: (20.0, 21.0, 28.0)}
    runs = checked([run(at, us, seed=seed) for at, all_us in took.items()
                    for seed, us in enumerate(all_us)])
    rows = packets.traced(runs, ["Slim Fly"])
    assert [(row["curve"], row["at"], row["axis"], row["runs"]) for row in rows] == [
        ("minimal", 0.0, "intensity", 3), ("minimal", 0.5, "intensity", 3)]
    for row in rows:
        for key, part in zip(FIGURES[:3], (1, 1 / 2, 1 / 10), strict=True):
            given = [us * part for us in took[row["at"]]]
            assert row[key] == pytest.approx(math.fsum(given) / 3)
            ends = (row["low"][key], row["high"][key])
            assert ends == pytest.approx((min(given), max(given)))
    main = packets.traced_spec(rows)["hconcat"][0]
    ranges = [layer for layer in main["layer"] if layer["mark"]["type"] == "rule"]
    assert [(v["at"], v["low"], v["high"]) for layer in ranges for v in values_of(layer)] == [
        (0.0, 10.0, 16.0), (0.5, 20.0, 28.0)]
    once = packets.traced_spec(packets.traced(checked([run(0.1, 5.0), run(0.2, 6.0)]),
                                              ["Slim Fly"]))
    assert not any(layer["mark"]["type"] == "rule" for layer in once["hconcat"][0]["layer"])


def test_without_a_number_that_differs_there_are_bars():
    rows = packets.traced(checked([run(0.1, 7.0), run(0.1, 9.0, "ugal_l", seed=4)]), ["Slim Fly"])
    assert [(row["curve"], row["at"]) for row in rows] == [("minimal", None), ("ugal_l", None)]
    assert [(v["name"], v["longest"], v["mean"])
            for v in values_of(packets.traced_spec(rows))] == [
        ("minimal", 7.0, 3.5), ("ugal_l", 9.0, 4.5)]
    assert packets.traced_spec([]) is None


def test_runs_off_the_axis_are_in_the_table_alone():
    given = [run(0.1, 5.0), run(0.2, 6.0), run(None, 4.0)]
    rows = packets.traced(checked(given), ["Slim Fly"])
    assert {v["at"] for v in values_of(packets.traced_spec(rows))} == {0.1, 0.2}
    shown = Page(page.render(with_runs(given)))
    assert "Runs without a number as intensity are in the table alone." in shown.text["packets"]
    assert [shown.row("packets", "minimal", n)[1] for n in range(3)] == ["–", "0.1", "0.2"]
    assert packets.off_axis(rows[1:]) == packets.off_axis(rows[:1]) == ""


def test_jobs_of_a_run_are_curves_of_their_own_and_of_one_name_distinguished():
    jobs = [job(5.0), job(6.0), job(7.0, "other"), BEHIND]
    runs = checked([run(at, 0, jobs=jobs) for at in (0.1, 0.2)])
    rows = packets.traced(runs, ["Slim Fly"])
    assert [(row["curve"], row["at"], row["max_comm_ns"]) for row in rows] == [
        ("minimal, amg (1)", 0.1, 5.0), ("minimal, amg (1)", 0.2, 5.0),
        ("minimal, amg (2)", 0.1, 6.0), ("minimal, amg (2)", 0.2, 6.0),
        ("minimal, other", 0.1, 7.0), ("minimal, other", 0.2, 7.0)]


def test_what_did_not_end_is_in_no_mean():
    stuck = run(0.1, 99.0, seed=2, points=[point(None, deadlocked=True)])
    runs = checked([run(0.1, 5.0), stuck, run(0.2, 6.0),
                    run(0.3, 9.0, points=[point(None, deadlocked=True)])])
    rows = packets.traced(runs, ["Slim Fly"])
    assert [(row["at"], row["max_comm_ns"], row["deadlocked"]) for row in rows] == [
        (0.1, 5.0, 1), (0.2, 6.0, 0), (0.3, None, 1)]
    drawn = values_of(packets.traced_spec(rows)["hconcat"][0])
    assert {value["at"] for value in drawn} == {0.1, 0.2}
    html = page.render(with_runs([run(0.1, 5.0), stuck]))
    assert Page(html).row("packets", "minimal")[-1] == "deadlocked"


def test_curves_of_loads_have_a_row_a_point():
    runs = [load(0.4), load(0.2), load(0.2, "ugal_l"),
            load(0.6, "ugal_l", points=[point(0.6, None, deadlocked=True)])]
    made = packets.curves(checked(runs), ["Slim Fly"])
    assert [(c["label"], [p["offered_load"] for p in c["points"]]) for c in made] == [
        ("minimal", [0.2, 0.4]), ("ugal_l", [0.2, 0.6])]
    shown = Page(page.render(with_runs(runs)))
    assert shown.row("packets", "minimal")[:3] == ["minimal", "0.2", "1.2"]
    assert shown.row("packets", "minimal", 2) == [
        "minimal", "0.4", "0.3", "4", "1.4", "1.26", "4.2", "2.250", "1", "7",
        "saturated"]
    assert shown.row("packets", "minimal", 1)[-1] == ""
    assert shown.row("packets", "ugal_l", 2)[1:4] == ["0.6", "0.5", "6"]
    assert shown.row("packets", "ugal_l", 2)[-1] == "deadlocked"


def test_of_many_curves_some_are_shown_and_the_page_says_so():
    used = links_of(report_data.single()["networks"][0])
    some = [run(at, 5.0 + at, packet_bytes=n) for n in range(22) for at in range(22, 45)]
    html = page.render(with_runs(some))
    assert "Shown are 20 of 22 curves: the first." in html
    many = [load(0.1, f"path {n}", points=[point(0.1, links=used)]) for n in range(8)]
    html = page.render(with_runs(many))
    assert f"Shown are {simulated.MAPS} of 8 maps of links: the first." in html
    assert html.count("From switch to switch") == simulated.MAPS


def test_a_page_without_packets_has_no_section_of_them():
    html = page.render(report_data.single())
    assert "#packets" not in html and '<section id="packets">' not in html


def test_what_a_run_saved_becomes_runs_of_packets():
    found = {"points": [{"offered_load": None, "ranks": {}, "series": {}}], "jobs": [1]}
    asked = {"workload": ["a", "b"], "background": [{"ranks": 3}, {"ranks": 4}], "link": {"x": 1}}
    record = {"network": "N", "label": "x, y", "called": "x", "asked": {"packet": asked},
              "measures": {"sim.packet": found, "sim.flit": {}}}
    (made,) = section.entries({"records": [record]})
    assert made == {
        "network": "N", "label": "x", "jobs": [1], "points": [{"offered_load": None}],
        "parameters": {"workload": "a + b", "background.1.ranks": 3, "background.2.ranks": 4,
                       "link.x": 1}}
    asked["background"] = [{"ranks": 3}]
    assert next(section.entries({"records": [record]}))["parameters"]["background.ranks"] == 3


def links_of(network: dict) -> dict:
    names = network["switch_names"]
    ends = [pair for a, b in network["edges"] for pair in ((a, b), (b, a))]
    return {"from": [names[a] for a, _ in ends], "to": [names[b] for _, b in ends],
            "plane": [0] * len(ends), "use": [i / 1000 for i in range(len(ends))]}


@pytest.mark.parametrize(("change", "says"), [
    (lambda r: r.update(network="nowhere"), "no network is labelled 'nowhere'"),
    (lambda r: r["points"][0].pop("accepted_gbps"), "points[0].accepted_gbps: missing"),
    (lambda r: r["points"][0].update(mean_hops="far"), "points[0].mean_hops"),
    (lambda r: r["points"][0].update(offered_load=None), "points[0].offered_load: missing"),
    (lambda r: r["points"][0]["links"]["plane"].pop(), "several lengths"),
    (lambda r: r["points"][0]["links"]["plane"].__setitem__(0, -1), "links.plane[0]: -1 found"),
    (lambda r: r["points"][0]["links"]["to"].__setitem__(0, "no switch"), "no switch 'no switch'"),
    (lambda r: r.update(jobs=[{"name": "x"}]), "jobs[0].ranks: missing"),
    (lambda r: r.update(jobs=[job(1.0)], points=[]), "points: 0 of jobs"),
    (lambda r: r.update(points=7), "points: int found; give a list"),
])
def test_what_is_no_run_of_packets_is_refused_by_the_name_of_the_field(change, says):
    used = links_of(report_data.single()["networks"][0])
    runs = [load(0.1), load(0.2, points=[point(0.2, links=used)])]
    check.check(with_runs(copy.deepcopy(runs)))
    change(runs[1])
    with pytest.raises(ReportError) as refused:
        check.check(with_runs(runs))
    assert says in str(refused.value) and "packets[1]" in str(refused.value)


# --- pictures of a simulation --------------------------------------------------------------------


@pytest.fixture(scope="module")
def traced() -> dict:
    return document(
        "sim", "packet", "fit_fly:q=5,p=2", "--workload", TRACE, "--workload", TRACE, "--placement",
        "random", "--background", "ranks=30,intensity=0.2,interval_ns=2000", "--set", "links=true",
        "--set", "ranks=true", "--set", "series_ns=5000")


def test_the_chart_of_traces_has_jobs_processes_and_time(traced):
    spec = packet_page.spec(traced)
    (bars, ranks), (rate, latency) = (row["hconcat"] for row in spec["vconcat"])
    names = [f"{TRACE} (1)", f"{TRACE} (2)"]
    assert [(v["name"], v["longest"], v["mean"]) for v in values_of(bars)] == [
        (name, found["max_comm_ns"], found["mean_comm_ns"])
        for name, found in zip(names, traced["jobs"], strict=False)]
    reported = traced["points"][0]["ranks"]
    for number, name in enumerate(names):
        shown = [(v["share"], v["ns"]) for v in values_of(ranks) if v["name"] == name]
        times = sorted(us for j, us in zip(reported["job"], reported["comm_ns"], strict=True)
                       if j == number)
        assert shown == [((i + 1) / 8, us) for i, us in enumerate(times)]
        assert shown[-1][1] == traced["jobs"][number]["max_comm_ns"]
    series = traced["points"][0]["series"]
    middles = [end - 2500 for end in series["end_ns"]]
    assert [(v["at"], v["rate"]) for v in values_of(rate)] == list(
        zip(middles, series["accepted_gbps"], strict=True))
    assert [(v["at"], v["ns"]) for v in values_of(latency)] == [
        (at, us) for at, us in zip(middles, series["mean_latency_ns"], strict=True)
        if us is not None]


def test_of_many_processes_some_are_drawn_the_first_and_the_last_among_them():
    for count in (1, 2, 399, 400, 401, 1728, 100_000):
        steps = packet_page._steps(list(range(count)))
        assert len(steps) <= packet_page.STEPS + 1
        assert steps[0] == (0, 0) and steps[-1] == (count - 1, count - 1)
        assert all(place == time for place, time in steps) and steps == sorted(set(steps))


def test_the_page_of_a_trace_has_jobs_and_a_map_a_plane(traced):
    drawn = packet_page.drawings(traced, fl.network("fit_fly:q=5,p=2"))
    assert list(drawn) == ["Use of links, plane 0", "Use of links, plane 1"]
    html = packet_page.page(traced, drawn)
    assert refers_to_nothing(html) and html.count("From switch to switch") == 2
    shown = Page(html.replace("<section>", '<section id="x">'))
    for name, found in zip((f"{TRACE} (1)", f"{TRACE} (2)", "background"), traced["jobs"],
                           strict=True):
        row = shown.row("x", name)
        assert row[1] == str(found["ranks"]) and row[-1] == f"{found['bytes']:,}"
        time = found["max_comm_ns"]
        assert row[2] == ("–" if time is None else four(time))
    wrong = {**traced, "jobs": [{**traced["jobs"][0], "name": "<b>"}, *traced["jobs"][1:]]}
    assert "<th>&lt;b&gt;</th>" in packet_page.page(wrong)


def test_without_traces_the_chart_has_mean_and_99th_percentile():
    net = "slim_fly:q=5,p=2"
    found = document("sim", "packet", net, "--load", "0.2,0.6", "--messages", "5", "--set",
                     "links=true")
    spec = packet_page.spec(found)
    for cell, key in zip(spec["concat"], ("mean_latency_ns", "p99_latency_ns"), strict=False):
        drawn = {v["offered"]: v["value"] for v in values_of(cell) if "mark" in v}
        assert drawn == {p["offered_load"]: p[key] for p in found["points"]}
    assert list(packet_page.drawings(found, fl.network(net))) == ["Use of links at load 0.6"]
    plain = {**found, "points": [
        {key: value for key, value in p.items() if key != "links"} for p in found["points"]]}
    assert packet_page.drawings(plain, fl.network(net)) == {}
    assert refers_to_nothing(packet_page.page(plain))
