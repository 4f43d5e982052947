"""Runs of a simulation that differ in their seeds alone, as one run with intervals."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from flyloom._core import over_seeds

ASKED = ("network", "label", "parameters")
"""The fields of a run that say what was asked for."""


def pooled(runs: Iterable[dict[str, Any]], level: str) -> Iterator[dict[str, Any]]:
    """The runs of a simulator, those that differ in their seeds alone as one: means with intervals,
    as one run with ``seeds`` has them. Runs of jobs, and with loads of their own, stay apart."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for run in runs:
        asked = {key: value for key, value in run["parameters"].items() if key != "seed"}
        key = json.dumps([run["network"], run["label"], asked], sort_keys=True)
        groups.setdefault(key, []).append(run)
    for of in groups.values():
        if not _differ_in_seeds(of):
            yield from of
            continue
        found = over_seeds(level, [
            {key: value for key, value in run.items() if key not in ASKED and value is not None}
            for run in of
        ])
        yield {
            **of[0], **found,
            "parameters": {**of[0]["parameters"], "seeds": len(of)},
        }


def _differ_in_seeds(runs: Sequence[Mapping[str, Any]]) -> bool:
    """Whether there are several runs, of a seed each, at the same loads."""
    seeds = {run["parameters"].get("seed") for run in runs}
    one_each = all(run["parameters"].get("seeds", 1) == 1 and not run.get("jobs") for run in runs)
    of_loads = all(run["parameters"].get("load") != "auto" for run in runs)
    counts = {len(run["points"] or ()) for run in runs}
    return len(runs) > 1 and len(seeds) == len(runs) and one_each and of_loads and len(counts) == 1
