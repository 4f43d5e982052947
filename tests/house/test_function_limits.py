"""Functions of the package are short and take few parameters.

Keywords that users of the package give a function are no burden to who reads it, as each has its
words in the docstring: what is not counted are keyword-only parameters of the functions that
``import flyloom`` and its public modules offer. Commands have theirs in groups
(:mod:`flyloom.cli.groups`) or from a table, and what one function hands another is an object.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Container, Iterator
from pathlib import Path

import flyloom as fl
from checkout import ROOT

PACKAGE = ROOT / "python" / "flyloom"
MOST_LINES, MOST_PARAMETERS = 60, 10
GENERATED = ("_generated.py", "_mappings.py", "_measures.py", "_simulators.py")

PUBLIC_MODULES = ("deploy", "published_cost", "search")
"""Besides the package, what users import by these names."""


def offered() -> set[tuple[str, str]]:
    """The functions that users import, and what makes objects of classes: file and name."""
    modules = (fl, *(importlib.import_module(f"flyloom.{name}") for name in PUBLIC_MODULES))
    values = [getattr(module, name) for module in modules for name in dir(module)]
    return {
        (inspect.getsourcefile(inspect.unwrap(value)) or "", value.__name__)
        for value in (getattr(value, "__init__", None) if inspect.isclass(value) else value
                      for value in values) if inspect.isfunction(value)
    }


def sizes(path: Path, public: Container[str] = ()) -> Iterator[tuple[str, int, int]]:
    """Every function of a file with its lines and parameters; of ``public`` ones keywords are not
    counted."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or 0) - node.lineno + 1
            if ast.get_docstring(node) is not None:
                lines -= (node.body[0].end_lineno or 0) - node.body[0].lineno + 1
            given = node.args
            count = len(given.posonlyargs) + len(given.args)
            if node.name not in public:
                count += len(given.kwonlyargs)
            yield node.name, lines, count


def test_functions_are_short_and_take_few_parameters() -> None:
    known = offered()
    found = {
        f"{path.relative_to(PACKAGE)} {name}": (lines, count)
        for path in sorted(PACKAGE.rglob("*.py")) if path.name not in GENERATED
        for name, lines, count in sizes(path, {name for file, name in known if file == str(path)})
        if lines > MOST_LINES or count > MOST_PARAMETERS
    }
    assert not found, f"more than {MOST_LINES} lines or {MOST_PARAMETERS} parameters"


def test_lines_and_parameters_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text('def f(a, /, b, *, c):\n    """Two\n    lines."""\n    return a\n')
    assert list(sizes(file)) == [("f", 2, 3)]
    assert list(sizes(file, {"f"})) == [("f", 2, 2)]
    assert {"size", "search", "compare"} <= {name for _, name in offered()}
