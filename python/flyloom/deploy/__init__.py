"""Fabrics for real: ibsim, OpenSM with our tables, reading back, an independent checker.

Everything here drives external programs (tools.check() says which) and needs only the standard
library. Errors are DeployError.
"""

from .errors import DeployError
from .ibsim import Ibsim
from .opensm import OpenSM, guid2lid_text

__all__ = ["DeployError", "Ibsim", "OpenSM", "guid2lid_text"]
