"""Files of others, which may not be copied into this repository: tests that need them are skipped
where they are not beside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from checkout import ROOT

BESIDE = ROOT.parent / "shared" / "data" / "external"
EXTERNAL = Path(os.environ.get("FLYLOOM_EXTERNAL", BESIDE))
AMG = EXTERNAL / "amg_n27_dumpi"
needs_amg = pytest.mark.skipif(not AMG.is_dir(), reason=f"the trace of AMG is not at {AMG}")
