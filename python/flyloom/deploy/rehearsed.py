"""Whether the simulated fabric is the planned one: what is not is a fault of the rehearsal.

ibsim may lack a device, a switch may not answer, OpenSM may give other LIDs or know no path where
the tables have one. Then nothing is known of the routes, and nothing is said of them: DeployError.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from flyloom._core import Routing
from flyloom.deploy import readback
from flyloom.deploy.snapshot import FabricSnapshot, imported
from flyloom.support.errors import DeployError

_UNKNOWN = "nothing is known of the routes"


def check_lids(
    planned: Mapping[int, readback.DiscoveredNode], found: Mapping[int, readback.DiscoveredNode]
) -> None:
    """DeployError where a device that was found has another LID than the planned one."""
    lids = dict(_lids(planned))
    for place, (name, lid) in _lids(found):
        if place in lids and lids[place][1] != lid:
            raise _strange(f"{name} has LID {lid}, not {lids[place][1]}")


def check_whole(
    planned: Mapping[int, readback.DiscoveredNode], found: Mapping[int, readback.DiscoveredNode]
) -> None:
    """DeployError where a device or a cable of the plan was not found."""
    lost = []
    for guid, node in planned.items():
        kind = "switch" if node.is_switch else "endpoint"
        if guid not in found:
            lost.append(f"{kind} {node.name}")
            continue
        there = found[guid].ports
        for port, far in node.ports.items():
            now = there.get(port)
            if far.far_guid in found and (
                now is None or (now.far_guid, now.far_port) != (far.far_guid, far.far_port)
            ):
                lost.append(f"the cable at port {port} of {kind} {node.name}")
    if lost:
        raise _strange(f"{_named(lost)} did not answer")


def check_tables(lfts: str, found: Mapping[int, readback.DiscoveredNode]) -> None:
    """DeployError where a switch has given no forwarding table, or not all of it: dump_fts goes on
    with the next one."""
    complete = dict(readback.tables_reported(lfts))
    lost = [found[guid].name for guid in readback.switches_of(found) if not complete.get(guid)]
    if lost:
        raise _strange(f"switch{'es' * (len(lost) > 1)} {_named(lost)} gave no forwarding table")


def routed(found: FabricSnapshot, lmc: int) -> Routing:
    """The tables read back from a fabric that is whole.

    Paths without a path record are a matter of the tables where these do not arrive, and then their
    lanes are left out; else of OpenSM's subnet administration: DeployError.
    """
    if not found.missing_levels:
        return imported(found, lmc)
    alone = imported(dataclasses.replace(found, levels=None, sl2vl=None), lmc)
    if alone.measure("verify")["complete"]["holds"]:
        raise DeployError(
            f"OpenSM has no path record of {found.missing_levels:,} paths, whose routes arrive by "
            f"the tables that were read back; {_UNKNOWN}"
        )
    return alone


def check_heard(unheard: str | None) -> None:
    """DeployError where OpenSM had no answer from a device (``OpenSM.unheard``): its tables may be
    those of a part of the fabric, and levels and lanes may not have come to a switch."""
    if unheard is not None:
        raise DeployError(f"OpenSM had no answer from a device: {unheard}; {_UNKNOWN}")


def _lids(
    nodes: Mapping[int, readback.DiscoveredNode],
) -> Iterator[tuple[tuple[int, int], tuple[str, Any]]]:
    """Node GUID and port number of everything that has a LID, with its name and LID; a switch has
    one of its port 0."""
    for node in nodes.values():
        if node.is_switch:
            yield (node.guid, 0), (f"switch {node.name}", node.lid)
        else:
            for number, port in node.ports.items():
                yield (node.guid, number), (f"endpoint {node.name}", port.lid)


def _named(lost: Sequence[str]) -> str:
    """The first of them, and how many more; both of two."""
    if len(lost) <= 2:
        return " and ".join(lost)
    return f"{lost[0]} and {len(lost) - 1:,} more"


def _strange(what: str) -> DeployError:
    return DeployError(f"the simulated fabric is not the planned one: {what}; {_UNKNOWN}")
