"""Reports: one self-contained HTML page that shows what was built, proven, measured and loaded.

:func:`flyloom.report.page.render` makes the page, :mod:`flyloom.report.check` says what it takes,
:mod:`flyloom.report.charts` holds the chart specifications. Nothing heavy is imported here.
"""

from flyloom.report.check import ReportError
from flyloom.report.page import render, write

__all__ = ["ReportError", "render", "write"]
