"""Independent work on several threads: results in order, an error ends it, notes stay silent."""

import threading
import time

import pytest
from flyloom.support import parallel
from flyloom.support.notes import _is_silent, silent
from flyloom.support.parallel import in_order


def test_results_are_in_the_order_of_the_items(monkeypatch):
    monkeypatch.setattr(parallel, "threads_for", lambda _: 2)
    later = threading.Event()

    def work(item):
        if item == 0:
            assert later.wait(30)  # the first ends last
        else:
            later.set()
        return item * item

    said = []
    found = list(in_order(work, range(6), "squares", lambda *line: said.append(line), 2))
    assert found == [0, 1, 4, 9, 16, 25]
    assert said == [("squares", number, 6) for number in range(6)]


def test_an_error_ends_the_work():
    begun = []

    def work(item):
        begun.append(item)
        if item == 1:
            raise ValueError("one")
        time.sleep(0.01)
        return item

    with pytest.raises(ValueError, match="one"):
        list(in_order(work, range(1000), "items", None, 2))
    assert len(begun) < 1000


def test_the_context_of_the_caller_goes_with_the_work():
    with silent():
        assert list(in_order(lambda _: _is_silent.get(), [1, 2], "items", None)) == [True, True]
    assert list(in_order(lambda _: _is_silent.get(), [1, 2], "items", None)) == [False, False]


def test_as_many_at_a_time_as_are_allowed():
    now, most, lock = [0], [0], threading.Lock()

    def work(_):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.005)
        with lock:
            now[0] -= 1

    list(in_order(work, range(20), "items", None, 1))
    assert most[0] == 1
