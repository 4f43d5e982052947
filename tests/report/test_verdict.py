"""The verdict of a report: its sentences against figures made by hand, and what was not asked."""

from __future__ import annotations

import copy

import pytest
import report_data

pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")

from flyloom.report import check, page, verdict
from flyloom.report.base import ComparedFigure, PageData
from test_report import Page


def said(figure: ComparedFigure) -> str:
    """The sentence on a figure as one text."""
    [line] = [line for line in verdict.lines(empty(), [figure])
              if line["head"] == verdict.TOPICS[figure.topic].head]
    [one] = line["sentences"]
    return one.before + one.who + one.after


def empty() -> PageData:
    """The data of a page with two networks and nothing else."""
    return PageData(check.check({**report_data.full(), "routings": []}))


def lines(data: dict) -> dict[str, str]:
    """The rows of the verdict on a page, by their heads."""
    rows = [row for row in Page(page.render(data)).rows[""] if len(row) == 2]
    return {head.strip(): " ".join(text.split()) for head, text in rows}


@pytest.mark.parametrize(("topic", "what", "unit", "better", "values", "sentence"), [
    ("price", "Price an endpoint, old", "US$", "lower", {"a": 80.0, "b": 100.0},
     "By old, a costs 80 $ an endpoint, 20 % less than b (100 $)."),
    ("price", "Price an endpoint", "US$", "lower", {"a": 2_880_000.0, "b": 1_440_000.0, "c": 3e6},
     "b costs 1.44 M$ an endpoint, 50 % less than a (2.88 M$); last is c (3.00 M$)."),
    ("power", "Power an endpoint", "W", "lower", {"a": 10.0, "b": 10.05},
     "a and b are alike: a draws 10 W an endpoint."),
    ("traffic", "Worst case traffic: saturation, minimal", "% of rate", "higher",
     {"a": 37.5, "b": 12.5},
     "Worst case traffic: a carries 37.5 % of the rate, 3.0 times as much as b (12.5 %)."),
    ("traffic", "Uniform traffic: most that arrives", "Gbit/s", "higher",
     {"a": 90.0, "b": 100.0, "c": 100.2, "d": 50.0},
     "Uniform traffic: c and b are alike: c carries 100 Gbit/s an endpoint; last is d"
     " (50 Gbit/s)."),
    ("traffic", "Uniform traffic, lanes 1: saturation", "% of rate", "higher", {"a": 7.5, "b": 5.0},
     "Uniform traffic (lanes 1): a carries 7.5 % of the rate, 50 % more than b (5 %)."),
    ("failures", "Links that fail at random until it falls apart", "%", "higher", {"a": 40.0},
     "a stays in one piece until 40 % of its links have failed at random."),
    ("programs", "all_reduce, bytes 1 to 8", "µs", "lower", {"a": (1.0, 8.0), "b": (2.0, 16.0)},
     "All reduce, bytes 1 to 8: a everywhere, 50 % less."),
    ("programs", "all_reduce", "µs", "lower", {"a": (3.2,)}, "All reduce: a, 3.2 µs."),
])
def test_a_sentence_says_who_is_ahead_and_by_how_much(topic, what, unit, better, values, sentence):
    rows = {name: list(value) if isinstance(value, tuple) else [value]
            for name, value in values.items()}
    assert said(ComparedFigure(what, unit, better, rows, topic=topic)) == sentence


def test_remarks_and_lower_bounds_stand_beside_their_figures():
    figure = ComparedFigure("Uniform traffic: most", "% of rate", "higher",
                            {"a": [90.0], "b": [45.0]}, notes={"a": "ugal_l", "b": "minimal"},
                            at_least=["a"], topic="traffic")
    assert said(figure) == ("Uniform traffic: a carries at least 90 % of the rate (ugal_l), 2.0"
                            " times as much as b (45 %, minimal).")


def test_what_was_not_asked_is_said_and_what_was_is_not():
    data = {**report_data.full(), "routings": []}
    words = ("costs", "carries", "programs take", "failed links", "free of deadlock")
    assert all(word in lines(data)["Not asked"] for word in words)
    data["measures"] = [{
        "name": "cost", "doc": "Prices.", "columns": [
            {"name": "usd_per_endpoint", "unit": "US$", "meaning": "", "better": "lower"}],
        "rows": [{"network": name, "label": "no routing", "cells": [price], "parameters": {}}
                 for name, price in (("Slim Fly", 80.0), ("Fat tree", 100.0))]}]
    found = lines(data)
    assert "costs" not in found["Not asked"] and "carries" in found["Not asked"]
    assert found["Cost"] == "Slim Fly costs 80 $ an endpoint, 20 % less than Fat tree (100 $)."
    leads = Page(page.render(data)).text[""]
    assert "Slim Fly is ahead in" in leads and "it costs least" in leads


def test_deadlock_is_proven_or_shown():
    data = report_data.full()
    bad = [r["label"] for r in data["routings"] if not r["verified"]]
    good = [r["label"] for r in data["routings"] if r["verified"]]
    text = lines(data)["Deadlock"]
    assert bad and good and "no packets can wait for one another" in text
    assert f"Not with {bad[0]} on" in text
    data["routings"] = [r for r in data["routings"] if r["verified"]]
    assert "Not with" not in lines(data)["Deadlock"]


def test_what_to_mind_is_said():
    data = {**report_data.full(), "routings": [], "skipped": []}
    assert "Slim Fly 200, Fat tree 216" in lines(data)["Mind"]
    alike = copy.deepcopy(data)
    alike["networks"][1]["structure"]["endpoints"] = 200
    assert "Mind" not in lines(alike)
    alike["rates"] = [
        {"network": "Slim Fly", "by": by, "lowest_gbps": rate, "highest_gbps": rate,
         "source": "default"} for by, rate in (("bill", 400.0), ("packets", 100.0))]
    alike["skipped"] = [{"what": "point 3", "why": "refused"}]
    text = lines(alike)["Mind"]
    assert "not at one rate of links (100, 400 Gbit/s)" in text
    assert "1 part of the experiment was not done" in text


def test_headlines_are_of_money_and_performance():
    figures = [
        ComparedFigure("Price an endpoint, old", "US$", "lower", {"a": [948.35], "b": [1323.0]},
                       topic="price"),
        ComparedFigure("Uniform traffic: most", "% of rate", "higher", {"a": [98.0], "b": [97.9]},
                       topic="traffic"),
        ComparedFigure("Worst case traffic: most", "% of rate", "higher",
                       {"a": [12.0], "b": [53.1]}, topic="traffic"),
    ]
    tiles = verdict.tiles(figures)
    assert [(tile["head"], tile["big"]) for tile in tiles] == [
        ("Cheapest", "948 $"), ("Carries most", "53.1 %")]
    assert tiles[0]["small"] == "an endpoint, a, by old"
    assert "b" in tiles[1]["small"] and "worst case" in tiles[1]["small"]
    other = ComparedFigure("Price an endpoint, new", "US$", "lower", {"a": [9.0], "b": [8.0]},
                           topic="price")
    assert verdict.tiles([figures[0], other])[0]["small"] == "on the catalogue: a by old, b by new"
