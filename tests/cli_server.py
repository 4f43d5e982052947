"""Runs commands of flyloom one after the other, each in a fork that has everything loaded already:
most of what a short command takes is loading. With tests/faults.c preloaded the k-th change of the
file system fails.

`Server` is what tests use; the file itself is the program that it starts. A line of JSON asks:
`words`, `cwd`, `env` (the whole environment; left out, the server's), `limit_s`, `k` and `error`
(of faults_arm), `stdout` and `stderr` ("pipe", "full", "closed"). A line answers: `code` (minus the
signal that ended it; null where it was killed at its limit), `out`, `err`, `count` of changes.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


class Server:
    """The program, started; use as a context manager, or close it."""

    def __init__(self, environment: dict[str, str], faults: Path | None = None) -> None:
        """In `faults`, a folder, the library of failing disks is built and preloaded."""
        environment = {**environment, "PYTHONDONTWRITEBYTECODE": "1"}
        if faults:
            library = faults / "faults.so"
            subprocess.run(["cc", "-std=gnu11", "-O1", "-shared", "-fPIC", HERE / "faults.c", "-o",
                            library, "-ldl"], check=True)
            environment |= {"LD_PRELOAD": str(library), "TMPDIR": str(faults)}
        self.child = subprocess.Popen([sys.executable, __file__], env=environment, text=True,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_why: object) -> None:
        self.close()

    def close(self) -> None:
        """End the program; a command that still runs in it is killed with it."""
        self.child.stdin.close()
        try:
            self.child.wait(20)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        self.child.stdout.close()

    def run(self, *words: object, **how: Any) -> dict[str, Any]:
        """How the command ended."""
        question = {"words": [*map(str, words)], **how}
        self.child.stdin.write(json.dumps(question, default=str) + "\n")
        self.child.stdin.flush()
        return json.loads(self.child.stdout.readline())


def serve() -> None:
    """Answers until there is no question."""
    with contextlib.suppress(ImportError):  # the packages that most commands wait for
        import altair  # noqa: F401
        import numpy  # noqa: F401
        import pyarrow.parquet  # noqa: F401
        import vl_convert  # noqa: F401
    from flyloom import cli
    from flyloom.lab import experiment  # noqa: F401

    cli.load([])
    for line in sys.stdin:
        question = json.loads(line)
        texts = [tempfile.TemporaryFile() for _ in range(3)]
        child = os.fork()
        if child == 0:
            answer(question, *(text.fileno() for text in texts))
        code = ended(child, question.get("limit_s"))
        out, err, count = (read(text) for text in texts)
        print(json.dumps({"code": code, "out": out, "err": err, "count": int(count or 0)}),
              flush=True)


def ended(child: int, limit_s: float | None) -> int | None:
    """How the child ended; None where it had to be killed because it ran longer than allowed."""
    end = os.pidfd_open(child)
    in_time = bool(select.select([end], [], [], limit_s)[0])
    os.close(end)
    if not in_time:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) if in_time else None


def read(text: Any) -> str:
    """What was written to a file."""
    with text:
        text.seek(0)
        return text.read().decode(errors="replace")


def answer(question: dict[str, Any], out: int, err: int, changes: int) -> None:
    """The command, in the fork; does not return."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, (name, file) in enumerate((("stdout", out), ("stderr", err)), start=1):
        kind = question.get(name, "pipe")
        os.dup2(os.open("/dev/full", os.O_WRONLY) if kind == "full" else file, number)
        if kind == "closed":
            os.close(number)
        if kind != "closed":  # what Python knows of the server's own is not true of these
            setattr(sys, name, os.fdopen(number, "w", closefd=False))
    if question.get("env") is not None:
        os.environ.clear()
        os.environ.update(question["env"])
    os.chdir(question.get("cwd") or ".")
    sys.argv = ["flyloom", *question["words"]]
    from flyloom.cli import main, status

    faults = ctypes.CDLL(None) if "faults.so" in os.environ.get("LD_PRELOAD", "") else None
    if faults:
        faults.faults_arm(question.get("k", -1), question.get("error", 0))
    code = 70
    try:
        main()
    except SystemExit as why:
        code = status(why)
    if faults:
        os.write(changes, str(faults.faults_count()).encode())
    os._exit(code)


if __name__ == "__main__":
    serve()
