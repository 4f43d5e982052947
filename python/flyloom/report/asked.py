"""Runs of several networks that were asked for the same, distinguished by what varies on a network.

A *run* is a dict with ``network``, ``label`` and ``parameters`` by dotted names, as
:mod:`flyloom.report.check` describes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flyloom.report.axis import most_numbers

SAID = ("selection", "traffic", "workload", "job", "method", "graph", "catalog")
"""Parameters whose values say by themselves what they are."""


@dataclass(frozen=True)
class ComparableRuns:
    """Runs that differ in nothing that varies on one network, of several where there are some."""

    runs: Sequence[Mapping[str, Any]]
    varied: Mapping[str, str]
    """The parameters that vary on some network, and their values here."""
    labels: Sequence[str]
    """The label, where labels tell runs of one network apart."""

    def by_network(self) -> dict[str, list[Mapping[str, Any]]]:
        """The runs of each network."""
        found: dict[str, list[Mapping[str, Any]]] = {}
        for run in self.runs:
            found.setdefault(run["network"], []).append(run)
        return found

    def means(self, value: Callable[[Any], Any]) -> dict[str, list[float]]:
        """The mean of a figure on each network that has it."""
        out = {}
        for name, runs in self.by_network().items():
            known = [one for one in map(value, runs) if isinstance(one, int | float)]
            if known:
                out[name] = [sum(known) / len(known)]
        return out

    def value(self, key: str) -> str:
        """The value of a parameter, as the first run has it."""
        return str(self.runs[0]["parameters"].get(key, "")).replace("_", " ")

    def words(self, said: Sequence[str] = ()) -> list[str]:
        """The parameters that vary, in words, except those in ``said``."""
        values = set(self.varied.values())
        out = [
            str(value) if key in SAID else f"{key.rsplit('.', 1)[-1]} {value}".replace("_", " ")
            for key, value in self.varied.items() if key not in said
        ]
        return out + [label for label in self.labels if label not in values]

    def called(self, pattern: str) -> str:
        """The name that a pattern with one parameter in braces gives, and in words the other
        parameters that vary."""
        key = pattern[pattern.index("{") + 1 : pattern.index("}")]
        name = self.value(key).split(":")[0].replace(" ", "_")
        return ", ".join([pattern.replace(f"{{{key}}}", name), *self.words((key, "workload"))])

    def places(self, axis: str | None) -> list[Any]:
        """The places of an axis that every network here has."""
        if axis is None:
            return [None]
        of = [{run["parameters"].get(axis) for run in runs} for runs in self.by_network().values()]
        return sorted(set.intersection(*of) - {None})

    def at(self, axis: str | None, places: Sequence[Any]) -> dict[str, list[list[float]]]:
        """For each network, the ``value`` of its runs at each of these places on the axis."""
        return {
            name: [
                [run["value"] for run in runs if axis is None or run["parameters"].get(axis) == at]
                for at in places
            ]
            for name, runs in self.by_network().items() if places
        }


def same(runs: Sequence[Mapping[str, Any]], besides: Sequence[str] = ()) -> list[ComparableRuns]:
    """Runs that were asked for the same, of two networks or more where there are several, in the
    order of the first of them. What differs between networks alone does not count, nor do
    parameters ``besides``."""
    keys = [key for key in _varied(runs) if key not in besides]
    count = len({run["network"] for run in runs})
    seen: set[tuple[Any, ...]] = set()
    apart = False
    for run in runs:
        known = (run["network"], *_values(run, keys), *_values(run, besides))
        apart = apart or known in seen
        seen.add(known)
    labels = apart and len({run["label"] for run in runs}) > 1
    found: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for run in runs:
        key = (*_values(run, keys), run["label"] if labels else "")
        found.setdefault(key, []).append(run)
    return [
        ComparableRuns(of, dict(zip(keys, key[:-1], strict=True)), [key[-1]] if labels else [])
        for key, of in found.items()
        if count == 1 or len({run["network"] for run in of}) > 1
    ]


def axis(runs: Sequence[Mapping[str, Any]], repeated: Sequence[str] = ()) -> str | None:
    """The parameter that varies on some network, has numbers alone, and most of them."""
    return most_numbers({
        key: {run["parameters"].get(key) for run in runs} - {None}
        for key in _varied(runs) if key not in repeated
    })


def _varied(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """The parameters that vary on some network, in the order in which runs have them."""
    keys = list(dict.fromkeys(key for run in runs for key in run["parameters"]))
    values: dict[tuple[str, str], set[str]] = {}
    for run in runs:
        for key, one in zip(keys, _values(run, keys), strict=True):
            values.setdefault((run["network"], key), set()).add(one)
    networks = {run["network"] for run in runs}
    return [key for key in keys if any(len(values[name, key]) > 1 for name in networks)]


def _values(run: Mapping[str, Any], keys: Sequence[str]) -> list[str]:
    return [str(run["parameters"].get(key, "–")) for key in keys]
