"""The border of a page: its data has the shape that the sections declare, and refers to what is
there.

Behind :func:`check` every key exists (``None`` when it was left out), as
:func:`flyloom.report.shape.walk` says, so that sections and charts need no checks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flyloom.report.base import PageContents, PageNetwork, PageRouting, PageSection, check_label
from flyloom.report.section import sections
from flyloom.report.shape import DictionaryField, DictionaryShape, ReportError, shape, unique, walk

__all__ = ["ReportError", "check", "page_shape"]


def page_shape(known: list[PageSection]) -> DictionaryShape:
    """The shape of the data of a page with these sections."""
    network, routing = shape(PageNetwork), shape(PageRouting)
    fields: dict[str, DictionaryField] = {}
    for section in known:
        if section.of_network:
            network |= shape(section.of_network.shape)
        if section.of_routing:
            routing |= shape(section.of_routing.shape)
        if section.entries:
            kind = [shape(section.entries.shape)]
            fields[section.entries.key] = DictionaryField(kind, False, section.doc)
    fields["networks"] = DictionaryField([network], True, "the networks")
    fields["routings"] = DictionaryField([routing], False, "the sets of forwarding tables")
    return shape(PageContents) | DictionaryShape(fields)


def check(data: Mapping[str, Any]) -> dict[str, Any]:
    """A checked deep copy of a page's data, every optional key present.

    Missing optional lists of the top level become empty lists, other missing optional values
    ``None``. Raises :class:`ReportError` at the first field that is missing, unknown, of the wrong
    kind, or that refers to something that is not there. Time O(size of the data).
    """
    known = sections()
    whole = page_shape(known)
    checked: dict[str, Any] = walk(data, whole, "data")
    for key, field in whole.fields.items():
        if isinstance(field.kind, list):
            checked[key] = checked[key] or []
    unique((network["label"] for network in checked["networks"]), "data.networks", "label")
    for place, routing in enumerate(checked["routings"]):
        check_label(routing, checked, f"data.routings[{place}]")
    for section in known:
        _check_section(section, checked)
    pairs = (f'{routing["network"]} / {routing["label"]}' for routing in checked["routings"])
    unique(pairs, "data.routings", "network and label")
    return checked


def _check_section(section: PageSection, data: dict[str, Any]) -> None:
    """Checks in a section's part of the data what its shape cannot express."""
    for key, facts in (("networks", section.of_network), ("routings", section.of_routing)):
        if facts:
            for place, entry in enumerate(data[key]):
                facts.check(entry, data, f"data.{key}[{place}]")
    if section.entries:
        for place, entry in enumerate(data[section.entries.key]):
            where = f"data.{section.entries.key}[{place}]"
            if "network" in entry:
                check_label(entry, data, where)
            section.entries.check(entry, data, where)
