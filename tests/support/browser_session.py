"""A Chromium that opens many pages in turn, in windows of any size, light and dark.

`browser.py` starts one for each page; here commands and answers go through two pipes, as JSON of
the DevTools protocol, each ended by a zero byte.
"""

from __future__ import annotations

import base64
import json
import os
import select
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from browser import FLAGS, find


class Session:
    """One page of a headless Chromium; `with` ends it."""

    def __init__(self) -> None:
        program = find()
        if program is None:
            raise RuntimeError("no Chromium is installed")
        self._home = tempfile.TemporaryDirectory(prefix="flyloom-browser-")
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()

        def pipes() -> None:  # the browser has them as 3 and 4
            one, other = os.dup(to_browser), os.dup(from_browser)
            os.dup2(one, 3)
            os.dup2(other, 4)

        self._process = subprocess.Popen(
            [program, *FLAGS, "--remote-debugging-pipe", f"--user-data-dir={self._home.name}",
             "about:blank"],
            preexec_fn=pipes, close_fds=False, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self._rest, self._number, self._page = b"", 0, ""
        self.messages: list[str] = []
        target = self._call("Target.createTarget", {"url": "about:blank"})["targetId"]
        self._page = self._call("Target.attachToTarget", {"targetId": target, "flatten": True})[
            "sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._call(f"{domain}.enable")

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._write)
        os.close(self._read)
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(timeout=30)
        self._home.cleanup()

    def window(self, width_px: int, height_px: int, *, dark: bool) -> None:
        """What pages that are opened from now on have: a window of this size, and a theme."""
        self._call("Emulation.setDeviceMetricsOverride", {
            "width": width_px, "height": height_px, "deviceScaleFactor": 1, "mobile": False})
        self._call("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def open(self, url: str, *, limit_s: float = 60) -> list[str]:
        """Open a page, wait until it is loaded; return all that its console says."""
        self.messages.clear()
        self._loaded = False
        self._call("Page.navigate", {"url": url})
        self._until(lambda: self._loaded, limit_s)
        return self.messages

    def value(self, script: str) -> Any:
        """What an expression of JavaScript is worth on the page, a promise when it is kept."""
        found = self._call("Runtime.evaluate", {
            "expression": script, "returnByValue": True, "awaitPromise": True})
        if "exceptionDetails" in found:
            raise RuntimeError(json.dumps(found["exceptionDetails"])[:2000])
        return found["result"].get("value")

    def picture(self, png: Path, *, whole: bool = False) -> None:
        """Write what the page shows, or all of it, as PNG."""
        found = self._call("Page.captureScreenshot", {"captureBeyondViewport": whole})
        png.write_bytes(base64.b64decode(found["data"]))

    def _call(self, method: str, params: dict | None = None, limit_s: float = 60) -> dict:
        self._number += 1
        number = self._number
        message: dict[str, Any] = {"id": number, "method": method, "params": params or {}}
        if self._page:
            message["sessionId"] = self._page
        os.write(self._write, json.dumps(message).encode() + b"\0")
        self._answer: dict | None = None
        self._until(lambda: (self._answer or {}).get("id") == number, limit_s)
        assert self._answer is not None
        if "error" in self._answer:
            raise RuntimeError(f"{method}: {self._answer['error']}")
        return self._answer["result"]

    def _until(self, done: Any, limit_s: float) -> None:
        end = time.monotonic() + limit_s
        while not done():
            ready, _, _ = select.select([self._read], [], [], max(0, end - time.monotonic()))
            piece = os.read(self._read, 1 << 20) if ready else b""
            if not piece:
                raise RuntimeError("Chromium does not answer")
            *whole, self._rest = (self._rest + piece).split(b"\0")
            for text in whole:
                self._heard(json.loads(text))

    def _heard(self, message: dict) -> None:
        params = message.get("params", {})
        match message.get("method"):
            case None:
                self._answer = message
            case "Page.loadEventFired":
                self._loaded = True
            case "Runtime.consoleAPICalled" if params["type"] in ("error", "warning", "assert"):
                self.messages.append(" ".join(str(a.get("value")) for a in params["args"]))
            case "Runtime.exceptionThrown":
                self.messages.append(json.dumps(params["exceptionDetails"])[:500])
            case "Log.entryAdded" if params["entry"]["level"] in ("error", "warning"):
                self.messages.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")
