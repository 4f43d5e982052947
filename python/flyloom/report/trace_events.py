"""A run of messages as trace events, the JSON that ui.perfetto.dev and chrome://tracing open.

A process of the trace is a rank, a thread one of its processors. Source: Trace Event Format,
Google, 2016: complete events ``X``, flow events ``s`` and ``f``, metadata ``M``; times are in
microseconds, with decimals.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

BESIDE = 1000
"""The number of a rank's first thread for collectives that overlap others of their processor."""


def text(found: Mapping[str, Any]) -> str:
    """The trace events of a run that was traced, an event a line."""
    encode = json.JSONEncoder(separators=(",", ":")).encode
    lines = ",\n".join(map(encode, events(found)))
    about = encode({"finish_ns": found["finish_ns"], "costs": dict(found["parameters"])})
    return f'{{"displayTimeUnit":"ns","otherData":{about},"traceEvents":[\n{lines}\n]}}\n'


def events(found: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """All events: the names of ranks and processors, then slices and flows in the order of time;
    where slices begin together the longer one is first, and flows are after the slices that they
    bind to."""
    traced = found["critical_path"]
    work = traced["work"]
    around = list(collectives(traced["collectives"]))
    sends, receives = (np.asarray(traced["messages"][side]) for side in ("send", "receive"))
    begin, end = np.asarray(work["begin_ns"]), np.asarray(work["end_ns"])
    begins = np.concatenate([[one[0] for one in around], begin, begin[sends], begin[receives]])
    ends = np.concatenate([[one[1] for one in around], end])
    flows = 2 * len(sends)
    is_flow = np.repeat([0, 1], [len(ends), flows])
    lengths = np.concatenate([ends - begins[:len(ends)], np.zeros(flows)])
    tracks = {(event["pid"], event["tid"]) for *_, event in around}
    tracks |= set(zip(np.asarray(work["rank"]).tolist(), np.asarray(work["cpu"]).tolist(),
                      strict=True))
    yield from names(tracks)
    columns = {name: np.asarray(column).tolist() for name, column in work.items()}
    on_path = set(zip(traced["path"]["rank"], traced["path"]["number"], strict=True))
    for at in np.lexsort((-lengths, is_flow, begins)).tolist():
        if at < len(around):
            yield around[at][2]
        elif (span := at - len(around)) < len(end):
            yield work_slice(columns, span, on_path)
        else:
            phase, number = divmod(span - len(end), len(sends))
            yield flow(columns, "sf"[phase], number, int((sends, receives)[phase][number]))


def microseconds(ns: float) -> float:
    """A time of a run, which is a whole number of picoseconds, in microseconds."""
    return round(ns * 1e3) / 1e6


def names(tracks: Iterable[tuple[int, int]]) -> Iterator[dict[str, Any]]:
    """What ranks and their tracks are called, and in which order they are shown."""
    tracks = sorted(tracks)
    for rank in dict.fromkeys(rank for rank, _ in tracks):
        about = {"ph": "M", "pid": rank, "tid": 0, "ts": 0}
        yield {**about, "name": "process_name", "args": {"name": f"rank {rank}"}}
        yield {**about, "name": "process_sort_index", "args": {"sort_index": rank}}
    for rank, thread in tracks:
        name = f"processor {thread}" if thread < BESIDE else f"collectives {thread - BESIDE + 2}"
        about = {"ph": "M", "pid": rank, "tid": thread, "ts": 0}
        yield {**about, "name": "thread_name", "args": {"name": name}}
        yield {**about, "name": "thread_sort_index", "args": {"sort_index": thread}}


Timed = tuple[float, float, dict[str, Any]]
"""When an event begins and ends, ns, and the event."""


VERBS = {"sends": "send", "answers": "answer", "receives": "receive", "computes": "compute"}
"""How a slice is called, by what a processor does."""


def work_slice(
    work: Mapping[str, list[Any]], span: int, on_path: set[tuple[int, int]]
) -> dict[str, Any]:
    """A piece of a processor's work as a slice."""
    rank, begin, end = work["rank"][span], work["begin_ns"][span], work["end_ns"][span]
    size, tag, peer = work["bytes"][span], work["tag"][span], work["peer"][span]
    number, doing = work["number"][span], work["doing"][span]
    about = {"operation": number, "begin_ns": begin, "end_ns": end}
    if size >= 0:
        about |= {"bytes": size, "peer": peer if peer >= 0 else "any",
                  "tag": tag if tag >= 0 else "any"}
    about["critical_path"] = (rank, number) in on_path
    return {
        "name": VERBS[doing], "cat": doing, "ph": "X", "pid": rank, "tid": work["cpu"][span],
        "ts": microseconds(begin), "dur": duration(begin, end), "args": about,
    }


def duration(begin: float, end: float) -> float:
    """How long something takes, in microseconds."""
    return (round(end * 1e3) - round(begin * 1e3)) / 1e6


def collectives(named: Mapping[str, list[Any]]) -> Iterator[Timed]:
    """The collectives that the schedule names, around their operations on each processor. One that
    begins within another and ends after it is on a track of its own, because slices of a track
    nest."""
    columns = ("rank", "cpu", "begin_ns", "end_ns", "name")
    rows = list(zip(*(named[name] for name in columns), strict=True))
    rows.sort(key=lambda row: (row[0], row[2], -row[3]))
    open_until: dict[tuple[int, int], list[float]] = {}
    for rank, cpu, begin, end, name in rows:
        thread = next(
            thread for thread in threads_for(cpu)
            if nests(open_until.setdefault((rank, thread), []), begin, end)
        )
        yield begin, end, {
            "name": name, "cat": "collective", "ph": "X", "pid": rank, "tid": thread,
            "ts": microseconds(begin), "dur": duration(begin, end),
            "args": {"begin_ns": begin, "end_ns": end},
        }


def threads_for(cpu: int) -> Iterator[int]:
    """The threads that a collective of a processor may be on, in the order of preference."""
    yield cpu
    yield from itertools.count(BESIDE)


def nests(open_until: list[float], begin: float, end: float) -> bool:
    """Whether a slice fits into those of its track that are open when it begins, after slices that
    began before; it is one of them then."""
    while open_until and open_until[-1] <= begin:
        open_until.pop()
    if open_until and end > open_until[-1]:
        return False
    open_until.append(end)
    return True


def flow(
    work: Mapping[str, list[Any]], phase: str, number: int, span: int
) -> dict[str, Any]:
    """An end of a message, which binds to the slice of its send, or of its receive."""
    event = {"name": "message", "cat": "message", "ph": phase, "id": number,
             "pid": work["rank"][span], "tid": work["cpu"][span],
             "ts": microseconds(work["begin_ns"][span])}
    return event if phase == "s" else {**event, "bp": "e"}
