"""How the scripts beside this one keep what was measured."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def keep(path: Path, known: Mapping[str, Sequence[Any]]) -> None:
    """Writes lists by their names, an entry a line."""
    texts = [
        f" {json.dumps(name)}: [\n  " + ",\n  ".join(map(json.dumps, known[name])) + "\n ]"
        for name in sorted(known)
    ]
    path.write_text("{\n" + ",\n".join(texts) + "\n}\n", encoding="utf-8")
