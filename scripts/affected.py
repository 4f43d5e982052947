"""Which tests a change reaches, nearest first: `make check` runs them.

What a file is used by is found from what each file imports: tests, modules of the package (also
inside of functions), parts of the compiled core by the names that are imported from it, crates, and
files in C by the names of files that modules and tests build. The command line is reached by the
commands that a test or a page of the documentation names. Of what is equally near the quick ones
come first.

One line a step is written: its kind, a colon, and its words. `rust` has those of `cargo test`, the
tests of the changed module before those of its crate; `ctest` has a pattern of names; `tests` has
files and tests for pytest, all in one line.

    scripts/affected.py FILE ...   files that changed, below the root of the checkout
"""

from __future__ import annotations

import ast
import json
import math
import re
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
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
RUNTIME = ROOT / "runtime" / "rt"
PICTURES = "tests/docs/test_docs.py::test_pictures_are_what_their_script_draws"
PAGE_S = 10.0
"""What the examples of a page take, about."""
MOST_S = 300.0
"""Files of tests that take longer together are not begun: there is no time for them."""
QUICK_S = 1.0
"""A test of the runtime that takes no longer comes before all that take longer."""


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
        if "iter_modules(__path__)" in path.read_text():  # what lies in its folder is registered
            uses[name] |= {module_of(other) for other in path.parent.glob("*.py")} - {name}
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
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for path in pages:
        uses[str(path.relative_to(ROOT))] = used_by_page(path)
    drawing = sorted((ROOT / "docs" / "pictures").glob("*.py"))
    uses[PICTURES] = {str(path.relative_to(ROOT)) for path in drawing}.union(
        *(used_by_script(path, helpers) for path in drawing))
    tests = [str(path.relative_to(ROOT)) for path in scripts if path.name.startswith("test_")]
    return uses, [*sorted(tests), PICTURES, *(str(path.relative_to(ROOT)) for path in pages)]


def nodes_of(file: str) -> set[str]:
    """What stands for a changed file in the graph."""
    path = Path(file)
    if path.parts[:2] == ("python", "flyloom"):  # a template has the name of its module
        return {module_of(ROOT / path.with_name(f"{path.name.split('.')[0]}.py"))}
    if path.parts[:2] == ("crates", "py") and path.parts[2:3] == ("src",):
        return {f"py/{path.stem}"} & set(CORE["nodes"]) or set(CORE["nodes"])
    if path.parts[:1] == ("crates",):
        return {path.parts[1].replace("-", "_")}
    return {file}


def used_in_c() -> dict[str, set[str]]:
    """What the files in C include of one another, and which of them modules and tests build: by the
    file's name, or by that of its folder."""
    files = [path for path in (ROOT / "runtime").rglob("*") if path.suffix in (".c", ".h", ".inc")]
    uses: dict[str, set[str]] = defaultdict(set)
    for path in files:
        included = {Path(name).name for name in re.findall(r'#include "(.+?)"', path.read_text())}
        uses[str(path.relative_to(ROOT))] = {
            str(other.relative_to(ROOT)) for other in files
            if other.name in included and other.parts[-3:-2] == path.parts[-3:-2]}
    for path in [*PACKAGE.rglob("*.py"), *TESTS.rglob("*.py")]:
        text = path.read_text()
        name = module_of(path) if PACKAGE in path.parents else str(path.relative_to(ROOT))
        folders = {room for room in ("rt", "mpi", "opensm", "ranks", "motifs")
                   if re.search(rf"runtime(/|\" / \"){room}\b", text)}
        for other in files:
            found = str(other.relative_to(ROOT))
            if f'"{other.name}"' in text:
                uses[name].add(found)
            elif other.relative_to(ROOT).parts[1] in folders:
                uses[name].add(f"{found} by its folder")
                uses[f"{found} by its folder"].add(found)
    return uses


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


def stems_of(files: Iterable[str]) -> set[str]:
    """The names by which changed files are spoken of: their own, or that of a module's folder."""
    paths = (Path(file) for file in files)
    words = {path.parent.name if path.stem in ("mod", "__init__") else path.stem for path in paths}
    return {word for word in words if len(word) > 2 and word not in ("lib", "main")}


def folders_of(files: Iterable[str]) -> set[str]:
    """The rooms that changed files are in, below a crate's sources or the package."""
    return {room for file in files for room in Path(file).parts[2:-1]} - {"src"}


def mentions(text: str, words: Iterable[str]) -> bool:
    """Whether a text has one of these names, also as the name of a type."""
    spelt = {form for word in words for form in (word, word.title().replace("_", ""))}
    return any(re.search(rf"(?<![A-Za-z]){re.escape(word)}(?![a-z])", text) for word in spelt)


def seconds() -> dict[str, float]:
    """What each file of tests takes, by its name."""
    record = json.loads((TESTS / "times.json").read_text())
    return {name: float(took) for name, took in record["files"].items()}


def python_tests(files: list[str]) -> list[str]:
    """Files of tests and pages of the documentation, for pytest."""
    uses, tests = graph()
    for name, more in used_in_c().items():
        uses.setdefault(name, set()).update(more)
    changed = {node for file in files for node in nodes_of(file)}
    far = distances(uses, changed)
    if any(file.startswith(("docs/parts/", "docs/adding-")) for file in files):
        far |= {test: 1 for test in tests if "/test_adding_a_" in test}
    if any(file.startswith(("docs/", "scripts/site")) for file in files):
        far |= {test: 1 for test in tests if test.endswith("/test_site.py")}
    if changed & set(uses) and not any(test in far for test in tests):  # run by its name alone
        far |= dict.fromkeys(tests, FAR)
    crates = {Path(file).parts[1] for file in files if file.startswith("crates/")}
    stems, rooms, took = stems_of(files) or crates, folders_of(files) | crates, seconds()
    parts = rooms | {part for stem in stems for part in stem.split("_")}

    def order(test: str) -> tuple[float, str]:
        text = (ROOT / test.partition("::")[0]).read_text()
        near = mentions(test, rooms) + max(
            3 * mentions(test, stems),
            2 * (mentions(text, stems) or mentions(Path(test).name, parts)))
        return far[test] - near + math.log10(max(1, took.get(Path(test).name, PAGE_S))), test

    docs = next(test for test in tests if test.endswith("/test_docs.py"))
    reached = sorted((test for test in tests if test in far and test != docs), key=order)
    chosen, together = [], 0.0
    for test in reached:
        if together < MOST_S:
            chosen.append(test if test.startswith("tests/") else f"{docs}::test_page[{test}]")
        together += took.get(Path(test).name, PAGE_S)
    if len(chosen) < len(reached):
        print(f"{len(reached) - len(chosen)} more files and pages are reached", file=sys.stderr)
    return chosen


def rust_tests(files: list[str]) -> list[str]:
    """Steps of cargo: the tests of the changed modules, tests elsewhere that speak of them, or else
    of their crates, those crates, and then the crates that use them."""
    parts = {Path(file).name for file in files if file.startswith("docs/parts/")}
    files = [file for file in files if re.match("crates/(?!py/)", file)]
    if parts:  # crates compile them for their tests
        files += [str(path.relative_to(ROOT)) for path in (ROOT / "crates").rglob("*.rs")
                  if any(f"docs/parts/{part}" in path.read_text() for part in parts)]
    if not files:
        return []
    steps = [step for file in files for step in (own_tests(file), named_test(file)) if step]
    crates = {Path(file).parts[1] for file in files}
    steps += elsewhere(crates, stems_of(files), folders_of(files)) or elsewhere(crates, crates)
    far = distances(crate_uses(), {node for file in files for node in nodes_of(file)})
    reached = [name.replace("_", "-") for name in far
               if not name.startswith("py/") and name not in ("outside", "py")]
    return list(dict.fromkeys([*steps, *reached, "conformance"]))


def crate_uses() -> dict[str, set[str]]:
    """What the crates use of each other."""
    return {name: set(more) for name, (_, more) in CORE["nodes"].items()}


def own_tests(file: str) -> str | None:
    """The tests in the module of a file."""
    _, crate, *place = Path(file).parts
    if place[0] != "src":
        return None
    module = "::".join(Path(*place[1:]).with_suffix("").parts)
    return f"{crate} --lib {module.removesuffix('::mod').removesuffix('lib')}".strip()


def named_test(file: str) -> str | None:
    """The test that a changed file of a crate's tests is."""
    _, crate, *place = Path(file).parts
    if place[0] != "tests" or not file.endswith(".rs"):
        return None
    return f"{crate} --test {Path(place[1]).stem}"


def elsewhere(crates: set[str], stems: set[str], rooms: Collection[str] = ()) -> list[str]:
    """The tests in folders of tests that speak of changed files and of their crates, or have the
    name of a changed file's folder; a step a program, those of the crates first."""
    def near(path: Path, name: str) -> bool:
        text = path.read_text() + name
        return mentions(name, rooms) or (
            mentions(text, stems) and (crate in crates or mentions(text, crates)))

    steps = []
    folders = sorted(ROOT.glob("crates/*/tests"), key=lambda it: (it.parent.name not in crates, it))
    for folder in folders:
        crate = folder.parent.name
        steps += [f"{crate} --test {path.stem}" for path in sorted(folder.glob("*.rs"))
                  if near(path, path.stem)]
        for main in sorted(folder.glob("*/main.rs")):
            program = main.parent.name
            modules = [path for path in sorted(main.parent.glob("*.rs"))
                       if path != main and "#[test]" in path.read_text()]
            if found := [path.stem for path in modules if near(path, f"{program} {path.stem}")]:
                filters = " ".join(f"{stem}::" for stem in found)
                steps.append(f"{crate} --test {program} -- {filters}")
    return steps


def runtime_tests(files: list[str]) -> list[str]:
    """Steps of ctest: the programs that include the changed file's header or have its name, the
    quick ones, all others."""
    listed = (RUNTIME / "tests" / "CMakeLists.txt").read_text()
    built = (RUNTIME / "CMakeLists.txt").read_text() + listed
    files = [file for file in files if file.startswith("runtime/")
             and (file.startswith("runtime/rt/") or "/".join(Path(file).parts[-2:]) in built)]
    costs = ROOT / "target" / "rt" / "release" / "Testing" / "Temporary" / "CTestCostData.txt"
    if not files or not costs.is_file():
        return ["."] if files else []
    rows = [line.split() for line in costs.read_text().partition("---")[0].splitlines()]
    took = {name: float(cost) for name, _, cost in rows}
    stems = {Path(file).stem for file in files}
    programs = {path.stem for path in (RUNTIME / "tests").glob("*.c")
                if path.stem.removesuffix("_test") in stems or any(
                    f'"{stem}.h"' in path.read_text() for stem in stems)}
    tests = re.findall(r"fly_test\((\S+)\s+(\w+)", listed)
    near = [name for name in took for start, program in tests
            if program in programs and name.startswith(start.partition("$")[0])]
    quick = [name for name in took if took[name] <= QUICK_S]
    lines: list[str] = []
    left = dict.fromkeys(sorted(took, key=lambda name: took[name]))
    for names in (near, quick, list(left)):
        if line := [name for name in dict.fromkeys(names) if name in left]:
            lines.append(f"^({'|'.join(line)})$")
            left = {name: None for name in left if name not in line}
    return lines


def affected(files: list[str]) -> Iterator[tuple[str, str]]:
    """Kind and words of every step for files that changed, nearest first."""
    for kind, steps in (("ctest", runtime_tests(files)), ("rust", rust_tests(files))):
        yield from ((kind, step) for step in steps)
    if tests := python_tests(files):
        yield "tests", " ".join(tests)


if __name__ == "__main__":
    for kind, words in affected(sys.argv[1:]):
        print(f"{kind}: {words}")
