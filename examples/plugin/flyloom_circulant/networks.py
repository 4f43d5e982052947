"""Circulant graphs.

Source: Bermond, Comellas & Hsu, "Distributed loop computer networks: a survey", Journal of Parallel
and Distributed Computing 24(1), 1995.
"""

import flyloom as fl


@fl.topology(members=[{"n": n, "offsets": [1, n // 4]} for n in range(12, 65, 4)])
def circulant(n: int, offsets: list[int]) -> list[tuple[int, int]]:
    """Circulant graph: n switches in a ring, each linked to those at these offsets.

    Parameters
    ----------
    n
        Number of switches.
    offsets
        How many places on, each from 1 to half of n and no two the same.
    """
    if len(set(offsets)) < len(offsets) or not all(1 <= offset <= n // 2 for offset in offsets):
        raise fl.RefusalError(f"offsets: {offsets}: each from 1 to {n // 2}, no two the same")
    links = {frozenset((i, (i + offset) % n)) for offset in offsets for i in range(n)}
    return sorted((min(link), max(link)) for link in links)
