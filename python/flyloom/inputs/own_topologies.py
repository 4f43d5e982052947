"""Networks that topologies of users make: what their functions return, as a network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from flyloom._core import RefusalError, Topology, plugin_parameters
from flyloom.inputs.graphs import GraphLike, MatrixLike, from_networkx, from_pairs, from_scipy
from flyloom.inputs.rates import rated
from flyloom.plugins.parts import PluginPart, located


def made(part: PluginPart, given: Mapping[str, Any]) -> Topology:
    """The network of a user's topology with the parameters ``given``; its recipe says all of them.

    RefusalError for parameters that cannot be, for what the function raises, and where it returns
    no network; it names the plug-in. ``gbps`` is the rate of the cables, as of any family, where
    the function has no parameter of that name.
    """
    asked = dict(given)
    is_own = any(param["name"] == "gbps" for param in part.row["params"])
    gbps = None if is_own else asked.pop("gbps", None)
    params = plugin_parameters(part.row, asked)
    own = params if part.more["p"] else {k: v for k, v in params.items() if k != "p"}
    with located(part.name, part.file):
        returned = part.function(**own)
        if isinstance(returned, Iterator):  # the function runs here
            returned = list(returned)
    place = f"{part.name}: {part.file}, line {part.line}"
    if isinstance(returned, Topology) and "p" in params and not part.more["p"]:
        raise RefusalError(f"{place}: p: its networks have their own endpoints")
    try:
        network = _network(returned, params.get("p", 1))
    except RefusalError as error:
        raise RefusalError(f"{place}: {error}") from None
    except (TypeError, ValueError):
        help_ = "pairs of switch numbers, a networkx graph or a Topology"
        raise RefusalError(f"{place}: what it returns is no network; {help_}") from None
    return rated(network.with_recipe(part.name, params), gbps)


def _network(returned: Any, p: int) -> Topology:
    if isinstance(returned, Topology):
        return returned
    if isinstance(returned, GraphLike):
        return from_networkx(returned, p)
    if isinstance(returned, MatrixLike):
        return from_scipy(returned, p)
    return from_pairs(returned, p)
