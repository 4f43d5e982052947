"""How often a test repeats what it does: few times in the suite, many times in a campaign."""

import os


def count(suite: int, campaign: int) -> int:
    """``suite`` in `make test`, ``campaign`` in `make campaign`: the same code, larger counts."""
    return campaign if os.environ.get("FLYLOOM_CAMPAIGN") else suite
