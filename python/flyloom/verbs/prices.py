"""What networks cost and draw: bills by catalogues of prices."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from flyloom._core import RefusalError, Shop, Topology
from flyloom.inputs.catalogs import PriceList, floor_rules, shop
from flyloom.inputs.networks import Source, network
from flyloom.support.refused import none_such
from flyloom.support.verb_results import Bill, Catalog

MODES = ("true", "paper")
STUDY_CATALOG = "fdr10-2014"
"""The catalogue with the models of the 2014 study."""


def priced(
    topology: Topology, bought: Shop, keys: Iterable[str]
) -> tuple[dict[str, float | None], str | None]:
    """The figures ``keys`` of a network's bill; None each, and why, where it has no price.

    RefusalError where the rate that is asked for contradicts that of the network.
    """
    bought.check_rate(topology)
    try:
        bill = topology.cost(None, bought)
    except RefusalError as refusal:
        return dict.fromkeys(keys), str(refusal)
    return {key: bill[key] for key in keys}, None


def one_basis(rows: Iterable[Mapping[str, Any]], what: str = "compare") -> str | None:
    """The basis that all bills among ``rows`` have: catalogue, rates and what is counted.

    ``rows`` have ``network`` and ``basis``, as bills have; those whose ``basis`` is None have no
    price. None where none has one. RefusalError, which begins with ``what``, where two differ: such
    figures must not stand side by side.
    """
    first: Mapping[str, Any] | None = None
    for row in rows:
        if row["basis"] is None:
            continue
        first = first or row
        if row["basis"] != first["basis"]:
            raise RefusalError(
                f"{what}: {first['network']} is priced by {first['basis']}, {row['network']} by "
                f"{row['basis']}: prices of two bases do not compare; give one catalogue and one "
                "rate (gbps) for all"
            )
    return first["basis"] if first else None


def cost(
    source: Source,
    catalog: PriceList | None = None,
    *,
    mode: str = "true",
    rules: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    gbps: float | None = None,
    electric_limit_m: float | None = None,
    include: str | Iterable[str] | None = None,
) -> Bill:
    """What a network costs and draws.

    By hand, for what the measure ``cost`` cannot do: catalogues and rules of files, and the rules
    of the 2014 study. Switches, cables (cut to the floor of :func:`flyloom.plan`), adapters and
    energy by the prices of a catalogue; the totals add up what ``include`` says, the same for every
    catalogue.

    Parameters
    ----------
    source
        A network, as for ``network``.
    catalog, gbps, electric_limit_m, include
        See :func:`shop`.
    mode
        ``true``, or ``paper``: the rules of the 2014 study (Besta and Hoefler, SC 2014), slips
        included, for the families that it has; figures it has no rule for are None. It has its own
        catalogue, fdr10-2014.
    rules
        Of the floor, a dict or a TOML file; see :func:`flyloom.plan`.

    Returns
    -------
    Bill
        ``cost_usd`` and ``cost_usd_per_endpoint``, both also with ``_low`` and ``_high``, the
        lowest and highest prices of the catalogue;
        ``network_usd``, ``endpoint_cables_usd``, ``adapters_usd`` and ``energy_usd_per_year``,
        whether counted or not (None where the catalogue has no price); of what is counted
        ``switches_usd``, ``electric_usd``, ``optical_usd``, ``nics_usd``, ``spares_usd``,
        ``power_w``, ``power_w_per_endpoint`` [W], ``power_unknown`` (what draws power that the
        catalogue does not say), ``energy_kwh_per_year``, ``energy_years`` and ``energy_usd`` (of
        these years); ``cables_electric`` and ``cables_optical`` (between switches),
        ``endpoint_cables_electric`` and ``..._optical``, ``switches``, ``radix`` (ports of a
        switch), ``endpoints``, ``racks``, ``lines`` (the bill), ``include`` and ``counts`` (its
        items and their parts), ``basis`` (catalogue, rates and items in words), ``confidence``
        (A to D, of the least known price), ``catalog``, ``currency``, ``year``, ``link_gbps`` and
        ``rate_source``, whose rate that is (``network``, ``cables`` of a file, ``parameters``,
        which is ``gbps``, or ``default``, the catalogue's), ``protocol`` (of switches, cables and
        adapters; None where the catalogue does not say), ``mode``.
    """
    if mode not in MODES:
        raise none_such("mode", mode, MODES)
    if mode == "paper" and catalog is None:
        catalog = STUDY_CATALOG
    bought = shop(catalog, gbps=gbps, electric_limit_m=electric_limit_m, include=include)
    t = network(source)
    if mode == "true":
        return Bill({"network": t.recipe, "mode": mode, **t.cost(floor_rules(rules), bought)})
    about = bought.catalog()
    if about["name"] != STUDY_CATALOG or any((gbps, electric_limit_m, rules, include)):
        raise RefusalError(
            f"mode: paper has its own prices, rate, floor and items; {STUDY_CATALOG} alone"
        )
    if t.gbps not in (None, about["link_gbps"]):
        raise RefusalError(
            f"mode: paper has the rate {about['link_gbps']:g} Gbit/s, and the network says"
            f" gbps={t.gbps:g}; leave gbps out"
        )
    return Bill({
        "network": t.recipe, "mode": mode, "catalog": about["name"],
        "currency": about["currency"], "year": about["year"],
        "link_gbps": about["link_gbps"], **t.cost_of_2014(),
    })


def catalog(name: str | os.PathLike[str] | None = None) -> Catalog:
    """A catalogue, checked: ``name``, ``title``, ``currency``, ``usd_per_unit``, ``year``,
    ``link_gbps`` [Gbit/s], ``items`` (what it has prices of), ``energy``, and lists of
    ``switches``, ``cables``, ``transceivers``, ``fibres`` and ``nics``, each with ``origin``
    (source, date, confidence).

    ``name`` as for :func:`shop`. Raises ``RefusalError`` with the file, line and field at fault.
    """
    return Catalog(shop(name).catalog())
