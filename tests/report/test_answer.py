"""What a report of several networks opens with, against figures made and compared by hand."""

from __future__ import annotations

import copy
import re

import pytest
import report_data

pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")

from flyloom.report import answer, asked, page
from flyloom.report.answer import ComparedFigure
from test_report import Page


def opening(data: dict) -> dict[str, list[str]]:
    """The rows of the opening's table, by what they are of."""
    html = page.render(data)
    assert html.index('id="answer"') < html.index("<section")
    rows = [row for row in Page(html).rows[""] if len(row) > 3]
    return {row[0].strip(): [" ".join(cell.split()) for cell in row[1:]] for row in rows}


def point(load: float, accepted: float, latency: float, saturated: bool) -> dict:
    return {
        "offered_load": load, "accepted_load": accepted, "mean_packet_latency_cycles": latency,
        "mean_network_latency_cycles": latency, "p99_packet_latency_cycles": 2 * latency,
        "mean_hops": 2.0, "saturated": saturated, "deadlocked": False,
        "latency_histogram": [[5, 10]], "hop_histogram": [0, 10],
    }


def curve(network: str, selection: str, traffic: str, points: list[dict], end=None) -> dict:
    return {"network": network, "label": selection, "points": points, "saturation_throughput": end,
            "parameters": {"selection": selection, "traffic": traffic, "buffer": 16}}


@pytest.mark.parametrize(("better", "values", "words", "best"), [
    ("lower", {"a": [75.0], "b": [100.0]}, "a, 25 % less", "a"),
    ("lower", {"a": [100.0], "b": [40.0]}, "b, 60 % less", "b"),
    ("higher", {"a": [1.5], "b": [1.2]}, "a, 25 % more", "a"),
    ("higher", {"a": [0.1], "b": [0.75]}, "b, 7.5 times as much", "b"),
    ("lower", {"a": [1000.0], "b": [1009.0]}, "alike", None),
    ("lower", {"a": [1000.0], "b": [1011.0]}, "a, 1 % less", "a"),
    ("lower", {"a": [2.0], "b": [4.0], "c": [3.0], "d": [2.0]}, "a and d, alike", None),
    ("higher", {"a": [50.0], "b": [99.5], "c": [99.2], "d": [100.0]}, "d, b and c, alike", None),
    ("", {"a": [1.0], "b": [2.0]}, "", None),
    ("lower", {"a": [0.0], "b": [2.0]}, "a, none at all", "a"),
    ("lower", {"a": [4.0], "b": [2.0], "c": [1.0]}, "c, 50 % less than b", "c"),
    ("lower", {"a": [1.0, 5.0], "b": [2.0, 10.0]}, "a everywhere, 50 % less", "a"),
    ("lower", {"a": [1.0, 1.0, 8.0], "b": [1.001, 2.0, 10.0]},
     "a at 2 of 3, 20 to 50 % less; alike at 1", "a"),
    ("lower", {"a": [1.0, 4.0], "b": [2.0, 1.0]}, "a at 1 of 2, 50 % less; b at 1 of 2, 75 % less",
     None),
])
def test_who_is_ahead_and_by_how_much(better, values, words, best):
    figure = ComparedFigure("time", "us", better, values, range(len(values["a"])))
    assert answer.verdict(figure) == words
    row = answer._row(figure, list(values))
    assert row["best"] == best
    assert row["place"] == (None if best is None else list(values).index(best))


def test_the_opening_has_what_the_parts_of_the_report_have():
    data = report_data.full()
    slim, tree = data["networks"]
    slim["cables"]["length_m"], tree["cables"]["length_m"] = 350.0, 864.0
    data["measures"] = [{
        "name": "cost", "doc": "Prices.", "columns": [
            {"name": "usd", "unit": "US$", "meaning": "price", "better": "lower"},
            {"name": "usd_per_endpoint", "unit": "US$", "meaning": "", "better": "lower"}],
        "rows": [
            {"network": name, "label": f"no routing, {catalog}", "cells": [9.0, price],
             "parameters": {"catalog": catalog, "gbps": 40}}
            for name, catalog, price in (
                ("Slim Fly", "old", 80.0), ("Slim Fly", "new", 90.0), ("Fat tree", "old", 100.0),
                ("Fat tree", "new", 60.0))],
    }]
    rows = opening(data)
    assert rows["Endpoints"] == ["200", "216", "", ""]
    assert rows["Price an endpoint, old"] == ["80", "100", "US$", "Slim Fly, 20 % less"]
    assert rows["Price an endpoint, new"] == ["90", "60", "US$", "Fat tree, 33 % less"]
    assert not any("usd" in what for what in rows)
    assert rows["Cables an endpoint"] == ["0.875", "1", "", "Slim Fly, 12 % less"]
    assert rows["Length of cable an endpoint"] == ["1.75", "4", "m", "Slim Fly, 56 % less"]
    assert rows["Diameter"] == ["2", "2", "hops", "alike"]
    best = {
        network["label"]: max(r["ebb"]["mean"] for r in data["routings"]
                              if r["network"] == network["label"] and r["verified"])
        for network in data["networks"]
    }
    cells = rows["Effective bisection bandwidth"]
    assert [float(cell.split()[0]) for cell in cells[:2]] == [
        pytest.approx(100 * best[name], abs=6e-2) for name in ("Slim Fly", "Fat tree")]
    ahead = max(best, key=best.get)
    assert cells[3].startswith(ahead)


@pytest.mark.parametrize(("last", "count"), [(100.0, 1), (101.0, 2)])
def test_a_price_is_said_once_whatever_is_simulated_on_the_network(last, count):
    """Points of four selections and traffics have the same price; where one had another, each
    would be said."""
    data = report_data.full()
    prices = {"Slim Fly": [80.0, 80.0], "Fat tree": [100.0, last]}
    data["measures"] = [{
        "name": "cost", "doc": "Prices.", "columns": [
            {"name": "usd_per_endpoint", "unit": "US$", "meaning": "", "better": "lower"}],
        "rows": [
            {"network": name, "label": f"{selection}, uniform", "cells": [price],
             "parameters": {"gbps": 40}}
            for name, both in prices.items()
            for selection, price in zip(("minimal", "valiant"), both, strict=True)],
    }]
    rows = {what: cells for what, cells in opening(data).items() if what.startswith("Price")}
    assert len(rows) == count
    if count == 1:
        assert rows == {"Price an endpoint": ["80", "100", "US$", "Slim Fly, 20 % less"]}


def test_a_routing_has_its_own_name_whatever_its_point_simulated_besides():
    data = report_data.full()
    for routing in data["routings"]:
        if routing["network"] == "Slim Fly":
            routing["called"], routing["label"] = "layered", f"{routing['label']}, sim.message 8"
    rows = opening(data)
    assert rows["Effective bisection bandwidth"][0].endswith(" (layered)")


def test_traffic_under_load_is_compared_by_selection_and_by_the_best():
    data = {**report_data.full(), "routings": []}
    data["simulations"] = [
        curve("Slim Fly", "minimal", "uniform", [point(0.1, 0.1, 10.0, False)], 0.9),
        curve("Slim Fly", "minimal", "worst_case", [point(0.1, 0.1, 12.0, False)], 0.125),
        curve("Slim Fly", "ugal_l", "uniform", [point(0.1, 0.1, 13.0, False)], 0.8),
        curve("Slim Fly", "ugal_l", "worst_case", [point(0.1, 0.1, 14.0, False)], 0.5),
        curve("Fat tree", "minimal", "uniform", [point(0.1, 0.1, 11.0, False)], 0.6),
        curve("Fat tree", "anca", "uniform", [point(0.1, 0.1, 10.05, False)], 0.95),
        curve("Fat tree", "anca", "worst_case", [point(0.1, 0.1, 24.0, False)], 0.25),
    ]
    rows = opening(data)
    assert rows["Uniform traffic: latency at load 0.1"] == [
        "10 (minimal)", "10.1 (anca)", "cycles", "alike"]
    assert rows["Uniform traffic: saturation, minimal"][:2] == ["90", "60"]
    assert rows["Uniform traffic: saturation, best selection"] == [
        "90 (minimal)", "95 (anca)", "% of rate", "Fat tree, 6 % more"]
    assert rows["Worst case traffic: saturation, best selection"] == [
        "50 (ugal_l)", "25 (anca)", "% of rate", "Slim Fly, 2.0 times as much"]
    assert "Uniform traffic: saturation, ugal_l" not in rows, "of one network alone"


def test_without_a_known_saturation_the_most_that_arrives_counts():
    data = {**report_data.full(), "routings": []}
    stuck = {**point(0.9, 0.88, 90.0, False), "deadlocked": True}
    data["simulations"] = [
        curve("Slim Fly", "minimal", "uniform",
              [point(0.2, 0.2, 11.0, False), point(0.8, 0.6, 99.0, True)]),
        curve("Fat tree", "minimal", "uniform",
              [point(0.1, 0.1, 10.0, False), point(0.2, 0.2, 22.0, False),
               point(0.5, 0.4, 80.0, True), stuck]),
    ]
    rows = opening(data)
    assert rows["Uniform traffic: latency at load 0.2"][:2] == ["11 (minimal)", "22 (minimal)"]
    most = rows["Uniform traffic: most that arrives, minimal"]
    assert most == ["60", "40", "% of rate", "Slim Fly, 50 % more"]


def test_packets_of_points_with_a_load_and_a_seed_each_are_one_curve():
    data = {**report_data.full(), "routings": []}

    def run(network, selection, load, seed, accepted, latency):
        one = {
            "offered_load": load, "accepted_gbps": accepted, "packets": 9, "end_ns": 1000,
            "nonminimal_packets": 0, "deadlocked": False, "mean_latency_ns": latency,
            "mean_hops": 2.0, "p50_latency_ns": 1.0, "p99_latency_ns": 2.0,
        }
        return {"network": network, "label": selection, "points": [one], "parameters": {
            "selection": selection, "traffic": "uniform", "load": load, "seed": seed}}

    data["packets"] = [
        run("Slim Fly", selection, load, seed, accepted + seed, latency + seed)
        for selection, load, accepted, latency in (
            ("minimal", 0.1, 1.0, 1.0), ("minimal", 0.8, 5.0, 9.0), ("ugal_l", 0.1, 1.0, 3.0),
            ("ugal_l", 0.8, 7.0, 9.0))
        for seed in (0, 1)
    ] + [run("Fat tree", "minimal", load, 0, accepted, 3.0) for load, accepted in
         ((0.1, 1.0), (0.8, 11.0))]
    rows = opening(data)
    assert rows["Uniform traffic: latency at load 0.1"] == [
        "1.5 (minimal)", "3 (minimal)", "ns", "Slim Fly, 50 % less"]
    assert rows["Uniform traffic: most that arrives, minimal"] == [
        "5.5", "11", "Gbit/s", "Fat tree, 2.0 times as much"]
    assert rows["Uniform traffic: most that arrives, best selection"] == [
        "7.5 (ugal_l)", "11 (minimal)", "Gbit/s", "Fat tree, 47 % more"]


def test_times_go_along_what_varies_where_both_networks_have_it():
    data = {**report_data.full(), "routings": []}
    data["messages"] = [
        {"network": name, "label": "messages spread", "ranks": 4, "finish_ns": ns,
         "mean_finish_ns": ns, "messages": 4, "sent_bytes": 10.0, "busiest_link_use": None,
         "parameters": {"workload": "alltoall_pairwise", "with.bytes": size, "seed": 0}}
        for name, size, ns in (
            ("Slim Fly", 64, 2000.0), ("Slim Fly", 4096, 9000.0), ("Slim Fly", 9999, 1.0),
            ("Fat tree", 64, 4000.0), ("Fat tree", 4096, 3000.0))
    ]
    assert opening(data)["alltoall_pairwise, bytes 64 to 4,096"] == [
        "2 to 9", "4 to 3", "µs",
        "Slim Fly at 1 of 2, 50 % less; Fat tree at 1 of 2, 67 % less"]


def test_a_mapping_is_compared_by_its_best_method_and_its_gain():
    data = {**report_data.full(), "routings": []}
    data["mappings"] = [
        {"network": name, "label": "no routing", "method": method, "graph": "stencil:shape=4x4",
         "processes": 16, "average_dilation": 1.0, "maximum_congestion": most, "finish_ns": None}
        for name, method, most in (
            ("Slim Fly", "linear", 8e6), ("Slim Fly", "auto", 2e6), ("Fat tree", "linear", 3e6),
            ("Fat tree", "auto", 2.5e6))
    ]
    rows = opening(data)
    assert rows["stencil of 16 processes, mapped: busiest channel"] == [
        "2 (auto)", "2.5 (auto)", "MB", "Slim Fly, 20 % less"]
    assert rows["stencil of 16 processes: busiest channel in order, over mapped"] == [
        "4", "1.2", "times", ""]


def test_of_many_networks_the_best_the_next_and_the_last_are_shown():
    data = {**report_data.full(), "routings": []}
    ends = {}
    networks = []
    for place in range(7):
        one = copy.deepcopy(data["networks"][0])
        one["label"], one["structure"]["diameter"] = f"net {place}", 9 - place
        ends[one["label"]] = 9 - place
        networks.append(one)
    data["networks"] = networks
    assert opening(data)["Diameter"] == [
        "net 6: 3", "net 5: 4", "net 0: 9", "hops", "net 6, 25 % less than net 5"]


def test_one_network_has_its_figures_and_nobody_is_ahead():
    html = page.render(report_data.single())
    assert "is ahead in" not in html and "Better" not in html and "Built: Slim Fly" in html
    rows = {row[0].strip(): row[1:] for row in Page(html).rows[""] if len(row) == 3}
    assert rows["Endpoints"][0] == "200" and rows["Diameter"] == ["2", "hops"]


def test_parameters_that_differ_between_networks_alone_do_not_part_them():
    runs = [
        {"network": "a", "label": "x", "parameters": {"dialect": "one", "load": 1}},
        {"network": "a", "label": "x", "parameters": {"dialect": "one", "load": 2}},
        {"network": "b", "label": "y", "parameters": {"dialect": "two", "load": 2}},
    ]
    [same] = asked.same(runs)
    assert [run["network"] for run in same.runs] == ["a", "b"] and same.words() == ["load 2"]
    twice = [*runs, {**runs[2], "label": "x"}]
    assert [same.labels for same in asked.same(twice)] == [["x"]]


def test_sentences_name_who_is_ahead_in_how_many_figures():
    html = page.render({**report_data.full(), "routings": []})
    sentences = html[html.index('id="answer"'):].split("</ul>")[0]
    said = re.findall(r"<li>(.*?)</li>", sentences, flags=re.DOTALL)
    rows = opening({**report_data.full(), "routings": []})
    judged = [row[-1] for what, row in rows.items() if what and row[-1]]
    for text in said:
        name = re.search(r"<b>(.*?)</b>", text)[1]
        ahead = sum(row.startswith(f"{name}, ") for row in judged)
        assert f"is ahead in {ahead} of {len(judged)} figures" in text
    assert len(said) == len({row.split(",")[0] for row in judged} - {"alike"})


def test_what_is_not_saturated_at_the_highest_load_is_a_lower_bound():
    data = {**report_data.full(), "routings": []}
    data["simulations"] = [
        curve("Slim Fly", "minimal", "uniform",
              [point(0.1, 0.1, 11.0, False), point(0.9, 0.9, 30.0, False)]),
        curve("Fat tree", "minimal", "uniform",
              [point(0.1, 0.1, 10.0, False), point(0.9, 0.45, 99.0, True)]),
    ]
    rows = opening(data)
    assert rows["Uniform traffic: most that arrives, minimal"] == [
        "at least 90", "45", "% of rate", "Slim Fly, at least 2.0 times as much"]
