"""The paths of this checkout."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
DATA = ROOT / "tests" / "data"
PROGRAMS = ROOT / "tests" / "programs"
"""Programs in C and Fortran that tests build, and the remote shell that stays here."""


def shared(factory: pytest.TempPathFactory, name: str) -> Path:
    """A folder that all processes of a run of tests have, for what is found or built once."""
    own = factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / name
    folder.mkdir(exist_ok=True)
    return folder
