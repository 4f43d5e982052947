"""Functions of the package are short and take few parameters; those that do not may only shrink.

Commands and verbs of simulators and mappings are most of them: they repeat by hand what the stages
declare.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from checkout import ROOT

PACKAGE = ROOT / "python" / "flyloom"
MOST_LINES, MOST_PARAMETERS = 60, 10
GENERATED = ("_generated.py", "_measures.py", "_simulators.py")

KNOWN = {
    "cli/mapping.py map_": (100, 24),
    "cli/mapping.py map_eval": (45, 16),
    "verbs/joint.py map_with_routing": (53, 19),
    "verbs/mapping.py map_processes": (36, 18),
    "verbs/mapping.py asked_of": (14, 12),
    "verbs/mapping.py evaluate_mapping": (24, 13),
    "verbs/mapping_shown.py shown": (37, 13),
}
"""Lines, without the docstring, and parameters. A function that is within the limits goes."""

KEYWORDS = {
    "deploy/opensm.py __init__": (38, 12),
    "solve/search.py search": (47, 12),
    "verbs/comparison.py compare": (57, 14),
    "verbs/congestion.py congestion": (31, 13),
    "verbs/sizing.py budget": (57, 12),
    "verbs/sizing.py size": (56, 13),
}
"""Functions that users of the package call with keywords, each of which is a choice of theirs: what
an editor completes and a type checker knows are these names. Commands have the same options in
groups (:mod:`flyloom.cli.groups`)."""


def sizes(path: Path) -> Iterator[tuple[str, int, int]]:
    """Every function of a file with its lines and parameters."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or 0) - node.lineno + 1
            if ast.get_docstring(node) is not None:
                lines -= (node.body[0].end_lineno or 0) - node.body[0].lineno + 1
            given = node.args
            count = len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs)
            yield node.name, lines, count


def test_functions_are_short_and_take_few_parameters() -> None:
    found = {
        f"{path.relative_to(PACKAGE)} {name}": (lines, count)
        for path in sorted(PACKAGE.rglob("*.py")) if path.name not in GENERATED
        for name, lines, count in sizes(path)
        if lines > MOST_LINES or count > MOST_PARAMETERS
    }
    known = KNOWN | KEYWORDS
    grown = {
        name: size for name, size in found.items()
        if name not in known or size[0] > max(known[name][0], MOST_LINES)
        or size[1] > max(known[name][1], MOST_PARAMETERS)
    }
    assert not grown, f"more than {MOST_LINES} lines or {MOST_PARAMETERS} parameters"
    assert not known.keys() - found.keys(), "within the limits now: take them out of the list"


def test_lines_and_parameters_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text('def f(a, /, b, *, c):\n    """Two\n    lines."""\n    return a\n')
    assert list(sizes(file)) == [("f", 2, 3)]
