"""Where things are in this checkout."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DATA = ROOT / "tests" / "data"
PROGRAMS = ROOT / "tests" / "programs"
"""Programs in C and Fortran that tests build, and the remote shell that stays here."""
