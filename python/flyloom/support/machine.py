"""What this machine has free, and whether work fits it: asked before the work begins."""

from __future__ import annotations

import contextlib
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

PATIENCE_S = 10.0
"""Work that is expected to take longer says so before it begins."""

PER_THREAD = 512 << 20
"""Address space for each thread where that is limited: an arena of the allocator, and data."""

RECENT_S = 0.5
"""How long small work trusts the last reading of free memory."""
SMALL = 1 / 64
"""Work that needs less than this share of the free memory is small."""

tell = False
"""Whether long work says on standard error how long it takes: the command line sets it."""
_later: ContextVar[tuple[str, Callable[[str, dict[str, Any]], float]] | None] = ContextVar(
    "_later", default=None
)
"""What networks that are built are for, and the bytes of a family's member with all that."""
_known = float("-inf"), 0.0
"""The time of the last reading of free memory, and its value."""


def afford(what: str, needs: float, seconds: float) -> None:
    """Refuses work that needs more memory than is free; says how long it takes where that is long.

    Parameters
    ----------
    what
        The work, as a noun: ``"building ring:n=8"``.
    needs
        Bytes beyond what this process has.
    seconds
        How long it takes, roughly.

    Raises
    ------
    RefusalError
        With both figures.
    """
    global _known
    now = time.monotonic()
    if now > _known[0] + RECENT_S or needs > SMALL * _known[1]:
        left, where = free()
        _known = now, left
    else:
        left, where = _known[1], ""
    if needs > left:
        from flyloom._core import RefusalError

        raise RefusalError(
            f"{what} needs about {size(needs)} of memory, this machine has {size(left)} free"
            f" ({where}); a smaller network, or more memory"
        )
    if tell and seconds >= PATIENCE_S:
        with contextlib.suppress(OSError, ValueError):  # standard error may be closed
            print(f"{what}: about {duration(seconds)}; Ctrl-C stops", file=sys.stderr, flush=True)


@contextlib.contextmanager
def built_for(what: str, needs: Callable[[str, dict[str, Any]], float]) -> Iterator[None]:
    """Within this block members of families are built only where this machine can do ``what`` with
    them.

    ``needs`` gives the bytes that a family's member with these parameters takes with all that.
    """
    before = _later.set((what, needs))
    try:
        yield
    finally:
        _later.reset(before)


def afford_later(recipe: str, family: str, params: dict[str, Any]) -> None:
    """Refuses a network that is not built yet, where this machine cannot do what the network is
    for."""
    from flyloom._core import RefusalError

    if asked := _later.get():
        what, needs = asked
        count = 0.0
        with contextlib.suppress(RefusalError):  # bad parameters are refused later
            count = needs(family, params)
        afford(f"{what} {recipe}", count, 0)


def free() -> tuple[float, str]:
    """Bytes that this process may still take, and what limits it: the least of all limits."""
    return min(_limits(), default=(float("inf"), "no limit is known"))


def threads_for(asked: int | None) -> int:
    """The threads of a computation: those that are asked for, else a thread a processor."""
    from flyloom.support.checks import whole

    return processors() if asked is None else whole("threads", asked, 1, 1024)


def processors() -> int:
    """How many processors this process may use: those it may run on, the quota of its control
    group, and RAYON_NUM_THREADS where that is set."""
    here = getattr(os, "sched_getaffinity", None)  # macOS has none
    known = [len(here(0)) if here else os.cpu_count() or 1]
    asked = os.environ.get("RAYON_NUM_THREADS", "")
    if asked.isascii() and asked.isdigit() and int(asked):
        known.append(int(asked))
    for folder, _ in _groups():
        with contextlib.suppress(OSError, ValueError):  # none there, or "max"
            quota, period = (folder / "cpu.max").read_text().split()
            known.append(max(1, round(int(quota) / int(period))))
    return min(known)


def threads() -> int:
    """The most threads that the address space has room for; 0 where it is not limited."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return 0
    return max(1, (limit - _status().get("VmSize", 0)) // PER_THREAD)


def _limits() -> Iterator[tuple[float, str]]:
    status = _status()
    arena = 64 << 20  # what one more thread takes; glibc maps twice that, and gives half back
    for which, used, room, where in (
        (resource.RLIMIT_AS, "VmSize", 2 * arena, "ulimit -v"),
        (resource.RLIMIT_DATA, "VmData", arena, "ulimit -d"),
    ):
        limit = resource.getrlimit(which)[0]
        if limit != resource.RLIM_INFINITY:
            yield max(0, limit - status.get(used, 0) - room), where
    if available := _table(Path("/proc/meminfo")).get("MemAvailable"):
        yield available, "MemAvailable"
    for folder, names in _groups():
        most, now = (_number(folder / name) for name in names)
        if most is not None and now is not None:
            stat = _table(folder / "memory.stat")
            # pages of files that the kernel frees when other memory is needed
            spare = stat.get("total_inactive_file", stat.get("inactive_file", 0))
            yield max(0, most - now + spare), "control group"


def _groups() -> Iterator[tuple[Path, tuple[str, str]]]:
    """The control groups over this process that may limit memory, with their two files."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, place = line.split(":", 2)
        if not controllers:
            top, names = Path("/sys/fs/cgroup"), ("memory.max", "memory.current")
        elif "memory" in controllers.split(","):
            top = Path("/sys/fs/cgroup/memory")
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes")
        else:
            continue
        inside = Path(place.lstrip("/"))
        yield from ((top / part, names) for part in (inside, *inside.parents))


def _number(path: Path) -> int | None:
    """The number that a file is; None for ``max`` and where there is none."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def _status() -> dict[str, int]:
    return _table(Path("/proc/self/status"))


def _table(path: Path) -> dict[str, int]:
    """The numbers of a file of the kernel by name, in bytes."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return {}
    found = {}
    for words in (line.replace(":", " ").split() for line in lines):
        if len(words) in (2, 3) and words[1].isdigit():
            found[words[0]] = int(words[1]) * (1024 if words[2:] == ["kB"] else 1)
    return found


def size(count: float) -> str:
    """A number of bytes for people: ``41 GiB``."""
    for unit, power in (("TiB", 40), ("GiB", 30), ("MiB", 20)):
        if count >= 1 << power:
            share = count / (1 << power)
            return f"{share:,.0f} {unit}" if share >= 10 else f"{share:.1f} {unit}"
    return f"{count / 1024:.0f} KiB"


def duration(seconds: float) -> str:
    """A time for people: ``12 minutes``."""
    for unit, length in (("year", 31_557_600), ("day", 86_400), ("hour", 3600), ("minute", 60)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:,.0f} {unit}s"
    return f"{max(seconds, 2):.0f} seconds"
