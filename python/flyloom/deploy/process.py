"""Child processes that never outlive us, and waits that always end."""

from __future__ import annotations

import ctypes
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from .errors import DeployError

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)
_orders: queue.SimpleQueue = queue.SimpleQueue()
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


class _Order:
    """A child that the spawner is to start. What it became stays here: a signal in the caller can
    strike just after the wait, and must still find it."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.result: subprocess.Popen | BaseException | None = None


def _ensure_spawner() -> None:
    """One immortal thread starts all children: Linux sends the death signal of a child when the
    *thread* that forked it ends, so a caller's worker thread would not do."""
    global _spawner_of_pid, _orders
    with _spawner_lock:
        if _spawner_of_pid != os.getpid():
            _orders = queue.SimpleQueue()
            threading.Thread(target=_spawner_loop, name="flyloom-spawner", daemon=True).start()
            _spawner_of_pid = os.getpid()


def spawn(
    args: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    stdin=subprocess.DEVNULL,
    stdout=subprocess.DEVNULL,
    stderr=subprocess.DEVNULL,
) -> subprocess.Popen:
    """Start a child that the kernel kills when this process dies, however it dies.

    Raises DeployError when the program cannot be started.
    """
    parent = os.getpid()

    def mortal() -> None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it died before prctl took effect
            os._exit(1)

    _ensure_spawner()
    order = _Order()
    kwargs = {
        "cwd": cwd,
        "env": dict(env) if env is not None else None,
        "stdin": stdin,
        "stdout": stdout,
        "stderr": stderr,
        "preexec_fn": mortal,
        "start_new_session": True,  # a terminal's Ctrl-C goes to us, and we stop it in order
    }
    try:
        _orders.put((list(args), kwargs, order))
        order.done.wait()
    except BaseException:  # a signal just here: the child must not be forgotten
        if order.done.wait(10.0) and isinstance(order.result, subprocess.Popen):
            order.result.kill()
            order.result.wait()
        raise
    result = order.result
    if isinstance(result, OSError):
        raise DeployError(f"cannot start {args[0]}: {result}") from result
    if isinstance(result, BaseException):
        raise result
    return result


def run(
    args: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    stdin_text: str = "",
    timeout_s: float = 60.0,
    ok_codes: Sequence[int] | None = (0,),
) -> str:
    """Run a program to its end and return its standard output, decoded.

    Raises DeployError when it takes longer than ``timeout_s`` (it is killed) or exits with a
    code outside ``ok_codes`` (None: any code is fine).
    """
    child = spawn(
        args,
        cwd=cwd,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        out, err = child.communicate(stdin_text.encode(), timeout=timeout_s)
    except subprocess.TimeoutExpired:
        raise DeployError(f"{args[0]} did not end within {timeout_s:g} s") from None
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()
        for pipe in (child.stdin, child.stdout, child.stderr):
            pipe.close()
    if ok_codes is not None and child.returncode not in ok_codes:
        text = (err or out).decode(errors="replace").strip()[-2000:]
        raise DeployError(f"{args[0]} failed with code {child.returncode}: {text}")
    return out.decode(errors="replace")


def end(child: subprocess.Popen, ask: Callable[[], None], patience_s: float) -> None:
    """End a child: ``ask`` it, wait ``patience_s``, then kill it. Returns when it is gone."""
    try:
        if child.poll() is None:
            ask()
            child.wait(patience_s)
    except (subprocess.TimeoutExpired, OSError, ValueError):
        pass
    finally:
        if child.poll() is None:
            child.kill()
        child.wait()


def wait_until(
    ready: Callable[[], bool], timeout_s: float, what: str, step_s: float = 0.01
) -> None:
    """Return once ``ready()`` is true; DeployError saying ``what`` after ``timeout_s``."""
    limit = time.monotonic() + timeout_s
    while not ready():
        if time.monotonic() > limit:
            raise DeployError(f"{what} (waited {timeout_s:g} s)")
        time.sleep(step_s)
