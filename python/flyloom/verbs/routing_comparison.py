"""Routing engines side by side on one network: ours, and OpenSM's own on a simulated fabric."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable
from typing import Any

import numpy

from flyloom._core import RefusalError, Routing, Topology, opensm_engines, routes_asked
from flyloom._measures import ebb, edge_load, path_diversity, verify
from flyloom.inputs.networks import Source, network
from flyloom.plugins.found import parameters_of
from flyloom.support import renamed
from flyloom.support.checks import whole
from flyloom.support.errors import DeployError
from flyloom.support.progress import Progress
from flyloom.support.refused import hint
from flyloom.support.verb_results import RoutingComparison
from flyloom.verbs.routes import route

#: Engines that take many lanes or one: their tables with the other choice are a row, too.
VARIANTS = {"nue": "nue:max_lanes=1", "opensm:nue": "opensm:nue:max_lanes=8"}
#: Columns of the table: key, heading, what it means.
COLUMNS = (
    ("engine", "engine", "ours, or OpenSM's own (opensm:)"),
    ("verified", "verified", "every route arrives, and there is no deadlock"),
    ("deadlock_free", "no deadlock", "packets cannot wait in a cycle"),
    ("lanes", "lanes", "data lanes in use"),
    ("service_levels", "levels", "service levels in use"),
    ("mean_hops", "mean hops", "mean length of the routes"),
    ("max_hops", "longest", "hops of the longest route"),
    ("edge_forwarding_index", "most routes", "most routes on a channel"),
    ("lower_bound", "at least", "least that routes of this mean length can have"),
    ("effective_bisection_bandwidth", "eBB", "effective bisection bandwidth"),
    ("half_width_95", "+-", "half of its 95 % confidence interval"),
    ("mean_disjoint_paths", "disjoint", "mean link-disjoint paths of a pair of switches"),
    ("cpu_s", "CPU [s]", "routing; of OpenSM its whole first sweep"),
)
_PREFIX = re.compile(r"^.*? -> (?:\w+: )?")


@renamed.keywords("compare_routing", patterns="samples")
def compare_routing(
    source: Source,
    *,
    engines: Iterable[str] | None = None,
    lmc: int | None = None,
    layers: int | None = None,
    samples: int = 1000,
    seed: int = 0,
    progress: Progress | None = None,
) -> RoutingComparison:
    """What each routing engine makes of a network: proof, lanes, lengths, load, bandwidth, time.

    Parameters
    ----------
    source
        A network, as for ``network``.
    engines
        Names of engines, ours and ``opensm:NAME``, each with options after colons
        (``nue:max_lanes=1``); default: all of ours, and all of OpenSM's where it is installed.
    lmc, layers
        Routes to every terminal, as for ``route``; OpenSM's engines take an LMC.
    samples
        Number of random bisections of the effective bisection bandwidth.
    seed
        Seed of these, and of engines that draw.
    progress
        Called with ``(what, done, total)``.

    Fields: ``network``, ``layers``, ``samples``, ``seed``; ``rows``, a dict an engine, with
    ``engine``, ``verified``, ``deadlock_free`` (None: not judged), ``lanes`` in use,
    ``lanes_needed`` (of OpenSM by its log, which spreads paths over more; None where it does not
    say), ``service_levels`` in use, ``mean_hops`` and ``max_hops`` as of ``verify``,
    ``edge_forwarding_index`` and ``lower_bound`` as of ``edge_load``,
    ``effective_bisection_bandwidth`` and ``confidence_interval_95`` as of ``ebb``,
    ``mean_disjoint_paths`` and ``fraction_pairs_3_disjoint_paths`` as of ``path_diversity`` (None
    where routes do not arrive), ``why`` (what the proof found wrong, in lines); ``refused``, a dict
    for each engine that makes no tables here, with ``engine`` and ``why``; ``cpu_s``, CPU seconds
    by engine: of ours the routing, of OpenSM's the whole first sweep with discovery and writing.
    All but ``cpu_s`` are the same in every run, except what OpenSM's dfsssp draws at random: the
    service level of each path.

    Raises ``RefusalError`` for an engine that there is not, or where none makes tables. Costs what
    routing, proof and measures of all engines cost together.
    """
    samples = whole("samples", samples, 1, 2**32 - 1)
    seed = whole("seed", seed, 0, 2**64 - 1)
    topology = network(source)
    chosen = [_parsed(word) for word in dict.fromkeys(_all() if engines is None else engines)]
    if not chosen:
        raise RefusalError("engines: none is named; flyloom list engines")
    rows, refused, cpu_s = [], _absent() if engines is None else [], {}
    for number, (label, name, options) in enumerate(chosen):
        if progress:
            progress("engines", number, len(chosen))
        try:
            routing, about, spent = _routed(topology, name, options, lmc, layers, seed)
        except (RefusalError, DeployError) as error:
            refused.append({"engine": label, "why": _reason(error).removeprefix(f"{name}: ")})
            continue
        rows.append({"engine": label, **_measured(routing, about, samples, seed)})
        cpu_s[label] = spent
    if not rows:
        reasons = "; ".join(f"{one['engine']}: {one['why']}" for one in refused)
        raise RefusalError(f"engines: none makes tables for {topology.recipe}: {reasons}")
    return RoutingComparison({
        "network": topology.recipe, "layers": layers if layers is not None else 1 << (lmc or 0),
        "samples": samples, "seed": seed, "rows": rows, "refused": refused, "cpu_s": cpu_s,
    })


def _all() -> list[str]:
    """All engines that could route, ours first, each with its variant behind it."""
    names = list(parameters_of("engine"))
    if not _missing():
        names += [f"opensm:{name}" for name in opensm_engines()]
    return [word for name in names for word in (name, VARIANTS.get(name)) if word]


def _missing() -> list[str]:
    """The programs that OpenSM's engines need and that are not installed."""
    from flyloom.deploy import tools

    needed = ("ibsim", "opensm", "ibnetdiscover", "dump_fts", "smpquery", "saquery")
    found = [part for name in (*needed, "umad2sim library") for part in tools.check_one(name)]
    return [f"{name} ({package})" for name, where, package in found if where is None]


def _absent() -> list[dict[str, str]]:
    missing = _missing()
    return [{"engine": "opensm", "why": f"not installed: {', '.join(missing)}"}] if missing else []


def _parsed(word: str) -> tuple[str, str, dict[str, Any]]:
    """Label, engine and options of ``NAME[:KEY=VALUE...]``."""
    name, *parts = word.split(":")
    if name == "opensm" and parts:
        name = f"opensm:{parts.pop(0)}"
        routes_asked(name, None, None, {})
        known = {"max_lanes"}
    elif name in (params := parameters_of("engine", [name])):
        known = params[name]
    else:
        ours = ", ".join(params)
        near = hint(name, params)
        raise RefusalError(f"engines: there is no engine '{name}'; {near}{ours}, opensm:NAME")
    options: dict[str, Any] = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals or key not in known or key in options:
            keys = ", ".join(sorted(known)) or "none"
            raise RefusalError(f"engines: {word}: '{part}' is no KEY=VALUE of {name}; keys: {keys}")
        try:
            options[key] = json.loads(value)
            json.dumps(options[key], allow_nan=False)
        except ValueError:
            options[key] = value
    return word, name, options


def _routed(
    topology: Topology, name: str, options: dict[str, Any], lmc: int | None,
    layers: int | None, seed: int,
) -> tuple[Routing, dict[str, Any], float]:
    """Tables, what only their engine can tell of them, and CPU seconds."""
    if not name.startswith("opensm:"):
        if "seed" in parameters_of("engine", [name])[name]:
            options = {"seed": seed, **options}
        began = time.process_time()
        routing = route(topology, name, lmc=lmc, layers=layers, new_lids=None, **options)
        spent = time.process_time() - began
        levels = routing.service_levels
        used = 1 if levels is None else len(numpy.unique(levels[routing.next != 0xFFFF]))
        about = {"lanes_needed": routing.lanes, "service_levels": used, "missing_levels": 0}
        return routing, about, spent
    from flyloom.deploy.fabric import routed_by_opensm

    if layers not in (None, 1 << (lmc or 0)):
        raise RefusalError("layers: OpenSM's engines take an LMC, 0 to 7")
    found = routed_by_opensm(
        topology, name.removeprefix("opensm:"), lmc or 0, options.get("max_lanes")
    )
    about = {key: getattr(found, key)
             for key in ("lanes_needed", "service_levels", "missing_levels")}
    return found.routing, about, found.cpu_s


def _measured(routing: Routing, about: dict[str, Any], samples: int, seed: int) -> dict[str, Any]:
    """A row, apart from the engine's name."""
    from flyloom.deploy.live import counterexample

    proof = verify(routing)
    why, missing = counterexample(proof), about["missing_levels"]
    if missing:
        why.append(f"{missing} paths have no path record")
    row = {
        "verified": proof.holds and not missing,
        "deadlock_free": proof.deadlock.holds if proof.deadlock and not missing else None,
        "lanes": routing.lanes, "lanes_needed": about["lanes_needed"],
        "service_levels": about["service_levels"],
        "mean_hops": None, "max_hops": None, "edge_forwarding_index": None, "lower_bound": None,
        "effective_bisection_bandwidth": None, "confidence_interval_95": None,
        "mean_disjoint_paths": None, "fraction_pairs_3_disjoint_paths": None, "why": why,
    }
    if proof.complete.holds:
        for found in (path_diversity(routing), edge_load(routing), proof.complete,
                      ebb(routing, samples=samples, seed=seed)):
            row |= {key: found[key] for key in row if key in found}
    return row


def _reason(error: Exception) -> str:
    """An error in one line, without the times and threads of OpenSM's log lines."""
    lines = (_PREFIX.sub("", line).strip() for line in str(error).splitlines())
    return " ".join(dict.fromkeys(line for line in lines if line))
