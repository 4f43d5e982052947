"""Tables with a column for each network: which runs correspond, which is best, units of times."""

from __future__ import annotations

import pytest
from flyloom.report.by_network import COLUMNS, by_network, time_unit


def rows(*made: tuple[str, int, float]) -> list[dict]:
    return [{"network": network, "at": at, "ns": ns} for network, at, ns in made]


def table(of: list[dict], networks: list[str]):
    return by_network(of, networks, lambda row: (row["at"],), lambda row: row["ns"])


def test_runs_of_one_place_share_a_row_and_the_least_is_marked():
    found = table(rows(("a", 1, 9.0), ("b", 1, 5.0), ("a", 2, 100.0), ("b", 2, 100.5),
                       ("b", 3, 1.0)), ["a", "b"])
    assert [row["keys"] for row in found] == [(1,), (2,), (3,)]
    assert [[cell and cell["ns"] for cell in row["cells"]] for row in found] == [
        [9.0, 5.0], [100.0, 100.5], [None, 1.0]]
    assert [row["best"] for row in found] == [1, None, None], "less than 1 % apart is alike"


def test_there_is_no_such_table_of_runs_that_do_not_correspond():
    twice = rows(("a", 1, 9.0), ("a", 1, 8.0), ("b", 1, 5.0))
    assert table(twice, ["a", "b"]) is None
    assert table(rows(("a", 1, 9.0)), ["a"]) is None
    names = [f"n{place}" for place in range(COLUMNS + 1)]
    assert table([], names) is None and table([], names[:-1]) == []


@pytest.mark.parametrize(("times_ns", "unit"), [
    ([], "ns"), ([9_999.0], "ns"), ([10_000.0], "µs"), ([None, 3e4, 4e4], "µs"), ([1e7], "ms"),
    ([0.0, 2e7, 9e9], "ms"), ([64.0, 5e3, 9e9], "ns"),
])
def test_times_have_the_unit_of_the_middle_one(times_ns, unit):
    found, length_ns = time_unit(times_ns)
    assert found == unit and length_ns == {"ns": 1.0, "µs": 1e3, "ms": 1e6}[unit]
