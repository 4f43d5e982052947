"""The error of everything that touches a fabric, and faults of flyloom's own."""

from __future__ import annotations

from flyloom._core import FaultError


class DeployError(Exception):
    """A fabric, a tool or OpenSM did not do what was asked; the message says what to do."""


def fault_of(error: BaseException) -> FaultError | None:
    """The fault that an exception stands for, where the core has panicked: in a thread of its own
    it is a `FaultError` already; in a call that Python made it is PyO3's, which is no `Exception`.
    """
    if isinstance(error, FaultError):
        return error
    if type(error).__name__ == "PanicException":
        return FaultError(f"flyloom has a fault: {error}; please report it with the command and its"
                          " input")
    return None
