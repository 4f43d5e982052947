"""How a command ends when Ctrl-C or SIGTERM asks for it: at any moment, one line, 130 or 143.

The command line calls `listen` before it loads anything. From then on a signal ends the process
where it stands: no exception that a library could swallow, turn into a traceback or into exit code
1. Where something must be put right first, a block says so:

    in_order()     the signal is an exception (KeyboardInterrupt, SystemExit): `finally` clauses
                   run, and the process ends when the outermost block is left
    undisturbed()  the signal waits for the end of the block: clean-up, and files of one generation

The first signal heard counts; another one cannot disturb what it set off. (Where both came between
two instructions of Python, SIGINT is heard first.) Without `listen`, as in a program that imports
flyloom, signals are that program's and the blocks do nothing. All of this is the main thread's:
Python hears signals nowhere else.

`_signal` is the module under `signal`, whose other half takes a tenth of our start to load.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_WORDS = {_signal.SIGINT: b"interrupted\n", _signal.SIGTERM: b"terminated\n"}
_AT_ONCE, _IN_ORDER, _LATER = range(3)

_mode = _AT_ONCE
_heard = 0
"""The number of the first signal, 0 before."""
_raised = False
"""Whether the signal has become an exception."""
_owner = 0
"""The process that handles signals; a forked child that has not been replaced yet stays silent."""
_follows = False
"""Whether this process ends silently: as a worker, or as one of several ranks."""
_works = False
"""Whether this process is a worker, whose parent reports for it."""
awaited = False
"""Whether other processes wait for this one, which is no command of ours: a rank, a worker of
Dask."""
before_broken: Callable[[str], object] = str
"""What is called with the line of a fault before `break_off` ends the process."""
leftovers: list[Callable[[], object]] = []
"""What `break_off` calls in place of blocks that it cannot leave: each removes a folder."""
before_the_line = b""
"""What goes to standard error before the last line: a progress bar takes itself away by it."""


def listen() -> dict[int, object]:
    """Hears SIGINT and SIGTERM from now on; what was in their place, for `restore`.

    A signal that the parent has ignored (``nohup``, a job in the background of a script) stays so.
    """
    global _owner
    _owner = os.getpid()
    found = {number: _signal.getsignal(number) for number in _WORDS}
    for number, handler in found.items():
        if handler is not _signal.SIG_IGN:
            _signal.signal(number, _hear)
    return found


def follow() -> None:
    """For a forked worker: SIGTERM from its parent ends it silently, after the cleanup of blocks
    that ask for it. Ctrl-C in the terminal is left to its parent."""
    global _owner, _follows, _works, _mode, _heard, _raised
    _owner, _follows, _works, _mode, _heard, _raised = os.getpid(), True, True, _AT_ONCE, 0, False
    leftovers.clear()  # they belong to its parent
    _signal.signal(_signal.SIGINT, lambda *_heard: None)  # so that its children do not ignore it
    _signal.signal(_signal.SIGTERM, _hear)


def silence() -> None:
    """Makes this process end without a message, since another process reports for it."""
    global _follows
    _follows = True


def follow_launcher() -> None:
    """Makes SIGTERM end this rank without a message: the launcher reports why it ends its ranks."""
    _WORDS[_signal.SIGTERM] = b""


def restore(found: dict[int, object]) -> None:
    """Restores the signal handlers that `listen` found."""
    for number, handler in found.items():
        if handler is not None:
            _signal.signal(number, handler)


def _hear(number: int, _frame: object) -> None:
    global _heard
    if os.getpid() != _owner:
        os._exit(128 + number)
    if _heard:
        return
    _heard = number
    if _mode == _AT_ONCE:
        _leave()
    if _mode == _IN_ORDER:
        _raise()


def _leave() -> None:
    """Ends the process; `os.write`, for the signal may have struck inside of a print."""
    try:
        if not _follows:
            os.write(2, before_the_line + _WORDS[_heard])
    except OSError:
        pass
    os._exit(128 + _heard)


def _raise() -> None:
    global _raised
    _raised = True
    raise KeyboardInterrupt if _heard == _signal.SIGINT else SystemExit(128 + _heard)


def break_off(line: str) -> None:
    """Ends the process with exit code 3 and this line, where a thread of the core has panicked and
    others do not end: the call that waits for them cannot return, so that no block can put anything
    right. Children end with this process; `leftovers` are removed.

    A worker tells its parent. A program that imports flyloom is not ended, unless others wait for
    it.
    """
    if os.getpid() != _owner and not awaited:
        return
    if _heard:
        _leave()
    try:
        if not _works:
            os.write(2, before_the_line + line.encode() + b"\n")
        before_broken(line)
        for remove in leftovers:
            remove()
    except OSError:
        pass
    os._exit(3)


def check() -> None:
    """Inside of `undisturbed`: a moment at which a signal that was heard may be obeyed."""
    if _heard and not _raised:
        _raise()


class _SignalBlock:
    def __init__(self, mode: int, answers: bool = False) -> None:
        self.mode = mode
        self.answers = answers
        self.before = _AT_ONCE

    def __enter__(self) -> None:
        global _mode
        self.before, _mode = _mode, max(_mode, self.mode)

    def __exit__(self, kind: type | None, *_why: object) -> None:
        global _mode, _heard, _raised
        _mode = self.before
        if not _heard:
            return
        if self.answers and kind is KeyboardInterrupt and _heard == _signal.SIGINT:
            _heard, _raised = 0, False
        elif _mode == _AT_ONCE:
            _leave()
        elif _mode == _IN_ORDER and not _raised:
            _raise()


def in_order(answers: bool = False) -> _SignalBlock:
    """A block in which a signal is an exception, and after which the process ends.

    ``answers``: the code around the block catches KeyboardInterrupt and goes on.
    """
    return _SignalBlock(_IN_ORDER, answers)


def undisturbed() -> _SignalBlock:
    """A block at whose end a signal is obeyed, not before."""
    return _SignalBlock(_LATER)
