"""A measure of return paths."""

import random

import flyloom as fl


@fl.measure(columns=[
    {"name": "same_path", "unit": "fraction", "better": "neither",
     "meaning": "pairs whose return path is the forward path reversed"},
    {"name": "mean_hops", "unit": "hops", "better": "lower",
     "meaning": "hops there and back, the mean of the pairs"},
])
def round_trips(
    routing: fl.Routing, *, samples: int = 100, seed: int = 0
) -> dict[str, float | None]:
    """Whether packets return by the forward path, reversed, for random pairs of terminals.

    Parameters
    ----------
    samples
        Pairs.
    seed
        Of the random draws.
    """
    draw, terminals = random.Random(seed), range(routing.topology.terminals)
    if len(terminals) < 2 or samples < 1:
        return {"same_path": None, "mean_hops": None}
    pairs = [draw.sample(terminals, 2) for _ in range(samples)]
    paths = [(routing.path(a, b), routing.path(b, a)) for a, b in pairs]
    same = sum(there == back[::-1] for there, back in paths)
    hops = sum(len(there) + len(back) - 2 for there, back in paths)
    return {"same_path": same / samples, "mean_hops": hops / samples}
