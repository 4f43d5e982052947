"""Which tests a change reaches, nearest first: `make check` runs them.

What a file is used by is found from what each file imports: tests, modules of the package (also
inside of functions), parts of the compiled core by the names that are imported from it, and crates.
The command line is reached by the commands that a test or a page of the documentation names.

    scripts/affected.py FILE ...   files that changed, below the root of the checkout
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import flyloom
from flyloom import _core
from flyloom.cli import GROUPS
from flyloom.lab import sources

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "flyloom"
TESTS = ROOT / "tests"
CORE = json.loads(_core.__sources__)
COMMANDS: dict[str, set[str]] = defaultdict(set)
for group, names in GROUPS.items():
    for command in names:
        COMMANDS[command].add(f"flyloom.cli.{group}")
FAR = 99
"""The distance of what is not reached."""


def module_of(path: Path) -> str:
    """The name of a module of the package."""
    parts = ("flyloom", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def core_parts(name: str) -> set[str]:
    """The parts of the core behind a name of it; all where it has none of that name."""
    return {CORE["names"][name]} if name in CORE["names"] else set(CORE["nodes"])


def used_by_package() -> dict[str, set[str]]:
    """What every module of the package, and every part of the core, uses."""
    uses = {name: set(more) for name, (_, more) in CORE["nodes"].items()}
    for path in PACKAGE.rglob("*.py"):
        name = module_of(path)
        uses[name] = set(sources._imported(name, path.read_bytes(), PACKAGE.resolve(), CORE))
        uses[name].discard("flyloom")
    return uses


def used_by_script(path: Path, helpers: dict[str, Path]) -> set[str]:
    """What a test, or what is beside it, uses: modules, parts of the core, and files of tests."""
    text = path.read_text()
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.startswith("flyloom.")}
            found |= {str(helpers[a.name]) for a in node.names if a.name in helpers}
        elif isinstance(node, ast.ImportFrom) and node.module in helpers:
            found.add(str(helpers[node.module]))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("flyloom"):
            found |= set(imported(node))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id in ("fl", "flyloom"):
                found |= named(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= commands(node.value)
    return found


def imported(node: ast.ImportFrom) -> Iterator[str]:
    """The modules and parts behind `from flyloom... import ...`."""
    module = node.module or ""
    for alias in node.names:
        if module == "flyloom._core":
            yield from core_parts(alias.name)
        elif module == "flyloom" and alias.name == "_core":
            yield "flyloom._core"
        elif module == "flyloom":
            yield from named(alias.name)
        else:
            yield module
            yield f"{module}.{alias.name}"


def named(name: str) -> set[str]:
    """The module, or the part of the core, behind `flyloom.NAME`."""
    home = flyloom._HOME_OF.get(name)
    if home == "flyloom._core":
        return core_parts(name)
    if home:
        return {home}
    return {f"flyloom.{name}", "families", "flyloom._measures"}


def commands(text: str) -> set[str]:
    """The modules of the commands that a text names: one word alone, or behind `flyloom`."""
    words = re.findall(r"\bflyloom ([a-z-]+)", text)
    words += [text] if text in COMMANDS else []
    return {module for word in words if word in COMMANDS for module in COMMANDS[word]}


def used_by_page(path: Path) -> set[str]:
    """What the examples of a page use."""
    text = path.read_text()
    found = commands(text)
    for name in re.findall(r"\b(?:fl|flyloom)\.(\w+)", text):
        found |= named(name)
    return found


def graph() -> tuple[dict[str, set[str]], list[str]]:
    """Who uses whom, and the tests and pages that there are; both by their paths."""
    uses = used_by_package()
    scripts = [path for path in TESTS.rglob("*.py") if path.name != "conftest.py"]
    helpers = {path.stem: path.relative_to(ROOT) for path in scripts}
    for path in scripts:
        uses[str(path.relative_to(ROOT))] = used_by_script(path, helpers)
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    for path in pages:
        uses[str(path.relative_to(ROOT))] = used_by_page(path)
    tests = [str(path.relative_to(ROOT)) for path in scripts if path.name.startswith("test_")]
    return uses, [*sorted(tests), *(str(path.relative_to(ROOT)) for path in pages)]


def nodes_of(file: str) -> set[str]:
    """What stands for a changed file in the graph."""
    path = Path(file)
    if path.parts[:2] == ("python", "flyloom") and path.suffix == ".py":
        return {module_of(ROOT / path)}
    if path.parts[:2] == ("crates", "py") and path.parts[2:3] == ("src",):
        return {f"py/{path.stem}"} & set(CORE["nodes"]) or set(CORE["nodes"])
    if path.parts[:1] == ("crates",):
        return {path.parts[1].replace("-", "_")}
    return {file}


def distances(uses: dict[str, set[str]], changed: Iterable[str]) -> dict[str, int]:
    """Over how many others each node uses one of those that changed; those that use none are
    left out."""
    users: dict[str, set[str]] = defaultdict(set)
    for user, used in uses.items():
        for one in used:
            users[one].add(user)
    found = dict.fromkeys(changed, 0)
    wave = list(found)
    while wave:
        following = []
        for node in wave:
            for user in users[node]:
                if user not in found:
                    found[user] = found[node] + 1
                    following.append(user)
        wave = following
    return found


def mentions(test: str, files: Iterable[str]) -> bool:
    """Whether a test speaks of a changed file, by its name or that of its folder."""
    text = (ROOT / test).read_text() + test
    words = {word for file in files for word in
             (Path(file).stem, *Path(file).parent.parts[3:]) if len(word) > 2}
    words -= {"mod", "lib", "src", "main", "__init__"}
    return any(re.search(rf"(?<![a-z]){re.escape(word)}(?![a-z])", text) for word in words)


def affected(files: list[str]) -> dict[str, list[str]]:
    """What to run for files that changed: `crates` for cargo, `tests` for pytest, nearest first,
    and ctest where there are files of the `runtime`."""
    uses, tests = graph()
    changed = {node for file in files for node in nodes_of(file)}
    far = distances(uses, changed)
    runtime = [file for file in files if file.startswith("runtime/")]
    if runtime:  # what its tests use of it no import says
        about = "runtime", "record", "dist_graph", "measure", "mpi", "deploy"
        for test in tests:
            if any(word in Path(test).stem for word in about):
                far.setdefault(test, 3)
    pages = [f for f in files if f.startswith(("docs/parts/", "docs/adding-"))]
    if pages:
        far |= {test: 1 for test in tests if test.endswith("/test_adding_a_part.py")}
    known = {name for name in changed if name in uses or name in CORE["nodes"]}
    if known and not any(test in far for test in tests):  # what is only run by its name
        far |= dict.fromkeys(tests, FAR)
    reached = [test for test in tests if test in far]
    reached.sort(key=lambda test: (far[test] - 2 * mentions(test, files), test))
    crates = [name for name in CORE["nodes"] if name in far and not name.startswith("py/")]
    crates += [Path(file).parts[1] for file in files if file.startswith("crates/")]
    crates += [path.relative_to(ROOT).parts[1] for path in (ROOT / "crates").rglob("*.rs") if pages
               and any(file in path.read_text() for file in pages)]
    crates = [name.replace("_", "-") for name in dict.fromkeys(crates)
              if name not in ("outside", "py")]
    crates.sort(key=lambda name: far.get(name.replace("-", "_"), 1))
    if crates and "conformance" not in crates:
        crates.append("conformance")
    docs = next(test for test in tests if test.endswith("/test_docs.py"))
    words = [test if test.startswith("tests/") else f"{docs}::test_page[{test}]"
             for test in reached if test != docs]
    return {"crates": crates, "runtime": runtime, "tests": words}


if __name__ == "__main__":
    for kind, names in affected(sys.argv[1:]).items():
        print(f"{kind}: {' '.join(names)}")
