"""Traffic, from whatever a user names: a name, a matrix, pairs, or a file of either."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np

from flyloom._core import RefusalError, Topology, Traffic, meant
from flyloom.inputs.communication import traffic_of
from flyloom.inputs.graphs import MatrixLike
from flyloom.inputs.rows import (
    HEADERS,
    MATRICES,
    TIMES,
    RawTimedPackets,
    RawTrafficRows,
    said,
)
from flyloom.plugins.functions import named, returned, split, wrong
from flyloom.plugins.parts import PluginPart
from flyloom.support import machine
from flyloom.support.checks import whole
from flyloom.support.notes import once
from flyloom.support.reading import is_path, shown, standing_in

Wanted = str | os.PathLike[str] | MatrixLike | Mapping[Any, Any] | Iterable[Any] | Traffic
"""A name, a file, a matrix (numpy, scipy sparse, nested lists), rows of source, destination and
amount, or a mapping from source and destination to amount."""

LEAST, MOST = 1e-6, 1e6
"""The bounds of an amount that is not 0. Where one is above, all are bytes."""
MOST_BYTES = 1e30
"""The most bytes that a pair may send."""

_travelled: dict[str, RawTrafficRows | RawTimedPackets] = {}


def demands(
    topology: Topology, traffic: Wanted | RawTrafficRows, *, elephants: float = 0.1, seed: int = 0
) -> Traffic:
    """The traffic that ``traffic`` stands for on a network.

    Parameters
    ----------
    topology
        The network.
    traffic
        See docs/measures.md#own-traffic: one vocabulary for ``throughput``, ``congestion``, ``ebb``
        and the engine ``application``. Amounts are in units of an endpoint's full rate: 0, or
        ``LEAST`` to ``MOST``; or they are bytes, which are divided by what the busiest endpoint
        sends. What an endpoint sends to itself is left out.
    elephants
        Fraction of the flows of ``"elephant"`` that is large.
    seed
        Of what is drawn at random: large flows, random patterns.

    Raises
    ------
    RefusalError
        With the file and line, the row or the place in the matrix that is at fault.
    """
    seed = whole("seed", seed, 0, 2**64 - 1)
    try:
        fraction = float(elephants)
    except (TypeError, ValueError):
        raise RefusalError(f"elephants: {elephants!r} is no fraction; 0 to 1") from None
    if not 0 <= fraction <= 1:
        raise RefusalError(f"elephants: {elephants} is no fraction of the flows; 0 to 1")
    if isinstance(traffic, Traffic):
        if traffic.topology != topology:
            raise RefusalError("traffic: made for another network; give its rows or its matrix")
        return traffic
    if isinstance(traffic, str) and is_name(traffic):
        return Traffic.named(topology, traffic, fraction, seed)
    if isinstance(traffic, str) and (asked := named("pattern", traffic)):
        given = _said_by(topology, *asked)
    else:
        given = traffic if isinstance(traffic, RawTrafficRows) else _given(traffic)
    if given.shape is not None:
        ends, amounts = _of_matrix(topology, given)
    else:
        ends, amounts = _of_rows(topology, given)
    if given.in_bytes or (amounts > MOST).any():
        amounts = _of_bytes(topology, ends[0], amounts, given.where)
    try:
        return Traffic.listed(topology, ends[0], ends[1], amounts)
    except RefusalError as error:
        raise RefusalError(f"{given.where}: {error}") from None


def packet_times(topology: Topology, traffic: object) -> tuple[str, str] | None:
    """The name and the text of a file of packets with their times; None where it is none.

    It is one when its first line has the words of ``TIMES`` or, where that cannot be a row of a
    matrix, four values.
    """
    if not isinstance(traffic, (str, os.PathLike)):
        return None
    path = os.fspath(traffic)
    found = _travelled.get(path)
    if found is None and os.path.isfile(path) and not path.endswith(MATRICES):
        found = traffic_of(Path(path))
    if not isinstance(found, RawTimedPackets):
        return None
    if not found.says_so and topology.endpoints == len(TIMES):
        return None
    return found.where, found.text


def is_name(text: str, own: bool = False) -> bool:
    """Whether a word is the name of some traffic, with its argument, rather than a file's; also of
    a pattern that a user wrote where those are asked for."""
    traffics, patterns = Traffic.names()
    built_in = split(text)[0] in (*traffics, *patterns)
    if built_in and " " in text and os.path.exists(text):
        return False
    return built_in or (own and named("pattern", text) is not None)


def called(traffic: object) -> str:
    """What results call a traffic: its name or its file; ``given`` where it has none."""
    return str(traffic) if isinstance(traffic, (str, os.PathLike)) else "given"


def travelling(
    files: Mapping[str, RawTrafficRows | RawTimedPackets],
) -> AbstractContextManager[None]:
    """While the context lasts, these file names stand for contents read before elsewhere."""
    return standing_in(_travelled, files)


def _said_by(topology: Topology, part: PluginPart, given: dict[str, Any]) -> RawTrafficRows:
    """The traffic that a user's pattern gives for a network."""
    sent = returned(part, given, topology)
    if isinstance(sent, (str, os.PathLike)) or not isinstance(
        sent, (MatrixLike, Mapping, Iterable)
    ):
        raise wrong(part, "returns no traffic; a matrix, or rows src, dst, demand")
    return said(sent)


def _given(traffic: Wanted) -> RawTrafficRows:
    """The rows or the matrix of a file or of a Python value."""
    if isinstance(traffic, (str, os.PathLike)):
        path = os.fspath(traffic)
        if known := _travelled.get(str(path)):
            return known.rows() if isinstance(known, RawTimedPackets) else known
        if not is_path(path):
            traffics, patterns = Traffic.names()
            near = _nearest(str(path).partition(":")[0], [*traffics, *patterns])
            names = ", ".join([*(name for name in traffics if name not in patterns), *patterns])
            why = f"'{shown(path)}' is neither a name nor a file{near}"
            raise RefusalError(f"traffic: {why}; {names}, or a file")
        found = traffic_of(Path(path))
        return found.rows() if isinstance(found, RawTimedPackets) else found
    if not isinstance(traffic, (MatrixLike, Mapping, Iterable)):
        help_ = "a name, a file, a matrix, or rows src, dst, demand"
        raise RefusalError(f"traffic: {shown(repr(traffic))} is no traffic; {help_}")
    return said(traffic)


def _of_matrix(topology: Topology, given: RawTrafficRows) -> tuple[tuple[Any, Any], Any]:
    n = topology.endpoints
    if given.shape != (n, n):
        rows, columns = given.shape or (0, 0)
        raise RefusalError(
            f"{given.where}: a matrix of {rows} x {columns}; the network has {n} endpoints: "
            f"{n} x {n}, entry (i, j) from endpoint i to j"
        )
    source, destination, amount = given.entries
    least = LEAST if not (amount > MOST).any() else 0.0
    bad = ~((amount == 0) | ((amount >= least) & (amount <= MOST_BYTES)))
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        place = given.place(int(source[at]), int(destination[at]))
        raise _no_amount(place, f"{amount[at]:g}")
    keep = (amount != 0) & (source != destination)
    return (source[keep].astype(np.int64), destination[keep].astype(np.int64)), amount[keep]


def _of_rows(topology: Topology, given: RawTrafficRows) -> tuple[tuple[Any, Any], Any]:
    """Rows as arrays; switch i is -1 - i."""
    where = given.where
    endpoints = {name: i for i, name in enumerate(topology.endpoint_names)}
    switches = {name: i for i, name in enumerate(topology.switch_names)}
    numbers_are_switches, width = False, 0

    def party(at: str, given: object) -> int:
        word = str(given).strip()
        if word.isascii() and word.isdigit():
            known = len(switches) if numbers_are_switches else len(endpoints)
            if len(word) <= len(str(known)) and int(word) < known:
                return -1 - int(word) if numbers_are_switches else int(word)
            kind = "switch" if numbers_are_switches else "endpoint"
            raise RefusalError(f"{at}: {shown(word)} is no {kind}; 0 to {known - 1}")
        if word in endpoints:
            return endpoints[word]
        if word in switches:
            return -1 - switches[word]
        near = _nearest(word, [*endpoints, *switches])
        raise RefusalError(f"{at}: there is no endpoint and no switch '{shown(word)}'{near}")

    source: list[int] = []
    destination: list[int] = []
    amounts: list[float] = []
    places: list[tuple[str, str]] = []
    for at, row in given.rows:
        cells = _cells(row)
        if not any(cells) or cells[0].startswith("#"):
            continue
        if not source and tuple(cells) in HEADERS:
            numbers_are_switches = cells[0] == "src_switch"
            continue
        width = width or len(cells)
        if len(cells) not in (2, 3) or len(cells) != width:
            help_ = "src,dst,demand in every row, or src,dst in every one"
            raise RefusalError(f"{at}: {len(cells)} values; {help_}")
        source.append(party(at, cells[0]))
        destination.append(party(at, cells[1]))
        amounts.append(_amount(at, cells[2]) if len(cells) == 3 else 1.0)
        places.append((at, cells[-1]))
    if not source:
        raise RefusalError(f"{where}: no demands; lines src,dst,demand")
    if not given.in_bytes and max(amounts) <= MOST:
        for (at, text), amount in zip(places, amounts, strict=True):
            if 0 < amount < LEAST:
                raise _no_amount(at, shown(text))
    ends = (np.array(source, dtype=np.int64), np.array(destination, dtype=np.int64))
    return ends, np.array(amounts, dtype=np.float64)


def _cells(row: object) -> list[str]:
    """The values of a row as text; a number that floats hold is written whole."""
    if isinstance(row, str) or not isinstance(row, Iterable):
        return [str(row)]
    return [
        str(int(cell)) if isinstance(cell, (float, np.floating)) and i < 2 and cell == cell // 1
        else str(cell).strip()
        for i, cell in enumerate(row)
    ]


def _amount(at: str, text: str) -> float:
    try:
        amount = float(text)
    except ValueError:
        amount = math.nan
    if not 0 <= amount <= MOST_BYTES:
        raise _no_amount(at, shown(text))
    return amount


def _of_bytes(topology: Topology, source: Any, amounts: Any, where: str) -> Any:
    """Bytes in units of the most that an endpoint sends, with a note that says so.

    What a switch sends is spread over its endpoints. Amounts below ``LEAST`` of the most are left
    out.
    """
    sent = np.zeros(topology.endpoints)
    endpoints = source >= 0
    np.add.at(sent, source[endpoints], amounts[endpoints])
    table = topology.terminal_table
    homes = np.unique(np.stack([table["switch"], table["endpoint"]]), axis=1)
    counts = np.bincount(homes[0], minlength=topology.switches)
    of_switch = np.zeros(topology.switches)
    np.add.at(of_switch, -1 - source[~endpoints], amounts[~endpoints])
    np.add.at(sent, homes[1], of_switch[homes[0]] / counts[homes[0]])
    most = float(sent.max(initial=0.0))
    if most == 0:
        return amounts
    shares = amounts / most
    few = (shares > 0) & (shares < LEAST)
    shares[few] = 0.0
    said = (f"{where}: amounts are taken as bytes: 1 is {most:.6g} bytes, what the busiest sender"
            " sends")
    if few.any():
        said += f"; {int(few.sum()):,} of less than a millionth of it are left out"
    if machine.tell:
        once(said)
    else:
        warnings.warn(said, UserWarning, stacklevel=4)
    return shares


def _no_amount(at: str, text: str) -> RefusalError:
    help_ = "0, or 0.000001 to 1000000, in units of what an endpoint can send, or bytes"
    return RefusalError(f"{at}: {text} is no amount of traffic; {help_}")


def _nearest(word: str, known: Sequence[str]) -> str:
    """A clause that names what a word nearly is; empty where it is near nothing."""
    near = meant(word, list(known))
    return f" (did you mean '{near}'?)" if near else ""
