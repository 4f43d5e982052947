"""Progress bars for people: on a terminal, on standard error, after two seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE_S = 2.0
"""Work shorter than this shows no bar."""


@contextmanager
def bars() -> Iterator:
    """Yields a callback ``(what, done, total)`` for long calls, None where nobody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    bar = _Bar()
    try:
        yield bar.tick
    finally:
        bar.close()


class _Bar:
    def __init__(self) -> None:
        self.progress = None
        self.task = None
        self.what = ""
        self.began = 0.0

    def tick(self, what: str, done: int, total: int) -> None:
        """Shows that ``done`` of ``total`` units of the stage ``what`` are finished."""
        now = time.monotonic()
        if what != self.what:
            self.close()
            self.what, self.began = what, now
        if now - self.began < PATIENCE_S:
            return
        if self.progress is None:
            from rich.console import Console
            from rich.progress import Progress

            self.progress = Progress(console=Console(stderr=True), transient=True)
            self.progress.start()
            self.task = self.progress.add_task(what, total=total)
        self.progress.update(self.task, completed=done, total=total)

    def close(self) -> None:
        """Takes the bar away."""
        if self.progress is not None:
            self.progress.stop()
        self.progress, self.task, self.what = None, None, ""
