"""OpenSM's own routing engines, by name."""

from __future__ import annotations

from flyloom._core import RefusalError

OPENSM_ENGINES = (
    "minhop", "updn", "dnup", "ftree", "lash", "dor", "torus-2QoS", "nue", "dfsssp", "sssp",
)
"""OpenSM's engines that need no file, by its manual page."""


def known_to_opensm(engine: str) -> None:
    """RefusalError where OpenSM has no engine of the name ``opensm:NAME``."""
    if engine.removeprefix("opensm:") not in OPENSM_ENGINES:
        known = ", ".join(f"opensm:{name}" for name in OPENSM_ENGINES)
        raise RefusalError(f"engine: OpenSM has no '{engine}'; {known}")
