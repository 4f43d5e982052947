"""Fabrics for real: ibsim, OpenSM with our tables, reading back, an independent checker.

Everything here drives external programs (tools.check() says which) and needs only the standard
library. Errors are DeployError.
"""

from __future__ import annotations

import sys
import types
from typing import Any

from .errors import DeployError
from .ibsim import Ibsim
from .opensm import OpenSM, guid2lid_text

__all__ = ["DeployError", "Ibsim", "OpenSM", "guid2lid_text"]


class _Package(types.ModuleType):
    """This package, callable as the verb ``flyloom.deploy``: an import binds that name to the
    package, whatever was there before."""

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Calls :func:`flyloom.deploy.fabric.deploy`."""
        from flyloom.deploy.fabric import deploy

        return deploy(*given, **named)


sys.modules[__name__].__class__ = _Package
