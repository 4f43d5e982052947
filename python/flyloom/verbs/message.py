"""The message level: how long a schedule of processes takes, under LogGOPS, over a network."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any

from flyloom import _core
from flyloom._core import RefusalError, Routing, Topology
from flyloom.inputs.placements import Placed, places
from flyloom.inputs.tables import Tables
from flyloom.inputs.workloads import Scheduled, workload
from flyloom.support.progress import Progress
from flyloom.support.reading import read_json
from flyloom.support.refused import none_such
from flyloom.support.results import Result
from flyloom.verbs.routes import routed_or_not
from flyloom.verbs.settings import nested

DIALECTS = ("causal", "loggops-v1")
LETTERS = {
    "L": "L_ns", "o": "o_ns", "g": "g_ns", "G": "G_ns_per_byte", "O": "O_ns_per_byte",
    "S": "S_bytes",
}
"""The parameters, as LogGOPSim names them, and with their units, as files of measurements do."""


def message(
    source: Scheduled,
    *,
    make: Mapping[str, Any] | None = None,
    net: Tables | None = None,
    engine: str | None = None,
    lmc: int | None = None,
    layers: int | None = None,
    engine_options: Mapping[str, Any] | None = None,
    placement: Placed = "linear",
    per_endpoint: int = 1,
    dialect: str = "causal",
    loggp: str | os.PathLike[str] | None = None,
    parameters: Mapping[str, float] | None = None,
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
    critical_path: bool = False,
    progress: Progress | None = None,
) -> Result:
    """How long a schedule takes, alone or over a network.

    Parameters
    ----------
    source
        A schedule; or a file of one; or, with ``make``, the name of what ``make_workload`` makes.
    make
        The parameters of a schedule by name; without ``ranks`` a rank for every place.
    net
        A network, as for ``network``, or tables: messages share its channels, and its latencies and
        rates take the place of ``L`` and ``G``.
    engine
        Routes are those of this engine's tables, with ``lmc``, ``layers`` and ``engine_options``;
        without one, and without tables, messages take all shortest ways in even parts.
    placement
        The endpoint of every rank: ``"linear"``, ``"random"``, ``"random_switches"``,
        ``"random_groups"``, ``"stripe"``; a file with a line for each job, endpoints in the order
        of ranks; or a list of endpoints.
    per_endpoint
        Ranks on each endpoint.
    dialect
        ``"causal"``: an operation begins when what it waits for has ended; or ``"loggops-v1"``: as
        LogGOPSim does (docs/message.md), without a network.
    loggp
        A JSON file with measured parameters: ``L_ns``, ``o_ns``, ``g_ns``, ``G_ns_per_byte``,
        ``O_ns_per_byte``, ``S_bytes``.
    parameters
        ``L``, ``o``, ``g`` in nanoseconds, ``G``, ``O`` in nanoseconds a byte, ``S`` in bytes;
        those of the file, else of LogGOPSim, where one is not given.
    settings
        Other parameters by their dotted names, such as ``{"network.switch_ns": 200}``: see
        docs/message.md.
    seed
        The seed of all that is random.
    critical_path
        Finds, too, what the end of the run waited for, and what processors do (dialect causal).
    progress
        Called with ``(what, done, total)``.

    Fields: ``dialect``, ``parameters``, ``ranks``, ``finish_ns`` (of the last rank),
    ``mean_finish_ns``, ``events``, ``messages``, ``sent_bytes``, ``rank_finish_ns`` (an array: of
    every rank); with a network ``network`` (what went over it) and ``channels``: lists ``from``,
    ``to`` and arrays ``bytes``, ``use`` of every channel; ``critical_path``: ``parts_ns``, what the
    run spends its time on; ``derivatives``, by how much it is longer for each nanosecond (a byte)
    of a parameter; ``path``, columns ``rank``, ``operation``, ``begin_ns``, ``end_ns``; ``work``,
    columns ``rank``, ``doing``, ``begin_ns``, ``end_ns`` of all processors. Raises
    ``RefusalError`` for a schedule that cannot come to its end: it says which operations are left,
    and what they wait for.
    """
    if dialect not in DIALECTS:
        raise none_such("dialect", dialect, DIALECTS)
    costs = {**(measured(loggp) if loggp is not None else {}), **(parameters or {})}
    if strange := sorted(set(costs) - set(LETTERS)):
        raise RefusalError(f"parameters: there is no {strange[0]!r}; {', '.join(LETTERS)}")
    for letter, value in costs.items():
        if isinstance(value, float) and not math.isfinite(value):
            most = 2**32 - 1 if letter == "S" else 2**31 - 1
            unit = "bytes" if letter == "S" else "ns"
            raise RefusalError(f"{letter}: {value} is no finite number; 0 to {most} {unit}")
    spec = network_tables(settings)
    spec |= {"dialect": dialect, "costs": costs, "per_endpoint": per_endpoint, "seed": seed}
    on = routed_or_none(
        net, engine, lmc=lmc, layers=layers, options=engine_options, placement=placement,
        per_endpoint=per_endpoint, progress=progress,
    )
    where = None
    if on is not None:
        spec["placement"], where = places(on, placement, per_endpoint)
    given = None
    if make is None:
        given = workload(source, progress)
    else:
        spec |= {"workload": str(source), "with": dict(make)}
    found, finish, channels, trace = _core.simulate_message(
        given, spec, on, where, critical_path, progress
    )
    more = {} if channels is None else {"channels": channels}
    if trace is not None:
        more["critical_path"] = trace
    return Result({**found, "rank_finish_ns": finish, **more})


def network_tables(settings: Mapping[str, Any] | None) -> dict[str, Any]:
    """Parameters of the network by their dotted names, as tables."""
    spec: dict[str, Any] = nested(settings or {})
    for name in spec:
        if name != "network":
            raise RefusalError(f"settings: {name} is no table; network.KEY=VALUE")
    return spec


def routed_or_none(
    net: Tables | None, engine: str | None, *, placement: Placed, per_endpoint: int,
    lmc: int | None, layers: int | None, options: Mapping[str, Any] | None,
    progress: Progress | None,
) -> Topology | Routing | None:
    """The network that messages go over, or its tables; None where there is none."""
    if net is None and (engine is not None or placement != "linear" or per_endpoint != 1):
        raise RefusalError("net: none, but an engine or a placement; the network that it is of")
    return None if net is None else routed_or_not(
        net, engine, lmc=lmc, layers=layers, options=options, progress=progress
    )


def measured(path: str | os.PathLike[str]) -> dict[str, float]:
    """The parameters in a file of measurements."""
    said = read_json(path)
    if not isinstance(said, dict):
        raise RefusalError(f"{path}: no table; {', '.join(LETTERS.values())} with their values")
    found: dict[str, float] = {}
    for letter, name in LETTERS.items():
        if letter in said:
            raise RefusalError(f"{path}: {letter}: a number without a unit; {name}")
        value = said.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise RefusalError(f"{path}: {name}: {value!r} is no number")
        found[letter] = value
    if missing := [LETTERS[letter] for letter in "LogG" if letter not in found]:
        raise RefusalError(f"{path}: there is no {missing[0]}; {', '.join(LETTERS.values())}")
    if found["L"] <= 0:
        why = "of a latency that is not above 0, as measured where the receiver's work is done"
        help_ = "measure ranks that have processors of their own, or two hosts"
        raise RefusalError(f"{path}: L_ns: {found['L']:g}: {why} within the sender's call; {help_}")
    for letter, value in found.items():
        if value < 0:
            why = "below 0, as measured on a machine that did other work; measure again"
            raise RefusalError(f"{path}: {LETTERS[letter]}: {value:g}: {why}")
    return found
