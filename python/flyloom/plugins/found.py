"""Where parts are looked for: those that are known, files of ``--plugin``, installed packages.

A package is looked into only when a name is asked for that is neither built in nor known, or a list
of everything: its entry point in the group ``flyloom`` is called as the part is.
"""

from __future__ import annotations

import os
import re
import sys
import types
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flyloom._core import RefusalError, registry
from flyloom.plugins.parts import KINDS, KNOWN, NAME, PluginPart, built_in, loading, located
from flyloom.support.reading import read_text

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "flyloom"
"""The group of the entry points."""


def part(kind: str, name: str) -> PluginPart | None:
    """The user's part of that name; None for a built-in one, and where there is none."""
    if name in built_in(kind):
        return None
    if (kind, name) not in KNOWN and NAME.fullmatch(name):
        load_named([name])
    return KNOWN.get((kind, name))


def rows() -> list[dict[str, Any]]:
    """All parts, built in and users', as ``registry()`` of the core has them."""
    load_named(None)
    return [*registry(), *(known.row for known in KNOWN.values())]


def users(kind: str) -> list[dict[str, Any]]:
    """The rows of users' parts of a kind, with their parameters."""
    load_named(None)
    return [known.row for known in KNOWN.values() if known.kind == kind]


def parameters_of(kind: str, names: Iterable[str] | None = None) -> dict[str, set[str]]:
    """The names of the parameters of all parts of a kind, built in and users', by part; those with
    one of these names are looked for, or all."""
    new = None if names is None else [
        name for name in names if (kind, name) not in KNOWN and name not in built_in(kind)
    ]
    load_named(new)
    known = [*registry(), *(known.row for known in KNOWN.values())]
    return {row["name"]: {param["name"] for param in row["params"]}
            for row in known if row["kind"] == kind}


def load_named(names: Iterable[str] | None) -> bool:
    """Loads the installed parts of these names, or all; whether there was one not known before."""
    asked = None if names is None else set(names)
    before = len(KNOWN)
    if asked is not None and not asked:
        return False
    from importlib.metadata import entry_points  # takes as long as a short command

    for entry in entry_points(group=GROUP):
        if asked is None or entry.name in asked:
            _load_entry(entry)
    return len(KNOWN) > before


def _load_entry(entry: EntryPoint) -> None:
    known = {known.name: known for known in KNOWN.values() if known.version}
    version = f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value
    if entry.name in known and known[entry.name].version == version:
        return
    file = str(getattr(_spec(entry.module), "origin", ""))
    with located(f"plug-in {entry.name} of {version}", file), loading(version=version):
        entry.load()
    if not any((kind, entry.name) in KNOWN for kind in KINDS):
        raise RefusalError(
            f"plug-in {entry.name} of {version}: {entry.value} is no part of that name"
        )


def _spec(module: str) -> Any:
    from importlib.util import find_spec

    try:
        return find_spec(module)
    except (ImportError, ValueError):
        return None


def load_file(path: str | os.PathLike[str]) -> None:
    """Makes known what the Python file at ``path`` has; RefusalError where it cannot, or has none.

    A file that was loaded before and did not change is not run again.
    """
    from hashlib import sha256

    path = Path(os.path.abspath(path))
    if path.suffix != ".py":
        raise RefusalError(f"plug-in {path}: no Python file; FILE.py")
    text, file = read_text(path), str(path)
    name = re.sub(r"\W", "_", f"flyloom_plugin_{path.stem}_{sha256(file.encode()).hexdigest()[:8]}")
    before = sys.modules.get(name)
    if before is not None and getattr(before, "__text__", None) == text:
        return
    for key in [key for key, known in KNOWN.items() if known.module == name]:
        del KNOWN[key]
    module = types.ModuleType(name)
    vars(module).update(__file__=file, __text__=text)
    sys.modules[name] = module
    try:
        with located("plug-in", file), loading(text=text):
            exec(compile(text, file, "exec", dont_inherit=True), vars(module))
        if not any(known.module == name for known in KNOWN.values()):
            help_ = "decorate one, as with @flyloom.topology, @flyloom.engine or @flyloom.pattern"
            raise RefusalError(f"plug-in {file}: no part in it; {help_}")
    except BaseException:
        del sys.modules[name]
        raise
