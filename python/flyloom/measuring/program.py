"""Runs the program that measures, under the user's launcher, and reads what it took down."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flyloom._core import RefusalError
from flyloom.measuring.loggp import TIMES, MessageSizeTimes, Sampler
from flyloom.ranks import library, preload
from flyloom.support.errors import DeployError
from flyloom.support.files import scratch
from flyloom.support.progress import Progress
from flyloom.support.reading import read_json, shown

EXAMPLE = "flyloom measure -o loggp.json -- mpirun -n 2"


class MeasurementProgram:
    """The program that measures, built by the mpicc of the MPI that a launcher is of.

    ``RefusalError`` where there is no launcher, or no mpicc for it.
    """

    def __init__(self, words: Sequence[str]) -> None:
        preload.check_program(words, EXAMPLE)
        self.words = list(words)
        self.name = preload.family(words)
        self.path = library.path(preload.compiler(words, self.name), library.MEASURER)

    def run(self, what: str, *asked: object, pairs: str | None = None) -> dict[str, Any]:
        """What one run took down: ``what`` and its words; ``pairs`` is the text of a file that is
        the last of them. ``DeployError`` where it ends otherwise than it should."""
        with scratch(Path.cwd()) as folder:
            out = folder / "samples.json"
            more = [str(word) for word in asked]
            if pairs is not None:
                listed = folder / "pairs"
                listed.write_text(pairs)
                more.append(str(listed))
            words = [*self.words, str(self.path), str(out), what, *more]
            code = preload.run(words, self.name, None, {})
            if code != 0:
                raise DeployError(f"{words[0]} ended with exit code {code}; nothing was measured")
            if not out.exists():
                raise DeployError(
                    f"{out} was not written: rank 0 runs where this folder is not; start in a"
                    " folder that all hosts have"
                )
            return checked(read_json(out), str(out))


def sampler(
    program: MeasurementProgram, messages: int, repetitions: int, met: list[dict[str, Any]],
    progress: Progress | None = None,
) -> Sampler:
    """Measures sizes by a program; what each run took down goes to ``met``."""
    def sample(sizes: Sequence[int]) -> dict[int, MessageSizeTimes]:
        done = sum(len(run["sizes"]) for run in met)
        if progress is not None:
            progress("sizes", done, done + len(sizes))
        met.append(program.run("loggp", messages, repetitions, *sizes))
        if progress is not None:
            progress("sizes", done + len(sizes), done + len(sizes))
        return samples_of(met[-1])

    return sample


def samples_of(report: dict[str, Any]) -> dict[int, MessageSizeTimes]:
    """The sizes that a run measured, from its report."""
    return {
        row["bytes"]: MessageSizeTimes(row["delay_ns"], *(row[name] for name in TIMES))
        for row in report["sizes"]
    }


def checked(report: Any, where: str) -> dict[str, Any]:
    """The report of a measuring program, if it has the right form; else RefusalError with the field
    at fault."""
    if not isinstance(report, dict) or report.get("flyloom_samples") != 1:
        raise RefusalError(f"{where}: flyloom_samples: not 1; what `flyloom measure --keep` writes")
    need(report, where, {"library": str, "hosts": list, "processors": list})
    if report.get("what") == "loggp":
        need(report, where, {"messages": int, "repetitions": int, "sizes": list})
        if report["messages"] < 2:
            raise RefusalError(f"{where}: messages: {report['messages']}; 2 or more")
        for i, row in enumerate(report["sizes"]):
            at = f"{where}: sizes[{i}]"
            need(row, at, {"bytes": int, "delay_ns": float, **dict.fromkeys(TIMES, list)})
            for name in TIMES:
                numbers(row[name], f"{at}.{name}")
    elif report.get("what") == "ebb":
        need(report, where, {"bytes": int, "repetitions": int, "rounds": list})
        for i, row in enumerate(report["rounds"]):
            need(row, f"{where}: rounds[{i}]", {"rank_ns": list})
            numbers(row["rank_ns"], f"{where}: rounds[{i}].rank_ns")
    else:
        raise RefusalError(f"{where}: what: {report.get('what')!r}; loggp or ebb")
    return report


_WORDS = {int: "a whole number above 0", float: "a number above 0", str: "a text", list: "a list"}


def need(table: Any, where: str, kinds: dict[str, type]) -> None:
    """RefusalError where a table lacks one of these keys, or has it of another kind; numbers are
    above 0."""
    if not isinstance(table, dict):
        raise RefusalError(f"{where}: no table")
    for name, kind in kinds.items():
        value: Any = table.get(name)
        if kind in (int, float):
            number = isinstance(value, (int, kind)) and not isinstance(value, bool)
            fits = number and math.isfinite(value) and value > 0
        else:
            fits = isinstance(value, kind)
        if not fits:
            raise RefusalError(f"{where}: {name}: {shown(value)} is not {_WORDS[kind]}")


def numbers(values: list[Any], where: str) -> None:
    """RefusalError where a list is empty, or has something that is no time."""
    for value in values:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not (math.isfinite(value) and value >= 0):
            raise RefusalError(f"{where}: {value!r}; times in nanoseconds, 0 or more")
    if not values:
        raise RefusalError(f"{where}: it is empty; a time for every repetition")
