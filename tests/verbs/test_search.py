"""Graph search against networkx: every graph of up to 7 vertices, published optima, files."""

from __future__ import annotations

import itertools
import json
import signal
import subprocess
import time
from pathlib import Path

import networkx as nx
import pytest
from cli_helpers import command, document, environment, flyloom
from flyloom import search as graphs
from flyloom._core import RefusalError
from flyloom.solve import sat
from networkx.generators.atlas import graph_atlas_g
from patience import HANG_S


def as_graph(found) -> nx.Graph:
    graph = nx.Graph([tuple(edge) for edge in found.edges])
    assert graph.number_of_edges() == len(found.edges)
    return graph


def check(found) -> None:
    """The graph is what the result says, by networkx."""
    graph = as_graph(found)
    assert graph.number_of_nodes() == found.order
    assert max(d for _, d in graph.degree) <= found.degree
    assert nx.diameter(graph) == found.diameter
    assert found.mean_distance == pytest.approx(nx.average_shortest_path_length(graph), abs=1e-12)
    assert found.diameter >= found.diameter_lower_bound
    assert found.mean_distance >= found.mean_distance_lower_bound - 1e-12


@pytest.fixture(scope="module")
def best_of_all() -> dict[tuple[int, int], dict[int, int]]:
    """For all graphs of 3 to 7 vertices: by order and largest degree, the least sum of distances
    for each diameter."""
    best: dict[tuple[int, int], dict[int, int]] = {}
    for graph in graph_atlas_g():
        n = graph.number_of_nodes()
        if n < 3 or not nx.is_connected(graph):
            continue
        diameter = nx.diameter(graph)
        total = sum(sum(d.values()) for _, d in nx.all_pairs_shortest_path_length(graph))
        most = max(d for _, d in graph.degree)
        for degree in range(most, n):
            cell = best.setdefault((n, degree), {})
            cell[diameter] = min(total, cell.get(diameter, total))
    return best


def test_no_graph_is_below_the_bounds(best_of_all) -> None:
    for (n, degree), cell in best_of_all.items():
        bounds = graphs.bounds(n, degree)
        assert bounds.diameter <= min(cell)
        assert bounds.distance_sum <= min(cell.values())
        assert bounds.mean_distance == bounds.distance_sum / (n * (n - 1))


@pytest.mark.parametrize("break_symmetry", [True, False])
def test_sat_decides_as_all_graphs_do(best_of_all, break_symmetry: bool) -> None:
    """For each diameter, whether there is a graph, and the least sum on both its sides."""
    for (n, degree), cell in best_of_all.items():
        for diameter in range(1, min(n - 1, 4) + 1):
            sums = [total for d, total in cell.items() if d <= diameter]
            asked = [(None, bool(sums))]
            if sums:
                asked += [(min(sums), True), (min(sums) - 2, False)]
            for total, expect in asked:
                beyond = None if total is None else (total - n * (n - 1)) // 2
                formula = sat.formula(n, degree, diameter, beyond, break_symmetry)
                assert solved(formula) == expect, (n, degree, diameter, total)


def solved(formula: sat.SatFormula, solver: str = "cadical195") -> bool:
    from pysat.solvers import Solver

    with Solver(solver, bootstrap_with=formula.clauses) as s:
        return s.solve()


def test_breaking_symmetry_leaves_some_numbering_of_every_best_graph() -> None:
    """Every graph of 5 or 6 vertices to which the degree lets no edge be added has a numbering
    that satisfies the formula."""
    from pysat.solvers import Solver

    for graph in graph_atlas_g():
        n = graph.number_of_nodes()
        if n not in (5, 6) or not nx.is_connected(graph):
            continue
        degree, diameter = max(d for _, d in graph.degree), nx.diameter(graph)
        short = [v for v, d in graph.degree if d < degree]
        if any(not graph.has_edge(a, b) for a, b in itertools.combinations(short, 2)):
            continue
        formula = sat.formula(n, degree, diameter)
        with Solver("cadical195", bootstrap_with=formula.clauses) as s:
            kept = any(
                s.solve(assumptions=[
                    v if graph.has_edge(names[a], names[b]) else -v
                    for (a, b), v in formula.edge.items()
                ])
                for names in itertools.permutations(range(n))
            )
        assert kept, graph.edges


@pytest.mark.parametrize("most", range(6))
def test_counts_count(most: int) -> None:
    """The totalizer, for every assignment of five variables."""
    from pysat.solvers import Solver

    formula = sat.SatFormula(0)
    inputs = [formula.new() for _ in range(5)]
    counts = formula.counts(inputs, most)
    assert len(counts) == min(most, 5)
    with Solver("cadical195", bootstrap_with=formula.clauses) as s:
        for bits in itertools.product([False, True], repeat=5):
            fixed = [v if bit else -v for v, bit in zip(inputs, bits, strict=True)]
            for k, c in enumerate(counts):
                assert s.solve(assumptions=[*fixed, c]) == (sum(bits) > k)
                assert s.solve(assumptions=[*fixed, -c]) == (sum(bits) <= k)


@pytest.mark.parametrize(("order", "degree", "diameter", "exists"), [
    # largest orders of the degree/diameter problem: 10, 20, 15, 24 (Miller and Siran, 2013)
    (10, 3, 2, True), (11, 3, 2, False), (20, 3, 3, True), (15, 4, 2, True), (16, 4, 2, False),
    (24, 5, 2, True), (25, 5, 2, False),
])
def test_largest_orders_are_proved(order: int, degree: int, diameter: int, exists: bool) -> None:
    found = graphs.decide(order, degree, diameter, time_limit=100)
    assert found.exists is exists
    if exists:
        graph = as_graph(found)
        assert nx.diameter(graph) <= diameter
        assert max(d for _, d in graph.degree) <= degree
    else:  # a second solver agrees
        assert graphs.decide(order, degree, diameter, time_limit=100, solver="glucose").exists is (
            False
        )


def test_an_impossibility_leaves_its_proof(tmp_path: Path) -> None:
    proof = tmp_path / "eleven.drat"
    assert graphs.decide(11, 3, 2, proof=proof).exists is False
    steps = proof.read_text().split("\n")
    assert "0" in steps, "the proof ends in the empty clause"
    head, *clauses = proof.with_suffix(".cnf").read_text().splitlines()
    assert head.startswith("p cnf ") and int(head.split()[3]) == len(clauses)
    learnt_follow(clauses, [s for s in steps if s and not s.startswith("d")])


def learnt_follow(clauses: list[str], learnt: list[str]) -> None:
    """A sample of the learnt clauses follows from the formula, by another solver."""
    from pysat.solvers import Solver

    formula = [[int(w) for w in line.split()[:-1]] for line in clauses]
    with Solver("minisat22", bootstrap_with=formula) as s:
        for line in learnt[:: max(1, len(learnt) // 20)]:
            assert not s.solve(assumptions=[-int(w) for w in line.split()[:-1]])


def test_small_optima_are_proved(best_of_all) -> None:
    """The search comes to the best of all graphs, and says so."""
    for (n, degree), cell in best_of_all.items():
        if degree < 2:
            continue
        found = graphs.search(n, degree, method="sat", steps=2_000, restarts=2)
        check(found)
        assert found.optimal is True, (n, degree)
        assert found.diameter == min(cell)
        assert found.distance_sum == cell[min(cell)]


def test_the_table_proves_its_cells() -> None:
    cells = graphs.table(14, [3, 4], min_order=8, steps=5_000, time_limit=60)
    assert [(c.order, c.degree) for c in cells] == [(n, d) for n in range(8, 15) for d in (3, 4)]
    for cell in cells:
        check(cell)
        assert cell.optimal is True and cell.proof.startswith("meets the")
    # at most 10 vertices of degree 3 are within two hops
    least = {(c.order, c.degree): c.diameter for c in cells}
    assert [least[n, 3] for n in (8, 10, 12, 14)] == [2, 2, 3, 3]


def test_what_is_not_decided_says_so() -> None:
    found = graphs.search(23, 3, method="sat", steps=2_000, time_limit=1.0)
    check(found)
    assert found.optimal is None
    assert "not decided within 1 s" in found.proof
    assert graphs.decide(23, 3, 4, distance_sum=1300, time_limit=0.2).exists is None


def test_without_the_solver_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sat, "has_solver", lambda: False)
    with pytest.raises(RefusalError, match=r"pip install 'flyloom\[search\]'"):
        graphs.search(10, 3, method="sat")
    assert graphs.search(10, 3, steps=5_000).method == "anneal"


def test_hoffman_singleton_meets_the_bounds() -> None:
    import flyloom as fl

    found, bounds = fl.structure("slim_fly:q=5"), graphs.bounds(50, 7)
    assert (found.diameter, found.mean_distance) == (bounds.diameter, bounds.mean_distance)


@pytest.mark.parametrize(("order", "degree", "gap"), [(36, 3, 2.0), (64, 8, 7.0), (256, 8, 3.0)])
def test_annealing_beats_random_graphs(order: int, degree: int, gap: float) -> None:
    found = graphs.search(order, degree, method="anneal", steps=20_000, seed=1)
    check(found)
    assert found.gap_percent < gap
    random = [
        nx.average_shortest_path_length(nx.random_regular_graph(degree, order, seed=seed))
        for seed in range(5)
    ]
    assert found.mean_distance < 0.97 * min(random)
    assert found.random_mean_distance == pytest.approx(sum(random) / 5, rel=0.02)


def test_resuming_ends_as_one_run(tmp_path: Path) -> None:
    asked = {"method": "anneal", "steps": 30_000, "restarts": 3, "seed": 7}
    whole = graphs.search(60, 4, **asked)
    state = tmp_path / "state.json"
    parts = [graphs.search(60, 4, time_limit=0.02, state=state, **asked)]
    while not parts[-1].finished:
        parts.append(graphs.search(60, 4, time_limit=0.2, state=state, **asked))
    assert len(parts) > 1
    assert parts[-1].to_dict() == whole.to_dict()
    with pytest.raises(RefusalError, match="60 vertices of degree 4"):
        graphs.search(62, 4, state=state)


def test_ctrl_c_keeps_the_best(tmp_path: Path) -> None:
    state, edges = tmp_path / "state.json", tmp_path / "graph.edges"
    for wait in (4, 12, 36):  # on a busy machine it may not have begun yet
        child = subprocess.Popen(
            command("search", "--order", 400, "--degree", 5, "--steps", 10**9, "--method",
                    "anneal", "--resume", state, "-o", edges, "--json"),
            env=environment(), stdout=subprocess.PIPE, text=True,
        )
        time.sleep(wait)
        child.send_signal(signal.SIGINT)
        reported, _ = child.communicate(timeout=HANG_S)
        if reported:
            break
    found = json.loads(reported)
    assert child.returncode == 0
    assert found["finished"] is False and state.exists()
    assert nx.diameter(nx.read_edgelist(edges, data=False)) == found["diameter"]


@pytest.mark.parametrize(("words", "part"), [
    (("--order", 10), "--degree"),
    (("--order", 10, "--degree", 3, "--endpoints", 4), "give --order"),
    (("--order", 10, "--degree", 10), "degree: 10 is too high for 10 vertices; 2 to 9"),
    (("--order", 10, "--degree", 1), "never connected"),
    (("--order", 2**32 - 1, "--degree", 3), "order: 4294967295"),
    (("--order", 2**32, "--degree", 3), "order"),
    (("--order", 12, "--degree", 3, "--symmetry", 5), "nearest: 4, 6"),
    (("--order", 9, "--degree", 3, "--symmetry", 3), "odd"),
    (("--order", 12, "--degree", 3, "--steps", 0), "steps"),
    (("--order", 12, "--degree", 3, "--restarts", 2**32 - 1), "restarts"),
    (("--order", 12, "--degree", 3, "--seed", -1), "seed"),
    (("--order", 12, "--degree", 3, "--diameter", 0), "diameter"),
    (("--order", 12, "--degree", 3, "--time-limit", 0), "time_limit"),
    (("--order", 12, "--degree", 3, "--time-limit", "nan"), "time_limit"),
    (("--order", 12, "--degree", 3, "--method", "magic"), "auto, sat, anneal"),
    (("--endpoints", 1, "--radix", 3), "endpoints: 1"),
    (("--endpoints", 10, "--radix", 2), "radix: 2"),
    (("table", "--max-order", 1000), "max_order"),
    (("table", "--degrees", "3,x"), "--degrees"),
    (("chair",), "table, or nothing"),
])
def test_bad_input_is_refused(words: tuple, part: str) -> None:
    done = flyloom("search", *words)
    assert done.returncode == 2, done.stderr
    assert part in done.stderr and done.stderr.count("\n") == 1


def test_the_command_writes_a_network(tmp_path: Path) -> None:
    words = ("search", "--order", 40, "--degree", 4, "--steps", 5_000, "--seed", 2)
    found = document(*words, "-o", tmp_path / "g.edges")
    measured = document("structure", tmp_path / "g.edges", "-p", 3)
    assert measured["endpoints"] == 120
    for key in ("diameter", "mean_distance"):
        assert measured[key] == found[key]
    again = document(*words)
    assert again == found, "the same seed and steps give the same graph"
    assert document(*words[:-1], 3)["edges"] != found["edges"]


def test_a_diameter_that_is_not_found_is_not_called_impossible() -> None:
    """There is a graph of 24 vertices, degree 5 and diameter 2 (Elspas, 1964), the largest; one
    exchange of a random graph does not find it."""
    found = graphs.search(24, 5, diameter=2, method="anneal", steps=1, restarts=1, symmetry=1)
    assert found.diameter > 2 and found.holds is None


def test_a_diameter_that_is_impossible_fails() -> None:
    assert document("search", "--order", 11, "--degree", 3, "--diameter", 2, "--steps", 500,
                    code=1)["holds"] is False
    assert document("search", "--order", 10, "--degree", 3, "--diameter", 2)["holds"] is True


@pytest.mark.parametrize(("endpoints", "radix"), [(8, 8), (20, 6), (33, 7)])
def test_order_and_radix(endpoints: int, radix: int, tmp_path: Path) -> None:
    path = tmp_path / "g.edges"
    found = document("search", "--endpoints", endpoints, "--radix", radix, "--steps", 3_000,
                     "-o", path)
    carried = found["endpoints_of_switch"]
    graph = nx.Graph([tuple(edge) for edge in found["edges"]])
    graph.add_nodes_from(range(found["switches"]))
    for switch, count in enumerate(carried):
        graph.add_edges_from((switch, f"host {switch} {i}") for i in range(count))
    assert all(graph.degree[s] <= radix for s in range(found["switches"]))
    hosts = [v for v in graph if isinstance(v, str)]
    far = [
        d for h in hosts for v, d in nx.single_source_shortest_path_length(graph, h).items()
        if isinstance(v, str) and v != h
    ]
    assert len(hosts) == endpoints
    assert found["diameter"] == max(far) >= found["diameter_lower_bound"]
    assert found["mean_distance"] == pytest.approx(sum(far) / len(far))
    assert found["mean_distance"] >= found["mean_distance_lower_bound"]
    if found["edges"]:
        assert document("structure", path)["endpoints"] == endpoints
