"""Measures of whatever a user names: what the core finds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from flyloom._core import Routing
from flyloom.inputs.networks import Source, network
from flyloom.support.progress import Progress


def measured(
    on: Source | Routing, name: str, given: Mapping[str, object], progress: Progress | None = None
) -> dict[str, Any]:
    """The record of the measure ``name`` of a network or of tables, as the core has it.

    ``given`` are its parameters; those that are None have their defaults.
    """
    target = on if isinstance(on, Routing) else network(on)
    known = {key: _plain(value) for key, value in given.items() if value is not None}
    return target.measure(name, known, progress)


def _plain(value: object) -> object:
    """A value as JSON has it, where it is a mapping or a list of another kind."""
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else value
