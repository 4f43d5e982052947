"""Runs commands of flyloom one after the other, each in a fork that has everything loaded already;
with tests/faults.c preloaded its k-th change of the file system fails.

`Server` is what tests use; the file itself is the program that it starts. A line of JSON asks:
`words`, `cwd`, `k` and `error` (of faults_arm), `stdout` and `stderr` ("pipe", "full", "closed").
A line answers: `code` (minus the signal that ended it), `out`, `err`, `count` of changes.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from cli_helpers import environment

HERE = Path(__file__).resolve().parent


class Server:
    """The program, started; use as a context manager."""

    def __init__(self, folder: Path, preload: bool = True) -> None:
        more = {"PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(folder)}
        if preload:
            library = folder / "faults.so"
            subprocess.run(["cc", "-std=gnu11", "-O1", "-shared", "-fPIC", HERE / "faults.c", "-o",
                            library, "-ldl"], check=True)
            more["LD_PRELOAD"] = str(library)
        self.child = subprocess.Popen([sys.executable, __file__], env=environment(**more),
                                      text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_why: object) -> None:
        self.child.stdin.close()
        self.child.wait(20)
        self.child.stdout.close()

    def run(self, *words: object, **how: Any) -> dict[str, Any]:
        """How the command ended."""
        question = {"words": [*map(str, words)], **how}
        self.child.stdin.write(json.dumps(question, default=str) + "\n")
        self.child.stdin.flush()
        return json.loads(self.child.stdout.readline())


def serve() -> None:
    """Answers until there is no question."""
    import altair  # noqa: F401
    import numpy  # noqa: F401
    import pyarrow.parquet  # noqa: F401
    import vl_convert  # noqa: F401
    from flyloom import cli
    from flyloom.lab import experiment  # noqa: F401

    cli.load([])
    for line in sys.stdin:
        question = json.loads(line)
        ends = [os.pipe() for _ in range(3)]
        child = os.fork()
        if child == 0:
            answer(question, *(into for _, into in ends))
        for _, into in ends:
            os.close(into)
        texts = []
        for end, _ in ends:
            with open(end, errors="replace") as pipe:
                texts.append(pipe.read())
        _, status = os.waitpid(child, 0)
        print(json.dumps({"code": os.waitstatus_to_exitcode(status), "out": texts[0],
                          "err": texts[1], "count": int(texts[2] or 0)}), flush=True)


def answer(question: dict[str, Any], out: int, err: int, told: int) -> None:
    """The command, in the fork; does not return."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, (name, pipe) in enumerate((("stdout", out), ("stderr", err)), start=1):
        kind = question.get(name, "pipe")
        os.dup2(os.open("/dev/full", os.O_WRONLY) if kind == "full" else pipe, number)
        os.close(pipe)
        if kind == "closed":
            os.close(number)
        if kind != "closed":  # what Python knows of the server's own is not true of these
            lines = 1 if name == "stderr" else -1
            setattr(sys, name, os.fdopen(number, "w", lines, closefd=False))
    os.chdir(question.get("cwd", "."))
    sys.argv = ["flyloom", *question["words"]]
    from flyloom.cli import main

    faults = ctypes.CDLL(None) if "LD_PRELOAD" in os.environ else None
    if faults:
        faults.faults_arm(question.get("k", -1), question.get("error", 0))
    code = 70
    try:
        main()
    except SystemExit as ended:
        code = ended.code or 0
    if faults:
        os.write(told, str(faults.faults_count()).encode())
    os._exit(code)


if __name__ == "__main__":
    serve()
