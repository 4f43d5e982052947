"""Traffic, from its name, a file, or rows."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from flyloom._core import RefusalError, Topology, Traffic
from flyloom.support.checks import whole
from flyloom.support.reading import read_rows, shown

NAMED = ("uniform", "longest_matching", "elephant")
"""The traffic matrices that need no file."""

HEADERS = (("src", "dst", "demand"), ("src_switch", "dst_switch", "demand"))
"""First lines of a file of traffic; under the second, numbers are those of switches."""

Wanted = str | os.PathLike[str] | Iterable[Sequence[object]]
"""A name, a file, or rows of source, destination and amount."""


def demands(
    topology: Topology, traffic: Wanted, *, elephants: float = 0.1, seed: int = 0
) -> Traffic:
    """The traffic that ``traffic`` stands for, as for ``throughput``."""
    whole("seed", seed, 0, 2**64 - 1)
    try:
        fraction = float(elephants)
    except (TypeError, ValueError):
        raise RefusalError(f"elephants: {elephants!r} is no fraction; 0 to 1") from None
    if not 0 <= fraction <= 1:
        raise RefusalError(f"elephants: {elephants} is no fraction of the flows; 0 to 1")
    if isinstance(traffic, str) and traffic in NAMED:
        return Traffic.named(topology, traffic, fraction, seed)
    if isinstance(traffic, (str, os.PathLike)):
        path = Path(traffic)
        if not os.path.exists(path):
            known = ", ".join(NAMED)
            raise RefusalError(f"traffic: '{traffic}' is no file; {known}, or a CSV file")
        rows: Iterable[tuple[str, object]] = (
            (f"{path}: line {line}", row) for line, row in read_rows(path, skip_blanks=True)
        )
        where = str(path)
    elif isinstance(traffic, Iterable):
        rows = ((f"traffic: row {i}", row) for i, row in enumerate(traffic))
        where = "traffic"
    else:
        raise RefusalError(f"traffic: {traffic!r} is neither a name nor rows src, dst, demand")
    listed = _parties(topology, where, rows)
    try:
        return Traffic.listed(topology, listed)
    except RefusalError as error:
        raise RefusalError(f"{where}: {error}") from None


def _parties(
    topology: Topology, where: str, rows: Iterable[tuple[str, object]]
) -> list[tuple[bool, int, bool, int, float]]:
    endpoints = {name: i for i, name in enumerate(topology.endpoint_names)}
    switches = {name: i for i, name in enumerate(topology.switch_names)}
    numbers_are_switches = False

    def party(at: str, given: object) -> tuple[bool, int]:
        word = str(given).strip()
        if word.isascii() and word.isdigit():
            known = len(switches) if numbers_are_switches else len(endpoints)
            if len(word) <= len(str(known)) and int(word) < known:
                return numbers_are_switches, int(word)
            kind = "switch" if numbers_are_switches else "endpoint"
            raise RefusalError(f"{at}: {shown(word)} is no {kind}; 0 to {known - 1}")
        if word in endpoints:
            return False, endpoints[word]
        if word in switches:
            return True, switches[word]
        raise RefusalError(f"{at}: there is no endpoint and no switch '{shown(word)}'")

    found: list[tuple[bool, int, bool, int, float]] = []
    for at, row in rows:
        cells = [str(cell).strip() for cell in row] if isinstance(row, Iterable) else []
        if not any(cells) or cells[0].startswith("#"):
            continue
        if not found and tuple(cells) in HEADERS:
            numbers_are_switches = cells[0] == "src_switch"
            continue
        if len(cells) != 3:
            raise RefusalError(f"{at}: {len(cells)} values; write src,dst,demand")
        try:
            amount = float(cells[2])
        except ValueError:
            amount = math.nan
        if amount != 0 and not 1e-6 <= amount <= 1e6:
            raise RefusalError(
                f"{at}: {shown(cells[2])} is no amount of traffic; 0, or 0.000001 to 1000000"
            )
        found.append((*party(at, cells[0]), *party(at, cells[1]), amount))
    if not found:
        raise RefusalError(f"{where}: no demands; lines src,dst,demand")
    return found
