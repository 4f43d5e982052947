"""Packages that not everybody has: which extra brings each, and what it is for."""

from __future__ import annotations

import re
from importlib.util import find_spec

from flyloom._core import RefusalError

EXTRAS = {
    "report": (("jinja2", "vl_convert"), "reports and charts"),
    "sci": (("networkx", "scipy"), "networks to and from networkx and scipy"),
    "lp": (("highspy",), "exact throughput by linear programs"),
    "search": (("pysat",), "exact search for graphs, by SAT solvers"),
    "dask": (("distributed",), "experiments on the workers of a Dask cluster"),
    "pandas": (("pandas",), "results as pandas data frames"),
    "polars": (("polars",), "results as polars data frames"),
}
"""The extras of ``pip install 'flyloom[NAME]'``: modules that are loaded, and what they are for."""


class ExtraError(RefusalError):
    """A package that an extra brings is not installed; the message says which. Exit code 3."""


def absent(extra: str) -> list[str]:
    """The modules of an extra that are not installed."""
    return [module for module in EXTRAS[extra][0] if find_spec(module) is None]


def line(error: ImportError) -> str | None:
    """What to say of a package that could not be loaded; None where no extra brings it."""
    named = re.search(r"No module named '(\w+)", str(error))
    module = named[1] if named else (error.name or "").partition(".")[0]
    for extra, (modules, use) in EXTRAS.items():
        if module in modules or (module, extra) == ("markupsafe", "report"):
            return f"{use} need {module}, which is not installed: pip install 'flyloom[{extra}]'"
    return None
