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
import importlib
import json
import math
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from checkout import PROGRAMS
from flyloom.report import drawing
from flyloom.support.errors import DeployError


class Server:
    """The program, started; use as a context manager, or close it."""

    processor_s = 0.0
    """Seconds of processors that the commands of all servers of this process took."""

    def __init__(self, environment: dict[str, str], faults: Path | None = None) -> None:
        """Starts the server; with a folder `faults`, the library of failing disks is built there
        and preloaded."""
        self.own_s = 0.0
        environment = {**environment, "PYTHONDONTWRITEBYTECODE": "1"}
        if faults:
            library = faults / "faults.so"
            subprocess.run(["cc", "-std=gnu11", "-O1", "-shared", "-fPIC", PROGRAMS / "faults.c",
                            "-o", library, "-ldl"], check=True)
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
        # The system counts them from now on among those of ended children.
        Server.processor_s, self.own_s = Server.processor_s - self.own_s, 0.0

    def run(self, *words: object, **how: Any) -> dict[str, Any]:
        """How the command ended."""
        question = {"words": [*map(str, words)], **how}
        self.child.stdin.write(json.dumps(question, default=str) + "\n")
        self.child.stdin.flush()
        answer = json.loads(self.child.stdout.readline())
        spent_s = answer.pop("processor_s")
        self.own_s += spent_s
        Server.processor_s += spent_s
        return answer


def draws() -> bool:
    """Whether the process that draws pictures runs: it is started again where a command has ended
    it. Most of what a command with a picture takes is starting it, so all commands share one."""
    process = drawing._child.process
    if process is None or process.poll() is not None:
        drawing._child.process = None
        with contextlib.suppress(ImportError, DeployError):
            drawing.svg_text({"data": {"values": [{}]}, "mark": "point"})
    return drawing._child.process is not None


def serve() -> None:
    """Answers until there is no question."""
    with contextlib.suppress(ImportError):  # the packages that most commands wait for
        import altair  # noqa: F401
        import numpy  # noqa: F401
        import pyarrow.parquet  # noqa: F401
        import vl_convert  # noqa: F401
    from flyloom import cli
    from flyloom.lab import experiment  # noqa: F401
    from flyloom.support import progress

    progress.FIRST_LINE_S = math.inf  # lines of a busy machine are not what tests await

    for group in cli.GROUPS:  # but for the commands of measures, which may be those of a plug-in
        importlib.import_module(f"flyloom.cli.{group}")
    for line in sys.stdin:
        question = json.loads(line)
        is_drawing = "LD_PRELOAD" not in os.environ and draws()
        ends = [os.pipe() for _ in range(3)]
        child = os.fork()
        if child == 0:
            if is_drawing:
                drawing._child.of_pid = os.getpid()
            answer(question, *(into for _, into in ends))
        for _, into in ends:
            os.close(into)
        texts, in_time = read([end for end, _ in ends], question.get("limit_s"))
        if not in_time:
            os.kill(child, signal.SIGKILL)
            drawing._child.end()  # it may be in the middle of a picture
        _, status, used = os.wait4(child, 0)
        print(json.dumps({
            "code": os.waitstatus_to_exitcode(status) if in_time else None, "out": texts[0],
            "err": texts[1], "count": int(texts[2] or 0),
            "processor_s": used.ru_utime + used.ru_stime,
        }), flush=True)


def read(ends: list[int], limit_s: float | None) -> tuple[list[str], bool]:
    """All that comes out of pipes, and whether they ended within the limit; closes them."""
    last = time.monotonic() + limit_s if limit_s else None
    texts = dict.fromkeys(ends, b"")
    left = set(ends)
    while left:
        ready, _, _ = select.select(left, [], [], max(0, last - time.monotonic()) if last else None)
        if not ready:
            break
        for end in ready:
            texts[end] += (more := os.read(end, 1 << 16))
            if not more:
                left.remove(end)
    for end in ends:
        os.close(end)
    decoded = [texts[end].decode(errors="replace") for end in ends]
    return [text.replace("\r\n", "\n").replace("\r", "\n") for text in decoded], not left


def answer(question: dict[str, Any], out: int, err: int, changes: int) -> None:
    """The command, in the fork; does not return."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, (name, file) in enumerate((("stdout", out), ("stderr", err)), start=1):
        kind = question.get(name, "pipe")
        os.dup2(os.open("/dev/full", os.O_WRONLY) if kind == "full" else file, number)
        os.close(file)
        if kind == "closed":
            os.close(number)
        if kind != "closed":  # what Python knows of the server's own is not true of these
            lines = 1 if name == "stderr" else -1
            setattr(sys, name, os.fdopen(number, "w", lines, closefd=False))
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
    leave_out(question["words"])
    try:
        main()
    except SystemExit as why:
        code = status(why)
    if faults:
        os.write(changes, str(faults.faults_count()).encode())
    os._exit(code)


def leave_out(words: list[str]) -> None:
    """Leaves the commands alone that a process of its own would load: making the others ready takes
    longer than most commands."""
    from flyloom import cli
    from flyloom.cli.common import app

    word, _ = cli.without_plugins(cli.asked(words))
    groups = [f"flyloom.cli.{group}" for group, names in cli.GROUPS.items() if word in names]
    if groups and cli.COMPLETING not in os.environ:
        app.registered_commands = [
            command for command in app.registered_commands if command.callback.__module__ in groups
        ]
        app.registered_groups = [group for group in app.registered_groups if group.name == word]


if __name__ == "__main__":
    serve()
