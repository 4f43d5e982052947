"""Graphs of given order, degree and diameter as a question to a SAT solver.

`formula` writes the question down, `solve` asks a solver in a process of its own, which a time
limit and Ctrl-C can stop. `python -m flyloom.solve.sat` is that process.

Source of the symmetry breaking: Codish, Miller, Prosser and Stuckey, "Constraints for symmetry
breaking in graph representation", Constraints 24, 2019 (sl*).
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from flyloom.support.extras import ExtraError
from flyloom.support.process import kill, python, spawn
from flyloom.support.refused import none_such

SOLVERS = {"cadical": "cadical195", "glucose": "glucose4", "minisat": "minisat22"}
"""The solvers that may be asked, and their names in PySAT."""


class SatFormula:
    """Clauses over numbered variables, and the variable of every possible edge."""

    def __init__(self, order: int) -> None:
        self.order = order
        self.clauses: list[list[int]] = []
        self.variables = 0
        pairs = itertools.combinations(range(order), 2)
        self.edge = {pair: self.new() for pair in pairs}

    def new(self) -> int:
        """Makes a new variable, which no clause mentions yet."""
        self.variables += 1
        return self.variables

    def add(self, *literals: int) -> None:
        """Adds a clause: at least one of ``literals`` is true."""
        self.clauses.append(list(literals))

    def has(self, a: int, b: int) -> int:
        """The literal of the edge between ``a`` and ``b``."""
        return self.edge[min(a, b), max(a, b)]

    def counts(self, literals: list[int], most: int) -> list[int]:
        """Variables c with c[k] true exactly when more than k of ``literals`` are, k < ``most``.

        A totalizer (Bailleux and Boufkhad, 2003), cut at ``most``.
        """
        if len(literals) <= 1 or most == 0:
            return literals[:most]
        half = len(literals) // 2
        left, right = (self.counts(part, most) for part in (literals[:half], literals[half:]))
        total = [self.new() for _ in range(min(most, len(left) + len(right)))]
        for i, j in itertools.product(range(len(left) + 1), range(len(right) + 1)):
            at_least = ([-left[i - 1]] if i else []) + ([-right[j - 1]] if j else [])
            if i + j:
                self.add(*at_least, total[min(i + j, len(total)) - 1])
            below = ([left[i]] if i < len(left) else []) + ([right[j]] if j < len(right) else [])
            # a part that was cut off has no count beyond its last one
            if i + j < len(total):
                self.add(*below, -total[i + j])
        return total

    def at_most(self, literals: list[int], most: int) -> None:
        """Adds clauses: at most ``most`` of ``literals`` are true."""
        if most < 0:
            self.clauses.append([])
        elif most < len(literals):
            self.add(-self.counts(literals, most + 1)[most])

    def not_after(self, first: Iterable[int], second: Iterable[int]) -> None:
        """Adds clauses: ``first`` is not lexicographically below ``second`` (true above false)."""
        same: int | None = None
        for a, b in zip(first, second, strict=True):
            given = [] if same is None else [-same]
            self.add(*given, a, -b)
            still = self.new()
            self.add(*given, still, a)  # equal so far: both false
            self.add(*given, still, -b)  # or both true
            same = still


def formula(
    order: int,
    degree: int,
    diameter: int,
    most_beyond: int | None = None,
    break_symmetry: bool = True,
) -> SatFormula:
    """What a graph of ``order`` vertices of degree at most ``degree`` and this diameter satisfies.

    ``most_beyond`` bounds the sum over unordered pairs of the distance less one. Cubic in
    ``order`` and linear in ``diameter`` clauses.

    An edge more never lengthens a distance, so a graph that has one more edge wherever that leaves
    the degrees in order is as good: of two vertices that are not adjacent one has the full degree.
    Symmetry is broken by names alone, so nothing is lost: vertex 0 is one of full degree and its
    neighbours are 1 to ``degree``; among these, and among the rest, rows do not rise
    lexicographically (no exchange of two names makes the adjacency matrix larger).
    """
    f = SatFormula(order)
    vertices = range(order)
    full = []
    for v in vertices:
        row = [f.has(v, w) for w in vertices if w != v]
        count = f.counts(row, min(degree + 1, order - 1))
        full.append(count[degree - 1])
        if degree < order - 1:
            f.add(-count[degree])
    for (a, b), edge in f.edge.items():
        f.add(edge, full[a], full[b])
    beyond = _within(f, diameter, most_beyond is not None)
    if most_beyond is not None:
        f.at_most(beyond, most_beyond)
    if break_symmetry:
        for v in range(1, order):
            f.add(f.has(0, v) if v <= degree else -f.has(0, v))
        for block in (range(1, degree + 1), range(degree + 1, order)):
            for a, b in itertools.combinations(block, 2):
                others = [v for v in vertices if v not in (a, b)]
                f.not_after([f.has(a, v) for v in others], [f.has(b, v) for v in others])
    return f


def _within(f: SatFormula, diameter: int, wanted: bool) -> list[int]:
    """Every pair is at most ``diameter`` hops apart. The literals, over pairs and hops below the
    diameter, of a pair being further apart."""
    near = dict(f.edge)
    beyond = [-literal for literal in near.values()] if diameter > 1 and wanted else []
    if diameter == 1:
        f.clauses.extend([literal] for literal in near.values())
    for hops in range(2, diameter + 1):
        nearer = {}
        for a, b in f.edge:
            two_steps = []
            for v in range(f.order):
                if v not in (a, b):
                    two_step = f.new()
                    f.add(-two_step, f.has(a, v))
                    f.add(-two_step, near[min(v, b), max(v, b)])
                    two_steps.append(two_step)
            if hops == diameter:
                f.add(near[a, b], *two_steps)
            else:
                nearer[a, b] = f.new()
                f.add(-nearer[a, b], near[a, b], *two_steps)
        if hops < diameter:
            near = nearer
            if wanted:
                beyond += [-literal for literal in near.values()]
    return beyond


@dataclass(frozen=True)
class SolverAnswer:
    """The answer of a solver: edges of a graph, that there is none, or neither in the time."""

    holds: bool | None
    edges: list[tuple[int, int]] | None
    seconds: float


def solve(
    question: SatFormula,
    time_limit_s: float,
    solver: str = "cadical",
    proof: Path | None = None,
) -> SolverAnswer:
    """Asks ``solver``; after ``time_limit_s`` seconds the answer is open.

    ``proof`` takes the solver's DRAT proof when there is no graph, and the formula in DIMACS form
    beside it (``.cnf``), so that any checker can be run on the two.
    """
    if solver not in SOLVERS:
        raise none_such("solver", solver, SOLVERS)
    need_solver()
    began = time.monotonic()
    asked = {
        "solver": SOLVERS[solver], "clauses": question.clauses, "proof": proof is not None,
    }
    child = spawn(
        python("flyloom.solve.sat"), cwd=Path.cwd(), stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        printed, _ = child.communicate(json.dumps(asked).encode(), timeout=max(time_limit_s, 0.0))
    except subprocess.TimeoutExpired:
        return SolverAnswer(None, None, time.monotonic() - began)
    finally:
        kill(child)
    if child.returncode != 0:
        raise OSError(f"the SAT solver {solver} ended with status {child.returncode}")
    found = json.loads(printed)
    seconds = time.monotonic() - began
    if found["model"] is None:
        if proof is not None:
            from flyloom.support.files import replace

            lines = "".join(f"{line}\n" for line in found["proof"])
            replace([(proof, lines), (proof.with_suffix(".cnf"), dimacs(question))])
        return SolverAnswer(False, None, seconds)
    true = set(found["model"])
    return SolverAnswer(True, [pair for pair, v in question.edge.items() if v in true], seconds)


def has_solver() -> bool:
    """Whether PySAT is installed."""
    return importlib.util.find_spec("pysat") is not None


def need_solver() -> None:
    """RefusalError where PySAT is not installed."""
    if not has_solver():
        raise ExtraError("method: sat needs PySAT; pip install 'flyloom[search]', or use anneal")


def dimacs(question: SatFormula) -> str:
    """The clauses as DIMACS text."""
    lines = [f"p cnf {question.variables} {len(question.clauses)}"]
    lines += [" ".join(map(str, [*clause, 0])) for clause in question.clauses]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Reads a question from standard input, writes the model or the proof as JSON."""
    import signal

    from pysat.solvers import Solver

    asked = json.loads(sys.stdin.read())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the caller gets it and ends this process
    with Solver(asked["solver"], bootstrap_with=asked["clauses"], with_proof=asked["proof"]) as s:
        holds = s.solve()
        model = [v for v in s.get_model() if v > 0] if holds else None
        proof = s.get_proof() if not holds and asked["proof"] else None
    json.dump({"model": model, "proof": proof}, sys.stdout)


if __name__ == "__main__":
    main()
