"""The use of links is of the measured cycles: never above 1, and what independent counts give."""

from __future__ import annotations

import random

import flyloom as fl
import pytest


def point(network: str, **given):
    found = fl.simulate(network, "flit", links=True, **given)
    return found.points[0]


@pytest.mark.parametrize("seed", range(12))
def test_no_link_carries_more_than_a_flit_a_cycle(seed):
    draw = random.Random(seed)
    network = draw.choice([
        "slim_fly:q=3,p=4", "dragonfly:h=2,p=4", "torus:shape=4x4,p=2", "ring:n=5,p=3",
        "fat_tree:k=4,levels=2", "complete:n=5,p=3",
    ])
    cycles = draw.choice([20, 50, 100, 233])
    found = point(
        network, load=draw.choice([0.3, 0.6, 1.0]), seed=seed,
        selection=draw.choice(["minimal", "valiant", "ugal_l"]),
        traffic=draw.choice(["uniform", "worst_case"]),
        packet_flits=draw.choice([1, 4]), link_latency_cycles=draw.choice([1, 3]),
        switch={"virtual_channels": 8, "internal_speedup": draw.choice([1.0, 1.5, 2.0, 3.0])},
        run={"warmup_cycles": 300, "measure_cycles": cycles},
    )
    assert max(found.links["flits"]) <= cycles
    assert found.busiest_link_use == max(found.links["flits"]) / cycles <= 1
    assert found.mean_link_use == pytest.approx(
        sum(found.links["flits"]) / cycles / len(found.links["flits"]))


def test_flits_that_wait_behind_a_fast_crossbar_count_in_the_cycle_in_which_they_go(tmp_path):
    """A burst of one switch to the other: the only cable carries one flit a cycle from the cycle
    on in which it carries the packet of a source that is alone, until all have gone."""
    def carried(sources: int, packets: int, cycles: int) -> int:
        path = tmp_path / "burst"
        path.write_text("time_cycles source destination size_flits\n" + "".join(
            f"0 {source} {8 + source} 1\n" for source in range(sources) for _ in range(packets)))
        found = point("ring:n=2,p=8", traffic=str(path),
                      run={"warmup_cycles": 0, "measure_cycles": cycles})
        return max(found.links["flits"])

    first = next(cycles for cycles in range(1, 20) if carried(1, 1, cycles))
    assert first > 1
    for after in (0, 1, 2, 5, 11, 22, 23, 24, 30):
        assert carried(8, 3, first + after) == min(1 + after, 24)
