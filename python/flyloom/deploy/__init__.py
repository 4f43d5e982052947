"""Fabrics for real: ibsim, OpenSM with our tables, reading back, an independent checker.

Everything here drives external programs (tools.check() says which). Errors are DeployError. The
package is a verb, too: ``flyloom.deploy(routing, topology=network)`` is
:func:`flyloom.deploy.fabric.deploy`.
"""

import sys
import types

from .errors import DeployError
from .ibsim import Ibsim
from .opensm import OpenSM, guid2lid_text

__all__ = ["DeployError", "Ibsim", "OpenSM", "guid2lid_text"]


class _Verb(types.ModuleType):
    """Python binds ``flyloom.deploy`` to this package when anything in it is imported."""

    def __call__(self, routing, *, topology, oracle=False, say=None):
        """Loads tables into OpenSM and reads them back: see flyloom.deploy.fabric.deploy."""
        from .fabric import deploy

        return deploy(routing, topology=topology, oracle=oracle, say=say)


sys.modules[__name__].__class__ = _Verb
