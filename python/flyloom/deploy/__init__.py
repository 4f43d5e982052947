"""Fabrics for real: ibsim, OpenSM with our tables, reading back, an independent checker.

Everything here drives external programs (tools.check() says which). Errors are DeployError. The
package is a verb, too: ``flyloom.deploy(routing, topology=network)`` is
:func:`flyloom.deploy.fabric.deploy`.
"""

from __future__ import annotations

import sys
import types
from typing import TYPE_CHECKING

from flyloom.support.errors import DeployError

from .ibsim import Ibsim
from .opensm import OpenSM, guid2lid_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from flyloom._core import Routing, Topology
    from flyloom.support.progress import Progress
    from flyloom.support.verb_results import Deployment

__all__ = ["DeployError", "Ibsim", "OpenSM", "guid2lid_text"]


class CallableDeployModule(types.ModuleType):
    """Python binds ``flyloom.deploy`` to this package when anything in it is imported."""

    if TYPE_CHECKING:
        DeployError: type[DeployError]
        Ibsim: type[Ibsim]
        OpenSM: type[OpenSM]

    def __call__(
        self, routing: Routing, *, topology: Topology | None = None, oracle: bool = False,
        say: Callable[[str], None] | None = None, progress: Progress | None = None,
    ) -> Deployment:
        """Loads tables into OpenSM and reads them back: see flyloom.deploy.fabric.deploy."""
        from .fabric import deploy

        return deploy(routing, topology=topology, oracle=oracle, say=say, progress=progress)


sys.modules[__name__].__class__ = CallableDeployModule
