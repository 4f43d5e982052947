"""An engine that knows nothing but the numbers of switches."""

import flyloom as fl
import numpy as np
from numpy.typing import NDArray


@fl.engine
def by_number(
    network: fl.Topology, *, layers: int = 1, descending: bool = False
) -> NDArray[np.int64]:
    """Shortest paths, of the neighbours that come nearer the one with the lowest number.

    Layer i takes the i-th of them, and begins again where there are fewer.

    Parameters
    ----------
    descending
        The highest number in place of the lowest.
    """
    neighbours: list[list[int]] = [[] for _ in range(network.switches)]
    for a, b in network.edges.tolist():
        neighbours[a].append(b)
        neighbours[b].append(a)
    for row in neighbours:
        row.sort(reverse=descending)
    homes = network.attachments[:, 0].tolist()
    next_hops = {home: minimal_hops(home, neighbours) for home in set(homes)}
    found = np.full((layers, network.switches, network.terminals), -1, np.int64)
    for terminal, home in enumerate(homes):
        for switch, nearer in enumerate(next_hops[home]):
            for layer in range(layers if nearer else 0):
                found[layer, switch, terminal] = nearer[layer % len(nearer)]
    return found


def minimal_hops(home: int, neighbours: list[list[int]]) -> list[list[int]]:
    """For each switch the neighbours that are nearer to ``home``."""
    distance = {home: 0}
    reached = [home]
    for switch in reached:
        for neighbour in neighbours[switch]:
            if neighbour not in distance:
                distance[neighbour] = distance[switch] + 1
                reached.append(neighbour)
    return [
        [w for w in row if v in distance and distance[w] < distance[v]]
        for v, row in enumerate(neighbours)
    ]
