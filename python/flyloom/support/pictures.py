"""Pictures of results, as whoever has a result sees them; what draws them is loaded when asked."""

from __future__ import annotations

import os
from typing import Any, Protocol

DRAWS = "flyloom.report.plots"
"""The module that draws results: it knows them, they do not know it."""


class Picture(Protocol):
    """A picture that a notebook shows."""

    @property
    def svg(self) -> str:
        """The picture as the text of an SVG."""

    def save(self, path: str | os.PathLike[str], *, width_mm: float | None = None) -> None:
        """Writes the picture to a file, as SVG, PNG or PDF by the end of the name; a chart
        ``width_mm`` wide where that is given, with letters of 9 points."""


def picture_of(result: object, what: str | None = None) -> Picture:
    """The picture of a result, ``what`` of those that it has; see ``Result.plot``."""
    picture: Picture = _drawing().plot(result, what)
    return picture


def thumbnail_of(network: object) -> str:
    """The SVG that a notebook shows of a network; empty where it is large."""
    return str(_drawing().thumbnail(network))


def shown(result: object) -> str:
    """The SVG that a notebook shows of a result; empty where charts cannot be drawn here."""
    from flyloom._core import RefusalError
    from flyloom.support.errors import DeployError

    try:
        return picture_of(result).svg
    except (ImportError, DeployError, RefusalError):
        return ""


def _drawing() -> Any:
    import importlib

    return importlib.import_module(DRAWS)
