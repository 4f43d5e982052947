"""The types of the package, as a user's own script and type checker meet them."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import flyloom as fl
import pytest
from checkout import ROOT, shared

pytest.importorskip("mypy")
SCRIPT = ROOT / "examples/layers.py"


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    """What `mypy --strict` says of one file of a user, by the installed package alone."""
    known = shared(tmp_path_factory, "mypy")

    def said(path: Path) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", known,
             path.name], cwd=path.parent, text=True, capture_output=True, timeout=300, check=False)
        return done.stdout + done.stderr

    return said


def test_a_users_script_is_accepted_and_runs(mypy, tmp_path):
    script = tmp_path / "layers.py"
    script.write_text(SCRIPT.read_text())
    assert "Success: no issues found in 1 source file" in mypy(script)
    done = subprocess.run([sys.executable, str(script)], text=True, capture_output=True, check=True)
    assert re.match(r"layers 1: \d+ lanes, 1.00 disjoint paths\n", done.stdout)


@pytest.mark.parametrize(("old", "new", "why"), [
    ("layers=layers)", "layers=str(layers))", 'has incompatible type "str"; expected "int | None"'),
    ("routing.lanes,", "routing.lane,", '"Routing" has no attribute "lane"'),
    ("fl.slim_fly(q=5,", "fl.slim_flies(q=5,", 'Module has no attribute "slim_flies"'),
    ("fl.slim_fly(q=5,", "fl.slim_fly(5,", "Too many positional arguments"),
    (".mean_disjoint_paths or 0.0", ".mean_disjoint_paths", 'got "tuple[int, float | None]"'),
    ("mean_disjoint_paths or 0.0", "disjoint_histogram", 'got "tuple[int, list[int]]"'),
    ("fl.verify(routing)", 'fl.verify(routing, hop_limit="2")', 'has incompatible type "str"'),
])
def test_a_wrong_script_is_refused(mypy, tmp_path, old, new, why):
    script = tmp_path / "wrong.py"
    text = SCRIPT.read_text()
    assert old in text
    script.write_text(text.replace(old, new))
    assert why in mypy(script)


def test_names_for_type_checkers_are_those_that_are_loaded():
    tree = ast.parse(Path(fl.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    reported = {
        (node.module, alias.asname) for node in block.body if isinstance(node, ast.ImportFrom)
        for alias in node.names if alias.asname
    }
    assert reported == {(home, name) for home, names in fl._HOMES.items() for name in names}
