"""Rounds of random pairs, for bandwidth that is measured, and what a network would give them.

Source: Hoefler, Schneider, Lumsdaine: Multistage switches are not crossbars: effects of static
routing in high-performance networks, Cluster 2008 (effective bisection bandwidth).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Round = list[tuple[int, int]]
"""Pairs of ranks, each rank in one of them at most."""


def rounds(hosts: Sequence[str], count: int, seed: int, same_host: bool) -> list[Round]:
    """Random matchings of ranks, as large as can be: of an odd number one rests; two of one host
    are no pair unless ``same_host``, so that where a host has more than half of the ranks some of
    its rest."""
    rng = np.random.default_rng(seed)
    return [_round(hosts, rng, same_host) for _ in range(count)]


def _round(hosts: Sequence[str], rng: np.random.Generator, same_host: bool) -> Round:
    """One matching. Ranks are paired as they come in a random order; a pair of one host is repaired
    by an exchange with another pair, which there is unless too many are of that host."""
    order = [int(rank) for rank in rng.permutation(len(hosts))]
    pairs = [(order[i], order[i + 1]) for i in range(0, len(order) - 1, 2)]
    if same_host:
        return pairs
    resting = order[len(pairs) * 2:]
    for i, (a, b) in enumerate(pairs):
        if hosts[a] != hosts[b]:
            continue
        for j in rng.permutation(len(pairs)).tolist():
            c, d = pairs[j]
            if hosts[c] != hosts[a] and hosts[d] != hosts[b]:
                pairs[i], pairs[j] = (a, c), (b, d)
                break
        else:
            free = [r for r in resting if hosts[r] != hosts[a]]
            if free:
                resting[resting.index(free[0])] = b
                pairs[i] = (a, free[0])
    return [(a, b) for a, b in pairs if hosts[a] != hosts[b]]


def text(all_rounds: Sequence[Round]) -> str:
    """The rounds as the measuring program reads them: a line for each round, ``a:b`` for each
    pair."""
    return "".join(" ".join(f"{a}:{b}" for a, b in pairs) + "\n" for pairs in all_rounds)
