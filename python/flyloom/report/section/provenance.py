"""Where a report comes from: version, seed, stages of the run and the file of the experiment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flyloom.report.base import PageData, PageSection, SectionList, TimedStage


def view(page: PageData) -> dict[str, Any]:
    """What made the results, and how long it took."""
    return {"report": page.data}


def entries(saved: Mapping[str, Any]) -> list[Any]:
    """The stages of a run."""
    return list(saved["stages"])


SECTION = PageSection(
    name="provenance", title="Provenance", place=1000,
    doc="Version, seed, stages of the run and the file of the experiment.",
    when="",
    entries=SectionList(key="stages", shape=TimedStage, of=entries), view=view,
)
