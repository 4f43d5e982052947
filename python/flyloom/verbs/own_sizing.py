"""Members of users' topologies that sizing chooses among: built, and measured once."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from flyloom._core import RefusalError, nearest_members, plugin_parameters
from flyloom.inputs.own_topologies import made
from flyloom.plugins.found import load_named, part
from flyloom.plugins.parts import KNOWN, PluginPart

FACTS = ("switches", "endpoints", "links", "radix", "network_radix", "planes", "histogram")
"""What is taken over from a member's structure."""


def sized(name: str) -> PluginPart | None:
    """The user's topology of that name, where it says which members it has."""
    found = part("topology", name)
    return found if found and found.more["members"] else None


def chosen(families: Iterable[str]) -> tuple[list[str], list[PluginPart]]:
    """Families by name, parted into built-in ones (and what is none) and users'.

    Where none is named the users' are all that say which members they have. RefusalError where one
    is named that does not.
    """
    names = list(families)
    if not names:
        load_named(None)
        all_ = [known for known in KNOWN.values() if known.kind == "topology"]
        return [], [known for known in all_ if known.more["members"]]
    own = {name: found for name in names if (found := part("topology", name))}
    for name in own:
        if not sized(name):
            help_ = "@flyloom.topology(members=[...])"
            raise RefusalError(f"families: {name} says of no members; {help_}")
    return [name for name in names if name not in own], list(own.values())


def nearest(
    family: PluginPart, endpoints: int | None, radix: int, concentration: str,
    oversubscription: float,
) -> list[dict[str, Any]]:
    """The rows of sizing for one family: see :func:`flyloom.size`."""
    return nearest_members(
        family.name, _members(family), endpoints, radix, concentration, oversubscription
    )


def carrying(
    family: PluginPart, endpoints: int, radix: int, concentration: str, oversubscription: float,
) -> list[dict[str, Any]]:
    """The members that carry this number of endpoints, as ``above`` of :func:`flyloom.size`: each
    with no more endpoints on a switch than it takes, where their number is free."""
    found = []
    for member in _members(family):
        rows = nearest_members(
            family.name, [member], endpoints, radix, concentration, oversubscription
        )
        above = rows[0]["above"] if rows else None
        if above is None:
            continue
        p = -(-endpoints // above["switches"])
        if member["any_p"] and p < above["params"]["p"]:
            spared = above["params"]["p"] - p
            params = {**above["params"], "p": p}
            above = {
                **above, "params": params, "network": made(family, params).recipe,
                "endpoints": above["switches"] * p, "radix": above["radix"] - spared,
                "concentration": above["concentration"] - spared,
            }
        found.append(above)
    return found


@cache
def _members(family: PluginPart) -> list[dict[str, Any]]:
    return [_member(family, given) for given in family.more["members"]]


def _member(family: PluginPart, given: dict[str, Any]) -> dict[str, Any]:
    """A member as the core wants it. Where it does not say ``p``, and that is how many endpoints
    each switch carries, there may be more of them."""
    takes = {param["name"] for param in family.row["params"]}
    any_p = False
    if "p" in takes and "p" not in given:
        network = made(family, {**given, "p": 1})
        any_p = network.endpoints == network.switches and network.concentration == 1
    if not any_p:
        network = made(family, given)
    found = network.measure("structure")
    params = plugin_parameters(family.row, given)
    return {
        **{key: found[key] for key in FACTS}, "any_p": any_p, "params": params,
        "edge_switches": len(set(network.attachments[:, 0].tolist())),
    }
