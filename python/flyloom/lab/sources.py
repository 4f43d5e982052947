"""A digest of the sources that something stands on: modules by their imports, crates by cargo's.

What can be imported from a module is found without running it: its own imports, also those inside
of functions, and those of the modules they name. A name imported from the compiled core stands for
the file behind it, the crates that this uses, and those that they use: the core has their digests.
A change elsewhere, in a drawing or in a command, changes nothing here.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from flyloom import _core

PACKAGE = Path(__file__).parents[1]
CORE = "flyloom._core"


@functools.cache
def digest_of(*modules: str) -> str:
    """The digest of ``modules`` and of all that they stand on: 32 hexadecimal digits."""
    lines = (f"{name} {digest}\n" for name, digest in sorted(standing(*modules).items()))
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:32]


def standing(*modules: str, package: Path = PACKAGE, core: str = "") -> dict[str, str]:
    """The digest of each module and each part of the core that ``modules`` stand on, by name."""
    graph = json.loads(core or _core.__sources__)
    found: dict[str, str] = {}
    waiting = [*modules]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        if name.startswith("flyloom"):
            content = _file(name, package).read_bytes()
            found[name] = hashlib.sha256(content).hexdigest()
            waiting += _imported(name, content, package, graph)
        else:
            found[name], uses = graph["nodes"][name]
            waiting += uses
    return found


def _file(module: str, package: Path) -> Path:
    place = package.joinpath(*module.split(".")[1:])
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


def _imported(name: str, content: bytes, package: Path, graph: dict[str, Any]) -> Iterator[str]:
    """The modules and parts of the core that a module of the package imports, and its parents."""
    parts = name.split(".")
    yield from (".".join(parts[:i]) for i in range(1, len(parts)))
    folder = parts if _file(name, package).name == "__init__.py" else parts[:-1]
    for node in _imports(ast.parse(content)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == CORE:
                    yield from graph["nodes"]
                elif alias.name.split(".")[0] == "flyloom":
                    yield alias.name
            continue
        above = folder[:len(folder) - node.level + 1] if node.level else []
        base = ".".join([*above, *(node.module or "").split(".")]).rstrip(".")
        for alias in node.names if base.split(".")[0] == "flyloom" else ():
            whole = f"{base}.{alias.name}"
            if base == CORE and alias.name in graph["names"]:
                yield graph["names"][alias.name]
            elif CORE in (base, whole):
                yield from graph["nodes"]
            elif _file(whole, package).is_file():
                yield whole
            elif base == "flyloom":  # one of the names that the package finds when they are used
                raise ValueError(f"{name}: imports {alias.name} from flyloom; name its module")
            else:
                yield base


def _imports(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Every import below a node, but for those that only name types."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from _imports(ast.Module(node.orelse, []))
        else:
            yield from _imports(node)
