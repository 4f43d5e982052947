"""Which endpoint each process is on, from whatever a user names: a policy, a file, a list."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from operator import index
from typing import Any

from flyloom._core import RefusalError, Routing, Topology, mapping_of
from flyloom.inputs.tables import topology_of
from flyloom.inputs.workloads import travelled
from flyloom.plugins.functions import named, returned, wrong
from flyloom.plugins.parts import PluginPart
from flyloom.support.checks import whole
from flyloom.support.reading import is_path, read_text

Placed = str | os.PathLike[str] | Sequence[int]
"""A policy, a file (of any format of mappings), or an endpoint for every process."""


def places(
    on: Topology | Routing, given: Placed | None, per_endpoint: int = 1
) -> tuple[str, list[int] | None]:
    """The policy that ``given`` names (the order of the network where it is None), and the endpoint
    of every process where it names these, or where a user's placement fills endpoints with
    ``per_endpoint`` each.

    Raises ``RefusalError`` for an endpoint that there is not, with the line of a file.
    """
    topology = topology_of(on)
    if given is None:  # a file may have the name of the policy
        return "linear", None
    if isinstance(given, str) and not is_file(given):
        if asked := named("placement", given):
            return "linear", _filled(topology, *asked, per_endpoint)
        return given, None
    if isinstance(given, (str, os.PathLike)):
        text = _text(given)
        try:
            return "linear", mapping_of(topology, text)
        except RefusalError as error:
            raise RefusalError(f"{os.fspath(given)}: {error}") from None
    return "linear", [whole("placement", place, 0, 2**32 - 1) for place in given]


def is_file(given: str) -> bool:
    """Whether a placement is a file's name rather than a policy's."""
    return travelled(given) is not None or is_path(given)


def _text(given: str | os.PathLike[str]) -> str:
    """The text of a file of places, which may have been read elsewhere."""
    content = travelled(given)
    if content is None:
        return read_text(given)
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise RefusalError(f"{given}: byte {error.start} is no text in UTF-8") from None


def check_ranks(
    on: Topology | Routing, given: Placed, found: Sequence[int], ranks: int,
    per_endpoint: int | None = 1,
) -> None:
    """Checks that endpoints which ``given`` names one by one are no more than ``ranks``, and none
    of them more than ``per_endpoint`` times; None for any number of times.

    Raises ``RefusalError`` with the line of a file. A policy and a user's placement say only in
    which order endpoints are filled, so that theirs may be more.
    """
    if isinstance(given, str) and not is_file(given):
        return
    if len(found) > ranks:
        some = f"{ranks} rank{'' if ranks == 1 else 's'}"
        raise _at(given, ranks, len(found),
                  f"{len(found)} endpoints for {some}; an endpoint for every rank")
    if per_endpoint is None:
        return
    times: dict[int, int] = {}
    names = topology_of(on).endpoint_names
    for rank, endpoint in enumerate(found):
        times[endpoint] = count = times.get(endpoint, 0) + 1
        if count > per_endpoint and endpoint < len(names):
            raise _at(given, rank, len(found),
                      f"rank {rank} is the {_nth(count)} on {names[endpoint]}; no more"
                      f" than {per_endpoint} on each, or per_endpoint={count}")


def _nth(count: int) -> str:
    return {2: "second", 3: "third"}.get(count, f"{count}th")


def _at(given: Placed, rank: int, count: int, why: str) -> RefusalError:
    """The refusal of the entry of a rank, with the file and its line where it is from one."""
    if not isinstance(given, (str, os.PathLike)):
        return RefusalError(f"placement: {why}")
    lines = [(number, line) for number, text in enumerate(_text(given).splitlines(), 1)
             if (line := text.partition("#")[0].strip())]
    of_rank = [number for number, line in lines if re.match(rf"rank\s+{rank}\s*=", line)]
    if not of_rank and len(lines) == count:
        of_rank = [lines[rank][0]]
    place = f"line {of_rank[0]}: " if of_rank else ""
    return RefusalError(f"placement: {os.fspath(given)}: {place}{why}")


def _filled(
    topology: Topology, part: PluginPart, given: dict[str, Any], per_endpoint: int
) -> list[int]:
    """The endpoint of every process, in the order of a user's placement."""
    order = returned(part, given, topology)
    if isinstance(order, (str, bytes)) or not isinstance(order, Iterable):
        raise wrong(part, "returns no endpoints; their numbers, in order")
    try:
        found = [index(endpoint) for endpoint in order]
    except TypeError:
        raise wrong(part, "returns what is no number of an endpoint") from None
    seen: set[int] = set()
    for endpoint in found:
        if not 0 <= endpoint < topology.endpoints:
            last = topology.endpoints - 1
            raise wrong(part, f"there is no endpoint {endpoint}; 0 to {last}")
        if endpoint in seen:
            raise wrong(part, f"endpoint {endpoint} comes twice")
        seen.add(endpoint)
    return [endpoint for endpoint in found for _ in range(per_endpoint)]
