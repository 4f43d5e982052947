"""The command line: one command a verb, a file for each group of them.

Exit codes: 0 everything holds; 1 a check found a fault in the network or its routes; 2 the input
was refused; 3 something else is broken.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
import traceback

from flyloom.cli.common import app

GROUPS = {
    "networks": ("design", "plan"),
    "cables": ("cables",),
    "cost": ("cost", "catalog"),
    "structure": ("structure", "resilience"),
    "sizing": ("size", "scale"),
    "compare": ("compare",),
    "search": ("search",),
    "published": ("published",),
    "routes": ("route", "verify", "ebb"),
    "compare_routing": ("compare-routing",),
    "congestion": ("congestion",),
    "lanes": ("lanes",),
    "repair": ("repair",),
    "throughput": ("throughput",),
    "figures": ("figure",),
    "fabric": ("deploy", "verify-cables"),
    "experiments": ("run", "report", "list", "schema", "doctor"),
}
"""The files and their commands, in the order in which `flyloom --help` lists them."""


def load(words: list[str]) -> None:
    """Loads the file of the command that `words` begin with; where it is none's, every file.

    Most of what a short command takes is making ready the commands that were not asked for.
    """
    named = [group for group, names in GROUPS.items() if words and words[0] in names]
    for group in named or GROUPS:
        importlib.import_module(f"flyloom.cli.{group}")


def main() -> None:
    """Runs the command line; never a traceback for what a user can cause."""
    # end in order, as Ctrl-C does: no half-written file, no process left behind
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    try:
        code = 0
        load(sys.argv[1:])
        try:
            app(standalone_mode=True)
        except SystemExit as ended:
            code = ended.code
        sys.stdout.flush()
        sys.exit(code)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # whoever read it has gone
        sys.exit(3)
    except Exception as error:
        sys.exit(explain(error))


def explain(error: Exception) -> int:
    """Says on standard error what went wrong; the exit code."""
    from flyloom._core import RefusalError
    from flyloom.deploy import DeployError

    if isinstance(error, RefusalError):
        print(f"flyloom: {error}", file=sys.stderr)
        return 2
    if isinstance(error, (DeployError, OSError)):
        print(f"flyloom: {error}", file=sys.stderr)
        if isinstance(error, OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what it could not print stays unprinted
        return 3
    traceback.print_exc()
    print("flyloom: this is a fault of flyloom; please report it with the lines above",
          file=sys.stderr)
    return 3
