"""A measure of ways back."""

import random

import flyloom as fl


@fl.measure(columns=[
    {"name": "same_way", "unit": "fraction", "better": "neither",
     "meaning": "pairs whose way back is the way there, backwards"},
    {"name": "mean_hops", "unit": "hops", "better": "lower",
     "meaning": "hops there and back, the mean of the pairs"},
])
def round_trips(
    routing: fl.Routing, *, samples: int = 100, seed: int = 0
) -> dict[str, float | None]:
    """Whether packets come back the way they went, for pairs of terminals drawn at random.

    Parameters
    ----------
    samples
        Pairs.
    seed
        Of the random draws.
    """
    draw, terminals = random.Random(seed), range(routing.topology.terminals)
    if len(terminals) < 2 or samples < 1:
        return {"same_way": None, "mean_hops": None}
    pairs = [draw.sample(terminals, 2) for _ in range(samples)]
    ways = [(routing.path(a, b), routing.path(b, a)) for a, b in pairs]
    same = sum(there == back[::-1] for there, back in ways)
    hops = sum(len(there) + len(back) - 2 for there, back in ways)
    return {"same_way": same / samples, "mean_hops": hops / samples}
