"""Catalogues of prices and rules of floors, from names and files."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from flyloom._core import RefusalError, Shop, check_floor_rules
from flyloom.inputs.workloads import travelled
from flyloom.support.reading import is_path, read_text, read_toml
from flyloom.support.words import uncell

PriceList = str | os.PathLike[str] | Shop
"""Where a network is bought: the name or the file of a catalogue, or what :func:`shop` gives."""


def shop(
    catalog: PriceList | None = None,
    *,
    gbps: float | None = None,
    electric_limit_m: float | None = None,
    include: str | Iterable[str] | None = None,
    server: str | None = None,
    protocol: str | None = None,
    energy_years: float | None = None,
    usd_per_kwh: float | None = None,
    pue: float | None = None,
    spare: float | None = None,
    quotation: str | os.PathLike[str] | None = None,
) -> Shop:
    """Where a network is bought: a catalogue, the rate of its links, and what totals add up.

    Wherever a function takes ``catalog``, it takes the result of this one, too.

    Parameters
    ----------
    catalog
        The name of a catalogue that comes with flyloom (``flyloom catalog list``), or the path of
        one (TOML); the newest when None, or for a network that was read from a file or a fabric,
        whose links have their own rate, the newest that sells at it. Or another shop, of which this
        is a copy with what is given beside it.
    gbps
        Rate of every link [Gbit/s]; when None that of the catalogue, or the network's own where it
        was read from a file or a fabric.
    electric_limit_m
        No electric cable is longer [m]; when None as far as the catalogue's reach.
    include
        What totals add up: ``network`` (switches and the cables between them),
        ``endpoint_cables``, ``adapters`` and ``energy`` (of a year), a list or words with commas
        between; network and endpoint_cables when None.
    server
        The catalogue's server that endpoints are in, as the rule ``server`` of a floor says it:
        what room and power they take.
    protocol
        ``infiniband`` or ``ethernet``: what switches, cables and adapters speak; when None what the
        cheapest switch does.
    energy_years
        Years whose energy the total adds up, beside what ``include`` says; when None that of one
        year, where ``include`` has ``energy``.
    usd_per_kwh, pue
        Price of energy [US$/kWh] and power usage effectiveness; when None the catalogue's.
    spare
        Parts to buy beyond those needed, as a fraction of these, 0 to 1; rounded up for each switch
        and adapter, and of cables for each kind, stock length and rate, as in
        :func:`flyloom.cables`. None when None.
    quotation
        The path of a vendor's quotation (CSV, see docs/cost.md): its prices replace all those of
        the catalogue. What it does not price has none: a network that needs such parts is refused,
        with all of them by name and number.

    Raises
    ------
    RefusalError
        With the file, line and field at fault; for an item that is none, or that the catalogue has
        no price of.
    """
    rate, limit = _number("gbps", gbps), _number("electric_limit_m", electric_limit_m)
    items = _items(include)
    terms = {
        name: value for name, value in (
            ("server", server), ("protocol", protocol),
            ("energy_years", _number("energy_years", energy_years)),
            ("usd_per_kwh", _number("usd_per_kwh", usd_per_kwh)), ("pue", _number("pue", pue)),
            ("spare", _number("spare", spare)),
            ("quotation", None if quotation is None else quoted(Path(quotation))),
        ) if value is not None
    }
    if isinstance(catalog, Shop):
        if terms:
            raise RefusalError(
                f"{min(terms)}: beside a shop, which has its own; give it to that shop"
            )
        return catalog.also(rate, limit, items)
    text = None if catalog is None else str(catalog)
    if text is None or not is_catalog_file(text):
        return Shop(text, None, rate, limit, items, terms)  # a refusal lists the catalogues
    return Shop(text, read_text(Path(text)), rate, limit, items, terms)


def is_catalog_file(name: str) -> bool:
    """Whether a catalogue is a file, and not the name of one that comes with flyloom."""
    return is_path(name) and (name not in Shop.built_in() or os.path.exists(name))


def purchase_content(given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of the measure ``cost`` whose values name files, with the contents of these:
    those that were read before elsewhere, or read here."""
    found: dict[str, Any] = {}
    catalog, quotation = given.get("catalog"), given.get("quotation")
    if isinstance(catalog, str):
        if (content := travelled(catalog)) is not None:
            found["catalog"] = {"file": catalog, "text": content.decode()}
        elif is_catalog_file(catalog):
            found["catalog"] = {"file": catalog, "text": read_text(Path(catalog))}
    if isinstance(quotation, str):
        content = travelled(quotation)
        path = Path(quotation)
        found["quotation"] = quoted(path) if content is None else lines_of(content.decode(), path)
    return found


def _items(given: str | Iterable[str] | None) -> list[str] | None:
    if given is None:
        return None
    words = given.split(",") if isinstance(given, str) else list(given)
    for word in words:
        if not isinstance(word, str):
            raise RefusalError(f"include: {word!r} is no word; network, endpoint_cables")
    return [word.strip() for word in words if word.strip()]


def quoted(path: Path) -> dict[str, Any]:
    """The lines of a quotation, cells by heading; RefusalError where the file has no headings."""
    return lines_of(read_text(path), path)


def lines_of(text: str, path: Path) -> dict[str, Any]:
    """The lines of a quotation that has this text; see :func:`quoted`."""
    text = text.removeprefix("\ufeff")
    first = text.partition("\n")[0]
    rows = csv.reader(io.StringIO(text, newline=""),
                      delimiter=";" if first.count(";") > first.count(",") else ",")
    try:
        heads = [re.sub(r"[^a-z0-9]+", "_", cell.lower()).strip("_") for cell in next(rows, [])]
        lines = [
            {"line": rows.line_num, "cells": dict(zip(heads, map(uncell, cells), strict=False))}
            for cells in rows if any(cell.strip() for cell in cells)
        ]
    except csv.Error as error:
        raise RefusalError(f"{path}: line {rows.line_num}: {error}") from None
    if not lines:
        raise RefusalError(f"{path}: it has no line below its headings; part, unit_price, ...")
    return {"file": path.name, "lines": lines}


def _number(name: str, given: float | None) -> float | None:
    if given is None:
        return None
    try:
        return float(given)
    except (TypeError, ValueError):
        raise RefusalError(f"{name}: {given!r} is no number; a number above 0") from None


def floor_rules(given: Mapping[str, Any] | str | os.PathLike[str] | None) -> dict[str, Any] | None:
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
