"""The histogram of a metric of congestion: every value is in one bar, none is below 0."""

import pytest
from flyloom.report.congestion import spec


def bars(high_and_counts: list[tuple[float, int]]) -> list[dict]:
    found = {"metric": "channels", "pattern": "bisect",
             "histogram": [[high - 1, high, n] for high, n in high_and_counts]}
    return spec(found)["data"]["values"]


@pytest.mark.parametrize("most", [41, 95, 400, 5000])
def test_what_is_nothing_is_in_the_first_class(most):
    drawn = bars([(0, 7), (1, 2), (most // 2, 3), (most, 4)])
    assert drawn[0]["low"] == 0 and sum(bar["n"] for bar in drawn) == 16
    assert drawn[0]["n"] == 9  # 0 and 1
    width = drawn[0]["high"]
    for bar, value in zip(drawn[1:], (most // 2, most), strict=True):
        assert bar["low"] < value <= bar["high"] == bar["low"] + width


def test_single_numbers_have_a_bar_around_them():
    drawn = bars([(0, 7), (1, 2), (3, 1)])
    assert [(round(bar["low"] + 0.4, 9), bar["n"]) for bar in drawn] == [(0, 7), (1, 2), (3, 1)]
