"""Schedules by name: those that the core makes, and those of applications that are functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from operator import index
from typing import Any

from flyloom._core import RefusalError, Workload, plugin_parameters, workload_list
from flyloom.plugins import found
from flyloom.plugins.functions import returned, wrong
from flyloom.plugins.parts import PluginPart
from flyloom.support.checks import whole
from flyloom.support.progress import Progress

MOST_RANKS = 2**24
"""The most ranks of a schedule that is made."""

SHAPES = {"send": (2, 3), "recv": (2, 3), "calc": (1, 1)}
"""How many numbers an operation has, at least and at most, by its kind."""

HELP = '("send", bytes, to), ("recv", bytes, from), with a tag last, or ("calc", ns)'


def own_application(name: object) -> PluginPart | None:
    """The user's application of that name; None for a built-in one, and where there is none."""
    return found.part("application", name) if isinstance(name, str) else None


@cache
def _built_in() -> frozenset[str]:
    return frozenset(row["name"] for row in workload_list())


def is_made(name: object) -> bool:
    """Whether ``name`` is that of a schedule that can be made, and no file's."""
    return name in _built_in() or own_application(name) is not None


def made(
    name: str, given: Mapping[str, Any], progress: Progress | None = None, places: int | None = None
) -> Workload:
    """The schedule of this name with its parameters; with ``places`` there is a rank for every
    place where the parameters of a user's application say no other number.

    Raises ``RefusalError`` for a name that there is not, parameters that cannot be, and what a
    function returns that is no schedule.
    """
    if (part := own_application(name)) is None:
        return Workload.make(name, dict(given), progress)
    ranks = {} if places is None else {"ranks": places}
    return _of_function(part, parameters(part, {**ranks, **given}), progress)


def ranks_of(
    name: str, given: Mapping[str, Any], places: int, progress: Progress | None = None
) -> int:
    """The number of ranks of a schedule that the core makes by this name; ``places`` where nothing
    says another number."""
    row: dict[str, Any] = next((row for row in workload_list() if row["name"] == name), {})
    if any(key["name"] == "ranks" for key in row.get("keys", ())):
        return whole("ranks", given.get("ranks", places), 1, MOST_RANKS)
    return made(name, given, progress).ranks


def parameters(part: PluginPart, given: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters of a user's application; RefusalError where they cannot be."""
    found_ = plugin_parameters(part.row, dict(given))
    if not 1 <= found_["ranks"] <= MOST_RANKS:
        why = f"ranks: {found_['ranks']} is out of range; a whole number from 1 to {MOST_RANKS}"
        raise RefusalError(f"{part.name}: {why}")
    return found_


def _of_function(part: PluginPart, given: dict[str, Any], progress: Progress | None) -> Workload:
    ranks, rest = given["ranks"], {key: v for key, v in given.items() if key != "ranks"}
    said = returned(part, rest, ranks)
    if isinstance(said, Workload):
        schedule = said
    else:
        text = said if isinstance(said, str) else _goal(part, said, ranks)
        try:
            schedule = Workload.read(text.encode(), progress)
        except RefusalError as error:
            raise wrong(part, f"returns no schedule: {error}") from None
    if schedule.ranks != ranks:
        raise wrong(part, f"returns a schedule of {schedule.ranks} ranks; {ranks}")
    return schedule


def _goal(part: PluginPart, said: object, ranks: int) -> str:
    """The steps of all ranks as GOAL."""
    if isinstance(said, bytes) or not isinstance(said, Iterable):
        raise wrong(part, "returns no schedule; the steps of each rank, GOAL or a Workload")
    out = [f"num_ranks {ranks}"]
    for rank, steps in enumerate(said):
        if isinstance(steps, str) or not isinstance(steps, Iterable):
            raise wrong(part, f"rank {rank}: {steps!r} are no steps; a list of operations")
        out.append(f"rank {rank} {{")
        out += _rank(part, rank, steps, ranks)
        out.append("}")
    return "\n".join(out) + "\n"


def _rank(part: PluginPart, rank: int, steps: Iterable[Any], ranks: int) -> list[str]:
    """The operations of a rank, each of which waits for those of the step before."""
    lines: list[str] = []
    waits: list[str] = []
    before: list[str] = []

    def add(operation: str, after: Sequence[str]) -> str:
        label = f"l{len(lines) + 1}"
        lines.append(f"{label}: {operation}")
        waits.extend(f"{label} requires {one}" for one in after)
        return label

    for number, step in enumerate(steps):
        together = step if isinstance(step, list) else [step]
        words = [_operation(one, ranks) for one in together]
        if None in words:
            strange = together[words.index(None)]
            why = f"rank {rank}, step {number}: {strange!r} is no operation"
            raise wrong(part, f"{why}; {HELP}, of ranks 0 to {ranks - 1}")
        if len(words) > 1 and len(before) > 1:  # one operation in place of an edge for each pair
            before = [add("calc 0", before)]
        before = [add(str(word), before) for word in words] or before
    return lines + waits


def _operation(of: Any, ranks: int) -> str | None:
    """An operation as a line of GOAL; None where it is not one."""
    try:
        kind, *given = of
        numbers = [index(number) for number in given]
        least, most = SHAPES[kind]
    except (KeyError, TypeError, ValueError):
        return None
    if not least <= len(numbers) <= most or min(numbers) < 0:
        return None
    if kind == "calc":
        return f"calc {numbers[0]}"
    if numbers[1] >= ranks:
        return None
    tag = numbers[2] if len(numbers) == most else 0
    return f"{kind} {numbers[0]}b {'to' if kind == 'send' else 'from'} {numbers[1]} tag {tag}"
