"""Graph search: networks of given order and degree with least diameter and mean distance."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from flyloom._core import (
    RefusalError,
    Search,
    search_bounds,
    search_designs,
    search_host_distances,
    search_random,
)
from flyloom.solve import sat
from flyloom.support import ending
from flyloom.support.checks import whole
from flyloom.support.progress import Progress
from flyloom.support.refused import none_such
from flyloom.support.verb_results import FoundGraph, GraphBounds, GraphExistence

SAT_ORDER = 64
"""The most vertices that a SAT solver is asked about."""
AUTO_ORDER = 24
"""The most vertices that method ``auto`` asks a SAT solver about."""
LIMIT_S = 60.0
"""Seconds for all questions to a SAT solver, where no limit is given."""
RESTARTS = 8
U32 = 2**32 - 1

Edges = Sequence[tuple[int, int]]
"""The edges of a graph: pairs of vertices."""

METHODS = ("auto", "sat", "anneal")


def bounds(order: int, degree: int) -> GraphBounds:
    """What no graph of ``order`` vertices of degree at most ``degree`` can beat.

    Fields: ``diameter`` [hops], ``distance_sum`` (over ordered pairs), ``pairs`` (ordered ones) and
    ``mean_distance`` [hops], their quotient. Moore tree of Cerf et al. (1974), parity, and the
    Moore graphs that are known not to exist.
    """
    order = whole("order", order, 0, U32)
    degree = whole("degree", degree, 0, U32)
    found = search_bounds(order, degree)
    return GraphBounds({**found, "mean_distance": found["distance_sum"] / found["pairs"]})


def decide(
    order: int,
    degree: int,
    diameter: int,
    *,
    distance_sum: int | None = None,
    time_limit: float = LIMIT_S,
    solver: str = "cadical",
    break_symmetry: bool = True,
    proof: Path | None = None,
) -> GraphExistence:
    """Whether there is a graph of ``order`` vertices, degree at most ``degree`` and diameter at
    most ``diameter``, asked of a SAT solver.

    ``distance_sum`` also bounds the sum of distances over ordered pairs. ``solver`` is ``cadical``,
    ``glucose`` or ``minisat``; ``proof`` takes a DRAT proof when there is no graph, and the formula
    beside it as ``.cnf``. Fields: ``exists`` (None: not decided within ``time_limit`` seconds),
    ``edges``, ``seconds``.
    """
    found = bounds(order, degree)
    order = whole("order", order, 2, SAT_ORDER)
    diameter = whole("diameter", diameter, 1, order - 1)
    _seconds(time_limit)
    beyond = None
    if distance_sum is not None:
        distance_sum = whole("distance_sum", distance_sum, 0, 2**63 - 1)
        beyond = (distance_sum - found.pairs) // 2
    question = sat.formula(order, degree, diameter, beyond, break_symmetry)
    answer = sat.solve(question, time_limit, solver, proof)
    return GraphExistence({"exists": answer.holds, "edges": _lists(answer.edges),
                   "seconds": answer.seconds})


def search(
    order: int,
    degree: int,
    *,
    method: str = "auto",
    diameter: int | None = None,
    steps: int | None = None,
    symmetry: int | None = None,
    restarts: int = RESTARTS,
    seed: int = 0,
    time_limit: float | None = None,
    state: Path | None = None,
    proof: Path | None = None,
    progress: Progress | None = None,
) -> FoundGraph:
    """A graph of ``order`` vertices, degree at most ``degree``, of least diameter and, among
    those, least mean distance: as good as is found, with what is proved about it.

    Parameters
    ----------
    method
        ``anneal``: simulated annealing; ``sat``: annealing, then questions to a SAT solver until
        the optimum is proved or the time is up; ``auto``: ``sat`` where it is installed and there
        are at most 24 vertices.
    diameter
        The diameter that is asked for: 1 to ``order - 1``. The result has ``holds``, whether it is
        met (None: neither met nor disproved).
    steps, restarts
        Exchanges tried in each restart (default: at most four million, fewer for large graphs),
        and restarts.
    symmetry
        Order of the rotational symmetry, a divisor of ``order``; default: another a restart.
    seed
        Of all random draws; the same seed, steps and restarts give the same graph.
    time_limit
        Seconds for annealing, and again for the SAT solver (default: none, and 60).
    state
        A file where the state of the annealing is kept when time or Ctrl-C stops it, and taken up
        again where it exists.
    proof
        Where the DRAT proof of the last impossibility is written, with its formula (``.cnf``).

    Returns
    -------
    FoundGraph
        ``order``, ``degree``, ``diameter``, ``mean_distance`` [hops], ``distance_sum`` over ordered
        pairs, ``diameter_lower_bound``, ``mean_distance_lower_bound``, ``gap_percent`` (mean above
        its bound), ``random_mean_distance`` (mean of 8 random graphs), ``optimal`` (True, or None:
        not known), ``proof`` (what shows it), ``method``, ``seed``, ``steps``, ``steps_done``,
        ``restarts``, ``symmetry``, ``finished`` (False: stopped before), ``edges``.
    """
    order, degree = whole("order", order, 0, U32), whole("degree", degree, 0, U32)
    limits = bounds(order, degree)
    seed, restarts, steps, symmetry = _check(
        method, seed, restarts, steps, symmetry, time_limit
    )
    if diameter is not None:
        diameter = whole("diameter", diameter, 1, order - 1)
    if method == "sat":
        order = whole("order", order, 2, SAT_ORDER)
        sat.need_solver()
    use_sat = method == "sat" or (
        method == "auto" and order <= AUTO_ORDER and sat.has_solver()
    )
    found = _anneal(order, degree, seed, restarts, steps, symmetry, time_limit, state, progress)
    best = _BestGraphSoFar(limits, found["diameter"], found["distance_sum"], found["edges"])
    if use_sat and not found["interrupted"]:
        best.ask(order, degree, LIMIT_S if time_limit is None else time_limit, proof, progress)
    document = {
        "order": order, "degree": degree, "diameter": best.diameter,
        "mean_distance": best.distance_sum / limits.pairs if best.diameter else None,
        "distance_sum": best.distance_sum if best.diameter else None,
        "diameter_lower_bound": best.least_diameter,
        "mean_distance_lower_bound": best.least_sum / limits.pairs,
        "gap_percent": 100 * (best.distance_sum / best.least_sum - 1) if best.diameter else None,
        "random_mean_distance": search_random(order, degree, seed),
        "optimal": best.optimal, "proof": best.proof, "method": "sat" if use_sat else "anneal",
        "seed": found["seed"], "steps": found["steps"], "steps_done": found["steps_done"],
        "restarts": found["restarts"], "symmetry": found["symmetry"],
        "finished": found["finished"], "interrupted": found["interrupted"],
        "edges": [list(edge) for edge in best.edges],
    }
    if diameter is not None:
        met = best.diameter is not None and best.diameter <= diameter
        document["holds"] = True if met else False if diameter < best.least_diameter else None
    return FoundGraph(document)


class _BestGraphSoFar:
    """The best graph so far and the best lower bounds so far, both with their reasons."""

    def __init__(self, limits: GraphBounds, diameter: int | None, distance_sum: int,
                 edges: Edges) -> None:
        self.diameter, self.distance_sum, self.edges = diameter, distance_sum, edges
        self.least_diameter, self.least_sum = limits.diameter, limits.distance_sum
        self.pairs = limits.pairs
        self.reason = "lower bounds"
        self.open: str | None = None

    @property
    def optimal(self) -> bool | None:
        met = (self.diameter, self.distance_sum) == (self.least_diameter, self.least_sum)
        return True if met else None

    @property
    def proof(self) -> str | None:
        return f"meets the {self.reason}" if self.optimal else self.open

    def ask(
        self, order: int, degree: int, seconds: float, proof: Path | None,
        progress: Progress | None,
    ) -> None:
        """Asks for something better until there is none or the time is up."""
        end = time.monotonic() + seconds
        asked = 0
        while not self.optimal:
            asked += 1
            if progress:
                progress("questions to the SAT solver", asked, asked + 1)
            better = self.diameter != self.least_diameter
            assert self.diameter is not None, "a lower bound is met only by a graph"
            most = self.diameter - 1 if better else self.diameter
            # one pair that is nearer by one hop lowers the sum by two
            beyond = None if better else (self.distance_sum - self.pairs) // 2 - 1
            question = sat.formula(order, degree, most, beyond)
            answer = sat.solve(question, end - time.monotonic(), proof=proof)
            if answer.holds is None:
                what = f"diameter {most}" if better else f"mean below {self.mean:.6g}"
                self.open = f"{what}: not decided within {seconds:g} s"
                return
            if answer.edges is not None:
                self.edges = answer.edges
                self.distance_sum, self.diameter = _measure(order, answer.edges)
            elif better:
                self.least_diameter, self.reason = self.diameter, "bounds; SAT: nothing better"
                # with a larger diameter the sum may be larger too, never smaller
            else:
                self.least_sum, self.reason = self.distance_sum, "bounds; SAT: nothing better"

    @property
    def mean(self) -> float:
        return self.distance_sum / int(self.pairs)


def _measure(order: int, edges: Edges) -> tuple[int, int]:
    """Sum of distances over ordered pairs and diameter of a connected graph."""
    found = search_host_distances(edges, [1] * order)
    assert found is not None, "the graph is connected"
    total, longest = found
    return total - 2 * order * (order - 1), longest - 2


def _anneal(
    order: int, degree: int, seed: int, restarts: int, steps: int | None, symmetry: int | None,
    time_limit: float | None, state: Path | None, progress: Progress | None,
) -> dict[str, Any]:
    """The best graph by annealing; `finished`: it came to its end, `interrupted`: by Ctrl-C."""
    from flyloom.support.files import write_whole
    from flyloom.support.reading import read_text

    if state is not None and os.path.exists(state):
        work = Search.from_json(read_text(Path(state)), str(state))
        found = work.best()
        if (found["order"], found["degree"]) != (order, degree):
            has = f"{found['order']} vertices of degree {found['degree']}"
            raise RefusalError(f"{state}: a search for {has}; give these, or another file")
    else:
        work = Search(order, degree, seed, restarts, steps, symmetry)
    finished = interrupted = False
    try:
        with ending.in_order(answers=True):
            finished = work.advance(time_limit, progress)
    except KeyboardInterrupt:
        interrupted = True
    if state is not None:
        write_whole(Path(state), work.to_json())
    return {**work.best(), "finished": finished, "interrupted": interrupted}


def order_radix(
    endpoints: int,
    radix: int,
    *,
    designs: int = 3,
    seed: int = 0,
    steps: int | None = None,
    restarts: int = RESTARTS,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> FoundGraph:
    """Endpoints on switches of ``radix`` ports, as few hops apart as possible.

    The numbers of switches whose bounds are best, ``designs`` of them, are searched. Hops between
    endpoints count the two endpoint cables. Fields: ``endpoints``, ``radix``, ``switches``,
    ``concentration`` (most endpoints on a switch), ``degree``, ``endpoints_of_switch``,
    ``diameter``, ``mean_distance``, ``diameter_lower_bound``, ``mean_distance_lower_bound`` (over
    all networks of this radix), ``gap_percent``, ``optimal``, ``seed``, ``steps``, ``designs``
    (those searched: ``switches``, ``mean_distance_lower_bound``, ``mean_distance``), ``edges``.
    """
    endpoints = whole("endpoints", endpoints, 0, U32)
    radix = whole("radix", radix, 0, U32)
    designs = whole("designs", designs, 1, 1000)
    seed, restarts, steps, _ = _check("anneal", seed, restarts, steps, None, time_limit)
    limits = search_designs(endpoints, radix, designs)
    share = None if time_limit is None else time_limit / len(limits["designs"])
    best, tried = None, []
    for design in limits["designs"]:
        m, spread = design["switches"], design["endpoints"]
        edges = []
        used, interrupted = 0, False
        if m > 1:
            found = _anneal(
                m, design["degree"], seed, restarts, steps, None, share, None, progress
            )
            edges, used = [(a, b) for a, b in found["edges"]], found["steps"]
            interrupted = found["interrupted"]
        measured = search_host_distances(edges, spread)
        tried.append({
            "switches": m,
            "mean_distance_lower_bound": design["distance_sum"] / limits["pairs"],
            "mean_distance": measured and measured[0] / limits["pairs"],
        })
        rank = (measured[1], measured[0], m) if measured else (U32, 0, m)
        if best is None or rank < best[0]:
            best = (rank, design, edges, measured, used)
        if interrupted:
            break
    assert best is not None, "there is a design"
    _, design, edges, measured, used = best
    total, longest = measured or (None, None)
    least = limits["distance_sum"]
    met = (longest, total) == (limits["diameter"], least)
    return FoundGraph({
        "endpoints": endpoints, "radix": radix, "switches": design["switches"],
        "concentration": design["concentration"], "degree": design["degree"],
        "endpoints_of_switch": design["endpoints"], "diameter": longest,
        "mean_distance": total and total / limits["pairs"],
        "diameter_lower_bound": limits["diameter"],
        "mean_distance_lower_bound": least / limits["pairs"],
        "gap_percent": total and 100 * (total / least - 1), "optimal": True if met else None,
        "seed": seed, "steps": used, "designs": tried, "edges": [list(e) for e in edges],
    })


def table(
    max_order: int,
    degrees: list[int] | None = None,
    *,
    min_order: int = 4,
    time_limit: float = LIMIT_S,
    steps: int = 20_000,
    seed: int = 0,
    say: Callable[[FoundGraph], None] | None = None,
) -> list[FoundGraph]:
    """The optimum for every order from ``min_order`` to ``max_order`` and every degree, each with
    its proof, or with its bounds where ``time_limit`` seconds a cell do not decide it. Ctrl-C while
    it anneals ends it with the cells so far.

    ``degrees``: default 3, 4 and 5. ``say`` hears of each cell: the fields of `search` and
    ``seconds``. The annealing before the questions takes ``steps`` exchanges a restart.
    """
    max_order = whole("max_order", max_order, 2, SAT_ORDER)
    min_order = whole("min_order", min_order, 2, max_order)
    _seconds(time_limit)
    cells = []
    for order, degree in _cells(min_order, max_order, degrees or [3, 4, 5]):
        began = time.monotonic()
        found = search(order, degree, method="sat", steps=steps, seed=seed, time_limit=time_limit)
        cells.append(FoundGraph({**found.to_dict(), "seconds": time.monotonic() - began}))
        if say:
            say(cells[-1])
        if found.interrupted:
            break
    return cells


def _cells(low: int, high: int, degrees: list[int]) -> Iterator[tuple[int, int]]:
    known = {whole("degree", degree, 2, SAT_ORDER) for degree in degrees}
    pairs = itertools.product(range(low, high + 1), sorted(known))
    return ((n, d) for n, d in pairs if d < n)


def _check(
    method: str, seed: int, restarts: int, steps: int | None, symmetry: int | None,
    time_limit: float | None,
) -> tuple[int, int, int | None, int | None]:
    """The seed, restarts, steps and symmetry as numbers; RefusalError for what cannot be."""
    if method not in METHODS:
        raise none_such("method", method, METHODS)
    seed = whole("seed", seed, 0, 2**64 - 1)
    restarts = whole("restarts", restarts, 1, 1024)
    if steps is not None:
        steps = whole("steps", steps, 1, 2**40)
    if symmetry is not None:
        symmetry = whole("symmetry", symmetry, 1, U32)
    if time_limit is not None:
        _seconds(time_limit)
    return seed, restarts, steps, symmetry


def _seconds(given: float) -> None:
    if not 0 < given <= 1e9:
        raise RefusalError(f"time_limit: {given} seconds are out of range; above 0, to 1e9")


def _lists(edges: Edges | None) -> list[list[int]] | None:
    return None if edges is None else [list(edge) for edge in edges]
