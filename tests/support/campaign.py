"""How often a test repeats what it does: few times in the suite, many times in a campaign."""

import os
from typing import TypeVar

Much = TypeVar("Much")


def count(suite: Much, campaign: Much) -> Much:
    """``suite`` in `make test`, ``campaign`` in `make campaign`: the same code, larger counts, or
    more cases."""
    return campaign if os.environ.get("FLYLOOM_CAMPAIGN") else suite
