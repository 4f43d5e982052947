"""What the counters of a running fabric say: hot links, waits, bad cables, and the traffic."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from flyloom._core import (
    RefusalError,
    Routing,
    Topology,
    estimated_traffic,
    observe_counters,
    predicted_loads,
)
from flyloom.cabling.bad_cables import bad_cables_svg
from flyloom.cabling.checked import load_plan
from flyloom.cabling.observed_places import DevicePlaces, walked
from flyloom.inputs.catalogs import floor_rules
from flyloom.inputs.networks import network
from flyloom.inputs.tables import Tables, tables
from flyloom.inputs.traffic import LEAST, Wanted, called, demands
from flyloom.support.progress import Progress
from flyloom.support.reading import read_text
from flyloom.support.verb_results import FabricObservation
from flyloom.verbs.routes import route

ENDS = ("from", "from_port", "from_place", "to", "to_port", "to_place")
"""Fields of a channel that say where it is."""
MOST_PAIRS = 200
"""The most pairs of switches that an estimate lists."""

Files = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
Floor = Mapping[str, Any] | str | os.PathLike[str] | Topology | tuple[Topology, Any]
"""Rules of the floor, as a dict or a TOML file; or the plan of the fabric: a network, a folder of
``flyloom cables``, or what :func:`load_plan` makes of either."""


def observe(
    source: Tables,
    counters: Files,
    *,
    routes: Tables | None = None,
    traffic: Wanted | None = None,
    estimate: bool = False,
    seconds: float | None = None,
    wraps: bool = False,
    bit_error_rate: float = 1e-12,
    floor: Floor | None = None,
    progress: Progress | None = None,
) -> FabricObservation:
    """What the counters of a fabric's ports say of its links and cables; see docs/observing.md.

    Parameters
    ----------
    source
        The network: that of ``ibnetdiscover``, a plan, or a folder of ``flyloom cables``.
    counters
        Files of counters in the order of time, of any format of ``flyloom list counter-files``. Two
        samples or more give rates.
    routes
        The tables of the fabric: a ``Routing``, a folder of ``flyloom route -o``, a file of
        ``dump_fts``, or the name of an engine.
    traffic
        What endpoints are thought to send, as for ``congestion``: its loads over ``routes`` stand
        beside the measured ones.
    estimate
        Whether to look for the traffic that explains the loads over ``routes``.
    seconds
        The time between samples of files without times.
    wraps
        Whether counters of 32 bits begin again at 0, as those of some exporters do; by the
        InfiniBand specification they stay at their maximum.
    bit_error_rate
        The largest share of wrong bits that a link may have.
    floor
        Where a network from a file stands: its plan (a network, or a folder of ``flyloom cables``),
        whose devices are found in it as by ``verify_cables``; or rules of the floor, as for
        ``plan``. Without it such a network has no places.
    progress
        Called with ``(what, done, total)``.

    Raises ``RefusalError`` for a file of no known format, for counters of another fabric, and for
    routes of another network. O(readings log readings); the estimate as docs/observing.md says.
    """
    topology, given, planned = _network(source)
    routing = _routing(topology, given if routes is None else routes, progress)
    if routing is None and (traffic is not None or estimate):
        raise RefusalError("routes: loads are predicted and traffic is estimated over tables; give"
                           " a folder of flyloom route -o, a file of dump_fts, or an engine")
    paths = [counters] if isinstance(counters, (str, os.PathLike)) else list(counters)
    names, texts = [str(path) for path in paths], [read_text(path) for path in paths]
    if not names:
        raise RefusalError("counters: no file; at least one")
    found = observe_counters(
        topology, names, texts, _positive("seconds", seconds), bool(wraps),
        _positive("bit_error_rate", bit_error_rate) or 0.0,
    )
    places = _places(topology, planned, floor)
    found["network"] = topology.recipe
    found["channels"] = sorted(
        ({**row, **places.of_ends(row["from"], row["to"])} for row in found["channels"]),
        key=_heat,
    )
    found["bad_cables"] = walked(found["bad_cables"], places)
    found["prediction"] = found["estimate"] = None
    if routing is not None and traffic is not None:
        found["prediction"] = _prediction(routing, traffic, found["channels"], progress)
    if routing is not None and estimate:
        found["estimate"] = _estimate(routing, found["channels"], progress)
    return FabricObservation(found)


def observed_floor(
    source: Tables, found: FabricObservation, floor: Floor | None = None
) -> str:
    """The floor of a network with the bad cables of an observation, as SVG.

    Raises ``RefusalError`` for a network whose floor is not known.
    """
    topology, _, planned = _network(source)
    drawn = _places(topology, planned, floor).floor
    if drawn is None:
        raise RefusalError(f"-o: {topology.recipe} is from a file and has no floor; --plan PLAN or"
                           " --rules FILE says how it stands")
    return bad_cables_svg(drawn, found.to_dict())


def _places(
    topology: Topology, planned: dict[str, Any] | None, floor: Floor | None
) -> DevicePlaces:
    """Where devices stand: by their plan, by the rules given, or by those of a folder of cables."""
    if isinstance(floor, tuple):
        return DevicePlaces.of_fabric(topology, *floor)
    if isinstance(floor, Topology):
        return DevicePlaces.of_fabric(topology, floor, None)
    if isinstance(floor, (str, os.PathLike)) and not str(floor).endswith(".toml"):
        return DevicePlaces.of_fabric(topology, *load_plan(os.fspath(floor)))
    given = planned if floor is None else floor_rules(floor)
    return DevicePlaces.of(topology, given, is_planned=floor is not None)


def _positive(name: str, value: float | None) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise RefusalError(f"{name}: {value!r} is no number; above 0")
    if not 0 < value < math.inf:
        raise RefusalError(f"{name}: {value} is not above 0")
    return float(value)


def _heat(row: Mapping[str, Any]) -> tuple[float, int, str, int]:
    """The hottest first: by the rate of the link, else by bytes."""
    use, carried = row["use_fraction"], row["bytes"]
    return (-1.0 if use is None else -1.0 - use, -(carried or 0), row["from"], row["from_port"])


def _network(source: Tables) -> tuple[Topology, Routing | None, dict[str, Any] | None]:
    """The network, its tables where the source has some, and the rules of its floor."""
    if isinstance(source, Routing):
        return source.topology, source, None
    if isinstance(source, (str, os.PathLike)) and os.path.isdir(source):
        if os.path.exists(Path(source) / "routing.json"):
            routing = tables(source)
            return routing.topology, routing, None
        topology, rules = load_plan(os.fspath(source))
        return topology, None, rules
    return network(source), None, None


def _routing(
    topology: Topology, routes: Tables | None, progress: Progress | None
) -> Routing | None:
    """The tables over the observed network."""
    if routes is None:
        return None
    is_file = isinstance(routes, (str, os.PathLike)) and os.path.isfile(routes)
    if is_file:
        name = os.fspath(routes)  # type: ignore[arg-type]
        text = read_text(name)
        if "Unicast lids" in text:  # what dump_fts prints of every switch
            return topology.import_tables(text, name, None, None)
    is_engine = isinstance(routes, str) and not is_file and not os.path.exists(routes)
    if isinstance(routes, str) and is_engine and ":" not in routes.removeprefix("opensm:"):
        return route(topology, routes, new_lids=None, progress=progress)
    found = tables(routes, progress=progress)
    if _cabling(found.topology) != _cabling(topology):
        raise RefusalError(f"routes: of another network: {found.topology.recipe}, not"
                           f" {topology.recipe}; route the network that is observed")
    return found


def _cabling(topology: Topology) -> tuple[object, ...]:
    """What two networks have alike whose channels have the same numbers."""
    links, terminals = topology.link_table, topology.terminal_table
    columns = [links[key] for key in ("a_switch", "a_port", "b_switch", "b_port")]
    columns += [terminals[key] for key in ("endpoint", "rail", "switch", "port")]
    return (*topology.switch_names, *(column.tobytes() for column in columns))


def _measured(routing: Routing, rows: Iterable[Mapping[str, Any]]) -> list[np.ndarray]:
    """The loads in Gbit/s of channels, and what terminals sent and received; NaN if not known."""
    on = routing.topology
    channels = np.full(2 * on.links, np.nan)
    ends = [np.full(on.terminals, np.nan), np.full(on.terminals, np.nan)]
    for row in rows:
        if row["gbps"] is None:
            continue
        if row["is_endpoint_cable"]:
            ends[row["direction"]][row["cable"]] = row["gbps"]
        else:
            channels[2 * row["cable"] + row["direction"]] = row["gbps"]
    return [channels, *ends]


def _prediction(
    routing: Routing, traffic: Wanted, rows: Sequence[Mapping[str, Any]], progress: Progress | None
) -> dict[str, Any]:
    """Measured loads of the channels of links beside those of a traffic over tables, each as its
    share of all."""
    predicted = predicted_loads(routing, demands(routing.topology, traffic), progress)
    measured = _measured(routing, rows)[0]
    known = np.isfinite(measured)
    sums = measured[known].sum(), predicted[known].sum()
    if not known.any() or min(sums) <= 0:
        raise RefusalError("counters: no link of the network has carried anything in a known time,"
                           " so no traffic can stand beside it; two samples with their times, or"
                           " --seconds; errors alone are shown without traffic")
    shares = np.full(len(measured), np.nan), predicted / sums[1]
    shares[0][known] = measured[known] / sums[0]
    # loads that are all alike have no correlation
    spread = all(x.std() > 1e-9 * x.mean() for x in (measured[known], predicted[known]))
    correlation = float(np.corrcoef(measured[known], predicted[known])[0, 1]) if spread else None
    compared = []
    for row in rows:
        channel = 2 * row["cable"] + row["direction"]
        if row["is_endpoint_cable"] or not known[channel]:
            continue
        compared.append({
            **{key: row[key] for key in ENDS},
            "gbps": row["gbps"],
            "predicted_gbps": float(shares[1][channel] * sums[0]),
            "measured_share": float(shares[0][channel]),
            "predicted_share": float(shares[1][channel]),
            "deviation": float(shares[0][channel] - shares[1][channel]),
        })
    compared.sort(key=lambda row: (-abs(row["deviation"]), row["from"], row["from_port"]))
    return {
        "traffic": called(traffic), "engine": routing.engine, "compared_channels": int(known.sum()),
        "correlation": correlation,
        "misplaced_share": float(np.abs(shares[0][known] - shares[1][known]).sum() / 2),
        "channels": compared,
    }


def _estimate(
    routing: Routing, rows: Sequence[Mapping[str, Any]], progress: Progress | None
) -> dict[str, Any]:
    """The traffic that explains the loads, by pairs of switches."""
    channels, sent, received = _measured(routing, rows)
    found = estimated_traffic(routing, channels, sent, received, progress)
    on = routing.topology
    home = on.terminal_table["switch"]
    pairs = np.zeros((on.switches, on.switches))
    np.add.at(pairs, (found["switch"], home[found["terminal"]]), found["gbps"])
    order = np.argsort(-pairs, axis=None, kind="stable")
    names = on.switch_names
    listed = [divmod(int(at), on.switches) for at in order[:MOST_PAIRS]]
    # where cables of endpoints have no counters, the fastest link stands for them
    rates = [row["rate_gbps"] for row in rows if row["is_endpoint_cable"]] or [
        row["rate_gbps"] for row in rows
    ]
    return {
        **{key: found[key] for key in ("unknowns", "equations", "residual", "gravity_residual")},
        "engine": routing.engine, "gbps": float(pairs.sum()),
        "rate_gbps": max(rates),
        "pair_count": int((pairs > 0).sum()),
        "pairs": [{"from": names[a], "to": names[b], "gbps": float(pairs[a, b])}
                  for a, b in listed if pairs[a, b] > 0],
    }


def traffic_rows(found: FabricObservation) -> list[tuple[str, str, float]]:
    """The pairs of an estimate as rows of a traffic file, in units of an endpoint's full rate."""
    if found.estimate is None:
        raise RefusalError("estimate: none was asked for")
    rate = found.estimate.rate_gbps
    rows = [(row["from"], row["to"], row["gbps"] / rate) for row in found.estimate.pairs]
    return [row for row in rows if row[0] != row[1] and row[2] >= LEAST]
