"""Builds the two small C programs of a deployment: OpenSM's plug-in and the bulk reader."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from flyloom.support import process
from flyloom.support.errors import DeployError
from flyloom.support.files import scratch

from . import tools

ENGINE = "flyloom"
"""Name of the routing engine that the plug-in registers."""

EVENT_PLUGIN = "flyloom_opensm"
"""OpenSM's ``event_plugin_name``: the library is lib<name>.so."""

_FLAGS = ["-std=c11", "-O2", "-Wall", "-Wextra", "-fvisibility=hidden"]
_PLUGIN_SOURCES = ["plugin.c", "tables.c", "tables_store.c"]
_READER_SOURCES = ["readback.c"]
_HEADERS = ["tables.h", "tables_store.h"]


def source_dir() -> Path:
    """The folder with the C sources: inside the package, or beside it in the repository."""
    here = Path(__file__).resolve()
    for place in (here.parent / "_c", here.parents[3] / "runtime" / "opensm"):
        if (place / "plugin.c").is_file():
            return place
    raise DeployError(
        "the C sources of the OpenSM plug-in are missing: they belong to "
        f"{here.parent / '_c'} or runtime/opensm of the repository"
    )


def opensm_version() -> str:
    """OpenSM's version in the installed headers, as ``OpenSM 3.3.23``; the plug-in needs the same
    OpenSM to run in. DeployError when the headers are absent."""
    header = Path(tools.path("opensm headers")).parent / "osm_version.h"
    found = re.search(r'#define\s+OSM_VERSION\s+"([^"]+)"', header.read_text())
    if not found:
        raise DeployError(f"{header} does not tell OpenSM's version: reinstall libopensm-dev")
    return found.group(1)


def compile_c(sources: list[str], out: Path, flags: list[str]) -> Path:
    """Compile files of source_dir() to ``out``; DeployError with the compiler's words."""
    folder, out = source_dir(), out.absolute()  # the compiler runs in another folder
    compiler = tools.path("cc")
    out.parent.mkdir(parents=True, exist_ok=True)
    with scratch(out.parent) as place:
        fresh = place / out.name
        files = [str(folder / name) for name in sources]
        process.run([compiler, *files, "-o", str(fresh), *flags], cwd=folder, timeout_s=120)
        os.replace(fresh, out)  # atomic: two builds at once do no harm
    return out


def build(dest_dir: Path | str) -> Path:
    """Build libflyloom_opensm.so in ``dest_dir`` and return its path.

    DeployError names the package to install when the compiler or OpenSM's headers are absent.
    """
    include = Path(tools.path("opensm headers")).parents[1]
    flags = [*_FLAGS, "-shared", "-fPIC", "-isystem", str(include)]
    return compile_c(_PLUGIN_SOURCES, Path(dest_dir) / f"lib{EVENT_PLUGIN}.so", flags)


def build_reader(dest_dir: Path | str) -> Path:
    """Build the program flyloom-readback in ``dest_dir`` and return its path; errors as build."""
    tools.path("umad headers")
    return compile_c(_READER_SOURCES, Path(dest_dir) / "flyloom-readback", [*_FLAGS, "-libumad"])


def _cache_dir(names: list[str], version: str) -> Path:
    digest = hashlib.sha256(version.encode())
    for name in names:
        digest.update(name.encode() + b"\0" + (source_dir() / name).read_bytes() + b"\0")
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "flyloom" / f"opensm-{digest.hexdigest()[:16]}"


def path() -> Path:
    """The built plug-in, from the user's cache; built first when the sources or OpenSM's version
    changed since."""
    place = _cache_dir(_PLUGIN_SOURCES + _HEADERS, opensm_version())
    library = place / f"lib{EVENT_PLUGIN}.so"
    return library if library.is_file() else build(place)


def built() -> Path | None:
    """The built plug-in in the user's cache, None where it is not built yet; builds nothing.

    DeployError when OpenSM's headers are absent.
    """
    library = _cache_dir(_PLUGIN_SOURCES + _HEADERS, opensm_version()) / f"lib{EVENT_PLUGIN}.so"
    return library if library.is_file() else None


def reader_path() -> Path:
    """The built bulk reader, from the user's cache, as path()."""
    place = _cache_dir(_READER_SOURCES, "umad 3")
    program = place / "flyloom-readback"
    return program if program.is_file() else build_reader(place)
