"""The pages of the Python interface: which name of the package is on which; autodoc writes them."""

from __future__ import annotations

import importlib
import inspect
import operator
import textwrap

import flyloom
from flyloom.deploy.fabric import deploy

PAGES = {
    "networks": ("Networks and other input", (
        "Topology", "Workload", "flyloom.inputs", "flyloom.verbs.identifying")),
    "families": ("Families of networks", ("flyloom._generated",)),
    "design": ("Choosing, cost and layout", (
        "flyloom.search", "flyloom.published_cost",
        "flyloom.verbs.sizing", "flyloom.verbs.choosing", "flyloom.verbs.comparison",
        "flyloom.verbs.prices", "flyloom.verbs.layout", "flyloom.verbs.exporting")),
    "routing": ("Routes", (
        "Routing", "flyloom.verbs.routes", "flyloom.verbs.routing_comparison",
        "flyloom.published")),
    "measures": ("Measures", (
        "flyloom.verbs.measures", "flyloom._measures", "flyloom.verbs.congestion",
        "flyloom.verbs.throughput")),
    "simulators": ("Simulators, workloads and mapping", (
        "flyloom.verbs.simulation", "flyloom._simulators", "flyloom.verbs.tidy",
        "flyloom.verbs.booksim", "flyloom.verbs.workloads", "flyloom._mappings")),
    "fabrics": ("Fabrics, experiments, citing", (
        "flyloom.verbs.citing",
        "flyloom.deploy", "flyloom.verbs.observing", "flyloom.verbs.doctor", "flyloom.lab")),
    "plugins": ("Parts of your own", ("flyloom.plugins",)),
    "results": ("Results", ("flyloom.support", "RefusalError")),
}
"""Name, title and what is on each page: names, or modules and all that is in them."""
MODULES = ("flyloom.search", "flyloom.published_cost")
"""Modules that users import by their own names."""
WITH_MEMBERS = ("Topology", "Routing", "Workload", "Result")
"""Classes whose methods are described; those of results are Result's."""


def public_names() -> dict[str, str]:
    """Every name that users have of the package, with the module that it is from."""
    found = {name: home for name, home in flyloom._HOME_OF.items() if not name.startswith("_")}
    found["deploy"] = "flyloom.deploy"
    for home in MODULES:
        names = importlib.import_module(home).__all__
        found |= {f"{home.removeprefix('flyloom.')}.{name}": home for name in names}
    for module in ("_generated", "_measures", "_simulators", "_mappings"):
        home = f"flyloom.{module}"
        found |= dict.fromkeys(importlib.import_module(home).__all__, home)
    return found


def placed() -> dict[str, list[str]]:
    """The names on each page, in order; a name that belongs on none is refused."""
    found: dict[str, list[str]] = {page: [] for page in PAGES}
    for name, home in public_names().items():
        fits = [page for page, (_, places) in PAGES.items() for place in places
                if name == place or home == place or home.startswith(f"{place}.")]
        assert fits, f"docs/site/python_interface.py says no page for flyloom.{name} of {home}"
        found[fits[0]].append(name)
    return found


def directive(name: str) -> str:
    """What makes autodoc describe a name."""
    if name == "deploy":  # a module that can be called
        said = textwrap.indent(inspect.getdoc(deploy), "   ")
        return f".. py:function:: flyloom.deploy{inspect.signature(deploy)}\n\n{said}"
    one = operator.attrgetter(name)(flyloom)
    kind = "autoclass" if isinstance(one, type) else "autofunction"
    if kind == "autofunction" and not callable(one):
        return f".. autodata:: flyloom.{name}"
    return f".. {kind}:: flyloom.{name}" + "\n   :members:" * (name in WITH_MEMBERS)


def pages() -> dict[str, str]:
    """Name and Markdown of every page."""
    found, rows = {}, []
    for page, names in placed().items():
        title = PAGES[page][0]
        body = "\n\n".join(directive(name) for name in names)
        found[f"python-{page}"] = f"# {title}\n\n```{{eval-rst}}\n{body}\n```\n"
        some = ", ".join(f"`{name}`" for name in names[:6]) + ", ..." * (len(names) > 6)
        rows.append(f"| [{title}](python-{page}.md) | {some} |")
    toctree = "\n".join(f"python-{page}" for page in PAGES)
    lines = "\n".join(rows)
    found["python-interface"] = (
        "# Functions and classes of Python\n\nEvery name of `import flyloom as fl`, from its "
        "docstring; [From Python](python.md) shows how they go together.\n\n| page | has |\n"
        f"|---|---|\n{lines}\n\n```{{toctree}}\n:hidden:\n\n{toctree}\n```\n"
    )
    return found
