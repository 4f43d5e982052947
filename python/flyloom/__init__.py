"""flyloom: from an interconnect's idea to a running, verified fabric.

    >>> import flyloom as fl
    >>> network = fl.slim_fly(q=5, p=4)
    >>> routing = fl.route(network, "dfsssp", lmc=1)
    >>> fl.verify(routing).holds
    True

Names are loaded when first used, so that ``import flyloom`` is quick.
"""

from __future__ import annotations

import importlib

_HOMES = {
    "flyloom._core": ["RefusalError", "Routing", "Topology", "__version__"],
    "flyloom.comparison": ["compare"],
    "flyloom.prices": ["catalog", "cost", "shop"],
    "flyloom.deploy": ["DeployError"],
    "flyloom.deploy.fabric": ["route_with_opensm"],
    "flyloom.experiment": ["run"],
    "flyloom.figures": ["figure"],
    "flyloom.graph": [
        "from_networkx", "from_pairs", "from_scipy", "network", "to_networkx", "to_scipy",
    ],
    "flyloom.results": ["Result"],
    "flyloom.routing_comparison": ["compare_routing"],
    "flyloom.tables": ["read_tables"],
    "flyloom.sizing": ["address_table", "budget", "scale", "size"],
    "flyloom._congestion": ["congestion"],
    "flyloom._throughput": ["throughput"],
    "flyloom.verbs": [
        "cables", "check_cables", "ebb", "edge_load", "lanes_needed", "lost_in",
        "path_diversity", "plan", "promise", "repair", "resilience", "route", "spread",
        "structure", "verify",
    ],
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str):
    if name == "deploy":  # the package is the verb
        value = importlib.import_module("flyloom.deploy")
    elif home := _HOME_OF.get(name):
        value = getattr(importlib.import_module(home), name)
    else:
        generated = importlib.import_module("flyloom._generated")
        if name.startswith("_") or name not in generated.__all__:
            raise AttributeError(f"module 'flyloom' has no attribute '{name}'")
        value = getattr(generated, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    generated = importlib.import_module("flyloom._generated")
    return sorted({"deploy", "__doc__", *_HOME_OF, *generated.__all__})
