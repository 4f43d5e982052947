"""Measures by their names, and what a family promises."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, overload

from flyloom._core import registry
from flyloom._measures import RECORDS
from flyloom.inputs.networks import Source, network
from flyloom.inputs.tables import Tables
from flyloom.plugins.measures import Function
from flyloom.plugins.measures import measure as as_measure
from flyloom.support import renamed
from flyloom.support.progress import Progress
from flyloom.support.records import Record
from flyloom.support.verb_results import Promise
from flyloom.verbs.own_measures import record_by


@overload
def measure(*, columns: Sequence[Mapping[str, str]]) -> Callable[[Function], Function]: ...
@overload
def measure(
    on: Tables, name: str, *, progress: Progress | None = None, **parameters: Any
) -> Record: ...
def measure(
    on: Tables | None = None, name: str = "", *, progress: Progress | None = None,
    **parameters: Any,
) -> Record | Callable[[Function], Function]:
    """The record of the measure ``name`` with its ``parameters``, see docs/measure-reference.md.

    For names that are known when it runs: each measure is a function of its own name too. ``on`` is
    a network, as for ``network``, or tables: a :class:`Routing` or a folder of them. Measures of
    routes have a network routed first, by dfsssp (``lanes_needed`` by sssp). A measure gives the
    same figures here, on the command line and in an experiment.

    As a decorator, ``@measure(columns=[...])``, it makes a function a measure: see
    :func:`flyloom.plugins.measures.measure`.
    """
    if on is None:
        return as_measure(**parameters)
    renamed.renew(name, _renamed().get(name, {}), parameters)
    return RECORDS.get(name, Record)(record_by(on, name, parameters, progress))


@cache
def _renamed() -> dict[str, dict[str, str]]:
    """Old names of the parameters of measures, with those of today, by measure."""
    return {row["name"]: dict(row["renamed"]) for row in registry() if row["kind"] == "measure"}


def promise(source: Source) -> Promise | None:
    """What the family's formulae say of the network, None for files. ``diameter`` and
    ``mean_distance`` are intervals [low, high], of width 0 where the formula is exact."""
    found = network(source).promise()
    return None if found is None else Promise(found)
