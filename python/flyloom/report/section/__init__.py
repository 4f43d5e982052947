"""The sections of a report: a file here for each, with its template beside it, and nothing else.

A file has its section in ``SECTION``; what it holds is said by
:class:`flyloom.report.base.PageSection`.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flyloom.report.base import PageSection


def sections() -> list[PageSection]:
    """All sections, in the order in which they stand in the page."""
    names = sorted({module.name for module in pkgutil.iter_modules(__path__)})
    found = [importlib.import_module(f"{__name__}.{name}").SECTION for name in names]
    return sorted(found, key=lambda section: section.place)
