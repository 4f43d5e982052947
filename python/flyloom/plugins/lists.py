"""Everything that is asked for by its name, kind by kind, as rows: `flyloom list` prints them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flyloom import _core
from flyloom.plugins import found
from flyloom.plugins.found import users


def parts(kind: str) -> list[dict[str, Any]]:
    """Topologies, engines or measures, built in and users', with their parameters."""
    return [row for row in found.rows() if row["kind"] == kind]


def chosen(kind: str) -> list[dict[str, Any]]:
    """What the core has of a kind that takes no parameters by name, and users' parts of it."""
    own = {"traffic": "pattern"}.get(kind, kind)
    return [*(row for row in _core.choices() if row["kind"] == kind), *users(own)]


def workloads() -> list[dict[str, Any]]:
    """Collectives and applications, with their parameters."""
    return [
        {"kind": row["kind"], "name": row["name"], "doc": row["doc"], "params": row["keys"]}
        for row in _core.workload_list()
    ] + users("application")


def exports() -> list[dict[str, Any]]:
    """Formats that a network is exported to, with their options."""
    return [
        {"kind": "export", "name": row["name"], "doc": f"{row['title']}; {row['networks']}",
         "params": [{**option, "required": False} for option in row["options"]]}
        for row in _core.export_formats()
    ] + users("export")


def opensm_engines() -> list[dict[str, Any]]:
    """Engines of OpenSM."""
    return [{"kind": "engine", "name": f"opensm:{name}", "doc": "OpenSM's own"}
            for name in _core.opensm_engines()]


KINDS: dict[str, tuple[str, Callable[[], list[dict[str, Any]]]]] = {
    "topologies": ("families of networks", lambda: parts("topology")),
    "engines": ("routing engines", lambda: parts("engine")),
    "opensm-engines": ("routing engines of OpenSM", opensm_engines),
    "measures": ("what is found out of a network or its routes", lambda: parts("measure")),
    "simulators": ("simulators, by level", _core.simulators),
    "selections": ("how packets of a simulation choose their paths", lambda: chosen("selection")),
    "traffic": ("patterns of traffic", lambda: chosen("traffic")),
    "workloads": ("collectives and applications, message by message", workloads),
    "network-files": ("formats that networks are read from", lambda: chosen("network-file")),
    "graph-files": ("formats that communication graphs are read from",
                    lambda: chosen("graph-file")),
    "catalogs": ("catalogues of prices", lambda: chosen("catalog")),
    "graphs": ("communication graphs to map", lambda: chosen("graph")),
    "methods": ("steps of mappings, joined by +", lambda: chosen("method")),
    "placements": ("which endpoints get the processes of a job", lambda: chosen("placement")),
    "exports": ("formats of other programs that a network is written in", exports),
}
"""By the word that asks for it: what it is, and its rows (`kind`, `name`, `doc`, and `params` or
`takes`)."""
