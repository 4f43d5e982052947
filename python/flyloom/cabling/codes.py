"""QR codes of labels: the cable's name and both its ends, to be read by any telephone."""

from __future__ import annotations

import functools

from flyloom._core import qr_code
from flyloom.cabling.model import Cable

LEAST_PT = 0.7
"""The smallest module that common printers and cameras manage, points: 0.25 mm."""
QUIET = 4
"""Modules that stay blank around a code."""


def said(cable: Cable) -> str:
    """The text in the code of a cable: its name and the labels of its ends, a line each."""
    return f"{cable.name}\n{cable.a.label}\n{cable.b.label}"


@functools.lru_cache(64)
def code(words: str) -> tuple[str, ...] | None:
    """The QR code of ``words``, a row of ``0`` and ``1`` (dark) for each row of modules; None
    where they are too many for one. Up to 15 % of it may be unreadable. O(words)."""
    made = qr_code(words)
    return None if made is None else tuple(made)
