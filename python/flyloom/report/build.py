"""Builds the data of a report from the saved results of a run."""

from __future__ import annotations

from typing import Any

from flyloom import _core
from flyloom.report.base import PageSection
from flyloom.report.section import sections


def data(saved: dict[str, Any]) -> dict[str, Any]:
    """The input of :func:`flyloom.report.page.render` for the ``results.json`` of a run."""
    experiment, known = saved["experiment"], sections()
    own = [section.entries for section in known if section.entries]
    return {
        "title": experiment.get("title") or experiment["name"],
        "summary": experiment.get("summary"),
        "flyloom_version": _core.__version__,
        "seed": experiment["seed"],
        "experiment_toml": saved["text"],
        "networks": [_network(saved, key, known) for key in saved["networks"]],
        "routings": [_routing(record, known) for record in saved["records"] if record["verify"]],
        "skipped": saved["skipped"],
        **{of.key: list(of.of(saved)) for of in own},
    }


def _network(saved: dict[str, Any], key: str, known: list[PageSection]) -> dict[str, Any]:
    facts = saved["networks"][key]
    out = {name: facts[name] for name in ("label", "recipe")}
    out["structure"] = {name: facts["structure"].get(name) for name in TAKEN}
    for section in known:
        if section.of_network:
            out |= section.of_network.of(saved, key)
    return out


TAKEN = ("switches", "endpoints", "links", "network_radix", "concentration", "radix", "diameter",
         "mean_distance", "girth", "moore_bound", "moore_fraction")
"""The structural figures of a network that the page has."""


def _routing(record: dict[str, Any], known: list[PageSection]) -> dict[str, Any]:
    out = {
        "label": record["label"],
        "called": record.get("called"),
        "network": record["network"],
        "engine": record["engine"].removeprefix("opensm:"),
        "source": "opensm" if record["engine"].startswith("opensm:") else "flyloom",
        "lmc": record["lmc"],
        "verified": record["verify"]["holds"],
    }
    for section in known:
        if section.of_routing:
            out |= section.of_routing.of(record)
    return out
