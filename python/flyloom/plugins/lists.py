"""Everything that is asked for by its name, kind by kind, as rows: `flyloom list` prints them."""

from __future__ import annotations

from typing import Any

from flyloom import _core
from flyloom.plugins import found
from flyloom.plugins.parts import KNOWN, OF_USERS


def kinds() -> dict[str, str]:
    """The kinds that the core has, by the words that list them, and what they are."""
    return {word: about for word, _, about in _core.kinds()}


def rows(word: str, installed: bool = True) -> list[dict[str, Any]]:
    """The parts of the kind that ``word`` lists, built in and users', with their parameters (or
    what they ``take``). Packages are looked into for parts unless ``installed`` is False."""
    kind = next(one for of, one, _ in _core.kinds() if of == word)
    if installed:
        found.load_named(None)
    own = [part.row for part in KNOWN.values() if part.kind == OF_USERS.get(kind, kind)]
    return [*_core.parts(word), *own]
