"""Independent work on several threads, for calls of the compiled core, which lets others run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

from flyloom.support.machine import threads_for
from flyloom.support.progress import Progress

Item = TypeVar("Item")
Found = TypeVar("Found")


def in_order(
    work: Callable[[Item], Found],
    items: Sequence[Item],
    what: str,
    progress: Progress | None,
    most_threads: int | None = None,
) -> Iterator[Found]:
    """The results of ``work`` for each item, in the order of the items, whatever finishes first.

    At most ``most_threads`` items are worked on at a time, by default one a processor. ``progress``
    gets the number of items of ``what`` that are done. An exception of one item, and Ctrl-C, end
    the work once the items that have begun are done.
    """
    threads = threads_for(None)
    with ThreadPoolExecutor(min(threads, most_threads or threads)) as pool:
        begun = [pool.submit(copy_context().run, work, item) for item in items]
        try:
            for number, one in enumerate(begun):
                if progress:
                    progress(what, number, len(begun))
                yield one.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
