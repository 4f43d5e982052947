"""What a timeline shows of a run of messages: rows, spans of time, messages, collectives."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]
RANKS = 64
"""The most ranks that are shown, those of the critical path first."""
SPANS = 1_000_000
"""The most spans of time that are shown."""
ROWS = 512
"""The most rows: browsers have no larger canvas."""


@dataclasses.dataclass(frozen=True)
class TimelineContents:
    """The contents of a timeline: every span of time that is shown, in the order of rows, then of
    time."""

    rows: list[tuple[int, int]]
    """Rank and processor of each row."""
    row: Numbers
    """The row of each span."""
    columns: dict[str, Numbers]
    """What is known of each span, by the columns of ``work``; ``doing`` as a place in DOING."""
    messages: Numbers
    """The spans that each message begins and ends with, a row a message."""
    left_out: str
    """What is left out, in words; empty where that is nothing."""


DOING = ("computes", "sends", "answers", "receives")
"""What a processor does, in the order of the legend."""


def shown_ranks(count: int, path: Sequence[int]) -> list[int]:
    """The ranks that are shown: all, or those of the critical path, and some of the others, spread
    evenly. The ranks that matter most come first."""
    first = list(dict.fromkeys(int(rank) for rank in path))
    evenly = [at * count // RANKS for at in range(RANKS)] if count > RANKS else list(range(count))
    return list(dict.fromkeys([*first, *evenly]))[:RANKS]


def shown(found: Mapping[str, Any], most: int = SPANS) -> TimelineContents:
    """What is shown of a run that was traced: at most ``most`` spans of time."""
    traced = found["critical_path"]
    work = {name: np.asarray(column) for name, column in traced["work"].items() if name != "doing"}
    place = {doing: at for at, doing in enumerate(DOING)}
    work["doing"] = np.array([place[doing] for doing in traced["work"]["doing"]], dtype=np.uint8)
    keys = work["rank"].astype(np.int64) * 256 + work["cpu"]
    keep, words = kept(keys, found["ranks"], traced["path"]["rank"], most)
    keys = keys[keep]
    unique, row = np.unique(keys, return_inverse=True)
    order = np.lexsort((work["end_ns"][keep], work["begin_ns"][keep], row))
    keep = keep[order]
    moved = np.full(len(work["rank"]), -1, dtype=np.int64)
    moved[keep] = np.arange(len(keep))
    ends = [moved[np.asarray(traced["messages"][side], dtype=np.int64)]
            for side in ("send", "receive")]
    messages = np.stack(ends, axis=1)
    return TimelineContents(
        rows=[(int(key) // 256, int(key) % 256) for key in unique],
        row=row[order],
        columns={name: column[keep] for name, column in work.items()},
        messages=messages[(messages >= 0).all(axis=1)],
        left_out=words,
    )


def kept(keys: Numbers, count: int, path: Sequence[int], most: int) -> tuple[Numbers, str]:
    """The spans that are shown, and what is left out in words; ``keys`` says the row of each."""
    rank = keys // 256
    ranks = shown_ranks(count, path)
    spans = np.bincount(rank, minlength=count)
    rows = np.bincount(np.unique(keys) // 256, minlength=count)
    within = (np.cumsum(spans[ranks]) <= most) & (np.cumsum(rows[ranks]) <= ROWS)
    within[:1] = True
    ranks = [rank for rank, fits in zip(ranks, within, strict=True) if fits]
    keep = np.flatnonzero(np.isin(rank, ranks))
    words = []
    if len(ranks) < count:
        words.append(f"{len(ranks)} of {count:,} ranks are shown, those of the critical path first")
    if len(keep) > most:
        words.append(f"of rank {ranks[0]} the first {most:,} of {len(keep):,} spans of time")
        keep = keep[:most]
    return keep, "; ".join(words)


def row_name(rank: int, cpu: int) -> str:
    """The name of a row."""
    return f"{rank}" if cpu == 0 else f"{rank}, processor {cpu}"
