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

GROUPS = (
    "networks", "cables", "cost", "structure", "sizing", "compare", "search", "published", "routes",
    "compare_routing", "congestion", "lanes", "repair", "throughput", "figures", "fabric",
    "experiments",
)
"""The files of commands, in the order in which `flyloom --help` lists them."""

for group in GROUPS:
    importlib.import_module(f"flyloom.cli.{group}")


def main() -> None:
    """Runs the command line; never a traceback for what a user can cause."""
    # end in order, as Ctrl-C does: no half-written file, no process left behind
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    try:
        code = 0
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
