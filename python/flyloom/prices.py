"""What networks cost and draw: bills by catalogues of prices, the rules of plans."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from flyloom._core import RefusalError, Shop, check_floor_rules
from flyloom.graph import network, read_text, read_toml
from flyloom.results import Result

MODES = ("true", "paper")


def shop(
    catalog: str | os.PathLike | None = None,
    *,
    gbps: float | None = None,
    electric_limit_m: float | None = None,
) -> Shop:
    """Where a network is bought: a catalogue and the rate of its links.

    Parameters
    ----------
    catalog
        The name of a catalogue that comes with flyloom (``flyloom catalog list``), or the path of
        one (TOML); ``fdr10-2014`` when None.
    gbps
        Rate of every link [Gbit/s]; when None that of the catalogue, or the network's own where it
        was read from a file or a fabric.
    electric_limit_m
        No electric cable is longer [m]; when None as far as the catalogue's reach.

    Raises
    ------
    RefusalError
        With the file, line and field at fault.
    """
    options = {"gbps": _number("gbps", gbps), "electric_limit_m": _number(
        "electric_limit_m", electric_limit_m)}
    if catalog is None:
        return Shop(**options)
    text = str(catalog)
    if text in Shop.built_in() and not os.path.exists(text):
        return Shop(text, **options)
    if not text.endswith(".toml") and not os.path.exists(text):
        return Shop(text, **options)  # says which there are
    return Shop(text, read_text(Path(text)), **options)


def _number(name: str, given: float | None) -> float | None:
    if given is None:
        return None
    try:
        return float(given)
    except (TypeError, ValueError):
        raise RefusalError(f"{name}: {given!r} is no number; a number above 0") from None


def floor_rules(given: Mapping[str, Any] | str | os.PathLike | None) -> dict[str, Any] | None:
    """Rules of a floor: a dict, or the path of a TOML file with them at top level.

    Raises ``RefusalError`` for a file that cannot be read, and for rules in it that are none, with
    the file and the rule; a dict is checked where it is used.
    """
    if given is None:
        return None
    if isinstance(given, Mapping):
        return dict(given)
    path = Path(given)
    rules = read_toml(path)
    try:
        check_floor_rules(rules)
    except RefusalError as error:
        raise RefusalError(f"{path}: {error}") from None
    return rules


def priced(
    topology, bought: Shop, keys: Iterable[str]
) -> tuple[dict[str, float | None], str | None]:
    """The figures ``keys`` of a network's bill; None each, and why, where it has no price."""
    try:
        bill = topology.cost(None, bought)
    except RefusalError as refusal:
        return dict.fromkeys(keys), str(refusal)
    return {key: bill[key] for key in keys}, None


def cost(
    source: Any,
    catalog: str | os.PathLike | None = None,
    *,
    mode: str = "true",
    rules: Mapping[str, Any] | str | os.PathLike | None = None,
    gbps: float | None = None,
    electric_limit_m: float | None = None,
) -> Result:
    """What a network costs and draws.

    Switches, cables (cut to the floor of :func:`flyloom.plan`) and adapters by the prices of a
    catalogue; the totals add up the parts that the catalogue ``counts``.

    Parameters
    ----------
    source
        A network, as for ``network``.
    catalog, gbps, electric_limit_m
        See :func:`shop`.
    mode
        ``true``, or ``paper``: the rules of the 2014 study (Besta and Hoefler, SC 2014), slips
        included, for the families that it has; figures it has no rule for are None.
    rules
        Of the floor, a dict or a TOML file; see :func:`flyloom.plan`.

    Returns
    -------
    Result
        ``cost_usd`` with ``cost_usd_low`` and ``cost_usd_high``, ``cost_usd_per_endpoint``,
        ``switches_usd``, ``electric_usd``, ``optical_usd``, ``nics_usd``, ``power_w``,
        ``power_w_per_endpoint`` [W], ``power_unknown`` (what draws power that the catalogue does
        not say), ``energy_kwh_per_year`` and ``energy_usd_per_year`` (None where the catalogue has
        no price of energy), ``cables_electric`` and ``cables_optical`` (between switches),
        ``endpoint_cables_electric`` and ``..._optical``, ``switches``, ``radix`` (ports of a
        switch), ``endpoints``, ``racks``, ``lines`` (the bill), ``counts``, ``confidence`` (A to D,
        of the least known price), ``catalog``, ``currency``, ``year``, ``link_gbps``, ``mode``.
    """
    if mode not in MODES:
        raise RefusalError(f"mode: there is no '{mode}'; {', '.join(MODES)}")
    bought = shop(catalog, gbps=gbps, electric_limit_m=electric_limit_m)
    t = network(source)
    if mode == "true":
        return Result({"network": t.recipe, "mode": mode, **t.cost(floor_rules(rules), bought)})
    about = bought.catalog()
    if about["name"] != "fdr10-2014" or gbps or electric_limit_m or rules:
        raise RefusalError("mode: paper has its own prices, rate and floor; fdr10-2014 alone")
    return Result({
        "network": t.recipe, "mode": mode, "catalog": about["name"],
        "currency": about["currency"], "year": about["year"],
        "link_gbps": about["link_gbps"], **t.cost_of_2014(),
    })


def catalog(name: str | os.PathLike | None = None) -> Result:
    """A catalogue, checked: ``name``, ``title``, ``currency``, ``usd_per_unit``, ``year``,
    ``link_gbps`` [Gbit/s], ``counts``, ``energy``, and lists of ``switches``, ``cables``,
    ``transceivers``, ``fibres`` and ``nics``, each with ``origin`` (source, date, confidence).

    ``name`` as for :func:`shop`. Raises ``RefusalError`` with the file, line and field at fault.
    """
    return Result(shop(name).catalog())
