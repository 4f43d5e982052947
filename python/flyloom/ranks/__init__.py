"""The ranks of an MPI program: what started them, the libraries around MPI, who speaks for all."""

from .launched import is_silent, launched
from .team import ALONE, RankTeam, join

__all__ = ["ALONE", "RankTeam", "is_silent", "join", "launched"]
