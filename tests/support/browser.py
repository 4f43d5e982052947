"""A headless Chromium for tests: what a page shows, what it complains of, what it looks like.

Tests carry the mark ``NEEDS``, which skips them where none is installed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars",
)
"""What every Chromium of the tests is started with."""
_CONSOLE = re.compile(r'[A-Z]+:CONSOLE[:(]\d+[)]?\]\s*(.*)')


def find() -> str | None:
    """The path of a Chromium or Chrome, or ``None`` when none is installed."""
    for name in ("chromium", "chromium-browser", "google-chrome", "chrome"):
        found = shutil.which(name)
        if found:
            return found
    return None


NEEDS = pytest.mark.skipif(find() is None, reason="no Chromium is installed: an optional package")
"""The mark of tests that open a page."""


def dump_dom(
    path: Path, *, after_ms: int = 0, width_px: int = 0, timeout_s: float = 60
) -> tuple[str, list[str]]:
    """Open a local page, in a window of this width if one is given; return its document as text
    and all console messages.

    With ``after_ms`` the document is that of this time after the page began, by the browser's own
    clock, which goes on as soon as there is nothing to do: a slow machine changes nothing.

    A message is a script's or the page's own (a failed load, a refused resource): a page without
    scripts should have none. Raises ``RuntimeError`` when the browser fails, with its last words.
    """
    clock = [f"--virtual-time-budget={after_ms}"] if after_ms else []
    wide = [f"--window-size={width_px},1000"] if width_px else []
    out = _run([*clock, *wide, "--dump-dom"], path, timeout_s)
    return out.stdout, _CONSOLE.findall(out.stderr)


def screenshot(path: Path, png: Path, *, width_px: int = 1200, height_px: int = 1600,
               timeout_s: float = 60) -> None:
    """Open a local page in a window of this size and write what it shows to ``png``."""
    arguments = [f"--screenshot={Path(png).resolve()}", f"--window-size={width_px},{height_px}"]
    _run(arguments, path, timeout_s)
    if not Path(png).exists():
        raise RuntimeError(f"chromium wrote no {png}")


def printed(path: Path, pdf: Path, *, timeout_s: float = 60) -> None:
    """Print a local page, as it asks to be printed, into ``pdf``."""
    _run(["--no-pdf-header-footer", f"--print-to-pdf={Path(pdf).resolve()}"], path, timeout_s)
    if not Path(pdf).exists():
        raise RuntimeError(f"chromium wrote no {pdf}")


def _run(arguments: list[str], path: Path, timeout_s: float) -> subprocess.CompletedProcess:
    program = find()
    if program is None:
        raise RuntimeError("no Chromium is installed")
    with tempfile.TemporaryDirectory(prefix="flyloom-browser-") as home:
        command = [program, *FLAGS, "--enable-logging=stderr", f"--user-data-dir={home}",
                   *arguments, Path(path).resolve().as_uri()]
        out = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace",
                             timeout=timeout_s, check=False)
    if out.returncode != 0:
        raise RuntimeError(f"chromium ended with {out.returncode}: {out.stderr[-2000:]}")
    return out
