"""The optional programs that a deployment needs: which are here, and how to get the rest."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from flyloom.support.errors import DeployError

_PROGRAMS = [  # (name, Debian package)
    ("ibsim", "ibsim-utils"),
    ("opensm", "opensm"),
    ("ibnetdiscover", "infiniband-diags"),
    ("dump_fts", "infiniband-diags"),
    ("smpquery", "infiniband-diags"),
    ("saquery", "infiniband-diags"),
    ("ibdmchk", "ibutils"),
    ("cc", "gcc"),
]
_FILES = [  # (name, places below a prefix, Debian package)
    ("umad2sim library", "lib*/**/umad2sim/libumad2sim.so", "ibsim-utils"),
    ("opensm headers", "include/infiniband/opensm/osm_opensm.h", "libopensm-dev"),
    ("umad headers", "include/infiniband/umad.h", "libibumad-dev"),
]
_PREFIXES = [Path("/usr"), Path("/usr/local")]
_SBIN = "/usr/local/sbin:/usr/sbin:/sbin"


def _find_program(name: str) -> Path | None:
    found = shutil.which(name, path=os.environ.get("PATH", os.defpath) + ":" + _SBIN)
    return Path(found) if found else None


def _find_file(pattern: str) -> Path | None:
    for prefix in _PREFIXES:
        if "*" not in pattern:
            hits = [prefix / pattern] if (prefix / pattern).exists() else []
        else:  # lib/x86_64-linux-gnu, lib64, lib: two levels are enough, and quick
            name = pattern.split("**/")[1]
            hits = sorted(prefix.glob("lib*/" + name)) or sorted(prefix.glob("lib*/*/" + name))
        if hits:
            return hits[0]
    return None


def check() -> list[tuple[str, Path | None, str]]:
    """(name, where it was found or None, Debian package that has it) of every tool."""
    found = [(name, _find_program(name), package) for name, package in _PROGRAMS]
    return found + [(name, _find_file(where), package) for name, where, package in _FILES]


def path(name: str) -> str:
    """Where a tool is; DeployError names the package to install when it is not here."""
    for known, found, package in check_one(name):
        if found is None:
            raise DeployError(f"{known} is not here: apt-get install {package}")
        return str(found)
    raise DeployError(f"no tool is called {name}")


def check_one(name: str) -> list[tuple[str, Path | None, str]]:
    """As check(), of the one tool called ``name``; empty when none is."""
    for known, package in _PROGRAMS:
        if known == name:
            return [(known, _find_program(known), package)]
    for known, where, package in _FILES:
        if known == name:
            return [(known, _find_file(where), package)]
    return []


def missing() -> list[tuple[str, str]]:
    """(name, Debian package) of the tools that are not here; empty when all are."""
    return [(name, package) for name, found, package in check() if found is None]
