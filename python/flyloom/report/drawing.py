"""Pictures of charts, drawn by a child process: what draws them takes tens of gigabytes of address
space, and ends the whole process where it does not get them.

``python -m flyloom.report.drawing`` is that process. It reads a line of JSON for each picture,
``[form, picture]``, and answers each with a line: ``{"text": ...}``, ``{"base64": ...}`` or
``{"error": ...}``. A picture is a Vega-Lite specification, or the text of an SVG.
"""

from __future__ import annotations

import atexit
import base64
import json
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from flyloom.report.pdf_order import in_order
from flyloom.support.errors import DeployError

LIMIT_S = 300.0
"""The longest that one picture may take."""


class DrawingError(DeployError):
    """Charts cannot be drawn here; says why in one line."""


class _DrawingProcess:
    """The process that draws, from the first picture on."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.of_pid = 0

    def ask(self, question: bytes) -> bytes:
        """The answer to one line; DrawingError where the process ends or takes too long."""
        from flyloom.support.process import python, spawn

        if self.process is None or self.of_pid != os.getpid():
            paths = [str(Path(__file__).resolve().parents[2]), os.environ.get("PYTHONPATH", "")]
            try:
                self.process = spawn(
                    python("flyloom.report.drawing"), cwd=Path.cwd(),
                    env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                )
            except (DeployError, OSError, RuntimeError, MemoryError) as why:
                raise DrawingError(f"charts cannot be drawn: {why}") from None
            self.of_pid = os.getpid()
            atexit.register(self.end)
        answered = False
        try:
            answer = _exchange(self.process, question)
            answered = True
        finally:
            if not answered:
                self.end()
        return answer

    def end(self) -> None:
        """Ends the process, if it is ours."""
        process, self.process = self.process, None
        if process is None or self.of_pid != os.getpid():
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                pipe.close()


def _exchange(process: subprocess.Popen[bytes], question: bytes) -> bytes:
    questions, answers = process.stdin, process.stdout
    assert questions is not None and answers is not None, "pipes by spawn"
    try:
        questions.write(question)
        questions.flush()
    except BrokenPipeError:
        raise _ended(process) from None
    parts: list[bytes] = []
    while not parts or not parts[-1].endswith(b"\n"):
        if not select.select([answers], [], [], LIMIT_S)[0]:
            raise DrawingError(f"charts cannot be drawn: no picture within {LIMIT_S:g} s")
        part = os.read(answers.fileno(), 1 << 20)
        if not part:
            raise _ended(process)
        parts.append(part)
    return b"".join(parts)


def _ended(process: subprocess.Popen[bytes]) -> DrawingError:
    code = process.wait()
    how = f"by {signal.Signals(-code).name}" if code < 0 else f"with code {code}"
    return DrawingError(
        f"charts cannot be drawn: the program that draws ended {how};"
        " it takes 64 GiB of address space (ulimit -v)"
    )


_child = _DrawingProcess()


def svg_text(spec: Mapping[str, Any]) -> str:
    """The Vega-Lite specification as the text of an SVG picture; raises as :func:`_draw`."""
    return str(_draw("svg", spec)["text"])


def png_bytes(picture: Mapping[str, Any] | str) -> bytes:
    """The Vega-Lite specification, or the SVG, as a PNG picture; raises as :func:`_draw`."""
    return base64.b64decode(_draw("png", picture)["base64"])


def pdf_bytes(picture: Mapping[str, Any] | str) -> bytes:
    """The Vega-Lite specification, or the SVG, as a page of PDF as large as it is: lines and text,
    with the fonts in it; raises as :func:`_draw`."""
    return in_order(base64.b64decode(_draw("pdf", picture)["base64"]))


def _draw(form: str, spec: Mapping[str, Any] | str) -> dict[str, str]:
    """The child's answer to a picture that it is to draw.

    Raises ``ValueError`` for what is no specification, ``DrawingError`` where it cannot be drawn.
    """
    answer: dict[str, str] = json.loads(_child.ask(json.dumps([form, spec]).encode() + b"\n"))
    if "missing" in answer:
        raise ImportError(answer["missing"])
    if "error" in answer:
        raise ValueError(answer["error"])
    return answer


def main() -> None:
    """Draws what standard input asks for, to its end."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # anything that the library prints is no answer
    for line in sys.stdin:
        answers.write(json.dumps(_drawn(*json.loads(line))) + "\n")
        answers.flush()


def _drawn(form: str, picture: dict[str, Any] | str) -> dict[str, str]:
    try:
        import vl_convert  # heavy: it carries a JavaScript engine
    except ImportError as why:
        return {"missing": str(why)}
    try:
        svg = picture if isinstance(picture, str) else _svg_of_spec(picture)
        if form == "svg":
            return {"text": svg}
        drawn = (vl_convert.svg_to_pdf(svg) if form == "pdf"
                 else vl_convert.svg_to_png(svg, scale=2))
        return {"base64": base64.b64encode(drawn).decode()}
    except ValueError as why:
        return {"error": str(why)}


def _svg_of_spec(spec: Mapping[str, Any]) -> str:
    """The SVG of a specification; with a background it is that without, and a rectangle below."""
    svg = _svg_of(json.dumps({key: value for key, value in spec.items() if key != "background"}))
    if "background" not in spec:
        return svg
    size = re.match(r'<svg[^>]* width="([\d.]+)" height="([\d.]+)"[^>]*>', svg)
    assert size is not None, "an SVG of Vega says how large it is"
    colour = quoteattr(str(spec["background"]))
    below = f'<rect width="{size[1]}" height="{size[2]}" fill={colour}/>'
    return svg[:size.end()] + below + svg[size.end():]


@lru_cache(maxsize=64)
def _svg_of(spec: str) -> str:
    """The SVG of a specification; drawn once, for a page and for files of several kinds."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(json.loads(spec), allowed_base_urls=[]))


if __name__ == "__main__":
    main()
