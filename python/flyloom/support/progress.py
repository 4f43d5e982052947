"""How far long work is, on standard error: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from flyloom.support import ending
from flyloom.support.machine import duration
from flyloom.support.words import clean, moves, unguarded

if TYPE_CHECKING:
    import rich.progress

Progress = Callable[[str, int, int], None]
"""What long work calls with ``(what, done, total)``."""

PATIENCE_S = 2.0
"""Work shorter than this shows no bar."""
REFRESH_S = 0.1
"""How often a bar is drawn."""
FIRST_LINE_S = 30.0
"""Work shorter than this writes no line where there is no terminal."""
LINES_S = 60.0
"""How often a line is written there."""
FOREVER_S = 1e9


@contextmanager
def bars() -> Iterator[Progress]:
    """Yields a callback ``(what, done, total)`` for long calls, which shows how far they are: as a
    bar, or as a line after half a minute and then each minute where standard error is no terminal.
    """
    if not moves(sys.stderr):
        yield _ProgressLines().tick
        return
    bar = _ProgressBar()
    try:
        yield bar.tick
    finally:
        bar.close()


class _ProgressLines:
    """Progress where there is no terminal: lines on standard error, with the time that is left."""

    def __init__(self) -> None:
        self.next = time.monotonic() + FIRST_LINE_S
        self.what, self.began = "", 0.0

    def tick(self, what: str, done: int, total: int) -> None:
        """Says how far work is, where it has said nothing for a while."""
        now = time.monotonic()
        if what != self.what:
            self.what, self.began = what, now
        if now < self.next or not 0 < done < total:
            return
        self.next = now + LINES_S
        left = duration((now - self.began) * (total - done) / done)
        print(f"flyloom: {clean(what)}: {done:,} of {total:,}, {done / total:.0%},"
              f" about {left} left", file=sys.stderr, flush=True)


class _ProgressBar:
    def __init__(self) -> None:
        self.bar: rich.progress.Progress | None = None
        self.task: rich.progress.TaskID | None = None
        self.what = ""
        self.began = self.shown = 0.0

    def tick(self, what: str, done: int, total: int) -> None:
        """Shows that ``done`` of ``total`` units of the stage ``what`` are finished."""
        now = time.monotonic()
        if what != self.what:
            self.close()
            self.what, self.began = what, now
        if now - self.began < PATIENCE_S:
            return
        if self.bar is None or self.task is None:
            from rich.console import Console
            from rich.markup import escape
            from rich.progress import Progress

            # no thread of its own, so that workers can be forked; the time left is estimated from
            # all work done
            self.bar = Progress(
                console=Console(file=unguarded(sys.stderr)), transient=True, auto_refresh=False,
                speed_estimate_period=FOREVER_S,
            )
            ending.before_the_line = b"\r\x1b[2K\x1b[?25h"  # no bar, and a cursor again
            self.bar.start()
            self.task = self.bar.add_task(escape(clean(what)), total=total)
        self.bar.update(self.task, completed=done, total=total)
        if now - self.shown > REFRESH_S:
            self.shown = now
            self.bar.refresh()

    def close(self) -> None:
        """Takes the bar away."""
        if self.bar is not None:
            self.bar.stop()
            ending.before_the_line = b""
        self.bar, self.task, self.what = None, None, ""
