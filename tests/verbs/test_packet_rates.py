"""The packet level: rates of cables, and arguments that do not go together."""

import io
import json

import flyloom as fl
import pytest
from cli_helpers import document, flyloom
from flyloom._core import RefusalError
from flyloom.support import progress

GBPS_OF_GIB = 2**33 / 1e9
"""Gbit/s of a GiB/s, the unit that CODES has rates in."""

RATES = {"SDR": 2.0, "QDR": 8.0, "FDR": 14.0625 * 64 / 66, "EDR": 25.0, "HDR": 50.0, "NDR": 100.0}
"""Gbit/s of data on a lane, by the IBTA's names: 8 of 10 bits up to QDR, then 64 of 66."""
TRACE = "alltoall_linear:ranks=2,bytes=64"


def line(tmp_path, cables, name="net.json"):
    """Two endpoints on two switches: the cables of the first endpoint, of the link, of the second;
    each a speed and lanes, or None for a cable of which nothing is said."""
    first, link, second = (None if c is None else {"speed": c[0], "width": c[1]} for c in cables)
    path = tmp_path / name
    path.write_text(json.dumps({
        "flyloom": 1, "recipe": {"family": "file", "params": {}},
        "switches": [{"name": "a"}, {"name": "b"}], "links": [[0, 9, 1, 9, link]],
        "endpoints": [{"name": "x", "rails": [[0, 1, first]]},
                      {"name": "y", "rails": [[1, 1, second]]}],
    }))
    return str(path)


def time_ns(speed, lanes):
    """The time of a packet of 4,096 bytes on a cable."""
    return 4096 * 8 / (RATES[speed] * lanes)


@pytest.mark.parametrize("cables", [
    [("SDR", 1), ("SDR", 1), ("SDR", 1)], [("NDR", 4), ("NDR", 4), ("NDR", 4)],
    [("HDR", 4), ("SDR", 1), ("EDR", 4)], [("EDR", 1), ("NDR", 4), ("FDR", 4)],
    [("NDR", 4), ("HDR", 2), ("SDR", 4)], [("QDR", 4), ("HDR", 2), ("QDR", 1)],
])
def test_a_packet_takes_the_time_of_the_slowest_cable(tmp_path, cables):
    """Cut-through: the packet once, as long as on the slowest link, two routers of 90 ns and three
    cables of 25; whole at every hop it takes the time of each."""
    net = line(tmp_path, cables)
    times = [time_ns(*cable) for cable in cables]
    for switching, due in (("cut_through", max(times)), ("store_and_forward", sum(times))):
        found = fl.simulate(net, "packet", load=0.001, messages=1, traffic="shift:1",
                            settings={"switch.switching": switching})
        [point] = found.points
        ends = [point["mean_latency_ns"] / 1e3, point["max_latency_ns"] / 1e3]
        back = max(times) if switching == "cut_through" else sum(times)
        assert ends == pytest.approx([(due + 2 * 90 + 3 * 25) / 1000] * 2, rel=1e-5)
        assert due == back
    assert found.rates["of_cables"] is True
    rates = [RATES[speed] * lanes * 1e9 / 8 / 2**30 for speed, lanes in cables]
    low, high = (found.rates[f"{end}_gbps"] / GBPS_OF_GIB for end in ("lowest", "highest"))
    assert [low, high] == pytest.approx([min(rates), max(rates)])


def test_a_load_is_a_part_of_the_rate_of_the_cables(tmp_path):
    net = line(tmp_path, [("EDR", 1)] * 3)
    [point] = fl.simulate(net, "packet", load=0.6, messages=3000, traffic="shift:1").points
    due = 0.6 * 25e9 / 8 / 2**30
    assert point["accepted_gbps"] / GBPS_OF_GIB == pytest.approx(due, rel=0.05)


def test_what_is_given_goes_before_and_what_nobody_says_is_as_ever(tmp_path):
    given = {f"link.{kind}_rate_gbps": 107.3741824 for kind in ("local", "global", "endpoint")}
    run = {"load": 0.3, "messages": 20, "traffic": "shift:1"}
    silent = fl.simulate(line(tmp_path, [None] * 3, "silent.json"), "packet", **run)
    slow = fl.simulate(line(tmp_path, [("SDR", 1)] * 3), "packet", settings=given, **run)
    family = fl.simulate("complete:n=2,p=1", "packet", **run)
    assert silent.points[0]["digest"] == slow.points[0]["digest"] == family.points[0]["digest"]
    assert silent.rates == {"of_cables": False, "lowest_gbps": 107.3741824,
                            "highest_gbps": 107.3741824, "source": "default"}
    assert slow.rates["source"] == "parameters"


def test_rates_are_printed(tmp_path):
    net = line(tmp_path, [("EDR", 4), ("HDR", 4), ("EDR", 4)])
    done = flyloom("sim", "packet", net, "--messages", "2")
    assert "links of 100 to 200 Gbit/s, as the cables say" in done.stdout
    assert "links of 107.4 Gbit/s" in flyloom("sim", "packet", "complete:n=2,p=1").stdout


@pytest.mark.parametrize("words", [
    "--load 0.5", "--load 0.9", "--traffic uniform", "--messages 30", "--message-bytes 4096",
])
def test_nothing_says_what_is_sent_beside_a_trace(words):
    done = flyloom("sim", "packet", "complete:n=2,p=1", "--workload", TRACE, *words.split())
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and "a workload says what is sent" in done.stderr
    document("sim", "packet", "complete:n=2,p=1", "--workload", TRACE)


def test_the_bound_of_loads_is_the_true_one():
    done = flyloom("sim", "packet", "complete:n=2,p=1", "--load", "100")
    assert done.returncode == 2 and "0.0001 to 64" in done.stderr
    document("sim", "packet", "complete:n=2,p=1", "--load", "64", "--messages", "2")
    with pytest.raises(RefusalError, match="0.0001 to 64"):
        fl.simulate("complete:n=2,p=1", "packet", load=64.5)


def test_progress_is_reported_without_a_terminal(monkeypatch):
    reported, now = io.StringIO(), [0.0]
    monkeypatch.setattr(progress.sys, "stderr", reported)
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with progress.bars() as bar:
        for second in range(170):
            now[0] = second
            bar("packets", second, 200)
    assert reported.getvalue() == (
        "flyloom: packets: 30 of 200, 15%, about 3 minutes left\n"
        "flyloom: packets: 90 of 200, 45%, about 2 minutes left\n"
        "flyloom: packets: 150 of 200, 75%, about 50 seconds left\n")
