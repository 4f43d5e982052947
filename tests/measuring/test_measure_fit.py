"""LogGP parameters from times: of curves that are made, and of the message simulator itself."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from campaign import count
from flyloom._core import Workload
from flyloom.measuring import loggp
from flyloom.measuring.fit import pieces
from message_runs import message

MESSAGES = 16
GRID = list(itertools.product(
    (400.0, 2500.0), (100.0, 1500.0), (50.0, 1000.0), (0.04, 6.0), (0.0, 0.02),
    (300, 20_011, 65_535),
))
"""L, o, g, G, O, S."""
NAMES = {"L": "L_ns", "o": "o_ns", "g": "g_ns", "G": "G_ns_per_byte", "O": "O_ns_per_byte",
         "S": "S_bytes"}


@pytest.mark.campaign
@pytest.mark.parametrize("noise", [0.0, 0.01, 0.03])
def test_pieces_of_a_curve_with_outliers_are_found(noise):
    """Up to four lines with jumps between them, 5 % of the values wrong by 50 to 300 %."""
    sizes = np.array(loggp.sizes_asked(1 << 20), float)
    wrong = 0
    for seed in range(count(3, 200)):
        rng = np.random.default_rng(seed)
        cuts = sorted(rng.choice(np.arange(12, len(sizes) - 12, 16), rng.integers(0, 4), False))
        edges = [0, *map(int, cuts), len(sizes)]
        base, slope, values = float(rng.uniform(100, 400)), float(rng.uniform(0.1, 0.3)), []
        lines = []
        for a, b in itertools.pairwise(edges):
            lines.append((base, slope))
            values += [base + slope * (s - 1) for s in sizes[a:b]]
            end, slope = values[-1], slope * rng.uniform(0.3, 0.6)
            base = 1.5 * end - slope * (sizes[min(b, len(sizes) - 1)] - 1)
        measured = np.array(values) * (1 + noise * rng.standard_normal(len(values)))
        odd = rng.random(len(sizes)) < 0.05
        measured[odd] *= rng.uniform(1.5, 4, int(odd.sum()))
        found = pieces(sizes, measured)
        wrong += [p.begin for p in found] != edges[:-1]
        if [p.begin for p in found] != edges[:-1]:
            continue
        for part, (at_one, per_byte) in zip(found, lines, strict=True):
            for place in (part.begin, part.end - 1):
                truth = at_one + per_byte * (sizes[place] - 1)
                assert abs(part.at(sizes[place]) / truth - 1) < 0.01 + 3 * noise
    # outliers that touch a border can move it by a size
    assert wrong <= count(3, 200) / 6


def test_too_few_sizes_are_refused():
    with pytest.raises(ValueError, match="at least 3"):
        pieces([1, 2], [3.0, 4.0])


def goal(client: list[str], server: list[str]) -> Workload:
    """A schedule of two ranks, each doing one thing after the other."""
    lines = ["num_ranks 2"]
    for rank, todo in enumerate((client, server)):
        lines.append(f"rank {rank} {{")
        for i, what in enumerate(todo):
            lines.append(f"l{i}: {what}")
            if i:
                lines.append(f"l{i} requires l{i - 1}")
        lines.append("}")
    return Workload.read("\n".join(lines).encode(), None)


def simulated(costs: dict[str, float]) -> loggp.Sampler:
    """The method within the message simulator: each PRTT is a schedule of client and server."""

    def ends(client: list[str], server: list[str]) -> list[float]:
        found = message(goal(client, server), costs=costs)
        return [float(end) for end in found.rank_finish_ns]

    def sample(sizes):
        out = {}
        for size in sizes:
            send, take = f"send {size}b to 1", f"recv {size}b from 0"

            def prtt(n, wait, send=send, take=take):
                between = [f"calc {wait}"] if wait else []
                client = [send, *([*between, send] * (n - 1)), "recv 1b from 1"]
                return ends(client, [*([take] * n), "send 1b to 0"])[0]

            one = prtt(1, 0)
            wait = int(one) + 1
            spaced = [take, *([f"calc {wait}", take] * (MESSAGES - 1))]
            served = ends([send] * MESSAGES, spaced)[1] - ends([send], [take])[1]
            out[size] = loggp.MessageSizeTimes(
                wait, [one], [prtt(MESSAGES, 0)], [prtt(MESSAGES, wait)], [served])
        return out

    return sample


@pytest.mark.campaign
@pytest.mark.parametrize("case", random.Random(5).sample(GRID, count(2, len(GRID))),
                         ids=lambda case: "-".join(f"{v:g}" for v in case))
def test_the_simulator_gives_back_what_was_put_in(case):
    """Within 1 %, with the change to asking at S; g where any size below S shows it, else no less
    than it is."""
    costs = dict(zip("LogGOS", case, strict=True))
    found = loggp.parameters(simulated(costs), 1 << 18, MESSAGES)
    hidden = all(  # the processor takes longer than the interface, for all messages up to S
        costs["o"] + costs["O"] * (s - 1) >= costs["g"] + costs["G"] * (s - 1)
        for s in (1, costs["S"])
    )
    for letter, name in NAMES.items():
        if letter == "g" and hidden:
            assert found["g_is_bound"] and found["g_ns"] >= costs["g"]
        else:
            assert found[name] == pytest.approx(costs[letter], rel=0.01, abs=1e-9), letter
    limits = [row["limit"] for row in found["segments"]]
    assert limits[-1] == "handshake" and limits.index("handshake") == len(limits) - 1
    for low, high in found["intervals_95"].values():
        assert low == pytest.approx(high, rel=1e-9), "without noise there is no interval"


@pytest.mark.campaign
def test_intervals_cover_what_is_behind_the_noise():
    """In runs of one model with noise, at least nine of ten intervals contain its parameters."""
    model = {"L_ns": 1200.0, "o_s_ns": 300.0, "o_r_ns": 200.0, "g_ns": 450.0,
             "G_ns_per_byte": 0.1, "O_ns_per_byte": 0.02}
    inside = total = 0
    for seed in range(count(2, 60)):
        rng = np.random.default_rng(seed)

        def noisy(value, rng=rng):
            return list(value * (1 + 0.02 * rng.standard_normal(31)))

        def sample(sizes, noisy=noisy):
            out = {}
            for s in sizes:
                per_byte = model["O_ns_per_byte"] * (s - 1)
                o_s, o_r = model["o_s_ns"] + per_byte, model["o_r_ns"] + per_byte
                gap = max(o_s, model["g_ns"] + model["G_ns_per_byte"] * (s - 1))
                one = 2 * (model["L_ns"] + model["o_s_ns"] + model["o_r_ns"])
                one += model["G_ns_per_byte"] * (s - 1)
                more = MESSAGES - 1
                wait = one * 1.25
                out[s] = loggp.MessageSizeTimes(wait, noisy(one), noisy(one + more * gap),
                                      noisy(one + more * (wait + o_s)), noisy(more * (wait + o_r)))
            return out

        found = loggp.parameters(sample, 1 << 16, MESSAGES, seed)
        assert found["S_bytes"] == 1 << 16, "nothing asks"
        for name, value in model.items():
            low, high = found["intervals_95"][name]
            inside += low <= value <= high
            total += 1
            assert found[name] == pytest.approx(value, rel=0.15), name
    assert inside >= 0.8 * total


@pytest.mark.parametrize("case", ["clear", "none", "moves"])
def test_a_change_to_asking_that_scatters_is_doubted(case):
    """A step of a question and its answer at 20,011 bytes is found and is certain, and so is its
    absence; one that moves halfway through the measurement makes S doubtful."""
    latency, o, per_byte, s_bytes = 1200.0, 250.0, 0.1, 20_011
    rng = np.random.default_rng(11)

    def sample(sizes):
        out = {}
        for s in sizes:
            base = 2 * (latency + 2 * o) + per_byte * (s - 1)
            ask = np.zeros(31)
            if case != "none" and s > s_bytes:
                ask[:] = 2 * (latency + o)
            if case == "moves" and s > s_bytes // 8:
                ask[16:] = 2 * (latency + o)
            one = (base + ask) * (1 + 0.01 * rng.standard_normal(31))
            gap = o + per_byte * (s - 1)
            wait = base * 1.25
            more = MESSAGES - 1
            out[s] = loggp.MessageSizeTimes(wait, list(one), list(one + more * gap),
                                  list(one + more * (wait + o)), [more * (wait + o)] * 31)
        return out

    found = loggp.parameters(sample, 1 << 16, MESSAGES)
    low, high = found["S_range_bytes"]
    assert low <= found["S_bytes"] <= high
    assert found["S_is_doubtful"] == (case == "moves"), (low, high)
    if case == "clear":
        assert found["S_bytes"] == pytest.approx(s_bytes, rel=0.01)
    if case == "none":
        assert found["S_bytes"] == 1 << 16
