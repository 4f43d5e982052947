"""Child processes that never outlive us, and waits that always end."""

from __future__ import annotations

import contextlib
import ctypes
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from .errors import DeployError

LOOK_S = 0.25
"""How often a wait checks whether the processes still run."""

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)
_orders: queue.SimpleQueue[tuple[list[str], dict[str, Any], _StartedChildReply]]
_orders = queue.SimpleQueue()
_spawner_lock = threading.Lock()
_spawner_of_pid = 0


def _spawner_loop() -> None:
    while True:
        args, kwargs, order = _orders.get()
        try:
            order.result = subprocess.Popen(args, **kwargs)
        except BaseException as why:  # handed to the caller, who raises it
            order.result = why
        order.done.set()


class _StartedChildReply:
    """Where the spawner leaves the child that it started, or the error. A signal in the caller can
    strike just after the wait, and must still find the process."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.result: subprocess.Popen[bytes] | BaseException | None = None


def _ensure_spawner() -> None:
    """One immortal thread starts all children: Linux sends the death signal of a child when the
    *thread* that forked it ends, so a caller's worker thread would not do."""
    global _spawner_of_pid, _orders
    with _spawner_lock:
        if _spawner_of_pid != os.getpid():
            _orders = queue.SimpleQueue()
            threading.Thread(target=_spawner_loop, name="flyloom-spawner", daemon=True).start()
            _spawner_of_pid = os.getpid()


def die_with(parent: int) -> None:
    """For a forked child: makes the kernel kill it when the thread that forked it ends."""
    if hasattr(_libc, "prctl"):  # Linux; elsewhere only the parent ends its children
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it died before prctl took effect
        os._exit(1)


def python(module: str, *words: str) -> list[str]:
    """The words that start a module of ours in a Python of its own.

    ``-m`` alone looks for modules in the working folder first, also for those of the standard
    library: whoever can put a file there would have it run.
    """
    return [sys.executable, "-P", "-m", module, *words]


def spawn(
    args: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    stdin: int | IO[bytes] = subprocess.DEVNULL,
    stdout: int | IO[bytes] = subprocess.DEVNULL,
    stderr: int | IO[bytes] = subprocess.DEVNULL,
) -> subprocess.Popen[bytes]:
    """Start a child that the kernel kills when this process dies, however it dies.

    Raises DeployError when the program cannot be started.
    """
    parent = os.getpid()
    _ensure_spawner()
    order = _StartedChildReply()
    kwargs = {
        "cwd": cwd,
        "env": dict(env) if env is not None else None,
        "stdin": stdin,
        "stdout": stdout,
        "stderr": stderr,
        "preexec_fn": lambda: die_with(parent),
        "start_new_session": True,  # a terminal's Ctrl-C goes to us, and we stop it in order
    }
    try:
        _orders.put((list(args), kwargs, order))
        order.done.wait()
    except BaseException:  # a signal at this point must not lose the child
        if order.done.wait(10.0) and isinstance(order.result, subprocess.Popen):
            kill(order.result)
        raise
    result = order.result
    assert result is not None, "the order is done"
    if isinstance(result, OSError):
        raise DeployError(f"cannot start {args[0]}: {result}") from result
    if isinstance(result, BaseException):
        raise result
    return result


def trouble(child: subprocess.Popen[bytes]) -> str | None:
    """What keeps a child from working, in words: it ended, was killed or is stopped; else None.

    An ended child is not reaped by this: its process group is still its own, for :func:`kill`.
    """
    code = child.returncode
    if code is None and not hasattr(os, "waitid"):  # macOS: this reaps the child, and sees no stop
        code = child.poll()
        if code is None:
            return None
    if code is None:
        look = os.WEXITED | os.WSTOPPED | os.WNOHANG | os.WNOWAIT
        try:
            state = os.waitid(os.P_PID, child.pid, look)
        except ChildProcessError:  # somebody else reaped it
            return "ended"
        if state is None:
            return None
        if state.si_code == os.CLD_STOPPED:
            return f"is stopped by {_signal_name(state.si_status)}"
        code = state.si_status if state.si_code == os.CLD_EXITED else -state.si_status
    return f"ended with code {code}" if code >= 0 else f"was killed by {_signal_name(-code)}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def run(
    args: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    stdin_text: str = "",
    timeout_s: float = 60.0,
    ok_codes: Sequence[int] | None = (0,),
    watch: Callable[[], None] | None = None,
) -> str:
    """Run a program to its end and return its standard output, decoded.

    Raises DeployError when it takes longer than ``timeout_s`` (it is killed), is stopped, or exits
    with a code outside ``ok_codes`` (None: any code is fine). ``watch`` is called again and again
    meanwhile, and once more before an error: what it raises ends the program.
    """
    # a file, not a pipe: after a time limit `communicate` of Python 3.11 writes no more into a pipe
    with tempfile.TemporaryFile() as given:
        given.write(stdin_text.encode())
        given.seek(0)
        child = spawn(
            args,
            cwd=cwd,
            env=env,
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    watch = watch or (lambda: None)
    name = os.path.basename(args[0])
    try:
        out, err = _talk(child, name, timeout_s, watch)
    finally:
        kill(child)
        for pipe in (child.stdout, child.stderr):
            if pipe:
                pipe.close()
    if ok_codes is not None and child.returncode not in ok_codes:
        watch()  # another process may be the cause
        if child.returncode < 0:
            raise DeployError(f"{name} {trouble(child)}")
        text = (err or out).decode(errors="replace").strip()[-2000:]
        raise DeployError(f"{name} failed with code {child.returncode}: {text}")
    return out.decode(errors="replace")


def _talk(
    child: subprocess.Popen[bytes], name: str, timeout_s: float, watch: Callable[[], None]
) -> tuple[bytes, bytes]:
    """What a child writes until it ends."""
    limit = time.monotonic() + timeout_s
    while True:
        left = limit - time.monotonic()
        try:
            return child.communicate(timeout=max(0.0, min(left, LOOK_S)))
        except subprocess.TimeoutExpired:
            watch()
        if left <= 0:
            raise DeployError(f"{name} did not end within {timeout_s:g} s")
        if (found := trouble(child)) and "stopped" in found:
            raise DeployError(f"{name} {found}")


def kill(child: subprocess.Popen[bytes]) -> None:
    """Kills a child and whatever it started that is still in its process group, and waits.

    A child is the leader of a group of its own. Its number is its group's as long as it is not
    reaped or others are in the group, so this must come at once after a child was reaped.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def end(child: subprocess.Popen[bytes], ask: Callable[[], None], patience_s: float) -> None:
    """End a child: ``ask`` it, wait ``patience_s``, then kill it and its group. Returns when it is
    gone; one that is stopped cannot hear and is killed at once."""
    try:
        if trouble(child) is None:
            ask()
            wait_until(lambda: trouble(child) is not None, patience_s, "it does not end")
    except (DeployError, OSError, ValueError):
        pass
    finally:
        kill(child)


def wait_until(
    ready: Callable[[], bool], timeout_s: float, what: str, step_s: float = 0.01
) -> None:
    """Return once ``ready()`` is true; DeployError saying ``what`` after ``timeout_s``."""
    limit = time.monotonic() + timeout_s
    while not ready():
        if time.monotonic() > limit:
            raise DeployError(f"{what} (waited {timeout_s:g} s)")
        time.sleep(step_s)
