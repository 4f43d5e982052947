"""The error of everything that touches a fabric."""


class DeployError(Exception):
    """A fabric, a tool or OpenSM did not do what was asked; the message says what to do."""
