"""Configurations of BookSim, run by the flit level."""

from __future__ import annotations

from pathlib import Path

from flyloom import _core
from flyloom._core import RefusalError
from flyloom.support.machine import threads_for
from flyloom.support.progress import Progress
from flyloom.support.reading import read_text
from flyloom.support.verb_results import BookSimRun


def booksim(
    *given: str,
    unverified: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> BookSimRun:
    """Runs configurations of BookSim: the same network, routers, traffic and sampling.

    Parameters
    ----------
    given
        Files, and ``key=value`` words; in their order, the last value of a key counts. A network
        file is looked for as it is named, then beside the configurations.
    unverified
        Runs also routing that is not proved free of deadlock.
    threads
        The result is the same with any number.
    progress
        Called with ``(what, done, total)``.

    Fields: ``verified``, ``points`` (one, as ``simulate``), ``classes`` (one for each class of
    traffic, where there are several), ``notes`` (what is said and has no effect, even in BookSim).
    """
    sources: list[tuple[str | None, str]] = []
    folders = []
    for word in given:
        if "=" in word and not Path(word).is_file():
            sources.append((None, word))
        else:
            sources.append((word, read_text(word)))
            folders.append(Path(word).parent)
    hands = threads_for(threads)
    if not folders:
        raise RefusalError("configuration: there is no file; the path of one")
    named, notes = _core.booksim_names(sources)
    file = None
    if named is not None:
        found = [path for path in (Path(named), *(f / named for f in folders)) if path.is_file()]
        if not found:
            raise RefusalError(
                f"network_file: there is no {named}, nor beside the configuration; the path of one"
            )
        file = (str(found[0]), read_text(found[0]))
    made = _core.simulate_booksim(sources, file, unverified, hands, progress)
    kept = [{"place": place, "key": key, "why": why} for place, key, why in notes]
    return BookSimRun({**made, "notes": kept})
