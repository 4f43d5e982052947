"""Runs of a report as points of curves, by the number in which they differ most.

A *run* is a dict with ``network``, ``label`` and ``parameters`` by dotted names, as
:mod:`flyloom.report.check` describes them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from flyloom.report.simulated import differing
from flyloom.support.words import selection_name

MOST = 20
"""Curves that are drawn, at most: each has a colour of its own."""


def rows(
    runs: Sequence[Mapping[str, Any]], networks: Sequence[str], repeated: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """A row for each run: ``curve``, the words that tell it from the others apart from the axis,
    ``rest``, these without the network where there are several, ``at``, the value on the axis (None
    where there is none), ``axis``, its name, and all of the run.

    The axis is the parameter in which runs differ that has numbers alone, and most of them. Runs
    that differ in a parameter of ``repeated`` alone are the same point of the same curve.
    """
    made = [{"network": run["network"], "of": _text(run, repeated)} for run in runs]
    differ = differing(made)
    axis = _axis(runs, differ)
    routings = {run["label"] for run in runs}
    out = []
    for run, texts in zip(runs, made, strict=True):
        words = [run["network"]] if len(networks) > 1 else []
        if len(routings) > 1 or not words:
            words.append(run["label"])
        said = run["label"] if run["label"] in words else None
        words += [
            f"{name} {texts['of'].get(key, '–')}".strip() for key, name in differ.items()
            if key != axis and texts["of"].get(key, "–") != said
        ]
        at = None if axis is None else run["parameters"].get(axis)
        name = axis and axis.rsplit(".", 1)[-1]
        rest = words[1:] if len(networks) > 1 else words
        out.append({**run, "curve": ", ".join(words), "rest": ", ".join(rest), "at": at,
                    "axis": name})
    order = {name: i for i, name in enumerate(dict.fromkeys(row["curve"] for row in out))}
    return sorted(out, key=lambda row: (order[row["curve"]], row["at"] or 0))


def _text(run: Mapping[str, Any], repeated: Sequence[str]) -> dict[str, str]:
    return {key: selection_name(value) if key == "selection" else str(value)
            for key, value in run["parameters"].items() if key not in repeated}


def _axis(runs: Sequence[Mapping[str, Any]], differ: Mapping[str, str]) -> str | None:
    """The parameter with most different values, among those that have only numbers."""
    return most_numbers({
        key: {run["parameters"].get(key) for run in runs if key in run["parameters"]}
        for key in differ
    })


def most_numbers(values: Mapping[str, Collection[Any]]) -> str | None:
    """The first parameter with most different values, among those that have only numbers; None if
    none has two."""
    best, most = None, 1
    for key, of in values.items():
        numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in of)
        if numbers and len(of) > most:
            best, most = key, len(of)
    return best
