"""Simulations in a report: which points are of one curve, what it is called, what the page says."""

from __future__ import annotations

import copy

import pytest
import report_data
from flyloom.report import ReportError, check, flit, page, simulated
from flyloom.report.section import simulation as section
from test_flit_charts import point
from test_report import Page


def simulation(load: float, label: str = "ugal_l", network: str = "Slim Fly", **more) -> dict:
    """A simulation of one load; ``more`` are parameters, and ``points`` in place of its own."""
    accepted = min(load, 0.5)
    points = more.pop("points", [point(load, accepted, 10 + 100 * load)])
    known = {"load": load, "selection": label, "traffic": "uniform", "switch.buffer_flits": 16,
             "choosing.candidates": 4, **more}
    return {"network": network, "label": label, "parameters": known, "points": points}


def labels(simulations: list[dict], networks: tuple[str, ...] = ("Slim Fly",)) -> list[str]:
    return [curve["label"] for curve in simulated.curves(simulations, networks)]


def test_points_that_differ_in_load_alone_are_one_curve_by_load():
    given = [simulation(0.6), simulation(0.2), simulation(0.4)]
    given[1]["saturation_throughput"] = 0.51
    (curve,) = simulated.curves(given, ["Slim Fly"])
    assert [p["offered_load"] for p in curve["points"]] == [0.2, 0.4, 0.6]
    assert curve["saturation_throughput"] == 0.51 and curve["label"] == "ugal_l"
    (row,) = simulated.rows([curve])
    assert row["low"]["offered_load"] == 0.2 and row["high"]["offered_load"] == 0.4


def test_a_label_says_what_differs_and_nothing_else():
    one = simulation(0.2)
    assert labels([one, simulation(0.2, "minimal")]) == ["ugal_l", "minimal"]
    assert labels([one, simulation(0.2, traffic="shuffle")]) == ["uniform", "shuffle"]
    assert labels([one, simulation(0.2, **{"switch.buffer_flits": 4})]) == [
        "buffer_flits 16", "buffer_flits 4"]
    both = {"switch.size": 1, "choosing.size": 1}
    other = {"switch.size": 2, "choosing.size": 2}
    assert labels([simulation(0.2, **both), simulation(0.2, **other)]) == [
        "switch.size 1, choosing.size 1", "switch.size 2, choosing.size 2"]
    far = simulation(0.2, "anca", "fat tree")
    assert labels([one, far], ("Slim Fly", "fat tree")) == ["Slim Fly, ugal_l", "fat tree, anca"]
    # what differs from network to network alone goes without saying, but for the traffic
    six = {"switch.virtual_channels": 6}
    more = [one, simulation(0.2, "minimal"), simulation(0.2, "anca", "fat tree", **six)]
    assert labels(more, ("Slim Fly", "fat tree")) == [
        "Slim Fly, ugal_l", "Slim Fly, minimal", "fat tree, anca"]
    far = simulation(0.2, "ugal_l", "fat tree", traffic="shuffle")
    assert labels([one, far], ("Slim Fly", "fat tree")) == [
        "Slim Fly, uniform", "fat tree, shuffle"]
    tables = [simulation(0.2, "dfsssp", selection="minimal"),
              simulation(0.2, "layered", selection="minimal")]
    assert labels(tables) == ["dfsssp", "layered"]


def test_what_a_run_saved_becomes_simulations():
    found = {"verified": True, "points": []}
    asked = {"load": 0.2, "switch": {"buffer_flits": 4}, "traffic_class": [{"share": 1}],
             "sizes": [1, 2]}
    record = {"network": "N", "label": "ugal_l, sim.flit.load 0.2", "called": "ugal_l",
              "asked": {"flit": asked}, "measures": {"sim.flit": found, "cost": {}}}
    (made,) = section.entries({"records": [record]})
    assert (made["network"], made["label"]) == ("N", "ugal_l")
    assert made["parameters"] == {
        "load": 0.2, "switch.buffer_flits": 4, "traffic_class": '[{"share": 1}]', "sizes": [1, 2]}
    assert list(section.entries({"records": [{"network": "N", "label": "x"}]})) == []


def links(network: dict) -> dict:
    names = network["switch_names"]
    ends = [pair for a, b in network["edges"] for pair in ((a, b), (b, a))]
    return {"from": [names[a] for a, _ in ends], "to": [names[b] for _, b in ends],
            "port": [1] * len(ends), "use": [i / 1000 for i in range(len(ends))]}


@pytest.fixture(scope="module")
def data() -> dict:
    given = report_data.single()
    used = links(given["networks"][0])
    given["simulations"] = [
        simulation(0.2, "a <b>"),
        simulation(0.4, "a <b>", points=[point(0.4, 0.4, 50.0, links=used)]),
        simulation(0.3, "minimal", points=[point(0.3, 0.1, 99.0)]),
    ]
    return given


@pytest.fixture(scope="module")
def html(data) -> str:
    return page.render(data)


def test_the_page_has_a_row_a_curve_and_a_row_a_point(html):
    shown = Page(html)
    assert shown.row("simulation", "a <b>") == [
        "a <b>", "0.2", "30.00", "0.4", "0.400", "50.00", "350"]
    assert shown.row("simulation", "minimal") == ["minimal", "0.3", "99.00", "none"]
    points = [shown.row("simulation", "a <b>", 1), shown.row("simulation", "a <b>", 2)]
    assert [row[1:4] for row in points] == [["0.2", "0.2000", "30.00"], ["0.4", "0.4000", "50.00"]]
    assert shown.row("simulation", "minimal", 1)[-1] == "saturated"
    assert "Use of links: a <b>, load 0.4" in shown.text["pictures"]
    assert html.count("From switch to switch") == 1 and "flits a cycle" in shown.text["pictures"]
    assert 'href="#simulation"' in html


def test_a_page_without_simulations_has_no_section_of_them():
    html = page.render(report_data.single())
    assert "#simulation" not in html and "Simulated under load" not in html


def test_of_many_curves_some_have_distributions_and_maps_and_the_page_says_so(data):
    used = links(data["networks"][0])
    many = {**data, "simulations": [
        simulation(0.2, points=[point(0.2, 0.2, 19.0, links=used)], **{"choosing.candidates": n})
        for n in range(1, 15)
    ]}
    shown = page.render(many)
    assert f"Shown are {simulated.DISTRIBUTIONS} of 14 curves: the first." in shown
    assert f"Shown are {simulated.MAPS} of 14 curves with links: the first." in shown
    assert shown.count("From switch to switch") == simulated.MAPS


def test_intervals_over_seeds_come_to_the_chart_of_the_page(data):
    ends = {"confidence_interval_95": [20.0, 40.0], "standard_deviation": 1.0}
    spread = {"seeds": 3, "mean_packet_latency_cycles": ends, "accepted_load": ends, "more": ends}
    given = {**data, "simulations": [
        simulation(load, points=[point(load, load, 30.0, over_seeds=spread)])
        for load in (0.2, 0.4)]}
    kept = check.check(given)["simulations"]
    spec = flit.curves_spec(simulated.curves(kept, ["Slim Fly"]))
    band = next(layer["data"]["values"] for layer in spec["concat"][0]["layer"]
                if layer["mark"]["type"] == "area")
    assert [(value["low"], value["high"]) for value in band] == [(20.0, 40.0)] * 2
    assert "95 % intervals over 3 seeds" in page.render(given)


@pytest.mark.parametrize(("change", "says"), [
    (lambda s: s.update(network="nowhere"), "no network is labelled 'nowhere'"),
    (lambda s: s["points"][0].pop("accepted_load"), "points[0].accepted_load"),
    (lambda s: s["points"][0].update(latency_histogram=[[1, 2, 3]]), "latency_histogram"),
    (lambda s: s["points"][0]["links"]["use"].pop(), "several lengths"),
    (lambda s: s["points"][0]["links"]["to"].__setitem__(0, "no switch"), "no switch 'no switch'"),
])
def test_what_is_no_simulation_is_refused_by_the_name_of_the_field(data, change, says):
    wrong = copy.deepcopy(data)
    change(wrong["simulations"][1])
    with pytest.raises(ReportError) as refused:
        check.check(wrong)
    assert says in str(refused.value) and "simulations[1]" in str(refused.value)
