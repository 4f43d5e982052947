"""How far packets get: where OpenSM stands, and networks and routes that are too long for it.

Management packets of OpenSM go along paths of ports, of at most 63 hops (InfiniBand Architecture
1.2.1, 14.2.2: an initial path has 64 places, of which the first is not used). Its subnet
administration follows a route over at most 64 switches (MAX_HOPS of osm_sa_path_record.c). ibsim
carries a packet with a LID over at most 16 switches.
"""

from __future__ import annotations

import itertools

from flyloom._core import RefusalError, Routing, Topology

PATH_HOPS = 63
"""Most hops of a path of ports, those out of the first endpoint and into the last among them."""
ROUTE_HOPS = 63
"""Most hops between switches of a route that OpenSM has a path record of."""
LID_HOPS = 16
"""ibsim carries packets with a LID over this number of switches, traps about faults too."""


def stand(topology: Topology) -> tuple[int, int]:
    """The number of the endpoint to run OpenSM on, and the hops from its switch to the farthest.

    It is the first that works where all is near enough from there, else the one in the middle.

    Raises RefusalError, with the route that is too long, if two endpoints are more than ROUTE_HOPS
    apart, or something is out of reach even from the middle. O(links) where the first endpoint will
    do, else O(links) for each switch with endpoints.
    """
    places = _places(topology)
    if not places:
        raise RefusalError("endpoints: no cable of any works; OpenSM runs on an endpoint")
    carries = set(places.values())
    first = min(places)
    from_first = distances(topology, places[first])
    hops, far = _farthest(from_first, carries)
    if 2 * (hops - 1) <= ROUTE_HOPS:  # then no two are farther apart than that
        return first, max(from_first.values())
    best = (hops, first, far)
    names = topology.endpoint_names
    speaks = {switch: endpoint for endpoint, switch in sorted(places.items(), reverse=True)}
    for switch, endpoint in sorted(speaks.items(), key=lambda item: item[1]):
        distance = distances(topology, switch)
        apart, other = max((d, s) for s, d in distance.items() if s in carries)
        if apart > ROUTE_HOPS:
            raise RefusalError(
                f"the shortest route from {names[endpoint]} to {names[speaks[other]]} has {apart} "
                f"hops between switches; OpenSM answers for routes of at most {ROUTE_HOPS}"
            )
        hops, far = _farthest(distance, carries)
        best = min(best, (hops, endpoint, far))
    if best[0] > PATH_HOPS:
        raise RefusalError(
            f"the route from {names[best[1]]}, the endpoint most in the middle, "
            f"to switch {topology.switch_names[best[2]]} has {best[0]} hops; OpenSM's own packets "
            f"go at most {PATH_HOPS}"
        )
    if _farthest(from_first, carries)[0] <= PATH_HOPS:
        return first, max(from_first.values())
    return best[1], max(distances(topology, places[best[1]]).values())


def _farthest(distance: dict[int, int], carries: set[int]) -> tuple[int, int]:
    """Hops of a path from an endpoint of a switch to the farthest device, and the switch there."""
    return max((d + 1 + (s in carries), s) for s, d in distance.items())


def _places(topology: Topology) -> dict[int, int]:
    """The switch of every endpoint with a working cable: its first one's."""
    rails = topology.terminal_table
    places: dict[int, int] = {}
    for endpoint, switch, up in zip(
        rails["endpoint"].tolist(), rails["switch"].tolist(), rails["up"].tolist(), strict=True
    ):
        if up:
            places.setdefault(endpoint, switch)
    return places


def distances(topology: Topology, switch: int) -> dict[int, int]:
    """Hops from a switch to each that it reaches, itself included."""
    found = enumerate(topology.distances(switch).tolist())
    return {other: hops for other, hops in found if hops < topology.switches}


def check_routes(routing: Routing) -> None:
    """Refuses tables with a route that OpenSM has no path record of, naming it."""
    topology = routing.topology
    if topology.switches <= ROUTE_HOPS + 1:  # a longer route would pass a switch twice
        return
    found = routing.measure("verify", {"hop_limit": topology.switches})["complete"]
    if not found["holds"] or found["max_hops"] <= ROUTE_HOPS:
        return
    known = topology.endpoint_names
    names = [known[endpoint] for endpoint in topology.terminal_table["endpoint"].tolist()]
    for source, destination in itertools.permutations(range(topology.terminals), 2):
        for layer in range(routing.layers):
            hops = len(routing.path(source, destination, layer)) - 1
            if hops > ROUTE_HOPS:
                raise RefusalError(
                    f"the route from {names[source]} to {names[destination]} has {hops} hops "
                    f"between switches; OpenSM answers for routes of at most {ROUTE_HOPS}"
                )
