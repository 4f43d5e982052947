"""The command line: one command a verb, a file for each group of them.

Exit codes: 0 everything holds; 1 a check found a fault in the network or its routes; 2 the input
was refused; 3 something else is broken; 130 interrupted; 143 terminated. What is loaded before
`ending.listen` is as little as can be: until then a signal is Python's own.
"""

from __future__ import annotations

import errno
import importlib
import os
import sys
import time

from flyloom.support import ending

TYPE_CHECKING = False  # a name of ours: loading `typing` for it takes long
if TYPE_CHECKING:
    from typing import TextIO

GROUPS = {
    "networks": ("design", "plan"),
    "exporting": ("export",),
    "cables": ("cables",),
    "cost": ("cost", "catalog"),
    "structure": ("structure", "resilience"),
    "sizing": ("size", "scale"),
    "compare": ("compare",),
    "choosing": ("choose",),
    "search": ("search",),
    "published": ("published",),
    "routes": ("route", "verify", "ebb"),
    "compare_routing": ("compare-routing",),
    "congestion": ("congestion",),
    "lanes": ("lanes",),
    "repair": ("repair",),
    "throughput": ("throughput",),
    "mapping": ("map", "map-eval"),
    "recording": ("record",), "measuring": ("measure",),
    "reordering": ("reorder",),
    "figures": ("figure",),
    "simulators": ("sim",),
    "booksim": ("sim",),
    "workloads": ("workload",),
    "fabric": ("deploy", "opensm-plugin"),
    "verify_cables": ("verify-cables",),
    "observe": ("observe",),
    "identify": ("identify",),
    "experiments": ("run", "report", "schema"),
    "parts": ("list",),
    "about": ("doctor", "cite", "example", "help"),
}
"""The files and their commands, in the order in which `flyloom --help` lists them.

The file `measures` comes after them: it has a command for each measure that has none here, also
for those of users.
"""


def load(words: list[str]) -> None:
    """Loads the file of the command that `words` begin with; every file where that is no command.

    Loading the other commands would take longer than most short commands themselves.
    """
    word, files = without_plugins(words)
    named = [group for group, names in GROUPS.items() if word in names]
    if not named:
        for file in files:
            importlib.import_module("flyloom.plugins.found").load_file(file)
        if word and not word.startswith("-") and is_measure(word):
            named = ["measures"]
    for group in named or [*GROUPS, "measures"]:
        importlib.import_module(f"flyloom.cli.{group}")


def asked(words: list[str]) -> list[str]:
    """The words that are meant: ``help VERB`` is ``VERB --help``."""
    if words[:1] == ["help"] and words[1:] not in (["--help"], ["-h"]):
        return [*words[1:], "--help"]
    return words


COMPLETING = "_FLYLOOM_COMPLETE"
"""The variable with which a shell asks for what a word can become."""


def typed_words() -> list[str]:
    """The words of the command line, or those before the one that a shell asks to complete."""
    if COMPLETING not in os.environ:
        return sys.argv[1:]
    completion = importlib.import_module("flyloom.cli.completion")
    words: list[str] = completion.words(os.environ[COMPLETING], os.environ)
    return [] if words[:1] == ["help"] else words  # `help` takes any command as its word


def is_measure(word: str) -> bool:
    """Whether a command is made for a measure: one that is built in, or else a user's."""
    made = importlib.import_module("flyloom.cli.parameters").made
    if word not in made(GROUPS):
        importlib.import_module("flyloom.plugins.found").part("measure", word.replace("-", "_"))
    return word in made(GROUPS)


def without_plugins(words: list[str]) -> tuple[str, list[str]]:
    """The first word that is no ``--plugin FILE.py``, and all these files."""
    rest, files, left = [], [], iter(words)
    for word in left:
        if word == "--plugin":
            files.append(next(left, ""))
        elif word.startswith("--plugin="):
            files.append(word.partition("=")[2])
        else:
            rest.append(word)
    return rest[0] if rest else "", [file for file in files if file]


def program() -> None:
    """The installed program: `main`, which hears signals from its first line to its last.

    The interpreter is not taken down piece by piece: that takes time, and a signal would meet it
    half gone. Everything that was begun has ended in order by then.
    """
    ending.listen()
    try:
        main()
    except SystemExit as ended:
        os._exit(status(ended))


def main() -> None:
    """Runs the command line and raises SystemExit; never a traceback for what a user can cause."""
    found = ending.listen()
    ending.before_broken = lambda line: tell_json(3, line)
    try:
        code = streams() or commands()
    except BaseException as error:
        if COMPLETING in os.environ:  # the line is not complete yet: no error is shown
            sys.exit(1)
        speak(error)
        code, line = explain(error)
        tell_json(code, line, error)
        if getattr(error, "spoken", False):
            sys.exit(code)
    ending.restore(found)
    # rank 0 reports what all ranks refuse; if another ended first, the launcher would end rank 0
    sys.exit(0 if _before and code == 2 else code)


def status(ended: SystemExit) -> int:
    """The exit code that a SystemExit stands for."""
    return ended.code if isinstance(ended.code, int) else int(ended.code is not None)


def streams() -> int:
    """Makes standard input, output and error safe to use; 3 where there is no standard output.

    The number of a closed one would go to the next file that is opened: what is printed, or said
    by a library, would end in that file.
    """
    closed = False
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            closed = closed or number == 1
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
    if sys.stderr is None:  # print would otherwise use standard output
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
    if closed or sys.stdout is None:
        say("standard output: closed; where nobody is to read it, use > /dev/null")
        return 3
    return 0


def commands() -> int:
    """Runs the command that was asked for; returns its exit code."""
    from flyloom.support.words import guard_screen

    guard_screen()
    sys.argv[1:] = asked(sys.argv[1:])
    hush()
    load(typed_words())
    from flyloom.cli.common import app, take_plugins

    take_plugins()
    try:
        app(prog_name="flyloom")
        code = 0
    except SystemExit as ended:
        code = status(ended)
        if isinstance(ended.__context__, BrokenPipeError):  # typer would turn it into exit code 1
            raise ended.__context__ from None
        if code == 2 and (why := getattr(ended.__context__, "format_message", None)):
            tell_json(code, why(), ended.__context__)
        if code == 130:  # typer does not report an interruption
            say("interrupted", "")
    sys.stdout.flush()
    return code


def hush() -> None:
    """Silences this process if it is a rank other than 0 of a run over MPI."""
    words = sys.argv[1:]
    if "mpi" not in words and "--sync=mpi" not in words:
        return
    launched = importlib.import_module("flyloom.ranks.launched")
    if launched.launched():
        ending.follow_launcher()
    if launched.is_silent(words):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        _before.append(sys.stderr)
        sys.stderr = os.fdopen(nowhere, "w", encoding="utf-8")
        ending.silence()


HOLD_S = 0.3
"""How long a silent rank delays its error. If rank 0 has the same, it ends all ranks meanwhile."""
_before: list[TextIO] = []
"""The standard error of a silent rank, which it may still use for errors of its own."""


def speak(error: BaseException) -> None:
    """Lets a silent rank report an error that no other rank knows of."""
    core = sys.modules.get("flyloom._core")
    expected = isinstance(error, (KeyboardInterrupt, SystemExit))
    if _before and not expected and not (core and isinstance(error, core.RefusalError)):
        if core and isinstance(error, core.FaultError):
            time.sleep(HOLD_S)
        sys.stderr = _before[0]


def explain(error: BaseException) -> tuple[int, str]:
    """Reports an error on standard error; returns the exit code and the line."""
    if isinstance(error, KeyboardInterrupt):
        return 130, say("interrupted", "")
    if isinstance(error, SystemExit):
        return status(error), ""
    if isinstance(error, MemoryError) or "failed to map segment" in str(error):
        return 3, say(f"out of memory{f': {error}' if str(error) else ''}")
    if isinstance(error, OSError):
        return 3, broken(error)
    if isinstance(error, ImportError) and (line := extra_line(error)):
        return 3, say(line)
    from flyloom._core import FaultError, RefusalError

    if isinstance(error, FaultError) or type(error).__name__ == "PanicException":
        return 3, say(str(importlib.import_module("flyloom.support.errors").fault_of(error)), "")
    errors = sys.modules.get("flyloom.support.errors")  # None: no DeployError was raised
    if isinstance(error, RefusalError) or (errors and isinstance(error, errors.DeployError)):
        extras = sys.modules.get("flyloom.support.extras")
        absent = extras and isinstance(error, extras.ExtraError)
        from flyloom.support.refused import shortened

        code = 2 if isinstance(error, RefusalError) and not absent else 3
        return code, say(shortened(str(error)))
    import traceback

    say("".join(traceback.format_exception(error)).rstrip(), "")
    return 3, say("this is a fault of flyloom; please report it with the lines above")


def extra_line(error: ImportError) -> str | None:
    """A line naming the extra with the package that could not be loaded; None if none has it."""
    from flyloom.support import extras

    return extras.line(error)


WRITING = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF, errno.EPIPE)


def broken(error: OSError) -> str:
    """Reports an error of the machine, unless the reader of our output has gone; returns the
    line."""
    where = error.filename
    if where is None and error.errno in WRITING:
        where = "standard output"  # whatever else is written has a name
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what it could not print stays unprinted
    if isinstance(error, BrokenPipeError):
        return ""
    why = error.strerror or str(error)
    return say(f"{os.fsdecode(where)}: {why}" if where is not None else why)


KINDS = {2: "refused", 3: "broken", 130: "interrupted", 143: "terminated"}


def tell_json(code: int, line: str, error: BaseException | None = None) -> None:
    """Prints the error as the one JSON document of ``--json``, if standard output can be
    written."""
    if code in KINDS and "--json" in sys.argv[1:]:
        import json

        from flyloom.support.refused import parts

        described = {"kind": KINDS[code], "message": line, **parts(line, error)}
        try:  # noqa: SIM105  contextlib is not loaded yet
            print(json.dumps({"error": described, "exit_code": code}), flush=True)
        except (OSError, ValueError):
            pass


def say(line: str, before: str = "flyloom: ") -> str:
    """Prints a line on standard error, if that can be written; returns the line."""
    try:  # noqa: SIM105  contextlib is not loaded yet
        print(f"{before}{line}", file=sys.stderr, flush=True)
    except (OSError, ValueError):
        pass
    return line
