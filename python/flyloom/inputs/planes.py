"""Several discovered fabrics as the planes of one network: a host has a rail in each."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flyloom._core import RefusalError, Topology
from flyloom.support.notes import once


def as_planes(parts: Sequence[tuple[Path, Topology]]) -> Topology:
    """One network of the networks, in their order; endpoints with one host's name are one.

    A host that a plane lacks has no rail there. RefusalError for one that a plane has twice.
    """
    if len(parts) < 2:
        raise RefusalError("planes: fewer than two files; write file:planes=A+B")
    documents = [json.loads(topology.to_text("json")) for _, topology in parts]
    named = Counter(switch["name"] for of in documents for switch in of["switches"])
    switches: list[dict[str, Any]] = []
    links: list[list[Any]] = []
    rails: dict[str, dict[str, Any]] = {}
    for plane, ((path, topology), of) in enumerate(zip(parts, documents, strict=True)):
        if topology.planes > 1:
            raise RefusalError(f"planes: {path} has {topology.planes} planes itself; one each")
        first = len(switches)
        for switch in of["switches"]:
            name = switch["name"]
            own = f"{name} plane {plane}" if named[name] > 1 else name
            switches.append({**switch, "name": own, "plane": plane})
        links += [[a + first, p, b + first, q, cable] for a, p, b, q, cable in of["links"]]
        hosts = [_host(endpoint["name"]) for endpoint in of["endpoints"]]
        times = Counter(hosts)
        for host, endpoint in zip(hosts, of["endpoints"], strict=True):
            if times[host] > 1:
                asked = of["recipe"]["params"].get("adapters")
                help_ = "hosts of different names" if asked in ("joined", "first") else (
                    "--adapters joined or first, or a name as in mlx5_0"
                )
                raise RefusalError(f"planes: {path} has several endpoints of host {host}; {help_}")
            known = rails.setdefault(
                host, {"name": host, "guid": endpoint.get("guid"), "rails": []}
            )
            for rail in endpoint["rails"]:
                address = dict(rail[3] or {}) if len(rail) > 3 else {}
                address = {key: address[key] for key in ("port_guid",) if key in address}
                address["rail"] = len(known["rails"])
                cable = rail[2] if len(rail) > 2 else None
                known["rails"].append([rail[0] + first, rail[1], cable, address])
    of_hosts = {
        host: {switches[rail[0]]["plane"] for rail in known["rails"]}
        for host, known in rails.items()
    }
    few = [host for host, own in of_hosts.items() if len(own) < len(parts)]
    if few:
        once(f"planes: {len(few)} of {len(rails)} hosts are not in every plane, as {few[0]}; a host"
             " is known by the first word of its name")
    document = {
        "flyloom": 1,
        "recipe": {
            "family": "file", "params": {"planes": "+".join(str(path) for path, _ in parts)},
        },
        "switches": [{key: v for key, v in s.items() if key != "lid"} for s in switches],
        "links": links,
        "endpoints": list(rails.values()),
    }
    return Topology.from_text(json.dumps(document), "planes", None)


def _host(name: str) -> str:
    """The host that an endpoint's name begins with."""
    return name.split()[0] if name.split() else name
