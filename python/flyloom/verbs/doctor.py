"""What this machine offers of what flyloom can use but does not need."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from flyloom._core import __build__, __version__
from flyloom.deploy import plugin, tools
from flyloom.ranks import probe
from flyloom.support import process
from flyloom.support.errors import DeployError
from flyloom.support.extras import EXTRAS, absent
from flyloom.support.verb_results import Diagnosis

CHECK = "flyloom-check"
"""The program of libflyloom that tries its transports."""


def doctor() -> Diagnosis:
    """What this machine offers of what flyloom can use but does not need, and how to get the rest.

    Each MPI is tried: the small library around it is built, and two ranks are started that find
    one another.

    Fields: ``version``; ``build`` of the core, ``release`` or ``dev``; ``programs`` of the fabric
    stage (``name``, ``path``, ``package``) and whether they are ``complete``; ``extras``
    (``extra``, ``use``, ``absent``); ``plugin`` of OpenSM (``built``, ``can_be_built``,
    ``sources``, ``what``); ``mpi``, one row for each MPI (``mpicc``, ``mpiexec``, ``library``,
    ``works``, ``why`` it does not and the ``remedy``); ``runtime``: the path of ``flyloom-check``
    in PATH (``program``), ``why`` it says nothing, and what it says of each transport of
    libflyloom (``transports``).
    """
    found = tools.check()
    return Diagnosis({
        "version": __version__,
        "build": __build__,
        "programs": [
            {"name": name, "path": str(path) if path else None, "package": package}
            for name, path, package in found
        ],
        "complete": all(path for _, path, _ in found),
        "extras": [
            {"extra": name, "use": use, "absent": absent(name)} for name, (_, use) in EXTRAS.items()
        ],
        "plugin": _plugin(),
        "mpi": probe.found(),
        "runtime": _runtime(),
    })


def _runtime() -> dict[str, Any]:
    """What libflyloom's own program says of its transports, where it is installed."""
    program = shutil.which(CHECK)
    found: dict[str, Any] = {"program": program, "why": None, "transports": []}
    if program is None:
        return {**found, "why": f"no {CHECK} in PATH; docs/runtime.md says how it is built"}
    try:
        printed = process.run([program, "--json"], cwd=Path.cwd(), timeout_s=120, ok_codes=(0, 1))
        return {**found, "transports": json.loads(printed)["transports"]}
    except (DeployError, ValueError, KeyError, TypeError) as error:
        return {**found, "why": f"{program}: {error}"}


def _plugin() -> dict[str, Any]:
    """Whether OpenSM's plug-in is built, or can be built here."""
    try:
        sources = str(plugin.source_dir())
        built = plugin.built()
        for name in ("cc", "opensm headers", "umad headers"):
            tools.path(name)
    except DeployError as error:
        return {"built": None, "can_be_built": False, "sources": None, "what": str(error)}
    what = f"is built when it is first used, from {sources}"
    return {"built": str(built) if built else None, "can_be_built": True, "sources": sources,
            "what": what}
