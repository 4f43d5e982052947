"""Reports: one self-contained HTML page that shows what was built, proven, measured and loaded.

:func:`flyloom.report.page.render` makes the page of the sections that are in
:mod:`flyloom.report.section`, :mod:`flyloom.report.base` says what one is. Nothing heavy is
imported here.
"""

from flyloom.report.check import ReportError
from flyloom.report.page import render, write

__all__ = ["ReportError", "render", "write"]
